//! Exact root isolation for polynomials on [0, 1].
//!
//! Power-basis coefficients a_0 … a_n (of a Taylor, Hermite or Nordsieck interpolant over the step) are converted to
//! the Bernstein basis. Bernstein coefficients enclose the polynomial, and their sign variations bound its roots
//! (Descartes): no variation, no root; one variation, exactly one. Other pieces are halved, left half first, until one
//! of the two holds or all coefficients are at rounding level. The cost for a function that stays clear of zero is the
//! conversion, n²/2 additions.

use super::{Crossing, CrossingOptions, Leave, Sign, earliest};

/// The highest degree handled by Bernstein coefficients; higher ones are isolated on a Chebyshev proxy.
pub const MAX_DEGREE: usize = 32;

/// A root found by [`first_root`] or [`all_roots`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Root {
    /// Last place before the sign change; the root itself if it touches.
    pub s_before: f64,
    /// First place after it.
    pub s_after: f64,
    /// An even root: the sign is the same on both sides.
    pub touching: bool,
    /// The sign to the right of the root.
    pub direction: Sign,
}

#[derive(Clone, Copy)]
struct Bernstein {
    degree: usize,
    b: [f64; MAX_DEGREE + 1],
}

/// What Bernstein coefficients say about the sign of a piece.
enum Class {
    /// Nowhere negative.
    Positive,
    /// Nowhere positive, and negative somewhere.
    Negative,
    /// Indistinguishable from zero.
    Zero,
    /// Positive at the left, negative at the right, exactly one root between.
    Down,
    /// Anything else.
    Mixed,
}

impl Bernstein {
    fn from_power(a: &[f64]) -> Self {
        let n = a.len() - 1;
        let mut b = [0.0; MAX_DEGREE + 1];
        let mut binomial = 1.0;
        for k in 0..=n {
            b[k] = a[k] / binomial;
            binomial = binomial * (n - k) as f64 / (k + 1) as f64;
        }
        for k in 1..=n {
            for i in (k..=n).rev() {
                b[i] += b[i - 1];
            }
        }
        Self { degree: n, b }
    }

    fn coefficients(&self) -> &[f64] {
        &self.b[..=self.degree]
    }

    fn mapped(mut self, sigma: f64, level: f64) -> Self {
        for v in &mut self.b[..=self.degree] {
            *v = sigma * *v - level;
        }
        self
    }

    fn reversed(mut self) -> Self {
        self.b[..=self.degree].reverse();
        self
    }

    /// The pieces left and right of t.
    fn split(&self, t: f64) -> (Self, Self) {
        let n = self.degree;
        let mut left = *self;
        let mut right = *self;
        for k in 1..=n {
            for i in (k..=n).rev() {
                left.b[i] = (1.0 - t) * left.b[i - 1] + t * left.b[i];
            }
        }
        // left.b[i] is now the i-th diagonal entry; the other diagonal comes from the mirrored triangle.
        for k in 1..=n {
            for i in 0..=n - k {
                right.b[i] = (1.0 - t) * right.b[i] + t * right.b[i + 1];
            }
        }
        (left, right)
    }

    fn restricted(self, lo: f64, hi: f64) -> Self {
        let tail = if lo > 0.0 { self.split(lo).1 } else { self };
        if hi < 1.0 && lo < 1.0 { tail.split((hi - lo) / (1.0 - lo)).0 } else { tail }
    }

    fn class(&self, noise: f64) -> Class {
        let (mut variations, mut last, mut first) = (0, 0.0f64, 0.0f64);
        for &v in self.coefficients() {
            if v.abs() <= noise {
                continue;
            }
            let sign = v.signum();
            if last == 0.0 {
                first = sign;
            } else if sign != last {
                variations += 1;
            }
            last = sign;
        }
        let decided = self.b[0].abs() > noise && self.b[self.degree].abs() > noise;
        match variations {
            0 if last == 0.0 => Class::Zero,
            0 if last > 0.0 => Class::Positive,
            0 => Class::Negative,
            1 if first > 0.0 && decided => Class::Down,
            _ => Class::Mixed,
        }
    }
}

/// Left-to-right search for the first piece that is negative beyond doubt.
struct Scan {
    noise: f64,
    /// Left end of the stretch before the current piece on which the sign is in doubt.
    doubtful: Option<f64>,
}

