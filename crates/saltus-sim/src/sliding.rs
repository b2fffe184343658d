//! Sliding along switching surfaces: Filippov's field, by equivalent control.
//!
//! On the surface g = 0 the fields f₀ and f₁ of the two sides both point towards it (or along it). The solution follows
//! f₀ + λ (f₁ − f₀) with d/dt g = 0; it leaves where λ leaves [0, 1], and where the fields come to point away from the surface:
//! staying is a solution there, too, but one that nothing holds. Several surfaces have a share λ each, found together
//! (mathematics 23).

use crate::crossings::positive_side;
use crate::model::{ModeProgram, Model};
use crate::rhs::Rhs;
use saltus_solver::ode::EvalError;
use saltus_solver::roots::bracket::sign_change;

/// A surface is repelling if its fields part faster than this part of its firmest hold.
const REPELLING: f64 = 1e-9;

/// One switching surface.
pub(crate) struct Surface {
    /// The relations that switch there: index, value on the first side, value on the second. The first one leads.
    pub relations: Vec<(usize, f64, f64)>,
    /// Other relations of the same function: noise about zero must not switch them.
    pub twins: Vec<usize>,
    /// All discrete values that differ between the sides: slot, first, second.
    bits: Vec<(u32, f64, f64)>,
    /// λ: share of the second side, as last computed (not yet cut to [0, 1]).
    share: f64,
    /// How far the share may leave [0, 1]: more where one of the fields runs along the surface.
    margin: f64,
    /// How fast the sides part in the direction that leads back to the surface, as last computed: below zero the fields lead
    /// away from it.
    hold: f64,
    /// The firmest hold so far.
    firmest: f64,
}

/// The surfaces the solution slides on.
pub(crate) struct Sliding {
    pub surfaces: Vec<Surface>,
    /// Rate at which what is left of g is drawn to zero.
    pull: f64,
}

/// What the fields of both sides make of a surface.
pub(crate) enum Meeting {
    /// Both point to it: the solution slides.
    Slides(Surface),
    /// Each side's own function leads back, yet not by the motion of the states, which is the same on both sides: a branch
    /// of solutions ends here (a fold), and the model must jump to another.
    Folds,
    /// The solution passes.
    Passes,
}

/// What became of a surface.
pub(crate) enum Fate {
    /// Sliding goes on.
    Slides,
    /// The solution goes to one side.
    Leaves(Parting),
}

/// How a surface is left.
#[derive(Clone, Copy)]
pub(crate) struct Parting {
    /// To the second side.
    pub second: bool,
    /// Both sides lead away: the other one would have been a solution as well, and so would be to stay.
    pub repelled: bool,
}

impl Surface {
    fn set(&self, values: &mut [f64], second: bool) {
        for &(slot, first, other) in &self.bits {
            values[slot as usize] = if second { other } else { first };
        }
    }

    /// All relations whose function is kept at zero.
    pub fn held(&self) -> impl Iterator<Item = usize> + '_ {
        self.relations.iter().map(|r| r.0).chain(self.twins.iter().copied())
    }

    /// How far the share is outside of what is allowed; positive: it has left.
    fn excess(&self) -> f64 {
        (-self.share).max(self.share - 1.0) - self.margin
    }

    /// How far the surface is from holding the solution; positive: both fields lead away from it.
    fn repulsion(&self) -> f64 {
        -self.hold / self.firmest.max(f64::MIN_POSITIVE) - REPELLING
    }

    /// Positive once the surface must be left, for either reason.
    fn looseness(&self) -> f64 {
        self.excess().max(self.repulsion())
    }
}

impl Sliding {
    /// For a run over `span` of time.
    pub fn new(span: f64) -> Sliding {
        Sliding { surfaces: Vec::new(), pull: 100.0 / span }
    }

