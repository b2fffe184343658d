//! Equations whose leading parts depend on each other, although the Σ-method takes them for independent.
//!
//! before: `a - b = sin(time); c = a - b; i = der(c)`
//! after:  `a - b = sin(time); c - sin(time) = 0; i = der(c)`
//!
//! Let constants u_i cancel the leading derivatives of a diagonal block, Σ u_i ∂f_i/∂x_j^(d_j − c_i) = 0 for all its j. Then
//! Σ u_i f_i^(c_i − θ), θ = min c_i, has none of them and takes the place of an equation with c_i = θ: fewer degrees of
//! freedom are left, and the Σ-method sees what was hidden.
//!
//! Tan, Nedialkov and Pryce, *Conversion methods for improving structural analysis of differential-algebraic equation
//! systems*, BIT 57 (2017).

use crate::lower::operand_key;
use crate::modes::continuous_args;
use crate::parts::{blocks, incidence, signature};
use crate::rows::{RowOps, tidy};
use crate::system::{Role, System};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_dae::{HybridDae, Operand, Row, VarId};
use saltus_expr::{Binary, ExprId, Node, Unary};
use saltus_graph::{Offsets, Signature, block_order, sigma_method};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// What counts as zero beside what cancels.
const SMALL: f64 = 1e-12;

/// Entries of eliminations in one block.
const WORK: usize = 200_000;

/// Replaces equations by what they say together with others, part by part.
pub(crate) fn combine(sys: &mut System, ops: &mut RowOps, rows: &mut [(usize, Row)]) {
    let orders = |r: &(usize, Row)| r.1.args.iter().any(|a| matches!(a, Operand::Var { order, .. } if *order > 0));
    if !ops.combines || !rows.iter().any(orders) {
        return;
    }
    for part in blocks(sys, rows).into_iter().flatten().filter(|p| p.rows.len() > 1) {
        let own = part.rows.iter().map(|&i| rows[i].clone()).collect();
        for (k, row) in combinations(sys, ops, own, &part.own) {
            rows[part.rows[k]].1 = row;
        }
    }
}

/// What takes the place of rows of a part that determines the variables `own`.
pub(crate) fn combinations(
    sys: &mut System,
    ops: &mut RowOps,
    mut rows: Vec<(usize, Row)>,
    own: &FxHashSet<VarId>,
) -> Vec<(usize, Row)> {
    let moves = |row: &Row| continuous_args(sys, row).any(|(v, o)| o > 0 && own.contains(&v));
    if rows.len() < 2 || !rows.iter().any(|r| moves(&r.1)) {
        return Vec::new();
    }
    let key = signature(&rows, own, &[]);
    if let Some(known) = ops.combined.get(&key) {
        return known.clone();
    }
    let mut replaced: BTreeMap<usize, Row> = BTreeMap::new();
    while let Some((k, row)) = hidden(sys, ops, &mut rows, own) {
        replaced.insert(k, row.clone());
        rows[k].1 = row;
    }
    let out: Vec<(usize, Row)> = replaced.into_iter().collect();
    ops.combined.insert(key, out.clone());
    out
}

/// Offsets of the rows for these variables, with their columns.
fn offsets(sys: &System, rows: &[(usize, Row)], own: &FxHashSet<VarId>) -> Option<(Signature, Offsets, Vec<VarId>)> {
    let incidence = incidence(sys, rows, own);
    let s = Signature::from_rows(own.len(), &incidence.entries);
    let found = sigma_method(&s).ok()?;
    Some((s, found, incidence.vars))
}

/// A row of the part and the combination that takes its place.
fn hidden(
    sys: &mut System,
    ops: &mut RowOps,
    rows: &mut [(usize, Row)],
    own: &FxHashSet<VarId>,
) -> Option<(usize, Row)> {
    let (s, o, vars) = offsets(sys, rows, own)?;
    if o.dof == 0 {
        return None;
    }
    for block in block_order(&s.tight(&o.c, &o.d), &o.transversal).iter().filter(|b| b.len() > 1) {
        let leading: FxHashMap<VarId, i32> =
            block.iter().map(|&i| o.transversal.row_to_col[i as usize] as usize).map(|j| (vars[j], o.d[j])).collect();
        for (at, of) in dependent(sys, rows, block, &o.c, &leading) {
            let Some(row) = written(sys, ops, rows, &of, &o.c, o.c[at], &leading) else { continue };
            // Equations that only repeat others leave something open: the run judges whether they agree.
            let old = std::mem::replace(&mut rows[at].1, row);
            let regular = offsets(sys, rows, own).is_some();
            let row = std::mem::replace(&mut rows[at].1, old);
            if regular {
                return Some((at, row));
            }
        }
    }
    None
}

/// A term by its template and operands.
type Key = (ExprId, Vec<(u32, i32, u64)>);

