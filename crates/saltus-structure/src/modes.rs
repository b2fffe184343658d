//! Which conditions are part of the mode key, and the equations of a given mode.
//!
//! If-equations whose branches hold equally many equations are merged row by row into conditionals first. A condition
//! then enters the key only if, for one of its values, the edges it takes away break the transversal of the union
//! beyond repair on tight edges: only then do offsets (and with them states, index, unknowns) differ.

use crate::rows::{RowOps, tidy};
use crate::system::{DiscEq, DiscKind, Role, SysEq, System};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_dae::{HybridDae, Operand, Row, VarId, VarType};
use saltus_expr::{ExprId, Node, Pool};
use saltus_graph::{Augmenter, Bipartite, Signature, sigma_method};

/// Values of the keyed condition variables, in the order of [`Modes::keyed`].
pub type ModeKey = Vec<bool>;

/// The mode structure of a system.
#[derive(Clone, Debug, Default)]
pub struct Modes {
    /// Condition variables that form the key.
    pub keyed: Vec<VarId>,
}

/// Merges what can be merged and finds the keyed conditions.
pub fn analyse_modes(sys: &mut System, ops: &mut RowOps) -> Modes {
    merge_groups(sys);
    merge_discrete(sys);
    let mut keyed: Vec<VarId> = Vec::new();
    for g in sys.groups.iter().filter(|g| g.structural) {
        for &c in &g.conditions {
            if !keyed.contains(&c) && sys.role(c) == Role::Discrete {
                keyed.push(c);
            }
        }
    }
    keyed.extend(structural_conditions(sys, ops, &keyed));
    Modes { keyed }
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
        if inner_structural || members.iter().any(|m| m.len() != n) {
            sys.groups[g].structural = true;
            continue;
        }
        if n == 0 {
            continue;
        }
        let parent = sys.groups[g].parent;
        let conditions = sys.groups[g].conditions.clone();
        for k in 0..n {
            // else first, then wrap from the last condition to the first
            let mut row = sys.equations[members[branches - 1][k]].row.clone();
            for (b, &c) in conditions.iter().enumerate().rev() {
                let branch = sys.equations[members[b][k]].row.clone();
                row = select(&mut sys.dae, c, &branch, &row);
            }
            let at = members[0][k];
            sys.equations[at].row = row;
            sys.equations[at].guard = parent;
        }
        let dead: FxHashSet<usize> = members[1..].iter().flatten().copied().collect();
        let mut i = 0;
        sys.equations.retain(|_| {
            i += 1;
            !dead.contains(&(i - 1))
        });
    }
}

