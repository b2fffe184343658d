//! The commands on small models: what is written where, and which exit code tells what.

use assert_cmd::Command;
use serde_json::Value;
use std::path::PathBuf;
use std::{env, fs, process};

const BALL: &str = "model Ball
  parameter Real e = 0.8;
  Real h(start = 1, fixed = true);
  Real v(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -9.81;
  when h <= 0 then
    reinit(v, -e*pre(v));
  end when;
end Ball;
";

/// A folder with a file `model.mo`; it goes away with the value.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, model: &str) -> Folder {
        let path = env::temp_dir().join(format!("saltus-run-{}-{name}", process::id()));
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("model.mo"), model).unwrap();
        Folder(path)
    }

    /// Exit code, standard output, standard error.
    fn saltus(&self, words: &str) -> (i32, String, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_saltus"))
            .args(words.split_whitespace())
            .current_dir(&self.0)
            .env("NO_COLOR", "1")
            .env_remove("MODELICAPATH")
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_run_leaves_its_files_and_says_where() {
    let folder = Folder::new("files", BALL);
    let (code, stdout, stderr) = folder.saltus("simulate model.mo --stop 0.6 --events e.json --plot h,v --set e=0.5");
    assert_eq!((code, stdout.as_str()), (0, ""), "{stderr}");
    for file in ["Ball.csv", "Ball.svg", "e.json"] {
        assert!(stderr.contains(&format!("wrote {file}")), "{stderr}");
    }
    let csv = folder.read("Ball.csv");
    assert!(csv.starts_with("time,"), "{csv}");
    let events: Value = serde_json::from_str(&folder.read("e.json")).unwrap();
    let bounce = events.as_array().unwrap().iter().find(|e| e["kind"] == "state").unwrap();
    assert!((bounce["time"].as_f64().unwrap() - (2.0 / 9.81_f64).sqrt()).abs() < 1e-4, "{bounce}");
    assert!(folder.read("Ball.svg").contains("<svg"));
}

#[test]
fn a_dash_writes_to_standard_output_and_nothing_else() {
    let folder = Folder::new("dash", BALL);
    let (code, stdout, stderr) = folder.saltus("simulate model.mo --stop 0.1 --intervals 2 --output -");
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert_eq!(stdout.lines().count(), 4, "{stdout}");
    assert!(!folder.0.join("Ball.csv").exists());
}

#[test]
fn times_may_be_negative() {
    let folder = Folder::new("negative", BALL);
    let (code, stdout, stderr) = folder.saltus("simulate model.mo --start -1 --stop -0.9 --intervals 2 --output -");
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.lines().nth(1).unwrap().starts_with("-1"), "{stdout}");
}

#[test]
fn numbers_for_machines_are_one_object() {
    let folder = Folder::new("stats", BALL);
    let (code, _, stderr) = folder.saltus("simulate model.mo --stop 1 --stats --json --output r.mat");
    assert_eq!(code, 0, "{stderr}");
    let objects: Vec<Value> = stderr.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let stats = objects.iter().find(|o| o["type"] == "stats").unwrap();
    assert_eq!((&stats["model"], &stats["end"]), (&"Ball".into(), &1.0.into()));
    assert!(stats["state_events"].as_u64() >= Some(1) && stats["rows"].as_u64() > Some(2), "{stats}");
    assert!(folder.saltus("simulate model.mo --stats").2.contains("start to first row"));
}

