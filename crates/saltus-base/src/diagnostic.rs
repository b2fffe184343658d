//! Diagnostics as data; rendering is left to the outermost crates.

use crate::Span;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Suspicious, but the work goes on.
    Warning,
    /// The model cannot be used as it is.
    Error,
}

/// The stage a diagnostic belongs to; it decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Wrong use of the command (exit code 2).
    Usage,
    /// Syntax, names, types, flattening (3).
    FrontEnd,
    /// Structure or compilation (4).
    Structure,
    /// Initialization (5).
    Initialization,
    /// The run (6).
    Run,
}

impl Stage {
    /// The process exit code of an error of this stage.
    pub fn exit_code(self) -> i32 {
        match self {
            Stage::Usage => 2,
            Stage::FrontEnd => 3,
            Stage::Structure => 4,
            Stage::Initialization => 5,
            Stage::Run => 6,
        }
    }
}

/// A place with a remark, secondary to the diagnostic's own place.
#[derive(Clone, Debug)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What about it.
    pub message: String,
}

/// An error, warning or note for the user. The main message stands alone.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Error, warning, note.
    pub severity: Severity,
    /// Which stage found it.
    pub stage: Stage,
    /// The main message, readable without the rest.
    pub message: String,
    /// The place it is about.
    pub span: Span,
    /// The instance path it arose in (`pump.motor.J`), empty if none.
    pub instance: String,
    /// Other places (the declaration it conflicts with, the modifier it came through).
    pub labels: Vec<Label>,
    /// What to do about it.
    pub hints: Vec<String>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(stage: Stage, span: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Error,
            stage,
            message: message.into(),
            span,
            instance: String::new(),
            labels: Vec::new(),
            hints: Vec::new(),
        }
    }
    /// A warning at a place.
    pub fn warning(stage: Stage, span: Span, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Self::error(stage, span, message) }
    }
    /// Adds a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
    /// Adds a secondary place.
    pub fn label(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label { span, message: message.into() });
        self
    }
    /// Sets the instance path.
    pub fn within(mut self, instance: impl AsRef<str>) -> Self {
        self.instance = instance.as_ref().to_owned();
        self
    }
}
