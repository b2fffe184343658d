//! Derivatives of functions as functions: forward mode from text to text.
//!
//! For y = f(x) the tangent is ẏ = f'(x, ẋ): the inputs of f followed by a direction for each Real input, the derivative
//! of each Real output along it. Every assignment is preceded by that of its derivative; control flow is that of f. What
//! comes out is a function like any other, so it can be compiled, exported and differentiated again.

use crate::ir::{Builtin, FExpr, FIndex, FStmt, FStmtKind, Function, LValue, Local, LocalId, ScalarType};
use rustc_hash::FxHashMap;
use saltus_base::Span;
use saltus_expr::{Binary, FuncId, Unary};

/// Why a function has no tangent, and where.
pub type NoTangent = (Span, String);

/// The tangent of `f`, appended to `functions` with those of the functions it calls unless `made` has them already.
pub fn tangent(
    functions: &mut Vec<Function>,
    made: &mut FxHashMap<FuncId, FuncId>,
    f: FuncId,
) -> Result<FuncId, NoTangent> {
    if let Some(&t) = made.get(&f) {
        return Ok(t);
    }
    let base = functions[f.0 as usize].clone();
    if let Some(t) = base.derivative {
        return Ok(t);
    }
    if base.external.is_some() || base.impure {
        let why = if base.impure { "impure" } else { "external" };
        return Err((base.span, format!("the {why} function {} has no derivative", base.name)));
    }
    if base.outputs.is_empty() {
        // Also of one that is still being read.
        let why = format!("{} has no result to differentiate, or contains its own derivative", base.name);
        return Err((base.span, why));
    }
    let id = FuncId(functions.len() as u32);
    made.insert(f, id);
    // The place is taken before the body is there: functions call themselves. The shapes are what callers need.
    let mut g = Function { name: format!("der({})", base.name), body: Vec::new(), ..base.clone() };
    let mut dot = FxHashMap::default();
    for k in 0..base.locals.len() {
        let l = &base.locals[k];
        if l.ty == ScalarType::Real {
            dot.insert(LocalId(k as u32), LocalId(g.locals.len() as u32));
            g.locals.push(Local { name: format!("der({})", l.name), binding: None, ..l.clone() });
        }
    }
    g.inputs.extend(base.inputs.iter().filter_map(|l| dot.get(l)));
    g.outputs = base.outputs.iter().filter_map(|l| dot.get(l).copied()).collect();
    functions.push(g.clone());
    let mut t = Tangent { functions, made, base: &base, dot, still: Vec::new(), span: base.span };
    let filled = t.fill(&mut g);
    match filled {
        Ok(()) => functions[id.0 as usize] = g,
        Err(_) => {
            made.remove(&f);
        }
    }
    filled.map(|()| id)
}

struct Tangent<'a> {
    functions: &'a mut Vec<Function>,
    made: &'a mut FxHashMap<FuncId, FuncId>,
    base: &'a Function,
    /// The derivative of each Real local.
    dot: FxHashMap<LocalId, LocalId>,
    /// Iterators: they run over numbers that do not move.
    still: Vec<LocalId>,
    span: Span,
}

type Res<T> = Result<T, NoTangent>;

fn binary(op: Binary, a: FExpr, b: FExpr) -> FExpr {
    FExpr::Binary(op, Box::new(a), Box::new(b))
}
fn unary(op: Unary, a: FExpr) -> FExpr {
    FExpr::Unary(op, Box::new(a))
}
fn times(a: FExpr, b: FExpr) -> FExpr {
    binary(Binary::Mul, a, b)
}
fn over(a: FExpr, b: FExpr) -> FExpr {
    binary(Binary::Div, a, b)
}
fn num(x: f64) -> FExpr {
    FExpr::Num(x)
}
fn square(a: FExpr) -> FExpr {
    times(a.clone(), a)
}
fn choose(c: FExpr, a: FExpr, b: FExpr) -> FExpr {
    FExpr::If(Box::new(c), Box::new(a), Box::new(b))
}

/// The sum of what there is.
fn plus(a: Option<FExpr>, b: Option<FExpr>) -> Option<FExpr> {
    match (a, b) {
        (Some(a), Some(b)) => Some(binary(Binary::Add, a, b)),
        (a, b) => a.or(b),
    }
}

