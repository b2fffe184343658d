//! Files and places in them.

use std::sync::Arc;

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
    /// The whole text (UTF-8, byte order mark removed).
    pub text: Arc<str>,
    line_starts: Vec<u32>,
}

impl SourceFile {
    /// Line and column of a byte offset; offsets past the end give the last place.
    pub fn line_col(&self, offset: u32) -> LineCol {
        let offset = (offset as usize).min(self.text.len());
        let line = self.line_starts.partition_point(|&s| s as usize <= offset).max(1) - 1;
        let start = self.line_starts[line] as usize;
        let column = self.text.get(start..offset).map_or(offset - start, |s| s.chars().count());
        LineCol { line: line as u32 + 1, column: column as u32 + 1 }
    }
}

/// All files read so far. Spans refer into it.
#[derive(Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// Adds a file; a leading byte order mark is dropped.
    pub fn add(&mut self, path: impl Into<String>, text: impl Into<String>) -> FileId {
        let mut text: String = text.into();
        if text.starts_with('\u{feff}') {
            text.drain(..'\u{feff}'.len_utf8());
        }
        let line_starts = std::iter::once(0)
            .chain(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1))
            .collect();
        self.files.push(SourceFile { path: path.into(), text: text.into(), line_starts });
        FileId(self.files.len() as u32 - 1)
    }

    /// The file, unless the id is that of [`Span::NONE`].
    pub fn get(&self, file: FileId) -> Option<&SourceFile> {
        self.files.get(file.0 as usize)
    }

    /// The text under a span, empty if there is none.
    pub fn text(&self, span: Span) -> &str {
        self.get(span.file).and_then(|f| f.text.get(span.start as usize..span.end as usize)).unwrap_or("")
    }

    /// `path:line:column` of the span's start.
    pub fn describe(&self, span: Span) -> String {
        match self.get(span.file) {
            Some(f) => {
                let p = f.line_col(span.start);
                format!("{}:{}:{}", f.path, p.line, p.column)
            }
            None => "<generated>".to_string(),
        }
    }
}
