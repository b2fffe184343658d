//! Expressions evaluated over arrays of symbolic scalars. Constants fold, so this is the constant evaluator too.

use crate::instance::{Found, NodeKind, Slot};
use crate::modifier::{NodeId, Scope};
use crate::template::MemberKind;
use crate::value::{Rec, Ty, Value, shape_text, stack};
use crate::{Env, Flattener, Local, Mode, R};
use saltus_base::{Name, Span};
use saltus_dae::{Action, Assertion, HybridDae, Message, Operand, Piece, Variability};
use saltus_expr::{Binary, ExprId, Node as XNode, RelOp, Unary};
use saltus_function::strings;
use saltus_syntax::ast::{
    BinaryOp, Call, ClassBody, ComponentRef, Expr, ExprKind, ForIndex, RefPart, Subscript, UnaryOp, VariabilityPrefix,
};
use std::rc::Rc;

/// One dimension of a subscript.
#[derive(Clone, Debug)]
pub(crate) enum Index {
    All,
    /// A fixed place (drops the dimension), from 1.
    At(usize),
    /// Several places (keeps it).
    Many(Vec<usize>),
    /// Known only during the run.
    Dynamic(ExprId),
    /// Several of these (keeps the dimension).
    DynamicMany(Vec<ExprId>),
}

impl<'t> Flattener<'t> {
    pub(crate) fn num(&mut self, v: f64, ty: Ty) -> Value {
        Value::Num(self.dae.pool.num(v), ty)
    }
    pub(crate) fn string(&mut self, s: &str) -> Value {
        let h = strings::intern(s);
        Value::Num(self.dae.pool.num(h), Ty::Str)
    }
    /// The name of a type for messages: enumerations by their own.
    pub(crate) fn type_text(&self, ty: Ty) -> String {
        match ty {
            Ty::Enum(class) => self.lib.qualified(class),
            ty => ty.text().to_string(),
        }
    }
    pub(crate) fn const_of(&self, v: &Value) -> Option<f64> {
        match v {
            Value::Num(e, _) => self.dae.pool.as_const(*e),
            Value::Arr(a) if a.e.len() == 1 => self.dae.pool.as_const(a.e[0]),
            _ => None,
        }
    }
    pub(crate) fn bool_of(&self, v: &Value) -> Option<bool> {
        self.const_of(v).map(|x| x != 0.0)
    }
    pub(crate) fn str_of(&self, v: &Value) -> Option<String> {
        match v {
            Value::Num(e, Ty::Str) => self.dae.pool.as_const(*e).map(|h| strings::text(h).to_string()),
            _ => None,
        }
    }
    pub(crate) fn all_const(&self, v: &Value) -> bool {
        let mut s = Vec::new();
        v.scalars(&mut s);
        s.iter().all(|(e, _)| self.dae.pool.as_const(*e).is_some())
    }
    pub(crate) fn value_text(&mut self, v: &Value) -> String {
        match v {
            Value::Num(e, Ty::Str) => match self.dae.pool.as_const(*e) {
                Some(h) => format!("{:?}", &*strings::text(h)),
                None => "a String".into(),
            },
            Value::Num(e, _) => {
                let row = self.rows.row(&mut self.dae.pool, *e);
                saltus_dae::row_text(&self.dae, &row)
            }
            v => v.describe(),
        }
    }

    /// How often the value of an expression may change.
    pub(crate) fn variability(&mut self, e: ExprId) -> Variability {
        if let Some(&v) = self.variabilities.get(&e) {
            return v;
        }
        let v = match self.dae.pool.node(e) {
            XNode::Const(_) => Variability::Constant,
            XNode::Hole(k) => match self.hole(*k) {
                Some(Operand::Var { var, order: 0, .. }) => return self.dae.vars[var].variability,
                Some(Operand::Pre { .. }) => Variability::Discrete,
                Some(Operand::Const(_)) => Variability::Constant,
                _ => Variability::Continuous,
            },
            XNode::Relation(..) | XNode::EventFloor(_) => Variability::Discrete,
            _ => {
                let mut kids = Vec::new();
                self.dae.pool.children(e, |c| kids.push(c));
                let mut v = Variability::Constant;
                for k in kids {
                    v = v.max(self.variability(k));
                }
                v
            }
        };
        self.variabilities.insert(e, v);
        v
    }

    pub(crate) fn hole(&self, k: u32) -> Option<Operand> {
        (k != u32::MAX).then(|| self.rows.get(k))
    }

    pub(crate) fn value_variability(&mut self, v: &Value) -> Variability {
        let mut out = Variability::Constant;
        for e in v.scalar_list() {
            out = out.max(self.variability(e));
        }
        out
    }

    // ---- expressions ---------------------------------------------------------------------------------------------

    pub(crate) fn eval(&mut self, env: &Env, e: &Expr) -> R<Value> {
        self.recursion += 1;
        if self.recursion > 1000 {
            self.recursion -= 1;
            return Err(self.err(e.span, "the evaluation is nested too deeply"));
        }
        let r = stacker(|| self.eval_inner(env, e));
        self.recursion -= 1;
        r
    }

    fn eval_inner(&mut self, env: &Env, e: &Expr) -> R<Value> {
        match &e.kind {
            ExprKind::Real(v) => Ok(self.num(*v, Ty::Real)),
            ExprKind::Integer(v) => Ok(self.num(*v as f64, Ty::Int)),
            ExprKind::Boolean(v) => Ok(self.num(f64::from(*v), Ty::Bool)),
            ExprKind::String(s) => Ok(self.string(s)),
            ExprKind::Ref(r) => self.eval_ref(env, r),
            ExprKind::Unary(op, a) => {
                let a = self.eval(env, a)?;
                self.unary(env, *op, a, e.span)
            }
            ExprKind::Binary(op, a, b) => {
                let x = self.eval(env, a)?;
                // Short circuit matters where the other side is not defined.
                if matches!(op, BinaryOp::And | BinaryOp::Or)
                    && let Some(v) = self.bool_of(&x)
                    && v == (*op == BinaryOp::Or)
                {
                    return Ok(x);
                }
                let conditional = env.conditional || matches!(op, BinaryOp::And | BinaryOp::Or);
                let y = self.eval(&Env { conditional, ..*env }, b)?;
                self.binary(env, *op, x, y, e.span)
            }
            ExprKind::If(branches, otherwise) => {
                let mut pending: Vec<(ExprId, Value)> = Vec::new();
                for (c, v) in branches {
                    let c = self.eval(env, c)?;
                    let Value::Num(ce, Ty::Bool) = c else {
                        return Err(self.err(e.span, format!("the condition must be a Boolean, not {}", c.describe())));
                    };
                    match self.dae.pool.as_const(ce) {
                        Some(0.0) => continue,
                        Some(_) => {
                            let v =
                                self.eval(&Env { conditional: env.conditional || !pending.is_empty(), ..*env }, v)?;
                            let v = self.join_if(pending, v, e.span)?;
                            self.check_other_branches(&v, branches, otherwise, e.span)?;
                            self.note_other_branches(env, &v, branches, otherwise);
                            return Ok(v);
                        }
                        None => {
                            let v = self.eval(&Env { conditional: true, ..*env }, v)?;
                            pending.push((ce, v));
                        }
                    }
                }
                let v = self.eval(&Env { conditional: env.conditional || !pending.is_empty(), ..*env }, otherwise)?;
                let v = self.join_if(pending, v, e.span)?;
                self.check_other_branches(&v, branches, otherwise, e.span)?;
                self.note_other_branches(env, &v, branches, otherwise);
                Ok(v)
            }
            ExprKind::Call(c) => match self.eval_call(env, c, e.span)? {
                Value::Tuple(results) if results.is_empty() => {
                    Err(self.err(e.span, "this function has no result: its call is no value"))
                }
                v => Ok(v),
            },
            ExprKind::Array(items) => {
                let vs = items.iter().map(|i| self.eval(env, i)).collect::<R<Vec<_>>>()?;
                self.stacked(&[vs.len()], &vs, e.span)
            }
            ExprKind::ArrayComprehension(body, iters) => {
                let mut out = Vec::new();
                let dims = self.iterate(env, iters, Some(body), &mut |me, env| {
                    let v = me.eval(env, body)?;
                    out.push(first_of(&v));
                    Ok(())
                })?;
                // The first iterator runs over the last of the new dimensions.
                let n = out.len();
                if dims.len() > 1 && n > 0 {
                    let mut re = Vec::with_capacity(n);
                    let rd: Vec<usize> = dims.iter().rev().copied().collect();
                    let mut index = vec![0usize; rd.len()];
                    for _ in 0..n {
                        // index is in the new order (last iterator first); find its place in the old one.
                        let mut at = 0;
                        for (k, d) in dims.iter().enumerate() {
                            at = at * d + index[rd.len() - 1 - k];
                        }
                        re.push(out[at].clone());
                        for d in (0..rd.len()).rev() {
                            index[d] += 1;
                            if index[d] < rd[d] {
                                break;
                            }
                            index[d] = 0;
                        }
                    }
                    return self.stacked(&rd, &re, e.span);
                }
                self.stacked(&dims.iter().rev().copied().collect::<Vec<_>>(), &out, e.span)
            }
            ExprKind::Matrix(rows) => {
                let mut rank = 2;
                let mut vals = Vec::new();
                for r in rows {
                    let mut row = Vec::new();
                    for c in r {
                        let v = self.eval(env, c)?;
                        rank = rank.max(v.rank());
                        row.push(v);
                    }
                    vals.push(row);
                }
                let mut out = Vec::new();
                for row in vals {
                    let row: Vec<Value> = row.into_iter().map(|v| promote(&v, rank)).collect();
                    out.push(self.cat(2, &row, e.span)?);
                }
                self.cat(1, &out, e.span)
            }
            ExprKind::Range(a, step, b) => {
                let a = self.eval_range_end(env, a)?;
                let s = step.as_ref().map(|s| self.eval_range_end(env, s)).transpose()?;
                let b = self.eval_range_end(env, b)?;
                self.range(a, s, b, e.span)
            }
            ExprKind::Tuple(items) => {
                if let [Some(one)] = &items[..] {
                    return self.eval(env, one);
                }
                Err(self.err(e.span, "a list of results can only stand on the left of an equation"))
            }
            ExprKind::End => match env.end {
                Some(n) => Ok(self.num(n as f64, Ty::Int)),
                None => Err(self.err(e.span, "`end` can only be used as a subscript")),
            },
            ExprKind::PartialFunction(c) => {
                let Some(cref) = self.function_ref(env, &c.function)? else {
                    return Err(self.err(c.function.span, "this is not a function"));
                };
                let mut bound = Vec::new();
                for (n, v) in &c.named {
                    bound.push((n.name, self.eval(env, v)?));
                }
                match cref {
                    Value::Func(f) => {
                        self.check_bound_names(f.node, c)?;
                        let mut all = f.bound.clone();
                        all.extend(bound);
                        Ok(Value::Func(Rc::new(crate::value::FuncValue { node: f.node, bound: all })))
                    }
                    v => Ok(v),
                }
            }
            ExprKind::Index(base, subs) => {
                let v = self.eval(env, base)?;
                self.subscript_value(env, v, subs, e.span)
            }
            ExprKind::Field(base, f) => {
                let v = self.eval(env, base)?;
                v.field(f.name).ok_or_else(|| self.err(f.span, format!("{} has no field {}", v.describe(), f.name)))
            }
            ExprKind::Error => Err(self.err(e.span, "this expression could not be read")),
        }
    }

