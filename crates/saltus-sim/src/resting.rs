//! Accumulation points of events (Zeno): recognised by their shrinking distances; the body then rests.
//!
//! At rest the function g whose impacts accumulate stays at zero. What infinitely many small impacts do is the limit of what
//! each of them does: they push the states along the direction in which an impact turns them, as strongly as g ≡ 0 demands (a ball
//! goes with its table, two carts go on with their common momentum, a ball slides down a slope). The body leaves where they would
//! have to pull.

use crate::model::{ModeProgram, Model};
use crate::rhs::Rhs;
use crate::winding::slopes;
use rustc_hash::FxHashMap;
use saltus_solver::linear::LinearSolver;
use saltus_solver::ode::EvalError;

/// Pulling less than this is none.
pub(crate) const NO_PULL: f64 = 1e-9;

/// What an impact did: a relation switched and states were reset so that its function turned round.
#[derive(Clone)]
pub(crate) struct Impact {
    /// Whose event it was.
    pub relation: usize,
    /// The sign of g on the side that it came from and goes back to.
    pub away: f64,
    /// Slot, value before, value after, and how the rate of g follows the state.
    changes: Vec<(u32, f64, f64, f64)>,
    /// By how much the rate of g changed, or g itself.
    turned: f64,
    /// It is g that impacts set back, not its rate.
    pub first: bool,
}

/// A state that impacts push.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pushed {
    pub state: usize,
    /// How much of a push it gets: per rate of g by the state (an inverse mass), or as such if g does not follow it.
    pub share: f64,
    /// The share is per rate of g by the state.
    pub inert: bool,
}

/// A body at rest.
#[derive(Clone)]
pub(crate) struct Resting {
    /// Whose events accumulated.
    pub relation: usize,
    /// The sign of g where it leaves to.
    pub away: f64,
    pub pushed: Vec<Pushed>,
    /// States that infinitely many impacts have brought to where they stay.
    pub still: Vec<usize>,
    /// Impacts push g itself, not its rate.
    pub first: bool,
    /// Bodies on other islands have nothing to do with it.
    island: Option<u32>,
    /// Step of differences in time.
    step: f64,
    /// Rate at which what is left of g is drawn to zero.
    pull: f64,
}

impl Resting {
    /// A body on which impacts of a relation act, in a run over `span` of time.
    pub fn new(
        relation: usize,
        away: f64,
        pushed: Vec<Pushed>,
        still: Vec<usize>,
        island: Option<u32>,
        span: f64,
    ) -> Resting {
        let first = false;
        Resting {
            relation,
            away,
            pushed,
            still,
            first,
            island,
            step: 1e-4 * span.min(1.0),
            pull: 10.0 / span.min(10.0),
        }
    }

    /// The same body in another mode, if its states and its support are part of that.
    pub fn carried(&self, from: &ModeProgram, to: &ModeProgram) -> Option<Resting> {
        let state = |k: usize| to.states.iter().position(|s| s.0 == from.states[k].0);
        let pushed = |p: &Pushed| Some(Pushed { state: state(p.state)?, ..*p });
        let pushed = self.pushed.iter().map(pushed).collect::<Option<_>>()?;
        let still = self.still.iter().filter_map(|&k| state(k)).collect();
        let known = to.crossings.by_relation.contains_key(&self.relation);
        known.then(|| Resting { pushed, still, ..self.clone() })
    }

    /// The direction of a push at a moment: states and their shares.
    fn direction(&self, rhs: &mut Rhs<'_>, t: f64, x: &[f64]) -> Result<Vec<(usize, f64)>, EvalError> {
        if let [p] = self.pushed[..] {
            return Ok(vec![(p.state, 1.0)]);
        }
        let mut out = Vec::with_capacity(self.pushed.len());
        for p in &self.pushed {
            let share = if p.inert { p.share * slope(rhs, self.relation, p.state, t, x)? } else { p.share };
            out.push((p.state, share));
        }
        Ok(out)
    }
}

