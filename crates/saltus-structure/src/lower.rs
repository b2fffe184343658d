//! `HybridDae` ⇒ [`System`].
//!
//! before: `der(x) = if x > 1 then -1 else 1`
//! after:  `der(x) = if $rel1 then -1 else 1`, relation `$rel1: x - 1 > 0`
//!
//! Relations over parameters and discrete variables stay plain: they change only when their operands do.

use crate::init::difference;
use crate::loops::Loop;
use crate::plan::Cell;
use crate::rows::{Operands, RowOps, has_events, tidy};
use crate::system::{
    DiscEq, DiscKind, Group, Reaction, Relation, RelationKind, Role, SharedCall, SysEq, System, WhenHead,
};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_base::{SecondaryMap, Span};
use saltus_dae::{Action, Guard, HybridDae, Operand, Origin, Row, VarId, VarType, Variability, Variable, row_text};
use saltus_expr::{Binary, ExprId, FuncId, Node, Pool, RelOp, Unary};
use saltus_function::{FExpr, Function, Local, LocalId, ScalarType};
use saltus_graph::{Bipartite, Matching, block_order};

/// Arguments times results of a call at events from which its results are read apart.
const MANY_DEPENDENCIES: usize = 10_000;

/// Lowers a flat model.
pub fn lower(mut dae: HybridDae) -> System {
    positive_conditions(&mut dae);
    let mut l = Lower::new(dae);
    l.groups();
    l.equations();
    l.calls();
    l.whens();
    l.rest();
    l.watched();
    l.finish()
}

/// `if not c then A else B` ⇒ `if c then B else A`: one condition, however it is asked for.
fn positive_conditions(dae: &mut HybridDae) {
    for i in 0..dae.ifs.len() {
        let id = saltus_dae::IfId::new(i);
        let [row] = &dae.ifs[id].conditions[..] else { continue };
        let Node::Unary(Unary::Not, inner) = *dae.pool.node(row.template) else { continue };
        let row = Row { template: inner, args: row.args.clone() };
        dae.ifs[id].conditions = vec![tidy(dae, &row)];
        let turn = |g: &mut Option<Guard>| {
            if let Some((group, branch)) = g
                && *group == id
            {
                *branch = 1 - *branch;
            }
        };
        dae.ifs.values_mut().for_each(|g| turn(&mut g.parent));
        dae.equations.values_mut().for_each(|e| turn(&mut e.guard));
        dae.calls.iter_mut().for_each(|c| turn(&mut c.guard));
        dae.whens.iter_mut().for_each(|w| turn(&mut w.guard));
        dae.assertions.iter_mut().for_each(|a| turn(&mut a.guard));
        dae.initial_equations.iter_mut().for_each(|e| turn(&mut e.guard));
        dae.initial_calls.iter_mut().for_each(|c| turn(&mut c.guard));
    }
}

struct Lower {
    sys: System,
    /// Relations already made, by kind, template and operands.
    known: FxHashMap<(u8, ExprId, Vec<(u32, i32, u64)>), VarId>,
    /// Whether unknown relations get a variable, or are evaluated where they stand.
    create: bool,
    derivatives: FxHashMap<(VarId, u8), VarId>,
    /// What hidden condition variables stand for.
    conditions: FxHashMap<VarId, Row>,
    /// Relations by their variables.
    relations: FxHashMap<VarId, usize>,
}

/// An operand as a key of maps.
pub(crate) fn operand_key(a: &Operand) -> (u32, i32, u64) {
    match *a {
        Operand::Var { var, order, neg } => (var.index() as u32, i32::from(order) * 2 + i32::from(neg), 0),
        Operand::Pre { var } => (var.index() as u32, -1, 0),
        Operand::Const(v) => (u32::MAX, 0, v.to_bits()),
    }
}

/// What makes two relations the same.
fn relation_key(kind: &RelationKind, g: &Row) -> (u8, ExprId, Vec<(u32, i32, u64)>) {
    let code = match kind {
        RelationKind::Floor => 0,
        RelationKind::Sign(RelOp::Lt) => 1,
        RelationKind::Sign(RelOp::Le) => 2,
        RelationKind::Sign(RelOp::Gt) => 3,
        RelationKind::Sign(RelOp::Ge) => 4,
    };
    (code, g.template, g.args.iter().map(operand_key).collect())
}

fn guard(g: Option<Guard>) -> Option<(usize, u32)> {
    g.map(|(id, b)| (id.index(), b))
}

