//! Models with known answers: `tests/problems/<name>/{model.mo, case.json}`. The README there says what the keys mean.
//!
//! ```text
//!   case.json ─▶ arguments ─▶ saltus simulate ─▶ result.csv, events.json ─▶ complaints ─▶ verdict
//!                                                    known-failures.txt ───────────────────▲
//! ```

use crate::process::{self, End, Outcome};
use crate::{Scratch, in_parallel, is_wanted};
use serde::Deserialize;
use serde_json::{Map, Number, Value};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long one problem may take.
pub const LIMIT: Duration = Duration::from_secs(60);

/// The content of a `case.json`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The class to simulate.
    pub model: String,
    /// The start time.
    #[serde(default = "zero")]
    pub start: Number,
    /// The stop time.
    pub stop: Number,
    /// The number of output intervals.
    pub intervals: u64,
    /// The tolerance of the integration.
    #[serde(default = "usual_tolerance")]
    pub tolerance: Number,
    /// Values that the result must have.
    #[serde(default)]
    pub expect: Vec<Expectation>,
    /// Instants at which an event must have been reported.
    #[serde(default)]
    pub events: Vec<Instance>,
    /// The run ends there by itself.
    pub ends_at: Option<Instance>,
    /// The model has to be refused.
    pub must_fail: Option<Refusal>,
    /// Further options of the command line.
    #[serde(default)]
    pub settings: Map<String, Value>,
    /// For the reader.
    #[serde(default)]
    pub notes: String,
}

/// A value that the result must have.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// The variable.
    pub var: String,
    /// When.
    pub time: f64,
    /// The value.
    pub value: f64,
    /// Allowed difference.
    #[serde(default)]
    pub abs: f64,
    /// Allowed difference as a fraction of the value.
    #[serde(default)]
    pub rel: f64,
}

/// An instant with a tolerance.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instance {
    /// When.
    pub time: f64,
    /// Allowed difference.
    #[serde(default = "instant_tolerance")]
    pub abs: f64,
}

/// How a model has to be refused.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// The stage, for the reader.
    #[serde(default)]
    pub stage: String,
    /// Fragments of the message; `a|b` means either, case does not matter.
    #[serde(default)]
    pub message_contains: Vec<String>,
}

fn zero() -> Number {
    Number::from(0)
}

fn usual_tolerance() -> Number {
    Number::from_f64(1e-8).expect("finite")
}

fn instant_tolerance() -> f64 {
    1e-6
}

fn as_f64(number: &Number) -> f64 {
    number.as_f64().unwrap_or(f64::NAN)
}

/// The arguments that run a case.
pub fn arguments(case: &Case, model: &Path, output: &Path, events: &Path) -> Vec<String> {
    let path = |p: &Path| p.display().to_string();
    let mut arguments = vec!["simulate".to_string(), path(model)];
    let options = [
        ("model", case.model.clone()),
        ("start", case.start.to_string()),
        ("stop", case.stop.to_string()),
        ("intervals", case.intervals.to_string()),
        ("tolerance", case.tolerance.to_string()),
        ("output", path(output)),
        ("events", path(events)),
    ];
    let settings = case.settings.iter().map(|(key, value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
        (key.as_str(), text)
    });
    for (key, value) in options.into_iter().chain(settings) {
        arguments.extend([format!("--{key}"), value]);
    }
    arguments
}

impl Case {
    /// The same problem at tolerance 1e-4 with bounds a thousand times wider.
    pub fn coarse(mut self) -> Case {
        const WIDER: f64 = 1000.0;
        self.tolerance = Number::from_f64(1e-4).expect("finite");
        for e in &mut self.expect {
            (e.abs, e.rel) = (e.abs * WIDER, e.rel * WIDER);
        }
        for e in self.events.iter_mut().chain(&mut self.ends_at) {
            e.abs *= WIDER;
        }
        self
    }
}

/// Runs one problem. No complaints: passed.
pub fn judge(folder: &Path, binary: &Path, coarse: bool) -> Vec<String> {
    match try_judge(folder, binary, coarse) {
        Ok(complaints) => complaints,
        Err(complaint) => vec![complaint],
    }
}

