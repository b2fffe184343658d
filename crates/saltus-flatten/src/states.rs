//! State machines (Modelica 3.6, chapter 17), as equations of the clocked partition they belong to:
//!
//! ```text
//! initialState(a);  transition(a, b, c);   ⇒   active = if pre(active) == 0 then 1 elseif pre(active) == 1 and c then 2 …
//! a.x = previous(a.x) + 1;                 ⇒   a.x = if active == 1 then (if reset then start else pre(a.x)) + 1 else pre(a.x)
//! ```
//!
//! A machine whose states hold differential equations moves at events instead, and its states are branches of an
//! if-equation, see [`Flattener::guard_continuous_states`].
//!
//! An equation inside a state holds while the state and all states around it are active; otherwise its variable keeps
//! its value. Equations of several states for one variable of the surroundings (`outer output`) become one.

use crate::eval::Target;
use crate::instance::Slot;
use crate::modifier::NodeId;
use crate::value::{Ty, Value};
use crate::{Env, Flattener, Mode, R};
use rustc_hash::FxHashMap;
use saltus_base::{Arena, Span};
use saltus_dae::{
    Action, EqId, Equation, Guard, HybridDae, IfGroup, IfId, Operand, Origin, VarId, VarType, Variability, When,
    WhenBranch,
};
use saltus_expr::{Binary, ExprId, Node as XNode, Unary};
use saltus_syntax::ast::{Call, Causality, Expr, ExprKind};
use std::collections::BTreeSet;

/// Marks what a machine adds for variables of its states; it has its guard already.
const KEPT: &str = "kept by a state machine";

struct Transition {
    scope: NodeId,
    from: NodeId,
    to: NodeId,
    condition: ExprId,
    immediate: bool,
    reset: bool,
    synchronize: bool,
    priority: i64,
    span: Span,
}

/// A state: its number in its machine, and the machine's variables.
struct State {
    path: String,
    number: f64,
    machine: usize,
    /// Whether it begins at its start values where it is active now: the transition says so, or, for states of states, those around were
    /// reset since it was active last.
    reset: VarId,
    /// For states of states: whether those around were reset since it was active last.
    due: Option<VarId>,
}

#[derive(Clone, Copy)]
struct Machine {
    /// The number of the active state, 0 before the first tick.
    active: VarId,
    /// Whether the transition that fired at this tick resets its target.
    reset: VarId,
    /// Its states hold differential equations: it moves at events, not at ticks.
    continuous: bool,
}

/// What is known about state machines.
#[derive(Default)]
pub(crate) struct StateMachines {
    transitions: Vec<Transition>,
    initial: Vec<(NodeId, NodeId, Span)>,
    /// `activeState(s)`, and the ticks and the time of entry of a state, where they are asked for.
    flags: FxHashMap<NodeId, VarId>,
    ticks: FxHashMap<NodeId, VarId>,
    entry: FxHashMap<NodeId, VarId>,
    /// The transition whose condition is being read: its source, and whether it is immediate.
    reading: Option<(NodeId, bool)>,
    states: Vec<State>,
    machines: Vec<Machine>,
    /// Connected signals to which outputs of several states give the value.
    joined: Vec<Vec<VarId>>,
    pub(crate) outputs: OuterOutputs,
}

/// Outputs of states to what is around them, for the balance of classes.
#[derive(Default)]
pub(crate) struct OuterOutputs {
    /// Of how many scalars each is.
    pub sizes: FxHashMap<NodeId, usize>,
    /// What they give a value.
    pub given: BTreeSet<VarId>,
    /// How many of them are no variables of their own.
    pub nameless: usize,
    /// How many equations connections are more than what they mean: of several outputs one counts.
    pub joined: usize,
    /// Whether there are any that are not scalars or arrays.
    pub composite: bool,
}

impl StateMachines {
    /// Whether the model has any.
    pub fn any(&self) -> bool {
        !self.states.is_empty() || !self.transitions.is_empty()
    }
}

impl<'t> Flattener<'t> {
    fn state_arg(&mut self, env: &Env, e: &Expr) -> R<NodeId> {
        if let ExprKind::Ref(r) = &e.kind
            && let Target::Nodes(nodes, dims, subs) = self.resolve(env, r)?
            && let ([n], true, true) = (&nodes[..], dims.is_empty(), subs.is_empty())
            && self.template(*n)?.builtin.is_none()
        {
            return Ok(*n);
        }
        Err(self.err(e.span, "a state must be a component of this class: a block or model without subscripts"))
    }

    fn flag_arg(&mut self, env: &Env, c: &Call, k: usize, name: &str, default: bool) -> R<bool> {
        match c.args.get(k).or_else(|| c.named.iter().find(|(n, _)| n.name == name).map(|(_, e)| e)) {
            Some(e) => {
                let v = self.eval(&Env { mode: Mode::Konst, ..*env }, e)?;
                match (self.bool_of(&v), v.ty()) {
                    (Some(b), Some(Ty::Bool)) => Ok(b),
                    _ => Err(self.err(e.span, format!("{name} must be a Boolean, not {}", v.describe()))),
                }
            }
            None => Ok(default),
        }
    }

    /// `initialState(s)` and `transition(…)`.
    pub(crate) fn state_machine_call(&mut self, env: &Env, name: &str, c: &Call, span: Span) -> R<()> {
        let arg = |k: usize, name: &str| {
            c.args.get(k).or_else(|| c.named.iter().find(|(n, _)| n.name == name).map(|(_, e)| e))
        };
        let scope = env.scope.node;
        let known: &[&str] = match name {
            "initialState" => &["state"],
            _ => &["from", "to", "condition", "immediate", "reset", "synchronize", "priority"],
        };
        self.known_arguments(name, c, known, span)?;
        if name == "initialState" {
            let Some(s) = arg(0, "state") else { return Err(self.err(span, "initialState needs a state")) };
            let s = self.state_arg(env, s)?;
            self.states.initial.push((scope, s, span));
            return Ok(());
        }
        let (Some(from), Some(to), Some(condition)) = (arg(0, "from"), arg(1, "to"), arg(2, "condition")) else {
            return Err(self.err(span, "transition needs two states and a condition"));
        };
        let (from, to) = (self.state_arg(env, from)?, self.state_arg(env, to)?);
        let immediate = self.flag_arg(env, c, 3, "immediate", true)?;
        let reset = self.flag_arg(env, c, 4, "reset", true)?;
        let synchronize = self.flag_arg(env, c, 5, "synchronize", false)?;
        let priority = match arg(6, "priority") {
            Some(e) => {
                let v = self.eval(&Env { mode: Mode::Konst, ..*env }, e)?;
                match (self.const_of(&v), v.ty()) {
                    (Some(p), Some(Ty::Int)) if p >= 1.0 => p as i64,
                    _ => return Err(self.err(e.span, "the priority of a transition must be a positive Integer")),
                }
            }
            None => 1,
        };
        self.states.reading = Some((from, immediate));
        let v = self.eval(env, condition);
        self.states.reading = None;
        let Value::Num(x, Ty::Bool) = v? else {
            return Err(self.err(condition.span, "the condition of a transition must be a Boolean"));
        };
        self.states.transitions.push(Transition {
            scope,
            from,
            to,
            condition: x,
            immediate,
            reset,
            synchronize,
            priority,
            span,
        });
        Ok(())
    }