/// Rows of a block that are combinations of others with offsets no smaller, each with the factors of all.
fn dependent(
    sys: &mut System,
    rows: &[(usize, Row)],
    block: &[u32],
    c: &[i32],
    leading: &FxHashMap<VarId, i32>,
) -> Vec<(usize, BTreeMap<usize, f64>)> {
    let mut columns: FxHashMap<Key, u32> = FxHashMap::default();
    let mut lists: Vec<(usize, BTreeMap<u32, f64>)> = Vec::new();
    for i in block.iter().map(|&i| i as usize) {
        if sys.equations[rows[i].0].origin.is_dummy() {
            continue;
        }
        let mut list: BTreeMap<u32, f64> = BTreeMap::new();
        for (factor, term) in terms(sys, &rows[i].1) {
            let leads = |a: &Operand| match *a {
                Operand::Var { var, order, .. } => leading.get(&var).is_some_and(|d| d - c[i] == i32::from(order)),
                _ => false,
            };
            if !term.args.iter().any(leads) {
                continue;
            }
            // Derivatives of a multiple are multiples of derivatives; other terms are told apart by how often they are differentiated.
            let mut args: Vec<(u32, i32, u64)> = term.args.iter().map(operand_key).collect();
            match (0..args.len()).filter(|&k| varies(sys, term.args[k])).collect::<Vec<_>>()[..] {
                [k] if is_multiple(sys, &term, k) => args[k].1 += 2 * c[i],
                _ => args.push((u32::MAX - 1, c[i], 0)),
            }
            let next = columns.len() as u32;
            *list.entry(*columns.entry((term.template, args)).or_insert(next)).or_insert(0.0) += factor;
        }
        list.retain(|_, v| *v != 0.0);
        lists.push((i, list));
    }
    // What stands in one row alone does not cancel.
    loop {
        let mut count = vec![0u32; columns.len()];
        lists.iter().flat_map(|l| l.1.keys()).for_each(|&j| count[j as usize] += 1);
        let before = lists.len();
        lists.retain(|l| l.1.keys().all(|&j| count[j as usize] > 1));
        if lists.len() == before {
            break;
        }
    }
    lists.sort_by_key(|l| (Reverse(c[l.0]), l.1.len(), l.0));
    let (mut found, mut work) = (Vec::new(), 0);
    // Rows without the pivots of those before them, with the rows they were made of.
    let mut reduced: Vec<(u32, BTreeMap<u32, f64>, BTreeMap<usize, f64>)> = Vec::new();
    let mut pivot: FxHashMap<u32, usize> = FxHashMap::default();
    for (i, mut row) in lists {
        let size = row.values().fold(0.0f64, |m, v| m.max(v.abs()));
        let mut made: BTreeMap<usize, f64> = [(i, 1.0)].into_iter().collect();
        while let Some(k) = row.keys().filter_map(|j| pivot.get(j).copied()).min() {
            let (j, entries, of) = &reduced[k];
            let f = row[j] / entries[j];
            subtract(&mut row, entries, f, size);
            row.remove(j);
            subtract(&mut made, of, f, 1.0);
            work += entries.len() + of.len();
            if work > WORK {
                return found;
            }
        }
        match row.iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())) {
            None => found.push((i, made)),
            Some((&j, _)) => {
                pivot.insert(j, reduced.len());
                reduced.push((j, row, made));
            }
        }
    }
    found
}

/// `a -= factor * b`, without what vanishes beside `size`.
fn subtract<K: Ord + Copy>(a: &mut BTreeMap<K, f64>, b: &BTreeMap<K, f64>, factor: f64, size: f64) {
    for (&k, v) in b {
        let e = a.entry(k).or_insert(0.0);
        *e -= factor * v;
        if e.abs() <= SMALL * size.max((factor * v).abs()) {
            a.remove(&k);
        }
    }
}

/// Σ u_i f_i^(c_i − θ) without what cancels; `None` if a leading derivative is left.
fn written(
    sys: &mut System,
    ops: &mut RowOps,
    rows: &[(usize, Row)],
    factors: &BTreeMap<usize, f64>,
    c: &[i32],
    theta: i32,
    leading: &FxHashMap<VarId, i32>,
) -> Option<Row> {
    let mut sums: FxHashMap<Key, usize> = FxHashMap::default();
    // Sum, what it is a sum of, term.
    let mut all: Vec<(f64, f64, Row)> = Vec::new();
    for (&i, &u) in factors {
        let mut row = rows[i].1.clone();
        for _ in theta..c[i] {
            row = ops.differentiate(&mut sys.dae, &row);
        }
        for (f, term) in terms(sys, &row) {
            let key = (term.template, term.args.iter().map(operand_key).collect());
            let k = *sums.entry(key).or_insert(all.len());
            if k == all.len() {
                all.push((0.0, 0.0, term));
            }
            all[k].0 += u * f;
            all[k].1 += (u * f).abs();
        }
    }
    all.retain(|(sum, size, _)| sum.abs() > SMALL * size);
    let (mut template, mut args) = (sys.dae.pool.num(0.0), Vec::new());
    for (f, _, term) in all {
        for a in &term.args {
            if let Operand::Var { var, order, .. } = *a
                && leading.get(&var).is_some_and(|d| d - theta == i32::from(order))
            {
                return None;
            }
        }
        let (base, pool) = (args.len() as u32, &mut sys.dae.pool);
        let e = pool.substitute(term.template, |pool, k| pool.hole(base + k));
        let f = pool.num(f);
        let e = pool.mul(f, e);
        template = pool.add(template, e);
        args.extend(term.args);
    }
    Some(tidy(&mut sys.dae, &Row { template, args: args.into() }))
}

