//! The run loop: integrate, locate the earliest event, write, handle, go on.

use crate::api::{EventKind, Observer, RunOptions, RunReport, Zeno};
use crate::choice::{Choice, SOLVERS};
use crate::events::{ZenoWatch, zeno_error};
use crate::machine::{Machine, Trouble};
use crate::model::{DelayLine, ModeProgram, Model};
use saltus_base::{Diagnostic, Span, Stage};
use saltus_dae::{HybridDae, VarId, VarType, Variability};
use saltus_expr::RelOp;
use saltus_results::{Column, Kind, Sink};
use saltus_solver::linear::Pattern;
use saltus_solver::ode::{
    EvalError, FIXED_STEP, Integrator, OdeSystem, Options, Restart, Spectrum, StepError, make_integrator, spectrum,
};
use saltus_solver::roots::{CrossingOptions, Sign, generic::first_crossing_sampled};
use saltus_structure::{Cell, RelationKind};
use std::rc::Rc;

/// Where a result column comes from.
enum Source {
    /// Slot and sign, and the variable that must be active.
    Slot(u32, f64, Option<VarId>),
    Const(f64),
}

/// Sliding along a switching surface: the field is the mix of two locked fields that keeps g at zero.
struct Sliding {
    relation: usize,
    /// Discrete values on either side: (slot, before, after).
    bits: Vec<(u32, f64, f64)>,
    /// Share of the first side at the last evaluation.
    share: f64,
}

/// Resting at an accumulation point: these states are held.
struct Resting {
    relation: usize,
    /// State index and the sign its free derivative must have to leave.
    held: Vec<usize>,
}

/// The right-hand side the integrator sees.
struct Rhs<'a> {
    machine: &'a mut Machine,
    delays: &'a [DelayLine],
    program: &'a ModeProgram,
    sliding: Option<&'a mut Sliding>,
    resting: Option<&'a Resting>,
    trouble: Option<Trouble>,
}

impl Rhs<'_> {
    fn evaluate(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
        place(self.machine, self.delays, self.program, t, x);
        if let Err(e) = self.machine.run(&self.program.continuous) {
            self.trouble = Some(e);
            return Err(EvalError::Domain);
        }
        for (o, &(_, d)) in dx.iter_mut().zip(&self.program.states) {
            *o = self.machine.values[d as usize];
        }
        if dx.iter().any(|v| !v.is_finite()) {
            let bad = self
                .program
                .plan
                .states
                .iter()
                .zip(dx.iter())
                .filter(|(_, d)| !d.is_finite())
                .map(|(c, _)| Cell { var: c.var, order: c.order + 1 })
                .collect();
            self.trouble = Some(Trouble::NotFinite(bad));
            return Err(EvalError::Domain);
        }
        Ok(())
    }

    /// g and its rate along dx.
    fn rate(&mut self, relation: usize, t: f64, x: &[f64], dx: &[f64]) -> Result<(f64, f64), EvalError> {
        let mut g = [0.0];
        self.machine.crossing_values(&[relation], &mut g);
        let scale = x.iter().zip(dx).map(|(x, d)| (x.abs() + 1.0) / (d.abs() + 1e-30)).fold(1e3f64, f64::min);
        let h = 1e-7 * scale;
        let moved: Vec<f64> = x.iter().zip(dx).map(|(x, d)| x + h * d).collect();
        let mut other = vec![0.0; x.len()];
        self.evaluate(t + h, &moved, &mut other)?;
        let mut g2 = [0.0];
        self.machine.crossing_values(&[relation], &mut g2);
        Ok((g[0], (g2[0] - g[0]) / h))
    }
}

impl OdeSystem for Rhs<'_> {
    fn dim(&self) -> usize {
        self.program.states.len()
    }

    fn sparsity(&self) -> Option<&Pattern> {
        // Sliding mixes two fields by the rate of a crossing function: everything it depends on comes in.
        if self.sliding.is_some() { None } else { self.program.pattern.as_ref() }
    }

    fn rhs(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
        if let Some(s) = self.sliding.take() {
            let mut a = vec![0.0; x.len()];
            let mut b = vec![0.0; x.len()];
            let set = |m: &mut Machine, first: bool| {
                for &(slot, p, q) in &s.bits {
                    m.values[slot as usize] = if first { p } else { q };
                }
            };
            let result = (|| {
                set(self.machine, true);
                self.evaluate(t, x, &mut a)?;
                let (g, ra) = self.rate(s.relation, t, x, &a)?;
                set(self.machine, false);
                self.evaluate(t, x, &mut b)?;
                let (_, rb) = self.rate(s.relation, t, x, &b)?;
                // α ra + (1-α) rb = -κ g: equivalent control, with a pull back to the surface.
                let want = -20.0 * g;
                s.share = if ra == rb { 0.5 } else { (want - rb) / (ra - rb) };
                let share = s.share.clamp(0.0, 1.0);
                for i in 0..x.len() {
                    dx[i] = share * a[i] + (1.0 - share) * b[i];
                }
                Ok(())
            })();
            self.sliding = Some(s);
            return result;
        }
        self.evaluate(t, x, dx)?;
        if let Some(r) = self.resting {
            for &i in &r.held {
                dx[i] = 0.0;
            }
        }
        Ok(())
    }
}

