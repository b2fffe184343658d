//! Forward sensitivities of a run: how every value depends on chosen parameters.
//!
//! Between events the sensitivities s = ∂x/∂p of the states obey ṡ = ∂f/∂x s + ∂f/∂p and are carried along by the integrator.
//! Values that only events change (parameters, discrete variables, what follows from them alone) have derivatives of their
//! own, kept per slot. At an event at time τ(p), where g(τ, x, p) = 0,
//!
//! ```text
//! dτ/dp = −(∂g/∂x s + ∂g/∂p) / ġ,    s⁺ = d/dp E(x(τ), τ, p) − f⁺ dτ/dp
//! ```
//!
//! with E the event's map from the values before to those after. All derivatives along p are central differences of what the
//! model computes itself, E included: the event is handled thrice, slightly to both sides and then for good.

use crate::api::{EventKind, Quiet};
use crate::machine::Trouble;
use crate::model::{ModeProgram, Model};
use crate::rhs::{Rhs, place};
use saltus_base::{Diagnostic, Span, Stage};
use saltus_dae::{VarId, VarType, Variability};
use saltus_solver::ode::Integrator;
use saltus_structure::Alias;
use std::rc::Rc;

/// One parameter.
struct Direction {
    var: VarId,
    name: String,
    slot: u32,
    /// Typical size.
    size: f64,
    /// Derivatives of all values at the last event; of those that move since, only a memory.
    held: Vec<f64>,
    /// ∂x/∂p now.
    states: Vec<f64>,
}

/// The sensitivities of a run.
pub(crate) struct Forward {
    directions: Vec<Direction>,
    /// Slots whose values must not depend on p: those of Booleans, Integers, enumerations.
    counted: Vec<(u32, VarId)>,
}

/// What the parameters do to an event, found before it is handled.
pub(crate) struct Jump {
    /// dτ/dp.
    times: Vec<f64>,
    /// Derivatives of all values after the event, along τ(p).
    after: Vec<Vec<f64>>,
}

fn refuse(span: Span, text: String) -> Diagnostic {
    Diagnostic::error(Stage::Usage, span, text)
}

impl Forward {
    /// The parameters of these names.
    pub fn new(model: &mut Model, names: &[String]) -> Result<Forward, Diagnostic> {
        let mut directions = Vec::new();
        for name in names {
            let found = (0..model.sys.dae.vars.len()).map(VarId::new).find(|&v| model.sys.dae.vars[v].name == *name);
            let Some(var) = found else {
                return Err(refuse(Span::NONE, format!("--sensitivity: there is no parameter {name}")));
            };
            let v = &model.sys.dae.vars[var];
            let span = v.origin.span.unwrap_or(Span::NONE);
            if v.variability != Variability::Parameter || v.ty != VarType::Real {
                return Err(refuse(span, format!("--sensitivity: {name} is not a Real parameter")));
            }
            if saltus_structure::late_parameters(&model.sys).contains(&var) {
                return Err(refuse(
                    span,
                    format!("--sensitivity: {name} is computed at the start, it cannot be varied"),
                ));
            }
            let slot = match model.sys.alias[var] {
                None => model.locate(var).map(|l| l.0).unwrap_or(0),
                Some(Alias::Var(to, _)) => {
                    let other = &model.sys.dae.vars[to].name;
                    let text = format!("--sensitivity: {name} is bound to {other}");
                    return Err(refuse(span, text).hint(format!("ask for {other}")));
                }
                Some(Alias::Const(_)) => {
                    let text =
                        format!("not supported yet: the sensitivity to {name}, which was evaluated when compiling");
                    return Err(refuse(span, text));
                }
            };
            directions.push(Direction {
                var,
                name: name.clone(),
                slot,
                size: 1.0,
                held: Vec::new(),
                states: Vec::new(),
            });
        }
        if !model.sys.dae.delays.is_empty() || !model.sys.dae.distributions.is_empty() {
            return Err(refuse(Span::NONE, "not supported yet: sensitivities of a model with delays".into()));
        }
        let counted = model.discrete.iter().filter(|d| model.sys.dae.vars[d.2].ty != VarType::Real);
        Ok(Forward { counted: counted.map(|d| (d.0, d.2)).collect(), directions })
    }

