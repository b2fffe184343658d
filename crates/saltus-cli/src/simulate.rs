//! `saltus simulate`.

use crate::args::{self, Dump, RunArgs, SimulateArgs};
use crate::console::{self, number};
use crate::events::EventsFile;
use crate::init;
use crate::inspect;
use crate::output::{self, Destination, Output};
use crate::session::{Failure, Session};
use crate::stats::{Phases, Stats};
use crate::watch::{self, Watch};
use saltus_base::Stage;
use saltus_dae::HybridDae;
use saltus_engine::Workbench;
use saltus_results::{Sink, Size, plot_svg};
use saltus_sim::{RunOptions, RunReport};
use serde_json::json;
use std::path::Path;
use std::time::Instant;

/// Compiles and runs a model.
pub fn simulate(arguments: &SimulateArgs, begun: Instant) -> Result<(), Failure> {
    match arguments.dump {
        Some(Dump::Syntax) => return Session::dump_syntax(&arguments.model),
        Some(stage) => return Session::open(&arguments.model)?.dump(stage),
        None => {}
    }
    check(arguments)?;
    watch::listen_for_interrupts();

    let mut session = Session::open(&arguments.model)?;
    session.engine.options.stop = Some(watch::interrupted);
    session.engine.options.keep_final = arguments.write_final.is_some();
    let (dae, mut bench, run) = from_scenario(&mut session, arguments)?;
    session.tell()?;
    let flattened = Instant::now();

    let name = session.short_name();
    let destination = Destination::new(arguments.output.as_deref(), &name).map_err(Failure::Usage)?;
    let picture = destination.picture(&name);
    let wanted: Vec<String> = arguments.plot.iter().flat_map(|list| args::names(list)).collect();
    check_plot(&wanted, &dae)?;
    check_files(arguments, &destination, (!wanted.is_empty()).then_some(&*picture))?;
    let mut variables: Vec<String> = arguments.variables.iter().flat_map(|list| args::names(list)).collect();
    if !variables.is_empty() {
        variables.extend(wanted.iter().cloned());
    }
    let mut output = Output::new(destination, wanted, output::constants(&dae, &variables));
    output.followed = run.realtime.is_some();
    output.discrete = arguments.discrete.clone();
    let events = arguments.events.clone().map(EventsFile::new);
    let range = range(&run, &dae);
    let mut watch = Watch::new(session.style, arguments.trace, events, &session.engine.sources(), range);

    let options = RunOptions { variables, ..run.options(arguments.model.keep_all_variables) };
    let report = session.engine.simulate(dae, &options, &mut output, &mut watch);
    // Errors are remembered by the output itself.
    let _ = output.finish();
    let ended = Instant::now();
    watch.finish(output.begun.is_some());

    if arguments.stats {
        // Whichever came first shows that compilation is over.
        let running = [output.begun, watch.first_sign.get()].into_iter().flatten().min();
        let phases = Phases {
            front_end: (flattened - begun).as_secs_f64(),
            compile: (running.unwrap_or(ended) - flattened).as_secs_f64(),
            run: running.map_or(0.0, |r| (ended - r).as_secs_f64()),
            total: (ended - begun).as_secs_f64(),
            first_row: output.first_row.map(|r| (r - begun).as_secs_f64()),
        };
        let stats = Stats::new(&session.model, phases, output.rows, report.as_ref());
        session.remark(&stats.table(), || json!(stats));
    }
    if let (false, Some(r)) = (arguments.model.invert.is_empty(), &report) {
        let text = format!("inverse model: structural index {}", r.index);
        session.remark(&text, || json!({ "type": "inverse", "index": r.index }));
    }
    let outcome = outcome(&mut session, report.as_ref(), &output, &watch);
    if let (Some(path), Some(bench)) = (&arguments.write_final, &mut bench)
        && let Some(end) = session.engine.final_scenario(bench)
    {
        init::write_scenario(&session, path, &end)?;
    }
    let events = arguments.events.as_deref().filter(|_| watch.refused.is_none() && watch.failed.is_none());
    keep(&session, events, &output, &picture, outcome.is_err())?;
    // The process is about to end: nobody needs the memory of a large model back.
    std::mem::forget(session);
    outcome
}

