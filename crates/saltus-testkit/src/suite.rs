//! Tests that are text: `tests/suite/<area>/*.mo` (and `*.mdae`), made of sections.
//!
//! ```text
//! Prose before the first section says what the file is about.
//!
//! --- one-parameter flatten ---
//! model M
//!   parameter Real p = 2;
//! end M;
//! --- expect ---
//! parameter Real p = 2;
//!
//! --- no-such-name error ---
//! model M
//!   Real x = y;
//! end M;
//! --- expect ---
//! exit: 3
//! model.mo:2
//! y
//! ```
//!
//! The source is written to a file `model.mo` and the command of the stage ([`command`]) is run on it. Its standard output
//! must be the expected text; blanks at the ends of lines and blank lines at the end do not count. For the stage `error`
//! every expected line must be contained in standard error, one after `not:` must not be, and `exit: N` is the exit code; it is 0
//! where warnings are expected.
//!
//! Words after the stage are handed on as arguments (`--- ball simulate --stop 1 --intervals 4 ---`); after `error` another
//! stage may stand (`--- singular error check ---`), else it is `simulate`.
//!
//! With `SALTUS_UPDATE=1` in the environment (`make update-suite`) expectations that do not hold are rewritten in place.

use crate::process::{End, Outcome};
use crate::{in_parallel, is_wanted};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The command line of a stage: the one place to change when the command line changes.
pub fn command(stage: &str, file: &str) -> Option<Vec<String>> {
    let words: &[&str] = match stage {
        "parse" => &["check", file, "--dump", "syntax"],
        "classes" => &["check", file, "--dump", "classes"],
        "flatten" => &["flatten", file],
        "check" => &["check", file],
        "analyze" | "structure" => &["analyze", file],
        "program" => &["check", file, "--dump", "program"],
        "simulate" => &["simulate", file, "--output", "-"],
        "init" => &["init", file],
        _ => return None,
    };
    Some(words.iter().map(|w| w.to_string()).collect())
}

/// One test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The name, unique within its file.
    pub name: String,
    /// Expect a refusal instead of output.
    pub refused: bool,
    /// The stage to run.
    pub stage: String,
    /// Further arguments of the command line.
    pub arguments: Vec<String>,
    /// The line of its header in the file, from one.
    pub line: usize,
    header: String,
    /// The file it is written to: `model.mo`, or `model.mdae` in a file of that kind.
    pub file: &'static str,
    /// The Modelica text.
    pub source: String,
    /// The expectation; `None` if it has not been written yet.
    pub expected: Option<String>,
}

impl Section {
    /// The arguments that run this test on `file`.
    pub fn command(&self, file: &str) -> Vec<String> {
        let mut words = command(&self.stage, file).unwrap_or_default();
        words.extend(self.arguments.iter().cloned());
        words
    }
}

/// A file of the suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuiteFile {
    /// The prose before the first section.
    pub preamble: String,
    /// The tests in order.
    pub sections: Vec<Section>,
}

fn heading(line: &str) -> Option<&str> {
    line.trim_end().strip_prefix("--- ")?.strip_suffix(" ---").map(str::trim)
}

impl SuiteFile {
    /// Reads the text of a file.
    pub fn parse(text: &str) -> Result<SuiteFile, String> {
        let mut file = SuiteFile { preamble: String::new(), sections: Vec::new() };
        for (k, line) in text.lines().enumerate() {
            let number = k + 1;
            match heading(line) {
                Some("expect") => match file.sections.last_mut() {
                    Some(section) if section.expected.is_none() => section.expected = Some(String::new()),
                    _ => return Err(format!("line {number}: an expectation without a section")),
                },
                Some(title) => {
                    let section = parse_heading(title, line, number)?;
                    if file.sections.iter().any(|s| s.name == section.name) {
                        return Err(format!("line {number}: a second section '{}'", section.name));
                    }
                    file.sections.push(section);
                }
                None => {
                    let text = match file.sections.last_mut() {
                        None => &mut file.preamble,
                        Some(section) => section.expected.as_mut().unwrap_or(&mut section.source),
                    };
                    text.push_str(line);
                    text.push('\n');
                }
            }
        }
        for expected in file.sections.iter_mut().filter_map(|s| s.expected.as_mut()) {
            *expected = normal(expected);
        }
        Ok(file)
    }

    /// The text again.
    pub fn render(&self) -> String {
        let mut text = self.preamble.clone();
        for (k, section) in self.sections.iter().enumerate() {
            if k > 0 {
                text.push('\n');
            }
            let _ = write!(text, "{}\n{}", section.header, section.source);
            if let Some(expected) = &section.expected {
                let _ = write!(text, "--- expect ---\n{expected}");
            }
        }
        text
    }
}

