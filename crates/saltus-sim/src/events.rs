//! Event iteration: simultaneous events are one set, iterated in dependency order to a fixed point, mode changes
//! included.

use crate::api::{EventKind, EventRecord, Observer};
use crate::compile::Step;
use crate::crossings::Sensitivity;
use crate::machine::{Trouble, plain};
use crate::model::{ModeProgram, Model};
use crate::reinit::Target;
use crate::touched::{Readers, Touched};
use rustc_hash::FxHashSet;
use saltus_base::{Diagnostic, Span, Stage};
use saltus_dae::{Action, HybridDae, Message, Operand, Piece, VarId, VarType};
use saltus_expr::{Binary, Node};
use saltus_function::strings;
use saltus_structure::{Cell, ModeKey, RelationKind};
use std::rc::Rc;

/// How often the robust methods may fail at one event.
pub(crate) const PATIENCE: u32 = 100;

/// What an event led to.
pub struct Handled {
    /// The program of the mode after the event.
    pub program: Rc<ModeProgram>,
    /// The model ended the run.
    pub terminated: Option<String>,
    /// For the log.
    pub record: EventRecord,
    /// Slots of states set by `reinit`.
    pub reinitialized: Vec<u32>,
    /// Slots of discrete values that changed.
    pub changed: Vec<u32>,
    /// Only relations and definitions changed: no memory, no reinit, no mode change.
    pub memoryless: bool,
    /// The same but for definitions that read previous values: it may be that they do not depend on these at present.
    pub by_definition: bool,
    /// Other modes were entered, even if the last of them is the one it came from: states may have jumped.
    pub switched: bool,
    /// Relations whose impacts have accumulated: a mode of rest was entered.
    pub accumulated: Vec<usize>,
    /// The islands that it was an event of; `None`: all.
    pub islands: Option<FxHashSet<u32>>,
}

/// Functions of a loop some of whose modes share solutions are as large as this part of the largest, for what counts as zero.
const LEAST_SIZE: f64 = 0.1;

/// How often an event looks ahead of loops with functions at zero.
const MOST_LOOKS: usize = 3;

const MAX_ITERATIONS: usize = 200;

/// Iterations after which everything is looked at: what an event does not touch may have been left on a side that it is not
/// on, within the errors of the integration, and contradict what it touches.
const MOST_TOUCHED: usize = 40;
/// Iterations from which on loops are solved without losses: where they lead from mode to mode and back, the equations alone may not.
const MOST_LOSSY: usize = 40;

/// How often in one event a loop in which relations and values do not agree may be led to the next instant.
const MOST_LEADS: u8 = 8;

/// Beyond it, numbers held as floating point no longer know the ones next to them.
const LARGEST_INTEGER: f64 = 9_007_199_254_740_992.0;

/// Of these the last tell who alternates; a cycle may be as long.
const LAST_ITERATIONS: usize = 24;

/// Instants of one event that the log tells apart.
const MAX_INSTANTS: usize = 32;

/// A discrete variable that still changes in the last iterations of an event, and in which directions.
struct Restless {
    var: VarId,
    rises: u32,
    falls: u32,
}

/// Some indices of a list, or all.
enum Extent {
    All(usize),
    Some(Vec<usize>),
}

impl Extent {
    fn of(some: Option<&[usize]>, all: usize) -> Extent {
        some.map_or(Extent::All(all), |s| Extent::Some(s.to_vec()))
    }

    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let (all, some) = match self {
            Extent::All(n) => (0..*n, &[][..]),
            Extent::Some(list) => (0..0, &list[..]),
        };
        all.chain(some.iter().copied())
    }
}

impl Model {
    /// The slots that change first; `None`: any may.
    fn seeds(
        &mut self,
        fired: &[usize],
        near: &[usize],
        ticked: &[usize],
        switching: &[usize],
        kind: EventKind,
    ) -> Option<Vec<u32>> {
        let known = match kind {
            EventKind::State => !fired.is_empty() || !near.is_empty(),
            EventKind::Time => true,
            _ => false,
        };
        if !known || self.whole_events {
            return None;
        }
        let crossing = fired.iter().chain(switching);
        let mut seeds: Vec<u32> = crossing.map(|&i| self.machine.relations[i].var).collect();
        for &k in ticked {
            seeds.extend([self.tickers[k].slot, self.tickers[k].pre]);
        }
        // On other islands they have events of their own.
        let islands = self.islands_of(&seeds);
        let near: Vec<u32> = near.iter().map(|&i| self.machine.relations[i].var).collect();
        let alone = seeds.is_empty();
        seeds.extend(near.into_iter().filter(|&s| alone || !islands.is_disjoint(&self.islands_of(&[s]))));
        seeds.sort_unstable();
        seeds.dedup();
        Some(seeds)
    }

    /// The part of the event iteration that is touched if these slots change; `None`: all of it, on their islands.
    fn touched(&mut self, program: &ModeProgram, seeds: Vec<u32>) -> Option<Rc<Touched>> {
        if self.whole_islands {
            return None;
        }
        let mut readers = program.readers.borrow_mut();
        let readers = readers.get_or_insert_with(|| {
            let discrete: Vec<(u32, u32)> = self.discrete.iter().map(|d| (d.0, d.1)).collect();
            let mut readers = Readers::new(&self.machine, &program.event, &discrete, &self.previous);
            // What the mode hangs on, and what moves states by constraints.
            let guards = self.modes.conditions(&program.plan.key);
            let guards = guards.iter().filter_map(|&v| self.sys.resolve(Operand::var(v)).variable());
            readers.decisive = guards.filter_map(|v| self.layout.find(Cell::new(v, 0))).collect();
            readers.decisive.extend(program.latent.iter().map(|l| l.0));
            readers
        });
        let touched = readers.touched(seeds);
        (!touched.decisive).then_some(touched)
    }

