//! The initialization problem of a mode: model equations, latent equations, initial equations, fixed starts; what is
//! still free is completed from start values, states first.

use crate::modes::{ModeKey, Modes, chosen};
use crate::plan::{Block, Cell, Item, Problem, Sequence, StructuralPlan};
use crate::rows::{Operands, RowOps, join_signs};
use crate::system::{DiscKind, Role, System};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_base::{Diagnostic, Span, Stage};
use saltus_dae::{HybridDae, Operand, Row, VarId, VarType, Variability};
use saltus_expr::{Binary, Coefficient, Node, Pool};
use saltus_graph::{Augmenter, NONE, dulmage_mendelsohn};

/// How to start in a mode.
#[derive(Clone, Debug)]
pub struct InitPlan {
    /// What to solve, in order.
    pub sequence: Sequence,
    /// Conditions that the structure cannot use: they must hold of themselves.
    pub redundant: Vec<Item>,
    /// What takes its start value (derivatives: zero) because nothing else determines it.
    pub chosen: Vec<Cell>,
    /// Wishes: what, its goal parameter, the weight, and whether it can be met exactly (by structure).
    pub wishes: Vec<Wish>,
    /// Parameters solved for or depending on such.
    pub late_parameters: Vec<VarId>,
}

/// A soft initial condition.
#[derive(Clone, Copy, Debug)]
pub struct Wish {
    /// What.
    pub cell: Cell,
    /// The parameter that holds the wanted value.
    pub goal: VarId,
    /// Counted with the opposite sign (its variable is a negated alias).
    pub negated: bool,
    /// Between 0 and 1.
    pub weight: f64,
    /// Whether the structure lets it be met exactly, beside all that weigh more.
    pub taken: bool,
}

/// Parameters that initialization determines: `fixed = false`, and those bound to such.
pub fn late_parameters(sys: &System) -> Vec<VarId> {
    let mut late: FxHashSet<VarId> = FxHashSet::default();
    loop {
        let before = late.len();
        for (id, v) in sys.dae.vars.iter() {
            if HybridDae::is_builtin(id) || v.variability > Variability::Parameter || late.contains(&id) {
                continue;
            }
            let depends = v
                .binding
                .as_ref()
                .is_some_and(|r| r.args.iter().filter_map(|a| a.variable()).any(|x| late.contains(&x)));
            if v.fixed == Some(false) && v.binding.is_none() || depends {
                late.insert(id);
            }
        }
        if late.len() == before {
            break;
        }
    }
    let mut out: Vec<VarId> = late.into_iter().collect();
    out.sort_unstable();
    out
}

/// The equations of the model at the start: all levels of the continuous ones, then the discrete definitions.
pub(crate) fn model_items(sys: &mut System, plan: &StructuralPlan) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    for (i, levels) in plan.levels.iter().enumerate() {
        for (k, row) in levels.iter().enumerate() {
            items.push(Item::Residual { row: row.clone(), eq: plan.rows[i].0, level: k as u8 });
        }
    }
    let hole = sys.dae.pool.hole(0);
    // Variables that initial equations or algorithms give a value: what an algorithm keeps of them is that value.
    // (`u = pre(y)` gives pre(y) one.)
    let past = |row: &Row, e| match sys.dae.pool.node(e) {
        Node::Hole(k) => matches!(row.args[*k as usize], Operand::Pre { .. }),
        _ => false,
    };
    let given: FxHashSet<VarId> = sys
        .initial
        .iter()
        .filter_map(|e| match (sys.dae.pool.node(e.row.template), e.row.args.first()) {
            (Node::Binary(Binary::Sub, a, b), Some(Operand::Var { var, order: 0, neg: false }))
                if *sys.dae.pool.node(*a) == Node::Hole(0) && !past(&e.row, *b) =>
            {
                Some(*var)
            }
            _ => None,
        })
        .collect();
    for d in &sys.discrete {
        let cell = Cell::new(d.var, 0);
        if let DiscKind::Value(row) = &d.kind
            && given.contains(&d.var)
            && row.args.contains(&Operand::Pre { var: d.var })
        {
            items.push(Item::Value {
                cell: Cell::pre(d.var),
                row: Row { template: hole, args: Box::new([Operand::var(d.var)]) },
            });
            continue;
        }
        items.push(match &d.kind {
            DiscKind::Value(row) => Item::Value { cell, row: row.clone() },
            DiscKind::Relation(index) => Item::Relation { cell, index: *index },
            DiscKind::When(when, values) => {
                let first = sys.whens[*when].branches.iter().position(|b| b.1);
                let row = first.and_then(|b| values[b].clone());
                match row {
                    // An equation like others: the rest of the start may ask for this value.
                    Some(row) if sys.dae.vars[d.var].ty == VarType::Real => Item::Residual {
                        row: difference(&mut sys.dae.pool, cell.operand(), &row),
                        eq: sys.equations.len() + sys.initial.len() + d.var.index(),
                        level: 0,
                    },
                    Some(row) => Item::Value { cell, row },
                    None => {
                        Item::Value { cell, row: Row { template: hole, args: Box::new([Operand::Pre { var: d.var }]) } }
                    }
                }
            }
        });
    }
    items
}

