//! ∂f/∂x of the causalised system ẋ = f(t, x), by the chain rule through the steps.
//!
//! An assignment w = φ(u) passes derivatives on by ∂w/∂x_j = Σ ∂φ/∂u_k ∂u_k/∂x_j; a block r(z, u) = 0 by
//! ∂r/∂z ∂z/∂x_j = −Σ ∂r/∂u_k ∂u_k/∂x_j. The partial derivatives are kernels of the templates, computed once per point, equal
//! ones once; of the ∂u/∂x_j only those exist that are not zero by structure, so the work is that of the products left.
//! Sums of one term need none: ∂φ/∂u of a state is the partial derivative itself, and factors ±1 are signs. Where a template has
//! many rows, sums are formulas ([`crate::formula`]), and all entries of a row of the matrix are computed by one kernel, straight
//! into their places.
//!
//! The same terms give ∂f/∂x · v along one direction, without any matrix ([`Tangent::along`]).

use crate::block::SolveBlock;
use crate::compile::{Compiler, Partials, Step};
use crate::formula::{Factors, Formula, Formulas, MOST_RESULTS, Together};
use crate::machine::Machine;
use crate::progression::{Piece, pieces};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_dae::{HybridDae, Operand, Row};
use saltus_expr::ExprId;
use saltus_program::{Chain, FEW_ROWS, NEGATE, Window, slot_of};
use saltus_solver::linear::Pattern;
use saltus_solver::ode::JacobianMatrix;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

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
    /// The inner rows of a torn block whose unknowns somebody reads.
    wanted: Vec<u32>,
}

/// The derivatives of a right-hand side, ready to be propagated.
pub struct Tangent {
    /// All partial derivatives, for [`Tangent::along`].
    partials: Chain,
    /// Those that products and entries read; `None`: all of them.
    some: Option<Chain>,
    /// Rows of the matrix computed straight into their places, the first of which would be this slot.
    rows: Option<(Chain, usize)>,
    products: Products,
    /// ∂u/∂x_j of every u on the way; the first is 1.
    dots: RefCell<Vec<f64>>,
    /// `[position in the matrix, which derivative]`.
    entries: Vec<[u32; 2]>,
    /// Whether some places of the matrix get nothing.
    gaps: bool,
    runs: Vec<Piece<2>>,
    /// The chain rule along one direction.
    flow: Flow,
    /// What the matrix depends on, where that is little: as long as it stays, so does the matrix.
    reads: Option<Vec<u32>>,
    last: RefCell<Last>,
}

/// The last matrix, what it was computed from, and what marks copies of it.
#[derive(Default)]
struct Last {
    matrix: Vec<f64>,
    known: Vec<f64>,
    stamp: u64,
}

/// Marks of matrices, never the same twice.
static STAMPS: AtomicU64 = AtomicU64::new(1);

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

/// Which states a slot depends on, and what its derivatives are.
type Dots = Rc<[(u32, Dot)]>;

/// A derivative by a state.
#[derive(Clone)]
enum Dot {
    /// That of the state itself.
    One,
    /// Computed by products; [`NEGATE`] is its sign.
    At(u32),
    /// Not yet computed.
    Formula(Formula),
}

struct Builder<'a, 'c> {
    c: &'a mut Compiler<'c>,
    dots: FxHashMap<u32, Dots>,
    count: u32,
    products: Products,
    partials: Partials,
    formulas: Formulas,
    /// Templates of many rows.
    many: FxHashSet<ExprId>,
    /// Of each slot that moves: its place in a flow.
    places: FxHashMap<u32, u32>,
    flow: Flow,
}

/// A contribution: what is differentiated by, and the word of the factor.
struct Term {
    slot: u32,
    source: Dots,
    partial: u32,
    /// The factor without its sign, which is that of `partial`.
    formula: Formula,
    /// The factor is one, but for its sign.
    unit: bool,
}

