//! The continuous part of a mode as F(t, z, ż) = 0, for the DAE integrator (mathematics (1), (17)).
//!
//! z holds the states x, then the unknowns y of the blocks that the derivatives need. A derivative that is an unknown of a
//! block takes the integrator's ẋ; one that is assigned gives the row ẋ − f(x, y) = 0; every equation of a block is a row as
//! it stands. So no block is solved inside: the steps are run once, blocks only as residuals. The Jacobian comes by the
//! chain rule through the assignments, columns that share no row together.

use crate::compile::{Compiler, Partials, Step};
use crate::dependence::reach;
use crate::machine::Machine;
use rustc_hash::FxHashMap;
use saltus_dae::{Operand, Row};
use saltus_program::{Chain, NEGATE, slot_of};
use saltus_solver::linear::Pattern;
use saltus_solver::ode::JacobianMatrix;
use saltus_structure::Cell;
use std::cell::RefCell;

/// Blocks count as large if they have as many unknowns together, none of them torn.
const LARGE: usize = 64;

/// Whether a run wants the implicit form of its modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// It integrates ẋ = f(t, x).
    #[default]
    Never,
    /// Where large sparse blocks would be solved within f and fill its Jacobian.
    WhereLarge,
    /// In any case.
    Always,
}

/// An equation of F = 0.
#[derive(Clone, Copy)]
enum Equation {
    /// ẋ_k = the value in this slot.
    Derivative(usize, u32),
    /// The value in this slot is zero.
    Residual(u32),
}

/// F(t, z, ż) = 0.
pub struct ImplicitForm {
    /// Algebraic unknowns: slot, what it is, its size.
    pub unknowns: Vec<(u32, Cell, f64)>,
    /// States whose derivative is an unknown of a block, with its slot.
    given: Vec<(usize, u32)>,
    equations: Vec<Equation>,
    /// What an equation is named by when it cannot be evaluated.
    pub named: Vec<Cell>,
    /// Equations free of ż.
    pub algebraic: Vec<bool>,
    /// Of ∂F/∂z and ∂F/∂ż together.
    pub pattern: Pattern,
    derivatives: Option<Derivatives>,
}

/// A contribution `sign · values[partial] · source'`.
struct Term {
    source: u32,
    partial: u32,
    sign: f64,
}

/// The chain rule through the assignments.
struct Derivatives {
    partials: Chain,
    passes: Vec<(u32, Vec<Term>)>,
    /// Where the derivative of each equation's slot is, if it moves at all.
    sources: Vec<Option<u32>>,
    /// Columns propagated together, each with the number of its given derivative.
    groups: Vec<Vec<(usize, Option<usize>)>>,
    dots: RefCell<Vec<f64>>,
}

/// Whether blocks are so large that the integrator might better solve them.
pub fn is_large(steps: &[Step]) -> bool {
    let size = |s: &Step| match s {
        Step::Solve(b) if !b.torn.used && b.fixed.is_none() => b.unknowns.len(),
        _ => 0,
    };
    steps.iter().map(size).sum::<usize>() >= LARGE
}

