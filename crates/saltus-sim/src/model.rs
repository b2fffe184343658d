//! A prepared model: system, modes, layout, machine, and the programs of the modes entered so far.

use crate::compile::{CompiledBlock, CompiledParts, Compiler, Step};
use crate::conditions::Conditions;
use crate::crossings::{Crossings, Gradient, Sensitivity};
use crate::dependence;
use crate::edges;
use crate::implicit::{ImplicitForm, Wanted, is_large};
use crate::islands::Islands;
use crate::layout::{Layout, Lent};
use crate::machine::{Host, Machine, Trouble, relation_slots};
use crate::programs::Programs;
use crate::resting::Resting;
use crate::resume::begun;
use crate::slice::{moved, slice, unmoved};
use crate::start::{StartOptions, StartReport};
use crate::tangent::Tangent;
use crate::touched::Readers;
use crate::transport::{HISTORY_HEAD, Line, Mark};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_base::{Diagnostic, Span, Stage};
use saltus_dae::{HybridDae, Operand, Row, VarId, VarType, Variability, equation_text};
use saltus_expr::{Calls, FuncId};
use saltus_function::Function;
use saltus_program::{Backend, Batch, Chain};
use saltus_solver::linear::Pattern;
use saltus_structure::{
    Alias, Block, Cell, Choice, DiscKind, Item, ModeKey, Modes, Point, Role, RowOps, StructuralPlan, System, Watch,
    better_choice, cell_name, key_text, plan_mode, replan_states, singular_mode, singular_with, start_value,
    value_text,
};
use std::cell::RefCell;
use std::rc::Rc;

/// The compiled plan of one mode.
pub struct ModeProgram {
    /// Its number among the programs made.
    pub number: usize,
    /// The plan.
    pub plan: StructuralPlan,
    /// Everything continuous, given states and discrete values.
    pub continuous: Vec<Step>,
    /// What of it moves between events.
    pub between: Vec<Step>,
    /// What the derivatives of the states need of it.
    pub derivatives: Vec<Step>,
    /// States whose derivatives are constant between events: every method integrates them exactly.
    pub uniform: Vec<bool>,
    /// The derivatives' own derivatives, by the chain rule.
    pub tangent: Option<Tangent>,
    /// Derivatives of crossing functions through assignments, by relation, made when first asked for; none where equations are
    /// solved on the way.
    pub(crate) totals: RefCell<FxHashMap<usize, Option<Gradient>>>,
    /// What some of the derivatives need of it, by their numbers, made when first asked for.
    parts: RefCell<FxHashMap<Vec<usize>, Rc<[Step]>>>,
    /// The same as F(t, z, ż) = 0, if the run wants it.
    pub implicit: Option<ImplicitForm>,
    /// The same with the discrete part.
    pub event: Vec<Step>,
    /// What of it is known before any equation is solved anew.
    pub guards: Vec<Step>,
    /// Definitions of discrete variables without memory, in order.
    pub definitions: Vec<Step>,
    /// Discrete variables that `guards` determine.
    pub early: FxHashSet<VarId>,
    /// Slots of states and of their derivatives.
    pub states: Vec<(u32, u32)>,
    /// Absolute scale of each state.
    pub nominal: Vec<f64>,
    /// Constant bounds of each state.
    pub bounds: Vec<(f64, f64)>,
    /// Pattern of the Jacobian of the derivatives by the states; `None`: full.
    pub pattern: Option<Pattern>,
    /// Slots of unknowns that are found by iteration as time goes on: their present values are the guesses.
    pub iterated: Vec<u32>,
    /// Whether the derivatives leave some of these out.
    pub iterated_aside: bool,
    /// The least argument of the roots that an equation evaluates: its slot, what the equation determines, and whether branches decide
    /// on the roots.
    pub roots: Vec<(u32, Cell, bool)>,
    /// What computes these.
    pub arguments: Chain,
    /// Crossing functions that must be searched for.
    pub crossings: Crossings,
    /// Which discrete values the derivatives depend on.
    pub sensitivity: Sensitivity,
    /// Variables that take part in this mode.
    pub active: FxHashSet<VarId>,
    /// Whether the choice of states still suits.
    watch: RefCell<StateWatch>,
    /// Slots of all its continuous cells.
    pub cells: Vec<u32>,
    /// Discrete variables that latent equations read (slot, previous value): when one changes, states may jump.
    pub latent: Vec<(u32, u32)>,
    /// Which steps of the event iteration read what, made at the first event.
    pub(crate) readers: RefCell<Option<Readers>>,
    /// Kernels of all residuals, made when first asked for.
    pub residuals: std::cell::OnceCell<Vec<Residual>>,
    /// The parts it shares with others, and the slots of its own: they last as long as it does.
    _blocks: Vec<Rc<CompiledBlock>>,
    pub(crate) lent: RefCell<Vec<Lent>>,
}

impl ModeProgram {
    /// What the choice of states rests on, and what computes it.
    pub fn watched(&self) -> (Chain, Vec<WatchedPart>) {
        let watch = self.watch.borrow();
        let part = |w: &Watch| {
            let rows = w.rows().enumerate();
            let entries =
                rows.flat_map(|(i, (_, row))| row.iter().map(move |e| (i, e))).flat_map(|(i, (k, column, size))| {
                    watch.slots[k].iter().map(move |(sign, slot)| (i, *column as usize, *slot, sign * size))
                });
            WatchedPart { columns: w.columns(), pivots: w.rows().map(|r| r.0).collect(), entries: entries.collect() }
        };
        (watch.entries.clone(), watch.choice.watch.iter().map(part).collect())
    }

    /// The steps that the derivatives of these states need.
    pub fn part(&self, which: &[usize], time: u32) -> Rc<[Step]> {
        if let Some(steps) = self.parts.borrow().get(which) {
            return steps.clone();
        }
        let moving = self.states.iter().map(|s| s.0).chain([time]);
        let steps: Rc<[Step]> = slice(&self.derivatives, which.iter().map(|&k| self.states[k].1), moving).into();
        self.parts.borrow_mut().insert(which.to_vec(), steps.clone());
        steps
    }
}

/// States that were asked for are given up where they determine the others by less than this part of what they did at best.
const FALLEN: f64 = 0.1;

/// A constrained part whose choice of states depends on values: a matrix whose rows are eliminated in order.
pub struct WatchedPart {
    /// Number of columns.
    pub columns: usize,
    /// The columns of the pivots.
    pub pivots: Vec<u32>,
    /// (row, column, slot, factor); entries at the same place add up.
    pub entries: Vec<(usize, usize, u32, f64)>,
}

/// The choice of a mode's states, and what computes the entries of the Jacobian it rests on.
struct StateWatch {
    choice: Choice,
    /// How well the states determined the others where they did best, part by part (see [`Choice::chosen`]).
    best: Vec<f64>,
    entries: Chain,
    /// Signed slots per entry that is watched.
    slots: FxHashMap<usize, Vec<(f64, u32)>>,
}

/// How the residual of one active equation is computed.
pub struct Residual {
    /// Computes it.
    pub batch: Batch,
    /// Where it is.
    pub slot: u32,
    /// Slots of what stands in the equation.
    pub reads: Vec<u32>,
    /// The equation and how often it was differentiated.
    pub source: (usize, u8),
}

/// The external objects of a run; they end with it.
#[derive(Default)]
pub struct Objects(Vec<f64>);

impl Objects {
    /// Takes a handle over.
    pub fn hold(&mut self, handle: f64) {
        if !self.0.contains(&handle) {
            self.0.push(handle);
        }
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        for &handle in self.0.iter().rev() {
            // The run is over: nobody is left to tell about a failure.
            let _ = saltus_function::external::destroy(handle);
        }
    }
}

/// A periodic tick.
pub struct Ticker {
    /// Its variable's slot.
    pub slot: u32,
    /// Previous value.
    pub pre: u32,
    /// First tick.
    pub start: f64,
    /// Distance.
    pub interval: f64,
    /// Number of the next tick.
    pub next: u64,
    /// Name for the log.
    pub name: String,
}

impl Ticker {
    /// When it ticks next.
    pub fn due(&self) -> f64 {
        self.start + self.next as f64 * self.interval
    }
}

