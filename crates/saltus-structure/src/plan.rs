//! The structural plan of one mode: differentiated equations, states, order of evaluation.

use crate::modes::{ModeKey, Modes, active_rows, key_text};
use crate::rows::RowOps;
use crate::system::{DiscKind, Role, System};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_base::{Diagnostic, Span, Stage};
use saltus_dae::{Operand, Row, StateSelect, VarId, equation_text};
use saltus_expr::{Calls, Coefficient};
use saltus_graph::{Bipartite, Matching, NONE, Signature, Singular, block_order, sigma_method, weighted_matching};

/// A number that is solved for or known: a variable or one of its derivatives, or a previous value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    /// The variable.
    pub var: VarId,
    /// Derivative order; -1 for `pre`.
    pub order: i8,
}

impl Cell {
    /// A variable or derivative.
    pub fn new(var: VarId, order: u8) -> Cell {
        Cell { var, order: order as i8 }
    }
    /// The previous value.
    pub fn pre(var: VarId) -> Cell {
        Cell { var, order: -1 }
    }
    /// The cell an operand reads.
    pub fn of(op: Operand) -> Option<Cell> {
        match op {
            Operand::Var { var, order, .. } => Some(Cell::new(var, order)),
            Operand::Pre { var } => Some(Cell::pre(var)),
            Operand::Const(_) => None,
        }
    }
    /// As an operand.
    pub fn operand(self) -> Operand {
        if self.order < 0 {
            Operand::Pre { var: self.var }
        } else {
            Operand::Var { var: self.var, order: self.order as u8, neg: false }
        }
    }
}

/// One thing to be computed.
#[derive(Clone, Debug)]
pub enum Item {
    /// `row = 0`.
    Residual {
        /// The residual.
        row: Row,
        /// Which equation it comes from (index into [`System::equations`], or past its end into initial equations).
        eq: usize,
        /// How often it was differentiated.
        level: u8,
    },
    /// `cell := row`.
    Value {
        /// What is set.
        cell: Cell,
        /// To what.
        row: Row,
    },
    /// A relation's truth value.
    Relation {
        /// The relation variable.
        cell: Cell,
        /// Index into [`System::relations`].
        index: usize,
    },
    /// A variable assigned by a when-equation.
    When {
        /// The variable.
        cell: Cell,
        /// Index into [`System::whens`].
        when: usize,
        /// Values per branch.
        values: Vec<Option<Row>>,
    },
}

impl Item {
    /// The cells it reads (its own target left out unless it stands on the right too).
    pub fn reads(&self, sys: &System) -> Vec<Cell> {
        let row = |r: &Row| r.args.iter().filter_map(|&a| Cell::of(a)).collect::<Vec<_>>();
        match self {
            Item::Residual { row: r, .. } | Item::Value { row: r, .. } => row(r),
            Item::Relation { index, .. } => row(&sys.relations[*index].g),
            Item::When { when, values, cell } => {
                let mut out: Vec<Cell> = Vec::new();
                for (conditions, _) in &sys.whens[*when].branches {
                    out.extend(conditions.iter().map(|&c| Cell::new(c, 0)));
                    out.extend(conditions.iter().map(|&c| Cell::pre(c)));
                }
                out.extend(values.iter().flatten().flat_map(row));
                out.push(Cell::pre(cell.var));
                out
            }
        }
    }
    /// What it defines, if that is fixed.
    pub fn target(&self) -> Option<Cell> {
        match self {
            Item::Residual { .. } => None,
            Item::Value { cell, .. } | Item::Relation { cell, .. } | Item::When { cell, .. } => Some(*cell),
        }
    }
}

/// Items that must be solved together, with what they are solved for (pairwise matched).
#[derive(Clone, Debug)]
pub struct Block {
    /// Indices into [`Sequence::items`].
    pub items: Vec<usize>,
    /// Unknowns, in the order of `items`.
    pub unknowns: Vec<Cell>,
}

/// Items in blocks in the order of evaluation.
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    /// All items.
    pub items: Vec<Item>,
    /// The blocks, each depending on earlier ones only.
    pub blocks: Vec<Block>,
}

