//! The native backend: every kernel compiled at `finish`.

use crate::native::{Code, Native, host_isa};
use crate::plan::Plan;
use crate::tape::{self, Scratch};
use cranelift_codegen::isa::OwnedTargetIsa;
use rustc_hash::FxHashMap;
use saltus_expr::{ExprId, Pool};
use saltus_program::{Backend, Batch, CallHost, KernelId, Region};
use std::fmt;

/// Why native code is not available.
#[derive(Clone, Debug)]
pub struct JitError(pub(crate) String);

impl fmt::Display for JitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no native code: {}", self.0)
    }
}

impl std::error::Error for JitError {}

/// Templates of more steps than this stay on the tape: compiling them would take longer than they save.
pub(crate) const LARGEST: usize = 5_000;

/// Plans by template, shared by the backends of this crate.
#[derive(Default)]
pub(crate) struct Plans {
    pub plans: Vec<Plan>,
    index: FxHashMap<(Box<[ExprId]>, usize), KernelId>,
}

impl Plans {
    /// The kernel of a template; planned on first use.
    pub fn kernel(&mut self, pool: &Pool, template: ExprId, holes: usize) -> KernelId {
        self.joint(pool, &[template], holes)
    }

    /// The kernel of several templates over the same holes.
    pub fn joint(&mut self, pool: &Pool, templates: &[ExprId], holes: usize) -> KernelId {
        *self.index.entry((templates.into(), holes)).or_insert_with(|| {
            self.plans.push(Plan::joint(pool, templates, holes));
            KernelId(self.plans.len() as u32 - 1)
        })
    }
}

/// Runs kernels as machine code, compiled in one batch by [`Backend::finish`].
///
/// Kernels not compiled (asked for after the last `finish`, or larger than is worth compiling) run on the tape with
/// the same results. Ids are those of one pool: a `Jit` must not be asked for templates of two pools.
///
/// ```
/// use saltus_codegen::Jit;
/// use saltus_program::{Backend, Batch, CallHost, Rows};
/// struct NoCalls;
/// impl CallHost for NoCalls {
///     fn call(&mut self, _: saltus_expr::FuncId, _: &[f64], _: u32) -> f64 { f64::NAN }
///     fn call_der(&mut self, _: saltus_expr::FuncId, _: &[f64], _: &[f64], _: u32) -> f64 { f64::NAN }
/// }
/// let mut pool = saltus_expr::Pool::new();
/// let (x, y) = (pool.hole(0), pool.hole(1));
/// let product = pool.mul(x, y);
/// let mut jit = Jit::new()?;
/// let kernel = jit.kernel(&pool, product, 2);
/// jit.finish();
/// let mut values = [0.0, 3.0, 7.0];
/// jit.run(&Batch { kernel, rows: Rows::new(vec![0, 1, 2], 3) }, &mut values, &mut NoCalls);
/// assert_eq!(values[0], 21.0);
/// # Ok::<(), saltus_codegen::JitError>(())
/// ```
pub struct Jit {
    plans: Plans,
    natives: Vec<Option<Native>>,
    /// Made by the first `finish` that has something to compile.
    code: Option<Code>,
    isa: OwnedTargetIsa,
    scratch: Scratch,
}

impl Jit {
    /// A backend for this machine, with no kernels yet; `Err` if Cranelift does not support the machine.
    pub fn new() -> Result<Jit, JitError> {
        let isa = host_isa()?;
        Ok(Jit { plans: Plans::default(), natives: Vec::new(), code: None, isa, scratch: Scratch::default() })
    }

    /// Whether a kernel runs as machine code.
    pub fn is_native(&self, kernel: KernelId) -> bool {
        matches!(self.natives.get(kernel.0 as usize), Some(Some(_)))
    }
}

impl Backend for Jit {
    fn kernel(&mut self, pool: &Pool, template: ExprId, holes: usize) -> KernelId {
        self.plans.kernel(pool, template, holes)
    }

    fn calls(&self, kernel: KernelId) -> bool {
        self.plans.plans[kernel.0 as usize].calls()
    }

    fn finish(&mut self) {
        let new = &self.plans.plans[self.natives.len()..];
        if new.is_empty() {
            return;
        }
        let small = |p: &&Plan| p.ops.len() <= LARGEST;
        let code = self.code.get_or_insert_with(|| Code::new(self.isa.clone()));
        let mut compiled = code.compile(new.iter().filter(small)).into_iter();
        let natives = new.iter().map(|p| if small(&p) { compiled.next()?.ok() } else { None });
        self.natives.extend(natives);
    }

    fn run(&self, batch: &Batch, values: &mut [f64], host: &mut dyn CallHost) {
        let k = batch.kernel.0 as usize;
        let plan = &self.plans.plans[k];
        match (&self.code, self.natives.get(k)) {
            (Some(code), Some(Some(native))) if batch.rows.stride == plan.stride() => {
                code.run(*native, &batch.rows, values, host);
            }
            _ => tape::run(plan, &batch.rows, values, host, &self.scratch),
        }
    }

    fn enclose(&self, batch: &Batch, values: &[f64], region: &mut Region, host: &mut dyn CallHost) {
        tape::enclose(&self.plans.plans[batch.kernel.0 as usize], &batch.rows, values, region, host);
    }
}
