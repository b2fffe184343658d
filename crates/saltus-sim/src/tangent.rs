//! ∂f/∂x of the causalised system ẋ = f(t, x), by the chain rule through the steps.
//!
//! An assignment w = φ(u) passes derivatives on by ẇ = Σ ∂φ/∂u_k u̇_k; a block r(z, u) = 0 by ∂r/∂z ż = −Σ ∂r/∂u_k u̇_k. The
//! partial derivatives are kernels of the templates, computed once per point; columns that share no row are
//! propagated together.

use crate::block::SolveBlock;
use crate::compile::{Compiler, Step, gather};
use crate::machine::Machine;
use rustc_hash::FxHashMap;
use saltus_dae::{Operand, Row};
use saltus_program::{Chain, NEGATE, slot_of};
use saltus_solver::linear::Pattern;
use saltus_solver::ode::JacobianMatrix;
use std::cell::RefCell;
use std::rc::Rc;

/// A contribution `sign · values[partial] · source'`.
struct Term {
    source: u32,
    partial: u32,
    sign: f64,
}

enum Pass {
    Assign { target: u32, terms: Vec<Term> },
    Block { block: Rc<SolveBlock>, targets: Vec<u32>, terms: Vec<Vec<Term>> },
}

/// The derivatives of a right-hand side, ready to be propagated.
pub struct Tangent {
    partials: Chain,
    passes: Vec<Pass>,
    /// Numbers of the states and of their derivatives.
    states: Vec<(u32, Option<u32>)>,
    dots: RefCell<Vec<f64>>,
    /// Right-hand side of a block.
    right: RefCell<Vec<f64>>,
    /// Columns that may be propagated together.
    groups: Vec<Vec<usize>>,
    pattern: Option<Pattern>,
}

impl Tangent {
    /// Prepares the chain rule for `steps`, whose assignments came from the rows `assigned`; `None` if some step has no
    /// derivative.
    pub fn new(
        c: &mut Compiler<'_>,
        steps: &[Step],
        states: &[(u32, u32)],
        assigned: &FxHashMap<u32, Row>,
        pattern: Option<&Pattern>,
    ) -> Option<Tangent> {
        let mut number: FxHashMap<u32, u32> = FxHashMap::default();
        for s in states {
            let next = number.len() as u32;
            number.insert(s.0, next);
        }
        let mut partials: Vec<(u32, Row)> = Vec::new();
        let mut passes = Vec::new();
        for step in steps {
            match step {
                Step::Assign(chain) => {
                    for (_, words) in chain.rows() {
                        let terms = terms(c, assigned.get(&words[0])?, &number, &[], &mut partials);
                        if !terms.is_empty() {
                            let next = number.len() as u32;
                            let target = *number.entry(words[0]).or_insert(next);
                            passes.push(Pass::Assign { target, terms });
                        }
                    }
                }
                Step::Solve(b) => {
                    let terms: Vec<Vec<Term>> =
                        b.rows.iter().map(|r| terms(c, r, &number, &b.unknowns, &mut partials)).collect();
                    if terms.iter().all(Vec::is_empty) {
                        continue;
                    }
                    let mut targets = Vec::new();
                    for &s in &b.unknowns {
                        let next = number.len() as u32;
                        targets.push(*number.entry(s).or_insert(next));
                    }
                    passes.push(Pass::Block { block: b.clone(), targets, terms });
                }
                _ => return None,
            }
        }
        gather(&mut partials, |p| &p.1);
        let n = states.len();
        let groups = match pattern {
            Some(p) => {
                let (colours, count) = p.colour_columns();
                let mut groups = vec![Vec::new(); count];
                for (j, &k) in colours.iter().enumerate() {
                    groups[k].push(j);
                }
                groups
            }
            None => (0..n).map(|j| vec![j]).collect(),
        };
        Some(Tangent {
            partials: c.chain(partials.iter().map(|p| (p.0, &p.1))),
            passes,
            states: states.iter().map(|s| (number[&s.0], number.get(&s.1).copied())).collect(),
            dots: RefCell::new(vec![0.0; number.len()]),
            right: RefCell::default(),
            groups,
            pattern: pattern.cloned(),
        })
    }

    /// ∂f/∂x at the point at which the steps have just been evaluated; false if it is not a matrix of numbers.
    pub fn jacobian(&self, m: &mut Machine, jac: &mut JacobianMatrix) -> bool {
        m.chain(&self.partials);
        for p in &self.passes {
            if let Pass::Block { block, .. } = p
                && !m.factor_full(block)
            {
                return false;
            }
        }
        let mut dots = self.dots.borrow_mut();
        let mut r = self.right.borrow_mut();
        for group in &self.groups {
            dots.fill(0.0);
            for &j in group {
                dots[self.states[j].0 as usize] = 1.0;
            }
            let sum = |dots: &[f64], terms: &[Term]| -> f64 {
                terms.iter().map(|t| t.sign * m.values[t.partial as usize] * dots[t.source as usize]).sum()
            };
            for p in &self.passes {
                match p {
                    Pass::Assign { target, terms } => dots[*target as usize] = sum(&dots, terms),
                    Pass::Block { block, targets, terms } => {
                        r.clear();
                        r.extend(terms.iter().map(|t| -sum(&dots, t)));
                        if r.iter().any(|v| *v != 0.0) {
                            block.solve_full(&mut r);
                        }
                        for (&t, v) in targets.iter().zip(&r) {
                            dots[t as usize] = *v;
                        }
                    }
                }
            }
            for &j in group {
                let mut set = |i: usize| {
                    let d = self.states[i].1.map_or(0.0, |k| dots[k as usize]);
                    jac.set(i, j, d);
                    d.is_finite()
                };
                let fine = match &self.pattern {
                    Some(p) => p.column(j).iter().all(|&i| set(i)),
                    None => (0..self.states.len()).all(set),
                };
                if !fine {
                    return false;
                }
            }
        }
        true
    }
}

/// The derivative of a row along everything that moves, but for the slots `except`.
fn terms(
    c: &mut Compiler<'_>,
    row: &Row,
    number: &FxHashMap<u32, u32>,
    except: &[u32],
    partials: &mut Vec<(u32, Row)>,
) -> Vec<Term> {
    let mut out = Vec::new();
    for k in 0..row.args.len() {
        if matches!(row.args[k], Operand::Const(_)) {
            continue;
        }
        let word = c.layout.word(c.sys, row.args[k]);
        let slot = slot_of(word) as u32;
        let Some(&source) = number.get(&slot).filter(|_| !except.contains(&slot)) else { continue };
        let p = c.ops.partial(&mut c.sys.dae, row, k);
        let partial = match c.sys.dae.pool.as_const(p.template) {
            Some(0.0) => continue,
            Some(v) => c.layout.word(c.sys, Operand::Const(v)),
            None => {
                let s = c.layout.scratch(0.0);
                partials.push((s, p));
                s
            }
        };
        out.push(Term { source, partial, sign: if word & NEGATE != 0 { -1.0 } else { 1.0 } });
    }
    out
}
