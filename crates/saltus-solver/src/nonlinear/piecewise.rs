//! Finding the mode of a piecewise-smooth system.
//!
//! With the truth values of its relations locked to a mode m ∈ {0,1}ᵏ the system is smooth and can be solved; the
//! solution makes the relations true or false, R(m). A mode is *consistent* if R(m) = m. The search goes from cheap to
//! complete:
//!
//! 1. mode iteration m ← R(m) until it repeats itself;
//! 2. least-index pivoting: only the first violated relation is flipped (Murty 1974; ends at the solution for
//!    complementarity problems with a P-matrix, whatever the start);
//! 3. best-first search over flips of violated relations, fewest violations first;
//! 4. enumeration by Hamming distance from the start, complete if 2ᵏ fits the budget.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

/// The system locked to some mode has no solution, or none was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LockedFailure;

/// A system that is smooth once its relations are locked.
pub trait PiecewiseSystem {
    /// The number of relations.
    fn n_bits(&self) -> usize;

    /// Solves the system with the relations locked to `bits`; the values stay inside the implementor.
    fn solve_locked(&mut self, bits: &[bool]) -> Result<(), LockedFailure>;

    /// Writes the relations' truth values at the values of the last successful [`solve_locked`](Self::solve_locked).
    fn relations(&mut self, out: &mut [bool]);
}

/// Budgets of [`solve_piecewise`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PiecewiseOptions {
    /// Steps of plain mode iteration.
    pub max_iterations: usize,
    /// Flips of least-index pivoting.
    pub max_flips: usize,
    /// Locked solutions spent on search and enumeration together.
    pub max_enumeration: usize,
    /// Go on after the first consistent mode and report all that the budget reveals.
    pub check_unique: bool,
}

impl Default for PiecewiseOptions {
    fn default() -> Self {
        Self { max_iterations: 60, max_flips: 2000, max_enumeration: 4096, check_unique: false }
    }
}

/// The stage of the search that found the mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// m ← R(m).
    Iteration,
    /// Flipping the first violated relation.
    LeastIndex,
    /// Best-first over violated relations.
    BestFirst,
    /// By Hamming distance.
    Enumeration,
}

/// The result of [`solve_piecewise`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PiecewiseOutcome {
    /// A consistent mode; the system holds its values.
    Consistent {
        /// The mode.
        mode: Vec<bool>,
        /// Locked solutions it took.
        iterations: usize,
        /// The stage that found it.
        stage: Stage,
    },
    /// Several consistent modes (only with `check_unique`); the system holds the values of the first.
    Several {
        /// The modes, the first found first.
        modes: Vec<Vec<bool>>,
        /// Locked solutions it took.
        iterations: usize,
    },
    /// No consistent mode among those tried.
    NoConsistentMode {
        /// The modes tried.
        tried: usize,
        /// Whether these were all modes there are.
        exhaustive: bool,
        /// The solvable mode with the fewest violated relations, with those relations.
        nearest: Option<(Vec<bool>, Vec<usize>)>,
        /// Modes that repeated themselves under m ← R(m), in order: what alternates.
        cycle: Vec<Vec<bool>>,
    },
}

struct Search<'a, S: ?Sized> {
    sys: &'a mut S,
    /// R(m) for every mode tried; `None` where the locked system could not be solved.
    seen: HashMap<Vec<bool>, Option<Vec<bool>>>,
    found: Vec<Vec<bool>>,
    solves: usize,
    holds: Option<Vec<bool>>,
}

impl<S: PiecewiseSystem + ?Sized> Search<'_, S> {
    /// R(m), from memory or by solving.
    fn visit(&mut self, mode: &[bool]) -> Option<Vec<bool>> {
        if let Some(known) = self.seen.get(mode) {
            return known.clone();
        }
        self.solves += 1;
        let result = self.sys.solve_locked(mode).ok().map(|()| {
            let mut out = mode.to_vec();
            self.sys.relations(&mut out);
            out
        });
        self.holds = result.is_some().then(|| mode.to_vec());
        if result.as_deref() == Some(mode) {
            self.found.push(mode.to_vec());
        }
        self.seen.insert(mode.to_vec(), result.clone());
        result
    }
}

fn violated(mode: &[bool], truth: &[bool]) -> Vec<usize> {
    (0..mode.len()).filter(|&k| mode[k] != truth[k]).collect()
}

