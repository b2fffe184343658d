//! Calls of functions of the model: constant evaluation, inlining, or a call that stays.

use crate::eval::{Target, first_of, ref_text, retype};
use crate::instance::{Found, Slot};
use crate::lower::{Given, Param, Shape, Signature};
use crate::modifier::{NodeId, Scope};
use crate::template::MemberKind;
use crate::value::{FuncValue, Rec, Ty, Value, shape_text, stack};
use crate::{Env, Flattener, Mode, R};
use saltus_base::{Diagnostic, Name, Span, Stage};
use saltus_dae::{CallEquation, VarId, Variability};
use saltus_expr::{Binary, ExprId, FuncId, Node, Pool, RelOp, Unary};
use saltus_resolve::ClassId;
use saltus_syntax::ast::{
    Call, ClassBody, ClassKind, ComponentRef, Expr, ExprKind, Ident, RefPart, Subscript, TypeSpec, VariabilityPrefix,
};
use std::rc::Rc;

/// How many new expression nodes inlining one call may make.
const INLINE_BUDGET: usize = 4000;

/// Functions with more operations than this stay calls.
const INLINE_WEIGHT: usize = 1500;

/// New nodes that inlining a function that asks for events may take: only what is inlined has them.
const EVENTS_BUDGET: usize = 100_000;

/// A field of a record under construction.
struct Field {
    name: Name,
    node: NodeId,
    value: Option<Value>,
    /// Its default was asked for.
    asked: bool,
}

impl<'t> Flattener<'t> {
    pub(crate) fn user_call(&mut self, env: &Env, c: &Call, span: Span) -> R<Value> {
        let f = self.callee(env, &c.function)?;
        let Value::Func(f) = f else {
            return Err(self.err(c.function.span, format!("{} is not a function", ref_text(&c.function))));
        };
        if !c.iterators.is_empty() {
            return Err(self.err(span, "only sum, product, min, max and array take iterators"));
        }
        if let [Expr { kind: ExprKind::Ref(m), .. }] = &c.args[..]
            && c.named.is_empty()
            && self.template(f.node)?.is_record()
            && self.names_model(env, &c.args[0])?
        {
            return self.cast(env, f.node, m, span);
        }
        let mut args = Vec::new();
        for a in &c.args {
            let v = self.eval(env, a)?;
            args.push(first_of(&v));
        }
        let mut named = Vec::new();
        for (n, a) in &c.named {
            let v = self.eval(env, a)?;
            named.push((n.name, first_of(&v)));
        }
        self.apply(env, &f, args, named, span)
    }

    /// What a name before parentheses means: an enumeration type converts there, it is no list of its literals.
    fn callee(&mut self, env: &Env, name: &ComponentRef) -> R<Value> {
        let local = name.parts.first().is_some_and(|p| self.local(env, p.name.name).is_some());
        if !local && let Target::Class(c) = self.resolve(env, name)? {
            let node = self.class_node(&c);
            return Ok(Value::Func(Rc::new(FuncValue { node, bound: Vec::new() })));
        }
        self.eval_ref(env, name)
    }

    /// Applies a function, a record constructor or a type conversion.
    pub(crate) fn apply(
        &mut self,
        env: &Env,
        f: &FuncValue,
        args: Vec<Value>,
        mut named: Vec<(Name, Value)>,
        span: Span,
    ) -> R<Value> {
        let node = f.node;
        let t = self.template(node)?;
        named.extend(f.bound.iter().cloned());
        match t.builtin {
            Some(ty @ Ty::Enum(class)) => {
                return match &args[..] {
                    [v] => {
                        let count = self.enum_literals(class).len();
                        for e in v.scalar_list() {
                            if let Some(k) = self.dae.pool.as_const(e)
                                && (k < 1.0 || k > count as f64)
                            {
                                let name = self.lib.qualified(class);
                                return Err(
                                    self.err(span, format!("{name} has {count} literals, there is no number {k}"))
                                );
                            }
                            if self.dae.pool.as_const(e).is_none() {
                                let name = self.lib.qualified(class);
                                let text = format!("the number of a literal of {name} is outside 1:{count}");
                                self.stays_within(env, (e, count), text, ("conversion", span));
                            }
                        }
                        Ok(retype(v.clone(), ty))
                    }
                    _ => Err(self.err(span, "a conversion needs one argument")),
                };
            }
            Some(Ty::Object) => {
                // Constructor of an external object.
                let Some(Found::Class(k)) = self.member_from(Scope { node, part: 0 }, Name::new("constructor"))? else {
                    return Err(self.err(span, "this external object has no constructor"));
                };
                let k = self.class_node(&k);
                return self.call_function(env, k, args, named, span);
            }
            Some(ty) => {
                return match &args[..] {
                    [v] => Ok(retype(v.clone(), ty)),
                    _ => Err(self.err(span, "a conversion needs one argument")),
                };
            }
            None => {}
        }
        if matches!(t.kind, ClassKind::Function | ClassKind::OperatorFunction)
            || t.parts.iter().any(|p| p.def.kind == ClassKind::Function)
        {
            return self.call_function(env, node, args, named, span);
        }
        if t.kind == ClassKind::OperatorRecord && self.complex != Some(t.class) {
            let scope = self.node(node).cref.scope;
            let kinds: Vec<_> = args.iter().map(argument_kind).collect();
            if let Some(k) = self.operator_function(t.class, scope, "'constructor'", &kinds, named.len(), span)? {
                return self.call_function(env, k, args, named, span);
            }
        }
        if t.is_record() {
            return self.construct(env, node, args, named, span);
        }
        Err(self.err(span, format!("{} is a {}, not a function", self.lib.qualified(t.class), kind_text(t.kind))))
    }

    /// A record constructor.
    fn construct(
        &mut self,
        env: &Env,
        node: NodeId,
        args: Vec<Value>,
        named: Vec<(Name, Value)>,
        span: Span,
    ) -> R<Value> {
        let t = self.template(node)?;
        let mut it = args.into_iter();
        for (n, _) in &named {
            if !t.index.contains_key(n) {
                let hints = self.similar_members(node, *n);
                return Err(self.err_hints(span, format!("{} has no field {n}", self.lib.qualified(t.class)), hints));
            }
        }
        // What is given comes first: defaults may use any other field.
        let mut fields: Vec<Field> = Vec::new();
        for (i, m) in t.members.iter().enumerate() {
            let MemberKind::Component { .. } = m.kind else { continue };
            let Slot::Node(k) = self.child(node, i as u32)? else { continue };
            let given = match named.iter().find(|(n, _)| *n == m.name) {
                Some((_, v)) => Some(v.clone()),
                None => {
                    if self.is_settled_field(k)? {
                        None
                    } else {
                        it.next()
                    }
                }
            };
            // Reals given as Integers.
            let value = match self.template(k)?.builtin {
                Some(Ty::Real) => given.map(|v| if v.ty() == Some(Ty::Int) { retype(v, Ty::Real) } else { v }),
                _ => given,
            };
            fields.push(Field { name: m.name, node: k, value, asked: false });
        }
        if it.next().is_some() {
            return Err(self.err(span, format!("too many arguments for {}", self.lib.qualified(t.class))));
        }
        if let Some(v) = self.construct_each(env, node, &fields, span)? {
            return Ok(v);
        }
        for k in 0..fields.len() {
            self.fill_field(env, node, &mut fields, k, span)?;
        }
        let fields = fields.into_iter().filter_map(|f| Some((f.name, f.value?))).collect();
        Ok(Value::Rec(Rc::new(Rec { class: t.class, scope: self.node(node).cref.scope, fields })))
    }

