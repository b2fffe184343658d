//! What `--stats` shows.

use crate::console::number;
use saltus_sim::RunReport;
use serde::Serialize;
use std::fmt::Write as _;

/// Numbers of one run of the command. Times are wall-clock seconds.
#[derive(Debug, Serialize)]
pub struct Stats<'a> {
    /// `stats`, to tell the object from others.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The model.
    pub model: &'a str,
    /// Reading, resolving, flattening.
    pub front_end_seconds: f64,
    /// Structural analysis and compilation, up to the first sign of life of the run.
    pub compile_seconds: f64,
    /// The rest of the run: initialization (unless it came before), integration, writing.
    pub run_seconds: f64,
    /// From the start of the process to the end of the run.
    pub total_seconds: f64,
    /// From the start of the process to the first row.
    pub first_row_seconds: Option<f64>,
    /// The largest amount of memory that the process has used.
    pub peak_memory_bytes: Option<u64>,
    /// Rows written.
    pub rows: usize,
    /// Integrator used, and why.
    pub solver: &'a str,
    /// Continuous states at the end.
    pub states: usize,
    /// Accepted steps.
    pub steps: usize,
    /// Rejected steps.
    pub rejected: usize,
    /// Evaluations of the right-hand side.
    pub evaluations: usize,
    /// Evaluations inside steps, to locate events.
    pub searches: usize,
    pub enclosures: usize,
    /// Functions looked at in a step: as polynomials of the step, by enclosures, as polynomials under error control.
    pub exact_searches: usize,
    pub enclosed_searches: usize,
    pub appended_searches: usize,
    pub locating_seconds: f64,
    /// Evaluations of the Jacobian.
    pub jacobians: usize,
    /// Factorizations.
    pub factorizations: usize,
    /// Products of GMRES with the matrix.
    pub krylov: usize,
    /// State events.
    pub state_events: usize,
    /// Time events.
    pub time_events: usize,
    /// Mode changes.
    pub mode_changes: usize,
    /// Modes compiled.
    pub modes: usize,
    /// Independent parts of modes planned.
    pub parts_planned: usize,
    /// Those taken over from other modes.
    pub parts_reused: usize,
    /// Independent parts compiled.
    pub parts_compiled: usize,
    /// How often one compiled before was taken over.
    pub parts_joined: usize,
    /// Median time of a change into a mode entered for the first time, compiling included.
    pub first_entry_seconds: Option<f64>,
    /// Median time of a change into a mode that was there before.
    pub return_seconds: Option<f64>,
    /// Where the run ended; null if there was none.
    pub end: Option<f64>,
}

/// Wall-clock seconds of the phases.
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Phases {
    pub front_end: f64,
    pub compile: f64,
    pub run: f64,
    pub total: f64,
    pub first_row: Option<f64>,
}

