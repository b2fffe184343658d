//! Foreign C code: the functions of a library are compiled with the machine's C compiler into one shared object, with a
//! wrapper per function that takes all arguments in one form, so that any signature can be called:
//!
//! ```text
//! external "C" y = f(x, n)   ⇒   const char *saltus_call_0(arg *a, arg *r) { r->x[0] = f(a[0].x[0], (int)a[1].x[0]); … }
//! ```
//!
//! Records are copied into structures with members of the same kinds in the same order, and passed by pointer; whatever
//! type the C code gives them, its layout is the same.
//!
//! The object is kept in a cache under the hash of its source. `ModelicaError` leaves the wrapper by `longjmp`, never
//! through Rust. Code and libraries come from `Include` and `Library` annotations and the library's `Resources`.

#![allow(unsafe_code)]

use super::{ExtArg, ExtResult, Object, insert, object};
use crate::ir::{Dim, ExternalCall, FExpr, Function, Passing, ScalarType};
use crate::strings;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt::Write as _;
use std::hash::{BuildHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex};

/// An argument as the wrapper sees it.
#[repr(C)]
struct CArg {
    numbers: *mut f64,
    texts: *mut *const c_char,
    pointer: *mut c_void,
    len: usize,
}

type Wrapper = unsafe extern "C" fn(*mut CArg, *mut CArg) -> *const c_char;

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
}

/// The type and shape of one argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Its type.
    pub ty: ScalarType,
    /// Whether it is an array.
    pub array: bool,
    /// Written by the function.
    pub output: bool,
}

/// A member of a structure.
#[derive(Clone, Debug, PartialEq)]
enum Member {
    /// An argument, or that many elements of it.
    Value(usize, Option<usize>),
    /// A structure, or that many.
    Record(Vec<Member>, Option<usize>),
}

/// What C gets for one or several arguments.
#[derive(Clone, Debug, PartialEq)]
enum Shape {
    /// One argument.
    Plain(usize),
    /// A pointer to structures; how many elements of the first argument belong to each (nothing for a single structure).
    Record(Vec<Member>, Option<usize>),
}

/// What is called, and how.
#[derive(Clone, Debug, PartialEq)]
struct Interface {
    symbol: String,
    parameters: Vec<Parameter>,
    shapes: Vec<Shape>,
    /// A returned structure.
    returned: Option<Vec<Member>>,
    result: Option<ScalarType>,
}

/// A compiled foreign function.
#[derive(Clone)]
pub struct Foreign {
    wrapper: Wrapper,
    parameters: Vec<Parameter>,
    /// Some of them are fields of records.
    records: bool,
    result: Option<ScalarType>,
    /// Of the constructor of an object: what ends it.
    destructor: Option<Arc<Foreign>>,
}

impl std::fmt::Debug for Foreign {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "foreign function of {} arguments", self.parameters.len())
    }
}

/// Objects loaded so far, by the hash of their source.
static LOADED: LazyLock<Mutex<FxHashMap<u64, Result<usize, String>>>> = LazyLock::new(Mutex::default);

/// Serialises calls: C code may keep state, and `ModelicaError` has one way out.
static CALLS: Mutex<()> = Mutex::new(());

impl Foreign {
    /// The function number `k` of a table, compiled together with those that share its code.
    pub fn new(functions: &[Function], k: usize) -> Result<Foreign, String> {
        let (f, x) = match functions.get(k).map(|f| (f, &f.external)) {
            Some((f, Some(x))) => (f, x),
            _ => return Err("this is not an external function".into()),
        };
        if x.language != "C" {
            return Err(format!("not supported yet: external \"{}\" function {}", x.language, x.symbol));
        }
        let mut family: Vec<(&Function, &ExternalCall)> = functions
            .iter()
            .filter_map(|g| g.external.as_ref().map(|y| (g, y)))
            .filter(|(_, y)| y.same_code(x) && super::lookup(&y.symbol).is_none() && y.language == "C")
            .collect();
        family.sort_by(|a, b| a.0.name.cmp(&b.0.name));
        let mut wrappers: Vec<Interface> = Vec::new();
        let mut mine = 0;
        for (g, y) in family {
            let interface = Interface::of(g, y)?;
            let at = wrappers.iter().position(|w| *w == interface).unwrap_or_else(|| {
                wrappers.push(interface);
                wrappers.len() - 1
            });
            if std::ptr::eq(g, f) {
                mine = at;
            }
        }
        let handle = match load(x, &source(x, &wrappers)) {
            // What is missing may stand in the code of another function of the model.
            Err(e) if e.starts_with(NO_CODE) => {
                let all = with_others(functions, x);
                load(&all, &source(&all, &wrappers)).map_err(|_| e)?
            }
            r => r?,
        };
        let name = CString::new(format!("saltus_call_{mine}")).map_err(|e| e.to_string())?;
        // SAFETY: the handle comes from dlopen and is never closed.
        let symbol = unsafe { dlsym(handle as *mut c_void, name.as_ptr()) };
        if symbol.is_null() {
            return Err(format!("the compiled code of {} holds no wrapper", x.symbol));
        }
        // SAFETY: the wrapper was generated with exactly this signature.
        let wrapper = unsafe { std::mem::transmute::<*mut c_void, Wrapper>(symbol) };
        let Interface { parameters, shapes, returned, result, .. } = wrappers.swap_remove(mine);
        let records = returned.is_some() || shapes.iter().any(|s| matches!(s, Shape::Record(..)));
        let destructor = match x.destructor {
            Some(d) if d.0 as usize != k => Some(Arc::new(Foreign::new(functions, d.0 as usize)?)),
            _ => None,
        };
        Ok(Foreign { wrapper, parameters, records, result, destructor })
    }