    /// `function f(a = 1)` binds inputs that f has.
    pub(crate) fn check_bound_names(&mut self, f: NodeId, c: &Call) -> R<()> {
        let sig = self.signature(f, c.function.span)?;
        for (n, _) in &c.named {
            if !sig.inputs.iter().any(|p| p.name == n.name) {
                let hints = suggest(n.name.as_str(), sig.inputs.iter().map(|p| p.name.as_str()));
                return Err(self.err_hints(n.span, format!("{} has no input {}", self.path(f), n.name), hints));
            }
        }
        Ok(())
    }

    pub(crate) fn stacked(&mut self, dims: &[usize], vs: &[Value], span: Span) -> R<Value> {
        if let Some(first) = vs.first() {
            for v in vs {
                if v.dims() != first.dims() {
                    return Err(self.err(
                        span,
                        format!(
                            "elements of an array must have the same shape: {} and {}",
                            shape_text(first.dims()),
                            shape_text(v.dims())
                        ),
                    ));
                }
            }
        }
        let types: Vec<Ty> = vs.iter().filter(|v| v.len() > 0).filter_map(Value::ty).collect();
        if let Some(&other) = types.iter().find(|&&t| !self.compatible(types[0], t)) {
            return Err(self.err(
                span,
                format!("elements of an array must have one type: {} and {}", types[0].text(), other.text()),
            ));
        }
        Ok(stack(dims, vs))
    }

    /// Whether values of both types can stand in one place.
    pub(crate) fn compatible(&self, a: Ty, b: Ty) -> bool {
        match (a, b) {
            (Ty::Enum(p), Ty::Enum(q)) => self.same_enum(p, q),
            (a, b) => a == b || a.numeric() && b.numeric(),
        }
    }

    /// Runs `f` for every combination of iterator values, first iterator outermost; returns the counts.
    pub(crate) fn iterate(
        &mut self,
        env: &Env,
        iters: &[ForIndex],
        body: Option<&Expr>,
        f: &mut dyn FnMut(&mut Self, &Env) -> R<()>,
    ) -> R<Vec<usize>> {
        let Some((it, rest)) = iters.split_first() else {
            f(self, env)?;
            return Ok(Vec::new());
        };
        let range = match &it.range {
            Some(r) => self.eval_range_end(env, r)?,
            None => {
                let range = body.and_then(|b| self.implicit_range(env, it.name.name, b));
                match range {
                    Some(range) => range,
                    None => {
                        return Err(self.err(it.name.span, format!("the range of {} cannot be deduced", it.name.name)));
                    }
                }
            }
        };
        if range.rank() != 1 {
            return Err(
                self.err(it.name.span, format!("{} must run over a vector, not {}", it.name.name, range.describe()))
            );
        }
        let n = range.dims()[0];
        let mut counts = Vec::new();
        for k in 0..n {
            let value = range.at(k);
            let local = Local { name: it.name.name, value, up: env.locals };
            let inner = Env { locals: Some(&local), ..*env };
            counts = self.iterate(&inner, rest, body, f)?;
        }
        if n == 0 {
            counts = vec![0; rest.len()];
        }
        counts.insert(0, n);
        Ok(counts)
    }

    /// All subscripts of the dimension that an iterator without a range subscripts.
    pub(crate) fn implicit_range(&mut self, env: &Env, name: Name, e: &Expr) -> Option<Value> {
        let mut found = None;
        visit_refs(e, &mut |r: &ComponentRef| {
            for (k, p) in r.parts.iter().enumerate() {
                for (d, s) in p.subscripts.iter().enumerate() {
                    if let Subscript::Index(Expr { kind: ExprKind::Ref(i), .. }) = s
                        && i.parts.len() == 1
                        && i.parts[0].name.name == name
                        && found.is_none()
                    {
                        found = Some((r.clone(), k, d));
                    }
                }
            }
        });
        let (r, k, d) = found?;
        let mut base = r.clone();
        base.parts.truncate(k + 1);
        base.parts[k].subscripts.clear();
        let env = Env { mode: Mode::Shape, ..*env };
        let n = self.eval_ref(&env, &base).ok()?.dims().get(d).copied()?;
        if let Some(values) = self.subscripts_by_type(&env, &base, d) {
            return Some(values);
        }
        let e: Vec<ExprId> = (1..=n).map(|k| self.dae.pool.num(k as f64)).collect();
        Some(Value::array(Ty::Int, vec![n], e))
    }

    /// The values of the type that declares a dimension of a component.
    fn subscripts_by_type(&mut self, env: &Env, base: &ComponentRef, d: usize) -> Option<Value> {
        let Ok(Target::Nodes(nodes, ..)) = self.resolve(env, base) else { return None };
        let n = *nodes.first().filter(|n| n.0 != u32::MAX)?;
        if self.indexed_by_type(n, d) != Some(true) {
            return None;
        }
        let (clause, component, scope) = self.node(n).dims_from.as_deref().copied().or(self.node(n).clause)?;
        let Subscript::Index(e) = component.dims.iter().chain(&clause.type_dims).nth(d)? else { return None };
        self.eval(&Env::konst(scope), e).ok()
    }

    /// Ranges and dimensions are structural: parameters in them are evaluated.
    pub(crate) fn eval_range_end(&mut self, env: &Env, e: &Expr) -> R<Value> {
        if env.mode == Mode::Konst {
            return self.eval(env, e);
        }
        let v = self.eval(env, e)?;
        if self.all_const(&v) || v.rank() > 0 && !matches!(e.kind, ExprKind::Range(..)) {
            return Ok(v);
        }
        if self.value_variability(&v) <= Variability::Parameter
            && let Ok(k) = self.eval(&Env { mode: Mode::Konst, ..*env }, e)
        {
            return Ok(k);
        }
        Ok(v)
    }

    pub(crate) fn range(&mut self, a: Value, s: Option<Value>, b: Value, span: Span) -> R<Value> {
        let ty = a
            .ty()
            .unwrap_or(Ty::Int)
            .join(b.ty().unwrap_or(Ty::Int))
            .join(s.as_ref().and_then(Value::ty).unwrap_or(Ty::Int));
        let ty =
            if a.ty() == Some(Ty::Real) || s.as_ref().and_then(Value::ty) == Some(Ty::Real) || b.ty() == Some(Ty::Real)
            {
                Ty::Real
            } else {
                ty
            };
        let step = match &s {
            Some(s) => self.const_of(s),
            None => Some(1.0),
        };
        let (Some(x), Some(h), Some(y)) = (self.const_of(&a), step, self.const_of(&b)) else {
            let hint =
                "in equations, sizes are parameters; a function can take a[1:k] with a k that varies".to_string();
            return Err(self.err_hints(span, "the range must be known when compiling", vec![hint]));
        };
        if h == 0.0 {
            return Err(self.err(span, "the step of a range must not be zero"));
        }
        let n = ((y - x) / h * (1.0 + f64::EPSILON) + 1e-10).floor() + 1.0;
        let n = if n > 0.0 { n as usize } else { 0 };
        if n > 50_000_000 {
            return Err(self.err(span, format!("a range of {n} elements is too large")));
        }
        let e: Vec<ExprId> = (0..n).map(|k| self.dae.pool.num(x + k as f64 * h)).collect();
        Ok(Value::array(ty, vec![n], e))
    }

    fn join_if(&mut self, pending: Vec<(ExprId, Value)>, otherwise: Value, span: Span) -> R<Value> {
        let mut v = otherwise;
        for (c, a) in pending.into_iter().rev() {
            v = self.select(c, &a, &v, span)?;
        }
        Ok(v)
    }

    /// Branches that are never taken are not evaluated; what their types are, as far as they show it, still counts.
    fn check_other_branches(&self, v: &Value, branches: &[(Expr, Expr)], otherwise: &Expr, span: Span) -> R<()> {
        let Some(ty) = v.ty().filter(|_| v.len() > 0) else { return Ok(()) };
        let shown = branches.iter().map(|(_, v)| v).chain([otherwise]).filter_map(shown_type);
        match shown.into_iter().find(|&other| !self.compatible(ty, other)) {
            Some(other) => {
                let (a, b) = (self.type_text(ty), self.type_text(other));
                Err(self.err(span, format!("the branches have different types: {a} and {b}")))
            }
            None => Ok(()),
        }
    }

    /// Notes a variable among these parts of an expression that has become constant: its clock is that of the expression.
    fn note_vanished(&mut self, e: ExprId, parts: impl IntoIterator<Item = ExprId>) {
        if self.dae.pool.as_const(e).is_some() {
            let open = |p: &ExprId| self.dae.pool.as_const(*p).is_none() && !self.vars_in(*p).is_empty();
            let gone = parts.into_iter().find(open);
            self.clocks.vanished.extend(gone);
        }
    }

