//! Sequences ⇒ steps over the value array.

use crate::block::{SolveBlock, SolveWork, Torn};
use crate::edges::{self, Edges};
use crate::elimination::{Elimination, Eliminator, Entry, Unknown};
use crate::formula::Formula;
use crate::layout::{Layout, Lent};
use crate::spans::Spans;
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_dae::{Operand, Row, VarType};
use saltus_expr::{Coefficient, ExprId, Node};
use saltus_graph::{Bipartite, Matching, block_order};
use saltus_program::{Backend, Batch, Chain, NEGATE, Rows, slot_of};
use saltus_solver::linear::{LinearSolver, Pattern};
use saltus_structure::{Block, Cell, Item, Loop, Role, RowOps, Sequence, System, solved};
use std::cell::RefCell;
use std::rc::Rc;

/// Blocks with more torn unknowns are solved for all unknowns at once, by sparse factorization.
const MOST_TEARS: usize = 24;

/// One step of an evaluation.
#[derive(Clone)]
pub enum Step {
    /// Explicit assignments, in order.
    Assign(Chain),
    /// Simultaneous equations.
    Solve(Rc<SolveBlock>),
    /// A relation's truth value: index into the system's relations.
    Relation(usize),
    /// A variable assigned by a when-equation.
    When(Rc<WhenStep>),
    /// Continuous and discrete unknowns in one loop.
    Mixed(Rc<MixedBlock>),
}

/// A when-equation's variable.
pub struct WhenStep {
    /// Its slot.
    pub slot: u32,
    /// Its previous value.
    pub pre: u32,
    /// Which when-equation.
    pub when: usize,
    /// A value per branch.
    pub values: Vec<Option<Batch>>,
}

/// A loop through continuous and discrete unknowns.
pub struct MixedBlock {
    /// The continuous part, discrete values held.
    pub continuous: Vec<Step>,
    /// The discrete part, continuous values held.
    pub discrete: Vec<Step>,
    /// Slots of the discrete unknowns.
    pub slots: Vec<u32>,
    /// What they are.
    pub cells: Vec<Cell>,
    /// Those of the slots that hold Reals: equations determine them, not a choice among values.
    pub reals: Vec<u32>,
    /// Slots of the continuous unknowns.
    pub continuous_slots: Vec<u32>,
    /// What they are.
    pub continuous_cells: Vec<Cell>,
    /// Whether some of them follow from previous values.
    pub remembers: bool,
    /// How often it was looked for other solutions.
    pub looks: std::cell::Cell<u8>,
    /// Whether several modes have been seen to share a solution: some are singular, or functions stay at zero.
    pub degenerate: std::cell::Cell<bool>,
    /// Whether it is solved without losses although shares are open: with them nothing agrees.
    pub lossless: std::cell::Cell<bool>,
}

impl MixedBlock {
    /// Whether the discrete unknowns have the values that they had before; Reals but for this part of them.
    pub(crate) fn agree(&self, values: &[f64], before: &[f64], part: f64) -> bool {
        self.slots.iter().zip(before).all(|(s, b)| {
            let v = values[*s as usize];
            v == *b || (self.reals.contains(s) && (v - b).abs() <= part * b.abs().max(1e-3))
        })
    }
}

/// One block compiled by itself.
pub struct CompiledBlock {
    steps: Vec<Step>,
    /// The rows of its explicit assignments by their destination.
    assigned: Vec<(u32, Row)>,
    /// The slots of its own.
    _lent: Lent,
}

/// Blocks of the parts that modes are put together from: a part is compiled once, whatever modes it stands in.
#[derive(Default)]
pub struct CompiledParts {
    /// By the address of the sequence, which is kept alive.
    known: FxHashMap<*const Sequence, (Rc<Sequence>, Rc<[Rc<CompiledBlock>]>)>,
    /// Parts compiled.
    pub made: usize,
    /// Parts taken over from modes compiled before.
    pub reused: usize,
}

impl CompiledParts {
    /// Forgets all parts but these.
    pub fn keep(&mut self, used: &FxHashSet<*const Sequence>) {
        self.known.retain(|part, _| used.contains(part));
    }

