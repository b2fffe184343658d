//! `include/saltus_solver.h` for callers in C: a thin layer over [`saltus_solver::hybrid`].
//!
//! Every function checks its pointers for null; what they point to is the caller's word, as in any C library.

use saltus_solver::dae::{DaeOptions, DaeSystem};
use saltus_solver::hybrid::{Advance, Event, HybridDae, HybridSystem, Reaction};
use saltus_solver::linear::Pattern;
use saltus_solver::ode::{EvalError, JacobianMatrix, Options};
use std::ffi::{CString, c_char, c_int, c_uchar, c_void};

/// The model as the header defines it.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct SaltusModel {
    pub size: usize,
    pub functions: usize,
    pub conditions: usize,
    pub user: *mut c_void,
    pub residual: Option<unsafe extern "C" fn(f64, *const f64, *const f64, *mut f64, *mut c_void) -> c_int>,
    pub jacobian: Option<unsafe extern "C" fn(f64, *const f64, *const f64, f64, *mut f64, *mut c_void) -> c_int>,
    pub column_starts: *const usize,
    pub rows: *const usize,
    pub differential: *const c_uchar,
    pub algebraic_equation: *const c_uchar,
    pub discontinuities: Option<unsafe extern "C" fn(f64, *const f64, *const f64, *mut f64, *mut c_void)>,
    pub condition: Option<unsafe extern "C" fn(usize, *const c_uchar, *mut c_void) -> c_int>,
    pub check: Option<unsafe extern "C" fn(f64, *const f64, *const f64, *mut c_void) -> c_int>,
    pub event: Option<unsafe extern "C" fn(f64, *const c_uchar, c_int, *mut f64, *mut f64, *mut c_void) -> c_int>,
}

struct Foreign {
    model: SaltusModel,
    pattern: Option<Pattern>,
    differential: Vec<bool>,
    algebraic: Vec<bool>,
    positive: Vec<u8>,
}

fn verdict(code: c_int) -> Result<(), EvalError> {
    match code {
        0 => Ok(()),
        1 => Err(EvalError::Domain),
        _ => Err(EvalError::Fatal),
    }
}

// SAFETY of the calls below: the caller gave functions that take these arguments, and slices have the model's sizes.
impl DaeSystem for Foreign {
    fn dim(&self) -> usize {
        self.model.size
    }
    fn residual(&mut self, t: f64, x: &[f64], xp: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
        let f = self.model.residual.ok_or(EvalError::Fatal)?;
        verdict(unsafe { f(t, x.as_ptr(), xp.as_ptr(), r.as_mut_ptr(), self.model.user) })
    }
    fn jacobian(
        &mut self,
        t: f64,
        x: &[f64],
        xp: &[f64],
        cj: f64,
        jac: &mut JacobianMatrix,
    ) -> Result<bool, EvalError> {
        let Some(f) = self.model.jacobian else { return Ok(false) };
        let values = jac.values_mut().as_mut_ptr();
        verdict(unsafe { f(t, x.as_ptr(), xp.as_ptr(), cj, values, self.model.user) }).map(|()| true)
    }
    fn sparsity(&self) -> Option<&Pattern> {
        self.pattern.as_ref()
    }
    fn is_differential(&self, i: usize) -> bool {
        self.differential[i]
    }
    fn is_algebraic_equation(&self, i: usize) -> bool {
        self.algebraic[i]
    }
}

impl HybridSystem for Foreign {
    fn functions(&self) -> usize {
        if self.model.discontinuities.is_some() { self.model.functions } else { 0 }
    }
    fn discontinuities(&mut self, t: f64, x: &[f64], xp: &[f64], g: &mut [f64]) {
        if let Some(f) = self.model.discontinuities {
            unsafe { f(t, x.as_ptr(), xp.as_ptr(), g.as_mut_ptr(), self.model.user) }
        }
    }
    fn conditions(&self) -> usize {
        self.model.conditions
    }
    fn condition(&mut self, k: usize, positive: &[bool]) -> bool {
        let Some(f) = self.model.condition else { return positive.get(k).copied().unwrap_or(false) };
        self.positive.clear();
        self.positive.extend(positive.iter().map(|&p| u8::from(p)));
        unsafe { f(k, self.positive.as_ptr(), self.model.user) != 0 }
    }
    fn check(&mut self, t: f64, x: &[f64], xp: &[f64]) -> bool {
        self.model.check.is_some_and(|f| unsafe { f(t, x.as_ptr(), xp.as_ptr(), self.model.user) != 0 })
    }
    fn event(&mut self, event: &Event, x: &mut [f64], xp: &mut [f64]) -> Reaction {
        let Some(f) = self.model.event else { return Reaction::Continue };
        let values: Vec<u8> = event.values.iter().map(|&v| u8::from(v)).collect();
        let checked = c_int::from(event.checked);
        let end = unsafe { f(event.t, values.as_ptr(), checked, x.as_mut_ptr(), xp.as_mut_ptr(), self.model.user) };
        if end != 0 { Reaction::Stop } else { Reaction::Continue }
    }
}

