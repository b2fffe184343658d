//! The journal of an initialization, with names instead of numbers.

use crate::events::brief;
use crate::machine::Note;
use crate::model::{Model, equation_words};
use saltus_structure::{Cell, System, cell_name};

/// A line of the journal.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Work on a system of equations begins.
    Block {
        /// Its unknowns.
        unknowns: Vec<String>,
        /// Its equations; the middle of long ones is left out.
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

/// Takes the lines of a journal as they come.
pub type Journal = Box<dyn FnMut(Step)>;

impl Model {
    /// Tells every line of the journal from now on, with names.
    pub fn tell(&mut self, mut journal: Journal) {
        // The machine knows no names, and a line is told before the next one is known.
        let sys = self.sys.clone();
        self.machine.journal = Some(Box::new(move |note| journal(named(&sys, note))));
    }
}

fn named(sys: &System, note: Note) -> Step {
    let name = |c: &Cell| cell_name(sys, *c);
    match note {
        Note::Block { cells, sources } => Step::Block {
            unknowns: cells.iter().map(name).collect(),
            equations: sources.iter().map(|s| brief(&equation_words(sys, s.0, s.1))).collect(),
        },
        Note::Iteration { method, residual, step, damping, lambda, values } => {
            Step::Iteration { method, residual, step, damping, lambda, values }
        }
        Note::End { solved, how } => Step::End { solved, how },
        Note::Mode { cells, values } => Step::Mode(cells.iter().map(name).zip(values).collect()),
    }
}
