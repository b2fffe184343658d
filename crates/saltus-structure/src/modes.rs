//! Which conditions are part of the mode key, and the equations of a given mode.
//!
//! If-equations whose branches hold equally many equations are merged row by row into conditionals first. A condition
//! then enters the key only if some of its values break the transversal of the union beyond repair on tight edges: only
//! then do offsets (and with them states, index, unknowns) differ.
//!
//! A key is a path in a decision tree: which condition matters next may depend on the values of those before it. With
//! `if a then (if b then … end if) else … end if` the keys are (a, b), (a, not b) and (not a).

use crate::combine::{combinations, combine};
use crate::influence::{condition_holes, influential, terms};
use crate::parts::{Parts, blocks};
use crate::rows::{RowOps, tidy};
use crate::sums::ModeSums;
use crate::system::{DiscEq, DiscKind, Merged, Role, SysEq, System};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_dae::{HybridDae, Operand, Row, VarId, VarType};
use saltus_expr::ExprId;
use saltus_graph::{
    Augmenter, Bdd, Bdds, Bipartite, Matching, NONE, Offsets, Signature, block_order, hopcroft_karp_from,
    modal_matching, sigma_method,
};

/// Values of the conditions on a path of the decision tree, see [`Modes::conditions`].
pub type ModeKey = Vec<bool>;

/// The mode structure of a system: the part of the decision tree that was looked at so far.
#[derive(Clone, Debug, Default)]
pub struct Modes {
    /// Per path: which conditions matter next (none: the key is complete).
    next: FxHashMap<ModeKey, Deciding>,
    /// What was planned, part by part.
    pub parts: std::cell::RefCell<Parts>,
}

/// What conditions do to the structure at one point of the decision tree.
#[derive(Clone, Debug, Default)]
struct Deciding {
    /// Their values lead to different plans.
    keyed: Vec<VarId>,
    /// No value of theirs has a plan of its own, but some leave the equations without any: one plan serves all values,
    /// and where the equations still agree (two pipes at rest) what they leave open stays as it is.
    suspect: Vec<VarId>,
}

impl Modes {
    /// The condition variables of a key, in its order.
    pub fn conditions(&self, key: &[bool]) -> Vec<VarId> {
        let mut out: Vec<VarId> = Vec::new();
        while out.len() < key.len() {
            match self.next.get(&key[..out.len()]) {
                Some(more) if !more.keyed.is_empty() => out.extend(&more.keyed),
                _ => break,
            }
        }
        out.truncate(key.len());
        out
    }

    /// The values a key gives to its condition variables.
    pub fn values(&self, key: &[bool]) -> FxHashMap<VarId, bool> {
        self.conditions(key).into_iter().zip(key.iter().copied()).collect()
    }

    /// The conditions that matter after the path `key`; none if it is complete.
    pub fn next(&mut self, sys: &mut System, ops: &mut RowOps, key: &[bool]) -> Vec<VarId> {
        if let Some(next) = self.next.get(key) {
            return next.keyed.clone();
        }
        let next = undecided(sys, ops, &self.values(key));
        let keyed = next.keyed.clone();
        self.next.insert(key.to_vec(), next);
        keyed
    }

    /// Conditions outside the complete key `key` some values of which leave the equations structurally singular.
    pub fn suspects(&self, key: &[bool]) -> &[VarId] {
        self.next.get(key).map_or(&[], |d| &d.suspect)
    }

    /// The key under which the conditions have the values `truth` gives; `None` where it does not know one of them.
    pub fn key(
        &mut self,
        sys: &mut System,
        ops: &mut RowOps,
        truth: &dyn Fn(&System, VarId) -> Option<bool>,
    ) -> Option<ModeKey> {
        let mut key = ModeKey::new();
        loop {
            let next = self.next(sys, ops, &key);
            if next.is_empty() {
                return Some(key);
            }
            for v in next {
                key.push(truth(sys, v)?);
            }
        }
    }
}

/// Merges what can be merged; the decision tree grows as modes are asked for.
pub fn analyse_modes(sys: &mut System) -> Modes {
    merge_groups(sys);
    merge_discrete(sys);
    Modes::default()
}

/// The conditions that decide structure next, when those in `known` have the given values.
fn undecided(sys: &mut System, ops: &mut RowOps, known: &FxHashMap<VarId, bool>) -> Deciding {
    // If-equations in chosen branches: their first condition that is not known to be false.
    let mut out: Vec<VarId> = Vec::new();
    for g in 0..sys.groups.len() {
        let group = &sys.groups[g];
        if !group.structural || !chosen(sys, group.parent, &|v| known.get(&v).copied().unwrap_or(false)) {
            continue;
        }
        if let Some(&c) = group.conditions.iter().find(|c| known.get(c) != Some(&false))
            && !known.contains_key(&c)
            && sys.may_guard(c)
            && !out.contains(&c)
        {
            out.push(c);
        }
    }
    if !out.is_empty() {
        return Deciding { keyed: out, ..Deciding::default() };
    }
    let rows = rows_with(sys, ops, known);
    structural_conditions(sys, ops, &rows)
}

