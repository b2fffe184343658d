//! Kernels, index words, batches, and what a backend must do.

use crate::enclose::{Interval, Region, enclose_function, points};
use crate::seconds::Seconds;
use rustc_hash::FxHashMap;
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

/// Index words of the rows of a batch, `stride` words a row: destination first (destinations, if the kernel is a joint one),
/// then one word per hole.
#[derive(Clone, Debug)]
pub struct Rows {
    words: Vec<u32>,
    /// Words per row (1 + number of holes).
    pub stride: usize,
    /// Destinations among them.
    results: usize,
    /// Found when first asked for.
    runs: OnceCell<Box<[Run]>>,
    top: OnceCell<usize>,
}

/// Successive rows whose words are affine in the row: a stencil on a grid needs its first row only.
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
pub struct Advance {
    /// By how many slots it moves on; zero if it stays.
    pub by: i32,
    /// Whether the value is negated.
    pub negate: bool,
}

impl Advance {
    /// Steps further than this follow no rule worth a kernel.
    const FURTHEST: i64 = 1 << 20;

    /// From one word to the next.
    fn between(x: u32, y: u32) -> Option<Advance> {
        let by = slot_of(y) as i64 - slot_of(x) as i64;
        let negate = x & NEGATE != 0;
        (negate == (y & NEGATE != 0) && by.abs() <= Self::FURTHEST).then_some(Advance { by: by as i32, negate })
    }

    /// The slots of `len` rows, first and last, given the word of the first; `None` below the first slot.
    pub fn reach(self, word: u32, len: usize) -> Option<(usize, usize)> {
        let first = slot_of(word) as i64;
        let last = first + i64::from(self.by) * (len.max(1) as i64 - 1);
        let (low, high) = (first.min(last), first.max(last));
        Some((usize::try_from(low).ok()?, usize::try_from(high).ok()?))
    }

    /// Whether nothing of `len` rows that this word names is written by another row; `to` is how destinations move, from
    /// `dest` on.
    fn apart(self, word: u32, (to, dest): (Advance, u32), len: usize) -> bool {
        let gap = slot_of(word) as i64 - slot_of(dest) as i64;
        let by = i64::from(to.by);
        if to.by == self.by && (gap == 0 || gap % by != 0 || (gap / by).unsigned_abs() >= len as u64) {
            return true;
        }
        match (self.reach(word, len), to.reach(dest, len)) {
            (Some(read), Some(written)) => read.1 < written.0 || read.0 > written.1,
            _ => false,
        }
    }
}

impl Rows {
    /// Rows of `stride` words each.
    pub fn new(words: Vec<u32>, stride: usize) -> Rows {
        Self::joint(words, stride, 1)
    }

    /// Rows of a joint kernel: `stride` words each, the first `results` of them destinations.
    pub fn joint(words: Vec<u32>, stride: usize, results: usize) -> Rows {
        Rows { words, stride, results, runs: OnceCell::new(), top: OnceCell::new() }
    }

    /// Destinations of a row.
    pub fn results(&self) -> usize {
        self.results
    }

    /// All words.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Appends the rows of others.
    pub fn extend(&mut self, others: &Rows) {
        self.push(&others.words);
    }

    /// Appends the words of rows.
    pub fn push(&mut self, words: &[u32]) {
        self.words.extend_from_slice(words);
        (self.runs, self.top) = (OnceCell::new(), OnceCell::new());
    }

    /// One more than the last slot that is named.
    pub fn top(&self) -> usize {
        *self.top.get_or_init(|| self.words.iter().map(|w| slot_of(*w) + 1).max().unwrap_or(0))
    }

