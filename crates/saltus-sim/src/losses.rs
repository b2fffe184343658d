//! Small losses where equations leave shares open.
//!
//! Of thyristors side by side that conduct without a voltage, or in a row that block without a current, the equations leave open how they
//! share. Where memory hangs on the shares (a thyristor whose current ends blocks from then on) what follows is not the same for any choice.
//! Physics chooses by losses that are equal and small: each relation of the loop is for a part ε what it is not,
//!
//! ```text
//! r(z; b) + ε Σ_k (r(z; b with k flipped) − r(z; b)) = 0,      ε → 0
//! ```
//!
//! which for v = if off then s else 0, i = if off then 0 else s is v = ε s while on, i = ε s while off. The solution for a small ε is z_ε; with J_ε its
//! Jacobian, z − J_ε⁻¹ r(z) leads from it to the solution of the equations themselves with shares as losses have them, while what the
//! equations determine is exact. Relations are asked at z_ε: a blocked thyristor beside others that conduct has their small voltage, whose
//! sign says whether it would conduct.

use crate::block::SolveBlock;
use crate::compile::{MixedBlock, Step};
use crate::machine::{Machine, Note};
use crate::slice::{slice, unmoved};
use saltus_program::slot_of;
use saltus_solver::linear::{LinearSolver, Pattern};
use saltus_structure::RelationKind;
use std::rc::Rc;

/// ε: far below tolerances, far above rounding.
const LOSS: f64 = 1e-8;

/// What residuals of equations that agree are at most, beside their terms.
const AGREE: f64 = 1e-11;

/// Corrections by J_ε until the equations hold; each leaves a part ε of what was wrong.
const CORRECTIONS: usize = 4;

/// Discrete values of a loop with one relation flipped: slots and their values.
type Flip = Vec<(u32, f64)>;

/// What a flip does to a block: steps that compute what of its residuals depends on it, and which these are.
struct Effect {
    flip: Flip,
    steps: Vec<Step>,
    rows: Vec<usize>,
}

/// A block of equations with losses, in one mode.
pub(crate) struct Lossy {
    /// The discrete values of the loop, and what else the coefficients depend on.
    mode: Vec<f64>,
    fixed: Vec<f64>,
    flips: Vec<Effect>,
    /// J_ε, in the pattern of the block, and its factors.
    matrix: Vec<f64>,
    lu: LinearSolver,
    /// What makes terms of the equations one.
    rows: Vec<f64>,
}

impl Machine {
    /// Solves a block of a loop in which shares are open and remembered; false if it is none, or if its equations do not agree.
    pub(crate) fn solve_with_losses(&mut self, b: &SolveBlock) -> bool {
        let Some(m) = b.unknowns.first().and_then(|s| self.lossy.get(s)).cloned() else { return false };
        if !b.linear {
            return false;
        }
        let mut w = b.work.borrow_mut();
        let lossy = w.lossy.take().filter(|l| self.is_of_now(l, b, &m)).or_else(|| self.lossy_now(b, &m).map(Box::new));
        let Some(mut lossy) = lossy else { return false };
        let solved = self.share(b, &mut lossy);
        w.lossy = Some(lossy);
        solved
    }

    /// Takes note of which loops have shares that are open and remembered, as they begin to be solved.
    pub(crate) fn note_losses(&mut self, m: &Rc<MixedBlock>) {
        if !m.remembers || m.lossless.get() {
            return;
        }
        for s in &m.continuous_slots {
            if m.degenerate.get() {
                self.lossy.insert(*s, m.clone());
            } else {
                self.lossy.remove(s);
            }
        }
    }

    /// Whether relations of loops with losses are what they were before they crossed here: they would cross again at once.
    pub(crate) fn takes_back(&self, crossed: &[(u32, f64)]) -> bool {
        let lossy = |s: u32| self.lossy.values().any(|m| m.slots.contains(&s));
        !crossed.is_empty() && crossed.iter().all(|&(s, v)| self.values[s as usize] != v && lossy(s))
    }

    /// Solves a loop without losses from now on. Those of the form (9f) need not be passive (a gear whose friction grows with what it
    /// transmits), and then no mode may agree with what follows from it.
    pub(crate) fn forgo_losses(&mut self, m: &MixedBlock) {
        m.lossless.set(true);
        for s in &m.continuous_slots {
            self.lossy.remove(s);
            self.beside.remove(s);
        }
    }

