//! The program of a model: what a run evaluates, as text (`--dump program`) and as data for export.

use rustc_hash::FxHashMap;
use saltus_base::Diagnostic;
use saltus_dae::HybridDae;
use saltus_expr::{ExprId, Pool};
use saltus_function::Function;
use saltus_program::{Backend, Batch, CallHost, Chain, Functions, KernelId, NEGATE, Region, Window, slot_of};
use saltus_sim::Model;
use saltus_sim::compile::Step;
use saltus_sim::machine::Machine;
use saltus_sim::model::ModeProgram;
use saltus_solver::ode::JacobianMatrix;
use saltus_structure::{Modes, RowOps, System, cell_name};
use std::cell::RefCell;
use std::fmt::Write;
use std::rc::Rc;

/// The template and number of holes of each kernel.
pub(crate) type Templates = Rc<RefCell<Vec<(ExprId, usize)>>>;

/// A backend that notes which template each kernel is.
struct Recorder {
    inner: saltus_codegen::Tiered,
    templates: Templates,
}

impl Backend for Recorder {
    fn kernel(&mut self, pool: &Pool, template: ExprId, holes: usize) -> KernelId {
        let k = self.inner.kernel(pool, template, holes);
        let mut list = self.templates.borrow_mut();
        if list.len() == k.0 as usize {
            list.push((template, holes));
        }
        k
    }
    fn joint(&mut self, pool: &Pool, templates: &[ExprId], holes: usize) -> Option<KernelId> {
        let k = self.inner.joint(pool, templates, holes)?;
        let mut list = self.templates.borrow_mut();
        if list.len() == k.0 as usize {
            // Only Jacobians have these, which nobody writes.
            list.push((templates[0], holes));
        }
        Some(k)
    }
    fn calls(&self, kernel: KernelId) -> bool {
        self.inner.calls(kernel)
    }

    fn finish(&mut self) {
        self.inner.finish();
    }
    fn run(&self, batch: &Batch, values: &mut [f64], host: &mut dyn CallHost) {
        self.inner.run(batch, values, host);
    }
    fn run_chain(&self, chain: &Chain, values: &mut [f64], host: &mut dyn CallHost) {
        self.inner.run_chain(chain, values, host);
    }
    fn run_chain_into(&self, chain: &Chain, values: &mut [f64], window: Window<'_>, host: &mut dyn CallHost) {
        self.inner.run_chain_into(chain, values, window, host);
    }
    fn enclose(&self, batch: &Batch, values: &[f64], region: &mut Region, host: &mut dyn CallHost) {
        self.inner.enclose(batch, values, region, host);
    }
    fn functions(&self, functions: &[Function]) -> Box<dyn Functions> {
        self.inner.functions(functions)
    }
}

/// A model at its first instant, with the program of the mode it starts in.
pub(crate) struct Started {
    pub model: Model,
    pub program: Rc<ModeProgram>,
    pub templates: Templates,
}

/// Initializes a model at `start`.
pub(crate) fn start(
    sys: System,
    ops: RowOps,
    modes: Modes,
    backend: saltus_codegen::Tiered,
    start: f64,
) -> Result<Started, Diagnostic> {
    let templates = Templates::default();
    let backend = Recorder { inner: backend, templates: templates.clone() };
    let mut model = Model::new(sys, ops, modes, Box::new(backend))?;
    let program = model.initialize(start)?;
    model.hold_objects();
    model.start_tickers(start)?;
    Ok(Started { model, program, templates })
}

/// The shortest times of one evaluation, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct EvaluationTimes {
    /// Of everything continuous.
    pub continuous: f64,
    /// Of the derivatives of the states alone.
    pub derivatives: f64,
    /// Of the Jacobian of the derivatives, given them; if there is one.
    pub jacobian: Option<f64>,
    /// What was measured beside it, too.
    pub beside: f64,
    /// The middle one of the ratios of times that were measured one after the other: the first to what was measured beside it,
    /// the Jacobian to the derivatives. Where the processor has other work at times, they say more than the shortest times.
    pub ratios: [f64; 2],
    /// What compiling has cost: kernels of templates, and joined rows.
    pub spent: [saltus_codegen::Spent; 2],
}

/// Evaluations are measured so many times.
const TIMES: usize = 200;

/// States for every evaluation, beside those that the model starts with: nobody evaluates twice at the same point, and solvers of
/// loops that start from the solution would have nothing to do. `stepper.c` has the same.
const POINTS: usize = 4;

