//! Quantized state systems: a linearly implicit QSS method of second order in the manner of LIQSS2 (Migoni, Bortolotto,
//! Kofman and Cellier 2013).
//!
//! Time is not cut into steps for all states at once: each state i follows its own parabola x_i, and the field sees a
//! line q_i instead that stays within the quantum ΔQ_i = max(rtol |x_i|, atol_i) of it. A new line is drawn when its time
//! has come, and only the states that depend on it change course.
//!
//! With ẋ_i = a q_i + u locally (a the diagonal of the Jacobian), the new line is the one that the parabola meets
//! tangentially after h: q(t+h) = x(t+h), q̇ = ẋ(t+h). Solving for q gives
//!
//! ```text
//! q − x = −h²/2 · w / (1 − ha + h²a²/2),   w = a (a x + u) + u̇,   q̇ = (a q + u + h u̇) / (1 − ha)
//! ```
//!
//! and h is the largest with |q − x| within half a quantum: in closed form, infinite once |w| falls below a²ΔQ/2 — a
//! fast decaying state at rest costs nothing, which is what "linearly implicit" buys.

use super::control::{Failure, eval_rhs, inverse_weights, too_small};
use super::iteration::Jacobian;
use super::{Integrator, OdeSystem, Options, Restart, Stats, StepError, StepOutcome};

/// The part of the quantum that a new line may be off at first; the rest is for what neighbours do.
const SHARE: f64 = 0.5;

/// One state: its parabola from `tx` on, its line from `tq` on.
#[derive(Debug, Clone, Copy, Default)]
struct State {
    tx: f64,
    x: f64,
    dx: f64,
    ddx: f64,
    tq: f64,
    q: f64,
    dq: f64,
    /// ∂f_i/∂x_i.
    a: f64,
    /// When the present line ends at the latest, and the longest one that the last error allows.
    planned: f64,
    cap: f64,
}

impl State {
    fn value(&self, t: f64) -> f64 {
        let s = t - self.tx;
        self.x + s * (self.dx + 0.5 * s * self.ddx)
    }
    fn slope(&self, t: f64) -> f64 {
        self.dx + (t - self.tx) * self.ddx
    }
    fn line(&self, t: f64) -> f64 {
        self.q + (t - self.tq) * self.dq
    }
    /// When the parabola has strayed from the line by a quantum, or the line ends.
    fn due(&self, t: f64, quantum: f64) -> f64 {
        let (d, d1, d2) = (self.value(t) - self.line(t), self.slope(t) - self.dq, 0.5 * self.ddx);
        let mut due = self.planned;
        for bound in [quantum, -quantum] {
            let c = d - bound;
            if c * bound >= 0.0 {
                // Outside already: at once, unless it is on its way back.
                if d1 * bound > 0.0 {
                    return t;
                }
                continue;
            }
            if let Some(s) = first_root(d2, d1, c) {
                due = due.min(t + s);
            }
        }
        due.max(t)
    }
}

/// The smallest positive root of a s² + b s + c.
fn first_root(a: f64, b: f64, c: f64) -> Option<f64> {
    let disc = b * b - 4.0 * a * c;
    if disc < 0.0 {
        return None;
    }
    let m = -0.5 * (b + b.signum() * disc.sqrt());
    [m / a, c / m].into_iter().filter(|s| *s > 0.0 && s.is_finite()).min_by(f64::total_cmp)
}

/// The earliest of many times: a complete binary tree of minima.
struct Agenda {
    leaves: usize,
    tree: Vec<f64>,
}

impl Agenda {
    fn new(n: usize) -> Agenda {
        let leaves = n.next_power_of_two().max(1);
        Agenda { leaves, tree: vec![f64::INFINITY; 2 * leaves] }
    }
    fn set(&mut self, i: usize, t: f64) {
        let mut k = self.leaves + i;
        self.tree[k] = t;
        while k > 1 {
            k /= 2;
            self.tree[k] = self.tree[2 * k].min(self.tree[2 * k + 1]);
        }
    }
    fn first(&self) -> (usize, f64) {
        let (mut k, t) = (1, self.tree[1]);
        while k < self.leaves {
            k = if self.tree[2 * k] == t { 2 * k } else { 2 * k + 1 };
        }
        (k - self.leaves, t)
    }
}

