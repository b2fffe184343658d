//! Where in an accepted step the crossing functions leave the sides their locked bits tell.
//!
//! A function that is a polynomial of the step (affine in states and time) is isolated exactly. Any other is excluded by
//! enclosures over the interpolant (`exclusion`); on stretches where they leave a doubt it is isolated on a Chebyshev proxy. Where
//! enclosures do not decide, a function is appended (`appended`): followed as a polynomial of the step under error control, of higher
//! degrees where it comes near zero. All crossings of a step are found at once and kept in order; an event that restarts nothing only looks again
//! at the functions it touched.
//!
//! A function far from zero *sleeps* until the states it reads have travelled a good part of that distance: a step costs no more
//! for thousands of them.

use crate::api::Looks;
use crate::appended::{Appended, CHECK, END, MIDDLE, OTHERS, PLACES};
use crate::compile::Step;
use crate::crossings::{Function, Gradient, Sides, positive_side, sides};
use crate::exclusion::{DEEPEST, Exclusion};
use crate::machine::{Machine, plain};
use crate::model::{ModeProgram, Model};
use crate::rhs::{Rhs, place};
use crate::slice::signature;
use crate::spent::Spent;
use crate::touching;
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_program::Interval;
use saltus_solver::interp::substitute_affine;
use saltus_solver::ode::{Integrator, OdeSystem};
use saltus_solver::roots::{Crossing, CrossingOptions, Sign, bracket, generic::first_crossing_sampled, poly};
use saltus_structure::RelationKind;

/// A crossing ahead.
#[derive(Clone, Copy, Debug)]
struct Ahead {
    /// First time beyond the crossing.
    after: f64,
    /// Index into the mode's functions.
    function: usize,
    /// The wrong side has been reached where the search began: the event is there, not a moment later.
    at_left: bool,
    /// Zero is touched there, not crossed.
    touches: bool,
}

/// An affine function g = constant + Σ slope x_k + slope t, as long as the discrete values it reads do not change.
struct Form {
    constant: f64,
    states: Vec<(usize, f64)>,
    time: f64,
}

/// A function that need not be looked at before something has travelled this far.
struct Sleep {
    until: f64,
    function: usize,
    /// The sleep is over if the function has been woken since.
    night: u32,
}

impl Ord for Sleep {
    // The earliest is the greatest.
    fn cmp(&self, o: &Sleep) -> std::cmp::Ordering {
        o.until.total_cmp(&self.until).then(o.function.cmp(&self.function)).then(o.night.cmp(&self.night))
    }
}
impl PartialOrd for Sleep {
    fn partial_cmp(&self, o: &Sleep) -> Option<std::cmp::Ordering> {
        Some(self.cmp(o))
    }
}
impl PartialEq for Sleep {
    fn eq(&self, o: &Sleep) -> bool {
        self.cmp(o).is_eq()
    }
}
impl Eq for Sleep {}

/// What a function at rest at zero may be off by, by its size.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// How close to zero, by its size, a function touches it of which only values are known.
const TOUCHING: f64 = 1e-11;

/// How many times the weight of one step's error, by how large it has been, a function may be off zero where it touches it: the errors of
/// steps add up.
const ACCUMULATED: f64 = 4.0;

/// Up to this part of how large a function has been, the errors of all steps so far may have added up.
const NOT_TOLD_APART: f64 = 1e-6;

/// The same where the integrator's estimates add up to it; up to so many relative tolerances, too, but not beyond that
/// part. Estimates are taken twice.
const ESTIMATED: f64 = 5e-6;
const TOLERANCES: f64 = 30.0;
const COARSE: f64 = 1e-3;
const TWICE: f64 = 2.0;

/// Which part of its size a function is at most, and for which part of the time it has been large, that stays small.
const STAYS_SMALL: f64 = 1e-3;
const FOR_LONG: f64 = 0.25;

/// Within so many of its error weights a function may be errors alone.
const MOST_NOISE: f64 = 100.0;

/// How many times what the estimated errors of steps add up to a state may be wrong by.
const SAFE: f64 = 4.0;

/// Which part of its size a function moves by, within the errors of the states, that amplifies them.
const AMPLIFIED: f64 = 0.2;

/// Which part of that, or of its size, is as close to zero as its ends can be brought.
const ENOUGH: f64 = 1e-6;

/// How much longer than the last step the next one may be at most where functions are followed by the ends of steps, and which part of the
/// first one after a restart is looked at before it.
const LONGER: f64 = 3.0;
const PROBE: f64 = 0.25;

/// Which part at most of the first step after a restart is tried next where a function has crossed in it.
const SOON: f64 = 0.1;

/// If the error between ends is still this part of what it was in a longer step, it is noise.
const NOISE: f64 = 0.7;

/// How far, in error weights, dense output may stray from the equations over a step where an event is taken.
const STRAY: f64 = 10.0;

/// Stretches that enclosures leave in doubt after the closest look, and that values are asked about again.
const MOST_LOOKS: usize = 8;

/// How many hundredths of what the errors of the states move it by a function must go beyond zero in a step at whose end it is back.
const SHALLOW: f64 = 10.0;

/// How many times the way from its last crossing to the one before a function is looked ahead at first, at least which part of a step, and
/// how much further each time it does not cross.
const AHEAD: f64 = 4.0;
const SHORTEST: f64 = 1.0 / 65536.0;
const FURTHER: f64 = 4.0;

/// Which part of its band a function moves by in a step that passes through it, and goes beyond zero by.
const PASSING: f64 = 0.1;

/// For how many times that way a function counts as one that crosses often.
const LASTING: f64 = 16.0;

/// How many neighbouring times show what a function moves by between them.
const NEIGHBOURS: usize = 4;

/// A function that moves by more of its size than this between neighbouring times jumps.
const JUMPS: f64 = 1e-4;

/// How often a crossing that turns out to be none is looked for again.
const MOST_RETURNS: usize = 8;

/// Functions with more terms do not sleep.
const MOST_TERMS: usize = 4;

/// How well a function is known between ends of steps.
#[derive(Clone, Copy, Default)]
struct Doubt {
    /// The step in which it was seen last, its error there, and what of that is noise.
    begin: f64,
    length: f64,
    error: f64,
    noise: f64,
}

/// How large a function is: errors of that size may have been left in it. What has come down to a small part of its size and stays there is
/// damped, and so are its errors (a current that has been switched off); what swings is small for moments only.
#[derive(Clone, Copy, Default)]
struct Swing {
    far: f64,
    /// Since when that is, and when it has been a good part of it last.
    since: f64,
    large: f64,
}

impl Swing {
    fn note(&mut self, t: f64, far: f64) {
        if self.far == 0.0 {
            (self.since, self.large) = (t, t);
        }
        if far >= STAYS_SMALL * self.far {
            self.large = t;
        }
        self.far = self.far.max(far).max(f64::MIN_POSITIVE);
    }

    /// Whether the function, now `far` from zero, has been small for long: then what it was before is forgotten.
    fn settles(&mut self, t: f64, far: f64) -> bool {
        let settles = far < STAYS_SMALL * self.far && t - self.large > FOR_LONG * (self.large - self.since);
        if settles {
            *self = Swing { far, since: t, large: t };
        }
        settles
    }
}

/// A function that is within its band where a step begins.
struct Within {
    /// The step, and how far the function is from zero at its beginning, on its side.
    step: (f64, f64),
    far: f64,
    /// It has come there from its side, without a stop.
    coming: bool,
}

/// Functions of the present step that come out of the same equations, which are solved once for all of them.
#[derive(Default)]
struct Shared {
    /// What tells, for each function, which slots its slice gives values.
    signatures: FxHashMap<usize, u64>,
    groups: FxHashMap<u64, Vec<usize>>,
    /// Their values, and how far they move with the errors of the states, at times of the step.
    values: FxHashMap<(usize, u64), f64>,
    sways: FxHashMap<(usize, u64), f64>,
}

impl Shared {
    /// These functions are searched in the step.
    fn begin(&mut self, program: &ModeProgram, which: &[usize]) {
        self.end();
        let functions = &program.crossings.functions;
        for &k in which.iter().filter(|k| functions[**k].solves) {
            let own = *self.signatures.entry(k).or_insert_with(|| signature(&functions[k].slice));
            self.groups.entry(own).or_default().push(k);
        }
        self.groups.retain(|_, group| group.len() > 1);
    }

    /// Something may change, or is looked at in another way.
    fn end(&mut self) {
        self.groups.clear();
        self.values.clear();
        self.sways.clear();
    }

    /// The functions that come with this one, itself among them; none if it comes alone.
    fn with(&self, k: usize) -> Vec<usize> {
        if self.groups.is_empty() {
            return Vec::new();
        }
        self.signatures.get(&k).and_then(|s| self.groups.get(s)).filter(|g| g.contains(&k)).cloned().unwrap_or_default()
    }
}

/// Which functions sleep, until what has travelled how far.
#[derive(Default)]
struct Sleepers {
    /// Of each function: how often it was woken, and whether it is awake.
    nights: Vec<(u32, bool)>,
    /// Those awake, in no order.
    awake: Vec<usize>,
    /// Of each state, and of time (the last): how far it has travelled, and who waits for it.
    roads: Vec<(f64, std::collections::BinaryHeap<Sleep>)>,
}

impl Sleepers {
    fn reset(&mut self, functions: usize, states: usize) {
        self.nights = vec![(0, true); functions];
        self.awake = (0..functions).collect();
        self.roads = std::iter::repeat_with(Default::default).take(states + 1).collect();
    }

    fn wake(&mut self, function: usize) {
        if let Some(n) = self.nights.get_mut(function).filter(|n| !n.1) {
            *n = (n.0 + 1, true);
            self.awake.push(function);
        }
    }

    /// Lets a function sleep until one of these states, or time, has gone this far.
    fn wait(&mut self, function: usize, roads: &[(usize, f64)]) {
        let (night, awake) = &mut self.nights[function];
        *awake = false;
        for &(road, far) in roads {
            let road = &mut self.roads[road];
            road.1.push(Sleep { until: road.0 + far, function, night: *night });
        }
    }

    /// Wakes who waits for a state that travels `reach` in this step.
    fn call(&mut self, road: usize, reach: f64) {
        let far = self.roads[road].0 + reach;
        while self.roads[road].1.peek().is_some_and(|s| !(s.until > far)) {
            let Some(s) = self.roads[road].1.pop() else { break };
            if self.nights[s.function] == (s.night, false) {
                self.wake(s.function);
            }
        }
    }
}

