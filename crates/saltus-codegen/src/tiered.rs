//! The backend for simulation: the tape first, native code for what turns out to run often.

use crate::chain::Joiner;
use crate::functions::NativeFunctions;
use crate::jit::{JitError, LARGEST, Plans};
use crate::native::{Code, Native, host_isa};
use crate::plan::Plan;
use crate::tape::{self, Scratch};
use rustc_hash::FxHashMap;
use saltus_expr::{ExprId, Pool};
use saltus_function::Function;
use saltus_program::{
    Advance, Backend, Batch, CallHost, Chain, ChainState, FEW_ROWS, Functions, KernelId, Region, Run, Seconds, Window,
    slot_of,
};
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::time::Instant;

/// How a kernel is run.
#[derive(Clone, Copy)]
enum Tier {
    /// On the tape; rows run so far.
    Tape(u32),
    Native(Native),
    /// On the tape for good: it could not be compiled.
    Stay,
}

/// Machine code by what it computes, kept while the process lives: a model that is compiled again after a parameter or
/// one of its classes has changed compiles only the templates that are new.
#[derive(Default)]
pub struct CodeStore {
    /// Made when the first kernel gets hot; `Err` if this machine has no native code.
    code: OnceCell<Result<RefCell<Code>, JitError>>,
    kernels: RefCell<FxHashMap<String, Option<Native>>>,
    spent: Cell<[Spent; 2]>,
    /// Tells seconds; the time of day if `None`.
    clock: Cell<Option<fn() -> f64>>,
}

/// Machine code made so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// How many pieces.
    pub pieces: usize,
    /// Operations in them.
    pub operations: usize,
    /// How long it took, in seconds.
    pub seconds: f64,
}

/// What a piece of machine code is.
#[derive(Clone, Copy)]
enum Kind {
    /// A template.
    Kernel,
    /// Joined rows.
    Joined,
}

impl CodeStore {
    /// Number of kernels compiled so far.
    pub fn compiled(&self) -> usize {
        self.spent.get().iter().map(|s| s.pieces).sum()
    }

    /// What compiling has cost so far: kernels of templates, and joined rows.
    pub fn spent(&self) -> [Spent; 2] {
        self.spent.get()
    }

    /// Measures what compiling costs from now on by another clock, one that tells processor time for instance.
    pub fn measure_by(&self, clock: fn() -> f64) {
        self.clock.set(Some(clock));
    }

    fn code(&self) -> Option<&RefCell<Code>> {
        self.code.get_or_init(|| host_isa().map(|isa| RefCell::new(Code::new(isa)))).as_ref().ok()
    }

    /// The code with this key, made if it is not there. `Err` while a kernel is running (a host that runs kernels inside
    /// a call): next time.
    fn get(
        &self,
        key: String,
        (kind, operations): (Kind, usize),
        make: impl FnOnce(&mut Code) -> Option<Native>,
    ) -> Result<Option<Native>, ()> {
        if let Some(known) = self.kernels.borrow().get(&key) {
            return Ok(*known);
        }
        let Some(code) = self.code() else { return Ok(None) };
        let mut code = code.try_borrow_mut().map_err(drop)?;
        let (begun, clock) = (Instant::now(), self.clock.get());
        let since = |t: f64| clock.map_or_else(|| begun.elapsed().as_secs_f64(), |c| c()) - t;
        let start = since(0.0);
        let native = make(&mut code);
        if native.is_some() {
            let mut spent = self.spent.get();
            let s = &mut spent[kind as usize];
            s.pieces += 1;
            s.operations += operations;
            s.seconds += since(start);
            self.spent.set(spent);
        }
        self.kernels.borrow_mut().insert(key, native);
        Ok(native)
    }
}

/// Everything that the code of a plan depends on.
fn content(plan: &Plan) -> String {
    format!("{} {:?} {:?} {:?}", plan.holes, plan.ops, plan.args, plan.results)
}

