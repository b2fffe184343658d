//! `saltus init` with files: scenarios written, read, checked, and started from; the examples against independent solutions.

use saltus_testkit::process::{self, End, Outcome};
use saltus_testkit::{Scratch, project_root, saltus_binary};
use std::fs;
use std::path::Path;
use std::time::Duration;

fn saltus(folder: &Path, words: &[&str]) -> Outcome {
    let binary = saltus_binary().expect("saltus is built");
    process::run(&binary, words, folder, Duration::from_secs(300)).expect("saltus runs")
}

fn good(folder: &Path, words: &[&str]) -> Outcome {
    let o = saltus(folder, words);
    assert_eq!(o.end, End::Code(0), "{words:?}\n{}", o.stderr);
    o
}

/// The value of a name in a written scenario.
fn value(scenario: &str, name: &str) -> f64 {
    let line = scenario.lines().find(|l| l.starts_with(&format!("\"{name}\" = "))).unwrap_or_else(|| panic!("{name}"));
    let from = line.find("value = ").expect("a value") + 8;
    line[from..].split([',', ' ']).next().unwrap().parse().unwrap()
}

/// The last row of a CSV as (name, value).
fn last(csv: &str, name: &str) -> f64 {
    let mut lines = csv.lines();
    let k = lines.next().unwrap().split(',').position(|n| n == name).unwrap();
    lines.last().unwrap().split(',').nth(k).unwrap().parse().unwrap()
}

/// The zero of a falling function.
fn bisect(mut lo: f64, mut hi: f64, f: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..200 {
        let mid = 0.5 * (lo + hi);
        if f(mid) > 0.0 { lo = mid } else { hi = mid }
    }
    0.5 * (lo + hi)
}

const TANKS: &str = "model Tanks
  parameter Real q = 0.5;
  parameter Real twice = 2*q;
  Real h1(start = 2, fixed = true);
  Real h2(start = 1, fixed = true);
  Real flow_ = sqrt(h1 - h2);
equation
  der(h1) = twice/2 - flow_;
  der(h2) = flow_ - 0.4*sqrt(h2);
end Tanks;
";

#[test]
fn a_scenario_is_written_and_a_run_starts_from_it() {
    let s = Scratch::new().unwrap();
    let folder = s.path();
    fs::write(folder.join("m.mo"), TANKS).unwrap();
    for file in ["steady.toml", "steady.xml"] {
        good(folder, &["init", "m.mo", "--steady", "--write", file]);
        good(folder, &["simulate", "m.mo", "--from", file, "--stop", "5", "-o", "out.csv"]);
        let csv = fs::read_to_string(folder.join("out.csv")).unwrap();
        assert!((last(&csv, "h1") - 1.8125).abs() < 1e-6 && (last(&csv, "h2") - 1.5625).abs() < 1e-6, "{csv}");
    }
    let text = fs::read_to_string(folder.join("steady.toml")).unwrap();
    assert!((value(&text, "h1") - 1.8125).abs() < 1e-9);
    assert_eq!(value(&text, "der(h1)"), 0.0);
    // Edited by hand: another feed; what is derived from it follows.
    let edited = text.replace(
        "\"q\" = { id = \"v4\", kind = \"parameter\", fixed = true, weight = 1, value = 0.5",
        "\"q\" = { id = \"v4\", kind = \"parameter\", fixed = true, weight = 1, value = 0.4",
    );
    assert_ne!(edited, text);
    fs::write(folder.join("edited.toml"), edited).unwrap();
    good(folder, &["init", "m.mo", "--scenario", "edited.toml", "--write", "again.toml"]);
    let again = fs::read_to_string(folder.join("again.toml")).unwrap();
    assert!((value(&again, "h2") - 1.0).abs() < 1e-9, "{again}");
    assert!((value(&again, "twice") - 0.8).abs() < 1e-12);
}

#[test]
fn a_run_goes_on_from_the_end_of_another() {
    let s = Scratch::new().unwrap();
    let folder = s.path();
    let model = "model M
  Real x(start = 1, fixed = true);
  Real v;
  discrete Integer n(start = 0, fixed = true);
initial equation
  v = 0;
equation
  der(x) = v;
  der(v) = -x;
  when x < 0 then
    n = pre(n) + 1;
  end when;
end M;
";
    fs::write(folder.join("m.mo"), model).unwrap();
    good(folder, &["simulate", "m.mo", "--stop", "10", "--tolerance", "1e-10", "-o", "whole.csv"]);
    good(
        folder,
        &["simulate", "m.mo", "--stop", "4", "--tolerance", "1e-10", "--write-final", "end.toml", "-o", "a.csv"],
    );
    good(folder, &["simulate", "m.mo", "--from", "end.toml", "--stop", "10", "--tolerance", "1e-10", "-o", "b.csv"]);
    let read = |f: &str| fs::read_to_string(folder.join(f)).unwrap();
    let (whole, b) = (read("whole.csv"), read("b.csv"));
    assert!((last(&whole, "x") - 10f64.cos()).abs() < 1e-7);
    for name in ["x", "v", "n"] {
        assert!(
            (last(&whole, name) - last(&b, name)).abs() < 1e-7,
            "{name}: {} {}",
            last(&whole, name),
            last(&b, name)
        );
    }
    assert!(b.lines().nth(1).unwrap().starts_with("4.0,"), "{b}");
}

