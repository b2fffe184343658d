//! Functions of the model as C99, from the same lowered form as machine code.
//!
//! Every operation becomes a statement with a name of its own, in the order of the executor. With derivatives each number is a
//! pair; the runtime (`functions.c`, `arrays.c`) has both kinds. Arrays lie in an arena whose top is taken back after
//! each statement. A failure (an assertion, a subscript out of range) leaves all calls at once: the call gives NaN and its
//! message is kept.

use crate::c::{binary_c, literal_c, quoted_c, unary_c};
use crate::function::{combine, empty};
use crate::provided_c::{Pieces, has_slope, is_provided};
use crate::table_c::{Slope, TableCall, table_call, tables_c};
use rustc_hash::FxHashMap;
use saltus_expr::{Binary, FuncId, Unary};
use saltus_function::external::foreign::{self, Parameter};
use saltus_function::external::impure_generators;
use saltus_function::lower::{Arg, Ax, DimCode, ExtCode, Init, Iter, Ix, Lowered, Op2, Slot, St, Stmt, Sx, Target};
use saltus_function::{Executor, ExternalCall, Function, Passing, ScalarType, strings};
use saltus_program::Passage;
use std::fmt::Write;

const RUNTIME: &str = include_str!("functions.c");
const ARRAYS: &str = include_str!("arrays.c");
const TEXTS: &str = include_str!("texts.c");
const ARGUMENTS: &str = include_str!("arguments.c");
const FOREIGN: &str = include_str!("foreign.c");

/// What distributions are in C: to be put before [`functions_c`], with `SALTUS_FLOWS` defined.
pub const FLOWS_C: &str = include_str!("flows.c");

/// The name of a random generator of the library, and how many numbers its state has.
fn random_call(symbol: &str) -> Option<(&str, usize)> {
    let name = symbol.strip_prefix("ModelicaRandom_")?;
    let list = [("xorshift64star", 2), ("xorshift128plus", 4), ("xorshift1024star", 33)];
    list.into_iter().find(|r| r.0 == name)
}

/// A function that kernels call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Called {
    /// Which.
    pub func: FuncId,
    /// Whether its directional derivative is meant.
    pub dual: bool,
    /// Number of scalar arguments.
    pub args: usize,
    /// Number of scalar outputs that are read, from the first on.
    pub outs: usize,
}

/// Why a function has no C form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotInC {
    /// The function.
    pub func: FuncId,
    /// What it does that has no C form.
    pub what: String,
}

/// An external object of foreign code: its number, and what makes and ends it.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectC {
    /// The number that the values of the model know it by.
    pub handle: f64,
    /// The constructor.
    pub constructor: FuncId,
    /// Its arguments.
    pub args: Vec<f64>,
}

/// The destructor of an object, if it has one.
fn destructor(functions: &[Function], x: &ObjectC) -> Option<FuncId> {
    functions.get(x.constructor.0 as usize)?.external.as_ref()?.destructor
}

/// What begins and ends external objects, `saltus_begin(c)` and `saltus_end(c)`, and what finds them again by their constructor
/// and its arguments.
fn objects_c(functions: &[Function], objects: &[ObjectC]) -> String {
    let (mut args, mut table, mut begin, mut end) = (String::new(), String::new(), String::new(), String::new());
    for (k, x) in objects.iter().enumerate() {
        let list: Vec<String> = x.args.iter().map(|v| literal_c(*v)).chain(["0.0".into()]).collect();
        let (func, n) = (x.constructor.0, x.args.len());
        let _ = writeln!(args, "static const double object{k}_args[] = {{{}}};", list.join(", "));
        let _ = writeln!(table, "  {{{func}u, {n}, object{k}_args}},");
        let _ = writeln!(begin, "  if (saltus_run(c, r_run{func}, object{k}_args, {n})) return;");
        let ends = destructor(functions, x)
            .map(|d| format!("(void)saltus_run(c, r_run{}, &saltus_handles[{k}], 1); ", d.0))
            .unwrap_or_default();
        let _ = writeln!(end, "  if (c->objects > {k}) {{ {ends}c->objects = {k}; }}");
    }
    // What was made last ends first.
    let end: String = end.lines().rev().map(|l| format!("{l}\n")).collect();
    format!(
        "{args}static const struct {{ uint32_t func; size_t n; const double *args; }} saltus_objects[] = {{\n{table}}};\nstatic double saltus_object_of(saltus_functions *c, uint32_t func, const double *args, size_t n) {{\n  for (int k = 0; k < c->objects; k++)\n    if (saltus_objects[k].func == func && saltus_objects[k].n == n && memcmp(saltus_objects[k].args, args, n * sizeof *args) == 0) return saltus_handles[k];\n  c->message = \"an external object is made while the model runs\";\n  return NAN;\n}}\nstatic void saltus_begin(saltus_functions *c) {{\n  c->objects = 0;\n{begin}}}\nstatic void saltus_end(saltus_functions *c) {{\n{end}}}\n"
    )
}

/// Whether an external function says nothing of where its code is.
fn is_bare(x: &ExternalCall) -> bool {
    x.includes.is_empty() && x.libraries.iter().all(|l| l == "m")
}

/// Other external functions whose code defines what a bare one calls: they belong to one program.
fn code_elsewhere<'a>(functions: &'a [Function], x: &ExternalCall) -> Vec<&'a ExternalCall> {
    let others = functions.iter().filter_map(|f| f.external.as_ref());
    let defines = |y: &&ExternalCall| y.language == "C" && y.includes.iter().any(|i| i.contains(&x.symbol));
    if is_bare(x) { others.filter(defines).collect() } else { Vec::new() }
}

/// An external function that can be part of the file: the code is in the annotation `Include`, in files that it names, or in the C
/// library; much of the standard library is there as functions of the file itself ([`crate::provided_c`]).
///
/// C code of single numbers is called as it is. Other code takes all arguments in one form; these are returned then.
fn external_c<'a>(
    functions: &[Function],
    f: &'a Function,
    l: &Lowered,
) -> Result<(&'a ExternalCall, Option<Vec<Parameter>>), String> {
    const LIBRARY: [&str; 32] = [
        "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp",
        "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "pow", "hypot", "fabs", "floor", "ceil",
        "round", "trunc", "fmod", "erf", "tgamma",
    ];
    let code =
        || format!("external code{}", f.external.as_ref().map(|x| format!(": {}", x.symbol)).unwrap_or_default());
    let (Some(x), Some(lowered)) = (&f.external, &l.external) else { return Err(code()) };
    let scalar = |a: &Arg| matches!(a, Arg::S(Sx::Local(_) | Sx::Num(_)));
    let one = matches!(&l.outputs[..], [o] if Some(o.slot) == lowered.result.map(Slot::S));
    if is_provided(&x.symbol) {
        return Ok((x, Some(foreign::parameters(f, x)?)));
    }
    // The state before; the state after and a number.
    if random_call(&x.symbol).is_some()
        && matches!(&l.inputs[..], [i] if matches!(i.slot, Slot::A(_)))
        && l.outputs.len() == 2
        && l.outputs.iter().filter(|o| matches!(o.slot, Slot::A(_))).count() == 1
    {
        return Ok((x, None));
    }
    let numbers = one
        && x.language == "C"
        && x.passing.iter().all(|p| *p == Passing::Plain)
        && lowered.args.iter().all(scalar)
        && lowered.back.iter().all(Option::is_none)
        && l.inputs.iter().all(|i| matches!(i.slot, Slot::S(_)))
        && l.entry.is_empty();
    if numbers && table_call(&x.symbol).is_some() {
        return Ok((x, None));
    }
    let simple = numbers && !l.has_object && !l.impure;
    let text = f.locals.iter().any(|v| v.ty == ScalarType::String);
    let library = x.includes.is_empty() && LIBRARY.contains(&&*x.symbol);
    if simple && !text && library {
        return Ok((x, None));
    }
    let known = saltus_function::external::lookup(&x.symbol).is_some();
    if x.language != "C" || known || (is_bare(x) && !library && code_elsewhere(functions, x).is_empty()) {
        return Err(code());
    }
    // Code in the annotation itself, not in a file of its own.
    let inside = x.includes.iter().any(|i| i.contains(&x.symbol) && i.contains('{') && !i.contains("Modelica"));
    if simple && !text && inside && x.libraries.is_empty() {
        return Ok((x, None));
    }
    Ok((x, Some(foreign::parameters(f, x)?)))
}