/// How the rate of a relation's function follows a state.
fn slope(rhs: &mut Rhs<'_>, relation: usize, k: usize, t: f64, x: &[f64]) -> Result<f64, EvalError> {
    let (mut moved, mut dx) = (x.to_vec(), vec![0.0; x.len()]);
    let by = 1e-4 * (1.0 + x[k].abs());
    let mut rate = |by: f64| {
        moved[k] = x[k] + by;
        rhs.field(t, &moved, &mut dx)?;
        rhs.rate(relation, t, &moved, &dx)
    };
    Ok((rate(by)? - rate(-by)?) / (2.0 * by))
}

/// Replaces the derivatives of what rests by those that keep all functions at zero. Returns how strongly each would have to be
/// pulled to stay, in units of g̈: above zero it leaves.
pub(crate) fn hold(rhs: &mut Rhs<'_>, t: f64, x: &[f64], dx: &mut [f64]) -> Result<Vec<f64>, EvalError> {
    let rests = rhs.resting;
    let m = rests.len();
    if m == 0 {
        return Ok(Vec::new());
    }
    rests.iter().flat_map(|r| &r.still).for_each(|&k| dx[k] = 0.0);
    let mut scratch = vec![0.0; x.len()];
    rhs.field(t, x, &mut scratch)?;
    let relations = || rests.iter().map(|r| r.relation);
    let levels: Vec<f64> = relations().map(|i| rhs.value(i)).collect();
    let now = rhs.rates(relations(), t, x, dx)?;
    let wanted = |((r, g), now): ((&Resting, f64), f64)| match r.first {
        true => -r.pull * g,
        false => -2.0 * r.pull * now - r.pull * r.pull * g,
    };
    let wanted: Vec<f64> = rests.iter().zip(levels).zip(now).map(wanted).collect();
    let directions = rests.iter().map(|r| r.direction(rhs, t, x)).collect::<Result<Vec<_>, _>>()?;
    // d²g/dt² of all from a moment before to a moment later, if these are pushed by one; dg/dt where impacts push g itself.
    let step = rests.iter().map(|r| r.step).fold(f64::INFINITY, f64::min);
    let mut turns = |which: &[usize]| -> Result<Vec<f64>, EvalError> {
        let mut out = vec![0.0; m];
        for h in [step, -step] {
            let mut moved: Vec<f64> = x.iter().zip(dx.iter()).map(|(x, d)| x + h * d).collect();
            let push = which.iter().flat_map(|&i| &directions[i]);
            push.for_each(|&(k, share)| moved[k] += h * share);
            rhs.field(t + h, &moved, &mut scratch)?;
            let rates = rhs.rates(relations(), t + h, &moved, &scratch)?;
            out.iter_mut().zip(rates).for_each(|(out, rate)| *out += rate / (2.0 * h));
        }
        if rests.iter().any(|r| r.first) {
            let mut pushed = dx.to_vec();
            which.iter().flat_map(|&i| &directions[i]).for_each(|&(k, share)| pushed[k] += share);
            rhs.field(t, x, &mut scratch)?;
            let rates = rhs.rates(relations(), t, x, &pushed)?;
            out.iter_mut().zip(rates).zip(rests).filter(|(_, r)| r.first).for_each(|((out, rate), _)| *out = rate);
        }
        Ok(out)
    };
    let free = turns(&[])?;
    // Those of different islands do not feel each other: one of each is pushed at a time.
    let groups = neighbourhoods(rests);
    let mut matrices: Vec<Vec<f64>> = groups.iter().map(|g| vec![0.0; g.len() * g.len()]).collect();
    for i in 0..groups.iter().map(Vec::len).max().unwrap_or(0) {
        let which: Vec<usize> = groups.iter().filter_map(|g| g.get(i).copied()).collect();
        let with = turns(&which)?;
        for (group, matrix) in groups.iter().zip(&mut matrices).filter(|g| i < g.0.len()) {
            // By columns.
            group.iter().enumerate().for_each(|(j, &k)| matrix[i * group.len() + j] = with[k] - free[k]);
        }
    }
    let mut lifts = vec![0.0; m];
    for (group, matrix) in groups.iter().zip(&mut matrices) {
        let n = group.len();
        let own: Vec<f64> = (0..n).map(|i| matrix[i * (n + 1)]).collect();
        // Relations of the same support share what holds it.
        let size = own.iter().fold(0.0f64, |a, v| a.max(v.abs()));
        let mut pushes: Vec<f64> = group.iter().map(|&k| wanted[k] - free[k]).collect();
        (0..n).for_each(|i| matrix[i * (n + 1)] += 1e-12 * size * own[i].signum());
        let mut lu = LinearSolver::dense(n);
        if size > 1e-9 && lu.factor(matrix).is_ok() {
            lu.solve(&mut pushes);
        } else {
            pushes.fill(0.0);
        }
        for ((&k, push), own) in group.iter().zip(&pushes).zip(own) {
            lifts[k] = -rests[k].away * push * own - NO_PULL;
            if push.is_finite() {
                directions[k].iter().for_each(|&(i, share)| dx[i] += push * share);
            }
        }
    }
    // The values of the moment again.
    rhs.field(t, x, &mut scratch)?;
    Ok(lifts)
}

