//! Where in a step a crossing function that is no polynomial cannot be zero: enclosures over the interpolant, with subdivision.
//!
//! Over a part [a, b] of a step each state that the function reads lies in the range of its polynomial (18), time in [a, b]. An
//! enclosure of the function over these that stays on the locked side excludes a crossing; else the part is halved. What
//! is left in the end, *doubtful* stretches of a small part of the step, is decided by values ([`crate::location`]).
//!
//! A function that is excluded over a box much larger than the step sleeps until a state it reads has travelled as far as
//! the box reaches.

use crate::compile::Step;
use crate::crossings::Gradient;
use crate::enclosure::Enclosure;
use crate::location::{SearchedStep, Side};
use crate::machine::Machine;
use saltus_program::Interval;
use saltus_solver::interp::substitute_affine;

/// How often a step is halved before values are asked, and how often what they say nothing about.
const DEPTH: u32 = 6;
pub(crate) const DEEPEST: u32 = 24;

/// Enclosures that one search may take.
const MOST: usize = 400;

/// Steps to wait before enclosures are tried again that told nothing.
const PAUSE: u32 = 32;

/// What enclosing a row costs, in rows evaluated; what enclosures may cost of all evaluations, and which part of that those of large
/// blocks may cost beside it; what they may cost in any case,
/// for models of up to so many rows: larger ones take longer for each enclosure, and need none the more.
const COST: f64 = 60.0;
const SHARE: f64 = 0.05;
const LARGE_SHARE: f64 = 0.2;
const FREE: f64 = 2e7;
const SMALL: f64 = 50.0;

/// The largest box, in steps.
const WIDEST: f64 = 1e6;

/// How enclosures have fared with one function.
#[derive(Clone, Copy)]
struct Record {
    /// How much larger than the step the next box may be.
    factor: f64,
    /// How often a step may be halved.
    depth: u32,
    /// Steps until the next try.
    pause: u32,
    /// How often it was given up.
    failures: u32,
    /// Enclosures will never tell anything.
    blind: bool,
}

impl Default for Record {
    fn default() -> Record {
        Record { factor: 8.0, depth: DEPTH, pause: 0, failures: 0, blind: false }
    }
}

/// What enclosures say about the crossing functions of a mode.
#[derive(Default)]
pub(crate) struct Exclusion {
    enclosure: Enclosure,
    records: Vec<Record>,
    /// Coefficients of the states that the function reads.
    polynomials: Vec<Vec<f64>>,
    part: Vec<f64>,
    ranges: Vec<(usize, Interval)>,
    rates: Vec<Interval>,
    /// How often functions were enclosed.
    pub count: usize,
    /// Work that enclosures may have cost so far, in rows evaluated, and what it follows from: evaluations of the present
    /// integrator, rows of an evaluation.
    allowed: f64,
    evaluations: usize,
    rows: usize,
}

impl Exclusion {
    /// For a mode with so many functions and such derivatives.
    pub fn reset(&mut self, functions: usize, derivatives: &[Step]) {
        self.records.clear();
        self.records.resize(functions, Record::default());
        self.rows = derivatives.iter().map(rows).sum();
        if self.allowed == 0.0 {
            self.allowed = FREE * (SMALL / self.rows as f64).min(1.0);
            self.enclosure.large_allowed = self.allowed / COST;
        }
    }

    /// What the integrator has evaluated so far says how much enclosures may cost.
    pub fn earn(&mut self, evaluations: usize) {
        let new = evaluations.checked_sub(self.evaluations).unwrap_or(evaluations);
        self.evaluations = evaluations;
        let earned = SHARE * new as f64 * self.rows as f64;
        self.allowed += earned;
        self.enclosure.large_allowed += LARGE_SHARE * earned / COST;
    }

    /// How often a step may be halved before values are asked.
    pub fn depth(&self, k: usize) -> u32 {
        self.records[k].depth
    }

    /// Whether it is worth trying; asked once per step.
    pub fn tries(&mut self, k: usize) -> bool {
        let r = &mut self.records[k];
        r.pause = r.pause.saturating_sub(1);
        if r.pause == 0 && r.depth == 0 {
            (r.factor, r.depth) = (1.0, 2);
        }
        r.depth > 0 && COST * self.enclosure.work as f64 <= self.allowed
    }

    /// Enclosures did not help with this step: less effort next time.
    pub fn failed(&mut self, k: usize) {
        let r = &mut self.records[k];
        r.depth = r.depth.saturating_sub(1);
        if r.depth == 0 {
            r.pause = PAUSE << r.failures.min(16);
            r.failures += 1;
        }
    }

    /// Nothing is known about this function: it may take long before that changes. `opaque`: it reads foreign code, and nothing ever
    /// will be.
    pub fn blind(&mut self, k: usize, opaque: bool) {
        self.records[k].depth = 0;
        self.records[k].blind = opaque;
        self.failed(k);
    }

    /// Whether nothing but values can tell about this function.
    pub fn is_blind(&self, k: usize) -> bool {
        self.records[k].blind
    }

    /// Enclosures excluded most of the step.
    pub fn helped(&mut self, k: usize) {
        let r = &mut self.records[k];
        r.blind = false;
        r.depth = (r.depth + 1).min(DEPTH);
    }

    fn enclose(&mut self, m: &mut Machine, step: &SearchedStep<'_>, k: usize, t: Interval) -> Interval {
        self.count += 1;
        self.enclosure.of_states(m, step.program, k, t, &self.ranges)
    }

