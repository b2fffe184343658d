//! When-equations.

use crate::call::by_leaves;
use crate::eval::first_of;
use crate::value::{Ty, Value};
use crate::{Env, Flattener, R};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_base::{Diagnostic, Span, Stage};
use saltus_dae::{
    Action, Equation, Guard, HybridDae, IfGroup, Operand, Row, VarId, VarType, Variability, When, WhenBranch,
};
use saltus_expr::{Binary, Coefficient, ExprId, Node as XNode};
use saltus_syntax::ast::{BinaryOp, Equation as AstEquation, EquationKind, Expr, ExprKind};

impl<'t> Flattener<'t> {
    /// The Boolean variables of a when-condition, and whether `initial()` is among them.
    pub(crate) fn when_condition(&mut self, env: &Env, c: &Expr) -> R<(Vec<VarId>, bool)> {
        let (mut vars, mut initial) = (Vec::new(), false);
        self.condition_parts(env, c, &mut vars, &mut initial)?;
        Ok((vars, initial))
    }

    fn condition_parts(&mut self, env: &Env, c: &Expr, vars: &mut Vec<VarId>, initial: &mut bool) -> R<()> {
        match &c.kind {
            ExprKind::Array(items) => {
                for i in items {
                    self.condition_parts(env, i, vars, initial)?;
                }
                return Ok(());
            }
            ExprKind::Tuple(items) if items.len() == 1 => {
                if let Some(e) = &items[0] {
                    return self.condition_parts(env, e, vars, initial);
                }
            }
            ExprKind::Binary(BinaryOp::Or, a, b) if is_initial(a) || is_initial(b) => {
                self.condition_parts(env, a, vars, initial)?;
                return self.condition_parts(env, b, vars, initial);
            }
            _ if is_initial(c) => {
                *initial = true;
                return Ok(());
            }
            _ => {}
        }
        let v = self.eval(env, c)?;
        if v.ty() != Some(Ty::Bool) {
            return Err(self.err(c.span, format!("a when-condition must be a Boolean, not {}", v.describe())));
        }
        for e in v.scalar_list() {
            if self.dae.pool.as_const(e).is_some() {
                continue; // never rises
            }
            let var = self.condition_var(env, e, c.span);
            vars.push(var);
        }
        Ok(())
    }

    /// The variable holding a condition, made if the condition is not a variable itself.
    pub(crate) fn condition_var(&mut self, env: &Env, e: ExprId, span: Span) -> VarId {
        if let Some(v) = self.as_var(e)
            && v != HybridDae::INITIAL
        {
            return v;
        }
        if let Some(&v) = self.conditions.get(&e) {
            return v;
        }
        let origin = self.origin(env, span, "when condition");
        let var = self.hidden("when", VarType::Boolean, Variability::Discrete, origin.clone());
        let x = self.var_expr(var);
        let r = self.dae.pool.intern(XNode::Binary(Binary::Sub, x, e));
        let row = self.row(r);
        self.dae.equations.push(Equation { row, guard: None, origin });
        self.conditions.insert(e, var);
        var
    }

    pub(crate) fn when_equation(&mut self, env: &Env, branches: &'t [(Expr, Vec<AstEquation>)], span: Span) -> R<()> {
        if self.in_initial {
            return Err(self.err(span, "when-equations cannot stand in an initial equation section"));
        }
        if let Some((c, body)) = branches.first()
            && self.clocked_when(env, c, body, branches.len(), span)?
        {
            return Ok(());
        }
        let mut out: Vec<WhenBranch> = Vec::new();
        for (c, body) in branches {
            let (conditions, initial) = self.when_condition(env, c)?;
            let inner = Env { when: true, ..*env };
            let mut actions = Vec::new();
            self.when_body(&inner, body, &mut actions)?;
            if initial && !out.iter().any(|b| b.initial) {
                self.reset_at_start(env, &actions, span);
            }
            out.push(WhenBranch { conditions, initial, actions });
        }
        let sets = |b: &WhenBranch| b.actions.iter().flat_map(sets).collect::<FxHashSet<VarId>>();
        let sets: Vec<FxHashSet<VarId>> = out.iter().map(sets).collect();
        self.same_sets(&sets, "branches of this when-clause", span);
        if self.changes(self.guard) {
            let text = "a when-clause stands in an if-equation whose condition changes during the run";
            let hint =
                "other tools refuse that (Modelica 3.6, section 8.3.5.1): write the condition into the when-clause";
            self.other_tools(text.into(), hint, span);
        }
        let origin = self.origin(env, span, "");
        self.dae.whens.push(When { branches: out, guard: self.guard, origin });
        Ok(())
    }

