//! Running steps: batches, simultaneous equations, relations, mixed loops.

use crate::compile::{MixedBlock, Step};
use crate::course::Course;
use crate::instants::Instants;
use crate::layout::Layout;
use crate::start::ModeMethod;
use crate::transport::Lines;
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_dae::{HybridDae, Operand, Row, VarId};
use saltus_expr::{Binary, FuncId, Node, RelOp};
use saltus_function::{ExecError, Function};
use saltus_program::{Backend, Batch, CallHost, Chain, Functions, Interval, Window};
use saltus_solver::nonlinear::{
    Method, PiecewiseOptions, PiecewiseOutcome, PiecewiseSystem, piecewise::LockedFailure, solve_piecewise,
};
use saltus_structure::{Cell, Relation, RelationKind, Role, SharedCall, WhenHead, tidy};
use std::rc::Rc;

/// Why an evaluation failed.
#[derive(Clone, Debug)]
pub enum Trouble {
    /// A value is not a number.
    NotFinite(Vec<Cell>),
    /// A system of equations could not be solved: what was tried, unknowns, sources, residuals.
    Unsolved {
        /// In words.
        reason: String,
        /// The unknowns with their values.
        unknowns: Vec<(Cell, f64)>,
        /// The equations with their residuals, worst first.
        equations: Vec<((usize, u8), f64)>,
        /// What else is known about the place where it ended.
        findings: Box<Findings>,
    },
    /// No consistent choice of these discrete unknowns.
    NoMode {
        /// The discrete unknowns.
        cells: Vec<Cell>,
        /// How many choices were tried.
        tried: usize,
        /// The first of them: values of the cells.
        modes: Vec<Vec<f64>>,
    },
    /// A function failed.
    Function(ExecError),
}

/// What is known about a system of equations where its solution failed.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Estimated condition number of the scaled Jacobian; infinite if singular.
    pub condition: Option<f64>,
    /// Unknowns on a bound.
    pub at_bounds: Vec<Cell>,
    /// How much the (scaled) residual changes when an unknown changes by its own size, the largest first.
    pub sensitivity: Vec<(Cell, f64)>,
}

/// A line of the journal of an initialization.
#[derive(Clone, Debug)]
pub enum Note {
    /// Work on a system of equations begins.
    Block {
        /// Its unknowns.
        cells: Vec<Cell>,
        /// Its equations.
        sources: Vec<(usize, u8)>,
    },
    /// One iteration.
    Iteration {
        /// The method.
        method: &'static str,
        /// Largest residual.
        residual: f64,
        /// Size of the step relative to the unknowns, where known.
        step: f64,
        /// Its damping.
        damping: f64,
        /// The homotopy parameter.
        lambda: f64,
        /// The unknowns.
        values: Vec<f64>,
    },
    /// How the work on the system ended.
    End {
        /// Whether it is solved.
        solved: bool,
        /// By what, or why not.
        how: String,
    },
    /// The discrete unknowns of a mixed loop before a new try.
    Mode {
        /// Which.
        cells: Vec<Cell>,
        /// Their values.
        values: Vec<f64>,
    },
}

/// Modes of a loop that are tried one by one at most.
const ENUMERATED: usize = 2048;

/// Which part of itself a Real that is computed again may differ by.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// How often Integers and Booleans of a loop are computed from each other until they agree.
const MOST_ROUNDS: usize = 1000;

/// Modes that may fail before the search for one is given up: with Newton's method alone, with the slow, robust methods, while
/// there are other ways to go.
const MOST_FAILURES: usize = 512;
const STUBBORN: usize = 48;
const FIRST_FAILURES: usize = 24;

/// Slacks of [`Machine::crosses_at_zero`]: zero as it is, but that nothing counts as a jump onto it; and somewhat wider.
const AT_ZERO: f64 = 1.0 + f64::EPSILON;
const NEAR_ZERO: f64 = 1e3;

/// Rounds in which other relations follow what has crossed.
const ROUNDS_AT_ZERO: usize = 8;

/// Modes beside a singular one that are tried.
const NEIGHBOURS: usize = 200;

/// Relations that are turned together to find one, in all combinations.
const MOST_TURNED: usize = 3;

/// Results of a function kept at a time: the entries of a Jacobian ask for one direction after another.
const KEPT: usize = 8;

/// The same of functions with effects, which must not be called twice at one event for the same.
const KEPT_EFFECTS: usize = 1024;

/// A call and its results.
#[derive(Clone, Default)]
struct Kept {
    args: Vec<f64>,
    results: Vec<f64>,
}

/// The last calls of one function, reused in turn.
#[derive(Clone, Default)]
struct Recent {
    kept: Vec<Kept>,
    next: usize,
}

impl Recent {
    fn find(&self, args: &[f64], dargs: &[f64]) -> Option<&Kept> {
        let n = args.len();
        self.kept
            .iter()
            .find(|k| k.args.len() == n + dargs.len() && same(&k.args[..n], args) && same(&k.args[n..], dargs))
    }

    /// Takes the place of the oldest call.
    fn place(&mut self, args: &[f64], dargs: &[f64], most: usize) -> &mut Kept {
        if self.kept.len() < most {
            self.kept.push(Kept::default());
            self.next = self.kept.len() - 1;
        }
        let at = self.next;
        self.next = (at + 1) % most;
        let kept = &mut self.kept[at];
        kept.args.clear();
        kept.args.extend_from_slice(args);
        kept.args.extend_from_slice(dargs);
        kept
    }
}

/// The last evaluation of a [`saltus_structure::SharedCall`].
#[derive(Clone)]
struct Shared {
    func: FuncId,
    ticket: f64,
    kept: Kept,
}

/// Function calls of kernels, with the last results of each function kept.
pub struct Host {
    functions: Box<dyn Functions>,
    shared: Vec<Shared>,
    /// By function: the shared call that it evaluates, or whose results it reads.
    shares: FxHashMap<u32, (usize, Share)>,
    /// Delays and distributions, read by functions of their own.
    pub(crate) lines: Lines,
    values: Vec<Recent>,
    slopes: Vec<Recent>,
    scratch: Vec<f64>,
    /// The first error since it was last taken.
    pub error: Option<ExecError>,
    /// Functions executed over intervals since last taken note of.
    pub(crate) enclosed: u64,
    /// Functions with effects.
    effects: Vec<FuncId>,
    /// Of each function: whether it is external.
    external: Vec<bool>,
    /// Foreign code was asked about intervals.
    pub(crate) opaque: bool,
}

