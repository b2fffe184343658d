//! The unsafe part: the module that owns machine code, the call into it, and the calls back out of it.
//!
//! What makes it sound:
//! - a [`Native`] kernel is only run through [`Code::run`], which holds the module alive and checks the row stride
//!   and every index word against the values before entering it;
//! - kernels write `to[destination]` only, read `values` and `words` only, and keep no pointer;
//! - a call back into the host goes through [`HostRef`], which lives on the stack of [`Code::run`]; a panic of the host
//!   is carried around the native frames, never through them.

use crate::emit;
use crate::jit::JitError;
use crate::plan::Plan;
use crate::scalar::Imports;
use cranelift_codegen::Context;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId as ModuleFunc, Module, default_libcall_names};
use saltus_expr::{Binary, FuncId, Unary, binary, unary};
use saltus_program::{Advance, CallHost, Rows, Run, Window, slot_of};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The signature of a compiled kernel; results go to `to`, which are the values themselves unless told otherwise.
type Entry =
    unsafe extern "C" fn(values: *mut f64, words: *const u32, rows: usize, host: *mut HostRef<'_>, to: *mut f64);

/// A compiled kernel, valid as long as the [`Code`] it came from.
#[derive(Clone, Copy)]
pub(crate) struct Native {
    entry: Entry,
    /// Words of a row; for a chain, the number of values it needs.
    stride: usize,
}

/// The host of a running batch, and the panic it ended in, if any.
pub(crate) struct HostRef<'a> {
    host: &'a mut dyn CallHost,
    panic: Option<Box<dyn Any + Send>>,
}

// The elementary functions of the C library, which those of the standard library are: called without a detour.
unsafe extern "C" {
    safe fn exp(a: f64) -> f64;
    safe fn log(a: f64) -> f64;
    safe fn log10(a: f64) -> f64;
    safe fn sin(a: f64) -> f64;
    safe fn cos(a: f64) -> f64;
    safe fn tan(a: f64) -> f64;
    safe fn asin(a: f64) -> f64;
    safe fn acos(a: f64) -> f64;
    safe fn atan(a: f64) -> f64;
    safe fn sinh(a: f64) -> f64;
    safe fn cosh(a: f64) -> f64;
    safe fn tanh(a: f64) -> f64;
    safe fn atan2(a: f64, b: f64) -> f64;
}

extern "C" fn pow(a: f64, b: f64) -> f64 {
    binary(Binary::Pow, a, b)
}
// What Cranelift calls on processors without rounding instructions.
extern "C" fn floor(a: f64) -> f64 {
    unary(Unary::Floor, a)
}
extern "C" fn ceil(a: f64) -> f64 {
    unary(Unary::Ceil, a)
}
extern "C" fn trunc(a: f64) -> f64 {
    unary(Unary::Trunc, a)
}

/// Address of each function native code may call.
pub(crate) fn symbols() -> Vec<(&'static str, *const u8)> {
    vec![
        ("saltus_exp", exp as *const u8),
        ("saltus_log", log as *const u8),
        ("saltus_log10", log10 as *const u8),
        ("saltus_sin", sin as *const u8),
        ("saltus_cos", cos as *const u8),
        ("saltus_tan", tan as *const u8),
        ("saltus_asin", asin as *const u8),
        ("saltus_acos", acos as *const u8),
        ("saltus_atan", atan as *const u8),
        ("saltus_sinh", sinh as *const u8),
        ("saltus_cosh", cosh as *const u8),
        ("saltus_tanh", tanh as *const u8),
        ("saltus_atan2", atan2 as *const u8),
        ("saltus_pow", pow as *const u8),
        ("floor", floor as *const u8),
        ("ceil", ceil as *const u8),
        ("trunc", trunc as *const u8),
        (emit::CALL, call as *const u8),
        (emit::CALL_DER, call_der as *const u8),
    ]
}

/// # Safety
/// `host` is the pointer the running kernel was given; `args` points to `n` numbers.
unsafe extern "C" fn call(host: *mut HostRef<'_>, func: u32, out: u32, args: *const f64, n: usize) -> f64 {
    // SAFETY: by the contract above; the kernel holds no reference to either while it calls.
    let (host, args) = unsafe { (&mut *host, std::slice::from_raw_parts(args, n)) };
    host.guard(|h| h.call(FuncId(func), args, out))
}

/// # Safety
/// `host` is the pointer the running kernel was given; `args` points to `2 n` numbers.
unsafe extern "C" fn call_der(host: *mut HostRef<'_>, func: u32, out: u32, args: *const f64, n: usize) -> f64 {
    // SAFETY: by the contract above; the kernel holds no reference to either while it calls.
    let (host, args) = unsafe { (&mut *host, std::slice::from_raw_parts(args, 2 * n)) };
    host.guard(|h| h.call_der(FuncId(func), &args[..n], &args[n..], out))
}