/// Writes time, states and delayed values.
fn place(m: &mut Machine, delays: &[DelayLine], program: &ModeProgram, t: f64, x: &[f64]) {
    m.values[m.time as usize] = t;
    for (&(s, _), v) in program.states.iter().zip(x) {
        m.values[s as usize] = *v;
    }
    for d in delays {
        m.backend.run(&d.delay, &mut m.values, &mut m.host);
        let by = m.values[d.delay_slot as usize];
        if let Some(v) = d.at(t - by) {
            m.values[d.out as usize] = v;
        }
    }
}

/// Runs a prepared model.
pub fn run(
    model: &mut Model,
    options: &RunOptions,
    sink: &mut dyn Sink,
    observer: &mut dyn Observer,
) -> Result<RunReport, Diagnostic> {
    let e = model.sys.dae.experiment;
    let start = options.start.or(e.start).unwrap_or(0.0);
    let stop = options.stop.or(e.stop).unwrap_or(start + 1.0);
    if !(stop >= start) || !start.is_finite() || !stop.is_finite() {
        return Err(Diagnostic::error(
            Stage::Usage,
            Span::NONE,
            format!("the stop time {stop} must not lie before the start time {start}"),
        ));
    }
    let tolerance = options.tolerance.or(e.tolerance).unwrap_or(1e-6);
    if !(tolerance > 0.0) {
        return Err(Diagnostic::error(Stage::Usage, Span::NONE, format!("the tolerance {tolerance} must be positive")));
    }
    let intervals = options
        .intervals
        .or(e.interval.filter(|i| *i > 0.0).map(|i| ((stop - start) / i).round().max(1.0) as usize))
        .unwrap_or(500)
        .max(1);
    let solver = options.solver.as_deref().unwrap_or("auto");
    let choice = Choice::new(solver, start).ok_or_else(|| unknown_solver(solver))?;
    let program = model.initialize(start)?;
    model.start_tickers(start)?;
    let mut r = Runner {
        options,
        start,
        stop,
        tolerance,
        intervals,
        choice,
        next_output: 0,
        sources: Vec::new(),
        row: Vec::new(),
        active: Vec::new(),
        report: RunReport::default(),
        sliding: None,
        resting: None,
        zeno: ZenoWatch::default(),
        warned: Default::default(),
        held_relations: Vec::new(),
        amplitude: Default::default(),
    };
    r.columns(model, sink)?;
    r.go(model, program, sink, observer)
}

struct Runner<'a> {
    options: &'a RunOptions,
    start: f64,
    stop: f64,
    tolerance: f64,
    intervals: usize,
    choice: Choice,
    next_output: usize,
    sources: Vec<Source>,
    row: Vec<f64>,
    active: Vec<bool>,
    report: RunReport,
    sliding: Option<Sliding>,
    resting: Option<Resting>,
    zeno: ZenoWatch,
    warned: rustc_hash::FxHashSet<String>,
    held_relations: Vec<usize>,
    /// Largest |g| of each crossing function since its last event.
    amplitude: rustc_hash::FxHashMap<usize, f64>,
}

fn unknown_solver(name: &str) -> Diagnostic {
    Diagnostic::error(Stage::Usage, Span::NONE, format!("unknown solver {name}"))
        .hint(format!("known: {}", SOLVERS.join(", ")))
}

fn io(e: std::io::Error) -> Diagnostic {
    Diagnostic::error(Stage::Run, Span::NONE, format!("results cannot be written: {e}"))
}

