//! Functions of the model as machine code: when they are compiled, how they are entered, what they call back.
//!
//! What makes it sound:
//! - a native function is only entered through [`NativeFunctions::enter`], with a frame of the size its layout says, a
//!   context that lives on the stack of that call, and an arena that does not move meanwhile;
//! - tables, constants and caches that addresses in the code point to are boxed, live as long as the code and are never
//!   resized; while native code runs, nothing else touches them;
//! - native code checks every subscript, every size and the stack; [`executor_call`] decodes frames by the layout they were
//!   written with, and no panic crosses a native frame.

use crate::function::{self, FrameLayout, Outside, signature};
use crate::jit::JitError;
use crate::native::{function_isa, symbols};
use crate::scalar::Imports;
use cranelift_codegen::Context;
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Module, default_libcall_names};
use saltus_expr::{Binary, FuncId, Unary};
use saltus_function::domain::unary_slope;
use saltus_function::exec::{MOST_TURNS, division};
use saltus_function::external::Callee;
use saltus_function::lower::{Arg, DimCode, Lowered, Op2, Slot, St, Stmt, Sx};
use saltus_function::{
    Array, Domain, Dual, DualNumber, ErrorKind, ExecError, Executor, Float, Function, ScalarType, Warning, interrupt,
    strings,
};
use saltus_program::{Functions, Interval, enclose_function};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

/// A native function: context, frame, its number; zero if all went well.
type Entry = unsafe extern "C" fn(*mut Run, *mut u64, u64) -> i32;

/// What native code is given; see [`function::context`] for the offsets it relies on.
#[repr(C)]
struct Run {
    top: usize,
    end: usize,
    stack: usize,
    turns: u64,
    flag: *const bool,
    executor: *mut Executor,
    /// Per function: whether something it calls has effects.
    effects: *const bool,
    /// Per function: what of it is external and simple.
    externals: *const Option<Simple>,
}

/// External code that takes single numbers and gives one: called without the executor.
struct Simple {
    callee: Callee,
    args: Vec<Source>,
}

/// An argument of external code: one of the function's inputs, or a number.
enum Source {
    Input(usize),
    Number(f64),
}

impl Simple {
    /// `None` if a function is not of this kind.
    fn of(l: &Lowered) -> Option<Simple> {
        let x = l.external.as_ref()?;
        let input = |k: u32| l.inputs.iter().position(|i| i.slot == Slot::S(k)).map(Source::Input);
        let source = |a: &Arg| match a {
            Arg::S(Sx::Local(k)) => input(*k),
            Arg::S(Sx::Num(v)) => Some(Source::Number(*v)),
            _ => None,
        };
        let args = x.args.iter().map(source).collect::<Option<Vec<Source>>>()?;
        let one = matches!(&l.outputs[..], [o] if Some(o.slot) == x.result.map(Slot::S));
        let scalars = l.inputs.iter().all(|i| matches!(i.slot, Slot::S(_)));
        let simple = one && scalars && l.entry.is_empty() && !l.impure && x.back.iter().all(Option::is_none);
        Some(Simple { callee: x.function.clone().ok().filter(|_| simple)?, args })
    }

    /// The result; `None` if the executor has something to say about it.
    fn call(&self, input: impl Fn(usize) -> f64) -> Option<f64> {
        let mut args = [0.0; 16];
        let args = args.get_mut(..self.args.len())?;
        for (a, s) in args.iter_mut().zip(&self.args) {
            *a = match s {
                Source::Input(k) => input(*k),
                Source::Number(v) => *v,
            };
        }
        let result = self.callee.call_numbers(args);
        // Warnings are told with their place.
        if saltus_function::external::take_warnings().is_empty() { result.ok() } else { None }
    }
}

/// Statements the executor runs for a function before it is compiled.
const THRESHOLD: u64 = 4_000;
/// Iterations of loops the executor may take in one call of a function that is not compiled yet.
const ITERATIONS: u64 = 20_000;
/// Turns of a loop once one was found that does not end.
const ENDLESS: u64 = 10_000_000;
/// Stack that nested native calls may use.
const STACK_BYTES: usize = 512 << 10;
/// Elements of the arena at first and at most.
const ARENA: (usize, usize) = (1 << 14, 1 << 27);

