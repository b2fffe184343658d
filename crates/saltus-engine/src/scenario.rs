//! Scenarios: what an initialization starts from and what it has reached, as data and as files.
//!
//! ```toml
//! model = "Tank"
//! time = 0.0
//!
//! [variables]
//! "tank.h"      = { id = "v7", kind = "differential", fixed = true, weight = 1, value = 2.0, min = 0.0, mark = true }
//! "der(tank.h)" = { id = "d7", kind = "derivative", fixed = false, weight = 0, value = -0.3, mark = false }
//! ```
//!
//! A file may leave out whatever shall be as in the model: only the name must be right. The XML form has the shape of the
//! initialization paper's: components as a tree of `struct` elements, their variables as `terminal` elements.

use saltus_base::{Diagnostic, FileId, Span, Stage};
use std::fmt::Write as _;

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A parameter with a value of its own.
    Parameter,
    /// A parameter computed from others; its value is for information.
    Derived,
    /// A variable whose derivative occurs.
    Differential,
    /// The derivative of a differential variable.
    Derivative,
    /// Any other continuous variable.
    Algebraic,
    /// A variable that changes at events only.
    Discrete,
}

impl Kind {
    const ALL: [(Kind, &'static str); 6] = [
        (Kind::Parameter, "parameter"),
        (Kind::Derived, "derived"),
        (Kind::Differential, "differential"),
        (Kind::Derivative, "derivative"),
        (Kind::Algebraic, "algebraic"),
        (Kind::Discrete, "discrete"),
    ];

    /// As written in files.
    pub fn name(self) -> &'static str {
        Kind::ALL.iter().find(|k| k.0 == self).map_or("", |k| k.1)
    }

    fn parse(text: &str) -> Option<Kind> {
        Kind::ALL.iter().find(|k| k.1 == text).map(|k| k.0)
    }
}

/// One variable, derivative or parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Flat name, `der(x)` for derivatives.
    pub name: String,
    /// Its number in the flat model.
    pub id: String,
    /// What it is.
    pub kind: Kind,
    /// `fixed` as in the model.
    pub fixed: bool,
    /// 1: fixed, 0: relaxed, between: a wish with this priority.
    pub weight: f64,
    /// The value (fixed), the wanted value, or the guess; `None`: what the model says, not a plain number.
    pub value: Option<f64>,
    /// Lower bound.
    pub min: Option<f64>,
    /// Upper bound.
    pub max: Option<f64>,
    /// Typical size.
    pub nominal: Option<f64>,
    /// Stays when variables are eliminated.
    pub mark: bool,
}

impl Entry {
    /// Whether its value is given and kept.
    pub fn is_fixed(&self) -> bool {
        self.weight >= 1.0
    }

    /// Whether nobody wrote this variable.
    pub fn is_generated(&self) -> bool {
        self.name.starts_with('$')
    }

    /// Whether it is a wish.
    pub fn is_soft(&self) -> bool {
        self.weight > 0.0 && self.weight < 1.0
    }
}

/// The whole list for one model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scenario {
    /// The model.
    pub model: String,
    /// The time it speaks of.
    pub time: f64,
    /// Goes on from the end of a run: initial equations and `when initial()` are over.
    pub continues: bool,
    /// Initial equations of the flat model that do not hold, by their numbers from 1.
    pub dropped: Vec<usize>,
    /// What travels in delays and distributions at the end of a run, one list each.
    pub histories: Vec<Vec<f64>>,
    /// What the run before left beyond values: relations, rests, surfaces, a line each.
    pub left: Vec<String>,
    /// All entries, in the order of the flat model.
    pub entries: Vec<Entry>,
}

/// What a file says about one name.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// The name.
    pub name: String,
    /// Where it stands.
    pub span: Option<Span>,
    /// What it is said to be.
    pub kind: Option<Kind>,
    /// See [`Entry::weight`].
    pub weight: Option<f64>,
    /// See [`Entry::value`].
    pub value: Option<f64>,
    /// See [`Entry::min`].
    pub min: Option<f64>,
    /// See [`Entry::max`].
    pub max: Option<f64>,
    /// See [`Entry::nominal`].
    pub nominal: Option<f64>,
    /// See [`Entry::mark`].
    pub mark: Option<bool>,
}