/// A model ready to run.
pub struct Model {
    /// The lowered system.
    pub sys: System,
    /// Row operations.
    pub ops: RowOps,
    /// Mode structure.
    pub modes: Modes,
    /// Slots.
    pub layout: Layout,
    /// Values and evaluation.
    pub machine: Machine,
    /// Modes compiled so far.
    pub programs: Programs,
    /// Blocks compiled so far of parts that modes share: for the integration, and for events, whose searches over modes leave
    /// other marks in a solver's memory.
    pub(crate) compiled: [CompiledParts; 2],
    /// States first chosen per mode.
    first: FxHashMap<ModeKey, Vec<Cell>>,
    /// Plans that an earlier run of the same structure left.
    planned: FxHashMap<ModeKey, StructuralPlan>,
    /// Modes planned anew.
    pub plans: usize,
    /// Per mode and values of its suspect conditions: why the equations are singular, and the conditions to blame.
    singular: FxHashMap<(ModeKey, Vec<bool>), Option<(Box<Diagnostic>, Vec<VarId>)>>,
    /// Functions, for evaluation outside kernels.
    pub functions: Rc<[Function]>,
    /// External objects that parameters hold.
    pub objects: Objects,
    /// Samplers.
    pub tickers: Vec<Ticker>,
    /// Reaction values: (condition, value) batches with slots, in the order of the system's reactions.
    pub reactions: Vec<ReactionSlots>,
    /// Computes the conditions of assertions.
    pub assertions: Chain,
    /// Slots of their truth values.
    pub assertion_slots: Vec<u32>,
    /// All discrete cells: (slot, pre slot, variable).
    pub discrete: Vec<(u32, u32, VarId)>,
    /// Relations on time alone.
    pub timed: Vec<usize>,
    /// Relations that only formulas read.
    pub conditions: Conditions,
    /// Events evaluate everything anew: the values of the moment are not those of the locked equations.
    pub whole_events: bool,
    /// The same for the islands of an event: others are left alone.
    pub whole_islands: bool,
    /// What events leave alone.
    pub(crate) islands: Islands,
    /// What rests after impacts.
    pub(crate) resting: Vec<Resting>,
    /// Cells whose previous value is read: (slot, pre slot).
    pub previous: Vec<(u32, u32)>,
    /// The same for what moves between events.
    pub moving_previous: Vec<(u32, u32)>,
    /// How the start is to be found.
    pub start_options: StartOptions,
    /// How it was found.
    pub started: StartReport,
    /// When the run, or the first of those it goes on from, began.
    pub(crate) begun: f64,
    /// What the last run left beyond values, and its states at the end.
    pub left: Vec<String>,
    /// See [`Model::left`].
    pub left_states: Vec<Cell>,
    /// Whether modes get their implicit form.
    pub implicit: Wanted,
    /// Whether somebody looks at where arguments of roots are ([`ModeProgram::roots`]): roots of modes may then go on past zero.
    pub watched: bool,
    /// What is zero to the roots of such a mode, while it is compiled.
    past: Option<f64>,
    /// A parameter that is off its value by so much.
    pub shift: Option<(VarId, f64)>,
}

/// Slots of a when-reaction.
pub struct ReactionSlots {
    /// Evaluates the condition, if any.
    pub condition: Option<(Batch, u32)>,
    /// Evaluates the value (reinit) or the asserted condition.
    pub value: Option<(Batch, u32)>,
    /// Target slot (reinit).
    pub target: u32,
}

/// Numbers of the moment, for planning.
#[derive(Clone)]
pub struct Snapshot {
    values: FxHashMap<Cell, f64>,
    functions: Rc<[Function]>,
}

impl Snapshot {
    /// The value of a cell; zero where there is none.
    pub(crate) fn get(&self, cell: Cell) -> f64 {
        self.values.get(&cell).copied().unwrap_or(0.0)
    }

    /// Gives a cell another value.
    pub(crate) fn set(&mut self, cell: Cell, value: f64) {
        self.values.insert(cell, value);
    }
}

struct FunctionCalls<'a>(&'a [Function]);

impl Calls for FunctionCalls<'_> {
    fn call(&mut self, func: FuncId, args: &[f64], out: u32) -> f64 {
        saltus_function::call_f64(self.0, func, args)
            .ok()
            .and_then(|r| r.get(out as usize).copied())
            .unwrap_or(f64::NAN)
    }
    fn call_der(&mut self, func: FuncId, args: &[f64], dargs: &[f64], out: u32) -> f64 {
        saltus_function::call_dual(self.0, func, args, dargs)
            .ok()
            .and_then(|r| r.get(out as usize).copied())
            .unwrap_or(f64::NAN)
    }
}

/// The numbers of the moment, without a copy.
impl Point for Model {
    fn value(&self, op: Operand) -> f64 {
        let at =
            |c: Cell| self.layout.find(c).and_then(|s| self.machine.values.get(s as usize).copied()).unwrap_or(0.0);
        match op {
            Operand::Const(v) => v,
            Operand::Var { var, order, neg: false } => at(Cell::new(var, order)),
            Operand::Var { var, order, neg: true } => -at(Cell::new(var, order)),
            Operand::Pre { var } => at(Cell::pre(var)),
        }
    }
    fn calls(&self) -> Box<dyn Calls + '_> {
        Box::new(FunctionCalls(&self.functions))
    }
}

impl Point for Snapshot {
    fn value(&self, op: Operand) -> f64 {
        match op {
            Operand::Const(v) => v,
            Operand::Var { var, order, neg } => {
                let v = self.values.get(&Cell::new(var, order)).copied().unwrap_or(0.0);
                if neg { -v } else { v }
            }
            Operand::Pre { var } => self.values.get(&Cell::pre(var)).copied().unwrap_or(0.0),
        }
    }
    fn calls(&self) -> Box<dyn Calls + '_> {
        Box::new(FunctionCalls(&self.functions))
    }
}

impl Model {
    /// Prepares a system for running.
    pub fn new(sys: System, ops: RowOps, modes: Modes, backend: Box<dyn Backend>) -> Result<Model, Diagnostic> {
        let functions: Rc<[Function]> = sys.dae.functions.clone().into();
        let mut layout = Layout::default();
        let time = layout.slot(Cell::new(HybridDae::TIME, 0));
        for v in [HybridDae::INITIAL, HybridDae::TERMINAL, HybridDae::LAMBDA] {
            layout.slot(Cell::new(v, 0));
        }
        let host = Host::new(&functions, &sys.shared, &*backend);
        let machine = Machine {
            values: Vec::new(),
            backend,
            host,
            relations: Vec::new(),
            whens: Machine::when_slots(&mut layout, &sys.whens),
            time,
            plain_relations: false,
            hold_relations: false,
            patient: true,
            patience: None,
            hurried: false,
            given_up: false,
            tolerance: 1e-6,
            instants: Default::default(),
            slack: 1.0,
            suspected: false,
            fresh: Vec::new(),
            degenerate: 0,
            lossy: Default::default(),
            beside: Default::default(),
            regular_only: false,
            stranded: false,
            held: Vec::new(),
            course: Default::default(),
            methods: crate::start::block_methods(&StartOptions::default()),
            mode_methods: StartOptions::default().modes,
            previous: FxHashMap::default(),
            leads: 0,
            led: false,
            idle: Vec::new(),
            stop: None,
            starting: true,
            journal: None,
            ambiguous: Vec::new(),
            holds_ahead: Vec::new(),
            decided_by_losses: (f64::NEG_INFINITY, 0),
            decided: FxHashSet::default(),
            outside: Vec::new(),
        };
        let islands = Islands::new(&sys);
        let mut m = Model {
            sys,
            ops,
            modes,
            layout,
            machine,
            programs: Programs::default(),
            compiled: Default::default(),
            first: FxHashMap::default(),
            planned: FxHashMap::default(),
            plans: 0,
            singular: FxHashMap::default(),
            functions,
            objects: Objects::default(),
            tickers: Vec::new(),
            reactions: Vec::new(),
            assertions: Chain::default(),
            assertion_slots: Vec::new(),
            discrete: Vec::new(),
            timed: Vec::new(),
            conditions: Conditions::default(),
            whole_events: false,
            whole_islands: false,
            islands,
            resting: Vec::new(),
            previous: Vec::new(),
            moving_previous: Vec::new(),
            start_options: StartOptions::default(),
            started: StartReport::default(),
            begun: 0.0,
            left: Vec::new(),
            left_states: Vec::new(),
            implicit: Wanted::default(),
            watched: false,
            past: None,
            shift: None,
        };
        m.fixed_parts();
        Ok(m)
    }

