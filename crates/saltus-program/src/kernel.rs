//! Kernels, index words, batches, and what a backend must do.

use crate::enclose::{Interval, Region, enclose_function, points};
use saltus_expr::{ExprId, FuncId, Pool};
use saltus_function::{ExecError, Executor, Function, Warning};
use std::cell::{Cell, OnceCell};

/// Set in an index word whose value is to be negated when loaded.
pub const NEGATE: u32 = 1 << 31;

/// The slot of an index word.
#[inline]
pub fn slot_of(word: u32) -> usize {
    (word & !NEGATE) as usize
}

/// A compiled template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KernelId(pub u32);

/// Index words of the rows of a batch, `stride` words a row: destination first, then one word per hole.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// All words.
    pub words: Vec<u32>,
    /// Words per row (1 + number of holes).
    pub stride: usize,
    /// Found when first asked for.
    runs: OnceCell<Box<[Run]>>,
}

/// Successive rows whose words are those of the first, each the same or one further per row: a stencil on a grid needs
/// its first row only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// First row.
    pub start: usize,
    /// Number of rows.
    pub len: usize,
    /// What each word does; empty if the rows follow no rule.
    pub pattern: Box<[Advance]>,
    /// Whether no row reads what another of the run writes.
    pub independent: bool,
}

/// How a word changes from row to row of a [`Run`], and whether its value is negated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Advance {
    /// It stays.
    Stays {
        /// Whether the value is negated.
        negate: bool,
    },
    /// It names the next value.
    Next {
        /// Whether the value is negated.
        negate: bool,
    },
}

impl Rows {
    /// Rows of `stride` words each.
    pub fn new(words: Vec<u32>, stride: usize) -> Rows {
        Rows { words, stride, runs: OnceCell::new() }
    }

    /// Appends the rows of others.
    pub fn extend(&mut self, others: &Rows) {
        self.words.extend_from_slice(&others.words);
        self.runs = OnceCell::new();
    }

    /// The rows cut into runs; rows that follow no rule are runs without a pattern.
    pub fn runs(&self) -> &[Run] {
        self.runs.get_or_init(|| find_runs(&self.words, self.stride))
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.words.len().checked_div(self.stride).unwrap_or(0)
    }
    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

/// Runs shorter than this are not worth their own loop.
const SHORTEST: usize = 16;

fn find_runs(words: &[u32], stride: usize) -> Box<[Run]> {
    let n = words.len().checked_div(stride).unwrap_or(0);
    let row = |r: usize| &words[r * stride..][..stride];
    let mut out: Vec<Run> = Vec::new();
    let mut plain = 0;
    let mut at = 0;
    while at < n {
        // As far as every word stays or moves on by one; the destination moves.
        let mut len = 1;
        let mut pattern: Vec<Advance> = Vec::new();
        while at + len < n {
            let (a, b) = (row(at + len - 1), row(at + len));
            let step = |(i, (x, y)): (usize, (&u32, &u32))| {
                let negate = x & NEGATE != 0;
                match y.wrapping_sub(*x) {
                    1 => Some(Advance::Next { negate }),
                    0 if i > 0 => Some(Advance::Stays { negate }),
                    _ => None,
                }
            };
            let next: Option<Vec<Advance>> = a.iter().zip(b).enumerate().map(step).collect();
            match next {
                Some(p) if len == 1 => pattern = p,
                Some(p) if p == pattern => {}
                _ => break,
            }
            len += 1;
        }
        if len < SHORTEST {
            plain += len;
            at += len;
            continue;
        }
        if plain > 0 {
            out.push(Run { start: at - plain, len: plain, pattern: Box::default(), independent: false });
            plain = 0;
        }
        let first = row(at);
        let written = slot_of(first[0])..slot_of(first[0]) + len;
        let independent = first[1..].iter().zip(&pattern[1..]).all(|(w, p)| {
            let w = slot_of(*w);
            let read = match p {
                Advance::Stays { .. } => w..w + 1,
                Advance::Next { .. } => w..w + len,
            };
            read.end <= written.start || read.start >= written.end
        });
        out.push(Run { start: at, len, pattern: pattern.into(), independent });
        at += len;
    }
    if plain > 0 {
        out.push(Run { start: n - plain, len: plain, pattern: Box::default(), independent: false });
    }
    out.into()
}

/// One kernel over some rows.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The kernel.
    pub kernel: KernelId,
    /// Its rows, run in order.
    pub rows: Rows,
}

