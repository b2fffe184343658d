//! Switches that accumulate without resets: modes of a memory follow each other in turn, each for a shorter time.
//!
//! ```text
//!   when x1 <= 0 then q = true; elsewhen x2 <= 0 then q = false; end when;      two tanks, one hose
//! ```
//!
//! A *cycle* is the shortest sequence of switches (the relations that fired, what they changed) that repeats itself; its durations
//! D_k shrink like q^k, and t* = t + D q/(1 − q) (mathematics, section 10). Switches of three tanks and more need not repeat themselves; they
//! are looked at in windows of equal numbers. What follows is decided by the run: the mix of the modes that
//! holds all their boundaries, what the equations say whatever is remembered, or nothing.

use crate::crossings::positive_side;
use crate::junction::{base, solve_small};
use crate::machine::plain;
use crate::model::{ModeProgram, Model};
use crate::rhs::Rhs;
use crate::sliding::Surface;
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_base::Span;
use saltus_dae::VarId;
use saltus_solver::lcp::lemke;
use saltus_structure::RelationKind;
use std::collections::VecDeque;

/// Switches of a cycle at most.
const LONGEST_CYCLE: usize = 8;
/// The end of switches that do not repeat themselves is known up to this part of the run.
pub(crate) const SCATTER: f64 = 1e-7;
/// So much longer, each time ten times, it is waited for it where nothing fits what is there.
pub(crate) const MOST_SCATTER: f64 = 1e-5;
/// Modes that are mixed at most.
const MOST_MODES: usize = 16;
/// Cycles that are compared.
const CYCLES: usize = 5;
/// Switches of a window where nothing repeats itself; three of them are compared.
const WINDOW: usize = 24;
/// Ratios of durations that are this close to each other, as a part of what they are below 1, are those of a geometric series.
const ALIKE: f64 = 0.05;
/// The rest of a series below this part of the run cannot be told from its limit, if its cycles have become so much shorter: what is
/// merely fast stops shrinking before.
const NO_TIME: f64 = 1e-9;
const SHRUNK: f64 = 1e-6;
/// Cycles below this part of the run are too short to be told apart by events.
const NO_CYCLE: f64 = 1e-9;
/// Cycles that become shorter and shorter, though not by a ratio, are followed down to this part of the run.
const CHATTER: f64 = 1e-6;

/// One switch.
#[derive(Clone)]
pub(crate) struct Switch {
    pub t: f64,
    /// Relations that fired: values before and after.
    pub fired: Vec<(usize, f64, f64)>,
    /// Slots that the field depends on and that changed, with the new values where these tell modes apart.
    pub changed: Vec<(u32, f64)>,
    /// The number of the equations that held before.
    pub program: usize,
    /// All discrete values before; none while nothing repeats itself.
    pub before: Vec<f64>,
}

impl Switch {
    fn like(&self, other: &Switch) -> bool {
        let relations = |s: &Switch| s.fired.iter().map(|f| f.0).collect::<Vec<_>>();
        self.program == other.program && self.changed == other.changed && relations(self) == relations(other)
    }
}

/// The switches of an island.
#[derive(Default)]
struct Series {
    switches: VecDeque<Switch>,
    /// Switches of a cycle; 0: they do not repeat themselves.
    period: usize,
    /// The longest cycle since they do.
    longest: f64,
    /// The longest window.
    widest: f64,
    /// Its end has been told.
    told: bool,
}

/// A series whose end is near.
pub(crate) struct Accumulation {
    /// t*; nothing if the cycles only become too short to be followed.
    pub at: Option<f64>,
    /// Whether the switches repeat themselves; else cycles are windows.
    repeats: bool,
    /// The last cycle, and those before it.
    pub cycle: Vec<Switch>,
    earlier: [Vec<Switch>; 2],
    /// How long each mode of the last cycle lasted, that before the switch.
    pub dwells: Vec<f64>,
    key: (u32, bool),
}