    /// Calls a function that takes and gives single numbers, without allocating; `None` if it is another.
    pub fn call_numbers(&self, args: &[f64]) -> Option<ExtResult> {
        const MOST: usize = 8;
        let number = |ty: ScalarType| !matches!(ty, ScalarType::String | ScalarType::Object);
        let plain = |p: &Parameter| !p.array && !p.output && number(p.ty);
        if args.len() > MOST
            || self.records
            || args.len() != self.parameters.len()
            || !self.parameters.iter().all(plain)
            || !self.result.is_some_and(number)
        {
            return None;
        }
        let mut numbers = [0.0; MOST];
        numbers[..args.len()].copy_from_slice(args);
        let (none, at) = (std::ptr::null_mut(), numbers.as_mut_ptr());
        // SAFETY: as many places as there are numbers.
        let place = |k: usize| unsafe { at.add(k) };
        let mut list: [CArg; MOST] =
            std::array::from_fn(|k| CArg { numbers: place(k), texts: std::ptr::null_mut(), pointer: none, len: 1 });
        let mut value = 0.0f64;
        let mut result = CArg { numbers: &mut value, texts: std::ptr::null_mut(), pointer: none, len: 1 };
        let _one = CALLS.lock().unwrap_or_else(|e| e.into_inner());
        // SAFETY: the wrapper reads and writes only what the arguments point to, with the lengths given.
        let failure = unsafe { (self.wrapper)(list.as_mut_ptr(), &mut result) };
        if !failure.is_null() {
            // SAFETY: the wrapper's message is a zero-terminated buffer of its own.
            return Some(Err(unsafe { CStr::from_ptr(failure) }.to_string_lossy().into_owned()));
        }
        Some(Ok(value))
    }

    /// Calls it; outputs are written into the arguments.
    pub fn call(&self, args: &mut [ExtArg]) -> ExtResult {
        if args.len() != self.parameters.len() {
            return Err(format!("{} arguments instead of {}", args.len(), self.parameters.len()));
        }
        let mut numbers: Vec<Vec<f64>> = Vec::with_capacity(args.len());
        let mut kept: Vec<CString> = Vec::new();
        let mut texts: Vec<Vec<*const c_char>> = Vec::with_capacity(args.len());
        let mut pointers: Vec<*mut c_void> = Vec::with_capacity(args.len());
        for (a, p) in args.iter().zip(&self.parameters) {
            let data = match a {
                ExtArg::Num(v) => vec![*v],
                ExtArg::Array { data, .. } => data.clone(),
            };
            let mut own = Vec::new();
            let mut pointer = std::ptr::null_mut();
            match p.ty {
                ScalarType::String => {
                    for &h in &data {
                        let text = CString::new(strings::text(h).as_bytes()).unwrap_or_default();
                        own.push(text.as_ptr());
                        kept.push(text);
                    }
                }
                ScalarType::Object => match &*object(data[0])? {
                    Object::Foreign(p, _) => pointer = *p as *mut c_void,
                    _ => return Err("this external object belongs to another function".into()),
                },
                _ => {}
            }
            numbers.push(data);
            texts.push(own);
            pointers.push(pointer);
        }
        let mut list: Vec<CArg> = numbers
            .iter_mut()
            .zip(&mut texts)
            .zip(&pointers)
            .map(|((x, s), p)| CArg { numbers: x.as_mut_ptr(), texts: s.as_mut_ptr(), pointer: *p, len: x.len() })
            .collect();
        let (mut value, mut text) = (0.0f64, std::ptr::null::<c_char>());
        let mut result = CArg { numbers: &mut value, texts: &mut text, pointer: std::ptr::null_mut(), len: 1 };
        let back = |s: *const c_char| -> f64 {
            if s.is_null() {
                return strings::intern("");
            }
            // SAFETY: C functions return zero-terminated strings.
            strings::intern(&unsafe { CStr::from_ptr(s) }.to_string_lossy())
        };
        let _one = CALLS.lock().unwrap_or_else(|e| e.into_inner());
        // SAFETY: the wrapper reads and writes only what the arguments point to, with the lengths given.
        let failure = unsafe { (self.wrapper)(list.as_mut_ptr(), &mut result) };
        if !failure.is_null() {
            // SAFETY: the wrapper's message is a zero-terminated buffer of its own.
            return Err(unsafe { CStr::from_ptr(failure) }.to_string_lossy().into_owned());
        }
        for (k, p) in self.parameters.iter().enumerate().filter(|(_, p)| p.output) {
            if p.ty == ScalarType::String {
                for (x, s) in numbers[k].iter_mut().zip(&texts[k]) {
                    *x = back(*s);
                }
            }
            match &mut args[k] {
                ExtArg::Num(v) => *v = numbers[k][0],
                ExtArg::Array { data, .. } => data.copy_from_slice(&numbers[k]),
            }
        }
        Ok(match self.result {
            Some(ScalarType::String) => back(text),
            Some(ScalarType::Object) => insert(Object::Foreign(result.pointer as usize, self.destructor.clone())),
            Some(_) => value,
            None => 0.0,
        })
    }
}

