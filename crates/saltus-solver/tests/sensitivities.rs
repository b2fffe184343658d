//! Forward sensitivities against what is known of them.

use saltus_solver::ode::*;

/// x' = −p₀ x + p₁, x(0) = 2: x = p₁/p₀ + (2 − p₁/p₀) e^{−p₀ t}.
struct Decay {
    p: [f64; 2],
    scratch: Vec<f64>,
}

impl OdeSystem for Decay {
    fn dim(&self) -> usize {
        1
    }
    fn rhs(&mut self, _: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
        dx[0] = -self.p[0] * x[0] + self.p[1];
        Ok(())
    }
    fn sensitivity(&mut self, _: f64, x: &[f64], s: &[f64], k: usize, ds: &mut [f64]) -> Result<bool, EvalError> {
        let p = self.p;
        let f = |x: &[f64], shift: f64, dx: &mut [f64]| {
            let mut p = p;
            p[k] += shift;
            dx[0] = -p[0] * x[0] + p[1];
            Ok(())
        };
        directional(f, x, s, p[k], &mut self.scratch, ds)?;
        Ok(true)
    }
}

#[test]
fn linear_decay_by_both_parameters() {
    let mut sys = Decay { p: [3.0, 1.5], scratch: Vec::new() };
    let exact = |p0: f64, p1: f64, t: f64| p1 / p0 + (2.0 - p1 / p0) * (-p0 * t).exp();
    for tol in [1e-5, 1e-8] {
        let mut m = Multistep::bdf(1, Options::new(1, tol, tol)).with_sensitivities(&[3.0, 1.5]);
        m.restart(&mut sys, 0.0, &[2.0], Restart::Cold).unwrap();
        m.set_sensitivities(&[0.0, 0.0]);
        let mut s = [0.0];
        while {
            let out = m.step(&mut sys, 2.0).unwrap();
            // Between mesh points too.
            let t = 0.5 * (m.t_prev() + m.t());
            m.interpolate_sensitivity(0, t, &mut s);
            let d = 1e-5;
            let truth = (exact(3.0 + d, 1.5, t) - exact(3.0 - d, 1.5, t)) / (2.0 * d);
            assert!((s[0] - truth).abs() < 300.0 * tol, "{tol:e} at {t}: {} {truth}", s[0]);
            out == StepOutcome::Step
        } {}
        let (e, r) = ((-6f64).exp(), 0.5);
        let by_p0 = -1.5 / 9.0 * (1.0 - e) - 2.0 * (2.0 - r) * e;
        let by_p1 = (1.0 - e) / 3.0;
        assert!((m.sensitivity(0)[0] - by_p0).abs() < 100.0 * tol, "{} {by_p0}", m.sensitivity(0)[0]);
        assert!((m.sensitivity(1)[0] - by_p1).abs() < 100.0 * tol, "{} {by_p1}", m.sensitivity(1)[0]);
    }
}

/// Robertson's kinetics with its three rates as parameters.
struct Robertson([f64; 3]);

impl OdeSystem for Robertson {
    fn dim(&self) -> usize {
        3
    }
    fn rhs(&mut self, _: f64, x: &[f64], f: &mut [f64]) -> Result<(), EvalError> {
        let p = &self.0;
        f[0] = -p[0] * x[0] + p[1] * x[1] * x[2];
        f[2] = p[2] * x[1] * x[1];
        f[1] = -f[0] - f[2];
        Ok(())
    }
    fn sensitivity(&mut self, _: f64, x: &[f64], s: &[f64], k: usize, ds: &mut [f64]) -> Result<bool, EvalError> {
        let p = &self.0;
        let by_p = [-x[0], x[1] * x[2], 0.0];
        ds[0] = -p[0] * s[0] + p[1] * (s[1] * x[2] + x[1] * s[2]) + by_p[k];
        ds[2] = 2.0 * p[2] * x[1] * s[1] + if k == 2 { x[1] * x[1] } else { 0.0 };
        ds[1] = -ds[0] - ds[2];
        Ok(true)
    }
}

