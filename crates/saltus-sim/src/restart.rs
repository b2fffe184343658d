//! All modes of a model and the restart equations of each as kernels, for programs that change modes without a compiler
//! at hand (export). The equations are those of [`crate::jump`].

use crate::model::{ModeProgram, Model};
use saltus_dae::{Operand, Row, VarId};
use saltus_expr::Calls;
use saltus_graph::{Bipartite, block_order, hopcroft_karp};
use saltus_program::Chain;
use saltus_structure::{Cell, Choice, DiscKind, ModeKey, Point, Role, better_choice, replan_states, singular_mode};
use std::rc::Rc;

/// Conditions of a mode whose values are all tried.
const MOST_SUSPECTS: usize = 8;

/// Points where a mode is asked which states suit it.
const ASKED: u64 = 400;

/// A point of a run that has not been: whatever moves has another value there.
struct Elsewhere<'a> {
    model: &'a Model,
    number: u64,
}

impl Elsewhere<'_> {
    /// Of the size of the variable; every fourth is next to zero.
    fn chance(&self, var: VarId, order: u8) -> f64 {
        let mut x = (self.number << 40) ^ ((var.index() as u64) << 8) ^ u64::from(order);
        for factor in [0xBF58_476D_1CE4_E5B9u64, 0x94D0_49BB_1331_11EB] {
            x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
            x = (x ^ (x >> 30)).wrapping_mul(factor);
        }
        let unit = (x >> 11) as f64 / (1u64 << 53) as f64;
        let row = self.model.sys.dae.vars[var].nominal.as_ref();
        let size = row.and_then(|r| self.model.sys.dae.row_constant(r)).map_or(1.0, f64::abs);
        size * (6.0 * unit - 3.0) * if x & 3 == 0 { 0.01 } else { 1.0 }
    }
}

impl Point for Elsewhere<'_> {
    fn value(&self, op: Operand) -> f64 {
        match op {
            Operand::Var { var, order, neg } if self.model.sys.role(var) == Role::Continuous => {
                let v = self.chance(var, order);
                if neg { -v } else { v }
            }
            _ => Point::value(self.model, op),
        }
    }
    fn calls(&self) -> Box<dyn Calls + '_> {
        self.model.calls()
    }
}

/// The latent equations that decide the right limits on entry to a mode, stage by stage. Equations and variables are in the
/// order of the block triangular form of their Jacobian, which is that of every stage.
pub struct Restart {
    /// Where the diagonal blocks begin, and the end of the last.
    pub blocks: Vec<usize>,
    /// How often each equation is differentiated.
    pub c: Vec<u8>,
    /// The highest derivative of each variable.
    pub d: Vec<u8>,
    /// (equation, variable, slot, sign) of the Jacobian by the highest derivatives, equation by equation; entries at the same
    /// place add up.
    pub entries: Vec<(usize, usize, u32, f64)>,
    /// Per stage s = 1 …: the slots of the variables' derivatives of order d − s, where that is not negative.
    pub values: Vec<Vec<Option<u32>>>,
    /// Per stage s = 1 …: the slots of the equations differentiated c − s times, where that is not negative.
    pub levels: Vec<Vec<Option<u32>>>,
    /// Computes entries and equations.
    pub evaluation: Chain,
    /// (equation, variable, variable): the product of both stands in it, so that impulses of both have no meaning.
    pub products: Vec<(usize, usize, usize)>,
    /// (relation, variable, slot, sign): how crossing functions follow variables that may carry impulses.
    pub pushes: Vec<(usize, usize, u32, f64)>,
    /// Computes the slots of the pushes.
    pub pushing: Chain,
}

impl Model {
    /// The keys of all modes; `None` if there are more than `most`.
    pub fn all_modes(&mut self, most: usize) -> Option<Vec<ModeKey>> {
        let mut complete = Vec::new();
        let mut open = vec![ModeKey::new()];
        while let Some(key) = open.pop() {
            let next = self.modes.next(&mut self.sys, &mut self.ops, &key);
            if next.is_empty() {
                complete.push(key);
            } else if next.len() > 16 {
                return None;
            } else {
                for choice in 0..1usize << next.len() {
                    let mut longer = key.clone();
                    longer.extend((0..next.len()).map(|k| choice >> k & 1 == 1));
                    open.push(longer);
                }
            }
            if open.len() + complete.len() > 16 * most || complete.len() > most {
                return None;
            }
        }
        complete.sort();
        Some(complete)
    }

