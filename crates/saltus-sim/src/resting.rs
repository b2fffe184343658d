//! Accumulation points of events (Zeno): recognised by their shrinking distances; the body then rests.
//!
//! At rest the function g whose events accumulate stays at zero: the state that the impacts reset follows whatever
//! g ≡ 0 demands (a ball on a moving table goes with the table), until the free motion would carry it away.

use crate::model::{ModeProgram, Model};
use crate::rhs::Rhs;
use saltus_expr::RelOp;
use saltus_solver::ode::EvalError;
use saltus_structure::RelationKind;

/// A body at rest.
#[derive(Clone)]
pub(crate) struct Resting {
    /// Whose events accumulated.
    pub relation: usize,
    /// States that the impacts reset.
    held: Vec<usize>,
    /// Step of differences in time.
    step: f64,
    /// Rate at which what is left of g is drawn to zero.
    pull: f64,
}

impl Resting {
    /// A body that impacts of a relation have brought to rest, in a run over `span` of time.
    pub fn new(relation: usize, held: Vec<usize>, span: f64) -> Resting {
        Resting { relation, held, step: 1e-4 * span.min(1.0), pull: 10.0 / span.min(10.0) }
    }

    /// The states that it holds.
    pub fn held(&self) -> &[usize] {
        &self.held
    }

    /// The same body in another mode, if its states and its support are part of that.
    pub fn carried(&self, from: &ModeProgram, to: &ModeProgram) -> Option<Resting> {
        let state = |k: &usize| to.states.iter().position(|s| s.0 == from.states[*k].0);
        let held = self.held.iter().map(state).collect::<Option<_>>()?;
        to.crossings.by_relation.contains_key(&self.relation).then(|| Resting { held, ..self.clone() })
    }

    /// Whether one of these slots is a state it holds.
    pub fn holds(&self, program: &ModeProgram, slots: &[u32]) -> bool {
        self.held.iter().any(|&k| program.states.get(k).is_some_and(|s| slots.contains(&s.0)))
    }

    /// d²g/dt² if the held state has the derivative `a`: from a moment before to a moment later.
    fn turn(&self, rhs: &mut Rhs<'_>, t: f64, x: &[f64], dx: &[f64], a: f64) -> Result<f64, EvalError> {
        let k = self.held[0];
        let mut rate = |h: f64| {
            let moved: Vec<f64> =
                x.iter().zip(dx).enumerate().map(|(i, (x, d))| x + h * if i == k { a } else { *d }).collect();
            let mut there = vec![0.0; x.len()];
            rhs.field(t + h, &moved, &mut there)?;
            rhs.rate(self.relation, t + h, &moved, &there)
        };
        Ok((rate(self.step)? - rate(-self.step)?) / (2.0 * self.step))
    }

    /// Replaces the derivatives of the held states by those that keep g at zero.
    pub fn hold(&self, rhs: &mut Rhs<'_>, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
        if let [k] = self.held[..] {
            let g = rhs.value(self.relation);
            let now = rhs.rate(self.relation, t, x, dx)?;
            let free = self.turn(rhs, t, x, dx, 0.0)?;
            let slope = self.turn(rhs, t, x, dx, 1.0)? - free;
            let want = -2.0 * self.pull * now - self.pull * self.pull * g;
            dx[k] = if slope.abs() > 1e-9 { (want - free) / slope } else { 0.0 };
            // The values of the moment again.
            let mut again = vec![0.0; x.len()];
            rhs.field(t, x, &mut again)?;
        } else {
            self.held.iter().for_each(|&k| dx[k] = 0.0);
        }
        Ok(())
    }
}

impl Model {
    fn free<'a>(&'a mut self, program: &'a ModeProgram) -> Rhs<'a> {
        Rhs::new(&mut self.machine, program)
    }

    /// Those of some states just reset that the rate of a relation's function depends on: what its impacts turn.
    pub(crate) fn turned(&mut self, program: &ModeProgram, relation: usize, reset: &[u32], t: f64) -> Vec<usize> {
        self.know_rate(program, relation);
        let kept = self.machine.values.clone();
        let mut x: Vec<f64> = program.states.iter().map(|s| kept[s.0 as usize]).collect();
        let mut rhs = self.free(program);
        let mut dx = vec![0.0; x.len()];
        let mut rate =
            |x: &[f64]| rhs.field(t, x, &mut dx).and_then(|()| rhs.rate(relation, t, x, &dx)).unwrap_or(f64::NAN);
        let now = rate(&x);
        let mut found = Vec::new();
        for k in (0..x.len()).filter(|&k| reset.contains(&program.states[k].0)) {
            let value = x[k];
            let by = 1.0 + value.abs();
            x[k] += by;
            if (rate(&x) - now).abs() > 1e-6 * by {
                found.push(k);
            }
            x[k] = value;
        }
        self.machine.values = kept;
        self.machine.host.error = None;
        found
    }

