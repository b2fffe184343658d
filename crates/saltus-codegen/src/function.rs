//! A function as Cranelift IR.
//!
//! Scalars are SSA variables, Integers as machine integers. Arrays are a pointer and sizes; small ones of known size live on the stack and their
//! loops are unrolled, others in an arena whose top is taken back after each statement. With derivatives (`dual`) each
//! scalar and each array comes twice, values and directional derivatives apart.
//!
//! ```text
//! fn(ctx, frame, id) -> status        frame: inputs, then outputs (see FrameLayout)
//! ```
//!
//! Native code knows no messages: a failed assertion, a subscript out of range, sizes that do not fit, an arena that is
//! full all return a status, and the outermost call is repeated by the executor, which says what is wrong. That is
//! right because only functions without side effects are compiled.
//!
//! Calls go through a table, so that a function that cannot be compiled (strings, external code) is run by the executor
//! for that call alone.

use crate::array::{Arr, Mem, N};
use crate::functions::number_of_type;
use crate::jit::JitError;
use crate::scalar::{Imports, Scalars, Val};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{
    AbiParam, Block, BlockArg, Function, InstBuilder, MemFlagsData, SigRef, Signature, StackSlotData, StackSlotKind,
    Value, types,
};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use cranelift_jit::JITModule;
use cranelift_module::Module;
use saltus_expr::{Binary, FuncId, Unary};
use saltus_function::Executor;
use saltus_function::lower::{
    Arg, Ax, DimCode, Init, Iter, Ix, Lowered, Op2, Part, Red, Slot, St, Stmt, Sx, Target, reads, visit, visit_simple,
    writes,
};
use std::rc::Rc;

/// Offsets in the context that native functions are given.
pub(crate) mod context {
    /// First free byte of the arena.
    pub const TOP: i32 = 0;
    /// Its end; zero if it was too small.
    pub const END: i32 = 8;
    /// Lowest stack address allowed.
    pub const STACK: i32 = 16;
    /// Turns after which a loop counts as one without end; zero if one did.
    pub const TURNS: i32 = 24;
    /// Where to see whether it is all to end.
    pub const FLAG: i32 = 32;
}

/// Most elements of an array.
pub(crate) const MAX_ELEMENTS: i64 = 1 << 28;
/// Arrays of known size up to this many elements live on the stack.
const ON_STACK: i64 = 256;

/// Where a scalar or an array stands in a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Value of a scalar, pointer to the elements of an array; with derivatives theirs follow 8 bytes after.
    pub offset: i32,
    /// Offset of the sizes of an array.
    pub dims: i32,
    /// Number of sizes; `None` for a scalar.
    pub rank: Option<usize>,
}

/// The arguments and results of a function in memory.
#[derive(Clone, Debug)]
pub(crate) struct FrameLayout {
    pub inputs: Vec<Place>,
    pub outputs: Vec<Place>,
    pub size: u32,
}

impl FrameLayout {
    pub fn of(f: &Lowered, dual: bool) -> FrameLayout {
        let mut at = 0;
        let mut place = |slot: Slot, rank: usize| {
            let rank = matches!(slot, Slot::A(_)).then_some(rank);
            let dims = at + if dual { 16 } else { 8 };
            let p = Place { offset: at, dims, rank };
            at = dims + 8 * rank.unwrap_or(0) as i32;
            p
        };
        let inputs = f.inputs.iter().map(|i| place(i.slot, i.dims.len())).collect();
        let outputs = f.outputs.iter().map(|o| place(o.slot, o.dims.len())).collect();
        FrameLayout { inputs, outputs, size: at.max(8) as u32 }
    }
}

/// What compiling needs to know of the outside.
pub(crate) struct Outside<'a> {
    /// Addresses of the tables of native functions, without and with derivatives.
    pub tables: [usize; 2],
    /// Memory that must live as long as the code: constant arrays.
    pub constants: &'a mut Vec<Box<[f64]>>,
    /// Memory for the last call of a function: arguments, then results; the first word says whether it is filled.
    pub cache: Option<&'a mut Box<[f64]>>,
}

/// Integers are kept below this power of two: sums and products of a few are exact as numbers and as integers.
const INTEGER_BITS: u32 = 31;

/// A scalar with its derivative; without one it is known to vanish.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sc {
    pub v: Val,
    pub d: Option<Value>,
}

impl Sc {
    pub fn num(v: f64) -> Sc {
        Sc { v: Val::Const(v), d: None }
    }
}

/// A size of a local array.
#[derive(Clone, Copy)]
enum Size {
    Fixed(i64),
    Var(Variable),
}

/// An array local.
struct Local {
    data: Variable,
    ddata: Option<Variable>,
    dims: Vec<Size>,
    constant: Option<Rc<[f64]>>,
}

/// In a loop over i that gives x[i] a value on every way through, x[i - 1] is what the turn before stored: it stays in a
/// register.
struct Carry {
    array: u32,
    index: u32,
    /// x[i - 1] and its derivative.
    previous: (Variable, Option<Variable>),
    /// What x[i] was given last.
    now: (Variable, Option<Variable>),
}

/// A turn of a loop that counts: what begins the next one.
struct Turn {
    i: Value,
    counter: Variable,
    n: Value,
    inside: Block,
    end: Block,
    /// Which of the carries move on.
    carried: std::ops::Range<usize>,
}

/// A call whose results are still at hand.
struct Known {
    key: String,
    reads: Vec<Slot>,
    frame: Value,
    /// How deep in branches and loops it was made: it is known there only.
    level: u32,
    /// Whether results are in the arena, for the statement only.
    arena: bool,
}

pub(crate) type Res<T> = Result<T, JitError>;

/// What is not compiled.
pub(crate) fn unsupported<T>(what: &str) -> Res<T> {
    Err(JitError(format!("{what} is left to the executor")))
}

/// A function under construction.
pub(crate) struct Emit<'a, 'o> {
    pub s: Scalars<'a>,
    f: &'a Lowered,
    executor: &'a Executor,
    out: Outside<'o>,
    pub dual: bool,
    ctx: Value,
    sig: SigRef,
    scalars: Vec<(Variable, Option<Variable>)>,
    /// Scalars that are whole numbers known as such, loop variables, with how many bits they may have.
    whole: Vec<Option<(N, u32)>>,
    /// Between which numbers loop variables run, as far as that is known without running.
    spans: Vec<Option<LoopSpan>>,
    /// Scalars and arrays that are never assigned after entry.
    constant: (Vec<bool>, Vec<bool>),
    arrays: Vec<Local>,
    bail: Block,
    /// Where code goes that finds the arena too small.
    full: Block,
    exit: Block,
    /// Where `break` goes.
    breaks: Vec<Block>,
    known: Vec<Known>,
    level: u32,
    carried: Vec<Carry>,
    /// An Integer that a loop's condition keeps away from the largest: it may be moved by this without a look.
    room: Option<(u32, f64)>,
    /// Whether the statement being emitted took memory from the arena that it may give back.
    pub took: bool,
}

/// Access to memory that is aligned and present.
pub(crate) fn plain() -> MemFlagsData {
    MemFlagsData::trusted()
}

/// The signature of all native functions.
pub(crate) fn signature(module: &JITModule) -> Signature {
    let mut sig = module.make_signature();
    sig.params.extend([AbiParam::new(types::I64); 3]);
    sig.returns.push(AbiParam::new(types::I32));
    sig
}

/// Writes a function into an empty one.
pub(crate) fn function<'a>(
    id: FuncId,
    f: &'a Lowered,
    dual: bool,
    executor: &'a Executor,
    out: Outside<'_>,
    module: &'a mut JITModule,
    func: &'a mut Function,
    context: &'a mut FunctionBuilderContext,
    imports: &'a mut Imports,
) -> Res<()> {
    if module.target_config().pointer_type() != types::I64 {
        return unsupported("this machine");
    }
    if f.external.is_some() || f.impure {
        return unsupported("an external function");
    }
    let sig = signature(module);
    func.signature = sig.clone();
    let config = module.target_config();
    let mut b = FunctionBuilder::new(func, context);
    let sig = b.import_signature(sig);
    let entry = b.create_block();
    let (bail, full, exit) = (b.create_block(), b.create_block(), b.create_block());
    b.set_cold_block(bail);
    b.set_cold_block(full);
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let [ctx, frame, _] = *b.block_params(entry) else { unreachable!("three parameters") };
    let mut e = Emit {
        s: Scalars::new(b, module, imports),
        f,
        executor,
        out,
        dual,
        ctx,
        sig,
        scalars: Vec::new(),
        whole: vec![None; f.n_scalars],
        spans: vec![None; f.n_scalars],
        constant: (vec![false; f.n_scalars], vec![false; f.n_arrays]),
        arrays: Vec::new(),
        bail,
        full,
        exit,
        breaks: Vec::new(),
        known: Vec::new(),
        level: 0,
        carried: Vec::new(),
        room: None,
        took: false,
    };
    let sp = e.s.b.ins().get_stack_pointer(types::I64);
    let limit = e.s.b.ins().load(types::I64, plain(), ctx, context::STACK);
    let deep = e.s.b.ins().icmp(IntCC::UnsignedGreaterThan, sp, limit);
    e.check(deep);
    match f.derivative {
        Some(der) if dual => e.by_derivative(id, der, frame)?,
        _ => e.whole_body(frame)?,
    }
    e.s.b.switch_to_block(full);
    let zero = e.s.b.ins().iconst(types::I64, 0);
    e.s.b.ins().store(plain(), zero, ctx, context::END);
    e.s.b.ins().jump(bail, &[]);
    e.s.b.switch_to_block(bail);
    let one = e.s.b.ins().iconst(types::I32, 1);
    e.s.b.ins().return_(&[one]);
    e.s.b.seal_all_blocks();
    e.s.b.finalize(config);
    Ok(())
}

