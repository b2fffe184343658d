//! The executor: one interpreter for every scalar [`Domain`].
//!
//! Functions are lowered once; scalar locals live in one stack, array locals in another whose buffers are kept, so
//! that scalar code runs without allocation.

use crate::domain::{Domain, Dual, DualNumber, Float, HyperDual, Second, Symbolic};
use crate::error::{ErrorKind, ExecError, NotInlinable, Warning};
use crate::external::{Callee, ExtArg, ExtDerivative};
use crate::interrupt;

use crate::ir::Function;
use crate::lower::{Arg, Ax, DimCode, ExtCode, Init, Iter, Ix, Lowered, Op2, Red, Slot, St, Stmt, Sx, Target, lower};
use crate::strings;
use saltus_base::Span;
use saltus_expr::{Binary, ExprId, FuncId, Pool, Unary};
use smallvec::SmallVec;
use std::sync::Arc;

/// Sizes of an array.
type Dims = SmallVec<[usize; 4]>;

/// Most elements an array may have.
const MAX_ELEMENTS: usize = 1 << 26;
/// Texts longer than this many bytes are a mistake.
const MAX_TEXT: usize = 1 << 24;
/// A call counts as much as so many statements.
const CALL_STEPS: u64 = 10;
/// Stack that nested calls may use.
const STACK_BYTES: usize = 700 << 10;
/// Calls nested in the symbolic domain.
const SYMBOLIC_DEPTH: u32 = 40;
/// Loop iterations and calls of one symbolic execution.
const SYMBOLIC_STEPS: u64 = 200_000;
/// Loop iterations of one constant evaluation by [`call_f64`].
const CONSTANT_STEPS: u64 = 2_000_000_000;
/// Turns of a `while` loop after which it counts as one without end: native code takes seconds for them, the executor a minute.
pub const MOST_TURNS: u64 = 2_000_000_000;
/// Loop iterations and calls between two questions whether it is all to end.
const ASKING: u64 = 1 << 16;
/// Most warnings kept.
const MAX_WARNINGS: usize = 1000;

/// A dense array, row by row; without dimensions, a scalar.
#[derive(Clone, Debug, PartialEq)]
pub struct Array<S> {
    /// Its sizes.
    pub dims: SmallVec<[usize; 4]>,
    /// Its elements.
    pub data: Vec<S>,
}

impl<S> Default for Array<S> {
    fn default() -> Self {
        Array { dims: Dims::new(), data: Vec::new() }
    }
}

/// The lowered functions of a model.
#[derive(Debug, Default)]
struct Code {
    functions: Vec<Option<Result<Lowered, ExecError>>>,
}

impl Code {
    /// Lowers `f` and all it can call.
    fn reach(&mut self, functions: &[Function], f: FuncId) {
        let mut work = vec![f];
        self.functions.resize_with(functions.len().max(self.functions.len()), || None);
        while let Some(f) = work.pop() {
            let i = f.0 as usize;
            if i >= self.functions.len() || self.functions[i].is_some() {
                continue;
            }
            let l = lower(functions, f);
            if let Ok(l) = &l {
                work.extend(l.callees.iter().copied());
                work.extend(l.derivative);
            }
            self.functions[i] = Some(l);
        }
    }

    fn get(&self, f: FuncId) -> Result<&Lowered, Box<ExecError>> {
        match self.functions.get(f.0 as usize) {
            Some(Some(Ok(l))) => Ok(l),
            Some(Some(Err(e))) => Err(Box::new(e.clone())),
            _ => Err(Box::new(ExecError::new(
                ErrorKind::Malformed,
                Span::NONE,
                format!("there is no function number {}", f.0),
            ))),
        }
    }
}

/// Stacks, kept between calls.
#[derive(Clone, Debug)]
struct State<S> {
    scalars: Vec<S>,
    arrays: Vec<Array<S>>,
    /// First free element of each.
    stop: usize,
    atop: usize,
    /// Arguments on their way into a frame.
    sargs: Vec<S>,
    aargs: Vec<Array<S>>,
    /// Buffers to reuse.
    spare: Vec<Vec<S>>,
    warnings: Vec<Warning>,
    /// Recent calls with several results: each result of a record is asked for by a call of its own.
    memo: Vec<Memo<S>>,
    memo_at: usize,
    /// Statements run.
    work: u64,
}

impl<S> Default for State<S> {
    fn default() -> Self {
        State {
            scalars: Vec::new(),
            arrays: Vec::new(),
            stop: 0,
            atop: 0,
            sargs: Vec::new(),
            aargs: Vec::new(),
            spare: Vec::new(),
            warnings: Vec::new(),
            memo: Vec::new(),
            memo_at: 0,
            work: 0,
        }
    }
}

/// Calls remembered at a time.
const MEMO: usize = 16;

/// A call within the current outermost one, with its results.
#[derive(Clone, Debug)]
struct Memo<S> {
    id: FuncId,
    key: Vec<u64>,
    scalars: Vec<S>,
    arrays: Vec<Array<S>>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Flow {
    Normal,
    Break,
    Return,
}

/// Where the frame of a call begins.
#[derive(Clone, Copy)]
struct Frame {
    s: usize,
    a: usize,
}

type Res<T> = Result<T, Box<ExecError>>;

struct Run<'c, 'r, D: Domain> {
    code: &'c Code,
    f: &'c Lowered,
    st: &'r mut State<D::S>,
    dom: &'r mut D,
    frame: Frame,
    span: Span,
    depth: u32,
    /// Address of the stack at the outermost call.
    bottom: usize,
    steps: u64,
    limits: Limits,
}

/// What one call may take.
#[derive(Clone, Copy)]
struct Limits {
    /// Loop iterations and calls.
    steps: u64,
    /// Turns of one `while` loop.
    turns: u64,
}

#[inline(never)]
fn here() -> usize {
    let marker = 0u8;
    std::hint::black_box(&marker) as *const u8 as usize
}

#[cold]
fn trace(mut e: Box<ExecError>, f: &Lowered) -> Box<ExecError> {
    if e.trace.len() < 20 && e.trace.last() != Some(&f.name) {
        e.trace.push(f.name.clone());
    }
    if e.span.is_none() {
        e.span = f.span;
    }
    e
}

impl<'c, 'r, D: Domain> Run<'c, 'r, D> {
    /// A run at the bottom of its stacks.
    fn outermost(code: &'c Code, f: &'c Lowered, st: &'r mut State<D::S>, dom: &'r mut D, limits: Limits) -> Self {
        Run { code, f, st, dom, frame: Frame { s: 0, a: 0 }, span: f.span, depth: 0, bottom: here(), steps: 0, limits }
    }
}

impl<'c, D: Domain> Run<'c, '_, D> {
    #[cold]
    fn err(&self, kind: ErrorKind, message: impl Into<String>) -> Box<ExecError> {
        Box::new(ExecError::new(kind, self.span, message))
    }

    #[cold]
    fn shape(&self, message: impl Into<String>) -> Box<ExecError> {
        self.err(ErrorKind::Shape, message)
    }

    #[inline(always)]
    fn known(&self, v: &D::S) -> Res<f64> {
        match self.dom.as_const(v) {
            Some(v) => Ok(v),
            None => Err(self.unknown()),
        }
    }

    #[cold]
    fn unknown(&self) -> Box<ExecError> {
        self.err(ErrorKind::NotConstant, "a value is needed that is only known at run time")
    }

    fn size(&self, v: f64) -> Res<usize> {
        if v >= 0.0 && v <= MAX_ELEMENTS as f64 {
            Ok(v as usize)
        } else {
            Err(self.shape(format!("{v} is no size of an array")))
        }
    }

    fn count(&self, dims: &[usize]) -> Res<usize> {
        let mut n = 1usize;
        for d in dims {
            n = n.checked_mul(*d).filter(|n| *n <= MAX_ELEMENTS).ok_or_else(|| self.shape("the array is too large"))?;
        }
        Ok(n)
    }

    fn take(&mut self) -> Array<D::S> {
        let mut data = self.st.spare.pop().unwrap_or_default();
        data.clear();
        Array { dims: Dims::new(), data }
    }

    fn give(&mut self, a: Array<D::S>) {
        if self.st.spare.len() < 16 && a.data.capacity() > 0 {
            self.st.spare.push(a.data);
        }
    }

    #[inline]
    fn step(&mut self) -> Res<()> {
        self.steps += 1;
        if self.steps > self.limits.steps {
            return Err(self.err(ErrorKind::Limit, "the loop takes too many iterations"));
        }
        if self.steps % ASKING < CALL_STEPS && interrupt::wanted() {
            return Err(self.err(ErrorKind::Interrupted, "interrupted"));
        }
        if D::SPECULATES && self.dom.exhausted() {
            return Err(self.err(ErrorKind::Limit, "the expressions become too large"));
        }
        Ok(())
    }

    // ---- calls ----

    /// Pushes arguments, runs the function and leaves its frame on the stacks; give it back with [`Self::leave`].
    fn invoke(&mut self, id: FuncId, args: &'c [Arg]) -> Res<(&'c Lowered, Frame)> {
        let f = self.code.get(id)?;
        let (s0, a0) = (self.st.sargs.len(), self.st.aargs.len());
        for a in args {
            match a {
                Arg::S(s) => {
                    let v = self.sx(s)?;
                    self.st.sargs.push(v);
                }
                Arg::A(a) => {
                    let v = self.ax(a)?;
                    self.st.aargs.push(v);
                }
            }
        }
        let frame = self.enter(f)?;
        let (mut s, mut a) = (s0, a0);
        for input in &f.inputs {
            match input.slot {
                Slot::S(k) => {
                    self.st.scalars[frame.s + k as usize] = self.st.sargs[s].clone();
                    s += 1;
                }
                Slot::A(k) => {
                    let v = std::mem::take(&mut self.st.aargs[a]);
                    let old = std::mem::replace(&mut self.st.arrays[frame.a + k as usize], v);
                    self.give(old);
                    a += 1;
                }
            }
        }
        self.st.sargs.truncate(s0);
        self.st.aargs.truncate(a0);
        if D::SPECULATES || f.outputs.len() < 2 || f.impure || f.has_object || f.external.is_some() {
            self.run_call(id, f, frame)?;
        } else {
            self.run_memo(id, f, frame)?;
        }
        Ok((f, frame))
    }

    /// Like [`Self::run_call`], but takes the results of an equal recent call.
    fn run_memo(&mut self, id: FuncId, f: &'c Lowered, frame: Frame) -> Res<()> {
        let mut key = Vec::new();
        for i in &f.inputs {
            let values = match i.slot {
                Slot::S(k) => std::slice::from_ref(&self.st.scalars[frame.s + k as usize]),
                Slot::A(k) => {
                    let a = &self.st.arrays[frame.a + k as usize];
                    key.extend(a.dims.iter().map(|d| *d as u64));
                    &a.data[..]
                }
            };
            for v in values {
                if self.dom.varies(v) {
                    return self.run_call(id, f, frame);
                }
                let Some(x) = self.dom.as_const(v) else { return self.run_call(id, f, frame) };
                key.push(x.to_bits());
                if D::DERIVATIVES {
                    key.push(self.dom.derivative(v).to_bits());
                }
            }
        }
        if let Some(m) = self.st.memo.iter().find(|m| m.id == id && m.key == key) {
            let (mut scalars, mut arrays) = (m.scalars.iter(), m.arrays.iter());
            for o in &f.outputs {
                match o.slot {
                    Slot::S(k) => {
                        if let Some(v) = scalars.next() {
                            self.st.scalars[frame.s + k as usize] = v.clone();
                        }
                    }
                    Slot::A(k) => {
                        if let Some(v) = arrays.next() {
                            self.st.arrays[frame.a + k as usize] = v.clone();
                        }
                    }
                }
            }
            return Ok(());
        }
        self.run_call(id, f, frame)?;
        let (mut scalars, mut arrays) = (Vec::new(), Vec::new());
        for o in &f.outputs {
            match o.slot {
                Slot::S(k) => scalars.push(self.st.scalars[frame.s + k as usize].clone()),
                Slot::A(k) => arrays.push(self.st.arrays[frame.a + k as usize].clone()),
            }
        }
        let m = Memo { id, key, scalars, arrays };
        if self.st.memo.len() < MEMO {
            self.st.memo.push(m);
        } else {
            let at = self.st.memo_at % MEMO;
            self.st.memo[at] = m;
            self.st.memo_at = at + 1;
        }
        Ok(())
    }

