//! Classical stiff problems and DAEs: correct digits of every method at several tolerances.

use saltus_solver::dae::{DaeBdf, DaeOptions, DaeSystem, Unknowns, initialize};
use saltus_solver::linear::Pattern;
use saltus_solver::ode::*;

type Field = Box<dyn Fn(f64, &[f64], &mut [f64])>;

/// x' = f(t, x) with what is known of its end.
pub struct Problem {
    /// Its name.
    pub name: &'static str,
    /// Where the reference comes from.
    pub source: &'static str,
    x0: Vec<f64>,
    t1: f64,
    f: Field,
    pattern: Option<Pattern>,
    /// Absolute tolerance of each component as a multiple of the relative one.
    scale: Vec<f64>,
    /// The first components at the end; empty: from a sharp run of Radau IIA.
    exact: Vec<f64>,
    methods: &'static [&'static str],
}

impl OdeSystem for Problem {
    fn dim(&self) -> usize {
        self.x0.len()
    }
    fn rhs(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
        (self.f)(t, x, dx);
        Ok(())
    }
    fn sparsity(&self) -> Option<&Pattern> {
        self.pattern.as_ref()
    }
}

/// Methods for stiff problems.
pub const STIFF: &[&str] = &["bdf", "lsoda", "radau", "esdirk", "rosenbrock"];
/// Methods for others.
pub const SMOOTH: &[&str] = &["lsoda", "dopri5", "tsit5", "rkf45", "rk4"];

const PUBLISHED: &str = "published";
const ANALYTIC: &str = "analytic";
const AGREED: &str = "Radau IIA and Rodas5P agree";

fn problem(name: &'static str, x0: &[f64], t1: f64, f: impl Fn(f64, &[f64], &mut [f64]) + 'static) -> Problem {
    Problem {
        name,
        source: AGREED,
        x0: x0.to_vec(),
        t1,
        f: Box::new(f),
        pattern: None,
        scale: vec![1.0; x0.len()],
        exact: Vec::new(),
        methods: STIFF,
    }
}