    /// `activeState(s)`, `ticksInState()`, `timeInState()`.
    pub(crate) fn state_call(&mut self, env: &Env, name: &str, c: &Call, span: Span) -> R<Value> {
        if env.mode != Mode::Model {
            let ty = match name {
                "activeState" => Ty::Bool,
                "ticksInState" => Ty::Int,
                _ => Ty::Real,
            };
            return Ok(Value::Num(self.dae.pool.hole(u32::MAX), ty));
        }
        let o = self.origin(env, span, "state machine");
        if name == "activeState" {
            let Some(s) = c.args.first() else { return Err(self.err(span, "activeState needs a state")) };
            let s = self.state_arg(env, s)?;
            let v = match self.states.flags.get(&s) {
                Some(&v) => v,
                None => {
                    let v = self.hidden("active", VarType::Boolean, Variability::Discrete, o);
                    self.states.flags.insert(s, v);
                    v
                }
            };
            return Ok(Value::Num(self.var_expr(v), Ty::Bool));
        }
        let Some((from, immediate)) = self.states.reading else {
            return Err(self.err(span, format!("{name} can only be used in the condition of a transition")));
        };
        if name == "ticksInState" {
            let v = match self.states.ticks.get(&from) {
                Some(&v) => v,
                None => {
                    let v = self.hidden("ticks", VarType::Integer, Variability::Discrete, o);
                    self.states.ticks.insert(from, v);
                    v
                }
            };
            // An immediate transition asks before this tick is counted.
            let e = if immediate {
                let before = self.before(v);
                let one = self.dae.pool.num(1.0);
                self.dae.pool.add(before, one)
            } else {
                self.var_expr(v)
            };
            return Ok(Value::Num(e, Ty::Int));
        }
        let v = match self.states.entry.get(&from) {
            Some(&v) => v,
            None => {
                let v = self.hidden("entry", VarType::Real, Variability::Discrete, o);
                self.states.entry.insert(from, v);
                v
            }
        };
        let since = if immediate { self.before(v) } else { self.var_expr(v) };
        let time = self.var_expr(HybridDae::TIME);
        Ok(Value::Num(self.dae.pool.sub(time, since), Ty::Real))
    }

    /// The value at the tick before, or before the event.
    fn before(&mut self, var: VarId) -> ExprId {
        self.rows.operand(&mut self.dae.pool, Operand::Pre { var })
    }

    /// The same of a clocked variable.
    fn before_held(&mut self, var: VarId) -> ExprId {
        self.clocks.mark_state(var);
        self.before(var)
    }

    /// The same of a variable that belongs to a machine: a clocked one remembers it from tick to tick.
    fn before_in(&mut self, machine: usize, var: VarId) -> ExprId {
        if self.states.machines[machine].continuous { self.before(var) } else { self.before_held(var) }
    }

    fn is_state(&mut self, active: ExprId, number: f64) -> ExprId {
        let n = self.dae.pool.num(number);
        self.dae.pool.bin(Binary::Eq, active, n)
    }

    /// Turns the transitions into equations. Comes after all sections and before the clocks.
    pub(crate) fn finish_states(&mut self) {
        if self.states.transitions.is_empty() && self.states.initial.is_empty() {
            let flags: Vec<VarId> = self.states.flags.values().copied().collect();
            for v in flags {
                let span = self.dae.vars[v].origin.span.unwrap_or(Span::NONE);
                let e = self.err(span, "this component is no state of a state machine");
                self.diagnostics.push(*e);
            }
            return;
        }
        if let Err(e) = self.build_machines() {
            self.diagnostics.push(*e);
        }
    }

    fn build_machines(&mut self) -> R<()> {
        let mut transitions = std::mem::take(&mut self.states.transitions);
        let initial = std::mem::take(&mut self.states.initial);
        // States that transitions tie together form a machine.
        let mut order: Vec<NodeId> = Vec::new();
        let mut scope_of: FxHashMap<NodeId, NodeId> = FxHashMap::default();
        let ends = initial
            .iter()
            .map(|&(scope, s, _)| (scope, s))
            .chain(transitions.iter().flat_map(|t| [(t.scope, t.from), (t.scope, t.to)]));
        for (scope, s) in ends {
            if !order.contains(&s) {
                order.push(s);
                scope_of.insert(s, scope);
            }
        }
        let mut group: FxHashMap<NodeId, usize> = order.iter().enumerate().map(|(i, &s)| (s, i)).collect();
        for t in &transitions {
            let (a, b) = (group[&t.from], group[&t.to]);
            let (low, high) = (a.min(b), a.max(b));
            group.values_mut().filter(|g| **g == high).for_each(|g| *g = low);
        }
        let mut groups: Vec<usize> = order.iter().map(|s| group[s]).collect();
        groups.sort_unstable();
        groups.dedup();
        let first = self.states.machines.len();
        let mut members: Vec<Vec<NodeId>> = Vec::new();
        for &g in &groups {
            let states: Vec<NodeId> = order.iter().copied().filter(|s| group[s] == g).collect();
            let scope = scope_of[&states[0]];
            let span = transitions.iter().find(|t| states.contains(&t.from)).map_or(Span::NONE, |t| t.span);
            let origin = Origin { span: Some(span), instance: self.instance_shared(scope), note: "state machine" };
            let active = self.hidden("state", VarType::Integer, Variability::Discrete, origin.clone());
            let reset = self.hidden("reset", VarType::Boolean, Variability::Discrete, origin);
            let zero = self.dae.constant_row(0.0);
            self.dae.vars[active].start = Some(zero.clone());
            self.dae.vars[active].fixed = Some(true);
            self.dae.vars[reset].start = Some(zero.clone());
            let inside = self.path(scope);
            let nested = order.iter().any(|&o| within(&inside, &self.path(o)));
            let machine = self.states.machines.len();
            self.states.machines.push(Machine { active, reset, continuous: false });
            for (k, &s) in states.iter().enumerate() {
                let path = self.path(s);
                let mut state = State { path, number: k as f64 + 1.0, machine, reset, due: None };
                if nested {
                    let origin = self.dae.vars[active].origin.clone();
                    state.reset = self.hidden("reset", VarType::Boolean, Variability::Discrete, origin.clone());
                    self.dae.vars[state.reset].start = Some(zero.clone());
                    // A reset from around gives it its start value, too: true.
                    let due = self.hidden("due", VarType::Boolean, Variability::Discrete, origin);
                    self.dae.vars[due].start = Some(self.dae.constant_row(1.0));
                    self.dae.vars[due].fixed = Some(true);
                    state.due = Some(due);
                }
                self.states.states.push(state);
            }
            members.push(states);
        }
        self.note_outer_outputs(&order)?;
        self.merge_outer_outputs(&order, &mut transitions)?;
        self.merge_connected_outputs();
        self.connections_in_states();
        self.mark_continuous();
        self.algorithms_in_states();
        for (k, states) in members.iter().enumerate() {
            self.build_machine(first + k, states, &members, &scope_of, &transitions, &initial)?;
        }
        self.guard_continuous_states();
        Ok(())
    }