#[test]
fn discrete_variables_may_be_written_as_changes() {
    let model = "model M
  Real x(start = 0, fixed = true);
  discrete Real s(start = 1, fixed = true);
  Integer n = integer(time);
equation
  der(x) = s;
  when time >= 1.5 then
    s = -1;
  end when;
end M;
";
    let folder = Folder::new("changes", model);
    let (code, _, stderr) = folder.saltus("simulate model.mo --stop 2 --intervals 4 --output t.csv --discrete d.csv");
    assert!(code == 0 && stderr.contains("wrote d.csv"), "{stderr}");
    let changes = ["time,variable,value", "0.0,s,1.0", "0.0,n,0", "1.0,n,1", "1.5,s,-1.0", "2.0,n,2"];
    assert_eq!(folder.read("d.csv").lines().collect::<Vec<_>>(), changes);
    // Both sides of each event are rows of the table all the same.
    let table = folder.read("t.csv");
    let times: Vec<&str> = table.lines().map(|l| l.split(',').next().unwrap_or("")).collect();
    assert_eq!(times, ["time", "0.0", "0.5", "1.0", "1.0", "1.5", "1.5", "2.0", "2.0"]);
    assert!(table.starts_with("time,x\n"), "{table}");
    let (code, _, stderr) = folder.saltus("simulate model.mo --output t.csv --discrete t.csv");
    assert!(code == 2 && stderr.contains("two files"), "{stderr}");
}

#[test]
fn events_are_told_on_request() {
    let folder = Folder::new("trace", BALL);
    let (_, _, stderr) = folder.saltus("simulate model.mo --stop 0.6 --trace events --output -");
    assert!(stderr.contains("state event") && stderr.contains("v from -4.4"), "{stderr}");
}

#[test]
fn errors_name_the_place_and_the_stage() {
    let folder = Folder::new("errors", "model M\n  Real x = y;\n  Real z = q;\nend M;\n");
    let (code, _, stderr) = folder.saltus("simulate model.mo");
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("model.mo:2:12") && stderr.contains("model.mo:3:12"), "{stderr}");
    assert!(stderr.contains("2 |   Real x = y;\n  |            ^"), "{stderr}");
    assert!(!folder.0.join("M.csv").exists());
    let (code, _, stderr) = folder.saltus("check model.mo --json");
    assert_eq!(code, 3);
    let first: Value = serde_json::from_str(stderr.lines().next().unwrap()).unwrap();
    assert_eq!((&first["file"], &first["line"], &first["column"]), (&"model.mo".into(), &2.into(), &12.into()));
}

#[test]
fn unknown_variables_are_not_drawn() {
    let folder = Folder::new("plot", BALL);
    let (code, _, stderr) = folder.saltus("simulate model.mo --plot height");
    assert_eq!(code, 2);
    assert!(stderr.contains("there is no variable height"), "{stderr}");
}

#[test]
fn looking_without_running() {
    let folder = Folder::new("look", BALL);
    assert_eq!(folder.saltus("check model.mo"), (0, "Ball: no errors\n".into(), String::new()));
    for words in
        ["flatten model.mo", "analyze model.mo", "check model.mo --dump syntax", "simulate model.mo --dump flat"]
    {
        let (code, stdout, stderr) = folder.saltus(words);
        assert_eq!((code, stderr.as_str()), (0, ""), "{words}");
        assert!(stdout.contains('h') && stdout.ends_with('\n'), "{words}: {stdout}");
    }
}

/// `saltus … | head -1` ends quietly.
#[cfg(unix)]
#[test]
fn a_reader_may_go_away() {
    use std::io::{BufRead, BufReader, Read};
    use std::process::Stdio;
    let folder = Folder::new("pipe", BALL);
    let mut child = process::Command::new(env!("CARGO_BIN_EXE_saltus"))
        .args(["simulate", "model.mo", "--intervals", "200000", "--output", "-"])
        .current_dir(&folder.0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert!(line.starts_with("time,"), "{line}");
    assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""));
}