impl HostRef<'_> {
    /// After a panic, the remaining calls of the batch give NaN at once.
    fn guard(&mut self, f: impl FnOnce(&mut dyn CallHost) -> f64) -> f64 {
        if self.panic.is_some() {
            return f64::NAN;
        }
        let host = &mut *self.host;
        catch_unwind(AssertUnwindSafe(|| f(host))).unwrap_or_else(|p| {
            self.panic = Some(p);
            f64::NAN
        })
    }
}

/// The instruction set of this machine, set up for kernels.
pub(crate) fn host_isa() -> Result<OwnedTargetIsa, JitError> {
    // The plan shares and orders already. Measured against "speed": half the compile time, the same or faster code,
    // and time linear in the size of the template ("speed" reorders arithmetic to where it is used, which keeps all
    // operands of a long sum alive at once).
    isa("none")
}

/// The same for functions, whose loops are worth more.
pub(crate) fn function_isa() -> Result<OwnedTargetIsa, JitError> {
    isa("speed")
}

fn isa(opt_level: &str) -> Result<OwnedTargetIsa, JitError> {
    let fail = |e: &dyn std::fmt::Display| JitError(e.to_string());
    let mut flags = settings::builder();
    let verify = if cfg!(debug_assertions) { "true" } else { "false" };
    for (name, value) in [
        ("opt_level", opt_level),
        ("is_pic", "false"),
        ("use_colocated_libcalls", "false"),
        ("unwind_info", "false"),
        ("enable_verifier", verify),
        // Kernels with very many live values have large frames.
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
    ] {
        flags.set(name, value).map_err(|e| fail(&e))?;
    }
    let builder = cranelift_native::builder().map_err(|e| fail(&e))?;
    builder.finish(settings::Flags::new(flags)).map_err(|e| fail(&e))
}

/// Machine code of kernels, and the means to make more.
pub(crate) struct Code {
    /// `None` only while dropping.
    module: Option<JITModule>,
    context: Context,
    builder: FunctionBuilderContext,
    imports: Imports,
}

impl Code {
    pub fn new(isa: OwnedTargetIsa) -> Code {
        let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
        builder.symbols(symbols());
        let module = JITModule::new(builder);
        let context = module.make_context();
        Code { module: Some(module), context, builder: FunctionBuilderContext::new(), imports: Default::default() }
    }

