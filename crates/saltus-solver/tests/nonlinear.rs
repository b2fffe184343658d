//! Newton, the ladder, continuation, least squares and mode search on problems with known answers.

use proptest::prelude::*;
use saltus_solver::nonlinear::piecewise::{LockedFailure, Stage};
use saltus_solver::nonlinear::*;

fn system(
    n: usize,
    f: impl FnMut(&[f64], &mut [f64]) -> Result<(), DomainError>,
) -> FnSystem<impl FnMut(&[f64], &mut [f64]) -> Result<(), DomainError>> {
    FnSystem::new(n, f)
}

/// Wraps a system and gives it an analytic Jacobian.
struct WithJacobian<F, J>(usize, F, J);

impl<F: FnMut(&[f64], &mut [f64]), J: FnMut(&[f64], &mut [f64])> NonlinearSystem for WithJacobian<F, J> {
    fn dim(&self) -> usize {
        self.0
    }
    fn residual(&mut self, z: &[f64], r: &mut [f64]) -> Result<(), DomainError> {
        (self.1)(z, r);
        Ok(())
    }
    fn jacobian(&mut self, z: &[f64], jac: &mut [f64]) -> Result<bool, DomainError> {
        (self.2)(z, jac);
        Ok(true)
    }
}

#[track_caller]
fn check_newton(sys: &mut dyn NonlinearSystem, guess: &[f64], expected: &[f64], tol: f64) -> NewtonReport {
    let mut z = guess.to_vec();
    let report = newton(sys, &mut z, &NewtonOptions::default(), &mut NewtonWork::new()).expect("converges");
    for (a, b) in z.iter().zip(expected) {
        assert!((a - b).abs() <= tol * b.abs().max(1e-300), "{z:?} instead of {expected:?} ({report:?})");
    }
    report
}

#[track_caller]
fn check_solve(sys: &mut dyn NonlinearSystem, guess: &[f64], expected: &[f64], tol: f64) -> SolveReport {
    let mut z = guess.to_vec();
    let report = solve(sys, &mut z, &SolveOptions::default()).unwrap_or_else(|e| panic!("{e}\n{e:?}"));
    for (a, b) in z.iter().zip(expected) {
        assert!((a - b).abs() <= tol * b.abs().max(1.0), "{z:?} instead of {expected:?} ({report:?})");
    }
    report
}

#[test]
fn linear_systems_take_one_iteration() {
    let mut sys = WithJacobian(
        2,
        |z: &[f64], r: &mut [f64]| {
            r[0] = 2.0 * z[0] + z[1] - 5.0;
            r[1] = z[0] - 3.0 * z[1] + 1.0;
        },
        |_: &[f64], j: &mut [f64]| j.copy_from_slice(&[2.0, 1.0, 1.0, -3.0]),
    );
    let report = check_newton(&mut sys, &[0.0, 0.0], &[2.0, 1.0], 1e-15);
    assert_eq!(report.iterations, 1);
}

#[test]
fn empty_system() {
    let mut sys = system(0, |_, _| Ok(()));
    assert!(newton(&mut sys, &mut [], &NewtonOptions::default(), &mut NewtonWork::new()).is_ok());
    assert!(solve(&mut sys, &mut [], &SolveOptions::default()).is_ok());
}

#[test]
fn badly_scaled_without_nominals() {
    // y1 y2 = 1 + 2c, y1 − 1e12 y2 = 1e6 c from (1e6, 1e-6); y1 = 1e6 u, y2 = 1e-6 v: uv = 1 + 2c, u − v = c.
    for c in [0.0, 1e-3, 0.5, 1.0, -0.4, 10.0] {
        let mut sys = system(2, move |y: &[f64], r: &mut [f64]| {
            r[0] = y[0] * y[1] - (1.0 + 2.0 * c);
            r[1] = y[0] - 1e12 * y[1] - 1e6 * c;
            Ok(())
        });
        let u = (c + (c * c + 4.0 * (1.0 + 2.0 * c)).sqrt()) / 2.0;
        check_newton(&mut sys, &[1e6, 1e-6], &[1e6 * u, 1e-6 * (u - c)], 1e-14);
    }
    // From zero, with nothing known about the magnitudes.
    let mut sys = system(2, |z: &[f64], r: &mut [f64]| {
        r[0] = 1e-6 * z[0] + 1e6 * z[1] - 2.0 + 0.1 * 1e6 * z[1] * 1e-6 * z[0];
        r[1] = 1e-6 * z[0] - 1e6 * z[1];
        Ok(())
    });
    let x = (-2.0 + (4.0f64 + 0.8).sqrt()) / 0.2;
    check_newton(&mut sys, &[0.0, 0.0], &[1e6 * x, 1e-6 * x], 1e-13);
}