/// Rewrites groups with equally large branches as conditionals; the others are marked structural.
fn merge_groups(sys: &mut System) {
    // Innermost first, so that a merged inner group counts as plain equations of the outer branch.
    let depth = |mut g: usize| {
        let mut n = 0;
        while let Some((p, _)) = sys.groups[g].parent {
            n += 1;
            g = p;
        }
        n
    };
    let definition: FxHashMap<VarId, usize> = sys.discrete.iter().enumerate().map(|(k, d)| (d.var, k)).collect();
    let mut order: Vec<usize> = (0..sys.groups.len()).collect();
    order.sort_by_key(|&g| std::cmp::Reverse(depth(g)));
    for g in order {
        let branches = sys.groups[g].conditions.len() + 1;
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); branches];
        for (i, eq) in sys.equations.iter().enumerate() {
            if let Some((group, b)) = eq.guard
                && group == g
            {
                members[b as usize].push(i);
            }
        }
        let n = members[0].len();
        let inner_structural = sys.groups.iter().any(|h| h.structural && h.parent.is_some_and(|p| p.0 == g));
        let dummy = members.iter().flatten().any(|&i| sys.equations[i].origin.is_dummy());
        if inner_structural || dummy || members.iter().any(|m| m.len() != n) {
            sys.groups[g].structural = true;
            continue;
        }
        if n == 0 {
            continue;
        }
        let parent = sys.groups[g].parent;
        let conditions = sys.groups[g].conditions.clone();
        let tests: Vec<Row> = conditions.iter().map(|&c| test(sys, &definition, c)).collect();
        for k in 0..n {
            // else first, then wrap from the last condition to the first
            let mut row = sys.equations[members[branches - 1][k]].row.clone();
            for (b, test) in tests.iter().enumerate().rev() {
                let branch = sys.equations[members[b][k]].row.clone();
                row = select_by(&mut sys.dae, test, &branch, &row);
            }
            let branch = |i: usize| (sys.equations[i].origin.clone(), sys.equations[i].merged.clone());
            let merged =
                Merged { conditions: conditions.clone(), branches: members.iter().map(|m| branch(m[k])).collect() };
            let at = members[0][k];
            sys.equations[at].row = row;
            sys.equations[at].guard = parent;
            sys.equations[at].merged = Some(Box::new(merged));
        }
        let dead: FxHashSet<usize> = members[1..].iter().flatten().copied().collect();
        let mut i = 0;
        sys.equations.retain(|_| {
            i += 1;
            !dead.contains(&(i - 1))
        });
    }
}

/// What a merged equation tests: the condition variable, or its definition where `noEvent` lets it follow continuous
/// variables between events.
fn test(sys: &mut System, definition: &FxHashMap<VarId, usize>, c: VarId) -> Row {
    let hidden = sys.dae.vars[c].name.starts_with('$');
    match definition.get(&c).filter(|_| hidden).map(|&k| &sys.discrete[k].kind) {
        Some(DiscKind::Value(row)) if continuous_args(sys, row).next().is_some() => row.clone(),
        _ => Row { template: sys.dae.pool.hole(0), args: Box::new([Operand::var(c)]) },
    }
}

/// `if c then a else b` as one row.
pub(crate) fn select(dae: &mut HybridDae, c: VarId, a: &Row, b: &Row) -> Row {
    let test = Row { template: dae.pool.hole(0), args: Box::new([Operand::var(c)]) };
    select_by(dae, &test, a, b)
}

/// The same with a condition of several operands.
fn select_by(dae: &mut HybridDae, c: &Row, a: &Row, b: &Row) -> Row {
    let mut args: Vec<Operand> = Vec::new();
    let mut open = |dae: &mut HybridDae, row: &Row| -> ExprId {
        let base = args.len() as u32;
        args.extend(row.args.iter().copied());
        dae.pool.substitute(row.template, |pool, k| pool.hole(base + k))
    };
    let c = open(dae, c);
    let x = open(dae, a);
    let y = open(dae, b);
    let template = dae.pool.select(c, x, y);
    tidy(dae, &Row { template, args: args.into() })
}

