//! ∂f/∂x of the causalised system ẋ = f(t, x), by the chain rule through the steps.
//!
//! An assignment w = φ(u) passes derivatives on by ∂w/∂x_j = Σ ∂φ/∂u_k ∂u_k/∂x_j; a block r(z, u) = 0 by
//! ∂r/∂z ∂z/∂x_j = −Σ ∂r/∂u_k ∂u_k/∂x_j. The partial derivatives are kernels of the templates, computed once per point, equal
//! ones once; of the ∂u/∂x_j only those exist that are not zero by structure, so the work is that of the products left.

use crate::block::SolveBlock;
use crate::compile::{Compiler, Partials, Step};
use crate::machine::Machine;
use rustc_hash::FxHashMap;
use saltus_dae::{Operand, Row};
use saltus_program::{Chain, NEGATE, slot_of};
use saltus_solver::linear::Pattern;
use saltus_solver::ode::JacobianMatrix;
use std::cell::RefCell;
use std::rc::Rc;

/// The bit of the first product of a sum.
const FIRST: u32 = 1 << 31;

/// More products than this are not worth their memory.
const MOST_PRODUCTS: usize = 8_000_000;

/// `dots[to] += ± values[partial] · dots[from]`; the sign is a bit of `partial`. If it is the first of a sum, a bit of `to`
/// says so: what stood there before does not count.
struct Product {
    to: u32,
    from: u32,
    partial: u32,
}

/// What follows the products of a block up to `products`: its unknowns' derivatives, one right-hand side per state, take
/// their place from `first` on.
struct Solve {
    products: usize,
    block: Rc<SolveBlock>,
    first: usize,
    columns: usize,
}

/// The derivatives of a right-hand side, ready to be propagated.
pub struct Tangent {
    partials: Chain,
    products: Vec<Product>,
    solves: Vec<Solve>,
    /// ∂u/∂x_j of every u on the way; the first is 1.
    dots: RefCell<Vec<f64>>,
    /// (position in the matrix, which derivative).
    entries: Vec<(u32, u32)>,
    /// What the matrix depends on, where that is little: as long as it stays, so does the matrix.
    reads: Option<Vec<u32>>,
    /// The last matrix, and what it was computed from.
    last: RefCell<(Vec<f64>, Vec<f64>)>,
}

/// More than this is not looked at to see whether the matrix has changed.
const FEW_READS: usize = 200;

/// Which states a slot depends on, and where its derivatives are.
type Dots = Rc<[(u32, u32)]>;

struct Builder<'a, 'c> {
    c: &'a mut Compiler<'c>,
    dots: FxHashMap<u32, Dots>,
    count: u32,
    products: Vec<Product>,
    partials: Partials,
}

/// A contribution: what is differentiated by, and the word of the factor.
struct Term {
    source: Dots,
    partial: u32,
}

impl Builder<'_, '_> {
    /// The derivative of a row along everything that moves, but for the slots `except`.
    fn terms(&mut self, row: &Row, except: &[u32]) -> Vec<Term> {
        let mut out = Vec::new();
        for k in 0..row.args.len() {
            if matches!(row.args[k], Operand::Const(_)) {
                continue;
            }
            let word = self.c.layout.word(self.c.sys, row.args[k]);
            let slot = slot_of(word) as u32;
            let Some(source) = self.dots.get(&slot).filter(|_| !except.contains(&slot)).cloned() else { continue };
            let p = self.c.ops.partial(&mut self.c.sys.dae, row, k);
            if self.c.sys.dae.pool.as_const(p.template) == Some(0.0) {
                continue;
            }
            let partial = self.partials.slot(self.c, p);
            out.push(Term { source, partial: partial ^ (word & NEGATE) });
        }
        out
    }

