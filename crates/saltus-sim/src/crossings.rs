//! What an integration step must watch: the crossing functions of a mode, the slice of the evaluation they read, and
//! which discrete values the derivatives depend on.

use crate::compile::Step;
use crate::machine::Machine;
use crate::model::{ModeProgram, Model};
use crate::slice;
use crate::touched::step_reads;
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_dae::{Action, HybridDae, Operand, VarId};
use saltus_expr::{Binary, Coefficient, Node, Unary};
use saltus_program::{Chain, slot_of};
use saltus_structure::{Cell, DiscKind, Item, RelationKind, Role, Sequence, StructuralPlan, System, compose, solved};

/// The crossing functions of a mode and what evaluates them.
pub struct Crossings {
    /// The functions, one per relation that must be searched for.
    pub functions: Vec<Function>,
    /// The part of the continuous evaluation that functions read which are not [`Gradient`]-carrying.
    pub slice: Vec<Step>,
    /// The values of functions that are not affine, the slice given.
    pub values: Chain,
    /// States that functions read, directly or through the slice.
    pub states: Vec<usize>,
    /// Functions by the slots of the discrete values they read, and of their own truth value.
    pub by_slot: FxHashMap<u32, Vec<usize>>,
    /// Functions by their relations.
    pub by_relation: FxHashMap<usize, usize>,
}

impl Crossings {
    /// The relations that are searched for.
    pub fn relations(&self) -> impl Iterator<Item = usize> + '_ {
        self.functions.iter().map(|f| f.relation)
    }
}

/// A function through more assignments than this is not written out.
const MOST_ASSIGNMENTS: usize = 32;

/// One crossing function.
pub struct Function {
    /// Index into the system's relations.
    pub relation: usize,
    /// For a function of states, time and discrete values alone: its derivatives.
    pub gradient: Option<Gradient>,
    /// Slots of discrete values it reads, directly or through the slice.
    pub discrete: FxHashSet<u32>,
    /// The part of the slice that it reads.
    pub slice: Vec<Step>,
    /// States that it reads, directly or through the slice.
    pub states: Vec<usize>,
    /// Whether it reads time.
    pub timed: bool,
    /// Whether the slice solves equations.
    pub solves: bool,
}

impl Function {
    /// Whether it is a polynomial of the step.
    pub fn affine(&self) -> bool {
        self.gradient.as_ref().is_some_and(|g| g.affine)
    }
}

/// Derivatives of a crossing function g(t, x).
pub struct Gradient {
    /// Computes them.
    pub slopes: Chain,
    /// State, slot of the derivative, sign.
    pub states: Vec<(usize, u32, f64)>,
    /// Slots and signs of ∂g/∂t.
    pub time: Vec<(u32, f64)>,
    /// Whether they are constant between events: g is a polynomial of the step.
    pub affine: bool,
    /// Whether g jumps nowhere: it moves no further than they tell.
    pub continuous: bool,
}

impl Gradient {
    /// How fast the function changes by the present derivatives of the states.
    pub fn rate(&self, m: &mut Machine, program: &ModeProgram) -> f64 {
        m.chain(&self.slopes);
        let value = |slot: u32| m.values[slot as usize];
        let along = self.states.iter().map(|&(k, slot, sign)| sign * value(slot) * value(program.states[k].1));
        along.chain(self.time.iter().map(|&(slot, sign)| sign * value(slot))).sum()
    }
}

/// What discrete values mean to the integrator.
#[derive(Default)]
pub struct Sensitivity {
    /// Slots of discrete values that the derivatives of the states depend on.
    pub slots: FxHashSet<u32>,
    /// Relations on time, and samplers, whose events may reach the derivatives, a `reinit`, the mode or the end.
    pub relations: FxHashSet<usize>,
    /// Samplers, by number.
    pub tickers: FxHashSet<usize>,
}

/// Resolved cells that an item reads.
fn reads(sys: &System, item: &Item) -> Vec<Cell> {
    item.reads(sys).into_iter().filter_map(|c| Cell::of(sys.resolve(c.operand()))).collect()
}

