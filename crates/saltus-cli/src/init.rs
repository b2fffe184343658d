//! `saltus init`: the initialization workbench on the command line.

use crate::args::{InitArgs, ShowChoice, names};
use crate::console::{self, number};
use crate::session::{Failure, Session};
use crate::watch;
use crate::{inspect, output};
use saltus_base::{Diagnostic, Severity, Stage};
use saltus_engine::{Entry, Scenario, Show, Solved, Workbench};
use saltus_sim::{ModeMethod, StartMethod, StartOptions, Step};
use serde_json::json;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Instant;

/// Finds initial values, or answers what may be fixed and guessed.
pub fn init(arguments: &InitArgs, begun: Instant) -> Result<(), Failure> {
    for path in [&arguments.write, &arguments.write_model].into_iter().flatten() {
        output::check_folder(path).map_err(Failure::Usage)?;
    }
    let options = methods(arguments.method.as_deref(), arguments.modes.as_deref())?;
    let mut session = Session::open(&arguments.model)?;
    let model = session.model.clone();
    let bench = session.engine.workbench(&model);
    let mut bench = session.need(bench)?;
    session.tell()?;
    let flattened = Instant::now();
    let mut good = true;
    if let Some(path) = &arguments.scenario {
        match read_scenario(&mut session, &mut bench, path) {
            // A check goes on to the other questions.
            Err(Failure::Code(_)) if arguments.check => good = false,
            other => other?,
        }
    }
    change(&mut session, &mut bench, arguments)?;
    if arguments.check {
        return check(&mut session, &mut bench, good);
    }
    if let Some(name) = &arguments.alternatives {
        return alternatives(&mut session, &mut bench, name);
    }
    watch::listen_for_interrupts();
    watch::running();
    session.engine.options.stop = Some(watch::interrupted);
    let journal = arguments.trace.is_some().then(|| Box::new(trace) as saltus_sim::Journal);
    let solved = bench.solve(&mut session.engine, &options, journal);
    let solved = session.need(solved)?;
    let outcome = session.tell();
    tell_solution(&session, &bench, &solved, begun, flattened, arguments.stats);
    let show = match arguments.show {
        Some(s) => Some(s),
        None if arguments.write.is_some() || arguments.write_model.is_some() => None,
        None => Some(ShowChoice::Normal),
    };
    if let Some(show) = show {
        console::print(&table(&bench.list(which(show), &arguments.branch), &solved))?;
    }
    if let Some(path) = &arguments.write {
        write_scenario(&session, path, &bench.scenario)?;
    }
    if let Some(path) = &arguments.write_model {
        let name = path.file_stem().map_or("Start".into(), |s| s.to_string_lossy().into_owned());
        inspect::write(&session, path, &bench.to_modelica(&name))?;
    }
    std::mem::forget(session);
    outcome
}

fn methods(list: Option<&str>, modes: Option<&str>) -> Result<StartOptions, Failure> {
    let mut options = StartOptions::default();
    if let Some(list) = list {
        options.methods = names(list)
            .iter()
            .map(|n| {
                StartMethod::parse(n).ok_or_else(|| {
                    let known: Vec<&str> = StartMethod::ALL.iter().map(|m| m.1).collect();
                    Failure::Usage(format!("--method: there is no method {n}; there are {}", known.join(", ")))
                })
            })
            .collect::<Result<_, _>>()?;
    }
    if let Some(list) = modes {
        options.modes = names(list)
            .iter()
            .map(|n| {
                ModeMethod::parse(n).ok_or_else(|| {
                    let known: Vec<&str> = ModeMethod::ALL.iter().map(|m| m.1).collect();
                    Failure::Usage(format!("--modes: there is no method {n}; there are {}", known.join(", ")))
                })
            })
            .collect::<Result<_, _>>()?;
    }
    Ok(options)
}

/// Reads a scenario into the workbench; faults are told.
pub fn read_scenario(session: &mut Session, bench: &mut Workbench, path: &Path) -> Result<(), Failure> {
    let text = fs::read_to_string(path).map_err(|e| Failure::Usage(format!("cannot read {}: {e}", path.display())))?;
    let faults = bench.read(&mut session.engine, &path.display().to_string(), &text);
    session.engine.diagnostics.extend(faults);
    session.tell()
}

/// Writes a scenario; the ending of the name decides the form.
pub fn write_scenario(session: &Session, path: &Path, scenario: &Scenario) -> Result<(), Failure> {
    let xml = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("xml"));
    inspect::write(session, path, &if xml { scenario.to_xml() } else { scenario.to_toml() })
}