    /// The same mode with other states that suit it somewhere: those that suit most points of its values, first.
    pub fn other_choices(&mut self, program: &ModeProgram, most: usize) -> Vec<Rc<ModeProgram>> {
        let plan = &program.plan;
        if plan.choice.watch.is_empty() {
            return Vec::new();
        }
        let mut found: Vec<(usize, Choice)> = Vec::new();
        for number in 0..ASKED {
            let choice = better_choice(&self.sys, plan, &Elsewhere { model: self, number }, true);
            match found.iter_mut().find(|f| f.1.states == choice.states) {
                Some(f) => f.0 += 1,
                None if choice.states != plan.states => found.push((1, choice)),
                None => {}
            }
        }
        found.sort_by_key(|f| std::cmp::Reverse(f.0));
        found.truncate(most);
        let mut others = Vec::new();
        for (_, choice) in found {
            if let Ok(plan) = replan_states(&mut self.sys, &mut self.ops, &self.modes, plan, choice) {
                others.push(self.program(plan));
            }
        }
        others
    }

    /// Where the conditions of a key are found, and the values it gives them.
    pub fn key_slots(&mut self, key: &ModeKey) -> Vec<(u32, bool)> {
        let values = self.modes.values(key);
        let mut slots: Vec<(u32, bool)> =
            values.into_iter().filter_map(|(v, b)| Some((self.locate(v).ok()?.0, b))).collect();
        slots.sort_unstable();
        slots
    }

    /// Where the conditions of the mode `key` are found that depend on what they guard as it is entered from `old`.
    pub fn guarded_slots(&mut self, old: &ModeProgram, key: &ModeKey) -> Vec<u32> {
        let guarded = self.guarded(old, key);
        guarded.into_iter().filter_map(|v| Some(self.locate(v).ok()?.0)).collect()
    }

    /// Values of conditions, by slot, that make a mode singular whatever the order of events: as
    /// [`Model::singular_by_order`] finds them at run time, of conditions that cannot rest at zero.
    pub fn singular_choices(&mut self, program: &ModeProgram) -> Vec<Vec<(u32, bool)>> {
        let key = &program.plan.key;
        let suspects = self.modes.suspects(key).to_vec();
        if suspects.len() > MOST_SUSPECTS
            || !suspects.iter().all(|v| program.early.contains(v) && !self.may_rest(*v, 0))
        {
            return Vec::new();
        }
        let mut found = Vec::new();
        for choice in 0..1usize << suspects.len() {
            let values: Vec<(VarId, bool)> =
                suspects.iter().enumerate().map(|(k, &v)| (v, choice >> k & 1 == 1)).collect();
            if !values.is_empty() && singular_mode(&mut self.sys, &mut self.ops, &self.modes, key, &values).is_some() {
                found.push(values.iter().filter_map(|&(v, b)| Some((self.locate(v).ok()?.0, b))).collect());
            }
        }
        found
    }

    /// Whether a condition hangs on a relation that may stay at zero.
    fn may_rest(&self, v: VarId, depth: usize) -> bool {
        self.sys.discrete.iter().find(|d| d.var == v).is_some_and(|d| match &d.kind {
            DiscKind::Relation(i) => self.machine.relations[*i].time.is_none(),
            DiscKind::Value(row) => {
                depth > 8 || row.args.iter().any(|a| a.variable().is_some_and(|v| self.may_rest(v, depth + 1)))
            }
            DiscKind::When(..) => false,
        })
    }