impl Host {
    /// A host for these functions, run by the backend.
    pub fn new(functions: &[Function], shared: &[SharedCall], backend: &dyn Backend) -> Host {
        let both = |(k, s): (usize, &SharedCall)| [(s.call.0, (k, Share::Call)), (s.result.0, (k, Share::Result))];
        let (given, functions) = (functions, backend.functions(functions));
        let effects = (0..given.len() as u32).map(FuncId).filter(|f| functions.has_effects(*f)).collect();
        Host {
            functions,
            effects,
            shared: shared.iter().map(|s| Shared { func: s.func, ticket: 0.0, kept: Kept::default() }).collect(),
            shares: shared.iter().enumerate().flat_map(both).collect(),
            lines: Lines::default(),
            values: vec![Recent::default(); given.len()],
            slopes: vec![Recent::default(); given.len()],
            scratch: Vec::new(),
            error: None,
            enclosed: 0,
            external: given.iter().map(|f| f.external.is_some()).collect(),
            opaque: false,
        }
    }

    /// A new event: what has effects is called anew. Within one event it gives one result for the same arguments, however often
    /// that is iterated.
    pub(crate) fn forget_effects(&mut self) {
        for f in &self.effects {
            self.values[f.0 as usize] = Recent::default();
            self.shared.iter_mut().filter(|s| s.func == *f).for_each(|s| s.kept.args.clear());
        }
    }

    /// Whether a call has effects, so that it must not be made to see what would come out.
    pub(crate) fn acts(&self, func: FuncId) -> bool {
        let func = self.shares.get(&func.0).map_or(func, |&(k, _)| self.shared[k].func);
        self.effects.contains(&func)
    }

    /// Warnings of assertions in functions.
    pub fn warnings(&mut self) -> Vec<saltus_function::Warning> {
        self.functions.take_warnings()
    }

    /// Evaluates a shared call or reads its results, if the function is for that.
    fn share(&mut self, func: FuncId, args: &[f64]) -> Option<f64> {
        if self.shared.is_empty() {
            return None;
        }
        let &(k, share) = self.shares.get(&func.0)?;
        let s = &mut self.shared[k];
        if share == Share::Result {
            let current = args[0] == s.ticket;
            return Some(s.kept.results.get(args[1] as usize).copied().filter(|_| current).unwrap_or(f64::NAN));
        }
        if !same(&s.kept.args, args) {
            s.ticket += 1.0;
            s.kept.args.clear();
            s.kept.args.extend_from_slice(args);
            if let Err(e) = self.functions.call(s.func, args, &mut s.kept.results) {
                s.kept = Kept::default();
                self.error.get_or_insert(e);
                return Some(f64::NAN);
            }
        }
        Some(s.ticket)
    }
}

/// What a function has to do with a shared call.
#[derive(Clone, Copy, PartialEq)]
enum Share {
    Call,
    Result,
}

fn same(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.to_bits() == y.to_bits())
}

impl CallHost for Host {
    fn call(&mut self, func: FuncId, args: &[f64], out: u32) -> f64 {
        if let Some((v, _)) = self.lines.read(func, args.first().copied().unwrap_or(f64::NAN)) {
            return v;
        }
        if let Some(v) = self.share(func, args) {
            return v;
        }
        let Some(recent) = self.values.get_mut(func.0 as usize) else { return f64::NAN };
        let kept = match recent.find(args, &[]) {
            Some(k) => k,
            None => {
                let most = if self.effects.contains(&func) { KEPT_EFFECTS } else { KEPT };
                let k = recent.place(args, &[], most);
                if let Err(e) = self.functions.call(func, args, &mut k.results) {
                    k.args.clear();
                    k.args.push(f64::NAN);
                    k.results.clear();
                    self.error.get_or_insert(e);
                    return f64::NAN;
                }
                k
            }
        };
        kept.results.get(out as usize).copied().unwrap_or(f64::NAN)
    }

    fn call_der(&mut self, func: FuncId, args: &[f64], dargs: &[f64], out: u32) -> f64 {
        if let (&[s], &[ds]) = (args, dargs)
            && let Some((_, slope)) = self.lines.read(func, s)
        {
            return slope * ds;
        }
        let plain = func.of_tangent().unwrap_or(func);
        if let (&[s, ds], &[s1, ds1]) = (args, dargs)
            && plain != func
            && self.lines.reads(plain)
        {
            // What travels is known with its slope; how that changes is a difference.
            const H: f64 = 1e-5;
            let slope = |s: f64| self.lines.read(plain, s).map_or(f64::NAN, |r| r.1);
            return slope(s) * ds1 + (slope(s + H * s1) - slope(s - H * s1)) / (2.0 * H) * ds;
        }
        let Some(recent) = self.slopes.get_mut(plain.0 as usize) else { return f64::NAN };
        let kept = match recent.find(args, dargs) {
            Some(k) => k,
            None => {
                let k = recent.place(args, dargs, KEPT);
                if let Err(e) = self.functions.call_dual(func, args, dargs, &mut self.scratch, &mut k.results) {
                    k.args.clear();
                    k.args.push(f64::NAN);
                    k.results.clear();
                    self.error.get_or_insert(e);
                    return f64::NAN;
                }
                k
            }
        };
        kept.results.get(out as usize).copied().unwrap_or(f64::NAN)
    }

    fn enclose(&mut self, func: FuncId, args: &[Interval], out: u32) -> Interval {
        let points: Option<Vec<f64>> = args.iter().map(|a| (a.lo == a.hi).then_some(a.lo)).collect();
        if let Some(args) = points {
            return Interval::point(self.call(func, &args, out));
        }
        if let Some(range) = self.lines.enclose(func, args) {
            return range;
        }
        // Of an external function the range is known at once, or nothing is.
        let external = self.external.get(func.0 as usize) == Some(&true);
        self.enclosed += u64::from(!external);
        let known = self.functions.enclose(func, args);
        self.opaque |= known.is_err() && external;
        known.ok().and_then(|v| v.get(out as usize).copied()).unwrap_or(Interval::WHOLE)
    }
}

/// How a relation is evaluated.
pub struct RelationSlots {
    /// Computes g.
    pub batch: Batch,
    /// Where g is.
    pub g: u32,
    /// Where the truth value is.
    pub var: u32,
    /// What it is.
    pub kind: RelationKind,
    /// Affine in time alone: switches exactly when `time` passes this slot's value (see [`TimeSwitch`]).
    pub time: Option<TimeSwitch>,
    /// Largest |g| seen: what "at zero" means.
    pub size: f64,
    /// At most 1: the largest nominal value of what it reads, if that is small.
    pub nominal: f64,
    /// g when the event being handled began.
    pub left: f64,
    /// Keeps its value while an event is handled: the solution slides along its surface.
    pub frozen: bool,
    /// Widens the zero while g leaves it after a mode change: what the integrator may be wrong by.
    pub floor: f64,
    /// What it compares unknowns with: g where all of them are zero, and the side that has none.
    pub thresholds: Vec<(Batch, u32)>,
    /// Bounds what counts as zero: who compares with 1e-16 tells it from zero.
    pub finest: f64,
}

