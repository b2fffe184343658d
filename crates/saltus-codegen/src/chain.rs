//! Rows of several kernels as one plan: slots are known, so there are no index words; what one row stores is at hand for
//! the next, and equal operations outside branches are done once.
//!
//! ```text
//! a := x*y      ⇒   0: load x   1: load y   2: 0 * 1   3: store a, 2
//! b := a + x*y      4: 2 + 2                           5: store b, 4
//! ```

use crate::plan::{Op, Plan, Step};
use rustc_hash::FxHashMap;
use saltus_expr::{Binary, Unary};
use saltus_program::{NEGATE, slot_of};

/// What makes two operations equal.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Const(u64),
    Unary(Unary, Step),
    Binary(Binary, Step, Step),
    Select(Step, Step, Step),
}

/// Joins rows, given as plan and index words, in order.
#[derive(Default)]
pub(crate) struct Joiner {
    ops: Vec<Op>,
    args: Vec<Step>,
    /// The value of each slot as known outside branches.
    slots: FxHashMap<u32, Step>,
    known: FxHashMap<Key, Step>,
}

impl Joiner {
    /// Number of operations so far.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Appends a row.
    pub fn row(&mut self, plan: &Plan, words: &[u32]) {
        let mut map: Vec<Step> = Vec::with_capacity(plan.ops.len());
        let mut depth = 0;
        for op in &plan.ops {
            let at = |s: &Step| map[*s as usize];
            let (op, key) = match op {
                Op::Const(v) => (Op::Const(*v), Some(Key::Const(v.to_bits()))),
                Op::Hole(k) => {
                    let step = self.hole(words[*k as usize + 1], depth == 0);
                    map.push(step);
                    continue;
                }
                Op::Unary(op, a) => (Op::Unary(*op, at(a)), Some(Key::Unary(*op, at(a)))),
                Op::Binary(op, a, b) => (Op::Binary(*op, at(a), at(b)), Some(Key::Binary(*op, at(a), at(b)))),
                Op::Select(c, a, b) => (Op::Select(at(c), at(a), at(b)), Some(Key::Select(at(c), at(a), at(b)))),
                Op::If { cond, .. } => {
                    depth += 1;
                    (Op::If { cond: at(cond), to_else: 0 }, None)
                }
                Op::Else { value, .. } => (Op::Else { value: at(value), end: 0 }, None),
                Op::End { value } => {
                    depth -= 1;
                    (Op::End { value: at(value) }, None)
                }
                Op::Call { func, at: from, n, out } => {
                    let from = self.list(&plan.args[*from as usize..][..*n as usize], &map);
                    (Op::Call { func: *func, at: from, n: *n, out: *out }, None)
                }
                Op::CallDer { func, at: from, n, out } => {
                    let from = self.list(&plan.args[*from as usize..][..2 * *n as usize], &map);
                    (Op::CallDer { func: *func, at: from, n: *n, out: *out }, None)
                }
                Op::Load(_) | Op::Store(..) => unreachable!("plans of templates have holes"),
            };
            map.push(self.push(op, key, depth == 0));
        }
        let (slot, value) = (slot_of(words[0]) as u32, map[plan.results[0] as usize]);
        self.ops.push(Op::Store(slot, value));
        self.slots.insert(slot, value);
    }

    fn list(&mut self, steps: &[Step], map: &[Step]) -> u32 {
        let from = self.args.len() as u32;
        self.args.extend(steps.iter().map(|s| map[*s as usize]));
        from
    }

    fn push(&mut self, op: Op, key: Option<Key>, outside: bool) -> Step {
        if let Some(&known) = key.as_ref().and_then(|k| self.known.get(k)) {
            return known;
        }
        let step = self.ops.len() as Step;
        self.ops.push(op);
        if outside && let Some(k) = key {
            self.known.insert(k, step);
        }
        step
    }

    fn hole(&mut self, word: u32, outside: bool) -> Step {
        let slot = slot_of(word) as u32;
        let value = match self.slots.get(&slot) {
            Some(&s) => s,
            None => {
                let s = self.push(Op::Load(slot), None, outside);
                if outside {
                    self.slots.insert(slot, s);
                }
                s
            }
        };
        if word & NEGATE == 0 {
            return value;
        }
        self.push(Op::Unary(Unary::Neg, value), Some(Key::Unary(Unary::Neg, value)), outside)
    }

    /// The joined plan, and how many values it needs.
    pub fn finish(self) -> (Plan, usize) {
        let last = self.ops.iter().map(|op| match op {
            Op::Load(s) | Op::Store(s, _) => *s as usize + 1,
            _ => 0,
        });
        let values = last.max().unwrap_or(0);
        let plan =
            Plan { ops: self.ops, args: self.args, results: Vec::new(), consts: 0, holes: 0, holes_declared: true };
        (plan, values)
    }
}