/// Bodies by islands, in the order of the first of each.
fn neighbourhoods(rests: &[Resting]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut of = FxHashMap::default();
    for (k, r) in rests.iter().enumerate() {
        let group = *of.entry(r.island).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(k);
    }
    groups
}

impl Model {
    fn free<'a>(&'a mut self, program: &'a ModeProgram) -> Rhs<'a> {
        Rhs::new(&mut self.machine, program)
    }

    /// The states of a mode as they are.
    pub(crate) fn states_now(&self, program: &ModeProgram) -> Vec<f64> {
        program.states.iter().map(|s| self.machine.values[s.0 as usize]).collect()
    }

    /// Tries something out: values are as before afterwards.
    pub(crate) fn aside<R>(&mut self, f: impl FnOnce(&mut Model) -> R) -> R {
        let kept = self.machine.values.clone();
        let found = f(self);
        self.machine.values = kept;
        self.machine.host.error = None;
        found
    }

    /// What the event of a relation did to its function by resetting states: `before` holds slots and values of these.
    /// Nothing if they have nothing to do with its rate, or it does not turn back to the side it came from.
    pub(crate) fn impact(
        &mut self,
        program: &ModeProgram,
        relation: usize,
        away: f64,
        before: &[(u32, f64)],
        t: f64,
    ) -> Option<Impact> {
        self.know_rate(program, relation);
        let after = self.states_now(program);
        let mut x = after.clone();
        let mut reset = Vec::new();
        for (k, s) in program.states.iter().enumerate() {
            if let Some(b) = before.iter().find(|b| b.0 == s.0) {
                x[k] = b.1;
                reset.push(k);
            }
        }
        let (came, goes, changes) = self.aside(|me| {
            let mut rhs = me.free(program);
            let mut dx = vec![0.0; after.len()];
            let mut rate = |rhs: &mut Rhs<'_>, x: &[f64]| {
                rhs.field(t, x, &mut dx).and_then(|()| rhs.rate(relation, t, x, &dx)).unwrap_or(f64::NAN)
            };
            let (came, goes) = (rate(&mut rhs, &x), rate(&mut rhs, &after));
            let mut changes = Vec::new();
            for &k in &reset {
                let slope = slope(&mut rhs, relation, k, t, &after).unwrap_or(0.0);
                let slope = if slope.abs() > 1e-6 { slope } else { 0.0 };
                changes.push((program.states[k].0, x[k], after[k], slope));
            }
            (came, goes, changes)
        });
        let turns = changes.iter().any(|c| c.3 != 0.0) && away * came <= 0.0 && away * goes >= 0.0;
        if turns {
            return Some(Impact { relation, away, changes, turned: goes - came, first: false });
        }
        // What is set back to the side it came from, and returns.
        let levels = self.aside(|me| {
            let mut rhs = me.free(program);
            let here = slopes(&mut rhs, relation, t, &after)?;
            Ok::<_, EvalError>((here, rhs.function(relation, t, &x)?, rhs.function(relation, t, &after)?))
        });
        let (slopes, was, now) = levels.ok()?;
        let change = |k: &usize| (program.states[*k].0, x[*k], after[*k], slopes[*k]);
        let changes: Vec<(u32, f64, f64, f64)> = reset.iter().map(change).filter(|c| c.3 != 0.0).collect();
        let back = !changes.is_empty() && away * now > 0.0 && away * (now - was) > 0.0 && away * goes < 0.0;
        back.then_some(Impact { relation, away, changes, turned: now - was, first: true })
    }

    /// Brings to rest what an impact turns, the last of infinitely many; `previous` is the one before.
    pub(crate) fn rest(
        &mut self,
        program: &ModeProgram,
        impact: &Impact,
        previous: Option<&Impact>,
        t: f64,
        span: f64,
    ) -> Option<Resting> {
        let mut x = self.states_now(program);
        let largest = impact.changes.iter().map(|c| (c.2 - c.1).abs()).fold(0.0, f64::max);
        let (mut pushed, mut still) = (Vec::new(), Vec::new());
        for &(slot, was, now, slope) in &impact.changes {
            let Some(state) = program.states.iter().position(|s| s.0 == slot) else { continue };
            let change = now - was;
            if impact.first {
                pushed.push(Pushed { state, share: change / impact.turned, inert: false });
                continue;
            }
            if slope != 0.0 && change != 0.0 {
                pushed.push(Pushed { state, share: change / (slope * impact.turned), inert: true });
            }
            let last = previous.and_then(|p| p.changes.iter().find(|c| c.0 == slot).map(|c| (c.2 - c.1, p.turned)));
            let Some((last, turned)) = last.filter(|_| slope == 0.0 && change.abs() > 1e-9 * largest) else { continue };
            let (ratio, turns) = (change / last, impact.turned / turned);
            if (ratio - turns).abs() < 0.02 {
                // It goes with the turn: friction by the push.
                pushed.push(Pushed { state, share: change / impact.turned, inert: false });
            } else if ratio.abs() < 0.999 {
                // Impacts shrink it by themselves, and there are infinitely many.
                x[state] = now + change * ratio / (1.0 - ratio);
                still.push(state);
            }
        }
        if pushed.is_empty() {
            return None;
        }
        let island = self.island_of(impact.relation);
        let first = impact.first;
        let rest = Resting { first, ..Resting::new(impact.relation, impact.away, pushed, still, island, span) };
        let mut rhs = self.free(program);
        let mut dx = vec![0.0; x.len()];
        let direction = rest.direction(&mut rhs, t, &x).ok()?;
        // How far to go along the direction until g stands still, or is zero: its rate is affine.
        let mut rate = |by: f64| {
            let mut moved = x.clone();
            direction.iter().for_each(|&(k, share)| moved[k] += by * share);
            if first {
                return rhs.function(rest.relation, t, &moved).unwrap_or(f64::NAN);
            }
            rhs.field(t, &moved, &mut dx).and_then(|()| rhs.rate(rest.relation, t, &moved, &dx)).unwrap_or(f64::NAN)
        };
        let (zero, one) = (rate(0.0), rate(1.0));
        let by = -zero / (one - zero);
        if by.is_finite() {
            direction.iter().for_each(|&(k, share)| x[k] += by * share);
        }
        for (&(s, _), v) in program.states.iter().zip(&x) {
            self.machine.values[s as usize] = *v;
        }
        let _ = self.free(program).field(t, &x, &mut dx);
        Some(rest)
    }

    /// How high a body that has just been turned goes (in units of the relation's function) and for how long, if it comes
    /// back; others rest meanwhile.
    pub(crate) fn rebound(&mut self, program: &ModeProgram, impact: &Impact, t: f64, span: f64) -> Option<(f64, f64)> {
        self.know_rests(program);
        let x = self.states_now(program);
        let (relation, away, h) = (impact.relation, impact.away, 1e-4 * span.min(1.0));
        let found = self.aside(|me| {
            let mut rhs = Rhs::held(&mut me.machine, program, &me.resting);
            let mut dx = vec![0.0; x.len()];
            rhs.held_field(t, &x, &mut dx)?;
            let now = rhs.rate(relation, t, &x, &dx)?;
            if impact.first {
                return Ok((away * rhs.function(relation, t, &x)?, -away * now));
            }
            let moved: Vec<f64> = x.iter().zip(&dx).map(|(x, d)| x + h * d).collect();
            rhs.field(t + h, &moved, &mut dx)?;
            Ok::<_, EvalError>((away * now, away * rhs.rate(relation, t + h, &moved, &dx)?))
        });
        let (now, later) = found.ok()?;
        if impact.first {
            return (now >= 0.0 && later > 0.0).then_some((now, now / later));
        }
        let turn = (now - later) / h;
        (now >= 0.0 && turn > 0.0).then_some((0.5 * now * now / turn, 2.0 * now / turn))
    }

    /// How strongly each of the bodies at rest would have to be pulled to stay; positive: it leaves.
    pub(crate) fn lifts(&mut self, program: &ModeProgram, t: f64, x: &[f64]) -> Vec<f64> {
        self.know_rests(program);
        let lifts = self.aside(|me| {
            let (mut rhs, mut dx) = (Rhs::held(&mut me.machine, program, &me.resting), vec![0.0; x.len()]);
            rhs.held_field(t, x, &mut dx)
        });
        lifts.unwrap_or_else(|_| vec![-1.0; self.resting.len()])
    }

    /// Finds out how the functions of what rests move.
    pub(crate) fn know_rests(&mut self, program: &ModeProgram) {
        (0..self.resting.len()).for_each(|k| self.know_rate(program, self.resting[k].relation));
    }

    /// How fast a relation's function moves towards the side `away`, and what that is wrong by if the states are wrong by `errors`.
    pub(crate) fn parting(
        &mut self,
        program: &ModeProgram,
        (relation, away): (usize, f64),
        t: f64,
        errors: &[f64],
    ) -> Option<(f64, f64)> {
        self.know_rate(program, relation);
        let x = self.states_now(program);
        let found = self.aside(|me| {
            let (mut rhs, mut dx) = (me.free(program), vec![0.0; x.len()]);
            rhs.field(t, &x, &mut dx)?;
            let now = rhs.rate(relation, t, &x, &dx)?;
            let moved: Vec<f64> = x.iter().zip(errors).map(|(x, e)| x + e).collect();
            rhs.field(t, &moved, &mut dx)?;
            Ok::<_, EvalError>((away * now, (rhs.rate(relation, t, &moved, &dx)? - now).abs()))
        });
        found.ok()
    }
}

