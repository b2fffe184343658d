//! The incidence of the initialization problem, for questions of the kind "may this be fixed?".
//!
//! Rows are the equations that hold at the start, and one row `x = value` per unknown, in force while it is fixed. A set of
//! fixed unknowns is legal if all rows in force can be matched (full structural rank). What stands in the way of one more is
//! its circuit: the rows that together have one unknown too few.

use crate::modes::{ModeKey, Modes, chosen};
use crate::plan::{Cell, Item, Problem, StructuralPlan};
use crate::rows::RowOps;
use crate::system::System;
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_dae::{HybridDae, VarType, Variability};
use saltus_graph::{Augmenter, Bipartite, Matching, MaxFlow, NONE};
use std::collections::VecDeque;

/// Equations against everything that may be an unknown of the start, parameters included.
pub struct Incidence {
    /// The equations: of the model (with latent ones), discrete definitions, bindings, initial equations.
    pub items: Vec<Item>,
    /// Number of initial equations at the end of `items`.
    pub initial: usize,
    /// What may be unknown.
    pub cells: Vec<Cell>,
    column: FxHashMap<Cell, u32>,
    /// Items, then one row per cell.
    graph: Bipartite,
    matching: Matching,
    fixed: Vec<bool>,
    augmenter: Augmenter,
    /// Rows in force that have no unknown left: over-determined, perhaps consistently.
    surplus: Vec<u32>,
}

/// Why something cannot be fixed.
#[derive(Clone, Debug)]
pub struct Conflict {
    /// What is fixed among the rows in conflict, the newcomer first.
    pub fixed: Vec<Cell>,
    /// Equations in conflict: indices into [`Incidence::items`].
    pub equations: Vec<usize>,
    /// The unknowns they share: one fewer than equations.
    pub unknowns: Vec<Cell>,
}

impl Incidence {
    /// The incidence in the mode of `plan`; nothing is fixed yet.
    pub fn new(sys: &mut System, _ops: &mut RowOps, modes: &Modes, key: &ModeKey, plan: &StructuralPlan) -> Incidence {
        let mut cells: Vec<Cell> = Vec::new();
        for &v in &plan.vars {
            cells.extend((0..=plan.d[&v]).map(|k| Cell::new(v, k)));
        }
        for d in &sys.discrete {
            cells.push(Cell::new(d.var, 0));
            cells.push(Cell::pre(d.var));
        }
        let mut items = crate::init::model_items(sys, plan);
        for (id, v) in sys.dae.vars.iter() {
            let number = matches!(v.ty, VarType::Real);
            if HybridDae::is_builtin(id) || v.variability != Variability::Parameter || !number {
                continue;
            }
            cells.push(Cell::new(id, 0));
            if let Some(b) = v.binding.as_ref().filter(|b| sys.dae.row_constant(b).is_none()) {
                items.push(Item::Value { cell: Cell::new(id, 0), row: b.clone() });
            }
        }
        let values = modes.values(key);
        let base = sys.equations.len();
        let before = items.len();
        for (k, eq) in sys.initial.iter().enumerate() {
            if chosen(sys, eq.guard, &|v| values.get(&v).copied().unwrap_or(false)) {
                items.push(Item::Residual { row: eq.row.clone(), eq: base + k, level: 0 });
            }
        }
        let initial = items.len() - before;
        let p = Problem::new(sys, items, cells);
        let mut rows: Vec<Vec<u32>> = (0..p.items.len()).map(|i| p.candidates.row(i).to_vec()).collect();
        rows.extend((0..p.unknowns.len()).map(|j| vec![j as u32]));
        let graph = Bipartite::from_rows(p.unknowns.len(), &rows);
        let matching = Matching::empty(rows.len(), p.unknowns.len());
        let mut me = Incidence {
            fixed: vec![false; p.unknowns.len()],
            items: p.items,
            initial,
            cells: p.unknowns,
            column: p.column,
            graph,
            matching,
            augmenter: Augmenter::new(),
            surplus: Vec::new(),
        };
        for i in 0..me.items.len() - initial {
            me.enter(i as u32);
        }
        me
    }

    fn enter(&mut self, row: u32) -> bool {
        let ok = self.augmenter.augment(&self.graph, &mut self.matching, row);
        if !ok {
            self.surplus.push(row);
        }
        ok
    }

    /// Lets the initial equations hold. Those that are too many are left to be judged by their residual.
    pub fn enter_initial_equations(&mut self) {
        for i in self.items.len() - self.initial..self.items.len() {
            self.enter(i as u32);
        }
    }