/// How a function is run when called from outside.
#[derive(Clone, Copy, PartialEq)]
enum Tier {
    /// By the executor; statements run so far.
    Cold(u64),
    Native,
    /// By the executor for good.
    Stay,
}

/// Runs functions by the executor at first, as machine code once they turn out to matter. The results are the same.
///
/// Machine code has no effects but its results: where it gives up (a failed assertion, a subscript out of range, a string,
/// a call of something impure) the executor repeats the outermost call from its start and says why.
pub struct NativeFunctions {
    executor: Executor,
    /// Values, values with derivatives.
    tiers: [Vec<Tier>; 2],
    tables: [Box<[Entry]>; 2],
    compiled: [Vec<bool>; 2],
    /// Made when the first function is compiled; `None` if this machine has no native code.
    code: Option<Option<Code>>,
    arena: Vec<f64>,
    frame: Vec<u64>,
    /// Found when first needed.
    layouts: [Vec<Option<Rc<FrameLayout>>>; 2],
    threshold: u64,
    /// Per function: whether something it calls has effects, so that it must not be run by halves.
    effects: Box<[bool]>,
    externals: Box<[Option<Simple>]>,
    /// How often machine code gave up, less how often it did not.
    failures: Vec<i32>,
    /// Turns after which a loop counts as one without end.
    turns: u64,
}

struct Code {
    /// `None` only while dropping.
    module: Option<JITModule>,
    context: Context,
    builder: FunctionBuilderContext,
    imports: Imports,
    constants: Vec<Box<[f64]>>,
    caches: Vec<Box<[f64]>>,
}

impl Drop for Code {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: functions run inside `NativeFunctions::enter` only, which borrows the code.
            unsafe { module.free_memory() };
        }
    }
}

impl NativeFunctions {
    /// For these functions; nothing is compiled yet.
    pub fn new(functions: &[Function]) -> Self {
        Self::with_threshold(functions, THRESHOLD)
    }

    /// The same, compiling a function once the executor has run this many statements for it; 0 compiles at once.
    pub fn with_threshold(functions: &[Function], threshold: u64) -> Self {
        let executor = Executor::new(functions);
        let n = functions.len();
        let effects = (0..n as u32).map(|f| executor.has_effects(FuncId(f))).collect();
        // There is nothing to compile in foreign code.
        let external = |f: u32| executor.lowered(FuncId(f)).is_some_and(|l| l.external.is_some());
        let tiers: Vec<Tier> = (0..n as u32).map(|f| if external(f) { Tier::Stay } else { Tier::Cold(0) }).collect();
        let externals: Box<[Option<Simple>]> =
            (0..n as u32).map(|f| executor.lowered(FuncId(f)).and_then(Simple::of)).collect();
        let entry = |s: &Option<Simple>| if s.is_some() { external_call as Entry } else { executor_call as Entry };
        let values: Box<[Entry]> = externals.iter().map(entry).collect();
        NativeFunctions {
            executor,
            externals,
            effects,
            failures: vec![0; n],
            turns: MOST_TURNS,
            tiers: [tiers.clone(), tiers],
            tables: [values, vec![executor_call_dual as Entry; n].into()],
            compiled: [vec![false; n], vec![false; n]],
            code: None,
            arena: Vec::new(),
            frame: Vec::new(),
            layouts: [vec![None; n], vec![None; n]],
            threshold,
        }
    }

    /// Whether a function is machine code by now.
    pub fn is_native(&self, f: FuncId, dual: bool) -> bool {
        self.compiled[usize::from(dual)].get(f.0 as usize) == Some(&true)
    }

