//! Independent parts of a mode: rows that must be planned together, and no others.
//!
//! The parts are the diagonal blocks of the block triangular form of rows against variables, derivatives not told apart. Of
//! nineteen clutches one changes: the modes before and after differ in one part, or in two that become one. What was planned for a
//! part (offsets, differentiated rows, choice of states, order of evaluation) is kept by its rows, whatever the rest of the
//! mode is, and a mode is put together from its parts.
//!
//! A part may have to be differentiated for the sake of parts that read it: later parts are planned first, and what they ask for
//! (`x` up to its second derivative) belongs to what a part is known by.

use crate::modes::{ModeKey, Modes, active_rows, continuous_args, rows_as_written};
use crate::plan::{
    Block, Cell, Item, Point, Problem, Sequence, StructuralPlan, order_events, preferred, residuals, states_as_asked,
    unknown_cells,
};
use crate::rows::RowOps;
use crate::selection::{Choice, Selection};
use crate::system::{SysEq, System};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_dae::{Operand, Row, VarId};
use saltus_graph::{Bipartite, Matching, Signature, block_order, hopcroft_karp, sigma_method};
use std::cell::RefCell;
use std::rc::Rc;

/// What was planned so far, part by part.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    known: FxHashMap<Box<[u64]>, Rc<Part>>,
    /// Parts planned.
    pub planned: usize,
    /// Parts taken over from modes planned before.
    pub reused: usize,
}

impl Parts {
    /// Forgets all parts but those whose orders of evaluation are among these.
    pub fn keep(&mut self, used: &FxHashSet<*const Sequence>) {
        self.known.retain(|_, p| p.orders.borrow().iter().any(|(_, s)| used.contains(&Rc::as_ptr(s))));
    }
}

/// One part.
#[derive(Debug)]
struct Part {
    /// Numbers of the equations.
    equations: Vec<usize>,
    c: Vec<u8>,
    d: FxHashMap<VarId, u8>,
    vars: Vec<VarId>,
    levels: Vec<Vec<Row>>,
    selection: Selection,
    /// The choice of states, where no numbers of the moment decide it.
    choice: RefCell<Option<Choice>>,
    /// Orders of evaluation by the states chosen.
    orders: RefCell<Vec<(Vec<Cell>, Rc<Sequence>)>>,
}

/// One diagonal block: its rows in their order, and the variables they determine.
pub(crate) struct Members {
    pub(crate) rows: Vec<usize>,
    pub(crate) own: FxHashSet<VarId>,
}

/// The diagonal blocks in order of evaluation; `None` if the rows do not determine the variables.
pub(crate) fn blocks(sys: &System, rows: &[(usize, Row)]) -> Option<Vec<Members>> {
    let mut column: FxHashMap<VarId, u32> = FxHashMap::default();
    let mut vars: Vec<VarId> = Vec::new();
    let lists: Vec<Vec<u32>> = rows
        .iter()
        .map(|(_, row)| {
            let mut list: Vec<u32> = continuous_args(sys, row)
                .map(|(v, _)| {
                    *column.entry(v).or_insert_with(|| {
                        vars.push(v);
                        vars.len() as u32 - 1
                    })
                })
                .collect();
            list.sort_unstable();
            list.dedup();
            list
        })
        .collect();
    let graph = Bipartite::from_rows(vars.len(), &lists);
    let matching = hopcroft_karp(&graph);
    if vars.len() != rows.len() || !matching.is_perfect() {
        return None;
    }
    let blocks = block_order(&graph, &matching).into_iter().map(|b| {
        let mut rows: Vec<usize> = b.iter().map(|&i| i as usize).collect();
        rows.sort_unstable();
        Members { own: rows.iter().map(|&i| vars[matching.row_to_col[i] as usize]).collect(), rows }
    });
    Some(blocks.collect())
}

/// Rows as numbers, to tell whether they are the same, with the variables they determine and what others ask of these.
pub(crate) fn signature(rows: &[(usize, Row)], own: &FxHashSet<VarId>, asked: &[(VarId, u8)]) -> Box<[u64]> {
    let mut out = Vec::with_capacity(rows.len() * 8);
    for (eq, row) in rows {
        out.extend([*eq as u64, row.template.index() as u64, row.args.len() as u64]);
        for a in &row.args {
            match *a {
                Operand::Var { var, order, neg } => {
                    let mine = u64::from(own.contains(&var));
                    out.push((var.index() as u64) << 16 | u64::from(order) << 3 | mine << 2 | u64::from(neg));
                }
                Operand::Pre { var } => out.push((var.index() as u64) << 16 | 2),
                Operand::Const(x) => out.extend([u64::MAX, x.to_bits()]),
            }
        }
    }
    out.extend(asked.iter().map(|(v, k)| (v.index() as u64) << 8 | u64::from(*k)));
    out.into()
}

