//! The two number types the factorizations work on.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// A field element with a magnitude: `f64` or [`C64`].
pub trait Scalar:
    Copy
    + Debug
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + From<f64>
    + 'static
{
    /// Additive identity.
    const ZERO: Self;
    /// Multiplicative identity.
    const ONE: Self;
    /// A cheap magnitude: |x|, or |re| + |im|.
    fn mag(self) -> f64;
    /// |x|.
    fn modulus(self) -> f64;
    /// The complex conjugate.
    fn conj(self) -> Self;
    /// Product with a real number.
    fn scale(self, a: f64) -> Self;
    /// Whether it is a negative real number.
    fn is_negative(self) -> bool;
}

impl Scalar for f64 {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;
    #[inline]
    fn mag(self) -> f64 {
        self.abs()
    }
    #[inline]
    fn modulus(self) -> f64 {
        self.abs()
    }
    #[inline]
    fn conj(self) -> f64 {
        self
    }
    #[inline]
    fn scale(self, a: f64) -> f64 {
        self * a
    }
    #[inline]
    fn is_negative(self) -> bool {
        self < 0.0
    }
}

/// A complex number.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct C64 {
    /// Real part.
    pub re: f64,
    /// Imaginary part.
    pub im: f64,
}

impl C64 {
    /// `re + i im`.
    #[inline]
    pub fn new(re: f64, im: f64) -> Self {
        C64 { re, im }
    }
}

impl From<f64> for C64 {
    #[inline]
    fn from(re: f64) -> Self {
        C64 { re, im: 0.0 }
    }
}
impl Add for C64 {
    type Output = C64;
    #[inline]
    fn add(self, o: C64) -> C64 {
        C64::new(self.re + o.re, self.im + o.im)
    }
}
impl Sub for C64 {
    type Output = C64;
    #[inline]
    fn sub(self, o: C64) -> C64 {
        C64::new(self.re - o.re, self.im - o.im)
    }
}
impl Mul for C64 {
    type Output = C64;
    #[inline]
    fn mul(self, o: C64) -> C64 {
        C64::new(self.re * o.re - self.im * o.im, self.re * o.im + self.im * o.re)
    }
}
impl Div for C64 {
    type Output = C64;
    /// Smith's algorithm, safe against overflow.
    #[inline]
    fn div(self, o: C64) -> C64 {
        if o.re.abs() >= o.im.abs() {
            let r = o.im / o.re;
            let d = o.re + o.im * r;
            C64::new((self.re + self.im * r) / d, (self.im - self.re * r) / d)
        } else {
            let r = o.re / o.im;
            let d = o.re * r + o.im;
            C64::new((self.re * r + self.im) / d, (self.im * r - self.re) / d)
        }
    }
}
impl Neg for C64 {
    type Output = C64;
    #[inline]
    fn neg(self) -> C64 {
        C64::new(-self.re, -self.im)
    }
}
impl AddAssign for C64 {
    #[inline]
    fn add_assign(&mut self, o: C64) {
        *self = *self + o;
    }
}
impl SubAssign for C64 {
    #[inline]
    fn sub_assign(&mut self, o: C64) {
        *self = *self - o;
    }
}
impl Scalar for C64 {
    const ZERO: C64 = C64 { re: 0.0, im: 0.0 };
    const ONE: C64 = C64 { re: 1.0, im: 0.0 };
    #[inline]
    fn mag(self) -> f64 {
        self.re.abs() + self.im.abs()
    }
    #[inline]
    fn modulus(self) -> f64 {
        self.re.hypot(self.im)
    }
    #[inline]
    fn conj(self) -> C64 {
        C64::new(self.re, -self.im)
    }
    #[inline]
    fn scale(self, a: f64) -> C64 {
        C64::new(self.re * a, self.im * a)
    }
    #[inline]
    fn is_negative(self) -> bool {
        self.im == 0.0 && self.re < 0.0
    }
}
