//! Integrators on problems with known solutions.

use proptest::prelude::*;
use saltus_solver::ode::*;

/// A system from closures.
struct Sys<F> {
    n: usize,
    f: F,
}

impl<F: FnMut(f64, &[f64], &mut [f64])> OdeSystem for Sys<F> {
    fn dim(&self) -> usize {
        self.n
    }
    fn rhs(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
        (self.f)(t, x, dx);
        Ok(())
    }
}

fn sys(n: usize, f: impl FnMut(f64, &[f64], &mut [f64])) -> Sys<impl FnMut(f64, &[f64], &mut [f64])> {
    Sys { n, f }
}

fn run(name: &str, opts: Options, s: &mut dyn OdeSystem, t0: f64, x0: &[f64], t1: f64) -> Box<dyn Integrator> {
    let mut m = make_integrator(name, x0.len(), opts).unwrap();
    m.restart(s, t0, x0, Restart::Cold).unwrap();
    loop {
        match m.step(s, t1) {
            Ok(StepOutcome::Step) => {}
            Ok(StepOutcome::ReachedStop) => break,
            Err(e) => panic!("{name}: {e} {:?}", m.stats()),
        }
    }
    assert_eq!(m.t(), t1);
    m
}

/// A nonlinear problem that depends on time, with solution (cos t, e^{sin t}).
fn smooth() -> Sys<impl FnMut(f64, &[f64], &mut [f64])> {
    sys(2, |t, x, d| {
        d[0] = -t.sin() - (x[0] - t.cos()) * x[1];
        d[1] = x[1] * t.cos() + 0.5 * (x[0] * x[0] - t.cos() * t.cos());
    })
}

fn smooth_exact(t: f64) -> [f64; 2] {
    [t.cos(), t.sin().exp()]
}

/// Largest global error at mesh points and largest error of the dense output between mesh points, at a fixed step.
fn fixed_error(name: &str, h: f64) -> (f64, f64) {
    let mut o = Options::new(2, 1e-13, 1e-13);
    o.fixed_step = Some(h);
    let mut s = smooth();
    let mut m = make_integrator(name, 2, o).unwrap();
    m.restart(&mut s, 0.2, &smooth_exact(0.2), Restart::Cold).unwrap();
    let (mut mesh, mut dense) = (0.0f64, 0.0f64);
    let mut x = [0.0; 2];
    let mut p = Vec::new();
    loop {
        let out = m.step(&mut s, 4.2).unwrap();
        for th in [0.0, 0.3, 0.62, 0.9] {
            let t = m.t_prev() + th * (m.t() - m.t_prev());
            m.interpolate(t, &mut x);
            let e = smooth_exact(t);
            dense = dense.max((x[0] - e[0]).abs()).max((x[1] - e[1]).abs());
            m.polynomial(0, &mut p);
            assert!((saltus_solver::interp::horner(&p, th) - x[0]).abs() < 1e-11);
        }
        let e = smooth_exact(m.t());
        mesh = mesh.max((m.x()[0] - e[0]).abs()).max((m.x()[1] - e[1]).abs());
        if out == StepOutcome::ReachedStop {
            return (mesh, dense);
        }
    }
}

