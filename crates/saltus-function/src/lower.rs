//! From [`ir`](crate::ir) to the executor's form: ranks and element types resolved, locals in slots, scalar and array
//! expressions apart, so that scalar code runs without looking at shapes.
//!
//! `y := a[i] * x` becomes `SetS(2, Bin(Mul, Elem1(0, Local(1)), Local(0)))`.
//!
//! The same form is what native code is made of; names of variants are those of [`ir`](crate::ir).

#![allow(missing_docs)]

use crate::error::{ErrorKind, ExecError};
use crate::external;
use crate::ir::*;
use crate::strings;
use saltus_base::Span;
use saltus_expr::{Binary, FuncId, Unary};

/// Nesting allowed inside one function, so that no input exhausts the stack.
const MAX_DEPTH: u32 = 400;

/// Where a local lives: number of a scalar or of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    S(u32),
    A(u32),
}

/// Reductions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Red {
    Sum,
    Product,
    Min,
    Max,
}

/// Elementwise functions of one argument.
pub type Op1 = Unary;

/// Elementwise functions of two arguments.
#[derive(Clone, Copy, Debug)]
pub enum Op2 {
    Bin(Binary),
    Div,
    Mod,
    Rem,
    Concat,
    /// A relation of strings.
    Text(Binary),
}

/// Scalar expressions.
#[derive(Debug)]
pub enum Sx {
    Num(f64),
    Local(u32),
    Un(Op1, Box<Sx>),
    Bin(Binary, Box<(Sx, Sx)>),
    /// Operands that are locals or numbers, without the detour through boxes.
    BinLL(Binary, u32, u32),
    BinLN(Binary, u32, f64),
    Op2(Op2, Box<(Sx, Sx)>),
    And(Box<(Sx, Sx)>),
    Or(Box<(Sx, Sx)>),
    If(Box<(Sx, Sx, Sx)>),
    Elem1(u32, Box<Sx>),
    Elem2(u32, Box<(Sx, Sx)>),
    ElemN(u32, Box<[Sx]>),
    Pick(Box<Ax>, Box<[Sx]>),
    SizeLocal(u32, u32),
    Size(Box<(Ax, Sx)>),
    Call(FuncId, Box<[Arg]>, u32),
    Reduce(Red, Box<Ax>),
    ReduceFor(Red, Box<Sx>, Box<[(u32, Iter)]>),
    Dot(Box<(Ax, Ax)>),
    Scalar(Box<Arg>),
    ToString(ScalarType, Box<[Sx]>),
    Format(Box<(Sx, Sx)>),
    EnumToString(Box<[Sx]>),
    Compare(Box<(Sx, Sx)>),
    SemiLinear(Box<(Sx, Sx, Sx)>),
}

/// Array expressions.
#[derive(Debug)]
pub enum Ax {
    Local(u32),
    Map1(Op1, Box<Ax>),
    Map2(Op2, Box<(Arg, Arg)>),
    If(Box<(Sx, Ax, Ax)>),
    /// The elements and the rank of each.
    Array(Box<[Arg]>, u32),
    Range(Box<Iter>),
    /// Body, iterators.
    For(Box<Arg>, Box<[(u32, Iter)]>),
    SumFor(Box<Ax>, Box<[(u32, Iter)]>),
    Index(Box<Ax>, Box<[Ix]>),
    Call(FuncId, Box<[Arg]>, u32),
    SizeV(Box<Arg>),
    MatMul(Box<(Ax, Ax)>),
    Transpose(Box<Ax>),
    Identity(Box<Sx>),
    Diagonal(Box<Ax>),
    Fill(Box<Arg>, Box<[Sx]>),
    Linspace(Box<(Sx, Sx, Sx)>),
    Cat(u32, Box<[Arg]>, u32),
    Promote(Box<Arg>, u32),
    Vector(Box<Arg>),
    Matrix(Box<Arg>),
    Outer(Box<(Ax, Ax)>),
    Symmetric(Box<Ax>),
    Cross(Box<(Ax, Ax)>),
    Skew(Box<Ax>),
    MatPow(Box<(Ax, Sx)>),
    SemiLinear(Box<(Arg, Arg, Arg)>),
}

/// An argument: a scalar or an array.
#[derive(Debug)]
pub enum Arg {
    S(Sx),
    A(Ax),
}

/// What an iterator runs over.
#[derive(Debug)]
pub enum Iter {
    Range(Sx, Option<Sx>, Sx),
    Over(Ax),
}

/// A subscript.
#[derive(Debug)]
pub enum Ix {
    At(Sx),
    Over(Iter),
    All,
}

/// What one result of a call is assigned to.
#[derive(Debug)]
pub enum Target {
    S(u32),
    A(u32),
    Part(u32, Box<[Ix]>),
}

/// The forms of statements.
#[derive(Debug)]
pub enum St {
    SetS(u32, Sx),
    SetElem1(u32, Sx, Sx),
    SetElem2(u32, Box<(Sx, Sx, Sx)>),
    SetA(u32, Ax),
    SetPart(u32, Box<[Ix]>, Arg),
    Multi(Box<[Option<Target>]>, FuncId, Box<[Arg]>),
    If(Box<[(Sx, Box<[Stmt]>)]>, Box<[Stmt]>),
    For(u32, Iter, Box<[Stmt]>),
    While(Sx, Box<[Stmt]>),
    Break,
    Return,
    Assert(Sx, Sx, bool),
    Terminate(Sx),
}

/// A statement with its place.
#[derive(Debug)]
pub struct Stmt {
    pub st: St,
    pub span: Span,
}

/// The size of a dimension.
#[derive(Debug)]
pub enum DimCode {
    Fixed(usize),
    Computed(Sx),
    Free,
}

/// One step of the entry of a function.
#[derive(Debug)]
pub enum Init {
    S(u32, Sx),
    Alloc(u32, Box<[DimCode]>),
    A(u32, Box<[DimCode]>, Ax),
}

/// An input.
#[derive(Debug)]
pub struct Input {
    pub slot: Slot,
    pub dims: Box<[DimCode]>,
    pub real: bool,
}

/// An output.
#[derive(Debug)]
pub struct Output {
    pub slot: Slot,
    pub dims: Box<[DimCode]>,
}

/// A call of an external function.
#[derive(Debug)]
pub struct ExtCode {
    /// What is called, or why it cannot be.
    pub function: Result<external::Callee, String>,
    pub args: Box<[Arg]>,
    /// Where an argument that is a local variable of this function (not an input) is written back.
    pub back: Box<[Option<Slot>]>,
    pub result: Option<u32>,
}

