//! Symbolic differentiation: given the derivative of each hole, the derivative of the whole.

use crate::node::{Binary, ExprId, Node, Unary};
use crate::pool::{ArgumentRule, Pool};
use rustc_hash::FxHashMap;

/// Differentiates expressions; `dhole(k)` says what the derivative of hole k is (`None`: zero).
///
/// With `dhole(k) = 1` for one k it gives a partial derivative; with `dhole(k)` = the hole holding ẋ_k, d/dt.
pub struct Differentiator<'a> {
    pool: &'a mut Pool,
    dhole: &'a mut dyn FnMut(&mut Pool, u32) -> Option<ExprId>,
    /// The one hole that has a derivative, if it is one.
    only: Option<u32>,
    memo: FxHashMap<ExprId, Option<ExprId>>,
}

impl<'a> Differentiator<'a> {
    /// A differentiator with these hole derivatives.
    pub fn new(pool: &'a mut Pool, dhole: &'a mut dyn FnMut(&mut Pool, u32) -> Option<ExprId>) -> Self {
        Differentiator { pool, dhole, only: None, memo: FxHashMap::default() }
    }

    /// ∂e/∂hole k.
    pub fn partial(pool: &mut Pool, e: ExprId, k: u32) -> ExprId {
        let mut dhole = |p: &mut Pool, j: u32| (j == k).then(|| p.num(1.0));
        Differentiator { only: Some(k), ..Differentiator::new(pool, &mut dhole) }.derivative(e)
    }

    /// The derivative of `e`.
    pub fn derivative(&mut self, e: ExprId) -> ExprId {
        match self.go(e) {
            Some(d) => d,
            None => self.pool.num(0.0),
        }
    }

    /// `None` means zero, so that vanishing branches build nothing.
    fn go(&mut self, e: ExprId) -> Option<ExprId> {
        if self.only.is_some_and(|k| !self.pool.may_have(e, k)) {
            return None;
        }
        if let Some(&d) = self.memo.get(&e) {
            return d;
        }
        let d = self.node(e).filter(|&d| !self.pool.is_num(d, 0.0));
        self.memo.insert(e, d);
        d
    }

    fn node(&mut self, e: ExprId) -> Option<ExprId> {
        match self.pool.node(e).clone() {
            Node::Const(_) => None,
            Node::Hole(k) => (self.dhole)(self.pool, k),
            Node::Unary(op, a) => {
                let da = self.go(a)?;
                let outer = self.unary_slope(op, a, e)?;
                Some(self.pool.mul(outer, da))
            }
            Node::Binary(op, a, b) => self.binary(op, a, b, e),
            Node::If(c, a, b) => {
                let (da, db) = (self.go(a), self.go(b));
                if da.is_none() && db.is_none() {
                    return None;
                }
                let zero = self.pool.num(0.0);
                Some(self.pool.select(c, da.unwrap_or(zero), db.unwrap_or(zero)))
            }
            // Piecewise constant: the jump itself is an event, not a slope.
            Node::Relation(..) | Node::EventFloor(_) => None,
            Node::Call { func, args, out } => {
                let dargs: Vec<Option<ExprId>> = args.iter().map(|&a| self.go(a)).collect();
                if dargs.iter().all(Option::is_none) {
                    return None;
                }
                let zero = self.pool.num(0.0);
                // A derivative function is linear in the derivatives it is given.
                let n = self.pool.linear_from(func, args.len());
                if dargs[..n].iter().all(Option::is_none) {
                    let moved = dargs[n..].iter().map(|d| d.unwrap_or(zero));
                    let all = args[..n].iter().copied().chain(moved).collect();
                    return Some(self.pool.intern(Node::Call { func, args: all, out }));
                }
                // By its own derivative function, if it has one: then further derivatives are exact too.
                let rule = self.pool.derivative_rule(func, |k| dargs.get(k).is_some_and(Option::is_some));
                if let Some(rule) = rule.filter(|r| r.arguments.len() == args.len()).cloned() {
                    let passed: Vec<Option<ExprId>> = dargs
                        .iter()
                        .zip(&rule.arguments)
                        .filter(|(_, r)| **r == ArgumentRule::Passed)
                        .map(|(d, _)| *d)
                        .collect();
                    if passed.iter().all(Option::is_none) {
                        return None;
                    }
                    let all = args.iter().copied().chain(passed.into_iter().map(|d| d.unwrap_or(zero))).collect();
                    return Some(self.pool.intern(Node::Call { func: rule.func, args: all, out }));
                }
                let dargs = dargs.into_iter().map(|d| d.unwrap_or(zero)).collect();
                Some(self.pool.intern(Node::CallDer { func, args, dargs, out }))
            }
            Node::CallDer { func, args, dargs, out } => {
                let d: Vec<Option<ExprId>> = args.iter().map(|&a| self.go(a)).collect();
                let dd: Vec<Option<ExprId>> = dargs.iter().map(|&a| self.go(a)).collect();
                let zero = self.pool.num(0.0);
                // The second derivative is the first of (x, dx) ↦ ∂f/∂x(x)·dx.
                if d.iter().any(Option::is_some)
                    && let Some(func) = func.tangent()
                {
                    let at = args.iter().chain(&dargs).copied().collect();
                    let along = d.iter().chain(&dd).map(|x| x.unwrap_or(zero)).collect();
                    return Some(self.pool.intern(Node::CallDer { func, args: at, dargs: along, out }));
                }
                // Linear in the direction: the part along d(dargs) is exact.
                let linear = dd.iter().any(Option::is_some).then(|| {
                    let dd = dd.iter().map(|x| x.unwrap_or(zero)).collect();
                    self.pool.intern(Node::CallDer { func, args: args.clone(), dargs: dd, out })
                });
                // Of the third derivative, a central difference of the second.
                let curved = d.iter().any(Option::is_some).then(|| {
                    let d: Vec<ExprId> = d.iter().map(|x| x.unwrap_or(zero)).collect();
                    let h = self.pool.num(1e-5);
                    let side = |pool: &mut Pool, sign: f64| {
                        let moved = args
                            .iter()
                            .zip(&d)
                            .map(|(&a, &da)| {
                                let s = pool.num(sign * 1e-5);
                                let step = pool.mul(s, da);
                                pool.add(a, step)
                            })
                            .collect();
                        pool.intern(Node::CallDer { func, args: moved, dargs: dargs.clone(), out })
                    };
                    let plus = side(self.pool, 1.0);
                    let minus = side(self.pool, -1.0);
                    let diff = self.pool.sub(plus, minus);
                    let two_h = self.pool.add(h, h);
                    self.pool.div(diff, two_h)
                });
                match (linear, curved) {
                    (Some(a), Some(b)) => Some(self.pool.add(a, b)),
                    (a, b) => a.or(b),
                }
            }
        }
    }