    /// A compiler on this model's parts.
    pub fn compile<R>(&mut self, f: impl FnOnce(&mut Compiler<'_>) -> R) -> R {
        let mut c = Compiler {
            sys: &mut self.sys,
            ops: &mut self.ops,
            layout: &mut self.layout,
            backend: &mut *self.machine.backend,
            assigned: None,
            past: self.past,
        };
        let r = f(&mut c);
        self.machine.backend.finish();
        self.layout.extend(&mut self.machine.values);
        r
    }

    /// What does not depend on the mode.
    fn fixed_parts(&mut self) {
        let relations = self.sys.relations.clone();
        let held = self.sys.held();
        let slots = self.compile(|c| relations.iter().map(|r| relation_slots(c, r, &held)).collect::<Vec<_>>());
        self.timed = (0..slots.len()).filter(|&i| slots[i].time.is_some()).collect();
        self.machine.relations = slots;
        let discrete: Vec<VarId> = self.sys.discrete.iter().map(|d| d.var).collect();
        self.discrete = discrete
            .into_iter()
            .map(|v| (self.layout.slot(Cell::new(v, 0)), self.layout.slot(Cell::pre(v)), v))
            .collect();
        self.machine.previous = self.discrete.iter().map(|d| (d.0, d.1)).collect();
        let reactions = self.sys.reactions.clone();
        self.reactions = self.compile(|c| {
            reactions
                .iter()
                .map(|r| {
                    let cond = |row: &Option<Row>, c: &mut Compiler<'_>| {
                        row.as_ref().map(|row| {
                            let s = c.layout.scratch();
                            (c.batch(s, row), s)
                        })
                    };
                    match &r.action {
                        saltus_dae::Action::Reinit { var, value, condition } => {
                            let s = c.layout.scratch();
                            let value = Some((c.batch(s, value), s));
                            ReactionSlots {
                                condition: cond(condition, c),
                                value,
                                target: c.layout.slot(Cell::new(*var, 0)),
                            }
                        }
                        saltus_dae::Action::Assert { condition, .. } => {
                            let value = cond(&Some(condition.clone()), c);
                            ReactionSlots { condition: None, value, target: 0 }
                        }
                        saltus_dae::Action::Terminate { condition, .. } => {
                            ReactionSlots { condition: cond(condition, c), value: None, target: 0 }
                        }
                        saltus_dae::Action::Call { args, .. } => {
                            let value = cond(&args.first().cloned(), c);
                            ReactionSlots { condition: None, value, target: 0 }
                        }
                        _ => ReactionSlots { condition: None, value: None, target: 0 },
                    }
                })
                .collect()
        });
        let assertions: Vec<Row> = self.sys.assertions.iter().map(|a| a.0.clone()).collect();
        (self.assertions, self.assertion_slots) = self.compile(|c| {
            let slots: Vec<u32> = assertions.iter().map(|_| c.layout.scratch()).collect();
            (c.chain(slots.iter().copied().zip(&assertions)), slots)
        });
        self.transport();
        self.find_conditions();
    }

    /// Delays and distributions.
    fn transport(&mut self) {
        let (delays, distributions) = (self.sys.dae.delays.clone(), self.sys.dae.distributions.clone());
        let time = saltus_dae::HybridDae::TIME;
        for d in delays {
            let fixed = |a: &Operand| match a {
                Operand::Var { var, .. } => *var != time && self.sys.role(*var) != Role::Continuous,
                _ => true,
            };
            let steady = d.delay.args.iter().all(fixed);
            let position = {
                let pool = &mut self.sys.dae.pool;
                let (now, lag) = (pool.hole(d.delay.args.len() as u32), d.delay.template);
                let template = pool.sub(now, lag);
                Row { template, args: d.delay.args.iter().copied().chain([Operand::var(time)]).collect() }
            };
            let line = self.compile(|c| {
                let mut row = |r: &Row| {
                    let s = c.layout.scratch();
                    (c.batch(s, r), s)
                };
                Line::delay(row(&d.value), row(&position), row(&d.delay), steady)
            });
            self.machine.host.lines.push(line, &[d.func]);
        }
        for d in distributions {
            let inputs = self.compile(|c| {
                d.inputs.each_ref().map(|r| {
                    let s = c.layout.scratch();
                    (c.batch(s, r), s)
                })
            });
            self.machine.host.lines.push(Line::distribution(inputs), &d.ends);
        }
    }

    /// The delays: the function that reads each, what computes the delayed value, and the lag.
    pub fn delay_lines(&self) -> Vec<(FuncId, (Batch, u32), (Batch, u32))> {
        let lines = self.sys.dae.delays.iter().zip(&self.machine.host.lines.list);
        lines.filter_map(|(d, l)| l.delay_parts().map(|[v, lag]| (d.func, v.clone(), lag.clone()))).collect()
    }

    /// The distributions: the functions that read their ends, what computes their inputs, and the points (place, value, joint) they
    /// begin with.
    pub fn flows(&self) -> Vec<([FuncId; 2], [(Batch, u32); 4], Vec<f64>)> {
        let lines = self.machine.host.lines.list.iter().skip(self.sys.dae.delays.len());
        let inputs = |l: &Line| l.flow_inputs().cloned().map(|i| (i, l.history().split_off(HISTORY_HEAD)));
        let found = self.sys.dae.distributions.iter().zip(lines);
        found.filter_map(|(d, l)| inputs(l).map(|(inputs, points)| (d.ends, inputs, points))).collect()
    }

    /// What travels in delays and distributions now, for a run that goes on from here.
    pub fn histories(&self) -> Vec<Vec<f64>> {
        self.machine.host.lines.list.iter().map(|l| l.history()).collect()
    }

    /// Profiles at the start; what delays may reach back.
    fn begin_lines(&mut self) -> Result<(), Diagnostic> {
        let n = self.sys.dae.delays.len();
        for k in 0..self.machine.host.lines.list.len() {
            let (points, reach) = if k < n {
                let reach = self.number(&self.sys.dae.delays[k].max.clone());
                (Vec::new(), if reach.is_finite() { reach } else { 0.0 })
            } else {
                let d = self.sys.dae.distributions[k - n].clone();
                let rows = d.points.iter().zip(&d.values);
                let points: Vec<(f64, f64)> = rows.map(|(s, v)| (self.number(s), self.number(v))).collect();
                let ends = points.first().is_some_and(|p| p.0 == 0.0) && points.last().is_some_and(|p| p.0 == 1.0);
                if !ends || !points.windows(2).all(|w| w[0].0 <= w[1].0) {
                    let span = d.origin.span.unwrap_or(Span::NONE);
                    let text = "the initialPoints of spatialDistribution must ascend from 0 to 1";
                    return Err(Diagnostic::error(Stage::Initialization, span, text).within(d.origin.instance));
                }
                (points, 0.0)
            };
            self.machine.host.lines.list[k].begin(&points, reach);
            if let Some(past) = self.sys.dae.histories.get(k) {
                self.machine.host.lines.list[k].resume(past);
            }
        }
        Ok(())
    }

    /// The present value of a row over aliases and parameters.
    fn number(&mut self, row: &Row) -> f64 {
        let row = self.sys.resolve_row(row);
        let s = self.layout.scratch();
        let b = self.compile(|c| c.batch(s, &row));
        self.machine.batch(&b);
        self.machine.values[s as usize]
    }

    /// What delays and distributions take in and where they are read.
    pub(crate) fn line_inputs(&mut self) {
        for k in 0..self.machine.host.lines.list.len() {
            for b in self.machine.host.lines.list[k].batches() {
                self.machine.batch(&b);
            }
        }
    }

    /// Takes note of the present values; `event`: they may have jumped.
    pub(crate) fn write_lines(&mut self, t: f64, event: bool) -> Result<(), Diagnostic> {
        if self.machine.host.lines.list.is_empty() {
            return Ok(());
        }
        self.line_inputs();
        let (values, lines) = (&self.machine.values, &mut self.machine.host.lines.list);
        for (d, line) in self.sys.dae.delays.iter().zip(lines.iter()) {
            let lag = line.delay_parts().map_or(0.0, |[_, lag]| values[lag.1 as usize]);
            if lag < -self.machine.instants.close(t) {
                let text = format!("the time of a delay is {lag:?} at time {t:?}: it must not be negative");
                let span = d.origin.span.unwrap_or(Span::NONE);
                return Err(Diagnostic::error(Stage::Run, span, text).within(d.origin.instance.clone()));
            }
            if let Some(most) = line.reach().filter(|m| d.max != d.delay && lag > m * (1.0 + 1e-9)) {
                let text = format!("the time of a delay is {lag:?} at time {t:?}: delayMax is {most:?}");
                let span = d.origin.span.unwrap_or(Span::NONE);
                return Err(Diagnostic::error(Stage::Run, span, text).within(d.origin.instance.clone()));
            }
        }
        lines.iter_mut().for_each(|l| l.write(t, values, event));
        Ok(())
    }

    /// How far, relative to their values, lines are from what would be written into them now.
    pub(crate) fn lines_miss(&mut self, t: f64, marks: &[Mark]) -> f64 {
        self.line_inputs();
        let values = &self.machine.values;
        let lines = self.machine.host.lines.list.iter().zip(marks);
        lines.map(|(l, m)| l.misses(t, values, m)).fold(0.0, f64::max)
    }