/// A function in the executor's form.
#[derive(Debug)]
pub struct Lowered {
    pub name: String,
    pub n_scalars: usize,
    pub n_arrays: usize,
    /// Per scalar slot: whether it is a Real, so that it can have a derivative.
    pub real: Box<[bool]>,
    /// Per scalar slot: whether it is an Integer.
    pub integer: Box<[bool]>,
    pub inputs: Box<[Input]>,
    pub outputs: Box<[Output]>,
    pub entry: Box<[Init]>,
    pub body: Box<[Stmt]>,
    /// Per array slot: which dimensions follow what is assigned (empty: none).
    pub free: Box<[Box<[bool]>]>,
    pub array_names: Box<[String]>,
    pub external: Option<ExtCode>,
    pub derivative: Option<FuncId>,
    pub impure: bool,
    /// Whether a statement of it may end the run.
    pub ends: bool,
    pub has_object: bool,
    pub span: Span,
    pub callees: Vec<FuncId>,
}

/// Lowers one function of the table.
pub(crate) fn lower(functions: &[Function], id: FuncId) -> Result<Lowered, ExecError> {
    let Some(f) = functions.get(id.0 as usize) else {
        return Err(ExecError::new(ErrorKind::Malformed, Span::NONE, format!("there is no function number {}", id.0)));
    };
    let (mut n_scalars, mut n_arrays) = (0, 0);
    let mut slots = Vec::new();
    let (mut free, mut array_names, mut real, mut integer) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for l in &f.locals {
        if l.dims.is_empty() {
            slots.push(Slot::S(n_scalars));
            real.push(l.ty == ScalarType::Real);
            integer.push(l.ty == ScalarType::Integer);
            n_scalars += 1;
        } else {
            slots.push(Slot::A(n_arrays));
            n_arrays += 1;
            let mask: Box<[bool]> = l.dims.iter().map(|d| matches!(d, Dim::Free)).collect();
            free.push(if mask.contains(&true) { mask } else { Box::default() });
            array_names.push(l.name.clone());
        }
    }
    let mut lw = Lower { functions, f, slots, span: f.span, depth: 0, callees: Vec::new(), ends: false };
    let mut inputs = Vec::new();
    for &i in &f.inputs {
        let slot = lw.slot(i)?;
        let local = &f.locals[i.0 as usize];
        inputs.push(Input { slot, dims: lw.dims(&local.dims)?, real: local.ty == ScalarType::Real });
    }
    let mut outputs = Vec::new();
    for &o in &f.outputs {
        let slot = lw.slot(o)?;
        outputs.push(Output { slot, dims: lw.dims(&f.locals[o.0 as usize].dims)? });
    }
    let mut entry = Vec::new();
    for l in lw.entry_order() {
        let local = &f.locals[l];
        match lw.slots[l] {
            Slot::S(s) => {
                if let Some(b) = &local.binding {
                    entry.push(Init::S(s, lw.scalar(b)?));
                }
            }
            Slot::A(a) => {
                let dims = lw.dims(&local.dims)?;
                entry.push(match &local.binding {
                    Some(b) => Init::A(a, dims, lw.array_of_rank(b, local.dims.len(), &local.name)?),
                    None => Init::Alloc(a, dims),
                });
            }
        }
    }
    let body = lw.block(&f.body)?;
    lw.span = f.span;
    let external = match &f.external {
        None => None,
        Some(x) => {
            let mut args = Vec::new();
            let mut back = Vec::new();
            for a in &x.args {
                back.push(match a {
                    FExpr::Local(l) if !f.inputs.contains(l) => Some(lw.slot(*l)?),
                    _ => None,
                });
                args.push(lw.arg(a)?);
            }
            let result = match x.result.map(|r| lw.slot(r)).transpose()? {
                None => None,
                Some(Slot::S(s)) => Some(s),
                Some(Slot::A(_)) => return Err(lw.bad("an external function cannot return an array")),
            };
            Some(ExtCode {
                function: match external::lookup(&x.symbol) {
                    Some(native) => Ok(external::Callee::Native(native)),
                    None => external::foreign::Foreign::new(functions, id.0 as usize)
                        .map(|f| external::Callee::Foreign(f.into())),
                },
                args: args.into(),
                back: back.into(),
                result,
            })
        }
    };
    Ok(Lowered {
        name: f.name.clone(),
        n_scalars: n_scalars as usize,
        n_arrays: n_arrays as usize,
        real: real.into(),
        integer: integer.into(),
        inputs: inputs.into(),
        outputs: outputs.into(),
        entry: entry.into(),
        body,
        free: free.into(),
        array_names: array_names.into(),
        external,
        derivative: f.derivative,
        impure: f.impure,
        ends: lw.ends,
        has_object: f.locals.iter().any(|l| l.ty == ScalarType::Object),
        span: f.span,
        callees: lw.callees,
    })
}

/// A part of an expression.
#[derive(Clone, Copy)]
pub enum Part<'a> {
    S(&'a Sx),
    A(&'a Ax),
}

impl<'a> From<&'a Arg> for Part<'a> {
    fn from(a: &'a Arg) -> Self {
        match a {
            Arg::S(s) => Part::S(s),
            Arg::A(a) => Part::A(a),
        }
    }
}

/// Calls `f` with an expression and everything inside it.
pub fn visit(e: Part<'_>, f: &mut dyn FnMut(Part<'_>)) {
    f(e);
    match e {
        Part::S(s) => visit_scalar(s, f),
        Part::A(a) => visit_array(a, f),
    }
}

