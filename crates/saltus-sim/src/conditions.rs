//! Conditions of several relations.
//!
//! `b = x > 0 and y > 0` changes when its formula does, not whenever one of its relations does. A relation that nothing reads but
//! such formulas of discrete values, and that is no variable of the model itself, is *inner*: where it crosses and every formula
//! keeps its value, nothing has happened. Its truth value is taken over, and that is all: no event, no row, no restart.
//!
//! An inner relation *idles* while all its formulas keep their values whatever it says (`x > 0 and b` with b false): nobody looks where it
//! crosses. Its truth value is not kept up, and is found anew before anything else in its formulas changes.

use crate::machine::plain;
use crate::model::Model;
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_dae::{HybridDae, Operand, Row, VarId};
use saltus_expr::Node;
use saltus_program::Batch;
use saltus_structure::{Alias, Cell, DiscKind, Group, RelationKind, Role, chosen};

/// The inner relations of a model.
#[derive(Default)]
pub struct Conditions {
    formulas: Vec<Formula>,
    /// Of each inner relation: the formulas that read it.
    readers: FxHashMap<usize, Vec<usize>>,
    /// Of relations that have had no value: all that reads them, and where it is computed to.
    consequences: FxHashMap<usize, Vec<Consequence>>,
    /// Formulas by the discrete variables (indices into the model's list) they determine.
    by_discrete: FxHashMap<usize, usize>,
    /// Inner relations by the slots that their formulas read; a previous value counts as its variable.
    by_input: FxHashMap<u32, Vec<usize>>,
    /// Relations that idle, as far as was asked: until somebody asks again their values are found anew at events.
    idle: FxHashSet<usize>,
}

/// A formula or an equation that reads a relation.
struct Consequence {
    batch: Batch,
    /// Where it is computed to.
    value: u32,
    /// Group and branch it stands in.
    guard: Option<(usize, u32)>,
}

struct Formula {
    batch: Batch,
    /// Where it is computed to.
    value: u32,
    /// Where the value of the present is.
    slot: u32,
    /// Its inner relations that are not on time alone, if they are few enough to try all their values.
    open: Option<Vec<usize>>,
}

/// Relations of a formula whose values are all tried.
const MOST_OPEN: usize = 4;