const RAMP: &str = "model Ramp
  Real x(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(x) = 1;
  when sample(0.1, 0.1) then
    n = pre(n) + 1;
  end when;
end Ramp;
";

#[test]
fn real_time_waits_for_the_clock() {
    let folder = Folder::new("realtime", RAMP);
    let begin = std::time::Instant::now();
    let (code, _, stderr) = folder.saltus("simulate model.mo --stop 1 --realtime 2 --output r.csv");
    let took = begin.elapsed().as_secs_f64();
    assert_eq!(code, 0, "{stderr}");
    assert!(took >= 0.5, "one second at twice the speed of the clock took {took} s");
    assert!(folder.read("r.csv").lines().last().unwrap().starts_with("1.0,"), "{stderr}");
}

const SWITCH: &str = "model Switch
  Real x(start = 0, fixed = true);
  Boolean b = x > 0.7;
equation
  der(x) = 1;
end Switch;
";

/// Steps are much longer than the time to the event; rows come one by one.
#[test]
fn in_real_time_nothing_is_told_before_its_time() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;
    let folder = Folder::new("pace", SWITCH);
    let begin = std::time::Instant::now();
    let start = |words: &str| {
        process::Command::new(env!("CARGO_BIN_EXE_saltus"))
            .args(words.split_whitespace())
            .current_dir(&folder.0)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let mut child = start("simulate model.mo --stop 1000 --intervals 1 --realtime 1 --trace events --output -");
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let told = lines.map_while(Result::ok).find(|l| l.contains("x > 0.7 became true"));
    let at = begin.elapsed().as_secs_f64();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(told.is_some() && at >= 0.7, "{told:?} at {at}");

    let mut child = start("simulate model.mo --stop 1 --intervals 4 --realtime 1 --output -");
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let times: Vec<f64> = lines.map(|_| begin.elapsed().as_secs_f64()).collect();
    child.wait().unwrap();
    assert!(times.len() == 8 && times[7] - times[1] > 0.4, "rows came at {times:?}");
}

#[test]
fn coming_to_rest_and_sliding_are_in_the_log() {
    let folder = Folder::new("stays", BALL);
    let events = |words: &str| -> Vec<Value> {
        let (code, _, stderr) = folder.saltus(&format!("simulate model.mo --events e.json {words}"));
        assert_eq!(code, 0, "{stderr}");
        serde_json::from_str(&folder.read("e.json")).unwrap()
    };
    let fired = |e: &Value, what: &str| e["fired"].as_array().unwrap().iter().any(|f| f == what);
    let find = |list: &[Value], what: &str| list.iter().find(|e| fired(e, what)).unwrap_or(&Value::Null).clone();
    let rest = find(&events("--stop 6"), "h <= 0 comes to rest");
    assert_eq!((&rest["kind"], &rest["changed"][0]["name"]), (&"state".into(), &"v".into()), "{rest}");
    assert_eq!(rest["changed"][0]["after"], 0.0, "{rest}");

    fs::write(
        folder.0.join("model.mo"),
        "model Slide
  Real x(start = 0.5, fixed = true);
  Boolean up = x > 0;
equation
  der(x) = (if up then -1 else 1) + (if time > 1 then 2*(time - 1) else 0);
end Slide;
",
    )
    .unwrap();
    let list = events("--stop 2");
    let (enters, leaves) = (find(&list, "x > 0 enters the surface"), find(&list, "x > 0 leaves the surface"));
    assert!((enters["time"].as_f64().unwrap_or(0.0) - 0.5).abs() < 1e-6, "{list:?}");
    assert!((leaves["time"].as_f64().unwrap_or(0.0) - 1.5).abs() < 1e-3, "{list:?}");
    assert_eq!(leaves["kind"], "state");
}

#[test]
fn what_does_not_change_is_stored_once_in_mat_files() {
    let model = "model M
  constant Real g = 9.81;
  parameter Real p = 2;
  final parameter Real q = 2*p;
  parameter Real w(fixed = false);
  Real z = 5;
  Integer n = 3;
  Real x(start = 0, fixed = true);
initial equation
  w = p + 1;
equation
  der(x) = p;
end M;
";
    let folder = Folder::new("mat", model);
    let (code, _, stderr) = folder.saltus("simulate model.mo --output r.mat");
    assert_eq!(code, 0, "{stderr}");
    let file = fs::read(folder.0.join("r.mat")).unwrap();
    let at = file.windows(7).position(|w| w == b"data_2\0").unwrap();
    assert_eq!(file[at - 16..at - 12], 2i32.to_le_bytes(), "time and x alone");
    let back = saltus_results::Trajectory::read_mat(file.as_slice()).unwrap();
    for (name, value) in [("g", 9.81), ("p", 2.0), ("q", 4.0), ("w", 3.0), ("z", 5.0), ("n", 3.0), ("x", 2.0)] {
        assert_eq!(back.at(name, 1.0).and_then(|s| s.after).map(|v| (1e9 * v).round()), Some(1e9 * value), "{name}");
    }
}

#[test]
fn patterns_without_a_variable_are_told() {
    let folder = Folder::new("patterns", &BALL.replace("parameter", "constant Real g = 9.81;\n  parameter"));
    let (code, stdout, stderr) = folder.saltus("simulate model.mo --intervals 1 --variables h,zz,g --output -");
    assert!(code == 0 && stderr.contains("no variable of the result matches zz"), "{stderr}");
    assert!(stdout.starts_with("time,g,h\n0.0,9.81,1.0\n"), "{stdout}");
    let (code, _, stderr) = folder.saltus("simulate model.mo --variables nosuch");
    assert!(code == 2 && stderr.contains("matches nosuch"), "{stderr}");
}

#[test]
fn no_file_is_written_twice_or_over_the_model() {
    let folder = Folder::new("twice", BALL);
    for words in ["--output a.csv --events ./a.csv", "--events Ball.csv", "--events model.mo"] {
        let (code, _, stderr) = folder.saltus(&format!("simulate model.mo {words}"));
        assert!(code == 2 && stderr.contains("two files at once"), "{words}: {stderr}");
    }
    assert_eq!(folder.read("model.mo"), BALL);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_failure_of_the_run() {
    let folder = Folder::new("full", BALL);
    let (code, _, stderr) = folder.saltus("simulate model.mo --events /dev/full --output r.csv");
    assert!(code == 6 && stderr.contains("cannot write the events file"), "{stderr}");
    assert!(!stderr.contains("wrote /dev/full"), "{stderr}");
}

/// However a run ends, what it has written can be read.
#[test]
fn a_failed_run_keeps_its_results() {
    let folder = Folder::new("failed", &BALL.replace("equation", "equation\n  assert(time < 0.6, \"enough\");"));
    for file in ["r.csv", "r.mat", "r.parquet"] {
        let (code, _, stderr) = folder.saltus(&format!("simulate model.mo --output {file}"));
        assert!(code == 6 && stderr.contains(&format!("wrote {file} up to t = ")), "{stderr}");
        let bytes = fs::read(folder.0.join(file)).unwrap();
        let back = match file {
            "r.csv" => saltus_results::Trajectory::read_csv(bytes.as_slice()).unwrap(),
            "r.mat" => saltus_results::Trajectory::read_mat(bytes.as_slice()).unwrap(),
            _ => {
                assert!(bytes.ends_with(b"PAR1"));
                continue;
            }
        };
        assert!(back.times().last().is_some_and(|t| *t > 0.59 && *t < 0.61), "{file}");
    }
}

/// The width is a part of the errors of the integration: relations that an event does not touch may be on a wrong side.
#[test]
fn a_narrow_hysteresis_goes_on() {
    let model = "model H
  parameter Real a = 1e-6;
  Real x(start = 0, fixed = true);
  Boolean up(start = false, fixed = true);
equation
  der(x) = if up then -1 else 1;
  up = if pre(up) then not x < -a else x > a;
end H;
";
    let folder = Folder::new("hysteresis", model);
    let (code, _, stderr) = folder.saltus("simulate model.mo --stop 0.001 --solver qss --tolerance 1e-3");
    assert_eq!(code, 0, "{stderr}");
}

/// Ctrl-C ends the run and keeps what there is, also if the key bounces.
#[cfg(unix)]
#[test]
fn an_interrupted_run_keeps_its_results() {
    use std::process::Stdio;
    let folder = Folder::new("interrupt", RAMP);
    let child = process::Command::new(env!("CARGO_BIN_EXE_saltus"))
        .args(["simulate", "model.mo", "--stop", "1000", "--intervals", "10000", "--realtime", "1"])
        .args(["--output", "r.csv", "--events", "e.json"])
        .current_dir(&folder.0)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let twice = format!("kill -INT {0}; sleep 0.01; kill -INT {0} || true", child.id());
    let killed = process::Command::new("sh").args(["-c", &twice]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(6), "{stderr}");
    let rows = folder.read("r.csv");
    let last: f64 = rows.lines().last().unwrap().split(',').next().unwrap().parse().unwrap();
    assert!(rows.lines().count() > 3 && last > 0.2 && last < 100.0, "{last}: {stderr}");
    let events: Value = serde_json::from_str(&folder.read("e.json")).unwrap();
    assert!(events.as_array().unwrap().iter().any(|e| e["kind"] == "time"), "{events}");
    assert!(stderr.contains("interrupted"), "{stderr}");
}

/// From time 0.5 on the loop of the function has no end.
const LOOP: &str = "model M
  function f
    input Real x;
    output Real y;
  algorithm
    y := x;
    while y < 2 loop
      y := if x > 0.5 then 0.5*(y + x) else 3;
    end while;
  end f;
  Real x(start = 0, fixed = true), y;
equation
  der(x) = 1;
  der(y) = f(x);
end M;
";

#[cfg(unix)]
#[test]
fn loops_notice_an_interrupt() {
    use std::process::Stdio;
    let folder = Folder::new("interrupt-loop", LOOP);
    for engine in ["native", "interpreter"] {
        let child = process::Command::new(env!("CARGO_BIN_EXE_saltus"))
            .args(["simulate", "model.mo", "--engine", engine, "--output", "r.csv"])
            .current_dir(&folder.0)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(700));
        let killed = process::Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap();
        assert!(killed.success());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(stderr.contains("results kept"), "{engine}: {stderr}");
        assert!(folder.read("r.csv").lines().count() > 100, "{engine}: {stderr}");
    }
}

#[test]
fn loops_without_end_are_told() {
    let section = "model M
  Real x(start = 0, fixed = true), y;
equation
  der(x) = 1;
algorithm
  y := x;
  while true loop
    y := y + 1;
  end while;
end M;
";
    for (name, text, place) in [("function", LOOP, "model.mo:7:5"), ("section", section, "model.mo:7:3")] {
        let folder = Folder::new(&format!("endless-{name}"), text);
        let (code, _, stderr) = folder.saltus("simulate model.mo --output r.csv");
        assert!(code != 0 && stderr.contains("the loop has not ended after 2000000000 turns"), "{name}: {stderr}");
        assert!(stderr.contains(place), "{name}: {stderr}");
    }
}

/// No solution, and every look at the equation takes long.
const ENDLESS: &str = "model M
  function slow
    input Real x;
    output Real y;
  algorithm
    y := x;
    for i in 1:3000000 loop
      y := y + 1e-9*sin(y + i);
    end for;
  end slow;
  Real a(start = 1), b(start = 2);
equation
  a^2 + slow(b)^2 + 1 = 0;
  a*b + slow(a) = 3;
end M;
";

#[cfg(unix)]
#[test]
fn an_interrupted_initialization_ends() {
    use std::process::Stdio;
    let folder = Folder::new("interrupt-start", ENDLESS);
    for (words, kept) in [("simulate model.mo --output r.csv", None), ("init model.mo --write s.toml", Some("s.toml"))]
    {
        let child = process::Command::new(env!("CARGO_BIN_EXE_saltus"))
            .args(words.split(' '))
            .current_dir(&folder.0)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1500));
        let killed = process::Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap();
        assert!(killed.success());
        let asked = std::time::Instant::now();
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(5), "{stderr}");
        assert!(asked.elapsed().as_secs_f64() < 20.0);
        assert!(stderr.contains("interrupted while initial values at time 0.0 were looked for"), "{stderr}");
        if let Some(file) = kept {
            assert!(folder.read(file).contains("a"), "{stderr}");
        }
    }
}