impl<'a> Emit<'a, '_> {
    fn done(&mut self) {
        let zero = self.s.b.ins().iconst(types::I32, 0);
        self.s.b.ins().return_(&[zero]);
    }

    /// Body of a function without an annotated derivative, or without derivatives at all.
    fn whole_body(&mut self, frame: Value) -> Res<()> {
        let f = self.f;
        let layout = FrameLayout::of(f, self.dual);
        let mut written = (vec![false; f.n_scalars], vec![false; f.n_arrays]);
        writes(&f.body, &mut |s| match s {
            Slot::S(k) => written.0[k as usize] = true,
            Slot::A(k) => written.1[k as usize] = true,
        });
        loops(&f.body, &mut |k| written.0[k as usize] = true);
        self.constant = (written.0.iter().map(|w| !w).collect(), written.1.iter().map(|w| !w).collect());
        let cache = self.cached(frame, &layout);
        for k in 0..f.n_scalars {
            let v = self.s.b.declare_var(if f.integer[k] { types::I64 } else { types::F64 });
            let d = (self.dual && f.real[k]).then(|| self.s.b.declare_var(types::F64));
            self.scalars.push((v, d));
            self.set(k as u32, Sc::num(0.0));
        }
        let mut sizes: Vec<Vec<Option<i64>>> = vec![Vec::new(); f.n_arrays];
        let fixed = |dims: &[DimCode]| -> Vec<Option<i64>> {
            dims.iter().map(|d| if let DimCode::Fixed(n) = d { Some(*n as i64) } else { None }).collect()
        };
        for i in &f.inputs {
            if let Slot::A(k) = i.slot {
                sizes[k as usize] = fixed(&i.dims);
            }
        }
        for i in &f.entry {
            match i {
                Init::Alloc(k, dims) | Init::A(k, dims, _) => sizes[*k as usize] = fixed(dims),
                Init::S(..) => {}
            }
        }
        for dims in &sizes {
            let data = self.s.b.declare_var(types::I64);
            let ddata = self.dual.then(|| self.s.b.declare_var(types::I64));
            let dims = dims
                .iter()
                .map(|d| match d {
                    Some(n) => Size::Fixed(*n),
                    None => Size::Var(self.s.b.declare_var(types::I64)),
                })
                .collect();
            self.arrays.push(Local { data, ddata, dims, constant: None });
        }
        let mark = self.s.b.ins().load(types::I64, plain(), self.ctx, context::TOP);
        for (input, p) in f.inputs.iter().zip(&layout.inputs) {
            match input.slot {
                Slot::S(k) => {
                    let v = self.load_scalar(frame, *p);
                    self.set(k, v);
                }
                Slot::A(k) => {
                    let rank = p.rank.unwrap_or(0);
                    let mem = self.load_array(frame, *p, &vec![None; rank]);
                    for (d, n) in input.dims.iter().zip(mem.dims.clone()) {
                        match d {
                            DimCode::Fixed(m) => self.equal(n, N::C(*m as i64)),
                            DimCode::Computed(e) => {
                                let want = self.size(e)?;
                                self.equal(n, want);
                            }
                            DimCode::Free => {}
                        }
                    }
                    let mem = if written.1[k as usize] {
                        let arr = Arr::Mem(mem);
                        self.copy(&arr, false)?
                    } else {
                        mem
                    };
                    self.put(k, &mem);
                }
            }
        }
        let is_output: Vec<bool> =
            (0..f.n_arrays).map(|k| f.outputs.iter().any(|o| o.slot == Slot::A(k as u32))).collect();
        for init in &f.entry {
            match init {
                Init::S(k, e) => {
                    let v = self.sx(e)?;
                    self.set(*k, v);
                }
                Init::Alloc(k, dims) => {
                    let mut ns = Vec::new();
                    for d in dims {
                        ns.push(match d {
                            DimCode::Fixed(n) => N::C(*n as i64),
                            DimCode::Computed(e) => self.size(e)?,
                            DimCode::Free => N::C(0),
                        });
                    }
                    let mem = self.alloc(ns, !is_output[*k as usize])?;
                    if is_output[*k as usize] || !self.filled_first(*k) {
                        self.zero(&mem)?;
                    }
                    self.put(*k, &mem);
                }
                Init::A(k, dims, e) => {
                    let arr = self.ax(e)?;
                    for (d, n) in dims.iter().zip(arr.dims()) {
                        match d {
                            DimCode::Fixed(m) => self.equal(n, N::C(*m as i64)),
                            DimCode::Computed(e) => {
                                let want = self.size(e)?;
                                self.equal(n, want);
                            }
                            DimCode::Free => {}
                        }
                    }
                    if !written.1[*k as usize]
                        && !is_output[*k as usize]
                        && let Some(mem) = self.constant_array(&arr)
                    {
                        self.arrays[*k as usize].constant = mem.constant.clone();
                        self.put(*k, &mem);
                        continue;
                    }
                    let mem = self.copy(&arr, !is_output[*k as usize])?;
                    self.put(*k, &mem);
                }
            }
        }
        self.block(&f.body)?;
        self.s.b.ins().jump(self.exit, &[]);
        self.s.b.switch_to_block(self.exit);
        for (o, p) in f.outputs.iter().zip(&layout.outputs) {
            match o.slot {
                Slot::S(k) => {
                    let v = self.get(k);
                    self.store_scalar(frame, *p, v);
                }
                Slot::A(k) => {
                    let mem = self.local(k);
                    self.store_array(frame, *p, &mem);
                }
            }
        }
        if !f.outputs.iter().any(|o| matches!(o.slot, Slot::A(_))) {
            self.s.b.ins().store(plain(), mark, self.ctx, context::TOP);
        }
        if let Some(at) = cache {
            self.remember(frame, &layout, at);
        }
        self.done();
        Ok(())
    }

    /// If the last call had the same arguments, returns its results; otherwise goes on. Gives the address of the memory.
    fn cached(&mut self, frame: Value, layout: &FrameLayout) -> Option<Value> {
        let words = layout.size as usize / 8;
        let memory = self.out.cache.as_mut()?;
        **memory = vec![0.0; words + 1].into();
        let address = memory.as_ptr() as i64;
        let at = self.s.b.ins().iconst(types::I64, address);
        let split = layout.outputs.first().map_or(layout.size as i32, |p| p.offset);
        let mut next = self.s.b.ins().load(types::I64, plain(), at, 0);
        for offset in (0..split).step_by(8) {
            let a = self.s.b.ins().load(types::I64, plain(), frame, offset);
            let b = self.s.b.ins().load(types::I64, plain(), at, offset + 8);
            let same = self.s.b.ins().icmp(IntCC::Equal, a, b);
            let same = self.s.b.ins().uextend(types::I64, same);
            next = self.s.b.ins().band(next, same);
        }
        let (hit, miss) = (self.s.b.create_block(), self.s.b.create_block());
        self.s.b.ins().brif(next, hit, &[], miss, &[]);
        self.s.b.switch_to_block(hit);
        for offset in (split..layout.size as i32).step_by(8) {
            let v = self.s.b.ins().load(types::I64, plain(), at, offset + 8);
            self.s.b.ins().store(plain(), v, frame, offset);
        }
        self.done();
        self.s.b.switch_to_block(miss);
        Some(at)
    }

    fn remember(&mut self, frame: Value, layout: &FrameLayout, at: Value) {
        for offset in (0..layout.size as i32).step_by(8) {
            let v = self.s.b.ins().load(types::I64, plain(), frame, offset);
            self.s.b.ins().store(plain(), v, at, offset + 8);
        }
        let one = self.s.b.ins().iconst(types::I64, 1);
        self.s.b.ins().store(plain(), one, at, 0);
    }

    /// Values by the function, derivatives by the one its annotation names.
    fn by_derivative(&mut self, id: FuncId, der: FuncId, frame: Value) -> Res<()> {
        let f = self.f;
        let Some(g) = self.executor.lowered(der) else { return unsupported("a malformed derivative") };
        let outer = FrameLayout::of(f, true);
        let (value, slope) = (FrameLayout::of(f, false), FrameLayout::of(g, false));
        let reals = f.inputs.iter().filter(|i| i.real).count();
        let fits = slope.inputs.len() == f.inputs.len() + reals
            && slope.outputs.len() == f.outputs.len()
            && f.inputs
                .iter()
                .chain(f.inputs.iter().filter(|i| i.real))
                .zip(&slope.inputs)
                .all(|(i, p)| p.rank == matches!(i.slot, Slot::A(_)).then_some(i.dims.len()))
            && value.outputs.iter().zip(&slope.outputs).all(|(a, b)| a.rank == b.rank);
        if !fits {
            return unsupported("a derivative of another shape");
        }
        let (vf, df) = (self.frame(value.size), self.frame(slope.size));
        let mut moving = self.s.b.ins().iconst(types::I8, 0);
        let mut slopes = slope.inputs[f.inputs.len()..].iter();
        for (k, input) in f.inputs.iter().enumerate() {
            let from = outer.inputs[k];
            match from.rank {
                None => {
                    let v = self.load_scalar(frame, from);
                    let plain_v = Sc { v: v.v, d: None };
                    self.store_plain_scalar(vf, value.inputs[k], plain_v);
                    self.store_plain_scalar(df, slope.inputs[k], plain_v);
                    if input.real
                        && let Some(p) = slopes.next()
                    {
                        let d = self.d(v);
                        let zero = self.s.constant(0.0);
                        let nz = self.s.b.ins().fcmp(FloatCC::NotEqual, d, zero);
                        moving = self.s.b.ins().bor(moving, nz);
                        self.store_plain_scalar(df, *p, Sc { v: Val::Real(d), d: None });
                    }
                }
                Some(rank) => {
                    let mem = self.load_array(frame, from, &vec![None; rank]);
                    self.store_plain_array(vf, value.inputs[k], mem.data, &mem.dims);
                    self.store_plain_array(df, slope.inputs[k], mem.data, &mem.dims);
                    if input.real
                        && let Some(p) = slopes.next()
                    {
                        // Whether anything moves is not looked at element by element: the derivative function tells.
                        moving = self.s.b.ins().iconst(types::I8, 1);
                        let d = mem.ddata.unwrap_or(mem.data);
                        self.store_plain_array(df, *p, d, &mem.dims);
                    }
                }
            }
        }
        self.invoke(id, vf, false);
        let (yes, no) = (self.s.b.create_block(), self.s.b.create_block());
        self.s.b.ins().brif(moving, yes, &[], no, &[]);
        for (block, moves) in [(yes, true), (no, false)] {
            self.s.b.switch_to_block(block);
            if moves {
                self.invoke(der, df, false);
            }
            for (k, to) in outer.outputs.iter().enumerate() {
                match to.rank {
                    None => {
                        let v = self.s.b.ins().load(types::F64, plain(), vf, value.outputs[k].offset);
                        let d = if moves {
                            self.s.b.ins().load(types::F64, plain(), df, slope.outputs[k].offset)
                        } else {
                            self.s.constant(0.0)
                        };
                        self.store_scalar(frame, *to, Sc { v: Val::Real(v), d: Some(d) });
                    }
                    Some(rank) => {
                        let none = vec![None; rank];
                        let was = std::mem::replace(&mut self.dual, false);
                        let v = self.load_array(vf, value.outputs[k], &none);
                        let d = moves.then(|| self.load_array(df, slope.outputs[k], &none));
                        self.dual = was;
                        let ddata = match d {
                            Some(d) => {
                                for (a, b) in v.dims.clone().into_iter().zip(d.dims) {
                                    self.equal(a, b);
                                }
                                d.data
                            }
                            None => {
                                let zeros = self.alloc(v.dims.clone(), false)?;
                                self.zero(&zeros)?;
                                zeros.data
                            }
                        };
                        let mem = Mem { ddata: Some(ddata), ..v };
                        self.store_array(frame, *to, &mem);
                    }
                }
            }
            self.done();
        }
        // `exit` belongs to the other form of body; it must not stay empty.
        self.s.b.switch_to_block(self.exit);
        self.done();
        Ok(())
    }

    // ---- memory

    /// Goes on if `ok` is not zero.
    pub fn check(&mut self, ok: Value) {
        let next = self.s.b.create_block();
        self.s.b.ins().brif(ok, next, &[], self.bail, &[]);
        self.s.b.switch_to_block(next);
    }

    /// Gives up; what is emitted after it is never reached.
    fn fail(&mut self) {
        self.s.b.ins().jump(self.bail, &[]);
        let dead = self.s.b.create_block();
        self.s.b.switch_to_block(dead);
    }

    fn frame(&mut self, size: u32) -> Value {
        let slot = self.s.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, size, 3));
        self.s.b.ins().stack_addr(types::I64, slot, 0)
    }

    fn load_scalar(&mut self, frame: Value, p: Place) -> Sc {
        let v = Val::Real(self.s.b.ins().load(types::F64, plain(), frame, p.offset));
        let d = self.dual.then(|| self.s.b.ins().load(types::F64, plain(), frame, p.offset + 8));
        Sc { v, d }
    }

    fn store_plain_scalar(&mut self, frame: Value, p: Place, v: Sc) {
        let v = self.s.real(v.v);
        self.s.b.ins().store(plain(), v, frame, p.offset);
    }

    fn store_scalar(&mut self, frame: Value, p: Place, v: Sc) {
        self.store_plain_scalar(frame, p, v);
        if self.dual {
            let d = self.d(v);
            self.s.b.ins().store(plain(), d, frame, p.offset + 8);
        }
    }

    fn load_array(&mut self, frame: Value, p: Place, fixed: &[Option<i64>]) -> Mem {
        let data = self.s.b.ins().load(types::I64, plain(), frame, p.offset);
        let ddata = self.dual.then(|| self.s.b.ins().load(types::I64, plain(), frame, p.offset + 8));
        let dims = fixed
            .iter()
            .zip(0..)
            .map(|(n, i)| match n {
                Some(n) => N::C(*n),
                None => N::V(self.s.b.ins().load(types::I64, plain(), frame, p.dims + 8 * i)),
            })
            .collect();
        Mem { data, ddata, dims, constant: None, fresh: false }
    }

    fn store_plain_array(&mut self, frame: Value, p: Place, data: Value, dims: &[N]) {
        self.s.b.ins().store(plain(), data, frame, p.offset);
        for (n, i) in dims.iter().zip(0..) {
            let n = self.n(*n);
            self.s.b.ins().store(plain(), n, frame, p.dims + 8 * i);
        }
    }

    fn store_array(&mut self, frame: Value, p: Place, mem: &Mem) {
        self.store_plain_array(frame, p, mem.data, &mem.dims);
        if self.dual {
            let d = mem.ddata.unwrap_or(mem.data);
            self.s.b.ins().store(plain(), d, frame, p.offset + 8);
        }
    }

    /// Room for an array: on the stack if that is allowed and the size is known and small.
    pub fn alloc(&mut self, dims: Vec<N>, stack: bool) -> Res<Mem> {
        let total = self.total(&dims);
        let parts = if self.dual { 2 } else { 1 };
        if let N::C(n) = total
            && stack
            && n <= ON_STACK
        {
            let data = self.frame((8 * parts * n.max(1)) as u32);
            let ddata = self.dual.then(|| self.s.b.ins().iadd_imm_s(data, 8 * n));
            return Ok(Mem { data, ddata, dims, constant: None, fresh: false });
        }
        if let N::C(n) = total
            && n > MAX_ELEMENTS
        {
            return unsupported("an array of this size");
        }
        self.took = true;
        let n = self.n(total);
        let bytes = self.s.b.ins().ishl_imm_s(n, 3);
        let data = self.s.b.ins().load(types::I64, plain(), self.ctx, context::TOP);
        let ddata = self.dual.then(|| self.s.b.ins().iadd(data, bytes));
        let last = ddata.unwrap_or(data);
        let top = self.s.b.ins().iadd(last, bytes);
        let end = self.s.b.ins().load(types::I64, plain(), self.ctx, context::END);
        let room = self.s.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, top, end);
        let next = self.s.b.create_block();
        self.s.b.ins().brif(room, next, &[], self.full, &[]);
        self.s.b.switch_to_block(next);
        self.s.b.ins().store(plain(), top, self.ctx, context::TOP);
        Ok(Mem { data, ddata, dims, constant: None, fresh: true })
    }

    /// Number of elements; gives up if there are too many.
    pub fn total(&mut self, dims: &[N]) -> N {
        let mut t = N::C(1);
        for &d in dims {
            t = self.mul(t, d);
            if let N::V(v) = t
                && dims.len() > 1
            {
                let ok = self.s.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, v, MAX_ELEMENTS);
                self.check(ok);
            }
        }
        t
    }

    pub fn local(&mut self, k: u32) -> Mem {
        let l = &self.arrays[k as usize];
        let constant = l.constant.clone();
        let (data, ddata, dims) = (l.data, l.ddata, l.dims.clone());
        let data = self.s.b.use_var(data);
        let ddata = if constant.is_some() { None } else { ddata.map(|d| self.s.b.use_var(d)) };
        let dims = dims
            .into_iter()
            .map(|d| match d {
                Size::Fixed(n) => N::C(n),
                Size::Var(v) => N::V(self.s.b.use_var(v)),
            })
            .collect();
        Mem { data, ddata, dims, constant, fresh: false }
    }

    /// Makes a local this array (its memory, not a copy).
    fn put(&mut self, k: u32, mem: &Mem) {
        let l = &self.arrays[k as usize];
        let (data, ddata, dims) = (l.data, l.ddata, l.dims.clone());
        self.s.b.def_var(data, mem.data);
        if let Some(d) = ddata {
            self.s.b.def_var(d, mem.ddata.unwrap_or(mem.data));
        }
        for (d, n) in dims.into_iter().zip(&mem.dims) {
            if let Size::Var(v) = d {
                let n = self.n(*n);
                self.s.b.def_var(v, n);
            }
        }
    }

    // ---- whole numbers

    pub fn n(&mut self, n: N) -> Value {
        match n {
            N::C(c) => self.s.b.ins().iconst(types::I64, c),
            N::V(v) => v,
        }
    }

    pub fn add(&mut self, a: N, b: N) -> N {
        match (a, b) {
            (N::C(a), N::C(b)) => N::C(a.saturating_add(b)),
            (N::C(0), x) | (x, N::C(0)) => x,
            (N::V(v), N::C(c)) | (N::C(c), N::V(v)) => N::V(self.s.b.ins().iadd_imm_s(v, c)),
            (N::V(a), N::V(b)) => N::V(self.s.b.ins().iadd(a, b)),
        }
    }

    pub fn mul(&mut self, a: N, b: N) -> N {
        match (a, b) {
            (N::C(a), N::C(b)) => N::C(a.saturating_mul(b)),
            (N::C(1), x) | (x, N::C(1)) => x,
            (N::V(v), N::C(c)) | (N::C(c), N::V(v)) => N::V(self.s.b.ins().imul_imm_s(v, c)),
            (N::V(a), N::V(b)) => N::V(self.s.b.ins().imul(a, b)),
        }
    }

    fn sub(&mut self, a: N, b: N) -> N {
        match (a, b) {
            (N::C(a), N::C(b)) => N::C(a.saturating_sub(b)),
            (x, N::C(c)) => self.add(x, N::C(-c)),
            (a, b) => {
                let (a, b) = (self.n(a), self.n(b));
                N::V(self.s.b.ins().isub(a, b))
            }
        }
    }

    /// Goes on if both are the same.
    pub fn equal(&mut self, a: N, b: N) {
        match (a, b) {
            (N::C(a), N::C(b)) if a == b => {}
            (N::C(_), N::C(_)) => self.fail(),
            (N::V(a), N::V(b)) if a == b => {}
            (a, b) => {
                let (a, b) = (self.n(a), self.n(b));
                let ok = self.s.b.ins().icmp(IntCC::Equal, a, b);
                self.check(ok);
            }
        }
    }

    pub fn as_real(&mut self, n: N) -> Val {
        match n {
            N::C(c) => Val::Const(c as f64),
            N::V(v) => Val::Real(self.s.b.ins().fcvt_from_sint(types::F64, v)),
        }
    }

    /// An expression known to be whole without looking at numbers: Integers, loop variables, sizes, constants and their
    /// sums and products.
    fn whole(&mut self, e: &Sx) -> Option<N> {
        self.whole_bits(e).map(|w| w.0)
    }

    /// The same with the bits it may have.
    fn whole_bits(&mut self, e: &Sx) -> Option<(N, u32)> {
        const SMALL: f64 = 1e9;
        let constant = |v: f64| {
            (v.fract() == 0.0 && v.abs() < SMALL).then(|| (N::C(v as i64), 64 - (v.abs() as u64).leading_zeros()))
        };
        let join = |me: &mut Self, op: Binary, (a, x): (N, u32), (b, y): (N, u32)| {
            let bits = if op == Binary::Mul { x + y } else { x.max(y) + 1 };
            let value = match op {
                // Nothing may be lost; beyond 2^53 numbers would round, but no such Integer is kept.
                _ if bits > 62 => return None,
                Binary::Add => me.add(a, b),
                Binary::Sub => me.sub(a, b),
                Binary::Mul => me.mul(a, b),
                _ => return None,
            };
            Some((value, bits))
        };
        match e {
            Sx::Num(v) => constant(*v),
            Sx::Local(k) => self.whole_local(*k),
            Sx::SizeLocal(k, d) => self.local(*k).dims.get(*d as usize).map(|n| (*n, 28)),
            Sx::BinLN(op @ (Binary::Add | Binary::Sub | Binary::Mul), k, v) => {
                let b = constant(*v)?;
                let a = self.whole_local(*k)?;
                join(self, *op, a, b)
            }
            Sx::BinLL(op @ (Binary::Add | Binary::Sub | Binary::Mul), a, b) => {
                let a = self.whole_local(*a)?;
                let b = self.whole_local(*b)?;
                join(self, *op, a, b)
            }
            Sx::Bin(op @ (Binary::Add | Binary::Sub | Binary::Mul), ab) => {
                let a = self.whole_bits(&ab.0)?;
                let b = self.whole_bits(&ab.1)?;
                join(self, *op, a, b)
            }
            _ => None,
        }
    }

    fn whole_local(&mut self, k: u32) -> Option<(N, u32)> {
        if self.whole[k as usize].is_none() && self.f.integer[k as usize] {
            return Some((N::V(self.s.b.use_var(self.scalars[k as usize].0)), INTEGER_BITS));
        }
        self.whole[k as usize]
    }

    /// A relation of two whole numbers.
    fn whole_relation(&mut self, op: Binary, a: &Sx, b: &Sx) -> Option<Sc> {
        let cc = match op {
            Binary::Lt => IntCC::SignedLessThan,
            Binary::Le => IntCC::SignedLessThanOrEqual,
            Binary::Gt => IntCC::SignedGreaterThan,
            Binary::Ge => IntCC::SignedGreaterThanOrEqual,
            Binary::Eq => IntCC::Equal,
            Binary::Ne => IntCC::NotEqual,
            _ => return None,
        };
        let (a, b) = (self.whole(a)?, self.whole(b)?);
        if let (N::C(_), N::C(_)) = (a, b) {
            return None;
        }
        let (a, b) = (self.n(a), self.n(b));
        Some(Sc { v: Val::Truth(self.s.b.ins().icmp(cc, a, b)), d: None })
    }

    /// A number that must be whole, as an integer.
    pub fn integer(&mut self, v: Val) -> N {
        if let Val::Const(c) = v {
            if c.fract() == 0.0 && c.abs() < 1e15 {
                return N::C(c as i64);
            }
            self.fail();
            return N::C(1);
        }
        let v = self.s.real(v);
        let i = self.s.b.ins().fcvt_to_sint_sat(types::I64, v);
        let back = self.s.b.ins().fcvt_from_sint(types::F64, i);
        let ok = self.s.b.ins().fcmp(FloatCC::Equal, back, v);
        self.check(ok);
        N::V(i)
    }

    /// The zero-based position a subscript names in a dimension of `n`.
    pub fn position(&mut self, e: &Sx, n: N) -> Res<N> {
        self.position_in(e, n, None)
    }

    /// The same in this dimension of a local array: not looked at if the loop around cannot leave it.
    fn position_in(&mut self, e: &Sx, n: N, of: Option<(u32, usize)>) -> Res<N> {
        if let Some((k, d)) = of
            && self.stays_within(e, k, d)
            && let Some(i) = self.whole(e)
        {
            return Ok(self.add(i, N::C(-1)));
        }
        let i = match self.whole(e) {
            Some(i) => i,
            None => {
                let v = self.sx(e)?;
                self.integer(v.v)
            }
        };
        Ok(self.within(i, n))
    }

    /// Whether a subscript is inside a dimension of a local array whatever happens.
    fn stays_within(&self, e: &Sx, k: u32, d: usize) -> bool {
        let (slot, offset) = match e {
            Sx::Local(v) => (*v, 0),
            Sx::BinLN(Binary::Add, v, c) => (*v, *c as i64),
            Sx::BinLN(Binary::Sub, v, c) => (*v, -*c as i64),
            _ => return false,
        };
        let Some(span) = &self.spans[slot as usize] else { return false };
        if self.whole[slot as usize].is_none() || span.low + offset < 1 {
            return false;
        }
        match (span.high, self.extent(k, d)) {
            (Extent::Fixed(high), Extent::Fixed(n)) => high + offset <= n,
            (high, n) => high == n && offset <= 0,
        }
    }

    /// The size of a local array as it is written down.
    fn extent(&self, k: u32, d: usize) -> Extent {
        let sizes = self.f.inputs.iter().filter(|i| i.slot == Slot::A(k)).map(|i| &i.dims);
        let mut sizes = sizes.chain(self.f.entry.iter().filter_map(|i| match i {
            Init::Alloc(a, dims) | Init::A(a, dims, _) if *a == k => Some(dims),
            _ => None,
        }));
        match sizes.next().and_then(|dims| dims.get(d)) {
            Some(DimCode::Fixed(n)) => Extent::Fixed(*n as i64),
            Some(DimCode::Computed(Sx::Local(s))) if self.constant.0[*s as usize] => Extent::Local(*s),
            _ => Extent::Size(k, d),
        }
    }

    /// Whether the first statement that names an array gives all its elements values: then it need not be cleared.
    fn filled_first(&self, k: u32) -> bool {
        let names = |part: Part<'_>| {
            let mut found = false;
            reads(part, &mut |s| found |= s == Slot::A(k));
            found
        };
        let used = |s: &Stmt| {
            let mut found = false;
            writes(std::slice::from_ref(s), &mut |w| found |= w == Slot::A(k));
            found || mentions(s, &names)
        };
        let in_entry = self.f.entry.iter().any(|i| match i {
            Init::S(_, e) => names(Part::S(e)),
            Init::A(_, _, e) => names(Part::A(e)),
            Init::Alloc(..) => false,
        });
        if in_entry {
            return self.f.body.iter().all(|s| !used(s));
        }
        // x[1] := …; x[2] := …; then the rest.
        let mut next = 1;
        for s in self.f.body.iter().filter(|s| used(s)) {
            match &s.st {
                St::SetElem1(to, Sx::Num(at), e) if *to == k && *at == next as f64 && !names(Part::S(e)) => next += 1,
                St::SetA(to, e) => return *to == k && !names(Part::A(e)),
                // for i in next:n loop … x[i] := … x[i - 1] …; … end for, where x has n elements.
                St::For(i, iter, body) => {
                    let whole = self.span_of(iter).is_some_and(|s| s.low == next && s.high == self.extent(k, 0));
                    let before = |e: &Sx| matches!(e, Sx::BinLN(Binary::Sub, v, c) if v == i && *c >= 1.0 && c.fract() == 0.0 && *c < next as f64);
                    let unset = |part: Part<'_>| {
                        let mut found = false;
                        visit(part, &mut |p| {
                            found |= match p {
                                Part::S(Sx::Elem1(a, at)) => *a == k && !before(at),
                                Part::S(Sx::Elem2(a, _) | Sx::ElemN(a, _)) | Part::A(Ax::Local(a)) => *a == k,
                                _ => false,
                            };
                        });
                        found
                    };
                    return whole
                        && keeps(body, *i)
                        && !leaves(body)
                        && sets_only(body, k, *i)
                        && sets_always(body, k, *i)
                        && !body.iter().any(|s| mentions(s, &unset));
                }
                _ => return false,
            }
        }
        next == 1
    }

    /// The arrays x of a loop over i whose x[i - 1] is what the turn before stored.
    fn carries(&self, i: u32, iter: &Iter, body: &[Stmt]) -> Vec<u32> {
        let Some(span) = self.span_of(iter).filter(|s| s.low >= 2) else { return Vec::new() };
        if !keeps(body, i) {
            return Vec::new();
        }
        let mut arrays = Vec::new();
        writes(body, &mut |s| arrays.extend(if let Slot::A(k) = s { Some(k) } else { None }));
        arrays.sort_unstable();
        arrays.dedup();
        arrays.retain(|&k| {
            let inside = match (span.high, self.extent(k, 0)) {
                (Extent::Fixed(high), Extent::Fixed(n)) => high <= n,
                (high, n) => high == n,
            };
            let previous = |part: Part<'_>| {
                let mut found = false;
                visit(part, &mut |p| found |= matches!(p, Part::S(Sx::Elem1(a, at)) if *a == k && is_previous(at, i)));
                found
            };
            inside
                && self.arrays[k as usize].dims.len() == 1
                && sets_only(body, k, i)
                && sets_always(body, k, i)
                && body.iter().any(|s| mentions(s, &previous))
        });
        arrays
    }

    fn carry(&mut self) -> (Variable, Option<Variable>) {
        (self.s.b.declare_var(types::F64), self.dual.then(|| self.s.b.declare_var(types::F64)))
    }

    fn put_carry(&mut self, (var, dvar): (Variable, Option<Variable>), v: Sc) {
        let x = self.s.real(v.v);
        self.s.b.def_var(var, x);
        if let Some(dvar) = dvar {
            let d = self.d(v);
            self.s.b.def_var(dvar, d);
        }
    }

    fn take_carry(&mut self, (var, dvar): (Variable, Option<Variable>)) -> Sc {
        Sc { v: Val::Real(self.s.b.use_var(var)), d: dvar.map(|d| self.s.b.use_var(d)) }
    }

    /// Between which numbers a range runs.
    fn span_of(&self, iter: &Iter) -> Option<LoopSpan> {
        let Iter::Range(Sx::Num(low), step, high) = iter else { return None };
        if low.fract() != 0.0 || low.abs() > 1e9 || !matches!(step, None | Some(Sx::Num(1.0))) {
            return None;
        }
        let high = match high {
            Sx::Num(v) if v.abs() < 1e9 => Extent::Fixed(v.floor() as i64),
            Sx::Local(s) if self.constant.0[*s as usize] && self.f.integer[*s as usize] => Extent::Local(*s),
            // A size that follows what is assigned may change in the loop.
            Sx::SizeLocal(k, d) => match self.extent(*k, *d as usize) {
                Extent::Size(..) if !self.constant.1[*k as usize] => return None,
                extent => extent,
            },
            _ => return None,
        };
        Some(LoopSpan { low: *low as i64, high })
    }

    /// The zero-based position of a one-based one, inside `n`.
    pub fn within(&mut self, i: N, n: N) -> N {
        match (i, n) {
            (N::C(i), N::C(n)) if i >= 1 && i <= n => N::C(i - 1),
            (N::C(_), N::C(_)) => {
                self.fail();
                N::C(0)
            }
            (i, n) => {
                let z = self.add(i, N::C(-1));
                let (zv, nv) = (self.n(z), self.n(n));
                let ok = self.s.b.ins().icmp(IntCC::UnsignedLessThan, zv, nv);
                self.check(ok);
                z
            }
        }
    }

    /// A size: truncated, as the executor does, and not negative.
    pub fn size(&mut self, e: &Sx) -> Res<N> {
        if let Some(n) = self.whole(e) {
            return Ok(match n {
                N::C(c) if (0..=MAX_ELEMENTS).contains(&c) => N::C(c),
                N::C(_) => {
                    self.fail();
                    N::C(0)
                }
                N::V(v) => {
                    let ok = self.s.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, v, MAX_ELEMENTS);
                    self.check(ok);
                    N::V(v)
                }
            });
        }
        let v = self.sx(e)?;
        if let Val::Const(c) = v.v {
            if (0.0..=MAX_ELEMENTS as f64).contains(&c) {
                return Ok(N::C(c as i64));
            }
            self.fail();
            return Ok(N::C(0));
        }
        let v = self.s.real(v.v);
        self.limited(v, 0.0);
        Ok(N::V(self.s.b.ins().fcvt_to_sint_sat(types::I64, v)))
    }

    /// Goes on if `low <= v <= MAX_ELEMENTS`.
    fn limited(&mut self, v: Value, low: f64) {
        let (low, high) = (self.s.constant(low), self.s.constant(MAX_ELEMENTS as f64));
        let a = self.s.b.ins().fcmp(FloatCC::GreaterThanOrEqual, v, low);
        let b = self.s.b.ins().fcmp(FloatCC::LessThanOrEqual, v, high);
        let ok = self.s.b.ins().band(a, b);
        self.check(ok);
    }

    // ---- scalars

    fn get(&mut self, k: u32) -> Sc {
        if let Some((n, _)) = self.whole[k as usize] {
            return Sc { v: self.as_real(n), d: None };
        }
        let (v, d) = self.scalars[k as usize];
        if self.f.integer[k as usize] {
            let n = N::V(self.s.b.use_var(v));
            return Sc { v: self.as_real(n), d: None };
        }
        Sc { v: Val::Real(self.s.b.use_var(v)), d: d.map(|d| self.s.b.use_var(d)) }
    }

    fn set(&mut self, k: u32, v: Sc) {
        if self.f.integer[k as usize] {
            let n = self.integer(v.v);
            return self.set_whole(k, n);
        }
        let (var, dvar) = self.scalars[k as usize];
        let x = self.s.real(v.v);
        self.s.b.def_var(var, x);
        if let Some(dvar) = dvar {
            let d = self.d(v);
            self.s.b.def_var(dvar, d);
        }
        self.whole[k as usize] = None;
    }

    /// Gives an Integer a value; gives up if it is so large that sums of such could lose digits.
    fn set_whole(&mut self, k: u32, n: N) {
        const LIMIT: i64 = 1 << INTEGER_BITS;
        match n {
            N::C(c) if c.abs() <= LIMIT => {}
            N::C(_) => self.fail(),
            N::V(v) => {
                let shifted = self.s.b.ins().iadd_imm_s(v, LIMIT);
                let ok = self.s.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, shifted, 2 * LIMIT);
                self.check(ok);
            }
        }
        self.set_checked(k, n);
    }

    /// The same where it is known not to be too large.
    fn set_checked(&mut self, k: u32, n: N) {
        self.room = self.room.filter(|r| r.0 != k);
        let n = self.n(n);
        self.s.b.def_var(self.scalars[k as usize].0, n);
        self.whole[k as usize] = None;
    }

    /// The derivative as a number.
    pub fn d(&mut self, v: Sc) -> Value {
        match v.d {
            Some(d) => d,
            None => self.s.constant(0.0),
        }
    }

    /// `f` if the direction `d` does not vanish, else zero.
    fn moving(&mut self, d: Value, f: impl FnOnce(&mut Self) -> Res<Value>) -> Res<Value> {
        let zero = self.s.constant(0.0);
        let still = self.s.b.ins().fcmp(FloatCC::Equal, d, zero);
        let (go, end) = (self.s.b.create_block(), self.s.b.create_block());
        let r = self.s.b.append_block_param(end, types::F64);
        self.s.b.ins().brif(still, end, &[BlockArg::Value(zero)], go, &[]);
        self.s.b.switch_to_block(go);
        let v = f(self)?;
        self.s.b.ins().jump(end, &[BlockArg::Value(v)]);
        self.s.b.switch_to_block(end);
        Ok(r)
    }

    /// `d * factor`, zero if the direction vanishes.
    fn term(&mut self, d: Value, factor: Value) -> Value {
        let zero = self.s.constant(0.0);
        let still = self.s.b.ins().fcmp(FloatCC::Equal, d, zero);
        let p = self.s.b.ins().fmul(d, factor);
        self.s.b.ins().select(still, zero, p)
    }

    pub fn unary(&mut self, op: Unary, a: Sc) -> Res<Sc> {
        if let (Val::Const(v), None) = (a.v, a.d) {
            return Ok(Sc::num(saltus_expr::unary(op, v)));
        }
        let v = self.s.unary(op, a.v)?;
        let Some(d) = a.d else { return Ok(Sc { v, d: None }) };
        let d = match op {
            Unary::Not | Unary::Sign | Unary::Floor | Unary::Ceil | Unary::Trunc | Unary::Event => None,
            Unary::Neg => Some(self.s.b.ins().fneg(d)),
            Unary::Abs => {
                let (x, zero) = (self.s.real(a.v), self.s.constant(0.0));
                let up = self.s.b.ins().fcmp(FloatCC::GreaterThanOrEqual, x, zero);
                let down = self.s.b.ins().fneg(d);
                Some(self.s.b.ins().select(up, d, down))
            }
            _ => {
                let (x, r) = (self.s.real(a.v), self.s.real(v));
                Some(self.moving(d, |e| {
                    let slope = match op {
                        Unary::Exp => r,
                        Unary::Sqrt => {
                            let (two, one) = (e.s.constant(2.0), e.s.constant(1.0));
                            let twice = e.s.b.ins().fmul(two, r);
                            e.s.b.ins().fdiv(one, twice)
                        }
                        _ => {
                            let number = e.s.constant(crate::functions::number_of(op));
                            e.s.library("saltus_slope", &[number, x, r])?
                        }
                    };
                    Ok(e.s.b.ins().fmul(slope, d))
                })?)
            }
        };
        Ok(Sc { v, d })
    }

    pub fn binary(&mut self, op: Binary, a: Sc, b: Sc) -> Res<Sc> {
        if let (Val::Const(x), Val::Const(y), None, None) = (a.v, b.v, a.d, b.d) {
            return Ok(Sc::num(saltus_expr::binary(op, x, y)));
        }
        let v = self.s.binary(op, a.v, b.v)?;
        if a.d.is_none() && b.d.is_none() {
            return Ok(Sc { v, d: None });
        }
        let both = |e: &mut Self, x: Option<Value>, y: Option<Value>| match (x, y) {
            (Some(x), Some(y)) => Some(e.s.b.ins().fadd(x, y)),
            (x, y) => x.or(y),
        };
        let d = match op {
            Binary::Add => both(self, a.d, b.d),
            Binary::Sub => match (a.d, b.d) {
                (Some(x), Some(y)) => Some(self.s.b.ins().fsub(x, y)),
                (x, y) => x.or_else(|| y.map(|y| self.s.b.ins().fneg(y))),
            },
            Binary::Mul => {
                let left = a.d.map(|d| {
                    let factor = self.s.real(b.v);
                    self.term(d, factor)
                });
                let right = b.d.map(|d| {
                    let factor = self.s.real(a.v);
                    self.term(d, factor)
                });
                both(self, left, right)
            }
            Binary::Div => {
                let rise = match (a.d, b.d) {
                    (Some(x), None) => x,
                    (x, Some(y)) => {
                        let q = self.s.real(v);
                        let t = self.term(y, q);
                        match x {
                            Some(x) => self.s.b.ins().fsub(x, t),
                            None => self.s.b.ins().fneg(t),
                        }
                    }
                    (None, None) => unreachable!("handled above"),
                };
                let (zero, y) = (self.s.constant(0.0), self.s.real(b.v));
                let still = self.s.b.ins().fcmp(FloatCC::Equal, rise, zero);
                let q = self.s.b.ins().fdiv(rise, y);
                Some(self.s.b.ins().select(still, zero, q))
            }
            Binary::Pow if b.d.is_none() => {
                let Some(d) = a.d else { unreachable!("one of them moves") };
                let exponent = b.v;
                Some(self.moving(d, |e| {
                    let lower = match exponent {
                        Val::Const(c) => Val::Const(c - 1.0),
                        other => {
                            let (x, one) = (e.s.real(other), e.s.constant(1.0));
                            Val::Real(e.s.b.ins().fsub(x, one))
                        }
                    };
                    let p = match lower {
                        Val::Const(1.0) => a.v,
                        _ => e.s.binary(Binary::Pow, a.v, lower)?,
                    };
                    let (p, c) = (e.s.real(p), e.s.real(exponent));
                    let slope = e.s.b.ins().fmul(c, p);
                    Ok(e.s.b.ins().fmul(slope, d))
                })?)
            }
            Binary::Pow | Binary::Atan2 => {
                let number = self.s.constant(if op == Binary::Pow { 0.0 } else { 1.0 });
                let (x, y) = (self.s.real(a.v), self.s.real(b.v));
                let (dx, dy) = (self.d(a), self.d(b));
                Some(self.s.library("saltus_slope2", &[number, x, dx, y, dy])?)
            }
            Binary::Min | Binary::Max => {
                let (x, y) = (self.s.real(a.v), self.s.real(b.v));
                let cc = if op == Binary::Min { FloatCC::LessThan } else { FloatCC::GreaterThan };
                let second = self.s.b.ins().fcmp(cc, y, x);
                let (dx, dy) = (self.d(a), self.d(b));
                Some(self.s.b.ins().select(second, dy, dx))
            }
            _ => None,
        };
        Ok(Sc { v, d })
    }

    pub fn op2(&mut self, op: Op2, a: Sc, b: Sc) -> Res<Sc> {
        match op {
            Op2::Bin(op) => self.binary(op, a, b),
            Op2::Div | Op2::Mod | Op2::Rem => {
                let (x, y, zero) = (self.s.real(a.v), self.s.real(b.v), self.s.constant(0.0));
                let ok = self.s.b.ins().fcmp(FloatCC::NotEqual, y, zero);
                self.check(ok);
                let number = self.s.constant(match op {
                    Op2::Div => 0.0,
                    Op2::Mod => 1.0,
                    _ => 2.0,
                });
                if a.d.is_none() && b.d.is_none() {
                    return Ok(Sc { v: Val::Real(self.s.library("saltus_division", &[number, x, y])?), d: None });
                }
                let (dx, dy) = (self.d(a), self.d(b));
                let v = self.s.library("saltus_division_dual", &[number, x, dx, y, dy])?;
                let d = self.s.library("saltus_division_slope", &[number, x, dx, y, dy])?;
                Ok(Sc { v: Val::Real(v), d: Some(d) })
            }
            Op2::Concat => self.text("saltus_concat", &[a, b]),
            Op2::Text(op) => {
                let order = self.text("saltus_compare", &[a, b])?;
                self.binary(op, order, Sc::num(0.0))
            }
        }
    }

    /// An operation on texts: numbers to the number of a text, or of their order. Nothing of it has a derivative.
    fn text(&mut self, name: &'static str, args: &[Sc]) -> Res<Sc> {
        let args: Vec<Value> = args.iter().map(|a| self.s.real(a.v)).collect();
        Ok(Sc { v: Val::Real(self.s.library(name, &args)?), d: None })
    }

    pub fn select(&mut self, c: Value, a: Sc, b: Sc) -> Sc {
        let (x, y) = (self.s.real(a.v), self.s.real(b.v));
        let v = Val::Real(self.s.b.ins().select(c, x, y));
        let d = if a.d.is_none() && b.d.is_none() {
            None
        } else {
            let (x, y) = (self.d(a), self.d(b));
            Some(self.s.b.ins().select(c, x, y))
        };
        Sc { v, d }
    }

    pub fn semi_linear(&mut self, x: Sc, p: Sc, n: Sc) -> Res<Sc> {
        let c = self.s.binary(Binary::Ge, x.v, Val::Const(0.0))?;
        let a = self.binary(Binary::Mul, p, x)?;
        let b = self.binary(Binary::Mul, n, x)?;
        let c = self.s.truth(c);
        Ok(self.select(c, a, b))
    }

    /// Emits both ways of a choice; the results meet.
    fn branch(
        &mut self,
        c: Value,
        yes: impl FnOnce(&mut Self) -> Res<Sc>,
        no: impl FnOnce(&mut Self) -> Res<Sc>,
    ) -> Res<Sc> {
        let (then, els, end) = (self.s.b.create_block(), self.s.b.create_block(), self.s.b.create_block());
        let v = self.s.b.append_block_param(end, types::F64);
        let d = self.dual.then(|| self.s.b.append_block_param(end, types::F64));
        self.s.b.ins().brif(c, then, &[], els, &[]);
        let meet = |e: &mut Self, r: Sc| {
            let mut args = vec![BlockArg::Value(e.s.real(r.v))];
            if e.dual {
                args.push(BlockArg::Value(e.d(r)));
            }
            e.s.b.ins().jump(end, &args);
            e.leave();
        };
        self.s.b.switch_to_block(then);
        self.enter();
        let r = yes(self)?;
        meet(self, r);
        self.s.b.switch_to_block(els);
        self.enter();
        let r = no(self)?;
        meet(self, r);
        self.s.b.switch_to_block(end);
        Ok(Sc { v: Val::Real(v), d })
    }

    pub fn sx(&mut self, e: &Sx) -> Res<Sc> {
        Ok(match e {
            Sx::Num(v) => Sc::num(*v),
            Sx::Local(k) => self.get(*k),
            Sx::BinLL(op, a, b) => {
                if let Some(truth) = self.whole_relation(*op, &Sx::Local(*a), &Sx::Local(*b)) {
                    return Ok(truth);
                }
                let (a, b) = (self.get(*a), self.get(*b));
                self.binary(*op, a, b)?
            }
            Sx::BinLN(op, a, v) => {
                if let Some(truth) = self.whole_relation(*op, &Sx::Local(*a), &Sx::Num(*v)) {
                    return Ok(truth);
                }
                let a = self.get(*a);
                self.binary(*op, a, Sc::num(*v))?
            }
            Sx::Bin(op, ab) => {
                if let Some(truth) = self.whole_relation(*op, &ab.0, &ab.1) {
                    return Ok(truth);
                }
                let a = self.sx(&ab.0)?;
                let b = self.sx(&ab.1)?;
                self.binary(*op, a, b)?
            }
            Sx::Un(op, a) => {
                let a = self.sx(a)?;
                self.unary(*op, a)?
            }
            Sx::Op2(op, ab) => {
                let a = self.sx(&ab.0)?;
                let b = self.sx(&ab.1)?;
                self.op2(*op, a, b)?
            }
            Sx::And(ab) => {
                let a = self.sx(&ab.0)?;
                let c = self.s.truth(a.v);
                self.branch(c, |e| e.truth_of(&ab.1), |_| Ok(Sc::num(0.0)))?
            }
            Sx::Or(ab) => {
                let a = self.sx(&ab.0)?;
                let c = self.s.truth(a.v);
                self.branch(c, |_| Ok(Sc::num(1.0)), |e| e.truth_of(&ab.1))?
            }
            Sx::If(parts) => {
                let c = self.sx(&parts.0)?;
                if let Val::Const(v) = c.v {
                    return self.sx(if v != 0.0 { &parts.1 } else { &parts.2 });
                }
                let c = self.s.truth(c.v);
                self.branch(c, |e| e.sx(&parts.1), |e| e.sx(&parts.2))?
            }
            Sx::Elem1(k, i) => {
                if let Some(c) = self.carried.iter().find(|c| c.array == *k && is_previous(i, c.index)) {
                    let previous = c.previous;
                    return Ok(self.take_carry(previous));
                }
                let mem = self.local(*k);
                let [n] = mem.dims[..] else { return unsupported("a lost dimension") };
                let i = self.position_in(i, n, Some((*k, 0)))?;
                self.load(&mem, &[i])
            }
            Sx::Elem2(k, ij) => {
                let mem = self.local(*k);
                let [m, n] = mem.dims[..] else { return unsupported("a lost dimension") };
                let i = self.position_in(&ij.0, m, Some((*k, 0)))?;
                let j = self.position_in(&ij.1, n, Some((*k, 1)))?;
                self.load(&mem, &[i, j])
            }
            Sx::ElemN(k, at) => {
                let mem = self.local(*k);
                if mem.dims.len() != at.len() {
                    return unsupported("a lost dimension");
                }
                let mut ix = Vec::new();
                for (e, n) in at.iter().zip(mem.dims.clone()) {
                    ix.push(self.position(e, n)?);
                }
                self.load(&mem, &ix)
            }
            Sx::Pick(base, at) => {
                let arr = self.ax(base)?;
                let mut ix = Vec::new();
                for (e, n) in at.iter().zip(arr.dims()) {
                    ix.push(self.position(e, n)?);
                }
                if ix.len() != arr.dims().len() {
                    return unsupported("a missing subscript");
                }
                let constant = ix.iter().all(|i| matches!(i, N::C(_)));
                let arr = if constant { arr } else { self.settle(arr)? };
                self.elem(&arr, &ix)?
            }
            Sx::SizeLocal(k, d) => {
                let n = self.local(*k).dims.get(*d as usize).copied().unwrap_or(N::C(0));
                Sc { v: self.as_real(n), d: None }
            }
            Sx::Size(parts) => {
                let arr = self.ax(&parts.0)?;
                let Some(N::C(d)) = self.whole(&parts.1) else { return unsupported("a size by a computed number") };
                match arr.dims().get((d - 1).max(0) as usize) {
                    Some(n) if d >= 1 => Sc { v: self.as_real(*n), d: None },
                    _ => {
                        self.fail();
                        Sc::num(0.0)
                    }
                }
            }
            Sx::Call(f, args, out) => {
                let (frame, callee) = self.call(*f, args)?;
                let layout = FrameLayout::of(callee, self.dual);
                match layout.outputs.get(*out as usize) {
                    Some(p) if p.rank.is_none() => self.load_scalar(frame, *p),
                    _ => return unsupported("an array output as a scalar"),
                }
            }
            Sx::Reduce(red, a) => {
                let arr = self.ax(a)?;
                self.reduce(*red, &arr)?
            }
            Sx::ReduceFor(red, body, iters) => {
                // The first value starts the result, so that its sign of zero survives.
                let acc = self.s.b.declare_var(types::F64);
                let dacc = self.dual.then(|| self.s.b.declare_var(types::F64));
                let first = self.s.b.declare_var(types::I8);
                let start = self.s.constant(empty(*red));
                let one = self.s.b.ins().iconst(types::I8, 1);
                self.s.b.def_var(acc, start);
                self.s.b.def_var(first, one);
                if let Some(d) = dacc {
                    let zero = self.s.constant(0.0);
                    self.s.b.def_var(d, zero);
                }
                self.nest(iters, &mut |e| {
                    let v = e.sx(body)?;
                    let old = Sc { v: Val::Real(e.s.b.use_var(acc)), d: dacc.map(|d| e.s.b.use_var(d)) };
                    let new = e.binary(combine(*red), old, v)?;
                    let is_first = e.s.b.use_var(first);
                    let new = e.select(is_first, v, new);
                    let x = e.s.real(new.v);
                    e.s.b.def_var(acc, x);
                    if let Some(d) = dacc {
                        let x = e.d(new);
                        e.s.b.def_var(d, x);
                    }
                    let zero = e.s.b.ins().iconst(types::I8, 0);
                    e.s.b.def_var(first, zero);
                    Ok(())
                })?;
                Sc { v: Val::Real(self.s.b.use_var(acc)), d: dacc.map(|d| self.s.b.use_var(d)) }
            }
            Sx::Dot(ab) => {
                let a = self.ax(&ab.0)?;
                let b = self.ax(&ab.1)?;
                self.equal(a.dims()[0], b.dims()[0]);
                let product = Arr::map2(Op2::Bin(Binary::Mul), a, b);
                self.reduce(Red::Sum, &product)?
            }
            Sx::Scalar(a) => match &**a {
                Arg::S(s) => self.sx(s)?,
                Arg::A(a) => {
                    let arr = self.ax(a)?;
                    for n in arr.dims() {
                        self.equal(n, N::C(1));
                    }
                    let zeros = vec![N::C(0); arr.dims().len()];
                    self.elem(&arr, &zeros)?
                }
            },
            Sx::SemiLinear(parts) => {
                let x = self.sx(&parts.0)?;
                let p = self.sx(&parts.1)?;
                let n = self.sx(&parts.2)?;
                self.semi_linear(x, p, n)?
            }
            Sx::ToString(ty, args) => {
                let mut all = vec![Sc::num(number_of_type(*ty))];
                for a in args {
                    all.push(self.sx(a)?);
                }
                all.resize(5, Sc::num(f64::NAN));
                self.text("saltus_string", &all)?
            }
            Sx::Format(parts) => {
                let x = self.sx(&parts.0)?;
                let f = self.sx(&parts.1)?;
                let text = self.text("saltus_format", &[x, f])?;
                let v = self.s.real(text.v);
                let ok = self.s.b.ins().fcmp(FloatCC::Equal, v, v);
                self.check(ok);
                text
            }
            Sx::EnumToString(args) => {
                let mut all = Vec::new();
                for a in args {
                    all.push(self.sx(a)?);
                }
                let [which, names @ ..] = &all[..] else { return unsupported("an enumeration without values") };
                let which = self.s.real(which.v);
                let (one, end) = (self.s.constant(1.0), self.s.constant(all.len() as f64));
                let ok = self.s.b.ins().fcmp(FloatCC::GreaterThanOrEqual, which, one);
                self.check(ok);
                let ok = self.s.b.ins().fcmp(FloatCC::LessThan, which, end);
                self.check(ok);
                let mut name = names[0];
                for (k, next) in names.iter().enumerate().skip(1) {
                    let bound = self.s.constant((k + 1) as f64);
                    let there = self.s.b.ins().fcmp(FloatCC::GreaterThanOrEqual, which, bound);
                    name = self.select(there, *next, name);
                }
                name
            }
            Sx::Compare(ab) => {
                let a = self.sx(&ab.0)?;
                let b = self.sx(&ab.1)?;
                self.text("saltus_compare", &[a, b])?
            }
        })
    }

    fn truth_of(&mut self, e: &Sx) -> Res<Sc> {
        let v = self.sx(e)?;
        let t = self.s.truth(v.v);
        Ok(Sc { v: Val::Truth(t), d: None })
    }

    // ---- loops

    /// A loop over `0..n`; `body` may leave it through `breaks`.
    pub fn count(&mut self, n: N, body: &mut dyn FnMut(&mut Self, Value) -> Res<()>) -> Res<()> {
        self.turns(n, 0..0, &mut |e, turn| {
            body(e, turn.i)?;
            e.end_turn(turn);
            Ok(())
        })
    }

    /// The same with a body that ends its turns itself, as often as that comes up.
    fn turns(
        &mut self,
        n: N,
        carried: std::ops::Range<usize>,
        body: &mut dyn FnMut(&mut Self, &Turn) -> Res<()>,
    ) -> Res<()> {
        let n = self.n(n);
        let counter = self.s.b.declare_var(types::I64);
        let zero = self.s.b.ins().iconst(types::I64, 0);
        self.s.b.def_var(counter, zero);
        // Tested before the first time and after each: one jump a turn.
        let (inside, end) = (self.s.b.create_block(), self.s.b.create_block());
        let any = self.s.b.ins().icmp(IntCC::SignedGreaterThan, n, zero);
        self.s.b.ins().brif(any, inside, &[], end, &[]);
        self.s.b.switch_to_block(inside);
        let i = self.s.b.use_var(counter);
        self.enter();
        self.breaks.push(end);
        body(self, &Turn { i, counter, n, inside, end, carried })?;
        self.breaks.pop();
        self.leave();
        self.s.b.switch_to_block(end);
        Ok(())
    }

    /// Ends a turn: the next one begins, if there is one.
    fn end_turn(&mut self, turn: &Turn) {
        for c in turn.carried.clone() {
            let (previous, now) = (self.carried[c].previous, self.carried[c].now);
            let v = self.take_carry(now);
            self.put_carry(previous, v);
        }
        let next = self.s.b.ins().iadd_imm_s(turn.i, 1);
        self.s.b.def_var(turn.counter, next);
        let more = self.s.b.ins().icmp(IntCC::SignedLessThan, next, turn.n);
        self.s.b.ins().brif(more, turn.inside, &[], turn.end, &[]);
    }

    /// The statements of a turn and its end. Where an `if` comes last each of its branches ends the turn, which saves a jump.
    fn turn(&mut self, stmts: &[Stmt], turn: &Turn) -> Res<()> {
        if let Some((Stmt { st: St::If(branches, rest), .. }, before)) = stmts.split_last() {
            self.block(before)?;
            return self.last_if(branches, rest, turn);
        }
        self.block(stmts)?;
        self.end_turn(turn);
        Ok(())
    }

    fn last_if(&mut self, branches: &[(Sx, Box<[Stmt]>)], rest: &[Stmt], turn: &Turn) -> Res<()> {
        let Some(((c, body), more)) = branches.split_first() else { return self.turn(rest, turn) };
        let c = self.sx(c)?;
        if let Val::Const(v) = c.v {
            return if v != 0.0 { self.turn(body, turn) } else { self.last_if(more, rest, turn) };
        }
        let c = self.s.truth(c.v);
        let (then, els) = (self.s.b.create_block(), self.s.b.create_block());
        self.s.b.ins().brif(c, then, &[], els, &[]);
        self.s.b.switch_to_block(then);
        self.enter();
        self.turn(body, turn)?;
        self.leave();
        self.s.b.switch_to_block(els);
        self.enter();
        self.last_if(more, rest, turn)?;
        self.leave();
        Ok(())
    }

    /// First value, step and number of a range, with its first value as an integer where that is known.
    pub fn range(&mut self, a: &Sx, s: Option<&Sx>, b: &Sx) -> Res<Range> {
        let step = match s {
            None => Sc::num(1.0),
            Some(s) => self.sx(s)?,
        };
        let start = self.whole_bits(a);
        let bits = start.map_or(INTEGER_BITS, |s| s.1);
        let start = start.map(|s| s.0);
        if let (Some(first), Val::Const(1.0)) = (start, step.v)
            && let Some(last) = self.whole(b)
        {
            let n = self.sub(last, first);
            let n = match self.add(n, N::C(1)) {
                N::C(c) => N::C(c.max(0)),
                N::V(v) => {
                    let zero = self.s.b.ins().iconst(types::I64, 0);
                    N::V(self.s.b.ins().smax(v, zero))
                }
            };
            self.equal_or_less(n);
            let first = self.as_real(first);
            return Ok(Range { first, step: step.v, n, start, bits });
        }
        let first = self.sx(a)?.v;
        let last = self.sx(b)?.v;
        if let (Val::Const(x), Val::Const(s), Val::Const(y)) = (first, step.v, last) {
            let q = (y - x) / s;
            let n = (q + 1e-10 * q.abs().max(1.0)).floor() + 1.0;
            if s == 0.0 || !q.is_finite() || n > MAX_ELEMENTS as f64 {
                self.fail();
                return Ok(Range { first, step: step.v, n: N::C(0), start, bits });
            }
            return Ok(Range { first, step: step.v, n: N::C(n.max(0.0) as i64), start, bits });
        }
        let (x, s, y) = (self.s.real(first), self.s.real(step.v), self.s.real(last));
        let zero = self.s.constant(0.0);
        let ok = self.s.b.ins().fcmp(FloatCC::NotEqual, s, zero);
        self.check(ok);
        for v in [x, s, y] {
            let infinity = self.s.constant(f64::INFINITY);
            let size = self.s.b.ins().fabs(v);
            let ok = self.s.b.ins().fcmp(FloatCC::LessThan, size, infinity);
            self.check(ok);
        }
        let rise = self.s.b.ins().fsub(y, x);
        let q = self.s.b.ins().fdiv(rise, s);
        let one = self.s.constant(1.0);
        let size = self.s.b.ins().fabs(q);
        let large = self.s.b.ins().fcmp(FloatCC::GreaterThan, size, one);
        let size = self.s.b.ins().select(large, size, one);
        let tiny = self.s.constant(1e-10);
        let slack = self.s.b.ins().fmul(tiny, size);
        let q = self.s.b.ins().fadd(q, slack);
        let q = self.s.b.ins().floor(q);
        let n = self.s.b.ins().fadd(q, one);
        let high = self.s.constant(MAX_ELEMENTS as f64);
        let ok = self.s.b.ins().fcmp(FloatCC::LessThanOrEqual, n, high);
        self.check(ok);
        let n = self.s.b.ins().fcvt_to_sint_sat(types::I64, n);
        let none = self.s.b.ins().iconst(types::I64, 0);
        let n = N::V(self.s.b.ins().smax(n, none));
        let start = match start {
            None => match first {
                Val::Const(c) if c.fract() == 0.0 && c.abs() < 1e9 => Some(N::C(c as i64)),
                _ => None,
            },
            some => some,
        };
        Ok(Range { first, step: step.v, n, start, bits })
    }

    fn equal_or_less(&mut self, n: N) {
        match n {
            N::C(c) if c <= MAX_ELEMENTS => {}
            N::C(_) => self.fail(),
            N::V(v) => {
                let ok = self.s.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, v, MAX_ELEMENTS);
                self.check(ok);
            }
        }
    }

    /// Value number `i` of a range.
    pub fn range_value(&mut self, r: &Range, i: N) -> (Val, Option<N>) {
        if let (Some(start), Val::Const(s)) = (r.start, r.step)
            && s.fract() == 0.0
            && s.abs() < 1e9
        {
            let p = self.mul(i, N::C(s as i64));
            let v = self.add(start, p);
            return (self.as_real(v), Some(v));
        }
        let i = self.as_real(i);
        let (i, s, a) = (self.s.real(i), self.s.real(r.step), self.s.real(r.first));
        let p = self.s.b.ins().fmul(i, s);
        (Val::Real(self.s.b.ins().fadd(a, p)), None)
    }

    /// Runs `body` for all values of the iterators, the last outermost; gives the number of values of each.
    pub fn nest(&mut self, iters: &[(u32, Iter)], body: &mut dyn FnMut(&mut Self) -> Res<()>) -> Res<Vec<N>> {
        let mut lists = Vec::new();
        for (slot, it) in iters {
            lists.push((*slot, self.list(it)?));
        }
        let sizes: Vec<N> = lists.iter().map(|(_, l)| l.len()).collect();
        self.nested(&lists, body)?;
        Ok(sizes)
    }

    /// The sizes of an array expression for the first values of iterators; without values it is left to the executor.
    pub fn first_sizes(&mut self, body: &Ax, iters: &[(u32, Iter)]) -> Res<Vec<N>> {
        for (slot, it) in iters {
            let list = self.list(it)?;
            match list.len() {
                N::C(c) if c > 0 => {}
                N::C(_) => return unsupported("arrays over nothing"),
                N::V(n) => self.check(n),
            }
            self.forget(Slot::S(*slot));
            self.iterate(*slot, &list, N::C(0))?;
        }
        let dims = self.ax(body)?.dims();
        for (slot, _) in iters {
            self.forget(Slot::S(*slot));
            self.whole[*slot as usize] = None;
        }
        Ok(dims)
    }

    /// The values of an iterator.
    fn list(&mut self, it: &Iter) -> Res<List> {
        Ok(match it {
            Iter::Range(a, s, b) => List::Range(self.range(a, s.as_ref(), b)?),
            Iter::Over(e) => {
                let arr = self.ax(e)?;
                List::Values(self.settle(arr)?)
            }
        })
    }

    fn nested(&mut self, lists: &[(u32, List)], body: &mut dyn FnMut(&mut Self) -> Res<()>) -> Res<()> {
        let Some(((slot, list), rest)) = lists.split_last() else { return body(self) };
        let n = list.len();
        self.forget(Slot::S(*slot));
        let mut each = |e: &mut Self, i: N| -> Res<()> {
            e.forget(Slot::S(*slot));
            e.iterate(*slot, list, i)?;
            e.nested(rest, body)?;
            e.whole[*slot as usize] = None;
            Ok(())
        };
        match n {
            N::C(c) if c <= 4 => {
                for i in 0..c {
                    each(self, N::C(i))?;
                }
                self.forget(Slot::S(*slot));
                Ok(())
            }
            n => self.count(n, &mut |e, i| each(e, N::V(i))),
        }
    }

    /// Gives a loop variable its value number `i`.
    fn iterate(&mut self, slot: u32, list: &List, i: N) -> Res<()> {
        match list {
            List::Range(r) => {
                let (v, whole) = self.range_value(r, i);
                let bits = match r.step {
                    Val::Const(s) => r.bits.max(28 + (64 - (s.abs() as u64).leading_zeros())) + 1,
                    _ => 63,
                };
                match whole {
                    // Known as it is; the variable itself is not needed.
                    Some(n) => {
                        self.define(slot, n);
                        self.whole[slot as usize] = Some((n, bits));
                    }
                    None => self.set(slot, Sc { v, d: None }),
                }
            }
            List::Values(a) => {
                let v = self.elem(a, &[i])?;
                self.set(slot, v);
            }
        }
        Ok(())
    }

    /// Gives a loop variable a whole number.
    fn define(&mut self, slot: u32, n: N) {
        if self.f.integer[slot as usize] {
            let n = self.n(n);
            self.s.b.def_var(self.scalars[slot as usize].0, n);
        } else {
            let v = self.as_real(n);
            self.set(slot, Sc { v, d: None });
        }
    }

    // ---- calls

    /// Drops what was computed from a local.
    fn forget(&mut self, slot: Slot) {
        self.known.retain(|k| !k.reads.contains(&slot));
    }

    /// Enters a branch or a loop.
    pub fn enter(&mut self) {
        self.level += 1;
    }

    /// Leaves it: what was computed inside is not at hand outside.
    pub fn leave(&mut self) {
        self.level -= 1;
        let level = self.level;
        self.known.retain(|k| k.level <= level);
    }

    /// Calls a function; its results stand in the frame. Equal calls between which nothing changed are one.
    pub fn call(&mut self, id: FuncId, args: &[Arg]) -> Res<(Value, &'a Lowered)> {
        let Some(callee) = self.executor.lowered(id) else { return unsupported("a malformed function") };
        if callee.impure {
            return unsupported("an impure function");
        }
        let key = format!("{} {args:?}", id.0);
        if let Some(k) = self.known.iter().find(|k| k.key == key) {
            return Ok((k.frame, callee));
        }
        let layout = FrameLayout::of(callee, self.dual);
        let mut values = Vec::new();
        for a in args {
            values.push(match a {
                Arg::S(s) => Ok(self.sx(s)?),
                Arg::A(a) => {
                    let arr = self.ax(a)?;
                    Err(self.in_memory(&arr)?)
                }
            });
        }
        let frame = self.frame(layout.size);
        for (v, p) in values.iter().zip(&layout.inputs) {
            match v {
                Ok(v) => self.store_scalar(frame, *p, *v),
                Err(mem) => self.store_array(frame, *p, mem),
            }
        }
        self.invoke(id, frame, self.dual);
        let arena = callee.outputs.iter().any(|o| matches!(o.slot, Slot::A(_)));
        self.took |= arena;
        let mut inputs = Vec::new();
        args.iter().for_each(|a| reads(a.into(), &mut |s| inputs.push(s)));
        if !callee.has_object {
            self.known.push(Known { key, reads: inputs, frame, level: self.level, arena });
        }
        Ok((frame, callee))
    }

    fn invoke(&mut self, id: FuncId, frame: Value, dual: bool) {
        let table = self.out.tables[usize::from(dual)];
        let at = self.s.b.ins().iconst(types::I64, (table + 8 * id.0 as usize) as i64);
        let entry = self.s.b.ins().load(types::I64, plain(), at, 0);
        let number = self.s.b.ins().iconst(types::I64, i64::from(id.0));
        let call = self.s.b.ins().call_indirect(self.sig, entry, &[self.ctx, frame, number]);
        let status = self.s.b.inst_results(call)[0];
        let next = self.s.b.create_block();
        self.s.b.ins().brif(status, self.bail, &[], next, &[]);
        self.s.b.switch_to_block(next);
    }

    /// An array result of a call.
    pub fn output(&mut self, frame: Value, callee: &Lowered, out: usize) -> Res<Mem> {
        let layout = FrameLayout::of(callee, self.dual);
        let (Some(o), Some(p)) = (callee.outputs.get(out), layout.outputs.get(out)) else {
            return unsupported("a missing output");
        };
        if p.rank.is_none() {
            return unsupported("a scalar output as an array");
        }
        let fixed: Vec<Option<i64>> =
            o.dims.iter().map(|d| if let DimCode::Fixed(n) = d { Some(*n as i64) } else { None }).collect();
        let mut mem = self.load_array(frame, *p, &fixed);
        mem.fresh = true;
        Ok(mem)
    }

    // ---- statements

    /// Emits statements; what comes after a jump is never reached.
    fn block(&mut self, stmts: &[Stmt]) -> Res<()> {
        for s in stmts {
            match &s.st {
                St::If(branches, rest) => self.if_statement(branches, rest)?,
                St::For(k, iter, body) => self.for_statement(*k, iter, body)?,
                St::While(c, body) => self.while_statement(c, body)?,
                St::Break => {
                    let Some(&to) = self.breaks.last() else { return unsupported("break outside a loop") };
                    self.s.b.ins().jump(to, &[]);
                    let dead = self.s.b.create_block();
                    self.s.b.switch_to_block(dead);
                }
                St::Return => {
                    self.s.b.ins().jump(self.exit, &[]);
                    let dead = self.s.b.create_block();
                    self.s.b.switch_to_block(dead);
                }
                St::Terminate(_) => self.fail(),
                // Where it is not reached every time, what only the executor can do ends the call, to be repeated there.
                other if self.level > 0 && self.is_foreign(other) => self.fail(),
                other => self.simple(other)?,
            }
        }
        Ok(())
    }

    /// Whether a statement builds strings or has effects.
    fn is_foreign(&self, st: &St) -> bool {
        let impure = |f: FuncId| self.executor.lowered(f).is_none_or(|l| l.impure);
        let mut found = matches!(st, St::Multi(_, f, _) if impure(*f));
        visit_simple(st, &mut |p| {
            found |= match p {
                Part::S(Sx::ToString(..) | Sx::Format(_) | Sx::EnumToString(_) | Sx::Compare(_)) => true,
                Part::S(Sx::Op2(Op2::Concat | Op2::Text(_), _)) | Part::A(Ax::Map2(Op2::Concat | Op2::Text(_), _)) => {
                    true
                }
                Part::S(Sx::Call(f, ..)) | Part::A(Ax::Call(f, ..)) => impure(*f),
                _ => false,
            };
        });
        found
    }

    /// A statement without statements inside: memory it took from the arena for itself is given back.
    fn simple(&mut self, st: &St) -> Res<()> {
        let outer = std::mem::replace(&mut self.took, false);
        let mark = self.s.b.ins().load(types::I64, plain(), self.ctx, context::TOP);
        let kept = match st {
            St::SetS(k, e) => {
                let whole = if self.f.integer[*k as usize] { self.whole(e) } else { None };
                if let Some(n) = whole {
                    self.forget(Slot::S(*k));
                    match self.room {
                        Some((j, by)) if j == *k && is_moved(e, j, by) => self.set_checked(*k, n),
                        _ => self.set_whole(*k, n),
                    }
                } else {
                    let v = self.sx(e)?;
                    self.forget(Slot::S(*k));
                    self.set(*k, v);
                }
                false
            }
            St::SetElem1(k, i, e) => {
                let v = self.sx(e)?;
                let mem = self.local(*k);
                let [n] = mem.dims[..] else { return unsupported("a lost dimension") };
                let at = self.position_in(i, n, Some((*k, 0)))?;
                self.forget(Slot::A(*k));
                self.store(&mem, &[at], v);
                let carry = self.carried.iter().find(|c| c.array == *k && matches!(i, Sx::Local(v) if *v == c.index));
                if let Some(now) = carry.map(|c| c.now) {
                    self.put_carry(now, v);
                }
                false
            }
            St::SetElem2(k, parts) => {
                let v = self.sx(&parts.2)?;
                let mem = self.local(*k);
                let [m, n] = mem.dims[..] else { return unsupported("a lost dimension") };
                let i = self.position_in(&parts.0, m, Some((*k, 0)))?;
                let j = self.position_in(&parts.1, n, Some((*k, 1)))?;
                self.forget(Slot::A(*k));
                self.store(&mem, &[i, j], v);
                false
            }
            St::SetA(k, e) => {
                let arr = self.ax(e)?;
                self.forget(Slot::A(*k));
                self.set_array(*k, arr, crate::array::aligned(e, *k))?
            }
            St::SetPart(k, ix, e) => {
                let v = match e {
                    Arg::S(s) => Ok(self.sx(s)?),
                    Arg::A(a) => Err(self.ax(a)?),
                };
                self.set_part(*k, ix, v)?;
                false
            }
            St::Multi(targets, f, args) => {
                let (frame, callee) = self.call(*f, args)?;
                let layout = FrameLayout::of(callee, self.dual);
                let mut kept = false;
                for (i, t) in targets.iter().enumerate() {
                    let (Some(t), Some(p)) = (t, layout.outputs.get(i)) else { continue };
                    match (t, p.rank) {
                        (Target::S(k), None) => {
                            let v = self.load_scalar(frame, *p);
                            self.forget(Slot::S(*k));
                            self.set(*k, v);
                        }
                        (Target::Part(k, ix), None) => {
                            let v = self.load_scalar(frame, *p);
                            self.set_part(*k, ix, Ok(v))?;
                        }
                        (Target::A(k), Some(_)) => {
                            let mem = self.output(frame, callee, i)?;
                            self.forget(Slot::A(*k));
                            kept |= self.set_array(*k, Arr::Mem(mem), true)?;
                        }
                        (Target::Part(k, ix), Some(_)) => {
                            let mem = self.output(frame, callee, i)?;
                            self.set_part(*k, ix, Err(Arr::Mem(mem)))?;
                        }
                        _ => return unsupported("a target of another shape"),
                    }
                }
                kept
            }
            St::Assert(c, _, _) => {
                let c = self.sx(c)?;
                let c = self.s.truth(c.v);
                self.check(c);
                false
            }
            _ => return unsupported("an unknown statement"),
        };
        if self.took {
            self.known.retain(|k| !k.arena);
            if !kept {
                self.s.b.ins().store(plain(), mark, self.ctx, context::TOP);
            }
        }
        self.took = outer;
        Ok(())
    }

    /// Assigns a whole array; says whether the local now lives in memory the statement took.
    fn set_array(&mut self, k: u32, arr: Arr, aligned: bool) -> Res<bool> {
        let mem = self.local(k);
        let f = self.f;
        let free = &f.free[k as usize];
        let dims = arr.dims();
        if dims.len() != mem.dims.len() {
            return unsupported("a value of another rank");
        }
        for (i, (a, b)) in dims.iter().zip(mem.dims.clone()).enumerate() {
            if !free.get(i).copied().unwrap_or(false) {
                self.equal(*a, b);
            }
        }
        if free.is_empty() {
            let arr = if aligned || self.small(&dims) { arr } else { Arr::Mem(self.copy(&arr, true)?) };
            self.store_all(&arr, &mem)?;
            return Ok(false);
        }
        let new = match arr {
            Arr::Mem(m) if m.fresh => m,
            arr => self.copy(&arr, false)?,
        };
        self.put(k, &new);
        Ok(true)
    }

    fn set_part(&mut self, k: u32, ix: &[Ix], v: Result<Sc, Arr>) -> Res<()> {
        let mem = self.local(k);
        let view = self.axes(ix, &mem.dims.clone())?;
        let kept = view.dims();
        self.forget(Slot::A(k));
        match v {
            Ok(v) => {
                // A scalar may stand for a part of one element.
                for n in &kept {
                    self.equal(*n, N::C(1));
                }
                let zeros = vec![N::C(0); kept.len()];
                let at = self.through(&view, &zeros);
                self.store(&mem, &at, v);
                Ok(())
            }
            Err(arr) => {
                let dims = arr.dims();
                if dims.len() != kept.len() {
                    return unsupported("a part of another rank");
                }
                for (a, b) in dims.iter().zip(&kept) {
                    self.equal(*a, *b);
                }
                // The value may read what is written: it is computed before.
                let arr = if self.small(&dims) { self.grid(&arr)? } else { Arr::Mem(self.in_memory_copy(&arr)?) };
                self.each(&dims, &mut |e, idx| {
                    let v = e.elem(&arr, idx)?;
                    let at = e.through(&view, idx);
                    e.store(&mem, &at, v);
                    Ok(())
                })
            }
        }
    }

    /// Before code that may run or not, or several times: what it assigns is not known any more.
    fn forget_written(&mut self, stmts: &[Stmt]) {
        let mut gone = Vec::new();
        writes(stmts, &mut |s| gone.push(s));
        loops(stmts, &mut |k| gone.push(Slot::S(k)));
        for s in gone {
            self.forget(s);
            self.room = self.room.filter(|r| s != Slot::S(r.0));
        }
    }

    fn if_statement(&mut self, branches: &[(Sx, Box<[Stmt]>)], rest: &[Stmt]) -> Res<()> {
        let Some(((c, body), more)) = branches.split_first() else { return self.block(rest) };
        let c = self.sx(c)?;
        if let Val::Const(v) = c.v {
            return if v != 0.0 { self.block(body) } else { self.if_statement(more, rest) };
        }
        let c = self.s.truth(c.v);
        let (then, els, end) = (self.s.b.create_block(), self.s.b.create_block(), self.s.b.create_block());
        self.s.b.ins().brif(c, then, &[], els, &[]);
        self.s.b.switch_to_block(then);
        self.enter();
        self.block(body)?;
        self.leave();
        self.s.b.ins().jump(end, &[]);
        self.s.b.switch_to_block(els);
        self.enter();
        self.if_statement(more, rest)?;
        self.leave();
        self.s.b.ins().jump(end, &[]);
        self.s.b.switch_to_block(end);
        self.forget_written(body);
        for (_, b) in more {
            self.forget_written(b);
        }
        self.forget_written(rest);
        Ok(())
    }

    fn for_statement(&mut self, k: u32, iter: &Iter, body: &[Stmt]) -> Res<()> {
        let list = match iter {
            Iter::Range(a, s, b) => List::Range(self.range(a, s.as_ref(), b)?),
            Iter::Over(e) => {
                let arr = self.ax(e)?;
                // The loop may assign what it runs over.
                List::Values(Arr::Mem(self.in_memory_copy(&arr)?))
            }
        };
        let n = match &list {
            List::Range(r) => r.n,
            List::Values(a) => a.dims()[0],
        };
        let mut assigned = false;
        writes(body, &mut |s| assigned |= s == Slot::S(k));
        self.forget_written(body);
        self.forget(Slot::S(k));
        let span = self.span_of(iter);
        let first = span.map_or(0, |s| s.low);
        let known = self.carried.len();
        for array in self.carries(k, iter, body) {
            let n = self.n(n);
            let any = self.s.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, n, 0);
            let load = |e: &mut Self| {
                let mem = e.local(array);
                Ok(e.load(&mem, &[N::C(first - 2)]))
            };
            let before = self.branch(any, load, |_| Ok(Sc::num(0.0)))?;
            let carry = Carry { array, index: k, previous: self.carry(), now: self.carry() };
            self.put_carry(carry.previous, before);
            self.put_carry(carry.now, before);
            self.carried.push(carry);
        }
        let outer = std::mem::replace(&mut self.spans[k as usize], span);
        let long = lengthy(body);
        self.turns(n, known..self.carried.len(), &mut |e, turn| {
            if long {
                e.unless_interrupted();
            }
            e.iterate(k, &list, N::V(turn.i))?;
            if assigned {
                e.whole[k as usize] = None;
            }
            e.turn(body, turn)?;
            e.whole[k as usize] = None;
            Ok(())
        })?;
        self.carried.truncate(known);
        self.spans[k as usize] = outer;
        Ok(())
    }

    fn while_statement(&mut self, c: &Sx, body: &[Stmt]) -> Res<()> {
        self.forget_written(body);
        let count = self.begin_count();
        let mut calls = false;
        visit(Part::S(c), &mut |p| calls |= matches!(p, Part::S(Sx::Call(..)) | Part::A(Ax::Call(..))));
        let (inside, end) = (self.s.b.create_block(), self.s.b.create_block());
        if calls {
            // What the condition has called is at hand in the loop.
            let head = self.s.b.create_block();
            self.s.b.ins().jump(head, &[]);
            self.s.b.switch_to_block(head);
            self.enter();
            self.go_on(c, inside, end)?;
            self.s.b.switch_to_block(inside);
            self.count_turn(count);
            self.breaks.push(end);
            self.block(body)?;
            self.breaks.pop();
            self.s.b.ins().jump(head, &[]);
        } else {
            // Tested before the first time and after each: one jump a turn.
            self.go_on(c, inside, end)?;
            self.s.b.switch_to_block(inside);
            self.enter();
            self.count_turn(count);
            self.breaks.push(end);
            let outer = self.room;
            self.room = self.room_of(c);
            self.block(body)?;
            self.room = outer;
            self.breaks.pop();
            self.go_on(c, inside, end)?;
        }
        self.leave();
        self.s.b.switch_to_block(end);
        Ok(())
    }

    /// Counts the turns of a loop: how many are left until it counts as one without end.
    fn begin_count(&mut self) -> Variable {
        let left = self.s.b.declare_var(types::I64);
        let all = self.s.b.ins().load(types::I64, plain(), self.ctx, context::TURNS);
        self.s.b.def_var(left, all);
        left
    }

    fn count_turn(&mut self, left: Variable) {
        let less = self.s.b.use_var(left);
        let less = self.s.b.ins().iadd_imm_s(less, -1);
        self.s.b.def_var(left, less);
        let (endless, next) = (self.s.b.create_block(), self.s.b.create_block());
        self.s.b.set_cold_block(endless);
        self.s.b.ins().brif(less, next, &[], endless, &[]);
        self.s.b.switch_to_block(endless);
        let none = self.s.b.ins().iconst(types::I64, 0);
        self.s.b.ins().store(plain(), none, self.ctx, context::TURNS);
        self.s.b.ins().jump(self.bail, &[]);
        self.s.b.switch_to_block(next);
        self.unless_interrupted();
    }

    /// Goes on unless it is all to end. A call would keep numbers out of registers all over the loop.
    fn unless_interrupted(&mut self) {
        let flag = self.s.b.ins().load(types::I64, plain(), self.ctx, context::FLAG);
        let wanted = self.s.b.ins().load(types::I8, plain(), flag, 0);
        let next = self.s.b.create_block();
        self.s.b.ins().brif(wanted, self.bail, &[], next, &[]);
        self.s.b.switch_to_block(next);
    }

    /// Goes inside a loop or to its end.
    fn go_on(&mut self, c: &Sx, inside: Block, end: Block) -> Res<()> {
        let c = self.sx(c)?;
        let c = self.s.truth(c.v);
        self.s.b.ins().brif(c, inside, &[], end, &[]);
        Ok(())
    }

    /// Where k > m holds between Integers, k - 1 is one, too; k + 1 where k < m.
    fn room_of(&self, c: &Sx) -> Option<(u32, f64)> {
        let (op, k) = match c {
            Sx::BinLN(op, k, m) if m.fract() == 0.0 && m.abs() < 1e9 => (op, *k),
            Sx::BinLL(op, k, m) if self.f.integer[*m as usize] => (op, *k),
            _ => return None,
        };
        let step = match op {
            Binary::Gt => -1.0,
            Binary::Lt => 1.0,
            _ => return None,
        };
        self.f.integer[k as usize].then_some((k, step))
    }

    /// An array of constants as memory that lives as long as the code.
    pub fn constant_array(&mut self, arr: &Arr) -> Option<Mem> {
        if let Arr::Mem(m) = arr {
            return m.constant.is_some().then(|| m.clone());
        }
        let Arr::Grid(items, dims) = arr else { return None };
        let values: Option<Vec<f64>> = items
            .iter()
            .map(|i| match (i.v, i.d) {
                (Val::Const(v), None) => Some(v),
                _ => None,
            })
            .collect();
        let values = values?;
        let shared: Rc<[f64]> = values.clone().into();
        let own: Box<[f64]> = values.into();
        let address = own.as_ptr() as i64;
        self.out.constants.push(own);
        let data = self.s.b.ins().iconst(types::I64, address);
        let dims = dims.iter().map(|d| N::C(*d)).collect();
        Some(Mem { data, ddata: None, dims, constant: Some(shared), fresh: false })
    }
}

