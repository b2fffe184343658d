//! Arrays inside native functions.
//!
//! An array expression becomes an [`Arr`]: sizes are computed and checked and everything that must be evaluated once is
//! evaluated when it is made; its elements are computed where they are asked for ([`Emit::elem`]), so that
//! `y := 2*a + b` is one loop and needs no memory in between.

use crate::function::{Emit, Range, Res, Sc, combine, empty, plain, unsupported};
use crate::scalar::Val;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use saltus_expr::{Binary, Unary};
use saltus_function::lower::{Arg, Ax, Iter, Ix, Op2, Part, Red, Slot, reads};
use std::rc::Rc;

/// Loops over known sizes up to this many elements are unrolled.
const UNROLL: i64 = 16;
/// Arrays up to this many elements may be held element by element.
const GRID: i64 = 64;

/// A whole number, as far as possible while compiling.
#[derive(Clone, Copy, Debug)]
pub(crate) enum N {
    C(i64),
    V(Value),
}

/// An array in memory, row by row.
#[derive(Clone, Debug)]
pub(crate) struct Mem {
    pub data: Value,
    /// The derivatives; without them they vanish.
    pub ddata: Option<Value>,
    pub dims: Vec<N>,
    /// The values, if they are known while compiling.
    pub constant: Option<Rc<[f64]>>,
    /// Whether it is memory of the arena that nothing else refers to.
    pub fresh: bool,
}

/// One operand of an elementwise operation.
#[derive(Clone, Debug)]
pub(crate) enum Side {
    S(Sc),
    A(Arr),
}

/// How one dimension of a part is found in the whole.
#[derive(Clone, Debug)]
pub(crate) enum Axis {
    At(N),
    /// Start, step, number.
    Slice(N, N, N),
    /// Positions (from one, as numbers), number.
    Gather(Box<Arr>, N),
}

/// A part of an array.
#[derive(Clone, Debug)]
pub(crate) struct View(Vec<Axis>);

impl View {
    pub fn dims(&self) -> Vec<N> {
        let kept = |a: &Axis| match a {
            Axis::At(_) => None,
            Axis::Slice(_, _, n) | Axis::Gather(_, n) => Some(*n),
        };
        self.0.iter().filter_map(kept).collect()
    }
}

/// An array as far as it is evaluated.
#[derive(Clone, Debug)]
pub(crate) enum Arr {
    Mem(Mem),
    /// All elements at hand, with the sizes.
    Grid(Vec<Sc>, Vec<i64>),
    Map1(Unary, Box<Arr>),
    Map2(Op2, Box<(Side, Side)>, Vec<N>),
    Semi(Box<(Side, Side, Side)>, Vec<N>),
    Steps(Range),
    Fill(Sc, Vec<N>),
    /// An array repeated along leading dimensions.
    Repeat(Box<Arr>, Vec<N>),
    Transpose(Box<Arr>),
    Identity(N),
    Diagonal(Box<Arr>),
    Linspace(Sc, Sc, Sc, N),
    Part(Box<Arr>, View),
    Outer(Box<(Arr, Arr)>),
    Symmetric(Box<Arr>),
    /// With trailing dimensions of one, to this rank.
    Promote(Box<Arr>, usize),
}

impl Arr {
    pub fn dims(&self) -> Vec<N> {
        match self {
            Arr::Mem(m) => m.dims.clone(),
            Arr::Grid(_, d) => d.iter().map(|n| N::C(*n)).collect(),
            Arr::Map1(_, a) | Arr::Symmetric(a) => a.dims(),
            Arr::Map2(_, _, d) | Arr::Semi(_, d) | Arr::Fill(_, d) => d.clone(),
            Arr::Steps(r) => vec![r.n],
            Arr::Repeat(a, d) => d.iter().copied().chain(a.dims()).collect(),
            Arr::Transpose(a) => a.dims().into_iter().rev().collect(),
            Arr::Identity(n) => vec![*n, *n],
            Arr::Diagonal(v) => vec![v.dims()[0]; 2],
            Arr::Linspace(.., n) => vec![*n],
            Arr::Part(_, v) => v.dims(),
            Arr::Outer(ab) => vec![ab.0.dims()[0], ab.1.dims()[0]],
            Arr::Promote(a, rank) => {
                let mut d = a.dims();
                d.resize(*rank, N::C(1));
                d
            }
        }
    }

    /// Elementwise, of arrays whose sizes were found equal.
    pub fn map2(op: Op2, a: Arr, b: Arr) -> Arr {
        let dims = a.dims();
        Arr::Map2(op, Box::new((Side::A(a), Side::A(b))), dims)
    }
}

/// Whether element `i` of an expression needs no other element of local `k` than `i`.
pub(crate) fn aligned(e: &Ax, k: u32) -> bool {
    let side = |a: &Arg| match a {
        Arg::S(_) => true,
        Arg::A(a) => aligned(a, k),
    };
    match e {
        Ax::Local(_) => true,
        Ax::Map1(_, a) => aligned(a, k),
        Ax::Map2(_, ab) => side(&ab.0) && side(&ab.1),
        other => {
            let mut found = false;
            reads(Part::A(other), &mut |s| found |= s == Slot::A(k));
            !found
        }
    }
}

fn known(dims: &[N]) -> Option<Vec<i64>> {
    dims.iter().map(|d| if let N::C(c) = d { Some(*c) } else { None }).collect()
}

fn product(dims: &[i64]) -> i64 {
    dims.iter().fold(1i64, |a, b| a.saturating_mul(*b))
}

impl Emit<'_, '_> {
    /// Whether loops over these sizes are unrolled.
    pub fn small(&self, dims: &[N]) -> bool {
        known(dims).is_some_and(|d| product(&d) <= UNROLL)
    }