/// All ordinary differential equations.
pub fn problems() -> Vec<Problem> {
    let mut robertson = problem("Robertson, t = 1e11", &[1.0, 0.0, 0.0], 1e11, |_, x, d| {
        d[0] = -0.04 * x[0] + 1e4 * x[1] * x[2];
        d[2] = 3e7 * x[1] * x[1];
        d[1] = -d[0] - d[2];
    });
    robertson.exact = vec![2.083340149701255e-8, 8.333360770334713e-14, 0.999999979166505];
    robertson.scale = vec![1e-6, 1e-9, 1e-6];
    let mut oregonator = problem("Oregonator, t = 360", &[1.0, 2.0, 3.0], 360.0, |_, x, d| {
        d[0] = 77.27 * (x[1] + x[0] * (1.0 - 8.375e-6 * x[0] - x[1]));
        d[1] = (x[2] - (1.0 + x[0]) * x[1]) / 77.27;
        d[2] = 0.161 * (x[0] - x[2]);
    });
    oregonator.exact = vec![1.000814870318523, 1228.178521549917, 132.0554942846706];
    let mut pol = problem("van der Pol, ε = 1e-6, t = 2", &[2.0, 0.0], 2.0, |_, x, d| {
        d[0] = x[1];
        d[1] = ((1.0 - x[0] * x[0]) * x[1] - x[0]) / 1e-6;
    });
    pol.exact = vec![1.706167732170469, -8.928097010248125e-1];
    let start = [
        3.0, 3.0, -1.0, -3.0, 2.0, -2.0, 2.0, 3.0, -3.0, 2.0, 0.0, 0.0, -4.0, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.75, -1.5,
        0.0, 0.0, 0.0, -1.25, 1.0, 0.0, 0.0,
    ];
    let mut pleiades = problem("Pleiades, t = 3", &start, 3.0, |_, x, d| {
        d[..14].copy_from_slice(&x[14..]);
        for i in 0..7 {
            let (mut ax, mut ay) = (0.0, 0.0);
            for j in (0..7).filter(|&j| j != i) {
                let (dx, dy) = (x[j] - x[i], x[7 + j] - x[7 + i]);
                let r = (dx * dx + dy * dy).powf(1.5);
                ax += (j + 1) as f64 * dx / r;
                ay += (j + 1) as f64 * dy / r;
            }
            (d[14 + i], d[21 + i]) = (ax, ay);
        }
    });
    pleiades.exact = vec![
        0.3706139143971,
        3.237284092057,
        -3.222559032418,
        0.6597091455775,
        0.3425581707157,
        1.562172101401,
        -0.7003092922212,
    ];
    pleiades.methods = SMOOTH;
    for p in [&mut robertson, &mut oregonator, &mut pol, &mut pleiades] {
        p.source = PUBLISHED;
    }
    let hires = problem("HIRES, t = 321.8122", &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0057], 321.8122, |_, y, d| {
        d[0] = -1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + 0.0007;
        d[1] = 1.71 * y[0] - 8.75 * y[1];
        d[2] = -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4];
        d[3] = 8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3];
        d[4] = -1.745 * y[4] + 0.43 * y[5] + 0.43 * y[6];
        d[5] = -280.0 * y[5] * y[7] + 0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6];
        d[6] = 280.0 * y[5] * y[7] - 1.81 * y[6];
        d[7] = -d[6];
    });
    let mut e5 = problem("E5, t = 1e5", &[1.76e-3, 0.0, 0.0, 0.0], 1e5, |_, y, d| {
        let (a, b, mc, c) = (7.89e-10 * y[0], 1.1e7 * y[0] * y[2], 1.13e9 * y[1] * y[2], 1.13e3 * y[3]);
        (d[0], d[1], d[3]) = (-a - b, a - mc, b - c);
        d[2] = d[1] - d[3];
    });
    e5.scale = vec![1e-3, 1e-11, 1e-20, 1e-13];
    let mut kaps = problem("Kaps, ε = 1e-8, t = 2", &[1.0, 1.0], 2.0, |_, y, d| {
        d[0] = -(2.0 + 1e8) * y[0] + 1e8 * y[1] * y[1];
        d[1] = y[0] - y[1] * (1.0 + y[1]);
    });
    (kaps.exact, kaps.source) = (vec![(-4f64).exp(), (-2f64).exp()], ANALYTIC);
    let mut prothero = problem("Prothero–Robinson, λ = −1e6, t = 10", &[0.0], 10.0, |t, y, d| {
        d[0] = -1e6 * (y[0] - t.sin()) + t.cos();
    });
    (prothero.exact, prothero.source) = (vec![10f64.sin()], ANALYTIC);
    let n = 100;
    let mut brusselator = problem(
        "Brusselator on 100 nodes, t = 10",
        &(0..2 * n)
            .map(|k| {
                let x = (k / 2 + 1) as f64 / (n + 1) as f64;
                if k % 2 == 0 { 1.0 + (2.0 * std::f64::consts::PI * x).sin() } else { 3.0 }
            })
            .collect::<Vec<_>>(),
        10.0,
        move |_, y, d| {
            let c = 0.02 * ((n + 1) * (n + 1)) as f64;
            for i in 0..n {
                let at = |k: usize, edge: f64, j: usize| if k < n { y[2 * k + j] } else { edge };
                let (u, v) = (y[2 * i], y[2 * i + 1]);
                let (ul, vl) = (at(i.wrapping_sub(1), 1.0, 0), at(i.wrapping_sub(1), 3.0, 1));
                let (ur, vr) = (at(i + 1, 1.0, 0), at(i + 1, 3.0, 1));
                d[2 * i] = 1.0 + u * u * v - 4.0 * u + c * (ul - 2.0 * u + ur);
                d[2 * i + 1] = 3.0 * u - u * u * v + c * (vl - 2.0 * v + vr);
            }
        },
    );
    let entries = (0..n).flat_map(|i| {
        let own = [(2 * i, 2 * i), (2 * i, 2 * i + 1), (2 * i + 1, 2 * i), (2 * i + 1, 2 * i + 1)];
        let next = (i + 1 < n)
            .then(|| [(2 * i, 2 * i + 2), (2 * i + 1, 2 * i + 3), (2 * i + 2, 2 * i), (2 * i + 3, 2 * i + 1)]);
        own.into_iter().chain(next.into_iter().flatten())
    });
    brusselator.pattern = Some(Pattern::from_entries(2 * n, 2 * n, entries));
    vec![robertson, oregonator, pol, pleiades, hires, e5, kaps, prothero, brusselator]
}

