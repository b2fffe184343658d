//! The solver's settings on the command line: what they do, and what `--stats` says of the choice.

use assert_cmd::Command;
use std::path::PathBuf;
use std::{env, fs, process};

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, model: &str) -> Folder {
        let path = env::temp_dir().join(format!("saltus-solvers-{}-{name}", process::id()));
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("model.mo"), model).unwrap();
        Folder(path)
    }

    /// Exit code, standard output and error together.
    fn simulate(&self, words: &str) -> (i32, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_saltus"))
            .args(["simulate", "model.mo", "--output", "out.csv"])
            .args(words.split_whitespace())
            .current_dir(&self.0)
            .env("NO_COLOR", "1")
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().unwrap_or(-1), text(&output.stdout) + &text(&output.stderr))
    }

    /// Columns of the last row, by name.
    fn last(&self, name: &str) -> f64 {
        let text = fs::read_to_string(self.0.join("out.csv")).unwrap();
        let mut reader = csv_rows(&text);
        let header = reader.remove(0);
        let k = header.iter().position(|h| h == name).unwrap_or_else(|| panic!("{name} in {header:?}"));
        reader.last().unwrap()[k].parse().unwrap()
    }
}

/// Rows of a CSV text, with quotes around names that hold commas.
fn csv_rows(text: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| {
        let (mut cells, mut quoted) = (vec![String::new()], false);
        for c in line.chars() {
            match c {
                '"' => quoted = !quoted,
                ',' if !quoted => cells.push(String::new()),
                c => cells.last_mut().unwrap().push(c),
            }
        }
        cells
    };
    text.lines().map(cells).collect()
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A stiff filter behind a counter that is set back every tenth of a second.
const DENSE: &str = "model M
  Real x(start = 0, fixed = true);
  Real y(start = 0, fixed = true);
  Integer k(start = 0);
equation
  der(x) = 1;
  der(y) = -1e4*(y - sin(x) - 0.01*k);
  when x > 0.1 then
    reinit(x, 0);
    k = pre(k) + 1;
  end when;
end M;
";

#[test]
fn dense_events_call_for_a_one_step_method_and_stats_says_why() {
    let folder = Folder::new("dense", DENSE);
    let (code, text) = folder.simulate("--stop 5 --stats");
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("then rosenbrock from t = 0.8"), "{text}");
    assert!(text.contains("steps between events; stiff"), "{text}");
    let auto = folder.last("y");
    folder.simulate("--stop 5 --solver radau --tolerance 1e-9");
    assert!((auto - folder.last("y")).abs() < 1e-5, "{auto} {}", folder.last("y"));
}

#[test]
fn limits_end_a_run_with_a_message() {
    let folder = Folder::new("limits", DENSE);
    for words in ["--max-steps 50", "--max-evaluations 100"] {
        let (code, text) = folder.simulate(&format!("--stop 5 {words}"));
        assert!(code == 6 && text.contains("were not enough"), "{code} {text}");
    }
    // A smallest step that the error test cannot live with.
    let (code, text) = folder.simulate("--stop 5 --solver dopri5 --min-step 0.01");
    assert!(code == 6 && text.contains("worst at y"), "{code} {text}");
}

#[test]
fn bounds_are_kept_where_asked() {
    // Torricelli's tank runs empty: no step may leave h >= 0 by more than the tolerance, and none is written below.
    let model = "model Tank
  Real h(start = 1, fixed = true, min = 0);
equation
  der(h) = -noEvent(if h > 0 then sqrt(h) else -h);
end Tank;
";
    let folder = Folder::new("bounds", model);
    let (code, text) = folder.simulate("--stop 4 --solver dopri5 --keep-bounds --tolerance 1e-3");
    assert_eq!(code, 0, "{text}");
    let text = fs::read_to_string(folder.0.join("out.csv")).unwrap();
    for row in &csv_rows(&text)[1..] {
        assert!(row[1].parse::<f64>().unwrap() >= -1e-3, "{row:?}");
    }
    assert!(folder.last("h").abs() < 1e-3);
}

