//! Equation sections.

use crate::eval::first_of;
use crate::modifier::{NodeId, Scope};
use crate::value::{Ty, Value, shape_text};
use crate::{Env, Flattener, Mode, R};
use saltus_base::Span;
use saltus_dae::{Assertion, Equation, HybridDae, IfGroup, Message, Operand, Piece, VarId, VarType, Variability};
use saltus_expr::{Binary, ExprId, Node as XNode, Unary};
use saltus_syntax::ast::{BinaryOp, ClassBody, Equation as AstEquation, EquationKind, Expr, ExprKind, Section};

impl<'t> Flattener<'t> {
    /// Equations and algorithms of everything below.
    pub(crate) fn sections(&mut self, n: NodeId) {
        if self.node(n).outer.is_some() {
            return;
        }
        let Ok(t) = self.template(n) else { return };
        if t.builtin.is_some() {
            return;
        }
        if self.dims(n).is_ok_and(|d| d.is_empty()) {
            for part in (0..t.parts.len()).rev() {
                let scope = Scope { node: n, part: part as u16 };
                let ClassBody::Long { sections, .. } = &*t.parts[part].def.body else { continue };
                for s in sections {
                    match s {
                        Section::Equations { initial, equations } => {
                            self.in_initial = *initial;
                            for e in equations {
                                let env = Env::model(scope);
                                if let Err(e) = self.equation(&env, e) {
                                    self.report_in(e, scope);
                                }
                            }
                            self.in_initial = false;
                        }
                        Section::Algorithm { initial, statements, span } => {
                            if let Err(e) = self.algorithm(scope, *initial, statements, *span) {
                                self.report_in(e, scope);
                            }
                        }
                    }
                }
            }
        }
        for c in self.below(n) {
            self.sections(c);
        }
    }

    pub(crate) fn equation(&mut self, env: &Env, eq: &'t AstEquation) -> R<()> {
        match &eq.kind {
            EquationKind::Simple(l, r) => {
                self.clocks.vanished.clear();
                if let ExprKind::Tuple(items) = &l.kind
                    && items.len() > 1
                {
                    return self.tuple_equation(env, items, r, eq.span);
                }
                if let (ExprKind::Tuple(items), ExprKind::Call(_)) = (&r.kind, &l.kind)
                    && items.len() > 1
                {
                    return self.tuple_equation(env, items, l, eq.span);
                }
                let lv = self.eval(env, l)?;
                let rv = self.eval(env, r)?;
                if !self.in_initial && self.vanishing_minimum(env, &lv, &rv, eq.span) {
                    return Ok(());
                }
                let (lv, rv) = (first_of(&lv), first_of(&rv));
                self.equate(env, &lv, &rv, eq.span, "")
            }
            EquationKind::Connect(..) if self.in_initial => {
                Err(self.err(eq.span, "connect cannot stand in an initial equation section"))
            }
            EquationKind::Connect(..) => Ok(()),
            EquationKind::If { branches, otherwise } => {
                let mut conditions: Vec<ExprId> = Vec::new();
                let mut bodies: Vec<&'t [AstEquation]> = Vec::new();
                let mut done = false;
                for (c, body) in branches {
                    let mut v = self.eval(env, c)?;
                    if self.const_of(&v).is_none()
                        && self.value_variability(&v) <= Variability::Parameter
                        && let Ok(k) = self.eval(&Env { mode: Mode::Konst, ..*env }, c)
                    {
                        v = k;
                    }
                    let Value::Num(e, Ty::Bool) = v else {
                        return Err(self.err(c.span, format!("the condition must be a Boolean, not {}", v.describe())));
                    };
                    match self.dae.pool.as_const(e) {
                        Some(0.0) => {}
                        Some(_) => {
                            bodies.push(body);
                            done = true;
                            break;
                        }
                        None => {
                            conditions.push(e);
                            bodies.push(body);
                        }
                    }
                }
                if !done {
                    bodies.push(otherwise);
                }
                if conditions.is_empty() {
                    for e in bodies[0] {
                        self.reported(env, e);
                    }
                    return Ok(());
                }
                if self.in_initial {
                    return self.initial_if(env, &conditions, &bodies, eq.span);
                }
                let rows = conditions.iter().map(|&c| self.row(c)).collect();
                let outer = self.guard;
                let origin = self.origin(env, eq.span, "");
                let id = self.dae.ifs.push(IfGroup { conditions: rows, parent: outer, origin });
                for (k, body) in bodies.iter().enumerate() {
                    self.guard = Some((id, k as u32));
                    for e in *body {
                        self.reported(env, e);
                    }
                }
                self.guard = outer;
                Ok(())
            }
            EquationKind::For { indices, body } => {
                if let [it] = &indices[..]
                    && self.for_rows(env, it, body)?
                {
                    return Ok(());
                }
                let probe = if indices.iter().any(|i| i.range.is_none()) { body_refs(body) } else { None };
                self.iterate(env, indices, probe.as_ref(), &mut |me, env| {
                    for e in body {
                        me.reported(env, e);
                    }
                    Ok(())
                })?;
                Ok(())
            }
            EquationKind::When { branches } => self.when_equation(env, branches, eq.span),
            EquationKind::Call(e) => self.call_equation(env, e, eq.span),
        }
    }