    fn flat(&mut self, idx: &[N], dims: &[N]) -> N {
        let mut at = N::C(0);
        for (i, (x, n)) in idx.iter().zip(dims).enumerate() {
            if i > 0 {
                at = self.mul(at, *n);
            }
            at = self.add(at, *x);
        }
        at
    }

    fn address(&mut self, data: Value, at: N) -> (Value, i32) {
        match at {
            N::C(c) if c < 1 << 24 => (data, 8 * c as i32),
            at => {
                let at = self.n(at);
                let offset = self.s.b.ins().ishl_imm_s(at, 3);
                (self.s.b.ins().iadd(data, offset), 0)
            }
        }
    }

    pub fn load(&mut self, mem: &Mem, idx: &[N]) -> Sc {
        let at = self.flat(idx, &mem.dims);
        if let (N::C(c), Some(values)) = (at, &mem.constant)
            && let Some(v) = values.get(c as usize)
        {
            return Sc::num(*v);
        }
        let (a, offset) = self.address(mem.data, at);
        let v = Val::Real(self.s.b.ins().load(types::F64, plain(), a, offset));
        let d = mem.ddata.map(|d| {
            let (a, offset) = self.address(d, at);
            self.s.b.ins().load(types::F64, plain(), a, offset)
        });
        Sc { v, d }
    }

    pub fn store(&mut self, mem: &Mem, idx: &[N], v: Sc) {
        let at = self.flat(idx, &mem.dims);
        let x = self.s.real(v.v);
        let (a, offset) = self.address(mem.data, at);
        self.s.b.ins().store(plain(), x, a, offset);
        if let Some(data) = mem.ddata {
            let x = self.d(v);
            let (a, offset) = self.address(data, at);
            self.s.b.ins().store(plain(), x, a, offset);
        }
    }

    /// Runs `body` for every index, the last fastest: unrolled if the sizes are small, as loops otherwise.
    pub fn each(&mut self, dims: &[N], body: &mut dyn FnMut(&mut Self, &[N]) -> Res<()>) -> Res<()> {
        if let Some(dims) = known(dims)
            && product(&dims) <= UNROLL
        {
            for k in 0..product(&dims) {
                let idx = unflatten(k, &dims);
                body(self, &idx)?;
            }
            return Ok(());
        }
        self.looped(dims, &mut Vec::new(), body)
    }

    fn looped(&mut self, dims: &[N], idx: &mut Vec<N>, body: &mut dyn FnMut(&mut Self, &[N]) -> Res<()>) -> Res<()> {
        match dims.get(idx.len()) {
            None => body(self, idx),
            Some(N::C(1)) => {
                idx.push(N::C(0));
                self.looped(dims, idx, body)?;
                idx.pop();
                Ok(())
            }
            Some(n) => self.count(*n, &mut |e, i| {
                idx.push(N::V(i));
                e.looped(dims, idx, body)?;
                idx.pop();
                Ok(())
            }),
        }
    }

    /// Element at an index.
    pub fn elem(&mut self, a: &Arr, idx: &[N]) -> Res<Sc> {
        Ok(match a {
            Arr::Mem(m) => self.load(m, idx),
            Arr::Grid(items, dims) => {
                let dims: Vec<N> = dims.iter().map(|d| N::C(*d)).collect();
                match self.flat(idx, &dims) {
                    N::C(c) if (c as usize) < items.len() => items[c as usize],
                    _ => return unsupported("an element not in memory"),
                }
            }
            Arr::Map1(op, a) => {
                let v = self.elem(a, idx)?;
                self.unary(*op, v)?
            }
            Arr::Map2(op, ab, _) => {
                let a = self.side(&ab.0, idx)?;
                let b = self.side(&ab.1, idx)?;
                self.op2(*op, a, b)?
            }
            Arr::Semi(parts, _) => {
                let x = self.side(&parts.0, idx)?;
                let p = self.side(&parts.1, idx)?;
                let n = self.side(&parts.2, idx)?;
                self.semi_linear(x, p, n)?
            }
            Arr::Steps(r) => Sc { v: self.range_value(r, idx[0]).0, d: None },
            Arr::Fill(v, _) => *v,
            Arr::Repeat(a, lead) => self.elem(a, &idx[lead.len()..])?,
            Arr::Transpose(a) => self.elem(a, &[idx[1], idx[0]])?,
            Arr::Identity(_) => match (idx[0], idx[1]) {
                (N::C(i), N::C(j)) => Sc::num(f64::from(i == j)),
                (i, j) => {
                    let (i, j) = (self.n(i), self.n(j));
                    let same = self.s.b.ins().icmp(IntCC::Equal, i, j);
                    Sc { v: Val::Truth(same), d: None }
                }
            },
            Arr::Diagonal(v) => match (idx[0], idx[1]) {
                (N::C(i), N::C(j)) if i != j => Sc::num(0.0),
                (N::C(i), N::C(_)) => self.elem(v, &[N::C(i)])?,
                (i, j) => {
                    let x = self.elem(v, &[i])?;
                    let (i, j) = (self.n(i), self.n(j));
                    let same = self.s.b.ins().icmp(IntCC::Equal, i, j);
                    self.select(same, x, Sc::num(0.0))
                }
            },
            Arr::Linspace(a, b, step, n) => {
                let (i, n) = (idx[0], *n);
                let last = self.add(n, N::C(-1));
                let (x, y) = (self.as_real(i), self.as_real(last));
                let t = self.s.binary(Binary::Div, x, y)?;
                let t = match (x, y) {
                    (Val::Const(x), Val::Const(y)) => Val::Const(x / y),
                    _ => t,
                };
                let d = self.binary(Binary::Mul, *step, Sc { v: t, d: None })?;
                let v = self.binary(Binary::Add, *a, d)?;
                match (i, last) {
                    (N::C(i), N::C(l)) => {
                        if i == l {
                            *b
                        } else {
                            v
                        }
                    }
                    (i, l) => {
                        let (i, l) = (self.n(i), self.n(l));
                        let end = self.s.b.ins().icmp(IntCC::Equal, i, l);
                        self.select(end, *b, v)
                    }
                }
            }
            Arr::Part(a, view) => {
                let at = self.through(view, idx);
                self.elem(a, &at)?
            }
            Arr::Outer(ab) => {
                let x = self.elem(&ab.0, &idx[..1])?;
                let y = self.elem(&ab.1, &idx[1..])?;
                self.binary(Binary::Mul, x, y)?
            }
            Arr::Symmetric(a) => {
                let (i, j) = match (idx[0], idx[1]) {
                    (N::C(i), N::C(j)) => (N::C(i.min(j)), N::C(i.max(j))),
                    (i, j) => {
                        let (i, j) = (self.n(i), self.n(j));
                        (N::V(self.s.b.ins().smin(i, j)), N::V(self.s.b.ins().smax(i, j)))
                    }
                };
                self.elem(a, &[i, j])?
            }
            Arr::Promote(a, _) => {
                let rank = a.dims().len();
                self.elem(a, &idx[..rank])?
            }
        })
    }

