//! Where the unknowns of nonlinear blocks are heading: guesses for other moments than the last one.
//!
//! ```text
//!   (y − s)² = 1, ṡ = 20     y has moved by more than the distance of its two solutions when the next step ends
//! ```
//!
//! Newton's method finds the solution next to its guess, so that a guess from another moment may lead to another branch. The
//! guess for t is the polynomial through the last ends of steps: a line beyond them, a parabola between them. It is taken once per
//! moment; after that the last solution is the better one.

use rustc_hash::FxHashMap;

/// Ends of steps that are kept.
const KEPT: usize = 3;

/// How far a line is followed, in steps.
const FARTHEST: f64 = 8.0;

/// Less than this part of a value is no leap, nor is less than that part of its typical size, which solutions differ by anyway.
const LEAP: f64 = 1e-3;
const NOISE: f64 = 1e-6;

/// More than this part of a value is another value.
const HOP: f64 = 0.05;

/// The course of some values along the run.
#[derive(Clone, Default)]
pub struct Course {
    slots: Vec<u32>,
    /// Ends of steps since the last event, ascending, with the values there.
    ends: Vec<(f64, Vec<f64>)>,
    /// The moment that the values belong to, and whether all of them solve their equations there: what derivatives do not need is
    /// still a guess.
    here: f64,
    solved: bool,
    /// Guesses have moved from where the last step ended.
    pub leads: bool,
}

impl Course {
    /// Nothing is known but the present values of these slots.
    pub fn begin(&mut self, t: f64, slots: &[u32], values: &[f64]) {
        self.slots.clear();
        self.slots.extend_from_slice(slots);
        self.ends.clear();
        self.end(t, values);
    }

    /// Whether it is these slots that are followed.
    pub fn follows(&self, slots: &[u32]) -> bool {
        self.slots == slots && !self.ends.is_empty()
    }

    /// A step has ended at `t` with these values; what was known beyond is forgotten.
    pub fn end(&mut self, t: f64, values: &[f64]) {
        (self.here, self.solved) = (t, true);
        if self.slots.is_empty() {
            return;
        }
        self.cut(t);
        let full = self.ends.len() == KEPT;
        let mut v = if full || self.ends.last().is_some_and(|e| e.0 == t) {
            let k = if full && self.ends[KEPT - 1].0 != t { 0 } else { self.ends.len() - 1 };
            self.ends.remove(k).1
        } else {
            Vec::with_capacity(self.slots.len())
        };
        v.clear();
        v.extend(self.slots.iter().map(|&s| values[s as usize]));
        if v.iter().all(|v| v.is_finite()) {
            self.ends.push((t, v));
        }
    }

    /// All values solve their equations.
    pub fn solved(&mut self) {
        self.solved = true;
    }

    /// If the values are the solution at `t`, where a step has ended.
    pub fn may_end(&mut self, t: f64, values: &[f64]) {
        if self.here == t && self.solved {
            self.end(t, values);
        }
    }

    /// A step ends at `t` after all.
    pub fn cut(&mut self, t: f64) {
        self.ends.retain(|e| e.0 <= t);
    }

    /// Whether the last step is known to its end `t`.
    pub fn ends_at(&self, t: f64) -> bool {
        self.ends.last().is_some_and(|e| e.0 == t)
    }

    /// The values at the end of a step.
    pub fn at(&self, t: f64) -> Option<&[f64]> {
        self.ends.iter().find(|e| e.0 == t).map(|e| &e.1[..])
    }

    /// The slot whose value is another one than where the last step ended, by a good part of it and of its typical size, and its
    /// value there.
    pub fn hopped(&self, values: &[f64], nominal: impl Fn(u32) -> f64) -> Option<(u32, f64)> {
        let (_, end) = self.ends.last()?;
        let far = |&(&s, e): &(&u32, &f64)| {
            let v = values[s as usize];
            (v - e).abs() > HOP * v.abs().max(e.abs()) && (v - e).abs() > HOP * HOP * nominal(s)
        };
        self.slots.iter().zip(end).find(far).map(|(&s, &e)| (s, e))
    }

    /// All values as where the last step ended.
    pub fn take_back(&self, values: &mut [f64]) {
        for (&s, v) in self.ends.last().into_iter().flat_map(|e| self.slots.iter().zip(&e.1)) {
            values[s as usize] = *v;
        }
    }