/// A kernel for runs of one pattern; `None` if it could not be compiled.
struct RunKernel {
    independent: bool,
    pattern: Box<[Advance]>,
    native: Option<Native>,
}

/// Runs a kernel on the tape for its first rows, then compiles it: a short run pays for no compilation, a long one
/// is native after a moment. Results do not depend on when that happens, since the bits are the same.
///
/// On machines Cranelift does not support everything stays on the tape.
pub struct Tiered {
    plans: Plans,
    tiers: RefCell<Vec<Tier>>,
    store: Rc<CodeStore>,
    /// Kernels for runs, by kernel.
    runs: RefCell<Vec<Vec<RunKernel>>>,
    /// Chains compiled so far.
    chains: RefCell<Vec<Rc<[Piece]>>>,
    scratch: Scratch,
    threshold: u32,
    native: Cell<usize>,
}

/// A part of a compiled chain.
enum Piece {
    /// Joined batches.
    Code(Native),
    /// A batch by its number: long ones have loops of their own.
    Batch(usize),
}

/// Operations of one piece of a chain: compiling takes more than proportional time.
const PIECE: usize = 1_000;
/// Operations of a chain that are joined at most.
const JOINED: usize = 60_000;

impl Default for Tiered {
    fn default() -> Self {
        Self::new()
    }
}

impl Tiered {
    /// Rows run on the tape before a kernel is compiled, unless told otherwise.
    pub const THRESHOLD: u32 = 600;

    /// A backend with no kernels yet. Costs nothing until a kernel is compiled.
    pub fn new() -> Tiered {
        Self::with_threshold(Self::THRESHOLD)
    }

    /// The same, with another number of rows on the tape; 0 compiles at the first run.
    pub fn with_threshold(threshold: u32) -> Tiered {
        Self::with_store(Rc::default(), threshold)
    }

    /// The same, with code that is shared with other backends of this thread.
    pub fn with_store(store: Rc<CodeStore>, threshold: u32) -> Tiered {
        Tiered {
            plans: Plans::default(),
            tiers: RefCell::default(),
            store,
            runs: RefCell::default(),
            chains: RefCell::default(),
            scratch: Scratch::default(),
            threshold,
            native: Cell::new(0),
        }
    }

    /// Number of kernels that run as machine code by now.
    pub fn compiled(&self) -> usize {
        self.native.get()
    }

    /// Whether this machine has native code at all (as far as known: not before the first kernel got hot).
    pub fn error(&self) -> Option<&JitError> {
        self.store.code.get().and_then(|c| c.as_ref().err())
    }

    /// The kernel for runs of this pattern, compiled on first use.
    fn run_kernel(&self, k: usize, run: &Run) -> Option<Native> {
        let mut runs = self.runs.borrow_mut();
        if runs.len() <= k {
            runs.resize_with(k + 1, Vec::new);
        }
        let known = runs[k].iter().find(|r| r.independent == run.independent && r.pattern == run.pattern);
        if let Some(known) = known {
            return known.native;
        }
        let plan = &self.plans.plans[k];
        let key = format!("{:?} {} {}", run.pattern, run.independent, content(plan));
        let make = |code: &mut Code| code.compile_run(plan, &run.pattern, run.independent).ok();
        let native = self.store.get(key, (Kind::Kernel, plan.ops.len()), make).ok()?;
        runs[k].push(RunKernel { independent: run.independent, pattern: run.pattern.clone(), native });
        native
    }