/// A row as a sum of multiples of terms; factors that keep their values are drawn into sums.
fn terms(sys: &mut System, row: &Row) -> Vec<(f64, Row)> {
    let mut out: Vec<(f64, ExprId)> = Vec::new();
    let mut todo: Vec<(ExprId, f64, Option<ExprId>)> = vec![(row.template, 1.0, None)];
    while let Some((e, factor, scale)) = todo.pop() {
        let fixed = |sys: &System, e: ExprId| !sys.dae.pool.holes(e).iter().any(|&k| varies(sys, row.args[k as usize]));
        let number = |e: ExprId| match *sys.dae.pool.node(e) {
            Node::Hole(k) => match row.args[k as usize] {
                Operand::Const(v) => Some(v),
                _ => None,
            },
            _ => sys.dae.pool.as_const(e),
        };
        match *sys.dae.pool.node(e) {
            Node::Unary(Unary::Neg, a) => todo.push((a, -factor, scale)),
            Node::Binary(op @ (Binary::Add | Binary::Sub), a, b) => {
                todo.push((b, if op == Binary::Add { factor } else { -factor }, scale));
                todo.push((a, factor, scale));
            }
            Node::Binary(Binary::Mul, a, b) => match (number(a), number(b)) {
                (Some(v), _) => todo.push((b, factor * v, scale)),
                (_, Some(v)) => todo.push((a, factor * v, scale)),
                _ if fixed(sys, a) || fixed(sys, b) => {
                    let (f, x) = if fixed(sys, a) { (a, b) } else { (b, a) };
                    let scale = scale.map_or(f, |s| sys.dae.pool.mul(s, f));
                    if fixed(sys, x) {
                        let e = sys.dae.pool.mul(scale, x);
                        out.push((factor, e));
                    } else {
                        todo.push((x, factor, Some(scale)));
                    }
                }
                _ => out.push((factor, scale.map_or(e, |s| sys.dae.pool.mul(s, e)))),
            },
            Node::Binary(Binary::Div, a, b) => match number(b) {
                Some(v) if v != 0.0 => todo.push((a, factor / v, scale)),
                _ if fixed(sys, b) && !fixed(sys, a) => {
                    let one = scale.unwrap_or_else(|| sys.dae.pool.num(1.0));
                    let scale = sys.dae.pool.div(one, b);
                    todo.push((a, factor, Some(scale)));
                }
                _ => out.push((factor, scale.map_or(e, |s| sys.dae.pool.mul(s, e)))),
            },
            _ => match (number(e), scale) {
                (Some(v), None) => {
                    let one = sys.dae.pool.num(1.0);
                    out.push((factor * v, one));
                }
                (Some(v), Some(s)) => out.push((factor * v, s)),
                (None, s) => out.push((factor, s.map_or(e, |s| sys.dae.pool.mul(s, e)))),
            },
        }
    }
    let dae = &mut sys.dae;
    out.into_iter()
        .filter(|t| t.0 != 0.0)
        .map(|(mut factor, e)| {
            // One form whatever the signs of operands.
            let mut args = row.args.clone();
            let mut e = dae.pool.substitute(e, |pool, k| {
                let hole = pool.hole(k);
                if matches!(args[k as usize], Operand::Var { neg: true, .. }) { pool.neg(hole) } else { hole }
            });
            for a in &mut args {
                if let Operand::Var { neg, .. } = a {
                    *neg = false;
                }
            }
            if let Node::Unary(Unary::Neg, x) = *dae.pool.node(e) {
                (factor, e) = (-factor, x);
            }
            (factor, tidy(dae, &Row { template: e, args }))
        })
        .collect()
}

/// Whether an operand changes between events.
fn varies(sys: &System, a: Operand) -> bool {
    match a {
        Operand::Var { var, .. } => var == HybridDae::TIME || sys.role(var) == Role::Continuous,
        _ => false,
    }
}

/// Whether a term is operand k times what keeps its value.
fn is_multiple(sys: &System, term: &Row, k: usize) -> bool {
    let pool = &sys.dae.pool;
    let hole = |e: ExprId| matches!(*pool.node(e), Node::Hole(h) if h as usize == k);
    match *pool.node(term.template) {
        Node::Binary(Binary::Mul, _, b) => hole(b),
        _ => hole(term.template),
    }
}