    /// The mixed field. With `values`, these become the mix of all values of the sides, for rows of the result.
    pub fn field(
        &mut self,
        rhs: &mut Rhs<'_>,
        t: f64,
        x: &[f64],
        dx: &mut [f64],
        values: Option<&mut Vec<f64>>,
    ) -> Result<(), EvalError> {
        let (n, m) = (x.len(), self.surfaces.len());
        let mut fields = vec![vec![0.0; n]; m + 1];
        let mut rates = vec![vec![0.0; m]; m + 1];
        let mut kept: Vec<Vec<f64>> = Vec::new();
        let mut g = vec![0.0; m];
        for k in 0..=m {
            self.surfaces.iter().enumerate().for_each(|(j, s)| s.set(&mut rhs.machine.values, j + 1 == k));
            rhs.field(t, x, &mut fields[k])?;
            if values.is_some() {
                kept.push(rhs.machine.values.clone());
            }
            for (j, s) in self.surfaces.iter().enumerate() {
                let lead = s.relations[0].0;
                if k == 0 {
                    g[j] = rhs.value(lead);
                }
                rates[k][j] = rhs.rate(lead, t, x, &fields[k])?;
            }
        }
        // Σ_k λ_k (rate_k − rate_0)_j = −rate_0j: the share that decides. What is left of g is drawn to zero as well.
        let a: Vec<Vec<f64>> = (0..m).map(|j| (0..m).map(|k| rates[k + 1][j] - rates[0][j]).collect()).collect();
        let shares = solve_small(a.clone(), (0..m).map(|j| -rates[0][j]).collect());
        let drawn = solve_small(a, (0..m).map(|j| -self.pull * g[j] - rates[0][j]).collect());
        dx.copy_from_slice(&fields[0]);
        for (k, s) in self.surfaces.iter_mut().enumerate() {
            s.share = shares[k];
            let sign =
                if positive_side(&rhs.machine.relations[s.relations[0].0].kind, s.relations[0].1) { 1.0 } else { -1.0 };
            s.hold = sign * (rates[k + 1][k] - rates[0][k]);
            s.firmest = s.firmest.max(s.hold);
            let share = drawn[k].clamp(0.0, 1.0);
            for i in 0..n {
                dx[i] += share * (fields[k + 1][i] - fields[0][i]);
            }
        }
        if let Some(values) = values {
            values.clone_from(&kept[0]);
            for (k, s) in self.surfaces.iter().enumerate() {
                let share = s.share.clamp(0.0, 1.0);
                for (v, (w, z)) in values.iter_mut().zip(kept[k + 1].iter().zip(&kept[0])) {
                    if w != z {
                        *v += share * (w - z);
                    }
                }
            }
            self.surfaces.iter().for_each(|s| s.set(values, s.share >= 0.5));
        }
        Ok(())
    }

    /// Gives the model the side of each surface that has the larger share.
    pub fn settle(&self, model: &mut Model) {
        for s in &self.surfaces {
            for &(i, first, second) in &s.relations {
                let slot = model.machine.relations[i].var as usize;
                model.machine.values[slot] = if s.share >= 0.5 { second } else { first };
            }
            s.set(&mut model.machine.values, s.share >= 0.5);
        }
    }

    /// The relations of all surfaces keep their values while an event is handled.
    pub fn freeze(&self, model: &mut Model, frozen: bool) {
        for i in self.surfaces.iter().flat_map(Surface::held) {
            model.machine.relations[i].frozen = frozen;
        }
    }

    /// Where in (from, to] the first surface is left; `at` computes the shares at a time.
    pub fn leaving(&mut self, mut at: impl FnMut(&mut Sliding, f64) -> bool, span: (f64, f64, usize)) -> Option<f64> {
        let worst = |s: &Sliding| s.surfaces.iter().map(Surface::looseness).fold(f64::NEG_INFINITY, f64::max);
        let when = first_positive(|t| if at(self, t) { worst(self) } else { f64::NAN }, span)?;
        at(self, when);
        Some(when)
    }
}