    /// Whether joining a chain that has been run `n` times has become worth its price: about half of that price has been
    /// paid already for not having done so.
    fn due(&self, chain: &Chain, n: u32) -> bool {
        // Roughly, in nanoseconds: a step on the tape, in a kernel, joined, and to compile; what a row and a batch cost
        // besides.
        const STEP: [usize; 4] = [8, 1, 1, 6_000];
        const ROW: [usize; 2] = [10, 2];
        const BATCH: usize = 25;
        if self.threshold == 0 {
            return true;
        }
        if n < 128 || !n.is_power_of_two() {
            return false;
        }
        let tiers = self.tiers.borrow();
        let (mut gain, mut price) = (0, 200_000);
        for b in chain.iter().filter(|b| b.rows.len() <= FEW_ROWS) {
            let (rows, steps) = (b.rows.len(), self.plans.plans[b.kernel.0 as usize].ops.len());
            let tier = usize::from(matches!(tiers[b.kernel.0 as usize], Tier::Native(_)));
            gain += BATCH + rows * (ROW[tier] + steps * (STEP[tier].saturating_sub(STEP[2])));
            price += rows * steps * STEP[3];
        }
        n as usize * gain >= price / 2
    }

    /// Cuts a chain into pieces and compiles them. `None` while a kernel is running: next time.
    fn compile_chain(&self, chain: &Chain) -> Option<Rc<[Piece]>> {
        fn flush(store: &CodeStore, joiner: Joiner, from: usize, to: usize, out: &mut Vec<Piece>) -> Option<()> {
            if from == to {
                return Some(());
            }
            let (plan, values) = joiner.finish();
            let make = |code: &mut Code| code.compile_chain(&plan, values).ok();
            match store.get(format!("chain {}", content(&plan)), (Kind::Joined, plan.ops.len()), make).ok()? {
                Some(native) => out.push(Piece::Code(native)),
                None => out.extend((from..to).map(Piece::Batch)),
            }
            Some(())
        }
        let mut out = Vec::new();
        let (mut joiner, mut from, mut joined) = (Joiner::default(), 0, 0);
        for (i, b) in chain.iter().enumerate() {
            let plan = &self.plans.plans[b.kernel.0 as usize];
            let size = plan.ops.len() * b.rows.len();
            let words = b.rows.words();
            let near = words.iter().all(|w| slot_of(*w) < 1 << 27);
            let joins = b.rows.len() <= FEW_ROWS
                && b.rows.stride == plan.holes + 1
                && plan.results.len() == 1
                && plan.holes_declared
                && near
                && size <= PIECE
                && joined + size <= JOINED;
            if !joins || joiner.len() + size > PIECE {
                flush(&self.store, std::mem::take(&mut joiner), from, i, &mut out)?;
                from = i;
            }
            if !joins {
                out.push(Piece::Batch(i));
                from = i + 1;
                continue;
            }
            joined += size;
            for row in words.chunks_exact(b.rows.stride) {
                joiner.row(plan, row);
            }
        }
        flush(&self.store, joiner, from, chain.len(), &mut out)?;
        Some(out.into())
    }

    /// The tier to run `rows` more rows of a kernel in.
    fn promote(&self, k: usize, rows: usize) -> Tier {
        let Tier::Tape(before) = self.tiers.borrow()[k] else { return self.tiers.borrow()[k] };
        let total = before.saturating_add(u32::try_from(rows).unwrap_or(u32::MAX));
        let plan = &self.plans.plans[k];
        // Compiling takes time in proportion to the template, or worse: a large one must run oftener to be worth it.
        let size = u32::try_from(plan.ops.len() / 64).unwrap_or(u32::MAX);
        let tier = if total <= self.threshold.saturating_mul(size.saturating_add(1)) {
            Tier::Tape(total)
        } else if plan.ops.len() > LARGEST {
            Tier::Stay
        } else {
            let make = |code: &mut Code| code.compile(std::iter::once(plan)).pop()?.ok();
            match self.store.get(content(plan), (Kind::Kernel, plan.ops.len()), make) {
                Ok(Some(native)) => {
                    self.native.set(self.native.get() + 1);
                    Tier::Native(native)
                }
                Ok(None) => Tier::Stay,
                Err(()) => Tier::Tape(total),
            }
        };
        self.tiers.borrow_mut()[k] = tier;
        tier
    }