/// The functions that kernels call, and all those call, as C: to be put after [`crate::PRELUDE_C`] and before the kernels. The text
/// defines `saltus_functions`, a structure with their memory, and `saltus_call` and `saltus_call_der` for a
/// `saltus_host` whose `self` points to one (cleared). Failed calls give NaN and set its `message`. Tables among the `objects`,
/// given by their handles, become data; those `made` by foreign code begin with `saltus_begin` and end with `saltus_end`. Of `shared` calls (function, call, result) the call evaluates and the result reads.
/// The functions `flows` read distributions, by their number, at both ends ([`FLOWS_C`]).
pub fn functions_c(
    functions: &[Function],
    called: &[Called],
    shared: &[(FuncId, FuncId, FuncId)],
    objects: &[f64],
    made: &[ObjectC],
    flows: &[[FuncId; 2]],
) -> Result<String, NotInC> {
    let flow = |f: FuncId| {
        flows.iter().enumerate().find_map(|(k, ends)| ends.iter().position(|e| *e == f).map(|reader| (k, reader)))
    };
    let mut shares = Vec::new();
    let mut plain = Vec::new();
    for c in called {
        if let Some(&(func, call, result)) = shared.iter().find(|s| s.1 == c.func) {
            let f = functions.get(func.0 as usize);
            let sizes = f.and_then(|f| f.outputs.iter().map(|&o| f.fixed_len(o)).sum::<Option<usize>>());
            let Some(outs) = sizes else { return Err(NotInC { func, what: "sizes of its results".into() }) };
            shares.push((plain.len(), call, result));
            plain.push(Called { func, outs, ..*c });
        } else if flow(c.func).is_none() && shared.iter().all(|s| s.2 != c.func) {
            plain.push(*c);
        }
    }
    let read: Vec<(Called, (usize, usize))> = called.iter().filter_map(|c| Some((*c, flow(c.func)?))).collect();
    // Objects are there before anything asks for them.
    let (found, plain): (Vec<Called>, Vec<Called>) =
        plain.into_iter().partition(|c| made.iter().any(|m| m.constructor == c.func));
    let life: Vec<FuncId> =
        made.iter().flat_map(|m| std::iter::once(m.constructor).chain(destructor(functions, m))).collect();
    let called = &plain[..];
    // Second derivatives are first ones of tangents.
    let mut functions = functions.to_vec();
    let mut tangents = FxHashMap::default();
    let mut seconds = Vec::new();
    for c in called {
        if let Some(func) = c.func.of_tangent() {
            let Some(passage) = Passage::new(&mut functions, &mut tangents, func) else {
                return Err(NotInC { func, what: "its second derivative".into() });
            };
            seconds.push((c.func, func, passage));
        }
    }
    let executor = &Executor::new(&functions);
    // Everything reachable, in both forms where needed.
    let mut needed: Vec<(FuncId, bool)> = Vec::new();
    let mut work: Vec<(FuncId, bool)> = called.iter().map(|c| (c.func, c.dual)).collect();
    work.extend(life.iter().map(|f| (*f, false)));
    while let Some((f, dual)) = work.pop() {
        if needed.contains(&(f, dual)) {
            continue;
        }
        if let Some((_, plain, passage)) = seconds.iter().find(|s| s.0 == f) {
            work.extend([(*plain, true), (passage.tangent, true)]);
            continue;
        }
        needed.push((f, dual));
        let Some(l) = executor.lowered(f) else {
            return Err(NotInC { func: f, what: "it is not known".into() });
        };
        work.extend(l.callees.iter().map(|&g| (g, dual)));
        if let Some(d) = l.derivative.filter(|_| dual) {
            work.extend([(f, false), (d, false)]);
        }
    }
    needed.sort_unstable();
    let derivatives: Vec<FuncId> =
        needed.iter().filter(|n| n.1).filter_map(|n| executor.lowered(n.0)?.derivative).collect();
    let mut o = String::new();
    // Results of what has effects are forgotten at events: they stand behind the others.
    let plain = |f: FuncId| f.of_tangent().unwrap_or(f);
    let effects: Vec<bool> = called.iter().map(|c| executor.has_effects(plain(c.func))).collect();
    let pure = effects.iter().filter(|e| !**e).count();
    let (mut memo, mut places, mut next) = (0, Vec::new(), [0, 0]);
    for (k, c) in called.iter().enumerate() {
        let size = c.args * if c.dual { 2 } else { 1 } + c.outs;
        let many = effects[k] && shares.iter().all(|s| s.0 != k);
        let valid = if effects[k] { format!("SALTUS_PURE + {}*SALTUS_EFFECTS", next[1]) } else { next[0].to_string() };
        next[usize::from(effects[k])] += 1;
        places.push((valid, memo, many));
        memo += if many { size * EFFECTS } else { size };
    }
    let _ = writeln!(
        o,
        "#define SALTUS_PURE {pure}\n#define SALTUS_CALLED (SALTUS_PURE + {}*SALTUS_EFFECTS + 1)\n#define SALTUS_MEMO {}\n#define SALTUS_EFFECTS {EFFECTS}",
        called.len() - pure,
        memo.max(1)
    );
    o.push_str(RUNTIME);
    for (prefix, number) in [("r_", "double"), ("d_", "saltus_dual")] {
        if prefix == "r_" || needed.iter().any(|n| n.1) {
            o.push_str(&ARRAYS.replace("T_", prefix).replace("NUM", number));
        }
    }
    o.push('\n');
    let (mut included, mut code) = (String::new(), String::new());
    let mut known = Vec::new();
    let mut wrapped: FxHashMap<FuncId, Vec<Parameter>> = FxHashMap::default();
    let (mut tables, mut foreign, mut pieces) = (false, false, Pieces::default());
    for &(f, _) in &needed {
        if let (Some(l), Some(function)) = (executor.lowered(f), functions.get(f.0 as usize))
            && l.external.is_some()
        {
            let refused = |what| NotInC { func: f, what };
            let (x, parameters) = external_c(&functions, function, l).map_err(refused)?;
            match table_call(&x.symbol) {
                Some(_) => tables = true,
                None if random_call(&x.symbol).is_some() => pieces.random = true,
                None if pieces.add(&x.symbol) => {}
                None => {
                    foreign |= parameters.is_some();
                    for x in std::iter::once(x).chain(code_elsewhere(&functions, x)) {
                        included.push_str(&foreign::code_c(x, &mut known).map_err(refused)?);
                    }
                }
            }
            if let Some(p) = parameters
                && !wrapped.contains_key(&f)
            {
                if !is_provided(&x.symbol) {
                    code.push_str(
                        &foreign::wrapper_c(function, x, f.0 as usize, code_elsewhere(&functions, x).is_empty())
                            .map_err(refused)?,
                    );
                }
                code.push_str(&arguments_c(f, x, &p, function));
                wrapped.insert(f, p);
            }
        }
    }
    if tables {
        o.push_str(&tables_c(objects));
    }
    let begun = o.len();
    o.push_str(&included);
    o.push_str(&code);
    for &(f, dual) in &needed {
        if let Some(l) = executor.lowered(f) {
            let _ = writeln!(o, "/* {} */\n{};", comment(&l.name), Body::new(executor, l, f, dual).head());
        }
    }
    for &(f, dual) in &needed {
        if let Some(l) = executor.lowered(f) {
            let refused = |what| NotInC { func: f, what };
            let symbol = functions.get(f.0 as usize).and_then(|f| f.external.as_ref()).map(|x| &*x.symbol);
            let parameters = wrapped.get(&f).map(Vec::as_slice);
            o.push_str(&Body::new(executor, l, f, dual).function(symbol, parameters).map_err(refused)?);
            // Functions that only functions call need not be told the sizes of their inputs.
            let second = seconds.iter().any(|(_, plain, p)| *plain == f || p.tangent == f);
            let entered = second || called.iter().any(|c| c.func == f) || derivatives.contains(&f) || life.contains(&f);
            let gives = functions
                .get(f.0 as usize)
                .is_some_and(|f| f.outputs.iter().any(|o| f.locals[o.0 as usize].ty == ScalarType::String));
            match Body::new(executor, l, f, dual).flat(gives) {
                Err(what) if entered => return Err(refused(what)),
                flat => o.push_str(&flat.unwrap_or_default()),
            }
        }
    }
    for &(f, dual) in &needed {
        if let Some(l) = executor.lowered(f)
            && let Some(text) = Body::new(executor, l, f, dual).by_derivative()
        {
            o.push_str(&text);
        }
    }
    for (id, plain, p) in &seconds {
        let list = |v: &[bool]| v.iter().map(|r| u8::from(*r).to_string()).collect::<Vec<_>>().join(", ");
        let (n, outs) = (p.inputs.len(), p.outputs.len());
        let _ = writeln!(
            o,
            "static void d_run{}(saltus_functions *c) {{\n  static const unsigned char real[] = {{{}}}, result[] = {{{}}};\n  double room[{}];\n  saltus_second(c, d_flat{}, d_flat{}, real, {n}, result, {outs}, room);\n}}",
            id.0,
            list(&p.inputs),
            list(&p.outputs),
            4 * n + 4 * outs,
            p.tangent.0,
            plain.0
        );
    }
    if !made.is_empty() {
        o.push_str(&objects_c(&functions, made));
    }
    let mut cases = [String::new(), String::new()];
    for (k, (c, (valid, at, many))) in called.iter().zip(&places).enumerate() {
        let (p, id, n) = (if c.dual { 'd' } else { 'r' }, c.func.0, c.args);
        let dargs = if c.dual { "dargs" } else { "0" };
        if let Some((_, call, result)) = shares.iter().find(|s| s.0 == k) {
            let _ = writeln!(
                cases[0],
                "  case {}u: saltus_result(c, {valid}, r_run{id}, c->memo + {at}, args, 0, {n}, {outs}, 0); return 0.0;\n  case {}u: return c->valid[{valid}] && args[1] < {outs} ? c->memo[{at} + {n} + (size_t)args[1]] : NAN;",
                call.0,
                result.0,
                outs = c.outs
            );
            continue;
        }
        let keep = if *many { "saltus_effect" } else { "saltus_result" };
        let _ = writeln!(
            cases[usize::from(c.dual)],
            "  case {id}u: return {keep}(c, {valid}, {p}_run{id}, c->memo + {at}, args, {dargs}, {n}, {}, out);",
            c.outs
        );
    }
    for c in found {
        let _ = writeln!(cases[0], "  case {0}u: return saltus_object_of(c, {0}u, args, {1});", c.func.0, c.args);
    }
    for (c, (k, reader)) in read {
        let (factor, slope) = if c.dual { (" * dargs[0]", 1) } else { ("", 0) };
        let _ = writeln!(
            cases[slope],
            "  case {}u: return saltus_flow_read(&c->flow[{k}], {reader}, args[0], {slope}){factor};",
            c.func.0
        );
    }
    let _ = writeln!(
        o,
        "static double saltus_call(void *self, uint32_t func, const double *args, size_t n, uint32_t out) {{\n  saltus_functions *c = self;\n  (void)n; (void)args; (void)out; (void)c;\n  switch (func) {{\n{}  default: return NAN;\n  }}\n}}\nstatic double saltus_call_der(void *self, uint32_t func, const double *args, const double *dargs, size_t n, uint32_t out) {{\n  saltus_functions *c = self;\n  (void)n; (void)args; (void)dargs; (void)out; (void)c;\n  switch (func) {{\n{}  default: return NAN;\n  }}\n}}\n",
        cases[0], cases[1]
    );
    // What only some need stands before it.
    let texts = pieces.texts() || TEXT_CALLS.iter().any(|name| o[begun..].contains(name));
    let mut before = String::new();
    if !made.is_empty() {
        let handles: Vec<String> = made.iter().map(|m| literal_c(m.handle)).collect();
        let _ = writeln!(
            before,
            "#define SALTUS_OBJECTS {}\nstatic const double saltus_handles[] = {{{}}};",
            made.len(),
            handles.join(", ")
        );
    }
    if pieces.impure {
        before.push_str(&generators_c());
    }
    if texts {
        let list: Vec<String> = strings::all().iter().map(|t| quoted_c(t)).collect();
        let _ = writeln!(
            before,
            "#include <stdio.h>\n\n/* Room for text that is built while a model runs. */\n#ifndef SALTUS_TEXT\n#define SALTUS_TEXT 16384\n#endif\n#define SALTUS_TEXTS {}\nstatic const char *const saltus_texts[] = {{\n  {}\n}};",
            list.len(),
            list.join(",\n  ")
        );
    }
    let mut between = String::new();
    if texts {
        between.push_str(TEXTS);
    }
    if !wrapped.is_empty() {
        between.push_str(ARGUMENTS);
    }
    if foreign {
        between.push_str(FOREIGN);
    }
    between.push_str(&pieces.text());
    o.insert_str(begun, &between);
    Ok(before + &o)
}

