//! The earliest crossing of functions that are not polynomials.
//!
//! [`first_crossing_enclosed`] works with interval enclosures of g: stretches whose enclosure stays on the side are
//! discarded, others halved, left half first.
//!
//! [`first_crossing_sampled`] needs only values. It interpolates g at Chebyshev points (degree 8, 16, 32, halving the
//! interval where that is not enough) until the interpolant agrees with g at further points to about eleven digits of
//! the local magnitude of g, or to far less than its distance from zero. Signs are then decided on the interpolants by coefficient bounds and monotonicity, and
//! stretches on which they are in doubt are interpolated again on their own, smaller, scale. Every bracket returned is
//! confirmed by values of g itself.

use super::{Crossing, CrossingOptions, Leave, Sign, earliest};
use crate::interval::Interval;

/// Limits of the searches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GenericOptions {
    /// Evaluations of g (and of enclosures) allowed.
    pub max_evaluations: usize,
    /// Enclosed search: stretches narrower than this share of the interval are decided by the values at their ends.
    pub resolution: f64,
    /// Sampled search: accepted error of the interpolant relative to the largest |g| on its stretch.
    pub fit_tol: f64,
}

impl Default for GenericOptions {
    fn default() -> Self {
        Self { max_evaluations: 4000, resolution: 1e-10, fit_tol: 1e-11 }
    }
}

/// The outcome of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Located {
    /// The earliest crossing.
    pub crossing: Option<Crossing>,
    /// Whether the search was complete: no stretch was left in doubt and the limits were not reached.
    pub certain: bool,
    /// Evaluations of g and enclosures made.
    pub evaluations: usize,
}

/// A function with interval enclosures.
pub trait Enclosed {
    /// g(s).
    fn value(&mut self, s: f64) -> f64;

    /// An interval containing g over [lo, hi].
    fn enclose(&mut self, lo: f64, hi: f64) -> Interval;

    /// An interval containing g' over [lo, hi], if there is one; it makes the search much faster near roots.
    fn enclose_derivative(&mut self, lo: f64, hi: f64) -> Option<Interval> {
        let _ = (lo, hi);
        None
    }
}

struct EnclosedSearch<'a, G: ?Sized> {
    g: &'a mut G,
    opts: &'a GenericOptions,
    span: f64,
    scale: f64,
    evaluations: usize,
    certain: bool,
}

impl<G: Enclosed + ?Sized> EnclosedSearch<'_, G> {
    /// Searches from `from` towards `to`; `doubtful` is where the sign came into doubt.
    fn scan(&mut self, sigma: f64, level: f64, from: f64, to: f64, doubtful: &mut Option<f64>) -> Option<(f64, f64)> {
        let (lo, hi) = (from.min(to), from.max(to));
        if !(lo < hi) {
            return None;
        }
        let values = self.g.enclose(lo, hi) * sigma - level;
        self.evaluations += 1;
        if values.lo >= 0.0 {
            *doubtful = None;
            return None;
        }
        if values.hi < 0.0 {
            return Some((doubtful.unwrap_or(from), to));
        }
        let exhausted = self.evaluations >= self.opts.max_evaluations;
        let small = hi - lo <= self.opts.resolution * self.span;
        let middle = 0.5 * lo + 0.5 * hi;
        let monotone = !small && self.g.enclose_derivative(lo, hi).is_some_and(|d| d.lo > 0.0 || d.hi < 0.0);
        if monotone || small || exhausted || !(lo < middle && middle < hi) {
            self.evaluations += 2;
            let first = sigma * self.value(from) - level;
            let last = sigma * self.value(to) - level;
            if last < -self.noise() {
                let before = if first >= 0.0 { from } else { doubtful.unwrap_or(from) };
                return Some((before, to));
            }
            if monotone && last > 0.0 && first >= 0.0 {
                *doubtful = None;
                return None;
            }
            if !monotone {
                // The values say "not crossed", the enclosure says "perhaps".
                self.certain = false;
            }
            doubtful.get_or_insert(from);
            return None;
        }
        self.scan(sigma, level, from, middle, doubtful).or_else(|| self.scan(sigma, level, middle, to, doubtful))
    }
}

