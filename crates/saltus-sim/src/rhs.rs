//! The right-hand side the integrator sees: the locked field, mixed where the solution slides, held where it rests.

use crate::compile::Step;
use crate::forward::Forward;
use crate::machine::{Machine, Trouble};
use crate::model::ModeProgram;
use crate::resting::{Resting, hold};
use crate::sliding::Sliding;
use saltus_function::{ErrorKind, ExecError};
use saltus_solver::dae::DaeSystem;
use saltus_solver::ode::{EvalError, ImplicitSystem, JacobianMatrix, OdeSystem, Pattern, directional};
use saltus_structure::Cell;

/// x' = f(t, x) of a mode with its discrete values locked.
pub(crate) struct Rhs<'a> {
    pub machine: &'a mut Machine,
    pub program: &'a ModeProgram,
    pub sliding: Option<&'a mut Sliding>,
    pub resting: &'a [Resting],
    /// Sensitivities carried along.
    pub forward: Option<&'a Forward>,
    /// The implicit form is not offered: it has led nowhere.
    pub causal: bool,
    pub trouble: Option<Trouble>,
}

/// Writes time and states, and guesses for what is iterated on.
pub(crate) fn place(m: &mut Machine, program: &ModeProgram, t: f64, x: &[f64]) {
    m.course.lead(t, &mut m.values);
    m.values[m.time as usize] = t;
    for (&(s, _), v) in program.states.iter().zip(x) {
        m.values[s as usize] = *v;
    }
}

impl<'a> Rhs<'a> {
    /// The locked field alone.
    pub fn new(machine: &'a mut Machine, program: &'a ModeProgram) -> Rhs<'a> {
        Rhs::held(machine, program, &[])
    }

    /// The locked field, and what rests.
    pub fn held(machine: &'a mut Machine, program: &'a ModeProgram, resting: &'a [Resting]) -> Rhs<'a> {
        Rhs { machine, program, sliding: None, resting, forward: None, causal: false, trouble: None }
    }
}

