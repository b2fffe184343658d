//! Interval arithmetic with outward rounding.
//!
//! The result of every operation contains all results of the operation on points of its operands. Additions,
//! multiplications, divisions and square roots, which the processor rounds correctly, are widened by one unit in the
//! last place where they are inexact; elementary functions by [`ELEMENTARY_ULPS`], more than the error of any C
//! library in use (checked against double-double arithmetic in the tests). Where an operation is undefined on part of
//! its operand (division by an interval containing zero, tangent across a pole) the result is the whole line, or the
//! range over the part where it is defined (square root, logarithm); NaN anywhere gives the whole line.

// NaN must fail these tests: `!(a < b)` is not `a >= b`.

use std::f64::consts::{FRAC_PI_2, PI, TAU};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Units in the last place by which elementary functions are widened on each side.
pub const ELEMENTARY_ULPS: u32 = 4;

/// A closed interval [lo, hi]; never empty, ends may be infinite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub lo: f64,
    /// Upper end.
    pub hi: f64,
}

fn down(x: f64) -> f64 {
    x.next_down()
}

fn up(x: f64) -> f64 {
    x.next_up()
}

fn down_by(mut x: f64, ulps: u32) -> f64 {
    for _ in 0..ulps {
        x = x.next_down();
    }
    x
}

fn up_by(mut x: f64, ulps: u32) -> f64 {
    for _ in 0..ulps {
        x = x.next_up();
    }
    x
}