impl<G: Enclosed + ?Sized> Leave for EnclosedSearch<'_, G> {
    fn value(&mut self, s: f64) -> f64 {
        self.evaluations += 1;
        self.g.value(s)
    }

    fn leave(&mut self, sigma: f64, level: f64, from: f64, to: f64) -> Option<(f64, f64)> {
        let (before, after) = self.scan(sigma, level, from, to, &mut None)?;
        Some(super::narrow(self, sigma, level, before, after, 0.0))
    }

    fn noise(&self) -> f64 {
        8.0 * f64::EPSILON * self.scale
    }

    fn lowest(&mut self, sigma: f64, lo: f64, hi: f64) -> f64 {
        golden(|s| sigma * self.value(s), lo, hi)
    }
}

/// The earliest place in [lo, hi] where g leaves the given side, guaranteed by enclosures.
pub fn first_crossing_enclosed<G: Enclosed + ?Sized>(
    g: &mut G,
    lo: f64,
    hi: f64,
    side: Sign,
    opts: &CrossingOptions,
    limits: &GenericOptions,
) -> Located {
    let scale = g.value(lo).abs().max(g.value(hi).abs());
    let scale = if scale.is_finite() { scale } else { 0.0 };
    let mut search = EnclosedSearch { g, opts: limits, span: hi - lo, scale, evaluations: 2, certain: true };
    let crossing = earliest(&mut search, side, opts, lo, hi);
    let certain = search.certain && search.evaluations < limits.max_evaluations;
    Located { crossing, certain, evaluations: search.evaluations }
}

/// Golden-section search for a minimum.
fn golden(mut f: impl FnMut(f64) -> f64, lo: f64, hi: f64) -> f64 {
    const SHARE: f64 = 0.381_966_011_250_105_1;
    let (mut a, mut b) = (lo, hi);
    let (mut x, mut y) = (a + SHARE * (b - a), b - SHARE * (b - a));
    let (mut fx, mut fy) = (f(x), f(y));
    for _ in 0..48 {
        if fx <= fy {
            b = y;
            (y, fy) = (x, fx);
            x = a + SHARE * (b - a);
            fx = f(x);
        } else {
            a = x;
            (x, fx) = (y, fy);
            y = b - SHARE * (b - a);
            fy = f(y);
        }
        if !(b - a > 1e-9 * (hi - lo)) {
            break;
        }
    }
    0.5 * a + 0.5 * b
}

const MOST: usize = 33;

/// A Chebyshev interpolant on [lo, hi]: Σ c_k T_k.
#[derive(Clone, Copy)]
struct Cheb {
    lo: f64,
    hi: f64,
    degree: usize,
    c: [f64; MOST],
    /// |g − p| is below this.
    error: f64,
    /// The degree sufficed.
    smooth: bool,
}

/// The k-th of n+1 Chebyshev–Lobatto points, from +1 down to −1.
fn lobatto(k: usize, n: usize) -> f64 {
    // The sine form is exactly antisymmetric.
    (std::f64::consts::PI * (n as f64 - 2.0 * k as f64) / (2.0 * n as f64)).sin()
}

impl Cheb {
    fn place(&self, x: f64) -> f64 {
        if x >= 1.0 {
            self.hi
        } else if x <= -1.0 {
            self.lo
        } else {
            // Rounding must not lead out of the stretch: beyond its ends the function is another's.
            let s = 0.5 * ((1.0 - x) * self.lo + (1.0 + x) * self.hi);
            s.max(self.lo.min(self.hi)).min(self.lo.max(self.hi))
        }
    }

