//! Float evaluation: the reference meaning of every node.

use crate::node::{Binary, ExprId, FuncId, Node, Unary};
use crate::pool::Pool;
use rustc_hash::FxHashMap;

/// The value of a one-argument function.
pub fn unary(op: Unary, a: f64) -> f64 {
    match op {
        Unary::Neg => -a,
        Unary::Not => f64::from(a == 0.0),
        Unary::Abs => a.abs(),
        Unary::Sign => {
            if a > 0.0 {
                1.0
            } else if a < 0.0 {
                -1.0
            } else {
                0.0
            }
        }
        Unary::Sqrt => a.sqrt(),
        Unary::Exp => a.exp(),
        Unary::Log => a.ln(),
        Unary::Log10 => a.log10(),
        Unary::Sin => a.sin(),
        Unary::Cos => a.cos(),
        Unary::Tan => a.tan(),
        Unary::Asin => a.asin(),
        Unary::Acos => a.acos(),
        Unary::Atan => a.atan(),
        Unary::Sinh => a.sinh(),
        Unary::Cosh => a.cosh(),
        Unary::Tanh => a.tanh(),
        Unary::Floor => a.floor(),
        Unary::Ceil => a.ceil(),
        Unary::Trunc => a.trunc(),
        Unary::Event => a,
    }
}

/// The value of a two-argument function.
pub fn binary(op: Binary, a: f64, b: f64) -> f64 {
    let truth = |t: bool| f64::from(t);
    match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div => a / b,
        Binary::Pow => power(a, b),
        Binary::Atan2 => a.atan2(b),
        Binary::Min => {
            if b < a {
                b
            } else {
                a
            }
        }
        Binary::Max => {
            if b > a {
                b
            } else {
                a
            }
        }
        Binary::Lt => truth(a < b),
        Binary::Le => truth(a <= b),
        Binary::Gt => truth(a > b),
        Binary::Ge => truth(a >= b),
        Binary::Eq => truth(a == b),
        Binary::Ne => truth(a != b),
        Binary::And => truth(a != 0.0 && b != 0.0),
        Binary::Or => truth(a != 0.0 || b != 0.0),
    }
}

/// `a^b`, small integer exponents by multiplication (exact squares, and the same bits in every backend).
pub fn power(a: f64, b: f64) -> f64 {
    if b == 2.0 {
        a * a
    } else if b == 3.0 {
        a * a * a
    } else if b == 4.0 {
        (a * a) * (a * a)
    } else {
        a.powf(b)
    }
}

/// How function calls are evaluated.
pub trait Calls {
    /// Output `out` of `func` at `args`.
    fn call(&mut self, func: FuncId, args: &[f64], out: u32) -> f64;
    /// Its directional derivative along `dargs`.
    fn call_der(&mut self, func: FuncId, args: &[f64], dargs: &[f64], out: u32) -> f64;
}

/// For expressions without calls: any call gives NaN.
pub struct NoCalls;

impl Calls for NoCalls {
    fn call(&mut self, _: FuncId, _: &[f64], _: u32) -> f64 {
        f64::NAN
    }
    fn call_der(&mut self, _: FuncId, _: &[f64], _: &[f64], _: u32) -> f64 {
        f64::NAN
    }
}

/// Evaluates an expression with the given hole values. Event-generating nodes are evaluated by their arguments.
pub fn eval(pool: &Pool, e: ExprId, hole: &dyn Fn(u32) -> f64, calls: &mut dyn Calls) -> f64 {
    let mut memo = FxHashMap::default();
    go(pool, e, hole, calls, &mut memo)
}

fn go(
    pool: &Pool,
    e: ExprId,
    hole: &dyn Fn(u32) -> f64,
    calls: &mut dyn Calls,
    memo: &mut FxHashMap<ExprId, f64>,
) -> f64 {
    match pool.node(e) {
        Node::Const(bits) => return f64::from_bits(*bits),
        Node::Hole(k) => return hole(*k),
        _ => {}
    }
    if let Some(&v) = memo.get(&e) {
        return v;
    }
    let v = match pool.node(e) {
        Node::Const(_) | Node::Hole(_) => unreachable!("handled above"),
        Node::Unary(op, a) => unary(*op, go(pool, *a, hole, calls, memo)),
        Node::EventFloor(a) => go(pool, *a, hole, calls, memo).floor(),
        Node::Binary(op, a, b) => {
            let x = go(pool, *a, hole, calls, memo);
            let y = go(pool, *b, hole, calls, memo);
            binary(*op, x, y)
        }
        Node::Relation(op, a, b) => {
            let x = go(pool, *a, hole, calls, memo);
            let y = go(pool, *b, hole, calls, memo);
            binary(op.plain(), x, y)
        }
        Node::If(c, a, b) => {
            let c = go(pool, *c, hole, calls, memo);
            go(pool, if c != 0.0 { *a } else { *b }, hole, calls, memo)
        }
        Node::Call { func, args, out } => {
            let args: Vec<f64> = args.iter().map(|&a| go(pool, a, hole, calls, memo)).collect();
            calls.call(*func, &args, *out)
        }
        Node::CallDer { func, args, dargs, out } => {
            let args: Vec<f64> = args.iter().map(|&a| go(pool, a, hole, calls, memo)).collect();
            let dargs: Vec<f64> = dargs.iter().map(|&a| go(pool, a, hole, calls, memo)).collect();
            calls.call_der(*func, &args, &dargs, *out)
        }
    };
    memo.insert(e, v);
    v
}