fn all(list: &[Arg], f: &mut dyn FnMut(Part<'_>)) {
    list.iter().for_each(|a| visit(a.into(), f));
}

fn visit_iter(it: &Iter, f: &mut dyn FnMut(Part<'_>)) {
    match it {
        Iter::Range(a, s, b) => {
            visit(Part::S(a), f);
            visit(Part::S(b), f);
            if let Some(s) = s {
                visit(Part::S(s), f);
            }
        }
        Iter::Over(a) => visit(Part::A(a), f),
    }
}

fn visit_scalar(e: &Sx, f: &mut dyn FnMut(Part<'_>)) {
    let list = |parts: &[&Sx], f: &mut dyn FnMut(Part<'_>)| parts.iter().for_each(|s| visit(Part::S(s), f));
    match e {
        Sx::Num(_) | Sx::Local(_) | Sx::BinLN(..) | Sx::BinLL(..) | Sx::SizeLocal(..) => {}
        Sx::Un(_, a) | Sx::Elem1(_, a) => list(&[a], f),
        Sx::Bin(_, ab) | Sx::Op2(_, ab) | Sx::And(ab) | Sx::Or(ab) | Sx::Format(ab) | Sx::Compare(ab) => {
            list(&[&ab.0, &ab.1], f);
        }
        Sx::Elem2(_, ab) => list(&[&ab.0, &ab.1], f),
        Sx::If(abc) | Sx::SemiLinear(abc) => list(&[&abc.0, &abc.1, &abc.2], f),
        Sx::ElemN(_, at) | Sx::ToString(_, at) | Sx::EnumToString(at) => at.iter().for_each(|s| list(&[s], f)),
        Sx::Pick(a, at) => {
            visit(Part::A(a), f);
            at.iter().for_each(|s| list(&[s], f));
        }
        Sx::Size(parts) => {
            visit(Part::A(&parts.0), f);
            list(&[&parts.1], f);
        }
        Sx::Call(_, args, _) => all(args, f),
        Sx::Reduce(_, a) => visit(Part::A(a), f),
        Sx::ReduceFor(_, body, iters) => {
            list(&[body], f);
            iters.iter().for_each(|(_, it)| visit_iter(it, f));
        }
        Sx::Dot(ab) => {
            visit(Part::A(&ab.0), f);
            visit(Part::A(&ab.1), f);
        }
        Sx::Scalar(a) => visit((&**a).into(), f),
    }
}

fn visit_array(e: &Ax, f: &mut dyn FnMut(Part<'_>)) {
    match e {
        Ax::Local(_) => {}
        Ax::Map1(_, a) | Ax::Transpose(a) | Ax::Diagonal(a) | Ax::Symmetric(a) | Ax::Skew(a) => visit(Part::A(a), f),
        Ax::Map2(_, ab) => {
            visit((&ab.0).into(), f);
            visit((&ab.1).into(), f);
        }
        Ax::If(abc) => {
            visit(Part::S(&abc.0), f);
            visit(Part::A(&abc.1), f);
            visit(Part::A(&abc.2), f);
        }
        Ax::Array(items, _) | Ax::Call(_, items, _) | Ax::Cat(_, items, _) => all(items, f),
        Ax::Range(it) => visit_iter(it, f),
        Ax::For(body, iters) => {
            visit((&**body).into(), f);
            iters.iter().for_each(|(_, it)| visit_iter(it, f));
        }
        Ax::SumFor(body, iters) => {
            visit(Part::A(body), f);
            iters.iter().for_each(|(_, it)| visit_iter(it, f));
        }
        Ax::Index(base, ix) => {
            visit(Part::A(base), f);
            visit_indices(ix, f);
        }
        Ax::SizeV(a) | Ax::Promote(a, _) | Ax::Vector(a) | Ax::Matrix(a) => visit((&**a).into(), f),
        Ax::MatMul(ab) | Ax::Outer(ab) | Ax::Cross(ab) => {
            visit(Part::A(&ab.0), f);
            visit(Part::A(&ab.1), f);
        }
        Ax::Identity(n) => visit(Part::S(n), f),
        Ax::Fill(v, dims) => {
            visit((&**v).into(), f);
            dims.iter().for_each(|s| visit(Part::S(s), f));
        }
        Ax::Linspace(abc) => {
            visit(Part::S(&abc.0), f);
            visit(Part::S(&abc.1), f);
            visit(Part::S(&abc.2), f);
        }
        Ax::MatPow(ab) => {
            visit(Part::A(&ab.0), f);
            visit(Part::S(&ab.1), f);
        }
        Ax::SemiLinear(abc) => {
            visit((&abc.0).into(), f);
            visit((&abc.1).into(), f);
            visit((&abc.2).into(), f);
        }
    }
}

fn visit_indices(ix: &[Ix], f: &mut dyn FnMut(Part<'_>)) {
    for i in ix {
        match i {
            Ix::At(s) => visit(Part::S(s), f),
            Ix::Over(it) => visit_iter(it, f),
            Ix::All => {}
        }
    }
}

/// [`visit`] for all expressions of a statement that holds no other statements; the message of an assertion is not one.
pub fn visit_simple(st: &St, f: &mut dyn FnMut(Part<'_>)) {
    match st {
        St::SetS(_, e) => visit(Part::S(e), f),
        St::SetElem1(_, i, e) => {
            visit(Part::S(i), f);
            visit(Part::S(e), f);
        }
        St::SetElem2(_, parts) => {
            visit(Part::S(&parts.0), f);
            visit(Part::S(&parts.1), f);
            visit(Part::S(&parts.2), f);
        }
        St::SetA(_, e) => visit(Part::A(e), f),
        St::SetPart(_, ix, e) => {
            visit_indices(ix, f);
            visit(e.into(), f);
        }
        St::Multi(targets, _, args) => {
            for t in targets.iter().flatten() {
                if let Target::Part(_, ix) = t {
                    visit_indices(ix, f);
                }
            }
            all(args, f);
        }
        St::Assert(c, ..) => visit(Part::S(c), f),
        St::If(..) | St::For(..) | St::While(..) | St::Break | St::Return | St::Terminate(_) => {}
    }
}

/// Calls `f` with the slot of every local that an expression reads (loop variables included).
pub fn reads(e: Part<'_>, f: &mut dyn FnMut(Slot)) {
    visit(e, &mut |p| match p {
        Part::S(Sx::Local(k) | Sx::BinLN(_, k, _)) => f(Slot::S(*k)),
        Part::S(Sx::BinLL(_, a, b)) => {
            f(Slot::S(*a));
            f(Slot::S(*b));
        }
        Part::S(Sx::Elem1(k, _) | Sx::Elem2(k, _) | Sx::ElemN(k, _) | Sx::SizeLocal(k, _)) | Part::A(Ax::Local(k)) => {
            f(Slot::A(*k));
        }
        _ => {}
    });
}

/// Calls `f` with the slot of every local that statements assign (loop variables excluded).
pub fn writes(stmts: &[Stmt], f: &mut dyn FnMut(Slot)) {
    for s in stmts {
        match &s.st {
            St::SetS(k, _) => f(Slot::S(*k)),
            St::SetElem1(k, ..) | St::SetElem2(k, _) | St::SetA(k, _) | St::SetPart(k, ..) => f(Slot::A(*k)),
            St::Multi(targets, ..) => {
                for t in targets.iter().flatten() {
                    f(match t {
                        Target::S(k) => Slot::S(*k),
                        Target::A(k) | Target::Part(k, _) => Slot::A(*k),
                    });
                }
            }
            St::If(branches, rest) => {
                branches.iter().for_each(|(_, b)| writes(b, f));
                writes(rest, f);
            }
            St::For(_, _, b) | St::While(_, b) => writes(b, f),
            St::Break | St::Return | St::Assert(..) | St::Terminate(_) => {}
        }
    }
}

struct Lower<'a> {
    functions: &'a [Function],
    f: &'a Function,
    slots: Vec<Slot>,
    span: Span,
    depth: u32,
    callees: Vec<FuncId>,
    ends: bool,
}

type Res<T> = Result<T, ExecError>;

impl Lower<'_> {
    fn bad(&self, message: impl Into<String>) -> ExecError {
        let mut e = ExecError::new(ErrorKind::Malformed, self.span, message);
        e.trace.push(self.f.name.clone());
        e
    }

    fn slot(&self, l: LocalId) -> Res<Slot> {
        self.slots.get(l.0 as usize).copied().ok_or_else(|| self.bad(format!("there is no variable number {}", l.0)))
    }

    fn scalar_slot(&self, l: LocalId) -> Res<u32> {
        match self.slot(l)? {
            Slot::S(s) => Ok(s),
            Slot::A(_) => Err(self.bad("a loop variable must be a scalar")),
        }
    }

    fn dims(&mut self, dims: &[Dim]) -> Res<Box<[DimCode]>> {
        dims.iter()
            .map(|d| {
                Ok(match d {
                    Dim::Fixed(n) => DimCode::Fixed(*n),
                    Dim::Computed(e) => match self.scalar(e)? {
                        Sx::Num(v) if (0.0..1e15).contains(&v) => DimCode::Fixed(v as usize),
                        s => DimCode::Computed(s),
                    },
                    Dim::Free => DimCode::Free,
                })
            })
            .collect()
    }

    /// Locals that are no inputs, each after those its dimensions and binding mention.
    fn entry_order(&self) -> Vec<usize> {
        fn visit(lw: &Lower<'_>, l: usize, state: &mut [u8], out: &mut Vec<usize>, depth: u32) {
            if state[l] != 0 || depth > 200 {
                return;
            }
            state[l] = 1;
            let mut used = Vec::new();
            let local = &lw.f.locals[l];
            for d in &local.dims {
                if let Dim::Computed(e) = d {
                    mentions(e, &mut used, 0);
                }
            }
            if let Some(b) = &local.binding {
                mentions(b, &mut used, 0);
            }
            for u in used {
                if (u as usize) < state.len() {
                    visit(lw, u as usize, state, out, depth + 1);
                }
            }
            out.push(l);
        }
        let mut state = vec![0; self.f.locals.len()];
        for i in &self.f.inputs {
            state[i.0 as usize] = 2;
        }
        let mut out = Vec::new();
        for l in 0..self.f.locals.len() {
            visit(self, l, &mut state, &mut out, 0);
        }
        out
    }

    fn local_rank(&self, l: LocalId) -> Res<usize> {
        match self.f.locals.get(l.0 as usize) {
            Some(x) => Ok(x.dims.len()),
            None => Err(self.bad(format!("there is no variable number {}", l.0))),
        }
    }

    fn function(&self, f: FuncId) -> Res<&Function> {
        self.functions.get(f.0 as usize).ok_or_else(|| self.bad(format!("there is no function number {}", f.0)))
    }

    /// The element type, as far as it can be told; numbers that are integral count as Integers.
    fn ty(&self, e: &FExpr) -> ScalarType {
        use ScalarType::*;
        match e {
            FExpr::Num(v) => {
                if v.fract() == 0.0 && v.abs() < 1e15 {
                    Integer
                } else {
                    Real
                }
            }
            FExpr::Str(_) => String,
            FExpr::Local(l) => self.f.locals.get(l.0 as usize).map_or(Real, |l| l.ty),
            FExpr::Index(b, _) => self.ty(b),
            FExpr::Unary(Unary::Not, _) => Boolean,
            FExpr::Unary(Unary::Neg | Unary::Abs, a) => self.ty(a),
            FExpr::Unary(Unary::Sign, _) => Integer,
            FExpr::Unary(..) => Real,
            FExpr::Binary(op, a, b) => match op {
                Binary::Lt
                | Binary::Le
                | Binary::Gt
                | Binary::Ge
                | Binary::Eq
                | Binary::Ne
                | Binary::And
                | Binary::Or => Boolean,
                Binary::Add | Binary::Sub | Binary::Mul | Binary::Min | Binary::Max => match (self.ty(a), self.ty(b)) {
                    (Integer, Integer) => Integer,
                    (String, _) | (_, String) => String,
                    _ => Real,
                },
                _ => Real,
            },
            FExpr::If(_, a, b) => {
                let t = self.ty(a);
                if t == Integer { self.ty(b) } else { t }
            }
            FExpr::Array(v) => v.first().map_or(Real, |x| self.ty(x)),
            FExpr::Range(a, s, b) => {
                let all =
                    self.ty(a) == Integer && self.ty(b) == Integer && s.as_ref().is_none_or(|s| self.ty(s) == Integer);
                if all { Integer } else { Real }
            }
            FExpr::Comprehension(b, _) | FExpr::Reduction(_, b, _) => self.ty(b),
            FExpr::Call(f, _, out) => self
                .functions
                .get(f.0 as usize)
                .and_then(|f| f.locals.get(f.outputs.get(*out)?.0 as usize))
                .map_or(Real, |l| l.ty),
            FExpr::Builtin(b, args) => match b {
                Builtin::Size | Builtin::Ndims | Builtin::ToInteger | Builtin::CompareStrings => Integer,
                Builtin::Identity => Integer,
                Builtin::ToString | Builtin::EnumToString | Builtin::Concat => String,
                Builtin::Zeros | Builtin::Ones | Builtin::Linspace | Builtin::SemiLinear => Real,
                Builtin::Cat => args.get(1).map_or(Real, |a| self.ty(a)),
                _ => args.first().map_or(Real, |a| {
                    let t = self.ty(a);
                    match args.get(1) {
                        Some(b)
                            if t == Integer
                                && matches!(
                                    *b,
                                    FExpr::Num(_)
                                        | FExpr::Local(_)
                                        | FExpr::Binary(..)
                                        | FExpr::Unary(..)
                                        | FExpr::Index(..)
                                ) =>
                        {
                            self.ty(b)
                        }
                        _ => t,
                    }
                }),
            },
        }
    }

    fn arg(&mut self, e: &FExpr) -> Res<Arg> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.bad("expressions are nested too deeply"));
        }
        let r = self.arg_inner(e);
        self.depth -= 1;
        r
    }

    fn scalar(&mut self, e: &FExpr) -> Res<Sx> {
        match self.arg(e)? {
            Arg::S(s) => Ok(s),
            Arg::A(_) => Err(self.bad("a scalar is needed where an array stands")),
        }
    }

    fn array(&mut self, e: &FExpr) -> Res<Ax> {
        match self.arg(e)? {
            Arg::A(a) => Ok(a),
            Arg::S(_) => Err(self.bad("an array is needed where a scalar stands")),
        }
    }

    fn array_of_rank(&mut self, e: &FExpr, rank: usize, name: &str) -> Res<Ax> {
        let found = self.rank(e)?;
        if found != rank {
            return Err(self.bad(format!("{name} has {rank} dimensions, but is given a value with {found}")));
        }
        self.array(e)
    }

    fn rank(&self, e: &FExpr) -> Res<usize> {
        self.rank_at(e, 0)
    }

    fn rank_at(&self, e: &FExpr, depth: u32) -> Res<usize> {
        if depth > MAX_DEPTH {
            return Err(self.bad("expressions are nested too deeply"));
        }
        let d = depth + 1;
        Ok(match e {
            FExpr::Num(_) | FExpr::Str(_) => 0,
            FExpr::Local(l) => self.local_rank(*l)?,
            FExpr::Index(b, ix) => {
                let base = self.rank_at(b, d)?;
                if ix.len() > base {
                    return Err(self.bad(format!("{} subscripts for {base} dimensions", ix.len())));
                }
                let mut r = base;
                for i in ix {
                    if let FIndex::At(i) = i
                        && self.rank_at(i, d)? == 0
                    {
                        r -= 1;
                    }
                }
                r
            }
            FExpr::Unary(_, a) => self.rank_at(a, d)?,
            FExpr::Binary(_, a, b) => self.rank_at(a, d)?.max(self.rank_at(b, d)?),
            FExpr::If(_, a, _) => self.rank_at(a, d)?,
            FExpr::Array(v) => match v.first() {
                Some(x) => 1 + self.rank_at(x, d)?,
                None => 1,
            },
            FExpr::Range(..) => 1,
            FExpr::Comprehension(b, it) => it.len() + self.rank_at(b, d)?,
            FExpr::Reduction(_, b, _) => self.rank_at(b, d)?,
            FExpr::Call(f, _, out) => {
                let f = self.function(*f)?;
                let l = f.outputs.get(*out).and_then(|o| f.locals.get(o.0 as usize));
                match l {
                    Some(l) => l.dims.len(),
                    None => return Err(self.bad(format!("{} has no output number {out}", f.name))),
                }
            }
            FExpr::Builtin(b, args) => {
                let rank = |i: usize| match args.get(i) {
                    Some(a) => self.rank_at(a, d),
                    None => Err(self.bad(format!("too few arguments of {b:?}"))),
                };
                match b {
                    Builtin::Size => usize::from(args.len() < 2),
                    Builtin::Ndims
                    | Builtin::Sum
                    | Builtin::Product
                    | Builtin::MinOf
                    | Builtin::MaxOf
                    | Builtin::Scalar
                    | Builtin::ToString
                    | Builtin::EnumToString
                    | Builtin::CompareStrings => 0,
                    Builtin::MatMul => match (rank(0)?, rank(1)?) {
                        (0, r) | (r, 0) => r,
                        (1, 1) => 0,
                        (2, 1) | (1, 2) => 1,
                        (2, 2) => 2,
                        (a, b) => return Err(self.bad(format!("no product of {a}- and {b}-dimensional arrays"))),
                    },
                    Builtin::Transpose
                    | Builtin::Identity
                    | Builtin::Diagonal
                    | Builtin::Matrix
                    | Builtin::OuterProduct
                    | Builtin::Symmetric
                    | Builtin::Skew
                    | Builtin::MatPow => 2,
                    Builtin::Zeros | Builtin::Ones => args.len(),
                    Builtin::Fill => rank(0)? + args.len() - 1,
                    Builtin::Linspace | Builtin::Vector | Builtin::Cross => 1,
                    Builtin::Cat => {
                        let mut r = 1;
                        for i in 1..args.len() {
                            r = r.max(rank(i)?);
                        }
                        if let Some(FExpr::Num(k)) = args.first() {
                            r = r.max(k.clamp(1.0, 64.0) as usize);
                        }
                        r
                    }
                    Builtin::Promote => match args.get(1) {
                        Some(FExpr::Num(n)) if *n >= 0.0 && *n < 64.0 => *n as usize,
                        _ => return Err(self.bad("promote needs a number of dimensions")),
                    },
                    Builtin::Div | Builtin::Mod | Builtin::Rem => rank(0)?.max(rank(1)?),
                    Builtin::ToInteger => rank(0)?,
                    Builtin::Concat => {
                        let mut r = 0;
                        for i in 0..args.len() {
                            r = r.max(rank(i)?);
                        }
                        r
                    }
                    Builtin::SemiLinear => rank(0)?.max(rank(1)?).max(rank(2)?),
                }
            }
        })
    }

    fn bin(op: Binary, a: Sx, b: Sx) -> Sx {
        match (op, &a, &b) {
            (Binary::And, ..) => Sx::And(Box::new((a, b))),
            (Binary::Or, ..) => Sx::Or(Box::new((a, b))),
            (_, Sx::Num(x), Sx::Num(y)) => Sx::Num(saltus_expr::binary(op, *x, *y)),
            (_, Sx::Local(x), Sx::Local(y)) => Sx::BinLL(op, *x, *y),
            (_, Sx::Local(x), Sx::Num(y)) => Sx::BinLN(op, *x, *y),
            _ => Sx::Bin(op, Box::new((a, b))),
        }
    }

    fn map2(&self, op: Op2, a: Arg, b: Arg) -> Arg {
        match (a, b) {
            (Arg::S(a), Arg::S(b)) => Arg::S(match op {
                Op2::Bin(op) => Self::bin(op, a, b),
                op => Sx::Op2(op, Box::new((a, b))),
            }),
            (a, b) => Arg::A(Ax::Map2(op, Box::new((a, b)))),
        }
    }

    fn iter(&mut self, e: &FExpr) -> Res<Iter> {
        match e {
            FExpr::Range(a, s, b) => Ok(Iter::Range(
                self.scalar(a)?,
                match s {
                    Some(s) => Some(self.scalar(s)?),
                    None => None,
                },
                self.scalar(b)?,
            )),
            _ => {
                let rank = self.rank(e)?;
                if rank != 1 {
                    return Err(self.bad("iteration needs a vector"));
                }
                Ok(Iter::Over(self.array(e)?))
            }
        }
    }

    fn iters(&mut self, it: &[(LocalId, FExpr)]) -> Res<Box<[(u32, Iter)]>> {
        it.iter().map(|(l, e)| Ok((self.scalar_slot(*l)?, self.iter(e)?))).collect()
    }

    fn indices(&mut self, ix: &[FIndex], rank: usize) -> Res<Vec<Ix>> {
        if ix.len() > rank {
            return Err(self.bad(format!("{} subscripts for {rank} dimensions", ix.len())));
        }
        let mut out = Vec::with_capacity(rank);
        for i in ix {
            out.push(match i {
                FIndex::All => Ix::All,
                FIndex::At(e) => match self.rank(e)? {
                    0 => Ix::At(self.scalar(e)?),
                    1 => Ix::Over(self.iter(e)?),
                    _ => return Err(self.bad("a subscript must be a scalar or a vector")),
                },
            });
        }
        while out.len() < rank {
            out.push(Ix::All);
        }
        Ok(out)
    }

    fn call_args(&mut self, f: FuncId, args: &[FExpr]) -> Res<Box<[Arg]>> {
        let callee = self.function(f)?;
        if args.len() != callee.inputs.len() {
            let (name, want) = (callee.name.clone(), callee.inputs.len());
            return Err(self.bad(format!("{name} takes {want} arguments, {} are given", args.len())));
        }
        let ranks: Vec<(usize, String)> = callee
            .inputs
            .iter()
            .map(|i| callee.locals.get(i.0 as usize).map_or((0, String::new()), |l| (l.dims.len(), l.name.clone())))
            .collect();
        self.callees.push(f);
        args.iter()
            .zip(ranks)
            .map(|(a, (rank, name))| {
                let found = self.rank(a)?;
                if found != rank {
                    return Err(self.bad(format!("argument {name} has {found} dimensions instead of {rank}")));
                }
                self.arg(a)
            })
            .collect()
    }

    fn arg_inner(&mut self, e: &FExpr) -> Res<Arg> {
        Ok(match e {
            FExpr::Num(v) => Arg::S(Sx::Num(*v)),
            FExpr::Str(s) => Arg::S(Sx::Num(strings::intern(s))),
            FExpr::Local(l) => match self.slot(*l)? {
                Slot::S(s) => Arg::S(Sx::Local(s)),
                Slot::A(a) => Arg::A(Ax::Local(a)),
            },
            FExpr::Index(b, ix) => {
                let rank = self.rank(b)?;
                if rank == 0 {
                    if !ix.is_empty() {
                        return Err(self.bad("a scalar cannot be subscripted"));
                    }
                    return self.arg(b);
                }
                let base = self.array(b)?;
                let ix = self.indices(ix, rank)?;
                if ix.iter().all(|i| matches!(i, Ix::At(_))) {
                    let mut at: Vec<Sx> =
                        ix.into_iter().filter_map(|i| if let Ix::At(s) = i { Some(s) } else { None }).collect();
                    return Ok(Arg::S(match base {
                        Ax::Local(a) if at.len() == 1 => Sx::Elem1(a, Box::new(at.remove(0))),
                        Ax::Local(a) if at.len() == 2 => {
                            let j = at.remove(1);
                            Sx::Elem2(a, Box::new((at.remove(0), j)))
                        }
                        Ax::Local(a) => Sx::ElemN(a, at.into()),
                        base => Sx::Pick(Box::new(base), at.into()),
                    }));
                }
                Arg::A(Ax::Index(Box::new(base), ix.into()))
            }
            FExpr::Unary(op, a) => match self.arg(a)? {
                Arg::S(Sx::Num(v)) => Arg::S(Sx::Num(saltus_expr::unary(*op, v))),
                Arg::S(s) => Arg::S(Sx::Un(*op, Box::new(s))),
                Arg::A(a) => Arg::A(Ax::Map1(*op, Box::new(a))),
            },
            FExpr::Binary(op, a, b) => {
                let text = matches!(op, Binary::Add | Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge)
                    && (self.ty(a) == ScalarType::String || self.ty(b) == ScalarType::String);
                let (a, b) = (self.arg(a)?, self.arg(b)?);
                let op = match op {
                    Binary::Add if text => Op2::Concat,
                    op if text => Op2::Text(*op),
                    op => Op2::Bin(*op),
                };
                self.map2(op, a, b)
            }
            FExpr::If(c, a, b) => {
                let c = self.scalar(c)?;
                match (self.arg(a)?, self.arg(b)?) {
                    (Arg::S(a), Arg::S(b)) => Arg::S(Sx::If(Box::new((c, a, b)))),
                    (Arg::A(a), Arg::A(b)) => Arg::A(Ax::If(Box::new((c, a, b)))),
                    _ => return Err(self.bad("the branches of an if-expression have different dimensions")),
                }
            }
            FExpr::Array(v) => {
                let rank = match v.first() {
                    Some(x) => self.rank(x)?,
                    None => 0,
                };
                let mut items = Vec::with_capacity(v.len());
                for x in v {
                    if self.rank(x)? != rank {
                        return Err(self.bad("the elements of an array have different dimensions"));
                    }
                    items.push(self.arg(x)?);
                }
                Arg::A(Ax::Array(items.into(), rank as u32))
            }
            FExpr::Range(..) => Arg::A(Ax::Range(Box::new(self.iter(e)?))),
            FExpr::Comprehension(b, it) => {
                let it = self.iters(it)?;
                if it.is_empty() {
                    return Err(self.bad("a comprehension needs an iterator"));
                }
                Arg::A(Ax::For(Box::new(self.arg(b)?), it))
            }
            FExpr::Reduction(r, b, it) => {
                let it = self.iters(it)?;
                let red = self.red(*r)?;
                match self.arg(b)? {
                    Arg::S(s) => Arg::S(Sx::ReduceFor(red, Box::new(s), it)),
                    Arg::A(a) if red == Red::Sum => Arg::A(Ax::SumFor(Box::new(a), it)),
                    Arg::A(_) => return Err(self.bad("only sums can be taken over arrays")),
                }
            }
            FExpr::Call(f, args, out) => {
                let rank = self.rank(e)?;
                let args = self.call_args(*f, args)?;
                if rank == 0 {
                    Arg::S(Sx::Call(*f, args, *out as u32))
                } else {
                    Arg::A(Ax::Call(*f, args, *out as u32))
                }
            }
            FExpr::Builtin(b, args) => self.builtin(*b, args)?,
        })
    }

    fn red(&self, r: Builtin) -> Res<Red> {
        Ok(match r {
            Builtin::Sum => Red::Sum,
            Builtin::Product => Red::Product,
            Builtin::MinOf => Red::Min,
            Builtin::MaxOf => Red::Max,
            _ => return Err(self.bad(format!("{r:?} is no reduction"))),
        })
    }

    fn builtin(&mut self, b: Builtin, args: &[FExpr]) -> Res<Arg> {
        let least = match b {
            Builtin::Zeros | Builtin::Ones | Builtin::Concat => 0,
            Builtin::MatMul
            | Builtin::Fill
            | Builtin::Cat
            | Builtin::Promote
            | Builtin::OuterProduct
            | Builtin::Cross
            | Builtin::MatPow
            | Builtin::Div
            | Builtin::Mod
            | Builtin::Rem
            | Builtin::CompareStrings => 2,
            Builtin::Linspace | Builtin::SemiLinear => 3,
            _ => 1,
        };
        if args.len() < least {
            return Err(self.bad(format!("{b:?} takes at least {least} arguments, {} are given", args.len())));
        }
        let need = |lw: &Self, i: usize, want: usize| -> Res<()> {
            let found = lw.rank(&args[i])?;
            if found == want {
                return Ok(());
            }
            Err(lw.bad(format!("argument {} of {b:?} has {found} dimensions instead of {want}", i + 1)))
        };
        Ok(match b {
            Builtin::Size => {
                if args.len() == 1 {
                    return Ok(Arg::A(Ax::SizeV(Box::new(self.arg(&args[0])?))));
                }
                // A fixed dimension of a local needs no run.
                if let (FExpr::Local(l), FExpr::Num(k)) = (&args[0], &args[1])
                    && let Some(local) = self.f.locals.get(l.0 as usize)
                    && *k >= 1.0
                    && let Some(d) = local.dims.get(*k as usize - 1)
                {
                    if let Dim::Fixed(n) = d {
                        return Ok(Arg::S(Sx::Num(*n as f64)));
                    }
                    if let Slot::A(a) = self.slot(*l)? {
                        return Ok(Arg::S(Sx::SizeLocal(a, *k as u32 - 1)));
                    }
                }
                let a = self.array(&args[0])?;
                Arg::S(Sx::Size(Box::new((a, self.scalar(&args[1])?))))
            }
            Builtin::Ndims => Arg::S(Sx::Num(self.rank(&args[0])? as f64)),
            Builtin::MatMul => match (self.arg(&args[0])?, self.arg(&args[1])?) {
                (Arg::A(x), Arg::A(y)) => match (self.rank(&args[0])?, self.rank(&args[1])?) {
                    (1, 1) => Arg::S(Sx::Dot(Box::new((x, y)))),
                    (1 | 2, 1 | 2) => Arg::A(Ax::MatMul(Box::new((x, y)))),
                    (a, b) => return Err(self.bad(format!("no product of {a}- and {b}-dimensional arrays"))),
                },
                (x, y) => self.map2(Op2::Bin(Binary::Mul), x, y),
            },
            Builtin::Transpose => {
                if self.rank(&args[0])? < 2 {
                    return Err(self.bad("transpose needs a matrix"));
                }
                Arg::A(Ax::Transpose(Box::new(self.array(&args[0])?)))
            }
            Builtin::Identity => Arg::A(Ax::Identity(Box::new(self.scalar(&args[0])?))),
            Builtin::Diagonal => {
                need(self, 0, 1)?;
                Arg::A(Ax::Diagonal(Box::new(self.array(&args[0])?)))
            }
            Builtin::Zeros | Builtin::Ones => {
                let value = Sx::Num(if b == Builtin::Ones { 1.0 } else { 0.0 });
                let dims = args.iter().map(|a| self.scalar(a)).collect::<Res<Box<[Sx]>>>()?;
                if dims.is_empty() { Arg::S(value) } else { Arg::A(Ax::Fill(Box::new(Arg::S(value)), dims)) }
            }
            Builtin::Fill => {
                let value = self.arg(&args[0])?;
                let dims = args[1..].iter().map(|a| self.scalar(a)).collect::<Res<Box<[Sx]>>>()?;
                Arg::A(Ax::Fill(Box::new(value), dims))
            }
            Builtin::Linspace => {
                let (a, b, n) = (self.scalar(&args[0])?, self.scalar(&args[1])?, self.scalar(&args[2])?);
                Arg::A(Ax::Linspace(Box::new((a, b, n))))
            }
            Builtin::Sum | Builtin::Product | Builtin::MinOf | Builtin::MaxOf => {
                let red = self.red(b)?;
                if args.len() == 2 && matches!(red, Red::Min | Red::Max) {
                    let op = if red == Red::Min { Binary::Min } else { Binary::Max };
                    let (x, y) = (self.scalar(&args[0])?, self.scalar(&args[1])?);
                    return Ok(Arg::S(Self::bin(op, x, y)));
                }
                match self.arg(&args[0])? {
                    Arg::S(s) => Arg::S(s),
                    Arg::A(a) => Arg::S(Sx::Reduce(red, Box::new(a))),
                }
            }
            Builtin::Cat => {
                let k = match &args[0] {
                    FExpr::Num(k) if *k >= 1.0 && *k < 64.0 => *k as u32,
                    _ => return Err(self.bad("cat needs a number as first argument")),
                };
                let rank = self.rank(&FExpr::Builtin(b, args.to_vec()))? as u32;
                let items = args[1..].iter().map(|a| self.arg(a)).collect::<Res<Box<[Arg]>>>()?;
                Arg::A(Ax::Cat(k - 1, items, rank))
            }
            Builtin::Promote => {
                let rank = self.rank(&FExpr::Builtin(b, args.to_vec()))?;
                let found = self.rank(&args[0])?;
                if found > rank {
                    return Err(self.bad(format!("an array of {found} dimensions cannot be promoted to {rank}")));
                }
                let a = self.arg(&args[0])?;
                if rank == 0 { a } else { Arg::A(Ax::Promote(Box::new(a), rank as u32)) }
            }
            Builtin::Scalar => match self.arg(&args[0])? {
                Arg::S(s) => Arg::S(s),
                a => Arg::S(Sx::Scalar(Box::new(a))),
            },
            Builtin::Vector => Arg::A(Ax::Vector(Box::new(self.arg(&args[0])?))),
            Builtin::Matrix => Arg::A(Ax::Matrix(Box::new(self.arg(&args[0])?))),
            Builtin::OuterProduct | Builtin::Cross => {
                need(self, 0, 1)?;
                need(self, 1, 1)?;
                let pair = Box::new((self.array(&args[0])?, self.array(&args[1])?));
                Arg::A(if b == Builtin::Cross { Ax::Cross(pair) } else { Ax::Outer(pair) })
            }
            Builtin::Symmetric => {
                need(self, 0, 2)?;
                Arg::A(Ax::Symmetric(Box::new(self.array(&args[0])?)))
            }
            Builtin::Skew => {
                need(self, 0, 1)?;
                Arg::A(Ax::Skew(Box::new(self.array(&args[0])?)))
            }
            Builtin::MatPow => {
                need(self, 0, 2)?;
                Arg::A(Ax::MatPow(Box::new((self.array(&args[0])?, self.scalar(&args[1])?))))
            }
            Builtin::Div | Builtin::Mod | Builtin::Rem => {
                let (x, y) = (self.arg(&args[0])?, self.arg(&args[1])?);
                let op = match b {
                    Builtin::Div => Op2::Div,
                    Builtin::Mod => Op2::Mod,
                    _ => Op2::Rem,
                };
                self.map2(op, x, y)
            }
            Builtin::ToInteger => match self.arg(&args[0])? {
                Arg::S(s) => Arg::S(Sx::Un(Unary::Floor, Box::new(s))),
                Arg::A(a) => Arg::A(Ax::Map1(Unary::Floor, Box::new(a))),
            },
            Builtin::ToString => {
                let ty = self.ty(&args[0]);
                if args.len() == 2 && self.ty(&args[1]) == ScalarType::String {
                    let pair = Box::new((self.scalar(&args[0])?, self.scalar(&args[1])?));
                    return Ok(Arg::S(Sx::Format(pair)));
                }
                let args = args.iter().map(|a| self.scalar(a)).collect::<Res<Box<[Sx]>>>()?;
                Arg::S(Sx::ToString(ty, args))
            }
            Builtin::EnumToString => {
                Arg::S(Sx::EnumToString(args.iter().map(|a| self.scalar(a)).collect::<Res<Box<[Sx]>>>()?))
            }
            Builtin::Concat => {
                let mut all = Arg::S(Sx::Num(0.0));
                for (i, a) in args.iter().enumerate() {
                    let a = self.arg(a)?;
                    all = if i == 0 { a } else { self.map2(Op2::Concat, all, a) };
                }
                all
            }
            Builtin::CompareStrings => Arg::S(Sx::Compare(Box::new((self.scalar(&args[0])?, self.scalar(&args[1])?)))),
            Builtin::SemiLinear => match (self.arg(&args[0])?, self.arg(&args[1])?, self.arg(&args[2])?) {
                (Arg::S(x), Arg::S(p), Arg::S(n)) => Arg::S(Sx::SemiLinear(Box::new((x, p, n)))),
                (x, p, n) => Arg::A(Ax::SemiLinear(Box::new((x, p, n)))),
            },
        })
    }

    fn block(&mut self, stmts: &[FStmt]) -> Res<Box<[Stmt]>> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.bad("statements are nested too deeply"));
        }
        let mut out = Vec::with_capacity(stmts.len());
        for s in stmts {
            self.span = s.span;
            out.push(Stmt { st: self.statement(&s.kind)?, span: s.span });
        }
        self.depth -= 1;
        Ok(out.into())
    }

    fn target(&mut self, t: &LValue, value_rank: usize) -> Res<Target> {
        let rank = self.local_rank(t.local)?;
        let name = self.f.locals[t.local.0 as usize].name.clone();
        let mismatch = |lw: &Self, want: usize| {
            lw.bad(format!("{name}: a value of {value_rank} dimensions is assigned where {want} are needed"))
        };
        Ok(match self.slot(t.local)? {
            Slot::S(s) => {
                if !t.indices.is_empty() {
                    return Err(self.bad(format!("{name} is a scalar and cannot be subscripted")));
                }
                if value_rank != 0 {
                    return Err(mismatch(self, 0));
                }
                Target::S(s)
            }
            Slot::A(a) => {
                if t.indices.is_empty() {
                    if value_rank != rank {
                        return Err(mismatch(self, rank));
                    }
                    return Ok(Target::A(a));
                }
                let ix = self.indices(&t.indices, rank)?;
                let kept = ix.iter().filter(|i| !matches!(i, Ix::At(_))).count();
                if value_rank != kept {
                    return Err(mismatch(self, kept));
                }
                Target::Part(a, ix.into())
            }
        })
    }

    fn statement(&mut self, s: &FStmtKind) -> Res<St> {
        Ok(match s {
            FStmtKind::Assign(t, e) => {
                let rank = self.rank(e)?;
                let target = self.target(t, rank)?;
                match (target, self.arg(e)?) {
                    (Target::S(s), Arg::S(e)) => St::SetS(s, e),
                    (Target::A(a), Arg::A(e)) => St::SetA(a, e),
                    (Target::Part(a, ix), e) => {
                        let scalars = ix.iter().all(|i| matches!(i, Ix::At(_)));
                        match e {
                            Arg::S(e) if scalars && ix.len() <= 2 => {
                                let mut at =
                                    ix.into_iter().filter_map(|i| if let Ix::At(s) = i { Some(s) } else { None });
                                match (at.next(), at.next()) {
                                    (Some(i), None) => St::SetElem1(a, i, e),
                                    (Some(i), Some(j)) => St::SetElem2(a, Box::new((i, j, e))),
                                    _ => return Err(self.bad("subscripts are missing")),
                                }
                            }
                            e => St::SetPart(a, ix, e),
                        }
                    }
                    _ => return Err(self.bad("the assigned value has other dimensions")),
                }
            }
            FStmtKind::MultiAssign(targets, f, args) => {
                let callee = self.function(*f)?;
                if targets.len() > callee.outputs.len() {
                    let (name, n) = (callee.name.clone(), callee.outputs.len());
                    return Err(self.bad(format!("{name} has {n} outputs, {} are assigned", targets.len())));
                }
                let ranks: Vec<usize> = callee
                    .outputs
                    .iter()
                    .map(|o| callee.locals.get(o.0 as usize).map_or(0, |l| l.dims.len()))
                    .collect();
                let args = self.call_args(*f, args)?;
                let targets = targets
                    .iter()
                    .zip(ranks)
                    .map(|(t, r)| t.as_ref().map(|t| self.target(t, r)).transpose())
                    .collect::<Res<Box<[Option<Target>]>>>()?;
                St::Multi(targets, *f, args)
            }
            FStmtKind::If(branches, rest) => {
                let mut out = Vec::new();
                for (c, b) in branches {
                    out.push((self.scalar(c)?, self.block(b)?));
                }
                St::If(out.into(), self.block(rest)?)
            }
            FStmtKind::For(l, e, b) => St::For(self.scalar_slot(*l)?, self.iter(e)?, self.block(b)?),
            FStmtKind::While(c, b) => St::While(self.scalar(c)?, self.block(b)?),
            FStmtKind::Break => St::Break,
            FStmtKind::Return => St::Return,
            FStmtKind::Assert(c, m, warning) => St::Assert(self.scalar(c)?, self.scalar(m)?, *warning),
            FStmtKind::Terminate(m) => {
                self.ends = true;
                St::Terminate(self.scalar(m)?)
            }
        })
    }
}