/// Calls of one function with effects that are told apart at an event.
const EFFECTS: usize = 32;

/// The impure random generators as they are now.
fn generators_c() -> String {
    let all = impure_generators();
    let rows = all.iter().map(|(id, state)| {
        let list: Vec<String> = std::iter::once(id).chain(state).map(|v| literal_c(*v)).collect();
        format!("  {{{}}},\n", list.join(", "))
    });
    format!(
        "/* Impure random generators at most; those there were when the file was written. */\n#ifndef SALTUS_GENERATORS\n#define SALTUS_GENERATORS {}\n#endif\n#define SALTUS_BEGUN {}\nstatic const double saltus_begun[][34] = {{\n{}  {{0.0}}\n}};\n",
        all.len() + 8,
        all.len(),
        rows.collect::<String>()
    )
}

/// What takes text apart or builds it.
const TEXT_CALLS: [&str; 6] =
    ["saltus_words(", "saltus_keep(", "saltus_join(", "saltus_order(", "saltus_string(", "saltus_format("];

/// `x_call…(c, w)`: calls with the arguments w, whose outputs are written; gives the result.
fn arguments_c(id: FuncId, x: &ExternalCall, parameters: &[Parameter], f: &Function) -> String {
    let n = parameters.len();
    let mut o = format!("static inline double x_call{}(saltus_functions *c, r_array *w) {{\n", id.0);
    let _ = writeln!(
        o,
        "  saltus_arg a[{}];\n  double value = 0.0;\n  const size_t mark = c->top;\n  memset(a, 0, sizeof a);",
        n + 1
    );
    let _ = writeln!(
        o,
        "  for (int i = 0; i < {n}; i++) {{ a[i].x = w[i].at; a[i].n = r_count(w[i]); a[i].rows = w[i].rank ? w[i].n[0] : 1; a[i].columns = w[i].rank > 1 ? w[i].n[1] : 1; }}"
    );
    let texts = || parameters.iter().enumerate().filter(|(_, p)| p.ty == ScalarType::String);
    for (i, _) in texts() {
        let _ = writeln!(
            o,
            "  a[{i}].s = (const char **)(void *)saltus_room(c, a[{i}].n);\n  for (size_t j = 0; j < a[{i}].n; j++) a[{i}].s[j] = saltus_words(c, a[{i}].x[j]);"
        );
    }
    for (i, _) in parameters.iter().enumerate().filter(|(_, p)| p.ty == ScalarType::Object) {
        let _ = writeln!(o, "  a[{i}].p = saltus_pointer(c, a[{i}].x[0]);");
    }
    if is_provided(&x.symbol) {
        let _ = writeln!(o, "  value = saltus_{}(c, a);", x.symbol);
    } else {
        o.push_str("  const char *why, *given = \"\";\n  saltus_arg r = {&value, &given, 0, 1, 1, 1};\n");
        let _ = writeln!(o, "  if ((why = saltus_guarded(saltus_call_{}, a, &r)) != 0) saltus_fail(c, why);", id.0);
        match x.result.map(|r| f.locals[r.0 as usize].ty) {
            Some(ScalarType::String) => o.push_str("  value = saltus_keep(c, given ? given : \"\", \"\");\n"),
            Some(ScalarType::Object) => o.push_str("  value = saltus_made(c, r.p);\n"),
            _ => {}
        }
    }
    for (i, _) in texts().filter(|(_, p)| p.output) {
        let _ = writeln!(
            o,
            "  for (size_t j = 0; j < a[{i}].n; j++) a[{i}].x[j] = saltus_keep(c, a[{i}].s[j] ? a[{i}].s[j] : \"\", \"\");"
        );
    }
    o + "  c->top = mark;\n  return value;\n}\n"
}

/// A name that ends no comment.
fn comment(name: &str) -> String {
    name.replace("*/", "* /")
}

type Res<T> = Result<T, String>;

/// One function being written.
struct Body<'a> {
    executor: &'a Executor,
    f: &'a Lowered,
    id: FuncId,
    dual: bool,
    o: String,
    n: usize,
    returns: bool,
}

impl<'a> Body<'a> {
    fn new(executor: &'a Executor, f: &'a Lowered, id: FuncId, dual: bool) -> Self {
        Body { executor, f, id, dual, o: String::new(), n: 0, returns: false }
    }

    fn p(&self) -> char {
        if self.dual { 'd' } else { 'r' }
    }