#[test]
fn micro_steps_are_told_one_by_one() {
    let folder = Folder::new(
        "instants",
        "model M\n  Integer a(start = 0, fixed = true), b(start = 0, fixed = true), c(start = 0, fixed = true);\n\
         equation\n  when time > 0.5 then a = 1; end when;\n  when pre(a) > 0 then b = 2; end when;\n\
         \x20 when pre(b) > 1 then c = 3; end when;\nend M;\n",
    );
    let (code, _, stderr) = folder.saltus("simulate model.mo --stop 1 --events e.json --trace events");
    assert_eq!(code, 0, "{stderr}");
    let events: Value = serde_json::from_str(&folder.read("e.json")).unwrap();
    let event = events.as_array().unwrap().iter().find(|e| e["kind"] == "time").unwrap();
    let names: Vec<&str> =
        event["instants"].as_array().unwrap().iter().map(|i| i[0]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["a", "b", "c"], "{event}");
    assert!(stderr.contains("(a = 1 | b = 2 | c = 3)"), "{stderr}");
}

/// `reinit` to the present value changes nothing but makes the integrator start anew.
#[test]
fn a_cold_restart_can_be_forced() {
    let model = |event: &str| {
        format!(
            "model M\n  Real x(start = 1, fixed = true);\n  Integer n(start = 0, fixed = true);\nequation\n\
             \x20 der(x) = -x;\n  when sample(0.5, 0.5) then n = pre(n) + 1; {event} end when;\nend M;\n"
        )
    };
    let steps = |name: &str, event: &str| {
        let folder = Folder::new(name, &model(event));
        let (code, _, stderr) = folder.saltus("simulate model.mo --stop 5 --solver bdf --stats --json --output r.csv");
        assert_eq!(code, 0, "{stderr}");
        let last = folder.read("r.csv").lines().last().unwrap().to_string();
        let x: f64 = last.split(',').nth(1).unwrap().parse().unwrap();
        assert!((x - (-5.0f64).exp()).abs() < 1e-5, "{last}");
        let objects: Vec<Value> = stderr.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        objects.iter().find(|o| o["type"] == "stats").unwrap()["steps"].as_u64().unwrap()
    };
    let (without, with) = (steps("warm", ""), steps("cold", "reinit(x, x);"));
    assert!(with > without + 20, "{without} steps, {with} with restarts");
}