/// End values of a problem by a method.
pub fn solve(p: &mut Problem, method: &str, rtol: f64) -> Result<(Vec<f64>, Stats), StepError> {
    let mut o = Options::new(p.dim(), rtol, rtol);
    o.atol.iter_mut().zip(&p.scale).for_each(|(a, s)| *a = rtol * s);
    let mut m = make_integrator(method, p.dim(), o).expect("a known method");
    let (x0, t1) = (p.x0.clone(), p.t1);
    m.restart(p, 0.0, &x0, Restart::Cold)?;
    while m.step(p, t1)? == StepOutcome::Step {}
    Ok((m.x().to_vec(), m.stats().clone()))
}

/// The reference, and by how many digits a second method agrees with it where it is ours.
pub fn reference(p: &mut Problem) -> Result<(Vec<f64>, Option<f64>), StepError> {
    if !p.exact.is_empty() {
        return Ok((p.exact.clone(), None));
    }
    let (a, _) = solve(p, "radau", 1e-12)?;
    let (b, _) = solve(p, "rosenbrock", 1e-10)?;
    let agree = digits(&b, &a);
    Ok((a, Some(agree)))
}

/// Correct digits of the worst component.
pub fn digits(x: &[f64], exact: &[f64]) -> f64 {
    let e = exact.iter().zip(x).map(|(e, x)| ((x - e) / e).abs()).fold(0.0, f64::max);
    -e.max(1e-16).log10()
}

// ---- DAEs: each has an ODE twin, which another method solves

/// Robertson's kinetics with its conservation law.
struct RobertsonDae;

impl DaeSystem for RobertsonDae {
    fn dim(&self) -> usize {
        3
    }
    fn residual(&mut self, _: f64, x: &[f64], p: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
        r[0] = p[0] + 0.04 * x[0] - 1e4 * x[1] * x[2];
        r[1] = p[1] - 0.04 * x[0] + 1e4 * x[1] * x[2] + 3e7 * x[1] * x[1];
        r[2] = x[0] + x[1] + x[2] - 1.0;
        Ok(())
    }
    fn is_differential(&self, i: usize) -> bool {
        i < 2
    }
    fn is_algebraic_equation(&self, i: usize) -> bool {
        i == 2
    }
}

/// The pendulum with its multiplier found from the acceleration: index 1.
struct Pendulum;

impl DaeSystem for Pendulum {
    fn dim(&self) -> usize {
        5
    }
    fn residual(&mut self, _: f64, x: &[f64], p: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
        let [px, py, u, v, l] = [x[0], x[1], x[2], x[3], x[4]];
        (r[0], r[1]) = (p[0] - u, p[1] - v);
        (r[2], r[3]) = (p[2] + l * px, p[3] + l * py + 9.81);
        r[4] = u * u + v * v - l * (px * px + py * py) - 9.81 * py;
        Ok(())
    }
    fn is_differential(&self, i: usize) -> bool {
        i < 4
    }
    fn is_algebraic_equation(&self, i: usize) -> bool {
        i == 4
    }
}

/// End values of the DAEs by name, with the reference.
pub fn dae(name: &str, rtol: f64) -> Result<(Vec<f64>, Vec<f64>), StepError> {
    let (sys, x0, t1, scale, exact): (Box<dyn DaeSystem>, Vec<f64>, f64, Vec<f64>, Vec<f64>) = match name {
        "pendulum" => {
            let mut twin = problem("pendulum", &[1.0, 0.0, 0.0, 0.0], 2.0, |_, x, d| {
                let l = (x[2] * x[2] + x[3] * x[3] - 9.81 * x[1]) / (x[0] * x[0] + x[1] * x[1]);
                (d[0], d[1], d[2], d[3]) = (x[2], x[3], -l * x[0], -l * x[1] - 9.81);
            });
            let exact = solve(&mut twin, "dopri5", 1e-13)?.0;
            (Box::new(Pendulum), vec![1.0, 0.0, 0.0, 0.0, 0.0], 2.0, vec![1.0; 5], exact)
        }
        _ => {
            let exact = vec![2.083340149701255e-8, 8.333360770334713e-14, 0.999999979166505];
            (Box::new(RobertsonDae), vec![1.0, 0.0, 0.0], 1e11, vec![1e-9, 1e-15, 1e-2], exact)
        }
    };
    let mut sys = sys;
    let n = x0.len();
    let mut o = Options::new(n, rtol, rtol);
    o.atol.iter_mut().zip(&scale).for_each(|(a, s)| *a = rtol * s);
    let o = DaeOptions::new(o);
    let (mut x, mut xp) = (x0, vec![0.0; n]);
    initialize(&mut *sys, 0.0, &mut x, &mut xp, Unknowns::DerivativesAndAlgebraic, &o).expect("consistent values");
    let mut m = DaeBdf::new(n, o);
    m.restart(&mut *sys, 0.0, &x, &xp, Restart::Cold)?;
    while m.step(&mut *sys, t1)? == StepOutcome::Step {}
    Ok((m.x().to_vec(), exact))
}

