//! The DAE integrator and consistent initialization.

use proptest::prelude::*;
use saltus_solver::dae::*;
use saltus_solver::ode::{
    EvalError, Implicit, ImplicitSystem, Integrator, JacobianMatrix, OdeSystem, Options, Pattern, Restart, StepError,
    StepOutcome,
};

struct Sys<F> {
    differential: Vec<bool>,
    f: F,
}

impl<F: FnMut(f64, &[f64], &[f64], &mut [f64])> DaeSystem for Sys<F> {
    fn dim(&self) -> usize {
        self.differential.len()
    }
    fn residual(&mut self, t: f64, x: &[f64], xp: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
        (self.f)(t, x, xp, r);
        Ok(())
    }
    fn is_differential(&self, i: usize) -> bool {
        self.differential[i]
    }
    fn is_algebraic_equation(&self, i: usize) -> bool {
        !self.differential[i]
    }
}

/// Equation i is algebraic exactly where variable i is.
fn sys(
    differential: &[bool],
    f: impl FnMut(f64, &[f64], &[f64], &mut [f64]),
) -> Sys<impl FnMut(f64, &[f64], &[f64], &mut [f64])> {
    Sys { differential: differential.to_vec(), f }
}

fn run(opts: DaeOptions, s: &mut dyn DaeSystem, t0: f64, x0: &[f64], xp0: &[f64], t1: f64) -> DaeBdf {
    let mut m = DaeBdf::new(x0.len(), opts);
    m.restart(s, t0, x0, xp0, Restart::Cold).unwrap();
    loop {
        match m.step(s, t1) {
            Ok(StepOutcome::Step) => {}
            Ok(StepOutcome::ReachedStop) => break,
            Err(e) => panic!("{e} {:?}", m.stats()),
        }
    }
    assert_eq!(m.t(), t1);
    m
}

/// Robertson with the conservation law in place of the third rate.
fn robertson() -> Sys<impl FnMut(f64, &[f64], &[f64], &mut [f64])> {
    sys(&[true, true, false], |_, x, xp, r| {
        let (a, b) = (0.04 * x[0], 1e4 * x[1] * x[2]);
        r[0] = xp[0] + a - b;
        r[1] = xp[1] - a + b + 3e7 * x[1] * x[1];
        r[2] = x[0] + x[1] + x[2] - 1.0;
    })
}

#[test]
fn robertson_as_a_dae() {
    for exclude in [false, true] {
        let mut o = Options::new(3, 1e-7, 1e-13);
        o.atol[1] = 1e-16;
        let mut o = DaeOptions::new(o);
        o.exclude_algebraic = exclude;
        let (mut x, mut xp) = ([1.0, 0.0, 0.3], [0.0; 3]);
        initialize(&mut robertson(), 0.0, &mut x, &mut xp, Unknowns::DerivativesAndAlgebraic, &o).unwrap();
        assert!((xp[0] + 0.04).abs() < 1e-9 && (xp[1] - 0.04).abs() < 1e-9 && x[2].abs() < 1e-9, "{x:?} {xp:?}");
        let m = run(o, &mut robertson(), 0.0, &x, &xp, 1e11);
        println!("{:?}", m.stats());
        for (x, e) in m.x().iter().zip([2.083340149701255e-8, 8.333360770334713e-14, 0.999999979166505]) {
            assert!(((x - e) / e).abs() < 1e-4, "{x:e} {e:e}");
        }
    }
}