/// Delays that are read through each other.
const MOST_DELAYS: usize = 16;

/// An equation at the start of a run: delayed values are what is delayed, and do not move.
///
/// before: `y = delay(x + 1, 0.2)`
/// after:  `y = x + 1`
fn at_start(sys: &mut System, row: &Row) -> Row {
    let dae = &mut sys.dae;
    let mut row = row.clone();
    if !dae.histories.is_empty() {
        return row;
    }
    for _ in 0..MOST_DELAYS {
        let delayed = |func| dae.delays.iter().find(|d| d.func == func);
        let mut found: Option<Row> = None;
        let mut func = None;
        dae.pool.visit(row.template, |_, n| {
            if let Node::Call { func: f, .. } | Node::CallDer { func: f, .. } = n
                && let Some(d) = delayed(*f)
            {
                (found, func) = (Some(d.value.clone()), Some(*f));
            }
        });
        let (Some(value), Some(func)) = (found, func) else { break };
        let mut args = Operands::default();
        let template = dae.pool.rewrite(row.template, &mut |pool, e| match pool.node(e) {
            Node::Hole(k) => {
                let at = args.at(row.args[*k as usize]);
                Some(pool.hole(at))
            }
            Node::Call { func: f, .. } if *f == func => Some(pool.substitute(value.template, |pool, k| {
                let at = args.at(value.args[k as usize]);
                pool.hole(at)
            })),
            Node::CallDer { func: f, .. } if *f == func => Some(pool.num(0.0)),
            _ => None,
        });
        let joined = Row { template, args: args.list().into() };
        row = join_signs(dae, &joined).unwrap_or(joined);
    }
    row
}

/// The same for an item.
fn item_at_start(sys: &mut System, item: Item) -> Item {
    match item {
        Item::Residual { row, eq, level } => Item::Residual { row: at_start(sys, &row), eq, level },
        Item::Value { cell, row } => Item::Value { cell, row: at_start(sys, &row) },
        other => other,
    }
}