/// The plan of one mode.
#[derive(Clone, Debug)]
pub struct StructuralPlan {
    /// The mode.
    pub key: ModeKey,
    /// Active equations: (index into [`System::equations`], undifferentiated row).
    pub rows: Vec<(usize, Row)>,
    /// How often each is differentiated (c_i).
    pub c: Vec<u8>,
    /// Highest derivative of each active variable (d_j).
    pub d: FxHashMap<VarId, u8>,
    /// Active variables, in order.
    pub vars: Vec<VarId>,
    /// All levels of every row: `levels[i][k]` is row i differentiated k times.
    pub levels: Vec<Vec<Row>>,
    /// States; the derivative of (x, k) is the cell (x, k+1).
    pub states: Vec<Cell>,
    /// Structural index.
    pub index: i32,
    /// Given states, time, discrete values: everything continuous.
    pub continuous: Sequence,
    /// The same together with the discrete part, for event iteration.
    pub event: Sequence,
}

/// Numbers to decide with (dummy derivatives are chosen where the constraint Jacobian is well conditioned).
pub trait Point {
    /// The value an operand has now.
    fn value(&self, op: Operand) -> f64;
    /// Function calls.
    fn calls(&self) -> Box<dyn Calls + '_>;
}

/// A point that knows nothing: pseudo-random values, so that only structure matters.
pub struct Generic;

impl Point for Generic {
    fn value(&self, op: Operand) -> f64 {
        match op {
            Operand::Const(v) => v,
            Operand::Var { var, order, neg } => {
                let x = (var.index() as u64 * 0x9E37_79B9_7F4A_7C15).wrapping_add(u64::from(order) * 0x5851_F42D);
                let v = 0.5 + (x >> 11) as f64 / (1u64 << 53) as f64;
                if neg { -v } else { v }
            }
            Operand::Pre { var } => 0.3 + (var.index() % 7) as f64 * 0.1,
        }
    }
    fn calls(&self) -> Box<dyn Calls + '_> {
        Box::new(saltus_expr::NoCalls)
    }
}

/// Plans the mode `key`.
pub fn plan_mode(
    sys: &mut System,
    ops: &mut RowOps,
    modes: &Modes,
    key: &ModeKey,
    point: &dyn Point,
) -> Result<StructuralPlan, Diagnostic> {
    let rows = active_rows(sys, ops, modes, key);
    let (c, d, vars, index) = offsets(sys, modes, key, &rows)?;
    let levels: Vec<Vec<Row>> = rows
        .iter()
        .zip(&c)
        .map(|((_, row), &ci)| {
            let mut levels = vec![row.clone()];
            for _ in 0..ci {
                let next = ops.differentiate(&mut sys.dae, levels.last().unwrap_or(row));
                levels.push(next);
            }
            levels
        })
        .collect();
    let states = select_states(sys, ops, &rows, &c, &d, &vars, point, &[]);
    let mut plan = StructuralPlan {
        key: key.clone(),
        rows,
        c,
        d,
        vars,
        levels,
        states,
        index,
        continuous: Sequence::default(),
        event: Sequence::default(),
    };
    sequence(sys, ops, modes, &mut plan)?;
    Ok(plan)
}

/// The states the same mode would rather have at this point; the present ones are kept unless clearly worse.
pub fn better_states(sys: &mut System, ops: &mut RowOps, plan: &StructuralPlan, point: &dyn Point) -> Vec<Cell> {
    select_states(sys, ops, &plan.rows, &plan.c, &plan.d, &plan.vars, point, &plan.states)
}

/// The entries of the constraint Jacobians that change during a run, as signed sums of rows. While they stay near the
/// values at which the states were chosen, the choice stays good.
pub fn varying_entries(sys: &mut System, ops: &mut RowOps, plan: &StructuralPlan) -> Vec<Vec<(f64, Row)>> {
    let mut out = Vec::new();
    for (i, (_, row)) in plan.rows.iter().enumerate().filter(|&(i, _)| plan.c[i] > 0) {
        for (v, o) in crate::modes::continuous_args(sys, row).collect::<FxHashSet<_>>() {
            if plan.d.get(&v).is_some_and(|&d| d >= 1 && d == o + plan.c[i]) {
                let parts = ops.partial_wrt(&mut sys.dae, row, v, o);
                let varies = |a: &Operand| match *a {
                    Operand::Const(_) => false,
                    Operand::Var { var, .. } => sys.dae.vars[var].variability > saltus_dae::Variability::Parameter,
                    Operand::Pre { .. } => true,
                };
                if parts.iter().any(|(_, r)| r.args.iter().any(varies)) {
                    out.push(parts);
                }
            }
        }
    }
    out
}

