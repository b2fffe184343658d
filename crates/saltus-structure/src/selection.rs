//! Choice of states: which derivatives become dummies (mathematics, section 4).
//!
//! Stage s has the rows with c_i ≥ s and, of the Jacobian J of the leading derivatives (7), the columns with d_j ≥ s that
//! stage s − 1 has made dummies. As many columns as rows become dummies: x_j^(d_j − s). They are found by Gaussian
//! elimination, so that their square part of J is well conditioned, unwanted states first; where the numbers at hand are
//! singular, structure alone decides, so that an order of evaluation always exists.

use crate::plan::{Cell, Generic, Point};
use crate::rows::RowOps;
use crate::system::{Role, System};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_dae::{Operand, Row, StateSelect, VarId};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An entry of J: ∂f_i/∂x_j^(d_j − c_i), a signed sum of rows.
#[derive(Clone, Debug)]
pub struct Entry {
    /// i.
    pub row: usize,
    /// x_j.
    pub var: VarId,
    /// The summands.
    pub parts: Vec<(f64, Row)>,
}

/// Everything the choice of states depends on in one mode, but for the numbers.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Entries of J in rows with c_i ≥ 1, by row.
    pub entries: Vec<Entry>,
    c: Vec<u8>,
    d: FxHashMap<VarId, u8>,
    vars: Vec<VarId>,
}

/// Why a cell is a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// No constraint ties it to others.
    Free,
    /// `stateSelect` asks for it.
    Asked(StateSelect),
    /// Its start value is fixed.
    Fixed,
    /// Others were unwanted by `stateSelect`.
    OthersUnwanted,
    /// It leaves the constraints well conditioned for the others.
    Conditioning,
}

/// A set of states.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// The states, by variable.
    pub states: Vec<Cell>,
    /// Why, in the same order.
    pub reasons: Vec<Reason>,
    /// What must be looked at again while the run goes on.
    pub watch: Vec<Watch>,
}

/// A constrained part with a choice that depends on values: the elimination that made it, as a fixed recipe.
#[derive(Clone, Debug)]
pub struct Watch {
    /// Entries used: index into [`Selection::entries`], column, its nominal value.
    entries: Vec<(usize, u32, f64)>,
    /// Rows in order of elimination.
    rows: Vec<WatchRow>,
    /// Number of columns.
    columns: usize,
    /// |pivot| / largest in the row, when chosen.
    ratios: Vec<f64>,
    scratch: RefCell<Scratch>,
}

#[derive(Clone, Debug)]
struct WatchRow {
    /// Its part of [`Watch::entries`].
    entries: std::ops::Range<usize>,
    /// Earlier rows to subtract.
    earlier: Vec<u32>,
    /// Columns left after that, besides the pivot's.
    left: Vec<u32>,
    pivot: u32,
}

impl Watch {
    /// Its rows in order of elimination: the column of the pivot, and (index of entry, column, nominal value of the column).
    pub fn rows(&self) -> impl Iterator<Item = (u32, &[(usize, u32, f64)])> + '_ {
        self.rows.iter().map(|r| (r.pivot, &self.entries[r.entries.clone()]))
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Indices of the entries of J it reads.
    pub fn entries(&self) -> impl Iterator<Item = usize> + '_ {
        self.entries.iter().map(|e| e.0)
    }

    /// Shows `look` the pivots' sizes relative to their rows at other values (`value` by index of entry), one after the
    /// other, until it has seen enough; whether it has seen all.
    fn ratios(&self, value: &dyn Fn(usize) -> f64, mut look: impl FnMut(usize, f64) -> bool) -> bool {
        let mut scratch = self.scratch.borrow_mut();
        let Scratch { work, upper, begins } = &mut *scratch;
        work.clear();
        work.resize(self.columns, 0.0);
        upper.clear();
        begins.clear();
        begins.push(0);
        for (k, row) in self.rows.iter().enumerate() {
            for &(e, col, nominal) in &self.entries[row.entries.clone()] {
                work[col as usize] += value(e) * nominal;
            }
            for &p in &row.earlier {
                let p = p as usize;
                let f = std::mem::take(&mut work[self.rows[p].pivot as usize]);
                if f != 0.0 {
                    for &(c, v) in &upper[begins[p]..begins[p + 1]] {
                        work[c as usize] -= f * v;
                    }
                }
            }
            let pivot = std::mem::take(&mut work[row.pivot as usize]);
            let mut big = pivot.abs();
            for &c in &row.left {
                let v = std::mem::take(&mut work[c as usize]);
                big = big.max(v.abs());
                if v != 0.0 {
                    upper.push((c, v / pivot));
                }
            }
            begins.push(upper.len());
            if !look(k, if big > 0.0 { pivot.abs() / big } else { 0.0 }) {
                return false;
            }
        }
        true
    }

    /// Whether the choice is about as well conditioned as when it was made.
    fn holds(&self, value: &dyn Fn(usize) -> f64) -> bool {
        self.ratios(value, |k, now| now >= 0.15 || (self.ratios[k] > 0.0 && now >= 0.25 * self.ratios[k]))
    }
}