    /// What states inside a state give to its `inner outer output v` they give to the v outside of it (Modelica 3.6, section
    /// 17.3.5); the state's own v shows it while the state is active:
    ///
    /// ```text
    /// in a.b: a.v = previous(a.v) + 1   ⇒   in a.b: v = previous(v) + 1,   in a: a.v = v
    /// ```
    fn merge_outer_outputs(&mut self, states: &[NodeId], transitions: &mut [Transition]) -> R<()> {
        let mut merged: Vec<(VarId, VarId, NodeId)> = Vec::new();
        let inner: Vec<NodeId> = self.extra_order.clone();
        for n in inner {
            let Some(state) = self.node(n).parent.filter(|p| states.contains(p)) else { continue };
            let (t, name) = (self.template(state)?, self.node(n).name);
            let Some(&i) = t.index.get(&name) else { continue };
            let Slot::Node(own) = self.child(state, i)? else { continue };
            if own == n || self.node(own).outer.is_none() || self.node(own).causality != Causality::Output {
                continue;
            }
            let outside = self.real(own)?;
            let (Some(v), Some(w)) = (self.node(n).var, self.node(outside).var) else { continue };
            let count: usize = self.dims(n)?.iter().product();
            let at = |v: VarId, k: usize| VarId::new(v.index() + k);
            merged.extend((0..count).map(|k| (at(v, k), at(w, k), state)));
        }
        // Inner states first: what they give to a state around them goes on from there.
        merged.sort_by_key(|m| std::cmp::Reverse(self.path(m.2).len()));
        for (v, w, state) in merged {
            let path = self.path(state);
            if self.dae.vars[v].variability < self.dae.vars[w].variability {
                self.dae.vars[w].variability = self.dae.vars[v].variability;
            }
            let turn = |a: &mut Operand| match a {
                Operand::Var { var, .. } | Operand::Pre { var } if *var == v => *var = w,
                _ => {}
            };
            let turn_row = |r: &mut saltus_dae::Row| r.args.iter_mut().for_each(turn);
            let here = |origin: &Origin| within(&origin.instance, &path);
            for i in 0..self.dae.equations.len() {
                let e = &mut self.dae.equations[EqId::new(i)];
                if here(&e.origin) {
                    turn_row(&mut e.row);
                }
            }
            for c in self.dae.calls.iter_mut().filter(|c| here(&c.origin)) {
                c.args.iter_mut().for_each(turn_row);
                c.outputs.iter_mut().filter(|o| **o == v).for_each(|o| *o = w);
            }
            for i in 0..self.dae.ifs.len() {
                let g = &mut self.dae.ifs[IfId::new(i)];
                if here(&g.origin) {
                    g.conditions.iter_mut().for_each(turn_row);
                }
            }
            for a in self.dae.assertions.iter_mut().filter(|a| here(&a.origin)) {
                turn_row(&mut a.condition);
            }
            let inside: Vec<NodeId> =
                transitions.iter().map(|t| t.scope).filter(|&n| within(&self.path(n), &path)).collect();
            for t in transitions.iter_mut().filter(|t| inside.contains(&t.scope)) {
                t.condition = self.in_place_of(t.condition, v, w);
            }
            let mut arguments: Vec<(VarId, ExprId)> = self.clocks.arguments().map(|(o, a)| (o, *a)).collect();
            for (out, a) in &mut arguments {
                if within(&self.dae.vars[*out].origin.instance, &path) {
                    *a = self.in_place_of(*a, v, w);
                }
            }
            self.clocks.arguments().zip(arguments).for_each(|((_, old), (_, new))| *old = new);
            self.clocks.mark_state(w);
            // Shown while the state is active.
            let (x, y) = (self.var_expr(v), self.var_expr(w));
            let r = self.dae.pool.intern(XNode::Binary(Binary::Sub, x, y));
            let row = self.row(r);
            let origin = Origin { instance: path.into(), ..self.dae.vars[v].origin.clone() };
            self.dae.equations.push(Equation { row, guard: None, origin });
        }
        Ok(())
    }

    fn note_outer_outputs(&mut self, states: &[NodeId]) -> R<()> {
        for &state in states {
            for own in self.below(state) {
                if self.node(own).outer.is_none() || self.node(own).causality != Causality::Output {
                    continue;
                }
                let outside = self.real(own)?;
                let Some(w) = self.node(outside).var.filter(|_| self.template(own).is_ok_and(|t| t.builtin.is_some()))
                else {
                    self.states.outputs.composite = true;
                    continue;
                };
                let count: usize = self.dims(own)?.iter().product();
                let name = self.node(own).name;
                let named = |&n: &NodeId| self.node(n).parent == Some(state) && self.node(n).name == name;
                let named = self.extra_order.iter().any(named);
                let outputs = &mut self.states.outputs;
                outputs.sizes.insert(own, count);
                outputs.given.extend((0..count).map(|k| VarId::new(w.index() + k)));
                outputs.nameless += if named { 0 } else { count };
            }
        }
        Ok(())
    }