impl<'a> Stats<'a> {
    /// Puts the numbers together; without a report (the run has failed) its numbers are zero.
    pub fn new(model: &'a str, phases: Phases, rows: usize, report: Option<&'a RunReport>) -> Stats<'a> {
        static NOTHING: std::sync::LazyLock<RunReport> = std::sync::LazyLock::new(RunReport::default);
        let r = report.unwrap_or(&NOTHING);
        Stats {
            kind: "stats",
            model,
            front_end_seconds: phases.front_end,
            compile_seconds: phases.compile,
            run_seconds: phases.run,
            total_seconds: phases.total,
            first_row_seconds: phases.first_row,
            peak_memory_bytes: peak_memory(),
            rows,
            solver: &r.solver,
            states: r.states,
            steps: r.steps,
            rejected: r.rejected,
            evaluations: r.evaluations,
            searches: r.searches,
            enclosures: r.enclosures,
            exact_searches: r.looks.exact,
            enclosed_searches: r.looks.enclosed,
            appended_searches: r.looks.appended,
            locating_seconds: r.locating,
            jacobians: r.jacobians,
            factorizations: r.factorizations,
            krylov: r.krylov,
            state_events: r.state_events,
            time_events: r.time_events,
            mode_changes: r.mode_changes,
            modes: r.modes,
            parts_planned: r.parts_planned,
            parts_reused: r.parts_reused,
            parts_compiled: r.parts_compiled,
            parts_joined: r.parts_joined,
            first_entry_seconds: median(&r.first_entries),
            return_seconds: median(&r.returns),
            end: report.map(|r| r.end),
        }
    }

    /// A table for people.
    pub fn table(&self) -> String {
        let mut lines = vec![
            ("parse and flatten", seconds(self.front_end_seconds)),
            ("structure and compile", seconds(self.compile_seconds)),
            ("initialize and run", seconds(self.run_seconds)),
            ("total", seconds(self.total_seconds)),
        ];
        if let Some(t) = self.first_row_seconds {
            lines.push(("start to first row", seconds(t)));
        }
        if let Some(bytes) = self.peak_memory_bytes {
            lines.push(("peak memory", megabytes(bytes)));
        }
        if self.end.is_none() {
            // Nothing was counted to the end.
            lines.push(("rows", self.rows.to_string()));
            return aligned(&lines);
        }
        if !self.solver.is_empty() {
            lines.push(("solver", self.solver.to_string()));
        }
        lines.extend([
            ("states", self.states.to_string()),
            ("steps", format!("{} ({} rejected)", self.steps, self.rejected)),
            ("evaluations", self.evaluations.to_string()),
            (
                "to locate events",
                format!(
                    "{} more, {} enclosures, {} ({:.1} % of the run); {} exact, {} enclosed, {} appended",
                    self.searches,
                    self.enclosures,
                    seconds(self.locating_seconds),
                    100.0 * self.locating_seconds / self.run_seconds.max(1e-9),
                    self.exact_searches,
                    self.enclosed_searches,
                    self.appended_searches,
                ),
            ),
            ("Jacobians", self.jacobians.to_string()),
            ("factorizations", self.factorizations.to_string()),
            ("events", format!("{} state, {} time", self.state_events, self.time_events)),
            ("mode changes", format!("{} ({} modes compiled)", self.mode_changes, self.modes)),
        ]);
        if self.parts_planned > 0 {
            let text = format!(
                "{} planned, {} taken over from other modes; {} compiled, {} taken over",
                self.parts_planned, self.parts_reused, self.parts_compiled, self.parts_joined
            );
            lines.push(("  independent parts", text));
        }
        if self.krylov > 0 {
            let at = lines.iter().position(|l| l.0 == "events").unwrap_or(lines.len());
            lines.insert(at, ("GMRES iterations", self.krylov.to_string()));
        }
        let costs = [("  into a new mode", self.first_entry_seconds), ("  into a known mode", self.return_seconds)];
        lines.extend(costs.into_iter().filter_map(|(name, s)| Some((name, format!("{} (median)", seconds(s?))))));
        lines.push(("rows", self.rows.to_string()));
        if let Some(end) = self.end {
            lines.push(("end", format!("t = {}", number(end))));
        }
        aligned(&lines)
    }
}

fn aligned(lines: &[(&str, String)]) -> String {
    let mut text = String::new();
    for (name, value) in lines {
        let _ = writeln!(text, "{name:<22} {value}");
    }
    text.truncate(text.trim_end().len());
    text
}

fn median(times: &[f64]) -> Option<f64> {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

/// A duration for people.
pub fn seconds(s: f64) -> String {
    if s < 1.0 { format!("{:.3} ms", 1e3 * s) } else { format!("{s:.3} s") }
}

/// An amount of memory for people.
pub fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

/// The largest amount of memory that this process has used so far, where the system tells.
pub fn peak_memory() -> Option<u64> {
    peak_in(&std::fs::read_to_string("/proc/self/status").ok()?)
}

fn peak_in(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_and_the_object_show_the_same_numbers() {
        let report =
            RunReport { solver: "bdf: stiff".into(), steps: 12, rejected: 3, end: 1.5, ..RunReport::default() };
        let phases = Phases { front_end: 0.001, compile: 0.002, run: 1.25, total: 1.3, first_row: None };
        let stats = Stats::new("M", phases, 7, Some(&report));
        let table = stats.table();
        for line in [
            "parse and flatten      1.000 ms",
            "initialize and run     1.250 s",
            "steps                  12 (3 rejected)",
        ] {
            assert!(table.lines().any(|l| l == line), "{table}");
        }
        let object = serde_json::to_value(&stats).unwrap();
        assert_eq!((&object["type"], &object["steps"], &object["end"]), (&"stats".into(), &12.into(), &1.5.into()));
        let failed = Stats::new("M", phases, 7, None);
        assert!(failed.table().ends_with("rows                   7") && !failed.table().contains("steps"));
        assert_eq!(serde_json::to_value(failed).unwrap()["end"], serde_json::Value::Null);
    }

    #[test]
    fn memory_is_read_from_the_status() {
        assert_eq!(peak_in("Name: x\nVmHWM:\t    2048 kB\n"), Some(2048 * 1024));
        assert_eq!(peak_in("Name: x\n"), None);
    }
}
