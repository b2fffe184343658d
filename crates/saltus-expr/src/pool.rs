//! The pool: building an expression simplifies it locally, so equal things get equal ids.

use crate::eval::{binary, unary};
use crate::node::{Binary, ExprId, FuncId, Node, RelOp, Unary};
use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};
use saltus_base::Arena;
use std::hash::{BuildHasher, Hash, Hasher};

/// Owner of all expressions.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    nodes: Arena<Node>,
    /// The smallest and the largest hole below each node (nothing below: the other way round): most searches for one hole
    /// end here.
    reach: Vec<(u32, u32)>,
    /// All nodes by content; the content itself is in `nodes`.
    index: HashTable<ExprId>,
    derivatives: FxHashMap<FuncId, Vec<DerivativeRule>>,
    /// Inverse functions, by function and argument.
    inverses: FxHashMap<(FuncId, u32), InverseRule>,
    /// Derivative functions: they are linear in their arguments from this one on.
    linear_from: FxHashMap<FuncId, usize>,
}

/// What the derivative of a function needs of one scalar argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentRule {
    /// The argument's derivative is passed on.
    Passed,
    /// The rule holds only where the argument's derivative is zero.
    Zero,
    /// The argument's derivative has no influence.
    Ignored,
}

/// A function that computes the derivative of another: its arguments are those of the other, then the derivatives of the
/// [`ArgumentRule::Passed`] ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DerivativeRule {
    /// The derivative function.
    pub func: FuncId,
    /// One per scalar argument of the other.
    pub arguments: Vec<ArgumentRule>,
}

/// The function that gives one argument of another from its value and its other arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InverseRule {
    /// The inverse function.
    pub func: FuncId,
    /// Its arguments: an argument of the other, or `None` for its value.
    pub arguments: Vec<Option<u32>>,
}

impl Pool {
    /// An empty pool.
    pub fn new() -> Self {
        Self::default()
    }

    /// The node behind an id.
    pub fn node(&self, e: ExprId) -> &Node {
        &self.nodes[e]
    }

    /// Number of distinct nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether nothing was built yet.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Says by which functions a function may be differentiated, in order of preference.
    pub fn set_derivative_rules(&mut self, func: FuncId, rules: Vec<DerivativeRule>) {
        for r in &rules {
            self.linear_from.insert(r.func, r.arguments.len());
        }
        self.derivatives.insert(func, rules);
    }

    /// Says how argument `k` of a function follows from its value.
    pub fn set_inverse_rule(&mut self, func: FuncId, k: u32, rule: InverseRule) {
        self.inverses.insert((func, k), rule);
    }

    /// How argument `k` of a function follows from its value, if that was said.
    pub fn inverse_rule(&self, func: FuncId, k: u32) -> Option<&InverseRule> {
        self.inverses.get(&(func, k))
    }

    /// The first argument that a function is linear in, together with all later ones (the number of arguments, if it is
    /// not known to be a derivative function).
    pub fn linear_from(&self, func: FuncId, arguments: usize) -> usize {
        self.linear_from.get(&func).map_or(arguments, |&n| n.min(arguments))
    }

    /// Whether that was said, be it that there are none.
    pub fn has_derivative_rules(&self, func: FuncId) -> bool {
        self.derivatives.contains_key(&func)
    }

    /// The first rule that fits arguments of which `moves(k)` says whether argument k has a derivative.
    pub fn derivative_rule(&self, func: FuncId, moves: impl Fn(usize) -> bool) -> Option<&DerivativeRule> {
        self.derivatives
            .get(&func)?
            .iter()
            .find(|r| r.arguments.iter().enumerate().all(|(k, a)| *a != ArgumentRule::Zero || !moves(k)))
    }

    /// The id of a node, without simplification.
    pub fn intern(&mut self, node: Node) -> ExprId {
        let hash = FxBuildHasher.hash_one(&node);
        if let Some(&id) = self.index.find(hash, |&id| self.nodes[id] == node) {
            return id;
        }
        let id = self.nodes.push(node);
        let mut reach = match self.nodes[id] {
            Node::Hole(k) => (k, k),
            _ => (u32::MAX, 0),
        };
        self.children(id, |c| {
            let (low, high) = self.reach[c.index()];
            reach = (reach.0.min(low), reach.1.max(high));
        });
        self.reach.push(reach);
        self.index.insert_unique(hash, id, |&id| FxBuildHasher.hash_one(&self.nodes[id]));
        id
    }