/// A scenario as read from a file, not yet held against a model.
#[derive(Clone, Debug, Default)]
pub struct ScenarioFile {
    /// The model it says it is for, and where.
    pub model: Option<(String, Span)>,
    /// The time it speaks of.
    pub time: Option<f64>,
    /// See [`Scenario::continues`].
    pub continues: bool,
    /// See [`Scenario::dropped`].
    pub dropped: Vec<usize>,
    /// See [`Scenario::histories`].
    pub histories: Vec<Vec<f64>>,
    /// See [`Scenario::left`].
    pub left: Vec<String>,
    /// Its lines.
    pub lines: Vec<Line>,
}

impl ScenarioFile {
    /// Reads TOML or XML (which begins with `<`). Whatever is wrong is named; the rest is read.
    pub fn read(file: FileId, text: &str) -> (ScenarioFile, Vec<Diagnostic>) {
        let mut reader = Reader { file, faults: Vec::new(), out: ScenarioFile::default() };
        if text.trim_start().starts_with('<') {
            reader.xml(text)
        } else {
            reader.toml(text)
        }
        (reader.out, reader.faults)
    }
}

struct Reader {
    file: FileId,
    faults: Vec<Diagnostic>,
    out: ScenarioFile,
}

type Toml<'a> = toml::Spanned<toml::de::DeValue<'a>>;

impl Reader {
    fn span(&self, r: std::ops::Range<usize>) -> Span {
        Span::new(self.file, r.start, r.end)
    }

    fn fault(&mut self, span: Span, message: impl Into<String>) {
        self.faults.push(Diagnostic::error(Stage::Usage, span, message));
    }