/// A range as evaluated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    pub first: Val,
    pub step: Val,
    pub n: N,
    pub start: Option<N>,
    /// Bits of the first value.
    pub bits: u32,
}

/// A size as it is written down, so that equal ones can be told.
#[derive(Clone, Copy, PartialEq)]
enum Extent {
    Fixed(i64),
    /// The value of an Integer that does not change.
    Local(u32),
    /// Of a local array, in this dimension.
    Size(u32, usize),
}

/// Between which numbers a loop variable runs.
#[derive(Clone, Copy)]
struct LoopSpan {
    low: i64,
    high: Extent,
}

enum List {
    Range(Range),
    Values(Arr),
}

impl List {
    fn len(&self) -> N {
        match self {
            List::Range(r) => r.n,
            List::Values(a) => a.dims()[0],
        }
    }
}

/// The operation of a reduction.
pub(crate) fn combine(red: Red) -> Binary {
    match red {
        Red::Sum => Binary::Add,
        Red::Product => Binary::Mul,
        Red::Min => Binary::Min,
        Red::Max => Binary::Max,
    }
}

/// A reduction of nothing.
pub(crate) fn empty(red: Red) -> f64 {
    match red {
        Red::Sum => 0.0,
        Red::Product => 1.0,
        Red::Min => f64::MAX,
        Red::Max => f64::MIN,
    }
}