/// Error after one period of a Kepler orbit of eccentricity 0.3.
fn orbit_error(name: &str, steps: usize) -> f64 {
    let e: f64 = 0.3;
    let x0 = [1.0 - e, 0.0, 0.0, ((1.0 + e) / (1.0 - e)).sqrt()];
    let period = 2.0 * std::f64::consts::PI;
    let mut o = Options::new(4, 1e-13, 1e-13);
    o.fixed_step = Some(period / steps as f64);
    let mut s = sys(4, |_, x, d| {
        let r3 = (x[0] * x[0] + x[1] * x[1]).powf(1.5);
        d.copy_from_slice(&[x[2], x[3], -x[0] / r3, -x[1] / r3]);
    });
    let m = run(name, o, &mut s, 0.0, &x0, period);
    x0.iter().zip(m.x()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn observed_order_is_the_stated_one() {
    // name, order, order of dense output (global), coarse step
    let cases = [
        ("euler", 1.0, 1.0, 2e-2),
        ("backward-euler", 1.0, 1.0, 2e-2),
        ("modified-euler", 2.0, 2.0, 5e-2),
        ("midpoint", 2.0, 2.0, 5e-2),
        ("heun", 2.0, 2.0, 5e-2),
        ("trapezoid", 2.0, 2.0, 5e-2),
        ("rk4", 4.0, 4.0, 1e-1),
        ("ab2", 2.0, 2.0, 2e-2),
        ("ab3", 3.0, 3.0, 2e-2),
        ("ab4", 4.0, 4.0, 2e-2),
        ("milne", 4.0, 4.0, 4e-2),
        ("dopri5", 5.0, 5.0, 1e-1),
        ("tsit5", 5.0, 5.0, 1e-1),
        ("rkf45", 4.0, 4.0, 5e-2),
        ("radau", 5.0, 4.0, 2e-1),
        ("esdirk", 4.0, 4.0, 1e-1),
        ("rosenbrock", 5.0, 4.9, 2e-1),
    ];
    let mut bad = Vec::new();
    for (name, p, pd, h) in cases {
        let (e1, d1) = fixed_error(name, h);
        let (e2, d2) = fixed_error(name, h / 4.0);
        let (mut o, od) = ((e1 / e2).log2() / 2.0, (d1 / d2).log2() / 2.0);
        if ["dopri5", "tsit5"].contains(&name) {
            // Their leading error nearly vanishes on the smooth problem; an orbit shows it.
            o = (orbit_error(name, 400) / orbit_error(name, 800)).log2();
        }
        println!("{name:15} order {o:.3} dense {od:.3}  error {e2:.2e} {d2:.2e}");
        if (o - p).abs() > 0.2 || od < pd - 0.2 {
            bad.push((name, o, od));
        }
    }
    assert!(bad.is_empty(), "{bad:?}");
}

/// x' = −k (x − cos t) − sin t, whose solutions forget how they began: what is left is the error of the formula.
fn forgetful(k: f64) -> Sys<impl FnMut(f64, &[f64], &mut [f64])> {
    sys(1, move |t, x, d| d[0] = -k * (x[0] - t.cos()) - t.sin())
}

/// Largest error at mesh points and between them over the last third of a run with constant step and order.
fn settled_error(name: &str, order: usize, h: f64, k: f64) -> (f64, f64) {
    let mut o = Options::new(1, 1e-13, 1e-13);
    (o.fixed_step, o.max_order) = (Some(h), order);
    let mut s = forgetful(k);
    let mut m = make_integrator(name, 1, o).unwrap();
    m.restart(&mut s, 0.0, &[1.0], Restart::Cold).unwrap();
    let (mut mesh, mut dense, mut x) = (0.0f64, 0.0f64, [0.0]);
    while m.step(&mut s, 12.0).unwrap() == StepOutcome::Step {
        if m.t_prev() > 8.0 {
            assert_eq!(m.stats().last_order, order, "{name}");
            mesh = mesh.max((m.x()[0] - m.t().cos()).abs());
            for th in [0.25, 0.5, 0.75] {
                let t = m.t_prev() + th * (m.t() - m.t_prev());
                m.interpolate(t, &mut x);
                dense = dense.max((x[0] - t.cos()).abs());
            }
        }
    }
    (mesh, dense)
}

#[test]
fn every_order_of_the_multistep_methods_is_observed() {
    let mut bad = Vec::new();
    for (name, top, k) in [("bdf", 5, 20.0), ("dae", 5, 20.0)] {
        for order in 1..=top {
            let h = [0.02, 0.02, 0.04, 0.05, 0.05][order - 1];
            let ((e1, d1), (e2, d2)) = (settled_error(name, order, h, k), settled_error(name, order, 0.5 * h, k));
            let (p, q) = ((e1 / e2).log2(), (d1 / d2).log2());
            println!("{name} order {order}: {p:.3}, dense {q:.3} ({e2:.1e} {d2:.1e})");
            if (p - order as f64).abs() > 0.2 || q < order as f64 - 0.2 {
                bad.push((name, order, p, q));
            }
        }
    }
    assert!(bad.is_empty(), "{bad:?}");
}

#[test]
fn quantized_states_converge_with_the_quantum() {
    // The error is bounded by a multiple of the quantum, and steps grow with its square root: order 2.
    let mut runs = Vec::new();
    for tol in [1e-4, 1e-5, 1e-6] {
        let mut s = sys(2, |_, x, d| (d[0], d[1]) = (x[1], -x[0]));
        let m = run("qss", Options::new(2, tol, tol), &mut s, 0.0, &[1.0, 0.0], 10.0);
        let e = (m.x()[0] - 10f64.cos()).abs().max((m.x()[1] + 10f64.sin()).abs());
        runs.push((e, m.stats().steps as f64));
        assert!(e < 20.0 * tol, "{tol:e}: {e:e}");
    }
    let growth = (runs[2].1 / runs[0].1).log10() / 2.0;
    assert!((growth - 0.5).abs() < 0.1, "steps grow with power {growth} of the inverse tolerance");
}

#[test]
fn stability_at_the_imaginary_axis_and_at_infinity() {
    // |R(z)| for x' = λx with one step: A-stable on a grid of the left half plane, L-stable far out.
    for (name, far) in
        [("backward-euler", true), ("trapezoid", false), ("radau", true), ("esdirk", true), ("rosenbrock", true)]
    {
        let factor = |re: f64, im: f64| {
            let mut o = Options::new(2, 1e-12, 1e-12);
            o.fixed_step = Some(1.0);
            let mut s = sys(2, move |_, x, d| (d[0], d[1]) = (re * x[0] - im * x[1], im * x[0] + re * x[1]));
            let m = run(name, o, &mut s, 0.0, &[1.0, 0.0], 1.0);
            m.x()[0].hypot(m.x()[1])
        };
        for im in [0.0, 0.3, 1.0, 2.5, 6.0, 20.0, 100.0] {
            for re in [0.0, -0.1, -1.0, -5.0, -30.0] {
                let r = factor(re, im);
                assert!(r <= 1.0 + 1e-6, "{name}: |R({re} + {im}i)| = {r}");
            }
        }
        let r = factor(-1e8, 0.0);
        assert!(if far { r < 1e-5 } else { r > 0.99 }, "{name}: |R| far out is {r}");
    }
}

#[test]
fn growth_after_a_restart_is_seen() {
    // x' = k x starts on its unstable equilibrium, which moves: an implicit method with large steps would follow it.
    for name in ["radau", "esdirk", "rosenbrock", "bdf", "lsoda", "dae"] {
        let mut s = sys(2, |t, x, d| {
            d[0] = 1e4 * (x[0] - t).clamp(-1.0, 1.0);
            d[1] = -x[1];
        });
        let m = run(name, Options::new(2, 1e-5, 1e-7), &mut s, 0.0, &[0.0, 1.0], 0.5);
        assert!(m.x()[0] < -1.0, "{name}: {}", m.x()[0]);
    }
}

#[test]
fn dense_output_is_as_good_as_the_steps() {
    // A slow decay at a sharp tolerance: steps are long, what lies between them shows.
    for (name, times) in
        [("radau", 10.0), ("esdirk", 10.0), ("rosenbrock", 3.0), ("dopri5", 3.0), ("bdf", 30.0), ("dae", 30.0)]
    {
        let tol = 1e-7;
        let mut s = sys(1, |_, x, d| d[0] = -0.1 * (x[0] - 5.0));
        let mut m = make_integrator(name, 1, Options::new(1, tol, tol)).unwrap();
        m.restart(&mut s, 0.0, &[21.0], Restart::Cold).unwrap();
        let (mut worst, mut x) = (0.0f64, [0.0]);
        while m.step(&mut s, 20.0).unwrap() == StepOutcome::Step {
            for th in [0.25, 0.5, 0.75] {
                let t = m.t_prev() + th * (m.t() - m.t_prev());
                m.interpolate(t, &mut x);
                let exact = 5.0 + 16.0 * (-0.1 * t).exp();
                worst = worst.max((x[0] - exact).abs() / exact);
            }
        }
        println!("{name}: {worst:.1e} in {} steps", m.stats().steps);
        assert!(worst < times * tol, "{name}: {worst:e}");
    }
}

#[test]
fn dense_output_follows_layers_and_settled_components() {
    // x is put beside cos t by an amount far above the tolerance and comes back within 1/λ, while y moves slowly: a step may go
    // over that, what lies between its ends must not tell of it later.
    for name in ["radau", "esdirk", "rosenbrock"] {
        for (lambda, tol) in [(1e3, 1e-5), (1e4, 1e-6), (1e5, 1e-7), (1e7, 1e-6)] {
            let mut s = sys(2, |t, x, d| {
                d[0] = -lambda * (x[0] - t.cos()) - t.sin();
                d[1] = x[0] - t.cos() - t.sin();
            });
            let mut m = make_integrator(name, 2, Options::new(2, tol, tol)).unwrap();
            let off = 1e3 * tol;
            m.restart(&mut s, 0.0, &[1.0 + off, 1.0], Restart::Cold).unwrap();
            let (mut worst, mut x) = (0.0f64, [0.0; 2]);
            while m.step(&mut s, 3.0).unwrap() == StepOutcome::Step {
                for th in 1..20 {
                    let t = m.t_prev() + th as f64 / 20.0 * (m.t() - m.t_prev());
                    m.interpolate(t, &mut x);
                    worst = worst.max((x[0] - t.cos() - off * (-lambda * t).exp()).abs());
                }
            }
            println!("{name} {lambda:.0e} {tol:.0e}: {:.1} in {} steps", worst / tol, m.stats().steps);
            assert!(worst < 150.0 * tol, "{name} λ = {lambda:e}: {worst:e}");
        }
    }
}

#[test]
fn a_step_taken_again_has_the_dense_output_of_its_length() {
    for name in ["radau", "esdirk"] {
        let tol = 1e-6;
        let mut s = smooth();
        let mut m = make_integrator(name, 2, Options::new(2, tol, tol)).unwrap();
        m.restart(&mut s, 0.0, &smooth_exact(0.0), Restart::Cold).unwrap();
        let (mut worst, mut x) = (0.0f64, [0.0; 2]);
        for _ in 0..12 {
            m.step(&mut s, 10.0).unwrap();
            let begin = m.t_prev();
            assert!(m.retake(&mut s, begin + 0.5 * (m.t() - begin)));
            for th in 1..10 {
                let t = begin + th as f64 / 10.0 * (m.t() - begin);
                m.interpolate(t, &mut x);
                worst = worst.max((x[0] - t.cos()).abs());
            }
        }
        println!("{name}: {:.2}", worst / tol);
        assert!(worst < 1.0 * tol, "{name}: {worst:e}");
    }
}

const ADAPTIVE: &[&str] = &[
    "bdf",
    "dae",
    "lsoda",
    "radau",
    "esdirk",
    "rosenbrock",
    "dopri5",
    "tsit5",
    "rkf45",
    "euler",
    "modified-euler",
    "midpoint",
    "heun",
    "rk4",
    "backward-euler",
    "trapezoid",
];

#[test]
fn tolerance_is_kept_and_dense_output_agrees() {
    for name in ADAPTIVE {
        for tol in [1e-4, 1e-7] {
            if tol < 1e-5 && ["euler", "backward-euler"].contains(name) {
                continue;
            }
            let mut s = smooth();
            let mut m = make_integrator(name, 2, Options::new(2, tol, tol)).unwrap();
            m.restart(&mut s, 0.0, &smooth_exact(0.0), Restart::Cold).unwrap();
            let (mut x, mut d, mut worst, mut worst_d) = ([0.0; 2], [0.0; 2], 0.0f64, 0.0f64);
            while {
                let out = m.step(&mut s, 10.0).unwrap();
                for th in [0.0, 0.25, 0.5, 0.75, 1.0] {
                    let t = m.t_prev() + th * (m.t() - m.t_prev());
                    m.interpolate(t, &mut x);
                    m.interpolate_derivative(t, &mut d);
                    worst = worst.max((x[0] - t.cos()).abs());
                    worst_d = worst_d.max((d[0] + t.sin()).abs());
                }
                out == StepOutcome::Step
            } {}
            println!("{name:15} {tol:.0e}: {worst:.2e} {worst_d:.2e} {:?}", m.stats());
            assert!(worst < 100.0 * tol, "{name} {tol:e}: {worst:e}");
            assert!(worst_d < 3e3 * tol + 0.3 * tol.powf(0.33), "{name} {tol:e}: derivative {worst_d:e}");
        }
    }
}

fn robertson() -> Sys<impl FnMut(f64, &[f64], &mut [f64])> {
    sys(3, |_, x, d| {
        d[0] = -0.04 * x[0] + 1e4 * x[1] * x[2];
        d[2] = 3e7 * x[1] * x[1];
        d[1] = -d[0] - d[2];
    })
}

fn oregonator() -> Sys<impl FnMut(f64, &[f64], &mut [f64])> {
    sys(3, |_, x, d| {
        d[0] = 77.27 * (x[1] + x[0] * (1.0 - 8.375e-6 * x[0] - x[1]));
        d[1] = (x[2] - (1.0 + x[0]) * x[1]) / 77.27;
        d[2] = 0.161 * (x[0] - x[2]);
    })
}

fn van_der_pol() -> Sys<impl FnMut(f64, &[f64], &mut [f64])> {
    sys(2, |_, x, d| {
        d[0] = x[1];
        d[1] = ((1.0 - x[0] * x[0]) * x[1] - x[0]) / 1e-6;
    })
}

fn pleiades() -> Sys<impl FnMut(f64, &[f64], &mut [f64])> {
    sys(28, |_, x, d| {
        d[..14].copy_from_slice(&x[14..]);
        for i in 0..7 {
            let (mut ax, mut ay) = (0.0, 0.0);
            for j in 0..7 {
                if i != j {
                    let (dx, dy) = (x[j] - x[i], x[7 + j] - x[7 + i]);
                    let r = (dx * dx + dy * dy).powf(1.5);
                    ax += (j + 1) as f64 * dx / r;
                    ay += (j + 1) as f64 * dy / r;
                }
            }
            d[14 + i] = ax;
            d[21 + i] = ay;
        }
    })
}

const PLEIADES_START: [f64; 28] = [
    3.0, 3.0, -1.0, -3.0, 2.0, -2.0, 2.0, 3.0, -3.0, 2.0, 0.0, 0.0, -4.0, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.75, -1.5,
    0.0, 0.0, 0.0, -1.25, 1.0, 0.0, 0.0,
];
const PLEIADES_END: [f64; 7] = [
    0.3706139143971,
    3.237284092057,
    -3.222559032418,
    0.6597091455775,
    0.3425581707157,
    1.562172101401,
    -0.7003092922212,
];

/// Largest error relative to the reference values.
fn relative_error(x: &[f64], exact: &[f64]) -> f64 {
    exact.iter().zip(x).map(|(e, x)| ((x - e) / e).abs()).fold(0.0, f64::max)
}

#[test]
fn robertson_to_1e11() {
    for (name, tol, bound) in [
        ("bdf", 1e-7, 1e-4),
        ("lsoda", 1e-7, 1e-4),
        ("radau", 1e-6, 1e-4),
        ("esdirk", 1e-6, 2e-4),
        ("rosenbrock", 1e-6, 1e-4),
    ] {
        let mut o = Options::new(3, tol, 1e-6 * tol);
        o.atol[1] = 1e-9 * tol;
        let m = run(name, o, &mut robertson(), 0.0, &[1.0, 0.0, 0.0], 1e11);
        let e = relative_error(m.x(), &[2.083340149701255e-8, 8.333360770334713e-14, 0.999999979166505]);
        println!("{name}: {e:.2e} {:?}", m.stats());
        assert!(e < bound, "{name}: {e:e}");
    }
}

#[test]
fn oregonator_to_360() {
    for name in ["bdf", "lsoda", "radau", "esdirk", "rosenbrock"] {
        let m = run(name, Options::new(3, 1e-7, 1e-7), &mut oregonator(), 0.0, &[1.0, 2.0, 3.0], 360.0);
        let e = relative_error(m.x(), &[1.000814870318523, 1228.178521549917, 132.0554942846706]);
        println!("{name}: {e:.2e} {:?}", m.stats());
        assert!(e < 3e-4, "{name}: {e:e}");
    }
}

#[test]
fn van_der_pol_to_2() {
    for name in ["bdf", "lsoda", "radau", "esdirk", "rosenbrock"] {
        let m = run(name, Options::new(2, 1e-7, 1e-7), &mut van_der_pol(), 0.0, &[2.0, 0.0], 2.0);
        let e = relative_error(m.x(), &[1.706167732170469, -8.928097010248125e-1]);
        println!("{name}: {e:.2e} {:?}", m.stats());
        assert!(e < 1e-4, "{name}: {e:e}");
    }
}

#[test]
fn pleiades_to_3() {
    for (name, tol) in [
        ("dopri5", 1e-9),
        ("tsit5", 1e-9),
        ("rkf45", 1e-9),
        ("lsoda", 1e-10),
        ("bdf", 1e-10),
        ("rk4", 1e-9),
        ("radau", 1e-9),
    ] {
        let m = run(name, Options::new(28, tol, tol), &mut pleiades(), 0.0, &PLEIADES_START, 3.0);
        let e = relative_error(m.x(), &PLEIADES_END);
        println!("{name}: {e:.2e} {:?}", m.stats());
        assert!(e < 1e-4, "{name}: {e:e}");
    }
}

#[test]
fn stiff_methods_damp_what_is_infinitely_stiff() {
    // L-stability: a transient of rate 1e9 is gone after one large step. The trapezoidal rule is only A-stable.
    for name in ["backward-euler", "radau", "esdirk", "rosenbrock", "bdf"] {
        let mut o = Options::new(1, 1e-3, 1e-3);
        o.fixed_step = Some(0.1);
        let m = run(name, o, &mut sys(1, |t, x, d| d[0] = -1e9 * (x[0] - t.cos()) - t.sin()), 0.0, &[2.0], 1.0);
        assert!((m.x()[0] - 1f64.cos()).abs() < 1e-4, "{name}: {}", m.x()[0]);
    }
    let mut o = Options::new(1, 1e-3, 1e-3);
    o.fixed_step = Some(0.1);
    o.rtol = 1e-10;
    o.atol[0] = 1e-10;
    let m = run("trapezoid", o, &mut sys(1, |_, x, d| d[0] = -1e9 * x[0]), 0.0, &[2.0], 1.0);
    assert!(m.x()[0].abs() <= 2.0 + 1e-9 && m.x()[0].abs() > 1.9);
}

#[test]
fn no_states_and_constant_derivatives() {
    for name in INTEGRATORS {
        let m = run(name, Options::new(0, 1e-6, 1e-6), &mut sys(0, |_, _, _| {}), 0.0, &[], 3.0);
        assert_eq!((m.stats().steps, m.t_prev()), (1, 0.0), "{name}");
        let mut o = Options::new(0, 1e-6, 1e-6);
        o.h_max = 1.0;
        assert_eq!(run(name, o, &mut sys(0, |_, _, _| {}), 0.0, &[], 3.0).stats().steps, 3, "{name}");
        let mut o = Options::new(2, 1e-6, 1e-6);
        if ["ab2", "ab3", "ab4", "milne"].contains(name) {
            o.fixed_step = Some(0.1);
        }
        let m = run(name, o, &mut sys(2, |_, _, d| (d[0], d[1]) = (0.0, 2.0)), 1.0, &[5.0, 0.0], 101.0);
        assert!((m.x()[1] - 200.0).abs() < 1e-6 && m.x()[0] == 5.0, "{name}: {:?}", m.x());
        println!("{name}: constant derivative {} steps", m.stats().steps);
        assert!(m.stats().steps < 60 || m.options().fixed_step.is_some(), "{name}: {} steps", m.stats().steps);
    }
}

#[test]
fn not_a_number_names_time_and_component() {
    for name in INTEGRATORS {
        let mut o = Options::new(2, 1e-6, 1e-6);
        if ["ab2", "ab3", "ab4", "milne"].contains(name) {
            o.fixed_step = Some(0.01);
        }
        let mut s = sys(2, |t, _, d| {
            d[0] = 1.0;
            d[1] = if t < 0.5 { 1.0 } else { f64::NAN };
        });
        let mut m = make_integrator(name, 2, o).unwrap();
        m.restart(&mut s, 0.0, &[0.0, 0.0], Restart::Cold).unwrap();
        let e = loop {
            match m.step(&mut s, 1.0) {
                Ok(o) => assert_eq!(o, StepOutcome::Step),
                Err(e) => break e,
            }
        };
        let StepError::NonFinite { t, component } = e else { panic!("{name}: {e}") };
        assert!((t - 0.5).abs() < 1e-6 && component == 1, "{name}: {e}");
        assert!((m.x()[0] - m.t()).abs() < 1e-6, "{name}: state of the last accepted step");
    }
}

#[test]
fn outside_the_domain_the_step_is_cut() {
    struct Root;
    impl OdeSystem for Root {
        fn dim(&self) -> usize {
            1
        }
        fn rhs(&mut self, _: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
            if x[0] < 0.0 {
                return Err(EvalError::Domain);
            }
            dx[0] = -x[0].sqrt() + 0.01;
            Ok(())
        }
    }
    for name in ["bdf", "dae", "lsoda", "radau", "esdirk", "rosenbrock", "dopri5", "tsit5", "rkf45", "rk4"] {
        let mut o = Options::new(1, 1e-4, 1e-8);
        o.h_init = Some(5.0);
        let m = run(name, o, &mut Root, 0.0, &[1.0], 30.0);
        assert!((m.x()[0] - 1e-4).abs() < 1e-4, "{name}: {}", m.x()[0]);
    }
}

#[test]
fn stop_times_are_met_exactly_without_tiny_steps() {
    for name in ADAPTIVE {
        let mut s = smooth();
        let mut m = make_integrator(name, 2, Options::new(2, 1e-5, 1e-5)).unwrap();
        m.restart(&mut s, 0.0, &smooth_exact(0.0), Restart::Cold).unwrap();
        let mut stop = 0.0;
        for k in 1..=20 {
            stop += 0.1 + 0.01 * k as f64;
            while m.step(&mut s, stop).unwrap() == StepOutcome::Step {}
            assert_eq!(m.t(), stop);
        }
        assert!((m.x()[0] - stop.cos()).abs() < 5e-3, "{name}: {:e}", m.x()[0] - stop.cos());
        // Asking again for a time already reached is no step.
        assert_eq!(m.step(&mut s, stop).unwrap(), StepOutcome::ReachedStop);
    }
}

#[test]
fn restarts_keep_what_they_promise() {
    for name in ADAPTIVE {
        let mut steps = Vec::new();
        for kind in [Restart::Cold, Restart::Warm, Restart::Hot] {
            let mut s = smooth();
            let mut m = make_integrator(name, 2, Options::new(2, 1e-4, 1e-4)).unwrap();
            m.restart(&mut s, 0.0, &smooth_exact(0.0), Restart::Cold).unwrap();
            let mut te = 1.0;
            let mut x = [0.0; 2];
            while te < 9.0 {
                while m.t() < te {
                    m.step(&mut s, 10.0).unwrap();
                }
                // An "event" inside the last step at which nothing jumps.
                m.interpolate(te, &mut x);
                m.restart(&mut s, te, &x, kind).unwrap();
                assert_eq!((m.t(), m.t_prev(), m.x()), (te, te, &x[..]));
                te += 1.0;
            }
            while m.step(&mut s, 10.0).unwrap() == StepOutcome::Step {}
            assert!((m.x()[0] - 10f64.cos()).abs() < 2e-2, "{name} {kind:?}: {:e}", m.x()[0] - 10f64.cos());
            steps.push(m.stats().steps);
        }
        println!("{name}: steps cold/warm/hot {steps:?}");
        assert!(steps[2] <= steps[0] + 2, "{name}: {steps:?}");
    }
}

#[test]
fn event_dense_relaxation() {
    // 100 jumps of a stiff relaxation: one-step methods should need far fewer steps than a multistep one.
    let mut counts = Vec::new();
    for name in ["bdf", "esdirk", "rosenbrock", "radau"] {
        let mut target = 1.0;
        let mut m = make_integrator(name, 2, Options::new(2, 1e-4, 1e-6)).unwrap();
        let mut x = [0.0, 0.0];
        for k in 0..100 {
            let mut s = sys(2, move |_, x, d| {
                d[0] = 1e3 * (target - x[0]);
                d[1] = x[0] - x[1];
            });
            m.restart(&mut s, k as f64, &x, if k == 0 { Restart::Cold } else { Restart::Warm }).unwrap();
            while m.step(&mut s, k as f64 + 1.0).unwrap() == StepOutcome::Step {}
            x.copy_from_slice(m.x());
            target = -target;
        }
        println!("{name}: {:?}", m.stats());
        counts.push(m.stats().steps);
    }
    assert!(counts[1] < counts[0], "{counts:?}");
}

#[test]
fn bounds_are_kept() {
    // A decay whose numerical solution would swing below zero at loose tolerance.
    for name in ["bdf", "lsoda", "radau", "esdirk", "rosenbrock", "dopri5", "rk4"] {
        let mut s = sys(1, |t, x, d| d[0] = -200.0 * x[0] * (1.0 + t));
        let mut o = Options::new(1, 1e-2, 1e-4);
        o.bounds = vec![(0.0, 1.0)];
        let mut m = make_integrator(name, 1, o).unwrap();
        m.restart(&mut s, 0.0, &[1.0], Restart::Cold).unwrap();
        while m.step(&mut s, 1.0).unwrap() == StepOutcome::Step {
            assert!(m.x()[0] >= 0.0 && m.x()[0] <= 1.0, "{name}: {} at {}", m.x()[0], m.t());
        }
        assert!(m.x()[0] < 1e-3);
    }
}

#[test]
fn work_limit() {
    let mut o = Options::new(2, 1e-8, 1e-8);
    o.max_steps = 10;
    let mut s = smooth();
    let mut m = make_integrator("bdf", 2, o).unwrap();
    m.restart(&mut s, 0.0, &smooth_exact(0.0), Restart::Cold).unwrap();
    let e = loop {
        if let Err(e) = m.step(&mut s, 100.0) {
            break e;
        }
    };
    assert!(matches!(e, StepError::TooMuchWork { .. }));
    assert!(m.stats().steps >= 8 && m.stats().steps <= 10);
}

#[test]
fn sparse_reaction_diffusion() {
    // Brusselator in one dimension, 400 unknowns, tridiagonal blocks, coloured differences.
    const N: usize = 200;
    struct Brusselator(Pattern);
    impl OdeSystem for Brusselator {
        fn dim(&self) -> usize {
            2 * N
        }
        fn rhs(&mut self, _: f64, x: &[f64], d: &mut [f64]) -> Result<(), EvalError> {
            let c = 0.02 * ((N + 1) * (N + 1)) as f64;
            for i in 0..N {
                let at = |k: isize, v: usize, edge: f64| {
                    let j = i as isize + k;
                    if j < 0 || j >= N as isize { edge } else { x[2 * j as usize + v] }
                };
                let (u, v) = (x[2 * i], x[2 * i + 1]);
                d[2 * i] = 1.0 + u * u * v - 4.0 * u + c * (at(-1, 0, 1.0) - 2.0 * u + at(1, 0, 1.0));
                d[2 * i + 1] = 3.0 * u - u * u * v + c * (at(-1, 1, 3.0) - 2.0 * v + at(1, 1, 3.0));
            }
            Ok(())
        }
        fn sparsity(&self) -> Option<&Pattern> {
            Some(&self.0)
        }
    }
    let entries = (0..2 * N).flat_map(|i| {
        let (lo, hi) = (i.saturating_sub(2), (i + 3).min(2 * N));
        (lo..hi).chain([i ^ 1]).map(move |j| (i, j))
    });
    let p = Pattern::from_entries(2 * N, 2 * N, entries);
    let x0: Vec<f64> = (0..2 * N)
        .map(|k| {
            if k % 2 == 0 {
                1.0 + (2.0 * std::f64::consts::PI * (k / 2 + 1) as f64 / (N + 1) as f64).sin()
            } else {
                3.0
            }
        })
        .collect();
    let mut ends: Vec<Vec<f64>> = Vec::new();
    for name in ["bdf", "radau", "esdirk", "rosenbrock", "lsoda"] {
        let m = run(name, Options::new(2 * N, 1e-6, 1e-6), &mut Brusselator(p.clone()), 0.0, &x0, 10.0);
        println!("{name}: {:?}", m.stats());
        ends.push(m.x().to_vec());
    }
    for e in &ends[1..] {
        let d = ends[0].iter().zip(e).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(d < 2e-4, "{d:e}");
    }
}

/// exp(A) x by scaling and Taylor series.
fn expm_apply(a: &[Vec<f64>], t: f64, x: &[f64]) -> Vec<f64> {
    let norm = a.iter().map(|r| r.iter().map(|v| v.abs()).sum::<f64>()).fold(0.0, f64::max) * t;
    let pieces = norm.ceil().max(1.0) as usize;
    let h = t / pieces as f64;
    let mut x = x.to_vec();
    for _ in 0..pieces {
        let (mut term, mut sum) = (x.clone(), x.clone());
        for k in 1..30 {
            let next: Vec<f64> =
                a.iter().map(|r| r.iter().zip(&term).map(|(a, v)| a * v).sum::<f64>() * h / k as f64).collect();
            term = next;
            sum.iter_mut().zip(&term).for_each(|(s, t)| *s += t);
        }
        x = sum;
    }
    x
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..Default::default() })]
    #[test]
    fn stable_linear_systems_against_the_exponential(n in 1usize..6, entries in prop::collection::vec(-1.0f64..1.0, 36), stiff in 0.0f64..3.0) {
        // Gershgorin: rows dominated by a negative diagonal are stable.
        let a: Vec<Vec<f64>> = (0..n).map(|i| {
            let scale = 10f64.powf(stiff * i as f64 / n as f64);
            let mut r: Vec<f64> = (0..n).map(|j| scale * entries[i * 6 + j]).collect();
            let s: f64 = r.iter().map(|v| v.abs()).sum();
            r[i] = -s - 0.1;
            r
        }).collect();
        let x0: Vec<f64> = (0..n).map(|i| 1.0 + entries[i * 6 + 5]).collect();
        let exact = expm_apply(&a, 2.0, &x0);
        for name in ["bdf", "dae", "lsoda", "radau", "esdirk", "rosenbrock", "dopri5", "tsit5", "rkf45", "rk4", "trapezoid"] {
            let mut s = sys(n, |_, x, d| for (d, r) in d.iter_mut().zip(&a) { *d = r.iter().zip(x).map(|(a, x)| a * x).sum() });
            let m = run(name, Options::new(n, 1e-6, 1e-8), &mut s, 0.0, &x0, 2.0);
            // The difference of one step and two halves vanishes by accident at some hλ (once in 50,000 systems or so).
            let bound = if name == "rk4" { 1e-3 } else { 1e-4 };
            for (x, e) in m.x().iter().zip(&exact) {
                prop_assert!((x - e).abs() < bound, "{}: {} {}", name, x, e);
            }
        }
    }
}