/// Product with 0 · ∞ = 0, the right convention for interval ends.
fn product(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

impl Interval {
    /// The whole real line.
    pub const WHOLE: Interval = Interval { lo: f64::NEG_INFINITY, hi: f64::INFINITY };
    /// The point 0.
    pub const ZERO: Interval = Interval { lo: 0.0, hi: 0.0 };
    /// The point 1.
    pub const ONE: Interval = Interval { lo: 1.0, hi: 1.0 };

    /// The interval between two numbers in either order; the whole line if one is NaN.
    pub fn new(a: f64, b: f64) -> Self {
        if a.is_nan() || b.is_nan() {
            Self::WHOLE
        } else if a <= b {
            Self { lo: a, hi: b }
        } else {
            Self { lo: b, hi: a }
        }
    }

    /// The interval of one number.
    pub fn point(x: f64) -> Self {
        Self::new(x, x)
    }

    /// [x − r, x + r], rounded outward.
    pub fn around(x: f64, r: f64) -> Self {
        Self::new(down(x - r.abs()), up(x + r.abs()))
    }

    fn outward(lo: f64, hi: f64) -> Self {
        if lo.is_nan() || hi.is_nan() { Self::WHOLE } else { Self { lo: down(lo), hi: up(hi) } }
    }

    /// Ends of a monotone elementary function, widened.
    fn elementary(lo: f64, hi: f64) -> Self {
        if lo.is_nan() || hi.is_nan() {
            Self::WHOLE
        } else {
            Self { lo: down_by(lo, ELEMENTARY_ULPS), hi: up_by(hi, ELEMENTARY_ULPS) }
        }
    }

    fn clamp_to(self, lo: f64, hi: f64) -> Self {
        Self { lo: self.lo.max(lo), hi: self.hi.min(hi) }
    }

    /// hi − lo, rounded up.
    pub fn width(self) -> f64 {
        if self.lo == self.hi { 0.0 } else { up(self.hi - self.lo) }
    }

    /// A number near the middle; finite for every interval.
    pub fn mid(self) -> f64 {
        match (self.lo.is_finite(), self.hi.is_finite()) {
            (true, true) => 0.5 * self.lo + 0.5 * self.hi,
            (true, false) => self.lo.abs().max(1.0) * 2.0,
            (false, true) => -self.hi.abs().max(1.0) * 2.0,
            (false, false) => 0.0,
        }
    }

    /// Largest absolute value.
    pub fn magnitude(self) -> f64 {
        self.lo.abs().max(self.hi.abs())
    }

    /// Smallest absolute value.
    pub fn mignitude(self) -> f64 {
        if self.contains(0.0) { 0.0 } else { self.lo.abs().min(self.hi.abs()) }
    }

    /// Whether x lies in the interval.
    pub fn contains(self, x: f64) -> bool {
        self.lo <= x && x <= self.hi
    }

    /// Whether `other` lies in the interval.
    pub fn contains_interval(self, other: Interval) -> bool {
        self.lo <= other.lo && other.hi <= self.hi
    }

    /// Whether all points are positive.
    pub fn is_positive(self) -> bool {
        self.lo > 0.0
    }

    /// Whether all points are negative.
    pub fn is_negative(self) -> bool {
        self.hi < 0.0
    }

    /// The smallest interval containing both.
    pub fn hull(self, other: Interval) -> Self {
        Self { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    /// The common points, if any.
    pub fn intersection(self, other: Interval) -> Option<Self> {
        let (lo, hi) = (self.lo.max(other.lo), self.hi.min(other.hi));
        (lo <= hi).then_some(Self { lo, hi })
    }

    /// |x|.
    pub fn abs(self) -> Self {
        Self { lo: self.mignitude(), hi: self.magnitude() }
    }

    /// Pointwise minimum.
    pub fn min(self, other: Interval) -> Self {
        Self { lo: self.lo.min(other.lo), hi: self.hi.min(other.hi) }
    }

    /// Pointwise maximum.
    pub fn max(self, other: Interval) -> Self {
        Self { lo: self.lo.max(other.lo), hi: self.hi.max(other.hi) }
    }

    /// Sign: −1, 0 or 1.
    pub fn sign(self) -> Self {
        let sign = |x: f64| {
            if x > 0.0 {
                1.0
            } else if x < 0.0 {
                -1.0
            } else {
                0.0
            }
        };
        Self { lo: sign(self.lo), hi: sign(self.hi) }
    }

    /// Largest integer not above.
    pub fn floor(self) -> Self {
        Self { lo: self.lo.floor(), hi: self.hi.floor() }
    }

    /// Smallest integer not below.
    pub fn ceil(self) -> Self {
        Self { lo: self.lo.ceil(), hi: self.hi.ceil() }
    }

    /// x².
    pub fn sqr(self) -> Self {
        let a = self.abs();
        Self::outward(a.lo * a.lo, a.hi * a.hi).clamp_to(0.0, f64::INFINITY)
    }

    /// 1 / x; the whole line if the interval contains zero.
    pub fn recip(self) -> Self {
        Self::ONE / self
    }

    /// Square root of the non-negative part; the whole line if there is none.
    pub fn sqrt(self) -> Self {
        if self.hi < 0.0 {
            return Self::WHOLE;
        }
        Self::outward(self.lo.max(0.0).sqrt(), self.hi.sqrt()).clamp_to(0.0, f64::INFINITY)
    }

    /// Cube root.
    pub fn cbrt(self) -> Self {
        Self::elementary(self.lo.cbrt(), self.hi.cbrt())
    }

    /// eˣ.
    pub fn exp(self) -> Self {
        Self::elementary(self.lo.exp(), self.hi.exp()).clamp_to(0.0, f64::INFINITY)
    }

    /// Natural logarithm of the positive part; the whole line if there is none.
    pub fn ln(self) -> Self {
        if self.hi <= 0.0 {
            return Self::WHOLE;
        }
        Self::elementary(self.lo.max(0.0).ln(), self.hi.ln())
    }

    /// Decimal logarithm of the positive part; the whole line if there is none.
    pub fn log10(self) -> Self {
        if self.hi <= 0.0 {
            return Self::WHOLE;
        }
        Self::elementary(self.lo.max(0.0).log10(), self.hi.log10())
    }

    /// Whether some point offset + k · period, k integer, may lie in the interval.
    fn meets(self, offset: f64, period: f64) -> bool {
        let size = self.magnitude();
        if !(size < 1e14) {
            return true;
        }
        let slack = 8.0 * f64::EPSILON * (size / period + 1.0);
        let first = ((self.lo - offset) / period - slack).ceil();
        let last = ((self.hi - offset) / period + slack).floor();
        first <= last
    }

    /// Sine.
    pub fn sin(self) -> Self {
        if !(self.width() < TAU) || !(self.magnitude() < 1e14) {
            return Self { lo: -1.0, hi: 1.0 };
        }
        let (a, b) = (self.lo.sin(), self.hi.sin());
        let mut ends = Self::elementary(a.min(b), a.max(b)).clamp_to(-1.0, 1.0);
        if self.meets(FRAC_PI_2, TAU) {
            ends.hi = 1.0;
        }
        if self.meets(-FRAC_PI_2, TAU) {
            ends.lo = -1.0;
        }
        ends
    }

    /// Cosine.
    pub fn cos(self) -> Self {
        if !(self.width() < TAU) || !(self.magnitude() < 1e14) {
            return Self { lo: -1.0, hi: 1.0 };
        }
        let (a, b) = (self.lo.cos(), self.hi.cos());
        let mut ends = Self::elementary(a.min(b), a.max(b)).clamp_to(-1.0, 1.0);
        if self.meets(0.0, TAU) {
            ends.hi = 1.0;
        }
        if self.meets(PI, TAU) {
            ends.lo = -1.0;
        }
        ends
    }

    /// Tangent; the whole line across a pole.
    pub fn tan(self) -> Self {
        if !(self.width() < PI) || self.meets(FRAC_PI_2, PI) {
            return Self::WHOLE;
        }
        Self::elementary(self.lo.tan(), self.hi.tan())
    }

    /// Arc sine of the part in [−1, 1]; the whole line if there is none.
    pub fn asin(self) -> Self {
        if self.lo > 1.0 || self.hi < -1.0 {
            return Self::WHOLE;
        }
        Self::elementary(self.lo.max(-1.0).asin(), self.hi.min(1.0).asin())
    }

    /// Arc cosine of the part in [−1, 1]; the whole line if there is none.
    pub fn acos(self) -> Self {
        if self.lo > 1.0 || self.hi < -1.0 {
            return Self::WHOLE;
        }
        Self::elementary(self.hi.min(1.0).acos(), self.lo.max(-1.0).acos()).clamp_to(0.0, up(PI))
    }

    /// Arc tangent.
    pub fn atan(self) -> Self {
        Self::elementary(self.lo.atan(), self.hi.atan())
    }

    /// Four-quadrant arc tangent of self / x; [−π, π] if the branch cut is touched.
    pub fn atan2(self, x: Interval) -> Self {
        if x.lo <= 0.0 && self.contains(0.0) {
            return Self { lo: -up(PI), hi: up(PI) };
        }
        // Away from the cut and the origin the extremes are taken at the corners.
        let corners = [(self.lo, x.lo), (self.lo, x.hi), (self.hi, x.lo), (self.hi, x.hi)];
        let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
        for (y, x) in corners {
            let v = y.atan2(x);
            if v.is_nan() {
                return Self { lo: -up(PI), hi: up(PI) };
            }
            lo = lo.min(v);
            hi = hi.max(v);
        }
        Self::elementary(lo, hi)
    }

    /// Hyperbolic sine.
    pub fn sinh(self) -> Self {
        Self::elementary(self.lo.sinh(), self.hi.sinh())
    }

    /// Hyperbolic cosine.
    pub fn cosh(self) -> Self {
        let a = self.abs();
        Self::elementary(a.lo.cosh(), a.hi.cosh()).clamp_to(1.0, f64::INFINITY)
    }

    /// Hyperbolic tangent.
    pub fn tanh(self) -> Self {
        Self::elementary(self.lo.tanh(), self.hi.tanh()).clamp_to(-1.0, 1.0)
    }

    /// xⁿ for an integer n; negative powers of intervals containing zero are the whole line.
    pub fn powi(self, n: i32) -> Self {
        if n < 0 {
            let positive = if n == i32::MIN { self.powi(i32::MAX) * self } else { self.powi(-n) };
            return if self.contains(0.0) { Self::WHOLE } else { positive.recip() };
        }
        // Products of point intervals keep the rounding rigorous; monotone pieces need only their ends.
        let power = |x: f64| {
            let (mut result, mut base, mut k) = (Self::ONE, Self::point(x), n as u32);
            while k > 0 {
                if k & 1 == 1 {
                    result = result * base;
                }
                k >>= 1;
                if k > 0 {
                    base = base * base;
                }
            }
            result
        };
        match n {
            0 => Self::ONE,
            1 => self,
            _ if n % 2 == 1 => Self { lo: power(self.lo).lo, hi: power(self.hi).hi },
            _ => {
                let a = self.abs();
                Self { lo: power(a.lo).lo.max(0.0), hi: power(a.hi).hi }
            }
        }
    }

    /// xʸ: exact for a constant integer exponent, else e^(y ln x) over the non-negative part of x.
    pub fn powf(self, y: Interval) -> Self {
        if y.lo == y.hi && y.lo.fract() == 0.0 && y.lo.abs() <= 1e6 {
            return self.powi(y.lo as i32);
        }
        if self.hi < 0.0 {
            return Self::WHOLE;
        }
        let base = Self { lo: self.lo.max(0.0), hi: self.hi };
        if base.lo == 0.0 && y.lo <= 0.0 {
            return Self { lo: 0.0, hi: f64::INFINITY };
        }
        // Monotone in each argument between 0, 1 and ∞: the extremes are at corners or at x = 1, whose power is 1.
        let corners = [(base.lo, y.lo), (base.lo, y.hi), (base.hi, y.lo), (base.hi, y.hi)];
        let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
        for (x, y) in corners {
            let v = x.powf(y);
            if v.is_nan() {
                return Self { lo: 0.0, hi: f64::INFINITY };
            }
            lo = lo.min(v);
            hi = hi.max(v);
        }
        if base.contains(1.0) {
            lo = lo.min(1.0);
            hi = hi.max(1.0);
        }
        Self::elementary(lo, hi).clamp_to(0.0, f64::INFINITY)
    }
}

impl From<f64> for Interval {
    fn from(x: f64) -> Self {
        Self::point(x)
    }
}

impl std::fmt::Display for Interval {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{}, {}]", self.lo, self.hi)
    }
}

impl Neg for Interval {
    type Output = Self;
    fn neg(self) -> Self {
        Self { lo: -self.hi, hi: -self.lo }
    }
}

impl Add for Interval {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        if o == Self::ZERO {
            return self;
        }
        if self == Self::ZERO {
            return o;
        }
        Self::outward(self.lo + o.lo, self.hi + o.hi)
    }
}