    /// The same of the branches of an expression that has become constant with its condition.
    fn note_other_branches(&mut self, env: &Env, v: &Value, branches: &[(Expr, Expr)], otherwise: &Expr) {
        if env.mode != Mode::Model || self.const_of(v).is_none() {
            return;
        }
        let mut open: Vec<&Expr> = branches.iter().map(|(_, v)| v).chain([otherwise]).collect();
        while let Some(e) = open.pop() {
            match &e.kind {
                ExprKind::Ref(r) => {
                    let parts = self.eval_ref(env, r).map_or_else(|_| Vec::new(), |v| v.scalar_list());
                    let zero = self.dae.pool.num(0.0);
                    self.note_vanished(zero, parts);
                }
                ExprKind::Unary(_, a) => open.push(a),
                ExprKind::Binary(_, a, b) => open.extend([&**a, &**b]),
                _ => {}
            }
        }
    }

    /// `if c then a else b`, elementwise.
    pub(crate) fn select(&mut self, c: ExprId, a: &Value, b: &Value, span: Span) -> R<Value> {
        let (mut sa, mut sb) = (Vec::new(), Vec::new());
        a.scalars(&mut sa);
        b.scalars(&mut sb);
        if a.dims() != b.dims() || sa.len() != sb.len() {
            return Err(self.err(
                span,
                format!("the branches have different shapes: {} and {}", shape_text(a.dims()), shape_text(b.dims())),
            ));
        }
        if let Some((x, y)) = sa.iter().zip(&sb).map(|(x, y)| (x.1, y.1)).find(|&(x, y)| !self.compatible(x, y)) {
            return Err(self.err(span, format!("the branches have different types: {} and {}", x.text(), y.text())));
        }
        let mut k = 0;
        let pool = &mut self.dae.pool;
        let mut real = false;
        let out = a.rebuild(&mut |x, t| {
            let r = pool.select(c, x, sb[k].0);
            real |= t == Ty::Int && sb[k].1 == Ty::Real;
            k += 1;
            r
        });
        Ok(if real { retype(out, Ty::Real) } else { out })
    }

    // ---- operators -----------------------------------------------------------------------------------------------

    pub(crate) fn map(&mut self, v: &Value, ty: Option<Ty>, f: &mut dyn FnMut(&mut Self, ExprId) -> ExprId) -> Value {
        let out = v.rebuild(&mut |x, _| f(self, x));
        match ty {
            Some(t) => retype(out, t),
            None => out,
        }
    }

    pub(crate) fn unary(&mut self, env: &Env, op: UnaryOp, a: Value, span: Span) -> R<Value> {
        let records = matches!(a, Value::Rec(_) | Value::RecArr(_)) && (!self.is_complex(&a) || op == UnaryOp::Not);
        if records && !matches!(op, UnaryOp::Plus | UnaryOp::ElemPlus) {
            let name = if op == UnaryOp::Not { "'not'" } else { "'-'" };
            if let Value::RecArr(r) = &a {
                let e = r.e.iter().map(|v| self.unary(env, op, v.clone(), span)).collect::<R<Vec<_>>>()?;
                return self.stacked(&r.dims, &e, span);
            }
            return self.operator_call(env, name, &[a], span);
        }
        match op {
            UnaryOp::Plus | UnaryOp::ElemPlus => Ok(a),
            UnaryOp::Neg | UnaryOp::ElemNeg => {
                if let Some(Ty::Bool | Ty::Str | Ty::Enum(_)) = a.ty() {
                    return Err(self.err(span, format!("{} has no minus sign", a.describe())));
                }
                if matches!(a, Value::Func(_)) {
                    return Err(self.err(span, "a function is not a number"));
                }
                Ok(self.map(&a, None, &mut |me, x| me.dae.pool.neg(x)))
            }
            UnaryOp::Not => {
                if a.ty() != Some(Ty::Bool) {
                    return Err(self.err(span, format!("`not` needs a Boolean, not {}", a.describe())));
                }
                Ok(self.map(&a, None, &mut |me, x| me.not(x)))
            }
        }
    }

    /// Negation that keeps relations recognisable.
    pub(crate) fn not(&mut self, x: ExprId) -> ExprId {
        self.dae.pool.not(x)
    }

    fn is_complex(&self, v: &Value) -> bool {
        match v {
            Value::Rec(r) => {
                Some(r.class) == self.complex || r.fields.len() == 2 && r.fields[0].0 == "re" && r.fields[1].0 == "im"
            }
            Value::RecArr(a) => a.e.first().is_some_and(|v| self.is_complex(v)),
            _ => false,
        }
    }

    fn parts_of_complex(&mut self, v: &Value) -> Option<(ExprId, ExprId)> {
        match v {
            Value::Rec(r) if r.fields.len() == 2 => match (&r.fields[0].1, &r.fields[1].1) {
                (Value::Num(a, _), Value::Num(b, _)) => Some((*a, *b)),
                _ => None,
            },
            Value::Num(a, Ty::Real | Ty::Int) => Some((*a, self.dae.pool.num(0.0))),
            _ => None,
        }
    }

    fn complex_value(&mut self, like: &Value, re: ExprId, im: ExprId) -> Value {
        let (class, scope) = match like {
            Value::Rec(r) => (r.class, r.scope),
            _ => (self.complex.unwrap_or(saltus_resolve::ClassId(0)), Scope::ROOT),
        };
        Value::Rec(Rc::new(Rec {
            class,
            scope,
            fields: vec![(self.names.re, Value::Num(re, Ty::Real)), (self.names.im, Value::Num(im, Ty::Real))],
        }))
    }

    /// Scalar operation on two scalar values (numbers or operator records).
    fn scalar_op(&mut self, env: &Env, op: BinaryOp, a: &Value, b: &Value, span: Span) -> R<Value> {
        use BinaryOp::*;
        if let (Value::Num(x, tx), Value::Num(y, ty)) = (a, b) {
            return self.number_op(env, op, *x, *tx, *y, *ty, span);
        }
        if (self.is_complex(a) || self.is_complex(b))
            && let (Some((ar, ai)), Some((br, bi))) = (self.parts_of_complex(a), self.parts_of_complex(b))
        {
            let like = if self.is_complex(a) { a.clone() } else { b.clone() };
            let p = &mut self.dae.pool;
            let (re, im) = match op {
                Add | ElemAdd => (p.add(ar, br), p.add(ai, bi)),
                Sub | ElemSub => (p.sub(ar, br), p.sub(ai, bi)),
                Mul | ElemMul => {
                    let (rr, ii, ri, ir) = (p.mul(ar, br), p.mul(ai, bi), p.mul(ar, bi), p.mul(ai, br));
                    (p.sub(rr, ii), p.add(ri, ir))
                }
                Div | ElemDiv if p.is_num(bi, 0.0) => (p.div(ar, br), p.div(ai, br)),
                Div | ElemDiv => {
                    let (rr, ii, ri, ir) = (p.mul(ar, br), p.mul(ai, bi), p.mul(ar, bi), p.mul(ai, br));
                    let (b2, b3) = (p.mul(br, br), p.mul(bi, bi));
                    let d = p.add(b2, b3);
                    let (n1, n2) = (p.add(rr, ii), p.sub(ir, ri));
                    (p.div(n1, d), p.div(n2, d))
                }
                Eq | Ne => {
                    let (x, y) = (p.bin(Binary::Eq, ar, br), p.bin(Binary::Eq, ai, bi));
                    let both = p.bin(Binary::And, x, y);
                    return Ok(Value::Num(if op == Eq { both } else { p.not(both) }, Ty::Bool));
                }
                Pow | ElemPow => {
                    return self.operator_call(env, "'^'", &[a.clone(), b.clone()], span);
                }
                _ => return Err(self.err(span, "this operator is not defined for complex numbers")),
            };
            return Ok(self.complex_value(&like, re, im));
        }
        if let (Value::Rec(_), _) | (_, Value::Rec(_)) = (a, b) {
            let name = match op {
                Add | ElemAdd => "'+'",
                Sub | ElemSub => "'-'",
                Mul | ElemMul => "'*'",
                Div | ElemDiv => "'/'",
                Pow | ElemPow => "'^'",
                Eq => "'=='",
                Ne => "'<>'",
                Lt => "'<'",
                Le => "'<='",
                Gt => "'>'",
                Ge => "'>='",
                And => "'and'",
                Or => "'or'",
            };
            return self.operator_call(env, name, &[a.clone(), b.clone()], span);
        }
        Err(self.err(span, format!("this operator cannot combine {} and {}", a.describe(), b.describe())))
    }