    /// Compiles a function and all it calls, as far as possible.
    fn compile(&mut self, f: FuncId, dual: bool) -> Tier {
        let reach = reach(&self.executor, f);
        if self.code.is_none() {
            self.code = Some(Code::new().ok());
        }
        let tables = [self.tables[0].as_ptr() as usize, self.tables[1].as_ptr() as usize];
        let Some(Some(code)) = &mut self.code else { return Tier::Stay };
        // A derivative annotation needs the plain form of both.
        let mut wanted: Vec<(FuncId, bool)> = reach.iter().map(|g| (*g, dual)).collect();
        if dual && reach.iter().any(|g| self.executor.lowered(*g).is_some_and(|l| l.derivative.is_some())) {
            wanted.extend(reach.iter().map(|g| (*g, false)));
        }
        wanted.retain(|(g, dual)| !self.compiled[usize::from(*dual)][g.0 as usize]);
        let mut made = Vec::new();
        for (g, dual) in wanted {
            let Some(l) = self.executor.lowered(g) else { continue };
            let pure = reach.len() == 1 || pure_below(&self.executor, g);
            if let Ok(id) = code.function(g, l, dual, &self.executor, tables, pure) {
                made.push((g, dual, id));
            }
        }
        let Some(module) = &mut code.module else { return Tier::Stay };
        if module.finalize_definitions().is_err() {
            return Tier::Stay;
        }
        for (g, dual, id) in made {
            let address = module.get_finalized_function(id);
            // SAFETY: the function was defined with the signature of `Entry` and is finalised.
            let entry = unsafe { std::mem::transmute::<*const u8, Entry>(address) };
            self.tables[usize::from(dual)][g.0 as usize] = entry;
            self.compiled[usize::from(dual)][g.0 as usize] = true;
        }
        if self.compiled[usize::from(dual)][f.0 as usize] { Tier::Native } else { Tier::Stay }
    }

    /// Writes flattened arguments into the frame; `None` if their sizes need the executor.
    fn fill(&mut self, f: FuncId, dual: bool, args: &[f64], dargs: &[f64]) -> Option<Rc<FrameLayout>> {
        let l = self.executor.lowered(f)?;
        let known = &mut self.layouts[usize::from(dual)][f.0 as usize];
        let layout = known.get_or_insert_with(|| Rc::new(FrameLayout::of(l, dual))).clone();
        self.frame.clear();
        self.frame.resize(layout.size as usize / 8, 0);
        let mut at = 0;
        for (input, p) in l.inputs.iter().zip(&layout.inputs) {
            let word = p.offset as usize / 8;
            match p.rank {
                None => {
                    self.frame[word] = args.get(at)?.to_bits();
                    if dual {
                        self.frame[word + 1] = dargs.get(at)?.to_bits();
                    }
                    at += 1;
                }
                Some(_) => {
                    let mut n = 1;
                    for (i, d) in input.dims.iter().enumerate() {
                        let DimCode::Fixed(m) = d else { return None };
                        n *= m;
                        self.frame[p.dims as usize / 8 + i] = *m as u64;
                    }
                    self.frame[word] = args.get(at..at + n)?.as_ptr() as u64;
                    if dual {
                        self.frame[word + 1] = dargs.get(at..at + n)?.as_ptr() as u64;
                    }
                    at += n;
                }
            }
        }
        (at == args.len()).then_some(layout)
    }

