//! The classical family: explicit one-step methods, backward Euler and trapezoidal rule, Adams–Bashforth, Milne.
//! With `fixed_step` they run at that step; one-step methods without it control their error by step doubling.

use super::control::{Controller, Core, Driver, Failure, Method, eval_rhs, integrator_by_driver, wrms};
use super::iteration::StageNewton;
use super::{OdeSystem, Options, Restart, Stats};

/// An explicit Runge–Kutta formula where stage i uses only stage i − 1.
#[derive(Debug)]
struct Chain {
    c: &'static [f64],
    b: &'static [f64],
}

const EULER: Chain = Chain { c: &[0.0], b: &[1.0] };
const MODIFIED_EULER: Chain = Chain { c: &[0.0, 1.0], b: &[0.5, 0.5] };
const MIDPOINT: Chain = Chain { c: &[0.0, 0.5], b: &[0.0, 1.0] };
const HEUN: Chain = Chain { c: &[0.0, 2.0 / 3.0], b: &[0.25, 0.75] };
const RK4: Chain = Chain { c: &[0.0, 0.5, 0.5, 1.0], b: &[1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0] };

/// Weights of f_n, f_{n−1}, …
const AB2: &[f64] = &[1.5, -0.5];
const AB3: &[f64] = &[23.0 / 12.0, -16.0 / 12.0, 5.0 / 12.0];
const AB4: &[f64] = &[55.0 / 24.0, -59.0 / 24.0, 37.0 / 24.0, -9.0 / 24.0];

#[derive(Debug)]
enum Formula {
    Explicit(Chain),
    AdamsBashforth(&'static [f64]),
    /// Predictor over four steps, corrector by Simpson's rule.
    Milne,
    BackwardEuler,
    Trapezoid,
}

pub(crate) struct Classical {
    name: &'static str,
    order: usize,
    formula: Formula,
    k: Vec<Vec<f64>>,
    y: Vec<f64>,
    /// Middle of the step when doubling: state and derivative.
    mid: Vec<f64>,
    dmid: Vec<f64>,
    big: Vec<f64>,
    newton: StageNewton,
    /// Past derivatives and states at the fixed spacing, latest first.
    past_f: Vec<Vec<f64>>,
    past_x: Vec<Vec<f64>>,
    past: usize,
}

impl Classical {
    fn is_multistep(&self) -> bool {
        matches!(self.formula, Formula::AdamsBashforth(_) | Formula::Milne)
    }

    fn is_implicit(&self) -> bool {
        matches!(self.formula, Formula::BackwardEuler | Formula::Trapezoid)
    }

    /// hγ of an implicit formula.
    fn gamma(&self) -> f64 {
        if matches!(self.formula, Formula::Trapezoid) { 0.5 } else { 1.0 }
    }

    fn explicit(
        &mut self,
        chain: &Chain,
        sys: &mut dyn OdeSystem,
        stats: &mut Stats,
        t: f64,
        x: &[f64],
        dx: &[f64],
        h: f64,
        out: &mut [f64],
    ) -> Result<(), Failure> {
        self.k[0].copy_from_slice(dx);
        for s in 1..chain.c.len() {
            let (done, rest) = self.k.split_at_mut(s);
            let a = h * chain.c[s];
            for i in 0..x.len() {
                self.y[i] = x[i] + a * done[s - 1][i];
            }
            eval_rhs(sys, stats, t + chain.c[s] * h, &self.y, &mut rest[0])?;
        }
        super::embedded::combine(x, h, chain.b, &self.k[..chain.b.len()], out);
        Ok(())
    }

    fn implicit(
        &mut self,
        sys: &mut dyn OdeSystem,
        stats: &mut Stats,
        t: f64,
        x: &[f64],
        dx: &[f64],
        w: &[f64],
        h: f64,
        out: &mut [f64],
    ) -> Result<(), Failure> {
        let hg = self.gamma() * h;
        for i in 0..x.len() {
            self.y[i] = x[i] + (h - hg) * dx[i];
            out[i] = x[i] + h * dx[i];
        }
        self.newton.solve(sys, stats, t + h, &self.y, hg, w, out)?;
        // Derivative at the end, which the formula itself defines.
        for i in 0..x.len() {
            self.k[0][i] = (out[i] - self.y[i]) / hg;
        }
        Ok(())
    }