/// What the options change, in the order that makes the most of them: relax, steady, guess, weight, fix, mark.
fn change(session: &mut Session, bench: &mut Workbench, arguments: &InitArgs) -> Result<(), Failure> {
    let mut faults: Vec<Diagnostic> = Vec::new();
    if let Some(t) = arguments.start {
        bench.scenario.time = t;
    }
    let lists = |lists: &[String]| lists.iter().flat_map(|l| names(l)).collect::<Vec<_>>();
    for name in lists(&arguments.relax) {
        faults.extend(bench.relax(&name).err());
    }
    if let Some(list) = &arguments.steady {
        match bench.steady(&names(list)) {
            Ok(done) => {
                if !done.following.is_empty() {
                    let text = format!("no condition of their own: {}", done.following.join(", "));
                    session.remark(&text, || json!({ "type": "following", "names": done.following }));
                }
                if !done.relaxed.is_empty() {
                    let text = format!("given up for the equilibrium: {}", done.relaxed.join("; "));
                    session.remark(&text, || json!({ "type": "relaxed", "conditions": done.relaxed }));
                }
            }
            Err(d) => faults.push(d),
        }
    }
    for (name, value) in &arguments.guess {
        let value = parse(name, value)?;
        faults.extend(bench.set(name, value).err());
    }
    for (name, weight) in &arguments.weight {
        let w = parse(name, weight)?;
        if !(0.0..=1.0).contains(&w) {
            return Err(Failure::Usage(format!("--weight {name}: {w} is not between 0 (relaxed) and 1 (fixed)")));
        }
        let outcome = match w {
            w if w >= 1.0 => bench.fix(name, None),
            w if w <= 0.0 => bench.relax(name),
            w => bench.wish(name, None, w),
        };
        faults.extend(outcome.err());
    }
    for fix in &arguments.fix {
        let (name, value) = match fix.split_once('=') {
            Some((n, v)) => (n.trim(), Some(parse(n, v)?)),
            None => (fix.trim(), None),
        };
        faults.extend(bench.fix(name, value).err());
    }
    for (list, mark) in [(&arguments.mark, true), (&arguments.unmark, false)] {
        for name in lists(list) {
            faults.extend(bench.mark(&name, mark).err());
        }
    }
    session.engine.diagnostics.extend(faults);
    session.tell()
}

fn parse(name: &str, text: &str) -> Result<f64, Failure> {
    match text.trim() {
        "true" => Ok(1.0),
        "false" => Ok(0.0),
        t => match t.parse::<f64>() {
            Ok(v) if v.is_finite() => Ok(v),
            _ => Err(Failure::Usage(format!("{name}: a number is expected, not {t}"))),
        },
    }
}

fn check(session: &mut Session, bench: &mut Workbench, good: bool) -> Result<(), Failure> {
    let found = bench.check();
    let wrong = found.iter().any(|d| d.severity == Severity::Error);
    session.engine.diagnostics.extend(found);
    let told = session.tell();
    if wrong {
        return told;
    }
    if !good {
        return Err(Failure::Code(Stage::Initialization.exit_code()));
    }
    let freedom = bench.freedom().unwrap_or(0);
    let text = match freedom {
        0 => "the scenario can be solved by structure; every unknown is determined".to_string(),
        n => format!("the scenario can be solved by structure; {n} unknowns will take their start values"),
    };
    session.remark(&text, || json!({ "type": "check", "freedom": freedom }));
    Ok(())
}

fn alternatives(session: &mut Session, bench: &mut Workbench, name: &str) -> Result<(), Failure> {
    let a = match bench.alternatives(name) {
        Ok(a) => a,
        Err(d) => {
            session.engine.diagnostics.push(d);
            return session.tell();
        }
    };
    let mut text = String::new();
    if a.keep.is_empty() {
        let _ = writeln!(text, "nothing can be guessed in place of {name}");
    } else {
        let _ = writeln!(text, "may be guessed in place of {name} (equations between):");
        for (n, d) in &a.keep {
            let _ = writeln!(text, "  {n} ({d})");
        }
    }
    if !a.fix.is_empty() {
        let _ = writeln!(text, "may be fixed in place of {name}:");
        for n in &a.fix {
            let _ = writeln!(text, "  {n}");
        }
    }
    Ok(console::print(&text)?)
}

fn which(show: ShowChoice) -> Show {
    match show {
        ShowChoice::Normal => Show::Normal,
        ShowChoice::Reduced => Show::Reduced,
        ShowChoice::Selected => Show::Selected,
        ShowChoice::SelectedAll => Show::SelectedAll,
        ShowChoice::Changed => Show::Changed,
    }
}

