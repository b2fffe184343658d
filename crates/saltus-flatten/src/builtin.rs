//! Built-in functions and operators of the language.

use crate::eval::{first_of, promote, retype, unary_named};
use crate::value::{Ty, Value, shape_text, stack};
use crate::{Env, Flattener, Mode, R};
use saltus_base::Span;
use saltus_dae::{Delay, Distribution, HybridDae, Operand, Origin, Sampler, VarId, VarType, Variability, Variable};
use saltus_expr::{Binary, Differentiator, ExprId, RelOp, Unary};
use saltus_function::{Builtin, Dim, FExpr, FStmt, FStmtKind, Function, LValue, Local as FLocal, LocalId, ScalarType};
use saltus_syntax::ast::{BinaryOp, Call, ComponentRef, Expr, ExprKind};

impl<'t> Flattener<'t> {
    /// A generated variable.
    pub(crate) fn hidden(&mut self, prefix: &str, ty: VarType, variability: Variability, origin: Origin) -> VarId {
        self.counter += 1;
        let mut v = Variable::new(format!("${prefix}{}", self.counter), ty, variability);
        v.hidden = true;
        v.origin = origin;
        self.dae.vars.push(v)
    }

    pub(crate) fn var_expr(&mut self, v: VarId) -> ExprId {
        self.rows.var(&mut self.dae.pool, v)
    }

    pub(crate) fn origin(&self, env: &Env, span: Span, note: &'static str) -> Origin {
        Origin { span: Some(span), instance: self.instance_shared(env.scope.node), note }
    }

    /// A function with one scalar result given by an expression over its scalar inputs; made once per name.
    pub(crate) fn synthesized(
        &mut self,
        name: &str,
        inputs: &[ScalarType],
        output: ScalarType,
        body: FExpr,
    ) -> saltus_expr::FuncId {
        if let Some(&f) = self.synthetic.get(name) {
            return f;
        }
        let mut locals: Vec<FLocal> = inputs
            .iter()
            .enumerate()
            .map(|(k, &ty)| FLocal { name: format!("u{}", k + 1), ty, dims: Vec::<Dim>::new(), binding: None })
            .collect();
        locals.push(FLocal { name: "y".into(), ty: output, dims: Vec::new(), binding: None });
        let out = LocalId(inputs.len() as u32);
        let f = Function {
            name: name.to_string(),
            locals,
            inputs: (0..inputs.len() as u32).map(LocalId).collect(),
            outputs: vec![out],
            body: vec![FStmt {
                kind: FStmtKind::Assign(LValue { local: out, indices: Vec::new() }, body),
                span: Span::NONE,
            }],
            external: None,
            derivative: None,
            impure: false,
            span: Span::NONE,
        };
        let id = saltus_expr::FuncId(self.dae.functions.len() as u32);
        self.dae.functions.push(f);
        self.synthetic.insert(name.to_string(), id);
        id
    }

    /// A function that reads a delay or a distribution at a position, and a variable with what it reads.
    fn reader(&mut self, name: &str, position: ExprId, origin: &Origin) -> (saltus_expr::FuncId, ExprId) {
        let var = self.hidden(name, VarType::Real, Variability::Continuous, origin.clone());
        let local = |name: &str| FLocal {
            name: name.into(),
            ty: ScalarType::Real,
            dims: Vec::new(),
            binding: Some(FExpr::Num(0.0)),
        };
        let func = saltus_expr::FuncId(self.dae.functions.len() as u32);
        self.dae.functions.push(Function {
            name: format!("{}()", self.dae.vars[var].name),
            locals: vec![FLocal { binding: None, ..local("position") }, local("value")],
            inputs: vec![LocalId(0)],
            outputs: vec![LocalId(1)],
            body: Vec::new(),
            external: None,
            derivative: None,
            impure: true,
            span: origin.span.unwrap_or(Span::NONE),
        });
        let call = self.dae.pool.call(func, Box::new([position]), 0);
        let read = self.var_expr(var);
        let residual = self.dae.pool.intern(saltus_expr::Node::Binary(saltus_expr::Binary::Sub, read, call));
        let row = self.row(residual);
        self.dae.equations.push(saltus_dae::Equation { row, guard: None, origin: origin.clone() });
        (func, read)
    }

    /// `(out0, out1) = spatialDistribution(in0, in1, x, positiveVelocity, initialPoints, initialValues)`: what flows in at
    /// one end is what is there; the other end shows the profile.
    fn spatial_distribution(&mut self, env: &Env, c: &Call, span: Span) -> R<Value> {
        let names = ["in0", "in1", "x", "positiveVelocity", "initialPoints", "initialValues"];
        let args = self.positional(c, &names, span)?;
        if args.len() > names.len() {
            return Err(self.err(span, "spatialDistribution has at most six arguments"));
        }
        let mut inputs = Vec::new();
        for (k, name) in names.iter().take(3).enumerate() {
            let Some(a) = &args[k] else { return Err(self.err(span, format!("spatialDistribution needs {name}"))) };
            let v = self.eval(env, a)?;
            if !matches!(v.ty(), Some(Ty::Real | Ty::Int)) {
                return Err(self.err(a.span, format!("{name} must be Real")));
            }
            if k == 2 && v.rank() > 0 {
                return Err(self.err(a.span, "x must be a Real scalar"));
            }
            inputs.push(v);
        }
        let dims = inputs[0].dims().to_vec();
        if inputs[1].dims() != dims {
            return Err(self.err(span, "in0 and in1 must have the same dimensions"));
        }
        let positive = match &args[3] {
            None => self.dae.pool.num(1.0),
            Some(a) => {
                let Value::Num(e, Ty::Bool) = self.eval(env, a)? else {
                    return Err(self.err(a.span, "positiveVelocity must be a Boolean scalar"));
                };
                match self.dae.pool.as_const(e) {
                    Some(_) => e,
                    None => {
                        let v = self.condition_var(env, e, a.span);
                        self.var_expr(v)
                    }
                }
            }
        };
        if env.mode == Mode::Shape {
            let out = |v: &Value| Value::array(Ty::Real, dims.clone(), v.scalar_list());
            return Ok(Value::Tuple(std::rc::Rc::new(vec![out(&inputs[0]), out(&inputs[1])])));
        }
        // Over arrays there is one distribution per element; a matrix of initial values has a row for each.
        let count: usize = dims.iter().product();
        let list = |me: &mut Self, k: usize, default: [f64; 2], rows: usize| -> R<Vec<Vec<ExprId>>> {
            let Some(a) = &args[k] else {
                return Ok(vec![default.iter().map(|&v| me.dae.pool.num(v)).collect(); rows]);
            };
            let v = me.eval(env, a)?;
            if me.value_variability(&v) > Variability::Parameter {
                return Err(me.err(a.span, format!("{} must be parameters", names[k])));
            }
            let all = v.scalar_list();
            match v.rank() {
                1 => Ok(vec![all; rows]),
                r if r == dims.len() + 1 && v.dims()[..r - 1] == dims && rows == count => {
                    Ok((0..rows).map(|i| all[i * v.dims()[r - 1]..(i + 1) * v.dims()[r - 1]].to_vec()).collect())
                }
                _ => Err(me.err(a.span, format!("{} must be a vector of parameters", names[k]))),
            }
        };
        let points = list(self, 4, [0.0, 1.0], 1)?.swap_remove(0);
        let all_values = list(self, 5, [0.0, 0.0], count)?;
        let known: Vec<f64> = points.iter().filter_map(|&p| self.dae.pool.as_const(p)).collect();
        if known.len() == points.len()
            && points.len() > 1
            && (known[0] != 0.0 || known[known.len() - 1] != 1.0 || known.windows(2).any(|w| w[1] < w[0]))
        {
            return Err(self.err(span, "initialPoints must ascend from 0 to 1"));
        }
        let Value::Num(x, _) = inputs[2] else { return Err(self.err(span, "x must be a Real scalar")) };
        let (ins0, ins1) = (inputs[0].scalar_list(), inputs[1].scalar_list());
        let (mut outs0, mut outs1) = (Vec::new(), Vec::new());
        for ((in0, in1), values) in ins0.into_iter().zip(ins1).zip(all_values) {
            if points.len() != values.len() || points.len() < 2 {
                return Err(self.err(
                    span,
                    format!(
                        "initialPoints and initialValues must have the same number of elements, two or more: they have {} and {}",
                        points.len(),
                        values.len()
                    ),
                ));
            }
            let origin = self.origin(env, span, "spatialDistribution");
            let (left, z0) = self.reader("distribution", x, &origin);
            let (right, z1) = self.reader("distribution", x, &origin);
            outs0.push(self.dae.pool.select(positive, in0, z0));
            outs1.push(self.dae.pool.select(positive, z1, in1));
            let inputs = [in0, in1, x, positive].map(|e| self.row(e));
            let points = points.iter().map(|&e| self.row(e)).collect();
            let values = values.into_iter().map(|e| self.row(e)).collect();
            self.dae.distributions.push(Distribution { ends: [left, right], inputs, points, values, origin });
        }
        let outs = [outs0, outs1].map(|e| Value::array(Ty::Real, dims.clone(), e));
        Ok(Value::Tuple(std::rc::Rc::new(outs.to_vec())))
    }