impl Series {
    /// Durations of the last cycles, the latest first.
    fn durations(&self) -> Vec<f64> {
        let (n, p) = (self.switches.len(), self.period);
        let t = |k: usize| self.switches[n - 1 - k * p].t;
        (0..CYCLES).map(|k| t(k) - t(k + 1)).collect()
    }

    /// Whether switches follow each other in a cycle whose durations do not grow.
    fn regular(&self) -> bool {
        self.period > 0 && {
            let d = self.durations();
            d.iter().all(|later| *later >= 0.999 * d[0])
        }
    }

    /// What is left of a geometric series.
    fn rest(&self) -> Option<f64> {
        let d = self.durations();
        let ratios: Vec<f64> = d.windows(2).map(|w| w[0] / w[1]).collect();
        let (worst, least) = ratios.iter().fold((0.0f64, 1.0f64), |(w, l), r| (w.max(*r), l.min(*r)));
        let alike = worst < 0.5 || worst - least <= ALIKE * (1.0 - worst);
        let last = ratios[0];
        (worst < 0.9999 && alike).then(|| d[0] * last / (1.0 - last))
    }

    fn find_period(&mut self) {
        let s = &self.switches;
        let n = s.len();
        let repeats = |p: &usize| n > (CYCLES + 1) * p && (n - CYCLES * p..n).all(|i| s[i].like(&s[i - p]));
        let period = (1..=LONGEST_CYCLE).find(repeats).unwrap_or(0);
        if period != self.period {
            (self.period, self.longest, self.told) = (period, 0.0, false);
        }
    }

    fn last(&self) -> f64 {
        self.switches[self.switches.len() - 1].t
    }

    /// What is left of switches that do not repeat themselves, if their windows shrink and the rest is next to nothing.
    fn scattered(&self, span: f64) -> Option<f64> {
        let n = self.switches.len();
        if n <= 3 * WINDOW {
            return None;
        }
        let t = |k: usize| self.switches[n - 1 - k * WINDOW].t;
        let d = [t(0) - t(1), t(1) - t(2), t(2) - t(3)];
        let ratio = (d[0] / d[2]).sqrt();
        let shrinks = d[0] < d[1] && d[0] < 0.8 * d[2];
        let rest = d[0] * ratio / (1.0 - ratio);
        let short = d[0] / self.widest;
        // Of several guards some come together by chance where little is left: not as far as for cycles.
        let ends = short < SHRUNK && rest < 10.0 * NO_TIME * span;
        (shrinks && (ends || short < SHRUNK.sqrt() && d[0] < 2.0 * NO_CYCLE * span)).then_some(rest)
    }

    fn accumulation(&self, at: Option<f64>, key: (u32, bool)) -> Accumulation {
        let (n, p) = (self.switches.len(), if self.period > 0 { self.period } else { WINDOW });
        let part = |from: usize| self.switches.range(from..from + p).cloned().collect();
        let dwells = (n - p..n).map(|i| self.switches[i].t - self.switches[i - 1].t).collect();
        let repeats = self.period > 0;
        Accumulation { at, repeats, cycle: part(n - p), earlier: [part(n - 2 * p), part(n - 3 * p)], dwells, key }
    }
}

/// Watches switches, island by island; those of time alone that no derivative reads are a series of their own.
#[derive(Default)]
pub(crate) struct Switching {
    series: FxHashMap<(u32, bool), Series>,
    /// The relations of series whose boundaries part again from where they met.
    parted: FxHashSet<usize>,
}