    /// Runs a batch, with results in a window if there is one.
    fn run_to(&self, batch: &Batch, values: &mut [f64], mut window: Option<&mut Window<'_>>, host: &mut dyn CallHost) {
        let k = batch.kernel.0 as usize;
        let plan = &self.plans.plans[k];
        let fits = batch.rows.stride == plan.stride() && batch.rows.results() == plan.results.len();
        match self.promote(k, batch.rows.len()) {
            Tier::Native(native) if fits => {
                for run in batch.rows.runs() {
                    let special = if run.pattern.is_empty() { None } else { self.run_kernel(k, run) };
                    let code = self.store.code().expect("native kernels have code").borrow();
                    match special {
                        Some(kernel) => code.run_run(kernel, run, &batch.rows, values, window.as_deref_mut(), host),
                        None => {
                            let some = run.start..run.start + run.len;
                            code.run_rows(native, &batch.rows, some, values, window.as_deref_mut(), host);
                        }
                    }
                }
            }
            _ => {
                tape::run(plan, &batch.rows, values, host, &self.scratch);
                if let Some(w) = window {
                    w.collect(&batch.rows, values);
                }
            }
        }
    }
}

impl Backend for Tiered {
    fn kernel(&mut self, pool: &Pool, template: ExprId, holes: usize) -> KernelId {
        let id = self.plans.kernel(pool, template, holes);
        self.tiers.get_mut().resize(self.plans.plans.len(), Tier::Tape(0));
        id
    }

    fn calls(&self, kernel: KernelId) -> bool {
        self.plans.plans[kernel.0 as usize].calls()
    }

    fn finish(&mut self) {}

    fn joint(&mut self, pool: &Pool, templates: &[ExprId], holes: usize) -> Option<KernelId> {
        let id = self.plans.joint(pool, templates, holes);
        self.tiers.get_mut().resize(self.plans.plans.len(), Tier::Tape(0));
        Some(id)
    }

    fn run(&self, batch: &Batch, values: &mut [f64], host: &mut dyn CallHost) {
        self.run_to(batch, values, None, host);
    }

    fn run_chain_into(&self, chain: &Chain, values: &mut [f64], mut window: Window<'_>, host: &mut dyn CallHost) {
        chain.iter().for_each(|b| self.run_to(b, values, Some(&mut window), host));
    }

    fn run_chain(&self, chain: &Chain, values: &mut [f64], host: &mut dyn CallHost) {
        let pieces = match chain.state.get() {
            ChainState::Cold(n) if !self.due(chain, n + 1) => {
                chain.state.set(ChainState::Cold(n.saturating_add(1)));
                None
            }
            ChainState::Cold(_) => self.compile_chain(chain).inspect(|pieces| {
                let mut chains = self.chains.borrow_mut();
                chain.state.set(ChainState::Compiled(chains.len() as u32));
                chains.push(pieces.clone());
            }),
            ChainState::Compiled(id) => Some(self.chains.borrow()[id as usize].clone()),
        };
        let Some(pieces) = pieces else {
            chain.iter().for_each(|b| self.run(b, values, host));
            return;
        };
        for p in pieces.iter() {
            match p {
                Piece::Batch(i) => self.run(&chain[*i], values, host),
                Piece::Code(native) => {
                    let code = self.store.code().expect("native chains have code").borrow();
                    code.run_chain(*native, values, host);
                }
            }
        }
    }

    fn enclose(&self, batch: &Batch, values: &[f64], region: &mut Region, host: &mut dyn CallHost) {
        tape::enclose(&self.plans.plans[batch.kernel.0 as usize], &batch.rows, values, region, host);
    }

    fn functions(&self, functions: &[Function]) -> Box<dyn Functions> {
        Box::new(Seconds::new(functions, NativeFunctions::new))
    }
}