/// Guarded definitions of one discrete variable become one conditional definition; where no branch defines it, it
/// keeps its value.
fn merge_discrete(sys: &mut System) {
    let mut guarded: FxHashMap<VarId, Vec<DiscEq>> = FxHashMap::default();
    let mut order = Vec::new();
    let mut kept = Vec::new();
    for d in std::mem::take(&mut sys.discrete) {
        match (&d.kind, d.guard) {
            (DiscKind::Value(_), Some(_)) => {
                let list = guarded.entry(d.var).or_insert_with(|| {
                    order.push(d.var);
                    Vec::new()
                });
                list.push(d);
            }
            _ => kept.push(d),
        }
    }
    for var in order {
        let list = guarded.remove(&var).unwrap_or_default();
        let h = sys.dae.pool.hole(0);
        let mut row = Row { template: h, args: Box::new([Operand::Pre { var }]) };
        let origin = list[0].origin.clone();
        for d in list.iter().rev() {
            let DiscKind::Value(v) = &d.kind else { continue };
            let Some(mut guard) = d.guard else { continue };
            let mut value = v.clone();
            loop {
                let g = sys.groups[guard.0].clone();
                for (i, &c) in g.conditions.iter().enumerate().take(guard.1 as usize + 1).rev() {
                    value = if i == guard.1 as usize {
                        select(&mut sys.dae, c, &value, &row)
                    } else {
                        select(&mut sys.dae, c, &row, &value)
                    };
                }
                match g.parent {
                    Some(p) => guard = p,
                    None => break,
                }
            }
            row = value;
        }
        kept.push(DiscEq { var, kind: DiscKind::Value(row), guard: None, origin });
    }
    sys.discrete = kept;
}

/// The columns (variable, order) of a row that are solved for continuously.
pub fn continuous_args(sys: &System, row: &Row) -> impl Iterator<Item = (VarId, u8)> {
    row.args.iter().filter_map(|&a| match a {
        Operand::Var { var, order, .. } if sys.role(var) == Role::Continuous => Some((var, order)),
        _ => None,
    })
}

/// The row with some Boolean variables fixed.
pub fn specialise(sys: &mut System, ops: &mut RowOps, row: &Row, value: impl Fn(VarId) -> Option<bool>) -> Row {
    let args: Box<[Operand]> = row
        .args
        .iter()
        .map(|&a| match a {
            Operand::Var { var, order: 0, neg: false } => match value(var) {
                Some(v) => Operand::Const(f64::from(v)),
                None => a,
            },
            _ => a,
        })
        .collect();
    if args == row.args {
        return row.clone();
    }
    let folded = ops.fold(&mut sys.dae, &Row { template: row.template, args }, |_| true);
    tidy(&mut sys.dae, &folded)
}

/// Conditions tried in all combinations inside one block; with more, all at once as decision diagrams.
const COMBINATIONS: usize = 10;

/// Nodes of decision diagrams made for one block, and specialised rows, before conditions are tried alone and in pairs only.
const MOST_NODES: usize = 200_000;
const MOST_ROWS: usize = 1 << 13;

/// Broken modes of a block that are looked at one by one.
const MOST_BROKEN: usize = 64;

/// Rows looked at in one block to tell singular modes from those with a plan of their own.
const WORK: usize = 4_000_000;

