//! Values: arrays of symbolic scalars, records, functions.

use crate::modifier::{NodeId, Scope};
use saltus_base::Name;
use saltus_expr::ExprId;
use saltus_function::ScalarType;
use saltus_resolve::ClassId;
use std::rc::Rc;

/// The type of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Ty {
    Real,
    Int,
    Bool,
    Str,
    Enum(ClassId),
    Object,
    Clock,
}

impl Ty {
    pub fn text(self) -> &'static str {
        match self {
            Ty::Real => "Real",
            Ty::Int => "Integer",
            Ty::Bool => "Boolean",
            Ty::Str => "String",
            Ty::Enum(_) => "enumeration",
            Ty::Object => "ExternalObject",
            Ty::Clock => "Clock",
        }
    }
    pub fn scalar(self) -> ScalarType {
        match self {
            Ty::Real => ScalarType::Real,
            Ty::Int => ScalarType::Integer,
            Ty::Bool | Ty::Clock => ScalarType::Boolean,
            Ty::Str => ScalarType::String,
            Ty::Enum(_) => ScalarType::Enumeration,
            Ty::Object => ScalarType::Object,
        }
    }
    /// The type of an array holding both.
    pub fn join(self, o: Ty) -> Ty {
        match (self, o) {
            (Ty::Real, Ty::Int) | (Ty::Int, Ty::Real) => Ty::Real,
            (a, _) => a,
        }
    }
    pub fn numeric(self) -> bool {
        matches!(self, Ty::Real | Ty::Int)
    }
}

/// Arrays with more elements than this would not fit into memory.
const MOST_ELEMENTS: f64 = 2e7;

/// How many elements an array has; the number as an error if they are too many.
pub(crate) fn count_of(dims: &[usize]) -> Result<usize, f64> {
    let count: f64 = dims.iter().map(|&d| d as f64).product();
    if count > MOST_ELEMENTS { Err(count) } else { Ok(count as usize) }
}

/// Elements in row-major order.
#[derive(Clone, Debug)]
pub(crate) struct Arr {
    pub ty: Ty,
    pub dims: Vec<usize>,
    pub e: Vec<ExprId>,
}

#[derive(Clone, Debug)]
pub(crate) struct Rec {
    pub class: ClassId,
    pub scope: Scope,
    pub fields: Vec<(Name, Value)>,
}

#[derive(Clone, Debug)]
pub(crate) struct RecArr {
    pub dims: Vec<usize>,
    pub e: Vec<Value>,
}

/// A function as a value, possibly with some arguments given.
#[derive(Clone, Debug)]
pub(crate) struct FuncValue {
    pub node: NodeId,
    pub bound: Vec<(Name, Value)>,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Num(ExprId, Ty),
    Arr(Rc<Arr>),
    Rec(Rc<Rec>),
    RecArr(Rc<RecArr>),
    Func(Rc<FuncValue>),
    Tuple(Rc<Vec<Value>>),
}

impl Value {
    pub fn array(ty: Ty, dims: Vec<usize>, e: Vec<ExprId>) -> Value {
        debug_assert_eq!(dims.iter().product::<usize>(), e.len());
        if dims.is_empty()
            && let Some(&x) = e.first()
        {
            return Value::Num(x, ty);
        }
        Value::Arr(Rc::new(Arr { ty, dims, e }))
    }

    pub fn records(dims: Vec<usize>, e: Vec<Value>) -> Value {
        if dims.is_empty()
            && let Some(x) = e.first()
        {
            return x.clone();
        }
        if let (Some(Value::Num(..)), true) = (e.first(), e.iter().all(|v| matches!(v, Value::Num(..)))) {
            let mut ty = None;
            let mut out = Vec::with_capacity(e.len());
            for v in &e {
                if let Value::Num(x, t) = v {
                    ty = Some(ty.map_or(*t, |u: Ty| u.join(*t)));
                    out.push(*x);
                }
            }
            return Value::array(ty.unwrap_or(Ty::Real), dims, out);
        }
        Value::RecArr(Rc::new(RecArr { dims, e }))
    }

    pub fn dims(&self) -> &[usize] {
        match self {
            Value::Arr(a) => &a.dims,
            Value::RecArr(a) => &a.dims,
            _ => &[],
        }
    }

    pub fn rank(&self) -> usize {
        self.dims().len()
    }

    pub fn len(&self) -> usize {
        self.dims().iter().product()
    }

    pub fn ty(&self) -> Option<Ty> {
        match self {
            Value::Num(_, t) => Some(*t),
            Value::Arr(a) => Some(a.ty),
            _ => None,
        }
    }

    /// Element `k` in row-major order (a scalar is its own element).
    pub fn at(&self, k: usize) -> Value {
        match self {
            Value::Arr(a) => Value::Num(a.e[k], a.ty),
            Value::RecArr(a) => a.e[k].clone(),
            v => v.clone(),
        }
    }

    /// Elements in row-major order.
    pub fn elements(&self) -> Vec<Value> {
        match self {
            Value::Arr(a) => a.e.iter().map(|&x| Value::Num(x, a.ty)).collect(),
            Value::RecArr(a) => a.e.clone(),
            v => vec![v.clone()],
        }
    }

