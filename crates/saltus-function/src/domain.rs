//! The scalar domains functions are executed over.

use crate::external::Callee;
use saltus_expr::{Binary, ExprId, FuncId, Pool, Unary};

/// What the executor needs to know about scalars.
pub trait Domain {
    /// A scalar.
    type S: Clone;
    /// Whether a condition may be unknown: both branches are then executed and merged.
    const SPECULATES: bool;
    /// Whether scalars carry a derivative.
    const DERIVATIVES: bool;
    /// A constant.
    fn num(&mut self, v: f64) -> Self::S;
    /// A function of one argument.
    fn unary(&mut self, op: Unary, a: &Self::S) -> Self::S;
    /// A function of two arguments.
    fn binary(&mut self, op: Binary, a: &Self::S, b: &Self::S) -> Self::S;
    /// `if c then a else b`.
    fn select(&mut self, c: &Self::S, a: &Self::S, b: &Self::S) -> Self::S;
    /// The value, if it is known now.
    fn as_const(&self, a: &Self::S) -> Option<f64>;
    /// The derivative part, in domains that have one.
    fn derivative(&self, _a: &Self::S) -> f64 {
        0.0
    }
    /// A value with a derivative, which domains without one drop.
    fn with_derivative(&mut self, v: f64, _d: f64) -> Self::S {
        self.num(v)
    }
    /// Whether scalars carry second derivatives.
    const SECOND: bool = false;
    /// The scalar with all its derivatives, in the domain of second derivatives.
    fn parts(&self, a: &Self::S) -> HyperDual {
        HyperDual { v: self.as_const(a).unwrap_or(f64::NAN), ..HyperDual::default() }
    }
    /// The same the other way.
    fn with_parts(&mut self, h: HyperDual) -> Self::S {
        self.num(h.v)
    }
    /// Whether a scalar carries derivatives that [`Domain::derivative`] does not tell.
    fn varies(&self, _a: &Self::S) -> bool {
        false
    }
    /// Scalar output `out` of a function that cannot be executed in this domain; `None` if the domain cannot say so.
    fn call(&mut self, _func: FuncId, _args: &[Self::S], _out: u32) -> Option<Self::S> {
        None
    }
    /// What an external function returns for scalars that are not all known; `None` if the domain cannot say so.
    fn external(&mut self, _function: &Callee, _args: &[Self::S]) -> Option<Self::S> {
        None
    }
    /// Whether a call inside the function executed stays a call.
    fn stays(&self, _func: FuncId) -> bool {
        false
    }
    /// Why to stop now, if too much was built already.
    fn exhausted(&self) -> bool {
        false
    }
}

/// Numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Float;

impl Domain for Float {
    type S = f64;
    const SPECULATES: bool = false;
    const DERIVATIVES: bool = false;
    #[inline(always)]
    fn num(&mut self, v: f64) -> f64 {
        v
    }
    #[inline]
    fn unary(&mut self, op: Unary, a: &f64) -> f64 {
        saltus_expr::unary(op, *a)
    }
    #[inline(always)]
    fn binary(&mut self, op: Binary, a: &f64, b: &f64) -> f64 {
        // The cheap ones here, so that they stay inline.
        match op {
            Binary::Add => a + b,
            Binary::Sub => a - b,
            Binary::Mul => a * b,
            Binary::Div => a / b,
            Binary::Lt => f64::from(a < b),
            Binary::Le => f64::from(a <= b),
            Binary::Gt => f64::from(a > b),
            Binary::Ge => f64::from(a >= b),
            Binary::Eq => f64::from(a == b),
            Binary::Ne => f64::from(a != b),
            Binary::And => f64::from(*a != 0.0 && *b != 0.0),
            Binary::Or => f64::from(*a != 0.0 || *b != 0.0),
            _ => saltus_expr::binary(op, *a, *b),
        }
    }
    #[inline]
    fn select(&mut self, c: &f64, a: &f64, b: &f64) -> f64 {
        if *c != 0.0 { *a } else { *b }
    }
    #[inline(always)]
    fn as_const(&self, a: &f64) -> Option<f64> {
        Some(*a)
    }
}

