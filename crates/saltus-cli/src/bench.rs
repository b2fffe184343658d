//! `saltus bench`: how fast Saltus is on this machine.
//!
//! * `saltus bench`: from the start to the first row of a ten-equation model, as a ratio to compiling and running the same
//!   in C;
//! * `saltus bench program`, `saltus bench functions`: native code against C;
//! * `saltus bench msl`: compile time, simulation time, steps, events and memory of many examples, each in a process of
//!   its own with a time limit;
//! * `saltus bench solvers`: the integrators beside SUNDIALS;
//! * `saltus bench events`: what an event costs beside crossing functions that it does not touch;
//! * `saltus bench bridge`: a thyristor bridge beside the same with its instants given.

mod bridge;
mod events;
mod solvers;

use crate::args::{BenchArgs, BenchWhat, EngineChoice, FunctionsArgs, ModelArgs, MslArgs, ProgramArgs};
use crate::console;
use crate::session::{Failure, Session};
use crate::stats::{megabytes, seconds};
use saltus_bench::processor_seconds;
use saltus_results::{Column, Sink};
use saltus_sim::{Quiet, RunOptions};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use std::{env, io, thread};

const MODEL: &str = include_str!("ten_equations.mo");
const PROGRAM: &str = include_str!("ten_equations.c");
const REPETITIONS: usize = 5;

/// Measures what the arguments ask for.
pub fn bench(arguments: &BenchArgs) -> Result<(), Failure> {
    match &arguments.what {
        None => small(arguments.json),
        Some(BenchWhat::Msl(msl)) => many(msl, arguments.json),
        Some(BenchWhat::Solvers(s)) => solvers::solvers(s, arguments.json),
        Some(BenchWhat::Program(program)) => one_program(program, arguments.json),
        Some(BenchWhat::Functions(functions)) => loops(functions, arguments.json),
        Some(BenchWhat::Events) => events::events(arguments.json),
        Some(BenchWhat::Bridge) => bridge::bridge(arguments.json),
    }
}

fn cannot(what: &str, error: impl std::fmt::Display) -> Failure {
    Failure::Run(format!("{what}: {error}"))
}

