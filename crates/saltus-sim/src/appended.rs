//! Crossing functions that enclosures do not decide are *appended* to the system, as DSL48E appends its discontinuity functions: each
//! is followed as a polynomial through its values at the ends of the last steps and at places of the present one, and the error of that
//! polynomial is under control. A function whose polynomial stays on its side by more than the error does not cross; for the
//! others the degree is raised, and what is still in doubt is searched closely ([`crate::location`]).
//!
//! The polynomial through places s₀ … s_n in Newton's form is p(s) = Σ c_k Π_{i<k} (s − s_i). Its error is taken from its last three
//! terms; so it is for the solution itself in the error test of a multistep method. The last place is a *check* that lies elsewhere
//! in each step: what repeats itself with the steps does not hide. The error vanishes where the step begins, so that a function may begin
//! at zero: then p(s)/s has to be larger than the error by s.

use crate::location::Side;
use saltus_solver::interp::substitute_affine;
use saltus_solver::roots::{CrossingOptions, Sign, poly};

/// Places of a step where functions are looked at; the last one moves, between the second and the fourth.
pub(crate) const PLACES: [f64; 7] = [0.0, 0.2, 0.45, 0.7, 0.9, 1.0, f64::NAN];

/// Those that are looked at first, and those that are left where a doubt remains. The end comes last: the whole model is
/// evaluated there.
pub(crate) const MIDDLE: usize = 2;
pub(crate) const END: usize = 5;
pub(crate) const CHECK: usize = 6;
pub(crate) const OTHERS: [usize; 3] = [1, 4, 3];

/// The order in which places enter the polynomial.
const ORDER: [usize; PLACES.len()] = [0, END, MIDDLE, 1, 4, 3, CHECK];

/// How many times its error a polynomial has to be away from zero, the error being that of the last term, an eighth of the term before,
/// and so on.
const RESOLVED: f64 = 4.0;
const DECAY: f64 = 0.125;
const TERMS: usize = 3;

/// How many times what it moves by a function is away from zero that need not be looked at closer.
const STILL: f64 = 20.0;

/// With fewer values the error may be so many times as large.
const ENOUGH: usize = 5;
const FEW: f64 = 5.0;

/// Steps that a function is seen at all places after one of them showed that it moves faster than the steps; which part of
/// its range the error is then.
const WILD: u8 = 64;
const UNRESOLVED: f64 = 0.1;

/// What moves by less of its size does not come to zero within a few steps, however fast.
const MOVING: f64 = 0.02;

/// How often a step is halved to see where a polynomial is.
const HALVINGS: u32 = 4;

/// Ends of earlier steps that are kept, and places a polynomial has at most.
const PAST: usize = 4;
const MOST: usize = PAST + PLACES.len();

/// What is known of a function from earlier steps: times and values, the latest last, as long as nothing has jumped or
/// bent it.
#[derive(Clone, Copy)]
struct Past {
    points: [(f64, f64); PAST],
    count: usize,
    /// The integration that they belong to.
    age: u64,
    /// Steps that it is to be seen at all places.
    wild: u8,
}

impl Default for Past {
    // To begin with a step is looked at closely.
    fn default() -> Past {
        Past { points: Default::default(), count: 0, age: 0, wild: 1 }
    }
}

impl Past {
    fn known(&self) -> &[(f64, f64)] {
        &self.points[..self.count]
    }

    /// The value at `t0`; forgets what was seen later.
    fn back_to(&mut self, t0: f64) -> Option<f64> {
        while self.known().last().is_some_and(|p| p.0 > t0) {
            self.count -= 1;
        }
        self.known().last().filter(|p| p.0 == t0).map(|p| p.1)
    }

    fn push(&mut self, t: f64, g: f64) {
        if !g.is_finite() {
            self.count = 0;
            return;
        }
        if self.count == PAST {
            self.points.copy_within(1.., 0);
            self.count -= 1;
        }
        self.points[self.count] = (t, g);
        self.count += 1;
    }
}