    /// How far the nearest jump is from where it is read.
    pub(crate) fn jump_distance(&mut self) -> f64 {
        self.line_inputs();
        let values = &self.machine.values;
        self.machine.host.lines.list.iter().map(|l| l.distance(values)).fold(f64::INFINITY, f64::min)
    }

    /// Jumps that have arrived are read from now on; whether there are any.
    pub(crate) fn arrive(&mut self) -> bool {
        self.line_inputs();
        let (values, lines) = (&self.machine.values, &mut self.machine.host.lines.list);
        lines.iter_mut().fold(false, |any, l| l.arrive(values) | any)
    }

    /// The external objects that were made for parameters belong to the run from now on.
    pub fn hold_objects(&mut self) {
        for (v, var) in self.sys.dae.vars.iter() {
            if var.ty == VarType::Object
                && let Some(slot) = self.layout.find(Cell::new(v, 0))
                && let Some(&handle) = self.machine.values.get(slot as usize)
            {
                self.objects.hold(handle);
            }
        }
    }

    /// Where a variable's value is found: slot and sign, or a constant.
    pub fn locate(&mut self, v: VarId) -> Result<(u32, f64), f64> {
        match self.sys.alias[v] {
            None => Ok((self.layout.slot(Cell::new(v, 0)), 1.0)),
            Some(Alias::Var(to, neg)) => Ok((self.layout.slot(Cell::new(to, 0)), if neg { -1.0 } else { 1.0 })),
            Some(Alias::Const(c)) => Err(c),
        }
    }

    /// Variables whose values are the same at all times after the start: parameters, and those defined by a number.
    pub fn fixed_values(&self) -> FxHashMap<VarId, f64> {
        let dae = &self.sys.dae;
        let parameters = dae.vars.iter().filter(|(_, v)| v.variability <= Variability::Parameter);
        let parameters = parameters.filter_map(|(id, v)| {
            let written = || dae.row_constant(v.binding.as_ref()?);
            Some((id, self.value(id, 0).or_else(written)?))
        });
        let defined = self.sys.discrete.iter().filter_map(|d| match &d.kind {
            saltus_structure::DiscKind::Value(row) => Some((d.var, dae.row_constant(row)?)),
            _ => None,
        });
        parameters.chain(defined).collect()
    }

    /// The present value of a variable or one of its derivatives, if it has one.
    pub fn value(&self, var: VarId, order: u8) -> Option<f64> {
        match self.sys.resolve(Operand::Var { var, order, neg: false }) {
            Operand::Const(c) => Some(c),
            Operand::Var { var, order, neg } => {
                let v = *self.machine.values.get(self.layout.find(Cell::new(var, order))? as usize)?;
                Some(if neg { -v } else { v } + 0.0)
            }
            Operand::Pre { .. } => None,
        }
    }

    /// Back to values kept before; what has come into being since stays.
    pub fn restore(&mut self, kept: &[f64]) {
        self.machine.values[..kept.len()].copy_from_slice(kept);
    }

    /// Numbers of the moment.
    pub fn snapshot(&self) -> Snapshot {
        let values =
            self.layout.cells().filter_map(|(c, s)| self.machine.values.get(s as usize).map(|&v| (c, v))).collect();
        Snapshot { values, functions: self.functions.clone() }
    }

    /// Values of all parameters in dependency order, then start values as guesses.
    pub fn parameters(&mut self, start: f64) -> Result<(), Diagnostic> {
        let late: FxHashSet<VarId> = saltus_structure::late_parameters(&self.sys).into_iter().collect();
        // Depth-first over bindings.
        let n = self.sys.dae.vars.len();
        let mut state = vec![0u8; n];
        let mut order: Vec<VarId> = Vec::new();
        for i in 0..n {
            let mut stack = vec![(VarId::new(i), 0usize)];
            while let Some((v, k)) = stack.pop() {
                if k == 0 {
                    if state[v.index()] != 0 {
                        continue;
                    }
                    state[v.index()] = 1;
                }
                let var = &self.sys.dae.vars[v];
                let deps: Vec<VarId> = match (&var.binding, var.variability <= Variability::Parameter) {
                    (Some(b), true) => b.args.iter().filter_map(|a| a.variable()).collect(),
                    (None, true) => var.start.iter().flat_map(|b| b.args.iter().filter_map(|a| a.variable())).collect(),
                    _ => Vec::new(),
                };
                if let Some(&next) = deps.get(k) {
                    stack.push((v, k + 1));
                    if state[next.index()] == 1 && stack.iter().any(|s| s.0 == next) {
                        return Err(Diagnostic::error(
                            Stage::Structure,
                            var.origin.span.unwrap_or(Span::NONE),
                            format!(
                                "parameter {} depends on itself through {}",
                                var.name, self.sys.dae.vars[next].name
                            ),
                        ));
                    }
                    stack.push((next, 0));
                } else {
                    state[v.index()] = 2;
                    if var.variability <= Variability::Parameter && !HybridDae::is_builtin(v) {
                        order.push(v);
                    }
                }
            }
        }
        self.layout.extend(&mut self.machine.values);
        self.machine.values[self.machine.time as usize] = start;
        for (v, x) in [(HybridDae::INITIAL, 1.0), (HybridDae::TERMINAL, 0.0), (HybridDae::LAMBDA, 1.0)] {
            let s = self.layout.slot(Cell::new(v, 0));
            self.machine.values[s as usize] = x;
        }
        for v in order {
            if self.sys.alias[v].is_some() {
                continue;
            }
            let row = match &self.sys.dae.vars[v].binding {
                Some(r) if !late.contains(&v) => r.clone(),
                _ => start_value(&mut self.sys, v),
            };
            let slot = self.layout.slot(Cell::new(v, 0));
            let value = match self.sys.dae.row_constant(&row) {
                Some(c) => {
                    self.layout.extend(&mut self.machine.values);
                    c
                }
                None => {
                    let b = self.compile(|c| c.batch(slot, &row));
                    self.machine.batch(&b);
                    self.machine.values[slot as usize]
                }
            };
            let var = &self.sys.dae.vars[v];
            if let Some(e) = self.machine.host.error.take() {
                return Err(Diagnostic::error(
                    Stage::Initialization,
                    e.span,
                    format!("parameter {}: {}", var.name, e.message),
                )
                .within(var.name.clone()));
            }
            if !value.is_finite()
                && matches!(var.ty, VarType::Real | VarType::Integer)
                && value.is_nan() | self.sys.dae.row_constant(&row).is_none()
            {
                let text = saltus_dae::row_text(&self.sys.dae, &row);
                return Err(Diagnostic::error(
                    Stage::Initialization,
                    var.origin.span.unwrap_or(Span::NONE),
                    format!(
                        "parameter {} = {text} is {value}: division by zero or an argument outside its domain",
                        var.name
                    ),
                ));
            }
            let shift = self.shift.filter(|s| s.0 == v).map_or(0.0, |s| s.1);
            self.machine.values[slot as usize] = value + shift;
        }
        self.machine.thresholds();
        // Guesses.
        for i in 0..n {
            let v = VarId::new(i);
            let role = self.sys.role(v);
            if self.sys.alias[v].is_some()
                || HybridDae::is_builtin(v)
                || self.sys.dae.vars[v].variability <= Variability::Parameter
            {
                continue;
            }
            let slot = self.layout.slot(Cell::new(v, 0));
            let row = start_value(&mut self.sys, v);
            let value = match self.sys.dae.row_constant(&row) {
                Some(c) => c,
                None => {
                    let tmp = self.layout.scratch();
                    let b = self.compile(|c| c.batch(tmp, &row));
                    self.machine.batch(&b);
                    self.machine.values[tmp as usize]
                }
            };
            let value = self.within_bounds(v, value);
            let pre = (role == Role::Discrete).then(|| self.layout.slot(Cell::pre(v)));
            self.layout.extend(&mut self.machine.values);
            self.machine.values[slot as usize] = value;
            if let Some(p) = pre {
                self.machine.values[p as usize] = value;
            }
        }
        self.machine.host.error = None;
        for (var, order, value) in self.sys.dae.guesses.clone() {
            if let Operand::Var { var: to, order, neg } = self.sys.resolve(Operand::Var { var, order, neg: false })
                && (to == var || order > 0 || self.sys.dae.vars[to].start.is_none())
            {
                let slot = self.layout.slot(Cell::new(to, order));
                self.layout.extend(&mut self.machine.values);
                self.machine.values[slot as usize] = if neg { -value } else { value };
            }
        }
        Ok(())
    }