    /// Whether a condition that a branch stands under changes during the run.
    fn changes(&mut self, mut guard: Option<Guard>) -> bool {
        while let Some((g, _)) = guard {
            let group = self.dae.ifs[g].clone();
            for c in &group.conditions {
                let c = self.rows.open(&mut self.dae.pool, c);
                if self.variability(c) > Variability::Parameter {
                    return true;
                }
            }
            guard = group.parent;
        }
        false
    }

    /// Warns, once a place, of what is allowed here and not in the language.
    pub(crate) fn other_tools(&mut self, text: String, hint: &str, span: Span) {
        if self.warned.insert(span) {
            self.diagnostics.push(Diagnostic::warning(Stage::FrontEnd, span, text).hint(hint));
        }
    }

    /// Warns of variables that only some branches set.
    fn same_sets(&mut self, sets: &[FxHashSet<VarId>], of: &str, span: Span) {
        let all: FxHashSet<VarId> = sets.iter().flatten().copied().collect();
        let Some(v) = all.into_iter().filter(|v| sets.iter().any(|s| !s.contains(v))).min() else { return };
        let text = format!("the {of} set different variables: {} keeps its value in some", self.dae.vars[v].name);
        let hint = "other tools refuse that (Modelica 3.6, section 8.3.5.2): write v = pre(v) there";
        self.other_tools(text, hint, span);
    }

    /// Warns of variables that several when-equations reset.
    pub(crate) fn check_resets(&mut self) {
        let mut first: FxHashMap<VarId, (usize, Option<Span>)> = FxHashMap::default();
        let mut found: Vec<(Span, Option<Span>, VarId)> = Vec::new();
        for (k, w) in self.dae.whens.iter().enumerate().filter(|(_, w)| w.origin.note.is_empty()) {
            for a in w.branches.iter().flat_map(|b| &b.actions) {
                let Action::Reinit { var, .. } = a else { continue };
                let (other, at) = *first.entry(*var).or_insert((k, w.origin.span));
                if other != k
                    && let Some(span) = w.origin.span
                {
                    found.push((span, at, *var));
                }
            }
        }
        for (span, at, var) in found {
            if !self.warned.insert(span) {
                continue;
            }
            let text = format!("several when-equations reset {}", self.dae.vars[var].name);
            let mut d = Diagnostic::warning(Stage::FrontEnd, span, text)
                .hint("other tools refuse that (Modelica 3.6, section 8.3.6): one when-equation with elsewhen, or with an if-equation inside, says which reinit comes first");
            if let Some(at) = at.filter(|at| *at != span) {
                d = d.label(at, "another one");
            }
            self.diagnostics.push(d);
        }
    }

