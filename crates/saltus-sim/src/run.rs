//! The run loop: integrate, find the events of the step, write, handle, go on.

mod branches;
mod domain;
mod event;
mod integration;
mod rests;
mod results;
mod surfaces;
mod switches;
mod telling;
mod travel;

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
use crate::switching::{Accumulation, End, MOST_SCATTER, SCATTER, Switch, Switching};
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

use branches::unvouched;
use event::recedes;
use rests::out_of_reach;
use results::io;
use telling::{defined, failing, failing_but, unknown_solver};

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

/// With so many states at most it is always looked at whether the solution has wound into a surface, else only after turns that
/// shrink.
const FEW_STATES: usize = 50;

/// The solution has come to stand where it is within so many times the errors of its states.
const STANDING: f64 = 10.0;

/// Turns are followed closely that grow, as long as they are below so many times what errors of the states do.
const UNSEEN: f64 = 1e3;

/// How often one step is taken again.
const MOST_RETAKES: usize = 4;

/// How often a step is taken again to end where a function crosses that amplifies errors.
const MOST_APPROACHES: usize = 12;

/// How often a step is halved that ends where the equations have no values.
const MOST_HALVINGS: usize = 60;

/// How often the integration begins anew about one place (within this part of the run) from where no step leads on.
const MOST_AFRESH: usize = 4;
const AFRESH: f64 = 1e-8;

/// How often in a row steps are taken again and end without the event that they were to end at: the crossing recedes, or dense output is
/// wrong over long steps.
const MOST_VAIN: usize = 50;

/// How often the robust methods may fail before a step that asks for them is cut without them.
const PATIENCE: u32 = 16;

/// How often they may fail while an accepted step is searched through.
const PATIENCE_BETWEEN: u32 = 30;

/// So many steps in a row that lead nowhere, each below this part of the run, tell that the equations end right ahead.
const MOST_AT_EDGE: usize = 20;
const NOWHERE: f64 = 1e-12;
/// The run gives up after so many.
const MOST_NOWHERE: usize = 20_000;

/// So many events in a row that come sooner than a fixed step each tell that it is too long; within one step, they end the run.
const MANY_IN_A_STEP: usize = 1000;

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
    model.watched = true;
    let program = model.initialize(start)?;
    let (chosen, open) = (model.chosen_values(), model.open_values());
    model.hold_objects();
    model.start_tickers(start)?;
    model.machine.instants = Instants::new(stop - start, &model.tickers, options.time_resolution.unwrap_or(0.0));
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
        finest: 1.0,
        warned: Default::default(),
        told: Default::default(),
        location: Location::default(),
        flips: Default::default(),
        leaps: (f64::NEG_INFINITY, 0),
        patience: None,
        rescued: None,
        arrived: Vec::new(),
        failing: (f64::NEG_INFINITY, 0),
        edges: (0, 0),
        afresh: (f64::NEG_INFINITY, 0),
        folded: false,
        causal: false,
        extent: Vec::new(),
        extents: Default::default(),
        blamed: None,
        coarse: false,
        standstill: (start, 0),
        crowd: (start, 0),
        hurried: (f64::NEG_INFINITY, 0),
        outrun: (f64::NEG_INFINITY, 0),
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
    /// The part of their absolute tolerances that states are integrated with, while turns grow from below these.
    finest: f64,
    warned: rustc_hash::FxHashSet<String>,
    /// How often, by kind and place.
    told: rustc_hash::FxHashMap<(String, Span), usize>,
    location: Location,
    /// The recent events of each relation.
    flips: rustc_hash::FxHashMap<usize, Flips>,
    /// When a mode first had to be left because it had no solution, and how often since.
    leaps: (f64, u32),
    /// How often the robust methods may still fail there.
    patience: Option<(u32, Option<Trouble>)>,
    /// Where the last event was reached for want of a step.
    rescued: Option<f64>,
    /// The relations that may have been switched where no step led on, and their values before.
    arrived: Vec<(usize, f64)>,
    /// Where steps last began to fail, and how often they failed near there.
    failing: (f64, usize),
    /// How many steps in a row have led nowhere because the equations end right ahead, and how often they had ended before.
    edges: (usize, usize),
    /// Where the integration began anew since no step led on, and how often.
    afresh: (f64, usize),
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
    /// When the last of the events came that each follow the one before in less than a fixed step, and how many they are.
    hurried: (f64, usize),
    /// When the events that come within one fixed step began, and how many they are.
    outrun: (f64, usize),
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