    /// d op(a) / da; `e` is op(a) itself.
    fn unary_slope(&mut self, op: Unary, a: ExprId, e: ExprId) -> Option<ExprId> {
        let p = &mut *self.pool;
        let one = p.num(1.0);
        Some(match op {
            Unary::Neg => p.num(-1.0),
            Unary::Not | Unary::Sign | Unary::Floor | Unary::Ceil | Unary::Trunc | Unary::Event => return None,
            Unary::Abs => {
                let zero = p.num(0.0);
                let c = p.bin(Binary::Ge, a, zero);
                let m = p.num(-1.0);
                p.select(c, one, m)
            }
            Unary::Sqrt => {
                let two = p.num(2.0);
                let d = p.mul(two, e);
                p.div(one, d)
            }
            Unary::Exp => e,
            Unary::Log => p.div(one, a),
            Unary::Log10 => {
                let k = p.num(std::f64::consts::LOG10_E);
                p.div(k, a)
            }
            Unary::Sin => p.un(Unary::Cos, a),
            Unary::Cos => {
                let s = p.un(Unary::Sin, a);
                p.neg(s)
            }
            Unary::Tan => {
                let q = p.mul(e, e);
                p.add(one, q)
            }
            Unary::Asin | Unary::Acos => {
                let q = p.mul(a, a);
                let r = p.sub(one, q);
                let s = p.un(Unary::Sqrt, r);
                let d = p.div(one, s);
                if op == Unary::Asin { d } else { p.neg(d) }
            }
            Unary::Atan => {
                let q = p.mul(a, a);
                let r = p.add(one, q);
                p.div(one, r)
            }
            Unary::Sinh => p.un(Unary::Cosh, a),
            Unary::Cosh => p.un(Unary::Sinh, a),
            Unary::Tanh => {
                let q = p.mul(e, e);
                p.sub(one, q)
            }
        })
    }

    fn binary(&mut self, op: Binary, a: ExprId, b: ExprId, e: ExprId) -> Option<ExprId> {
        use Binary::*;
        if matches!(op, Lt | Le | Gt | Ge | Eq | Ne | And | Or) {
            return None;
        }
        let (da, db) = (self.go(a), self.go(b));
        if da.is_none() && db.is_none() {
            return None;
        }
        let p = &mut *self.pool;
        let zero = p.num(0.0);
        Some(match op {
            Add => p.add(da.unwrap_or(zero), db.unwrap_or(zero)),
            Sub => p.sub(da.unwrap_or(zero), db.unwrap_or(zero)),
            Mul => {
                let l = da.map_or(zero, |da| p.mul(da, b));
                let r = db.map_or(zero, |db| p.mul(a, db));
                p.add(l, r)
            }
            Div => {
                // (da - e db) / b
                let r = db.map_or(zero, |db| p.mul(e, db));
                let n = p.sub(da.unwrap_or(zero), r);
                p.div(n, b)
            }
            Pow => {
                let left = da.map(|da| {
                    // b a^(b-1) da
                    let one = p.num(1.0);
                    let b1 = p.sub(b, one);
                    let q = p.bin(Pow, a, b1);
                    let bq = p.mul(b, q);
                    p.mul(bq, da)
                });
                let right = db.map(|db| {
                    // a^b ln(a) db, zero where a is zero
                    let ln = p.un(Unary::Log, a);
                    let el = p.mul(e, ln);
                    let t = p.mul(el, db);
                    let c = p.bin(Gt, a, zero);
                    p.select(c, t, zero)
                });
                match (left, right) {
                    (Some(x), Some(y)) => p.add(x, y),
                    (x, y) => x.or(y).unwrap_or(zero),
                }
            }
            Atan2 => {
                // (b da - a db) / (a² + b²)
                let l = da.map_or(zero, |da| p.mul(b, da));
                let r = db.map_or(zero, |db| p.mul(a, db));
                let n = p.sub(l, r);
                let (aa, bb) = (p.mul(a, a), p.mul(b, b));
                let d = p.add(aa, bb);
                p.div(n, d)
            }
            Min | Max => {
                let c = p.bin(if op == Min { Gt } else { Lt }, a, b);
                p.select(c, db.unwrap_or(zero), da.unwrap_or(zero))
            }
            Lt | Le | Gt | Ge | Eq | Ne | And | Or => return None,
        })
    }
}