    /// What `when initial()` resets inside an if-equation, as initial equations of its branches.
    ///
    /// before: `when initial() then if p then reinit(x, a); else reinit(x, b); end if; end when`
    /// after:  `initial equation if p then x = a; else x = b; end if`
    fn reset_at_start(&mut self, env: &Env, actions: &[Action], span: Span) {
        let mut vars: Vec<VarId> = Vec::new();
        for a in actions {
            if let Action::Reinit { var, condition: Some(_), .. } = a
                && !vars.contains(var)
            {
                vars.push(*var);
            }
        }
        let initial = self.var_expr(HybridDae::INITIAL);
        for var in vars {
            let x = self.var_expr(var);
            let mut cases: Vec<(ExprId, ExprId)> = Vec::new();
            let mut last = None;
            for a in actions {
                let Action::Reinit { var: v, value, condition: Some(c) } = a else { continue };
                if *v != var || last.is_some() {
                    continue;
                }
                let c = self.rows.open(&mut self.dae.pool, c);
                let c = self.with_true(c, initial);
                let value = self.rows.open(&mut self.dae.pool, value);
                let residual = self.dae.pool.sub(x, value);
                let others = match cases[..] {
                    [(first, _)] => self.dae.pool.not(first),
                    _ => self.dae.pool.num(1.0),
                };
                match self.dae.pool.as_const(c) {
                    Some(0.0) => {}
                    Some(_) => last = Some(residual),
                    None if c == others => last = Some(residual),
                    None => cases.push((c, residual)),
                }
            }
            let origin = self.origin(env, span, "");
            let equations: Vec<(ExprId, Option<Guard>)> = match last {
                // One of them holds, whatever the conditions are.
                Some(last) => {
                    let pool = &mut self.dae.pool;
                    let e = cases.iter().rev().fold(last, |e, &(c, residual)| pool.select(c, residual, e));
                    vec![(e, self.guard)]
                }
                None if cases.is_empty() => continue,
                None => {
                    let conditions = cases.iter().map(|c| self.row(c.0)).collect();
                    let g = self.dae.ifs.push(IfGroup { conditions, parent: self.guard, origin: origin.clone() });
                    cases.iter().zip(0..).map(|(c, branch)| (c.1, Some((g, branch)))).collect()
                }
            };
            for (residual, guard) in equations {
                let row = self.row(residual);
                self.dae.initial_equations.push(Equation { row, guard, origin: origin.clone() });
            }
        }
    }

    /// An expression where a variable, given as an expression, is true.
    fn with_true(&mut self, e: ExprId, var: ExprId) -> ExprId {
        let XNode::Hole(of) = *self.dae.pool.node(var) else { return e };
        self.dae.pool.substitute(e, |pool, k| if k == of { pool.num(1.0) } else { pool.hole(k) })
    }

    fn when_body(&mut self, env: &Env, body: &'t [AstEquation], out: &mut Vec<Action>) -> R<()> {
        for eq in body {
            let outside = std::mem::take(&mut self.when_checks);
            if let Err(e) = self.when_item(env, eq, out) {
                self.report_in(e, env.scope);
            }
            out.extend(std::mem::replace(&mut self.when_checks, outside));
        }
        Ok(())
    }

