//! Constraints of a mode that say the same.
//!
//! ```text
//!   if s1 then v1 = v2; …   if s2 then v1 = v2; …     both closed: one equation too many, and nothing tells the forces apart
//! ```
//!
//! Structure does not see it, since each constraint alone would do. Where coefficients are constants, rows that depend on each
//! other do so at all times: the mode is singular for good.

use crate::plan::{Cell, Generic, StructuralPlan};
use crate::rows::RowOps;
use crate::selection::jacobian_entry;
use crate::system::System;
use rustc_hash::FxHashMap;
use saltus_dae::{Operand, Row, VarId};
use saltus_expr::Coefficient;
use std::collections::BTreeMap;

/// Entries looked at before the search is given up.
const WORK: usize = 200_000;

/// What counts as zero beside the largest entry.
const SMALL: f64 = 1e-10;

/// Unknowns of a system whose null vectors are looked for.
const MOST_UNKNOWNS: usize = 200;

/// Indices of constraints (rows that are differentiated) that depend on each other.
pub(crate) fn dependent_constraints(sys: &mut System, ops: &mut RowOps, plan: &StructuralPlan) -> Option<Vec<usize>> {
    let constraints = entangled(sys, plan);
    // Reduced rows with the rows they were made of, by the cell that only they keep.
    let mut reduced: Vec<(Cell, BTreeMap<Cell, f64>, BTreeMap<usize, f64>)> = Vec::new();
    let mut pivot: FxHashMap<Cell, usize> = FxHashMap::default();
    let mut work = 0;
    for i in constraints {
        let Some(mut row) = constant_coefficients(sys, ops, &plan.rows[i].1) else { continue };
        let size = row.values().fold(0.0f64, |m, v| m.max(v.abs()));
        let mut made: BTreeMap<usize, f64> = [(i, 1.0)].into_iter().collect();
        while let Some(k) = row.keys().filter_map(|c| pivot.get(c).copied()).min() {
            let (cell, entries, of) = &reduced[k];
            let factor = row[cell] / entries[cell];
            subtract(&mut row, entries, factor, size);
            row.remove(cell);
            subtract(&mut made, of, factor, 1.0);
            work += entries.len() + of.len();
            if work > WORK {
                return None;
            }
        }
        match row.iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())) {
            None => return Some(made.into_keys().collect()),
            Some((&cell, _)) => {
                pivot.insert(cell, reduced.len());
                reduced.push((cell, row, made));
            }
        }
    }
    None
}

/// Constraints each unknown of which stands in another one, too: the others depend on nothing.
fn entangled(sys: &System, plan: &StructuralPlan) -> Vec<usize> {
    let constraints = (0..plan.rows.len()).filter(|&i| plan.c[i] > 0);
    let mut left: Vec<(usize, Vec<(VarId, u8)>)> =
        constraints.map(|i| (i, crate::modes::continuous_args(sys, &plan.rows[i].1).collect())).collect();
    loop {
        let mut count: FxHashMap<(VarId, u8), u32> = FxHashMap::default();
        for (_, unknowns) in &mut left {
            unknowns.sort_unstable();
            unknowns.dedup();
            unknowns.iter().for_each(|u| *count.entry(*u).or_default() += 1);
        }
        let before = left.len();
        left.retain(|(_, unknowns)| unknowns.iter().all(|u| count[u] > 1));
        if left.len() == before {
            return left.into_iter().map(|l| l.0).collect();
        }
    }
}

/// `a -= factor * b`, without what vanishes beside `size`.
fn subtract<K: Ord + Copy>(a: &mut BTreeMap<K, f64>, b: &BTreeMap<K, f64>, factor: f64, size: f64) {
    for (&k, v) in b {
        let e = a.entry(k).or_insert(0.0);
        *e -= factor * v;
        if e.abs() <= SMALL * size {
            a.remove(&k);
        }
    }
}

