//! Algorithm sections: one function per section, whose inputs are what it reads and whose outputs are what it assigns.
//!
//! Relations generate events and are locked between them, so they are evaluated outside and handed in as inputs. One
//! that reads what the section itself has assigned is a *question*: the section is called up to that place, the value found
//! there becomes a variable of the model, and the answer comes back as an input of everything behind it:
//!
//! ```text
//! x := f(u); if x > 1 then y := 1;      asked = section(u, question 1);   bit = asked > 1;   y = section(u, bit)
//! ```

use crate::eval::visit_refs;
use crate::lower::{LTree, LVal, Lowering, visit_statement};
use crate::modifier::Scope;
use crate::value::{Ty, Value};
use crate::when::is_initial;
use crate::{Env, Flattener, R};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_base::{Name, Span};
use saltus_dae::{
    Action, Assertion, CallEquation, Equation, HybridDae, Message, Operand, VarId, VarType, Variability, When,
    WhenBranch,
};
use saltus_expr::{Binary, ExprId, FuncId, Node as XNode, Unary};
use saltus_function::{Dim, FExpr, FIndex, FStmt, FStmtKind, LValue, LocalId, ScalarType};
use saltus_syntax::ast::{
    BinaryOp, Call, ComponentRef, Expr, ExprKind, Ident, RefPart, Statement, StatementKind, Subscript, UnaryOp,
};

/// What the lowering of an algorithm knows about the model around it.
pub(crate) struct ModelContext {
    /// Whether expressions may be evaluated outside and handed in.
    pub capture: bool,
    /// Whether the statement stands in a `while` loop, where they cannot.
    pub in_while: bool,
    /// Whether the section reads anything that moves between events.
    moves: bool,
    assigned: FxHashSet<VarId>,
    captured: FxHashMap<ExprId, LocalId>,
    args: Vec<ExprId>,
    trees: FxHashMap<Vec<ExprId>, LTree>,
    outputs: Vec<(LocalId, Vec<VarId>)>,
    /// The conditions of the when-statement around, and whether it fires initially.
    when: Option<(Vec<VarId>, bool)>,
    /// How deep that when-statement is nested.
    when_inside: usize,
    /// Whether the condition of a when-statement is looked at that is always come to.
    in_condition: bool,
    /// What relations over assigned variables in the conditions of the when-statement are, until one of these is assigned anew.
    answers: FxHashMap<ExprId, LVal>,
    /// An initial algorithm.
    pub initial: bool,
    /// Statements that belong before the one being lowered.
    pending: Vec<FStmt>,
    /// Conditions of the if-expressions around.
    pub guards: Vec<FExpr>,
    /// The input that tells how far to go, and where its argument is.
    question: Option<(LocalId, usize)>,
    questions: Vec<Question>,
}

/// What a logical formula consists of.
#[derive(Default)]
struct Parts<'e> {
    /// Both sides of each relation.
    operands: Vec<&'e mut Expr>,
    /// Everything that is no relation.
    others: Vec<&'e mut Expr>,
}

impl<'e> Parts<'e> {
    fn collect(&mut self, e: &'e mut Expr) {
        use BinaryOp::{And, Ge, Gt, Le, Lt, Or};
        let formula = match &e.kind {
            ExprKind::Binary(And | Or | Lt | Le | Gt | Ge, ..) | ExprKind::Unary(UnaryOp::Not, _) => true,
            ExprKind::Tuple(list) => list.len() == 1,
            _ => false,
        };
        if !formula {
            self.others.push(e);
            return;
        }
        match &mut e.kind {
            ExprKind::Binary(And | Or, a, b) => {
                self.collect(a);
                self.collect(b);
            }
            ExprKind::Binary(_, a, b) => self.operands.extend([&mut **a, &mut **b]),
            ExprKind::Unary(_, a) => self.collect(a),
            ExprKind::Tuple(list) => list.iter_mut().flatten().for_each(|a| self.collect(a)),
            _ => {}
        }
    }
}

/// A value inside a section that a relation reads.
struct Question {
    /// What holds it inside.
    local: LocalId,
    /// What holds it outside.
    var: VarId,
    /// How many arguments are read up to there.
    reads: usize,
}

impl ModelContext {
    /// The statements that belong before the one being lowered.
    pub fn take_pending(&mut self) -> Vec<FStmt> {
        std::mem::take(&mut self.pending)
    }
}

