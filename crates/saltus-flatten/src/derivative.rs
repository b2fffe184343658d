//! `derivative` and `inverse` annotations of functions:
//! `annotation(derivative(order = 1, noDerivative = n, zeroDerivative = k) = f_der, inverse(x = f_inv(y, k)))`.
//!
//! The derivative function takes the inputs, then the derivatives of those that are Real and not excluded. Where an
//! annotation cannot be used (higher orders, records with other than Real fields) it is left aside: the function
//! is then differentiated by running its algorithm over dual numbers. What contradicts the function is told.

use crate::lower::{Given, Signature};
use crate::*;
use saltus_expr::{ArgumentRule, DerivativeRule, FuncId, InverseRule};
use saltus_function::{Dim, ScalarType};
use saltus_syntax::ast::{Argument, ComponentRef, Expr, ExprKind};

impl<'t> Flattener<'t> {
    /// Looks at the annotations of a function, used or not (the function may be inlined).
    pub(crate) fn check_function_annotations(
        &mut self,
        node: NodeId,
        f: FuncId,
        sig: &Signature,
        given: &[Given],
        span: Span,
    ) -> R<()> {
        for (name, target, options) in self.derivatives_named(node, sig)? {
            if let Err(why) = self.derivative_inputs(f, sig, given, target, options, span) {
                self.no_derivative(name, &why);
            }
        }
        self.check_function_flags(node)?;
        self.check_inverses(node, sig, span)
    }

    /// Annotations of functions that are Booleans, and the order of smoothness.
    fn check_function_flags(&mut self, node: NodeId) -> R<()> {
        let t = self.template(node)?;
        for arg in t.parts.iter().filter_map(|p| p.def.annotation()).flat_map(|a| &a.args) {
            let value = arg.modification().and_then(|m| m.binding.as_ref()).map(|e| &e.kind);
            let literal = matches!(value, Some(ExprKind::Real(_) | ExprKind::Integer(_) | ExprKind::String(_)));
            let name = arg.name().map_or("", |n| n.as_str());
            let wrong = match name {
                "Inline" | "LateInline" | "InlineAfterIndexReduction" | "GenerateEvents" if literal => {
                    format!("{name} is of type Boolean, so this says nothing")
                }
                "smoothOrder" if !matches!(value, Some(ExprKind::Integer(0..)) | Some(ExprKind::Ref(_))) => {
                    "smoothOrder is an Integer that is not negative, so this says nothing".to_string()
                }
                _ => continue,
            };
            if self.warned.insert(arg.span()) {
                self.diagnostics.push(Diagnostic::warning(Stage::FrontEnd, arg.span(), wrong));
            }
        }
        Ok(())
    }

    /// The functions that `derivative` annotations name for first derivatives, with what else they say.
    fn derivatives_named(
        &mut self,
        node: NodeId,
        sig: &Signature,
    ) -> R<Vec<(&'t ComponentRef, NodeId, &'t [Argument])>> {
        let mut out = Vec::new();
        let t = self.template(node)?;
        for (part, p) in t.parts.iter().enumerate() {
            let Some(a) = p.def.annotation() else { continue };
            for arg in &a.args {
                if arg.name().is_none_or(|n| n.as_str() != "derivative") {
                    continue;
                }
                let Some((m, name)) = arg.modification().and_then(|m| match &m.binding {
                    Some(Expr { kind: ExprKind::Ref(name), .. }) => Some((m, name)),
                    _ => None,
                }) else {
                    self.unusable(arg.span(), "a derivative annotation names a function: `derivative = f`".into());
                    continue;
                };
                if !self.derivative_options(sig, &m.args) {
                    continue;
                }
                let scope = Scope { node, part: part as u16 };
                let Ok(crate::eval::Target::Class(c)) = self.resolve(&Env::model(scope), name) else {
                    self.unusable(name.span, format!("the derivative {} is not known", crate::eval::ref_text(name)));
                    continue;
                };
                out.push((name, self.class_node(&c), &m.args[..]));
            }
        }
        Ok(out)
    }

    fn no_derivative(&mut self, name: &ComponentRef, why: &str) {
        self.unusable(name.span, format!("{} cannot be the derivative: {why}", crate::eval::ref_text(name)));
    }