    /// The blocks of these parts, in order.
    pub fn blocks(&mut self, c: &mut Compiler<'_>, parts: &[Rc<Sequence>]) -> Vec<Rc<CompiledBlock>> {
        let mut out = Vec::new();
        for part in parts {
            let entry = match self.known.get(&Rc::as_ptr(part)) {
                Some((_, blocks)) => {
                    self.reused += 1;
                    blocks.clone()
                }
                None => {
                    let blocks: Rc<[Rc<CompiledBlock>]> =
                        part.blocks.iter().map(|b| Rc::new(c.compiled(&part.items, b))).collect();
                    self.known.insert(Rc::as_ptr(part), (part.clone(), blocks.clone()));
                    self.made += 1;
                    blocks
                }
            };
            out.extend(entry.iter().cloned());
        }
        out
    }
}

/// Turns sequences into steps.
pub struct Compiler<'a> {
    /// The system.
    pub sys: &'a mut System,
    /// Row operations.
    pub ops: &'a mut RowOps,
    /// Slots.
    pub layout: &'a mut Layout,
    /// Kernels.
    pub backend: &'a mut dyn Backend,
    /// The rows of explicit assignments by their destination, if they are to be kept.
    pub assigned: Option<FxHashMap<u32, Row>>,
    /// Roots of what is continuous go on past the end of their domain, as somebody looks at where they are; what is zero to them.
    pub past: Option<f64>,
}

/// Partial derivatives to be computed, equal ones once.
#[derive(Default)]
pub(crate) struct Partials {
    /// In which round (what reads others of them comes after those), where to, and what.
    rows: Vec<(u32, u32, Formula)>,
    known: FxHashMap<Formula, u32>,
    rounds: FxHashMap<u32, u32>,
}

impl Partials {
    /// Where the value of a row will be.
    pub fn slot(&mut self, c: &mut Compiler<'_>, row: Row) -> u32 {
        let formula = Formula::new(c, &row);
        self.place(c, &formula)
    }

    /// The same for a formula.
    pub fn place(&mut self, c: &mut Compiler<'_>, formula: &Formula) -> u32 {
        if let Some(v) = c.sys.dae.pool.as_const(formula.template) {
            return c.layout.word(c.sys, Operand::Const(v));
        }
        if let Some(known) = self.known.get(formula) {
            return *known;
        }
        let read = formula.words.iter().filter_map(|w| self.rounds.get(&(slot_of(*w) as u32)));
        let round = read.max().map_or(0, |r| r + 1);
        let slot = c.layout.scratch();
        self.rows.push((round, slot, formula.clone()));
        self.known.insert(formula.clone(), slot);
        self.rounds.insert(slot, round);
        slot
    }

    /// What computes them.
    pub fn chain(self, c: &mut Compiler<'_>) -> Chain {
        let edges = c.edges(Edges::Solved);
        self.chain_by(c, edges)
    }

    /// The same of slopes of what is evaluated, and not solved for.
    pub fn chain_of_slopes(self, c: &mut Compiler<'_>) -> Chain {
        let past = c.past;
        self.chain_by(c, Edges::Slopes { past })
    }

    fn chain_by(mut self, c: &mut Compiler<'_>, edges: Edges) -> Chain {
        self.rows.sort_by_key(|r| r.0);
        self.rows.chunk_by_mut(|a, b| a.0 == b.0).for_each(|round| gather(round, |r| r.2.template));
        let batches: Chain =
            self.rows.iter().map(|(_, slot, f)| c.batch_by(*slot, f.template, &f.words, edges)).collect();
        batches.gathered(|k| c.backend.calls(k))
    }

    /// What computes those that are `needed` by others, with what they need themselves.
    pub fn chain_for(&self, c: &mut Compiler<'_>, mut needed: FxHashSet<u32>) -> Chain {
        let mut some = Partials::default();
        for row in self.rows.iter().rev() {
            if needed.contains(&row.1) {
                needed.extend(row.2.words.iter().map(|w| slot_of(*w) as u32));
                some.rows.push(row.clone());
            }
        }
        some.rows.reverse();
        some.chain(c)
    }
}

