//! Where arguments of roots are. Within a step they may go below zero, and come back or find their event there; what is taken for the
//! solution may have them below zero by errors of the integration, no further.

use super::*;
use crate::edges::BELOW;

/// Errors of the states add up: so many error weights.
const SURE: f64 = 10.0;

/// The same where a branch decides on a root, and its event may be late: a function that counts as zero within what errors may have
/// added up to is let go beyond.
const LATE: f64 = 30.0;

impl Runner<'_> {
    /// What has no value now since the argument of a root is below zero by more than errors.
    pub(super) fn outside(&mut self, model: &mut Model, program: &ModeProgram, t: f64) -> Option<Trouble> {
        let below = negative(model, program);
        if below.is_empty() {
            return None;
        }
        let x = model.states_now(program);
        // Errors of what has run empty are those of what it was.
        let mut errors = self.errors(program, &x);
        errors.iter_mut().zip(&self.extent).for_each(|(e, far)| *e = e.max(self.tolerance * far));
        let far = model.aside(|model| {
            let arguments = |model: &Model| -> Vec<f64> {
                below.iter().map(|&k| model.machine.values[program.roots[k].0 as usize]).collect()
            };
            let here = arguments(model);
            let mut far = vec![BELOW; below.len()];
            for pattern in [1, 2, 4] {
                let sign = |k: usize| if k & pattern == 0 { SURE } else { -SURE };
                let moved: Vec<f64> = x.iter().zip(&errors).enumerate().map(|(k, (x, e))| x + sign(k) * e).collect();
                place(&mut model.machine, program, t, &moved);
                if model.machine.run(&program.continuous).is_err() {
                    continue;
                }
                model.machine.chain(&program.arguments);
                for ((far, a), b) in far.iter_mut().zip(arguments(model)).zip(&here) {
                    // A root that is not evaluated there, or has no argument, tells nothing.
                    *far = if a < f64::MAX { far.max((a - b).abs()) } else { *far };
                }
            }
            far
        });
        let deep = |(&k, far): (&usize, &f64)| {
            let (slot, cell, guarded) = program.roots[k];
            let far = if guarded { BELOW + LATE / SURE * (far - BELOW) } else { *far };
            (model.machine.values[slot as usize] < -far).then_some(cell)
        };
        let bad: Vec<Cell> = below.iter().zip(&far).filter_map(deep).collect();
        (!bad.is_empty()).then_some(Trouble::NotFinite(bad))
    }

    /// The same for `t` in the present step, told as of when the argument went below zero.
    pub(super) fn leaves_domain(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        integrator: &dyn Integrator,
        t: f64,
    ) -> Option<Diagnostic> {
        let trouble = self.outside(model, program, t)?;
        let Trouble::NotFinite(cells) = &trouble else { return None };
        let (mut good, mut bad) = (integrator.t_prev().min(t), t);
        while good < 0.5 * (good + bad) && 0.5 * (good + bad) < bad && bad - good > 1e-12 * self.span() {
            let middle = 0.5 * (good + bad);
            let known = self.evaluate_at(model, program, integrator, middle).is_ok();
            let there = negative(model, program);
            let left = known && there.iter().any(|&k| cells.contains(&program.roots[k].1));
            *(if left { &mut bad } else { &mut good }) = middle;
        }
        let _ = self.evaluate_at(model, program, integrator, bad);
        Some(model.explain(&trouble, Stage::Run, bad, "the run failed"))
    }
}

/// The roots whose arguments are below zero now.
fn negative(model: &mut Model, program: &ModeProgram) -> Vec<usize> {
    if program.roots.is_empty() {
        return Vec::new();
    }
    model.machine.chain(&program.arguments);
    let value = |k: &usize| model.machine.values[program.roots[*k].0 as usize];
    (0..program.roots.len()).filter(|k| value(k) < -BELOW).collect()
}