    /// Makes room for a frame.
    fn enter(&mut self, f: &Lowered) -> Res<Frame> {
        let frame = Frame { s: self.st.stop, a: self.st.atop };
        self.st.stop += f.n_scalars;
        self.st.atop += f.n_arrays;
        if self.st.scalars.len() < self.st.stop {
            let zero = self.dom.num(0.0);
            self.st.scalars.resize(self.st.stop, zero);
        }
        if self.st.arrays.len() < self.st.atop {
            self.st.arrays.resize_with(self.st.atop, Array::default);
        }
        let zero = self.dom.num(0.0);
        self.st.scalars[frame.s..self.st.stop].fill(zero);
        Ok(frame)
    }

    fn leave(&mut self, frame: Frame) {
        self.st.stop = frame.s;
        self.st.atop = frame.a;
    }

    /// Runs a function whose inputs stand in its frame.
    fn run_call(&mut self, id: FuncId, f: &'c Lowered, frame: Frame) -> Res<()> {
        if self.bottom.abs_diff(here()) > STACK_BYTES {
            return Err(self.err(ErrorKind::Limit, "calls are nested too deeply (endless recursion?)"));
        }
        if D::DERIVATIVES && (f.derivative.is_some()) && self.by_derivative(id, f, frame)? {
            return Ok(());
        }
        if D::SECOND && f.derivative.is_some() && self.by_derivative_twice(id, f, frame)? {
            return Ok(());
        }
        if D::SPECULATES {
            return self.run_symbolic(id, f, frame);
        }
        self.steps += CALL_STEPS - 1;
        self.step()?;
        let saved = (self.f, self.frame, self.span);
        (self.f, self.frame) = (f, frame);
        self.depth += 1;
        let r = self.run_body();
        self.depth -= 1;
        (self.f, self.frame, self.span) = saved;
        r.map_err(|e| trace(e, f))
    }

    /// In the symbolic domain: a constant call is computed, one that cannot be inlined stays a call.
    fn run_symbolic(&mut self, id: FuncId, f: &'c Lowered, frame: Frame) -> Res<()> {
        self.step()?;
        if f.impure {
            return Err(self.err(ErrorKind::NotConstant, format!("{} is impure", f.name)));
        }
        let outermost = self.depth == 0;
        let mut flat = Vec::new();
        for i in &f.inputs {
            match i.slot {
                Slot::S(k) => flat.push(self.st.scalars[frame.s + k as usize].clone()),
                Slot::A(k) => flat.extend(self.st.arrays[frame.a + k as usize].data.iter().cloned()),
            }
        }
        let shapes_known = f.inputs.iter().all(|i| i.dims.iter().all(|d| !matches!(d, DimCode::Free)));
        let tops = (self.st.sargs.len(), self.st.aargs.len());
        let consts: Option<Vec<f64>> = flat.iter().map(|v| self.dom.as_const(v)).collect();
        if let Some(values) = consts
            && shapes_known
            && !f.has_object
        {
            // All known: numbers are faster than expressions.
            let mut state = State::default();
            let mut run = Run {
                code: self.code,
                f,
                st: &mut state,
                dom: &mut Float,
                frame: Frame { s: 0, a: 0 },
                span: f.span,
                depth: 0,
                bottom: self.bottom,
                steps: 0,
                limits: Limits { steps: 50_000_000, turns: MOST_TURNS },
            };
            let inner = run.call_flat(id, &values)?;
            for o in &f.outputs {
                match o.slot {
                    Slot::S(k) => {
                        let v = state.scalars[inner.s + k as usize];
                        self.st.scalars[frame.s + k as usize] = self.dom.num(v);
                    }
                    Slot::A(k) => {
                        let from = &state.arrays[inner.a + k as usize];
                        let data = from.data.iter().map(|v| self.dom.num(*v)).collect();
                        self.st.arrays[frame.a + k as usize] = Array { dims: from.dims.clone(), data };
                    }
                }
            }
            return Ok(());
        }
        let saved = (self.f, self.frame, self.span, self.depth);
        (self.f, self.frame) = (f, frame);
        self.depth += 1;
        let r = if self.depth > SYMBOLIC_DEPTH {
            Err(self.err(ErrorKind::Limit, "calls are nested too deeply"))
        } else if let Some(x) = &f.external {
            self.external_unknown(x)
        } else if !outermost && self.dom.stays(id) {
            Err(self.err(ErrorKind::NotConstant, format!("{} stays a call", f.name)))
        } else {
            self.run_body()
        };
        (self.f, self.frame, self.span, self.depth) = saved;
        let Err(e) = r else { return Ok(()) };
        if outermost || !shapes_known || e.kind == ErrorKind::Limit {
            return Err(trace(e, f));
        }
        // Leave it a call, if the sizes of its results are known.
        self.st.sargs.truncate(tops.0);
        self.st.aargs.truncate(tops.1);
        self.st.stop = frame.s + f.n_scalars;
        self.st.atop = frame.a + f.n_arrays;
        let mut out = 0;
        for o in &f.outputs {
            match o.slot {
                Slot::S(k) => match self.dom.call(id, &flat, out) {
                    Some(v) => {
                        self.st.scalars[frame.s + k as usize] = v;
                        out += 1;
                    }
                    None => return Err(trace(e, f)),
                },
                Slot::A(k) => {
                    let mut dims = Dims::new();
                    for d in &o.dims {
                        match d {
                            DimCode::Fixed(n) => dims.push(*n),
                            _ => return Err(trace(e, f)),
                        }
                    }
                    let n = self.count(&dims)?;
                    let mut data = Vec::with_capacity(n);
                    for _ in 0..n {
                        match self.dom.call(id, &flat, out) {
                            Some(v) => data.push(v),
                            None => return Err(trace(e, f)),
                        }
                        out += 1;
                    }
                    self.st.arrays[frame.a + k as usize] = Array { dims, data };
                }
            }
        }
        Ok(())
    }

    /// In domains with derivatives: value by the function, derivative by its annotated derivative function.
    fn by_derivative(&mut self, id: FuncId, f: &'c Lowered, frame: Frame) -> Res<bool> {
        let Some(der) = f.derivative else { return Ok(false) };
        if self.code.get(der).is_err() {
            return Ok(false);
        }
        let (mut values, mut slopes) = (Vec::new(), Vec::new());
        let mut moving = false;
        for i in &f.inputs {
            let many: &[D::S] = match i.slot {
                Slot::S(k) => std::slice::from_ref(&self.st.scalars[frame.s + k as usize]),
                Slot::A(k) => &self.st.arrays[frame.a + k as usize].data,
            };
            for v in many {
                values.push(self.dom.as_const(v).unwrap_or(f64::NAN));
                if i.real {
                    let d = self.dom.derivative(v);
                    moving |= d != 0.0;
                    slopes.push(d);
                }
            }
        }
        if !moving {
            return Ok(false);
        }
        let mut state = State::default();
        let value = {
            let mut run = self.float(&mut state, f);
            run.call_flat(id, &values)?
        };
        let mut outs: Vec<f64> = Vec::new();
        let mut shapes = Vec::new();
        for o in &f.outputs {
            match o.slot {
                Slot::S(k) => outs.push(state.scalars[value.s + k as usize]),
                Slot::A(k) => {
                    let a = &state.arrays[value.a + k as usize];
                    outs.extend(&a.data);
                    shapes.push(a.dims.clone());
                }
            }
        }
        values.extend(slopes);
        let g = self.code.get(der)?;
        let dframe = {
            let mut run = self.float(&mut state, g);
            run.call_flat(der, &values)?
        };
        let mut douts: Vec<f64> = Vec::new();
        for o in &g.outputs {
            match o.slot {
                Slot::S(k) => douts.push(state.scalars[dframe.s + k as usize]),
                Slot::A(k) => douts.extend(&state.arrays[dframe.a + k as usize].data),
            }
        }
        self.st.warnings.append(&mut state.warnings);
        if douts.len() != outs.len() {
            return Err(self.err(
                ErrorKind::Malformed,
                format!("{} gives {} derivatives for {} outputs", g.name, douts.len(), outs.len()),
            ));
        }
        let mut pairs = outs.into_iter().zip(douts);
        let mut shapes = shapes.into_iter();
        for o in &f.outputs {
            match o.slot {
                Slot::S(k) => {
                    if let Some((v, d)) = pairs.next() {
                        self.st.scalars[frame.s + k as usize] = self.dom.with_derivative(v, d);
                    }
                }
                Slot::A(k) => {
                    let dims = shapes.next().unwrap_or_default();
                    let n = self.count(&dims)?;
                    let data = pairs.by_ref().take(n).map(|(v, d)| self.dom.with_derivative(v, d)).collect();
                    self.st.arrays[frame.a + k as usize] = Array { dims, data };
                }
            }
        }
        Ok(true)
    }