#[test]
fn stiff_kinetics_against_differences_of_sharp_runs() {
    let p = [0.04, 1e4, 3e7];
    let end = |p: [f64; 3]| {
        let mut o = Options::new(3, 1e-11, 1e-13);
        o.atol[1] = 1e-17;
        let mut m = make_integrator("radau", 3, o).unwrap();
        m.restart(&mut Robertson(p), 0.0, &[1.0, 0.0, 0.0], Restart::Cold).unwrap();
        while m.step(&mut Robertson(p), 40.0).unwrap() == StepOutcome::Step {}
        m.x().to_vec()
    };
    let mut o = Options::new(3, 1e-7, 1e-9);
    o.atol[1] = 1e-13;
    let mut m = Multistep::bdf(3, o).with_sensitivities(&p);
    m.restart(&mut Robertson(p), 0.0, &[1.0, 0.0, 0.0], Restart::Cold).unwrap();
    m.set_sensitivities(&[0.0; 9]);
    while m.step(&mut Robertson(p), 40.0).unwrap() == StepOutcome::Step {}
    for k in 0..3 {
        let (mut up, mut down) = (p, p);
        (up[k], down[k]) = (p[k] * 1.0003, p[k] * 0.9997);
        let (a, b) = (end(up), end(down));
        for i in 0..3 {
            let truth = (a[i] - b[i]) / (up[k] - down[k]);
            let found = m.sensitivity(k)[i];
            assert!((found - truth).abs() < 2e-4 * truth.abs(), "∂x{i}/∂p{k}: {found:e} {truth:e}");
        }
    }
    // The same steps as without sensitivities: they do not take part in the error test.
    let mut plain = Options::new(3, 1e-7, 1e-9);
    plain.atol[1] = 1e-13;
    let mut m2 = Multistep::bdf(3, plain);
    m2.restart(&mut Robertson(p), 0.0, &[1.0, 0.0, 0.0], Restart::Cold).unwrap();
    while m2.step(&mut Robertson(p), 40.0).unwrap() == StepOutcome::Step {}
    assert_eq!(m.stats().steps, m2.stats().steps);
}

/// x'' = −p² x with x(0) = 1: ∂x/∂p = −t sin(pt), which grows while x does not.
struct Spring(f64);

impl OdeSystem for Spring {
    fn dim(&self) -> usize {
        2
    }
    fn rhs(&mut self, _: f64, x: &[f64], f: &mut [f64]) -> Result<(), EvalError> {
        (f[0], f[1]) = (x[1], -self.0 * self.0 * x[0]);
        Ok(())
    }
    fn sensitivity(&mut self, _: f64, x: &[f64], s: &[f64], _: usize, ds: &mut [f64]) -> Result<bool, EvalError> {
        (ds[0], ds[1]) = (s[1], -self.0 * self.0 * s[0] - 2.0 * self.0 * x[0]);
        Ok(true)
    }
}

#[test]
fn sensitivities_may_take_part_in_the_error_test() {
    // x stays near zero and is weighed by atol alone; its sensitivity does not.
    let error = |tested: bool| {
        let m = Multistep::bdf(2, Options::new(2, 1e-5, 1e-3)).with_sensitivities(&[3.0]);
        let mut m = if tested { m.testing_sensitivities() } else { m };
        let mut sys = Spring(3.0);
        m.restart(&mut sys, 0.0, &[1e-3, 0.0], Restart::Cold).unwrap();
        m.set_sensitivities(&[1.0, 0.0]);
        while m.step(&mut sys, 6.0).unwrap() == StepOutcome::Step {}
        // x(0) = 1e-3 and ∂x/∂p(0) = 1: ∂x/∂p = cos(pt) − 1e-3 t sin(pt).
        let t = 6.0f64;
        let truth = (3.0 * t).cos() - 1e-3 * t * (3.0 * t).sin();
        ((m.sensitivity(0)[0] - truth).abs(), m.stats().steps)
    };
    let ((loose, few), (sharp, many)) = (error(false), error(true));
    println!("untested {loose:e} in {few} steps, tested {sharp:e} in {many}");
    assert!(sharp < 0.02 && sharp < 0.2 * loose, "{loose:e} {sharp:e}");
    assert!(many > few);
}
