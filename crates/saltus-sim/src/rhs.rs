//! The right-hand side the integrator sees: the locked field, mixed where the solution slides, held where it rests.

use crate::compile::Step;
use crate::machine::{Machine, Trouble};
use crate::model::ModeProgram;
use crate::resting::Resting;
use crate::sliding::Sliding;
use saltus_solver::ode::{EvalError, JacobianMatrix, OdeSystem, Pattern};
use saltus_structure::Cell;

/// x' = f(t, x) of a mode with its discrete values locked.
pub(crate) struct Rhs<'a> {
    pub machine: &'a mut Machine,
    pub program: &'a ModeProgram,
    pub sliding: Option<&'a mut Sliding>,
    pub resting: &'a [Resting],
    pub trouble: Option<Trouble>,
}

/// Writes time and states.
pub(crate) fn place(m: &mut Machine, program: &ModeProgram, t: f64, x: &[f64]) {
    m.values[m.time as usize] = t;
    for (&(s, _), v) in program.states.iter().zip(x) {
        m.values[s as usize] = *v;
    }
}

impl Rhs<'_> {
    /// The locked field, and everything else continuous.
    pub fn field(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
        let program = self.program;
        self.evaluate(&program.continuous, t, x, dx)
    }

    fn evaluate(&mut self, steps: &[Step], t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
        self.run(steps, t, x)?;
        for (o, &(_, d)) in dx.iter_mut().zip(&self.program.states) {
            *o = self.machine.values[d as usize];
        }
        if dx.iter().any(|v| !v.is_finite()) {
            let bad = self
                .program
                .plan
                .states
                .iter()
                .zip(dx.iter())
                .filter(|(_, d)| !d.is_finite())
                .map(|(c, _)| Cell { var: c.var, order: c.order + 1 })
                .collect();
            self.trouble = Some(Trouble::NotFinite(bad));
            return Err(EvalError::Domain);
        }
        Ok(())
    }

    fn run(&mut self, steps: &[Step], t: f64, x: &[f64]) -> Result<(), EvalError> {
        self.machine.return_to_anchor(t);
        place(self.machine, self.program, t, x);
        self.machine.run(steps).map_err(|e| {
            self.trouble = Some(e);
            EvalError::Domain
        })
    }

    /// g of a relation at the values of the moment.
    pub fn value(&mut self, relation: usize) -> f64 {
        let mut g = [0.0];
        self.machine.crossing_values(&[relation], &mut g);
        g[0]
    }

    /// The rate of g along dx: exact where g is a function of states and time, else a difference.
    pub fn rate(&mut self, relation: usize, t: f64, x: &[f64], dx: &[f64]) -> Result<f64, EvalError> {
        let program = self.program;
        let function = program.crossings.functions.iter().find(|f| f.relation == relation);
        if let Some(gradient) = function.and_then(|f| f.gradient.as_ref()) {
            place(self.machine, program, t, x);
            self.machine.chain(&gradient.slopes);
            let value = |slot: u32| self.machine.values[slot as usize];
            let along: f64 = gradient.states.iter().map(|&(k, slot, sign)| sign * value(slot) * dx[k]).sum();
            let alone: f64 = gradient.time.iter().map(|&(slot, sign)| sign * value(slot)).sum();
            if (along + alone).is_finite() {
                return Ok(along + alone);
            }
        }
        let scale = x.iter().zip(dx).map(|(x, d)| (x.abs() + 1.0) / (d.abs() + 1e-30)).fold(1e3f64, f64::min);
        let h = 1e-7 * scale;
        let mut other = vec![0.0; x.len()];
        self.field(t, x, &mut other)?;
        let before = self.value(relation);
        let moved: Vec<f64> = x.iter().zip(dx).map(|(x, d)| x + h * d).collect();
        self.field(t + h, &moved, &mut other)?;
        Ok((self.value(relation) - before) / h)
    }
}

impl OdeSystem for Rhs<'_> {
    fn dim(&self) -> usize {
        self.program.states.len()
    }

    fn sparsity(&self) -> Option<&Pattern> {
        // Sliding and rest mix in the rate of a crossing function: everything it depends on comes in.
        if self.sliding.is_some() || !self.resting.is_empty() { None } else { self.program.pattern.as_ref() }
    }

    fn rhs(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
        match self.sliding.take() {
            Some(sliding) => {
                let result = sliding.field(self, t, x, dx, None);
                self.sliding = Some(sliding);
                result?;
            }
            None if self.resting.is_empty() => {
                let program = self.program;
                self.evaluate(&program.derivatives, t, x, dx)?;
            }
            None => self.field(t, x, dx)?,
        }
        for r in self.resting {
            r.hold(self, t, x, dx)?;
        }
        Ok(())
    }

    fn jacobian(&mut self, t: f64, x: &[f64], jac: &mut JacobianMatrix) -> Result<bool, EvalError> {
        let program = self.program;
        let Some(tangent) = &program.tangent else { return Ok(false) };
        if self.sliding.is_some() || !self.resting.is_empty() {
            return Ok(false);
        }
        self.run(&program.derivatives, t, x)?;
        let found = tangent.jacobian(self.machine, jac);
        self.machine.host.error = None;
        if !found {
            jac.values_mut().fill(0.0);
        }
        Ok(found)
    }
}