/// The crossings of the present step.
#[derive(Default)]
pub(crate) struct Location {
    sleepers: Sleepers,
    pub exclusion: Exclusion,
    /// Functions looked at in a step as polynomials of the step, by enclosures, and as appended functions.
    pub looks: Looks,
    appended: Appended,
    /// The model at the end of the present step, where appended functions were seen, and the seconds that took: there it has to be
    /// evaluated in any case.
    end: Option<(f64, f64)>,
    end_values: Vec<f64>,
    /// Whether everything may be evaluated at the end of a step as it stands.
    pub whole_ends: bool,
    /// Functions that amplify the errors of the states ([`Location::amplifies`]) with what they move by, and what is known of them
    /// at the ends of steps.
    amplifying: FxHashMap<usize, f64>,
    /// Relations whose function amplified errors where it crossed without a restart, and has not been away from zero since: it may seem to
    /// cross back.
    turned: FxHashSet<usize>,
    ends: Appended,
    /// Where the integration has last begun anew.
    begun: f64,
    /// Where the present step should end so that functions followed from end to end are known between them, and how long the next one may
    /// be.
    known_until: Option<f64>,
    pub longest: f64,
    /// How well that was.
    doubts: FxHashMap<usize, Doubt>,
    /// Where the integration began when the first step was last looked at in its midst.
    probed: f64,
    /// Functions that enclosures are asked about in this step.
    looked: Vec<usize>,
    /// Relations whose rates would have told something: they are made known before the next search, while no values are in use.
    rates: Vec<usize>,
    /// Forms of the mode's affine functions, where known.
    forms: Vec<Option<Form>>,
    /// Where each state begins in the step and how far it can go; only states that affine functions read.
    reach: Vec<(f64, f64)>,
    ahead: Vec<Ahead>,
    /// Functions whose crossing must be looked for again after the next event.
    deferred: Vec<usize>,
    /// Relations that are not searched for (sliding, resting).
    pub masked: FxHashSet<usize>,
    /// Relations that left a surface and are near zero still: |g| below this is no crossing.
    pub released: FxHashMap<usize, f64>,
    /// Relations that switch in turn, ever faster: what they go by is no error, however little it is.
    pub in_turn: FxHashSet<usize>,
    /// Relations whose event changed nothing: not looked for before this time; how often that happened.
    hesitating: FxHashMap<usize, (f64, i32)>,
    /// Relations whose function has been at zero ever since they crossed.
    grazing: FxHashSet<usize>,
    /// Relations whose function has been at zero ever since their loop chose their value ([`Model::chosen`]).
    chosen: FxHashSet<usize>,
    /// Relations whose function has come to zero within the errors of the integration, and not gone on yet, with these
    /// errors.
    approaching: FxHashMap<usize, f64>,
    /// Of the event that [`Location::earliest`] found last: relations that touch zero without crossing it.
    pub touching: Vec<usize>,
    /// Touching is not looked for.
    pub only_crossings: bool,
    /// Relations whose functions have no value where the step begins.
    pub undefined: Vec<usize>,
    /// Relations whose functions were within their band where a step began, and since when.
    within: FxHashMap<usize, Within>,
    /// The integration begins anew with the next step; where it did so last.
    anew: (bool, f64),
    /// What the states have become wrong by since the run began.
    spent: Spent,
    shared: Shared,
    /// Largest |g| of each relation since its last event.
    amplitude: Vec<f64>,
    /// The same, forgotten of what has been far below it for long.
    swings: Vec<Swing>,
    /// Where the present step begins.
    now: f64,
    /// Largest |g| of each relation at the ends of steps, for each of its values: between ends dense output may swing.
    at_ends: Vec<[f64; 2]>,
    /// The same since something that the function reads has changed last.
    lately: Vec<f64>,
    /// When each relation crossed last, and how long it had taken since the time before.
    paces: FxHashMap<usize, (f64, f64)>,
    x: Vec<f64>,
    /// How often functions were evaluated inside steps.
    pub evaluations: usize,
    coefficients: Vec<f64>,
    /// Coefficients of one state.
    part: Vec<f64>,
}

/// Where a function has to stay: σ (g − offset) ≥ 0.
pub(crate) struct Side {
    pub sides: Sides,
    /// What counts as zero where a search begins, and what touches it.
    pub band: f64,
    /// Rounding.
    pub tight: f64,
    /// What comes closer to zero than this may touch it.
    pub touches: f64,
    /// The offset that calls for an event if the function stays there.
    pub reached: Option<f64>,
}

impl Side {
    /// Whether these values are beyond doubt on the other side.
    pub fn beyond(&self, g: Interval) -> bool {
        self.sides.iter().any(|&(offset, sigma)| {
            let most = if sigma > 0.0 { g.hi - offset } else { offset - g.lo };
            most < -self.band
        })
    }

    /// Whether these values are beyond doubt on the side.
    pub fn clear(&self, g: Interval) -> bool {
        self.sides.iter().all(|&(offset, sigma)| {
            let least = if sigma > 0.0 { g.lo - offset } else { offset - g.hi };
            least > self.band
        })
    }
}

/// The step that is being searched.
pub(crate) struct SearchedStep<'a> {
    pub program: &'a ModeProgram,
    pub integrator: &'a dyn Integrator,
    pub t0: f64,
    pub t1: f64,
}

/// How far a crossing function moves if the states `x` are wrong by `errors`, with signs in a few patterns.
pub(crate) fn sway(
    model: &mut Model,
    program: &ModeProgram,
    relation: usize,
    t: f64,
    x: &[f64],
    errors: &[f64],
) -> f64 {
    sways(model, program, &[relation], t, x, errors)[0]
}

/// The same for several functions at once.
fn sways(model: &mut Model, program: &ModeProgram, relations: &[usize], t: f64, x: &[f64], errors: &[f64]) -> Vec<f64> {
    let mut moved = x.to_vec();
    let mut values = |signs: Option<usize>| {
        for (k, m) in moved.iter_mut().enumerate() {
            let sign = signs.map_or(0.0, |pattern| if k & pattern == 0 { 1.0 } else { -1.0 });
            *m = x[k] + sign * errors[k];
        }
        place(&mut model.machine, program, t, &moved);
        let mut g = vec![f64::NAN; relations.len()];
        if model.machine.run(&program.crossings.slice).is_ok() {
            model.machine.crossing_values(relations, &mut g);
        }
        g
    };
    let g = values(None);
    let mut far = vec![0.0f64; relations.len()];
    for pattern in [1, 2, 4] {
        // A value that is not a number counts for nothing.
        let moved = values(Some(pattern));
        far.iter_mut().zip(moved.iter().zip(&g)).for_each(|(far, (m, g))| *far = far.max((m - g).abs()));
    }
    far
}

/// Where a function that is beyond zero from `after` on (there it is positive) comes back for good before `to`, and how far it goes
/// before.
fn dip(g: &mut dyn FnMut(f64) -> f64, after: f64, to: f64) -> Option<(f64, f64)> {
    if !(g(to) < 0.0 && after < to) {
        return None;
    }
    let back = first_crossing_sampled(g, after, to, Sign::Positive, &Default::default(), &Default::default());
    let back = back.crossing?.s_after;
    let part = |j: i32| after + 0.125 * f64::from(j) * (back - after);
    Some((back, (0..8).map(|j| g(part(j))).fold(0.0, f64::max)))
}

/// Whether a relation counts integers.
fn whole(m: &Machine, relation: usize) -> bool {
    matches!(m.relations[relation].kind, RelationKind::Floor)
}

/// Whether the function of a relation has a value: infinity is on a side, but no integer is below it.
pub(crate) fn valued(m: &Machine, relation: usize) -> bool {
    let g = m.values[m.relations[relation].g as usize];
    if whole(m, relation) { g.is_finite() } else { !g.is_nan() }
}

/// Whether a function has about the same value at both ends of a step.
fn steady(first: f64, last: f64) -> bool {
    (last - first).abs() < 0.5 * last.abs()
}

/// Whether a function is beyond doubt on the side that its bit excludes.
fn gone(m: &Machine, relation: usize, g: f64) -> bool {
    let r = &m.relations[relation];
    let bit = m.values[r.var as usize];
    let band = m.band(relation);
    match &r.kind {
        RelationKind::Sign(_) => sides(&r.kind, bit)[0].1 * g < -band,
        RelationKind::Floor => g < bit - band.max(1e-9) || g >= bit + 1.0 - band,
    }
}

/// Whether a function is beyond doubt on the side that its bit tells.
fn stays(m: &Machine, relation: usize, g: f64) -> bool {
    let r = &m.relations[relation];
    let band = 2.0 * m.band(relation);
    sides(&r.kind, m.values[r.var as usize]).iter().all(|&(offset, sigma)| sigma * (g - offset) > band)
}

/// Whether the slope of the dense output inside a step is far from what the states x there demand, of some of them.
pub(crate) fn off_course(
    integrator: &dyn Integrator,
    t: f64,
    x: &[f64],
    demanded: &[f64],
    which: impl IntoIterator<Item = usize>,
) -> bool {
    let (h, o) = (integrator.t() - integrator.t_prev(), integrator.options());
    let mut dx = vec![0.0; x.len()];
    integrator.interpolate_derivative(t, &mut dx);
    let far = |i: usize| ((demanded[i] - dx[i]) * h).abs() > STRAY * (o.rtol * x[i].abs() + o.atol[i]);
    which.into_iter().any(far)
}

impl Location {
    /// Values of what the functions read at a time of the step.
    fn at(&mut self, model: &mut Model, step: &SearchedStep<'_>, t: f64) -> bool {
        self.run(model, step, t, &step.program.crossings.slice)
    }

    /// Values of what one function reads.
    fn at_for(&mut self, model: &mut Model, step: &SearchedStep<'_>, t: f64, k: usize) -> bool {
        self.run(model, step, t, &step.program.crossings.functions[k].slice)
    }

    /// Values of what these functions read, and of the functions: what many of them read is evaluated once.
    fn at_all(&mut self, model: &mut Model, step: &SearchedStep<'_>, t: f64, which: &[usize]) -> bool {
        let crossings = &step.program.crossings;
        let most = 4 * which.len() > crossings.values.rows().count();
        let mut good = true;
        if most && which.len() > 1 {
            good = self.at(model, step, t);
            model.machine.chain(&crossings.values);
        }
        let lossy = !model.machine.beside.is_empty();
        for &k in which {
            let f = &crossings.functions[k];
            let own = !most || which.len() == 1;
            if own {
                good &= self.at_for(model, step, t, k);
            }
            if own || lossy || f.affine() {
                model.machine.crossing_values(&[f.relation], &mut [0.0]);
            }
        }
        good
    }

    fn run(&mut self, model: &mut Model, step: &SearchedStep<'_>, t: f64, slice: &[Step]) -> bool {
        self.evaluations += 1;
        self.x.resize(step.program.states.len(), 0.0);
        step.integrator.interpolate(t, &mut self.x);
        place(&mut model.machine, step.program, t, &self.x);
        model.machine.run(slice).is_ok()
    }

    /// How far a function that is not affine moves with a hundredth of the errors the states are integrated with.
    fn noise(&mut self, model: &mut Model, step: &SearchedStep<'_>, relation: usize, t: f64) -> f64 {
        let crossings = &step.program.crossings;
        let alone = |&k: &usize| crossings.functions[k].states.is_empty();
        if self.in_turn.contains(&relation) || crossings.by_relation.get(&relation).is_some_and(alone) {
            return 0.0;
        }
        step.integrator.interpolate(t, &mut self.x);
        let options = step.integrator.options();
        let weights = self.x.iter().zip(&options.atol).map(|(x, atol)| 0.01 * (options.rtol * x.abs() + atol));
        // What every method integrates exactly is wrong by rounding alone.
        let exact = self.x.iter().zip(&step.program.uniform).map(|(x, exact)| exact.then(|| ROUNDING * x.abs()));
        let errors: Vec<f64> = weights.zip(exact).map(|(w, e)| e.map_or(w, |e| e.min(w))).collect();
        let k = crossings.by_relation.get(&relation).copied();
        if let Some(known) = k.and_then(|k| self.shared.sways.get(&(k, t.to_bits()))) {
            return *known;
        }
        self.evaluations += 4;
        let together = k.map(|k| self.shared.with(k)).filter(|w| !w.is_empty());
        let Some(together) = together else {
            return sway(model, step.program, relation, t, &self.x, &errors);
        };
        let relations: Vec<usize> = together.iter().map(|&k| crossings.functions[k].relation).collect();
        let far = sways(model, step.program, &relations, t, &self.x, &errors);
        self.shared.sways.extend(together.iter().map(|&k| (k, t.to_bits())).zip(far.iter().copied()));
        relations.iter().position(|i| *i == relation).map_or(0.0, |at| far[at])
    }