/// What was seen of appended functions.
#[derive(Default)]
pub(crate) struct Appended {
    /// The functions of the present step.
    pub which: Vec<usize>,
    /// Their values at the places; not numbers where they were not looked at.
    pub values: Vec<[f64; PLACES.len()]>,
    past: Vec<Past>,
    /// How often the integration has begun anew.
    age: u64,
    /// Where the present step begins, and its length.
    step: (f64, f64),
    /// The place of the check.
    check: f64,
}

impl Appended {
    /// Forgets everything; there are so many functions now.
    pub fn reset(&mut self, functions: usize) {
        self.past.clear();
        self.past.resize(functions, Past::default());
    }

    /// The integration begins anew: nothing of the past can be continued.
    pub fn restart(&mut self) {
        self.age += 1;
    }

    /// Something that this function reads has changed.
    pub fn forget(&mut self, k: usize) {
        if let Some(p) = self.past.get_mut(k) {
            p.count = 0;
        }
    }

    /// Begins with a step; false if the values at `t0` are not known from the last one.
    pub fn begin(&mut self, t0: f64, t1: f64) -> bool {
        self.step = (t0, t1 - t0);
        // Multiples of the golden ratio fill the interval evenly; places close to others tell little.
        let turn = (self.check + 0.618_033_988_749_895).fract();
        self.check = turn;
        self.values.clear();
        for &k in &self.which {
            let mut v = [f64::NAN; PLACES.len()];
            let past = &mut self.past[k];
            if past.age != self.age {
                (past.age, past.count) = (self.age, 0);
            }
            v[0] = past.back_to(t0).unwrap_or(f64::NAN);
            self.values.push(v);
        }
        self.values.iter().all(|v| v[0].is_finite())
    }

    /// Where a place is in the step.
    pub fn place(&self, place: usize) -> f64 {
        match place {
            CHECK if self.check < 0.5 => 0.22 + 0.42 * self.check,
            CHECK => 0.47 + 0.42 * (self.check - 0.5),
            other => PLACES[other],
        }
    }

    /// Whether function `k` has to be seen at all places.
    pub fn is_wild(&self, k: usize) -> bool {
        self.past[k].wild > 0
    }

    /// Notes whether function `j` moves faster than the steps, if it has been seen at all places of this one and is not just at zero.
    pub fn tame(&mut self, j: usize, side: &Side) {
        let (low, high) = self.span(j);
        let at_zero =
            side.sides.iter().any(|&(offset, _)| (low - offset).abs().max((high - offset).abs()) <= side.band);
        if at_zero || self.values[j].iter().any(|g| g.is_nan()) {
            return;
        }
        let error = self.newton(j, &[]).error(TERMS, 0);
        let moves = high - low > MOVING * low.abs().max(high.abs());
        let past = &mut self.past[self.which[j]];
        past.wild = if moves && error > UNRESOLVED * (high - low) { WILD } else { past.wild.saturating_sub(1) };
    }