    /// Previous values become the present ones.
    fn remember_touched(&mut self, touched: &Option<Rc<Touched>>) {
        match touched {
            None => self.remember(),
            Some(t) => {
                for &(s, p) in &t.previous {
                    self.machine.values[p as usize] = self.machine.values[s as usize];
                }
            }
        }
    }

    /// Relations at zero to which a loop has given the value that zero does not have. Where modes are singular a loop chooses among modes
    /// with the same solution (a diode without voltage beside others that conduct is on or off): being at zero calls for no other.
    pub fn chosen(&mut self, program: &ModeProgram) -> Vec<usize> {
        let suspected = !self.modes.suspects(&program.plan.key).is_empty();
        let loops = program.event.iter().filter_map(|s| match s {
            Step::Mixed(m) if suspected || m.degenerate.get() => Some(&m.discrete),
            _ => None,
        });
        let m = &mut self.machine;
        let mut at_zero = Vec::new();
        for relations in loops {
            let relation = |s: &Step| match s {
                Step::Relation(i) if matches!(m.relations[*i].kind, RelationKind::Sign(_)) => Some(*i),
                _ => None,
            };
            let relations: Vec<usize> = relations.iter().filter_map(relation).collect();
            let mut g = vec![0.0; relations.len()];
            m.crossing_values(&relations, &mut g);
            // What is zero but for rounding is so beside the others of its loop.
            let large = g.iter().fold(0.0f64, |m, g| m.max(g.abs()));
            for (&i, g) in relations.iter().zip(&g) {
                m.relations[i].size = m.relations[i].size.max(LEAST_SIZE * large);
                let r = &m.relations[i];
                if m.values[r.var as usize] != plain(&r.kind, 0.0) && g.abs() <= m.band(i) {
                    at_zero.push(i);
                }
            }
        }
        let mut decided: Vec<usize> = m.decided.iter().copied().collect();
        decided.sort_unstable();
        let mut g = vec![0.0; decided.len()];
        m.crossing_values(&decided, &mut g);
        for (i, g) in decided.into_iter().zip(g) {
            let r = &m.relations[i];
            if m.values[r.var as usize] != plain(&r.kind, 0.0) && g.abs() <= m.band(i) {
                at_zero.push(i);
            } else {
                m.decided.remove(&i);
            }
        }
        at_zero
    }

    /// Where solved loops have functions at zero, takes modes that still hold a moment later. Whether relations have turned.
    fn look_ahead_of_loops(&mut self, program: &ModeProgram, steps: &[Step]) -> bool {
        let mut turned = false;
        for step in steps {
            let Step::Mixed(m) = step else { continue };
            turned |= self.machine.turn_ahead(m, &mut |machine| {
                let after = 1e-8 * machine.instants.span();
                for &(x, dx) in &program.states {
                    if !machine.is_idle(x) {
                        machine.values[x as usize] += after * machine.values[dx as usize];
                    }
                }
                let time = machine.time as usize;
                machine.values[time] += after;
                machine.hold_relations = true;
                let done = machine.run(&program.continuous);
                machine.hold_relations = false;
                machine.host.error = None;
                done.ok().map(|()| after)
            });
        }
        turned
    }

    /// Of the relations that have crossed together, those whose functions are others from now on, as the rest of them, functions of states
    /// and time alone, decide about the branch: the new branch says what becomes of them. (`F > 0` where
    /// `F = if x < 1 then x - 1 else 0`.)
    fn of_another_branch(&self, program: &ModeProgram, fired: &[usize]) -> Vec<usize> {
        if fired.len() < 2 {
            return Vec::new();
        }
        let crossings = &program.crossings;
        let function = |i: &usize| crossings.by_relation.get(i).map(|&k| &crossings.functions[k]);
        let free = |i: &&usize| function(i).is_some_and(|f| f.discrete.is_empty());
        let decided: FxHashSet<u32> = fired.iter().filter(free).flat_map(|&i| self.decides(i)).collect();
        let other = |i: &&usize| function(i).is_some_and(|f| !f.discrete.is_disjoint(&decided));
        fired.iter().filter(other).copied().collect()
    }

    /// Handles the event at the present time; `fired` are relations that have just crossed, `near` some that may have
    /// within rounding.
    pub fn handle_event(
        &mut self,
        program: &Rc<ModeProgram>,
        fired: &[usize],
        near: &[usize],
        kind: EventKind,
        observer: &mut dyn Observer,
    ) -> Result<Handled, Diagnostic> {
        self.machine.host.lines.free = true;
        let own = kind != EventKind::Initial && self.machine.patience.is_none();
        let patience = own.then(|| self.machine.patience.replace((PATIENCE, None)));
        let handled = self.iterate(program, fired, near, kind, observer);
        if let Some(patience) = patience {
            self.machine.patience = patience;
        }
        self.machine.host.lines.free = false;
        self.attend(None);
        handled
    }