/// A folder that disappears with the value.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Scratch, Failure> {
        let path = env::temp_dir().join(format!("saltus-bench-{}", std::process::id()));
        fs::create_dir_all(&path).map_err(|e| cannot(&path.display().to_string(), e))?;
        Ok(Scratch(path))
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf, Failure> {
        let path = self.0.join(name);
        fs::write(&path, text).map_err(|e| cannot(&path.display().to_string(), e))?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Keeps the last row and forgets the others.
#[derive(Default)]
struct LastRow(Vec<f64>);

impl Sink for LastRow {
    fn begin(&mut self, _: &[Column]) -> io::Result<()> {
        Ok(())
    }
    fn row(&mut self, _: f64, values: &[f64], _: Option<&[bool]>) -> io::Result<()> {
        self.0.clear();
        self.0.extend_from_slice(values);
        Ok(())
    }
    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

// ---- start to first row

/// Notes when the first row comes.
#[derive(Default)]
struct FirstRow(Option<Instant>);

impl Sink for FirstRow {
    fn begin(&mut self, _: &[Column]) -> io::Result<()> {
        Ok(())
    }
    fn row(&mut self, _: f64, _: &[f64], _: Option<&[bool]>) -> io::Result<()> {
        self.0.get_or_insert_with(Instant::now);
        Ok(())
    }
    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn best(mut measure: impl FnMut() -> Result<f64, Failure>) -> Result<f64, Failure> {
    let mut best = f64::INFINITY;
    for _ in 0..REPETITIONS {
        best = best.min(measure()?);
    }
    Ok(best)
}

fn small(json: bool) -> Result<(), Failure> {
    let scratch = Scratch::new()?;
    let model = scratch.write("ten_equations.mo", MODEL)?;
    let program = scratch.write("ten_equations.c", PROGRAM)?;
    let in_process = best(|| first_row(&model))?;
    let this = env::current_exe().map_err(|e| cannot("cannot find the running program", e))?;
    let words: [&OsStr; 4] = ["simulate".as_ref(), model.as_ref(), "--output".as_ref(), "-".as_ref()];
    let process = best(|| run_to_end(&this, &words))?;
    let compiler = ["gcc", "cc"].into_iter().find(|c| run_to_end(c, &["--version"]).is_ok());
    let c = compiler.map(|compiler| c_program(compiler, &program, &scratch.0.join("ten_equations"))).transpose()?;
    if json {
        let c = c.map(|(compile, run)| json!({ "compile_seconds": compile, "run_seconds": run }));
        let numbers = json!({
            "type": "bench", "first_row_seconds": in_process, "process_seconds": process, "c": c,
        });
        return Ok(console::print(&numbers.to_string())?);
    }
    let mut lines = vec![
        format!("A ten-equation model, 500 output intervals, best of {REPETITIONS}"),
        format!("  start to first row, in this process      {}", seconds(in_process)),
        format!("  saltus simulate as a new process         {}", seconds(process)),
    ];
    match (compiler, c) {
        (Some(compiler), Some((compile, run))) => lines.extend([
            format!("  {:<40} {}", format!("{compiler} -O2 of the same in C"), seconds(compile)),
            format!("  running that                             {}", seconds(run)),
            format!("  first row : compiled and run C           {:.3}", in_process / (compile + run)),
            format!("  new process : compiled and run C         {:.3}", process / (compile + run)),
        ]),
        _ => lines.push("  (there is no C compiler to compare with)".into()),
    }
    Ok(console::print(&lines.join("\n"))?)
}

/// Seconds from nothing to the first row.
fn first_row(model: &Path) -> Result<f64, Failure> {
    let arguments = small_model(&model.display().to_string(), None);
    let begun = Instant::now();
    let mut session = Session::open(&arguments)?;
    let dae = session.flatten()?;
    let mut sink = FirstRow::default();
    let report = session.engine.simulate(dae, &RunOptions::default(), &mut sink, &mut Quiet);
    session.need(report)?;
    session.tell()?;
    let first = sink.0.ok_or_else(|| Failure::Bug("a run without rows".into()))?;
    Ok((first - begun).as_secs_f64())
}

/// A model compiled without options.
fn small_model(target: &str, model: Option<&str>) -> ModelArgs {
    ModelArgs {
        target: target.to_string(),
        model: model.map(str::to_string),
        library: Vec::new(),
        no_cache: false,
        set: Vec::new(),
        invert: Vec::new(),
        keep_all_variables: false,
        max_eliminations: None,
        engine: EngineChoice::Native,
        json: false,
    }
}

/// Seconds that a program takes; its output goes through a pipe, as if somebody read it.
fn run_to_end<P: AsRef<OsStr>, S: AsRef<OsStr>>(program: P, words: &[S]) -> Result<f64, Failure> {
    let name = program.as_ref().display().to_string();
    let begun = Instant::now();
    let output = Command::new(program).args(words).stdin(Stdio::null()).output().map_err(|e| cannot(&name, e))?;
    let took = begun.elapsed().as_secs_f64();
    if !output.status.success() {
        return Err(cannot(&name, format!("{}\n{}", output.status, String::from_utf8_lossy(&output.stderr))));
    }
    Ok(took)
}

/// Seconds to compile and seconds to run, best of several.
fn c_program(compiler: &str, source: &Path, binary: &Path) -> Result<(f64, f64), Failure> {
    let words: [&OsStr; 5] = ["-O2".as_ref(), "-o".as_ref(), binary.as_ref(), source.as_ref(), "-lm".as_ref()];
    let compile = best(|| run_to_end(compiler, &words))?;
    let run = best(|| run_to_end::<_, &str>(binary, &[]))?;
    Ok((compile, run))
}

// ---- native code against C

fn compiler() -> Result<&'static str, Failure> {
    let found = ["gcc", "cc"].into_iter().find(|c| run_to_end(c, &["--version"]).is_ok());
    found.ok_or_else(|| Failure::Run("there is no C compiler to compare with".into()))
}

/// A compiled C program that measures itself: a line for a line, so that both sides are measured in turn.
struct Beside {
    child: Child,
    ask: ChildStdin,
    answers: io::Lines<BufReader<ChildStdout>>,
    /// The least first number of an answer, and the second of the last.
    best: f64,
    result: f64,
}

impl Beside {
    fn new(source: &Path, flags: &[&str], words: &[&str]) -> Result<Beside, Failure> {
        let compiler = compiler()?;
        let binary = source.with_extension("bin");
        let mut command = Command::new(compiler);
        command.args(["-O2", "-ffp-contract=off"]).args(flags).arg("-o").arg(&binary).arg(source).arg("-lm");
        let output = command.stdin(Stdio::null()).output().map_err(|e| cannot(compiler, e))?;
        if !output.status.success() {
            return Err(cannot(compiler, String::from_utf8_lossy(&output.stderr)));
        }
        let child = Command::new(&binary).args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.map_err(|e| cannot("the C program", e))?;
        let (Some(ask), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(cannot("the C program", "has no input or output"));
        };
        Ok(Beside { child, ask, answers: BufReader::new(answers).lines(), best: f64::INFINITY, result: f64::NAN })
    }

    /// Measures once more; the time is not a number if that fails.
    fn measure(&mut self, question: &str) -> f64 {
        let asked = writeln!(self.ask, "{question}").and_then(|()| self.ask.flush()).is_ok();
        let line = if asked { self.answers.next() } else { None };
        let numbers =
            line.and_then(Result::ok).map(|l| l.split_whitespace().map(str::parse::<f64>).collect::<Vec<_>>());
        let mut numbers = numbers.into_iter().flatten().map(|n| n.unwrap_or(f64::NAN));
        let took = numbers.next().unwrap_or(f64::NAN);
        self.best = if took.is_nan() { took } else { self.best.min(took) };
        self.result = numbers.next().unwrap_or(f64::NAN);
        took
    }

    /// The shortest time.
    fn best(&self) -> Result<f64, Failure> {
        if self.best.is_finite() { Ok(self.best) } else { Err(cannot("the C program", "it failed")) }
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn one_program(arguments: &ProgramArgs, json: bool) -> Result<(), Failure> {
    let model =
        ModelArgs { library: arguments.library.clone(), ..small_model(&arguments.target, arguments.model.as_deref()) };
    let mut session = Session::open(&model)?;
    let dae = session.flatten()?;
    let name = session.model.clone();
    let text = session.engine.export_c(dae.clone(), &name);
    let text = session.need(text)?;
    let scratch = Scratch::new()?;
    let source = scratch.write("program.c", &text)?;
    let mut c = Beside::new(&source, &["-DSALTUS_BENCH"], &[&arguments.evaluations.to_string()])?;
    let measured =
        session.engine.evaluation_times(dae, arguments.evaluations, processor_seconds, &mut || c.measure(""));
    let native = session.need(measured)?;
    session.tell()?;
    let c = c.best()?;
    if json {
        let numbers = json!({
            "type": "bench", "model": name, "native_nanoseconds": native.continuous, "c_nanoseconds": c,
            "derivatives_nanoseconds": native.derivatives, "jacobian_nanoseconds": native.jacobian,
            "native_to_c": native.ratios[0], "jacobian_to_derivatives": native.jacobian.map(|_| native.ratios[1]),
            "templates_compiled": native.spent[0].pieces, "template_seconds": native.spent[0].seconds,
            "joined_pieces": native.spent[1].pieces, "joined_seconds": native.spent[1].seconds,
        });
        return Ok(console::print(&numbers.to_string())?);
    }
    let mut lines = vec![
        format!("{name}: one evaluation of everything continuous"),
        format!("  native                  {:>12.1} ns", native.continuous),
        format!("  gcc -O2                 {c:>12.1} ns"),
        format!("  native : gcc            {:>12.2}", native.ratios[0]),
        format!("  derivatives alone       {:>12.1} ns", native.derivatives),
    ];
    if let Some(jacobian) = native.jacobian {
        lines.push(format!("  Jacobian                {jacobian:>12.1} ns"));
        lines.push(format!("  Jacobian : derivatives  {:>12.2}", native.ratios[1]));
    }
    for (name, s) in ["templates compiled", "joined pieces"].into_iter().zip(native.spent).filter(|s| s.1.pieces > 0) {
        let (each, n) = (1e3 * s.seconds / s.pieces as f64, s.operations as f64 / s.pieces as f64);
        lines.push(format!("  {name:<23} {:>12} at {each:.2} ms, {n:.0} operations each", s.pieces));
    }
    Ok(console::print(&lines.join("\n"))?)
}

/// Calls of each function that are measured.
const CALLS: usize = 60;

fn loops(arguments: &FunctionsArgs, json: bool) -> Result<(), Failure> {
    let scratch = Scratch::new()?;
    let model = scratch.write("loops.mo", include_str!("loops.mo"))?;
    let source = scratch.write("loops.c", include_str!("loops.c"))?;
    let mut session = Session::open(&small_model(&model.display().to_string(), Some("Loops.All")))?;
    let dae = session.flatten()?;
    let n = arguments.elements;
    let mut lines = vec![
        format!("Functions with loops over {n} elements, best of {CALLS} in turn, middle ratio"),
        format!("  {:<12} {:>12} {:>12} {:>8}", "", "native", "gcc -O2", "ratio"),
    ];
    for (k, name) in ["assign", "recurrence", "vectors"].into_iter().enumerate() {
        let mut c = Beside::new(&source, &[], &[&n.to_string()])?;
        let full = format!("Loops.{name}");
        let question = k.to_string();
        let mut beside = || c.measure(&question);
        let args = [n as f64, 0.37];
        let Some(time) = saltus_engine::function_time(&dae, &full, &args, CALLS, &processor_seconds, &mut beside)
        else {
            return Err(Failure::Bug(format!("{full} cannot be called")));
        };
        let (want, c) = (c.result, c.best()?);
        if time.result != want {
            return Err(Failure::Bug(format!("{full} gives {}, in C {want}", time.result)));
        }
        if json {
            let (took, ratio) = (time.best, time.ratio);
            let numbers =
                json!({ "type": "bench", "function": name, "native_seconds": took, "c_seconds": c, "ratio": ratio });
            console::print(&numbers.to_string())?;
        }
        lines.push(format!("  {name:<12} {:>12} {:>12} {:>8.2}", seconds(time.best), seconds(c), time.ratio));
    }
    if json { Ok(()) } else { Ok(console::print(&lines.join("\n"))?) }
}

// ---- many examples

#[derive(Debug, Deserialize)]
struct Cases {
    cases: Vec<Case>,
}

#[derive(Debug, Deserialize)]
struct Case {
    model: String,
    start: Option<f64>,
    stop: Option<f64>,
    tolerance: Option<f64>,
}

/// What became of one example.
#[derive(Debug, Default, Serialize)]
struct Measured {
    #[serde(rename = "type")]
    kind: &'static str,
    model: String,
    /// `fine`, or the stage that failed, or `timeout`, or `crash`.
    outcome: String,
    compile_seconds: f64,
    run_seconds: f64,
    steps: u64,
    events: u64,
    peak_memory_bytes: u64,
    /// The first error.
    #[serde(skip_serializing_if = "String::is_empty")]
    message: String,
}

fn read_cases(arguments: &MslArgs) -> Result<Vec<Case>, Failure> {
    let wrong = |error: String| Failure::Usage(format!("{}: {error}", arguments.cases.display()));
    let text = fs::read_to_string(&arguments.cases).map_err(|e| wrong(e.to_string()))?;
    let cases: Cases = serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))?;
    let wanted = cases.cases.into_iter().filter(|c| c.model.contains(&arguments.filter));
    Ok(wanted.step_by(arguments.every).collect())
}

fn many(arguments: &MslArgs, json: bool) -> Result<(), Failure> {
    let cases = read_cases(arguments)?;
    if cases.is_empty() {
        return Err(Failure::Usage("no example has such a name".into()));
    }
    let this = env::current_exe().map_err(|e| cannot("cannot find the running program", e))?;
    let scratch = Scratch::new()?;
    let width = cases.iter().map(|c| c.model.len()).max().unwrap_or(0);
    if !json {
        console::print(&format!(
            "{:<width$} {:>12} {:>12} {:>9} {:>8} {:>10}",
            "example", "compile", "simulate", "steps", "events", "memory"
        ))?;
    }
    let mut all = Vec::new();
    for case in &cases {
        let measured = one(&this, case, arguments, &scratch.0).map_err(|e| cannot(&case.model, e))?;
        console::print(&if json { json!(measured).to_string() } else { line(&measured, width) })?;
        all.push(measured);
    }
    let fine: Vec<&Measured> = all.iter().filter(|m| m.outcome == "fine").collect();
    let sum = |number: fn(&Measured) -> f64| fine.iter().map(|m| number(m)).sum::<f64>();
    let (compile, run) = (sum(|m| m.compile_seconds), sum(|m| m.run_seconds));
    let memory = fine.iter().map(|m| m.peak_memory_bytes).max().unwrap_or(0);
    Ok(console::print(&if json {
        json!({
            "type": "total", "examples": all.len(), "fine": fine.len(), "compile_seconds": compile,
            "run_seconds": run, "peak_memory_bytes": memory,
        })
        .to_string()
    } else {
        format!(
            "{} of {} run: compile {}, simulate {}, at most {}",
            fine.len(),
            all.len(),
            seconds(compile),
            seconds(run),
            megabytes(memory)
        )
    })?)
}

fn line(m: &Measured, width: usize) -> String {
    if m.outcome != "fine" {
        return format!("{:<width$} {}: {}", m.model, m.outcome, m.message);
    }
    format!(
        "{:<width$} {:>12} {:>12} {:>9} {:>8} {:>10}",
        m.model,
        seconds(m.compile_seconds),
        seconds(m.run_seconds),
        m.steps,
        m.events,
        megabytes(m.peak_memory_bytes)
    )
}

/// Runs one example in a process of its own.
fn one(this: &Path, case: &Case, arguments: &MslArgs, folder: &Path) -> io::Result<Measured> {
    let (result, messages) = (folder.join("result.csv"), folder.join("messages"));
    let mut command = Command::new(this);
    command.args(["simulate", &case.model, "--stats", "--json", "--output"]).arg(&result);
    for (option, value) in [("--start", case.start), ("--stop", case.stop), ("--tolerance", case.tolerance)] {
        if let Some(value) = value {
            command.args([option, &value.to_string()]);
        }
    }
    for library in &arguments.library {
        command.arg("--library").arg(library);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&messages)?);
    let ended = wait(&mut command, Duration::from_secs_f64(arguments.limit))?;
    let text = String::from_utf8_lossy(&fs::read(&messages)?).into_owned();
    let _ = fs::remove_file(result);
    let mut measured = judge(&case.model, ended.map(|s| s.code()), &text);
    if measured.outcome == "timeout" {
        measured.message = format!("no end within {} s", arguments.limit);
    }
    Ok(measured)
}

/// Waits for a program; `None` if its time was up.
fn wait(command: &mut Command, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let mut child = command.spawn()?;
    let deadline = Instant::now() + limit;
    let mut pause = Duration::from_micros(500);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

/// Reads what the process of one example has said. `ended` is `None` after a timeout, `Some(None)` after a signal.
fn judge(model: &str, ended: Option<Option<i32>>, text: &str) -> Measured {
    let objects: Vec<Value> = text.lines().filter_map(|l| serde_json::from_str(l).ok()).collect();
    let outcome = match ended {
        None => "timeout",
        Some(Some(0)) => "fine",
        Some(Some(2)) => "usage",
        Some(Some(3)) => "front end",
        Some(Some(4)) => "structure",
        Some(Some(5)) => "initialization",
        Some(Some(6)) => "run",
        Some(_) => "crash",
    };
    let error = objects.iter().find(|o| o["severity"] == "error").and_then(|o| o["message"].as_str());
    let mut measured = Measured {
        kind: "example",
        model: model.into(),
        outcome: outcome.into(),
        message: if outcome == "fine" { "" } else { error.or(text.lines().next()).unwrap_or("") }.into(),
        ..Measured::default()
    };
    if let Some(stats) = objects.iter().find(|o| o["type"] == "stats") {
        let number = |key: &str| stats[key].as_f64().unwrap_or(0.0);
        measured.compile_seconds = number("front_end_seconds") + number("compile_seconds");
        measured.run_seconds = number("run_seconds");
        measured.steps = number("steps") as u64;
        measured.events = (number("state_events") + number("time_events")) as u64;
        measured.peak_memory_bytes = number("peak_memory_bytes") as u64;
    }
    measured
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_come_from_the_stats() {
        let text = concat!(
            "{\"type\":\"diagnostic\",\"severity\":\"warning\",\"message\":\"hm\"}\n",
            "{\"type\":\"stats\",\"front_end_seconds\":1.0,\"compile_seconds\":0.5,\"run_seconds\":2.0,\"steps\":7,",
            "\"state_events\":2,\"time_events\":3,\"peak_memory_bytes\":1000000}\n",
        );
        let m = judge("M", Some(Some(0)), text);
        assert_eq!((m.outcome.as_str(), m.compile_seconds, m.run_seconds), ("fine", 1.5, 2.0));
        assert_eq!((m.steps, m.events, m.peak_memory_bytes, m.message.as_str()), (7, 5, 1_000_000, ""));
        assert_eq!(line(&m, 3), "M        1.500 s      2.000 s         7        5     1.0 MB");
    }

    #[test]
    fn failures_say_where_and_why() {
        let text = "{\"type\":\"diagnostic\",\"severity\":\"error\",\"message\":\"no class\"}\n";
        assert_eq!(line(&judge("M", Some(Some(3)), text), 1), "M front end: no class");
        assert_eq!(judge("M", Some(Some(70)), "bug in Saltus: x\n").message, "bug in Saltus: x");
        assert_eq!(judge("M", Some(None), "").outcome, "crash");
        assert_eq!(judge("M", None, "").outcome, "timeout");
    }

    #[cfg(unix)]
    #[test]
    fn programs_are_stopped_when_their_time_is_up() {
        let mut sleep = Command::new("sleep");
        assert!(wait(sleep.arg("100"), Duration::from_millis(50)).unwrap().is_none());
        assert!(wait(&mut Command::new("true"), Duration::from_secs(10)).unwrap().unwrap().success());
    }
}