fn parse_heading(title: &str, line: &str, number: usize) -> Result<Section, String> {
    let mut words = title.split_whitespace().peekable();
    let (Some(name), Some(mut stage)) = (words.next(), words.next()) else {
        return Err(format!("line {number}: a section is headed '--- name stage ---'"));
    };
    let refused = stage == "error";
    if refused {
        stage = words.next_if(|w| command(w, "").is_some()).unwrap_or("simulate");
    }
    if command(stage, "").is_none() {
        return Err(format!(
            "line {number}: no stage '{stage}'; there are parse, flatten, check, analyze, simulate, error"
        ));
    }
    Ok(Section {
        name: name.into(),
        refused,
        stage: stage.into(),
        arguments: words.map(str::to_string).collect(),
        line: number,
        header: line.trim_end().into(),
        file: "model.mo",
        source: String::new(),
        expected: None,
    })
}

/// Without blanks at the ends of lines and blank lines at the end.
fn normal(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    while lines.last().is_some_and(|l| l.is_empty()) {
        lines.pop();
    }
    lines.iter().flat_map(|l| [l, "\n"]).collect()
}

/// What is wrong with a test, and the expectation under which nothing would be (unless none makes sense).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// For people.
    pub message: String,
    /// The expectation that what came out would satisfy.
    pub update: Option<String>,
}

/// Compares what came out with the expectation.
pub fn check(section: &Section, outcome: &Outcome) -> Result<(), Failure> {
    let hopeless = |message: String| Failure { message, update: None };
    if let Some(crash) = outcome.crash() {
        return Err(hopeless(crash));
    }
    let code = match outcome.end {
        End::Code(code) => code,
        _ => -1,
    };
    let (wanted, found) = (section.expected.as_deref(), normal(&outcome.stdout));
    if section.refused {
        return check_refusal(wanted, code, &outcome.stderr);
    }
    if code != 0 {
        return Err(hopeless(format!("exit code {code}\n{}", outcome.stderr.trim_end())));
    }
    if found.lines().any(|l| heading(l).is_some()) {
        return Err(hopeless("the output has a line that looks like the head of a section".into()));
    }
    match wanted {
        Some(wanted) if wanted == found => Ok(()),
        wanted => Err(Failure { message: diff(wanted.unwrap_or(""), &found), update: Some(found) }),
    }
}

fn check_refusal(wanted: Option<&str>, code: i32, stderr: &str) -> Result<(), Failure> {
    let warned = wanted.is_some_and(|w| w.lines().any(|l| l.trim() == "exit: 0"));
    if code == 0 && !warned {
        return Err(Failure { message: "accepted, but must be refused".into(), update: None });
    }
    let mut message = String::new();
    let mut told_code = false;
    for line in wanted.unwrap_or("").lines().map(str::trim).filter(|l| !l.is_empty()) {
        if let Some(wanted) = line.strip_prefix("exit:") {
            told_code = true;
            if wanted.trim() != code.to_string() {
                let _ = writeln!(message, "exit code {code}, expected {}", wanted.trim());
            }
        } else if let Some(unwanted) = line.strip_prefix("not:") {
            if stderr.contains(unwanted.trim()) {
                let _ = writeln!(message, "standard error has '{}'", unwanted.trim());
            }
        } else if !stderr.contains(line) {
            let _ = writeln!(message, "standard error lacks '{line}'");
        }
    }
    if !told_code {
        message.push_str("the expectation has no line 'exit: N'\n");
    }
    if message.is_empty() {
        return Ok(());
    }
    let _ = write!(message, "standard error was:\n{}", stderr.trim_end());
    let mut update = format!("exit: {code}\n");
    for line in stderr.lines().map(str::trim).filter(|l| l.starts_with("error") || l.contains("model.m")) {
        update.push_str(line);
        update.push('\n');
    }
    Err(Failure { message, update: Some(update) })
}

/// What a run over files of the suite gave.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// How many tests ran.
    pub tests: usize,
    /// How many expectations were rewritten.
    pub updated: usize,
    /// One text for every failure.
    pub failures: Vec<String>,
}

/// Runs all files below `folder`; with `update` rewrites the expectations that do not hold.
pub fn run_all(folder: &Path, update: bool, run: impl Fn(&Section) -> io::Result<Outcome> + Sync) -> Report {
    let mut paths = Vec::new();
    collect(folder, &mut paths);
    paths.sort();
    let mut report = Report::default();
    for path in paths {
        let shown = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) => {
                report.failures.push(format!("{shown}: {e}"));
                continue;
            }
        };
        let updated = run_file(&shown, &text, update, &run, &mut report);
        if let Some(Err(e)) = updated.filter(|t| *t != text).map(|t| fs::write(&path, t)) {
            report.failures.push(format!("{shown}: {e}"));
        }
    }
    report
}