/// A number and its derivative along one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DualNumber {
    /// Value.
    pub v: f64,
    /// Derivative.
    pub d: f64,
}

/// Numbers with a directional derivative (forward mode). Control flow follows the values.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dual;

/// d op(a)/da at `a`, where `r` is op(a).
pub fn unary_slope(op: Unary, a: f64, r: f64) -> f64 {
    match op {
        Unary::Neg => -1.0,
        Unary::Not | Unary::Sign | Unary::Floor | Unary::Ceil | Unary::Trunc | Unary::Event => 0.0,
        Unary::Abs => {
            if a >= 0.0 {
                1.0
            } else {
                -1.0
            }
        }
        Unary::Sqrt => 1.0 / (2.0 * r),
        Unary::Exp => r,
        Unary::Log => 1.0 / a,
        Unary::Log10 => std::f64::consts::LOG10_E / a,
        Unary::Sin => a.cos(),
        Unary::Cos => -a.sin(),
        Unary::Tan => 1.0 + r * r,
        Unary::Asin => 1.0 / (1.0 - a * a).sqrt(),
        Unary::Acos => -1.0 / (1.0 - a * a).sqrt(),
        Unary::Atan => 1.0 / (1.0 + a * a),
        Unary::Sinh => a.cosh(),
        Unary::Cosh => a.sinh(),
        Unary::Tanh => 1.0 - r * r,
    }
}

impl Domain for Dual {
    type S = DualNumber;
    const SPECULATES: bool = false;
    const DERIVATIVES: bool = true;
    fn num(&mut self, v: f64) -> DualNumber {
        DualNumber { v, d: 0.0 }
    }
    fn unary(&mut self, op: Unary, a: &DualNumber) -> DualNumber {
        let v = saltus_expr::unary(op, a.v);
        // A vanishing direction stays so where the slope is infinite; a step has no slope, however steep its argument.
        let step = matches!(op, Unary::Not | Unary::Sign | Unary::Floor | Unary::Ceil | Unary::Trunc | Unary::Event);
        let d = if a.d == 0.0 || step { 0.0 } else { unary_slope(op, a.v, v) * a.d };
        DualNumber { v, d }
    }
    fn binary(&mut self, op: Binary, a: &DualNumber, b: &DualNumber) -> DualNumber {
        let v = saltus_expr::binary(op, a.v, b.v);
        // A vanishing direction adds nothing, whatever it is multiplied by. Native code follows these rules; only the
        // sign of a zero derivative is left open.
        let term = |d: f64, factor: f64| if d == 0.0 { 0.0 } else { d * factor };
        let d = match op {
            Binary::Add => a.d + b.d,
            Binary::Sub => a.d - b.d,
            Binary::Mul => term(a.d, b.v) + term(b.d, a.v),
            Binary::Div => {
                let rise = a.d - term(b.d, v);
                if rise == 0.0 { 0.0 } else { rise / b.v }
            }
            Binary::Pow => {
                let left = if a.d == 0.0 { 0.0 } else { b.v * saltus_expr::binary(Binary::Pow, a.v, b.v - 1.0) * a.d };
                let right = if b.d == 0.0 || a.v <= 0.0 { 0.0 } else { v * a.v.ln() * b.d };
                left + right
            }
            Binary::Atan2 if a.d == 0.0 && b.d == 0.0 => 0.0,
            Binary::Atan2 => (b.v * a.d - a.v * b.d) / (a.v * a.v + b.v * b.v),
            Binary::Min => {
                if b.v < a.v {
                    b.d
                } else {
                    a.d
                }
            }
            Binary::Max => {
                if b.v > a.v {
                    b.d
                } else {
                    a.d
                }
            }
            _ => 0.0,
        };
        DualNumber { v, d }
    }
    fn select(&mut self, c: &DualNumber, a: &DualNumber, b: &DualNumber) -> DualNumber {
        if c.v != 0.0 { *a } else { *b }
    }
    fn as_const(&self, a: &DualNumber) -> Option<f64> {
        Some(a.v)
    }
    fn derivative(&self, a: &DualNumber) -> f64 {
        a.d
    }
    fn with_derivative(&mut self, v: f64, d: f64) -> DualNumber {
        DualNumber { v, d }
    }
}

