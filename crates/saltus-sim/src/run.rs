//! The run loop: integrate, find the events of the step, write, handle, go on.

use crate::api::{EventKind, EventRecord, Observer, RunOptions, RunReport, Zeno, chosen, found};
use crate::block::SolveBlock;
use crate::choice::{Choice, SOLVERS};
use crate::compile::Step;
use crate::course::Course as Trail;
use crate::crossings::{positive_side, side_value};
use crate::events::{became, brief};
use crate::fold;
use crate::forward::Forward;
use crate::instants::Instants;
use crate::junction::{Course, MOST_BLENDED, Whirl};
use crate::location::{Location, SearchedStep, off_course, sway, valued};
use crate::machine::{Trouble, plain};
use crate::model::{ModeProgram, Model};
use crate::pace::Pace;
use crate::resting::{Impact, Resting, ZenoWatch};
use crate::resume::Recalled;
use crate::rhs::{Rhs, place};
use crate::sliding::{Fate, Meeting, Parting, Sliding, Surface, first_positive};
use crate::switching::{Accumulation, End, Switch, Switching};
use crate::transport::{Line, Mark};
use crate::winding::Turns;
use saltus_base::{Diagnostic, Span, Stage};
use saltus_dae::{HybridDae, VarId, VarType, Variability};
use saltus_results::{Column, Kind, Sink};
use saltus_solver::ode::{
    FIXED_STEP, Integrator, Multistep, OdeSystem, Options, Restart, Spectrum, StepError, make_integrator, spectrum,
};
use saltus_solver::roots::bracket::sign_change;
use saltus_structure::{Cell, RelationKind};
use std::rc::Rc;

/// Steps are not longer than this part of the run, unless `--max-step` says so.
const LEAST_STEPS: f64 = 50.0;
/// While sliding or at rest, so many instants of the run at least are looked at for the end of it.
const LOOKS: f64 = 1000.0;

/// Where a result column comes from.
enum Source {
    /// Slot and sign, and the variable that must be active.
    Slot(u32, f64, Option<VarId>),
    Const(f64),
}

/// Parts of a step at whose ends delays and distributions take note of what travels; at most so many where it moves much faster
/// than the states.
const TRANSPORTED: usize = 5;
const MOST_TRANSPORTED: usize = TRANSPORTED << 10;

/// Where in a step it is checked that this was enough; away from the places of [`TRANSPORTED`] and its multiples.
const BETWEEN: [f64; 3] = [0.8731, 0.4637, 0.1129];

/// The absolute tolerance of a state of nominal value 1, as a part of the relative one: many states are well below 1 and no
/// model says so (magnetic fluxes, fluid levels, currents of signals).
const SMALL_STATES: f64 = 0.01;

/// So many error weights at most are taken for errors of the integration where states are moved onto surfaces.
const MOST_ERRORS: f64 = 100.0;

/// Switches whose boundaries are apart by this part of their size at most are slid between.
const BAND: f64 = 1e-3;

/// In how many parts of the run at least functions are looked at that one-step methods follow from end to end.
const FOLLOWED: f64 = 1000.0;

/// With so many states at most it is always looked at whether the solution has wound into a surface, else only after turns that
/// shrink.
const FEW_STATES: usize = 50;

/// How often one step is taken again.
const MOST_RETAKES: usize = 4;

/// How often a step is taken again to end where a function crosses that amplifies errors.
const MOST_APPROACHES: usize = 12;

/// How often in a row steps are taken again and end without the event that they were to end at: the crossing recedes.
const MOST_VAIN: usize = 2;

/// How often the robust methods may fail before a step that asks for them is cut without them.
const PATIENCE: u32 = 16;

/// Events at one instant, or so close together that time does not advance, before the run gives up.
const MAX_STANDSTILL: usize = 2000;

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
    let mut choice = Choice::new(solver, start).ok_or_else(|| unknown_solver(solver))?;
    choice.tolerance = tolerance;
    model.machine.tolerance = tolerance;
    let mut forward = None;
    if !options.sensitivity.is_empty() {
        choice = Choice::for_sensitivities(solver, start).ok_or_else(|| {
            let text = format!("not supported yet: sensitivities with the solver {solver}");
            Diagnostic::error(Stage::Usage, Span::NONE, text).hint("they are carried along by bdf")
        })?;
        let mut f = Forward::new(model, &options.sensitivity)?;
        f.start(model, start)?;
        forward = Some(f);
    }
    model.implicit = choice.implicit();
    let program = model.initialize(start)?;
    let (chosen, open) = (model.chosen_values(), model.open_values());
    model.hold_objects();
    model.start_tickers(start)?;
    model.machine.instants = Instants::new(stop - start, &model.tickers);
    model.resting.clear();
    let mut r = Runner {
        options,
        start,
        stop,
        tolerance,
        intervals,
        choice,
        next_output: 0,
        sources: Vec::new(),
        forward,
        derived: Vec::new(),
        row: Vec::new(),
        point: Vec::new(),
        active: Vec::new(),
        report: RunReport { chosen, open, index: program.plan.index, ..RunReport::default() },
        sliding: None,
        zeno: ZenoWatch::default(),
        impacts: Vec::new(),
        whirl: Whirl::default(),
        switching: Switching::default(),
        turns: Default::default(),
        warned: Default::default(),
        location: Location::default(),
        flips: Default::default(),
        leaps: (f64::NEG_INFINITY, 0),
        rescued: None,
        arrived: Vec::new(),
        failing: (f64::NEG_INFINITY, 0),
        folded: false,
        causal: false,
        extent: Vec::new(),
        extents: Default::default(),
        blamed: None,
        coarse: false,
        standstill: (start, 0),
        crowd: (start, 0),
        vain: 0,
        off: false,
        last: Vec::new(),
        due: None,
        pace: None,
        record: None,
        words: Vec::new(),
    };
    // The instant of touching has no derivative.
    r.location.only_crossings = r.forward.is_some();
    r.columns(model, sink, observer)?;
    let outcome = r.go(model, program, sink, observer);
    r.tell(observer);
    match outcome {
        // What was being searched for at an event was given up.
        Err(_) if observer.cancelled() && model.machine.stop.is_some() => {
            r.report.cancelled = true;
            r.report.end = model.machine.values[model.machine.time as usize];
            sink.finish().map_err(io)?;
            Ok(r.report)
        }
        other => other,
    }
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
    forward: Option<Forward>,
    /// The column that each column of sensitivities is a derivative of.
    derived: Vec<usize>,
    row: Vec<f64>,
    /// States between the ends of a step.
    point: Vec<f64>,
    active: Vec<bool>,
    report: RunReport,
    sliding: Option<Sliding>,
    zeno: ZenoWatch,
    /// Impacts of the present instant: relation, the sign of its function outside, time.
    impacts: Vec<(usize, f64, f64)>,
    whirl: Whirl,
    switching: Switching,
    /// Crossings of functions whose rates no side turns round, by one of the relations.
    turns: rustc_hash::FxHashMap<usize, Turns>,
    warned: rustc_hash::FxHashSet<String>,
    location: Location,
    /// The recent events of each relation.
    flips: rustc_hash::FxHashMap<usize, Flips>,
    /// When a mode first had to be left because it had no solution, and how often since.
    leaps: (f64, u32),
    /// Where the last event was reached for want of a step.
    rescued: Option<f64>,
    /// The relations that may have been switched where no step led on, and their values before.
    arrived: Vec<(usize, f64)>,
    /// Where steps last began to fail, and how often they failed near there.
    failing: (f64, usize),
    /// A branch of solutions has ended at the event just handled.
    folded: bool,
    /// The implicit form has failed since the last event (a loop that is singular, and solved all the same): the causal one
    /// serves.
    causal: bool,
    /// Largest value of each state of the mode so far.
    extent: Vec<f64>,
    /// The same of the states of earlier modes.
    extents: rustc_hash::FxHashMap<Cell, f64>,
    /// Where a step last failed by what could not be evaluated.
    blamed: Option<(f64, Trouble)>,
    /// Something that is delayed is not smooth between events.
    coarse: bool,
    /// Since when time stands still, and for how many events.
    standstill: (f64, usize),
    /// When the events that follow each other closely began, and how many they are.
    crowd: (f64, usize),
    /// How many steps in a row were taken again in vain.
    vain: usize,
    /// Dense output is off the equations where the present event was found.
    off: bool,
    /// Relations that changed exactly at the end of the run.
    last: Vec<usize>,
    /// Next time events: one that steps must end at, one that they may pass over. Known until the next event.
    due: Option<(f64, f64)>,
    /// The wall clock, if it is kept up with.
    pace: Option<Pace>,
    /// The event that is being handled, for the log, and what else is to be said of it.
    record: Option<EventRecord>,
    words: Vec<String>,
}

/// Events of a relation in quick succession.
#[derive(Clone, Copy)]
struct Flips {
    /// The last one.
    last: f64,
    /// How many there were.
    count: usize,
    /// How far the function went between the latest of them.
    far: f64,
}

impl Default for Flips {
    fn default() -> Flips {
        Flips { last: f64::NEG_INFINITY, count: 0, far: 0.0 }
    }
}

/// What an event means to the loop.
struct After {
    program: Rc<ModeProgram>,
    /// How the integrator must start anew, if at all.
    restart: Option<Restart>,
    /// Slots of discrete values that changed.
    changed: Vec<u32>,
}

/// What a crossing function may be wrong by if the states are wrong by `errors`.
fn noise(model: &mut Model, program: &ModeProgram, i: usize, t: f64, x: &[f64], errors: &[f64]) -> f64 {
    model.aside(|model| sway(model, program, i, t, x, errors).max(model.machine.band(i)))
}

/// By how much a function that is held at zero, where it is `g`, has to move to be gone.
fn out_of_reach(model: &Model, relation: usize, g: f64) -> f64 {
    1e-6 * model.machine.relations[relation].size.max(1e-6) + 100.0 * g.abs()
}

/// Whether a function goes away from the side that its bit excludes, by the present derivatives of the states.
fn recedes(model: &mut Model, program: &ModeProgram, relation: usize) -> bool {
    let Some(&k) = program.crossings.by_relation.get(&relation) else { return false };
    let Some(gradient) = program.crossings.functions[k].gradient.as_ref().filter(|g| g.affine) else { return false };
    let m = &mut model.machine;
    let (kind, bit) = (m.relations[relation].kind.clone(), m.values[m.relations[relation].var as usize]);
    let side = if positive_side(&kind, bit) { 1.0 } else { -1.0 };
    matches!(kind, RelationKind::Sign(_)) && side * gradient.rate(m, program) > 0.0
}

/// An unknown of a block that lies on another branch than where the last step ended, with its value there.
fn hopped(trail: &Trail, values: &[f64], program: &ModeProgram) -> Option<(u32, f64)> {
    trail.hopped(values, |slot| typical(program, slot))
}

/// The typical size of an unknown.
fn typical(program: &ModeProgram, slot: u32) -> f64 {
    let blocks = program.continuous.iter().filter_map(|s| if let Step::Solve(b) = s { Some(b) } else { None });
    let place = |b: &Rc<SolveBlock>| Some(b.nominal[b.unknowns.iter().position(|u| *u == slot)?]);
    blocks.filter_map(place).next().unwrap_or(1.0).abs()
}

/// Fails if one of these relations compares what is not a number, and its value matters.
fn defined(model: &mut Model, relations: &[usize], t: f64, stage: Stage) -> Result<(), Diagnostic> {
    for &i in relations {
        model.machine.crossing_values(&[i], &mut [0.0]);
        if !valued(&model.machine, i) && model.matters(i) {
            let r = &model.sys.relations[i];
            let text = format!("at time {t:?}: {} has no value, what it reads is not a number", brief(&r.text));
            return Err(Diagnostic::error(stage, r.origin.span.unwrap_or(Span::NONE), text)
                .within(r.origin.instance.clone())
                .hint("look for a division by zero, a square root or logarithm of a negative number"));
        }
    }
    model.machine.host.error = None;
    Ok(())
}

/// Whether no evaluation has vouched for a step yet: there are no states, or loops that their derivatives do not read may be
/// singular.
fn unvouched(model: &Model, program: &ModeProgram) -> bool {
    let loops = |steps: &[Step]| steps.iter().filter(|s| matches!(s, Step::Solve(_) | Step::Mixed(_))).count();
    let apart = || loops(&program.derivatives) < loops(&program.between);
    program.states.is_empty() || (!model.modes.suspects(&program.plan.key).is_empty() && apart())
}

fn unknown_solver(name: &str) -> Diagnostic {
    Diagnostic::error(Stage::Usage, Span::NONE, format!("unknown solver {name}"))
        .hint(format!("known: {}", SOLVERS.join(", ")))
}

fn io(e: std::io::Error) -> Diagnostic {
    Diagnostic::error(Stage::Run, Span::NONE, format!("results cannot be written: {e}"))
}

/// The first assertion of level error that does not hold, by their present values.
fn failing(model: &Model) -> Option<usize> {
    model
        .assertion_slots
        .iter()
        .zip(&model.sys.assertions)
        .position(|(&s, (_, index))| model.machine.values[s as usize] == 0.0 && model.sys.dae.assertions[*index].error)
}

/// Switches accumulate, and nothing says what follows: which ones, what they change, and what can be done.
fn nowhere(model: &Model, relations: &[usize], slots: &[u32], at: f64, why: &str) -> Diagnostic {
    let mut places: Vec<(Span, &str)> = Vec::new();
    for r in relations.iter().map(|&i| &model.sys.relations[i]) {
        if !places.iter().any(|p| p.1 == r.text) {
            places.push((r.origin.span.unwrap_or(Span::NONE), &r.text));
        }
    }
    let (names, declared) = model.named_slots(slots);
    let what = match places.is_empty() {
        true => String::new(),
        false => format!(" of {}", places.iter().take(4).map(|p| p.1).collect::<Vec<_>>().join(", ")),
    };
    let who = if names.is_empty() { "modes switch".to_string() } else { format!("{} switches", names.join(", ")) };
    let text = format!("infinitely many events{what} accumulate at time {at:?}: {who} in turn, ever faster, {why}");
    let place = places.first().map_or(declared, |p| p.0);
    let mut d = Diagnostic::error(Stage::Run, place, text);
    for (span, text) in places.iter().skip(1).take(3).filter(|p| p.0 != place) {
        d = d.label(*span, format!("and {text}"));
    }
    d.hint(
        "the model lacks a mode for what holds from there on; --zeno stop ends the run there as if that were its end",
    )
}

/// Relations that have switched, those of the same surface together.
fn surfaces_of(
    model: &mut Model,
    program: &ModeProgram,
    mut switched: Vec<(usize, f64, f64)>,
    t: f64,
) -> Vec<Vec<(usize, f64, f64)>> {
    switched.retain(|s| matches!(model.machine.relations[s.0].kind, RelationKind::Sign(_)));
    let mut groups = Vec::new();
    while let Some(&lead) = switched.first() {
        let alike = |s: &(usize, f64, f64)| s.0 == lead.0 || model.same_surface(program, lead.0, s.0, t);
        let (group, rest): (Vec<_>, Vec<_>) = switched.into_iter().partition(alike);
        groups.push(group);
        switched = rest;
    }
    groups
}