/// Where in [from, to] a function that should be negative is first found positive, looking at `n` places and where three of them
/// tell of a maximum between them.
pub(crate) fn first_positive(mut f: impl FnMut(f64) -> f64, (from, to, n): (f64, f64, usize)) -> Option<f64> {
    let mut before = (from, f(from));
    // Already there at the start: it counts if it stays so.
    let begins = before.1 >= 0.0;
    let mut earlier: Option<(f64, f64)> = None;
    for k in 1..=n {
        let t = if k == n { to } else { from + (to - from) * k as f64 / n as f64 };
        let now = (t, f(t));
        if before.1 >= 0.0 {
            if k == n && now.1 > 0.0 {
                return Some(if begins { from } else { before.0 });
            }
            before = now;
            continue;
        }
        if now.1 > 0.0 {
            return Some(sign_change(|t| -f(t), before.0, -before.1, now.0, -now.1, 0.0).1);
        }
        if let Some(peak) = earlier.and_then(|e| vertex([e, before, now])) {
            let top = f(peak);
            if top > 0.0 {
                let (a, fa) = if peak > before.0 { before } else { earlier.unwrap_or(before) };
                return Some(sign_change(|t| -f(t), a, -fa, peak, -top, 0.0).1);
            }
        }
        if now.1.is_finite() {
            (earlier, before) = (Some(before), now);
        }
    }
    None
}

/// Where the parabola through three points has its maximum, if it is between them and above zero by twice its height over them.
fn vertex([a, b, c]: [(f64, f64); 3]) -> Option<f64> {
    if !(b.1 >= a.1 && b.1 >= c.1) {
        return None;
    }
    let (l, r) = ((b.1 - a.1) / (b.0 - a.0), (c.1 - b.1) / (c.0 - b.0));
    let bend = (r - l) / (c.0 - a.0);
    let slope = l + bend * (b.0 - a.0);
    let t = b.0 - slope / (2.0 * bend);
    let rise = -slope * slope / (4.0 * bend);
    (bend < 0.0 && t > a.0 && t < c.0 && b.1 + 4.0 * rise + 0.1 * (b.1 - a.1).max(b.1 - c.1) > 0.0).then_some(t)
}

impl Sliding {
    /// Takes out the surfaces whose shares have left, with the side they are left to.
    pub fn take_left(&mut self) -> Vec<(Surface, Parting)> {
        let worst = self.surfaces.iter().map(Surface::looseness).fold(f64::NEG_INFINITY, f64::max);
        let mut left = Vec::new();
        let mut k = 0;
        while k < self.surfaces.len() {
            // At the instant of leaving the share is at the edge of what is allowed.
            if self.surfaces[k].looseness() >= worst.min(0.0) {
                let s = self.surfaces.remove(k);
                let parting = Parting { second: s.share > 0.5 + 1e-6, repelled: s.repulsion() > s.excess() };
                left.push((s, parting));
            } else {
                k += 1;
            }
        }
        left
    }
}

/// A dense system of a few equations; unknowns that are not determined are ½ (both sides are alike there).
fn solve_small(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let m = b.len();
    let mut order: Vec<Option<usize>> = vec![None; m];
    let mut used = vec![false; m];
    let size = a.iter().flatten().fold(0.0f64, |s, v| s.max(v.abs()));
    for col in 0..m {
        let Some(p) = (0..m).filter(|&i| !used[i]).max_by(|&i, &j| a[i][col].abs().total_cmp(&a[j][col].abs())) else {
            continue;
        };
        if !(a[p][col].abs() > 1e-14 * size) {
            continue;
        }
        used[p] = true;
        order[col] = Some(p);
        for i in (0..m).filter(|&i| i != p) {
            let f = a[i][col] / a[p][col];
            if f != 0.0 {
                for j in 0..m {
                    let d = f * a[p][j];
                    a[i][j] -= d;
                }
                b[i] -= f * b[p];
            }
        }
    }
    (0..m).map(|col| order[col].map_or(0.5, |p| b[p] / a[p][col])).collect()
}