    /// Whether connected signals get their value from these outputs of different states: then the one of the active state counts.
    pub(crate) fn joins_states(&mut self, sources: &[VarId], all: &[VarId]) -> bool {
        let ends = self.states.transitions.iter().flat_map(|t| [t.from, t.to]);
        let states: BTreeSet<String> =
            ends.chain(self.states.initial.iter().map(|i| i.1)).map(|s| self.path(s)).collect();
        let own: BTreeSet<&str> = sources.iter().map(|&v| &*self.dae.vars[v].origin.instance).collect();
        let joins = own.len() == sources.len() && own.iter().all(|&i| states.contains(i));
        if joins {
            self.states.outputs.joined += sources.len() - 1;
            self.states.joined.push(all.to_vec());
        }
        joins
    }

    /// Outputs of states that are connected to one signal (Modelica 3.6, section 17.3.6).
    ///
    /// before: `a.y = o; b.y = o`
    /// after:  `o = if active == 1 then a.y elseif active == 2 then b.y else previous(o)`
    fn merge_connected_outputs(&mut self) {
        for group in std::mem::take(&mut self.states.joined) {
            let state = |me: &Self, v: VarId| {
                let instance = &*me.dae.vars[v].origin.instance;
                me.states.states.iter().position(|s| s.path == instance)
            };
            let (given, others): (Vec<VarId>, Vec<VarId>) = group.iter().partition(|&&v| state(self, v).is_some());
            let Some(machine) = given.first().and_then(|&v| state(self, v)).map(|k| self.states.states[k].machine)
            else {
                continue;
            };
            let among = |e: &Equation| e.row.args.iter().all(|a| a.variable().is_some_and(|v| group.contains(&v)));
            let mut origin = None;
            let (mut stay, mut places) = (Arena::default(), Vec::new());
            for e in self.dae.equations.as_slice() {
                let joins = e.origin.note == "connection" && among(e);
                places.push((!joins).then_some(stay.len()));
                if joins {
                    origin = Some(e.origin.clone());
                } else {
                    stay.push(e.clone());
                }
            }
            self.dae.equations = stay;
            self.clocks.moved(&places);
            let Some(&signal) = others.first() else { continue };
            let active = self.states.machines[machine].active;
            let mut value = self.before_in(machine, signal);
            for &v in &given {
                let Some(k) = state(self, v) else { continue };
                let now = self.var_expr(active);
                let here = self.is_state(now, self.states.states[k].number);
                let output = self.var_expr(v);
                value = self.dae.pool.select(here, output, value);
            }
            self.define_state(signal, value);
            if !self.states.machines[machine].continuous {
                self.clocks.tie(active, signal);
            }
            for &v in &others[1..] {
                let (x, y) = (self.var_expr(v), self.var_expr(signal));
                let r = self.dae.pool.intern(XNode::Binary(Binary::Sub, x, y));
                let row = self.row(r);
                let origin = origin.clone().unwrap_or_default();
                self.dae.equations.push(Equation { row, guard: None, origin });
            }
        }
    }

    /// An expression with another variable in the place of one.
    fn in_place_of(&mut self, e: ExprId, v: VarId, w: VarId) -> ExprId {
        let mut map = FxHashMap::default();
        for h in self.dae.pool.holes(e) {
            let new = match self.hole(h) {
                Some(Operand::Var { var, order, neg }) if var == v => Operand::Var { var: w, order, neg },
                Some(Operand::Pre { var }) if var == v => Operand::Pre { var: w },
                _ => continue,
            };
            map.insert(h, self.rows.operand(&mut self.dae.pool, new));
        }
        self.dae.pool.substitute(e, |p, h| map.get(&h).copied().unwrap_or_else(|| p.hole(h)))
    }

    /// What connections inside a state give belongs to the state.
    fn connections_in_states(&mut self) {
        for i in 0..self.dae.equations.len() {
            let e = &self.dae.equations[EqId::new(i)];
            if !matches!(e.origin.note, "connection" | "unconnected flow") {
                continue;
            }
            let inside = |path: &str| {
                e.row.args.iter().filter_map(|a| a.variable()).all(|v| within(&self.dae.vars[v].origin.instance, path))
            };
            let states = self.states.states.iter().filter(|s| inside(&s.path));
            if let Some(s) = states.max_by_key(|s| s.path.len()) {
                let path = s.path.clone();
                if !within(&e.origin.instance, &path) {
                    self.dae.equations[EqId::new(i)].origin.instance = path.into();
                }
            }
        }
    }

    /// Machines whose states hold equations of continuous time move at events, and so do those inside them and around them.
    ///
    /// Equations of continuous time are those with a derivative, and those tied to them by continuous variables.
    fn mark_continuous(&mut self) {
        let equations = self.dae.equations.as_slice();
        let mut readers: FxHashMap<VarId, Vec<usize>> = FxHashMap::default();
        let mut found = vec![false; equations.len()];
        let mut open: Vec<usize> = Vec::new();
        let own = |v: VarId| !HybridDae::is_builtin(v) && self.dae.vars[v].variability == Variability::Continuous;
        for (i, e) in equations.iter().enumerate() {
            for v in e.row.args.iter().filter_map(|a| a.variable()).filter(|&v| own(v)) {
                readers.entry(v).or_default().push(i);
            }
            if e.row.args.iter().any(|a| matches!(a, Operand::Var { order: 1.., .. })) {
                found[i] = true;
                open.push(i);
            }
        }
        while let Some(i) = open.pop() {
            for v in equations[i].row.args.iter().filter_map(|a| a.variable()) {
                for j in readers.remove(&v).unwrap_or_default() {
                    if !found[j] {
                        found[j] = true;
                        open.push(j);
                    }
                }
            }
        }
        let instances: Vec<String> =
            equations.iter().zip(&found).filter(|e| *e.1).map(|(e, _)| e.origin.instance.to_string()).collect();
        for k in instances.iter().flat_map(|i| self.states_around(i)).collect::<Vec<_>>() {
            let machine = self.states.states[k].machine;
            self.states.machines[machine].continuous = true;
        }
        // Around: found above, state by state. Inside: whatever lies in a state of such a machine.
        for k in 0..self.states.states.len() {
            let path = self.states.states[k].path.clone();
            if self.states_around(&path).iter().any(|&s| self.machine_of(s).continuous) {
                let machine = self.states.states[k].machine;
                self.states.machines[machine].continuous = true;
            }
        }
    }

    fn machine_of(&self, state: usize) -> Machine {
        self.states.machines[self.states.states[state].machine]
    }