/// A row up to a factor and what is known in it: equations for which this is the same depend on each other.
pub fn constraint_shape(sys: &mut System, ops: &mut RowOps, row: &Row) -> Option<Vec<(Cell, i64)>> {
    let entries = constant_coefficients(sys, ops, row).filter(|e| e.len() > 1)?;
    let first = *entries.values().next()?;
    Some(entries.into_iter().map(|(c, v)| (c, (v / first * 1e9).round() as i64)).collect())
}

/// The coefficients of the unknowns of a row, if it is linear in them with constants and parameters.
fn constant_coefficients(sys: &mut System, ops: &mut RowOps, row: &Row) -> Option<BTreeMap<Cell, f64>> {
    let mut out = BTreeMap::new();
    let unknowns: Vec<(VarId, u8)> = crate::modes::continuous_args(sys, row).collect();
    for (k, a) in row.args.iter().enumerate() {
        if matches!(a, Operand::Var { var, order, .. } if unknowns.contains(&(*var, *order)))
            && !matches!(
                ops.classify(&mut sys.dae, row, k),
                Coefficient::Unit | Coefficient::Constant | Coefficient::Parameter | Coefficient::Absent
            )
        {
            return None;
        }
    }
    for (var, order) in unknowns {
        let value = jacobian_entry(sys, ops, row, var, order, &Generic);
        if value != 0.0 {
            out.insert(Cell::new(var, order), value);
        }
    }
    (!out.is_empty()).then_some(out)
}

/// The unknowns that a singular n×n matrix leaves open: where its null vectors are not zero. With rows and columns exchanged:
/// the equations that depend on each other.
pub fn null_support(n: usize, entries: impl Iterator<Item = (usize, usize, f64)>) -> Vec<usize> {
    if n > MOST_UNKNOWNS {
        return Vec::new();
    }
    let mut a = vec![0.0; n * n];
    entries.for_each(|(i, j, v)| a[i * n + j] += v);
    for row in a.chunks_mut(n.max(1)) {
        let size = row.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        row.iter_mut().filter(|_| size > 0.0).for_each(|v| *v /= size);
    }
    // Gauss-Jordan with complete pivoting.
    let (mut rows, mut pivots): (Vec<usize>, Vec<(usize, usize)>) = ((0..n).collect(), Vec::new());
    while !rows.is_empty() {
        let candidates = rows.iter().flat_map(|&i| (0..n).map(move |j| (i, j)));
        let Some((i, j)) = candidates.max_by(|x, y| a[x.0 * n + x.1].abs().total_cmp(&a[y.0 * n + y.1].abs())) else {
            break;
        };
        let p = a[i * n + j];
        if p.abs() < SMALL {
            break;
        }
        rows.retain(|&r| r != i);
        for r in (0..n).filter(|&r| r != i) {
            let f = a[r * n + j] / p;
            if f != 0.0 {
                for k in 0..n {
                    a[r * n + k] -= f * a[i * n + k];
                }
                a[r * n + j] = 0.0;
            }
        }
        pivots.push((i, j));
    }
    let free: Vec<usize> = (0..n).filter(|j| pivots.iter().all(|p| p.1 != *j)).collect();
    let bound = |&(i, j): &(usize, usize)| free.iter().any(|&f| (a[i * n + f] / a[i * n + j]).abs() > 1e-7);
    let mut out: Vec<usize> = pivots.iter().filter(|p| bound(p)).map(|p| p.1).chain(free.iter().copied()).collect();
    out.sort_unstable();
    out
}

#[cfg(test)]
mod tests {
    use super::null_support;

    #[test]
    fn what_two_closed_clutches_leave_open() {
        // v1' + a + b, v2' - a - b, v1' - v2', v1' - v2'
        let rows: [[f64; 4]; 4] =
            [[1.0, 0.0, 1.0, 1.0], [0.0, 1.0, -1.0, -1.0], [1.0, -1.0, 0.0, 0.0], [1.0, -1.0, 0.0, 0.0]];
        let entries = || (0..4).flat_map(move |i| (0..4).map(move |j| (i, j, rows[i][j])));
        assert_eq!(null_support(4, entries()), [2, 3]);
        assert_eq!(null_support(4, entries().map(|(i, j, v)| (j, i, v))), [2, 3]);
    }
}