    fn number_op(&mut self, env: &Env, op: BinaryOp, x: ExprId, tx: Ty, y: ExprId, ty: Ty, span: Span) -> R<Value> {
        use BinaryOp::*;
        let bad = |me: &Self| {
            me.err(span, format!("this operator cannot combine {} and {}", me.type_text(tx), me.type_text(ty)))
        };
        match op {
            Add | ElemAdd if tx == Ty::Str && ty == Ty::Str => {
                if let (Some(a), Some(b)) = (self.dae.pool.as_const(x), self.dae.pool.as_const(y)) {
                    let s = format!("{}{}", strings::text(a), strings::text(b));
                    return Ok(self.string(&s));
                }
                let e = self.concat_call(x, y);
                Ok(Value::Num(e, Ty::Str))
            }
            Add | Sub | Mul | ElemAdd | ElemSub | ElemMul | Div | ElemDiv | Pow | ElemPow => {
                if !tx.numeric() || !ty.numeric() {
                    return Err(bad(self));
                }
                let (b, t) = match op {
                    Add | ElemAdd => (Binary::Add, tx.join(ty)),
                    Sub | ElemSub => (Binary::Sub, tx.join(ty)),
                    Mul | ElemMul => (Binary::Mul, tx.join(ty)),
                    Div | ElemDiv => (Binary::Div, Ty::Real),
                    _ => (Binary::Pow, Ty::Real),
                };
                let e = self.dae.pool.bin(b, x, y);
                self.note_vanished(e, [x, y]);
                Ok(Value::Num(e, t))
            }
            And | Or => {
                if tx != Ty::Bool || ty != Ty::Bool {
                    return Err(bad(self));
                }
                Ok(Value::Num(self.dae.pool.bin(if op == And { Binary::And } else { Binary::Or }, x, y), Ty::Bool))
            }
            Lt | Le | Gt | Ge | Eq | Ne => {
                let comparable = match (tx, ty) {
                    (Ty::Enum(a), Ty::Enum(b)) => self.same_enum(a, b),
                    (a, b) => a == b || a.numeric() && b.numeric(),
                };
                if !comparable {
                    return Err(bad(self));
                }
                if tx == Ty::Str {
                    if let (Some(a), Some(b)) = (self.dae.pool.as_const(x), self.dae.pool.as_const(y)) {
                        let o = strings::text(a).cmp(&strings::text(b));
                        let t = match op {
                            Lt => o.is_lt(),
                            Le => o.is_le(),
                            Gt => o.is_gt(),
                            Ge => o.is_ge(),
                            Eq => o.is_eq(),
                            _ => o.is_ne(),
                        };
                        return Ok(self.num(f64::from(t), Ty::Bool));
                    }
                    // Equal strings have equal handles; the order of handles is not that of texts.
                    let (order, zero) = match op {
                        Eq | Ne => (x, y),
                        _ => (self.compare_call(x, y), self.dae.pool.num(0.0)),
                    };
                    let plain = match op {
                        Lt => Binary::Lt,
                        Le => Binary::Le,
                        Gt => Binary::Gt,
                        Ge => Binary::Ge,
                        Eq => Binary::Eq,
                        _ => Binary::Ne,
                    };
                    return Ok(Value::Num(self.dae.pool.bin(plain, order, zero), Ty::Bool));
                }
                Ok(Value::Num(self.relation(env, op, x, y), Ty::Bool))
            }
        }
    }

    /// A relation, event-generating where the context and the operands ask for it.
    pub(crate) fn relation(&mut self, env: &Env, op: BinaryOp, x: ExprId, y: ExprId) -> ExprId {
        let (rel, plain) = match op {
            BinaryOp::Lt => (Some(RelOp::Lt), Binary::Lt),
            BinaryOp::Le => (Some(RelOp::Le), Binary::Le),
            BinaryOp::Gt => (Some(RelOp::Gt), Binary::Gt),
            BinaryOp::Ge => (Some(RelOp::Ge), Binary::Ge),
            BinaryOp::Eq => (None, Binary::Eq),
            _ => (None, Binary::Ne),
        };
        let continuous = self.variability(x).max(self.variability(y)) == Variability::Continuous;
        match rel {
            Some(r) if !env.plain && continuous => self.dae.pool.relation(r, x, y),
            _ => self.dae.pool.bin(plain, x, y),
        }
    }

    pub(crate) fn binary(&mut self, env: &Env, op: BinaryOp, a: Value, b: Value, span: Span) -> R<Value> {
        use BinaryOp::*;
        if let (Value::Tuple(_) | Value::Func(_), _) | (_, Value::Tuple(_) | Value::Func(_)) = (&a, &b) {
            let (a, b) = (first_of(&a), first_of(&b));
            if matches!(a, Value::Func(_)) || matches!(b, Value::Func(_)) {
                return Err(self.err(span, "a function name is not a value; call it"));
            }
            return self.binary(env, op, a, b, span);
        }
        let (ra, rb) = (a.rank(), b.rank());
        if ra == 0 && rb == 0 {
            return self.scalar_op(env, op, &a, &b, span);
        }
        match op {
            Mul if ra > 0 && rb > 0 => return self.product(env, &a, &b, span),
            Pow if ra == 2 && rb == 0 => {
                let Some(n) = self.const_of(&b) else {
                    return Err(self.err(span, "the exponent of a matrix must be constant"));
                };
                if b.ty() != Some(Ty::Int) || n < 0.0 {
                    let n = self.value_text(&b);
                    return Err(
                        self.err(span, format!("the exponent of a matrix must be a nonnegative Integer, not {n}"))
                    );
                }
                let d = a.dims().to_vec();
                if d[0] != d[1] {
                    return Err(self.err(span, format!("only square matrices have powers, not {}", shape_text(&d))));
                }
                let mut r = self.identity(d[0]);
                for _ in 0..n as usize {
                    r = self.product(env, &r, &a, span)?;
                }
                return Ok(r);
            }
            _ => {}
        }
        if matches!(op, Lt | Le | Gt | Ge | Eq | Ne) {
            let text = format!("relations compare scalars, not {} and {}", a.describe(), b.describe());
            let hint = "compare element by element: {a[i] < b[i] for i in 1:size(a, 1)}";
            return Err(self.err_hints(span, text, vec![hint.into()]));
        }
        if op == Div && rb > 0 {
            let text = format!("{} cannot be divided by {}, only by a scalar", a.describe(), b.describe());
            return Err(self.err_hints(span, text, vec!["element by element the division is written ./".into()]));
        }
        if matches!(op, And | Or) && a.dims() != b.dims() {
            let text = format!("{} and {} have different shapes", a.describe(), b.describe());
            return Err(self.err_hints(span, text, vec!["logical operators combine arrays of one shape".into()]));
        }
        let broadcast = matches!(op, Mul | ElemMul | Div | ElemDiv | ElemAdd | ElemSub | ElemPow);
        if (ra == 0 || rb == 0) && !broadcast && !matches!(op, And | Or) {
            return Err(self.err_hints(
                span,
                format!("{} and {} have different shapes", a.describe(), b.describe()),
                vec!["the elementwise operators are written with a dot: .+ .- .* ./ .^".into()],
            ));
        }
        if ra > 0 && rb > 0 && a.dims() != b.dims() {
            return Err(self.err(
                span,
                format!("the operands have different shapes: {} and {}", shape_text(a.dims()), shape_text(b.dims())),
            ));
        }
        if let (Value::Arr(_) | Value::Num(..), Value::Arr(_) | Value::Num(..)) = (&a, &b) {
            let n = a.len().max(b.len());
            let n = if ra > 0 && a.len() == 0 || rb > 0 && b.len() == 0 { 0 } else { n };
            let dims = if ra > 0 { a.dims().to_vec() } else { b.dims().to_vec() };
            let (mut sa, mut sb) = (Vec::new(), Vec::new());
            a.scalars(&mut sa);
            b.scalars(&mut sb);
            let mut ty = match op {
                Div | ElemDiv | Pow | ElemPow => Ty::Real,
                _ => a.ty().unwrap_or(Ty::Real).join(b.ty().unwrap_or(Ty::Real)),
            };
            let mut out = Vec::with_capacity(n);
            for k in 0..n {
                let (x, tx) = sa[if ra > 0 { k } else { 0 }];
                let (y, tyy) = sb[if rb > 0 { k } else { 0 }];
                match self.number_op(env, op, x, tx, y, tyy, span)? {
                    Value::Num(e, t) => {
                        ty = t;
                        out.push(e);
                    }
                    _ => return Err(self.err(span, "not a number")),
                }
            }
            return Ok(Value::array(ty, dims, out));
        }
        let n = a.len().max(b.len());
        let dims = if ra > 0 { a.dims().to_vec() } else { b.dims().to_vec() };
        if dims.iter().product::<usize>() == 0 {
            return Ok(if ra > 0 { a } else { b });
        }
        let mut out = Vec::with_capacity(n);
        for k in 0..n {
            let x = if ra > 0 { a.at(k) } else { a.clone() };
            let y = if rb > 0 { b.at(k) } else { b.clone() };
            out.push(self.scalar_op(env, op, &x, &y, span)?);
        }
        Ok(Value::records(dims, out))
    }

    /// The product of linear algebra.
    pub(crate) fn product(&mut self, env: &Env, a: &Value, b: &Value, span: Span) -> R<Value> {
        let (da, db) = (a.dims().to_vec(), b.dims().to_vec());
        let mismatch = |me: &Self| {
            me.err(span, format!("the shapes {} and {} cannot be multiplied", shape_text(&da), shape_text(&db)))
        };
        let (n, k, m, out) = match (&da[..], &db[..]) {
            ([k], [l]) if k == l => (1, *k, 1, vec![]),
            ([n, k], [l]) if k == l => (*n, *k, 1, vec![*n]),
            ([k], [l, m]) if k == l => (1, *k, *m, vec![*m]),
            ([n, k], [l, m]) if k == l => (*n, *k, *m, vec![*n, *m]),
            _ => return Err(mismatch(self)),
        };
        if let (Value::Arr(x), Value::Arr(y)) = (a, b) {
            let ty = x.ty.join(y.ty);
            if !x.ty.numeric() || !y.ty.numeric() {
                return Err(mismatch(self));
            }
            let mut e = Vec::with_capacity(n * m);
            let mut terms = Vec::with_capacity(k);
            for i in 0..n {
                for j in 0..m {
                    terms.clear();
                    for l in 0..k {
                        terms.push(self.dae.pool.mul(x.e[i * k + l], y.e[l * m + j]));
                    }
                    let sum = self.sum(&terms);
                    self.note_vanished(sum, (0..k).flat_map(|l| [x.e[i * k + l], y.e[l * m + j]]));
                    e.push(sum);
                }
            }
            return Ok(Value::array(ty, out, e));
        }
        let mut e = Vec::with_capacity(n * m);
        for i in 0..n {
            for j in 0..m {
                let mut s: Option<Value> = None;
                for l in 0..k {
                    let p = self.scalar_op(env, BinaryOp::Mul, &a.at(i * k + l), &b.at(l * m + j), span)?;
                    s = Some(match s {
                        Some(s) => self.scalar_op(env, BinaryOp::Add, &s, &p, span)?,
                        None => p,
                    });
                }
                e.push(match s {
                    Some(s) => s,
                    None => self.num(0.0, Ty::Real),
                });
            }
        }
        Ok(Value::records(out, e))
    }

    /// A sum as a balanced tree.
    pub(crate) fn sum(&mut self, terms: &[ExprId]) -> ExprId {
        match terms {
            [] => self.dae.pool.num(0.0),
            [x] => *x,
            _ if terms.len() <= 8 => {
                let mut s = terms[0];
                for &t in &terms[1..] {
                    s = self.dae.pool.add(s, t);
                }
                s
            }
            _ => {
                let (l, r) = terms.split_at(terms.len() / 2);
                let (l, r) = (self.sum(l), self.sum(r));
                self.dae.pool.add(l, r)
            }
        }
    }

