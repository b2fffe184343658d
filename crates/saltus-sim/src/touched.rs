//! What an event touches: of the event iteration, the part that depends on what fired.
//!
//! At an event everything continuous has just been evaluated at that instant. Only what reads a value that may change has to be
//! evaluated again: the steps reachable from the relations and samplers that fired, previous values included. The rest of the
//! model, and all crossing functions that have nothing to do with the event, cost nothing.

use crate::compile::Step;
use crate::machine::Machine;
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_program::{Batch, Chain, Rows, slot_of};
use std::rc::Rc;

/// The part of an event iteration that an event touches.
pub(crate) struct Touched {
    /// In order.
    pub steps: Vec<Step>,
    /// Relations among them.
    pub relations: Vec<usize>,
    /// Discrete variables that may change: indices into the model's list.
    pub discrete: Vec<usize>,
    /// Slots whose previous value is read, with the slot of that.
    pub previous: Vec<(u32, u32)>,
    /// When-equations that may fire.
    pub whens: Vec<usize>,
    /// Whether what decides about the mode may change.
    pub decisive: bool,
}

/// One row of a batch, or one other step.
struct Unit {
    step: Step,
    writes: Vec<u32>,
}

/// Which steps of an event iteration read which slot.
pub(crate) struct Readers {
    units: Vec<Unit>,
    /// Units that read each slot.
    readers: FxHashMap<u32, Vec<u32>>,
    /// The slot of the previous value of a slot.
    previous: FxHashMap<u32, u32>,
    /// Index of a slot among the discrete variables.
    discrete: FxHashMap<u32, usize>,
    /// When-equations by the slots of their conditions.
    whens: FxHashMap<u32, Vec<usize>>,
    known: FxHashMap<Vec<u32>, Rc<Touched>>,
    /// Slots that the mode hangs on.
    pub decisive: FxHashSet<u32>,
    /// Steps of all known ones.
    size: usize,
}

/// Steps of the parts that are remembered, all together: as many times the steps there are, and at least.
const MOST_KNOWN: (usize, usize) = (32, 50_000);

fn batch_reads(b: &Batch, out: &mut Vec<u32>) {
    for row in b.rows.words().chunks_exact(b.rows.stride.max(1)) {
        out.extend(row[1..].iter().map(|&w| slot_of(w) as u32));
    }
}

fn chain_reads(c: &Chain, out: &mut Vec<u32>) {
    for (_, row) in c.rows() {
        out.extend(row[1..].iter().map(|&w| slot_of(w) as u32));
    }
}

/// Slots that a step reads.
pub(crate) fn step_reads(m: &Machine, step: &Step, out: &mut Vec<u32>) {
    match step {
        Step::Assign(c) => chain_reads(c, out),
        Step::Solve(b) => [&b.residual, &b.jacobian, &b.torn.inner].into_iter().for_each(|c| chain_reads(c, out)),
        Step::Relation(i) => {
            let r = &m.relations[*i];
            batch_reads(&r.batch, out);
            r.time.iter().flat_map(|t| &t.batches).for_each(|b| batch_reads(b, out));
        }
        Step::When(w) => {
            out.extend(m.whens[w.when].iter().flatten().flat_map(|&(c, p)| [c, p]));
            out.push(w.pre);
            w.values.iter().flatten().for_each(|b| batch_reads(b, out));
        }
        Step::Mixed(x) => x.continuous.iter().chain(&x.discrete).for_each(|s| step_reads(m, s, out)),
    }
}

pub(crate) fn step_writes(m: &Machine, step: &Step) -> Vec<u32> {
    match step {
        Step::Assign(c) => c.rows().map(|(_, row)| row[0]).collect(),
        Step::Solve(b) => b.unknowns.clone(),
        Step::Relation(i) => vec![m.relations[*i].var],
        Step::When(w) => vec![w.slot],
        Step::Mixed(x) => x.slots.iter().chain(&x.continuous_slots).copied().collect(),
    }
}

