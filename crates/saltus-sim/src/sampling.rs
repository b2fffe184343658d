//! Crossing functions that are known by their values alone: seen at a few places of a step, they are passed over if they stay far
//! from zero in terms of how they move, and searched closely ([`crate::location`]) if they come near it.

use crate::crossings::Sides;

/// Places of a step where functions are sampled.
pub(crate) const PLACES: [f64; 6] = [0.0, 0.2, 0.45, 0.7, 0.9, 1.0];

/// Those that are looked at first, and those that are left where a doubt remains.
pub(crate) const MIDDLE: usize = 2;
pub(crate) const END: usize = 5;
pub(crate) const OTHERS: [usize; 3] = [1, 3, 4];

/// A function that moves by less than 1/CALM of its distance from zero is far from it.
const CALM: f64 = 20.0;

/// A function is far from zero, too, if the parabola through three places is by so many times of its bend, and by so many times of what it
/// moves.
const BENDS: f64 = 4.0;
const MOVES: f64 = 0.5;

/// What was seen of sampled functions.
#[derive(Default)]
pub(crate) struct Samples {
    /// The functions of the present step.
    pub which: Vec<usize>,
    /// Their values at the places; not numbers where they were not looked at.
    pub values: Vec<[f64; PLACES.len()]>,
    /// Of all functions: where the last step ended that looked at them, and their values there.
    ends: Vec<(f64, f64)>,
    /// Steps since one of them was in doubt.
    calm: u32,
}

impl Samples {
    /// Forgets everything; there are so many functions now.
    pub fn reset(&mut self, functions: usize) {
        self.ends.clear();
        self.ends.resize(functions, (f64::NAN, f64::NAN));
        self.calm = 0;
    }

    /// Begins with a step from `t0`; false if the values there are not known from the last one.
    pub fn begin(&mut self, t0: f64) -> bool {
        self.values.clear();
        let ends = &self.ends;
        self.values.extend(self.which.iter().map(|&k| {
            let mut v = [f64::NAN; PLACES.len()];
            v[0] = if ends[k].0 == t0 { ends[k].1 } else { f64::NAN };
            v
        }));
        self.values.iter().all(|v| v[0].is_finite())
    }

    /// Whether the end is enough for now: all have been calm for a while, and three of four times.
    pub fn end_alone(&self) -> bool {
        self.calm >= 2 && !self.calm.is_multiple_of(4)
    }

    /// The step to `t1` is over.
    pub fn end(&mut self, t1: f64, doubts: bool) {
        for (&k, v) in self.which.iter().zip(&self.values) {
            self.ends[k] = (t1, v[END]);
        }
        self.calm = if doubts { 0 } else { self.calm + 1 };
    }

    /// Whether function `j` of the step stays on its side beyond reasonable doubt, by the places looked at so far.
    pub fn clear(&self, j: usize, sides: &Sides, band: f64) -> bool {
        let v = &self.values[j];
        sides.iter().all(|&(offset, sigma)| {
            let [first, middle, last] = [v[0], v[MIDDLE], v[END]].map(|g| sigma * (g - offset));
            if !first.is_finite() || !last.is_finite() {
                return false;
            }
            let seen = if middle.is_finite() { middle } else { last };
            let (low, high) = (first.min(last).min(seen), first.max(last).max(seen));
            if low > CALM * (high - low) + band {
                return true;
            }
            // c₀ + c₁ s + c₂ s² through the three places.
            let m = PLACES[MIDDLE];
            let c2 = ((middle - first) / m - (last - first)) / (m - 1.0);
            let c1 = last - first - c2;
            let lowest = -c1 / (2.0 * c2);
            let least = if lowest > 0.0 && lowest < 1.0 { low.min(first + 0.5 * c1 * lowest) } else { low };
            middle.is_finite() && least > BENDS * c2.abs() + band && least > MOVES * (high - low)
        })
    }
}

/// How many times the error of their interpolation samples have to be away from zero.
const RESOLVED: f64 = 4.0;

/// Whether the polynomial through samples of σ(g − offset) may be wrong by as much as it is away from zero: its error is taken as what the
/// last place changed.
pub(crate) fn unresolved(samples: &[f64; PLACES.len()], offset: f64, sigma: f64) -> bool {
    let mut c = samples.map(|g| sigma * (g - offset));
    let low = c.iter().fold(f64::INFINITY, |l, v| l.min(*v));
    let n = PLACES.len();
    for j in 1..n {
        for k in (j..n).rev() {
            c[k] = (c[k] - c[k - 1]) / (PLACES[k] - PLACES[k - j]);
        }
    }
    // The largest value of Π (s − s_i) over all places but the last is at the end.
    let reach: f64 = PLACES[..n - 1].iter().map(|p| 1.0 - p).product();
    !(low > RESOLVED * c[n - 1].abs() * reach)
}

/// Whether samples of σ(g - offset) leave the side, or come near zero between places.
pub(crate) fn suspicious(samples: &[f64; PLACES.len()], offset: f64, sigma: f64, band: f64) -> bool {
    let v = samples.map(|g| sigma * (g - offset));
    if v.iter().any(|x| !(*x >= -band)) {
        return true;
    }
    let big = v.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    if big <= band {
        return false;
    }
    // The interpolating polynomial, looked at between the places: a dip towards zero is worth a search.
    let interpolate = |s: f64| -> f64 {
        let mut sum = 0.0;
        for (i, &a) in PLACES.iter().enumerate() {
            let mut w = v[i];
            for (j, &b) in PLACES.iter().enumerate() {
                if i != j {
                    w *= (s - b) / (a - b);
                }
            }
            sum += w;
        }
        sum
    };
    // Far from zero in terms of its own variation: no dip.
    let (low, high) = v.iter().fold((f64::INFINITY, 0.0f64), |(l, h), &x| (l.min(x), h.max(x)));
    if low > 4.0 * (high - low) {
        return false;
    }
    let mut low = f64::INFINITY;
    let mut at = 0.0;
    for k in 0..=60 {
        let s = k as f64 / 60.0;
        let y = interpolate(s);
        if y < low {
            low = y;
            at = s;
        }
    }
    // An end value near zero is no dip: it is the last event's, or the next step's business.
    let ends = v[0].min(v[v.len() - 1]);
    at > 0.0 && at < 1.0 && low < 0.02 * big && low < ends - 1e-3 * big.min(ends.abs() + 1e-300)
}