    /// The same elements with other dimensions.
    pub fn reshape(&self, dims: Vec<usize>) -> Value {
        match self {
            Value::Arr(a) => Value::array(a.ty, dims, a.e.clone()),
            Value::RecArr(a) => Value::records(dims, a.e.clone()),
            Value::Num(x, t) => Value::array(*t, dims, vec![*x]),
            v => Value::records(dims, vec![v.clone()]),
        }
    }

    /// All scalars below, in order of declaration and row-major.
    pub fn scalars(&self, out: &mut Vec<(ExprId, Ty)>) {
        match self {
            Value::Num(x, t) => out.push((*x, *t)),
            Value::Arr(a) => out.extend(a.e.iter().map(|&x| (x, a.ty))),
            Value::Rec(r) => r.fields.iter().for_each(|(_, v)| v.scalars(out)),
            Value::RecArr(a) => a.e.iter().for_each(|v| v.scalars(out)),
            Value::Func(_) => {}
            Value::Tuple(t) => t.iter().for_each(|v| v.scalars(out)),
        }
    }

    /// The types of its scalars.
    pub fn scalar_types(&self) -> impl Iterator<Item = Ty> {
        let mut list = Vec::new();
        self.scalars(&mut list);
        list.into_iter().map(|x| x.1)
    }

    pub fn scalar_list(&self) -> Vec<ExprId> {
        let mut v = Vec::new();
        self.scalars(&mut v);
        v.into_iter().map(|(e, _)| e).collect()
    }

    /// The same structure with other scalars, taken in order.
    pub fn rebuild(&self, next: &mut dyn FnMut(ExprId, Ty) -> ExprId) -> Value {
        match self {
            Value::Num(x, t) => Value::Num(next(*x, *t), *t),
            Value::Arr(a) => Value::Arr(Rc::new(Arr {
                ty: a.ty,
                dims: a.dims.clone(),
                e: a.e.iter().map(|&x| next(x, a.ty)).collect(),
            })),
            Value::Rec(r) => Value::Rec(Rc::new(Rec {
                class: r.class,
                scope: r.scope,
                fields: r.fields.iter().map(|(n, v)| (*n, v.rebuild(next))).collect(),
            })),
            Value::RecArr(a) => Value::RecArr(Rc::new(RecArr {
                dims: a.dims.clone(),
                e: a.e.iter().map(|v| v.rebuild(next)).collect(),
            })),
            Value::Func(f) => Value::Func(f.clone()),
            Value::Tuple(t) => Value::Tuple(Rc::new(t.iter().map(|v| v.rebuild(next)).collect())),
        }
    }

    /// A field of a record, or of all records of an array.
    pub fn field(&self, name: Name) -> Option<Value> {
        match self {
            Value::Rec(r) => r.fields.iter().find(|(n, _)| *n == name).map(|(_, v)| v.clone()),
            Value::RecArr(a) => {
                let parts: Option<Vec<Value>> = a.e.iter().map(|v| v.field(name)).collect();
                Some(stack(&a.dims, &parts?))
            }
            _ => None,
        }
    }

    /// What it is, for messages.
    pub fn describe(&self) -> String {
        let base = match self {
            Value::Num(_, t) => return t.text().to_string(),
            Value::Arr(a) => a.ty.text(),
            Value::Rec(_) => return "record".into(),
            Value::RecArr(_) => "record",
            Value::Func(_) => return "function".into(),
            Value::Tuple(t) => return format!("{} results", t.len()),
        };
        let dims: Vec<String> = self.dims().iter().map(|d| d.to_string()).collect();
        format!("{base}[{}]", dims.join(", "))
    }
}

/// Puts equal-shaped values into a new array with leading dimensions `dims`.
pub(crate) fn stack(dims: &[usize], parts: &[Value]) -> Value {
    let Some(first) = parts.first() else {
        return Value::array(Ty::Real, dims.to_vec(), Vec::new());
    };
    let mut all = dims.to_vec();
    all.extend_from_slice(first.dims());
    if parts.iter().all(|p| matches!(p, Value::Num(..) | Value::Arr(_))) {
        let mut ty = first.ty().unwrap_or(Ty::Real);
        let mut e = Vec::with_capacity(all.iter().product());
        for p in parts {
            match p {
                Value::Num(x, t) => {
                    ty = ty.join(*t);
                    e.push(*x);
                }
                Value::Arr(a) => {
                    ty = ty.join(a.ty);
                    e.extend_from_slice(&a.e);
                }
                _ => {}
            }
        }
        if e.len() == all.iter().product::<usize>() {
            return Value::array(ty, all, e);
        }
    }
    let e: Vec<Value> = parts.iter().flat_map(Value::elements).collect();
    Value::records(all, e)
}

/// `[2, 3]` for messages.
pub(crate) fn shape_text(dims: &[usize]) -> String {
    if dims.is_empty() {
        return "a scalar".into();
    }
    let t: Vec<String> = dims.iter().map(|d| d.to_string()).collect();
    format!("[{}]", t.join(", "))
}