    /// A guess outside constant bounds, where the model gave no start value, moves to the nearer bound.
    fn within_bounds(&self, v: VarId, value: f64) -> f64 {
        let var = &self.sys.dae.vars[v];
        if var.start.is_some() {
            return value;
        }
        let bound = |r: &Option<Row>| r.as_ref().and_then(|r| self.sys.dae.row_constant(r)).filter(|x| x.is_finite());
        let value = bound(&var.min).map_or(value, |m| value.max(m));
        bound(&var.max).map_or(value, |m| value.min(m))
    }

    /// Rows of samplers and delays that are fixed now.
    pub fn start_tickers(&mut self, t: f64) -> Result<(), Diagnostic> {
        let samplers = self.sys.dae.samplers.clone();
        self.tickers.clear();
        self.begun = begun(&self.sys.dae.left).filter(|_| self.sys.dae.continues).unwrap_or(t);
        for s in samplers {
            let (a, b) = (self.layout.scratch(), self.layout.scratch());
            let (x, y) = self.compile(|c| (c.batch(a, &s.start), c.batch(b, &s.interval)));
            self.machine.batch(&x);
            self.machine.batch(&y);
            let (mut start, interval) = (self.machine.values[a as usize], self.machine.values[b as usize]);
            start += if s.from_start { self.begun } else { 0.0 };
            if !(interval > 0.0) || !start.is_finite() {
                return Err(Diagnostic::error(
                    Stage::Initialization,
                    s.origin.span.unwrap_or(Span::NONE),
                    format!("sample({start}, {interval}): the interval must be positive"),
                ));
            }
            let slot = self.layout.slot(Cell::new(s.var, 0));
            let pre = self.layout.slot(Cell::pre(s.var));
            self.layout.extend(&mut self.machine.values);
            let passed = (t - start) / interval;
            let next = match self.sys.dae.continues {
                true => (passed + 1e-9).floor() + 1.0,
                false => (passed - 1e-9).ceil(),
            };
            let next = next.max(0.0) as u64;
            let number = |x: f64| match x == 0.0 || (1e-4..1e16).contains(&x.abs()) {
                true => format!("{x}"),
                false => format!("{x:e}"),
            };
            let name = match s.from_start {
                true => format!("clock of {} s", number(interval)),
                false => format!("sample({}, {})", number(start), number(interval)),
            };
            self.tickers.push(Ticker { slot, pre, start, interval, next, name });
        }
        self.begin_lines()
    }

    /// The program of a mode, compiled on first entry.
    pub fn mode(&mut self, key: &ModeKey) -> Result<Rc<ModeProgram>, Diagnostic> {
        if let Some(states) = self.first.get(key)
            && let Some(p) = self.programs.get(&(key.clone(), states.clone()))
        {
            return Ok(p);
        }
        let point = self.snapshot();
        let plan = match self.planned.remove(key) {
            Some(plan) => plan,
            None => {
                self.plans += 1;
                plan_mode(&mut self.sys, &mut self.ops, &self.modes, key, &point)?
            }
        };
        self.first.insert(key.clone(), plan.states.clone());
        Ok(self.program(plan))
    }

    /// Plans to begin with, from [`Model::into_structure`] of a model of equal content.
    pub fn with_plans(mut self, plans: Vec<StructuralPlan>) -> Model {
        self.planned = plans.into_iter().map(|p| (p.key.clone(), p)).collect();
        self
    }

    /// What another run of the same equations can use again: plans, unless their states were chosen by the values of this
    /// run. A run does not depend on those before it.
    pub fn into_structure(self) -> (System, RowOps, Modes, Vec<StructuralPlan>) {
        let mut plans: Vec<StructuralPlan> = self.planned.into_values().collect();
        let mut programs = self.programs;
        for key in self.first {
            let program = programs.remove(&key).and_then(|p| Rc::try_unwrap(p).ok());
            plans.extend(program.map(|p| p.plan));
        }
        let all = plans.len();
        plans.retain(|p| p.choice.watch.is_empty());
        if plans.len() < all {
            self.modes.parts.take();
        }
        (self.sys, self.ops, self.modes, plans)
    }

    pub(crate) fn program(&mut self, plan: StructuralPlan) -> Rc<ModeProgram> {
        self.past = self.watched.then(|| edges::least(self.machine.tolerance));
        let program = self.program_of(plan);
        self.past = None;
        program
    }

    fn program_of(&mut self, plan: StructuralPlan) -> Rc<ModeProgram> {
        // States and derivatives in the same order, each next to each other: rows of one template then form runs.
        for s in &plan.states {
            self.layout.slot(*s);
        }
        for s in &plan.states {
            self.layout.slot(Cell { var: s.var, order: s.order + 1 });
        }
        self.layout.lend();
        // Derivatives of the right-hand side by the chain rule, unless the model is so large that keeping the rows hurts.
        let keep = plan.continuous.items.len() <= 500_000;
        let mut parts = std::mem::take(&mut self.compiled);
        let (continuous, event, assigned, blocks) = self.compile(|c| {
            c.assigned = keep.then(FxHashMap::default);
            if plan.parts.is_empty() {
                let continuous = c.sequence(&plan.continuous);
                let assigned = c.assigned.take();
                return (continuous, c.sequence(&plan.event), assigned, Vec::new());
            }
            let mut continuous = Vec::new();
            let mut all = parts[0].blocks(c, &plan.parts);
            all.iter().for_each(|b| c.append(&mut continuous, b));
            let assigned = c.assigned.take();
            let blocks = parts[1].blocks(c, &plan.parts);
            let mut owner = vec![usize::MAX; plan.continuous.items.len()];
            for (k, b) in plan.continuous.blocks.iter().enumerate() {
                b.items.iter().for_each(|&i| owner[i] = k);
            }
            let mut event = Vec::new();
            for b in &plan.event.blocks {
                // Solved in the same way as between events?
                let same = owner.get(b.items[0]).copied().filter(|&k| {
                    let there = &plan.continuous.blocks[k];
                    there.unknowns.len() == b.unknowns.len() && there.unknowns.iter().all(|u| b.unknowns.contains(u))
                });
                match same {
                    Some(k) => c.append(&mut event, &blocks[k]),
                    None => c.block(&plan.event.items, &b.items, &b.unknowns, &mut event),
                }
            }
            all.extend(blocks);
            (continuous, event, assigned, all)
        });
        self.compiled = parts;
        let early_blocks: Vec<Block> = plan.early.iter().map(|&k| plan.event.blocks[k].clone()).collect();
        let early = early_blocks.iter().flat_map(|b| b.unknowns.iter().map(|c| c.var)).collect();
        let definition = |i: usize| match &plan.event.items[i] {
            Item::Value { cell, row } => {
                (cell.order == 0 && !row.args.iter().any(|a| matches!(a, Operand::Pre { .. }))).then_some(*cell)
            }
            _ => None,
        };
        let definitions: Vec<Block> = plan
            .event
            .blocks
            .iter()
            .flat_map(|b| {
                b.items.iter().filter_map(|&i| Some(Block { items: vec![i], unknowns: vec![definition(i)?] }))
            })
            .collect();
        let items = &plan.event.items;
        let (guards, definitions) = self.compile(|c| {
            let guards = c.blocks(items, &early_blocks);
            (guards, c.blocks(items, &definitions))
        });
        let states: Vec<(u32, u32)> = plan
            .states
            .iter()
            .map(|s| (self.layout.slot(*s), self.layout.slot(Cell { var: s.var, order: s.order + 1 })))
            .collect();
        let nominal = plan
            .states
            .iter()
            .map(|s| {
                let v = &self.sys.dae.vars[s.var];
                v.nominal
                    .as_ref()
                    .and_then(|r| self.sys.dae.row_constant(r))
                    .map(f64::abs)
                    .filter(|x| *x > 0.0 && x.is_finite())
                    .unwrap_or(1.0)
            })
            .collect();
        let bounds = plan
            .states
            .iter()
            .map(|s| {
                let v = &self.sys.dae.vars[s.var];
                let bound = |r: &Option<Row>, none: f64| {
                    r.as_ref().filter(|_| s.order == 0).and_then(|r| self.sys.dae.row_constant(r)).unwrap_or(none)
                };
                (bound(&v.min, f64::NEG_INFINITY), bound(&v.max, f64::INFINITY))
            })
            .collect();
        let active: FxHashSet<VarId> = plan.vars.iter().copied().collect();
        let (arguments, roots) = self.arguments_of_roots(&plan);
        let crossings = self.crossings(&plan);
        let sensitivity = self.sensitivity(&plan);
        let mut moving: Vec<u32> = states.iter().map(|s| s.0).collect();
        moving.push(self.machine.time);
        let between = moved(continuous.clone(), moving.iter().copied());
        let derivatives = slice(&continuous, states.iter().map(|s| s.1), moving.iter().copied());
        let mut uniform = unmoved(&derivatives, states.iter().map(|s| s.1));
        uniform.iter_mut().zip(&states).for_each(|(u, s)| *u &= !moving.contains(&s.1));
        self.layout.extend(&mut self.machine.values);
        let pattern = dependence::pattern(&derivatives, &states, self.machine.values.len());
        let entries = pattern.as_ref().map_or(states.len() * states.len(), Pattern::nnz);
        let wanted = self.implicit;
        let (tangent, implicit) = self.compile(|c| {
            let rows = assigned.as_ref();
            let tangent = rows.and_then(|r| Tangent::new(c, &derivatives, &states, r, pattern.as_ref()));
            let mut form = || ImplicitForm::new(c, &derivatives, &states, &plan.states, rows);
            let implicit = match wanted {
                Wanted::Always => form(),
                Wanted::WhereLarge if is_large(&derivatives) => form().filter(|f| f.is_sparser(entries)),
                _ => None,
            };
            (tangent, implicit)
        });
        let mut cells: Vec<u32> = Vec::new();
        for &v in &plan.vars {
            cells.extend((0..=plan.d[&v]).map(|k| self.layout.slot(Cell::new(v, k))));
        }
        let mut latent: Vec<(u32, u32)> = Vec::new();
        for ((_, row), _) in plan.rows.iter().zip(&plan.c).filter(|(_, c)| **c > 0) {
            for a in &row.args {
                if let Operand::Var { var, order: 0, .. } = *a
                    && self.sys.role(var) == Role::Discrete
                {
                    latent.push((self.layout.slot(Cell::new(var, 0)), self.layout.slot(Cell::pre(var))));
                }
            }
        }
        self.find_previous();
        self.layout.extend(&mut self.machine.values);
        let key = (plan.key.clone(), plan.states.clone());
        let watch = RefCell::new(self.watch(&plan));
        self.layout.extend(&mut self.machine.values);
        let nonlinear = |steps: &[Step]| -> Vec<u32> {
            let unknowns = |s: &Step| match s {
                Step::Solve(b) if !b.linear => b.unknowns.clone(),
                _ => Vec::new(),
            };
            steps.iter().flat_map(unknowns).collect()
        };
        let iterated = nonlinear(&between);
        let iterated_aside = nonlinear(&derivatives).len() < iterated.len();
        let program = Rc::new(ModeProgram {
            number: self.programs.made,
            plan,
            tangent,
            totals: RefCell::default(),
            parts: RefCell::default(),
            between,
            implicit,
            continuous,
            derivatives,
            uniform,
            event,
            guards,
            definitions,
            early,
            states,
            nominal,
            bounds,
            pattern,
            iterated,
            iterated_aside,
            roots,
            arguments,
            crossings,
            sensitivity,
            active,
            watch,
            cells,
            latent,
            readers: Default::default(),
            residuals: Default::default(),
            _blocks: blocks,
            lent: RefCell::new(vec![self.layout.lent()]),
        });
        if self.programs.insert(key, program.clone()) {
            self.forget_parts();
        }
        program
    }