    fn side(&mut self, s: &Side, idx: &[N]) -> Res<Sc> {
        match s {
            Side::S(v) => Ok(*v),
            Side::A(a) => self.elem(a, idx),
        }
    }

    /// The index in the whole of an index in the part.
    pub fn through(&mut self, view: &View, idx: &[N]) -> Vec<N> {
        let mut idx = idx.iter();
        let mut next = || idx.next().copied().unwrap_or(N::C(0));
        let mut out = Vec::new();
        for a in &view.0 {
            out.push(match a {
                Axis::At(n) => *n,
                Axis::Slice(start, step, _) => {
                    let i = next();
                    let p = self.mul(i, *step);
                    self.add(*start, p)
                }
                Axis::Gather(list, _) => {
                    let i = next();
                    // Checked when the part was made.
                    match self.elem(list, &[i]) {
                        Ok(Sc { v: Val::Const(c), .. }) => N::C(c as i64 - 1),
                        Ok(v) => {
                            let v = self.s.real(v.v);
                            let k = self.s.b.ins().fcvt_to_sint_sat(types::I64, v);
                            self.add(N::V(k), N::C(-1))
                        }
                        Err(_) => N::C(0),
                    }
                }
            });
        }
        out
    }

    /// Subscripts as a part of an array of these sizes.
    pub fn axes(&mut self, ix: &[Ix], dims: &[N]) -> Res<View> {
        if ix.len() != dims.len() {
            return unsupported("a missing subscript");
        }
        let mut out = Vec::new();
        for (i, n) in ix.iter().zip(dims) {
            out.push(match i {
                Ix::All => Axis::Slice(N::C(0), N::C(1), *n),
                Ix::At(e) => Axis::At(self.position(e, *n)?),
                Ix::Over(Iter::Range(a, s, b)) => {
                    let r = self.range(a, s.as_ref(), b)?;
                    let (Some(start), Val::Const(step)) = (r.start, r.step) else {
                        return unsupported("a subscript of computed steps");
                    };
                    if step.fract() != 0.0 || step.abs() > 1e9 {
                        return unsupported("a subscript of broken steps");
                    }
                    let step = N::C(step as i64);
                    match (r.n, start) {
                        (N::C(0), _) => Axis::Slice(N::C(0), step, N::C(0)),
                        (N::C(c), start) => {
                            let first = self.within(start, *n);
                            let rise = self.mul(N::C(c - 1), step);
                            let end = self.add(start, rise);
                            self.within(end, *n);
                            Axis::Slice(first, step, N::C(c))
                        }
                        (N::V(c), start) => {
                            // An empty range may name anything.
                            let (some, end) = (self.s.b.create_block(), self.s.b.create_block());
                            self.s.b.ins().brif(c, some, &[], end, &[]);
                            self.s.b.switch_to_block(some);
                            self.within(start, *n);
                            let less = self.add(N::V(c), N::C(-1));
                            let rise = self.mul(less, step);
                            let last = self.add(start, rise);
                            self.within(last, *n);
                            self.s.b.ins().jump(end, &[]);
                            self.s.b.switch_to_block(end);
                            let first = self.add(start, N::C(-1));
                            Axis::Slice(first, step, N::V(c))
                        }
                    }
                }
                Ix::Over(Iter::Over(e)) => {
                    let list = self.ax(e)?;
                    let dims = list.dims();
                    let list = if self.small(&dims) { self.grid(&list)? } else { Arr::Mem(self.in_memory(&list)?) };
                    self.each(&dims, &mut |e, idx| {
                        let v = e.elem(&list, idx)?;
                        let i = e.integer(v.v);
                        e.within(i, *n);
                        Ok(())
                    })?;
                    Axis::Gather(Box::new(list), dims[0])
                }
            });
        }
        Ok(View(out))
    }

    /// All elements at hand, each computed once.
    pub fn grid(&mut self, a: &Arr) -> Res<Arr> {
        if let Arr::Grid(..) = a {
            return Ok(a.clone());
        }
        let Some(dims) = known(&a.dims()) else { return unsupported("a size known at run time") };
        let mut items = Vec::new();
        for k in 0..product(&dims) {
            let v = self.elem(a, &unflatten(k, &dims))?;
            items.push(v);
        }
        Ok(Arr::Grid(items, dims))
    }

