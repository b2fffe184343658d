//! The part of an evaluation that some values need: the right-hand side wants derivatives only. What is constant between
//! events is left out.

use crate::compile::Step;
use saltus_program::{Batch, Rows, slot_of};

/// Slots that are needed, one bit each.
struct Needed(Vec<bool>);

impl Needed {
    fn has(&self, slot: u32) -> bool {
        self.0.get(slot as usize).copied().unwrap_or(false)
    }
    fn add(&mut self, slot: usize) {
        if slot >= self.0.len() {
            self.0.resize(slot + 1, false);
        }
        self.0[slot] = true;
    }
    fn reads(&mut self, batch: &Batch) {
        for row in batch.rows.words.chunks_exact(batch.rows.stride.max(1)) {
            row[1..].iter().for_each(|&w| self.add(slot_of(w)));
        }
    }
    /// Everything a step reads.
    fn step(&mut self, step: &Step) {
        match step {
            Step::Batch(b) => self.reads(b),
            Step::Solve(b) => {
                b.unknowns.iter().for_each(|&s| self.add(s as usize));
                b.residual.iter().chain(&b.jacobian).chain(&b.torn.inner).for_each(|x| self.reads(x));
            }
            Step::Mixed(m) => {
                m.slots.iter().chain(&m.continuous_slots).for_each(|&s| self.add(s as usize));
                m.continuous.iter().chain(&m.discrete).for_each(|s| self.step(s));
            }
            // Of event iterations, which are never cut.
            Step::Relation(_) | Step::When(_) => {}
        }
    }
}

/// The steps that the `wanted` slots depend on and that depend on the `moving` ones, in order. What does not move keeps the
/// value it got when everything was last evaluated. Blocks are shared, so that they keep one memory.
pub fn slice(
    steps: &[Step],
    wanted: impl IntoIterator<Item = u32>,
    moving: impl IntoIterator<Item = u32>,
) -> Vec<Step> {
    moved(needed(steps, wanted), moving)
}

fn moved(steps: Vec<Step>, moving: impl IntoIterator<Item = u32>) -> Vec<Step> {
    let mut moves = Needed(Vec::new());
    moving.into_iter().for_each(|s| moves.add(slot_of(s)));
    let mut out = Vec::with_capacity(steps.len());
    for step in steps {
        match &step {
            Step::Batch(b) => {
                let mut kept: Vec<u32> = Vec::new();
                for row in b.rows.words.chunks_exact(b.rows.stride.max(1)) {
                    if row[1..].iter().any(|&w| moves.has(slot_of(w) as u32)) {
                        moves.add(row[0] as usize);
                        kept.extend_from_slice(row);
                    }
                }
                if !kept.is_empty() {
                    out.push(Step::Batch(Batch { kernel: b.kernel, rows: Rows::new(kept, b.rows.stride) }));
                }
            }
            Step::Solve(b) => {
                let mut reads = b.residual.iter().flat_map(|x| x.rows.words.chunks_exact(x.rows.stride.max(1)));
                if reads.any(|row| row[1..].iter().any(|&w| moves.has(slot_of(w) as u32))) {
                    b.unknowns.iter().for_each(|&s| moves.add(s as usize));
                    out.push(step);
                }
            }
            Step::Mixed(m) => {
                m.slots.iter().chain(&m.continuous_slots).for_each(|&s| moves.add(s as usize));
                out.push(step);
            }
            Step::Relation(_) | Step::When(_) => out.push(step),
        }
    }
    out
}

fn needed(steps: &[Step], wanted: impl IntoIterator<Item = u32>) -> Vec<Step> {
    let mut needed = Needed(Vec::new());
    wanted.into_iter().for_each(|s| needed.add(slot_of(s)));
    let mut out = Vec::new();
    for step in steps.iter().rev() {
        match step {
            Step::Batch(b) => {
                let stride = b.rows.stride.max(1);
                let mut kept: Vec<&[u32]> = Vec::new();
                for row in b.rows.words.chunks_exact(stride).rev() {
                    if needed.has(row[0]) {
                        row[1..].iter().for_each(|&w| needed.add(slot_of(w)));
                        kept.push(row);
                    }
                }
                if !kept.is_empty() {
                    let words = kept.into_iter().rev().flatten().copied().collect();
                    out.push(Step::Batch(Batch { kernel: b.kernel, rows: Rows::new(words, b.rows.stride) }));
                }
            }
            Step::Solve(b) => {
                if b.unknowns.iter().any(|&s| needed.has(s)) {
                    needed.step(step);
                    out.push(step.clone());
                }
            }
            Step::Mixed(_) | Step::Relation(_) | Step::When(_) => {
                needed.step(step);
                out.push(step.clone());
            }
        }
    }
    out.reverse();
    out
}