    fn arguments_of_roots(&mut self, plan: &StructuralPlan) -> (Chain, Vec<(u32, Cell, bool)>) {
        let mut rows = Vec::new();
        for block in &plan.continuous.blocks {
            for (&i, &cell) in block.items.iter().zip(&block.unknowns) {
                if let Item::Residual { row, .. } | Item::Value { row, .. } = &plan.continuous.items[i]
                    && let Some(template) = edges::depth(&mut self.sys.dae.pool, row.template)
                {
                    let guarded = edges::guarded(&self.sys.dae.pool, row.template);
                    rows.push((Row { template, args: row.args.clone() }, cell, guarded));
                }
            }
        }
        self.compile(|c| {
            let slots: Vec<u32> = rows.iter().map(|_| c.layout.scratch()).collect();
            let chain = c.chain(slots.iter().copied().zip(rows.iter().map(|r| &r.0)));
            (chain, slots.into_iter().zip(&rows).map(|(slot, r)| (slot, r.1, r.2)).collect())
        })
    }

    /// Forgets what only modes needed that are forgotten.
    fn forget_parts(&mut self) {
        let programs = &self.programs;
        let used = programs.all().flat_map(|p| &p.plan.parts).map(Rc::as_ptr).collect();
        self.compiled.iter_mut().for_each(|c| c.keep(&used));
        self.modes.parts.borrow_mut().keep(&used);
        self.first.retain(|key, states| programs.holds(&(key.clone(), states.clone())));
        self.singular.clear();
    }

    /// Every previous value that something reads.
    pub(crate) fn find_previous(&mut self) {
        self.previous = self
            .layout
            .cells()
            .filter(|(c, _)| c.order < 0)
            .filter_map(|(c, p)| self.layout.find(Cell::new(c.var, 0)).map(|s| (s, p)))
            .collect();
        self.previous.sort_unstable();
        let moves = |c: &Cell| c.order < 0 && self.sys.role(c.var) != Role::Discrete;
        let moving = self.layout.cells().filter(|(c, _)| moves(c));
        self.moving_previous =
            moving.filter_map(|(c, p)| self.layout.find(Cell::new(c.var, 0)).map(|s| (s, p))).collect();
    }

    fn watch(&mut self, plan: &StructuralPlan) -> StateWatch {
        let choice = plan.choice.clone();
        let mut entries: Vec<usize> = choice.watch.iter().flat_map(Watch::entries).collect();
        entries.sort_unstable();
        entries.dedup();
        let mut slots: FxHashMap<usize, Vec<(f64, u32)>> = FxHashMap::default();
        let mut rows: Vec<(u32, &Row)> = Vec::new();
        for k in entries {
            let parts = plan.selection.entries[k].parts.iter().map(|(sign, row)| {
                let constant = self.sys.dae.pool.as_const(row.template);
                let slot = match constant {
                    Some(v) => self.layout.word(&self.sys, Operand::Const(v)),
                    None => self.layout.scratch(),
                };
                if constant.is_none() {
                    rows.push((slot, row));
                }
                (*sign, slot)
            });
            let parts = parts.collect();
            slots.insert(k, parts);
        }
        rows.sort_by_key(|(_, r)| r.template);
        let entries = self.compile(|c| c.chain(rows.iter().copied()));
        StateWatch { best: choice.chosen(), choice, entries, slots }
    }

    /// The largest residual of the mode's equations, derivatives included, relative to what stands in them; and where.
    pub fn residual(&mut self, program: &ModeProgram) -> (f64, Option<(usize, u8)>) {
        if program.residuals.get().is_none() {
            let plan = &program.plan;
            self.layout.lend();
            let list = self.compile(|c| {
                let mut list = Vec::new();
                for (levels, (eq, _)) in plan.levels.iter().zip(&plan.rows) {
                    for (k, row) in levels.iter().enumerate() {
                        let slot = c.layout.scratch();
                        let batch = c.batch(slot, row);
                        let reads = batch.rows.words()[1..].iter().map(|w| w & !saltus_program::NEGATE).collect();
                        list.push(Residual { batch, slot, reads, source: (*eq, k as u8) });
                    }
                }
                list
            });
            let _ = program.residuals.set(list);
            program.lent.borrow_mut().push(self.layout.lent());
        }
        let mut worst = (0.0, None);
        for r in program.residuals.get().into_iter().flatten() {
            self.machine.batch(&r.batch);
            let scale = r.reads.iter().map(|&s| self.machine.values[s as usize].abs()).fold(1.0, f64::max);
            let value = self.machine.values[r.slot as usize].abs() / scale;
            if !(value <= worst.0) {
                worst = (value, Some(r.source));
            }
        }
        self.machine.host.error = None;
        worst
    }

    /// The same mode with states that suit the present values better, if there are such.
    pub fn reselect(&mut self, program: &Rc<ModeProgram>) -> Result<Option<Rc<ModeProgram>>, Diagnostic> {
        self.other_states(program, false)
    }