    fn iterate(
        &mut self,
        program: &Rc<ModeProgram>,
        fired: &[usize],
        near: &[usize],
        mut kind: EventKind,
        observer: &mut dyn Observer,
    ) -> Result<Handled, Diagnostic> {
        let t = self.machine.values[self.machine.time as usize];
        let mut program = program.clone();
        self.machine.course = Default::default();
        self.machine.host.forget_effects();
        self.machine.starting = kind == EventKind::Initial;
        self.machine.patient = true;
        self.machine.plain_relations = false;
        self.machine.held.clear();
        self.machine.holds_ahead.clear();
        self.machine.suspected = !self.modes.suspects(&program.plan.key).is_empty();
        let close = self.machine.instants.close(t);
        let ticked: Vec<usize> = (0..self.tickers.len()).filter(|&k| self.tickers[k].due() <= t + close).collect();
        // Relations on time that have another value from now on.
        let mut switching = Vec::new();
        for k in 0..self.timed.len() {
            let (i, slot) = (self.timed[k], self.machine.relations[self.timed[k]].var);
            if self.machine.time_switch(i).is_none_or(|(value, _)| value != self.machine.values[slot as usize]) {
                switching.push(i);
            }
        }
        let seeds = self.seeds(fired, near, &ticked, &switching, kind);
        let mut touched = seeds.clone().and_then(|s| self.touched(&program, s));
        let islands = seeds.map(|s| self.islands_of(&s));
        if touched.is_none() {
            self.attend(islands.as_ref());
        }
        self.wake(touched.as_deref().map(|t| &t.discrete[..]));
        // What may change: indices into the discrete variables.
        let mut may_change = Extent::of(touched.as_deref().map(|t| &t.discrete[..]), self.discrete.len());
        let mut before: Vec<f64> =
            may_change.iter().map(|k| self.machine.values[self.discrete[k].0 as usize]).collect();
        let conserved = self.conserved();
        let states_before: Vec<(u32, f64)> =
            program.states.iter().map(|s| (s.0, self.machine.values[s.0 as usize])).collect();
        // Previous values of states have changed all along; those of discrete variables were kept up at their events.
        for &(s, p) in &self.moving_previous {
            self.machine.values[p as usize] = self.machine.values[s as usize];
        }
        self.remember_touched(&touched);
        let all = self.machine.relations.len();
        match &touched {
            Some(t) => self.machine.note_left(t.relations.iter().copied()),
            None => self.machine.note_left(0..all),
        }
        if kind == EventKind::Terminal
            && let Some(s) = self.layout.find(Cell::new(HybridDae::TERMINAL, 0))
        {
            self.machine.values[s as usize] = 1.0;
        }
        let mut words: Vec<String> = Vec::new();
        let mut crossed: Vec<(u32, f64)> = Vec::new();
        self.machine.fresh = fired.iter().map(|&i| self.machine.relations[i].var).collect();
        let another = self.of_another_branch(&program, fired);
        let withheld: Vec<(usize, f64)> =
            another.iter().map(|&i| (i, self.machine.values[self.machine.relations[i].var as usize])).collect();
        for &i in fired.iter().filter(|i| !another.contains(i)) {
            let r = &self.machine.relations[i];
            let (slot, kind) = (r.var as usize, r.kind.clone());
            // It crosses here: what locating it leaves over is no distance to jump back from.
            if matches!(kind, RelationKind::Sign(_)) && self.machine.suspected {
                self.machine.relations[i].left = 0.0;
            }
            let new = self.crossed(i);
            self.machine.values[slot] = new;
            crossed.push((slot as u32, new));
            words.push(became(&self.sys.relations[i].text, &kind, new));
        }
        if kind == EventKind::Time {
            words.extend(switching.iter().filter_map(|&i| {
                let value = self.machine.time_switch(i)?.0;
                Some(became(&self.sys.relations[i].text, &self.machine.relations[i].kind, value))
            }));
        }
        for &k in &ticked {
            self.tickers[k].next += 1;
            words.push(self.tickers[k].name.clone());
        }
        for &k in &ticked {
            let (s, p) = (self.tickers[k].slot, self.tickers[k].pre);
            self.machine.values[s as usize] = 1.0;
            self.machine.values[p as usize] = 0.0;
        }
        let mut terminated = None;
        let mut impulses: Vec<(String, u8, f64)> = Vec::new();
        let mut accumulated: Vec<usize> = Vec::new();
        let mut reinitialized: Vec<u32> = Vec::new();
        let mut mode_changes = 0;
        let mut micro = 0;
        // What a mode change starts from: the equations of the old mode no longer hold with the new conditions.
        let mut left = self.continuous_values(&program);
        let mut judged = FxHashSet::default();
        let mut keys = vec![program.plan.key.clone()];
        let mut when_fired = false;
        // Samplers are true in the first iteration alone; in the second their previous values are.
        let mut tick = if ticked.is_empty() { 0 } else { 2 };
        // A mode has just been entered, and its equations were not solved yet.
        let mut fresh = false;
        let mut restless: Vec<Restless> = Vec::new();
        let mut instants: Vec<Vec<(String, f64, f64)>> = Vec::new();
        self.machine.leads = if matches!(kind, EventKind::State | EventKind::Time) { MOST_LEADS } else { 0 };
        let mut looks = MOST_LOOKS;
        loop {
            micro += 1;
            self.machine.led = false;
            if micro > MAX_ITERATIONS {
                return Err(self.no_fixed_point(t, &restless));
            }
            if micro > MOST_LOSSY {
                self.machine.forgo_all_losses();
            }
            let conditions = fresh.then(|| self.discrete_values());
            // Guards first: if they end the mode, its equations are not solved again.
            let failed = |me: &mut Model, e| match me.structural_explanation(&program) {
                Some(d) if matches!(e, Trouble::Unsolved { .. }) => d,
                _ => me.explain(&e, Stage::Run, t, "event handling failed"),
            };
            let over = !program.plan.key.is_empty() && touched.is_none() && {
                let values = self.discrete_values();
                self.machine.run(&program.guards).map_err(|e| failed(self, e))?;
                let over = self.key() != program.plan.key;
                if over {
                    // What when-equations keep of a mode that ends is what it was: they do not fire again in the next.
                    for step in program.event.iter().filter(|s| matches!(s, Step::When(_))) {
                        self.machine.run(std::slice::from_ref(step)).map_err(|e| failed(self, e))?;
                    }
                } else {
                    self.set_discrete_values(&values);
                }
                over
            };
            if !over {
                let steps = touched.as_ref().map_or(&program.event, |t| &t.steps);
                self.machine.run(steps).map_err(|e| failed(self, e))?;
            }
            // Reactions of when-branches with a rising edge.
            let mut restarts: Vec<Target> = Vec::new();
            for k in 0..self.sys.reactions.len() {
                let (when, branch) = (self.sys.reactions[k].when, self.sys.reactions[k].branch);
                if touched.as_ref().is_some_and(|t| t.whens.binary_search(&when).is_err())
                    || self.machine.unattended(when)
                    || self.machine.fired(when) != Some(branch)
                {
                    continue;
                }
                if let Some((b, s)) = &self.reactions[k].condition {
                    let (b, s) = (b.clone(), *s);
                    self.machine.batch(&b);
                    if self.machine.values[s as usize] == 0.0 {
                        continue;
                    }
                }
                when_fired = true;
                match self.sys.reactions[k].action.clone() {
                    Action::Reinit { var, .. } => {
                        if let Some((b, s)) = self.reactions[k].value.clone() {
                            self.machine.batch(&b);
                            let (slot, value) = (self.reactions[k].target, self.machine.values[s as usize]);
                            if !value.is_finite() {
                                return Err(self.no_reset(t, k, var, value));
                            }
                            let close = 1e-12 * value.abs().max(1e-3);
                            match restarts.iter().find(|r| r.1 == slot && (r.2 - value).abs() > close) {
                                Some(other) => return Err(self.two_resets(t, k, var, (other.2, value))),
                                None => restarts.push((var, slot, value)),
                            }
                        }
                    }
                    Action::Assert { message, error, .. } => self.react(k, t, &message, error, observer)?,
                    Action::Terminate { message, .. } => terminated = Some(self.message(&message)),
                    Action::Call { .. } => self.act(k, t)?,
                    Action::Assign { .. } => {}
                }
            }
            let mut instant: Vec<(String, f64, f64)> = Vec::new();
            let mut changed = false;
            let mut unsettled: Vec<(VarId, bool)> = Vec::new();
            for k in may_change.iter() {
                let (s, p, v) = self.discrete[k];
                let (now, was) = (self.machine.values[s as usize], self.machine.values[p as usize]);
                if now == was {
                    continue;
                }
                let whole = matches!(self.sys.dae.vars[v].ty, VarType::Integer);
                if !now.is_finite() || (whole && now.abs() >= LARGEST_INTEGER) {
                    return Err(self.no_number(t, k));
                }
                changed = true;
                unsettled.push((v, now > was));
                let name = &self.sys.dae.vars[v].name;
                let is_text = self.sys.dae.vars[v].ty == VarType::String;
                if !is_text && !name.starts_with('$') && instants.len() < MAX_INSTANTS {
                    instant.push((name.clone(), was, now));
                }
            }
            if micro + LAST_ITERATIONS > MAX_ITERATIONS {
                for (var, up) in unsettled {
                    match restless.iter_mut().find(|r| r.var == var) {
                        Some(r) if up => r.rises += 1,
                        Some(r) => r.falls += 1,
                        None => restless.push(Restless { var, rises: u32::from(up), falls: u32::from(!up) }),
                    }
                }
            }
            let key = if touched.is_some() { program.plan.key.clone() } else { self.key() };
            let switched = key != program.plan.key;
            // A constraint that reads a discrete variable may move the states although the mode stays.
            let displaced = !switched
                && program
                    .latent
                    .iter()
                    .any(|&(s, p)| self.machine.values[s as usize] != self.machine.values[p as usize]);
            if let Some(conditions) = conditions.filter(|_| switched) {
                self.transient_values(&program, &conditions, &mut left);
            } else if fresh && !displaced {
                left = self.continuous_values(&program);
            }
            fresh = false;
            if switched || displaced {
                for (&s, &v) in program.cells.iter().zip(&left) {
                    if !reinitialized.contains(&s) {
                        self.machine.values[s as usize] = v;
                    }
                }
            }
            let mut moved = false;
            if (!restarts.is_empty() || micro > MOST_TOUCHED)
                && let Some(t) = touched.take()
            {
                // States are set anew, or nothing agrees: everything on the islands may change from here on.
                self.attend(islands.as_ref());
                let mut known = vec![false; all];
                t.relations.iter().for_each(|&i| known[i] = true);
                self.machine.note_left((0..all).filter(|&i| !known[i]));
                let mut values = self.discrete_values();
                may_change.iter().zip(&before).for_each(|(k, b)| values[k] = *b);
                (before, may_change) = (values, Extent::All(self.discrete.len()));
            }
            // New values of states come before previous values are taken.
            for &(_, slot, v) in &restarts {
                if !reinitialized.contains(&slot) {
                    reinitialized.push(slot);
                }
                let was = self.machine.values[slot as usize];
                moved |= was != v;
                if was != v && instants.len() < MAX_INSTANTS {
                    instant.push((self.slot_name(&program, slot), was, v));
                }
                self.machine.values[slot as usize] = v;
            }
            // A guarded constraint may give way to what `reinit` wants.
            let reset = !switched && !displaced && !restarts.is_empty();
            let released = if reset { self.release(&program, t, &mut judged) } else { None };
            if reset && released.is_none() {
                // The states that suited the values before may not suit these.
                if let Some(p) = self.reselect(&program)? {
                    program = p;
                }
                for v in self.impose(&program, &restarts, &mut reinitialized) {
                    let var = &self.sys.dae.vars[v];
                    let text = format!("at time {t:?}: reinit of {} has no effect, the equations hold it", var.name);
                    observer.message(&text, var.origin.span.unwrap_or(Span::NONE));
                }
            }
            if !instant.is_empty() {
                instants.push(instant);
            }
            self.remember_touched(&touched);
            let entered = if switched {
                Some(self.enter(&program, &key, t, &mut judged)?)
            } else if displaced {
                let was: Vec<f64> = program.states.iter().map(|s| self.machine.values[s.0 as usize]).collect();
                // The constraint has moved: guards may say that it no longer holds.
                let (next, jump) = match self.guarded(&program, &key).is_empty() {
                    true => (program.clone(), self.jump(&program, t)?),
                    false => self.enter(&program, &key, t, &mut judged)?,
                };
                if next.plan.key == key {
                    let moved = |k: &usize| self.machine.values[program.states[*k].0 as usize] != was[*k];
                    reinitialized.extend((0..was.len()).filter(moved).map(|k| program.states[k].0));
                    program = next;
                    accumulated.extend(jump.accumulated);
                    add_impulses(&mut impulses, self.named(jump.impulses));
                    None
                } else {
                    Some((next, jump))
                }
            } else {
                released
            };
            let switched = entered.is_some();
            if let Some((next, jump)) = entered {
                mode_changes += 1;
                if mode_changes > 64 || (!changed && keys.contains(&next.plan.key) && mode_changes > 8) {
                    if !self.machine.forgo_all_losses() {
                        return Err(self.no_end(t, &keys));
                    }
                    mode_changes = 0;
                }
                keys.push(next.plan.key.clone());
                accumulated.extend(jump.accumulated);
                add_impulses(&mut impulses, self.named(jump.impulses));
                program = next;
                kind = EventKind::Mode;
                fresh = true;
            }
            if switched || displaced {
                left = self.continuous_values(&program);
            }
            if !changed && !moved && !switched && !self.machine.led {
                let steps = touched.as_ref().map_or(&program.event, |t| &t.steps);
                if looks > 0 && self.look_ahead_of_loops(&program, steps) {
                    looks -= 1;
                    continue;
                }
                if tick == 0 {
                    // What crosses and changes nothing crosses again at once.
                    let mut still = may_change.iter().zip(&before);
                    if program.plan.key == keys[0]
                        && still.all(|(k, b)| self.machine.values[self.discrete[k].0 as usize] == *b)
                        && self.machine.takes_back(&crossed)
                        && self.machine.forgo_all_losses()
                    {
                        crossed.iter().for_each(|&(s, v)| self.machine.values[s as usize] = v);
                        continue;
                    }
                    break;
                }
            }
            // A mode that has just been entered is solved at the tick; one that holds there alone ends with it.
            if tick > 0 && !fresh {
                tick -= 1;
                left = self.continuous_values(&program);
                for &k in &ticked {
                    let (s, p) = (self.tickers[k].slot, self.tickers[k].pre);
                    self.machine.values[p as usize] = self.machine.values[s as usize];
                    self.machine.values[s as usize] = 0.0;
                }
            }
        }
        self.machine.leads = 0;
        if kind != EventKind::Initial
            && let Some(d) = self.singular_by_order(&program, fired)
        {
            return Err(self.at_run_time(d));
        }
        let mut changed: Vec<(String, f64, f64)> = Vec::new();
        let mut texts: Vec<(String, String, String)> = Vec::new();
        let (mut memory, mut by_definition) = (false, true);
        let mut slots: Vec<u32> = Vec::new();
        let moved = |(k, b): &(usize, &f64)| self.machine.values[self.discrete[*k].0 as usize] != **b;
        let new: FxHashSet<VarId> =
            (may_change.iter().zip(&before)).filter(moved).map(|(k, _)| self.discrete[k].2).collect();
        for (k, b) in may_change.iter().zip(&before) {
            let (d, e) = (&self.discrete[k], &self.sys.discrete[k]);
            let now = self.machine.values[d.0 as usize];
            if now != *b {
                slots.push(d.0);
                // What reads a previous value that has changed remembers: it cannot be undone by going back.
                by_definition &= !matches!(e.kind, saltus_structure::DiscKind::When(..));
                memory |= match &e.kind {
                    saltus_structure::DiscKind::When(..) => true,
                    saltus_structure::DiscKind::Value(row) => {
                        row.args.iter().any(|a| matches!(a, Operand::Pre { var, .. } if new.contains(var)))
                    }
                    saltus_structure::DiscKind::Relation(_) => false,
                };
                let var = &self.sys.dae.vars[d.2];
                if !var.name.starts_with('$') && var.ty == VarType::String {
                    let [before, after] = [*b, now].map(|h| strings::text(h).to_string());
                    texts.push((var.name.clone(), before, after));
                } else if !var.name.starts_with('$') {
                    changed.push((var.name.clone(), *b, now));
                } else if kind != EventKind::Initial
                    && let saltus_structure::DiscKind::Value(row) = &e.kind
                    && matches!(self.sys.dae.pool.node(row.template), Node::Binary(Binary::And | Binary::Or, ..))
                {
                    // A condition of several relations.
                    words.push(format!("{} became {}", brief(&var.description), now != 0.0));
                }
            }
        }
        for (s, b) in states_before {
            let now = self.machine.values[s as usize];
            if now != b {
                changed.push((self.slot_name(&program, s), b, now));
            }
        }
        for (i, was) in withheld {
            let r = &self.machine.relations[i];
            let now = self.machine.values[r.var as usize];
            if now != was {
                words.push(became(&self.sys.relations[i].text, &r.kind, now));
            }
        }
        self.machine.patient = false;
        self.machine.fresh.clear();
        if !self.modes.suspects(&program.plan.key).is_empty() {
            self.machine.held.clone_from(&self.machine.values);
        }
        let mode = self.key_text(&program.plan.key);
        let conserved =
            self.conserved().into_iter().zip(conserved).map(|((name, now), (_, was))| (name, was, now)).collect();
        let mut record = EventRecord {
            time: t,
            kind,
            fired: words,
            changed,
            texts,
            micro_steps: micro,
            instants,
            mode,
            impulses,
            conserved,
            residual: None,
            worst: None,
        };
        if observer.wants_residuals() {
            let (residual, worst) = self.residual(&program);
            record.residual = Some(residual);
            record.worst = worst.map(|(eq, level)| brief(&self.equation(eq, level).0));
        }
        let plainly = reinitialized.is_empty() && mode_changes == 0 && ticked.is_empty() && !when_fired;
        let (memoryless, by_definition) = (plainly && !memory, plainly && by_definition);
        let switched = mode_changes > 0;
        Ok(Handled {
            program,
            terminated,
            record,
            reinitialized,
            changed: slots,
            memoryless,
            by_definition,
            switched,
            accumulated,
            islands,
        })
    }