/// Boolean conditions of the rows that decide structure.
///
/// The union of all branches has offsets and a block triangular form on tight edges; a mode keeps the offsets exactly if
/// every diagonal block keeps a transversal. So blocks are looked at one by one, with the conditions that take edges
/// from inside them.
fn structural_conditions(sys: &mut System, ops: &mut RowOps, rows: &[(usize, Row)]) -> Deciding {
    let conditions: Vec<Vec<VarId>> =
        rows.iter().map(|(_, row)| conditions_among(sys, row, condition_holes(&sys.dae.pool, row.template))).collect();
    if conditions.iter().all(Vec::is_empty) {
        return Deciding::default();
    }
    let mut columns: FxHashMap<VarId, u32> = FxHashMap::default();
    let entries: Vec<Vec<(u32, i32)>> = rows
        .iter()
        .map(|(_, row)| {
            continuous_args(sys, row)
                .map(|(v, o)| {
                    let n = columns.len() as u32;
                    (*columns.entry(v).or_insert(n), i32::from(o))
                })
                .collect()
        })
        .collect();
    let signature = Signature::from_rows(columns.len(), &entries);
    let Ok(offsets) = sigma_method(&signature) else {
        // No union structure to compare with: every condition that changes incidence decides structure.
        let mut out: Vec<VarId> = Vec::new();
        for ((_, row), _) in rows.iter().zip(&conditions).filter(|(_, c)| !c.is_empty()) {
            let column =
                |k: u32| matches!(row.args[k as usize], Operand::Var { var, .. } if columns.contains_key(&var));
            let able = conditions_among(sys, row, influential(&sys.dae.pool, row.template, &column));
            out.extend(able.into_iter().filter(|&v| loses_edges(sys, ops, row, v)));
        }
        out.sort_unstable();
        out.dedup();
        return Deciding { keyed: out, ..Deciding::default() };
    };
    let tight = signature.tight(&offsets.c, &offsets.d);
    let pattern = signature.pattern();
    let mut out = Deciding::default();
    for block in block_order(&tight, &offsets.transversal) {
        if block.iter().all(|&i| conditions[i as usize].is_empty()) {
            continue;
        }
        let mut b = TightBlock::new(sys, rows, &conditions, &columns, &offsets, &tight, &block);
        let deciding = b.deciding(sys, ops);
        let whole = Whole { rows, conditions: &conditions, columns: &columns, pattern: &pattern, offsets: &offsets };
        // Beyond a bound on work every one of them gets its plan.
        let much = b.broken.len() * rows.len() > WORK;
        if much || b.broken.iter().any(|values| !whole.singular(sys, ops, values)) {
            out.keyed.extend(deciding);
        } else {
            out.suspect.extend(deciding);
        }
    }
    hidden_conditions(sys, ops, rows, &conditions, &mut out.keyed);
    combining_conditions(sys, ops, rows, &conditions, &mut out.keyed);
    // What has a plan of its own in some block is known there; elsewhere nothing is left to suspect.
    for list in [&mut out.keyed, &mut out.suspect] {
        list.sort_unstable();
        list.dedup();
    }
    let keyed = &out.keyed;
    out.suspect.retain(|v| keyed.binary_search(v).is_err());
    out
}

/// Conditions one value of which makes an equation say something about differentiated variables alone, together with others: a
/// capacitor between two nodes that a diode joins. Structure does not see it.
fn hidden_conditions(
    sys: &mut System,
    ops: &mut RowOps,
    rows: &[(usize, Row)],
    conditions: &[Vec<VarId>],
    keyed: &mut Vec<VarId>,
) {
    let mut sums: Option<ModeSums> = None;
    for (k, (_, row)) in rows.iter().enumerate() {
        if conditions[k].is_empty() || conditions[k].len() > MOST_HIDING {
            continue;
        }
        for &c in &conditions[k] {
            for value in [true, false] {
                if keyed.contains(&c) {
                    continue;
                }
                let special = specialise(sys, ops, row, |v| (v == c).then_some(value));
                if special == *row {
                    continue;
                }
                let sums = sums.get_or_insert_with(|| ModeSums::new(sys, rows, |j| !conditions[j].is_empty()));
                if !sums.hidden(sys, std::iter::once((k, &special))).is_empty() {
                    keyed.push(c);
                }
            }
        }
    }
}

/// Conditions on whose values it depends what equations say together ([`combine`]).
fn combining_conditions(
    sys: &mut System,
    ops: &mut RowOps,
    rows: &[(usize, Row)],
    conditions: &[Vec<VarId>],
    keyed: &mut Vec<VarId>,
) {
    for part in blocks(sys, rows).into_iter().flatten() {
        let mut all: Vec<VarId> = part.rows.iter().flat_map(|&i| conditions[i].iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all.retain(|v| !keyed.contains(v));
        let n = all.len();
        // One equation alone says nothing together, and what takes too long is not found out.
        let size: usize = part.rows.iter().map(|&i| rows[i].1.args.len()).sum();
        if n == 0 || !ops.combines || part.rows.len() < 2 || n * size > MOST_COMBINING {
            continue;
        }
        let mut said = |values: &[(VarId, bool)]| {
            let value = |v: VarId| values.iter().find(|x| x.0 == v).map(|x| x.1);
            let special = part.rows.iter().map(|&i| (rows[i].0, specialise(sys, ops, &rows[i].1, value))).collect();
            combinations(sys, ops, special, &part.own)
        };
        if n <= MOST_JOINT {
            let value = |mask: usize| -> Vec<(VarId, bool)> {
                all.iter().enumerate().map(|(p, &v)| (v, mask >> p & 1 == 1)).collect()
            };
            let found: Vec<_> = (0..1usize << n).map(|mask| said(&value(mask))).collect();
            let matters = |p: usize| (0..found.len()).any(|mask| found[mask] != found[mask ^ 1 << p]);
            keyed.extend((0..n).filter(|&p| matters(p)).map(|p| all[p]));
        } else {
            keyed.extend(all.iter().filter(|&&v| said(&[(v, true)]) != said(&[(v, false)])));
        }
    }
}

/// Conditions of a part times what its equations read, up to which each is tried.
const MOST_COMBINING: usize = 200_000;

/// Conditions of a part that are tried together.
const MOST_JOINT: usize = 5;

/// Conditions of a row that are tried one by one.
const MOST_HIDING: usize = 4;

/// The Boolean variables that these holes of a row stand for and that may guard equations.
fn conditions_among(sys: &System, row: &Row, holes: Vec<u32>) -> Vec<VarId> {
    let guard = |k: u32| match row.args[k as usize] {
        Operand::Var { var, order: 0, .. } if sys.dae.vars[var].ty == VarType::Boolean && sys.may_guard(var) => {
            Some(var)
        }
        _ => None,
    };
    let mut vars: Vec<VarId> = holes.into_iter().filter_map(guard).collect();
    vars.sort_unstable();
    vars.dedup();
    vars
}

/// The whole union, to see whether values of conditions leave any transversal at all.
struct Whole<'a> {
    rows: &'a [(usize, Row)],
    conditions: &'a [Vec<VarId>],
    columns: &'a FxHashMap<VarId, u32>,
    pattern: &'a Bipartite,
    offsets: &'a Offsets,
}

