//! ∂f/∂x of the causalised system ẋ = f(t, x), by the chain rule through the steps.
//!
//! An assignment w = φ(u) passes derivatives on by ∂w/∂x_j = Σ ∂φ/∂u_k ∂u_k/∂x_j; a block r(z, u) = 0 by
//! ∂r/∂z ∂z/∂x_j = −Σ ∂r/∂u_k ∂u_k/∂x_j. The partial derivatives are kernels of the templates, computed once per point, equal
//! ones once; of the ∂u/∂x_j only those exist that are not zero by structure, so the work is that of the products left.
//! Sums of one term need none: ∂φ/∂u of a state is the partial derivative itself, and factors ±1 are signs.
//!
//! The same terms give ∂f/∂x · v along one direction, without any matrix ([`Tangent::along`]).

use crate::block::SolveBlock;
use crate::compile::{Compiler, Partials, Step};
use crate::machine::Machine;
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_dae::{HybridDae, Operand, Row};
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
/// says so: what stood there before does not count. A bit of `from` says that it is one of the values instead.
struct Product {
    to: u32,
    from: u32,
    partial: u32,
}

/// The bit of a derivative that stands among the values: a partial derivative as it is. [`NEGATE`] is its sign.
const IN_VALUES: u32 = 1 << 30;
/// The derivative of a state by itself.
const ONE: u32 = 0;

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
    /// The chain rule along one direction.
    flow: Flow,
    /// What the matrix depends on, where that is little: as long as it stays, so does the matrix.
    reads: Option<Vec<u32>>,
    /// The last matrix, and what it was computed from.
    last: RefCell<(Vec<f64>, Vec<f64>)>,
}

/// One derivative per value: those of the states come first, in their order.
#[derive(Default)]
struct Flow {
    products: Vec<Product>,
    solves: Vec<Solve>,
    dots: RefCell<Vec<f64>>,
    /// Where the derivatives of the derivatives of the states are; nowhere if they do not change.
    ends: Vec<Option<u32>>,
}

/// More than this that may change from step to step is not looked at to see whether the matrix has changed.
const FEW_READS: usize = 200;

/// Which states a slot depends on, and where its derivatives are.
type Dots = Rc<[(u32, u32)]>;

struct Builder<'a, 'c> {
    c: &'a mut Compiler<'c>,
    dots: FxHashMap<u32, Dots>,
    count: u32,
    products: Vec<Product>,
    partials: Partials,
    /// Of each slot that moves: its place in a flow.
    places: FxHashMap<u32, u32>,
    flow: Flow,
}