    /// The name of a state by its slot.
    pub(crate) fn slot_name(&self, program: &ModeProgram, slot: u32) -> String {
        let states = program.plan.states.iter().copied().find(|c| self.layout.find(*c) == Some(slot));
        // A state of the mode that has ended.
        let cell = states.or_else(|| self.layout.cells().find(|c| c.1 == slot).map(|c| c.0));
        cell.map_or_else(|| "a state".into(), |c| saltus_structure::cell_name(&self.sys, c))
    }

    fn discrete_values(&self) -> Vec<f64> {
        self.discrete.iter().map(|d| self.machine.values[d.0 as usize]).collect()
    }

    fn set_discrete_values(&mut self, values: &[f64]) {
        for (d, v) in self.discrete.iter().zip(values) {
            self.machine.values[d.0 as usize] = *v;
        }
    }

    /// A mode that ends in the instant it began in has values all the same: the next one starts from them. If its equations
    /// cannot be solved, from what is known of them.
    fn transient_values(&mut self, program: &ModeProgram, conditions: &[f64], left: &mut Vec<f64>) {
        let decided = self.discrete_values();
        self.set_discrete_values(conditions);
        for (&s, &v) in program.cells.iter().zip(&*left) {
            self.machine.values[s as usize] = v;
        }
        if self.machine.run(&program.continuous).is_ok() {
            let values = self.continuous_values(program);
            if values.iter().all(|v| v.is_finite()) {
                *left = values;
            }
        }
        self.machine.host.error = None;
        self.set_discrete_values(&decided);
    }