/// A number with derivatives along two directions and the mixed second derivative.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HyperDual {
    /// Value.
    pub v: f64,
    /// Derivative along the first direction.
    pub a: f64,
    /// Derivative along the second.
    pub b: f64,
    /// Derivative along the second of the derivative along the first.
    pub ab: f64,
}

/// A product in which a vanishing factor wins over an infinite one.
fn times(d: f64, factor: f64) -> f64 {
    if d == 0.0 { 0.0 } else { d * factor }
}

impl HyperDual {
    /// φ(x), given φ, φ' and φ'' at x.
    fn function(self, v: f64, slope: f64, curvature: f64) -> HyperDual {
        let ab = times(self.ab, slope) + times(self.a * self.b, curvature);
        HyperDual { v, a: times(self.a, slope), b: times(self.b, slope), ab }
    }

    /// φ(x, y), given φ and its first (by x, y) and second (by xx, xy, yy) derivatives.
    fn function2(v: f64, x: HyperDual, y: HyperDual, [px, py]: [f64; 2], [pxx, pxy, pyy]: [f64; 3]) -> HyperDual {
        HyperDual {
            v,
            a: times(x.a, px) + times(y.a, py),
            b: times(x.b, px) + times(y.b, py),
            ab: times(x.ab, px)
                + times(y.ab, py)
                + times(x.a * x.b, pxx)
                + times(x.a * y.b + x.b * y.a, pxy)
                + times(y.a * y.b, pyy),
        }
    }
}

/// Numbers with second derivatives (forward mode twice). Control flow follows the values.
#[derive(Clone, Copy, Debug, Default)]
pub struct Second;

/// d² op(a)/da² at `a`, where `r` is op(a).
pub fn unary_curvature(op: Unary, a: f64, r: f64) -> f64 {
    match op {
        Unary::Neg | Unary::Abs => 0.0,
        Unary::Not | Unary::Sign | Unary::Floor | Unary::Ceil | Unary::Trunc | Unary::Event => 0.0,
        Unary::Sqrt => -0.25 / (r * a),
        Unary::Exp | Unary::Sinh | Unary::Cosh => r,
        Unary::Log => -1.0 / (a * a),
        Unary::Log10 => -std::f64::consts::LOG10_E / (a * a),
        Unary::Sin | Unary::Cos => -r,
        Unary::Tan => 2.0 * r * (1.0 + r * r),
        Unary::Asin => a / ((1.0 - a * a) * (1.0 - a * a).sqrt()),
        Unary::Acos => -a / ((1.0 - a * a) * (1.0 - a * a).sqrt()),
        Unary::Atan => -2.0 * a / ((1.0 + a * a) * (1.0 + a * a)),
        Unary::Tanh => -2.0 * r * (1.0 - r * r),
    }
}