impl Runner<'_> {
    fn span(&self) -> f64 {
        (self.stop - self.start).max(1e-300)
    }

    fn resolution(&self) -> f64 {
        self.options.time_resolution.unwrap_or(0.0)
    }

    /// How far from a time event a crossing may be that its errors do not tell apart from it.
    fn together(&self) -> f64 {
        self.options.time_resolution.unwrap_or(self.tolerance.max(1e-9) * self.span())
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
        self.about_parameters(model, observer);
        self.check_assertions(model, &first.program, t, &[], observer)?;
        if let Some(bad) = self.outside(model, &first.program, t) {
            return Err(model.explain(&bad, Stage::Initialization, t, "initialization failed"));
        }
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
        if self.begins_wound(model, &program, t, observer) {
            self.arrange(model, &program, t, observer)?;
            self.mask(model);
        }
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
            model.machine.patience = None;
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
            if hard.min(soft) <= now + model.machine.instants.close(now) {
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
                let fine = self.turns.values().map(|t| t.fine).fold(1.0, f64::min);
                if fine != self.finest {
                    self.finest = fine;
                    self.fold(&*integrator);
                    integrator = self.integrator(&program)?;
                }
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
            let tstop = self.stop.min(hard).min(deadline).min(now + self.longest(model));
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
                // What the last steps were like says nothing beside the end of a domain (a level that is empty).
                if matches!(trouble, Some(Trouble::NotFinite(_))) && self.begins_afresh(model, &program, &*integrator) {
                    now = here;
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
            model.machine.patience = Some((PATIENCE_BETWEEN, None));
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
            if restart.is_none() && self.at_an_edge(&*integrator) {
                match self.rescue(model, &program, &*integrator, sink, observer)? {
                    Some(after) => self.follow(after, &mut program, &mut integrator, &mut restart)?,
                    None => self.no_step_leads_on(now)?,
                }
            }
            self.pace(now, observer);
            observer.progress(now);
            if restart.is_none()
                && self.report.terminated.is_none()
                && let Some(p) = model.reselect(&program)?
            {
                self.exchange(model, &mut program, p, &mut integrator, &mut restart, observer)?;
            }
        }
        model.machine.patience = None;
        self.tiny(model, &program, observer);
        if self.report.terminated.is_none() && !self.report.cancelled {
            let relations: Vec<usize> = program.crossings.relations().collect();
            defined(model, &relations, now, Stage::Run)?;
        }
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
        self.report.modes = model.programs.made;
        let parts = model.modes.parts.borrow();
        (self.report.parts_planned, self.report.parts_reused) = (parts.planned, parts.reused);
        drop(parts);
        (self.report.parts_compiled, self.report.parts_joined) = (model.compiled[0].made, model.compiled[0].reused);
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
        let (mut from, mut t1, mut retakes, mut approaches, mut halvings) = (t0, t1, 0, 0, 0);
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
                if from == t0
                    && approaches < MOST_APPROACHES
                    && t > t0
                    && integrator.retake(&mut self.rhs(model, &p), t)
                {
                    (t1, approaches) = (integrator.t(), approaches + 1);
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
                    if from == t0 && halvings < MOST_HALVINGS && self.halves(model, &p, &mut **integrator, at) {
                        (t1, halvings) = (integrator.t(), halvings + 1);
                        self.location.search(model, &SearchedStep { program: &p, integrator: &**integrator, t0, t1 });
                        continue;
                    }
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
                if from == t0 && halvings < MOST_HALVINGS && self.halves(model, &p, &mut **integrator, end) {
                    (t1, halvings) = (integrator.t(), halvings + 1);
                    self.location.search(model, &SearchedStep { program: &p, integrator: &**integrator, t0, t1 });
                    continue;
                }
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
                    if approaches > 0 {
                        integrator.grow_from_here();
                    }
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

    /// A step has gone to where the equations have no values, at `t`: multistep methods do not look at its end. It is taken again, half
    /// as far, if it can be.
    fn halves(&mut self, model: &mut Model, program: &ModeProgram, integrator: &mut dyn Integrator, t: f64) -> bool {
        let known = self.evaluate_at(model, program, integrator, t);
        // A root below zero within the step may be an error of dense output: a step that ends there tells.
        if known.is_ok() && t < integrator.t() && self.outside(model, program, t).is_some() {
            let taken = integrator.retake(&mut self.rhs(model, program), t);
            model.machine.course.cut(integrator.t());
            return taken;
        }
        let no_value = match known {
            Err(Trouble::NotFinite(_)) => true,
            Ok(()) => model.not_finite(program).is_some(),
            Err(_) => false,
        };
        if !no_value || !model.machine.host.lines.list.is_empty() {
            return false;
        }
        let begin = integrator.t_prev();
        let mut again = |part: &f64| integrator.retake(&mut self.rhs(model, program), begin + part * (t - begin));
        let taken = [0.5, 0.1, 1e-2, 1e-4].iter().any(&mut again);
        model.machine.course.cut(integrator.t());
        taken
    }

    /// Whether the integration may begin anew where no step leads on: the equations have values there, and it has not done so often.
    /// States that are below zero by errors begin at zero.
    fn begins_afresh(&mut self, model: &mut Model, program: &ModeProgram, integrator: &dyn Integrator) -> bool {
        let (t, mut x) = (integrator.t(), integrator.x().to_vec());
        for (x, &n) in x.iter_mut().zip(&program.nominal) {
            if *x < 0.0 && *x > -10.0 * self.absolute(n) {
                *x = 0.0;
            }
        }
        let count = if t - self.afresh.0 > AFRESH * self.span() { 0 } else { self.afresh.1 };
        if count >= MOST_AFRESH || self.evaluate(model, program, t, &x).is_err() {
            return false;
        }
        self.afresh = (if count == 0 { t } else { self.afresh.0 }, count + 1);
        true
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
        let reach = |k: &usize| {
            !model.idle().contains(&relations[*k])
                && self.location.comes_to(model, &step, *k, end, (before[*k], g[*k], dt), close)
        };
        let found: Vec<usize> = (0..relations.len()).filter(reach).map(|k| relations[k]).collect();
        self.location.touching.extend(&found);
        self.last.clone_from(&found);
        (!found.is_empty()).then_some(found)
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
            if !model.idle().is_empty() {
                self.evaluate_at(model, program, integrator, t).ok()?;
            }
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
        self.location.rouse(program, &model.roused(&changed));
        for &i in fired {
            self.flip(model, program, i, t);
        }
        Ok(())
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

    /// Waits for the wall clock, so that nothing is told before its time; tells once if it is not kept up with.
    fn pace(&mut self, t: f64, observer: &mut dyn Observer) {
        let Some(pace) = &self.pace else { return };
        self.report.late = pace.wait(t, || observer.cancelled());
        if let Some(late) = self.report.late {
            let text = format!("the run does not keep up with the clock: at time {t:?} it is {late:.1} s behind");
            self.say(observer, &text, Span::NONE, "late");
        }
    }
}