#[test]
fn initialization_problems() {
    // x' + y = 0, x² + y² = 25.
    let mut s = sys(&[true, false], |_, x, xp, r| {
        r[0] = xp[0] + x[1];
        r[1] = x[0] * x[0] + x[1] * x[1] - 25.0;
    });
    let o = DaeOptions::new(Options::new(2, 1e-8, 1e-10));
    let (mut x, mut xp) = ([3.0, 1.0], [0.0, 0.0]);
    initialize(&mut s, 0.0, &mut x, &mut xp, Unknowns::DerivativesAndAlgebraic, &o).unwrap();
    assert!((x[1] - 4.0).abs() < 1e-8 && (xp[0] + 4.0).abs() < 1e-8 && x[0] == 3.0);
    let (mut x, mut xp) = ([1.0, 1.0], [-3.0, 0.0]);
    initialize(&mut s, 0.0, &mut x, &mut xp, Unknowns::States, &o).unwrap();
    assert!((x[1] - 3.0).abs() < 1e-8 && (x[0] - 4.0).abs() < 1e-8 && xp == [-3.0, 0.0], "{x:?}");
    // Far guesses need damping.
    let mut s = sys(&[false], |_, x, _, r| r[0] = x[0].atan());
    let o = DaeOptions::new(Options::new(1, 1e-8, 1e-10));
    let (mut x, mut xp) = ([20.0], [0.0]);
    initialize(&mut s, 0.0, &mut x, &mut xp, Unknowns::States, &o).unwrap();
    assert!(x[0].abs() < 1e-8);
    // An index-2 system has no such Jacobian.
    let mut s = sys(&[true, false], |_, x, xp, r| {
        r[0] = xp[0] + x[1];
        r[1] = x[0];
    });
    let o = DaeOptions::new(Options::new(2, 1e-8, 1e-10));
    let e = initialize(&mut s, 0.0, &mut [0.0; 2], &mut [0.0; 2], Unknowns::DerivativesAndAlgebraic, &o).unwrap_err();
    assert!(matches!(e, InitError::Singular { component: 1 }), "{e}");
}

/// x₀' = −x₁ + …, x₁ = e^{…}: solution (cos t, sin t, cos t · sin t).
fn smooth() -> Sys<impl FnMut(f64, &[f64], &[f64], &mut [f64])> {
    sys(&[true, true, false], |t, x, xp, r| {
        r[0] = xp[0] + x[1] + (x[2] - t.cos() * t.sin());
        r[1] = xp[1] - x[0] + (x[1] - t.sin());
        r[2] = x[2] + 0.3 * x[2].powi(3) - x[0] * x[1] - 0.3 * (x[0] * x[1]).powi(3);
    })
}

fn smooth_exact(t: f64) -> ([f64; 3], [f64; 3]) {
    let (s, c) = t.sin_cos();
    ([c, s, s * c], [-s, c, c * c - s * s])
}

#[test]
fn tolerance_and_dense_output() {
    for tol in [1e-4, 1e-6, 1e-8] {
        let mut s = smooth();
        let mut m = DaeBdf::new(3, DaeOptions::new(Options::new(3, tol, tol)));
        let (x0, xp0) = smooth_exact(0.0);
        m.restart(&mut s, 0.0, &x0, &xp0, Restart::Cold).unwrap();
        let (mut x, mut d, mut p, mut worst) = ([0.0; 3], [0.0; 3], Vec::new(), 0.0f64);
        while {
            let out = m.step(&mut s, 10.0).unwrap();
            for th in [0.0, 0.3, 0.7, 1.0] {
                let t = m.t_prev() + th * (m.t() - m.t_prev());
                m.interpolate(t, &mut x);
                m.interpolate_derivative(t, &mut d);
                let (e, ep) = smooth_exact(t);
                for i in 0..3 {
                    worst = worst.max((x[i] - e[i]).abs());
                    assert!((d[i] - ep[i]).abs() < 500.0 * tol.powf(0.8), "{tol:e} {i}: {:e}", d[i] - ep[i]);
                    m.polynomial(i, &mut p);
                    assert!((saltus_solver::interp::horner(&p, th) - x[i]).abs() < 1e-10);
                }
            }
            out == StepOutcome::Step
        } {}
        println!("{tol:.0e}: {worst:.2e} {:?}", m.stats());
        assert!(worst < 60.0 * tol, "{tol:e}: {worst:e}");
    }
}