    fn implicit_attempt(
        &mut self,
        sys: &mut dyn OdeSystem,
        core: &mut Core,
        h: f64,
        doubling: bool,
    ) -> Result<(), Failure> {
        let t = core.t;
        if !doubling {
            let hg = self.gamma() * h;
            self.newton.prepare(sys, core, hg)?;
            return self.implicit(sys, &mut core.stats, t, &core.x, &core.dx, &core.w, h, &mut core.x_new);
        }
        let mut big = std::mem::take(&mut self.big);
        let (mut mid, mut dmid) = (std::mem::take(&mut self.mid), std::mem::take(&mut self.dmid));
        let done = (|| {
            let g = self.gamma();
            self.newton.prepare(sys, core, g * h)?;
            self.implicit(sys, &mut core.stats, t, &core.x, &core.dx, &core.w, h, &mut big)?;
            self.newton.prepare(sys, core, 0.5 * g * h)?;
            self.implicit(sys, &mut core.stats, t, &core.x, &core.dx, &core.w, 0.5 * h, &mut mid)?;
            dmid.copy_from_slice(&self.k[0]);
            self.implicit(sys, &mut core.stats, t + 0.5 * h, &mid, &dmid, &core.w, 0.5 * h, &mut core.x_new)
        })();
        (self.big, self.mid, self.dmid) = (big, mid, dmid);
        done
    }

    fn explicit_doubling(
        &mut self,
        chain: &Chain,
        sys: &mut dyn OdeSystem,
        core: &mut Core,
        h: f64,
    ) -> Result<(), Failure> {
        let t = core.t;
        let mut big = std::mem::take(&mut self.big);
        let (mut mid, mut dmid) = (std::mem::take(&mut self.mid), std::mem::take(&mut self.dmid));
        let done = (|| {
            self.explicit(chain, sys, &mut core.stats, t, &core.x, &core.dx, h, &mut big)?;
            self.explicit(chain, sys, &mut core.stats, t, &core.x, &core.dx, 0.5 * h, &mut mid)?;
            eval_rhs(sys, &mut core.stats, t + 0.5 * h, &mid, &mut dmid)?;
            self.explicit(chain, sys, &mut core.stats, t + 0.5 * h, &mid, &dmid, 0.5 * h, &mut core.x_new)
        })();
        (self.big, self.mid, self.dmid) = (big, mid, dmid);
        done
    }

    fn adams_bashforth(&mut self, b: &[f64], core: &mut Core, h: f64) {
        for i in 0..core.n {
            let mut s = b[0] * core.dx[i];
            for (b, f) in b[1..].iter().zip(&self.past_f) {
                s += b * f[i];
            }
            core.x_new[i] = core.x[i] + h * s;
        }
    }

    fn milne(&mut self, sys: &mut dyn OdeSystem, core: &mut Core, h: f64) -> Result<(), Failure> {
        let n = core.n;
        for i in 0..n {
            let s = 2.0 * core.dx[i] - self.past_f[0][i] + 2.0 * self.past_f[1][i];
            core.x_new[i] = self.past_x[2][i] + 4.0 / 3.0 * h * s;
        }
        for _ in 0..10 {
            eval_rhs(sys, &mut core.stats, core.t + h, &core.x_new, &mut self.k[0])?;
            for i in 0..n {
                let s = self.k[0][i] + 4.0 * core.dx[i] + self.past_f[0][i];
                let x = self.past_x[0][i] + h / 3.0 * s;
                self.y[i] = x - core.x_new[i];
                core.x_new[i] = x;
            }
            if wrms(&self.y, &core.w) <= 0.1 {
                break;
            }
        }
        Ok(())
    }
}

impl Method for Classical {
    fn name(&self) -> &'static str {
        self.name
    }
    fn order(&self) -> usize {
        self.order
    }
    fn error_power(&self) -> f64 {
        self.order as f64 + 1.0
    }
    fn controller(&self) -> Controller {
        if self.is_implicit() { Controller::Predictive } else { Controller::Pi(0.04) }
    }
    fn degree(&self) -> usize {
        3
    }
    fn stability(&self) -> Option<f64> {
        // Where the stability region leaves the negative real axis.
        Some(match &self.formula {
            Formula::Explicit(c) if c.b.len() == 4 => 2.785,
            Formula::Explicit(_) => 2.0,
            Formula::AdamsBashforth(b) => [1.0, 6.0 / 11.0, 0.3][b.len() - 2],
            // Simpson's rule is not stable for any damped mode; the growth is slow until here.
            Formula::Milne => 0.1,
            Formula::BackwardEuler | Formula::Trapezoid => return None,
        })
    }

    fn adjust(&self, opts: &mut Options) {
        if self.is_multistep() && opts.fixed_step.is_none() {
            let h = opts.h_init.unwrap_or(if opts.h_max.is_finite() { opts.h_max } else { 1e-3 });
            opts.fixed_step = Some(h.min(opts.h_max));
        }
    }

    fn start(&mut self, sys: &mut dyn OdeSystem, core: &mut Core, kind: Restart) {
        self.past = 0;
        if self.is_implicit() {
            self.newton.start(sys, &core.opts, kind);
        }
    }