    pub(crate) fn reported(&mut self, env: &Env, e: &'t AstEquation) {
        if let Err(d) = self.equation(env, e) {
            self.report_in(d, env.scope);
        }
    }

    /// If-equations in initial sections become conditional residuals: both sides must have equally many.
    fn initial_if(&mut self, env: &Env, conditions: &[ExprId], bodies: &[&'t [AstEquation]], span: Span) -> R<()> {
        let mut lists: Vec<Vec<Equation>> = Vec::new();
        let keep = std::mem::take(&mut self.dae.initial_equations);
        for b in bodies {
            for e in *b {
                self.reported(env, e);
            }
            lists.push(std::mem::take(&mut self.dae.initial_equations));
        }
        self.dae.initial_equations = keep;
        let n = lists.iter().map(Vec::len).max().unwrap_or(0);
        if lists.iter().any(|l| l.len() != n) {
            return Err(self.err_hints(
                span,
                "the branches of this if in an initial equation have different numbers of equations",
                vec!["make the condition a parameter, or give all branches equally many".into()],
            ));
        }
        for k in 0..n {
            let last = lists.len() - 1;
            let mut e = self.rows.open(&mut self.dae.pool, &lists[last][k].row);
            for (c, l) in conditions.iter().zip(&lists).rev() {
                let a = self.rows.open(&mut self.dae.pool, &l[k].row);
                e = self.dae.pool.select(*c, a, e);
            }
            let row = self.row(e);
            self.dae.initial_equations.push(Equation { row, guard: None, origin: lists[0][k].origin.clone() });
        }
        Ok(())
    }

    /// `(a, , b) = f(x)`.
    fn tuple_equation(&mut self, env: &Env, items: &[Option<Expr>], r: &Expr, span: Span) -> R<()> {
        let v = self.eval(env, r)?;
        let parts: Vec<Value> = match &v {
            Value::Tuple(t) => t.to_vec(),
            v => vec![v.clone()],
        };
        if parts.len() < items.len() {
            return Err(
                self.err(span, format!("{} results are asked for, the function has {}", items.len(), parts.len()))
            );
        }
        if let Some(other) = items.iter().flatten().find(|i| !matches!(i.kind, ExprKind::Ref(_))) {
            return Err(self.err(other.span, "results of a function go to variables, not to expressions"));
        }
        for (i, p) in items.iter().zip(&parts) {
            if let Some(i) = i {
                let l = self.eval(env, i)?;
                self.equate(env, &l, p, span, "")?;
            }
        }
        Ok(())
    }

    /// Adds `l = r`, scalar by scalar.
    pub(crate) fn equate(&mut self, env: &Env, l: &Value, r: &Value, span: Span, note: &'static str) -> R<()> {
        let (a, b) = self.pair(l, r, span)?;
        for ((x, tx), (y, ty)) in a.into_iter().zip(b) {
            if !self.in_initial {
                self.note_sides(x, tx, y, ty, span);
            }
            let residual = self.residual(x, y, tx.join(ty));
            self.tie_vanished(residual);
            self.add_equation(env, residual, span, note);
        }
        self.clocks.vanished.clear();
        Ok(())
    }

    /// The scalars of both sides, matched.
    pub(crate) fn pair(&mut self, l: &Value, r: &Value, span: Span) -> R<(Vec<(ExprId, Ty)>, Vec<(ExprId, Ty)>)> {
        let bad = |me: &Self, what: String| Err(me.err(span, what));
        if let (Value::Rec(x), Value::Rec(y)) = (l, r) {
            // Fields are matched by name.
            let (mut a, mut b) = (Vec::new(), Vec::new());
            for (n, v) in &x.fields {
                let Some((_, w)) = y.fields.iter().find(|(m, _)| m == n) else {
                    return bad(self, format!("the right side has no field {n}"));
                };
                let (p, q) = self.pair(v, w, span)?;
                a.extend(p);
                b.extend(q);
            }
            return Ok((a, b));
        }
        if l.dims() != r.dims() && !(l.len() == 0 && r.len() == 0 && l.rank() > 0 && r.rank() > 0) {
            return bad(
                self,
                format!(
                    "the sides of the equation have different shapes: {} and {}",
                    shape_text(l.dims()),
                    shape_text(r.dims())
                ),
            );
        }
        if let (Value::RecArr(x), Value::RecArr(y)) = (l, r) {
            let (mut a, mut b) = (Vec::new(), Vec::new());
            for (v, w) in x.e.iter().zip(&y.e) {
                let (p, q) = self.pair(v, w, span)?;
                a.extend(p);
                b.extend(q);
            }
            return Ok((a, b));
        }
        let (mut a, mut b) = (Vec::new(), Vec::new());
        l.scalars(&mut a);
        r.scalars(&mut b);
        if a.len() != b.len() {
            return bad(self, format!("the sides of the equation do not fit: {} and {}", l.describe(), r.describe()));
        }
        if let (Some((_, x)), Some((_, y))) = (a.first(), b.first()) {
            let ok = match (x, y) {
                (Ty::Enum(p), Ty::Enum(q)) => self.same_enum(*p, *q),
                (x, y) => x == y || x.numeric() && y.numeric(),
            };
            if !ok {
                return bad(
                    self,
                    format!(
                        "the sides of the equation have different types: {} and {}",
                        self.type_text(*x),
                        self.type_text(*y)
                    ),
                );
            }
        }
        Ok((a, b))
    }

    /// The variable that an expression is, if it is one.
    pub(crate) fn as_var(&self, e: ExprId) -> Option<VarId> {
        match *self.dae.pool.node(e) {
            XNode::Hole(k) => match self.hole(k) {
                Some(Operand::Var { var, order: 0, neg: false }) => Some(var),
                _ => None,
            },
            _ => None,
        }
    }

    /// `x - y`, turned so that a lone discrete variable stands in front.
    pub(crate) fn residual(&mut self, x: ExprId, y: ExprId, ty: Ty) -> ExprId {
        let discrete = |me: &Self, e: ExprId| {
            me.as_var(e).filter(|&v| me.dae.vars[v].variability == Variability::Discrete).is_some()
        };
        // A Real equation with something continuous on the other side determines that side.
        if discrete(self, x) && (ty != Ty::Real || self.variability(y) <= Variability::Discrete) {
            return self.dae.pool.intern(XNode::Binary(Binary::Sub, x, y));
        }
        if discrete(self, y) && (ty != Ty::Real || self.variability(x) <= Variability::Discrete) {
            return self.dae.pool.intern(XNode::Binary(Binary::Sub, y, x));
        }
        if self.dae.pool.as_const(x).is_some() && self.dae.pool.as_const(y).is_none() {
            return self.dae.pool.sub(y, x);
        }
        self.dae.pool.sub(x, y)
    }

    pub(crate) fn add_equation(&mut self, env: &Env, residual: ExprId, span: Span, note: &'static str) {
        if let Some(c) = self.dae.pool.as_const(residual) {
            if c != 0.0 {
                let e = self.err(span, format!("this equation can never hold: the sides differ by {c}"));
                self.report_in(e, env.scope);
            } else if !self.in_initial {
                let d = saltus_base::Diagnostic::warning(
                    saltus_base::Stage::FrontEnd,
                    span,
                    "this equation says nothing: both sides are the same",
                )
                .within(self.instance_text(env.scope.node));
                self.diagnostics.push(d);
            }
            return;
        }
        let row = self.row(residual);
        let origin = self.origin(env, span, note);
        let eq = Equation { row, guard: self.guard, origin };
        if self.in_initial {
            self.dae.initial_equations.push(eq);
        } else {
            self.dae.equations.push(eq);
        }
    }

    /// `assert(…)`, `terminate(…)`, functions called for their effect.
    fn call_equation(&mut self, env: &Env, e: &Expr, span: Span) -> R<()> {
        let ExprKind::Call(c) = &e.kind else { return Err(self.err(span, "this is not an equation")) };
        let name = match &c.function.parts[..] {
            [p] => p.name.name.as_str(),
            [p, _] if p.name.name == "Connections" => return Ok(()),
            [p, q] if p.name.name == "Saltus" && q.name.name == "complementarity" => {
                return self.complementarity(env, c, span);
            }
            [p, q] if p.name.name == "Saltus" && q.name.name == "dummy" => return self.dummy(env, c, span),
            _ => "",
        };
        match name {
            "assert" => {
                let (condition, message, error) = self.assertion(env, c, span)?;
                if self.dae.pool.as_const(condition).is_some_and(|v| v != 0.0) {
                    return Ok(());
                }
                if self.in_initial {
                    self.holds_initially(env, condition, message, error, span);
                } else {
                    let row = self.row(condition);
                    let origin = self.origin(env, span, "");
                    self.dae.assertions.push(Assertion { condition: row, message, error, guard: self.guard, origin });
                }
                Ok(())
            }
            "terminate" if self.clocked_terminate(env, c, span)? => Ok(()),
            "terminate" => Err(self.err(span, "terminate can only stand in a when-equation")),
            "reinit" if env.clocked => Err(self.err_hints(
                span,
                "reinit cannot stand in a when-clause of a clock: clocked variables have no state that time moves",
                vec!["a clocked equation may choose its value: x = if reset then 0 else previous(x) + …".into()],
            )),
            "reinit" => Err(self.err(span, "reinit can only stand in a when-equation")),
            "initialState" | "transition" => self.state_machine_call(env, name, c, span),
            _ => {
                self.eval_call(env, c, e.span)?;
                Ok(())
            }
        }
    }

    /// An assertion of the start alone: it holds as soon as `initial()` is over.
    pub(crate) fn holds_initially(&mut self, env: &Env, condition: ExprId, message: Message, error: bool, span: Span) {
        let initial = self.var_expr(HybridDae::INITIAL);
        let over = self.dae.pool.un(Unary::Not, initial);
        let condition = self.dae.pool.bin(Binary::Or, over, condition);
        let (condition, origin) = (self.row(condition), self.origin(env, span, ""));
        self.dae.assertions.push(Assertion { condition, message, error, guard: self.guard, origin });
    }

    /// `Saltus.complementarity(a, b)`.
    fn complementarity(&mut self, env: &Env, c: &saltus_syntax::ast::Call, span: Span) -> R<()> {
        let [a, b] = &c.args[..] else {
            return Err(self.err(span, "Saltus.complementarity needs two arguments"));
        };
        let mut sides: Vec<Vec<ExprId>> = Vec::new();
        for e in [a, b] {
            sides.push(self.eval(env, e)?.scalar_list());
        }
        if sides[0].len() != sides[1].len() {
            return Err(self.err(span, "the arguments of Saltus.complementarity differ in size"));
        }
        for k in 0..sides[0].len() {
            self.complementary(env, sides[0][k], sides[1][k], span);
        }
        Ok(())
    }

    /// `Saltus.dummy(residual)`.
    fn dummy(&mut self, env: &Env, c: &saltus_syntax::ast::Call, span: Span) -> R<()> {
        let ([e], []) = (&c.args[..], &c.named[..]) else {
            return Err(self.err_hints(
                span,
                "Saltus.dummy needs one argument",
                vec!["Saltus.dummy(u - h(x)) says that u = h(x) where nothing else says what u is".into()],
            ));
        };
        if self.in_initial {
            return Err(self.err(span, "a dummy equation cannot stand in an initial equation section"));
        }
        for x in self.eval(env, e)?.scalar_list() {
            self.add_equation(env, x, span, saltus_dae::Origin::DUMMY);
        }
        Ok(())
    }

    /// `0 = min(a, b)`: one of the two is zero, the other is not negative.
    fn vanishing_minimum(&mut self, env: &Env, left: &Value, right: &Value, span: Span) -> bool {
        for (zero, least) in [(left, right), (right, left)] {
            if let (Value::Num(zero, _), Value::Num(least, Ty::Real)) = (zero, least)
                && self.dae.pool.as_const(*zero) == Some(0.0)
                && let XNode::Binary(Binary::Min, a, b) = *self.dae.pool.node(*least)
                && self.variability(*least) == Variability::Continuous
            {
                self.complementary(env, a, b, span);
                return true;
            }
        }
        false
    }

    /// 0 ≤ a ⟂ b ≥ 0, as the curve a = max(s, 0), b = max(-s, 0) over a parameter s.
    fn complementary(&mut self, env: &Env, a: ExprId, b: ExprId, span: Span) {
        let origin = self.origin(env, span, "complementarity");
        let s = self.hidden("complementarity", VarType::Real, Variability::Continuous, origin);
        let shown = self.row(a);
        self.dae.vars[s].description = saltus_dae::row_text(&self.dae, &shown).into();
        let s = self.var_expr(s);
        let zero = self.dae.pool.num(0.0);
        let free = self.dae.pool.relation(saltus_expr::RelOp::Gt, s, zero);
        let minus = self.dae.pool.neg(s);
        let first = self.dae.pool.select(free, s, zero);
        let second = self.dae.pool.select(free, zero, minus);
        for (side, curve) in [(a, first), (b, second)] {
            let residual = self.dae.pool.sub(side, curve);
            self.add_equation(env, residual, span, "complementarity");
        }
    }

    /// No more arguments than an operator has, and none of another name.
    pub(crate) fn known_arguments(
        &self,
        name: &str,
        c: &saltus_syntax::ast::Call,
        known: &[&str],
        span: Span,
    ) -> R<()> {
        if let Some((n, _)) = c.named.iter().find(|(n, _)| !known.contains(&n.name.as_str())) {
            let hints = vec![format!("there are {}", known.join(", "))];
            return Err(self.err_hints(n.span, format!("{name} has no argument {}", n.name), hints));
        }
        let (given, most) = (c.args.len() + c.named.len(), known.len());
        if given > most {
            let s = if most > 1 { "s" } else { "" };
            return Err(self.err(span, format!("{name} takes at most {most} argument{s}, {given} are given")));
        }
        Ok(())
    }

    pub(crate) fn assertion(
        &mut self,
        env: &Env,
        c: &saltus_syntax::ast::Call,
        span: Span,
    ) -> R<(ExprId, Message, bool)> {
        let pick = |k: usize, name: &str| {
            c.args.get(k).or_else(|| c.named.iter().find(|(n, _)| n.name == name).map(|(_, e)| e))
        };
        self.known_arguments("assert", c, &["condition", "message", "level"], span)?;
        let Some(cond) = pick(0, "condition") else { return Err(self.err(span, "assert needs a condition")) };
        let v = self.eval(env, cond)?;
        let Value::Num(condition, Ty::Bool) = v else {
            return Err(self.err(cond.span, format!("the condition must be a Boolean, not {}", v.describe())));
        };
        let message = match pick(1, "message") {
            Some(m) => self.message(env, m)?,
            None => return Err(self.err(span, "assert needs a condition and a message")),
        };
        let error = match pick(2, "level") {
            Some(l) => {
                let v = self.eval(env, l)?;
                let levels = self.lib.top(saltus_base::Name::new("AssertionLevel"));
                if !matches!(v, Value::Num(_, Ty::Enum(e)) if Some(e) == levels) {
                    let what = v.describe();
                    return Err(self.err(l.span, format!("the level must be an AssertionLevel, not {what}")));
                }
                self.const_of(&v) != Some(1.0)
            }
            None => true,
        };
        Ok((condition, message, error))
    }

    /// A message as pieces: text and values.
    pub(crate) fn message(&mut self, env: &Env, e: &Expr) -> R<Message> {
        let mut m = Message::default();
        let plain = Env { plain: true, ..*env };
        self.message_piece(&plain, e, &mut m)?;
        Ok(m)
    }

    fn message_piece(&mut self, env: &Env, e: &Expr, m: &mut Message) -> R<()> {
        match &e.kind {
            ExprKind::String(s) => m.pieces.push(Piece::Text(s.to_string())),
            ExprKind::Binary(BinaryOp::Add, a, b) => {
                self.message_piece(env, a, m)?;
                self.message_piece(env, b, m)?;
            }
            ExprKind::Tuple(v) if v.len() == 1 => {
                if let Some(e) = &v[0] {
                    self.message_piece(env, e, m)?;
                }
            }
            _ => match self.eval(env, e) {
                Ok(Value::Num(x, Ty::Str)) => self.string_piece(x, m),
                Ok(v) => return Err(self.err(e.span, format!("a message must be a String, not {}", v.describe()))),
                // What cannot be said in a message does not stop a model from being flattened.
                Err(_) => m.pieces.push(Piece::Text("…".into())),
            },
        }
        Ok(())
    }

    fn string_piece(&mut self, x: ExprId, m: &mut Message) {
        match self.dae.pool.as_const(x) {
            Some(h) => m.pieces.push(Piece::Text(saltus_function::strings::text(h).to_string())),
            None => {
                let row = self.row(x);
                m.pieces.push(Piece::String(row));
            }
        }
    }

    /// Marks what when-clauses assign as discrete.
    pub(crate) fn discrete_in_section(&mut self, env: &Env, s: &'t Section) {
        match s {
            Section::Equations { equations, .. } => self.discrete_in_equations(env, equations, false),
            Section::Algorithm { statements, .. } => self.discrete_in_statements(env, statements, false),
        }
    }

    fn discrete_in_equations(&mut self, env: &Env, eqs: &'t [AstEquation], inside: bool) {
        for e in eqs {
            match &e.kind {
                EquationKind::When { branches } => {
                    branches.iter().for_each(|(_, b)| self.discrete_in_equations(env, b, true))
                }
                EquationKind::If { branches, otherwise } => {
                    // Branches that parameters rule out say nothing.
                    let whens = inside || branches.iter().any(|(_, b)| has_when(b)) || has_when(otherwise);
                    let mut chosen = false;
                    for (c, body) in branches.iter().filter(|_| whens) {
                        let value = self.eval(&Env { mode: Mode::Konst, ..*env }, c).ok();
                        let value = value.and_then(|v| self.bool_of(&v));
                        if value != Some(false) {
                            self.discrete_in_equations(env, body, inside);
                        }
                        if value == Some(true) {
                            chosen = true;
                            break;
                        }
                    }
                    if whens && !chosen {
                        self.discrete_in_equations(env, otherwise, inside);
                    }
                }
                EquationKind::For { body, .. } => self.discrete_in_equations(env, body, inside),
                EquationKind::Simple(l, _) if inside => match &l.kind {
                    ExprKind::Ref(r) => self.mark_discrete(env, r),
                    ExprKind::Tuple(v) => {
                        for e in v.iter().flatten() {
                            if let ExprKind::Ref(r) = &e.kind {
                                self.mark_discrete(env, r);
                            }
                        }
                    }
                    _ => {}
                },
                _ => {}
            }
        }
    }

    /// The whole of every component the reference may mean.
    pub(crate) fn mark_discrete(&mut self, env: &Env, r: &saltus_syntax::ast::ComponentRef) {
        // Single elements assigned in a when-clause make only themselves discrete, if that can be told.
        for v in self.elements(env, r) {
            self.dae.vars[v].variability = self.dae.vars[v].variability.min(Variability::Discrete);
        }
    }

    pub(crate) fn is_real_var(&self, v: VarId) -> bool {
        self.dae.vars[v].ty == VarType::Real
    }
}

fn has_when(body: &[AstEquation]) -> bool {
    body.iter().any(|e| match &e.kind {
        EquationKind::When { .. } => true,
        EquationKind::If { branches, otherwise } => branches.iter().any(|(_, b)| has_when(b)) || has_when(otherwise),
        EquationKind::For { body, .. } => has_when(body),
        _ => false,
    })
}

/// Everything in a body of equations as one expression, to deduce iterator ranges from.
fn body_refs(body: &[AstEquation]) -> Option<Expr> {
    let mut items = Vec::new();
    fn go(body: &[AstEquation], items: &mut Vec<Expr>) {
        for e in body {
            match &e.kind {
                EquationKind::Simple(l, r) => {
                    items.push(l.clone());
                    items.push(r.clone());
                }
                EquationKind::Connect(a, b) => {
                    for r in [a, b] {
                        items.push(Expr { kind: ExprKind::Ref(r.clone()), span: r.span });
                    }
                }
                EquationKind::For { body, .. } => go(body, items),
                EquationKind::If { branches, otherwise } => {
                    branches.iter().for_each(|(c, b)| {
                        items.push(c.clone());
                        go(b, items);
                    });
                    go(otherwise, items);
                }
                EquationKind::When { branches } => branches.iter().for_each(|(c, b)| {
                    items.push(c.clone());
                    go(b, items);
                }),
                EquationKind::Call(e) => items.push(e.clone()),
            }
        }
    }
    if body.is_empty() {
        return None;
    }
    // Cloning is only worth it where a range is missing; bodies are small.
    go(body, &mut items);
    let span = items.first()?.span;
    Some(Expr { kind: ExprKind::Array(items), span })
}