/// Compiles every foreign function of a table; the errors, with the function's number.
pub fn prepare(functions: &[Function]) -> Vec<(usize, String)> {
    let foreign = |f: &Function| f.external.as_ref().is_some_and(|x| super::lookup(&x.symbol).is_none());
    (0..functions.len())
        .filter(|&k| foreign(&functions[k]))
        .filter_map(|k| Foreign::new(functions, k).err().map(|e| (k, e)))
        .collect()
}

impl Interface {
    fn of(f: &Function, x: &ExternalCall) -> Result<Interface, String> {
        let parameters = parameters(f, x)?;
        for a in &x.args {
            if let FExpr::Local(l) = a
                && let local = &f.locals[l.0 as usize]
                && local.dims.iter().any(|d| matches!(d, Dim::Free))
                && !f.inputs.contains(l)
            {
                return Err(format!("the size of {} is not known", local.name));
            }
        }
        let mut at = 0;
        let mut shapes = x.passing.iter().map(|p| shape(f, x, p, &mut at)).collect::<Result<Vec<_>, _>>()?;
        shapes.extend((at..parameters.len()).map(Shape::Plain));
        let returned = match shapes.pop_if(|_| x.returns_record) {
            Some(Shape::Record(members, _)) => Some(members),
            _ => None,
        };
        let result = x.result.map(|r| f.locals[r.0 as usize].ty);
        Ok(Interface { symbol: x.symbol.clone(), parameters, shapes, returned, result })
    }
}

fn shape(f: &Function, x: &ExternalCall, p: &Passing, at: &mut usize) -> Result<Shape, String> {
    let first = *at;
    Ok(match p {
        Passing::Plain => {
            *at += 1;
            Shape::Plain(first)
        }
        Passing::Record { rank, fields } => {
            let members = fields.iter().map(|p| member(f, x, p, at, *rank)).collect::<Result<Vec<_>, _>>()?;
            let each = if *rank == 0 { None } else { Some(elements(&members)) };
            Shape::Record(members, each)
        }
    })
}

/// A member of a structure below `lead` dimensions.
fn member(f: &Function, x: &ExternalCall, p: &Passing, at: &mut usize, lead: usize) -> Result<Member, String> {
    let length = |to: Option<usize>| -> Result<Option<usize>, String> {
        let Some(FExpr::Local(l)) = x.args.get(*at) else { return Ok(None) };
        let local = &f.locals[l.0 as usize];
        if matches!(local.ty, ScalarType::Object) {
            return Err(format!("not supported yet: {} is an external object inside a record for C", local.name));
        }
        let own = &local.dims[lead.min(local.dims.len())..to.unwrap_or(local.dims.len())];
        let fixed = own.iter().map(|d| if let Dim::Fixed(n) = d { Some(*n) } else { None });
        match fixed.product::<Option<usize>>() {
            Some(n) => Ok((!own.is_empty()).then_some(n)),
            None => Err(format!("the size of {} must be fixed: it is a member of a structure in C", local.name)),
        }
    };
    Ok(match p {
        Passing::Plain => {
            let m = Member::Value(*at, length(None)?);
            *at += 1;
            m
        }
        Passing::Record { rank, fields } => {
            let count = length(Some(lead + rank))?;
            let members = fields.iter().map(|p| member(f, x, p, at, lead + rank)).collect::<Result<Vec<_>, _>>()?;
            Member::Record(members, count)
        }
    })
}

