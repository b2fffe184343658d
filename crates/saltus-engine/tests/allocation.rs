//! A run allocates nothing between events, once it is under way.

use saltus_engine::{Engine, Options};
use saltus_results::{Column, Sink};
use saltus_sim::{Quiet, RunOptions};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;
thread_local! {
    /// Allocations of this thread: the test harness has others.
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: all calls are passed on to the system allocator as they are.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, l: Layout) -> *mut u8 {
        let _ = COUNT.try_with(|c| c.set(c.get() + 1));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(l) }
    }
    unsafe fn dealloc(&self, p: *mut u8, l: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(p, l) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Notes the count at every row.
#[derive(Default)]
struct AtRows(Vec<usize>);

impl Sink for AtRows {
    fn begin(&mut self, _: &[Column]) -> std::io::Result<()> {
        self.0.reserve(10_000);
        Ok(())
    }
    fn row(&mut self, _: f64, _: &[f64], _: Option<&[bool]>) -> std::io::Result<()> {
        self.0.push(COUNT.with(Cell::get));
        Ok(())
    }
    fn finish(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Runs a model to its stop time by each solver; after two thirds of it (its end is an event) nothing is
/// allocated any more.
fn check(name: &str, solvers: &[&str], text: &str) {
    let path = std::env::temp_dir().join(format!("saltus-allocation-{}-{name}.mo", std::process::id()));
    std::fs::write(&path, text).expect("a temporary file");
    for solver in solvers {
        let mut engine = Engine::new(Options::default());
        let model = engine.open(&path.to_string_lossy(), None).expect("opens");
        let dae = engine.flatten(&model).expect("flattens");
        let options = RunOptions { intervals: Some(3000), solver: Some((*solver).into()), ..RunOptions::default() };
        let mut rows = AtRows::default();
        engine.simulate(dae, &options, &mut rows, &mut Quiet).expect("runs");
        let rows = &rows.0[2 * rows.0.len() / 3..9 * rows.0.len() / 10];
        // What has become worth compiling is compiled, each piece once.
        let allocating = rows.windows(2).filter(|w| w[1] > w[0]).count();
        assert!(allocating <= 4, "{name} by {solver}: allocations before {allocating} of {} rows", rows.len());
    }
    let _ = std::fs::remove_file(&path);
}

#[test]
fn assignments_and_assertions() {
    check(
        "assignments",
        &["bdf", "dopri5", "radau", "lsoda"],
        "model M Real x(start = 0.3, fixed = true), y(start = 2, fixed = true), z(min = -100); equation
           z = sin(x)*y; der(x) = z^2 - y; der(y) = (if x > -100 then -x*z else 1) - y/10; assert(x < 1e9, \"large\");
           annotation(experiment(StopTime = 30)); end M;",
    );
}

#[test]
fn loops_and_functions() {
    check(
        "loops",
        &["bdf", "dopri5", "esdirk"],
        "function f input Real u; output Real y; protected Real t; Integer n; algorithm
           y := 1; t := 1; n := 0; while abs(t) > 1e-18 loop n := n + 1; t := t*u/n; y := y + t; end while; end f;
         model M Real x(start = 0.7, fixed = true), y(start = 1, fixed = true), u(start = 1), v, a, b, c; equation
           u + 0.1*v^3 = x + 2; v + 0.2*sin(u) = y; a + 0.1*sin(x)*b + c = 3; b - 0.1*cos(y)*a - c = 1; 2*c + 0.1*x*a = f(sin(time));
           der(x) = sin(u - v) - x; der(y) = cos(u) - y + 0.01*(a + b); annotation(experiment(StopTime = 30)); end M;",
    );
}

#[test]
fn a_sparse_system() {
    check(
        "sparse",
        &["bdf", "radau"],
        "model M parameter Integer n = 100; Real u[n](each fixed = true, start = {sin(i) for i in 1:n}); equation
           der(u[1]) = u[2] - u[1]^3 + sin(time);
           for i in 2:n - 1 loop der(u[i]) = u[i - 1] + u[i + 1] - 2*u[i]; end for;
           der(u[n]) = -u[n] + u[n - 1]; annotation(experiment(StopTime = 30)); end M;",
    );
}