impl Runner<'_> {
    fn span(&self) -> f64 {
        (self.stop - self.start).max(1e-300)
    }

    fn columns(&mut self, model: &mut Model, sink: &mut dyn Sink) -> Result<(), Diagnostic> {
        let mut columns = Vec::new();
        for i in 0..model.sys.dae.vars.len() {
            let v = VarId::new(i);
            let var = &model.sys.dae.vars[v];
            // Of the parameters, those of the model itself: they are few, and their values may come from a computation.
            let parameter = var.variability <= Variability::Parameter
                && (var.variability == Variability::Constant || var.name.contains('.'));
            if HybridDae::is_builtin(v) || parameter || (var.hidden && !self.options.all_variables) {
                continue;
            }
            let kind = match var.ty {
                VarType::Real => Kind::Real,
                VarType::Integer => Kind::Integer,
                VarType::Boolean => Kind::Boolean,
                VarType::Enumeration(_) => Kind::Enumeration,
                VarType::String | VarType::Object => continue,
            };
            columns.push(
                Column::new(var.name.clone(), kind)
                    .with_unit(var.unit.clone())
                    .with_description(var.description.clone()),
            );
            let source = match model.locate(v) {
                Ok((s, sign)) => {
                    let rep = match model.sys.alias[v] {
                        Some(saltus_structure::Alias::Var(to, _)) => to,
                        _ => v,
                    };
                    let continuous = model.sys.role(rep) == saltus_structure::Role::Continuous;
                    Source::Slot(s, sign, continuous.then_some(rep))
                }
                Err(c) => Source::Const(c),
            };
            self.sources.push(source);
        }
        model.layout.extend(&mut model.machine.values);
        self.row = vec![0.0; columns.len()];
        self.active = vec![true; columns.len()];
        sink.begin(&columns).map_err(io)
    }

    fn write(&mut self, model: &Model, program: &ModeProgram, t: f64, sink: &mut dyn Sink) -> Result<(), Diagnostic> {
        let mut all = true;
        for (k, s) in self.sources.iter().enumerate() {
            match *s {
                Source::Const(v) => self.row[k] = v,
                Source::Slot(slot, sign, rep) => {
                    self.row[k] = sign * model.machine.values[slot as usize] + 0.0; // no negative zero
                    self.active[k] = rep.is_none_or(|v| program.active.contains(&v));
                    all &= self.active[k];
                }
            }
        }
        sink.row(t, &self.row, (!all).then_some(&self.active[..])).map_err(io)
    }

    fn integrator_options(&self, program: &ModeProgram) -> Options {
        let n = program.states.len();
        let absolute = self.options.absolute.unwrap_or(self.tolerance);
        let mut o = Options::new(n, self.tolerance, absolute);
        for (a, m) in o.atol.iter_mut().zip(&program.nominal) {
            *a = absolute * m.min(1e3).max(1e-12);
        }
        o.h_init = self.options.initial_step;
        o.h_max = self.options.max_step.unwrap_or(f64::INFINITY);
        o.h_min = self.options.min_step.unwrap_or(0.0).max(self.resolution());
        if n == 0 {
            o.h_max = o.h_max.min(self.span() / self.intervals.max(200) as f64);
        }
        if let Some(k) = self.options.max_order {
            o.max_order = k;
        }
        if self.options.keep_bounds {
            o.bounds = program.bounds.clone();
        }
        o
    }

    /// The integrator in force for this program.
    fn integrator(&mut self, program: &ModeProgram) -> Result<Box<dyn Integrator>, Diagnostic> {
        let (mut o, name) = (self.integrator_options(program), self.choice.name());
        if FIXED_STEP.contains(&name) {
            o.fixed_step = Some(self.options.step.unwrap_or(self.span() / self.intervals as f64));
        } else if let Some(h) = self.options.step {
            o.h_max = o.h_max.min(h);
        }
        make_integrator(name, program.states.len(), o).ok_or_else(|| unknown_solver(name))
    }

    fn resolution(&self) -> f64 {
        self.options.time_resolution.unwrap_or(0.0)
    }

    /// How stiff the model is at these states, for `--solver auto`.
    fn spectrum(&mut self, model: &mut Model, program: &ModeProgram, t: f64, x: &[f64]) -> Option<Spectrum> {
        let (o, values) = (self.integrator_options(program), model.machine.values.clone());
        let found = spectrum(&mut self.rhs(model, program), &o, t, x);
        model.machine.values = values;
        self.report.evaluations += 10;
        found
    }

    /// At a restart: another integrator, if the choice is free and another suits better.
    fn reconsider(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        integrator: &dyn Integrator,
        t: f64,
        x: &[f64],
    ) -> Result<Option<Box<dyn Integrator>>, Diagnostic> {
        let steps = self.report.steps + integrator.stats().steps;
        let mut choice = std::mem::replace(&mut self.choice, Choice::new("auto", t).expect("auto is a choice"));
        let changed = choice.restart(t, steps, x.len(), || self.spectrum(model, program, t, x));
        self.choice = choice;
        if !changed {
            return Ok(None);
        }
        self.fold(integrator);
        self.integrator(program).map(Some)
    }

    /// Whether steps or evaluations asked for are used up.
    fn limits(&self, i: &dyn Integrator, t: f64) -> Result<(), Diagnostic> {
        let s = i.stats();
        let over = |limit: Option<usize>, used: usize| limit.is_some_and(|l| used > l);
        let (what, limit) = if over(self.options.max_steps, self.report.steps + s.steps) {
            ("steps", self.options.max_steps)
        } else if over(self.options.max_evaluations, self.report.evaluations + s.rhs_evals) {
            ("evaluations", self.options.max_evaluations)
        } else {
            return Ok(());
        };
        let text = format!("{} {what} were not enough: the run was given up at time {t:?}", limit.unwrap_or(0));
        Err(Diagnostic::error(Stage::Run, Span::NONE, text)
            .hint("raise the limit, loosen the tolerance, or look for a variable that moves faster than it should"))
    }

    /// Evaluates everything at a point of the last step.
    fn evaluate_at(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        integrator: &dyn Integrator,
        t: f64,
    ) -> Result<(), Trouble> {
        let n = program.states.len();
        let mut x = vec![0.0; n];
        integrator.interpolate(t, &mut x);
        self.evaluate(model, program, t, &x)
    }

    fn evaluate(&mut self, model: &mut Model, program: &ModeProgram, t: f64, x: &[f64]) -> Result<(), Trouble> {
        if let Some(s) = &mut self.sliding {
            let mut dx = vec![0.0; x.len()];
            let mut rhs = Rhs {
                machine: &mut model.machine,
                delays: &model.delays,
                program,
                sliding: Some(s),
                resting: None,
                trouble: None,
            };
            let _ = rhs.rhs(t, x, &mut dx);
        }
        place(&mut model.machine, &model.delays, program, t, x);
        match model.machine.run(&program.continuous) {
            Err(Trouble::Unsolved { .. }) if !model.machine.patient => {
                // The branch followed so far may have ended (a fold): look for another solution.
                model.machine.patient = true;
                place(&mut model.machine, &model.delays, program, t, x);
                let found = model.machine.run(&program.continuous);
                model.machine.patient = false;
                found
            }
            other => other,
        }
    }

    fn go(
        &mut self,
        model: &mut Model,
        mut program: Rc<ModeProgram>,
        sink: &mut dyn Sink,
        observer: &mut dyn Observer,
    ) -> Result<RunReport, Diagnostic> {
        let t = self.start;
        model.machine.values[model.machine.time as usize] = t;
        // The first instant: everything is evaluated once more with initial() over.
        let first = model.handle_event(&program, &[], EventKind::Initial, observer)?;
        observer.event(&first.record);
        program = first.program;
        self.terminated(&first.terminated);
        self.warnings(model, observer);
        self.check_assertions(model, t, observer)?;
        self.record_delays(model, t);
        self.write(model, &program, t, sink)?;
        self.next_output = 1;
        let wall = std::time::Instant::now();
        let mut x: Vec<f64> = program.states.iter().map(|s| model.machine.values[s.0 as usize]).collect();
        if self.choice.is_auto() {
            let found = self.spectrum(model, &program, t, &x);
            self.choice.begin(x.len(), program.pattern.as_ref(), self.span(), found);
        }
        let mut integrator = self.integrator(&program)?;
        let mut restart = Some(Restart::Cold);
        let mut now = t;
        while self.report.terminated.is_none() && now < self.stop {
            if observer.cancelled() {
                self.report.cancelled = true;
                break;
            }
            let due = model.next_time_event();
            if due <= now + (1e-13 * now.abs().max(1e-3)).max(self.resolution()) {
                let h = self.event(model, &program, &[], EventKind::Time, now, sink, observer, false)?;
                if !Rc::ptr_eq(&h, &program) {
                    program = h;
                    self.fold(&*integrator);
                    integrator = self.integrator(&program)?;
                }
                restart = Some(Restart::Cold);
                continue;
            }
            if let Some(kind) = restart.take() {
                x.clear();
                x.extend(program.states.iter().map(|s| model.machine.values[s.0 as usize]));
                if let Some(other) = self.reconsider(model, &program, &*integrator, now, &x)? {
                    integrator = other;
                }
                let mut rhs = self.rhs(model, &program);
                let done = integrator.restart(&mut rhs, now, &x, kind);
                let trouble = rhs.trouble.take();
                if let Err(e) = done {
                    return Err(self.step_failed(model, &program, e, trouble));
                }
            }
            let tstop = self.stop.min(due);
            let mut rhs = self.rhs(model, &program);
            let outcome = integrator.step(&mut rhs, tstop);
            let trouble = rhs.trouble.take();
            if let Err(e) = outcome {
                if matches!(trouble, Some(Trouble::Unsolved { .. })) && !model.machine.patient {
                    // Once more with the slow, robust methods.
                    model.machine.patient = true;
                    restart = Some(Restart::Cold);
                    continue;
                }
                self.fold(&*integrator);
                if matches!(trouble, Some(Trouble::Unsolved { .. }))
                    && let Some(d) = model.structural_explanation(&program)
                {
                    return Err(d);
                }
                return Err(self.step_failed(model, &program, e, trouble));
            }
            model.machine.patient = false;
            self.limits(&*integrator, integrator.t())?;
            let (t0, t1) = (integrator.t_prev(), integrator.t());
            let found = self.locate(model, &program, &*integrator, t0, t1)?;
            let end = found.as_ref().map_or(t1, |f| f.0);
            self.outputs(model, &program, &*integrator, end, found.is_some() || due <= end, sink)?;
            if let Some(scale) = self.options.realtime.filter(|s| *s > 0.0) {
                let ahead = (end - self.start) / scale - wall.elapsed().as_secs_f64();
                if ahead > 0.0 {
                    std::thread::sleep(std::time::Duration::from_secs_f64(ahead.min(1.0)));
                }
            }
            let at_end = self.evaluate_at(model, &program, &*integrator, end);
            if let Err(e) = at_end {
                return Err(model
                    .structural_explanation(&program)
                    .unwrap_or_else(|| model.explain(&e, Stage::Run, end, "the run failed")));
            }
            now = end;
            self.record_delays(model, now);
            self.check_assertions(model, now, observer)?;
            self.warnings(model, observer);
            observer.progress(now);
            if let Some((_, fired)) = found {
                let before = program.clone();
                program = self.event(model, &program, &fired, EventKind::State, now, sink, observer, true)?;
                if !Rc::ptr_eq(&before, &program) {
                    self.fold(&*integrator);
                    integrator = self.integrator(&program)?;
                }
                restart = Some(Restart::Cold);
                continue;
            }
            if due <= now {
                let before = program.clone();
                program = self.event(model, &program, &[], EventKind::Time, now, sink, observer, true)?;
                if !Rc::ptr_eq(&before, &program) {
                    self.fold(&*integrator);
                    integrator = self.integrator(&program)?;
                }
                restart = Some(Restart::Cold);
                continue;
            }
            if self.leaves_sliding() || self.leaves_rest(model, &program, now) {
                restart = Some(Restart::Cold);
                let h = model.handle_event(&program, &[], EventKind::State, observer)?;
                observer.event(&h.record);
                program = h.program;
                continue;
            }
            if self.sliding.is_none()
                && let Some(p) = model.reselect(&program)?
            {
                program = p;
                self.fold(&*integrator);
                integrator = self.integrator(&program)?;
                restart = Some(Restart::Cold);
            }
        }
        // The end: terminal() is true there.
        let slot = model.layout.slot(Cell::new(HybridDae::TERMINAL, 0));
        model.layout.extend(&mut model.machine.values);
        model.machine.values[slot as usize] = 1.0;
        if self.sliding.is_none()
            && let Ok(h) = model.handle_event(&program, &[], EventKind::Terminal, observer)
        {
            observer.event(&h.record);
        }
        self.fold(&*integrator);
        self.report.solver = self.choice.text();
        self.report.end = now;
        self.report.states = program.states.len();
        self.report.modes = model.programs.len();
        sink.finish().map_err(io)?;
        Ok(self.report.clone())
    }

    fn terminated(&mut self, message: &Option<String>) {
        if let Some(m) = message {
            self.report.terminated = Some(m.clone());
        }
    }

    fn rhs<'b>(&'b mut self, model: &'b mut Model, program: &'b ModeProgram) -> Rhs<'b> {
        Rhs {
            machine: &mut model.machine,
            delays: &model.delays,
            program,
            sliding: self.sliding.as_mut(),
            resting: self.resting.as_ref(),
            trouble: None,
        }
    }

    /// Adds an integrator's counts to the report.
    fn fold(&mut self, i: &dyn Integrator) {
        let s = i.stats();
        self.report.steps += s.steps;
        self.report.evaluations += s.rhs_evals;
        self.report.jacobians += s.jac_evals;
        self.report.factorizations += s.lu_factorizations;
        self.report.rejected += s.error_test_failures + s.conv_failures + s.eval_failures;
    }

    /// Rows on the output grid up to `end` (a row at `end` itself is left to the event).
    fn outputs(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        i: &dyn Integrator,
        end: f64,
        event: bool,
        sink: &mut dyn Sink,
    ) -> Result<(), Diagnostic> {
        let close = 1e-11 * self.span();
        while self.next_output <= self.intervals {
            let t = if self.next_output == self.intervals {
                self.stop
            } else {
                self.start + self.next_output as f64 * (self.stop - self.start) / self.intervals as f64
            };
            if t > end || (event && t > end - close) {
                if event && t <= end + close {
                    self.next_output += 1; // the event's own rows stand for it
                }
                break;
            }
            self.evaluate_at(model, program, i, t).map_err(|e| model.explain(&e, Stage::Run, t, "the run failed"))?;
            if let Some(bad) = model.not_finite(program) {
                return Err(model.explain(&bad, Stage::Run, t, "the run failed"));
            }
            self.write(model, program, t, sink)?;
            self.next_output += 1;
        }
        Ok(())
    }

    /// The earliest crossing in the step: its time and the relations that cross there.
    fn locate(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        integrator: &dyn Integrator,
        t0: f64,
        t1: f64,
    ) -> Result<Option<(f64, Vec<usize>)>, Diagnostic> {
        let mut which: Vec<usize> = program.crossings.clone();
        which.retain(|i| !self.held_relations.contains(i));
        if which.is_empty() || t1 <= t0 {
            return Ok(None);
        }
        // Samples of all functions at a few places of the step.
        const PLACES: [f64; 6] = [0.0, 0.2, 0.45, 0.7, 0.9, 1.0];
        let m = which.len();
        let mut g = vec![vec![0.0; m]; PLACES.len()];
        for (k, s) in PLACES.iter().enumerate() {
            let t = if *s == 1.0 { t1 } else { t0 + s * (t1 - t0) };
            if self.evaluate_at(model, program, integrator, t).is_err() {
                g[k].fill(f64::NAN);
                continue;
            }
            model.machine.crossing_values(&which, &mut g[k]);
        }
        let mut best: Option<(f64, f64)> = None;
        let mut stuck: Vec<usize> = Vec::new();
        for (j, &i) in which.iter().enumerate() {
            let samples: Vec<f64> = g.iter().map(|r| r[j]).collect();
            let big = samples.iter().filter(|v| v.is_finite()).fold(0.0f64, |m, v| m.max(v.abs()));
            let r = &mut model.machine.relations[i];
            r.size = r.size.max(big);
            let a = self.amplitude.entry(i).or_insert(0.0);
            *a = a.max(big);
            let bit = model.machine.values[r.var as usize];
            let band = model.machine.band(i);
            // At zero all along, yet locked to a value zero does not have: it has been reached. So has the next integer.
            let reached = match &model.machine.relations[i].kind {
                kind @ RelationKind::Sign(_) => (bit != crate::machine::plain(kind, 0.0)).then_some(0.0),
                RelationKind::Floor => Some(bit + 1.0),
            };
            if reached.is_some_and(|at| samples.iter().all(|g| (g - at).abs() <= band)) {
                best = Some((t0, t0));
                stuck.push(i);
                continue;
            }
            let limits = match best {
                Some((_, after)) => (t0, after),
                None => (t0, t1),
            };
            let sides: Vec<(f64, f64)> = match &model.machine.relations[i].kind {
                // (offset, side): σ (g - offset) must stay non-negative
                RelationKind::Sign(op) => {
                    let positive_true = matches!(op, RelOp::Gt | RelOp::Ge);
                    vec![(0.0, if (bit != 0.0) == positive_true { 1.0 } else { -1.0 })]
                }
                RelationKind::Floor => vec![(bit, 1.0), (bit + 1.0, -1.0)],
            };
            for (offset, sigma) in sides {
                if !suspicious(&PLACES, &samples, offset, sigma, band) {
                    continue;
                }
                let found = {
                    let mut f = |t: f64| -> f64 {
                        if self.evaluate_at(model, program, integrator, t).is_err() {
                            return f64::NAN;
                        }
                        let mut v = [0.0];
                        model.machine.crossing_values(&[i], &mut v);
                        v[0] - offset
                    };
                    let side = if sigma > 0.0 { Sign::Positive } else { Sign::Negative };
                    let opts = CrossingOptions { tol: band, touching: false, s_tol: 0.0 };
                    first_crossing_sampled(&mut f, limits.0, limits.1, side, &opts, &Default::default()).crossing
                };
                if let Some(c) = found.filter(|c| !c.touching) {
                    let after = c.s_after.clamp(t0, t1);
                    if best.is_none_or(|b| after < b.1) {
                        best = Some((c.s_before, after));
                    }
                }
            }
        }
        let Some((_, mut after)) = best else { return Ok(None) };
        if !stuck.is_empty() && after <= t0 {
            return Ok(Some((t0, stuck)));
        }
        // Step past the zero band, so that the bit flips beyond doubt.
        let mut fired = Vec::new();
        let mut push = 4.0 * f64::EPSILON * after.abs().max(self.span() * 1e-3);
        for _ in 0..60 {
            if self.evaluate_at(model, program, integrator, after.min(t1)).is_err() {
                break;
            }
            let mut v = vec![0.0; m];
            model.machine.crossing_values(&which, &mut v);
            fired = which
                .iter()
                .zip(&v)
                .filter(|&(&i, &g)| {
                    let r = &model.machine.relations[i];
                    let bit = model.machine.values[r.var as usize];
                    let band = model.machine.band(i);
                    match &r.kind {
                        RelationKind::Sign(op) => {
                            let positive_true = matches!(op, RelOp::Gt | RelOp::Ge);
                            (if (bit != 0.0) == positive_true { g } else { -g }) < -band
                        }
                        RelationKind::Floor => g < bit - band.max(1e-9) || g >= bit + 1.0 - band,
                    }
                })
                .map(|(&i, _)| i)
                .collect();
            if !fired.is_empty() || after >= t1 {
                break;
            }
            after = (after + push).min(t1);
            push *= 2.0;
        }
        if fired.is_empty() {
            return Ok(None);
        }
        Ok(Some((after.min(t1), fired)))
    }

    fn event(
        &mut self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        fired: &[usize],
        kind: EventKind,
        t: f64,
        sink: &mut dyn Sink,
        observer: &mut dyn Observer,
        before_row: bool,
    ) -> Result<Rc<ModeProgram>, Diagnostic> {
        if before_row {
            self.write(model, program, t, sink)?;
        }
        let x: Vec<f64> = program.states.iter().map(|s| model.machine.values[s.0 as usize]).collect();
        let old_bits: Vec<(u32, f64)> =
            model.discrete.iter().map(|d| (d.0, model.machine.values[d.0 as usize])).collect();
        // Outside sliding now; it is found again below if it goes on.
        self.sliding = None;
        if self.resting.is_some() && !fired.is_empty() {
            self.resting = None;
            self.held_relations.clear();
        }
        let rates_before: Vec<f64> = fired.iter().map(|&i| self.rate_of(model, program, i, t, &x)).collect();
        let h = model.handle_event(program, fired, kind, observer)?;
        match h.record.kind {
            EventKind::Time => self.report.time_events += 1,
            EventKind::Mode => self.report.mode_changes += 1,
            _ => self.report.state_events += 1,
        }
        self.terminated(&h.terminated);
        observer.event(&h.record);
        let program = h.program.clone();
        if h.memoryless && !fired.is_empty() {
            self.start_sliding(model, &program, fired, &rates_before, &old_bits, t, observer);
        }
        if !h.reinitialized.is_empty() {
            for &i in fired {
                if let Some(at) = self.zeno.record(
                    i,
                    t,
                    self.span(),
                    self.amplitude
                        .remove(&i)
                        .is_some_and(|a| a < 100.0 * self.tolerance * model.machine.relations[i].size.max(1e-6)),
                ) {
                    self.accumulate(model, &program, i, &h.reinitialized, at, observer)?;
                }
            }
        }
        self.record_delays(model, t);
        self.check_assertions(model, t, observer)?;
        self.warnings(model, observer);
        self.write(model, &program, t, sink)?;
        Ok(program)
    }

    /// Rate of a relation's function along the present field.
    fn rate_of(&mut self, model: &mut Model, program: &ModeProgram, i: usize, t: f64, x: &[f64]) -> f64 {
        if x.is_empty() {
            return 0.0;
        }
        let values = model.machine.values.clone();
        let mut rhs = Rhs {
            machine: &mut model.machine,
            delays: &model.delays,
            program,
            sliding: None,
            resting: None,
            trouble: None,
        };
        let mut dx = vec![0.0; x.len()];
        let rate = rhs.evaluate(t, x, &mut dx).and_then(|()| rhs.rate(i, t, x, &dx)).map_or(0.0, |r| r.1);
        model.machine.values = values;
        rate
    }

    /// After a memoryless switch: if the new field points back, the solution slides.
    fn start_sliding(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        fired: &[usize],
        before: &[f64],
        old: &[(u32, f64)],
        t: f64,
        observer: &mut dyn Observer,
    ) {
        let x: Vec<f64> = program.states.iter().map(|s| model.machine.values[s.0 as usize]).collect();
        for (&i, &rb) in fired.iter().zip(before) {
            if !matches!(model.machine.relations[i].kind, RelationKind::Sign(_)) || rb == 0.0 {
                continue;
            }
            let ra = self.rate_of(model, program, i, t, &x);
            if ra * rb < 0.0 && ra.abs() > 1e-9 * rb.abs() {
                let bits: Vec<(u32, f64, f64)> =
                    old.iter().map(|&(s, b)| (s, b, model.machine.values[s as usize])).filter(|b| b.1 != b.2).collect();
                let span = model.sys.relations[i].origin.span.unwrap_or(Span::NONE);
                let text = model.sys.relations[i].text.clone();
                self.say(
                    observer,
                    &format!("sliding along the boundary of {text} from time {t:?}"),
                    span,
                    &format!("slide {i}"),
                );
                self.sliding = Some(Sliding { relation: i, bits, share: 0.5 });
                self.held_relations = fired.to_vec();
                return;
            }
        }
        if self.resting.is_none() {
            self.held_relations.clear();
        }
    }

    /// Whether the equivalent control has left [0, 1]; then the run goes on in the side it points to.
    fn leaves_sliding(&mut self) -> bool {
        let Some(s) = &self.sliding else { return false };
        if (-1e-9..=1.0 + 1e-9).contains(&s.share) {
            return false;
        }
        self.sliding = None;
        self.held_relations.clear();
        true
    }

    fn accumulate(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        i: usize,
        reinitialized: &[u32],
        at: f64,
        observer: &mut dyn Observer,
    ) -> Result<(), Diagnostic> {
        let span = model.sys.relations[i].origin.span.unwrap_or(Span::NONE);
        let text = model.sys.relations[i].text.clone();
        if let Some(d) = zeno_error(self.options.zeno, at, &text, span) {
            return Err(d);
        }
        if self.options.zeno == Zeno::Stop {
            self.report.terminated = Some(format!("events of {text} accumulate at time {at:?}"));
            return Ok(());
        }
        // At rest: what the impacts reset is zero, and stays so until it would leave.
        let held: Vec<usize> =
            program.states.iter().enumerate().filter(|(_, s)| reinitialized.contains(&s.0)).map(|(k, _)| k).collect();
        for &k in &held {
            model.machine.values[program.states[k].0 as usize] = 0.0;
        }
        self.say(
            observer,
            &format!("events of {text} accumulate at time {at:?}: at rest from there on"),
            span,
            &format!("zeno {i}"),
        );
        self.resting = Some(Resting { relation: i, held });
        self.held_relations = vec![i];
        Ok(())
    }

    /// A body at rest leaves when the free motion would carry it away from where the impacts push.
    fn leaves_rest(&mut self, model: &mut Model, program: &ModeProgram, t: f64) -> bool {
        let Some(r) = &self.resting else { return false };
        let i = r.relation;
        let held = r.held.clone();
        let x: Vec<f64> = program.states.iter().map(|s| model.machine.values[s.0 as usize]).collect();
        // Let the held states follow their free derivatives for an instant and see where g goes.
        let values = model.machine.values.clone();
        let mut rhs = Rhs {
            machine: &mut model.machine,
            delays: &model.delays,
            program,
            sliding: None,
            resting: None,
            trouble: None,
        };
        let mut dx = vec![0.0; x.len()];
        let mut leaves = false;
        if rhs.evaluate(t, &x, &mut dx).is_ok() {
            let h = 1e-4 * self.span().min(1.0);
            let mut moved = x.clone();
            for &k in &held {
                moved[k] += h * dx[k];
            }
            let mut d2 = vec![0.0; x.len()];
            if rhs.evaluate(t, &moved, &mut d2).is_ok()
                && let Ok((_, rate)) = rhs.rate(i, t, &moved, &d2)
            {
                let op = match &rhs.machine.relations[i].kind {
                    RelationKind::Sign(op) => *op,
                    RelationKind::Floor => RelOp::Lt,
                };
                // Events fire when the relation becomes true: leaving means moving the other way.
                let toward = if matches!(op, RelOp::Lt | RelOp::Le) { -rate } else { rate };
                leaves = toward < -1e-9;
            }
        }
        model.machine.values = values;
        if leaves {
            self.resting = None;
            self.held_relations.clear();
        }
        leaves
    }

    fn say(&mut self, observer: &mut dyn Observer, text: &str, span: Span, key: &str) {
        if self.warned.insert(key.to_string()) {
            observer.message(text, span);
        }
    }

    fn warnings(&mut self, model: &mut Model, observer: &mut dyn Observer) {
        for w in model.machine.host.warnings() {
            self.say(observer, &w.message, w.span, &w.message);
        }
    }

    fn check_assertions(&mut self, model: &mut Model, t: f64, observer: &mut dyn Observer) -> Result<(), Diagnostic> {
        for k in 0..model.assertions.len() {
            let (b, s) = model.assertions[k].clone();
            model.machine.batch(&b);
            if model.machine.values[s as usize] != 0.0 {
                continue;
            }
            let index = model.sys.assertions[k].1;
            let a = model.sys.dae.assertions[index].clone();
            let text = model.message(&a.message);
            let span = a.origin.span.unwrap_or(Span::NONE);
            if a.error {
                return Err(Diagnostic::error(Stage::Run, span, format!("assertion failed at time {t:?}: {text}"))
                    .within(a.origin.instance));
            }
            self.say(observer, &format!("at time {t:?}: {text}"), span, &format!("assert {k}"));
        }
        model.machine.host.error = None;
        Ok(())
    }

    fn record_delays(&mut self, model: &mut Model, t: f64) {
        for k in 0..model.delays.len() {
            let (v, d) = (model.delays[k].value.clone(), model.delays[k].delay.clone());
            model.machine.batch(&v);
            model.machine.batch(&d);
            let line = &mut model.delays[k];
            line.reach = line.reach.max(model.machine.values[line.delay_slot as usize]);
            line.history.push_back((t, model.machine.values[line.value_slot as usize]));
            while line.history.len() > 2 && line.history[1].0 < t - line.reach * 2.0 - 1e-12 {
                line.history.pop_front();
            }
        }
    }

    fn step_failed(&self, model: &Model, program: &ModeProgram, e: StepError, trouble: Option<Trouble>) -> Diagnostic {
        let state =
            e.component().and_then(|k| program.plan.states.get(k)).map(|c| saltus_structure::cell_name(&model.sys, *c));
        let t = match e {
            StepError::TooSmall { t, .. } => t,
            _ => model.machine.values[model.machine.time as usize],
        };
        if let Some(trouble) = trouble {
            let mut d = model.explain(&trouble, Stage::Run, t, "the run failed");
            d = d.hint(e.to_string());
            return d;
        }
        let who = state.map_or(String::new(), |s| format!(", worst at {s}"));
        Diagnostic::error(Stage::Run, Span::NONE, format!("the integrator cannot go on at time {t:?}{who}: {e}")).hint(
            "a singularity of the solution, a discontinuity hidden in a function, or a tolerance that is too tight",
        )
    }
}