/// How many elements of its first argument one structure takes.
fn elements(members: &[Member]) -> usize {
    match members.first() {
        Some(Member::Value(_, n)) => n.unwrap_or(1),
        Some(Member::Record(m, n)) => n.unwrap_or(1) * elements(m),
        None => 1,
    }
}

/// The first argument of a structure.
fn first_argument(members: &[Member]) -> Option<usize> {
    members.iter().find_map(|m| match m {
        Member::Value(k, _) => Some(*k),
        Member::Record(m, _) => first_argument(m),
    })
}

/// The declarations of the members of a structure.
fn declarations(members: &[Member], parameters: &[Parameter]) -> String {
    let mut out = String::new();
    for (k, m) in members.iter().enumerate() {
        let (ty, n) = match m {
            Member::Value(a, n) => (c_type(parameters[*a].ty).to_string(), n),
            Member::Record(m, n) => (format!("struct {{ {}}}", declarations(m, parameters)), n),
        };
        let _ = write!(out, "{ty} m{k}{}; ", n.map(|n| format!("[{n}]")).unwrap_or_default());
    }
    out
}

/// Code that copies arguments into the structure `place`, number `index` of its kind, or back.
fn copies(members: &[Member], parameters: &[Parameter], place: &str, index: &str, back: bool, out: &mut String) {
    let k = format!("k{}", place.matches('[').count());
    let each = |n: usize| format!("for (size_t {k} = 0; {k} < {n}; ++{k}) ");
    for (j, m) in members.iter().enumerate() {
        let place = format!("{place}.m{j}");
        match m {
            Member::Value(a, n) => {
                let ty = parameters[*a].ty;
                let from = if ty == ScalarType::String { "s" } else { "x" };
                let (place, index, loops) = match n {
                    Some(n) => (format!("{place}[{k}]"), format!("({index})*{n} + {k}"), each(*n)),
                    None => (place, index.to_string(), String::new()),
                };
                let value = format!("a[{a}].{from}[{index}]");
                let _ = match back {
                    true => writeln!(out, "  {loops}{value} = {place};"),
                    false => writeln!(out, "  {loops}{place} = ({}){value};", c_type(ty)),
                };
            }
            Member::Record(m, None) => copies(m, parameters, &place, index, back, out),
            Member::Record(m, Some(n)) => {
                let _ = writeln!(out, "  {}{{", each(*n));
                copies(m, parameters, &format!("{place}[{k}]"), &format!("({index})*{n} + {k}"), back, out);
                out.push_str("  }\n");
            }
        }
    }
}

/// The arguments of an external function as C takes them.
pub fn parameters(f: &Function, x: &ExternalCall) -> Result<Vec<Parameter>, String> {
    let mut list = Vec::new();
    for a in &x.args {
        list.push(match a {
            FExpr::Local(l) => {
                let local = &f.locals[l.0 as usize];
                if local.ty == ScalarType::Object && !local.dims.is_empty() {
                    return Err("arrays of external objects cannot be passed to C".into());
                }
                Parameter { ty: local.ty, array: !local.dims.is_empty(), output: !f.inputs.contains(l) }
            }
            FExpr::Str(_) => Parameter { ty: ScalarType::String, array: false, output: false },
            FExpr::Builtin(crate::ir::Builtin::Size | crate::ir::Builtin::Ndims, _) => {
                Parameter { ty: ScalarType::Integer, array: false, output: false }
            }
            FExpr::Num(v) if v.fract() == 0.0 => Parameter { ty: ScalarType::Integer, array: false, output: false },
            FExpr::Index(base, _) => match &**base {
                FExpr::Local(l) => Parameter { ty: f.locals[l.0 as usize].ty, array: false, output: false },
                _ => Parameter { ty: ScalarType::Real, array: false, output: false },
            },
            _ => Parameter { ty: ScalarType::Real, array: false, output: false },
        });
    }
    Ok(list)
}

fn c_type(ty: ScalarType) -> &'static str {
    match ty {
        ScalarType::Real => "double",
        ScalarType::Integer | ScalarType::Boolean | ScalarType::Enumeration => "int",
        ScalarType::String => "const char *",
        ScalarType::Object => "void *",
    }
}

const UTILITIES: &str = r#"#include <stdarg.h>
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
void ModelicaMessage(const char *string);
void ModelicaWarning(const char *string);
void ModelicaError(const char *string);
void ModelicaFormatMessage(const char *string, ...);
void ModelicaFormatWarning(const char *string, ...);
void ModelicaFormatError(const char *string, ...);
void ModelicaVFormatMessage(const char *string, va_list args);
void ModelicaVFormatWarning(const char *string, va_list args);
void ModelicaVFormatError(const char *string, va_list args);
char *ModelicaAllocateString(size_t len);
char *ModelicaAllocateStringWithErrorReturn(size_t len);
char *ModelicaDuplicateString(const char *string);
char *ModelicaDuplicateStringWithErrorReturn(const char *string);
#ifdef __cplusplus
}
#endif
"#;