    /// With everything in memory that loops must reach by computed index.
    pub fn settle(&mut self, a: Arr) -> Res<Arr> {
        let boxed = |e: &mut Self, a: Box<Arr>| -> Res<Box<Arr>> { Ok(Box::new(e.settle(*a)?)) };
        Ok(match a {
            Arr::Grid(..) => Arr::Mem(self.in_memory(&a)?),
            Arr::Map1(op, a) => Arr::Map1(op, boxed(self, a)?),
            Arr::Map2(op, ab, d) => {
                let (a, b) = *ab;
                let a = self.settle_side(a)?;
                let b = self.settle_side(b)?;
                Arr::Map2(op, Box::new((a, b)), d)
            }
            Arr::Semi(parts, d) => {
                let (a, b, c) = *parts;
                let a = self.settle_side(a)?;
                let b = self.settle_side(b)?;
                let c = self.settle_side(c)?;
                Arr::Semi(Box::new((a, b, c)), d)
            }
            Arr::Repeat(a, d) => Arr::Repeat(boxed(self, a)?, d),
            Arr::Transpose(a) => Arr::Transpose(boxed(self, a)?),
            Arr::Diagonal(a) => Arr::Diagonal(boxed(self, a)?),
            Arr::Part(a, View(axes)) => {
                let a = boxed(self, a)?;
                let mut new = Vec::new();
                for x in axes {
                    new.push(match x {
                        Axis::Gather(list, n) => Axis::Gather(boxed(self, list)?, n),
                        other => other,
                    });
                }
                Arr::Part(a, View(new))
            }
            Arr::Outer(ab) => {
                let (a, b) = *ab;
                let a = self.settle(a)?;
                let b = self.settle(b)?;
                Arr::Outer(Box::new((a, b)))
            }
            Arr::Symmetric(a) => Arr::Symmetric(boxed(self, a)?),
            Arr::Promote(a, r) => Arr::Promote(boxed(self, a)?, r),
            other => other,
        })
    }

    fn settle_side(&mut self, s: Side) -> Res<Side> {
        Ok(match s {
            Side::A(a) => Side::A(self.settle(a)?),
            s => s,
        })
    }

    /// Stores all elements.
    pub fn store_all(&mut self, a: &Arr, to: &Mem) -> Res<()> {
        let dims = a.dims();
        if let Arr::Grid(items, sizes) = a
            && !self.small(&dims)
        {
            for (k, v) in items.iter().enumerate() {
                let at = unflatten(k as i64, sizes);
                self.store(to, &at, *v);
            }
            return Ok(());
        }
        if self.small(&dims) {
            // All are computed before the first is stored.
            let grid = self.grid(a)?;
            return self.each(&dims, &mut |e, idx| {
                let v = e.elem(&grid, idx)?;
                e.store(to, idx, v);
                Ok(())
            });
        }
        let a = self.settle(a.clone())?;
        self.each(&dims, &mut |e, idx| {
            let v = e.elem(&a, idx)?;
            e.store(to, idx, v);
            Ok(())
        })
    }

    /// A copy in memory of its own.
    pub fn copy(&mut self, a: &Arr, stack: bool) -> Res<Mem> {
        let mem = self.alloc(a.dims(), stack)?;
        self.store_all(a, &mem)?;
        Ok(mem)
    }

    /// In memory, wherever it is.
    pub fn in_memory(&mut self, a: &Arr) -> Res<Mem> {
        if let Arr::Mem(m) = a
            && (!self.dual || m.ddata.is_some())
        {
            return Ok(m.clone());
        }
        if !self.dual
            && let Some(m) = self.constant_array(a)
        {
            return Ok(m);
        }
        self.copy(a, true)
    }

    /// In memory that is not that of a local.
    pub fn in_memory_copy(&mut self, a: &Arr) -> Res<Mem> {
        match a {
            Arr::Mem(m) if !m.fresh && m.constant.is_none() => self.copy(a, true),
            _ => self.in_memory(a),
        }
    }

    pub fn zero(&mut self, mem: &Mem) -> Res<()> {
        let dims = mem.dims.clone();
        if known(&dims).is_none_or(|d| product(&d) > UNROLL) {
            let total = self.total(&dims);
            let total = self.n(total);
            for data in std::iter::once(mem.data).chain(mem.ddata) {
                self.s.outside("saltus_zero", &[types::I64; 2], &[data, total])?;
            }
            return Ok(());
        }
        self.each(&dims, &mut |e, idx| {
            e.store(mem, idx, Sc::num(0.0));
            Ok(())
        })
    }

    pub fn reduce(&mut self, red: Red, a: &Arr) -> Res<Sc> {
        let dims = a.dims();
        if let Some(d) = known(&dims)
            && product(&d) <= UNROLL
        {
            let mut acc = None;
            for k in 0..product(&d) {
                let v = self.elem(a, &unflatten(k, &d))?;
                acc = Some(match acc {
                    None => v,
                    Some(s) => self.binary(combine(red), s, v)?,
                });
            }
            return Ok(acc.unwrap_or(Sc::num(empty(red))));
        }
        let a = self.settle(a.clone())?;
        let acc = self.s.b.declare_var(types::F64);
        let dacc = self.dual.then(|| self.s.b.declare_var(types::F64));
        let total = self.total(&dims);
        let total = self.n(total);
        let set = |e: &mut Self, v: Sc| {
            let x = e.s.real(v.v);
            e.s.b.def_var(acc, x);
            if let Some(d) = dacc {
                let x = e.d(v);
                e.s.b.def_var(d, x);
            }
        };
        set(self, Sc::num(empty(red)));
        let (some, end) = (self.s.b.create_block(), self.s.b.create_block());
        self.s.b.ins().brif(total, some, &[], end, &[]);
        self.s.b.switch_to_block(some);
        if let [n] = dims[..] {
            // The first element starts the result.
            let first = self.elem(&a, &[N::C(0)])?;
            set(self, first);
            let rest = self.add(n, N::C(-1));
            self.count(rest, &mut |e, i| {
                let i = e.add(N::V(i), N::C(1));
                let v = e.elem(&a, &[i])?;
                let old = Sc { v: Val::Real(e.s.b.use_var(acc)), d: dacc.map(|d| e.s.b.use_var(d)) };
                let new = e.binary(combine(red), old, v)?;
                set(e, new);
                Ok(())
            })?;
        } else {
            let first = self.s.b.declare_var(types::I8);
            let one = self.s.b.ins().iconst(types::I8, 1);
            self.s.b.def_var(first, one);
            self.each(&dims, &mut |e, idx| {
                let v = e.elem(&a, idx)?;
                let old = Sc { v: Val::Real(e.s.b.use_var(acc)), d: dacc.map(|d| e.s.b.use_var(d)) };
                let new = e.binary(combine(red), old, v)?;
                let is_first = e.s.b.use_var(first);
                let new = e.select(is_first, v, new);
                set(e, new);
                let zero = e.s.b.ins().iconst(types::I8, 0);
                e.s.b.def_var(first, zero);
                Ok(())
            })?;
        }
        self.s.b.ins().jump(end, &[]);
        self.s.b.switch_to_block(end);
        Ok(Sc { v: Val::Real(self.s.b.use_var(acc)), d: dacc.map(|d| self.s.b.use_var(d)) })
    }