/// Whether samples of σ(g - offset) leave the side, or come near zero between places.
fn suspicious(places: &[f64], samples: &[f64], offset: f64, sigma: f64, band: f64) -> bool {
    let v: Vec<f64> = samples.iter().map(|g| sigma * (g - offset)).collect();
    if v.iter().any(|x| !(*x >= -band)) {
        return true;
    }
    let big = v.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    if big <= band {
        return false;
    }
    // The interpolating polynomial, looked at between the places: a dip towards zero is worth a search.
    let interpolate = |s: f64| -> f64 {
        let mut sum = 0.0;
        for (i, &a) in places.iter().enumerate() {
            let mut w = v[i];
            for (j, &b) in places.iter().enumerate() {
                if i != j {
                    w *= (s - b) / (a - b);
                }
            }
            sum += w;
        }
        sum
    };
    let mut low = f64::INFINITY;
    let mut at = 0.0;
    for k in 0..=60 {
        let s = k as f64 / 60.0;
        let y = interpolate(s);
        if y < low {
            low = y;
            at = s;
        }
    }
    // An end value near zero is no dip: it is the last event's, or the next step's business.
    let ends = v[0].min(v[v.len() - 1]);
    at > 0.0 && at < 1.0 && low < 0.02 * big && low < ends - 1e-3 * big.min(ends.abs() + 1e-300)
}