    /// Algorithms and calls with several results inside states: one equation per variable, so that each can be held.
    fn algorithms_in_states(&mut self) {
        for c in std::mem::take(&mut self.dae.calls) {
            let around = self.states_around(&c.origin.instance);
            if around.is_empty() || around.iter().any(|&k| self.machine_of(k).continuous) {
                self.dae.calls.push(c);
                continue;
            }
            let args: Box<[ExprId]> = c.args.iter().map(|a| self.rows.open(&mut self.dae.pool, a)).collect();
            for (k, &v) in c.outputs.iter().enumerate() {
                self.dae.vars[v].variability = Variability::Discrete;
                let value = self.dae.pool.call(c.func, args.clone(), k as u32);
                let x = self.var_expr(v);
                let r = self.dae.pool.intern(XNode::Binary(Binary::Sub, x, value));
                let row = self.row(r);
                self.dae.equations.push(Equation { row, guard: c.guard, origin: c.origin.clone() });
            }
        }
    }

    fn build_machine(
        &mut self,
        machine: usize,
        states: &[NodeId],
        all: &[Vec<NodeId>],
        scope_of: &FxHashMap<NodeId, NodeId>,
        transitions: &[Transition],
        initial: &[(NodeId, NodeId, Span)],
    ) -> R<()> {
        let Machine { active, reset, continuous } = self.states.machines[machine];
        let number = |s: NodeId| states.iter().position(|&x| x == s).map_or(0.0, |k| k as f64 + 1.0);
        let mut starts = initial.iter().filter(|i| states.contains(&i.1));
        let Some(&(_, start, _)) = starts.next() else {
            let t = transitions.iter().find(|t| states.contains(&t.from));
            return Err(self.err_hints(
                t.map_or(Span::NONE, |t| t.span),
                "this state machine has no initial state",
                vec!["say where it begins: initialState(…)".into()],
            ));
        };
        if let Some(&(_, _, span)) = starts.next() {
            return Err(self.err(span, "this state machine has two initial states"));
        }
        let origin = self.dae.vars[active].origin.clone();
        let before = self.before_in(machine, active);
        // Past the first tick: by the state before, its transitions in order of priority.
        let (mut next, mut resets, mut fires) = (before, self.dae.pool.num(0.0), self.dae.pool.num(0.0));
        for &s in states {
            let mut out: Vec<&Transition> = transitions.iter().filter(|t| t.from == s).collect();
            out.sort_by_key(|t| t.priority);
            if let Some(w) = out.windows(2).find(|w| w[0].priority == w[1].priority) {
                let mut e = self.err_hints(
                    w[1].span,
                    format!("two transitions from {} have the priority {}", self.path(s), w[1].priority),
                    vec!["give them different priorities".into()],
                );
                e.labels.push(saltus_base::Label { span: w[0].span, message: "the other one".into() });
                return Err(e);
            }
            let here = self.is_state(before, number(s));
            for t in out.into_iter().rev() {
                let mut condition = t.condition;
                if t.synchronize {
                    for (k, inner) in all.iter().enumerate().filter(|(_, i)| scope_of[&i[0]] == s) {
                        let Machine { active, .. } = self.states.machines[k];
                        let a = if t.immediate { self.before_in(k, active) } else { self.var_expr(active) };
                        let mut done = self.dae.pool.num(0.0);
                        for (j, f) in inner.iter().enumerate() {
                            if !transitions.iter().any(|t| t.from == *f) {
                                let at = self.is_state(a, j as f64 + 1.0);
                                done = self.dae.pool.bin(Binary::Or, done, at);
                            }
                        }
                        condition = self.dae.pool.bin(Binary::And, condition, done);
                    }
                }
                if !t.immediate {
                    // A delayed transition fires one tick after its condition became true.
                    let o = Origin { span: Some(t.span), ..origin.clone() };
                    let c = self.hidden("condition", VarType::Boolean, Variability::Discrete, o);
                    self.define_state(c, condition);
                    condition = self.before_in(machine, c);
                }
                let fire = self.dae.pool.bin(Binary::And, here, condition);
                let (to, r) = (self.dae.pool.num(number(t.to)), self.dae.pool.num(f64::from(t.reset)));
                next = self.dae.pool.select(fire, to, next);
                resets = self.dae.pool.select(fire, r, resets);
                fires = self.dae.pool.bin(Binary::Or, fire, fires);
            }
        }
        let fresh = self.is_state(before, 0.0);
        let (at_start, yes) = (self.dae.pool.num(number(start)), self.dae.pool.num(1.0));
        next = self.dae.pool.select(fresh, at_start, next);
        resets = self.dae.pool.bin(Binary::Or, fresh, resets);
        fires = self.dae.pool.bin(Binary::Or, fresh, fires);
        if continuous {
            // A reset of a state around it takes the machine back to its beginning.
            let around = self.states_around(&origin.instance);
            next = self.in_states(&around, next).1;
            resets = self.in_states(&around, resets).1;
            fires = self.in_states(&around, fires).1;
        }
        self.define_state(active, next);
        self.define_state(reset, resets);
        self.define_due_resets(machine);
        let now = self.var_expr(active);
        for &s in states {
            let mut here = self.is_state(now, number(s));
            if let Some(&v) = self.states.flags.get(&s) {
                if continuous {
                    let around = self.states_around(&origin.instance);
                    let outside = self.in_states(&around, here).0;
                    here = self.dae.pool.bin(Binary::And, outside, here);
                }
                self.define_state(v, here);
            }
            if continuous && self.states.ticks.contains_key(&s) {
                let span = self.dae.vars[self.states.ticks[&s]].origin.span.unwrap_or(Span::NONE);
                return Err(self.err_hints(
                    span,
                    "ticksInState() of a state with differential equations: its machine moves at events, there are no ticks",
                    vec!["timeInState() counts the time".into()],
                ));
            }
            if let Some(&v) = self.states.ticks.get(&s) {
                let before = self.before_in(machine, v);
                let (one, zero) = (self.dae.pool.num(1.0), self.dae.pool.num(0.0));
                let more = self.dae.pool.add(before, one);
                let count = self.dae.pool.select(fires, yes, more);
                let value = self.dae.pool.select(here, count, zero);
                self.define_state(v, value);
            }
            if let Some(&v) = self.states.entry.get(&s) {
                let before = self.before_in(machine, v);
                let time = self.var_expr(HybridDae::TIME);
                let entered = self.dae.pool.bin(Binary::And, here, fires);
                if continuous {
                    let enters = self.hidden("enters", VarType::Boolean, Variability::Discrete, origin.clone());
                    self.define_state(enters, entered);
                    let actions = vec![Action::Assign { var: v, value: self.row(time) }];
                    let branches = vec![WhenBranch { conditions: vec![enters], initial: true, actions }];
                    self.dae.whens.push(When { branches, guard: None, origin: origin.clone() });
                    continue;
                }
                let value = self.dae.pool.select(entered, time, before);
                self.define_state(v, value);
            }
            if continuous {
                continue;
            }
            // Everything in a state ticks with its machine.
            let path = self.path(s);
            let inside: Vec<VarId> = self
                .dae
                .vars
                .iter()
                .filter(|(_, v)| v.variability >= Variability::Discrete && within(&v.origin.instance, &path))
                .map(|(id, _)| id)
                .collect();
            for v in inside {
                self.clocks.tie(active, v);
            }
            let rows: Vec<VarId> = self
                .dae
                .equations
                .as_slice()
                .iter()
                .filter(|e| within(&e.origin.instance, &path))
                .flat_map(|e| e.row.args.iter().filter_map(|a| a.variable()))
                .filter(|&v| !HybridDae::is_builtin(v) && self.dae.vars[v].variability >= Variability::Discrete)
                .collect();
            for v in rows {
                self.clocks.tie(active, v);
            }
        }
        Ok(())
    }

