//! The earliest crossing of a zero-crossing function within a step, with a guarantee.
//!
//! A zero-crossing function g belongs to a relation whose truth value is *locked* during a step. The locked bit, not
//! the sign of g at the left end, says on which [`Sign`] side g has to be; a crossing is the earliest place where g
//! leaves that side.
//!
//! * g a polynomial of the step (a state, or a discontinuity function appended to the DAE): [`poly`], exact by
//!   Bernstein coefficients.
//! * g with interval enclosures: [`generic::first_crossing_enclosed`], exact to a resolution.
//! * g a black box: [`generic::first_crossing_sampled`], exact on a Chebyshev proxy that reproduces g to about eleven
//!   digits, then polished on g itself.
//!
//! **At zero.** |g| ≤ `tol`, the error weight of g, counts as at zero. A function that starts at zero is followed until
//! it leaves the band: back to its own side (then the search goes on from there) or to the other one. In the latter
//! case the crossing is the last zero before, or the left end if there is none. Away from the left end any dip to the
//! other side counts, however shallow, down to the rounding error of g.
//!
//! **Touching.** With `touching` set, a dip into the band and back without crossing is reported too.

// NaN must fail these tests: `!(a < b)` is not `a >= b`.

pub mod bracket;
pub mod generic;
pub mod poly;

/// The side of zero on which a relation is locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sign {
    /// g > 0.
    Positive,
    /// g < 0.
    Negative,
}

impl Sign {
    /// +1 or −1.
    pub fn factor(self) -> f64 {
        match self {
            Self::Positive => 1.0,
            Self::Negative => -1.0,
        }
    }

    /// The other side.
    pub fn opposite(self) -> Self {
        match self {
            Self::Positive => Self::Negative,
            Self::Negative => Self::Positive,
        }
    }

    /// The side of a number; nothing for zero and NaN.
    pub fn of(x: f64) -> Option<Self> {
        if x > 0.0 {
            Some(Self::Positive)
        } else if x < 0.0 {
            Some(Self::Negative)
        } else {
            None
        }
    }
}

/// Where g leaves its side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crossing {
    /// The last place on the locked side (or at zero).
    pub s_before: f64,
    /// The first place strictly on the other side; next to `s_before` unless `s_tol` allows a wider bracket.
    /// Both are the place of contact for a touching root.
    pub s_after: f64,
    /// g touches zero and returns.
    pub touching: bool,
    /// g is on the wrong side, or goes there, right from the left end.
    pub at_left: bool,
}

/// What counts as a crossing and how sharply it is bracketed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CrossingOptions {
    /// The error weight of g: |g| ≤ tol counts as at zero (see the module's text).
    pub tol: f64,
    /// Report touching (even) roots.
    pub touching: bool,
    /// Wanted width of the bracket; 0 means neighbouring floating-point numbers.
    pub s_tol: f64,
}

/// A function on which "where does σ g − level first become negative" can be answered.
pub(crate) trait Leave {
    fn value(&mut self, s: f64) -> f64;

    /// The earliest place, going from `from` to `to` (either direction), at which σ g − level becomes negative beyond
    /// doubt: the last place where it is not and the first where it is.
    fn leave(&mut self, sigma: f64, level: f64, from: f64, to: f64) -> Option<(f64, f64)>;

    /// Values of g below this are indistinguishable from zero.
    fn noise(&self) -> f64;

    /// The place of the minimum of σ g in [lo, hi], where it dips once.
    fn lowest(&mut self, sigma: f64, lo: f64, hi: f64) -> f64;
}

/// The rules of the module's text on any function that can answer [`Leave`].
pub(crate) fn earliest<L: Leave>(g: &mut L, side: Sign, opts: &CrossingOptions, lo: f64, hi: f64) -> Option<Crossing> {
    let sigma = side.factor();
    let tol = opts.tol.max(0.0);
    let band = tol.max(g.noise());
    let at_start = sigma * g.value(lo);
    if at_start < -band {
        return Some(Crossing { s_before: lo, s_after: lo, touching: false, at_left: true });
    }
    if !(lo < hi) {
        return None;
    }
    let mut start = lo;
    if at_start <= band {
        let up = g.leave(-sigma, -tol, lo, hi);
        let down = g.leave(sigma, -tol, lo, up.map_or(hi, |u| u.1));
        match (up, down) {
            (None, None) => return None,
            (Some((_, after)), None) => start = after,
            (_, Some((_, gone))) => {
                let back = g.leave(-sigma, 0.0, gone, lo);
                let (from, at_left) = back.map_or((lo, true), |(_, positive)| (positive, false));
                let (s_before, s_after) = narrow(g, sigma, 0.0, from, gone, opts.s_tol);
                return Some(Crossing { s_before, s_after, touching: false, at_left });
            }
        }
    }
    let crossing = g.leave(sigma, 0.0, start, hi);
    if opts.touching {
        let limit = crossing.map_or(hi, |c| c.1);
        let level = tol.max(4.0 * g.noise());
        if let Some((entered, inside)) = g.leave(sigma, level, start, limit)
            && let Some((_, left)) = g.leave(-sigma, -level, inside, limit)
        {
            let at = g.lowest(sigma, entered, left);
            return Some(Crossing { s_before: at, s_after: at, touching: true, at_left: false });
        }
    }
    let (before, after) = crossing?;
    let (s_before, s_after) = narrow(g, sigma, 0.0, before, after, opts.s_tol);
    Some(Crossing { s_before, s_after, touching: false, at_left: false })
}

/// Narrows the bracket of the sign change of σ g − level between a place where it is not negative and one where it is.
pub(crate) fn narrow<L: Leave>(g: &mut L, sigma: f64, level: f64, before: f64, after: f64, s_tol: f64) -> (f64, f64) {
    let first = sigma * g.value(before) - level;
    if first < 0.0 {
        return (before, before);
    }
    let last = sigma * g.value(after) - level;
    bracket::sign_change(|s| sigma * g.value(s) - level, before, first, after, last, s_tol)
}