    /// Values of a mode's continuous cells.
    fn continuous_values(&self, program: &ModeProgram) -> Vec<f64> {
        program.cells.iter().map(|&s| self.machine.values[s as usize]).collect()
    }

    /// The quantities declared as conserved, as they are now.
    fn conserved(&mut self) -> Vec<(String, f64)> {
        let declared: Vec<VarId> = self.sys.dae.conserved.clone();
        declared
            .into_iter()
            .map(|v| {
                let value = match self.locate(v) {
                    Ok((s, sign)) => sign * self.machine.values.get(s as usize).copied().unwrap_or(0.0),
                    Err(c) => c,
                };
                (self.sys.dae.vars[v].name.clone(), value)
            })
            .collect()
    }

    fn named(&self, impulses: Vec<(VarId, u8, f64)>) -> Vec<(String, u8, f64)> {
        impulses.into_iter().map(|(v, order, size)| (self.sys.condition_text(v), order, size)).collect()
    }

    fn no_end(&self, t: f64, keys: &[ModeKey]) -> Diagnostic {
        let list: Vec<String> = keys.iter().rev().take(6).filter_map(|k| self.key_text(k)).collect();
        let text =
            format!("at time {t:?} the modes change without end; no consistent mode among: {}", list.join(" | "));
        self.contradicts_itself(Stage::Run, keys.last(), text)
    }

