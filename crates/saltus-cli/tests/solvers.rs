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