    /// Runs a native function on flattened arguments; false if the executor must do it.
    fn enter(
        &mut self,
        f: FuncId,
        dual: bool,
        args: &[f64],
        dargs: &[f64],
        out: &mut Vec<f64>,
        dout: &mut Vec<f64>,
    ) -> bool {
        if self.arena.capacity() == 0 {
            self.arena = Vec::with_capacity(ARENA.0);
        }
        loop {
            let Some(layout) = self.fill(f, dual, args, dargs) else { return false };
            let base = self.arena.as_mut_ptr() as usize;
            let mut run = Run {
                top: base,
                end: base + 8 * self.arena.capacity(),
                stack: here().saturating_sub(STACK_BYTES),
                turns: self.turns,
                flag: interrupt::flag(),
                executor: &mut self.executor,
                effects: self.effects.as_ptr(),
                externals: self.externals.as_ptr(),
            };
            let entry = self.tables[usize::from(dual)][f.0 as usize];
            // SAFETY: the frame has the function's layout; array inputs point into `args` and `dargs`, which outlive the
            // call and are only read; the arena has the capacity that `run` says.
            let status = unsafe { entry(&mut run, self.frame.as_mut_ptr(), u64::from(f.0)) };
            if status != 0 {
                if run.turns == 0 {
                    // The executor shall say soon which loop it is.
                    self.turns = ENDLESS;
                    self.executor.limit_turns(ENDLESS);
                }
                let capacity = self.arena.capacity();
                if run.end == 0 && capacity < ARENA.1 {
                    self.arena = Vec::with_capacity((capacity * 16).min(ARENA.1));
                    continue;
                }
                // Giving up again and again costs more than it saves.
                let failures = &mut self.failures[f.0 as usize];
                *failures += 1;
                if *failures > 20 {
                    self.tiers[usize::from(dual)][f.0 as usize] = Tier::Stay;
                }
                return false;
            }
            self.failures[f.0 as usize] = (self.failures[f.0 as usize] - 1).max(-100);
            out.clear();
            dout.clear();
            for p in &layout.outputs {
                let word = p.offset as usize / 8;
                match p.rank {
                    None => {
                        out.push(f64::from_bits(self.frame[word]));
                        if dual {
                            dout.push(f64::from_bits(self.frame[word + 1]));
                        }
                    }
                    Some(rank) => {
                        let dims = &self.frame[p.dims as usize / 8..][..rank];
                        let n = dims.iter().product::<u64>() as usize;
                        // SAFETY: native code wrote pointer and sizes of an array of its own making, in the arena.
                        out.extend_from_slice(unsafe { elements(self.frame[word], n) });
                        if dual {
                            // SAFETY: as above.
                            dout.extend_from_slice(unsafe { elements(self.frame[word + 1], n) });
                        }
                    }
                }
            }
            return true;
        }
    }

    /// Runs a call on the executor, watching how much it does; then decides on compiling.
    fn cold<T>(
        &mut self,
        f: FuncId,
        dual: bool,
        before: u64,
        call: impl Fn(&mut Executor) -> Result<T, ExecError>,
    ) -> Option<Result<T, ExecError>> {
        let work = self.executor.work();
        let result = if self.threshold == 0 {
            None
        } else {
            self.executor.limit_steps(ITERATIONS);
            let r = call(&mut self.executor);
            self.executor.limit_steps(u64::MAX);
            match r {
                Err(e) if e.kind == ErrorKind::Limit => None,
                r => Some(r),
            }
        };
        let total = before + self.executor.work().saturating_sub(work);
        self.tiers[usize::from(dual)][f.0 as usize] = match result {
            None => self.compile(f, dual),
            _ if total > self.threshold => self.compile(f, dual),
            _ => Tier::Cold(total),
        };
        result
    }

    fn tier(&self, f: FuncId, dual: bool) -> Tier {
        self.tiers[usize::from(dual)].get(f.0 as usize).copied().unwrap_or(Tier::Stay)
    }
}

impl Functions for NativeFunctions {
    fn call(&mut self, f: FuncId, args: &[f64], out: &mut Vec<f64>) -> Result<(), ExecError> {
        if let Some(Some(x)) = self.externals.get(f.0 as usize)
            && self.executor.lowered(f).is_some_and(|l| l.inputs.len() == args.len())
            && let Some(v) = x.call(|k| args[k])
        {
            out.clear();
            out.push(v);
            return Ok(());
        }
        if let Tier::Cold(before) = self.tier(f, false) {
            let first = self.cold(f, false, before, |e| e.call_vec(f, args));
            if let Some(r) = first {
                *out = r?;
                return Ok(());
            }
        }
        if self.tier(f, false) == Tier::Native && self.enter(f, false, args, &[], out, &mut Vec::new()) {
            return Ok(());
        }
        self.executor.call_into(f, args, out)
    }

