//! `saltus bench bridge`: what finding the events of a thyristor bridge costs.
//!
//! The bridge runs as written, each thyristor deciding for itself, and with the intervals of conduction given as functions of time, in
//! turn. The current never stops, so a thyristor conducts for a third of the period from the instant it is fired.

use super::{LastRow, Scratch, small_model};
use crate::console;
use crate::session::{Failure, Session};
use saltus_bench::processor_seconds;
use saltus_sim::{Quiet, RunOptions};
use serde_json::json;

const REPETITIONS: usize = 5;

/// Six thyristors between three phases of 50 Hz and R, L, fired 30 degrees late; `off` says when thyristor k does not conduct,
/// fired first at `at[k]`.
fn model(off: &str) -> String {
    format!(
        "model Bridge
  parameter Real V = 100, f = 50, R = 1, L = 0.01, Ron = 1e-5, Goff = 1e-5, delay = 1/600;
  constant Real pi = 3.141592653589793;
  parameter Real at[6] = {{1/600 + (if k > 3 then k - 4 else k - 1)/150 + delay + (if k > 3 then 0.01 else 0) for k in 1:6}};
  Real vs[3], s[6], v[6], i[6], vp, vn, load(start = 0, fixed = true);
  Boolean off[6](each start = true, each fixed = true);
equation
  for k in 1:3 loop
    vs[k] = V*sin(2*pi*f*time - (k - 1)*2*pi/3);
    v[k] = vs[k] - vp;
    v[k + 3] = vn - vs[k];
  end for;
  for k in 1:6 loop
    off[k] = {off};
    v[k] = s[k]*(if off[k] then 1 else Ron);
    i[k] = s[k]*(if off[k] then Goff else 1);
  end for;
  i[1] + i[2] + i[3] = load;
  i[4] + i[5] + i[6] = load;
  L*der(load) = vp - vn - R*load;
end Bridge;
"
    )
}

/// Processor time of a run over 1 s, and the current at its end.
fn run(path: &str) -> Result<(f64, f64), Failure> {
    let mut session = Session::open(&small_model(path, None))?;
    let dae = session.flatten()?;
    let options = RunOptions {
        stop: Some(1.0),
        intervals: Some(500),
        tolerance: Some(1e-6),
        variables: vec!["load".into()],
        ..RunOptions::default()
    };
    let mut rows = LastRow::default();
    let begun = processor_seconds();
    let report = session.engine.simulate(dae, &options, &mut rows, &mut Quiet);
    session.need(report)?;
    Ok((processor_seconds() - begun, rows.0.first().copied().unwrap_or(f64::NAN)))
}

/// Measures both, in turn.
pub fn bridge(as_json: bool) -> Result<(), Failure> {
    let scratch = Scratch::new()?;
    // Firing lasts for a third of the period, but for what would meet the next firing.
    let decides = "s[k] < 0 or pre(off[k]) and not mod(time - at[k] + 0.04, 0.02) < 0.0066";
    let given = "not mod(time - at[k] + 0.04, 0.02) < 0.02/3";
    let mut sides = [("decides.mo", decides), ("given.mo", given)]
        .map(|(name, off)| {
            Ok::<_, Failure>((scratch.write(name, &model(off))?.display().to_string(), f64::INFINITY, 0.0))
        })
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    for _ in 0..REPETITIONS {
        for (path, best, current) in &mut sides {
            let (took, end) = run(path)?;
            (*best, *current) = (best.min(took), end);
        }
    }
    let [(_, decided, ours), (_, given, theirs)] = &sides[..] else { unreachable!("two sides") };
    let apart = (ours - theirs).abs();
    if as_json {
        let numbers = json!({ "decides": decided, "given": given, "ratio": decided / given, "currents_apart": apart });
        return Ok(console::print(&numbers.to_string())?);
    }
    Ok(console::print(&format!(
        "six thyristors, R-L load, 1 s at 50 Hz, best of {REPETITIONS} in turn:\n  thyristors decide       {decided:.3} s\n  \
         instants given          {given:.3} s\n  ratio                   {:.2}\n  currents apart at 1 s   {apart:.1e} of {theirs:.1}",
        decided / given
    ))?)
}
