//! Runs.

mod api;

pub use api::*;
