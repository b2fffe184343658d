//! Clocked operators and state machines.

use crate::modifier::{Binding, NodeId};
use crate::value::Value;
use crate::{Env, Flattener, R};
use saltus_base::Span;
use saltus_dae::VarId;
use saltus_expr::ExprId;
use saltus_syntax::ast::{Call, Equation as AstEquation, Expr};

/// What is known about clocks.
#[derive(Default)]
pub(crate) struct Clocks {}

impl<'t> Flattener<'t> {
    pub(crate) fn clock_call(&mut self, _env: &Env, name: &str, _c: &Call, span: Span) -> R<Value> {
        Err(self.err(span, format!("the clocked operator {name} is not supported yet")))
    }
    pub(crate) fn previous(&mut self, e: ExprId, span: Span) -> R<ExprId> {
        self.pre(e, span)
    }
    pub(crate) fn clock_binding(&mut self, _n: NodeId, _first: VarId, b: &Binding<'t>) -> R<()> {
        Err(self.err(b.span, "clocks are not supported yet"))
    }
    pub(crate) fn clocked_when(&mut self, _env: &Env, _c: &'t Expr, _body: &'t [AstEquation], _branches: usize, _span: Span) -> R<bool> {
        Ok(false)
    }
    pub(crate) fn finish_clocks(&mut self) {}
    pub(crate) fn state_machine_call(&mut self, _env: &Env, name: &str, _c: &Call, span: Span) -> R<()> {
        Err(self.err(span, format!("{name}: state machines are not supported yet")))
    }
}