impl ImplicitForm {
    /// The form of these steps, whose assignments came from the rows `assigned`; `None` if some step is neither assignment
    /// nor equations.
    pub fn new(
        c: &mut Compiler<'_>,
        steps: &[Step],
        states: &[(u32, u32)],
        state_cells: &[Cell],
        assigned: Option<&FxHashMap<u32, Row>>,
    ) -> Option<ImplicitForm> {
        let n = states.len();
        let derivative: FxHashMap<u32, usize> = states.iter().enumerate().map(|(k, s)| (s.1, k)).collect();
        let of_derivative = |k: usize| Cell { var: state_cells[k].var, order: state_cells[k].order + 1 };
        let (mut unknowns, mut given, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for step in steps {
            match step {
                Step::Assign(_) => {}
                Step::Solve(b) => {
                    for ((&slot, &cell), &size) in b.unknowns.iter().zip(&b.cells).zip(&b.nominal) {
                        match derivative.get(&slot) {
                            Some(&k) => given.push((k, slot)),
                            None => unknowns.push((slot, cell, size)),
                        }
                    }
                    rows.extend(b.residual_slots.iter().copied().zip(b.cells.iter().copied()));
                }
                _ => return None,
            }
        }
        let mut equations = Vec::new();
        let mut named = Vec::new();
        for (k, s) in states.iter().enumerate().filter(|(k, _)| !given.iter().any(|g| g.0 == *k)) {
            equations.push(Equation::Derivative(k, s.1));
            named.push(of_derivative(k));
        }
        for (slot, cell) in rows {
            equations.push(Equation::Residual(slot));
            named.push(cell);
        }
        // Numbers: unknowns z first, then the derivatives that are given.
        let size = n + unknowns.len();
        let seeds: Vec<u32> =
            states.iter().map(|s| s.0).chain(unknowns.iter().map(|u| u.0)).chain(given.iter().map(|g| g.1)).collect();
        let slots: Vec<u32> = equations
            .iter()
            .map(|e| match *e {
                Equation::Derivative(_, s) | Equation::Residual(s) => s,
            })
            .collect();
        let slot_count = c.layout.len();
        let reached = reach(steps, &seeds, &slots, slot_count)?;
        let mut entries = Vec::new();
        let mut algebraic = Vec::new();
        for (i, (e, columns)) in equations.iter().zip(&reached).enumerate() {
            if let Equation::Derivative(k, _) = *e {
                entries.push((i, k));
            }
            algebraic.push(matches!(e, Equation::Residual(_)) && columns.iter().all(|&j| j < size));
            entries.extend(columns.iter().map(|&j| (i, if j < size { j } else { given[j - size].0 })));
        }
        let pattern = Pattern::from_entries(size, size, entries);
        let derivatives = assigned.and_then(|a| Derivatives::new(c, steps, &seeds, &slots, a, &pattern, &given));
        Some(ImplicitForm { unknowns, given, equations, named, algebraic, pattern, derivatives })
    }

    /// Whether this Jacobian has fewer entries than that of ẋ = f(t, x), which has `entries`.
    pub fn is_sparser(&self, entries: usize) -> bool {
        self.pattern.nnz() < entries
    }

    /// Number of unknowns.
    pub fn dim(&self) -> usize {
        self.equations.len()
    }

    /// Writes algebraic unknowns and given derivatives; states and time are placed already.
    pub fn place(&self, m: &mut Machine, y: &[f64], zp: &[f64]) {
        for (u, v) in self.unknowns.iter().zip(y) {
            m.values[u.0 as usize] = *v;
        }
        for &(k, slot) in &self.given {
            m.values[slot as usize] = zp[k];
        }
    }

    /// Residuals at the values placed.
    pub fn residual(&self, m: &mut Machine, steps: &[Step], zp: &[f64], r: &mut [f64]) {
        for step in steps {
            match step {
                Step::Assign(c) => m.chain(c),
                Step::Solve(b) => m.chain(&b.residual),
                _ => {}
            }
        }
        for (r, e) in r.iter_mut().zip(&self.equations) {
            *r = match *e {
                Equation::Derivative(k, s) => zp[k] - m.values[s as usize],
                Equation::Residual(s) => m.values[s as usize],
            };
        }
    }

    /// ∂F/∂z + cj ∂F/∂ż where the residual has just been evaluated; false if there is none.
    pub fn jacobian(&self, m: &mut Machine, cj: f64, jac: &mut JacobianMatrix) -> bool {
        let Some(d) = &self.derivatives else { return false };
        m.chain(&d.partials);
        let size = self.dim();
        let mut dots = d.dots.borrow_mut();
        for group in &d.groups {
            dots.fill(0.0);
            for &(j, given) in group {
                dots[j] = 1.0;
                if let Some(g) = given {
                    dots[size + g] = cj;
                }
            }
            for (target, terms) in &d.passes {
                dots[*target as usize] =
                    terms.iter().map(|t| t.sign * m.values[t.partial as usize] * dots[t.source as usize]).sum();
            }
            for &(j, _) in group {
                for at in self.pattern.range(j) {
                    let i = self.pattern.row_indices()[at];
                    let along = d.sources[i].map_or(0.0, |k| dots[k as usize]);
                    jac.values_mut()[at] = match self.equations[i] {
                        Equation::Derivative(k, _) if k == j => cj - along,
                        Equation::Derivative(..) => -along,
                        Equation::Residual(_) => along,
                    };
                }
            }
        }
        true
    }
}

impl Derivatives {
    fn new(
        c: &mut Compiler<'_>,
        steps: &[Step],
        seeds: &[u32],
        slots: &[u32],
        assigned: &FxHashMap<u32, Row>,
        pattern: &Pattern,
        given: &[(usize, u32)],
    ) -> Option<Derivatives> {
        let mut number: FxHashMap<u32, u32> = seeds.iter().enumerate().map(|(k, &s)| (s, k as u32)).collect();
        let (mut partials, mut passes) = (Partials::default(), Vec::new());
        let mut pass = |c: &mut Compiler<'_>, number: &mut FxHashMap<u32, u32>, slot: u32, row: &Row| {
            let terms = terms(c, row, number, &mut partials);
            if !terms.is_empty() {
                let next = number.len() as u32;
                passes.push((*number.entry(slot).or_insert(next), terms));
            }
        };
        for step in steps {
            match step {
                Step::Assign(chain) => {
                    for (_, words) in chain.rows() {
                        pass(c, &mut number, words[0], assigned.get(&words[0])?);
                    }
                }
                Step::Solve(b) => {
                    for (&slot, row) in b.residual_slots.iter().zip(&b.rows) {
                        pass(c, &mut number, slot, row);
                    }
                }
                _ => return None,
            }
        }
        let (colours, count) = pattern.colour_columns();
        let mut groups = vec![Vec::new(); count];
        for (j, &k) in colours.iter().enumerate() {
            groups[k].push((j, given.iter().position(|g| g.0 == j)));
        }
        Some(Derivatives {
            partials: partials.chain_of_slopes(c),
            passes,
            sources: slots.iter().map(|s| number.get(s).copied()).collect(),
            groups,
            dots: RefCell::new(vec![0.0; number.len()]),
        })
    }
}

/// The derivative of a row along everything that has a number.
fn terms(c: &mut Compiler<'_>, row: &Row, number: &FxHashMap<u32, u32>, partials: &mut Partials) -> Vec<Term> {
    let mut out = Vec::new();
    for k in 0..row.args.len() {
        if matches!(row.args[k], Operand::Const(_)) {
            continue;
        }
        let word = c.layout.word(c.sys, row.args[k]);
        let Some(&source) = number.get(&(slot_of(word) as u32)) else { continue };
        let p = c.ops.partial(&mut c.sys.dae, row, k);
        if c.sys.dae.pool.as_const(p.template) != Some(0.0) {
            let partial = partials.slot(c, p);
            out.push(Term { source, partial, sign: if word & NEGATE != 0 { -1.0 } else { 1.0 } });
        }
    }
    out
}
