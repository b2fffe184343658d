//! For-equations as rows of one template.
//!
//! Where an iterator only occurs in subscripts `x[i + c]` of arrays of variables, every turn of a loop gives the same
//! template over operands that move by a fixed stride. Two turns and the last one are evaluated; the rest is counted:
//!
//! ```text
//! der(T[2]) = T[1] - 2*T[2] + T[3]    der(T[3]) = …    ⇒    template h0 - (h1 - 2*h2 + h3), operands + 1 each turn
//! ```

use crate::eval::Target;
use crate::{Env, Flattener, Local, Mode, R};
use saltus_base::Name;
use saltus_dae::{Equation, Operand, VarId, VarType, Variability};
use saltus_syntax::ast::{
    BinaryOp, ComponentRef, Equation as AstEquation, EquationKind, Expr, ExprKind, ForIndex, Subscript, UnaryOp,
    VariabilityPrefix,
};

/// Loops shorter than this are not worth the look.
const SHORT: usize = 8;

impl<'t> Flattener<'t> {
    /// Adds the equations of a regular loop; `false` (and nothing added) if it is not one.
    pub(crate) fn for_rows(&mut self, env: &Env, it: &ForIndex, body: &'t [AstEquation]) -> R<bool> {
        let name = it.name.name;
        let sides = body.iter().map(|e| match &e.kind {
            EquationKind::Simple(l, r) => Some([l, r]),
            _ => None,
        });
        let Some(sides) = sides.collect::<Option<Vec<_>>>() else { return Ok(false) };
        let Some(range) = &it.range else { return Ok(false) };
        if self.in_initial || !sides.iter().flatten().all(|e| regular(e, name)) {
            return Ok(false);
        }
        let range = self.eval_range_end(env, range)?;
        let n = range.len();
        if range.rank() != 1 || n < SHORT {
            return Ok(false);
        }
        let step = match (self.const_of(&range.at(0)), self.const_of(&range.at(1)), self.const_of(&range.at(n - 1))) {
            (Some(a), Some(b), Some(z)) if b != a && a + (b - a) * (n - 1) as f64 == z => b - a,
            _ => return Ok(false),
        };
        debug_assert!(step != 0.0);
        {
            let local = Local { name, value: range.at(0), up: env.locals };
            let inner = Env { locals: Some(&local), ..*env };
            for e in sides.iter().flatten() {
                if !self.only_variables(&inner, e, name) {
                    return Ok(false);
                }
            }
        }
        let turn = |me: &mut Self, k: usize| {
            let local = Local { name, value: range.at(k), up: env.locals };
            let inner = Env { locals: Some(&local), ..*env };
            for e in body {
                me.reported(&inner, e);
            }
        };
        let first = self.dae.equations.len();
        turn(self, 0);
        turn(self, 1);
        let Some(moves) = self.strides(first, body.len()) else {
            (2..n).for_each(|k| turn(self, k));
            return Ok(true);
        };
        let special = self.meetings(first, &moves, n);
        if !self.uniform(first, &moves, n) {
            (2..n).for_each(|k| turn(self, k));
            return Ok(true);
        }
        for k in 2..n - 1 {
            if special.contains(&k) {
                turn(self, k);
                continue;
            }
            for (j, strides) in moves.iter().enumerate() {
                let eq = &self.dae.equations.as_slice()[first + j];
                let args = eq.row.args.iter().zip(strides).map(|(&a, &d)| moved(a, d, k)).collect();
                let row = saltus_dae::Row { template: eq.row.template, args };
                let eq = Equation { row, guard: eq.guard, origin: eq.origin.clone() };
                self.dae.equations.push(eq);
            }
        }
        turn(self, n - 1);
        Ok(true)
    }

    /// How the operands of each equation move from the first turn to the second.
    fn strides(&self, first: usize, count: usize) -> Option<Vec<Vec<i64>>> {
        let eqs = self.dae.equations.as_slice();
        if eqs.len() != first + 2 * count {
            return None;
        }
        let mut out = Vec::with_capacity(count);
        for j in first..first + count {
            let (a, b) = (&eqs[j].row, &eqs[j + count].row);
            if a.template != b.template || a.args.len() != b.args.len() {
                return None;
            }
            let mut list = Vec::with_capacity(a.args.len());
            for (&x, &y) in a.args.iter().zip(&b.args) {
                list.push(match (x, y) {
                    (Operand::Var { var: v, order: o, neg: s }, Operand::Var { var: w, order: p, neg: t })
                        if o == p && s == t =>
                    {
                        w.index() as i64 - v.index() as i64
                    }
                    (x, y) if x == y => 0,
                    _ => return None,
                });
            }
            out.push(list);
        }
        Some(out)
    }

    /// The turns at which two operands that move differently are the same variable: their equations have another shape.
    fn meetings(&self, first: usize, moves: &[Vec<i64>], n: usize) -> Vec<usize> {
        let mut out = Vec::new();
        for (j, strides) in moves.iter().enumerate() {
            let args = &self.dae.equations.as_slice()[first + j].row.args;
            for a in 0..args.len() {
                for b in a + 1..args.len() {
                    let (Some(v), Some(w)) = (args[a].variable(), args[b].variable()) else { continue };
                    let (gap, closing) = (w.index() as i64 - v.index() as i64, strides[a] - strides[b]);
                    if closing != 0 && gap % closing == 0 && (0..n as i64).contains(&(gap / closing)) {
                        out.push((gap / closing) as usize);
                    }
                }
            }
        }
        out
    }