const RUNTIME: &str = r#"#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct { double *x; const char **s; void *p; size_t n; } saltus_arg;
static jmp_buf saltus_escape;
static char saltus_text[8192];
void ModelicaMessage(const char *s) { fputs(s, stderr); fputc('\n', stderr); }
void ModelicaWarning(const char *s) { fputs("warning: ", stderr); ModelicaMessage(s); }
void ModelicaError(const char *s) { snprintf(saltus_text, sizeof saltus_text, "%s", s); longjmp(saltus_escape, 1); }
void ModelicaVFormatMessage(const char *s, va_list a) { vfprintf(stderr, s, a); fputc('\n', stderr); }
void ModelicaVFormatWarning(const char *s, va_list a) { fputs("warning: ", stderr); ModelicaVFormatMessage(s, a); }
void ModelicaVFormatError(const char *s, va_list a) { vsnprintf(saltus_text, sizeof saltus_text, s, a); longjmp(saltus_escape, 1); }
void ModelicaFormatMessage(const char *s, ...) { va_list a; va_start(a, s); ModelicaVFormatMessage(s, a); va_end(a); }
void ModelicaFormatWarning(const char *s, ...) { va_list a; va_start(a, s); ModelicaVFormatWarning(s, a); va_end(a); }
void ModelicaFormatError(const char *s, ...) { va_list a; va_start(a, s); ModelicaVFormatError(s, a); va_end(a); }
char *ModelicaAllocateStringWithErrorReturn(size_t n) { return calloc(n + 1, 1); }
char *ModelicaAllocateString(size_t n) { char *s = calloc(n + 1, 1); if (!s) ModelicaError("out of memory"); return s; }
char *ModelicaDuplicateStringWithErrorReturn(const char *t) { char *s = malloc(strlen(t) + 1); return s ? strcpy(s, t) : 0; }
char *ModelicaDuplicateString(const char *t) { return strcpy(ModelicaAllocateString(strlen(t)), t); }
"#;

/// The standard library's way to tables that C code holds, if that code has a function `usertab`.
const USERTAB: &str = r#"
extern int usertab(char *name, int nipo, int dim[], int *columns, double **table) __attribute__((weak));
const char *saltus_usertab(char *name, int nipo, int *dim, int *columns, double **table) {
  if (!usertab) return "there is no function usertab";
  if (setjmp(saltus_escape)) return saltus_text;
  usertab(name, nipo, dim, columns, table);
  return 0;
}
"#;

/// The table of this name that a C function `usertab` gives: rows, columns, and the elements row by row. `kind` is 0 for
/// time tables, 1 and 2 for tables of one and two abscissas. Nothing if no loaded code has such a function.
pub(super) fn user_table(name: &str, kind: c_int) -> Option<Result<(usize, usize, Vec<f64>), String>> {
    type User = unsafe extern "C" fn(*mut c_char, c_int, *mut c_int, *mut c_int, *mut *mut f64) -> *const c_char;
    let handles: Vec<usize> =
        LOADED.lock().unwrap_or_else(|e| e.into_inner()).values().filter_map(|h| h.clone().ok()).collect();
    let symbol = handles.into_iter().find_map(|h| {
        // SAFETY: the handle comes from dlopen and is never closed.
        let s = unsafe { dlsym(h as *mut c_void, c"saltus_usertab".as_ptr()) };
        (!s.is_null()).then_some(s)
    })?;
    // SAFETY: the wrapper was generated with exactly this signature.
    let call = unsafe { std::mem::transmute::<*mut c_void, User>(symbol) };
    let text = CString::new(name).ok()?.into_raw();
    let (mut dims, mut columns, mut table) = ([0; 2], 0, std::ptr::null_mut());
    let _guard = CALLS.lock().unwrap_or_else(|e| e.into_inner());
    // SAFETY: all pointers are valid for the call; the name is given back to Rust after it.
    let error = unsafe {
        let error = call(text, kind, dims.as_mut_ptr(), &mut columns, &mut table);
        drop(CString::from_raw(text));
        (!error.is_null()).then(|| CStr::from_ptr(error).to_string_lossy().into_owned())
    };
    if let Some(e) = error {
        return Some(Err(e.trim().to_string()));
    }
    let [rows, cols] = dims.map(|d| usize::try_from(d).unwrap_or(0));
    if table.is_null() || rows == 0 || cols == 0 {
        return Some(Err(format!("usertab gave no table {name}")));
    }
    // SAFETY: the function says that the table has this many elements.
    let data = unsafe { std::slice::from_raw_parts(table, rows * cols) };
    let at = |k: usize| if columns == 0 { k } else { k % cols * rows + k / cols };
    Some(Ok((rows, cols, (0..rows * cols).map(|k| data[at(k)]).collect())))
}