    /// No mode agrees with its own conditions, this one among them.
    pub(crate) fn contradicts_itself(&self, stage: Stage, key: Option<&ModeKey>, text: String) -> Diagnostic {
        let conditions = key.map(|k| self.modes.conditions(k)).unwrap_or_default();
        let mut origins = conditions.iter().map(|&v| &self.sys.dae.vars[v].origin);
        let origin = origins.find(|o| o.span.is_some()).cloned().unwrap_or_default();
        Diagnostic::error(stage, origin.span.unwrap_or(Span::NONE), text)
            .within(&origin.instance)
            .hint("each branch leads to values that choose another one: look at these conditions, and at what the start fixes")
    }

    /// The discrete variable `k` has come to a value that is none: by a division by zero, a root of what is negative.
    /// What is wrong with an Integer that is too large to be exact at the start.
    pub(crate) fn no_number_at_start(&self, t: f64) -> Option<Diagnostic> {
        let wrong = |k: &usize| {
            let (slot, _, v) = self.discrete[*k];
            self.sys.dae.vars[v].ty == VarType::Integer && self.machine.values[slot as usize].abs() >= LARGEST_INTEGER
        };
        let k = (0..self.discrete.len()).find(wrong)?;
        let mut d = self.no_number(t, k);
        d.stage = Stage::Initialization;
        Some(d)
    }