/// The value of such an entry.
pub fn entry_value(sys: &System, parts: &[(f64, Row)], point: &dyn Point) -> f64 {
    let term = |(sign, r): &(f64, Row)| {
        sign * saltus_expr::eval(&sys.dae.pool, r.template, &|k| point.value(r.args[k as usize]), &mut *point.calls())
    };
    parts.iter().map(term).sum()
}

/// Plans the same mode with other states.
pub fn replan_states(
    sys: &mut System,
    ops: &mut RowOps,
    modes: &Modes,
    plan: &StructuralPlan,
    states: Vec<Cell>,
) -> Result<StructuralPlan, Diagnostic> {
    let mut new =
        StructuralPlan { states, continuous: Sequence::default(), event: Sequence::default(), ..plan.clone() };
    sequence(sys, ops, modes, &mut new)?;
    Ok(new)
}

/// Σ-method on the active rows.
fn offsets(
    sys: &System,
    modes: &Modes,
    key: &ModeKey,
    rows: &[(usize, Row)],
) -> Result<(Vec<u8>, FxHashMap<VarId, u8>, Vec<VarId>, i32), Diagnostic> {
    let mut column: FxHashMap<VarId, u32> = FxHashMap::default();
    let mut vars: Vec<VarId> = Vec::new();
    let entries: Vec<Vec<(u32, i32)>> = rows
        .iter()
        .map(|(_, row)| {
            crate::modes::continuous_args(sys, row)
                .map(|(v, o)| {
                    let j = *column.entry(v).or_insert_with(|| {
                        vars.push(v);
                        vars.len() as u32 - 1
                    });
                    (j, i32::from(o))
                })
                .collect()
        })
        .collect();
    // A variable no active equation mentions is inactive in this mode; without modes it lacks an equation.
    if modes.keyed.is_empty() {
        for (id, _) in sys.dae.vars.iter() {
            if sys.role(id) == Role::Continuous && sys.alias[id].is_none() && !column.contains_key(&id) {
                column.insert(id, vars.len() as u32);
                vars.push(id);
            }
        }
    }
    let signature = Signature::from_rows(vars.len(), &entries);
    match sigma_method(&signature) {
        Ok(o) => {
            let c = o.c.iter().map(|&c| c as u8).collect();
            let d = vars.iter().zip(&o.d).map(|(&v, &d)| (v, d as u8)).collect();
            Ok((c, d, vars, o.index))
        }
        Err(s) => Err(explain_singular(sys, modes, key, rows, &vars, &s)),
    }
}

/// Dummy derivatives (Mattsson & Söderlind 1993): stage by stage, as many columns as constraint rows, chosen so that
/// their Jacobian is well conditioned, unwanted states first.
fn select_states(
    sys: &mut System,
    ops: &mut RowOps,
    rows: &[(usize, Row)],
    c: &[u8],
    d: &FxHashMap<VarId, u8>,
    vars: &[VarId],
    point: &dyn Point,
    current: &[Cell],
) -> Vec<Cell> {
    let current: FxHashSet<Cell> = current.iter().copied().collect();
    let mut dummies: FxHashSet<Cell> = FxHashSet::default();
    let kmax = c.iter().copied().max().unwrap_or(0);
    // Columns still available at a stage: all with d_j >= 1 first, then the dummies of the stage before.
    let mut available: FxHashSet<VarId> = vars.iter().copied().filter(|v| d[v] >= 1).collect();
    for stage in 1..=kmax {
        let stage_rows: Vec<usize> = (0..rows.len()).filter(|&i| c[i] >= stage).collect();
        // J_ij = ∂f_i/∂x_j^(d_j - c_i) over the available columns.
        let mut matrix: Vec<FxHashMap<VarId, f64>> = Vec::new();
        for &i in &stage_rows {
            let row = rows[i].1.clone();
            let mut entries: FxHashMap<VarId, f64> = FxHashMap::default();
            for (v, o) in crate::modes::continuous_args(sys, &row).collect::<FxHashSet<_>>() {
                if available.contains(&v) && d[&v] == o + c[i] && d[&v] >= stage {
                    entries.insert(v, jacobian_entry(sys, ops, &row, v, o, point));
                }
            }
            matrix.push(entries);
        }
        let chosen = choose_columns(sys, &matrix, &|v| current.contains(&Cell::new(v, d[&v] - stage)));
        let mut next: FxHashSet<VarId> = FxHashSet::default();
        for v in chosen {
            dummies.insert(Cell::new(v, d[&v] - stage));
            next.insert(v);
        }
        available = next;
    }
    let mut states: Vec<Cell> = Vec::new();
    for &v in vars {
        for k in 0..d[&v] {
            let cell = Cell::new(v, k);
            if !dummies.contains(&cell) {
                states.push(cell);
            }
        }
    }
    states
}