    /// Brings to rest what the impacts of a relation turn.
    pub(crate) fn rest(
        &mut self,
        program: &ModeProgram,
        relation: usize,
        held: Vec<usize>,
        t: f64,
        span: f64,
    ) -> Resting {
        let rest = Resting::new(relation, held, span);
        let mut x: Vec<f64> = program.states.iter().map(|s| self.machine.values[s.0 as usize]).collect();
        if let [k] = rest.held[..] {
            // The value for which g stands still: its rate is affine in it.
            let mut rate = |v: f64| {
                x[k] = v;
                let mut rhs = self.free(program);
                let mut dx = vec![0.0; x.len()];
                rhs.field(t, &x, &mut dx).and_then(|()| rhs.rate(relation, t, &x, &dx)).unwrap_or(f64::NAN)
            };
            let (zero, one) = (rate(0.0), rate(1.0));
            let v = -zero / (one - zero);
            x[k] = if v.is_finite() { v } else { 0.0 };
        } else {
            rest.held.iter().for_each(|&k| x[k] = 0.0);
        }
        for (&(s, _), v) in program.states.iter().zip(&x) {
            self.machine.values[s as usize] = *v;
        }
        let mut dx = vec![0.0; x.len()];
        let _ = self.free(program).field(t, &x, &mut dx);
        rest
    }

    /// Whether a body moves away from where the impacts of a relation push.
    pub(crate) fn parts(&mut self, program: &ModeProgram, relation: usize, t: f64) -> bool {
        self.know_rate(program, relation);
        let kept = self.machine.values.clone();
        let x: Vec<f64> = program.states.iter().map(|s| kept[s.0 as usize]).collect();
        let mut dx = vec![0.0; x.len()];
        let away = self.away(relation);
        let mut rhs = self.free(program);
        let rate = rhs.field(t, &x, &mut dx).and_then(|()| rhs.rate(relation, t, &x, &dx));
        self.machine.values = kept;
        self.machine.host.error = None;
        rate.is_ok_and(|r| away * r > 0.0)
    }

    /// The sign of a function's rate where its relation goes from true to false: impacts happen when it becomes true.
    fn away(&self, relation: usize) -> f64 {
        let falling = matches!(&self.machine.relations[relation].kind, RelationKind::Sign(RelOp::Lt | RelOp::Le));
        if falling { 1.0 } else { -1.0 }
    }

    /// How high a body that an impact has just turned goes (in units of the relation's function) and for how long, if it comes
    /// back.
    pub(crate) fn rebound(&mut self, program: &ModeProgram, relation: usize, t: f64, span: f64) -> Option<(f64, f64)> {
        self.know_rate(program, relation);
        let kept = self.machine.values.clone();
        let x: Vec<f64> = program.states.iter().map(|s| kept[s.0 as usize]).collect();
        let away = self.away(relation);
        let h = 1e-4 * span.min(1.0);
        let mut rhs = self.free(program);
        let mut rates = || {
            let mut dx = vec![0.0; x.len()];
            rhs.field(t, &x, &mut dx)?;
            let now = rhs.rate(relation, t, &x, &dx)?;
            let moved: Vec<f64> = x.iter().zip(&dx).map(|(x, d)| x + h * d).collect();
            rhs.field(t + h, &moved, &mut dx)?;
            Ok::<_, EvalError>((away * now, away * rhs.rate(relation, t + h, &moved, &dx)?))
        };
        let found = rates().ok();
        self.machine.values = kept;
        self.machine.host.error = None;
        let (now, later) = found?;
        let turn = (now - later) / h;
        (now > 0.0 && turn > 0.0).then_some((0.5 * now * now / turn, 2.0 * now / turn))
    }

    /// How strongly the free motion carries a resting body away from where its impacts push; positive: it leaves.
    pub(crate) fn lift(&mut self, program: &ModeProgram, rest: &Resting, t: f64, x: &[f64]) -> f64 {
        let kept = self.machine.values.clone();
        let away = self.away(rest.relation);
        let mut rhs = self.free(program);
        let mut dx = vec![0.0; x.len()];
        let mut lift = -1.0;
        if rhs.field(t, x, &mut dx).is_ok() {
            let h = rest.step;
            let mut moved: Vec<f64> = x.iter().zip(&dx).map(|(x, d)| x + h * d).collect();
            if rest.held.len() != 1 {
                moved = x.to_vec();
                rest.held.iter().for_each(|&k| moved[k] += h * dx[k]);
            }
            let now = rhs.rate(rest.relation, t, x, &dx);
            let mut later = vec![0.0; x.len()];
            let next =
                rhs.field(t + h, &moved, &mut later).and_then(|()| rhs.rate(rest.relation, t + h, &moved, &later));
            if let (Ok(now), Ok(next)) = (now, next) {
                lift = away * (next - now) / h;
            }
        }
        self.machine.values = kept;
        lift - 1e-9
    }
}

/// Detects accumulation points: times of successive events of one relation.
#[derive(Default)]
pub(crate) struct ZenoWatch {
    times: rustc_hash::FxHashMap<usize, Vec<f64>>,
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

    /// Forgets a relation: what comes after a rest is another story.
    pub fn forget(&mut self, i: usize) {
        self.times.remove(&i);
    }
}