/// A relation `slope * time + rest` over things that change only at events.
pub struct TimeSwitch {
    /// Computes slope and rest.
    pub batches: [Batch; 2],
    /// Where they are.
    pub slots: [u32; 2],
}

/// The values of a run and what evaluates them.
pub struct Machine {
    /// All numbers.
    pub values: Vec<f64>,
    /// Kernels.
    pub backend: Box<dyn Backend>,
    /// Functions.
    pub host: Host,
    /// Relations.
    pub relations: Vec<RelationSlots>,
    /// When heads: per branch, (condition, previous condition) slots.
    pub whens: Vec<Vec<Vec<(u32, u32)>>>,
    /// Time slot.
    pub time: u32,
    /// Relations are evaluated as they stand, without hysteresis or time switches (initialization).
    pub plain_relations: bool,
    /// All relations keep their values.
    pub hold_relations: bool,
    /// Newton falls back on slow, robust methods.
    pub patient: bool,
    /// How often these may still fail while a step looks for its length; what the last failure was.
    pub patience: Option<(u32, Option<Trouble>)>,
    /// There are other ways to a solution: a search for modes that does not get on is given up soon.
    pub hurried: bool,
    /// Whether one was.
    pub given_up: bool,
    /// The present mode has lost its solution: the robust methods are not asked about it.
    pub stranded: bool,
    /// Relative tolerance of the run.
    pub tolerance: f64,
    /// Which instants of the run are one.
    pub instants: Instants,
    /// Widens what counts as "at zero" while a consistent mode is searched for (1 otherwise).
    pub slack: f64,
    /// Some values of conditions leave the equations of this mode singular.
    pub suspected: bool,
    /// Slots of relations that have just crossed.
    pub fresh: Vec<u32>,
    /// How often a block was solved where it is singular.
    pub degenerate: u64,
    /// Blocks that are singular count as unsolved.
    pub regular_only: bool,
    /// The values after the last event, while the equations are singular and steps are taken: what they leave open is then
    /// a function of states and time, not of what was evaluated before.
    pub held: Vec<f64>,
    /// Loops in which shares are open and remembered, by the slots of their continuous unknowns, see [`crate::losses`].
    pub(crate) lossy: FxHashMap<u32, Rc<MixedBlock>>,
    /// What the unknowns of these are with losses.
    pub(crate) beside: FxHashMap<u32, f64>,
    /// Where the unknowns of nonlinear blocks are heading.
    pub course: Course,
    /// The robust methods, in order.
    pub methods: Vec<BlockMethod>,
    /// How mixed loops find their mode, in order.
    pub mode_methods: Vec<ModeMethod>,
    /// Slots of discrete variables with the slots of their previous values.
    pub previous: FxHashMap<u32, u32>,
    /// How often loops may yet be led from instant to instant at the event being handled, see [`Machine::lead`].
    pub leads: u8,
    /// Whether one was in this instant: the next has to show whether its relations agree with its values.
    pub led: bool,
    /// Slots of islands that the event being handled is no event of: steps that determine them are left out (assignments give
    /// what they gave). Empty: there are none.
    pub idle: Vec<bool>,
    /// Whether somebody wants it all to end: searches for values and modes give up.
    pub stop: Option<fn() -> bool>,
    /// The run has not begun: when-clauses that act at the start have done so.
    pub starting: bool,
    /// What happens, if somebody wants to know.
    pub journal: Option<Box<dyn FnMut(Note)>>,
    /// Loops with several solutions: discrete unknowns, their values in the solution taken, and in another.
    pub ambiguous: Vec<(Vec<Cell>, Vec<f64>, Vec<f64>)>,
    /// Relations of loops whose mode has been seen to hold a moment after the event being handled.
    pub holds_ahead: Vec<usize>,
    /// When small losses last decided which mode follows, and how many times shortly before.
    pub decided_by_losses: (f64, usize),
    /// Relations whose values were decided together with a mode; those at zero stay what they are.
    pub decided: FxHashSet<usize>,
    /// Unknowns for which the start found no value within their bounds.
    pub outside: Vec<Cell>,
}

/// How often a loop is looked at for other solutions.
const LOOKS: u8 = 3;

/// A robust method for one system of equations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockMethod {
    /// One of the solver's own.
    Ladder(Method),
    /// Continuation along `homotopy()`.
    Homotopy,
}

impl Machine {
    /// Slots of the when heads.
    pub fn when_slots(layout: &mut Layout, whens: &[WhenHead]) -> Vec<Vec<Vec<(u32, u32)>>> {
        whens
            .iter()
            .map(|w| {
                w.branches
                    .iter()
                    .map(|(cs, _)| {
                        cs.iter().map(|&c| (layout.slot(Cell::new(c, 0)), layout.slot(Cell::pre(c)))).collect()
                    })
                    .collect()
            })
            .collect()
    }

    /// Runs one batch.
    pub fn batch(&mut self, b: &Batch) {
        self.backend.run(b, &mut self.values, &mut self.host);
    }

    /// Runs assignments.
    pub fn chain(&mut self, c: &Chain) {
        self.backend.run_chain(c, &mut self.values, &mut self.host);
    }

    /// The same with results in a window.
    pub fn chain_into(&mut self, c: &Chain, window: Window<'_>) {
        self.backend.run_chain_into(c, &mut self.values, window, &mut self.host);
    }

    /// Whether a search should be given up because somebody wants it all to end.
    pub fn stopped(&self) -> bool {
        self.patient && self.stop.is_some_and(|stop| stop())
    }

    /// Runs steps in order.
    pub fn run(&mut self, steps: &[Step]) -> Result<(), Trouble> {
        for s in steps {
            if self.leaves_out(s) {
                continue;
            }
            match s {
                Step::Assign(c) => self.chain(c),
                Step::Solve(b) => self.solve(b)?,
                Step::Relation(i) => self.relation(*i),
                Step::When(w) => {
                    let fired = self.fired(w.when);
                    match fired.and_then(|b| w.values[b].as_ref()) {
                        Some(b) => self.batch(b),
                        None => self.values[w.slot as usize] = self.values[w.pre as usize],
                    }
                }
                Step::Mixed(m) => self.mixed(m)?,
            }
        }
        match self.host.error.take() {
            Some(e) => Err(Trouble::Function(e)),
            None => Ok(()),
        }
    }

    /// Whether a slot belongs to an island that is left out.
    pub fn is_idle(&self, slot: u32) -> bool {
        self.idle.get(slot as usize).is_some_and(|&idle| idle)
    }