/// Flows of 0.05 that follow from differences of pressures of 2e5 stay at the edge of a branch for long: what the errors of the
/// integration do there is no event, and no reason to take small steps.
#[test]
fn events_do_not_crowd_at_an_edge() {
    let folder = Folder::new("crowd", include_str!("../../../examples/water_loop.mo"));
    for solver in ["auto", "bdf", "rosenbrock"] {
        let (code, _, stderr) = folder.saltus(&format!(
            "simulate model.mo --tolerance 1e-6 --solver {solver} --stats --json --output {solver}.csv"
        ));
        assert_eq!(code, 0, "{stderr}");
        let objects: Vec<Value> = stderr.lines().filter_map(|l| serde_json::from_str(l).ok()).collect();
        let stats = objects.iter().find(|o| o["type"] == "stats").unwrap();
        let (steps, events) = (stats["steps"].as_u64().unwrap(), stats["state_events"].as_u64().unwrap());
        assert!(events < 400 && steps < 8000, "{solver}: {events} events, {steps} steps");
        let flow: f64 =
            folder.read(&format!("{solver}.csv")).lines().last().unwrap().split(',').nth(2).unwrap().parse().unwrap();
        assert!((flow - 1.786256196519).abs() < 1e-6, "{solver}: {flow}");
    }
}