impl Switching {
    /// Notes a switch in a run over `span`; says if the series ends.
    pub fn note(&mut self, key: (u32, bool), switch: Switch, span: f64) -> Option<Accumulation> {
        let s = self.series.entry(key).or_default();
        s.switches.push_back(switch);
        if s.switches.len() > 3 * WINDOW + 1 {
            s.switches.pop_front();
        }
        s.find_period();
        if let Some(k) = s.switches.len().checked_sub(WINDOW + 1) {
            s.widest = s.widest.max(s.last() - s.switches[k].t);
        }
        let period = if s.period > 0 { s.period } else { WINDOW };
        let seen = s.switches.iter().rev().take(3 * period).all(|w| !w.before.is_empty());
        if s.told || !seen {
            return None;
        }
        if s.period == 0 {
            return s.scattered(span).map(|rest| s.accumulation(Some(s.last() + rest), key));
        }
        let d = s.durations();
        s.longest = d.iter().fold(s.longest, |a, b| a.max(*b));
        if !s.regular() {
            return None;
        }
        let t = s.last();
        let (short, rest) = (d[0] / s.longest, s.rest());
        let ends = |rest: &f64| {
            (short < SHRUNK && *rest < NO_TIME * span) || (short < SHRUNK.sqrt() && d[0] < NO_CYCLE * span)
        };
        if let Some(rest) = rest.filter(ends) {
            return Some(s.accumulation(Some(t + rest), key));
        }
        // What shrinks by a ratio has an end of its own, and is followed to that.
        let fast = (d[0] < CHATTER * span && short < 0.01) || d[0] < NO_CYCLE * span;
        (fast && rest.is_none()).then(|| s.accumulation(None, key))
    }

    /// The series of a relation that events without end belong to.
    pub fn without_end(&self, fired: &[usize]) -> Option<Accumulation> {
        let of = |s: &Series| s.regular() && !s.told && fired.iter().any(|&i| s.fires(i));
        let (key, s) = self.series.iter().filter(|(_, s)| of(s)).min_by_key(|(k, _)| **k)?;
        Some(s.accumulation(Some(s.last() + s.rest()?), *key))
    }

    /// Whether something repeats itself, so that more must be known about it.
    pub fn attentive(&self) -> bool {
        self.series.values().any(|s| s.period > 0 || s.switches.len() > CYCLES)
    }

    /// The relations of switches that repeat themselves, ever faster, or come in windows that shrink: their events are no noise.
    pub fn in_turn(&self) -> FxHashSet<usize> {
        let quick = |s: &&Series| s.regular() || s.quick();
        let recent = |s: &'_ Series| if s.period > 0 { s.period } else { WINDOW };
        let of = self.series.values().filter(quick).flat_map(|s| s.switches.iter().rev().take(recent(s)));
        of.flat_map(|s| &s.fired).map(|f| f.0).chain(self.parted.iter().copied()).collect()
    }

    /// Boundaries that have met part again: what switches there does so ever more slowly.
    pub fn part(&mut self, relations: &[usize]) {
        self.parted.extend(relations);
    }

    /// The end of a series has been told, and it goes on.
    pub fn told(&mut self, a: &Accumulation) {
        self.series.entry(a.key).or_default().told = true;
    }

    /// What comes after is another story.
    pub fn forget(&mut self, a: &Accumulation) {
        self.series.remove(&a.key);
    }
}

impl Series {
    /// Whether many switches have followed each other, the later ones faster.
    fn quick(&self) -> bool {
        let n = self.switches.len();
        n > 2 * WINDOW && {
            let t = |k: usize| self.switches[n - 1 - k * WINDOW].t;
            t(0) - t(1) < 0.9 * (t(1) - t(2))
        }
    }

    fn fires(&self, relation: usize) -> bool {
        let last = self.switches.iter().rev().take(self.period.max(1));
        last.flat_map(|s| &s.fired).any(|f| f.0 == relation)
    }
}

/// What is mixed where switches have accumulated, and what told them from each other. Of n modes that is a *mix* of n − 1 surfaces,
/// which lead from the first mode to each of the others.
#[derive(Clone)]
pub(crate) struct Memory {
    /// Which mix a surface belongs to.
    pub mix: usize,
    /// How many modes it has, and the share of all but the first, as last computed.
    pub modes: usize,
    pub total: f64,
    /// The relations that fired, with the values they have between.
    pub guards: Vec<(usize, f64)>,
    /// Until then the modes have the shares that they had on the average; then it is seen whether a mix holds the guards.
    pub until: Option<f64>,
    /// t*.
    pub at: f64,
    /// How far the functions of the guards may be from zero.
    pub reach: Vec<f64>,
    /// The switches came in no order, and t* is known less well.
    pub scattered: bool,
    /// The shares are those that lead away from all guards: the modes go on in turn after this.
    pub parting: bool,
    /// How far they are, as a part of that, as last computed.
    pub spread: f64,
}