    /// In the domain of second derivatives: numbers with the second direction through the function, and through its annotated
    /// derivative function, whose slopes are those of the first direction.
    fn by_derivative_twice(&mut self, id: FuncId, f: &'c Lowered, frame: Frame) -> Res<bool> {
        let Some(der) = f.derivative else { return Ok(false) };
        let Ok(g) = self.code.get(der) else { return Ok(false) };
        let (mut args, mut slopes, mut moving) = (Vec::new(), Vec::new(), false);
        for i in &f.inputs {
            let many: &[D::S] = match i.slot {
                Slot::S(k) => std::slice::from_ref(&self.st.scalars[frame.s + k as usize]),
                Slot::A(k) => &self.st.arrays[frame.a + k as usize].data,
            };
            for v in many {
                moving |= self.dom.varies(v);
                let h = self.dom.parts(v);
                args.push(DualNumber { v: h.v, d: h.b });
                if i.real {
                    slopes.push(DualNumber { v: h.a, d: h.ab });
                }
            }
        }
        if !moving {
            return Ok(false);
        }
        let mut state: State<DualNumber> = State::default();
        let call = |state: &mut State<DualNumber>, id: FuncId, l: &'c Lowered, args: &[DualNumber]| {
            let mut dual = Dual;
            let mut run = Run {
                code: self.code,
                f: l,
                st: &mut *state,
                dom: &mut dual,
                frame: Frame { s: 0, a: 0 },
                span: l.span,
                depth: 0,
                bottom: self.bottom,
                steps: 0,
                limits: self.limits,
            };
            run.call_flat(id, args)
        };
        let done = call(&mut state, id, f, &args)?;
        let values = flat_outputs(f, &state, done);
        let shapes: Vec<Dims> = f
            .outputs
            .iter()
            .map(|o| match o.slot {
                Slot::S(_) => Dims::new(),
                Slot::A(k) => state.arrays[done.a + k as usize].dims.clone(),
            })
            .collect();
        args.extend(slopes);
        let done = call(&mut state, der, g, &args)?;
        let slopes = flat_outputs(g, &state, done);
        self.st.warnings.append(&mut state.warnings);
        if slopes.len() != values.len() {
            return Err(self.err(
                ErrorKind::Malformed,
                format!("{} gives {} derivatives for {} outputs", g.name, slopes.len(), values.len()),
            ));
        }
        let mut pairs = values.iter().zip(&slopes).map(|(y, d)| HyperDual { v: y.v, b: y.d, a: d.v, ab: d.d });
        for (o, dims) in f.outputs.iter().zip(shapes) {
            match o.slot {
                Slot::S(k) => {
                    if let Some(h) = pairs.next() {
                        self.st.scalars[frame.s + k as usize] = self.dom.with_parts(h);
                    }
                }
                Slot::A(k) => {
                    let n = dims.iter().product();
                    let data = pairs.by_ref().take(n).map(|h| self.dom.with_parts(h)).collect();
                    self.st.arrays[frame.a + k as usize] = Array { dims, data };
                }
            }
        }
        Ok(true)
    }

    fn float<'s>(&self, state: &'s mut State<f64>, f: &'c Lowered) -> Run<'c, 's, Float> {
        // A unit value has no state, so any place serves.
        let dom: &'s mut Float = Box::leak(Box::new(Float));
        Run {
            code: self.code,
            f,
            st: state,
            dom,
            frame: Frame { s: 0, a: 0 },
            span: f.span,
            depth: 0,
            bottom: self.bottom,
            steps: 0,
            limits: self.limits,
        }
    }

    /// A call with flattened arguments; its frame stays on the stacks.
    fn call_flat(&mut self, id: FuncId, args: &[D::S]) -> Res<Frame> {
        self.st.stop = 0;
        self.st.memo.clear();
        self.st.memo_at = 0;
        self.st.atop = 0;
        self.st.sargs.clear();
        self.st.aargs.clear();
        let f = self.code.get(id)?;
        (self.f, self.span) = (f, f.span);
        let frame = self.enter(f)?;
        self.frame = frame;
        let mut rest = args;
        let wrong = |run: &Self| {
            run.shape(format!("{} is called with {} scalars, which is not what its inputs hold", f.name, args.len()))
        };
        // At most one size can be told from the number of arguments.
        let frees = f.inputs.iter().flat_map(|i| i.dims.iter()).filter(|d| matches!(d, DimCode::Free)).count();
        for (k, input) in f.inputs.iter().enumerate() {
            match input.slot {
                Slot::S(s) => {
                    let (first, tail) = rest.split_first().ok_or_else(|| wrong(self))?;
                    self.st.scalars[frame.s + s as usize] = first.clone();
                    rest = tail;
                }
                Slot::A(a) => {
                    let mut dims = Dims::new();
                    let mut hole = None;
                    for d in &input.dims {
                        dims.push(match d {
                            DimCode::Fixed(n) => *n,
                            DimCode::Computed(e) => {
                                let v = self.sx(e)?;
                                let v = self.known(&v)?;
                                self.size(v)?
                            }
                            DimCode::Free => {
                                hole = Some(dims.len());
                                1
                            }
                        });
                    }
                    if let Some(h) = hole {
                        let later: Option<usize> = f.inputs[k + 1..]
                            .iter()
                            .map(|i| match i.slot {
                                Slot::S(_) => Some(1),
                                Slot::A(_) => i
                                    .dims
                                    .iter()
                                    .map(|d| if let DimCode::Fixed(n) = d { Some(*n) } else { None })
                                    .product(),
                            })
                            .sum();
                        let unit = self.count(&dims)?;
                        match later {
                            Some(later) if frees == 1 && unit > 0 && rest.len() >= later => {
                                dims[h] = (rest.len() - later) / unit;
                            }
                            _ => {
                                return Err(self.shape(format!("the sizes of the arguments of {} are unknown", f.name)));
                            }
                        }
                    }
                    let n = self.count(&dims)?;
                    if rest.len() < n {
                        return Err(wrong(self));
                    }
                    let (mine, tail) = rest.split_at(n);
                    let array = &mut self.st.arrays[frame.a + a as usize];
                    array.dims = dims;
                    array.data.clear();
                    array.data.extend_from_slice(mine);
                    rest = tail;
                }
            }
        }
        if !rest.is_empty() {
            return Err(wrong(self));
        }
        self.run_call(id, f, frame)?;
        Ok(frame)
    }

    /// A call with values of known sizes; the results in order.
    fn call_values(&mut self, id: FuncId, args: Vec<Array<D::S>>) -> Res<Vec<Array<D::S>>> {
        self.st.stop = 0;
        self.st.atop = 0;
        self.st.memo.clear();
        self.st.sargs.clear();
        self.st.aargs.clear();
        let f = self.code.get(id)?;
        (self.f, self.span) = (f, f.span);
        let frame = self.enter(f)?;
        self.frame = frame;
        if args.len() != f.inputs.len() {
            return Err(self.shape(format!("{} takes {} arguments, {} are given", f.name, f.inputs.len(), args.len())));
        }
        for (input, mut value) in f.inputs.iter().zip(args) {
            match input.slot {
                Slot::S(s) => match value.data.pop() {
                    Some(v) => self.st.scalars[frame.s + s as usize] = v,
                    None => return Err(self.shape("a scalar is missing")),
                },
                Slot::A(a) => self.st.arrays[frame.a + a as usize] = value,
            }
        }
        self.run_call(id, f, frame)?;
        Ok(f.outputs
            .iter()
            .map(|o| match o.slot {
                Slot::S(k) => Array { dims: Dims::new(), data: vec![self.st.scalars[frame.s + k as usize].clone()] },
                Slot::A(k) => std::mem::take(&mut self.st.arrays[frame.a + k as usize]),
            })
            .collect())
    }

    fn dims(&mut self, dims: &'c [DimCode], value: Option<&Dims>) -> Res<Dims> {
        let mut out = Dims::new();
        for (i, d) in dims.iter().enumerate() {
            out.push(match d {
                DimCode::Fixed(n) => *n,
                DimCode::Computed(e) => {
                    let v = self.sx(e)?;
                    let v = self.known(&v)?;
                    self.size(v)?
                }
                DimCode::Free => value.and_then(|v| v.get(i).copied()).unwrap_or(0),
            });
        }
        Ok(out)
    }

    fn run_body(&mut self) -> Res<()> {
        let f = self.f;
        self.span = f.span;
        // Shapes of array inputs.
        for input in &f.inputs {
            if let Slot::A(k) = input.slot {
                let found = &self.st.arrays[self.frame.a + k as usize].dims;
                let fixed = |(d, n): (&DimCode, &usize)| match d {
                    DimCode::Fixed(m) => m == n,
                    DimCode::Free => true,
                    DimCode::Computed(_) => false,
                };
                if found.len() == input.dims.len() && input.dims.iter().zip(found).all(fixed) {
                    continue;
                }
                let found = found.clone();
                let want = self.dims(&input.dims, Some(&found))?;
                if want != found {
                    return Err(self
                        .shape(format!("input {} has size {found:?} instead of {want:?}", f.array_names[k as usize])));
                }
            }
        }
        for init in &f.entry {
            match init {
                Init::S(k, e) => {
                    let v = self.sx(e)?;
                    self.st.scalars[self.frame.s + *k as usize] = v;
                }
                Init::Alloc(k, dims) => {
                    let dims = self.dims(dims, None)?;
                    let n = self.count(&dims)?;
                    let zero = self.dom.num(0.0);
                    let a = &mut self.st.arrays[self.frame.a + *k as usize];
                    a.dims = dims;
                    a.data.clear();
                    a.data.resize(n, zero);
                }
                Init::A(k, dims, e) => {
                    let v = self.ax(e)?;
                    let want = self.dims(dims, Some(&v.dims))?;
                    if want != v.dims {
                        return Err(self.shape(format!(
                            "{} of size {want:?} is given a value of size {:?}",
                            f.array_names[*k as usize], v.dims
                        )));
                    }
                    self.put_array(*k, v);
                }
            }
        }
        if let Some(x) = &f.external {
            return self.external(x);
        }
        self.block(&f.body, true)?;
        Ok(())
    }

    fn put_array(&mut self, k: u32, v: Array<D::S>) {
        let old = std::mem::replace(&mut self.st.arrays[self.frame.a + k as usize], v);
        self.give(old);
    }

    // ---- external functions ----

    /// What a function of scalars that are not all known returns, if the domain knows.
    fn external_unknown(&mut self, x: &'c ExtCode) -> Res<()> {
        let scalar = |a: &'c Arg| match a {
            Arg::S(s) => Some(s),
            Arg::A(_) => None,
        };
        let args: Option<SmallVec<[&'c Sx; 8]>> = x.args.iter().map(scalar).collect();
        if let (Some(k), Ok(function), Some(args)) = (x.result, &x.function, args)
            && x.back.iter().all(Option::is_none)
        {
            let args = args.into_iter().map(|s| self.sx(s)).collect::<Res<SmallVec<[D::S; 8]>>>()?;
            if let Some(result) = self.dom.external(function, &args) {
                self.st.scalars[self.frame.s + k as usize] = result;
                return Ok(());
            }
        }
        Err(self.err(ErrorKind::NotConstant, format!("{} is external", self.f.name)))
    }

    fn external(&mut self, x: &'c ExtCode) -> Res<()> {
        let function = match &x.function {
            Ok(f) => f,
            Err(why) => return Err(self.err(ErrorKind::Unsupported, why.clone())),
        };
        let mut args: SmallVec<[ExtArg; 8]> = SmallVec::new();
        let mut dargs: SmallVec<[ExtArg; 8]> = SmallVec::new();
        let mut moving = false;
        for a in &x.args {
            match a {
                Arg::S(s) => {
                    let v = self.sx(s)?;
                    if self.dom.varies(&v) {
                        return Err(self.err(ErrorKind::NotConstant, "an external function has no second derivative"));
                    }
                    args.push(ExtArg::Num(self.known(&v)?));
                    if D::DERIVATIVES {
                        let d = self.dom.derivative(&v);
                        moving |= d != 0.0;
                        dargs.push(ExtArg::Num(d));
                    }
                }
                Arg::A(a) => {
                    let v = self.ax(a)?;
                    if v.data.iter().any(|v| self.dom.varies(v)) {
                        return Err(self.err(ErrorKind::NotConstant, "an external function has no second derivative"));
                    }
                    let data = v.data.iter().map(|v| self.known(v)).collect::<Res<Vec<f64>>>()?;
                    args.push(ExtArg::Array { dims: v.dims.to_vec(), data });
                    if D::DERIVATIVES {
                        let data: Vec<f64> = v.data.iter().map(|v| self.dom.derivative(v)).collect();
                        moving |= data.iter().any(|d| *d != 0.0);
                        dargs.push(ExtArg::Array { dims: v.dims.to_vec(), data });
                    }
                    self.give(v);
                }
            }
        }
        let before = if moving { args.clone() } else { SmallVec::new() };
        let result = function.call(&mut args).map_err(|m| self.err(ErrorKind::External, m))?;
        for message in crate::external::take_warnings() {
            self.warn(message);
        }
        let mut dresult = 0.0;
        let mut dback: Vec<ExtArg> = Vec::new();
        if moving {
            match function.derivative() {
                ExtDerivative::Zero => {}
                ExtDerivative::Analytic(g) => {
                    dresult = g(&before, &dargs).map_err(|m| self.err(ErrorKind::External, m))?;
                }
                ExtDerivative::Differences => {
                    (dresult, dback) =
                        differences(function, &before, &dargs).map_err(|m| self.err(ErrorKind::External, m))?;
                }
            }
        }
        for (i, (back, value)) in x.back.iter().zip(args).enumerate() {
            let Some(slot) = back else { continue };
            match (slot, value) {
                (Slot::S(k), ExtArg::Num(v)) => {
                    let d = if let Some(ExtArg::Num(d)) = dback.get(i) { *d } else { 0.0 };
                    self.st.scalars[self.frame.s + *k as usize] = self.dom.with_derivative(v, d);
                }
                (Slot::A(k), ExtArg::Array { dims, data }) => {
                    let d: &[f64] = if let Some(ExtArg::Array { data, .. }) = dback.get(i) { data } else { &[] };
                    let data = data
                        .iter()
                        .enumerate()
                        .map(|(j, v)| self.dom.with_derivative(*v, d.get(j).copied().unwrap_or(0.0)))
                        .collect();
                    self.put_array(*k, Array { dims: dims.into(), data });
                }
                _ => return Err(self.err(ErrorKind::External, "an external function changed the shape of an output")),
            }
        }
        if let Some(k) = x.result {
            self.st.scalars[self.frame.s + k as usize] = self.dom.with_derivative(result, dresult);
        }
        Ok(())
    }

    fn warn(&mut self, message: String) {
        if self.st.warnings.len() < MAX_WARNINGS {
            self.st.warnings.push(Warning { message, span: self.span, ends: false });
        }
    }

    // ---- statements ----

    fn block(&mut self, stmts: &'c [Stmt], last: bool) -> Res<Flow> {
        for (i, s) in stmts.iter().enumerate() {
            self.span = s.span;
            self.st.work += 1;
            match &s.st {
                St::SetS(k, e) => {
                    let v = self.sx(e)?;
                    let at = self.frame.s + *k as usize;
                    self.st.scalars[at] = v;
                }
                St::SetElem1(k, i, e) => {
                    let v = self.sx(e)?;
                    let i = self.sx(i)?;
                    let i = self.known(&i)?;
                    let at = self.at1(*k, i)?;
                    self.st.arrays[self.frame.a + *k as usize].data[at] = v;
                }
                St::SetElem2(k, parts) => {
                    let v = self.sx(&parts.2)?;
                    let i = self.sx(&parts.0)?;
                    let j = self.sx(&parts.1)?;
                    let (i, j) = (self.known(&i)?, self.known(&j)?);
                    let at = self.at2(*k, i, j)?;
                    self.st.arrays[self.frame.a + *k as usize].data[at] = v;
                }
                St::SetA(k, e) => {
                    let v = self.ax(e)?;
                    self.set_array(*k, v)?;
                }
                St::SetPart(k, ix, e) => match e {
                    Arg::S(e) => {
                        let v = self.sx(e)?;
                        let v = Array { dims: Dims::new(), data: vec![v] };
                        self.set_part(*k, ix, v)?;
                    }
                    Arg::A(e) => {
                        let v = self.ax(e)?;
                        self.set_part(*k, ix, v)?;
                    }
                },
                St::Multi(targets, f, args) => self.multi(targets, *f, args)?,
                St::If(branches, rest) => {
                    let flow = self.if_statement(branches, rest, &stmts[i + 1..], last)?;
                    if flow != Flow::Normal {
                        return Ok(flow);
                    }
                }
                St::For(k, iter, body) => {
                    if self.for_loop(*k, iter, body)? == Flow::Return {
                        return Ok(Flow::Return);
                    }
                }
                St::While(c, body) => {
                    let mut turns = 0;
                    loop {
                        self.span = s.span;
                        let c = self.sx(c)?;
                        if self.known(&c)? == 0.0 {
                            break;
                        }
                        self.step()?;
                        turns += 1;
                        if turns > self.limits.turns {
                            let message = format!("the loop has not ended after {MOST_TURNS} turns");
                            return Err(self.err(ErrorKind::Limit, message));
                        }
                        match self.block(body, false)? {
                            Flow::Normal => {}
                            Flow::Break => break,
                            Flow::Return => return Ok(Flow::Return),
                        }
                    }
                }
                St::Break => return Ok(Flow::Break),
                St::Return => return Ok(Flow::Return),
                St::Assert(c, message, warning) => {
                    let c = self.sx(c)?;
                    if self.known(&c)? == 0.0 {
                        let message = self.sx(message)?;
                        let message = strings::text(self.known(&message)?).to_string();
                        if *warning {
                            self.warn(message);
                        } else {
                            return Err(self.err(ErrorKind::Assert, message));
                        }
                    }
                }
                St::Terminate(message) => {
                    let message = self.sx(message)?;
                    let message = strings::text(self.known(&message)?).to_string();
                    // The section goes on: what it assigns belongs to the last instant.
                    if !self.st.warnings.iter().any(|w| w.ends) {
                        self.st.warnings.push(Warning { message, span: s.span, ends: true });
                    }
                }
            }
        }
        Ok(Flow::Normal)
    }

    fn for_loop(&mut self, k: u32, iter: &'c Iter, body: &'c [Stmt]) -> Res<Flow> {
        let at = self.frame.s + k as usize;
        match iter {
            Iter::Range(..) => {
                let (a, s, n) = self.range(iter)?;
                for i in 0..n {
                    self.step()?;
                    self.st.scalars[at] = self.dom.num(a + i as f64 * s);
                    match self.block(body, false)? {
                        Flow::Normal => {}
                        Flow::Break => break,
                        Flow::Return => return Ok(Flow::Return),
                    }
                }
            }
            Iter::Over(e) => {
                let values = self.ax(e)?;
                for v in &values.data {
                    self.step()?;
                    self.st.scalars[at] = v.clone();
                    match self.block(body, false)? {
                        Flow::Normal => {}
                        Flow::Break => break,
                        Flow::Return => return Ok(Flow::Return),
                    }
                }
                self.give(values);
            }
        }
        Ok(Flow::Normal)
    }

    fn if_statement(
        &mut self,
        branches: &'c [(Sx, Box<[Stmt]>)],
        otherwise: &'c [Stmt],
        rest: &'c [Stmt],
        last: bool,
    ) -> Res<Flow> {
        let Some(((c, body), more)) = branches.split_first() else {
            return self.block(otherwise, false);
        };
        let c = self.sx(c)?;
        match self.dom.as_const(&c) {
            Some(v) if v != 0.0 => self.block(body, false),
            Some(_) => self.if_statement(more, otherwise, rest, last),
            None if !D::SPECULATES => Err(self.unknown()),
            None => {
                // Both ways, on copies of the environment.
                self.step()?;
                let before = self.snapshot();
                let first = self.block(body, false)?;
                let then = self.snapshot();
                self.restore(before);
                let second = self.if_statement(more, otherwise, rest, last)?;
                match (first, second) {
                    (a, b) if a == b => {
                        self.merge(&c, then, true)?;
                        Ok(a)
                    }
                    // One of them returns: the rest of the function belongs to the other.
                    (Flow::Return, Flow::Normal) if last => {
                        self.block(rest, true)?;
                        self.merge(&c, then, true)?;
                        Ok(Flow::Return)
                    }
                    (Flow::Normal, Flow::Return) if last => {
                        let other = self.snapshot();
                        self.restore(then);
                        self.block(rest, true)?;
                        self.merge(&c, other, false)?;
                        Ok(Flow::Return)
                    }
                    _ => Err(self.err(ErrorKind::NotConstant, "break or return under an unknown condition")),
                }
            }
        }
    }

    fn snapshot(&self) -> (Vec<D::S>, Vec<Array<D::S>>) {
        (self.st.scalars[self.frame.s..self.st.stop].to_vec(), self.st.arrays[self.frame.a..self.st.atop].to_vec())
    }

    fn restore(&mut self, (scalars, arrays): (Vec<D::S>, Vec<Array<D::S>>)) {
        for (i, v) in scalars.into_iter().enumerate() {
            self.st.scalars[self.frame.s + i] = v;
        }
        for (i, v) in arrays.into_iter().enumerate() {
            self.st.arrays[self.frame.a + i] = v;
        }
    }

    /// Merges another environment into this one; it holds where `c` is `when`.
    fn merge(&mut self, c: &D::S, other: (Vec<D::S>, Vec<Array<D::S>>), when: bool) -> Res<()> {
        for (i, o) in other.0.into_iter().enumerate() {
            let mine = self.st.scalars[self.frame.s + i].clone();
            let (a, b) = if when { (&o, &mine) } else { (&mine, &o) };
            self.st.scalars[self.frame.s + i] = self.dom.select(c, a, b);
        }
        for (i, o) in other.1.into_iter().enumerate() {
            let at = self.frame.a + i;
            if o.dims != self.st.arrays[at].dims {
                return Err(self.err(ErrorKind::NotConstant, "an array size under an unknown condition"));
            }
            for (k, o) in o.data.into_iter().enumerate() {
                let mine = self.st.arrays[at].data[k].clone();
                let (a, b) = if when { (&o, &mine) } else { (&mine, &o) };
                self.st.arrays[at].data[k] = self.dom.select(c, a, b);
            }
        }
        Ok(())
    }

    fn multi(&mut self, targets: &'c [Option<Target>], f: FuncId, args: &'c [Arg]) -> Res<()> {
        let (callee, frame) = self.invoke(f, args)?;
        for (t, o) in targets.iter().zip(&callee.outputs) {
            let Some(t) = t else { continue };
            match o.slot {
                Slot::S(k) => {
                    let v = self.st.scalars[frame.s + k as usize].clone();
                    match t {
                        Target::S(k) => self.st.scalars[self.frame.s + *k as usize] = v,
                        Target::Part(k, ix) => self.set_part(*k, ix, Array { dims: Dims::new(), data: vec![v] })?,
                        Target::A(_) => return Err(self.shape("a scalar output is assigned to an array")),
                    }
                }
                Slot::A(k) => {
                    let v = std::mem::take(&mut self.st.arrays[frame.a + k as usize]);
                    match t {
                        Target::A(k) => self.set_array(*k, v)?,
                        Target::Part(k, ix) => self.set_part(*k, ix, v)?,
                        Target::S(_) => return Err(self.shape("an array output is assigned to a scalar")),
                    }
                }
            }
        }
        self.leave(frame);
        Ok(())
    }

    fn set_array(&mut self, k: u32, v: Array<D::S>) -> Res<()> {
        let f = self.f;
        let dims = &self.st.arrays[self.frame.a + k as usize].dims;
        let free = &f.free[k as usize];
        let fits = if free.is_empty() {
            *dims == v.dims
        } else {
            v.dims.len() == free.len() && v.dims.iter().zip(dims).zip(free).all(|((a, b), free)| *free || a == b)
        };
        if !fits {
            return Err(self.shape(format!(
                "{} of size {dims:?} is assigned a value of size {:?}",
                f.array_names[k as usize], v.dims
            )));
        }
        self.put_array(k, v);
        Ok(())
    }

    fn set_part(&mut self, k: u32, ix: &'c [Ix], v: Array<D::S>) -> Res<()> {
        let dims = self.st.arrays[self.frame.a + k as usize].dims.clone();
        let (lists, kept) = self.positions(ix, &dims, Some(k))?;
        let n = self.count(&lists.iter().map(Vec::len).collect::<Dims>())?;
        if kept != v.dims && !(v.dims.is_empty() && n == 1) {
            return Err(self.shape(format!(
                "a part of {} of size {kept:?} is assigned a value of size {:?}",
                self.f.array_names[k as usize], v.dims
            )));
        }
        let mut values = v.data.into_iter();
        let at = self.frame.a + k as usize;
        scan(&lists, &dims, |p| {
            if let (Some(v), Some(place)) = (values.next(), self.st.arrays[at].data.get_mut(p)) {
                *place = v;
            }
        });
        Ok(())
    }

    /// The zero-based positions along each dimension, and the sizes of those that stay.
    fn positions(&mut self, ix: &'c [Ix], dims: &[usize], local: Option<u32>) -> Res<(Vec<Vec<usize>>, Dims)> {
        if ix.len() != dims.len() {
            return Err(self.shape("the number of subscripts does not fit the array"));
        }
        let mut lists = Vec::with_capacity(ix.len());
        let mut kept = Dims::new();
        for (i, (ix, n)) in ix.iter().zip(dims).enumerate() {
            let one = |run: &Self, v: f64| -> Res<usize> {
                if v >= 1.0 && v <= *n as f64 && v.fract() == 0.0 {
                    Ok(v as usize - 1)
                } else {
                    Err(run.out_of_range(local, i, v, *n))
                }
            };
            lists.push(match ix {
                Ix::All => {
                    kept.push(*n);
                    (0..*n).collect()
                }
                Ix::At(e) => {
                    let v = self.sx(e)?;
                    let v = self.known(&v)?;
                    vec![one(self, v)?]
                }
                Ix::Over(it @ Iter::Range(..)) => {
                    let (a, s, n) = self.range(it)?;
                    kept.push(n);
                    (0..n).map(|i| one(self, a + i as f64 * s)).collect::<Res<Vec<usize>>>()?
                }
                Ix::Over(Iter::Over(e)) => {
                    let v = self.ax(e)?;
                    kept.push(v.data.len());
                    let list = v.data.iter().map(|v| one(self, self.known(v)?)).collect::<Res<Vec<usize>>>()?;
                    self.give(v);
                    list
                }
            });
        }
        Ok((lists, kept))
    }

    #[cold]
    fn out_of_range(&self, local: Option<u32>, dim: usize, v: f64, n: usize) -> Box<ExecError> {
        let name = local.and_then(|k| self.f.array_names.get(k as usize)).map_or("the array", String::as_str);
        self.err(ErrorKind::Index, format!("subscript {} of {name} is {v}, which is not between 1 and {n}", dim + 1))
    }

    #[inline]
    fn at1(&self, k: u32, i: f64) -> Res<usize> {
        let a = &self.st.arrays[self.frame.a + k as usize];
        let at = (i as usize).wrapping_sub(1);
        if at < a.data.len() && at as f64 + 1.0 == i && a.dims.len() == 1 {
            Ok(at)
        } else {
            Err(self.out_of_range(Some(k), 0, i, a.dims.first().copied().unwrap_or(0)))
        }
    }

    #[inline]
    fn at2(&self, k: u32, i: f64, j: f64) -> Res<usize> {
        let a = &self.st.arrays[self.frame.a + k as usize];
        let [m, n] = a.dims[..] else { return Err(self.shape("the array has lost its dimensions")) };
        let (r, c) = ((i as usize).wrapping_sub(1), (j as usize).wrapping_sub(1));
        if r >= m || r as f64 + 1.0 != i {
            return Err(self.out_of_range(Some(k), 0, i, m));
        }
        if c >= n || c as f64 + 1.0 != j {
            return Err(self.out_of_range(Some(k), 1, j, n));
        }
        Ok(r * n + c)
    }

    /// First value, step and number of values of a range.
    fn range(&mut self, it: &'c Iter) -> Res<(f64, f64, usize)> {
        let Iter::Range(a, s, b) = it else { return Err(self.shape("no range")) };
        let a = self.sx(a)?;
        let a = self.known(&a)?;
        let s = match s {
            Some(s) => {
                let s = self.sx(s)?;
                self.known(&s)?
            }
            None => 1.0,
        };
        let b = self.sx(b)?;
        let b = self.known(&b)?;
        if s == 0.0 || !s.is_finite() || !a.is_finite() || !b.is_finite() {
            return Err(self.shape(format!("{a}:{s}:{b} is no range")));
        }
        let q = (b - a) / s;
        let n = (q + 1e-10 * q.abs().max(1.0)).floor() + 1.0;
        Ok((a, s, if n <= 0.0 { 0 } else { self.size(n)? }))
    }

    // ---- scalar expressions ----

    /// Leaves are read in place, the rest takes a call.
    #[inline(always)]
    fn sx(&mut self, e: &'c Sx) -> Res<D::S> {
        match e {
            Sx::Num(v) => Ok(self.dom.num(*v)),
            Sx::Local(k) => Ok(self.st.scalars[self.frame.s + *k as usize].clone()),
            other => self.sx_node(other),
        }
    }

    fn sx_node(&mut self, e: &'c Sx) -> Res<D::S> {
        Ok(match e {
            Sx::BinLL(op, a, b) => {
                let (a, b) =
                    (&self.st.scalars[self.frame.s + *a as usize], &self.st.scalars[self.frame.s + *b as usize]);
                self.dom.binary(*op, a, b)
            }
            Sx::BinLN(op, a, v) => {
                let v = self.dom.num(*v);
                self.dom.binary(*op, &self.st.scalars[self.frame.s + *a as usize], &v)
            }
            Sx::Bin(op, ab) => {
                let a = self.sx(&ab.0)?;
                let b = self.sx(&ab.1)?;
                self.dom.binary(*op, &a, &b)
            }
            Sx::Un(op, a) => {
                let a = self.sx(a)?;
                self.dom.unary(*op, &a)
            }
            Sx::Elem1(k, i) => {
                let i = self.sx(i)?;
                let i = self.known(&i)?;
                let at = self.at1(*k, i)?;
                self.st.arrays[self.frame.a + *k as usize].data[at].clone()
            }
            Sx::Elem2(k, ij) => {
                let i = self.sx(&ij.0)?;
                let j = self.sx(&ij.1)?;
                let (i, j) = (self.known(&i)?, self.known(&j)?);
                let at = self.at2(*k, i, j)?;
                self.st.arrays[self.frame.a + *k as usize].data[at].clone()
            }
            Sx::If(parts) => {
                let c = self.sx(&parts.0)?;
                match self.dom.as_const(&c) {
                    Some(v) if v != 0.0 => self.sx(&parts.1)?,
                    Some(_) => self.sx(&parts.2)?,
                    None => {
                        let a = self.sx(&parts.1)?;
                        let b = self.sx(&parts.2)?;
                        self.dom.select(&c, &a, &b)
                    }
                }
            }
            Sx::And(ab) => {
                let a = self.sx(&ab.0)?;
                if self.dom.as_const(&a) == Some(0.0) {
                    return Ok(self.dom.num(0.0));
                }
                let b = self.sx(&ab.1)?;
                self.dom.binary(Binary::And, &a, &b)
            }
            Sx::Or(ab) => {
                let a = self.sx(&ab.0)?;
                if self.dom.as_const(&a).is_some_and(|v| v != 0.0) {
                    return Ok(self.dom.num(1.0));
                }
                let b = self.sx(&ab.1)?;
                self.dom.binary(Binary::Or, &a, &b)
            }
            Sx::SizeLocal(k, d) => {
                let n = self.st.arrays[self.frame.a + *k as usize].dims.get(*d as usize).copied().unwrap_or(0);
                self.dom.num(n as f64)
            }
            other => return self.sx_rare(other),
        })
    }

    #[inline(never)]
    fn sx_rare(&mut self, e: &'c Sx) -> Res<D::S> {
        Ok(match e {
            Sx::Call(f, args, out) => {
                let (callee, frame) = self.invoke(*f, args)?;
                let v = match callee.outputs.get(*out as usize).map(|o| o.slot) {
                    Some(Slot::S(k)) => self.st.scalars[frame.s + k as usize].clone(),
                    _ => return Err(self.shape("a scalar output is needed")),
                };
                self.leave(frame);
                v
            }
            Sx::Op2(op, ab) => {
                let a = self.sx(&ab.0)?;
                let b = self.sx(&ab.1)?;
                self.op2(*op, &a, &b)?
            }
            Sx::ElemN(k, at) => {
                let mut index = Dims::new();
                let dims = self.st.arrays[self.frame.a + *k as usize].dims.clone();
                for (d, e) in at.iter().enumerate() {
                    let v = self.sx(e)?;
                    let v = self.known(&v)?;
                    let n = dims.get(d).copied().unwrap_or(0);
                    if !(v >= 1.0 && v <= n as f64 && v.fract() == 0.0) {
                        return Err(self.out_of_range(Some(*k), d, v, n));
                    }
                    index.push(v as usize - 1);
                }
                let at = dims.iter().zip(&index).fold(0, |p, (n, i)| p * n + i);
                match self.st.arrays[self.frame.a + *k as usize].data.get(at) {
                    Some(v) => v.clone(),
                    None => return Err(self.shape("a subscript is missing")),
                }
            }
            Sx::Pick(base, at) => {
                let a = self.ax(base)?;
                let mut p = 0;
                for (d, e) in at.iter().enumerate() {
                    let v = self.sx(e)?;
                    let v = self.known(&v)?;
                    let n = a.dims.get(d).copied().unwrap_or(0);
                    if !(v >= 1.0 && v <= n as f64 && v.fract() == 0.0) {
                        return Err(self.out_of_range(None, d, v, n));
                    }
                    p = p * n + (v as usize - 1);
                }
                let v = a.data.get(p).cloned().ok_or_else(|| self.shape("a subscript is missing"))?;
                self.give(a);
                v
            }
            Sx::Size(parts) => {
                let a = self.ax(&parts.0)?;
                let d = self.sx(&parts.1)?;
                let d = self.known(&d)?;
                if !(d >= 1.0 && d <= a.dims.len() as f64) {
                    return Err(
                        self.err(ErrorKind::Index, format!("an array of {} dimensions has no size {d}", a.dims.len()))
                    );
                }
                let n = a.dims[d as usize - 1];
                self.give(a);
                self.dom.num(n as f64)
            }
            Sx::Reduce(red, a) => {
                let a = self.ax(a)?;
                let mut acc = None;
                for v in &a.data {
                    acc = Some(self.reduce(*red, acc, v));
                }
                self.give(a);
                self.finish(*red, acc)
            }
            Sx::ReduceFor(red, body, iters) => {
                let mut acc = None;
                self.nest(iters, &mut |run| {
                    let v = run.sx(body)?;
                    acc = Some(run.reduce(*red, acc.take(), &v));
                    Ok(())
                })?;
                self.finish(*red, acc)
            }
            Sx::Dot(ab) => {
                let a = self.ax(&ab.0)?;
                let b = self.ax(&ab.1)?;
                if a.dims != b.dims {
                    return Err(self.shape(format!("scalar product of vectors of size {:?} and {:?}", a.dims, b.dims)));
                }
                let v = self.dot(a.data.iter().zip(&b.data));
                self.give(a);
                self.give(b);
                v
            }
            Sx::Scalar(a) => {
                let a = self.value(a)?;
                if a.data.len() != 1 {
                    return Err(self.shape(format!("scalar of an array of size {:?}", a.dims)));
                }
                a.data[0].clone()
            }
            Sx::ToString(ty, args) => {
                let mut v: SmallVec<[f64; 4]> = SmallVec::new();
                for a in args {
                    let a = self.sx(a)?;
                    v.push(self.known(&a)?);
                }
                let optional = |k: usize| v.get(k).copied();
                let h = strings::of_value(*ty, v[0], optional(1), optional(2), optional(3));
                self.dom.num(h)
            }
            Sx::Format(parts) => {
                let x = self.sx(&parts.0)?;
                let f = self.sx(&parts.1)?;
                let (x, f) = (self.known(&x)?, self.known(&f)?);
                match strings::formatted(x, f) {
                    Some(h) => self.dom.num(h),
                    None => {
                        let why = format!("\"{}\" is no number format", strings::text(f));
                        return Err(self.err(ErrorKind::External, why));
                    }
                }
            }
            Sx::EnumToString(args) => {
                let mut v = Vec::new();
                for a in args {
                    let a = self.sx(a)?;
                    v.push(self.known(&a)?);
                }
                match v.get(v[0].max(0.0) as usize) {
                    Some(h) if v[0] >= 1.0 => self.dom.num(*h),
                    _ => return Err(self.err(ErrorKind::Index, format!("{} is no value of the enumeration", v[0]))),
                }
            }
            Sx::Compare(ab) => {
                let a = self.sx(&ab.0)?;
                let b = self.sx(&ab.1)?;
                let c = strings::compare(self.known(&a)?, self.known(&b)?);
                self.dom.num(c)
            }
            Sx::SemiLinear(parts) => {
                let x = self.sx(&parts.0)?;
                let p = self.sx(&parts.1)?;
                let n = self.sx(&parts.2)?;
                self.semi_linear(&x, &p, &n)
            }
            _ => return Err(self.shape("unknown expression")),
        })
    }

    fn semi_linear(&mut self, x: &D::S, p: &D::S, n: &D::S) -> D::S {
        let zero = self.dom.num(0.0);
        let c = self.dom.binary(Binary::Ge, x, &zero);
        let a = self.dom.binary(Binary::Mul, p, x);
        let b = self.dom.binary(Binary::Mul, n, x);
        self.dom.select(&c, &a, &b)
    }

    fn reduce(&mut self, red: Red, acc: Option<D::S>, v: &D::S) -> D::S {
        let op = match red {
            Red::Sum => Binary::Add,
            Red::Product => Binary::Mul,
            Red::Min => Binary::Min,
            Red::Max => Binary::Max,
        };
        match acc {
            None => v.clone(),
            Some(a) => self.dom.binary(op, &a, v),
        }
    }

    fn finish(&mut self, red: Red, acc: Option<D::S>) -> D::S {
        match acc {
            Some(v) => v,
            None => self.dom.num(match red {
                Red::Sum => 0.0,
                Red::Product => 1.0,
                Red::Min => f64::MAX,
                Red::Max => f64::MIN,
            }),
        }
    }

    fn dot<'x>(&mut self, pairs: impl Iterator<Item = (&'x D::S, &'x D::S)>) -> D::S
    where
        D::S: 'x,
    {
        let mut acc: Option<D::S> = None;
        for (a, b) in pairs {
            let p = self.dom.binary(Binary::Mul, a, b);
            acc = Some(match acc {
                None => p,
                Some(s) => self.dom.binary(Binary::Add, &s, &p),
            });
        }
        self.finish(Red::Sum, acc)
    }

    fn op2(&mut self, op: Op2, a: &D::S, b: &D::S) -> Res<D::S> {
        Ok(match op {
            Op2::Bin(op) => self.dom.binary(op, a, b),
            Op2::Div | Op2::Mod | Op2::Rem => match division(self.dom, op, a, b) {
                Some(v) => v,
                None => return Err(self.err(ErrorKind::Division, "division by zero")),
            },
            Op2::Concat => {
                let (a, b) = (self.known(a)?, self.known(b)?);
                if strings::text(a).len() + strings::text(b).len() > MAX_TEXT {
                    return Err(self.err(ErrorKind::Limit, "the text becomes too long"));
                }
                let h = strings::concat(a, b);
                self.dom.num(h)
            }
            Op2::Text(op) => {
                let c = strings::compare(self.known(a)?, self.known(b)?);
                let v = saltus_expr::binary(op, c, 0.0);
                self.dom.num(v)
            }
        })
    }

    /// Runs `body` for all values of the iterators, the last outermost; gives the number of values of each.
    fn nest(&mut self, iters: &'c [(u32, Iter)], body: &mut dyn FnMut(&mut Self) -> Res<()>) -> Res<Dims> {
        enum List<S> {
            Range(f64, f64),
            Values(Array<S>),
        }
        let mut lists: SmallVec<[List<D::S>; 2]> = SmallVec::new();
        let mut sizes = Dims::new();
        for (_, it) in iters {
            let list = match it {
                Iter::Range(..) => {
                    let (a, s, n) = self.range(it)?;
                    sizes.push(n);
                    List::Range(a, s)
                }
                Iter::Over(e) => {
                    let v = self.ax(e)?;
                    sizes.push(v.data.len());
                    List::Values(v)
                }
            };
            lists.push(list);
        }
        let total = self.count(&sizes)?;
        let mut counter: Dims = sizes.iter().map(|_| 0).collect();
        for _ in 0..total {
            self.step()?;
            for (k, (slot, _)) in iters.iter().enumerate() {
                let v = match &lists[k] {
                    List::Range(a, s) => self.dom.num(a + counter[k] as f64 * s),
                    List::Values(v) => v.data[counter[k]].clone(),
                };
                self.st.scalars[self.frame.s + *slot as usize] = v;
            }
            body(self)?;
            // The first iterator is the innermost.
            for k in 0..counter.len() {
                counter[k] += 1;
                if counter[k] < sizes[k] {
                    break;
                }
                counter[k] = 0;
            }
        }
        Ok(sizes)
    }

    // ---- array expressions ----

    fn value(&mut self, a: &'c Arg) -> Res<Array<D::S>> {
        match a {
            Arg::S(s) => {
                let v = self.sx(s)?;
                let mut out = self.take();
                out.data.push(v);
                Ok(out)
            }
            Arg::A(a) => self.ax(a),
        }
    }

    fn matrix(&self, a: &Array<D::S>) -> Res<(usize, usize)> {
        match a.dims[..] {
            [m, n] => Ok((m, n)),
            _ => Err(self.shape("a matrix is needed")),
        }
    }

    fn ax(&mut self, e: &'c Ax) -> Res<Array<D::S>> {
        Ok(match e {
            Ax::Local(k) => {
                let mut out = self.take();
                let from = &self.st.arrays[self.frame.a + *k as usize];
                out.dims = from.dims.clone();
                out.data.extend_from_slice(&from.data);
                out
            }
            Ax::Map1(op, a) => {
                let mut a = self.ax(a)?;
                for v in &mut a.data {
                    *v = self.dom.unary(*op, v);
                }
                a
            }
            Ax::Map2(op, ab) => match (&ab.0, &ab.1) {
                (Arg::S(a), Arg::A(b)) => {
                    let a = self.sx(a)?;
                    let mut b = self.ax(b)?;
                    for v in &mut b.data {
                        *v = self.op2(*op, &a, v)?;
                    }
                    b
                }
                (Arg::A(a), Arg::S(b)) => {
                    let mut a = self.ax(a)?;
                    let b = self.sx(b)?;
                    for v in &mut a.data {
                        *v = self.op2(*op, v, &b)?;
                    }
                    a
                }
                (Arg::A(a), Arg::A(b)) => {
                    let mut a = self.ax(a)?;
                    let b = self.ax(b)?;
                    if a.dims != b.dims {
                        return Err(self.shape(format!("arrays of size {:?} and {:?} do not fit", a.dims, b.dims)));
                    }
                    for (v, w) in a.data.iter_mut().zip(&b.data) {
                        *v = self.op2(*op, v, w)?;
                    }
                    self.give(b);
                    a
                }
                (Arg::S(a), Arg::S(b)) => {
                    let a = self.sx(a)?;
                    let b = self.sx(b)?;
                    let v = self.op2(*op, &a, &b)?;
                    Array { dims: Dims::new(), data: vec![v] }
                }
            },
            Ax::If(parts) => {
                let c = self.sx(&parts.0)?;
                match self.dom.as_const(&c) {
                    Some(v) if v != 0.0 => self.ax(&parts.1)?,
                    Some(_) => self.ax(&parts.2)?,
                    None => {
                        let mut a = self.ax(&parts.1)?;
                        let b = self.ax(&parts.2)?;
                        if a.dims != b.dims {
                            return Err(self.err(ErrorKind::NotConstant, "an array size under an unknown condition"));
                        }
                        for (v, w) in a.data.iter_mut().zip(&b.data) {
                            *v = self.dom.select(&c, v, w);
                        }
                        a
                    }
                }
            }
            Ax::Array(items, rank) => {
                let mut out = self.take();
                out.dims.push(items.len());
                if *rank == 0 {
                    for x in items {
                        if let Arg::S(s) = x {
                            let v = self.sx(s)?;
                            out.data.push(v);
                        }
                    }
                } else {
                    for (i, x) in items.iter().enumerate() {
                        let v = self.value(x)?;
                        if i == 0 {
                            out.dims.extend(v.dims.iter().copied());
                        } else if out.dims[1..] != v.dims[..] {
                            return Err(self.shape("the elements of an array have different sizes"));
                        }
                        out.data.extend_from_slice(&v.data);
                        self.give(v);
                    }
                }
                out
            }
            Ax::Range(it) => {
                let (a, s, n) = self.range(it)?;
                let mut out = self.take();
                out.dims.push(n);
                for i in 0..n {
                    let v = self.dom.num(a + i as f64 * s);
                    out.data.push(v);
                }
                out
            }
            Ax::For(body, iters) => {
                let mut out = self.take();
                let mut inner: Option<Dims> = None;
                let sizes = self.nest(iters, &mut |run| {
                    match &**body {
                        Arg::S(s) => {
                            let v = run.sx(s)?;
                            out.data.push(v);
                            inner.get_or_insert_with(Dims::new);
                        }
                        Arg::A(a) => {
                            let v = run.ax(a)?;
                            match &inner {
                                None => inner = Some(v.dims.clone()),
                                Some(d) if *d != v.dims => {
                                    return Err(run.shape("the elements of an array have different sizes"));
                                }
                                _ => {}
                            }
                            out.data.extend_from_slice(&v.data);
                            run.give(v);
                        }
                    }
                    Ok(())
                })?;
                out.dims.extend(sizes.iter().rev().copied());
                out.dims.extend(inner.unwrap_or_default());
                out
            }
            Ax::SumFor(body, iters) => {
                let mut acc: Option<Array<D::S>> = None;
                self.nest(iters, &mut |run| {
                    let v = run.ax(body)?;
                    match &mut acc {
                        None => acc = Some(v),
                        Some(s) => {
                            if s.dims != v.dims {
                                return Err(run.shape("the summands have different sizes"));
                            }
                            for (x, y) in s.data.iter_mut().zip(&v.data) {
                                *x = run.dom.binary(Binary::Add, x, y);
                            }
                        }
                    }
                    Ok(())
                })?;
                acc.ok_or_else(|| self.shape("an empty sum of arrays has no size"))?
            }
            Ax::Index(base, ix) => {
                if let Ax::Local(k) = **base {
                    let dims = self.st.arrays[self.frame.a + k as usize].dims.clone();
                    let (lists, kept) = self.positions(ix, &dims, Some(k))?;
                    let mut out = self.take();
                    let from = &self.st.arrays[self.frame.a + k as usize].data;
                    scan(&lists, &dims, |p| out.data.extend(from.get(p).cloned()));
                    out.dims = kept;
                    out
                } else {
                    let a = self.ax(base)?;
                    let (lists, kept) = self.positions(ix, &a.dims, None)?;
                    let mut out = self.take();
                    scan(&lists, &a.dims, |p| out.data.extend(a.data.get(p).cloned()));
                    out.dims = kept;
                    self.give(a);
                    out
                }
            }
            Ax::Call(f, args, out) => {
                let (callee, frame) = self.invoke(*f, args)?;
                let v = match callee.outputs.get(*out as usize).map(|o| o.slot) {
                    Some(Slot::A(k)) => std::mem::take(&mut self.st.arrays[frame.a + k as usize]),
                    _ => return Err(self.shape("an array output is needed")),
                };
                self.leave(frame);
                v
            }
            other => return self.ax_rare(other),
        })
    }

    #[inline(never)]
    fn ax_rare(&mut self, e: &'c Ax) -> Res<Array<D::S>> {
        Ok(match e {
            Ax::SizeV(a) => {
                let a = self.value(a)?;
                let mut out = self.take();
                out.dims.push(a.dims.len());
                for d in &a.dims {
                    let v = self.dom.num(*d as f64);
                    out.data.push(v);
                }
                self.give(a);
                out
            }
            Ax::MatMul(ab) => {
                let a = self.ax(&ab.0)?;
                let b = self.ax(&ab.1)?;
                self.mat_mul(&a, &b)?
            }
            Ax::Transpose(a) => {
                let a = self.ax(a)?;
                let (m, n) = self.matrix(&a)?;
                let mut out = self.take();
                out.dims.extend([n, m]);
                for j in 0..n {
                    for i in 0..m {
                        out.data.push(a.data[i * n + j].clone());
                    }
                }
                self.give(a);
                out
            }
            Ax::Identity(n) => {
                let n = self.sx(n)?;
                let n = self.size(self.known(&n)?)?;
                self.identity(n)?
            }
            Ax::Diagonal(v) => {
                let v = self.ax(v)?;
                let n = v.data.len();
                let total = self.count(&[n, n])?;
                let zero = self.dom.num(0.0);
                let mut out = self.take();
                out.dims.extend([n, n]);
                out.data.resize(total, zero);
                for (i, x) in v.data.iter().enumerate() {
                    out.data[i * n + i] = x.clone();
                }
                out
            }
            Ax::Fill(v, sizes) => {
                let v = self.value(v)?;
                let mut dims = Dims::new();
                for s in sizes {
                    let s = self.sx(s)?;
                    dims.push(self.size(self.known(&s)?)?);
                }
                let times = self.count(&dims)?;
                self.count(&[times, v.data.len()])?;
                let mut out = self.take();
                if let [x] = &v.data[..] {
                    out.data.resize(times, x.clone());
                } else {
                    for _ in 0..times {
                        out.data.extend_from_slice(&v.data);
                    }
                }
                dims.extend(v.dims.iter().copied());
                out.dims = dims;
                self.give(v);
                out
            }
            Ax::Linspace(parts) => {
                let a = self.sx(&parts.0)?;
                let b = self.sx(&parts.1)?;
                let n = self.sx(&parts.2)?;
                let n = self.size(self.known(&n)?)?;
                if n < 2 {
                    return Err(self.shape("linspace needs at least two points"));
                }
                let step = self.dom.binary(Binary::Sub, &b, &a);
                let mut out = self.take();
                out.dims.push(n);
                for i in 0..n {
                    let v = if i + 1 == n {
                        b.clone()
                    } else {
                        let t = self.dom.num(i as f64 / (n - 1) as f64);
                        let d = self.dom.binary(Binary::Mul, &step, &t);
                        self.dom.binary(Binary::Add, &a, &d)
                    };
                    out.data.push(v);
                }
                out
            }
            Ax::Cat(k, items, rank) => self.cat(*k as usize, items, *rank as usize)?,
            Ax::Promote(a, rank) => {
                let mut a = self.value(a)?;
                while a.dims.len() < *rank as usize {
                    a.dims.push(1);
                }
                a
            }
            Ax::Vector(a) => {
                let mut a = self.value(a)?;
                if a.dims.iter().filter(|d| **d > 1).count() > 1 {
                    return Err(self.shape(format!("an array of size {:?} is no vector", a.dims)));
                }
                a.dims = Dims::from_slice(&[a.data.len()]);
                a
            }
            Ax::Matrix(a) => {
                let mut a = self.value(a)?;
                while a.dims.len() < 2 {
                    a.dims.push(1);
                }
                if a.dims[2..].iter().any(|d| *d != 1) {
                    return Err(self.shape(format!("an array of size {:?} is no matrix", a.dims)));
                }
                a.dims.truncate(2);
                a
            }
            Ax::Outer(ab) => {
                let a = self.ax(&ab.0)?;
                let b = self.ax(&ab.1)?;
                self.count(&[a.data.len(), b.data.len()])?;
                let mut out = self.take();
                out.dims.extend([a.data.len(), b.data.len()]);
                for x in &a.data {
                    for y in &b.data {
                        let v = self.dom.binary(Binary::Mul, x, y);
                        out.data.push(v);
                    }
                }
                out
            }
            Ax::Symmetric(a) => {
                let mut a = self.ax(a)?;
                let (m, n) = self.matrix(&a)?;
                if m != n {
                    return Err(self.shape("symmetric needs a square matrix"));
                }
                for i in 0..n {
                    for j in 0..i {
                        a.data[i * n + j] = a.data[j * n + i].clone();
                    }
                }
                a
            }
            Ax::Cross(ab) => {
                let a = self.ax(&ab.0)?;
                let b = self.ax(&ab.1)?;
                if a.data.len() != 3 || b.data.len() != 3 {
                    return Err(self.shape("cross needs vectors of size 3"));
                }
                let mut out = self.take();
                out.dims.push(3);
                for i in 0..3 {
                    let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                    let p = self.dom.binary(Binary::Mul, &a.data[j], &b.data[k]);
                    let q = self.dom.binary(Binary::Mul, &a.data[k], &b.data[j]);
                    let v = self.dom.binary(Binary::Sub, &p, &q);
                    out.data.push(v);
                }
                out
            }
            Ax::Skew(a) => {
                let a = self.ax(a)?;
                if a.data.len() != 3 {
                    return Err(self.shape("skew needs a vector of size 3"));
                }
                let zero = self.dom.num(0.0);
                let neg: Vec<D::S> = a.data.iter().map(|v| self.dom.unary(Unary::Neg, v)).collect();
                let p = &a.data;
                let data = vec![
                    zero.clone(),
                    neg[2].clone(),
                    p[1].clone(),
                    p[2].clone(),
                    zero.clone(),
                    neg[0].clone(),
                    neg[1].clone(),
                    p[0].clone(),
                    zero,
                ];
                Array { dims: Dims::from_slice(&[3, 3]), data }
            }
            Ax::MatPow(parts) => {
                let a = self.ax(&parts.0)?;
                let p = self.sx(&parts.1)?;
                let p = self.known(&p)?;
                let (m, n) = self.matrix(&a)?;
                if m != n || p < 0.0 || p.fract() != 0.0 || p > 1e6 {
                    return Err(self.shape("a power needs a square matrix and a whole exponent that is not negative"));
                }
                let mut k = p as u64;
                let mut base = a;
                let mut out: Option<Array<D::S>> = None;
                while k > 0 {
                    if k & 1 == 1 {
                        out = Some(match out {
                            None => base.clone(),
                            Some(o) => self.mat_mul(&o, &base)?,
                        });
                    }
                    k >>= 1;
                    if k > 0 {
                        base = self.mat_mul(&base, &base)?;
                    }
                }
                match out {
                    Some(o) => o,
                    None => self.identity(n)?,
                }
            }
            Ax::SemiLinear(parts) => {
                let x = self.value(&parts.0)?;
                let p = self.value(&parts.1)?;
                let n = self.value(&parts.2)?;
                let all = [&x, &p, &n];
                let dims = all.iter().find(|a| !a.dims.is_empty()).map(|a| a.dims.clone()).unwrap_or_default();
                if all.iter().any(|a| !a.dims.is_empty() && a.dims != dims) {
                    return Err(self.shape("the arguments of semiLinear have different sizes"));
                }
                let total = self.count(&dims)?;
                let mut out = self.take();
                for i in 0..total {
                    let at = |a: &Array<D::S>| a.data[if a.dims.is_empty() { 0 } else { i }].clone();
                    let v = self.semi_linear(&at(&x), &at(&p), &at(&n));
                    out.data.push(v);
                }
                out.dims = dims;
                out
            }
            _ => return Err(self.shape("unknown expression")),
        })
    }

    fn identity(&mut self, n: usize) -> Res<Array<D::S>> {
        let total = self.count(&[n, n])?;
        let (zero, one) = (self.dom.num(0.0), self.dom.num(1.0));
        let mut out = self.take();
        out.dims.extend([n, n]);
        out.data.resize(total, zero);
        for i in 0..n {
            out.data[i * n + i] = one.clone();
        }
        Ok(out)
    }

    fn mat_mul(&mut self, a: &Array<D::S>, b: &Array<D::S>) -> Res<Array<D::S>> {
        let (m, k) = match a.dims[..] {
            [k] => (1, k),
            [m, k] => (m, k),
            _ => return Err(self.shape("a matrix product needs matrices")),
        };
        let (k2, n) = match b.dims[..] {
            [k] => (k, 1),
            [k, n] => (k, n),
            _ => return Err(self.shape("a matrix product needs matrices")),
        };
        if k != k2 {
            return Err(self.shape(format!("the product of arrays of size {:?} and {:?}", a.dims, b.dims)));
        }
        self.count(&[m, n])?;
        let mut out = self.take();
        for i in 0..m {
            for j in 0..n {
                let v = self.dot((0..k).map(|l| (&a.data[i * k + l], &b.data[l * n + j])));
                out.data.push(v);
            }
        }
        if a.dims.len() == 2 {
            out.dims.push(m);
        }
        if b.dims.len() == 2 {
            out.dims.push(n);
        }
        Ok(out)
    }

    fn cat(&mut self, k: usize, items: &'c [Arg], rank: usize) -> Res<Array<D::S>> {
        let mut parts = Vec::with_capacity(items.len());
        for x in items {
            let mut v = self.value(x)?;
            while v.dims.len() < rank {
                v.dims.push(1);
            }
            parts.push(v);
        }
        let Some(first) = parts.first() else { return Err(self.shape("cat of nothing")) };
        let mut dims = first.dims.clone();
        dims[k] = parts.iter().map(|p| p.dims[k]).sum();
        self.count(&dims)?;
        for p in &parts {
            if p.dims.iter().zip(&dims).enumerate().any(|(i, (a, b))| i != k && a != b) {
                return Err(self.shape(format!("arrays of size {:?} and {:?} cannot be joined", first.dims, p.dims)));
            }
        }
        let total = self.count(&dims)?;
        let outer: usize = dims[..k].iter().product();
        let inner: usize = dims[k + 1..].iter().product();
        let mut out = self.take();
        out.data.reserve(total);
        for o in 0..outer {
            for p in &parts {
                let chunk = p.dims[k] * inner;
                out.data.extend_from_slice(&p.data[o * chunk..(o + 1) * chunk]);
            }
        }
        out.dims = dims;
        for p in parts {
            self.give(p);
        }
        Ok(out)
    }
}