    /// All states that some terms depend on.
    fn states<'t>(terms: impl Iterator<Item = &'t Term>) -> Vec<u32> {
        let mut states: Vec<u32> = terms.flat_map(|t| t.source.iter().map(|s| s.0)).collect();
        states.sort_unstable();
        states.dedup();
        states
    }

    /// Appends Σ terms; `to` says where the derivative by a state goes, `flip` negates.
    fn sum(&mut self, terms: &[Term], to: impl Fn(usize) -> u32, states: &[u32], flip: u32) {
        for t in terms {
            for &(state, from) in t.source.iter() {
                let column = states.partition_point(|s| *s < state);
                self.products.push(Product { to: to(column), from, partial: t.partial ^ flip });
            }
        }
    }

    /// Marks the first product of each sum since `from`.
    fn mark_first(&mut self, from: usize) {
        let mut seen = rustc_hash::FxHashSet::default();
        for p in &mut self.products[from..] {
            if seen.insert(p.to) {
                p.to |= FIRST;
            }
        }
    }
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
        let mut b = Builder {
            c,
            dots: states.iter().zip(0..).map(|(s, k)| (s.0, Rc::from([(k, 0)]))).collect(),
            count: 1,
            products: Vec::new(),
            partials: Partials::default(),
        };
        let mut solves = Vec::new();
        for step in steps {
            match step {
                Step::Assign(chain) => {
                    for (_, words) in chain.rows() {
                        let terms = b.terms(assigned.get(&words[0])?, &[]);
                        let reach = Builder::states(terms.iter());
                        if reach.is_empty() {
                            b.dots.remove(&words[0]);
                            continue;
                        }
                        let first = b.count;
                        b.count += reach.len() as u32;
                        let from = b.products.len();
                        b.sum(&terms, |column| first + column as u32, &reach, 0);
                        b.mark_first(from);
                        b.dots.insert(words[0], reach.iter().copied().zip(first..).collect());
                    }
                }
                Step::Solve(block) => {
                    let terms: Vec<Vec<Term>> = block.rows.iter().map(|r| b.terms(r, &block.unknowns)).collect();
                    let reach = Builder::states(terms.iter().flatten());
                    if reach.is_empty() {
                        continue;
                    }
                    let (first, n) = (b.count, terms.len() as u32);
                    b.count += n * reach.len() as u32;
                    for (t, row) in terms.iter().zip(0..) {
                        b.sum(t, |column| first + column as u32 * n + row, &reach, NEGATE);
                    }
                    for (&u, row) in block.unknowns.iter().zip(0..) {
                        let at = |(column, state): (u32, &u32)| (*state, first + column * n + row);
                        b.dots.insert(u, (0..).zip(&reach).map(at).collect());
                    }
                    let (products, columns) = (b.products.len(), reach.len());
                    solves.push(Solve { products, block: block.clone(), first: first as usize, columns });
                }
                _ => return None,
            }
            if b.products.len().max(b.count as usize) > MOST_PRODUCTS {
                return None;
            }
        }
        let n = states.len();
        let mut entries = Vec::new();
        for (i, (_, derivative)) in states.iter().enumerate() {
            for &(j, at) in b.dots.get(derivative).into_iter().flat_map(|d| d.iter()) {
                let position = pattern.map_or(Some(j as usize * n + i), |p| p.find(i, j as usize))?;
                entries.push((u32::try_from(position).ok()?, at));
            }
        }
        let Builder { c, count, products, partials, .. } = b;
        let mut dots = vec![0.0; count as usize];
        dots[0] = 1.0;
        let partials = partials.chain(c);
        let mut reads: Vec<u32> =
            partials.rows().flat_map(|(_, row)| row[1..].iter().map(|w| slot_of(*w) as u32)).collect();
        reads.sort_unstable();
        reads.dedup();
        Some(Tangent {
            reads: Some(reads).filter(|r| solves.is_empty() && r.len() <= FEW_READS),
            last: RefCell::default(),
            partials,
            products,
            solves,
            dots: RefCell::new(dots),
            entries,
        })
    }

    /// ∂f/∂x at the point at which the steps have just been evaluated; false if it is not a matrix of numbers.
    pub fn jacobian(&self, m: &mut Machine, jac: &mut JacobianMatrix) -> bool {
        let Some(reads) = &self.reads else { return self.compute(m, jac) };
        let mut last = self.last.borrow_mut();
        let (matrix, known) = &mut *last;
        let now = |s: &u32| m.values[*s as usize];
        if matrix.len() == jac.values().len() && known.iter().zip(reads).all(|(v, s)| v.to_bits() == now(s).to_bits()) {
            jac.values_mut().copy_from_slice(matrix);
            return true;
        }
        known.clear();
        known.extend(reads.iter().map(now));
        matrix.clear();
        let found = self.compute(m, jac);
        if found {
            matrix.extend_from_slice(jac.values());
        }
        found
    }

    fn compute(&self, m: &mut Machine, jac: &mut JacobianMatrix) -> bool {
        m.chain(&self.partials);
        if !self.solves.iter().all(|s| m.factor_full(&s.block)) {
            return false;
        }
        let mut dots = self.dots.borrow_mut();
        let mut done = 0;
        for solve in &self.solves {
            // Not every right-hand side gets something.
            dots[solve.first..][..solve.block.unknowns.len() * solve.columns].fill(0.0);
            multiply(&self.products[done..solve.products], &m.values, &mut dots);
            done = solve.products;
            let n = solve.block.unknowns.len();
            for right in dots[solve.first..][..n * solve.columns].chunks_exact_mut(n) {
                solve.block.solve_full(right);
            }
        }
        multiply(&self.products[done..], &m.values, &mut dots);
        let values = jac.values_mut();
        values.fill(0.0);
        let mut finite = true;
        for &(position, at) in &self.entries {
            let d = dots[at as usize];
            finite &= d.is_finite();
            values[position as usize] = d;
        }
        finite
    }
}

fn multiply(products: &[Product], values: &[f64], dots: &mut [f64]) {
    for p in products {
        let factor = values[slot_of(p.partial)];
        let factor = if p.partial & NEGATE != 0 { -factor } else { factor };
        let product = factor * dots[p.from as usize];
        if p.to & FIRST != 0 {
            dots[(p.to & !FIRST) as usize] = product;
        } else {
            dots[p.to as usize] += product;
        }
    }
}
