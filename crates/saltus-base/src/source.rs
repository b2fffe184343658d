//! Files and places in them.

use std::sync::{Arc, OnceLock};

/// A source file known to a [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A half-open byte range in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The place of things that no source text stands behind.
    pub const NONE: Span = Span { file: FileId(u32::MAX), start: 0, end: 0 };

    /// A span of `file` from `start` to `end`.
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        Span { file, start: start as u32, end: end as u32 }
    }

    /// The smallest span covering both.
    pub fn to(self, other: Span) -> Span {
        if self.is_none() {
            return other;
        }
        if other.is_none() || other.file != self.file {
            return self;
        }
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Whether this is [`Span::NONE`].
    pub fn is_none(self) -> bool {
        self.file == Span::NONE.file
    }
}

/// One-based line and column (column counted in characters).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineCol {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

/// A file's path (as shown to the user) and text.
#[derive(Debug)]
pub struct SourceFile {
    /// Path for messages.
    pub path: String,
    text: OnceLock<Arc<str>>,
    /// How to get the text when it is first asked for.
    read: fn(&str) -> String,
    line_starts: OnceLock<Vec<u32>>,
}

impl SourceFile {
    /// The whole text (UTF-8, byte order mark removed).
    pub fn text(&self) -> &Arc<str> {
        self.text.get_or_init(|| without_mark((self.read)(&self.path)).into())
    }

    /// Line and column of a byte offset; offsets past the end give the last place.
    pub fn line_col(&self, offset: u32) -> LineCol {
        let text = self.text();
        let line_starts = self.line_starts.get_or_init(|| {
            let ends = text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
            std::iter::once(0).chain(ends.map(|(i, _)| i as u32 + 1)).collect()
        });
        let offset = (offset as usize).min(text.len());
        let line = line_starts.partition_point(|&s| s as usize <= offset).max(1) - 1;
        let start = line_starts[line] as usize;
        let column = text.get(start..offset).map_or(offset - start, |s| s.chars().count());
        LineCol { line: line as u32 + 1, column: column as u32 + 1 }
    }
}

fn without_mark(mut text: String) -> String {
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    text
}

/// Where a piece of translated text comes from; it reaches to the next anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// First byte in the translation.
    pub at: u32,
    /// First byte in the original.
    pub start: u32,
    /// One past the last byte in the original.
    pub end: u32,
    /// Taken over byte by byte; otherwise it stands for the original piece as a whole.
    pub exact: bool,
}

/// All files read so far. Spans refer into it.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<Arc<SourceFile>>,
    origins: Vec<Origin>,
}

/// A file that is a translation.
#[derive(Clone, Debug)]
struct Origin {
    file: FileId,
    /// What it was translated from.
    source: FileId,
    /// Its places in order.
    anchors: Arc<[Anchor]>,
    /// What the original has for a derivative: `x'` is written `der(x)` in the translation.
    derivative: char,
}

impl SourceMap {
    /// Adds a file; a leading byte order mark is dropped.
    pub fn add(&mut self, path: impl Into<String>, text: impl Into<String>) -> FileId {
        self.push(path.into(), OnceLock::from(Arc::from(without_mark(text.into()))), |_| String::new())
    }

    /// Adds a file whose text is only read (by `read`, from its path) when it is asked for.
    pub fn add_unread(&mut self, path: impl Into<String>, read: fn(&str) -> String) -> FileId {
        self.push(path.into(), OnceLock::new(), read)
    }

    fn push(&mut self, path: String, text: OnceLock<Arc<str>>, read: fn(&str) -> String) -> FileId {
        self.files.push(Arc::new(SourceFile { path, text, read, line_starts: OnceLock::new() }));
        FileId(self.files.len() as u32 - 1)
    }

    /// Says that `file` is a translation of the text `original`, which messages then show; `anchors` in the order of `at`.
    /// `derivative` is the mark that the original has behind a name where the translation has `der(name)`.
    pub fn translated_from(
        &mut self,
        file: FileId,
        original: impl Into<String>,
        anchors: Vec<Anchor>,
        derivative: char,
    ) {
        let path = self.get(file).map(|f| f.path.clone()).unwrap_or_default();
        let source = self.add(path, original);
        self.origins.push(Origin { file, source, anchors: anchors.into(), derivative });
    }

    /// A message about a place, with derivatives as its file writes them: `der(der(x))` may be `x''` there.
    pub fn wording(&self, span: Span, text: &str) -> String {
        let Some(origin) = self.origins.iter().find(|o| o.file == span.file) else { return text.to_string() };
        let mut out = text.to_string();
        // Innermost first.
        while let Some((start, len)) = innermost_derivative(&out) {
            let name = format!("{}{}", &out[start + 4..start + len - 1], origin.derivative);
            out.replace_range(start..start + len, &name);
        }
        out
    }

    /// The place the user wrote what stands at a place; the same one unless its file is a translation.
    pub fn origin(&self, span: Span) -> Span {
        let Some(Origin { source, anchors, .. }) = self.origins.iter().find(|o| o.file == span.file) else {
            return span;
        };
        let within = |a: &Anchor, offset: u32| (a.start + (offset - a.at)).min(a.end);
        let before = |offset: u32| anchors.partition_point(|a| a.at <= offset).checked_sub(1).map(|k| anchors[k]);
        let first = before(span.start).unwrap_or(Anchor { at: 0, start: 0, end: 0, exact: true });
        let start = if first.exact { within(&first, span.start) } else { first.start };
        let last = before(span.end.saturating_sub(1)).unwrap_or(first);
        let end = if last.exact { within(&last, span.end) } else { last.end };
        Span { file: *source, start, end: end.max(start) }
    }

    /// How many files there are.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// The file, unless the id is that of [`Span::NONE`].
    pub fn get(&self, file: FileId) -> Option<&SourceFile> {
        self.files.get(file.0 as usize).map(|f| &**f)
    }

    /// The text under a span, empty if there is none.
    pub fn text(&self, span: Span) -> &str {
        self.get(span.file).and_then(|f| f.text().get(span.start as usize..span.end as usize)).unwrap_or("")
    }

    /// `path:line:column` of the span's start.
    pub fn describe(&self, span: Span) -> String {
        let span = self.origin(span);
        match self.get(span.file) {
            Some(f) => {
                let p = f.line_col(span.start);
                format!("{}:{}:{}", f.path, p.line, p.column)
            }
            None => "<generated>".to_string(),
        }
    }
}

/// Where a `der(name)` of a plain name stands, and how long it is.
fn innermost_derivative(text: &str) -> Option<(usize, usize)> {
    text.match_indices("der(").map(|(at, _)| at).find_map(|at| {
        let word = at > 0 && text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let inner = &text[at + 4..];
        let end = inner.find(['(', ')', ' ', ','])?;
        (!word && end > 0 && inner[end..].starts_with(')')).then_some((at, end + 5))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_about_translations_speak_as_the_original() {
        let mut map = SourceMap::default();
        let file = map.add("a.mdae", "equation der(der(x)) = der(y);");
        let other = map.add("b.mo", "");
        let (here, there) = (Span::new(file, 0, 1), Span::new(other, 0, 1));
        map.translated_from(file, "x'' = y'", Vec::new(), '\'');
        assert_eq!(map.wording(here, "der(der(x)) = der(y) + order(z)"), "x'' = y' + order(z)");
        assert_eq!(map.wording(here, "der(x + y) and der("), "der(x + y) and der(");
        assert_eq!(map.wording(there, "der(x)"), "der(x)");
    }
}
