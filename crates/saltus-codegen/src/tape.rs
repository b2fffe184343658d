//! Running a plan as it is: one pass over its steps per row.

use crate::plan::{Op, Plan};
use saltus_expr::{Unary, binary, unary};
use saltus_program::{
    CallHost, Interval, NEGATE, Region, Rows, enclose_binary, enclose_select, enclose_unary, slot_of,
};
use std::cell::Cell;

/// Memory for step values and call arguments, kept between runs. Taken while in use, so a host that runs kernels
/// inside a call gets its own.
#[derive(Default)]
pub(crate) struct Scratch(Cell<(Vec<f64>, Vec<f64>)>);

/// Runs all rows.
pub(crate) fn run(plan: &Plan, rows: &Rows, values: &mut [f64], host: &mut dyn CallHost, scratch: &Scratch) {
    let (mut steps, mut args) = scratch.0.take();
    steps.clear();
    steps.resize(plan.ops.len(), 0.0);
    for (step, op) in steps.iter_mut().zip(&plan.ops[..plan.consts]) {
        if let Op::Const(v) = op {
            *step = *v;
        }
    }
    for row in rows.words().chunks_exact(rows.stride.max(1)) {
        let (to, holes) = row.split_at(plan.results.len());
        run_row(plan, holes, values, &mut steps, &mut args, host);
        for (to, s) in to.iter().zip(&plan.results) {
            values[slot_of(*to)] = steps[*s as usize];
        }
    }
    scratch.0.set((steps, args));
}

fn run_row(
    plan: &Plan,
    holes: &[u32],
    values: &[f64],
    steps: &mut [f64],
    args: &mut Vec<f64>,
    host: &mut dyn CallHost,
) {
    let mut pc = plan.consts;
    while let Some(op) = plan.ops.get(pc) {
        let v = |s: &u32| steps[*s as usize];
        steps[pc] = match op {
            Op::Const(v) => *v,
            Op::Load(_) | Op::Store(..) => unreachable!("chains are compiled, never run on the tape"),
            Op::Hole(k) => {
                let w = holes[*k as usize];
                let v = values[slot_of(w)];
                if w & NEGATE != 0 { -v } else { v }
            }
            Op::Unary(Unary::Neg, a) => -v(a),
            Op::Unary(op, a) => unary(*op, v(a)),
            Op::Binary(op, a, b) => binary(*op, v(a), v(b)),
            Op::Select(c, a, b) => {
                if v(c) != 0.0 {
                    v(a)
                } else {
                    v(b)
                }
            }
            Op::If { cond, to_else } => {
                if v(cond) == 0.0 {
                    pc = *to_else as usize;
                }
                0.0
            }
            Op::Else { value, end } => {
                steps[*end as usize] = v(value);
                pc = *end as usize + 1;
                continue;
            }
            Op::End { value } => v(value),
            Op::Call { func, at, n, out } => {
                args.clear();
                args.extend(plan.args[*at as usize..][..*n as usize].iter().map(v));
                host.call(*func, args, *out)
            }
            Op::CallDer { func, at, n, out } => {
                args.clear();
                args.extend(plan.args[*at as usize..][..2 * *n as usize].iter().map(v));
                let (x, dx) = args.split_at(*n as usize);
                host.call_der(*func, x, dx, *out)
            }
        };
        pc += 1;
    }
}

/// Encloses what all rows compute. Branches are not taken: both parts of an `if` are enclosed, its condition says what
/// counts.
pub(crate) fn enclose(plan: &Plan, rows: &Rows, values: &[f64], region: &mut Region, host: &mut dyn CallHost) {
    let mut steps = vec![Interval::WHOLE; plan.ops.len()];
    let mut args: Vec<Interval> = Vec::new();
    // The condition of each open `if`, and the value of its first part once that has ended.
    let mut open: Vec<(Interval, Interval)> = Vec::new();
    for row in rows.words().chunks_exact(rows.stride.max(1)) {
        for (pc, op) in plan.ops.iter().enumerate() {
            let v = |s: &u32| steps[*s as usize];
            let range = match op {
                Op::Const(v) => Interval::point(*v),
                Op::Load(_) | Op::Store(..) => unreachable!("chains are compiled, never run on the tape"),
                Op::Hole(k) => region.get(row[plan.results.len() + *k as usize], values),
                Op::Unary(op, a) => enclose_unary(*op, v(a)),
                Op::Binary(op, a, b) => enclose_binary(*op, v(a), v(b)),
                Op::Select(c, a, b) => enclose_select(v(c), v(a), v(b)),
                Op::If { cond, .. } => {
                    open.push((v(cond), Interval::WHOLE));
                    Interval::WHOLE
                }
                Op::Else { value, .. } => {
                    if let Some(o) = open.last_mut() {
                        o.1 = v(value);
                    }
                    Interval::WHOLE
                }
                Op::End { value } => {
                    let (c, a) = open.pop().unwrap_or((Interval::WHOLE, Interval::WHOLE));
                    enclose_select(c, a, v(value))
                }
                Op::Call { func, at, n, out } => {
                    args.clear();
                    args.extend(plan.args[*at as usize..][..*n as usize].iter().map(v));
                    host.enclose(*func, &args, *out)
                }
                Op::CallDer { func, at, n, out } => {
                    args.clear();
                    args.extend(plan.args[*at as usize..][..2 * *n as usize].iter().map(v));
                    let (x, dx) = args.split_at(*n as usize);
                    host.enclose_der(*func, x, dx, *out)
                }
            };
            steps[pc] = range;
        }
        for (to, s) in row.iter().zip(&plan.results) {
            region.set(slot_of(*to) as u32, steps[*s as usize]);
        }
    }
}