impl Model {
    /// Finds the inner relations.
    pub(crate) fn find_conditions(&mut self) {
        let relations: FxHashMap<VarId, usize> =
            self.sys.relations.iter().enumerate().map(|(i, r)| (r.var, i)).collect();
        let sys = &self.sys;
        let mut outer: FxHashSet<VarId> = FxHashSet::default();
        let mut read = |row: &Row| outer.extend(row.args.iter().filter_map(|&a| sys.resolve(a).variable()));
        sys.equations.iter().for_each(|e| read(&e.row));
        sys.relations.iter().for_each(|r| read(&r.g));
        sys.dae.delays.iter().flat_map(|d| [&d.value, &d.delay]).for_each(&mut read);
        sys.dae.distributions.iter().flat_map(|d| &d.inputs).for_each(&mut read);
        sys.assertions.iter().for_each(|a| read(&a.0));
        let heads = sys.whens.iter().flat_map(|w| &w.branches).flat_map(|b| &b.0);
        for &c in heads.chain(sys.groups.iter().flat_map(|g| &g.conditions)) {
            outer.extend(sys.resolve(Operand::var(c)).variable());
        }
        for (v, var) in sys.dae.vars.iter() {
            if let Some(Alias::Var(to, _)) = sys.alias[v]
                && !var.hidden
            {
                outer.extend(sys.resolve(Operand::var(to)).variable());
            }
        }
        // What is a variable of the model shows when it changes.
        outer.extend(relations.keys().filter(|&&v| sys.alias[v].is_some() || !sys.dae.vars[v].hidden));
        // Formulas over discrete values, in force whatever the mode.
        let known = |a: Operand| match a {
            Operand::Var { var, order: 0, .. } => sys.role(var) != Role::Continuous && var != HybridDae::TIME,
            Operand::Const(_) | Operand::Pre { .. } => true,
            _ => false,
        };
        let mut formulas: Vec<(VarId, Row, Vec<usize>)> = Vec::new();
        for d in &sys.discrete {
            let rows: Vec<&Row> = match &d.kind {
                DiscKind::Value(row) => vec![row],
                // Read at the instants of the when-clause only, with the values of then.
                DiscKind::When(_, rows) => rows.iter().flatten().collect(),
                DiscKind::Relation(_) => continue,
            };
            for row in rows {
                let row = sys.resolve_row(row);
                let of = |a: &Operand| a.variable().and_then(|v| relations.get(&v).copied());
                let inner: Vec<usize> = row.args.iter().filter_map(of).collect();
                let previous = row.args.iter().any(|a| matches!(a, Operand::Pre { .. }) && of(a).is_some());
                let when = matches!(d.kind, DiscKind::When(..));
                let mut acts = false;
                sys.dae.pool.visit(row.template, |_, n| {
                    acts |= matches!(n, Node::Call { func, .. } if self.machine.host.acts(*func));
                });
                if previous || !when && (d.guard.is_some() || acts || !row.args.iter().all(|&a| known(a))) {
                    outer.extend(row.args.iter().filter_map(|a| a.variable()));
                } else if !when && !inner.is_empty() {
                    formulas.push((d.var, row, inner));
                }
            }
        }
        let inner = |i: &usize| !outer.contains(&sys.relations[*i].var);
        let mut readers: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        formulas.retain(|f| f.2.iter().any(inner));
        for (k, f) in formulas.iter().enumerate() {
            f.2.iter().copied().filter(inner).for_each(|i| readers.entry(i).or_default().push(k));
        }
        let timed = |i: &usize| self.machine.relations[*i].time.is_some();
        let signs = |i: &usize| matches!(self.machine.relations[*i].kind, RelationKind::Sign(_));
        let open: Vec<Option<Vec<usize>>> = (formulas.iter())
            .map(|f| f.2.iter().copied().filter(|i| readers.contains_key(i) && !timed(i)).collect::<Vec<_>>())
            .map(|open| (open.len() <= MOST_OPEN && open.iter().all(signs)).then_some(open))
            .collect();
        let mut by_input: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        for ((_, row, _), open) in formulas.iter().zip(&open) {
            let inputs = row.args.iter().filter_map(|a| match *a {
                Operand::Pre { var } => Some(var),
                a => a.variable(),
            });
            for v in inputs {
                let slot = self.layout.slot(Cell::new(v, 0));
                by_input.entry(slot).or_default().extend(open.iter().flatten());
            }
        }
        let formulas: Vec<Formula> = self.compile(|c| {
            let compile = |((var, row, _), open): ((VarId, Row, Vec<usize>), Option<Vec<usize>>)| {
                let value = c.layout.scratch();
                Formula { batch: c.batch(value, &row), value, slot: c.layout.slot(Cell::new(var, 0)), open }
            };
            formulas.into_iter().zip(open).map(compile).collect()
        });
        let place: FxHashMap<u32, usize> = formulas.iter().enumerate().map(|(k, f)| (f.slot, k)).collect();
        let discrete = self.discrete.iter().enumerate();
        let by_discrete = discrete.filter_map(|(d, v)| place.get(&v.0).map(|&k| (d, k))).collect();
        self.conditions = Conditions { formulas, readers, by_discrete, by_input, ..Conditions::default() };
    }

    /// Whether a relation stands in formulas only.
    pub(crate) fn is_inner(&self, relation: usize) -> bool {
        self.conditions.readers.contains_key(&relation)
    }

    /// Whether a relation idles: the values of all formulas that read it are those they have whatever relations not on time say.
    pub(crate) fn idles(&mut self, relation: usize) -> bool {
        let Some(readers) = self.conditions.readers.get(&relation) else { return false };
        let before = self.machine.host.error.take();
        let fixed = readers.iter().all(|&k| {
            let f = &self.conditions.formulas[k];
            let Some(open) = &f.open else { return false };
            let machine = &mut self.machine;
            let slots = open.iter().map(|&i| machine.relations[i].var as usize);
            let old: Vec<(usize, f64)> = slots.map(|s| (s, machine.values[s])).collect();
            let fixed = (0..1usize << old.len()).all(|pattern| {
                for (j, &(slot, _)) in old.iter().enumerate() {
                    machine.values[slot] = f64::from(u8::from(pattern >> j & 1 != 0));
                }
                machine.batch(&f.batch);
                machine.host.error.is_none() && machine.values[f.value as usize] == machine.values[f.slot as usize]
            });
            old.iter().for_each(|&(slot, value)| machine.values[slot] = value);
            fixed
        });
        self.machine.host.error = before;
        if fixed {
            self.conditions.idle.insert(relation);
        } else {
            self.conditions.idle.remove(&relation);
        }
        fixed
    }