/// The parts of a mode in order of evaluation, each with its rows among those given, its choice of states and its order; `None` if
/// one of them has none. With them the variables of parts that a differentiated equation ties together: it may take states from the
/// one or from the other.
#[allow(clippy::type_complexity)]
fn in_order(
    sys: &mut System,
    ops: &mut RowOps,
    parts: &mut Parts,
    rows: &[(usize, Row)],
    wanted: &[VarId],
    point: &dyn Point,
) -> Option<(Vec<(Vec<usize>, Rc<Part>, Choice, Rc<Sequence>)>, FxHashSet<VarId>)> {
    let members = blocks(sys, rows)?;
    let owner: FxHashMap<VarId, usize> =
        members.iter().enumerate().flat_map(|(k, m)| m.own.iter().map(move |&v| (v, k))).collect();
    let mut tied: FxHashSet<usize> = FxHashSet::default();
    // From the last to the first: what later parts ask of a variable, c_j + σ_jv. Of those wanted as states the user asks for
    // the derivative.
    let mut asked: FxHashMap<VarId, u8> = wanted.iter().map(|&v| (v, 1)).collect();
    let mut planned: Vec<Rc<Part>> = Vec::with_capacity(members.len());
    for (k, m) in members.iter().enumerate().rev() {
        let part = parts.part(sys, ops, rows, m, &asked)?;
        for (&i, &c) in m.rows.iter().zip(&part.c) {
            for (v, o) in continuous_args(sys, &rows[i].1).filter(|(v, _)| !m.own.contains(v)) {
                let most = asked.entry(v).or_insert(0);
                *most = (*most).max(c + o);
                if c > 0 {
                    tied.extend([k, owner[&v]]);
                }
            }
        }
        planned.push(part);
    }
    let linked = tied.iter().flat_map(|&k| members[k].own.iter().copied()).collect();
    let mut out = Vec::with_capacity(members.len());
    for (m, part) in members.into_iter().zip(planned.into_iter().rev()) {
        let choice = part.choice(sys, point);
        let sequence = part.order(sys, ops, &choice.states)?;
        out.push((m.rows, part, choice, sequence));
    }
    Some((out, linked))
}

/// The plan of a mode from its parts; `None` if one of them has none (the whole then tells why). With it the variables of parts
/// that are tied together, see [`in_order`].
pub(crate) fn plan_parts(
    sys: &mut System,
    ops: &mut RowOps,
    parts: &mut Parts,
    key: &ModeKey,
    rows: &[(usize, Row)],
    wanted: &[VarId],
    point: &dyn Point,
) -> Option<(StructuralPlan, FxHashSet<VarId>)> {
    let (planned, linked) = in_order(sys, ops, parts, rows, wanted, point)?;
    let mut plan = StructuralPlan::empty(key.clone());
    let mut unknowns: Vec<Cell> = Vec::new();
    let mut matched: Vec<u32> = Vec::new();
    let mut states = Vec::new();
    for (members, part, choice, sequence) in planned {
        plan.selection.append(&part.selection, &choice.watch, &mut plan.choice.watch);
        states.extend(choice.states.into_iter().zip(choice.reasons));
        plan.rows.extend(members.iter().map(|&i| rows[i].clone()));
        plan.c.extend(&part.c);
        plan.d.extend(part.d.iter().map(|(&v, &d)| (v, d)));
        plan.vars.extend(&part.vars);
        plan.levels.extend(part.levels.iter().cloned());
        plan.parts.push(sequence.clone());
        let (first, column) = (plan.continuous.items.len(), unknowns.len() as u32);
        plan.continuous.items.extend(sequence.items.iter().cloned());
        matched.resize(plan.continuous.items.len(), 0);
        let mut next = column;
        for b in &sequence.blocks {
            for (&i, &cell) in b.items.iter().zip(&b.unknowns) {
                matched[first + i] = next;
                unknowns.push(cell);
                next += 1;
            }
            let items = b.items.iter().map(|i| first + i).collect();
            plan.continuous.blocks.push(Block { items, unknowns: b.unknowns.clone() });
        }
    }
    let algebraic = plan.d.values().any(|&d| d == 0);
    plan.index = i32::from(plan.c.iter().copied().max().unwrap_or(0)) + i32::from(algebraic);
    states.sort_by_key(|s| s.0);
    (plan.states, plan.choice.reasons) = states.into_iter().unzip();
    plan.choice.states = plan.states.clone();
    let matching = Matching::from_row_to_col(unknowns.len(), &matched);
    let column = unknowns.iter().enumerate().map(|(j, &c)| (c, j as u32)).collect();
    let problem = Problem {
        items: plan.continuous.items.clone(),
        unknowns,
        column,
        graph: Bipartite::default(),
        candidates: Bipartite::default(),
    };
    order_events(sys, &mut plan, problem, &matching).ok()?;
    Some((plan, linked))
}