/// Whether an expression is i + by.
fn is_moved(e: &Sx, i: u32, by: f64) -> bool {
    match e {
        Sx::BinLN(Binary::Add, v, c) => *v == i && *c == by,
        Sx::BinLN(Binary::Sub, v, c) => *v == i && *c == -by,
        _ => false,
    }
}

/// Whether a subscript is i - 1.
fn is_previous(e: &Sx, i: u32) -> bool {
    matches!(e, Sx::BinLN(Binary::Sub, v, c) if *v == i && *c == 1.0)
}

/// Whether statements leave the variable of the loop around alone.
fn keeps(body: &[Stmt], i: u32) -> bool {
    let mut kept = true;
    writes(body, &mut |s| kept &= s != Slot::S(i));
    loops(body, &mut |j| kept &= j != i);
    kept
}

/// Whether statements may take long: there are loops or calls among them.
fn lengthy(body: &[Stmt]) -> bool {
    let calls = |part: Part<'_>| {
        let mut found = false;
        visit(part, &mut |p| found |= matches!(p, Part::S(Sx::Call(..)) | Part::A(Ax::Call(..))));
        found
    };
    body.iter().any(|s| match &s.st {
        St::For(..) | St::While(..) | St::Multi(..) => true,
        St::If(branches, rest) => branches.iter().any(|b| lengthy(&b.1)) || lengthy(rest) || mentions(s, &calls),
        _ => mentions(s, &calls),
    })
}