impl Runner<'_> {
    fn span(&self) -> f64 {
        (self.stop - self.start).max(1e-300)
    }

    fn columns(
        &mut self,
        model: &mut Model,
        sink: &mut dyn Sink,
        observer: &mut dyn Observer,
    ) -> Result<(), Diagnostic> {
        let mut columns: Vec<Column> = Vec::new();
        let mut moving = Vec::new();
        let fixed = model.fixed_values();
        for i in 0..model.sys.dae.vars.len() {
            let v = VarId::new(i);
            let var = &model.sys.dae.vars[v];
            // Of the parameters, those of the model itself: they are few, and their values may come from a computation. Others,
            // and constants, if they are asked for by name.
            let inner = var.variability <= Variability::Parameter
                && (var.variability == Variability::Constant || var.name.contains('.'))
                && !self.options.variables.contains(&var.name);
            if HybridDae::is_builtin(v) || inner || self.options.leaves_out(var) {
                continue;
            }
            let kind = match var.ty {
                VarType::Real => Kind::Real,
                VarType::Integer => Kind::Integer,
                VarType::Boolean => Kind::Boolean,
                VarType::Enumeration(_) => Kind::Enumeration,
                VarType::String | VarType::Object => continue,
            };
            if !chosen(&self.options.variables, &var.name) {
                continue;
            }
            if kind == Kind::Real && var.variability > Variability::Parameter {
                moving.push(columns.len());
            }
            columns.push(
                Column::new(var.name.clone(), kind).with_unit(var.unit.as_str()).with_description(&*var.description),
            );
            let fixed = fixed.get(&v).copied();
            let source = match fixed.map_or_else(|| model.locate(v), Err) {
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
            if let (Source::Const(c), Some(column)) = (&source, columns.last_mut()) {
                column.constant = Some(*c);
            }
            self.sources.push(source);
        }
        model.layout.extend(&mut model.machine.values);
        // Derivatives of everything that moves, parameter by parameter.
        for name in self.forward.iter().flat_map(Forward::names) {
            for &k in &moving {
                let of = columns[k].name.clone();
                let text = format!("sensitivity of {of} to {name}");
                columns.push(Column::new(format!("der({of}, {name})"), Kind::Real).with_description(text));
                self.derived.push(k);
            }
        }
        found(&self.options.variables, &columns, observer)?;
        self.row = vec![0.0; columns.len()];
        self.active = vec![true; columns.len()];
        sink.begin(&columns).map_err(io)
    }

    fn write(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        t: f64,
        sink: &mut dyn Sink,
    ) -> Result<(), Diagnostic> {
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
        if let Some(forward) = &self.forward {
            let (first, count) = (self.sources.len(), self.derived.len() / forward.names().count());
            let slot = |&k: &usize| match self.sources[k] {
                Source::Slot(s, sign, _) => Some((s, sign)),
                Source::Const(_) => None,
            };
            let slots: Vec<Option<(u32, f64)>> = self.derived[..count].iter().map(slot).collect();
            forward.row(model, program, &slots, &mut self.row[first..])?;
            for (k, &of) in self.derived.iter().enumerate() {
                self.active[first + k] = self.active[of];
            }
        }
        sink.row(t, &self.row, (!all).then_some(&self.active[..])).map_err(io)
    }

    /// The absolute tolerance of a state of this nominal value.
    fn absolute(&self, nominal: f64) -> f64 {
        // Small states deserve digits too; quanta near zero would be tiny.
        let default = if self.choice.name() == "qss" { self.tolerance } else { SMALL_STATES * self.tolerance };
        self.options.absolute.unwrap_or(default) * nominal.clamp(1e-12, 1e3)
    }

    fn integrator_options(&self, program: &ModeProgram) -> Options {
        let n = program.states.len();
        let mut o = Options::new(n, self.tolerance, self.absolute(1.0));
        for (a, m) in o.atol.iter_mut().zip(&program.nominal) {
            *a = self.absolute(*m);
        }
        o.h_init = self.options.initial_step;
        // A step that has nothing to go by must not pass over what begins and ends within it.
        o.h_max = self.options.max_step.unwrap_or(self.span() / LEAST_STEPS);
        o.h_min = self.options.min_step.unwrap_or(0.0).max(self.resolution());
        if n == 0 {
            o.h_max = o.h_max.min(self.span() / self.intervals.max(200) as f64);
        }
        if let Some(k) = self.options.max_order {
            o.max_order = k;
        }
        o.linear = self.options.linear;
        if self.options.keep_bounds {
            o.bounds = program.bounds.clone();
        }
        o
    }

    /// The integrator in force for this program.
    fn integrator(&mut self, program: &ModeProgram) -> Result<Box<dyn Integrator>, Diagnostic> {
        let (mut o, name) = (self.integrator_options(program), self.choice.name());
        if self.options.doubling && ["ab2", "ab3", "ab4", "milne"].contains(&name) {
            let text = format!("{name} has no error estimate: it needs a step (--step H)");
            return Err(Diagnostic::error(Stage::Usage, Span::NONE, text));
        }
        if FIXED_STEP.contains(&name) && !self.options.doubling {
            o.fixed_step = Some(self.options.step.unwrap_or(self.span() / self.intervals as f64));
        } else if let Some(h) = self.options.step {
            o.h_max = o.h_max.min(h);
        }
        let n = program.states.len();
        if let Some(forward) = &self.forward {
            let bdf = Multistep::bdf(n, o).with_sensitivities(&forward.sizes());
            return Ok(Box::new(if self.options.sensitivity_error { bdf.testing_sensitivities() } else { bdf }));
        }
        make_integrator(name, n, o).ok_or_else(|| unknown_solver(name))
    }

    fn resolution(&self) -> f64 {
        self.options.time_resolution.unwrap_or(0.0)
    }

    /// How far from a time event a crossing may be that its errors do not tell apart from it.
    fn together(&self) -> f64 {
        self.options.time_resolution.unwrap_or(self.tolerance.max(1e-9) * self.span())
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
        let mut x = std::mem::take(&mut self.point);
        x.resize(program.states.len(), 0.0);
        integrator.interpolate(t, &mut x);
        if let Some(forward) = &mut self.forward {
            forward.follow(integrator, t);
        }
        let done = self.evaluate_steps(model, program, &program.between, t, &x);
        self.point = x;
        done
    }

    fn evaluate(&mut self, model: &mut Model, program: &ModeProgram, t: f64, x: &[f64]) -> Result<(), Trouble> {
        self.evaluate_steps(model, program, &program.continuous, t, x)
    }

    /// Evaluates everything by these steps: all of them, or those that move between events.
    fn evaluate_steps(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        steps: &[Step],
        t: f64,
        x: &[f64],
    ) -> Result<(), Trouble> {
        if let Some(sliding) = &mut self.sliding {
            let mut dx = vec![0.0; x.len()];
            let mut values = Vec::new();
            model.know_rests(program);
            let mut rhs = Rhs::held(&mut model.machine, program, &model.resting);
            let done = sliding.field(&mut rhs, t, x, &mut dx, Some(&mut values));
            let trouble = rhs.trouble.take();
            return match (done, trouble) {
                (Ok(()), _) => {
                    model.machine.values = values;
                    Ok(())
                }
                (Err(_), Some(e)) => Err(e),
                (Err(_), None) => Err(Trouble::NotFinite(Vec::new())),
            };
        }
        place(&mut model.machine, program, t, x);
        match model.machine.run(steps) {
            Err(Trouble::Unsolved { .. }) if !model.machine.patient => {
                // The branch followed so far may have ended (a fold): look for another solution.
                model.machine.patient = true;
                place(&mut model.machine, program, t, x);
                let found = model.machine.run(steps);
                model.machine.patient = false;
                found
            }
            other => other,
        }
    }

    /// Everything that happens before time goes on: what fails here fails at the start.
    fn first_instant(
        &mut self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        observer: &mut dyn Observer,
    ) -> Result<Rc<ModeProgram>, Diagnostic> {
        let t = self.start;
        model.machine.values[model.machine.time as usize] = t;
        let ended = model.initial_actions(t, observer)?;
        self.terminated(&ended);
        // Everything is evaluated once more with initial() over.
        let first = model.handle_event(program, &[], &[], EventKind::Initial, observer)?;
        observer.event(&first.record);
        self.terminated(&first.terminated);
        self.warnings(model, observer);
        self.parameters_within(model, observer);
        self.check_assertions(model, t, observer)?;
        let relations: Vec<usize> = model.timed.iter().copied().chain(first.program.crossings.relations()).collect();
        defined(model, &relations, t, Stage::Initialization)?;
        Ok(first.program)
    }

    fn go(
        &mut self,
        model: &mut Model,
        mut program: Rc<ModeProgram>,
        sink: &mut dyn Sink,
        observer: &mut dyn Observer,
    ) -> Result<RunReport, Diagnostic> {
        let t = self.start;
        let recalled = model.recall(&model.sys.dae.left);
        recalled.held().for_each(|i| model.machine.relations[i].frozen = true);
        let first = self.first_instant(model, &program, observer);
        recalled.held().for_each(|i| model.machine.relations[i].frozen = false);
        program = first.map_err(|mut d| {
            d.stage = d.stage.min(Stage::Initialization);
            d
        })?;
        self.take_up(model, &program, &recalled);
        self.location.choose(model.chosen(&program));
        model.write_lines(t, true)?;
        if let Some(forward) = &mut self.forward {
            forward.begin(&program);
        }
        if let Some(bad) = self.without_rate(model, &program, t) {
            return Err(model.explain(&bad, Stage::Initialization, t, "initialization failed"));
        }
        self.write(model, &program, t, sink)?;
        self.next_output = 1;
        self.pace = self.options.realtime.filter(|s| *s > 0.0).map(|scale| Pace::new(t, scale));
        let mut x: Vec<f64> = program.states.iter().map(|s| model.machine.values[s.0 as usize]).collect();
        if self.choice.is_auto() {
            let found = self.spectrum(model, &program, t, &x);
            self.choice.begin(&program, self.span(), found);
        }
        let mut integrator = self.integrator(&program)?;
        let mut restart = Some(Restart::Cold);
        let mut now = t;
        while self.report.terminated.is_none() && now < self.stop {
            if observer.cancelled() {
                self.report.cancelled = true;
                break;
            }
            let (hard, soft) = self.due(model, &program, now);
            let deadline = self.sliding.as_ref().and_then(Sliding::deadline).unwrap_or(f64::INFINITY);
            if deadline <= now {
                let after = self.beyond(model, &program, now, sink, observer)?;
                self.follow(after, &mut program, &mut integrator, &mut restart)?;
                continue;
            }
            if hard.min(soft) <= now + model.machine.instants.close(now).max(self.resolution()) {
                model.machine.values[model.machine.time as usize] = now;
                if self.sliding.is_none()
                    && let Some(new) = model.unnoticed_now()
                {
                    self.take_over(model, &program, &[], &new, now)?;
                    continue;
                }
                let after = self.event(model, &program, &[], EventKind::Time, now, sink, observer, false)?;
                self.follow(after, &mut program, &mut integrator, &mut restart)?;
                continue;
            }
            if std::mem::take(&mut self.folded)
                && let Some((at, after)) = self.elsewhere(model, &program, &*integrator, now, sink, observer)?
            {
                now = at;
                self.follow(after, &mut program, &mut integrator, &mut restart)?;
                restart = Some(Restart::Cold);
                continue;
            }
            if restart.is_none() && self.choice.laboured(self.report.steps + integrator.stats().steps) {
                x.clear();
                x.extend_from_slice(integrator.x());
                let _ = self.evaluate(model, &program, integrator.t(), &x);
                restart = Some(Restart::Cold);
            }
            let restarts = restart.is_some();
            if let Some(kind) = restart.take() {
                self.location.restarted();
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
                if let Some(forward) = &self.forward {
                    integrator.set_sensitivities(&forward.states());
                }
            }
            let tstop = self.stop.min(hard).min(deadline).min(now + self.longest(model, &*integrator));
            let m = &mut model.machine;
            if restarts || !m.course.follows(&program.iterated) {
                m.course.begin(now, &program.iterated, &m.values);
            }
            model.machine.patience = model.machine.patient.then_some((PATIENCE, None));
            let mut rhs = self.rhs(model, &program);
            let outcome = integrator.step(&mut rhs, tstop);
            let trouble = rhs.trouble.take();
            let m = &mut model.machine;
            m.patience = None;
            if outcome.is_ok() {
                m.course.may_end(integrator.t(), &m.values);
            } else {
                m.course.cut(integrator.t());
            }
            if outcome.is_err() && !self.causal && program.implicit.is_some() && integrator.name() == "dae" {
                self.causal = true;
                restart = Some(Restart::Cold);
                x.clear();
                x.extend_from_slice(integrator.x());
                let course = model.machine.course.clone();
                if let Some(hop) = self.hops(model, &program, &course, integrator.t(), &x) {
                    let d = self.solution_ends(model, &program, integrator.t(), hop);
                    self.stops(d, observer)?;
                }
                let _ = self.evaluate(model, &program, integrator.t(), &x);
                continue;
            }
            if let Err(e) = outcome {
                let (here, course) = (integrator.t(), model.machine.course.clone());
                if self.sliding.is_none() {
                    // What the present states determine may be about to become singular.
                    let last = integrator.x().to_vec();
                    let _ = self.evaluate(model, &program, here, &last);
                    if let Some(p) = model.other_states(&program, true)? {
                        self.exchange(model, &mut program, p, &mut integrator, &mut restart, observer)?;
                        continue;
                    }
                }
                let trouble = self.blame(trouble, here);
                if let Some((at, after)) = self.elsewhere(model, &program, &*integrator, here, sink, observer)? {
                    now = at;
                    self.follow(after, &mut program, &mut integrator, &mut restart)?;
                    restart = Some(Restart::Cold);
                    continue;
                }
                if matches!(trouble, Some(Trouble::Unsolved { .. }))
                    && let Some(hop) = self.hops(model, &program, &course, here, integrator.x())
                {
                    let d = self.solution_ends(model, &program, here, hop);
                    self.stops(d, observer)?;
                }
                if matches!(trouble, Some(Trouble::Unsolved { .. })) && !model.machine.patient && !self.crawls(here) {
                    // Once more with the slow, robust methods.
                    model.machine.patient = true;
                    restart = Some(Restart::Cold);
                    continue;
                }
                if let Some(after) = self.rescue(model, &program, &*integrator, sink, observer)? {
                    now = integrator.t();
                    self.follow(after, &mut program, &mut integrator, &mut restart)?;
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
            let fold = self.branch_ends(model, &program, &*integrator, t0, t1);
            let fold = fold.and_then(|(t, slot, value)| {
                let d = self.solution_ends(model, &program, t, (slot, value));
                self.stops(d, observer).err().map(|d| (t, d))
            });
            let end = match &fold {
                Some((t, _)) => *t,
                None if self.sliding.is_none() && unvouched(model, &program) => {
                    self.solvable_until(model, &program, &*integrator, t0, t1)
                }
                None => t1,
            };
            now = self.through(model, &mut program, &mut integrator, t0, end, &mut restart, sink, observer)?;
            if end < t1 && now >= end && restart.is_none() {
                if let Some((at, after)) = self.elsewhere(model, &program, &*integrator, end, sink, observer)? {
                    now = at;
                    self.follow(after, &mut program, &mut integrator, &mut restart)?;
                    restart = Some(Restart::Cold);
                } else if let Some((t, d)) = fold {
                    self.evaluate_at(model, &program, &*integrator, t).ok();
                    self.write(model, &program, t, sink)?;
                    return Err(d);
                } else {
                    now = self.through(model, &mut program, &mut integrator, end, t1, &mut restart, sink, observer)?;
                }
            }
            if self.extent.len() != program.states.len() {
                self.extent = vec![0.0; program.states.len()];
            }
            self.extent.iter_mut().zip(integrator.x()).for_each(|(far, x)| *far = far.max(x.abs()));
            self.pace(now, observer);
            observer.progress(now);
            if restart.is_none()
                && self.report.terminated.is_none()
                && let Some(p) = model.reselect(&program)?
            {
                self.exchange(model, &mut program, p, &mut integrator, &mut restart, observer)?;
            }
        }
        self.tiny(model, &program, observer);
        // The end: terminal() is true there.
        if let Some(s) = &self.sliding {
            s.settle(model);
            s.freeze(model, true);
        }
        self.last.iter().for_each(|&i| model.machine.relations[i].frozen = true);
        let (surfaces, values) = (self.sliding.as_ref().map_or(&[][..], |s| &s.surfaces), model.machine.values.clone());
        model.leave(&program, surfaces);
        let last = model.handle_event(&program, &[], &[], EventKind::Terminal, observer)?;
        observer.event(&last.record);
        if !last.changed.is_empty() || !last.reinitialized.is_empty() {
            self.write(model, &last.program, now, sink)?;
        }
        // A run that goes on from here has not ended.
        model.restore(&values);
        self.fold(&*integrator);
        self.report.solver = self.choice.text();
        self.report.end = now;
        self.report.states = program.states.len();
        self.report.modes = model.programs.len();
        let parts = model.modes.parts.borrow();
        (self.report.parts_planned, self.report.parts_reused) = (parts.planned, parts.reused);
        drop(parts);
        (self.report.parts_compiled, self.report.parts_joined) = (model.compiled[0].count(), model.compiled[0].reused);
        sink.finish().map_err(io)?;
        Ok(self.report.clone())
    }

    /// Rests and slides on where an earlier run did.
    fn take_up(&mut self, model: &mut Model, program: &ModeProgram, recalled: &Recalled) {
        let (t, span) = (self.start, self.span());
        model.resting = model.resting_still(program, recalled, span);
        let surfaces: Vec<Surface> =
            recalled.slides.iter().filter_map(|g| model.prospect(program, g.clone(), t)).collect();
        if !surfaces.is_empty() {
            let mut sliding = Sliding::new(span);
            sliding.surfaces = surfaces;
            self.sliding = sliding.arrange(model, program, t).map(|()| sliding);
        }
        self.mask(model);
    }

    /// Goes on with other states of the same mode.
    fn exchange(
        &mut self,
        model: &mut Model,
        program: &mut Rc<ModeProgram>,
        with: Rc<ModeProgram>,
        integrator: &mut Box<dyn Integrator>,
        restart: &mut Option<Restart>,
        observer: &mut dyn Observer,
    ) -> Result<(), Diagnostic> {
        self.location.forget(&with, None);
        if let Some(forward) = &mut self.forward {
            forward.reselect(model, program, &with)?;
        }
        let carried = |r: &Resting| r.carried(program, &with);
        model.resting = model.resting.iter().filter_map(carried).collect();
        self.arrange(model, &with, model.machine.values[model.machine.time as usize], observer)?;
        *program = with;
        self.fold(&**integrator);
        *integrator = self.integrator(program)?;
        *restart = Some(Restart::Cold);
        Ok(())
    }

    /// Goes through an accepted step from event to event; ends at its end or where the integrator must start anew.
    fn through(
        &mut self,
        model: &mut Model,
        program: &mut Rc<ModeProgram>,
        integrator: &mut Box<dyn Integrator>,
        t0: f64,
        t1: f64,
        restart: &mut Option<Restart>,
        sink: &mut dyn Sink,
        observer: &mut dyn Observer,
    ) -> Result<f64, Diagnostic> {
        let p = program.clone();
        let (mut from, mut t1, mut retakes) = (t0, t1, 0);
        {
            let step = SearchedStep { program: &p, integrator: &**integrator, t0, t1 };
            let begun = std::time::Instant::now();
            self.location.whole_ends =
                self.sliding.is_none() && self.forward.is_none() && model.machine.host.lines.list.is_empty();
            self.location.search(model, &step);
            self.report.locating += begun.elapsed().as_secs_f64();
        }
        if !self.location.undefined.is_empty() && self.evaluate_at(model, &p, &**integrator, t0).is_ok() {
            defined(model, &self.location.undefined, t0, Stage::Run)?;
        }
        integrator.sharpen(self.location.amplified());
        loop {
            let step = SearchedStep { program: &p, integrator: &**integrator, t0, t1 };
            let span = self.span();
            let begun = std::time::Instant::now();
            if let Some(t) = self.location.wants_end(&step) {
                if from == t0 && retakes < MOST_APPROACHES && t > t0 && integrator.retake(&mut self.rhs(model, &p), t) {
                    (t1, retakes) = (integrator.t(), retakes + 1);
                    model.machine.course.cut(t1);
                    let step = SearchedStep { program: &p, integrator: &**integrator, t0, t1 };
                    self.location.search(model, &step);
                    self.report.locating += begun.elapsed().as_secs_f64();
                    continue;
                }
                self.location.settle(&SearchedStep { program: &p, integrator: &**integrator, t0, t1 });
            }
            let step = SearchedStep { program: &p, integrator: &**integrator, t0, t1 };
            let crossing = self.location.earliest(model, &step, from, span);
            self.report.locating += begun.elapsed().as_secs_f64();
            if let Some((t, fired)) = &crossing
                && from == t0
                && retakes < MOST_RETAKES
                // A step that ends where a function touches zero does not show that it goes back.
                && self.location.touching.is_empty()
                && self.strays(model, &p, &**integrator, *t, fired)
                && integrator.retake(&mut self.rhs(model, &p), *t)
            {
                (t1, retakes) = (integrator.t(), retakes + 1);
                model.machine.course.cut(t1);
                let step = SearchedStep { program: &p, integrator: &**integrator, t0, t1 };
                self.location.search(model, &step);
                continue;
            }
            let step = SearchedStep { program: &p, integrator: &**integrator, t0, t1 };
            let (hard, soft) = self.due(model, &p, from);
            let due = hard.min(soft).max(from);
            let mut end = crossing.as_ref().map_or(t1, |c| c.0);
            let mut fired = crossing.map(|c| c.1);
            // A step that ends a rounding error before a time event has reached it.
            let mut timed = due < end || (due <= end + model.machine.instants.close(end) && fired.is_none());
            if timed {
                end = due.min(self.stop);
                // Found again after the time event.
                if let Some(f) = fired.take() {
                    self.location.put_back(&step, &f);
                }
            }
            let close = self.together();
            let waits = !timed
                && self.sliding.is_none()
                && self.forward.is_none()
                && (end..=t1.min(end + close)).contains(&due);
            if waits
                && let Some(f) = &fired
                && self.location.waits(model, &step, f, due)
            {
                end = due;
                timed = true;
            }
            let arrived = self.arrival(model, &p, &**integrator, from, end);
            if let Some(t) = arrived.filter(|t| *t < end) {
                end = t;
                timed = true;
                if let Some(f) = fired.take() {
                    self.location.put_back(&step, &f);
                }
            }
            if let Some(t) = self.leaves(model, &p, &**integrator, from, end) {
                end = t;
                if let Some(t) = self.outputs(model, &p, &**integrator, end, true, sink, observer)?
                    && let Some(d) = self.sooner(model, &p, &**integrator, from, t, observer)
                {
                    return Err(d);
                }
                self.at_event(model, &p, &**integrator, from, end, false, observer)?;
                let after = self.leave(model, &p, end, sink, observer)?;
                self.follow(after, program, integrator, restart)?;
                return Ok(end);
            }
            timed |= arrived == Some(end);
            if timed && arrived.is_none() && self.sliding.is_none() {
                let step = SearchedStep { program: &p, integrator: &**integrator, t0, t1 };
                let met = self.location.meeting(model, &step, end, close);
                if !met.is_empty() {
                    fired.get_or_insert_default().extend(met);
                }
            }
            if fired.is_none() && end >= self.stop {
                fired = self.at_the_end(model, &p, &**integrator, from, end);
            }
            let unnoticed = if arrived.is_some() {
                None
            } else {
                self.unnoticed(model, &p, &**integrator, fired.as_deref(), timed, end)
            };
            let noticed = unnoticed.is_none() && (fired.is_some() || timed);
            self.transport(model, &p, &**integrator, from, end, observer)
                .map_err(|e| model.explain(&e, Stage::Run, end, "the run failed"))?;
            match self.outputs(model, &p, &**integrator, end, noticed, sink, observer) {
                Ok(None) => {}
                Ok(Some(t)) => {
                    if let Some(d) = self.sooner(model, &p, &**integrator, from, t, observer) {
                        return Err(d);
                    }
                }
                Err(d) => {
                    let at = self.output_time(self.next_output);
                    return self.step_back(model, program, integrator, (from, at), restart, observer)?.ok_or(d);
                }
            }
            if self.report.terminated.is_some() {
                return Ok(self.output_time(self.next_output - 1));
            }
            // What was seen of the end of the step holds if nothing has happened on the way.
            let quiet = fired.is_none() && !timed && from == t0;
            let known = if quiet { self.location.take_end(model, end) } else { None };
            self.report.locating -= known.unwrap_or(0.0);
            if let Err(d) = self.at_event(model, &p, &**integrator, from, end, known.is_some(), observer) {
                if let Some(t) = self.step_back(model, program, integrator, (from, end), restart, observer)? {
                    return Ok(t);
                }
                return Err(self.sooner(model, &p, &**integrator, from, end, observer).unwrap_or(d));
            }
            if fired.is_none() && !timed {
                if retakes > 0 {
                    self.vain += 1;
                    integrator.grow_from_here();
                } else {
                    self.vain = 0;
                }
                return Ok(t1);
            }
            if let Some(new) = unnoticed {
                let fired = fired.unwrap_or_default();
                self.take_over(model, &p, &fired, &new, end)?;
                from = end;
                let step = SearchedStep { program: &p, integrator: &**integrator, t0, t1 };
                let changed: Vec<u32> = new.iter().map(|n| n.0).collect();
                self.location.again(model, &step, from, &fired, &changed);
                continue;
            }
            self.vain = 0;
            let kind = if timed { EventKind::Time } else { EventKind::State };
            let fired = fired.unwrap_or_default();
            let state = |s: &(u32, u32)| (model.machine.values[s.0 as usize], model.machine.values[s.1 as usize]);
            let (x, dx): (Vec<f64>, Vec<f64>) = p.states.iter().map(state).unzip();
            self.off = !fired.is_empty() && off_course(&**integrator, end, &x, &dx, 0..x.len());
            let after = self.event(model, &p, &fired, kind, end, sink, observer, true)?;
            self.off = false;
            if after.restart.is_some() || self.report.terminated.is_some() {
                self.follow(after, program, integrator, restart)?;
                return Ok(end);
            }
            from = end;
            let step = SearchedStep { program: &p, integrator: &**integrator, t0, t1 };
            let begun = std::time::Instant::now();
            self.location.again(model, &step, from, &fired, &after.changed);
            self.report.locating += begun.elapsed().as_secs_f64();
            if observer.cancelled() {
                *restart = Some(Restart::Hot);
                return Ok(end);
            }
        }
    }

    /// Relations that come to have other values exactly at the end of the run, within the errors of the integration. They have
    /// them from here on.
    fn at_the_end(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        integrator: &dyn Integrator,
        from: f64,
        end: f64,
    ) -> Option<Vec<usize>> {
        let functions = &program.crossings.functions;
        let relations: Vec<usize> = functions.iter().map(|f| f.relation).collect();
        let dt = 1e-3 * (end - from);
        if relations.is_empty() || !(dt > 0.0) || self.sliding.is_some() {
            return None;
        }
        let (mut before, mut g) = (vec![0.0; relations.len()], vec![0.0; relations.len()]);
        for (t, g) in [(end - dt, &mut before), (end, &mut g)] {
            self.evaluate_at(model, program, integrator, t).ok()?;
            model.machine.crossing_values(&relations, g);
        }
        let step = SearchedStep { program, integrator, t0: from, t1: end };
        let close = self.together();
        let reach = |k: &usize| self.location.comes_to(model, &step, *k, end, (before[*k], g[*k], dt), close);
        let found: Vec<usize> = (0..relations.len()).filter(reach).map(|k| relations[k]).collect();
        self.location.touching.extend(&found);
        self.last.clone_from(&found);
        (!found.is_empty()).then_some(found)
    }

    /// Where the equations cannot be solved at a place `at` of an accepted step, what the states determine may have become
    /// singular on the way: back to the last row since `from`, and on with other states. That time, if there are others.
    fn step_back(
        &mut self,
        model: &mut Model,
        program: &mut Rc<ModeProgram>,
        integrator: &mut Box<dyn Integrator>,
        (from, at): (f64, f64),
        restart: &mut Option<Restart>,
        observer: &mut dyn Observer,
    ) -> Result<Option<f64>, Diagnostic> {
        let unsolved = matches!(self.evaluate_at(model, program, &**integrator, at), Err(Trouble::Unsolved { .. }));
        if !unsolved || self.sliding.is_some() || !model.machine.host.lines.list.is_empty() {
            return Ok(None);
        }
        let back = from.max(self.output_time(self.next_output - 1));
        if self.evaluate_at(model, program, &**integrator, back).is_err() {
            return Ok(None);
        }
        let Some(other) = model.other_states(program, true)? else { return Ok(None) };
        self.exchange(model, program, other, integrator, restart, observer)?;
        Ok(Some(back))
    }

    /// The new values of inner relations, if nothing else happens at `t` and no condition changes with them.
    fn unnoticed(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        integrator: &dyn Integrator,
        fired: Option<&[usize]>,
        timed: bool,
        t: f64,
    ) -> Option<Vec<(u32, f64)>> {
        if self.sliding.is_some() {
            return None;
        }
        if timed {
            model.machine.values[model.machine.time as usize] = t;
            return model.unnoticed_now();
        }
        let fired = fired.filter(|f| f.iter().all(|&i| model.is_inner(i)))?;
        self.evaluate_at(model, program, integrator, t).ok()?;
        model.unnoticed(fired)
    }

    /// Inner relations have new values, and nothing else has happened.
    fn take_over(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        fired: &[usize],
        new: &[(u32, f64)],
        t: f64,
    ) -> Result<(), Diagnostic> {
        self.due = None;
        self.stands_still(model, fired, t)?;
        for &(slot, value) in new {
            model.machine.values[slot as usize] = value;
            if let Some(&previous) = model.machine.previous.get(&slot) {
                model.machine.values[previous as usize] = value;
            }
        }
        let changed: Vec<u32> = new.iter().map(|n| n.0).collect();
        self.location.forget(program, Some(&changed));
        for &i in fired {
            self.flip(model, program, i, t);
        }
        Ok(())
    }

    /// Whether the dense output at a crossing is far from a solution: its slope is not what the states there demand. Stiff
    /// components swing between the ends of a step; what follows an event in their midst would swing back at once. Or, of what
    /// is smaller than the errors (a ball that hardly rebounds), the function goes away from zero there by the equations.
    fn strays(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        integrator: &dyn Integrator,
        t: f64,
        fired: &[usize],
    ) -> bool {
        let (begin, end, n) = (integrator.t_prev(), integrator.t(), program.states.len());
        if !(begin < t && t < end) || n == 0 || !integrator.retakes() || self.forward.is_some() {
            return false;
        }
        let (mut x, mut f) = (vec![0.0; n], vec![0.0; n]);
        integrator.interpolate(t, &mut x);
        if self.rhs(model, program).rhs(t, &x, &mut f).is_err() {
            return false;
        }
        self.report.evaluations += 1;
        (self.vain < MOST_VAIN && off_course(integrator, t, &x, &f, 0..n))
            || fired.iter().any(|&i| recedes(model, program, i))
    }

    /// What a step failed by; if it does not tell, what the one before failed by near here. Equations without a solution are to
    /// blame for what is then no number.
    fn blame(&mut self, trouble: Option<Trouble>, t: f64) -> Option<Trouble> {
        let unsolved = matches!(self.blamed, Some((_, Trouble::Unsolved { .. })));
        match trouble.filter(|e| !(unsolved && matches!(e, Trouble::NotFinite(_)))) {
            Some(e) => self.blamed = Some((t, e)),
            None => self.blamed.take_if(|b| t - b.0 > 1e-6 * self.stop.max(-self.start)).map_or((), drop),
        }
        self.blamed.as_ref().map(|b| b.1.clone())
    }

    /// Whether steps have failed so often near here that nothing is gained by trying once more.
    fn crawls(&mut self, t: f64) -> bool {
        let (from, count) = self.failing;
        self.failing = if t - from < 1e-9 * self.span() { (from, count + 1) } else { (t, 0) };
        self.failing.1 > 100
    }

    /// No step leads on from here. If a function is at zero within the errors of the integration and on its way, its event
    /// has been reached: a tank that runs empty by √h never gets below zero.
    fn rescue(
        &mut self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        integrator: &dyn Integrator,
        sink: &mut dyn Sink,
        observer: &mut dyn Observer,
    ) -> Result<Option<After>, Diagnostic> {
        let (t, x) = (integrator.t(), integrator.x().to_vec());
        if self.rescued.is_some_and(|last| t <= last) || self.evaluate(model, program, t, &x).is_err() {
            return Ok(None);
        }
        self.rescued = Some(t);
        let fired = self.location.arriving(model, program, integrator);
        if fired.is_empty() {
            return Ok(None);
        }
        // They have their new values, whatever the last digits say.
        for &(i, g) in &fired {
            let r = &mut model.machine.relations[i];
            let slot = r.var as usize;
            self.arrived.push((i, model.machine.values[slot]));
            (r.frozen, model.machine.values[slot]) = (true, 1.0 - model.machine.values[slot]);
            self.words.push(became(&model.sys.relations[i].text, &r.kind, model.machine.values[slot]));
            self.location.released.insert(i, 4.0 * g.abs());
        }
        let after = self.event(model, program, &[], EventKind::State, t, sink, observer, true);
        for &(i, _) in &fired {
            model.machine.relations[i].frozen = false;
        }
        after.map(|a| Some(After { restart: Some(Restart::Cold), ..a }))
    }

    /// Values at an event or at the end of a step; what must hold there is checked.
    fn at_event(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        integrator: &dyn Integrator,
        from: f64,
        t: f64,
        evaluated: bool,
        observer: &mut dyn Observer,
    ) -> Result<(), Diagnostic> {
        self.pace(t, observer);
        self.tried(model, observer);
        if !evaluated && let Err(e) = self.evaluate_at(model, program, integrator, t) {
            return Err(model
                .structural_explanation(program)
                .unwrap_or_else(|| model.explain(&e, Stage::Run, t, "the run failed")));
        }
        model.write_lines(t, false)?;
        if self.doubted(model, program, integrator, from, t, observer) {
            let _ = self.evaluate_at(model, program, integrator, t);
        }
        // Computed anew at the end of a step, unknowns lie on another branch only if theirs ends there.
        if model.machine.course.ends_at(t)
            && let Some(hop) = hopped(&model.machine.course, &model.machine.values, program)
            && self.folds_before(model, program, integrator, t)
        {
            let d = self.solution_ends(model, program, t, hop);
            self.stops(d, observer)?;
        }
        let m = &mut model.machine;
        m.course.end(t, &m.values);
        self.check_assertions(model, t, observer)?;
        self.warnings(model, observer);
        Ok(())
    }

    /// Warns of assertions of level warning that do not hold at `to` for the first time, as of when they ceased to after
    /// `from`. Whether there were any; the values are then others.
    fn doubted(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        integrator: &dyn Integrator,
        from: f64,
        to: f64,
        observer: &mut dyn Observer,
    ) -> bool {
        model.machine.chain(&model.assertions);
        let new = |k: &usize| {
            model.machine.values[model.assertion_slots[*k] as usize] == 0.0
                && !model.sys.dae.assertions[model.sys.assertions[*k].1].error
                && !self.warned.contains(&format!("assert {k}"))
        };
        let doubted: Vec<usize> = (0..model.assertion_slots.len()).filter(new).collect();
        for &k in &doubted {
            let holds = |model: &Model| model.machine.values[model.assertion_slots[k] as usize] != 0.0;
            let at = self.ceases(model, program, integrator, (from, to), holds).unwrap_or(to);
            if self.evaluate_at(model, program, integrator, at).is_ok() {
                self.warn_of(model, k, at, observer);
            }
        }
        !doubted.is_empty()
    }

    /// Where in (from, to] something that does not hold at its end ceases to, by the values of assertions; `None` if it does not
    /// hold at the beginning either.
    fn ceases(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        integrator: &dyn Integrator,
        (from, to): (f64, f64),
        holds: impl Fn(&Model) -> bool,
    ) -> Option<f64> {
        let mut holds = |t: f64| {
            let known = self.evaluate_at(model, program, integrator, t).is_ok();
            model.machine.chain(&model.assertions);
            if known && holds(model) { 1.0 } else { -1.0 }
        };
        (holds(from) > 0.0).then(|| sign_change(&mut holds, from, 1.0, to, -1.0, 0.0).1)
    }

    /// Tells once that an assertion of level warning does not hold now.
    fn warn_of(&mut self, model: &mut Model, k: usize, t: f64, observer: &mut dyn Observer) {
        let a = model.sys.dae.assertions[model.sys.assertions[k].1].clone();
        let text = format!("at time {t:?}: {}", model.message(&a.message));
        self.say(observer, &text, a.origin.span.unwrap_or(Span::NONE), &format!("assert {k}"));
    }

    /// An assertion fails at `to`: the same failure where it first happens after `from`.
    fn sooner(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        integrator: &dyn Integrator,
        from: f64,
        to: f64,
        observer: &mut dyn Observer,
    ) -> Option<Diagnostic> {
        let t = self.ceases(model, program, integrator, (from, to), |model| failing(model).is_none())?;
        self.pace(t, observer);
        self.evaluate_at(model, program, integrator, t).ok()?;
        if self.doubted(model, program, integrator, from, t, observer) {
            self.evaluate_at(model, program, integrator, t).ok()?;
        }
        self.check_assertions(model, t, observer).err()
    }

    /// Takes over what an event led to.
    fn follow(
        &mut self,
        after: After,
        program: &mut Rc<ModeProgram>,
        integrator: &mut Box<dyn Integrator>,
        restart: &mut Option<Restart>,
    ) -> Result<(), Diagnostic> {
        if !Rc::ptr_eq(&after.program, program) {
            for (cell, far) in program.plan.states.iter().zip(std::mem::take(&mut self.extent)) {
                let most = self.extents.entry(*cell).or_default();
                *most = most.max(far);
            }
            self.location.forget(&after.program, None);
            *program = after.program;
            self.fold(&**integrator);
            *integrator = self.integrator(program)?;
        }
        *restart = match (after.restart, *restart) {
            (Some(Restart::Cold), _) | (_, Some(Restart::Cold)) => Some(Restart::Cold),
            (Some(kind), _) => Some(kind),
            (None, kind) => kind,
        };
        Ok(())
    }

    /// Where in a step the branch of solutions ends that it began on, and of which unknown that was seen.
    fn branch_ends(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        integrator: &dyn Integrator,
        t0: f64,
        t1: f64,
    ) -> Option<(f64, u32, f64)> {
        if self.sliding.is_some() || program.iterated.is_empty() {
            return None;
        }
        if !model.machine.course.ends_at(t1) {
            self.evaluate_at(model, program, integrator, t1).ok()?;
            let m = &mut model.machine;
            m.course.end(t1, &m.values);
        }
        if !model.machine.course.leaps(t1, |slot| typical(program, slot)) {
            return None;
        }
        self.fold_within(model, program, integrator, t0, t1)
    }

    /// Whether unknowns that are others than where a step was said to end, at `t`, have left a branch of solutions that ends. They may also
    /// have been left with what the integrator had not solved for: a kink within the step, what small differences of states move far.
    fn folds_before(&mut self, model: &mut Model, program: &ModeProgram, integrator: &dyn Integrator, t: f64) -> bool {
        let t0 = integrator.t_prev();
        // A step of no length has nothing on its way, and steps end there.
        if self.sliding.is_some() || !(t - t0 > 16.0 * f64::EPSILON * t.abs()) {
            return true;
        }
        let course = model.machine.course.clone();
        model.machine.course.cut(t0);
        let found = self.fold_within(model, program, integrator, t0, t).is_some();
        model.machine.course = course;
        found
    }

    /// Where in (t0, t1] the branch of solutions ends that the unknowns are on at t0, and of which of them that was seen.
    fn fold_within(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        integrator: &dyn Integrator,
        t0: f64,
        t1: f64,
    ) -> Option<(f64, u32, f64)> {
        // Whatever solutions the search comes upon, the run stays on its own.
        let kept = (model.machine.values.clone(), model.machine.course.clone());
        let mut at = |t: f64, keep: bool| {
            let course = (!keep).then(|| model.machine.course.clone());
            let m = &mut model.machine;
            m.course.take_back(&mut m.values);
            let found = self.evaluate_at(model, program, integrator, t);
            let m = &mut model.machine;
            match course {
                Some(course) => m.course = course,
                None => m.course.end(t, &m.values),
            }
            found.ok().map(|()| program.iterated.iter().map(|&s| m.values[s as usize]).collect())
        };
        let found = fold::find(&mut at, t0, t1);
        let found = found.and_then(|(t, k)| Some((t, program.iterated[k], at(t, false)?[k])));
        (model.machine.values, model.machine.course) = kept;
        model.machine.host.error = None;
        found
    }

    /// No step leads on from `t`: whether that is because the branch of solutions ends, and what solves the equations robustly is
    /// elsewhere. An unknown of which that was seen, with its value at the end.
    fn hops(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        trail: &Trail,
        t: f64,
        x: &[f64],
    ) -> Option<(u32, f64)> {
        if self.sliding.is_some() || !trail.ends_at(t) {
            return None;
        }
        let kept = model.machine.values.clone();
        trail.take_back(&mut model.machine.values);
        model.machine.course = trail.clone();
        let patient = std::mem::replace(&mut model.machine.patient, true);
        let found = self.evaluate(model, program, t, x);
        model.machine.patient = patient;
        let hop = found.ok().and_then(|()| hopped(trail, &model.machine.values, program));
        model.restore(&kept);
        model.machine.host.error = None;
        hop
    }

    /// Why a run cannot go on from `t`: the branch of solutions has come to its end.
    fn solution_ends(&self, model: &Model, program: &ModeProgram, t: f64, (slot, value): (u32, f64)) -> Diagnostic {
        let blocks = program.continuous.iter().filter_map(|s| match s {
            Step::Solve(b) => Some(b),
            _ => None,
        });
        let block = blocks.into_iter().find(|b| b.unknowns.contains(&slot));
        let Some((b, k)) = block.and_then(|b| Some((b, b.unknowns.iter().position(|u| *u == slot)?))) else {
            return Diagnostic::error(Stage::Run, Span::NONE, format!("the solution ends at time {t:?}"));
        };
        let name = saltus_structure::cell_name(&model.sys, b.cells[k]);
        let (text, place, instance) = model.equation(b.sources[k].0, b.sources[k].1);
        let words = format!("the solution ends at time {t:?}: beyond, nothing near {name} = {value:.6} solves {text}");
        let mut d = Diagnostic::error(Stage::Run, place, words).within(instance);
        for &(equation, level) in b.sources.iter().filter(|s| **s != b.sources[k]).take(4) {
            d = d.hint(format!("together with {}", model.equation(equation, level).0));
        }
        d.hint("two branches of solutions meet here and end")
    }

    /// At the end of a branch of solutions: tells it, and goes on with another solution, unless the run shall stop there.
    fn stops(&mut self, d: Diagnostic, observer: &mut dyn Observer) -> Result<(), Diagnostic> {
        if self.options.stop_at_folds {
            return Err(d);
        }
        let text = format!("{}; the run goes on with another solution (--fold error ends it)", d.message);
        self.say(observer, &text, d.span, &format!("fold {:?}", d.span));
        Ok(())
    }

    /// The last moment of a step at which the locked mode has a solution.
    fn solvable_until(
        &self,
        model: &mut Model,
        program: &ModeProgram,
        integrator: &dyn Integrator,
        t0: f64,
        t1: f64,
    ) -> f64 {
        let kept = model.machine.values.clone();
        let mut x = vec![0.0; program.states.len()];
        let mut solvable = |t: f64| {
            integrator.interpolate(t, &mut x);
            place(&mut model.machine, program, t, &x);
            model.machine.run(&program.continuous).is_ok()
        };
        let (mut good, mut bad) = if solvable(t1) { (t1, t1) } else { (t0, t1) };
        while bad - good > 1e-12 * (t1 - t0) && good < 0.5 * (good + bad) && 0.5 * (good + bad) < bad {
            let t = 0.5 * (good + bad);
            *(if solvable(t) { &mut good } else { &mut bad }) = t;
        }
        model.machine.values = kept;
        good
    }

    /// The locked mode cannot go on: a block has no solution just ahead, or a function meets the edge of its domain. If
    /// another mode can, the event that leads there, a moment from now.
    fn elsewhere(
        &mut self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        integrator: &dyn Integrator,
        now: f64,
        sink: &mut dyn Sink,
        observer: &mut dyn Observer,
    ) -> Result<Option<(f64, After)>, Diagnostic> {
        if now > self.leaps.0 + 1e-6 * self.span() {
            self.leaps = (now, 0);
        }
        self.leaps.1 += 1;
        if self.sliding.is_some() || self.leaps.1 > 50 {
            return Ok(None);
        }
        let mut x = vec![0.0; program.states.len()];
        integrator.interpolate(now, &mut x);
        // Near enough, the equations of the mode may hold within the tolerance of their solution still.
        for part in [1e-10, 1e-8, 1e-6] {
            let ahead = now + (part * self.span()).max(1e-12 * now.abs());
            if ahead >= self.stop {
                break;
            }
            place(&mut model.machine, program, ahead, &x);
            let here = model.machine.values.clone();
            model.machine.stranded = true;
            let found = model.handle_event(program, &[], &[], EventKind::State, observer);
            model.restore(&here);
            let found = found.is_ok_and(|h| !h.changed.is_empty() || !Rc::ptr_eq(&h.program, program));
            if found {
                let bit = |i: usize| (i, model.machine.values[model.machine.relations[i].var as usize]);
                self.arrived = program.crossings.relations().map(bit).collect();
            }
            let after = found
                .then(|| self.event(model, program, &[], EventKind::State, ahead, sink, observer, true))
                .transpose();
            model.machine.stranded = false;
            if let Some(after) = after? {
                return Ok(Some((ahead, after)));
            }
        }
        Ok(None)
    }

    /// How long a step may be, so that what travels has been taken note of where it is read, and functions that one-step methods follow from
    /// end to end are seen often enough: error tests of stiff methods say nothing about what drives them in between.
    fn longest(&self, model: &Model, integrator: &dyn Integrator) -> f64 {
        let followed = self.location.amplified() && integrator.one_step();
        let most = if followed { self.span() / FOLLOWED } else { f64::INFINITY };
        let lines = model.machine.host.lines.list.iter();
        lines.map(|l| l.longest(&model.machine.values).max(1e-5 * self.span())).fold(most, f64::min)
    }

    /// Next time events, seen from `now`: functions may have been evaluated at later times since.
    fn due(&mut self, model: &mut Model, program: &ModeProgram, now: f64) -> (f64, f64) {
        *self.due.get_or_insert_with(|| {
            let time = model.machine.time as usize;
            let later = std::mem::replace(&mut model.machine.values[time], now);
            let due = model.next_time_events(&program.sensitivity);
            model.machine.values[time] = later;
            due
        })
    }

    /// Says which states have stayed below what the absolute tolerance lets them be wrong by, and have no nominal value.
    fn tiny(&mut self, model: &Model, program: &ModeProgram, observer: &mut dyn Observer) {
        let o = self.integrator_options(program);
        for (k, far) in self.extent.clone().into_iter().enumerate().take(program.states.len()) {
            let far = self.extents.get(&program.plan.states[k]).map_or(far, |most| far.max(*most));
            let v = program.plan.states[k].var;
            let var = &model.sys.dae.vars[v];
            if far > 1e-12 && far < 10.0 * o.atol[k] && var.nominal.is_none() && program.plan.states[k].order == 0 {
                let text = format!(
                    "{} stays below {far:.1e}, the absolute tolerance is {:.1e}: give it a nominal value of its size, or \
                     --absolute",
                    var.name, o.atol[k]
                );
                self.say(observer, &text, var.origin.span.unwrap_or(Span::NONE), &text);
            }
        }
    }

    /// Waits for the wall clock, so that nothing is told before its time; tells once if it is not kept up with.
    fn pace(&mut self, t: f64, observer: &mut dyn Observer) {
        let Some(pace) = &self.pace else { return };
        self.report.late = pace.wait(t, || observer.cancelled());
        if let Some(late) = self.report.late {
            let text = format!("the run does not keep up with the clock: at time {t:?} it is {late:.1} s behind");
            self.say(observer, &text, Span::NONE, "late");
        }
    }

    /// Takes note of what has happened at this instant.
    fn note(&mut self, record: EventRecord) {
        match &mut self.record {
            Some(event) => event.join(record),
            None => self.record = Some(record),
        }
    }

    /// Tells the event that has been handled, if it has not been told.
    fn tell(&mut self, observer: &mut dyn Observer) {
        let words = std::mem::take(&mut self.words);
        if let Some(mut event) = self.record.take() {
            event.fired.extend(words);
            observer.event(&event);
        }
    }

    /// The relations of bodies at rest, and those of surfaces that are slid on.
    fn stays(&self, model: &Model) -> [Vec<usize>; 2] {
        let surfaces = self.sliding.iter().flat_map(|s| &s.surfaces);
        [model.resting.iter().map(|r| r.relation).collect(), surfaces.map(|s| s.relations[0].0).collect()]
    }

    /// Says what has come to rest or to slide since, and what no longer does.
    fn note_stays(&mut self, model: &Model, before: &[Vec<usize>; 2]) {
        let words = [["comes to rest", "leaves rest"], ["enters the surface", "leaves the surface"]];
        for ((before, after), [enters, leaves]) in before.iter().zip(self.stays(model)).zip(words) {
            let word = |i: &usize, what: &str| format!("{} {what}", brief(&model.sys.relations[*i].text));
            self.words.extend(after.iter().filter(|i| !before.contains(i)).map(|i| word(i, enters)));
            self.words.extend(before.iter().filter(|i| !after.contains(i)).map(|i| word(i, leaves)));
        }
    }

    /// Takes note of states that have moved since they had these values.
    fn note_moved(&mut self, model: &Model, program: &ModeProgram, before: &[f64]) {
        let Some(record) = &mut self.record else { return };
        for (&(slot, _), &was) in program.states.iter().zip(before) {
            let now = model.machine.values[slot as usize];
            if now != was {
                record.change(model.slot_name(program, slot), was, now);
            }
        }
    }

    fn terminated(&mut self, message: &Option<String>) {
        if let Some(m) = message {
            self.report.terminated = Some(m.clone());
        }
    }

    fn rhs<'b>(&'b mut self, model: &'b mut Model, program: &'b ModeProgram) -> Rhs<'b> {
        model.know_rests(program);
        Rhs {
            machine: &mut model.machine,
            program,
            sliding: self.sliding.as_mut(),
            resting: &model.resting,
            forward: self.forward.as_ref(),
            causal: self.causal,
            trouble: None,
        }
    }

    /// Adds an integrator's counts to the report.
    fn fold(&mut self, i: &dyn Integrator) {
        let s = i.stats();
        self.report.steps += s.steps;
        self.report.evaluations += s.rhs_evals;
        self.report.searches = self.location.evaluations;
        self.report.enclosures = self.location.exclusion.count;
        self.report.looks = self.location.looks;
        self.report.jacobians += s.jac_evals;
        self.report.factorizations += s.lu_factorizations;
        self.report.krylov += s.krylov_iters;
        self.report.rejected += s.error_test_failures + s.conv_failures + s.eval_failures;
    }

    /// Rows on the output grid up to `end` (a row at `end` itself is left to the event). If an assertion fails on the way, the
    /// time of the row at which it does; that row is not written.
    fn outputs(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        i: &dyn Integrator,
        end: f64,
        event: bool,
        sink: &mut dyn Sink,
        observer: &mut dyn Observer,
    ) -> Result<Option<f64>, Diagnostic> {
        let close = 1e-11 * self.span();
        self.tried(model, observer);
        while self.next_output <= self.intervals && self.report.terminated.is_none() {
            let t = self.output_time(self.next_output);
            if t > end || (event && t > end - close) {
                if event && t <= end + close {
                    self.next_output += 1; // the event's own rows stand for it
                }
                break;
            }
            self.pace(t, observer);
            self.evaluate_at(model, program, i, t).map_err(|e| model.explain(&e, Stage::Run, t, "the run failed"))?;
            if let Some(bad) = model.not_finite(program) {
                return Err(model.explain(&bad, Stage::Run, t, "the run failed"));
            }
            model.machine.chain(&model.assertions);
            if failing(model).is_some() {
                return Ok(Some(t));
            }
            self.write(model, program, t, sink)?;
            self.warnings(model, observer);
            self.next_output += 1;
        }
        Ok(None)
    }

    /// When output k is due.
    fn output_time(&self, k: usize) -> f64 {
        if k == self.intervals {
            return self.stop;
        }
        self.start + k as f64 * (self.stop - self.start) / self.intervals as f64
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
    ) -> Result<After, Diagnostic> {
        self.pace(t, observer);
        if before_row {
            self.write(model, program, t, sink)?;
        }
        let stays = self.stays(model);
        self.tried(model, observer);
        self.due = None;
        let arrived = model.arrive();
        self.causal = false;
        self.stands_still(model, fired, t)?;
        let remembered = if self.switching.attentive() { model.discrete_now() } else { Vec::new() };
        let bits: Vec<f64> =
            fired.iter().map(|&i| model.machine.values[model.machine.relations[i].var as usize]).collect();
        if let Some(s) = &self.sliding {
            s.settle(model);
            s.freeze(model, true);
        }
        let levels = self.levels(model);
        let pulled = self.pulled_back(model, program, fired);
        model.whole_events = self.forward.is_some() || arrived;
        model.whole_islands = self.sliding.is_some();
        let mut near = self.location.near(program, t, 1e-10 * self.span().max(t.abs()));
        near.retain(|i| !self.location.in_turn.contains(i));
        if fired.is_empty() && kind == EventKind::State {
            near.clear();
        }
        let jump = self.forward.as_ref().map(|f| f.before(model, program, fired, kind)).transpose()?;
        let (begun, modes) = (std::time::Instant::now(), model.programs.len());
        // What touches zero has the value of zero, whatever the last digits say.
        let touching: Vec<usize> = self.location.touching.iter().copied().filter(|i| fired.contains(i)).collect();
        touching.iter().for_each(|&i| model.machine.relations[i].frozen = true);
        // What rests is at zero within its errors, and stays so unless its support jumps away.
        let resting: Vec<usize> = model.resting.iter().map(|r| r.relation).collect();
        let held = levels.iter().filter(|l| resting.contains(&l.0));
        let came: Vec<(u32, f64)> = program.states.iter().map(|s| (s.0, model.machine.values[s.0 as usize])).collect();
        let floors: Vec<(usize, f64)> = held.map(|&(i, g)| (i, out_of_reach(model, i, g))).collect();
        let exchange = |model: &mut Model, floors: Vec<(usize, f64)>| -> Vec<(usize, f64)> {
            let put = |(i, f): (usize, f64)| (i, std::mem::replace(&mut model.machine.relations[i].floor, f));
            floors.into_iter().map(put).collect()
        };
        let floors = exchange(model, floors);
        // What follows need not continue what was.
        let course = std::mem::take(&mut model.machine.course);
        let handled = model.handle_event(program, fired, &near, kind, observer);
        exchange(model, floors);
        touching.iter().for_each(|&i| model.machine.relations[i].frozen = false);
        let took = begun.elapsed().as_secs_f64();
        if let Some(s) = &self.sliding {
            s.freeze(model, false);
        }
        let h = handled.map_err(|d| self.excluded(model, d))?;
        if let (Some(forward), Some(jump)) = (&mut self.forward, jump) {
            forward.after(model, &h.program, jump);
        }
        match h.record.kind {
            EventKind::Time => self.report.time_events += 1,
            EventKind::Mode => {
                self.report.mode_changes += 1;
                let new = model.programs.len() > modes;
                if new { &mut self.report.first_entries } else { &mut self.report.returns }.push(took);
            }
            _ => self.report.state_events += 1,
        }
        self.terminated(&h.terminated);
        self.note(h.record);
        for &i in &h.accumulated {
            if self.comes_to_rest(model, i, t, observer)? {
                self.words.push(format!("{} comes to rest", brief(&model.sys.relations[i].text)));
            }
        }
        let program_after = h.program.clone();
        let same = Rc::ptr_eq(&program_after, program) && !h.switched;
        self.location.forget(program, same.then_some(&h.changed[..]));
        self.location.choose(model.chosen(&program_after));
        if same && h.changed.is_empty() {
            model.machine.course = course;
        }
        let arrivals: Vec<(usize, f64, f64)> = self
            .arrived
            .drain(..)
            .map(|(i, bit)| (i, bit, model.machine.values[model.machine.relations[i].var as usize]))
            .filter(|s| s.1 != s.2 && h.memoryless)
            .collect();
        // The field holds surfaces and what rests: what their functions read moves it, too.
        let slides = self.sliding.iter().flat_map(|s| &s.surfaces).flat_map(|s| &s.relations).map(|r| r.0);
        let held: Vec<usize> = slides.chain(model.resting.iter().map(|r| r.relation)).collect();
        let holds = |s: &u32| {
            let functions = program.crossings.by_slot.get(s).into_iter().flatten();
            functions.map(|&k| program.crossings.functions[k].relation).any(|i| held.contains(&i))
        };
        let touches = |s: &u32| program.sensitivity.slots.contains(s) || holds(s);
        let critical = h.changed.iter().any(touches) || !arrivals.is_empty();
        let mut restart = if !same || !h.reinitialized.is_empty() {
            Some(Restart::Cold)
        } else if critical {
            Some(Restart::Warm)
        } else {
            None
        };
        if !same {
            self.carry_over(model, (program, &h.program), h.islands.as_ref());
        }
        if self.overruled(model) {
            restart = Some(Restart::Cold);
        }
        let (kicked, struck) = self.stirred(model, &program_after, t);
        if self.jumped_away(model, &program_after, &levels, &kicked, observer)? || arrived {
            restart = Some(Restart::Cold);
        }
        let switched: Vec<(usize, f64, f64)> = fired
            .iter()
            .zip(&bits)
            .map(|(&i, &b)| (i, b, model.machine.values[model.machine.relations[i].var as usize]))
            .filter(|s| s.1 != s.2 && !touching.contains(&s.0) && h.memoryless && critical)
            .filter(|s| !model.machine.holds_ahead.contains(&s.0))
            .collect();
        if h.memoryless {
            switched.iter().for_each(|s| self.whirl.note(s.0, s.1, s.2, t));
        } else {
            self.whirl.forget(|i| model.concerns(h.islands.as_ref(), i));
            self.turns.retain(|&i, _| !model.concerns(h.islands.as_ref(), i));
        }
        let apart =
            if restart.is_some() { self.set_apart(|i| model.concerns(h.islands.as_ref(), i)) } else { Vec::new() };
        let (wound, abandoned) = match restart {
            Some(_) => self.wound(model, &program_after, t, observer)?,
            None => (Vec::new(), false),
        };
        let mut switched = switched;
        switched.extend(&arrivals);
        let winds = restart.is_some() && self.winds(model, &program_after, &mut switched, t, observer);
        switched.retain(|s| !arrivals.contains(s));
        let met = match restart {
            Some(_) if winds => Some(true),
            Some(_) => self.meet(model, &program_after, &switched, &wound, t, observer)?,
            None => None,
        };
        let reviewed = match met {
            Some(changed) => changed,
            None => restart.is_some() && self.review(model, &program_after, t, observer)?,
        };
        self.rejoin(wound);
        self.rejoin(apart);
        let reviewed = reviewed || abandoned;
        if reviewed {
            restart = Some(Restart::Cold);
        }
        if restart.is_some() {
            self.location
                .released
                .extend(pulled.into_iter().filter(|p| !self.location.in_turn.contains(&p.0)).collect::<Vec<_>>());
        }
        let turning: Vec<usize> = self.turning(fired);
        for &i in fired.iter().filter(|i| !turning.contains(i)) {
            self.flip(model, &program_after, i, t);
        }
        let slides = met.is_none() && self.slide(model, &program_after, switched, t, observer);
        let lifted = restart.is_some() && !self.lift_off(model, &program_after, t, false).is_empty();
        if slides || lifted {
            restart = Some(Restart::Cold);
        }
        if !h.memoryless && h.reinitialized.is_empty() && h.terminated.is_none() {
            let fires = fired
                .iter()
                .zip(&bits)
                .map(|(&i, &b)| (i, b, model.machine.values[model.machine.relations[i].var as usize]));
            let fires: Vec<(usize, f64, f64)> = fires.filter(|f| f.1 != f.2).collect();
            let decisive = |s: &&u32| !same || program.sensitivity.slots.contains(s);
            let slots: Vec<u32> = h.changed.iter().filter(decisive).copied().collect();
            let timed = h.changed.iter().copied().filter(|_| kind == EventKind::Time).collect();
            let found = self.switches(model, program, (fires, slots, timed), remembered, t);
            if let Some(a) = found
                && self.switches_end(model, &program_after, &a, observer)?
            {
                restart = Some(Restart::Cold);
            }
        }
        if self.forward.is_some() && self.sliding.is_some() {
            let text = format!("not supported yet: sensitivities of a solution that slides, from time {t:?}");
            return Err(Diagnostic::error(Stage::Run, Span::NONE, text));
        }
        if restart.is_some() {
            self.arrange(model, &program_after, t, observer)?;
        }
        if !h.reinitialized.is_empty() {
            let turned = model.states_now(&program_after);
            let reset: Vec<(u32, f64)> = came.into_iter().filter(|c| h.reinitialized.contains(&c.0)).collect();
            for (&i, &bit) in fired.iter().zip(&bits) {
                let size = model.machine.relations[i].size.max(1e-6);
                let away = if positive_side(&model.machine.relations[i].kind, bit) { 1.0 } else { -1.0 };
                let Some(impact) = model.impact(&program_after, i, away, &reset, t) else { continue };
                let rebound = model.rebound(&program_after, &impact, t, self.span());
                let small = rebound.is_some_and(|(height, _)| height < 10.0 * self.tolerance * size);
                let accumulates = self.zeno.record(i, t, self.span(), small);
                let sticks = rebound.and_then(|r| self.sticks(model, &program_after, i, r, t));
                let previous = self.zeno.impact(impact.clone());
                self.impacts.push((i, away, t));
                // It has a new course, whatever was in doubt about the old one.
                self.location.released.remove(&i);
                model.machine.relations[i].floor = 0.0;
                if let Some(at) = accumulates.or(sticks) {
                    self.accumulate(model, &program_after, (&impact, previous.as_ref()), at, observer)?;
                    self.arrange(model, &program_after, t, observer)?;
                }
            }
            self.note_moved(model, &program_after, &turned);
        }
        self.note_stays(model, &stays);
        self.tell(observer);
        self.mask(model);
        model.write_lines(t, true)?;
        self.check_assertions(model, t, observer)?;
        self.warnings(model, observer);
        self.write(model, &program_after, t, sink)?;
        if restart.is_none() {
            let still = |(&i, &b): (&usize, &f64)| {
                (model.machine.values[model.machine.relations[i].var as usize] == b).then_some(i)
            };
            self.location.hesitate(fired.iter().zip(&bits).filter_map(still), t, self.span());
        }
        if struck.is_empty() {
            return Ok(After { program: program_after, restart, changed: h.changed });
        }
        // What rested is pushed into its support: an impact like any other.
        for &(i, away) in &struck {
            let r = &model.machine.relations[i];
            let bit = plain(&r.kind, away);
            model.machine.values[r.var as usize] = bit;
            if let Some(&p) = model.machine.previous.get(&r.var) {
                model.machine.values[p as usize] = bit;
            }
        }
        let struck: Vec<usize> = struck.iter().map(|s| s.0).collect();
        let mut after = self.event(model, &program_after, &struck, EventKind::State, t, sink, observer, false)?;
        after.changed.extend(h.changed);
        Ok(After { restart: Some(Restart::Cold), ..after })
    }

    /// Bodies at rest that an event has set in motion: the relations of all of them; and of those that move into their supports, with
    /// the sign of their functions outside. So do bodies that other impacts of the same instant have turned once more.
    fn stirred(&mut self, model: &mut Model, program: &ModeProgram, t: f64) -> (Vec<usize>, Vec<(usize, f64)>) {
        let (mut kicked, mut struck) = (Vec::new(), Vec::new());
        self.impacts.retain(|i| i.2 == t);
        if model.resting.is_empty() && self.impacts.is_empty() {
            return (kicked, struck);
        }
        let x = model.states_now(program);
        let errors = self.errors(program, &x);
        let lifts = self.lifts(model, program, t, &x);
        let rests: Vec<(usize, f64)> = model.resting.iter().map(|r| (r.relation, r.away)).collect();
        for (&side, lift) in rests.iter().zip(lifts) {
            let Some((rate, wrong)) = model.parting(program, side, t, &errors) else { continue };
            let height = 0.5 * rate * rate / lift.abs().max(1e-30);
            if rate.abs() <= wrong || height <= 2.0 * noise(model, program, side.0, t, &x, &errors) {
                continue;
            }
            kicked.push(side.0);
            if rate < 0.0 {
                struck.push(side);
            }
        }
        for &(i, away, _) in self.impacts.iter().filter(|i| !rests.iter().any(|r| r.0 == i.0)) {
            if model.parting(program, (i, away), t, &errors).is_some_and(|(rate, wrong)| rate < -wrong) {
                struck.push((i, away));
            }
        }
        (kicked, struck)
    }

    /// What the states may be wrong by.
    fn errors(&self, program: &ModeProgram, x: &[f64]) -> Vec<f64> {
        let o = self.integrator_options(program);
        x.iter().zip(&o.atol).map(|(v, a)| o.rtol * v.abs() + a).collect()
    }

    /// Those of some relations whose functions cross by turns that shrink: their values tell nothing of noise.
    fn turning(&self, of: &[usize]) -> Vec<usize> {
        let shrinks = |i: &&usize| self.turns.values().any(|t| t.of(**i) && t.shrinking());
        of.iter().filter(shrinks).copied().collect()
    }

    /// Notes an event of a relation. Quick events of a function whose values between them are below the errors of the
    /// integration are noise: the function counts as zero until it leaves that band.
    fn flip(&mut self, model: &mut Model, program: &ModeProgram, i: usize, t: f64) {
        let amplitude = self.location.take_amplitude(i);
        let mut f = self.flips.get(&i).copied().unwrap_or_default();
        f.count = if t - f.last < 1e-3 * self.span() { f.count + 1 } else { 0 };
        (f.last, f.far) = (t, f.far.max(amplitude.unwrap_or(0.0)));
        // A way there and a way back may differ much: the longest of some counts.
        if f.count.is_multiple_of(12) && !self.location.in_turn.contains(&i) {
            let a = std::mem::take(&mut f.far).max(model.machine.band(i));
            let size = model.machine.relations[i].size.max(1e-2);
            let error = if f.count > 0 { self.error_of(model, program, i, t) } else { 0.0 };
            if f.count > 0 && (a < 0.1 * self.tolerance * size || a < 0.01 * error) {
                self.location.released.insert(i, 10.0 * a);
            } else if f.count >= 24 && a < error {
                self.location.released.insert(i, 2.0 * a);
            }
        }
        self.flips.insert(i, f);
    }

    /// Relations whose functions have just crossed by dense output alone, and what their functions may be wrong by. Where the
    /// equations lead back at once, or states are off what they decay to in no time: within these errors it is no crossing when
    /// they do so after a restart.
    fn pulled_back(&self, model: &mut Model, program: &ModeProgram, fired: &[usize]) -> Vec<(usize, f64)> {
        if self.sliding.is_some() || program.states.is_empty() {
            return Vec::new();
        }
        let weight = |k: usize, x: f64| self.tolerance * x.abs() + self.absolute(program.nominal[k]);
        let mut pulled = Vec::new();
        for &i in fired {
            let (r, function) = (&model.machine.relations[i], program.crossings.by_relation.get(&i));
            let Some(&k) = function.filter(|_| matches!(r.kind, RelationKind::Sign(_))) else { continue };
            let side = if positive_side(&r.kind, model.machine.values[r.var as usize]) { 1.0 } else { -1.0 };
            let m = &mut model.machine;
            // Through equations that are solved, waiting could lead their branches beyond where they have solutions.
            let Some(gradient) = program.crossings.functions[k].gradient.as_ref().filter(|g| g.affine) else {
                continue;
            };
            let rate = gradient.rate(m, program);
            let value = |slot: u32| m.values[slot as usize];
            let error = |&(k, slot, _): &(usize, u32, f64)| value(slot).abs() * weight(k, value(program.states[k].0));
            let error = gradient.states.iter().map(error).sum();
            let mut g = [0.0];
            model.machine.crossing_values(&[i], &mut g);
            if (self.off || side * rate > 0.0) && g[0].abs() <= error {
                pulled.push((i, error));
            }
        }
        pulled
    }

    /// When a body comes back that has just been turned by an impact, if it does not go beyond the errors of the
    /// integration: the next impact could not be told from this one.
    fn sticks(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        i: usize,
        (height, duration): (f64, f64),
        t: f64,
    ) -> Option<f64> {
        let x = model.states_now(program);
        let noise = noise(model, program, i, t, &x, &self.errors(program, &x));
        let mut g = [0.0];
        model.machine.crossing_values(&[i], &mut g);
        (height < 2.0 * noise && g[0].abs() <= 2.0 * noise).then_some(t + duration)
    }

    /// How far a crossing function moves if the states move by what the integration may be wrong by.
    fn error_of(&self, model: &mut Model, program: &ModeProgram, i: usize, t: f64) -> f64 {
        let x = model.states_now(program);
        let errors: Vec<f64> = x.iter().map(|v| self.tolerance * v.abs()).collect();
        model.aside(|model| sway(model, program, i, t, &x, &errors))
    }

    /// Fails if events follow each other without time advancing.
    fn stands_still(&mut self, model: &Model, fired: &[usize], t: f64) -> Result<(), Diagnostic> {
        let size = self.span().max(t.abs());
        // Time may creep on as well, from event to event, without getting anywhere.
        self.crowd.1 += 1;
        if t - self.crowd.0 > 1e-8 * size {
            self.crowd = (t, 0);
        }
        if t - self.standstill.0 > 1e-12 * size && self.crowd.1 < MAX_STANDSTILL {
            self.standstill = (t, 0);
            return Ok(());
        }
        self.standstill.1 += 1;
        if self.standstill.1.max(self.crowd.1) < MAX_STANDSTILL {
            return Ok(());
        }
        if let Some(a) = self.switching.without_end(fired) {
            return Err(self.switches_nowhere(model, &a, "and come too close to each other to be told apart"));
        }
        let text: Vec<&str> = fired.iter().take(4).map(|&i| &*model.sys.relations[i].text).collect();
        let span = fired.first().and_then(|&i| model.sys.relations[i].origin.span).unwrap_or(Span::NONE);
        let what = if text.is_empty() { "time events".to_string() } else { text.join(", ") };
        Err(Diagnostic::error(
            Stage::Run,
            span,
            format!("the run does not get past time {t:?}: {MAX_STANDSTILL} events in a row, of {what}"),
        )
        .hint("a condition that switches itself off again needs pre() or hysteresis"))
    }

    /// Relations of surfaces and of bodies at rest are not searched for.
    fn mask(&mut self, model: &Model) {
        let sliding = self.sliding.iter().flat_map(|s| &s.surfaces).flat_map(Surface::held);
        self.location.masked = sliding.chain(model.resting.iter().map(|r| r.relation)).collect();
    }

    /// After a memoryless switch: if the fields of both sides point to the surface, the solution slides.
    fn slide(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        switched: Vec<(usize, f64, f64)>,
        t: f64,
        observer: &mut dyn Observer,
    ) -> bool {
        let mut began = false;
        for group in surfaces_of(model, program, switched, t) {
            let lead = group[0].0;
            let count = self.flips.get(&lead).map_or(0, |f| f.count);
            match model.surface(program, group, t, count >= 8) {
                Meeting::Slides(surface) => self.slides_on(model, surface, t, observer),
                Meeting::Folds => {
                    self.folded = true;
                    continue;
                }
                Meeting::Passes => continue,
            }
            began = true;
        }
        began
    }

    /// One more surface that the solution slides on.
    fn slides_on(&mut self, model: &mut Model, surface: Surface, t: f64, observer: &mut dyn Observer) {
        let (span, lead) = (self.span(), surface.relations[0].0);
        let r = &model.sys.relations[lead];
        let text = format!("sliding along the boundary of {} from time {t:?}", r.text);
        self.say(observer, &text, r.origin.span.unwrap_or(Span::NONE), &format!("slide {lead}"));
        for i in surface.held() {
            self.location.released.remove(&i);
            model.machine.relations[i].floor = 0.0;
        }
        self.sliding.get_or_insert_with(|| Sliding::new(span)).surfaces.push(surface);
    }

    /// The sides that sliding mixes, after they may have changed.
    fn arrange(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        t: f64,
        observer: &mut dyn Observer,
    ) -> Result<(), Diagnostic> {
        let Some(mut sliding) = self.sliding.take() else { return Ok(()) };
        self.onto(model, program, &sliding.surfaces, t);
        let arranged = sliding.arrange(model, program, t);
        if arranged.is_some() && !sliding.whole() {
            let text = "what three and more of the surfaces do together is left out";
            self.tell_of(model, &sliding.surfaces, text, t, observer);
        }
        let sliding = self.sliding.insert(sliding);
        arranged.ok_or_else(|| {
            let text =
                format!("at time {t:?} the equations cannot be solved on all sides of what the solution slides on");
            let lead = sliding.surfaces.first().map(|s| s.relations[0].0);
            let place = lead.and_then(|i| model.sys.relations[i].origin.span).unwrap_or(Span::NONE);
            Diagnostic::error(Stage::Run, place, text)
        })
    }

    /// The relations that have switched in turn lately, so fast that the solution winds into where their functions are zero
    /// together.
    fn winding(&self, model: &mut Model, t: f64) -> Vec<(usize, f64, f64)> {
        let window = (0.1 * self.tolerance).clamp(1e-10, 1e-6) * self.span();
        let mut found = self.whirl.winding(t, window);
        let mut g = vec![0.0; found.len()];
        model.machine.crossing_values(&found.iter().map(|f| f.0).collect::<Vec<_>>(), &mut g);
        let near = |i: usize, g: f64| g.abs() <= 1e-4 * model.machine.relations[i].size.max(1e-2);
        let far: Vec<usize> = found.iter().zip(&g).filter(|(f, g)| !near(f.0, **g)).map(|(f, _)| f.0).collect();
        found.retain(|f| !far.contains(&f.0));
        found
    }

    /// Takes out the surfaces that the solution has wound into, if they hold it after an event; else they are left. Whether they are.
    fn wound(
        &mut self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        t: f64,
        observer: &mut dyn Observer,
    ) -> Result<(Vec<Surface>, bool), Diagnostic> {
        let Some(sliding) = &mut self.sliding else { return Ok((Vec::new(), false)) };
        let surfaces: Vec<Surface> = sliding.surfaces.extract_if(.., |s| s.wound.is_some()).collect();
        self.sliding.take_if(|s| s.surfaces.is_empty());
        if surfaces.is_empty() {
            return Ok((surfaces, false));
        }
        let far = self.far(model, program);
        let mut held = Sliding::new(self.span());
        held.surfaces = surfaces;
        if held.arrange(model, program, t).is_some() && held.holds(model, program, t, &far).is_some() {
            return Ok((held.surfaces, false));
        }
        let left = held.abandoned(model, program, t, &far);
        self.part(model, program, left, t, observer)?;
        Ok((Vec::new(), true))
    }

    /// After switches of functions whose rates no side turns round, which are taken out: whether the turns around zero have come to
    /// their end, and the solution stays where functions and rates are zero.
    fn winds(
        &mut self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        switched: &mut Vec<(usize, f64, f64)>,
        t: f64,
        observer: &mut dyn Observer,
    ) -> bool {
        if !model.resting.is_empty() || self.forward.is_some() {
            return false;
        }
        let mut began = false;
        for group in surfaces_of(model, program, switched.clone(), t) {
            let Some((surface, rate)) = model.second_order(program, group, t) else { continue };
            let Some(key) = surface.held().min() else { continue };
            switched.retain(|s| surface.held().all(|i| i != s.0));
            let turns = self.turns.entry(key).or_insert_with(|| Turns::new(surface.held().collect()));
            turns.note(rate);
            if turns.shrunk() || program.states.len() <= FEW_STATES {
                began |= self.winds_into(model, program, surface, (key, rate), t, observer).is_some();
            }
        }
        began
    }

    /// Whether a surface of second order has been wound into; the solution then slides on it and on what is there with it.
    fn winds_into(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        surface: Surface,
        (key, rate): (usize, f64),
        t: f64,
        observer: &mut dyn Observer,
    ) -> Option<()> {
        let (lead, turns) = (surface.relations[0].0, self.turns.get(&key)?);
        let extent = |k: usize| self.extent.get(k).copied().unwrap_or(0.0);
        let error = |(k, n): (usize, &f64)| self.tolerance * extent(k) + self.absolute(*n);
        let errors: Vec<f64> = program.nominal.iter().enumerate().map(error).collect();
        let mut sliding = Sliding::new(self.span());
        sliding.surfaces.push(surface);
        sliding.arrange(model, program, t)?;
        let (wrong, sides) = sliding.turning(model, program, t, &errors)?;
        let least: Vec<f64> = program.nominal.iter().map(|&n| self.absolute(n)).collect();
        let off = sliding.sway(&least)?;
        let beside = sliding.beside(model, program, t, off).unwrap_or_default();
        let swing = 0.5 * rate * rate / sides[0].abs().min(sides[1].abs());
        // No more to be told by the rate, or by the function itself.
        let small = rate.abs() <= turns.reach() * (wrong + beside[0].abs().max(beside[1].abs()));
        let tiny = swing <= 16.0 * model.machine.band(lead);
        // Beside the surface the fields lead back to it, so firmly that no turns are needed.
        let firm =
            |k: usize, back: f64| back * sides[k] > 0.0 && back * beside[k] > 0.5 * (off * sides[k].abs()).sqrt();
        let damped = firm(0, 1.0) && firm(1, -1.0);
        let kept_alive = swing <= off && turns.stuck();
        if !(small || tiny || kept_alive) {
            return None;
        }
        let shrunk = turns.shrunk() || damped || kept_alive;
        let fresh = sliding.joined(model, program, t)?;
        sliding.surfaces.extend(fresh);
        sliding.arrange(model, program, t)?;
        // Where the fields tell what becomes of turns, nothing else needs to.
        if !sliding.contraction(model, program, t).map_or(shrunk, |q| q < 1.0 - 1e-6) {
            return None;
        }
        sliding.surfaces.iter_mut().for_each(|s| s.wound = Some(key));
        let new: Vec<Surface> = sliding.surfaces.clone();
        let known = |s: &Surface| new.iter().any(|n| n.held().any(|i| s.held().any(|k| k == i)));
        let old = self.sliding.iter().flat_map(|s| &s.surfaces).filter(|s| !known(s)).cloned();
        sliding.surfaces.extend(old);
        sliding.arrange(model, program, t)?;
        let y = sliding.holds(model, program, t, &vec![f64::INFINITY; errors.len()])?;
        program.states.iter().zip(&y).for_each(|(s, y)| model.machine.values[s.0 as usize] = *y);
        let old = sliding.surfaces.split_off(new.len());
        self.sliding = None;
        self.rejoin(old);
        for surface in sliding.surfaces {
            self.slides_on(model, surface, t, observer);
        }
        self.turns.remove(&key);
        self.whirl.clear();
        self.sliding.as_ref()?.settle(model);
        Some(())
    }

    /// Takes out the surfaces that an event does not concern, told by one of their relations, and those of what is remembered,
    /// which are not judged by their sides.
    fn set_apart(&mut self, mut concerns: impl FnMut(usize) -> bool) -> Vec<Surface> {
        let surfaces = self.sliding.iter().flat_map(|s| &s.surfaces).map(|s| (s.relations[0].0, s.memory.is_some()));
        let far: Vec<usize> = surfaces.filter(|&(i, own)| own || !concerns(i)).map(|s| s.0).collect();
        let Some(sliding) = &mut self.sliding else { return Vec::new() };
        let apart = sliding.surfaces.extract_if(.., |s| far.contains(&s.relations[0].0)).collect();
        if sliding.surfaces.is_empty() {
            self.sliding = None;
        }
        apart
    }

    /// The solution slides on these, too, as it did.
    fn rejoin(&mut self, apart: Vec<Surface>) {
        if !apart.is_empty() {
            let span = self.span();
            self.sliding.get_or_insert_with(|| Sliding::new(span)).surfaces.extend(apart);
        }
    }

    /// Where several surfaces meet (those that are slid on, those that have just switched, those that the solution winds
    /// around): what it does about each of them. Whether anything changed; `None` if there are not several, or nothing fits.
    fn meet(
        &mut self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        switched: &[(usize, f64, f64)],
        wound: &[Surface],
        t: f64,
        observer: &mut dyn Observer,
    ) -> Result<Option<bool>, Diagnostic> {
        let mut fresh = switched.to_vec();
        if !fresh.is_empty() {
            let mut winding = self.winding(model, t);
            winding.retain(|w| !self.turns.values().any(|t| t.of(w.0)));
            fresh.extend(winding.into_iter().filter(|w| !switched.iter().any(|s| s.0 == w.0)));
        }
        let held = |i: usize| self.sliding.iter().flat_map(|s| &s.surfaces).any(|s| s.held().any(|k| k == i));
        fresh.retain(|s| !held(s.0));
        let old = self.sliding.as_ref().map_or(0, |s| s.surfaces.len());
        if old + fresh.len() == 0 {
            return Ok(None);
        }
        let groups = surfaces_of(model, program, fresh, t);
        let fresh: Vec<Surface> = groups.into_iter().filter_map(|g| model.prospect(program, g, t)).collect();
        let mut surfaces = self.sliding.as_mut().map_or(Vec::new(), |s| std::mem::take(&mut s.surfaces));
        surfaces.extend(fresh);
        let known = surfaces.len();
        surfaces.extend(model.nearby(program, &surfaces, t, self.near(wound)));
        let courses = if surfaces.len() > 1 { model.meet(program, &surfaces, t) } else { None };
        let Some(courses) = courses else {
            if surfaces.len() > MOST_BLENDED {
                let text = "nothing was found that fits all of the surfaces, and they are judged one by one";
                self.tell_of(model, &surfaces, text, t, observer);
            }
            if let Some(sliding) = &mut self.sliding {
                surfaces.truncate(old);
                sliding.surfaces = surfaces;
            }
            return Ok(None);
        };
        self.onto(model, program, &surfaces, t);
        self.go_on(model, program, surfaces, &courses, (old, known), t, observer).map(Some)
    }

    /// Tells, once, what is not taken into account where many surfaces meet.
    fn tell_of(&mut self, model: &Model, surfaces: &[Surface], what: &str, t: f64, observer: &mut dyn Observer) {
        let Some(r) = surfaces.first().map(|s| &model.sys.relations[s.relations[0].0]) else { return };
        let text = format!("at time {t:?} {} boundaries meet, that of {} among them: {what}", surfaces.len(), r.text);
        self.say(observer, &text, r.origin.span.unwrap_or(Span::NONE), what);
    }

    /// How close to zero a function counts as there where surfaces meet; those of some surfaces are taken care of.
    fn near(&self, but: &[Surface]) -> impl Fn(&Model, usize) -> f64 + use<> {
        let part = 0.1 * self.tolerance.min(1e-3);
        let held: Vec<usize> = but.iter().flat_map(Surface::held).collect();
        move |model, i| if held.contains(&i) { -1.0 } else { part * model.machine.relations[i].size }
    }

    /// How far states may be moved at most where they are put onto surfaces.
    fn far(&self, model: &Model, program: &ModeProgram) -> Vec<f64> {
        let state = |s: &(u32, u32)| model.machine.values[s.0 as usize];
        let error = |(s, &n)| MOST_ERRORS * (self.tolerance * f64::abs(state(s)) + self.absolute(n));
        program.states.iter().zip(&program.nominal).map(error).collect()
    }

    /// Moves the states onto surfaces that they are on within the errors of the integration.
    fn onto(&self, model: &mut Model, program: &ModeProgram, surfaces: &[Surface], t: f64) {
        let far = self.far(model, program);
        // Where rates are zero as well, fields lead nowhere but along.
        if surfaces.iter().any(|s| s.wound.is_some()) {
            let mut held = Sliding::new(self.span());
            held.surfaces = surfaces.to_vec();
            let place = held.arrange(model, program, t).and_then(|()| held.place(model, program, t, &far));
            let states = program.states.iter().zip(place.iter().flatten());
            states.for_each(|(s, y)| model.machine.values[s.0 as usize] = *y);
            return;
        }
        model.onto(program, surfaces, t, &far);
    }

    /// Follows what was found about surfaces that meet, of which the first `old` ones were slid on, and those after `known` have
    /// not crossed. Whether that is new.
    fn go_on(
        &mut self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        surfaces: Vec<Surface>,
        courses: &[Course],
        (old, known): (usize, usize),
        t: f64,
        observer: &mut dyn Observer,
    ) -> Result<bool, Diagnostic> {
        let mut left = Vec::new();
        let mut changed = false;
        for (k, (mut surface, course)) in surfaces.into_iter().zip(courses).enumerate() {
            match *course {
                Course::Slides(share) => {
                    surface.slides(share);
                    changed |= k >= old;
                    match &mut self.sliding {
                        Some(sliding) if k < old => sliding.surfaces.push(surface),
                        _ => self.slides_on(model, surface, t, observer),
                    }
                }
                Course::Side(second) => {
                    let (lead, _, other) = surface.relations[0];
                    let there = (model.machine.values[model.machine.relations[lead].var as usize] == other) == second;
                    if k < old || k >= known || !there {
                        left.push((surface, Parting { second, repelled: false }));
                    }
                }
            }
        }
        if self.sliding.as_ref().is_some_and(|s| s.surfaces.is_empty()) {
            self.sliding = None;
        }
        if let Some(s) = &self.sliding {
            if changed {
                self.whirl.clear();
            }
            s.settle(model);
            s.freeze(model, true);
        }
        changed |= !left.is_empty();
        self.part(model, program, left, t, observer)?;
        if let Some(s) = &self.sliding {
            s.freeze(model, false);
        }
        Ok(changed)
    }

    /// The functions that are held at zero by sliding or rest.
    fn levels(&self, model: &mut Model) -> Vec<(usize, f64)> {
        let sliding = self.sliding.iter().flat_map(|s| &s.surfaces).map(|s| s.relations[0].0);
        let held: Vec<usize> = sliding.chain(model.resting.iter().map(|r| r.relation)).collect();
        let mut g = vec![0.0; held.len()];
        model.machine.crossing_values(&held, &mut g);
        held.into_iter().zip(g).collect()
    }

    /// Into another mode: bodies go on resting where they can, surfaces of other islands are slid on, those that the event concerns
    /// are found anew.
    fn carry_over(
        &mut self,
        model: &mut Model,
        (from, to): (&ModeProgram, &ModeProgram),
        islands: Option<&rustc_hash::FxHashSet<u32>>,
    ) {
        if let Some(sliding) = &mut self.sliding {
            let mut stays = |i: usize| to.crossings.by_relation.contains_key(&i) && !model.concerns(islands, i);
            sliding.surfaces.retain(|s| s.held().all(&mut stays));
        }
        self.sliding.take_if(|s| s.surfaces.is_empty());
        let zeno = &mut self.zeno;
        model.resting = std::mem::take(&mut model.resting)
            .into_iter()
            .filter_map(|r| {
                let carried = r.carried(from, to);
                if carried.is_none() {
                    zeno.forget(r.relation);
                }
                carried
            })
            .collect();
    }

    /// After an event: surfaces and supports that jumped out of reach are left, and those whose bodies were kicked. Whether
    /// there were any.
    fn jumped_away(
        &mut self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        before: &[(usize, f64)],
        kicked: &[usize],
        observer: &mut dyn Observer,
    ) -> Result<bool, Diagnostic> {
        let now = self.levels(model);
        let far = |i: usize| {
            let (Some(was), Some(is)) = (before.iter().find(|l| l.0 == i), now.iter().find(|l| l.0 == i)) else {
                return None;
            };
            ((is.1 - was.1).abs() > out_of_reach(model, i, was.1)).then_some(is.1)
        };
        let lost: Vec<(usize, f64)> = now.iter().filter_map(|l| far(l.0).map(|g| (l.0, g))).collect();
        if lost.is_empty() && kicked.is_empty() {
            return Ok(false);
        }
        let gone = |i: usize| lost.iter().find(|l| l.0 == i).map(|l| l.1);
        for r in model.resting.extract_if(.., |r| gone(r.relation).is_some() || kicked.contains(&r.relation)) {
            self.zeno.forget(r.relation);
            self.flips.remove(&r.relation);
            self.location.released.remove(&r.relation);
            model.machine.relations[r.relation].floor = 0.0;
        }
        let surfaces: Vec<Surface> = self
            .sliding
            .iter_mut()
            .flat_map(|s| s.surfaces.extract_if(.., |s| gone(s.relations[0].0).is_some()))
            .collect();
        if self.sliding.as_ref().is_some_and(|s| s.surfaces.is_empty()) {
            self.sliding = None;
        }
        let side = |s: Surface| {
            let (lead, first, _) = s.relations[0];
            let up = gone(lead).is_some_and(|g| g > 0.0);
            let second = up != positive_side(&model.machine.relations[lead].kind, first);
            (s, second)
        };
        let surfaces: Vec<(Surface, bool)> = surfaces.into_iter().map(side).collect();
        let held: Vec<usize> = surfaces.iter().flat_map(|s| s.0.held()).collect();
        self.release(model, program, surfaces, observer)?;
        // Not near zero any more.
        for i in held {
            self.location.released.remove(&i);
            model.machine.relations[i].floor = 0.0;
        }
        Ok(true)
    }

    /// After an event: surfaces on which the solution no longer slides.
    fn review(
        &mut self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        t: f64,
        observer: &mut dyn Observer,
    ) -> Result<bool, Diagnostic> {
        let mut changed = false;
        if let Some(mut sliding) = self.sliding.take() {
            let mut left = Vec::new();
            let mut k = 0;
            while k < sliding.surfaces.len() {
                match model.review(program, &mut sliding.surfaces[k], t) {
                    Fate::Slides => k += 1,
                    Fate::Leaves(parting) => left.push((sliding.surfaces.remove(k), parting)),
                }
            }
            changed |= !left.is_empty();
            self.part(model, program, left, t, observer)?;
            self.sliding = (!sliding.surfaces.is_empty()).then_some(sliding);
        }
        Ok(changed)
    }

    /// Ends the rests of bodies that nothing presses against their supports, one after the other (`due`: of one at least); returns
    /// their relations.
    fn lift_off(&mut self, model: &mut Model, program: &ModeProgram, t: f64, due: bool) -> Vec<usize> {
        let x = model.states_now(program);
        let mut left = Vec::new();
        while !model.resting.is_empty() {
            let lifts = self.lifts(model, program, t, &x);
            let most = lifts.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
            let Some((k, _)) = most.filter(|l| *l.1 > 0.0 || due && left.is_empty()) else { break };
            left.push(model.resting.remove(k).relation);
            self.zeno.forget(left[left.len() - 1]);
        }
        left
    }

    /// How strongly each of the bodies at rest would have to be pulled to stay, beside what is slid on; positive: it leaves.
    fn lifts(&mut self, model: &mut Model, program: &ModeProgram, t: f64, x: &[f64]) -> Vec<f64> {
        let Some(mut sliding) = self.sliding.take() else { return model.lifts(program, t, x) };
        model.know_rests(program);
        let judged = sliding.arrange(model, program, t).and_then(|()| {
            model.aside(|model| {
                let mut rhs = Rhs::held(&mut model.machine, program, &model.resting);
                sliding.judge(&mut rhs, t, x).ok()
            })
        });
        let found = judged.map(|()| sliding.lifts().to_vec());
        self.sliding = Some(sliding);
        found.unwrap_or_else(|| vec![-1.0; model.resting.len()])
    }

    /// Leaves surfaces, and tells where there was a choice of sides.
    fn part(
        &mut self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        left: Vec<(Surface, Parting)>,
        t: f64,
        observer: &mut dyn Observer,
    ) -> Result<(), Diagnostic> {
        for (surface, parting) in left.iter().filter(|l| l.1.repelled) {
            let (lead, first, second) = surface.relations[0];
            let r = &model.sys.relations[lead];
            let side = if parting.second { second } else { first } != 0.0;
            let text = format!(
                "the boundary of {} repels from time {t:?} on, both sides lead away from it: taken is the one where it is {side}",
                r.text
            );
            let place = r.origin.span.unwrap_or(Span::NONE);
            self.say(observer, &text, place, &format!("repelled {lead}"));
        }
        self.release(model, program, left.into_iter().map(|(s, p)| (s, p.second)).collect(), observer)
    }

    /// Goes to one side (`true`: the second) of each of these surfaces, all at once; their functions are near zero still.
    fn release(
        &mut self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        surfaces: Vec<(Surface, bool)>,
        observer: &mut dyn Observer,
    ) -> Result<(), Diagnostic> {
        let mut relations: Vec<(usize, f64)> = Vec::new();
        for (surface, second) in &surfaces {
            if surface.memory.is_some() {
                surface.set(&mut model.machine.values, *second);
                relations.extend(surface.guards(model, *second));
                continue;
            }
            let (lead, a, b) = surface.relations[0];
            let up = positive_side(&model.machine.relations[lead].kind, if *second { b } else { a });
            relations.extend(surface.relations.iter().map(|&(i, a, b)| (i, if *second { b } else { a })));
            let twin = |&(i, alike): &(usize, bool)| (i, side_value(&model.machine.relations[i].kind, up == alike));
            relations.extend(surface.twins.iter().map(twin));
        }
        if relations.is_empty() {
            return Ok(());
        }
        for &(i, value) in &relations {
            let slot = model.machine.relations[i].var as usize;
            model.machine.values[slot] = value;
            let mut g = [0.0];
            model.machine.crossing_values(&[i], &mut g);
            // On this side, whatever is left of the function, until it has gone clear of that.
            self.location.released.insert(i, 4.0 * g[0].abs());
            model.machine.relations[i].floor = 4.0 * g[0].abs();
            model.machine.relations[i].frozen = true;
            self.flips.remove(&i);
        }
        let sides: Vec<usize> = relations.iter().map(|r| r.0).collect();
        model.whole_islands = true;
        let handled = model.handle_event(program, &[], &sides, EventKind::State, observer);
        self.location.forget(program, None);
        for &(i, _) in &relations {
            model.machine.relations[i].frozen = false;
        }
        self.note(handled?.record);
        Ok(())
    }

    /// Where in (from, to] a surface or a rest is left.
    fn leaves(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        integrator: &dyn Integrator,
        from: f64,
        to: f64,
    ) -> Option<f64> {
        if self.sliding.is_none() && model.resting.is_empty() {
            return None;
        }
        // While nothing moves steps are long: what ends that may be over within one.
        let looks = ((to - from) / (self.span().abs() / LOOKS)).ceil().clamp(2.0, 64.0) as usize;
        let mut first: Option<f64> = None;
        let mut x = vec![0.0; program.states.len()];
        model.know_rests(program);
        if let Some(mut sliding) = self.sliding.take() {
            let mut at = |s: &mut Sliding, t: f64| {
                integrator.interpolate(t, &mut x);
                let mut rhs = Rhs::held(&mut model.machine, program, &model.resting);
                s.judge(&mut rhs, t, &x).is_ok()
            };
            first = sliding.leaving(&mut at, (from, to, looks));
            self.sliding = Some(sliding);
        } else if !model.resting.is_empty() {
            let lift = |t: f64| {
                integrator.interpolate(t, &mut x);
                model.lifts(program, t, &x).into_iter().fold(-1.0, f64::max)
            };
            first = first_positive(lift, (from, to, looks));
        }
        first
    }

    /// A surface or a rest is left at t.
    fn leave(
        &mut self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        t: f64,
        sink: &mut dyn Sink,
        observer: &mut dyn Observer,
    ) -> Result<After, Diagnostic> {
        self.write(model, program, t, sink)?;
        self.due = None;
        let stays = self.stays(model);
        let mut left: Vec<(Surface, Parting)> = Vec::new();
        // The relations that this is an event of.
        let mut concerned: Vec<usize> = Vec::new();
        if self.sliding.iter().flat_map(|s| &s.surfaces).any(|s| s.wound.is_some()) {
            let surfaces = self.sliding.as_ref().map_or(Vec::new(), |s| s.surfaces.clone());
            self.onto(model, program, &surfaces, t);
        }
        if let Some(sliding) = &mut self.sliding {
            sliding.settle(model);
            left = sliding.take_left();
            concerned.extend(left.iter().flat_map(|l| l.0.held()));
        }
        let lifted = self.lift_off(model, program, t, left.is_empty());
        concerned.extend(&lifted);
        if let Some(sliding) = &mut self.sliding {
            sliding.arrange(model, program, t);
            let apart = self.set_apart(|i| concerned.iter().any(|&c| model.neighbours(c, i)));
            let mut sliding = self.sliding.take().unwrap_or_else(|| Sliding::new(self.span()));
            let gone = left.len();
            let wound: Vec<Surface> = sliding.surfaces.extract_if(.., |s| s.wound.is_some()).collect();
            let alone = left.iter().any(|l| l.1.repelled || l.0.memory.is_some() || l.0.wound.is_some());
            // The others may not hold the solution without those that are left.
            if gone + lifted.len() > 0 && !alone {
                let sides: Vec<Parting> = left.iter().map(|l| l.1).collect();
                let mut surfaces: Vec<Surface> = left.drain(..).map(|l| l.0).collect();
                surfaces.append(&mut sliding.surfaces);
                let old = surfaces.len();
                surfaces.extend(model.nearby(program, &surfaces, t, self.near(&wound)));
                let courses = if surfaces.len() > 1 { model.meet(program, &surfaces, t) } else { None };
                let fits = |c: &Vec<Course>| gone == 0 || c[..gone].iter().any(|c| matches!(c, Course::Side(_)));
                self.sliding = Some(sliding);
                self.onto(model, program, &surfaces, t);
                if let Some(courses) = courses.filter(fits) {
                    self.go_on(model, program, surfaces, &courses, (old, old), t, observer)?;
                } else {
                    surfaces.truncate(old);
                    let kept = surfaces.split_off(gone);
                    left = surfaces.into_iter().zip(sides).collect();
                    match &mut self.sliding {
                        Some(s) if !kept.is_empty() => s.surfaces = kept,
                        other => *other = None,
                    }
                }
            } else {
                self.sliding = (!sliding.surfaces.is_empty()).then_some(sliding);
            }
            self.rejoin(wound);
            self.rejoin(apart);
            if let Some(s) = &self.sliding {
                s.freeze(model, true);
            }
        }
        self.part(model, program, left, t, observer)?;
        model.whole_islands = true;
        let h = model.handle_event(program, &[], &concerned, EventKind::State, observer)?;
        if let Some(s) = &self.sliding {
            s.freeze(model, false);
        }
        self.report.state_events += 1;
        self.terminated(&h.terminated);
        self.note(h.record);
        self.location.forget(program, None);
        if !Rc::ptr_eq(&h.program, program) {
            self.carry_over(model, (program, &h.program), h.islands.as_ref());
        }
        self.note_stays(model, &stays);
        self.tell(observer);
        self.mask(model);
        self.arrange(model, &h.program, t, observer)?;
        self.write(model, &h.program, t, sink)?;
        Ok(After { program: h.program, restart: Some(Restart::Cold), changed: h.changed })
    }

    /// Impacts of a relation accumulate: what they turn rests from now on.
    fn accumulate(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        (impact, previous): (&Impact, Option<&Impact>),
        at: f64,
        observer: &mut dyn Observer,
    ) -> Result<(), Diagnostic> {
        if self.comes_to_rest(model, impact.relation, at, observer)? {
            let t = model.machine.values[model.machine.time as usize];
            let rest = model.rest(program, impact, previous, t, self.span());
            model.resting.retain(|r| r.relation != impact.relation);
            model.resting.extend(rest);
            self.bear(model, program, impact.relation, t);
        }
        Ok(())
    }

    /// Surfaces that a body which has come to rest holds the solution on (friction beside a wall): its support bears them.
    fn bear(&mut self, model: &mut Model, program: &ModeProgram, relation: usize, t: f64) {
        let known = self.sliding.iter().flat_map(|s| &s.surfaces).flat_map(Surface::held);
        let mut borne = model.at_zero(program, &[relation], known.collect(), t, self.near(&[]));
        borne.retain(|s| s.borne);
        for i in borne.iter().flat_map(Surface::held) {
            self.location.released.remove(&i);
            model.machine.relations[i].floor = 0.0;
        }
        self.rejoin(borne);
    }

    /// Notes a switch of what is remembered: relations that fired, slots that the derivatives depend on, slots that time alone
    /// changed. Says if such switches are about to have followed each other infinitely often.
    fn switches(
        &mut self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        (fired, slots, timed): (Vec<(usize, f64, f64)>, Vec<u32>, Vec<u32>),
        before: Vec<f64>,
        t: f64,
    ) -> Option<Accumulation> {
        let decisive = !slots.is_empty();
        let slots = if decisive { slots } else { timed };
        let key = (model.series_of(&slots)?, decisive);
        let value = |s: u32| if model.tells_modes(s) { model.machine.values[s as usize] } else { 0.0 };
        let mut changed: Vec<(u32, f64)> = slots.iter().map(|&s| (s, value(s))).collect();
        changed.sort_by_key(|c| c.0);
        let switch = Switch { t, fired, changed, program: Rc::as_ptr(program).addr(), before };
        let found = self.switching.note(key, switch, self.span());
        self.location.in_turn = self.switching.in_turn();
        found
    }

    /// What becomes of switches that accumulate. Whether the field is another one from now on.
    fn switches_end(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        a: &Accumulation,
        observer: &mut dyn Observer,
    ) -> Result<bool, Diagnostic> {
        let t = model.machine.values[model.machine.time as usize];
        let what = self.switches_text(model, a);
        let Some(at) = a.at else {
            let End::Mixed(surface) = model.end_of(program, a, self.span()) else { return Ok(false) };
            if self.forward.is_some() || !self.within_reach(model, &surface, 0.1 * BAND) {
                return Ok(false);
            }
            if !model.sustained(program, &surface, t, 1e-2) {
                return Ok(false);
            }
            let cycle = a.dwells.iter().sum::<f64>();
            let text = match surface.held().count() {
                1 => format!("sliding along the boundary of {what} from time {t:?}"),
                _ => format!(
                    "{what} switch in turn faster than can be followed, every {cycle:.1e}: sliding between their boundaries from time {t:?}"
                ),
            };
            self.say(observer, &text, self.switches_place(model, a), &format!("chatter {}", surface.relations[0].0));
            self.slides_between(model, *surface);
            self.switching.forget(a);
            return Ok(true);
        };
        match self.options.zeno {
            Zeno::Error => {
                return Err(Diagnostic::error(
                    Stage::Run,
                    self.switches_place(model, a),
                    format!("infinitely many events accumulate at time {at:?}: {what}"),
                ));
            }
            Zeno::Stop => {
                self.report.terminated = Some(format!("events of {what} accumulate at time {at:?}"));
                return Ok(false);
            }
            Zeno::Rest => {}
        }
        if self.forward.is_some() {
            let text =
                format!("not supported yet: sensitivities beyond time {at:?}, where events of {what} accumulate");
            return Err(Diagnostic::error(Stage::Run, self.switches_place(model, a), text));
        }
        match model.end_of(program, a, self.span()) {
            End::Mixed(surface) => {
                self.switching.forget(a);
                self.sliding.get_or_insert_with(|| Sliding::new(self.stop - self.start)).surfaces.push(*surface);
                Ok(true)
            }
            End::Follows => {
                let text =
                    format!("events of {what} accumulate at time {at:?}: what they change goes on from its limit");
                self.say(observer, &text, self.switches_place(model, a), &format!("switches {what}"));
                self.switching.told(a);
                Ok(false)
            }
            End::Nothing => Err(self.switches_nowhere(model, a, "and nothing says what follows")),
        }
    }

    /// The instant is over at which switches accumulate: the solution goes on between their boundaries, or as the equations have it
    /// beyond them, or not at all.
    fn beyond(
        &mut self,
        model: &mut Model,
        program: &Rc<ModeProgram>,
        t: f64,
        sink: &mut dyn Sink,
        observer: &mut dyn Observer,
    ) -> Result<After, Diagnostic> {
        let Some(mut sliding) = self.sliding.take() else {
            return Ok(After { program: program.clone(), restart: None, changed: Vec::new() });
        };
        sliding.settle(model);
        let due = |s: &mut Surface| s.memory.as_ref().and_then(|m| m.until).is_some_and(|until| until <= t);
        let ended: Vec<Surface> = sliding.surfaces.extract_if(.., due).collect();
        self.sliding = (!sliding.surfaces.is_empty()).then_some(sliding);
        let mut fired = Vec::new();
        for mut surface in ended {
            let relations: Vec<usize> = surface.held().collect();
            let texts: Vec<&str> = relations.iter().take(4).map(|&i| &*model.sys.relations[i].text).collect();
            let what = texts.join(", ");
            let place = model.sys.relations[relations[0]].origin.span.unwrap_or(Span::NONE);
            let at = surface.memory.as_ref().map_or(t, |m| m.at);
            if model.sustained(program, &surface, t, 1e-5) {
                if let Some(m) = &mut surface.memory {
                    m.until = None;
                }
                let text =
                    format!("events of {what} accumulate at time {at:?}: sliding along their boundaries from there on");
                self.say(observer, &text, place, &format!("switches {what}"));
                self.slides_between(model, surface);
            } else if model.parts(program, &surface, t) {
                let text =
                    format!("events of {what} accumulate at time {at:?} and part again, the modes go on in turn");
                self.say(observer, &text, place, &format!("switches {what}"));
                let second = surface.share() >= 0.5;
                self.release(model, program, vec![(surface, second)], observer)?;
            } else if model.goes_on(program, &surface) {
                let text = format!("events of {what} accumulate at time {at:?}: the equations say what follows");
                self.say(observer, &text, place, &format!("switches {what}"));
                fired.extend(relations);
            } else {
                self.write(model, program, t, sink)?;
                let slots: Vec<u32> = surface.bits.iter().map(|b| b.0).collect();
                return Err(nowhere(model, &relations, &slots, at, "and no mix of the modes keeps all of them there"));
            }
        }
        self.mask(model);
        self.location.forget(program, None);
        if !fired.is_empty() {
            let after = self.event(model, program, &fired, EventKind::State, t, sink, observer, true)?;
            return Ok(After { restart: Some(Restart::Cold), ..after });
        }
        self.arrange(model, program, t, observer)?;
        Ok(After { program: program.clone(), restart: Some(Restart::Cold), changed: Vec::new() })
    }

    /// From now on the solution slides between the boundaries of switches that follow each other too fast.
    fn slides_between(&mut self, model: &mut Model, mut surface: Surface) {
        if let Some(memory) = &mut surface.memory {
            let guards: Vec<usize> = memory.guards.iter().map(|g| g.0).collect();
            let mut g = vec![0.0; guards.len()];
            model.machine.crossing_values(&guards, &mut g);
            let reach = |(&i, g): (&usize, &f64)| {
                model.machine.relations[i].floor = 0.0;
                BAND * model.machine.relations[i].size.max(1e-6) + 4.0 * g.abs()
            };
            memory.reach = guards.iter().zip(&g).map(reach).collect();
            self.location.released.retain(|i, _| !guards.contains(i));
        }
        let span = self.span();
        self.sliding.get_or_insert_with(|| Sliding::new(span)).surfaces.push(surface);
    }

    /// Whether the functions of all guards are at zero up to this part of their sizes.
    fn within_reach(&self, model: &mut Model, surface: &Surface, part: f64) -> bool {
        let guards: Vec<usize> = surface.held().collect();
        let mut g = vec![0.0; guards.len()];
        model.machine.crossing_values(&guards, &mut g);
        guards.iter().zip(&g).all(|(&i, g)| g.abs() <= part * model.machine.relations[i].size)
    }

    /// Leaves what slides between switches where something else has set what they switch. Whether there was such a thing.
    fn overruled(&mut self, model: &Model) -> bool {
        let Some(sliding) = &mut self.sliding else { return false };
        let before = sliding.surfaces.len();
        sliding.surfaces.retain(|s| !s.overruled(model));
        let changed = sliding.surfaces.len() < before;
        self.sliding.take_if(|s| s.surfaces.is_empty());
        changed
    }

    /// The relations of switches, or what they change if time alone makes them.
    fn switches_text(&self, model: &Model, a: &Accumulation) -> String {
        let mut texts: Vec<&str> = Vec::new();
        for &(i, _, _) in a.cycle.iter().flat_map(|s| &s.fired) {
            let text = &*model.sys.relations[i].text;
            if !texts.contains(&text) && texts.len() < 4 {
                texts.push(text);
            }
        }
        if !texts.is_empty() {
            return texts.join(", ");
        }
        let slots = model.switched_slots(a);
        model.named_slots(&slots).0.join(", ")
    }

    fn switches_place(&self, model: &Model, a: &Accumulation) -> Span {
        let relation = a.cycle.iter().flat_map(|s| &s.fired).find_map(|f| model.sys.relations[f.0].origin.span);
        let slots = model.switched_slots(a);
        relation.unwrap_or_else(|| model.named_slots(&slots).1)
    }

    /// Switches accumulate, and the solution ends there.
    fn switches_nowhere(&self, model: &Model, a: &Accumulation, why: &str) -> Diagnostic {
        let relations: Vec<usize> = a.cycle.iter().flat_map(|s| &s.fired).map(|f| f.0).collect();
        let slots = model.switched_slots(a);
        nowhere(model, &relations, &slots, a.at.unwrap_or(a.cycle[0].t), why)
    }

    /// Whether events of a relation that accumulate are to end in rest; told, or refused, as the user wishes.
    fn comes_to_rest(
        &mut self,
        model: &Model,
        i: usize,
        at: f64,
        observer: &mut dyn Observer,
    ) -> Result<bool, Diagnostic> {
        let span = model.sys.relations[i].origin.span.unwrap_or(Span::NONE);
        let text = &model.sys.relations[i].text;
        match self.options.zeno {
            Zeno::Error => Err(Diagnostic::error(
                Stage::Run,
                span,
                format!("infinitely many events accumulate at time {at:?}: {text}"),
            )),
            Zeno::Stop => {
                self.report.terminated = Some(format!("events of {text} accumulate at time {at:?}"));
                Ok(false)
            }
            Zeno::Rest if self.forward.is_some() => {
                let text =
                    format!("not supported yet: sensitivities beyond time {at:?}, where events of {text} accumulate");
                Err(Diagnostic::error(Stage::Run, span, text))
            }
            Zeno::Rest => {
                let text = format!("events of {text} accumulate at time {at:?}: at rest from there on");
                self.say(observer, &text, span, &format!("zeno {i}"));
                Ok(true)
            }
        }
    }

    fn say(&mut self, observer: &mut dyn Observer, text: &str, span: Span, key: &str) {
        if self.warned.insert(key.to_string()) {
            observer.message(text, span);
        }
    }

    /// Tells what functions had to say since the last time; what they said while steps were tried does not end the run.
    fn tried(&mut self, model: &mut Model, observer: &mut dyn Observer) {
        for w in model.machine.host.warnings().into_iter().filter(|w| !w.ends) {
            self.say(observer, &w.message, w.span, &w.message);
        }
    }

    fn warnings(&mut self, model: &mut Model, observer: &mut dyn Observer) {
        for w in model.machine.host.warnings() {
            match w.ends {
                true => self.terminated(&Some(w.message)),
                false => self.say(observer, &w.message, w.span, &w.message),
            }
        }
        for (cells, taken, other) in std::mem::take(&mut model.machine.ambiguous) {
            self.several(model, &cells, &taken, &other, observer);
        }
        for (span, text) in model.outside_bounds() {
            self.say(observer, &text, span, &text);
        }
    }

    /// Says that the equations of a loop hold in more than one mode.
    fn several(&mut self, model: &Model, cells: &[Cell], taken: &[f64], other: &[f64], observer: &mut dyn Observer) {
        let differ = (0..cells.len()).filter(|&k| taken[k] != other[k]);
        let relation = |k: usize| model.sys.relations.iter().find(|r| r.var == cells[k].var);
        let words: Vec<String> = differ
            .clone()
            .filter(|&k| relation(k).is_some())
            .take(6)
            .map(|k| format!("{} is {}", brief(&model.sys.condition_text(cells[k].var)), taken[k] != 0.0))
            .collect();
        let place = differ.filter_map(relation).find_map(|r| r.origin.span).unwrap_or(Span::NONE);
        let t = model.machine.values[model.machine.time as usize];
        let text = format!(
            "at time {t:?} the equations have several solutions: the one taken, where {}, and one where the contrary holds",
            words.join(", ")
        );
        self.say(observer, &text, place, &format!("several {:?}", cells.first()));
    }

    /// Says which parameters lie outside their own bounds.
    fn parameters_within(&mut self, model: &Model, observer: &mut dyn Observer) {
        let dae = &model.sys.dae;
        for (id, v) in dae.vars.iter().filter(|(_, v)| v.variability == Variability::Parameter) {
            let Some((x, outside)) = model.beyond_bounds(id) else { continue };
            let text = format!("parameter {} = {x:?} lies {outside}", v.name);
            self.say(observer, &text, v.origin.span.unwrap_or(Span::NONE), &text);
        }
    }

    /// An assertion that says that what was just met cannot be.
    fn excluded(&self, model: &mut Model, d: Diagnostic) -> Diagnostic {
        model.machine.chain(&model.assertions);
        model.machine.host.error = None;
        let Some(k) = failing(model) else { return d };
        let a = model.sys.dae.assertions[model.sys.assertions[k].1].clone();
        let text = model.message(&a.message);
        let d = d.hint(format!("an assertion excludes this, and does not hold here: {text}"));
        match a.origin.span {
            Some(span) => d.label(span, "this assertion"),
            None => d,
        }
    }

    fn check_assertions(&mut self, model: &mut Model, t: f64, observer: &mut dyn Observer) -> Result<(), Diagnostic> {
        model.machine.chain(&model.assertions);
        for k in 0..model.assertion_slots.len() {
            if model.machine.values[model.assertion_slots[k] as usize] != 0.0 {
                continue;
            }
            let index = model.sys.assertions[k].1;
            if !model.sys.dae.assertions[index].error {
                self.warn_of(model, k, t, observer);
                continue;
            }
            let a = model.sys.dae.assertions[index].clone();
            let text = model.message(&a.message);
            let span = a.origin.span.unwrap_or(Span::NONE);
            return Err(Diagnostic::error(Stage::Run, span, format!("assertion failed at time {t:?}: {text}"))
                .within(a.origin.instance));
        }
        model.machine.host.error = None;
        Ok(())
    }

    /// Takes note of what travels inside an accepted part of a step.
    fn transport(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        integrator: &dyn Integrator,
        from: f64,
        to: f64,
        observer: &mut dyn Observer,
    ) -> Result<(), Trouble> {
        if model.machine.host.lines.list.is_empty() {
            return Ok(());
        }
        model.machine.host.lines.list.iter_mut().for_each(|l| l.forget());
        let marks: Vec<Mark> = model.machine.host.lines.list.iter().map(Line::mark).collect();
        let mut parts = TRANSPORTED;
        loop {
            for k in 1..=parts {
                let t = if k == parts { to } else { from + (to - from) * k as f64 / parts as f64 };
                self.evaluate_at(model, program, integrator, t)?;
                if model.write_lines(t, false).is_err() {
                    return Ok(()); // told where the step ends
                }
            }
            if self.coarse {
                return Ok(());
            }
            // Between the places, what is read must be what was written.
            let mut missed = 0.0f64;
            for part in BETWEEN {
                let t = from + part * (to - from);
                self.evaluate_at(model, program, integrator, t)?;
                missed = missed.max(model.lines_miss(t, &marks));
                if missed > self.tolerance {
                    break;
                }
            }
            if !(missed > self.tolerance) {
                return Ok(());
            }
            if parts >= MOST_TRANSPORTED {
                // Noise, or jumps without events: no number of places would do.
                self.coarse = true;
                let delays = model.sys.dae.delays.iter().map(|d| &d.origin);
                let origins = delays.chain(model.sys.dae.distributions.iter().map(|d| &d.origin));
                let place = origins.filter_map(|o| o.span).next().unwrap_or(Span::NONE);
                let text =
                    format!("what is delayed is not smooth at time {from:?}; it is kept at a few places of each step");
                self.say(observer, &text, place, "coarse");
                return Ok(());
            }
            model.machine.host.lines.list.iter_mut().zip(&marks).for_each(|(l, m)| l.rewind(m));
            parts *= 4;
        }
    }

    /// Where in (from, to] a jump that travels arrives.
    fn arrival(
        &mut self,
        model: &mut Model,
        program: &ModeProgram,
        integrator: &dyn Integrator,
        from: f64,
        to: f64,
    ) -> Option<f64> {
        if model.machine.host.lines.list.is_empty() {
            return None;
        }
        let mut ahead = |me: &mut Self, t: f64| match me.evaluate_at(model, program, integrator, t) {
            Ok(()) => model.jump_distance(),
            Err(_) => f64::NAN,
        };
        let last = ahead(self, to);
        if !(last < 0.0) {
            return None;
        }
        let begin = ahead(self, from);
        Some(if begin < 0.0 { from } else { sign_change(|t| ahead(self, t), from, begin, to, last, 0.0).1 })
    }

    /// States whose derivatives have no value where the run begins.
    fn without_rate(&mut self, model: &mut Model, program: &ModeProgram, t: f64) -> Option<Trouble> {
        let none = |model: &Model| program.states.iter().any(|s| !model.machine.values[s.1 as usize].is_finite());
        if !none(model) {
            return None;
        }
        let x: Vec<f64> = program.states.iter().map(|s| model.machine.values[s.0 as usize]).collect();
        if let Err(e) = self.evaluate(model, program, t, &x) {
            return Some(e);
        }
        let states = program.plan.states.iter().zip(&program.states);
        let bad = states.filter(|(_, s)| !model.machine.values[s.1 as usize].is_finite());
        let bad: Vec<Cell> = bad.map(|(c, _)| Cell { var: c.var, order: c.order + 1 }).collect();
        (!bad.is_empty()).then_some(Trouble::NotFinite(bad))
    }

    fn step_failed(&self, model: &Model, program: &ModeProgram, e: StepError, trouble: Option<Trouble>) -> Diagnostic {
        let of = |k: usize| {
            let unknown = program.implicit.as_ref().and_then(|f| f.unknowns.get(k.checked_sub(program.states.len())?));
            program.plan.states.get(k).copied().or(unknown.map(|u| u.1))
        };
        let worst = e.component().and_then(of);
        let state = worst.map(|c| saltus_structure::cell_name(&model.sys, c));
        let t = match e {
            StepError::TooSmall { t, .. } => t,
            _ => model.machine.values[model.machine.time as usize],
        };
        if let Some(trouble) = trouble {
            let mut d = model.explain(&trouble, Stage::Run, t, "the run failed");
            d = d.hint(e.to_string());
            return d;
        }
        if let StepError::Unstable { t, h, limit, .. } = e {
            let who = state.unwrap_or_default();
            let text = format!(
                "the fixed step {h:?} is too large for {}: at time {t:?} {who} grows from step to step although the model damps it",
                self.choice.name()
            );
            return Diagnostic::error(Stage::Run, Span::NONE, text).hint(format!(
                "steps below {limit:.1e} are stable (--step), or take a method for stiff models (--solver)"
            ));
        }
        let who = state.map_or(String::new(), |s| format!(", worst at {s}"));
        let place = worst.and_then(|c| model.sys.dae.vars[c.var].origin.span).unwrap_or(Span::NONE);
        Diagnostic::error(Stage::Run, place, format!("the integrator cannot go on at time {t:?}{who}: {e}")).hint(
            "a singularity of the solution, a discontinuity hidden in a function, or a tolerance that is too tight",
        )
    }
}