#[test]
fn stop_times_and_restarts() {
    let mut counts = Vec::new();
    for kind in [Restart::Cold, Restart::Warm, Restart::Hot] {
        let mut s = smooth();
        let mut m = DaeBdf::new(3, DaeOptions::new(Options::new(3, 1e-5, 1e-5)));
        let (x0, xp0) = smooth_exact(0.0);
        m.restart(&mut s, 0.0, &x0, &xp0, Restart::Cold).unwrap();
        let (mut x, mut xp) = ([0.0; 3], [0.0; 3]);
        for k in 1..9 {
            let te = k as f64;
            while m.t() < te {
                m.step(&mut s, 10.0).unwrap();
            }
            m.interpolate(te, &mut x);
            m.interpolate_derivative(te, &mut xp);
            m.restart(&mut s, te, &x, &xp, kind).unwrap();
            assert_eq!((m.t(), m.x()), (te, &x[..]));
        }
        while m.step(&mut s, 10.0).unwrap() == StepOutcome::Step {}
        assert_eq!(m.t(), 10.0);
        assert!((m.x()[0] - 10f64.cos()).abs() < 5e-3, "{kind:?} {:e}", m.x()[0] - 10f64.cos());
        counts.push(m.stats().steps);
    }
    println!("steps cold/warm/hot {counts:?}");
    assert!(counts[2] < counts[0]);
}

#[test]
fn failures_are_named() {
    let mut s = sys(&[true, true], |t, _, xp, r| {
        r[0] = xp[0] - 1.0;
        r[1] = if t < 0.5 { xp[1] - 1.0 } else { f64::NAN };
    });
    let mut m = DaeBdf::new(2, DaeOptions::new(Options::new(2, 1e-6, 1e-6)));
    m.restart(&mut s, 0.0, &[0.0, 0.0], &[1.0, 1.0], Restart::Cold).unwrap();
    let e = loop {
        if let Err(e) = m.step(&mut s, 1.0) {
            break e;
        }
    };
    let StepError::NonFinite { t, component: 1 } = e else { panic!("{e}") };
    assert!((t - 0.5).abs() < 1e-6);
    assert!((m.x()[0] - m.t()).abs() < 1e-9 && (m.xp()[0] - 1.0).abs() < 1e-6);
}