    fn toml(&mut self, text: &str) {
        let (table, errors) = toml::de::DeTable::parse_recoverable(text);
        for e in errors {
            let span = e.span().map_or(Span::NONE, |r| self.span(r));
            self.fault(span, format!("not TOML: {}", e.message()));
        }
        for (key, value) in table.get_ref() {
            let span = self.span(key.span().start..value.span().end);
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("model", v) => match v.as_str() {
                    Some(m) => self.out.model = Some((m.to_string(), span)),
                    None => self.fault(span, "model: a name in quotes is expected"),
                },
                ("time", _) => self.out.time = self.number("time", value),
                ("continues", v) => match v.as_bool() {
                    Some(b) => self.out.continues = b,
                    None => self.fault(span, "continues: true or false is expected"),
                },
                ("dropped", v) => match v.as_array() {
                    Some(list) => {
                        let numbers = list.iter().map(|n| self.number("dropped", n));
                        self.out.dropped = numbers.flatten().map(|n| n as usize).collect();
                    }
                    None => self.fault(span, "dropped: a list of numbers of initial equations is expected"),
                },
                ("histories", v) => match v.as_array() {
                    Some(lists) => {
                        for list in lists {
                            let Some(numbers) = list.get_ref().as_array() else {
                                self.fault(span, "histories: lists of numbers are expected");
                                continue;
                            };
                            let numbers = numbers.iter().filter_map(|n| self.number("histories", n)).collect();
                            self.out.histories.push(numbers);
                        }
                    }
                    None => self.fault(span, "histories: a list of lists of numbers is expected"),
                },
                ("left", v) => match v.as_array() {
                    Some(lines) => {
                        for line in lines {
                            match line.get_ref().as_str() {
                                Some(text) => self.out.left.push(text.to_string()),
                                None => self.fault(span, "left: lines in quotes are expected"),
                            }
                        }
                    }
                    None => self.fault(span, "left: a list of lines is expected"),
                },
                ("variables", v) => match v.as_table() {
                    Some(lines) => {
                        for (name, line) in lines {
                            let span = self.span(name.span().start..line.span().end);
                            self.line(name.get_ref(), line, span);
                        }
                    }
                    None => self.fault(span, "variables: a table is expected"),
                },
                (other, _) => self.fault(
                    span,
                    format!(
                        "unknown entry {other}; a scenario has model, time, continues, dropped, histories, left and the table variables"
                    ),
                ),
            }
        }
        // In the order of the file.
        self.out.lines.sort_by_key(|l| l.span.map(|s| s.start));
    }

    fn line(&mut self, name: &str, line: &Toml<'_>, span: Span) {
        let Some(fields) = line.get_ref().as_table() else {
            self.fault(span, format!("{name}: fields in braces are expected, like {{ weight = 1, value = 2.5 }}"));
            return;
        };
        let mut out = Line { name: name.to_string(), span: Some(span), ..Line::default() };
        for (key, value) in fields {
            let at = self.span(key.span().start..value.span().end);
            let what = format!("{name}: {}", key.get_ref());
            match key.get_ref().as_ref() {
                "id" | "fixed" => {}
                "kind" => match value.get_ref().as_str().and_then(Kind::parse) {
                    Some(k) => out.kind = Some(k),
                    None => {
                        let kinds: Vec<&str> = Kind::ALL.iter().map(|k| k.1).collect();
                        self.fault(at, format!("{what}: one of {} is expected", kinds.join(", ")));
                    }
                },
                "weight" => out.weight = self.number(&what, value),
                "value" => {
                    out.value = match value.get_ref().as_bool() {
                        Some(b) => Some(f64::from(b)),
                        None => self.number(&what, value),
                    }
                }
                "min" => out.min = self.number(&what, value),
                "max" => out.max = self.number(&what, value),
                "nominal" => out.nominal = self.number(&what, value),
                "mark" => match value.get_ref().as_bool() {
                    Some(b) => out.mark = Some(b),
                    None => self.fault(at, format!("{what}: true or false is expected")),
                },
                _ => self.fault(at, format!("{what}: there is no such field")),
            }
        }
        self.finish(out, span);
    }

    fn number(&mut self, what: &str, value: &Toml<'_>) -> Option<f64> {
        let number = match value.get_ref() {
            toml::de::DeValue::Float(f) => f.as_str().replace('_', "").parse::<f64>().ok(),
            toml::de::DeValue::Integer(i) if i.radix() == 10 => i.as_str().replace('_', "").parse::<f64>().ok(),
            _ => None,
        };
        if number.is_none() {
            let span = self.span(value.span());
            self.fault(span, format!("{what}: a number is expected"));
        }
        number
    }

    /// What can be judged without the model.
    fn finish(&mut self, line: Line, span: Span) {
        let name = &line.name;
        let mut faults = Vec::new();
        if let Some(w) = line.weight
            && !(0.0..=1.0).contains(&w)
        {
            faults.push(format!("{name}: weight {w} is not between 0 (relaxed) and 1 (fixed)"));
        }
        for (what, v) in [("value", line.value), ("nominal", line.nominal)] {
            if v.is_some_and(|v| !v.is_finite()) {
                faults.push(format!("{name}: {what} is not a number"));
            }
        }
        if line.nominal == Some(0.0) {
            faults.push(format!("{name}: nominal must not be zero"));
        }
        if let (Some(lo), Some(hi)) = (line.min, line.max)
            && !(lo <= hi)
        {
            faults.push(format!("{name}: min {lo} is above max {hi}"));
        }
        if self.out.lines.iter().any(|l| l.name == *name) {
            faults.push(format!("{name} stands here twice"));
        }
        let good = faults.is_empty();
        for f in faults {
            self.fault(span, f);
        }
        if good {
            self.out.lines.push(line);
        }
    }

    fn xml(&mut self, text: &str) {
        use quick_xml::events::Event;
        let mut reader = quick_xml::Reader::from_str(text);
        // Text comes in pieces around entities; an element's text is whole at its end.
        let mut content = String::new();
        let mut open: Vec<String> = Vec::new();
        let mut path: Vec<String> = Vec::new();
        let mut line: Option<(Line, usize)> = None;
        loop {
            let before = reader.buffer_position() as usize;
            let event = reader.read_event();
            let after = reader.buffer_position() as usize;
            let span = self.span(before..after);
            match event {
                Ok(Event::Start(e)) => {
                    let tag = String::from_utf8_lossy(e.name().as_ref()).into_owned();
                    content.clear();
                    if tag == "terminal" {
                        line = Some((Line::default(), before));
                    } else if let Some((l, _)) = &mut line {
                        self.field(l, &tag, attribute(&e), span);
                    }
                    open.push(tag);
                }
                Ok(Event::Empty(e)) => {
                    let tag = String::from_utf8_lossy(e.name().as_ref()).into_owned();
                    let value = attribute(&e);
                    match &mut line {
                        Some((l, _)) => self.field(l, &tag, value, span),
                        None => self.header(&tag, value, span),
                    }
                }
                Ok(Event::Text(t)) => content.push_str(&String::from_utf8_lossy(&t)),
                Ok(Event::GeneralRef(r)) => {
                    let raw = format!("&{};", String::from_utf8_lossy(&r));
                    content.push_str(&quick_xml::escape::unescape(&raw).map_or(raw.clone(), |v| v.into_owned()));
                }
                Ok(Event::End(_)) => {
                    let value = std::mem::take(&mut content).trim().to_string();
                    if !value.is_empty() {
                        let tag = open.last().cloned().unwrap_or_default();
                        let parent = open.len().checked_sub(2).map(|k| open[k].as_str());
                        match (&mut line, tag.as_str(), parent) {
                            (Some((l, _)), _, _) => self.field(l, &tag, Some(value), span),
                            (None, "name", Some("struct")) => path.push(value),
                            (None, "name", Some("model")) => self.out.model = Some((value, span)),
                            _ => {}
                        }
                    }
                    match open.pop().as_deref() {
                        Some("terminal") => {
                            if let Some((mut l, start)) = line.take() {
                                l.name = full_name(&path, &l.name);
                                let span = self.span(start..after);
                                l.span = Some(span);
                                if l.name.is_empty() {
                                    self.fault(span, "a terminal without a name");
                                } else {
                                    self.finish(l, span);
                                }
                            }
                        }
                        Some("struct") => {
                            path.pop();
                        }
                        _ => {}
                    }
                }
                Ok(Event::Eof) => break,
                Ok(_) => {}
                Err(e) => {
                    self.fault(span, format!("not XML: {e}"));
                    break;
                }
            }
        }
    }

    fn header(&mut self, tag: &str, value: Option<String>, span: Span) {
        match (tag, value.as_deref()) {
            ("time", Some(t)) => match t.parse() {
                Ok(t) => self.out.time = Some(t),
                Err(_) => self.fault(span, "time: a number is expected"),
            },
            ("continues", Some(v)) => self.out.continues = v == "true",
            ("history", Some(v)) => {
                let numbers: Result<Vec<f64>, _> = v.split_whitespace().map(str::parse).collect();
                match numbers {
                    Ok(numbers) => self.out.histories.push(numbers),
                    Err(_) => self.fault(span, "history: numbers are expected"),
                }
            }
            ("left", Some(v)) => self.out.left.push(v.to_string()),
            ("dropped", Some(v)) => self.out.dropped = v.split_whitespace().filter_map(|n| n.parse().ok()).collect(),
            _ => {}
        }
    }

    fn field(&mut self, line: &mut Line, tag: &str, value: Option<String>, span: Span) {
        let Some(value) = value.filter(|v| !v.is_empty()) else { return };
        let mut number = |what: &str| match value.trim() {
            "true" => Some(1.0),
            "false" => Some(0.0),
            v => {
                let n = v.parse::<f64>().ok();
                if n.is_none() {
                    self.faults.push(Diagnostic::error(
                        Stage::Usage,
                        span,
                        format!("{}: {what}: a number is expected, not {v}", line.name),
                    ));
                }
                n
            }
        };
        match tag {
            "name" => line.name = value,
            "kind" => {
                line.kind = match value.as_str() {
                    "fixed_parameter" => Some(Kind::Derived),
                    // The paper's own word covers differential, algebraic and derivative alike.
                    "variable" => None,
                    "discrete_variable" => Some(Kind::Discrete),
                    other => Kind::parse(other),
                }
            }
            "weight" => line.weight = number("weight"),
            "initial_value" => line.value = number("initial_value"),
            "min" => line.min = number("min"),
            "max" => line.max = number("max"),
            "nominal_value" => line.nominal = number("nominal_value"),
            "selection" => line.mark = Some(value.eq_ignore_ascii_case("y")),
            _ => {}
        }
    }
}