    fn call_dual(
        &mut self,
        f: FuncId,
        args: &[f64],
        dargs: &[f64],
        out: &mut Vec<f64>,
        dout: &mut Vec<f64>,
    ) -> Result<(), ExecError> {
        if args.len() == dargs.len() {
            if let Tier::Cold(before) = self.tier(f, true) {
                let first = self.cold(f, true, before, |e| {
                    let (mut v, mut d) = (Vec::new(), Vec::new());
                    e.call_dual(f, args, dargs, &mut v, &mut d).map(|()| (v, d))
                });
                if let Some(r) = first {
                    (*out, *dout) = r?;
                    return Ok(());
                }
            }
            if self.tier(f, true) == Tier::Native && self.enter(f, true, args, dargs, out, dout) {
                return Ok(());
            }
        }
        self.executor.call_dual(f, args, dargs, out, dout)
    }

    fn has_effects(&self, func: FuncId) -> bool {
        self.effects.get(func.0 as usize) == Some(&true)
    }

    fn take_warnings(&mut self) -> Vec<Warning> {
        self.executor.take_warnings()
    }

    fn enclose(&mut self, f: FuncId, args: &[Interval]) -> Result<Vec<Interval>, ExecError> {
        enclose_function(&self.executor, f, args)
    }
}

/// A function and all it can call.
fn reach(executor: &Executor, f: FuncId) -> Vec<FuncId> {
    let mut seen = vec![f];
    let mut at = 0;
    while let Some(&g) = seen.get(at) {
        at += 1;
        let Some(l) = executor.lowered(g) else { continue };
        for c in l.callees.iter().copied().chain(l.derivative) {
            if !seen.contains(&c) {
                seen.push(c);
            }
        }
    }
    seen
}

/// Whether nothing a function calls is external or refers to objects, so that its results depend on its arguments alone.
fn pure_below(executor: &Executor, f: FuncId) -> bool {
    reach(executor, f)
        .iter()
        .all(|g| executor.lowered(*g).is_some_and(|l| l.external.is_none() && !l.has_object && !l.impure))
}

/// Whether the last call is worth keeping: several results, each asked for by a call of its own, and real work.
fn worth_keeping(l: &Lowered) -> bool {
    fn busy(stmts: &[Stmt]) -> bool {
        stmts.iter().any(|s| match &s.st {
            St::For(..) | St::While(..) => true,
            St::If(b, rest) => b.iter().any(|(_, b)| busy(b)) || busy(rest),
            _ => false,
        })
    }
    let scalars =
        l.inputs.iter().all(|i| matches!(i.slot, Slot::S(_))) && l.outputs.iter().all(|o| matches!(o.slot, Slot::S(_)));
    scalars && l.inputs.len() <= 12 && (busy(&l.body) || (!l.callees.is_empty() && l.outputs.len() > 1))
}

impl Code {
    fn new() -> Result<Code, JitError> {
        let mut builder = JITBuilder::with_isa(function_isa()?, default_libcall_names());
        builder.symbols(symbols());
        builder.symbols([
            ("saltus_zero", zero as *const u8),
            ("saltus_slope", slope as *const u8),
            ("saltus_slope2", slope2 as *const u8),
            ("saltus_division", whole_division as *const u8),
            ("saltus_division_dual", division_dual as *const u8),
            ("saltus_division_slope", division_slope as *const u8),
            ("saltus_concat", text_concat as *const u8),
            ("saltus_compare", text_compare as *const u8),
            ("saltus_string", text_of as *const u8),
            ("saltus_format", text_format as *const u8),
        ]);
        let module = JITModule::new(builder);
        let context = module.make_context();
        Ok(Code {
            module: Some(module),
            context,
            builder: FunctionBuilderContext::new(),
            imports: Imports::default(),
            constants: Vec::new(),
            caches: Vec::new(),
        })
    }