    /// Relations that idled when they were asked about last.
    pub(crate) fn idle(&self) -> &FxHashSet<usize> {
        &self.conditions.idle
    }

    /// Relations that idled and may not any more, now that these slots have changed.
    pub(crate) fn roused(&self, changed: &[u32]) -> Vec<usize> {
        let mut found: Vec<usize> =
            changed.iter().filter_map(|s| self.conditions.by_input.get(s)).flatten().copied().collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Finds the truth values of relations that idle and stand in formulas of these discrete variables, of all with `None`. Everything
    /// continuous has its values of the instant.
    pub(crate) fn wake(&mut self, discrete: Option<&[usize]>) {
        if self.conditions.idle.is_empty() {
            return;
        }
        let c = &self.conditions;
        let which: Vec<usize> = match discrete {
            None => c.idle.iter().copied().collect(),
            Some(list) => {
                let formulas = list.iter().filter_map(|d| Some(&c.formulas[*c.by_discrete.get(d)?]));
                formulas.filter_map(|f| f.open.as_ref()).flatten().copied().filter(|i| c.idle.contains(i)).collect()
            }
        };
        self.wake_up(&which);
    }

    fn wake_up(&mut self, which: &[usize]) {
        for &i in which {
            let mut g = [f64::NAN];
            self.machine.crossing_values(&[i], &mut g);
            let r = &self.machine.relations[i];
            if !g[0].is_nan() {
                let (slot, value) = (r.var, plain(&r.kind, g[0]));
                self.machine.values[slot as usize] = value;
                if let Some(&previous) = self.machine.previous.get(&slot) {
                    self.machine.values[previous as usize] = value;
                }
            }
        }
    }

    /// The slots of a relation's truth value and of the formulas that read it.
    pub(crate) fn decides(&self, relation: usize) -> impl Iterator<Item = u32> + '_ {
        let c = &self.conditions;
        let formulas = c.readers.get(&relation).into_iter().flatten().map(|&k| c.formulas[k].slot);
        formulas.chain([self.machine.relations[relation].var])
    }

    /// Whether anything comes out otherwise at present with another value of this relation. What stands behind `x > 0 and`, or in a branch that
    /// is not taken, does not matter.
    pub(crate) fn matters(&mut self, relation: usize) -> bool {
        let sys = &self.sys;
        let of = |o: Operand| sys.resolve(o).variable();
        let Some(var) = of(Operand::var(sys.relations[relation].var)) else { return false };
        let mut heads = sys.whens.iter().flat_map(|w| &w.branches).flat_map(|b| &b.0);
        if !sys.dae.vars[var].hidden || heads.any(|&c| of(Operand::var(c)) == Some(var)) {
            return true;
        }
        if !self.conditions.consequences.contains_key(&relation) {
            let equations = sys.equations.iter().map(|e| (&e.row, e.guard));
            let formulas = sys.discrete.iter().filter_map(|d| match &d.kind {
                DiscKind::Value(row) => Some((row, d.guard)),
                _ => None,
            });
            let rows: Vec<(Row, Option<(usize, u32)>)> = equations
                .chain(formulas)
                .map(|(r, guard)| (sys.resolve_row(r), guard))
                .filter(|r| r.0.args.iter().any(|&a| a.variable() == Some(var)))
                .collect();
            let compiled = self.compile(|c| {
                let compile = |(row, guard): &(Row, Option<(usize, u32)>)| {
                    let value = c.layout.scratch();
                    Consequence { batch: c.batch(value, row), value, guard: *guard }
                };
                rows.iter().map(compile).collect()
            });
            self.conditions.consequences.insert(relation, compiled);
        }
        let sys = &self.sys;
        let of = |o: Operand| sys.resolve(o).variable();
        let truth = |v: VarId| match sys.resolve(Operand::var(v)) {
            Operand::Const(c) => c != 0.0,
            op => {
                Cell::of(op).and_then(|c| self.layout.find(c)).is_some_and(|s| self.machine.values[s as usize] != 0.0)
            }
        };
        // The condition of an if-equation, if those before it do not hold.
        let asked = |g: &Group| {
            let at = g.conditions.iter().position(|&c| of(Operand::var(c)) == Some(var));
            at.is_some_and(|k| !g.conditions[..k].iter().any(|&c| truth(c))) && chosen(sys, g.parent, &truth)
        };
        if sys.groups.iter().any(asked) {
            return true;
        }
        let taken: Vec<bool> =
            self.conditions.consequences[&relation].iter().map(|c| chosen(sys, c.guard, &truth)).collect();
        // Kept values of the end of a step may be from before these rows were compiled.
        self.layout.extend(&mut self.machine.values);
        let slot = self.machine.relations[relation].var as usize;
        let bit = self.machine.values[slot];
        let other = match self.machine.relations[relation].kind {
            RelationKind::Sign(_) => f64::from(bit == 0.0),
            RelationKind::Floor => f64::NAN,
        };
        let (machine, rows) = (&mut self.machine, &self.conditions.consequences[&relation]);
        let differs = rows.iter().zip(taken).filter(|(_, taken)| *taken).any(|(c, _)| {
            let [a, b] = [other, bit].map(|v| {
                machine.values[slot] = v;
                machine.batch(&c.batch);
                machine.values[c.value as usize]
            });
            a != b && !(a.is_nan() && b.is_nan())
        });
        machine.host.error = None;
        differs
    }

