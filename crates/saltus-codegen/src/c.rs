//! A plan as C99.

use crate::chain::Joiner;
use crate::plan::{Op, Plan, Step};
use saltus_expr::{Binary, ExprId, Pool, Unary};
use saltus_program::Advance;
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
/* Rows of the loop that follows neither read nor write what another writes. */
#if defined(__GNUC__) && !defined(__clang__)
#define SALTUS_INDEPENDENT _Pragma("GCC ivdep")
#else
#define SALTUS_INDEPENDENT
#endif
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

/// The kernel of a template for runs of one pattern ([`saltus_program::Run`]):
/// `void name(double *to, const double *h1, …, ptrdiff_t rows, const saltus_host *host)`, given where the first row's values are.
pub fn run_c(
    pool: &Pool,
    template: ExprId,
    holes: usize,
    (pattern, independent): (&[Advance], bool),
    name: &str,
) -> String {
    let plan = Plan::new(pool, template, holes);
    let mut o = String::new();
    let _ = write_run(&plan, pattern, independent, name, &mut o);
    o
}

/// Rows of several kernels as one function `void name(double *values, const saltus_host *host)`, joined as in native code.
#[derive(Default)]
pub struct JoinedC {
    joiner: Joiner,
}

impl JoinedC {
    /// Number of operations so far.
    pub fn len(&self) -> usize {
        self.joiner.len()
    }

    /// Whether there is no row yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends a row of a template, given its index words.
    pub fn row(&mut self, plan: &PlanC, words: &[u32]) {
        self.joiner.row(&plan.0, words);
    }

    /// The function.
    pub fn finish(self, name: &str) -> String {
        let (plan, _) = self.joiner.finish();
        let mut o = format!("void {name}(double *values, const saltus_host *host) {{\n  (void)host;\n");
        // Writing to a String does not fail.
        let _ = write_steps(&plan, &mut o, &|k| format!("values[{k}]"));
        o.push_str("}\n");
        o
    }
}

/// A template planned for [`JoinedC`].
pub struct PlanC(Plan);

impl PlanC {
    /// The plan of a template.
    pub fn new(pool: &Pool, template: ExprId, holes: usize) -> PlanC {
        PlanC(Plan::new(pool, template, holes))
    }

    /// Number of operations of one row.
    pub fn len(&self) -> usize {
        self.0.ops.len()
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.0.ops.is_empty()
    }
}

fn write_c(plan: &Plan, name: &str) -> String {
    let mut o = String::new();
    // Writing to a String does not fail.
    let _ = write_kernel(plan, name, &mut o);
    o
}

/// The value of a step as a C expression.
fn value_c(plan: &Plan, s: &Step) -> String {
    match &plan.ops[*s as usize] {
        Op::Const(c) => literal_c(*c),
        _ => format!("v{s}"),
    }
}

fn write_kernel(plan: &Plan, name: &str, o: &mut String) -> std::fmt::Result {
    writeln!(o, "void {name}(double *values, const uint32_t *words, size_t rows, const saltus_host *host) {{")?;
    writeln!(o, "  (void)host;")?;
    writeln!(o, "  for (; rows > 0; rows--, words += {}) {{", plan.holes + 1)?;
    write_steps(plan, o, &|k| format!("saltus_load(values, words[{}])", k + 1))?;
    writeln!(o, "    values[words[0] & 0x7fffffffu] = {};", value_c(plan, &plan.results[0]))?;
    writeln!(o, "  }}\n}}")
}

fn write_run(plan: &Plan, pattern: &[Advance], independent: bool, name: &str, o: &mut String) -> std::fmt::Result {
    let holes: Vec<String> = (1..pattern.len()).map(|k| format!("const double *h{k}, ")).collect();
    writeln!(o, "void {name}(double *to, {}ptrdiff_t rows, const saltus_host *host) {{", holes.concat())?;
    writeln!(o, "  (void)host;")?;
    // What stays is loaded once, unless a row might write it.
    let stays = |p: &Advance| p.by == 0 && independent;
    for (k, p) in pattern.iter().enumerate().skip(1) {
        match stays(p) {
            true => writeln!(o, "  const double x{k} = {}*h{k};\n  (void)x{k};", if p.negate { "-" } else { "" })?,
            false => writeln!(o, "  (void)h{k};")?,
        }
    }
    if independent {
        writeln!(o, "  SALTUS_INDEPENDENT")?;
    }
    writeln!(o, "  for (ptrdiff_t i = 0; i < rows; i++) {{")?;
    let at = |by: i32| match by {
        0 => "0".into(),
        1 => "i".into(),
        by => format!("i * {by}"),
    };
    write_steps(plan, o, &|k| match pattern.get(k as usize + 1) {
        Some(p) if stays(p) => format!("x{}", k + 1),
        Some(p) => format!("{}h{}[{}]", if p.negate { "-" } else { "" }, k + 1, at(p.by)),
        None => "NAN".into(),
    })?;
    writeln!(o, "    to[{}] = {};", at(pattern.first().map_or(1, |p| p.by)), value_c(plan, &plan.results[0]))?;
    writeln!(o, "  }}\n}}")
}

/// The steps of a row; `hole` is the expression of a hole.
fn write_steps(plan: &Plan, o: &mut String, hole: &dyn Fn(u32) -> String) -> std::fmt::Result {
    let v = |s: &Step| value_c(plan, s);
    // Where each `if` and `else` ends: that step gives the `if` its value, and is declared before it.
    let mut ends = vec![0; plan.ops.len()];
    let mut open: Vec<usize> = Vec::new();
    for (i, op) in plan.ops.iter().enumerate().rev() {
        match op {
            Op::End { .. } => open.push(i),
            Op::Else { .. } => ends[i] = open.last().copied().unwrap_or(i),
            Op::If { .. } => ends[i] = open.pop().unwrap_or(i),
            _ => {}
        }
    }
    for (i, op) in plan.ops.iter().enumerate() {
        match op {
            Op::Const(_) => {}
            Op::Load(s) => writeln!(o, "    const double v{i} = values[{s}];")?,
            Op::Store(s, a) => writeln!(o, "    values[{s}] = {};", v(a))?,
            Op::Hole(k) => writeln!(o, "    const double v{i} = {};", hole(*k))?,
            Op::Unary(op, a) => writeln!(o, "    const double v{i} = {};", unary_c(*op, &v(a)))?,
            Op::Binary(op, a, b) => writeln!(o, "    const double v{i} = {};", binary_c(*op, &v(a), &v(b)))?,
            Op::Select(c, a, b) => writeln!(o, "    const double v{i} = {} != 0.0 ? {} : {};", v(c), v(a), v(b))?,
            Op::If { cond, .. } => writeln!(o, "    double v{};\n    if ({} != 0.0) {{", ends[i], v(cond))?,
            Op::Else { value, .. } => writeln!(o, "    v{} = {};\n    }} else {{", ends[i], v(value))?,
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
    Ok(())
}

pub(crate) fn unary_c(op: Unary, a: &str) -> String {
    match op {
        Unary::Neg => format!("-{a}"),
        Unary::Not => format!("(double)({a} == 0.0)"),
        Unary::Sign => format!("saltus_sign({a})"),
        Unary::Abs => format!("fabs({a})"),
        Unary::Event => a.into(),
        _ => format!("{}({a})", op.name()),
    }
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