impl Readers {
    /// The readers of an event iteration. `discrete` and `previous` are the model's lists of (slot, previous value).
    pub fn new(m: &Machine, steps: &[Step], discrete: &[(u32, u32)], previous: &[(u32, u32)]) -> Readers {
        let mut units: Vec<Unit> = Vec::new();
        let mut readers: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        let mut add = |step: Step| {
            let mut reads = Vec::new();
            step_reads(m, &step, &mut reads);
            reads.sort_unstable();
            reads.dedup();
            let id = units.len() as u32;
            reads.into_iter().for_each(|r| readers.entry(r).or_default().push(id));
            units.push(Unit { writes: step_writes(m, &step), step });
        };
        for step in steps {
            match step {
                Step::Assign(c) => {
                    for (kernel, row) in c.rows() {
                        let batch = Batch { kernel, rows: Rows::new(row.to_vec(), row.len()) };
                        add(Step::Assign(Chain::from(vec![batch])));
                    }
                }
                other => add(other.clone()),
            }
        }
        let mut whens: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        for (w, branches) in m.whens.iter().enumerate() {
            for &(c, _) in branches.iter().flatten() {
                whens.entry(c).or_default().push(w);
            }
        }
        Readers {
            units,
            readers,
            previous: discrete.iter().chain(previous).copied().collect(),
            discrete: discrete.iter().enumerate().map(|(k, d)| (d.0, k)).collect(),
            whens,
            known: FxHashMap::default(),
            decisive: FxHashSet::default(),
            size: 0,
        }
    }

    /// What is touched if these slots change and these relations are looked at.
    pub fn touched(&mut self, seeds: Vec<u32>) -> Rc<Touched> {
        if let Some(t) = self.known.get(&seeds) {
            return t.clone();
        }
        let t = Rc::new(self.reach(&seeds));
        let size = t.steps.len() + t.discrete.len() + 16;
        if self.size + size > (MOST_KNOWN.0 * self.units.len()).max(MOST_KNOWN.1) {
            self.known.clear();
            self.size = 0;
        }
        self.size += size;
        self.known.insert(seeds, t.clone());
        t
    }

    fn reach(&self, seeds: &[u32]) -> Touched {
        let mut reached: FxHashSet<u32> = FxHashSet::default();
        let mut units: Vec<u32> = Vec::new();
        let mut taken = vec![false; self.units.len()];
        let mut slots: Vec<u32> = Vec::new();
        let mut stack: Vec<u32> = seeds.to_vec();
        while let Some(s) = stack.pop() {
            if !reached.insert(s) {
                continue;
            }
            slots.push(s);
            stack.extend(self.previous.get(&s));
            for &u in self.readers.get(&s).into_iter().flatten() {
                if !std::mem::replace(&mut taken[u as usize], true) {
                    units.push(u);
                    stack.extend(&self.units[u as usize].writes);
                }
            }
        }
        // What defines a slot that changes has to agree in the end.
        for (u, unit) in self.units.iter().enumerate() {
            if !taken[u] && unit.writes.iter().any(|s| reached.contains(s)) {
                units.push(u as u32);
            }
        }
        units.sort_unstable();
        let mut steps: Vec<Step> = Vec::new();
        let mut relations = Vec::new();
        for &u in &units {
            let step = &self.units[u as usize].step;
            match (steps.last_mut(), step) {
                (Some(Step::Assign(chain)), Step::Assign(one)) => {
                    for (kernel, row) in one.rows() {
                        chain.push(Batch { kernel, rows: Rows::new(row.to_vec(), row.len()) });
                    }
                }
                _ => steps.push(step.clone()),
            }
            all_relations(step, &mut relations);
        }
        slots.sort_unstable();
        let mut whens: Vec<usize> = slots.iter().filter_map(|s| self.whens.get(s)).flatten().copied().collect();
        whens.sort_unstable();
        whens.dedup();
        let discrete = slots.iter().filter_map(|s| self.discrete.get(s).copied()).collect();
        let previous = slots.iter().filter_map(|s| Some((*s, *self.previous.get(s)?))).collect();
        let decisive = slots.iter().any(|s| self.decisive.contains(s));
        Touched { steps, relations, discrete, previous, whens, decisive }
    }
}

fn all_relations(step: &Step, out: &mut Vec<usize>) {
    match step {
        Step::Relation(i) => out.push(*i),
        Step::Mixed(m) => m.continuous.iter().chain(&m.discrete).for_each(|s| all_relations(s, out)),
        _ => {}
    }
}
