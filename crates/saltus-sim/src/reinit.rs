//! `reinit` of variables that are not states of the mode: states they depend on move so that they take their new values.

use crate::dependence::sources_of;
use crate::model::{ModeProgram, Model};
use saltus_dae::VarId;
use saltus_solver::linear::LinearSolver;

/// A variable, its slot, and the value it is to take.
pub(crate) type Target = (VarId, u32, f64);

impl Model {
    /// Brings dependent variables to the values that `reinit` asks for by the smallest change of states of the same stage:
    /// a velocity is changed through velocities, positions stay. States that were set themselves stay too. Adds what it moved
    /// to `moved`; returns the targets that the equations do not let through.
    pub(crate) fn impose(&mut self, program: &ModeProgram, targets: &[Target], moved: &mut Vec<u32>) -> Vec<VarId> {
        let is_state = |slot: u32| program.states.iter().any(|s| s.0 == slot);
        let mut stages: Vec<u8> = targets.iter().filter_map(|t| program.plan.d.get(&t.0).copied()).collect();
        stages.sort_unstable();
        stages.dedup();
        let mut refused = Vec::new();
        for stage in stages.into_iter().rev() {
            let dependent: Vec<Target> = targets
                .iter()
                .filter(|t| program.plan.d.get(&t.0) == Some(&stage) && !is_state(t.1))
                .copied()
                .collect();
            if dependent.is_empty() {
                continue;
            }
            let cells = program.plan.states.iter().zip(&program.states).zip(&program.nominal);
            let mut free: Vec<(u32, f64)> = cells
                .filter(|((c, s), _)| {
                    program.plan.d.get(&c.var).is_some_and(|d| i16::from(*d) == i16::from(c.order) + i16::from(stage))
                        && !moved.contains(&s.0)
                })
                .map(|((_, s), &nominal)| (s.0, nominal))
                .collect();
            // Of these, the states that the targets depend on: what has nothing to do with them keeps its last digit.
            let (sources, wanted): (Vec<u32>, Vec<u32>) =
                (free.iter().map(|f| f.0).collect(), dependent.iter().map(|t| t.1).collect());
            if let Some(lists) = sources_of(&program.continuous, &sources, &wanted, self.machine.values.len()) {
                let mut k = 0..free.len();
                free.retain(|_| k.next().is_some_and(|k| lists.iter().any(|l| l.contains(&k))));
            }
            let before = self.machine.values.clone();
            if self.solve_for(program, &dependent, &free) {
                moved.extend(
                    free.iter().map(|f| f.0).filter(|&s| self.machine.values[s as usize] != before[s as usize]),
                );
            } else {
                self.machine.host.error = None;
                self.machine.values = before;
                refused.extend(dependent.iter().map(|t| t.0));
            }
        }
        refused
    }

    /// Newton's method for the values of `free` slots at which the targets are met, by least changes relative to their
    /// nominal values.
    fn solve_for(&mut self, program: &ModeProgram, targets: &[Target], free: &[(u32, f64)]) -> bool {
        let m = targets.len();
        let values = |me: &Model| -> Vec<f64> { targets.iter().map(|t| me.machine.values[t.1 as usize]).collect() };
        for _ in 0..30 {
            if self.machine.run(&program.continuous).is_err() {
                return false;
            }
            let base = self.machine.values.clone();
            let now = values(self);
            let mut step: Vec<f64> = targets.iter().zip(&now).map(|(t, v)| t.2 - v).collect();
            if step.iter().zip(targets).all(|(r, t)| r.abs() <= 1e-12 * (t.2.abs() + 1e-3)) {
                return true;
            }
            // Rows: how the targets follow each free state, per nominal value.
            let mut rates: Vec<Vec<f64>> = Vec::with_capacity(free.len());
            for &(slot, nominal) in free {
                let h = 1e-7 * (base[slot as usize].abs() + nominal);
                self.machine.values[slot as usize] += h;
                let h = self.machine.values[slot as usize] - base[slot as usize];
                if self.machine.run(&program.continuous).is_err() {
                    return false;
                }
                rates.push(values(self).iter().zip(&now).map(|(a, b)| (a - b) / h * nominal).collect());
                self.machine.values.copy_from_slice(&base);
            }
            let mut matrix = vec![0.0; m * m];
            for r in &rates {
                for i in 0..m {
                    for j in 0..m {
                        matrix[i * m + j] += r[i] * r[j];
                    }
                }
            }
            // Targets that say the same twice are no obstacle.
            let size = (0..m).map(|i| matrix[i * (m + 1)]).fold(0.0, f64::max);
            (0..m).for_each(|i| matrix[i * (m + 1)] += 1e-12 * size);
            let mut lu = LinearSolver::dense(m);
            if size == 0.0 || lu.factor(&matrix).is_err() {
                return false;
            }
            lu.solve(&mut step);
            for (&(slot, nominal), r) in free.iter().zip(&rates) {
                self.machine.values[slot as usize] += nominal * r.iter().zip(&step).map(|(a, b)| a * b).sum::<f64>();
            }
        }
        false
    }
}
