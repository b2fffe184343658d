//! Second derivatives of functions: first derivatives of their tangents.

use crate::{Functions, Interval};
use rustc_hash::FxHashMap;
use saltus_expr::FuncId;
use saltus_function::exec::beside;
use saltus_function::ir::ScalarType;
use saltus_function::{ExecError, Function, Warning, tangent};

/// Runs functions, and differentiates [`FuncId::tangent`]s of them as functions of their own, so that whatever runs
/// functions well runs second derivatives well. Tangents are made when first asked for.
pub struct Seconds<F> {
    plain: F,
    make: fn(&[Function]) -> F,
    /// Those of the model, then the tangents made so far.
    functions: Vec<Function>,
    made: FxHashMap<FuncId, FuncId>,
    /// `None`: there is no tangent.
    passages: FxHashMap<FuncId, Option<Passage>>,
    /// Runs tangents, too; made anew when there are more of them.
    tangents: Option<F>,
    scratch: [Vec<f64>; 4],
}

/// From the flattened (x, dx) of f and its results to those of its tangent, which knows of Reals only.
pub struct Passage {
    /// The tangent.
    pub tangent: FuncId,
    /// Of the flattened inputs: which are Real.
    pub inputs: Vec<bool>,
    /// Of the flattened outputs: which are Real.
    pub outputs: Vec<bool>,
}

impl<F: Functions> Seconds<F> {
    /// Over what `make` makes of the functions.
    pub fn new(functions: &[Function], make: fn(&[Function]) -> F) -> Self {
        Seconds {
            plain: make(functions),
            make,
            functions: functions.to_vec(),
            made: FxHashMap::default(),
            passages: FxHashMap::default(),
            tangents: None,
            scratch: Default::default(),
        }
    }

    fn passage(&mut self, f: FuncId) {
        if self.passages.contains_key(&f) {
            return;
        }
        let before = self.functions.len();
        let passage = Passage::new(&mut self.functions, &mut self.made, f);
        if self.functions.len() > before {
            self.tangents = None;
        }
        self.passages.insert(f, passage);
    }

    /// By the tangent: `false` if there is none, or it gives no numbers (0/0 at the edge of a domain).
    fn by_tangent(&mut self, f: FuncId, at: &[f64], along: &[f64], out: &mut Vec<f64>, dout: &mut Vec<f64>) -> bool {
        self.passage(f);
        let Some(Some(p)) = self.passages.get(&f) else { return false };
        let n = p.inputs.len();
        if at.len() != 2 * n || along.len() != 2 * n {
            return false;
        }
        let [args, dargs, y, dy] = &mut self.scratch;
        for (to, from) in [(&mut *args, at), (&mut *dargs, along)] {
            to.clear();
            to.extend_from_slice(&from[..n]);
            to.extend(from[n..].iter().zip(&p.inputs).filter(|(_, real)| **real).map(|(v, _)| v));
        }
        let tangents = self.tangents.get_or_insert_with(|| (self.make)(&self.functions));
        if tangents.call_dual(p.tangent, args, dargs, y, dy).is_err() {
            return false;
        }
        if y.iter().chain(dy.iter()).any(|v| !v.is_finite()) || y.len() != p.outputs.iter().filter(|r| **r).count() {
            return false;
        }
        let (mut y, mut dy) = (y.iter(), dy.iter());
        out.clear();
        dout.clear();
        for real in &p.outputs {
            let next = |of: &mut std::slice::Iter<f64>| if *real { *of.next().unwrap_or(&0.0) } else { 0.0 };
            out.push(next(&mut y));
            dout.push(next(&mut dy));
        }
        true
    }
}

impl Passage {
    /// With the tangent of `f` made, unless it was made before; `None` if there is none, or sizes are not fixed.
    pub fn new(functions: &mut Vec<Function>, made: &mut FxHashMap<FuncId, FuncId>, f: FuncId) -> Option<Passage> {
        let id = f;
        let f = functions.get(f.0 as usize)?;
        let flat = |locals: &[saltus_function::ir::LocalId]| {
            let mut all = Vec::new();
            for l in locals {
                let real = f.locals[l.0 as usize].ty == ScalarType::Real;
                all.extend(std::iter::repeat_n(real, f.fixed_len(*l)?));
            }
            Some(all)
        };
        let (inputs, outputs) = (flat(&f.inputs)?, flat(&f.outputs)?);
        Some(Passage { tangent: tangent(functions, made, id).ok()?, inputs, outputs })
    }
}

impl<F: Functions> Functions for Seconds<F> {
    fn call(&mut self, func: FuncId, args: &[f64], out: &mut Vec<f64>) -> Result<(), ExecError> {
        self.plain.call(func, args, out)
    }

    fn call_dual(
        &mut self,
        func: FuncId,
        args: &[f64],
        dargs: &[f64],
        out: &mut Vec<f64>,
        dout: &mut Vec<f64>,
    ) -> Result<(), ExecError> {
        if let Some(f) = func.of_tangent()
            && self.by_tangent(f, args, dargs, out, dout)
        {
            let unused = &mut self.scratch[0];
            let mut first = |x: &[f64], dx: &[f64], d: &mut Vec<f64>| self.plain.call_dual(f, x, dx, unused, d);
            beside(args, dargs, out, dout, &mut first);
            return Ok(());
        }
        self.plain.call_dual(func, args, dargs, out, dout)
    }

    fn has_effects(&self, func: FuncId) -> bool {
        self.plain.has_effects(func)
    }

    fn take_warnings(&mut self) -> Vec<Warning> {
        let mut all = self.plain.take_warnings();
        all.extend(self.tangents.as_mut().map(Functions::take_warnings).unwrap_or_default());
        all
    }

    fn enclose(&mut self, func: FuncId, args: &[Interval]) -> Result<Vec<Interval>, ExecError> {
        self.plain.enclose(func, args)
    }
}
