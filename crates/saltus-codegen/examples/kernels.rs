//! Native code against gcc -O2 on two kernels over many rows, and the time to compile templates.
//!
//! `cargo run --release -p saltus-codegen --example kernels`

use saltus_codegen::{Jit, PRELUDE_C, Tiered, kernel_c};
use saltus_expr::{ExprId, FuncId, Pool, Unary};
use saltus_program::{Backend, Batch, CallHost, Interpreter, Rows};
use std::fmt::Write as _;
use std::process::Command;
use std::time::Instant;

const ROWS: usize = 100_000;
const TURNS: usize = 40;

struct NoCalls;
impl CallHost for NoCalls {
    fn call(&mut self, _: FuncId, _: &[f64], _: u32) -> f64 {
        f64::NAN
    }
    fn call_der(&mut self, _: FuncId, _: &[f64], _: &[f64], _: u32) -> f64 {
        f64::NAN
    }
}

/// `der(T[i]) = k (T[i-1] - 2 T[i] + T[i+1]) / dx^2`: holes left, middle, right, k.
fn stencil(pool: &mut Pool) -> ExprId {
    let [l, m, r, k] = [0, 1, 2, 3].map(|i| pool.hole(i));
    let two = pool.num(2.0);
    let scale = pool.num(1e4);
    let mm = pool.mul(two, m);
    let d = pool.sub(l, mm);
    let d = pool.add(d, r);
    let d = pool.mul(k, d);
    pool.mul(d, scale)
}

/// About 50 operations with sharing, a division, a root and two branches.
fn fifty(pool: &mut Pool) -> ExprId {
    let [a, b, c, k] = [0, 1, 2, 3].map(|i| pool.hole(i));
    let mut e = pool.mul(a, b);
    for i in 0..7 {
        let n = pool.num(0.5 + f64::from(i));
        let p = pool.mul(e, n);
        let q = pool.add(p, c);
        let s = pool.mul(q, k);
        let t = pool.sub(s, e);
        let u = pool.bin(saltus_expr::Binary::Min, t, q);
        e = pool.add(u, a);
    }
    let d = pool.mul(e, e);
    let one = pool.num(1.0);
    let d = pool.add(d, one);
    let root = pool.un(Unary::Sqrt, d);
    let slope = pool.div(e, root);
    let less = pool.bin(saltus_expr::Binary::Lt, slope, b);
    let x = pool.div(slope, d);
    let x = pool.mul(x, c);
    let y = pool.mul(slope, d);
    pool.select(less, x, y)
}

fn rows() -> (Vec<f64>, Rows) {
    // 0: k, 1 ..= ROWS + 2: grid, then derivatives.
    let mut values: Vec<f64> = (0..ROWS + 3).map(|i| 1.0 + ((i * 7919) % 1000) as f64 * 1e-3).collect();
    values.resize(2 * ROWS + 3, 0.0);
    let words = (0..ROWS as u32).flat_map(|i| [ROWS as u32 + 3 + i, i + 1, i + 2, i + 3, 0]).collect();
    (values, Rows::new(words, 5))
}

/// The fastest turn, in nanoseconds a row.
fn time(backend: &mut dyn Backend, pool: &Pool, e: ExprId) -> f64 {
    let kernel = backend.kernel(pool, e, 4);
    backend.finish();
    let (mut values, rows) = rows();
    let batch = Batch { kernel, rows };
    let mut best = f64::INFINITY;
    for _ in 0..TURNS {
        let start = Instant::now();
        backend.run(&batch, &mut values, &mut NoCalls);
        best = best.min(start.elapsed().as_secs_f64());
    }
    best / ROWS as f64 * 1e9
}

