//! Sliding of second order: where a relay turns the rate of a function round, and not the function itself.
//!
//! Around g = 0, ġ = 0 with a relay in g̈ alone (twisting, super-twisting) the solution winds in turns that shrink to nothing in a
//! finite time. From then on it stays where g = 0 and ġ = 0, and the shares of the sides follow from g̈ = 0 (mathematics 23c).
//! What such a place looks like off it (√|g|, the rates of other sides) is of no use to an integrator: the fields are taken at
//! the nearest point that is on it.

use crate::junction::{base, made_of, solve_small};
use crate::machine::Machine;
use crate::model::ModeProgram;
use crate::rhs::Rhs;
use saltus_solver::ode::EvalError;
use std::collections::VecDeque;

/// Steps of Newton's method onto surfaces.
const MOST_PROJECTIONS: usize = 6;
/// Turns that are remembered.
const TURNS: usize = 12;

/// A function that is zero on the manifold.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Held {
    pub relation: usize,
    /// Its rate is zero, too, and does not depend on sides.
    pub second: bool,
}

/// Where functions, and the rates of some of them, are zero.
pub(crate) struct Manifold {
    held: Vec<Held>,
    /// How the functions follow the states: [function][state].
    pub slopes: Vec<Vec<f64>>,
    /// The same of the rates, along the surfaces.
    pub turns: Vec<Option<Vec<f64>>>,
    /// The ways back to zero functions: which one, and the states per unit of it.
    onto: Vec<(usize, Vec<f64>)>,
    /// The same for those alone whose rates are held: all sides lead along them.
    common: Vec<(usize, Vec<f64>)>,
    /// The same for rates; they lead along the surfaces.
    along: Vec<(usize, Vec<f64>)>,
    /// The discrete values that rates are computed with: a mix of corners where they differ beside the manifold.
    corners: Vec<(f64, Vec<(u32, f64)>)>,
    /// Step of differences in time.
    step: f64,
}

impl Manifold {
    /// That of some functions near x, for a run over `span` of time.
    pub fn new(
        rhs: &mut Rhs<'_>,
        held: Vec<Held>,
        corners: Vec<(f64, Vec<(u32, f64)>)>,
        t: f64,
        x: &[f64],
        span: f64,
    ) -> Result<Manifold, EvalError> {
        let step = 1e-5 * span.min(1.0);
        let slopes = held.iter().map(|h| slopes(rhs, h.relation, t, x)).collect::<Result<Vec<_>, _>>()?;
        let scale: Vec<f64> = rhs.program.nominal.iter().map(|n| n.abs().clamp(1e-12, 1e12)).collect();
        let onto = ways_back(&slopes, &base(&slopes), &scale);
        let seconds: Vec<usize> = (0..held.len()).filter(|&j| held[j].second).collect();
        let rows: Vec<Vec<f64>> = seconds.iter().map(|&j| slopes[j].clone()).collect();
        let common = ways_back(&rows, &base(&rows), &scale).into_iter().map(|(k, way)| (seconds[k], way)).collect();
        let turns = vec![None; held.len()];
        let mut manifold = Manifold { held, slopes, turns, onto, common, along: Vec::new(), corners, step };
        for (k, scale) in scale.iter().enumerate().filter(|_| !seconds.is_empty()) {
            let by = 1e-4 * (scale + x[k].abs());
            let mut at = |by: f64| {
                let mut moved = x.to_vec();
                moved[k] += by;
                manifold.rates(rhs, t, &moved)
            };
            let (up, down) = (at(by)?, at(-by)?);
            for (j, (up, down)) in up.iter().zip(&down).enumerate() {
                if let (Some(up), Some(down)) = (up, down) {
                    manifold.turns[j].get_or_insert_with(|| vec![0.0; x.len()])[k] = (up - down) / (2.0 * by);
                }
            }
        }
        // Rates that other functions are have their ways back already.
        let rows: Vec<Vec<f64>> = manifold.turns.iter().flatten().cloned().collect();
        let mut known: Vec<Vec<f64>> = manifold.slopes.clone();
        let mut own = Vec::new();
        for (k, row) in rows.iter().enumerate() {
            if made_of(&known, row).is_none() {
                known.push(row.clone());
                own.push(k);
            }
        }
        manifold.along = ways_back(&rows, &own, &scale).into_iter().map(|(k, way)| (seconds[k], way)).collect();
        Ok(manifold)
    }

    /// What the shares keep still: rates of functions, of their rates where those do not depend on sides.
    pub fn conditions(&self) -> Vec<Vec<f64>> {
        self.slopes.iter().zip(&self.turns).map(|(g, turn)| turn.clone().unwrap_or_else(|| g.clone())).collect()
    }