/// The DAEs by name.
pub const DAES: &[(&str, &str)] =
    &[("robertson", "Robertson as a DAE, t = 1e11"), ("pendulum", "pendulum of index 1, t = 2")];

/// Tolerances of the table.
pub const TOLERANCES: &[f64] = &[1e-4, 1e-6, 1e-8, 1e-10];

/// Digits against tolerance as a Markdown table: digits, and steps in brackets.
pub fn table() -> String {
    let mut text = String::from("| problem | reference | method |");
    TOLERANCES.iter().for_each(|t| text += &format!(" {t:.0e} |"));
    text += &format!("\n|---|---|---|{}\n", "---|".repeat(TOLERANCES.len()));
    for mut p in problems() {
        let (exact, agree) = match reference(&mut p) {
            Ok(r) => r,
            Err(e) => {
                text += &format!("| {} | {e} |\n", p.name);
                continue;
            }
        };
        let source = agree.map_or(p.source.to_string(), |d| format!("{} to {d:.0} digits", p.source));
        for method in p.methods {
            text += &format!("| {} | {source} | {method} |", p.name);
            for &tol in TOLERANCES {
                text += &match solve(&mut p, method, tol) {
                    Ok((x, s)) => format!(" {:.1} ({}) |", digits(&x, &exact), s.steps),
                    Err(_) => " – |".to_string(),
                };
            }
            text.push('\n');
        }
    }
    for (name, title) in DAES {
        text += &format!(
            "| {title} | {} | dae-bdf |",
            if *name == "pendulum" { "Dormand–Prince on the ODE" } else { PUBLISHED }
        );
        for &tol in TOLERANCES {
            text += &match dae(name, tol) {
                Ok((x, exact)) => format!(" {:.1} |", digits(&x, &exact)),
                Err(_) => " – |".to_string(),
            };
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_methods_agree_where_nothing_is_published() {
        for mut p in problems() {
            let (_, agree) = reference(&mut p).unwrap();
            assert!(agree.is_none_or(|d| d > 6.5), "{}: {agree:?}", p.name);
        }
    }

    #[test]
    fn digits_follow_the_tolerance() {
        for mut p in problems() {
            let (exact, _) = reference(&mut p).unwrap();
            for method in p.methods {
                let d: Vec<f64> = [1e-6, 1e-9]
                    .iter()
                    .map(|&tol| {
                        digits(&solve(&mut p, method, tol).unwrap_or_else(|e| panic!("{method}: {e}")).0, &exact)
                    })
                    .collect();
                println!("{} {method}: {d:?}", p.name);
                // Errors of single steps add up over long or sensitive problems, the more the higher the order.
                assert!(d[0] > 1.9 && d[1] > 4.2, "{} {method}: {d:?}", p.name);
            }
        }
        for (name, _) in DAES {
            for (tol, least) in [(1e-6, 4.0), (1e-9, 6.5)] {
                let (x, exact) = dae(name, tol).unwrap();
                assert!(digits(&x, &exact) > least, "{name} {tol:e}: {}", digits(&x, &exact));
            }
        }
    }

    /// Steps, failures and evaluations of two classical runs: a change that makes more of them must explain itself.
    #[test]
    fn step_statistics() {
        let all = problems();
        let mut seen = String::new();
        for mut p in all.into_iter().filter(|p| p.name.starts_with("Robertson") || p.name.starts_with("van der Pol")) {
            for method in STIFF {
                let s = solve(&mut p, method, 1e-6).unwrap().1;
                seen += &format!(
                    "{} {method}: {} steps, {} + {} rejected, {} evaluations, {} Jacobians, {} factorizations\n",
                    p.name.split(',').next().unwrap_or(""),
                    s.steps,
                    s.error_test_failures,
                    s.conv_failures,
                    s.rhs_evals,
                    s.jac_evals,
                    s.lu_factorizations
                );
            }
        }
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/step_statistics.txt");
        if std::env::var_os("UPDATE_STATISTICS").is_some() {
            std::fs::write(path, &seen).unwrap();
        }
        assert_eq!(seen, include_str!("step_statistics.txt"), "UPDATE_STATISTICS=1 writes the new numbers");
    }
}
