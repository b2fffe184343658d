//! Where every number of a run lives: one array, slots handed out on demand and never moved, so that a mode compiled
//! later only appends.

use rustc_hash::FxHashMap;
use saltus_dae::Operand;
use saltus_program::NEGATE;
use saltus_structure::{Cell, System};

/// The slot table.
#[derive(Debug, Default)]
pub struct Layout {
    cells: FxHashMap<Cell, u32>,
    constants: FxHashMap<u64, u32>,
    /// Values of slots at creation (constants), in order of slots.
    initial: Vec<f64>,
}

impl Layout {
    /// A new slot holding `v` at first.
    pub fn scratch(&mut self, v: f64) -> u32 {
        self.initial.push(v);
        self.initial.len() as u32 - 1
    }

    /// The slot of a cell.
    pub fn slot(&mut self, cell: Cell) -> u32 {
        if let Some(&s) = self.cells.get(&cell) {
            return s;
        }
        let s = self.scratch(0.0);
        self.cells.insert(cell, s);
        s
    }

    /// The slot of a cell, if it has one.
    pub fn find(&self, cell: Cell) -> Option<u32> {
        self.cells.get(&cell).copied()
    }

    /// All cells with slots.
    pub fn cells(&self) -> impl Iterator<Item = (Cell, u32)> + '_ {
        self.cells.iter().map(|(&c, &s)| (c, s))
    }

    /// All numbers with slots.
    pub fn constants(&self) -> impl Iterator<Item = (f64, u32)> + '_ {
        self.constants.iter().map(|(&v, &s)| (f64::from_bits(v), s))
    }

    /// The index word of an operand (aliases replaced).
    pub fn word(&mut self, sys: &System, op: Operand) -> u32 {
        match sys.resolve(op) {
            Operand::Var { var, order, neg } => self.slot(Cell::new(var, order)) | if neg { NEGATE } else { 0 },
            Operand::Pre { var } => self.slot(Cell::pre(var)),
            Operand::Const(v) => match self.constants.get(&v.to_bits()) {
                Some(&s) => s,
                None => {
                    let s = self.scratch(v);
                    self.constants.insert(v.to_bits(), s);
                    s
                }
            },
        }
    }

    /// Slots handed out so far.
    pub fn len(&self) -> usize {
        self.initial.len()
    }

    /// Whether none has been handed out.
    pub fn is_empty(&self) -> bool {
        self.initial.is_empty()
    }

    /// Makes `values` long enough for all slots handed out so far.
    pub fn extend(&self, values: &mut Vec<f64>) {
        if values.len() < self.initial.len() {
            values.extend_from_slice(&self.initial[values.len()..]);
        }
    }
}