/// ∂row/∂(var, order) at the point; where that is not a number, at a generic point.
pub fn jacobian_entry(sys: &mut System, ops: &mut RowOps, row: &Row, var: VarId, order: u8, point: &dyn Point) -> f64 {
    let parts = ops.partial_wrt(&mut sys.dae, row, var, order);
    let v = entry_value(sys, &parts, point);
    if v.is_finite() { v } else { Some(entry_value(sys, &parts, &Generic)).filter(|v| v.is_finite()).unwrap_or(1.0) }
}

/// As many columns as rows with a well-conditioned square submatrix, by Gaussian elimination with pivots searched in
/// order of how little a column is wanted as a state. Independent parts are treated apart.
fn choose_columns(sys: &System, matrix: &[FxHashMap<VarId, f64>], is_state: &dyn Fn(VarId) -> bool) -> Vec<VarId> {
    let wanted = |sys: &System, v: VarId| wanted(sys, v, is_state(v));
    let mut out = Vec::new();
    for part in components(matrix) {
        let mut cols: Vec<VarId> =
            part.iter().flat_map(|&i| matrix[i].keys().copied()).collect::<FxHashSet<_>>().into_iter().collect();
        cols.sort_by_key(|&v| (wanted(sys, v), std::cmp::Reverse(v)));
        let class_of: Vec<_> = cols.iter().map(|&v| wanted(sys, v)).collect();
        let scale: Vec<f64> = cols.iter().map(|&v| nominal(sys, v)).collect();
        let mut a: Vec<Vec<f64>> = part
            .iter()
            .map(|&i| {
                let mut row: Vec<f64> =
                    cols.iter().zip(&scale).map(|(v, s)| matrix[i].get(v).copied().unwrap_or(0.0) * s).collect();
                let big = row.iter().fold(0.0f64, |m, x| m.max(x.abs()));
                if big > 0.0 {
                    row.iter_mut().for_each(|x| *x /= big);
                }
                row
            })
            .collect();
        let m = a.len();
        let mut used = vec![false; cols.len()];
        let mut done = vec![false; m];
        for _ in 0..m {
            // Largest pivot per wantedness class; a less wanted class wins unless its pivot is much smaller.
            let best = |a: &Vec<Vec<f64>>, used: &Vec<bool>, done: &Vec<bool>, class: Option<(i32, bool, bool)>| {
                let mut best = (0.0f64, usize::MAX, usize::MAX);
                for i in (0..m).filter(|&i| !done[i]) {
                    for j in (0..cols.len()).filter(|&j| !used[j]) {
                        if class.is_none_or(|k| class_of[j] == k) && a[i][j].abs() > best.0 * (1.0 + 1e-9) {
                            best = (a[i][j].abs(), i, j);
                        }
                    }
                }
                best
            };
            let overall = best(&a, &used, &done, None);
            if overall.1 == usize::MAX || overall.0 < 1e-13 {
                break;
            }
            let mut pick = overall;
            let mut classes = class_of.clone();
            classes.sort_unstable();
            classes.dedup();
            for class in classes {
                let b = best(&a, &used, &done, Some(class));
                let demand = if class.0 < StateSelect::Default as i32 { 1e-6 } else { 0.15 };
                if b.1 != usize::MAX && b.0 >= demand * overall.0 {
                    pick = b;
                    break;
                }
            }
            let (_, pi, pj) = pick;
            done[pi] = true;
            used[pj] = true;
            let pivot_row = a[pi].clone();
            for i in (0..m).filter(|&i| !done[i]) {
                let f = a[i][pj] / pivot_row[pj];
                if f != 0.0 {
                    for j in 0..cols.len() {
                        a[i][j] -= f * pivot_row[j];
                    }
                }
            }
        }
        // Numerically dependent rows still take a column each, so that the count is right.
        let mut missing = done.iter().filter(|d| !**d).count();
        for (j, &v) in cols.iter().enumerate() {
            if used[j] {
                out.push(v);
            } else if missing > 0 {
                missing -= 1;
                out.push(v);
            }
        }
    }
    out
}