/// The flat model, started as `--from` says; the workbench it came through, if one was needed.
fn from_scenario(
    session: &mut Session,
    arguments: &SimulateArgs,
) -> Result<(HybridDae, Option<Workbench>, RunArgs), Failure> {
    let mut run = arguments.run.clone();
    if arguments.from.is_none() && arguments.write_final.is_none() {
        return Ok((session.flatten()?, None, run));
    }
    let model = session.model.clone();
    let bench = session.engine.workbench(&model);
    let mut bench = session.need(bench)?;
    let Some(path) = &arguments.from else {
        return Ok((bench.model().clone(), Some(bench), run));
    };
    init::read_scenario(session, &mut bench, path)?;
    run.start = run.start.or(Some(bench.scenario.time));
    let dae = bench.problem(&mut session.engine);
    Ok((session.need(dae)?, Some(bench), run))
}

/// What can be told to be wrong before anything is read.
fn check(arguments: &SimulateArgs) -> Result<(), Failure> {
    // The name of the model does not matter here.
    Destination::new(arguments.output.as_deref(), "model").map_err(Failure::Usage)?;
    for path in arguments.events.iter().chain(&arguments.discrete) {
        output::check_folder(path).map_err(Failure::Usage)?;
    }
    match (arguments.run.start, arguments.run.stop) {
        (Some(start), Some(stop)) if stop < start => {
            Err(Failure::Usage(format!("the stop time {stop} lies before the start time {start}")))
        }
        _ => Ok(()),
    }
}

/// Refuses files that would be written twice, or over what is read.
fn check_files(arguments: &SimulateArgs, destination: &Destination, picture: Option<&Path>) -> Result<(), Failure> {
    let rows = match destination {
        Destination::File(path, _) => Some(path.as_path()),
        Destination::StandardOutput => None,
    };
    let model = Some(Path::new(&arguments.model.target)).filter(|path| path.is_file());
    let files = [
        model,
        rows,
        arguments.events.as_deref(),
        arguments.discrete.as_deref(),
        arguments.write_final.as_deref(),
        picture,
    ];
    output::check_distinct(files.into_iter().flatten()).map_err(Failure::Usage)
}

/// Refuses names that cannot be in the result because the model does not have them.
fn check_plot(wanted: &[String], dae: &HybridDae) -> Result<(), Failure> {
    if wanted.is_empty() {
        return Ok(());
    }
    let names = dae.vars.as_slice().iter().filter(|v| !v.name.starts_with('$')).map(|v| v.name.as_str());
    let (_, missing) = output::choose(wanted, names.clone());
    // A derivative has no variable of its own in the flat model, and still may be a column.
    match missing.iter().find(|name| !name.starts_with("der(")) {
        Some(name) => Err(no_variable(name, names)),
        None => Ok(()),
    }
}

fn no_variable<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Failure {
    let hint = output::nearest(name, names).map(|n| format!("; did you mean {n}?")).unwrap_or_default();
    Failure::Usage(format!("--plot: there is no variable {name}{hint}"))
}

/// From when to when the run goes, as far as one can tell from outside; only for the progress bar.
fn range(run: &RunArgs, dae: &HybridDae) -> (f64, f64) {
    let start = run.start.or(dae.experiment.start).unwrap_or(0.0);
    (start, run.stop.or(dae.experiment.stop).unwrap_or(start + 1.0))
}

/// How the run ended, told on standard error.
fn outcome(session: &mut Session, report: Option<&RunReport>, output: &Output, watch: &Watch) -> Result<(), Failure> {
    if let Some(reason) = &output.refused {
        return Err(Failure::Usage(reason.clone()));
    }
    if console::reader_gone() {
        return Err(Failure::Code(0));
    }
    if let Some(error) = &output.failed {
        let place = output.path().map_or("to standard output".into(), |p| p.display().to_string());
        return Err(Failure::Run(format!("cannot write {place}: {error}")));
    }
    let report = session.need(report)?;
    session.tell()?;
    if let Some(error) = &watch.refused {
        return Err(Failure::Usage(format!("cannot write the events file: {error}")));
    }
    if let Some(error) = &watch.failed {
        return Err(Failure::Run(format!("cannot write the events file: {error}")));
    }
    tell_chosen(session, report);
    report_end(session, report)
}