    /// Whether a cell takes part.
    pub fn knows(&self, cell: Cell) -> bool {
        self.column.contains_key(&cell)
    }

    /// How many unknowns are neither fixed nor determined.
    pub fn freedom(&self) -> usize {
        self.cells.len() - self.matching.size
    }

    /// Fixes a cell whatever follows from it (the model says so).
    pub fn force(&mut self, cell: Cell) {
        if let Some(&j) = self.column.get(&cell)
            && !std::mem::replace(&mut self.fixed[j as usize], true)
        {
            self.enter((self.items.len() + j as usize) as u32);
        }
    }

    /// Fixes a cell if the structural rank allows it.
    pub fn fix(&mut self, cell: Cell) -> Result<(), Conflict> {
        let Some(&j) = self.column.get(&cell) else { return Ok(()) };
        if self.fixed[j as usize] {
            return Ok(());
        }
        let n = self.items.len();
        let row = (n + j as usize) as u32;
        if self.augmenter.augment(&self.graph, &mut self.matching, row) {
            self.fixed[j as usize] = true;
            return Ok(());
        }
        let mut equations: Vec<usize> = Vec::new();
        let mut fixed = vec![cell];
        let mut held: FxHashSet<Cell> = std::iter::once(cell).collect();
        for &r in self.augmenter.visited_rows() {
            match (r as usize).checked_sub(n) {
                None => equations.push(r as usize),
                Some(k) => {
                    if held.insert(self.cells[k]) {
                        fixed.push(self.cells[k]);
                    }
                }
            }
        }
        equations.sort_unstable();
        fixed[1..].sort_unstable();
        let mut unknowns: Vec<Cell> = self
            .augmenter
            .visited_cols()
            .iter()
            .map(|&j| self.cells[j as usize])
            .filter(|c| !held.contains(c))
            .collect();
        unknowns.sort_unstable();
        Err(Conflict { fixed, equations, unknowns })
    }

    /// Fixes a cell, an initial equation of the model giving way if need be: the number of that equation. Of those in conflict
    /// `prefer` chooses the one with the least key.
    pub fn fix_over<K: Ord>(&mut self, cell: Cell, prefer: impl Fn(&Item) -> K) -> Result<Option<usize>, Conflict> {
        let conflict = match self.fix(cell) {
            Ok(()) => return Ok(None),
            Err(c) => c,
        };
        let first = self.items.len() - self.initial;
        let Some(&i) = conflict.equations.iter().filter(|&&i| i >= first).min_by_key(|&&i| (prefer(&self.items[i]), i))
        else {
            return Err(conflict);
        };
        self.drop_row(i);
        self.fix(cell).map(|()| Some(i - first))
    }

    /// Lets an initial equation go, by its number among those of the mode.
    pub fn drop_initial(&mut self, number: usize) {
        self.drop_row(self.items.len() - self.initial + number);
    }

    /// The initial equations in force that are too many, by their numbers.
    pub fn surplus_initial(&self) -> Vec<usize> {
        let (first, end) = (self.items.len() - self.initial, self.items.len());
        self.surplus.iter().map(|&r| r as usize).filter(|r| (first..end).contains(r)).map(|r| r - first).collect()
    }

    fn drop_row(&mut self, i: usize) {
        self.surplus.retain(|&r| r as usize != i);
        let col = std::mem::replace(&mut self.matching.row_to_col[i], NONE);
        if col != NONE {
            self.matching.col_to_row[col as usize] = NONE;
            self.matching.size -= 1;
        }
        let mut rows: Vec<Vec<u32>> = (0..self.graph.n_rows()).map(|r| self.graph.row(r).to_vec()).collect();
        rows[i].clear();
        self.graph = Bipartite::from_rows(self.cells.len(), &rows);
    }

    /// Lets a cell go.
    pub fn relax(&mut self, cell: Cell) {
        let Some(&j) = self.column.get(&cell) else { return };
        if !std::mem::replace(&mut self.fixed[j as usize], false) {
            return;
        }
        let row = self.items.len() + j as usize;
        let col = self.matching.row_to_col[row];
        if col != NONE {
            self.matching.row_to_col[row] = NONE;
            self.matching.col_to_row[col as usize] = NONE;
            self.matching.size -= 1;
        }
        let waiting = std::mem::take(&mut self.surplus);
        for r in waiting.into_iter().filter(|&r| r as usize != row) {
            self.enter(r);
        }
    }