fn nominal(sys: &System, v: VarId) -> f64 {
    sys.dae.vars[v].nominal.as_ref().and_then(|r| sys.dae.row_constant(r)).map_or(1.0, f64::abs).max(1e-30)
}

/// How much a variable is wanted as a state.
fn wanted(sys: &System, v: VarId, is_state: bool) -> (i32, bool, bool) {
    let var = &sys.dae.vars[v];
    (var.state_select as i32, is_state, var.fixed == Some(true))
}

/// Rows connected through shared columns.
fn components(matrix: &[FxHashMap<VarId, f64>]) -> Vec<Vec<usize>> {
    let mut by_col: FxHashMap<VarId, Vec<usize>> = FxHashMap::default();
    for (i, r) in matrix.iter().enumerate() {
        for &v in r.keys() {
            by_col.entry(v).or_default().push(i);
        }
    }
    let mut seen = vec![false; matrix.len()];
    let mut out = Vec::new();
    for i in 0..matrix.len() {
        if seen[i] {
            continue;
        }
        seen[i] = true;
        let mut part = vec![i];
        let mut at = 0;
        while at < part.len() {
            for v in matrix[part[at]].keys() {
                for &k in &by_col[v] {
                    if !seen[k] {
                        seen[k] = true;
                        part.push(k);
                    }
                }
            }
            at += 1;
        }
        part.sort_unstable();
        out.push(part);
    }
    out
}

/// Orders the evaluation of the continuous part and of the whole.
fn sequence(sys: &mut System, ops: &mut RowOps, modes: &Modes, plan: &mut StructuralPlan) -> Result<(), Diagnostic> {
    let states: FxHashSet<Cell> = plan.states.iter().copied().collect();
    let mut unknowns: Vec<Cell> = Vec::new();
    for &v in &plan.vars {
        for k in 0..=plan.d[&v] {
            let cell = Cell::new(v, k);
            if !states.contains(&cell) {
                unknowns.push(cell);
            }
        }
    }
    let mut items: Vec<Item> = Vec::new();
    for (i, levels) in plan.levels.iter().enumerate() {
        for (k, row) in levels.iter().enumerate() {
            items.push(Item::Residual { row: row.clone(), eq: plan.rows[i].0, level: k as u8 });
        }
    }
    let mut problem = Problem::new(sys, items, unknowns);
    let matching = problem.matching(sys, ops);
    if !matching.is_perfect() {
        return Err(explain_unmatched(sys, modes, &plan.key, &problem, &matching));
    }
    plan.continuous = problem.blocks(&matching);
    // The event system adds the discrete part.
    let n = problem.items.len();
    for d in &sys.discrete {
        let cell = Cell::new(d.var, 0);
        problem.add_unknown(cell);
        let item = match &d.kind {
            DiscKind::Value(row) => Item::Value { cell, row: row.clone() },
            DiscKind::Relation(index) => Item::Relation { cell, index: *index },
            DiscKind::When(when, values) => Item::When { cell, when: *when, values: values.clone() },
        };
        problem.items.push(item);
    }
    let mut full = Matching::empty(problem.items.len(), problem.unknowns.len());
    for i in 0..n {
        full.row_to_col[i] = matching.row_to_col[i];
        full.col_to_row[matching.row_to_col[i] as usize] = i as u32;
    }
    for (i, item) in problem.items.iter().enumerate().skip(n) {
        let Some(cell) = item.target() else { continue };
        let j = problem.column[&cell];
        if full.col_to_row[j as usize] != NONE {
            let name = &sys.dae.vars[cell.var].name;
            let d = &sys.discrete[i - n];
            return Err(Diagnostic::error(
                Stage::Structure,
                d.origin.span.unwrap_or(Span::NONE),
                format!("the model is structurally singular: discrete variable {name} is determined by two equations"),
            )
            .within(d.origin.instance.clone()));
        }
        full.row_to_col[i] = j;
        full.col_to_row[j as usize] = i as u32;
    }
    full.size = problem.items.len();
    problem.edges(sys);
    plan.event = problem.blocks(&full);
    Ok(())
}