    /// Notes the derivative functions that the annotations of `node` name for its instance `f`.
    pub(crate) fn derivative_rules(
        &mut self,
        node: NodeId,
        f: FuncId,
        sig: &Signature,
        given: &[Given],
        outputs: &[Vec<usize>],
        span: Span,
    ) -> R<()> {
        if self.dae.pool.has_derivative_rules(f) {
            return Ok(());
        }
        let mut rules = Vec::new();
        for (name, target, options) in self.derivatives_named(node, sig)? {
            match self.derivative_rule(f, sig, given, outputs, target, options, span) {
                Ok(rule) => rules.extend(rule),
                Err(why) => self.no_derivative(name, &why),
            }
        }
        self.dae.pool.set_derivative_rules(f, rules);
        self.inverse_rules(node, f, sig, span)
    }

    /// Tells of a `derivative` annotation that is left aside.
    fn unusable(&mut self, span: Span, text: String) {
        if self.warned.insert(span) {
            let d = Diagnostic::warning(Stage::FrontEnd, span, text);
            self.diagnostics.push(d.hint("the function is differentiated by its algorithm instead"));
        }
    }

    /// Looks at `order`, `noDerivative` and `zeroDerivative`; whether the annotation speaks of the first derivative.
    fn derivative_options(&mut self, sig: &Signature, options: &[Argument]) -> bool {
        let mut usable = true;
        for o in options {
            let value = o.modification().and_then(|m| m.binding.as_ref());
            match (o.name().map_or("", |n| n.as_str()), value.map(|e| &e.kind)) {
                // Those of higher order stand in a derivative function and go on from there.
                ("order", Some(ExprKind::Integer(k))) if *k >= 1 => usable &= *k == 1,
                ("order", _) => {
                    self.unusable(o.span(), "the order of a derivative is a positive Integer".into());
                    usable = false;
                }
                ("noDerivative" | "zeroDerivative", Some(ExprKind::Ref(r)))
                    if r.parts.len() == 1 && sig.inputs.iter().any(|p| p.name == r.parts[0].name.name) => {}
                (option @ ("noDerivative" | "zeroDerivative"), _) => {
                    let inputs: Vec<&str> = sig.inputs.iter().map(|p| p.name.as_str()).collect();
                    let text = format!("{option} names an input of the function ({})", inputs.join(", "));
                    self.unusable(o.span(), text);
                    usable = false;
                }
                (option, _) if option.starts_with("__") => {}
                (option, _) => {
                    self.unusable(o.span(), format!("a derivative annotation has no {option}"));
                }
            }
        }
        usable
    }

    /// Tells of an inverse that contradicts the function it is given for.
    fn check_inverses(&mut self, node: NodeId, sig: &Signature, span: Span) -> R<()> {
        let t = self.template(node)?;
        for (part, p) in t.parts.iter().enumerate() {
            for arg in p.def.annotation().and_then(|a| a.find("inverse")).into_iter().flatten() {
                let why = self.wrong_inverse(Scope { node, part: part as u16 }, sig, arg, span);
                if let Some(why) = why
                    && self.warned.insert(arg.span())
                {
                    let d = Diagnostic::warning(Stage::FrontEnd, arg.span(), why);
                    self.diagnostics.push(d.hint("the inverse is not used"));
                }
            }
        }
        Ok(())
    }

    fn wrong_inverse(&mut self, scope: Scope, sig: &Signature, arg: &Argument, span: Span) -> Option<String> {
        let name = arg.name()?;
        let inputs = || sig.inputs.iter().map(|p| p.name.as_str()).collect::<Vec<_>>().join(", ");
        if !sig.inputs.iter().any(|p| p.name == name) {
            return Some(format!("the function has no input {name} that an inverse could give (it has {})", inputs()));
        }
        let Some(Expr { kind: ExprKind::Call(call), .. }) = arg.modification().and_then(|m| m.binding.as_ref()) else {
            return Some(format!("an inverse is given by a call: `inverse({name} = f(…))`"));
        };
        for e in call.args.iter().chain(call.named.iter().map(|n| &n.1)) {
            let ExprKind::Ref(r) = &e.kind else { continue };
            let [part] = &r.parts[..] else { continue };
            let of = part.name.name;
            if of == name {
                return Some(format!("the inverse for {name} cannot depend on {name}"));
            }
            if !sig.inputs.iter().chain(&sig.outputs).any(|p| p.name == of) {
                return Some(format!("{of} is neither an input nor an output of the function"));
            }
        }
        let text = crate::eval::ref_text(&call.function);
        let Ok(crate::eval::Target::Class(c)) = self.resolve(&Env::model(scope), &call.function) else {
            return Some(format!("the inverse {text} is not known"));
        };
        let target = self.class_node(&c);
        let have = self.signature(target, span).ok()?;
        let (least, most) = (have.inputs.iter().filter(|p| !p.has_default).count(), have.inputs.len());
        let given = call.args.len() + call.named.len();
        (given < least || given > most).then(|| format!("{text} has {most} inputs, but {given} are given"))
    }

