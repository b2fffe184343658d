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
use crate::progression::{Piece, pieces};
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

/// `dots[to] += ± values[partial] · dots[from]`, as `[to, from, partial]`; the sign is a bit of `partial`. If it is the first of
/// a sum, a bit of `to` says so: what stood there before does not count. A bit of `from` says that it is one of the values
/// instead.
type Product = [u32; 3];

/// Products in order, with blocks solved in between.
#[derive(Default)]
struct Products {
    list: Vec<Product>,
    /// Up to each solve, and after the last.
    pieces: Vec<Vec<Piece<3>>>,
    solves: Vec<Solve>,
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
    products: Products,
    /// ∂u/∂x_j of every u on the way; the first is 1.
    dots: RefCell<Vec<f64>>,
    /// `[position in the matrix, which derivative]`.
    entries: Vec<[u32; 2]>,
    runs: Vec<Piece<2>>,
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
    products: Products,
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
    products: Products,
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
        self.products.list.push([to, from & !NEGATE, partial ^ (from & NEGATE)]);
    }

    /// Appends the same terms to the flow: `to` says where they go, `flip` negates.
    fn flows(&mut self, terms: &[Term], to: u32, flip: u32, first: bool) {
        for (k, t) in terms.iter().enumerate() {
            let from = self.places[&t.slot];
            let to = if first && k == 0 { to | FIRST } else { to };
            self.flow.products.list.push([to, from, t.partial ^ flip]);
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
            products: Products::default(),
            partials: Partials::default(),
            places: states.iter().zip(0..).map(|(s, k)| (s.0, k)).collect(),
            flow: Flow::default(),
        };
        let mut moving = states.len() as u32;
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
                    b.flow.products.solve(block, moving, 1);
                    moving += n;
                    b.products.solve(block, first, reach.len());
                }
                _ => return None,
            }
            if b.products.list.len().max(b.count as usize) > MOST_PRODUCTS {
                return None;
            }
        }
        let n = states.len();
        let mut entries = Vec::new();
        for (i, (_, derivative)) in states.iter().enumerate() {
            for &(j, at) in b.dots.get(derivative).into_iter().flat_map(|d| d.iter()) {
                let position = pattern.map_or(Some(j as usize * n + i), |p| p.find(i, j as usize))?;
                entries.push([u32::try_from(position).ok()?, at]);
            }
        }
        let ends = states.iter().map(|(_, d)| b.places.get(d).filter(|_| b.dots.contains_key(d)).copied()).collect();
        let Builder { c, count, mut products, partials, mut flow, .. } = b;
        products.cut();
        flow.products.cut();
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
            reads: Some(reads).filter(|r| products.solves.is_empty() && held(r)),
            last: RefCell::default(),
            partials,
            products,
            dots: RefCell::new(dots),
            runs: pieces(&entries, |_| false),
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
        self.products.solves.iter().all(|s| m.factor_full(&s.block))
    }

    fn compute(&self, m: &mut Machine, jac: &mut JacobianMatrix) -> bool {
        if !self.prepare(m) {
            return false;
        }
        let mut dots = self.dots.borrow_mut();
        self.products.run(&m.values, &mut dots);
        let values = jac.values_mut();
        if self.entries.len() < values.len() {
            values.fill(0.0);
        }
        let mut finite = true;
        for p in &self.runs {
            match p {
                Piece::Each(range) => {
                    for &[position, at] in &self.entries[range.clone()] {
                        let d = read(at & !NEGATE, &m.values, &dots);
                        finite &= d.is_finite();
                        values[position as usize] = if at & NEGATE != 0 { -d } else { d };
                    }
                }
                Piece::Run { first: [position, at], step: [by, along], len } => {
                    let sign = if at & NEGATE != 0 { -1.0 } else { 1.0 };
                    let (list, at) = source(at & !NEGATE, &m.values, &dots);
                    let (by, along, last) = (*by as usize, *along as usize, *len as usize - 1);
                    let to = values[*position as usize..][..=last * by].chunks_mut(by.max(1));
                    // Not a number times zero is not zero.
                    let mut doubt = 0.0;
                    if along == 0 {
                        doubt += list[at] * 0.0;
                        to.for_each(|v| v[0] = sign * list[at]);
                    } else {
                        for (v, d) in to.zip(list[at..][..=last * along].chunks(along)) {
                            doubt += d[0] * 0.0;
                            v[0] = sign * d[0];
                        }
                    }
                    finite &= doubt == 0.0;
                }
            }
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
        flow.products.run(&m.values, &mut dots);
        for (o, end) in out.iter_mut().zip(&flow.ends) {
            *o = end.map_or(0.0, |e| dots[e as usize]);
        }
        out.iter().all(|v| v.is_finite())
    }
}