impl Sub for Interval {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        self + -o
    }
}

impl Mul for Interval {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        if self == Self::ZERO || o == Self::ZERO {
            return Self::ZERO;
        }
        if self == Self::ONE {
            return o;
        }
        if o == Self::ONE {
            return self;
        }
        let p = [product(self.lo, o.lo), product(self.lo, o.hi), product(self.hi, o.lo), product(self.hi, o.hi)];
        let lo = p[0].min(p[1]).min(p[2].min(p[3]));
        let hi = p[0].max(p[1]).max(p[2].max(p[3]));
        // A zero end that comes from a zero factor is exact, an underflow is not.
        let underflow = |a: f64, b: f64, p: f64| p == 0.0 && a != 0.0 && b != 0.0;
        let exact_zero = !(underflow(self.lo, o.lo, p[0])
            || underflow(self.lo, o.hi, p[1])
            || underflow(self.hi, o.lo, p[2])
            || underflow(self.hi, o.hi, p[3]));
        let mut result = Self::outward(lo, hi);
        if exact_zero && lo == 0.0 {
            result.lo = 0.0;
        }
        if exact_zero && hi == 0.0 {
            result.hi = 0.0;
        }
        result
    }
}

impl Div for Interval {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        if o.contains(0.0) {
            return Self::WHOLE;
        }
        if o == Self::ONE {
            return self;
        }
        let quotient = |a: f64, b: f64| if a == 0.0 || (a.is_infinite() && b.is_infinite()) { 0.0 } else { a / b };
        let q = [quotient(self.lo, o.lo), quotient(self.lo, o.hi), quotient(self.hi, o.lo), quotient(self.hi, o.hi)];
        let mut lo = q[0].min(q[1]).min(q[2].min(q[3]));
        let mut hi = q[0].max(q[1]).max(q[2].max(q[3]));
        if self.magnitude().is_infinite() && o.magnitude().is_infinite() {
            // ∞ / ∞ approaches both 0 (counted above) and ∞.
            let flip = o.hi < 0.0;
            if self.hi == f64::INFINITY {
                if flip { lo = f64::NEG_INFINITY } else { hi = f64::INFINITY }
            }
            if self.lo == f64::NEG_INFINITY {
                if flip { hi = f64::INFINITY } else { lo = f64::NEG_INFINITY }
            }
        }
        Self::outward(lo, hi)
    }
}