    /// Notes the inverses of a function of scalars with one result.
    fn inverse_rules(&mut self, node: NodeId, f: FuncId, sig: &Signature, span: Span) -> R<()> {
        let scalar = |f: &saltus_function::Function| {
            f.outputs.len() == 1
                && f.inputs.iter().chain(&f.outputs).all(|l| {
                    let l = &f.locals[l.0 as usize];
                    l.dims.is_empty() && l.ty == ScalarType::Real
                })
        };
        let Some(fun) = self.dae.functions.get(f.0 as usize) else { return Ok(()) };
        if !scalar(fun) || fun.inputs.len() != sig.inputs.len() {
            return Ok(());
        }
        let input = |name: &str| sig.inputs.iter().position(|p| p.name.as_str() == name).map(|k| k as u32);
        let t = self.template(node)?;
        for (part, p) in t.parts.iter().enumerate() {
            for arg in p.def.annotation().and_then(|a| a.find("inverse")).into_iter().flatten() {
                let Some(k) = arg.name().and_then(|n| input(n.as_str())) else { continue };
                let Some(Expr { kind: ExprKind::Call(call), .. }) = arg.modification().and_then(|m| m.binding.as_ref())
                else {
                    continue;
                };
                // Each argument names the result or another input.
                let result = sig.outputs.first().map(|o| o.name);
                let arguments: Option<Vec<Option<u32>>> = call
                    .args
                    .iter()
                    .map(|e| match &e.kind {
                        ExprKind::Ref(r) if r.parts.len() == 1 => {
                            let name = r.parts[0].name.name;
                            if Some(name) == result { Some(None) } else { input(name.as_str()).map(Some) }
                        }
                        _ => None,
                    })
                    .collect();
                let Some(arguments) = arguments.filter(|a| call.named.is_empty() && !a.contains(&Some(k))) else {
                    continue;
                };
                let scope = Scope { node, part: part as u16 };
                let Ok(crate::eval::Target::Class(c)) = self.resolve(&Env::model(scope), &call.function) else {
                    continue;
                };
                let target = self.class_node(&c);
                let Ok(target_sig) = self.signature(target, span) else { continue };
                if target_sig.inputs.len() != arguments.len() || target_sig.impure {
                    continue;
                }
                let given = vec![Given::Value(vec![Vec::new()]); arguments.len()];
                if let Ok(func) = self.function(target, given, Some(vec![Vec::new()]), span)
                    && self.dae.functions.get(func.0 as usize).is_some_and(scalar)
                {
                    self.dae.pool.set_inverse_rule(f, k, InverseRule { func, arguments });
                }
            }
        }
        Ok(())
    }

    fn derivative_rule(
        &mut self,
        f: FuncId,
        sig: &Signature,
        given: &[Given],
        outputs: &[Vec<usize>],
        target: NodeId,
        options: &[Argument],
        span: Span,
    ) -> Result<Option<DerivativeRule>, String> {
        let Some((arguments, given)) = self.derivative_inputs(f, sig, given, target, options, span)? else {
            return Ok(None);
        };
        let func = self.function(target, given, Some(outputs.to_vec()), span).map_err(|e| e.message)?;
        Ok(Some(DerivativeRule { func, arguments }))
    }