impl Scan {
    fn run(&mut self, p: &Bernstein, lo: f64, hi: f64) -> Option<(f64, f64)> {
        match p.class(self.noise) {
            Class::Positive => {
                self.doubtful = None;
                None
            }
            Class::Zero => {
                self.doubtful.get_or_insert(lo);
                None
            }
            Class::Negative => {
                let after = if p.b[p.degree] < -self.noise { hi } else { 0.5 * (lo + hi) };
                Some((self.doubtful.unwrap_or(lo), after))
            }
            Class::Down => Some((lo, hi)),
            Class::Mixed => {
                if hi - lo <= 1e-15 {
                    if p.b[p.degree] < -self.noise {
                        return Some((self.doubtful.unwrap_or(lo), hi));
                    }
                    self.doubtful.get_or_insert(lo);
                    return None;
                }
                let middle = 0.5 * (lo + hi);
                let (left, right) = p.split(0.5);
                self.run(&left, lo, middle).or_else(|| self.run(&right, middle, hi))
            }
        }
    }
}

/// A polynomial ready for several searches.
struct Poly<'a> {
    power: &'a [f64],
    bernstein: Bernstein,
    noise: f64,
}

impl<'a> Poly<'a> {
    /// Nothing for non-finite or too many coefficients.
    fn new(coeffs: &'a [f64]) -> Option<Self> {
        let length = coeffs.iter().rposition(|v| *v != 0.0).map_or(1, |k| k + 1);
        let power = if coeffs.is_empty() { &[0.0][..] } else { &coeffs[..length] };
        let size: f64 = power.iter().map(|v| v.abs()).sum();
        if !size.is_finite() || length > MAX_DEGREE + 1 {
            return None;
        }
        let noise = 4.0 * f64::EPSILON * length as f64 * size;
        Some(Self { power, bernstein: Bernstein::from_power(power), noise })
    }

    fn derivative(&self, s: f64) -> f64 {
        self.power.iter().enumerate().skip(1).rev().fold(0.0, |v, (k, a)| v * s + k as f64 * a)
    }
}

impl Leave for Poly<'_> {
    fn value(&mut self, s: f64) -> f64 {
        evaluate(self.power, s)
    }

    fn leave(&mut self, sigma: f64, level: f64, from: f64, to: f64) -> Option<(f64, f64)> {
        let (lo, hi) = (from.min(to), from.max(to));
        if !(lo < hi) {
            return None;
        }
        let piece = self.bernstein.mapped(sigma, level).restricted(lo, hi);
        let piece = if to < from { piece.reversed() } else { piece };
        // Rounding of σ g − level grows with the level.
        let noise = self.noise + 4.0 * f64::EPSILON * level.abs();
        let (u, v) = Scan { noise, doubtful: None }.run(&piece, 0.0, 1.0)?;
        let place = |u: f64| {
            if u == 0.0 {
                from
            } else if u == 1.0 {
                to
            } else {
                from + u * (to - from)
            }
        };
        let (before, after) = (place(u), place(v));
        Some(super::narrow(self, sigma, level, before, after, 0.0))
    }

    fn noise(&self) -> f64 {
        self.noise
    }

    fn lowest(&mut self, sigma: f64, lo: f64, hi: f64) -> f64 {
        let (a, b) = (-sigma * self.derivative(lo), -sigma * self.derivative(hi));
        if a >= 0.0 && b < 0.0 {
            super::bracket::sign_change(|s| -sigma * self.derivative(s), lo, a, hi, b, 0.0).0
        } else {
            0.5 * (lo + hi)
        }
    }
}

/// The value of Σ a_k s^k.
pub fn evaluate(coeffs: &[f64], s: f64) -> f64 {
    coeffs.iter().rev().fold(0.0, |v, a| v * s + a)
}

/// The earliest place in [0, 1] where the polynomial Σ a_k s^k leaves the given side.
///
/// `side` is the locked side, not the sign at s = 0; see the [module's rules](super). Non-finite coefficients give
/// nothing.
///
/// ```
/// use saltus_solver::roots::{CrossingOptions, Sign, poly::first_crossing};
/// // (s − 0.3)(s − 0.3001): both crossings lie in one step; the first is found.
/// let c = first_crossing(&[0.3 * 0.3001, -0.6001, 1.0], Sign::Positive, &CrossingOptions::default()).unwrap();
/// assert!((c.s_before - 0.3).abs() < 1e-11 && c.s_after > c.s_before);
/// ```
pub fn first_crossing(coeffs: &[f64], side: Sign, opts: &CrossingOptions) -> Option<Crossing> {
    match Poly::new(coeffs) {
        Some(mut p) => earliest(&mut p, side, opts, 0.0, 1.0),
        None if coeffs.iter().all(|v| v.is_finite()) => {
            let mut g = |s: f64| evaluate(coeffs, s);
            super::generic::first_crossing_sampled(&mut g, 0.0, 1.0, side, opts, &Default::default()).crossing
        }
        None => None,
    }
}

