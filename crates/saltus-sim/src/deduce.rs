//! What the values known at the start say about conditions.
//!
//! ```text
//!   x = 0.1 (fixed),  x = if c then s else 0   ⇒   c: the other branch contradicts   ⇒   s = 0.1
//! ```
//!
//! Unit propagation over the equations: an equation with one unknown left gives its value, a branch that known values
//! contradict is not the chosen one. What follows is a guess of the mode that no search has to look for.

use crate::machine::plain;
use crate::model::Model;
use rustc_hash::FxHashMap;
use saltus_dae::{Operand, Row, VarId, VarType};
use saltus_expr::Calls;
use saltus_structure::{Cell, DiscKind, Point, RelationKind, Role, specialise};

/// Relative size of a residual that contradicts.
const CLEAR: f64 = 1e-9;

/// Unknowns and open conditions of an equation that is looked at.
const FEW: usize = 4;

/// What stands for something in the propagation.
#[derive(Clone, Copy)]
enum Clause {
    Equation(usize),
    Initial(usize),
    Discrete(usize),
}

/// What is known so far.
struct Known {
    /// Variables, conditions as 0 and 1.
    values: FxHashMap<VarId, f64>,
    /// Who reads a variable.
    readers: FxHashMap<VarId, Vec<Clause>>,
    queue: Vec<Clause>,
}

impl Known {
    fn learn(&mut self, v: VarId, value: f64) {
        if value.is_finite() && self.values.insert(v, value).is_none() {
            self.queue.extend(self.readers.get(&v).into_iter().flatten().copied());
        }
    }
}

impl Model {
    /// Gives conditions the values that follow from what is known at the start.
    pub(crate) fn deduce_conditions(&mut self) {
        let mut known = Known { values: FxHashMap::default(), readers: FxHashMap::default(), queue: Vec::new() };
        let note = |known: &mut Known, clause: Clause, row: &Row, sys: &saltus_structure::System| {
            for v in row.args.iter().filter_map(|&a| sys.resolve(a).variable()) {
                known.readers.entry(v).or_default().push(clause);
            }
            known.queue.push(clause);
        };
        let equations = self.sys.equations.iter().enumerate().map(|(k, eq)| (Clause::Equation(k), eq));
        let initial = self.sys.initial.iter().enumerate().map(|(k, eq)| (Clause::Initial(k), eq));
        for (clause, eq) in equations.chain(initial) {
            note(&mut known, clause, &eq.row, &self.sys);
            for (v, _) in self.path(eq.guard) {
                known.readers.entry(v).or_default().push(clause);
            }
        }
        for (k, d) in self.sys.discrete.iter().enumerate() {
            match &d.kind {
                DiscKind::Value(row) => note(&mut known, Clause::Discrete(k), row, &self.sys),
                DiscKind::Relation(i) => note(&mut known, Clause::Discrete(k), &self.sys.relations[*i].g, &self.sys),
                // Set at events only.
                DiscKind::When(..) => {
                    if let Some(s) = self.layout.find(Cell::new(d.var, 0)) {
                        known.values.insert(d.var, self.machine.values[s as usize]);
                    }
                }
            }
        }
        for (v, var) in self.sys.dae.vars.iter() {
            if self.sys.alias[v].is_none()
                && self.sys.role(v) == Role::Continuous
                && var.fixed == Some(true)
                && let Some(s) = self.layout.find(Cell::new(v, 0))
            {
                known.values.insert(v, self.machine.values[s as usize]);
            }
        }
        let point = self.snapshot();
        let mut calls = point.calls();
        known.queue.reverse();
        while let Some(clause) = known.queue.pop() {
            match clause {
                Clause::Equation(_) | Clause::Initial(_) => self.propagate(clause, &mut known, &mut *calls),
                Clause::Discrete(k) => self.evaluate(k, &mut known, &mut *calls),
            }
        }
        drop(calls);
        for d in self.sys.discrete.clone() {
            if self.sys.dae.vars[d.var].ty == VarType::Boolean
                && !matches!(d.kind, DiscKind::When(..))
                && let Some(&value) = known.values.get(&d.var)
            {
                let slot = self.layout.slot(Cell::new(d.var, 0));
                self.layout.extend(&mut self.machine.values);
                self.machine.values[slot as usize] = value;
            }
        }
        self.machine.host.error = None;
    }

    /// The conditions of a branch and the values they have there.
    fn path(&self, mut guard: Option<(usize, u32)>) -> Vec<(VarId, bool)> {
        let mut out = Vec::new();
        while let Some((g, branch)) = guard {
            let group = &self.sys.groups[g];
            let conditions = group.conditions.iter().enumerate().take(branch as usize + 1);
            out.extend(conditions.map(|(k, &c)| (c, k == branch as usize)));
            guard = group.parent;
        }
        out
    }

    /// The value of an operand: known from the start, learnt, or none.
    fn known(&self, known: &Known, op: Operand) -> Option<f64> {
        let at = |c: Cell| self.layout.find(c).and_then(|s| self.machine.values.get(s as usize)).copied();
        match self.sys.resolve(op) {
            Operand::Const(c) => Some(c),
            Operand::Pre { var } => at(Cell::pre(var)),
            Operand::Var { var, order, neg } => {
                let value = match self.sys.role(var) {
                    Role::Known => at(Cell::new(var, order)),
                    _ if order == 0 => known.values.get(&var).copied(),
                    _ => None,
                }?;
                Some(if neg { -value } else { value })
            }
        }
    }