fn attribute(e: &quick_xml::events::BytesStart<'_>) -> Option<String> {
    let a = e.try_get_attribute("value").ok()??;
    a.unescape_value().ok().map(|v| v.into_owned())
}

/// `a.b` and `der(x)` ⇒ `der(a.b.x)`.
fn full_name(path: &[String], name: &str) -> String {
    let join = |n: &str| path.iter().map(String::as_str).chain([n]).collect::<Vec<_>>().join(".");
    match name.strip_prefix("der(").and_then(|n| n.strip_suffix(')')) {
        _ if name.is_empty() => String::new(),
        Some(inner) => format!("der({})", join(inner)),
        None => join(name),
    }
}

/// The component path and the last part of a flat name; dots in subscripts and quotes do not separate.
pub(crate) fn split_name(name: &str) -> (Vec<&str>, &str) {
    let (mut quoted, mut depth, mut from) = (false, 0, 0);
    let mut parts = Vec::new();
    for (k, c) in name.char_indices() {
        match c {
            '\'' => quoted = !quoted,
            '[' if !quoted => depth += 1,
            ']' if !quoted => depth -= 1,
            '.' if !quoted && depth == 0 => {
                parts.push(&name[from..k]);
                from = k + 1;
            }
            _ => {}
        }
    }
    (parts, &name[from..])
}