    /// Arguments of higher rank than their fields: one record for each element.
    fn construct_each(&mut self, env: &Env, node: NodeId, fields: &[Field], span: Span) -> R<Option<Value>> {
        let mut extra: Option<Vec<usize>> = None;
        let mut ranks = Vec::new();
        for f in fields {
            let rank = self.declared_rank(f.node)?;
            ranks.push(rank);
            let Some(v) = f.value.as_ref().filter(|v| v.rank() > rank) else { continue };
            let d = v.dims()[..v.rank() - rank].to_vec();
            if extra.as_ref().is_some_and(|e| *e != d) {
                let name = self.lib.qualified(self.template(node)?.class);
                return Err(self.err(span, format!("the arguments of {name} have shapes that do not fit its fields")));
            }
            extra = Some(d);
        }
        let Some(dims) = extra else { return Ok(None) };
        let count: usize = dims.iter().product();
        let mut out = Vec::with_capacity(count);
        for k in 0..count {
            let given = fields.iter().zip(&ranks).filter_map(|(f, &rank)| {
                let v = f.value.as_ref()?;
                Some((f.name, if v.rank() > rank { part_of(v, dims.len(), k) } else { v.clone() }))
            });
            let given = given.collect();
            out.push(self.construct(env, node, Vec::new(), given, span)?);
        }
        Ok(Some(Value::records(dims, out)))
    }

    /// How many dimensions a component is declared with.
    pub(crate) fn declared_rank(&mut self, c: NodeId) -> R<usize> {
        let t = self.template(c)?;
        let mut rank: usize = t.dims.iter().map(|d| d.0.len()).sum();
        if let Some((clause, comp, _)) = self.node(c).dims_from.as_deref().copied().or(self.node(c).clause) {
            rank += comp.dims.len() + clause.type_dims.len();
        }
        Ok(rank)
    }

    /// `R(m)` with a component m that is no record: its parts by name.
    fn cast(&mut self, env: &Env, node: NodeId, m: &ComponentRef, span: Span) -> R<Value> {
        let t = self.template(node)?;
        let mut named = Vec::new();
        for (i, f) in t.members.iter().enumerate() {
            let MemberKind::Component { .. } = f.kind else { continue };
            let Slot::Node(k) = self.child(node, i as u32)? else { continue };
            if self.is_settled_field(k)? {
                continue;
            }
            let mut part = m.clone();
            part.parts.push(RefPart { name: Ident { name: f.name, span: m.span }, subscripts: Vec::new() });
            let v = match self.template(k)?.is_record() {
                true => self.cast(env, k, &part, span)?,
                false => self.eval(env, &Expr { kind: ExprKind::Ref(part), span: m.span })?,
            };
            named.push((f.name, v));
        }
        self.construct(env, node, Vec::new(), named, span)
    }

    /// Whether a name is that of a component that is neither a value nor a record.
    fn names_model(&mut self, env: &Env, e: &Expr) -> R<bool> {
        let ExprKind::Ref(r) = &e.kind else { return Ok(false) };
        let Ok(Target::Nodes(nodes, ..)) = self.resolve(env, r) else { return Ok(false) };
        let Some(&n) = nodes.first().filter(|n| n.0 != u32::MAX) else { return Ok(false) };
        let n = self.real(n)?;
        let t = self.template(n)?;
        Ok(t.builtin.is_none() && !t.is_record() && !t.is_connector())
    }

    /// Whether a field is no input of the record's constructor: final, or a constant with a value.
    pub(crate) fn is_settled_field(&mut self, k: NodeId) -> R<bool> {
        let constant = self.node(k).variability == VariabilityPrefix::Constant;
        Ok(self.node(k).is_final || constant && self.leaf_or_own_mod(k)?.binding.is_some())
    }

    /// Gives a field its default, after the fields that the default uses.
    fn fill_field(&mut self, env: &Env, node: NodeId, fields: &mut [Field], k: usize, span: Span) -> R<()> {
        if fields[k].value.is_some() || std::mem::replace(&mut fields[k].asked, true) {
            return Ok(());
        }
        let n = fields[k].node;
        if let Some(b) = self.leaf_or_own_mod(n)?.binding.clone()
            && b.scope.node == node
        {
            let mut names = Vec::new();
            crate::eval::visit_refs(b.source, &mut |r| names.extend(r.parts.first().map(|p| p.name.name)));
            for name in names {
                if let Some(j) = fields.iter().position(|f| f.name == name) {
                    self.fill_field(env, node, fields, j, span)?;
                }
            }
        }
        let known: Vec<(Name, Value)> = fields.iter().filter_map(|f| Some((f.name, f.value.clone()?))).collect();
        // The imaginary part of a complex number is optional.
        let class = self.template(node)?.class;
        if self.complex != Some(class)
            && self.template(n)?.builtin.is_some()
            && self.leaf_or_own_mod(n)?.binding.is_none()
            && !self.dims(n).is_ok_and(|d| d.contains(&0))
        {
            return Err(self.missing_field(node, fields[k].name, span));
        }
        let v = self.field_default(env, node, n, &known, span)?;
        let real = self.template(n)?.builtin == Some(Ty::Real) && v.ty() == Some(Ty::Int);
        fields[k].value = Some(if real { retype(v, Ty::Real) } else { v });
        Ok(())
    }

    /// A record is constructed without a value for a field that has no default.
    pub(crate) fn missing_field(&mut self, node: NodeId, field: Name, span: Span) -> Box<Diagnostic> {
        let message = format!("{} needs a value for its field {field}, which has no default", self.path(node));
        self.err(span, message)
    }

    fn field_default(&mut self, env: &Env, node: NodeId, k: NodeId, fields: &[(Name, Value)], span: Span) -> R<Value> {
        let b = self.leaf_or_own_mod(k)?.binding.clone();
        let v = match &b {
            Some(b) => {
                // Other fields of the same record are visible.
                let inner = Env { scope: b.scope, locals: None, ..*env };
                let known: Vec<(Name, Value)> = if b.scope.node == node { fields.to_vec() } else { Vec::new() };
                let v = self.with_known(&known, &inner, &mut |me, env| me.eval(env, b.source))?;
                Some(first_of(&v))
            }
            None => None,
        };
        match v {
            Some(v) => {
                if v.rank() == 0
                    && let Ok(d) = self.dims(k)
                    && !d.is_empty()
                {
                    let n = d.iter().product();
                    return Ok(stack(&d, &vec![v; n]));
                }
                Ok(v)
            }
            None => {
                let t = self.template(k)?;
                if t.builtin.is_none() {
                    return self.construct(env, k, Vec::new(), Vec::new(), span);
                }
                let dims = self.dims(k).unwrap_or_else(|_| Rc::from([]));
                let start = self.leaf_mod(k)?.child(self.names.start).and_then(|c| c.binding.clone());
                let x = match start {
                    Some(b) => self.binding_value(&b, env.mode)?,
                    None => self.num(0.0, t.builtin.unwrap_or(Ty::Real)),
                };
                if x.rank() > 0 || dims.is_empty() {
                    return Ok(x);
                }
                let n = dims.iter().product();
                Ok(Value::array(t.builtin.unwrap_or(Ty::Real), dims.to_vec(), vec![x.scalar_list()[0]; n]))
            }
        }
    }

    /// The function of an operator record that fits the arguments best (`named` more are given by name).
    pub(crate) fn operator_function(
        &mut self,
        class: ClassId,
        scope: Scope,
        name: &str,
        args: &[(Option<Ty>, usize)],
        named: usize,
        span: Span,
    ) -> R<Option<NodeId>> {
        let arguments = args.len() + named;
        let node = self.class_node(&self.plain(class, scope));
        let Some(Found::Class(op)) = self.member_from(Scope { node, part: 0 }, Name::new(name))? else {
            return Ok(None);
        };
        let op = self.class_node(&op);
        let t = self.template(op)?;
        if t.kind == ClassKind::OperatorFunction || t.kind == ClassKind::Function {
            return Ok(Some(op));
        }
        let names: Vec<Name> =
            t.members.iter().filter(|m| matches!(m.kind, MemberKind::Class(_))).map(|m| m.name).collect();
        let mut best: Option<(u32, NodeId)> = None;
        let mut tie = None;
        for n in names {
            if let Some(Found::Class(f)) = self.member_from(Scope { node: op, part: 0 }, n)? {
                let f = self.class_node(&f);
                let sig = self.signature(f, span)?;
                let needed = sig.inputs.iter().filter(|p| !p.has_default).count();
                if needed > arguments || arguments > sig.inputs.len() {
                    continue;
                }
                let mut cost = Some(0);
                for (p, &a) in sig.inputs.iter().zip(args) {
                    let fit = self.argument_fit(p.node, p.rank, a)?;
                    cost = cost.zip(fit).map(|(c, f)| c + f);
                }
                if let Some(c) = cost {
                    match best {
                        Some(b) if c == b.0 => tie = Some((c, n)),
                        Some(b) if c > b.0 => {}
                        _ => best = Some((c, f)),
                    }
                }
            }
        }
        if let (Some((cost, first)), Some((c, second))) = (best, tie)
            && cost == c
        {
            let first = self.node(first).name;
            let message = format!(
                "two functions of the operator {name} of {} take these arguments: {first} and {second}",
                self.lib.qualified(class)
            );
            return Err(self.err(span, message));
        }
        Ok(best.map(|b| b.1))
    }