#[test]
fn reaches_machine_precision() {
    let mut sys = system(1, |z: &[f64], r: &mut [f64]| {
        r[0] = z[0].cos() - z[0];
        Ok(())
    });
    check_newton(&mut sys, &[1.0], &[0.739_085_133_215_160_6], 3e-16);
    let mut sys = system(1, |z: &[f64], r: &mut [f64]| {
        r[0] = z[0] + 0.5 - 0.5 * z[0].exp().powi(2);
        Ok(())
    });
    // A root at zero: the residual is a difference of O(1) terms, the double root's noise is 1e-8.
    let mut z = [0.3];
    newton(&mut sys, &mut z, &NewtonOptions::default(), &mut NewtonWork::new()).unwrap();
    assert!(z[0].abs() < 1e-6, "{z:?}");
}

#[test]
fn diode_with_overflowing_exponential() {
    for supply in [0.1, 1.0, 10.0, 1000.0] {
        let mut sys = system(1, move |v: &[f64], r: &mut [f64]| {
            r[0] = v[0] + 100.0 * 1e-12 * ((v[0] / 0.025).exp() - 1.0) - supply;
            Ok(())
        });
        let mut z = [0.0];
        newton(&mut sys, &mut z, &NewtonOptions::default(), &mut NewtonWork::new()).unwrap();
        let r = z[0] + 1e-10 * ((z[0] / 0.025).exp() - 1.0) - supply;
        assert!(r.abs() < 1e-12 * supply.max(1.0) * 10.0, "{supply}: {z:?} {r}");
    }
}

#[test]
fn domain_errors_shorten_the_step() {
    let mut sys = system(1, |z: &[f64], r: &mut [f64]| {
        if z[0] <= 0.0 {
            return Err(DomainError);
        }
        r[0] = z[0].ln() + 3.0;
        Ok(())
    });
    check_newton(&mut sys, &[1.0], &[(-3.0f64).exp()], 1e-14);
    let mut z = [-1.0];
    let e = newton(&mut sys, &mut z, &NewtonOptions::default(), &mut NewtonWork::new()).unwrap_err();
    assert!(matches!(e, NewtonFailure::Domain { .. }));
    // The ladder looks for a point where the residual exists.
    check_solve(&mut sys, &[-1.0], &[(-3.0f64).exp()], 1e-12);
}

#[test]
fn bounds_choose_the_root() {
    let mut sys = system(1, |z: &[f64], r: &mut [f64]| {
        r[0] = z[0] * z[0] - 4.0;
        Ok(())
    });
    let opts = NewtonOptions { min: vec![0.0], max: vec![10.0], ..Default::default() };
    let mut z = [0.1];
    newton(&mut sys, &mut z, &opts, &mut NewtonWork::new()).unwrap();
    assert_eq!(z[0], 2.0);
    let opts = NewtonOptions { min: vec![-10.0], max: vec![-0.5], ..Default::default() };
    let mut z = [3.0];
    newton(&mut sys, &mut z, &opts, &mut NewtonWork::new()).unwrap();
    assert_eq!(z[0], -2.0);
    // No root inside: failure, and the point stays inside.
    let opts = NewtonOptions { min: vec![3.0], max: vec![5.0], ..Default::default() };
    let mut z = [4.0];
    assert!(newton(&mut sys, &mut z, &opts, &mut NewtonWork::new()).is_err());
    assert!((3.0..=5.0).contains(&z[0]));
}