/// A number so that reading gives it back, with a point or exponent (TOML tells integers from floats).
fn float(v: f64) -> String {
    format!("{v:?}")
}

impl Scenario {
    /// The entry of a name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.entries.iter().position(|e| e.name == name)
    }

    /// The entries a file has: what nobody wrote matters only to runs that go on.
    fn shown(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|e| self.continues || !e.is_generated())
    }

    /// As a TOML file.
    pub fn to_toml(&self) -> String {
        let mut s = String::new();
        let _ = writeln!(s, "model = {}", quoted(&self.model));
        let _ = writeln!(s, "time = {}", float(self.time));
        if self.continues {
            let _ = writeln!(s, "continues = true");
        }
        if !self.dropped.is_empty() {
            let _ = writeln!(s, "dropped = {:?}", self.dropped);
        }
        if !self.histories.is_empty() {
            let lists = self
                .histories
                .iter()
                .map(|h| format!("  [{}],\n", h.iter().map(|v| float(*v)).collect::<Vec<_>>().join(", ")));
            let _ = writeln!(s, "histories = [\n{}]", lists.collect::<String>());
        }
        if !self.left.is_empty() {
            let lines = self.left.iter().map(|l| format!("  {},\n", quoted(l)));
            let _ = writeln!(s, "left = [\n{}]", lines.collect::<String>());
        }
        let _ = writeln!(s, "\n[variables]");
        for e in self.shown() {
            let _ = write!(
                s,
                "{} = {{ id = {}, kind = {}, fixed = {}, weight = {}",
                quoted(&e.name),
                quoted(&e.id),
                quoted(e.kind.name()),
                e.fixed,
                e.weight
            );
            for (what, v) in [("value", e.value), ("min", e.min), ("max", e.max), ("nominal", e.nominal)] {
                if let Some(v) = v {
                    let _ = write!(s, ", {what} = {}", float(v));
                }
            }
            let _ = writeln!(s, ", mark = {} }}", e.mark);
        }
        s
    }

    /// As an XML file in the shape of the initialization paper's.
    pub fn to_xml(&self) -> String {
        let mut s = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let text = |t: &str| quick_xml::escape::escape(t).into_owned();
        let _ = writeln!(s, "<model>\n<name>{}</name>\n<time value=\"{}\"/>", text(&self.model), float(self.time));
        let _ = writeln!(s, "<continues value=\"{}\"/>", self.continues);
        if !self.dropped.is_empty() {
            let numbers: Vec<String> = self.dropped.iter().map(usize::to_string).collect();
            let _ = writeln!(s, "<dropped value=\"{}\"/>", numbers.join(" "));
        }
        for h in &self.histories {
            let numbers: Vec<String> = h.iter().map(|v| float(*v)).collect();
            let _ = writeln!(s, "<history value=\"{}\"/>", numbers.join(" "));
        }
        for l in &self.left {
            let _ = writeln!(s, "<left value=\"{}\"/>", text(l));
        }
        let _ = writeln!(s, "<elements>");
        let mut open: Vec<String> = Vec::new();
        // Entries of one component stand together; the order inside is kept.
        let mut order: Vec<(Vec<&str>, String, &Entry)> = self
            .shown()
            .map(|e| {
                let inner = e.name.strip_prefix("der(").and_then(|n| n.strip_suffix(')'));
                let (path, last) = split_name(inner.unwrap_or(&e.name));
                (path, if inner.is_some() { format!("der({last})") } else { last.to_string() }, e)
            })
            .collect();
        order.sort_by(|a, b| a.0.cmp(&b.0));
        for (path, last, e) in order {
            let common = open.iter().zip(&path).take_while(|(a, b)| a == b).count();
            while open.len() > common {
                s.push_str("</subnodes>\n</struct>\n");
                open.pop();
            }
            for part in &path[common..] {
                let _ = writeln!(s, "<struct>\n<name>{}</name>\n<subnodes>", text(part));
                open.push((*part).to_string());
            }
            let _ = writeln!(s, "<terminal>\n<name>{}</name>\n<kind>{}</kind>", text(&last), e.kind.name());
            let _ = writeln!(s, "<id>{}</id>\n<fixed value=\"{}\"/>", text(&e.id), e.fixed);
            let number = |v: Option<f64>| v.map_or_else(String::new, float);
            let _ = writeln!(s, "<initial_value value=\"{}\"/>\n<weight value=\"{}\"/>", number(e.value), e.weight);
            let _ = writeln!(s, "<max value=\"{}\"/>\n<min value=\"{}\"/>", number(e.max), number(e.min));
            let _ = writeln!(s, "<nominal_value value=\"{}\"/>", number(e.nominal));
            let _ = writeln!(s, "<selection value=\"{}\"/>\n</terminal>", if e.mark { 'Y' } else { 'N' });
        }
        for _ in open {
            s.push_str("</subnodes>\n</struct>\n");
        }
        s.push_str("</elements>\n</model>\n");
        s
    }
}