#[test]
fn sparse_circuit_ladder() {
    // A ladder of resistors and capacitors: node voltages differential, branch currents algebraic.
    const N: usize = 300;
    struct Ladder(Pattern);
    impl DaeSystem for Ladder {
        fn dim(&self) -> usize {
            2 * N
        }
        fn residual(&mut self, t: f64, x: &[f64], xp: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
            for k in 0..N {
                let before = if k == 0 { t.sin() } else { x[k - 1] };
                let next = if k + 1 < N { x[N + k + 1] } else { 0.0 };
                r[k] = 1e-3 * xp[k] - x[N + k] + next;
                r[N + k] = before - x[k] - x[N + k] - 0.1 * x[N + k].powi(3);
            }
            Ok(())
        }
        fn jacobian(
            &mut self,
            _: f64,
            x: &[f64],
            _: &[f64],
            cj: f64,
            jac: &mut JacobianMatrix,
        ) -> Result<bool, EvalError> {
            for k in 0..N {
                jac.set(k, k, 1e-3 * cj);
                jac.set(k, N + k, -1.0);
                if k + 1 < N {
                    jac.set(k, N + k + 1, 1.0);
                    jac.set(N + k + 1, k, 1.0);
                }
                jac.set(N + k, k, -1.0);
                jac.set(N + k, N + k, -1.0 - 0.3 * x[N + k] * x[N + k]);
            }
            Ok(true)
        }
        fn sparsity(&self) -> Option<&Pattern> {
            Some(&self.0)
        }
        fn is_differential(&self, i: usize) -> bool {
            i < N
        }
        fn is_algebraic_equation(&self, i: usize) -> bool {
            i >= N
        }
    }
    /// The same without its Jacobian.
    struct Plain(Ladder);
    impl DaeSystem for Plain {
        fn dim(&self) -> usize {
            2 * N
        }
        fn residual(&mut self, t: f64, x: &[f64], xp: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
            self.0.residual(t, x, xp, r)
        }
        fn sparsity(&self) -> Option<&Pattern> {
            self.0.sparsity()
        }
        fn is_differential(&self, i: usize) -> bool {
            i < N
        }
    }
    let entries = (0..N).flat_map(|k| {
        [(k, k), (k, N + k), (N + k, k), (N + k, N + k)]
            .into_iter()
            .chain((k + 1 < N).then_some([(k, N + k + 1), (N + k + 1, k)]).into_iter().flatten())
    });
    let p = Pattern::from_entries(2 * N, 2 * N, entries);
    let o = DaeOptions::new(Options::new(2 * N, 1e-6, 1e-8));
    let mut ends = Vec::new();
    let systems: [Box<dyn DaeSystem>; 2] = [Box::new(Ladder(p.clone())), Box::new(Plain(Ladder(p)))];
    for mut s in systems {
        let (mut x, mut xp) = (vec![0.0; 2 * N], vec![0.0; 2 * N]);
        initialize(&mut *s, 0.0, &mut x, &mut xp, Unknowns::DerivativesAndAlgebraic, &o).unwrap();
        let m = run(o.clone(), &mut *s, 0.0, &x, &xp, 20.0);
        println!("{:?}", m.stats());
        ends.push(m.x().to_vec());
    }
    let d = ends[0].iter().zip(&ends[1]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(d < 1e-5, "{d:e}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..Default::default() })]
    /// M x' = K x in mixed coordinates with one algebraic variable; reduced to x₀' = A x₀ with the exponential known.
    #[test]
    fn stable_linear_daes(l1 in 0.1f64..50.0, l2 in 0.1f64..5.0, m in -0.9f64..0.9, c in 0.2f64..3.0) {
        // u' = -l1 u, v' = -l2 v, seen through x = u + m v, y = v; z = c (x + y).
        let mut s = sys(&[true, true, false], |_, x, xp, r| {
            let (u, du) = (x[0] - m * x[1], xp[0] - m * xp[1]);
            r[0] = du + l1 * u + (x[2] - c * (x[0] + x[1]));
            r[1] = xp[1] + l2 * x[1] + 0.5 * (du + l1 * u);
            r[2] = x[2] - c * (x[0] + x[1]);
        });
        let o = DaeOptions::new(Options::new(3, 1e-6, 1e-8));
        let (mut x, mut xp) = ([1.0 + m, 1.0, 0.0], [0.0; 3]);
        initialize(&mut s, 0.0, &mut x, &mut xp, Unknowns::DerivativesAndAlgebraic, &o).unwrap();
        let mm = run(o, &mut s, 0.0, &x, &xp, 2.0);
        let (u, v) = ((-2.0 * l1).exp(), (-2.0 * l2).exp());
        let e = [u + m * v, v, c * (u + m * v + v)];
        for i in 0..3 {
            prop_assert!((mm.x()[i] - e[i]).abs() < 3e-4, "{} {} {}", i, mm.x()[i], e[i]);
        }
    }
    /// P [x' − A x; y − C x] = 0 with A stable, P well-conditioned and n, m random, against exp(tA).
    #[test]
    fn mixed_linear_daes_against_the_exponential(
        n in 1usize..5, m in 0usize..4, entries in prop::collection::vec(-1.0f64..1.0, 128), stiff in 0.0f64..2.5,
    ) {
        let size = n + m;
        let a: Vec<Vec<f64>> = (0..n).map(|i| {
            let scale = 10f64.powf(stiff * i as f64 / n as f64);
            let mut r: Vec<f64> = (0..n).map(|j| scale * entries[i * 4 + j]).collect();
            // Rows dominated by a negative diagonal are stable (Gershgorin).
            r[i] = -r.iter().map(|v| v.abs()).sum::<f64>() - 0.1;
            r
        }).collect();
        let c = |i: usize, j: usize| entries[20 + i * 4 + j];
        // I + N with ‖N‖ < 1/2.
        let p = |i: usize, j: usize| f64::from(i == j) + 0.5 / size as f64 * entries[40 + i * 8 + j];
        let dot = |r: &[f64], x: &[f64]| r.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
        let differential: Vec<bool> = (0..size).map(|i| i < n).collect();
        let mut s = sys(&differential, |_, x, xp, r| {
            let plain: Vec<f64> = (0..size)
                .map(|i| match i.checked_sub(n) {
                    None => xp[i] - dot(&a[i], x),
                    Some(k) => x[i] - (0..n).map(|j| c(k, j) * x[j]).sum::<f64>(),
                })
                .collect();
            for i in 0..size {
                r[i] = (0..size).map(|j| p(i, j) * plain[j]).sum();
            }
        });
        let x0: Vec<f64> = (0..n).map(|i| 1.0 + entries[i * 4 + 3]).collect();
        let (mut x, mut xp) = (vec![0.0; size], vec![0.0; size]);
        x[..n].copy_from_slice(&x0);
        let o = DaeOptions::new(Options::new(size, 1e-6, 1e-8));
        initialize(&mut s, 0.0, &mut x, &mut xp, Unknowns::DerivativesAndAlgebraic, &o).unwrap();
        let found = run(o, &mut s, 0.0, &x, &xp, 2.0);
        // exp(2A) x0 by scaling and Taylor series.
        let norm = a.iter().map(|r| r.iter().map(|v| v.abs()).sum::<f64>()).fold(0.0, f64::max);
        let pieces = (2.0 * norm).ceil().max(1.0);
        let mut e = x0.clone();
        for _ in 0..pieces as usize {
            let (mut term, mut sum) = (e.clone(), e.clone());
            for k in 1..30 {
                term = a.iter().map(|r| dot(r, &term) * 2.0 / pieces / f64::from(k)).collect();
                sum.iter_mut().zip(&term).for_each(|(s, t)| *s += t);
            }
            e = sum;
        }
        for i in 0..size {
            let exact = i.checked_sub(n).map_or_else(|| e[i], |k| (0..n).map(|j| c(k, j) * e[j]).sum());
            prop_assert!((found.x()[i] - exact).abs() < 3e-4, "{} {} {}", i, found.x()[i], exact);
        }
    }
}

/// x' = −x, or x' = y, y = −x, as long as that is offered.
struct TwoForms {
    offered: bool,
}

impl OdeSystem for TwoForms {
    fn dim(&self) -> usize {
        1
    }
    fn rhs(&mut self, _t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
        dx[0] = -x[0];
        Ok(())
    }
    fn implicit(&mut self) -> Option<&mut dyn ImplicitSystem> {
        if self.offered { Some(self) } else { None }
    }
}

impl DaeSystem for TwoForms {
    fn dim(&self) -> usize {
        2
    }
    fn residual(&mut self, _t: f64, z: &[f64], zp: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
        (r[0], r[1]) = (zp[0] - z[1], z[1] + z[0]);
        Ok(())
    }
    fn is_differential(&self, i: usize) -> bool {
        i == 0
    }
}

impl ImplicitSystem for TwoForms {
    fn consistent(&mut self, _t: f64, x: &[f64], z: &mut [f64], zp: &mut [f64]) -> Result<(), EvalError> {
        z.copy_from_slice(&[x[0], -x[0]]);
        zp.copy_from_slice(&[-x[0], 0.0]);
        Ok(())
    }
    fn nominal(&self, _i: usize) -> f64 {
        1.0
    }
}

#[test]
fn a_form_offered_between_restarts_waits_for_the_next() {
    let mut s = TwoForms { offered: false };
    let mut m = Implicit::new(1, Options::new(1, 1e-8, 1e-10));
    m.restart(&mut s, 0.0, &[1.0], Restart::Cold).unwrap();
    s.offered = true;
    while m.step(&mut s, 1.0).unwrap() == StepOutcome::Step {}
    assert!((m.x()[0] - (-1f64).exp()).abs() < 1e-6);
    let x = m.x().to_vec();
    m.restart(&mut s, 1.0, &x, Restart::Cold).unwrap();
    while m.step(&mut s, 2.0).unwrap() == StepOutcome::Step {}
    assert!((m.x()[0] - (-2f64).exp()).abs() < 1e-6);
}