/// The C source of the wrappers of a family.
fn source(x: &ExternalCall, wrappers: &[Interface]) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "#include \"ModelicaUtilities.h\"\n{RUNTIME}");
    for i in &x.includes {
        let _ = writeln!(out, "{i}");
    }
    if x.includes.iter().any(|i| i.contains("usertab")) {
        out.push_str(USERTAB);
    }
    for (k, f) in wrappers.iter().enumerate() {
        wrapper(k, f, x.includes.is_empty(), &mut out);
    }
    out
}

/// The wrapper number `k`; `bare` if no include declares the function.
fn wrapper(k: usize, f: &Interface, bare: bool, out: &mut String) {
    let (symbol, parameters) = (&f.symbol, &f.parameters);
    if let Some(members) = &f.returned {
        let _ = writeln!(out, "struct saltus_result_{k} {{ {}}};", declarations(members, parameters));
    }
    if bare {
        let ty = |s: &Shape| match s {
            Shape::Plain(i) => {
                let p = &parameters[*i];
                format!("{}{}", c_type(p.ty), if p.array || p.output { "*" } else { "" })
            }
            Shape::Record(..) => "void *".to_string(),
        };
        let list: Vec<String> = f.shapes.iter().map(ty).collect();
        let list = if list.is_empty() { "void".into() } else { list.join(", ") };
        let result = match &f.returned {
            Some(_) => format!("struct saltus_result_{k}"),
            None => f.result.map_or("void", c_type).to_string(),
        };
        let _ = writeln!(out, "extern {result} {symbol}({list});");
    }
    let _ = writeln!(out, "const char *saltus_call_{k}(saltus_arg *a, saltus_arg *r) {{");
    let mut call = Vec::new();
    let (mut before, mut after) = (String::new(), String::new());
    for (n, shape) in f.shapes.iter().enumerate() {
        let i = match shape {
            Shape::Plain(i) => *i,
            Shape::Record(members, each) => {
                let first = first_argument(members);
                let count = match (each, first) {
                    (Some(each), Some(i)) => format!("a[{i}].n / {}", (*each).max(1)),
                    _ => "1".into(),
                };
                let fields = declarations(members, parameters);
                let _ = writeln!(before, "  size_t n{n} = {count}; struct s{n} {{ {fields}}};");
                let _ = writeln!(before, "  struct s{n} *r{n} = calloc(n{n} + 1, sizeof *r{n});");
                let copy = |back: bool, into: &mut String| {
                    let _ = writeln!(into, "  for (size_t k0 = 0; k0 < n{n}; ++k0) {{");
                    copies(members, parameters, &format!("r{n}[k0]"), "k0", back, into);
                    into.push_str("  }\n");
                };
                copy(false, &mut before);
                if first.is_some_and(|i| parameters[i].output) {
                    copy(true, &mut after);
                }
                let _ = writeln!(after, "  free(r{n});");
                call.push(format!("(void *)r{n}"));
                continue;
            }
        };
        let p = &parameters[i];
        let int = c_type(p.ty) == "int";
        call.push(match (p.ty, p.array, p.output) {
            (ScalarType::Object, _, false) => format!("a[{i}].p"),
            (ScalarType::Object, _, true) => format!("&a[{i}].p"),
            (ScalarType::String, false, false) => format!("a[{i}].s[0]"),
            (ScalarType::String, ..) => format!("a[{i}].s"),
            (_, false, false) if int => format!("(int)a[{i}].x[0]"),
            (_, false, false) => format!("a[{i}].x[0]"),
            _ if int => {
                let _ = writeln!(
                    before,
                    "  int *i{i} = malloc((a[{i}].n + 1) * sizeof(int)); for (size_t k = 0; k < a[{i}].n; ++k) i{i}[k] = (int)a[{i}].x[k];"
                );
                let _ =
                    writeln!(after, "  for (size_t k = 0; k < a[{i}].n; ++k) a[{i}].x[k] = i{i}[k];\n  free(i{i});");
                format!("i{i}")
            }
            _ => format!("a[{i}].x"),
        });
    }
    let call = format!("{symbol}({})", call.join(", "));
    let _ = writeln!(out, "  if (setjmp(saltus_escape)) return saltus_text;\n{before}");
    if let Some(members) = &f.returned {
        let _ = writeln!(out, "  struct saltus_result_{k} y[1]; __typeof__({call}) given = {call};");
        let _ = writeln!(
            out,
            "  _Static_assert(sizeof given == sizeof y, \"the structure has other members than the record\");"
        );
        let _ = writeln!(out, "  memcpy(y, &given, sizeof y);");
        copies(members, parameters, "y[0]", "0", true, out);
    } else {
        let target = match f.result {
            None => "",
            Some(ScalarType::String) => "r->s[0] = ",
            Some(ScalarType::Object) => "r->p = (void *)",
            Some(_) => "r->x[0] = ",
        };
        let _ = writeln!(out, "  {target}{call};");
    }
    let _ = writeln!(out, "{after}  return 0;\n}}");
}