    /// Tries to exclude a function over a box around where the step begins: how far each state may travel, time last. `reach`
    /// is where each state begins and how far it can go in the step.
    pub fn far(
        &mut self,
        m: &mut Machine,
        step: &SearchedStep<'_>,
        k: usize,
        reach: &[(f64, f64)],
        side: &Side,
    ) -> Option<Vec<(usize, f64)>> {
        let factor = self.records[k].factor;
        if factor < 2.0 {
            self.records[k].factor *= 1.3; // after a few steps, again
            return None;
        }
        let f = &step.program.crossings.functions[k];
        let time = step.program.states.len();
        // What stands still may as well move a little.
        let far = |s: usize| factor * reach[s].1.max(1e-9 * reach[s].0.abs() + 1e-15);
        let mut roads: Vec<(usize, f64)> = f.states.iter().map(|&s| (s, far(s))).collect();
        let h = if f.timed { factor * (step.t1 - step.t0) } else { 0.0 };
        self.ranges.clear();
        self.ranges.extend(roads.iter().map(|&(s, far)| (s, Interval::around(reach[s].0, far))));
        let t = Interval { lo: step.t0, hi: step.t0 + h.max(step.t1 - step.t0) };
        if side.clear(self.enclose(m, step, k, t)) {
            self.records[k].factor = (2.0 * factor).min(WIDEST);
            if f.timed {
                roads.push((time, h));
            }
            return Some(roads);
        }
        self.records[k].factor = (0.25 * factor).max(1.0);
        None
    }

    /// The polynomials of the states that a function reads.
    fn read_polynomials(&mut self, step: &SearchedStep<'_>, k: usize) {
        let states = &step.program.crossings.functions[k].states;
        self.polynomials.resize_with(states.len().max(self.polynomials.len()), Vec::new);
        for (c, &s) in self.polynomials.iter_mut().zip(states) {
            step.integrator.polynomial(s, c);
        }
    }

    /// The ranges of these states over a part of the step, and of their rates, by the length of the part.
    fn over(&mut self, step: &SearchedStep<'_>, k: usize, (a, b): (f64, f64)) {
        let h = step.t1 - step.t0;
        let (sa, sb) = ((a - step.t0) / h, (b - step.t0) / h);
        self.ranges.clear();
        self.rates.clear();
        for (c, &s) in self.polynomials.iter().zip(&step.program.crossings.functions[k].states) {
            self.part.clone_from(c);
            substitute_affine(&mut self.part, sb - sa, sa);
            self.ranges.push((s, range(&self.part)));
            for (j, c) in self.part.iter_mut().enumerate() {
                *c *= j as f64;
            }
            self.rates.push(range(self.part.get(1..).filter(|c| !c.is_empty()).unwrap_or(&[0.0])));
        }
    }

    /// Whether a function rises or falls all over a part of the step: it is zero there once at most.
    pub fn one_way(
        &mut self,
        m: &mut Machine,
        step: &SearchedStep<'_>,
        (k, gradient): (usize, &Gradient),
        (a, b): (f64, f64),
    ) -> bool {
        self.read_polynomials(step, k);
        self.over(step, k, (a, b));
        self.count += 1;
        let time = (Interval { lo: a, hi: b }, Interval::point(b - a));
        let rate = self.enclosure.rate(m, step.program, gradient, time, (&self.ranges, &self.rates));
        rate.is_positive() || rate.is_negative()
    }

    /// The stretches of [from, to] on which a function is not excluded, up to where it has certainly crossed; `None` if nothing is
    /// known about it at all.
    pub fn doubtful(
        &mut self,
        m: &mut Machine,
        step: &SearchedStep<'_>,
        k: usize,
        (from, to): (f64, f64),
        depth: u32,
        side: &Side,
    ) -> Option<Vec<(f64, f64)>> {
        self.read_polynomials(step, k);
        let mut stretches: Vec<(f64, f64)> = Vec::new();
        let mut open = vec![(from, to, depth)];
        let (mut first, begun) = (true, self.count);
        while let Some((a, b, depth)) = open.pop() {
            self.over(step, k, (a, b));
            let found = self.enclose(m, step, k, Interval { lo: a, hi: b });
            if side.clear(found) {
                continue;
            }
            if side.beyond(found) {
                // Where it begins values show that, those beyond among them.
                match stretches.last_mut() {
                    Some(s) if s.1 >= a => s.1 = b,
                    _ => stretches.push((a, b)),
                }
                break;
            }
            // Without an enclosure of the whole there is hardly one of its parts.
            if std::mem::take(&mut first) && found == Interval::WHOLE {
                return None;
            }
            let middle = 0.5 * (a + b);
            if depth > 0 && a < middle && middle < b && self.count < begun + MOST {
                open.push((middle, b, depth - 1));
                open.push((a, middle, depth - 1));
                continue;
            }
            match stretches.last_mut() {
                Some(s) if s.1 == a => s.1 = b,
                _ => stretches.push((a, b)),
            }
        }
        Some(stretches)
    }
}

/// The values of a polynomial Σ c_j s^j over 0 ≤ s ≤ 1, rounding included.
fn range(c: &[f64]) -> Interval {
    let size: f64 = c.iter().map(|c| c.abs()).sum();
    let slack = 8.0 * f64::EPSILON * size;
    let (low, high) = c[1..].iter().fold((c[0], c[0]), |(l, h), &c| (l + c.min(0.0), h + c.max(0.0)));
    Interval { lo: low - slack, hi: high + slack }
}

/// Rows that a step evaluates, roughly.
fn rows(step: &Step) -> usize {
    match step {
        Step::Assign(c) => c.rows().count(),
        Step::Solve(b) => 3 * (b.residual.rows().count() + b.jacobian.rows().count()),
        _ => 1,
    }
}