impl Lower {
    fn new(mut dae: HybridDae) -> Lower {
        let n = dae.vars.len();
        let continuous = dae
            .vars
            .iter()
            .filter(|(id, v)| !HybridDae::is_builtin(*id) && v.variability == Variability::Continuous)
            .count();
        let original = (continuous, dae.equations.len() + dae.calls.iter().map(|c| c.outputs.len()).sum::<usize>());
        let external: FxHashSet<VarId> = dae.samplers.iter().map(|s| s.var).collect();
        // Text changes at events only.
        for v in dae.vars.values_mut() {
            if v.variability == Variability::Continuous && matches!(v.ty, VarType::String) {
                v.variability = Variability::Discrete;
            }
        }
        let sys = System {
            dae,
            equations: Vec::new(),
            discrete: Vec::new(),
            relations: Vec::new(),
            whens: Vec::new(),
            reactions: Vec::new(),
            groups: Vec::new(),
            initial: Vec::new(),
            alias: SecondaryMap::filled(n, None),
            assertions: Vec::new(),
            external,
            settled: FxHashMap::default(),
            emptied: Vec::new(),
            vacuous: Vec::new(),
            original,
            shared: Vec::new(),
        };
        Lower {
            sys,
            known: FxHashMap::default(),
            create: true,
            derivatives: FxHashMap::default(),
            conditions: FxHashMap::default(),
            relations: FxHashMap::default(),
        }
    }

    fn hidden(
        &mut self,
        prefix: &str,
        ty: VarType,
        variability: Variability,
        description: String,
        origin: &Origin,
    ) -> VarId {
        let mut v = Variable::new(format!("{prefix}{}", self.sys.dae.vars.len()), ty, variability);
        v.hidden = true;
        v.description = description.into();
        v.origin = origin.clone();
        self.sys.dae.vars.push(v)
    }

    /// Replaces event-generating nodes by relation variables.
    fn events(&mut self, row: &Row, origin: &Origin) -> Row {
        if !has_events(&self.sys.dae.pool, row.template) {
            return row.clone();
        }
        let mut args: Vec<Operand> = row.args.to_vec();
        let mut pool = std::mem::take(&mut self.sys.dae.pool);
        let template = self.expr(&mut pool, row.template, &mut args, origin);
        self.sys.dae.pool = pool;
        tidy(&mut self.sys.dae, &Row { template, args: args.into() })
    }

    fn expr(&mut self, pool: &mut Pool, e: ExprId, args: &mut Vec<Operand>, origin: &Origin) -> ExprId {
        pool.rewrite(e, &mut |pool, x| {
            let (kind, a, b) = match *pool.node(x) {
                // Which relations make events is known when all rows have been seen.
                Node::Unary(Unary::Event, _) if self.create => return Some(x),
                Node::Unary(Unary::Event, a) => return Some(self.expr(pool, a, args, origin)),
                Node::Relation(op, a, b) => (RelationKind::Sign(op), a, Some(b)),
                Node::EventFloor(a) => (RelationKind::Floor, a, None),
                _ => return None,
            };
            let a = self.expr(pool, a, args, origin);
            let b = b.map(|b| self.expr(pool, b, args, origin));
            let g = match b {
                Some(b) => pool.sub(a, b),
                None => a,
            };
            let continuous = pool.holes(g).into_iter().any(|k| self.varies(args[k as usize]));
            if !continuous {
                return Some(match kind {
                    RelationKind::Sign(op) => pool.bin(op.plain(), a, b.unwrap_or(a)),
                    RelationKind::Floor => pool.un(saltus_expr::Unary::Floor, a),
                });
            }
            std::mem::swap(pool, &mut self.sys.dae.pool);
            let row = tidy(&mut self.sys.dae, &Row { template: g, args: args.clone().into() });
            let row = self.no_derivatives(&row, origin);
            let row = self.conditions(&row, origin);
            // Where `x >= 2` makes events, `x < 2` is its opposite.
            let opposite = if self.create { None } else { self.opposite(&kind, &row) };
            let var = self.relation(kind.clone(), row, origin).or(opposite);
            std::mem::swap(pool, &mut self.sys.dae.pool);
            let Some(var) = var else {
                return Some(match kind {
                    RelationKind::Sign(op) => pool.bin(op.plain(), a, b.unwrap_or(a)),
                    RelationKind::Floor => pool.un(saltus_expr::Unary::Floor, a),
                });
            };
            let op = Operand::var(var);
            let k = args.iter().position(|&o| o == op).unwrap_or_else(|| {
                args.push(op);
                args.len() - 1
            });
            let value = pool.hole(k as u32);
            Some(if opposite == Some(var) { pool.not(value) } else { value })
        })
    }

    /// The relation that holds where this one does not, if it is known.
    fn opposite(&self, kind: &RelationKind, g: &Row) -> Option<VarId> {
        let RelationKind::Sign(op) = kind else { return None };
        let op = match op {
            RelOp::Lt => RelOp::Ge,
            RelOp::Le => RelOp::Gt,
            RelOp::Gt => RelOp::Le,
            RelOp::Ge => RelOp::Lt,
        };
        self.known.get(&relation_key(&RelationKind::Sign(op), g)).copied()
    }

    fn varies(&self, op: Operand) -> bool {
        match op {
            Operand::Var { var, .. } => self.sys.dae.vars[var].variability == Variability::Continuous,
            _ => false,
        }
    }