impl<'t> Flattener<'t> {
    pub(crate) fn algorithm(&mut self, scope: Scope, initial: bool, statements: &'t [Statement], span: Span) -> R<()> {
        let env = Env { conditional: true, ..Env::model(scope) };
        let mut assigned = FxHashSet::default();
        self.assigned_in(&env, statements, true, &mut assigned);
        if !initial {
            // What is assigned in when-statements alone changes at events alone.
            let mut between = FxHashSet::default();
            self.assigned_in(&env, statements, false, &mut between);
            for &v in assigned.difference(&between) {
                let v = &mut self.dae.vars[v];
                v.variability = v.variability.min(Variability::Discrete);
            }
        }
        self.counter += 1;
        let name = format!("$algorithm{}", self.counter);
        let mut lx = Lowering::new(name, scope, span);
        lx.model = Some(ModelContext {
            capture: !initial,
            in_while: false,
            moves: false,
            assigned,
            captured: FxHashMap::default(),
            args: Vec::new(),
            trees: FxHashMap::default(),
            outputs: Vec::new(),
            when: None,
            when_inside: 0,
            in_condition: false,
            answers: FxHashMap::default(),
            initial,
            pending: Vec::new(),
            guards: Vec::new(),
            question: None,
            questions: Vec::new(),
        });
        let moves = !initial && self.reads_continuous(&lx, statements);
        lx.model.iter_mut().for_each(|m| m.moves = moves);
        let mut body = self.lower_statements(&mut lx, statements)?;
        let Some(ctx) = lx.model.take() else { return Ok(()) };
        let mut outputs = Vec::new();
        for (local, vars) in &ctx.outputs {
            if vars.iter().all(|v| ctx.assigned.contains(v)) {
                lx.f.outputs.push(*local);
                outputs.extend(vars.iter().copied());
                continue;
            }
            // Only some elements belong to this section: they leave one by one.
            let dims: Vec<usize> = lx.f.locals[local.0 as usize]
                .dims
                .iter()
                .map(|d| match d {
                    Dim::Fixed(n) => *n,
                    _ => 1,
                })
                .collect();
            for (k, v) in vars.iter().enumerate() {
                if !ctx.assigned.contains(v) {
                    continue;
                }
                let (mut at, mut rest) = (Vec::new(), k);
                for d in dims.iter().rev() {
                    at.push(FIndex::At(FExpr::Num((rest % d + 1) as f64)));
                    rest /= d;
                }
                at.reverse();
                let ty = lx.f.locals[local.0 as usize].ty;
                let name = self.dae.vars[*v].name.clone();
                let out = lx.local(name, ty, Vec::new(), None);
                let value = FExpr::Index(Box::new(FExpr::Local(*local)), at);
                body.push(FStmt { kind: FStmtKind::Assign(LValue { local: out, indices: Vec::new() }, value), span });
                lx.f.outputs.push(out);
                outputs.push(*v);
            }
        }
        // A section that assigns nothing (assertions) still has to be run: for a result of its own.
        let alone = outputs.is_empty() && ctx.questions.is_empty() && !body.is_empty();
        if alone {
            let done = lx.local("$done".into(), ScalarType::Real, Vec::new(), Some(FExpr::Num(1.0)));
            lx.f.outputs.push(done);
        }
        let func = FuncId(self.dae.functions.len() as u32);
        if alone && initial {
            let now = lx.local("$initial".into(), ScalarType::Boolean, Vec::new(), None);
            lx.f.inputs.push(now);
            lx.f.body = vec![FStmt { kind: FStmtKind::If(vec![(FExpr::Local(now), body)], Vec::new()), span }];
            self.dae.functions.push(lx.f);
            let now = self.var_expr(HybridDae::INITIAL);
            let args = ctx.args.iter().copied().chain([now]).collect();
            let done = self.dae.pool.call(func, args, 0);
            let (condition, origin) = (self.row(done), self.origin(&env, span, ""));
            let message = Message::default();
            self.dae.assertions.push(Assertion { condition, message, error: true, guard: self.guard, origin });
            return Ok(());
        }
        lx.f.body = body;
        if alone {
            let origin = self.origin(&env, span, "algorithm");
            outputs.push(self.hidden("done", VarType::Real, Variability::Continuous, origin));
        }
        let first = outputs.len();
        lx.f.outputs.extend(ctx.questions.iter().map(|q| q.local));
        self.dae.functions.push(lx.f);
        let args = ctx.args.iter().map(|&a| self.row(a)).collect();
        let origin = self.origin(&env, span, "algorithm");
        for (k, q) in ctx.questions.iter().enumerate() {
            // What is read behind the place cannot matter.
            let mut args = ctx.args.clone();
            args[q.reads..].fill(self.dae.pool.num(0.0));
            if let Some((_, at)) = ctx.question {
                args[at] = self.dae.pool.num(k as f64 + 1.0);
            }
            let value = self.dae.pool.call(func, args.into(), (first + k) as u32);
            let var = self.var_expr(q.var);
            let residual = self.dae.pool.intern(XNode::Binary(Binary::Sub, var, value));
            let (row, origin) = (self.row(residual), self.dae.vars[q.var].origin.clone());
            self.dae.equations.push(Equation { row, guard: None, origin });
        }
        let call = CallEquation { func, args, outputs, guard: None, origin };
        if initial {
            self.dae.initial_calls.push(call);
        } else {
            self.dae.calls.push(call);
        }
        Ok(())
    }

    /// Whether a reference is to something that moves between events; whether the section assigns it.
    fn moving(&mut self, lx: &Lowering, r: &ComponentRef) -> Option<bool> {
        if r.parts.len() == 1 && r.parts[0].name.name == self.names.time {
            return Some(false);
        }
        let mut whole = r.clone();
        whole.parts.iter_mut().for_each(|p| p.subscripts.clear());
        let e = Expr { kind: ExprKind::Ref(whole), span: r.span };
        let (env, known) = (self.env_of(lx), lx.known.clone());
        let v = self.with_known(&known, &env, &mut |me, env| me.eval(env, &e)).ok()?;
        let vars = v.scalar_list().into_iter().flat_map(|x| self.dae.pool.holes(x));
        vars.into_iter().find_map(|k| match self.hole(k) {
            Some(Operand::Var { var, .. })
                if self.dae.vars[var].variability == Variability::Continuous
                    && self.dae.vars[var].ty == VarType::Real =>
            {
                Some(lx.model.as_ref().is_some_and(|m| m.assigned.contains(&var)))
            }
            _ => None,
        })
    }