    /// Coefficients from the values at the n+1 Lobatto points (values[0] at the right end).
    fn from_values(lo: f64, hi: f64, values: &[f64]) -> Self {
        let n = values.len() - 1;
        let mut c = [0.0; MOST];
        // cos(π j k / n) from a table over one period.
        let mut table = [0.0; 2 * MOST];
        for (i, t) in table.iter_mut().enumerate().take(2 * n) {
            *t = (std::f64::consts::PI * i as f64 / n as f64).cos();
        }
        for (j, c_j) in c.iter_mut().enumerate().take(n + 1) {
            let mut s = 0.0;
            for (k, v) in values.iter().enumerate() {
                let half = if k == 0 || k == n { 0.5 } else { 1.0 };
                s += half * v * table[(j * k) % (2 * n)];
            }
            let half = if j == 0 || j == n { 0.5 } else { 1.0 };
            *c_j = 2.0 * half * s / n as f64;
        }
        Self { lo, hi, degree: n, c, error: 0.0, smooth: true }
    }

    /// The value at x ∈ [−1, 1] by Clenshaw's recurrence.
    fn at(&self, x: f64) -> f64 {
        let (mut b1, mut b2) = (0.0, 0.0);
        for k in (1..=self.degree).rev() {
            (b1, b2) = (self.c[k] + 2.0 * x * b1 - b2, b1);
        }
        self.c[0] + x * b1 - b2
    }

    fn mapped(mut self, sigma: f64, level: f64) -> Self {
        for v in &mut self.c[..=self.degree] {
            *v *= sigma;
        }
        self.c[0] -= level;
        self
    }

    /// The same polynomial on the part between the places a and b of [−1, 1].
    fn part(&self, a: f64, b: f64) -> Self {
        let n = self.degree.max(1);
        let mut values = [0.0; MOST];
        for k in 0..=n {
            let x = lobatto(k, n);
            values[k] = self.at(0.5 * ((1.0 - x) * a + (1.0 + x) * b));
        }
        let mut part = Self::from_values(self.place(a), self.place(b), &values[..=n]);
        part.error = self.error;
        part.smooth = self.smooth;
        // High degrees fade quickly on short pieces.
        let size: f64 = part.c[..=n].iter().map(|v| v.abs()).sum();
        while part.degree > 1 && part.c[part.degree].abs() <= 1e-17 * size {
            part.error += part.c[part.degree].abs();
            part.degree -= 1;
        }
        part
    }

    fn reversed(mut self) -> Self {
        for k in (1..=self.degree).step_by(2) {
            self.c[k] = -self.c[k];
        }
        (self.lo, self.hi) = (self.hi, self.lo);
        self
    }

    /// Whether the polynomial is monotone, by coefficients of its derivative.
    fn monotone(&self) -> bool {
        let n = self.degree;
        let mut d = [0.0; MOST + 2];
        for k in (1..=n).rev() {
            d[k - 1] = d[k + 1] + 2.0 * k as f64 * self.c[k];
        }
        d[0] *= 0.5;
        d[0].abs() > d[1..n.max(1)].iter().map(|v| v.abs()).sum::<f64>()
    }
}

struct Sampled<'a> {
    g: &'a mut dyn FnMut(f64) -> f64,
    opts: &'a GenericOptions,
    span: f64,
    /// What counts as zero.
    tol: f64,
    /// An error of the interpolant that does no harm.
    enough: f64,
    /// Largest |g| seen.
    size: f64,
    pieces: Vec<Cheb>,
    evaluations: usize,
    certain: bool,
    /// Where the limit was reached.
    covered: f64,
}