    fn relation(&mut self, kind: RelationKind, g: Row, origin: &Origin) -> Option<VarId> {
        let key = relation_key(&kind, &g);
        if let Some(&v) = self.known.get(&key) {
            return Some(v);
        }
        if !self.create {
            return None;
        }
        let (ty, mut text) = match kind {
            RelationKind::Floor => (VarType::Integer, format!("floor({})", row_text(&self.sys.dae, &g))),
            RelationKind::Sign(op) => (VarType::Boolean, relation_text(&self.sys.dae, op, &g)),
        };
        // What an algorithm section was asked for is shown as it stands there, a derivative as such.
        let shown = |v: &&saltus_dae::Variable| {
            let named = ["$asked", "$complementarity", "$cond", "$der", "$part"].iter().any(|p| v.name.starts_with(p));
            named && v.hidden && !v.description.is_empty()
        };
        let mut read: Vec<_> =
            g.args.iter().filter_map(|a| a.variable()).map(|v| &self.sys.dae.vars[v]).filter(shown).collect();
        read.sort_by_key(|v| std::cmp::Reverse(v.name.len()));
        for v in read {
            text = text.replace(&v.name, &v.description);
        }
        let var = self.hidden("$rel", ty, Variability::Discrete, text.clone(), origin);
        let at = self.sys.relations.len();
        self.sys.relations.push(Relation { var, kind, g, text, origin: origin.clone() });
        self.sys.discrete.push(DiscEq { var, kind: DiscKind::Relation(at), guard: None, origin: origin.clone() });
        self.known.insert(key, var);
        self.relations.insert(var, at);
        Some(var)
    }

    /// Outside equations a derivative is read through a variable of its own, so that the plan provides it.
    fn no_derivatives(&mut self, row: &Row, origin: &Origin) -> Row {
        let args = row
            .args
            .iter()
            .map(|&a| match a {
                Operand::Var { var, order, neg } if order > 0 => {
                    Operand::Var { var: self.derivative(var, order, origin), order: 0, neg }
                }
                other => other,
            })
            .collect();
        Row { template: row.template, args }
    }

    fn derivative(&mut self, var: VarId, order: u8, origin: &Origin) -> VarId {
        if let Some(&v) = self.derivatives.get(&(var, order)) {
            return v;
        }
        let name = format!("der({})", self.sys.dae.vars[var].name);
        let v = self.hidden("$der", VarType::Real, Variability::Continuous, name, origin);
        let pool = &mut self.sys.dae.pool;
        let (a, b) = (pool.hole(0), pool.hole(1));
        let template = pool.sub(a, b);
        let args = Box::new([Operand::var(v), Operand::Var { var, order, neg: false }]);
        self.sys.equations.push(SysEq {
            row: Row { template, args },
            guard: None,
            origin: origin.clone(),
            merged: None,
        });
        self.derivatives.insert((var, order), v);
        v
    }

    /// For rows read at events: relations become variables, derivatives too.
    fn value(&mut self, row: &Row, origin: &Origin) -> Row {
        let row = self.events(row, origin);
        self.no_derivatives(&row, origin)
    }

    /// For rows read only while an event is handled: relations that are watched anyway are read, others are evaluated
    /// where they stand.
    fn plain(&mut self, row: &Row, origin: &Origin) -> Row {
        self.create = false;
        let row = self.events(row, origin);
        self.create = true;
        self.no_derivatives(&row, origin)
    }

    /// A Boolean variable holding the row's value.
    fn condition(&mut self, row: &Row, origin: &Origin) -> VarId {
        let row = self.value(row, origin);
        if let (Node::Hole(0), [Operand::Var { var, order: 0, neg: false }]) =
            (self.sys.dae.pool.node(row.template), &*row.args)
        {
            return *var;
        }
        let text = self.readable(&row);
        let var = self.hidden("$cond", VarType::Boolean, Variability::Discrete, text, origin);
        self.conditions.insert(var, row.clone());
        self.sys.discrete.push(DiscEq { var, kind: DiscKind::Value(row), guard: None, origin: origin.clone() });
        var
    }

    /// A condition that holds wherever its branch is not the chosen one.
    fn unless_outside(&mut self, row: Row, mut guard: Option<(usize, u32)>) -> Row {
        let (mut holds, mut args) = (row.template, row.args.to_vec());
        while let Some((group, branch)) = guard {
            let g = &self.sys.groups[group];
            for (k, &c) in g.conditions.iter().enumerate().take(branch as usize + 1) {
                // A condition without events changes between them: then its variable does not tell.
                let (template, operands) = match self.conditions.get(&c) {
                    Some(row) => (row.template, row.args.to_vec()),
                    None => (self.sys.dae.pool.hole(0), vec![Operand::var(c)]),
                };
                let pool = &mut self.sys.dae.pool;
                let base = args.len() as u32;
                let given = pool.substitute(template, |pool, k| pool.hole(base + k));
                let outside = if k == branch as usize { pool.not(given) } else { given };
                holds = pool.bin(Binary::Or, outside, holds);
                args.extend(operands);
            }
            guard = g.parent;
        }
        Row { template: holds, args: args.into() }
    }

    /// A row's text with relation variables shown as what they stand for.
    fn readable(&self, row: &Row) -> String {
        let text = row_text(&self.sys.dae, row);
        self.sys.relations.iter().filter(|r| row.args.contains(&Operand::var(r.var))).fold(text, |t, r| {
            let v = &self.sys.dae.vars[r.var];
            t.replace(&v.name, &v.description)
        })
    }