/// `div`, `mod` or `rem`; `None` if the divisor is known to be zero. Whole numbers are divided as such.
pub fn division<D: Domain>(dom: &mut D, op: Op2, a: &D::S, b: &D::S) -> Option<D::S> {
    let known = (dom.as_const(a), dom.as_const(b));
    if known.1 == Some(0.0) {
        return None;
    }
    if let (Some(x), Some(y)) = known
        && x.fract() == 0.0
        && y.fract() == 0.0
        && x.abs() < 9e15
        && y.abs() < 9e15
        && dom.derivative(a) == 0.0
        && dom.derivative(b) == 0.0
        && !dom.varies(a)
        && !dom.varies(b)
    {
        let (x, y) = (x as i64, y as i64);
        let r = match op {
            Op2::Div => x / y,
            Op2::Rem => x % y,
            _ => {
                let r = x % y;
                if r != 0 && (r < 0) != (y < 0) { r + y } else { r }
            }
        };
        return Some(dom.num(r as f64));
    }
    let q = dom.binary(Binary::Div, a, b);
    let q = dom.unary(if matches!(op, Op2::Mod) { Unary::Floor } else { Unary::Trunc }, &q);
    if matches!(op, Op2::Div) {
        return Some(q);
    }
    let p = dom.binary(Binary::Mul, &q, b);
    Some(dom.binary(Binary::Sub, a, &p))
}