fn try_judge(folder: &Path, binary: &Path, coarse: bool) -> Result<Vec<String>, String> {
    let text = fs::read_to_string(folder.join("case.json")).map_err(|e| format!("case.json: {e}"))?;
    let mut case: Case = serde_json::from_str(&text).map_err(|e| format!("case.json: {e}"))?;
    if coarse {
        case = case.coarse();
    }
    let scratch = Scratch::new().map_err(|e| e.to_string())?;
    let (result, events) = (scratch.path().join("out.csv"), scratch.path().join("events.json"));
    let arguments = arguments(&case, &folder.join("model.mo"), &result, &events);
    let outcome = process::run(binary, &arguments, scratch.path(), LIMIT)
        .map_err(|e| format!("cannot run {}: {e}", binary.display()))?;
    let read = |path: PathBuf| fs::read_to_string(path).map_err(|e| e.to_string());
    Ok(check(&case, &outcome, read(result), read(events)))
}

/// Compares what came out with what the case demands.
pub fn check(
    case: &Case,
    outcome: &Outcome,
    result: Result<String, String>,
    events: Result<String, String>,
) -> Vec<String> {
    if let Some(crash) = outcome.crash() {
        return vec![crash];
    }
    let refused = outcome.end != End::Code(0);
    if let Some(refusal) = &case.must_fail {
        return check_refusal(refusal, refused, &outcome.stderr);
    }
    if refused {
        let first = outcome.stderr.lines().find(|l| !l.trim().is_empty()).unwrap_or("no message");
        let code = if let End::Code(code) = outcome.end { code } else { -1 };
        return vec![format!("exit code {code}: {first}")];
    }
    let table = match result.and_then(|text| Table::read(&text)) {
        Ok(table) => table,
        Err(e) => return vec![format!("result: {e}")],
    };
    let (start, stop) = (as_f64(&case.start), as_f64(&case.stop));
    let span = if stop == start { 1.0 } else { (stop - start).abs() };
    let mut complaints: Vec<String> = case.expect.iter().filter_map(|e| check_value(e, &table, span)).collect();
    if !case.events.is_empty() {
        match events.and_then(|text| event_times(&text)) {
            Ok(seen) => complaints.extend(case.events.iter().filter_map(|e| check_event(e, &seen))),
            Err(e) => complaints.push(format!("events: {e}")),
        }
    }
    let end = *table.times.last().expect("a table has rows");
    match &case.ends_at {
        Some(wanted) if (end - wanted.time).abs() > wanted.abs => {
            complaints.push(format!("run ends at {end}, expected {}", wanted.time));
        }
        None if end < stop - 1e-6 * span => complaints.push(format!("run ends at {end} before {stop}")),
        _ => {}
    }
    complaints
}

fn check_refusal(refusal: &Refusal, refused: bool, stderr: &str) -> Vec<String> {
    if !refused {
        return vec![format!("accepted, but must fail at stage {}", refusal.stage)];
    }
    let message = stderr.to_lowercase();
    let lacks = |fragment: &&String| !fragment.split('|').any(|a| message.contains(&a.trim().to_lowercase()));
    let missing = refusal.message_contains.iter().filter(lacks);
    let mut complaints: Vec<String> = missing.map(|f| format!("message lacks '{f}'")).collect();
    if message.trim().is_empty() {
        complaints.push("no message on stderr".into());
    }
    complaints
}

fn check_value(expected: &Expectation, table: &Table, span: f64) -> Option<String> {
    let Expectation { var, time, value, abs, rel } = expected;
    let found = match table.values_at(var, *time, span) {
        Ok(found) => found,
        Err(complaint) => return Some(complaint),
    };
    let tolerance = abs + rel * value.abs();
    let distance = |v: f64| if v.is_finite() { (v - value).abs() } else { f64::INFINITY };
    let best = found.into_iter().min_by(|a, b| distance(*a).total_cmp(&distance(*b)))?;
    (distance(best) > tolerance)
        .then(|| format!("{var}({time}) = {best}, expected {value} (tolerance {tolerance:.2e})"))
}