/// What was found, in a few words on standard error.
fn tell_solution(
    session: &Session,
    bench: &Workbench,
    solved: &Solved,
    begun: Instant,
    flattened: Instant,
    stats: bool,
) {
    let mut text = format!(
        "{}: {} unknowns, {} left to iterate on",
        if solved.found { "initial values found" } else { "no initial values; the values reached are kept" },
        solved.report.unknowns,
        solved.reduced.len()
    );
    if let Some(i) = solved.index {
        let _ = write!(text, ", index {i}");
    }
    if solved.report.redundant > 0 {
        let _ = write!(text, "\nconditions that were too many and hold: {}", solved.report.redundant);
    }
    if let Some(m) = &solved.mode {
        let _ = write!(text, "\nmode: {m}");
    }
    if !solved.chosen.is_empty() {
        let shown: Vec<String> = solved
            .chosen
            .iter()
            .take(12)
            .map(|n| match bench.find(n).ok().and_then(|k| bench.scenario.entries[k].value) {
                Some(v) => format!("{n} = {}", number(v)),
                None => n.clone(),
            })
            .collect();
        let more =
            if solved.chosen.len() > 12 { format!(", … ({} in all)", solved.chosen.len()) } else { String::new() };
        let _ =
            write!(text, "\ntaken from start values, because nothing else determines them: {}{more}", shown.join(", "));
    }
    if !solved.open.is_empty() {
        let _ = write!(text, "\n{}", crate::simulate::open_text(&solved.open));
    }
    for (n, wanted, reached, weight) in &solved.wishes {
        let _ = write!(text, "\nwished {n} = {} (weight {weight}): {}", number(*wanted), number(*reached));
    }
    if stats {
        let all = begun.elapsed().as_secs_f64();
        let front = (flattened - begun).as_secs_f64();
        let _ = write!(text, "\nfront end {front:.2} s, initialization {:.2} s", all - front);
    }
    session.remark(&text, || {
        json!({
            "type": "initialization", "found": solved.found, "unknowns": solved.report.unknowns,
            "reduced": solved.reduced, "chosen": solved.chosen, "mode": solved.mode, "index": solved.index,
            "wishes": solved.wishes.iter().map(|w| json!({ "name": w.0, "wanted": w.1, "reached": w.2, "weight": w.3 }))
                .collect::<Vec<_>>(),
        })
    });
}

fn table(entries: &[&Entry], solved: &Solved) -> String {
    let cell = |v: Option<f64>| v.map_or_else(|| "-".to_string(), number);
    let mut rows: Vec<[String; 8]> =
        vec![["name", "kind", "weight", "value", "min", "max", "nominal", "mark"].map(String::from)];
    for e in entries {
        let chosen = e.weight == 0.0 && solved.chosen.contains(&e.name);
        rows.push([
            e.name.clone(),
            e.kind.name().into(),
            if chosen { "start".into() } else { e.weight.to_string() },
            match solved.wishes.iter().find(|w| w.0 == e.name) {
                Some(w) => format!("{} (wished {})", number(w.2), number(w.1)),
                None => cell(e.value),
            },
            cell(e.min),
            cell(e.max),
            cell(e.nominal),
            if e.mark { "Y" } else { "N" }.into(),
        ]);
    }
    let mut width = [0; 8];
    for r in &rows {
        for (w, c) in width.iter_mut().zip(r) {
            *w = (*w).max(c.chars().count());
        }
    }
    let mut s = String::new();
    for r in &rows {
        let line: Vec<String> = r.iter().zip(width).map(|(c, w)| format!("{c:<w$}")).collect();
        let _ = writeln!(s, "{}", line.join("  ").trim_end());
    }
    s
}

/// A line of the journal as a JSON object, on standard error.
fn trace(step: Step) {
    let finite = |v: f64| if v.is_finite() { json!(v) } else { json!(null) };
    let line = match step {
        Step::Block { unknowns, equations } => json!({ "type": "block", "unknowns": unknowns, "equations": equations }),
        Step::Iteration { method, residual, step, damping, lambda, values } => json!({
            "type": "iteration", "method": method, "residual": finite(residual), "step": finite(step),
            "damping": finite(damping), "lambda": lambda,
            "values": values.iter().map(|v| finite(*v)).collect::<Vec<_>>(),
        }),
        Step::End { solved, how } => json!({ "type": "end", "solved": solved, "how": how }),
        Step::Mode(values) => {
            let values: serde_json::Map<String, serde_json::Value> =
                values.into_iter().map(|(n, v)| (n, json!(v))).collect();
            json!({ "type": "mode", "values": values })
        }
    };
    console::say(line.to_string());
}