impl Sampled<'_> {
    fn call(&mut self, s: f64) -> f64 {
        self.evaluations += 1;
        (self.g)(s)
    }

    /// Interpolates g on [lo, hi] with degree 8, 16 or 32.
    fn fit(&mut self, lo: f64, hi: f64) -> Cheb {
        let mut values = [0.0; MOST];
        let mut n = 8;
        let frame = Cheb { lo, hi, degree: 1, c: [0.0; MOST], error: 0.0, smooth: true };
        for k in 0..=n {
            values[k] = self.call(frame.place(lobatto(k, n)));
        }
        let mut previous = f64::INFINITY;
        loop {
            let mut p = Cheb::from_values(lo, hi, &values[..=n]);
            let mut size = values[..=n].iter().fold(0.0f64, |s, v| s.max(v.abs()));
            let mut error = 0.0f64;
            for x in [-0.953_1, -0.372_7, 0.203_9, 0.845_7] {
                let s = frame.place(x);
                // The place is rounded: compare at the point g was really evaluated at.
                let x = ((s - lo) - (hi - s)) / (hi - lo);
                let v = self.call(s);
                size = size.max(v.abs());
                error = error.max((v - p.at(x)).abs());
                if v.is_nan() {
                    error = f64::NAN;
                    break;
                }
            }
            // The last coefficients show what the test points may have missed.
            error += p.c[n - 1..=n].iter().map(|v| v.abs()).sum::<f64>();
            let finite = size.is_finite() && error.is_finite();
            p.error = 4.0 * error + 16.0 * f64::EPSILON * size;
            p.smooth = finite && error <= (self.opts.fit_tol * size).max(self.enough);
            if !finite {
                p.error = f64::INFINITY;
                return p;
            }
            // Not worth a higher degree if the last doubling did not help.
            if p.smooth || n == 32 || (n == 16 && error > previous / 8.0) {
                return p;
            }
            previous = error;
            n *= 2;
            for k in (0..=n / 2).rev() {
                values[2 * k] = values[k];
            }
            for k in (1..n).step_by(2) {
                values[k] = self.call(frame.place(lobatto(k, n)));
            }
        }
    }

    /// Covers [lo, hi] with interpolants, halving until they are smooth, or clear of zero by far more than their error.
    /// `above` is the error of the interpolant over twice the stretch.
    fn cover(&mut self, lo: f64, hi: f64, above: f64, out: &mut Vec<Cheb>) {
        let p = self.fit(lo, hi);
        let middle = 0.5 * lo + 0.5 * hi;
        let small = hi - lo <= self.span / 4096.0 || !(lo < middle && middle < hi);
        let rest = p.c[1..=p.degree].iter().map(|v| v.abs()).sum::<f64>();
        self.size = self.size.max(p.c[0].abs() + rest);
        let clear = p.c[0].abs() - rest > 16.0 * p.error + self.tol;
        // At the noise of g no subdivision helps; at a kink the error halves with the stretch.
        let noisy = p.error <= 1e-6 * self.size && p.error > 0.7 * above;
        let good = p.smooth || clear || noisy || small;
        if good || self.evaluations >= self.opts.max_evaluations {
            if !good {
                self.covered = self.covered.min(lo);
            }
            out.push(p);
            return;
        }
        self.cover(lo, middle, p.error, out);
        self.cover(middle, hi, p.error, out);
    }

    /// Scans one interpolant of σ g − level in its own direction.
    fn scan(&mut self, p: &Cheb, sigma: f64, level: f64, state: &mut Doubt) -> Option<(f64, f64)> {
        let rest: f64 = p.c[1..=p.degree].iter().map(|v| v.abs()).sum();
        if p.error.is_finite() {
            if p.c[0] - rest > p.error {
                return self.clear(p.lo, sigma, level, state);
            }
            if p.c[0] + rest < -p.error {
                return self.confirm(state.from.unwrap_or(p.lo), p.hi, sigma, level, state);
            }
            if p.c[0].abs() + rest <= p.error {
                state.enter(p.lo, p.error);
                return None;
            }
            if p.monotone() {
                let (first, last) = (p.at(-1.0), p.at(1.0));
                if last < -p.error {
                    let before = if first > p.error { p.lo } else { state.from.unwrap_or(p.lo) };
                    return self.confirm(before, p.hi, sigma, level, state);
                }
                if last > p.error {
                    if first <= p.error {
                        state.enter(p.lo, p.error);
                    }
                    return self.clear(if first > p.error { p.lo } else { p.hi }, sigma, level, state);
                }
                if first > p.error {
                    let found = self.clear(p.lo, sigma, level, state);
                    if found.is_some() {
                        return found;
                    }
                }
                state.enter(p.lo, p.error);
                return None;
            }
        }
        let width = (p.hi - p.lo).abs();
        if !p.error.is_finite() || !p.smooth || width <= 1e-12 * self.span {
            // Not representable: the values themselves decide, at a few places.
            self.certain = false;
            let mut before = state.from.unwrap_or(p.lo);
            state.enter(p.lo, if p.error.is_finite() { p.error } else { 0.0 });
            let (mut lowest, mut values) = (0, [f64::NAN; 9]);
            for k in 0..=8 {
                let s = p.place(-1.0 + 0.25 * k as f64);
                let v = sigma * self.call(s) - level;
                if v < 0.0 {
                    return Some((before, s));
                }
                if v > 0.0 {
                    before = s;
                }
                values[k] = v;
                if v < values[lowest] {
                    lowest = k;
                }
            }
            // A kink has its least value between the places.
            let falls = values[lowest] < values[0].max(values[8]) && width > 1e-12 * self.span;
            if falls {
                let place = |k: usize| p.place(-1.0 + 0.25 * k as f64);
                let (a, b) = (place(lowest.saturating_sub(1)), place((lowest + 1).min(8)));
                let s = golden(|s| sigma * self.call(s), a.min(b), a.max(b));
                if sigma * self.call(s) - level < 0.0 {
                    return Some((a, s));
                }
            }
            return None;
        }
        let (left, right) = (p.part(-1.0, 0.0), p.part(0.0, 1.0));
        self.scan(&left, sigma, level, state).or_else(|| self.scan(&right, sigma, level, state))
    }

    /// The proxy says negative at `after`: g must agree.
    fn confirm(&mut self, before: f64, after: f64, sigma: f64, level: f64, state: &mut Doubt) -> Option<(f64, f64)> {
        if sigma * self.call(after) - level < 0.0 {
            return Some((before, after));
        }
        self.certain = false;
        state.enter(before, 0.0);
        None
    }

    /// The function is clear of zero from `at` on: a doubtful stretch before it is looked at on its own scale.
    fn clear(&mut self, at: f64, sigma: f64, level: f64, state: &mut Doubt) -> Option<(f64, f64)> {
        let from = state.from.take()?;
        let error = std::mem::take(&mut state.error);
        if state.depth >= 8 || from == at || self.evaluations >= self.opts.max_evaluations {
            return None;
        }
        let (lo, hi) = (from.min(at), from.max(at));
        if hi - lo <= 1e-12 * self.span {
            return None;
        }
        let mut p = self.fit(lo, hi);
        if !(p.error < 0.25 * error) {
            return None;
        }
        p.smooth = true;
        let p = p.mapped(sigma, level);
        let p = if from > at { p.reversed() } else { p };
        let mut inner = Doubt { from: None, error: 0.0, depth: state.depth + 1 };
        self.scan(&p, sigma, level, &mut inner)
    }
}