/// Plans the start in the mode of `plan`.
pub fn plan_initialization(
    sys: &mut System,
    ops: &mut RowOps,
    modes: &Modes,
    key: &ModeKey,
    plan: &StructuralPlan,
) -> Result<InitPlan, Diagnostic> {
    let mut unknowns: Vec<Cell> = Vec::new();
    for &v in &plan.vars {
        unknowns.extend((0..=plan.d[&v]).map(|k| Cell::new(v, k)));
    }
    let late = late_parameters(sys);
    unknowns.extend(late.iter().map(|&p| Cell::new(p, 0)));
    for d in &sys.discrete {
        unknowns.push(Cell::new(d.var, 0));
        unknowns.push(Cell::pre(d.var));
    }
    let start_base = sys.equations.len() + sys.initial.len();
    let mut items: Vec<Item> = model_items(sys, plan).into_iter().map(|i| item_at_start(sys, i)).collect();
    for &p in &late {
        if let Some(b) = sys.dae.vars[p].binding.clone() {
            let cell = Cell::new(p, 0);
            items.push(match sys.dae.vars[p].ty {
                // An initial equation may give its value and ask for that of a parameter it is bound to.
                VarType::Real => Item::Residual {
                    row: difference(&mut sys.dae.pool, cell.operand(), &b),
                    eq: start_base + p.index(),
                    level: 0,
                },
                _ => Item::Value { cell, row: b },
            });
        }
    }
    let mut problem = Problem::new(sys, items, unknowns);
    let mut m = problem.matching(sys, ops);
    if let Some(i) = m.free_rows().next() {
        return Err(unsolvable(sys, &problem.items[i as usize]));
    }
    // Initial equations and fixed starts.
    let hard_from = problem.items.len();
    let values = modes.values(key);
    let base = sys.equations.len();
    for k in 0..sys.initial.len() {
        if chosen(sys, sys.initial[k].guard, &|v| values.get(&v).copied().unwrap_or(false)) {
            let row = at_start(sys, &sys.initial[k].row.clone());
            problem.items.push(Item::Residual { row, eq: base + k, level: 0 });
        }
    }
    let fixed: Vec<VarId> = plan.vars.iter().copied().filter(|&v| sys.dae.vars[v].fixed == Some(true)).collect();
    for v in fixed {
        let row = start_residual(sys, Cell::new(v, 0));
        problem.items.push(Item::Residual { row, eq: start_base + v.index(), level: 0 });
    }
    let pinned: Vec<VarId> =
        sys.discrete.iter().map(|d| d.var).filter(|&v| sys.dae.vars[v].fixed == Some(true)).collect();
    for v in pinned {
        let row = start_value(sys, v);
        problem.items.push(Item::Value { cell: Cell::pre(v), row });
    }
    problem.edges(sys);
    m.grow(problem.items.len(), problem.unknowns.len());
    let mut augmenter = Augmenter::new();
    let mut redundant = Vec::new();
    for i in hard_from..problem.items.len() {
        if !augmenter.augment(&problem.candidates, &mut m, i as u32) {
            redundant.push(problem.items[i].clone());
        }
    }
    // Wishes come next, the heaviest first; those in conflict are left to least squares.
    let mut wishes = wishes(sys);
    let wishes_from = problem.items.len();
    for w in &wishes {
        let row = wish_residual(sys, w);
        problem.items.push(Item::Residual { row, eq: start_base + w.cell.var.index(), level: 0 });
    }
    if !wishes.is_empty() {
        problem.edges(sys);
        m.grow(problem.items.len(), problem.unknowns.len());
        for (k, w) in wishes.iter_mut().enumerate() {
            w.taken = augmenter.augment(&problem.candidates, &mut m, (wishes_from + k) as u32);
        }
    }
    // What is left is completed from start values, by preference.
    let soft_from = problem.items.len();
    let mut chosen = Vec::new();
    if m.size < problem.unknowns.len() {
        let under: FxHashSet<u32> = dulmage_mendelsohn(&problem.candidates, &m).under_cols.into_iter().collect();
        let mut candidates: Vec<(i32, bool, Cell)> = Vec::new();
        let states: FxHashSet<Cell> = plan.states.iter().copied().collect();
        for &j in &under {
            let cell = problem.unknowns[j as usize];
            let var = &sys.dae.vars[cell.var];
            let preference = if sys.role(cell.var) == Role::Discrete {
                if cell.order < 0 { 0 } else { 9 }
            } else if sys.role(cell.var) == Role::Known {
                if var.binding.is_none() { 4 } else { 8 }
            } else {
                match (states.contains(&cell), cell.order == 0, var.start.is_some()) {
                    (true, true, true) => 1,
                    (true, true, false) => 2,
                    (true, false, _) => 3,
                    (false, true, true) => 5,
                    (false, true, false) => 6,
                    (false, false, _) => 7,
                }
            };
            // Among states, those asked for come first; among equals, those with a nominal value.
            candidates.push((preference * 8 - var.state_select as i32, var.nominal.is_none(), cell));
        }
        candidates.sort();
        for &(_, _, cell) in &candidates {
            let item = if cell.order < 0 {
                Item::Value { cell, row: start_value(sys, cell.var) }
            } else {
                Item::Residual { row: start_residual(sys, cell), eq: start_base + cell.var.index(), level: 0 }
            };
            problem.items.push(item);
        }
        problem.edges(sys);
        m.grow(problem.items.len(), problem.unknowns.len());
        for i in soft_from..problem.items.len() {
            if m.size == problem.unknowns.len() {
                break;
            }
            let cell = candidates[i - soft_from].2;
            if augmenter.augment(&problem.candidates, &mut m, i as u32) && cell.order >= 0 {
                chosen.push(cell);
            }
        }
    }
    if m.size < problem.unknowns.len() {
        let names: Vec<String> = m.free_cols().map(|j| cell_name(sys, problem.unknowns[j as usize])).take(8).collect();
        return Err(Diagnostic::error(
            Stage::Initialization,
            Span::NONE,
            format!("the initialization problem does not determine {}", names.join(", ")),
        ));
    }
    let mut sequence = problem.blocks(&m);
    let used: FxHashSet<usize> = sequence.blocks.iter().flat_map(|b| b.items.iter().copied()).collect();
    debug_assert!(m.row_to_col.iter().enumerate().all(|(i, &j)| j == NONE || used.contains(&i)));
    favour_marked(sys, ops, &mut sequence);
    sequence.blocks.retain(|b| !b.items.is_empty());
    Ok(InitPlan { sequence, redundant, chosen, wishes, late_parameters: late })
}

