//! Kernels, index words, batches, and what a backend must do.

use saltus_expr::{ExprId, FuncId, Pool};

/// Set in an index word whose value is to be negated when loaded.
pub const NEGATE: u32 = 1 << 31;

/// The slot of an index word.
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
}

impl Rows {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.words.len().checked_div(self.stride).unwrap_or(0)
    }
    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

/// One kernel over some rows.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The kernel.
    pub kernel: KernelId,
    /// Its rows, run in order.
    pub rows: Rows,
}

/// Evaluates function calls met inside kernels. Errors are kept by the host (the call then gives NaN) and asked for
/// after the batch.
pub trait CallHost {
    /// Output `out` of `func` at `args`.
    fn call(&mut self, func: FuncId, args: &[f64], out: u32) -> f64;
    /// Directional derivative of output `out` at `args` along `dargs`.
    fn call_der(&mut self, func: FuncId, args: &[f64], dargs: &[f64], out: u32) -> f64;
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
}