/// Linearly implicit quantized states of second order.
pub struct Qss {
    n: usize,
    opts: Options,
    stats: Stats,
    t: f64,
    t_prev: f64,
    states: Vec<State>,
    x: Vec<f64>,
    agenda: Agenda,
    jac: Jacobian,
    q: Vec<f64>,
    f_old: Vec<f64>,
    f: Vec<f64>,
    f_later: Vec<f64>,
    w: Vec<f64>,
    /// `f_old` belongs to the present time and lines.
    known: bool,
    /// All states.
    all: Vec<usize>,
    /// Who depends on the state that gets a new line.
    listeners: Vec<usize>,
    /// Lines drawn without time passing.
    at_once: usize,
}

impl Qss {
    /// For n states.
    pub fn new(n: usize, opts: Options) -> Self {
        let v = || vec![0.0; n];
        Qss {
            n,
            opts,
            stats: Stats::default(),
            t: 0.0,
            t_prev: 0.0,
            states: vec![State::default(); n],
            x: v(),
            agenda: Agenda::new(n),
            jac: Jacobian::new(n),
            q: v(),
            f_old: v(),
            f: v(),
            f_later: v(),
            w: v(),
            known: false,
            all: (0..n).collect(),
            listeners: Vec::with_capacity(n),
            at_once: 0,
        }
    }

    fn quantum(&self, i: usize) -> f64 {
        (self.opts.rtol * self.x[i].abs()).max(self.opts.atol[i]).max(f64::MIN_POSITIVE)
    }

    /// The components `which` of f at the lines' values at t.
    fn field(
        &mut self,
        sys: &mut dyn OdeSystem,
        t: f64,
        which: &[usize],
        into: fn(&mut Self) -> &mut Vec<f64>,
    ) -> Result<(), Failure> {
        for (q, s) in self.q.iter_mut().zip(&self.states) {
            *q = s.line(t);
        }
        let mut out = std::mem::take(into(self));
        self.stats.rhs_evals += 1;
        let done = sys.rhs_some(t, &self.q, which, &mut out).map_err(Failure::from);
        let strange = which.iter().find(|&&i| !out[i].is_finite());
        let strange = strange.map_or(Ok(()), |&component| Err(Failure::NonFinite { t, component }));
        let done = done.and(strange);
        *into(self) = out;
        done
    }

    /// The same now and a moment later; the moment is returned.
    fn field_and_rate(&mut self, sys: &mut dyn OdeSystem, scale: f64, which: &[usize]) -> Result<f64, Failure> {
        let t = self.t;
        let moment = (1e-3 * scale).clamp(1e-9 * (1.0 + t.abs()), 1e-4 * (1.0 + t.abs()));
        let later = t + moment;
        self.field(sys, t, which, |s| &mut s.f)?;
        if self.field(sys, later, which, |s| &mut s.f_later).is_err() {
            // At the edge of the domain: no second derivative.
            self.f_later.copy_from_slice(&self.f);
        }
        Ok(later - t)
    }

    /// The line for state i: value, slope, and how long it lasts.
    fn draw(&self, i: usize, x: f64, u: f64, du: f64) -> (f64, f64, f64) {
        // A growing state is followed explicitly.
        let a = self.states[i].a.min(0.0);
        let u = u + (self.states[i].a - a) * x;
        let quantum = SHARE * self.quantum(i);
        let w = a * (a * x + u) + du;
        let excess = w.abs() - quantum * a * a;
        let limit = self.states[i].cap;
        let mut h = f64::INFINITY;
        if excess > 0.0 {
            let root = (quantum * quantum * a * a + 2.0 * quantum * excess).sqrt();
            h = (root - quantum * a) / excess;
        }
        let h = h.min(limit);
        let ha = h * a;
        let q = x - 0.5 * h * h * w / (1.0 - ha + 0.5 * ha * ha);
        let dq = (a * q + u + h * du) / (1.0 - ha);
        // The parabola stays within the quantum for as long again if nothing damps it.
        (q, dq, if ha > -0.5 { (2.0 * h).min(limit) } else { h })
    }

