//! Where every number of a run lives: one array, slots handed out on demand and never moved, so that a mode compiled
//! later only appends.
//!
//! Cells and constants keep their slots. What something compiled needs for itself is *lent*: it comes back when that is dropped, and
//! is lent again: modes that are forgotten leave no slots behind.

use rustc_hash::FxHashMap;
use saltus_dae::Operand;
use saltus_program::NEGATE;
use saltus_structure::{Cell, System};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

/// The slot table.
#[derive(Debug, Default)]
pub struct Layout {
    cells: FxHashMap<Cell, u32>,
    constants: FxHashMap<u64, u32>,
    /// Values of slots at creation (constants), in order of slots.
    initial: Vec<f64>,
    free: Rc<RefCell<BTreeSet<u32>>>,
    /// What is being lent, the innermost borrower last.
    lending: Vec<Vec<u32>>,
    /// Slots lent again that still hold what their last borrower left.
    used: RefCell<Vec<u32>>,
}

/// Slots that belong to something compiled, until it is dropped.
#[derive(Debug, Default)]
pub struct Lent {
    slots: Vec<u32>,
    free: Rc<RefCell<BTreeSet<u32>>>,
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.free.borrow_mut().extend(self.slots.drain(..));
    }
}

impl Layout {
    fn fresh(&mut self, v: f64) -> u32 {
        self.initial.push(v);
        self.initial.len() as u32 - 1
    }

    /// From now on scratch slots are lent, until [`Layout::lent`]. Borrowers nest.
    pub fn lend(&mut self) {
        self.lending.push(Vec::new());
    }

    /// What has been lent since the last [`Layout::lend`].
    pub fn lent(&mut self) -> Lent {
        Lent { slots: self.lending.pop().unwrap_or_default(), free: self.free.clone() }
    }

    /// A slot holding zero at first.
    pub fn scratch(&mut self) -> u32 {
        self.scratch_run(1)
    }

    /// The first of `count` slots next to each other, holding zero at first.
    pub fn scratch_run(&mut self, count: usize) -> u32 {
        let again = self.lending.last().and_then(|_| take_run(&mut self.free.borrow_mut(), count));
        let first = again.unwrap_or(self.initial.len() as u32);
        let run = first..first + count as u32;
        match again {
            Some(_) => self.used.borrow_mut().extend(run.clone()),
            None => self.initial.resize(self.initial.len() + count, 0.0),
        }
        if let Some(lent) = self.lending.last_mut() {
            lent.extend(run);
        }
        first
    }

    /// The slot of a cell.
    pub fn slot(&mut self, cell: Cell) -> u32 {
        if let Some(&s) = self.cells.get(&cell) {
            return s;
        }
        let s = self.fresh(0.0);
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
                    let s = self.fresh(v);
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
        for s in self.used.borrow_mut().drain(..) {
            if let Some(v) = values.get_mut(s as usize) {
                *v = 0.0;
            }
        }
        if values.len() < self.initial.len() {
            values.extend_from_slice(&self.initial[values.len()..]);
        }
    }
}

/// Takes the first `count` numbers out that follow each other.
fn take_run(free: &mut BTreeSet<u32>, count: usize) -> Option<u32> {
    let (mut first, mut long) = (*free.first()?, 0);
    for &s in free.iter() {
        if s != first + long as u32 {
            (first, long) = (s, 0);
        }
        long += 1;
        if long == count {
            break;
        }
    }
    (long == count).then(|| {
        (first..first + count as u32).for_each(|s| _ = free.remove(&s));
        first
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_lent_is_lent_again() {
        let mut layout = Layout::default();
        let kept = layout.scratch();
        layout.lend();
        let outer = layout.scratch();
        layout.lend();
        let inner = layout.scratch_run(3);
        let lent = [layout.lent(), layout.lent()];
        assert_eq!((kept, outer, inner, layout.len()), (0, 1, 2, 5));
        let mut values = vec![7.0; 5];
        drop(lent);
        // Not to those who keep what they get.
        assert_eq!(layout.scratch(), 5);
        layout.lend();
        assert_eq!((layout.scratch_run(2), layout.scratch(), layout.scratch_run(2)), (1, 3, 6));
        layout.extend(&mut values);
        assert_eq!(values, [7.0, 0.0, 0.0, 0.0, 7.0, 0.0, 0.0, 0.0]);
    }
}
