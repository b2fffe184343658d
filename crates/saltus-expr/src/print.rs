//! Text form, Modelica-like.

use crate::node::{Binary, ExprId, Node, RelOp, Unary};
use crate::pool::Pool;

/// The expression as text; `hole(k)` names the holes, `func(f)` the functions.
pub fn display(pool: &Pool, e: ExprId, hole: &dyn Fn(u32) -> String, func: &dyn Fn(crate::FuncId) -> String) -> String {
    let mut out = String::new();
    write(pool, e, 0, hole, func, &mut out);
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

fn un_text(op: Unary) -> &'static str {
    match op {
        Unary::Neg => "-",
        Unary::Not => "not ",
        Unary::Abs => "abs",
        Unary::Sign => "sign",
        Unary::Sqrt => "sqrt",
        Unary::Exp => "exp",
        Unary::Log => "log",
        Unary::Log10 => "log10",
        Unary::Sin => "sin",
        Unary::Cos => "cos",
        Unary::Tan => "tan",
        Unary::Asin => "asin",
        Unary::Acos => "acos",
        Unary::Atan => "atan",
        Unary::Sinh => "sinh",
        Unary::Cosh => "cosh",
        Unary::Tanh => "tanh",
        Unary::Floor => "floor",
        Unary::Ceil => "ceil",
        Unary::Trunc => "trunc",
    }
}

fn write(
    pool: &Pool,
    e: ExprId,
    level: u8,
    hole: &dyn Fn(u32) -> String,
    func: &dyn Fn(crate::FuncId) -> String,
    out: &mut String,
) {
    let paren = |out: &mut String, need: bool, f: &mut dyn FnMut(&mut String)| {
        if need {
            out.push('(');
        }
        f(out);
        if need {
            out.push(')');
        }
    };
    let list = |out: &mut String, args: &[ExprId]| {
        for (i, &a) in args.iter().enumerate() {
            if i > 0 {
                out.push_str(", ");
            }
            write(pool, a, 0, hole, func, out);
        }
    };
    match pool.node(e) {
        Node::Const(bits) => {
            let v = f64::from_bits(*bits);
            paren(out, v < 0.0 && level > 5, &mut |out| out.push_str(&format!("{v}")));
        }
        Node::Hole(k) => out.push_str(&hole(*k)),
        Node::Unary(op @ (Unary::Neg | Unary::Not), a) => {
            let p = if *op == Unary::Neg { 5 } else { 3 };
            paren(out, level > p, &mut |out| {
                out.push_str(un_text(*op));
                write(pool, *a, p + 1, hole, func, out);
            });
        }
        Node::Unary(op, a) => {
            out.push_str(un_text(*op));
            out.push('(');
            write(pool, *a, 0, hole, func, out);
            out.push(')');
        }
        Node::EventFloor(a) => {
            out.push_str("floor(");
            write(pool, *a, 0, hole, func, out);
            out.push(')');
        }
        Node::Binary(op @ (Binary::Atan2 | Binary::Min | Binary::Max), a, b) => {
            out.push_str(bin_text(*op).0);
            out.push('(');
            list(out, &[*a, *b]);
            out.push(')');
        }
        Node::Binary(op, a, b) => {
            let (text, p) = bin_text(*op);
            paren(out, level > p, &mut |out| {
                let left = if matches!(op, Binary::Pow) { p + 1 } else { p };
                write(pool, *a, left, hole, func, out);
                out.push_str(text);
                write(pool, *b, p + 1, hole, func, out);
            });
        }
        Node::Relation(op, a, b) => paren(out, level > 4, &mut |out| {
            write(pool, *a, 5, hole, func, out);
            out.push_str(rel_text(*op));
            write(pool, *b, 5, hole, func, out);
        }),
        Node::If(c, a, b) => paren(out, level > 0, &mut |out| {
            out.push_str("if ");
            write(pool, *c, 0, hole, func, out);
            out.push_str(" then ");
            write(pool, *a, 0, hole, func, out);
            out.push_str(" else ");
            write(pool, *b, 0, hole, func, out);
        }),
        Node::Call { func: f, args, out: o } => {
            out.push_str(&func(*f));
            out.push('(');
            list(out, args);
            out.push(')');
            if *o > 0 {
                out.push_str(&format!(".{}", o + 1));
            }
        }
        Node::CallDer { func: f, args, dargs, out: o } => {
            out.push_str("der_");
            out.push_str(&func(*f));
            out.push('(');
            list(out, args);
            out.push_str("; ");
            list(out, dargs);
            out.push(')');
            if *o > 0 {
                out.push_str(&format!(".{}", o + 1));
            }
        }
    }
}
