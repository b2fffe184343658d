//! Restart after a mode change: the new mode's latent equations decide which states jump and which variables carry an
//! impulse. Stages s = K … 1, one n×n system each (see `docs/mathematics.md`, mode changes).

use crate::model::{ModeProgram, Model};
use saltus_base::{Diagnostic, Stage};
use saltus_dae::{Operand, Row, VarId};
use saltus_solver::linear::{LinearSolver, Pattern};
use saltus_structure::{Cell, Point, cell_name, jacobian_entry};

/// What happened at a mode change.
#[derive(Clone, Debug, Default)]
pub struct Jump {
    /// Impulsive variables with ∫ over the instant.
    pub impulses: Vec<(String, f64)>,
}

impl Model {
    fn eval_row(&self, row: &Row, point: &dyn Point) -> f64 {
        let mut calls = point.calls();
        saltus_expr::eval(
            &self.sys.dae.pool,
            row.template,
            &|k| point.value(self.sys.resolve(row.args[k as usize])),
            &mut *calls,
        )
    }

    /// Right limits of the states of `program` from the present values (left limits, `reinit` included).
    pub fn jump(&mut self, program: &ModeProgram, t: f64) -> Result<Jump, Diagnostic> {
        let plan = &program.plan;
        let kmax = plan.c.iter().copied().max().unwrap_or(0);
        let mut out = Jump::default();
        let n = plan.vars.len();
        // Tight entries: variable of order d_j - c_i in row i.
        let mut tight: Vec<(usize, usize, VarId, u8)> = Vec::new();
        let column: rustc_hash::FxHashMap<VarId, usize> = plan.vars.iter().enumerate().map(|(j, &v)| (v, j)).collect();
        for (i, (_, row)) in plan.rows.iter().enumerate() {
            for &a in &row.args {
                if let Operand::Var { var, order, .. } = a
                    && let Some(&j) = column.get(&var)
                    && plan.d[&var] == order + plan.c[i]
                    && !tight.iter().rev().take_while(|e| e.0 == i).any(|e| e.1 == j)
                {
                    tight.push((i, j, var, order));
                }
            }
        }
        for s in (1..=kmax).rev() {
            let left: Vec<f64> = plan.vars.iter().map(|&v| self.stage_value(v, plan.d[&v], s)).collect();
            let mut u: Vec<f64> =
                plan.vars.iter().zip(&left).map(|(v, l)| if plan.d[v] >= s { *l } else { 0.0 }).collect();
            let pattern = Pattern::from_entries(n, n, tight.iter().map(|e| (e.0, e.1)));
            let mut lu = LinearSolver::new(&pattern);
            let mut converged = false;
            for iteration in 0..40 {
                let point = self.snapshot();
                let mut jac = vec![0.0; pattern.nnz()];
                let mut r = vec![0.0; n];
                let mut size = vec![0.0f64; n];
                for &(i, j, var, order) in &tight {
                    let row = plan.rows[i].1.clone();
                    let value = jacobian_entry(&mut self.sys, &mut self.ops, &row, var, order, &point);
                    if let Some(at) = pattern.find(i, j) {
                        jac[at] = value;
                    }
                    let delta = if plan.d[&plan.vars[j]] >= s { u[j] - left[j] } else { u[j] };
                    if plan.c[i] < s {
                        r[i] += value * delta;
                    }
                    size[i] = size[i].max((value * (u[j].abs() + 1e-3)).abs());
                }
                for i in 0..n {
                    if plan.c[i] >= s {
                        r[i] = self.eval_row(&plan.levels[i][(plan.c[i] - s) as usize], &point);
                    }
                }
                let bad = r.iter().zip(&size).map(|(r, z)| r.abs() / (z + 1e-30)).fold(0.0, f64::max);
                if bad <= 1e-13 || r.iter().all(|v| v.abs() < 1e-300) {
                    converged = true;
                    break;
                }
                if lu.factor(&jac).is_err() {
                    // Nothing to project against: if the latent equations hold well enough, leave values alone.
                    if bad < 1e-8 {
                        converged = true;
                        break;
                    }
                    return Err(self.no_restart(program, t, "the Jacobian of its latent equations is singular here"));
                }
                lu.solve(&mut r);
                if r.iter().any(|v| !v.is_finite()) {
                    return Err(self.no_restart(program, t, "a latent equation is outside its domain"));
                }
                let mut step = 0.0f64;
                for j in 0..n {
                    u[j] -= r[j];
                    step = step.max(r[j].abs() / (u[j].abs() + 1e-6));
                    let v = plan.vars[j];
                    if plan.d[&v] >= s {
                        self.set_stage_value(v, plan.d[&v], s, u[j]);
                    }
                }
                if step < 1e-14 || (iteration > 3 && step < 1e-11) {
                    converged = true;
                    break;
                }
            }
            if !converged {
                return Err(self.no_restart(program, t, "its latent equations could not be solved"));
            }
            for (j, &v) in plan.vars.iter().enumerate() {
                if plan.d[&v] + 1 == s && u[j].abs() > 1e-9 {
                    out.impulses.push((cell_name(&self.sys, Cell::new(v, 0)), u[j]));
                }
            }
        }
        Ok(out)
    }

    fn stage_value(&mut self, v: VarId, d: u8, s: u8) -> f64 {
        if d < s {
            return 0.0;
        }
        let slot = self.layout.slot(Cell::new(v, d - s));
        self.layout.extend(&mut self.machine.values);
        self.machine.values[slot as usize]
    }

    fn set_stage_value(&mut self, v: VarId, d: u8, s: u8, value: f64) {
        let slot = self.layout.slot(Cell::new(v, d - s));
        self.layout.extend(&mut self.machine.values);
        self.machine.values[slot as usize] = value;
    }

    fn no_restart(&self, program: &ModeProgram, t: f64, why: &str) -> Diagnostic {
        let mode = self.key_text(&program.plan.key).unwrap_or_default();
        Diagnostic::error(
            Stage::Run,
            saltus_base::Span::NONE,
            format!("at time {t:?} the mode {mode} cannot be entered: {why}"),
        )
    }
}