    /// How far an argument is from what an input takes: 0 exactly, 1 an Integer for a Real, 2 a number for a record that
    /// can be made from it; nothing if it cannot be given.
    fn argument_fit(&mut self, input: NodeId, rank: usize, (ty, r): (Option<Ty>, usize)) -> R<Option<u32>> {
        Ok(match (self.template(input)?.builtin, ty) {
            (Some(_), Some(have)) if r != rank => have.numeric().then_some(3),
            (Some(want), Some(have)) if want == have => Some(0),
            (Some(Ty::Real), Some(Ty::Int)) => Some(1),
            (Some(Ty::Enum(x)), Some(Ty::Enum(y))) => self.same_enum(x, y).then_some(0),
            (Some(_), _) => None,
            (None, None) => Some(if r == rank { 0 } else { 3 }),
            (None, Some(have)) => have.numeric().then_some(if r == rank { 2 } else { 3 }),
        })
    }

    pub(crate) fn operator_call(&mut self, env: &Env, name: &str, args: &[Value], span: Span) -> R<Value> {
        let Some((class, scope)) = args.iter().find_map(|a| match a {
            Value::Rec(r) => Some((r.class, r.scope)),
            _ => None,
        }) else {
            return Err(self.err(span, "this operator cannot be applied here"));
        };
        let kinds: Vec<_> = args.iter().map(argument_kind).collect();
        match self.operator_function(class, scope, name, &kinds, 0, span)? {
            Some(f) => {
                // Numbers beside records are converted by the record's constructor.
                let mut a = args.to_vec();
                let sig = self.signature(f, span)?;
                for (x, p) in a.iter_mut().zip(&sig.inputs) {
                    let want_record = self.template(p.node)?.builtin.is_none();
                    if want_record && matches!(x, Value::Num(..)) {
                        let node = self.class_node(&self.plain(class, scope));
                        *x =
                            self.apply(env, &FuncValue { node, bound: Vec::new() }, vec![x.clone()], Vec::new(), span)?;
                    }
                }
                self.call_function(env, f, a, Vec::new(), span)
            }
            None => Err(self.err(span, format!("{} has no operator {name}", self.lib.qualified(class)))),
        }
    }

    /// Arguments matched to inputs; `None` where the default is used.
    fn match_arguments(
        &mut self,
        node: NodeId,
        sig: &Signature,
        args: Vec<Value>,
        named: Vec<(Name, Value)>,
        span: Span,
    ) -> R<Vec<Option<Value>>> {
        for (n, _) in &named {
            if !sig.inputs.iter().any(|p| p.name == *n) {
                let f = self.path(node);
                let hints = crate::eval::suggest(n.as_str(), sig.inputs.iter().map(|p| p.name.as_str()));
                return Err(self.err_hints(span, format!("{f} has no input {n}"), hints));
            }
        }
        let mut it = args.into_iter();
        let mut out = Vec::new();
        for p in &sig.inputs {
            let v = match named.iter().find(|(n, _)| *n == p.name) {
                Some((_, v)) => Some(v.clone()),
                None => it.next(),
            };
            if v.is_none() && !p.has_default {
                let t = self.template(p.node)?;
                if t.kind != ClassKind::Function {
                    let f = self.path(node);
                    return Err(self.err(span, format!("the argument {} of {f} is missing", p.name)));
                }
            }
            out.push(v);
        }
        if it.next().is_some() {
            let f = self.path(node);
            return Err(self.err(span, format!("too many arguments for {f}, which has {} inputs", sig.inputs.len())));
        }
        Ok(out)
    }

    /// Calls a function; several outputs come as a tuple.
    pub(crate) fn call_function(
        &mut self,
        env: &Env,
        node: NodeId,
        args: Vec<Value>,
        named: Vec<(Name, Value)>,
        span: Span,
    ) -> R<Value> {
        let name = self.lib.qualified(self.template(node)?.class);
        if name == "ModelicaServices.ExternalReferences.loadResource" || name == "Modelica.Utilities.Files.loadResource"
        {
            return self.load_resource(&args, span);
        }
        let class = self.node(node).cref.class;
        if let ClassBody::Derivative { function, with_respect_to, .. } = &*self.lib.def(class).body {
            return self.derivative_call(env, node, function, with_respect_to, args, named, span);
        }
        let sig = self.signature(node, span)?;
        let mut args = self.match_arguments(node, &sig, args, named, span)?;
        // Vectorisation: arguments of higher rank are taken element by element.
        let mut extra: Option<Vec<usize>> = None;
        for (p, a) in sig.inputs.iter().zip(&args) {
            if let Some(a) = a
                && a.rank() > p.rank
                && !matches!(a, Value::Func(_))
            {
                let d = a.dims()[..a.rank() - p.rank].to_vec();
                if extra.as_ref().is_some_and(|e| *e != d) {
                    return Err(
                        self.err(span, format!("the arguments of {name} have shapes that do not fit its inputs"))
                    );
                }
                extra = Some(d);
            }
        }
        if let Some(d) = extra {
            let n: usize = d.iter().product();
            let mut out = Vec::new();
            for k in 0..n {
                let one: Vec<Value> = sig
                    .inputs
                    .iter()
                    .zip(&args)
                    .filter_map(|(p, a)| {
                        a.as_ref().map(|a| if a.rank() > p.rank { part_of(a, d.len(), k) } else { a.clone() })
                    })
                    .collect();
                let names: Vec<Name> =
                    sig.inputs.iter().zip(&args).filter(|(_, a)| a.is_some()).map(|(p, _)| p.name).collect();
                let named = names.into_iter().zip(one).collect();
                let v = self.call_function(env, node, Vec::new(), named, span)?;
                out.push(first_of(&v));
            }
            return self.stacked(&d, &out, span);
        }
        // Reals given as Integers, records of other classes: order the fields as declared.
        for (p, a) in sig.inputs.iter().zip(args.iter_mut()) {
            if let Some(v) = a {
                if p.rank != v.rank() && !matches!(v, Value::Func(_)) {
                    return Err(self.err(
                        span,
                        format!(
                            "{}, an input of {name}, has {} dimensions, but the argument is {}",
                            p.name,
                            p.rank,
                            v.describe()
                        ),
                    ));
                }
                let t = self.template(p.node)?;
                match (t.builtin, v.ty()) {
                    (Some(Ty::Real), Some(Ty::Int)) => *a = Some(retype(v.clone(), Ty::Real)),
                    (Some(want), Some(have)) => {
                        let ok = match (want, have) {
                            (Ty::Enum(x), Ty::Enum(y)) => self.same_enum(x, y),
                            (x, y) => x == y,
                        };
                        if !ok && v.len() > 0 {
                            return Err(self.err(
                                span,
                                format!(
                                    "{}, an input of {name}, is a {}, but the argument is a {}",
                                    p.name,
                                    self.type_text(want),
                                    self.type_text(have)
                                ),
                            ));
                        }
                    }
                    (want, have) if want.is_some() != have.is_some() && !matches!(v, Value::Func(_)) && v.len() > 0 => {
                        let kind = want.map_or_else(|| self.lib.qualified(t.class), |w| self.type_text(w));
                        let message = format!(
                            "{}, an input of {name}, is a {kind}, but the argument is {}",
                            p.name,
                            v.describe()
                        );
                        return Err(self.err(span, message));
                    }
                    (None, None) if t.is_record() => *a = Some(self.reorder(p.node, v.clone(), span)?),
                    _ => {}
                }
            }
        }
        let known = |v: &Value| Shape { dims: v.dims().to_vec(), value: self.const_of(v) };
        let shapes: Vec<Option<Shape>> = args.iter().map(|a| a.as_ref().map(known)).collect();
        self.check_sizes(&sig, &shapes, &name, span)?;
        for (p, a) in sig.inputs.iter().zip(&args) {
            if let Some(Value::Func(f)) = a {
                self.check_functional(p, f, &name, span)?;
            }
        }
        self.call_matched(env, node, &sig, args, span)
    }

