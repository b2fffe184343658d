//! Roots where their domain ends: a tank runs empty, two levels meet, and no step can end exactly there.

use saltus_expr::{Binary, ExprId, Node, Pool, Unary};

/// What becomes of the root of a negative number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Edges {
    /// It is none, but hardly below zero, where it counts as the root of (almost) zero.
    Ended,
    /// It is zero. The argument may have its sign in no result: [`depth`] tells.
    Assigned,
    /// It is −√−a, which determines a as √a does: an equation that is solved for a has a solution beyond the edge.
    Solved,
    /// Slopes of what is evaluated: where a root counts as zero it does not move, and neither does what is divided by it.
    Slopes {
        /// Whether that is so however far below zero; and what is nearer to zero than this has the slope there: an infinite one holds
        /// a state where it is, whatever moves it.
        past: Option<f64>,
    },
}

/// So far below zero a root is never outside of its domain.
pub(crate) const BELOW: f64 = 1e-7;

/// Its root is small, and the slope there is finite.
const ALMOST_ZERO: f64 = 1e-24;

fn has_roots(pool: &Pool, e: ExprId) -> bool {
    let mut roots = false;
    pool.visit(e, |_, n| roots |= matches!(n, Node::Unary(Unary::Sqrt, _)));
    roots
}

/// The template with its roots continued.
pub(crate) fn rounded(pool: &mut Pool, template: ExprId, edges: Edges) -> ExprId {
    if !has_roots(pool, template) {
        return template;
    }
    match edges {
        Edges::Slopes { past } => flat(pool, template, past),
        _ => continued(pool, template, edges, false),
    }
}

/// `under`: what something is divided by. Slopes of −√−a are those of √|a|; other quotients have no value beyond the edge.
fn continued(pool: &mut Pool, template: ExprId, edges: Edges, under: bool) -> ExprId {
    pool.rewrite(template, &mut |pool, e| {
        if let &Node::Binary(Binary::Div, a, b) = pool.node(e)
            && !under
            && edges != Edges::Ended
        {
            let (a, b) = (continued(pool, a, edges, false), continued(pool, b, edges, true));
            return Some(pool.bin(Binary::Div, a, b));
        }
        let &Node::Unary(Unary::Sqrt, a) = pool.node(e) else { return None };
        let a = continued(pool, a, edges, under);
        let [zero, below, almost] = [0.0, -BELOW, ALMOST_ZERO].map(|v| pool.num(v));
        let negative = pool.bin(Binary::Lt, a, zero);
        if edges == Edges::Solved {
            let size = pool.un(Unary::Abs, a);
            let root = pool.un(Unary::Sqrt, size);
            let minus = pool.un(Unary::Neg, root);
            return Some(if under { root } else { pool.select(negative, minus, root) });
        }
        let edge = if edges == Edges::Assigned && !under {
            negative
        } else {
            let near = pool.bin(Binary::Gt, a, below);
            pool.bin(Binary::And, negative, near)
        };
        let safe = pool.select(edge, almost, a);
        Some(pool.un(Unary::Sqrt, safe))
    })
}

/// What counts as zero to an integrator of this relative tolerance: a small part of an absolute error weight.
pub(crate) fn least(tolerance: f64) -> f64 {
    1e-4 * tolerance
}

fn flat(pool: &mut Pool, template: ExprId, past: Option<f64>) -> ExprId {
    let flat = pool.rewrite(template, &mut |pool, e| {
        let &Node::Binary(Binary::Div, over, under) = pool.node(e) else { return None };
        let mut roots = Vec::new();
        pool.visit(under, |_, n| {
            if let &Node::Unary(Unary::Sqrt, a) = n {
                roots.push(a);
            }
        });
        let zero = pool.num(0.0);
        let (over, under) = (self::flat(pool, over, past), self::flat(pool, under, past));
        let under = match past {
            Some(least) if !roots.is_empty() => blunt(pool, under, least),
            _ => under,
        };
        let slope = pool.bin(Binary::Div, over, under);
        let flat = roots.into_iter().fold(slope, |slope, a| {
            let below = pool.bin(Binary::Lt, a, zero);
            pool.select(below, zero, slope)
        });
        Some(flat)
    });
    continued(pool, flat, if past.is_some() { Edges::Assigned } else { Edges::Ended }, false)
}

/// Roots with arguments no smaller than this.
fn blunt(pool: &mut Pool, template: ExprId, least: f64) -> ExprId {
    pool.rewrite(template, &mut |pool, e| {
        let &Node::Unary(Unary::Sqrt, a) = pool.node(e) else { return None };
        let (a, least) = (blunt(pool, a, least), pool.num(least));
        let clear = pool.bin(Binary::Max, a, least);
        Some(pool.un(Unary::Sqrt, clear))
    })
}

/// Whether a branch decides on a root of the template.
pub(crate) fn guarded(pool: &Pool, template: ExprId) -> bool {
    let mut found = false;
    pool.visit(template, |_, n| {
        found |= matches!(*n, Node::If(_, a, b) if has_roots(pool, a) || has_roots(pool, b));
    });
    found
}

/// The least argument of the roots that a template evaluates, the largest number if it evaluates none; nothing if it has none.
pub(crate) fn depth(pool: &mut Pool, template: ExprId) -> Option<ExprId> {
    if !has_roots(pool, template) {
        return None;
    }
    let least = |pool: &mut Pool, a: Option<ExprId>, b: Option<ExprId>| match (a, b) {
        (Some(a), Some(b)) => Some(pool.bin(Binary::Min, a, b)),
        (a, b) => a.or(b),
    };
    match *pool.node(template) {
        Node::Unary(Unary::Sqrt, a) => {
            let inner = depth(pool, a);
            least(pool, Some(a), inner)
        }
        // Whether the second operand counts is for the first one to say.
        Node::Binary(Binary::And | Binary::Or, ..) => None,
        Node::If(c, a, b) => {
            let (dc, da, db) = (depth(pool, c), depth(pool, a), depth(pool, b));
            let chosen = (da.is_some() || db.is_some()).then(|| {
                let none = pool.num(f64::MAX);
                pool.select(c, da.unwrap_or(none), db.unwrap_or(none))
            });
            least(pool, dc, chosen)
        }
        _ => {
            let mut children = Vec::new();
            pool.children(template, |c| children.push(c));
            children.into_iter().fold(None, |d, c| {
                let inner = depth(pool, c);
                least(pool, d, inner)
            })
        }
    }
}