    /// The inputs of a derivative function, from what the annotation says; why it cannot be one; nothing if it is left aside.
    fn derivative_inputs(
        &mut self,
        f: FuncId,
        sig: &Signature,
        given: &[Given],
        target: NodeId,
        options: &[Argument],
        span: Span,
    ) -> Result<Option<(Vec<ArgumentRule>, Vec<Given>)>, String> {
        let named = |option: &str, input: &str| {
            options.iter().any(|o| {
                o.name().is_some_and(|n| n.as_str() == option)
                    && matches!(
                        o.modification().and_then(|m| m.binding.as_ref()),
                        Some(Expr { kind: ExprKind::Ref(r), .. })
                            if r.parts.len() == 1 && r.parts[0].name.name.as_str() == input
                    )
            })
        };
        let Some(fun) = self.dae.functions.get(f.0 as usize).cloned() else { return Ok(None) };
        let mut locals = fun.inputs.iter();
        let mut arguments = Vec::new();
        let mut with_slopes: Vec<Given> = given.to_vec();
        for (p, g) in sig.inputs.iter().zip(given) {
            let Given::Value(sizes) = g else { return Ok(None) };
            let leaves: Vec<_> = locals.by_ref().take(sizes.len()).map(|l| &fun.locals[l.0 as usize]).collect();
            let mut count = 0;
            for l in &leaves {
                let n: Option<usize> = l
                    .dims
                    .iter()
                    .map(|d| match d {
                        Dim::Fixed(n) => Some(*n),
                        _ => None,
                    })
                    .product();
                let Some(n) = n else { return Ok(None) };
                count += n;
            }
            let real = leaves.iter().filter(|l| l.ty == ScalarType::Real).count();
            let rule = if real == 0 || named("noDerivative", p.name.as_str()) {
                ArgumentRule::Ignored
            } else if named("zeroDerivative", p.name.as_str()) {
                ArgumentRule::Zero
            } else if real == leaves.len() {
                with_slopes.push(g.clone());
                ArgumentRule::Passed
            } else {
                return Ok(None);
            };
            arguments.extend(std::iter::repeat_n(rule, count));
        }
        let kind = self.template(target).map_err(|e| e.message)?.kind;
        if kind != saltus_syntax::ast::ClassKind::Function {
            return Err("it is no function".into());
        }
        let target_sig = self.signature(target, span).map_err(|e| e.message)?;
        let (want, have) = (with_slopes.len(), target_sig.inputs.len());
        let least = target_sig.inputs.iter().filter(|p| !p.has_default).count();
        if have < want || least > want {
            let slopes = want - sig.inputs.len();
            return Err(format!(
                "it has {have} inputs, but takes the {} of the function and {slopes} derivatives of them",
                sig.inputs.len()
            ));
        }
        if target_sig.outputs.len() > sig.outputs.len() || target_sig.outputs.is_empty() {
            let (have, want) = (target_sig.outputs.len(), sig.outputs.len());
            return Err(format!("it has {have} outputs, and the function has {want}"));
        }
        if target_sig.outputs.len() != sig.outputs.len() {
            // Outputs that are not Real have no derivatives.
            return Ok(None);
        }
        for (own, p) in sig.inputs.iter().zip(&target_sig.inputs) {
            self.same_type(own.node, p.node, p.name)?;
        }
        for p in &target_sig.inputs[sig.inputs.len()..want] {
            let t = self.template(p.node).map_err(|e| e.message)?;
            if t.builtin.is_some_and(|ty| ty != Ty::Real) {
                return Err(format!("its input {}, a derivative, is not Real", p.name));
            }
        }
        with_slopes.resize(have, Given::Default);
        Ok(Some((arguments, with_slopes)))
    }

    /// An input of the derivative function is of the type of the function's own.
    fn same_type(&mut self, own: NodeId, other: NodeId, name: Name) -> Result<(), String> {
        let (a, b) = (self.template(own).map_err(|e| e.message)?, self.template(other).map_err(|e| e.message)?);
        match (a.builtin, b.builtin) {
            (Some(a), Some(b)) if a == b || matches!((a, b), (Ty::Int, Ty::Real) | (Ty::Enum(_), Ty::Enum(_))) => {
                Ok(())
            }
            (Some(a), Some(b)) => Err(format!("its input {name} is of type {}, not {}", b.text(), a.text())),
            (Some(a), None) => Err(format!("its input {name} is not of type {}", a.text())),
            (None, Some(b)) => Err(format!("its input {name} is of type {}, not a record", b.text())),
            (None, None) => Ok(()),
        }
    }
}