    /// The value of a row and the size of what stands in it, if everything is known.
    fn known_row(&self, known: &Known, row: &Row, calls: &mut dyn Calls) -> Option<(f64, f64)> {
        let values: Option<Vec<f64>> = row.args.iter().map(|&a| self.known(known, a)).collect();
        let values = values?;
        let size = values.iter().map(|v| v.abs()).fold(0.0, f64::max);
        let value = saltus_expr::eval(&self.sys.dae.pool, row.template, &|k| values[k as usize], calls);
        Some((value, size)).filter(|v| v.0.is_finite())
    }

    /// Whether known values contradict `row = 0`.
    fn contradicts(&self, known: &Known, row: &Row, calls: &mut dyn Calls) -> bool {
        self.known_row(known, row, calls).is_some_and(|(r, size)| r.abs() > CLEAR * size.max(1e-300))
    }

    fn propagate(&mut self, clause: Clause, known: &mut Known, calls: &mut dyn Calls) {
        let eq = match clause {
            Clause::Equation(k) => &self.sys.equations[k],
            Clause::Initial(k) => &self.sys.initial[k],
            Clause::Discrete(_) => return,
        };
        let mut open: Vec<VarId> = Vec::new();
        for &a in &eq.row.args {
            if self.known(known, a).is_none()
                && let Some(v) = self.sys.resolve(a).variable()
                && !open.contains(&v)
            {
                open.push(v);
            }
        }
        if open.len() > FEW {
            return;
        }
        let mut path = self.path(eq.guard);
        if path.iter().any(|(c, wanted)| known.values.get(c).is_some_and(|v| (*v != 0.0) != *wanted)) {
            return;
        }
        path.retain(|(c, _)| !known.values.contains_key(c));
        let is_condition =
            |me: &Model, v: VarId| me.sys.role(v) == Role::Discrete && me.sys.dae.vars[v].ty == VarType::Boolean;
        let row = eq.row.clone();
        let decided = |v: VarId| known.values.get(&v).map(|x| *x != 0.0);
        let boolean: Vec<VarId> =
            row.args.iter().filter_map(|a| a.variable()).filter(|&v| is_condition(self, v)).collect();
        let row =
            specialise(&mut self.sys, &mut self.ops, &row, |v| boolean.contains(&v).then(|| decided(v)).flatten());
        let conditions: Vec<VarId> = boolean.into_iter().filter(|&v| decided(v).is_none()).collect();
        match (&path[..], &conditions[..]) {
            ([], []) => self.solve_known(&row, known, calls),
            (&[(c, wanted)], []) if self.contradicts(known, &row, calls) => known.learn(c, f64::from(!wanted)),
            ([], conditions) => {
                for &c in conditions {
                    let wrong = [true, false].map(|b| {
                        let row = specialise(&mut self.sys, &mut self.ops, &row, |v| (v == c).then_some(b));
                        self.contradicts(known, &row, calls)
                    });
                    if wrong[0] != wrong[1] {
                        known.learn(c, f64::from(wrong[1]));
                    }
                }
            }
            _ => {}
        }
    }

    /// The one unknown of a row that is affine in it.
    fn solve_known(&mut self, row: &Row, known: &mut Known, calls: &mut dyn Calls) {
        let mut unknown: Option<VarId> = None;
        for &a in &row.args {
            if self.known(known, a).is_some() {
                continue;
            }
            match self.sys.resolve(a) {
                Operand::Var { var, order: 0, .. } if unknown.is_none_or(|u| u == var) => unknown = Some(var),
                _ => return,
            }
        }
        let Some(v) = unknown.filter(|&v| self.sys.role(v) == Role::Continuous) else { return };
        let mut at = |x: f64| {
            known.values.insert(v, x);
            let value = self.known_row(known, row, calls).map(|r| r.0);
            known.values.remove(&v);
            value
        };
        if let (Some(a), Some(b), Some(c), Some(d)) = (at(-1.0), at(0.0), at(1.0), at(2.0)) {
            let slope = c - b;
            let bend = (a + c - 2.0 * b).abs().max((d - b - 2.0 * slope).abs());
            if slope != 0.0 && bend <= 1e-9 * slope.abs() {
                known.learn(v, -b / slope);
            }
        }
    }

    /// The value of a definition or relation.
    fn evaluate(&mut self, k: usize, known: &mut Known, calls: &mut dyn Calls) {
        let d = &self.sys.discrete[k];
        if known.values.contains_key(&d.var) {
            return;
        }
        match &d.kind {
            DiscKind::Value(row) => {
                if let Some((value, _)) = self.known_row(known, row, calls) {
                    known.learn(d.var, value);
                }
            }
            DiscKind::Relation(i) => {
                let r = &self.sys.relations[*i];
                // At zero it may go either way, unless nothing but time and parameters decides.
                let outside =
                    |a: &Operand| self.sys.resolve(*a).variable().is_none_or(|v| self.sys.role(v) == Role::Known);
                let certain = r.g.args.iter().all(outside);
                if r.kind != RelationKind::Floor
                    && let Some((g, size)) = self.known_row(known, &r.g, calls)
                    && (certain || g.abs() > CLEAR * size.max(1e-300))
                {
                    known.learn(d.var, plain(&r.kind, g));
                }
            }
            DiscKind::When(..) => {}
        }
    }
}
