//! `saltus bench events`: what an event costs beside crossing functions that it does not touch.
//!
//! A saw-tooth makes 2·10⁵ events per second of model time (each bound is passed both ways) beside 1,000 states. Other crossing
//! functions of the states are added in three ways, and none of them crosses. The cost of one event is the difference between a long
//! and a short run.

use super::{LastRow, Scratch, small_model};
use crate::console;
use crate::session::{Failure, Session};
use saltus_bench::processor_seconds;
use saltus_sim::{Quiet, RunOptions};
use serde_json::json;

/// Numbers of other functions.
const OTHERS: [usize; 4] = [0, 1_000, 4_000, 16_000];

/// Ends of the short and the long run.
const ENDS: [f64; 2] = [0.005, 0.02];

/// How the other functions stand in the model.
#[derive(Clone, Copy)]
enum Form {
    /// All in one equation.
    Sum,
    /// Each a Boolean variable of its own, not stored.
    Booleans,
    /// In a branch that does not hold.
    Disabled,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Form::Sum => "in one sum",
            Form::Booleans => "Booleans, not stored",
            Form::Disabled => "in a branch that does not hold",
        }
    }

    fn model(self, others: usize) -> String {
        let (declared, equations) = match self {
            _ if others == 0 => (String::new(), String::new()),
            Form::Sum => {
                ("Real s;".into(), format!("s = sum(if x[mod(i, n) + 1] > 10 + i then 1 else 0 for i in 1:{others});"))
            }
            Form::Booleans => (
                format!("Boolean b[{others}];"),
                format!("for i in 1:{others} loop b[i] = x[mod(i, n) + 1] > 10 + i; end for;"),
            ),
            Form::Disabled => (
                "Real s; Boolean on(start = false, fixed = true);".into(),
                format!(
                    "when x[1] > 100 then on = true; end when;\n  s = if on then \
                     sum(if x[mod(i, n) + 1]*x[1] > 10 + i then 1 else 0 for i in 1:{others}) else 0;"
                ),
            ),
        };
        format!(
            "model Events
  parameter Integer n = 1000;
  Real u(start = 0.5, fixed = true);
  Boolean up(start = true, fixed = true);
  Real x[n](each start = 1, each fixed = true);
  {declared}
equation
  der(u) = if up then 1e5 else -1e5;
  when u > 1 then up = false; elsewhen u < 0 then up = true; end when;
  for i in 1:n loop der(x[i]) = -x[i]*i/n; end for;
  {equations}
end Events;
"
        )
    }
}

/// Processor time of a run and its events.
fn run(path: &str, stop: f64) -> Result<(f64, usize), Failure> {
    let mut session = Session::open(&small_model(path, None))?;
    let dae = session.flatten()?;
    let options = RunOptions {
        stop: Some(stop),
        intervals: Some(2),
        solver: Some("dopri5".into()),
        variables: vec!["u".into(), "up".into(), "s".into()],
        ..RunOptions::default()
    };
    let begun = processor_seconds();
    let report = session.engine.simulate(dae, &options, &mut LastRow::default(), &mut Quiet);
    let report = session.need(report)?;
    Ok((processor_seconds() - begun, report.state_events))
}

/// Measures all forms and numbers.
pub fn events(as_json: bool) -> Result<(), Failure> {
    let scratch = Scratch::new()?;
    let mut lines = vec!["microseconds of processor time per event, beside other crossing functions:".to_string()];
    let mut all = Vec::new();
    for form in [Form::Sum, Form::Booleans, Form::Disabled] {
        let mut costs = Vec::new();
        for others in OTHERS {
            let path = scratch.write("events.mo", &form.model(others))?.display().to_string();
            let mut best = f64::INFINITY;
            for _ in 0..2 {
                let [short, long] = [run(&path, ENDS[0])?, run(&path, ENDS[1])?];
                best = best.min((long.0 - short.0) / (long.1 - short.1).max(1) as f64);
            }
            costs.push(1e6 * best);
        }
        let text: Vec<String> = OTHERS.iter().zip(&costs).map(|(n, c)| format!("{n}: {c:.0}")).collect();
        lines.push(format!("  {:<32} {}", form.name(), text.join(", ")));
        all.push(json!({ "form": form.name(), "others": OTHERS, "microseconds": costs }));
    }
    if as_json {
        return Ok(console::print(&serde_json::Value::from(all).to_string())?);
    }
    Ok(console::print(&lines.join("\n"))?)
}