    fn when_item(&mut self, env: &Env, eq: &'t AstEquation, out: &mut Vec<Action>) -> R<()> {
        match &eq.kind {
            EquationKind::Simple(l, r) => {
                if let ExprKind::Tuple(items) = &l.kind
                    && items.len() > 1
                {
                    let targets: Vec<Option<Value>> =
                        items.iter().map(|i| i.as_ref().map(|i| self.eval(env, i)).transpose()).collect::<R<_>>()?;
                    return self.when_call(env, &targets, r, eq.span, out);
                }
                if let ExprKind::Call(_) = &r.kind
                    && let ExprKind::Ref(_) = &l.kind
                {
                    let lv = self.eval(env, l)?;
                    return self.when_call(env, &[Some(lv)], r, eq.span, out);
                }
                let (lv, rv) = (self.eval(env, l)?, self.eval(env, r)?);
                let (a, b) = self.pair(&first_of(&lv), &first_of(&rv), eq.span)?;
                for ((x, tx), (y, ty)) in a.into_iter().zip(b) {
                    let (var, value) = match (self.as_var(x), self.as_var(y)) {
                        (Some(v), _) => (v, y),
                        (None, Some(v)) => (v, x),
                        _ => {
                            return Err(self.err(
                                eq.span,
                                "an equation in a when-clause must have a variable alone on its left side",
                            ));
                        }
                    };
                    let (own, other) = if self.as_var(x) == Some(var) { (tx, ty) } else { (ty, tx) };
                    self.assignable(var, own, other, eq.span)?;
                    let value = self.explicit_value(var, value, eq.span)?;
                    let value = self.row(value);
                    out.push(Action::Assign { var, value });
                }
                Ok(())
            }
            EquationKind::Connect(..) => Err(self.err(eq.span, "connect cannot stand in a when-clause")),
            EquationKind::When { .. } => Err(self.err(eq.span, "when-clauses cannot be nested")),
            EquationKind::For { indices, body } => {
                self.iterate(env, indices, None, &mut |me, env| me.when_body(env, body, out))?;
                Ok(())
            }
            EquationKind::If { branches, otherwise } => {
                let mut lists: Vec<(Option<ExprId>, Vec<Action>)> = Vec::new();
                let mut closed = false;
                for (c, body) in branches {
                    let v = self.eval(env, c)?;
                    let Value::Num(ce, Ty::Bool) = v else {
                        return Err(self.err(c.span, "the condition must be a Boolean"));
                    };
                    if self.dae.pool.is_num(ce, 0.0) {
                        continue;
                    }
                    let mut a = Vec::new();
                    self.when_body(env, body, &mut a)?;
                    if self.dae.pool.as_const(ce).is_some() {
                        lists.push((None, a));
                        closed = true;
                        break;
                    }
                    lists.push((Some(ce), a));
                }
                if !closed {
                    let mut a = Vec::new();
                    self.when_body(env, otherwise, &mut a)?;
                    lists.push((None, a));
                }
                self.join_actions(lists, eq.span, out)
            }
            EquationKind::Call(e) => {
                let ExprKind::Call(c) = &e.kind else { return Err(self.err(eq.span, "this is not an equation")) };
                let name = if let [p] = &c.function.parts[..] { p.name.name.as_str() } else { "" };
                match name {
                    "reinit" => {
                        let [x, v] = &c.args[..] else {
                            return Err(self.err(eq.span, "reinit needs a state and a value"));
                        };
                        let (x, v) = (self.eval(env, x)?, self.eval(env, v)?);
                        let (a, b) = self.pair(&x, &v, eq.span)?;
                        for ((x, _), (v, _)) in a.into_iter().zip(b) {
                            let Some(var) = self.as_var(x) else {
                                return Err(self.err(eq.span, "reinit needs a variable"));
                            };
                            let value = self.row(v);
                            out.push(Action::Reinit { var, value, condition: None });
                        }
                        Ok(())
                    }
                    "assert" => {
                        let (condition, message, error) = self.assertion(env, c, eq.span)?;
                        let condition = self.row(condition);
                        out.push(Action::Assert { condition, message, error });
                        Ok(())
                    }
                    "terminate" => {
                        let message = match c.args.first() {
                            Some(m) => self.message(env, m)?,
                            None => Default::default(),
                        };
                        out.push(Action::Terminate { message, condition: None });
                        Ok(())
                    }
                    _ => self.when_call(env, &[], e, eq.span, out),
                }
            }
        }
    }

    /// Whether a when-clause can give a variable a value of this type.
    fn assignable(&self, var: VarId, own: Ty, other: Ty, span: Span) -> R<()> {
        let v = &self.dae.vars[var];
        let error = if v.variability <= Variability::Parameter {
            let kind = if v.variability == Variability::Constant { "constant" } else { "parameter" };
            self.err(span, format!("{} is a {kind} and keeps its value", v.name))
        } else if own == Ty::Int && other == Ty::Real {
            self.err_hints(
                span,
                format!("{} is an Integer, but this equation gives it a Real value", v.name),
                vec!["round it with integer(…), floor(…) or ceil(…), or declare the variable as Real".into()],
            )
        } else {
            return Ok(());
        };
        Err(match v.origin.span {
            Some(s) => Box::new(error.label(s, "declared here")),
            None => error,
        })
    }