/// Lets marked unknowns be iterated on in the place of unmarked ones: a nonlinear block takes in the equations that define a
/// marked unknown from an unmarked one of its own, one after the other, if they can be turned round.
///
/// before: `f(x) = 0` for x, then `u := 2*x + 1`, then `y := u/3`, y marked
/// after:  all three for x, u and y; torn by y, `u := 3*y` and `x := (u - 1)/2` are eliminated
fn favour_marked(sys: &mut System, ops: &mut RowOps, sequence: &mut Sequence) {
    if !sys.dae.vars.iter().any(|(_, v)| v.marked) {
        return;
    }
    let given: FxHashSet<VarId> = sys.dae.guesses.iter().filter(|g| g.1 == 0).map(|g| g.0).collect();
    let marked = |sys: &System, c: Cell| {
        let v = &sys.dae.vars[c.var];
        c.order == 0 && v.marked && (v.start.is_some() || given.contains(&c.var))
    };
    let wanted: Vec<Cell> = sequence
        .blocks
        .iter()
        .filter(|b| b.items.len() == 1)
        .map(|b| b.unknowns[0])
        .filter(|&y| marked(sys, y))
        .collect();
    let mut place: FxHashMap<Cell, usize> =
        sequence.blocks.iter().enumerate().flat_map(|(i, b)| b.unknowns.iter().map(move |&c| (c, i))).collect();
    let mut nonlinear: FxHashMap<Cell, bool> = FxHashMap::default();
    let mut work = 0;
    for y in wanted {
        let j = place[&y];
        if let Some(chain) = definition_chain(sys, ops, sequence, &place, j, &mut nonlinear, &marked) {
            work += j - chain[0];
            if work > MOST_WORK {
                break;
            }
            take_in(sys, sequence, &mut place, &chain);
        }
    }
}

/// Blocks between marked unknowns and what they are defined from that are looked at.
const MOST_WORK: usize = 20_000_000;

/// Definitions from one marked unknown to what it comes from.
const MOST_DEFINITIONS: usize = 64;

/// The blocks that define what block j determines from an unmarked unknown of a nonlinear block, from the latter to j.
fn definition_chain(
    sys: &mut System,
    ops: &mut RowOps,
    sequence: &Sequence,
    place: &FxHashMap<Cell, usize>,
    j: usize,
    nonlinear: &mut FxHashMap<Cell, bool>,
    marked: &dyn Fn(&System, Cell) -> bool,
) -> Option<Vec<usize>> {
    let mut chain = vec![j];
    let mut at = j;
    loop {
        let ([item], [y]) = (&sequence.blocks[at].items[..], &sequence.blocks[at].unknowns[..]) else { return None };
        let Item::Residual { row, .. } = &sequence.items[*item] else { return None };
        // The one unknown of the last block before that the equation reads.
        let read = |k: &usize| Cell::of(row.args[*k]).filter(|c| c != y).and_then(|c| place.get(&c).copied());
        let i = (0..row.args.len()).filter_map(|k| read(&k)).max().filter(|&i| i < at)?;
        let mut there = (0..row.args.len()).filter(|k| read(k) == Some(i));
        let (Some(k), None) = (there.next(), there.next()) else { return None };
        if ops.classify(&mut sys.dae, row, k) > Coefficient::Parameter || marked(sys, Cell::of(row.args[k])?) {
            return None;
        }
        chain.push(i);
        if chain.len() > MOST_DEFINITIONS {
            return None;
        }
        if *nonlinear
            .entry(sequence.blocks[i].unknowns[0])
            .or_insert_with(|| iterates(sys, ops, sequence, &sequence.blocks[i]))
        {
            chain.reverse();
            return Some(chain);
        }
        at = i;
    }
}