/// Templates with enough rows for a loop.
fn templates_of_many<'r>(rows: impl Iterator<Item = &'r Row>) -> FxHashSet<ExprId> {
    let mut count: FxHashMap<ExprId, usize> = FxHashMap::default();
    rows.for_each(|r| *count.entry(r.template).or_insert(0) += 1);
    count.into_iter().filter(|c| c.1 > FEW_ROWS).map(|c| c.0).collect()
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
            let mut formula = Formula::new(self.c, &p);
            if sign != 0 {
                formula.template = self.c.sys.dae.pool.num(1.0);
            }
            let partial = self.partials.place(self.c, &formula);
            let unit = matches!(constant, Some(v) if v.abs() == 1.0);
            out.push(Term { slot, source, partial: partial ^ sign ^ (word & NEGATE), formula, unit });
        }
        out
    }

    /// The derivatives of an assigned value by the states `reach`: sums of one term are what they consist of; where there are
    /// many rows like this one, sums are formulas.
    fn assigned(&mut self, terms: &[Term], reach: &[u32], many: bool) -> Dots {
        let mut parts: Vec<Vec<(&Term, &Dot)>> = vec![Vec::new(); reach.len()];
        for t in terms {
            for (state, from) in t.source.iter() {
                parts[reach.partition_point(|s| s < state)].push((t, from));
            }
        }
        reach.iter().zip(parts).map(|(state, parts)| (*state, self.dot(&parts, many))).collect()
    }

    fn dot(&mut self, parts: &[(&Term, &Dot)], many: bool) -> Dot {
        let pool = &mut self.c.sys.dae.pool;
        match parts {
            [(t, Dot::One)] if t.partial & NEGATE == 0 => return Dot::Formula(t.formula.clone()),
            [(t, Dot::One)] => return Dot::Formula(t.formula.negated(pool)),
            [(t, Dot::At(from))] if t.unit => return Dot::At(from ^ (t.partial & NEGATE)),
            [(t, Dot::Formula(f))] if t.unit && t.partial & NEGATE == 0 => return Dot::Formula(f.clone()),
            [(t, Dot::Formula(f))] if t.unit => return Dot::Formula(f.negated(pool)),
            _ if many => {
                if let Some(f) = self.sum_of(parts) {
                    return Dot::Formula(f);
                }
            }
            _ => {}
        }
        let to = self.count;
        self.count += 1;
        for (k, (t, from)) in parts.iter().enumerate() {
            self.product(if k == 0 { to | FIRST } else { to }, from, t.partial);
        }
        Dot::At(to)
    }

    /// A sum as a formula, if it is one of formulas.
    fn sum_of(&mut self, parts: &[(&Term, &Dot)]) -> Option<Formula> {
        let mut factors: Vec<Factors> = Vec::with_capacity(parts.len());
        for (t, from) in parts {
            let q = match from {
                Dot::One => None,
                Dot::At(_) => return None,
                Dot::Formula(f) if self.formulas.is_cheap(&self.c.sys.dae.pool, f.template) => Some(f.clone()),
                Dot::Formula(f) => {
                    let slot = self.partials.place(self.c, f);
                    Some(Formula::value(self.c, slot))
                }
            };
            factors.push((t.formula.clone(), t.partial & NEGATE, q));
        }
        self.formulas.sum(&mut self.c.sys.dae.pool, &factors)
    }

    /// Where a derivative is, its sign included: among those of products, or with a bit among the values.
    fn place(&mut self, dot: &Dot) -> u32 {
        match dot {
            Dot::One => ONE,
            Dot::At(at) => *at,
            Dot::Formula(f) => self.partials.place(self.c, f) | IN_VALUES,
        }
    }

    /// Appends a product; the sign of what it is made from goes to the factor.
    fn product(&mut self, to: u32, from: &Dot, partial: u32) {
        let from = self.place(from);
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
            for (state, from) in t.source.iter() {
                let column = states.partition_point(|s| s < state);
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
            dots: states.iter().zip(0..).map(|(s, k)| (s.0, Rc::from([(k, Dot::One)]))).collect(),
            count: 1,
            products: Products::default(),
            partials: Partials::default(),
            formulas: Formulas::default(),
            many: FxHashSet::default(),
            places: states.iter().zip(0..).map(|(s, k)| (s.0, k)).collect(),
            flow: Flow::default(),
        };
        let chains = steps.iter().filter_map(|s| if let Step::Assign(chain) = s { Some(chain) } else { None });
        b.many = templates_of_many(chains.flat_map(Chain::rows).filter_map(|(_, words)| assigned.get(&words[0])));
        let mut moving = states.len() as u32;
        for step in steps {
            match step {
                Step::Assign(chain) => {
                    for (_, words) in chain.rows() {
                        let row = assigned.get(&words[0])?;
                        let terms = b.terms(row, &[]);
                        let reach = Builder::states(terms.iter());
                        if reach.is_empty() {
                            b.dots.remove(&words[0]);
                            continue;
                        }
                        let many = b.many.contains(&row.template);
                        let dots = b.assigned(&terms, &reach, many);
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
                    let place = |k: usize, column: usize| first + block.place(k, column, reach.len()) as u32;
                    for (row, t) in terms.iter().enumerate() {
                        b.sum(t, |column| place(row, column), &reach, NEGATE);
                    }
                    for (k, &u) in block.unknowns.iter().enumerate() {
                        let at = |(column, state): (usize, &u32)| (*state, Dot::At(place(k, column)));
                        b.dots.insert(u, reach.iter().enumerate().map(at).collect());
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
        let mut together = Together::default();
        let mut formulas: Vec<(usize, Vec<(u32, Formula)>)> = Vec::new();
        let mut filled = 0;
        for (i, (_, derivative)) in states.iter().enumerate() {
            let dots = b.dots.get(derivative).cloned();
            let mut row = Vec::new();
            for (j, dot) in dots.iter().flat_map(|d| d.iter()) {
                let position = pattern.map_or(Some(*j as usize * n + i), |p| p.find(i, *j as usize))?;
                let position = u32::try_from(position).ok()?;
                filled += 1;
                match dot {
                    Dot::Formula(f) => row.push((position, f.clone())),
                    dot => entries.push([position, b.place(dot)]),
                }
            }
            for part in row.chunks(MOST_RESULTS) {
                formulas.push((together.kind(part), part.to_vec()));
            }
        }
        let size = pattern.map_or(n * n, Pattern::nnz);
        let many: Vec<bool> = formulas.iter().map(|(kind, _)| together.are_many(*kind)).collect();
        let mut base = 0;
        let mut rows = None;
        if many.contains(&true) {
            u32::try_from(b.c.layout.len() + size).ok()?;
            let first = b.c.layout.scratch_run(size);
            base = first as usize;
            rows = together.chain(b.c, first);
        }
        for ((_, row), many) in formulas.into_iter().zip(many) {
            if rows.is_none() || !many {
                let each = row.into_iter().map(|(position, f)| [position, b.place(&Dot::Formula(f))]);
                entries.extend(each.collect::<Vec<_>>());
            }
        }
        let ends = states.iter().map(|(_, d)| b.places.get(d).filter(|_| b.dots.contains_key(d)).copied()).collect();
        let Builder { c, count, mut products, partials, mut flow, .. } = b;
        let some = rows.is_some().then(|| {
            let read = products.list.iter().flat_map(|p| [Some(p[2] & !NEGATE), values_slot(p[1])]);
            let read = read.chain(entries.iter().map(|e| values_slot(e[1] & !NEGATE))).flatten();
            let read = read.chain(rows.iter().flat_map(Chain::reads));
            partials.chain_for(c, read.collect())
        });
        products.want(entries.iter().map(|e| e[1]));
        flow.ends = ends;
        flow.products.want(flow.ends.iter().flatten().copied());
        products.cut();
        flow.products.cut();
        flow.dots = RefCell::new(vec![0.0; moving as usize]);
        let mut dots = vec![0.0; count as usize];
        dots[0] = 1.0;
        let partials = partials.chain_of_slopes(c);
        let mut reads: Vec<u32> = partials.reads().collect();
        // Blocks whose Jacobians are constant between events belong to it, too.
        let fixed = |s: &Solve| s.block.fixed.as_ref().map(|f| reads.extend(f));
        let lasting = products.solves.iter().map(fixed).all(|f| f.is_some());
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
            reads: Some(reads).filter(|r| lasting && held(r)),
            last: RefCell::default(),
            partials,
            some,
            rows: rows.map(|r| (r, base)),
            gaps: filled < size,
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
        let Last { matrix, known, stamp } = &mut *last;
        let now = |s: &u32| m.values[*s as usize];
        if matrix.len() == jac.values().len() && known.iter().zip(reads).all(|(v, s)| v.to_bits() == now(s).to_bits()) {
            if jac.stamp() != *stamp {
                jac.values_mut().copy_from_slice(matrix);
                jac.set_stamp(*stamp);
            }
            return true;
        }
        known.clear();
        known.extend(reads.iter().map(now));
        matrix.clear();
        let found = self.compute(m, jac);
        if found {
            matrix.extend_from_slice(jac.values());
            *stamp = STAMPS.fetch_add(1, Ordering::Relaxed);
            jac.set_stamp(*stamp);
        }
        found
    }

    /// Partial derivatives and factors of blocks at the point at which the steps have just been evaluated.
    fn prepare(&self, m: &mut Machine, partials: &Chain) -> bool {
        m.chain(partials);
        self.products.solves.iter().all(|s| m.factor_present(&s.block))
    }

    fn compute(&self, m: &mut Machine, jac: &mut JacobianMatrix) -> bool {
        if !self.prepare(m, self.some.as_ref().unwrap_or(&self.partials)) {
            return false;
        }
        let mut dots = self.dots.borrow_mut();
        self.products.run(&m.values, &mut dots);
        let values = jac.values_mut();
        if self.gaps {
            values.fill(0.0);
        }
        let mut finite = true;
        if let Some((rows, base)) = &self.rows {
            m.chain_into(rows, Window { base: *base, to: values });
            finite = are_finite(values);
        }
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
        if !self.prepare(m, &self.partials) {
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

/// Whether all of them are numbers: their sum tells, unless it is too large.
fn are_finite(values: &[f64]) -> bool {
    let mut sums = [0.0; 8];
    let (eights, rest) = values.as_chunks::<8>();
    for eight in eights {
        sums.iter_mut().zip(eight).for_each(|(s, v): (&mut f64, &f64)| *s += v);
    }
    let sum = sums.iter().chain(rest).sum::<f64>();
    sum.is_finite() || values.iter().all(|v| v.is_finite())
}

/// The slot of a derivative that stands among the values.
fn values_slot(at: u32) -> Option<u32> {
    (at & IN_VALUES != 0).then_some(at & !IN_VALUES)
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
        let (products, block, wanted) = (self.list.len(), block.clone(), Vec::new());
        self.solves.push(Solve { products, block, first: first as usize, columns, wanted });
    }

    /// Looks which unknowns of torn blocks are read, by products or at the `ends`.
    fn want(&mut self, ends: impl Iterator<Item = u32>) {
        let read = self.list.iter().map(|p| p[1]).chain(ends.map(|e| e & !NEGATE));
        let read: FxHashSet<u32> = read.filter(|at| at & IN_VALUES == 0).collect();
        for s in self.solves.iter_mut().filter(|s| s.block.torn.used) {
            let is_read = |j: u32| {
                let from = s.first as u32 + j * s.columns as u32;
                (from..from + s.columns as u32).any(|at| read.contains(&at))
            };
            let rows = s.block.torn.elimination.rows.iter().zip(0..);
            s.wanted = rows.filter(|(r, _)| r.unknown.is_some_and(is_read)).map(|r| r.1).collect();
        }
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
                let b = &mut dots[solve.first..][..n * solve.columns];
                solve.block.solve_columns(values, &solve.wanted, b, solve.columns);
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