    /// How far a function moves between neighbouring times: its values tell no more than that.
    fn rounding(&mut self, model: &mut Model, step: &SearchedStep<'_>, k: usize, t: f64) -> f64 {
        let f = &step.program.crossings.functions[k];
        if !f.timed {
            return 0.0;
        }
        let (mut at, mut moved) = (t, 0.0f64);
        let here = self.value(model, step, k, t);
        for _ in 0..NEIGHBOURS {
            at = at.next_up();
            moved = moved.max((self.value(model, step, k, at) - here).abs());
        }
        if moved <= JUMPS * model.machine.relations[f.relation].size { 2.0 * moved } else { 0.0 }
    }

    /// The value of a function at a time of the step.
    fn value(&mut self, model: &mut Model, step: &SearchedStep<'_>, k: usize, t: f64) -> f64 {
        let mut g = [f64::NAN];
        if self.at_for(model, step, t, k) {
            model.machine.crossing_values(&[step.program.crossings.functions[k].relation], &mut g);
        }
        g[0]
    }

    /// What counts as zero where a search begins: rounding, and for a function of the states the errors they are
    /// integrated with. A function that starts there must leave this band before it can cross.
    fn band(&self, m: &Machine, step: &SearchedStep<'_>, f: &Function) -> f64 {
        let released = self.released.get(&f.relation).copied().unwrap_or(0.0);
        let weight = if self.in_turn.contains(&f.relation) { 0.0 } else { 0.01 * self.weight(m, step, f) };
        m.band(f.relation).max(released).max(weight)
    }

    /// Whether a function that begins a search within its `band`, `far` from zero on its side, is on its way through it: it was clear of
    /// zero on its side where the step before began, or has gone on since. What begins there with an event, or rests there, must leave the band.
    fn comes(
        &mut self,
        step: &SearchedStep<'_>,
        relation: usize,
        (from, far): (f64, f64),
        (tight, band): (f64, f64),
    ) -> bool {
        if from != step.t0 || far.abs() > band {
            return false;
        }
        let unusual = |me: &Self| {
            let i = &relation;
            me.anew.1 == step.t0 || me.grazing.contains(i) || me.chosen.contains(i) || me.hesitating.contains_key(i)
        };
        let coming = match self.within.get(&relation) {
            Some(w) if w.step.0 == step.t0 => w.coming,
            Some(w) if w.step.1 >= step.t0 => w.coming && w.far - far > PASSING * band,
            _ => !unusual(self) && !self.released.contains_key(&relation),
        };
        self.within.insert(relation, Within { step: (step.t0, step.t1), far, coming });
        coming && far >= -tight
    }

    /// The error weight of a function of the states.
    fn weight(&self, m: &Machine, step: &SearchedStep<'_>, f: &Function) -> f64 {
        let options = step.integrator.options();
        let weight = f.gradient.as_ref().map_or(0.0, |g| {
            let weight = |k: usize| options.rtol * m.values[step.program.states[k].0 as usize].abs() + options.atol[k];
            g.states.iter().map(|&(k, slot, _)| m.values[slot as usize].abs() * weight(k)).sum::<f64>()
        });
        if weight.is_finite() { weight } else { 0.0 }
    }

    /// The value that calls for an event if the function stays there: zero if the bit is one that zero does not have
    /// (unless the function has just been released from a surface, or has made itself zero by crossing, or is at zero by choice:
    /// flipping back would never end), the next integer.
    fn reached(&self, relation: usize, kind: &RelationKind, bit: f64) -> Option<f64> {
        if self.chosen.contains(&relation) {
            return None;
        }
        match kind {
            RelationKind::Sign(_) => {
                (bit != plain(kind, 0.0) && !self.released.contains_key(&relation) && !self.grazing.contains(&relation))
                    .then_some(0.0)
            }
            RelationKind::Floor => Some(bit + 1.0),
        }
    }

    /// The value that calls for an event where the function touches it and goes back.
    fn touchable(&self, relation: usize, kind: &RelationKind, bit: f64) -> Option<f64> {
        if self.only_crossings || self.released.contains_key(&relation) || self.chosen.contains(&relation) {
            return None;
        }
        match kind {
            RelationKind::Sign(_) => (bit != plain(kind, 0.0)).then_some(0.0),
            RelationKind::Floor => Some(bit + 1.0),
        }
    }

    /// How close to zero a function with this error weight, that has been as large as it has lately, touches it.
    fn accumulated(&self, step: &SearchedStep<'_>, relation: usize, weight: f64) -> f64 {
        let far = self.swings.get(relation).map_or(0.0, |s| s.far);
        let rtol = step.integrator.options().rtol;
        let steps = step.integrator.stats().steps as f64;
        let told = (steps * rtol).min(NOT_TOLD_APART).max(ACCUMULATED * rtol) * far;
        let estimated = TWICE * self.spent.most() * weight.max(rtol * far);
        told.max(estimated.min(ESTIMATED.max((TOLERANCES * rtol).min(COARSE)) * far))
    }

    /// A function has gone as far as this before its next crossing.
    fn went(&mut self, relation: usize, far: f64) {
        if self.amplitude.len() <= relation {
            self.amplitude.resize(relation + 1, 0.0);
            self.swings.resize(relation + 1, Swing::default());
        }
        let a = &mut self.amplitude[relation];
        *a = a.max(far).max(f64::MIN_POSITIVE);
        self.swings[relation].note(self.now, far);
    }

    /// How large a function has been where steps end, while its relation had the value it has now: on the other side it may be another
    /// quantity (the voltage of a diode here, its current there).
    fn size_at_ends(&mut self, m: &Machine, relation: usize, ends: [f64; 2]) -> f64 {
        if self.at_ends.len() <= relation {
            self.at_ends.resize(relation + 1, [0.0; 2]);
            self.lately.resize(relation + 1, 0.0);
        }
        let r = &m.relations[relation];
        let side = matches!(r.kind, RelationKind::Sign(_)) && m.values[r.var as usize] != 0.0;
        let far = &mut self.at_ends[relation][usize::from(side)];
        // A value that is not a number counts for nothing.
        *far = far.max(ends[0].abs()).max(ends[1].abs());
        self.lately[relation] = self.lately[relation].max(ends[0].abs()).max(ends[1].abs());
        far.min(r.size)
    }

    /// A function begins the step (or a part of it) with this value and is as large as that somewhere in it. What was released must
    /// begin clear of where that was: the step in which it gets there may begin on the wrong side.
    fn note(&mut self, m: &mut Machine, relation: usize, begin: f64, big: f64) {
        let r = &mut m.relations[relation];
        r.size = r.size.max(big);
        if r.floor > 0.0 {
            self.released.entry(relation).or_insert(r.floor);
        }
        if !self.released.is_empty() && self.released.get(&relation).is_some_and(|b| begin.abs() > 100.0 * b) {
            self.released.remove(&relation);
            r.floor = 0.0;
        }
        if !(self.grazing.is_empty() && self.chosen.is_empty()) && big > m.band(relation) {
            self.grazing.remove(&relation);
            self.chosen.remove(&relation);
        }
    }

    /// Finds all crossings of a step.
    pub fn search(&mut self, model: &mut Model, step: &SearchedStep<'_>) {
        self.ahead.clear();
        self.deferred.clear();
        self.undefined.clear();
        self.end = None;
        self.now = step.t0;
        let functions = &step.program.crossings.functions;
        if !(step.t1 > step.t0) {
            return;
        }
        let anew = std::mem::take(&mut self.anew.0);
        if anew {
            self.anew.1 = step.t0;
        }
        self.spent.step(step.program, step.integrator, step.t0, anew);
        if self.forms.len() != functions.len() || self.sleepers.roads.len() != step.program.states.len() + 1 {
            self.forms.clear();
            self.forms.resize_with(functions.len(), || None);
            self.reach.clear();
            self.sleepers.reset(functions.len(), step.program.states.len());
            self.exclusion.reset(functions.len(), &step.program.derivatives);
            self.appended.reset(functions.len());
            self.ends.reset(functions.len());
            self.amplifying.clear();
            self.doubts.clear();
            self.shared.signatures.clear();
        }
        self.begun = if self.begun.is_nan() { step.t0 } else { self.begun };
        for relation in std::mem::take(&mut self.rates) {
            model.know_rate(step.program, relation);
        }
        self.reaches(step);
        self.exclusion.earn(step.integrator.stats().rhs_evals);
        self.appended.which.clear();
        self.ends.which.clear();
        self.looked.clear();
        let mut awake = std::mem::take(&mut self.sleepers.awake);
        awake.retain(|&k| {
            let f = &functions[k];
            if !self.masked.is_empty() && self.masked.contains(&f.relation) {
                return true;
            }
            if !self.amplifying.is_empty() && self.amplifying.contains_key(&k) {
                self.ends.which.push(k);
            } else if !self.form(model, step, k) {
                if model.idles(f.relation) {
                    // Until something in its conditions changes.
                    self.sleepers.nights[k].1 = false;
                    return false;
                }
                if self.unusual(model, step, k) || !self.exclusion.tries(k) {
                    self.appended.which.push(k);
                } else {
                    self.looks.enclosed += 1;
                    self.looked.push(k);
                }
            } else if let Some(distance) = self.clear(model, step, k) {
                self.looks.exact += 1;
                return !self.sleep(k, distance);
            } else {
                self.looks.exact += 1;
                self.polynomial(step, k);
                self.isolate_polynomial(model, step, k, step.t0);
            }
            true
        });
        if !self.looked.is_empty() {
            self.look(model, step);
            awake.retain(|&k| self.sleepers.nights[k].1);
        }
        self.sleepers.awake = awake;
        if !self.appended.which.is_empty() {
            self.looks.appended += self.appended.which.len();
            self.appended.which.sort_unstable();
            self.search_appended(model, step);
        }
        self.search_ends(model, step);
        self.sort();
    }

    /// Which part of its size a function moves by within the errors that states are integrated with, if that is a good part: (u − x)/ε.
    fn amplifies(&mut self, model: &mut Model, step: &SearchedStep<'_>, k: usize, weight: f64) -> Option<f64> {
        if !step.integrator.retakes() || self.only_crossings {
            return None;
        }
        let i = step.program.crossings.functions[k].relation;
        let r = &model.machine.relations[i];
        let least = 1e-4 * r.nominal;
        if !(weight > AMPLIFIED * least) {
            return None;
        }
        let last = self.value(model, step, k, step.t1);
        self.size_at_ends(&model.machine, i, [last; 2]);
        let part = weight / self.lately[i].max(least).min(model.machine.relations[i].size);
        (part > AMPLIFIED).then_some(part)
    }

    /// Whether what amplifies errors does so at `t`: the interpolant is as good as it has to be, and off the solution. Inside a step such a
    /// function is noise; at the ends of a step the integrator has solved for it. It is followed from end to end, and where it
    /// seems to cross the step is taken again up to there.
    fn suffers(&mut self, model: &mut Model, step: &SearchedStep<'_>, k: usize, t: f64) -> bool {
        let n = step.program.states.len();
        let mut f = vec![0.0; n];
        let mut x = std::mem::take(&mut self.x);
        x.resize(n, 0.0);
        step.integrator.interpolate(t, &mut x);
        self.evaluations += 1;
        let known = Rhs::new(&mut model.machine, step.program).rhs(t, &x, &mut f).is_ok();
        // Of others the field may not be the locked one: they slide, or rest.
        let states = step.program.crossings.functions[k].states.iter().copied();
        let off = known && off_course(step.integrator, t, &x, &f, states);
        self.x = x;
        off
    }