    /// Two texts as one.
    pub(crate) fn concat_call(&mut self, x: ExprId, y: ExprId) -> ExprId {
        self.text_call("$concat", Builtin::Concat, ScalarType::String, x, y)
    }

    /// Below, at or above zero as text x comes before, equals or comes after y.
    pub(crate) fn compare_call(&mut self, x: ExprId, y: ExprId) -> ExprId {
        self.text_call("$compare", Builtin::CompareStrings, ScalarType::Integer, x, y)
    }

    /// A built-in function of two texts that vary.
    fn text_call(&mut self, name: &str, builtin: Builtin, result: ScalarType, x: ExprId, y: ExprId) -> ExprId {
        let body = FExpr::Builtin(builtin, vec![FExpr::Local(LocalId(0)), FExpr::Local(LocalId(1))]);
        let f = self.synthesized(name, &[ScalarType::String; 2], result, body);
        self.dae.pool.call(f, Box::new([x, y]), 0)
    }

    fn positional(&mut self, c: &Call, names: &[&str], span: Span) -> R<Vec<Option<Expr>>> {
        let mut out: Vec<Option<Expr>> = c.args.iter().cloned().map(Some).collect();
        out.resize(names.len().max(out.len()), None);
        for (n, e) in &c.named {
            match names.iter().position(|x| n.name == *x) {
                Some(k) => out[k] = Some(e.clone()),
                None => return Err(self.err(n.span, format!("there is no argument called {}", n.name))),
            }
        }
        let _ = span;
        Ok(out)
    }

    fn one(&mut self, env: &Env, c: &Call, span: Span) -> R<Value> {
        match &c.args[..] {
            [a] => {
                let v = self.eval(env, a)?;
                Ok(first_of(&v))
            }
            _ => Err(self.err(
                span,
                format!("{} needs one argument, {} are given", crate::eval::ref_text(&c.function), c.args.len()),
            )),
        }
    }

    fn two(&mut self, env: &Env, c: &Call, span: Span) -> R<(Value, Value)> {
        match &c.args[..] {
            [a, b] => {
                let (a, b) = (self.eval(env, a)?, self.eval(env, b)?);
                Ok((first_of(&a), first_of(&b)))
            }
            _ => Err(self.err(
                span,
                format!("{} needs two arguments, {} are given", crate::eval::ref_text(&c.function), c.args.len()),
            )),
        }
    }

    /// An argument that must be made of numbers.
    fn numbers(&mut self, env: &Env, name: &str, e: &Expr) -> R<Value> {
        let v = self.eval(env, e)?;
        if v.scalar_types().any(|t| !t.numeric()) {
            return Err(self.err(e.span, format!("{name} needs numbers, not {}", v.describe())));
        }
        Ok(first_of(&v))
    }

    fn two_numbers(&mut self, env: &Env, name: &str, c: &Call, span: Span) -> R<(Value, Value)> {
        let [a, b] = &c.args[..] else { return Err(self.err(span, format!("{name} needs two arguments"))) };
        Ok((self.numbers(env, name, a)?, self.numbers(env, name, b)?))
    }

    fn sizes(&mut self, env: &Env, args: &[Expr]) -> R<Vec<usize>> {
        let konst = Env { mode: Mode::Konst, ..*env };
        let sizes = args
            .iter()
            .map(|a| {
                let mut v = self.eval(env, a)?;
                if self.const_of(&v).is_none() {
                    v = self.eval(&konst, a)?;
                }
                match self.const_of(&v) {
                    Some(x) if x >= 0.0 && x.fract() == 0.0 && x < 1e9 && v.ty() == Some(Ty::Int) => Ok(x as usize),
                    _ => {
                        let t = self.value_text(&v);
                        Err(self.err(a.span, format!("a size must be a nonnegative Integer, not {t}")))
                    }
                }
            })
            .collect::<R<Vec<usize>>>()?;
        if let (Err(count), Some(a)) = (crate::value::count_of(&sizes), args.first()) {
            return Err(self.err(a.span, format!("an array of {count} elements is too large")));
        }
        Ok(sizes)
    }

    /// Applies a function to the scalars of two values; scalars are repeated.
    fn elementwise2(
        &mut self,
        a: &Value,
        b: &Value,
        ty: Ty,
        span: Span,
        f: &mut dyn FnMut(&mut Self, ExprId, ExprId) -> ExprId,
    ) -> R<Value> {
        let (ea, eb) = (a.scalar_list(), b.scalar_list());
        if a.rank() > 0 && b.rank() > 0 && a.dims() != b.dims() {
            return Err(
                self.err(span, format!("the shapes {} and {} differ", shape_text(a.dims()), shape_text(b.dims())))
            );
        }
        let dims = if a.rank() > 0 { a.dims().to_vec() } else { b.dims().to_vec() };
        let n: usize = dims.iter().product();
        let mut out = Vec::with_capacity(n);
        for k in 0..n {
            let x = *ea.get(if a.rank() > 0 { k } else { 0 }).ok_or_else(|| self.err(span, "not a number"))?;
            let y = *eb.get(if b.rank() > 0 { k } else { 0 }).ok_or_else(|| self.err(span, "not a number"))?;
            out.push(f(self, x, y));
        }
        Ok(Value::array(ty, dims, out))
    }

    /// `floor` in the right form for the context.
    pub(crate) fn floor(&mut self, env: &Env, x: ExprId) -> ExprId {
        if !env.plain && self.variability(x) == Variability::Continuous {
            self.dae.pool.event_floor(x)
        } else {
            self.dae.pool.un(Unary::Floor, x)
        }
    }

    fn trunc_div(&mut self, env: &Env, x: ExprId, y: ExprId) -> ExprId {
        let q = self.dae.pool.div(x, y);
        if !env.plain && self.variability(q) == Variability::Continuous {
            let zero = self.dae.pool.num(0.0);
            let c = self.dae.pool.relation(RelOp::Ge, q, zero);
            let n = self.dae.pool.neg(q);
            let (f, g) = (self.dae.pool.event_floor(q), self.dae.pool.event_floor(n));
            let g = self.dae.pool.neg(g);
            self.dae.pool.select(c, f, g)
        } else {
            self.dae.pool.un(Unary::Trunc, q)
        }
    }