    /// Whether statements read something that moves between events and that they do not assign themselves.
    fn reads_continuous(&mut self, lx: &Lowering, statements: &[Statement]) -> bool {
        let loops = |s: &Statement| matches!(s.kind, StatementKind::While { .. } | StatementKind::For { .. });
        if !statements.iter().any(loops) {
            return false; // only loops ask
        }
        let mut refs: Vec<ComponentRef> = Vec::new();
        for s in statements {
            visit_statement(s, &mut |e| visit_refs(e, &mut |r| refs.push(r.clone())));
        }
        refs.iter().any(|r| self.moving(lx, r) == Some(false))
    }

    /// Tells of a relation over moving values that is taken as it stands.
    fn literal_relation(&mut self, lx: &Lowering, e: &Expr) {
        let Some(ctx) = &lx.model else { return };
        if !ctx.moves || ctx.when.is_some() || ctx.initial || self.warned.contains(&e.span) {
            return;
        }
        let mut refs: Vec<ComponentRef> = Vec::new();
        visit_refs(e, &mut |r| refs.push(r.clone()));
        if refs.iter().any(|r| self.moving(lx, r).is_some()) {
            self.warned.insert(e.span);
            let text =
                format!("{e} makes no events: in a while loop, or in a loop with break, it is taken as it stands");
            let d = saltus_base::Diagnostic::warning(saltus_base::Stage::FrontEnd, e.span, text)
                .hint("what changes with it jumps unnoticed, Integers and Booleans at the next event; noEvent(…) says that this is meant");
            self.diagnostics.push(d);
        }
    }

