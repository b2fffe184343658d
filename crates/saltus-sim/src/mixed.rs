//! Mixed loops as one system in their continuous unknowns.
//!
//! *Semismooth Newton.* With every relation evaluated where it stands, a loop is one system F(z) = 0 in its continuous unknowns, continuous where
//! its branches meet and smooth between. Newton's method with the slope of the branch at hand and a line search on ‖F‖
//! converges there like on a smooth system (Qi and Sun 1993), however many relations there are; complementarity pairs come
//! as the normal map a = max(s, 0), b = max(−s, 0).
//!
//! *Homotopy through modes.* With the relations locked to what they are at the guess z₀, F(z) = (1 − λ) F(z₀) is followed from
//! λ = 0 until a relation wants to switch: there, on the surface between two modes, it is switched, and a new path begins.
//! Where λ cannot rise further the path turns back: it is followed along its arclength, over folds and through surfaces, as one
//! piecewise smooth path.

use crate::block::SolveBlock;
use crate::compile::{MixedBlock, Step};
use crate::machine::{Machine, Note};
use saltus_solver::lcp::{ComplementarityOptions, ComplementaritySystem, Pair, semismooth_newton};
use saltus_solver::nonlinear::{
    DomainError, FnSystem, Homotopy, HomotopyOptions, NewtonOptions, NewtonWork, Reached, follow, newton,
};
use std::rc::Rc;

/// Loops with more unknowns are left to other methods: the matrix is dense and made by differences.
const MOST: usize = 200;
/// Points that homotopies may compute on their way, all together: a search over modes is cheaper in the end.
const POINTS: usize = 200;
/// Steps along the arclength, all together, times unknowns; and the least and most steps that makes.
const TURNS: (usize, usize, usize) = (20_000, 50, 400);
/// Surfaces that a path may cross while it is followed along its arclength.
const SURFACES: usize = 64;
/// Sweeps in which relations and what is assigned from them must settle.
const SWEEPS: usize = 4;

pub(crate) struct Loop<'a> {
    pub(crate) machine: &'a mut Machine,
    pub(crate) m: &'a MixedBlock,
    blocks: Vec<Rc<SolveBlock>>,
    /// Points left, see [`POINTS`].
    points: usize,
    /// Steps along the arclength left, see [`TURNS`].
    turns: usize,
}

/// F(z) = (1 − λ) F(z₀) with the relations locked.
struct Locked<'l, 'm> {
    of: &'l mut Loop<'m>,
    bits: &'l [f64],
    begin: &'l [f64],
}

impl Homotopy for Locked<'_, '_> {
    fn dim(&self) -> usize {
        self.begin.len()
    }
    fn residual(&mut self, z: &[f64], lambda: f64, r: &mut [f64]) -> Result<(), DomainError> {
        self.of.locked(z, self.bits, r)?;
        r.iter_mut().zip(self.begin).for_each(|(f, b)| *f -= (1.0 - lambda) * b);
        Ok(())
    }
    fn leaves(&mut self, z: &[f64], _lambda: f64) -> bool {
        self.of.bits_at(z, self.bits).as_deref() != Some(self.bits)
    }
}

