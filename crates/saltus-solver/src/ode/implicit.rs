//! x' = f(t, x) by the DAE integrator: the system's own implicit form F(t, z, z') = 0 where it has one, so that its
//! algebraic unknowns are found by the integrator's Newton iteration together with the states; else x' − f(t, x) = 0.

use super::control::Failure;
use super::{
    EvalError, Integrator, JacobianMatrix, OdeSystem, Options, Pattern, Restart, Stats, StepError, StepOutcome,
};
use crate::dae::{DaeBdf, DaeOptions, DaeSystem};

/// The implicit form of x' = f(t, x): z holds the states first, then algebraic unknowns.
pub trait ImplicitSystem: DaeSystem {
    /// Consistent z and z' for these states, from the values of z as guesses.
    fn consistent(&mut self, t: f64, x: &[f64], z: &mut [f64], zp: &mut [f64]) -> Result<(), EvalError>;
    /// Typical size of unknown i.
    fn nominal(&self, i: usize) -> f64;
}

/// Variable-order BDF in fixed-leading-coefficient form on the implicit system.
pub struct Implicit {
    n: usize,
    opts: Options,
    bdf: DaeBdf,
    /// Whether the last restart took the system's own form. One offered since then waits for the next.
    own: bool,
    z: Vec<f64>,
    zp: Vec<f64>,
    plain: Plain,
}

/// What x' − f(t, x) = 0 needs besides f.
struct Plain {
    jac: JacobianMatrix,
    pattern: Option<Pattern>,
    /// Whether the pattern has been taken over from the system.
    set_up: bool,
}

/// x' − f(t, x) = 0.
struct Explicit<'a> {
    sys: &'a mut dyn OdeSystem,
    plain: &'a mut Plain,
}

impl DaeSystem for Explicit<'_> {
    fn dim(&self) -> usize {
        self.sys.dim()
    }
    fn residual(&mut self, t: f64, x: &[f64], xp: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
        self.sys.rhs(t, x, r)?;
        r.iter_mut().zip(xp).for_each(|(r, d)| *r = d - *r);
        Ok(())
    }
    fn jacobian(
        &mut self,
        t: f64,
        x: &[f64],
        _xp: &[f64],
        cj: f64,
        out: &mut JacobianMatrix,
    ) -> Result<bool, EvalError> {
        let jac = &mut self.plain.jac;
        jac.values_mut().fill(0.0);
        if !self.sys.jacobian(t, x, jac)? {
            return Ok(false);
        }
        for j in 0..x.len() {
            jac.for_column_mut(j, |i, v| out.set(i, j, -*v));
            out.add(j, j, cj);
        }
        Ok(true)
    }
    fn sparsity(&self) -> Option<&Pattern> {
        self.plain.pattern.as_ref()
    }
}

impl Plain {
    /// Adopts the system's pattern, with the diagonal that x' brings.
    fn adopt(&mut self, sys: &dyn OdeSystem) {
        let p = sys.sparsity();
        if self.set_up && p == self.jac.pattern() {
            return;
        }
        let n = sys.dim();
        self.jac = JacobianMatrix::new(n, p);
        self.pattern = p.map(Pattern::with_diagonal);
        self.set_up = true;
    }
}

fn options(opts: &Options, sys: Option<&dyn ImplicitSystem>) -> DaeOptions {
    let mut common = opts.clone();
    if let Some(sys) = sys {
        common.atol.extend((common.atol.len()..sys.dim()).map(|i| opts.rtol * sys.nominal(i)));
        if !common.bounds.is_empty() {
            common.bounds.resize(sys.dim(), (f64::NEG_INFINITY, f64::INFINITY));
        }
    }
    // Algebraic unknowns follow from the states, whose errors are tested.
    DaeOptions { common, exclude_algebraic: true }
}

impl Implicit {
    /// For n states.
    pub fn new(n: usize, opts: Options) -> Self {
        let bdf = DaeBdf::new(n, options(&opts, None));
        let plain = Plain { jac: JacobianMatrix::new(0, None), pattern: None, set_up: false };
        Implicit { n, opts, bdf, own: false, z: vec![0.0; n], zp: vec![0.0; n], plain }
    }
}