#[test]
fn hostile_numbers_do_not_panic() {
    for value in [f64::NAN, f64::INFINITY, -f64::INFINITY, 0.0, 1e300] {
        let mut sys = system(2, move |_: &[f64], r: &mut [f64]| {
            r.fill(value);
            Ok(())
        });
        for guess in [[0.0, 0.0], [f64::NAN, 1.0], [f64::INFINITY, 1e308]] {
            let mut z = guess;
            let _ = newton(&mut sys, &mut z, &NewtonOptions::default(), &mut NewtonWork::new());
            let mut z = guess;
            let opts = SolveOptions { starts: 3, ..Default::default() };
            let _ = solve(&mut sys, &mut z, &opts);
        }
    }
    let mut sys =
        WithJacobian(1, |z: &[f64], r: &mut [f64]| r[0] = z[0] - 1.0, |_: &[f64], j: &mut [f64]| j[0] = f64::NAN);
    assert!(newton(&mut sys, &mut [0.0], &NewtonOptions::default(), &mut NewtonWork::new()).is_err());
    let opts = NewtonOptions { nominal: vec![f64::NAN], min: vec![2.0], max: vec![-2.0], ..Default::default() };
    let mut sys = system(1, |z: &[f64], r: &mut [f64]| {
        r[0] = z[0] - 1.0;
        Ok(())
    });
    assert!(newton(&mut sys, &mut [0.0], &opts, &mut NewtonWork::new()).is_ok());
}

#[test]
fn singular_at_the_guess() {
    let mut sys = system(1, |z: &[f64], r: &mut [f64]| {
        r[0] = z[0].powi(3) - 1.0;
        Ok(())
    });
    let mut z = [0.0];
    let e = newton(&mut sys, &mut z, &NewtonOptions::default(), &mut NewtonWork::new()).unwrap_err();
    assert!(matches!(e, NewtonFailure::Singular { .. }), "{e:?}");
    check_solve(&mut sys, &[0.0], &[1.0], 1e-15);
    // With an analytic Jacobian, exactly zero.
    let mut sys = WithJacobian(
        1,
        |z: &[f64], r: &mut [f64]| r[0] = z[0].powi(3) - 1.0,
        |z: &[f64], j: &mut [f64]| j[0] = 3.0 * z[0] * z[0],
    );
    let report = check_solve(&mut sys, &[0.0], &[1.0], 1e-15);
    assert_eq!(report.tried.len(), 2);
}

#[test]
fn every_rung_solves_the_cube() {
    for method in [
        Method::LevenbergMarquardt,
        Method::Bracketing,
        Method::NewtonHomotopy,
        Method::FixedPointHomotopy,
        Method::PiecewiseLinear,
        Method::MultiStart,
    ] {
        let mut sys = system(1, |z: &[f64], r: &mut [f64]| {
            r[0] = z[0].powi(3) - 1.0;
            Ok(())
        });
        let mut z = [0.0];
        let opts = SolveOptions { methods: vec![method], ..Default::default() };
        let report = solve(&mut sys, &mut z, &opts).unwrap_or_else(|e| panic!("{method}: {e}"));
        assert_eq!(report.method, method);
        assert!((z[0] - 1.0).abs() < 1e-14, "{method}: {z:?}");
    }
}

#[test]
fn simplices_pass_kinks_that_stop_newton() {
    // Slopes that differ by a thousand from piece to piece: tangents point anywhere.
    let mut sys = system(3, |z: &[f64], r: &mut [f64]| {
        let steep = |v: f64| if v < 0.0 { v } else { 1e3 * v };
        r[0] = steep(z[0] - 1.0) + 0.3 * (z[1] - z[2]).abs() + 2.0;
        r[1] = steep(z[1] + 2.0) - 0.4 * z[0].abs() - 1.0;
        r[2] = steep(z[2]) + 0.2 * z[0].max(z[1]) - 3.0;
        Ok(())
    });
    let mut z = [40.0, -30.0, 25.0];
    let opts = SolveOptions { methods: vec![Method::PiecewiseLinear], ..Default::default() };
    solve(&mut sys, &mut z, &opts).unwrap_or_else(|e| panic!("{e}"));
    let mut r = [0.0; 3];
    sys.residual(&z, &mut r).unwrap();
    assert!(r.iter().all(|r| r.abs() < 1e-9), "{z:?} {r:?}");
}