    fn num(&self) -> &'static str {
        if self.dual { "saltus_dual" } else { "double" }
    }

    fn line(&mut self, text: &str) {
        self.o.push_str("  ");
        self.o.push_str(text);
        self.o.push('\n');
    }

    fn name(&mut self) -> String {
        self.n += 1;
        format!("t{}", self.n)
    }

    /// A new scalar with this value.
    fn scalar(&mut self, value: &str) -> String {
        let (t, num) = (self.name(), self.num());
        self.line(&format!("const {num} {t} = {value};"));
        t
    }

    /// A new array with this value.
    fn array(&mut self, value: &str) -> String {
        let (t, p) = (self.name(), self.p());
        self.line(&format!("{p}_array {t} = {value};"));
        t
    }

    fn lit(&self, v: f64) -> String {
        if self.dual { format!("d_({}, 0.0)", literal_c(v)) } else { literal_c(v) }
    }

    /// The value alone, as a double.
    fn value(&self, e: &str) -> String {
        if self.dual { format!("{e}.v") } else { e.into() }
    }

    /// A double as a number.
    fn lift(&self, e: &str) -> String {
        if self.dual { format!("d_({e}, 0.0)") } else { e.into() }
    }

    /// The declaration of the function: inputs, then places of outputs.
    fn head(&self) -> String {
        let (p, num) = (self.p(), self.num());
        let mut list = vec!["saltus_functions *c".to_string()];
        for (k, i) in self.f.inputs.iter().enumerate() {
            list.push(match i.slot {
                Slot::S(_) => format!("{num} x{k}"),
                Slot::A(_) => format!("{p}_array x{k}"),
            });
        }
        for (k, o) in self.f.outputs.iter().enumerate() {
            list.push(match o.slot {
                Slot::S(_) => format!("{num} *y{k}"),
                Slot::A(_) => format!("{p}_array *y{k}"),
            });
        }
        format!("static inline void {p}_f{}({})", self.id.0, list.join(", "))
    }

    /// Declares all locals.
    fn locals(&mut self) {
        let (p, num) = (self.p(), self.num());
        let zero = self.lit(0.0);
        for k in 0..self.f.n_scalars {
            self.line(&format!("{num} s{k} = {zero};"));
            self.line(&format!("(void)s{k};"));
        }
        for k in 0..self.f.n_arrays {
            self.line(&format!("{p}_array a{k} = {p}_empty(0);"));
            self.line(&format!("(void)a{k};"));
        }
    }

    /// Whether sizes of some local follow what is assigned: then memory is not taken back before the end.
    fn grows(&self) -> bool {
        self.f.free.iter().any(|m| !m.is_empty())
    }

    fn function(mut self, symbol: Option<&str>, parameters: Option<&[Parameter]>) -> Res<String> {
        let head = self.head();
        if let (Some(x), Some(symbol)) = (&self.f.external, symbol) {
            let p = self.p();
            // With an annotation, the derivative comes from there; this serves where nothing moves.
            let plain = format!("{p}_plain{}(", self.id.0);
            let named = self.dual && self.f.derivative.is_some();
            let head = if named { head.replace(&format!("{p}_f{}(", self.id.0), &plain) } else { head };
            if parameters.is_some() {
                return self.wrapped(&head, x, has_slope(symbol));
            }
            self.external(&x.args, symbol);
            return Ok(format!("{head} {{\n{}}}\n", self.o));
        }
        if self.dual && self.f.derivative.is_some() {
            // Written by `by_derivative`, which falls back on this.
            let (p, id) = (self.p(), self.id.0);
            let plain = head.replace(&format!("{p}_f{id}("), &format!("{p}_plain{id}("));
            let text = self.body(&plain)?;
            return Ok(text);
        }
        self.body(&head)
    }

    /// A call of C code; its derivative by central differences, as the executor does.
    fn external(&mut self, args: &[Arg], symbol: &str) {
        let input = |k: u32| self.f.inputs.iter().position(|i| i.slot == Slot::S(k)).unwrap_or(0);
        let list = |part: &dyn Fn(usize) -> String| {
            let one = |a: &Arg| match a {
                Arg::S(Sx::Local(k)) => part(input(*k)),
                Arg::S(Sx::Num(v)) => literal_c(*v),
                _ => "0.0".into(),
            };
            args.iter().map(one).collect::<Vec<_>>().join(", ")
        };
        if let Some((name, n)) = random_call(symbol) {
            return self.random(name, n);
        }
        if let Some(table) = table_call(symbol) {
            return self.table(table, &list);
        }
        if !self.dual {
            let text = format!("(void)c;\n  *y0 = {symbol}({});", list(&|k| format!("x{k}")));
            return self.line(&text);
        }
        let (value, up, down) = (
            list(&|k| format!("x{k}.v")),
            list(&|k| format!("x{k}.v + h * x{k}.d")),
            list(&|k| format!("x{k}.v - h * x{k}.d")),
        );
        self.line("double size = 0.0, along = 0.0, h;\n  (void)c;");
        // What is not passed on has no part in the step.
        for a in args {
            match a {
                Arg::S(Sx::Local(k)) => {
                    let k = self.f.inputs.iter().position(|i| i.slot == Slot::S(*k)).unwrap_or(0);
                    self.line(&format!(
                        "size = saltus_max(size, fabs(x{k}.v)); along = saltus_max(along, fabs(x{k}.d));"
                    ));
                }
                Arg::S(Sx::Num(v)) => self.line(&format!("size = saltus_max(size, {});", literal_c(v.abs()))),
                _ => {}
            }
        }
        self.line(&format!("*y0 = d_({symbol}({value}), 0.0);\n  if (along == 0.0) return;"));
        self.line("h = 1e-6 * (1.0 + saltus_min(size, 1e6)) / saltus_max(along, 1e-300);");
        self.line(&format!("y0->d = ({symbol}({up}) - {symbol}({down})) / (2.0 * h);"));
    }

    /// A random generator whose state has n numbers. Nothing has a derivative.
    fn random(&mut self, name: &str, n: usize) {
        let p = self.p();
        let array = self.f.outputs.iter().position(|o| matches!(o.slot, Slot::A(_))).unwrap_or(0);
        let (from, to, drawn) = match self.dual {
            false => ("x0.at[i]", "out[i]", "number"),
            true => ("x0.at[i].v", "d_(out[i], 0.0)", "d_(number, 0.0)"),
        };
        self.line(&format!("double in[{n}], out[{n}], number;"));
        self.line(&format!(
            "if ({p}_count(x0) != {n}) saltus_fail(c, \"the state of a random generator has another size\");"
        ));
        self.line(&format!("for (int i = 0; i < {n}; i++) in[i] = {from};"));
        self.line(&format!("number = saltus_{name}(in, out);\n  *y{array} = {p}_vector(c, {n});"));
        self.line(&format!("for (int i = 0; i < {n}; i++) y{array}->at[i] = {to};"));
        self.line(&format!("*y{} = {drawn};", 1 - array));
    }

    /// What reads a table; `list` gives the arguments.
    fn table(&mut self, t: TableCall, list: &dyn Fn(&dyn Fn(usize) -> String) -> String) {
        let name = t.name;
        if !self.dual {
            let args = list(&|k| format!("x{k}"));
            return self.line(&format!("const double a[] = {{{args}}};\n  *y0 = {name}(c, a);"));
        }
        let (v, d) = (list(&|k| format!("x{k}.v")), list(&|k| format!("x{k}.d")));
        self.line(&format!("const double a[] = {{{v}}};"));
        match t.derivative {
            Slope::Zero => self.line(&format!("*y0 = d_({name}(c, a), 0.0);")),
            Slope::Known => self.line(&format!("const double d[] = {{{d}}};\n  *y0 = d_({name}(c, a), {name}_der(c, a, d));")),
            Slope::Differences => self.line(&format!(
                "const double d[] = {{{d}}};\n  *y0 = d_({name}(c, a), saltus_difference(c, {name}, a, d, sizeof a / sizeof *a));"
            )),
        }
    }

    /// A call with all arguments in one form; derivatives, if it has any, by central differences as the executor makes them.
    fn wrapped(&mut self, head: &str, x: &ExtCode, slope: bool) -> Res<String> {
        self.entry()?;
        let (n, id, p) = (x.args.len().max(1), self.id.0, self.p());
        let part = if self.dual { ".v" } else { "" };
        let mut args = Vec::new();
        for a in &x.args {
            args.push(self.arg_array(a)?);
        }
        let copy = |w: &mut Self, to: &str, along: &str| {
            for (i, v) in args.iter().enumerate() {
                let moved = if along.is_empty() { String::new() } else { format!(" {along} h * {v}.at[j].d") };
                w.line(&format!("{to}[{i}] = r_empty({v}.rank); memcpy({to}[{i}].n, {v}.n, sizeof {v}.n); {to}[{i}] = r_room(c, {to}[{i}]);"));
                w.line(&format!(
                    "for (size_t j = 0; j < {p}_count({v}); j++) {to}[{i}].at[j] = {v}.at[j]{part}{moved};"
                ));
            }
        };
        self.line(&format!("r_array w[{n}];\n  double given;\n  (void)w; (void)given;"));
        copy(self, "w", "");
        let moving = self.dual && slope;
        if moving {
            self.line(&format!(
                "r_array up[{n}], down[{n}];\n  double size = 0.0, along = 0.0, h = 1.0, rise = 0.0;\n  (void)rise;"
            ));
            for v in &args {
                self.line(&format!("for (size_t j = 0; j < d_count({v}); j++) {{ size = saltus_max(size, fabs({v}.at[j].v)); along = saltus_max(along, fabs({v}.at[j].d)); }}"));
            }
            self.line("h = 1e-6 * (1.0 + saltus_min(size, 1e6)) / saltus_max(along, 1e-300);");
            copy(self, "up", "+");
            copy(self, "down", "-");
            self.line(&format!(
                "if (along != 0.0) {{ rise = x_call{id}(c, up); rise = (rise - x_call{id}(c, down)) / (2.0 * h); }}"
            ));
        }
        self.line(&format!("given = x_call{id}(c, w);"));
        for (i, slot) in x.back.iter().enumerate() {
            let slope = |j: &str| match moving {
                true => format!("along != 0.0 ? (up[{i}].at[{j}] - down[{i}].at[{j}]) / (2.0 * h) : 0.0"),
                false => "0.0".into(),
            };
            match slot {
                Some(Slot::S(k)) if self.dual => self.line(&format!("s{k} = d_(w[{i}].at[0], {});", slope("0"))),
                Some(Slot::S(k)) => self.line(&format!("s{k} = w[{i}].at[0];")),
                Some(Slot::A(k)) if self.dual => {
                    self.line(&format!(
                        "a{k} = d_empty(w[{i}].rank); memcpy(a{k}.n, w[{i}].n, sizeof a{k}.n); a{k} = d_room(c, a{k});"
                    ));
                    self.line(&format!(
                        "for (size_t j = 0; j < r_count(w[{i}]); j++) a{k}.at[j] = d_(w[{i}].at[j], {});",
                        slope("j")
                    ));
                }
                Some(Slot::A(k)) => self.line(&format!("a{k} = w[{i}];")),
                None => {}
            }
        }
        if let Some(k) = x.result {
            let value = match (self.dual, moving) {
                (false, _) => "given",
                (true, false) => "d_(given, 0.0)",
                (true, true) => "d_(given, rise)",
            };
            self.line(&format!("s{k} = {value};"));
        }
        Ok(self.exit(head))
    }

    fn body(&mut self, head: &str) -> Res<String> {
        self.entry()?;
        self.block(&self.f.body)?;
        if self.returns {
            self.o.push_str("finish:\n");
        }
        Ok(self.exit(head))
    }

    /// Takes the inputs, and gives the other locals what they begin with.
    fn entry(&mut self) -> Res<()> {
        self.locals();
        self.line("const size_t entry = c->top;");
        self.line("(void)entry;");
        self.line("if (++c->depth > SALTUS_DEPTH) saltus_fail(c, \"calls are nested too deeply\");");
        for (k, i) in self.f.inputs.iter().enumerate() {
            match i.slot {
                Slot::S(s) => self.line(&format!("s{s} = x{k};")),
                Slot::A(a) => self.line(&format!("a{a} = x{k};")),
            }
        }
        for i in &self.f.inputs {
            let Slot::A(a) = i.slot else { continue };
            for (d, dim) in i.dims.iter().enumerate() {
                let n = match dim {
                    DimCode::Fixed(n) => n.to_string(),
                    DimCode::Computed(e) => self.size(e)?,
                    DimCode::Free => continue,
                };
                self.line(&format!("if (a{a}.n[{d}] != {n}) saltus_fail(c, \"an input has another size\");"));
            }
        }
        for init in &self.f.entry {
            match init {
                Init::S(k, e) => {
                    let v = self.sx(e)?;
                    self.line(&format!("s{k} = {v};"));
                }
                Init::Alloc(k, dims) => {
                    self.shape(*k, dims, None)?;
                    let (p, zero) = (self.p(), self.lit(0.0));
                    self.line(&format!("a{k} = {p}_fill(c, a{k}, {zero});"));
                }
                Init::A(k, dims, e) => {
                    let v = self.ax(e)?;
                    self.shape(*k, dims, Some(&v))?;
                    let p = self.p();
                    self.line(&format!("{p}_same(c, a{k}, {v});"));
                    self.line(&format!("a{k} = {p}_copy(c, {v});"));
                }
            }
        }
        Ok(())
    }

    /// Hands out the outputs; the function as text.
    fn exit(&mut self, head: &str) -> String {
        self.line("c->depth--;");
        for (k, o) in self.f.outputs.iter().enumerate() {
            match o.slot {
                Slot::S(s) => self.line(&format!("*y{k} = s{s};")),
                Slot::A(a) => self.line(&format!("*y{k} = a{a};")),
            }
        }
        if self.f.outputs.iter().all(|o| matches!(o.slot, Slot::S(_))) {
            self.line("c->top = entry;");
        }
        format!("{head} {{\n{}}}\n", std::mem::take(&mut self.o))
    }

    /// Sets rank and sizes of a local.
    fn shape(&mut self, k: u32, dims: &[DimCode], value: Option<&str>) -> Res<()> {
        let p = self.p();
        self.line(&format!("a{k} = {p}_empty({});", dims.len()));
        for (d, dim) in dims.iter().enumerate() {
            let n = match (dim, value) {
                (DimCode::Fixed(n), _) => n.to_string(),
                (DimCode::Computed(e), _) => self.size(e)?,
                (DimCode::Free, Some(v)) => format!("{v}.n[{d}]"),
                (DimCode::Free, None) => "0".into(),
            };
            self.line(&format!("a{k}.n[{d}] = {n};"));
        }
        Ok(())
    }

    /// From flat arguments to flat results: `…_flat` for other functions, `…_run` for kernels. What text it builds stays if it
    /// gives text.
    fn flat(mut self, gives_text: bool) -> Res<String> {
        let (p, num, id, f) = (self.p(), self.num(), self.id.0, self.f);
        let pair = |at: &str| if p == 'd' { format!("d_(args[{at}], args[n + {at}])") } else { format!("args[{at}]") };
        self.locals();
        self.line("size_t at = 0, to = 0;");
        self.line("(void)at; (void)args; (void)n; (void)out; (void)outs;");
        for (k, i) in f.inputs.iter().enumerate() {
            match i.slot {
                Slot::S(s) => self.line(&format!("s{s} = {}; at++;", pair("at"))),
                Slot::A(a) => {
                    let mut hole = None;
                    self.line(&format!("a{a} = {p}_empty({});", i.dims.len()));
                    for (d, dim) in i.dims.iter().enumerate() {
                        let n = match dim {
                            DimCode::Fixed(n) => n.to_string(),
                            DimCode::Computed(e) => self.size(e)?,
                            DimCode::Free => {
                                hole = Some(d);
                                "1".into()
                            }
                        };
                        self.line(&format!("a{a}.n[{d}] = {n};"));
                    }
                    if let Some(d) = hole {
                        // The only size that is not told follows from the number of arguments.
                        let later = f.inputs[k + 1..].iter().map(|i| match i.slot {
                            Slot::S(_) => Some(1),
                            Slot::A(_) => {
                                i.dims.iter().map(|d| if let DimCode::Fixed(n) = d { Some(*n) } else { None }).product()
                            }
                        });
                        let frees =
                            f.inputs.iter().flat_map(|i| &i.dims).filter(|d| matches!(d, DimCode::Free)).count();
                        let Some(later) = later.sum::<Option<usize>>().filter(|_| frees == 1) else {
                            return Err("inputs of unknown sizes".into());
                        };
                        self.line(&format!("a{a}.n[{d}] = (int)((n - at - {later}) / {p}_count(a{a}));"));
                    }
                    self.line(&format!("if ({p}_count(a{a}) > n - at) saltus_fail(c, \"arguments are missing\");"));
                    self.line(&format!("a{a} = {p}_room(c, a{a});"));
                    self.line(&format!(
                        "for (size_t i = 0; i < {p}_count(a{a}); i++, at++) a{a}.at[i] = {};",
                        pair("at")
                    ));
                }
            }
        }
        self.line("if (at != n) saltus_fail(c, \"a call with too many or too few arguments\");");
        let mut list = vec!["c".to_string()];
        list.extend(f.inputs.iter().map(|i| match i.slot {
            Slot::S(s) => format!("s{s}"),
            Slot::A(a) => format!("a{a}"),
        }));
        for (k, o) in f.outputs.iter().enumerate() {
            match o.slot {
                Slot::S(_) => self.line(&format!("{num} y{k};")),
                Slot::A(_) => self.line(&format!("{p}_array y{k};")),
            }
            list.push(format!("&y{k}"));
        }
        self.line(&format!("{p}_f{id}({});", list.join(", ")));
        let part = if self.dual { ".d" } else { "" };
        for (k, o) in f.outputs.iter().enumerate() {
            match o.slot {
                Slot::S(_) => self.line(&format!("if (to < outs) out[to] = y{k}{part};\n  to++;")),
                Slot::A(_) => self.line(&format!(
                    "for (size_t i = 0; i < {p}_count(y{k}); i++, to++) if (to < outs) out[to] = y{k}.at[i]{part};"
                )),
            }
        }
        self.line("return to;");
        let halves = if self.dual { "c->n / 2" } else { "c->n" };
        let (mark, release) = if gives_text { ("", "") } else { ("SALTUS_MARK ", "SALTUS_RELEASE ") };
        Ok(format!(
            "static inline size_t {p}_flat{id}(saltus_functions *c, const double *args, size_t n, double *out, size_t outs) {{\n{}}}\nstatic inline void {p}_run{id}(saltus_functions *c) {{ {mark}(void){p}_flat{id}(c, c->args, {halves}, c->out, c->outs); {release}}}\n",
            self.o
        ))
    }

    /// With a `derivative` annotation: the value by the function, the derivative by its derivative function.
    fn by_derivative(mut self) -> Option<String> {
        let der = self.f.derivative.filter(|_| self.dual)?;
        let g = self.executor.lowered(der)?;
        let (f, id) = (self.f, self.id.0);
        self.line("size_t n = 0, m = 0, outs = 0;");
        self.line("int moving = 0;");
        let mut plain = vec!["c".to_string()];
        for (k, i) in f.inputs.iter().enumerate() {
            plain.push(format!("x{k}"));
            match i.slot {
                Slot::S(_) => {
                    self.line("n++;");
                    if i.real {
                        self.line(&format!("m++; moving |= x{k}.d != 0.0;"));
                    }
                }
                Slot::A(_) => {
                    self.line(&format!("n += d_count(x{k});"));
                    if i.real {
                        self.line(&format!("m += d_count(x{k}); for (size_t i = 0; i < d_count(x{k}); i++) moving |= x{k}.at[i].d != 0.0;"));
                    }
                }
            }
        }
        plain.extend((0..f.outputs.len()).map(|k| format!("y{k}")));
        self.line(&format!("if (!moving) {{ d_plain{id}({}); return; }}", plain.join(", ")));
        self.line("double *args = saltus_room(c, n + m), *values, *slopes;");
        self.line("n = 0;");
        for slopes in [false, true] {
            for (k, i) in f.inputs.iter().enumerate().filter(|i| !slopes || i.1.real) {
                let part = if slopes { 'd' } else { 'v' };
                match i.slot {
                    Slot::S(_) => self.line(&format!("args[n++] = x{k}.{part};")),
                    Slot::A(_) => {
                        self.line(&format!("for (size_t i = 0; i < d_count(x{k}); i++) args[n++] = x{k}.at[i].{part};"))
                    }
                }
            }
        }
        // Values, with the sizes of the outputs.
        let mut list = vec!["c".to_string()];
        for (k, i) in f.inputs.iter().enumerate() {
            match i.slot {
                Slot::S(_) => list.push(format!("x{k}.v")),
                Slot::A(_) => {
                    self.line(&format!("r_array v{k} = r_empty(x{k}.rank);\n  memcpy(v{k}.n, x{k}.n, sizeof v{k}.n);\n  v{k} = r_room(c, v{k});\n  for (size_t i = 0; i < d_count(x{k}); i++) v{k}.at[i] = x{k}.at[i].v;"));
                    list.push(format!("v{k}"));
                }
            }
        }
        for (k, o) in f.outputs.iter().enumerate() {
            self.line(&match o.slot {
                Slot::S(_) => format!("double z{k};"),
                Slot::A(_) => format!("r_array z{k};"),
            });
            list.push(format!("&z{k}"));
        }
        self.line(&format!("r_f{id}({});", list.join(", ")));
        for (k, o) in f.outputs.iter().enumerate() {
            self.line(&match o.slot {
                Slot::S(_) => "outs++;".to_string(),
                Slot::A(_) => format!("outs += r_count(z{k});"),
            });
        }
        self.line("values = saltus_room(c, outs + 1); slopes = values; (void)values;");
        self.line(&format!(
            "if (r_flat{}(c, args, n, slopes, outs) != outs) saltus_fail(c, {});",
            der.0,
            quoted_c(&format!("{} gives another number of derivatives", g.name))
        ));
        self.line("outs = 0;");
        for (k, o) in f.outputs.iter().enumerate() {
            self.line(&match o.slot {
                Slot::S(_) => format!("*y{k} = d_(z{k}, slopes[outs++]);"),
                Slot::A(_) => format!(
                    "*y{k} = d_empty(z{k}.rank); memcpy(y{k}->n, z{k}.n, sizeof z{k}.n); *y{k} = d_room(c, *y{k});\n  for (size_t i = 0; i < r_count(z{k}); i++) y{k}->at[i] = d_(z{k}.at[i], slopes[outs++]);"
                ),
            });
        }
        Some(format!("{} {{\n{}}}\n", self.head(), self.o))
    }

    // ---- statements ----

    fn block(&mut self, stmts: &[Stmt]) -> Res<()> {
        for s in stmts {
            self.statement(&s.st)?;
        }
        Ok(())
    }

    /// `{ … }` with the top of the arena taken back, where nothing that stays was allocated.
    fn scope(&mut self, keep: bool, inside: impl FnOnce(&mut Self, &str) -> Res<()>) -> Res<()> {
        let mark = self.name();
        self.line("{");
        self.line(&format!("const size_t {mark} = c->top;"));
        inside(self, &mark)?;
        self.line(&if keep { format!("(void){mark};") } else { format!("c->top = {mark};") });
        self.line("}");
        Ok(())
    }

    fn statement(&mut self, st: &St) -> Res<()> {
        let p = self.p();
        match st {
            St::SetS(k, e) => self.scope(false, |b, _| {
                let v = b.sx(e)?;
                b.line(&format!("s{k} = {v};"));
                Ok(())
            }),
            St::SetElem1(k, i, e) => self.scope(false, |b, _| {
                let v = b.sx(e)?;
                let i = b.sx(i)?;
                let i = b.value(&i);
                b.line(&format!("*{p}_at1(c, a{k}, {i}) = {v};"));
                Ok(())
            }),
            St::SetElem2(k, parts) => self.scope(false, |b, _| {
                let v = b.sx(&parts.2)?;
                let (i, j) = (b.sx(&parts.0)?, b.sx(&parts.1)?);
                let (i, j) = (b.value(&i), b.value(&j));
                b.line(&format!("*{p}_at2(c, a{k}, {i}, {j}) = {v};"));
                Ok(())
            }),
            // The array may have moved to where the scope began.
            St::SetA(k, e) => self.scope(true, |b, mark| {
                let v = b.ax(e)?;
                b.set_array(*k, &v, mark);
                Ok(())
            }),
            St::SetPart(k, ix, e) => self.scope(false, |b, _| {
                let v = b.arg_array(e)?;
                b.set_part(*k, ix, &v)
            }),
            St::Multi(targets, f, args) => {
                let keep = self.grows();
                self.scope(keep, |b, _| {
                    let outs = b.call(*f, args)?;
                    for (t, (y, is_array)) in targets.iter().zip(&outs) {
                        match (t, is_array) {
                            (None, _) => {}
                            (Some(Target::S(k)), false) => b.line(&format!("s{k} = {y};")),
                            (Some(Target::A(k)), true) => b.set_array(*k, y, "c->top"),
                            (Some(Target::Part(k, ix)), true) => b.set_part(*k, ix, y)?,
                            (Some(Target::Part(k, ix)), false) => {
                                let v = b.array(&format!("{p}_one(c, {y})"));
                                b.set_part(*k, ix, &v)?;
                            }
                            _ => return Err("an output of another rank".into()),
                        }
                    }
                    Ok(())
                })
            }
            St::If(branches, rest) => {
                let mut open = 0;
                for (c, body) in branches {
                    let c = self.condition(c)?;
                    self.line(&format!("if ({c}) {{"));
                    self.block(body)?;
                    self.line("} else {");
                    open += 1;
                }
                self.block(rest)?;
                (0..open).for_each(|_| self.line("}"));
                Ok(())
            }
            St::For(k, iter, body) => {
                let keep = self.grows();
                self.scope(keep, |b, _| {
                    let list = b.list(iter)?;
                    let i = b.name();
                    b.line(&format!("for (int {i} = 0; {i} < {}; {i}++) {{", list.n));
                    let v = b.element(&list, &i);
                    b.line(&format!("s{k} = {v};"));
                    b.block(body)?;
                    b.line("}");
                    Ok(())
                })
            }
            St::While(c, body) => {
                self.line("for (;;) {");
                let c = self.condition(c)?;
                self.line(&format!("if (!{c}) break;"));
                self.block(body)?;
                self.line("}");
                Ok(())
            }
            St::Break => {
                self.line("break;");
                Ok(())
            }
            St::Return => {
                self.returns = true;
                self.line("goto finish;");
                Ok(())
            }
            St::Assert(c, message, warning) => {
                let c = self.condition(c)?;
                if *warning {
                    self.line(&format!("(void){c};"));
                } else {
                    self.line(&format!("if (!{c}) saltus_fail(c, {});", quoted_c(&text(message))));
                }
                Ok(())
            }
            St::Terminate(message) => {
                self.line(&format!("saltus_fail(c, {});", quoted_c(&text(message))));
                Ok(())
            }
        }
    }

    /// A condition as an int; what it allocates is given back.
    fn condition(&mut self, e: &Sx) -> Res<String> {
        let t = self.name();
        self.line(&format!("int {t};"));
        self.scope(false, |b, _| {
            let v = b.sx(e)?;
            let v = b.value(&v);
            b.line(&format!("{t} = {v} != 0.0;"));
            Ok(())
        })?;
        Ok(t)
    }

    fn set_array(&mut self, k: u32, v: &str, mark: &str) {
        let free = &self.f.free[k as usize];
        let mask = if free.is_empty() {
            "0".into()
        } else {
            let t = self.name();
            let list: Vec<&str> = free.iter().map(|f| if *f { "1" } else { "0" }).collect();
            self.line(&format!("static const int {t}[] = {{{}}};", list.join(", ")));
            t
        };
        let p = self.p();
        self.line(&format!("{p}_set(c, &a{k}, {v}, {mask}, {mark});"));
    }

    fn set_part(&mut self, k: u32, ix: &[Ix], v: &str) -> Res<()> {
        let part = self.part(&format!("a{k}"), ix)?;
        let p = self.p();
        self.line(&format!("{p}_put(c, a{k}, &{part}, {v});"));
        Ok(())
    }

    /// The positions that subscripts name.
    fn part(&mut self, a: &str, ix: &[Ix]) -> Res<String> {
        let (t, p) = (self.name(), self.p());
        self.line(&format!("saltus_part {t};\n  {t}.rank = 0;"));
        self.line(&format!("if ({a}.rank != {}) saltus_fail(c, \"the number of subscripts does not fit\");", ix.len()));
        for (d, i) in ix.iter().enumerate() {
            let size = format!("{a}.n[{d}]");
            match i {
                Ix::All => self.line(&format!("saltus_part_all(c, &{t}, {size});")),
                Ix::At(e) => {
                    let v = self.sx(e)?;
                    let v = self.value(&v);
                    self.line(&format!("saltus_part_at(c, &{t}, {size}, {v});"));
                }
                Ix::Over(it) => match self.list(it)? {
                    List { range: Some((first, step)), n, .. } => {
                        self.line(&format!("saltus_part_range(c, &{t}, {size}, {first}, {step}, {n});"));
                    }
                    List { values, .. } => self.line(&format!("{p}_part_over(c, &{t}, {size}, {values});")),
                },
            }
        }
        Ok(t)
    }

    // ---- iterators ----

    fn list(&mut self, it: &Iter) -> Res<List> {
        let n = self.name();
        match it {
            Iter::Range(a, s, b) => {
                let a = self.sx(a)?;
                let s = match s {
                    Some(s) => {
                        let s = self.sx(s)?;
                        self.value(&s)
                    }
                    None => "1.0".into(),
                };
                let b = self.sx(b)?;
                let (a, b) = (self.value(&a), self.value(&b));
                // What the loop changes does not change its range.
                let first = self.name();
                let step = self.name();
                self.line(&format!("const double {first} = {a}, {step} = {s};"));
                self.line(&format!("const int {n} = saltus_range(c, {first}, {step}, {b});"));
                Ok(List { n, range: Some((first, step)), values: String::new() })
            }
            Iter::Over(e) => {
                let v = self.ax(e)?;
                let p = self.p();
                let values = self.array(&format!("{p}_copy(c, {v})"));
                self.line(&format!("const int {n} = (int){p}_count({values});\n  (void){n};"));
                Ok(List { n, range: None, values })
            }
        }
    }

    fn element(&self, list: &List, i: &str) -> String {
        match &list.range {
            Some((first, step)) => self.lift(&format!("{first} + (double){i} * {step}")),
            None => format!("{}.at[{i}]", list.values),
        }
    }

    /// Runs `body` for all values of the iterators, the first innermost; gives the number of values of each.
    fn nest(&mut self, iters: &[(u32, Iter)], body: impl FnOnce(&mut Self, &[String]) -> Res<()>) -> Res<()> {
        let mut lists = Vec::new();
        for (_, it) in iters {
            lists.push(self.list(it)?);
        }
        let sizes: Vec<String> = lists.iter().map(|l| l.n.clone()).collect();
        for ((slot, _), list) in iters.iter().zip(&lists).rev() {
            let i = self.name();
            self.line(&format!("for (int {i} = 0; {i} < {}; {i}++) {{", list.n));
            let v = self.element(list, &i);
            self.line(&format!("s{slot} = {v};"));
        }
        body(self, &sizes)?;
        iters.iter().for_each(|_| self.line("}"));
        Ok(())
    }

    // ---- scalars ----

    /// A size as an int.
    fn size(&mut self, e: &Sx) -> Res<String> {
        let v = self.sx(e)?;
        let (t, v) = (self.name(), self.value(&v));
        self.line(&format!("const int {t} = saltus_size(c, {v});"));
        Ok(t)
    }

    fn unary(&self, op: Unary, a: &str) -> String {
        // What it stands before has no slope.
        if !self.dual || op == Unary::Event {
            return unary_c(op, a);
        }
        let name = if op == Unary::Abs { "fabs" } else { op.name() };
        format!("d_{name}({a})")
    }

    fn binary(&self, op: Binary, a: &str, b: &str) -> String {
        if !self.dual {
            return binary_c(op, a, b);
        }
        let name = match op {
            Binary::Add => "add",
            Binary::Sub => "sub",
            Binary::Mul => "mul",
            Binary::Div => "div",
            Binary::Pow => "pow",
            Binary::Atan2 => "atan2",
            Binary::Min => "min",
            Binary::Max => "max",
            _ => return format!("d_({}, 0.0)", binary_c(op, &format!("{a}.v"), &format!("{b}.v"))),
        };
        format!("d_{name}({a}, {b})")
    }

    fn op2(&self, op: Op2, a: &str, b: &str) -> Res<String> {
        let kind = match op {
            Op2::Bin(op) => return Ok(self.binary(op, a, b)),
            Op2::Div => 0,
            Op2::Mod => 1,
            Op2::Rem => 2,
            Op2::Concat => {
                let (a, b) = (self.value(a), self.value(b));
                return Ok(self.lift(&format!("saltus_join(c, {a}, {b})")));
            }
            // Equal texts have equal numbers.
            Op2::Text(op @ (Binary::Eq | Binary::Ne)) => {
                let (a, b) = (self.value(a), self.value(b));
                return Ok(self.lift(&binary_c(op, &a, &b)));
            }
            Op2::Text(op) => {
                let (a, b) = (self.value(a), self.value(b));
                return Ok(self.lift(&binary_c(op, &format!("saltus_order(c, {a}, {b})"), "0.0")));
            }
        };
        let name = if self.dual { "d_division" } else { "saltus_division" };
        Ok(format!("{name}(c, {kind}, {a}, {b})"))
    }

    /// A scalar decided by an `if`.
    fn choice(
        &mut self,
        c: &str,
        a: impl FnOnce(&mut Self) -> Res<String>,
        b: impl FnOnce(&mut Self) -> Res<String>,
    ) -> Res<String> {
        let (t, num) = (self.name(), self.num());
        self.line(&format!("{num} {t};\n  if ({c}) {{"));
        let a = a(self)?;
        self.line(&format!("{t} = {a};\n  }} else {{"));
        let b = b(self)?;
        self.line(&format!("{t} = {b};\n  }}"));
        Ok(t)
    }

    fn sx(&mut self, e: &Sx) -> Res<String> {
        let p = self.p();
        Ok(match e {
            Sx::Num(v) => self.lit(*v),
            Sx::Local(k) => format!("s{k}"),
            Sx::BinLL(op, a, b) => {
                let v = self.binary(*op, &format!("s{a}"), &format!("s{b}"));
                self.scalar(&v)
            }
            Sx::BinLN(op, a, v) => {
                let v = self.binary(*op, &format!("s{a}"), &self.lit(*v));
                self.scalar(&v)
            }
            Sx::Bin(op @ (Binary::Eq | Binary::Ne), ab) if let (Sx::Compare(texts), Sx::Num(0.0)) = (&ab.0, &ab.1) => {
                let (a, b) = (self.sx(&texts.0)?, self.sx(&texts.1)?);
                let v = self.op2(Op2::Text(*op), &a, &b)?;
                self.scalar(&v)
            }
            Sx::Bin(op, ab) => {
                let (a, b) = (self.sx(&ab.0)?, self.sx(&ab.1)?);
                let v = self.binary(*op, &a, &b);
                self.scalar(&v)
            }
            Sx::Un(op, a) => {
                let a = self.sx(a)?;
                let v = self.unary(*op, &a);
                self.scalar(&v)
            }
            Sx::Op2(op, ab) => {
                let (a, b) = (self.sx(&ab.0)?, self.sx(&ab.1)?);
                let v = self.op2(*op, &a, &b)?;
                self.scalar(&v)
            }
            Sx::And(ab) => {
                let a = self.sx(&ab.0)?;
                let zero = self.lit(0.0);
                let c = format!("{} == 0.0", self.value(&a));
                self.choice(
                    &c,
                    |_| Ok(zero),
                    |w| {
                        let b = w.sx(&ab.1)?;
                        Ok(w.binary(Binary::And, &a, &b))
                    },
                )?
            }
            Sx::Or(ab) => {
                let a = self.sx(&ab.0)?;
                let one = self.lit(1.0);
                let c = format!("{} != 0.0", self.value(&a));
                self.choice(
                    &c,
                    |_| Ok(one),
                    |w| {
                        let b = w.sx(&ab.1)?;
                        Ok(w.binary(Binary::Or, &a, &b))
                    },
                )?
            }
            Sx::If(parts) => {
                let c = self.sx(&parts.0)?;
                let c = format!("{} != 0.0", self.value(&c));
                self.choice(&c, |w| w.sx(&parts.1), |w| w.sx(&parts.2))?
            }
            Sx::Elem1(k, i) => {
                let i = self.sx(i)?;
                let v = format!("*{p}_at1(c, a{k}, {})", self.value(&i));
                self.scalar(&v)
            }
            Sx::Elem2(k, ij) => {
                let (i, j) = (self.sx(&ij.0)?, self.sx(&ij.1)?);
                let v = format!("*{p}_at2(c, a{k}, {}, {})", self.value(&i), self.value(&j));
                self.scalar(&v)
            }
            Sx::ElemN(k, at) => self.pick(&format!("a{k}"), at)?,
            Sx::Pick(base, at) => {
                let a = self.ax(base)?;
                self.pick(&a, at)?
            }
            Sx::SizeLocal(k, d) => self.lift(&format!("(double)a{k}.n[{d}]")),
            Sx::Size(parts) => {
                let a = self.ax(&parts.0)?;
                let d = self.sx(&parts.1)?;
                let v = format!("(double){a}.n[saltus_at(c, {}, {a}.rank)]", self.value(&d));
                let v = self.lift(&v);
                self.scalar(&v)
            }
            Sx::Call(f, args, out) => {
                let outs = self.call(*f, args)?;
                match outs.into_iter().nth(*out as usize) {
                    Some((y, false)) => y,
                    _ => return Err("an output of another rank".into()),
                }
            }
            Sx::Reduce(red, a) => {
                let a = self.ax(a)?;
                let (t, num, i) = (self.name(), self.num(), self.name());
                let first = self.lit(empty(*red));
                let step = self.binary(combine(*red), &t, &format!("{a}.at[{i}]"));
                self.line(&format!("{num} {t} = {first};"));
                self.line(&format!(
                    "for (size_t {i} = 0; {i} < {p}_count({a}); {i}++) {t} = {i} == 0 ? {a}.at[0] : {step};"
                ));
                t
            }
            Sx::ReduceFor(red, body, iters) => {
                let (t, num, begun) = (self.name(), self.num(), self.name());
                let first = self.lit(empty(*red));
                self.line(&format!("{num} {t} = {first};\n  int {begun} = 0;"));
                self.nest(iters, |b, _| {
                    b.scope(false, |b, _| {
                        let v = b.sx(body)?;
                        let step = b.binary(combine(*red), &t, &v);
                        b.line(&format!("{t} = {begun} ? {step} : {v};\n  {begun} = 1;"));
                        Ok(())
                    })
                })?;
                t
            }
            Sx::Dot(ab) => {
                let (a, b) = (self.ax(&ab.0)?, self.ax(&ab.1)?);
                self.line(&format!("{p}_same(c, {a}, {b});"));
                self.scalar(&format!("{p}_dot((int){p}_count({a}), {a}.at, 1, {b}.at, 1)"))
            }
            Sx::Scalar(a) => {
                let a = self.arg_array(a)?;
                self.line(&format!("if ({p}_count({a}) != 1) saltus_fail(c, \"scalar of an array\");"));
                self.scalar(&format!("{a}.at[0]"))
            }
            Sx::SemiLinear(parts) => {
                let (x, k, n) = (self.sx(&parts.0)?, self.sx(&parts.1)?, self.sx(&parts.2)?);
                let v = self.semi_linear(&x, &k, &n);
                self.scalar(&v)
            }
            Sx::ToString(ty, args) => {
                let kind = match ty {
                    ScalarType::Integer | ScalarType::Enumeration => 1,
                    ScalarType::Boolean => 2,
                    ScalarType::String => 3,
                    _ => 0,
                };
                let mut list = ["0.0", "0.0", "1.0", "6.0"].map(String::from);
                for (to, a) in list.iter_mut().zip(args) {
                    let v = self.sx(a)?;
                    *to = self.value(&v);
                }
                let v = self.lift(&format!("saltus_string(c, {kind}, {})", list.join(", ")));
                self.scalar(&v)
            }
            Sx::Format(parts) => {
                let (x, f) = (self.sx(&parts.0)?, self.sx(&parts.1)?);
                let v = self.lift(&format!("saltus_format(c, {}, {})", self.value(&x), self.value(&f)));
                self.scalar(&v)
            }
            Sx::EnumToString(args) => {
                let mut list = Vec::new();
                for a in args {
                    let v = self.sx(a)?;
                    list.push(self.value(&v));
                }
                let (t, n) = (self.name(), list.len() - 1);
                self.line(&format!("const double {t}[] = {{{}}};", list[1..].join(", ")));
                let v = self.lift(&format!("{t}[saltus_at(c, {}, {n})]", list[0]));
                self.scalar(&v)
            }
            Sx::Compare(ab) => {
                let (a, b) = (self.sx(&ab.0)?, self.sx(&ab.1)?);
                let v = self.lift(&format!("saltus_order(c, {}, {})", self.value(&a), self.value(&b)));
                self.scalar(&v)
            }
        })
    }

    fn semi_linear(&self, x: &str, k: &str, n: &str) -> String {
        let (a, b) = (self.binary(Binary::Mul, k, x), self.binary(Binary::Mul, n, x));
        format!("{} >= 0.0 ? {a} : {b}", self.value(x))
    }

    fn pick(&mut self, a: &str, at: &[Sx]) -> Res<String> {
        let mut list = Vec::new();
        for e in at {
            let v = self.sx(e)?;
            list.push(self.value(&v));
        }
        let (t, p) = (self.name(), self.p());
        self.line(&format!("const double {t}[] = {{{}}};", list.join(", ")));
        Ok(self.scalar(&format!("*{p}_place(c, {a}, {}, {t})", at.len())))
    }

    /// Calls a function; its outputs, and whether they are arrays.
    fn call(&mut self, f: FuncId, args: &[Arg]) -> Res<Vec<(String, bool)>> {
        let Some(g) = self.executor.lowered(f) else { return Err("a function that is not known".into()) };
        let mut list = vec!["c".to_string()];
        for a in args {
            list.push(match a {
                Arg::S(s) => self.sx(s)?,
                Arg::A(a) => self.ax(a)?,
            });
        }
        let (p, num) = (self.p(), self.num());
        let mut outs = Vec::new();
        for o in &g.outputs {
            let (t, is_array) = (self.name(), matches!(o.slot, Slot::A(_)));
            self.line(&if is_array { format!("{p}_array {t};") } else { format!("{num} {t};") });
            list.push(format!("&{t}"));
            outs.push((t, is_array));
        }
        self.line(&format!("{p}_f{}({});", f.0, list.join(", ")));
        Ok(outs)
    }

    // ---- arrays ----

    fn arg_array(&mut self, a: &Arg) -> Res<String> {
        match a {
            Arg::S(s) => {
                let (v, p) = (self.sx(s)?, self.p());
                Ok(self.array(&format!("{p}_one(c, {v})")))
            }
            Arg::A(a) => self.ax(a),
        }
    }

    /// An array of the same sizes, its elements computed one by one.
    fn each(&mut self, like: &str, value: impl FnOnce(&Self, &str) -> Res<String>) -> Res<String> {
        let p = self.p();
        let t = self.array(&format!("{p}_room(c, {like})"));
        let i = self.name();
        let v = value(self, &i)?;
        self.line(&format!("for (size_t {i} = 0; {i} < {p}_count({t}); {i}++) {t}.at[{i}] = {v};"));
        Ok(t)
    }

    fn simple(&mut self, name: &str, a: &Ax) -> Res<String> {
        let (a, p) = (self.ax(a)?, self.p());
        Ok(self.array(&format!("{p}_{name}(c, {a})")))
    }

    fn pair(&mut self, name: &str, ab: &(Ax, Ax)) -> Res<String> {
        let (a, b, p) = (self.ax(&ab.0)?, self.ax(&ab.1)?, self.p());
        Ok(self.array(&format!("{p}_{name}(c, {a}, {b})")))
    }

    /// The name of an array; it may share the elements of a local.
    fn ax(&mut self, e: &Ax) -> Res<String> {
        let p = self.p();
        Ok(match e {
            Ax::Local(k) => format!("a{k}"),
            Ax::Map1(op, a) => {
                let a = self.ax(a)?;
                self.each(&a, |w, i| Ok(w.unary(*op, &format!("{a}.at[{i}]"))))?
            }
            Ax::Map2(op, ab) => match (&ab.0, &ab.1) {
                (Arg::S(a), Arg::A(b)) => {
                    let (a, b) = (self.sx(a)?, self.ax(b)?);
                    self.each(&b, |w, i| w.op2(*op, &a, &format!("{b}.at[{i}]")))?
                }
                (Arg::A(a), Arg::S(b)) => {
                    let (a, b) = (self.ax(a)?, self.sx(b)?);
                    self.each(&a, |w, i| w.op2(*op, &format!("{a}.at[{i}]"), &b))?
                }
                (Arg::A(a), Arg::A(b)) => {
                    let (a, b) = (self.ax(a)?, self.ax(b)?);
                    self.line(&format!("{p}_same(c, {a}, {b});"));
                    self.each(&a, |w, i| w.op2(*op, &format!("{a}.at[{i}]"), &format!("{b}.at[{i}]")))?
                }
                (Arg::S(a), Arg::S(b)) => {
                    let (a, b) = (self.sx(a)?, self.sx(b)?);
                    let v = self.op2(*op, &a, &b)?;
                    self.array(&format!("{p}_one(c, {v})"))
                }
            },
            Ax::If(parts) => {
                let c = self.sx(&parts.0)?;
                let c = self.value(&c);
                let t = self.name();
                self.line(&format!("{p}_array {t};\n  if ({c} != 0.0) {{"));
                let a = self.ax(&parts.1)?;
                self.line(&format!("{t} = {a};\n  }} else {{"));
                let b = self.ax(&parts.2)?;
                self.line(&format!("{t} = {b};\n  }}"));
                t
            }
            Ax::Array(..) if let Some((dims, values)) = numbers(e).filter(|n| n.1.len() > 8) => {
                // A compiler takes long for as many statements.
                let (data, list) = (self.name(), values.iter().map(|v| literal_c(*v)).collect::<Vec<_>>());
                let lines: Vec<String> = list.chunks(8).map(|l| l.join(", ")).collect();
                self.line(&format!("static const double {data}[] = {{\n    {}\n  }};", lines.join(",\n    ")));
                let t = self.array(&format!("{p}_empty({})", dims.len()));
                for (d, n) in dims.iter().enumerate() {
                    self.line(&format!("{t}.n[{d}] = {n};"));
                }
                let v = self.lift(&format!("{data}[i]"));
                self.line(&format!("{t} = {p}_room(c, {t});"));
                self.line(&format!("for (size_t i = 0; i < {p}_count({t}); i++) {t}.at[i] = {v};"));
                t
            }
            Ax::Array(items, 0) => {
                let mut list = Vec::new();
                for x in items {
                    if let Arg::S(s) = x {
                        list.push(self.sx(s)?);
                    }
                }
                let t = self.array(&format!("{p}_vector(c, {})", items.len()));
                for (i, v) in list.iter().enumerate() {
                    self.line(&format!("{t}.at[{i}] = {v};"));
                }
                t
            }
            Ax::Array(items, _) => {
                let parts = self.parts(items)?;
                // A new first dimension: the elements joined along it.
                let t = self.name();
                self.line(&format!("{p}_array {t} = {p}_empty({parts}[0].rank + 1);"));
                self.line(&format!(
                    "{t}.n[0] = {n};\n  for (int i = 0; i < {parts}[0].rank; i++) {t}.n[i + 1] = {parts}[0].n[i];\n  {t} = {p}_room(c, {t});",
                    n = items.len()
                ));
                self.line(&format!(
                    "for (size_t i = 0, k = 0; i < {n}; i++) {{ {p}_same(c, {parts}[0], {parts}[i]); for (size_t j = 0; j < {p}_count({parts}[i]); j++) {t}.at[k++] = {parts}[i].at[j]; }}",
                    n = items.len()
                ));
                t
            }
            Ax::Range(it) => {
                let list = self.list(it)?;
                let t = self.array(&format!("{p}_vector(c, {})", list.n));
                let i = self.name();
                let v = self.element(&list, &i);
                self.line(&format!("for (int {i} = 0; {i} < {}; {i}++) {t}.at[{i}] = {v};", list.n));
                t
            }
            Ax::For(body, iters) => self.comprehension(body, iters)?,
            Ax::SumFor(body, iters) => {
                let (t, begun) = (self.array(&format!("{p}_empty(0)")), self.name());
                self.line(&format!("int {begun} = 0;"));
                self.nest(iters, |b, _| {
                    b.scope(true, |b, mark| {
                        let v = b.ax(body)?;
                        let sum = b.binary(Binary::Add, &format!("{t}.at[i]"), &format!("{v}.at[i]"));
                        b.line(&format!("if (!{begun}) {{ {t} = {p}_copy(c, {v}); {begun} = 1; }} else {{\n  {p}_same(c, {t}, {v});\n  for (size_t i = 0; i < {p}_count({t}); i++) {t}.at[i] = {sum};\n  c->top = {mark};\n  }}"));
                        Ok(())
                    })
                })?;
                self.line(&format!("if (!{begun}) saltus_fail(c, \"an empty sum of arrays has no size\");"));
                t
            }
            Ax::Index(base, ix) => {
                let a = self.ax(base)?;
                let part = self.part(&a, ix)?;
                self.array(&format!("{p}_pick(c, {a}, &{part})"))
            }
            Ax::Call(f, args, out) => {
                let outs = self.call(*f, args)?;
                match outs.into_iter().nth(*out as usize) {
                    Some((y, true)) => y,
                    _ => return Err("an output of another rank".into()),
                }
            }
            Ax::SizeV(a) => {
                let a = self.arg_array(a)?;
                let t = self.array(&format!("{p}_vector(c, {a}.rank)"));
                let v = self.lift(&format!("(double){a}.n[i]"));
                self.line(&format!("for (int i = 0; i < {a}.rank; i++) {t}.at[i] = {v};"));
                t
            }
            Ax::MatMul(ab) => self.pair("product", ab)?,
            Ax::Transpose(a) => self.simple("transpose", a)?,
            Ax::Identity(n) => {
                let n = self.size(n)?;
                self.array(&format!("{p}_identity(c, {n})"))
            }
            Ax::Diagonal(a) => self.simple("diagonal", a)?,
            Ax::Fill(v, sizes) => {
                let v = self.arg_array(v)?;
                let mut list = Vec::new();
                for s in sizes {
                    list.push(self.size(s)?);
                }
                let t = self.name();
                self.line(&format!("const int {t}[] = {{{}}};", list.join(", ")));
                self.array(&format!("{p}_repeat(c, {v}, {}, {t})", list.len()))
            }
            Ax::Linspace(parts) => {
                let (a, b) = (self.sx(&parts.0)?, self.sx(&parts.1)?);
                let n = self.size(&parts.2)?;
                self.array(&format!("{p}_linspace(c, {a}, {b}, {n})"))
            }
            Ax::Cat(k, items, rank) => {
                let parts = self.parts(items)?;
                self.array(&format!("{p}_cat(c, {k}, {rank}, {}, {parts})", items.len()))
            }
            Ax::Promote(a, rank) => {
                let a = self.arg_array(a)?;
                self.array(&format!("{p}_promote(c, {a}, {rank})"))
            }
            Ax::Vector(a) => {
                let a = self.arg_array(a)?;
                self.array(&format!("{p}_as_vector(c, {a})"))
            }
            Ax::Matrix(a) => {
                let a = self.arg_array(a)?;
                self.array(&format!("{p}_as_matrix(c, {a})"))
            }
            Ax::Outer(ab) => self.pair("outer", ab)?,
            Ax::Symmetric(a) => self.simple("symmetric", a)?,
            Ax::Cross(ab) => self.pair("cross", ab)?,
            Ax::Skew(a) => self.simple("skew", a)?,
            Ax::MatPow(parts) => {
                let a = self.ax(&parts.0)?;
                let k = self.sx(&parts.1)?;
                let k = self.value(&k);
                self.array(&format!("{p}_power(c, {a}, {k})"))
            }
            Ax::SemiLinear(parts) => {
                let mut list = Vec::new();
                for a in [&parts.0, &parts.1, &parts.2] {
                    list.push(match a {
                        Arg::S(s) => (self.sx(s)?, false),
                        Arg::A(a) => (self.ax(a)?, true),
                    });
                }
                let Some(like) = list.iter().find(|a| a.1).map(|a| a.0.clone()) else {
                    return Err("semiLinear of scalars as an array".into());
                };
                for (a, _) in list.iter().filter(|a| a.1) {
                    self.line(&format!("{p}_same(c, {like}, {a});"));
                }
                self.each(&like, |w, i| {
                    let at = |(a, many): &(String, bool)| if *many { format!("{a}.at[{i}]") } else { a.clone() };
                    Ok(w.semi_linear(&at(&list[0]), &at(&list[1]), &at(&list[2])))
                })?
            }
        })
    }

    /// A C array of the arguments.
    fn parts(&mut self, items: &[Arg]) -> Res<String> {
        let mut list = Vec::new();
        for x in items {
            list.push(self.arg_array(x)?);
        }
        let (t, p) = (self.name(), self.p());
        self.line(&format!("{p}_array {t}[{}];", list.len().max(1)));
        for (i, v) in list.iter().enumerate() {
            self.line(&format!("{t}[{i}] = {v};"));
        }
        Ok(t)
    }

    fn comprehension(&mut self, body: &Arg, iters: &[(u32, Iter)]) -> Res<String> {
        let p = self.p();
        let (t, at) = (self.array(&format!("{p}_empty({})", iters.len())), self.name());
        self.line(&format!("size_t {at} = 0;"));
        let sizes = std::cell::RefCell::new(Vec::new());
        // The memory is there once the first element is known.
        self.nest(iters, |b, n| {
            sizes.borrow_mut().extend(n.iter().cloned());
            b.scope(true, |b, mark| {
                let v = match body {
                    Arg::S(s) => {
                        let v = b.sx(s)?;
                        b.array(&format!("{p}_one(c, {v})"))
                    }
                    Arg::A(a) => b.ax(a)?,
                };
                b.line(&format!("size_t keep = {mark};\n  if (!{at}) {{"));
                for (d, n) in n.iter().rev().enumerate() {
                    b.line(&format!("{t}.n[{d}] = {n};"));
                }
                b.line(&format!("{t}.rank = {} + {v}.rank;\n  if ({t}.rank > SALTUS_RANK) saltus_fail(c, \"an array of too many dimensions\");\n  for (int i = 0; i < {v}.rank; i++) {t}.n[{} + i] = {v}.n[i];\n  {t} = {p}_room(c, {t}); keep = c->top;\n  }} else if ({t}.rank != {} + {v}.rank || memcmp({t}.n + {}, {v}.n, (size_t){v}.rank * sizeof(int)) != 0) saltus_fail(c, \"the elements of an array have different sizes\");", n.len(), n.len(), n.len(), n.len()));
                b.line(&format!("for (size_t i = 0; i < {p}_count({v}); i++) {t}.at[{at}++] = {v}.at[i];\n  c->top = keep;"));
                Ok(())
            })
        })?;
        self.line(&format!("if (!{t}.at) {{"));
        for (d, n) in sizes.into_inner().iter().rev().enumerate() {
            self.line(&format!("{t}.n[{d}] = {n};"));
        }
        self.line(&format!("{t} = {p}_room(c, {t});\n  }}"));
        Ok(t)
    }
}