/// Which blocks of a sequence the given cells depend on.
fn needed(sys: &System, seq: &Sequence, targets: impl IntoIterator<Item = Cell>) -> Vec<bool> {
    let mut owner: FxHashMap<Cell, usize> = FxHashMap::default();
    for (b, block) in seq.blocks.iter().enumerate() {
        for &u in &block.unknowns {
            owner.insert(u, b);
        }
    }
    let mut need = vec![false; seq.blocks.len()];
    let mut stack: Vec<usize> = targets.into_iter().filter_map(|c| owner.get(&c).copied()).collect();
    while let Some(b) = stack.pop() {
        if std::mem::replace(&mut need[b], true) {
            continue;
        }
        for &i in &seq.blocks[b].items {
            stack.extend(reads(sys, &seq.items[i]).iter().filter_map(|c| owner.get(c).copied()));
        }
    }
    need
}

/// The sequence without the blocks that are not needed.
fn cut(seq: &Sequence, need: &[bool]) -> Sequence {
    let blocks = seq.blocks.iter().zip(need).filter(|(_, n)| **n).map(|(b, _)| b.clone()).collect();
    Sequence { items: seq.items.clone(), blocks }
}

impl Model {
    fn is_discrete(&self, cell: Cell) -> bool {
        cell.order < 0 || self.sys.role(cell.var) == Role::Discrete || self.sys.external.contains(&cell.var)
    }

    /// The discrete cells read by some blocks; a previous value counts as its variable.
    fn discrete_reads(&self, seq: &Sequence, need: &[bool]) -> FxHashSet<Cell> {
        seq.blocks
            .iter()
            .zip(need)
            .filter(|(_, n)| **n)
            .flat_map(|(b, _)| b.items.iter().flat_map(|&i| reads(&self.sys, &seq.items[i])))
            .filter(|&c| self.is_discrete(c))
            .map(|c| Cell::new(c.var, 0))
            .collect()
    }