/// Memory of an elimination that is done at every step.
#[derive(Clone, Debug, Default)]
struct Scratch {
    work: Vec<f64>,
    /// What is left of the rows done, divided by their pivots; where each begins.
    upper: Vec<(u32, f64)>,
    begins: Vec<usize>,
}

impl Choice {
    /// Whether the present choice need not be reconsidered; `value` gives entries of J by index.
    pub fn holds(&self, value: &dyn Fn(usize) -> f64) -> bool {
        self.watch.iter().all(|w| w.holds(value))
    }

    /// The least pivot, relative to its row, of every part that is watched, when it was chosen.
    pub fn chosen(&self) -> Vec<f64> {
        self.watch.iter().map(|w| w.ratios.iter().copied().fold(f64::INFINITY, f64::min)).collect()
    }

    /// The same at other values.
    pub fn least(&self, value: &dyn Fn(usize) -> f64) -> Vec<f64> {
        let of = |w: &Watch| {
            let mut least = f64::INFINITY;
            w.ratios(value, |_, ratio| {
                least = least.min(ratio);
                true
            });
            least
        };
        self.watch.iter().map(of).collect()
    }
}

impl Selection {
    /// Collects the entries of J that matter.
    pub fn new(
        sys: &mut System,
        ops: &mut RowOps,
        rows: &[(usize, Row)],
        c: &[u8],
        d: &FxHashMap<VarId, u8>,
        vars: &[VarId],
    ) -> Selection {
        let mut entries = Vec::new();
        for (i, (_, row)) in rows.iter().enumerate().filter(|(i, _)| c[*i] >= 1) {
            let mut seen: Vec<VarId> = Vec::new();
            let args: Vec<(VarId, u8)> = crate::modes::continuous_args(sys, row).collect();
            for (v, o) in args {
                // Variables of other parts are given here.
                if d.get(&v) == Some(&(o + c[i])) && !seen.contains(&v) {
                    seen.push(v);
                    entries.push(Entry { row: i, var: v, parts: ops.partial_wrt(&mut sys.dae, row, v, o) });
                }
            }
        }
        Selection { entries, c: c.to_vec(), d: d.clone(), vars: vars.to_vec() }
    }

    /// Puts another part behind this one; what is watched of it goes to `watch`.
    pub(crate) fn append(&mut self, other: &Selection, watched: &[Watch], watch: &mut Vec<Watch>) {
        let (rows, entries) = (self.c.len(), self.entries.len());
        self.entries.extend(other.entries.iter().map(|e| Entry { row: e.row + rows, ..e.clone() }));
        self.c.extend(&other.c);
        self.d.extend(other.d.iter().map(|(&v, &d)| (v, d)));
        self.vars.extend(&other.vars);
        watch.extend(watched.iter().map(|w| {
            let mut w = w.clone();
            w.entries.iter_mut().for_each(|e| e.0 += entries);
            w
        }));
    }

    /// All entries at a point.
    pub fn values(&self, sys: &System, point: &dyn Point) -> Vec<f64> {
        self.entries.iter().map(|e| sum_at(sys, &e.parts, point)).collect()
    }