    /// Compiles plans; an `Err` is a plan that must stay on the tape.
    pub fn compile<'a>(&mut self, plans: impl Iterator<Item = &'a Plan>) -> Vec<Result<Native, JitError>> {
        let module = self.module.as_mut().expect("module lives until drop");
        let mut ids: Vec<Result<(ModuleFunc, usize), JitError>> = Vec::new();
        for plan in plans {
            module.clear_context(&mut self.context);
            let made = emit::kernel(plan, module, &mut self.context.func, &mut self.builder, &mut self.imports)
                .and_then(|()| {
                    let id = module
                        .declare_anonymous_function(&self.context.func.signature)
                        .map_err(|e| JitError(e.to_string()))?;
                    module.define_function(id, &mut self.context).map_err(|e| JitError(format!("{e:?}")))?;
                    Ok((id, plan.stride()))
                });
            ids.push(made);
        }
        module.clear_context(&mut self.context);
        if let Err(e) = module.finalize_definitions() {
            return ids.iter().map(|_| Err(JitError(e.to_string()))).collect();
        }
        ids.into_iter()
            .map(|made| {
                let (id, stride) = made?;
                let address = module.get_finalized_function(id);
                // SAFETY: the function was defined with the signature of `Entry` and is finalised.
                let entry = unsafe { std::mem::transmute::<*const u8, Entry>(address) };
                Ok(Native { entry, stride })
            })
            .collect()
    }

    /// Compiles joined rows; `values` is how many values they name.
    pub fn compile_chain(&mut self, plan: &Plan, values: usize) -> Result<Native, JitError> {
        let module = self.module.as_mut().expect("module lives until drop");
        module.clear_context(&mut self.context);
        emit::chain(plan, module, &mut self.context.func, &mut self.builder, &mut self.imports)?;
        let fail = |e: &dyn std::fmt::Debug| JitError(format!("{e:?}"));
        let id = module.declare_anonymous_function(&self.context.func.signature).map_err(|e| fail(&e))?;
        module.define_function(id, &mut self.context).map_err(|e| fail(&e))?;
        module.finalize_definitions().map_err(|e| fail(&e))?;
        let address = module.get_finalized_function(id);
        // SAFETY: the function was defined with the signature of `Entry` and is finalised.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(address) };
        Ok(Native { entry, stride: values })
    }

    /// Runs code made by [`Code::compile_chain`].
    ///
    /// # Panics
    /// If there are fewer values than it names.
    pub fn run_chain(&self, chain: Native, values: &mut [f64], host: &mut dyn CallHost) {
        assert!(values.len() >= chain.stride, "a chain names values that are not there");
        let mut host = HostRef { host, panic: None };
        // SAFETY: the code is alive (`self` owns it) and names the first `stride` values only.
        let values = values.as_mut_ptr();
        unsafe { (chain.entry)(values, std::ptr::null(), 0, &mut host, values) };
        if let Some(panic) = host.panic {
            resume_unwind(panic);
        }
    }

    /// Compiles a plan for runs of one pattern.
    pub fn compile_run(&mut self, plan: &Plan, pattern: &[Advance], independent: bool) -> Result<Native, JitError> {
        let module = self.module.as_mut().expect("module lives until drop");
        module.clear_context(&mut self.context);
        let (func, builder) = (&mut self.context.func, &mut self.builder);
        emit::run_kernel(plan, pattern, independent, module, func, builder, &mut self.imports)?;
        let fail = |e: &dyn std::fmt::Debug| JitError(format!("{e:?}"));
        let id = module.declare_anonymous_function(&self.context.func.signature).map_err(|e| fail(&e))?;
        module.define_function(id, &mut self.context).map_err(|e| fail(&e))?;
        module.finalize_definitions().map_err(|e| fail(&e))?;
        let address = module.get_finalized_function(id);
        // SAFETY: the function was defined with the signature of `Entry` and is finalised.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(address) };
        Ok(Native { entry, stride: plan.stride() })
    }

    /// Runs a kernel made by [`Code::compile_run`] for the pattern of this run.
    ///
    /// # Panics
    /// If the rows do not have the kernel's stride or a word names no value.
    pub fn run_run(
        &self,
        kernel: Native,
        run: &Run,
        rows: &Rows,
        values: &mut [f64],
        window: Option<&mut Window<'_>>,
        host: &mut dyn CallHost,
    ) {
        assert_eq!(rows.stride, kernel.stride, "row stride differs from the kernel's");
        let first = &rows.words()[run.start * rows.stride..][..rows.stride];
        let reach = |k: usize| run.pattern[k].reach(first[k], run.len);
        let inside = (0..first.len()).all(|k| reach(k).is_some_and(|r| r.1 < values.len()));
        let to = target(values, window, |low, high| {
            (0..rows.results()).all(|k| reach(k).is_some_and(|r| low <= r.0 && r.1 < high))
        });
        assert!(inside && run.pattern.len() == rows.stride && run.len > 0, "index word outside the values");
        let mut host = HostRef { host, panic: None };
        // SAFETY: the code is alive (`self` owns it), and every value from the first to the last row's is there.
        unsafe { (kernel.entry)(values.as_mut_ptr(), first.as_ptr(), run.len, &mut host, to) };
        if let Some(panic) = host.panic {
            resume_unwind(panic);
        }
    }

    /// Runs a kernel made by this `Code` over all rows.
    ///
    /// # Panics
    /// If the rows do not have the kernel's stride or a word names no value.
    pub fn run(&self, kernel: Native, rows: &Rows, values: &mut [f64], host: &mut dyn CallHost) {
        self.run_rows(kernel, rows, 0..rows.len(), values, None, host);
    }

    /// The same over some of the rows.
    pub fn run_rows(
        &self,
        kernel: Native,
        rows: &Rows,
        some: std::ops::Range<usize>,
        values: &mut [f64],
        window: Option<&mut Window<'_>>,
        host: &mut dyn CallHost,
    ) {
        debug_assert!(self.module.is_some());
        assert_eq!(rows.stride, kernel.stride, "row stride differs from the kernel's");
        if some.is_empty() {
            return;
        }
        assert!(rows.top() <= values.len(), "index word outside the values");
        let (n, words) = (some.len(), &rows.words()[some.start * rows.stride..some.end * rows.stride]);
        let to = target(values, window, |low, high| {
            let inside = |w: &u32| (low..high).contains(&slot_of(*w));
            words.chunks_exact(rows.stride).all(|row| row[..rows.results()].iter().all(inside))
        });
        let mut host = HostRef { host, panic: None };
        // SAFETY: the code is alive (`self` owns it), every word names a value, and there are `n` whole rows.
        unsafe { (kernel.entry)(values.as_mut_ptr(), words.as_ptr(), n, &mut host, to) };
        if let Some(panic) = host.panic {
            resume_unwind(panic);
        }
    }
}

/// What destinations are counted from: the values, or what stands for them in a window.
///
/// # Panics
/// If destinations are not inside the window.
fn target(values: &mut [f64], window: Option<&mut Window<'_>>, inside: impl FnOnce(usize, usize) -> bool) -> *mut f64 {
    let Some(w) = window else { return values.as_mut_ptr() };
    assert!(inside(w.base, w.base + w.to.len()), "results outside their window");
    w.to.as_mut_ptr().wrapping_sub(w.base)
}

impl Drop for Code {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: kernels run through `&self` only, so none is running, and none can be run afterwards.
            unsafe { module.free_memory() };
        }
    }
}