    /// The crossing functions of a plan.
    pub(crate) fn crossings(&mut self, plan: &StructuralPlan) -> Crossings {
        let active: FxHashSet<VarId> = plan.vars.iter().copied().collect();
        let state: FxHashMap<Cell, usize> = plan.states.iter().enumerate().map(|(k, &c)| (c, k)).collect();
        let which: Vec<usize> = (0..self.machine.relations.len())
            .filter(|&i| {
                self.machine.relations[i].time.is_none()
                    && self.sys.relations[i].g.args.iter().all(|&a| match self.sys.resolve(a) {
                        Operand::Var { var, .. } if self.sys.role(var) == Role::Continuous => active.contains(&var),
                        _ => true,
                    })
            })
            .collect();
        let mut functions = Vec::new();
        let mut targets: Vec<Cell> = Vec::new();
        for relation in which {
            let row = self.sys.resolve_row(&self.sys.relations[relation].g);
            let cells: Vec<Cell> = row.args.iter().filter_map(|&a| Cell::of(a)).collect();
            let moving = |c: &Cell| !self.is_discrete(*c) && self.sys.role(c.var) == Role::Continuous;
            let direct = cells.iter().all(|c| !moving(c) || state.contains_key(c))
                && !cells.iter().any(|c| self.sys.external.contains(&c.var));
            let mut discrete: FxHashSet<Cell> =
                cells.iter().filter(|c| self.is_discrete(**c)).map(|c| Cell::new(c.var, 0)).collect();
            let gradient = if direct && cells.len() <= 16 {
                Some(self.gradient(&row, &state))
            } else {
                let own: Vec<Cell> = cells.iter().copied().filter(|c| !state.contains_key(c)).collect();
                let need = needed(&self.sys, &plan.continuous, own.iter().copied());
                discrete.extend(self.discrete_reads(&plan.continuous, &need));
                targets.extend(own);
                None
            };
            let discrete = discrete.into_iter().map(|c| self.layout.slot(c)).collect();
            let (slice, states) = (Vec::new(), Vec::new());
            functions.push(Function { relation, gradient, discrete, slice, states, timed: false, solves: false });
        }
        let need = needed(&self.sys, &plan.continuous, targets);
        let sequence = cut(&plan.continuous, &need);
        let all = self.compile(|c| c.sequence(&sequence));
        let states = plan.states.iter().map(|&c| self.layout.slot(c));
        let mut moving: Vec<u32> = states.collect();
        moving.push(self.machine.time);
        let reads = |f: &Function| self.machine.relations[f.relation].batch.rows.words()[1..].iter().copied();
        let sampled = functions.iter().filter(|f| f.gradient.is_none());
        let slice = slice::slice(&all, sampled.flat_map(reads), moving.iter().copied());
        for f in functions.iter_mut().filter(|f| f.gradient.is_none()) {
            f.slice = slice::slice(&slice, reads(f), moving.iter().copied());
        }
        let place: FxHashMap<u32, usize> = moving[..plan.states.len()].iter().copied().zip(0..).collect();
        for f in &mut functions {
            let mut read = Vec::new();
            f.slice.iter().for_each(|s| step_reads(&self.machine, s, &mut read));
            read.extend(self.machine.relations[f.relation].batch.rows.words()[1..].iter().map(|&w| slot_of(w) as u32));
            f.timed = read.contains(&self.machine.time);
            f.states = read.iter().filter_map(|s| place.get(s).copied()).collect();
            f.states.sort_unstable();
            f.states.dedup();
            f.solves = f.slice.iter().any(|s| matches!(s, Step::Solve(_)));
        }
        let mut states: Vec<usize> = functions.iter().flat_map(|f| f.states.iter().copied()).collect();
        states.sort_unstable();
        states.dedup();
        let mut by_slot: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        for (k, f) in functions.iter().enumerate() {
            for &s in f.discrete.iter().chain([&self.machine.relations[f.relation].var]) {
                by_slot.entry(s).or_default().push(k);
            }
        }
        let by_relation = functions.iter().enumerate().map(|(k, f)| (f.relation, k)).collect();
        let batch = |f: &Function| self.machine.relations[f.relation].batch.clone();
        let values = functions.iter().filter(|f| !f.affine()).map(batch).collect();
        Crossings { functions, slice, values, states, by_slot, by_relation }
    }

    /// Makes the rate of a relation's function exact in a mode, if it can be had through assignments.
    pub(crate) fn know_rate(&mut self, program: &ModeProgram, relation: usize) {
        let direct = |f: &Function| f.relation == relation && f.gradient.is_some();
        if program.crossings.functions.iter().any(direct) || program.totals.borrow().contains_key(&relation) {
            return;
        }
        self.layout.lend();
        let total = self.total_gradient(&program.plan, relation);
        program.lent.borrow_mut().push(self.layout.lent());
        program.totals.borrow_mut().insert(relation, total);
    }

    /// The derivatives of a crossing function by states and time through all that is assigned on the way; nothing if equations
    /// are solved there.
    fn total_gradient(&mut self, plan: &StructuralPlan, relation: usize) -> Option<Gradient> {
        let state: FxHashMap<Cell, usize> = plan.states.iter().enumerate().map(|(k, &c)| (c, k)).collect();
        let mut row = self.sys.resolve_row(&self.sys.relations[relation].g);
        for _ in 0..MOST_ASSIGNMENTS {
            let moving = |c: &Cell| !self.is_discrete(*c) && self.sys.role(c.var) == Role::Continuous;
            let open = |c: &Cell| moving(c) && !state.contains_key(c);
            let Some(cell) = row.args.iter().filter_map(|&a| Cell::of(a)).find(open) else {
                return (row.args.len() <= MOST_ASSIGNMENTS).then(|| self.gradient(&row, &state));
            };
            let block = plan.continuous.blocks.iter().find(|b| b.unknowns == [cell])?;
            let value = match &plan.continuous.items[*block.items.first()?] {
                Item::Value { cell: target, row } if *target == cell => self.sys.resolve_row(row),
                Item::Residual { row, .. } => {
                    let row = self.sys.resolve_row(row);
                    let k = row.args.iter().position(|&a| Cell::of(a) == Some(cell))?;
                    let class = self.ops.classify(&mut self.sys.dae, &row, k);
                    if matches!(class, Coefficient::Varying | Coefficient::Nonlinear) {
                        return None;
                    }
                    solved(&mut self.sys, &mut self.ops, &row, k)?
                }
                _ => return None,
            };
            if value.args.len() > MOST_ASSIGNMENTS || value.args.iter().any(|&a| Cell::of(a) == Some(cell)) {
                return None;
            }
            row = compose(&mut self.sys.dae, &row, &FxHashMap::from_iter([(cell, value)]));
        }
        None
    }