    /// Chooses states. `current` ones are kept unless clearly worse; where these have failed (`pressing`), what is wanted counts
    /// no more than that either.
    pub fn choose(&self, sys: &System, values: &[f64], current: &[Cell], pressing: bool) -> Choice {
        let current: FxHashSet<Cell> = current.iter().copied().collect();
        let mut dummies: FxHashSet<Cell> = FxHashSet::default();
        let mut constrained: FxHashMap<Cell, Reason> = FxHashMap::default();
        let mut watch = Vec::new();
        let kmax = self.c.iter().copied().max().unwrap_or(0);
        let mut available: Option<FxHashSet<VarId>> = None;
        for stage in 1..=kmax {
            let usable: Vec<usize> = (0..self.entries.len())
                .filter(|&k| {
                    let e = &self.entries[k];
                    self.c[e.row] >= stage && available.as_ref().is_none_or(|a| a.contains(&e.var))
                })
                .collect();
            let mut next: FxHashSet<VarId> = FxHashSet::default();
            for part in self.parts(stage, &usable) {
                let is_state = |v: VarId| current.contains(&Cell::new(v, self.d[&v] - stage));
                let e = Elimination::run(sys, self, &part, values, &is_state, pressing);
                for (j, &v) in e.cols.iter().enumerate() {
                    let cell = Cell::new(v, self.d[&v] - stage);
                    if e.used[j] {
                        dummies.insert(cell);
                        next.insert(v);
                    } else {
                        constrained.insert(cell, e.reason(sys, j));
                    }
                }
                if e.cols.len() > part.rows.len() && self.varies(sys, &part) {
                    watch.extend(e.watch(self, &part, values));
                }
            }
            available = Some(next);
        }
        let mut choice = Choice { watch, ..Choice::default() };
        for &v in &self.vars {
            for k in 0..self.d[&v] {
                let cell = Cell::new(v, k);
                if !dummies.contains(&cell) {
                    // Where a derivative is a state by choice, so is what it is the derivative of.
                    let reason = (k..self.d[&v]).find_map(|m| constrained.get(&Cell::new(v, m)));
                    choice.reasons.push(reason.copied().unwrap_or(Reason::Free));
                    choice.states.push(cell);
                }
            }
        }
        choice
    }

    /// Whether an entry of the part changes during a run.
    fn varies(&self, sys: &System, part: &Part) -> bool {
        part.entries.iter().flat_map(|&k| &self.entries[k].parts).any(|(_, r)| {
            r.args.iter().any(|a| match a {
                Operand::Var { var, .. } => *var == saltus_dae::HybridDae::TIME || sys.role(*var) != Role::Known,
                Operand::Pre { .. } => true,
                Operand::Const(_) => false,
            })
        })
    }

    /// The rows of a stage in parts that share no column.
    fn parts(&self, stage: u8, usable: &[usize]) -> Vec<Part> {
        let mut by_row: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        let mut by_col: FxHashMap<VarId, Vec<usize>> = FxHashMap::default();
        for &k in usable {
            by_row.entry(self.entries[k].row).or_default().push(k);
            by_col.entry(self.entries[k].var).or_default().push(k);
        }
        let mut seen: FxHashSet<usize> = FxHashSet::default();
        let mut out = Vec::new();
        for i in (0..self.c.len()).filter(|&i| self.c[i] >= stage) {
            if !seen.insert(i) {
                continue;
            }
            let mut part = Part { rows: vec![i], entries: Vec::new() };
            let mut visited: FxHashSet<VarId> = FxHashSet::default();
            let mut at = 0;
            while at < part.rows.len() {
                for &k in by_row.get(&part.rows[at]).into_iter().flatten() {
                    part.entries.push(k);
                    if visited.insert(self.entries[k].var) {
                        for &other in &by_col[&self.entries[k].var] {
                            if seen.insert(self.entries[other].row) {
                                part.rows.push(self.entries[other].row);
                            }
                        }
                    }
                }
                at += 1;
            }
            part.rows.sort_unstable();
            part.entries.sort_unstable();
            out.push(part);
        }
        out
    }
}

struct Part {
    rows: Vec<usize>,
    /// Ascending, hence by row.
    entries: Vec<usize>,
}

/// How much a variable is wanted as a state.
type Wanted = (i32, bool, bool);

