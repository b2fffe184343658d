//! `saltus bench solvers`: the integrators beside SUNDIALS, and digits against tolerance.

use super::{Scratch, cannot};
use crate::args::SolversArgs;
use crate::console;
use crate::session::Failure;
use serde_json::json;
use std::env;
use std::process::Command;

/// Measures what the arguments ask for.
pub fn solvers(arguments: &SolversArgs, json: bool) -> Result<(), Failure> {
    if let [problem, method, rtol, repetitions] = &arguments.measure[..] {
        let number = |text: &str| text.parse::<f64>().map_err(|e| cannot(text, e));
        let (rtol, repetitions) = (number(rtol)?, number(repetitions)? as usize);
        let m = saltus_bench::measure(problem, method, rtol, repetitions).map_err(|e| cannot(problem, e))?;
        return Ok(console::print(&m.to_line())?);
    }
    if arguments.digits {
        return Ok(console::print(saltus_bench::classical::table().trim_end())?);
    }
    let scratch = Scratch::new()?;
    let (theirs, note) = match saltus_bench::compile_sundials(&scratch.0) {
        Ok(program) => (Some(program), None),
        Err(e) => (None, Some(format!("(no comparison: SUNDIALS cannot be used here: {e})"))),
    };
    let this = env::current_exe().map_err(|e| cannot("cannot find the running program", e))?;
    let ours = |problem: &str, method: &str, rtol: f64, repetitions: usize| {
        let mut c = Command::new(&this);
        c.args(["bench", "solvers", "--measure", problem, method]);
        c.args([format!("{rtol:e}"), repetitions.to_string()]);
        c
    };
    let rows = saltus_bench::compare(&arguments.filter, ours, theirs.as_deref()).map_err(|e| cannot("bench", e))?;
    if json {
        for r in &rows {
            let side = |(m, digits): &(saltus_bench::Measured, f64)| {
                json!({
                    "seconds": m.seconds, "steps": m.steps, "evaluations": m.evaluations, "jacobians": m.jacobians,
                    "kilobytes": m.kilobytes, "digits": digits,
                })
            };
            let object = json!({
                "type": "bench", "problem": r.case.problem, "method": r.case.method, "reference": r.case.theirs,
                "tolerance": r.rtol, "ours": side(&r.ours), "theirs": r.theirs.as_ref().map(side),
                "time_per_digit": r.time_per_digit(), "target": r.case.target,
            });
            console::print(&object.to_string())?;
        }
        return Ok(());
    }
    let mut text = saltus_bench::table(&rows);
    text += &note.unwrap_or_else(|| "Ratios are ours to theirs; processor time, fastest of several runs.".into());
    Ok(console::print(&text)?)
}