    /// Arguments have the sizes that the inputs declare, as numbers or by other inputs (`Real b[size(A, 1)]`, `Real x[n]`).
    pub(crate) fn check_sizes(&mut self, sig: &Signature, args: &[Option<Shape>], name: &str, span: Span) -> R<()> {
        let given = |n: Name| sig.inputs.iter().zip(args).find(|(p, _)| p.name == n).and_then(|(_, a)| a.as_ref());
        for (p, a) in sig.inputs.iter().zip(args) {
            let Some(v) = a.as_ref().filter(|v| p.rank > 0 && v.dims.len() == p.rank) else { continue };
            let Some(d) = self.node(p.node).dims_from.as_deref().copied().or(self.node(p.node).clause) else {
                continue;
            };
            for (s, &have) in d.1.dims.iter().chain(&d.0.type_dims).zip(&v.dims) {
                let Subscript::Index(e) = s else { continue };
                let want = match &e.kind {
                    ExprKind::Integer(n) => Some(*n as f64),
                    ExprKind::Ref(r) => simple_name(r).and_then(given).and_then(|v| v.value),
                    ExprKind::Call(c) if simple_name(&c.function).is_some_and(|n| n == "size") => match &c.args[..] {
                        [Expr { kind: ExprKind::Ref(r), .. }, Expr { kind: ExprKind::Integer(k), .. }] => {
                            let dims = simple_name(r).and_then(given).map(|v| &v.dims);
                            dims.and_then(|d| d.get((*k as usize).wrapping_sub(1))).map(|&n| n as f64)
                        }
                        _ => None,
                    },
                    _ => None,
                };
                if let Some(want) = want.filter(|w| *w != have as f64) {
                    let dims = shape_text(&v.dims);
                    let size = if e.to_string() == want.to_string() { String::new() } else { format!("{e} = ") };
                    let message = format!(
                        "{}, an input of {name}, has {size}{want} elements in a dimension where the argument, of shape {dims}, has {have}",
                        p.name
                    );
                    // More than another input says is no harm in Modelica code, which libraries rely on.
                    let more = matches!(e.kind, ExprKind::Ref(_)) && have as f64 > want && !sig.external;
                    let mut told = self.err(span, message);
                    told.labels.push(saltus_base::Label { span: d.1.name.span, message: "declared here".into() });
                    if !more {
                        return Err(told);
                    }
                    if self.warned.insert(span) {
                        told.severity = saltus_base::Severity::Warning;
                        told.hints.push("the size of the argument counts".into());
                        self.diagnostics.push(*told);
                    }
                }
            }
        }
        Ok(())
    }

    /// A function given as an argument must take and give what the input is called with.
    fn check_functional(&mut self, p: &Param, f: &FuncValue, name: &str, span: Span) -> R<()> {
        if self.template(p.node)?.kind != ClassKind::Function {
            return Ok(());
        }
        let (want, have) = (self.signature(p.node, span)?, self.signature(f.node, span)?);
        let mut open = have.inputs.iter().filter(|q| !f.bound.iter().any(|(n, _)| *n == q.name));
        let given = self.path(f.node);
        let mut why = None;
        for w in &want.inputs {
            match open.next() {
                None => why = Some(format!("it takes no {}", w.name)),
                Some(q) if !self.can_pass(w.node, w.rank, q.node, q.rank)? => {
                    why = Some(format!("its input {} is not of the kind of {}", q.name, w.name));
                }
                Some(_) => continue,
            }
            break;
        }
        if why.is_none()
            && let Some(q) = open.find(|q| !q.has_default)
        {
            why = Some(format!("its input {} would get no value", q.name));
        }
        for (k, w) in want.outputs.iter().enumerate() {
            let fits = match have.outputs.get(k) {
                Some(q) => self.can_pass(q.node, q.rank, w.node, w.rank)?,
                None => false,
            };
            if !fits && why.is_none() {
                why = Some(format!("it gives no {} of the kind that is wanted", w.name));
            }
        }
        let Some(why) = why else { return Ok(()) };
        let mut e = self.err(span, format!("{given} cannot be the argument {} of {name}: {why}", p.name));
        for (n, message) in [(f.node, "the function that is given"), (p.node, "what is wanted")] {
            e.labels.push(saltus_base::Label { span: self.part_span(n), message: message.into() });
        }
        Err(e)
    }

    /// Whether a value of the kind of `from` can be taken as one of the kind of `to`.
    fn can_pass(&mut self, from: NodeId, rank: usize, to: NodeId, other: usize) -> R<bool> {
        let (a, b) = (self.template(from)?.builtin, self.template(to)?.builtin);
        Ok(rank == other
            && match (a, b) {
                (Some(Ty::Int), Some(Ty::Real)) => true,
                (Some(Ty::Enum(x)), Some(Ty::Enum(y))) => self.same_enum(x, y),
                (Some(x), Some(y)) => x == y,
                (x, y) => x.is_some() == y.is_some(),
            })
    }

    /// A call of `function g = der(f, x, …)`: the partial derivative of f at the arguments.
    /// The function that `der(f, x, …)` differentiates in the end, and by what: f may be a derivative itself.
    pub(crate) fn differentiated(
        &mut self,
        node: NodeId,
        function: &'t TypeSpec,
        with_respect_to: &'t [Ident],
    ) -> R<(NodeId, Vec<&'t Ident>)> {
        let mut variables: Vec<&'t Ident> = with_respect_to.iter().collect();
        let mut base = self.class_in(self.node(node).cref.scope, function)?;
        let mut seen = vec![self.node(node).cref.class];
        while let ClassBody::Derivative { function, with_respect_to, .. } = &*self.lib.def(base.class).body {
            if seen.contains(&base.class) {
                return Err(self.err(function.span, "this function is a derivative of itself"));
            }
            seen.push(base.class);
            variables.splice(0..0, with_respect_to);
            base = self.class_in(base.scope, function)?;
        }
        Ok((self.class_node(&base), variables))
    }

    pub(crate) fn derivative_call(
        &mut self,
        env: &Env,
        node: NodeId,
        function: &'t TypeSpec,
        with_respect_to: &'t [Ident],
        args: Vec<Value>,
        named: Vec<(Name, Value)>,
        span: Span,
    ) -> R<Value> {
        let (base, with_respect_to) = self.differentiated(node, function, with_respect_to)?;
        let sig = self.signature(base, span)?;
        let args = self.match_arguments(base, &sig, args, named, span)?;
        let mut given: Vec<(Name, Value)> =
            sig.inputs.iter().zip(args).filter_map(|(p, a)| a.map(|a| (p.name, a))).collect();
        // Stand-ins for the variables, so that the derivative can be taken before the arguments come in.
        let mut holes: Vec<(Name, u32, ExprId)> = Vec::new();
        for x in &with_respect_to {
            if holes.iter().any(|h| h.0 == x.name) {
                continue;
            }
            let Some((_, v)) = given.iter_mut().find(|(n, _)| *n == x.name) else {
                return Err(self.err(x.span, format!("{} has no input {}", self.path(base), x.name)));
            };
            let Value::Num(e, Ty::Real | Ty::Int) = *v else {
                return Err(self.err(x.span, format!("{} must be a Real scalar to differentiate by it", x.name)));
            };
            self.counter += 1;
            let mark = f64::from_bits(f64::NAN.to_bits() | self.counter as u64);
            let stand_in = self.rows.operand(&mut self.dae.pool, saltus_dae::Operand::Const(mark));
            let saltus_expr::Node::Hole(k) = *self.dae.pool.node(stand_in) else {
                return Err(self.err(span, "bug in Saltus: an operand is not a hole"));
            };
            *v = Value::Num(stand_in, Ty::Real);
            holes.push((x.name, k, e));
        }
        let result = self.call_function(&Env { mode: Mode::Model, ..*env }, base, Vec::new(), given, span)?;
        let result = first_of(&result);
        let order: Vec<u32> =
            with_respect_to.iter().filter_map(|x| holes.iter().find(|h| h.0 == x.name).map(|h| h.1)).collect();
        Ok(result.rebuild(&mut |e, _| {
            let mut e = e;
            for &k in &order {
                e = saltus_expr::Differentiator::partial(&mut self.dae.pool, e, k);
            }
            self.dae.pool.substitute(e, |p, k| match holes.iter().find(|h| h.1 == k) {
                Some(h) => h.2,
                None => p.hole(k),
            })
        }))
    }