    fn groups(&mut self) {
        let ifs: Vec<_> = self.sys.dae.ifs.as_slice().to_vec();
        for g in ifs {
            let conditions = g.conditions.iter().map(|c| self.condition(c, &g.origin)).collect();
            self.sys.groups.push(Group { conditions, parent: guard(g.parent), structural: false, origin: g.origin });
        }
    }

    fn equations(&mut self) {
        let equations = std::mem::take(&mut self.sys.dae.equations);
        for eq in equations.as_slice() {
            self.equation(&eq.row, guard(eq.guard), &eq.origin);
        }
    }

    fn equation(&mut self, row: &Row, guard: Option<(usize, u32)>, origin: &Origin) {
        // hole0 - value, hole0 discrete: a definition.
        if let Some((var, value)) = self.definition(row) {
            let value = self.value(&value, origin);
            // A condition of several relations is shown as it was written.
            let formula = matches!(self.sys.dae.pool.node(value.template), Node::Binary(Binary::And | Binary::Or, ..));
            let hidden = &self.sys.dae.vars[var];
            if formula && hidden.hidden && hidden.description.is_empty() {
                self.sys.dae.vars[var].description = self.readable(&value).into();
            }
            self.sys.discrete.push(DiscEq { var, kind: DiscKind::Value(value), guard, origin: origin.clone() });
            return;
        }
        let row = self.events(row, origin);
        let row = self.conditions(&row, origin);
        self.sys.equations.push(SysEq { row, guard, origin: origin.clone(), merged: None });
    }

    /// Compound conditions over discrete variables become variables: a mode is then a set of bits, and a relation whose
    /// crossing leaves the condition as it is touches nothing that moves. So does an integer part that several relations
    /// make up.
    fn conditions(&mut self, row: &Row, origin: &Origin) -> Row {
        let mut args: Vec<Operand> = row.args.to_vec();
        let mut pool = std::mem::take(&mut self.sys.dae.pool);
        let template = pool.rewrite(row.template, &mut |pool, x| {
            if self.is_compound(pool, x, &args) {
                return Some(self.apart(pool, x, &mut args, origin));
            }
            let Node::If(c, a, b) = *pool.node(x) else { return None };
            if matches!(pool.node(c), Node::Hole(_) | Node::Const(_)) || !self.is_discrete(pool, c, &args) {
                return None;
            }
            let c = self.apart(pool, c, &mut args, origin);
            std::mem::swap(pool, &mut self.sys.dae.pool);
            // Rebuild with the new condition; inner conditionals are visited through the rewritten node's children.
            let outer = Row { template: a, args: args.clone().into() };
            let a = self.conditions_in(&outer, &mut args, origin);
            let outer = Row { template: b, args: args.clone().into() };
            let b = self.conditions_in(&outer, &mut args, origin);
            std::mem::swap(pool, &mut self.sys.dae.pool);
            Some(pool.select(c, a, b))
        });
        self.sys.dae.pool = pool;
        tidy(&mut self.sys.dae, &Row { template, args: args.into() })
    }

    /// Whether an expression reads nothing that moves between events, and something that events change.
    fn is_discrete(&self, pool: &Pool, e: ExprId, args: &[Operand]) -> bool {
        let variability = |k: u32| args[k as usize].variable().map(|v| self.sys.dae.vars[v].variability);
        let holes = pool.holes(e);
        let moves = |k: &u32| {
            matches!(args[*k as usize], Operand::Var { .. }) && variability(*k) == Some(Variability::Continuous)
        };
        !holes.iter().any(moves) && holes.iter().any(|&k| variability(k) == Some(Variability::Discrete))
    }

    /// Whether an expression is a formula of several relations.
    fn is_compound(&self, pool: &Pool, e: ExprId, args: &[Operand]) -> bool {
        let logical = match *pool.node(e) {
            Node::Binary(Binary::And | Binary::Or, ..) => true,
            Node::If(..) => false,
            _ => return false,
        };
        let of = |k: &u32| self.relation_of(args[*k as usize]);
        let relations: Vec<usize> = pool.holes(e).iter().filter_map(of).collect();
        let whole = relations.iter().any(|&i| self.sys.relations[i].kind == RelationKind::Floor);
        (logical || whole) && relations.len() > 1 && self.is_discrete(pool, e, args)
    }

    fn relation_of(&self, a: Operand) -> Option<usize> {
        a.variable().and_then(|v| self.relations.get(&v).copied())
    }