fn wanted(sys: &System, v: VarId, is_state: bool) -> Wanted {
    let var = &sys.dae.vars[v];
    (var.state_select as i32, is_state, var.fixed == Some(true))
}

fn nominal(sys: &System, v: VarId) -> f64 {
    sys.dae.vars[v].nominal.as_ref().and_then(|r| sys.dae.row_constant(r)).map_or(1.0, f64::abs).max(1e-30)
}

/// Elimination on one part.
struct Elimination {
    /// Columns, least wanted first.
    cols: Vec<VarId>,
    class: Vec<u8>,
    classes: Vec<Wanted>,
    used: Vec<bool>,
    /// (row, column) in order of elimination, those without a usable number last.
    pivots: Vec<(u32, u32)>,
    scale: Vec<f64>,
}

impl Elimination {
    fn run(
        sys: &System,
        selection: &Selection,
        part: &Part,
        values: &[f64],
        is_state: &dyn Fn(VarId) -> bool,
        pressing: bool,
    ) -> Elimination {
        let mut cols: Vec<VarId> =
            part.entries.iter().map(|&k| selection.entries[k].var).collect::<FxHashSet<_>>().into_iter().collect();
        cols.sort_by_cached_key(|&v| (wanted(sys, v, is_state(v)), Reverse(v)));
        let mut classes: Vec<Wanted> = Vec::new();
        let class: Vec<u8> = cols
            .iter()
            .map(|&v| {
                let w = wanted(sys, v, is_state(v));
                if classes.last() != Some(&w) {
                    classes.push(w);
                }
                classes.len() as u8 - 1
            })
            .collect();
        let scale: Vec<f64> = cols.iter().map(|&v| nominal(sys, v)).collect();
        let column: FxHashMap<VarId, u32> = cols.iter().enumerate().map(|(j, &v)| (v, j as u32)).collect();
        let m = part.rows.len();
        let place: FxHashMap<usize, usize> = part.rows.iter().enumerate().map(|(i, &r)| (r, i)).collect();
        let mut a: Vec<FxHashMap<u32, f64>> = vec![FxHashMap::default(); m];
        let mut structure: Vec<Vec<u32>> = vec![Vec::new(); m];
        let mut rows_of: Vec<Vec<u32>> = vec![Vec::new(); cols.len()];
        for &k in &part.entries {
            let e = &selection.entries[k];
            let (i, j) = (place[&e.row], column[&e.var]);
            structure[i].push(j);
            if values[k] != 0.0 {
                a[i].insert(j, values[k] * scale[j as usize]);
                rows_of[j as usize].push(i as u32);
            }
        }
        for row in &mut a {
            let big = row.values().fold(0.0f64, |m, x| m.max(x.abs()));
            if big > 0.0 {
                row.values_mut().for_each(|x| *x /= big);
            }
        }
        // The largest candidate of every row and class, in a heap per class; outdated ones carry an old version.
        let mut version = vec![0u32; m];
        let mut heaps: Vec<BinaryHeap<(u64, Reverse<u32>, Reverse<u32>, u32)>> = vec![BinaryHeap::new(); classes.len()];
        let mut used = vec![false; cols.len()];
        let offer = |i: usize,
                     a: &[FxHashMap<u32, f64>],
                     used: &[bool],
                     version: &[u32],
                     heaps: &mut [BinaryHeap<(u64, Reverse<u32>, Reverse<u32>, u32)>]| {
            let mut best: Vec<Option<(u64, Reverse<u32>)>> = vec![None; heaps.len()];
            for (&j, &v) in &a[i] {
                if !used[j as usize] {
                    // Sizes that differ only by rounding are equal.
                    let key = (v.abs().to_bits() >> 22, Reverse(j));
                    let b = &mut best[class[j as usize] as usize];
                    *b = (*b).max(Some(key));
                }
            }
            for (k, b) in best.into_iter().enumerate() {
                if let Some((size, j)) = b {
                    heaps[k].push((size, Reverse(i as u32), j, version[i]));
                }
            }
        };
        for i in 0..m {
            offer(i, &a, &used, &version, &mut heaps);
        }
        let mut done = vec![false; m];
        let mut pivots: Vec<(u32, u32)> = Vec::with_capacity(m);
        loop {
            let mut tops: Vec<Option<(f64, u32, u32)>> = Vec::with_capacity(heaps.len());
            for heap in &mut heaps {
                while heap
                    .peek()
                    .is_some_and(|t| done[t.1.0 as usize] || used[t.2.0 as usize] || t.3 != version[t.1.0 as usize])
                {
                    heap.pop();
                }
                tops.push(heap.peek().map(|t| (f64::from_bits(t.0 << 22), t.1.0, t.2.0)));
            }
            let overall = tops.iter().flatten().map(|t| t.0).fold(0.0, f64::max);
            if overall < 1e-13 {
                break;
            }
            // A less wanted class wins unless its pivot is much smaller; between what is preferred and what is not, and
            // between what is avoided and what is not, only a pivot that is as good as zero counts.
            let top = (0..tops.len()).rfind(|&k| tops[k].is_some_and(|t| t.0 == overall)).unwrap_or(0);
            let prefer = StateSelect::Prefer as i32;
            let pick = tops.iter().enumerate().find_map(|(k, t)| {
                let demand = if pressing {
                    0.15
                } else if classes[k].0 < classes[top].0.min(StateSelect::Default as i32) {
                    1e-6
                } else if classes[k].0 < prefer && classes[top].0 >= prefer {
                    1e-9
                } else {
                    0.15
                };
                t.filter(|t| t.0 >= demand * overall)
            });
            let Some((_, pi, pj)) = pick else { break };
            done[pi as usize] = true;
            used[pj as usize] = true;
            pivots.push((pi, pj));
            let pivot_row: Vec<(u32, f64)> = a[pi as usize].iter().map(|(&j, &v)| (j, v)).collect();
            let pivot = a[pi as usize][&pj];
            for i in std::mem::take(&mut rows_of[pj as usize]) {
                let i = i as usize;
                if done[i] {
                    continue;
                }
                let Some(v) = a[i].remove(&pj) else { continue };
                let f = v / pivot;
                for &(j, u) in &pivot_row {
                    if j != pj && !used[j as usize] {
                        let target = a[i].entry(j).or_insert_with(|| {
                            rows_of[j as usize].push(i as u32);
                            0.0
                        });
                        let old = *target;
                        *target -= f * u;
                        if target.abs() <= 1e-15 * old.abs() {
                            *target = 0.0;
                        }
                    }
                }
                version[i] += 1;
                offer(i, &a, &used, &version, &mut heaps);
            }
        }
        // Rows without a number take a column that structure allows, by an augmenting path over the pivots so far.
        let mut row_of: Vec<Option<u32>> = vec![None; cols.len()];
        for &(i, j) in &pivots {
            row_of[j as usize] = Some(i);
        }
        for i in (0..m).filter(|&i| !done[i]) {
            let mut visited = vec![false; cols.len()];
            if augment(i as u32, &structure, &mut row_of, &mut visited) {
                let new = (0..cols.len()).find(|&j| row_of[j].is_some() && !used[j]);
                if let Some(j) = new {
                    used[j] = true;
                    pivots.push((i as u32, j as u32));
                }
            }
        }
        Elimination { cols, class, classes, used, pivots, scale }
    }