    /// The fields of a record value in the order a class declares them.
    fn reorder(&mut self, n: NodeId, v: Value, span: Span) -> R<Value> {
        match &v {
            Value::Rec(r) => {
                let t = self.template(n)?;
                if t.class == r.class {
                    return Ok(v);
                }
                let mut fields = Vec::new();
                for (i, m) in t.members.iter().enumerate() {
                    let MemberKind::Component { .. } = m.kind else { continue };
                    let Slot::Node(k) = self.child(n, i as u32)? else { continue };
                    let Some(f) = v.field(m.name) else {
                        return Err(self.err(span, format!("the record given has no field {}", m.name)));
                    };
                    let f = if self.template(k)?.builtin.is_none() { self.reorder(k, f, span)? } else { f };
                    fields.push((m.name, f));
                }
                Ok(Value::Rec(Rc::new(Rec { class: t.class, scope: r.scope, fields })))
            }
            Value::RecArr(a) => {
                let e = a.e.iter().map(|v| self.reorder(n, v.clone(), span)).collect::<R<Vec<_>>>()?;
                Ok(Value::records(a.dims.clone(), e))
            }
            _ => Ok(v),
        }
    }

    fn given(&mut self, v: &Option<Value>, flat: &mut Vec<ExprId>) -> Given {
        match v {
            None => Given::Default,
            Some(Value::Func(f)) => {
                let bound = f.bound.clone();
                let b = bound.into_iter().map(|(n, v)| (n, self.given(&Some(v), flat))).collect();
                Given::Function(f.node, b)
            }
            Some(v) => {
                let mut sizes = Vec::new();
                leaf_sizes(v, &[], &mut sizes, flat);
                Given::Value(sizes)
            }
        }
    }

    fn call_matched(
        &mut self,
        env: &Env,
        node: NodeId,
        sig: &Rc<Signature>,
        args: Vec<Option<Value>>,
        span: Span,
    ) -> R<Value> {
        let mut flat = Vec::new();
        let given: Vec<Given> = args.iter().map(|a| self.given(a, &mut flat)).collect();
        let shape_only = env.mode == Mode::Shape;
        let all_const = flat.iter().all(|e| self.dae.pool.as_const(*e).is_some());
        let object = sig
            .outputs
            .iter()
            .any(|o| self.node(o.node).template.as_ref().is_some_and(|t| t.builtin == Some(Ty::Object)));
        // Tables of the library may be asked now for a value that decides the structure; objects of foreign code wait for the
        // run.
        let now = if env.mode == Mode::Konst {
            !object || self.makes_native_object(node, &given, span)?
        } else {
            !sig.impure && !object && !args.iter().flatten().any(holds_object)
        };
        if all_const && now {
            let f = self.function(node, given.clone(), None, span)?;
            let numbers: Vec<f64> = flat.iter().map(|e| self.dae.pool.as_const(*e).unwrap_or(0.0)).collect();
            match self.execute(f, &numbers) {
                Ok(shaped) => {
                    if object {
                        self.functions.objects.0.extend(shaped.iter().flat_map(|r| &r.1));
                    }
                    let mut it = shaped.into_iter();
                    let mut outs = Vec::new();
                    for o in &sig.outputs {
                        outs.push(self.shaped_value(o.node, &mut it)?);
                    }
                    return self.outputs_value(outs, span);
                }
                Err(e) => {
                    if e.kind == saltus_function::ErrorKind::Limit && self.warned.insert(span) {
                        let name = self.path(node);
                        let text = format!("{name} takes long here: it is computed when the run begins");
                        let d = Diagnostic::warning(Stage::FrontEnd, span, text)
                            .hint("nothing can be simulated before; Ctrl-C ends it");
                        self.diagnostics.push(d);
                    }
                    if env.mode == Mode::Konst {
                        let name = self.path(node);
                        let mut d = self.err(span, format!("{name} cannot be evaluated: {}", e.message));
                        if !e.span.is_none() {
                            d.labels.push(saltus_base::Label { span: e.span, message: "here".into() });
                        }
                        return Err(d);
                    }
                }
            }
        }
        if env.mode == Mode::Konst {
            let name = self.path(node);
            return Err(self.err(span, format!("the call of {name} cannot be evaluated when compiling")));
        }
        // A call without results, such as a print, determines nothing.
        if sig.impure && !sig.outputs.is_empty() && !shape_only && !env.when && !env.pure && !self.in_initial {
            let continuous = flat.iter().any(|&e| self.variability(e) == Variability::Continuous);
            if continuous {
                let name = self.path(node);
                let mut e = self.err_hints(
                    span,
                    format!("{name} is impure and cannot be called in an equation that holds all the time"),
                    vec!["call it in a when-clause or an initial equation, or write pure(…) around the call".into()],
                );
                e.labels.push(saltus_base::Label { span: self.part_span(node), message: "declared here".into() });
                return Err(e);
            }
        }
        // Shapes of the outputs.
        let mut dims = Vec::new();
        let mut outs = Vec::new();
        let mut shaped = Ok(());
        for o in &sig.outputs {
            match self.output_shape(env, node, sig, &args, o.node, &[], &mut dims, span) {
                Ok(v) => outs.push(v),
                Err(e) => {
                    shaped = Err(e);
                    break;
                }
            }
        }
        if let Err(e) = shaped {
            // Sizes that only the algorithm knows: parameters are evaluated now and become structural.
            let numbers: Option<Vec<f64>> = flat.iter().map(|&e| self.known_now(e)).collect();
            let Some(numbers) = numbers.filter(|_| !sig.impure && !object && !args.iter().flatten().any(holds_object))
            else {
                return Err(e);
            };
            let f = self.function(node, given.clone(), None, span)?;
            let Ok(results) = self.execute(f, &numbers) else { return Err(e) };
            dims = results.iter().map(|r| r.0.clone()).collect();
            let mut it = results.into_iter();
            outs = sig.outputs.iter().map(|o| self.shaped_value(o.node, &mut it)).collect::<R<_>>()?;
        }
        if shape_only {
            return self.outputs_value(outs, span);
        }
        let f = self.function(node, given.clone(), Some(dims.clone()), span)?;
        if self.functions.looked_at.insert(f) {
            self.check_function_annotations(node, f, sig, &given, span)?;
        }
        let key = (f, flat.clone().into_boxed_slice());
        if let Some(list) = self.functions.inlined.get(&key) {
            let list = list.clone();
            let mut it = self.with_events(env, node, list)?.into_iter();
            let outs = outs.iter().map(|o| by_leaves(o, &mut |x, _| it.next().unwrap_or(x))).collect();
            return self.outputs_value(outs, span);
        }
        let asked = !sig.external && self.asks_for_events(node)?;
        if !sig.impure
            && !sig.external
            && !self.functions.opaque.contains(&f)
            && !object
            && (asked || self.weight(f) <= INLINE_WEIGHT || self.is_thin(f))
        {
            // A thin function that calls heavy ones (a state record from a property function) is inlined around them.
            let count = if asked || self.weight(f) <= INLINE_WEIGHT { 0 } else { self.dae.functions.len() as u32 };
            let heavy: Vec<bool> =
                (0..count).map(|g| self.weight(FuncId(g)) > INLINE_WEIGHT && !self.is_thin(FuncId(g))).collect();
            let stay = |g: FuncId| heavy.get(g.0 as usize).is_some_and(|h| *h);
            let (functions, pool) = (&self.dae.functions, &mut self.dae.pool);
            let budget = if asked { EVENTS_BUDGET } else { INLINE_BUDGET };
            match saltus_function::call_symbolic_keeping(functions, f, &flat, pool, budget, &stay) {
                Ok(list) => {
                    let count: usize = outs.iter().map(|o| o.scalar_list().len()).sum();
                    if list.len() == count {
                        self.functions.inlined.insert(key, list.clone());
                        let mut it = self.with_events(env, node, list)?.into_iter();
                        let outs = outs.iter().map(|o| by_leaves(o, &mut |x, _| it.next().unwrap_or(x))).collect();
                        return self.outputs_value(outs, span);
                    }
                }
                Err(why) => {
                    self.functions.opaque.insert(f);
                    self.warn_of_silence(env, node, &why)?;
                }
            }
        }
        if !sig.impure {
            self.derivative_rules(node, f, sig, &given, &dims, span)?;
        }
        self.stay(env, f, flat, outs, span)
    }