#[test]
fn multiple_roots_are_reported_as_degenerate() {
    let mut sys = system(1, |z: &[f64], r: &mut [f64]| {
        r[0] = (z[0] - 1.0).powi(2);
        Ok(())
    });
    let report = check_solve(&mut sys, &[3.0], &[1.0], 1e-6);
    assert!(report.newton.residual_norm < 1e-6, "{report:?}");
    // Dependent but consistent equations.
    let mut sys = system(2, |z: &[f64], r: &mut [f64]| {
        r[0] = z[0] + z[1] - 2.0;
        r[1] = 2.0 * z[0] + 2.0 * z[1] - 4.0;
        Ok(())
    });
    let report = check_solve(&mut sys, &[0.0, 0.0], &[1.0, 1.0], 1e-6);
    assert!(report.newton.degenerate, "{report:?}");
}

#[test]
fn no_root_is_a_failure_not_a_hang() {
    let mut evaluations = 0;
    let mut sys = system(1, |z: &[f64], r: &mut [f64]| {
        evaluations += 1;
        r[0] = z[0] * z[0] + 1.0;
        Ok(())
    });
    let mut z = [2.0];
    let e = solve(&mut sys, &mut z, &SolveOptions::default()).unwrap_err();
    drop(sys);
    assert!(evaluations < 40_000, "{evaluations}");
    assert!(z[0].abs() < 0.2, "{z:?}");
    assert_eq!(e.tried.len(), 8);
    assert!(e.to_string().contains("Levenberg-Marquardt"));
    let mut sys = system(1, |z: &[f64], r: &mut [f64]| {
        r[0] = (-z[0]).exp();
        Ok(())
    });
    // Any answer is fine as long as it comes: e^-x underflows to an exact zero.
    let _ = solve(&mut sys, &mut [0.0], &SolveOptions::default());
}