    /// d/dt of an expression in model holes.
    pub(crate) fn derivative(&mut self, e: ExprId, span: Span) -> R<ExprId> {
        // Which operands occur, and what their derivatives are.
        let holes = self.dae.pool.holes(e);
        let mut map = rustc_hash::FxHashMap::default();
        for k in holes {
            let Some(Operand::Var { var, order, neg }) = self.hole(k) else { continue };
            if var == HybridDae::TIME {
                map.insert(k, self.dae.pool.num(1.0));
            } else if self.dae.vars[var].variability >= Variability::Continuous || order > 0 {
                if self.dae.vars[var].ty != VarType::Real {
                    let name = self.dae.vars[var].name.clone();
                    return Err(self.err(span, format!("{name} is not a Real, so it has no derivative")));
                }
                let d = self.rows.operand(&mut self.dae.pool, Operand::Var { var, order: order + 1, neg });
                map.insert(k, d);
            }
        }
        let mut dhole = |_: &mut saltus_expr::Pool, k: u32| map.get(&k).copied();
        Ok(Differentiator::new(&mut self.dae.pool, &mut dhole).derivative(e))
    }

    /// Outside of when-clauses a continuous variable has no left limit that differs from it.
    fn is_discrete(&mut self, e: ExprId, span: Span) -> R<()> {
        match self.as_var(e) {
            Some(v) if self.dae.vars[v].variability == Variability::Continuous => {
                let name = self.dae.vars[v].name.clone();
                let message = format!("pre({name}): {name} is not discrete");
                let hint = "outside of a when-clause, pre is for variables that change at events only".to_string();
                Err(self.err_hints(span, message, vec![hint]))
            }
            _ => Ok(()),
        }
    }

    /// Clocked equations know ticks, not events (Modelica 3.6, section 16.8.1).
    fn not_clocked(&self, env: &Env, name: &str, span: Span) -> R<()> {
        if !env.clocked {
            return Ok(());
        }
        let text = format!("{name} cannot be used in a when-clause that a clock drives");
        Err(self.err_hints(span, text, vec!["the value at the tick before is previous(…)".into()]))
    }

    /// Warns where an operator of variables is given an expression with operators of its own.
    fn names_a_variable(&mut self, name: &str, c: &Call, span: Span) {
        let argument = c.args.first().map(|a| match &a.kind {
            ExprKind::Tuple(inner) => inner.iter().flatten().next().unwrap_or(a),
            _ => a,
        });
        if argument.is_some_and(|a| matches!(a.kind, ExprKind::Binary(..) | ExprKind::Unary(..) | ExprKind::If(..))) {
            let text = format!("{name} is asked for of an expression");
            let hint = "other tools refuse that (Modelica 3.6, section 3.7.5): give the expression a variable";
            self.other_tools(text, hint, span);
        }
    }

    /// `pre` of a scalar.
    pub(crate) fn pre(&mut self, e: ExprId, span: Span) -> R<ExprId> {
        if self.dae.pool.as_const(e).is_some() {
            return Ok(e);
        }
        if let saltus_expr::Node::Hole(k) = *self.dae.pool.node(e)
            && let Some(op) = self.hole(k)
        {
            return Ok(match op {
                Operand::Var { var, order: 0, neg: false } => {
                    if self.dae.vars[var].variability <= Variability::Parameter {
                        e
                    } else {
                        self.rows.operand(&mut self.dae.pool, Operand::Pre { var })
                    }
                }
                _ => return Err(self.err(span, "pre needs a variable")),
            });
        }
        // pre(not b), pre(a and b): distribute over the operands.
        let mut bad = false;
        let holes = self.dae.pool.holes(e);
        let mut map = rustc_hash::FxHashMap::default();
        for k in holes {
            match self.hole(k) {
                Some(Operand::Var { var, order: 0, neg: false })
                    if self.dae.vars[var].variability > Variability::Parameter =>
                {
                    map.insert(k, self.rows.operand(&mut self.dae.pool, Operand::Pre { var }));
                }
                Some(Operand::Var { order: 0, .. }) => {}
                _ => bad = true,
            }
        }
        if bad {
            return Err(self.err(span, "pre needs a variable"));
        }
        Ok(self.dae.pool.substitute(e, |p, k| map.get(&k).copied().unwrap_or_else(|| p.hole(k))))
    }

    pub(crate) fn eval_call(&mut self, env: &Env, c: &Call, span: Span) -> R<Value> {
        if let [p] = &c.function.parts[..]
            && p.subscripts.is_empty()
            && (c.function.global || self.local(env, p.name.name).is_none())
        {
            let name = p.name.name.as_str();
            if !c.iterators.is_empty() {
                if let Some(v) = self.reduction(env, name, c, span)? {
                    return Ok(v);
                }
            } else if self.is_builtin_call(env.scope, &c.function)
                && let Some(v) = self.builtin(env, name, c, span)?
            {
                return Ok(v);
            }
        }
        if let [p, q] = &c.function.parts[..]
            && p.name.name == "Connections"
        {
            return self.connections_call(env, q.name.name.as_str(), c, span);
        }
        if let [p] = &c.function.parts[..]
            && !c.function.global
            && self.local(env, p.name.name).is_none()
            && self.lookup(env.scope, p.name.name)?.is_none()
        {
            // The language's own functions come to mind, too.
            let name = p.name.name.as_str();
            let mut hints = self.similar(env.scope, p.name.name, false);
            if hints.is_empty() || self.builtin_names.iter().any(|n| n.eq_ignore_ascii_case(name)) {
                hints = crate::eval::suggest(name, self.builtin_names.iter().copied());
            }
            let inside = self.scope_text(env.scope);
            return Err(self.err_hints(p.name.span, format!("{name} is not known in {inside}"), hints));
        }
        self.user_call(env, c, span)
    }

    fn reduction(&mut self, env: &Env, name: &str, c: &Call, span: Span) -> R<Option<Value>> {
        let Some(body) = c.args.first() else { return Ok(None) };
        if !matches!(name, "sum" | "product" | "min" | "max" | "array") {
            return Ok(None);
        }
        if name == "array" {
            let e = Expr { kind: ExprKind::ArrayComprehension(Box::new(body.clone()), c.iterators.clone()), span };
            return self.eval(env, &e).map(Some);
        }
        let mut vs = Vec::new();
        self.iterate(env, &c.iterators, Some(body), &mut |me, env| {
            let v = me.eval(env, body)?;
            vs.push(first_of(&v));
            Ok(())
        })?;
        self.reduce(env, name, vs, span).map(Some)
    }

    fn reduce(&mut self, env: &Env, name: &str, vs: Vec<Value>, span: Span) -> R<Value> {
        if vs.iter().all(|v| matches!(v, Value::Num(..))) {
            let ty = vs.iter().filter_map(Value::ty).reduce(Ty::join).unwrap_or(Ty::Int);
            if let Some(bad) = vs.iter().find(|v| match v.ty() {
                Some(Ty::Bool | Ty::Enum(_)) => matches!(name, "sum" | "product"),
                t => !t.is_some_and(Ty::numeric),
            }) {
                return Err(self.err(span, format!("{name} needs numbers, not {}", bad.describe())));
            }
            let e: Vec<ExprId> = vs.iter().flat_map(Value::scalar_list).collect();
            let out = match name {
                "sum" => self.sum(&e),
                "product" => {
                    let mut p = self.dae.pool.num(1.0);
                    for x in e {
                        p = self.dae.pool.mul(p, x);
                    }
                    p
                }
                _ => {
                    let op = if name == "min" { Binary::Min } else { Binary::Max };
                    match e.split_first() {
                        Some((&f, rest)) => {
                            let mut m = f;
                            for &x in rest {
                                m = self.dae.pool.bin(op, m, x);
                            }
                            m
                        }
                        None => self.dae.pool.num(if name == "min" { f64::MAX } else { -f64::MAX }),
                    }
                }
            };
            return Ok(Value::Num(out, ty));
        }
        let op = match name {
            "sum" => BinaryOp::Add,
            "product" => BinaryOp::Mul,
            _ => return Err(self.err(span, format!("{name} needs numbers"))),
        };
        let mut it = vs.into_iter();
        let Some(mut s) = it.next() else { return Ok(self.num(0.0, Ty::Real)) };
        for v in it {
            s = self.binary(env, op, s, v, span)?;
        }
        Ok(s)
    }