    /// The least and the greatest value of function `j` that was seen in the step.
    fn span(&self, j: usize) -> (f64, f64) {
        let seen = self.values[j].iter().filter(|g| !g.is_nan());
        seen.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &g| (l.min(g), h.max(g)))
    }

    /// Whether function `j` of the step, which is known to move no faster than the steps, moves by far less than its distance
    /// from zero: by far the most frequent case.
    fn still(&self, j: usize, side: &Side) -> bool {
        let v = &self.values[j];
        let (low, high) = self.span(j);
        let complete = [0, CHECK, END].iter().all(|&p| v[p].is_finite()) && self.past[self.which[j]].wild == 0;
        complete
            && side.sides.iter().all(|&(offset, sigma)| {
                let least = if sigma > 0.0 { low - offset } else { offset - high };
                least > STILL * (high - low) + side.band
            })
    }

    /// The polynomial through what was seen of function `j` of the step.
    fn newton(&self, j: usize, past: &[(f64, f64)]) -> Newton {
        let (t0, h) = self.step;
        let mut p = Newton::default();
        for &(t, g) in past.iter().filter(|p| p.0 < t0) {
            p.push((t - t0) / h, g);
        }
        let v = &self.values[j];
        ORDER.iter().filter(|&&place| !v[place].is_nan()).for_each(|&place| p.push(self.place(place), v[place]));
        p
    }

    /// The step is over; where it began counts for nothing if that was `apart` from what follows.
    pub fn end(&mut self, t1: f64, apart: bool) {
        let t0 = self.step.0;
        for (&k, v) in self.which.iter().zip(&self.values) {
            let past = &mut self.past[k];
            if past.known().last().is_none_or(|p| p.0 != t0) {
                past.count = 0;
                if !apart {
                    past.push(t0, v[0]);
                }
            }
            past.push(t1, v[END]);
        }
    }

    /// Whether function `j` of the step stays on its side, or at zero, beyond the errors of the polynomial through all that was
    /// seen of it.
    pub fn stays(&self, j: usize, side: &Side) -> bool {
        let v = &self.values[j];
        if self.still(j, side) {
            return true;
        }
        // Where a step has been seen closely, the past adds nothing.
        let past = if OTHERS.iter().all(|&p| v[p].is_finite()) { &[][..] } else { self.past[self.which[j]].known() };
        let p = self.newton(j, past);
        // Two values tell nothing of what is between them.
        p.count >= 3 && v[0].is_finite() && v[END].is_finite() && p.stays(v[0], side)
    }
}

impl Appended {
    /// The error between ends of steps of the polynomial through what function `j` has been seen to be there, and its degree; two values tell
    /// nothing. Where the step began may be `apart` from what follows.
    pub fn between_ends(&self, j: usize, apart: bool) -> Option<(f64, usize)> {
        let (t0, h) = self.step;
        let mut p = Newton::default();
        for &(t, g) in self.past[self.which[j]].known().iter().filter(|p| p.0 < t0) {
            p.push((t - t0) / h, g);
        }
        if !apart {
            p.push(0.0, self.values[j][0]);
        }
        p.push(1.0, self.values[j][END]);
        (p.count > 2).then(|| (p.error(1, 0), p.count - 1))
    }

    /// Where function `j` of the step leaves its side, by the polynomial through its values at the ends of steps: 0 if it is beyond at
    /// once, 1 if it crosses at the very end. What is not `beyond` zero has not crossed; what is within `close` of zero need not come
    /// closer.
    pub fn crosses(&self, j: usize, offset: f64, sigma: f64, beyond: f64, close: f64) -> Option<f64> {
        let [first, last] = [0, END].map(|p| sigma * (self.values[j][p] - offset));
        if first < -beyond {
            return Some(0.0);
        }
        let (t0, h) = self.step;
        let mut p = Newton::default();
        for &(t, g) in self.past[self.which[j]].known().iter().filter(|p| p.0 < t0) {
            p.push((t - t0) / h, sigma * (g - offset));
        }
        p.push(0.0, first);
        p.push(1.0, last);
        let (c, error) = (p.powers(), p.error(1, 0));
        if last >= -beyond {
            // A dip between the ends, if the polynomial knows as much.
            let mut c = c;
            c[0] += RESOLVED * error + beyond;
            let dip = poly::first_crossing(&c[..p.count], Sign::Positive, &CrossingOptions::default());
            return dip.filter(|_| p.count > 2 && first > beyond).map(|d| d.s_after);
        }
        // It has crossed, and a straight line is never far off.
        let mut c = c;
        if !(error < 0.5 * (first.max(beyond) - last)) {
            c = [0.0; MOST];
            (c[0], c[1]) = (first, last - first);
        }
        // Ends a little beyond zero tell more than ends a little before.
        c[0] += beyond + close;
        let at = poly::first_crossing(&c[..p.count], Sign::Positive, &CrossingOptions::default());
        let at = at.map_or(1.0, |d| d.s_after);
        // The rest is not worth another step.
        Some(match at {
            at if at > 1.0 - 1e-9 || -last <= 4.0 * (beyond + close) => 1.0,
            // At zero where the step begins, and gone from there.
            at if at < 1e-3 && first <= beyond => 0.0,
            at => at.max(1e-3),
        })
    }
}