/// Items against unknowns, before ordering.
pub(crate) struct Problem {
    pub items: Vec<Item>,
    pub unknowns: Vec<Cell>,
    pub column: FxHashMap<Cell, u32>,
    /// Who reads what: decides the order.
    pub graph: Bipartite,
    /// Who may determine what: definitions determine their own target (or, `x := pre(y)`, the previous value).
    pub candidates: Bipartite,
}

impl Problem {
    pub fn new(sys: &System, items: Vec<Item>, unknowns: Vec<Cell>) -> Problem {
        let column = unknowns.iter().enumerate().map(|(j, &c)| (c, j as u32)).collect();
        let mut p = Problem { items, unknowns, column, graph: Bipartite::default(), candidates: Bipartite::default() };
        p.edges(sys);
        p
    }

    pub fn add_unknown(&mut self, cell: Cell) {
        if !self.column.contains_key(&cell) {
            self.column.insert(cell, self.unknowns.len() as u32);
            self.unknowns.push(cell);
        }
    }

    /// Rebuilds the incidence graph.
    pub fn edges(&mut self, sys: &System) {
        let rows: Vec<Vec<u32>> = self
            .items
            .iter()
            .map(|item| {
                let mut cols: Vec<u32> = item
                    .reads(sys)
                    .iter()
                    .chain(item.target().iter())
                    .filter_map(|c| self.column.get(c).copied())
                    .collect();
                cols.sort_unstable();
                cols.dedup();
                cols
            })
            .collect();
        let candidates: Vec<Vec<u32>> = self
            .items
            .iter()
            .zip(&rows)
            .map(|(item, all)| match item {
                Item::Residual { .. } => all.clone(),
                Item::Value { cell, row } => {
                    // `x := pre(y)` may also give pre(y) its value.
                    let previous = match (&*row.args, sys.dae.pool.node(row.template)) {
                        ([Operand::Pre { var }], saltus_expr::Node::Hole(0)) => self.column.get(&Cell::pre(*var)),
                        _ => None,
                    };
                    self.column.get(cell).into_iter().chain(previous).copied().collect()
                }
                other => other.target().and_then(|c| self.column.get(&c).copied()).into_iter().collect(),
            })
            .collect();
        self.graph = Bipartite::from_rows(self.unknowns.len(), &rows);
        self.candidates = Bipartite::from_rows(self.unknowns.len(), &candidates);
    }

    /// Cost class of solving item i for column j.
    pub fn class(&self, sys: &mut System, ops: &mut RowOps, i: usize, j: u32) -> u8 {
        let cell = self.unknowns[j as usize];
        match &self.items[i] {
            Item::Residual { row, .. } => {
                let ks: Vec<usize> = (0..row.args.len()).filter(|&k| Cell::of(row.args[k]) == Some(cell)).collect();
                if ks.len() != 1 {
                    return 4;
                }
                match ops.classify(&mut sys.dae, row, ks[0]) {
                    Coefficient::Unit => 0,
                    Coefficient::Constant => 1,
                    Coefficient::Parameter => 2,
                    Coefficient::Varying => 3,
                    Coefficient::Nonlinear | Coefficient::Absent => 4,
                }
            }
            item => u8::from(item.target() != Some(cell)) * 5,
        }
    }

    /// A maximum matching that prefers easily solved pairs.
    pub fn matching(&self, sys: &mut System, ops: &mut RowOps) -> Matching {
        let classes: Vec<u8> = self.candidates.edges().map(|(_, i, j)| self.class(sys, ops, i as usize, j)).collect();
        weighted_matching(&self.candidates, |e| classes[e])
    }