/// `terminate` ends a run well; `assert` ends it badly, or only warns; `terminal()` comes last, and what fails there is told.
#[test]
fn a_model_can_end_its_run() {
    let run = |name: &str, body: &str| {
        let text = format!(
            "model M\n  Real x(start = 0, fixed = true);\n  Integer n(start = 0, fixed = true);\nequation\n\
             \x20 der(x) = 1;\n  {body}\nend M;\n"
        );
        let folder = Folder::new(name, &text);
        let (code, _, stderr) = folder.saltus("simulate model.mo --stop 1 --intervals 10 --output r.csv");
        let last = folder.read("r.csv").lines().last().unwrap().to_string();
        (code, stderr, last)
    };
    let time = |row: &str| row.split(',').next().unwrap().parse::<f64>().unwrap();
    let (code, stderr, last) =
        run("terminate", "n = 0; when x > 0.55 then terminate(\"x is \" + String(n)); end when;");
    assert!(code == 0 && (time(&last) - 0.55).abs() < 1e-6 && stderr.contains("x is 0"), "{code} {last} {stderr}");
    let (code, stderr, last) = run("assert", "n = 0; assert(x < 0.55, \"x is too large\");");
    assert!(code == 6 && stderr.contains("x is too large") && stderr.contains("time 0.55"), "{code} {last} {stderr}");
    assert!(stderr.contains("model.mo:6"), "{stderr}");
    let (code, stderr, last) = run("warning", "n = 0; assert(x < 0.55, \"x is large\", AssertionLevel.warning);");
    assert!(code == 0 && stderr.matches("warning:").count() == 1 && time(&last) == 1.0, "{code} {last} {stderr}");
    let (code, stderr, last) = run("terminal", "when terminal() then n = pre(n) + 7; end when;");
    assert!(code == 0 && last.ends_with(",7"), "{code} {last} {stderr}");
    let (code, stderr, _) = run("last", "n = 0; when terminal() then assert(x < 0.5, \"ends too high\"); end when;");
    assert!(code == 6 && stderr.contains("ends too high"), "{code} {stderr}");
}