    /// A call in a when-clause: the function runs when the clause fires, not before.
    fn when_call(
        &mut self,
        env: &Env,
        targets: &[Option<Value>],
        r: &Expr,
        span: Span,
        out: &mut Vec<Action>,
    ) -> R<()> {
        if let ExprKind::Call(c) = &r.kind
            && let Some((func, args, outputs)) = self.deferred_call(env, c, r.span)?
        {
            let mut vars: Vec<Option<VarId>> = Vec::new();
            for (k, o) in outputs.iter().enumerate() {
                // Results are numbered in the order the function gives them.
                let numbered = by_leaves(o, &mut |_, _| {
                    vars.push(None);
                    self.dae.pool.num((vars.len() - 1) as f64)
                });
                let Some(Some(t)) = targets.get(k) else { continue };
                let (a, b) = self.pair(t, &numbered, span)?;
                for ((x, _), (at, _)) in a.into_iter().zip(b) {
                    let Some(v) = self.as_var(x) else {
                        return Err(self.err(span, "a result in a when-clause must go to a variable"));
                    };
                    if let Some(at) = self.dae.pool.as_const(at) {
                        vars[at as usize] = Some(v);
                    }
                }
            }
            let args: Vec<Row> = args.into_iter().map(|a| self.row(a)).collect();
            let read = |v: &VarId| args.iter().any(|r| r.args.contains(&Operand::var(*v)));
            let own = vars.iter().flatten().find(|v| self.dae.vars[**v].ty != VarType::Real && read(v));
            if let Some(&v) = own {
                return Err(self.own_value(v, span));
            }
            out.push(Action::Call { func, args, outputs: vars });
            return Ok(());
        }
        let v = self.eval(env, r)?;
        let parts: Vec<Value> = match &v {
            Value::Tuple(t) => t.to_vec(),
            v => vec![v.clone()],
        };
        for (t, p) in targets.iter().zip(&parts) {
            let Some(t) = t else { continue };
            let (a, b) = self.pair(t, p, span)?;
            for ((x, _), (y, _)) in a.into_iter().zip(b) {
                let Some(var) = self.as_var(x) else {
                    return Err(
                        self.err(span, "an equation in a when-clause must have a variable alone on its left side")
                    );
                };
                let value = self.explicit_value(var, y, span)?;
                let value = self.row(value);
                out.push(Action::Assign { var, value });
            }
        }
        Ok(())
    }

    /// What an equation `var = value` of a when-clause gives, where the value reads the variable itself: that is its new value,
    /// not the one before the event.
    ///
    /// before: `r = 2*r + 1`
    /// after:  `r := -1`
    fn explicit_value(&mut self, var: VarId, value: ExprId, span: Span) -> R<ExprId> {
        let x = self.var_expr(var);
        let XNode::Hole(own) = *self.dae.pool.node(x) else { return Ok(value) };
        let pool = &mut self.dae.pool;
        if !pool.has_hole(value, own) {
            return Ok(value);
        }
        let real = self.dae.vars[var].ty == VarType::Real;
        let residual = pool.sub(x, value);
        let class = saltus_expr::classify(pool, residual, own, |_| true);
        if real
            && matches!(class, Coefficient::Unit | Coefficient::Constant | Coefficient::Parameter)
            && let Some(solved) = saltus_expr::solve_for(pool, residual, own)
        {
            return Ok(solved);
        }
        // The run solves it.
        if real && class == Coefficient::Nonlinear {
            return Ok(value);
        }
        Err(self.own_value(var, span))
    }

    fn own_value(&self, var: VarId, span: Span) -> Box<Diagnostic> {
        let name = &self.dae.vars[var].name;
        let message =
            format!("this equation does not determine {name}: on both sides of it stands the value after the event");
        self.err_hints(span, message, vec![format!("the value before the event is pre({name})")])
    }