/// Says what the start left open and took from start values.
fn tell_chosen(session: &Session, report: &RunReport) {
    if !report.open.is_empty() {
        let text = open_text(&report.open);
        session.remark(&text, || {
            let values = report.open.iter().map(|(n, v)| json!({ "name": n, "value": v })).collect::<Vec<_>>();
            json!({ "type": "open", "values": values })
        });
    }
    if report.chosen.is_empty() {
        return;
    }
    let shown: Vec<String> = report.chosen.iter().take(6).map(|(n, v)| format!("{n} = {}", number(*v))).collect();
    let more = match report.chosen.len() {
        n if n > 6 => format!(", … ({n} in all; saltus init lists them)"),
        _ => String::new(),
    };
    let text = format!("taken from start values, because nothing else determines them: {}{more}", shown.join(", "));
    session.remark(&text, || {
        let values = report.chosen.iter().map(|(n, v)| json!({ "name": n, "value": v })).collect::<Vec<_>>();
        json!({ "type": "chosen", "values": values })
    });
}

/// What linear equations leave open, in words.
pub fn open_text(open: &[(String, f64)]) -> String {
    let shown: Vec<String> = open.iter().take(6).map(|(n, v)| format!("{n} = {}", number(*v))).collect();
    let more = if open.len() > 6 { format!(", … ({} in all)", open.len()) } else { String::new() };
    format!(
        "the equations agree but leave these open; values near their guesses were taken: {}{more}",
        shown.join(", ")
    )
}

fn report_end(session: &Session, report: &RunReport) -> Result<(), Failure> {
    if let Some(late) = report.late {
        let text = format!("the run ended {late:.1} s behind the clock");
        session.remark(&text, || json!({ "type": "late", "seconds": late }));
    }
    if report.cancelled {
        let (text, object) = watch::interruption(report.end);
        session.remark(&text, || object);
        return Err(Failure::Code(Stage::Run.exit_code()));
    }
    if let Some(message) = &report.terminated {
        let text = format!("the model ended the run at t = {}: {message}", number(report.end));
        session.remark(&text, || json!({ "type": "terminated", "time": report.end, "message": message }));
    }
    Ok(())
}

/// Draws the picture and says what was written, also after a failure.
fn keep(
    session: &Session,
    events: Option<&Path>,
    output: &Output,
    picture: &Path,
    failed: bool,
) -> Result<(), Failure> {
    if console::reader_gone() || output.rows == 0 || output.failed.is_some() {
        return Ok(());
    }
    if let Some(path) = output.path() {
        let until = if failed { format!(" up to t = {}", number(output.last_time)) } else { String::new() };
        let path = path.display().to_string();
        session
            .remark(&format!("wrote {path}{until}"), || json!({ "type": "file", "path": path, "rows": output.rows }));
    }
    for path in output.discrete.as_deref().into_iter().chain(events) {
        let path = path.display().to_string();
        session.remark(&format!("wrote {path}"), || json!({ "type": "file", "path": path }));
    }
    if let Some(trajectory) = output.trajectory()
        && !output.drawn.is_empty()
    {
        let svg = plot_svg(trajectory, &output.drawn, Size::default())
            .map_err(|unknown| Failure::Bug(format!("the plot has no variable {}", unknown.0)))?;
        inspect::write(session, picture, &svg)?;
    }
    match output.missing.first() {
        Some(name) if !failed => Err(no_variable(name, std::iter::empty())),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_dae::{VarType, Variability, Variable};

    #[test]
    fn a_picture_of_nothing_is_refused_before_the_run() {
        let mut dae = HybridDae::new("M");
        dae.vars.push(Variable::new("height", VarType::Real, Variability::Continuous));
        let check = |name: &str| check_plot(&[name.to_string()], &dae);
        assert!(check("height").is_ok() && check("der(height)").is_ok());
        let Err(Failure::Usage(message)) = check("hieght") else { panic!() };
        assert_eq!(message, "--plot: there is no variable hieght; did you mean height?");
    }

    #[test]
    fn the_range_is_that_of_the_options_then_of_the_model() {
        let mut dae = HybridDae::new("M");
        assert_eq!(range(&RunArgs::default(), &dae), (0.0, 1.0));
        dae.experiment.stop = Some(5.0);
        assert_eq!(range(&RunArgs { start: Some(-1.0), ..RunArgs::default() }, &dae), (-1.0, 5.0));
    }
}