/// Calls `f` with the flat position of every combination, the last dimension fastest.
fn scan(lists: &[Vec<usize>], dims: &[usize], mut f: impl FnMut(usize)) {
    fn go(lists: &[Vec<usize>], dims: &[usize], base: usize, f: &mut dyn FnMut(usize)) {
        match (lists.split_first(), dims.split_first()) {
            (Some((list, rest)), Some((n, dims))) => {
                for i in list {
                    let at = base * n + i;
                    if rest.is_empty() { f(at) } else { go(rest, dims, at, f) }
                }
            }
            _ => f(base),
        }
    }
    go(lists, dims, 0, &mut f);
}

/// Derivative of all results of an external function along `dargs` by central differences.
fn differences(x: &Callee, args: &[ExtArg], dargs: &[ExtArg]) -> Result<(f64, Vec<ExtArg>), String> {
    let largest = |v: &[ExtArg]| {
        v.iter().fold(0.0f64, |m, a| match a {
            ExtArg::Num(v) => m.max(v.abs()),
            ExtArg::Array { data, .. } => data.iter().fold(m, |m, v| m.max(v.abs())),
        })
    };
    let h = 1e-6 * (1.0 + largest(args).min(1e6)) / largest(dargs).max(1e-300);
    let moved = |s: f64| -> Result<(f64, Vec<ExtArg>), String> {
        let mut a = args.to_vec();
        for (a, d) in a.iter_mut().zip(dargs) {
            match (a, d) {
                (ExtArg::Num(a), ExtArg::Num(d)) => *a += s * d,
                (ExtArg::Array { data: a, .. }, ExtArg::Array { data: d, .. }) => {
                    for (a, d) in a.iter_mut().zip(d) {
                        *a += s * d;
                    }
                }
                _ => {}
            }
        }
        let r = x.call(&mut a)?;
        Ok((r, a))
    };
    let (plus, mut up) = moved(h)?;
    let (minus, down) = moved(-h)?;
    for (u, d) in up.iter_mut().zip(&down) {
        match (u, d) {
            (ExtArg::Num(u), ExtArg::Num(d)) => *u = (*u - d) / (2.0 * h),
            (ExtArg::Array { data: u, .. }, ExtArg::Array { data: d, .. }) => {
                for (u, d) in u.iter_mut().zip(d) {
                    *u = (*u - d) / (2.0 * h);
                }
            }
            _ => {}
        }
    }
    Ok(((plus - minus) / (2.0 * h), up))
}