    /// Whether the operands of all turns are of one kind: continuous Reals and parameters.
    fn uniform(&self, first: usize, moves: &[Vec<i64>], n: usize) -> bool {
        moves.iter().enumerate().all(|(j, strides)| {
            let args = &self.dae.equations.as_slice()[first + j].row.args;
            args.iter().zip(strides).all(|(&a, &d)| {
                let Operand::Var { var, .. } = a else { return true };
                let kind = |v: &saltus_dae::Variable| (v.ty == VarType::Real, v.variability);
                let of = kind(&self.dae.vars[var]);
                if !of.0 || of.1 == Variability::Discrete {
                    return false;
                }
                d == 0
                    || (2..n).all(|k| {
                        let at = var.index() as i64 + d * k as i64;
                        at >= 0
                            && (at as usize) < self.dae.vars.len()
                            && kind(&self.dae.vars[VarId::new(at as usize)]) == of
                    })
            })
        })
    }

    /// Whether every reference that the iterator subscripts is an element of an array of variables.
    fn only_variables(&mut self, env: &Env, e: &Expr, name: Name) -> bool {
        let mut refs: Vec<ComponentRef> = Vec::new();
        crate::eval::visit_refs(e, &mut |r| {
            let moving = r.parts.iter().flat_map(|p| &p.subscripts).any(|s| match s {
                Subscript::Index(x) => mentions(x, name),
                Subscript::All(_) => false,
            });
            if moving {
                refs.push(r.clone());
            }
        });
        refs.iter().all(|r| {
            let Ok(Target::Nodes(nodes, dims, subs)) = self.resolve(env, r) else { return false };
            let ([n], true, false) = (&nodes[..], dims.is_empty(), subs.is_empty()) else { return false };
            let Ok(t) = self.template(*n) else { return false };
            let node = self.node(*n);
            if t.builtin.is_none() || node.var.is_none() || env.mode != Mode::Model {
                return false;
            }
            match node.variability {
                VariabilityPrefix::None | VariabilityPrefix::Discrete => true,
                // Folded values differ from turn to turn.
                VariabilityPrefix::Parameter => t.builtin == Some(crate::value::Ty::Real) && !self.evaluated(*n),
                VariabilityPrefix::Constant => false,
            }
        })
    }
}

fn moved(a: Operand, d: i64, k: usize) -> Operand {
    match a {
        Operand::Var { var, order, neg } if d != 0 => {
            Operand::Var { var: VarId::new((var.index() as i64 + d * k as i64) as usize), order, neg }
        }
        a => a,
    }
}

fn mentions(e: &Expr, name: Name) -> bool {
    let mut found = false;
    crate::eval::visit_refs(e, &mut |r| found |= r.parts.len() == 1 && !r.global && r.parts[0].name.name == name);
    found
}

/// Whether an expression is made of numbers, elementwise operations and references in which the iterator stands only
/// in subscripts, added to or subtracted from numbers and names it does not occur in.
fn regular(e: &Expr, name: Name) -> bool {
    match &e.kind {
        ExprKind::Real(_) | ExprKind::Integer(_) => true,
        ExprKind::Ref(r) => {
            if r.parts.len() == 1 && !r.global && r.parts[0].name.name == name {
                return false;
            }
            let (last, before) = match r.parts.split_last() {
                Some(x) => x,
                None => return false,
            };
            let plain = |s: &Subscript| matches!(s, Subscript::Index(x) if !mentions(x, name));
            before.iter().all(|p| p.subscripts.iter().all(plain))
                && last.subscripts.iter().all(|s| matches!(s, Subscript::Index(x) if affine(x, name)))
        }
        ExprKind::Unary(UnaryOp::Neg | UnaryOp::Plus, a) => regular(a, name),
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Pow, a, b) => {
            regular(a, name) && regular(b, name)
        }
        ExprKind::Tuple(v) => matches!(&v[..], [Some(x)] if regular(x, name)),
        ExprKind::Call(c) => {
            c.named.is_empty()
                && c.iterators.is_empty()
                && matches!(&c.function.parts[..], [p] if matches!(
                    p.name.name.as_str(),
                    "der" | "sin" | "cos" | "tan" | "exp" | "log" | "sqrt" | "tanh" | "sinh" | "cosh" | "atan"
                ))
                && c.args.iter().all(|a| regular(a, name))
        }
        _ => false,
    }
}

fn affine(e: &Expr, name: Name) -> bool {
    match &e.kind {
        ExprKind::Integer(_) => true,
        ExprKind::Ref(r) => r.parts.iter().all(|p| p.subscripts.is_empty()) || !mentions(e, name),
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => affine(a, name) && affine(b, name),
        ExprKind::Tuple(v) => matches!(&v[..], [Some(x)] if affine(x, name)),
        _ => !mentions(e, name),
    }
}