/// The stretch on which the sign is in doubt.
struct Doubt {
    from: Option<f64>,
    error: f64,
    depth: usize,
}

impl Doubt {
    fn enter(&mut self, at: f64, error: f64) {
        self.from.get_or_insert(at);
        self.error = self.error.max(error);
    }
}

impl Leave for Sampled<'_> {
    fn value(&mut self, s: f64) -> f64 {
        self.call(s)
    }

    fn leave(&mut self, sigma: f64, level: f64, from: f64, to: f64) -> Option<(f64, f64)> {
        let (lo, hi) = (from.min(to), from.max(to));
        if !(lo < hi) {
            return None;
        }
        let mut state = Doubt { from: None, error: 0.0, depth: 0 };
        let pieces: Vec<Cheb> = self
            .pieces
            .iter()
            .filter(|p| p.lo < hi && p.hi > lo)
            .map(|p| {
                let inner = |s: f64| (((s - p.lo) - (p.hi - s)) / (p.hi - p.lo)).clamp(-1.0, 1.0);
                let q = if lo <= p.lo && hi >= p.hi { *p } else { p.part(inner(lo), inner(hi)) };
                q.mapped(sigma, level)
            })
            .collect();
        let mut found = None;
        if from < to {
            for p in &pieces {
                found = self.scan(p, sigma, level, &mut state);
                if found.is_some() {
                    break;
                }
            }
        } else {
            for p in pieces.iter().rev() {
                found = self.scan(&p.reversed(), sigma, level, &mut state);
                if found.is_some() {
                    break;
                }
            }
        }
        let found = found.or_else(|| self.clear(to, sigma, level, &mut state));
        let (before, after) = found?;
        Some(super::narrow(self, sigma, level, before, after, 0.0))
    }

    fn noise(&self) -> f64 {
        let least = self.pieces.iter().map(|p| p.error).fold(f64::INFINITY, f64::min);
        if least.is_finite() { least } else { 0.0 }
    }

    fn lowest(&mut self, sigma: f64, lo: f64, hi: f64) -> f64 {
        golden(|s| sigma * self.call(s), lo, hi)
    }
}