    /// As many arguments as the function has.
    pub(crate) fn count_arguments(&self, name: &str, c: &Call, span: Span) -> R<()> {
        let given = c.args.len() + c.named.len();
        match arity(name) {
            Some((least, most)) if given < least || given > most => {
                let hint = format!("several values are an array: {name}({{a, b, c}})");
                let hints = if matches!(name, "min" | "max") { vec![hint] } else { Vec::new() };
                Err(self.err_hints(span, format!("{name} {}, {given} are given", arity_text(least, most)), hints))
            }
            _ => Ok(()),
        }
    }

    fn builtin(&mut self, env: &Env, name: &str, c: &Call, span: Span) -> R<Option<Value>> {
        self.count_arguments(name, c, span)?;
        if let Some(op) = unary_named(name) {
            let v = self.one(env, c, span)?;
            if !v.ty().is_some_and(Ty::numeric) {
                if matches!(v, Value::Rec(_)) {
                    return Ok(None);
                }
                return Err(self.err(span, format!("{name} needs a number, not {}", v.describe())));
            }
            return Ok(Some(self.map(&v, Some(Ty::Real), &mut |me, x| me.dae.pool.un(op, x))));
        }
        let v = match name {
            "der" => {
                let v = self.one(env, c, span)?;
                if env.mode == Mode::Shape {
                    return Ok(Some(v));
                }
                if v.ty().is_some_and(|t| !matches!(t, Ty::Real | Ty::Int))
                    || v.ty() == Some(Ty::Int) && self.value_variability(&v) > Variability::Parameter
                {
                    return Err(self.err(span, format!("der needs a Real, not {}", v.describe())));
                }
                let mut out = Vec::new();
                for e in v.scalar_list() {
                    if let Some(x) = self.as_var(e)
                        && self.dae.vars[x].variability == Variability::Discrete
                    {
                        let name = self.dae.vars[x].name.clone();
                        return Err(self.err(span, format!("{name} changes at events only: it has no derivative")));
                    }
                    out.push(self.derivative(e, span)?);
                }
                let mut it = out.into_iter();
                v.rebuild(&mut |x, _| it.next().unwrap_or(x))
            }
            "pre" | "previous" => {
                if name == "pre" {
                    self.not_clocked(env, name, span)?;
                }
                let v = self.one(env, c, span)?;
                let mut named = false;
                c.args.iter().for_each(|a| crate::eval::visit_refs(a, &mut |_| named = true));
                if !named {
                    return Err(self.err(span, format!("{name} needs a variable, not {}", v.describe())));
                }
                if env.mode == Mode::Shape {
                    return Ok(Some(v));
                }
                self.names_a_variable(name, c, span);
                let mut out = Vec::new();
                for e in v.scalar_list() {
                    if name == "previous" {
                        out.push(self.previous(e, span)?);
                    } else {
                        if env.mode == Mode::Model && !env.when && !env.plain && !env.conditional && !self.in_initial {
                            self.is_discrete(e, span)?;
                        }
                        out.push(self.pre(e, span)?);
                    }
                }
                let mut it = out.into_iter();
                v.rebuild(&mut |x, _| it.next().unwrap_or(x))
            }
            "edge" | "change" => {
                self.not_clocked(env, name, span)?;
                let v = self.one(env, c, span)?;
                if env.mode == Mode::Shape {
                    return Ok(Some(retype(v, Ty::Bool)));
                }
                let edge = name == "edge";
                if edge && v.ty() != Some(Ty::Bool) {
                    return Err(self.err(span, format!("edge needs a Boolean, not {}", v.describe())));
                }
                let mut named = false;
                c.args.iter().for_each(|a| crate::eval::visit_refs(a, &mut |_| named = true));
                if !named {
                    return Err(self.err(span, format!("{name} needs a variable, not {}", v.describe())));
                }
                self.names_a_variable(name, c, span);
                let mut out = Vec::new();
                for e in v.scalar_list() {
                    let p = self.pre(e, span)?;
                    out.push(if edge {
                        let n = self.dae.pool.not(p);
                        self.dae.pool.bin(Binary::And, e, n)
                    } else {
                        self.dae.pool.bin(Binary::Ne, e, p)
                    });
                }
                Value::array(Ty::Bool, v.dims().to_vec(), out)
            }
            "initial" => Value::Num(self.var_expr(HybridDae::INITIAL), Ty::Bool),
            "terminal" => Value::Num(self.var_expr(HybridDae::TERMINAL), Ty::Bool),
            "noEvent" => {
                let env = Env { plain: true, ..*env };
                self.one(&env, c, span)?
            }
            "smooth" => match &c.args[..] {
                [at, e] => {
                    let p = self.eval(&Env { mode: Mode::Konst, ..*env }, at)?;
                    let Some(order) = self.const_of(&p).filter(|&k| p.ty() == Some(Ty::Int) && k >= 0.0) else {
                        let t = self.value_text(&p);
                        return Err(self.err(at.span, format!("smooth needs a nonnegative Integer first, not {t}")));
                    };
                    let v = self.eval(&Env { plain: env.plain || order >= 1.0, ..*env }, e)?;
                    if v.scalar_types().any(|t| !t.numeric()) {
                        return Err(self.err(e.span, format!("smooth needs Real expressions, not {}", v.describe())));
                    }
                    v
                }
                _ => return Err(self.err(span, "smooth needs two arguments")),
            },
            "homotopy" => {
                let a = self.positional(c, &["actual", "simplified"], span)?;
                let [Some(a), Some(s)] = &a[..] else { return Err(self.err(span, "homotopy needs two arguments")) };
                let (a, s) = (self.numbers(env, name, a)?, self.numbers(env, name, s)?);
                if env.mode != Mode::Model {
                    return Ok(Some(a));
                }
                let l = self.var_expr(HybridDae::LAMBDA);
                let one = self.dae.pool.num(1.0);
                let full = self.dae.pool.bin(Binary::Ge, l, one);
                let rest = self.dae.pool.sub(one, l);
                self.elementwise2(&a, &s, Ty::Real, span, &mut |me, a, s| {
                    if a == s {
                        return a;
                    }
                    let p = &mut me.dae.pool;
                    let (x, y) = (p.mul(l, a), p.mul(rest, s));
                    let mix = p.add(x, y);
                    p.select(full, a, mix)
                })?
            }
            "semiLinear" => {
                let [x, a, b] = &c.args[..] else { return Err(self.err(span, "semiLinear needs three arguments")) };
                let (x, a, b) = (self.numbers(env, name, x)?, self.numbers(env, name, a)?, self.numbers(env, name, b)?);
                let n = x.len().max(a.len()).max(b.len());
                if [&x, &a, &b].iter().any(|v| v.rank() > 0 && v.len() != n && v.len() > 0) {
                    return Err(self.err(span, "the arguments of semiLinear have different sizes"));
                }
                let dims = [&x, &a, &b].iter().find(|v| v.rank() > 0).map(|v| v.dims().to_vec()).unwrap_or_default();
                let (x, a, b) = (x.scalar_list(), a.scalar_list(), b.scalar_list());
                let zero = self.dae.pool.num(0.0);
                let mut out = Vec::new();
                for k in 0..dims.iter().product() {
                    let at = |v: &Vec<ExprId>| v[if v.len() == 1 { 0 } else { k }];
                    let (x, a, b) = (at(&x), at(&a), at(&b));
                    let cond = self.relation(env, BinaryOp::Ge, x, zero);
                    let g = self.dae.pool.select(cond, a, b);
                    out.push(self.dae.pool.mul(x, g));
                }
                Value::array(Ty::Real, dims, out)
            }
            "sample" => {
                if c.args.len() + c.named.len() == 2 {
                    let a = self.positional(c, &["start", "interval"], span)?;
                    if let [Some(s), Some(i)] = &a[..] {
                        let sv = self.eval(env, s)?;
                        let iv = self.eval(env, i)?;
                        if iv.ty() != Some(Ty::Clock)
                            && let (Value::Num(s, _), Value::Num(i, _)) = (&sv, &iv)
                        {
                            if let Some(bad) = [&sv, &iv].into_iter().find(|v| !v.ty().is_some_and(Ty::numeric)) {
                                let text = format!("sample needs a start and an interval, not {}", bad.describe());
                                return Err(self.err(span, text));
                            }
                            if env.mode == Mode::Shape {
                                return Ok(Some(Value::Num(self.dae.pool.hole(u32::MAX), Ty::Bool)));
                            }
                            for (v, name, e) in [(&sv, "start", &a[0]), (&iv, "interval", &a[1])] {
                                if env.mode == Mode::Model && self.value_variability(v) > Variability::Parameter {
                                    let text = format!("the {name} of sample must be a parameter expression");
                                    let hint = "a when-clause can set the next instant: when time >= pre(next) then next = pre(next) + …";
                                    let span = e.as_ref().map_or(span, |e| e.span);
                                    return Err(self.err_hints(span, text, vec![hint.into()]));
                                }
                            }
                            return Ok(Some(self.sampler(env, *s, *i, span)));
                        }
                        return self.clock_call(env, name, c, span).map(Some);
                    }
                }
                return self.clock_call(env, name, c, span).map(Some);
            }
            "hold" | "subSample" | "superSample" | "shiftSample" | "backSample" | "noClock" | "firstTick"
            | "interval" | "Clock" => {
                return self.clock_call(env, name, c, span).map(Some);
            }
            "delay" => {
                let a = self.positional(c, &["expr", "delayTime", "delayMax"], span)?;
                let vs = a.iter().flatten().map(|e| self.eval(env, e)).collect::<R<Vec<_>>>()?;
                if env.mode == Mode::Shape
                    && let Some(v) = vs.first()
                {
                    return Ok(Some(v.clone()));
                }
                let [v, d, rest @ ..] = &vs[..] else {
                    return Err(self.err(span, "delay needs two or three arguments"));
                };
                let Value::Num(d, Ty::Real | Ty::Int) = d else {
                    return Err(self.err(span, format!("the delay time must be a Real scalar, not {}", d.describe())));
                };
                let m = match rest.first() {
                    Some(Value::Num(m, Ty::Real | Ty::Int)) => *m,
                    Some(v) => {
                        return Err(self.err(span, format!("delayMax must be a Real scalar, not {}", v.describe())));
                    }
                    None => *d,
                };
                if let (Some(time), Some(max)) = (self.dae.pool.as_const(*d), self.dae.pool.as_const(m))
                    && time > max
                {
                    return Err(self.err(span, format!("the delay time {time} is above delayMax, which is {max}")));
                }
                if !rest.is_empty() && self.variability(m) > Variability::Parameter {
                    return Err(self.err(span, "delayMax must be a parameter expression"));
                }
                let mut out = Vec::new();
                let time = self.var_expr(HybridDae::TIME);
                let position = self.dae.pool.sub(time, *d);
                for e in v.scalar_list() {
                    if self.dae.pool.is_num(*d, 0.0) {
                        out.push(e);
                        continue;
                    }
                    let origin = self.origin(env, span, "delay");
                    let (func, read) = self.reader("delay", position, &origin);
                    let (value, delay, max) = (self.row(e), self.row(*d), self.row(m));
                    self.dae.delays.push(Delay { func, value, delay, max, origin });
                    out.push(read);
                }
                let mut it = out.into_iter();
                v.rebuild(&mut |x, _| it.next().unwrap_or(x))
            }
            "spatialDistribution" => return self.spatial_distribution(env, c, span).map(Some),
            "inStream" | "actualStream" => return self.stream_call(env, name, c, span).map(Some),
            "cardinality" => {
                let n = match c.args.first().map(|a| &a.kind) {
                    Some(ExprKind::Ref(r)) => self.cardinality(env, r)?,
                    _ => return Err(self.err(span, "cardinality needs a connector")),
                };
                self.num(n as f64, Ty::Int)
            }
            "rooted" => return self.connections_call(env, "rooted", c, span).map(Some),
            "getInstanceName" => {
                let model = self.lib.entry(self.node(self.top).cref.class).name;
                let path = self.instance_text(env.scope.node);
                let s = if path.is_empty() { model.to_string() } else { format!("{model}.{path}") };
                self.string(&s)
            }
            "abs" => {
                let v = self.one(env, c, span)?;
                if !v.ty().is_some_and(Ty::numeric) {
                    return if matches!(v, Value::Rec(_)) {
                        Ok(None)
                    } else {
                        Err(self.err(span, "abs needs a number"))
                    };
                }
                self.map(&v, None, &mut |me, x| me.dae.pool.un(Unary::Abs, x))
            }
            "sign" => {
                let v = self.numbers(env, name, &c.args[0])?;
                let env = *env;
                self.map(&v, Some(Ty::Int), &mut |me, x| {
                    if me.variability(x) < Variability::Continuous || env.plain {
                        return me.dae.pool.un(Unary::Sign, x);
                    }
                    // Its jumps are events.
                    let pool = &mut me.dae.pool;
                    let (zero, one, minus) = (pool.num(0.0), pool.num(1.0), pool.num(-1.0));
                    let (up, down) = (pool.relation(RelOp::Gt, x, zero), pool.relation(RelOp::Lt, x, zero));
                    let other = pool.select(down, minus, zero);
                    pool.select(up, one, other)
                })
            }
            "floor" | "integer" => {
                let v = self.numbers(env, name, &c.args[0])?;
                let env = *env;
                let ty = if name == "integer" { Ty::Int } else { v.ty().unwrap_or(Ty::Real) };
                self.map(&v, Some(ty), &mut |me, x| me.floor(&env, x))
            }
            "ceil" => {
                let v = self.numbers(env, name, &c.args[0])?;
                let env = *env;
                self.map(&v, None, &mut |me, x| {
                    if me.variability(x) < Variability::Continuous || env.plain {
                        return me.dae.pool.un(Unary::Ceil, x);
                    }
                    let n = me.dae.pool.neg(x);
                    let f = me.floor(&env, n);
                    me.dae.pool.neg(f)
                })
            }
            "div" | "mod" | "rem" => {
                let (a, b) = self.two_numbers(env, name, c, span)?;
                let ty = a.ty().unwrap_or(Ty::Real).join(b.ty().unwrap_or(Ty::Real));
                let env = *env;
                self.elementwise2(&a, &b, ty, span, &mut |me, x, y| match name {
                    // A remainder of nothing is none, though zero times the quotient be zero.
                    _ if me.dae.pool.as_const(y) == Some(0.0) => me.dae.pool.div(x, y),
                    "div" => me.trunc_div(&env, x, y),
                    "mod" => {
                        let q = me.dae.pool.div(x, y);
                        let f = me.floor(&env, q);
                        let p = me.dae.pool.mul(f, y);
                        me.dae.pool.sub(x, p)
                    }
                    _ => {
                        let d = me.trunc_div(&env, x, y);
                        let p = me.dae.pool.mul(d, y);
                        me.dae.pool.sub(x, p)
                    }
                })?
            }
            "atan2" => {
                let (a, b) = self.two_numbers(env, name, c, span)?;
                self.elementwise2(&a, &b, Ty::Real, span, &mut |me, x, y| me.dae.pool.bin(Binary::Atan2, x, y))?
            }
            "Integer" => {
                let v = self.one(env, c, span)?;
                if !matches!(v.ty(), Some(Ty::Enum(_) | Ty::Int)) {
                    let hint = "integer(…) rounds a Real down; a Boolean becomes a number by if … then 1 else 0";
                    let text = format!("Integer needs an enumeration value, not {}", v.describe());
                    return Err(self.err_hints(span, text, vec![hint.into()]));
                }
                retype(v, Ty::Int)
            }
            "Real" | "Boolean" => return Ok(None),
            "String" => return self.string_call(env, c, span).map(Some),
            "min" | "max" => {
                if c.args.len() == 2 {
                    let (a, b) = self.two(env, c, span)?;
                    let (ta, tb) = (a.ty().unwrap_or(Ty::Real), b.ty().unwrap_or(Ty::Real));
                    if ta == Ty::Str || !self.compatible(ta, tb) {
                        let (a, b) = (a.describe(), b.describe());
                        return Err(self.err(span, format!("{name} cannot compare {a} and {b}")));
                    }
                    let ty = ta.join(tb);
                    let op = if name == "min" { Binary::Min } else { Binary::Max };
                    self.elementwise2(&a, &b, ty, span, &mut |me, x, y| me.dae.pool.bin(op, x, y))?
                } else {
                    let v = self.one(env, c, span)?;
                    self.reduce(env, name, v.elements(), span)?
                }
            }
            "sum" | "product" => {
                let v = self.numbers(env, name, &c.args[0])?;
                let ty = v.ty();
                let r = self.reduce(env, name, v.elements(), span)?;
                if let Some(t) = ty { retype(r, t) } else { r }
            }
            "ndims" | "size" if self.component_dims(env, &c.args[0])?.is_some() => {
                let Some(dims) = self.component_dims(env, &c.args[0])? else { return Ok(None) };
                let Some(i) = c.args.get(1) else {
                    let e: Vec<ExprId> = dims.iter().map(|&n| self.dae.pool.num(n as f64)).collect();
                    return Ok(Some(match name {
                        "ndims" => self.num(dims.len() as f64, Ty::Int),
                        _ => Value::array(Ty::Int, vec![e.len()], e),
                    }));
                };
                let k = self.sizes(env, std::slice::from_ref(i))?[0];
                match dims.get(k.wrapping_sub(1)) {
                    Some(&n) => self.num(n as f64, Ty::Int),
                    None => {
                        let text = format!("the array of components has no dimension {k}, only {}", dims.len());
                        return Err(self.err(span, text));
                    }
                }
            }
            "ndims" => {
                let v = self.one(&Env { mode: shape_mode(env), ..*env }, c, span)?;
                self.num(v.rank() as f64, Ty::Int)
            }
            "size" => {
                let shape = Env { mode: shape_mode(env), ..*env };
                match &c.args[..] {
                    [a] => {
                        let v = self.eval(&shape, a)?;
                        let d = v.dims().to_vec();
                        let e: Vec<ExprId> = d.iter().map(|&n| self.dae.pool.num(n as f64)).collect();
                        Value::array(Ty::Int, vec![e.len()], e)
                    }
                    [a, i] => {
                        let iv = self.eval(&Env { mode: Mode::Konst, ..*env }, i)?;
                        if iv.ty() != Some(Ty::Int) || iv.rank() > 0 {
                            let what = iv.describe();
                            return Err(self.err(i.span, format!("the dimension must be an Integer, not {what}")));
                        }
                        if let Some(n) = self.size_in_progress(env, a, &iv)? {
                            return Ok(Some(self.num(n as f64, Ty::Int)));
                        }
                        let v = self.eval(&shape, a)?;
                        match self.const_of(&iv) {
                            Some(k) if k >= 1.0 && k <= v.rank() as f64 => {
                                let n = v.dims()[k as usize - 1];
                                self.num(n as f64, Ty::Int)
                            }
                            _ => {
                                let t = self.value_text(&iv);
                                return Err(self.err(span, format!("{} has no dimension {t}", v.describe())));
                            }
                        }
                    }
                    _ => return Err(self.err(span, "size needs one or two arguments")),
                }
            }
            "scalar" => {
                let v = self.one(env, c, span)?;
                if v.len() != 1 {
                    return Err(self.err(span, format!("{} is not a single element", v.describe())));
                }
                v.at(0)
            }
            "vector" => {
                let v = self.one(env, c, span)?;
                if v.dims().iter().filter(|&&d| d > 1).count() > 1 {
                    let text = format!(
                        "vector needs an array with one dimension of more than one element, not {}",
                        v.describe()
                    );
                    return Err(self.err(span, text));
                }
                let n = v.len();
                v.reshape(vec![n])
            }
            "matrix" => {
                let v = self.one(env, c, span)?;
                match v.rank() {
                    2 => v,
                    0 | 1 => promote(&v, 2),
                    _ => {
                        let d = v.dims()[..2].to_vec();
                        if v.dims()[2..].iter().any(|&x| x != 1) {
                            return Err(self.err(span, format!("{} is no matrix", v.describe())));
                        }
                        v.reshape(d)
                    }
                }
            }
            "promote" => {
                let a = self.eval(env, &c.args[0])?;
                let n = self.sizes(env, &c.args[1..])?[0];
                if n < a.rank() {
                    let text =
                        format!("promote cannot take dimensions away: {} has {}, not {n}", a.describe(), a.rank());
                    return Err(self.err(span, text));
                }
                promote(&first_of(&a), n)
            }
            "identity" => {
                let n = self.sizes(env, &c.args)?;
                self.identity(n.first().copied().unwrap_or(0))
            }
            "diagonal" => {
                let v = self.one(env, c, span)?;
                if v.rank() != 1 {
                    return Err(self.err(span, format!("diagonal needs a vector, not {}", v.describe())));
                }
                let n = v.len();
                let zero = self.num(0.0, v.ty().unwrap_or(Ty::Real));
                let e: Vec<Value> =
                    (0..n * n).map(|k| if k / n == k % n { v.at(k / n) } else { zero.clone() }).collect();
                if n == 0 { Value::array(Ty::Real, vec![0, 0], vec![]) } else { Value::records(vec![n, n], e) }
            }
            "zeros" | "ones" => {
                let d = self.sizes(env, &c.args)?;
                let x = self.dae.pool.num(if name == "zeros" { 0.0 } else { 1.0 });
                let n = d.iter().product();
                Value::array(Ty::Int, d, vec![x; n])
            }
            "fill" => {
                let Some((v, sizes)) = c.args.split_first() else {
                    return Err(self.err(span, "fill needs a value and sizes"));
                };
                let v = self.eval(env, v)?;
                let d = self.sizes(env, sizes)?;
                let n: usize = d.iter().product();
                if n == 0 {
                    let mut dims = d;
                    dims.extend_from_slice(v.dims());
                    Value::array(v.ty().unwrap_or(Ty::Real), dims, Vec::new())
                } else {
                    stack(&d, &vec![v; n])
                }
            }
            "linspace" => {
                let [a, b, n] = &c.args[..] else { return Err(self.err(span, "linspace needs three arguments")) };
                let (a, b) = (self.numbers(env, name, a)?, self.numbers(env, name, b)?);
                let count = n;
                let n = self.sizes(env, std::slice::from_ref(n))?[0];
                if n < 2 {
                    return Err(self.err(count.span, format!("linspace needs two points or more, not {n}")));
                }
                let (Value::Num(a, _), Value::Num(b, _)) = (&a, &b) else {
                    return Err(self.err(span, "linspace needs scalars"));
                };
                let mut e = Vec::new();
                let w = self.dae.pool.sub(*b, *a);
                for k in 0..n {
                    let f = self.dae.pool.num(k as f64 / (n.max(2) - 1) as f64);
                    let d = self.dae.pool.mul(w, f);
                    e.push(self.dae.pool.add(*a, d));
                }
                Value::array(Ty::Real, vec![n], e)
            }
            "transpose" => {
                let v = self.one(env, c, span)?;
                self.transpose(&v, span)?
            }
            "outerProduct" => {
                let (a, b) = self.two_numbers(env, name, c, span)?;
                if let Some(v) = [&a, &b].into_iter().find(|v| v.rank() != 1) {
                    return Err(self.err(span, format!("outerProduct needs two vectors, not {}", v.describe())));
                }
                let (n, m) = (a.len(), b.len());
                let (a, b) = (a.reshape(vec![n, 1]), b.reshape(vec![1, m]));
                self.product(env, &a, &b, span)?
            }
            "symmetric" => {
                let v = self.one(env, c, span)?;
                let [n, m] = v.dims() else { return Err(self.err(span, "symmetric needs a matrix")) };
                let (n, m) = (*n, *m);
                if n != m {
                    return Err(self.err(span, format!("symmetric needs a square matrix, not {}", v.describe())));
                }
                let e: Vec<Value> =
                    (0..n * m).map(|k| if k / m <= k % m { v.at(k) } else { v.at((k % m) * m + k / m) }).collect();
                Value::records(vec![n, m], e)
            }
            "cross" => {
                let (a, b) = self.two_numbers(env, name, c, span)?;
                if a.dims() != [3] || b.dims() != [3] {
                    return Err(self.err(span, "cross needs two vectors of three elements"));
                }
                let (Value::Arr(a), Value::Arr(b)) = (&a, &b) else {
                    return Err(self.err(span, "cross needs numbers"));
                };
                let p = &mut self.dae.pool;
                let mut e = Vec::new();
                for (i, j) in [(1, 2), (2, 0), (0, 1)] {
                    let (x, y) = (p.mul(a.e[i], b.e[j]), p.mul(a.e[j], b.e[i]));
                    e.push(p.sub(x, y));
                }
                Value::array(a.ty.join(b.ty), vec![3], e)
            }
            "skew" => {
                let v = self.numbers(env, name, &c.args[0])?;
                if v.dims() != [3] {
                    return Err(self.err(span, "skew needs a vector of three elements"));
                }
                let s = v.scalar_list();
                let p = &mut self.dae.pool;
                let z = p.num(0.0);
                let (n0, n1, n2) = (p.neg(s[0]), p.neg(s[1]), p.neg(s[2]));
                Value::array(v.ty().unwrap_or(Ty::Real), vec![3, 3], vec![z, n2, s[1], s[2], z, n0, n1, s[0], z])
            }
            "cat" => {
                let Some((k, rest)) = c.args.split_first() else { return Err(self.err(span, "cat needs arguments")) };
                let k = self.sizes(env, std::slice::from_ref(k))?[0];
                let vs = rest.iter().map(|a| self.eval(env, a)).collect::<R<Vec<_>>>()?;
                self.cat(k, &vs, span)?
            }
            "array" => {
                let vs = c.args.iter().map(|a| self.eval(env, a)).collect::<R<Vec<_>>>()?;
                self.stacked(&[vs.len()], &vs, span)?
            }
            "pure" => self.one(&Env { pure: true, ..*env }, c, span)?,
            "activeState" | "ticksInState" | "timeInState" => self.state_call(env, name, c, span)?,
            "assert" | "reinit" | "terminate" => return Err(self.err(span, format!("{name} is not an expression"))),
            _ => return Ok(None),
        };
        Ok(Some(v))
    }

