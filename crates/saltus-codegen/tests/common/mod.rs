//! Random templates, rows to run them on, and the comparison of two backends.

use proptest::prelude::*;
use saltus_expr::{Binary, ExprId, FuncId, Node, Pool, RelOp, Unary};
use saltus_program::{Backend, Batch, CallHost, NEGATE, Rows};

pub const HOLES: usize = 6;

pub const UNARY: [Unary; 21] = [
    Unary::Neg,
    Unary::Not,
    Unary::Abs,
    Unary::Sign,
    Unary::Sqrt,
    Unary::Exp,
    Unary::Log,
    Unary::Log10,
    Unary::Sin,
    Unary::Cos,
    Unary::Tan,
    Unary::Asin,
    Unary::Acos,
    Unary::Atan,
    Unary::Sinh,
    Unary::Cosh,
    Unary::Tanh,
    Unary::Floor,
    Unary::Ceil,
    Unary::Trunc,
    Unary::Event,
];

pub const BINARY: [Binary; 16] = [
    Binary::Add,
    Binary::Sub,
    Binary::Mul,
    Binary::Div,
    Binary::Pow,
    Binary::Atan2,
    Binary::Min,
    Binary::Max,
    Binary::Lt,
    Binary::Le,
    Binary::Gt,
    Binary::Ge,
    Binary::Eq,
    Binary::Ne,
    Binary::And,
    Binary::Or,
];

/// One node of a random template: a kind and three picks among the nodes before it.
pub type Gene = (u8, u8, u16, u16, u16);

pub fn genes() -> impl Strategy<Value = Vec<Gene>> {
    proptest::collection::vec(any::<Gene>(), 1..60)
}

/// The template of a list of genes: a graph with much sharing. Picks are from the last nodes, mostly.
pub fn template(pool: &mut Pool, genes: &[Gene], calls: bool) -> ExprId {
    let numbers = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, 4.0, -2.5, 1e300, 1e-310, 0.1, f64::INFINITY, f64::NAN];
    let mut made: Vec<ExprId> = (0..HOLES as u32).map(|k| pool.hole(k)).collect();
    for &(kind, op, a, b, c) in genes {
        let pick = |p: u16| {
            let near = made.len().min(8);
            if p.is_multiple_of(4) {
                made[(p / 4) as usize % made.len()]
            } else {
                made[made.len() - 1 - (p / 4) as usize % near]
            }
        };
        let (x, y, z) = (pick(a), pick(b), pick(c));
        let e = match kind % 16 {
            0 => pool.num(numbers[op as usize % numbers.len()]),
            1..=3 => pool.intern(Node::Unary(UNARY[op as usize % UNARY.len()], x)),
            4..=8 => pool.intern(Node::Binary(BINARY[op as usize % BINARY.len()], x, y)),
            9 => pool.intern(Node::Relation([RelOp::Lt, RelOp::Le, RelOp::Gt, RelOp::Ge][op as usize % 4], x, y)),
            10 => pool.intern(Node::EventFloor(x)),
            11 if calls => pool.call(FuncId(u32::from(op)), vec![x, y, z][..op as usize % 4].into(), u32::from(kind)),
            12 if calls => {
                let (args, dargs) = ([x, y].into(), [y, z].into());
                pool.intern(Node::CallDer { func: FuncId(u32::from(op)), args, dargs, out: 1 })
            }
            _ => pool.intern(Node::If(x, y, z)),
        };
        made.push(e);
    }
    made[made.len() - 1]
}

/// Inputs of all sorts, then room for results; some operands negated, some rows reading earlier results.
pub fn rows(count: usize, seed: u64) -> (Vec<f64>, Rows) {
    let special = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e-310, 1e308, 3.0];
    let mut state = seed | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let inputs = 64;
    let mut values: Vec<f64> = (0..inputs)
        .map(|i| match special.get(i) {
            Some(&v) => v,
            None => (next() % 2_000_000) as f64 * 1e-5 - 10.0,
        })
        .collect();
    values.resize(inputs + count, 0.0);
    let mut words = Vec::new();
    for r in 0..count {
        words.push((inputs + r) as u32);
        for _ in 0..HOLES {
            let slot = next() as u32 % (inputs + r) as u32;
            words.push(slot | if next() % 3 == 0 { NEGATE } else { 0 });
        }
    }
    (values, Rows::new(words, HOLES + 1))
}

/// Functions with values that depend on everything they are given.
#[derive(Default)]
pub struct Host(pub usize);

impl CallHost for Host {
    fn call(&mut self, func: FuncId, args: &[f64], out: u32) -> f64 {
        self.0 += 1;
        args.iter().fold(f64::from(func.0) - f64::from(out), |s, a| 0.5 * s + a)
    }
    fn call_der(&mut self, func: FuncId, args: &[f64], dargs: &[f64], out: u32) -> f64 {
        self.0 += 1;
        args.iter().zip(dargs).fold(f64::from(func.0) - f64::from(out), |s, (a, d)| 0.5 * s + a * d)
    }
}

/// The values after running a template over the rows.
pub fn run(backend: &mut dyn Backend, pool: &Pool, e: ExprId, values: &[f64], rows: &Rows) -> Vec<f64> {
    let kernel = backend.kernel(pool, e, rows.stride - 1);
    backend.finish();
    let mut values = values.to_vec();
    backend.run(&Batch { kernel, rows: rows.clone() }, &mut values, &mut Host::default());
    values
}

/// Bits with all NaNs one.
pub fn bits(v: f64) -> u64 {
    if v.is_nan() { f64::NAN.to_bits() } else { v.to_bits() }
}

pub fn same(a: &[f64], b: &[f64]) -> Result<(), String> {
    match a.iter().zip(b).position(|(x, y)| bits(*x) != bits(*y)) {
        Some(i) => {
            Err(format!("value {i}: {:e} ({:x}) against {:e} ({:x})", a[i], a[i].to_bits(), b[i], b[i].to_bits()))
        }
        None => Ok(()),
    }
}