/// Runs functions on numbers, keeping its stacks between calls.
///
/// ```
/// # use saltus_function::*;
/// # use saltus_expr::{Binary, FuncId};
/// # use saltus_base::Span;
/// # let scalar = |name: &str| Local { name: name.into(), ty: ScalarType::Real, dims: vec![], binding: None };
/// # let body = FStmtKind::Assign(
/// #     LValue { local: LocalId(1), indices: vec![] },
/// #     FExpr::Binary(Binary::Mul, Box::new(FExpr::Local(LocalId(0))), Box::new(FExpr::Num(2.0))),
/// # );
/// # let twice = Function {
/// #     name: "twice".into(), locals: vec![scalar("x"), scalar("y")], inputs: vec![LocalId(0)],
/// #     outputs: vec![LocalId(1)], body: vec![FStmt { kind: body, span: Span::NONE }], external: None,
/// #     derivative: None, impure: false, span: Span::NONE,
/// # };
/// let mut executor = Executor::new(&[twice]);
/// let mut y = [0.0];
/// executor.call(FuncId(0), &[21.0], &mut y).unwrap();
/// assert_eq!(y, [42.0]);
/// ```
pub struct Executor {
    code: Arc<Code>,
    state: State<f64>,
    dual: State<DualNumber>,
    dual_args: Vec<DualNumber>,
    limits: Limits,
}

