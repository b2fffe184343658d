//! The part of an evaluation that some values need: the right-hand side wants derivatives only. What is constant between
//! events is left out.

use crate::compile::Step;
use saltus_program::{Batch, Chain, Rows, slot_of};
use std::hash::Hasher;

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
    fn reads(&mut self, chain: &Chain) {
        for (_, row) in chain.rows() {
            row[1..].iter().for_each(|&w| self.add(slot_of(w)));
        }
    }
    /// Everything a step reads.
    fn step(&mut self, step: &Step) {
        match step {
            Step::Assign(c) => self.reads(c),
            Step::Solve(b) => {
                b.unknowns.iter().for_each(|&s| self.add(s as usize));
                [&b.residual, &b.jacobian, &b.torn.inner].into_iter().for_each(|c| self.reads(c));
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

/// The steps that depend on the `moving` slots, in order; see [`slice`].
pub fn moved(steps: Vec<Step>, moving: impl IntoIterator<Item = u32>) -> Vec<Step> {
    let mut moves = Needed(Vec::new());
    moving.into_iter().for_each(|s| moves.add(slot_of(s)));
    let mut out = Vec::with_capacity(steps.len());
    for step in steps {
        match &step {
            Step::Assign(c) => assign(&mut out, c, |row| {
                let moved = row[1..].iter().any(|&w| moves.has(slot_of(w) as u32));
                if moved {
                    moves.add(row[0] as usize);
                }
                moved
            }),
            Step::Solve(b) => {
                if b.residual.rows().any(|(_, row)| row[1..].iter().any(|&w| moves.has(slot_of(w) as u32))) {
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

/// Calls `each` with every slot that a step gives a value.
fn given(steps: &[Step], mut each: impl FnMut(u32)) {
    for step in steps {
        match step {
            Step::Assign(c) => c.rows().for_each(|(_, row)| each(row[0])),
            Step::Solve(b) => {
                b.unknowns.iter().for_each(|&s| each(s));
                b.torn.inner.rows().for_each(|(_, row)| each(row[0]));
            }
            Step::Mixed(m) => m.slots.iter().chain(&m.continuous_slots).for_each(|&s| each(s)),
            Step::Relation(_) | Step::When(_) => {}
        }
    }
}

/// Which of these slots no step gives a value.
pub fn unmoved(steps: &[Step], slots: impl IntoIterator<Item = u32>) -> Vec<bool> {
    let mut moves = Needed(Vec::new());
    given(steps, |s| moves.add(s as usize));
    slots.into_iter().map(|s| !moves.has(s)).collect()
}

/// The same for slices of the same steps that give the same slots values.
pub fn signature(steps: &[Step]) -> u64 {
    let mut hash = rustc_hash::FxHasher::default();
    given(steps, |s| hash.write_u32(s));
    hash.finish()
}

/// Appends the assignments that are to be kept.
fn assign(out: &mut Vec<Step>, chain: &Chain, mut keep: impl FnMut(&[u32]) -> bool) {
    let part = |b: &Batch| {
        let rows = b.rows.words().chunks_exact(b.rows.stride.max(1)).filter(|row| keep(row));
        let words: Vec<u32> = rows.flatten().copied().collect();
        (!words.is_empty()).then(|| Batch { kernel: b.kernel, rows: Rows::new(words, b.rows.stride) })
    };
    let kept: Chain = chain.iter().filter_map(part).collect();
    if !kept.is_empty() {
        out.push(Step::Assign(kept));
    }
}

fn needed(steps: &[Step], wanted: impl IntoIterator<Item = u32>) -> Vec<Step> {
    let mut needed = Needed(Vec::new());
    wanted.into_iter().for_each(|s| needed.add(slot_of(s)));
    let mut out = Vec::new();
    for step in steps.iter().rev() {
        match step {
            Step::Assign(c) => {
                let mut kept: Vec<bool> = Vec::new();
                for b in c.iter().rev() {
                    for row in b.rows.words().chunks_exact(b.rows.stride.max(1)).rev() {
                        let keep = needed.has(row[0]);
                        if keep {
                            row[1..].iter().for_each(|&w| needed.add(slot_of(w)));
                        }
                        kept.push(keep);
                    }
                }
                assign(&mut out, c, |_| kept.pop().unwrap_or(true));
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
