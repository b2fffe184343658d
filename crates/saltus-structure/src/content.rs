//! The content of a system without the numbers that a user tunes: systems of equal content have equal plans.

use crate::system::{Merged, Reaction, Relation, SysEq, System, WhenHead};
use crate::{DiscEq, DiscKind, Group};
use saltus_dae::{Action, Message, Operand, Origin, Piece, Row, VarId, Variability, Variable};
use std::fmt::{Debug, Write};
use std::hash::{DefaultHasher, Hash, Hasher};

/// A number for what structure depends on: everything but the constants that parameters and start values are set to.
/// Parameters that decide structure (those that are zero) have left their mark in the equations before.
pub fn content(sys: &System) -> u64 {
    let System {
        dae,
        equations,
        discrete,
        relations,
        whens,
        reactions,
        groups,
        initial,
        alias,
        assertions,
        external,
        settled,
        emptied,
        vacuous,
        original,
        shared,
    } = sys;
    let mut d = Digest { hasher: DefaultHasher::new(), nodes: dae.pool.digests() };
    dae.vars.iter().for_each(|(_, v)| d.variable(sys, v));
    d.shown(&(&dae.functions, &dae.enumerations, &dae.conserved, dae.pool.rules()));
    d.list(&dae.samplers, |d, s| {
        d.shown(&(s.var, s.from_start));
        d.rows([&s.start, &s.interval]);
        d.origin(&s.origin);
    });
    d.list(&dae.delays, |d, x| {
        d.shown(&x.func);
        d.rows([&x.value, &x.delay, &x.max]);
        d.origin(&x.origin);
    });
    d.list(&dae.distributions, |d, x| {
        d.shown(&x.ends);
        d.rows(x.inputs.iter().chain(&x.points).chain(&x.values));
        d.origin(&x.origin);
    });
    d.list(&dae.assertions, |d, a| {
        d.row(&a.condition);
        d.message(&a.message);
        d.shown(&(a.error, a.guard));
        d.origin(&a.origin);
    });
    d.list(equations, Digest::equation);
    d.list(initial, Digest::equation);
    d.list(discrete, Digest::discrete);
    d.list(relations, |d, Relation { var, kind, g, text, origin }| {
        d.shown(&(var, kind, text));
        d.row(g);
        d.origin(origin);
    });
    d.list(whens, |d, WhenHead { branches, guard }| d.shown(&(branches, guard)));
    d.list(reactions, Digest::reaction);
    d.list(groups, |d, Group { conditions, parent, structural, origin }| {
        d.shown(&(conditions, parent, structural));
        d.origin(origin);
    });
    d.list(assertions, |d, (row, index)| {
        d.row(row);
        d.shown(index);
    });
    for rows in [emptied, vacuous] {
        d.list(rows, |d, (origin, row)| {
            d.origin(origin);
            d.row(row);
        });
    }
    dae.vars.iter().for_each(|(v, _)| d.shown(&alias[v]));
    let mut known: Vec<VarId> = external.iter().copied().collect();
    known.sort_unstable();
    d.shown(&(known, original, shared));
    let mut constants: Vec<_> = settled.iter().collect();
    constants.sort_unstable_by_key(|(v, _)| **v);
    d.list(&constants, |d, (v, (origin, row))| {
        d.shown(v);
        d.origin(origin);
        d.row(row);
    });
    d.hasher.finish()
}