    /// A constant (all NaNs are one; -0 stays apart from 0).
    pub fn num(&mut self, v: f64) -> ExprId {
        let v = if v.is_nan() { f64::NAN } else { v };
        self.intern(Node::Const(v.to_bits()))
    }

    /// A hole.
    pub fn hole(&mut self, k: u32) -> ExprId {
        self.intern(Node::Hole(k))
    }

    /// The value, if the expression is a constant.
    pub fn as_const(&self, e: ExprId) -> Option<f64> {
        match self.nodes[e] {
            Node::Const(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// Whether it is this constant.
    pub fn is_num(&self, e: ExprId, v: f64) -> bool {
        self.as_const(e) == Some(v)
    }

    /// A function of one argument.
    pub fn un(&mut self, op: Unary, a: ExprId) -> ExprId {
        if let Some(v) = self.as_const(a) {
            let r = unary(op, v);
            if r.is_finite() || !v.is_finite() {
                return self.num(r);
            }
        }
        match (op, self.node(a).clone()) {
            (Unary::Neg, Node::Unary(Unary::Neg, x)) | (Unary::Not, Node::Unary(Unary::Not, x)) => return x,
            (Unary::Neg, Node::Binary(Binary::Sub, x, y)) => return self.bin(Binary::Sub, y, x),
            (Unary::Not, Node::Binary(op @ (Binary::Eq | Binary::Ne), x, y)) => {
                return self.bin(if op == Binary::Eq { Binary::Ne } else { Binary::Eq }, x, y);
            }
            _ => {}
        }
        self.intern(Node::Unary(op, a))
    }

    /// A function of two arguments.
    pub fn bin(&mut self, op: Binary, a: ExprId, b: ExprId) -> ExprId {
        use Binary::*;
        let (ca, cb) = (self.as_const(a), self.as_const(b));
        if let (Some(x), Some(y)) = (ca, cb) {
            let r = binary(op, x, y);
            // A division by a zero constant stays, so that the run can name it.
            if r.is_finite() {
                return self.num(r);
            }
        }
        let is = |c: Option<f64>, v: f64| c == Some(v);
        match op {
            Add if is(ca, 0.0) => return b,
            Add | Sub if is(cb, 0.0) => return a,
            Sub if is(ca, 0.0) => return self.un(Unary::Neg, b),
            Sub if a == b => return self.num(0.0),
            Mul if is(ca, 0.0) || is(cb, 0.0) => return self.num(0.0),
            Mul if is(ca, 1.0) => return b,
            Mul | Div if is(cb, 1.0) => return a,
            Mul if is(ca, -1.0) => return self.un(Unary::Neg, b),
            Mul | Div if is(cb, -1.0) => return self.un(Unary::Neg, a),
            Div if is(ca, 0.0) && !is(cb, 0.0) => return self.num(0.0),
            Pow if is(cb, 1.0) => return a,
            Pow if is(cb, 0.0) => return self.num(1.0),
            And if is(ca, 0.0) || is(cb, 0.0) => return self.num(0.0),
            And if ca.is_some_and(|v| v != 0.0) => return b,
            And if cb.is_some_and(|v| v != 0.0) => return a,
            Or if is(ca, 0.0) => return b,
            Or if is(cb, 0.0) => return a,
            Or if ca.is_some_and(|v| v != 0.0) || cb.is_some_and(|v| v != 0.0) => return self.num(1.0),
            And | Or if a == b => return a,
            _ => {}
        }
        match (op, self.node(a).clone(), self.node(b).clone()) {
            (Add, _, Node::Unary(Unary::Neg, y)) => return self.bin(Sub, a, y),
            (Sub, _, Node::Unary(Unary::Neg, y)) => return self.bin(Add, a, y),
            (Add, Node::Unary(Unary::Neg, x), _) => return self.bin(Sub, b, x),
            (Mul | Div, Node::Unary(Unary::Neg, x), Node::Unary(Unary::Neg, y)) => return self.bin(op, x, y),
            (Mul | Div, Node::Unary(Unary::Neg, x), _) => {
                let p = self.bin(op, x, b);
                return self.un(Unary::Neg, p);
            }
            (Mul | Div, _, Node::Unary(Unary::Neg, y)) => {
                let p = self.bin(op, a, y);
                return self.un(Unary::Neg, p);
            }
            _ => {}
        }
        self.intern(Node::Binary(op, a, b))
    }

    /// `a + b`.
    pub fn add(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.bin(Binary::Add, a, b)
    }
    /// `a - b`.
    pub fn sub(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.bin(Binary::Sub, a, b)
    }
    /// `a * b`.
    pub fn mul(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.bin(Binary::Mul, a, b)
    }
    /// `a / b`.
    pub fn div(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.bin(Binary::Div, a, b)
    }
    /// `-a`.
    pub fn neg(&mut self, a: ExprId) -> ExprId {
        self.un(Unary::Neg, a)
    }
    /// `not a`.
    pub fn not(&mut self, a: ExprId) -> ExprId {
        self.un(Unary::Not, a)
    }

    /// `if c then a else b`.
    pub fn select(&mut self, c: ExprId, a: ExprId, b: ExprId) -> ExprId {
        if a == b {
            return a;
        }
        if let Some(v) = self.as_const(c) {
            return if v != 0.0 { a } else { b };
        }
        if let Node::Unary(Unary::Not, x) = *self.node(c) {
            return self.select(x, b, a);
        }
        self.intern(Node::If(c, a, b))
    }

    /// An event-generating relation.
    pub fn relation(&mut self, op: RelOp, a: ExprId, b: ExprId) -> ExprId {
        if self.as_const(a).is_some() && self.as_const(b).is_some() {
            return self.bin(op.plain(), a, b);
        }
        self.intern(Node::Relation(op, a, b))
    }

    /// Event-generating floor.
    pub fn event_floor(&mut self, a: ExprId) -> ExprId {
        match self.as_const(a) {
            Some(v) => self.num(v.floor()),
            None => self.intern(Node::EventFloor(a)),
        }
    }

    /// Output `out` of a function.
    pub fn call(&mut self, func: FuncId, args: Box<[ExprId]>, out: u32) -> ExprId {
        self.intern(Node::Call { func, args, out })
    }

    /// The children of a node, in order.
    pub fn children(&self, e: ExprId, mut f: impl FnMut(ExprId)) {
        match self.node(e) {
            Node::Const(_) | Node::Hole(_) => {}
            Node::Unary(_, a) | Node::EventFloor(a) => f(*a),
            Node::Binary(_, a, b) | Node::Relation(_, a, b) => {
                f(*a);
                f(*b);
            }
            Node::If(c, a, b) => {
                f(*c);
                f(*a);
                f(*b);
            }
            Node::Call { args, .. } => args.iter().copied().for_each(f),
            Node::CallDer { args, dargs, .. } => args.iter().chain(dargs.iter()).copied().for_each(f),
        }
    }

    /// A number for what each node holds, the same in every pool that holds it.
    pub fn digests(&self) -> Vec<u64> {
        let mut out: Vec<u64> = Vec::with_capacity(self.nodes.len());
        for (e, node) in self.nodes.iter() {
            let mut h = rustc_hash::FxHasher::default();
            std::mem::discriminant(node).hash(&mut h);
            match node {
                Node::Const(bits) => bits.hash(&mut h),
                Node::Hole(k) => k.hash(&mut h),
                Node::Unary(op, _) => op.hash(&mut h),
                Node::Binary(op, ..) => op.hash(&mut h),
                Node::Relation(op, ..) => op.hash(&mut h),
                Node::If(..) | Node::EventFloor(_) => {}
                Node::Call { func, out, args } => (func, out, args.len()).hash(&mut h),
                Node::CallDer { func, out, args, .. } => (func, out, args.len()).hash(&mut h),
            }
            // Children come before their parents.
            self.children(e, |c| out[c.index()].hash(&mut h));
            out.push(h.finish());
        }
        out
    }

    /// What is said about derivatives and inverses of functions, to be shown or compared.
    pub fn rules(&self) -> impl std::fmt::Debug + '_ {
        (&self.derivatives, &self.inverses)
    }

    /// Rebuilds an expression bottom-up with `leaf` applied to every node before its children are looked at
    /// (`Some` replaces the node whole). Shared subexpressions are rebuilt once.
    pub fn rewrite(&mut self, e: ExprId, leaf: &mut dyn FnMut(&mut Pool, ExprId) -> Option<ExprId>) -> ExprId {
        let mut memo = FxHashMap::default();
        self.rewrite_memo(e, leaf, &mut memo)
    }

    fn rewrite_memo(
        &mut self,
        e: ExprId,
        leaf: &mut dyn FnMut(&mut Pool, ExprId) -> Option<ExprId>,
        memo: &mut FxHashMap<ExprId, ExprId>,
    ) -> ExprId {
        if let Some(&r) = memo.get(&e) {
            return r;
        }
        let r = if let Some(r) = leaf(self, e) {
            r
        } else {
            match self.node(e).clone() {
                Node::Const(_) | Node::Hole(_) => e,
                Node::Unary(op, a) => {
                    let a = self.rewrite_memo(a, leaf, memo);
                    self.un(op, a)
                }
                Node::EventFloor(a) => {
                    let a = self.rewrite_memo(a, leaf, memo);
                    self.event_floor(a)
                }
                Node::Binary(op, a, b) => {
                    let a = self.rewrite_memo(a, leaf, memo);
                    let b = self.rewrite_memo(b, leaf, memo);
                    self.bin(op, a, b)
                }
                Node::Relation(op, a, b) => {
                    let a = self.rewrite_memo(a, leaf, memo);
                    let b = self.rewrite_memo(b, leaf, memo);
                    self.relation(op, a, b)
                }
                Node::If(c, a, b) => {
                    let c = self.rewrite_memo(c, leaf, memo);
                    match self.as_const(c) {
                        Some(v) => self.rewrite_memo(if v != 0.0 { a } else { b }, leaf, memo),
                        None => {
                            let a = self.rewrite_memo(a, leaf, memo);
                            let b = self.rewrite_memo(b, leaf, memo);
                            self.select(c, a, b)
                        }
                    }
                }
                Node::Call { func, args, out } => {
                    let args = args.iter().map(|&a| self.rewrite_memo(a, leaf, memo)).collect();
                    self.call(func, args, out)
                }
                Node::CallDer { func, args, dargs, out } => {
                    let args = args.iter().map(|&a| self.rewrite_memo(a, leaf, memo)).collect();
                    let dargs = dargs.iter().map(|&a| self.rewrite_memo(a, leaf, memo)).collect();
                    self.intern(Node::CallDer { func, args, dargs, out })
                }
            }
        };
        memo.insert(e, r);
        r
    }

    /// Replaces holes: hole k becomes `map(k)`.
    pub fn substitute(&mut self, e: ExprId, mut map: impl FnMut(&mut Pool, u32) -> ExprId) -> ExprId {
        self.rewrite(e, &mut |pool, x| match *pool.node(x) {
            Node::Hole(k) => Some(map(pool, k)),
            _ => None,
        })
    }

    /// Calls `f` once for every distinct node below (and including) `e`, parents before children.
    pub fn visit(&self, e: ExprId, mut f: impl FnMut(ExprId, &Node)) {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut stack = vec![e];
        while let Some(e) = stack.pop() {
            if seen.insert(e) {
                f(e, self.node(e));
                self.children(e, |c| stack.push(c));
            }
        }
    }

    /// The holes that occur, ascending.
    pub fn holes(&self, e: ExprId) -> Vec<u32> {
        let mut out = Vec::new();
        self.visit(e, |_, n| {
            if let Node::Hole(k) = n {
                out.push(*k);
            }
        });
        out.sort_unstable();
        out
    }

    /// Whether hole `k` may occur: false is certain.
    pub(crate) fn may_have(&self, e: ExprId, k: u32) -> bool {
        let (low, high) = self.reach[e.index()];
        low <= k && k <= high
    }

    /// As [`Pool::visit`], but for the nodes alone that may have hole `k` below them.
    pub(crate) fn visit_above(&self, e: ExprId, k: u32, mut f: impl FnMut(ExprId, &Node)) {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut stack = vec![e];
        while let Some(e) = stack.pop() {
            if self.may_have(e, k) && seen.insert(e) {
                f(e, self.node(e));
                self.children(e, |c| stack.push(c));
            }
        }
    }

    /// Whether hole `k` occurs.
    pub fn has_hole(&self, e: ExprId, k: u32) -> bool {
        let mut found = false;
        self.visit_above(e, k, |_, n| found |= *n == Node::Hole(k));
        found
    }
}