/// Detects accumulation points: impacts of each relation.
#[derive(Default)]
pub(crate) struct ZenoWatch {
    times: FxHashMap<usize, Vec<f64>>,
    last: FxHashMap<usize, Impact>,
}

impl ZenoWatch {
    /// Records an event of relation `i`; says when the events accumulate, if that is near, or if the motion between
    /// them is too small to be resolved.
    pub fn record(&mut self, i: usize, t: f64, span: f64, unresolved: bool) -> Option<f64> {
        let list = self.times.entry(i).or_default();
        list.push(t);
        let n = list.len();
        if n > 64 {
            list.drain(..n - 32);
        }
        let n = list.len();
        if n < 6 {
            return None;
        }
        let gaps: Vec<f64> = list[n - 6..].windows(2).map(|w| w[1] - w[0]).collect();
        let ratios: Vec<f64> = gaps.windows(2).map(|g| g[1] / g[0]).collect();
        let worst = ratios.iter().copied().fold(0.0, f64::max);
        if !(worst < 0.995) {
            return None;
        }
        let rest = gaps[gaps.len() - 1] * worst / (1.0 - worst);
        (rest < 1e-5 * span || unresolved).then_some(t + rest)
    }

    /// Whether impacts of a relation have been kept.
    pub fn knows(&self, i: usize) -> bool {
        self.last.contains_key(&i)
    }

    /// Keeps an impact until the next one of its relation; returns the one before.
    pub fn impact(&mut self, impact: Impact) -> Option<Impact> {
        self.last.insert(impact.relation, impact)
    }

    /// Forgets a relation: what comes after a rest is another story.
    pub fn forget(&mut self, i: usize) {
        self.times.remove(&i);
        self.last.remove(&i);
    }
}