/// How the message about a symbol without code begins.
const NO_CODE: &str = "there is no C code for";

/// An external function with the code of all others: they belong to one program.
fn with_others(functions: &[Function], x: &ExternalCall) -> ExternalCall {
    let mut all = x.clone();
    let mut others: Vec<&Function> = functions.iter().filter(|f| f.external.is_some()).collect();
    others.sort_by(|a, b| a.name.cmp(&b.name));
    for y in others.into_iter().filter_map(|f| f.external.as_ref()) {
        if super::lookup(&y.symbol).is_some() || y.language != "C" {
            continue;
        }
        let lists = [
            (&mut all.includes, &y.includes),
            (&mut all.libraries, &y.libraries),
            (&mut all.include_dirs, &y.include_dirs),
            (&mut all.library_dirs, &y.library_dirs),
            (&mut all.source_dirs, &y.source_dirs),
        ];
        for (mine, theirs) in lists {
            mine.extend(theirs.iter().filter(|t| !mine.contains(t)).cloned().collect::<Vec<_>>());
        }
    }
    all
}

/// The wrapper of an external function for a file of C code: `saltus_call_{k}(saltus_arg *a, saltus_arg *r)`, which is to be called
/// where `ModelicaError` has a way out. It declares what it calls if nothing that is included does.
pub fn wrapper_c(f: &Function, x: &ExternalCall, k: usize, declare: bool) -> Result<String, String> {
    if super::lookup(&x.symbol).is_some() || x.language != "C" {
        return Err("external code".into());
    }
    let interface = Interface::of(f, x)?;
    let mut out = String::new();
    wrapper(k, &interface, declare && x.includes.is_empty() && x.libraries.is_empty(), &mut out);
    let out = out.replace("const char *saltus_call_", "static const char *saltus_call_");
    Ok(out.replace("  if (setjmp(saltus_escape)) return saltus_text;\n", "  (void)a; (void)r;\n"))
}

/// The code of an external function with the files it includes and the source of its libraries, for a file that depends on
/// nothing. What is in `known` already is left out.
pub fn code_c(x: &ExternalCall, known: &mut Vec<String>) -> Result<String, String> {
    let mut out = String::new();
    for i in &x.includes {
        splice(i, x, known, &mut out);
    }
    for library in x.libraries.iter().filter(|l| !l.is_empty() && *l != "m") {
        let places =
            x.source_dirs.iter().flat_map(|d| [format!("{d}/{library}.c"), format!("{d}/{library}/{library}.c")]);
        match places.into_iter().find_map(|p| std::fs::read_to_string(p).ok()) {
            Some(text) => splice(&text, x, known, &mut out),
            None => return Err(format!("the compiled library {library}")),
        }
    }
    Ok(out)
}