    /// Whether a step determines what is left out.
    fn leaves_out(&self, step: &Step) -> bool {
        if self.idle.is_empty() {
            return false;
        }
        let first = match step {
            Step::Assign(_) => None,
            Step::Solve(b) => b.unknowns.first(),
            Step::Relation(i) => Some(&self.relations[*i].var),
            Step::When(w) => Some(&w.slot),
            Step::Mixed(m) => m.slots.iter().chain(&m.continuous_slots).next(),
        };
        first.is_some_and(|&s| self.is_idle(s))
    }

    /// The branch of a when-equation with a rising edge.
    pub fn fired(&self, when: usize) -> Option<usize> {
        self.whens[when]
            .iter()
            .position(|cs| cs.iter().any(|&(c, p)| self.values[c as usize] != 0.0 && self.values[p as usize] == 0.0))
    }

    /// Whether a when-equation is on an island that is left out.
    pub fn unattended(&self, when: usize) -> bool {
        self.whens[when].iter().flatten().any(|&(c, _)| self.is_idle(c))
    }

    /// What "at zero" means for a relation.
    pub fn band(&self, i: usize) -> f64 {
        let r = &self.relations[i];
        (1e-12 * self.slack * r.size.max(1e-2 * r.nominal)).min(r.finest).max(r.floor)
    }

    /// Evaluates a relation into its variable.
    pub fn relation(&mut self, i: usize) {
        let g = self.function(i);
        let r = &self.relations[i];
        let old = self.values[r.var as usize];
        if self.hold_relations || r.frozen {
            return;
        }
        let new = if self.plain_relations {
            // Where no mode is found otherwise, either value will do at zero.
            if self.slack > 1.0 && g.abs() <= self.band(i) { old } else { plain(&r.kind, g) }
        } else if r.time.is_some() {
            // Never widened: exact.
            let at = self.time_switch(i).map(|s| s.0);
            match at {
                Some(v) => v,
                None => plain(&self.relations[i].kind, g),
            }
        } else {
            let band = self.band(i);
            let r = &self.relations[i];
            match &r.kind {
                // What has just been decided together with a mode stays so at zero.
                RelationKind::Sign(_)
                    if g.abs() <= crate::pivot::AT_ZERO * band
                        && self.decided.contains(&i)
                        && self.holds_ahead.contains(&i) =>
                {
                    old
                }
                // A jump across or onto zero is judged by where it ends; one onto zero itself, however small it is.
                RelationKind::Sign(_)
                    if self.slack == 1.0 && (!((g - r.left).abs() <= 4.0 * band) || (g == 0.0 && r.left != 0.0)) =>
                {
                    plain(&r.kind, if g.abs() <= band { 0.0 } else { g })
                }
                RelationKind::Sign(op) => {
                    // The locked bit stays unless g is beyond doubt on the other side.
                    let positive_true = matches!(op, RelOp::Gt | RelOp::Ge);
                    let side = if (old != 0.0) == positive_true { g } else { -g };
                    if side < -band { f64::from(old == 0.0) } else { old }
                }
                RelationKind::Floor => {
                    let band = band.max(1e-9);
                    let jumped = self.slack == 1.0 && !((g - r.left).abs() <= 4.0 * band);
                    if jumped || g < old - band || g >= old + 1.0 + band { (g + band).floor() } else { old }
                }
            }
        };
        let r = &self.relations[i];
        self.values[r.var as usize] = new;
    }

    /// Notes what the relations compare with, once the parameters are known.
    pub fn thresholds(&mut self) {
        for i in 0..self.relations.len() {
            self.relations[i].finest = f64::INFINITY;
            for (batch, slot) in self.relations[i].thresholds.clone() {
                self.backend.run(&batch, &mut self.values, &mut self.host);
                let at = self.values[slot as usize].abs();
                if at > 0.0 {
                    let r = &mut self.relations[i];
                    r.finest = r.finest.min(0.1 * at);
                    r.nominal = r.nominal.min(100.0 * at);
                }
            }
        }
        self.host.error = None;
    }

    /// Notes crossing functions as an event begins.
    pub fn note_left(&mut self, which: impl Iterator<Item = usize>) {
        for i in which {
            if self.is_idle(self.relations[i].var) {
                continue;
            }
            self.relations[i].left = self.function(i);
        }
        self.host.error = None;
    }

    /// For a relation on time alone: its value from now on, and when it changes next.
    pub fn time_switch(&mut self, i: usize) -> Option<(f64, f64)> {
        let r = &self.relations[i];
        let s = r.time.as_ref()?;
        let (b0, b1, s0, s1) = (s.batches[0].clone(), s.batches[1].clone(), s.slots[0], s.slots[1]);
        self.backend.run(&b0, &mut self.values, &mut self.host);
        self.backend.run(&b1, &mut self.values, &mut self.host);
        let (a, b) = (self.values[s0 as usize], self.values[s1 as usize]);
        let t = self.values[self.time as usize];
        let r = &self.relations[i];
        let close = self.instants.close(t);
        match &r.kind {
            RelationKind::Sign(op) => {
                if a == 0.0 || !a.is_finite() || !b.is_finite() {
                    return Some((plain(&r.kind, b), f64::INFINITY));
                }
                let at = -b / a;
                let positive_true = matches!(op, RelOp::Gt | RelOp::Ge);
                let after = f64::from((a > 0.0) == positive_true);
                if t >= at - close { Some((after, f64::INFINITY)) } else { Some((1.0 - after, at)) }
            }
            RelationKind::Floor => {
                if a == 0.0 || !a.is_finite() || !b.is_finite() {
                    return Some((b.floor(), f64::INFINITY));
                }
                let g = a * t + b;
                // Next integer in the direction of travel; within rounding of one, it has been reached.
                let near = g.round();
                let rounding = 4.0 * f64::EPSILON * (g.abs() + b.abs());
                let here = if (g - near).abs() <= a.abs() * close + rounding { near } else { g };
                if a > 0.0 {
                    let k = here.floor();
                    Some((k, (k + 1.0 - b) / a))
                } else {
                    let k = (here.ceil() - 1.0).max(g.floor() - 1.0);
                    let k = if here == near { near - 1.0 } else { k };
                    Some((k, (k - b) / a))
                }
            }
        }
    }

    /// The values of all relations' functions, given an evaluated continuous part.
    pub fn crossing_values(&mut self, which: &[usize], out: &mut [f64]) {
        for (o, &i) in out.iter_mut().zip(which) {
            *o = self.function(i);
        }
    }