/// For a function at zero (masked): the place in [0, 1] where it leaves the band |g| ≤ tol for good, and to which side.
///
/// The place is the last zero before the band is left, or 0. Nothing if it stays in the band.
pub fn leaves_zero(coeffs: &[f64], tol: f64) -> Option<(f64, Sign)> {
    let mut p = Poly::new(coeffs)?;
    let tol = tol.max(0.0);
    let up = p.leave(-1.0, -tol, 0.0, 1.0);
    let down = p.leave(1.0, -tol, 0.0, up.map_or(1.0, |u| u.1));
    let (gone, side) = match (up, down) {
        (_, Some((_, gone))) => (gone, Sign::Negative),
        (Some((_, gone)), None) => (gone, Sign::Positive),
        (None, None) => return None,
    };
    // Going back from where it has left, the first place on the other side.
    let back = p.leave(side.factor(), 0.0, gone, 0.0);
    Some((back.map_or(0.0, |(_, other)| other), side))
}

/// The earliest place in [0, 1] from which on |g| ≤ tol, for a function that starts outside that band.
pub fn reaches_zero(coeffs: &[f64], tol: f64) -> Option<f64> {
    let mut p = Poly::new(coeffs)?;
    let side = Sign::of(p.value(0.0))?;
    let level = tol.max(4.0 * p.noise);
    if p.value(0.0).abs() <= level {
        return Some(0.0);
    }
    p.leave(side.factor(), level, 0.0, 1.0).map(|(_, inside)| inside)
}

/// The earliest root in (a, 1], crossing or touching; a root at `a` itself does not count.
///
/// Nothing for the zero polynomial and from a stretch on which the polynomial is zero to rounding.
pub fn first_root(coeffs: &[f64], a: f64) -> Option<Root> {
    let mut p = Poly::new(coeffs)?;
    let a = a.clamp(0.0, 1.0);
    if !(a < 1.0) {
        return None;
    }
    // The side on which the polynomial is just right of a.
    let mut start = a;
    let mut side = Sign::of(p.value(a)).filter(|_| p.value(a).abs() > p.noise);
    if side.is_none() {
        let up = p.leave(-1.0, 0.0, a, 1.0);
        let down = p.leave(1.0, 0.0, a, up.map_or(1.0, |u| u.1));
        (start, side) = match (up, down) {
            (_, Some((_, after))) => (after, Some(Sign::Negative)),
            (Some((_, after)), None) => (after, Some(Sign::Positive)),
            (None, None) => return None,
        };
        // `after` may still be at rounding level; look on from where the sign is certain.
        let sigma = side?.factor();
        if let Some((_, clear)) = p.leave(-sigma, -4.0 * p.noise, start, 1.0) {
            start = clear;
        }
    }
    let side = side?;
    let opts = CrossingOptions { touching: true, ..Default::default() };
    if let Some(c) = earliest(&mut p, side, &opts, start, 1.0) {
        let direction = if c.touching { side } else { side.opposite() };
        return Some(Root { s_before: c.s_before, s_after: c.s_after, touching: c.touching, direction });
    }
    // A root exactly at the right end.
    (p.value(1.0).abs() <= p.noise && start < 1.0).then_some(Root {
        s_before: 1.0,
        s_after: 1.0,
        touching: false,
        direction: side.opposite(),
    })
}

/// All roots in (a, 1], in order.
pub fn all_roots(coeffs: &[f64], a: f64) -> Vec<Root> {
    let mut roots: Vec<Root> = Vec::new();
    let mut from = a;
    while let Some(root) = first_root(coeffs, from) {
        roots.push(root);
        if root.s_after >= 1.0 || roots.len() > 2 * coeffs.len() {
            break;
        }
        from = root.s_after;
        if root.touching {
            // Step over the stretch on which the even root is at rounding level.
            let Some(mut p) = Poly::new(coeffs) else { break };
            let sigma = root.direction.factor();
            match p.leave(-sigma, -8.0 * p.noise, from, 1.0) {
                Some((_, clear)) => from = clear,
                None => break,
            }
        }
    }
    roots
}