    /// A variable of its own for an expression over discrete values.
    fn apart(&mut self, pool: &mut Pool, e: ExprId, args: &mut Vec<Operand>, origin: &Origin) -> ExprId {
        let whole = pool.holes(e).iter().any(|&k| {
            self.relation_of(args[k as usize]).is_some_and(|i| self.sys.relations[i].kind == RelationKind::Floor)
        }) && matches!(pool.node(e), Node::If(..));
        std::mem::swap(pool, &mut self.sys.dae.pool);
        let row = tidy(&mut self.sys.dae, &Row { template: e, args: args.clone().into() });
        let key = (9, row.template, row.args.iter().map(operand_key).collect::<Vec<_>>());
        let var = match self.known.get(&key) {
            Some(&v) => v,
            None => {
                let v = if whole { self.integer_part(&row, origin) } else { self.condition(&row, origin) };
                self.known.insert(key, v);
                v
            }
        };
        std::mem::swap(pool, &mut self.sys.dae.pool);
        let op = Operand::var(var);
        let k = args.iter().position(|&o| o == op).unwrap_or_else(|| {
            args.push(op);
            args.len() - 1
        });
        pool.hole(k as u32)
    }

    /// An Integer variable holding the row's value.
    fn integer_part(&mut self, row: &Row, origin: &Origin) -> VarId {
        let text = self.readable(row);
        let var = self.hidden("$part", VarType::Integer, Variability::Discrete, text, origin);
        let kind = DiscKind::Value(row.clone());
        self.sys.discrete.push(DiscEq { var, kind, guard: None, origin: origin.clone() });
        var
    }

    /// [`Lower::conditions`] inside a branch, keeping the operand numbering of the whole row.
    fn conditions_in(&mut self, row: &Row, args: &mut Vec<Operand>, origin: &Origin) -> ExprId {
        let lowered = self.conditions(row, origin);
        let map: Vec<u32> = lowered
            .args
            .iter()
            .map(|&a| {
                args.iter().position(|&o| o == a).unwrap_or_else(|| {
                    args.push(a);
                    args.len() - 1
                }) as u32
            })
            .collect();
        self.sys.dae.pool.substitute(lowered.template, |pool, k| pool.hole(map[k as usize]))
    }

    fn definition(&mut self, row: &Row) -> Option<(VarId, Row)> {
        let Node::Binary(Binary::Sub, a, b) = *self.sys.dae.pool.node(row.template) else {
            return match (self.sys.dae.pool.node(row.template), &*row.args) {
                // b = false is the bare variable.
                (Node::Hole(0), [Operand::Var { var, order: 0, neg: false }])
                    if self.sys.role(*var) == Role::Discrete =>
                {
                    let zero = self.sys.dae.constant_row(0.0);
                    Some((*var, zero))
                }
                _ => None,
            };
        };
        let continuous =
            row.args.iter().any(|&o| matches!(o, Operand::Var { var, .. } if self.sys.role(var) == Role::Continuous));
        for (side, other) in [(a, b), (b, a)] {
            let Node::Hole(k) = *self.sys.dae.pool.node(side) else { continue };
            let Operand::Var { var, order: 0, neg: false } = row.args[k as usize] else { continue };
            // What an algorithm section holds in between is discrete where the front end says so, whatever else it reads.
            let asked = self.sys.dae.vars[var].hidden && matches!(self.sys.dae.pool.node(other), Node::Call { .. });
            let doubtful = continuous && !asked;
            if self.sys.role(var) != Role::Discrete || (self.sys.dae.vars[var].ty == VarType::Real && doubtful) {
                continue;
            }
            // `b = not b` is a definition too: event iteration finds that it alternates.
            let itself = self.sys.dae.pool.has_hole(other, k) && self.sys.dae.vars[var].ty == VarType::Real;
            if itself || (doubtful && self.real_valued(other, &row.args)) {
                continue;
            }
            let value = tidy(&mut self.sys.dae, &Row { template: other, args: row.args.clone() });
            return Some((var, value));
        }
        None
    }

    /// Whether the value of an expression varies continuously (so that it cannot define a discrete variable).
    fn real_valued(&self, e: ExprId, args: &[Operand]) -> bool {
        match self.sys.dae.pool.node(e) {
            Node::Hole(k) => {
                matches!(args[*k as usize], Operand::Var { var, .. } if self.sys.role(var) == Role::Continuous)
            }
            Node::Binary(
                Binary::Add
                | Binary::Sub
                | Binary::Mul
                | Binary::Div
                | Binary::Pow
                | Binary::Min
                | Binary::Max
                | Binary::Atan2,
                a,
                b,
            ) => self.real_valued(*a, args) || self.real_valued(*b, args),
            Node::If(_, a, b) => self.real_valued(*a, args) || self.real_valued(*b, args),
            Node::Unary(op, a) => {
                use saltus_expr::Unary;
                !matches!(op, Unary::Not | Unary::Sign | Unary::Floor | Unary::Ceil | Unary::Trunc | Unary::Event)
                    && self.real_valued(*a, args)
            }
            _ => false,
        }
    }