    /// The rows cut into runs; rows that follow no rule are runs without a pattern.
    pub fn runs(&self) -> &[Run] {
        self.runs.get_or_init(|| find_runs(&self.words, self.stride, self.results))
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

fn find_runs(words: &[u32], stride: usize, results: usize) -> Box<[Run]> {
    let n = words.len().checked_div(stride).unwrap_or(0);
    let row = |r: usize| &words[r * stride..][..stride];
    let mut out: Vec<Run> = Vec::new();
    let mut plain = 0;
    let mut at = 0;
    while at < n {
        // As far as every word moves as it did before; destinations do move.
        let mut len = 1;
        let mut pattern: Vec<Advance> = Vec::new();
        while at + len < n {
            let (a, b) = (row(at + len - 1), row(at + len));
            let same = |(k, (x, y)): (usize, (&u32, &u32))| {
                Advance::between(*x, *y).filter(|p| if len == 1 { k >= results || p.by != 0 } else { *p == pattern[k] })
            };
            let next: Option<Vec<Advance>> = a.iter().zip(b).enumerate().map(same).collect();
            let Some(next) = next else { break };
            pattern = next;
            len += 1;
        }
        if len < SHORTEST {
            // The last row may begin another run.
            let over = (len - 1).max(1);
            plain += over;
            at += over;
            continue;
        }
        if plain > 0 {
            out.push(Run { start: at - plain, len: plain, pattern: Box::default(), independent: false });
            plain = 0;
        }
        let first = row(at);
        let apart = |(w, p): (&u32, &Advance)| (0..results).all(|k| p.apart(*w, (pattern[k], first[k]), len));
        let independent = first.iter().zip(&pattern).skip(results).all(apart);
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
pub const FEW_ROWS: usize = 32;

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

    /// Brings rows of one kernel together, where there are enough of them for a loop of their own and where what they read and
    /// write allows it; rows of other kernels, and of those that `stays` names, keep their order.
    ///
    /// ```text
    /// a1 := f(x1); b1 := g(a1); a2 := f(x2); b2 := g(a2)   ⇒   a1 := f(x1); a2 := f(x2); b1 := g(a1); b2 := g(a2)
    /// ```
    pub fn gathered(self, stays: impl Fn(KernelId) -> bool) -> Chain {
        let mut count: FxHashMap<KernelId, usize> = FxHashMap::default();
        self.batches.iter().for_each(|b| *count.entry(b.kernel).or_insert(0) += b.rows.len());
        count.retain(|k, n| *n > FEW_ROWS && !stays(*k));
        if self.batches.iter().filter(|b| count.contains_key(&b.kernel)).count() == count.len() {
            return self;
        }
        // Per slot: one more than the batch that wrote it last, and than the last one that read it.
        let mut touched: FxHashMap<u32, (usize, usize)> = FxHashMap::default();
        let mut last: FxHashMap<KernelId, usize> = FxHashMap::default();
        let mut out: Vec<Batch> = Vec::new();
        for (kernel, row) in self.rows() {
            let seen = |w: &u32| touched.get(&(slot_of(*w) as u32)).copied().unwrap_or_default();
            let (written, read) = seen(&row[0]);
            let earliest = row[1..].iter().map(|w| seen(w).0).fold(written.max(read), usize::max);
            let at = match last.get(&kernel) {
                Some(&b) if b + 1 >= earliest && (count.contains_key(&kernel) || b + 1 == out.len()) => b,
                _ => {
                    out.push(Batch { kernel, rows: Rows::new(Vec::new(), row.len()) });
                    out.len() - 1
                }
            };
            last.insert(kernel, at);
            out[at].rows.push(row);
            row[1..].iter().for_each(|w| {
                let t = touched.entry(slot_of(*w) as u32).or_default();
                t.1 = t.1.max(at + 1);
            });
            touched.entry(slot_of(row[0]) as u32).or_default().0 = at + 1;
        }
        Chain::from(out)
    }

    /// All slots that are read.
    pub fn reads(&self) -> impl Iterator<Item = u32> {
        self.batches.iter().flat_map(|b| {
            let rows = b.rows.words.chunks_exact(b.rows.stride.max(1));
            rows.flat_map(|row| &row[b.rows.results..]).map(|w| slot_of(*w) as u32)
        })
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

/// Where results go instead of the values: what would become `values[base + k]` becomes `to[k]`.
pub struct Window<'a> {
    /// The slot of the first.
    pub base: usize,
    /// The results.
    pub to: &'a mut [f64],
}

impl Window<'_> {
    /// Takes over what rows have written to the values.
    pub fn collect(&mut self, rows: &Rows, values: &[f64]) {
        for row in rows.words.chunks_exact(rows.stride.max(1)) {
            for w in &row[..rows.results] {
                self.to[slot_of(*w) - self.base] = values[slot_of(*w)];
            }
        }
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
    /// Whether equal arguments may give other results at another event.
    fn has_effects(&self, func: FuncId) -> bool;
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
    fn has_effects(&self, func: FuncId) -> bool {
        Executor::has_effects(self, func)
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
    /// One kernel for several templates over the same holes, which computes what they share once; `None` where that brings
    /// nothing.
    fn joint(&mut self, _pool: &Pool, _templates: &[ExprId], _holes: usize) -> Option<KernelId> {
        None
    }
    /// Whether a kernel may call functions: then the order of its rows counts.
    fn calls(&self, _: KernelId) -> bool {
        true
    }
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
    /// The same with results in a window, where all of them belong; the values there are lost.
    fn run_chain_into(&self, chain: &Chain, values: &mut [f64], mut window: Window<'_>, host: &mut dyn CallHost) {
        self.run_chain(chain, values, host);
        chain.iter().for_each(|b| window.collect(&b.rows, values));
    }
    /// Encloses what a batch computes while the values it reads lie in a region; the results become part of the region. The
    /// array of values holds what the region does not tell, and is not written.
    fn enclose(&self, batch: &Batch, values: &[f64], region: &mut Region, host: &mut dyn CallHost);
    /// What runs the functions that kernels call: the executor, unless the backend knows better.
    fn functions(&self, functions: &[Function]) -> Box<dyn Functions> {
        Box::new(Seconds::new(functions, Executor::new))
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
        assert_eq!(run.pattern[3], Advance { by: 1, negate: true });
        assert_eq!(run.pattern[4], Advance { by: 0, negate: false });
        assert_eq!((rest.start, rest.len, rest.pattern.len()), (20, 2, 0));
    }

    #[test]
    fn strides_and_what_they_write() {
        // A row of one rule, then y[2i] := x[2i + 1] backwards, in one array.
        let mut words = vec![7, 3];
        words.extend((0..20).flat_map(|i| [100 - 2 * i, 101 - 2 * i]));
        let rows = Rows::new(words, 2);
        let [rest, run] = rows.runs() else { panic!("{:?}", rows.runs()) };
        assert_eq!((rest.len, run.start, run.len, run.independent), (1, 1, 20, true));
        assert_eq!(run.pattern[0].by, -2);
        assert_eq!(run.pattern[0].reach(100, 20), Some((62, 100)));
        assert_eq!(run.pattern[0].reach(10, 20), None);
        // Each reads what the second row after it has written, or the second before it.
        for gap in [0i32, 4, -4] {
            let rows = Rows::new((0..20).flat_map(|i| [100 + 2 * i, (100 + 2 * i as i32 + gap) as u32]).collect(), 2);
            assert_eq!(rows.runs()[0].independent, gap == 0);
        }
    }

    #[test]
    fn rows_of_one_kernel_come_together_if_nothing_forbids_it() {
        let batch = |kernel, words: &[u32]| Batch { kernel: KernelId(kernel), rows: Rows::new(words.to_vec(), 2) };
        let order = |c: &Chain| c.iter().map(|b| (b.kernel.0, b.rows.len())).collect::<Vec<_>>();
        // a[i] := f(x[i]); b[i] := g(a[i])
        let pairs: Chain = (0..40).flat_map(|i| [batch(0, &[100 + i, i]), batch(1, &[200 + i, 100 + i])]).collect();
        assert_eq!(order(&pairs.clone().gathered(|_| false)), [(0, 40), (1, 40)]);
        assert_eq!(order(&pairs.clone().gathered(|k| k.0 == 0)).len(), 80, "the rows that stay do so");
        // a[i] := f(b[i - 1]); b[i] := g(a[i])
        let wound: Chain =
            (1..40).flat_map(|i| [batch(0, &[100 + i, 199 + i]), batch(1, &[200 + i, 100 + i])]).collect();
        assert_eq!(wound.clone().gathered(|_| false).len(), wound.len());
        // One value after the other in the same place.
        let reused: Chain = (0..40).flat_map(|i| [batch(0, &[50, i]), batch(1, &[200 + i, 50])]).collect();
        assert_eq!(reused.clone().gathered(|_| false).len(), reused.len());
    }

    #[test]
    fn a_recurrence_is_not_independent() {
        let rows = Rows::new((0..20).flat_map(|i| [i + 1, i]).collect(), 2);
        assert!(!rows.runs()[0].independent);
        assert_eq!(rows.runs()[0].len, 20);
    }
}