    pub(crate) fn transpose(&mut self, v: &Value, span: Span) -> R<Value> {
        let [n, m, rest @ ..] = v.dims() else {
            return Err(self.err(span, format!("{} cannot be transposed", v.describe())));
        };
        let (n, m) = (*n, *m);
        let w: usize = rest.iter().product();
        let mut dims = vec![m, n];
        dims.extend_from_slice(rest);
        if let Value::Arr(a) = v {
            let mut e = Vec::with_capacity(a.e.len());
            for j in 0..m {
                for i in 0..n {
                    e.extend_from_slice(&a.e[(i * m + j) * w..(i * m + j + 1) * w]);
                }
            }
            return Ok(Value::array(a.ty, dims, e));
        }
        let el = v.elements();
        let mut e = Vec::new();
        for j in 0..m {
            for i in 0..n {
                e.extend_from_slice(&el[(i * m + j) * w..(i * m + j + 1) * w]);
            }
        }
        Ok(Value::records(dims, e))
    }

    /// The Boolean that is true at the ticks of `sample(start, interval)`.
    pub(crate) fn sampler(&mut self, env: &Env, start: ExprId, interval: ExprId, span: Span) -> Value {
        if let Some(&v) = self.samplers.get(&(start, interval)) {
            return Value::Num(self.var_expr(v), Ty::Bool);
        }
        let o = self.origin(env, span, "sample");
        let var = self.hidden("sample", VarType::Boolean, Variability::Discrete, o.clone());
        let (s, i) = (self.row(start), self.row(interval));
        self.dae.samplers.push(Sampler { var, start: s, from_start: false, interval: i, origin: o });
        self.samplers.insert((start, interval), var);
        Value::Num(self.var_expr(var), Ty::Bool)
    }

