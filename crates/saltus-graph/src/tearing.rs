//! Tearing: a small set of columns to iterate on, after which the rest is a sequence.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::{Bipartite, NONE};

/// The cost that means "this row cannot be solved for this column".
pub const UNSOLVABLE: u8 = u8::MAX;

/// What the caller thinks of a column as tear; the variants ascend in eagerness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TearHint {
    /// Only if no other column is left to choose.
    Never,
    /// After all columns without a hint.
    Avoid,
    /// No opinion.
    #[default]
    Default,
    /// Before all columns without a hint.
    Prefer,
    /// In any case.
    Always,
}

/// A torn block.
///
/// `tears` and the columns of `order` partition the columns, `residuals` and the rows of `order`
/// partition the rows; `residuals.len() − tears.len() = n_rows − n_cols`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tearing {
    /// The columns to iterate on, in the order in which they were chosen.
    pub tears: Vec<u32>,
    /// The rows left over to check the tears, ascending.
    pub residuals: Vec<u32>,
    /// The inner assignments `(row, col)` in sequence: `row` is solvable for `col`, and each
    /// other column of `row` is a tear or the column of an earlier assignment.
    pub order: Vec<(u32, u32)>,
}

/// Tears the block `g`.
///
/// `cost(row, col)` is asked once per edge: [`UNSOLVABLE`], or how unwelcome it is to solve `row`
/// for `col` (0 is best). `hints[col]`; missing hints mean [`TearHint::Default`].
///
/// Cellier's heuristic: as long as some row has exactly one unknown left and is solvable for it,
/// assign it (the cheapest such row first). When stuck, choose as tear the unknown with
///
/// 1. the highest hint,
/// 2. the most rows it occurs in,
/// 3. the most rows with two unknowns that it would complete (the other one being solvable),
/// 4. the smallest id.
///
/// The same is tried with 2 and 3 exchanged, and the result with fewer tears taken. Columns no row
/// can be solved for are tears from the start. Finally, if (number of tears) · (size of the block) is
/// at most two million, each tear without a hint to prefer it is tested for being superfluous given
/// the others: then the set is irreducible. O(E log V). A smallest set is NP-hard to find.
///
/// Elmqvist & Otter, *Methods for tearing systems of equations in object-oriented modeling*, ESM
/// 1994; Cellier & Kofman, *Continuous System Simulation*, Springer 2006, ch. 7.
pub fn tear(g: &Bipartite, cost: impl Fn(u32, u32) -> u8, hints: &[TearHint]) -> Tearing {
    let t = g.transpose();
    let costs: Vec<u8> = g.edges().map(|(_, i, j)| cost(i, j)).collect();
    let hint: Vec<TearHint> = (0..g.n_cols()).map(|j| hints.get(j).copied().unwrap_or_default()).collect();
    let mut forced: Vec<bool> = vec![true; g.n_cols()];
    for (e, _, j) in g.edges() {
        if costs[e] != UNSOLVABLE && hint[j as usize] != TearHint::Always {
            forced[j as usize] = false;
        }
    }
    let problem = Problem { g, t: &t, costs: &costs, hint: &hint, forced: &forced };
    let mut best = problem.run(Choice::Incidence);
    if best.tears.len() > 1 {
        let other = problem.run(Choice::Completion);
        if other.tears.len() < best.tears.len() {
            best = other;
        }
        best = problem.without_superfluous(best);
    }
    best
}

struct Problem<'a> {
    g: &'a Bipartite,
    t: &'a Bipartite,
    costs: &'a [u8],
    hint: &'a [TearHint],
    /// Columns that are tears from the start.
    forced: &'a [bool],
}

/// How to choose a tear when stuck.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice<'a> {
    /// Number of rows first, then number of rows completed.
    Incidence,
    /// Number of rows completed first, then number of rows.
    Completion,
    /// Exactly these columns; when stuck, give up.
    Fixed(&'a [bool]),
}

type Key = (TearHint, u32, u32, Reverse<u32>);

struct State<'a> {
    p: &'a Problem<'a>,
    choice: Choice<'a>,
    known: Vec<bool>,
    /// Unknowns left in each row.
    left: Vec<u32>,
    /// For each unknown: rows with two unknowns that become solvable when it is known.
    completes: Vec<u32>,
    ready: BinaryHeap<Reverse<(u8, u32, u32)>>,
    /// Possibly outdated entries; a column whose key changed is in `changed` until it gets a
    /// fresh one, which is when the next tear is chosen.
    candidates: BinaryHeap<Key>,
    changed: Vec<u32>,
    out: Tearing,
}

