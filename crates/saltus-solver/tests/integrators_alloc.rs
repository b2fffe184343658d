//! No integrator allocates within a step.

use saltus_solver::ode::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;
thread_local! {
    /// Allocations of this thread: the test harness has others.
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

fn count() -> usize {
    COUNT.with(Cell::get)
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

struct Ring(Option<Pattern>, usize);

impl OdeSystem for Ring {
    fn dim(&self) -> usize {
        self.1
    }
    fn rhs(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), EvalError> {
        let n = self.1;
        for i in 0..n {
            dx[i] = 50.0 * (x[(i + 1) % n] - x[i]) + x[i].sin() + (3.0 * t + i as f64).cos();
        }
        Ok(())
    }
    fn sparsity(&self) -> Option<&Pattern> {
        self.0.as_ref()
    }
}

#[test]
fn a_step_allocates_nothing() {
    for n in [3, 60] {
        let p = (n > 10).then(|| Pattern::from_entries(n, n, (0..n).flat_map(|i| [(i, i), (i, (i + 1) % n)])));
        let mut s = Ring(p, n);
        let x0: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
        for name in INTEGRATORS {
            let mut o = Options::new(n, 1e-5, 1e-6);
            if ["ab2", "ab3", "ab4", "milne"].contains(name) {
                o.fixed_step = Some(1e-3);
            }
            let mut m = make_integrator(name, n, o).unwrap();
            m.restart(&mut s, 0.0, &x0, Restart::Cold).unwrap();
            for _ in 0..60 {
                m.step(&mut s, 1e9).unwrap();
            }
            let before = count();
            for _ in 0..60 {
                m.step(&mut s, 1e9).unwrap();
            }
            assert_eq!(count() - before, 0, "{name} n = {n}");
        }
    }
}