    /// Whether a function that is at zero all along within the errors of the states is on the other side where the step ends by what is more
    /// than left over from solving for it there: by a good part of its size, or as where the step began.
    fn overlooked(
        &mut self,
        model: &mut Model,
        step: &SearchedStep<'_>,
        k: usize,
        (offset, sigma): (f64, f64),
        weight: f64,
        amplifies: bool,
    ) -> bool {
        let i = step.program.crossings.functions[k].relation;
        if self.only_crossings || self.released.contains_key(&i) {
            return false;
        }
        let last = sigma * (self.value(model, step, k, step.t1) - offset);
        if !(weight > AMPLIFIED * last.abs() && gone(&model.machine, i, sigma * last + offset)) {
            return false;
        }
        if amplifies {
            return true;
        }
        let first = sigma * (self.value(model, step, k, step.t0) - offset);
        let size = self.size_at_ends(&model.machine, i, [first, last]).max(1e-2 * model.machine.relations[i].nominal);
        last < -0.1 * size || (last < -ENOUGH * size && steady(first, last))
    }

    /// From now on this function is followed from end to end.
    fn follow_ends(&mut self, k: usize, weight: f64) {
        if self.amplifying.insert(k, weight).is_none() {
            self.ends.forget(k);
        }
        self.ends.which.push(k);
    }

    /// Looks at functions that amplify errors by their values at the ends of steps.
    fn search_ends(&mut self, model: &mut Model, step: &SearchedStep<'_>) {
        (self.known_until, self.longest) = (None, f64::INFINITY);
        if self.ends.which.is_empty() {
            return;
        }
        let mut s = std::mem::take(&mut self.ends);
        s.which.sort_unstable();
        let which = s.which.clone();
        if !s.begin(step.t0, step.t1) {
            self.sample(model, step, &mut s, &which, 0);
        }
        self.sample(model, step, &mut s, &which, END);
        // After a restart fast components are not yet where they will be.
        let fresh = step.t0 == self.begun;
        let h = step.t1 - step.t0;
        if fresh && step.integrator.one_step() && self.probed != step.t0 {
            self.probed = step.t0;
            self.known_until = Some(step.t0 + PROBE * h);
        }
        let mut least = LONGER;
        for (j, &k) in which.iter().enumerate() {
            let i = step.program.crossings.functions[k].relation;
            let [first, last] = [s.values[j][0], s.values[j][END]];
            if !(first.is_finite() && last.is_finite()) {
                continue;
            }
            self.note(&mut model.machine, i, first, first.abs().max(last.abs()));
            self.went(i, first.abs());
            let side = self.side(model, step, k);
            let size = self.size_at_ends(&model.machine, i, [first, last]);
            let weight = self.amplifying.get(&k).copied().unwrap_or(0.0);
            // What the states are rounded by moves it, too, however small it is: the difference of two pressures.
            let rounding = ROUNDING * weight / step.integrator.options().rtol;
            let mut beyond = (2.0 * side.tight).max(rounding);
            if self.turned.contains(&i) {
                // Ends have errors, too, a good deal less than the tolerance.
                let noise = (0.1 * weight).min(0.2 * size);
                let level = |g: f64| side.sides.iter().map(|s| s.1 * (g - s.0)).fold(f64::INFINITY, f64::min);
                if level(last) > noise {
                    self.turned.remove(&i);
                } else if !(level(last) < 0.0 && steady(level(first), level(last))) {
                    beyond = beyond.max(noise);
                }
            }
            let close = ENOUGH * weight.min(size);
            let wait = self.hesitating.get(&i).map_or(0.0, |w| ((w.0 - step.t0) / h).max(0.0));
            let known = self.ahead.len();
            for &(offset, sigma) in side.sides.iter() {
                let Some(at) = s.crosses(j, offset, sigma, beyond, close) else { continue };
                // What is beyond zero all along is looked for again, as late as it has to wait.
                let waits = at < wait;
                if waits && (wait > 1.0 || sigma * (last - offset) >= -beyond) {
                    continue;
                }
                if fresh && at == 0.0 && sigma * (last - offset) >= -beyond {
                    continue;
                }
                // What is fast after a restart, and far from zero where it begins, has crossed soon.
                let at = if fresh && at > 0.0 && at < 1.0 { at.min(SOON) } else { at }.max(wait);
                let after = if at >= 1.0 { step.t1 } else { step.t0 + at * h };
                let at_left = at == 0.0 || (waits && at < 1.0);
                self.ahead.push(Ahead { after, function: k, at_left, touches: false });
            }
            let nominal = model.machine.relations[i].nominal;
            let wanted = step.integrator.options().rtol.sqrt() * size.max(1e-2 * nominal);
            // By which factor the step could be longer.
            let part = s.between_ends(j, fresh).map_or(2.0, |(error, degree)| {
                let doubt = self.doubts.entry(k).or_default();
                // What is known no better of a shorter step is noise.
                if doubt.begin == step.t0 && h < doubt.length && error > NOISE * doubt.error {
                    doubt.noise = doubt.noise.max(error);
                }
                (doubt.begin, doubt.length, doubt.error) = (step.t0, h, error);
                (0.9 * (wanted.max(10.0 * doubt.noise) / error).powf(1.0 / degree as f64)).min(LONGER)
            });
            if self.ahead.len() == known {
                least = least.min(part);
            }
            self.longest = self.longest.min(part.clamp(0.5, LONGER) * h);
        }
        if least < 1.0 {
            let until = step.t0 + least.clamp(0.1, 0.7) * h;
            self.known_until = Some(self.known_until.map_or(until, |u| u.min(until)));
        }
        s.end(step.t1, fresh);
        s.which.clear();
        self.ends = s;
    }

    /// Whether functions are followed that amplify errors.
    pub fn amplified(&self) -> bool {
        !self.amplifying.is_empty()
    }

    /// Where the present step should end instead, if what crosses first amplifies errors, or if what is followed from end to end is not known
    /// well enough in between.
    pub fn wants_end(&self, step: &SearchedStep<'_>) -> Option<f64> {
        let first = self.ahead.first().filter(|a| !a.at_left && self.amplifying.contains_key(&a.function));
        let crosses = first.map(|a| a.after).filter(|t| *t < step.t1);
        crosses.into_iter().chain(self.known_until).reduce(f64::min)
    }

    /// The step cannot be taken again: what amplifies errors and has crossed where it ends, crosses there.
    pub fn settle(&mut self, step: &SearchedStep<'_>) {
        for a in self.ahead.iter_mut().filter(|a| !a.at_left && self.amplifying.contains_key(&a.function)) {
            a.after = step.t1;
        }
        self.sort();
    }

    fn sort(&mut self) {
        self.ahead.sort_by(|a, b| a.after.total_cmp(&b.after).then(a.function.cmp(&b.function)));
    }

    /// Lets a function sleep that is this far from zero where the step begins. It cannot cross before one of its terms has
    /// used up its part of a third of the distance: the other two thirds are what makes it [`Location::clear`].
    fn sleep(&mut self, k: usize, distance: f64) -> bool {
        let Some(form) = &self.forms[k] else { return false };
        let terms = form.states.len() + usize::from(form.time != 0.0);
        if terms > MOST_TERMS {
            return false;
        }
        let time = self.sleepers.roads.len() - 1;
        let roads: Vec<(usize, f64)> = (form.states.iter().copied())
            .chain([(time, form.time)])
            .filter(|r| r.1 != 0.0)
            .map(|(road, slope)| (road, 0.33 * distance / (terms as f64 * slope.abs())))
            .collect();
        self.sleepers.wait(k, &roads);
        true
    }

    /// These relations crossed, yet their event left them as they were: at the very edge, rounding decides. They are looked
    /// for again a little later, and later still if that happens again.
    pub fn hesitate(&mut self, relations: impl Iterator<Item = usize>, t: f64, span: f64) {
        for i in relations {
            let times = match self.hesitating.get(&i) {
                Some(&(until, k)) if t <= until + 1e-6 * span => k + 1,
                _ => 0,
            };
            self.hesitating.insert(i, (t + 1e-13 * span.max(t.abs()) * f64::from(times.min(40)).exp2(), times));
        }
    }

    /// Looks again, from `from` on, at the functions of these relations and at those that read changed values.
    pub fn again(&mut self, model: &mut Model, step: &SearchedStep<'_>, from: f64, fired: &[usize], changed: &[u32]) {
        // What was seen of the end of the step was seen before the event.
        self.end = None;
        let crossings = &step.program.crossings;
        let mut touched: Vec<usize> = fired.iter().filter_map(|i| crossings.by_relation.get(i).copied()).collect();
        touched.append(&mut self.deferred);
        for s in changed {
            let reads = |k: &&usize| crossings.functions[**k].discrete.contains(s);
            touched.extend(crossings.by_slot.get(s).into_iter().flatten().filter(reads));
        }
        // What idled may not do so any more.
        for i in model.roused(changed) {
            let Some(&k) = crossings.by_relation.get(&i).filter(|&&k| !crossings.functions[k].affine()) else {
                continue;
            };
            match model.idles(i) {
                true => self.ahead.retain(|a| a.function != k),
                false => touched.push(k),
            }
        }
        touched.sort_unstable();
        touched.dedup();
        touched.retain(|&k| !self.masked.contains(&crossings.functions[k].relation));
        self.ahead.retain(|a| !touched.contains(&a.function));
        for k in touched {
            if self.amplifying.contains_key(&k) {
                // Between events of one step only its end is known.
                self.ends.forget(k);
                let ahead = self.crossed_at_end(model, step, k);
                self.ahead.extend(ahead);
            } else if self.form(model, step, k) {
                self.polynomial(step, k);
                self.isolate_polynomial(model, step, k, from);
            } else if self.unusual(model, step, k)
                || !self.exclusion.tries(k)
                || !self.along(model, step, k, from, Self::isolate)
            {
                self.along(model, step, k, from, Self::isolate_sampled);
            }
        }
        for k in std::mem::take(&mut self.ends.which) {
            let ahead = self.crossed_at_end(model, step, k);
            self.ahead.extend(ahead);
        }
        self.sort();
    }

    /// Where the step ends, if the function is beyond doubt on the other side there.
    fn crossed_at_end(&mut self, model: &mut Model, step: &SearchedStep<'_>, k: usize) -> Option<Ahead> {
        let i = step.program.crossings.functions[k].relation;
        if self.hesitating.get(&i).is_some_and(|w| w.0 > step.t1) {
            return None;
        }
        let good = self.at_all(model, step, step.t1, &[k]);
        let m = &model.machine;
        (good && gone(m, i, m.values[m.relations[i].g as usize])).then_some(Ahead {
            after: step.t1,
            function: k,
            at_left: false,
            touches: false,
        })
    }

    /// Whether a function is near zero for reasons of its own: values decide.
    fn unusual(&self, model: &Model, step: &SearchedStep<'_>, k: usize) -> bool {
        let i = step.program.crossings.functions[k].relation;
        self.released.contains_key(&i) || self.hesitating.contains_key(&i) || model.machine.relations[i].floor > 0.0
    }