    fn calls(&mut self) {
        let calls = std::mem::take(&mut self.sys.dae.calls);
        for c in &calls {
            let args = self.call_arguments(&c.args);
            let discrete = c.outputs.iter().filter(|&&v| self.sys.role(v) == Role::Discrete).count();
            let shared = if c.guard.is_none() { self.shared_call(c.func, &args, discrete, &c.origin) } else { None };
            if let Some((ticket, _, call)) = &shared {
                let row = self.value(call, &c.origin);
                let kind = DiscKind::Value(row);
                self.sys.discrete.push(DiscEq { var: *ticket, kind, guard: None, origin: c.origin.clone() });
            }
            for (k, &out) in c.outputs.iter().enumerate() {
                if self.sys.role(out) == Role::Discrete {
                    let row = match &shared {
                        Some((ticket, result, _)) => self.result_row(*ticket, *result, k),
                        None => {
                            let row = self.call_row(None, c.func, &args, k);
                            self.value(&row, &c.origin)
                        }
                    };
                    self.sys.discrete.push(DiscEq {
                        var: out,
                        kind: DiscKind::Value(row),
                        guard: guard(c.guard),
                        origin: c.origin.clone(),
                    });
                    continue;
                }
                let row = self.call_row(Some(out), c.func, &args, k);
                self.equation(&row, guard(c.guard), &c.origin);
            }
        }
    }

    /// A call's arguments over one list of operands, shared by its outputs. The first hole is left free.
    fn call_arguments(&mut self, args: &[Row]) -> (Box<[ExprId]>, Vec<Operand>) {
        let mut operands = Operands::default();
        let pool = &mut self.sys.dae.pool;
        let exprs = args
            .iter()
            .map(|r| {
                let base: Vec<u32> = r.args.iter().map(|&a| operands.at(a) + 1).collect();
                pool.substitute(r.template, |pool, k| pool.hole(base[k as usize]))
            })
            .collect();
        (exprs, operands.list())
    }

    /// A call at events whose arguments times results are many: its ticket, the function that reads a result, and the
    /// row that evaluates the call.
    fn shared_call(
        &mut self,
        func: FuncId,
        args: &(Box<[ExprId]>, Vec<Operand>),
        results: usize,
        origin: &Origin,
    ) -> Option<(VarId, FuncId, Row)> {
        if args.0.len() * results < MANY_DEPENDENCIES {
            return None;
        }
        let name = self.sys.dae.functions[func.0 as usize].name.clone();
        let ticket = self.hidden("$call", VarType::Real, Variability::Discrete, format!("{name}(…)"), origin);
        let call = self.opaque(name.clone(), args.0.len(), origin);
        let result = self.opaque(format!("result of {name}"), 2, origin);
        self.sys.shared.push(SharedCall { func, call, result });
        let row = self.call_row(None, call, args, 0);
        Some((ticket, result, row))
    }

    /// A function that the run evaluates by other means than its body.
    fn opaque(&mut self, name: String, inputs: usize, origin: &Origin) -> FuncId {
        let local = |binding| Local { name: String::new(), ty: ScalarType::Real, dims: Vec::new(), binding };
        let id = FuncId(self.sys.dae.functions.len() as u32);
        self.sys.dae.functions.push(Function {
            name,
            locals: (0..inputs).map(|_| local(None)).chain([local(Some(FExpr::Num(0.0)))]).collect(),
            inputs: (0..inputs as u32).map(LocalId).collect(),
            outputs: vec![LocalId(inputs as u32)],
            body: Vec::new(),
            external: None,
            derivative: None,
            impure: true,
            span: origin.span.unwrap_or(Span::NONE),
        });
        id
    }

    /// The k-th result of a shared call.
    fn result_row(&mut self, ticket: VarId, result: FuncId, k: usize) -> Row {
        let pool = &mut self.sys.dae.pool;
        let holes = Box::new([pool.hole(0), pool.hole(1)]);
        let template = pool.call(result, holes, 0);
        Row { template, args: Box::new([Operand::var(ticket), Operand::Const(k as f64)]) }
    }

    /// `out - f(args).k`, or the bare value.
    fn call_row(
        &mut self,
        out: Option<VarId>,
        func: FuncId,
        (exprs, operands): &(Box<[ExprId]>, Vec<Operand>),
        k: usize,
    ) -> Row {
        let pool = &mut self.sys.dae.pool;
        let call = pool.call(func, exprs.clone(), k as u32);
        let first = out.map_or(Operand::Const(0.0), Operand::var);
        let template = if out.is_some() {
            let h = pool.hole(0);
            pool.intern(Node::Binary(Binary::Sub, h, call))
        } else {
            call
        };
        let row = Row { template, args: std::iter::once(first).chain(operands.iter().copied()).collect() };
        if out.is_some() { row } else { tidy(&mut self.sys.dae, &row) }
    }