    /// Solves a loop through discrete and continuous unknowns; at the first events, looks whether there is another solution.
    fn mixed(&mut self, m: &Rc<MixedBlock>) -> Result<(), Trouble> {
        self.note_losses(m);
        self.settle(m)?;
        if self.patient && !self.plain_relations && !self.hold_relations && m.looks.get() < LOOKS {
            m.looks.set(m.looks.get() + 1);
            if let Some(other) = self.another(m) {
                let taken = m.slots.iter().map(|&s| self.values[s as usize]).collect();
                self.ambiguous.push((m.cells.clone(), taken, other));
                m.looks.set(LOOKS);
            }
        }
        Ok(())
    }

    /// Takes a loop to a consistent mode: without losses where with them there is none.
    fn settle(&mut self, m: &Rc<MixedBlock>) -> Result<(), Trouble> {
        let of = |me: &Machine, slots: &[u32]| -> Vec<f64> { slots.iter().map(|&s| me.values[s as usize]).collect() };
        let (first, start) = (of(self, &m.slots), of(self, &m.continuous_slots));
        let found = self.fixed_point(m);
        if found.is_ok() || !self.is_lossy(m) {
            return found;
        }
        self.forgo_losses(m);
        m.slots.iter().zip(&first).for_each(|(&s, &v)| self.values[s as usize] = v);
        m.continuous_slots.iter().zip(&start).for_each(|(&s, &v)| self.values[s as usize] = v);
        let without = self.fixed_point(m);
        // What fails either way says nothing about losses.
        m.lossless.set(without.is_ok());
        without
    }

    /// Another consistent mode of a solved loop, in which unknowns have other values. The loop keeps its own.
    fn another(&mut self, m: &MixedBlock) -> Option<Vec<f64>> {
        let mut bits: Vec<u32> = Vec::new();
        for step in &m.discrete {
            if let Step::Relation(i) = step {
                let r = &self.relations[*i];
                if r.frozen || !matches!(r.kind, RelationKind::Sign(_)) {
                    return None;
                }
                bits.push(r.var);
            }
        }
        let n = bits.len();
        let keep = self.values.clone();
        let of = |v: &[f64], slots: &[u32]| -> Vec<f64> { slots.iter().map(|&s| v[s as usize]).collect() };
        let (own, unknowns) = (of(&keep, &m.slots), of(&keep, &m.continuous_slots));
        // All modes of a few relations, the neighbours of more.
        let masks: Vec<usize> = if n <= 4 { (1..1 << n).collect() } else { (0..n.min(24)).map(|k| 1 << k).collect() };
        // Where Newton's method does not lead there is hardly a solution to tell of.
        let (degenerate, patient) = (self.degenerate, std::mem::take(&mut self.patient));
        let mut found = None;
        for mask in masks {
            for (k, &slot) in bits.iter().enumerate() {
                let bit = keep[slot as usize];
                self.values[slot as usize] = if mask >> k & 1 == 1 { f64::from(bit == 0.0) } else { bit };
            }
            self.hold_relations = true;
            let mut defined = self.run(&m.discrete).is_ok();
            if self.starting {
                // What is true from the start does not rise there.
                for step in &m.discrete {
                    let Step::When(w) = step else { continue };
                    let conditions = self.whens[w.when].iter().flatten();
                    conditions.for_each(|&(c, p)| self.values[p as usize] = self.values[c as usize]);
                }
                defined = defined && self.run(&m.discrete).is_ok();
            }
            self.hold_relations = false;
            let before = of(&self.values, &m.slots);
            let solved = defined && before != own && self.run(&m.continuous).is_ok() && self.run(&m.discrete).is_ok();
            let apart = |(a, b): (&f64, &f64)| (a - b).abs() > 1e-6 * (a.abs() + b.abs()) + 1e-9;
            if solved
                && self.degenerate == degenerate
                && of(&self.values, &m.slots) == before
                && of(&self.values, &m.continuous_slots).iter().zip(&unknowns).any(apart)
            {
                found = Some(before);
            }
            self.host.error = None;
            self.values.copy_from_slice(&keep);
            if found.is_some() || self.degenerate > degenerate {
                break;
            }
        }
        self.patient = patient;
        found
    }