/// `if c then a else b` as one row.
pub(crate) fn select(dae: &mut HybridDae, c: VarId, a: &Row, b: &Row) -> Row {
    let mut args: Vec<Operand> = vec![Operand::var(c)];
    let mut open = |dae: &mut HybridDae, row: &Row| -> ExprId {
        let base = args.len() as u32;
        args.extend(row.args.iter().copied());
        dae.pool.substitute(row.template, |pool, k| pool.hole(base + k))
    };
    let x = open(dae, a);
    let y = open(dae, b);
    let c = dae.pool.hole(0);
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
pub(crate) fn continuous_args(sys: &System, row: &Row) -> impl Iterator<Item = (VarId, u8)> {
    row.args.iter().filter_map(|&a| match a {
        Operand::Var { var, order, .. } if sys.role(var) == Role::Continuous => Some((var, order)),
        _ => None,
    })
}

/// Boolean variables standing as conditions of conditionals in a template.
fn condition_holes(pool: &Pool, e: ExprId) -> Vec<u32> {
    let mut out = Vec::new();
    pool.visit(e, |_, n| {
        if let Node::If(c, _, _) = n {
            pool.visit(*c, |_, m| {
                if let Node::Hole(k) = m {
                    out.push(*k);
                }
            });
        }
    });
    out.sort_unstable();
    out.dedup();
    out
}

/// The row with some Boolean variables fixed.
pub(crate) fn specialise(sys: &mut System, ops: &mut RowOps, row: &Row, value: impl Fn(VarId) -> Option<bool>) -> Row {
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

fn structural_conditions(sys: &mut System, ops: &mut RowOps, already: &[VarId]) -> Vec<VarId> {
    // Which Boolean conditions stand in which continuous rows?
    let mut rows_of: Vec<(VarId, Vec<usize>)> = Vec::new();
    let mut at: FxHashMap<VarId, usize> = FxHashMap::default();
    for (i, eq) in sys.equations.iter().enumerate() {
        for k in condition_holes(&sys.dae.pool, eq.row.template) {
            if let Operand::Var { var, order: 0, .. } = eq.row.args[k as usize]
                && sys.dae.vars[var].ty == VarType::Boolean
                && sys.role(var) == Role::Discrete
                && !already.contains(&var)
            {
                let slot = *at.entry(var).or_insert_with(|| {
                    rows_of.push((var, Vec::new()));
                    rows_of.len() - 1
                });
                rows_of[slot].1.push(i);
            }
        }
    }
    if rows_of.is_empty() {
        return Vec::new();
    }
    // The union system; unequal branches are represented by their else part.
    let active: Vec<usize> =
        (0..sys.equations.len()).filter(|&i| chosen(sys, sys.equations[i].guard, &|_| false)).collect();
    let position: FxHashMap<usize, usize> = active.iter().enumerate().map(|(p, &i)| (i, p)).collect();
    let mut columns: FxHashMap<VarId, u32> = FxHashMap::default();
    let mut entries: Vec<Vec<(u32, i32)>> = Vec::new();
    for &i in &active {
        let row: Vec<(VarId, u8)> = continuous_args(sys, &sys.equations[i].row).collect();
        entries.push(
            row.into_iter()
                .map(|(v, o)| {
                    let n = columns.len() as u32;
                    (*columns.entry(v).or_insert(n), i32::from(o))
                })
                .collect(),
        );
    }
    let signature = Signature::from_rows(columns.len(), &entries);
    let Ok(offsets) = sigma_method(&signature) else {
        // No union structure to compare with: every condition that changes incidence decides structure.
        return rows_of
            .into_iter()
            .filter(|(v, rows)| rows.iter().any(|&i| loses_edges(sys, ops, i, *v)))
            .map(|(v, _)| v)
            .collect();
    };
    let mut keyed = Vec::new();
    for (var, rows) in rows_of {
        let mut breaks = false;
        for value in [true, false] {
            let mut changed: Vec<(usize, Vec<u32>)> = Vec::new();
            let mut broken = false;
            for &i in &rows {
                let Some(&p) = position.get(&i) else {
                    // In a branch that the union does not show: if it changes incidence, it may decide structure.
                    breaks |= loses_edges(sys, ops, i, var);
                    continue;
                };
                let row = sys.equations[i].row.clone();
                let row = specialise(sys, ops, &row, |v| (v == var).then_some(value));
                let tight: Vec<u32> = continuous_args(sys, &row)
                    .filter_map(|(v, o)| {
                        let j = *columns.get(&v)?;
                        (offsets.d[j as usize] - offsets.c[p] == i32::from(o)).then_some(j)
                    })
                    .collect();
                broken |= !tight.contains(&offsets.transversal.row_to_col[p]);
                changed.push((p, tight));
            }
            if broken && !repairable(&signature, &offsets, &changed) {
                breaks = true;
                break;
            }
        }
        if breaks {
            keyed.push(var);
        }
    }
    // Conditions inside conditions: every combination of one row's conditions must leave it a column.
    for (&i, &p) in &position {
        let row = sys.equations[i].row.clone();
        let conditions: Vec<VarId> = condition_holes(&sys.dae.pool, row.template)
            .into_iter()
            .filter_map(|k| match row.args[k as usize] {
                Operand::Var { var, order: 0, .. } if at.contains_key(&var) => Some(var),
                _ => None,
            })
            .collect();
        if !(2..=5).contains(&conditions.len()) || conditions.iter().all(|v| keyed.contains(v)) {
            continue;
        }
        for mask in 0..1u32 << conditions.len() {
            let value = |mask: u32| {
                move |v: VarId, conditions: &[VarId]| {
                    conditions.iter().position(|&c| c == v).map(|k| mask >> k & 1 == 1)
                }
            };
            let tight_of = |sys: &mut System, ops: &mut RowOps, mask: u32| -> Vec<u32> {
                let r = specialise(sys, ops, &row, |v| value(mask)(v, &conditions));
                continuous_args(sys, &r)
                    .filter_map(|(v, o)| {
                        let j = *columns.get(&v)?;
                        (offsets.d[j as usize] - offsets.c[p] == i32::from(o)).then_some(j)
                    })
                    .collect()
            };
            let tight = tight_of(sys, ops, mask);
            if tight.contains(&offsets.transversal.row_to_col[p])
                || repairable(&signature, &offsets, &[(p, tight.clone())])
            {
                continue;
            }
            for (k, &v) in conditions.iter().enumerate() {
                if !keyed.contains(&v) && tight_of(sys, ops, mask ^ 1 << k) != tight {
                    keyed.push(v);
                }
            }
        }
    }
    keyed.sort_unstable();
    keyed
}

fn loses_edges(sys: &mut System, ops: &mut RowOps, eq: usize, var: VarId) -> bool {
    let row = sys.equations[eq].row.clone();
    let all: FxHashSet<(VarId, u8)> = continuous_args(sys, &row).collect();
    [true, false].into_iter().any(|value| {
        let r = specialise(sys, ops, &row, |v| (v == var).then_some(value));
        let some: FxHashSet<(VarId, u8)> = continuous_args(sys, &r).collect();
        some.len() < all.len()
    })
}

/// Is there another transversal on tight edges when the given rows have only the given tight columns?
fn repairable(signature: &Signature, offsets: &saltus_graph::Offsets, changed: &[(usize, Vec<u32>)]) -> bool {
    let tight = signature.tight(&offsets.c, &offsets.d);
    let mut rows: Vec<Vec<u32>> = (0..tight.n_rows()).map(|i| tight.row(i).to_vec()).collect();
    for (p, cols) in changed {
        rows[*p] = cols.clone();
    }
    let graph = Bipartite::from_rows(tight.n_cols(), &rows);
    let mut m = offsets.transversal.clone();
    for (p, cols) in changed {
        let j = m.row_to_col[*p];
        if !cols.contains(&j) {
            m.row_to_col[*p] = saltus_graph::NONE;
            m.col_to_row[j as usize] = saltus_graph::NONE;
            m.size -= 1;
        }
    }
    let mut augmenter = Augmenter::new();
    changed.iter().all(|(p, _)| m.row_to_col[*p] != saltus_graph::NONE || augmenter.augment(&graph, &mut m, *p as u32))
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
    let value: FxHashMap<VarId, bool> = modes.keyed.iter().copied().zip(key.iter().copied()).collect();
    let mut out = Vec::new();
    for i in 0..sys.equations.len() {
        let SysEq { row, guard, .. } = sys.equations[i].clone();
        if guard.is_some() && !chosen(sys, guard, &|v| value.get(&v).copied().unwrap_or(false)) {
            continue;
        }
        let row = if value.is_empty() { row } else { specialise(sys, ops, &row, |v| value.get(&v).copied()) };
        out.push((i, row));
    }
    out
}

/// A mode key as text: `engaged = true, s23 = false`.
pub fn key_text(sys: &System, modes: &Modes, key: &ModeKey) -> String {
    modes.keyed.iter().zip(key).map(|(&v, b)| format!("{} = {b}", sys.condition_text(v))).collect::<Vec<_>>().join(", ")
}