/// Measures evaluations by a clock that tells seconds, `n` at a time, the kinds in turn; `beside` is called once each time, to
/// measure something else under the same conditions and tell its time in nanoseconds.
pub(crate) fn evaluation_times(
    s: &mut Started,
    n: usize,
    clock: &dyn Fn() -> f64,
    beside: &mut dyn FnMut() -> f64,
) -> EvaluationTimes {
    let (m, p) = (&mut s.model.machine, &s.program);
    let x: Vec<f64> = p.states.iter().map(|s| m.values[s.0 as usize]).collect();
    let points: Vec<Vec<f64>> =
        (0..POINTS).map(|k| x.iter().map(|x| x + 1e-6 * k as f64 * (1.0 + x.abs())).collect()).collect();
    let mut derivatives = vec![0.0; x.len()];
    let mut evaluate = |m: &mut Machine, steps: &[Step], k: usize| {
        p.states.iter().zip(&points[k % POINTS]).for_each(|(s, v)| m.values[s.0 as usize] = *v);
        let fine = m.run(steps).is_ok();
        p.states.iter().zip(&mut derivatives).for_each(|(s, v)| *v = m.values[s.1 as usize]);
        fine
    };
    let measure = |f: &mut dyn FnMut(usize) -> bool| {
        let begun = clock();
        let fine = (0..n).all(f);
        if fine { (clock() - begun) * 1e9 / n as f64 } else { f64::NAN }
    };
    let mut jac = JacobianMatrix::new(p.states.len(), p.pattern.as_ref());
    // Everything, what is beside it, the derivatives, those with the Jacobian.
    let mut best = [f64::INFINITY; 4];
    let mut ratios: [Vec<f64>; 2] = Default::default();
    for _ in 0..TIMES {
        let continuous = measure(&mut |k| evaluate(m, &p.continuous, k));
        let other = beside();
        let derivatives = measure(&mut |k| evaluate(m, &p.derivatives, k));
        let both = p.tangent.as_ref().map_or(f64::NAN, |tangent| {
            measure(&mut |k| evaluate(m, &p.derivatives, k) && tangent.jacobian(m, &mut jac))
        });
        for (b, t) in best.iter_mut().zip([continuous, other, derivatives, both]) {
            *b = if t.is_nan() { t } else { b.min(t) };
        }
        ratios[0].push(continuous / other);
        ratios[1].push(((both - derivatives) / derivatives).max(0.0));
    }
    let [continuous, beside, derivatives, both] = best;
    let jacobian = p.tangent.as_ref().map(|_| (both - derivatives).max(0.0));
    EvaluationTimes { continuous, derivatives, jacobian, beside, ratios: ratios.map(middle), spent: Default::default() }
}

/// The middle one of some numbers.
pub(crate) fn middle(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Rows shown of a batch.
const SHOWN: usize = 12;

/// The program as text: the values by name, then the steps in the order they run.
///
/// ```text
/// states
///   x, der(x)
/// continuous
///   der(x) := -(k*x)
/// ```
pub(crate) fn text(s: &Started) -> String {
    let names = names(&s.model);
    let mut t = Text { s, names, temporaries: RefCell::default(), out: String::new() };
    // Writing to a String does not fail.
    let _ = t.program();
    t.out
}

/// The name of each slot: a variable, a derivative, a previous value, a number; empty for temporaries.
pub(crate) fn names(model: &Model) -> Vec<String> {
    let mut names: Vec<String> = vec![String::new(); model.machine.values.len()];
    for (v, slot) in model.layout.constants() {
        names[slot as usize] = format!("{v}");
    }
    for (cell, slot) in model.layout.cells() {
        if let Some(n) = names.get_mut(slot as usize) {
            *n = cell_name(&model.sys, cell);
        }
    }
    names
}

struct Text<'a> {
    s: &'a Started,
    names: Vec<String>,
    /// Numbers of the slots without a name, as they come up.
    temporaries: RefCell<FxHashMap<u32, usize>>,
    out: String,
}