#[test]
fn classic_hard_guesses() {
    // Rosenbrock as a system.
    let mut sys = system(2, |z: &[f64], r: &mut [f64]| {
        r[0] = 10.0 * (z[1] - z[0] * z[0]);
        r[1] = 1.0 - z[0];
        Ok(())
    });
    check_solve(&mut sys, &[-1.2, 1.0], &[1.0, 1.0], 1e-12);
    // Powell's badly scaled function.
    let mut sys = system(2, |z: &[f64], r: &mut [f64]| {
        r[0] = 1e4 * z[0] * z[1] - 1.0;
        r[1] = (-z[0]).exp() + (-z[1]).exp() - 1.0001;
        Ok(())
    });
    check_solve(&mut sys, &[0.0, 1.0], &[1.098159327e-5, 9.106146740], 1e-8);
    // Brown's almost linear function.
    let n = 10;
    let mut sys = system(n, move |z: &[f64], r: &mut [f64]| {
        let sum: f64 = z.iter().sum();
        for i in 0..n - 1 {
            r[i] = z[i] + sum - (n as f64 + 1.0);
        }
        r[n - 1] = z.iter().product::<f64>() - 1.0;
        Ok(())
    });
    let mut z = vec![0.5; n];
    solve(&mut sys, &mut z, &SolveOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    // arctan from far away: plain Newton diverges.
    let mut sys = system(1, |z: &[f64], r: &mut [f64]| {
        r[0] = (z[0] - 1.0).atan();
        Ok(())
    });
    check_solve(&mut sys, &[1e3], &[1.0], 1e-12);
    // Helical valley.
    let mut sys = system(3, |z: &[f64], r: &mut [f64]| {
        let theta = z[1].atan2(z[0]) / (2.0 * std::f64::consts::PI);
        r[0] = 10.0 * (z[2] - 10.0 * theta);
        r[1] = 10.0 * ((z[0] * z[0] + z[1] * z[1]).sqrt() - 1.0);
        r[2] = z[2];
        Ok(())
    });
    check_solve(&mut sys, &[-1.0, 0.0, 0.0], &[1.0, 0.0, 0.0], 1e-10);
}

#[test]
fn continuation_passes_folds() {
    // z³ − 3z = 6λ − 3 starts on the lower branch and folds twice on its way.
    struct Fold;
    impl Homotopy for Fold {
        fn dim(&self) -> usize {
            1
        }
        fn residual(&mut self, z: &[f64], lambda: f64, r: &mut [f64]) -> Result<(), DomainError> {
            r[0] = z[0].powi(3) - 3.0 * z[0] - (6.0 * lambda - 3.0);
            Ok(())
        }
    }
    let mut z = [-2.1];
    let report = continuation(&mut Fold, &mut z, &HomotopyOptions::default()).unwrap();
    assert!((z[0].powi(3) - 3.0 * z[0] - 3.0).abs() < 1e-12);
    assert_eq!(report.folds, 2, "{report:?}");
}

#[test]
fn large_dense_system() {
    // Discrete boundary value problem u'' = u³ + x on 300 points.
    let n = 300;
    let h = 1.0 / (n as f64 + 1.0);
    let f = move |z: &[f64], r: &mut [f64]| {
        for i in 0..n {
            let left = if i > 0 { z[i - 1] } else { 0.0 };
            let right = if i + 1 < n { z[i + 1] } else { 1.0 };
            r[i] = left - 2.0 * z[i] + right - h * h * (z[i].powi(3) + (i as f64 + 1.0) * h);
        }
    };
    let mut sys = WithJacobian(n, f, move |z: &[f64], j: &mut [f64]| {
        j.fill(0.0);
        for i in 0..n {
            j[i + i * n] = -2.0 - 3.0 * h * h * z[i] * z[i];
            if i > 0 {
                j[i + (i - 1) * n] = 1.0;
            }
            if i + 1 < n {
                j[i + (i + 1) * n] = 1.0;
            }
        }
    });
    let mut z = vec![0.0; n];
    let report = newton(&mut sys, &mut z, &NewtonOptions::default(), &mut NewtonWork::new()).unwrap();
    assert!(report.iterations <= 6);
}

struct Residuals<F>(usize, usize, F);

impl<F: FnMut(&[f64], &mut [f64])> ResidualSystem for Residuals<F> {
    fn unknowns(&self) -> usize {
        self.0
    }
    fn equations(&self) -> usize {
        self.1
    }
    fn residual(&mut self, z: &[f64], r: &mut [f64]) -> Result<(), DomainError> {
        (self.2)(z, r);
        Ok(())
    }
}

#[test]
fn least_squares_ranks() {
    // Over-determined but consistent.
    let mut sys = Residuals(2, 3, |z: &[f64], r: &mut [f64]| {
        r[0] = z[0] + z[1] - 3.0;
        r[1] = z[0] - z[1] + 1.0;
        r[2] = z[0] * z[1] - 2.0;
    });
    let mut z = [0.5, 0.5];
    let report = least_squares(&mut sys, &mut z, &LeastSquaresOptions::default()).unwrap();
    assert!(report.consistent && report.converged && report.rank == 2, "{report:?}");
    assert_eq!(report.dependent.len(), 1);
    assert!((z[0] - 1.0).abs() < 1e-12 && (z[1] - 2.0).abs() < 1e-12);
    // Contradiction.
    let mut sys = Residuals(1, 2, |z: &[f64], r: &mut [f64]| {
        r[0] = z[0] - 1.0;
        r[1] = z[0] - 2.0;
    });
    let mut z = [0.0];
    let report = least_squares(&mut sys, &mut z, &LeastSquaresOptions::default()).unwrap();
    assert!(!report.consistent && report.converged, "{report:?}");
    assert!((z[0] - 1.5).abs() < 1e-10);
    // Under-determined: the nearest point of the line to the guess.
    let mut sys = Residuals(2, 1, |z: &[f64], r: &mut [f64]| r[0] = z[0] + z[1] - 2.0);
    let mut z = [1.0, 1.0 + 2e-9];
    let opts = LeastSquaresOptions {
        newton: NewtonOptions { nominal: vec![10.0, 10.0], ..Default::default() },
        ..Default::default()
    };
    let report = least_squares(&mut sys, &mut z, &opts).unwrap();
    assert_eq!((report.rank, report.undetermined.len()), (1, 1));
    let mut z = [5.0, 1.0];
    least_squares(&mut sys, &mut z, &opts).unwrap();
    assert!((z[0] - 3.0).abs() < 1e-7 && (z[1] + 1.0).abs() < 1e-7, "{z:?}");
    // Nothing at all.
    let mut sys = Residuals(0, 0, |_: &[f64], _: &mut [f64]| ());
    assert!(least_squares(&mut sys, &mut [], &LeastSquaresOptions::default()).unwrap().consistent);
    let mut sys = Residuals(1, 0, |_: &[f64], _: &mut [f64]| ());
    assert!(least_squares(&mut sys, &mut [1.0], &LeastSquaresOptions::default()).unwrap().consistent);
}

/// 0 = if x < −1 then 2 − x − 2 elseif x < 1 then 2 + x else 2 − x + 2.
struct Cyclic(f64);

impl PiecewiseSystem for Cyclic {
    fn n_bits(&self) -> usize {
        2
    }
    fn solve_locked(&mut self, bits: &[bool]) -> Result<(), LockedFailure> {
        self.0 = if bits[0] {
            0.0
        } else if bits[1] {
            -2.0
        } else {
            4.0
        };
        Ok(())
    }
    fn relations(&mut self, out: &mut [bool]) {
        out[0] = self.0 < -1.0;
        out[1] = self.0 < 1.0;
    }
}

#[test]
fn cyclic_mode_iteration_is_resolved() {
    for start in [[false, false], [false, true], [true, false], [true, true]] {
        for check_unique in [false, true] {
            let mut sys = Cyclic(f64::NAN);
            let opts = PiecewiseOptions { check_unique, ..Default::default() };
            match solve_piecewise(&mut sys, &start, &opts) {
                PiecewiseOutcome::Consistent { mode, .. } => assert_eq!(mode, [false, false]),
                other => panic!("{other:?}"),
            }
            assert_eq!(sys.0, 4.0);
        }
    }
}

/// Solves x with x_i = 0 where bit, A x = b elsewhere; the bit says x_i would be negative … as a lookup table.
struct Table(Vec<Option<usize>>, usize);

impl PiecewiseSystem for Table {
    fn n_bits(&self) -> usize {
        self.0.len().trailing_zeros() as usize
    }
    fn solve_locked(&mut self, bits: &[bool]) -> Result<(), LockedFailure> {
        let index = bits.iter().enumerate().map(|(k, b)| usize::from(*b) << k).sum::<usize>();
        self.1 = self.0[index].ok_or(LockedFailure)?;
        Ok(())
    }
    fn relations(&mut self, out: &mut [bool]) {
        for (k, b) in out.iter_mut().enumerate() {
            *b = self.1 >> k & 1 == 1;
        }
    }
}

#[test]
fn none_and_several_modes() {
    let none = Table(vec![Some(1), Some(3), Some(0), Some(2)], 0);
    match solve_piecewise(&mut { none }, &[false, false], &PiecewiseOptions::default()) {
        PiecewiseOutcome::NoConsistentMode { tried: 4, exhaustive: true, nearest: Some((_, v)), cycle } => {
            assert_eq!(v.len(), 1);
            assert_eq!(cycle.len(), 4);
        }
        other => panic!("{other:?}"),
    }
    let mut several = Table(vec![Some(0), Some(0), None, Some(3)], 0);
    let opts = PiecewiseOptions { check_unique: true, ..Default::default() };
    match solve_piecewise(&mut several, &[true, false], &opts) {
        PiecewiseOutcome::Several { modes, .. } => assert_eq!(modes, [vec![false, false], vec![true, true]]),
        other => panic!("{other:?}"),
    }
    assert_eq!(several.1, 0);
    let mut single = Table(vec![Some(0)], 7);
    assert!(matches!(
        solve_piecewise(&mut single, &[], &PiecewiseOptions::default()),
        PiecewiseOutcome::Consistent { iterations: 1, stage: Stage::Iteration, .. }
    ));
}

/// The complementarity problem w = Mz + q as a mode search: bit i means z_i is basic.
struct Complementarity {
    n: usize,
    m: Vec<f64>,
    q: Vec<f64>,
    z: Vec<f64>,
    w: Vec<f64>,
    bits: Vec<bool>,
}

impl PiecewiseSystem for Complementarity {
    fn n_bits(&self) -> usize {
        self.n
    }
    fn solve_locked(&mut self, bits: &[bool]) -> Result<(), LockedFailure> {
        let n = self.n;
        let mut a = vec![0.0; n * n];
        for j in 0..n {
            for i in 0..n {
                a[i + j * n] = if bits[i] { self.m[i + j * n] } else { f64::from(u8::from(i == j)) };
            }
        }
        let mut z: Vec<f64> = (0..n).map(|i| if bits[i] { -self.q[i] } else { 0.0 }).collect();
        let mut lu = dense::Lu::new();
        lu.factor(n, &a, &vec![1.0; n]).map_err(|_| LockedFailure)?;
        lu.solve(&mut z);
        self.w = (0..n).map(|i| self.q[i] + (0..n).map(|j| self.m[i + j * n] * z[j]).sum::<f64>()).collect();
        self.z = z;
        self.bits = bits.to_vec();
        Ok(())
    }
    fn relations(&mut self, out: &mut [bool]) {
        for i in 0..self.n {
            out[i] = if self.bits[i] { self.z[i] >= 0.0 } else { self.w[i] < 0.0 };
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Random P-matrix problems (diagonally dominant): the mode of the known solution is found from any start.
    #[test]
    fn piecewise_p_matrix(
        n in 1usize..24,
        seed in proptest::collection::vec(-1.0f64..1.0, 24 * 24),
        pattern in proptest::collection::vec((any::<bool>(), 0.1f64..5.0), 24),
        start in proptest::collection::vec(any::<bool>(), 24),
    ) {
        let mut m: Vec<f64> = seed[..n * n].to_vec();
        for i in 0..n {
            let off: f64 = (0..n).filter(|&j| j != i).map(|j| m[i + j * n].abs()).sum();
            m[i + i * n] = off + 0.5;
        }
        let z: Vec<f64> = pattern[..n].iter().map(|(b, v)| if *b { *v } else { 0.0 }).collect();
        let q: Vec<f64> = (0..n).map(|i| {
            let mz: f64 = (0..n).map(|j| m[i + j * n] * z[j]).sum();
            if pattern[i].0 { -mz } else { pattern[i].1 - mz }
        }).collect();
        let mut sys = Complementarity { n, m, q, z: vec![], w: vec![], bits: vec![] };
        let outcome = solve_piecewise(&mut sys, &start[..n], &PiecewiseOptions::default());
        let expected: Vec<bool> = pattern[..n].iter().map(|p| p.0).collect();
        prop_assert!(matches!(&outcome, PiecewiseOutcome::Consistent { mode, .. } if *mode == expected), "{:?}", outcome);
    }

    /// Random polynomial systems with a planted root and random magnitudes of unknowns and rows.
    #[test]
    fn newton_is_scale_free(
        n in 1usize..8,
        seed in proptest::collection::vec(-1.0f64..1.0, 64),
        root in proptest::collection::vec(0.5f64..2.0, 8),
        shift in proptest::collection::vec(-0.1f64..0.1, 8),
        columns in proptest::collection::vec(-9i32..9, 8),
        rows in proptest::collection::vec(-9i32..9, 8),
    ) {
        let scale: Vec<f64> = columns[..n].iter().map(|e| 10f64.powi(*e)).collect();
        let expected: Vec<f64> = (0..n).map(|j| root[j] * scale[j]).collect();
        let eval = {
            let (scale, rows, seed) = (scale.clone(), rows.clone(), seed.clone());
            move |z: &[f64], r: &mut [f64]| {
                for i in 0..n {
                    let mut s = 0.0;
                    for j in 0..n {
                        let x = z[j] / scale[j];
                        let a = seed[i * 8 + j] + if i == j { n as f64 } else { 0.0 };
                        s += a * (x + 0.1 * x * x);
                    }
                    r[i] = s * 10f64.powi(rows[i]);
                }
            }
        };
        let mut offset = vec![0.0; n];
        eval(&expected, &mut offset);
        let mut sys = FnSystem::new(n, |z: &[f64], r: &mut [f64]| {
            eval(z, r);
            for i in 0..n {
                r[i] -= offset[i];
            }
            Ok(())
        });
        let mut z: Vec<f64> = (0..n).map(|j| (root[j] + shift[j]) * scale[j]).collect();
        let report = newton(&mut sys, &mut z, &NewtonOptions::default(), &mut NewtonWork::new());
        prop_assert!(report.is_ok(), "{:?}", report);
        for j in 0..n {
            prop_assert!((z[j] - expected[j]).abs() < 1e-13 * scale[j] * n as f64, "{:?} {:?}", z, expected);
        }
    }
}