    /// What these slots were where the last step ended; false if that is not known.
    pub fn back(&self, slots: &[u32], values: &mut [f64]) -> bool {
        let Some((_, end)) = self.ends.last() else { return false };
        let known: FxHashMap<u32, f64> = self.slots.iter().copied().zip(end.iter().copied()).collect();
        slots.iter().zip(values).all(|(s, v)| known.get(s).map(|e| *v = *e).is_some())
    }

    /// Whether a value has moved much further in the last step, which ended at `t`, than the step before told.
    pub fn leaps(&self, t: f64, nominal: impl Fn(u32) -> f64) -> bool {
        let [.., before, end] = &self.ends[..] else { return false };
        let earlier = self.ends.len().checked_sub(3).map(|k| &self.ends[k]);
        let leap = |k: usize| {
            let (b, c) = (before.1[k], end.1[k]);
            let size = b.abs().max(c.abs());
            // A step that is many times longer follows no line of a short one.
            let told = |a: &(f64, Vec<f64>)| (b - a.1[k]).abs() * ((end.0 - before.0) / (before.0 - a.0)).min(FARTHEST);
            let far = (c - b).abs();
            far > LEAP * size && earlier.is_none_or(|a| far > 5.0 * told(a)) && far > NOISE * nominal(self.slots[k])
        };
        end.0 == t && (0..self.slots.len()).any(leap)
    }

    /// Guesses for `t`.
    pub fn lead(&mut self, t: f64, values: &mut [f64]) {
        if t == self.here || self.slots.is_empty() {
            return;
        }
        let back = t < self.here;
        (self.here, self.solved, self.leads) = (t, false, false);
        match &self.ends[..] {
            [] => {}
            // What was tried last may have gone past the end of a branch of solutions, and its values lie on another.
            [only] if back => self.slots.iter().zip(&only.1).for_each(|(&s, &v)| values[s as usize] = v),
            [_] => {}
            [.., a, b, c] if t <= c.0 => {
                let (sa, sb, sc) = (t - a.0, t - b.0, t - c.0);
                let la = sb * sc / ((a.0 - b.0) * (a.0 - c.0));
                let lb = sa * sc / ((b.0 - a.0) * (b.0 - c.0));
                let lc = sa * sb / ((c.0 - a.0) * (c.0 - b.0));
                for (k, &slot) in self.slots.iter().enumerate() {
                    values[slot as usize] = la * a.1[k] + lb * b.1[k] + lc * c.1[k];
                    self.leads |= b.1[k] != c.1[k];
                }
            }
            [.., a, b] => {
                let s = ((t - b.0) / (b.0 - a.0)).min(FARTHEST);
                for (k, &slot) in self.slots.iter().enumerate() {
                    values[slot as usize] = b.1[k] + s * (b.1[k] - a.1[k]);
                    self.leads |= a.1[k] != b.1[k];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_beyond_and_parabolas_between() {
        let mut c = Course::default();
        let mut v = [7.0, 0.0];
        let f = |t: f64| 1.0 + t * t;
        v[1] = f(0.0);
        c.begin(0.0, &[1], &v);
        c.lead(1.0, &mut v);
        assert_eq!(v, [7.0, 1.0]); // one end tells nothing about the way
        v[1] = 99.0;
        c.lead(0.5, &mut v);
        assert_eq!(v[1], 1.0); // back to it
        for t in [1.0, 2.0] {
            v[1] = f(t);
            c.end(t, &v);
        }
        c.lead(2.5, &mut v);
        assert_eq!(v[1], 5.0 + 0.5 * 3.0);
        c.lead(1.5, &mut v);
        assert!((v[1] - f(1.5)).abs() < 1e-12);
        // Once per moment.
        v[1] = 4.0;
        c.lead(1.5, &mut v);
        assert_eq!(v[1], 4.0);
        // A step that is taken again.
        c.cut(1.5);
        v[1] = f(1.5);
        c.end(1.5, &v);
        c.lead(1.25, &mut v);
        assert!((v[1] - f(1.25)).abs() < 1e-12);
        // A guess that nothing has solved for is no end of a step.
        c.lead(3.0, &mut v);
        c.may_end(3.0, &v);
        assert!(c.ends_at(1.5));
        c.solved();
        c.may_end(3.0, &v);
        assert!(c.ends_at(3.0));
    }
}