    /// The same; if it is `pressing`, no step leads on with the present ones.
    pub(crate) fn other_states(
        &mut self,
        program: &Rc<ModeProgram>,
        pressing: bool,
    ) -> Result<Option<Rc<ModeProgram>>, Diagnostic> {
        let mut watch = program.watch.borrow_mut();
        if watch.choice.watch.is_empty() {
            return Ok(None);
        }
        self.machine.chain(&watch.entries);
        self.machine.host.error = None;
        let values = &self.machine.values;
        let entry = |k: usize| watch.slots[&k].iter().map(|&(sign, s)| sign * values[s as usize]).sum();
        if !pressing && watch.choice.holds(&entry) {
            return Ok(None);
        }
        // Wishes hold as long as what they leave is not about to become singular.
        let worse = |(now, best): (&f64, &f64)| *now < FALLEN * best;
        let pressing = pressing || watch.choice.least(&entry).iter().zip(&watch.best).any(worse);
        let choice = better_choice(&self.sys, &program.plan, self, pressing);
        if choice.states == program.plan.states {
            let new = choice.chosen();
            if new.len() != watch.best.len() {
                watch.best = new;
            } else {
                watch.best.iter_mut().zip(new).for_each(|(b, n)| *b = b.max(n));
            }
            watch.choice = choice;
            return Ok(None);
        }
        let key = (program.plan.key.clone(), choice.states.clone());
        self.first.insert(key.0.clone(), key.1.clone());
        if let Some(p) = self.programs.get(&key) {
            return Ok(Some(p));
        }
        let plan = replan_states(&mut self.sys, &mut self.ops, &self.modes, &program.plan, choice)?;
        Ok(Some(self.program(plan)))
    }

    /// The key that the condition variables call for now.
    pub fn key(&mut self) -> ModeKey {
        self.key_with(&FxHashMap::default())
    }

    /// The same with other values of some conditions.
    pub fn key_with(&mut self, other: &FxHashMap<VarId, bool>) -> ModeKey {
        let (layout, values) = (&self.layout, &self.machine.values);
        let truth = |sys: &System, v: VarId| {
            let now = || match sys.resolve(Operand::var(v)) {
                Operand::Const(c) => c != 0.0,
                op => Cell::of(op)
                    .and_then(|c| layout.find(c))
                    .is_some_and(|s| values.get(s as usize).is_some_and(|x| *x != 0.0)),
            };
            Some(other.get(&v).copied().unwrap_or_else(now))
        };
        self.modes.key(&mut self.sys, &mut self.ops, &truth).unwrap_or_default()
    }

    /// The key as text, if the model has one.
    pub fn key_text(&self, key: &ModeKey) -> Option<String> {
        (!key.is_empty()).then(|| key_text(&self.sys, &self.modes, key))
    }

    /// An equation by its number: text, place, instance.
    pub fn equation(&self, eq: usize, level: u8) -> (String, Span, String) {
        let n = self.sys.equations.len();
        let text = equation_words(&self.sys, eq, level);
        let origin = if eq < n {
            let now = |v: VarId| {
                self.layout
                    .find(Cell::new(v, 0))
                    .map(|s| self.machine.values.get(s as usize).is_some_and(|x| *x != 0.0))
            };
            self.sys.equations[eq].origin_in(&now)
        } else if let Some(e) = self.sys.initial.get(eq.wrapping_sub(n)) {
            &e.origin
        } else {
            let v = eq.wrapping_sub(n).wrapping_sub(self.sys.initial.len());
            let var = self.sys.dae.vars.get(VarId::new(v.min(u32::MAX as usize - 1)));
            return (text, var.and_then(|v| v.origin.span).unwrap_or(Span::NONE), String::new());
        };
        (text, origin.span.unwrap_or(Span::NONE), origin.instance.to_string())
    }

    /// If the present values of all conditions make the equations structurally singular, the explanation.
    pub fn structural_explanation(&mut self, program: &ModeProgram) -> Option<Diagnostic> {
        let mut values = self.modes.values(&program.plan.key);
        let known = values.len();
        for (_, row) in &program.plan.rows {
            for a in &row.args {
                if let Operand::Var { var, order: 0, .. } = *a
                    && self.sys.role(var) == Role::Discrete
                    && let Some(s) = self.layout.find(Cell::new(var, 0))
                {
                    let up = self.machine.values[s as usize] != 0.0;
                    // Of numbers it matters that they are zero.
                    if !up || self.sys.dae.vars[var].ty == VarType::Boolean {
                        values.insert(var, up);
                    }
                }
            }
        }
        if values.len() == known {
            return None;
        }
        let mut named: Vec<(VarId, bool)> = values.iter().map(|(&v, &b)| (v, b)).collect();
        named.sort_unstable();
        let text: Vec<String> = named.iter().map(|&(v, b)| value_text(&self.sys, v, b)).collect();
        let d = singular_with(&mut self.sys, &mut self.ops, &values, &text.join(", "))?;
        Some(self.at_run_time(d))
    }

    /// The explanation if the equations are structurally singular now, by order of conditions that do not depend on what
    /// they guard.
    ///
    /// Where they do (friction that is stuck, a diode), or where a relation is just at zero without having crossed it (flow
    /// that has come to rest), the mode is part of the solution, and the equations go on as long as they agree. `fired` are
    /// the relations that have just crossed.
    pub fn singular_by_order(&mut self, program: &ModeProgram, fired: &[usize]) -> Option<Diagnostic> {
        let key = &program.plan.key;
        let suspects = self.modes.suspects(key);
        if suspects.is_empty() {
            return None;
        }
        let truth =
            |v: VarId| self.layout.find(Cell::new(v, 0)).is_some_and(|s| self.machine.values[s as usize] != 0.0);
        let values: Vec<(VarId, bool)> = suspects.iter().map(|&v| (v, truth(v))).collect();
        let mode = (key.clone(), values.iter().map(|v| v.1).collect::<Vec<bool>>());
        let found = match self.singular.get(&mode) {
            Some(found) => found.clone(),
            None => {
                let found = singular_mode(&mut self.sys, &mut self.ops, &self.modes, key, &values).map(|d| {
                    // Those that it would not be singular without.
                    let without = |me: &mut Model, k: usize| {
                        let others: Vec<_> = values.iter().copied().filter(|v| v.0 != values[k].0).collect();
                        singular_mode(&mut me.sys, &mut me.ops, &me.modes, key, &others).is_none()
                    };
                    let mut blamed: Vec<VarId> =
                        (0..values.len()).filter(|&k| without(self, k)).map(|k| values[k].0).collect();
                    if blamed.is_empty() {
                        blamed = values.iter().map(|v| v.0).collect();
                    }
                    (Box::new(d), blamed)
                });
                self.singular.insert(mode, found.clone());
                found
            }
        };
        let (d, blamed) = found?;
        let ordered = blamed.iter().all(|&v| program.early.contains(&v) && !self.at_rest(v, fired, 0));
        ordered.then_some(*d)
    }

    /// Whether a condition is a relation at zero that has not just crossed it, or made of such.
    pub(crate) fn at_rest(&self, v: VarId, fired: &[usize], depth: usize) -> bool {
        let inner =
            |a: &Operand| matches!(a, Operand::Var { var, .. } if depth < 8 && self.at_rest(*var, fired, depth + 1));
        self.sys.discrete.iter().find(|d| d.var == v).is_some_and(|d| match &d.kind {
            DiscKind::Relation(i) => {
                let r = &self.machine.relations[*i];
                r.time.is_none()
                    && !fired.contains(i)
                    && self.machine.values[r.g as usize].abs() <= 1e-9 * r.size.max(1e-2)
            }
            DiscKind::Value(row) => row.args.iter().any(inner),
            DiscKind::When(..) => false,
        })
    }

    /// A structural explanation met while running: it names the time.
    pub fn at_run_time(&self, mut d: Diagnostic) -> Diagnostic {
        d.stage = Stage::Run;
        d.message = format!("at time {:?}: {}", self.machine.values[self.machine.time as usize], d.message);
        d
    }

    /// The circle of guards that depend on what they guard, in words.
    fn guard_circle(&self, guards: &[Cell]) -> Option<String> {
        let of = |v: VarId| self.sys.discrete.iter().find(|d| d.var == v).map(|d| &d.kind);
        let mut read: Vec<String> = Vec::new();
        for i in guards.iter().filter_map(|c| match of(c.var) {
            Some(DiscKind::Relation(i)) => Some(*i),
            _ => None,
        }) {
            for a in &self.sys.relations[i].g.args {
                if let Operand::Var { var, order, .. } = *a
                    && self.sys.role(var) == Role::Continuous
                {
                    let name = cell_name(&self.sys, Cell::new(var, order));
                    if !read.contains(&name) {
                        read.push(name);
                    }
                }
            }
        }
        let mut names: Vec<String> = guards.iter().map(|c| self.sys.condition_text(c.var)).collect();
        names.sort();
        names.dedup();
        let (names, read) = (names.join(", "), (!read.is_empty()).then(|| read.join(", "))?);
        Some(format!("the circle: {names} ⇒ the branches that hold ⇒ {read} ⇒ {names}; pre() would break it"))
    }

