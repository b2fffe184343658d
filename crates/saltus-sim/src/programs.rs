//! The programs of the modes entered so far, as many as memory should hold: those used least recently are forgotten, and made anew
//! if their mode comes back.

use crate::model::ModeProgram;
use rustc_hash::FxHashMap;
use saltus_structure::{Cell, ModeKey};
use std::rc::Rc;

/// A mode with its choice of states.
pub type ProgramKey = (ModeKey, Vec<Cell>);

/// Rows of all programs that are kept; one takes some kilobytes.
const MOST_ROWS: usize = 150_000;

/// This many programs are kept whatever their size.
const FEW: usize = 8;

/// Programs by mode.
#[derive(Default)]
pub struct Programs {
    /// With the time of its last use, counted in uses.
    kept: FxHashMap<ProgramKey, (Rc<ModeProgram>, u64)>,
    uses: u64,
    rows: usize,
    /// Programs made.
    pub made: usize,
}

fn rows(program: &ModeProgram) -> usize {
    program.plan.rows.len() + program.plan.event.items.len()
}

impl Programs {
    /// The program of a mode, if it is known.
    pub fn get(&mut self, key: &ProgramKey) -> Option<Rc<ModeProgram>> {
        self.uses += 1;
        let (program, used) = self.kept.get_mut(key)?;
        *used = self.uses;
        Some(program.clone())
    }

    /// Keeps a program; returns whether others were forgotten for it.
    pub fn insert(&mut self, key: ProgramKey, program: Rc<ModeProgram>) -> bool {
        self.uses += 1;
        self.made += 1;
        self.rows += rows(&program);
        if let Some((old, _)) = self.kept.insert(key, (program, self.uses)) {
            self.rows -= rows(&old);
        }
        if self.rows <= MOST_ROWS || self.kept.len() <= FEW {
            return false;
        }
        // Half of them at once: forgetting looks at everything.
        let mut uses: Vec<u64> = self.kept.values().map(|p| p.1).collect();
        uses.sort_unstable();
        let recent = uses[(uses.len() / 2).min(uses.len() - FEW)];
        self.kept.retain(|_, (program, used)| *used >= recent || Rc::strong_count(program) > 1);
        self.rows = self.all().map(|p| rows(p)).sum();
        true
    }

    /// All that are kept.
    pub fn all(&self) -> impl Iterator<Item = &Rc<ModeProgram>> {
        self.kept.values().map(|p| &p.0)
    }

    /// Whether this one is kept.
    pub fn holds(&self, key: &ProgramKey) -> bool {
        self.kept.contains_key(key)
    }

    /// Takes a program out.
    pub fn remove(&mut self, key: &ProgramKey) -> Option<Rc<ModeProgram>> {
        self.kept.remove(key).map(|p| p.0)
    }
}