impl Whole<'_> {
    fn singular(&self, sys: &mut System, ops: &mut RowOps, values: &[(VarId, bool)]) -> bool {
        let n = self.rows.len();
        let value = |v: VarId| values.iter().find(|x| x.0 == v).map(|x| x.1);
        let lists: Vec<Vec<u32>> = (0..n)
            .map(|i| {
                if !self.conditions[i].iter().any(|&c| value(c).is_some()) {
                    return self.pattern.row(i).to_vec();
                }
                let row = specialise(sys, ops, &self.rows[i].1, value);
                continuous_args(sys, &row).filter_map(|(v, _)| self.columns.get(&v).copied()).collect()
            })
            .collect();
        let g = Bipartite::from_rows(self.pattern.n_cols(), &lists);
        let m = hopcroft_karp_from(&g, self.offsets.transversal.clone());
        m.size < n
    }
}

/// A diagonal block of the union on tight edges, and what conditions do to it.
struct TightBlock<'a> {
    rows: Vec<&'a Row>,
    /// Conditions of each row that can take tight edges from it.
    conditions: Vec<Vec<VarId>>,
    columns: &'a FxHashMap<VarId, u32>,
    offsets: &'a Offsets,
    /// Row of the block ⇒ row of the system.
    row_of: Vec<usize>,
    /// Column of the system ⇒ column of the block.
    local: FxHashMap<u32, u32>,
    /// All tight edges inside.
    union: Vec<Vec<u32>>,
    /// Tight edges of a row for values of its conditions (`None`: both).
    edges: FxHashMap<(usize, Vec<Option<bool>>), Vec<u32>>,
    /// Values found that break the transversal.
    broken: Vec<Vec<(VarId, bool)>>,
}