    /// Why column j stays a state.
    fn reason(&self, sys: &System, j: usize) -> Reason {
        let var = &sys.dae.vars[self.cols[j]];
        let mine = self.classes[self.class[j] as usize];
        let other = (0..self.cols.len()).filter(|&k| self.used[k]).map(|k| self.classes[self.class[k] as usize]).max();
        match other {
            Some(o) if o.0 < mine.0 && var.state_select > StateSelect::Default => Reason::Asked(var.state_select),
            Some(o) if o.0 < mine.0 => Reason::OthersUnwanted,
            Some(o) if o.0 == mine.0 && mine.2 && !o.2 => Reason::Fixed,
            None => Reason::Free,
            _ => Reason::Conditioning,
        }
    }

    /// The elimination as a recipe for other values.
    fn watch(&self, selection: &Selection, part: &Part, values: &[f64]) -> Option<Watch> {
        if self.pivots.len() < part.rows.len() {
            return None;
        }
        let column: FxHashMap<VarId, u32> = self.cols.iter().enumerate().map(|(j, &v)| (v, j as u32)).collect();
        let mut by_row: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for &k in &part.entries {
            by_row.entry(selection.entries[k].row).or_default().push(k);
        }
        let mut pivot_at: Vec<Option<u32>> = vec![None; self.cols.len()];
        let mut w = Watch {
            entries: Vec::new(),
            rows: Vec::new(),
            columns: self.cols.len(),
            ratios: Vec::new(),
            scratch: RefCell::default(),
        };
        for (p, &(i, pj)) in self.pivots.iter().enumerate() {
            let start = w.entries.len();
            // Symbolic elimination of the row: pivots met in ascending order, fill included.
            let mut left: FxHashSet<u32> = FxHashSet::default();
            let mut todo: BinaryHeap<Reverse<u32>> = BinaryHeap::new();
            let mut met: FxHashSet<u32> = FxHashSet::default();
            let mut see =
                |c: u32, left: &mut FxHashSet<u32>, todo: &mut BinaryHeap<Reverse<u32>>| match pivot_at[c as usize] {
                    Some(q) => {
                        if met.insert(q) {
                            todo.push(Reverse(q));
                        }
                    }
                    None => {
                        left.insert(c);
                    }
                };
            for &k in by_row.get(&part.rows[i as usize]).into_iter().flatten() {
                let c = column[&selection.entries[k].var];
                w.entries.push((k, c, self.scale[c as usize]));
                see(c, &mut left, &mut todo);
            }
            let mut earlier = Vec::new();
            while let Some(Reverse(q)) = todo.pop() {
                earlier.push(q);
                for &c in &w.rows[q as usize].left {
                    see(c, &mut left, &mut todo);
                }
            }
            left.remove(&pj);
            let mut left: Vec<u32> = left.into_iter().collect();
            left.sort_unstable();
            w.rows.push(WatchRow { entries: start..w.entries.len(), earlier, left, pivot: pj });
            pivot_at[pj as usize] = Some(p as u32);
        }
        let mut ratios = Vec::with_capacity(w.rows.len());
        w.ratios(&|k| values[k], |_, ratio| {
            ratios.push(ratio);
            true
        });
        w.ratios = ratios;
        Some(w)
    }
}