    fn attempt(&mut self, sys: &mut dyn OdeSystem, core: &mut Core, h: f64) -> Result<f64, Failure> {
        let doubling = core.opts.fixed_step.is_none();
        let regular = core.opts.fixed_step.is_some_and(|f| (h - f).abs() <= 1e-6 * f);
        match self.formula {
            Formula::Explicit(Chain { c, b }) => {
                let chain = Chain { c, b };
                if doubling {
                    self.explicit_doubling(&chain, sys, core, h)?;
                } else {
                    self.explicit(&chain, sys, &mut core.stats, core.t, &core.x, &core.dx, h, &mut core.x_new)?;
                }
            }
            Formula::BackwardEuler | Formula::Trapezoid => {
                while let Err(e) = self.implicit_attempt(sys, core, h, doubling) {
                    if !self.newton.blame_jacobian(e) {
                        return Err(e);
                    }
                }
            }
            Formula::AdamsBashforth(b) if regular && self.past + 1 >= b.len() => self.adams_bashforth(b, core, h),
            Formula::Milne if regular && self.past >= 3 => self.milne(sys, core, h)?,
            Formula::AdamsBashforth(_) | Formula::Milne => {
                self.explicit(&RK4, sys, &mut core.stats, core.t, &core.x, &core.dx, h, &mut core.x_new)?;
            }
        }
        if !doubling {
            core.err.fill(0.0);
            return Ok(if core.x_new.iter().all(|v| v.is_finite()) { 0.0 } else { f64::INFINITY });
        }
        let scale = 1.0 / (2f64.powi(self.order as i32) - 1.0);
        for i in 0..core.n {
            core.err[i] = scale * (core.x_new[i] - self.big[i]);
        }
        Ok(core.error_norm())
    }

    fn finish(&mut self, sys: &mut dyn OdeSystem, core: &mut Core, h: f64, t_new: f64) -> Result<(), Failure> {
        if self.is_implicit() {
            core.dx_new.copy_from_slice(&self.k[0]);
            self.newton.accepted();
        } else {
            eval_rhs(sys, &mut core.stats, t_new, &core.x_new, &mut core.dx_new)?;
        }
        if self.is_multistep() {
            let regular = core.opts.fixed_step.is_some_and(|f| (h - f).abs() <= 1e-6 * f);
            if regular {
                self.past_f.rotate_right(1);
                self.past_x.rotate_right(1);
                self.past_f[0].copy_from_slice(&core.dx);
                self.past_x[0].copy_from_slice(&core.x);
                self.past += 1;
            } else {
                self.past = 0;
            }
        }
        if self.order == 1 {
            core.poly.begin(core.t, t_new, 1);
            core.poly.coefficient_mut(0).copy_from_slice(&core.x);
            let c = core.poly.coefficient_mut(1);
            for i in 0..core.n {
                c[i] = core.x_new[i] - core.x[i];
            }
        } else {
            core.poly.set_hermite(core.t, t_new, &core.x, &core.dx, &core.x_new, &core.dx_new);
        }
        Ok(())
    }
}

/// A classical method by name.
pub struct FixedStep(Driver<Classical>);

impl FixedStep {
    /// `None` if the name is unknown. Adams–Bashforth and Milne without `fixed_step` take `h_init`, else a finite
    /// `h_max`, else 1e-3 as their step.
    pub fn new(name: &str, n: usize, opts: Options) -> Option<Self> {
        let (name, order, formula) = match name {
            "euler" => ("euler", 1, Formula::Explicit(EULER)),
            "modified-euler" => ("modified-euler", 2, Formula::Explicit(MODIFIED_EULER)),
            "midpoint" => ("midpoint", 2, Formula::Explicit(MIDPOINT)),
            "heun" => ("heun", 2, Formula::Explicit(HEUN)),
            "rk4" => ("rk4", 4, Formula::Explicit(RK4)),
            "ab2" => ("ab2", 2, Formula::AdamsBashforth(AB2)),
            "ab3" => ("ab3", 3, Formula::AdamsBashforth(AB3)),
            "ab4" => ("ab4", 4, Formula::AdamsBashforth(AB4)),
            "milne" => ("milne", 4, Formula::Milne),
            "backward-euler" => ("backward-euler", 1, Formula::BackwardEuler),
            "trapezoid" => ("trapezoid", 2, Formula::Trapezoid),
            _ => return None,
        };
        let v = || vec![0.0; n];
        let method = Classical {
            name,
            order,
            formula,
            k: vec![v(); 4],
            y: v(),
            mid: v(),
            dmid: v(),
            big: v(),
            newton: StageNewton::new(n),
            past_f: vec![v(); 3],
            past_x: vec![v(); 3],
            past: 0,
        };
        Some(FixedStep(Driver::new(n, opts, method)))
    }
}

integrator_by_driver!(FixedStep);