/// Runs one file and returns its text with updated expectations, if there are any.
fn run_file(
    shown: &str,
    text: &str,
    update: bool,
    run: impl Fn(&Section) -> io::Result<Outcome> + Sync,
    report: &mut Report,
) -> Option<String> {
    let mut file = match SuiteFile::parse(text) {
        Ok(file) => file,
        Err(e) => {
            report.failures.push(format!("{shown}: {e}"));
            return None;
        }
    };
    if shown.ends_with(".mdae") {
        file.sections.iter_mut().for_each(|s| s.file = "model.mdae");
    }
    let wanted: Vec<usize> = (0..file.sections.len()).filter(|&k| is_wanted(&file.sections[k].name)).collect();
    let checked = in_parallel(&wanted, |&k| match run(&file.sections[k]) {
        Ok(outcome) => check(&file.sections[k], &outcome),
        Err(e) => Err(Failure { message: format!("cannot run: {e}"), update: None }),
    });
    report.tests += wanted.len();
    let mut updated = 0;
    for (k, result) in wanted.into_iter().zip(checked) {
        let section = &mut file.sections[k];
        match result {
            Ok(()) => {}
            Err(Failure { update: Some(text), .. }) if update => {
                section.expected = Some(text);
                updated += 1;
            }
            Err(Failure { message, .. }) => {
                report.failures.push(format!("{shown}:{}: {}\n{message}", section.line, section.name));
            }
        }
    }
    report.updated += updated;
    (updated > 0).then(|| file.render())
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|e| e == "mo" || e == "mdae") {
            paths.push(path);
        }
    }
}

/// The lines that differ, with a few around them: `-` expected, `+` found.
pub fn diff(expected: &str, found: &str) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), found.lines().collect());
    let head = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let tail = a[head..].iter().rev().zip(b[head..].iter().rev()).take_while(|(x, y)| x == y).count();
    let (middle_a, middle_b) = (&a[head..a.len() - tail], &b[head..b.len() - tail]);
    let mut text = String::new();
    for line in &a[head.saturating_sub(3)..head] {
        let _ = writeln!(text, "  {line}");
    }
    for (mark, line) in edits(middle_a, middle_b) {
        let _ = writeln!(text, "{mark} {line}");
    }
    for line in a[a.len() - tail..].iter().take(3) {
        let _ = writeln!(text, "  {line}");
    }
    text
}