impl Text<'_> {
    fn name(&self, slot: u32) -> String {
        match self.names.get(slot as usize) {
            Some(n) if !n.is_empty() => n.clone(),
            _ => {
                let mut all = self.temporaries.borrow_mut();
                let next = all.len() + 1;
                format!("#{}", all.entry(slot).or_insert(next))
            }
        }
    }

    fn program(&mut self) -> std::fmt::Result {
        let (m, p) = (&self.s.model, &self.s.program);
        if let Some(mode) = m.key_text(&p.plan.key) {
            writeln!(self.out, "mode {mode}")?;
        }
        if !p.states.is_empty() {
            writeln!(self.out, "states")?;
            for &(x, dx) in &p.states {
                let (x, dx) = (self.name(x), self.name(dx));
                writeln!(self.out, "  {x}, {dx}")?;
            }
        }
        writeln!(self.out, "continuous")?;
        self.steps(&p.continuous, 1)?;
        if !m.discrete.is_empty() || !m.machine.relations.is_empty() {
            writeln!(self.out, "event")?;
            self.steps(&p.event, 1)?;
        }
        if !p.crossings.functions.is_empty() {
            writeln!(self.out, "crossings")?;
            for f in &p.crossings.functions {
                let i = f.relation;
                let r = &m.machine.relations[i];
                let text = m.sys.relations[i].text.clone();
                let g = self.rows(&r.batch).into_iter().next().unwrap_or_default();
                writeln!(self.out, "  {text}: {g}")?;
            }
        }
        Ok(())
    }

    /// The rows of a batch as assignments.
    fn rows(&self, b: &Batch) -> Vec<String> {
        let dae: &HybridDae = &self.s.model.sys.dae;
        let (template, _) = self.s.templates.borrow()[b.kernel.0 as usize];
        b.rows
            .words()
            .chunks_exact(b.rows.stride.max(1))
            .take(SHOWN + 1)
            .map(|row| {
                let hole = |k: u32| match row.get(k as usize + 1) {
                    Some(w) if w & NEGATE != 0 => format!("(-{})", self.name(slot_of(*w) as u32)),
                    Some(w) => self.name(*w),
                    None => "?".into(),
                };
                let func = |f: saltus_expr::FuncId| {
                    dae.functions.get(f.0 as usize).map_or_else(|| "?".into(), |f| f.name.clone())
                };
                let value = saltus_expr::display(&dae.pool, template, &hole, &func);
                format!("{} := {value}", self.name(slot_of(row[0]) as u32))
            })
            .collect()
    }

    fn batch(&mut self, b: &Batch, depth: usize) -> std::fmt::Result {
        let pad = "  ".repeat(depth);
        let n = b.rows.len();
        for (i, row) in self.rows(b).into_iter().enumerate() {
            if i == SHOWN {
                return writeln!(self.out, "{pad}... {} rows of this kernel in all", n);
            }
            writeln!(self.out, "{pad}{row}")?;
        }
        Ok(())
    }

    fn steps(&mut self, steps: &[Step], depth: usize) -> std::fmt::Result {
        let pad = "  ".repeat(depth);
        let m = &self.s.model;
        for s in steps {
            match s {
                Step::Assign(c) => c.iter().try_for_each(|b| self.batch(b, depth))?,
                Step::Relation(i) => {
                    let r = &m.sys.relations[*i];
                    let name = self.name(m.machine.relations[*i].var);
                    writeln!(self.out, "{pad}{name} := {}", r.text)?;
                }
                Step::When(w) => {
                    writeln!(self.out, "{pad}when {}:", w.when + 1)?;
                    for v in w.values.iter().flatten() {
                        self.batch(v, depth + 1)?;
                    }
                }
                Step::Solve(b) => {
                    let list: Vec<String> = b.unknowns.iter().map(|&u| self.name(u)).collect();
                    let kind = if b.linear { "linear" } else { "nonlinear" };
                    let list = list.join(", ");
                    writeln!(self.out, "{pad}solve {} {kind} for {list}:", b.unknowns.len())?;
                    for r in &b.residual {
                        self.batch(r, depth + 1)?;
                    }
                    writeln!(self.out, "{pad}  jacobian:")?;
                    for j in &b.jacobian {
                        self.batch(j, depth + 2)?;
                    }
                }
                Step::Mixed(b) => {
                    let list: Vec<String> = b.slots.iter().map(|&u| self.name(u)).collect();
                    let list = list.join(", ");
                    writeln!(self.out, "{pad}iterate until {list} agree:")?;
                    self.steps(&b.continuous, depth + 1)?;
                    self.steps(&b.discrete, depth + 1)?;
                }
            }
        }
        Ok(())
    }
}
