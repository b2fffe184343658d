//! Interpreter, tape, native code and C agree bit for bit (NaN payloads aside).

mod common;

use common::{BINARY, Gene, HOLES, UNARY, bits, genes, rows, run, same, template};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use saltus_codegen::{Jit, JoinedC, PRELUDE_C, PlanC, Tiered, kernel_c, run_c};
use saltus_expr::{Binary, ExprId, Node, Pool, Unary, display};
use saltus_program::{Backend, Batch, Chain, Interpreter, NEGATE, Rows};
use std::fmt::Write as _;
use std::process::Command;

fn check(pool: &Pool, e: ExprId, values: &[f64], rows: &Rows) {
    let reference = run(&mut Interpreter::new(), pool, e, values, rows);
    let native = run(&mut Jit::new().expect("native code"), pool, e, values, rows);
    let text = || display(pool, e, &|k| format!("h{k}"), &|f| format!("f{}", f.0));
    if let Err(d) = same(&reference, &native) {
        panic!("interpreter and native code differ: {d}\n{}", text());
    }
    let tape = run(&mut Tiered::with_threshold(u32::MAX), pool, e, values, rows);
    if let Err(d) = same(&reference, &tape) {
        panic!("interpreter and tape differ: {d}\n{}", text());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_templates(genes in genes(), seed: u64, calls: bool) {
        let mut pool = Pool::new();
        let e = template(&mut pool, &genes, calls);
        let (values, rows) = rows(150, seed);
        check(&pool, e, &values, &rows);
    }
}

/// Arithmetic alone: what is computed two rows at a time.
fn arithmetic(pool: &mut Pool, genes: &[Gene]) -> ExprId {
    let binary = [Binary::Add, Binary::Sub, Binary::Mul, Binary::Div, Binary::Min, Binary::Max];
    let mut made: Vec<ExprId> = (0..HOLES as u32).map(|k| pool.hole(k)).collect();
    for &(kind, op, a, b, _) in genes {
        let (x, y) = (made[a as usize % made.len()], made[b as usize % made.len()]);
        let e = match kind % 8 {
            0 => pool.num(f64::from(op) - 100.0),
            1 => pool.intern(Node::Unary([Unary::Neg, Unary::Abs, Unary::Sqrt][op as usize % 3], x)),
            2 => {
                let c = pool.num(f64::from(2 + op % 3));
                pool.intern(Node::Binary(Binary::Pow, x, c))
            }
            _ => pool.intern(Node::Binary(binary[op as usize % binary.len()], x, y)),
        };
        made.push(e);
    }
    made[made.len() - 1]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Rows that advance: with their own loop, two at a time where they are independent.
    #[test]
    fn random_runs(genes in genes(), seed: u64, plain: bool, count in 16usize..60, recurrent: bool, apart in 1u32..4) {
        let mut pool = Pool::new();
        let e = if plain { arithmetic(&mut pool, &genes) } else { template(&mut pool, &genes, true) };
        let (mut values, _) = rows(0, seed);
        let inputs = values.len();
        for i in 0..400 {
            values.push(f64::from(i) * 0.37 - 11.0);
        }
        let first = values.len() as u32;
        values.resize(values.len() + apart as usize * count, 0.0);
        let mut state = seed | 1;
        let mut words = vec![Vec::new(); count];
        for k in 0..HOLES {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let negate = if state >> 40 & 1 == 1 { NEGATE } else { 0 };
            let behind = recurrent && k == 0;
            let start = if behind { first - apart } else { 180 + (state >> 33) as u32 % (inputs as u32) };
            let step = if behind { apart as i32 } else { [0, 1, 0, 1, 2, 3, -1, -3][(state >> 41) as usize % 8] };
            for (r, row) in words.iter_mut().enumerate() {
                row.push((start as i32 + step * r as i32) as u32 | negate);
            }
        }
        let words: Vec<u32> = words.into_iter().enumerate().flat_map(|(r, w)| [first + apart * r as u32].into_iter().chain(w)).collect();
        let rows = Rows::new(words, HOLES + 1);
        prop_assert_eq!(rows.runs().len(), 1);
        let reference = run(&mut Interpreter::new(), &pool, e, &values, &rows);
        let native = run(&mut Tiered::with_threshold(0), &pool, e, &values, &rows);
        if let Err(d) = same(&reference, &native) {
            panic!("interpreter and native code differ: {d}\n{}", display(&pool, e, &|k| format!("h{k}"), &|f| format!("f{}", f.0)));
        }
    }

    /// Batches joined into one piece of code.
    #[test]
    fn random_chains(all in proptest::collection::vec(genes(), 2..6), seed: u64, calls: bool) {
        let mut pool = Pool::new();
        let templates: Vec<ExprId> = all.iter().map(|g| template(&mut pool, g, calls)).collect();
        // Rows of different kernels in turn, each reading inputs and what was computed before it.
        let (values, every) = rows(30, seed);
        let mut results = Vec::new();
        for native in [false, true] {
            let mut backend: Box<dyn Backend> =
                if native { Box::new(Tiered::with_threshold(0)) } else { Box::new(Interpreter::new()) };
            let batches: Vec<Batch> = every.words().chunks(3 * every.stride).enumerate().map(|(i, w)| {
                let kernel = backend.kernel(&pool, templates[i % templates.len()], HOLES);
                Batch { kernel, rows: Rows::new(w.to_vec(), every.stride) }
            }).collect();
            backend.finish();
            let chain = Chain::from(batches);
            let mut v = values.clone();
            // Twice, so that the compiled form runs: values of the first time are inputs of the second.
            for _ in 0..2 {
                backend.run_chain(&chain, &mut v, &mut common::Host::default());
            }
            results.push(v);
        }
        if let Err(d) = same(&results[0], &results[1]) {
            panic!("interpreter and native code differ: {d}");
        }
    }
}

/// Every operation alone, on every pair of special and ordinary numbers, plain and negated.
#[test]
fn every_operation() {
    let numbers = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        1.5,
        -1.5,
        2.5,
        2.0,
        3.0,
        4.0,
        1e-310,
        1e308,
        4503599627370497.5,
        1e19,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        0.7,
    ];
    let n = numbers.len();
    let mut words = Vec::new();
    for i in 0..n {
        for j in 0..n {
            for sign in [0, NEGATE] {
                words.extend([(n + words.len() / 3) as u32, i as u32 | sign, j as u32]);
            }
        }
    }
    let mut values = numbers.to_vec();
    values.resize(n + words.len() / 3, 0.0);
    let rows = Rows::new(words, 3);
    let mut pool = Pool::new();
    let (x, y) = (pool.hole(0), pool.hole(1));
    for op in UNARY {
        let e = pool.intern(Node::Unary(op, x));
        check(&pool, e, &values, &rows);
    }
    for op in BINARY {
        let e = pool.intern(Node::Binary(op, x, y));
        check(&pool, e, &values, &rows);
        for c in [0.0, 2.0, 3.0, 4.0, 0.5, -1.0] {
            let c = pool.num(c);
            let e = pool.intern(Node::Binary(op, x, c));
            check(&pool, e, &values, &rows);
        }
        // Relations as numbers, as conditions, and under `not`.
        let relation = pool.intern(Node::Binary(op, x, y));
        let not = pool.intern(Node::Unary(Unary::Not, relation));
        let sum = pool.intern(Node::Binary(Binary::Add, relation, x));
        let choice = pool.intern(Node::If(relation, sum, y));
        for e in [not, sum, choice] {
            check(&pool, e, &values, &rows);
        }
    }
}