/// What becomes of a series.
pub(crate) enum End {
    /// Modes alternate on the boundaries of the guards: their mix.
    Mixed(Vec<Surface>),
    /// The values that change have a limit, or follow from the equations.
    Follows,
    /// The derivatives have no limit: what they depend on alternates or grows.
    Nothing,
}

impl Model {
    /// The discrete values as they are.
    pub(crate) fn discrete_now(&self) -> Vec<f64> {
        self.discrete.iter().map(|d| self.machine.values[d.0 as usize]).collect()
    }

    /// The key of the series that a change of these slots belongs to.
    pub(crate) fn series_of(&mut self, slots: &[u32]) -> Option<u32> {
        self.islands_of(slots).into_iter().min()
    }

    /// Whether the values of a discrete variable tell modes apart, rather than count or measure.
    pub(crate) fn tells_modes(&self, slot: u32) -> bool {
        use saltus_dae::VarType;
        let ty = |v: VarId| &self.sys.dae.vars[v].ty;
        let found = self.discrete.iter().find(|d| d.0 == slot);
        found.is_some_and(|d| matches!(ty(d.2), VarType::Boolean | VarType::Enumeration(_)))
    }

    /// What becomes of switches that accumulate, in a run over `span`.
    pub(crate) fn end_of(&mut self, program: &ModeProgram, a: &Accumulation, span: f64) -> End {
        let p = a.cycle.len();
        // Modes that come in no order are those of several windows.
        let windows = if a.repeats { 0 } else { 2 };
        let seen: Vec<&Switch> = a.cycle.iter().chain(a.earlier[..windows].iter().flatten()).collect();
        let same = a.cycle.iter().all(|s| s.program == a.cycle[0].program);
        let among = |c: &[Switch], v: f64, k: usize| c.iter().any(|s| s.before[k] == v);
        let repeats = |k: usize| match a.repeats {
            true => (0..p).all(|i| a.cycle[i].before[k] == a.earlier[0][i].before[k]),
            false => {
                a.cycle.iter().all(|s| a.earlier.iter().any(|c| among(c, s.before[k], k)))
                    || self.tells_modes(self.discrete[k].0)
            }
        };
        let differs = |k: usize| seen.iter().any(|s| s.before[k] != a.cycle[0].before[k]);
        let critical = |k: usize| program.sensitivity.slots.contains(&self.discrete[k].0);
        let all = 0..self.discrete.len();
        let grows = |k: usize| {
            // Steps to a limit shrink.
            let [now, was, before] = [&a.cycle, &a.earlier[0], &a.earlier[1]].map(|c| c[0].before[k]);
            !repeats(k) && (now - was).abs() > 0.9999 * (was - before).abs()
        };
        if all.clone().any(|k| critical(k) && grows(k)) {
            return End::Nothing;
        }
        let alternate: Vec<usize> = all.filter(|&k| repeats(k) && differs(k)).collect();
        let decisive: Vec<usize> = alternate.iter().copied().filter(|&k| critical(k)).collect();
        if same && decisive.is_empty() {
            return End::Follows;
        }
        if !same || a.cycle.iter().any(|s| s.fired.is_empty()) {
            return End::Nothing;
        }
        let mode = |s: &Switch| decisive.iter().map(|&k| s.before[k]).collect::<Vec<f64>>();
        // The modes, each as it is before one of the switches.
        let mut modes: Vec<&Switch> = Vec::new();
        for &s in &seen {
            if !modes.iter().any(|m| mode(m) == mode(s)) {
                modes.push(s);
            }
        }
        let mut guards: Vec<(usize, f64)> = Vec::new();
        for &(i, was, _) in seen.iter().flat_map(|s| &s.fired) {
            if !guards.iter().any(|g| g.0 == i) {
                guards.push((i, was));
            }
        }
        let known = |g: &(usize, f64)| {
            matches!(self.machine.relations[g.0].kind, RelationKind::Sign(_))
                && program.crossings.by_relation.contains_key(&g.0)
        };
        if !guards.iter().all(known) || modes.len() > MOST_MODES {
            return if self.follows(program, a, &alternate) { End::Follows } else { End::Nothing };
        }
        let bits = |second: &Switch| {
            let of = |k: usize| {
                let ((slot, previous, _), x, y) = (self.discrete[k], modes[0].before[k], second.before[k]);
                [(slot, x, y), (previous, x, y)]
            };
            alternate.iter().flat_map(|&k| of(k)).collect::<Vec<_>>()
        };
        let all: f64 = a.dwells.iter().sum();
        let share = |m: &Switch| {
            let own = a.dwells.iter().zip(&a.cycle).filter(|(_, s)| mode(s) == mode(m));
            own.map(|(d, _)| d).sum::<f64>() / all
        };
        let t = a.cycle[p - 1].t;
        let close = self.machine.instants.close(t);
        let doubt = if a.repeats { 1e-13 } else { SCATTER };
        let until = a.at.map(|at| at + (0.05 * (at - t)).max(4.0 * close).max(doubt * span));
        let (mix, total) = (guards[0].0, 1.0 - share(modes[0]));
        let memory = Memory {
            mix,
            modes: modes.len(),
            total,
            guards,
            until,
            at: a.at.unwrap_or(t),
            reach: Vec::new(),
            scattered: !a.repeats,
            parting: false,
            spread: 0.0,
        };
        // The last switch that leaves the first mode leads.
        let Some(lead) = a.cycle.iter().rev().find(|s| mode(s) == mode(modes[0])).map(|s| s.fired[0]) else {
            return End::Nothing;
        };
        let surface = |m: &&Switch| Surface::remembering(lead, bits(m), share(m), memory.clone());
        let mut mix: Vec<Surface> = modes[1..].iter().map(surface).collect();
        if mix.len() > 1 && self.give_leads(program, &mut mix, t).is_none() {
            return End::Nothing;
        }
        End::Mixed(mix)
    }