impl<'a> TightBlock<'a> {
    fn new(
        sys: &System,
        rows: &'a [(usize, Row)],
        conditions: &[Vec<VarId>],
        columns: &'a FxHashMap<VarId, u32>,
        offsets: &'a Offsets,
        tight: &Bipartite,
        block: &[u32],
    ) -> TightBlock<'a> {
        let row_of: Vec<usize> = block.iter().map(|&i| i as usize).collect();
        let local: FxHashMap<u32, u32> =
            row_of.iter().enumerate().map(|(k, &i)| (offsets.transversal.row_to_col[i], k as u32)).collect();
        let union =
            row_of.iter().map(|&i| tight.row(i).iter().filter_map(|j| local.get(j).copied()).collect()).collect();
        let able = |&i: &usize| {
            let row = &rows[i].1;
            if conditions[i].is_empty() {
                return Vec::new();
            }
            let column = |k: u32| match row.args[k as usize] {
                Operand::Var { var, order, .. } => columns.get(&var).is_some_and(|j| {
                    offsets.d[*j as usize] - offsets.c[i] == i32::from(order) && local.contains_key(j)
                }),
                _ => false,
            };
            conditions_among(sys, row, influential(&sys.dae.pool, row.template, &column))
        };
        TightBlock {
            rows: row_of.iter().map(|&i| &rows[i].1).collect(),
            conditions: row_of.iter().map(able).collect(),
            columns,
            offsets,
            row_of,
            local,
            union,
            edges: FxHashMap::default(),
            broken: Vec::new(),
        }
    }

    /// Tight edges of row k when its conditions have these values.
    fn edges_of(&mut self, sys: &mut System, ops: &mut RowOps, k: usize, values: &[Option<bool>]) -> Vec<u32> {
        if values.iter().all(Option::is_none) {
            return self.union[k].clone();
        }
        let key = (k, values.to_vec());
        if let Some(e) = self.edges.get(&key) {
            return e.clone();
        }
        let names = &self.conditions[k];
        let row = specialise(sys, ops, self.rows[k], |v| names.binary_search(&v).ok().and_then(|p| values[p]));
        let e = self.tight_edges(sys, k, &row);
        self.edges.insert(key, e.clone());
        e
    }

    /// Whether the block loses its transversal under these values.
    fn breaks(&mut self, sys: &mut System, ops: &mut RowOps, value: &dyn Fn(VarId) -> Option<bool>) -> bool {
        let n = self.rows.len();
        let mut lists = Vec::with_capacity(n);
        for k in 0..n {
            let values: Vec<Option<bool>> = self.conditions[k].iter().map(|&c| value(c)).collect();
            lists.push(self.edges_of(sys, ops, k, &values));
        }
        let g = Bipartite::from_rows(n, &lists);
        // The union's transversal runs along the diagonal; repair what was lost.
        let mut m = Matching::empty(n, n);
        for (k, list) in lists.iter().enumerate() {
            if list.contains(&(k as u32)) {
                m.row_to_col[k] = k as u32;
                m.col_to_row[k] = k as u32;
                m.size += 1;
            }
        }
        let mut augmenter = Augmenter::new();
        (0..n).any(|k| m.row_to_col[k] == NONE && !augmenter.augment(&g, &mut m, k as u32))
    }

    /// The same for very many conditions: edges exist in sets of modes, and the block is matched in all modes at once. `None`
    /// beyond a bound on work.
    fn deciding_in_all_modes(&mut self, sys: &mut System, ops: &mut RowOps, all: &[VarId]) -> Option<Vec<VarId>> {
        let mut bdds = Bdds::default();
        let n = self.rows.len();
        let mut edges: Vec<Vec<(u32, Bdd)>> = Vec::with_capacity(n);
        let mut left = MOST_ROWS;
        for k in 0..n {
            let names: FxHashSet<VarId> =
                self.conditions[k].iter().copied().filter(|v| all.binary_search(v).is_ok()).collect();
            // Very many conditions of one row stand in terms of a sum; that terms might cancel is not seen then.
            let whole = self.rows[k].clone();
            let pieces: Vec<Row> = if names.len() > COMBINATIONS {
                let parts = terms(&sys.dae.pool, whole.template);
                let piece = |template: ExprId| tidy(&mut sys.dae, &Row { template, args: whole.args.clone() });
                parts.into_iter().map(piece).collect()
            } else {
                vec![whole]
            };
            let mut list: Vec<(u32, Bdd)> = Vec::new();
            for piece in &pieces {
                let mut todo = vec![(Vec::<(VarId, bool)>::new(), Bdd::TRUE)];
                while let Some((values, when)) = todo.pop() {
                    left = left.checked_sub(1)?;
                    let row = specialise(sys, ops, piece, |v| values.iter().find(|x| x.0 == v).map(|x| x.1));
                    let open = condition_holes(&sys.dae.pool, row.template).into_iter().find_map(|h| {
                        row.args[h as usize]
                            .variable()
                            .filter(|v| names.contains(v) && !values.iter().any(|x| x.0 == *v))
                    });
                    if let Some(v) = open {
                        let up = bdds.var(all.binary_search(&v).ok()? as u32);
                        for (value, half) in [(true, bdds.and(when, up)), (false, bdds.minus(when, up))] {
                            let mut values = values.clone();
                            values.push((v, value));
                            todo.push((values, half));
                        }
                        continue;
                    }
                    for j in self.tight_edges(sys, k, &row) {
                        match list.iter_mut().find(|e| e.0 == j) {
                            Some(e) => e.1 = bdds.or(e.1, when),
                            None => list.push((j, when)),
                        }
                    }
                }
            }
            edges.push(list);
        }
        let whole = vec![Bdd::TRUE; n];
        let matched = modal_matching(&mut bdds, &whole, &whole, &edges, MOST_NODES);
        if matched.examined < n {
            return None;
        }
        let mut broken = Bdd::FALSE;
        for f in &matched.rows {
            broken = bdds.or(broken, *f);
        }
        let support: Vec<VarId> = bdds.support(broken).into_iter().map(|x| all[x as usize]).collect();
        let always = broken == Bdd::TRUE;
        while let Some(cube) = bdds.cube(broken).filter(|_| self.broken.len() < MOST_BROKEN) {
            let mut modes = Bdd::TRUE;
            for &(x, up) in &cube {
                let v = bdds.var(x);
                modes = if up { bdds.and(modes, v) } else { bdds.minus(modes, v) };
            }
            self.broken.push(cube.into_iter().map(|(x, up)| (all[x as usize], up)).collect());
            broken = bdds.minus(broken, modes);
        }
        Some(if always { all.to_vec() } else { support })
    }

    /// Tight edges of row k in the form it has in some mode.
    fn tight_edges(&self, sys: &System, k: usize, row: &Row) -> Vec<u32> {
        let (c, d) = (self.offsets.c[self.row_of[k]], &self.offsets.d);
        let mut e: Vec<u32> = continuous_args(sys, row)
            .filter_map(|(v, o)| {
                let j = *self.columns.get(&v)?;
                (d[j as usize] - c == i32::from(o)).then(|| self.local.get(&j).copied()).flatten()
            })
            .collect();
        e.sort_unstable();
        e.dedup();
        e
    }

    /// The conditions whose value decides whether the block keeps its transversal.
    fn deciding(&mut self, sys: &mut System, ops: &mut RowOps) -> Vec<VarId> {
        // Only conditions that take away a tight edge can matter.
        let mut all: Vec<VarId> = self.conditions.iter().flat_map(|c| c.iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        let mut relevant: FxHashSet<VarId> = FxHashSet::default();
        for k in 0..self.rows.len() {
            let names = self.conditions[k].clone();
            if names.len() > COMBINATIONS {
                relevant.extend(&names);
                continue;
            }
            let lists: Vec<Vec<u32>> = (0..1usize << names.len())
                .map(|mask| {
                    let values: Vec<Option<bool>> = (0..names.len()).map(|p| Some(mask >> p & 1 == 1)).collect();
                    self.edges_of(sys, ops, k, &values)
                })
                .collect();
            let matters = |p: usize| (0..lists.len()).any(|mask| lists[mask] != lists[mask ^ 1 << p]);
            relevant.extend((0..names.len()).filter(|&p| matters(p)).map(|p| names[p]));
        }
        all.retain(|v| relevant.contains(v));
        let n = all.len();
        if n == 0 {
            return Vec::new();
        }
        if n <= COMBINATIONS {
            let bad: Vec<bool> = (0..1usize << n)
                .map(|mask| self.breaks(sys, ops, &|v| all.iter().position(|&c| c == v).map(|p| mask >> p & 1 == 1)))
                .collect();
            let values = |mask: usize| all.iter().enumerate().map(|(p, &v)| (v, mask >> p & 1 == 1)).collect();
            self.broken = (0..bad.len()).filter(|&mask| bad[mask]).map(values).collect();
            if bad.iter().all(|b| *b) {
                return all;
            }
            return (0..n)
                .filter(|&p| (0..bad.len()).any(|mask| bad[mask] != bad[mask ^ 1 << p]))
                .map(|p| all[p])
                .collect();
        }
        if let Some(found) = self.deciding_in_all_modes(sys, ops, &all) {
            return found;
        }
        // Too many modes to look at all of them: the extreme ones, a network's switches all open or all closed, tell whether any matters.
        for b in [true, false] {
            if self.breaks(sys, ops, &|c| all.binary_search(&c).ok().map(|_| b)) {
                self.broken.push(all.iter().map(|&v| (v, b)).collect());
            }
        }
        if !self.broken.is_empty() {
            return all;
        }
        let mut out: Vec<VarId> = Vec::new();
        for &v in &all {
            for b in [true, false] {
                if self.breaks(sys, ops, &|c| (c == v).then_some(b)) {
                    out.push(v);
                    self.broken.push(vec![(v, b)]);
                }
            }
        }
        let alone: FxHashSet<VarId> = out.iter().copied().collect();
        let rest: Vec<VarId> = all.into_iter().filter(|v| !alone.contains(v)).take(48).collect();
        for (p, &v) in rest.iter().enumerate() {
            for &w in &rest[p + 1..] {
                for mask in 0..4u8 {
                    let values = [(v, mask & 1 == 1), (w, mask & 2 == 2)];
                    if self.breaks(sys, ops, &|c| values.iter().find(|x| x.0 == c).map(|x| x.1)) {
                        out.extend([v, w]);
                        self.broken.push(values.to_vec());
                    }
                }
            }
        }
        out.sort_unstable();
        out.dedup();
        out
    }
}