    pub(crate) fn identity(&mut self, n: usize) -> Value {
        let (zero, one) = (self.dae.pool.num(0.0), self.dae.pool.num(1.0));
        let e = (0..n * n).map(|k| if k / n == k % n { one } else { zero }).collect();
        Value::array(Ty::Int, vec![n, n], e)
    }

    /// `cat(k, …)`.
    pub(crate) fn cat(&mut self, k: usize, vs: &[Value], span: Span) -> R<Value> {
        let vs: Vec<&Value> = vs.iter().collect();
        let Some(first) = vs.first() else { return Ok(Value::array(Ty::Real, vec![0], Vec::new())) };
        let rank = first.rank();
        if k == 0 || k > rank {
            return Err(self.err(span, format!("cannot concatenate along dimension {k} of {}", first.describe())));
        }
        let mut total = 0;
        let mut dims = first.dims().to_vec();
        let nonempty: Vec<&&Value> = vs.iter().filter(|v| v.len() > 0).collect();
        if let Some(f) = nonempty.first() {
            dims = f.dims().to_vec();
        }
        for v in &vs {
            if v.rank() != rank || v.len() > 0 && v.dims().iter().enumerate().any(|(i, d)| i != k - 1 && *d != dims[i])
            {
                return Err(self.err(
                    span,
                    format!("the shapes {} and {} do not fit together", shape_text(first.dims()), shape_text(v.dims())),
                ));
            }
            total += v.dims()[k - 1];
        }
        if let Some((x, y)) = nonempty.first().and_then(|f| f.ty()).and_then(|x| {
            let other = nonempty.iter().filter_map(|v| v.ty());
            other.map(|y| (x, y)).find(|&(x, y)| !self.compatible(x, y))
        }) {
            let (x, y) = (self.type_text(x), self.type_text(y));
            return Err(self.err(span, format!("arrays of {x} and {y} do not fit together")));
        }
        // Empty pieces may still differ in the other dimensions; they contribute nothing.
        let outer: usize = dims[..k - 1].iter().product();
        let inner: usize = dims[k..].iter().product();
        dims[k - 1] = if nonempty.is_empty() { total } else { nonempty.iter().map(|v| v.dims()[k - 1]).sum() };
        let mut out = Vec::new();
        let parts: Vec<(Vec<Value>, usize)> =
            nonempty.iter().map(|v| (v.elements(), v.dims()[k - 1] * inner)).collect();
        for o in 0..outer {
            for (e, w) in &parts {
                out.extend_from_slice(&e[o * w..(o + 1) * w]);
            }
        }
        if out.is_empty() {
            return Ok(Value::array(first.ty().unwrap_or(Ty::Real), dims, Vec::new()));
        }
        Ok(Value::records(dims, out))
    }

    // ---- references ----------------------------------------------------------------------------------------------

