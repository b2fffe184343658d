//! Kernels over intervals: what a row can compute while some of the values it reads lie anywhere in given intervals.
//!
//! The result contains what evaluation gives, rounding included, at every point of the box at which all its operations are
//! defined: a root or logarithm counts where its argument is in its domain (see [`saltus_solver::interval`]). Both parts of an
//! `if` whose condition is not certain count. Numbers that are known stay numbers: an operation on points is the float
//! operation itself, so that loops inside functions count as they do in a run.

use crate::kernel::{NEGATE, slot_of};
use rustc_hash::FxHashMap;
use saltus_expr::{Binary, FuncId, Unary};
use saltus_function::external::Callee;
use saltus_function::{Domain, ExecError, Executor};
pub use saltus_solver::interval::Interval;

/// Values of which some are only known to lie in intervals: a box in the space of all values of a run, most sides of
/// which have no length.
#[derive(Clone, Debug, Default)]
pub struct Region {
    wide: FxHashMap<u32, Interval>,
}

impl Region {
    /// Forgets all intervals.
    pub fn clear(&mut self) {
        self.wide.clear();
    }

    /// The value of a slot lies in this interval, whatever the array of values says.
    pub fn set(&mut self, slot: u32, range: Interval) {
        self.wide.insert(slot, range);
    }

    /// What is known of the value that an index word names.
    pub fn get(&self, word: u32, values: &[f64]) -> Interval {
        let slot = slot_of(word);
        let range = match self.wide.get(&(slot as u32)) {
            Some(i) => *i,
            None => point(values.get(slot).copied().unwrap_or(f64::NAN)),
        };
        if word & NEGATE != 0 { -range } else { range }
    }
}

fn point(v: f64) -> Interval {
    Interval::point(v)
}

/// The number, if there is only one.
fn thin(a: Interval) -> Option<f64> {
    (a.lo == a.hi).then_some(a.lo)
}

/// Whether a condition is known.
fn truth(a: Interval) -> Option<bool> {
    match thin(a) {
        Some(v) => Some(v != 0.0),
        None => (!a.contains(0.0)).then_some(true),
    }
}

/// A truth value that is known or not.
fn truth_value(known: Option<bool>) -> Interval {
    known.map_or(Interval { lo: 0.0, hi: 1.0 }, |t| point(f64::from(t)))
}

/// `op` of every number of an interval.
pub fn enclose_unary(op: Unary, a: Interval) -> Interval {
    if let Some(a) = thin(a) {
        return point(saltus_expr::unary(op, a));
    }
    match op {
        Unary::Neg => -a,
        Unary::Not => truth_value(truth(a).map(|t| !t)),
        Unary::Abs => a.abs(),
        Unary::Sign => a.sign(),
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
        Unary::Trunc => Interval { lo: a.lo.trunc(), hi: a.hi.trunc() },
        Unary::Event => a,
    }
}

/// `op` of every pair of numbers of two intervals.
pub fn enclose_binary(op: Binary, a: Interval, b: Interval) -> Interval {
    if let (Some(a), Some(b)) = (thin(a), thin(b)) {
        // The sign of a zero is not known here, and matters to these.
        let signed = match op {
            Binary::Div => b == 0.0,
            Binary::Atan2 => a == 0.0 && b <= 0.0,
            Binary::Pow => a == 0.0 && b < 0.0,
            _ => false,
        };
        if !signed {
            return point(saltus_expr::binary(op, a, b));
        }
    }
    // Known if it holds everywhere or nowhere.
    let relation = |always: bool, never: bool| truth_value(if always { Some(true) } else { never.then_some(false) });
    let apart = a.hi < b.lo || b.hi < a.lo;
    match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div => a / b,
        Binary::Pow => power(a, b),
        Binary::Atan2 => a.atan2(b),
        Binary::Min => a.min(b),
        Binary::Max => a.max(b),
        Binary::Lt => relation(a.hi < b.lo, a.lo >= b.hi),
        Binary::Le => relation(a.hi <= b.lo, a.lo > b.hi),
        Binary::Gt => relation(a.lo > b.hi, a.hi <= b.lo),
        Binary::Ge => relation(a.lo >= b.hi, a.hi < b.lo),
        Binary::Eq => relation(false, apart),
        Binary::Ne => relation(apart, false),
        Binary::And => match (truth(a), truth(b)) {
            (Some(false), _) | (_, Some(false)) => point(0.0),
            (a, b) => truth_value(a.and(b)),
        },
        Binary::Or => match (truth(a), truth(b)) {
            (Some(true), _) | (_, Some(true)) => point(1.0),
            (a, b) => truth_value(a.and(b)),
        },
    }
}

/// Powers of negative numbers are defined where the exponent is whole, which all large numbers are; those of zero and of
/// infinity depend on signs and exponents in ways of their own.
fn power(a: Interval, b: Interval) -> Interval {
    let known = thin(b).is_some_and(|b| b.abs() < 1e6);
    let strange = (a.lo < 0.0 && !known) || a.lo == f64::NEG_INFINITY || (a.contains(0.0) && b.lo < 0.0);
    if strange { Interval::WHOLE } else { a.powf(b) }
}

/// `if c then a else b`, both parts enclosed.
pub fn enclose_select(c: Interval, a: Interval, b: Interval) -> Interval {
    match truth(c) {
        Some(true) => a,
        Some(false) => b,
        None => a.hull(b),
    }
}

/// Intervals as scalars of functions. Branches that are not certain are both executed.
struct Enclosing;

impl Domain for Enclosing {
    type S = Interval;
    const SPECULATES: bool = true;
    const DERIVATIVES: bool = false;
    fn num(&mut self, v: f64) -> Interval {
        point(v)
    }
    fn unary(&mut self, op: Unary, a: &Interval) -> Interval {
        enclose_unary(op, *a)
    }
    fn binary(&mut self, op: Binary, a: &Interval, b: &Interval) -> Interval {
        enclose_binary(op, *a, *b)
    }
    fn select(&mut self, c: &Interval, a: &Interval, b: &Interval) -> Interval {
        enclose_select(*c, *a, *b)
    }
    fn as_const(&self, a: &Interval) -> Option<f64> {
        thin(*a)
    }
    fn external(&mut self, function: &Callee, args: &[Interval]) -> Option<Interval> {
        let ranges: Vec<(f64, f64)> = args.iter().map(|a| (a.lo, a.hi)).collect();
        function.range(&ranges).map(|(lo, hi)| Interval::new(lo, hi))
    }
}

/// The flattened outputs of a function whose arguments lie in intervals. `Err` where nothing can be said: a loop whose length is
/// not certain, an assertion that may fail, foreign code.
pub fn enclose_function(executor: &Executor, func: FuncId, args: &[Interval]) -> Result<Vec<Interval>, ExecError> {
    executor.call_in(&mut Enclosing, func, args)
}

/// All numbers, if the intervals have no length.
pub(crate) fn points(args: &[Interval]) -> Option<Vec<f64>> {
    args.iter().map(|a| thin(*a)).collect()
}