    /// Blocks in evaluation order; unmatched items are left out.
    pub fn blocks(&self, m: &Matching) -> Sequence {
        let order = block_order(&self.graph, m);
        let blocks = order
            .into_iter()
            .filter_map(|rows| {
                let items: Vec<usize> = rows.iter().map(|&i| i as usize).filter(|&i| m.row_to_col[i] != NONE).collect();
                let unknowns = items.iter().map(|&i| self.unknowns[m.row_to_col[i] as usize]).collect();
                (!items.is_empty()).then_some(Block { items, unknowns })
            })
            .collect();
        Sequence { items: self.items.clone(), blocks }
    }
}

fn mode_suffix(sys: &System, modes: &Modes, key: &ModeKey) -> String {
    if modes.keyed.is_empty() { String::new() } else { format!(" in the mode {}", key_text(sys, modes, key)) }
}

fn list(names: &[String], max: usize) -> String {
    let mut s = names.iter().take(max).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > max {
        s.push_str(&format!(", … ({} in all)", names.len()));
    }
    s
}

fn explain_singular(
    sys: &System,
    modes: &Modes,
    key: &ModeKey,
    rows: &[(usize, Row)],
    vars: &[VarId],
    s: &Singular,
) -> Diagnostic {
    let names =
        |cols: &[u32]| -> Vec<String> { cols.iter().map(|&j| sys.dae.vars[vars[j as usize]].name.clone()).collect() };
    let over: Vec<String> = s.parts.over_rows.iter().map(|&i| equation_text(&sys.dae, &rows[i as usize].1)).collect();
    let mut message = format!(
        "the model is structurally singular{}: {} equations for {} unknowns",
        mode_suffix(sys, modes, key),
        rows.len(),
        vars.len()
    );
    let mut hints = Vec::new();
    if !s.parts.under_cols.is_empty() {
        message.push_str(&format!("; not determined: {}", list(&names(&s.parts.under_cols), 8)));
        hints.push(format!("an equation is missing for one of: {}", list(&names(&s.parts.under_cols), 8)));
    }
    if !over.is_empty() {
        message.push_str(&format!("; determined more than once: {}", list(&names(&s.parts.over_cols), 8)));
        hints.push(format!("one of these equations is too many: {}", list(&over, 6)));
    }
    let first = s.parts.over_rows.first().or(s.parts.under_rows.first()).map(|&i| rows[i as usize].0);
    let origin = first.map(|i| &sys.equations[i].origin);
    let span = origin
        .and_then(|o| o.span)
        .or_else(|| s.parts.under_cols.first().and_then(|&j| sys.dae.vars[vars[j as usize]].origin.span));
    let mut d = Diagnostic::error(Stage::Structure, span.unwrap_or(Span::NONE), message);
    if let Some(o) = origin {
        d = d.within(o.instance.clone());
    }
    for &i in s.parts.over_rows.iter().skip(1).take(5) {
        if let Some(span) = sys.equations[rows[i as usize].0].origin.span {
            d = d.label(span, "against this equation");
        }
    }
    d.hints = hints;
    d
}

fn explain_unmatched(sys: &System, modes: &Modes, key: &ModeKey, p: &Problem, m: &Matching) -> Diagnostic {
    let cols: Vec<String> = m.free_cols().map(|j| sys.dae.vars[p.unknowns[j as usize].var].name.clone()).collect();
    let rows: Vec<String> = m
        .free_rows()
        .filter_map(|i| match &p.items[i as usize] {
            Item::Residual { row, .. } => Some(equation_text(&sys.dae, row)),
            _ => None,
        })
        .collect();
    let span = m.free_rows().find_map(|i| match &p.items[i as usize] {
        Item::Residual { eq, .. } => sys.equations.get(*eq).and_then(|e| e.origin.span),
        _ => None,
    });
    Diagnostic::error(
        Stage::Structure,
        span.unwrap_or(Span::NONE),
        format!(
            "no order of evaluation{}: not determined: {}; equations left over: {}",
            mode_suffix(sys, modes, key),
            list(&cols, 8),
            list(&rows, 8)
        ),
    )
}