/// The sizes and elements of an array that is written out in numbers.
fn numbers(e: &Ax) -> Option<(Vec<usize>, Vec<f64>)> {
    let Ax::Array(items, _) = e else { return None };
    let (mut sizes, mut values) = (None, Vec::new());
    for x in items {
        let (inner, part) = match x {
            Arg::S(Sx::Num(v)) => (Vec::new(), vec![*v]),
            Arg::A(a) => numbers(a)?,
            Arg::S(_) => return None,
        };
        if *sizes.get_or_insert(inner.clone()) != inner {
            return None;
        }
        values.extend(part);
    }
    Some((std::iter::once(items.len()).chain(sizes?).collect(), values))
}

/// What an iterator runs over: how many values, and either first and step or an array.
struct List {
    n: String,
    range: Option<(String, String)>,
    values: String,
}

/// A message as far as it is constant.
fn text(e: &Sx) -> String {
    match e {
        Sx::Num(h) => strings::text(*h).to_string(),
        Sx::Op2(Op2::Concat, ab) => text(&ab.0) + &text(&ab.1),
        _ => "...".into(),
    }
}

/// The functions that templates call, each once, with what is read of them.
pub fn called(calls: impl IntoIterator<Item = Called>) -> Vec<Called> {
    let mut out: FxHashMap<(FuncId, bool), Called> = FxHashMap::default();
    for c in calls {
        let known = out.entry((c.func, c.dual)).or_insert(c);
        known.outs = known.outs.max(c.outs);
    }
    let mut list: Vec<Called> = out.into_values().collect();
    list.sort_by_key(|c| (c.func, c.dual));
    list
}
