//! Random piecewise-linear systems with known solutions, all of them solved from random guesses: 500 with P-matrices and up to
//! 16 kinks (the solution is unique), 500 of any kind with at most 12 kinks (some solution exists).

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use saltus_engine::{Engine, EngineKind, Options};
use saltus_sim::{ModeMethod, StartOptions};
use std::fmt::Write as _;

/// Σ_j P_ij max(x_j, 0) - N_ij max(-x_j, 0) = b_i.
#[derive(Debug, Clone)]
struct Kinked {
    positive: Vec<Vec<f64>>,
    negative: Vec<Vec<f64>>,
    solution: Vec<f64>,
    guess: Vec<f64>,
}

impl Kinked {
    fn left(&self, x: &[f64]) -> Vec<f64> {
        let n = x.len();
        (0..n)
            .map(|i| (0..n).map(|j| self.positive[i][j] * x[j].max(0.0) - self.negative[i][j] * (-x[j]).max(0.0)).sum())
            .collect()
    }

    fn modelica(&self) -> String {
        let n = self.solution.len();
        let b = self.left(&self.solution);
        let mut s = String::from("model M\n");
        for i in 0..n {
            let _ = writeln!(s, "  Real x{i}(start = {:?});", self.guess[i]);
            let _ = writeln!(s, "  Real p{i};\n  Real n{i};");
        }
        s.push_str("equation\n");
        for i in 0..n {
            let _ = writeln!(s, "  p{i} = if x{i} > 0 then x{i} else 0;\n  n{i} = if x{i} > 0 then 0 else -x{i};");
            let terms: Vec<String> = (0..n)
                .map(|j| format!("({:?})*p{j} - ({:?})*n{j}", self.positive[i][j], self.negative[i][j]))
                .collect();
            let _ = writeln!(s, "  {} = {:?};", terms.join(" + "), b[i]);
        }
        s.push_str("end M;\n");
        s
    }

    fn solve(&self, name: &str) -> Result<Vec<f64>, String> {
        self.solve_by(name, &StartOptions::default())
    }

    fn solve_by(&self, name: &str, options: &StartOptions) -> Result<Vec<f64>, String> {
        let path = std::env::temp_dir().join(format!("saltus-{name}-{}.mo", std::process::id()));
        std::fs::write(&path, self.modelica()).map_err(|e| e.to_string())?;
        let mut engine = Engine::new(Options { engine: EngineKind::Interpreter, ..Options::default() });
        let model = engine.open(&path.to_string_lossy(), None).ok_or("open")?;
        let mut bench = engine.workbench(&model).ok_or_else(|| format!("{:?}", engine.diagnostics))?;
        let solved = bench.solve(&mut engine, options, None);
        let _ = std::fs::remove_file(&path);
        if !solved.is_some_and(|s| s.found) {
            return Err(engine.diagnostics.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("\n"));
        }
        Ok((0..self.solution.len())
            .map(|i| bench.scenario.entries[bench.find(&format!("x{i}")).unwrap()].value.unwrap())
            .collect())
    }
}

fn matrix(n: usize) -> impl Strategy<Value = Vec<Vec<f64>>> {
    prop::collection::vec(prop::collection::vec(-1.0..1.0f64, n), n)
}

fn vector(n: usize) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-3.0..3.0f64, n)
}

fn runner(cases: u32) -> TestRunner {
    TestRunner::new(Config {
        cases,
        rng_seed: RngSeed::Fixed(20_081_116),
        failure_persistence: None,
        max_shrink_iters: 0,
        ..Config::default()
    })
}

/// Positive definite symmetric part: every principal minor is positive.
fn p_matrix(a: &[Vec<f64>], skew: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = a.len();
    (0..n)
        .map(|i| {
            (0..n)
                .map(|j| {
                    let gram: f64 = (0..n).map(|k| a[i][k] * a[j][k]).sum();
                    gram + (skew[i][j] - skew[j][i]) + if i == j { 0.1 } else { 0.0 }
                })
                .collect()
        })
        .collect()
}

#[test]
fn p_matrices_with_up_to_16_kinks() {
    let strategy = (1usize..=16).prop_flat_map(|n| (matrix(n), matrix(n), vector(n), vector(n)));
    runner(500)
        .run(&strategy, |(a, skew, solution, guess)| {
            let n = solution.len();
            let identity: Vec<Vec<f64>> =
                (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
            let k = Kinked { positive: p_matrix(&a, &skew), negative: identity, solution, guess };
            let x = k.solve("p").map_err(TestCaseError::fail)?;
            for (x, y) in x.iter().zip(&k.solution) {
                prop_assert!((x - y).abs() < 1e-6 * (1.0 + y.abs()), "{x} for {y}");
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn any_matrices_with_at_most_12_kinks() {
    let strategy = (1usize..=12).prop_flat_map(|n| (matrix(n), matrix(n), vector(n), vector(n)));
    runner(500)
        .run(&strategy, |(positive, negative, solution, guess)| {
            let k = Kinked { positive, negative, solution, guess };
            let x = k.solve("g").map_err(TestCaseError::fail)?;
            for (l, r) in k.left(&x).iter().zip(k.left(&k.solution)) {
                prop_assert!((l - r).abs() < 1e-6 * (1.0 + r.abs()), "{l} is not {r}");
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn every_way_to_find_a_mode_works_alone() {
    // With P-matrices there is one solution; pivoting and search must find it, the others may fail now and then.
    let strategy = (2usize..=6).prop_flat_map(|n| (matrix(n), matrix(n), vector(n), vector(n)));
    for (method, least) in
        [(ModeMethod::Pivoting, 60), (ModeMethod::Semismooth, 58), (ModeMethod::Homotopy, 50), (ModeMethod::Search, 60)]
    {
        let solved = std::cell::Cell::new(0);
        runner(60)
            .run(&strategy, |(a, skew, solution, guess)| {
                let n = solution.len();
                let identity: Vec<Vec<f64>> =
                    (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
                let k = Kinked { positive: p_matrix(&a, &skew), negative: identity, solution, guess };
                let options = StartOptions { modes: vec![method], ..StartOptions::default() };
                if let Ok(x) = k.solve_by("alone", &options) {
                    solved.set(solved.get() + 1);
                    for (x, y) in x.iter().zip(&k.solution) {
                        prop_assert!((x - y).abs() < 1e-6 * (1.0 + y.abs()), "{method:?}: {x} for {y}");
                    }
                }
                Ok(())
            })
            .unwrap();
        println!("{method:?}: {} of 60", solved.get());
        assert!(solved.get() >= least, "{method:?}: {} of 60", solved.get());
    }
}