    /// Asks enclosures about functions that are not affine; those that they say nothing about are appended.
    fn look(&mut self, model: &mut Model, step: &SearchedStep<'_>) {
        let mut looked = std::mem::take(&mut self.looked);
        // Simultaneous equations are enclosed around a solution, too.
        let placed = self.at_all(model, step, step.t0, &looked);
        looked.retain(|&k| {
            let i = step.program.crossings.functions[k].relation;
            let g = model.machine.values[model.machine.relations[i].g as usize];
            if !placed || !g.is_finite() {
                if !valued(&model.machine, i) {
                    self.undefined.push(i);
                }
                self.append(k);
                return false;
            }
            self.note(&mut model.machine, i, g, g.abs());
            // Just after a restart fast components are not yet where they will be.
            if step.t0 != self.begun {
                self.size_at_ends(&model.machine, i, [g, g]);
            }
            self.went(i, g.abs());
            let side = self.side(model, step, k);
            let roads = self.exclusion.far(&mut model.machine, step, k, &self.reach, &side);
            roads.iter().for_each(|roads| self.sleepers.wait(k, roads));
            roads.is_none()
        });
        for &k in &looked {
            if !self.along(model, step, k, step.t0, Self::isolate) {
                self.append(k);
            }
        }
        self.looked = looked;
    }

    /// Enclosures tell nothing about a function in this step.
    fn append(&mut self, k: usize) {
        self.looks.enclosed -= 1;
        self.appended.which.push(k);
    }