fn check_event(wanted: &Instance, seen: &[f64]) -> Option<String> {
    let distance = |t: &f64| (t - wanted.time).abs();
    let nearest = seen.iter().copied().min_by(|a, b| distance(a).total_cmp(&distance(b)));
    match nearest {
        Some(nearest) if distance(&nearest) <= wanted.abs => None,
        Some(nearest) => Some(format!("no event at {} (nearest {nearest})", wanted.time)),
        None => Some(format!("no event at {} (nearest none)", wanted.time)),
    }
}

fn event_times(text: &str) -> Result<Vec<f64>, String> {
    let events: Vec<Value> = serde_json::from_str(text).map_err(|e| e.to_string())?;
    events.iter().map(|e| e["time"].as_f64().ok_or_else(|| format!("an event without a time: {e}"))).collect()
}

/// A result file as text, read without the product's own reader.
struct Table {
    index: BTreeMap<String, usize>,
    times: Vec<f64>,
    rows: Vec<csv::StringRecord>,
}

impl Table {
    fn read(text: &str) -> Result<Table, String> {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
        let mut records = reader.records();
        let header = records.next().ok_or("result file is empty")?.map_err(|e| e.to_string())?;
        let names: Vec<String> = header.iter().map(same_name).collect();
        if names[0] != "time" {
            return Err("first column of the result is not 'time'".into());
        }
        let (mut times, mut rows): (Vec<f64>, Vec<csv::StringRecord>) = (Vec::new(), Vec::new());
        for (k, record) in records.enumerate() {
            let record = record.map_err(|e| e.to_string())?;
            if record.len() != names.len() {
                let (line, fields, wanted) = (k + 2, record.len(), names.len());
                return Err(format!("row {line} of the result has {fields} fields, header has {wanted}"));
            }
            let t = number(&record[0])?;
            if times.last().is_some_and(|last| t < last - 1e-12 * t.abs().max(1.0)) {
                return Err(format!("time runs backwards at {t}"));
            }
            times.push(t);
            rows.push(record);
        }
        if rows.is_empty() {
            return Err("result has no rows".into());
        }
        Ok(Table { index: names.into_iter().enumerate().map(|(k, n)| (n, k)).collect(), times, rows })
    }

    /// The values in all rows of that time, or else the interpolated one.
    fn values_at(&self, var: &str, t: f64, span: f64) -> Result<Vec<f64>, String> {
        let column = *self.index.get(&same_name(var)).ok_or_else(|| format!("variable {var} is not in the result"))?;
        let cell =
            |row: usize| number(&self.rows[row][column]).map_err(|e| format!("{var} at {}: {e}", self.times[row]));
        let near = 1e-9 * span.max(t.abs());
        let from = self.times.partition_point(|s| *s < t - near);
        let to = self.times.partition_point(|s| *s <= t + near);
        if from < to {
            return (from..to).map(cell).collect();
        }
        if from == 0 || from == self.times.len() {
            return Err(format!("result does not reach time {t}"));
        }
        let (a, b) = (from - 1, from);
        let weight = (t - self.times[a]) / (self.times[b] - self.times[a]);
        let (left, right) = (cell(a)?, cell(b)?);
        Ok(vec![left + weight * (right - left)])
    }
}

fn same_name(name: &str) -> String {
    name.trim().trim_matches('"').replace(' ', "")
}

fn number(text: &str) -> Result<f64, String> {
    match text.trim().to_lowercase().as_str() {
        "true" => Ok(1.0),
        "false" => Ok(0.0),
        text => text.parse().map_err(|_| format!("'{text}' is not a number")),
    }
}

/// The list of problems that do not pass yet: lines `name: reason`; blank lines and lines with `#` in front are comments.
pub fn known_failures(text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut known = BTreeMap::new();
    for (k, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match line.split_once(':') {
            Some((name, reason)) if !name.trim().is_empty() && !reason.trim().is_empty() => {
                if known.insert(name.trim().to_string(), reason.trim().to_string()).is_some() {
                    return Err(format!("known failures, line {}: {} is listed twice", k + 1, name.trim()));
                }
            }
            _ => return Err(format!("known failures, line {}: not of the form 'name: reason'", k + 1)),
        }
    }
    Ok(known)
}