    /// Names of the parameters.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.directions.iter().map(|d| &*d.name)
    }

    /// Typical sizes of the parameters.
    pub fn sizes(&self) -> Vec<f64> {
        self.directions.iter().map(|d| d.size).collect()
    }

    /// Sensitivities of the states now, those of the first parameter first.
    pub fn states(&self) -> Vec<f64> {
        self.directions.iter().flat_map(|d| d.states.iter().copied()).collect()
    }

    /// Derivatives of what only events change.
    pub fn held(&self, k: usize) -> &[f64] {
        &self.directions[k].held
    }

    /// Derivatives at the start: the initial problem is solved beside itself for every parameter.
    pub fn start(&mut self, model: &mut Model, start: f64) -> Result<(), Diagnostic> {
        for k in 0..self.directions.len() {
            let (var, slot) = (self.directions[k].var, self.directions[k].slot as usize);
            model.parameters(start)?;
            let p = model.machine.values[slot];
            let span = model.sys.dae.vars[var].origin.span.unwrap_or(Span::NONE);
            let zero = |name: &str| {
                let text = format!("not supported yet: the sensitivity to {name} where it is zero");
                refuse(span, text).hint("equations are simplified with parameters that are zero; give it a small value")
            };
            if p == 0.0 {
                return Err(zero(&self.directions[k].name));
            }
            let shift = f64::EPSILON.cbrt() * p.abs();
            let mut sides = Vec::new();
            for sign in [1.0, -1.0] {
                model.shift = Some((var, sign * shift));
                let program = model.initialize(start);
                model.shift = None;
                let program = program?;
                model.machine.values[model.machine.time as usize] = start;
                model.start_tickers(start)?;
                model.handle_event(&program, &[], &[], EventKind::Initial, &mut Quiet)?;
                model.tickers.clear();
                sides.push(model.machine.values.clone());
            }
            let held = self.difference(model, &sides, shift, start)?;
            for i in 0..model.sys.dae.vars.len() {
                let v = VarId::new(i);
                if model.sys.dae.vars[v].variability == Variability::Parameter
                    && let Ok((s, _)) = model.locate(v)
                    && let (Some(a), Some(b)) = (sides[0].get(s as usize), sides[1].get(s as usize))
                    && a != b
                    && a + b == 0.0
                {
                    return Err(zero(&model.sys.dae.vars[v].name));
                }
            }
            (self.directions[k].size, self.directions[k].held) = (p.abs(), held);
        }
        for s in &model.sys.dae.samplers {
            for a in s.start.args.iter().chain(&s.interval.args) {
                let slot = a.variable().and_then(|v| model.layout.find(saltus_structure::Cell::new(v, 0)));
                let moves = |d: &Direction| slot.is_some_and(|s| d.held.get(s as usize).is_some_and(|h| *h != 0.0));
                if let Some(d) = self.directions.iter().find(|d| moves(d)) {
                    let text = format!("not supported yet: {} moves the instants of a sample", d.name);
                    return Err(refuse(s.origin.span.unwrap_or(Span::NONE), text));
                }
            }
        }
        Ok(())
    }

    /// Takes the sensitivities of a mode's states from the derivatives at the last event.
    pub fn begin(&mut self, program: &ModeProgram) {
        for d in &mut self.directions {
            d.states = program.states.iter().map(|s| d.held.get(s.0 as usize).copied().unwrap_or(0.0)).collect();
        }
    }

    /// Follows the integrator to a time of its last step.
    pub fn follow(&mut self, integrator: &dyn Integrator, t: f64) {
        for (k, d) in self.directions.iter_mut().enumerate() {
            integrator.interpolate_sensitivity(k, t, &mut d.states);
        }
    }

    /// (values(+) − values(−)) / 2 shift; what is counted must be the same on both sides.
    fn difference(&self, model: &Model, sides: &[Vec<f64>], shift: f64, t: f64) -> Result<Vec<f64>, Diagnostic> {
        let [up, down] = sides else { return Ok(Vec::new()) };
        if let Some(&(_, v)) = self.counted.iter().find(|c| up[c.0 as usize] != down[c.0 as usize]) {
            let text =
                format!("the sensitivities do not exist at time {t:?}: {} jumps there", model.sys.condition_text(v));
            return Err(Diagnostic::error(Stage::Run, Span::NONE, text));
        }
        let slope = |(a, b): (&f64, &f64)| if a == b { 0.0 } else { (a - b) / (2.0 * shift) };
        Ok(up.iter().zip(down).map(slope).collect())
    }

    /// How far to go along direction k: as far as the states can bear.
    fn shift(&self, k: usize, x: &[f64], dx: &[f64]) -> f64 {
        let size = self.directions[k].size;
        let worst = dx.iter().zip(x).map(|(s, x)| (s * size).abs() / (x.abs() + 1e-3)).fold(1.0, f64::max);
        f64::EPSILON.cbrt() * size / worst
    }

    /// Values of the mode with p_k moved by `by`, the states by `by · dx` and time by `by · dt`.
    fn beside(
        &self,
        model: &mut Model,
        program: &ModeProgram,
        k: usize,
        t: f64,
        x: &[f64],
        dx: &[f64],
        by: f64,
    ) -> Result<(), Trouble> {
        for (v, d) in model.machine.values.iter_mut().zip(&self.directions[k].held) {
            *v += by * d;
        }
        let moved: Vec<f64> = x.iter().zip(dx).map(|(x, d)| x + by * d).collect();
        place(&mut model.machine, program, t, &moved);
        model.machine.run(&program.continuous)
    }

    /// Derivatives of all values by p_k at the present time and states.
    pub fn total(&self, model: &mut Model, program: &ModeProgram, k: usize) -> Result<Vec<f64>, Diagnostic> {
        let here = model.machine.values.clone();
        let t = here[model.machine.time as usize];
        let x: Vec<f64> = program.states.iter().map(|s| here[s.0 as usize]).collect();
        let s = &self.directions[k].states;
        let shift = self.shift(k, &x, s);
        let mut sides = Vec::new();
        for by in [shift, -shift] {
            let done = self.beside(model, program, k, t, &x, s, by);
            sides.push(model.machine.values.clone());
            model.restore(&here);
            done.map_err(|e| model.explain(&e, Stage::Run, t, "the sensitivities cannot be computed"))?;
        }
        let slope = |(a, b): (&f64, &f64)| if a == b { 0.0 } else { (a - b) / (2.0 * shift) };
        Ok(sides[0].iter().zip(&sides[1]).map(slope).collect())
    }

    /// Before an event is handled: what the parameters do to it. The values are those just before it.
    pub fn before(
        &self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        fired: &[usize],
        kind: EventKind,
    ) -> Result<Jump, Diagnostic> {
        let here = model.machine.values.clone();
        let t = here[model.machine.time as usize];
        let x: Vec<f64> = program.states.iter().map(|s| here[s.0 as usize]).collect();
        let dx: Vec<f64> = program.states.iter().map(|s| here[s.1 as usize]).collect();
        // What fires: crossings found, and relations on time that switch now.
        let mut switching = fired.to_vec();
        for i in 0..model.machine.relations.len() {
            if model.machine.relations[i].time.is_some()
                && let Some((value, _)) = model.machine.time_switch(i)
                && value != model.machine.values[model.machine.relations[i].var as usize]
            {
                switching.push(i);
            }
        }
        if switching.is_empty() && kind == EventKind::State {
            let text = format!("not supported yet: sensitivities beyond time {t:?}, where a branch of solutions ends");
            return Err(Diagnostic::error(Stage::Run, Span::NONE, text));
        }
        let ticks: Vec<u64> = model.tickers.iter().map(|s| s.next).collect();
        let mut jump = Jump { times: Vec::new(), after: Vec::new() };
        for k in 0..self.directions.len() {
            let time = self.event_time(model, program, k, &switching, t, &x, &dx)?;
            let along: Vec<f64> = self.directions[k].states.iter().zip(&dx).map(|(s, d)| s + d * time).collect();
            let shift = self.shift(k, &x, &along);
            let mut sides = Vec::new();
            for by in [shift, -shift] {
                let done = self
                    .beside(model, program, k, t + by * time, &x, &along, by)
                    .map_err(|e| model.explain(&e, Stage::Run, t, "the sensitivities cannot be computed"));
                switching.iter().for_each(|&i| model.machine.relations[i].frozen = true);
                let handled = done.and_then(|()| model.handle_event(program, &switching, &[], kind, &mut Quiet));
                switching.iter().for_each(|&i| model.machine.relations[i].frozen = false);
                model.tickers.iter_mut().zip(&ticks).for_each(|(s, n)| s.next = *n);
                sides.push(model.machine.values.clone());
                model.restore(&here);
                handled?;
            }
            let n = sides[0].len().min(sides[1].len());
            sides.iter_mut().for_each(|s| s.truncate(n));
            jump.after.push(self.difference(model, &sides, shift, t)?);
            jump.times.push(time);
        }
        Ok(jump)
    }

    /// dτ/dp of an event at which these relations switch; zero if it comes at a fixed time.
    fn event_time(
        &self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        k: usize,
        switching: &[usize],
        t: f64,
        x: &[f64],
        dx: &[f64],
    ) -> Result<f64, Diagnostic> {
        let here = model.machine.values.clone();
        let s = &self.directions[k].states;
        let mut found: Option<f64> = None;
        for &i in switching {
            let shift = self.shift(k, x, s);
            let mut g = [[0.0]; 2];
            for (g, by) in g.iter_mut().zip([shift, -shift]) {
                let done = self.beside(model, program, k, t, x, s, by);
                if done.is_ok() {
                    model.machine.crossing_values(&[i], g);
                }
                model.restore(&here);
                done.map_err(|e| model.explain(&e, Stage::Run, t, "the sensitivities cannot be computed"))?;
            }
            let slope = (g[0][0] - g[1][0]) / (2.0 * shift);
            let mut rhs = Rhs::new(&mut model.machine, program);
            let rate = rhs.rate(i, t, x, dx).unwrap_or(0.0);
            model.restore(&here);
            let time = if slope == 0.0 { 0.0 } else { -slope / rate };
            let other = found.get_or_insert(time);
            let apart = (*other - time).abs() > 1e-4 * other.abs().max(time.abs()) + 1e-9;
            if !time.is_finite() || apart {
                let r = &model.sys.relations[i];
                let why = if apart { "with another event" } else { "without crossing" };
                let text = format!("the sensitivities do not exist at time {t:?}: {} reaches zero there {why}", r.text);
                return Err(Diagnostic::error(Stage::Run, r.origin.span.unwrap_or(Span::NONE), text));
            }
        }
        Ok(found.unwrap_or(0.0))
    }

    /// After the event: derivatives of the values, and of the states of the new mode at a fixed time.
    pub fn after(&mut self, model: &mut Model, program: &ModeProgram, jump: Jump) {
        for ((d, held), time) in self.directions.iter_mut().zip(jump.after).zip(jump.times) {
            let at = |slot: u32| held.get(slot as usize).copied().unwrap_or(0.0);
            let value = |slot: u32| model.machine.values[slot as usize];
            d.states = program.states.iter().map(|s| at(s.0) - value(s.1) * time).collect();
            d.held = held;
        }
    }

    /// New states of the same mode: their sensitivities are among the derivatives of all values.
    pub fn reselect(&mut self, model: &mut Model, old: &ModeProgram, new: &ModeProgram) -> Result<(), Diagnostic> {
        for k in 0..self.directions.len() {
            let total = self.total(model, old, k)?;
            let at = |slot: u32| total.get(slot as usize).copied().unwrap_or(0.0);
            self.directions[k].states = new.states.iter().map(|s| at(s.0)).collect();
        }
        Ok(())
    }

    /// Writes the derivatives of the values in these slots (with their signs), parameter by parameter.
    pub fn row(
        &self,
        model: &mut Model,
        program: &ModeProgram,
        slots: &[Option<(u32, f64)>],
        out: &mut [f64],
    ) -> Result<(), Diagnostic> {
        for (k, out) in (0..self.directions.len()).zip(out.chunks_mut(slots.len().max(1))) {
            let total = self.total(model, program, k)?;
            for (o, s) in out.iter_mut().zip(slots) {
                *o = s.map_or(0.0, |(slot, sign)| sign * total[slot as usize] + 0.0);
            }
        }
        Ok(())
    }
}