/// Whether statements may end the loop around.
fn leaves(body: &[Stmt]) -> bool {
    body.iter().any(|s| match &s.st {
        St::Break | St::Return => true,
        St::If(branches, rest) => branches.iter().any(|b| leaves(&b.1)) || leaves(rest),
        St::For(_, _, b) | St::While(_, b) => leaves(b),
        _ => false,
    })
}

/// Whether statements give values to no other element of an array than x[i].
fn sets_only(body: &[Stmt], k: u32, i: u32) -> bool {
    body.iter().all(|s| match &s.st {
        St::SetElem1(to, Sx::Local(at), _) if *to == k => *at == i,
        St::If(branches, rest) => branches.iter().all(|b| sets_only(&b.1, k, i)) && sets_only(rest, k, i),
        St::For(_, _, b) | St::While(_, b) => sets_only(b, k, i),
        _ => {
            let mut other = true;
            writes(std::slice::from_ref(s), &mut |w| other &= w != Slot::A(k));
            other
        }
    })
}

/// Whether every way through statements gives x[i] a value.
fn sets_always(body: &[Stmt], k: u32, i: u32) -> bool {
    body.iter().any(|s| match &s.st {
        St::SetElem1(to, Sx::Local(at), _) => *to == k && *at == i,
        St::If(branches, rest) => branches.iter().all(|b| sets_always(&b.1, k, i)) && sets_always(rest, k, i),
        _ => false,
    })
}