/// A contribution: what is differentiated by, and the word of the factor.
struct Term {
    slot: u32,
    source: Dots,
    partial: u32,
    /// The factor is one, but for its sign.
    unit: bool,
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
            let constant = self.c.sys.dae.pool.as_const(p.template);
            let sign = if constant == Some(-1.0) { NEGATE } else { 0 };
            let partial = match constant {
                Some(-1.0) => self.c.layout.word(self.c.sys, Operand::Const(1.0)),
                _ => self.partials.slot(self.c, p),
            };
            let unit = matches!(constant, Some(v) if v.abs() == 1.0);
            out.push(Term { slot, source, partial: partial ^ sign ^ (word & NEGATE), unit });
        }
        out
    }

    /// The derivatives of an assigned value by the states `reach`: sums of one term are what they consist of.
    fn assigned(&mut self, terms: &[Term], reach: &[u32]) -> Dots {
        let mut parts: Vec<Vec<(u32, u32, bool)>> = vec![Vec::new(); reach.len()];
        for t in terms {
            for &(state, from) in t.source.iter() {
                parts[reach.partition_point(|s| *s < state)].push((t.partial, from, t.unit));
            }
        }
        let dot = |(state, parts): (&u32, Vec<(u32, u32, bool)>)| {
            let at = match parts[..] {
                [(partial, ONE, _)] => partial | IN_VALUES,
                [(partial, from, true)] => from ^ (partial & NEGATE),
                _ => {
                    let to = self.count;
                    self.count += 1;
                    for (k, &(partial, from, _)) in parts.iter().enumerate() {
                        self.product(if k == 0 { to | FIRST } else { to }, from, partial);
                    }
                    to
                }
            };
            (*state, at)
        };
        reach.iter().zip(parts).map(dot).collect()
    }

    /// Appends a product; the sign of what it is made from goes to the factor.
    fn product(&mut self, to: u32, from: u32, partial: u32) {
        self.products.push(Product { to, from: from & !NEGATE, partial: partial ^ (from & NEGATE) });
    }

    /// Appends the same terms to the flow: `to` says where they go, `flip` negates.
    fn flows(&mut self, terms: &[Term], to: u32, flip: u32, first: bool) {
        for (k, t) in terms.iter().enumerate() {
            let from = self.places[&t.slot];
            let to = if first && k == 0 { to | FIRST } else { to };
            self.flow.products.push(Product { to, from, partial: t.partial ^ flip });
        }
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
                self.product(to(column), from, t.partial ^ flip);
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
            dots: states.iter().zip(0..).map(|(s, k)| (s.0, Rc::from([(k, ONE)]))).collect(),
            count: 1,
            products: Vec::new(),
            partials: Partials::default(),
            places: states.iter().zip(0..).map(|(s, k)| (s.0, k)).collect(),
            flow: Flow::default(),
        };
        let mut moving = states.len() as u32;
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
                        let dots = b.assigned(&terms, &reach);
                        b.flows(&terms, moving, 0, true);
                        b.dots.insert(words[0], dots);
                        b.places.insert(words[0], moving);
                        moving += 1;
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
                    for (t, row) in terms.iter().zip(moving..) {
                        b.flows(t, row, NEGATE, false);
                    }
                    b.places.extend(block.unknowns.iter().copied().zip(moving..));
                    let products = b.flow.products.len();
                    b.flow.solves.push(Solve { products, block: block.clone(), first: moving as usize, columns: 1 });
                    moving += n;
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
        let ends = states.iter().map(|(_, d)| b.places.get(d).filter(|_| b.dots.contains_key(d)).copied()).collect();
        let Builder { c, count, products, partials, mut flow, .. } = b;
        flow.ends = ends;
        flow.dots = RefCell::new(vec![0.0; moving as usize]);
        let mut dots = vec![0.0; count as usize];
        dots[0] = 1.0;
        let partials = partials.chain(c);
        let mut reads: Vec<u32> =
            partials.rows().flat_map(|(_, row)| row[1..].iter().map(|w| slot_of(*w) as u32)).collect();
        reads.sort_unstable();
        reads.dedup();
        // What nothing here computes stays between events: then it is always worth looking.
        let mut computed: FxHashSet<u32> = states.iter().map(|s| s.0).collect();
        computed.insert(c.layout.word(c.sys, Operand::var(HybridDae::TIME)));
        for step in steps {
            if let Step::Assign(chain) = step {
                computed.extend(chain.rows().map(|(_, row)| row[0]));
            }
        }
        let held = |r: &[u32]| r.len() <= FEW_READS || !r.iter().any(|s| computed.contains(s));
        Some(Tangent {
            reads: Some(reads).filter(|r| solves.is_empty() && held(r)),
            last: RefCell::default(),
            partials,
            products,
            solves,
            dots: RefCell::new(dots),
            entries,
            flow,
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

    /// Partial derivatives and factors of blocks at the point at which the steps have just been evaluated.
    fn prepare(&self, m: &mut Machine) -> bool {
        m.chain(&self.partials);
        self.solves.iter().all(|s| m.factor_full(&s.block))
    }

    fn compute(&self, m: &mut Machine, jac: &mut JacobianMatrix) -> bool {
        if !self.prepare(m) {
            return false;
        }
        let mut dots = self.dots.borrow_mut();
        run(&self.products, &self.solves, &m.values, &mut dots);
        let values = jac.values_mut();
        values.fill(0.0);
        let mut finite = true;
        for &(position, at) in &self.entries {
            let d = read(at & !NEGATE, &m.values, &dots);
            finite &= d.is_finite();
            values[position as usize] = if at & NEGATE != 0 { -d } else { d };
        }
        finite
    }

    /// ∂f/∂x · v at the point at which the steps have just been evaluated, in one pass over what the derivatives are
    /// computed from; false if it is not a vector of numbers.
    pub fn along(&self, m: &mut Machine, v: &[f64], out: &mut [f64]) -> bool {
        if !self.prepare(m) {
            return false;
        }
        let flow = &self.flow;
        let mut dots = flow.dots.borrow_mut();
        dots[..v.len()].copy_from_slice(v);
        run(&flow.products, &flow.solves, &m.values, &mut dots);
        for (o, end) in out.iter_mut().zip(&flow.ends) {
            *o = end.map_or(0.0, |e| dots[e as usize]);
        }
        out.iter().all(|v| v.is_finite())
    }
}

/// A derivative: one of the values, or computed here.
fn read(at: u32, values: &[f64], dots: &[f64]) -> f64 {
    let (list, at) = if at & IN_VALUES != 0 { (values, at & !IN_VALUES) } else { (dots, at) };
    list[at as usize]
}

/// All products in order, blocks solved where they stand.
fn run(products: &[Product], solves: &[Solve], values: &[f64], dots: &mut [f64]) {
    let mut done = 0;
    for solve in solves {
        let n = solve.block.unknowns.len();
        // Not every right-hand side gets something.
        dots[solve.first..][..n * solve.columns].fill(0.0);
        multiply(&products[done..solve.products], values, dots);
        done = solve.products;
        for right in dots[solve.first..][..n * solve.columns].chunks_exact_mut(n) {
            solve.block.solve_full(right);
        }
    }
    multiply(&products[done..], values, dots);
}

fn multiply(products: &[Product], values: &[f64], dots: &mut [f64]) {
    for p in products {
        let factor = values[slot_of(p.partial)];
        let factor = if p.partial & NEGATE != 0 { -factor } else { factor };
        let product = factor * read(p.from, values, dots);
        if p.to & FIRST != 0 {
            dots[(p.to & !FIRST) as usize] = product;
        } else {
            dots[p.to as usize] += product;
        }
    }
}
