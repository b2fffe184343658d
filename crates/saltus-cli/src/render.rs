//! Diagnostics as text for people or as JSON for machines.
//!
//! ```text
//! error: there is no 'y' here
//!  --> model.mo:2:12
//!   |
//! 2 |   Real x = y;
//!   |            ^
//!   |
//!   = note: in pump.motor
//!   = help: did you mean 'z'?
//! ```

use crate::console;
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use saltus_base::{Diagnostic, FileId, Severity, SourceFile, SourceMap, Span, Stage};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::ops::Range;

/// A span of more lines is shown by its first line only.
const MOST_LINES: u32 = 4;
/// More messages of one severity are only counted.
const MOST_MESSAGES: usize = 50;

/// How diagnostics are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Text without colours.
    Plain,
    /// Text with colours.
    Coloured,
    /// One JSON object per line.
    Json,
}

impl Style {
    /// The style for standard error.
    pub fn for_stderr(json: bool) -> Style {
        if json {
            Style::Json
        } else if console::has_colours() {
            Style::Coloured
        } else {
            Style::Plain
        }
    }

    /// Whether messages are for machines.
    pub fn is_json(self) -> bool {
        self == Style::Json
    }
}

/// All diagnostics: notes, then warnings, then errors, each once.
pub fn render_all(diagnostics: &[Diagnostic], sources: &SourceMap, style: Style) -> String {
    let mut seen = HashSet::new();
    let mut ordered: Vec<&Diagnostic> =
        diagnostics.iter().filter(|d| seen.insert((d.severity as u8, d.span, &d.message, &d.instance))).collect();
    ordered.sort_by_key(|d| d.severity);
    let mut text = String::new();
    for group in ordered.chunk_by(|a, b| a.severity == b.severity) {
        let shown = if style.is_json() { group.len() } else { group.len().min(MOST_MESSAGES) };
        for diagnostic in &group[..shown] {
            text += &render(diagnostic, sources, style);
            text.push('\n');
            if !style.is_json() && diagnostic.has_body() {
                text.push('\n');
            }
        }
        if shown < group.len() {
            text += &format!("… and {} more {}s\n", group.len() - shown, severity_name(group[0].severity));
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// One diagnostic, without a line break at the end.
pub fn render(diagnostic: &Diagnostic, sources: &SourceMap, style: Style) -> String {
    let diagnostic = &as_written(diagnostic, sources);
    let renderer = match style {
        Style::Json => return as_json(diagnostic, sources).to_string(),
        Style::Plain => Renderer::plain(),
        Style::Coloured => Renderer::styled(),
    };
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let mut group = Group::with_title(level.primary_title(diagnostic.message.as_str()));
    for snippet in snippets(diagnostic, sources) {
        group = group.element(snippet);
    }
    if !diagnostic.instance.is_empty() {
        group = group.element(Level::NOTE.message(format!("in {}", diagnostic.instance)));
    }
    for hint in &diagnostic.hints {
        group = group.element(Level::HELP.message(hint.as_str()));
    }
    renderer.render(&[group])
}

/// The same with the places where the user wrote it: files may be translations.
fn as_written(diagnostic: &Diagnostic, sources: &SourceMap) -> Diagnostic {
    let mut d = diagnostic.clone();
    let place = d.labels.iter().map(|l| l.span).fold(d.span, |a, b| if a.is_none() { b } else { a });
    d.message = sources.wording(place, &d.message);
    d.hints.iter_mut().for_each(|h| *h = sources.wording(place, h));
    d.span = sources.origin(d.span);
    d.labels.iter_mut().for_each(|l| l.span = sources.origin(l.span));
    d
}

trait HasBody {
    fn has_body(&self) -> bool;
}

impl HasBody for Diagnostic {
    /// Whether there is more than one line to it.
    fn has_body(&self) -> bool {
        !self.span.is_none() || !self.labels.is_empty() || !self.hints.is_empty() || !self.instance.is_empty()
    }
}

/// One snippet per file; the diagnostic's own place comes first.
fn snippets<'a>(diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> Vec<Snippet<'a, Annotation<'a>>> {
    let own = (diagnostic.span, AnnotationKind::Primary, "");
    let others = diagnostic.labels.iter().map(|l| (l.span, AnnotationKind::Context, l.message.as_str()));
    let mut files: Vec<(FileId, Vec<_>)> = Vec::new();
    for place in std::iter::once(own).chain(others) {
        match files.iter_mut().find(|(file, _)| *file == place.0.file) {
            Some((_, places)) => places.push(place),
            None => files.push((place.0.file, vec![place])),
        }
    }
    let snippet = |(id, places): (FileId, Vec<(Span, AnnotationKind, &'a str)>)| {
        let file = sources.get(id)?;
        // Only the lines from the first to the last place are handed over: files can be large.
        let ranges: Vec<Range<usize>> = places.iter().map(|p| shown_range(file, p.0)).collect();
        let first = ranges.iter().map(|r| r.start).min()?;
        let last = ranges.iter().map(|r| r.end).max()?;
        let from = file.text()[..first].rfind('\n').map_or(0, |k| k + 1);
        let to = file.text()[last..].find('\n').map_or(file.text().len(), |k| last + k);
        let mut snippet = Snippet::source(&file.text()[from..to])
            .line_start(file.line_col(first as u32).line as usize)
            .path(file.path.as_str());
        for ((_, kind, message), range) in places.into_iter().zip(ranges) {
            let annotation = kind.span(range.start - from..range.end - from);
            snippet = snippet.annotation(if message.is_empty() { annotation } else { annotation.label(message) });
        }
        Some(snippet)
    };
    files.into_iter().filter_map(snippet).collect()
}

/// The bytes of a span, cut to the text, to whole characters, and to the first line if it has many.
fn shown_range(file: &SourceFile, span: Span) -> Range<usize> {
    let text = file.text();
    let boundary = |mut k: usize| {
        k = k.min(text.len());
        while !text.is_char_boundary(k) {
            k -= 1;
        }
        k
    };
    let start = boundary(span.start as usize);
    let mut end = boundary((span.end as usize).max(start));
    if file.line_col(end as u32).line >= file.line_col(start as u32).line + MOST_LINES {
        end = start + text[start..end].find('\n').unwrap_or(0);
    }
    // A line break at the end of the span would draw the following line.
    end = start + text[start..end].trim_end_matches(['\n', '\r']).len();
    start..end
}

fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Usage => "usage",
        Stage::FrontEnd => "front end",
        Stage::Structure => "structure",
        Stage::Initialization => "initialization",
        Stage::Run => "run",
    }
}

/// The keys of a place: `file`, `line`, `column`, `end_line`, `end_column`; empty if there is none.
fn place(span: Span, sources: &SourceMap) -> Value {
    let Some(file) = sources.get(span.file) else { return json!({}) };
    let (from, to) = (file.line_col(span.start), file.line_col(span.end));
    json!({
        "file": file.path,
        "line": from.line,
        "column": from.column,
        "end_line": to.line,
        "end_column": to.column,
    })
}

fn as_json(diagnostic: &Diagnostic, sources: &SourceMap) -> Value {
    let mut object = json!({
        "type": "diagnostic",
        "severity": severity_name(diagnostic.severity),
        "stage": stage_name(diagnostic.stage),
        "message": diagnostic.message,
    });
    let extend = |object: &mut Value, more: Value| {
        if let (Value::Object(object), Value::Object(more)) = (object, more) {
            object.extend(more);
        }
    };
    extend(&mut object, place(diagnostic.span, sources));
    if !diagnostic.instance.is_empty() {
        object["instance"] = diagnostic.instance.as_str().into();
    }
    let labels = diagnostic.labels.iter().map(|label| {
        let mut object = json!({ "message": label.message });
        extend(&mut object, place(label.span, sources));
        object
    });
    object["labels"] = labels.collect();
    object["hints"] = diagnostic.hints.iter().map(|h| Value::from(h.as_str())).collect();
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: &str = "model M\n  Real ü = y;\n  Real z(start = 1);\nend M;\n";

    fn sources() -> (SourceMap, FileId) {
        let mut sources = SourceMap::default();
        let file = sources.add("model.mo", MODEL);
        (sources, file)
    }

    fn at(file: FileId, text: &str) -> Span {
        let start = MODEL.find(text).unwrap();
        Span::new(file, start, start + text.len())
    }

    #[track_caller]
    fn check(diagnostics: &[Diagnostic], sources: &SourceMap, expected: &str) {
        assert_eq!(render_all(diagnostics, sources, Style::Plain), expected.trim_matches('\n'));
    }

    #[test]
    fn a_place_is_shown_with_its_line() {
        let (sources, file) = sources();
        let error = Diagnostic::error(Stage::FrontEnd, at(file, "y;").start_of(1), "there is no 'y' here")
            .label(at(file, "z"), "this one is near")
            .within("pump.motor")
            .hint("did you mean 'z'?")
            .hint("or declare it");
        check(
            &[error],
            &sources,
            "
error: there is no 'y' here
 --> model.mo:2:12
  |
2 |   Real ü = y;
  |            ^
3 |   Real z(start = 1);
  |        - this one is near
  |
  = note: in pump.motor
  = help: did you mean 'z'?
  = help: or declare it
",
        );
    }

    #[test]
    fn warnings_come_before_errors_and_nothing_twice() {
        let (sources, file) = sources();
        let error = Diagnostic::error(Stage::Structure, Span::NONE, "too few equations");
        let warning = Diagnostic::warning(Stage::FrontEnd, at(file, "start"), "no effect");
        check(
            &[error.clone(), warning, error],
            &sources,
            "
warning: no effect
 --> model.mo:3:10
  |
3 |   Real z(start = 1);
  |          ^^^^^

error: too few equations
",
        );
    }

    #[test]
    fn hints_do_not_need_a_place() {
        let (sources, _) = sources();
        let error = Diagnostic::error(Stage::Usage, Span::NONE, "no class 'N'").hint("there is 'M'");
        check(
            &[error],
            &sources,
            "
error: no class 'N'
 |
 = help: there is 'M'
",
        );
    }

    #[test]
    fn other_files_get_a_snippet_of_their_own() {
        let (mut sources, file) = sources();
        let other = sources.add("lib/other.mo", "package P\n  constant Real z = 2;\nend P;");
        let error = Diagnostic::error(Stage::FrontEnd, at(file, "z("), "declared twice")
            .label(Span::new(other, 26, 27), "the first one");
        check(
            &[error],
            &sources,
            "
error: declared twice
 --> model.mo:3:8
  |
3 |   Real z(start = 1);
  |        ^^
  |
 ::: lib/other.mo:2:17
  |
2 |   constant Real z = 2;
  |                 - the first one
",
        );
    }

    #[test]
    fn places_at_odd_ends_are_survived() {
        let (mut sources, file) = sources();
        let empty = sources.add("empty.mo", "");
        let long = sources.add("long.mo", "model L\n\n\n\n\n\nend L;\n".to_string());
        let render = |span| render(&Diagnostic::error(Stage::FrontEnd, span, "here"), &sources, Style::Plain);
        assert!(render(Span::new(empty, 0, 0)).contains("empty.mo:1:1"));
        assert!(render(Span::new(file, MODEL.len(), MODEL.len())).contains("model.mo"));
        assert!(render(Span::new(file, 4000, 5000)).contains("model.mo"));
        assert!(render(Span::new(file, 5, 2)).contains("model.mo:1:6"));
        let inside_a_character = MODEL.find('ü').unwrap() + 1;
        assert!(render(Span::new(file, inside_a_character, inside_a_character)).contains("model.mo:2:8"));
        assert_eq!(render(Span::new(FileId(77), 0, 1)), "error: here");
        let text = render(Span::new(long, 0, 19));
        assert!(text.contains("1 | model L\n  | ^^^^^^^") && !text.contains("end L"), "{text}");
    }

    #[test]
    fn floods_are_cut() {
        let (sources, _) = sources();
        let errors: Vec<Diagnostic> =
            (0..120).map(|k| Diagnostic::error(Stage::FrontEnd, Span::NONE, format!("error {k}"))).collect();
        let text = render_all(&errors, &sources, Style::Plain);
        assert!(text.ends_with("error: error 49\n… and 70 more errors"), "{text}");
        assert_eq!(render_all(&errors, &sources, Style::Json).lines().count(), 120);
    }

    #[test]
    fn json_has_the_same_content() {
        let (sources, file) = sources();
        let warning = Diagnostic::warning(Stage::FrontEnd, at(file, "start"), "no effect").hint("drop it");
        let value: Value = serde_json::from_str(&render_all(&[warning], &sources, Style::Json)).unwrap();
        assert_eq!(
            value,
            json!({
                "type": "diagnostic", "severity": "warning", "stage": "front end", "message": "no effect",
                "file": "model.mo", "line": 3, "column": 10, "end_line": 3, "end_column": 15,
                "labels": [], "hints": ["drop it"],
            })
        );
    }

    #[test]
    fn colours_only_where_wanted() {
        let (sources, file) = sources();
        let error = Diagnostic::error(Stage::FrontEnd, at(file, "y"), "no");
        assert!(render(&error, &sources, Style::Coloured).contains('\u{1b}'));
        assert!(!render(&error, &sources, Style::Plain).contains('\u{1b}'));
    }

    trait Shorten {
        fn start_of(self, bytes: u32) -> Span;
    }
    impl Shorten for Span {
        fn start_of(self, bytes: u32) -> Span {
            Span { end: self.start + bytes, ..self }
        }
    }
}