    /// Iterates a loop through discrete and continuous unknowns to a fixed point; if plain iteration cycles, searches.
    fn fixed_point(&mut self, m: &Rc<MixedBlock>) -> Result<(), Trouble> {
        let start: Vec<f64> = m.continuous_slots.iter().map(|&s| self.values[s as usize]).collect();
        let mut seen: Vec<Vec<f64>> = Vec::new();
        let mut failed = None;
        let iterate = self.mode_methods.contains(&ModeMethod::Iteration);
        let now: Vec<f64> = m.slots.iter().map(|&s| self.values[s as usize]).collect();
        let most = if m.continuous.is_empty() { MOST_ROUNDS } else { 40 };
        // Whether nothing but rounding changed in the last round.
        let mut settled = false;
        for _ in 0..if iterate { most } else { 0 } {
            let degenerate = self.degenerate;
            let before: Vec<f64> = m.slots.iter().map(|&s| self.values[s as usize]).collect();
            if seen.contains(&before) {
                break;
            }
            seen.push(before.clone());
            self.note(|| Note::Mode { cells: m.cells.clone(), values: before.clone() });
            let patient = self.patient;
            self.patient &= !(self.stranded && seen.len() == 1);
            let solved = self.run(&m.continuous);
            self.patient = patient;
            if let Err(e) = solved {
                failed = Some(e);
                break;
            }
            let singular = self.degenerate > degenerate;
            m.degenerate.set(m.degenerate.get() || singular);
            if singular && m.remembers && !m.lossless.get() && !self.is_lossy(m) {
                self.note_losses(m);
                seen.pop();
                continue;
            }
            self.run(&m.discrete)?;
            settled = m.agree(&self.values, &before, ROUNDING);
            if m.agree(&self.values, &before, 0.0) {
                if singular && self.patient && !self.basic_mode(m, &before) && self.suspected {
                    self.regular_neighbour(m);
                }
                return Ok(());
            }
            // Where modes are singular, a regular one is as good as others with functions at zero.
            if seen.len() == 1
                && !singular
                && self.patient
                && !self.plain_relations
                && self.is_degenerate(m)
                && !self.is_lossy(m)
            {
                let found: Vec<f64> = m.slots.iter().map(|&s| self.values[s as usize]).collect();
                m.slots.iter().zip(&before).for_each(|(&s, &v)| self.values[s as usize] = v);
                self.slack = crate::pivot::AT_ZERO;
                let good = self.run(&m.discrete).is_ok() && m.agree(&self.values, &before, 0.0);
                self.slack = 1.0;
                if good {
                    return Ok(());
                }
                m.slots.iter().zip(&found).for_each(|(&s, &v)| self.values[s as usize] = v);
            }
        }
        if settled && failed.is_none() {
            return Ok(());
        }
        if seen.is_empty() {
            seen.push(now);
        }
        let first = seen[0].clone();
        if failed.is_none() && self.crosses_at_zero(m, &start, &first, AT_ZERO) {
            return Ok(());
        }
        // Where plain iteration has led is often close to a solution that lies beyond a kink.
        if self.real_loop(m, &first) || seen.last().cloned().is_some_and(|last| self.real_loop(m, &last)) {
            return Ok(());
        }
        let exhaustive = m.slots.len() <= ENUMERATED.ilog2() as usize;
        for k in 0..self.mode_methods.len() {
            let found = match self.mode_methods[k] {
                ModeMethod::Pivoting => self.complementary(m, &first),
                ModeMethod::Semismooth => self.semismooth(m, &first),
                ModeMethod::Homotopy => {
                    (failed.is_none() && self.crosses_at_zero(m, &start, &first, NEAR_ZERO))
                        // Where all modes will be tried anyway, paths between them are a detour.
                        || !(exhaustive && self.mode_methods.contains(&ModeMethod::Search))
                            && self.locked_homotopy(m, &first)
                }
                ModeMethod::Iteration | ModeMethod::Search => false,
            };
            if found {
                return Ok(());
            }
            self.host.error = None;
            for (&s, &v) in m.continuous_slots.iter().zip(&start) {
                self.values[s as usize] = v;
            }
        }
        m.slots.iter().zip(&first).for_each(|(&s, &v)| self.values[s as usize] = v);
        if !self.mode_methods.contains(&ModeMethod::Search) {
            seen.truncate(4);
            return Err(failed.unwrap_or(Trouble::NoMode { cells: m.cells.clone(), tried: seen.len(), modes: seen }));
        }
        // Search over the relations, from which the other discrete unknowns follow; then over all that have two values.
        let two_valued = |k: &usize| seen.iter().all(|s| s[*k] == 0.0 || s[*k] == 1.0);
        let bits: Vec<usize> = (0..m.slots.len()).filter(two_valued).collect();
        let is_relation = |k: &&usize| {
            let relation = |step: &Step| matches!(step, Step::Relation(i) if self.relations[*i].var == m.slots[**k]);
            m.discrete.iter().any(relation)
        };
        let relations: Vec<usize> = bits.iter().filter(is_relation).copied().collect();
        struct Search<'a> {
            machine: &'a mut Machine,
            block: &'a MixedBlock,
            bits: Vec<usize>,
            start: Vec<f64>,
            error: Option<Trouble>,
            /// Modes left that may fail.
            failures: usize,
            /// The other discrete unknowns follow from the bits.
            follow: bool,
        }
        impl PiecewiseSystem for Search<'_> {
            fn n_bits(&self) -> usize {
                self.bits.len()
            }
            fn solve_locked(&mut self, bits: &[bool]) -> Result<(), LockedFailure> {
                if self.failures == 0 {
                    return Err(LockedFailure);
                }
                for (&k, &b) in self.bits.iter().zip(bits) {
                    self.machine.values[self.block.slots[k] as usize] = f64::from(b);
                }
                if self.follow {
                    self.machine.hold_relations = true;
                    let defined = self.machine.run(&self.block.discrete);
                    // Reals that the loop determines have to satisfy their equations in this mode.
                    let from: Vec<f64> = self.block.slots.iter().map(|&s| self.machine.values[s as usize]).collect();
                    let solved = self.block.reals.is_empty() || self.machine.real_loop(self.block, &from);
                    self.machine.hold_relations = false;
                    defined.map_err(|_| LockedFailure)?;
                    if !solved {
                        self.failures -= 1;
                        return Err(LockedFailure);
                    }
                }
                if let Err(e) = self.machine.run(&self.block.continuous) {
                    self.error = Some(e);
                    self.failures -= 1;
                    for (&s, &v) in self.block.continuous_slots.iter().zip(&self.start) {
                        self.machine.values[s as usize] = v;
                    }
                    return Err(LockedFailure);
                }
                Ok(())
            }
            fn relations(&mut self, out: &mut [bool]) {
                let keep: Vec<f64> = self.block.slots.iter().map(|&s| self.machine.values[s as usize]).collect();
                if let Err(e) = self.machine.run(&self.block.discrete) {
                    self.error = Some(e);
                }
                for (o, &k) in out.iter_mut().zip(&self.bits) {
                    *o = self.machine.values[self.block.slots[k] as usize] != 0.0;
                }
                for (&s, v) in self.block.slots.iter().zip(keep) {
                    self.machine.values[s as usize] = v;
                }
            }
        }
        let n_bits = bits.len();
        let mut error = failed;
        let (mut tries, mut solvable) = (0, false);
        // Where a function of the solution is zero but for rounding, strictness excludes every mode: widen the zero.
        let slacks = [1.0, 1e3, 1e6];
        // Newton's method alone first: a mode that it cannot solve is seldom the one, and the robust methods cost a thousand
        // times as much.
        let patient = self.patient;
        let some = !relations.is_empty() && relations.len() < m.slots.len() && !self.hold_relations;
        // Integers can only follow.
        let all = bits.len() == m.slots.len();
        let quick = slacks.iter().flat_map(|&s| [(s, false, true), (s, false, false)]);
        let quick = quick.filter(|&(_, _, follow)| if follow { some } else { all });
        let slow = slacks.iter().map(|&s| (s, true, !all)).filter(|_| patient && !self.hurried && (all || some));
        let sweeps: Vec<(f64, bool, bool)> = quick.chain(slow).collect();
        let mut strictly = true;
        for (slack, slow, follow) in sweeps {
            if std::mem::replace(&mut strictly, slack == 1.0) && slack > 1.0 && self.lead(m, &start, &first) {
                return Ok(());
            }
            self.patient = slow;
            for (&s, &v) in m.continuous_slots.iter().zip(&start) {
                self.values[s as usize] = v;
            }
            self.slack = slack;
            let failures = match (self.hurried, slow) {
                (true, _) => FIRST_FAILURES,
                (false, true) => STUBBORN,
                (false, false) => MOST_FAILURES,
            };
            let (bits, start) = (if follow { &relations } else { &bits }.clone(), start.clone());
            let first: Vec<bool> = bits.iter().map(|&k| seen[0][k] != 0.0).collect();
            m.slots.iter().zip(&seen[0]).for_each(|(&s, &v)| self.values[s as usize] = v);
            let mut search = Search { machine: self, block: m, bits, start, error: None, failures, follow };
            let outcome = solve_piecewise(
                &mut search,
                &first,
                &PiecewiseOptions { max_enumeration: ENUMERATED, ..Default::default() },
            );
            error = search.error.take().or(error);
            (self.slack, self.patient) = (1.0, patient);
            self.host.error = None;
            match outcome {
                PiecewiseOutcome::NoConsistentMode { tried, nearest, .. } => {
                    (tries, solvable) = (tried, solvable || nearest.is_some());
                }
                _ => return Ok(()),
            }
        }
        self.given_up |= self.hurried;
        match error {
            // Equations that hold in no mode say more than the modes.
            Some(e) if n_bits == 0 || (!solvable && matches!(e, Trouble::Unsolved { .. })) => Err(e),
            _ => {
                // Integers are not searched over: what was computed from each other is what was tried.
                let tried = tries.max(seen.len());
                seen.truncate(4);
                Err(Trouble::NoMode { cells: m.cells.clone(), tried, modes: seen })
            }
        }
    }

    /// Whether several modes of a loop may have the same solution.
    pub(crate) fn is_degenerate(&self, m: &MixedBlock) -> bool {
        self.suspected || m.degenerate.get()
    }

    /// Whether a loop settles once a function that is zero but for rounding, by this slack, leaves its relation as it is. What
    /// has just crossed stays: the function is at zero there on both sides, each in its own unit (a voltage here, a current there),
    /// so that rounding may exclude both.
    fn crosses_at_zero(&mut self, m: &MixedBlock, start: &[f64], first: &[f64], slack: f64) -> bool {
        let crossed: Vec<usize> = (0..m.slots.len()).filter(|&k| self.fresh.contains(&m.slots[k])).collect();
        if crossed.is_empty() || self.plain_relations || self.hold_relations || !m.reals.is_empty() {
            return false;
        }
        let restore = |me: &mut Machine| {
            m.slots.iter().zip(first).for_each(|(&s, &v)| me.values[s as usize] = v);
            m.continuous_slots.iter().zip(start).for_each(|(&s, &v)| me.values[s as usize] = v);
        };
        restore(self);
        let patient = std::mem::take(&mut self.patient);
        self.slack = slack;
        let mut good = false;
        for _ in 0..ROUNDS_AT_ZERO {
            let before: Vec<f64> = m.slots.iter().map(|&s| self.values[s as usize]).collect();
            if self.run(&m.continuous).is_err() || self.run(&m.discrete).is_err() {
                break;
            }
            good = m.agree(&self.values, &before, 0.0);
            if good || crossed.iter().any(|&k| self.values[m.slots[k] as usize] != first[k]) {
                break;
            }
        }
        (self.slack, self.patient) = (1.0, patient);
        self.host.error = None;
        if !good {
            restore(self);
        }
        good
    }

    /// A loop in which no relations and values agree may be meant to be left in two instants: `start = s > high or pre(start) and
    /// s > low` where s falls below `high` as soon as `start` is true. Relations are taken at the values that the instant began
    /// with, everything else follows. If they then agree in the next instant, with these as previous values, that is the way.
    fn lead(&mut self, m: &MixedBlock, start: &[f64], first: &[f64]) -> bool {
        if self.leads == 0 || self.plain_relations || self.hold_relations || !m.reals.is_empty() {
            return false;
        }
        self.leads -= 1;
        let patient = std::mem::take(&mut self.patient);
        m.slots.iter().zip(first).for_each(|(&s, &v)| self.values[s as usize] = v);
        m.continuous_slots.iter().zip(start).for_each(|(&s, &v)| self.values[s as usize] = v);
        let mut led = self.run(&m.discrete).is_ok();
        self.hold_relations = true;
        led = led && self.run(&m.continuous).is_ok() && self.run(&m.discrete).is_ok();
        self.hold_relations = false;
        let here = self.values.clone();
        for s in &m.slots {
            if let Some(&p) = self.previous.get(s) {
                self.values[p as usize] = self.values[*s as usize];
            }
        }
        let mut agree = false;
        for _ in 0..if led { 8 } else { 0 } {
            let before: Vec<f64> = m.slots.iter().map(|&s| self.values[s as usize]).collect();
            if self.run(&m.continuous).is_err() || self.run(&m.discrete).is_err() {
                break;
            }
            agree = m.slots.iter().zip(&before).all(|(&s, b)| self.values[s as usize] == *b);
            if agree {
                break;
            }
        }
        self.values.copy_from_slice(&here);
        self.patient = patient;
        self.host.error = None;
        self.led |= agree;
        agree
    }

    /// A consistent mode in which the equations are singular may lie on the edge of one in which they are not (two
    /// diodes that commutate, two pairs of them in a bridge): that one is taken. Relations that have just crossed stay.
    fn regular_neighbour(&mut self, m: &MixedBlock) {
        let relation = |step: &Step| match step {
            Step::Relation(i) => {
                let r = &self.relations[*i];
                let free = !r.frozen && matches!(r.kind, RelationKind::Sign(_)) && !self.fresh.contains(&r.var);
                free.then_some(r.var)
            }
            _ => None,
        };
        let free: Vec<u32> = m.discrete.iter().filter_map(relation).collect();
        // Where Newton's method does not lead no regular mode is.
        let patient = std::mem::take(&mut self.patient);
        self.regular_only = true;
        // Sets of a few relations cannot make up for many unknowns that are left open.
        let far = self.open_count(&m.continuous) > MOST_TURNED;
        // At zero either value will do, unless values beyond rounding decide.
        for slack in [1.0, 1e3] {
            self.slack = slack;
            let found = if far {
                let set = self.one_by_one(m, &free);
                self.settles_regularly(m, &set)
            } else {
                let slots = subsets(free.len()).map(|set| set.into_iter().map(|k| free[k]).collect::<Vec<u32>>());
                slots.take(NEIGHBOURS).any(|s| self.settles_regularly(m, &s))
            };
            if found {
                break;
            }
        }
        (self.slack, self.patient, self.regular_only) = (1.0, patient, false);
    }

    /// Relations of a solved loop, each of which leaves fewer unknowns open once it is turned as well.
    fn one_by_one(&mut self, m: &MixedBlock, free: &[u32]) -> Vec<u32> {
        let keep = self.values.clone();
        let (mut open, mut turned) = (self.open_count(&m.continuous), Vec::new());
        for &s in free {
            self.values[s as usize] = 1.0 - keep[s as usize];
            let now = if self.follows(m) { self.open_count(&m.continuous) } else { usize::MAX };
            if now < open {
                open = now;
                turned.push(s);
            } else {
                self.values[s as usize] = keep[s as usize];
            }
            if open == 0 {
                break;
            }
        }
        self.values.copy_from_slice(&keep);
        turned
    }

    /// What is not a relation follows from the relations.
    pub(crate) fn follows(&mut self, m: &MixedBlock) -> bool {
        self.hold_relations = true;
        let defined = self.run(&m.discrete).is_ok();
        self.hold_relations = false;
        defined
    }

    /// Whether a solved loop settles in another mode once these relations are turned, and its equations are regular there. If
    /// not, it keeps its values.
    fn settles_regularly(&mut self, m: &MixedBlock, turned: &[u32]) -> bool {
        let keep = self.values.clone();
        let bits = |me: &Machine| -> Vec<f64> { m.slots.iter().map(|&s| me.values[s as usize]).collect() };
        let found = bits(self);
        for &s in turned {
            self.values[s as usize] = 1.0 - keep[s as usize];
        }
        // Newton's method need not be asked where the equations leave unknowns open whatever their values are.
        let may = self.follows(m) && self.open_count(&m.continuous) == 0;
        let mut good = false;
        for _ in 0..if may { 4 } else { 0 } {
            let before = bits(self);
            if before == found || self.run(&m.continuous).is_err() || self.run(&m.discrete).is_err() {
                break;
            }
            good = bits(self) == before;
            if good {
                break;
            }
        }
        self.host.error = None;
        if !good {
            self.values.copy_from_slice(&keep);
        }
        good
    }

    /// Writes to the journal, if there is one.
    pub fn note(&mut self, note: impl FnOnce() -> Note) {
        if let Some(write) = &mut self.journal {
            write(note());
        }
    }
}

