//! The reference interpreter: kernels as postfix code with jumps.

use crate::enclose::{Interval, Region, enclose_binary, enclose_select, enclose_unary};
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
        emit(pool, template, &uses, &mut code);
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
        for row in batch.rows.words().chunks_exact(batch.rows.stride.max(1)) {
            let v = run_row(code, &row[1..], values, &mut stack, &mut temps, host);
            values[slot_of(row[0])] = v;
        }
    }

    fn enclose(&self, batch: &Batch, values: &[f64], region: &mut Region, host: &mut dyn CallHost) {
        let code = &self.codes[batch.kernel.0 as usize];
        for row in batch.rows.words().chunks_exact(batch.rows.stride.max(1)) {
            let range = enclose_row(code, &row[1..], values, region, host);
            region.set(slot_of(row[0]) as u32, range);
        }
    }
}

/// What is left to do while code is written; no recursion, since templates can be nested very deeply.
enum Task {
    Visit(ExprId),
    Op(Op),
    /// After the condition of an `if`, after its `then` part, after its `else` part.
    Test,
    Other,
    Close,
    /// The value of this node is on the stack.
    Done(ExprId),
}

fn emit(pool: &Pool, template: ExprId, uses: &FxHashMap<ExprId, u32>, code: &mut Code) {
    let mut ready: FxHashMap<ExprId, u32> = FxHashMap::default();
    // What is computed inside a branch is not available outside it.
    let mut inside: Vec<ExprId> = Vec::new();
    let mut scopes: Vec<usize> = Vec::new();
    let mut jumps: Vec<usize> = Vec::new();
    let mut tasks = vec![Task::Visit(template)];
    while let Some(task) = tasks.pop() {
        match task {
            Task::Op(op) => code.ops.push(op),
            Task::Test => {
                jumps.push(code.ops.len());
                code.ops.push(Op::JumpIfZero(0));
                scopes.push(inside.len());
            }
            Task::Other | Task::Close => {
                let mark = scopes.last().copied().unwrap_or(0);
                for e in inside.drain(mark..) {
                    ready.remove(&e);
                }
                let at = jumps.pop().unwrap_or(0);
                if matches!(task, Task::Other) {
                    jumps.push(code.ops.len());
                    code.ops.push(Op::Jump(0));
                    code.ops[at] = Op::JumpIfZero(code.ops.len() as u32);
                } else {
                    scopes.pop();
                    code.ops[at] = Op::Jump(code.ops.len() as u32);
                }
            }
            Task::Done(e) => {
                if uses.get(&e).copied().unwrap_or(0) > 1 {
                    let t = code.temps as u32;
                    code.temps += 1;
                    ready.insert(e, t);
                    inside.push(e);
                    code.ops.push(Op::Store(t));
                }
            }
            Task::Visit(e) => {
                if let Some(&t) = ready.get(&e) {
                    code.ops.push(Op::Load(t));
                    continue;
                }
                let node = pool.node(e);
                match node {
                    Node::Const(bits) => {
                        code.ops.push(Op::Const(f64::from_bits(*bits)));
                        continue;
                    }
                    Node::Hole(k) => {
                        code.ops.push(Op::Hole(*k));
                        continue;
                    }
                    _ => tasks.push(Task::Done(e)),
                }
                // In reverse: the last pushed comes first.
                match node {
                    Node::If(c, a, b) => tasks.extend([
                        Task::Close,
                        Task::Visit(*b),
                        Task::Other,
                        Task::Visit(*a),
                        Task::Test,
                        Task::Visit(*c),
                    ]),
                    _ => {
                        tasks.push(Task::Op(match node {
                            Node::Unary(op, _) => Op::Unary(*op),
                            Node::EventFloor(_) => Op::Unary(Unary::Floor),
                            Node::Binary(op, ..) => Op::Binary(*op),
                            Node::Relation(op, ..) => Op::Binary(op.plain()),
                            Node::Call { func, args, out } => Op::Call { func: *func, n: args.len() as u32, out: *out },
                            Node::CallDer { func, args, out, .. } => {
                                Op::CallDer { func: *func, n: args.len() as u32, out: *out }
                            }
                            Node::Const(_) | Node::Hole(_) | Node::If(..) => unreachable!("handled above"),
                        }));
                        let first = tasks.len();
                        pool.children(e, |c| tasks.push(Task::Visit(c)));
                        tasks[first..].reverse();
                    }
                }
            }
        }
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

/// Jumps are not taken: both parts of an `if` are enclosed, and its condition says what counts.
fn enclose_row(code: &Code, holes: &[u32], values: &[f64], region: &Region, host: &mut dyn CallHost) -> Interval {
    let mut stack: Vec<Interval> = Vec::with_capacity(16);
    let mut temps = vec![Interval::WHOLE; code.temps];
    // Conditions of the parts that are open, with the end of the `else` part once it is known.
    let mut open: Vec<(Interval, Option<usize>)> = Vec::new();
    let pop = |stack: &mut Vec<Interval>| stack.pop().unwrap_or(Interval::WHOLE);
    for pc in 0..=code.ops.len() {
        while let Some(&(c, Some(_))) = open.last().filter(|o| o.1 == Some(pc)) {
            open.pop();
            let b = pop(&mut stack);
            let a = pop(&mut stack);
            stack.push(enclose_select(c, a, b));
        }
        let Some(op) = code.ops.get(pc) else { break };
        match op {
            Op::Const(v) => stack.push(Interval::point(*v)),
            Op::Hole(k) => stack.push(region.get(holes[*k as usize], values)),
            Op::Load(t) => stack.push(temps[*t as usize]),
            Op::Store(t) => temps[*t as usize] = stack.last().copied().unwrap_or(Interval::WHOLE),
            Op::Unary(op) => {
                let a = pop(&mut stack);
                stack.push(enclose_unary(*op, a));
            }
            Op::Binary(op) => {
                let b = pop(&mut stack);
                let a = pop(&mut stack);
                stack.push(enclose_binary(*op, a, b));
            }
            Op::JumpIfZero(_) => {
                let c = pop(&mut stack);
                open.push((c, None));
            }
            Op::Jump(to) => {
                if let Some(o) = open.last_mut() {
                    o.1 = Some(*to as usize);
                }
            }
            Op::Call { func, n, out } => {
                let at = stack.len() - *n as usize;
                let v = host.enclose(*func, &stack[at..], *out);
                stack.truncate(at);
                stack.push(v);
            }
            Op::CallDer { func, n, out } => {
                let n = *n as usize;
                let at = stack.len() - 2 * n;
                let v = host.enclose_der(*func, &stack[at..at + n], &stack[at + n..], *out);
                stack.truncate(at);
                stack.push(v);
            }
        }
    }
    pop(&mut stack)
}