    /// The variables that statements assign, in when-statements too or outside of them alone.
    fn assigned_in(&mut self, env: &Env, s: &'t [Statement], whens: bool, out: &mut FxHashSet<VarId>) {
        let mut refs: Vec<&'t ComponentRef> = Vec::new();
        fn go<'a>(s: &'a [Statement], whens: bool, refs: &mut Vec<&'a ComponentRef>) {
            for s in s {
                match &s.kind {
                    StatementKind::Assign(r, _) => refs.push(r),
                    StatementKind::MultiAssign(t, _) => refs.extend(t.iter().flatten()),
                    StatementKind::If { branches, otherwise } => {
                        branches.iter().for_each(|(_, b)| go(b, whens, refs));
                        go(otherwise, whens, refs);
                    }
                    StatementKind::For { body, .. } | StatementKind::While { body, .. } => go(body, whens, refs),
                    StatementKind::When { branches } if whens => branches.iter().for_each(|(_, b)| go(b, whens, refs)),
                    _ => {}
                }
            }
        }
        go(s, whens, &mut refs);
        refs.into_iter().for_each(|r| out.extend(self.elements(env, r)));
    }

    /// The variables that an assignment to this may change. Where a subscript is known only at run time, any element: what the
    /// subscript reads is not assigned.
    pub(crate) fn elements(&mut self, env: &Env, r: &ComponentRef) -> Vec<VarId> {
        let mut open = r.clone();
        for s in open.parts.iter_mut().flat_map(|p| &mut p.subscripts) {
            if let Subscript::Index(e) = s {
                let value = self.eval(env, e).map(|v| v.scalar_list());
                if !value.is_ok_and(|list| list.iter().all(|&x| self.dae.pool.as_const(x).is_some())) {
                    *s = Subscript::All(e.span);
                }
            }
        }
        let mut bare = r.clone();
        bare.parts.iter_mut().for_each(|p| p.subscripts.clear());
        let values: Vec<Vec<ExprId>> =
            [r, &open, &bare].into_iter().filter_map(|r| Some(self.eval_ref(env, r).ok()?.scalar_list())).collect();
        let all = values.iter().find_map(|list| list.iter().map(|&e| self.as_var(e)).collect());
        // Of a record some fields may be no variables.
        all.unwrap_or_else(|| values.last().into_iter().flatten().filter_map(|&e| self.as_var(e)).collect())
    }

    pub(crate) fn discrete_in_statements(&mut self, env: &Env, s: &'t [Statement], inside: bool) {
        for s in s {
            match &s.kind {
                StatementKind::Assign(r, _) if inside => self.mark_discrete(env, r),
                StatementKind::MultiAssign(t, _) if inside => {
                    t.iter().flatten().for_each(|r| self.mark_discrete(env, r))
                }
                StatementKind::If { branches, otherwise } => {
                    branches.iter().for_each(|(_, b)| self.discrete_in_statements(env, b, inside));
                    self.discrete_in_statements(env, otherwise, inside);
                }
                StatementKind::For { body, .. } | StatementKind::While { body, .. } => {
                    self.discrete_in_statements(env, body, inside)
                }
                StatementKind::When { branches } => {
                    branches.iter().for_each(|(_, b)| self.discrete_in_statements(env, b, true))
                }
                _ => {}
            }
        }
    }

    /// An input that takes the value of an expression of the model.
    fn model_input(&mut self, lx: &mut Lowering, e: ExprId, ty: ScalarType, name: &str) -> LocalId {
        if let Some(l) = lx.model.as_ref().and_then(|m| m.captured.get(&e)) {
            return *l;
        }
        let l = lx.local(name.to_string(), ty, Vec::new(), None);
        lx.f.inputs.push(l);
        if let Some(m) = &mut lx.model {
            m.captured.insert(e, l);
            m.args.push(e);
        }
        l
    }

    /// Expressions that are evaluated outside of the algorithm: relations (they make events), `pre`, `der`, `time`, …
    pub(crate) fn capture(&mut self, lx: &mut Lowering, e: &Expr) -> R<Option<LVal>> {
        let Some(ctx) = &lx.model else { return Ok(None) };
        let must = match &e.kind {
            ExprKind::Binary(BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge, ..) => false,
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, ..) => return self.capture_formula(lx, e),
            ExprKind::Ref(r) if !r.global && r.parts.len() == 1 && r.parts[0].name.name == self.names.time => true,
            ExprKind::Call(c) if c.function.parts.len() == 1 => match c.function.parts[0].name.name.as_str() {
                "der" | "pre" | "edge" | "change" | "initial" | "terminal" | "sample" | "delay" | "inStream"
                | "actualStream" | "cardinality" | "getInstanceName" | "previous" | "hold" | "firstTick"
                | "interval" | "subSample" | "superSample" => true,
                "floor" | "ceil" | "integer" | "div" | "mod" | "rem" => false,
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        if !must && !ctx.capture {
            if ctx.in_while {
                self.literal_relation(lx, e);
            }
            return Ok(None);
        }
        let mut dynamic = false;
        visit_refs(e, &mut |r| {
            dynamic |= r.parts.first().is_some_and(|p| lx.iterators.iter().any(|(n, _)| *n == p.name.name))
        });
        if dynamic && !must {
            self.literal_relation(lx, e);
            return Ok(None);
        }
        let in_when = ctx.when.is_some();
        let plain = in_when || ctx.initial;
        // Inside a when-statement relations make no events, but one that is part of an event has one value in all of it.
        let watched = in_when && !must && !ctx.initial;
        let env = Env { plain: plain && !watched, when: in_when, ..self.env_of(lx) };
        let known = lx.known.clone();
        let v = match self.with_known(&known, &env, &mut |me, env| me.eval(env, e)) {
            Ok(v) => v,
            Err(d) if must => return Err(d),
            Err(_) => return Ok(None),
        };
        if must
            && self.reads_assigned(lx, &v)
            && let Some(v) = self.changed_so_far(lx, e)?
        {
            return Ok(Some(v));
        }
        let Some(ctx) = &lx.model else { return Ok(None) };
        if !must {
            for x in v.scalar_list() {
                for k in self.dae.pool.holes(x) {
                    if let Some(Operand::Var { var, order: 0, .. }) = self.hole(k)
                        && ctx.assigned.contains(&var)
                    {
                        if let (true, Value::Num(x, _)) = (in_when, &v)
                            && let Some(answer) = ctx.answers.get(x)
                        {
                            return Ok(Some(answer.clone()));
                        }
                        if !plain && lx.iterators.is_empty() {
                            let answer = self.ask(lx, e)?;
                            if let (Some(m), Value::Num(x, _), Some(a)) = (&mut lx.model, &v, &answer)
                                && m.in_condition
                            {
                                m.answers.insert(*x, a.clone());
                            }
                            return Ok(answer);
                        }
                        self.literal_relation(lx, e);
                        return Ok(None);
                    }
                }
            }
        }
        let v = if watched { self.map(&v, None, &mut |me, x| me.as_watched(x)) } else { v };
        self.hand_in(lx, &v, e.span).map(Some)
    }

    /// What relations over an assigned variable were is no longer what they are.
    pub(crate) fn forget(&mut self, lx: &mut Lowering, r: &ComponentRef) {
        if lx.model.as_ref().is_none_or(|m| m.answers.is_empty()) {
            return;
        }
        let mut whole = r.clone();
        whole.parts.iter_mut().for_each(|p| p.subscripts.clear());
        let (env, known) = (self.env_of(lx), lx.known.clone());
        let v = self.with_known(&known, &env, &mut |me, env| me.eval_ref(env, &whole));
        let assigned: Option<FxHashSet<u32>> =
            v.ok().map(|v| v.scalar_list().into_iter().flat_map(|x| self.dae.pool.holes(x)).collect());
        let pool = &self.dae.pool;
        if let Some(m) = &mut lx.model {
            m.answers.retain(|x, _| assigned.as_ref().is_some_and(|a| !pool.holes(*x).iter().any(|k| a.contains(k))));
        }
    }

    /// Before statements that are repeated: what they assign behind a relation they have assigned before it, too.
    pub(crate) fn forget_all(&mut self, lx: &mut Lowering) {
        lx.model.iter_mut().for_each(|m| m.answers.clear());
    }

    /// An expression whose relations have the values that events give them, if they make any elsewhere.
    fn as_watched(&mut self, x: ExprId) -> ExprId {
        let mut events = false;
        self.dae.pool.visit(x, |_, n| events |= matches!(n, XNode::Relation(..) | XNode::EventFloor(_)));
        if events { self.dae.pool.un(Unary::Event, x) } else { x }
    }

    /// `edge(b)` and `change(b)` of what the section assigns: its value so far counts, beside the one before the event.
    fn changed_so_far(&mut self, lx: &mut Lowering, e: &Expr) -> R<Option<LVal>> {
        let ExprKind::Call(c) = &e.kind else { return Ok(None) };
        let edge = match c.function.parts[0].name.name.as_str() {
            "edge" => true,
            "change" => false,
            _ => return Ok(None),
        };
        let [b @ Expr { kind: ExprKind::Ref(_), .. }] = &c.args[..] else { return Ok(None) };
        let mut pre = c.clone();
        pre.function.parts[0].name.name = Name::new("pre");
        let pre = Expr { kind: ExprKind::Call(pre), span: e.span };
        let (LVal::Leaf(now, _, 0), LVal::Leaf(before, _, 0)) = (self.lower(lx, b)?, self.lower(lx, &pre)?) else {
            return Ok(None);
        };
        let (now, before) = (Box::new(now), Box::new(before));
        let changed = if edge {
            FExpr::Binary(Binary::And, now, Box::new(FExpr::Unary(Unary::Not, before)))
        } else {
            FExpr::Binary(Binary::Ne, now, before)
        };
        Ok(Some(LVal::Leaf(changed, Ty::Bool, 0)))
    }

    /// A condition of several relations, as a whole: its truth value makes events, not each relation. `None` where its parts have to
    /// be looked at one by one.
    fn capture_formula(&mut self, lx: &mut Lowering, e: &Expr) -> R<Option<LVal>> {
        let Some(ctx) = &lx.model else { return Ok(None) };
        let mut parts = Parts::default();
        let mut copy = e.clone();
        parts.collect(&mut copy);
        let several = parts.operands.len() >= 4 || (!parts.operands.is_empty() && !parts.others.is_empty());
        if !ctx.capture || ctx.when.is_some() || ctx.initial || !several {
            return Ok(None);
        }
        let mut dynamic = false;
        visit_refs(e, &mut |r| {
            dynamic |= r.parts.first().is_some_and(|p| lx.iterators.iter().any(|(n, _)| *n == p.name.name))
        });
        if dynamic {
            return Ok(None);
        }
        let (env, known) = (self.env_of(lx), lx.known.clone());
        let value = |me: &mut Self, e: &Expr| me.with_known(&known, &env, &mut |me, env| me.eval(env, e)).ok();
        let Some(v) = value(self, e).filter(|v| matches!(v, Value::Num(_, Ty::Bool))) else { return Ok(None) };
        if !self.reads_assigned(lx, &v) {
            return self.hand_in(lx, &v, e.span).map(Some);
        }
        if lx.iterators.is_empty() { self.ask(lx, e) } else { Ok(None) }
    }

    /// Whether a value reads what the section assigns.
    fn reads_assigned(&self, lx: &Lowering, v: &Value) -> bool {
        v.scalar_list().into_iter().flat_map(|x| self.dae.pool.holes(x)).any(|k| {
            matches!(self.hole(k), Some(Operand::Var { var, order: 0, .. })
                if lx.model.as_ref().is_some_and(|m| m.assigned.contains(&var)))
        })
    }

    /// The results of an operator with several of them, which is evaluated outside of the algorithm.
    pub(crate) fn captured_results(&mut self, lx: &mut Lowering, e: &Expr) -> R<Vec<LVal>> {
        let env = self.env_of(lx);
        let known = lx.known.clone();
        match self.with_known(&known, &env, &mut |me, env| me.eval(env, e))? {
            Value::Tuple(all) => all.iter().map(|v| self.hand_in(lx, v, e.span)).collect(),
            v => Ok(vec![self.hand_in(lx, &v, e.span)?]),
        }
    }

    /// An event-generating expression over what the section assigns: its operands, Booleans among them, are asked for, and its value
    /// comes back as an input. Over discrete variables alone it changes at events only, and is evaluated inside.
    fn ask(&mut self, lx: &mut Lowering, e: &Expr) -> R<Option<LVal>> {
        let mut asked = e.clone();
        let operands: Vec<&mut Expr> = match &mut asked.kind {
            ExprKind::Binary(..) | ExprKind::Unary(..) | ExprKind::Tuple(_) => {
                let mut parts = Parts::default();
                parts.collect(&mut asked);
                parts.operands.extend(parts.others);
                parts.operands
            }
            ExprKind::Call(c) => c.args.iter_mut().collect(),
            _ => return Ok(None),
        };
        let env = self.env_of(lx);
        let known = lx.known.clone();
        let mut answers = known.clone();
        let mut values = Vec::new();
        for operand in &operands {
            values.push(self.with_known(&known, &env, &mut |me, env| me.eval(env, operand))?);
        }
        let varies = |me: &Self, v: &Value| {
            let holes = v.scalar_list().into_iter().flat_map(|x| me.dae.pool.holes(x));
            holes.into_iter().any(|k| match me.hole(k) {
                Some(Operand::Var { var, .. }) => {
                    me.dae.vars[var].variability == Variability::Continuous && me.dae.vars[var].ty == VarType::Real
                }
                _ => false,
            })
        };
        if !values.iter().any(|v| varies(self, v)) {
            return Ok(None);
        }
        for (k, (operand, v)) in operands.into_iter().zip(&values).enumerate() {
            if !self.reads_assigned(lx, v) {
                continue;
            }
            let changes = if varies(self, v) { Variability::Continuous } else { Variability::Discrete };
            let LVal::Leaf(x, ty, 0) = self.lower(lx, operand)? else { return Ok(None) };
            let var = self.question(lx, x, operand, changes);
            let name = Name::new(&format!("$operand{k}"));
            answers.push((name, Value::Num(self.var_expr(var), ty)));
            let part = RefPart { name: Ident { name, span: operand.span }, subscripts: Vec::new() };
            operand.kind = ExprKind::Ref(ComponentRef { global: false, parts: vec![part], span: operand.span });
        }
        if answers.len() == known.len() {
            return Ok(None);
        }
        let v = self.with_known(&answers, &env, &mut |me, env| me.eval(env, &asked))?;
        self.hand_in(lx, &v, e.span).map(Some)
    }

    /// A variable of the model that holds what an expression of the section is at this place.
    fn question(&mut self, lx: &mut Lowering, value: FExpr, source: &Expr, changes: Variability) -> VarId {
        let span = source.span;
        let origin = saltus_dae::Origin {
            span: Some(span),
            instance: self.instance_shared(lx.scope.node),
            note: "relation in an algorithm",
        };
        let var = self.hidden("asked", VarType::Real, changes, origin);
        self.dae.vars[var].description = source.to_string().into();
        let upto = match lx.model.as_ref().and_then(|m| m.question) {
            Some((l, _)) => l,
            None => {
                let none = self.dae.pool.num(0.0);
                let l = lx.local("$question".into(), ScalarType::Integer, Vec::new(), None);
                lx.f.inputs.push(l);
                if let Some(m) = &mut lx.model {
                    m.question = Some((l, m.args.len()));
                    m.args.push(none);
                }
                l
            }
        };
        let name = self.dae.vars[var].name.clone();
        let local = lx.local(name, ScalarType::Real, Vec::new(), Some(FExpr::Num(0.0)));
        let Some(m) = &mut lx.model else { return var };
        m.questions.push(Question { local, var, reads: m.args.len() });
        let here = FExpr::Num(m.questions.len() as f64);
        let stop = FExpr::Binary(Binary::Eq, Box::new(FExpr::Local(upto)), Box::new(here));
        let mut statements = vec![
            FStmt { kind: FStmtKind::Assign(LValue { local, indices: Vec::new() }, value), span },
            FStmt {
                kind: FStmtKind::If(vec![(stop, vec![FStmt { kind: FStmtKind::Return, span }])], Vec::new()),
                span,
            },
        ];
        if let Some(all) = m.guards.iter().cloned().reduce(|a, b| FExpr::Binary(Binary::And, Box::new(a), Box::new(b)))
        {
            statements = vec![FStmt { kind: FStmtKind::If(vec![(all, statements)], Vec::new()), span }];
        }
        m.pending.extend(statements);
        var
    }

    /// A model value as an expression inside the algorithm.
    fn hand_in(&mut self, lx: &mut Lowering, v: &Value, span: Span) -> R<LVal> {
        match v {
            Value::Num(x, ty) => {
                if self.dae.pool.as_const(*x).is_some() {
                    return self.literal(lx, v);
                }
                let mut x = *x;
                let mut events = false;
                self.dae.pool.visit(x, |_, n| events |= matches!(n, XNode::Relation(..)));
                let watched = matches!(self.dae.pool.node(x), XNode::Unary(Unary::Event, _));
                if events && !watched && *ty == Ty::Bool {
                    let env = self.env_of(lx);
                    let c = self.condition_var(&env, x, span);
                    x = self.var_expr(c);
                }
                let l = self.model_input(lx, x, ty.scalar(), "$in");
                Ok(LVal::Leaf(FExpr::Local(l), *ty, 0))
            }
            Value::Arr(a) => {
                if a.e.iter().all(|e| self.dae.pool.as_const(*e).is_some()) {
                    return self.literal(lx, v);
                }
                let items = v.elements().iter().map(|e| self.hand_in(lx, e, span)).collect::<R<Vec<_>>>()?;
                let mut flat: Vec<FExpr> = items
                    .into_iter()
                    .map(|i| match i {
                        LVal::Leaf(e, ..) => e,
                        _ => FExpr::Num(0.0),
                    })
                    .collect();
                for d in a.dims.iter().skip(1).rev() {
                    flat = flat.chunks(*d).map(|c| FExpr::Array(c.to_vec())).collect();
                }
                Ok(LVal::Leaf(FExpr::Array(flat), a.ty, a.dims.len()))
            }
            Value::Rec(r) => Ok(LVal::Rec {
                class: r.class,
                scope: r.scope,
                rank: 0,
                fields: r.fields.iter().map(|(n, v)| Ok((*n, self.hand_in(lx, v, span)?))).collect::<R<_>>()?,
            }),
            _ => self.literal(lx, v),
        }
    }

    /// The locals standing for a variable of the model; the subscripts of the last part are still to apply.
    pub(crate) fn model_tree(&mut self, lx: &mut Lowering, r: &ComponentRef) -> R<Option<(LTree, usize)>> {
        let env = self.env_of(lx);
        let known = lx.known.clone();
        // The outermost record the reference goes through, or the variable itself: one set of locals for each.
        let mut found = None;
        for last in 0..r.parts.len() {
            let mut bare = r.clone();
            bare.parts.truncate(last + 1);
            bare.parts[last].subscripts.clear();
            match self.with_known(&known, &env, &mut |me, env| me.eval_ref(env, &bare)) {
                Ok(v) => {
                    let record = match &v {
                        Value::Rec(x) => self.is_record_class(x.class),
                        Value::RecArr(x) => matches!(x.e.first(), Some(Value::Rec(x)) if self.is_record_class(x.class)),
                        _ => false,
                    };
                    if record || last + 1 == r.parts.len() {
                        found = Some((v, bare, last));
                        break;
                    }
                }
                Err(e) if last + 1 == r.parts.len() => return Err(e),
                Err(_) => {}
            }
        }
        let Some((v, bare, last)) = found else { return Ok(None) };
        if matches!(v, Value::Func(_)) {
            return Ok(None);
        }
        let key = v.scalar_list();
        if key.iter().all(|e| self.dae.pool.as_const(*e).is_some()) {
            return Ok(None);
        }
        if let Some(t) = lx.model.as_ref().and_then(|m| m.trees.get(&key)) {
            return Ok(Some((t.clone(), last)));
        }
        let name = crate::eval::ref_text(&bare);
        let t = self.model_locals(lx, &v, &name, &[], r.span)?;
        if let Some(m) = &mut lx.model {
            m.trees.insert(key, t.clone());
        }
        Ok(Some((t, last)))
    }

    fn is_record_class(&self, c: saltus_resolve::ClassId) -> bool {
        use saltus_syntax::ast::ClassKind;
        matches!(self.lib.def(c).kind, ClassKind::Record | ClassKind::OperatorRecord)
    }

    fn model_locals(&mut self, lx: &mut Lowering, v: &Value, name: &str, outer: &[usize], span: Span) -> R<LTree> {
        match v {
            Value::Num(..) | Value::Arr(_) => {
                let ty = v.ty().unwrap_or(Ty::Real);
                let dims: Vec<usize> = outer.iter().chain(v.dims()).copied().collect();
                let fixed: Vec<Dim> = dims.iter().map(|&d| Dim::Fixed(d)).collect();
                let e = v.scalar_list();
                let vars: Vec<Option<VarId>> = e.iter().map(|&x| self.as_var(x)).collect();
                let any = lx.model.as_ref().is_some_and(|m| vars.iter().flatten().any(|v| m.assigned.contains(v)));
                let input = lx.local(
                    if any { format!("{name}$in") } else { name.to_string() },
                    ty.scalar(),
                    fixed.clone(),
                    None,
                );
                lx.f.inputs.push(input);
                for (x, var) in e.iter().zip(&vars) {
                    let assigned = var.is_some_and(|v| lx.model.as_ref().is_some_and(|m| m.assigned.contains(&v)));
                    let arg = match var {
                        Some(var) if assigned => {
                            let discrete = self.dae.vars[*var].variability == Variability::Discrete;
                            if discrete && !lx.model.as_ref().is_some_and(|m| m.initial) {
                                self.rows.operand(&mut self.dae.pool, Operand::Pre { var: *var })
                            } else {
                                match self.dae.vars[*var].start.clone() {
                                    Some(s) => self.rows.open(&mut self.dae.pool, &s),
                                    None => {
                                        self.dae.pool.num(if let VarType::Enumeration(_) = self.dae.vars[*var].ty {
                                            1.0
                                        } else {
                                            0.0
                                        })
                                    }
                                }
                            }
                        }
                        _ => *x,
                    };
                    if let Some(m) = &mut lx.model {
                        m.args.push(arg);
                    }
                }
                if !any {
                    return Ok(LTree::Leaf { local: input, ty, rank: dims.len() });
                }
                let local = lx.local(name.to_string(), ty.scalar(), fixed, Some(FExpr::Local(input)));
                let Some(list) = vars.into_iter().collect::<Option<Vec<VarId>>>() else {
                    return Err(self.err(span, format!("{name} cannot be assigned as a whole")));
                };
                if let Some(m) = &mut lx.model {
                    m.outputs.push((local, list));
                }
                Ok(LTree::Leaf { local, ty, rank: dims.len() })
            }
            Value::Rec(r) => {
                let mut fields = Vec::new();
                for (n, f) in &r.fields {
                    fields.push((*n, self.model_locals(lx, f, &format!("{name}.{n}"), outer, span)?));
                }
                Ok(LTree::Rec { class: r.class, scope: r.scope, rank: outer.len(), fields })
            }
            Value::RecArr(a) => {
                let Some(Value::Rec(first)) = a.e.first() else {
                    return Err(self.err(span, format!("{name} is empty")));
                };
                let mut fields = Vec::new();
                for (n, _) in &first.fields {
                    if let Some(f) = v.field(*n) {
                        fields.push((*n, self.model_locals(lx, &f, &format!("{name}.{n}"), outer, span)?));
                    }
                }
                Ok(LTree::Rec { class: first.class, scope: first.scope, rank: a.dims.len(), fields })
            }
            _ => Err(self.err(span, format!("{name} is not a variable"))),
        }
    }

    /// `when` in an algorithm: a Boolean per condition leaves the function and comes back as its left limit.
    pub(crate) fn algorithm_when(
        &mut self,
        lx: &mut Lowering,
        branches: &[(Expr, Vec<Statement>)],
        span: Span,
        out: &mut Vec<FStmt>,
    ) -> R<()> {
        if lx.model.is_none() {
            return Err(self.err(span, "when cannot be used in a function"));
        }
        if lx.model.as_ref().is_some_and(|m| m.when.is_some()) {
            return Err(self.err(span, "when-clauses cannot be nested"));
        }
        let initial_var = self.var_expr(HybridDae::INITIAL);
        let mut list = Vec::new();
        for (c, body) in branches {
            let mut parts = Vec::new();
            flatten_condition(c, &mut parts);
            let at_start = self.model_input(lx, initial_var, ScalarType::Boolean, "$initial");
            let mut fire: Option<FExpr> = None;
            let mut vars = Vec::new();
            let mut initial = false;
            let mut or = |x: FExpr| {
                fire = Some(match fire.take() {
                    Some(f) => FExpr::Binary(Binary::Or, Box::new(f), Box::new(x)),
                    None => x,
                });
            };
            // A vector of conditions given as a variable is taken element by element.
            let mut conditions: Vec<(FExpr, Span)> = Vec::new();
            for p in parts {
                if is_initial(p) {
                    initial = true;
                    or(FExpr::Local(at_start));
                    continue;
                }
                let always = lx.inside == 1;
                lx.model.iter_mut().for_each(|m| m.in_condition = always);
                let cond = self.lower(lx, p);
                lx.model.iter_mut().for_each(|m| m.in_condition = false);
                let LVal::Leaf(cond, Ty::Bool, rank) = cond? else {
                    return Err(self.err(p.span, "a when-condition must be a Boolean"));
                };
                out.extend(lx.take_pending());
                if rank == 0 {
                    conditions.push((cond, p.span));
                    continue;
                }
                let env = Env { mode: crate::Mode::Shape, ..self.env_of(lx) };
                let known = lx.known.clone();
                let v = self.with_known(&known, &env, &mut |me, env| me.eval(env, p))?;
                for k in 0..v.len() {
                    let at = vec![FIndex::At(FExpr::Num(k as f64 + 1.0))];
                    conditions.push((FExpr::Index(Box::new(cond.clone()), at), p.span));
                }
            }
            for (cond, cond_span) in conditions {
                let origin = saltus_dae::Origin {
                    span: Some(cond_span),
                    instance: self.instance_shared(lx.scope.node),
                    note: "when condition",
                };
                let w = self.hidden("when", VarType::Boolean, Variability::Discrete, origin);
                vars.push(w);
                let we = self.var_expr(w);
                let pre = self.pre(we, cond_span)?;
                let pw = self.model_input(lx, pre, ScalarType::Boolean, "$pre");
                let name = self.dae.vars[w].name.clone();
                let wl = lx.local(name, ScalarType::Boolean, Vec::new(), Some(FExpr::Num(0.0)));
                if let Some(m) = &mut lx.model {
                    m.outputs.push((wl, vec![w]));
                    m.assigned.insert(w);
                }
                out.push(FStmt {
                    kind: FStmtKind::Assign(LValue { local: wl, indices: Vec::new() }, cond),
                    span: cond_span,
                });
                let not = |l| FExpr::Unary(Unary::Not, Box::new(FExpr::Local(l)));
                let and = |a, b| FExpr::Binary(Binary::And, Box::new(a), Box::new(b));
                or(and(and(FExpr::Local(wl), not(pw)), not(at_start)));
            }
            if let Some(m) = &mut lx.model {
                m.when = Some((vars, initial));
                m.when_inside = lx.inside;
            }
            let b = self.lower_statements(lx, body);
            if let Some(m) = &mut lx.model {
                m.when = None;
            }
            list.push((fire.unwrap_or(FExpr::Num(0.0)), b?));
        }
        self.forget_all(lx);
        out.push(FStmt { kind: FStmtKind::If(list, Vec::new()), span });
        Ok(())
    }

    /// `reinit` in an algorithm is one of a when-equation. Where an if-statement decides, a Boolean leaves the function and tells
    /// whether the place was come to.
    pub(crate) fn algorithm_reinit(&mut self, lx: &mut Lowering, c: &Call, span: Span, out: &mut Vec<FStmt>) -> R<()> {
        let Some((conditions, initial)) = lx.model.as_ref().and_then(|m| m.when.clone()) else {
            return Err(self.err(span, "reinit can only stand in a when-statement"));
        };
        let [x, v] = &c.args[..] else { return Err(self.err(span, "reinit needs a state and a value")) };
        let env = Env { when: true, ..self.env_of(lx) };
        let known = lx.known.clone();
        let (x, v) = self.with_known(&known, &env, &mut |me, env| Ok((me.eval(env, x)?, me.eval(env, v)?)))?;
        let (a, b) = self.pair(&x, &v, span)?;
        let mut condition = None;
        if lx.model.as_ref().is_some_and(|m| lx.inside > m.when_inside) {
            let origin = self.origin(&env, span, "reinit");
            let reached = self.hidden("reached", VarType::Boolean, Variability::Discrete, origin);
            let name = self.dae.vars[reached].name.clone();
            let local = lx.local(name, ScalarType::Boolean, Vec::new(), Some(FExpr::Num(0.0)));
            if let Some(m) = &mut lx.model {
                m.outputs.push((local, vec![reached]));
                m.assigned.insert(reached);
            }
            let place = LValue { local, indices: Vec::new() };
            out.push(FStmt { kind: FStmtKind::Assign(place, FExpr::Num(1.0)), span });
            let reached = self.var_expr(reached);
            condition = Some(self.row(reached));
        }
        let mut actions = Vec::new();
        for ((x, _), (v, _)) in a.into_iter().zip(b) {
            let Some(var) = self.as_var(x) else { return Err(self.err(span, "reinit needs a variable")) };
            let value = self.row(v);
            actions.push(Action::Reinit { var, value, condition: condition.clone() });
        }
        let origin = self.origin(&env, span, "");
        self.dae.whens.push(When { branches: vec![WhenBranch { conditions, initial, actions }], guard: None, origin });
        Ok(())
    }
}

fn flatten_condition<'e>(c: &'e Expr, out: &mut Vec<&'e Expr>) {
    match &c.kind {
        ExprKind::Array(items) => items.iter().for_each(|i| flatten_condition(i, out)),
        ExprKind::Tuple(items) if items.len() == 1 => items.iter().flatten().for_each(|i| flatten_condition(i, out)),
        ExprKind::Binary(BinaryOp::Or, a, b) if is_initial(a) || is_initial(b) => {
            flatten_condition(a, out);
            flatten_condition(b, out);
        }
        _ => out.push(c),
    }
}