fn loses_edges(sys: &mut System, ops: &mut RowOps, row: &Row, var: VarId) -> bool {
    let all: FxHashSet<(VarId, u8)> = continuous_args(sys, row).collect();
    [true, false].into_iter().any(|value| {
        let r = specialise(sys, ops, row, |v| (v == var).then_some(value));
        let some: FxHashSet<(VarId, u8)> = continuous_args(sys, &r).collect();
        some.len() < all.len()
    })
}

/// Whether a guard's branch is the chosen one when `truth` gives the conditions.
pub fn chosen(sys: &System, guard: Option<(usize, u32)>, truth: &dyn Fn(VarId) -> bool) -> bool {
    let Some((g, branch)) = guard else { return true };
    let group = &sys.groups[g];
    let selected = group.conditions.iter().position(|&c| truth(c)).unwrap_or(group.conditions.len());
    selected == branch as usize && chosen(sys, group.parent, truth)
}

/// The continuous equations of a mode: (index into [`System::equations`], row).
pub fn active_rows(sys: &mut System, ops: &mut RowOps, modes: &Modes, key: &ModeKey) -> Vec<(usize, Row)> {
    rows_with(sys, ops, &modes.values(key))
}

/// The continuous equations when some conditions have the given values.
pub(crate) fn rows_with(sys: &mut System, ops: &mut RowOps, value: &FxHashMap<VarId, bool>) -> Vec<(usize, Row)> {
    let (mut out, own) = rows_as_written(sys, ops, value);
    if !own.is_empty() {
        let mut sums = ModeSums::new(sys, &out, |k| own.contains(&out[k].0));
        let rows = out.iter().enumerate().filter(|(_, r)| own.contains(&r.0)).map(|(k, r)| (k, &r.1));
        for (k, row) in sums.hidden(sys, rows) {
            out[k].1 = row;
        }
    }
    combine(sys, ops, &mut out);
    out
}

