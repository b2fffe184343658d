//! Compiling a model again compiles only what is new.

use saltus_engine::{Engine, Options};
use saltus_results::MemorySink;
use saltus_sim::{Quiet, RunOptions};

const MODEL: &str = "model Oscillator
  parameter Real k = 1;
  Real x(start = 1, fixed = true);
  Real v(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -k*x - 0.1*v*abs(v);
end Oscillator;
model M
  Oscillator a(k = 2);
  Oscillator b(k = 3, x(start = 2));
  Real e;
equation
  e = a.x*b.x;
end M;
model Other
  extends M;
  Real f = sin(e)/(2 + a.v^2);
end Other;";

/// Evaluates a model often enough for everything to be compiled; the number of kernels compiled so far.
fn compile(e: &mut Engine, model: &str) -> usize {
    let dae = e.flatten(model).unwrap();
    e.evaluation_times(dae, 10, || 0.0, &mut || 0.0).unwrap();
    e.compiled()
}

#[test]
fn a_parameter_recompiles_nothing() {
    let file = std::env::temp_dir().join(format!("saltus-cache-{}.mo", std::process::id()));
    std::fs::write(&file, MODEL).unwrap();
    let mut e = Engine::new(Options::default());
    e.open(file.to_str().unwrap(), Some("M")).unwrap();
    let first = compile(&mut e, "M");
    assert!(first > 0);
    e.options.overrides = vec![("a.k".into(), "5".into())];
    assert_eq!(compile(&mut e, "M"), first, "a parameter has changed");
    e.options.overrides = Vec::new();
    assert!(compile(&mut e, "Other") > first, "there is a new equation");
}

#[test]
fn more_cells_compile_no_more_code() {
    let text = "model Rod
  parameter Integer n = 50;
  parameter Real a = 2;
  Real T[n](each start = 1, each fixed = true);
  Real q[n - 1];
equation
  for i in 1:n - 1 loop q[i] = a*(T[i] - T[i + 1])^3; end for;
  der(T[1]) = -q[1];
  for i in 2:n - 1 loop der(T[i]) = q[i - 1] - q[i]; end for;
  der(T[n]) = q[n - 1];
end Rod;";
    let file = std::env::temp_dir().join(format!("saltus-rod-{}.mo", std::process::id()));
    std::fs::write(&file, text).unwrap();
    let kernels = |n: &str| {
        let mut e = Engine::new(Options { overrides: vec![("n".into(), n.into())], ..Options::default() });
        e.open(file.to_str().unwrap(), Some("Rod")).unwrap();
        compile(&mut e, "Rod")
    };
    // With fewer cells the Jacobian is kept, and start values are too few to be worth compiling.
    let few = kernels("1000");
    assert!(few > 0);
    assert_eq!(few, kernels("5000"));
}

/// The library of a model before and after one of its classes was edited.
fn library(spring: &str) -> String {
    format!(
        "class Spring {spring} end Spring;
class Tank
  Real h(start = 1, fixed = true);
equation
  der(h) = -0.3*h/(1 + h^2);
end Tank;
model Both Spring s[20]; Tank t[20]; end Both;
model Springs Spring s[20]; end Springs;"
    )
}

#[test]
fn another_class_recompiles_its_own_templates() {
    let spring = "Real x(start = 1, fixed = true); Real v(start = 0, fixed = true); equation der(x) = v; der(v) = ";
    let file = std::env::temp_dir().join(format!("saltus-classes-{}.mo", std::process::id()));
    let write = |rest: &str| std::fs::write(&file, library(&format!("{spring} {rest}"))).unwrap();
    let read = |e: &mut Engine| e.open(file.to_str().unwrap(), Some("Both")).unwrap();
    write("-x;");
    let mut e = Engine::new(Options::default());
    read(&mut e);
    let before = compile(&mut e, "Both");
    write("-x - 0.1*v*sqrt(1 + v^2);");
    // The same process with the class edited: machine code of what has not changed is found again.
    let mut edited = e.with_new_sources();
    read(&mut edited);
    let new = compile(&mut edited, "Both") - before;
    // What the class alone needs, compiled from nothing.
    let mut alone = Engine::new(Options::default());
    read(&mut alone);
    let springs = compile(&mut alone, "Springs");
    let mut fresh = Engine::new(Options::default());
    read(&mut fresh);
    let all = compile(&mut fresh, "Both");
    assert!(new > 0 && new <= springs, "{new} compiled for the edited class, which has {springs}");
    assert!(all > new, "{all} in all");
}

/// A clutch that opens: modes, a constraint, events.
const MODES: &str = "model Modes
  parameter Real J = 1;
  parameter Real opens = 0.4;
  parameter Real drag = 0;
  parameter String text = \"a\";
  Real w1(start = 2, fixed = true), w2, tau;
  Real a1(start = 0, fixed = true), a2(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(a1) = w1;
  der(a2) = w2;
  J*der(w1) = -tau - sin(a1);
  der(w2) = tau - 0.1*w2 - drag*w2*w2;
  if time < opens then
    w1 = w2;
  else
    tau = 0;
  end if;
  when a1 > 0.5*J then
    n = pre(n) + 1;
  end when;
end Modes;";

/// A pendulum in Cartesian coordinates: its states are chosen by their values.
const PENDULUM: &str = "model Modes
  parameter Real L = 1;
  Real x(start = L, fixed = true), y(start = 0), vx, vy(start = 0, fixed = true), F;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -F*x;
  der(vy) = -F*y - 9.81;
  x^2 + y^2 = L^2;
end Modes;";

/// Runs a model with these parameters: all values, column by column.
fn run(e: &mut Engine, parameters: &[(&str, &str)]) -> Vec<Vec<Option<f64>>> {
    e.options.overrides = parameters.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
    let dae = e.flatten("Modes").unwrap();
    let mut rows = MemorySink::new();
    let options = RunOptions { stop: Some(1.5), ..RunOptions::default() };
    let report = e.simulate(dae, &options, &mut rows, &mut Quiet);
    assert!(report.is_some(), "{:?}", e.diagnostics);
    let rows = rows.into_trajectory();
    (0..rows.columns().len()).map(|k| rows.series(k).collect()).collect()
}

/// An engine that has nothing but this file.
fn opened(file: &std::path::Path) -> Engine {
    let mut e = Engine::new(Options::default());
    e.open(file.to_str().unwrap(), None).unwrap();
    e
}

#[test]
fn a_parameter_plans_nothing_again() {
    let file = std::env::temp_dir().join(format!("saltus-modes-{}.mo", std::process::id()));
    std::fs::write(&file, MODES).unwrap();
    let fresh = || opened(&file);
    let mut e = fresh();
    run(&mut e, &[]);
    let first = e.planned();
    assert!(first >= 2, "{first} modes planned");
    for parameters in [[("J", "2"), ("opens", "0.3")], [("text", "\"b\""), ("J", "1.5")]] {
        let again = run(&mut e, &parameters);
        assert_eq!(again, run(&mut fresh(), &parameters), "{parameters:?}");
        assert_eq!(e.planned(), first, "{parameters:?}");
    }
    // Drag stands in the equations once it is not zero.
    let dragged = run(&mut e, &[("drag", "0.5")]);
    assert_eq!(dragged, run(&mut fresh(), &[("drag", "0.5")]));
    assert!(e.planned() > first);
}

#[test]
fn a_run_does_not_depend_on_those_before_it() {
    let file = std::env::temp_dir().join(format!("saltus-pendulum-{}.mo", std::process::id()));
    std::fs::write(&file, PENDULUM).unwrap();
    let fresh = || opened(&file);
    let mut e = fresh();
    for length in ["1", "2", "1"] {
        assert_eq!(run(&mut e, &[("L", length)]), run(&mut fresh(), &[("L", length)]), "{length}");
    }
}

#[test]
fn an_edited_equation_is_planned() {
    let file = std::env::temp_dir().join(format!("saltus-edited-{}.mo", std::process::id()));
    let read = |e: &mut Engine, text: &str| {
        std::fs::write(&file, text).unwrap();
        e.open(file.to_str().unwrap(), None).unwrap();
    };
    let mut e = Engine::new(Options::default());
    read(&mut e, MODES);
    let before = run(&mut e, &[]);
    let mut edited = e.with_new_sources();
    read(&mut edited, &MODES.replace("sin(a1)", "a1"));
    let after = run(&mut edited, &[]);
    let mut fresh = Engine::new(Options::default());
    read(&mut fresh, &MODES.replace("sin(a1)", "a1"));
    assert_ne!(before, after);
    assert_eq!(after, run(&mut fresh, &[]));
}