impl Integrator for Implicit {
    fn name(&self) -> &'static str {
        "dae"
    }

    fn restart(&mut self, sys: &mut dyn OdeSystem, t: f64, x: &[f64], kind: Restart) -> Result<(), StepError> {
        self.own = sys.implicit().is_some();
        let size = sys.implicit().map_or(self.n, |s| s.dim());
        if size != self.z.len() {
            let stats = self.bdf.stats().clone();
            let opts = match sys.implicit() {
                Some(s) => options(&self.opts, Some(&*s)),
                None => options(&self.opts, None),
            };
            self.bdf = DaeBdf::new(size, opts);
            self.bdf.count_on(stats);
            self.z.resize(size, 0.0);
            self.zp = vec![0.0; size];
        }
        let failed = |e: EvalError, stats: &mut Stats| {
            let e = Failure::from(e);
            e.count(stats);
            e.into_error(t, 0.0)
        };
        let mut stats = self.bdf.stats().clone();
        stats.rhs_evals += 1;
        let found = match sys.implicit() {
            Some(s) => {
                let found = s.consistent(t, x, &mut self.z, &mut self.zp).map_err(|e| failed(e, &mut stats));
                found.and_then(|()| self.bdf.restart(s, t, &self.z, &self.zp, kind))
            }
            None => {
                self.z.copy_from_slice(x);
                self.plain.adopt(sys);
                let found = sys.rhs(t, x, &mut self.zp).map_err(|e| failed(e, &mut stats));
                let mut dae = Explicit { sys, plain: &mut self.plain };
                found.and_then(|()| self.bdf.restart(&mut dae, t, &self.z, &self.zp, kind))
            }
        };
        stats.restarts = self.bdf.stats().restarts;
        self.bdf.count_on(stats);
        found
    }

    fn step(&mut self, sys: &mut dyn OdeSystem, tstop: f64) -> Result<StepOutcome, StepError> {
        match sys.implicit() {
            Some(s) if self.own => self.bdf.step(s, tstop),
            _ => self.bdf.step(&mut Explicit { sys, plain: &mut self.plain }, tstop),
        }
    }

    fn retake(&mut self, sys: &mut dyn OdeSystem, t: f64) -> bool {
        match sys.implicit() {
            Some(s) if self.own => self.bdf.retake(s, t),
            _ => self.bdf.retake(&mut Explicit { sys, plain: &mut self.plain }, t),
        }
    }

    fn retakes(&self) -> bool {
        true
    }

    fn sharpen(&mut self, on: bool) {
        self.bdf.sharpen(on);
    }

    fn t(&self) -> f64 {
        self.bdf.t()
    }
    fn t_prev(&self) -> f64 {
        self.bdf.t_prev()
    }
    fn x(&self) -> &[f64] {
        &self.bdf.x()[..self.n]
    }
    fn local_error(&self, i: usize) -> Option<f64> {
        self.opts.fixed_step.is_none().then(|| self.bdf.local_error(i))
    }
    fn interpolate(&self, t: f64, x: &mut [f64]) {
        self.bdf.interpolate(t, x);
    }
    fn interpolate_derivative(&self, t: f64, dx: &mut [f64]) {
        self.bdf.interpolate_derivative(t, dx);
    }
    fn polynomial(&self, i: usize, coeffs: &mut Vec<f64>) {
        self.bdf.polynomial(i, coeffs);
    }
    fn stats(&self) -> &Stats {
        self.bdf.stats()
    }
    fn options(&self) -> &Options {
        &self.opts
    }
    fn set_options(&mut self, opts: Options) {
        assert_eq!(opts.atol.len(), self.n);
        let mut all = self.bdf.options().clone();
        let rest = all.common.atol.split_off(self.n);
        all.common = opts.clone();
        all.common.atol.extend(rest);
        if !opts.bounds.is_empty() {
            all.common.bounds.resize(all.common.atol.len(), (f64::NEG_INFINITY, f64::INFINITY));
        }
        self.opts = opts;
        self.bdf.set_options(all);
    }
    fn set_max_step(&mut self, h_max: f64) {
        self.opts.h_max = h_max;
        self.bdf.set_max_step(h_max);
    }
}