/// Batches run one after the other. A backend may compile them into one piece of code, in which what one row computes is
/// at hand for the next and nothing is computed twice.
#[derive(Clone, Debug, Default)]
pub struct Chain {
    batches: Vec<Batch>,
    /// What the backend knows about it.
    pub state: Cell<ChainState>,
}

/// Batches with more rows than this are loops of their own; shorter ones are worth joining to their neighbours.
pub const FEW_ROWS: usize = 12;

/// How far a backend has come with a [`Chain`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainState {
    /// Batch by batch; how often it was run so far.
    Cold(u32),
    /// Compiled, by the backend's number.
    Compiled(u32),
}

impl Default for ChainState {
    fn default() -> Self {
        ChainState::Cold(0)
    }
}

impl From<Vec<Batch>> for Chain {
    fn from(batches: Vec<Batch>) -> Self {
        Chain { batches, state: Cell::default() }
    }
}

impl Chain {
    /// Appends a batch, joining its rows to those of the last if both run the same kernel.
    pub fn push(&mut self, batch: Batch) {
        self.state = Cell::default();
        match self.batches.last_mut() {
            Some(last) if last.kernel == batch.kernel => last.rows.extend(&batch.rows),
            _ => self.batches.push(batch),
        }
    }

    /// All rows in order, each with its kernel.
    pub fn rows(&self) -> impl Iterator<Item = (KernelId, &[u32])> {
        self.batches.iter().flat_map(|b| b.rows.words.chunks_exact(b.rows.stride.max(1)).map(|row| (b.kernel, row)))
    }
}

impl FromIterator<Batch> for Chain {
    fn from_iter<T: IntoIterator<Item = Batch>>(batches: T) -> Self {
        let mut chain = Chain::default();
        batches.into_iter().for_each(|b| chain.push(b));
        chain
    }
}

impl std::ops::Deref for Chain {
    type Target = [Batch];
    fn deref(&self) -> &[Batch] {
        &self.batches
    }
}

impl<'a> IntoIterator for &'a Chain {
    type Item = &'a Batch;
    type IntoIter = std::slice::Iter<'a, Batch>;
    fn into_iter(self) -> Self::IntoIter {
        self.batches.iter()
    }
}

/// Evaluates function calls met inside kernels. Errors are kept by the host (the call then gives NaN) and asked for
/// after the batch.
pub trait CallHost {
    /// Output `out` of `func` at `args`.
    fn call(&mut self, func: FuncId, args: &[f64], out: u32) -> f64;
    /// Directional derivative of output `out` at `args` along `dargs`.
    fn call_der(&mut self, func: FuncId, args: &[f64], dargs: &[f64], out: u32) -> f64;
    /// Output `out` of `func` for all arguments in intervals; the whole line where nothing is known, which is the case
    /// everywhere but at points unless the host knows better.
    fn enclose(&mut self, func: FuncId, args: &[Interval], out: u32) -> Interval {
        points(args).map_or(Interval::WHOLE, |args| Interval::point(self.call(func, &args, out)))
    }
    /// The same for the directional derivative.
    fn enclose_der(&mut self, func: FuncId, args: &[Interval], dargs: &[Interval], out: u32) -> Interval {
        match (points(args), points(dargs)) {
            (Some(args), Some(dargs)) => Interval::point(self.call_der(func, &args, &dargs, out)),
            _ => Interval::WHOLE,
        }
    }
}