    /// If inside when: one action per variable, conditional value.
    fn join_actions(&mut self, lists: Vec<(Option<ExprId>, Vec<Action>)>, span: Span, out: &mut Vec<Action>) -> R<()> {
        let mut order: Vec<VarId> = Vec::new();
        for (_, l) in &lists {
            for a in l {
                if let Action::Assign { var, .. } = a
                    && !order.contains(var)
                {
                    order.push(*var);
                }
            }
        }
        let mut changes = |c: &Option<ExprId>| c.is_some_and(|c| self.variability(c) > Variability::Parameter);
        if lists.iter().any(|(c, _)| changes(c)) {
            let sets: Vec<FxHashSet<VarId>> = lists.iter().map(|(_, l)| l.iter().flat_map(sets).collect()).collect();
            self.same_sets(&sets, "branches of this if in a when-clause", span);
        }
        for var in order {
            let x = self.var_expr(var);
            let mut value = self.pre(x, span)?;
            for (c, l) in lists.iter().rev() {
                let this = l.iter().find_map(|a| match a {
                    Action::Assign { var: v, value } if *v == var => Some(value.clone()),
                    _ => None,
                });
                let this = match this {
                    Some(r) => self.rows.open(&mut self.dae.pool, &r),
                    None => self.pre(x, span)?,
                };
                value = match c {
                    Some(c) => self.dae.pool.select(*c, this, value),
                    None => this,
                };
            }
            let value = self.row(value);
            out.push(Action::Assign { var, value });
        }
        // The rest keeps its condition.
        let mut not_before = self.dae.pool.num(1.0);
        for (c, l) in lists {
            let here = match c {
                Some(c) => self.dae.pool.bin(Binary::And, not_before, c),
                None => not_before,
            };
            if self.dae.pool.is_num(here, 1.0) {
                let rest = |a: &Action| !matches!(a, Action::Assign { .. });
                out.extend(l.into_iter().filter(rest));
                continue;
            }
            for a in l {
                match a {
                    Action::Assign { .. } => {}
                    Action::Reinit { var, value, condition } => {
                        let c = self.and_row(here, condition.as_ref());
                        let condition = Some(self.row(c));
                        out.push(Action::Reinit { var, value, condition });
                    }
                    Action::Terminate { message, condition } => {
                        let c = self.and_row(here, condition.as_ref());
                        let condition = Some(self.row(c));
                        out.push(Action::Terminate { message, condition });
                    }
                    Action::Assert { condition, message, error } => {
                        let c = self.rows.open(&mut self.dae.pool, &condition);
                        let n = self.dae.pool.not(here);
                        let c = self.dae.pool.bin(Binary::Or, n, c);
                        let condition = self.row(c);
                        out.push(Action::Assert { condition, message, error });
                    }
                    Action::Call { .. } => {
                        if self.dae.pool.as_const(here).is_none() {
                            return Err(self
                                .err(span, "a call with effects inside an if of a when-clause is not supported yet"));
                        }
                        out.push(a);
                    }
                }
            }
            if let Some(c) = c {
                let n = self.dae.pool.not(c);
                not_before = self.dae.pool.bin(Binary::And, not_before, n);
            }
        }
        Ok(())
    }

    fn and_row(&mut self, here: ExprId, c: Option<&saltus_dae::Row>) -> ExprId {
        match c {
            Some(r) => {
                let e = self.rows.open(&mut self.dae.pool, r);
                self.dae.pool.bin(Binary::And, here, e)
            }
            None => here,
        }
    }
}

/// What an action of a when-clause sets.
fn sets(a: &Action) -> Vec<VarId> {
    match a {
        Action::Assign { var, .. } => vec![*var],
        Action::Call { outputs, .. } => outputs.iter().flatten().copied().collect(),
        _ => Vec::new(),
    }
}

pub(crate) fn is_initial(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Call(c) => c.args.is_empty() && matches!(&c.function.parts[..], [p] if p.name.name == "initial"),
        ExprKind::Tuple(v) => matches!(&v[..], [Some(e)] if is_initial(e)),
        _ => false,
    }
}