    /// Whether the equations say what follows beyond the guards of several modes, whichever of these is remembered.
    fn follows(&mut self, program: &ModeProgram, a: &Accumulation, alternate: &[usize]) -> bool {
        let Some(at) = a.at else { return false };
        let (t, n) = (a.cycle[a.cycle.len() - 1].t, program.states.len());
        let x: Vec<f64> = program.states.iter().map(|s| self.machine.values[s.0 as usize]).collect();
        let sides: Vec<Vec<(u32, u32, f64)>> = a
            .cycle
            .iter()
            .map(|s| alternate.iter().map(|&k| (self.discrete[k].0, self.discrete[k].1, s.before[k])).collect())
            .collect();
        let guards: Vec<usize> = a.cycle.iter().flat_map(|s| &s.fired).map(|f| f.0).collect();
        let all: f64 = a.dwells.iter().sum();
        self.aside(|me| {
            let mut end = x.clone();
            for (side, dwell) in sides.iter().zip(&a.dwells) {
                let mut dx = vec![0.0; n];
                side.iter().for_each(|&(s, _, v)| me.machine.values[s as usize] = v);
                if Rhs::new(&mut me.machine, program).field(t, &x, &mut dx).is_err() {
                    return false;
                }
                end.iter_mut().zip(&dx).for_each(|(e, d)| *e += 1.01 * (at - t) * dwell / all * d);
            }
            let mut dx = vec![0.0; n];
            if Rhs::new(&mut me.machine, program).field(t + 1.01 * (at - t), &end, &mut dx).is_err() {
                return false;
            }
            me.determined(program, &guards, &sides).is_some()
        })
    }