/// Runs functions of the model on flattened arguments. The executor is the reference; native code must agree with it
/// bit for bit (the sign of a zero derivative aside).
pub trait Functions {
    /// `out` becomes the flattened outputs of `func` at `args`.
    fn call(&mut self, func: FuncId, args: &[f64], out: &mut Vec<f64>) -> Result<(), ExecError>;
    /// The same with the directional derivatives along `dargs`.
    fn call_dual(
        &mut self,
        func: FuncId,
        args: &[f64],
        dargs: &[f64],
        out: &mut Vec<f64>,
        dout: &mut Vec<f64>,
    ) -> Result<(), ExecError>;
    /// The warnings since the last time.
    fn take_warnings(&mut self) -> Vec<Warning>;
    /// The flattened outputs for all arguments in intervals; `Err` where nothing can be said.
    fn enclose(&mut self, func: FuncId, args: &[Interval]) -> Result<Vec<Interval>, ExecError>;
}

impl Functions for Executor {
    fn call(&mut self, func: FuncId, args: &[f64], out: &mut Vec<f64>) -> Result<(), ExecError> {
        self.call_into(func, args, out)
    }
    fn call_dual(
        &mut self,
        func: FuncId,
        args: &[f64],
        dargs: &[f64],
        out: &mut Vec<f64>,
        dout: &mut Vec<f64>,
    ) -> Result<(), ExecError> {
        Executor::call_dual(self, func, args, dargs, out, dout)
    }
    fn take_warnings(&mut self) -> Vec<Warning> {
        Executor::take_warnings(self)
    }
    fn enclose(&mut self, func: FuncId, args: &[Interval]) -> Result<Vec<Interval>, ExecError> {
        enclose_function(self, func, args)
    }
}

/// Compiles templates and runs batches. The interpreter is the reference; native code must agree with it bit for bit.
pub trait Backend {
    /// The kernel of a template with `holes` holes; compiled on first use. The template must hold no event-generating
    /// node ([`saltus_expr::Node::Relation`] and `EventFloor` are evaluated as their plain counterparts).
    fn kernel(&mut self, pool: &Pool, template: ExprId, holes: usize) -> KernelId;
    /// Makes kernels asked for so far runnable (a JIT finalises its code here). Called before `run`.
    fn finish(&mut self);
    /// Runs a batch over the values. Rows are independent of each other or ordered by dependency; they run in order.
    fn run(&self, batch: &Batch, values: &mut [f64], host: &mut dyn CallHost);
    /// Runs batches in order.
    fn run_chain(&self, chain: &Chain, values: &mut [f64], host: &mut dyn CallHost) {
        for b in chain {
            self.run(b, values, host);
        }
    }
    /// Encloses what a batch computes while the values it reads lie in a region; the results become part of the region. The
    /// array of values holds what the region does not tell, and is not written.
    fn enclose(&self, batch: &Batch, values: &[f64], region: &mut Region, host: &mut dyn CallHost);
    /// What runs the functions that kernels call: the executor, unless the backend knows better.
    fn functions(&self, functions: &[Function]) -> Box<dyn Functions> {
        Box::new(Executor::new(functions))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stencil_is_one_run() {
        // der(x[i]) := x[i-1], x[i], x[i+1], k for i = 1..20, then two rows without a rule.
        let mut words: Vec<u32> = (0..20).flat_map(|i| [100 + i, i, i + 1, (i + 2) | NEGATE, 50]).collect();
        words.extend([7, 1, 2, 3, 50, 3, 9, 9, 9, 9]);
        let rows = Rows::new(words, 5);
        let [run, rest] = rows.runs() else { panic!("{:?}", rows.runs()) };
        assert_eq!((run.start, run.len, run.independent), (0, 20, true));
        assert_eq!(run.pattern[3], Advance::Next { negate: true });
        assert_eq!(run.pattern[4], Advance::Stays { negate: false });
        assert_eq!((rest.start, rest.len, rest.pattern.len()), (20, 2, 0));
    }

    #[test]
    fn a_recurrence_is_not_independent() {
        let rows = Rows::new((0..20).flat_map(|i| [i + 1, i]).collect(), 2);
        assert!(!rows.runs()[0].independent);
        assert_eq!(rows.runs()[0].len, 20);
    }
}