    /// Whether the annotation `GenerateEvents` of a function says so.
    pub(crate) fn asks_for_events(&mut self, node: NodeId) -> R<bool> {
        let asked = |p: &crate::template::Part| p.def.annotation().is_some_and(|a| a.is_true("GenerateEvents"));
        Ok(self.template(node)?.parts.iter().any(asked))
    }

    /// What an inlined function gives, with relations and integer parts of its own that make events if it asks for them. What
    /// other functions it calls ask for does not count.
    fn with_events(&mut self, env: &Env, node: NodeId, list: Vec<ExprId>) -> R<Vec<ExprId>> {
        if env.plain || !self.asks_for_events(node)? {
            return Ok(list);
        }
        let mut marked = Vec::new();
        for &e in &list {
            self.dae.pool.visit(e, |_, n| {
                if let Node::Unary(Unary::Event, x) = n {
                    marked.push(*x);
                }
            });
        }
        let mut moving = rustc_hash::FxHashSet::default();
        for x in marked {
            let mut below = Vec::new();
            self.dae.pool.children(x, |c| below.push(c));
            if below.into_iter().any(|c| self.variability(c) == Variability::Continuous) {
                moving.insert(x);
            }
        }
        let pool = &mut self.dae.pool;
        Ok(list.into_iter().map(|e| events_at(pool, e, &moving)).collect())
    }

    /// Says of a function that asks for events and stays a call that it makes none.
    fn warn_of_silence(&mut self, env: &Env, node: NodeId, why: &saltus_function::NotInlinable) -> R<()> {
        let declared = self.part_span(node);
        if env.plain || !self.asks_for_events(node)? || !self.warned.insert(declared) {
            return Ok(());
        }
        let place = if why.span.is_none() { declared } else { why.span };
        let what = format!("{} asks for events, but cannot be inlined: its relations make none", self.path(node));
        let hint = format!("{}; events need loops whose ends are known when compiling", why.reason);
        self.diagnostics.push(Diagnostic::warning(Stage::FrontEnd, place, what).hint(hint));
        Ok(())
    }

    /// The value of an expression of parameters.
    fn known_now(&mut self, e: ExprId) -> Option<f64> {
        if let Some(c) = self.dae.pool.as_const(e) {
            return Some(c);
        }
        let mut values = rustc_hash::FxHashMap::default();
        for k in self.dae.pool.holes(e) {
            let Some(saltus_dae::Operand::Var { var, order: 0, neg: false }) = self.hole(k) else { return None };
            if self.dae.vars[var].variability > Variability::Parameter {
                return None;
            }
            let at = self.nodes.iter().position(|n| {
                let count = || n.dims.as_ref().map_or(1, |d| d.iter().product::<usize>());
                n.var.is_some_and(|v| v.index() <= var.index() && var.index() < v.index() + count())
            })?;
            let n = NodeId(at as u32);
            let first = self.node(n).var?;
            let v = self.constant(n).ok()?;
            self.node_mut(n).structural = true;
            let x = v.scalar_list().get(var.index() - first.index()).copied()?;
            values.insert(k, x);
        }
        let e = self.dae.pool.substitute(e, |p, k| values.get(&k).copied().unwrap_or_else(|| p.hole(k)));
        self.dae.pool.as_const(e)
    }

    /// A call that stays a call.
    fn stay(&mut self, env: &Env, f: FuncId, flat: Vec<ExprId>, outs: Vec<Value>, span: Span) -> R<Value> {
        let count: usize = outs.iter().map(|o| o.scalar_list().len()).sum();
        let args: Box<[ExprId]> = flat.clone().into();
        let mut v = Variability::Constant;
        for &a in &flat {
            v = v.max(self.variability(a));
        }
        if count <= 1 || v <= Variability::Parameter || self.guard.is_some() || self.in_initial || env.when {
            let mut k = 0;
            let pool = &mut self.dae.pool;
            let outs = outs
                .iter()
                .map(|o| {
                    by_leaves(o, &mut |_, _| {
                        k += 1;
                        pool.call(f, args.clone(), k - 1)
                    })
                })
                .collect();
            return self.outputs_value(outs, span);
        }
        let first = match self.call_vars.get(&(f, args.clone())) {
            Some(&v) => v,
            None => {
                let origin = self.origin(env, span, "function call");
                let mut vars = Vec::new();
                for o in &outs {
                    let mut types = Vec::new();
                    by_leaves(o, &mut |x, ty| {
                        types.push(ty);
                        x
                    });
                    for ty in types {
                        let vt = self.var_type(ty);
                        let moves = v == Variability::Continuous && ty != Ty::Str;
                        let variability = if moves { v } else { Variability::Discrete };
                        vars.push(self.hidden("call", vt, variability, origin.clone()));
                    }
                }
                let rows = flat.iter().map(|&a| self.row(a)).collect();
                let first = vars[0];
                self.dae.calls.push(CallEquation { func: f, args: rows, outputs: vars, guard: None, origin });
                self.call_vars.insert((f, args), first);
                first
            }
        };
        let mut k = 0;
        let mut list = Vec::new();
        for o in &outs {
            list.push(by_leaves(o, &mut |_, _| {
                k += 1;
                self.var_expr(VarId::new(first.index() + k - 1))
            }));
        }
        self.outputs_value(list, span)
    }

    fn outputs_value(&mut self, mut outs: Vec<Value>, span: Span) -> R<Value> {
        let _ = span;
        Ok(match outs.len() {
            1 => outs.remove(0),
            _ => Value::Tuple(Rc::new(outs)),
        })
    }

    /// Whether the object that a constructor makes is one of the standard library's, which are data alone.
    fn makes_native_object(&mut self, node: NodeId, given: &[Given], span: Span) -> R<bool> {
        let f = self.function(node, given.to_vec(), None, span)?;
        let external = self.dae.functions[f.0 as usize].external.as_ref();
        Ok(external.is_some_and(|x| saltus_function::external::lookup(&x.symbol).is_some()))
    }

    pub(crate) fn execute(
        &mut self,
        f: FuncId,
        args: &[f64],
    ) -> Result<Vec<(Vec<usize>, Vec<f64>)>, saltus_function::ExecError> {
        let ex = self.functions.executor.get_or_insert_with(|| {
            let mut e = saltus_function::Executor::new(&[]);
            e.limit_steps(200_000_000);
            e
        });
        ex.extend(&self.dae.functions, f);
        ex.call_shaped(f, args)
    }