/// Sets of up to [`MOST_TURNED`] of n things, the small ones first.
fn subsets(n: usize) -> impl Iterator<Item = Vec<usize>> {
    let ones = (0..n).map(|i| vec![i]);
    let twos = (0..n).flat_map(move |i| (i + 1..n).map(move |j| vec![i, j]));
    let threes = (0..n).flat_map(move |i| (i + 1..n).flat_map(move |j| (j + 1..n).map(move |k| vec![i, j, k])));
    ones.chain(twos).chain(threes)
}

/// A relation's value by its function alone.
pub fn plain(kind: &RelationKind, g: f64) -> f64 {
    match kind {
        RelationKind::Floor => g.floor(),
        RelationKind::Sign(op) => f64::from(match op {
            RelOp::Lt => g < 0.0,
            RelOp::Le => g <= 0.0,
            RelOp::Gt => g > 0.0,
            RelOp::Ge => g >= 0.0,
        }),
    }
}

/// Slots and kernels of a relation. `held` are the unknowns that only events change.
pub fn relation_slots(c: &mut crate::compile::Compiler<'_>, r: &Relation, held: &FxHashSet<VarId>) -> RelationSlots {
    let g = c.layout.scratch();
    let var = c.layout.slot(Cell::new(r.var, 0));
    let batch = c.batch(g, &r.g);
    // Affine in time with everything else fixed between events?
    let mut time = None;
    let others_fixed = r.g.args.iter().all(|&a| match a {
        Operand::Var { var, .. } => {
            var == HybridDae::TIME
                || held.contains(&var)
                || (c.sys.role(var) != Role::Continuous && !c.sys.external.contains(&var))
        }
        _ => true,
    });
    if others_fixed
        && let Some(k) =
            r.g.args
                .iter()
                .position(|&a| matches!(a, Operand::Var { var, order: 0, neg: false } if var == HybridDae::TIME))
        && let Some(affine) = saltus_expr::affine_in(&mut c.sys.dae.pool, r.g.template, k as u32)
    {
        let slots = [c.layout.scratch(), c.layout.scratch()];
        let batches = [
            c.batch(slots[0], &Row { template: affine.slope, args: r.g.args.clone() }),
            c.batch(slots[1], &Row { template: affine.rest, args: r.g.args.clone() }),
        ];
        time = Some(TimeSwitch { batches, slots });
    }
    let compared = [threshold(c, &r.g), compared(c, r)];
    let thresholds = compared.into_iter().flatten().map(|row| {
        let slot = c.layout.scratch();
        (c.batch(slot, &row), slot)
    });
    let thresholds = thresholds.collect();
    let continuous = r.g.args.iter().filter_map(|&a| match a {
        Operand::Var { var, order, .. } if c.sys.role(var) == Role::Continuous => Some((var, order)),
        Operand::Var { var, .. } if var == HybridDae::TIME => Some((var, 0)),
        _ => None,
    });
    let nominal = |(v, order): (VarId, u8)| {
        let row = c.sys.dae.vars[v].nominal.as_ref().filter(|_| order == 0);
        row.and_then(|r| c.sys.dae.row_constant(r)).map_or(1.0, f64::abs)
    };
    let nominal = continuous.map(nominal).reduce(f64::max).map_or(1.0, |n| n.clamp(1e-300, 1.0));
    RelationSlots {
        batch,
        g,
        var,
        kind: r.kind.clone(),
        time,
        size: 0.0,
        nominal,
        left: f64::NAN,
        frozen: false,
        floor: 0.0,
        thresholds,
        finest: f64::INFINITY,
    }
}

