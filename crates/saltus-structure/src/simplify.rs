//! Alias and constant elimination, sign-aware.
//!
//! before: `p.v - q.v = 0; p.i + n.i = 0; g.v = 0`
//! after:  one variable each; the others are read through [`Alias`].
//!
//! Which name survives: known variables first, then by `stateSelect`, differentiated ones, `fixed`, marked by the
//! user, given start value.
//! The survivor inherits a fixed start (sign adjusted), else any start, the widest `stateSelect`, and a nominal.

use crate::rows::{RowOps, join_signs, tidy};
use crate::system::{Alias, DiscKind, Role, SysEq, System};
use rustc_hash::FxHashSet;
use saltus_dae::{HybridDae, Operand, Row, VarId, VarType};
use saltus_expr::{Binary, Coefficient, Node, Unary};

/// How far simplification may go.
#[derive(Clone, Copy, Debug)]
pub struct SimplifyOptions {
    /// `--keep-all-variables`.
    pub keep_all: bool,
    /// `--max-eliminations`.
    pub max: usize,
}

impl Default for SimplifyOptions {
    fn default() -> Self {
        SimplifyOptions { keep_all: false, max: usize::MAX }
    }
}

/// What an equation says, if it is trivial.
#[derive(Clone, Copy)]
enum Trivial {
    /// a = b, or a = -b.
    Same(VarId, VarId, bool),
    /// a = c.
    Constant(VarId, f64),
    /// 0 = 0.
    Nothing,
}

/// Eliminates trivial equations.
pub fn simplify(sys: &mut System, ops: &mut RowOps, options: SimplifyOptions) {
    if options.keep_all {
        return;
    }
    ops.combines = true;
    let mut differentiated = vec![false; sys.dae.vars.len()];
    for eq in &sys.equations {
        for a in &eq.row.args {
            if let Operand::Var { var, order, .. } = a
                && *order > 0
            {
                differentiated[var.index()] = true;
            }
        }
    }
    let mut left = options.max;
    loop {
        let mut changed = false;
        let equations = std::mem::take(&mut sys.equations);
        let mut kept = Vec::with_capacity(equations.len());
        for mut eq in equations {
            let resolved = sys.resolve_row(&eq.row);
            let mut before = None;
            if resolved != eq.row {
                let folded = ops.fold(&mut sys.dae, &resolved, |v| v == 0.0 || v.abs() == 1.0);
                let joined = join_signs(&mut sys.dae, &folded);
                let row = tidy(&mut sys.dae, joined.as_ref().unwrap_or(&folded));
                if row.args.iter().all(|a| a.variable().is_none()) {
                    sys.emptied.push((eq.origin.clone(), eq.row.clone()));
                }
                before = Some(std::mem::replace(&mut eq.row, row));
            }
            if eq.guard.is_none() && !eq.origin.is_dummy() && left > 0 {
                match trivial(sys, &eq).or_else(|| determined(sys, ops, &eq)) {
                    Some(Trivial::Nothing) => {
                        sys.vacuous.push((eq.origin, before.unwrap_or(eq.row)));
                        continue;
                    }
                    Some(t) if eliminate(sys, &differentiated, t) => {
                        if let Trivial::Constant(v, _) = t {
                            sys.settled.insert(v, (eq.origin, eq.row));
                        }
                        left -= 1;
                        changed = true;
                        continue;
                    }
                    _ => {}
                }
            }
            kept.push(eq);
        }
        sys.equations = kept;
        changed |= discrete_aliases(sys);
        let sums =
            |sys: &mut System| crate::sums::subtract_sums(sys) || crate::sums::find_cut_sets(sys, &differentiated);
        if !changed && (left == 0 || !sums(sys)) {
            break;
        }
    }
    for i in 0..sys.dae.vars.len() {
        let v = VarId::new(i);
        if sys.alias[v].is_some() {
            sys.alias[v] = match sys.resolve(Operand::var(v)) {
                Operand::Var { var, neg, .. } => Some(Alias::Var(var, neg)),
                Operand::Const(c) => Some(Alias::Const(c)),
                Operand::Pre { .. } => None,
            };
        }
    }
    resolve_everything(sys);
    orient_equalities(sys);
}