    fn schedule(&mut self, i: usize) {
        let due = self.states[i].due(self.t, self.quantum(i));
        self.agenda.set(i, due);
    }

    /// State i gets a new line; the states that depend on it change course.
    fn requantize(&mut self, sys: &mut dyn OdeSystem, i: usize) -> Result<(), Failure> {
        let t = self.t;
        if !self.known {
            self.field(sys, t, &[i], |s| &mut s.f_old)?;
        }
        self.known = false;
        let s = self.states[i];
        let (x, lasted) = (s.value(t), t - s.tq);
        self.x[i] = x;
        let quantum = self.quantum(i);
        // What the parabola did not know of f, over the life of the line, is an error of about a third of their product.
        let miss = (self.f_old[i] - s.slope(t)).abs();
        if lasted > 0.0 {
            let grow = (quantum / (miss * lasted / 3.0).max(1e-30)).cbrt().clamp(0.2, 4.0);
            self.states[i].cap = (lasted * grow).min(self.opts.h_max);
        }
        let moment = self.field_and_rate(sys, lasted, &[i])?;
        let rate = (self.f_later[i] - self.f[i]) / moment;
        let old = s.line(t);
        let (u, du) = (self.f[i] - s.a * old, rate - s.a * s.dq);
        let (q, dq, lasts) = self.draw(i, x, u, du);
        let s = &mut self.states[i];
        (s.tq, s.q, s.dq, s.planned) = (t, q, dq, t + lasts);
        // Column i of the Jacobian tells who listens.
        let mut listeners = std::mem::take(&mut self.listeners);
        listeners.clear();
        match self.jac.matrix.pattern() {
            Some(p) => listeners.extend(p.column(i).iter().copied().filter(|&j| j != i)),
            None => listeners.extend((0..self.n).filter(|&j| j != i)),
        }
        listeners.push(i);
        let moment = self.field_and_rate(sys, lasts, &listeners)?;
        if (q - old).abs() > 1e-3 * quantum {
            self.states[i].a = (self.f[i] - self.f_old[i]) / (q - old);
        }
        for &j in &listeners {
            self.turn(j, moment);
        }
        self.listeners = listeners;
        Ok(())
    }

    /// State j follows f from now on.
    fn turn(&mut self, j: usize, moment: f64) {
        let (t, s) = (self.t, &mut self.states[j]);
        s.x = s.value(t);
        (s.tx, s.dx, s.ddx) = (t, self.f[j], (self.f_later[j] - self.f[j]) / moment);
        self.x[j] = s.x;
        self.schedule(j);
    }

    /// A state whose derivative (`f_old`, at `end`) is not what its parabola expects, by so much that the error of the step
    /// from t exceeds the quantum.
    fn surprise(&self, t: f64, end: f64) -> Option<usize> {
        let off = |i: usize| (self.f_old[i] - self.states[i].slope(end)).abs() * (end - t) / 3.0;
        (0..self.n).find(|&i| off(i) > 2.0 * self.quantum(i))
    }

    /// States whose derivative has left their parabola are due at once.
    fn follow(&mut self) {
        for i in 0..self.n {
            let s = &self.states[i];
            let miss = (self.f_old[i] - s.slope(self.t)).abs();
            let rest = (s.planned - self.t).clamp(0.0, 1e3 * (self.t - self.t_prev));
            if miss * rest > 2.0 * self.quantum(i) {
                self.agenda.set(i, self.t);
            }
        }
    }

    fn fail(&mut self, e: Failure) -> StepError {
        e.count(&mut self.stats);
        e.into_error(self.t, 0.0)
    }
}

