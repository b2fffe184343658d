//! What every stage shares: files and spans, typed ids and arenas, interned names, diagnostics as data.
//!
//! Absent here: rendering (outer crates do that), IO, clocks.

mod diagnostic;
mod ids;
mod name;
mod source;
mod user;

pub use diagnostic::{Diagnostic, Label, Severity, Stage};
pub use ids::{Arena, Id, SecondaryMap};
pub use name::Name;
pub use source::{Anchor, FileId, LineCol, SourceFile, SourceMap, Span};
pub use user::cache_folder;