    fn function(
        &mut self,
        id: FuncId,
        l: &Lowered,
        dual: bool,
        executor: &Executor,
        tables: [usize; 2],
        pure: bool,
    ) -> Result<cranelift_module::FuncId, JitError> {
        let module = self.module.as_mut().expect("module lives until drop");
        module.clear_context(&mut self.context);
        let mut cache: Box<[f64]> = Box::default();
        let keep = pure && worth_keeping(l);
        let out = Outside { tables, constants: &mut self.constants, cache: keep.then_some(&mut cache) };
        let made = function::function(
            id,
            l,
            dual,
            executor,
            out,
            module,
            &mut self.context.func,
            &mut self.builder,
            &mut self.imports,
        );
        self.caches.push(cache);
        if let Err(e) = made {
            // The builder keeps what an abandoned function left behind.
            self.builder = FunctionBuilderContext::new();
            return Err(e);
        }
        let fail = |e: &dyn std::fmt::Debug| JitError(format!("{e:?}"));
        let sig = signature(module);
        let id = module.declare_anonymous_function(&sig).map_err(|e| fail(&e))?;
        module.define_function(id, &mut self.context).map_err(|e| fail(&e))?;
        Ok(id)
    }
}

/// # Safety
/// `at` is the address of `n` numbers, if `n` is not zero.
unsafe fn elements<'a>(at: u64, n: usize) -> &'a [f64] {
    if n == 0 {
        return &[];
    }
    // SAFETY: by the contract above.
    unsafe { std::slice::from_raw_parts(at as *const f64, n) }
}

#[inline(never)]
fn here() -> usize {
    let marker = 0u8;
    std::hint::black_box(&marker) as *const u8 as usize
}

// ---- what native code calls

/// Calls simple external code.
///
/// # Safety
/// Called by native code: `run` is its context, `frame` is laid out for function `id` without derivatives.
unsafe extern "C" fn external_call(run: *mut Run, frame: *mut u64, id: u64) -> i32 {
    catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: by the contract; there is one for every function.
        let Some(x) = (unsafe { &*(*run).externals.add(id as usize) }) else { return 1 };
        // SAFETY: all inputs are scalars of a word each, then comes the output.
        let inputs = unsafe { std::slice::from_raw_parts(frame, (*run).inputs(id)) };
        match x.call(|k| f64::from_bits(inputs[k])) {
            Some(v) => {
                // SAFETY: as above.
                unsafe { *frame.add(inputs.len()) = v.to_bits() };
                0
            }
            None => 1,
        }
    }))
    .unwrap_or(1)
}

/// Runs a function that is not compiled by the executor.
///
/// # Safety
/// Called by native code: `run` is its context, `frame` is laid out for function `id` without derivatives.
unsafe extern "C" fn executor_call(run: *mut Run, frame: *mut u64, id: u64) -> i32 {
    catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: by the contract; native code holds no reference to the executor or the frame while it calls.
        let (run, executor) = unsafe { (&mut *run, &mut *(*run).executor) };
        let f = FuncId(id as u32);
        // What has effects is left to the executor from the start of the outermost call.
        // SAFETY: there is one for every function.
        if unsafe { *run.effects.add(id as usize) } {
            return 1;
        }
        let Some(l) = executor.lowered(f) else { return 1 };
        let layout = FrameLayout::of(l, false);
        // SAFETY: the frame has the size of its layout.
        let words = unsafe { std::slice::from_raw_parts_mut(frame, layout.size as usize / 8) };
        let mut args = Vec::new();
        for p in &layout.inputs {
            let word = p.offset as usize / 8;
            args.push(match p.rank {
                None => Array { dims: Default::default(), data: vec![f64::from_bits(words[word])] },
                Some(rank) => {
                    let dims = &words[p.dims as usize / 8..][..rank];
                    let n = dims.iter().product::<u64>() as usize;
                    // SAFETY: native code passes pointer and sizes of an array that is alive.
                    let data = unsafe { elements(words[word], n) }.to_vec();
                    Array { dims: dims.iter().map(|d| *d as usize).collect(), data }
                }
            });
        }
        let Ok(results) = executor.call_arrays(f, args) else { return 1 };
        for (r, p) in results.iter().zip(&layout.outputs) {
            let word = p.offset as usize / 8;
            match p.rank {
                None => words[word] = r.data[0].to_bits(),
                Some(_) => {
                    let Some(at) = run.take(r.data.len()) else { return 1 };
                    // SAFETY: `take` gave room for all of it.
                    unsafe { std::ptr::copy_nonoverlapping(r.data.as_ptr(), at, r.data.len()) };
                    words[word] = at as u64;
                    for (i, d) in r.dims.iter().enumerate() {
                        words[p.dims as usize / 8 + i] = *d as u64;
                    }
                }
            }
        }
        0
    }))
    .unwrap_or(1)
}