#[test]
fn a_large_stiff_model_runs_with_a_sparse_jacobian() {
    let model = "model Heat
  parameter Integer n = 1000;
  Real u[n](each start = 0, each fixed = true);
equation
  der(u[1]) = 1e4*(1 - 2*u[1] + u[2]);
  for i in 2:n - 1 loop
    der(u[i]) = 1e4*(u[i - 1] - 2*u[i] + u[i + 1]);
  end for;
  der(u[n]) = 1e4*(u[n - 1] - 2*u[n]);
end Heat;
";
    let folder = Folder::new("heat", model);
    let (code, text) = folder.simulate("--stop 1000 --intervals 5 --stats");
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("0.30 % of the Jacobian filled"), "{text}");
    // Three evaluations a Jacobian, not a thousand.
    let evaluations: usize = text
        .lines()
        .find_map(|l| l.strip_prefix("evaluations"))
        .and_then(|l| l.trim().parse().ok())
        .unwrap_or_else(|| panic!("{text}"));
    assert!(evaluations < 3000, "{text}");
    assert!((folder.last("u[500]") - 501.0 / 1001.0).abs() < 1e-3, "{}", folder.last("u[500]"));
}

#[test]
fn quantized_states_run_with_events() {
    // A ball and a stiff filter behind it: bounces where the exact ones are.
    let model = "model M
  Real h(start = 1, fixed = true);
  Real v(start = 0, fixed = true);
  Real y(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -9.81;
  der(y) = -1e4*(y - v);
  when h <= 0 then
    reinit(v, -0.8*pre(v));
  end when;
end M;
";
    let folder = Folder::new("qss", model);
    let (code, text) = folder.simulate("--stop 1 --solver qss --tolerance 1e-5 --stats");
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("solver                 qss"), "{text}");
    // One bounce at sqrt(2/g); free flight since.
    let fall = (2.0f64 / 9.81).sqrt();
    let v = 0.8 * 9.81 * fall - 9.81 * (1.0 - fall);
    let h = 0.8 * 9.81 * fall * (1.0 - fall) - 0.5 * 9.81 * (1.0 - fall).powi(2);
    assert!((folder.last("h") - h).abs() < 1e-3, "{} {h}", folder.last("h"));
    assert!((folder.last("y") - v).abs() < 1e-2, "{} {v}", folder.last("y"));
}

#[test]
fn gmres_takes_over_where_factors_would_be_large() {
    let model = "model Cube
  parameter Integer m = 18;
  Real u[m, m, m](each start = 0.01, each fixed = true);
equation
  for i in 1:m loop
    for j in 1:m loop
      for k in 1:m loop
        der(u[i,j,k]) = 200*((if i > 1 then u[i-1,j,k] else 1) + (if i < m then u[i+1,j,k] else u[i,j,k])
          + (if j > 1 then u[i,j-1,k] else u[i,j,k]) + (if j < m then u[i,j+1,k] else u[i,j,k])
          + (if k > 1 then u[i,j,k-1] else u[i,j,k]) + (if k < m then u[i,j,k+1] else u[i,j,k]) - 6*u[i,j,k])
          + 10*u[i,j,k]^2*(1 - u[i,j,k]);
      end for;
    end for;
  end for;
end Cube;
";
    let folder = Folder::new("cube", model);
    let (code, text) = folder.simulate("--stop 0.2 --intervals 2 --solver bdf --stats");
    assert!(code == 0 && text.contains("GMRES iterations"), "{text}");
    let iterated = folder.last("u[18,9,9]");
    let (code, text) = folder.simulate("--stop 0.2 --intervals 2 --solver bdf --stats --set m=7 --linear direct");
    assert!(code == 0 && !text.contains("GMRES iterations"), "{text}");
    let small = folder.last("u[7,3,3]");
    let (code, text) = folder.simulate("--stop 0.2 --intervals 2 --solver radau --stats --set m=7 --linear gmres");
    assert!(code == 0 && text.contains("GMRES iterations"), "{text}");
    assert!((folder.last("u[7,3,3]") - small).abs() < 1e-5, "{small} {}", folder.last("u[7,3,3]"));
    // A column of the same cells: nothing moves across.
    let line =
        model.replace("u[m, m, m]", "u[m, 1, 1]").replace("j in 1:m", "j in 1:1").replace("k in 1:m", "k in 1:1");
    let line = line.replace("j < m", "j < 1").replace("k < m", "k < 1");
    let folder = Folder::new("column", &line);
    folder.simulate("--stop 0.2 --intervals 2 --solver radau --tolerance 1e-9");
    assert!((folder.last("u[18,1,1]") - iterated).abs() < 1e-5, "{} {iterated}", folder.last("u[18,1,1]"));
}