    /// What discrete values follow from the present values of these relations, if they are the same whichever side is remembered:
    /// slot, previous slot, value of each side.
    fn determined(
        &mut self,
        program: &ModeProgram,
        guards: &[usize],
        sides: &[Vec<(u32, u32, f64)>],
    ) -> Option<Vec<f64>> {
        let mut values = vec![0.0; guards.len()];
        self.machine.crossing_values(guards, &mut values);
        let bits: Vec<f64> =
            guards.iter().zip(&values).map(|(&i, g)| plain(&self.machine.relations[i].kind, *g)).collect();
        let mut found: Option<Vec<f64>> = None;
        for side in sides {
            let kept = self.machine.values.clone();
            self.machine.hold_relations = true;
            let mut done = Ok(());
            // Once for the conditions, whose edges are over, and once for what is remembered.
            for _ in 0..3 {
                for (&i, &b) in guards.iter().zip(&bits) {
                    let slot = self.machine.relations[i].var as usize;
                    self.machine.values[slot] = b;
                }
                let guard = |s: u32| guards.iter().any(|&i| self.machine.relations[i].var == s);
                let own: Vec<(u32, f64)> = side.iter().filter(|s| !guard(s.0)).map(|s| (s.0, s.2)).collect();
                own.iter().for_each(|&(s, v)| self.machine.values[s as usize] = v);
                self.remember();
                done = done.and(self.machine.run(&program.event));
            }
            self.machine.hold_relations = false;
            let now = self.discrete_now();
            self.machine.values = kept;
            self.machine.host.error = None;
            done.ok()?;
            let now: Vec<f64> = self
                .discrete
                .iter()
                .zip(now)
                .filter(|(d, _)| sides[0].iter().any(|s| s.0 == d.0))
                .map(|(_, v)| v)
                .collect();
            if found.as_ref().is_some_and(|f| *f != now) {
                return None;
            }
            found = Some(now);
        }
        found
    }

    /// How fast the functions of all guards of a mix move in each of its modes: [guard][mode].
    fn guard_rates(&mut self, program: &ModeProgram, mix: &[Surface], t: f64) -> Option<Vec<Vec<f64>>> {
        let guards: Vec<usize> = mix.first()?.memory.as_ref()?.guards.iter().map(|g| g.0).collect();
        guards.iter().for_each(|&i| self.know_rate(program, i));
        self.know_rests(program);
        let x = self.states_now(program);
        self.aside(|me| {
            let mut rates = vec![Vec::new(); guards.len()];
            let mut rhs = Rhs::held(&mut me.machine, program, &me.resting);
            for k in 0..=mix.len() {
                mix[k.saturating_sub(1)].set(&mut rhs.machine.values, k > 0);
                let mut dx = vec![0.0; x.len()];
                rhs.held_field(t, &x, &mut dx).ok()?;
                for (own, &i) in rates.iter_mut().zip(&guards) {
                    own.push(rhs.rate(i, t, &x, &dx).ok()?);
                }
            }
            Some(rates)
        })
    }

    /// Gives each surface of a mix a guard of its own to lead it, of guards that modes turn in different ways.
    fn give_leads(&mut self, program: &ModeProgram, mix: &mut [Surface], t: f64) -> Option<()> {
        let rates = self.guard_rates(program, mix, t)?;
        let turns: Vec<Vec<f64>> = rates.iter().map(|r| r[1..].iter().map(|v| v - r[0]).collect()).collect();
        let first = base(&turns);
        let rest = (0..turns.len()).filter(|k| !first.contains(k));
        let order: Vec<usize> = first.iter().copied().chain(rest).collect();
        for (k, s) in mix.iter_mut().enumerate() {
            let memory = s.memory.as_ref()?;
            let (i, held) = memory.guards[order[k % order.len()]];
            s.led_by((i, held, f64::from(held == 0.0)));
        }
        Some(())
    }