/// Brings rows of one template together, where there are enough of them for a loop of their own. The others stay in the
/// order of their equations: neighbours share subexpressions. The order must be free.
fn gather<T>(rows: &mut [T], template: impl Fn(&T) -> ExprId) {
    let mut count: FxHashMap<ExprId, usize> = FxHashMap::default();
    rows.iter().for_each(|r| *count.entry(template(r)).or_insert(0) += 1);
    rows.sort_by_key(|r| Some(template(r)).filter(|t| count[t] > saltus_program::FEW_ROWS));
}

impl Compiler<'_> {
    /// One assignment as a batch of one row.
    pub fn batch(&mut self, dest: u32, row: &Row) -> Batch {
        let words: Vec<u32> = row.args.iter().map(|&a| self.layout.word(self.sys, a)).collect();
        self.batch_by(dest, row.template, &words, Edges::Ended)
    }

    /// How roots of what is continuous end.
    fn edges(&self, past: Edges) -> Edges {
        if self.past.is_some() { past } else { Edges::Ended }
    }

    fn batch_by(&mut self, dest: u32, template: ExprId, holes: &[u32], edges: Edges) -> Batch {
        let template = edges::rounded(&mut self.sys.dae.pool, template, edges);
        let kernel = self.backend.kernel(&self.sys.dae.pool, template, holes.len());
        let words = [&[dest], holes].concat();
        Batch { kernel, rows: Rows::new(words, holes.len() + 1) }
    }

    /// Appends an assignment, joining it to those before it.
    fn push(&mut self, steps: &mut Vec<Step>, cell: Cell, row: &Row) {
        let dest = self.layout.slot(cell);
        if let Some(rows) = &mut self.assigned {
            rows.insert(dest, row.clone());
        }
        let edges = if self.is_discrete(cell) { Edges::Ended } else { self.edges(Edges::Assigned) };
        let words: Vec<u32> = row.args.iter().map(|&a| self.layout.word(self.sys, a)).collect();
        let b = self.batch_by(dest, row.template, &words, edges);
        match steps.last_mut() {
            Some(Step::Assign(chain)) => chain.push(b),
            _ => steps.push(Step::Assign(Chain::from(vec![b]))),
        }
    }

    /// Assignments in order, as far as it matters; neighbours with the same template share a batch.
    pub fn chain<'r>(&mut self, rows: impl Iterator<Item = (u32, &'r Row)>) -> Chain {
        let chain: Chain = rows.map(|(dest, row)| self.batch(dest, row)).collect();
        chain.gathered(|k| self.backend.calls(k))
    }

    /// The same for equations that are solved together.
    fn chain_solved<'r>(&mut self, rows: impl Iterator<Item = (u32, &'r Row)>) -> Chain {
        let edges = self.edges(Edges::Solved);
        let batch = |(dest, row): (u32, &Row)| {
            let words: Vec<u32> = row.args.iter().map(|&a| self.layout.word(self.sys, a)).collect();
            self.batch_by(dest, row.template, &words, edges)
        };
        let chain: Chain = rows.map(batch).collect();
        chain.gathered(|k| self.backend.calls(k))
    }

    /// A whole sequence.
    pub fn sequence(&mut self, seq: &Sequence) -> Vec<Step> {
        self.blocks(&seq.items, &seq.blocks)
    }

    /// Some blocks of a sequence.
    pub fn blocks(&mut self, items: &[Item], blocks: &[Block]) -> Vec<Step> {
        let mut steps = Vec::new();
        for block in blocks {
            self.block(items, &block.items, &block.unknowns, &mut steps);
        }
        for step in &mut steps {
            if let Step::Assign(chain) = step {
                *chain = std::mem::take(chain).gathered(|k| self.backend.calls(k));
            }
        }
        steps
    }

    /// One block by itself, to be appended wherever it is needed.
    fn compiled(&mut self, items: &[Item], block: &Block) -> CompiledBlock {
        let outer = self.assigned.replace(Default::default());
        let mut steps = Vec::new();
        self.layout.lend();
        self.block(items, &block.items, &block.unknowns, &mut steps);
        let assigned = std::mem::replace(&mut self.assigned, outer).unwrap_or_default();
        CompiledBlock { steps, assigned: assigned.into_iter().collect(), _lent: self.layout.lent() }
    }

    /// Appends a block; its assignments join those before it.
    pub fn append(&mut self, steps: &mut Vec<Step>, block: &CompiledBlock) {
        if let Some(rows) = &mut self.assigned {
            rows.extend(block.assigned.iter().cloned());
        }
        for step in &block.steps {
            match (step, steps.last_mut()) {
                (Step::Assign(more), Some(Step::Assign(chain))) => more.iter().for_each(|b| chain.push(b.clone())),
                _ => steps.push(step.clone()),
            }
        }
    }

    fn is_discrete(&self, cell: Cell) -> bool {
        cell.order < 0 || self.sys.role(cell.var) == saltus_structure::Role::Discrete
    }

    /// One block.
    pub fn block(&mut self, items: &[Item], members: &[usize], unknowns: &[Cell], steps: &mut Vec<Step>) {
        if let ([i], [cell]) = (members, unknowns)
            && !matches!(&items[*i], Item::When { values, .. } if reads(values, *cell))
        {
            self.single(&items[*i], *cell, steps);
            return;
        }
        // Which members must be evaluated rather than solved?
        let (mut cont, mut disc) = (Vec::new(), Vec::new());
        for (k, &i) in members.iter().enumerate() {
            let definition = items[i].target() == Some(unknowns[k]) && self.is_discrete(unknowns[k]);
            if definition { disc.push(k) } else { cont.push(k) }
        }
        if disc.is_empty() {
            let rows: Vec<(Row, usize, u8)> = members.iter().map(|&i| self.as_residual(&items[i])).collect();
            let plain: Vec<Row> = rows.iter().map(|r| r.0.clone()).collect();
            if let Some(values) = self.explicit(&plain, unknowns) {
                for (cell, row) in values {
                    self.push(steps, cell, &row);
                }
                return;
            }
            let block = self.solve_block(&rows, unknowns);
            steps.push(Step::Solve(Rc::new(block)));
            return;
        }
        // Continuous part in blocks of its own.
        let sub = |me: &Self, picks: &[usize]| -> Vec<Vec<usize>> {
            let cols: FxHashMap<Cell, u32> = picks.iter().enumerate().map(|(j, &k)| (unknowns[k], j as u32)).collect();
            let rows: Vec<Vec<u32>> = picks
                .iter()
                .map(|&k| {
                    items[members[k]]
                        .reads(me.sys)
                        .iter()
                        .chain(items[members[k]].target().iter())
                        .filter_map(|c| cols.get(c).copied())
                        .collect()
                })
                .collect();
            let g = Bipartite::from_rows(cols.len(), &rows);
            let m = Matching::from_row_to_col(cols.len(), &(0..picks.len() as u32).collect::<Vec<_>>());
            block_order(&g, &m).into_iter().map(|b| b.into_iter().map(|i| picks[i as usize]).collect()).collect()
        };
        let mut continuous = Vec::new();
        for part in sub(self, &cont) {
            let m: Vec<usize> = part.iter().map(|&k| members[k]).collect();
            let u: Vec<Cell> = part.iter().map(|&k| unknowns[k]).collect();
            self.block(items, &m, &u, &mut continuous);
        }
        // Discrete definitions in dependency order; inside a Boolean loop, in the given order (they are iterated).
        let mut discrete = Vec::new();
        for part in sub(self, &disc) {
            for k in part {
                self.single(&items[members[k]], unknowns[k], &mut discrete);
            }
        }
        let previous = |a: &Operand| matches!(a, Operand::Pre { .. });
        let remembers = disc
            .iter()
            .any(|&k| matches!(&items[members[k]], Item::Value { row, .. } if row.args.iter().any(previous)));
        let cells: Vec<Cell> = disc.iter().map(|&k| unknowns[k]).collect();
        let continuous_cells: Vec<Cell> = cont.iter().map(|&k| unknowns[k]).collect();
        let slots: Vec<u32> = cells.iter().map(|&c| self.layout.slot(c)).collect();
        let is_real = |c: &Cell| self.sys.dae.vars[c.var].ty == VarType::Real;
        let reals = cells.iter().zip(&slots).filter(|(c, _)| is_real(c)).map(|(_, &s)| s).collect();
        let continuous_slots = continuous_cells.iter().map(|&c| self.layout.slot(c)).collect();
        steps.push(Step::Mixed(Rc::new(MixedBlock {
            continuous,
            discrete,
            slots,
            cells,
            reals,
            continuous_slots,
            continuous_cells,
            remembers,
            looks: Default::default(),
            degenerate: Default::default(),
            lossless: Default::default(),
        })));
    }

    pub(crate) fn single(&mut self, item: &Item, cell: Cell, steps: &mut Vec<Step>) {
        let slot = self.layout.slot(cell);
        match item {
            Item::Value { cell: target, row } if *target == cell => {
                let depends = row.args.iter().any(|&a| Cell::of(self.sys.resolve(a)) == Some(cell));
                if !depends || self.is_discrete(cell) {
                    self.push(steps, cell, row);
                    return;
                }
            }
            Item::Relation { index, .. } => {
                steps.push(Step::Relation(*index));
                return;
            }
            Item::When { when, values, .. } => {
                let pre = self.layout.slot(Cell::pre(cell.var));
                let values = values.iter().map(|v| v.as_ref().map(|r| self.batch(slot, r))).collect();
                for (conditions, _) in self.sys.whens[*when].branches.clone() {
                    for c in conditions {
                        self.layout.slot(Cell::new(c, 0));
                        self.layout.slot(Cell::pre(c));
                    }
                }
                steps.push(Step::When(Rc::new(WhenStep { slot, pre, when: *when, values })));
                return;
            }
            _ => {}
        }
        let (row, eq, level) = self.as_residual(item);
        let ks: Vec<usize> = (0..row.args.len()).filter(|&k| Cell::of(row.args[k]) == Some(cell)).collect();
        if let [k] = ks[..]
            && matches!(
                self.ops.classify(&mut self.sys.dae, &row, k),
                Coefficient::Unit | Coefficient::Constant | Coefficient::Parameter
            )
            && let Some(value) = solved(self.sys, self.ops, &row, k)
        {
            self.push(steps, cell, &value);
            return;
        }
        let block = self.solve_block(&[(row, eq, level)], &[cell]);
        steps.push(Step::Solve(Rc::new(block)));
    }

    /// An item as `row = 0`.
    fn as_residual(&mut self, item: &Item) -> (Row, usize, u8) {
        match item {
            Item::Residual { row, eq, level } => (row.clone(), *eq, *level),
            Item::Value { cell, row } => {
                let pool = &mut self.sys.dae.pool;
                let h = pool.hole(0);
                let rest = pool.substitute(row.template, |pool, k| pool.hole(k + 1));
                let template = pool.intern(Node::Binary(saltus_expr::Binary::Sub, h, rest));
                let args = std::iter::once(cell.operand()).chain(row.args.iter().copied()).collect();
                (Row { template, args }, usize::MAX, 0)
            }
            _ => (self.sys.dae.constant_row(0.0), usize::MAX, 0),
        }
    }

    /// A small linear loop as assignments.
    fn explicit(&mut self, rows: &[Row], unknowns: &[Cell]) -> Option<Vec<(Cell, Row)>> {
        if unknowns.len() > Loop::SMALL {
            return None;
        }
        let l = Loop::new(self.sys, self.ops, rows, unknowns);
        l.explicit(self.sys, self.ops, rows, unknowns)
    }

    fn solve_block(&mut self, rows: &[(Row, usize, u8)], unknowns: &[Cell]) -> SolveBlock {
        let n = unknowns.len();
        let column: FxHashMap<Cell, usize> = unknowns.iter().enumerate().map(|(j, &c)| (c, j)).collect();
        let mut rows: Vec<(Row, usize, u8)> = rows.to_vec();
        gather(&mut rows, |r| r.0.template);
        let residual_slots: Vec<u32> = rows.iter().map(|_| self.layout.scratch()).collect();
        let residual = self.chain_solved(residual_slots.iter().copied().zip(rows.iter().map(|r| &r.0)));
        let mut linear = true;
        let mut fixed = Some(FxHashSet::default());
        let mut partials = Partials::default();
        let mut raw: Vec<(usize, usize, u32, f64)> = Vec::new();
        let mut units: Vec<Option<bool>> = Vec::new();
        for (i, (row, _, _)) in rows.iter().enumerate() {
            for k in 0..row.args.len() {
                // A previous value may be an unknown of initialization.
                let Some(&j) = Cell::of(row.args[k]).and_then(|c| column.get(&c)) else { continue };
                let sign = if matches!(row.args[k], Operand::Var { neg: true, .. }) { -1.0 } else { 1.0 };
                let p = self.ops.partial(&mut self.sys.dae, row, k);
                // A constant slope on each side of a branch makes nothing linear.
                linear &= !p.args.iter().any(|&a| Cell::of(a).is_some_and(|c| column.contains_key(&c)))
                    && self.ops.classify(&mut self.sys.dae, row, k) != Coefficient::Nonlinear;
                for &a in &p.args {
                    match a {
                        Operand::Var { var, order: 0, .. }
                            if var != saltus_dae::HybridDae::TIME && self.sys.role(var) != Role::Continuous =>
                        {
                            let slot = self.layout.word(self.sys, a) & !saltus_program::NEGATE;
                            fixed.iter_mut().for_each(|f| {
                                f.insert(slot);
                            });
                        }
                        Operand::Const(_) => {}
                        _ => fixed = None,
                    }
                }
                let constant = self.sys.dae.pool.as_const(p.template);
                let slot = partials.slot(self, p);
                raw.push((i, j, slot, sign));
                units.push(constant.filter(|v| v.abs() == 1.0).map(|v| v < 0.0));
            }
        }
        let jacobian = partials.chain(self);
        let pattern = Pattern::from_entries(n, n, raw.iter().map(|&(i, j, _, _)| (i, j)));
        let entries = raw.iter().map(|&(i, j, slot, sign)| (pattern.find(i, j).unwrap_or(0), slot, sign)).collect();
        let places = raw.iter().map(|&(i, j, _, _)| (i, j)).collect();
        let nominal = unknowns.iter().map(|c| self.nominal(*c)).collect();
        let bounds = unknowns.iter().map(|c| self.bounds(*c)).collect();
        let mut torn = self.torn(&rows, unknowns, &residual_slots, raw.iter().zip(&units));
        let work = RefCell::new(SolveWork::new(pattern.nnz(), LinearSolver::new(&pattern), &torn));
        let guessed = match (linear, n) {
            (true, _) => Vec::new(),
            (false, 1) => unknowns.to_vec(),
            (false, _) => torn.tears.iter().map(|&j| unknowns[j as usize]).collect(),
        };
        let has_condition = |row: &Row| {
            let mut found = false;
            self.sys.dae.pool.visit(row.template, |_, n| found |= matches!(n, Node::If(..)));
            found
        };
        let conditional = rows.iter().any(|r| has_condition(&r.0));
        if torn.used && !conditional {
            torn.reduction = jacobian.iter().chain(&torn.elimination.chain).cloned().collect();
            if linear && fixed.is_none() {
                torn.at_once = torn.evaluation.iter().chain(&torn.reduction).cloned().collect();
            }
        }
        let slots: Vec<u32> = unknowns.iter().map(|&c| self.layout.slot(c)).collect();
        let spans = Spans::new(slots.iter().copied());
        SolveBlock {
            positions: slots.iter().map(|&s| spans.position(s)).collect(),
            spans,
            unknowns: slots,
            cells: unknowns.to_vec(),
            sources: rows.iter().map(|r| (r.1, r.2)).collect(),
            rows: rows.iter().map(|r| r.0.clone()).collect(),
            residual,
            residual_slots,
            jacobian,
            entries,
            places,
            linear,
            fixed: fixed.filter(|_| linear).map(|f| f.into_iter().collect()),
            conditional,
            nominal,
            bounds,
            homotopy: rows.iter().any(|r| r.0.args.contains(&Operand::var(saltus_dae::HybridDae::LAMBDA))),
            guessed,
            torn,
            work,
        }
    }

    /// `partials` are the entries of the Jacobian (equation, unknown, slot, sign), and whether what is in the slot is only a
    /// sign.
    fn torn<'r>(
        &mut self,
        rows: &[(Row, usize, u8)],
        unknowns: &[Cell],
        slots: &[u32],
        partials: impl Iterator<Item = (&'r (usize, usize, u32, f64), &'r Option<bool>)>,
    ) -> Torn {
        if unknowns.len() == 1 {
            return Torn::default();
        }
        let plain: Vec<Row> = rows.iter().map(|r| r.0.clone()).collect();
        let l = Loop::new(self.sys, self.ops, &plain, unknowns);
        let targets: Vec<u32> = l.inner.iter().map(|&(_, j, _)| self.layout.slot(unknowns[j])).collect();
        let inner = self.chain_solved(targets.into_iter().zip(l.inner.iter().map(|(_, _, row)| row)));
        let residual = self.chain_solved(l.residuals.iter().map(|&i| (slots[i], &rows[i].0)));
        let evaluation = inner.iter().chain(&residual).cloned().collect();
        // Where each unknown stands: an inner assignment or a tear.
        let mut role = vec![(false, 0u32); unknowns.len()];
        for (k, &(_, j, _)) in l.inner.iter().enumerate() {
            role[j] = (true, k as u32);
        }
        for (k, &j) in l.tears.iter().enumerate() {
            role[j] = (false, k as u32);
        }
        let assigned = l.inner.iter().map(|&(i, j, _)| (i, Some(j)));
        let (t, n) = (l.tears.len(), unknowns.len());
        let used = t <= MOST_TEARS && 2 * t <= n && l.residuals.len() == t;
        let mut elimination = Elimination::default();
        if used {
            let mut by_row: Vec<Vec<(usize, u32, Option<bool>)>> = vec![Vec::new(); rows.len()];
            for (&(i, j, slot, sign), &unit) in partials {
                by_row[i].push((j, if sign < 0.0 { slot ^ NEGATE } else { slot }, unit));
            }
            let order: Vec<(usize, Option<usize>)> = assigned.chain(l.residuals.iter().map(|&i| (i, None))).collect();
            let mut eliminator = Eliminator::new(self);
            for (i, target) in order {
                let entry = |&(j, word, unit): &(usize, u32, Option<bool>)| {
                    let by = match role[j] {
                        _ if Some(j) == target => Unknown::Own,
                        (true, k) => Unknown::Inner(k),
                        (false, k) => Unknown::Torn(k),
                    };
                    Entry { by, word, unit }
                };
                eliminator.push(i, target, &by_row[i].iter().map(entry).collect::<Vec<_>>());
            }
            elimination = eliminator.finish();
        }
        Torn {
            used,
            tears: l.tears.iter().map(|&j| j as u32).collect(),
            inner,
            evaluation,
            residual_slots: l.residuals.iter().map(|&i| slots[i]).collect(),
            residual_rows: l.residuals.iter().map(|&i| i as u32).collect(),
            elimination,
            ..Torn::default()
        }
    }

    fn nominal(&self, cell: Cell) -> f64 {
        let v = &self.sys.dae.vars[cell.var];
        let given = v
            .nominal
            .as_ref()
            .and_then(|r| self.sys.dae.row_constant(r))
            .map(f64::abs)
            .filter(|v| *v > 0.0 && v.is_finite());
        given.unwrap_or(1.0)
    }

    fn bounds(&mut self, cell: Cell) -> (Option<u32>, Option<u32>) {
        if cell.order != 0 {
            return (None, None);
        }
        let v = &self.sys.dae.vars[cell.var];
        let (lo, hi) = (v.min.clone(), v.max.clone());
        let mut slot = |r: Option<Row>| {
            let v = self.sys.dae.row_constant(&r?)?;
            Some(self.layout.word(self.sys, Operand::Const(v)))
        };
        (slot(lo), slot(hi))
    }
}

/// Whether what a when-equation gives a variable depends on that variable.
fn reads(values: &[Option<Row>], cell: Cell) -> bool {
    values.iter().flatten().any(|row| row.args.iter().any(|&a| Cell::of(a) == Some(cell)))
}