    /// The options of `String(x, …)` in the order of `minimumLength`, `leftJustified`, `significantDigits`, and a format.
    /// Without names they follow the signature for the type (Modelica 3.6, section 3.7.2).
    pub(crate) fn string_options<'c>(
        &self,
        c: &'c Call,
        ty: Ty,
        format_second: bool,
        span: Span,
    ) -> R<[Option<&'c Expr>; 4]> {
        let all = ["minimumLength", "leftJustified", "significantDigits", "format"];
        let order: &[usize] = match ty {
            _ if format_second => &[3],
            Ty::Real => &[2, 0, 1],
            _ => &[0, 1],
        };
        let rest = c.args.get(1..).unwrap_or_default();
        if rest.len() > order.len() {
            return Err(self.err(
                span,
                format!("String has {} options for {}, {} are given", order.len(), self.type_text(ty), rest.len()),
            ));
        }
        let mut options = [None; 4];
        for (&k, e) in order.iter().zip(rest) {
            options[k] = Some(e);
        }
        for (n, e) in &c.named {
            let Some(k) = all.iter().position(|x| n.name == *x) else {
                return Err(self.err(n.span, format!("there is no argument called {}", n.name)));
            };
            if k == 2 && ty != Ty::Real {
                return Err(self.err(n.span, format!("significantDigits is for Reals, not for {}", self.type_text(ty))));
            }
            options[k] = Some(e);
        }
        Ok(options)
    }

    fn string_call(&mut self, env: &Env, c: &Call, span: Span) -> R<Value> {
        let Some(x) = c.args.first() else { return Err(self.err(span, "String needs an argument")) };
        let v = self.eval(env, x)?;
        let Value::Num(e, ty) = v else {
            if let Value::Rec(_) = v {
                return self.operator_call(env, "'String'", &[v], span);
            }
            return Err(self.err(span, format!("String needs a scalar, not {}", v.describe())));
        };
        let second = c.args.get(1).map(|a| self.eval(env, a)).transpose()?;
        let options = self.string_options(c, ty, second.is_some_and(|v| v.ty() == Some(Ty::Str)), span)?;
        if ty == Ty::Str {
            return Ok(v);
        }
        if let Some(f) = options[3] {
            let format = self.eval(&Env { mode: Mode::Konst, ..*env }, f)?;
            let Some(format) = self.str_of(&format) else {
                return Err(self.err(f.span, "the format must be a constant String"));
            };
            let Some(x) = self.dae.pool.as_const(e) else {
                let name = format!("$string_{}_{format}", ty.text());
                let args = vec![FExpr::Local(LocalId(0)), FExpr::Str(format.as_str().into())];
                let body = FExpr::Builtin(Builtin::ToString, args);
                let f = self.synthesized(&name, &[ty.scalar()], ScalarType::String, body);
                return Ok(Value::Num(self.dae.pool.call(f, Box::new([e]), 0), Ty::Str));
            };
            return match saltus_function::format::c_format(&format, x) {
                Some(s) => Ok(self.string(&s)),
                None => Err(self.err(f.span, format!("{format:?} is no number format"))),
            };
        }
        let mut values = [0.0, 1.0, 6.0];
        let wanted = [("minimumLength", Ty::Int), ("leftJustified", Ty::Bool), ("significantDigits", Ty::Int)];
        for (k, (name, wanted)) in wanted.into_iter().enumerate() {
            let Some(o) = options[k] else { continue };
            let mut v = self.eval(env, o)?;
            if self.const_of(&v).is_none() {
                v = self.eval(&Env { mode: Mode::Konst, ..*env }, o)?;
            }
            values[k] = match self.const_of(&v) {
                Some(x) if v.ty() == Some(wanted) && x >= 0.0 => x,
                _ => {
                    let what = if wanted == Ty::Bool { "a Boolean" } else { "a nonnegative Integer" };
                    let given = self.value_text(&v);
                    return Err(self.err(o.span, format!("{name} must be {what}, not {given}")));
                }
            };
        }
        let [minimum, left, digits] = values;
        let Some(x) = self.dae.pool.as_const(e) else {
            let mut text = FExpr::Local(LocalId(0));
            let mut name = format!("$string_{}_{minimum}_{left}_{digits}", ty.text());
            if let Ty::Enum(en) = ty {
                name = format!("$string_enumeration_{en:?}_{minimum}_{left}");
                let mut args = vec![text];
                args.extend(self.enum_literals(en).iter().map(|l| FExpr::Str(l.to_string().into())));
                text = FExpr::Builtin(Builtin::EnumToString, args);
            }
            let body = if matches!(ty, Ty::Enum(_)) && minimum == 0.0 {
                text
            } else {
                FExpr::Builtin(Builtin::ToString, vec![text, FExpr::Num(minimum), FExpr::Num(left), FExpr::Num(digits)])
            };
            let f = self.synthesized(&name, &[ty.scalar()], ScalarType::String, body);
            return Ok(Value::Num(self.dae.pool.call(f, Box::new([e]), 0), Ty::Str));
        };
        let mut s = match ty {
            Ty::Bool => (x != 0.0).to_string(),
            Ty::Int => format!("{}", x as i64),
            Ty::Enum(en) => {
                self.enum_literals(en).get((x as usize).wrapping_sub(1)).map_or_else(String::new, |n| n.to_string())
            }
            _ => format_g(x, digits as usize),
        };
        while s.chars().count() < minimum as usize {
            if left != 0.0 {
                s.push(' ');
            } else {
                s.insert(0, ' ');
            }
        }
        Ok(self.string(&s))
    }

    /// An Integer as text.
    pub(crate) fn integer_text(&mut self, x: ExprId) -> ExprId {
        let args = vec![FExpr::Local(LocalId(0)), FExpr::Num(0.0), FExpr::Num(1.0), FExpr::Num(6.0)];
        let name = format!("$string_{}_0_1_6", Ty::Int.text());
        let f =
            self.synthesized(&name, &[Ty::Int.scalar()], ScalarType::String, FExpr::Builtin(Builtin::ToString, args));
        self.dae.pool.call(f, Box::new([x]), 0)
    }

    /// The dimensions of an array of components that have no value of their own: models and blocks.
    fn component_dims(&mut self, env: &Env, e: &Expr) -> R<Option<Vec<usize>>> {
        let ExprKind::Ref(r) = &e.kind else { return Ok(None) };
        if r.parts.first().is_none_or(|p| self.local(env, p.name.name).is_some()) {
            return Ok(None);
        }
        let Ok(crate::eval::Target::Nodes(nodes, mut dims, [])) = self.resolve(env, r) else { return Ok(None) };
        let Some(&n) = nodes.first().filter(|n| n.0 != u32::MAX) else { return Ok(None) };
        let t = self.template(n)?;
        if t.builtin.is_some() || t.is_record() || t.is_connector() {
            return Ok(None);
        }
        if nodes.len() == 1 && dims.is_empty() {
            dims = self.dims(n)?.to_vec();
        }
        Ok(Some(dims))
    }

    /// A dimension of an array whose other dimensions are just being found: `Real A[:, size(A, 1)]`.
    fn size_in_progress(&mut self, env: &Env, array: &Expr, which: &Value) -> R<Option<usize>> {
        let ExprKind::Ref(r) = &array.kind else { return Ok(None) };
        let [part] = &r.parts[..] else { return Ok(None) };
        if !part.subscripts.is_empty() || self.local(env, part.name.name).is_some() {
            return Ok(None);
        }
        let Ok(Some(crate::instance::Found::Component(n))) = self.lookup(env.scope, part.name.name) else {
            return Ok(None);
        };
        if n.0 == u32::MAX {
            return Ok(None);
        }
        let Some(known) = &self.node(n).sizing else { return Ok(None) };
        let k = self.const_of(which).unwrap_or(0.0);
        match known.get((k as usize).wrapping_sub(1)) {
            Some(&size) => Ok(Some(size)),
            None => Err(self.err(array.span, format!("dimension {k} of {} depends on itself", part.name.name))),
        }
    }

    pub(crate) fn function_ref(&mut self, env: &Env, r: &ComponentRef) -> R<Option<Value>> {
        let v = self.eval_ref(env, r)?;
        Ok(matches!(v, Value::Func(_)).then_some(v))
    }
}

