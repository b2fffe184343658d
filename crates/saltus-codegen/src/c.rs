//! A plan as C99.

use crate::plan::{Op, Plan, Step};
use saltus_expr::{Binary, ExprId, Pool, Unary};
use std::fmt::Write;

/// What the text of [`kernel_c`] relies on: put it once at the top of the file.
pub const PRELUDE_C: &str = r#"#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Evaluates functions of the model. */
typedef struct saltus_host {
    double (*call)(void *self, uint32_t func, const double *args, size_t n, uint32_t out);
    double (*call_der)(void *self, uint32_t func, const double *args, const double *dargs, size_t n, uint32_t out);
    void *self;
} saltus_host;

/* The value an index word names; its high bit negates. */
static inline double saltus_load(const double *values, uint32_t word) {
    uint64_t bits;
    double v;
    memcpy(&bits, &values[word & 0x7fffffffu], sizeof bits);
    bits ^= (uint64_t)(word >> 31) << 63;
    memcpy(&v, &bits, sizeof v);
    return v;
}
static inline double saltus_sign(double a) { return a > 0.0 ? 1.0 : a < 0.0 ? -1.0 : 0.0; }
static inline double saltus_min(double a, double b) { return b < a ? b : a; }
static inline double saltus_max(double a, double b) { return b > a ? b : a; }
static inline double saltus_pow(double a, double b) {
    return b == 2.0 ? a * a : b == 3.0 ? a * a * a : b == 4.0 ? (a * a) * (a * a) : pow(a, b);
}
"#;

/// The kernel of a template as a C99 function
/// `void name(double *values, const uint32_t *words, size_t rows, const saltus_host *host)`, with the meaning of the
/// native kernel. Needs [`PRELUDE_C`]; compile with `-ffp-contract=off` for the same bits. `host` is used by templates
/// with function calls only.
pub fn kernel_c(pool: &Pool, template: ExprId, holes: usize, name: &str) -> String {
    write_c(&Plan::new(pool, template, holes), name)
}

/// A number as a C literal with exactly its bits.
pub fn literal_c(v: f64) -> String {
    let (bits, sign) = (v.to_bits(), if v.is_sign_negative() { "-" } else { "" });
    let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i64, bits & ((1 << 52) - 1));
    match exponent {
        0x7ff if fraction != 0 => "NAN".into(),
        0x7ff => format!("({sign}INFINITY)"),
        // Small integers read better in decimal.
        _ if v.fract() == 0.0 && v.abs() < 1e6 && sign.is_empty() => format!("{v:.1}"),
        _ if v.fract() == 0.0 && v.abs() < 1e6 => format!("({v:.1})"),
        0 => format!("({sign}0x0.{fraction:013x}p-1022)"),
        _ => format!("({sign}0x1.{fraction:013x}p{})", exponent - 1023),
    }
}

/// A C string constant; anything but plain characters by its octal code.
pub fn quoted_c(text: &str) -> String {
    let mut o = String::from("\"");
    for b in text.bytes() {
        match b {
            b'"' | b'\\' | b'?' | 0..=31 | 127.. => {
                let _ = write!(o, "\\{b:03o}");
            }
            b => o.push(b as char),
        }
    }
    o.push('"');
    o
}

fn write_c(plan: &Plan, name: &str) -> String {
    let mut o = String::new();
    // Writing to a String does not fail.
    let _ = write_kernel(plan, name, &mut o);
    o
}