impl Integrator for Qss {
    fn name(&self) -> &'static str {
        "qss"
    }

    fn restart(&mut self, sys: &mut dyn OdeSystem, t: f64, x: &[f64], _kind: Restart) -> Result<(), StepError> {
        self.stats.restarts += 1;
        (self.t, self.t_prev, self.at_once, self.known) = (t, t, 0, false);
        self.x.copy_from_slice(x);
        if self.n == 0 {
            return Ok(());
        }
        self.jac.set_up(sys);
        inverse_weights(&self.opts, x, &mut self.w);
        let done = (|| {
            eval_rhs(sys, &mut self.stats, t, x, &mut self.f)?;
            self.jac.eval(sys, &mut self.stats, t, x, &self.f, &self.w, 0.0)
        })();
        done.map_err(|e| self.fail(e))?;
        let cap = self.opts.h_init.unwrap_or(f64::INFINITY).min(self.opts.h_max);
        for i in 0..self.n {
            let (x, dx, a) = (x[i], self.f[i], self.jac.matrix.get(i, i));
            // The first line lasts a thousandth of the state's own time scale at most: nothing is known yet.
            let quantum = self.quantum(i);
            let cap = cap.min(1e-2 * (x.abs() + quantum) / dx.abs().max(1e-300)).max(1e-9 * (1.0 + t.abs()));
            self.states[i] = State { tx: t, x, dx, ddx: 0.0, tq: t, q: x, dq: dx, a, planned: t + cap, cap };
        }
        let all = std::mem::take(&mut self.all);
        let moment = self.field_and_rate(sys, 1e-3, &all);
        self.all = all;
        let moment = moment.map_err(|e| self.fail(e))?;
        for i in 0..self.n {
            self.turn(i, moment);
        }
        Ok(())
    }

    fn step(&mut self, sys: &mut dyn OdeSystem, tstop: f64) -> Result<StepOutcome, StepError> {
        if tstop <= self.t {
            return Ok(StepOutcome::ReachedStop);
        }
        while self.n > 0 {
            let (i, due) = self.agenda.first();
            if due > self.t {
                break;
            }
            self.at_once += 1;
            if self.at_once > 1000 + 100 * self.n {
                return Err(StepError::TooSmall { t: self.t, h: 0.0, component: i });
            }
            if self.stats.steps >= self.opts.max_steps {
                return Err(StepError::TooMuchWork { t: self.t });
            }
            self.requantize(sys, i).map_err(|e| self.fail(e))?;
        }
        let t = self.t;
        let mut next = if self.n > 0 { self.agenda.first().1 } else { f64::INFINITY };
        next = next.max(t + self.opts.h_min).min(t + self.opts.h_max);
        if next > t {
            self.at_once = 0;
        }
        let mut lands = next >= tstop;
        let mut end = if lands { tstop } else { next };
        let mut h = end - t;
        // The end must be a place where f exists, all of it: otherwise nearer.
        while self.n > 0 {
            let all = std::mem::take(&mut self.all);
            let found = self.field(sys, end, &all, |s| &mut s.f_old);
            self.all = all;
            match found {
                Ok(()) if self.surprise(t, end).is_none() || h <= 1e-9 * (1.0 + t.abs()) => break,
                // f has turned within the step (a kink without an event): nearer to it.
                Ok(()) => self.stats.error_test_failures += 1,
                Err(e) => {
                    e.count(&mut self.stats);
                    if e == Failure::Fatal || too_small(&self.opts, t, 0.5 * h) {
                        return Err(e.into_error(t, h));
                    }
                }
            }
            h *= 0.5;
            (end, lands) = (t + h, false);
        }
        self.known = true;
        (self.t_prev, self.t) = (t, end);
        for (x, s) in self.x.iter_mut().zip(&self.states) {
            *x = s.value(self.t);
        }
        self.follow();
        self.stats.steps += 1;
        (self.stats.last_h, self.stats.last_order) = (self.t - t, 2);
        Ok(if lands { StepOutcome::ReachedStop } else { StepOutcome::Step })
    }

    fn t(&self) -> f64 {
        self.t
    }
    fn t_prev(&self) -> f64 {
        self.t_prev
    }
    fn x(&self) -> &[f64] {
        &self.x
    }
    fn interpolate(&self, t: f64, x: &mut [f64]) {
        x.iter_mut().zip(&self.states).for_each(|(x, s)| *x = s.value(t));
    }
    fn interpolate_derivative(&self, t: f64, dx: &mut [f64]) {
        dx.iter_mut().zip(&self.states).for_each(|(x, s)| *x = s.slope(t));
    }
    fn polynomial(&self, i: usize, coeffs: &mut Vec<f64>) {
        let (s, h) = (&self.states[i], self.t - self.t_prev);
        coeffs.clear();
        coeffs.extend([s.value(self.t_prev), h * s.slope(self.t_prev), 0.5 * h * h * s.ddx]);
    }
    fn stats(&self) -> &Stats {
        &self.stats
    }
    fn options(&self) -> &Options {
        &self.opts
    }
    fn set_options(&mut self, opts: Options) {
        assert_eq!(opts.atol.len(), self.n);
        self.opts = opts;
    }
    fn set_max_step(&mut self, h_max: f64) {
        self.opts.h_max = h_max;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ode::EvalError;

    struct Sys<F>(usize, F);
    impl<F: FnMut(f64, &[f64], &mut [f64])> OdeSystem for Sys<F> {
        fn dim(&self) -> usize {
            self.0
        }
        fn rhs(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
            (self.1)(t, x, dx);
            Ok(())
        }
    }

    fn run(n: usize, f: impl FnMut(f64, &[f64], &mut [f64]), x0: &[f64], t1: f64, tol: f64) -> (Vec<f64>, usize) {
        let mut sys = Sys(n, f);
        let mut m = Qss::new(n, Options::new(n, tol, tol));
        m.restart(&mut sys, 0.0, x0, Restart::Cold).unwrap();
        while m.step(&mut sys, t1).unwrap_or_else(|e| panic!("{e} {:?}", m.stats())) == StepOutcome::Step {
            assert!(m.stats().steps < 1_000_000);
        }
        (m.x().to_vec(), m.stats().steps)
    }

    #[test]
    fn oscillator_and_decay() {
        for tol in [1e-3, 1e-4, 1e-5] {
            let (x, steps) = run(2, |_, x, d| (d[0], d[1]) = (x[1], -x[0]), &[1.0, 0.0], 10.0, tol);
            let e = (x[0] - 10f64.cos()).abs().max((x[1] + 10f64.sin()).abs());
            println!("oscillator {tol:e}: {e:e} in {steps}");
            assert!(e < 20.0 * tol, "{tol:e}: {e:e}");
            let (x, steps) = run(1, |_, x, d| d[0] = -x[0], &[1.0], 3.0, tol);
            println!("decay {tol:e}: {:e} in {steps}", x[0] - (-3f64).exp());
            assert!((x[0] - (-3f64).exp()).abs() < 5.0 * tol);
            let (x, steps) = run(1, |t, _, d| d[0] = t.cos(), &[0.0], 10.0, tol);
            println!("sine {tol:e}: {:e} in {steps}", x[0] - 10f64.sin());
            assert!((x[0] - 10f64.sin()).abs() < 5.0 * tol);
        }
    }

    #[test]
    fn a_stiff_state_costs_little() {
        let (x, steps) =
            run(2, |t, x, d| (d[0], d[1]) = (-1e5 * (x[0] - x[1]), t.cos() - 0.1 * x[1]), &[2.0, 0.0], 20.0, 1e-3);
        // y' = cos t − y/10: y = (0.1 cos t + sin t − 0.1 e^{−t/10})/1.01
        let exact = (0.1 * 20f64.cos() + 20f64.sin() - 0.1 * (-2f64).exp()) / 1.01;
        println!("stiff: {x:?} {exact} in {steps}");
        assert!((x[1] - exact).abs() < 1e-2 && (x[0] - exact).abs() < 1e-2, "{x:?} {exact}");
        assert!(steps < 3000, "{steps}");
    }
}