/// Diffusion with a source on m × m × m nodes.
struct Cube {
    m: usize,
    pattern: Pattern,
}

impl Cube {
    fn new(m: usize) -> Cube {
        let n = m * m * m;
        let mut c = Cube { m, pattern: Pattern::full(1) };
        let mut entries: Vec<(usize, usize)> = (0..n).map(|i| (i, i)).collect();
        for i in 0..n {
            entries.extend(c.neighbours(i).map(|j| (i, j)));
        }
        c.pattern = Pattern::from_entries(n, n, entries);
        c
    }
    fn neighbours(&self, i: usize) -> impl Iterator<Item = usize> + use<> {
        let m = self.m;
        let at = [i / (m * m), i / m % m, i % m];
        let stride = [m * m, m, 1];
        (0..3).flat_map(move |d| {
            let below = (at[d] > 0).then(|| i - stride[d]);
            let above = (at[d] + 1 < m).then(|| i + stride[d]);
            below.into_iter().chain(above)
        })
    }
}

impl OdeSystem for Cube {
    fn dim(&self) -> usize {
        self.m.pow(3)
    }
    fn rhs(&mut self, _: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
        for i in 0..x.len() {
            let flow: f64 = self.neighbours(i).map(|j| x[j] - x[i]).sum();
            dx[i] = 50.0 * flow + x[i] * (1.0 - x[i]);
        }
        Ok(())
    }
    fn sparsity(&self) -> Option<&Pattern> {
        Some(&self.pattern)
    }
}