macro_rules! mixed {
    ($($trait:ident $method:ident),*) => { $(
        impl $trait<f64> for Interval {
            type Output = Interval;
            fn $method(self, o: f64) -> Interval {
                $trait::$method(self, Interval::point(o))
            }
        }
        impl $trait<Interval> for f64 {
            type Output = Interval;
            fn $method(self, o: Interval) -> Interval {
                $trait::$method(Interval::point(self), o)
            }
        }
    )* };
}

mixed!(Add add, Sub sub, Mul mul, Div div);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Double-double numbers, enough to judge the last place of a double.
    #[derive(Clone, Copy)]
    struct Dd(f64, f64);

    fn two_sum(a: f64, b: f64) -> Dd {
        let s = a + b;
        let t = s - a;
        Dd(s, (a - (s - t)) + (b - t))
    }

    impl Dd {
        fn add(self, o: Dd) -> Dd {
            let s = two_sum(self.0, o.0);
            let t = two_sum(self.1, o.1);
            let u = two_sum(s.0, s.1 + t.0);
            two_sum(u.0, u.1 + t.1)
        }
        fn neg(self) -> Dd {
            Dd(-self.0, -self.1)
        }
        fn mul(self, o: Dd) -> Dd {
            let p = self.0 * o.0;
            let e = self.0.mul_add(o.0, -p);
            two_sum(p, e + (self.0 * o.1 + self.1 * o.0))
        }
        fn div(self, o: Dd) -> Dd {
            let q = self.0 / o.0;
            let r = self.add(o.mul(Dd(q, 0.0)).neg());
            let q2 = r.0 / o.0;
            let r2 = r.add(o.mul(Dd(q2, 0.0)).neg());
            two_sum(q, q2).add(Dd(r2.0 / o.0, 0.0))
        }
        fn exp(self) -> Dd {
            // e^x = (e^(x / 2^k))^(2^k).
            let k = 8;
            let scale = Dd((-(k as f64)).exp2(), 0.0);
            let x = self.mul(scale);
            let (mut sum, mut term) = (Dd(1.0, 0.0), Dd(1.0, 0.0));
            for i in 1..40 {
                term = term.mul(x).div(Dd(i as f64, 0.0));
                sum = sum.add(term);
            }
            for _ in 0..k {
                sum = sum.mul(sum);
            }
            sum
        }
        fn ln(self) -> Dd {
            let mut y = Dd(self.0.ln(), 0.0);
            for _ in 0..2 {
                y = y.add(self.mul(y.neg().exp())).add(Dd(-1.0, 0.0));
            }
            y
        }
        fn sin_cos(self) -> (Dd, Dd) {
            let (mut s, mut c, mut term) = (Dd(0.0, 0.0), Dd(0.0, 0.0), Dd(1.0, 0.0));
            for i in 0..60 {
                let target = if i % 2 == 0 { &mut c } else { &mut s };
                let signed = if i % 4 >= 2 { term.neg() } else { term };
                *target = target.add(signed);
                term = term.mul(self).div(Dd((i + 1) as f64, 0.0));
            }
            (s, c)
        }
        fn atan(self) -> Dd {
            let mut y = Dd(self.0.atan(), 0.0);
            for _ in 0..2 {
                let (s, c) = y.sin_cos();
                let f = s.add(self.mul(c).neg());
                let d = c.add(self.mul(s));
                y = y.add(f.div(d).neg());
            }
            y
        }
        fn asin(self) -> Dd {
            let mut y = Dd(self.0.asin(), 0.0);
            for _ in 0..2 {
                let (s, c) = y.sin_cos();
                y = y.add(s.add(self.neg()).div(c).neg());
            }
            y
        }
    }

    /// The library value must be within two units, the interval of the point must contain the true value.
    #[track_caller]
    fn check(name: &str, x: f64, value: f64, interval: Interval, exact: Dd) {
        let ulp = exact.0.abs().next_up() - exact.0.abs();
        let error = ((value - exact.0) - exact.1).abs() / ulp;
        assert!(error <= 2.0, "{name}({x}) is off by {error} ulp");
        let below = (interval.lo - exact.0) - exact.1 <= 0.0;
        let above = (interval.hi - exact.0) - exact.1 >= 0.0;
        assert!(below && above, "{name}({x}) not in {interval}");
    }

    #[test]
    fn elementary_functions_within_the_stated_bound() {
        let half = Dd(0.5, 0.0);
        for k in 0..4000 {
            let u = ((k as f64 + 0.5) * 0.618_033_988_749_894_9).fract();
            let x = 20.0 * u - 10.0;
            let (p, d) = (Interval::point(x), Dd(x, 0.0));
            check("exp", x, x.exp(), p.exp(), d.exp());
            let (s, c) = d.sin_cos();
            check("sin", x, x.sin(), p.sin(), s);
            check("cos", x, x.cos(), p.cos(), c);
            check("tan", x, x.tan(), p.tan(), s.div(c));
            check("atan", x, x.atan(), p.atan(), d.atan());
            let (e, i) = (d.exp(), d.neg().exp());
            check("cosh", x, x.cosh(), p.cosh(), e.add(i).mul(half));
            if x.abs() > 0.01 {
                check("sinh", x, x.sinh(), p.sinh(), e.add(i.neg()).mul(half));
                check("tanh", x, x.tanh(), p.tanh(), e.add(i.neg()).div(e.add(i)));
            }
            let y = 0.98 * x / 10.0;
            check("asin", y, y.asin(), Interval::point(y).asin(), Dd(y, 0.0).asin());
            let v = x.abs() + 1e-3;
            let log = Dd(v, 0.0).ln();
            if (v - 1.0).abs() > 1e-3 {
                check("ln", v, v.ln(), Interval::point(v).ln(), log);
                check("log10", v, v.log10(), Interval::point(v).log10(), log.div(Dd(10.0, 0.0).ln()));
            }
            let exponent = 3.0 * u + 0.1;
            let power = Interval::point(v).powf(Interval::point(exponent));
            check("pow", v, v.powf(exponent), power, log.mul(Dd(exponent, 0.0)).exp());
            let cube = Dd(v, 0.0);
            assert!(Interval::point(v).powi(3).contains(cube.mul(cube).mul(cube).0));
        }
    }

    #[test]
    fn special_cases() {
        let i = Interval::new;
        assert_eq!(i(1.0, 2.0) / i(-1.0, 1.0), Interval::WHOLE);
        assert_eq!((i(0.0, 1e-200) * i(1e-200, 2e-200)).hi, 5e-324);
        assert!((i(1.0, f64::INFINITY) / i(1.0, f64::INFINITY)).contains(0.0));
        assert_eq!((i(1.0, f64::INFINITY) / i(1.0, f64::INFINITY)).hi, f64::INFINITY);
        assert_eq!(i(-1.0, 2.0).powi(2).lo, 0.0);
        assert!(i(-1.0, 2.0).powi(-1) == Interval::WHOLE);
        assert_eq!(i(1.0, 2.0).sin().hi, 1.0);
        assert_eq!(i(0.0, 10.0).cos(), i(-1.0, 1.0));
        assert_eq!(i(1.0, 2.0).tan(), Interval::WHOLE);
        assert_eq!(i(-3.0, -1.0).sqrt(), Interval::WHOLE);
        assert_eq!(i(-3.0, -1.0).ln(), Interval::WHOLE);
        assert_eq!(i(f64::NAN, 1.0), Interval::WHOLE);
        assert_eq!(Interval::WHOLE.exp().lo, 0.0);
        assert!(i(1e300, 1e300).sin().contains(1e300f64.sin()));
        assert_eq!((Interval::WHOLE * Interval::ZERO), Interval::ZERO);
        assert_eq!((Interval::WHOLE - Interval::WHOLE), Interval::WHOLE);
        assert!(i(-1.0, 1.0).atan2(i(-1.0, 1.0)).contains(PI));
        assert!(i(1.0, 2.0).atan2(i(-1.0, 1.0)).contains(FRAC_PI_2));
        assert!(i(0.5, 2.0).powf(i(-1.0, 1.0)).contains(1.0));
        assert_eq!(i(3.0, f64::INFINITY).mid(), 6.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        /// f(point) ∈ f(interval) for points inside.
        #[test]
        fn inclusion(a in -20.0f64..20.0, w in 0.0f64..8.0, b in -20.0f64..20.0, v in 0.0f64..8.0, s in 0.0f64..=1.0, t in 0.0f64..=1.0, n in -5i32..7) {
            let x = Interval::new(a, a + w);
            let y = Interval::new(b, b + v);
            let p = (a + s * w).min(x.hi);
            let q = (b + t * v).min(y.hi);
            let cases = [
                (x + y, p + q), (x - y, p - q), (x * y, p * q), (x / y, p / q),
                (x.sqr(), p * p), (x.abs(), p.abs()), (x.min(y), p.min(q)), (x.max(y), p.max(q)),
                (x.sin(), p.sin()), (x.cos(), p.cos()), (x.tan(), p.tan()), (x.exp(), p.exp()),
                (x.atan(), p.atan()), (x.sinh(), p.sinh()), (x.cosh(), p.cosh()), (x.tanh(), p.tanh()),
                (x.cbrt(), p.cbrt()), (x.sqrt(), p.sqrt()), (x.ln(), p.ln()), (x.powi(n), p.powi(n)),
                (x.atan2(y), p.atan2(q)), (x.powf(y), p.powf(q)), (x.sign(), if p > 0.0 { 1.0 } else { -1.0 }),
                (x.floor(), p.floor()), (x.ceil(), p.ceil()), (x.recip(), 1.0 / p), (-x, -p),
            ];
            for (k, (interval, value)) in cases.iter().enumerate() {
                let slack = 1e-13 * value.abs();
                prop_assert!(value.is_nan() || (interval.lo <= value + slack && value - slack <= interval.hi), "case {}: {} not in {} for {} {}", k, value, interval, x, y);
            }
        }
    }
}