    /// Looks for the earliest crossing of a function from `from` on, the nearer the sooner if it crosses often; false if the search tells
    /// nothing.
    fn along(
        &mut self,
        model: &mut Model,
        step: &SearchedStep<'_>,
        k: usize,
        from: f64,
        search: fn(&mut Self, &mut Model, &SearchedStep<'_>, usize, f64, f64) -> bool,
    ) -> bool {
        let i = step.program.crossings.functions[k].relation;
        let h = step.t1 - step.t0;
        let pace = self.paces.get(&i).filter(|p| from - p.0 <= LASTING * p.1).map_or(h, |p| AHEAD * p.1);
        let (mut a, mut far, known) = (from, pace.max(SHORTEST * h), self.ahead.len());
        while a < step.t1 && self.ahead.len() == known && !self.amplifying.contains_key(&k) {
            let mut b = a + far;
            // Not where it is near zero: what happens there is seen as a whole.
            while b + far < step.t1 && !self.clear_at(model, step, k, b) {
                b += 0.5 * (b - a);
            }
            let b = if b + far < step.t1 { b } else { step.t1 };
            if !search(self, model, step, k, a, b) {
                return false;
            }
            (a, far) = (b, FURTHER * far);
        }
        true
    }

    /// Whether a function is clear of zero at a time of the step.
    fn clear_at(&mut self, model: &mut Model, step: &SearchedStep<'_>, k: usize, t: f64) -> bool {
        let side = self.side(model, step, k);
        let g = self.value(model, step, k, t);
        let errors = 200.0 * self.noise(model, step, step.program.crossings.functions[k].relation, t);
        side.sides.iter().all(|&(offset, _)| (g - offset).abs() > side.band.max(errors))
    }

    /// A relation crosses here.
    fn crosses(&mut self, step: &SearchedStep<'_>, relations: &[usize], t: f64) {
        let crossings = &step.program.crossings;
        for &i in relations {
            if let Some(&k) = crossings.by_relation.get(&i) {
                if self.amplifying.contains_key(&k) {
                    self.turned.insert(i);
                }
                let states = &step.program.states;
                self.spent.passes_on(crossings.functions[k].states.iter().map(|&k| states[k].0));
            }
            let pace = self.paces.entry(i).or_insert((t, f64::INFINITY));
            if t > pace.0 {
                *pace = (t, t - pace.0);
            }
        }
    }

    /// The crossings of a function that is not affine where enclosures leave a doubt; false if they tell nothing.
    fn isolate(&mut self, model: &mut Model, step: &SearchedStep<'_>, k: usize, from: f64, to: f64) -> bool {
        let i = step.program.crossings.functions[k].relation;
        if !(from < to) {
            return true;
        }
        if step.program.crossings.functions[k].solves && !self.at_for(model, step, 0.5 * (from + to), k) {
            return false;
        }
        let mut side = self.side(model, step, k);
        let depth = self.exclusion.depth(k);
        let all = (from, to);
        let Some(mut stretches) = self.exclusion.doubtful(&mut model.machine, step, k, all, depth, &side) else {
            self.exclusion.blind(k, model.machine.host.opaque);
            return false;
        };
        // What may touch zero must be seen to come from further away than its errors.
        let r = &model.machine.relations[i];
        if !stretches.is_empty() && self.touchable(i, &r.kind, model.machine.values[r.var as usize]).is_some() {
            let wide = 1600.0 * self.noise(model, step, i, stretches[0].0);
            if wide > side.band {
                side.band = wide;
                let wider = self.exclusion.doubtful(&mut model.machine, step, k, all, depth, &side);
                stretches = wider.unwrap_or(stretches);
            }
        }
        let known = self.ahead.len();
        let mut doubt: f64 = stretches.iter().map(|s| s.1 - s.0).sum();
        let hopeless = doubt > 0.5 * (to - from);
        for &(a, b) in &stretches {
            self.isolate_sampled(model, step, k, a, b);
            let crossing = self.ahead[known..].iter().map(|c| c.after).fold(f64::INFINITY, f64::min);
            // What values have not shown may be there all the same: enclosures look closer, up to the crossing found.
            if !hopeless && crossing > a {
                let part = (a, b.min(crossing));
                let rest = match self.one_way(model, step, k, part) {
                    true => None,
                    false => self.exclusion.doubtful(&mut model.machine, step, k, part, DEEPEST, &side),
                };
                let rest = rest.unwrap_or_default();
                doubt += rest.iter().map(|s| s.1 - s.0).sum::<f64>() - (part.1 - part.0);
                for &(c, d) in rest.iter().take(MOST_LOOKS) {
                    if d < crossing && (c > from || d - c > 1e-4 * (to - from)) {
                        self.isolate_sampled(model, step, k, c, d);
                    }
                }
            }
            if self.ahead.len() > known {
                break;
            }
        }
        let found = self.ahead[known..].iter().copied().min_by(|a, b| a.after.total_cmp(&b.after));
        if doubt > 0.25 * (to - from) && found.is_none() {
            self.exclusion.failed(k);
        } else {
            self.exclusion.helped(k);
        }
        // How far it goes before it crosses.
        if let Some(found) = found
            && self.at_for(model, step, 0.5 * (from + found.after), k)
        {
            let mut g = [f64::NAN];
            model.machine.crossing_values(&[i], &mut g);
            self.note(&mut model.machine, i, 0.0, if g[0].is_finite() { g[0].abs() } else { 0.0 });
            self.went(i, if g[0].is_finite() { g[0].abs() } else { 0.0 });
        }
        true
    }

    /// Whether a function that values have been asked about rises or falls all over a part of the step: then it crosses there no
    /// more often than they have shown.
    fn one_way(&mut self, model: &mut Model, step: &SearchedStep<'_>, k: usize, part: (f64, f64)) -> bool {
        let f = &step.program.crossings.functions[k];
        let totals = step.program.totals.borrow();
        if f.gradient.is_none() && !f.solves && !totals.contains_key(&f.relation) {
            self.rates.push(f.relation);
        }
        let gradient = f.gradient.as_ref().or_else(|| totals.get(&f.relation).and_then(Option::as_ref));
        let Some(gradient) = gradient.filter(|g| g.continuous) else { return false };
        self.exclusion.one_way(&mut model.machine, step, (k, gradient), part)
    }

    /// The side that a function's locked bit tells, and what counts as zero there.
    fn side(&self, model: &Model, step: &SearchedStep<'_>, k: usize) -> Side {
        let f = &step.program.crossings.functions[k];
        let r = &model.machine.relations[f.relation];
        let bit = model.machine.values[r.var as usize];
        let mut band = self.band(&model.machine, step, f);
        let tight = model.machine.band(f.relation);
        let mut touches = tight;
        if self.touchable(f.relation, &r.kind, bit).is_some() {
            let near = self.approached(f.relation);
            let weight = self.weight(&model.machine, step, f);
            let errors = weight.max(self.accumulated(step, f.relation, weight));
            touches = 2.0 * errors.max(TOUCHING * r.size).max(near).max(tight);
            // Far enough to see that it comes from further away.
            band = band.max(8.0 * touches);
        }
        Side { sides: sides(&r.kind, bit), band, tight, touches, reached: self.reached(f.relation, &r.kind, bit) }
    }

    /// Forgets the forms of functions that read changed values; all of them if the mode has changed.
    pub fn forget(&mut self, program: &ModeProgram, changed: Option<&[u32]>) {
        match changed {
            None => {
                self.forms.clear();
                self.sleepers.roads.clear();
                self.lately.fill(0.0);
            }
            Some(slots) => {
                for &k in slots.iter().filter_map(|s| program.crossings.by_slot.get(s)).flatten() {
                    if let Some(form) = self.forms.get_mut(k) {
                        *form = None;
                    }
                    self.sleepers.wake(k);
                    self.appended.forget(k);
                    self.ends.forget(k);
                    // What made it amplify may have been switched off.
                    self.amplifying.remove(&k);
                    self.doubts.remove(&k);
                    if let Some(far) = self.lately.get_mut(program.crossings.functions[k].relation) {
                        *far = 0.0;
                    }
                }
            }
        }
    }

    /// These relations idled, and may not any more.
    pub fn rouse(&mut self, program: &ModeProgram, relations: &[usize]) {
        let functions = relations.iter().filter_map(|i| program.crossings.by_relation.get(i));
        functions.for_each(|&k| self.sleepers.wake(k));
    }

    /// How far a relation's function went since its last event.
    pub fn take_amplitude(&mut self, relation: usize) -> Option<f64> {
        self.swings.get_mut(relation).map(std::mem::take);
        let a = self.amplitude.get_mut(relation).map(std::mem::take)?;
        (a > 0.0).then_some(a)
    }

    /// Where the states begin and how far they can go in the step.
    fn reaches(&mut self, step: &SearchedStep<'_>) {
        let n = step.program.states.len();
        let fresh = self.reach.is_empty();
        self.reach.resize(n + 1, (0.0, 0.0));
        for &k in &step.program.crossings.states {
            step.integrator.polynomial(k, &mut self.coefficients);
            let far = self.coefficients[1..].iter().map(|c| c.abs()).sum();
            self.travel(k, self.coefficients[0], far, fresh);
        }
        self.travel(n, step.t0, step.t1 - step.t0, fresh);
    }

    /// A state (or time) begins the step here and can go this far.
    fn travel(&mut self, k: usize, begin: f64, far: f64, fresh: bool) {
        let (was, reach) = std::mem::replace(&mut self.reach[k], (begin, far));
        if !fresh {
            // No further than the last step could go, unless it was set anew.
            self.sleepers.roads[k].0 += reach.max((begin - was).abs());
        }
        self.sleepers.call(k, far);
    }

    /// How far an affine function is from zero, if it cannot cross in the step: by far the most frequent case.
    fn clear(&mut self, model: &mut Model, step: &SearchedStep<'_>, k: usize) -> Option<f64> {
        let Some(form) = &self.forms[k] else { return None };
        let (mut g, mut far) = (form.constant + form.time * step.t0, (form.time * (step.t1 - step.t0)).abs());
        for &(k, slope) in &form.states {
            let (begin, reach) = self.reach[k];
            g += slope * begin;
            far += slope.abs() * reach;
        }
        let i = step.program.crossings.functions[k].relation;
        let r = &model.machine.relations[i];
        let bit = model.machine.values[r.var as usize];
        // The error weights of what is read are far below a thousandth of it.
        let (side, margin) = match &r.kind {
            // What is at zero by rounding does not sleep: it may have come there to stay.
            RelationKind::Sign(_) => {
                (if positive_side(&r.kind, bit) { g } else { -g }, (1e-3 * g.abs()).max(model.machine.band(i)))
            }
            RelationKind::Floor => ((g - bit).min(bit + 1.0 - g), 1e-6),
        };
        if !(side > 2.0 * far + margin) {
            return None;
        }
        self.note(&mut model.machine, i, g, g.abs());
        self.went(i, g.abs());
        Some(side - margin)
    }

    /// Makes the form of a function known; false if it is not affine or not a number.
    fn form(&mut self, model: &mut Model, step: &SearchedStep<'_>, k: usize) -> bool {
        if self.forms[k].is_some() {
            return true;
        }
        let f = &step.program.crossings.functions[k];
        let Some(gradient) = f.gradient.as_ref().filter(|g| g.affine) else { return false };
        let m = &mut model.machine;
        // Discrete values are those of the moment; states and time are put to zero for the constant part.
        let states = &step.program.states;
        let time = m.time as usize;
        let kept: Vec<f64> = gradient.states.iter().map(|&(k, _, _)| m.values[states[k].0 as usize]).collect();
        let now = m.values[time];
        for &(k, _, _) in &gradient.states {
            m.values[states[k].0 as usize] = 0.0;
        }
        m.values[time] = 0.0;
        let mut g = [0.0];
        m.crossing_values(&[f.relation], &mut g);
        m.chain(&gradient.slopes);
        for (&(k, _, _), v) in gradient.states.iter().zip(kept) {
            m.values[states[k].0 as usize] = v;
        }
        m.values[time] = now;
        let slope = |(slot, sign): (u32, f64)| sign * m.values[slot as usize];
        let form = Form {
            constant: g[0],
            states: gradient.states.iter().map(|&(k, slot, sign)| (k, slope((slot, sign)))).collect(),
            time: gradient.time.iter().map(|&t| slope(t)).sum(),
        };
        let finite = (form.constant + form.time + form.states.iter().map(|s| s.1).sum::<f64>()).is_finite();
        if finite {
            self.forms[k] = Some(form);
        }
        finite
    }

    /// The coefficients of an affine function on the step.
    fn polynomial(&mut self, step: &SearchedStep<'_>, k: usize) {
        let Some(form) = &self.forms[k] else { return };
        let c = &mut self.coefficients;
        c.clear();
        c.push(form.constant + form.time * step.t0);
        c.push(form.time * (step.t1 - step.t0));
        let part = &mut self.part;
        for &(k, slope) in &form.states {
            step.integrator.polynomial(k, part);
            if c.len() < part.len() {
                c.resize(part.len(), 0.0);
            }
            for (c, p) in c.iter_mut().zip(part.iter()) {
                *c += slope * p;
            }
        }
    }

    /// The earliest crossing of the polynomial held in `coefficients`, from `from` on.
    fn isolate_polynomial(&mut self, model: &mut Model, step: &SearchedStep<'_>, k: usize, from: f64) {
        let i = step.program.crossings.functions[k].relation;
        let h = step.t1 - step.t0;
        let from = self.hesitating.get(&i).map_or(from, |w| from.max(w.0));
        if from >= step.t1 {
            return;
        }
        let begin = ((from - step.t0) / h).clamp(0.0, 1.0);
        if begin > 0.0 {
            substitute_affine(&mut self.coefficients, 1.0 - begin, begin);
        }
        let ends = [poly::evaluate(&self.coefficients, 0.0), poly::evaluate(&self.coefficients, 1.0)];
        self.note(&mut model.machine, i, ends[0], ends[0].abs().max(ends[1].abs()));
        self.went(i, ends[0].abs());
        let weight = self.weight(&model.machine, step, &step.program.crossings.functions[k]);
        // What is no more than errors may be damped or not.
        if ends[0].abs() > MOST_NOISE * weight && self.swings[i].settles(step.t0, ends[0].abs()) {
            self.approaching.remove(&i);
        }
        let band = self.band(&model.machine, step, &step.program.crossings.functions[k]);
        let tight = model.machine.band(i);
        let (kind, bit) = {
            let r = &model.machine.relations[i];
            (r.kind.clone(), model.machine.values[r.var as usize])
        };
        let rest: f64 = self.coefficients[1..].iter().map(|c| c.abs()).sum();
        let level = self.touchable(i, &kind, bit);
        let mut until = 1.0f64;
        for &(offset, sigma) in sides(&kind, bit).iter() {
            let c0 = self.coefficients[0] - offset;
            let coming =
                self.comes(step, i, (from, sigma * c0), (tight, band)) && sigma * (ends[1] - offset) < -PASSING * band;
            let touched = level == Some(offset);
            let errors = weight.max(self.accumulated(step, i, weight));
            let errors = errors.max(self.approached(i));
            let close = if touched { errors.max(tight).max(1e-14 * (c0.abs() + rest)) } else { 0.0 };
            // The whole step on one side: by far the most frequent case.
            if sigma * c0 > rest + band.max(close) {
                continue;
            }
            if c0.abs() + rest <= tight {
                // At zero all along, yet locked to a value zero does not have: it has been reached, unless it is on its way from there.
                let leaves = sigma * (ends[1] - ends[0]) > 0.02 * ((ends[0] - offset).abs() + (ends[1] - offset).abs());
                if !leaves && self.reached(i, &kind, bit) == Some(offset) {
                    self.ahead.push(Ahead { after: from, function: k, at_left: true, touches: false });
                }
                continue;
            }
            let side = if sigma > 0.0 { Sign::Positive } else { Sign::Negative };
            let options = CrossingOptions { tol: if coming { tight } else { band }, touching: false, s_tol: 0.0 };
            self.coefficients[0] = c0;
            let mut found = poly::first_crossing(&self.coefficients, side, &options).filter(|c| !c.touching);
            // What begins beyond that, and beyond errors where it has to get to its side yet, has left it before.
            let clear = if model.machine.relations[i].floor > 0.0 { band.max(weight) } else { band };
            if found.is_some_and(|c| c.at_left) && self.released.contains_key(&i) && sigma * c0 >= -2.0 * clear {
                // Released to a side that it does not get to: it crosses where it leaves what it was released within.
                self.coefficients[0] = c0 + sigma * band;
                found = poly::first_crossing(&self.coefficients, side, &options).filter(|c| !c.touching && !c.at_left);
                self.coefficients[0] = c0;
            }
            if let Some(c) = found
                && self.amplifies(model, step, k, weight).is_some()
                && self.suffers(model, step, k, step.t0 + (begin + c.s_after * (1.0 - begin)) * h)
            {
                return self.follow_ends(k, weight);
            }
            if touched {
                let mut near = self.approaching.contains_key(&i);
                let at = touching::polynomial(&self.coefficients, sigma, close, found.map(|c| c.s_after), &mut near);
                self.approach(i, near.then_some(close));
                if let Some(s) = at {
                    let after = step.t0 + (begin + s * (1.0 - begin)) * h;
                    self.ahead.push(Ahead { after, function: k, at_left: true, touches: true });
                    until = until.min(s);
                }
            }
            self.coefficients[0] = c0 + offset;
            if let Some(c) = found {
                let s = begin + c.s_after * (1.0 - begin);
                self.push(k, step.t0 + s * h, c, from, step.t1);
                until = until.min(c.s_after);
            }
        }
        let far = |part: f64| poly::evaluate(&self.coefficients, part * until).abs();
        self.went(i, [0.0, 0.25, 0.5, 0.75, 1.0].into_iter().map(far).fold(0.0, f64::max));
    }

    /// The relation of a function that has crossed zero by no more than rounding, if it is back on its side at `t`:
    /// it has touched zero. If it is at zero there, the next step tells.
    fn came_back(&mut self, model: &mut Model, step: &SearchedStep<'_>, k: usize, t: f64) -> Option<usize> {
        let i = step.program.crossings.functions[k].relation;
        let r = &model.machine.relations[i];
        let (kind, bit) = (r.kind.clone(), model.machine.values[r.var as usize]);
        let level = self.touchable(i, &kind, bit)?;
        let sigma = sides(&kind, bit).iter().find(|s| s.0 == level)?.1;
        if !self.at_all(model, step, t, &[k]) {
            return None;
        }
        let m = &model.machine;
        let back = sigma * (m.values[m.relations[i].g as usize] - level);
        let far = back > 2.0 * m.band(i);
        self.approach(i, (!far).then_some(0.0));
        far.then_some(i)
    }

    /// Within which errors a function is on its way to zero.
    fn approached(&self, relation: usize) -> f64 {
        self.approaching.get(&relation).copied().unwrap_or(0.0)
    }

    /// Whether a function is on its way to zero, and within which errors of the integration.
    fn approach(&mut self, relation: usize, near: Option<f64>) {
        match near {
            Some(close) => self.approaching.insert(relation, close),
            None => self.approaching.remove(&relation),
        };
    }

    fn push(&mut self, function: usize, after: f64, c: Crossing, from: f64, to: f64) {
        let at_left = c.at_left && c.s_before == c.s_after;
        self.ahead.push(Ahead { after: after.clamp(from, to), function, at_left, touches: false });
    }

    /// Looks at some functions at a place of the step.
    fn sample(&mut self, model: &mut Model, step: &SearchedStep<'_>, s: &mut Appended, which: &[usize], place: usize) {
        let part = s.place(place);
        let t = if part == 1.0 { step.t1 } else { step.t0 + part * (step.t1 - step.t0) };
        let whole = place == END && self.begin_end(model, step);
        let good = whole || self.at_all(model, step, t, which);
        for (&k, v) in s.which.iter().zip(&mut s.values).filter(|(k, _)| good && which.contains(k)) {
            let i = step.program.crossings.functions[k].relation;
            if whole {
                model.machine.crossing_values(&[i], &mut [0.0]);
            }
            v[place] = model.machine.values[model.machine.relations[i].g as usize];
        }
        if whole {
            std::mem::swap(&mut model.machine.values, &mut self.end_values);
        }
    }

    /// The whole model where the step ends, in exchange for the present values, which must come back: something may happen before.
    /// There it will be evaluated in any case, and is kept for that.
    fn begin_end(&mut self, model: &mut Model, step: &SearchedStep<'_>) -> bool {
        if !self.whole_ends {
            return false;
        }
        if self.end.is_some() {
            std::mem::swap(&mut model.machine.values, &mut self.end_values);
            return true;
        }
        let begun = std::time::Instant::now();
        self.end_values.clone_from(&model.machine.values);
        if !self.run(model, step, step.t1, &step.program.between) {
            std::mem::swap(&mut model.machine.values, &mut self.end_values);
            return false;
        }
        self.end = Some((step.t1, begun.elapsed().as_secs_f64()));
        true
    }

    /// Takes over the values of the whole model at the end of the present step, if they are known; the seconds that this saves.
    pub fn take_end(&mut self, model: &mut Model, t: f64) -> Option<f64> {
        let (_, seconds) = self.end.take().filter(|e| e.0 == t)?;
        model.machine.values.clone_from(&self.end_values);
        Some(seconds)
    }

    /// Looks at appended functions: at the end of the step and at the check if that is enough, at more places and closely
    /// where it is not.
    fn search_appended(&mut self, model: &mut Model, step: &SearchedStep<'_>) {
        let relation = |k: usize| step.program.crossings.functions[k].relation;
        let mut s = std::mem::take(&mut self.appended);
        let mut open = std::mem::take(&mut self.looked);
        open.clone_from(&s.which);
        if !s.begin(step.t0, step.t1) {
            self.sample(model, step, &mut s, &open, 0);
        }
        for places in [&[CHECK, END][..], &[MIDDLE], &OTHERS] {
            for &place in places {
                self.sample(model, step, &mut s, &open, place);
            }
            open.clear();
            for j in 0..s.which.len() {
                let k = s.which[j];
                let side = self.side(model, step, k);
                // Where values are all there ever is, they have to show how the function moves within the step.
                let early = places != OTHERS && (s.is_wild(k) || self.exclusion.is_blind(k));
                // What has come close to zero may go back from there in this step.
                if early || self.approaching.contains_key(&relation(k)) || !s.stays(j, &side) {
                    open.push(k);
                }
                if places == OTHERS {
                    s.tame(j, &side);
                }
            }
            if open.is_empty() {
                break;
            }
        }
        self.shared.begin(step.program, &open);
        for (j, &k) in s.which.iter().enumerate() {
            let (i, samples) = (relation(k), s.values[j]);
            let big = samples.iter().filter(|v| v.is_finite()).fold(0.0f64, |m, v| m.max(v.abs()));
            self.note(&mut model.machine, i, samples[0], big);
            let first = if step.t0 == self.begun { END } else { 0 };
            self.size_at_ends(&model.machine, i, [samples[first], samples[END]]);
            if !open.contains(&k) {
                self.approaching.remove(&i);
                self.went(i, samples[END].abs());
                continue;
            }
            if samples[0].is_nan() {
                self.undefined.push(i);
                if samples[END].is_nan() {
                    continue;
                }
            }
            if self.released.get(&i).is_some_and(|b| big <= *b) {
                continue;
            }
            let known = self.ahead.len();
            if samples[0].is_finite() {
                self.went(i, samples[0].abs());
            }
            self.along(model, step, k, step.t0, Self::isolate_sampled);
            let until = self.ahead[known..].iter().map(|a| a.after).fold(step.t1, f64::min);
            let before = (0..PLACES.len()).filter(|&p| step.t0 + s.place(p) * (step.t1 - step.t0) <= until);
            let far = before.map(|p| samples[p]).filter(|g| g.is_finite()).fold(0.0f64, |m, g| m.max(g.abs()));
            self.went(i, far);
        }
        self.shared.end();
        s.end(step.t1, false);
        self.looked = open;
        self.appended = s;
    }

    /// The integration begins anew.
    pub fn restarted(&mut self) {
        self.anew.0 = true;
        self.appended.restart();
        self.ends.restart();
        (self.begun, self.probed) = (f64::NAN, f64::NAN);
        self.turned.clear();
    }

    /// The value of a function, asked for once.
    fn seen_at(
        &mut self,
        model: &mut Model,
        step: &SearchedStep<'_>,
        k: usize,
        t: f64,
        seen: &mut FxHashMap<u64, f64>,
    ) -> f64 {
        *seen.entry(t.to_bits()).or_insert_with(|| {
            if let Some(g) = self.shared.values.get(&(k, t.to_bits())) {
                return *g;
            }
            let g = self.value(model, step, k, t);
            // Where one has no value, equations may not have been solved.
            for other in if g.is_nan() { Vec::new() } else { self.shared.with(k) } {
                let mut g = [f64::NAN];
                model.machine.crossing_values(&[step.program.crossings.functions[other].relation], &mut g);
                self.shared.values.insert((other, t.to_bits()), g[0]);
            }
            g
        })
    }

    /// The crossings of a function by its values.
    fn isolate_sampled(&mut self, model: &mut Model, step: &SearchedStep<'_>, k: usize, from: f64, to: f64) -> bool {
        let i = step.program.crossings.functions[k].relation;
        let from = self.hesitating.get(&i).map_or(from, |w| from.max(w.0));
        if from >= to {
            return true;
        }
        let noise = self.noise(model, step, i, from);
        let rounding = self.rounding(model, step, k, from);
        let band = self.band(&model.machine, step, &step.program.crossings.functions[k]).max(noise).max(rounding);
        let tight = model.machine.band(i);
        let (kind, bit) = {
            let r = &model.machine.relations[i];
            (r.kind.clone(), model.machine.values[r.var as usize])
        };
        // At zero all along, yet locked to a value zero does not have: it has been reached.
        if let Some(level) = self.reached(i, &kind, bit) {
            let still = |me: &mut Self, model: &mut Model, s: f64| {
                let mut g = [f64::NAN];
                if me.at_for(model, step, from + s * (to - from), k) {
                    model.machine.crossing_values(&[i], &mut g);
                }
                (g[0] - level).abs() <= tight
            };
            if [0.0, 0.3, 0.7, 1.0].into_iter().all(|s| still(self, model, s)) {
                self.ahead.push(Ahead { after: from, function: k, at_left: true, touches: false });
                return true;
            }
        }
        // A hundredth of the errors made the noise.
        let part = self.amplifies(model, step, k, 100.0 * noise);
        for &(offset, sigma) in sides(&kind, bit).iter() {
            let side = if sigma > 0.0 { Sign::Positive } else { Sign::Negative };
            let first = if from == step.t0 { self.value(model, step, k, from) - offset } else { f64::INFINITY };
            let least = tight.max(rounding);
            let coming = self.comes(step, i, (from, sigma * first), (least, band))
                && sigma * (self.value(model, step, k, to) - offset) < -PASSING * band;
            let options = CrossingOptions { tol: if coming { least } else { band }, touching: false, s_tol: 0.0 };
            let touched = self.touchable(i, &kind, bit) == Some(offset);
            let mut near = self.approaching.contains_key(&i);
            let size = model.machine.relations[i].size;
            // Crossing, touching and coming to rest are looked for on the same values.
            let mut seen: FxHashMap<u64, f64> = FxHashMap::default();
            let mut found = None;
            let mut start = from;
            for _ in 0..MOST_LOOKS {
                let mut f = |t: f64| self.seen_at(model, step, k, t, &mut seen) - offset;
                found = first_crossing_sampled(&mut f, start, to, side, &options, &Default::default()).crossing;
                // What does not move with the states has no errors.
                let Some(c) = found.filter(|c| !c.touching && !c.at_left && noise > 0.0) else { break };
                let mut deep = |t: f64| -sigma * (self.seen_at(model, step, k, t, &mut seen) - offset);
                let Some((back, depth)) = dip(&mut deep, c.s_after, to) else { break };
                // What goes beyond zero by no more than noise and is back before the step ends, is an error of dense output; more than
                // noise where that is off its course.
                let noise = self.noise(model, step, i, c.s_after);
                let off = depth <= 100.0 * STRAY * noise && self.suffers(model, step, k, c.s_after);
                if !(depth <= SHALLOW * noise || off) {
                    break;
                }
                (found, start) = (None, back);
            }
            let mut found = found.filter(|c| !c.touching);
            let mut f = |t: f64| sigma * (self.seen_at(model, step, k, t, &mut seen) - offset);
            if found.is_none() && f(from) <= band && touching::falls(&mut f, 1.0, from, to) {
                found = self.through_zero(model, step, k, (from, to), offset, sigma);
            }
            // What the errors move it by is most of what is seen of it inside the step.
            let errors = 100.0 * noise;
            let amplifies = part.is_some();
            let follows = match found {
                _ if part > Some(1.0) => true,
                Some(c) if amplifies && self.suffers(model, step, k, c.s_after) => true,
                None if to < step.t1 => false,
                _ if amplifies && self.suffers(model, step, k, 0.5 * (step.t0 + step.t1)) => true,
                Some(_) => false,
                None => self.overlooked(model, step, k, (offset, sigma), errors, amplifies),
            };
            if follows {
                self.follow_ends(k, errors);
                return true;
            }
            // What does not move with the states has no errors.
            let errors = if noise > 0.0 { errors.max(self.accumulated(step, i, errors)) } else { 0.0 };
            let approached = self.approached(i);
            let mut f = |t: f64| self.seen_at(model, step, k, t, &mut seen) - offset;
            if touched {
                // As close as it was said to have come.
                let close = tight.max(errors).max(TOUCHING * size).max(rounding).max(approached);
                let limit = found.map_or(to, |c| c.s_after);
                let at = touching::sampled(&mut f, sigma, close, (from, limit), found.is_some(), &mut near);
                let crosses = found.map(|c| c.s_after);
                let at = touching::arrival(&mut f, sigma, ROUNDING * size, (from, to, step.t1 - step.t0), at, crosses)
                    .or(at);
                // Where the stretch ends inside the step, values beyond it are clear of zero.
                self.approach(i, (near && to == step.t1).then_some(close));
                if let Some(after) = at {
                    self.ahead.push(Ahead { after, function: k, at_left: true, touches: true });
                }
            }
            if let Some(c) = found {
                self.push(k, c.s_after, c, from, to);
            }
        }
        true
    }

    /// Where a function that falls all along changes its sign without leaving what counts as zero, if it goes on both sides of it by more than it
    /// moves with the errors of the states: it is flat (u⁹), not at rest.
    fn through_zero(
        &mut self,
        model: &mut Model,
        step: &SearchedStep<'_>,
        k: usize,
        (from, to): (f64, f64),
        offset: f64,
        sigma: f64,
    ) -> Option<Crossing> {
        let f = &step.program.crossings.functions[k];
        if f.affine() || self.released.contains_key(&f.relation) || whole(&model.machine, f.relation) {
            return None;
        }
        let [first, last] = [from, to].map(|t| {
            let errors = 100.0 * self.noise(model, step, f.relation, t) + self.rounding(model, step, k, t);
            let g = sigma * (self.value(model, step, k, t) - offset);
            if g.abs() > errors { g } else { 0.0 }
        });
        if !(first > 0.0 && last < 0.0) {
            return None;
        }
        let g = |t: f64| sigma * (self.value(model, step, k, t) - offset);
        let (s_before, s_after) = bracket::sign_change(g, from, first, to, last, 0.0);
        Some(Crossing { s_before, s_after, touching: false, at_left: false })
    }

    /// Whether a function that is beyond zero by less than its band goes on from there until the step ends, by more than it moves with the errors
    /// of the states: it is flat (u⁹), not at rest.
    fn goes_on(&mut self, model: &mut Model, step: &SearchedStep<'_>, k: usize, after: f64) -> bool {
        let f = &step.program.crossings.functions[k];
        let i = f.relation;
        let r = &model.machine.relations[i];
        let bit = model.machine.values[r.var as usize];
        let RelationKind::Sign(_) = r.kind else { return false };
        let sigma = if positive_side(&r.kind, bit) { 1.0 } else { -1.0 };
        if f.affine() || self.released.contains_key(&i) || r.floor > 0.0 {
            return false;
        }
        let errors = 100.0 * self.noise(model, step, i, step.t1) + self.rounding(model, step, k, step.t1);
        let mut g = |t: f64| self.value(model, step, k, t);
        sigma * g(step.t1) < -errors && touching::falls(&mut g, sigma, after, step.t1)
    }

    /// Relations whose functions are at zero within the errors of the integration, on their way to the other side, with the
    /// values of these functions.
    pub fn arriving(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        integrator: &dyn Integrator,
    ) -> Vec<(usize, f64)> {
        let t = integrator.t();
        let step = SearchedStep { program, integrator, t0: t, t1: t };
        let mut found = Vec::new();
        for f in &program.crossings.functions {
            let Some(gradient) = f.gradient.as_ref().filter(|_| !self.masked.contains(&f.relation)) else { continue };
            let rate = gradient.rate(&mut model.machine, program);
            let m = &model.machine;
            // A hundredth of the error weights is noise; this is the whole of them.
            let weight = 100.0 * self.band(m, &step, f);
            let r = &m.relations[f.relation];
            let (kind, bit) = (r.kind.clone(), m.values[r.var as usize]);
            let mut g = [0.0];
            model.machine.crossing_values(&[f.relation], &mut g);
            let side = if positive_side(&kind, bit) { 1.0 } else { -1.0 };
            // A rate that is not a number leads nowhere either.
            if matches!(kind, RelationKind::Sign(_)) && g[0].abs() <= weight && !(side * rate > 0.0) {
                found.push((f.relation, g[0]));
            }
        }
        found
    }

    /// Whether function `k`, `g` at `t` and `before` a while `dt` earlier, reaches a value that changes its relation there, by its errors
    /// and by where it would be `close` later.
    pub fn comes_to(
        &mut self,
        model: &mut Model,
        step: &SearchedStep<'_>,
        k: usize,
        t: f64,
        (before, g, dt): (f64, f64, f64),
        close: f64,
    ) -> bool {
        let f = &step.program.crossings.functions[k];
        let r = &model.machine.relations[f.relation];
        let bit = model.machine.values[r.var as usize];
        let Some(value) = self.reached(f.relation, &r.kind, bit).filter(|_| !self.masked.contains(&f.relation)) else {
            return false;
        };
        let side = match r.kind {
            RelationKind::Sign(_) if positive_side(&r.kind, bit) => 1.0,
            _ => -1.0,
        };
        let (was, is) = (side * (before - value), side * (g - value));
        was > is && was > 0.0 && is * dt <= close * (was - is) && is <= self.errors(model, step, k, t)
    }

    /// What a function may be wrong by at a time of the step. What reads no states is known up to rounding.
    fn errors(&mut self, model: &mut Model, step: &SearchedStep<'_>, k: usize, t: f64) -> f64 {
        let f = &step.program.crossings.functions[k];
        if f.states.is_empty() {
            return model.machine.band(f.relation).max(self.rounding(model, step, k, t));
        }
        let uniform = |g: &Gradient| g.affine && g.states.iter().all(|s| step.program.uniform[s.0]);
        let part = match self.spent.of(step.program, &f.states) {
            Some(spent) => (SAFE * spent).min(1.0),
            None if f.gradient.as_ref().is_some_and(uniform) => 0.0,
            None => 1.0,
        };
        let released = self.released.get(&f.relation).copied().unwrap_or(0.0);
        let least = 100.0 * model.machine.band(f.relation).max(released);
        if self.in_turn.contains(&f.relation) {
            return least;
        }
        let known = least.max(part * self.weight(&model.machine, step, f));
        if f.affine() || part == 0.0 { known } else { known.max(100.0 * part * self.noise(model, step, f.relation, t)) }
    }

    /// Whether the functions of these relations, which cross shortly before `t`, are at zero there within their errors: what happens
    /// at `t` happens with them.
    pub fn waits(&mut self, model: &mut Model, step: &SearchedStep<'_>, fired: &[usize], t: f64) -> bool {
        let crossings = &step.program.crossings;
        fired.iter().filter_map(|i| crossings.by_relation.get(i)).all(|&k| {
            let g = self.value(model, step, k, t);
            !whole(&model.machine, crossings.functions[k].relation) && g.abs() <= self.errors(model, step, k, t)
        })
    }

    /// Relations whose functions come to a value that changes them at `end`, a time of the step, within the errors of the
    /// integration: what happens there happens with them. They are not on the other side before.
    pub fn meeting(&mut self, model: &mut Model, step: &SearchedStep<'_>, end: f64, close: f64) -> Vec<usize> {
        let dt = 1e-3 * (end - step.t0);
        let mut found = Vec::new();
        if !(dt > 0.0) || self.only_crossings {
            return found;
        }
        let part = |t: f64| (t - step.t0) / (step.t1 - step.t0);
        for k in self.sleepers.awake.clone() {
            let f = &step.program.crossings.functions[k];
            if model.idle().contains(&f.relation) {
                continue;
            }
            let mut g = [f64::NAN; 2];
            if self.form(model, step, k) {
                self.polynomial(step, k);
                g = [end - dt, end].map(|t| poly::evaluate(&self.coefficients, part(t)));
            } else {
                for (t, g) in [end, end - dt].into_iter().zip(g.iter_mut().rev()) {
                    if self.at_for(model, step, t, k) {
                        model.machine.crossing_values(&[f.relation], std::slice::from_mut(g));
                    }
                    // Mostly far away.
                    if !(g.abs() <= 1e-2 * model.machine.relations[f.relation].size) {
                        break;
                    }
                }
            }
            if self.comes_to(model, step, k, end, (g[0], g[1], dt), close) {
                found.push(f.relation);
                // What is left to zero is no way back.
                if g[1].abs() > model.machine.band(f.relation) {
                    self.released.insert(f.relation, 2.0 * g[1].abs());
                }
            }
        }
        self.touching.extend(&found);
        found
    }

    /// Relations whose functions cross at `t` or hardly later.
    pub fn near(&self, program: &ModeProgram, t: f64, close: f64) -> Vec<usize> {
        let ahead = self.ahead.iter().take_while(|a| a.after <= t + close).map(|a| a.function);
        let functions = ahead.chain(self.deferred.iter().copied());
        functions.map(|k| program.crossings.functions[k].relation).collect()
    }

    /// Relations at zero whose values loops have chosen at an event.
    pub fn choose(&mut self, relations: Vec<usize>) {
        self.chosen = relations.into_iter().collect();
    }

    /// Relations taken out by [`Location::earliest`] whose event must wait for another.
    pub fn put_back(&mut self, step: &SearchedStep<'_>, fired: &[usize]) {
        self.grazing.retain(|i| !fired.contains(i));
        let functions = step.program.crossings.functions.iter().enumerate();
        self.deferred.extend(functions.filter(|(_, f)| fired.contains(&f.relation)).map(|(k, _)| k));
    }

    /// Whether a function that comes to zero is another one before it has gone from there, or beyond it by more than rounding: what
    /// decides about its branch, a function of states and time alone, crosses meanwhile.
    fn branch_ends(&mut self, model: &mut Model, step: &SearchedStep<'_>, coming: Ahead) -> bool {
        let functions = &step.program.crossings.functions;
        let touching = &functions[coming.function];
        if touching.discrete.is_empty()
            || !matches!(model.machine.relations[touching.relation].kind, RelationKind::Sign(_))
        {
            return false;
        }
        let decides = |a: &&Ahead| {
            let f = &functions[a.function];
            let mut slots = model.decides(f.relation);
            !a.touches && f.discrete.is_empty() && slots.any(|slot| touching.discrete.contains(&slot))
        };
        let Some(end) = self.ahead.iter().filter(decides).map(|a| a.after).reduce(f64::min) else { return false };
        let side = self.side(model, step, coming.function);
        let close = if coming.touches { side.touches } else { 8.0 * side.tight };
        self.value(model, step, coming.function, end).abs() <= close
    }

    /// The earliest event ahead: its time and the relations that cross there. The time lies where the new bits hold
    /// beyond doubt.
    pub fn earliest(
        &mut self,
        model: &mut Model,
        step: &SearchedStep<'_>,
        from: f64,
        span: f64,
    ) -> Option<(f64, Vec<usize>)> {
        self.touching.clear();
        let mut returns = 0;
        'first: while let Some(&first) = self.ahead.first() {
            // Where the branch ends, too, the new one says what becomes of them.
            let soon: Vec<Ahead> =
                self.ahead.iter().take_while(|a| a.after <= first.after + 1e-10 * span).copied().collect();
            let ending: Vec<usize> =
                soon.into_iter().filter(|a| self.branch_ends(model, step, *a)).map(|a| a.function).collect();
            if !ending.is_empty() {
                self.ahead.retain(|a| !ending.contains(&a.function));
                self.deferred.extend(ending);
                continue;
            }
            if first.at_left {
                let t = first.after.max(from);
                let touches = self.ahead.iter().filter(|a| a.touches && a.after <= t);
                self.touching = touches.map(|a| step.program.crossings.functions[a.function].relation).collect();
                let here: Vec<usize> =
                    self.ahead.iter().filter(|a| a.at_left && a.after <= t).map(|a| a.function).collect();
                self.ahead.retain(|a| !here.contains(&a.function));
                let mut fired: Vec<usize> =
                    here.iter().map(|&k| step.program.crossings.functions[k].relation).collect();
                fired.dedup();
                // Beyond zero by less than rounding, it is not back at zero at once.
                self.grazing.extend(fired.iter().filter(|i| !self.touching.contains(i)));
                self.approaching.retain(|i, _| !fired.contains(i));
                self.crosses(step, &fired, t);
                return Some((t, fired));
            }
            // Step past the zero band, so that the bit flips beyond doubt.
            let mut t = first.after.max(from);
            let mut push = 4.0 * f64::EPSILON * t.abs().max(span * 1e-3);
            let own = step.program.crossings.functions[first.function].relation;
            // What reads states is noise so close to zero: coming back there tells nothing.
            let exact = returns < MOST_RETURNS && step.program.crossings.functions[first.function].states.is_empty();
            for _ in 0..60 {
                if !self.at(model, step, t) {
                    break;
                }
                let mut g = [0.0];
                model.machine.crossing_values(&[own], &mut g);
                if exact && t > first.after && stays(&model.machine, own, g[0]) {
                    break;
                }
                let near: Vec<usize> =
                    self.ahead.iter().take_while(|a| a.after <= t + push).map(|a| a.function).collect();
                let mut fired: Vec<usize> = Vec::new();
                for k in near {
                    let i = step.program.crossings.functions[k].relation;
                    let mut g = [0.0];
                    model.machine.crossing_values(&[i], &mut g);
                    if gone(&model.machine, i, g[0]) && !fired.contains(&i) {
                        fired.push(i);
                    }
                }
                if !fired.is_empty() {
                    // A flat crossing (u³) stays in the band for long: it is where the function changes its sign.
                    let long = (1e-10 * span).max(64.0 * f64::EPSILON * t.abs());
                    if t - first.after > long && !fired.iter().any(|&i| whole(&model.machine, i)) {
                        let flat = step.program.crossings.functions[first.function].relation;
                        if !fired.contains(&flat) && !self.goes_on(model, step, first.function, first.after) {
                            // At zero still, while others cross: looked for again after their event.
                            self.deferred.push(first.function);
                            let r = &model.machine.relations[flat];
                            if self.touchable(flat, &r.kind, model.machine.values[r.var as usize]).is_some() {
                                self.approaching.entry(flat).or_insert(0.0);
                            }
                            self.ahead.remove(0);
                            continue 'first;
                        }
                        t = first.after.max(from);
                        fired = vec![flat];
                    }
                    self.ahead.retain(|a| !fired.contains(&step.program.crossings.functions[a.function].relation));
                    self.grazing.extend(&fired);
                    self.approaching.retain(|i, _| !fired.contains(i));
                    self.crosses(step, &fired, t);
                    return Some((t, fired));
                }
                if t >= step.t1 {
                    break;
                }
                t = (t + push).min(step.t1);
                push *= 2.0;
            }
            // It came back before it was beyond doubt, or is decided in the next step.
            self.ahead.remove(0);
            let at = first.after.max(from);
            if t >= step.t1 && self.goes_on(model, step, first.function, at) {
                self.grazing.insert(own);
                self.approaching.remove(&own);
                self.crosses(step, &[own], at);
                return Some((at, vec![own]));
            }
            if let Some(i) = self.came_back(model, step, first.function, t) {
                self.touching = vec![i];
                return Some((at, vec![i]));
            }
            if t < step.t1 && exact {
                returns += 1;
                if !self.form(model, step, first.function) {
                    self.isolate_sampled(model, step, first.function, t, step.t1);
                } else {
                    self.polynomial(step, first.function);
                    self.isolate_polynomial(model, step, first.function, t);
                }
                self.sort();
            }
        }
        None
    }
}