/// The same kernel by gcc, timed in its own process.
fn time_c(pool: &Pool, e: ExprId, flags: &[&str]) -> Option<f64> {
    let dir = std::env::temp_dir().join(format!("saltus-kernels-{}", std::process::id()));
    std::fs::create_dir_all(&dir).ok()?;
    let mut source = format!(
        "#define _POSIX_C_SOURCE 199309L\n{PRELUDE_C}#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>\n"
    );
    source.push_str(&kernel_c(pool, e, 4, "kernel"));
    let _ = write!(
        source,
        "int main(void) {{
            size_t n = {ROWS}; double *v = malloc((2*n+3)*sizeof *v); uint32_t *w = malloc(5*n*sizeof *w);
            for (size_t i = 0; i < 2*n+3; i++) v[i] = i < n+3 ? 1.0 + (double)((i*7919)%1000)*1e-3 : 0.0;
            for (size_t i = 0; i < n; i++) {{
                w[5*i] = n+3+i; w[5*i+1] = i+1; w[5*i+2] = i+2; w[5*i+3] = i+3; w[5*i+4] = 0; }}
            double best = 1e9;
            for (int t = 0; t < {TURNS}; t++) {{
                struct timespec a, b; clock_gettime(CLOCK_MONOTONIC, &a);
                kernel(v, w, n, 0);
                clock_gettime(CLOCK_MONOTONIC, &b);
                double s = (double)(b.tv_sec-a.tv_sec) + 1e-9*(double)(b.tv_nsec-a.tv_nsec);
                if (s < best) best = s; }}
            printf(\"%.6f %g\\n\", best/(double)n*1e9, v[n+3]); return 0; }}\n"
    );
    let (file, program) = (dir.join("k.c"), dir.join("k"));
    std::fs::write(&file, source).ok()?;
    let built = Command::new("gcc").args(flags).arg(&file).arg("-o").arg(&program).arg("-lm").output().ok()?;
    if !built.status.success() {
        eprintln!("{}", String::from_utf8_lossy(&built.stderr));
        return None;
    }
    let out = Command::new(&program).output().ok()?;
    let _ = std::fs::remove_dir_all(&dir);
    String::from_utf8_lossy(&out.stdout).split_whitespace().next()?.parse().ok()
}

fn main() {
    let start = Instant::now();
    let mut jit = Jit::new().expect("native code");
    println!("Jit::new                {:8.3} ms", start.elapsed().as_secs_f64() * 1e3);
    let mut pool = Pool::new();
    let kernels = [("stencil", stencil(&mut pool)), ("50 operations", fifty(&mut pool))];
    let start = Instant::now();
    jit.kernel(&pool, kernels[0].1, 4);
    jit.finish();
    println!("first kernel            {:8.3} ms", start.elapsed().as_secs_f64() * 1e3);
    for (name, e) in kernels {
        let interpreter = time(&mut Interpreter::new(), &pool, e);
        let tape = time(&mut Tiered::with_threshold(u32::MAX), &pool, e);
        let native = time(&mut jit, &pool, e);
        println!("{name}: ns per row: interpreter {interpreter:.2}, tape {tape:.2}, native {native:.2}");
        if let Some(c) = time_c(&pool, e, &["-std=c99", "-O2", "-ffp-contract=off"]) {
            println!("{name}: gcc -O2 {c:.2} ns per row; native / gcc = {:.2}", native / c);
        }
    }
    // Distinct small templates, compiled together and one by one.
    let small: Vec<ExprId> = (0..500)
        .map(|i| {
            let n = pool.num(f64::from(i) + 0.25);
            let [a, b, c] = [0, 1, 2].map(|k| pool.hole(k));
            let p = pool.mul(a, n);
            let q = pool.un(Unary::Sin, b);
            let s = pool.add(p, q);
            let d = pool.div(s, c);
            pool.sub(d, n)
        })
        .collect();
    let start = Instant::now();
    let mut all = Jit::new().expect("native code");
    for &e in &small {
        all.kernel(&pool, e, 3);
    }
    all.finish();
    println!("500 small templates, one finish: {:.3} ms each", start.elapsed().as_secs_f64() * 1e3 / 500.0);
    let start = Instant::now();
    let mut each = Jit::new().expect("native code");
    for &e in &small {
        each.kernel(&pool, e, 3);
        each.finish();
    }
    println!("500 small templates, finish each: {:.3} ms each", start.elapsed().as_secs_f64() * 1e3 / 500.0);
    let start = Instant::now();
    let mut big = Jit::new().expect("native code");
    big.kernel(&pool, kernels[1].1, 4);
    big.finish();
    println!("50 operations, alone: {:.3} ms", start.elapsed().as_secs_f64() * 1e3);
    for n in [400, 2000, 10_000] {
        let h: Vec<ExprId> = (0..n).map(|k| pool.hole(k)).collect();
        let left = h[1..].iter().fold(h[0], |s, &x| pool.add(s, x));
        let right = h[1..].iter().fold(h[0], |s, &x| pool.add(x, s));
        for (name, sum) in [("left", left), ("right", right)] {
            let start = Instant::now();
            let mut jit = Jit::new().expect("native code");
            jit.kernel(&pool, sum, n as usize);
            jit.finish();
            println!("sum of {n} holes, {name} first: {:.2} ms", start.elapsed().as_secs_f64() * 1e3);
        }
    }
}