    /// The resets of states of states: one from around holds until the state is active.
    fn define_due_resets(&mut self, machine: usize) {
        let Machine { active, reset, continuous } = self.states.machines[machine];
        for k in self.members(machine) {
            let Some(due) = self.states.states[k].due else { continue };
            let (now, transition) = (self.var_expr(active), self.var_expr(reset));
            let here = self.is_state(now, self.states.states[k].number);
            let before = self.before_in(machine, due);
            let no = self.dae.pool.num(0.0);
            let mut resets = self.dae.pool.bin(Binary::Or, transition, before);
            let mut next = self.dae.pool.select(here, no, before);
            // Of continuous machines everything inside is reset at once.
            if continuous {
                (resets, next) = (transition, no);
            }
            self.define_state(self.states.states[k].reset, resets);
            self.define_state(due, next);
        }
    }

    fn define_state(&mut self, v: VarId, value: ExprId) {
        let x = self.var_expr(v);
        let r = self.dae.pool.intern(XNode::Binary(Binary::Sub, x, value));
        let row = self.row(r);
        let origin = self.dae.vars[v].origin.clone();
        self.dae.equations.push(Equation { row, guard: None, origin });
    }

    /// Puts what stands in states of continuous machines under their guard, keeps what nothing determines meanwhile, and
    /// restarts on entry what a reset asks for:
    ///
    /// ```text
    /// a: der(x) = 1;  b: der(y) = x;   ⇒   if active == 1 then der(x) = 1; der(y) = 0; else der(y) = x; der(x) = 0; end if;
    ///                                      when active == 1 and reset then reinit(a.x, start); end when; …
    /// ```
    fn guard_continuous_states(&mut self) {
        let mut guards: Vec<Option<Guard>> = vec![None; self.states.states.len()];
        // Outer machines first: they guard the inner ones.
        let mut machines: Vec<usize> =
            (0..self.states.machines.len()).filter(|&m| self.states.machines[m].continuous).collect();
        machines.sort_by_key(|&m| self.dae.vars[self.states.machines[m].active].origin.instance.len());
        for &m in &machines {
            let members = self.members(m);
            let active = self.states.machines[m].active;
            let origin = self.dae.vars[active].origin.clone();
            let parent = self.states_around(&origin.instance).last().and_then(|&k| guards[k]);
            let now = self.var_expr(active);
            let mut conditions = Vec::new();
            for &k in &members[..members.len() - 1] {
                // A condition with a name, for diagnostics and the event log.
                let here = self.is_state(now, self.states.states[k].number);
                let note = Origin { note: KEPT, ..origin.clone() };
                let v = self.hidden("active", VarType::Boolean, Variability::Discrete, note);
                self.dae.vars[v].name = format!("active({})", self.states.states[k].path);
                self.define_state(v, here);
                let c = self.var_expr(v);
                conditions.push(self.row(c));
            }
            let group = self.dae.ifs.push(IfGroup { conditions, parent, origin });
            for (branch, &k) in members.iter().enumerate() {
                guards[k] = Some((group, branch as u32));
            }
        }
        for &m in &machines {
            self.keep_in_states(m, &guards);
        }
        self.restart_states(&machines);
        let own: Vec<IfId> = guards.iter().flatten().map(|g| g.0).collect();
        for i in 0..self.dae.ifs.len() {
            let id = IfId::new(i);
            if self.dae.ifs[id].parent.is_none() && !own.contains(&id) {
                self.dae.ifs[id].parent = self.guard_around(&self.dae.ifs[id].origin, &guards);
            }
        }
        for i in 0..self.dae.equations.len() {
            let id = EqId::new(i);
            if self.dae.equations[id].guard.is_none() {
                self.dae.equations[id].guard = self.guard_around(&self.dae.equations[id].origin, &guards);
            }
        }
        for i in 0..self.dae.calls.len() {
            self.dae.calls[i].guard = self.dae.calls[i].guard.or(self.guard_around(&self.dae.calls[i].origin, &guards));
        }
        for i in 0..self.dae.whens.len() {
            self.dae.whens[i].guard = self.dae.whens[i].guard.or(self.guard_around(&self.dae.whens[i].origin, &guards));
        }
        for i in 0..self.dae.assertions.len() {
            let guard = self.guard_around(&self.dae.assertions[i].origin, &guards);
            self.dae.assertions[i].guard = self.dae.assertions[i].guard.or(guard);
        }
    }

    /// The states of a machine, in their order.
    fn members(&self, machine: usize) -> Vec<usize> {
        (0..self.states.states.len()).filter(|&k| self.states.states[k].machine == machine).collect()
    }

    fn guard_around(&self, origin: &Origin, guards: &[Option<Guard>]) -> Option<Guard> {
        if origin.note == KEPT {
            return None;
        }
        self.states_around(&origin.instance).last().and_then(|&k| guards[k])
    }