impl Clone for Executor {
    /// Shares the code, with stacks of its own.
    fn clone(&self) -> Self {
        Executor {
            code: self.code.clone(),
            state: State::default(),
            dual: State::default(),
            dual_args: Vec::new(),
            limits: self.limits,
        }
    }
}

impl Executor {
    /// Lowers all functions.
    pub fn new(functions: &[Function]) -> Self {
        let mut code = Code::default();
        for i in 0..functions.len() {
            code.reach(functions, FuncId(i as u32));
        }
        Self::with_code(code)
    }

    /// Lowers one function and those it can call; calls of others are errors.
    pub fn for_function(functions: &[Function], f: FuncId) -> Self {
        let mut code = Code::default();
        code.reach(functions, f);
        Self::with_code(code)
    }

    fn with_code(code: Code) -> Self {
        Executor {
            code: Arc::new(code),
            state: State::default(),
            dual: State::default(),
            dual_args: Vec::new(),
            limits: Limits { steps: u64::MAX, turns: MOST_TURNS },
        }
    }

    /// Lowers `f` and those it can call, as far as that was not done: for tables that grow. Functions that were lowered
    /// already must not have changed.
    pub fn extend(&mut self, functions: &[Function], f: FuncId) {
        if matches!(self.code.functions.get(f.0 as usize), Some(Some(_))) {
            return;
        }
        match Arc::get_mut(&mut self.code) {
            Some(code) => code.reach(functions, f),
            None => {
                // The code is shared with a clone: lower again what was there.
                let mut code = Code::default();
                for (i, known) in self.code.functions.iter().enumerate() {
                    if known.is_some() {
                        code.reach(functions, FuncId(i as u32));
                    }
                }
                code.reach(functions, f);
                self.code = Arc::new(code);
            }
        }
    }

    /// Whether a function, or something it can call, has effects: equal arguments may give other results later, or a call
    /// ends the run.
    pub fn has_effects(&self, f: FuncId) -> bool {
        let mut seen = vec![f];
        let mut at = 0;
        while let Some(&g) = seen.get(at) {
            at += 1;
            let Some(l) = self.lowered(g) else { return true };
            if l.impure || l.ends {
                return true;
            }
            for c in l.callees.iter().copied().chain(l.derivative) {
                if !seen.contains(&c) {
                    seen.push(c);
                }
            }
        }
        false
    }

    /// A function in the form that is run, if it could be lowered.
    pub fn lowered(&self, f: FuncId) -> Option<&Lowered> {
        self.code.get(f).ok()
    }

    /// Number of functions in the table.
    pub fn functions(&self) -> usize {
        self.code.functions.len()
    }

    /// Statements run so far.
    pub fn work(&self) -> u64 {
        self.state.work + self.dual.work
    }

    /// Calls a function with values of known sizes.
    pub fn call_arrays(&mut self, f: FuncId, args: Vec<Array<f64>>) -> Result<Vec<Array<f64>>, ExecError> {
        let lowered = self.code.get(f).map_err(|e| *e)?;
        Run::outermost(&self.code, lowered, &mut self.state, &mut Float, self.limits)
            .call_values(f, args)
            .map_err(|e| *e)
    }

    /// The same with directional derivatives.
    pub fn call_arrays_dual(
        &mut self,
        f: FuncId,
        args: Vec<Array<DualNumber>>,
    ) -> Result<Vec<Array<DualNumber>>, ExecError> {
        let lowered = self.code.get(f).map_err(|e| *e)?;
        let r = Run::outermost(&self.code, lowered, &mut self.dual, &mut Dual, self.limits)
            .call_values(f, args)
            .map_err(|e| *e);
        self.state.warnings.append(&mut self.dual.warnings);
        r
    }

