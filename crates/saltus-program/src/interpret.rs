//! The reference interpreter: kernels as postfix code with jumps.

use crate::kernel::{Backend, Batch, CallHost, KernelId, NEGATE, slot_of};
use rustc_hash::FxHashMap;
use saltus_expr::{Binary, ExprId, FuncId, Node, Pool, Unary, binary, unary};

#[derive(Clone, Debug)]
enum Op {
    Const(f64),
    Hole(u32),
    /// A value computed before (shared subexpression).
    Load(u32),
    Store(u32),
    Unary(Unary),
    Binary(Binary),
    /// Jump if the popped value is zero.
    JumpIfZero(u32),
    Jump(u32),
    Call {
        func: FuncId,
        n: u32,
        out: u32,
    },
    CallDer {
        func: FuncId,
        n: u32,
        out: u32,
    },
}

#[derive(Clone, Debug, Default)]
struct Code {
    ops: Vec<Op>,
    temps: usize,
}

/// Runs kernels without compiling them to machine code.
#[derive(Default)]
pub struct Interpreter {
    codes: Vec<Code>,
    index: FxHashMap<ExprId, KernelId>,
}

impl Interpreter {
    /// An interpreter with no kernels yet.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Backend for Interpreter {
    fn kernel(&mut self, pool: &Pool, template: ExprId, _holes: usize) -> KernelId {
        if let Some(&k) = self.index.get(&template) {
            return k;
        }
        let mut code = Code::default();
        // Nodes used more than once outside any branch get a temporary.
        let mut uses: FxHashMap<ExprId, u32> = FxHashMap::default();
        pool.visit(template, |e, _| pool.children(e, |c| *uses.entry(c).or_insert(0) += 1));
        emit(pool, template, &uses, &mut FxHashMap::default(), &mut code);
        let id = KernelId(self.codes.len() as u32);
        self.codes.push(code);
        self.index.insert(template, id);
        id
    }

    fn finish(&mut self) {}

    fn run(&self, batch: &Batch, values: &mut [f64], host: &mut dyn CallHost) {
        let code = &self.codes[batch.kernel.0 as usize];
        let mut stack: Vec<f64> = Vec::with_capacity(16);
        let mut temps = vec![0.0; code.temps];
        for row in batch.rows.words.chunks_exact(batch.rows.stride.max(1)) {
            let v = run_row(code, &row[1..], values, &mut stack, &mut temps, host);
            values[slot_of(row[0])] = v;
        }
    }
}

fn emit(pool: &Pool, e: ExprId, uses: &FxHashMap<ExprId, u32>, ready: &mut FxHashMap<ExprId, u32>, code: &mut Code) {
    if let Some(&t) = ready.get(&e) {
        code.ops.push(Op::Load(t));
        return;
    }
    match pool.node(e) {
        Node::Const(bits) => return code.ops.push(Op::Const(f64::from_bits(*bits))),
        Node::Hole(k) => return code.ops.push(Op::Hole(*k)),
        Node::Unary(op, a) => {
            emit(pool, *a, uses, ready, code);
            code.ops.push(Op::Unary(*op));
        }
        Node::EventFloor(a) => {
            emit(pool, *a, uses, ready, code);
            code.ops.push(Op::Unary(Unary::Floor));
        }
        Node::Binary(op, a, b) => {
            emit(pool, *a, uses, ready, code);
            emit(pool, *b, uses, ready, code);
            code.ops.push(Op::Binary(*op));
        }
        Node::Relation(op, a, b) => {
            emit(pool, *a, uses, ready, code);
            emit(pool, *b, uses, ready, code);
            code.ops.push(Op::Binary(op.plain()));
        }
        Node::If(c, a, b) => {
            emit(pool, *c, uses, ready, code);
            let to_else = code.ops.len();
            code.ops.push(Op::JumpIfZero(0));
            // What is computed inside a branch is not available outside it.
            emit(pool, *a, uses, &mut ready.clone(), code);
            let to_end = code.ops.len();
            code.ops.push(Op::Jump(0));
            code.ops[to_else] = Op::JumpIfZero(code.ops.len() as u32);
            emit(pool, *b, uses, &mut ready.clone(), code);
            code.ops[to_end] = Op::Jump(code.ops.len() as u32);
        }
        Node::Call { func, args, out } => {
            args.iter().for_each(|&a| emit(pool, a, uses, ready, code));
            code.ops.push(Op::Call { func: *func, n: args.len() as u32, out: *out });
        }
        Node::CallDer { func, args, dargs, out } => {
            args.iter().chain(dargs.iter()).for_each(|&a| emit(pool, a, uses, ready, code));
            code.ops.push(Op::CallDer { func: *func, n: args.len() as u32, out: *out });
        }
    }
    if uses.get(&e).copied().unwrap_or(0) > 1 {
        let t = code.temps as u32;
        code.temps += 1;
        ready.insert(e, t);
        code.ops.push(Op::Store(t));
    }
}

fn run_row(
    code: &Code,
    holes: &[u32],
    values: &[f64],
    stack: &mut Vec<f64>,
    temps: &mut [f64],
    host: &mut dyn CallHost,
) -> f64 {
    stack.clear();
    let mut pc = 0;
    while let Some(op) = code.ops.get(pc) {
        pc += 1;
        match op {
            Op::Const(v) => stack.push(*v),
            Op::Hole(k) => {
                let w = holes[*k as usize];
                let v = values[slot_of(w)];
                stack.push(if w & NEGATE != 0 { -v } else { v });
            }
            Op::Load(t) => stack.push(temps[*t as usize]),
            Op::Store(t) => temps[*t as usize] = stack.last().copied().unwrap_or(f64::NAN),
            Op::Unary(op) => {
                let a = stack.pop().unwrap_or(f64::NAN);
                stack.push(unary(*op, a));
            }
            Op::Binary(op) => {
                let b = stack.pop().unwrap_or(f64::NAN);
                let a = stack.pop().unwrap_or(f64::NAN);
                stack.push(binary(*op, a, b));
            }
            Op::JumpIfZero(to) => {
                if stack.pop() == Some(0.0) {
                    pc = *to as usize;
                }
            }
            Op::Jump(to) => pc = *to as usize,
            Op::Call { func, n, out } => {
                let at = stack.len() - *n as usize;
                let v = host.call(*func, &stack[at..], *out);
                stack.truncate(at);
                stack.push(v);
            }
            Op::CallDer { func, n, out } => {
                let n = *n as usize;
                let at = stack.len() - 2 * n;
                let v = host.call_der(*func, &stack[at..at + n], &stack[at + n..], *out);
                stack.truncate(at);
                stack.push(v);
            }
        }
    }
    stack.pop().unwrap_or(f64::NAN)
}