#[test]
fn gmres_takes_the_steps_that_factors_take() {
    let m = 8;
    let x0: Vec<f64> = (0..m * m * m).map(|i| if i < 100 { 1.0 } else { 0.01 }).collect();
    for name in ["bdf", "dae", "radau", "esdirk", "rosenbrock", "backward-euler"] {
        let at = |linear: Linear| {
            let mut o = Options::new(m * m * m, 1e-5, 1e-8);
            o.linear = linear;
            let i = run(name, o, &mut Cube::new(m), 0.0, &x0, 2.0);
            (i.x().to_vec(), i.stats().clone())
        };
        let ((x, stats), (y, direct)) = (at(Linear::Gmres), at(Linear::Direct));
        let apart = x.iter().zip(&y).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        println!(
            "{name}: {apart:.1e}, {} steps and {} products, {} steps",
            stats.steps, stats.krylov_iters, direct.steps
        );
        assert!(apart < 2e-5, "{name}: {apart:e}");
        assert!(stats.krylov_iters > 0 && direct.krylov_iters == 0, "{name}");
        assert!(stats.steps < direct.steps + direct.steps / 4 + 10, "{name}: {} {}", stats.steps, direct.steps);
    }
}

#[test]
fn a_fixed_step_that_is_too_large_is_told() {
    for name in ["euler", "modified-euler", "midpoint", "heun", "rk4", "ab2", "ab3", "ab4", "milne"] {
        let mut o = Options::new(2, 1e-6, 1e-6);
        o.fixed_step = Some(0.1);
        let mut s = sys(2, |t, x, d| (d[0], d[1]) = (t.cos(), -40.0 * (x[1] - x[0])));
        let mut m = make_integrator(name, 2, o).unwrap();
        m.restart(&mut s, 0.0, &[0.0, 0.1], Restart::Cold).unwrap();
        let e = loop {
            match m.step(&mut s, 50.0) {
                Ok(StepOutcome::Step) => {}
                Ok(_) => panic!("{name} was stable"),
                Err(e) => break e,
            }
        };
        assert!(matches!(e, StepError::Unstable { component: 1, .. }), "{name}: {e}");
        assert!(m.t() < 12.0, "{name}: seen at {} only", m.t());
        // What really grows, and stable steps, are left alone.
        for (rate, h) in [(3.0, 0.02), (-20.0, 0.005)] {
            let mut o = Options::new(1, 1e-6, 1e-6);
            o.fixed_step = Some(h);
            run(name, o, &mut sys(1, move |_, x, d| d[0] = rate * x[0]), 0.0, &[1.0], 4.0);
        }
    }
}