/// The least and the most arguments of a built-in function.
fn arity(name: &str) -> Option<(usize, usize)> {
    Some(match name {
        "initial" | "terminal" | "getInstanceName" | "ticksInState" | "timeInState" => (0, 0),
        "der" | "pre" | "previous" | "edge" | "change" | "noEvent" | "hold" | "noClock" | "cardinality"
        | "inStream" | "actualStream" | "activeState" | "Integer" | "abs" | "sign" | "floor" | "ceil" | "integer"
        | "sum" | "product" | "ndims" | "scalar" | "vector" | "matrix" | "identity" | "diagonal" | "transpose"
        | "symmetric" | "skew" | "pure" => (1, 1),
        "smooth" | "homotopy" | "div" | "mod" | "rem" | "atan2" | "promote" | "outerProduct" | "cross" => (2, 2),
        "semiLinear" | "linspace" => (3, 3),
        "firstTick" | "interval" => (0, 1),
        "Clock" => (0, 2),
        "min" | "max" | "size" | "sample" | "subSample" | "superSample" => (1, 2),
        "delay" | "shiftSample" | "backSample" => (2, 3),
        "zeros" | "ones" | "array" => (1, usize::MAX),
        "fill" | "cat" => (2, usize::MAX),
        _ => return unary_named(name).map(|_| (1, 1)),
    })
}

