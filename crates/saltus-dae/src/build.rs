//! Building rows: expressions over variables become templates with operands.

use crate::model::{HybridDae, Operand, Row, VarId};
use rustc_hash::FxHashMap;
use saltus_expr::{ExprId, Node, Pool};

/// Collects operands while an expression is built in *model holes*, then renumbers them to make a template.
///
/// Front ends build expressions whose holes are entries of one long operand list (`operand()` gives the expression of
/// an operand); `row()` turns such an expression into a [`Row`] whose holes are numbered in order of first occurrence,
/// so that equations of one shape share one template. A builder belongs to one pool.
#[derive(Default, Debug)]
pub struct RowBuilder {
    operands: Vec<Operand>,
    /// The expressions of variables as they are, by variable.
    plain: Vec<Option<ExprId>>,
    /// The holes of other operands.
    index: FxHashMap<(u32, u32, u64), u32>,
}

impl RowBuilder {
    /// An empty builder.
    pub fn new() -> Self {
        Self::default()
    }

    /// The expression standing for an operand.
    pub fn operand(&mut self, pool: &mut Pool, op: Operand) -> ExprId {
        let key = match op {
            Operand::Var { var, order: 0, neg: false } => return self.var(pool, var),
            Operand::Var { var, order, neg } => (var.index() as u32, u32::from(order) * 2 + u32::from(neg), 0),
            Operand::Pre { var } => (var.index() as u32, u32::MAX, 0),
            Operand::Const(v) => (u32::MAX, 0, v.to_bits()),
        };
        let next = self.operands.len() as u32;
        let k = *self.index.entry(key).or_insert(next);
        if k == next {
            self.operands.push(op);
        }
        pool.hole(k)
    }

    /// The expression of a variable.
    pub fn var(&mut self, pool: &mut Pool, var: VarId) -> ExprId {
        if self.plain.len() <= var.index() {
            self.plain.resize(var.index() + 1, None);
        }
        *self.plain[var.index()].get_or_insert_with(|| {
            self.operands.push(Operand::var(var));
            pool.hole(self.operands.len() as u32 - 1)
        })
    }

    /// The operand behind a model hole.
    pub fn get(&self, hole: u32) -> Operand {
        self.operands[hole as usize]
    }

    /// The row of an expression in model holes.
    pub fn row(&self, pool: &mut Pool, e: ExprId) -> Row {
        // First occurrence in evaluation order, left to right, so that equal shapes get equal numbering. A hole is one
        // node, and met once.
        let mut order: Vec<u32> = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        let mut stack = vec![e];
        let mut scratch = Vec::new();
        while let Some(x) = stack.pop() {
            if !seen.insert(x) {
                continue;
            }
            if let Node::Hole(k) = *pool.node(x) {
                order.push(k);
                continue;
            }
            scratch.clear();
            pool.children(x, |c| scratch.push(c));
            stack.extend(scratch.iter().rev());
        }
        // Few holes, as nearly always, are found faster in the list.
        let number: FxHashMap<u32, u32> = match order.len() {
            0..=16 => FxHashMap::default(),
            _ => order.iter().zip(0..).map(|(&k, i)| (k, i)).collect(),
        };
        let place = |k: u32| match number.get(&k) {
            Some(&i) => i,
            None => order.iter().position(|&o| o == k).unwrap_or(0) as u32,
        };
        let template = pool.substitute(e, |pool, k| pool.hole(place(k)));
        Row { template, args: order.iter().map(|&k| self.operands[k as usize]).collect() }
    }

    /// The expression of a row, back in model holes.
    pub fn open(&mut self, pool: &mut Pool, row: &Row) -> ExprId {
        let holes: Vec<ExprId> = row.args.iter().map(|&a| self.operand(pool, a)).collect();
        pool.substitute(row.template, |_, k| holes[k as usize])
    }
}

impl HybridDae {
    /// A row that is a constant.
    pub fn constant_row(&mut self, v: f64) -> Row {
        Row { template: self.pool.num(v), args: Box::new([]) }
    }

    /// The value of a row that holds no operand but constants.
    pub fn row_constant(&self, row: &Row) -> Option<f64> {
        if let Some(v) = self.pool.as_const(row.template) {
            return Some(v);
        }
        match (self.pool.node(row.template), &*row.args) {
            (Node::Hole(0), [Operand::Const(v)]) => Some(*v),
            _ => None,
        }
    }
}