    pub(crate) fn local<'e>(&self, env: &Env<'e>, name: Name) -> Option<&'e Value> {
        let mut l = env.locals;
        while let Some(x) = l {
            if x.name == name {
                return Some(&x.value);
            }
            l = x.up;
        }
        None
    }

    pub(crate) fn eval_ref(&mut self, env: &Env, r: &ComponentRef) -> R<Value> {
        let Some(first) = r.parts.first() else { return Err(self.err(r.span, "a name is missing")) };
        if !r.global
            && let Some(v) = self.local(env, first.name.name).cloned()
        {
            let mut v = self.subscript_value(env, v, &first.subscripts, r.span)?;
            for p in &r.parts[1..] {
                v = match v.field(p.name.name) {
                    Some(f) => self.subscript_value(env, f, &p.subscripts, r.span)?,
                    None => return Err(self.err(p.name.span, format!("{} has no field {}", v.describe(), p.name.name))),
                };
            }
            return Ok(v);
        }
        if !r.global && r.parts.len() == 1 && first.name.name == self.names.time {
            if env.mode == Mode::Konst {
                return Err(self.err(r.span, "time is not known when compiling"));
            }
            let e = self.rows.var(&mut self.dae.pool, saltus_dae::HybridDae::TIME);
            return Ok(Value::Num(e, Ty::Real));
        }
        let target = match self.resolve(env, r) {
            Err(e) if env.mode != Mode::Konst => return self.chosen_component(env, r)?.ok_or(e),
            target => target?,
        };
        match target {
            Target::Nodes(nodes, dims, rest) => self.nodes_value(env, &nodes, &dims, rest, r),
            Target::Value(v) => Ok(v),
            Target::Class(c) => {
                let node = self.class_node(&c);
                let t = self.template(node)?;
                if let Some(Ty::Enum(en)) = t.builtin {
                    let n = self.enum_literals(en).len();
                    let e: Vec<ExprId> = (1..=n).map(|k| self.dae.pool.num(k as f64)).collect();
                    return Ok(Value::array(Ty::Enum(en), vec![n], e));
                }
                if t.builtin == Some(Ty::Bool) {
                    let e = vec![self.dae.pool.num(0.0), self.dae.pool.num(1.0)];
                    return Ok(Value::array(Ty::Bool, vec![2], e));
                }
                Ok(Value::Func(Rc::new(crate::value::FuncValue { node, bound: Vec::new() })))
            }
        }
    }

    /// `a[k].x` where k is known only during the run: a choice among the elements.
    fn chosen_component(&mut self, env: &Env, r: &ComponentRef) -> R<Option<Value>> {
        for (p, part) in r.parts.iter().enumerate().take(r.parts.len() - 1) {
            for (d, s) in part.subscripts.iter().enumerate() {
                let Subscript::Index(index) = s else { continue };
                let Ok(Value::Num(x, Ty::Int)) = self.eval(env, index) else { continue };
                if self.dae.pool.as_const(x).is_some() {
                    continue;
                }
                let mut whole = r.clone();
                whole.parts.truncate(p + 1);
                whole.parts[p].subscripts.clear();
                let Ok(Target::Nodes(nodes, _, _)) = self.resolve(env, &whole) else { continue };
                let Some(&first) = nodes.first() else { continue };
                let Some(&n) = self.dims(first)?.get(d) else { continue };
                let mut out: Option<Value> = None;
                for k in (1..=n).rev() {
                    let mut one = r.clone();
                    let kind = ExprKind::Integer(k as i64);
                    one.parts[p].subscripts[d] = Subscript::Index(Expr { kind, span: index.span });
                    let v = self.eval_ref(env, &one)?;
                    out = Some(match out {
                        None => v,
                        Some(rest) => {
                            let kk = self.dae.pool.num(k as f64);
                            let c = self.dae.pool.bin(Binary::Eq, x, kk);
                            self.select(c, &v, &rest, r.span)?
                        }
                    });
                }
                return Ok(out);
            }
        }
        Ok(None)
    }

    /// Whether a call of this name means the language's own function: user functions of that name come first, those
    /// that are only declared to be the built-in one do not count.
    pub(crate) fn is_builtin_call(&mut self, scope: Scope, r: &ComponentRef) -> bool {
        let [p] = &r.parts[..] else { return false };
        let name = p.name.name;
        if !self.builtin_names.contains(name.as_str()) {
            return false;
        }
        if r.global
            || matches!(
                name.as_str(),
                "der"
                    | "pre"
                    | "size"
                    | "noEvent"
                    | "smooth"
                    | "String"
                    | "Integer"
                    | "Clock"
                    | "initial"
                    | "fill"
                    | "zeros"
            )
        {
            return true;
        }
        let key = (self.node(scope.node).template.as_ref().map_or(0, |t| Rc::as_ptr(t) as usize), scope.part, name);
        if key.0 != 0
            && let Some(&b) = self.builtin_calls.get(&key)
        {
            return b;
        }
        let b = match self.lookup(scope, name) {
            Ok(Some(Found::Class(c))) => match &*self.lib.def(c.class).body {
                ClassBody::Long { external: Some(x), .. } => x.language.as_deref() == Some("builtin"),
                _ => !matches!(self.lib.def(c.class).kind, saltus_syntax::ast::ClassKind::Function),
            },
            _ => true,
        };
        self.builtin_calls.insert(key, b);
        b
    }

    pub(crate) fn enum_literals(&self, class: saltus_resolve::ClassId) -> Vec<Name> {
        match &*self.lib.def(class).body {
            ClassBody::Enumeration { literals, .. } => literals.iter().map(|l| l.name.name).collect(),
            _ => Vec::new(),
        }
    }

    pub(crate) fn same_enum(&self, a: saltus_resolve::ClassId, b: saltus_resolve::ClassId) -> bool {
        a == b || self.enum_literals(a) == self.enum_literals(b)
    }

    /// What a reference names: components (with the subscripts of the last one still to apply), a value or a class.
    pub(crate) fn resolve<'r>(&mut self, env: &Env, r: &'r ComponentRef) -> R<Target<'t, 'r>> {
        let Some(first) = r.parts.first() else { return Err(self.err(r.span, "a name is missing")) };
        let start = if r.global { Scope::ROOT } else { env.scope };
        let Some(found) = self.lookup(start, first.name.name)? else {
            let hints = self.similar(env.scope, first.name.name, false);
            let text = ref_text(r);
            let inside = self.scope_text(env.scope);
            return Err(self.err_hints(first.name.span, format!("{text} is not known in {inside}"), hints));
        };
        let mut k = 1;
        let mut found = found;
        // Through classes to a component, an enumeration literal or a class.
        let node = loop {
            match found {
                Found::Component(n) => break n,
                Found::Class(c) => {
                    let Some(p) = r.parts.get(k) else { return Ok(Target::Class(c)) };
                    let node = self.class_node(&c);
                    let t = self.template(node)?;
                    if let Some(Ty::Enum(en)) = t.builtin {
                        let lits = self.enum_literals(en);
                        return match lits.iter().position(|l| *l == p.name.name) {
                            Some(i) => Ok(Target::Value(self.num(i as f64 + 1.0, Ty::Enum(en)))),
                            None => {
                                let hints = suggest(p.name.name.as_str(), lits.iter().map(|n| n.as_str()));
                                let class = self.lib.qualified(en);
                                Err(self.err_hints(
                                    p.name.span,
                                    format!("{class} has no literal {}", p.name.name),
                                    hints,
                                ))
                            }
                        };
                    }
                    match self.member_from(Scope { node, part: 0 }, p.name.name)? {
                        Some(f) => found = f,
                        None => {
                            let hints = self.similar_members(node, p.name.name);
                            let inside = self.path(node);
                            return Err(self.err_hints(
                                p.name.span,
                                format!("there is no {} in {inside}", p.name.name),
                                hints,
                            ));
                        }
                    }
                    k += 1;
                }
            }
        };
        let mut nodes = vec![self.real(node)?];
        let mut dims: Vec<usize> = Vec::new();
        loop {
            if nodes.iter().any(|n| n.0 == u32::MAX) {
                return Ok(Target::Nodes(Vec::new(), vec![usize::MAX], &[]));
            }
            let part = &r.parts[k - 1];
            if k == r.parts.len() {
                return Ok(Target::Nodes(nodes, dims, &part.subscripts));
            }
            // Structured components: subscripts select elements, then go to the member.
            let mut next = Vec::new();
            let mut added: Option<Vec<usize>> = None;
            for &n in &nodes {
                let (sel, d) = self.select_elements(env, n, part)?;
                if added.as_ref().is_some_and(|a| *a != d) {
                    return Err(self.err(part.name.span, "elements of different shapes cannot be taken together"));
                }
                added = Some(d);
                next.extend(sel);
            }
            dims.extend(added.unwrap_or_default());
            let name = r.parts[k].name;
            nodes.clear();
            for n in next {
                match self.member_from(Scope { node: n, part: 0 }, name.name)? {
                    Some(Found::Component(c)) => {
                        if c.0 != u32::MAX && self.node(c).protected && !self.node(n).protected {
                            self.warn_protected(c, name.span);
                        }
                        let c = self.real(c)?;
                        nodes.push(c);
                    }
                    Some(Found::Class(c)) => {
                        // A constant or function of a class nested in a component.
                        let mut f = Found::Class(c);
                        let mut j = k + 1;
                        loop {
                            match f {
                                Found::Component(n) => {
                                    if j == r.parts.len() {
                                        return Ok(Target::Nodes(vec![n], vec![], &r.parts[j - 1].subscripts));
                                    }
                                    return Err(self.err(
                                        r.span,
                                        "constants inside classes of components are not reached this way",
                                    ));
                                }
                                Found::Class(c) => {
                                    let Some(p) = r.parts.get(j) else { return Ok(Target::Class(c)) };
                                    let node = self.class_node(&c);
                                    match self.member_from(Scope { node, part: 0 }, p.name.name)? {
                                        Some(x) => f = x,
                                        None => {
                                            return Err(
                                                self.err(p.name.span, format!("there is no {} here", p.name.name))
                                            );
                                        }
                                    }
                                    j += 1;
                                }
                            }
                        }
                    }
                    None => {
                        let t = self.template(n)?;
                        if t.expandable {
                            return Ok(Target::Nodes(Vec::new(), vec![usize::MAX], &[]));
                        }
                        let hints = self.similar_members(n, name.name);
                        let path = self.path(n);
                        let class = self.lib.qualified(t.class);
                        return Err(self.err_hints(
                            name.span,
                            format!("{path} (a {class}) has no {}", name.name),
                            hints,
                        ));
                    }
                }
            }
            k += 1;
        }
    }

    /// Reaching for what a class keeps to itself.
    fn warn_protected(&mut self, n: NodeId, span: Span) {
        if self.warned.insert(span) {
            let mut d = saltus_base::Diagnostic::warning(
                saltus_base::Stage::FrontEnd,
                span,
                format!("{} is protected: other classes should not use it", self.path(n)),
            );
            if let Some((_, c, _)) = self.node(n).clause {
                d = d.label(c.name.span, "declared here");
            }
            self.diagnostics.push(d);
        }
    }

    /// The elements of a component that a part of a reference selects, and the dimensions they form.
    pub(crate) fn select_elements(&mut self, env: &Env, n: NodeId, part: &RefPart) -> R<(Vec<NodeId>, Vec<usize>)> {
        let dims = self.dims(n)?;
        if dims.is_empty() {
            if !part.subscripts.is_empty() && self.node(n).kind != NodeKind::Class {
                return Err(self.err(part.name.span, format!("{} is not an array", part.name.name)));
            }
            return Ok((vec![n], vec![]));
        }
        let elements = self.element_nodes(n)?;
        if part.subscripts.is_empty() {
            return Ok((elements.to_vec(), dims.to_vec()));
        }
        let index = self.indices(env, &part.subscripts, &dims, Some(n), part.name.span)?;
        let (places, d) = match places(&index, &dims) {
            Some(p) => p,
            None => return Err(self.err(part.name.span, "the subscript of a component must be known when compiling")),
        };
        Ok((places.into_iter().map(|p| elements[p]).collect(), d))
    }

    /// A subscript that changes while running must stay within bounds wherever its element is used for certain.
    fn index_stays_within(&mut self, env: &Env, x: ExprId, n: usize, e: &Expr) {
        self.stays_within(env, (x, n), format!("the index {e} is outside 1:{n}"), ("subscript", e.span));
    }

    /// An Integer that changes while running must be between 1 and n wherever it is used for certain.
    pub(crate) fn stays_within(
        &mut self,
        env: &Env,
        (x, n): (ExprId, usize),
        text: String,
        place: (&'static str, Span),
    ) {
        if env.mode != Mode::Model || env.conditional {
            return;
        }
        let pool = &mut self.dae.pool;
        let (low, high) = (pool.num(1.0), pool.num(n as f64));
        let (above, below) = (pool.bin(Binary::Ge, x, low), pool.bin(Binary::Le, x, high));
        let mut within = pool.bin(Binary::And, above, below);
        if self.in_initial {
            let now = self.var_expr(HybridDae::INITIAL);
            let later = self.dae.pool.not(now);
            within = self.dae.pool.bin(Binary::Or, later, within);
        }
        let condition = self.row(within);
        if !env.when
            && self.dae.assertions.iter().rev().take(16).any(|a| a.condition == condition && a.guard == self.guard)
        {
            return;
        }
        let origin = self.origin(env, place.1, place.0);
        let mut message = Message { pieces: vec![Piece::Text(text)] };
        message.pieces.push(Piece::Text(": it is ".into()));
        let value = self.integer_text(x);
        message.pieces.push(Piece::String(self.row(value)));
        if env.when {
            // Asked for when the clause fires.
            self.when_checks.push(Action::Assert { condition, message, error: true });
            return;
        }
        self.dae.assertions.push(Assertion { condition, message, error: true, guard: self.guard, origin });
    }

    /// Whether a dimension of a component is declared by a type (`Real x[Boolean]`); nothing if its declaration leaves it open.
    pub(crate) fn indexed_by_type(&mut self, n: NodeId, k: usize) -> Option<bool> {
        let (clause, component, scope) = self.node(n).dims_from.as_deref().copied().or(self.node(n).clause)?;
        let Subscript::Index(e) = component.dims.iter().chain(&clause.type_dims).nth(k)? else { return None };
        let ExprKind::Ref(r) = &e.kind else { return Some(false) };
        // A name is that of a type in all instances of a declaration or in none.
        if let Some(&known) = self.typed_dims.get(&e.span) {
            return Some(known);
        }
        let typed = matches!(self.resolve(&Env::konst(scope), r), Ok(Target::Class(_)));
        self.typed_dims.insert(e.span, typed);
        Some(typed)
    }

    /// An Integer where the dimension is declared by a type.
    pub(crate) fn untyped_subscript(&self, e: &Expr) -> Box<saltus_base::Diagnostic> {
        let text = "the subscript is an Integer, but this dimension is declared by a type";
        self.err_hints(e.span, text, vec!["name a value of that type".into()])
    }

    /// Evaluates subscripts against the dimensions of a component or a value, with bounds checked.
    pub(crate) fn indices(
        &mut self,
        env: &Env,
        subs: &[Subscript],
        dims: &[usize],
        owner: Option<NodeId>,
        span: Span,
    ) -> R<Vec<Index>> {
        if subs.len() > dims.len() {
            return Err(self.err(span, format!("{} subscripts for an array of shape {}", subs.len(), shape_text(dims))));
        }
        let mut out = Vec::new();
        for (k, (s, &n)) in subs.iter().zip(dims).enumerate() {
            match s {
                Subscript::All(_) => out.push(Index::All),
                Subscript::Index(e) => {
                    let inner = Env { end: Some(n), ..*env };
                    let v = self.eval_range_end(&inner, e)?;
                    let check = |me: &Self, x: f64| -> R<usize> {
                        if x >= 1.0 && x <= n as f64 && x.fract() == 0.0 {
                            Ok(x as usize)
                        } else {
                            Err(me.err(e.span, format!("the index {x} is outside 1:{n}")))
                        }
                    };
                    if let Some(Ty::Real | Ty::Str) = v.ty().filter(|_| v.len() > 0) {
                        let what =
                            format!("a subscript must be an Integer or a vector of Integers, not {}", v.describe());
                        return Err(self.err(e.span, what));
                    }
                    if let Some(ty @ (Ty::Bool | Ty::Enum(_))) = v.ty()
                        && owner.and_then(|o| self.indexed_by_type(o, k)) == Some(false)
                    {
                        let ty = self.type_text(ty);
                        let text = format!("the subscript is a {ty}, but this dimension is not declared by that type");
                        let hint = format!("declare it as [{ty}], or convert the subscript to an Integer");
                        return Err(self.err_hints(e.span, text, vec![hint]));
                    }
                    if v.ty() == Some(Ty::Int)
                        && v.len() > 0
                        && !mentions_end(e)
                        && owner.and_then(|o| self.indexed_by_type(o, k)) == Some(true)
                    {
                        return Err(self.untyped_subscript(e));
                    }
                    match &v {
                        Value::Num(x, ty) => match self.dae.pool.as_const(*x) {
                            Some(c) => {
                                let c = if *ty == Ty::Bool { c + 1.0 } else { c };
                                out.push(Index::At(check(self, c)?));
                            }
                            None if env.mode == Mode::Shape => out.push(Index::At(1)),
                            None => {
                                let one = self.dae.pool.num(1.0);
                                let x = if *ty == Ty::Bool { self.dae.pool.add(*x, one) } else { *x };
                                self.index_stays_within(env, x, n, e);
                                out.push(Index::Dynamic(x));
                            }
                        },
                        Value::Arr(a) if a.dims.len() == 1 => {
                            if env.mode == Mode::Shape && n > 0 && !self.all_const(&v) {
                                out.push(Index::Many(vec![1; a.e.len()]));
                                continue;
                            }
                            let mut many = Vec::new();
                            let known = match self.all_const(&v) {
                                true => Ok(v.clone()),
                                false => self.eval(&Env { mode: Mode::Konst, ..inner }, e),
                            };
                            let Ok(Value::Arr(known)) = known else {
                                let shift = self.dae.pool.num(f64::from(a.ty == Ty::Bool));
                                let list: Vec<ExprId> = a.e.iter().map(|&x| self.dae.pool.add(x, shift)).collect();
                                for &x in &list {
                                    self.index_stays_within(env, x, n, e);
                                }
                                out.push(Index::DynamicMany(list));
                                continue;
                            };
                            for x in &known.e {
                                let c = self.dae.pool.as_const(*x).unwrap_or(0.0);
                                many.push(check(self, if a.ty == Ty::Bool { c + 1.0 } else { c })?);
                            }
                            out.push(Index::Many(many));
                        }
                        v => {
                            return Err(self.err(
                                e.span,
                                format!("a subscript must be an Integer or a vector of Integers, not {}", v.describe()),
                            ));
                        }
                    }
                }
            }
        }
        for _ in subs.len()..dims.len() {
            out.push(Index::All);
        }
        Ok(out)
    }

    pub(crate) fn subscript_value(&mut self, env: &Env, v: Value, subs: &[Subscript], span: Span) -> R<Value> {
        if subs.is_empty() {
            return Ok(v);
        }
        if v.rank() == 0 {
            return Err(self.err(span, format!("{} has no subscripts", v.describe())));
        }
        let dims = v.dims().to_vec();
        let index = self.indices(env, subs, &dims, None, span)?;
        self.apply_index(&v, &index, span)
    }

    pub(crate) fn apply_index(&mut self, v: &Value, index: &[Index], span: Span) -> R<Value> {
        let dims = v.dims().to_vec();
        // Several dynamic indices: one selection for each, put together where the dimension was.
        if let Some(d) = index.iter().position(|i| matches!(i, Index::DynamicMany(_))) {
            let Index::DynamicMany(list) = &index[d] else { return Err(self.err(span, "bad index")) };
            let mut parts = Vec::with_capacity(list.len());
            for &x in list {
                let mut i = index.to_vec();
                i[d] = Index::Dynamic(x);
                parts.push(self.apply_index(v, &i, span)?);
            }
            let before = index[..d].iter().filter(|i| !matches!(i, Index::At(_) | Index::Dynamic(_))).count();
            let Some(first) = parts.first() else {
                let mut dims = dims;
                dims[d] = 0;
                return Ok(Value::array(v.ty().unwrap_or(Ty::Real), dims, Vec::new()));
            };
            let mut out_dims = first.dims().to_vec();
            let lead: usize = out_dims[..before].iter().product();
            let lists: Vec<Vec<Value>> = parts.iter().map(|p| p.elements()).collect();
            let width = lists[0].len() / lead.max(1);
            let mut all = Vec::with_capacity(lists.len() * lists[0].len());
            for a in 0..lead {
                for l in &lists {
                    all.extend_from_slice(&l[a * width..(a + 1) * width]);
                }
            }
            out_dims.insert(before, parts.len());
            return Ok(crate::value::stack(&out_dims, &all));
        }
        // A dynamic index becomes a choice among its possible values.
        if let Some(d) = index.iter().position(|i| matches!(i, Index::Dynamic(_))) {
            let Index::Dynamic(x) = index[d] else { return Err(self.err(span, "bad index")) };
            let n = dims[d];
            if n == 0 {
                return Err(self.err(span, "an empty array has no elements"));
            }
            let pick = |me: &mut Self, k: usize| -> R<Value> {
                let mut i = index.to_vec();
                i[d] = Index::At(k);
                me.apply_index(v, &i, span)
            };
            let mut out = pick(self, n)?;
            for k in (1..n).rev() {
                let a = pick(self, k)?;
                let kk = self.dae.pool.num(k as f64);
                let c = self.dae.pool.bin(Binary::Eq, x, kk);
                out = self.select(c, &a, &out, span)?;
            }
            return Ok(out);
        }
        let Some((places, d)) = places(index, &dims) else { return Err(self.err(span, "bad index")) };
        Ok(match v {
            Value::Arr(a) => Value::array(a.ty, d, places.into_iter().map(|p| a.e[p]).collect()),
            v => {
                let e = v.elements();
                Value::records(d, places.into_iter().map(|p| e[p].clone()).collect())
            }
        })
    }

    /// Whether one of the components before the last name is an expandable connector without the next one.
    fn reaches_into_a_bus(&mut self, env: &Env, r: &ComponentRef) -> bool {
        (1..r.parts.len()).any(|k| {
            let mut bus = r.clone();
            bus.parts.truncate(k);
            let Ok(Target::Nodes(nodes, ..)) = self.resolve(env, &bus) else { return false };
            let Some(&n) = nodes.first().filter(|n| n.0 != u32::MAX) else { return false };
            self.template(n).is_ok_and(|t| t.expandable && !t.index.contains_key(&r.parts[k].name.name))
        })
    }

    fn nodes_value(
        &mut self,
        env: &Env,
        nodes: &[NodeId],
        dims: &[usize],
        subs: &[Subscript],
        r: &ComponentRef,
    ) -> R<Value> {
        if dims == [usize::MAX] {
            let text = ref_text(r);
            if self.reaches_into_a_bus(env, r) {
                let hint = "a variable gets into an expandable connector by a connection or a declaration in its class";
                return Err(self.err_hints(r.span, format!("nothing puts {text} into its bus"), vec![hint.into()]));
            }
            return Err(self.err_hints(
                r.span,
                format!("{text} does not exist: the component is switched off by its condition"),
                vec!["such a component can only be used in connect".into()],
            ));
        }
        if let ([n], []) = (nodes, dims) {
            // Subscripts on a leaf select before anything is built: a loop over an array costs what it touches.
            if let Some(v) = self.selected_value(env, *n, subs, r.span)? {
                return Ok(v);
            }
            let v = self.node_value(env, *n, r.span)?;
            if subs.is_empty() {
                return Ok(v);
            }
            let index = self.indices(env, subs, v.dims(), Some(*n), r.span)?;
            return self.apply_index(&v, &index, r.span);
        }
        let mut vs = Vec::with_capacity(nodes.len());
        for &n in nodes {
            let v = self.node_value(env, n, r.span)?;
            vs.push(self.subscript_value(env, v, subs, r.span)?);
        }
        if vs.is_empty() {
            return Ok(Value::array(Ty::Real, dims.to_vec(), Vec::new()));
        }
        self.stacked(dims, &vs, r.span)
    }

    /// Elements of a variable picked by subscripts known now.
    fn selected_value(&mut self, env: &Env, n: NodeId, subs: &[Subscript], span: Span) -> R<Option<Value>> {
        if subs.is_empty() || env.mode != Mode::Model {
            return Ok(None);
        }
        let n = self.real(n)?;
        let t = self.template(n)?;
        let node = self.node(n);
        let (Some(ty), Some(var)) = (t.builtin, node.var) else { return Ok(None) };
        if matches!(node.variability, VariabilityPrefix::Constant | VariabilityPrefix::Parameter) {
            return Ok(None);
        }
        let dims = self.dims(n)?.to_vec();
        if dims.is_empty() {
            return Ok(None);
        }
        let index = self.indices(env, subs, &dims, Some(n), span)?;
        let Some((places, d)) = places(&index, &dims) else { return Ok(None) };
        let e = places
            .into_iter()
            .map(|k| self.rows.var(&mut self.dae.pool, saltus_dae::VarId::new(var.index() + k)))
            .collect();
        Ok(Some(Value::array(ty, d, e)))
    }

    /// The value of a component.
    pub(crate) fn node_value(&mut self, env: &Env, n: NodeId, span: Span) -> R<Value> {
        let n = self.real(n)?;
        let t = self.template(n)?;
        let node = self.node(n);
        let Some(ty) = t.builtin else {
            return self.structured_value(n, env.mode).map_err(|mut e| {
                if e.span.is_none() {
                    e.span = span;
                }
                e
            });
        };
        let (variability, var) = (node.variability, node.var);
        match env.mode {
            Mode::Konst => {
                let v = self.constant(n).map_err(|e| self.used_at(e, span))?;
                // An object made now is gone when the run makes its own.
                self.node_mut(n).structural = ty != Ty::Object;
                return Ok(v);
            }
            Mode::Shape => {
                if matches!(variability, VariabilityPrefix::Constant | VariabilityPrefix::Parameter)
                    && ty != Ty::Object
                    && let Ok(v) = self.constant(n)
                {
                    return Ok(v);
                }
                let dims = self.dims(n)?;
                let h = self.dae.pool.hole(u32::MAX);
                return Ok(Value::array(ty, dims.to_vec(), vec![h; dims.iter().product()]));
            }
            Mode::Model => {}
        }
        let Some(var) = var else {
            // Constants of packages, constants of classes.
            if ty == Ty::Object {
                return Err(self.err(span, "not supported yet: external objects that are constants of a package"));
            }
            return self.constant(n).map_err(|e| self.used_at(e, span));
        };
        let fold = match variability {
            _ if ty == Ty::Object => false,
            VariabilityPrefix::Constant => true,
            VariabilityPrefix::Parameter => ty != Ty::Real || self.evaluated(n),
            _ => false,
        };
        if fold && let Ok(v) = self.constant(n) {
            return Ok(v);
        }
        let dims = self.dims(n)?;
        let count: usize = dims.iter().product();
        let e: Vec<ExprId> =
            (0..count).map(|k| self.rows.var(&mut self.dae.pool, saltus_dae::VarId::new(var.index() + k))).collect();
        Ok(Value::array(ty, dims.to_vec(), e))
    }

    /// `annotation(Evaluate = true)`.
    pub(crate) fn evaluated(&self, n: NodeId) -> bool {
        self.annotated(n, "Evaluate")
    }

    /// Whether a component carries `annotation(name = true)`.
    pub(crate) fn annotated(&self, n: NodeId, name: &str) -> bool {
        self.annotation_flag(n, name) == Some(true)
    }

    /// The value of a Boolean annotation of a component, if it has one of that name.
    pub(crate) fn annotation_flag(&self, n: NodeId, name: &str) -> Option<bool> {
        let (_, c, _) = self.node(n).clause?;
        c.annotation.as_ref()?.args.iter().find_map(|a| match a {
            saltus_syntax::ast::Argument::Modification { path, modification: Some(m), .. }
                if path.len() == 1 && path[0].name == name =>
            {
                match m.binding.as_ref().map(|e| &e.kind) {
                    Some(ExprKind::Boolean(b)) => Some(*b),
                    _ => None,
                }
            }
            _ => None,
        })
    }

    /// The value of a record or array of records, field by field.
    pub(crate) fn structured_value(&mut self, n: NodeId, mode: Mode) -> R<Value> {
        let dims = self.dims(n)?;
        if !dims.is_empty() {
            let el = self.element_nodes(n)?;
            let vs = el.iter().map(|&k| self.structured_value(k, mode)).collect::<R<Vec<_>>>()?;
            return Ok(Value::records(dims.to_vec(), vs));
        }
        let t = self.template(n)?;
        let span = self.node(n).clause.map_or(Span::NONE, |c| c.1.name.span);
        if !t.is_record() && !t.is_connector() && !self.loose_records {
            let path = self.path(n);
            return Err(self.err(Span::NONE, format!("{path} is a {}, not a value", self.lib.qualified(t.class))));
        }
        let mut fields = Vec::new();
        for (i, m) in t.members.iter().enumerate() {
            if matches!(m.kind, MemberKind::Component { .. })
                && let Slot::Node(c) = self.child(n, i as u32)?
            {
                let env = Env { mode, ..Env::model(Scope { node: n, part: m.part }) };
                fields.push((m.name, self.node_value(&env, c, span)?));
            }
        }
        Ok(Value::Rec(Rc::new(Rec { class: t.class, scope: self.node(n).cref.scope, fields })))
    }
}