fn trivial(sys: &System, eq: &SysEq) -> Option<Trivial> {
    let pool = &sys.dae.pool;
    let row = &eq.row;
    if row.args.len() > 2 {
        return None;
    }
    let operand = |k: u32| row.args[k as usize];
    // Strip an outer minus.
    let mut e = row.template;
    while let Node::Unary(Unary::Neg, x) = *pool.node(e) {
        e = x;
    }
    let single = |op: Operand, value: f64| match op {
        Operand::Var { var, order: 0, neg } if sys.role(var) == Role::Continuous => {
            Some(Trivial::Constant(var, if neg { -value } else { value }))
        }
        _ => None,
    };
    match *pool.node(e) {
        Node::Const(bits) if f64::from_bits(bits) == 0.0 => Some(Trivial::Nothing),
        Node::Hole(k) => single(operand(k), 0.0),
        Node::Binary(op @ (Binary::Sub | Binary::Add), a, b) => {
            let (mut a, mut b) = (a, b);
            let mut flip = op == Binary::Add;
            for side in [&mut a, &mut b] {
                while let Node::Unary(Unary::Neg, x) = *pool.node(*side) {
                    *side = x;
                    flip = !flip;
                }
            }
            match (pool.node(a), pool.node(b)) {
                (Node::Hole(x), Node::Hole(y)) => match (operand(*x), operand(*y)) {
                    (Operand::Var { var: u, order: 0, neg: nu }, Operand::Var { var: v, order: 0, neg: nv }) => {
                        let neg = flip != (nu != nv);
                        let ok = |v| {
                            sys.role(v) == Role::Continuous
                                || (sys.role(v) == Role::Known && v != HybridDae::TIME && !sys.external.contains(&v))
                        };
                        (u != v
                            && ok(u)
                            && ok(v)
                            && (sys.role(u) == Role::Continuous || sys.role(v) == Role::Continuous))
                            .then_some(Trivial::Same(u, v, neg))
                    }
                    (op, Operand::Const(c)) | (Operand::Const(c), op) => single(op, if flip { -c } else { c }),
                    _ => None,
                },
                (Node::Hole(x), Node::Const(c)) | (Node::Const(c), Node::Hole(x)) => {
                    let c = f64::from_bits(*c);
                    single(operand(*x), if flip { -c } else { c })
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// `x = 2*c + 1` with a constant c: an affine equation in one variable and nothing else that is not a constant.
fn determined(sys: &mut System, ops: &mut RowOps, eq: &SysEq) -> Option<Trivial> {
    let mut vars = eq.row.args.iter().filter(|a| !matches!(a, Operand::Const(_)));
    let (Some(&Operand::Var { var, order: 0, neg }), None) = (vars.next(), vars.next()) else { return None };
    if sys.role(var) != Role::Continuous {
        return None;
    }
    let folded = ops.fold(&mut sys.dae, &eq.row, |_| true);
    let k = folded.args.iter().position(|a| matches!(a, Operand::Var { .. }))?;
    if ops.classify(&mut sys.dae, &folded, k) > Coefficient::Constant {
        return None;
    }
    let value = ops.solve(&mut sys.dae, &folded, k)?;
    let value = sys.dae.pool.as_const(value.template).filter(|v| v.is_finite())?;
    Some(Trivial::Constant(var, if neg { -value } else { value }))
}

/// Higher survives.
fn rank(sys: &System, differentiated: &[bool], v: VarId) -> (bool, i32, bool, bool, bool, bool, bool) {
    let var = &sys.dae.vars[v];
    (
        sys.role(v) == Role::Known,
        var.state_select as i32,
        differentiated[v.index()],
        var.fixed == Some(true),
        var.marked,
        var.start.is_some(),
        !var.hidden,
    )
}

fn eliminate(sys: &mut System, differentiated: &[bool], t: Trivial) -> bool {
    match t {
        Trivial::Nothing => true,
        Trivial::Constant(v, c) => {
            if sys.dae.vars[v].fixed == Some(true) || differentiated[v.index()] {
                return false; // its initial value, or derivative, must be looked at
            }
            point(sys, v, Alias::Const(c));
            true
        }
        Trivial::Same(a, b, neg) => {
            // Earlier eliminations in this pass may have moved either side.
            let (ra, rb) = (sys.resolve(Operand::var(a)), sys.resolve(Operand::Var { var: b, order: 0, neg }));
            let (Operand::Var { var: a, neg: na, .. }, Operand::Var { var: b, neg: nb, .. }) = (ra, rb) else {
                return false;
            };
            let neg = na != nb;
            if a == b {
                return !neg;
            }
            let (keep, drop) =
                if rank(sys, differentiated, a) >= rank(sys, differentiated, b) { (a, b) } else { (b, a) };
            if sys.role(drop) != Role::Continuous {
                return false;
            }
            let known = sys.role(keep) == Role::Known;
            if known && (sys.dae.vars[drop].fixed == Some(true) || differentiated[drop.index()]) {
                return false;
            }
            if !known {
                let d = sys.dae.vars[drop].clone();
                let k = &sys.dae.vars[keep];
                let both_fixed = d.fixed == Some(true) && k.fixed == Some(true);
                if both_fixed && !same_start(sys, drop, keep, neg) {
                    return false; // two initial conditions: left to the initialization to judge
                }
                let take_start = match (d.fixed == Some(true), k.fixed == Some(true)) {
                    (true, false) => true,
                    (false, true) => false,
                    _ => k.start.is_none() && d.start.is_some(),
                };
                let start = d.start.as_ref().map(|r| signed(sys, r, neg));
                let k = &mut sys.dae.vars[keep];
                if take_start && start.is_some() {
                    k.start = start;
                }
                if d.fixed == Some(true) {
                    k.fixed = Some(true);
                }
                if k.nominal.is_none() {
                    k.nominal = d.nominal;
                }
                if !neg {
                    if k.min.is_none() {
                        k.min = d.min;
                    }
                    if k.max.is_none() {
                        k.max = d.max;
                    }
                }
                k.marked |= d.marked;
                k.tear = k.tear.or(d.tear);
                k.state_select = k.state_select.max(d.state_select);
            }
            point(sys, drop, Alias::Var(keep, neg));
            true
        }
    }
}

fn same_start(sys: &System, a: VarId, b: VarId, neg: bool) -> bool {
    let (x, y) = (&sys.dae.vars[a].start, &sys.dae.vars[b].start);
    match (x, y) {
        (Some(x), Some(y)) => match (sys.dae.row_constant(x), sys.dae.row_constant(y)) {
            (Some(p), Some(q)) => p == if neg { -q } else { q },
            _ => !neg && x == y,
        },
        (None, None) => true,
        _ => false,
    }
}

fn signed(sys: &mut System, row: &Row, neg: bool) -> Row {
    if !neg {
        return row.clone();
    }
    Row { template: sys.dae.pool.neg(row.template), args: row.args.clone() }
}

/// Records an alias. Chains are followed by [`System::resolve`] and cut short at the end.
fn point(sys: &mut System, drop: VarId, to: Alias) {
    sys.alias[drop] = Some(to);
}

/// Discrete equalities that could not be eliminated (their start values differ) may define either side: the one that
/// nothing else defines.
fn orient_equalities(sys: &mut System) {
    let equality = |sys: &System, k: usize| -> Option<(VarId, VarId)> {
        let d = &sys.discrete[k];
        let DiscKind::Value(row) = &d.kind else { return None };
        match (sys.dae.pool.node(row.template), &*row.args) {
            (Node::Hole(0), [Operand::Var { var, order: 0, neg: false }])
                if d.guard.is_none() && sys.role(*var) == Role::Discrete =>
            {
                Some((d.var, *var))
            }
            _ => None,
        }
    };
    let mut open: Vec<(usize, VarId, VarId)> = Vec::new();
    let mut defined: rustc_hash::FxHashSet<VarId> = rustc_hash::FxHashSet::default();
    for k in 0..sys.discrete.len() {
        match equality(sys, k) {
            Some((a, b)) => open.push((k, a, b)),
            None => {
                defined.insert(sys.discrete[k].var);
            }
        }
    }
    while !open.is_empty() {
        let ready = open.iter().position(|&(_, a, b)| defined.contains(&a) != defined.contains(&b)).unwrap_or(0);
        let (k, a, b) = open.swap_remove(ready);
        let (target, from) = if defined.contains(&a) && !defined.contains(&b) { (b, a) } else { (a, b) };
        defined.insert(target);
        sys.discrete[k].var = target;
        if let DiscKind::Value(row) = &mut sys.discrete[k].kind {
            row.args = Box::new([Operand::var(from)]);
        }
    }
}

/// Discrete definitions of the form `a = b`.
fn discrete_aliases(sys: &mut System) -> bool {
    let mut changed = false;
    // Equal values may come from different values before the start: each has its own where initial equations speak of it.
    let before: FxHashSet<VarId> = sys
        .initial
        .iter()
        .flat_map(|e| e.row.args.iter())
        .filter_map(|&o| match sys.resolve(o) {
            Operand::Pre { var } => Some(var),
            _ => None,
        })
        .collect();
    let discrete = std::mem::take(&mut sys.discrete);
    let mut kept = Vec::with_capacity(discrete.len());
    for d in discrete {
        if d.guard.is_none()
            && let DiscKind::Value(row) = &d.kind
            && let (Node::Hole(0), [Operand::Var { var: b, order: 0, neg: false }]) =
                (sys.dae.pool.node(row.template), &*row.args)
        {
            let (a, b) = (d.var, *b);
            let (ra, rb) = (sys.resolve(Operand::var(a)), sys.resolve(Operand::var(b)));
            if let (Operand::Var { var: a, neg: false, .. }, Operand::Var { var: b, neg: false, .. }) = (ra, rb)
                && a != b
                && sys.role(a) == Role::Discrete
                && sys.role(b) == Role::Discrete
                && sys.dae.vars[a].ty == sys.dae.vars[b].ty
                && sys.dae.vars[a].ty != VarType::String
                && !before.contains(&a)
                && !before.contains(&b)
                && compatible_start(sys, a, b)
            {
                // The user's name survives a generated one.
                let (a, b) = if sys.dae.vars[b].hidden && !sys.dae.vars[a].hidden && !sys.external.contains(&b) {
                    (b, a)
                } else {
                    (a, b)
                };
                if sys.dae.vars[b].start.is_none() && sys.dae.vars[a].start.is_some() {
                    sys.dae.vars[b].start = sys.dae.vars[a].start.clone();
                }
                if sys.dae.vars[a].fixed == Some(true) {
                    sys.dae.vars[b].fixed = Some(true);
                }
                point(sys, a, Alias::Var(b, false));
                changed = true;
                continue;
            }
        }
        kept.push(d);
    }
    sys.discrete = kept;
    changed
}

fn compatible_start(sys: &System, a: VarId, b: VarId) -> bool {
    match (&sys.dae.vars[a].start, &sys.dae.vars[b].start) {
        (Some(_), Some(_)) => same_start(sys, a, b, false),
        (Some(_), None) => sys.dae.vars[a].fixed != Some(true) || sys.dae.vars[b].fixed != Some(true),
        _ => true,
    }
}

/// Rewrites every remaining row in terms of surviving variables.
fn resolve_everything(sys: &mut System) {
    let mut discrete = std::mem::take(&mut sys.discrete);
    for d in &mut discrete {
        match &mut d.kind {
            DiscKind::Value(r) => *r = sys.resolve_row(r),
            DiscKind::Relation(_) => {}
            DiscKind::When(_, values) => {
                for v in values.iter_mut().flatten() {
                    *v = sys.resolve_row(v);
                }
            }
        }
        if let Operand::Var { var, neg: false, .. } = sys.resolve(Operand::var(d.var)) {
            d.var = var;
        }
    }
    sys.discrete = discrete;
    let mut relations = std::mem::take(&mut sys.relations);
    for r in &mut relations {
        r.g = sys.resolve_row(&r.g);
        if let Operand::Var { var, neg: false, .. } = sys.resolve(Operand::var(r.var)) {
            r.var = var;
        }
    }
    sys.relations = relations;
    let mut initial = std::mem::take(&mut sys.initial);
    for e in &mut initial {
        e.row = sys.resolve_row(&e.row);
    }
    sys.initial = initial;
    let mut whens = std::mem::take(&mut sys.whens);
    for c in whens.iter_mut().flat_map(|w| w.branches.iter_mut()).flat_map(|b| b.0.iter_mut()) {
        if let Operand::Var { var, .. } = sys.resolve(Operand::var(*c)) {
            *c = var;
        }
    }
    sys.whens = whens;
    let mut groups = std::mem::take(&mut sys.groups);
    for c in groups.iter_mut().flat_map(|g| g.conditions.iter_mut()) {
        if let Operand::Var { var, .. } = sys.resolve(Operand::var(*c)) {
            *c = var;
        }
    }
    sys.groups = groups;
    let mut reactions = std::mem::take(&mut sys.reactions);
    for r in &mut reactions {
        use saltus_dae::Action;
        match &mut r.action {
            Action::Reinit { var, value, condition } => {
                *value = sys.resolve_row(value);
                if let Some(c) = condition {
                    *c = sys.resolve_row(c);
                }
                if let Operand::Var { var: to, neg, .. } = sys.resolve(Operand::var(*var)) {
                    *var = to;
                    if neg {
                        value.template = sys.dae.pool.neg(value.template);
                    }
                }
            }
            Action::Assert { condition, .. } => *condition = sys.resolve_row(condition),
            Action::Terminate { condition: Some(c), .. } => *c = sys.resolve_row(c),
            Action::Call { args, .. } => args.iter_mut().for_each(|a| *a = sys.resolve_row(a)),
            _ => {}
        }
    }
    sys.reactions = reactions;
    let mut assertions = std::mem::take(&mut sys.assertions);
    for a in &mut assertions {
        a.0 = sys.resolve_row(&a.0);
    }
    sys.assertions = assertions;
    let mut delays = std::mem::take(&mut sys.dae.delays);
    delays.iter_mut().flat_map(|d| d.rows_mut()).for_each(|r| *r = sys.resolve_row(r));
    sys.dae.delays = delays;
    let mut distributions = std::mem::take(&mut sys.dae.distributions);
    distributions.iter_mut().flat_map(|d| &mut d.inputs).for_each(|r| *r = sys.resolve_row(r));
    sys.dae.distributions = distributions;
    for i in 0..sys.dae.vars.len() {
        let v = VarId::new(i);
        for pick in 0..5 {
            let row = {
                let var = &mut sys.dae.vars[v];
                let slot = match pick {
                    0 => &mut var.start,
                    1 => &mut var.min,
                    2 => &mut var.max,
                    3 => &mut var.nominal,
                    _ => &mut var.binding,
                };
                slot.take()
            };
            let row = row.map(|r| sys.resolve_row(&r));
            let var = &mut sys.dae.vars[v];
            match pick {
                0 => var.start = row,
                1 => var.min = row,
                2 => var.max = row,
                3 => var.nominal = row,
                _ => var.binding = row,
            }
        }
    }
}