/// Whether some equation of a block is nonlinear in its unknowns.
fn iterates(sys: &mut System, ops: &mut RowOps, sequence: &Sequence, block: &Block) -> bool {
    let residual = |i: usize| match &sequence.items[i] {
        Item::Residual { row, .. } => Some(row),
        _ => None,
    };
    let own = |a: Operand| Cell::of(a).is_some_and(|c| block.unknowns.contains(&c));
    block.items.iter().all(|&m| residual(m).is_some())
        && block.items.iter().filter_map(|&m| residual(m)).any(|row| {
            (0..row.args.len())
                .any(|k| own(row.args[k]) && ops.partial(&mut sys.dae, row, k).args.iter().any(|&a| own(a)))
        })
}

/// Makes one block of a chain. What does not depend on its first block comes before it, the rest after it; emptied blocks keep
/// the places of the others.
fn take_in(sys: &System, sequence: &mut Sequence, place: &mut FxHashMap<Cell, usize>, chain: &[usize]) {
    let (first, last) = (chain[0], chain[chain.len() - 1]);
    let mut later = vec![false; last + 1 - first];
    later[0] = true;
    for k in first + 1..=last {
        let reads = sequence.blocks[k].items.iter().flat_map(|&m| sequence.items[m].reads(sys));
        let mut from =
            reads.filter_map(|c| place.get(&c).copied()).filter(|&i| i >= first && i < k && later[i - first]);
        later[k - first] = from.next().is_some_and(|i| {
            // A second way from the first block to the marked unknown: they are not one chain.
            !chain.contains(&k) || (chain.contains(&i) && from.all(|i| chain.contains(&i)))
        });
        if chain.contains(&k) && !later[k - first] {
            return;
        }
    }
    let old: Vec<Block> = sequence.blocks.drain(first..=last).collect();
    let mut joined = Block { items: Vec::new(), unknowns: Vec::new() };
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for (k, b) in old.into_iter().enumerate() {
        if chain.contains(&(first + k)) {
            joined.items.extend(b.items);
            joined.unknowns.extend(b.unknowns);
        } else if later[k] {
            after.push(b);
        } else {
            before.push(b);
        }
    }
    before.push(joined);
    before.append(&mut after);
    before.resize(last + 1 - first, Block { items: Vec::new(), unknowns: Vec::new() });
    for (k, b) in before.iter().enumerate() {
        place.extend(b.unknowns.iter().map(|&c| (c, first + k)));
    }
    sequence.blocks.splice(first..first, before);
}

/// The soft targets that concern unknowns, the heaviest first.
fn wishes(sys: &System) -> Vec<Wish> {
    let mut out: Vec<Wish> = sys
        .dae
        .soft_targets
        .iter()
        .filter_map(|t| match sys.resolve(Operand::Var { var: t.var, order: t.order, neg: false }) {
            Operand::Var { var, order, neg } => {
                Some(Wish { cell: Cell::new(var, order), goal: t.goal, negated: neg, weight: t.weight, taken: false })
            }
            _ => None,
        })
        .collect();
    out.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    out
}

/// `±cell - goal = 0`.
fn wish_residual(sys: &mut System, w: &Wish) -> Row {
    let pool = &mut sys.dae.pool;
    let (a, b) = (pool.hole(0), pool.hole(1));
    let template = pool.intern(Node::Binary(if w.negated { Binary::Add } else { Binary::Sub }, a, b));
    Row { template, args: Box::new([w.cell.operand(), Operand::var(w.goal)]) }
}

