//! Text form, Modelica-like.

use crate::node::{Binary, ExprId, Node, RelOp, Unary};
use crate::pool::Pool;

/// The expression as text; `hole(k)` names the holes, `func(f)` the functions.
pub fn display(pool: &Pool, e: ExprId, hole: &dyn Fn(u32) -> String, func: &dyn Fn(crate::FuncId) -> String) -> String {
    let names = Names { hole: &|k, _| hole(k), is_boolean: &|_| false, func };
    display_as(pool, e, false, &names)
}

/// What stands for the holes and functions of an expression.
pub struct Names<'a> {
    /// The text of a hole; `true` where a Boolean stands.
    pub hole: &'a dyn Fn(u32, bool) -> String,
    /// Whether a hole holds a Boolean.
    pub is_boolean: &'a dyn Fn(u32) -> bool,
    /// The name of a function.
    pub func: &'a dyn Fn(crate::FuncId) -> String,
}

/// [`display`] that writes `true` and `false` where Booleans stand; `boolean`: the whole is one.
pub fn display_as(pool: &Pool, e: ExprId, boolean: bool, names: &Names) -> String {
    let mut out = String::new();
    Printer { pool, names }.write(e, 0, boolean, &mut out);
    out
}

fn bin_text(op: Binary) -> (&'static str, u8) {
    match op {
        Binary::Or => (" or ", 1),
        Binary::And => (" and ", 2),
        Binary::Lt => (" < ", 4),
        Binary::Le => (" <= ", 4),
        Binary::Gt => (" > ", 4),
        Binary::Ge => (" >= ", 4),
        Binary::Eq => (" == ", 4),
        Binary::Ne => (" <> ", 4),
        Binary::Add => (" + ", 5),
        Binary::Sub => (" - ", 5),
        Binary::Mul => ("*", 6),
        Binary::Div => ("/", 6),
        Binary::Pow => ("^", 8),
        Binary::Atan2 => ("atan2", 0),
        Binary::Min => ("min", 0),
        Binary::Max => ("max", 0),
    }
}

fn rel_text(op: RelOp) -> &'static str {
    bin_text(op.plain()).0
}

struct Printer<'a> {
    pool: &'a Pool,
    names: &'a Names<'a>,
}

fn paren(out: &mut String, need: bool, f: &mut dyn FnMut(&mut String)) {
    if need {
        out.push('(');
    }
    f(out);
    if need {
        out.push(')');
    }
}

impl Printer<'_> {
    /// Whether an expression is visibly a Boolean.
    fn is_boolean(&self, e: ExprId) -> bool {
        use Binary::*;
        match self.pool.node(e) {
            Node::Hole(k) => (self.names.is_boolean)(*k),
            Node::Unary(Unary::Not, _) | Node::Relation(..) => true,
            Node::Binary(op, ..) => matches!(op, And | Or | Lt | Le | Gt | Ge | Eq | Ne),
            Node::If(_, a, b) => self.is_boolean(*a) || self.is_boolean(*b),
            _ => false,
        }
    }

    fn list(&self, args: &[ExprId], out: &mut String) {
        for (i, &a) in args.iter().enumerate() {
            if i > 0 {
                out.push_str(", ");
            }
            self.write(a, 0, false, out);
        }
    }

    /// Writes an expression into a place that binds as tightly as `level` and holds a Boolean or not.
    fn write(&self, e: ExprId, level: u8, boolean: bool, out: &mut String) {
        match self.pool.node(e) {
            Node::Const(bits) if boolean => {
                out.push_str(if f64::from_bits(*bits) == 0.0 { "false" } else { "true" });
            }
            Node::Const(bits) => {
                let v = f64::from_bits(*bits);
                paren(out, v < 0.0 && level > 5, &mut |out| out.push_str(&format!("{v}")));
            }
            Node::Hole(k) => out.push_str(&(self.names.hole)(*k, boolean)),
            Node::Unary(op @ (Unary::Neg | Unary::Not), a) => {
                let p = if *op == Unary::Neg { 5 } else { 3 };
                paren(out, level > p, &mut |out| {
                    out.push_str(if *op == Unary::Neg { "-" } else { "not " });
                    self.write(*a, p + 1, *op == Unary::Not, out);
                });
            }
            Node::Unary(op, a) => {
                out.push_str(op.name());
                out.push('(');
                self.write(*a, 0, false, out);
                out.push(')');
            }
            Node::EventFloor(a) => {
                out.push_str("floor(");
                self.write(*a, 0, false, out);
                out.push(')');
            }
            Node::Binary(op @ (Binary::Atan2 | Binary::Min | Binary::Max), a, b) => {
                out.push_str(bin_text(*op).0);
                out.push('(');
                self.list(&[*a, *b], out);
                out.push(')');
            }
            Node::Binary(op, a, b) => {
                let (text, p) = bin_text(*op);
                let inside = match op {
                    Binary::And | Binary::Or => true,
                    Binary::Eq | Binary::Ne => self.is_boolean(*a) || self.is_boolean(*b),
                    _ => false,
                };
                paren(out, level > p, &mut |out| {
                    let left = if matches!(op, Binary::Pow) { p + 1 } else { p };
                    self.write(*a, left, inside, out);
                    out.push_str(text);
                    self.write(*b, p + 1, inside, out);
                });
            }
            Node::Relation(op, a, b) => paren(out, level > 4, &mut |out| {
                self.write(*a, 5, false, out);
                out.push_str(rel_text(*op));
                self.write(*b, 5, false, out);
            }),
            Node::If(c, a, b) => {
                let boolean = boolean || self.is_boolean(*a) || self.is_boolean(*b);
                paren(out, level > 0, &mut |out| {
                    out.push_str("if ");
                    self.write(*c, 0, true, out);
                    out.push_str(" then ");
                    self.write(*a, 0, boolean, out);
                    out.push_str(" else ");
                    self.write(*b, 0, boolean, out);
                });
            }
            Node::Call { func, args, out: o } => {
                out.push_str(&(self.names.func)(*func));
                out.push('(');
                self.list(args, out);
                out.push(')');
                if *o > 0 {
                    out.push_str(&format!(".{}", o + 1));
                }
            }
            Node::CallDer { func, args, dargs, out: o } => {
                out.push_str("der_");
                out.push_str(&(self.names.func)(*func));
                out.push('(');
                self.list(args, out);
                out.push_str("; ");
                self.list(dargs, out);
                out.push(')');
                if *o > 0 {
                    out.push_str(&format!(".{}", o + 1));
                }
            }
        }
    }
}