    /// Whether a mix of the modes holds the functions of all its guards, up to this part of their rates; its shares become those.
    pub(crate) fn sustained(&mut self, program: &ModeProgram, mix: &mut [Surface], t: f64, slack: f64) -> bool {
        let Some(rates) = self.guard_rates(program, mix, t) else { return false };
        let guard = |i: usize| mix[0].memory.as_ref().and_then(|m| m.guards.iter().position(|g| g.0 == i));
        let leads: Option<Vec<usize>> = mix.iter().map(|s| guard(s.relations[0].0)).collect();
        let Some(leads) = leads else { return false };
        let mut shares: Vec<f64> = mix.iter().map(Surface::share).collect();
        let turn = |j: usize, k: usize| rates[j][k + 1] - rates[j][0];
        let of = |shares: &[f64], j: usize| (0..mix.len()).map(|k| turn(j, k) * shares[k]).sum::<f64>() + rates[j][0];
        let a = leads.iter().map(|&j| (0..mix.len()).map(|k| turn(j, k)).collect()).collect();
        let b = leads.iter().map(|&j| -of(&shares, j)).collect();
        // What nothing determines stays as it was on the average.
        let step = solve_small(a, b);
        shares.iter_mut().zip(step).for_each(|(s, d)| *s += d.unwrap_or(0.0));
        let least = shares.iter().copied().fold(1.0 - shares.iter().sum::<f64>(), f64::min);
        let held = |j: usize| {
            let size = rates[j].iter().fold(0.0f64, |s, r| s.max(r.abs()));
            of(&shares, j).abs() <= slack * size
        };
        // Of two modes the first one leads to the boundary, the second one back.
        let (lead, first, _) = mix[0].relations[0];
        let toward = if positive_side(&self.machine.relations[lead].kind, first) { -1.0 } else { 1.0 };
        let back = mix.len() > 1 || toward * turn(leads[0], 0) < 0.0;
        if !(least > 1e-6 && back && (0..rates.len()).all(held)) {
            return false;
        }
        mix.iter_mut().zip(shares).for_each(|(s, share)| s.slides(share));
        true
    }

    /// Whether some mix of the modes leads away from where its guards fire: switches go on, with more and more time. Its shares
    /// become those that do so best.
    pub(crate) fn parts(&mut self, program: &ModeProgram, mix: &mut [Surface], t: f64) -> bool {
        let Some(rates) = self.guard_rates(program, mix, t) else { return false };
        let Some(memory) = &mix[0].memory else { return false };
        // What each mode gives each guard, as a part of the most that one gives it.
        let away = |(&(i, held), r): (&(usize, f64), &Vec<f64>)| {
            let size = r.iter().fold(f64::MIN_POSITIVE, |s, r| s.max(r.abs()));
            let side = if positive_side(&self.machine.relations[i].kind, held) { size } else { -size };
            r.iter().map(|r| r / side).collect()
        };
        let gains: Vec<Vec<f64>> = memory.guards.iter().zip(&rates).map(away).collect();
        let Some((_, shares)) = best_mix(&gains).filter(|(value, _)| *value >= 1e-3) else { return false };
        mix.iter_mut().zip(&shares[1..]).for_each(|(s, share)| s.slides(*share));
        true
    }

    /// Whether the values of the guards alone tell what follows where no mix holds them.
    pub(crate) fn goes_on(&mut self, program: &ModeProgram, mix: &[Surface]) -> bool {
        let Some(memory) = &mix[0].memory else { return false };
        let guards: Vec<usize> = memory.guards.iter().map(|g| g.0).collect();
        let side = |k: usize| {
            let pairs = mix[k.saturating_sub(1)].bits.chunks_exact(2);
            pairs.map(|b| (b[0].0, b[1].0, if k > 0 { b[0].2 } else { b[0].1 })).collect()
        };
        let sides: Vec<Vec<_>> = (0..=mix.len()).map(side).collect();
        self.aside(|me| me.determined(program, &guards, &sides).is_some())
    }

    /// Slots of what a cycle changes: what derivatives depend on, or whatever else tells its switches apart.
    pub(crate) fn switched_slots(&self, a: &Accumulation) -> Vec<u32> {
        let slots: Vec<u32> = a.cycle.iter().flat_map(|s| &s.changed).map(|c| c.0).collect();
        if !self.named_slots(&slots).0.is_empty() {
            return slots;
        }
        let differs = |k: &usize| a.cycle.iter().any(|s| s.before.get(*k) != a.cycle[0].before.get(*k));
        (0..self.discrete.len()).filter(differs).map(|k| self.discrete[k].0).collect()
    }