    fn same_dims(&mut self, a: &[N], b: &[N]) -> Res<()> {
        if a.len() != b.len() {
            return unsupported("arrays of different ranks");
        }
        for (x, y) in a.iter().zip(b) {
            self.equal(*x, *y);
        }
        Ok(())
    }

    fn arg_side(&mut self, a: &Arg) -> Res<Side> {
        Ok(match a {
            Arg::S(s) => Side::S(self.sx(s)?),
            Arg::A(a) => Side::A(self.ax(a)?),
        })
    }

    fn as_array(&mut self, a: &Arg) -> Res<Arr> {
        Ok(match a {
            Arg::S(s) => Arr::Grid(vec![self.sx(s)?], vec![]),
            Arg::A(a) => self.ax(a)?,
        })
    }

    /// Evaluates an array expression as far as is needed before its elements.
    pub fn ax(&mut self, e: &Ax) -> Res<Arr> {
        Ok(match e {
            Ax::Local(k) => Arr::Mem(self.local(*k)),
            Ax::Map1(op, a) => Arr::Map1(*op, Box::new(self.ax(a)?)),
            Ax::Map2(op, ab) => {
                let a = self.arg_side(&ab.0)?;
                let b = self.arg_side(&ab.1)?;
                let dims = match (&a, &b) {
                    (Side::A(a), Side::A(b)) => {
                        self.same_dims(&a.dims(), &b.dims())?;
                        a.dims()
                    }
                    (Side::A(a), _) | (_, Side::A(a)) => a.dims(),
                    (Side::S(_), Side::S(_)) => vec![],
                };
                Arr::Map2(*op, Box::new((a, b)), dims)
            }
            Ax::If(parts) => {
                let c = self.sx(&parts.0)?;
                if let Val::Const(v) = c.v {
                    return self.ax(if v != 0.0 { &parts.1 } else { &parts.2 });
                }
                let c = self.s.truth(c.v);
                let (then, els, end) = (self.s.b.create_block(), self.s.b.create_block(), self.s.b.create_block());
                self.s.b.ins().brif(c, then, &[], els, &[]);
                let mut rank = 0;
                for (block, e) in [(then, &parts.1), (els, &parts.2)] {
                    self.s.b.switch_to_block(block);
                    self.enter();
                    let arr = self.ax(e)?;
                    let mem = self.in_memory(&arr)?;
                    let mut args = vec![BlockArg::Value(mem.data)];
                    args.extend(mem.ddata.map(BlockArg::Value));
                    rank = mem.dims.len();
                    for n in mem.dims {
                        args.push(BlockArg::Value(self.n(n)));
                    }
                    self.leave();
                    self.s.b.ins().jump(end, &args);
                }
                self.s.b.switch_to_block(end);
                let data = self.s.b.append_block_param(end, types::I64);
                let ddata = self.dual.then(|| self.s.b.append_block_param(end, types::I64));
                let dims = (0..rank).map(|_| N::V(self.s.b.append_block_param(end, types::I64))).collect();
                Arr::Mem(Mem { data, ddata, dims, constant: None, fresh: false })
            }
            Ax::Array(items, 0) => {
                let mut out = Vec::new();
                for x in items {
                    let Arg::S(s) = x else { return unsupported("an array in a vector") };
                    out.push(self.sx(s)?);
                }
                let n = out.len() as i64;
                Arr::Grid(out, vec![n])
            }
            Ax::Array(items, _) => {
                let mut parts = Vec::new();
                for x in items {
                    parts.push(self.as_array(x)?);
                }
                let Some(first) = parts.first() else { return unsupported("an empty array") };
                let inner = first.dims();
                for p in &parts[1..] {
                    self.same_dims(&inner, &p.dims())?;
                }
                if let Some(inner) = known(&inner)
                    && (product(&inner) * parts.len() as i64 <= GRID
                        || parts.iter().all(|p| matches!(p, Arr::Grid(..))))
                {
                    let mut all = Vec::new();
                    for p in &parts {
                        let Arr::Grid(items, _) = self.grid(p)? else { unreachable!("a grid") };
                        all.extend(items);
                    }
                    let mut dims = vec![parts.len() as i64];
                    dims.extend(inner);
                    return Ok(Arr::Grid(all, dims));
                }
                let mut dims = vec![N::C(parts.len() as i64)];
                dims.extend(inner.iter().copied());
                let mem = self.alloc(dims, true)?;
                for (k, p) in parts.into_iter().enumerate() {
                    self.store_within(&mem, &[N::C(k as i64)], p)?;
                }
                Arr::Mem(mem)
            }
            Ax::Range(it) => {
                let Iter::Range(a, s, b) = &**it else { return unsupported("a range") };
                Arr::Steps(self.range(a, s.as_ref(), b)?)
            }
            Ax::For(body, iters) => self.comprehension(body, iters)?,
            Ax::SumFor(body, iters) => {
                let dims = self.first_sizes(body, iters)?;
                let sum = self.alloc(dims.clone(), true)?;
                self.zero(&sum)?;
                // The first value starts the result, so that its sign of zero survives.
                let first = self.s.b.declare_var(types::I8);
                let one = self.s.b.ins().iconst(types::I8, 1);
                self.s.b.def_var(first, one);
                let so_far = Arr::Mem(sum.clone());
                self.nest(iters, &mut |e| {
                    let v = e.ax(body)?;
                    e.same_dims(&dims, &v.dims())?;
                    let v = if e.small(&dims) { e.grid(&v)? } else { e.settle(v)? };
                    let is_first = e.s.b.use_var(first);
                    e.each(&dims, &mut |e, idx| {
                        let (old, v) = (e.elem(&so_far, idx)?, e.elem(&v, idx)?);
                        let new = e.op2(Op2::Bin(Binary::Add), old, v)?;
                        let new = e.select(is_first, v, new);
                        e.store(&sum, idx, new);
                        Ok(())
                    })?;
                    let zero = e.s.b.ins().iconst(types::I8, 0);
                    e.s.b.def_var(first, zero);
                    Ok(())
                })?;
                so_far
            }
            Ax::MatPow(parts) => {
                let a = self.ax(&parts.0)?;
                let [m, n] = a.dims()[..] else { return unsupported("a power of what is no matrix") };
                let Val::Const(p) = self.sx(&parts.1)?.v else { return unsupported("an exponent that is not known") };
                if p < 1.0 || p.fract() != 0.0 || p > 64.0 {
                    return unsupported("such a power of a matrix");
                }
                self.equal(m, n);
                // In the order of the executor.
                let mut base = self.in_memory(&a)?;
                let (mut k, mut out): (u32, Option<Mem>) = (p as u32, None);
                while k > 0 {
                    if k & 1 == 1 {
                        out = Some(match out {
                            None => base.clone(),
                            Some(o) => {
                                let p = self.product(Arr::Mem(o), Arr::Mem(base.clone()))?;
                                self.in_memory(&p)?
                            }
                        });
                    }
                    k >>= 1;
                    if k > 0 {
                        let p = self.product(Arr::Mem(base.clone()), Arr::Mem(base))?;
                        base = self.in_memory(&p)?;
                    }
                }
                match out {
                    Some(o) => Arr::Mem(o),
                    None => return unsupported("such a power of a matrix"),
                }
            }
            Ax::Index(base, ix) => {
                let base = self.ax(base)?;
                let view = self.axes(ix, &base.dims())?;
                Arr::Part(Box::new(base), view)
            }
            Ax::Call(f, args, out) => {
                let (frame, callee) = self.call(*f, args)?;
                Arr::Mem(self.output(frame, callee, *out as usize)?)
            }
            Ax::SizeV(a) => {
                let dims = self.as_array(a)?.dims();
                let n = dims.len() as i64;
                Arr::Grid(dims.into_iter().map(|d| Sc { v: self.as_real(d), d: None }).collect(), vec![n])
            }
            Ax::MatMul(ab) => {
                let a = self.ax(&ab.0)?;
                let b = self.ax(&ab.1)?;
                self.product(a, b)?
            }
            Ax::Transpose(a) => {
                let a = self.ax(a)?;
                if a.dims().len() != 2 {
                    return unsupported("the transpose of something else than a matrix");
                }
                Arr::Transpose(Box::new(a))
            }
            Ax::Identity(n) => Arr::Identity(self.size(n)?),
            Ax::Diagonal(v) => Arr::Diagonal(Box::new(self.ax(v)?)),
            Ax::Fill(v, sizes) => {
                let v = self.arg_side(v)?;
                let mut dims = Vec::new();
                for s in sizes {
                    dims.push(self.size(s)?);
                }
                match v {
                    Side::S(v) => Arr::Fill(v, dims),
                    Side::A(a) => Arr::Repeat(Box::new(a), dims),
                }
            }
            Ax::Linspace(parts) => {
                let a = self.sx(&parts.0)?;
                let b = self.sx(&parts.1)?;
                let n = self.size(&parts.2)?;
                let v = self.n(n);
                let ok = self.s.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, v, 2);
                self.check(ok);
                let step = self.binary(Binary::Sub, b, a)?;
                Arr::Linspace(a, b, step, n)
            }
            Ax::Cat(k, items, rank) => self.cat(*k as usize, items, *rank as usize)?,
            Ax::Promote(a, rank) => Arr::Promote(Box::new(self.as_array(a)?), *rank as usize),
            Ax::Vector(a) => {
                let a = self.as_array(a)?;
                let dims = a.dims();
                if dims.len() == 1 {
                    return Ok(a);
                }
                if let Some(d) = known(&dims)
                    && d.iter().filter(|n| **n > 1).count() <= 1
                    && product(&d) <= GRID
                {
                    let Arr::Grid(items, _) = self.grid(&a)? else { unreachable!("a grid") };
                    let n = items.len() as i64;
                    return Ok(Arr::Grid(items, vec![n]));
                }
                return unsupported("vector of an array of unknown size");
            }
            Ax::Matrix(a) => {
                let a = self.as_array(a)?;
                match a.dims().len() {
                    2 => a,
                    0 | 1 => Arr::Promote(Box::new(a), 2),
                    _ => return unsupported("matrix of a larger array"),
                }
            }
            Ax::Outer(ab) => {
                let a = self.ax(&ab.0)?;
                let b = self.ax(&ab.1)?;
                Arr::Outer(Box::new((a, b)))
            }
            Ax::Symmetric(a) => {
                let a = self.ax(a)?;
                let d = a.dims();
                if d.len() != 2 {
                    return unsupported("symmetric of something else than a matrix");
                }
                self.equal(d[0], d[1]);
                Arr::Symmetric(Box::new(a))
            }
            Ax::Cross(ab) => {
                let a = self.three(&ab.0)?;
                let b = self.three(&ab.1)?;
                let mut out = Vec::new();
                for i in 0..3 {
                    let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                    let p = self.binary(Binary::Mul, a[j], b[k])?;
                    let q = self.binary(Binary::Mul, a[k], b[j])?;
                    out.push(self.binary(Binary::Sub, p, q)?);
                }
                Arr::Grid(out, vec![3])
            }
            Ax::Skew(a) => {
                let p = self.three(a)?;
                let mut m = Vec::new();
                for v in &p {
                    m.push(self.unary(Unary::Neg, *v)?);
                }
                let z = Sc::num(0.0);
                Arr::Grid(vec![z, m[2], p[1], p[2], z, m[0], m[1], p[0], z], vec![3, 3])
            }
            Ax::SemiLinear(parts) => {
                let x = self.arg_side(&parts.0)?;
                let p = self.arg_side(&parts.1)?;
                let n = self.arg_side(&parts.2)?;
                let mut dims: Option<Vec<N>> = None;
                for s in [&x, &p, &n] {
                    if let Side::A(a) = s {
                        match &dims {
                            None => dims = Some(a.dims()),
                            Some(d) => {
                                let d = d.clone();
                                self.same_dims(&d, &a.dims())?;
                            }
                        }
                    }
                }
                Arr::Semi(Box::new((x, p, n)), dims.unwrap_or_default())
            }
        })
    }

    fn three(&mut self, a: &Ax) -> Res<[Sc; 3]> {
        let a = self.ax(a)?;
        let d = a.dims();
        if d.len() != 1 {
            return unsupported("a cross product of something else than vectors");
        }
        self.equal(d[0], N::C(3));
        Ok([self.elem(&a, &[N::C(0)])?, self.elem(&a, &[N::C(1)])?, self.elem(&a, &[N::C(2)])?])
    }

    /// Stores an array at leading indices of a larger one.
    fn store_within(&mut self, mem: &Mem, lead: &[N], part: Arr) -> Res<()> {
        let dims = part.dims();
        let part = if self.small(&dims) { part } else { self.settle(part)? };
        self.each(&dims, &mut |e, idx| {
            let v = e.elem(&part, idx)?;
            let at: Vec<N> = lead.iter().chain(idx).copied().collect();
            e.store(mem, &at, v);
            Ok(())
        })
    }

    fn product(&mut self, a: Arr, b: Arr) -> Res<Arr> {
        let (da, db) = (a.dims(), b.dims());
        let (m, k) = match da[..] {
            [k] => (None, k),
            [m, k] => (Some(m), k),
            _ => return unsupported("a product of larger arrays"),
        };
        let (k2, n) = match db[..] {
            [k] => (k, None),
            [k, n] => (k, Some(n)),
            _ => return unsupported("a product of larger arrays"),
        };
        self.equal(k, k2);
        let dims: Vec<N> = m.into_iter().chain(n).collect();
        let split = usize::from(m.is_some());
        let one = |e: &mut Self, a: &Arr, b: &Arr, idx: &[N], l: N| -> Res<Sc> {
            let left: Vec<N> = idx[..split].iter().copied().chain([l]).collect();
            let right: Vec<N> = [l].into_iter().chain(idx[split..].iter().copied()).collect();
            let x = e.elem(a, &left)?;
            let y = e.elem(b, &right)?;
            e.binary(Binary::Mul, x, y)
        };
        if let (Some(d), N::C(k)) = (known(&dims), k)
            && product(&d) * k <= GRID
        {
            let (a, b) = (self.grid(&a)?, self.grid(&b)?);
            let mut items = Vec::new();
            for p in 0..product(&d) {
                let idx = unflatten(p, &d);
                let mut acc = None;
                for l in 0..k {
                    let v = one(self, &a, &b, &idx, N::C(l))?;
                    acc = Some(match acc {
                        None => v,
                        Some(s) => self.binary(Binary::Add, s, v)?,
                    });
                }
                items.push(acc.unwrap_or(Sc::num(0.0)));
            }
            return Ok(Arr::Grid(items, d));
        }
        let (a, b) = (Arr::Mem(self.in_memory(&a)?), Arr::Mem(self.in_memory(&b)?));
        let out = self.alloc(dims.clone(), true)?;
        let (acc, dacc) = (self.s.b.declare_var(types::F64), self.s.b.declare_var(types::F64));
        self.looped(&dims, &mut Vec::new(), &mut |e, idx| {
            let set = |e: &mut Self, v: Sc| {
                let x = e.s.real(v.v);
                e.s.b.def_var(acc, x);
                let x = e.d(v);
                e.s.b.def_var(dacc, x);
            };
            set(e, Sc::num(0.0));
            let kv = e.n(k);
            let (some, end) = (e.s.b.create_block(), e.s.b.create_block());
            e.s.b.ins().brif(kv, some, &[], end, &[]);
            e.s.b.switch_to_block(some);
            let first = one(e, &a, &b, idx, N::C(0))?;
            set(e, first);
            let rest = e.add(k, N::C(-1));
            e.count(rest, &mut |e, l| {
                let l = e.add(N::V(l), N::C(1));
                let v = one(e, &a, &b, idx, l)?;
                let d = e.dual.then(|| e.s.b.use_var(dacc));
                let old = Sc { v: Val::Real(e.s.b.use_var(acc)), d };
                let new = e.binary(Binary::Add, old, v)?;
                set(e, new);
                Ok(())
            })?;
            e.s.b.ins().jump(end, &[]);
            e.s.b.switch_to_block(end);
            let d = e.dual.then(|| e.s.b.use_var(dacc));
            let v = Sc { v: Val::Real(e.s.b.use_var(acc)), d };
            e.store(&out, idx, v);
            Ok(())
        })?;
        Ok(Arr::Mem(out))
    }

    fn cat(&mut self, k: usize, items: &[Arg], rank: usize) -> Res<Arr> {
        let mut parts = Vec::new();
        for x in items {
            let a = self.as_array(x)?;
            parts.push(if a.dims().len() < rank { Arr::Promote(Box::new(a), rank) } else { a });
        }
        let Some(first) = parts.first() else { return unsupported("cat of nothing") };
        let mut dims = first.dims();
        if k >= dims.len() {
            return unsupported("cat along a missing dimension");
        }
        let mut length = dims[k];
        for p in &parts[1..] {
            let d = p.dims();
            if d.len() != dims.len() {
                return unsupported("cat of arrays of different ranks");
            }
            for (i, (a, b)) in dims.clone().into_iter().zip(&d).enumerate() {
                if i != k {
                    self.equal(a, *b);
                }
            }
            length = self.add(length, d[k]);
        }
        dims[k] = length;
        if let Some(d) = known(&dims)
            && product(&d) <= GRID
            && parts.iter().all(|p| known(&p.dims()).is_some())
        {
            let mut items = vec![Sc::num(0.0); product(&d) as usize];
            let mut start = 0;
            for p in &parts {
                let inner = known(&p.dims()).unwrap_or_default();
                for at in 0..product(&inner) {
                    let idx = unflatten(at, &inner);
                    let v = self.elem(p, &idx)?;
                    let mut flat = 0;
                    for (i, x) in idx.iter().enumerate() {
                        let N::C(x) = x else { unreachable!("a known index") };
                        flat = flat * d[i] + x + if i == k { start } else { 0 };
                    }
                    items[flat as usize] = v;
                }
                start += inner[k];
            }
            return Ok(Arr::Grid(items, d));
        }
        let out = self.alloc(dims, true)?;
        let mut start = N::C(0);
        for p in parts {
            let d = p.dims();
            let p = if self.small(&d) { p } else { self.settle(p)? };
            self.each(&d, &mut |e, idx| {
                let v = e.elem(&p, idx)?;
                let mut at = idx.to_vec();
                at[k] = e.add(at[k], start);
                e.store(&out, &at, v);
                Ok(())
            })?;
            start = self.add(start, d[k]);
        }
        Ok(Arr::Mem(out))
    }

    /// `{array for i in …}`.
    fn array_comprehension(&mut self, body: &Ax, iters: &[(u32, Iter)]) -> Res<Arr> {
        let inner = self.first_sizes(body, iters)?;
        let sizes = self.sizes(iters)?;
        let lead: Vec<N> = sizes.into_iter().rev().collect();
        let total = self.total(&lead);
        let out = self.alloc(lead.into_iter().chain(inner.clone()).collect(), true)?;
        let list = Mem { dims: std::iter::once(total).chain(inner.clone()).collect(), ..out.clone() };
        let at = self.s.b.declare_var(types::I64);
        let zero = self.s.b.ins().iconst(types::I64, 0);
        self.s.b.def_var(at, zero);
        self.nest(iters, &mut |e| {
            let v = e.ax(body)?;
            e.same_dims(&inner, &v.dims())?;
            let i = e.s.b.use_var(at);
            e.store_within(&list, &[N::V(i)], v)?;
            let next = e.s.b.ins().iadd_imm_s(i, 1);
            e.s.b.def_var(at, next);
            Ok(())
        })?;
        Ok(Arr::Mem(out))
    }

    /// How many values iterators have. They are evaluated again by `nest`, which has no effect but time.
    fn sizes(&mut self, iters: &[(u32, Iter)]) -> Res<Vec<N>> {
        let mut sizes = Vec::new();
        for (_, it) in iters {
            sizes.push(match it {
                Iter::Range(a, s, b) => self.range(a, s.as_ref(), b)?.n,
                Iter::Over(e) => self.ax(e)?.dims()[0],
            });
        }
        Ok(sizes)
    }

    fn comprehension(&mut self, body: &Arg, iters: &[(u32, Iter)]) -> Res<Arr> {
        let body = match body {
            Arg::S(body) => body,
            Arg::A(body) => return self.array_comprehension(body, iters),
        };
        // The sizes come first, for the memory.
        let sizes = self.sizes(iters)?;
        let dims: Vec<N> = sizes.iter().rev().copied().collect();
        let all_small = sizes.iter().all(|n| matches!(n, N::C(c) if *c <= 4));
        if let Some(d) = known(&dims)
            && all_small
            && product(&d) <= GRID
        {
            let mut items = Vec::new();
            self.nest(iters, &mut |e| {
                items.push(e.sx(body)?);
                Ok(())
            })?;
            return Ok(Arr::Grid(items, d));
        }
        let total = self.total(&dims);
        let out = self.alloc(dims, true)?;
        let line = Mem { dims: vec![total], ..out.clone() };
        let at = self.s.b.declare_var(types::I64);
        let zero = self.s.b.ins().iconst(types::I64, 0);
        self.s.b.def_var(at, zero);
        self.nest(iters, &mut |e| {
            let v = e.sx(body)?;
            let i = e.s.b.use_var(at);
            e.store(&line, &[N::V(i)], v);
            let next = e.s.b.ins().iadd_imm_s(i, 1);
            e.s.b.def_var(at, next);
            Ok(())
        })?;
        Ok(Arr::Mem(out))
    }
}

/// The index of element `k`, the last dimension fastest.
fn unflatten(k: i64, dims: &[i64]) -> Vec<N> {
    let mut idx = vec![N::C(0); dims.len()];
    let mut k = k;
    for (x, d) in idx.iter_mut().zip(dims).rev() {
        *x = N::C(k % d.max(&1));
        k /= d.max(&1);
    }
    idx
}
