//! External functions: those of the Modelica Standard Library, by their symbol, implemented natively; others compiled
//! from C ([`foreign`]).

mod fft;
mod files;
pub mod foreign;
mod lapack;
mod math;
mod random;
mod schur;
mod system;
mod tables;
mod text;

pub use random::impure_generators;
pub use tables::{TableData, table_data};

use crate::strings;
use rustc_hash::FxHashMap;
use std::sync::{Arc, LazyLock, RwLock};

/// An argument of an external call: by value for scalars, by reference for arrays and for outputs.
#[derive(Clone, Debug, PartialEq)]
pub enum ExtArg {
    /// A scalar (strings and objects by handle).
    Num(f64),
    /// An array, row by row.
    Array {
        /// Its sizes.
        dims: Vec<usize>,
        /// Its elements.
        data: Vec<f64>,
    },
}

/// What an external function says when it fails.
pub type ExtResult = Result<f64, String>;

/// How the derivative of an external function is found.
#[derive(Clone, Copy)]
pub enum ExtDerivative {
    /// It does not depend on its Real arguments smoothly, or has none.
    Zero,
    /// The directional derivative of the returned value: arguments, then their derivatives.
    Analytic(fn(&[ExtArg], &[ExtArg]) -> ExtResult),
    /// By central differences of the call itself.
    Differences,
}

/// An external function.
pub struct External {
    /// Its symbol.
    pub symbol: &'static str,
    /// Runs it: outputs are written into the arguments, the returned value is the result.
    pub call: fn(&mut [ExtArg]) -> ExtResult,
    /// Its derivative.
    pub derivative: ExtDerivative,
}

impl std::fmt::Debug for External {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.symbol)
    }
}

/// What an external clause calls.
#[derive(Clone, Debug)]
pub enum Callee {
    /// A function of the standard library.
    Native(&'static External),
    /// Compiled C code.
    Foreign(Arc<foreign::Foreign>),
}

impl Callee {
    /// Runs it: outputs are written into the arguments, the returned value is the result.
    pub fn call(&self, args: &mut [ExtArg]) -> ExtResult {
        match self {
            Callee::Native(x) => (x.call)(args),
            Callee::Foreign(x) => x.call(args),
        }
    }

    /// The same for single numbers, none of them written.
    pub fn call_numbers(&self, args: &[f64]) -> ExtResult {
        if let Callee::Foreign(x) = self
            && let Some(r) = x.call_numbers(args)
        {
            return r;
        }
        let mut args: smallvec::SmallVec<[ExtArg; 8]> = args.iter().map(|v| ExtArg::Num(*v)).collect();
        self.call(&mut args)
    }

    /// The smallest and the largest number that it returns while its arguments, single numbers, lie in these ranges; `None` if that
    /// is not known.
    pub fn range(&self, args: &[(f64, f64)]) -> Option<(f64, f64)> {
        match self {
            Callee::Native(x) => tables::range(x.symbol, args),
            Callee::Foreign(_) => None,
        }
    }

    /// How its derivative is found.
    pub fn derivative(&self) -> ExtDerivative {
        match self {
            Callee::Native(x) => x.derivative,
            Callee::Foreign(_) => ExtDerivative::Differences,
        }
    }
}

/// All external functions by symbol.
static INDEX: LazyLock<FxHashMap<&'static str, &'static External>> = LazyLock::new(|| {
    [tables::LIST, text::LIST, system::LIST, random::LIST, fft::LIST, files::LIST, lapack::LIST, math::LIST]
        .into_iter()
        .flatten()
        .map(|x| (x.symbol, x))
        .collect()
});

/// The external function with this symbol.
pub fn lookup(symbol: &str) -> Option<&'static External> {
    INDEX.get(symbol).copied()
}

/// The symbols that are implemented.
pub fn symbols() -> impl Iterator<Item = &'static str> {
    INDEX.keys().copied()
}

/// An external object.
#[derive(Debug)]
enum Object {
    Table1(tables::Table1),
    Table2(tables::Table2),
    Time(tables::TimeTable),
    /// The address that a foreign constructor returned, and what ends it.
    Foreign(usize, Option<Arc<foreign::Foreign>>),
}

