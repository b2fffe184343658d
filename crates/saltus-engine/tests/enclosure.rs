//! Crossing functions over a time interval and a box of states: what they give at points of the box lies in the enclosure.

use saltus_codegen::Tiered;
use saltus_engine::{Engine, Options};
use saltus_program::Interval;
use saltus_sim::Model;
use saltus_sim::enclosure::Enclosure;
use saltus_structure::{RowOps, SimplifyOptions, analyse_modes, lower, simplify};

/// Encloses every crossing function of a model around its start (states and time within `radius`), checks 200 points,
/// and that the enclosure is at most `wider` times as wide as what the points say.
fn check(name: &str, text: &str, radius: f64, wider: f64) {
    let path = std::env::temp_dir().join(format!("saltus-enclosure-{}-{name}.mo", std::process::id()));
    std::fs::write(&path, text).expect("a temporary file");
    let mut engine = Engine::new(Options::default());
    let model = engine.open(&path.to_string_lossy(), None).expect("opens");
    let dae = engine.flatten(&model).expect("flattens");
    let _ = std::fs::remove_file(&path);
    let mut sys = lower(dae);
    let mut ops = RowOps::default();
    simplify(&mut sys, &mut ops, SimplifyOptions::default());
    let modes = analyse_modes(&mut sys);
    let mut model = Model::new(sys, ops, modes, Box::new(Tiered::new())).expect("a model");
    let program = model.initialize(0.0).expect("initial values");
    assert!(!program.crossings.functions.is_empty());
    let m = &mut model.machine;
    let x0: Vec<f64> = program.states.iter().map(|s| m.values[s.0 as usize]).collect();
    let t = Interval::new(0.0, radius);
    let x: Vec<Interval> = x0.iter().map(|&x| Interval::around(x, radius)).collect();
    for (k, f) in program.crossings.functions.iter().enumerate() {
        let range = Enclosure::default().crossing(m, &program, k, t, &x);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for point in 0..200u64 {
            let place = |k: u64| (point.wrapping_mul(2654435761).wrapping_add(k * 40503) >> 3) % 1001;
            m.values[m.time as usize] = radius * place(0) as f64 / 1000.0;
            for (j, s) in program.states.iter().enumerate() {
                m.values[s.0 as usize] = x0[j] + radius * (place(j as u64 + 1) as f64 / 500.0 - 1.0);
            }
            m.run(&f.slice).expect("a point of the box");
            let mut g = [0.0];
            m.crossing_values(&[f.relation], &mut g);
            assert!(range.contains(g[0]), "{name}: {} not in {range}", g[0]);
            (low, high) = (low.min(g[0]), high.max(g[0]));
        }
        assert!(range.width() <= wider * (high - low), "{name}: {range} for [{low}, {high}]");
        m.values[m.time as usize] = 0.0;
        program.states.iter().zip(&x0).for_each(|(s, v)| m.values[s.0 as usize] = *v);
        m.run(&program.continuous).expect("the start");
    }
}

#[test]
fn explicit_functions() {
    check(
        "explicit",
        "model M Real x(start = 0.3, fixed = true), y(start = 2, fixed = true), z; Boolean b; equation
           z = sin(x)*y + time; der(x) = z; der(y) = -x; b = z^2 > 4*cos(y); end M;",
        0.1,
        2.5,
    );
}

#[test]
fn through_a_nonlinear_loop() {
    check(
        "loop",
        "model M Real x(start = 0.7, fixed = true), y(start = 1, fixed = true), u(start = 1), v; Boolean b; equation
           u + v^3 = x + 2; v - sin(u) = y; der(x) = u - v; der(y) = -u*y; b = u > 2*v; end M;",
        0.02,
        3.0,
    );
}

#[test]
fn through_a_linear_loop() {
    check(
        "linear",
        "model M Real x(start = 0.7, fixed = true), y(start = 1, fixed = true), a, b, c; Boolean d; equation
           a + x*b = 3; b - y*a + x*c = 2; c + 0.2*a = y; der(x) = a*b; der(y) = c - y; d = a*b > c; end M;",
        0.02,
        4.0,
    );
}

#[test]
fn through_a_function_with_a_loop_and_a_branch() {
    check(
        "function",
        "function f input Real u; input Integer n; output Real y; protected Real t; algorithm
           y := 1; t := 1; for i in 1:n loop t := t*u/i; y := y + t; end for;
           if u > 0.7 then y := y + (u - 0.7)^3; end if; end f;
         model M Real x(start = 0.7, fixed = true); Boolean b; equation
           der(x) = -x; b = f(x, 300) > 2; end M;",
        0.05,
        1.5,
    );
}
