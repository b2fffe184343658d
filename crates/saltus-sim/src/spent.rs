//! What the states have become wrong by since the run began, by the integrator's own estimates.
//!
//! ```text
//!   ẋ = 1, ẏ = −y      x is exact, y is wrong by what its steps add up to: x ≥ 1 happens at time 1 or it does not,
//!                      y ≤ exp(−1) happens there as far as anybody can tell
//! ```
//!
//! Errors are counted in error weights W (mathematics 10). A state is as wrong as the worst of those that its derivative depends on,
//! through others too; where a function of wrong states makes an event that changes their course, all states are as wrong after it.

use crate::model::ModeProgram;
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_solver::ode::Integrator;

/// The errors so far.
#[derive(Default)]
pub(crate) struct Spent {
    /// Where the values of the states are.
    slots: Vec<u32>,
    /// Of each state: what the steps before the last one have added up to, and the last one, which may be taken again.
    before: Vec<f64>,
    last: Vec<f64>,
    /// Where the last step began.
    t0: f64,
    /// The integrator makes no estimates.
    unknown: bool,
    /// The program whose derivatives these are, and which states each of them reads.
    program: Option<usize>,
    reads: Vec<Vec<usize>>,
    /// States of functions that have made events since the last step.
    fired: FxHashSet<u32>,
    /// The most that any state is wrong by.
    most: f64,
}

impl Spent {
    /// The integrator has taken a step from `t0`, where it has begun `anew` or not; from where it began the last time, this step instead.
    pub fn step(&mut self, program: &ModeProgram, integrator: &dyn Integrator, t0: f64, anew: bool) {
        let n = program.states.len();
        if self.slots.len() != n || self.slots.iter().zip(&program.states).any(|(a, b)| *a != b.0) {
            self.exchange(program);
        }
        if t0 != self.t0 {
            self.before.iter_mut().zip(&self.last).for_each(|(b, l)| *b += l);
            self.t0 = t0;
            self.last.fill(0.0);
        }
        let fired = std::mem::take(&mut self.fired);
        if anew && !fired.is_empty() {
            self.pass_on(program, &fired);
        }
        let (x, o) = (integrator.x(), integrator.options());
        self.most = 0.0;
        for i in 0..n {
            let Some(e) = integrator.local_error(i) else {
                self.unknown = true;
                return;
            };
            self.last[i] = e / (o.rtol * x[i].abs() + o.atol[i]);
            let wrong = self.before[i] + self.last[i];
            self.most = if wrong.is_finite() { self.most.max(wrong) } else { self.most };
        }
    }

    /// Others are states from now on. Nothing is known of those that were none before.
    fn exchange(&mut self, program: &ModeProgram) {
        let first = self.slots.is_empty() && self.before.is_empty();
        let known: FxHashMap<u32, f64> =
            self.slots.iter().zip(self.before.iter().zip(&self.last)).map(|(s, (b, l))| (*s, b + l)).collect();
        let other = if first { 0.0 } else { f64::INFINITY };
        self.slots = program.states.iter().map(|s| s.0).collect();
        self.before = self.slots.iter().map(|s| known.get(s).copied().unwrap_or(other)).collect();
        self.last = vec![0.0; self.slots.len()];
    }

    /// How many error weights of these states a function of them may be wrong by; none if the integrator makes no estimates.
    pub fn of(&mut self, program: &ModeProgram, states: &[usize]) -> Option<f64> {
        if self.unknown || self.slots.len() != program.states.len() {
            return None;
        }
        if self.program != Some(program.number) {
            (self.program, self.reads) = (Some(program.number), reads(program));
        }
        let mut open: Vec<usize> =
            if self.reads.is_empty() { (0..self.slots.len()).collect() } else { states.to_vec() };
        let mut seen: FxHashSet<usize> = FxHashSet::default();
        let mut worst = 0.0f64;
        while let Some(i) = open.pop() {
            if seen.insert(i) {
                worst = worst.max(self.before[i] + self.last[i]);
                open.extend(self.reads.get(i).into_iter().flatten());
            }
        }
        Some(worst)
    }

    /// The most that any state is wrong by, as far as that is known.
    pub fn most(&self) -> f64 {
        if self.unknown { 0.0 } else { self.most }
    }

    /// A function of states with these slots makes an event: its time is wrong, and what follows from it.
    pub fn passes_on(&mut self, slots: impl IntoIterator<Item = u32>) {
        self.fired.extend(slots);
    }

    /// Events have changed the course of the states.
    fn pass_on(&mut self, program: &ModeProgram, fired: &FxHashSet<u32>) {
        let states: Vec<usize> = (0..self.slots.len()).filter(|&i| fired.contains(&self.slots[i])).collect();
        let gone = states.len() < fired.len();
        let passed = if gone { f64::INFINITY } else { self.of(program, &states).unwrap_or(0.0) };
        self.before.iter_mut().for_each(|b| *b = b.max(passed));
    }
}

/// Of each state: those that its derivative reads. Nothing if that is not known.
fn reads(program: &ModeProgram) -> Vec<Vec<usize>> {
    let Some(p) = &program.pattern else { return Vec::new() };
    let mut reads = vec![Vec::new(); p.n_rows()];
    for j in 0..p.n_cols() {
        p.row_indices()[p.range(j)].iter().for_each(|&i| reads[i].push(j));
    }
    reads
}