impl Tangent<'_> {
    fn refuse<T>(&self, what: &str) -> Res<T> {
        Err((self.span, format!("not supported yet: the derivative of {what}")))
    }

    fn fill(&mut self, g: &mut Function) -> Res<()> {
        for (k, l) in self.base.locals.iter().enumerate() {
            let from = LocalId(k as u32);
            if let (Some(b), Some(d)) = (&l.binding, self.dot.get(&from).copied())
                && !self.base.inputs.contains(&from)
            {
                g.locals[d.0 as usize].binding = Some(self.moved(b)?);
            }
        }
        g.body = self.body(&self.base.body)?;
        Ok(())
    }

    /// How many dimensions an expression has, where that is plain.
    fn rank(&self, e: &FExpr) -> Option<usize> {
        Some(match e {
            FExpr::Num(_) | FExpr::Str(_) => 0,
            FExpr::Local(l) => self.base.locals[l.0 as usize].dims.len(),
            FExpr::Index(b, at) => {
                let mut rank = self.rank(b)?;
                for i in at {
                    if let FIndex::At(i) = i
                        && self.rank(i)? == 0
                    {
                        rank = rank.checked_sub(1)?;
                    }
                }
                rank
            }
            FExpr::Unary(_, a) => self.rank(a)?,
            FExpr::Binary(_, a, b) => self.rank(a)?.max(self.rank(b)?),
            FExpr::If(_, a, _) => self.rank(a)?,
            FExpr::Array(v) => 1 + self.rank(v.first()?)?,
            FExpr::Range(..) => 1,
            FExpr::Comprehension(b, its) => self.rank(b)? + its.len(),
            FExpr::Reduction(_, b, _) => self.rank(b)?,
            FExpr::Call(f, _, k) => {
                let f = &self.functions[f.0 as usize];
                f.locals[f.outputs.get(*k)?.0 as usize].dims.len()
            }
            FExpr::Builtin(b, a) => match b {
                Builtin::Sum | Builtin::Product | Builtin::Scalar | Builtin::SemiLinear => 0,
                Builtin::Div | Builtin::Mod | Builtin::Rem | Builtin::ToInteger => 0,
                Builtin::MinOf | Builtin::MaxOf => 0,
                Builtin::Cross => 1,
                Builtin::Skew | Builtin::Diagonal | Builtin::OuterProduct => 2,
                Builtin::Fill => a.len().saturating_sub(1),
                Builtin::Symmetric | Builtin::Transpose => 2,
                _ => return None,
            },
        })
    }

    /// Zero in the shape of an expression.
    fn zero(&self, e: &FExpr) -> FExpr {
        if self.rank(e) == Some(0) { num(0.0) } else { times(num(0.0), e.clone()) }
    }

    /// The derivative, a zero of the same shape if nothing moves.
    fn moved(&mut self, e: &FExpr) -> Res<FExpr> {
        Ok(self.d(e)?.unwrap_or_else(|| self.zero(e)))
    }

    /// f(a, …) that is linear in the arguments `0..n`.
    fn linear(&mut self, b: Builtin, args: &[FExpr], places: std::ops::Range<usize>) -> Res<Option<FExpr>> {
        let mut out = args.to_vec();
        let mut any = false;
        for k in places {
            let d = self.d(&args[k])?;
            any |= d.is_some();
            out[k] = d.unwrap_or_else(|| self.zero(&args[k]));
        }
        Ok(any.then_some(FExpr::Builtin(b, out)))
    }

    /// f(a, b) that is linear in both.
    fn product(&mut self, a: &FExpr, b: &FExpr, f: impl Fn(FExpr, FExpr) -> FExpr) -> Res<Option<FExpr>> {
        let (da, db) = (self.d(a)?, self.d(b)?);
        Ok(plus(da.map(|da| f(da, b.clone())), db.map(|db| f(a.clone(), db))))
    }

    /// The derivative of an expression; none if nothing in it moves.
    fn d(&mut self, e: &FExpr) -> Res<Option<FExpr>> {
        Ok(match e {
            FExpr::Num(_) | FExpr::Str(_) => None,
            FExpr::Local(l) => self.dot.get(l).filter(|_| !self.still.contains(l)).map(|&d| FExpr::Local(d)),
            FExpr::Index(b, at) => self.d(b)?.map(|b| FExpr::Index(Box::new(b), at.clone())),
            FExpr::Unary(op, a) => match self.d(a)? {
                Some(d) => self.unary(*op, a, e, d),
                None => None,
            },
            FExpr::Binary(op, a, b) => self.binary(*op, a, b, e)?,
            FExpr::If(c, a, b) => match (self.d(a)?, self.d(b)?) {
                (None, None) => None,
                (x, y) => {
                    let (x, y) = (x.unwrap_or_else(|| self.zero(a)), y.unwrap_or_else(|| self.zero(b)));
                    Some(choose((**c).clone(), x, y))
                }
            },
            FExpr::Array(v) => {
                let d = v.iter().map(|e| self.d(e)).collect::<Res<Vec<_>>>()?;
                if d.iter().all(Option::is_none) {
                    return Ok(None);
                }
                Some(FExpr::Array(d.into_iter().zip(v).map(|(d, e)| d.unwrap_or_else(|| self.zero(e))).collect()))
            }
            FExpr::Range(a, step, b) => {
                let mut any = self.d(a)?.is_some() || self.d(b)?.is_some();
                if let Some(s) = step {
                    any |= self.d(s)?.is_some();
                }
                return if any { self.refuse("a range of Reals") } else { Ok(None) };
            }
            FExpr::Comprehension(body, its) => {
                self.iterate(its)?;
                let d = self.d(body)?;
                self.still.truncate(self.still.len() - its.len());
                d.map(|d| FExpr::Comprehension(Box::new(d), its.clone()))
            }
            FExpr::Reduction(op, body, its) => {
                self.iterate(its)?;
                let d = self.d(body)?;
                self.still.truncate(self.still.len() - its.len());
                match (op, d) {
                    (_, None) => None,
                    (Builtin::Sum, Some(d)) => Some(FExpr::Reduction(*op, Box::new(d), its.clone())),
                    _ => return self.refuse("a product, minimum or maximum over iterators"),
                }
            }
            FExpr::Call(f, args, out) => {
                let Some((args, place)) = self.call(*f, args, Some(*out))? else { return Ok(None) };
                Some(FExpr::Call(tangent(self.functions, self.made, *f)?, args, place))
            }
            FExpr::Builtin(b, args) => self.builtin(*b, args)?,
        })
    }

    /// The arguments of the tangent of a call, and which of its outputs belongs to `out`; none if nothing moves.
    fn call(&mut self, f: FuncId, args: &[FExpr], out: Option<usize>) -> Res<Option<(Vec<FExpr>, usize)>> {
        let callee = &self.functions[f.0 as usize];
        let real = |l: &LocalId| callee.locals[l.0 as usize].ty == ScalarType::Real;
        let place = match out {
            None => 0,
            Some(k) => match callee.outputs.get(k) {
                Some(l) if real(l) => callee.outputs[..k].iter().filter(|l| real(l)).count(),
                Some(_) => return Ok(None),
                None => return self.refuse(&format!("{} inside itself", callee.name)),
            },
        };
        let moving: Vec<bool> = callee.inputs.iter().map(real).collect();
        let mut all = args.to_vec();
        let mut any = false;
        for (a, real) in args.iter().zip(moving) {
            let d = self.d(a)?;
            if real {
                any |= d.is_some();
                all.push(d.unwrap_or_else(|| self.zero(a)));
            }
        }
        Ok(any.then_some((all, place)))
    }

    fn iterate(&mut self, its: &[(LocalId, FExpr)]) -> Res<()> {
        for (l, range) in its {
            if self.d(range)?.is_some() {
                return self.refuse("a loop over Reals that depend on the inputs");
            }
            self.still.push(*l);
        }
        Ok(())
    }

    /// The slope of op at a (with r = op(a)), times d.
    fn unary(&self, op: Unary, a: &FExpr, r: &FExpr, d: FExpr) -> Option<FExpr> {
        let a = || a.clone();
        let r = || r.clone();
        let one = |sign: Binary, x: FExpr| binary(sign, num(1.0), x);
        Some(match op {
            Unary::Neg => unary(Unary::Neg, d),
            Unary::Not | Unary::Sign | Unary::Floor | Unary::Ceil | Unary::Trunc | Unary::Event => return None,
            Unary::Abs => times(unary(Unary::Sign, a()), d),
            Unary::Sqrt => over(d, times(num(2.0), r())),
            Unary::Exp => times(r(), d),
            Unary::Log => over(d, a()),
            Unary::Log10 => over(d, times(a(), num(std::f64::consts::LN_10))),
            Unary::Sin => times(unary(Unary::Cos, a()), d),
            Unary::Cos => unary(Unary::Neg, times(unary(Unary::Sin, a()), d)),
            Unary::Tan => times(one(Binary::Add, square(r())), d),
            Unary::Asin => over(d, unary(Unary::Sqrt, one(Binary::Sub, square(a())))),
            Unary::Acos => unary(Unary::Neg, over(d, unary(Unary::Sqrt, one(Binary::Sub, square(a()))))),
            Unary::Atan => over(d, one(Binary::Add, square(a()))),
            Unary::Sinh => times(unary(Unary::Cosh, a()), d),
            Unary::Cosh => times(unary(Unary::Sinh, a()), d),
            Unary::Tanh => times(one(Binary::Sub, square(r())), d),
        })
    }

    fn binary(&mut self, op: Binary, a: &FExpr, b: &FExpr, e: &FExpr) -> Res<Option<FExpr>> {
        let (da, db) = (self.d(a)?, self.d(b)?);
        if da.is_none() && db.is_none() {
            return Ok(None);
        }
        let (x, y) = (|| a.clone(), || b.clone());
        Ok(match op {
            Binary::Add | Binary::Sub => {
                // A scalar beside an array takes its shape.
                let same = self.rank(a).is_some() && self.rank(a) == self.rank(b);
                match (da, db) {
                    (Some(da), None) if same => Some(da),
                    (None, Some(db)) if same => Some(if op == Binary::Sub { unary(Unary::Neg, db) } else { db }),
                    (da, db) => {
                        let (da, db) = (da.unwrap_or_else(|| self.zero(a)), db.unwrap_or_else(|| self.zero(b)));
                        Some(binary(op, da, db))
                    }
                }
            }
            Binary::Mul => plus(da.map(|d| times(d, y())), db.map(|d| times(x(), d))),
            Binary::Div => {
                let down = db.map(|d| unary(Unary::Neg, times(e.clone(), d)));
                plus(da.map(|d| over(d, y())), down.map(|d| over(d, y())))
            }
            Binary::Pow => {
                let power = |b: FExpr| binary(Binary::Pow, x(), b);
                let base = da.map(|d| times(times(y(), power(binary(Binary::Sub, y(), num(1.0)))), d));
                let exponent = match db {
                    None => None,
                    Some(_) if self.rank(a) != Some(0) => return self.refuse("a power of arrays"),
                    // 0^y stays 0.
                    Some(d) => {
                        let slope = times(times(e.clone(), unary(Unary::Log, x())), d);
                        Some(choose(binary(Binary::Gt, x(), num(0.0)), slope, num(0.0)))
                    }
                };
                plus(base, exponent)
            }
            Binary::Atan2 => {
                let square = binary(Binary::Add, square(x()), square(y()));
                let (up, down) = (da.map(|d| times(y(), d)), db.map(|d| unary(Unary::Neg, times(x(), d))));
                plus(up, down).map(|n| over(n, square))
            }
            Binary::Min | Binary::Max => {
                if self.rank(e) != Some(0) {
                    return self.refuse("min or max of arrays");
                }
                let c = binary(if op == Binary::Min { Binary::Lt } else { Binary::Gt }, y(), x());
                Some(choose(c, db.unwrap_or(num(0.0)), da.unwrap_or(num(0.0))))
            }
            _ => None,
        })
    }

    fn builtin(&mut self, b: Builtin, args: &[FExpr]) -> Res<Option<FExpr>> {
        use Builtin::*;
        let two = |f: Builtin| move |a, b| FExpr::Builtin(f, vec![a, b]);
        match (b, args) {
            (MatMul | OuterProduct | Cross, [x, y]) => self.product(x, y, two(b)),
            (Transpose | Diagonal | Scalar | Vector | Matrix | Symmetric | Skew | Sum | Promote | Fill, [_, ..]) => {
                self.linear(b, args, 0..1)
            }
            (Linspace, [_, _, _]) => self.linear(b, args, 0..2),
            (Cat, [_, ..]) => self.linear(b, args, 1..args.len()),
            (MinOf | MaxOf, [x, y]) => self.binary(if b == MinOf { Binary::Min } else { Binary::Max }, x, y, &num(0.0)),
            (Mod | Rem, [x, y]) => {
                let (dx, dy) = (self.d(x)?, self.d(y)?);
                let turns = unary(if b == Mod { Unary::Floor } else { Unary::Trunc }, over(x.clone(), y.clone()));
                Ok(plus(dx, dy.map(|d| unary(Unary::Neg, times(turns, d)))))
            }
            (SemiLinear, [x, up, down]) => {
                let positive = binary(Binary::Ge, x.clone(), num(0.0));
                let (a, b) = (self.product(x, up, times)?, self.product(x, down, times)?);
                let any = a.is_some() || b.is_some();
                Ok(any.then(|| choose(positive, a.unwrap_or(num(0.0)), b.unwrap_or(num(0.0)))))
            }
            (Size | Ndims | Identity | Zeros | Ones | Div | ToInteger | ToString | EnumToString, _) => Ok(None),
            (Concat | CompareStrings, _) => Ok(None),
            _ => {
                for a in args {
                    if self.d(a)?.is_some() {
                        return self.refuse(&format!("{b:?} in a function"));
                    }
                }
                Ok(None)
            }
        }
    }

    fn body(&mut self, body: &[FStmt]) -> Res<Vec<FStmt>> {
        let mut out = Vec::new();
        for s in body {
            self.span = s.span;
            let kept = match &s.kind {
                FStmtKind::Assign(to, e) => {
                    if let Some(to) = self.derivative_of(to) {
                        let d = self.moved(e)?;
                        out.push(FStmt { kind: FStmtKind::Assign(to, d), span: s.span });
                    }
                    s.kind.clone()
                }
                FStmtKind::MultiAssign(to, f, args) => {
                    self.multiple(to, *f, args, s.span, &mut out)?;
                    s.kind.clone()
                }
                FStmtKind::If(branches, other) => {
                    let branches = branches.iter().map(|(c, b)| Ok((c.clone(), self.body(b)?))).collect::<Res<_>>()?;
                    FStmtKind::If(branches, self.body(other)?)
                }
                FStmtKind::For(i, range, b) => {
                    self.iterate(&[(*i, range.clone())])?;
                    let b = self.body(b);
                    self.still.pop();
                    FStmtKind::For(*i, range.clone(), b?)
                }
                FStmtKind::While(c, b) => FStmtKind::While(c.clone(), self.body(b)?),
                other => other.clone(),
            };
            out.push(FStmt { kind: kept, span: s.span });
        }
        Ok(out)
    }

    fn derivative_of(&self, to: &LValue) -> Option<LValue> {
        self.dot.get(&to.local).map(|&local| LValue { local, indices: to.indices.clone() })
    }

    /// The derivatives of `(a, b) := f(…)`, before the values change.
    fn multiple(
        &mut self,
        to: &[Option<LValue>],
        f: FuncId,
        args: &[FExpr],
        span: Span,
        out: &mut Vec<FStmt>,
    ) -> Res<()> {
        let callee = &self.functions[f.0 as usize];
        let real: Vec<bool> =
            callee.outputs.iter().map(|l| callee.locals[l.0 as usize].ty == ScalarType::Real).collect();
        let targets: Vec<Option<LValue>> = to.iter().map(|t| t.as_ref().and_then(|t| self.derivative_of(t))).collect();
        if targets.iter().all(Option::is_none) {
            return Ok(());
        }
        if let Some((args, _)) = self.call(f, args, None)? {
            let f = tangent(self.functions, self.made, f)?;
            let targets = targets.into_iter().zip(real).filter(|(_, real)| *real).map(|(t, _)| t).collect();
            out.push(FStmt { kind: FStmtKind::MultiAssign(targets, f, args), span });
            return Ok(());
        }
        for (k, t) in targets.into_iter().enumerate() {
            if let Some(t) = t {
                let value = FExpr::Call(f, args.to_vec(), k);
                out.push(FStmt { kind: FStmtKind::Assign(t, self.zero(&value)), span });
            }
        }
        Ok(())
    }
}