/// The same with derivatives.
///
/// # Safety
/// Called by native code: `run` is its context, `frame` is laid out for function `id` with derivatives.
unsafe extern "C" fn executor_call_dual(run: *mut Run, frame: *mut u64, id: u64) -> i32 {
    catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: as in `executor_call`.
        let (run, executor) = unsafe { (&mut *run, &mut *(*run).executor) };
        let f = FuncId(id as u32);
        // What has effects is left to the executor from the start of the outermost call.
        // SAFETY: there is one for every function.
        if unsafe { *run.effects.add(id as usize) } {
            return 1;
        }
        let Some(l) = executor.lowered(f) else { return 1 };
        let layout = FrameLayout::of(l, true);
        // SAFETY: the frame has the size of its layout.
        let words = unsafe { std::slice::from_raw_parts_mut(frame, layout.size as usize / 8) };
        let mut args = Vec::new();
        for p in &layout.inputs {
            let word = p.offset as usize / 8;
            args.push(match p.rank {
                None => {
                    let x = DualNumber { v: f64::from_bits(words[word]), d: f64::from_bits(words[word + 1]) };
                    Array { dims: Default::default(), data: vec![x] }
                }
                Some(rank) => {
                    let dims = &words[p.dims as usize / 8..][..rank];
                    let n = dims.iter().product::<u64>() as usize;
                    // SAFETY: native code passes pointers and sizes of arrays that are alive.
                    let (v, d) = unsafe { (elements(words[word], n), elements(words[word + 1], n)) };
                    let data = v.iter().zip(d).map(|(v, d)| DualNumber { v: *v, d: *d }).collect();
                    Array { dims: dims.iter().map(|d| *d as usize).collect(), data }
                }
            });
        }
        let Ok(results) = executor.call_arrays_dual(f, args) else { return 1 };
        for (r, p) in results.iter().zip(&layout.outputs) {
            let word = p.offset as usize / 8;
            match p.rank {
                None => {
                    words[word] = r.data[0].v.to_bits();
                    words[word + 1] = r.data[0].d.to_bits();
                }
                Some(_) => {
                    let n = r.data.len();
                    let (Some(v), Some(d)) = (run.take(n), run.take(n)) else { return 1 };
                    for (i, x) in r.data.iter().enumerate() {
                        // SAFETY: `take` gave room for `n` numbers each.
                        unsafe {
                            *v.add(i) = x.v;
                            *d.add(i) = x.d;
                        }
                    }
                    words[word] = v as u64;
                    words[word + 1] = d as u64;
                    for (i, d) in r.dims.iter().enumerate() {
                        words[p.dims as usize / 8 + i] = *d as u64;
                    }
                }
            }
        }
        0
    }))
    .unwrap_or(1)
}

impl Run {
    /// Number of inputs of a function.
    ///
    /// # Safety
    /// The executor is alive.
    unsafe fn inputs(&self, id: u64) -> usize {
        // SAFETY: by the contract.
        unsafe { &*self.executor }.lowered(FuncId(id as u32)).map_or(0, |l| l.inputs.len())
    }