    /// The restart equations of a mode.
    pub fn restart(&mut self, program: &ModeProgram) -> Restart {
        let plan = &program.plan;
        let stages = plan.c.iter().copied().max().unwrap_or(0);
        let d: Vec<u8> = plan.vars.iter().map(|v| plan.d[v]).collect();
        let column: rustc_hash::FxHashMap<VarId, usize> = plan.vars.iter().enumerate().map(|(j, &v)| (v, j)).collect();
        let (mut entries, mut rows): (Vec<_>, Vec<(u32, Row)>) = (Vec::new(), Vec::new());
        let mut products = Vec::new();
        if stages > 0 {
            for (i, (_, row)) in plan.rows.iter().enumerate() {
                let mut seen: Vec<usize> = Vec::new();
                for &a in &row.args {
                    let Operand::Var { var, order, .. } = a else { continue };
                    let Some(&j) = column.get(&var) else { continue };
                    if d[j] != order + plan.c[i] || seen.contains(&j) {
                        continue;
                    }
                    seen.push(j);
                    let highest = |a: &Operand| match *a {
                        Operand::Var { var, order, .. } => {
                            column.get(&var).copied().filter(|&k| d[k] == order + plan.c[i])
                        }
                        _ => None,
                    };
                    for (sign, part) in self.ops.partial_wrt(&mut self.sys.dae, row, var, order) {
                        let slot = self.layout.scratch();
                        products.extend(part.args.iter().filter_map(highest).map(|k| (i, j, k)));
                        entries.push((i, j, slot, sign));
                        rows.push((slot, part));
                    }
                }
            }
        }
        products.sort_unstable();
        products.dedup();
        let (mut pushes, mut pushed): (Vec<_>, Vec<(u32, Row)>) = (Vec::new(), Vec::new());
        for i in program.crossings.relations().filter(|_| stages > 0) {
            let row = self.sys.relations[i].g.clone();
            for (j, &v) in plan.vars.iter().enumerate() {
                if d[j] >= stages || !row.args.iter().any(|a| a.variable() == Some(v)) {
                    continue;
                }
                for (sign, part) in self.ops.partial_wrt(&mut self.sys.dae, &row, v, 0) {
                    let slot = self.layout.scratch();
                    pushes.push((i, j, slot, sign));
                    pushed.push((slot, part));
                }
            }
        }
        let order = Order::new(plan.vars.len(), &entries);
        entries = order.entries(entries);
        let (row, col) = order.places();
        products.iter_mut().for_each(|p| *p = (row[p.0], col[p.1], col[p.2]));
        pushes.iter_mut().for_each(|p| p.1 = col[p.1]);
        let (c, d) =
            (order.rows.iter().map(|&i| plan.c[i]).collect(), order.cols.iter().map(|&j| d[j]).collect::<Vec<u8>>());
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        for s in 1..=stages {
            let slot = |(&j, d): (&usize, &u8)| (*d >= s).then(|| self.layout.slot(Cell::new(plan.vars[j], d - s)));
            values.push(order.cols.iter().zip(&d).map(slot).collect());
            let mut level = Vec::new();
            for &i in &order.rows {
                let c = plan.c[i];
                level.push((c >= s).then(|| {
                    let slot = self.layout.scratch();
                    rows.push((slot, plan.levels[i][(c - s) as usize].clone()));
                    slot
                }));
            }
            levels.push(level);
        }
        let evaluation = self.compile(|c| rows.iter().map(|(slot, row)| c.batch(*slot, row)).collect());
        let pushing = self.compile(|c| pushed.iter().map(|(slot, row)| c.batch(*slot, row)).collect());
        Restart { blocks: order.blocks, c, d, entries, values, levels, evaluation, products, pushes, pushing }
    }
}

/// Equations and variables in the order of a block triangular form.
pub(crate) struct Order {
    pub rows: Vec<usize>,
    pub cols: Vec<usize>,
    pub blocks: Vec<usize>,
}

impl Order {
    /// The order of `n` equations with these (equation, variable, …); one block in the given order if they are singular by
    /// structure.
    pub fn new(n: usize, entries: &[(usize, usize, u32, f64)]) -> Order {
        let mut lists: Vec<Vec<u32>> = vec![Vec::new(); n];
        entries.iter().for_each(|e| lists[e.0].push(e.1 as u32));
        let graph = Bipartite::from_rows(n, &lists);
        let matching = hopcroft_karp(&graph);
        if !matching.is_perfect() {
            return Order { rows: (0..n).collect(), cols: (0..n).collect(), blocks: vec![0, n] };
        }
        let mut order = Order { rows: Vec::new(), cols: Vec::new(), blocks: vec![0] };
        for block in block_order(&graph, &matching) {
            order.rows.extend(block.iter().map(|&i| i as usize));
            order.cols.extend(block.iter().map(|&i| matching.col_of(i as usize) as usize));
            order.blocks.push(order.rows.len());
        }
        order
    }

    /// The new places of equations and variables.
    pub fn places(&self) -> (Vec<usize>, Vec<usize>) {
        let place = |list: &[usize]| {
            let mut at = vec![0; list.len()];
            list.iter().enumerate().for_each(|(new, &old)| at[old] = new);
            at
        };
        (place(&self.rows), place(&self.cols))
    }

    /// The entries with their new places.
    fn entries(&self, mut entries: Vec<(usize, usize, u32, f64)>) -> Vec<(usize, usize, u32, f64)> {
        let (row, col) = self.places();
        entries.iter_mut().for_each(|e| (e.0, e.1) = (row[e.0], col[e.1]));
        entries.sort_by_key(|e| (e.0, e.1));
        entries
    }
}