    fn no_number(&self, t: f64, k: usize) -> Diagnostic {
        let (slot, _, v) = self.discrete[k];
        let (var, origin) = (&self.sys.dae.vars[v], &self.sys.discrete[k].origin);
        let value = self.machine.values[slot as usize];
        let text = format!("at time {t:?}: {} is {value}, no value it can have", self.sys.condition_text(v));
        let place = origin.span.or(var.origin.span).unwrap_or(Span::NONE);
        if value.is_finite() {
            return Diagnostic::error(Stage::Run, place, text)
                .within(&origin.instance)
                .hint("Integers are exact between -2^53 and 2^53");
        }
        Diagnostic::error(Stage::Run, place, text)
            .within(&origin.instance)
            .hint("a divisor that is zero, or an argument outside its domain, in the equation that determines it")
    }

    fn no_reset(&self, t: f64, k: usize, var: VarId, value: f64) -> Diagnostic {
        let r = &self.sys.reactions[k];
        let text = format!("at time {t:?}: {} is reset to {value}", self.sys.dae.vars[var].name);
        Diagnostic::error(Stage::Run, r.origin.span.unwrap_or(Span::NONE), text)
            .within(&r.origin.instance)
            .hint("a divisor that is zero, or an argument outside its domain, in this reinit")
    }

    fn two_resets(&self, t: f64, k: usize, var: VarId, (first, second): (f64, f64)) -> Diagnostic {
        let r = &self.sys.reactions[k];
        let name = &self.sys.dae.vars[var].name;
        let text = format!("at time {t:?}: {name} is reset to {first} and to {second} at once");
        let mut d = Diagnostic::error(Stage::Run, r.origin.span.unwrap_or(Span::NONE), text)
            .within(r.origin.instance.clone())
            .hint(format!("one when-clause with elsewhen says which reinit of {name} comes first"));
        let others =
            self.sys.reactions[..k].iter().filter(|o| matches!(o.action, Action::Reinit { var: v, .. } if v == var));
        for span in others.filter_map(|o| o.origin.span) {
            d = d.label(span, "against this one");
        }
        d
    }

    /// The assertion of reaction k.
    fn react(
        &mut self,
        k: usize,
        t: f64,
        message: &Message,
        error: bool,
        observer: &mut dyn Observer,
    ) -> Result<(), Diagnostic> {
        let Some((b, s)) = self.reactions[k].value.clone() else { return Ok(()) };
        self.machine.batch(&b);
        if self.machine.values[s as usize] != 0.0 {
            return Ok(());
        }
        let text = self.message(message);
        let span = self.sys.reactions[k].origin.span.unwrap_or(Span::NONE);
        if error {
            return Err(Diagnostic::error(Stage::Run, span, format!("assertion failed at time {t:?}: {text}")));
        }
        observer.message(&format!("at time {t:?}: {text}"), span);
        Ok(())
    }

    /// Calls a function for its effects.
    fn act(&mut self, k: usize, t: f64) -> Result<(), Diagnostic> {
        let Some((b, _)) = self.reactions[k].value.clone() else { return Ok(()) };
        self.machine.batch(&b);
        match self.machine.host.error.take() {
            Some(e) => Err(Diagnostic::error(Stage::Run, e.span, format!("at time {t:?}: {}", e.message))),
            None => Ok(()),
        }
    }

    /// What must hold, and what is done, while `initial()` is true; a text if the model ends the run.
    pub fn initial_actions(&mut self, t: f64, observer: &mut dyn Observer) -> Result<Option<String>, Diagnostic> {
        if self.sys.dae.continues {
            return Ok(None);
        }
        let slot = self.layout.slot(Cell::new(HybridDae::INITIAL, 0)) as usize;
        self.machine.values[slot] = 1.0;
        let found = self.while_initial(t, observer);
        self.machine.values[slot] = 0.0;
        found
    }