    fn gradient(&mut self, row: &saltus_dae::Row, state: &FxHashMap<Cell, usize>) -> Gradient {
        let mut continuous = true;
        self.sys.dae.pool.visit(row.template, |_, n| continuous &= jumps_nowhere(n));
        let mut g =
            Gradient { slopes: Chain::default(), states: Vec::new(), time: Vec::new(), affine: true, continuous };
        for k in 0..row.args.len() {
            let Operand::Var { var, neg, .. } = row.args[k] else { continue };
            let cell = Cell::of(row.args[k]);
            let at = cell.and_then(|c| state.get(&c).copied());
            if at.is_none() && var != HybridDae::TIME {
                continue;
            }
            let p = self.ops.partial(&mut self.sys.dae, row, k);
            // What jumps or bends at a branch inside a function is none, though its slope be constant.
            g.affine &= self.ops.classify(&mut self.sys.dae, row, k) != Coefficient::Nonlinear
                && p.args
                    .iter()
                    .all(|&a| Cell::of(a).is_none_or(|c| c.var != HybridDae::TIME && !state.contains_key(&c)));
            let slot = self.layout.scratch();
            g.slopes.push(self.compile(|c| c.batch(slot, &p)));
            let sign = if neg { -1.0 } else { 1.0 };
            match at {
                Some(k) => g.states.push((k, slot, sign)),
                None => g.time.push((slot, sign)),
            }
        }
        g
    }