/// The same before what they say together is made plain, and which of them hold in this mode, not in all of them.
pub(crate) fn rows_as_written(
    sys: &mut System,
    ops: &mut RowOps,
    value: &FxHashMap<VarId, bool>,
) -> (Vec<(usize, Row)>, FxHashSet<usize>) {
    let mut out = Vec::new();
    let mut own: FxHashSet<usize> = FxHashSet::default();
    for i in 0..sys.equations.len() {
        let SysEq { row, guard, .. } = sys.equations[i].clone();
        if guard.is_some() && !chosen(sys, guard, &|v| value.get(&v).copied().unwrap_or(false)) {
            continue;
        }
        if value.is_empty() {
            out.push((i, row));
            continue;
        }
        let special = specialise(sys, ops, &row, |v| value.get(&v).copied());
        if guard.is_some() || special != row {
            own.insert(i);
        }
        out.push((i, special));
    }
    needed_dummies(sys, &mut out);
    (out, own)
}

/// Leaves out the dummy equations (MODRIO 3.3.2) that the others can do without: each is kept if it determines something
/// that the equations before it leave open.
fn needed_dummies(sys: &System, rows: &mut Vec<(usize, Row)>) {
    let dummy = |i: usize| sys.equations[i].origin.is_dummy();
    if !rows.iter().any(|r| dummy(r.0)) {
        return;
    }
    let mut columns: FxHashMap<VarId, u32> = FxHashMap::default();
    for (_, row) in rows.iter().filter(|r| !dummy(r.0)) {
        for (v, _) in continuous_args(sys, row) {
            let n = columns.len() as u32;
            columns.entry(v).or_insert(n);
        }
    }
    let lists: Vec<Vec<u32>> = rows
        .iter()
        .map(|(_, row)| continuous_args(sys, row).filter_map(|(v, _)| columns.get(&v).copied()).collect())
        .collect();
    let graph = Bipartite::from_rows(columns.len(), &lists);
    let mut matching = Matching::empty(rows.len(), columns.len());
    let mut augmenter = Augmenter::new();
    let (mut required, mut dummies): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    for (k, r) in rows.iter().enumerate() {
        if dummy(r.0) { dummies.push(k) } else { required.push(k) }
    }
    for k in required {
        augmenter.augment(&graph, &mut matching, k as u32);
    }
    let gone: FxHashSet<usize> =
        dummies.into_iter().filter(|&k| !augmenter.augment(&graph, &mut matching, k as u32)).collect();
    let mut k = 0;
    rows.retain(|_| {
        k += 1;
        !gone.contains(&(k - 1))
    });
}

/// A mode key as text: `engaged = true, s23 = false`.
pub fn key_text(sys: &System, modes: &Modes, key: &ModeKey) -> String {
    let conditions = modes.conditions(key);
    conditions.iter().zip(key).map(|(&v, b)| format!("{} = {b}", sys.condition_text(v))).collect::<Vec<_>>().join(", ")
}