    /// The same for all loops; false if there are none with losses.
    pub(crate) fn forgo_all_losses(&mut self) -> bool {
        let some = !self.lossy.is_empty();
        self.lossy.drain().for_each(|(_, m)| m.lossless.set(true));
        self.beside.clear();
        some
    }

    /// Whether a loop is solved with losses.
    pub(crate) fn is_lossy(&self, m: &MixedBlock) -> bool {
        m.continuous_slots.first().and_then(|s| self.lossy.get(s)).is_some_and(|l| std::ptr::eq(Rc::as_ptr(l), m))
    }

    /// J_ε of a block, if that is how it was last solved.
    pub(crate) fn lossy_jacobian(&self, b: &SolveBlock) -> Option<Vec<f64>> {
        let m = b.unknowns.first().and_then(|s| self.lossy.get(s))?;
        let w = b.work.borrow();
        w.lossy.as_ref().filter(|l| self.is_of_now(l, b, m)).map(|l| l.matrix.clone())
    }

    fn is_of_now(&self, lossy: &Lossy, b: &SolveBlock, m: &MixedBlock) -> bool {
        let same =
            |slots: &[u32], values: &[f64]| slots.iter().zip(values).all(|(&s, v)| self.values[s as usize] == *v);
        b.fixed.as_ref().is_some_and(|f| same(f, &lossy.fixed)) && same(&m.slots, &lossy.mode)
    }

    fn lossy_now(&mut self, b: &SolveBlock, m: &MixedBlock) -> Option<Lossy> {
        let n = b.unknowns.len();
        let pattern = Pattern::from_entries(n, n, b.places.iter().copied());
        let now = |me: &Machine, slots: &[u32]| -> Vec<f64> { slots.iter().map(|&s| me.values[s as usize]).collect() };
        let (mode, fixed) = (now(self, &m.slots), now(self, b.fixed.as_deref().unwrap_or(&[])));
        let mut plain = vec![0.0; pattern.nnz()];
        if !self.jacobian(b, &mut plain) {
            return None;
        }
        let (mut matrix, mut flipped, mut flips) = (plain.clone(), plain.clone(), Vec::new());
        for flip in self.flips(m) {
            let seen = self.flipped(&flip, |me| me.jacobian(b, &mut flipped));
            if seen && flipped != plain {
                matrix.iter_mut().zip(flipped.iter().zip(&plain)).for_each(|(m, (f, p))| *m += LOSS * (f - p));
                let residuals = [Step::Assign(b.residual.clone())];
                let steps = slice(&residuals, b.residual_slots.iter().copied(), flip.iter().map(|c| c.0));
                let still = unmoved(&steps, b.residual_slots.iter().copied());
                let rows = (0..n).filter(|i| !still[*i]).collect();
                flips.push(Effect { flip, steps, rows });
            }
        }
        let mut rows = vec![0.0f64; n];
        for (&(at, ..), &(i, j)) in b.entries.iter().zip(&b.places) {
            rows[i] = rows[i].max(plain[at].abs() * b.nominal[j]);
        }
        rows.iter_mut().for_each(|r| *r = if *r > 0.0 { 1.0 / *r } else { 1.0 });
        let mut lu = LinearSolver::new(&pattern);
        lu.factor(&matrix).ok()?;
        Some(Lossy { mode, fixed, flips, matrix, lu, rows })
    }

    /// What the discrete values of a loop are with each of its relations flipped. Where memory holds a condition whatever its relation is
    /// (a thyristor without a gate signal), with that condition flipped.
    fn flips(&mut self, m: &MixedBlock) -> Vec<Flip> {
        let keep: Vec<f64> = m.slots.iter().map(|&s| self.values[s as usize]).collect();
        let mut held: Vec<bool> = keep.iter().map(|v| *v == 0.0 || *v == 1.0).collect();
        let mut flips = Vec::new();
        for step in &m.discrete {
            let Step::Relation(i) = step else { continue };
            let r = &self.relations[*i];
            let var = r.var;
            let free = matches!(r.kind, RelationKind::Sign(_)) && r.time.is_none() && !r.frozen;
            if let Some(k) = m.slots.iter().position(|s| *s == var) {
                held[k] = false;
            }
            if !free {
                continue;
            }
            self.values[var as usize] = 1.0 - self.values[var as usize];
            let followed = self.follows(m);
            let changed = |(&s, v): (&u32, &f64)| Some((s, self.values[s as usize])).filter(|c| c.1 != *v);
            let flip: Flip = m.slots.iter().zip(&keep).filter_map(changed).collect();
            m.slots.iter().zip(&keep).for_each(|(&s, v)| self.values[s as usize] = *v);
            if followed {
                flip.iter().filter_map(|c| m.slots.iter().position(|s| *s == c.0)).for_each(|k| held[k] = false);
                flips.push(flip);
            }
        }
        self.host.error = None;
        let held = m.slots.iter().zip(&keep).zip(held).filter(|x| x.1);
        flips.extend(held.map(|((&s, v), _)| vec![(s, 1.0 - v)]));
        flips
    }