impl Rhs<'_> {
    /// The locked field, and everything else continuous.
    pub fn field(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
        let program = self.program;
        self.evaluate(&program.continuous, t, x, dx)
    }

    /// The locked field in which what rests is held; how strongly each body would have to be pulled to stay.
    pub fn held_field(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<Vec<f64>, EvalError> {
        self.field(t, x, dx)?;
        hold(self, t, x, dx)
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
            // States that are no numbers are what came of an earlier trouble.
            if self.trouble.is_none() || x.iter().all(|v| v.is_finite()) {
                self.trouble = Some(Trouble::NotFinite(bad));
            }
            return Err(EvalError::Domain);
        }
        Ok(())
    }

    fn run(&mut self, steps: &[Step], t: f64, x: &[f64]) -> Result<(), EvalError> {
        place(self.machine, self.program, t, x);
        self.machine.run(steps).map_err(|e| self.fails(e))?;
        if !self.program.iterated_aside {
            self.machine.course.solved();
        }
        Ok(())
    }

    /// Notes what went wrong. A shorter step may help, but not where a loop does not end or is not to go on.
    fn fails(&mut self, trouble: Trouble) -> EvalError {
        let ended = |e: &ExecError| matches!(e.kind, ErrorKind::Limit | ErrorKind::Interrupted);
        let fatal = matches!(&trouble, Trouble::Function(e) if ended(e));
        self.trouble = Some(trouble);
        if fatal { EvalError::Fatal } else { EvalError::Domain }
    }

    /// g of a relation at the values of the moment.
    pub fn value(&mut self, relation: usize) -> f64 {
        let mut g = [0.0];
        self.machine.crossing_values(&[relation], &mut g);
        g[0]
    }

    /// The rate of g along dx: exact where g is a function of states and time, else a difference.
    pub fn rate(&mut self, relation: usize, t: f64, x: &[f64], dx: &[f64]) -> Result<f64, EvalError> {
        place(self.machine, self.program, t, x);
        self.exact_rate(relation, dx).map_or_else(|| self.difference(relation, t, x, dx), Ok)
    }

    /// The same of several.
    pub fn rates(
        &mut self,
        relations: impl Iterator<Item = usize>,
        t: f64,
        x: &[f64],
        dx: &[f64],
    ) -> Result<Vec<f64>, EvalError> {
        let mut placed = false;
        let mut one = |relation| {
            if !placed {
                place(self.machine, self.program, t, x);
            }
            let exact = self.exact_rate(relation, dx);
            placed = exact.is_some();
            exact.map_or_else(|| self.difference(relation, t, x, dx), Ok)
        };
        relations.map(&mut one).collect()
    }

    /// At the states in place.
    fn exact_rate(&mut self, relation: usize, dx: &[f64]) -> Option<f64> {
        let program = self.program;
        let function = program.crossings.by_relation.get(&relation).map(|&k| &program.crossings.functions[k]);
        let totals = program.totals.borrow();
        let direct = function.and_then(|f| f.gradient.as_ref());
        let gradient = direct.or_else(|| totals.get(&relation).and_then(Option::as_ref))?;
        self.machine.chain(&gradient.slopes);
        let value = |slot: u32| self.machine.values[slot as usize];
        let along: f64 = gradient.states.iter().map(|&(k, slot, sign)| sign * value(slot) * dx[k]).sum();
        let alone: f64 = gradient.time.iter().map(|&(slot, sign)| sign * value(slot)).sum();
        Some(along + alone).filter(|rate| rate.is_finite())
    }

    fn difference(&mut self, relation: usize, t: f64, x: &[f64], dx: &[f64]) -> Result<f64, EvalError> {
        let scale = x.iter().zip(dx).map(|(x, d)| (x.abs() + 1.0) / (d.abs() + 1e-30)).fold(1e3f64, f64::min);
        // As far as time tells apart, at large times.
        let h = t + (1e-7 * scale).max(64.0 * f64::EPSILON * t.abs()) - t;
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

    fn sensitivity(&mut self, t: f64, x: &[f64], s: &[f64], k: usize, ds: &mut [f64]) -> Result<bool, EvalError> {
        let Some(forward) = self.forward else { return Ok(false) };
        let (program, size, here) = (self.program, forward.sizes()[k], self.machine.values.clone());
        let field = |x: &[f64], by: f64, dx: &mut [f64]| {
            for (v, (h, d)) in self.machine.values.iter_mut().zip(here.iter().zip(forward.held(k))) {
                *v = h + by * d;
            }
            self.evaluate(&program.derivatives, t, x, dx)
        };
        let done = directional(field, x, s, size, &mut Vec::new(), ds);
        self.machine.values.clone_from(&here);
        done.map(|()| true)
    }

    fn implicit(&mut self) -> Option<&mut dyn ImplicitSystem> {
        let own = self.sliding.is_none() && self.resting.is_empty() && !self.causal;
        if own && self.program.implicit.is_some() { Some(self) } else { None }
    }

    fn rhs(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
        match self.sliding.take() {
            Some(sliding) => {
                let result = sliding.field(self, t, x, dx, None);
                self.sliding = Some(sliding);
                result
            }
            None if self.resting.is_empty() => {
                let program = self.program;
                self.evaluate(&program.derivatives, t, x, dx)
            }
            None => self.held_field(t, x, dx).map(|_| ()),
        }
    }

    fn rhs_some(&mut self, t: f64, x: &[f64], which: &[usize], dx: &mut [f64]) -> Result<(), EvalError> {
        let program = self.program;
        if self.sliding.is_some() || !self.resting.is_empty() || which.len() == x.len() {
            return self.rhs(t, x, dx);
        }
        let steps = program.part(which, self.machine.time);
        place(self.machine, program, t, x);
        if let Err(e) = self.machine.run(&steps) {
            return Err(self.fails(e));
        }
        for &i in which {
            dx[i] = self.machine.values[program.states[i].1 as usize];
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

/// The implicit form of the mode; asked for only where it has one and the field is its own.
impl DaeSystem for Rhs<'_> {
    fn dim(&self) -> usize {
        self.program.implicit.as_ref().map_or(0, |f| f.dim())
    }

    fn residual(&mut self, t: f64, z: &[f64], zp: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
        let program = self.program;
        let Some(form) = &program.implicit else { return Err(EvalError::Fatal) };
        let (x, y) = z.split_at(program.states.len());
        place(self.machine, program, t, x);
        form.place(self.machine, y, zp);
        form.residual(self.machine, &program.derivatives, zp, r);
        let trouble = match self.machine.host.error.take() {
            Some(e) => Trouble::Function(e),
            None => {
                let bad = form.named.iter().zip(&*r).filter(|(_, r)| !r.is_finite());
                let bad: Vec<Cell> = bad.map(|(c, _)| *c).collect();
                if bad.is_empty() {
                    if !program.iterated_aside {
                        self.machine.course.solved();
                    }
                    return Ok(());
                }
                Trouble::NotFinite(bad)
            }
        };
        Err(self.fails(trouble))
    }

    fn jacobian(
        &mut self,
        t: f64,
        z: &[f64],
        zp: &[f64],
        cj: f64,
        jac: &mut JacobianMatrix,
    ) -> Result<bool, EvalError> {
        let program = self.program;
        let Some(form) = &program.implicit else { return Ok(false) };
        let mut r = vec![0.0; z.len()];
        self.residual(t, z, zp, &mut r)?;
        let found = form.jacobian(self.machine, cj, jac);
        self.machine.host.error = None;
        Ok(found)
    }

    fn sparsity(&self) -> Option<&Pattern> {
        self.program.implicit.as_ref().map(|f| &f.pattern)
    }

    fn is_differential(&self, i: usize) -> bool {
        i < self.program.states.len()
    }

    fn is_algebraic_equation(&self, i: usize) -> bool {
        self.program.implicit.as_ref().is_some_and(|f| f.algebraic[i])
    }
}

impl ImplicitSystem for Rhs<'_> {
    fn consistent(&mut self, t: f64, x: &[f64], z: &mut [f64], zp: &mut [f64]) -> Result<(), EvalError> {
        let program = self.program;
        let n = x.len();
        zp[n..].fill(0.0);
        self.evaluate(&program.derivatives, t, x, &mut zp[..n])?;
        z[..n].copy_from_slice(x);
        for (z, u) in z[n..].iter_mut().zip(program.implicit.iter().flat_map(|f| &f.unknowns)) {
            *z = self.machine.values[u.0 as usize];
        }
        Ok(())
    }

    fn nominal(&self, i: usize) -> f64 {
        let n = self.program.states.len();
        match i.checked_sub(n) {
            Some(k) => self.program.implicit.as_ref().map_or(1.0, |f| f.unknowns[k].2),
            None => self.program.nominal[i],
        }
    }
}