/// Guesses for what has none, from what has: each equation with one unguessed unknown that it can be solved for passes
/// values on (unmarked variables are thus eliminated in favour of marked ones).
pub fn spread_guesses(sys: &mut System, ops: &mut RowOps, sequence: &Sequence) -> Vec<(Cell, Row)> {
    let given: FxHashSet<Cell> = sys
        .dae
        .guesses
        .iter()
        .filter_map(|&(var, order, _)| Cell::of(sys.resolve(Operand::Var { var, order, neg: false })))
        .collect();
    let mut open: FxHashMap<Cell, Vec<usize>> = FxHashMap::default();
    for b in &sequence.blocks {
        for &cell in &b.unknowns {
            let known = cell.order == 0 && sys.dae.vars[cell.var].start.is_some();
            if cell.order >= 0 && !known && !given.contains(&cell) && sys.role(cell.var) != Role::Discrete {
                open.insert(cell, Vec::new());
            }
        }
    }
    let rows: Vec<&Row> = sequence
        .blocks
        .iter()
        .flat_map(|b| b.items.iter())
        .filter_map(|&i| match &sequence.items[i] {
            Item::Residual { row, .. } => Some(row),
            _ => None,
        })
        .collect();
    let mut count = vec![0usize; rows.len()];
    for (i, row) in rows.iter().enumerate() {
        let mut cells: Vec<Cell> = row.args.iter().filter_map(|&a| Cell::of(a)).collect();
        cells.sort_unstable();
        cells.dedup();
        for c in cells {
            if let Some(rows) = open.get_mut(&c) {
                rows.push(i);
                count[i] += 1;
            }
        }
    }
    let mut ready: Vec<usize> = (0..rows.len()).rev().filter(|&i| count[i] == 1).collect();
    let mut out = Vec::new();
    while let Some(i) = ready.pop() {
        let row = rows[i];
        let ks: Vec<usize> =
            (0..row.args.len()).filter(|&k| Cell::of(row.args[k]).is_some_and(|c| open.contains_key(&c))).collect();
        let [k] = ks[..] else { continue };
        let Some(cell) = Cell::of(row.args[k]) else { continue };
        let easy = matches!(
            ops.classify(&mut sys.dae, row, k),
            Coefficient::Unit | Coefficient::Constant | Coefficient::Parameter
        );
        let Some(mut solved) = (if easy { ops.solve(&mut sys.dae, row, k) } else { None }) else { continue };
        if let Operand::Var { neg: true, .. } = row.args[k] {
            solved.template = sys.dae.pool.neg(solved.template);
        }
        out.push((cell, solved));
        for j in open.remove(&cell).unwrap_or_default() {
            count[j] -= 1;
            if count[j] == 1 {
                ready.push(j);
            }
        }
    }
    out
}

/// The name of a cell, as a user would write it.
pub fn cell_name(sys: &System, cell: Cell) -> String {
    let mut s = sys.condition_text(cell.var);
    if cell.order < 0 {
        return format!("pre({s})");
    }
    for _ in 0..cell.order {
        s = format!("der({s})");
    }
    s
}

/// `start`, or zero.
pub fn start_value(sys: &mut System, v: VarId) -> Row {
    match &sys.dae.vars[v].start {
        Some(r) => r.clone(),
        None => sys.dae.constant_row(0.0),
    }
}

/// `cell - start = 0`; derivatives start from zero.
fn start_residual(sys: &mut System, cell: Cell) -> Row {
    let start = if cell.order == 0 { start_value(sys, cell.var) } else { sys.dae.constant_row(0.0) };
    difference(&mut sys.dae.pool, cell.operand(), &start)
}

/// `cell - value = 0`.
pub(crate) fn difference(pool: &mut Pool, of: Operand, value: &Row) -> Row {
    let h = pool.hole(0);
    let rest = pool.substitute(value.template, |pool, k| pool.hole(k + 1));
    let template = pool.intern(Node::Binary(Binary::Sub, h, rest));
    let args = std::iter::once(of).chain(value.args.iter().copied()).collect();
    Row { template, args }
}

fn unsolvable(sys: &System, item: &Item) -> Diagnostic {
    let (what, span) = match item {
        Item::Residual { row, eq, .. } => {
            (saltus_dae::equation_text(&sys.dae, row), sys.equations.get(*eq).and_then(|e| e.origin.span))
        }
        other => (other.target().map_or_else(String::new, |c| cell_name(sys, c)), None),
    };
    Diagnostic::error(
        Stage::Initialization,
        span.unwrap_or(Span::NONE),
        format!("the initialization problem is over-determined: {what} has no unknown left"),
    )
}