    /// Something with some discrete values flipped.
    fn flipped<T>(&mut self, flip: &Flip, mut what: impl FnMut(&mut Machine) -> T) -> T {
        let keep: Flip = flip.iter().map(|c| (c.0, self.values[c.0 as usize])).collect();
        flip.iter().for_each(|&(s, v)| self.values[s as usize] = v);
        let made = what(self);
        keep.iter().for_each(|&(s, v)| self.values[s as usize] = v);
        made
    }

    fn share(&mut self, b: &SolveBlock, lossy: &mut Lossy) -> bool {
        let n = b.unknowns.len();
        let finite = |v: f64| if v.is_finite() { v } else { 0.0 };
        let start: Vec<f64> = b.unknowns.iter().map(|&s| finite(self.values[s as usize])).collect();
        let (mut z, mut r, mut sum) = (start.clone(), vec![0.0; n], vec![0.0; n]);
        for _ in 0..2 {
            let mut good = self.residual(b, &z, &mut r);
            sum.copy_from_slice(&r);
            for effect in &lossy.flips {
                good &= self.flipped(&effect.flip, |me| me.run(&effect.steps).is_ok());
                for &i in &effect.rows {
                    sum[i] += LOSS * (self.values[b.residual_slots[i] as usize] - r[i]);
                }
                good &= self.run(&effect.steps).is_ok();
            }
            lossy.lu.solve(&mut sum);
            if !good || sum.iter().any(|v| !v.is_finite()) {
                self.set_unknowns(b, &start);
                return false;
            }
            z.iter_mut().zip(&sum).for_each(|(z, d)| *z -= d);
        }
        let with_losses = z.clone();
        for _ in 0..CORRECTIONS {
            if !self.residual(b, &z, &mut r) {
                break;
            }
            let large = z.iter().zip(&b.nominal).fold(1.0f64, |m, (z, unit)| m.max(z.abs() / unit));
            let worst = r.iter().zip(&lossy.rows).fold(0.0f64, |m, (r, s)| m.max((r * s).abs()));
            if worst <= AGREE * large {
                lossy.lu.solve(&mut r);
                z.iter_mut().zip(&r).for_each(|(z, d)| *z -= d);
                self.set_unknowns(b, &z);
                let values = b.unknowns.iter().zip(with_losses);
                self.beside.extend(values.map(|(&s, v)| (s, v)));
                self.note(|| Note::End { solved: true, how: "small losses; the Jacobian is singular".into() });
                return true;
            }
            lossy.lu.solve(&mut r);
            z.iter_mut().zip(&r).for_each(|(z, d)| *z -= d);
        }
        self.set_unknowns(b, &start);
        false
    }

    /// Evaluates the function of a relation, with losses where there are some.
    pub(crate) fn function(&mut self, i: usize) -> f64 {
        let r = &self.relations[i];
        let mut swapped = Flip::new();
        if !self.beside.is_empty() {
            for &w in &r.batch.rows.words()[1..] {
                let s = slot_of(w) as u32;
                if let Some(v) = self.beside.get(&s).filter(|_| swapped.iter().all(|x| x.0 != s)) {
                    swapped.push((s, std::mem::replace(&mut self.values[s as usize], *v)));
                }
            }
        }
        self.backend.run(&r.batch, &mut self.values, &mut self.host);
        swapped.iter().for_each(|&(s, v)| self.values[s as usize] = v);
        self.values[self.relations[i].g as usize]
    }
}