/// A polynomial in Newton's form, on 0 ≤ s ≤ 1.
#[derive(Default)]
struct Newton {
    count: usize,
    places: [f64; MOST],
    /// The lowest diagonal of the divided differences.
    last: [f64; MOST],
    c: [f64; MOST],
}

impl Newton {
    fn push(&mut self, s: f64, g: f64) {
        let n = self.count;
        let mut d = g;
        for j in 0..n {
            let next = (d - self.last[j]) / (s - self.places[n - 1 - j]);
            self.last[j] = d;
            d = next;
        }
        (self.last[n], self.c[n], self.places[n]) = (d, d, s);
        self.count += 1;
    }

    /// Coefficients of powers of s.
    fn powers(&self) -> [f64; MOST] {
        let mut p = [0.0; MOST];
        self.terms(|k, term| (0..=k).for_each(|i| p[i] += self.c[k] * term[i]));
        p
    }

    /// The products Π_{i<k} (s − s_i) as powers of s, one after the other.
    fn terms(&self, mut each: impl FnMut(usize, &[f64; MOST])) {
        let mut term = [0.0; MOST];
        term[0] = 1.0;
        for k in 0..self.count {
            each(k, &term);
            if k + 1 < self.count {
                for i in (0..=k + 1).rev() {
                    term[i] = if i > 0 { term[i - 1] } else { 0.0 } - self.places[k] * term[i];
                }
            }
        }
    }

    /// What the last `terms` come to over the step, the more the later they are; divided by s if `skip` is one: the terms of places
    /// after that where the step begins have that factor.
    fn error(&self, terms: usize, skip: usize) -> f64 {
        let n = self.count;
        let begin = self.places[..n].iter().position(|s| *s == 0.0).unwrap_or(0);
        let mut error = 0.0f64;
        self.terms(|k, term| {
            if k > begin && k + terms >= n {
                let size = bernstein(&term[skip..=k]).fold(0.0f64, |m, b| m.max(b.abs()));
                let part = DECAY.powi((n - 1 - k) as i32) * size * self.c[k].abs();
                error = if part > error || part.is_nan() { part } else { error };
            }
        });
        error
    }

    /// Whether a function with this polynomial and this first value stays where it has to be.
    fn stays(&self, first: f64, side: &Side) -> bool {
        let n = self.count;
        let p = self.powers();
        let resolved = if n < ENOUGH { FEW } else { 1.0 } * RESOLVED;
        let error = resolved * self.error(TERMS, 0);
        side.sides.iter().all(|&(offset, sigma)| {
            let mut q = p;
            q[0] -= offset;
            q[..n].iter_mut().for_each(|c| *c *= sigma);
            let (low, high) =
                bernstein(&q[..n]).fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), b| (l.min(b), h.max(b)));
            let last: f64 = q[..n].iter().sum();
            // What is not a number is none of these.
            let away = exceeds(&q[..n], error + side.band, HALVINGS);
            let leaving = sigma * (first - offset) >= 0.0
                && last > error + side.band
                && exceeds(&q[1..n], resolved * self.error(TERMS, 1), HALVINGS);
            // What is at zero is hardly more than noise, and is no better known by more places.
            let error = RESOLVED * self.error(1, 0);
            let beside = low > error + side.touches && high + error <= side.band;
            let at_zero = low.abs().max(high.abs()) + error <= side.tight && side.reached != Some(offset);
            away || leaving || beside || at_zero
        })
    }
}

/// Whether Σ c_k s^k > level on [0, 1], as far as Bernstein coefficients of ever smaller parts tell.
fn exceeds(c: &[f64], level: f64, halvings: u32) -> bool {
    if bernstein(c).all(|b| b > level) {
        return true;
    }
    if halvings == 0 || !(c[0] > level && c.iter().sum::<f64>() > level) {
        return false;
    }
    let mut half = [0.0; MOST];
    [0.0, 0.5].into_iter().all(|from| {
        half[..c.len()].copy_from_slice(c);
        substitute_affine(&mut half[..c.len()], 0.5, from);
        exceeds(&half[..c.len()], level, halvings - 1)
    })
}