/// A part as modes are put together from: the same wherever it stands, told by the address of its sequence.
#[derive(Clone, Debug)]
pub struct ModePart {
    /// The order of its evaluation.
    pub sequence: Rc<Sequence>,
    /// Equations (index into [`System::equations`]) and their rows.
    pub rows: Vec<(usize, Row)>,
    /// How often each is differentiated.
    pub c: Vec<u8>,
    /// All levels of every row.
    pub levels: Vec<Vec<Row>>,
    /// The variables it determines, with their highest derivatives.
    pub vars: Vec<(VarId, u8)>,
    /// Its states.
    pub states: Vec<Cell>,
    /// Whether values of the moment decide which these are.
    pub watched: bool,
    /// Conditions that its rows were made from, guards included, by the values `key` gives them.
    pub conditions: Vec<VarId>,
}

/// The parts of a mode, in order of evaluation; `None` if it has no solution by structure, or must be planned as a whole.
pub fn mode_parts(
    sys: &mut System,
    ops: &mut RowOps,
    modes: &Modes,
    key: &ModeKey,
    point: &dyn Point,
) -> Option<Vec<ModePart>> {
    let values = modes.values(key);
    let rows = active_rows(sys, ops, modes, key);
    let (written, _) = rows_as_written(sys, ops, &values);
    let mut asked = preferred(sys, &rows);
    loop {
        let (planned, linked) = in_order(sys, ops, &mut modes.parts.borrow_mut(), &rows, &asked, point)?;
        let mut plan = StructuralPlan::empty(key.clone());
        for (_, part, choice, _) in &planned {
            plan.states.extend(&choice.states);
            plan.d.extend(part.d.iter().map(|(&v, &d)| (v, d)));
        }
        let before = asked.len();
        asked.retain(|&v| plan.states.contains(&Cell::new(v, 0)));
        if asked.len() < before {
            continue;
        }
        if !states_as_asked(sys, &plan, &linked) {
            return None;
        }
        let of = |(members, part, choice, sequence): (Vec<usize>, Rc<Part>, Choice, Rc<Sequence>)| {
            // What several rows say together rests on all conditions.
            let plain = members.iter().all(|&i| written.get(i) == Some(&rows[i]));
            let mut conditions: Vec<VarId> = if plain {
                members.iter().flat_map(|&i| conditions_of(sys, rows[i].0)).collect()
            } else {
                values.keys().copied().collect()
            };
            conditions.retain(|v| values.contains_key(v));
            conditions.sort_unstable();
            conditions.dedup();
            ModePart {
                sequence,
                rows: members.iter().map(|&i| rows[i].clone()).collect(),
                c: part.c.clone(),
                levels: part.levels.clone(),
                vars: part.vars.iter().map(|&v| (v, part.d[&v])).collect(),
                states: choice.states,
                watched: !choice.watch.is_empty(),
                conditions,
            }
        };
        return Some(planned.into_iter().map(of).collect());
    }
}

/// The Boolean variables that an equation and its guards read.
fn conditions_of(sys: &System, eq: usize) -> Vec<VarId> {
    let SysEq { row, guard, .. } = &sys.equations[eq];
    let mut out: Vec<VarId> = row.args.iter().filter_map(|a| a.variable()).collect();
    let mut guard = *guard;
    while let Some((g, branch)) = guard {
        out.extend(sys.groups[g].conditions.iter().take(branch as usize + 1));
        guard = sys.groups[g].parent;
    }
    out
}