impl Loop<'_> {
    /// Unknowns take the values z, relations and assignments follow.
    fn place(&mut self, z: &[f64]) -> bool {
        for _ in 0..SWEEPS {
            let mut rest = z;
            for step in &self.m.continuous {
                match step {
                    Step::Assign(chain) => self.machine.chain(chain),
                    Step::Solve(b) => {
                        let (own, others) = rest.split_at(b.unknowns.len());
                        b.unknowns.iter().zip(own).for_each(|(&s, &v)| self.machine.values[s as usize] = v);
                        rest = others;
                    }
                    _ => return false,
                }
            }
            let before = self.bits();
            if self.machine.run(&self.m.discrete).is_err() {
                return false;
            }
            if self.bits() == before {
                break;
            }
        }
        true
    }

    /// The residuals at z with the relations as they are; what follows from them is computed anew.
    pub(crate) fn locked(&mut self, z: &[f64], bits: &[f64], f: &mut [f64]) -> Result<(), DomainError> {
        self.m.slots.iter().zip(bits).for_each(|(&s, &v)| self.machine.values[s as usize] = v);
        self.machine.hold_relations = true;
        let placed = self.place(z);
        self.machine.hold_relations = false;
        self.residuals(f);
        let strange = self.machine.host.error.take().is_some();
        if placed && !strange { Ok(()) } else { Err(DomainError) }
    }

    fn residuals(&mut self, f: &mut [f64]) {
        let mut at = 0;
        for b in &self.blocks {
            self.machine.chain(&b.residual);
            for &s in &b.residual_slots {
                f[at] = self.machine.values[s as usize];
                at += 1;
            }
        }
    }

    /// The relations as they are at z, seen from the mode `bits`.
    fn bits_at(&mut self, z: &[f64], bits: &[f64]) -> Option<Vec<f64>> {
        self.m.slots.iter().zip(bits).for_each(|(&s, &v)| self.machine.values[s as usize] = v);
        self.place(z).then(|| self.bits())
    }

    /// Follows a path that turns back, from (z, λ) on in the mode `bits`; the number of surfaces crossed if it arrives.
    fn turn(&mut self, z: &mut [f64], mut lambda: f64, mut bits: Vec<f64>, begin: &[f64]) -> Option<usize> {
        // Into a region the path goes with λ rising or falling; the other way leads out of it at once.
        let mut direction = 1.0;
        let (mut fresh, mut surfaces) = (false, 0);
        while surfaces < SURFACES && self.turns > 0 {
            let options = HomotopyOptions { max_steps: self.turns, ..HomotopyOptions::default() };
            let mut path = Locked { of: self, bits: &bits, begin };
            let from = z.to_vec();
            match follow(&mut path, z, lambda, direction, &options).ok()? {
                Reached::End(_) => return Some(surfaces),
                Reached::Surface { report, .. } if report.steps == 0 => {
                    self.turns = self.turns.saturating_sub(report.rejected + 1);
                    if !fresh {
                        return None;
                    }
                    (direction, fresh) = (-direction, false);
                    z.copy_from_slice(&from);
                }
                Reached::Surface { lambda: there, report } => {
                    self.turns = self.turns.saturating_sub(report.steps + report.rejected);
                    (bits, lambda) = (self.bits_at(z, &bits)?, there);
                    surfaces += 1;
                    fresh = true;
                }
            }
        }
        None
    }

    /// Follows paths from mode to mode; the number of surfaces crossed if the last one arrives.
    fn lead(&mut self, z: &mut Vec<f64>) -> Option<usize> {
        let n = z.len();
        let (options, mut work) = (NewtonOptions::default(), NewtonWork::new());
        if !self.place(z) {
            return None;
        }
        let mut bits = self.bits();
        // Modes since the path last got on: one that comes back leads nowhere.
        let (mut surfaces, mut here) = (0, vec![bits.clone()]);
        'path: loop {
            let mut begin = vec![0.0; n];
            self.locked(z, &bits, &mut begin).ok()?;
            let (mut lambda, mut step) = (0.0, 0.5);
            while lambda < 1.0 {
                let mut at = |me: &mut Self, from: &[f64], lambda: f64| {
                    me.points = me.points.checked_sub(1)?;
                    let mut y = from.to_vec();
                    let mut path = FnSystem::new(n, |z: &[f64], f: &mut [f64]| {
                        me.locked(z, &bits, f)?;
                        f.iter_mut().zip(&begin).for_each(|(f, b)| *f -= (1.0 - lambda) * b);
                        Ok(())
                    });
                    newton(&mut path, &mut y, &options, &mut work).ok()?;
                    me.bits_at(&y, &bits).map(|found| (found, y))
                };
                let next = f64::min(lambda + step, 1.0);
                let Some((mut found, mut there)) = at(self, z, next) else {
                    step *= 0.5;
                    if step < 1e-4 || self.points == 0 {
                        return self.turn(z, lambda, bits, &begin).map(|more| surfaces + more);
                    }
                    continue;
                };
                if found == bits {
                    (*z, lambda, step) = (there, next, 2.0 * step);
                    continue;
                }
                let mut beyond = next;
                while beyond - lambda > 1e-6 {
                    let middle = 0.5 * (lambda + beyond);
                    match at(self, z, middle) {
                        Some((same, y)) if same == bits => (*z, lambda) = (y, middle),
                        Some((other, y)) => (found, there, beyond) = (other, y, middle),
                        None => return self.turn(z, lambda, bits, &begin).map(|more| surfaces + more),
                    }
                }
                if beyond > 1e-5 {
                    here.clear();
                }
                if here.contains(&found) {
                    return None;
                }
                here.push(found.clone());
                surfaces += 1;
                (*z, bits) = (there, found);
                continue 'path;
            }
            return Some(surfaces);
        }
    }

    fn bits(&self) -> Vec<f64> {
        self.m.slots.iter().map(|&s| self.machine.values[s as usize]).collect()
    }
}

impl ComplementaritySystem for Loop<'_> {
    fn dim(&self) -> usize {
        self.blocks.iter().map(|b| b.unknowns.len()).sum()
    }
    fn pair(&self, _: usize) -> Pair {
        Pair::Equation
    }
    fn evaluate(&mut self, z: &[f64], f: &mut [f64]) -> Result<(), DomainError> {
        let placed = self.place(z);
        self.residuals(f);
        let strange = self.machine.host.error.take().is_some();
        if placed && !strange { Ok(()) } else { Err(DomainError) }
    }
}

impl Machine {
    /// Looks for a consistent mode and the values of a loop together, from the mode given. The loop holds them if there are
    /// any.
    pub(crate) fn semismooth(&mut self, m: &MixedBlock, from: &[f64]) -> bool {
        self.as_one(m, from, |system, z| {
            let options = ComplementarityOptions { max_iter: 50, ..Default::default() };
            let found = semismooth_newton(system, z, &options);
            found.is_ok_and(|r| r.converged).then(|| "semismooth Newton on values and relations together".to_string())
        })
    }