/// Where a derivative stands: among the values, or computed here.
fn source<'a>(at: u32, values: &'a [f64], dots: &'a [f64]) -> (&'a [f64], usize) {
    if at & IN_VALUES != 0 { (values, (at & !IN_VALUES) as usize) } else { (dots, at as usize) }
}

fn read(at: u32, values: &[f64], dots: &[f64]) -> f64 {
    let (list, at) = source(at, values, dots);
    list[at]
}

impl Products {
    /// A block whose right-hand sides are the products so far.
    fn solve(&mut self, block: &Rc<SolveBlock>, first: u32, columns: usize) {
        self.solves.push(Solve { products: self.list.len(), block: block.clone(), first: first as usize, columns });
    }

    /// Looks for progressions, once all are there.
    fn cut(&mut self) {
        let ends: Vec<usize> = self.solves.iter().map(|s| s.products).chain([self.list.len()]).collect();
        let mut begin = 0;
        for end in ends {
            let mut cut = pieces(&self.list[begin..end], needs_order);
            for p in &mut cut {
                if let Piece::Each(r) = p {
                    *r = r.start + begin..r.end + begin;
                }
            }
            self.pieces.push(cut);
            begin = end;
        }
    }

    /// All products in order, blocks solved where they stand.
    fn run(&self, values: &[f64], dots: &mut [f64]) {
        for (pieces, solve) in self.pieces.iter().zip(self.solves.iter().map(Some).chain([None])) {
            if let Some(solve) = solve {
                // Not every right-hand side gets something.
                let n = solve.block.unknowns.len();
                dots[solve.first..][..n * solve.columns].fill(0.0);
            }
            for p in pieces {
                match p {
                    Piece::Each(range) => multiply(&self.list[range.clone()], values, dots),
                    Piece::Run { first, step, len } => multiply_run(*first, *step, *len as usize, values, dots),
                }
            }
            if let Some(solve) = solve {
                let n = solve.block.unknowns.len();
                for right in dots[solve.first..][..n * solve.columns].chunks_exact_mut(n) {
                    solve.block.solve_full(right);
                }
            }
        }
    }
}

/// Whether runs that alternate must do so: one reads what another writes, or a later one would come upon a place before its turn.
fn needs_order(runs: &[Piece<3>]) -> bool {
    let range = |first: u32, step: u32, len: u32| (first, step, first + step * (len - 1));
    let overlap = |a: (u32, u32, u32), b: (u32, u32, u32)| a.0 <= b.2 && b.0 <= a.2;
    let written: Vec<_> = runs
        .iter()
        .filter_map(|p| match p {
            Piece::Run { first, step, len } => Some(range(first[0] & !FIRST, step[0], *len)),
            Piece::Each(_) => None,
        })
        .collect();
    let reads = runs.iter().any(|p| match p {
        Piece::Run { first: [_, from, _], step, len } if from & IN_VALUES == 0 => {
            let read = range(*from, step[1], *len);
            written.iter().any(|w| overlap(*w, read))
        }
        _ => false,
    });
    // Of two that write the same places the first must be ahead, or level.
    let ahead = |a: (u32, u32, u32), b: (u32, u32, u32)| a.1 == b.1 && a.1 > 0 && b.0 <= a.0;
    let crosses = |k: usize| written[k + 1..].iter().any(|&b| overlap(written[k], b) && !ahead(written[k], b));
    reads || (0..written.len()).any(crosses)
}

fn multiply(products: &[Product], values: &[f64], dots: &mut [f64]) {
    for &[to, from, partial] in products {
        let factor = values[slot_of(partial)];
        let factor = if partial & NEGATE != 0 { -factor } else { factor };
        let product = factor * read(from, values, dots);
        if to & FIRST != 0 {
            dots[(to & !FIRST) as usize] = product;
        } else {
            dots[to as usize] += product;
        }
    }
}

/// The same for a progression.
fn multiply_run([to, from, partial]: Product, step: Product, len: usize, values: &[f64], dots: &mut [f64]) {
    let sign = if partial & NEGATE != 0 { -1.0 } else { 1.0 };
    let [by, along, next] = step.map(|s| s as usize);
    let (at, begin) = (slot_of(partial), (to & !FIRST) as usize);
    let among = from & IN_VALUES != 0;
    let from = (from & !IN_VALUES) as usize;
    // What does not change is decided outside of the loop.
    macro_rules! each {
        ($k:ident, $source:expr, $op:tt) => {
            for $k in 0..len {
                let product = sign * values[at + $k * next] * $source;
                dots[begin + $k * by] $op product;
            }
        };
    }
    match (among, to & FIRST != 0) {
        (true, true) => each!(k, values[from + k * along], =),
        (true, false) => each!(k, values[from + k * along], +=),
        (false, true) => each!(k, dots[from + k * along], =),
        (false, false) => each!(k, dots[from + k * along], +=),
    }
}