/// Which operands of a row are unknowns, or `time`.
fn open(c: &crate::compile::Compiler<'_>, row: &Row) -> Vec<bool> {
    let unknown =
        |a: Operand| matches!(a, Operand::Var { var, .. } if var == HybridDae::TIME || c.sys.role(var) != Role::Known);
    row.args.iter().map(|&a| unknown(a)).collect()
}

/// The side of a relation that reads no unknowns.
fn compared(c: &mut crate::compile::Compiler<'_>, r: &Relation) -> Option<Row> {
    let open = open(c, &r.g);
    let pool = &mut c.sys.dae.pool;
    let Node::Binary(Binary::Add | Binary::Sub, a, b) = *pool.node(r.g.template) else { return None };
    let template = [b, a].into_iter().find(|&e| !pool.holes(e).into_iter().any(|k| open[k as usize]))?;
    let mut calls = matches!(r.kind, RelationKind::Floor);
    pool.visit(template, |_, n| calls |= matches!(n, Node::Call { .. } | Node::CallDer { .. }));
    (!calls).then(|| tidy(&mut c.sys.dae, &Row { template, args: r.g.args.clone() }))
}

/// A crossing function where all unknowns and `time` are zero, unless that is zero for any parameters.
fn threshold(c: &mut crate::compile::Compiler<'_>, g: &Row) -> Option<Row> {
    let open = open(c, g);
    let pool = &mut c.sys.dae.pool;
    let mut calls = false;
    pool.visit(g.template, |_, n| calls |= matches!(n, Node::Call { .. } | Node::CallDer { .. }));
    if calls {
        return None;
    }
    let template = pool.substitute(g.template, |pool, k| if open[k as usize] { pool.num(0.0) } else { pool.hole(k) });
    if pool.as_const(template) == Some(0.0) {
        return None;
    }
    Some(tidy(&mut c.sys.dae, &Row { template, args: g.args.clone() }))
}