    fn while_initial(&mut self, t: f64, observer: &mut dyn Observer) -> Result<Option<String>, Diagnostic> {
        let initial = Operand::var(HybridDae::INITIAL);
        if self.sys.assertions.iter().any(|(row, _)| row.args.contains(&initial)) {
            self.machine.host.error = None;
            self.machine.chain(&self.assertions);
            let failed = self.machine.host.error.take();
            for k in 0..self.sys.assertions.len() {
                let (row, index) = &self.sys.assertions[k];
                let value = self.machine.values[self.assertion_slots[k] as usize];
                if !row.args.contains(&initial) || (value != 0.0 && !value.is_nan()) {
                    continue;
                }
                let a = self.sys.dae.assertions[*index].clone();
                let span = a.origin.span.unwrap_or(Span::NONE);
                let text = self.message(&a.message);
                let (text, span) = match &failed {
                    Some(e) if value.is_nan() => (format!("assertion failed at time {t:?}: {}", e.message), e.span),
                    _ => (format!("assertion failed at time {t:?}: {text}"), span),
                };
                if a.error {
                    return Err(Diagnostic::error(Stage::Initialization, span, text).within(a.origin.instance));
                }
                observer.message(&text, span);
            }
        }
        let mut ended = None;
        for k in 0..self.sys.reactions.len() {
            let r = &self.sys.reactions[k];
            if self.sys.whens[r.when].branches.iter().position(|b| b.1) != Some(r.branch) {
                continue;
            }
            if let Some((b, s)) = self.reactions[k].condition.clone() {
                self.machine.batch(&b);
                if self.machine.values[s as usize] == 0.0 {
                    continue;
                }
            }
            match self.sys.reactions[k].action.clone() {
                Action::Assert { message, error, .. } => self.react(k, t, &message, error, observer)?,
                Action::Terminate { message, .. } => ended = Some(self.message(&message)),
                Action::Call { .. } => self.act(k, t)?,
                _ => {}
            }
        }
        Ok(ended)
    }

    fn no_fixed_point(&self, t: f64, restless: &[Restless]) -> Diagnostic {
        // What alternates makes others count.
        let steady = |r: &Restless| r.rises.min(r.falls) == 0 && r.rises + r.falls > 1;
        let definition = |v: VarId| self.sys.discrete.iter().find(|d| d.var == v).and_then(|d| d.origin.span);
        if let Some(first) = restless.first().filter(|_| restless.iter().all(steady)) {
            let name = self.sys.condition_text(first.var);
            let way = if first.rises > 0 { "growing" } else { "falling" };
            return Diagnostic::error(
                Stage::Run,
                definition(first.var).unwrap_or(Span::NONE),
                format!("event iteration at time {t:?} finds no consistent values: {name} keeps {way}"),
            )
            .hint(format!("every iteration of the event changes {name} again; in a when-clause it changes once"));
        }
        let alternating: Vec<VarId> = restless.iter().map(|r| r.var).collect();
        let mut names: Vec<String> = alternating.iter().map(|&v| self.sys.condition_text(v)).collect();
        names.sort_by_key(|n| n.contains(' '));
        names.truncate(8);
        let span = alternating.iter().copied().find_map(definition).unwrap_or(Span::NONE);
        let verb = if names.len() == 1 { "keeps" } else { "keep" };
        let who = if names.is_empty() { "states that are reset".to_string() } else { names.join(", ") };
        Diagnostic::error(
            Stage::Run,
            span,
            format!("event iteration at time {t:?} finds no consistent values: {who} {verb} alternating"),
        )
        .hint("a condition that switches itself off again needs pre() or hysteresis")
    }

    /// A message with its values filled in.
    pub fn message(&mut self, m: &Message) -> String {
        let mut out = String::new();
        for p in &m.pieces {
            match p {
                Piece::Text(t) => out.push_str(t),
                Piece::String(r) => {
                    let s = self.layout.scratch();
                    let row = self.sys.resolve_row(r);
                    let b = self.compile(|c| c.batch(s, &row));
                    self.machine.batch(&b);
                    out.push_str(&saltus_function::strings::text(self.machine.values[s as usize]));
                }
            }
        }
        out
    }

    /// The next instants known in advance, of samplers and relations on time: the first that steps must end at, and the
    /// first of those that touch nothing continuous.
    pub fn next_time_events(&mut self, sensitivity: &Sensitivity) -> (f64, f64) {
        let (mut hard, mut soft) = (f64::INFINITY, f64::INFINITY);
        for (k, s) in self.tickers.iter().enumerate() {
            let next = if sensitivity.tickers.contains(&k) { &mut hard } else { &mut soft };
            *next = next.min(s.due());
        }
        for k in 0..self.timed.len() {
            let i = self.timed[k];
            if let Some((value, at)) = self.machine.time_switch(i) {
                let held = self.machine.values[self.machine.relations[i].var as usize];
                // If it should have its value already: now.
                let at = if held != value { self.machine.values[self.machine.time as usize] } else { at };
                let next = if sensitivity.relations.contains(&i) { &mut hard } else { &mut soft };
                *next = next.min(at);
            }
        }
        if !self.machine.host.lines.list.is_empty() {
            self.line_inputs();
            let values = &self.machine.values;
            hard = self.machine.host.lines.list.iter().map(|l| l.due(values)).fold(hard, f64::min);
        }
        (hard, soft)
    }
}

/// A relation and what it has become.
pub(crate) fn became(text: &str, kind: &RelationKind, value: f64) -> String {
    match kind {
        RelationKind::Sign(_) => format!("{} became {}", brief(text), value != 0.0),
        RelationKind::Floor => format!("{} became {value}", brief(text)),
    }
}

/// A text for a log: its beginning and end, if it is long.
pub(crate) fn brief(text: &str) -> String {
    const LONGEST: usize = 160;
    let n = text.chars().count();
    if n <= LONGEST {
        return text.to_string();
    }
    let head: String = text.chars().take(LONGEST - 60).collect();
    let tail: String = text.chars().skip(n - 50).collect();
    format!("{head} … {tail}")
}

/// Impulses of several changes at one instant add up.
fn add_impulses(sum: &mut Vec<(String, u8, f64)>, more: Vec<(String, u8, f64)>) {
    for (name, order, size) in more {
        match sum.iter_mut().find(|s| s.0 == name && s.1 == order) {
            Some(s) => s.2 += size,
            None => sum.push((name, order, size)),
        }
    }
}