    /// A value of a variable's type from the executor's results.
    fn shaped_value(&mut self, n: NodeId, it: &mut dyn Iterator<Item = (Vec<usize>, Vec<f64>)>) -> R<Value> {
        let t = self.template(n)?;
        if let Some(ty) = t.builtin {
            let Some((dims, data)) = it.next() else {
                return Err(self.err(Span::NONE, "a function gave too few results"));
            };
            let e = data.into_iter().map(|x| self.dae.pool.num(x)).collect();
            return Ok(Value::array(ty, dims, e));
        }
        let mut fields = Vec::new();
        let mut rank = 0;
        if let Some((clause, comp, _)) = self.node(n).dims_from.as_deref().copied().or(self.node(n).clause) {
            rank = comp.dims.len() + clause.type_dims.len();
        }
        for (i, m) in t.members.iter().enumerate() {
            let MemberKind::Component { .. } = m.kind else { continue };
            let Slot::Node(k) = self.child(n, i as u32)? else { continue };
            fields.push((m.name, self.shaped_value(k, it)?));
        }
        let (class, scope) = (t.class, self.node(n).cref.scope);
        Ok(unzip(class, scope, fields, rank))
    }

    /// The structure of an output with its sizes, filled with placeholders.
    fn output_shape(
        &mut self,
        env: &Env,
        node: NodeId,
        sig: &Signature,
        args: &[Option<Value>],
        o: NodeId,
        outer: &[usize],
        leaves: &mut Vec<Vec<usize>>,
        span: Span,
    ) -> R<Value> {
        let t = self.template(o)?;
        let mut subs = Vec::new();
        if let Some(d) = self.node(o).dims_from.as_deref().copied().or(self.node(o).clause) {
            subs.extend(d.1.dims.iter().chain(&d.0.type_dims).map(|s| (s, d.2)));
        }
        for (d, s, _) in &t.dims {
            subs.extend(d.iter().map(|x| (x, *s)));
        }
        let mut dims = outer.to_vec();
        let known: Vec<(Name, Value)> =
            sig.inputs.iter().zip(args).filter_map(|(p, a)| a.clone().map(|a| (p.name, a))).collect();
        let mut bound = None;
        for (k, (s, scope)) in subs.into_iter().enumerate() {
            let saltus_syntax::ast::Subscript::Index(e) = s else {
                // An open size is that of the value the result begins with.
                if bound.is_none()
                    && let Some(b) = self.leaf_or_own_mod(o)?.binding.clone()
                {
                    let inner = Env { mode: Mode::Shape, plain: true, ..Env::model(b.scope) };
                    bound = self.eval_with_defaults(&inner, &known, sig, b.source).ok().map(|v| v.dims().to_vec());
                }
                if let Some(&n) = bound.as_ref().and_then(|d: &Vec<usize>| d.get(k)) {
                    dims.push(n);
                    continue;
                }
                let name = self.path(node);
                return Err(self.err_hints(
                    span,
                    format!("the size of a result of {name} is not known when compiling"),
                    vec!["its arguments must be constants or parameters".into()],
                ));
            };
            let inner = Env { plain: true, ..Env::konst(scope) };
            let v = self.eval_with_defaults(&inner, &known, sig, e)?;
            match (self.const_of(&v), &v) {
                (Some(x), _) if x >= 0.0 => dims.push(x as usize),
                (_, Value::Arr(a)) if matches!(a.ty, Ty::Enum(_) | Ty::Bool) => dims.push(a.e.len()),
                _ => {
                    let name = self.path(node);
                    return Err(self.err(span, format!("the size of a result of {name} is not known when compiling")));
                }
            }
        }
        let _ = env;
        if let Some(ty) = t.builtin {
            leaves.push(dims.clone());
            let h = self.dae.pool.hole(u32::MAX);
            let n = match crate::value::count_of(&dims) {
                Ok(n) => n,
                Err(count) => {
                    let name = self.path(node);
                    return Err(self.err(span, format!("a result of {name} has {count} elements: that is too many")));
                }
            };
            return Ok(Value::array(ty, dims, vec![h; n]));
        }
        let rank = dims.len();
        let mut fields = Vec::new();
        for (i, m) in t.members.iter().enumerate() {
            let MemberKind::Component { .. } = m.kind else { continue };
            let Slot::Node(k) = self.child(o, i as u32)? else { continue };
            fields.push((m.name, self.output_shape(env, node, sig, args, k, &dims, leaves, span)?));
        }
        let (class, scope) = (t.class, self.node(o).cref.scope);
        Ok(unzip(class, scope, fields, rank))
    }

    /// Sizes may depend on protected variables with bindings (`Integer n = size(u, 1)`): names bound to inputs first.
    fn eval_with_defaults(
        &mut self,
        env: &Env,
        known: &[(Name, Value)],
        sig: &Signature,
        e: &saltus_syntax::ast::Expr,
    ) -> R<Value> {
        let mut known = known.to_vec();
        // Parameters given as symbols: their constant values, if structure asks for them.
        let _ = sig;
        let mut tries = 0;
        loop {
            let r = self.with_known(&known, env, &mut |me, env| me.eval(env, e));
            let missing = match &r {
                Ok(_) => None,
                Err(_) if tries > 6 => None,
                Err(_) => {
                    // Bind one more variable of the function that the expression uses.
                    let mut found = None;
                    let mut names = Vec::new();
                    crate::eval::visit_refs(e, &mut |r| names.extend(r.parts.first().map(|p| p.name.name)));
                    for n in names {
                        if known.iter().any(|(k, _)| *k == n) {
                            continue;
                        }
                        if let Ok(Some(Found::Component(c))) =
                            self.member_from(Scope { node: env.scope.node, part: 0 }, n)
                            && c.0 != u32::MAX
                            && let Ok(m) = self.leaf_or_own_mod(c)
                            && let Some(b) = &m.binding
                        {
                            found = Some((n, b.source, b.scope));
                            break;
                        }
                    }
                    found
                }
            };
            match missing {
                Some((n, x, scope)) => {
                    tries += 1;
                    let inner = Env { scope, ..*env };
                    let v = self.with_known(&known.clone(), &inner, &mut |me, env| me.eval(env, x))?;
                    known.push((n, v));
                }
                None => return r,
            }
        }
    }

    /// For when-clauses: a call that must run when the clause fires, if it is one.
    pub(crate) fn deferred_call(
        &mut self,
        env: &Env,
        c: &Call,
        span: Span,
    ) -> R<Option<(FuncId, Vec<ExprId>, Vec<Value>)>> {
        if self.is_builtin_call(env.scope, &c.function) {
            return Ok(None);
        }
        let Value::Func(f) = self.eval_ref(env, &c.function)? else { return Ok(None) };
        let t = self.template(f.node)?;
        if t.kind != ClassKind::Function {
            return Ok(None);
        }
        let sig = self.signature(f.node, span)?;
        let body_external = sig.external && {
            let builtin = t.parts.iter().any(|p| match &*p.def.body {
                ClassBody::Long { external: Some(x), .. } => x.language.as_deref() == Some("builtin"),
                _ => false,
            });
            !builtin
        };
        if !sig.impure && !body_external && sig.outputs.len() <= 1 {
            return Ok(None);
        }
        let mut args = Vec::new();
        for a in &c.args {
            let v = self.eval(env, a)?;
            args.push(first_of(&v));
        }
        let mut named = Vec::new();
        for (n, a) in &c.named {
            let v = self.eval(env, a)?;
            named.push((n.name, first_of(&v)));
        }
        let args = self.match_arguments(f.node, &sig, args, named, span)?;
        if sig.inputs.iter().zip(&args).any(|(p, a)| a.as_ref().is_some_and(|a| a.rank() > p.rank)) {
            return Ok(None);
        }
        let mut flat = Vec::new();
        let given: Vec<Given> = args.iter().map(|a| self.given(a, &mut flat)).collect();
        let mut dims = Vec::new();
        let mut outs = Vec::new();
        for o in &sig.outputs {
            outs.push(self.output_shape(env, f.node, &sig, &args, o.node, &[], &mut dims, span)?);
        }
        let id = self.function(f.node, given, Some(dims), span)?;
        Ok(Some((id, flat, outs)))
    }