/// The mode in which a run ended is that of its values: the guesses of the model alone would lead into one that is singular.
#[test]
fn a_run_goes_on_in_the_mode_it_ended_in() {
    let model = "model M \"two diodes and an inductor\"
  Real s[2], v[2], i[2], x, l(start = 0, fixed = true);
  Real u = sin(6.3*time);
  Boolean off[2];
equation
  for k in 1:2 loop
    off[k] = s[k] < 0;
    v[k] = if off[k] then s[k] else 0;
    i[k] = if off[k] then 0 else s[k];
  end for;
  v[1] = u - x;
  v[2] = -x;
  l = i[1] + i[2];
  0.1*der(l) = x - l;
end M;
";
    goes_on(model, ["1.31", "2"], &["l"], 1e-4);
}

#[test]
fn every_fault_of_a_scenario_is_named_at_its_line() {
    let s = Scratch::new().unwrap();
    let folder = s.path();
    fs::write(folder.join("m.mo"), TANKS).unwrap();
    let lines = [
        "model = \"Tanks\"",
        "tim = 0",
        "[variables]",
        "h1 = { weight = 1.5 }",
        "h3 = { weight = 1 }",
        "h2 = { value = \"high\" }",
        "q = { min = 1.0, max = 0.0 }",
        "\"der(h1)\" = { weight = 1, value = 0.0 }",
        "flow_ = { kind = \"differential\" }",
        "twice = { color = 3 }",
    ];
    fs::write(folder.join("bad.toml"), lines.join("\n")).unwrap();
    let o = saltus(folder, &["init", "m.mo", "--scenario", "bad.toml", "--check"]);
    assert_eq!(o.end, End::Code(5), "{}", o.stderr);
    for (line, fault) in [
        (2, "unknown entry tim"),
        (4, "weight 1.5 is not between 0 (relaxed) and 1 (fixed)"),
        (5, "there is no variable h3"),
        (6, "h2: value: a number is expected"),
        (7, "min 1 is above max 0"),
        (8, "der(h1)"),
        (9, "flow_ is algebraic, not differential"),
        (10, "there is no such field"),
    ] {
        assert!(o.stderr.contains(fault), "{fault}\n{}", o.stderr);
        assert!(o.stderr.contains(&format!("bad.toml:{line}:")), "line {line}\n{}", o.stderr);
    }
    assert!(o.stderr.contains("cannot all be fixed"), "{}", o.stderr);
    fs::write(
        folder.join("good.toml"),
        "[variables]\nh1 = { weight = 0 }\n\"der(h1)\" = { weight = 1, value = 0.0 }\n",
    )
    .unwrap();
    good(folder, &["init", "m.mo", "--scenario", "good.toml", "--check"]);
}

#[test]
fn values_reached_are_kept_after_a_failure() {
    let s = Scratch::new().unwrap();
    let folder = s.path();
    let model = "model F\n  Real x(start = 5);\n  Real y;\nequation\n  x^2 + y^2 = -1;\n  x = y + 3;\nend F;\n";
    fs::write(folder.join("m.mo"), model).unwrap();
    let o = saltus(folder, &["init", "m.mo", "--write", "reached.toml"]);
    assert_eq!(o.end, End::Code(5), "{}", o.stderr);
    let text = fs::read_to_string(folder.join("reached.toml")).unwrap();
    // The place where the equations are violated least.
    let (x, y) = (value(&text, "x"), value(&text, "y"));
    assert!(x.hypot(y) < 4.0 && (x - y - 3.0).abs() < 1.0, "{x} {y}");
}

#[test]
fn a_scenario_becomes_a_modelica_model() {
    let s = Scratch::new().unwrap();
    let folder = s.path();
    fs::write(folder.join("m.mo"), TANKS).unwrap();
    good(folder, &["init", "m.mo", "--steady", "--write-model", "Start.mo"]);
    let text = fs::read_to_string(folder.join("Start.mo")).unwrap();
    fs::write(folder.join("both.mo"), format!("{TANKS}\n{text}")).unwrap();
    good(folder, &["simulate", "both.mo", "--stop", "5", "-o", "out.csv"]);
    let csv = fs::read_to_string(folder.join("out.csv")).unwrap();
    assert!((last(&csv, "h1") - 1.8125).abs() < 1e-6, "{text}\n{csv}");
}

