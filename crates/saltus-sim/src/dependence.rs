//! Which states each derivative depends on, read off the steps that compute it.

use crate::compile::Step;
use saltus_program::{Chain, slot_of};
use saltus_solver::linear::Pattern;
use std::rc::Rc;

/// Beyond this many (slot, state) pairs the pattern is taken as full.
const LIMIT: usize = 20_000_000;

/// States that each slot depends on, as sorted lists.
struct Reach {
    of: Vec<Option<Rc<[u32]>>>,
    pairs: usize,
    marked: Vec<u32>,
    mark: u32,
}

impl Reach {
    fn union(&mut self, slots: impl Iterator<Item = usize>) -> Option<Rc<[u32]>> {
        let (mut one, mut several): (Option<Rc<[u32]>>, Vec<u32>) = (None, Vec::new());
        for s in slots {
            let Some(list) = self.of.get(s).and_then(Option::as_ref) else { continue };
            match &one {
                None => one = Some(list.clone()),
                Some(first) if Rc::ptr_eq(first, list) => {}
                Some(first) => {
                    if several.is_empty() {
                        self.mark += 1;
                        for &k in first.iter() {
                            self.marked[k as usize] = self.mark;
                        }
                        several.extend_from_slice(first);
                    }
                    for &k in list.iter() {
                        if self.marked[k as usize] != self.mark {
                            self.marked[k as usize] = self.mark;
                            several.push(k);
                        }
                    }
                }
            }
        }
        if several.is_empty() {
            return one;
        }
        several.sort_unstable();
        self.pairs += several.len();
        Some(several.into())
    }

    fn lists(&self, wanted: &[u32]) -> Vec<Vec<usize>> {
        let list = |s: &u32| self.of[*s as usize].iter().flat_map(|l| l.iter().map(|&k| k as usize)).collect();
        wanted.iter().map(list).collect()
    }

    fn assign(&mut self, c: &Chain) {
        for (_, row) in c.rows() {
            self.of[slot_of(row[0])] = self.union(row[1..].iter().map(|&w| slot_of(w)));
        }
    }
}

/// The pattern of ∂f/∂x for x' = f computed by these steps: `states` holds the slots of states and derivatives.
/// `None` if it is too large to be worth knowing, or a step is of a kind whose reading is not known.
pub fn pattern(steps: &[Step], states: &[(u32, u32)], slots: usize) -> Option<Pattern> {
    let n = states.len();
    let (sources, derivatives): (Vec<u32>, Vec<u32>) = states.iter().copied().unzip();
    let rows = sources_of(steps, &sources, &derivatives, slots)?;
    let entries = rows.into_iter().enumerate().flat_map(|(i, row)| row.into_iter().map(move |j| (i, j)));
    Some(Pattern::from_entries(n, n, entries.collect::<Vec<_>>()))
}

/// Of the `sources`, by their positions, those that each of the `wanted` slots depends on once these steps are done. `None` as for
/// [`pattern`].
pub fn sources_of(steps: &[Step], sources: &[u32], wanted: &[u32], slots: usize) -> Option<Vec<Vec<usize>>> {
    let mut r = Reach { of: vec![None; slots], pairs: 0, marked: vec![0; sources.len()], mark: 0 };
    for (k, &s) in sources.iter().enumerate() {
        r.of[s as usize] = Some(Rc::new([k as u32]));
    }
    for step in steps {
        match step {
            Step::Assign(c) => r.assign(c),
            Step::Solve(b) => {
                // What a block's unknowns held before does not matter; all of them depend on all that comes in.
                for &u in &b.unknowns {
                    r.of[u as usize] = None;
                }
                let words = b.residual.rows().flat_map(|(_, row)| row[1..].iter());
                let all = r.union(words.map(|&w| slot_of(w)));
                r.pairs += all.as_ref().map_or(0, |a| a.len());
                for &u in &b.unknowns {
                    r.of[u as usize] = all.clone();
                }
            }
            Step::Relation(_) | Step::When(_) | Step::Mixed(_) => return None,
        }
        if r.pairs > LIMIT {
            return None;
        }
    }
    Some(r.lists(wanted))
}

/// Of the `seeds`, by their positions, those that each of the `wanted` slots depends on; blocks are run as residuals, whose
/// unknowns are among the seeds. `None` as for [`pattern`].
pub fn reach(steps: &[Step], seeds: &[u32], wanted: &[u32], slots: usize) -> Option<Vec<Vec<usize>>> {
    let mut r = Reach { of: vec![None; slots], pairs: 0, marked: vec![0; seeds.len()], mark: 0 };
    for (k, &s) in seeds.iter().enumerate() {
        r.of[s as usize] = Some(Rc::new([k as u32]));
    }
    for step in steps {
        match step {
            Step::Assign(c) => r.assign(c),
            Step::Solve(b) => r.assign(&b.residual),
            Step::Relation(_) | Step::When(_) | Step::Mixed(_) => return None,
        }
        if r.pairs > LIMIT {
            return None;
        }
    }
    Some(r.lists(wanted))
}