    /// What discrete values mean to the integrator in this mode.
    pub(crate) fn sensitivity(&mut self, plan: &StructuralPlan) -> Sensitivity {
        let seq = &plan.continuous;
        let derivatives = plan.states.iter().map(|s| Cell { var: s.var, order: s.order + 1 });
        let need = needed(&self.sys, seq, derivatives.clone());
        let mut direct = self.discrete_reads(seq, &need);
        // A derivative may itself be a discrete value.
        direct.extend(
            derivatives.filter_map(|c| Cell::of(self.sys.resolve(c.operand()))).filter(|&c| self.is_discrete(c)),
        );
        let slots = direct.iter().map(|&c| self.layout.slot(c)).collect();
        // Who depends on whom among discrete variables, `pre` and conditions of whens included.
        let mut readers: FxHashMap<VarId, Vec<VarId>> = FxHashMap::default();
        let mut edge = |from: Option<Cell>, to: VarId| {
            if let Some(c) = from {
                readers.entry(c.var).or_default().push(to);
            }
        };
        for d in &self.sys.discrete {
            let row = |r: &saltus_dae::Row, edge: &mut dyn FnMut(Option<Cell>, VarId)| {
                for &a in &r.args {
                    edge(Cell::of(self.sys.resolve(a)), d.var);
                }
            };
            match &d.kind {
                DiscKind::Value(r) => row(r, &mut edge),
                DiscKind::Relation(i) => row(&self.sys.relations[*i].g, &mut edge),
                DiscKind::When(w, values) => {
                    values.iter().flatten().for_each(|r| row(r, &mut edge));
                    for (conditions, _) in &self.sys.whens[*w].branches {
                        conditions.iter().for_each(|&c| edge(Cell::of(self.sys.resolve(Operand::var(c))), d.var));
                    }
                }
            }
        }
        // What must not be stepped over: anything continuous, the mode, reinit, terminate, asserts in whens.
        let everything = vec![true; seq.blocks.len()];
        let mut final_: FxHashSet<VarId> = self.discrete_reads(seq, &everything).iter().map(|c| c.var).collect();
        final_.extend(direct.iter().map(|c| c.var));
        final_.extend(
            self.modes.conditions(&plan.key).into_iter().filter_map(|v| self.sys.resolve(Operand::var(v)).variable()),
        );
        for r in &self.sys.reactions {
            if !matches!(r.action, Action::Assign { .. }) {
                for &c in &self.sys.whens[r.when].branches[r.branch].0 {
                    final_.extend(self.sys.resolve(Operand::var(c)).variable());
                }
            }
        }
        // What travels is taken up where it changes.
        let delays = self.sys.dae.delays.iter().flat_map(|d| [&d.value, &d.delay]);
        for r in delays.chain(self.sys.dae.distributions.iter().flat_map(|d| &d.inputs)) {
            final_.extend(r.args.iter().filter_map(|&a| self.sys.resolve(a).variable()));
        }
        let reaches = |from: VarId| {
            let mut seen = FxHashSet::default();
            let mut stack = vec![from];
            while let Some(v) = stack.pop() {
                if final_.contains(&v) {
                    return true;
                }
                if seen.insert(v) {
                    stack.extend(readers.get(&v).into_iter().flatten());
                }
            }
            false
        };
        let relations = (0..self.machine.relations.len())
            .filter(|&i| self.machine.relations[i].time.is_some() && reaches(self.sys.relations[i].var))
            .collect();
        let tickers = (0..self.sys.dae.samplers.len()).filter(|&k| reaches(self.sys.dae.samplers[k].var)).collect();
        Sensitivity { slots, relations, tickers }
    }
}

/// Whether a node is a continuous function of its arguments, up to poles.
fn jumps_nowhere(n: &Node) -> bool {
    match n {
        Node::Const(_) | Node::Hole(_) => true,
        Node::Unary(op, _) => {
            !matches!(op, Unary::Not | Unary::Sign | Unary::Floor | Unary::Ceil | Unary::Trunc | Unary::Event)
        }
        Node::Binary(op, ..) => {
            use Binary::*;
            matches!(op, Add | Sub | Mul | Div | Pow | Min | Max)
        }
        _ => false,
    }
}

/// The side(s) a locked function has to stay on: (offset, sign), σ (g − offset) ≥ 0.
pub(crate) struct Sides {
    list: [(f64, f64); 2],
    count: usize,
}

impl std::ops::Deref for Sides {
    type Target = [(f64, f64)];
    fn deref(&self) -> &[(f64, f64)] {
        &self.list[..self.count]
    }
}

/// The sides that a relation's truth value tells.
pub(crate) fn sides(kind: &RelationKind, bit: f64) -> Sides {
    match kind {
        RelationKind::Sign(_) => {
            let sigma = if positive_side(kind, bit) { 1.0 } else { -1.0 };
            Sides { list: [(0.0, sigma); 2], count: 1 }
        }
        RelationKind::Floor => Sides { list: [(bit, 1.0), (bit + 1.0, -1.0)], count: 2 },
    }
}

/// Whether a relation with this truth value belongs to g > 0.
pub(crate) fn positive_side(kind: &RelationKind, bit: f64) -> bool {
    use saltus_expr::RelOp;
    match kind {
        RelationKind::Sign(op) => (bit != 0.0) == matches!(op, RelOp::Gt | RelOp::Ge),
        RelationKind::Floor => true,
    }
}

/// The truth value of a relation where g > 0 (`up`) or g < 0.
pub(crate) fn side_value(kind: &RelationKind, up: bool) -> f64 {
    f64::from(positive_side(kind, 1.0) == up)
}