    /// Drops the equation that defines a parameter (it gets a value of its own, or becomes unknown).
    pub fn drop_binding(&mut self, cell: Cell) {
        let found = self.items.iter().position(|i| matches!(i, Item::Value { cell: c, .. } if *c == cell));
        if let Some(i) = found {
            self.drop_row(i);
        }
    }

    /// Whether a cell is fixed.
    pub fn is_fixed(&self, cell: Cell) -> bool {
        self.column.get(&cell).is_some_and(|&j| self.fixed[j as usize])
    }

    /// Rows in force that are too many.
    pub fn surplus(&self) -> usize {
        self.surplus.len()
    }

    /// What may stand for `cell` among the unknowns: everything that flow from it reaches through equations, each other
    /// unknown letting one unit out (initialization paper, 5.2). With the number of equations on the shortest way.
    pub fn alternatives(&self, cell: Cell) -> Vec<(Cell, usize)> {
        let Some(&from) = self.column.get(&cell) else { return Vec::new() };
        let (n, m) = (self.cells.len(), self.items.len());
        let (source, sink) = ((n + m) as u32, (n + m + 1) as u32);
        let free = |j: usize| j == from as usize || !self.fixed[j];
        let mut flow = MaxFlow::new(n + m + 2);
        flow.add_edge(source, from, i64::from(u32::MAX));
        for i in 0..m {
            for &j in self.graph.row(i) {
                if free(j as usize) {
                    flow.add_edge((n + i) as u32, j, i64::from(u32::MAX));
                    flow.add_edge(j, (n + i) as u32, i64::from(u32::MAX));
                }
            }
        }
        let outlets: Vec<(usize, usize)> =
            (0..n).filter(|&j| j != from as usize && free(j)).map(|j| (j, flow.add_edge(j as u32, sink, 1))).collect();
        flow.run(source, sink);
        let distance = self.distances(from, &free);
        let mut out: Vec<(Cell, usize)> =
            outlets.into_iter().filter(|&(_, e)| flow.flow(e) > 0).map(|(j, _)| (self.cells[j], distance[j])).collect();
        out.sort_by_key(|a| (a.1, a.0));
        out
    }

    /// What may be fixed in place of `cell`, which is fixed now.
    pub fn exchanges(&mut self, cell: Cell) -> Vec<Cell> {
        if !self.is_fixed(cell) {
            return Vec::new();
        }
        self.relax(cell);
        // Whatever an alternating path from an unmatched unknown reaches may be fixed next.
        let mut by_col: Vec<Vec<u32>> = vec![Vec::new(); self.cells.len()];
        for i in 0..self.items.len() {
            for &j in self.graph.row(i) {
                by_col[j as usize].push(i as u32);
            }
        }
        let mut seen = vec![false; self.cells.len()];
        let mut queue: VecDeque<u32> = self.matching.free_cols().collect();
        for &j in &queue {
            seen[j as usize] = true;
        }
        while let Some(j) = queue.pop_front() {
            for &i in &by_col[j as usize] {
                let next = self.matching.row_to_col[i as usize];
                if next != NONE && !std::mem::replace(&mut seen[next as usize], true) {
                    queue.push_back(next);
                }
            }
        }
        let out = (0..self.cells.len())
            .filter(|&j| seen[j] && !self.fixed[j] && self.cells[j] != cell)
            .map(|j| self.cells[j])
            .collect();
        self.force(cell);
        out
    }

    fn distances(&self, from: u32, free: &dyn Fn(usize) -> bool) -> Vec<usize> {
        let mut by_col: Vec<Vec<u32>> = vec![Vec::new(); self.cells.len()];
        for i in 0..self.items.len() {
            for &j in self.graph.row(i) {
                by_col[j as usize].push(i as u32);
            }
        }
        let mut d = vec![usize::MAX; self.cells.len()];
        d[from as usize] = 0;
        let mut queue = VecDeque::from([from]);
        let mut done = vec![false; self.items.len()];
        while let Some(j) = queue.pop_front() {
            for &i in &by_col[j as usize] {
                if std::mem::replace(&mut done[i as usize], true) {
                    continue;
                }
                for &k in self.graph.row(i as usize) {
                    if free(k as usize) && d[k as usize] == usize::MAX {
                        d[k as usize] = d[j as usize] + 1;
                        queue.push_back(k);
                    }
                }
            }
        }
        d
    }
}