fn write_kernel(plan: &Plan, name: &str, o: &mut String) -> std::fmt::Result {
    let v = |s: &Step| match &plan.ops[*s as usize] {
        Op::Const(c) => literal_c(*c),
        _ => format!("v{s}"),
    };
    writeln!(o, "void {name}(double *values, const uint32_t *words, size_t rows, const saltus_host *host) {{")?;
    writeln!(o, "  (void)host;")?;
    writeln!(o, "  for (; rows > 0; rows--, words += {}) {{", plan.holes + 1)?;
    // The steps that give an open `if` its value are declared before it.
    for (i, op) in plan.ops.iter().enumerate() {
        match op {
            Op::Const(_) => {}
            Op::Load(s) => writeln!(o, "    const double v{i} = values[{s}];")?,
            Op::Store(s, a) => writeln!(o, "    values[{s}] = {};", v(a))?,
            Op::Hole(k) => writeln!(o, "    const double v{i} = saltus_load(values, words[{}]);", k + 1)?,
            Op::Unary(op, a) => writeln!(o, "    const double v{i} = {};", unary_c(*op, &v(a)))?,
            Op::Binary(op, a, b) => writeln!(o, "    const double v{i} = {};", binary_c(*op, &v(a), &v(b)))?,
            Op::Select(c, a, b) => writeln!(o, "    const double v{i} = {} != 0.0 ? {} : {};", v(c), v(a), v(b))?,
            Op::If { cond, to_else } => {
                let Op::Else { end, .. } = plan.ops[*to_else as usize] else { unreachable!("branches nest") };
                writeln!(o, "    double v{end};\n    if ({} != 0.0) {{", v(cond))?;
            }
            Op::Else { value, end } => writeln!(o, "    v{end} = {};\n    }} else {{", v(value))?,
            Op::End { value } => writeln!(o, "    v{i} = {};\n    }}", v(value))?,
            Op::Call { func, at, n, out } => {
                let list: Vec<String> = plan.args[*at as usize..][..*n as usize].iter().map(v).collect();
                let list = if list.is_empty() { "0.0".into() } else { list.join(", ") };
                writeln!(o, "    const double a{i}[] = {{{list}}};")?;
                writeln!(o, "    const double v{i} = host->call(host->self, {}u, a{i}, {n}, {out}u);", func.0)?;
            }
            Op::CallDer { func, at, n, out } => {
                let list: Vec<String> = plan.args[*at as usize..][..2 * *n as usize].iter().map(v).collect();
                let list = if list.is_empty() { "0.0".into() } else { list.join(", ") };
                writeln!(o, "    const double a{i}[] = {{{list}}};")?;
                let func = func.0;
                writeln!(
                    o,
                    "    const double v{i} = host->call_der(host->self, {func}u, a{i}, a{i} + {n}, {n}, {out}u);"
                )?;
            }
        }
    }
    writeln!(o, "    values[words[0] & 0x7fffffffu] = {};", v(&plan.result))?;
    writeln!(o, "  }}\n}}")
}

pub(crate) fn unary_c(op: Unary, a: &str) -> String {
    let name = match op {
        Unary::Neg => return format!("-{a}"),
        Unary::Not => return format!("(double)({a} == 0.0)"),
        Unary::Abs => "fabs",
        Unary::Sign => "saltus_sign",
        Unary::Sqrt => "sqrt",
        Unary::Exp => "exp",
        Unary::Log => "log",
        Unary::Log10 => "log10",
        Unary::Sin => "sin",
        Unary::Cos => "cos",
        Unary::Tan => "tan",
        Unary::Asin => "asin",
        Unary::Acos => "acos",
        Unary::Atan => "atan",
        Unary::Sinh => "sinh",
        Unary::Cosh => "cosh",
        Unary::Tanh => "tanh",
        Unary::Floor => "floor",
        Unary::Ceil => "ceil",
        Unary::Trunc => "trunc",
    };
    format!("{name}({a})")
}

pub(crate) fn binary_c(op: Binary, a: &str, b: &str) -> String {
    let truth = |op: &str| format!("(double)({a} {op} {b})");
    match op {
        Binary::Add => format!("{a} + {b}"),
        Binary::Sub => format!("{a} - {b}"),
        Binary::Mul => format!("{a} * {b}"),
        Binary::Div => format!("{a} / {b}"),
        Binary::Pow => format!("saltus_pow({a}, {b})"),
        Binary::Atan2 => format!("atan2({a}, {b})"),
        Binary::Min => format!("saltus_min({a}, {b})"),
        Binary::Max => format!("saltus_max({a}, {b})"),
        Binary::Lt => truth("<"),
        Binary::Le => truth("<="),
        Binary::Gt => truth(">"),
        Binary::Ge => truth(">="),
        Binary::Eq => truth("=="),
        Binary::Ne => truth("!="),
        Binary::And => format!("(double)({a} != 0.0 && {b} != 0.0)"),
        Binary::Or => format!("(double)({a} != 0.0 || {b} != 0.0)"),
    }
}