/// A number for the constants that [`content`] leaves out.
pub fn numbers(sys: &System) -> u64 {
    let mut hasher = DefaultHasher::new();
    for (_, v) in sys.dae.vars.iter() {
        for row in [&v.binding, &v.start].into_iter().flatten() {
            sys.dae.row_constant(row).map(f64::to_bits).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// Brings what [`content`] leaves out of `from` into `sys`, a system of equal content that may have been planned with.
pub fn renew(sys: &mut System, from: System) {
    let constant = |row: &Option<Row>| row.as_ref().and_then(|r| from.dae.row_constant(r));
    for (v, new) in from.dae.vars.iter() {
        let (binding, start) = (constant(&new.binding), constant(&new.start));
        let [binding, start] = [binding, start].map(|c| c.map(|c| sys.dae.constant_row(c)));
        let old = &mut sys.dae.vars[v];
        old.binding = binding.or(old.binding.take());
        old.start = start.or(old.start.take());
    }
    sys.dae.name = from.dae.name;
    sys.dae.soft_targets = from.dae.soft_targets;
    sys.dae.guesses = from.dae.guesses;
    sys.dae.continues = from.dae.continues;
    sys.dae.histories = from.dae.histories;
    sys.dae.left = from.dae.left;
    sys.dae.experiment = from.dae.experiment;
}

struct Digest {
    hasher: DefaultHasher,
    /// What the nodes of the pool hold, whatever their places in it.
    nodes: Vec<u64>,
}

/// Text goes into the hash as it is made.
impl Write for Digest {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.hasher.write(text.as_bytes());
        Ok(())
    }
}

impl Digest {
    fn shown(&mut self, x: &dyn Debug) {
        let _ = write!(self, "{x:?};");
    }

    fn list<T>(&mut self, items: &[T], mut one: impl FnMut(&mut Digest, &T)) {
        items.len().hash(&mut self.hasher);
        items.iter().for_each(|x| one(self, x));
    }

    fn row(&mut self, row: &Row) {
        self.nodes[row.template.index()].hash(&mut self.hasher);
        row.args.len().hash(&mut self.hasher);
        for a in &row.args {
            match *a {
                Operand::Var { var, order, neg } => (0u8, var.index(), order, neg).hash(&mut self.hasher),
                Operand::Pre { var } => (1u8, var.index()).hash(&mut self.hasher),
                Operand::Const(c) => (2u8, c.to_bits()).hash(&mut self.hasher),
            }
        }
    }

    fn rows<'a>(&mut self, rows: impl IntoIterator<Item = &'a Row>) {
        rows.into_iter().for_each(|r| self.row(r));
    }

    fn some_row(&mut self, row: &Option<Row>) {
        row.is_some().hash(&mut self.hasher);
        self.rows(row);
    }

    fn origin(&mut self, Origin { span, instance, note }: &Origin) {
        self.shown(span);
        (instance, note).hash(&mut self.hasher);
    }

    fn variable(&mut self, sys: &System, v: &Variable) {
        let Variable {
            name,
            ty,
            variability,
            causality,
            binding,
            start,
            fixed,
            min,
            max,
            nominal,
            state_select,
            unit,
            display_unit,
            description,
            hidden,
            unshown,
            marked,
            tear,
            origin,
        } = v;
        (name, unit, display_unit, description).hash(&mut self.hasher);
        self.shown(&(ty, variability, causality, fixed, state_select, hidden, unshown, marked, tear));
        let tuned = *variability == Variability::Parameter;
        for (row, left_out) in [(binding, tuned), (start, true), (min, false), (max, false), (nominal, false)] {
            match row.as_ref().and_then(|r| sys.dae.row_constant(r)).filter(|_| left_out) {
                Some(_) => 2u8.hash(&mut self.hasher),
                None => self.some_row(row),
            }
        }
        self.origin(origin);
    }

    fn equation(&mut self, SysEq { row, guard, origin, merged }: &SysEq) {
        self.row(row);
        self.shown(guard);
        self.origin(origin);
        self.merged(merged);
    }

    fn merged(&mut self, merged: &Option<Box<Merged>>) {
        merged.is_some().hash(&mut self.hasher);
        if let Some(Merged { conditions, branches }) = merged.as_deref() {
            self.shown(conditions);
            self.list(branches, |d, (origin, inner)| {
                d.origin(origin);
                d.merged(inner);
            });
        }
    }

    fn discrete(&mut self, DiscEq { var, kind, guard, origin }: &DiscEq) {
        self.shown(&(var, guard));
        self.origin(origin);
        match kind {
            DiscKind::Value(row) => self.row(row),
            DiscKind::Relation(k) => k.hash(&mut self.hasher),
            DiscKind::When(k, values) => {
                k.hash(&mut self.hasher);
                self.list(values, Digest::some_row);
            }
        }
    }

    fn reaction(&mut self, Reaction { when, branch, action, origin }: &Reaction) {
        (when, branch).hash(&mut self.hasher);
        self.origin(origin);
        match action {
            Action::Assign { var, value } => {
                self.shown(var);
                self.row(value);
            }
            Action::Call { func, args, outputs } => {
                self.shown(&(func, outputs));
                self.rows(args);
            }
            Action::Reinit { var, value, condition } => {
                self.shown(var);
                self.row(value);
                self.some_row(condition);
            }
            Action::Assert { condition, message, error } => {
                self.row(condition);
                self.message(message);
                error.hash(&mut self.hasher);
            }
            Action::Terminate { message, condition } => {
                self.message(message);
                self.some_row(condition);
            }
        }
    }

    fn message(&mut self, m: &Message) {
        self.list(&m.pieces, |d, p| match p {
            Piece::Text(text) => text.hash(&mut d.hasher),
            Piece::String(row) => d.row(row),
        });
    }
}