    /// The same along homotopies whose relations are locked, from mode to mode.
    pub(crate) fn locked_homotopy(&mut self, m: &MixedBlock, from: &[f64]) -> bool {
        self.as_one(m, from, |system, z| {
            let guess = z.clone();
            // A guess in a corner of many surfaces at once shows no way: beside it there are some.
            let surfaces = (0..4).find_map(|attempt| {
                z.clone_from(&guess);
                if attempt > 0 {
                    for (k, v) in z.iter_mut().enumerate() {
                        let side = (k as f64 * 0.618_033_988_75 + attempt as f64 * 0.377).fract() - 0.5;
                        *v += side * 10f64.powi(attempt - 2) * v.abs().max(1.0);
                    }
                }
                system.lead(z)
            })?;
            Some(format!("homotopy with locked relations, {surfaces} surfaces crossed"))
        })
    }

    /// Solves for the Reals that when-equations of a loop determine: w = G(w), where G runs the loop once. The loop holds
    /// the values if there are any.
    pub(crate) fn real_loop(&mut self, m: &MixedBlock, from: &[f64]) -> bool {
        let n = m.reals.len();
        if n == 0 || n > MOST {
            return false;
        }
        let keep = self.values.clone();
        m.slots.iter().zip(from).for_each(|(&s, &v)| self.values[s as usize] = v);
        let mut w: Vec<f64> = m.reals.iter().map(|&s| self.values[s as usize]).collect();
        let mut around = FnSystem::new(n, |w: &[f64], f: &mut [f64]| {
            m.reals.iter().zip(w).for_each(|(&s, &v)| self.values[s as usize] = v);
            let done = self.run(&m.continuous).and_then(|()| self.run(&m.discrete));
            self.host.error = None;
            for ((f, &s), w) in f.iter_mut().zip(&m.reals).zip(w) {
                *f = self.values[s as usize] - w;
            }
            done.map_err(|_| DomainError)
        });
        let solved = newton(&mut around, &mut w, &NewtonOptions::default(), &mut NewtonWork::new()).is_ok();
        // The other discrete values must agree with what was found.
        m.reals.iter().zip(&w).for_each(|(&s, &v)| self.values[s as usize] = v);
        let before: Vec<f64> = m.slots.iter().map(|&s| self.values[s as usize]).collect();
        let good = solved
            && self.run(&m.continuous).is_ok()
            && self.run(&m.discrete).is_ok()
            && m.agree(&self.values, &before, 1e-8);
        self.host.error = None;
        if good {
            self.note(|| Note::End { solved: true, how: "Newton on the values of when-equations".to_string() });
        } else {
            self.values.copy_from_slice(&keep);
        }
        good
    }

    /// Gives the unknowns of a loop as one vector to a method that changes it, from the mode given, if there are no more than
    /// `most`. They take what it has made of them.
    pub(crate) fn with_loop<T>(
        &mut self,
        m: &MixedBlock,
        from: &[f64],
        most: usize,
        method: impl FnOnce(&mut Loop<'_>, &mut Vec<f64>) -> T,
    ) -> Option<T> {
        let mut blocks = Vec::new();
        for step in &m.continuous {
            match step {
                Step::Solve(b) => blocks.push(b.clone()),
                Step::Assign(_) => {}
                _ => return None,
            }
        }
        let n: usize = blocks.iter().map(|b| b.unknowns.len()).sum();
        if n == 0 || n > most || self.hold_relations {
            return None;
        }
        m.slots.iter().zip(from).for_each(|(&s, &v)| self.values[s as usize] = v);
        let mut z: Vec<f64> = blocks.iter().flat_map(|b| b.unknowns.iter()).map(|&s| self.values[s as usize]).collect();
        let turns = (TURNS.0 / n).clamp(TURNS.1, TURNS.2);
        let mut system = Loop { machine: self, m, blocks, points: POINTS, turns };
        let made = method(&mut system, &mut z);
        system.place(&z);
        Some(made)
    }

    /// The same, and tells whether what comes out is a solution.
    fn as_one(
        &mut self,
        m: &MixedBlock,
        from: &[f64],
        method: impl FnOnce(&mut Loop<'_>, &mut Vec<f64>) -> Option<String>,
    ) -> bool {
        let keep = self.values.clone();
        let how = self.with_loop(m, from, MOST, method).flatten();
        self.host.error = None;
        // The equations have the last word.
        let bits: Vec<f64> = m.slots.iter().map(|&s| self.values[s as usize]).collect();
        let good = how.is_some()
            && self.run(&m.continuous).is_ok()
            && self.run(&m.discrete).is_ok()
            && m.slots.iter().zip(&bits).all(|(&s, v)| self.values[s as usize] == *v);
        self.host.error = None;
        match how {
            Some(how) if good => self.note(|| Note::End { solved: true, how }),
            _ => self.values.copy_from_slice(&keep),
        }
        good
    }
}
