//! The journal of an initialization, with names instead of numbers.

use crate::machine::Note;
use crate::model::Model;
use saltus_structure::{Cell, cell_name};

/// A line of the journal.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Work on a system of equations begins.
    Block {
        /// Its unknowns.
        unknowns: Vec<String>,
        /// Its equations.
        equations: Vec<String>,
    },
    /// One iteration on the last system.
    Iteration {
        /// The method.
        method: &'static str,
        /// Largest residual.
        residual: f64,
        /// Size of the step relative to the unknowns.
        step: f64,
        /// Its damping.
        damping: f64,
        /// The homotopy parameter.
        lambda: f64,
        /// The unknowns.
        values: Vec<f64>,
    },
    /// How the work on the system ended.
    End {
        /// Whether it is solved.
        solved: bool,
        /// By what, or why not.
        how: String,
    },
    /// The discrete unknowns of a loop before a new try.
    Mode(Vec<(String, f64)>),
}

/// What the machine noted so far.
pub fn journal(model: &Model) -> Vec<Step> {
    let name = |c: &Cell| cell_name(&model.sys, *c);
    let notes = model.machine.journal.as_deref().unwrap_or_default();
    notes
        .iter()
        .map(|n| match n {
            Note::Block { cells, sources } => Step::Block {
                unknowns: cells.iter().map(name).collect(),
                equations: sources.iter().map(|s| model.equation(s.0, s.1).0).collect(),
            },
            Note::Iteration { method, residual, step, damping, lambda, values } => Step::Iteration {
                method,
                residual: *residual,
                step: *step,
                damping: *damping,
                lambda: *lambda,
                values: values.clone(),
            },
            Note::End { solved, how } => Step::End { solved: *solved, how: how.clone() },
            Note::Mode { cells, values } => Step::Mode(cells.iter().map(name).zip(values.iter().copied()).collect()),
        })
        .collect()
}