/// One C program with all kernels prints the bits of the values after each.
#[test]
fn c_agrees() {
    let Some(cc) = ["gcc", "cc"].into_iter().find(|c| Command::new(c).arg("--version").output().is_ok()) else {
        eprintln!("no C compiler: skipped");
        return;
    };
    let mut runner = TestRunner::deterministic();
    let strategy = proptest::collection::vec(any::<Gene>(), 20..60);
    let (values, rows) = rows(40, 12345);
    let mut source = String::from(PRELUDE_C);
    source.push_str("#include <stdio.h>\n#include <stdlib.h>\n");
    source.push_str(
        "static double call(void *s, uint32_t f, const double *a, size_t n, uint32_t out) {
            double v = (double)f - (double)out; (void)s;
            for (size_t i = 0; i < n; i++) v = 0.5 * v + a[i];
            return v; }
        static double call_der(void *s, uint32_t f, const double *a, const double *d, size_t n, uint32_t out) {
            double v = (double)f - (double)out; (void)s;
            for (size_t i = 0; i < n; i++) v = 0.5 * v + a[i] * d[i];
            return v; }\n",
    );
    let mut expected = String::new();
    let mut calls = String::new();
    let kernels = 60;
    for k in 0..kernels {
        let genes = strategy.new_tree(&mut runner).expect("a template").current();
        let mut pool = Pool::new();
        let e = template(&mut pool, &genes, k % 2 == 0);
        source.push_str(&kernel_c(&pool, e, HOLES, &format!("kernel{k}")));
        let _ = writeln!(calls, "  check(kernel{k});");
        let mut expect = |values: Vec<f64>| {
            values.into_iter().for_each(|v| {
                let _ = writeln!(expected, "{:016x}", bits(v));
            })
        };
        expect(run(&mut Jit::new().expect("native code"), &pool, e, &values, &rows));
        // The same rows joined into straight code, and a run with strides.
        let (plan, mut joined) = (PlanC::new(&pool, e, HOLES), JoinedC::default());
        let some = Rows::new(rows.words()[..6 * rows.stride].to_vec(), rows.stride);
        some.words().chunks(some.stride).for_each(|row| joined.row(&plan, row));
        source.push_str(&joined.finish(&format!("joined{k}")));
        let _ = writeln!(
            source,
            "void straight{k}(double *v, const uint32_t *w, size_t n, const saltus_host *h) {{ (void)w; (void)n; joined{k}(v, h); }}"
        );
        let _ = writeln!(calls, "  check(straight{k});");
        expect(run(&mut Interpreter::new(), &pool, e, &values, &some));
        let (last, strides) = (values.len() as u32 - 1, [0, 1, 2, -1]);
        let word = |h: usize, r: u32| match strides[(h + k) % 4] {
            -1 => 20 - r,
            by => h as u32 + by as u32 * r,
        };
        let words = (0..18).flat_map(|r| {
            std::iter::once(last - 2 * r)
                .chain((0..HOLES).map(move |h| word(h, r) | if h % 3 == 0 { NEGATE } else { 0 }))
        });
        let affine = Rows::new(words.collect(), HOLES + 1);
        let [one] = affine.runs() else { panic!("{:?}", affine.runs()) };
        source.push_str(&run_c(&pool, e, HOLES, (&one.pattern, one.independent), &format!("run{k}")));
        let places: Vec<String> = affine.words()[..=HOLES].iter().map(|w| format!("v + {}", w & !NEGATE)).collect();
        let _ = writeln!(
            source,
            "void looped{k}(double *v, const uint32_t *w, size_t n, const saltus_host *h) {{ (void)w; (void)n; run{k}({}, 18, h); }}",
            places.join(", ")
        );
        let _ = writeln!(calls, "  check(looped{k});");
        expect(run(&mut Interpreter::new(), &pool, e, &values, &affine));
    }
    let list = |it: &mut dyn Iterator<Item = String>| it.collect::<Vec<_>>().join(",");
    let inputs = list(&mut values.iter().map(|v| format!("0x{:x}", v.to_bits())));
    let words = list(&mut rows.words().iter().map(|w| format!("{w}u")));
    let (n, count) = (values.len(), rows.len());
    let _ = write!(
        source,
        "static const uint64_t inputs[] = {{{inputs}}};\nstatic const uint32_t words[] = {{{words}}};
        static void check(void (*f)(double *, const uint32_t *, size_t, const saltus_host *)) {{
            double v[{n}]; saltus_host h = {{call, call_der, 0}};
            memcpy(v, inputs, sizeof v); f(v, words, {count}, &h);
            for (int i = 0; i < {n}; i++) {{ uint64_t b; memcpy(&b, &v[i], 8);
                printf(\"%016llx\\n\", v[i] != v[i] ? 0x7ff8000000000000ull : (unsigned long long)b); }} }}
        int main(void) {{\n{calls}  return 0;\n}}\n"
    );
    let dir = std::env::temp_dir().join(format!("saltus-codegen-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a temporary directory");
    let (file, program) = (dir.join("kernels.c"), dir.join("kernels"));
    std::fs::write(&file, &source).expect("writable");
    let flags =
        ["-std=c99", "-O2", "-ffp-contract=off", "-Wall", "-Werror", "-Wno-unused-function", "-Wno-unused-variable"];
    let built = Command::new(cc).args(flags).arg(&file).arg("-o").arg(&program).arg("-lm").output().expect("runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let out = Command::new(&program).output().expect("runs");
    let _ = std::fs::remove_dir_all(&dir);
    let text = String::from_utf8_lossy(&out.stdout);
    for (i, (a, b)) in expected.lines().zip(text.lines()).enumerate() {
        assert_eq!(a, b, "kernel {} value {}", i / n, i % n);
    }
    assert_eq!(expected.lines().count(), text.lines().count());
}

fn one_row(holes: usize) -> (Vec<f64>, Rows) {
    let mut values: Vec<f64> = (0..=holes).map(|i| 1.0 + (i % 7) as f64 * 0.25).collect();
    values[0] = 0.0;
    (values, Rows::new((0..=holes as u32).collect(), holes + 1))
}

fn native_value(pool: &Pool, e: ExprId, holes: usize) -> f64 {
    let (values, rows) = one_row(holes);
    run(&mut Jit::new().expect("native code"), pool, e, &values, &rows)[0]
}

#[test]
fn large_sums_both_ways() {
    for holes in [400, 10_000] {
        let mut pool = Pool::new();
        let h: Vec<ExprId> = (0..holes as u32).map(|k| pool.hole(k)).collect();
        let left = h.iter().skip(1).fold(h[0], |s, &x| pool.add(s, x));
        let right = h.iter().rev().skip(1).fold(h[holes - 1], |s, &x| pool.add(x, s));
        let (values, _) = one_row(holes);
        let start = std::time::Instant::now();
        assert_eq!(native_value(&pool, left, holes), values[2..].iter().fold(values[1], |s, x| s + x));
        eprintln!("sum of {holes}, left: {:?}", start.elapsed());
        let start = std::time::Instant::now();
        assert_eq!(native_value(&pool, right, holes), values[1..holes].iter().rev().fold(values[holes], |s, x| x + s));
        eprintln!("sum of {holes}, right: {:?}", start.elapsed());
    }
}

#[test]
fn deep_chains() {
    let mut pool = Pool::new();
    let (x, y) = (pool.hole(0), pool.hole(1));
    let mut e = x;
    for _ in 0..20_000 {
        let p = pool.mul(e, y);
        e = pool.sub(p, x);
    }
    let start = std::time::Instant::now();
    let v = native_value(&pool, e, 2);
    eprintln!("chain of 40000: {:?}", start.elapsed());
    let (a, b) = (1.25f64, 1.5);
    let expected = (0..20_000).fold(a, |s, _| s * b - a);
    assert_eq!(v.to_bits(), expected.to_bits());
}

/// `elseif` chains nest as deep as they are long.
#[test]
fn deep_branches() {
    let mut pool = Pool::new();
    let (x, y) = (pool.hole(0), pool.hole(1));
    let mut e = y;
    for k in (0..2000).rev() {
        let k = pool.num(f64::from(k) * 0.001);
        let c = pool.bin(Binary::Lt, x, k);
        let s = pool.mul(y, k);
        let s = pool.un(Unary::Sin, s);
        e = pool.select(c, s, e);
    }
    let start = std::time::Instant::now();
    assert_eq!(native_value(&pool, e, 2), (1.5f64 * (1251.0 * 0.001)).sin());
    eprintln!("elseif chain of 2000: {:?}", start.elapsed());
}

/// Both parts of each `if` use the next: with every part copied this would be 2^60 steps.
#[test]
fn diamonds_stay_small() {
    let mut pool = Pool::new();
    let (x, y) = (pool.hole(0), pool.hole(1));
    for conditional in [false, true] {
        let mut e = x;
        for k in 0..60 {
            let k = pool.num(f64::from(k) * 0.1);
            let c = pool.bin(Binary::Lt, y, k);
            let s = pool.un(Unary::Sin, e);
            let d = pool.un(Unary::Cos, e);
            let (a, b) = (pool.div(s, x), pool.div(d, y));
            e = if conditional {
                // Needed in two parts of three.
                let c2 = pool.bin(Binary::Gt, x, k);
                let other = pool.un(Unary::Exp, k);
                let other = pool.mul(other, y);
                let b = pool.select(c2, b, other);
                let z = pool.div(y, x);
                let a = pool.select(c2, z, a);
                pool.select(c, a, b)
            } else {
                pool.select(c, a, b)
            };
        }
        let v = native_value(&pool, e, 2);
        assert!(v.is_finite());
        let (values, rows) = one_row(2);
        let tape = run(&mut Tiered::with_threshold(u32::MAX), &pool, e, &values, &rows);
        assert_eq!(v.to_bits(), tape[0].to_bits());
        let calls = saltus_expr::eval(&pool, e, &|k| values[k as usize + 1], &mut saltus_expr::NoCalls);
        assert_eq!(v.to_bits(), calls.to_bits());
    }
}

/// Only the chosen part calls.
#[test]
fn branches_do_not_speculate_calls() {
    let mut pool = Pool::new();
    let (x, y) = (pool.hole(0), pool.hole(1));
    let zero = pool.num(0.0);
    let c = pool.bin(Binary::Gt, x, zero);
    let f = pool.call(saltus_expr::FuncId(3), [x, y].into(), 0);
    let g = pool.call(saltus_expr::FuncId(4), [].into(), 0);
    let e = pool.select(c, f, g);
    let e = pool.select(y, e, x);
    let mut jit = Jit::new().expect("native code");
    let kernel = jit.kernel(&pool, e, 2);
    jit.finish();
    assert!(jit.is_native(kernel));
    let mut host = common::Host::default();
    let mut values = [0.0, 1.0, 0.0, 2.0];
    let mut go = |words: Vec<u32>| {
        host.0 = 0;
        jit.run(&Batch { kernel, rows: Rows::new(words, 3) }, &mut values, &mut host);
        (values[0], host.0)
    };
    assert_eq!(go(vec![0, 1, 2]), (1.0, 0));
    assert_eq!(go(vec![0, 1, 3]), (3.25, 1));
    assert_eq!(go(vec![0, 1 | NEGATE, 3]), (4.0, 1));
}

#[test]
fn unfinished_kernels_run() {
    let mut pool = Pool::new();
    let x = pool.hole(0);
    let e = pool.mul(x, x);
    let mut jit = Jit::new().expect("native code");
    let kernel = jit.kernel(&pool, e, 1);
    let mut values = [0.0, 3.0];
    let batch = Batch { kernel, rows: Rows::new(vec![0, 1], 2) };
    jit.run(&batch, &mut values, &mut common::Host::default());
    assert_eq!((values[0], jit.is_native(kernel)), (9.0, false));
    jit.finish();
    let later = pool.add(x, x);
    let later = jit.kernel(&pool, later, 1);
    assert_eq!((jit.is_native(kernel), jit.is_native(later)), (true, false));
    jit.finish();
    assert!(jit.is_native(later));
    // Wider rows than declared, and no rows at all.
    let wide = Batch { kernel, rows: Rows::new(vec![0, 1, 1], 3) };
    jit.run(&wide, &mut values, &mut common::Host::default());
    jit.run(&Batch { kernel, rows: Rows::new(vec![], 2) }, &mut values, &mut common::Host::default());
}

#[test]
#[should_panic(expected = "index word outside the values")]
fn words_are_checked() {
    let mut pool = Pool::new();
    let x = pool.hole(0);
    let e = pool.mul(x, x);
    let rows = Rows::new(vec![0, 2 | NEGATE], 2);
    run(&mut Jit::new().expect("native code"), &pool, e, &[0.0, 1.0], &rows);
}

#[test]
fn tiers_change_nothing() {
    let mut pool = Pool::new();
    let genes: Vec<Gene> =
        (0..40).map(|i| (i * 7, i * 11, u16::from(i) * 37, u16::from(i) * 91, u16::from(i) * 53)).collect();
    let e = template(&mut pool, &genes, true);
    let mut tiered = Tiered::with_threshold(100);
    let kernel = tiered.kernel(&pool, e, HOLES);
    tiered.finish();
    let (values, rows) = rows(30, 99);
    let reference = run(&mut Interpreter::new(), &pool, e, &values, &rows);
    for turn in 0..6 {
        let mut v = values.clone();
        tiered.run(&Batch { kernel, rows: rows.clone() }, &mut v, &mut common::Host::default());
        same(&reference, &v).expect("the same");
        assert_eq!(tiered.compiled(), usize::from(turn >= 3), "turn {turn}");
    }
    assert!(tiered.error().is_none());
}

struct Panics;
impl saltus_program::CallHost for Panics {
    fn call(&mut self, _: saltus_expr::FuncId, _: &[f64], _: u32) -> f64 {
        panic!("host gives up")
    }
    fn call_der(&mut self, _: saltus_expr::FuncId, _: &[f64], _: &[f64], _: u32) -> f64 {
        panic!("host gives up")
    }
}

#[test]
#[should_panic(expected = "host gives up")]
fn host_panics_pass_through() {
    let mut pool = Pool::new();
    let x = pool.hole(0);
    let e = pool.call(saltus_expr::FuncId(0), [x].into(), 0);
    let mut jit = Jit::new().expect("native code");
    let kernel = jit.kernel(&pool, e, 1);
    jit.finish();
    jit.run(&Batch { kernel, rows: Rows::new(vec![0, 1], 2) }, &mut [0.0, 1.0], &mut Panics);
}