/// A TOML basic string.
fn quoted(text: &str) -> String {
    let mut s = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                s.push('\\');
                s.push(c);
            }
            c if c.is_control() => {
                let _ = write!(s, "\\u{:04X}", c as u32);
            }
            c => s.push(c),
        }
    }
    s.push('"');
    s
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Scenario {
        let entry = |name: &str, kind, weight, value| Entry {
            name: name.into(),
            id: "v1".into(),
            kind,
            fixed: false,
            weight,
            value,
            min: Some(0.0),
            max: None,
            nominal: Some(1e5),
            mark: true,
        };
        Scenario {
            model: "P.'a \"b\"'".into(),
            time: 0.1,
            continues: true,
            dropped: vec![2, 5],
            histories: vec![vec![0.5, -1e-300], vec![]],
            left: vec!["relation 1 x < \"a\" & y".into(), "rest 0 v".into()],
            entries: vec![
                entry("a.b[2].x", Kind::Differential, 0.25, Some(-0.1)),
                entry("der(a.b[2].x)", Kind::Derivative, 0.0, Some(1e-300)),
                entry("p", Kind::Parameter, 1.0, None),
            ],
        }
    }

    #[test]
    fn files_give_back_what_was_written() {
        let s = sample();
        for text in [s.to_toml(), s.to_xml()] {
            let (file, faults) = ScenarioFile::read(FileId(0), &text);
            assert!(faults.is_empty(), "{text}\n{faults:?}");
            assert_eq!(file.model.unwrap().0, s.model);
            assert_eq!((file.time, file.continues, &file.dropped[..]), (Some(0.1), true, &[2, 5][..]));
            assert_eq!(file.histories, s.histories);
            assert_eq!(file.left, s.left);
            let mut lines = file.lines;
            lines.sort_by_key(|l| s.find(&l.name));
            for (l, e) in lines.iter().zip(&s.entries) {
                assert_eq!((&l.name, l.kind, l.weight), (&e.name, Some(e.kind), Some(e.weight)), "{text}");
                assert_eq!((l.value, l.min, l.nominal, l.mark), (e.value, e.min, e.nominal, Some(e.mark)));
            }
            assert_eq!(lines.len(), 3);
        }
    }

    #[test]
    fn every_fault_of_a_file_is_named() {
        let text =
            "model = 3\n[variables]\nx = { weight = 2 }\ny = { value = \"a\" }\nz = 5\nw = { min = 3, max = 1 }\n";
        let (_, faults) = ScenarioFile::read(FileId(0), text);
        assert_eq!(faults.len(), 5, "{faults:?}");
    }
}