/// One problem after its run.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The name of its folder.
    pub name: String,
    /// What is wrong; empty if it passed.
    pub complaints: Vec<String>,
    /// How long it took.
    pub duration: Duration,
}

/// Runs all problems of a folder, those that `SALTUS_ONLY` asks for; `coarse`: each as [`Case::coarse`].
pub fn judge_all(folder: &Path, binary: &Path, coarse: bool) -> Result<Vec<Judged>, String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut names: Vec<String> = entries
        .filter_map(|e| e.ok())
        .filter(|e| e.path().is_dir())
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .filter(|name| is_wanted(name))
        .collect();
    names.sort();
    if names.is_empty() {
        return Err(format!("no problems in {}", folder.display()));
    }
    Ok(in_parallel(&names, |name| {
        let begun = Instant::now();
        let complaints = judge(&folder.join(name), binary, coarse);
        Judged { name: name.clone(), complaints, duration: begun.elapsed() }
    }))
}

/// Whether the results are those that the list leads one to expect, as text for people.
///
/// It is wrong if an unlisted problem fails, if a listed one passes, or if a listed name does not exist.
pub fn verdict(judged: &[Judged], known: &BTreeMap<String, String>, all: bool) -> Result<String, String> {
    let mut report = String::new();
    let mut wrong = 0;
    for problem in judged {
        let Judged { name, complaints, duration } = problem;
        let line = match (complaints.first(), known.get(name)) {
            (None, None) => format!("ok    {name} ({} ms)", duration.as_millis()),
            (Some(_), Some(reason)) => format!("known {name}: {reason}"),
            (None, Some(_)) => {
                wrong += 1;
                format!("WRONG {name} passes now: take it off known-failures.txt")
            }
            (Some(_), None) => {
                wrong += 1;
                let more = complaints.iter().map(|c| format!("\n        {c}")).collect::<String>();
                format!("WRONG {name} fails ({} ms):{more}", duration.as_millis())
            }
        };
        let _ = writeln!(report, "{line}");
    }
    for name in known.keys().filter(|name| all && !judged.iter().any(|j| j.name == **name)) {
        wrong += 1;
        let _ = writeln!(report, "WRONG {name} is listed in known-failures.txt and does not exist");
    }
    let passed = judged.iter().filter(|j| j.complaints.is_empty()).count();
    let _ = write!(report, "{passed} of {} passed", judged.len());
    if wrong == 0 { Ok(report) } else { Err(format!("{report}, {wrong} not as expected")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(json: &str) -> Case {
        let text = format!(r#"{{"model": "M", "stop": 2, "intervals": 2 {json}}}"#);
        serde_json::from_str(&text).unwrap()
    }

    fn outcome(code: i32, stderr: &str) -> Outcome {
        Outcome { end: End::Code(code), stdout: String::new(), stderr: stderr.into() }
    }

    const RESULT: &str = "time,x,\"u[1,2]\",b\n0,0,5,true\n1,1,,false\n1,-1,7,false\n2,1,8,false\n";
    const EVENTS: &str = r#"[{"time": 1.0, "kind": "state"}]"#;

    fn complaints(json: &str) -> Vec<String> {
        check(&case(json), &outcome(0, ""), Ok(RESULT.into()), Ok(EVENTS.into()))
    }

    #[test]
    fn values_match_on_either_side_and_in_between() {
        let expect = |var: &str, time: f64, value: f64| {
            complaints(&format!(r#", "expect": [{{"var": "{var}", "time": {time}, "value": {value}, "abs": 1e-9}}]"#))
        };
        assert!(expect("x", 1.0, 1.0).is_empty());
        assert!(expect("x", 1.0, -1.0).is_empty());
        assert!(expect("x", 0.5, 0.5).is_empty());
        assert!(expect("b", 0.0, 1.0).is_empty());
        assert!(expect("u[1, 2]", 2.0, 8.0).is_empty());
        assert!(expect("x", 2.0, 1.1)[0].contains("expected 1.1"));
        assert!(expect("y", 2.0, 1.0)[0].contains("not in the result"));
        assert!(expect("u[1,2]", 0.5, 1.0)[0].contains("not a number"));
        assert!(expect("x", 2.1, 1.0)[0].contains("does not reach"));
    }

    #[test]
    fn events_and_ends_are_checked() {
        assert!(complaints(r#", "events": [{"time": 1.0000001}]"#).is_empty());
        assert_eq!(complaints(r#", "events": [{"time": 1.5}]"#), ["no event at 1.5 (nearest 1)"]);
        assert!(complaints(r#", "ends_at": {"time": 2.0}"#).is_empty());
        assert_eq!(complaints(r#", "ends_at": {"time": 1.0}"#), ["run ends at 2, expected 1"]);
        let short = check(&case(""), &outcome(0, ""), Ok("time\n0\n1\n".into()), Ok(String::new()));
        assert_eq!(short, ["run ends at 1 before 2"]);
    }

    #[test]
    fn refusals_need_an_exit_code_and_a_message() {
        let case = case(r#", "must_fail": {"stage": "init", "message_contains": ["consistent", "neg|sw"]}"#);
        let refuse = |code, stderr| check(&case, &outcome(code, stderr), Err("none".into()), Err("none".into()));
        assert!(refuse(5, "error: no Consistent value of SW").is_empty());
        assert_eq!(refuse(5, "error: neg"), ["message lacks 'consistent'"]);
        assert_eq!(refuse(0, ""), ["accepted, but must fail at stage init"]);
        assert!(refuse(101, "thread 'main' panicked: consistent neg")[0].starts_with("crash"));
        assert_eq!(refuse(5, "").last().unwrap(), "no message on stderr");
    }

    #[test]
    fn broken_output_is_a_complaint() {
        for (text, complaint) in [
            ("", "empty"),
            ("t,x\n0,1\n", "not 'time'"),
            ("time,x\n", "no rows"),
            ("time,x\n0\n", "row 2"),
            ("time,x\n1,0\n0,0\n", "backwards"),
        ] {
            let found = check(&case(""), &outcome(0, ""), Ok(text.into()), Ok(String::new()));
            assert!(found[0].contains(complaint), "{found:?}");
        }
        assert!(
            check(&case(""), &outcome(3, "\nerror: no"), Err("none".into()), Err("none".into()))[0]
                .contains("error: no")
        );
    }

    #[test]
    fn arguments_follow_the_case() {
        let case = case(r#", "tolerance": 1e-08, "settings": {"solver": "bdf", "step": 0.5}"#);
        let arguments = arguments(&case, Path::new("m.mo"), Path::new("o.csv"), Path::new("e.json")).join(" ");
        assert_eq!(
            arguments,
            "simulate m.mo --model M --start 0 --stop 2 --intervals 2 --tolerance 1e-8 --output o.csv --events e.json \
             --solver bdf --step 0.5"
        );
    }

    #[test]
    fn the_list_of_known_failures_only_shrinks() {
        let judged = |name: &str, complaints: &[&str]| Judged {
            name: name.into(),
            complaints: complaints.iter().map(|c| c.to_string()).collect(),
            duration: Duration::ZERO,
        };
        let known = known_failures("# not yet\n\nb: no index reduction: yet\n").unwrap();
        assert_eq!(known["b"], "no index reduction: yet");
        assert!(verdict(&[judged("a", &[]), judged("b", &["x"])], &known, true).unwrap().ends_with("1 of 2 passed"));
        assert!(verdict(&[judged("b", &[])], &known, true).unwrap_err().contains("passes now"));
        assert!(
            verdict(&[judged("a", &["x is 3"]), judged("b", &["x"])], &known, true).unwrap_err().contains("x is 3")
        );
        assert!(verdict(&[judged("a", &[])], &known, true).unwrap_err().contains("does not exist"));
        assert!(verdict(&[judged("a", &[])], &known, false).is_ok());
        assert!(known_failures("b").is_err() && known_failures("b:").is_err() && known_failures("b: x\nb: y").is_err());
    }
}