#[test]
fn a_jump_of_the_place_is_a_doublet_of_the_force() {
    // m = 2 jumps by -4 and loses a speed of 3: v carries -4, f carries 2*(-4) of second order and 2*(-3) of first.
    let model = "model Doublet
  parameter Real m = 2;
  Real x(start = 1, fixed = true);
  Real v(start = 3, fixed = true);
  Real f;
  discrete Boolean held(start = false, fixed = true);
equation
  when time > 1 then held = true; end when;
  der(x) = v;
  m*der(v) = f;
  if held then x = 0; else f = 0; end if;
end Doublet;
";
    let folder = Folder::new("doublet", model);
    let (code, _, stderr) = folder.saltus("simulate model.mo --stop 2 --trace events --events e.json");
    assert_eq!(code, 0, "{stderr}");
    let told = "x from 4 to 0; v from 3 to 0; impulse of -4 in v; doublet of -8 in f; impulse of -6 in f";
    assert!(stderr.contains(told), "{stderr}");
    let events: Value = serde_json::from_str(&folder.read("e.json")).unwrap();
    let size = |name: &str, order: Option<u64>| {
        let of = events[1]["impulses"].as_array().unwrap().iter();
        of.filter(|i| i["name"] == name && i["order"].as_u64() == order)
            .map(|i| i["size"].as_f64().unwrap())
            .sum::<f64>()
    };
    for (name, order, expected) in [("v", None, -4.0), ("f", Some(2), -8.0), ("f", None, -6.0)] {
        assert!((size(name, order) - expected).abs() < 1e-9, "{name} {order:?}: {}", size(name, order));
    }
}