/// The solver that the caller holds.
pub struct Saltus {
    sys: Foreign,
    run: HybridDae,
    message: CString,
}

/// A copy of n items, or `default` n times where the pointer is null.
unsafe fn copied<T: Copy>(from: *const T, n: usize, default: T) -> Vec<T> {
    // SAFETY: the caller promises n items behind a pointer that is not null.
    if from.is_null() { vec![default; n] } else { unsafe { std::slice::from_raw_parts(from, n) }.to_vec() }
}

/// See the header.
///
/// # Safety
/// Pointers must be null or hold what the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn saltus_start(
    model: *const SaltusModel,
    t: f64,
    x: *const f64,
    xp: *const f64,
    rtol: f64,
    atol: *const f64,
) -> *mut Saltus {
    if model.is_null() || x.is_null() || atol.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: see above.
    let (model, n) = unsafe { (*model, (*model).size) };
    if model.residual.is_none() || !(rtol >= 0.0) {
        return std::ptr::null_mut();
    }
    let pattern = (!model.column_starts.is_null() && !model.rows.is_null()).then(|| {
        let starts = unsafe { copied(model.column_starts, n + 1, 0) };
        let rows = unsafe { copied(model.rows, starts[n], 0) };
        Pattern::from_parts(n, starts, rows)
    });
    let mut sys = Foreign {
        model,
        pattern,
        differential: unsafe { copied(model.differential, n, 1) }.iter().map(|&b| b != 0).collect(),
        algebraic: unsafe { copied(model.algebraic_equation, n, 0) }.iter().map(|&b| b != 0).collect(),
        positive: Vec::new(),
    };
    let mut opts = Options::new(n, rtol, 0.0);
    opts.atol = unsafe { copied(atol, n, 0.0) };
    let (x, xp) = unsafe { (copied(x, n, 0.0), copied(xp, n, 0.0)) };
    match HybridDae::start(&mut sys, t, &x, &xp, DaeOptions::new(opts)) {
        Ok(run) => Box::into_raw(Box::new(Saltus { sys, run, message: CString::default() })),
        Err(_) => std::ptr::null_mut(),
    }
}

/// See the header.
///
/// # Safety
/// `s` is null or comes from [`saltus_start`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn saltus_advance(s: *mut Saltus, tstop: f64) -> c_int {
    // SAFETY: see above.
    let Some(s) = (unsafe { s.as_mut() }) else { return -2 };
    match s.run.advance(&mut s.sys, tstop) {
        Ok(Advance::Step) => 0,
        Ok(Advance::Event) => 1,
        Ok(Advance::Stop) => -1,
        Err(e) => {
            s.message = CString::new(e.to_string()).unwrap_or_default();
            -2
        }
    }
}

/// See the header.
///
/// # Safety
/// `s` comes from [`saltus_start`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn saltus_time(s: *const Saltus) -> f64 {
    // SAFETY: see above.
    unsafe { s.as_ref() }.map_or(f64::NAN, |s| s.run.t())
}

/// See the header.
///
/// # Safety
/// `s` comes from [`saltus_start`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn saltus_x(s: *const Saltus) -> *const f64 {
    // SAFETY: see above.
    unsafe { s.as_ref() }.map_or(std::ptr::null(), |s| s.run.x().as_ptr())
}

/// See the header.
///
/// # Safety
/// `s` comes from [`saltus_start`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn saltus_xp(s: *const Saltus) -> *const f64 {
    // SAFETY: see above.
    unsafe { s.as_ref() }.map_or(std::ptr::null(), |s| s.run.xp().as_ptr())
}

/// See the header.
///
/// # Safety
/// `s` comes from [`saltus_start`]; `counts` has room for four numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn saltus_counts(s: *const Saltus, counts: *mut usize) {
    // SAFETY: see above.
    if let Some(s) = unsafe { s.as_ref() }
        && !counts.is_null()
    {
        let c = s.run.stats();
        let all = [c.steps, c.rhs_evals, c.jac_evals, c.lu_factorizations];
        unsafe { std::ptr::copy_nonoverlapping(all.as_ptr(), counts, 4) };
    }
}

/// See the header.
///
/// # Safety
/// `s` comes from [`saltus_start`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn saltus_message(s: *const Saltus) -> *const c_char {
    // SAFETY: see above.
    unsafe { s.as_ref() }.map_or(c"no solver".as_ptr(), |s| s.message.as_ptr())
}

/// See the header.
///
/// # Safety
/// `s` is null or comes from [`saltus_start`] and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn saltus_free(s: *mut Saltus) {
    if !s.is_null() {
        // SAFETY: see above.
        drop(unsafe { Box::from_raw(s) });
    }
}