/// The earliest place in [lo, hi] where the black box g leaves the given side.
///
/// ```
/// use saltus_solver::roots::{CrossingOptions, Sign, generic::first_crossing_sampled};
/// // x = exp(-t/20) passes the slit |x - c| < 1.5e-5 within one step of eight seconds.
/// let (c, w) = (0.8, 1.5e-5);
/// let mut g = |t: f64| { let x = (-0.05 * t).exp(); (x - c) * (x - c) - w * w };
/// let found = first_crossing_sampled(&mut g, 0.0, 8.0, Sign::Positive, &CrossingOptions::default(), &Default::default());
/// let exact = -20.0 * (c + w as f64).ln();
/// assert!((found.crossing.unwrap().s_before - exact).abs() < 1e-9);
/// ```
pub fn first_crossing_sampled(
    g: &mut dyn FnMut(f64) -> f64,
    lo: f64,
    hi: f64,
    side: Sign,
    opts: &CrossingOptions,
    limits: &GenericOptions,
) -> Located {
    let mut evaluations = 0;
    let mut from = lo;
    // What one search cannot cover is left to the next.
    for _ in 0..ROUNDS {
        let found = search_sampled(g, from, hi, side, opts, limits);
        evaluations += found.0.evaluations;
        let done = found.0.crossing.is_some_and(|c| c.s_after <= found.1) || !(from < found.1 && found.1 < hi);
        if done {
            return Located { evaluations, ..found.0 };
        }
        from = found.1;
    }
    Located { crossing: None, certain: false, evaluations }
}

/// How often a search is continued where its limit was reached.
const ROUNDS: usize = 64;

/// One search, and up to where it is complete.
fn search_sampled(
    g: &mut dyn FnMut(f64) -> f64,
    lo: f64,
    hi: f64,
    side: Sign,
    opts: &CrossingOptions,
    limits: &GenericOptions,
) -> (Located, f64) {
    let mut search = Sampled {
        g,
        opts: limits,
        span: hi - lo,
        tol: opts.tol.max(0.0),
        // Touching is told from coming close by a small part of it.
        enough: if opts.touching { 0.01 } else { 0.25 } * opts.tol.max(0.0),
        size: 0.0,
        pieces: Vec::new(),
        evaluations: 0,
        certain: true,
        covered: hi,
    };
    if lo < hi {
        let mut pieces = Vec::new();
        search.cover(lo, hi, f64::INFINITY, &mut pieces);
        search.pieces = pieces;
    }
    let crossing = earliest(&mut search, side, opts, lo, hi);
    let certain = search.certain && search.evaluations < limits.max_evaluations;
    (Located { crossing, certain, evaluations: search.evaluations }, search.covered)
}
