//! The class table: which classes there are, where they are declared, what each declares itself.
//!
//! 1. [`ClassTable::load_file`] and the library paths bring files in; a directory package is listed, its members are
//!    parsed when they are first asked for.
//! 2. A [`TreeCache`] gives trees of library files that were parsed in an earlier run.
//! 3. [`ClassTable::own`] indexes what a class body declares itself: components, nested classes, imports, extends.
//!
//! Inheritance, redeclaration and lookup along scopes depend on the instance they happen in and live in
//! `saltus-flatten`; this crate answers the questions that have one answer for all instances.
//! Absent here: modifiers, values, policy about where files are (see [`FileSystem`]).

mod append;
mod cache;
mod dump;
mod files;
mod table;
mod versions;

pub use append::AppendVec;
pub use cache::{Stamp, TreeCache};
pub use files::{FileSystem, StdFileSystem};
pub use table::{ClassEntry, ClassId, ClassTable, Own, OwnMember};