    /// While a state is not active, what only it moves stands still: `der(x) = 0`. What only it computes and others read keeps
    /// its last value.
    fn keep_in_states(&mut self, machine: usize, guards: &[Option<Guard>]) {
        let members = self.members(machine);
        let paths: Vec<String> = members.iter().map(|&k| self.states.states[k].path.clone()).collect();
        // Per state: variables differentiated, alone on a left side, mentioned. The last entry is for the outside.
        let mut moved: Vec<BTreeSet<VarId>> = vec![BTreeSet::new(); paths.len() + 1];
        let (mut alone, mut mentioned) = (moved.clone(), moved.clone());
        for e in self.dae.equations.as_slice() {
            let at = paths.iter().position(|p| within(&e.origin.instance, p)).unwrap_or(paths.len());
            for a in &e.row.args {
                match *a {
                    Operand::Var { var, order: 0, .. } => _ = mentioned[at].insert(var),
                    Operand::Var { var, .. } => _ = moved[at].insert(var),
                    _ => {}
                }
            }
            let bare = |x: ExprId| match *self.dae.pool.node(x) {
                XNode::Hole(k) => match e.row.args[k as usize] {
                    Operand::Var { var, order: 0, .. } => Some(var),
                    _ => None,
                },
                _ => None,
            };
            // On the right side only where nothing on the left could be meant.
            let known = |x: ExprId| {
                self.dae.pool.holes(x).iter().all(|&h| match e.row.args[h as usize] {
                    Operand::Var { var, .. } => {
                        var == HybridDae::TIME || self.dae.vars[var].variability < Variability::Continuous
                    }
                    _ => true,
                })
            };
            alone[at].extend(match *self.dae.pool.node(e.row.template) {
                XNode::Binary(Binary::Sub, a, b) => bare(a).or_else(|| bare(b).filter(|_| known(a))),
                _ => bare(e.row.template),
            });
        }
        for c in &self.dae.calls {
            let at = paths.iter().position(|p| within(&c.origin.instance, p)).unwrap_or(paths.len());
            mentioned[at].extend(c.args.iter().flat_map(|r| r.args.iter().filter_map(|a| a.variable())));
            alone[at].extend(&c.outputs);
            mentioned[at].extend(&c.outputs);
        }
        let outside = paths.len();
        let continuous =
            |me: &Self, v: VarId| !HybridDae::is_builtin(v) && me.dae.vars[v].variability == Variability::Continuous;
        let states: BTreeSet<VarId> =
            moved[..outside].iter().flatten().copied().filter(|v| !moved[outside].contains(v)).collect();
        for &v in &states {
            for (j, &k) in members.iter().enumerate() {
                if !moved[j].contains(&v) && !alone[j].contains(&v) {
                    let rate = self.rows.operand(&mut self.dae.pool, Operand::Var { var: v, order: 1, neg: false });
                    self.keep(rate, v, guards[k]);
                }
            }
        }
        let computed: BTreeSet<VarId> = alone[..outside]
            .iter()
            .flatten()
            .copied()
            .filter(|v| !alone[outside].contains(v) && !moved.iter().any(|m| m.contains(v)) && continuous(self, *v))
            .collect();
        for &v in &computed {
            let home = paths.iter().position(|p| within(&self.dae.vars[v].origin.instance, p));
            let read_elsewhere = home.is_none_or(|h| (0..=outside).any(|j| j != h && mentioned[j].contains(&v)));
            let idle: Vec<usize> =
                (0..outside).filter(|&j| home != Some(j) && !(home.is_none() && mentioned[j].contains(&v))).collect();
            if !read_elsewhere || idle.is_empty() {
                continue;
            }
            // The last value, taken when the states that do not compute it take over.
            let origin = Origin { note: KEPT, ..self.dae.vars[v].origin.clone() };
            let active = self.states.machines[machine].active;
            let now = self.var_expr(active);
            let mut idles = self.dae.pool.num(0.0);
            for &j in &idle {
                let here = self.is_state(now, j as f64 + 1.0);
                idles = self.dae.pool.bin(Binary::Or, idles, here);
            }
            let keeping = self.hidden("keeping", VarType::Boolean, Variability::Discrete, origin.clone());
            self.define_state(keeping, idles);
            let kept = self.hidden("kept", VarType::Real, Variability::Discrete, origin.clone());
            self.dae.vars[kept].start = self.dae.vars[v].start.clone();
            let last = self.before(v);
            let value = self.row(last);
            let actions = vec![Action::Assign { var: kept, value }];
            let branches = vec![WhenBranch { conditions: vec![keeping], initial: false, actions }];
            self.dae.whens.push(When { branches, guard: None, origin });
            for &j in &idle {
                let (x, k) = (self.var_expr(v), self.var_expr(kept));
                let r = self.dae.pool.sub(x, k);
                self.keep(r, v, guards[members[j]]);
            }
        }
    }

    /// `residual = 0` while the guard holds, for the sake of `v`.
    fn keep(&mut self, residual: ExprId, v: VarId, guard: Option<Guard>) {
        let row = self.row(residual);
        let origin = Origin { note: KEPT, ..self.dae.vars[v].origin.clone() };
        self.dae.equations.push(Equation { row, guard, origin });
    }

    /// On entry by a transition with reset, what belongs to a state begins at its start values.
    fn restart_states(&mut self, machines: &[usize]) {
        let mut enter: Vec<Option<VarId>> = vec![None; self.states.states.len()];
        for &m in machines {
            for k in self.members(m) {
                let (active, reset) = (self.states.machines[m].active, self.states.states[k].reset);
                let origin = Origin { note: KEPT, ..self.dae.vars[active].origin.clone() };
                let (a, r) = (self.var_expr(active), self.var_expr(reset));
                let here = self.is_state(a, self.states.states[k].number);
                let entered = self.dae.pool.bin(Binary::And, here, r);
                let v = self.hidden("enter", VarType::Boolean, Variability::Discrete, origin);
                self.define_state(v, entered);
                enter[k] = Some(v);
            }
        }
        let around = |me: &Self, instance: &str| -> Vec<VarId> {
            me.states_around(instance).into_iter().filter_map(|k| enter[k]).collect()
        };
        let start = |me: &mut Self, v: VarId| match me.dae.vars[v].start.clone() {
            Some(row) => row,
            None => me.dae.constant_row(0.0),
        };
        // States.
        let moved: BTreeSet<VarId> = self
            .dae
            .equations
            .as_slice()
            .iter()
            .flat_map(|e| e.row.args.iter())
            .filter_map(|a| match *a {
                Operand::Var { var, order: 1.., .. } => Some(var),
                _ => None,
            })
            .collect();
        for var in moved {
            let origin = self.dae.vars[var].origin.clone();
            let conditions = around(self, &origin.instance);
            if !conditions.is_empty() {
                let value = start(self, var);
                let actions = vec![Action::Reinit { var, value, condition: None }];
                let origin = Origin { note: KEPT, ..origin };
                let branches = vec![WhenBranch { conditions, initial: false, actions }];
                self.dae.whens.push(When { branches, guard: None, origin });
            }
        }
        // Discrete variables that whens set.
        for i in 0..self.dae.whens.len() {
            let (instance, note) = (self.dae.whens[i].origin.instance.clone(), self.dae.whens[i].origin.note);
            let conditions = around(self, &instance);
            if conditions.is_empty() || note == KEPT || note == "state machine" {
                continue;
            }
            let targets: BTreeSet<VarId> = self.dae.whens[i]
                .branches
                .iter()
                .flat_map(|b| &b.actions)
                .flat_map(|a| match a {
                    Action::Assign { var, .. } => vec![*var],
                    Action::Call { outputs, .. } => outputs.iter().flatten().copied().collect(),
                    _ => Vec::new(),
                })
                .collect();
            if targets.is_empty() {
                continue;
            }
            let mut actions = Vec::new();
            for var in targets {
                let own = !around(self, &self.dae.vars[var].origin.instance.clone()).is_empty();
                let value = if own {
                    start(self, var)
                } else {
                    let before = self.before(var);
                    self.row(before)
                };
                actions.push(Action::Assign { var, value });
            }
            self.dae.whens[i].branches.insert(0, WhenBranch { conditions, initial: false, actions });
        }
        // Discrete equations with a memory.
        for i in 0..self.dae.equations.len() {
            let id = EqId::new(i);
            let (instance, note) = (self.dae.equations[id].origin.instance.clone(), self.dae.equations[id].origin.note);
            let remembers = self.dae.equations[id].row.args.iter().any(|a| matches!(a, Operand::Pre { .. }));
            let around: Vec<usize> =
                self.states_around(&instance).into_iter().filter(|&k| self.machine_of(k).continuous).collect();
            if remembers && !around.is_empty() && note != KEPT && note != "state machine" {
                let row = self.dae.equations[id].row.clone();
                let e = self.rows.open(&mut self.dae.pool, &row);
                let e = self.in_states(&around, e).1;
                self.dae.equations[id].row = self.row(e);
            }
        }
    }