fn arity_text(least: usize, most: usize) -> String {
    let word = |n: usize| ["no", "one", "two", "three"][n.min(3)];
    match (least, most) {
        (1, usize::MAX) => "needs an argument".into(),
        (_, usize::MAX) => format!("needs {} arguments or more", word(least)),
        (0, 0) => "takes no arguments".into(),
        (1, 1) => "needs one argument".into(),
        (0, _) => format!("takes at most {} argument{}", word(most), if most > 1 { "s" } else { "" }),
        _ if least == most => format!("needs {} arguments", word(least)),
        _ => format!("needs {} or {} arguments", word(least), word(most)),
    }
}

fn shape_mode(env: &Env) -> Mode {
    let _ = env;
    Mode::Shape
}

/// C's `%.{p}g`.
pub(crate) fn format_g(x: f64, p: usize) -> String {
    let p = p.max(1);
    if x == 0.0 {
        return "0".into();
    }
    if !x.is_finite() {
        return format!("{x}");
    }
    let e = format!("{:.*e}", p - 1, x);
    let exp: i32 = e.rsplit('e').next().and_then(|s| s.parse().ok()).unwrap_or(0);
    let trim = |s: String| if s.contains('.') { s.trim_end_matches('0').trim_end_matches('.').to_string() } else { s };
    if exp < -4 || exp >= p as i32 {
        let m = e.split('e').next().unwrap_or("0").to_string();
        format!("{}e{}{:02}", trim(m), if exp < 0 { '-' } else { '+' }, exp.abs())
    } else {
        trim(format!("{:.*}", (p as i32 - 1 - exp).max(0) as usize, x))
    }
}