/// Whether some expression in a statement is one of those asked for.
fn mentions(s: &Stmt, names: &dyn Fn(Part<'_>) -> bool) -> bool {
    let inside = |list: &[Stmt]| list.iter().any(|s| mentions(s, names));
    let iter = |i: &Iter| match i {
        Iter::Range(a, s, b) => [Some(a), s.as_ref(), Some(b)].into_iter().flatten().any(|e| names(Part::S(e))),
        Iter::Over(e) => names(Part::A(e)),
    };
    match &s.st {
        St::If(branches, rest) => branches.iter().any(|(c, b)| names(Part::S(c)) || inside(b)) || inside(rest),
        St::For(_, i, body) => iter(i) || inside(body),
        St::While(c, body) => names(Part::S(c)) || inside(body),
        st => {
            let mut found = false;
            visit_simple(st, &mut |p| found |= names(p));
            found
        }
    }
}

/// Calls `f` with the variable of every loop inside.
fn loops(stmts: &[Stmt], f: &mut dyn FnMut(u32)) {
    for s in stmts {
        match &s.st {
            St::If(branches, rest) => {
                branches.iter().for_each(|(_, b)| loops(b, f));
                loops(rest, f);
            }
            St::For(k, _, b) => {
                f(*k);
                loops(b, f);
            }
            St::While(_, b) => loops(b, f),
            _ => {}
        }
    }
}