    /// The states around an instance, outermost first.
    fn states_around(&self, instance: &str) -> Vec<usize> {
        let mut around: Vec<usize> =
            (0..self.states.states.len()).filter(|&k| within(instance, &self.states.states[k].path)).collect();
        around.sort_by_key(|&k| self.states.states[k].path.len());
        around
    }

    /// Equations of several states that determine the same variable of their surroundings become one.
    pub(crate) fn merge_state_equations(&mut self, eqs: &mut Vec<(ExprId, Origin)>) {
        if self.states.states.is_empty() {
            return;
        }
        let mut of: FxHashMap<VarId, Vec<(usize, ExprId)>> = FxHashMap::default();
        for (i, (e, origin)) in eqs.iter().enumerate() {
            let Some(state) = self.states_around(&origin.instance).last().copied() else { continue };
            // v - value, which may have become v, -v or v + value.
            let sides = match *self.dae.pool.node(*e) {
                XNode::Binary(Binary::Sub, a, b) => vec![(a, b)],
                XNode::Binary(Binary::Add, a, b) => vec![(a, self.dae.pool.neg(b)), (b, self.dae.pool.neg(a))],
                XNode::Unary(Unary::Neg, a) => vec![(a, self.dae.pool.num(0.0))],
                _ => vec![(*e, self.dae.pool.num(0.0))],
            };
            let outside = |v: VarId| !within(&self.dae.vars[v].origin.instance, &self.states.states[state].path);
            let found = sides.into_iter().find_map(|(a, b)| self.as_var(a).filter(|&v| outside(v)).map(|v| (v, b)));
            if let Some((v, value)) = found.filter(|_| origin.note != "state machine") {
                of.entry(v).or_default().push((i, value));
            }
        }
        let mut gone = vec![false; eqs.len()];
        let mut vars: Vec<VarId> = of.keys().copied().collect();
        vars.sort_unstable();
        for v in vars {
            let list = &of[&v];
            let owner = self.dae.vars[v].origin.instance.clone();
            let mut value = self.before_held(v);
            for &(i, b) in list.iter().rev() {
                gone[i] = true;
                let origin = eqs[i].1.clone();
                let around = self.states_around(&origin.instance);
                let inner: Vec<usize> =
                    around.into_iter().filter(|&k| !within(&owner, &self.states.states[k].path)).collect();
                let (condition, b) = self.in_states(&inner, b);
                value = self.dae.pool.select(condition, b, value);
            }
            let x = self.var_expr(v);
            let e = self.dae.pool.intern(XNode::Binary(Binary::Sub, x, value));
            // States around the variable itself still apply.
            let origin = Origin { instance: owner, ..eqs[list[0].0].1.clone() };
            eqs.push((e, origin));
            gone.push(false);
        }
        let mut k = 0;
        eqs.retain(|_| {
            k += 1;
            !gone[k - 1]
        });
    }

    /// The value of a variable that an equation of an instance determines: held while its states are not active.
    pub(crate) fn state_value(&mut self, instance: &str, v: VarId, value: ExprId) -> ExprId {
        let around = self.states_around(instance);
        if around.is_empty() {
            return value;
        }
        let (condition, value) = self.in_states(&around, value);
        let keep = self.before_held(v);
        self.dae.pool.select(condition, value, keep)
    }

    /// Whether the states around an instance are active, and an expression with the previous values that a reset changes.
    pub(crate) fn while_active(&mut self, instance: &str, e: ExprId) -> (ExprId, ExprId) {
        let around = self.states_around(instance);
        self.in_states(&around, e)
    }

    /// Whether all these states are active, and an expression with the previous values that a reset changes.
    fn in_states(&mut self, around: &[usize], e: ExprId) -> (ExprId, ExprId) {
        let mut condition = self.dae.pool.num(1.0);
        let mut e = e;
        for &k in around {
            let (path, number) = (self.states.states[k].path.clone(), self.states.states[k].number);
            let (active, reset) = (self.machine_of(k).active, self.states.states[k].reset);
            let a = self.var_expr(active);
            let here = self.is_state(a, number);
            condition = self.dae.pool.bin(Binary::And, condition, here);
            let mut map = FxHashMap::default();
            for h in self.dae.pool.holes(e) {
                if let Some(Operand::Pre { var }) = self.hole(h)
                    && within(&self.dae.vars[var].origin.instance, &path)
                {
                    let start = match self.dae.vars[var].start.clone() {
                        Some(row) => self.rows.open(&mut self.dae.pool, &row),
                        None => self.dae.pool.num(0.0),
                    };
                    let (r, old) = (self.var_expr(reset), self.dae.pool.hole(h));
                    map.insert(h, self.dae.pool.select(r, start, old));
                }
            }
            if !map.is_empty() {
                e = self.dae.pool.substitute(e, |p, h| map.get(&h).copied().unwrap_or_else(|| p.hole(h)));
            }
        }
        (condition, e)
    }
}

/// Whether an instance path is a component or lies inside it.
fn within(instance: &str, path: &str) -> bool {
    instance.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