    /// The point where the functions are zero.
    pub fn flat(&self, rhs: &mut Rhs<'_>, t: f64, x: &[f64]) -> Result<Vec<f64>, EvalError> {
        self.back(rhs, &self.onto, t, x)
    }

    /// The point where some of the functions are zero.
    fn back(&self, rhs: &mut Rhs<'_>, ways: &[(usize, Vec<f64>)], t: f64, x: &[f64]) -> Result<Vec<f64>, EvalError> {
        let mut y = x.to_vec();
        let mut before = f64::INFINITY;
        for _ in 0..MOST_PROJECTIONS {
            let mut g = Vec::with_capacity(ways.len());
            for (j, _) in ways {
                g.push(rhs.function(self.held[*j].relation, t, &y)?);
            }
            let size = g.iter().fold(0.0f64, |s, g| s.max(g.abs()));
            if size == 0.0 || !(size < before) {
                break;
            }
            before = size;
            for ((_, way), g) in ways.iter().zip(g) {
                y.iter_mut().zip(way).for_each(|(y, w)| *y -= g * w);
            }
        }
        Ok(y)
    }

    /// The rates of functions that have one of their own, where these functions are zero.
    pub fn rates(&self, rhs: &mut Rhs<'_>, t: f64, x: &[f64]) -> Result<Vec<Option<f64>>, EvalError> {
        let y = self.back(rhs, &self.common, t, x)?;
        let mut dx = vec![0.0; x.len()];
        let mut rates = vec![None; self.held.len()];
        for (weight, corner) in &self.corners {
            corner.iter().for_each(|&(slot, value)| rhs.machine.values[slot as usize] = value);
            rhs.field(t, &y, &mut dx)?;
            for (rate, h) in rates.iter_mut().zip(&self.held).filter(|(_, h)| h.second) {
                *rate.get_or_insert(0.0) += weight * rhs.rate(h.relation, t, &y, &dx)?;
            }
        }
        Ok(rates)
    }

    /// The nearest point where functions and rates are zero.
    pub fn nearest(&self, rhs: &mut Rhs<'_>, t: f64, x: &[f64]) -> Result<Vec<f64>, EvalError> {
        let mut y = self.flat(rhs, t, x)?;
        let mut before = f64::INFINITY;
        for _ in 0..MOST_PROJECTIONS {
            if self.along.is_empty() {
                break;
            }
            let rates = self.rates(rhs, t, &y)?;
            let size = self.along.iter().filter_map(|a| rates[a.0]).fold(0.0f64, |s, r| s.max(r.abs()));
            if size == 0.0 || !(size < before) {
                break;
            }
            before = size;
            for (j, way) in &self.along {
                let rate = rates[*j].unwrap_or(0.0);
                y.iter_mut().zip(way).for_each(|(y, w)| *y -= rate * w);
            }
            y = self.flat(rhs, t, &y)?;
        }
        Ok(y)
    }

    /// How fast what is to stay zero moves from y along a field: the functions, or their rates.
    pub fn moves(&self, rhs: &mut Rhs<'_>, t: f64, y: &[f64], field: &[f64]) -> Result<Vec<f64>, EvalError> {
        let fastest = field.iter().zip(y).map(|(f, y)| f.abs() / (1.0 + y.abs())).fold(1.0f64, f64::max);
        let h = self.step / fastest;
        let mut at = |h: f64| {
            let moved: Vec<f64> = y.iter().zip(field).map(|(y, f)| y + h * f).collect();
            self.rates(rhs, t + h, &moved)
        };
        let (later, earlier) = (at(h)?, at(-h)?);
        let mut out = Vec::with_capacity(self.held.len());
        for ((held, later), earlier) in self.held.iter().zip(later).zip(earlier) {
            out.push(match (later, earlier) {
                (Some(later), Some(earlier)) => (later - earlier) / (2.0 * h),
                _ => rhs.rate(held.relation, t, y, field)?,
            });
        }
        Ok(out)
    }

    /// The states per unit of a function.
    pub fn way(&self, j: usize) -> Option<&[f64]> {
        self.onto.iter().find(|o| o.0 == j).map(|o| &o.1[..])
    }
}

/// How a function follows the states.
pub(crate) fn slopes(rhs: &mut Rhs<'_>, relation: usize, t: f64, x: &[f64]) -> Result<Vec<f64>, EvalError> {
    let mut direction = vec![0.0; x.len()];
    let still = rhs.rate(relation, t, x, &direction)?;
    let mut row = Vec::with_capacity(x.len());
    for k in 0..x.len() {
        direction[k] = 1.0;
        row.push(rhs.rate(relation, t, x, &direction)? - still);
        direction[k] = 0.0;
    }
    Ok(row)
}