/// Bernstein coefficients on [0, 1] of Σ c_k s^k: the polynomial lies between the least and the greatest.
fn bernstein(c: &[f64]) -> impl Iterator<Item = f64> + '_ {
    let n = c.len() - 1;
    (0..=n).map(move |i| {
        // C(i, k) / C(n, k), one after the other.
        let mut ratio = 1.0;
        let mut sum = c[0];
        for k in 1..=i {
            ratio *= (i + 1 - k) as f64 / (n + 1 - k) as f64;
            sum += ratio * c[k];
        }
        sum
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crossings::sides;
    use saltus_expr::RelOp;
    use saltus_structure::RelationKind;

    /// Whether g > 0 holds all through the last of these steps, seen at the ends of all and at some places of the last.
    fn stays(g: impl Fn(f64) -> f64, ends: &[f64], places: &[usize]) -> bool {
        let mut s = Appended::default();
        s.reset(1);
        let mut found = false;
        for w in ends.windows(2) {
            s.which = vec![0];
            if !s.begin(w[0], w[1]) {
                s.values[0][0] = g(w[0]);
            }
            s.values[0][END] = g(w[1]);
            if w[1] == ends[ends.len() - 1] {
                places.iter().for_each(|&p| s.values[0][p] = g(w[0] + PLACES[p] * (w[1] - w[0])));
            }
            let sides = sides(&RelationKind::Sign(RelOp::Gt), 1.0);
            found = s.stays(0, &Side { sides, band: 1e-14, tight: 1e-15, touches: 1e-15, reached: Some(0.0) });
            s.end(w[1], false);
        }
        found
    }

    #[test]
    fn followed_from_step_to_step() {
        // What is predicted well may come as near to zero as the prediction is good.
        let g = |t: f64| (t - 4.5).powi(2) + 0.01;
        assert!(!stays(g, &[3.0, 4.0], &[]), "two values tell nothing");
        assert!(!stays(g, &[2.0, 3.0, 4.0], &[]), "a parabola that was not checked by a fourth value");
        assert!(stays(g, &[1.0, 2.0, 3.0, 4.0], &[]));
        assert!(stays(g, &[1.0, 2.0, 3.0, 4.0, 5.0], &[]), "a dip between the ends that stays positive");
        let deeper = |t: f64| (t - 4.5).powi(2) - 0.01;
        assert!(!stays(deeper, &[1.0, 2.0, 3.0, 4.0, 5.0], &[]), "a dip between the ends that crosses");
        assert!(!stays(deeper, &[1.0, 2.0, 3.0, 4.0, 5.0], &[MIDDLE, 1, 3, 4]));
    }

    #[test]
    fn what_is_not_a_polynomial_needs_more_places() {
        // A dip as wide as the step that the ends do not show.
        let g = |t: f64| 1.0 - 1.5 * (-(8.0 * (t - 4.5)).powi(2)).exp();
        assert!(!stays(g, &[1.0, 2.0, 3.0, 4.0, 5.0], &[MIDDLE]));
        assert!(!stays(g, &[1.0, 2.0, 3.0, 4.0, 5.0], &[MIDDLE, 1, 3, 4]));
        let shallow = |t: f64| 1.0 - 0.005 * (-(8.0 * (t - 4.5)).powi(2)).exp();
        assert!(stays(shallow, &[1.0, 2.0, 3.0, 4.0, 5.0], &[MIDDLE, 1, 3, 4]));
    }

    #[test]
    fn beginning_at_zero() {
        let places = [MIDDLE, 1, 3, 4];
        assert!(stays(|t: f64| t.sin(), &[0.0, 0.5], &places), "it has just crossed, and goes on");
        assert!(!stays(|t: f64| (t * t) * (t - 0.4), &[0.0, 0.5], &places), "it turns back");
        assert!(!stays(|t: f64| t * (0.3 - t), &[0.0, 0.5], &places), "it comes back");
    }
}