/// All objects of the process; a handle is one more than its position and is never given out twice.
static OBJECTS: RwLock<Vec<Option<Arc<Object>>>> = RwLock::new(Vec::new());

thread_local! {
    /// What this thread has looked up already.
    static SEEN: std::cell::RefCell<Vec<Option<Arc<Object>>>> = const { std::cell::RefCell::new(Vec::new()) };
}

fn insert(object: Object) -> f64 {
    let mut all = OBJECTS.write().unwrap_or_else(|e| e.into_inner());
    all.push(Some(Arc::new(object)));
    all.len() as f64
}

fn object(handle: f64) -> Result<Arc<Object>, String> {
    let i = (handle as usize).wrapping_sub(1);
    SEEN.with_borrow_mut(|seen| {
        if let Some(Some(x)) = seen.get(i) {
            return Ok(x.clone());
        }
        let all = OBJECTS.read().unwrap_or_else(|e| e.into_inner());
        match all.get(i) {
            Some(Some(x)) => {
                if seen.len() <= i {
                    seen.resize(i + 1, None);
                }
                seen[i] = Some(x.clone());
                Ok(x.clone())
            }
            _ => Err("the external object does not exist (not constructed yet, or destroyed)".into()),
        }
    })
}

fn remove(handle: f64) {
    let i = (handle as usize).wrapping_sub(1);
    let clear = |v: &mut Vec<Option<Arc<Object>>>| {
        if let Some(x) = v.get_mut(i) {
            *x = None;
        }
    };
    SEEN.with_borrow_mut(clear);
    clear(&mut OBJECTS.write().unwrap_or_else(|e| e.into_inner()));
}

/// Whether an object belongs to foreign code.
pub fn is_foreign(handle: f64) -> bool {
    matches!(object(handle).as_deref(), Ok(Object::Foreign(..)))
}

/// Ends an external object: a foreign one by its destructor.
pub fn destroy(handle: f64) -> Result<(), String> {
    let Ok(x) = object(handle) else { return Ok(()) };
    if let Object::Foreign(_, Some(destructor)) = &*x {
        destructor.call(&mut [ExtArg::Num(handle)])?;
    }
    remove(handle);
    Ok(())
}

fn num(a: &[ExtArg], i: usize) -> Result<f64, String> {
    match a.get(i) {
        Some(ExtArg::Num(v)) => Ok(*v),
        Some(ExtArg::Array { data, .. }) if data.len() == 1 => Ok(data[0]),
        _ => Err(format!("argument {} of the external function should be a scalar", i + 1)),
    }
}

fn array(a: &[ExtArg], i: usize) -> Result<(&[usize], &[f64]), String> {
    match a.get(i) {
        Some(ExtArg::Array { dims, data }) => Ok((dims, data)),
        _ => Err(format!("argument {} of the external function should be an array", i + 1)),
    }
}

fn string(a: &[ExtArg], i: usize) -> Result<Arc<str>, String> {
    Ok(strings::text(num(a, i)?))
}

fn set(a: &mut [ExtArg], i: usize, v: f64) -> Result<(), String> {
    match a.get_mut(i) {
        Some(ExtArg::Num(x)) => *x = v,
        _ => return Err(format!("argument {} of the external function should be a scalar", i + 1)),
    }
    Ok(())
}

fn set_array(a: &mut [ExtArg], i: usize, v: &[f64]) -> Result<(), String> {
    match a.get_mut(i) {
        Some(ExtArg::Array { data, .. }) if data.len() == v.len() => data.copy_from_slice(v),
        Some(ExtArg::Array { data, .. }) => {
            return Err(format!("argument {} has {} elements instead of {}", i + 1, data.len(), v.len()));
        }
        _ => return Err(format!("argument {} of the external function should be an array", i + 1)),
    }
    Ok(())
}

thread_local! {
    static WARNINGS: std::cell::RefCell<Vec<String>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// Warnings of external functions on this thread since the last time.
pub fn take_warnings() -> Vec<String> {
    WARNINGS.with_borrow_mut(|w| if w.is_empty() { Vec::new() } else { std::mem::take(w) })
}

pub(crate) fn warn(message: String) {
    WARNINGS.with_borrow_mut(|w| {
        if w.len() < 1000 {
            w.push(message);
        }
    });
}