    /// Room for `n` numbers in the arena.
    fn take(&mut self, n: usize) -> Option<*mut f64> {
        let at = self.top;
        let top = at.checked_add(n.checked_mul(8)?)?;
        if top > self.end {
            self.end = 0;
            return None;
        }
        self.top = top;
        Some(at as *mut f64)
    }
}

/// All functions of one argument, by number.
const UNARY: [Unary; 18] = [
    Unary::Neg,
    Unary::Not,
    Unary::Abs,
    Unary::Sign,
    Unary::Sqrt,
    Unary::Exp,
    Unary::Log,
    Unary::Log10,
    Unary::Sin,
    Unary::Cos,
    Unary::Tan,
    Unary::Asin,
    Unary::Acos,
    Unary::Atan,
    Unary::Sinh,
    Unary::Cosh,
    Unary::Tanh,
    Unary::Floor,
];

/// The number native code knows a function of one argument by.
pub(crate) fn number_of(op: Unary) -> f64 {
    UNARY.iter().position(|u| *u == op).unwrap_or(0) as f64
}

/// # Safety
/// `at` points to `n` numbers.
unsafe extern "C" fn zero(at: *mut f64, n: usize) -> f64 {
    // SAFETY: by the contract above.
    unsafe { std::ptr::write_bytes(at, 0, n) };
    0.0
}

extern "C" fn slope(op: f64, a: f64, r: f64) -> f64 {
    unary_slope(UNARY[(op as usize).min(UNARY.len() - 1)], a, r)
}

extern "C" fn slope2(op: f64, a: f64, da: f64, b: f64, db: f64) -> f64 {
    let op = if op == 0.0 { Binary::Pow } else { Binary::Atan2 };
    Dual.binary(op, &DualNumber { v: a, d: da }, &DualNumber { v: b, d: db }).d
}

fn division_op(op: f64) -> Op2 {
    match op {
        0.0 => Op2::Div,
        1.0 => Op2::Mod,
        _ => Op2::Rem,
    }
}

extern "C" fn whole_division(op: f64, a: f64, b: f64) -> f64 {
    division(&mut Float, division_op(op), &a, &b).unwrap_or(f64::NAN)
}

fn divide(op: f64, a: f64, da: f64, b: f64, db: f64) -> DualNumber {
    let (a, b) = (DualNumber { v: a, d: da }, DualNumber { v: b, d: db });
    division(&mut Dual, division_op(op), &a, &b).unwrap_or(DualNumber { v: f64::NAN, d: f64::NAN })
}

extern "C" fn division_dual(op: f64, a: f64, da: f64, b: f64, db: f64) -> f64 {
    divide(op, a, da, b, db).v
}

extern "C" fn division_slope(op: f64, a: f64, da: f64, b: f64, db: f64) -> f64 {
    divide(op, a, da, b, db).d
}

extern "C" fn text_concat(a: f64, b: f64) -> f64 {
    strings::concat(a, b)
}

extern "C" fn text_compare(a: f64, b: f64) -> f64 {
    strings::compare(a, b)
}

/// Types by number, for `String(x)`.
const TEXT_TYPES: [ScalarType; 5] =
    [ScalarType::Real, ScalarType::Integer, ScalarType::Boolean, ScalarType::String, ScalarType::Enumeration];

/// The number native code knows a type by.
pub(crate) fn number_of_type(ty: ScalarType) -> f64 {
    TEXT_TYPES.iter().position(|t| *t == ty).unwrap_or(0) as f64
}

/// What is not given is not a number.
extern "C" fn text_of(ty: f64, x: f64, width: f64, left: f64, digits: f64) -> f64 {
    let [width, left, digits] = [width, left, digits].map(|v| Some(v).filter(|v| !v.is_nan()));
    strings::of_value(TEXT_TYPES[(ty as usize).min(TEXT_TYPES.len() - 1)], x, width, left, digits)
}

extern "C" fn text_format(x: f64, f: f64) -> f64 {
    strings::formatted(x, f).unwrap_or(f64::NAN)
}
