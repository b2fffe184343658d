//! Solving a residual for one hole.

use crate::derive::Differentiator;
use crate::node::{Binary, ExprId, Node, Unary};
use crate::pool::Pool;

/// `e = slope * hole + rest`, neither part containing the hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Affine {
    /// The coefficient.
    pub slope: ExprId,
    /// What remains at hole = 0.
    pub rest: ExprId,
}

/// How safely a residual can be solved for a hole; lower is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Coefficient {
    /// Affine with the slope 1 or -1.
    Unit,
    /// Affine with another constant slope.
    Constant,
    /// Affine, the slope holds only holes for which `parameter` was true.
    Parameter,
    /// Affine, but the slope varies and may vanish.
    Varying,
    /// Not affine.
    Nonlinear,
    /// The hole does not occur (or cancels).
    Absent,
}

/// Splits `e` with respect to hole `k`, if it is affine in it.
pub fn affine_in(pool: &mut Pool, e: ExprId, k: u32) -> Option<Affine> {
    let slope = slope_in(pool, e, k)?;
    let zero = pool.num(0.0);
    let rest = pool.rewrite(e, &mut |pool, x| match *pool.node(x) {
        Node::Hole(j) if j == k => Some(zero),
        _ => (!pool.may_have(x, k)).then_some(x),
    });
    Some(Affine { slope, rest })
}

/// ∂e/∂(hole k), if `e` is affine in it.
pub fn slope_in(pool: &mut Pool, e: ExprId, k: u32) -> Option<ExprId> {
    let slope = Differentiator::partial(pool, e, k);
    if pool.has_hole(slope, k) {
        return None;
    }
    // A conditional on the hole itself has a piecewise slope but is not affine.
    let mut guarded = false;
    let mut conditions = Vec::new();
    pool.visit_above(e, k, |_, n| match n {
        Node::If(c, _, _) => conditions.push(*c),
        Node::Relation(_, a, b) => conditions.extend([*a, *b]),
        Node::EventFloor(a) => conditions.push(*a),
        Node::Unary(
            Unary::Abs | Unary::Sign | Unary::Floor | Unary::Ceil | Unary::Trunc | Unary::Event | Unary::Not,
            a,
        ) => conditions.push(*a),
        Node::Binary(op, a, b)
            if !matches!(op, crate::Binary::Add | crate::Binary::Sub | crate::Binary::Mul | crate::Binary::Div) =>
        {
            conditions.extend([*a, *b])
        }
        Node::Call { func, args, .. } => {
            conditions.extend(args[..pool.linear_from(*func, args.len())].iter().copied());
        }
        Node::CallDer { args, .. } => conditions.extend(args.iter().copied()),
        _ => {}
    });
    for c in conditions {
        guarded |= pool.has_hole(c, k);
    }
    (!guarded).then_some(slope)
}

/// The value of hole `k` that makes `e` zero: by division if `e` is affine in it, else by the inverse of a function.
pub fn solve_for(pool: &mut Pool, e: ExprId, k: u32) -> Option<ExprId> {
    match affine_in(pool, e, k) {
        Some(Affine { slope, rest }) => {
            let neg = negated(pool, rest, 0);
            Some(pool.div(neg, slope))
        }
        None => inverted(pool, e, k),
    }
}

/// `-e`, branch by branch where that costs nothing: the branches of `if c then x - a else x - b = 0` are a and b as they were
/// written.
fn negated(pool: &mut Pool, e: ExprId, depth: usize) -> ExprId {
    match *pool.node(e) {
        Node::If(c, a, b) if depth < 50 => {
            let (a, b) = (negated(pool, a, depth + 1), negated(pool, b, depth + 1));
            let branches = pool.select(c, a, b);
            if negations(pool, branches) <= 1 + negations(pool, e) { branches } else { pool.neg(e) }
        }
        _ if pool.as_const(e) == Some(0.0) => pool.num(0.0),
        _ => pool.neg(e),
    }
}

/// Negations at the ends of branches.
fn negations(pool: &Pool, e: ExprId) -> usize {
    match *pool.node(e) {
        Node::If(_, a, b) => negations(pool, a) + negations(pool, b),
        Node::Unary(crate::Unary::Neg, _) => 1,
        _ => 0,
    }
}

/// `v - f(…, hole, …) = 0` with an inverse of f known for this argument, the hole occurring nowhere else.
pub fn inverted(pool: &mut Pool, e: ExprId, k: u32) -> Option<ExprId> {
    let Node::Binary(Binary::Sub, a, b) = *pool.node(e) else { return None };
    let (value, call) = if pool.has_hole(a, k) { (b, a) } else { (a, b) };
    if pool.has_hole(value, k) {
        return None;
    }
    let Node::Call { func, args, out: 0 } = pool.node(call).clone() else { return None };
    let mut places = (0..args.len()).filter(|&i| pool.has_hole(args[i], k));
    let (Some(i), None) = (places.next(), places.next()) else { return None };
    if *pool.node(args[i]) != Node::Hole(k) {
        return None;
    }
    let rule = pool.inverse_rule(func, i as u32)?.clone();
    let given = rule.arguments.iter().map(|a| a.map_or(Some(value), |j| args.get(j as usize).copied()));
    let given = given.collect::<Option<Box<[ExprId]>>>()?;
    Some(pool.call(rule.func, given, 0))
}

/// How well `e` can be solved for hole `k`; `parameter(j)` says whether hole j is constant during a run.
pub fn classify(pool: &mut Pool, e: ExprId, k: u32, parameter: impl Fn(u32) -> bool) -> Coefficient {
    if !pool.has_hole(e, k) {
        return Coefficient::Absent;
    }
    let Some(slope) = slope_in(pool, e, k) else {
        // An inverse function is as good as a division by a parameter.
        return if inverted(pool, e, k).is_some() { Coefficient::Parameter } else { Coefficient::Nonlinear };
    };
    match pool.as_const(slope) {
        Some(0.0) => Coefficient::Absent,
        Some(v) if v.abs() == 1.0 => Coefficient::Unit,
        Some(_) => Coefficient::Constant,
        None => {
            let mut branches = false;
            pool.visit(slope, |_, n| branches |= matches!(n, Node::If(..)));
            if !branches && pool.holes(slope).into_iter().all(parameter) {
                Coefficient::Parameter
            } else {
                Coefficient::Varying
            }
        }
    }
}