    /// The slots and new values of inner relations that cross here, if all formulas keep their values.
    pub(crate) fn unnoticed(&mut self, fired: &[usize]) -> Option<Vec<(u32, f64)>> {
        if fired.is_empty() || !fired.iter().all(|&i| self.is_inner(i)) {
            return None;
        }
        let mut new: Vec<(u32, f64)> = Vec::with_capacity(fired.len());
        for &i in fired {
            self.machine.crossing_values(&[i], &mut [0.0]);
            new.push((self.machine.relations[i].var, self.crossed(i)));
        }
        let kept = self.keeps_conditions(fired, &new);
        kept.then_some(new)
    }

    /// Inner relations on time that have another value from now on, if they are all that happens now and all formulas keep their
    /// values. Where relations idle, everything continuous has its values of now.
    pub(crate) fn unnoticed_now(&mut self) -> Option<Vec<(u32, f64)>> {
        let t = self.machine.values[self.machine.time as usize];
        let close = self.machine.instants.close(t);
        if self.tickers.iter().any(|k| k.due() <= t + close) || !self.machine.host.lines.list.is_empty() {
            return None;
        }
        let (mut which, mut new) = (Vec::new(), Vec::new());
        for k in 0..self.timed.len() {
            let (i, slot) = (self.timed[k], self.machine.relations[self.timed[k]].var);
            let (value, _) = self.machine.time_switch(i)?;
            if value != self.machine.values[slot as usize] {
                if !self.is_inner(i) {
                    return None;
                }
                which.push(i);
                new.push((slot, value));
            }
        }
        if which.is_empty() {
            return None;
        }
        let c = &self.conditions;
        let formulas = which.iter().flat_map(|i| &c.readers[i]).map(|&k| &c.formulas[k]);
        let idle = formulas.filter_map(|f| f.open.as_ref()).flatten().copied().filter(|i| c.idle.contains(i));
        let idle: Vec<usize> = idle.collect();
        self.wake_up(&idle);
        self.keeps_conditions(&which, &new).then_some(new)
    }

    /// Whether the formulas over these relations are the same with the new values.
    fn keeps_conditions(&mut self, which: &[usize], new: &[(u32, f64)]) -> bool {
        let values = &mut self.machine.values;
        let old: Vec<f64> = new.iter().map(|&(s, v)| std::mem::replace(&mut values[s as usize], v)).collect();
        // An assertion that fails with these values alone says nothing: others may change with them.
        let before = self.machine.host.error.take();
        let kept = which.iter().all(|i| {
            self.conditions.readers[i].iter().all(|&k| {
                let f = &self.conditions.formulas[k];
                self.machine.batch(&f.batch);
                self.machine.values[f.value as usize] == self.machine.values[f.slot as usize]
            })
        });
        for (&(s, _), v) in new.iter().zip(old) {
            self.machine.values[s as usize] = v;
        }
        let failed = std::mem::replace(&mut self.machine.host.error, before).is_some();
        kept && !failed
    }

    /// The value that a relation has beyond the crossing it is at; its function has been evaluated.
    pub(crate) fn crossed(&self, i: usize) -> f64 {
        let r = &self.machine.relations[i];
        let old = self.machine.values[r.var as usize];
        match r.kind {
            RelationKind::Sign(_) => 1.0 - old,
            RelationKind::Floor => {
                // One further where g slides over an integer, more where it jumps.
                let g = self.machine.values[r.g as usize];
                let whole = (g + self.machine.band(i).max(1e-9)).floor();
                if g < old + 0.5 { whole.min(old - 1.0) } else { whole.max(old + 1.0) }
            }
        }
    }
}