/// Searches a consistent mode, starting from `start` (missing entries count as false).
///
/// ```
/// use saltus_solver::nonlinear::piecewise::*;
/// // 0 = if x < -1 then -x elseif x < 1 then 2 + x else 4 - x: plain mode iteration alternates for ever.
/// struct Kinks(f64);
/// impl PiecewiseSystem for Kinks {
///     fn n_bits(&self) -> usize { 2 }
///     fn solve_locked(&mut self, bits: &[bool]) -> Result<(), LockedFailure> {
///         self.0 = if bits[0] { 0.0 } else if bits[1] { -2.0 } else { 4.0 };
///         Ok(())
///     }
///     fn relations(&mut self, out: &mut [bool]) {
///         out[0] = self.0 < -1.0;
///         out[1] = self.0 < 1.0;
///     }
/// }
/// let mut sys = Kinks(0.0);
/// let outcome = solve_piecewise(&mut sys, &[true, true], &PiecewiseOptions::default());
/// assert!(matches!(outcome, PiecewiseOutcome::Consistent { mode, .. } if mode == [false, false]));
/// assert_eq!(sys.0, 4.0);
/// ```
pub fn solve_piecewise<S: PiecewiseSystem + ?Sized>(
    sys: &mut S,
    start: &[bool],
    opts: &PiecewiseOptions,
) -> PiecewiseOutcome {
    let k = sys.n_bits();
    let start: Vec<bool> = (0..k).map(|i| start.get(i).copied().unwrap_or(false)).collect();
    let mut search = Search { sys, seen: HashMap::new(), found: Vec::new(), solves: 0, holds: None };
    let enough = |search: &Search<'_, S>| !opts.check_unique && !search.found.is_empty();
    let mut stage = Stage::Iteration;

    // 1. Mode iteration.
    let mut cycle: Vec<Vec<bool>> = Vec::new();
    let mut mode = start.clone();
    for _ in 0..opts.max_iterations.max(1) {
        if let Some(at) = cycle.iter().position(|m| *m == mode) {
            cycle.drain(..at);
            break;
        }
        cycle.push(mode.clone());
        match search.visit(&mode) {
            Some(next) => mode = next,
            None => {
                cycle.clear();
                break;
            }
        }
    }
    let last = mode;

    // 2. Least index, from the start and from where the iteration ended.
    let mut flips = 0;
    for from in [&start, &last] {
        if !search.found.is_empty() {
            break;
        }
        let mut mode = from.clone();
        let mut visited: HashSet<Vec<bool>> = HashSet::new();
        while flips < opts.max_flips && !visited.contains(&mode) {
            let Some(truth) = search.visit(&mode) else { break };
            let Some(&first) = violated(&mode, &truth).first() else { break };
            visited.insert(mode.clone());
            mode[first] = !mode[first];
            flips += 1;
        }
        stage = Stage::LeastIndex;
    }
    if search.solves <= cycle.len() && !search.found.is_empty() {
        stage = Stage::Iteration;
    }

    // 3. Best first.
    let complete = k < usize::BITS as usize - 1 && (1usize << k) <= opts.max_enumeration;
    let before = search.solves;
    if !enough(&search) {
        let unresolved = search.found.is_empty();
        let mut heap = BinaryHeap::new();
        let mut order = 0usize;
        let mut push = |heap: &mut BinaryHeap<_>, mode: &[bool], truth: &Option<Vec<bool>>| {
            let count = truth.as_ref().map_or(k / 2 + 1, |t| violated(mode, t).len());
            order += 1;
            heap.push(Reverse((count, order, mode.to_vec())));
        };
        let mut seeds: Vec<(Vec<bool>, Option<Vec<bool>>)> =
            search.seen.iter().map(|(m, t)| (m.clone(), t.clone())).collect();
        seeds.sort();
        for (m, t) in &seeds {
            push(&mut heap, m, t);
        }
        let budget = opts.max_enumeration / 2;
        while let Some(Reverse((_, _, mode))) = heap.pop() {
            if enough(&search) || search.solves - before >= budget {
                break;
            }
            let truth = search.seen.get(&mode).cloned().flatten();
            let candidates = match &truth {
                Some(truth) => violated(&mode, truth),
                None => (0..k).collect(),
            };
            let mut children: Vec<Vec<bool>> = Vec::with_capacity(candidates.len() + 1);
            if let Some(truth) = truth {
                children.push(truth);
            }
            for bit in candidates {
                let mut child = mode.clone();
                child[bit] = !child[bit];
                children.push(child);
            }
            for child in children {
                if search.seen.contains_key(&child) {
                    continue;
                }
                if enough(&search) || search.solves - before >= budget {
                    break;
                }
                let truth = search.visit(&child);
                push(&mut heap, &child, &truth);
            }
        }
        if unresolved && !search.found.is_empty() {
            stage = Stage::BestFirst;
        }
    }

    // 4. Enumeration by Hamming distance.
    let mut exhaustive = false;
    if !enough(&search) {
        let unresolved = search.found.is_empty();
        exhaustive = true;
        'distance: for distance in 0..=k {
            let mut choice: Vec<usize> = (0..distance).collect();
            loop {
                if enough(&search) || (!complete && search.solves - before >= opts.max_enumeration) {
                    exhaustive = false;
                    break 'distance;
                }
                let mut mode = start.clone();
                for &bit in &choice {
                    mode[bit] = !mode[bit];
                }
                search.visit(&mode);
                // The next combination in lexicographic order.
                let Some(at) = (0..distance).rev().find(|&i| choice[i] < k - distance + i) else { break };
                choice[at] += 1;
                for i in at + 1..distance {
                    choice[i] = choice[i - 1] + 1;
                }
            }
        }
        if unresolved && !search.found.is_empty() {
            stage = Stage::Enumeration;
        }
    }

    let iterations = search.solves;
    if let Some(first) = search.found.first().cloned() {
        if search.holds.as_deref() != Some(&first[..]) {
            // Later tries have overwritten the values.
            let _ = search.sys.solve_locked(&first);
        }
        return if search.found.len() > 1 {
            PiecewiseOutcome::Several { modes: search.found, iterations }
        } else {
            PiecewiseOutcome::Consistent { mode: first, iterations, stage }
        };
    }
    let nearest = search
        .seen
        .iter()
        .filter_map(|(m, t)| t.as_ref().map(|t| (violated(m, t), m)))
        .min_by(|a, b| (a.0.len(), a.1).cmp(&(b.0.len(), b.1)))
        .map(|(v, m)| (m.clone(), v));
    PiecewiseOutcome::NoConsistentMode { tried: search.seen.len(), exhaustive, nearest, cycle }
}