/// The shortest way from `a` to `b` by removing and adding lines, as long as that is cheap to find.
fn edits<'a>(a: &[&'a str], b: &[&'a str]) -> Vec<(char, &'a str)> {
    if a.len() * b.len() > 4_000_000 {
        return a.iter().map(|l| ('-', *l)).chain(b.iter().map(|l| ('+', *l))).collect();
    }
    // common[i][j]: length of the longest common subsequence of a[i..] and b[j..]
    let mut common = vec![vec![0u32; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i][j] = if a[i] == b[j] { common[i + 1][j + 1] + 1 } else { common[i + 1][j].max(common[i][j + 1]) };
        }
    }
    let (mut i, mut j, mut edits) = (0, 0, Vec::new());
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            edits.push((' ', a[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < a.len() && (j == b.len() || common[i + 1][j] >= common[i][j + 1]) {
            edits.push(('-', a[i]));
            i += 1;
        } else {
            edits.push(('+', b[j]));
            j += 1;
        }
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scratch;

    const TEXT: &str = "About parameters.

--- one flatten ---
model M
end M;
--- expect ---
class M
  x

--- two error ---
model N
--- expect ---
exit: 3
expected 'end N'
";

    fn outcome(code: i32, stdout: &str, stderr: &str) -> Outcome {
        Outcome { end: End::Code(code), stdout: stdout.into(), stderr: stderr.into() }
    }

    /// Stands in for the product: flattens everything to the same text and refuses what has no end.
    fn fake(section: &Section) -> io::Result<Outcome> {
        Ok(if section.source.contains("end") {
            outcome(0, "class M\n  x   \n\n", "")
        } else {
            outcome(3, "", "error: expected 'end N'\n --> model.mo:1:8\n")
        })
    }

    #[test]
    fn sections_come_apart_and_together_again() {
        let file = SuiteFile::parse(TEXT).unwrap();
        assert_eq!(file.render(), TEXT);
        let names: Vec<_> =
            file.sections.iter().map(|s| (s.name.as_str(), s.stage.as_str(), s.refused, s.line)).collect();
        assert_eq!(names, [("one", "flatten", false, 3), ("two", "simulate", true, 10)]);
        assert_eq!(file.sections[0].source, "model M\nend M;\n");
        assert_eq!(file.sections[0].command("model.mo"), ["flatten", "model.mo"]);
    }

    #[test]
    fn words_after_the_stage_are_arguments() {
        let file =
            SuiteFile::parse("--- a simulate --stop 1 ---\n--- b error check --json ---\n--- c error --stop 2 ---\n");
        let commands: Vec<String> = file.unwrap().sections.iter().map(|s| s.command("f").join(" ")).collect();
        assert_eq!(commands, ["simulate f --output - --stop 1", "check f --json", "simulate f --output - --stop 2"]);
    }

    #[test]
    fn malformed_files_are_told_with_the_line() {
        for (text, message) in [
            ("--- expect ---\n", "line 1: an expectation"),
            ("--- a flatten ---\n--- expect ---\n--- expect ---\n", "line 3"),
            ("\n--- a ---\n", "line 2: a section is headed"),
            ("--- a cook ---\n", "no stage 'cook'"),
            ("--- a parse ---\n--- a parse ---\n", "line 2: a second section"),
        ] {
            assert!(SuiteFile::parse(text).unwrap_err().contains(message), "{text}");
        }
    }

    #[test]
    fn a_suite_that_holds_has_no_failures() {
        let mut report = Report::default();
        assert_eq!(run_file("f.mo", TEXT, true, fake, &mut report), None);
        assert_eq!((report.tests, report.updated, report.failures.len()), (2, 0, 0));
    }

    #[test]
    fn a_difference_is_shown_as_one_and_repaired_on_request() {
        let stale = TEXT.replace("  x\n", "  y\n").replace("exit: 3", "exit: 4").replace("expected 'end N'\n", "");
        let mut report = Report::default();
        assert_eq!(run_file("f.mo", &stale, false, fake, &mut report), None);
        assert_eq!(report.failures[0], "f.mo:3: one\n  class M\n-   y\n+   x\n");
        assert!(report.failures[1].contains("exit code 3, expected 4"), "{}", report.failures[1]);

        let mut report = Report::default();
        let updated = run_file("f.mo", &stale, true, fake, &mut report).unwrap();
        assert_eq!((report.updated, report.failures.len()), (2, 0));
        assert_eq!(
            updated,
            TEXT.replace("exit: 3\nexpected 'end N'\n", "exit: 3\nerror: expected 'end N'\n--> model.mo:1:8\n")
        );
        let mut report = Report::default();
        assert_eq!(run_file("f.mo", &updated, false, fake, &mut report), None);
        assert!(report.failures.is_empty());
    }

    #[test]
    fn files_are_found_and_rewritten_in_place() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().join("area/f.mo");
        fs::create_dir(scratch.path().join("area")).unwrap();
        fs::write(&path, "--- one flatten ---\nmodel M\nend M;\n").unwrap();
        let report = run_all(scratch.path(), false, fake);
        assert!(report.failures[0].starts_with("area/f.mo:1: one\n+ class M"), "{:?}", report.failures);
        let report = run_all(scratch.path(), true, fake);
        assert_eq!((report.updated, report.failures.len()), (1, 0));
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            "--- one flatten ---\nmodel M\nend M;\n--- expect ---\nclass M\n  x\n"
        );
        assert!(run_all(scratch.path(), false, fake).failures.is_empty());
        assert_eq!(run_all(&scratch.path().join("nothing"), false, fake).tests, 0);
    }

    #[test]
    fn crashes_and_unexpected_acceptance_cannot_be_updated_away() {
        let file = SuiteFile::parse(TEXT).unwrap();
        let update = |section: &Section, outcome| check(section, &outcome).unwrap_err().update;
        assert_eq!(update(&file.sections[0], outcome(101, "", "panicked")), None);
        assert_eq!(update(&file.sections[0], outcome(3, "", "error")), None);
        assert_eq!(update(&file.sections[1], outcome(0, "", "")), None);
        assert_eq!(update(&file.sections[1], outcome(101, "", "panicked: expected 'end N'")), None);
        assert_eq!(update(&file.sections[0], outcome(0, "--- x y ---\n", "")), None);
    }

    #[test]
    fn a_diff_shows_only_the_neighbourhood() {
        assert_eq!(diff("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nd\nE\nf\n"), "  b\n  c\n  d\n- e\n+ E\n  f\n");
        assert_eq!(diff("a\nx\nb\ny\nc\n", "a\nb\nc\n"), "  a\n- x\n  b\n- y\n  c\n");
        assert_eq!(diff("", "a\n"), "+ a\n");
    }
}
