//! `derivative` and `inverse` annotations of functions:
//! `annotation(derivative(order = 1, noDerivative = n, zeroDerivative = k) = f_der, inverse(x = f_inv(y, k)))`.
//!
//! The derivative function takes the inputs, then the derivatives of those that are Real and not excluded. Where an
//! annotation cannot be used (other orders, records with other than Real fields, defaults) it is left aside: the function
//! is then differentiated by running its algorithm over dual numbers.

use crate::lower::{Given, Signature};
use crate::*;
use saltus_expr::{ArgumentRule, DerivativeRule, FuncId, InverseRule};
use saltus_function::{Dim, ScalarType};
use saltus_syntax::ast::{Argument, Expr, ExprKind};

impl<'t> Flattener<'t> {
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
        let t = self.template(node)?;
        for (part, p) in t.parts.iter().enumerate() {
            let Some(a) = p.def.annotation() else { continue };
            for arg in &a.args {
                if arg.name().is_none_or(|n| n.as_str() != "derivative") {
                    continue;
                }
                let Some(m) = arg.modification() else { continue };
                let Some(Expr { kind: ExprKind::Ref(name), .. }) = &m.binding else { continue };
                if m.value("order").is_some_and(|e| !matches!(e.kind, ExprKind::Integer(1))) {
                    continue;
                }
                let scope = Scope { node, part: part as u16 };
                let Ok(crate::eval::Target::Class(c)) = self.resolve(&Env::model(scope), name) else {
                    if self.warned.insert(name.span) {
                        let text = format!("the derivative {} is not known", crate::eval::ref_text(name));
                        let d = saltus_base::Diagnostic::warning(saltus_base::Stage::FrontEnd, name.span, text);
                        self.diagnostics.push(d.hint("the function is differentiated by its algorithm instead"));
                    }
                    continue;
                };
                let target = self.class_node(&c);
                if let Some(rule) = self.derivative_rule(f, sig, given, outputs, target, &m.args, span) {
                    rules.push(rule);
                }
            }
        }
        self.dae.pool.set_derivative_rules(f, rules);
        self.inverse_rules(node, f, sig, span)
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
    ) -> Option<DerivativeRule> {
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
        let fun = self.dae.functions.get(f.0 as usize)?.clone();
        let mut locals = fun.inputs.iter();
        let mut arguments = Vec::new();
        let mut with_slopes: Vec<Given> = given.to_vec();
        for (p, g) in sig.inputs.iter().zip(given) {
            let Given::Value(sizes) = g else { return None };
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
                count += n?;
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
                return None;
            };
            arguments.extend(std::iter::repeat_n(rule, count));
        }
        let target_sig = self.signature(target, span).ok()?;
        if target_sig.inputs.len() < with_slopes.len() || target_sig.outputs.len() != sig.outputs.len() {
            return None;
        }
        with_slopes.resize(target_sig.inputs.len(), Given::Default);
        if target_sig.inputs.iter().zip(&with_slopes).any(|(p, g)| *g == Given::Default && !p.has_default) {
            return None;
        }
        let func = self.function(target, with_slopes, Some(outputs.to_vec()), span).ok()?;
        Some(DerivativeRule { func, arguments })
    }
}