impl Model {
    /// The discrete values on both sides of a surface: everything that follows from its relations without memory.
    fn both_sides(&mut self, program: &ModeProgram, relations: &[(usize, f64, f64)]) -> Option<Vec<(u32, f64, f64)>> {
        let kept = self.machine.values.clone();
        self.machine.hold_relations = true;
        self.machine.patient = true;
        let mut sides: Vec<Vec<f64>> = Vec::new();
        for second in [false, true] {
            self.machine.values.copy_from_slice(&kept);
            for &(i, a, b) in relations {
                let slot = self.machine.relations[i].var as usize;
                self.machine.values[slot] = if second { b } else { a };
            }
            if self.machine.run(&program.event).is_err() {
                break;
            }
            sides.push(self.discrete.iter().map(|d| self.machine.values[d.0 as usize]).collect());
        }
        self.machine.hold_relations = false;
        self.machine.patient = false;
        self.machine.values = kept;
        let [a, b] = &sides[..] else { return None };
        Some(
            self.discrete
                .iter()
                .zip(a.iter().zip(b))
                .filter(|(_, (a, b))| a != b)
                .map(|(d, (&a, &b))| (d.0, a, b))
                .collect(),
        )
    }

    /// Rates of a relation's function: [side whose function it is][side whose field moves the states].
    fn side_rates(
        &mut self,
        program: &ModeProgram,
        lead: usize,
        bits: &[(u32, f64, f64)],
        t: f64,
        x: &[f64],
    ) -> Option<[[f64; 2]; 2]> {
        let kept = self.machine.values.clone();
        let mut rhs = Rhs::new(&mut self.machine, program);
        let mut found = || {
            let mut fields = [vec![0.0; x.len()], vec![0.0; x.len()]];
            let side = |rhs: &mut Rhs<'_>, second: bool| {
                bits.iter().for_each(|&(s, a, b)| rhs.machine.values[s as usize] = if second { b } else { a });
            };
            for k in 0..2 {
                side(&mut rhs, k == 1);
                rhs.field(t, x, &mut fields[k])?;
            }
            let mut rates = [[0.0; 2]; 2];
            for k in [1, 0] {
                side(&mut rhs, k == 1);
                // The values of this side again, from which rates are computed.
                let mut own = fields[k].clone();
                rhs.field(t, x, &mut own)?;
                for j in 0..2 {
                    rates[k][j] = rhs.rate(lead, t, x, &fields[j])?;
                }
            }
            Ok::<_, EvalError>(rates)
        };
        let rates = found().ok();
        self.machine.values = kept;
        rates
    }

    /// Whether two relations switch at the same surface: their functions are multiples of each other.
    pub(crate) fn same_surface(&mut self, program: &ModeProgram, i: usize, j: usize, t: f64) -> bool {
        if self.sys.relations[i].g == self.sys.relations[j].g {
            return true;
        }
        let kept = self.machine.values.clone();
        let x: Vec<f64> = program.states.iter().map(|s| self.machine.values[s.0 as usize]).collect();
        let mut rhs = Rhs::new(&mut self.machine, program);
        let mut dx = vec![0.0; x.len()];
        let mut ratio: Option<f64> = None;
        let mut same = true;
        for trial in 1..4usize {
            // Off the surface in directions that have nothing to do with each other.
            let moved: Vec<f64> = x
                .iter()
                .enumerate()
                .map(|(k, v)| v + 1e-3 * (v.abs() + 1e-3) * (((k + 1) * trial * 7919 % 1009) as f64 / 504.5 - 1.0))
                .collect();
            same &= rhs.field(t, &moved, &mut dx).is_ok();
            let (a, b) = (rhs.value(i), rhs.value(j));
            let r = b / a;
            same &= r.is_finite() && ratio.is_none_or(|q| (r - q).abs() <= 1e-6 * q.abs());
            ratio.get_or_insert(r);
        }
        self.machine.values = kept;
        same
    }

    /// Whether the fields of both sides of these relations' surface point to it (`loose`: or along it). It is passed also if
    /// the derivatives do not depend on the side.
    pub(crate) fn surface(
        &mut self,
        program: &ModeProgram,
        relations: Vec<(usize, f64, f64)>,
        t: f64,
        loose: bool,
    ) -> Meeting {
        self.meeting(program, relations, t, loose).unwrap_or(Meeting::Passes)
    }

    fn meeting(
        &mut self,
        program: &ModeProgram,
        relations: Vec<(usize, f64, f64)>,
        t: f64,
        loose: bool,
    ) -> Option<Meeting> {
        let x: Vec<f64> = program.states.iter().map(|s| self.machine.values[s.0 as usize]).collect();
        let bits = self.both_sides(program, &relations)?;
        if x.is_empty() || !bits.iter().any(|b| program.sensitivity.slots.contains(&b.0)) {
            return None;
        }
        let &(lead, first, _) = relations.first()?;
        let rates = self.side_rates(program, lead, &bits, t, &x)?;
        // Towards the surface: down from the positive side, up from the negative.
        let sign = if positive_side(&self.machine.relations[lead].kind, first) { 1.0 } else { -1.0 };
        let (a, b) = (-sign * rates[0][0], sign * rates[1][1]);
        let size = a.abs().max(b.abs());
        let (least, margin) = if loose { (-1e-4, 1e-2) } else { (1e-9, 1e-6) };
        if !(size > 0.0 && a > least * size && b > least * size) {
            return None;
        }
        if self.continuous(program, lead, &bits, t, &x, &rates) {
            return None;
        }
        // A mix of the fields holds g at zero only if the other field leads back where the own one leads on.
        let (across, back) = (-sign * rates[0][1], sign * rates[1][0]);
        if a.min(b) > 1e-9 * size && across > 0.5 * a && back > 0.5 * b {
            return Some(Meeting::Folds);
        }
        let among = |i: &usize| relations.iter().any(|r| r.0 == *i);
        let alike = |i: &usize| {
            let r = &self.sys.relations[*i];
            matches!(r.kind, saltus_structure::RelationKind::Sign(_)) && r.g == self.sys.relations[lead].g
        };
        let twins = (0..self.sys.relations.len()).filter(|i| !among(i) && alike(i)).collect();
        Some(Meeting::Slides(Surface { relations, twins, bits, share: 0.5, margin, hold: a + b, firmest: a + b }))
    }

    /// Whether the fields of both sides are one field where g is zero: what tells them apart here goes with the distance.
    fn continuous(
        &mut self,
        program: &ModeProgram,
        lead: usize,
        bits: &[(u32, f64, f64)],
        t: f64,
        x: &[f64],
        rates: &[[f64; 2]; 2],
    ) -> bool {
        let kept = self.machine.values.clone();
        let mut rhs = Rhs::new(&mut self.machine, program);
        let mut dx = vec![0.0; x.len()];
        bits.iter().for_each(|&(s, a, _)| rhs.machine.values[s as usize] = a);
        let g = rhs.field(t, x, &mut dx).map(|()| rhs.value(lead));
        self.machine.values = kept;
        let (Ok(g), rate) = (g, rates[0][0]) else { return false };
        let apart = (rates[0][1] - rate).abs();
        let back = -g / rate;
        if g == 0.0 || !back.is_finite() {
            return false;
        }
        let nearer: Vec<f64> = x.iter().zip(&dx).map(|(x, d)| x + 0.9 * back * d).collect();
        let there = self.side_rates(program, lead, bits, t + 0.9 * back, &nearer);
        there.is_some_and(|r| (r[0][1] - r[0][0]).abs() < 0.3 * apart)
    }

    /// After an event: does the solution still slide on this surface?
    pub(crate) fn review(&mut self, program: &ModeProgram, s: &mut Surface, t: f64) -> Fate {
        let loose = s.margin > 1e-3;
        let share = s.share;
        if let Meeting::Slides(new) = self.surface(program, s.relations.clone(), t, loose) {
            *s = Surface { share, firmest: s.firmest.max(new.firmest), ..new };
            return Fate::Slides;
        }
        let x: Vec<f64> = program.states.iter().map(|s| self.machine.values[s.0 as usize]).collect();
        let lead = s.relations[0];
        let bits = self.both_sides(program, &s.relations).unwrap_or_default();
        let rates = self.side_rates(program, lead.0, &bits, t, &x).unwrap_or_default();
        let (a, b) = (rates[0][0], rates[1][1]);
        let first_positive = positive_side(&self.machine.relations[lead.0].kind, lead.1);
        // Where the fields go now.
        let up = if a.abs() > b.abs() { a > 0.0 } else { b > 0.0 };
        let repelled = if first_positive { a > 0.0 && b < 0.0 } else { a < 0.0 && b > 0.0 };
        Fate::Leaves(Parting { second: up != first_positive, repelled })
    }
}