#[test]
fn quantized_states_see_kinks_without_events() {
    // x' = |sin t| and a state that is driven through a threshold by another one.
    let mut s = sys(3, |t, x, d| {
        d[0] = t.sin().abs();
        d[1] = 1.0;
        d[2] = (x[1] - 3.0).max(0.0);
    });
    for tol in [1e-3, 1e-4] {
        let m = run("qss", Options::new(3, tol, tol), &mut s, 0.0, &[0.0, 0.0, 0.0], 10.0);
        let exact = [6.0 + 1.0 - (10.0 - 3.0 * std::f64::consts::PI).cos(), 10.0, 24.5];
        for (i, e) in exact.iter().enumerate() {
            assert!((m.x()[i] - e).abs() < 30.0 * tol * e.abs(), "{i}: {} {e} at {tol:e}", m.x()[i]);
        }
        assert!(m.stats().steps < 4000, "{}", m.stats().steps);
    }
}

#[test]
fn a_stop_one_rounding_ahead_is_reached() {
    let t0 = 0.09999999999999999;
    for name in INTEGRATORS {
        let mut o = Options::new(1, 1e-6, 1e-6);
        o.fixed_step = FIXED_STEP.contains(name).then_some(0.01);
        let mut s = sys(1, |t, x, dx| dx[0] = -1e5 * (x[0] - (50.0 * t).sin()));
        let m = run(name, o, &mut s, t0, &[1.0], 0.1);
        assert!((m.x()[0] - 1.0).abs() < 1e-9, "{name}: {}", m.x()[0]);
    }
}
