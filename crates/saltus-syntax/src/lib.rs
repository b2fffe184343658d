//! Source text in, typed syntax tree out. Parsing cannot fail: a tree always comes, with diagnostics beside it.
//!
//! 1. [`lex`] cuts the text into [`Token`]s, white space and comments included; joined, they are the text again.
//! 2. [`parse`] reads them by recursive descent into the [`ast`], recovering at statements and elements.
//! 3. [`store`] turns a tree into bytes and back, for caches.
//! 4. [`dump`], the `Display` forms and the views (`annotation.find("experiment")`) read the tree back.
//!
//! Absent here: names are not looked up, nothing is evaluated, no file is opened. The depth of a tree is bounded
//! ([`MAX_DEPTH`], [`MAX_HEIGHT`]), so plain recursion over it is safe everywhere else.

pub mod ast;
mod display;
mod dump;
mod lexer;
mod parser;
pub mod store;
mod view;

pub use dump::dump;
pub use lexer::{Token, TokenKind, lex};
pub use parser::{MAX_DEPTH, MAX_HEIGHT, SyntaxTree, parse, parse_expression};
