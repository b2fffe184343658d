//! What can go wrong while a function runs.

use saltus_base::Span;
use std::fmt;

/// The kind of an [`ExecError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A failed assertion of level error.
    Assert,
    /// A subscript outside its array.
    Index,
    /// Shapes that do not fit together.
    Shape,
    /// Division by zero where the result must be a number.
    Division,
    /// Calls nested too deeply, or a loop without end.
    Limit,
    /// Somebody wanted it to end.
    Interrupted,
    /// The function's data contradict themselves (a bug of whoever made them).
    Malformed,
    /// Something that is not supported yet.
    Unsupported,
    /// An external function reported an error.
    External,
    /// A value was needed that the scalar domain does not know.
    NotConstant,
}

/// An error of execution, with the place in the source it arose at.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecError {
    /// What kind.
    pub kind: ErrorKind,
    /// The message for the user.
    pub message: String,
    /// Where.
    pub span: Span,
    /// The functions that were being executed, innermost first.
    pub trace: Vec<String>,
}

impl ExecError {
    /// An error at a place.
    pub fn new(kind: ErrorKind, span: Span, message: impl Into<String>) -> Self {
        ExecError { kind, message: message.into(), span, trace: Vec::new() }
    }
}

impl fmt::Display for ExecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(first) = self.trace.first() {
            write!(f, " (in function {first})")?;
        }
        Ok(())
    }
}

impl std::error::Error for ExecError {}

/// Why a function cannot be replaced by expressions at this call.
#[derive(Clone, Debug, PartialEq)]
pub struct NotInlinable {
    /// The reason.
    pub reason: String,
    /// Where.
    pub span: Span,
}

impl fmt::Display for NotInlinable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not inlinable: {}", self.reason)
    }
}

impl std::error::Error for NotInlinable {}

/// A warning of an assertion or an external function.
#[derive(Clone, Debug, PartialEq)]
pub struct Warning {
    /// The message.
    pub message: String,
    /// Where.
    pub span: Span,
    /// `terminate(…)`: the run should end here, successfully.
    pub ends: bool,
}