/// The locals an expression mentions.
pub(crate) fn mentions(e: &FExpr, out: &mut Vec<u32>, depth: u32) {
    if depth > MAX_DEPTH {
        return;
    }
    let d = depth + 1;
    match e {
        FExpr::Num(_) | FExpr::Str(_) => {}
        FExpr::Local(l) => out.push(l.0),
        FExpr::Index(b, ix) => {
            mentions(b, out, d);
            for i in ix {
                if let FIndex::At(i) = i {
                    mentions(i, out, d);
                }
            }
        }
        FExpr::Unary(_, a) => mentions(a, out, d),
        FExpr::Binary(_, a, b) => {
            mentions(a, out, d);
            mentions(b, out, d);
        }
        FExpr::If(c, a, b) => {
            mentions(c, out, d);
            mentions(a, out, d);
            mentions(b, out, d);
        }
        FExpr::Array(v) | FExpr::Call(_, v, _) | FExpr::Builtin(_, v) => {
            for x in v {
                mentions(x, out, d);
            }
        }
        FExpr::Range(a, s, b) => {
            mentions(a, out, d);
            mentions(b, out, d);
            if let Some(s) = s {
                mentions(s, out, d);
            }
        }
        FExpr::Comprehension(b, it) | FExpr::Reduction(_, b, it) => {
            mentions(b, out, d);
            for (_, e) in it {
                mentions(e, out, d);
            }
        }
    }
}