#[test]
fn a_written_model_keeps_the_values_of_arrays() {
    let s = Scratch::new().unwrap();
    let folder = s.path();
    let model = "model A
  model Tank
    Real h[2](each start = 1);
    parameter Real u = 1;
  equation
    der(h[1]) = u - h[1]*abs(h[1]);
    der(h[2]) = h[1] - h[2];
  end Tank;
  Tank tank[2](u = {4, 9});
  Real z[2];
equation
  z[1]^3 - z[1] = tank[1].h[1] - 2;
  z[2]^3 - z[2] = tank[2].h[2] - 3;
end A;
";
    fs::write(folder.join("m.mo"), model).unwrap();
    // Of three solutions of z^3 = z, those next to the guesses.
    let words = ["init", "m.mo", "--steady", "--guess", "z[1]=1.1", "--guess", "z[2]=-1.2", "--mark", "z[1],z[2]"];
    good(folder, &[&words[..], &["--write-model", "Start.mo"]].concat());
    let text = fs::read_to_string(folder.join("Start.mo")).unwrap();
    fs::write(folder.join("both.mo"), format!("{model}\n{text}")).unwrap();
    good(folder, &["simulate", "both.mo", "--stop", "1", "-o", "out.csv"]);
    let csv = fs::read_to_string(folder.join("out.csv")).unwrap();
    for (name, v) in [("tank[1].h[2]", 2.0), ("tank[2].h[1]", 3.0), ("z[1]", 1.0), ("z[2]", -1.0)] {
        assert!((last(&csv, name) - v).abs() < 1e-6, "{name}\n{text}\n{csv}");
    }
}

#[test]
fn equilibrium_comes_before_the_model_s_own_conditions() {
    let s = Scratch::new().unwrap();
    let folder = s.path();
    let model = "model M
  parameter Real u = 4;
  Real x(start = 1, fixed = true);
  Real y;
  Real w(start = 7, fixed = true);
initial equation
  y = 3;
equation
  der(x) = u - x^2;
  der(y) = x - y;
  w = x + y;
end M;
";
    fs::write(folder.join("m.mo"), model).unwrap();
    for file in ["s.toml", "s.xml"] {
        let o = good(folder, &["init", "m.mo", "--steady", "--write", file]);
        assert!(o.stderr.contains("given up for the equilibrium: y = 3; fixed = true of w"), "{}", o.stderr);
        good(folder, &["simulate", "m.mo", "--from", file, "--stop", "5", "-o", "out.csv"]);
        let csv = fs::read_to_string(folder.join("out.csv")).unwrap();
        assert!((last(&csv, "x") - 2.0).abs() < 1e-9 && (last(&csv, "y") - 2.0).abs() < 1e-9, "{csv}");
    }
    // What the user fixes stays, and a parameter can make it an equilibrium.
    good(folder, &["init", "m.mo", "--relax", "u", "--steady", "--fix", "w=6", "--write", "w.toml"]);
    let text = fs::read_to_string(folder.join("w.toml")).unwrap();
    assert!((value(&text, "u") - 9.0).abs() < 1e-9, "{text}");
    // No equilibrium at all.
    fs::write(folder.join("r.mo"), "model R\n  Real x;\nequation\n  der(x) = 2;\nend R;\n").unwrap();
    let o = saltus(folder, &["init", "r.mo", "--steady"]);
    assert_eq!(o.end, End::Code(5), "{}", o.stderr);
    assert!(o.stderr.contains("no equilibrium") && o.stderr.contains("der(x) = 2.0"), "{}", o.stderr);
}

#[test]
fn an_input_and_an_output_change_places_along_a_trajectory() {
    let s = Scratch::new().unwrap();
    let folder = s.path();
    let model = "model Plant
  input Real u;
  output Real y = x1;
  Real x1;
  Real x2;
equation
  der(x1) = x2;
  der(x2) = -2*x2 - 5*x1^3 + u;
end Plant;
";
    fs::write(folder.join("m.mo"), model).unwrap();
    let words = ["simulate", "m.mo", "--invert", "u:y=sin(3*time)", "--stop", "2", "-o", "out.csv"];
    let o = good(folder, &words);
    assert!(o.stderr.contains("structural index 3"), "{}", o.stderr);
    let csv = fs::read_to_string(folder.join("out.csv")).unwrap();
    let (sin, cos) = 6f64.sin_cos();
    let u = -9.0 * sin + 6.0 * cos + 5.0 * sin.powi(3);
    assert!((last(&csv, "u") - u).abs() < 1e-5, "{} for {u}", last(&csv, "u"));
    let o = saltus(folder, &["analyze", "m.mo", "--invert", "x1:y=1"]);
    assert!(o.end == End::Code(2) && o.stderr.contains("x1 is not an input"), "{}", o.stderr);
}