#[test]
fn parts_are_planned_and_compiled_once_also_where_states_are_asked_for() {
    let model = "model Shafts
  parameter Integer n = 6;
  Real w[2*n](each start = 1, each fixed = true, each stateSelect = StateSelect.prefer);
  Real v[2*n](each stateSelect = StateSelect.avoid);
  Real x[2*n](each stateSelect = StateSelect.prefer), z[2*n];
  Real tau[2*n];
  Boolean closed[n] = {time > 0.1*k for k in 1:n};
equation
  for k in 1:2*n loop
    der(w[k]) = tau[k] - 0.1*k*w[k];
    v[k] + der(v[k]) = 2*w[k];
    x[k] = 3*z[k] + 1;
    der(z[k]) = -z[k] + w[k];
  end for;
  for k in 1:n loop
    if closed[k] then
      w[2*k - 1] = w[2*k];
      tau[2*k - 1] + tau[2*k] = 0;
    else
      tau[2*k - 1] = 0;
      tau[2*k] = 0;
    end if;
  end for;
end Shafts;
";
    let (code, stdout, stderr) = Folder::new("parts", model).saltus("simulate model.mo --stop 1 --stats --json");
    assert_eq!(code, 0, "{stderr}");
    let line =
        stdout.lines().chain(stderr.lines()).find(|l| l.contains("\"stats\"")).unwrap_or_else(|| panic!("{stderr}"));
    let stats: Value = serde_json::from_str(line).unwrap();
    let [planned, compiled, joined] =
        ["parts_planned", "parts_compiled", "parts_joined"].map(|k| stats[k].as_u64().unwrap());
    // For each of six clutches two shafts open and one pair closed, and what follows each shaft.
    assert!(compiled <= 6 * 11 && compiled <= planned && joined > 200, "{planned} {compiled} {joined}");
}

#[test]
fn a_state_that_rests_at_zero_in_its_last_mode_was_not_small_all_along() {
    let model = "model Landing
  Real x(start = 5, fixed = true), v(start = 0, fixed = true), N;
equation
  der(x) = v;
  der(v) = N - 10;
  if x > 0 then N = 0; else v = 0; end if;
end Landing;
";
    let (code, _, stderr) = Folder::new("landing", model).saltus("simulate model.mo --stop 3");
    assert_eq!(code, 0, "{stderr}");
    assert!(!stderr.contains("stays below"), "{stderr}");
}

#[test]
fn the_log_tells_what_fired_and_which_way() {
    let folder = Folder::new(
        "fired",
        "model M\n  Real x(start = 0, fixed = true), y(start = 0, fixed = true);\n  Integer n(start = 0, fixed = true);\n\
         equation\n  der(x) = 1;\n  der(y) = 2;\n  when x > 0.5 and y > 0.4 then n = pre(n) + 1; end when;\n\
         \x20 when time >= 0.75 then reinit(y, 0); end when;\nend M;\n",
    );
    let (code, _, stderr) = folder.saltus("simulate model.mo --stop 0.9 --trace events");
    assert_eq!(code, 0, "{stderr}");
    let events: Vec<&str> = stderr.lines().filter(|l| l.contains("state event") || l.contains("time event")).collect();
    // y > 0.4 at 0.2 changes nothing and is not told; reset, it ends the condition.
    assert_eq!(events.len(), 2, "{stderr}");
    assert!(events[0].contains("x > 0.5 became true, x > 0.5 and y > 0.4 became true; n from 0 to 1"), "{stderr}");
    assert!(events[1].contains("time >= 0.75 became true"), "{stderr}");
    assert!(events[1].contains("x > 0.5 and y > 0.4 became false"), "{stderr}");
}