/// Finds a column for row `i`, moving other rows along (Kuhn); columns are tried least wanted first.
fn augment(i: u32, structure: &[Vec<u32>], row_of: &mut [Option<u32>], visited: &mut [bool]) -> bool {
    // Iterative: a path may be as long as the model.
    let mut stack: Vec<(u32, usize)> = vec![(i, 0)];
    let mut path: Vec<u32> = Vec::new();
    while let Some(&mut (row, ref mut at)) = stack.last_mut() {
        let Some(&j) = structure[row as usize].get(*at) else {
            stack.pop();
            path.pop();
            continue;
        };
        *at += 1;
        if std::mem::replace(&mut visited[j as usize], true) {
            continue;
        }
        path.push(j);
        match row_of[j as usize] {
            None => {
                for (&(r, _), &c) in stack.iter().zip(&path) {
                    row_of[c as usize] = Some(r);
                }
                return true;
            }
            Some(next) => stack.push((next, 0)),
        }
    }
    false
}

fn sum_at(sys: &System, parts: &[(f64, Row)], point: &dyn Point) -> f64 {
    let at = |p: &dyn Point| -> f64 {
        parts
            .iter()
            .map(|(sign, r)| {
                if let Some(v) = sys.dae.pool.as_const(r.template) {
                    return sign * v;
                }
                let mut calls = p.calls();
                sign * saltus_expr::eval(&sys.dae.pool, r.template, &|k| p.value(r.args[k as usize]), &mut *calls)
            })
            .sum()
    };
    let v = at(point);
    if v.is_finite() { v } else { Some(at(&Generic)).filter(|v| v.is_finite()).unwrap_or(1.0) }
}

/// ∂row/∂(var, order) at the point; where that is not a number, at a generic point.
pub fn jacobian_entry(sys: &mut System, ops: &mut RowOps, row: &Row, var: VarId, order: u8, point: &dyn Point) -> f64 {
    let parts = ops.partial_wrt(&mut sys.dae, row, var, order);
    sum_at(sys, &parts, point)
}