    /// Limits the loop iterations of one call, so that a loop without end becomes an error.
    pub fn limit_steps(&mut self, steps: u64) {
        self.limits.steps = steps;
    }

    /// Limits the turns of one `while` loop.
    pub fn limit_turns(&mut self, turns: u64) {
        self.limits.turns = turns;
    }

    /// The first error found while lowering, of any function.
    pub fn malformed(&self) -> Option<&ExecError> {
        self.code.functions.iter().flatten().find_map(|f| f.as_ref().err())
    }

    fn run(&mut self, f: FuncId, args: &[f64]) -> Result<Frame, ExecError> {
        let code = &*self.code;
        let lowered = code.get(f).map_err(|e| *e)?;
        Run::outermost(code, lowered, &mut self.state, &mut Float, self.limits).call_flat(f, args).map_err(|e| *e)
    }

    /// Calls a function with flattened arguments; `out` takes the flattened outputs.
    pub fn call(&mut self, f: FuncId, args: &[f64], out: &mut [f64]) -> Result<(), ExecError> {
        let frame = self.run(f, args)?;
        let lowered = self.code.get(f).map_err(|e| *e)?;
        let mut at = 0;
        for o in &lowered.outputs {
            let many: &[f64] = match o.slot {
                Slot::S(k) => std::slice::from_ref(&self.state.scalars[frame.s + k as usize]),
                Slot::A(k) => &self.state.arrays[frame.a + k as usize].data,
            };
            match out.get_mut(at..at + many.len()) {
                Some(place) => place.copy_from_slice(many),
                None => return Err(wrong_outputs(lowered, out.len())),
            }
            at += many.len();
        }
        if at != out.len() {
            return Err(wrong_outputs(lowered, out.len()));
        }
        Ok(())
    }

    /// Calls a function with flattened arguments; `out` becomes the flattened outputs.
    pub fn call_into(&mut self, f: FuncId, args: &[f64], out: &mut Vec<f64>) -> Result<(), ExecError> {
        let frame = self.run(f, args)?;
        out.clear();
        for o in &self.code.get(f).map_err(|e| *e)?.outputs {
            match o.slot {
                Slot::S(k) => out.push(self.state.scalars[frame.s + k as usize]),
                Slot::A(k) => out.extend_from_slice(&self.state.arrays[frame.a + k as usize].data),
            }
        }
        Ok(())
    }

    /// Calls a function with flattened arguments; gives the flattened outputs.
    pub fn call_vec(&mut self, f: FuncId, args: &[f64]) -> Result<Vec<f64>, ExecError> {
        let mut out = Vec::new();
        self.call_into(f, args, &mut out)?;
        Ok(out)
    }

    /// Calls a function with flattened arguments; gives sizes and elements of each output.
    pub fn call_shaped(&mut self, f: FuncId, args: &[f64]) -> Result<Vec<(Vec<usize>, Vec<f64>)>, ExecError> {
        let frame = self.run(f, args)?;
        let lowered = self.code.get(f).map_err(|e| *e)?;
        Ok(lowered
            .outputs
            .iter()
            .map(|o| match o.slot {
                Slot::S(k) => (vec![], vec![self.state.scalars[frame.s + k as usize]]),
                Slot::A(k) => {
                    let a = &self.state.arrays[frame.a + k as usize];
                    (a.dims.to_vec(), a.data.clone())
                }
            })
            .collect())
    }

    /// Values and directional derivatives of the outputs at `args` along `dargs`. A `derivative` annotation is used
    /// where there is one.
    pub fn call_dual(
        &mut self,
        f: FuncId,
        args: &[f64],
        dargs: &[f64],
        out: &mut Vec<f64>,
        dout: &mut Vec<f64>,
    ) -> Result<(), ExecError> {
        if let Some(f) = f.of_tangent() {
            return self.call_second(f, args, dargs, out, dout);
        }
        let code = &*self.code;
        let lowered = code.get(f).map_err(|e| *e)?;
        if args.len() != dargs.len() {
            return Err(ExecError::new(
                ErrorKind::Malformed,
                lowered.span,
                format!("{} arguments with {} derivatives", args.len(), dargs.len()),
            ));
        }
        self.dual_args.clear();
        self.dual_args.extend(args.iter().zip(dargs).map(|(v, d)| DualNumber { v: *v, d: *d }));
        let frame = Run::outermost(code, lowered, &mut self.dual, &mut Dual, self.limits)
            .call_flat(f, &self.dual_args)
            .map_err(|e| *e)?;
        out.clear();
        dout.clear();
        for o in &lowered.outputs {
            let many: &[DualNumber] = match o.slot {
                Slot::S(k) => std::slice::from_ref(&self.dual.scalars[frame.s + k as usize]),
                Slot::A(k) => &self.dual.arrays[frame.a + k as usize].data,
            };
            out.extend(many.iter().map(|x| x.v));
            dout.extend(many.iter().map(|x| x.d));
        }
        self.state.warnings.append(&mut self.dual.warnings);
        Ok(())
    }

    /// Directional derivatives ∂f·dx at `args` = (x, dx), and how they change along `dargs` = (x', dx'): exactly, or, where
    /// foreign code is called, by central differences of the first derivatives.
    fn call_second(
        &mut self,
        f: FuncId,
        args: &[f64],
        dargs: &[f64],
        out: &mut Vec<f64>,
        dout: &mut Vec<f64>,
    ) -> Result<(), ExecError> {
        let n = args.len() / 2;
        let number = |k: usize| HyperDual { v: args[k], a: args[n + k], b: dargs[k], ab: dargs[n + k] };
        let exact = if args.len() == dargs.len() && args.len() == 2 * n {
            self.call_in(&mut Second, f, &(0..n).map(number).collect::<Vec<_>>())
        } else {
            return self.call_dual(f, args, dargs, out, dout);
        };
        match exact {
            Ok(y) => {
                *out = y.iter().map(|y| y.a).collect();
                *dout = y.iter().map(|y| y.ab).collect();
                let mut first = |x: &[f64], dx: &[f64], d: &mut Vec<f64>| self.call_dual(f, x, dx, &mut Vec::new(), d);
                beside(args, dargs, out, dout, &mut first);
                Ok(())
            }
            Err(e) if e.kind == ErrorKind::NotConstant => {
                let mut first = |x: &[f64], dx: &[f64], d: &mut Vec<f64>| self.call_dual(f, x, dx, &mut Vec::new(), d);
                *dout = second_by_differences(args, dargs, &mut first)?;
                first(&args[..n], &args[n..], out)
            }
            Err(e) => Err(e),
        }
    }

    /// The flattened outputs of a function in any domain, with stacks of its own. Calls that cannot be executed there are
    /// errors, unless the domain has a name for them.
    pub fn call_in<D: Domain>(&self, dom: &mut D, f: FuncId, args: &[D::S]) -> Result<Vec<D::S>, ExecError> {
        let lowered = self.code.get(f).map_err(|e| *e)?;
        let mut state = State::default();
        let steps = if D::SPECULATES { SYMBOLIC_STEPS } else { self.limits.steps };
        let limit = Limits { steps, ..self.limits };
        let frame = Run::outermost(&self.code, lowered, &mut state, dom, limit).call_flat(f, args).map_err(|e| *e)?;
        Ok(flat_outputs(lowered, &state, frame))
    }

    /// The warnings since the last time.
    pub fn take_warnings(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.state.warnings)
    }
}

#[cold]
fn wrong_outputs(f: &Lowered, n: usize) -> ExecError {
    ExecError::new(ErrorKind::Shape, f.span, format!("{} does not have {n} scalar outputs", f.name))
}

/// The directional derivatives of a function at x along dx.
type First<'a> = &'a mut dyn FnMut(&[f64], &[f64], &mut Vec<f64>) -> Result<(), ExecError>;

/// How ∂f·dx at (x, dx) = `at` changes along (x', dx') = `along`, by central differences.
fn second_by_differences(at: &[f64], along: &[f64], first: First) -> Result<Vec<f64>, ExecError> {
    const H: f64 = 1e-5;
    let n = at.len() / 2;
    let mut side = |h: f64| {
        let moved: Vec<f64> = at.iter().zip(along).map(|(a, d)| a + h * d).collect();
        let mut slopes = Vec::new();
        first(&moved[..n], &moved[n..], &mut slopes).map(|()| slopes)
    };
    let (down, up) = (side(-H)?, side(H)?);
    Ok(up.iter().zip(&down).map(|(u, d)| (u - d) / (2.0 * H)).collect())
}

/// Replaces second derivatives `dout` (of the first ones `out`) where a function is another one at this very point: a series
/// at zero ends early, `if x == 0`. Then those beside it count.
pub fn beside(at: &[f64], along: &[f64], out: &[f64], dout: &mut [f64], first: First) {
    let Ok(near) = second_by_differences(at, along, first) else { return };
    for ((d, near), first) in dout.iter_mut().zip(near).zip(out) {
        // Differences are wrong by rounding of the first derivatives.
        let wrong = 1e-2 * (d.abs() + near.abs()) + 1e-7 * first.abs();
        if near.is_finite() && (*d - near).abs() > wrong {
            *d = near;
        }
    }
}

/// Calls a function with flattened scalar arguments and gives its flattened outputs. Sizes of array inputs are those
/// declared, or computed from the inputs before them. For single calls; see [`Executor`] for many.
pub fn call_f64(functions: &[Function], f: FuncId, args: &[f64]) -> Result<Vec<f64>, ExecError> {
    let mut e = Executor::for_function(functions, f);
    e.limit_steps(CONSTANT_STEPS);
    let r = e.call_vec(f, args);
    keep_warnings(e.take_warnings());
    r
}

/// The directional derivatives of the outputs of a function at `args` along `dargs`.
pub fn call_dual(functions: &[Function], f: FuncId, args: &[f64], dargs: &[f64]) -> Result<Vec<f64>, ExecError> {
    let mut e = Executor::for_function(functions, f.of_tangent().unwrap_or(f));
    let (mut out, mut dout) = (Vec::new(), Vec::new());
    e.call_dual(f, args, dargs, &mut out, &mut dout)?;
    keep_warnings(e.take_warnings());
    Ok(dout)
}

/// The flattened outputs of a function as expressions, if it can be inlined for these arguments within `budget` new
/// nodes. Calls inside it that cannot be inlined stay calls.
pub fn call_symbolic(
    functions: &[Function],
    f: FuncId,
    args: &[ExprId],
    pool: &mut Pool,
    budget: usize,
) -> Result<Vec<ExprId>, NotInlinable> {
    call_symbolic_keeping(functions, f, args, pool, budget, &|_| false)
}

/// [`call_symbolic`], where calls of functions for which `stay` holds stay calls.
pub fn call_symbolic_keeping(
    functions: &[Function],
    f: FuncId,
    args: &[ExprId],
    pool: &mut Pool,
    budget: usize,
    stay: &dyn Fn(FuncId) -> bool,
) -> Result<Vec<ExprId>, NotInlinable> {
    let mut code = Code::default();
    code.reach(functions, f);
    let refuse = |e: Box<ExecError>| NotInlinable { reason: e.message, span: e.span };
    let lowered = code.get(f).map_err(refuse)?;
    let mut state = State::default();
    let mut dom = Symbolic::new(pool, budget, stay);
    let mut run =
        Run::outermost(&code, lowered, &mut state, &mut dom, Limits { steps: SYMBOLIC_STEPS, turns: MOST_TURNS });
    let frame = run.call_flat(f, args).map_err(refuse)?;
    if run.dom.exhausted() {
        return Err(NotInlinable { reason: "the expressions become too large".into(), span: lowered.span });
    }
    if !state.warnings.is_empty() {
        return Err(NotInlinable { reason: "it warns".into(), span: lowered.span });
    }
    Ok(flat_outputs(lowered, &state, frame))
}

/// The outputs that stand in a frame.
fn flat_outputs<S: Clone>(f: &Lowered, state: &State<S>, frame: Frame) -> Vec<S> {
    let mut out = Vec::new();
    for o in &f.outputs {
        match o.slot {
            Slot::S(k) => out.push(state.scalars[frame.s + k as usize].clone()),
            Slot::A(k) => out.extend_from_slice(&state.arrays[frame.a + k as usize].data),
        }
    }
    out
}

thread_local! {
    static WARNINGS: std::cell::RefCell<Vec<Warning>> = const { std::cell::RefCell::new(Vec::new()) };
}

fn keep_warnings(mut new: Vec<Warning>) {
    if !new.is_empty() {
        WARNINGS.with_borrow_mut(|w| {
            if w.len() < MAX_WARNINGS {
                w.append(&mut new);
            }
        });
    }
}

/// The warnings of [`call_f64`] and [`call_dual`] on this thread since the last time.
pub fn take_warnings() -> Vec<Warning> {
    WARNINGS.with_borrow_mut(std::mem::take)
}