    /// The variables among these slots by name, relations left out; and where the first of them is declared.
    pub(crate) fn named_slots(&self, slots: &[u32]) -> (Vec<String>, Span) {
        let relation = |slot: u32| self.machine.relations.iter().any(|r| r.var == slot);
        let of: Vec<VarId> =
            self.discrete.iter().filter(|d| slots.contains(&d.0) && !relation(d.0)).map(|d| d.2).collect();
        let own = of.iter().filter(|&&v| !self.sys.dae.vars[v].name.starts_with('$'));
        let names = own.clone().take(4).map(|&v| self.sys.dae.vars[v].name.to_string()).collect();
        let place = own.filter_map(|&v| self.sys.dae.vars[v].origin.span).next().unwrap_or(Span::NONE);
        (names, place)
    }
}

/// The mix of columns that gives most to every row, and how much: max min_j Σ_k φ_k A_jk over φ ≥ 0, Σ φ = 1. Entries lie in [−1, 1].
fn best_mix(gains: &[Vec<f64>]) -> Option<(f64, Vec<f64>)> {
    let (rows, columns) = (gains.len(), gains.first()?.len());
    // With positive entries: min Σ u subject to A u ≥ 1, as a complementarity problem with the prices of the rows.
    let (n, shift) = (rows + columns, 2.0);
    let (mut m, mut q) = (vec![0.0; n * n], vec![1.0; n]);
    for (j, row) in gains.iter().enumerate() {
        for (k, gain) in row.iter().enumerate() {
            m[k + (columns + j) * n] = -(gain + shift);
            m[columns + j + k * n] = gain + shift;
        }
        q[columns + j] = -1.0;
    }
    let u = lemke(&m, &q).ok()?.z;
    let all: f64 = u[..columns].iter().sum();
    Some((1.0 / all - shift, u[..columns].iter().map(|u| u / all).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_mix_for_all() {
        // Three tanks, each filled by one mode with 3 and emptied by 1/2: a third of the time gives each of them 1/2.
        let gains: Vec<Vec<f64>> = (0..3).map(|j| (0..3).map(|k| if j == k { 1.0 } else { -0.2 }).collect()).collect();
        assert!((best_mix(&gains).unwrap().0 - 0.2).abs() < 1e-12);
        assert!((best_mix(&[vec![1.0, -1.0], vec![-1.0, 0.5]]).unwrap().0 + 1.0 / 7.0).abs() < 1e-12);
    }

    fn run(times: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
        let mut watch = Switching::default();
        for (k, t) in times.enumerate() {
            let fired = vec![(k % 2, 0.0, 1.0)];
            let s = Switch { t, fired, changed: vec![(7, (k % 2) as f64)], program: 0, before: vec![0.0] };
            if let Some(at) = watch.note((0, true), s, 1.0).and_then(|a| a.at) {
                return Some((t, at));
            }
        }
        None
    }

    fn sums(d: impl Fn(i32) -> f64, n: i32) -> Vec<f64> {
        (0..n)
            .scan(0.0, |t, k| {
                *t += d(k);
                Some(*t)
            })
            .collect()
    }

    #[test]
    fn geometric_series_end() {
        let (t, at) = run(sums(|k| 0.1 * 0.5f64.powi(k), 200).into_iter()).expect("accumulates");
        assert!((at - 0.2).abs() < 1e-12 && t < 0.2, "{at}");
    }

    #[test]
    fn series_that_stop_shrinking_do_not() {
        assert_eq!(run(sums(|k| 0.1 * 0.8f64.powi(k.min(50)), 2000).into_iter()), None);
        // A chirp: dwells like 1/k.
        assert_eq!(run(sums(|k| 0.01 / f64::from(k + 1), 5000).into_iter()), None);
    }
}