#[test]
fn an_unstable_fixed_step_is_told_with_the_variable() {
    let model = "model M
  Real slow(start = 0, fixed = true);
  Real fast(start = 0.1, fixed = true);
equation
  der(slow) = cos(time);
  der(fast) = -40*(fast - slow);
end M;
";
    let folder = Folder::new("unstable", model);
    for solver in ["euler", "heun", "rk4", "ab4", "milne"] {
        let (code, text) = folder.simulate(&format!("--stop 30 --solver {solver} --step 0.1"));
        assert!(code == 6 && text.contains("too large") && text.contains("fast grows"), "{solver}: {code} {text}");
        let (code, text) = folder.simulate(&format!("--stop 30 --solver {solver} --step 0.002"));
        assert!(code == 0, "{solver}: {text}");
    }
}

#[test]
fn what_is_not_a_number_ends_the_run_with_its_variable() {
    let model = "model M
  Real x(start = 1, fixed = true);
  Real y(start = 0, fixed = true);
equation
  der(x) = -1;
  der(y) = log(x);
end M;
";
    let folder = Folder::new("nan", model);
    for solver in ["auto", "bdf", "dae", "radau", "esdirk", "rosenbrock", "dopri5", "qss", "rk4"] {
        let (code, text) = folder.simulate(&format!("--stop 2 --solver {solver}"));
        assert!(code == 6 && text.contains("der(y)") && text.contains("log(x)"), "{solver}: {code} {text}");
        assert!((folder.last("time") - 1.0).abs() < 0.01, "{solver}: {}", folder.last("time"));
    }
}

#[test]
fn sharp_tolerances_and_dense_events_call_for_radau() {
    let folder = Folder::new("sharp", DENSE);
    let (code, text) = folder.simulate("--stop 5 --stats --tolerance 1e-8");
    assert!(code == 0 && text.contains("then radau from t = 0.8"), "{text}");
}

