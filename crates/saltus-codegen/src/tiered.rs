//! The backend for simulation: the tape first, native code for what turns out to run often.

use crate::jit::{JitError, LARGEST, Plans};
use crate::native::{Code, Native, host_isa};
use crate::tape::{self, Scratch};
use saltus_expr::{ExprId, Pool};
use saltus_program::{Backend, Batch, CallHost, KernelId};
use std::cell::{Cell, OnceCell, RefCell};

/// How a kernel is run.
#[derive(Clone, Copy)]
enum Tier {
    /// On the tape; rows run so far.
    Tape(u32),
    Native(Native),
    /// On the tape for good: it could not be compiled.
    Stay,
}

/// Runs a kernel on the tape for its first rows, then compiles it: a short run pays for no compilation, a long one
/// is native after a moment. Results do not depend on when that happens, since the bits are the same.
///
/// On machines Cranelift does not support everything stays on the tape.
pub struct Tiered {
    plans: Plans,
    tiers: RefCell<Vec<Tier>>,
    /// Made when the first kernel gets hot; `Err` if this machine has no native code.
    code: OnceCell<Result<RefCell<Code>, JitError>>,
    scratch: Scratch,
    threshold: u32,
    compiled: Cell<usize>,
}

impl Default for Tiered {
    fn default() -> Self {
        Self::new()
    }
}

impl Tiered {
    /// Rows run on the tape before a kernel is compiled, unless told otherwise.
    pub const THRESHOLD: u32 = 200;

    /// A backend with no kernels yet. Costs nothing until a kernel is compiled.
    pub fn new() -> Tiered {
        Self::with_threshold(Self::THRESHOLD)
    }

    /// The same, with another number of rows on the tape; 0 compiles at the first run.
    pub fn with_threshold(threshold: u32) -> Tiered {
        Tiered {
            plans: Plans::default(),
            tiers: RefCell::default(),
            code: OnceCell::new(),
            scratch: Scratch::default(),
            threshold,
            compiled: Cell::new(0),
        }
    }

    /// Number of kernels that run as machine code by now.
    pub fn compiled(&self) -> usize {
        self.compiled.get()
    }

    /// Whether this machine has native code at all (as far as known: not before the first kernel got hot).
    pub fn error(&self) -> Option<&JitError> {
        self.code.get().and_then(|c| c.as_ref().err())
    }

    fn code(&self) -> Option<&RefCell<Code>> {
        self.code.get_or_init(|| host_isa().map(|isa| RefCell::new(Code::new(isa)))).as_ref().ok()
    }

    /// The tier to run `rows` more rows of a kernel in.
    fn promote(&self, k: usize, rows: usize) -> Tier {
        let Tier::Tape(before) = self.tiers.borrow()[k] else { return self.tiers.borrow()[k] };
        let total = before.saturating_add(u32::try_from(rows).unwrap_or(u32::MAX));
        let plan = &self.plans.plans[k];
        let tier = if total <= self.threshold {
            Tier::Tape(total)
        } else if plan.ops.len() > LARGEST {
            Tier::Stay
        } else {
            // A kernel running right now (a host that runs kernels inside a call) has the code borrowed: next time.
            match self.code().map(|c| c.try_borrow_mut()) {
                Some(Ok(mut code)) => match code.compile(std::iter::once(plan)).pop() {
                    Some(Ok(native)) => {
                        self.compiled.set(self.compiled.get() + 1);
                        Tier::Native(native)
                    }
                    _ => Tier::Stay,
                },
                Some(Err(_)) => Tier::Tape(total),
                None => Tier::Stay,
            }
        };
        self.tiers.borrow_mut()[k] = tier;
        tier
    }
}

impl Backend for Tiered {
    fn kernel(&mut self, pool: &Pool, template: ExprId, holes: usize) -> KernelId {
        let id = self.plans.kernel(pool, template, holes);
        self.tiers.get_mut().resize(self.plans.plans.len(), Tier::Tape(0));
        id
    }

    fn finish(&mut self) {}

    fn run(&self, batch: &Batch, values: &mut [f64], host: &mut dyn CallHost) {
        let k = batch.kernel.0 as usize;
        let plan = &self.plans.plans[k];
        let fits = batch.rows.stride == plan.holes + 1;
        match self.promote(k, batch.rows.len()) {
            Tier::Native(native) if fits => {
                let code = self.code().expect("native kernels have code").borrow();
                code.run(native, &batch.rows, values, host);
            }
            _ => tape::run(plan, &batch.rows, values, host, &self.scratch),
        }
    }
}