#[test]
fn what_a_run_takes_from_start_values_is_told() {
    let s = Scratch::new().unwrap();
    fs::write(s.path().join("m.mo"), "model M\n  Real x(start = 3);\nequation\n  der(x) = -x;\nend M;\n").unwrap();
    let o = good(s.path(), &["simulate", "m.mo", "-o", "out.csv"]);
    assert!(o.stderr.contains("nothing else determines them: x = 3"), "{}", o.stderr);
}

#[test]
fn a_sampler_does_not_tick_twice_when_a_run_goes_on() {
    let model = "model S
  discrete Integer n(start = 0, fixed = true);
  Real x(start = 0, fixed = true);
equation
  when sample(0, 1) then
    n = pre(n) + 1;
  end when;
  der(x) = n;
end S;
";
    goes_on(model, ["2", "4.5"], &["n", "x"], 1e-6);
}

/// What a run holds beyond the values of its variables goes on: rests, surfaces, machines, modes, computed parameters.
#[test]
fn going_on_in_the_midst_of_things() {
    let ball = "
model Ball
  Real h(start = 1, fixed = true), v(start = 0, fixed = true), d = delay(v, 0.7);
  Integer n(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = if time > 6 then 19.62 else -9.81;
  when h <= 0 then
    reinit(v, -0.7*pre(v));
  end when;
  when sample(0, 0.3) then
    n = pre(n) + 1;
  end when;
end Ball;
";
    // Flying, and at rest.
    goes_on(ball, ["1", "8"], &["h", "v", "d", "n"], 1e-4);
    goes_on(ball, ["5.2", "8"], &["h", "v", "d", "n"], 1e-4);
    let relays = "
model Relays
  Real x(start = 1, fixed = true), y(start = 0.5, fixed = true), z(start = 0, fixed = true);
  Real s = if x > 0 then 1 else -1, r = if y > 0 then 1 else -1;
equation
  der(x) = -s + 2*r + 0.5*time;
  der(y) = -2*s - r;
  der(z) = s + 3*r;
end Relays;
";
    goes_on(relays, ["0.3", "6"], &["x", "y", "z"], 1e-4);
    goes_on(relays, ["2", "6"], &["x", "y", "z"], 1e-4);
    let machine = "
model Machine
  inner Real x(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
  model Up
    outer output Real x;
  equation
    der(x) = 1;
  end Up;
  model Down
    outer output Real x;
  equation
    der(x) = -0.5;
  end Down;
  Up up;
  Down down;
equation
  initialState(up);
  transition(up, down, x > 1);
  transition(down, up, x < 0.2);
  when x > 0.9 then
    n = pre(n) + 1;
  end when;
end Machine;
";
    goes_on(machine, ["0.95", "7.1"], &["x", "n"], 1e-5);
    goes_on(machine, ["2", "7.1"], &["x", "n"], 1e-5);
    let between = "
model Between
  Real x(start = 0.1, fixed = true), v(start = 0, fixed = true), f, g, h = time - 1;
equation
  der(x) = v;
  2*der(v) = -20 + f + g;
  0 = min(x, f);
  0 = min(x - h + 0.5, g);
end Between;
";
    goes_on(between, ["0.5", "2.5"], &["x", "v", "f", "g"], 1e-5);
    goes_on(between, ["2", "2.5"], &["x", "v", "f", "g"], 1e-5);
    let parameter = "
model Parameter
  parameter Real k(fixed = false, start = 1), h = 2*k;
  Real x(start = 1, fixed = true), y = k^2*x + exp(k)*0.1;
  Integer ended(start = 0, fixed = true);
initial equation
  y = 3;
equation
  der(x) = -h*x;
  when terminal() then
    ended = pre(ended) + 1;
  end when;
end Parameter;
";
    goes_on(parameter, ["0.5", "1"], &["x", "y", "ended"], 1e-6);
}

/// A run that stops and goes on ends where one run does.
fn goes_on(model: &str, [middle, end]: [&str; 2], names: &[&str], bound: f64) {
    let s = Scratch::new().unwrap();
    let folder = s.path();
    fs::write(folder.join("m.mo"), model).unwrap();
    good(folder, &["simulate", "m.mo", "--stop", end, "-o", "whole.csv"]);
    for file in ["end.toml", "end.xml"] {
        good(folder, &["simulate", "m.mo", "--stop", middle, "--write-final", file, "-o", "a.csv"]);
        good(folder, &["simulate", "m.mo", "--from", file, "--stop", end, "-o", "b.csv"]);
        let [whole, rest] = ["whole.csv", "b.csv"].map(|f| fs::read_to_string(folder.join(f)).unwrap());
        for name in names {
            let (w, r) = (last(&whole, name), last(&rest, name));
            assert!((w - r).abs() < bound, "{name}: {w} in one run, {r} in two\n{model}");
        }
    }
}

#[test]
fn clocks_keep_their_counts_when_a_run_goes_on() {
    let model = "model C
  Integer n(start = 0), m(start = 0), a(start = 0);
  Real x(start = 1);
  Real y[3];
equation
  when Clock(0.1) then
    n = previous(n) + 1;
    a = if firstTick(a) then 5 else previous(a) + 1;
  end when;
  m = subSample(n, 3);
  when Clock(Clock(0.1), solverMethod = \"ExplicitEuler\") then
    der(x) = -x;
  end when;
  y = {hold(m), hold(a), hold(x)};
end C;
";
    goes_on(model, ["0.437", "1"], &["y[1]", "y[2]", "y[3]"], 1e-6);
}

/// Small differences of large numbers are only as exact as those: Newton's method ends where rounding is all that is left,
/// it does not go on until other methods are tried.
#[test]
fn newtons_method_ends_at_the_rounding() {
    let s = Scratch::new().expect("a folder");
    let text = "model M Real p(start = 1), q(start = 1), y(start = 1), z(start = 1); equation
        p + 1e-3*sin(y) = 3e6 + z; q + 1e-3*cos(z) = 3e6 + y/2;
        y^3 + y = p - q + 1e-4; z^3 + z = 0.5*(q - p) + 1e-3*y; end M;";
    fs::write(s.path().join("m.mo"), text).expect("a file");
    let o = good(s.path(), &["init", "m.mo", "--trace", "init"]);
    let count = o.stderr.lines().filter(|l| l.contains("\"iteration\"")).count();
    assert!((3..16).contains(&count), "{count} iterations\n{}", o.stderr);
}

#[test]
fn the_trace_tells_every_iteration() {
    let s = Scratch::new().unwrap();
    fs::write(s.path().join("m.mo"), "model M\n  Real x(start = 10);\nequation\n  x^3 = 8;\nend M;\n").unwrap();
    let o = good(s.path(), &["init", "m.mo", "--trace", "init"]);
    let residuals: Vec<f64> = o
        .stderr
        .lines()
        .filter(|l| l.contains("\"type\":\"iteration\""))
        .map(|l| {
            let v: serde_json::Value = serde_json::from_str(l).unwrap();
            v["residual"].as_f64().unwrap()
        })
        .collect();
    assert!(residuals.len() > 4 && residuals.last().unwrap() < &1e-9, "{}", o.stderr);
}

#[test]
fn the_hydraulic_network_starts_without_guesses() {
    let s = Scratch::new().unwrap();
    let folder = s.path();
    let example = project_root().expect("the project").join("examples/hydraulic_network.mo");
    let example = example.to_str().unwrap();
    let o = good(folder, &["init", example, "--steady", "--write", "net.toml", "--show", "reduced"]);
    let text = fs::read_to_string(folder.join("net.toml")).unwrap();
    // The same by hand: water at 290 K, flows from the pressure of the chamber.
    let rho = 998.2 * (1.0 - 2.1e-4 * (290.0 - 293.15));
    let flow = |from: f64, to: f64, k: f64, dz: f64| {
        let dp: f64 = from - to - rho * 9.81 * dz;
        2e-3 * rho * (2.0 * dp.abs() / (k * rho)).sqrt() * dp.signum()
    };
    let net = |p: f64| (flow(3e5, p, 40.0, 0.0), flow(p, 1e5, 120.0, 2.0), flow(p, 1.2e5, 60.0, 0.5));
    let p = bisect(1e5, 3e5, |p| net(p).0 - net(p).1 - net(p).2);
    let (m1, m2, m3) = net(p);
    for (name, expected) in [
        ("chamber.P", p),
        ("pipe1.m", m1),
        ("meter2.m", m2),
        ("meter3.m", m3),
        ("sink3.T", 290.0),
        ("meter2.litres", 6e4 * m2 / rho),
    ] {
        let v = value(&text, name);
        assert!((v - expected).abs() < 1e-6 * expected.abs(), "{name}: {v} for {expected}\n{}", o.stderr);
    }
    // About 130 equations, about a dozen unknowns left.
    let left = o.stdout.lines().count() - 1;
    assert!(left <= 13, "{}", o.stdout);
    // Inverse: which loss of pipe 2 gives 3 kg/s there?
    good(folder, &["init", example, "--steady", "--relax", "pipe2.K", "--fix", "meter2.m=3", "--write", "inv.toml"]);
    let text = fs::read_to_string(folder.join("inv.toml")).unwrap();
    let (k, p) = (value(&text, "pipe2.K"), value(&text, "chamber.P"));
    assert!((flow(p, 1e5, k, 2.0) - 3.0).abs() < 1e-6, "{k} {p}");
    assert!((flow(3e5, p, 40.0, 0.0) - 3.0 - flow(p, 1.2e5, 60.0, 0.5)).abs() < 1e-6);
}

#[test]
fn the_closed_water_loop_starts_in_equilibrium() {
    let s = Scratch::new().unwrap();
    let folder = s.path();
    let example = project_root().expect("the project").join("examples/water_loop.mo");
    let example = example.to_str().unwrap();
    good(folder, &["init", example, "--steady", "--write", "loop.toml"]);
    let text = fs::read_to_string(folder.join("loop.toml")).unwrap();
    // Flows by nested bisection.
    let branch = |d: f64, opening: f64, k: f64| {
        bisect(0.0, 10.0, |m| {
            let v = d - 7.0 * if m > 0.05 { k * m * m } else { k * 0.05 * m };
            let e = v.clamp(-4e4, 4e4);
            let q = if e > 100.0 {
                e.sqrt()
            } else if e < -100.0 {
                -(-e).sqrt()
            } else {
                e / 10.0
            };
            opening * 6e-3 * q - m
        })
    };
    let flows = |total: f64| {
        let d = 2e5 - 2e3 * total * total - 9.0 * 100.0 * total * total;
        [branch(d, 1.0, 2e4), branch(d, 0.5, 5e3), branch(d, 0.1, 200.0)]
    };
    let total = bisect(0.0, 8.0, |m| flows(m).iter().sum::<f64>() - m);
    for (k, m) in flows(total).iter().enumerate() {
        let v = value(&text, &format!("branch{}.m[1]", k + 1));
        assert!((v - m).abs() < 1e-6 * m, "branch {}: {v} for {m}", k + 1);
    }
    // The heat goes out through the exchanger.
    let out: f64 = (1..=8).map(|i| 3000.0 / 8.0 * (value(&text, &format!("exchanger.T[{i}]")) - 290.0)).sum();
    assert!((out - 3.1e4).abs() < 1e-3, "{out}");
    let rise = value(&text, "branch2.T[6]") - value(&text, "split.T");
    assert!((rise - 1e4 / (4186.0 * flows(total)[1])).abs() < 1e-6, "{rise}");
    // It stays there.
    good(folder, &["simulate", example, "--from", "loop.toml", "--stop", "50", "-o", "out.csv"]);
    let csv = fs::read_to_string(folder.join("out.csv")).unwrap();
    assert!((last(&csv, "exchanger.m[1]") - total).abs() < 1e-5);
    assert!((last(&csv, "vessel.T") - value(&text, "vessel.T")).abs() < 1e-4);
}

#[test]
fn the_folded_characteristic_is_solved_from_any_guess() {
    // Problem (5.2.1) of the thesis: between xd = -1 and 1 there are three solutions, elsewhere one.
    let s = Scratch::new().unwrap();
    let model = "model Fold
  Real xd(start = 2, fixed = true);
  Real xa(start = 0);
equation
  der(xd) = 1;
  0 = if xa < -1 then xd - xa - 2 elseif xa < 1 then xd + xa else xd - xa + 2;
end Fold;
";
    fs::write(s.path().join("m.mo"), model).unwrap();
    for xd in [-5.0, -1.5, -0.5, 0.0, 0.7, 2.0, 6.0] {
        for xa in [-50.0, -1.0, -0.2, 0.9, 1.1, 30.0] {
            let (fix, guess) = (format!("xd={xd}"), format!("xa={xa}"));
            good(s.path(), &["init", "m.mo", "--fix", &fix, "--guess", &guess, "--write", "o.toml"]);
            let x = value(&fs::read_to_string(s.path().join("o.toml")).unwrap(), "xa");
            let residual = if x < -1.0 {
                xd - x - 2.0
            } else if x < 1.0 {
                xd + x
            } else {
                xd - x + 2.0
            };
            assert!(residual.abs() < 1e-9, "{fix} {guess}: {x}");
        }
    }
}

#[test]
fn a_parameter_may_change_the_shape_of_the_model() {
    let s = Scratch::new().unwrap();
    let model = "model M
  parameter Integer n = 2;
  Real x[n](each start = 1);
  Real last = x[n];
equation
  for i in 1:n loop
    der(x[i]) = -i*x[i];
  end for;
end M;
";
    fs::write(s.path().join("m.mo"), model).unwrap();
    good(s.path(), &["init", "m.mo", "--fix", "n=4", "--fix", "x[2]=5", "--write", "o.toml"]);
    let text = fs::read_to_string(s.path().join("o.toml")).unwrap();
    assert_eq!(["x[2]", "der(x[2])", "der(x[4])", "last"].map(|n| value(&text, n)), [5.0, -10.0, -4.0, 1.0]);
    // What the file says about names that the model only has with its own parameter values is understood.
    good(s.path(), &["simulate", "m.mo", "--from", "o.toml", "--stop", "1", "-o", "out.csv"]);
    let csv = fs::read_to_string(s.path().join("out.csv")).unwrap();
    assert!((last(&csv, "x[4]") - (-4f64).exp()).abs() < 1e-5);
}

#[test]
fn a_written_model_has_not_the_conditions_that_gave_way() {
    let s = Scratch::new().unwrap();
    let folder = s.path();
    let model = "model M
  parameter Real u = 4;
  Real x;
  Real y;
initial equation
  x = 1;
  y = 3;
equation
  der(x) = u - x^2;
  der(y) = x - y;
end M;
";
    fs::write(folder.join("m.mo"), model).unwrap();
    good(folder, &["init", "m.mo", "--steady", "--write-model", "Start.mo"]);
    let text = fs::read_to_string(folder.join("Start.mo")).unwrap();
    fs::write(folder.join("both.mo"), format!("{model}\n{text}")).unwrap();
    good(folder, &["simulate", "both.mo", "--stop", "5", "-o", "out.csv"]);
    let csv = fs::read_to_string(folder.join("out.csv")).unwrap();
    assert!((last(&csv, "x") - 2.0).abs() < 1e-9 && (last(&csv, "y") - 2.0).abs() < 1e-9, "{text}\n{csv}");
    let wrong = text.replace("__Saltus_dropped = {1, 2}", "__Saltus_dropped = {1, 7}");
    assert_ne!(wrong, text);
    fs::write(folder.join("both.mo"), format!("{model}\n{wrong}")).unwrap();
    let o = saltus(folder, &["simulate", "both.mo", "--stop", "5", "-o", "out.csv"]);
    assert_eq!(o.end, End::Code(3), "{}", o.stderr);
}

#[test]
fn what_travels_goes_on_with_the_run() {
    let s = Scratch::new().unwrap();
    let folder = s.path();
    let model = "model D
  Real x(start = 1, fixed = true);
  Real step = delay(if time < 1.3 then 0 else 1 + time, 0.7);
  Real v(start = 0, fixed = true);
  Real a;
  Real b;
equation
  der(x) = -delay(x, 1);
  der(v) = 0.4;
  (a, b) = spatialDistribution(sin(3*time), 0, v, true, {0, 1}, {0, 0});
end D;
";
    fs::write(folder.join("m.mo"), model).unwrap();
    let tight = ["--tolerance", "1e-8"];
    for end in ["end.toml", "end.xml"] {
        good(folder, &[&["simulate", "m.mo", "--stop", "5", "-o", "whole.csv"], &tight[..]].concat());
        let first = ["simulate", "m.mo", "--stop", "1.6", "-o", "a.csv", "--write-final", end];
        good(folder, &[&first[..], &tight[..]].concat());
        good(folder, &[&["simulate", "m.mo", "--from", end, "--stop", "5", "-o", "b.csv"], &tight[..]].concat());
        let (whole, rest) = ["whole.csv", "b.csv"].map(|f| fs::read_to_string(folder.join(f)).unwrap()).into();
        for name in ["x", "step", "b"] {
            let (w, r) = (last(&whole, name), last(&rest, name));
            assert!((w - r).abs() < 1e-5 * w.abs().max(0.1), "{name}: {w} {r}");
        }
        // The jump that was on its way arrives at 2.
        let row = |csv: &str, name: &str, t: f64| -> f64 {
            let k = csv.lines().next().unwrap().split(',').position(|n| n == name).unwrap();
            let line = csv.lines().skip(1).filter(|l| l.split(',').next().unwrap().parse::<f64>().unwrap() <= t).last();
            line.unwrap().split(',').nth(k).unwrap().parse().unwrap()
        };
        assert!(row(&rest, "step", 1.99).abs() < 1e-12 && (row(&rest, "step", 2.01) - 2.3).abs() < 0.05);
    }
    // A file that does not hold it says that delays start anew.
    let text = fs::read_to_string(folder.join("end.toml")).unwrap();
    let (a, b) = (text.find("histories").unwrap(), text.find("[variables]").unwrap());
    fs::write(folder.join("bare.toml"), format!("{}{}", &text[..a], &text[b..])).unwrap();
    let o = good(folder, &["simulate", "m.mo", "--from", "bare.toml", "--stop", "5", "-o", "b.csv"]);
    assert!(o.stderr.contains("start anew"), "{}", o.stderr);
}

#[test]
fn what_linear_equations_leave_open_is_told() {
    let s = Scratch::new().unwrap();
    let folder = s.path();
    let model = "model M
  parameter Real k = 2;
  Real x(start = 4);
  Real y(start = 1);
  Real z;
equation
  x + y = 3;
  k*x + 2*y = 6;
  z = x*x;
end M;
";
    fs::write(folder.join("m.mo"), model).unwrap();
    for command in [&["init", "m.mo"][..], &["simulate", "m.mo", "-o", "out.csv"]] {
        let o = good(folder, command);
        assert!(o.stderr.contains("leave these open") && o.stderr.contains("x = 4, y = -1"), "{}", o.stderr);
    }
    // With another parameter they determine both.
    let o = good(folder, &["init", "m.mo", "--set", "k=1"]);
    assert!(!o.stderr.contains("open"), "{}", o.stderr);
}

#[test]
fn every_method_can_be_chosen() {
    let s = Scratch::new().unwrap();
    let folder = s.path();
    let model = "model M
  Real x(start = 3, min = -9, max = 9);
  Real y(start = 2, min = -9, max = 9);
equation
  homotopy(x^3 + 0.2*y^2, 4*x) = 9;
  y^3 + y + homotopy(0.1*x^2, 0.3) = 3;
end M;
";
    fs::write(folder.join("m.mo"), model).unwrap();
    for (method, how) in [
        ("newton", "Newton"),
        ("least-squares", "Levenberg-Marquardt"),
        ("homotopy", "homotopy()"),
        ("newton-homotopy", "Newton homotopy"),
        ("fixed-point", "fixed-point homotopy"),
        ("piecewise-linear", "piecewise-linear continuation"),
        ("multi-start", "multi-start"),
    ] {
        let words = ["init", "m.mo", "--method", method, "--trace", "init", "--write", "s.toml"];
        let o = good(folder, &words);
        let ends: Vec<&str> = o.stderr.lines().filter(|l| l.contains("\"type\":\"end\"")).collect();
        // The whole system is led in steps of λ, each solved by Newton.
        let led = method == "homotopy" && ends.len() > 3;
        assert!(led || ends.iter().any(|l| l.contains(how)), "{method}: {ends:?}");
        let text = fs::read_to_string(folder.join("s.toml")).unwrap();
        let (x, y) = (value(&text, "x"), value(&text, "y"));
        assert!((x.powi(3) + 0.2 * y * y - 9.0).abs() < 1e-8, "{method}: {x} {y}");
        assert!((y.powi(3) + y + 0.1 * x * x - 3.0).abs() < 1e-8, "{method}: {x} {y}");
    }
    let o = saltus(folder, &["init", "m.mo", "--method", "guesswork"]);
    assert_eq!(o.end, End::Code(2), "{}", o.stderr);
    assert!(o.stderr.contains("piecewise-linear"), "{}", o.stderr);
}

#[test]
fn marks_decide_what_is_left_to_iterate_on() {
    let s = Scratch::new().unwrap();
    let folder = s.path();
    let model = "model M
  Real x;
  Real y;
  Real z;
equation
  (x - 3)/((x - 3)^2 + 1) = 0.1;
  y = 2*x + 1;
  z = x/5 + y;
end M;
";
    fs::write(folder.join("c.mo"), model).unwrap();
    // The guess y = 21 means x = 10, from where Newton reaches 3 + 5 + √24; from x = 0 it does not.
    let root = 8.0 + 24f64.sqrt();
    let words = ["init", "c.mo", "--mark", "y", "--guess", "y=21", "--show", "reduced", "--write", "s.toml"];
    let o = good(folder, &[&words[..], &["--method", "newton"]].concat());
    assert!(o.stdout.contains("\ny ") && !o.stdout.contains("\nx "), "{}", o.stdout);
    let text = fs::read_to_string(folder.join("s.toml")).unwrap();
    assert!((value(&text, "x") - root).abs() < 1e-8, "{text}");
    let o = good(folder, &["init", "c.mo", "--mark", "x", "--guess", "x=10", "--show", "reduced"]);
    assert!(o.stdout.contains("\nx ") && !o.stdout.contains("\ny "), "{}", o.stdout);
}

/// Next values are part of where a system of instants stands.
#[test]
fn instants_go_on_from_the_end_of_others() {
    let s = Scratch::new().expect("a folder");
    let text = "a : num = 1; a• : num = 1; n : num = 0;\nf : when T do a•• = a• + a; g : when T do n• = n + 1\n";
    fs::write(s.path().join("m.mdae"), text).expect("a file");
    good(s.path(), &["simulate", "m.mdae", "--stop", "4", "--write-final", "end.toml", "-o", "a.csv"]);
    good(s.path(), &["simulate", "m.mdae", "--from", "end.toml", "--stop", "10", "-o", "b.csv"]);
    let read = |f: &str| fs::read_to_string(s.path().join(f)).expect("rows");
    assert_eq!((last(&read("a.csv"), "a"), last(&read("b.csv"), "a"), last(&read("b.csv"), "n")), (5.0, 89.0, 10.0));
}