    /// A when-clause whose condition reads, without `pre`, what the clause sets, in words.
    fn when_circle(&self, cells: &[Cell]) -> Option<String> {
        let of = |v: VarId| self.sys.discrete.iter().find(|d| d.var == v).map(|d| &d.kind);
        let reads = |row: &Row, v: VarId| {
            row.args.iter().any(|&a| matches!(self.sys.resolve(a), Operand::Var { var, .. } if var == v))
        };
        let set = cells.iter().find(|c| {
            let Some(DiscKind::When(head, _)) = of(c.var) else { return false };
            self.sys.whens[*head].branches.iter().flat_map(|b| &b.0).any(|&condition| {
                match self.sys.resolve(Operand::var(condition)).variable().and_then(of) {
                    Some(DiscKind::Value(row)) => reads(row, c.var),
                    Some(DiscKind::Relation(i)) => reads(&self.sys.relations[*i].g, c.var),
                    _ => false,
                }
            })
        })?;
        let name = cell_name(&self.sys, *set);
        Some(format!(
            "the condition of a when-clause reads {name}, which the clause sets: its value before the event is pre({name})"
        ))
    }

    /// A failed evaluation as a diagnostic.
    pub fn explain(&self, trouble: &Trouble, stage: Stage, t: f64, what: &str) -> Diagnostic {
        let name = |c: &Cell| cell_name(&self.sys, *c);
        match trouble {
            Trouble::NotFinite(cells) => {
                let names: Vec<String> = cells.iter().take(6).map(name).collect();
                // The equation that computes the first of them.
                let source = cells.first().and_then(|c| {
                    self.programs.all().find_map(|p| {
                        let seq = &p.plan.continuous;
                        let block = seq.blocks.iter().find(|b| b.unknowns.contains(c))?;
                        let at = block.unknowns.iter().position(|u| u == c)?;
                        match &seq.items[block.items[at]] {
                            saltus_structure::Item::Residual { eq, level, .. } => Some(self.equation(*eq, *level)),
                            _ => None,
                        }
                    })
                });
                let (from, span, instance) = match source {
                    Some((text, span, instance)) => (format!(", computed from {text}"), span, instance),
                    None => {
                        let span = cells.first().and_then(|c| self.sys.dae.vars[c.var].origin.span);
                        (String::new(), span.unwrap_or(Span::NONE), String::new())
                    }
                };
                Diagnostic::error(
                    stage,
                    span,
                    format!("{what} at time {t:?}: {} is not a number{from}", names.join(", ")),
                )
                .within(instance)
                .hint("look for a division by zero, a square root or logarithm of a negative number")
            }
            Trouble::Unsolved { reason, unknowns, equations, findings } => {
                let worst = equations.first().map(|e| self.equation(e.0.0, e.0.1));
                let (text, span, instance) = worst.unwrap_or((String::new(), Span::NONE, String::new()));
                let shown: Vec<String> =
                    unknowns.iter().take(8).map(|(c, v)| format!("{} = {v:.6}", name(c))).collect();
                let mut d = Diagnostic::error(
                    stage,
                    span,
                    format!(
                        "{what} at time {t:?}: {} simultaneous equation{} for {} could not be solved; worst: {text}",
                        equations.len(),
                        if equations.len() == 1 { "" } else { "s" },
                        unknowns.iter().take(4).map(|(c, _)| name(c)).collect::<Vec<_>>().join(", ")
                    ),
                )
                .within(instance)
                .hint(format!("values reached: {}", shown.join(", ")))
                .hint(reason.clone());
                for (e, r) in equations.iter().take(4) {
                    let (text, _, _) = self.equation(e.0, e.1);
                    d = d.hint(format!("residual {r:.3e} in {text}"));
                }
                if !findings.at_bounds.is_empty() {
                    let names: Vec<String> = findings.at_bounds.iter().take(6).map(name).collect();
                    d = d.hint(format!("on a bound: {}", names.join(", ")));
                }
                match findings.condition {
                    Some(c) if !c.is_finite() || c > 1e14 => {
                        d = d.hint("the Jacobian is numerically singular there, though not by structure");
                    }
                    Some(c) => d = d.hint(format!("condition of the Jacobian there: about {c:.0e}")),
                    None => {}
                }
                if let Some(&(_, largest)) = findings.sensitivity.first()
                    && largest > 0.0
                {
                    let matter: Vec<String> = findings
                        .sensitivity
                        .iter()
                        .take(4)
                        .filter(|s| s.1 > 1e-3 * largest)
                        .map(|s| format!("{} ({:.2})", name(&s.0), s.1 / largest))
                        .collect();
                    d = d.hint(format!("the guesses that matter most: {}", matter.join(", ")));
                }
                d
            }
            Trouble::NoMode { cells, tried, modes } => {
                let mut names: Vec<String> = cells.iter().map(name).collect();
                // What the user named comes before generated relations.
                names.sort_by_key(|n| n.contains(' '));
                names.dedup();
                let definition = |c: &Cell| self.sys.discrete.iter().find(|d| d.var == c.var);
                // Nothing but when-equations: there is no relation whose choice could be wrong.
                let assigned =
                    cells.iter().all(|c| definition(c).is_some_and(|d| matches!(d.kind, DiscKind::When(..))));
                if assigned {
                    let span = cells.iter().find_map(|c| definition(c)?.origin.span).unwrap_or(Span::NONE);
                    let names = names.join(", ");
                    let text = format!("{what} at time {t:?}: the when-equations of {names} do not determine them");
                    let d = Diagnostic::error(stage, span, text)
                        .hint("each reads values after the event; those before it are pre(…)");
                    return match cells.iter().all(|c| self.sys.dae.vars[c.var].ty == VarType::Real) {
                        true => d,
                        // Computed from each other again and again they come back to what they were.
                        false => {
                            let value = |(c, v): (&Cell, &f64)| match self.sys.dae.vars[c.var].ty {
                                VarType::Boolean => format!("{} = {}", name(c), *v != 0.0),
                                _ => format!("{} = {v}", name(c)),
                            };
                            let mode = |m: &Vec<f64>| cells.iter().zip(m).take(6).map(value).collect::<Vec<_>>();
                            let modes: Vec<String> = modes.iter().map(|m| mode(m).join(", ")).collect();
                            d.hint(format!("computed from each other they alternate: {}", modes.join(" | ")))
                        }
                    };
                }
                let span = cells.iter().find_map(|c| self.sys.dae.vars[c.var].origin.span);
                let value = |(c, v): (&Cell, &f64)| match self.sys.dae.vars[c.var].ty {
                    VarType::Boolean => format!("{} = {}", name(c), *v != 0.0),
                    _ => format!("{} = {v}", name(c)),
                };
                let mode = |m: &Vec<f64>| cells.iter().zip(m).take(6).map(value).collect::<Vec<_>>().join(", ");
                Diagnostic::error(
                    stage,
                    span.unwrap_or(Span::NONE),
                    format!("{what} at time {t:?}: no consistent values of {}: every choice contradicts itself ({tried} tried)", names.join(", ")),
                )
                .hint(self.when_circle(cells).or_else(|| self.guard_circle(cells)).unwrap_or_else(|| {
                    "the relations and the branches they select exclude each other; check their signs".into()
                }))
                .hint(format!("tried first: {}", modes.iter().map(mode).collect::<Vec<_>>().join("; ")))
            }
            Trouble::Function(e) => Diagnostic::error(stage, e.span, format!("{what} at time {t:?}: {}", e.message)),
        }
    }
}

/// The text of an equation by its number: those of the model, then initial equations, then values of variables.
pub(crate) fn equation_words(sys: &System, eq: usize, level: u8) -> String {
    let n = sys.equations.len();
    let row = if eq < n {
        &sys.equations[eq].row
    } else if let Some(e) = sys.initial.get(eq.wrapping_sub(n)) {
        &e.row
    } else {
        let v = eq.wrapping_sub(n).wrapping_sub(sys.initial.len());
        return match sys.dae.vars.get(VarId::new(v.min(u32::MAX as usize - 1))) {
            Some(var) if var.binding.is_some() => format!("value of {}", var.name),
            Some(var) => format!("start value of {}", var.name),
            None => "a definition".into(),
        };
    };
    let mut text = equation_text(&sys.dae, row);
    for r in &sys.relations {
        let name = &sys.dae.vars[r.var].name;
        if name.starts_with('$') && text.contains(name.as_str()) {
            text = text.replace(name.as_str(), &r.text);
        }
    }
    if level > 0 {
        text = format!("{text}, differentiated {level} time{}", if level == 1 { "" } else { "s" });
    }
    text
}
