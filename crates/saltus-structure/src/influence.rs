//! Which conditions of a row can take columns from it.
//!
//! In `0 = s − Σ (if c_i then 1 else 0)` the conditions switch values and nothing else: whatever they are, `s` stands in the row.
//! A condition is told apart by where it stands: terms of a sum that hold no column leave the columns of the others alone.

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_expr::{Binary, ExprId, Node, Pool, Unary};

/// Holes standing in conditions of conditionals, ascending.
pub(crate) fn condition_holes(pool: &Pool, e: ExprId) -> Vec<u32> {
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

/// The terms of a sum.
pub(crate) fn terms(pool: &Pool, e: ExprId) -> Vec<ExprId> {
    let (mut out, mut stack) = (Vec::new(), vec![e]);
    while let Some(x) = stack.pop() {
        match pool.node(x) {
            Node::Unary(Unary::Neg, a) => stack.push(*a),
            Node::Binary(Binary::Add | Binary::Sub, a, b) => stack.extend([*a, *b]),
            _ => out.push(x),
        }
    }
    out.sort_unstable();
    out.dedup();
    out
}

/// What there is below a node.
#[derive(Clone, Copy, Default)]
struct Below {
    columns: bool,
    conditionals: bool,
}

/// The holes in conditions of `e` on whose values it may depend which of its columns (holes for which `column` holds) are left,
/// ascending. A superset: a hole that is not among them has no influence in any combination with others.
pub(crate) fn influential(pool: &Pool, e: ExprId, column: &dyn Fn(u32) -> bool) -> Vec<u32> {
    let mut nodes: Vec<ExprId> = Vec::new();
    pool.visit(e, |x, _| nodes.push(x));
    // Nodes are made after what they are made of.
    nodes.sort_unstable();
    let mut below: FxHashMap<ExprId, Below> = FxHashMap::default();
    for &x in &nodes {
        let mut b = match pool.node(x) {
            Node::Hole(k) => Below { columns: column(*k), conditionals: false },
            Node::If(..) => Below { columns: false, conditionals: true },
            _ => Below::default(),
        };
        pool.children(x, |c| {
            let c = below.get(&c).copied().unwrap_or_default();
            b.columns |= c.columns;
            b.conditionals |= c.conditionals;
        });
        below.insert(x, b);
    }
    let mut out: FxHashSet<u32> = FxHashSet::default();
    let mut seen: FxHashSet<ExprId> = FxHashSet::default();
    let mut stack = vec![e];
    while let Some(x) = stack.pop() {
        let b = below[&x];
        if !b.columns || !b.conditionals || !seen.insert(x) {
            continue;
        }
        let plain = |y: &ExprId| !below[y].columns && !below[y].conditionals;
        match pool.node(x) {
            Node::Unary(Unary::Neg, a) => stack.push(*a),
            Node::Binary(Binary::Add | Binary::Sub, a, b) => stack.extend([*a, *b]),
            // A factor that conditions do not touch.
            Node::Binary(Binary::Mul | Binary::Div, a, b) if plain(b) => stack.push(*a),
            Node::Binary(Binary::Mul, a, b) if plain(a) => stack.push(*b),
            Node::If(c, a, b) => {
                pool.visit(*c, |_, n| {
                    if let Node::Hole(k) = n {
                        out.insert(*k);
                    }
                });
                stack.extend([*a, *b]);
            }
            _ => out.extend(condition_holes(pool, x)),
        }
    }
    let mut out: Vec<u32> = out.into_iter().collect();
    out.sort_unstable();
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_columns() {
        let mut p = Pool::new();
        let h: Vec<ExprId> = (0..8).map(|k| p.hole(k)).collect();
        let (one, zero) = (p.num(1.0), p.num(0.0));
        let value = |p: &mut Pool, c: usize| p.select(h[c], one, zero);
        // Holes 0 and 1 are columns, 4 to 7 conditions.
        let column = |k: u32| k < 2;
        let (v4, v5, v6) = (value(&mut p, 4), value(&mut p, 5), value(&mut p, 6));
        let sum = p.add(v4, v5);
        let row = p.sub(h[0], sum);
        assert_eq!(influential(&p, row, &column), [] as [u32; 0]);
        // A factor of a column, beside a value.
        let product = p.mul(v5, h[1]);
        let both = p.add(v4, product);
        let row = p.sub(h[0], both);
        assert_eq!(influential(&p, row, &column), [5]);
        // Branches with columns, and values inside of them; a factor without conditions.
        let scaled = p.mul(h[2], h[0]);
        let a = p.sub(scaled, v4);
        let b = p.mul(h[1], v6);
        let row = p.select(h[7], a, b);
        assert_eq!(influential(&p, row, &column), [6, 7]);
        // Inside a function everything counts.
        let inner = p.add(h[0], v4);
        let row = p.un(Unary::Sin, inner);
        assert_eq!(influential(&p, row, &column), [4]);
    }
}