fn splice(text: &str, x: &ExternalCall, known: &mut Vec<String>, out: &mut String) {
    if known.iter().any(|k| k == text) {
        return;
    }
    known.push(text.to_string());
    for line in text.lines() {
        let name = line.trim().strip_prefix("#include").and_then(|l| l.trim().strip_prefix('"')?.strip_suffix('"'));
        let file =
            name.and_then(|n| x.include_dirs.iter().find_map(|d| std::fs::read_to_string(format!("{d}/{n}")).ok()));
        match (name, file) {
            // The file has these itself.
            (Some("ModelicaUtilities.h"), _) => {}
            (_, Some(file)) => splice(&file, x, known, out),
            _ => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
}

/// Where compiled objects are kept.
fn cache() -> PathBuf {
    saltus_base::cache_folder().join("external")
}

fn load(x: &ExternalCall, source: &str) -> Result<usize, String> {
    let (flags, inputs) = link(x)?;
    let mut h = rustc_hash::FxHasher::default();
    (source, &flags, UTILITIES).hash(&mut h);
    for p in inputs.iter().chain(&headers(x)) {
        std::fs::read(p).unwrap_or_default().hash(&mut h);
    }
    let key = h.finish();
    let mut loaded = LOADED.lock().unwrap_or_else(|e| e.into_inner());
    loaded.entry(key).or_insert_with(|| compile(x, source, &flags, key)).clone()
}

/// Header files that the code may include: a change of them asks for a new compilation.
fn headers(x: &ExternalCall) -> Vec<PathBuf> {
    let mut out: Vec<PathBuf> = x
        .include_dirs
        .iter()
        .filter_map(|d| std::fs::read_dir(d).ok())
        .flatten()
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.extension().is_some_and(|e| e == "h" || e == "c"))
        .collect();
    out.sort();
    out
}

/// What to hand to the compiler besides the wrappers, and the files among it.
fn link(x: &ExternalCall) -> Result<(Vec<String>, Vec<PathBuf>), String> {
    let mut flags: Vec<String> = x.include_dirs.iter().map(|d| format!("-I{d}")).collect();
    let mut files = Vec::new();
    for library in x.libraries.iter().filter(|l| !l.is_empty() && *l != "m") {
        let platform = if cfg!(target_pointer_width = "64") { "linux64" } else { "linux32" };
        let places = x.library_dirs.iter().flat_map(|d| [format!("{d}/{platform}"), d.clone()]);
        let archive = places
            .flat_map(|d| [format!("{d}/lib{library}.a"), format!("{d}/lib{library}.so"), format!("{d}/{library}")])
            .find(|p| Path::new(p).is_file());
        let code =
            x.source_dirs.iter().flat_map(|d| [format!("{d}/{library}.c"), format!("{d}/{library}/{library}.c")]);
        match archive.or_else(|| code.into_iter().find(|p| Path::new(p).is_file())) {
            Some(p) => {
                if let (true, Some(dir)) = (p.ends_with(".so"), Path::new(&p).parent()) {
                    flags.push(format!("-Wl,-rpath,{}", dir.display()));
                }
                files.push(PathBuf::from(&p));
                flags.push(p);
            }
            None => flags.push(format!("-l{library}")),
        }
    }
    // The same bytes are records of the wrapper and structures of the code.
    flags.push("-fno-strict-aliasing".into());
    flags.push("-lm".into());
    Ok((flags, files))
}

fn compile(x: &ExternalCall, source: &str, flags: &[String], key: u64) -> Result<usize, String> {
    if !cfg!(unix) {
        return Err("not supported yet: foreign C code on this platform".into());
    }
    let dir = cache();
    let say = |e: std::io::Error| format!("cannot write to the cache {}: {e}", dir.display());
    let object = dir.join(format!("{key:016x}.so"));
    if !object.exists() {
        // Files get their names when they are finished, so that two processes do not meet half of one.
        let process = std::process::id();
        let include = dir.join(format!("include-{:016x}", FxBuildHasher.hash_one(UTILITIES)));
        std::fs::create_dir_all(&include).map_err(say)?;
        let header = include.join("ModelicaUtilities.h");
        if !header.exists() {
            let fresh = include.join(format!("{process}.h"));
            std::fs::write(&fresh, UTILITIES).map_err(say)?;
            std::fs::rename(&fresh, &header).map_err(say)?;
        }
        let c = dir.join(format!("{key:016x}.{process}.c"));
        std::fs::write(&c, source).map_err(say)?;
        let fresh = dir.join(format!("{key:016x}.{process}.so"));
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
        let out = Command::new(&compiler)
            .args(["-shared", "-fPIC", "-O2", "-w", "-o"])
            .arg(&fresh)
            .arg(format!("-I{}", include.display()))
            .arg(&c)
            .args(flags)
            .output()
            .map_err(|e| format!("the external function {} needs a C compiler, but {compiler}: {e}", x.symbol))?;
        if !out.status.success() {
            let text = String::from_utf8_lossy(&out.stderr);
            // The place is one in the generated file; what is wrong stands behind it.
            let what = text.lines().find_map(|l| l.split_once("error: ").map(|x| x.1));
            let what = what.or_else(|| text.lines().find(|l| l.contains("undefined") || l.contains("cannot find")));
            return Err(format!(
                "the C code of the external function {} does not compile: {}",
                x.symbol,
                what.or_else(|| text.lines().next()).unwrap_or("no message").trim()
            ));
        }
        std::fs::rename(&fresh, &object).map_err(say)?;
        let _ = std::fs::rename(&c, dir.join(format!("{key:016x}.c")));
    }
    let path = CString::new(object.to_string_lossy().as_bytes()).map_err(|e| e.to_string())?;
    const NOW: c_int = 2;
    // SAFETY: loading runs the object's constructors, which is what calling foreign code means.
    let handle = unsafe { dlopen(path.as_ptr(), NOW) };
    if handle.is_null() {
        // Perhaps a library is added; the next run compiles again.
        let _ = std::fs::remove_file(&object);
        // SAFETY: dlerror gives a zero-terminated string after a failure.
        let why = unsafe { CStr::from_ptr(dlerror()) }.to_string_lossy().into_owned();
        if let Some((_, symbol)) = why.split_once("undefined symbol: ") {
            return Err(format!(
                "{NO_CODE} {symbol}: name it in an Include or Library annotation of the external function"
            ));
        }
        return Err(format!("the code of the external function {} cannot be loaded: {why}", x.symbol));
    }
    Ok(handle as usize)
}