/// Which of a part's variables its rows read, up to which derivative, by columns in the order they are met.
pub(crate) struct Incidence {
    pub entries: Vec<Vec<(u32, i32)>>,
    pub vars: Vec<VarId>,
    pub column: FxHashMap<VarId, u32>,
}

/// The incidence of rows that determine the variables `own`.
pub(crate) fn incidence(sys: &System, rows: &[(usize, Row)], own: &FxHashSet<VarId>) -> Incidence {
    let (mut column, mut vars): (FxHashMap<VarId, u32>, Vec<VarId>) = Default::default();
    let mut entry = |(v, o): (VarId, u8)| {
        let j = *column.entry(v).or_insert_with(|| {
            vars.push(v);
            vars.len() as u32 - 1
        });
        (j, i32::from(o))
    };
    let entries = rows
        .iter()
        .map(|(_, row)| continuous_args(sys, row).filter(|(v, _)| own.contains(v)).map(&mut entry).collect())
        .collect();
    Incidence { entries, vars, column }
}

impl Parts {
    fn part(
        &mut self,
        sys: &mut System,
        ops: &mut RowOps,
        all: &[(usize, Row)],
        members: &Members,
        asked: &FxHashMap<VarId, u8>,
    ) -> Option<Rc<Part>> {
        let rows: Vec<(usize, Row)> = members.rows.iter().map(|&i| all[i].clone()).collect();
        let own = &members.own;
        let Incidence { mut entries, vars, column } = incidence(sys, &rows, own);
        let asked: Vec<(VarId, u8)> =
            vars.iter().filter_map(|v| asked.get(v).filter(|k| **k > 0).map(|k| (*v, *k))).collect();
        let key = signature(&rows, own, &asked);
        if let Some(p) = self.known.get(&key) {
            self.reused += 1;
            return Some(p.clone());
        }
        // What others ask for is read by a row with an unknown of its own, which is forgotten again.
        for (k, (v, order)) in asked.iter().enumerate() {
            entries.push(vec![(column[v], i32::from(*order)), ((vars.len() + k) as u32, 0)]);
        }
        let found = sigma_method(&Signature::from_rows(vars.len() + asked.len(), &entries)).ok()?;
        let c: Vec<u8> = found.c.iter().take(rows.len()).map(|&c| c as u8).collect();
        let d: FxHashMap<VarId, u8> = vars.iter().zip(&found.d).map(|(&v, &d)| (v, d as u8)).collect();
        let rows = &rows[..];
        let selection = Selection::new(sys, ops, rows, &c, &d, &vars);
        let levels = residuals(sys, ops, rows, &c);
        let part = Rc::new(Part {
            equations: rows.iter().map(|r| r.0).collect(),
            c,
            d,
            vars,
            levels,
            selection,
            choice: RefCell::default(),
            orders: RefCell::default(),
        });
        self.planned += 1;
        self.known.insert(key, part.clone());
        Some(part)
    }
}

impl Part {
    fn choice(&self, sys: &System, point: &dyn Point) -> Choice {
        if let Some(c) = &*self.choice.borrow() {
            return c.clone();
        }
        let values = self.selection.values(sys, point);
        let choice = self.selection.choose(sys, &values, &[], false);
        // Parameters decide, and these have their values now.
        if choice.watch.is_empty() && !point.is_generic() {
            *self.choice.borrow_mut() = Some(choice.clone());
        }
        choice
    }

    fn order(&self, sys: &mut System, ops: &mut RowOps, states: &[Cell]) -> Option<Rc<Sequence>> {
        if let Some(o) = self.orders.borrow().iter().find(|o| o.0 == states) {
            return Some(o.1.clone());
        }
        let mut items: Vec<Item> = Vec::new();
        for (levels, eq) in self.levels.iter().zip(&self.equations) {
            items.extend(levels.iter().enumerate().map(|(k, row)| Item::Residual {
                row: row.clone(),
                eq: *eq,
                level: k as u8,
            }));
        }
        let problem = Problem::new(sys, items, unknown_cells(&self.vars, &self.d, states));
        let matching = problem.matching(sys, ops);
        if !matching.is_perfect() {
            return None;
        }
        let sequence = Rc::new(problem.blocks(&matching));
        self.orders.borrow_mut().push((states.to_vec(), sequence.clone()));
        Some(sequence)
    }
}