/// For some rows C: the columns of S² Cᵀ (C S² Cᵀ)⁻¹, the shortest moves of the states in units of their scales S.
fn ways_back(rows: &[Vec<f64>], which: &[usize], scale: &[f64]) -> Vec<(usize, Vec<f64>)> {
    let of = |a: &[f64], b: &[f64]| a.iter().zip(b).zip(scale).map(|((a, b), s)| a * b * s * s).sum::<f64>();
    let gram: Vec<Vec<f64>> = which.iter().map(|&i| which.iter().map(|&j| of(&rows[i], &rows[j])).collect()).collect();
    let column = |(k, &i): (usize, &usize)| {
        let unit = (0..which.len()).map(|l| f64::from(k == l)).collect();
        let shares = solve_small(gram.clone(), unit);
        let part = |n: usize| -> f64 {
            let sum = which.iter().zip(&shares).map(|(&j, s)| s.unwrap_or(0.0) * rows[j][n]).sum::<f64>();
            sum * scale[n] * scale[n]
        };
        (i, (0..scale.len()).map(part).collect())
    };
    which.iter().enumerate().map(column).collect()
}

/// A function's crossings by a rate that no side turns round, one after the other.
pub(crate) struct Turns {
    /// The relations that switch there.
    relations: Vec<usize>,
    /// The largest rate since which all were smaller, and how many these are.
    peak: f64,
    count: usize,
    /// The latest rates, and whether the last one led up.
    recent: VecDeque<f64>,
    up: bool,
    /// The part of their absolute tolerances that states are integrated with: turns that grow from below these must not be damped.
    pub fine: f64,
}

impl Turns {
    /// None yet, of a function with these relations.
    pub fn new(relations: Vec<usize>) -> Turns {
        Turns { relations, peak: 0.0, count: 0, recent: VecDeque::new(), up: false, fine: 1.0 }
    }

    /// Whether they are those of a relation.
    pub fn of(&self, relation: usize) -> bool {
        self.relations.contains(&relation)
    }

    /// Notes a crossing.
    pub fn note(&mut self, rate: f64) {
        // Two relations of one function may switch one after the other.
        if !self.recent.is_empty() && self.up == (rate > 0.0) {
            return;
        }
        self.up = rate > 0.0;
        let rate = rate.abs();
        self.count += 1;
        if rate >= self.peak {
            (self.peak, self.count) = (rate, 0);
        }
        self.recent.push_back(rate);
        if self.recent.len() > TURNS {
            self.recent.pop_front();
        }
    }

    /// Whether turns go on that are too small for the function to tell them from noise by its values.
    pub fn shrinking(&self) -> bool {
        self.count >= 2 && self.recent.back().is_some_and(|r| 2.0 * r < self.peak)
    }

    /// The largest of the earlier and of the later half of the latest rates, if there are enough.
    fn halves(&self) -> Option<(f64, f64)> {
        let most = |skip: usize| self.recent.iter().skip(skip).take(TURNS / 2).copied().fold(0.0f64, f64::max);
        (self.recent.len() == TURNS).then(|| (most(0), most(TURNS / 2)))
    }

    /// Whether the turns shrink as far as can be told.
    pub fn shrunk(&self) -> bool {
        let Some(&now) = self.recent.back() else { return false };
        let stays = self.halves().is_some_and(|(early, late)| late <= early);
        (self.count >= 3 && self.peak >= 4.0 * now) || (self.count >= TURNS && stays)
    }

    /// Whether they have shrunk, and neither shrink nor grow any more: errors keep them alive.
    pub fn stuck(&self) -> bool {
        let alike = |(early, late): (f64, f64)| late >= 0.9 * early && late <= 1.5 * early && 4.0 * late <= self.peak;
        self.halves().is_some_and(alike)
    }

    /// Whether they do not shrink any more.
    pub fn alive(&self) -> bool {
        self.halves().is_some_and(|(early, late)| late >= 0.9 * early)
    }

    /// How many times what errors do to a rate it may be where the turns are taken for over.
    pub fn reach(&self) -> f64 {
        if self.count < 2 * TURNS { 3.0 } else { 30.0 }
    }
}

impl Rhs<'_> {
    /// g of a relation at a point, without what else is computed there.
    pub fn function(&mut self, relation: usize, t: f64, x: &[f64]) -> Result<f64, EvalError> {
        let program: &ModeProgram = self.program;
        crate::rhs::place(self.machine, program, t, x);
        if let Some(&k) = program.crossings.by_relation.get(&relation) {
            let machine: &mut Machine = self.machine;
            machine.run(&program.crossings.functions[k].slice).map_err(|_| EvalError::Domain)?;
        }
        let g = self.value(relation);
        if g.is_finite() { Ok(g) } else { Err(EvalError::Domain) }
    }
}