/// What a reference names.
pub(crate) enum Target<'t, 'r> {
    /// Components forming an array of these dimensions; `[usize::MAX]`: switched off.
    Nodes(Vec<NodeId>, Vec<usize>, &'r [Subscript]),
    Value(Value),
    Class(crate::template::ClassRef<'t>),
}

/// Row-major places selected by indices, with the resulting dimensions.
pub(crate) fn places(index: &[Index], dims: &[usize]) -> Option<(Vec<usize>, Vec<usize>)> {
    let mut out = vec![0usize];
    let mut d = Vec::new();
    for (i, &n) in index.iter().zip(dims) {
        let list: Vec<usize> = match i {
            Index::All => {
                d.push(n);
                (0..n).collect()
            }
            Index::At(k) => vec![k - 1],
            Index::Many(v) => {
                d.push(v.len());
                v.iter().map(|k| k - 1).collect()
            }
            Index::Dynamic(_) | Index::DynamicMany(_) => return None,
        };
        let mut next = Vec::with_capacity(out.len() * list.len());
        for o in &out {
            next.extend(list.iter().map(|k| o * n + k));
        }
        out = next;
    }
    Some((out, d))
}

pub(crate) fn retype(v: Value, ty: Ty) -> Value {
    match v {
        Value::Num(e, _) => Value::Num(e, ty),
        Value::Arr(a) => Value::array(ty, a.dims.clone(), a.e.clone()),
        v => v,
    }
}

pub(crate) fn first_of(v: &Value) -> Value {
    match v {
        Value::Tuple(t) if !t.is_empty() => t[0].clone(),
        v => v.clone(),
    }
}

pub(crate) fn promote(v: &Value, rank: usize) -> Value {
    let mut d = v.dims().to_vec();
    d.resize(rank.max(d.len()), 1);
    v.reshape(d)
}

pub(crate) fn ref_text(r: &ComponentRef) -> String {
    let t: Vec<String> = r
        .parts
        .iter()
        .map(|p| if p.subscripts.is_empty() { p.name.name.to_string() } else { format!("{}[…]", p.name.name) })
        .collect();
    format!("{}{}", if r.global { "." } else { "" }, t.join("."))
}

/// Names close to a misspelt one.
pub(crate) fn suggest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut best: Vec<(usize, &str)> = candidates
        .filter_map(|c| {
            let d = distance(name, c);
            // One letter more or less makes any two short names alike.
            let slack = usize::from((2..=3).contains(&name.len()));
            (d <= name.chars().count().max(c.chars().count()) / 3 + slack).then_some((d, c))
        })
        .collect();
    best.sort();
    best.dedup();
    if best.is_empty() {
        return Vec::new();
    }
    let list: Vec<String> = best.iter().take(3).map(|(_, c)| c.to_string()).collect();
    vec![format!("did you mean {}?", list.join(" or "))]
}

fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) =
        (a.chars().flat_map(char::to_lowercase).collect(), b.chars().flat_map(char::to_lowercase).collect());
    // Two letters exchanged count as one mistake.
    let (mut before, mut row): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..=b.len()).collect());
    for i in 1..=a.len() {
        let mut next = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            next[j] = (row[j - 1] + usize::from(a[i - 1] != b[j - 1])).min(row[j] + 1).min(next[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                next[j] = next[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}

/// Whether `end` stands in an expression.
pub(crate) fn mentions_end(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::End => true,
        ExprKind::Unary(_, a) => mentions_end(a),
        ExprKind::Binary(_, a, b) => mentions_end(a) || mentions_end(b),
        ExprKind::Range(a, s, b) => mentions_end(a) || s.as_ref().is_some_and(|s| mentions_end(s)) || mentions_end(b),
        ExprKind::Array(v) => v.iter().any(mentions_end),
        _ => false,
    }
}

/// All component references of an expression, those in subscripts included.
pub(crate) fn visit_refs(e: &Expr, f: &mut dyn FnMut(&ComponentRef)) {
    fn sub(s: &Subscript, f: &mut dyn FnMut(&ComponentRef)) {
        if let Subscript::Index(e) = s {
            visit_refs(e, f);
        }
    }
    match &e.kind {
        ExprKind::Ref(r) => {
            f(r);
            r.parts.iter().flat_map(|p| &p.subscripts).for_each(|s| sub(s, f));
        }
        ExprKind::Unary(_, a) | ExprKind::Field(a, _) => visit_refs(a, f),
        ExprKind::Binary(_, a, b) => {
            visit_refs(a, f);
            visit_refs(b, f);
        }
        ExprKind::If(b, o) => {
            for (c, v) in b {
                visit_refs(c, f);
                visit_refs(v, f);
            }
            visit_refs(o, f);
        }
        ExprKind::Call(c) | ExprKind::PartialFunction(c) => {
            c.args.iter().for_each(|a| visit_refs(a, f));
            c.named.iter().for_each(|(_, a)| visit_refs(a, f));
            c.iterators.iter().filter_map(|i| i.range.as_ref()).for_each(|a| visit_refs(a, f));
        }
        ExprKind::Array(v) => v.iter().for_each(|a| visit_refs(a, f)),
        ExprKind::ArrayComprehension(b, it) => {
            visit_refs(b, f);
            it.iter().filter_map(|i| i.range.as_ref()).for_each(|a| visit_refs(a, f));
        }
        ExprKind::Matrix(rows) => rows.iter().flatten().for_each(|a| visit_refs(a, f)),
        ExprKind::Range(a, s, b) => {
            visit_refs(a, f);
            if let Some(s) = s {
                visit_refs(s, f);
            }
            visit_refs(b, f);
        }
        ExprKind::Tuple(v) => v.iter().flatten().for_each(|a| visit_refs(a, f)),
        ExprKind::Index(b, subs) => {
            visit_refs(b, f);
            subs.iter().for_each(|s| sub(s, f));
        }
        _ => {}
    }
}

/// The type of an expression, where it shows without a look at names.
fn shown_type(e: &Expr) -> Option<Ty> {
    use BinaryOp::*;
    match &e.kind {
        ExprKind::Real(_) => Some(Ty::Real),
        ExprKind::Integer(_) => Some(Ty::Int),
        ExprKind::Boolean(_) | ExprKind::Unary(UnaryOp::Not, _) => Some(Ty::Bool),
        ExprKind::Binary(Lt | Le | Gt | Ge | Eq | Ne | And | Or, ..) => Some(Ty::Bool),
        ExprKind::String(_) => Some(Ty::Str),
        ExprKind::Unary(_, a) => shown_type(a),
        ExprKind::Array(items) => items.first().and_then(shown_type),
        ExprKind::Tuple(items) => match &items[..] {
            [Some(one)] => shown_type(one),
            _ => None,
        },
        _ => None,
    }
}

/// Unary function applied elementwise by name of the operator.
pub(crate) fn unary_named(name: &str) -> Option<Unary> {
    Some(match name {
        "sqrt" => Unary::Sqrt,
        "sin" => Unary::Sin,
        "cos" => Unary::Cos,
        "tan" => Unary::Tan,
        "asin" => Unary::Asin,
        "acos" => Unary::Acos,
        "atan" => Unary::Atan,
        "sinh" => Unary::Sinh,
        "cosh" => Unary::Cosh,
        "tanh" => Unary::Tanh,
        "exp" => Unary::Exp,
        "log" => Unary::Log,
        "log10" => Unary::Log10,
        _ => return None,
    })
}

/// Deep expressions need stack; the evaluator's recursion is bounded by a counter instead of by luck.
fn stacker<T>(f: impl FnOnce() -> T) -> T {
    f()
}