impl Domain for Second {
    type S = HyperDual;
    const SPECULATES: bool = false;
    const DERIVATIVES: bool = false;
    const SECOND: bool = true;
    fn parts(&self, a: &HyperDual) -> HyperDual {
        *a
    }
    fn with_parts(&mut self, h: HyperDual) -> HyperDual {
        h
    }
    fn num(&mut self, v: f64) -> HyperDual {
        HyperDual { v, ..HyperDual::default() }
    }
    fn unary(&mut self, op: Unary, a: &HyperDual) -> HyperDual {
        let v = saltus_expr::unary(op, a.v);
        if !self.varies(a) {
            return self.num(v);
        }
        a.function(v, unary_slope(op, a.v, v), unary_curvature(op, a.v, v))
    }
    fn binary(&mut self, op: Binary, x: &HyperDual, y: &HyperDual) -> HyperDual {
        let v = saltus_expr::binary(op, x.v, y.v);
        if !self.varies(x) && !self.varies(y) {
            return self.num(v);
        }
        let pow = |b: f64| saltus_expr::binary(Binary::Pow, x.v, b);
        match op {
            Binary::Add => HyperDual { v, a: x.a + y.a, b: x.b + y.b, ab: x.ab + y.ab },
            Binary::Sub => HyperDual { v, a: x.a - y.a, b: x.b - y.b, ab: x.ab - y.ab },
            Binary::Mul => HyperDual::function2(v, *x, *y, [y.v, x.v], [0.0, 1.0, 0.0]),
            Binary::Div => {
                let r = 1.0 / y.v;
                HyperDual::function2(v, *x, *y, [r, -v * r], [0.0, -r * r, 2.0 * v * r * r])
            }
            Binary::Pow => {
                // By the base; by the exponent only where it moves and the base is positive.
                let by_base = [y.v * pow(y.v - 1.0), y.v * (y.v - 1.0) * pow(y.v - 2.0)];
                let ln = if x.v > 0.0 && self.varies(y) { x.v.ln() } else { 0.0 };
                let mixed = if x.v > 0.0 && self.varies(y) { pow(y.v - 1.0) * (1.0 + y.v * ln) } else { 0.0 };
                HyperDual::function2(v, *x, *y, [by_base[0], v * ln], [by_base[1], mixed, v * ln * ln])
            }
            Binary::Atan2 => {
                let (s, q) = (x.v * x.v + y.v * y.v, x.v * y.v);
                let ss = s * s;
                let second = [-2.0 * q / ss, (x.v * x.v - y.v * y.v) / ss, 2.0 * q / ss];
                HyperDual::function2(v, *x, *y, [y.v / s, -x.v / s], second)
            }
            Binary::Min => {
                if y.v < x.v {
                    *y
                } else {
                    *x
                }
            }
            Binary::Max => {
                if y.v > x.v {
                    *y
                } else {
                    *x
                }
            }
            _ => self.num(v),
        }
    }
    fn select(&mut self, c: &HyperDual, a: &HyperDual, b: &HyperDual) -> HyperDual {
        if c.v != 0.0 { *a } else { *b }
    }
    fn as_const(&self, a: &HyperDual) -> Option<f64> {
        Some(a.v)
    }
    fn varies(&self, a: &HyperDual) -> bool {
        a.a != 0.0 || a.b != 0.0 || a.ab != 0.0
    }
}

/// Expressions of a pool: executing a function inlines it.
pub struct Symbolic<'p> {
    pool: &'p mut Pool,
    limit: usize,
    stay: &'p dyn Fn(FuncId) -> bool,
}

impl<'p> Symbolic<'p> {
    /// Over this pool, which may grow by `budget` nodes; functions for which `stay` holds are not inlined.
    pub fn new(pool: &'p mut Pool, budget: usize, stay: &'p dyn Fn(FuncId) -> bool) -> Self {
        let limit = pool.len().saturating_add(budget);
        Symbolic { pool, limit, stay }
    }
}

impl Domain for Symbolic<'_> {
    type S = ExprId;
    const SPECULATES: bool = true;
    const DERIVATIVES: bool = false;
    fn num(&mut self, v: f64) -> ExprId {
        self.pool.num(v)
    }
    fn unary(&mut self, op: Unary, a: &ExprId) -> ExprId {
        self.pool.un(op, *a)
    }
    fn binary(&mut self, op: Binary, a: &ExprId, b: &ExprId) -> ExprId {
        self.pool.bin(op, *a, *b)
    }
    fn select(&mut self, c: &ExprId, a: &ExprId, b: &ExprId) -> ExprId {
        self.pool.select(*c, *a, *b)
    }
    fn as_const(&self, a: &ExprId) -> Option<f64> {
        self.pool.as_const(*a)
    }
    fn call(&mut self, func: FuncId, args: &[ExprId], out: u32) -> Option<ExprId> {
        Some(self.pool.call(func, args.into(), out))
    }
    fn stays(&self, func: FuncId) -> bool {
        (self.stay)(func)
    }
    fn exhausted(&self) -> bool {
        self.pool.len() > self.limit
    }
}