#[test]
fn sensitivities_take_part_in_the_error_test_if_asked() {
    let model = "model M
  parameter Real p = 3;
  Real x(start = 1, fixed = true);
  Real v(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -p^2*x;
end M;
";
    let folder = Folder::new("sensitivity", model);
    let truth = -10.0 * 30f64.sin();
    let mut steps = Vec::new();
    for words in ["", "--sensitivity-error"] {
        let (code, text) = folder.simulate(&format!("--stop 10 --sensitivity p --tolerance 1e-5 --stats {words}"));
        assert_eq!(code, 0, "{text}");
        assert!((folder.last("der(x, p)") - truth).abs() < 0.01, "{}", folder.last("der(x, p)"));
        let line = text.lines().find_map(|l| l.strip_prefix("steps")).unwrap();
        steps.push(line.split_whitespace().next().unwrap().parse::<usize>().unwrap());
    }
    assert!(steps[1] > steps[0], "{steps:?}");
    let (code, text) = folder.simulate("--stop 10 --sensitivity-error");
    assert!(code == 2 && text.contains("--sensitivity"), "{text}");
}

#[test]
fn step_doubling_controls_the_error_of_the_classical_methods() {
    let model = "model M\n  Real x(start = 1, fixed = true);\nequation\n  der(x) = -50*(x - cos(time));\nend M;\n";
    let folder = Folder::new("doubling", model);
    // x = (2500 cos t + 50 sin t + e^{−50 t})/2501
    let exact = (2500.0 * 2f64.cos() + 50.0 * 2f64.sin()) / 2501.0;
    for solver in ["heun", "rk4", "trapezoid", "backward-euler"] {
        let (code, text) = folder.simulate(&format!("--stop 2 --solver {solver} --step auto --tolerance 1e-5"));
        assert_eq!(code, 0, "{solver}: {text}");
        assert!((folder.last("x") - exact).abs() < 1e-4, "{solver}: {} {exact}", folder.last("x"));
    }
    let (code, text) = folder.simulate("--stop 2 --solver ab3 --step auto");
    assert!(code == 2 && text.contains("needs a step"), "{code} {text}");
}

/// A parabola that touches 1/2, and a sine that touches 1 twice, are seen to do so whatever the method.
#[test]
fn touching_zero_is_an_event_for_every_method() {
    let model = "model M
        Real h(start = 0, fixed = true), v(start = 1, fixed = true);
        Integer least(start = 0, fixed = true), more(start = 0, fixed = true), sine(start = 0, fixed = true);
        equation
        der(h) = v;
        der(v) = -1;
        when h >= 0.5 then least = pre(least) + 1; end when;
        when h > 0.5 then more = pre(more) + 1; end when;
        when sin(time) >= 1 then sine = pre(sine) + 1; end when;
        end M;";
    let folder = Folder::new("touching", model);
    for solver in
        "auto bdf dae radau esdirk rosenbrock lsoda dopri5 tsit5 rkf45 heun rk4 ab3 milne trapezoid qss".split(' ')
    {
        let (code, text) = folder.simulate(&format!("--stop 10 --solver {solver}"));
        assert_eq!(code, 0, "{solver}: {text}");
        let counts = ["least", "more", "sine"].map(|name| folder.last(name));
        assert_eq!(counts, [1.0, 0.0, 2.0], "{solver}");
    }
}

/// x³ − x = t/5 has no solution near x = −0.577 beyond t = 10/(3 √3): whatever the method, that is told.
#[test]
fn folds_are_told_by_every_method() {
    let model = "model M
        Real x(start = -1), y(start = 0, fixed = true);
        equation
        x^3 - x = 0.2*time;
        der(y) = x;
        end M;";
    let folder = Folder::new("fold", model);
    for solver in
        "auto bdf dae radau esdirk rosenbrock lsoda dopri5 tsit5 rkf45 heun rk4 ab3 milne trapezoid qss".split(' ')
    {
        for step in ["", "--step 0.01"] {
            let (code, text) = folder.simulate(&format!("--stop 3 --solver {solver} {step}"));
            assert_eq!(code, 0, "{solver} {step}: {text}");
            assert!(text.contains("the solution ends at time 1.924"), "{solver} {step}: {text}");
            let (code, text) = folder.simulate(&format!("--stop 3 --solver {solver} {step} --fold error"));
            assert!(code == 6 && text.contains("the solution ends at time 1.924"), "{solver} {step}: {code} {text}");
        }
    }
}

/// What impacts bring to rest stays where it rests, whatever the method and however little it rebounds: on the ground, on one stair after the
/// other, on a floor that moves, beside another body and beside events that have nothing to do with it.
#[test]
fn impacts_lead_to_rest_with_every_method() {
    let ball = "der(h) = v; der(v) = -9.81;";
    let models = [
        (format!("{ball} when h <= 0 then reinit(v, -0.05*pre(v)); end when; a = 0;"), 10.0, 20.0, 0.0),
        (format!("{ball} when h < 0 then reinit(v, -0.001*pre(v)); end when; a = 0;"), 10.0, 20.0, 0.0),
        // At 3 the stair falls away, 0.6 later it is 0.0234 below.
        (format!("{ball} when h <= a then reinit(v, -0.2*pre(v)); end when; a = -floor(w); "), 0.5, 3.6, -2.97660),
        (
            format!("{ball} when h <= a then reinit(v, 0.3*cos(time) - 0.4*(pre(v) - 0.3*cos(time))); end when; a = 0.3*sin(time);"),
            1.0,
            20.0,
            0.3 * 20f64.sin(),
        ),
        (
            "der(h) = v; der(v) = -1.62; when h <= 0.3*time then reinit(v, 0.3 - 0.5*(pre(v) - 0.3)); end when; a = noEvent(mod(w, 1));
            when a > 0.9 then reinit(z, 0); end when;"
                .to_string(),
            0.02,
            30.0,
            9.0,
        ),
    ];
    for (k, (equations, height, stop, expected)) in models.iter().enumerate() {
        let model = format!(
            "model M
            Real h(start = {height}, fixed = true), v(start = 0, fixed = true), w(start = 0, fixed = true), z(start = 0, fixed = true), a;
            Real b(start = 12, fixed = true), vb(start = 0, fixed = true);
            equation
            der(w) = 1; der(z) = 1; der(b) = vb; der(vb) = -1;
            when b <= 0 then reinit(vb, -0.1*pre(vb)); end when;
            {equations}
            end M;"
        );
        let folder = Folder::new(&format!("rest{k}"), &model);
        for solver in "auto bdf dae radau esdirk rosenbrock lsoda dopri5 tsit5 qss".split(' ') {
            for tolerance in ["1e-4", "1e-6", "1e-8"] {
                let options = format!("--stop {stop} --intervals 10 --solver {solver} --tolerance {tolerance}");
                let (code, text) = folder.simulate(&options);
                assert_eq!(code, 0, "{k} {options}: {text}");
                assert!((folder.last("h") - expected).abs() < 2e-3, "{k} {options}: {}", folder.last("h"));
                assert!(*stop < 6.1 || folder.last("b").abs() < 1e-3, "{k} {options}: {}", folder.last("b"));
            }
        }
    }
}

/// A function of time alone that crosses zero again and again is seen to do so each time once, wherever steps end.
#[test]
fn a_crossing_is_counted_once() {
    for (omega, stop) in [(2.0, 1000.0), (100.0, 20.0), (7060.0, 0.2833)] {
        let model = format!(
            "model M
            Real z(start = 0, fixed = true);
            Integer n(start = 0, fixed = true);
            equation
            der(z) = 1;
            when sin({omega}*time) > 0 then n = pre(n) + 1; end when;
            end M;"
        );
        let folder = Folder::new(&format!("once{omega}"), &model);
        for solver in "auto bdf radau esdirk rosenbrock dopri5 tsit5".split(' ') {
            let (code, text) = folder.simulate(&format!("--stop {stop} --intervals 5 --solver {solver}"));
            assert_eq!((code, folder.last("n")), (0, 319.0), "{omega} {solver}: {text}");
        }
    }
}

/// Three masses with friction to the ground and to each other, pushed to and fro: five surfaces of three functions. The values are
/// those of implicit steps of 2.5e-4 of the velocities (Moreau), each the minimum of a convex function.
#[test]
fn more_surfaces_than_directions_are_slid_on_by_every_method() {
    let model = "model M
        Real v1(start = 1, fixed = true), v2(start = 1, fixed = true), v3(start = -0.5, fixed = true);
        equation
        der(v1) = 1.3*sin(time) - 0.4*sign(v1) - 0.5*sign(v1 - v2);
        2*der(v2) = cos(1.7*time) - 0.6*sign(v2) + 0.5*sign(v1 - v2) - 0.3*sign(v2 - v3);
        der(v3) = 0.2 - 0.4*sign(v3) + 0.3*sign(v2 - v3);
        end M;";
    let folder = Folder::new("friction", model);
    for solver in "auto bdf dae radau esdirk rosenbrock lsoda dopri5 tsit5 rkf45".split(' ') {
        for tolerance in ["1e-4", "1e-6", "1e-8"] {
            let (code, text) = folder.simulate(&format!("--stop 9 --solver {solver} --tolerance {tolerance}"));
            assert_eq!(code, 0, "{solver} {tolerance}: {text}");
            for (name, value) in [("v1", 0.41329), ("v2", 0.0), ("v3", 0.0)] {
                let found = folder.last(name);
                assert!((found - value).abs() < 2e-3, "{solver} {tolerance}: {name} = {found}, not {value}");
            }
        }
    }
}

/// Five masses with friction to the ground and to each other, at coarse tolerances: steps go far beyond where a surface is left, and
/// what is left from there must not have a side by errors. Values as above, steps of 2.5e-5.
#[test]
fn surfaces_are_left_where_they_are_by_every_method() {
    let model = "model M
        Real v1(start = 0, fixed = true), v2(start = 0, fixed = true), v3(start = 0, fixed = true);
        Real v4(start = 1, fixed = true), v5(start = 1.6433, fixed = true);
        equation
        0.7739*der(v1) = -0.4791*v1 - 0.8607*sign(v1 - v2);
        0.8809*der(v2) = 1.3393*sin(2.9006*time + 0.447) + 0.8607*sign(v1 - v2) - 0.8738*sign(v2 - v3);
        0.9108*der(v3) = 0.6367*sin(2.4617*time + 3.917) - 0.0204 - 0.8051*sign(v3) + 0.8738*sign(v2 - v3) - 0.223*sign(v3 - v4);
        1.7*der(v4) = sin(1.4*time) + 0.223*sign(v3 - v4) - 0.1*sign(v4 - v5);
        1.717*der(v5) = 1.216*sin(2.626*time + 5.0295) - 0.0077*v5 + 0.1*sign(v4 - v5);
        end M;";
    let folder = Folder::new("left", model);
    for solver in "auto bdf dae radau esdirk rosenbrock lsoda dopri5 tsit5 rkf45".split(' ') {
        for tolerance in ["1e-3", "1e-4", "1e-6"] {
            let (code, text) = folder.simulate(&format!("--stop 7.4 --solver {solver} --tolerance {tolerance}"));
            assert_eq!(code, 0, "{solver} {tolerance}: {text}");
            for (name, value) in [("v1", 0.25827), ("v2", 0.25827), ("v3", 0.25827), ("v4", 1.04169), ("v5", 1.12559)] {
                let found = folder.last(name);
                assert!((found - value).abs() < 5e-3, "{solver} {tolerance}: {name} = {found}, not {value}");
            }
        }
    }
}

/// A difference in time must be one at large times, too.
#[test]
fn large_times_are_no_trouble() {
    let model = "model M
        Real x(start = 0, fixed = true), v(start = 1, fixed = true);
        Integer n(start = 0, fixed = true);
        equation
        der(x) = v;
        der(v) = -x;
        when x > 0 then n = pre(n) + 1; end when;
        end M;";
    let folder = Folder::new("late", model);
    for solver in "auto bdf dae radau esdirk rosenbrock lsoda dopri5 tsit5 rkf45 qss".split(' ') {
        let (code, text) = folder.simulate(&format!("--start 1e9 --stop 1000000100 --solver {solver}"));
        assert_eq!(code, 0, "{solver}: {text}");
        assert_eq!(folder.last("n"), 16.0, "{solver}");
    }
}

/// A triangle wave that is driven by its own past turns at 1, 2 and 3, whatever the step.
#[test]
fn kinks_in_the_past_are_read_by_every_fixed_step() {
    let model = "model M
        Real x(start = 0.5, fixed = true), d = delay(x, 0.5);
        equation
        der(x) = if d < 1 then 1 else -1;
        end M;";
    let folder = Folder::new("kinks", model);
    for solver in "euler heun rk4 ab4 milne backward-euler trapezoid".split(' ') {
        for step in ["0.1", "0.03", "0.01", "0.007"] {
            let (code, text) = folder.simulate(&format!("--stop 4 --solver {solver} --step {step}"));
            assert_eq!(code, 0, "{solver} {step}: {text}");
            let x = folder.last("x");
            assert!((x - 0.5).abs() < 1e-9, "{solver} {step}: {x}");
        }
    }
}

/// max(x, 0) min(x − 1, 0) is negative for x between 0 and 1 and zero elsewhere: it comes to zero once.
#[test]
fn what_comes_to_zero_and_stays_does_so_once() {
    let model = "model M
        Real x(start = -1, fixed = true), w = max(x, 0)*min(x - 1, 0);
        Integer n(start = 0, fixed = true), m(start = 0, fixed = true);
        equation
        der(x) = 1;
        when w < 0 then n = pre(n) + 1; end when;
        when w >= 0 then m = pre(m) + 1; end when;
        end M;";
    let folder = Folder::new("stays", model);
    for solver in "auto bdf dae radau esdirk rosenbrock lsoda dopri5 tsit5 rkf45 heun rk4".split(' ') {
        for tolerance in ["1e-4", "1e-6", "1e-8"] {
            let (code, text) = folder.simulate(&format!("--stop 3 --solver {solver} --tolerance {tolerance}"));
            assert_eq!(code, 0, "{solver} {tolerance}: {text}");
            assert_eq!([folder.last("n"), folder.last("m")], [1.0, 1.0], "{solver} {tolerance}");
        }
    }
}