    fn whens(&mut self) {
        let whens = std::mem::take(&mut self.sys.dae.whens);
        for w in &whens {
            let head = self.sys.whens.len();
            self.sys.whens.push(WhenHead {
                branches: w.branches.iter().map(|b| (b.conditions.clone(), b.initial)).collect(),
                guard: guard(w.guard),
            });
            let n = w.branches.len();
            let mut order: Vec<VarId> = Vec::new();
            let mut values: FxHashMap<VarId, Vec<Option<Row>>> = FxHashMap::default();
            let mut assign = |var: VarId, branch: usize, value: Row| {
                values.entry(var).or_insert_with(|| {
                    order.push(var);
                    vec![None; n]
                })[branch] = Some(value);
            };
            let first_initial = w.branches.iter().position(|b| b.initial);
            for (bi, b) in w.branches.iter().enumerate() {
                for a in &b.actions {
                    match a {
                        Action::Assign { var, value } => {
                            let value = self.plain(value, &w.origin);
                            assign(*var, bi, value);
                        }
                        Action::Call { func, args, outputs } => {
                            let args = self.call_arguments(args);
                            let results = outputs.iter().flatten().count();
                            if results == 0 {
                                // For its effects alone: the whole call is the one row.
                                let row = self.call_row(None, *func, &args, 0);
                                let args = vec![self.plain(&row, &w.origin)];
                                let action = Action::Call { func: *func, args, outputs: Vec::new() };
                                let origin = w.origin.clone();
                                self.sys.reactions.push(Reaction { when: head, branch: bi, action, origin });
                                continue;
                            }
                            let shared = self.shared_call(*func, &args, results, &w.origin);
                            if let Some((ticket, _, call)) = &shared {
                                let row = self.plain(call, &w.origin);
                                assign(*ticket, bi, row);
                            }
                            for (k, out) in outputs.iter().enumerate() {
                                let Some(out) = out else { continue };
                                let row = match &shared {
                                    Some((ticket, result, _)) => self.result_row(*ticket, *result, k),
                                    None => {
                                        let row = self.call_row(None, *func, &args, k);
                                        self.plain(&row, &w.origin)
                                    }
                                };
                                assign(*out, bi, row);
                            }
                        }
                        Action::Reinit { var, value, condition } => {
                            let value = self.plain(value, &w.origin);
                            let condition = condition.as_ref().map(|c| self.plain(c, &w.origin));
                            // At the start it is an initial equation.
                            if first_initial == Some(bi) && condition.is_none() {
                                let row = difference(&mut self.sys.dae.pool, Operand::var(*var), &value);
                                let origin = w.origin.clone();
                                self.sys.initial.push(SysEq { row, guard: guard(w.guard), origin, merged: None });
                            }
                            let action = Action::Reinit { var: *var, value, condition };
                            self.sys.reactions.push(Reaction {
                                when: head,
                                branch: bi,
                                action,
                                origin: w.origin.clone(),
                            });
                        }
                        Action::Assert { condition, message, error } => {
                            let condition = self.plain(condition, &w.origin);
                            let action = Action::Assert { condition, message: message.clone(), error: *error };
                            self.sys.reactions.push(Reaction {
                                when: head,
                                branch: bi,
                                action,
                                origin: w.origin.clone(),
                            });
                        }
                        Action::Terminate { message, condition } => {
                            let condition = condition.as_ref().map(|c| self.plain(c, &w.origin));
                            let action = Action::Terminate { message: message.clone(), condition };
                            self.sys.reactions.push(Reaction {
                                when: head,
                                branch: bi,
                                action,
                                origin: w.origin.clone(),
                            });
                        }
                    }
                }
            }
            for branch in 0..n {
                self.solve_together(&order, &mut values, branch);
            }
            for var in order {
                // A Real assigned at events only is discrete, whatever its declaration says.
                self.sys.dae.vars[var].variability = Variability::Discrete;
                let kind = DiscKind::When(head, values.remove(&var).unwrap_or_default());
                self.sys.discrete.push(DiscEq { var, kind, guard: guard(w.guard), origin: w.origin.clone() });
            }
        }
    }

    /// Linear loops among the Reals that one branch of a when-equation determines, as assignments.
    ///
    /// before: `a = time - b; b = a - pre(a)`
    /// after:  `a := (time + pre(a))/2; b := a - pre(a)`
    fn solve_together(&mut self, order: &[VarId], values: &mut FxHashMap<VarId, Vec<Option<Row>>>, branch: usize) {
        let real = |v: &VarId| self.sys.dae.vars[*v].ty == VarType::Real && values[v][branch].is_some();
        let vars: Vec<VarId> = order.iter().copied().filter(real).collect();
        let column: FxHashMap<Cell, u32> = vars.iter().enumerate().map(|(j, &v)| (Cell::new(v, 0), j as u32)).collect();
        let reads = |v: &VarId| -> Vec<u32> {
            let args = values[v][branch].iter().flat_map(|r| r.args.iter().filter_map(|&a| Cell::of(a)));
            args.chain([Cell::new(*v, 0)]).filter_map(|c| column.get(&c).copied()).collect()
        };
        let rows: Vec<Vec<u32>> = vars.iter().map(reads).collect();
        let own: Vec<u32> = (0..vars.len() as u32).collect();
        let loops = block_order(&Bipartite::from_rows(vars.len(), &rows), &Matching::from_row_to_col(vars.len(), &own));
        for members in loops.into_iter().filter(|l| l.len() > 1) {
            let unknowns: Vec<Cell> = members.iter().map(|&i| Cell::new(vars[i as usize], 0)).collect();
            let residual = |c: &Cell| {
                let value = values[&c.var][branch].clone()?;
                let row = difference(&mut self.sys.dae.pool, c.operand(), &value);
                Some(tidy(&mut self.sys.dae, &row))
            };
            let rows: Vec<Row> = unknowns.iter().filter_map(residual).collect();
            let mut ops = RowOps::default();
            let torn = Loop::new(&mut self.sys, &mut ops, &rows, &unknowns);
            for (cell, row) in torn.explicit(&mut self.sys, &mut ops, &rows, &unknowns).unwrap_or_default() {
                values.get_mut(&cell.var).into_iter().for_each(|v| v[branch] = Some(row.clone()));
            }
        }
    }