    /// `modelica://Library/Resources/x` as a file name.
    fn load_resource(&mut self, args: &[Value], span: Span) -> R<Value> {
        let Some(uri) = args.first().and_then(|v| self.str_of(v)) else {
            return Err(self.err(span, "the name of the resource must be constant"));
        };
        match self.resource_path(&uri) {
            Ok(path) => Ok(self.string(&path)),
            Err(what) => Err(self.err(span, what)),
        }
    }

    /// `modelica://Library/Resources/x` or `file://x` as a file name.
    pub(crate) fn resource_path(&self, uri: &str) -> Result<String, String> {
        match uri.strip_prefix("modelica://").or_else(|| uri.strip_prefix("Modelica://")) {
            Some(rest) => {
                let (package, file) = rest.split_once('/').unwrap_or((rest, ""));
                match self.lib.class_named(package).and_then(|c| self.lib.folder(c)) {
                    Some(dir) => Ok(format!("{dir}/{file}")),
                    None => Err(format!("the library {package} of {uri} is not known")),
                }
            }
            None => Ok(uri.strip_prefix("file://").unwrap_or(uri).to_string()),
        }
    }

    /// The folder of the library that a folder belongs to: the topmost one with a `package.mo`.
    pub(crate) fn library_root(&self, dir: &str) -> String {
        let mut root = dir;
        while let Some((up, _)) = root.rsplit_once('/')
            && self.lib.file_system().exists(&format!("{up}/package.mo"))
        {
            root = up;
        }
        root.to_string()
    }
}

/// A name without dots and subscripts.
fn simple_name(r: &ComponentRef) -> Option<Name> {
    match &r.parts[..] {
        [p] if p.subscripts.is_empty() && !r.global => Some(p.name.name),
        _ => None,
    }
}

/// The type (none for records) and the rank of an argument.
fn argument_kind(v: &Value) -> (Option<Ty>, usize) {
    (if matches!(v, Value::Rec(_) | Value::RecArr(_)) { None } else { v.ty() }, v.rank())
}

pub(crate) fn kind_text(k: ClassKind) -> &'static str {
    match k {
        ClassKind::Model => "model",
        ClassKind::Block => "block",
        ClassKind::Package => "package",
        ClassKind::Connector => "connector",
        ClassKind::Type => "type",
        ClassKind::Record | ClassKind::OperatorRecord => "record",
        ClassKind::Function | ClassKind::OperatorFunction => "function",
        _ => "class",
    }
}

/// Sizes of the leaves of a value, record arrays spread to arrays per field; scalars in the same order.
fn leaf_sizes(v: &Value, outer: &[usize], sizes: &mut Vec<Vec<Option<usize>>>, flat: &mut Vec<ExprId>) {
    match v {
        Value::Num(..) | Value::Arr(_) => {
            sizes.push(outer.iter().chain(v.dims()).map(|&d| Some(d)).collect());
            flat.extend(v.scalar_list());
        }
        Value::Rec(r) => r.fields.iter().for_each(|(_, f)| leaf_sizes(f, outer, sizes, flat)),
        Value::RecArr(a) => {
            if let Some(Value::Rec(first)) = a.e.first() {
                for (n, _) in &first.fields {
                    if let Some(f) = v.field(*n) {
                        leaf_sizes(&f, outer, sizes, flat);
                    }
                }
            }
        }
        Value::Func(_) | Value::Tuple(_) => {}
    }
}

/// A value with its scalars replaced, in the order of [`leaf_sizes`]: that of the results of functions.
pub(crate) fn by_leaves(v: &Value, next: &mut dyn FnMut(ExprId, Ty) -> ExprId) -> Value {
    match v {
        Value::Rec(r) => Value::Rec(Rc::new(Rec {
            class: r.class,
            scope: r.scope,
            fields: r.fields.iter().map(|(n, f)| (*n, by_leaves(f, next))).collect(),
        })),
        Value::RecArr(a) => match a.e.first() {
            Some(Value::Rec(first)) => {
                let columns = first.fields.iter().filter_map(|(n, _)| Some((*n, by_leaves(&v.field(*n)?, next))));
                let fields = columns.collect();
                unzip_sized(first.class, first.scope, fields, &a.dims)
            }
            _ => v.clone(),
        },
        v => v.rebuild(next),
    }
}

/// Arrays per field become an array of records.
fn unzip(class: ClassId, scope: Scope, fields: Vec<(Name, Value)>, rank: usize) -> Value {
    if rank == 0 {
        return Value::Rec(Rc::new(Rec { class, scope, fields }));
    }
    let dims: Vec<usize> = fields.first().map(|(_, v)| v.dims()[..rank.min(v.rank())].to_vec()).unwrap_or_default();
    unzip_sized(class, scope, fields, &dims)
}

fn unzip_sized(class: ClassId, scope: Scope, fields: Vec<(Name, Value)>, dims: &[usize]) -> Value {
    let n: usize = dims.iter().product();
    let e = (0..n)
        .map(|k| {
            Value::Rec(Rc::new(Rec {
                class,
                scope,
                fields: fields.iter().map(|(m, v)| (*m, part_of(v, dims.len(), k))).collect(),
            }))
        })
        .collect();
    Value::records(dims.to_vec(), e)
}

/// Element `k` (row-major over the leading `lead` dimensions).
fn part_of(v: &Value, lead: usize, k: usize) -> Value {
    let d = &v.dims()[lead..];
    let w: usize = d.iter().product();
    match v {
        Value::Arr(a) => Value::array(a.ty, d.to_vec(), a.e[k * w..(k + 1) * w].to_vec()),
        Value::RecArr(a) => Value::records(d.to_vec(), a.e[k * w..(k + 1) * w].to_vec()),
        v => v.clone(),
    }
}

/// The relation that makes events in place of a comparison.
fn event_relation(op: Binary) -> Option<RelOp> {
    match op {
        Binary::Lt => Some(RelOp::Lt),
        Binary::Le => Some(RelOp::Le),
        Binary::Gt => Some(RelOp::Gt),
        Binary::Ge => Some(RelOp::Ge),
        _ => None,
    }
}

/// The expression with marked relations and integer parts (`moving`: those that follow continuous variables) as such that make
/// events.
fn events_at(pool: &mut Pool, e: ExprId, moving: &rustc_hash::FxHashSet<ExprId>) -> ExprId {
    pool.rewrite(e, &mut |pool, marked| {
        let Node::Unary(Unary::Event, x) = *pool.node(marked) else { return None };
        let jumps = moving.contains(&x);
        Some(match *pool.node(x) {
            Node::Binary(op, a, b) if jumps => {
                let [a, b] = [a, b].map(|x| events_at(pool, x, moving));
                match event_relation(op) {
                    Some(op) => pool.relation(op, a, b),
                    None => pool.bin(op, a, b),
                }
            }
            Node::Unary(op, a) if jumps => {
                let a = events_at(pool, a, moving);
                let zero = pool.num(0.0);
                let below = pool.neg(a);
                match op {
                    Unary::Floor => pool.event_floor(a),
                    Unary::Ceil => {
                        let floor = pool.event_floor(below);
                        pool.neg(floor)
                    }
                    Unary::Trunc => {
                        let up = pool.relation(RelOp::Ge, a, zero);
                        let (floor, ceiling) = (pool.event_floor(a), pool.event_floor(below));
                        let ceiling = pool.neg(ceiling);
                        pool.select(up, floor, ceiling)
                    }
                    Unary::Sign => {
                        let (up, down) = (pool.relation(RelOp::Gt, a, zero), pool.relation(RelOp::Lt, a, zero));
                        let (one, minus) = (pool.num(1.0), pool.num(-1.0));
                        let other = pool.select(down, minus, zero);
                        pool.select(up, one, other)
                    }
                    _ => pool.un(op, a),
                }
            }
            _ => events_at(pool, x, moving),
        })
    })
}

/// Whether there is an external object in a value.
pub(crate) fn holds_object(v: &Value) -> bool {
    let mut s = Vec::new();
    v.scalars(&mut s);
    s.iter().any(|(_, t)| *t == Ty::Object)
}