impl<'a> Problem<'a> {
    fn run(&'a self, choice: Choice<'a>) -> Tearing {
        let (n, k) = (self.g.n_rows(), self.g.n_cols());
        let mut s = State {
            p: self,
            choice,
            known: vec![false; k],
            left: (0..n).map(|i| self.g.row(i).len() as u32).collect(),
            completes: vec![0; k],
            ready: BinaryHeap::new(),
            candidates: BinaryHeap::new(),
            changed: Vec::new(),
            out: Tearing::default(),
        };
        for i in 0..n {
            s.row_shrank(i, NONE);
        }
        let fixed = match choice {
            Choice::Fixed(f) => f,
            _ => {
                s.changed.clear();
                s.candidates = (0..k as u32).map(|j| s.key(j)).collect();
                self.forced
            }
        };
        for j in 0..k {
            if fixed[j] {
                s.out.tears.push(j as u32);
                s.make_known(j as u32);
            }
        }
        let mut used = vec![false; n];
        loop {
            if let Some(Reverse((_, i, j))) = s.ready.pop() {
                if !s.known[j as usize] {
                    used[i as usize] = true;
                    s.out.order.push((i, j));
                    s.make_known(j);
                }
                continue;
            }
            while let Some(j) = s.changed.pop() {
                if !s.known[j as usize] {
                    s.candidates.push(s.key(j));
                }
            }
            match s.candidates.pop() {
                Some(key) if s.known[key.3.0 as usize] || s.key(key.3.0) != key => {}
                Some(key) => {
                    s.out.tears.push(key.3.0);
                    s.make_known(key.3.0);
                }
                None => break,
            }
        }
        s.out.residuals = (0..n as u32).filter(|&i| !used[i as usize]).collect();
        s.out
    }

    /// Drops tears the others make superfluous, last chosen first, if that is a bounded amount of work.
    fn without_superfluous(&'a self, mut best: Tearing) -> Tearing {
        const BUDGET: usize = 2_000_000;
        let round = self.g.n_edges() + self.g.n_rows() + self.g.n_cols();
        if best.tears.len().saturating_mul(round) > BUDGET {
            return best;
        }
        let mut fixed = vec![false; self.g.n_cols()];
        for &j in &best.tears {
            fixed[j as usize] = true;
        }
        let chosen = best.tears.clone();
        for &j in chosen.iter().rev() {
            let ju = j as usize;
            if self.forced[ju] || self.hint[ju] >= TearHint::Prefer {
                continue;
            }
            fixed[ju] = false;
            let other = self.run(Choice::Fixed(&fixed));
            if other.tears.len() + other.order.len() == self.g.n_cols() {
                best = other;
            } else {
                fixed[ju] = true;
            }
        }
        let kept = chosen.into_iter().filter(|&j| fixed[j as usize]).collect();
        best.tears = kept;
        best
    }
}

impl State<'_> {
    fn key(&self, j: u32) -> Key {
        let rows = self.p.t.row(j as usize).len() as u32;
        let completes = self.completes[j as usize];
        let (x, y) = match self.choice {
            Choice::Completion => (completes, rows),
            _ => (rows, completes),
        };
        (self.p.hint[j as usize], x, y, Reverse(j))
    }

    fn make_known(&mut self, j: u32) {
        self.known[j as usize] = true;
        let p = self.p;
        for &i in p.t.row(j as usize) {
            self.left[i as usize] -= 1;
            self.row_shrank(i as usize, j);
        }
    }

    /// Row `i` has now `left[i]` unknowns, because `just` became known ([`NONE`]: at the start).
    fn row_shrank(&mut self, i: usize, just: u32) {
        if self.left[i] == 0 || self.left[i] > 2 {
            return;
        }
        let p = self.p;
        let mut unknown = [(NONE, UNSOLVABLE); 2];
        let mut k = 0;
        let mut just_cost = UNSOLVABLE;
        for e in p.g.edge_range(i) {
            let j = p.g.adj()[e];
            if j == just {
                just_cost = p.costs[e];
            } else if !self.known[j as usize] && k < 2 {
                unknown[k] = (j, p.costs[e]);
                k += 1;
            }
        }
        let choosing = !matches!(self.choice, Choice::Fixed(_));
        match unknown {
            [(j, cost), (NONE, _)] => {
                if cost != UNSOLVABLE {
                    self.ready.push(Reverse((cost, i as u32, j)));
                }
                // With two unknowns left, the row counted for j if solvable for the other.
                if choosing && just_cost != UNSOLVABLE {
                    self.completes[j as usize] -= 1;
                    self.changed.push(j);
                }
            }
            [(j1, cost1), (j2, cost2)] if choosing => {
                if cost2 != UNSOLVABLE {
                    self.completes[j1 as usize] += 1;
                    self.changed.push(j1);
                }
                if cost1 != UNSOLVABLE {
                    self.completes[j2 as usize] += 1;
                    self.changed.push(j2);
                }
            }
            _ => {}
        }
    }
}