    fn rest(&mut self) {
        let initial = std::mem::take(&mut self.sys.dae.initial_equations);
        for eq in &initial {
            let template = plain(&mut self.sys.dae.pool, eq.row.template);
            let row = self.no_derivatives(&Row { template, args: eq.row.args.clone() }, &eq.origin);
            self.sys.initial.push(SysEq { row, guard: guard(eq.guard), origin: eq.origin.clone(), merged: None });
        }
        let calls = std::mem::take(&mut self.sys.dae.initial_calls);
        for c in &calls {
            let args = self.call_arguments(&c.args);
            for (k, &out) in c.outputs.iter().enumerate() {
                let row = self.call_row(Some(out), c.func, &args, k);
                self.sys.initial.push(SysEq { row, guard: guard(c.guard), origin: c.origin.clone(), merged: None });
            }
        }
        let assertions = std::mem::take(&mut self.sys.dae.assertions);
        for (i, a) in assertions.iter().enumerate() {
            let row = self.plain(&a.condition, &a.origin);
            let row = self.unless_outside(row, guard(a.guard));
            self.sys.assertions.push((row, i));
        }
        self.sys.dae.assertions = assertions;
        let mut delays = std::mem::take(&mut self.sys.dae.delays);
        for d in &mut delays {
            let origin = d.origin.clone();
            d.rows_mut().for_each(|r| *r = self.value(r, &origin));
        }
        self.sys.dae.delays = delays;
        let mut distributions = std::mem::take(&mut self.sys.dae.distributions);
        for d in &mut distributions {
            d.inputs.iter_mut().for_each(|r| *r = self.value(r, &d.origin));
        }
        self.sys.dae.distributions = distributions;
    }

    /// What is read at events only, in rows that are read otherwise too.
    fn watched(&mut self) {
        let marked = |me: &Self, row: &Row| {
            let mut found = false;
            me.sys.dae.pool.visit(row.template, |_, n| found |= matches!(n, Node::Unary(Unary::Event, _)));
            found
        };
        for i in 0..self.sys.discrete.len() {
            let d = &self.sys.discrete[i];
            let DiscKind::Value(row) = &d.kind else { continue };
            if marked(self, row) {
                let (row, origin) = (row.clone(), d.origin.clone());
                self.sys.discrete[i].kind = DiscKind::Value(self.plain(&row, &origin));
            }
        }
        for i in 0..self.sys.equations.len() {
            if marked(self, &self.sys.equations[i].row) {
                let (row, origin) = (self.sys.equations[i].row.clone(), self.sys.equations[i].origin.clone());
                self.sys.equations[i].row = self.plain(&row, &origin);
            }
        }
    }

    fn finish(mut self) -> System {
        self.sys.alias = SecondaryMap::filled(self.sys.dae.vars.len(), None);
        self.sys
    }
}

/// Event-generating nodes as their plain counterparts.
fn plain(pool: &mut Pool, e: ExprId) -> ExprId {
    pool.rewrite(e, &mut |pool, x| match *pool.node(x) {
        Node::Relation(op, a, b) => {
            let a = plain(pool, a);
            let b = plain(pool, b);
            Some(pool.bin(op.plain(), a, b))
        }
        Node::EventFloor(a) => {
            let a = plain(pool, a);
            Some(pool.un(saltus_expr::Unary::Floor, a))
        }
        _ => None,
    })
}

/// A relation as the model has it: what was put in for a part of it is shown as that part.
fn relation_text(dae: &HybridDae, op: RelOp, g: &Row) -> String {
    let mut text = bare_relation_text(dae, op, g);
    let mut put_in: Vec<&Variable> = g.args.iter().filter_map(|a| a.variable()).map(|v| &dae.vars[v]).collect();
    put_in.retain(|v| v.hidden && v.name.starts_with('$') && !v.description.is_empty());
    put_in.sort_by_key(|v| std::cmp::Reverse(v.name.len()));
    for v in put_in {
        text = text.replace(v.name.as_str(), &v.description);
    }
    text
}

/// `a op b` for a row `a - b`.
fn bare_relation_text(dae: &HybridDae, op: RelOp, g: &Row) -> String {
    let op = match op {
        RelOp::Lt => "<",
        RelOp::Le => "<=",
        RelOp::Gt => ">",
        RelOp::Ge => ">=",
    };
    if let Node::Binary(Binary::Sub, a, b) = *dae.pool.node(g.template) {
        let side = |e| row_text(dae, &Row { template: e, args: g.args.clone() });
        return format!("{} {op} {}", side(a), side(b));
    }
    format!("{} {op} 0", row_text(dae, g))
}
