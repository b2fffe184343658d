//! The structural plan of one mode: differentiated equations, states, order of evaluation.

use crate::modes::{ModeKey, Modes, active_rows, key_text, rows_as_written, rows_with};
use crate::parts::plan_parts;
use crate::redundancy::{dependent_constraints, null_support};
use crate::rows::RowOps;
use crate::selection::{Choice, Selection, jacobian_entry};
use crate::system::{DiscKind, Role, System};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_base::{Diagnostic, Span, Stage};
use saltus_dae::{Operand, Row, StateSelect, VarId, VarType, Variable, equation_text};
use saltus_expr::{Calls, Coefficient};
use saltus_graph::{Bipartite, Matching, NONE, Signature, Singular, block_order, sigma_method, weighted_matching};
use std::rc::Rc;

/// A number that is solved for or known: a variable or one of its derivatives, or a previous value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    /// The variable.
    pub var: VarId,
    /// Derivative order; -1 for `pre`.
    pub order: i8,
}

impl Cell {
    /// A variable or derivative.
    pub fn new(var: VarId, order: u8) -> Cell {
        Cell { var, order: order as i8 }
    }
    /// The previous value.
    pub fn pre(var: VarId) -> Cell {
        Cell { var, order: -1 }
    }
    /// The cell an operand reads.
    pub fn of(op: Operand) -> Option<Cell> {
        match op {
            Operand::Var { var, order, .. } => Some(Cell::new(var, order)),
            Operand::Pre { var } => Some(Cell::pre(var)),
            Operand::Const(_) => None,
        }
    }
    /// As an operand.
    pub fn operand(self) -> Operand {
        if self.order < 0 {
            Operand::Pre { var: self.var }
        } else {
            Operand::Var { var: self.var, order: self.order as u8, neg: false }
        }
    }
}

/// One thing to be computed.
#[derive(Clone, Debug)]
pub enum Item {
    /// `row = 0`.
    Residual {
        /// The residual.
        row: Row,
        /// Which equation it comes from (index into [`System::equations`], or past its end into initial equations).
        eq: usize,
        /// How often it was differentiated.
        level: u8,
    },
    /// `cell := row`.
    Value {
        /// What is set.
        cell: Cell,
        /// To what.
        row: Row,
    },
    /// A relation's truth value.
    Relation {
        /// The relation variable.
        cell: Cell,
        /// Index into [`System::relations`].
        index: usize,
    },
    /// A variable assigned by a when-equation.
    When {
        /// The variable.
        cell: Cell,
        /// Index into [`System::whens`].
        when: usize,
        /// Values per branch.
        values: Vec<Option<Row>>,
    },
}

impl Item {
    /// The cells it reads (its own target left out unless it stands on the right too).
    pub fn reads(&self, sys: &System) -> Vec<Cell> {
        let row = |r: &Row| r.args.iter().filter_map(|&a| Cell::of(a)).collect::<Vec<_>>();
        match self {
            Item::Residual { row: r, .. } | Item::Value { row: r, .. } => row(r),
            Item::Relation { index, .. } => row(&sys.relations[*index].g),
            Item::When { when, values, cell } => {
                let mut out: Vec<Cell> = Vec::new();
                for (conditions, _) in &sys.whens[*when].branches {
                    out.extend(conditions.iter().map(|&c| Cell::new(c, 0)));
                    out.extend(conditions.iter().map(|&c| Cell::pre(c)));
                }
                out.extend(values.iter().flatten().flat_map(row));
                out.push(Cell::pre(cell.var));
                out
            }
        }
    }
    /// What it defines, if that is fixed.
    pub fn target(&self) -> Option<Cell> {
        match self {
            Item::Residual { .. } => None,
            Item::Value { cell, .. } | Item::Relation { cell, .. } | Item::When { cell, .. } => Some(*cell),
        }
    }
}

/// Items that must be solved together, with what they are solved for (pairwise matched).
#[derive(Clone, Debug)]
pub struct Block {
    /// Indices into [`Sequence::items`].
    pub items: Vec<usize>,
    /// Unknowns, in the order of `items`.
    pub unknowns: Vec<Cell>,
}

/// Items in blocks in the order of evaluation.
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    /// All items.
    pub items: Vec<Item>,
    /// The blocks, each depending on earlier ones only.
    pub blocks: Vec<Block>,
}

/// The plan of one mode.
#[derive(Clone, Debug)]
pub struct StructuralPlan {
    /// The mode.
    pub key: ModeKey,
    /// Active equations: (index into [`System::equations`], undifferentiated row).
    pub rows: Vec<(usize, Row)>,
    /// How often each is differentiated (c_i).
    pub c: Vec<u8>,
    /// Highest derivative of each active variable (d_j).
    pub d: FxHashMap<VarId, u8>,
    /// Active variables, in order.
    pub vars: Vec<VarId>,
    /// All levels of every row: `levels[i][k]` is row i differentiated k times.
    pub levels: Vec<Vec<Row>>,
    /// States; the derivative of (x, k) is the cell (x, k+1).
    pub states: Vec<Cell>,
    /// What they were chosen from.
    pub selection: Selection,
    /// How they were chosen.
    pub choice: Choice,
    /// Structural index.
    pub index: i32,
    /// Given states, time, discrete values: everything continuous.
    pub continuous: Sequence,
    /// The parts it was put together from, in order, shared with other modes; none if it was planned as a whole.
    pub parts: Vec<Rc<Sequence>>,
    /// The same together with the discrete part, for event iteration.
    pub event: Sequence,
    /// Blocks of [`StructuralPlan::event`] that are known before any equation is solved anew: guards come before what
    /// they guard (MODRIO, principle 5).
    pub early: Vec<usize>,
}

impl StructuralPlan {
    /// A plan without equations.
    pub(crate) fn empty(key: ModeKey) -> StructuralPlan {
        StructuralPlan {
            key,
            rows: Vec::new(),
            c: Vec::new(),
            d: FxHashMap::default(),
            vars: Vec::new(),
            levels: Vec::new(),
            states: Vec::new(),
            selection: Selection::default(),
            choice: Choice::default(),
            index: 0,
            continuous: Sequence::default(),
            parts: Vec::new(),
            event: Sequence::default(),
            early: Vec::new(),
        }
    }

    /// Derivatives below the highest that are solved for rather than integrated.
    pub fn dummies(&self) -> Vec<Cell> {
        let states: FxHashSet<Cell> = self.states.iter().copied().collect();
        let cells = self.vars.iter().flat_map(|v| (0..self.d[v]).map(|k| Cell::new(*v, k)));
        cells.filter(|c| !states.contains(c)).collect()
    }
}

/// Numbers to decide with (dummy derivatives are chosen where the constraint Jacobian is well conditioned).
pub trait Point {
    /// The value an operand has now.
    fn value(&self, op: Operand) -> f64;
    /// Function calls.
    fn calls(&self) -> Box<dyn Calls + '_>;
    /// Its numbers mean nothing.
    fn is_generic(&self) -> bool {
        false
    }
}

/// A point that knows nothing: pseudo-random values, so that only structure matters.
pub struct Generic;

impl Point for Generic {
    fn value(&self, op: Operand) -> f64 {
        match op {
            Operand::Const(v) => v,
            Operand::Var { var, order, neg } => {
                let x = (var.index() as u64 * 0x9E37_79B9_7F4A_7C15).wrapping_add(u64::from(order) * 0x5851_F42D);
                let v = 0.5 + (x >> 11) as f64 / (1u64 << 53) as f64;
                if neg { -v } else { v }
            }
            Operand::Pre { var } => 0.3 + (var.index() % 7) as f64 * 0.1,
        }
    }
    fn calls(&self) -> Box<dyn Calls + '_> {
        Box::new(saltus_expr::NoCalls)
    }
    fn is_generic(&self) -> bool {
        true
    }
}

/// Plans the mode `key`.
pub fn plan_mode(
    sys: &mut System,
    ops: &mut RowOps,
    modes: &Modes,
    key: &ModeKey,
    point: &dyn Point,
) -> Result<StructuralPlan, Diagnostic> {
    if let Some(d) = undetermined_discrete(sys) {
        return Err(d);
    }
    let plan = plan_rows(sys, ops, modes, key, point)?;
    if !key.is_empty()
        && let Some(dependent) = dependent_constraints(sys, ops, &plan)
    {
        let mode = Mode { values: modes.values(key), text: key_text(sys, modes, key) };
        return Err(explain_dependent(sys, ops, &mode, &plan, &dependent));
    }
    Ok(plan)
}

/// Integers, Booleans and values of enumerations that nothing determines, neither an equation nor the start.
fn undetermined_discrete(sys: &System) -> Option<Diagnostic> {
    let mut determined: FxHashSet<VarId> = sys.discrete.iter().map(|d| d.var).collect();
    let read = sys.initial.iter().flat_map(|e| e.row.args.iter()).filter_map(|a| a.variable());
    determined.extend(read);
    let open = |(id, v): &(VarId, &Variable)| {
        let whole = matches!(v.ty, VarType::Integer | VarType::Boolean | VarType::Enumeration(_));
        whole
            && !v.hidden
            && sys.role(*id) == Role::Discrete
            && sys.alias[*id].is_none()
            && v.start.is_none()
            && !determined.contains(id)
    };
    let open: Vec<&Variable> = sys.dae.vars.iter().filter(open).map(|(_, v)| v).collect();
    let first = open.first()?;
    let names: Vec<String> = open.iter().map(|v| v.name.clone()).collect();
    let text = format!("the model is structurally singular: not determined: {}", list(&names, 8));
    let d = Diagnostic::error(Stage::Structure, first.origin.span.unwrap_or(Span::NONE), text);
    Some(
        d.within(&first.origin.instance)
            .hint("an equation is missing; what keeps its start value needs one: `start = …`"),
    )
}

fn plan_rows(
    sys: &mut System,
    ops: &mut RowOps,
    modes: &Modes,
    key: &ModeKey,
    point: &dyn Point,
) -> Result<StructuralPlan, Diagnostic> {
    let rows = active_rows(sys, ops, modes, key);
    // Variables preferred as states that do not occur differentiated: what determines them is differentiated too. Those
    // that do not become states after all are not asked for again.
    let mode = Mode { values: modes.values(key), text: key_text(sys, modes, key) };
    let mut asked = preferred(sys, &rows);
    if !mode.values.is_empty()
        && let Some(plan) = plan_in_parts(sys, ops, modes, key, &rows, &asked, point)
    {
        return Ok(plan);
    }
    while !asked.is_empty() {
        let Ok(found) = offsets(sys, ops, &mode, &rows, &asked) else { break };
        let (selection, choice) = select(sys, ops, &rows, &found, point);
        let before = asked.len();
        asked.retain(|&v| choice.states.contains(&Cell::new(v, 0)));
        if asked.len() == before {
            match finish(sys, ops, modes, key, rows.clone(), found, selection, choice) {
                Ok(plan) => return Ok(plan),
                Err(_) => break,
            }
        }
    }
    let found = offsets(sys, ops, &mode, &rows, &[])?;
    let (selection, choice) = select(sys, ops, &rows, &found, point);
    finish(sys, ops, modes, key, rows, found, selection, choice)
}

/// The plan of a mode from its parts, if what is asked for by `stateSelect` can be had part by part: a constraint between
/// parts may make states of one in exchange for states of the other, and then the choice is one of the whole.
fn plan_in_parts(
    sys: &mut System,
    ops: &mut RowOps,
    modes: &Modes,
    key: &ModeKey,
    rows: &[(usize, Row)],
    asked: &[VarId],
    point: &dyn Point,
) -> Option<StructuralPlan> {
    let mut asked = asked.to_vec();
    loop {
        let (plan, linked) = plan_parts(sys, ops, &mut modes.parts.borrow_mut(), key, rows, &asked, point)?;
        let before = asked.len();
        asked.retain(|&v| plan.states.contains(&Cell::new(v, 0)));
        if asked.len() == before {
            return states_as_asked(sys, &plan, &linked).then_some(plan);
        }
    }
}

/// Whether no exchange of states between parts could please `stateSelect` more; `linked` are the variables that have part in one.
pub(crate) fn states_as_asked(sys: &System, plan: &StructuralPlan, linked: &FxHashSet<VarId>) -> bool {
    let states: FxHashSet<Cell> = plan.states.iter().copied().collect();
    linked.iter().all(|&v| {
        let cells = || (0..plan.d[&v]).map(|k| Cell::new(v, k));
        match sys.dae.vars[v].state_select {
            StateSelect::Default => true,
            StateSelect::Prefer | StateSelect::Always => plan.d[&v] == 0 || states.contains(&Cell::new(v, 0)),
            StateSelect::Avoid | StateSelect::Never => !cells().any(|c| states.contains(&c)),
        }
    })
}

/// Continuous variables with `stateSelect` prefer or always of which no derivative occurs.
pub(crate) fn preferred(sys: &System, rows: &[(usize, Row)]) -> Vec<VarId> {
    let mut highest: FxHashMap<VarId, u8> = FxHashMap::default();
    for (_, row) in rows {
        for (v, o) in crate::modes::continuous_args(sys, row) {
            let h = highest.entry(v).or_insert(0);
            *h = o.max(*h);
        }
    }
    let mut out: Vec<VarId> = highest
        .into_iter()
        .filter(|&(v, o)| o == 0 && sys.dae.vars[v].state_select >= StateSelect::Prefer)
        .map(|(v, _)| v)
        .collect();
    out.sort_unstable();
    out
}

/// Offsets c and d, the variables, the index.
type Offsets = (Vec<u8>, FxHashMap<VarId, u8>, Vec<VarId>, i32);

fn select(
    sys: &mut System,
    ops: &mut RowOps,
    rows: &[(usize, Row)],
    (c, d, vars, _): &Offsets,
    point: &dyn Point,
) -> (Selection, Choice) {
    let selection = Selection::new(sys, ops, rows, c, d, vars);
    let values = selection.values(sys, point);
    let choice = selection.choose(sys, &values, &[], false);
    (selection, choice)
}

/// All levels of every row: row i differentiated up to c_i times.
pub(crate) fn residuals(sys: &mut System, ops: &mut RowOps, rows: &[(usize, Row)], c: &[u8]) -> Vec<Vec<Row>> {
    let levels = rows.iter().zip(c).map(|((_, row), &ci)| {
        let mut levels = vec![row.clone()];
        for _ in 0..ci {
            let next = ops.differentiate(&mut sys.dae, levels.last().unwrap_or(row));
            levels.push(next);
        }
        levels
    });
    levels.collect()
}

/// Everything that is solved for when these are the states.
pub(crate) fn unknown_cells(vars: &[VarId], d: &FxHashMap<VarId, u8>, states: &[Cell]) -> Vec<Cell> {
    let states: FxHashSet<Cell> = states.iter().copied().collect();
    let cells = vars.iter().flat_map(|v| (0..=d[v]).map(|k| Cell::new(*v, k)));
    cells.filter(|c| !states.contains(c)).collect()
}

/// Differentiated rows and the order of evaluation, once offsets and states are known.
#[allow(clippy::too_many_arguments)]
fn finish(
    sys: &mut System,
    ops: &mut RowOps,
    modes: &Modes,
    key: &ModeKey,
    rows: Vec<(usize, Row)>,
    (c, d, vars, index): Offsets,
    selection: Selection,
    choice: Choice,
) -> Result<StructuralPlan, Diagnostic> {
    let levels = residuals(sys, ops, &rows, &c);
    let mut plan = StructuralPlan {
        key: key.clone(),
        rows,
        c,
        d,
        vars,
        levels,
        states: choice.states.clone(),
        selection,
        choice,
        index,
        continuous: Sequence::default(),
        parts: Vec::new(),
        event: Sequence::default(),
        early: Vec::new(),
    };
    sequence(sys, ops, modes, &mut plan)?;
    Ok(plan)
}

/// The choice of states the same mode would rather have at this point; the present ones are kept unless clearly worse. No step
/// leads on with them if it is `pressing`.
pub fn better_choice(sys: &System, plan: &StructuralPlan, point: &dyn Point, pressing: bool) -> Choice {
    let values = plan.selection.values(sys, point);
    plan.selection.choose(sys, &values, &plan.states, pressing)
}

/// Plans the same mode with other states.
pub fn replan_states(
    sys: &mut System,
    ops: &mut RowOps,
    modes: &Modes,
    plan: &StructuralPlan,
    choice: Choice,
) -> Result<StructuralPlan, Diagnostic> {
    let mut new = StructuralPlan {
        states: choice.states.clone(),
        choice,
        continuous: Sequence::default(),
        parts: Vec::new(),
        event: Sequence::default(),
        ..plan.clone()
    };
    sequence(sys, ops, modes, &mut new)?;
    Ok(new)
}

/// The plan of one mode of a system of next values: what an instant solves (MODRIO, figures 2.1 to 2.8).
#[derive(Clone, Debug)]
pub struct InstantPlan {
    /// Active variables.
    pub vars: Vec<VarId>,
    /// How far ahead each is solved for (d_j): `(x, k)` with k below is known when the instant begins.
    pub d: FxHashMap<VarId, u8>,
    /// Given the known values: the rest.
    pub sequence: Sequence,
    /// Equations that speak of known values only: they hold by what earlier instants solved, and must hold at the first.
    pub assumed: Vec<(usize, u8, Row)>,
}

/// Plans what an instant solves in the mode `key`. Equations are shifted, not differentiated; guards are not shifted.
pub fn plan_instant(
    sys: &mut System,
    ops: &mut RowOps,
    modes: &Modes,
    key: &ModeKey,
) -> Result<InstantPlan, Diagnostic> {
    let rows = active_rows(sys, ops, modes, key);
    let mode = Mode { values: modes.values(key), text: key_text(sys, modes, key) };
    let (c, d, vars, _) = offsets(sys, ops, &mode, &rows, &[])?;
    let shift = |sys: &System, row: &Row, by: u8| Row {
        template: row.template,
        args: row
            .args
            .iter()
            .map(|&a| match a {
                Operand::Var { var, order, neg } if sys.role(var) == Role::Continuous => {
                    Operand::Var { var, order: order + by, neg }
                }
                a => a,
            })
            .collect(),
    };
    let (mut items, mut assumed) = (Vec::new(), Vec::new());
    for ((eq, row), &ci) in rows.iter().zip(&c) {
        let timed = row.args.iter().any(|a| a.variable() == Some(saltus_dae::HybridDae::TIME));
        if ci > 0 && timed {
            let span = sys.equations[*eq].origin.span.unwrap_or(Span::NONE);
            let text = format!(
                "not supported yet: time in an equation that has to be shifted: {}",
                equation_text(&sys.dae, row)
            );
            return Err(Diagnostic::error(Stage::Structure, span, text));
        }
        assumed.extend((0..ci).map(|k| (*eq, k, shift(sys, row, k))));
        items.push(Item::Residual { row: shift(sys, row, ci), eq: *eq, level: ci });
    }
    let unknowns = vars.iter().map(|v| Cell::new(*v, d[v])).collect();
    let problem = Problem::new(sys, items, unknowns);
    let matching = problem.matching(sys, ops);
    if !matching.is_perfect() {
        return Err(explain_unmatched(sys, &mode, &problem, &matching));
    }
    let sequence = problem.blocks(&matching);
    Ok(InstantPlan { vars, d, sequence, assumed })
}

/// A mode as diagnostics need it.
struct Mode {
    values: FxHashMap<VarId, bool>,
    text: String,
}

impl Mode {
    fn suffix(&self) -> String {
        if self.text.is_empty() { String::new() } else { format!(" in the mode {}", self.text) }
    }
}

/// The explanation if the equations are structurally singular when conditions have these values; `text` names them.
pub fn singular_with(
    sys: &mut System,
    ops: &mut RowOps,
    values: &FxHashMap<VarId, bool>,
    text: &str,
) -> Option<Diagnostic> {
    let rows = rows_with(sys, ops, values);
    offsets(sys, ops, &Mode { values: values.clone(), text: text.to_string() }, &rows, &[]).err()
}

/// A condition with its value; numbers stand for themselves being zero.
pub fn value_text(sys: &System, v: VarId, value: bool) -> String {
    match sys.dae.vars[v].ty {
        VarType::Boolean => format!("{} = {value}", sys.condition_text(v)),
        _ => format!("{} = {}", sys.condition_text(v), u8::from(value)),
    }
}

/// The explanation if a mode and values of conditions outside its key leave the equations structurally singular.
pub fn singular_mode(
    sys: &mut System,
    ops: &mut RowOps,
    modes: &Modes,
    key: &ModeKey,
    others: &[(VarId, bool)],
) -> Option<Diagnostic> {
    let mut values = modes.values(key);
    values.extend(others.iter().copied());
    let mut text: Vec<String> = Vec::new();
    if !key.is_empty() {
        text.push(key_text(sys, modes, key));
    }
    text.extend(others.iter().map(|&(v, b)| value_text(sys, v, b)));
    singular_with(sys, ops, &values, &text.join(", "))
}

/// Σ-method on the active rows, as if the variables of `asked` occurred differentiated.
fn offsets(
    sys: &mut System,
    ops: &mut RowOps,
    mode: &Mode,
    rows: &[(usize, Row)],
    asked: &[VarId],
) -> Result<Offsets, Diagnostic> {
    let found = find_offsets(sys, mode.values.is_empty(), rows, asked);
    found.map_err(|(mut vars, mut s)| {
        // The equations as the model has them say more to its reader.
        let (written, _) = rows_as_written(sys, ops, &mode.values);
        let mut rows = rows;
        if let Err(found) = find_offsets(sys, mode.values.is_empty(), &written, &[]) {
            ((vars, s), rows) = (found, &written);
        }
        let mut d = explain_singular(sys, mode, rows, &vars, &s);
        d.hints.extend(explain_open(sys, ops, rows, &vars, &s));
        if !s.parts.under_cols.is_empty() {
            for span in sys.vacuous.iter().filter_map(|v| v.0.span).take(4) {
                d = d.label(span, "this says nothing new");
            }
        }
        d
    })
}

/// What is open by numbers, where structure only tells who has part in it, and which equations have turned out to say nothing.
fn explain_open(
    sys: &mut System,
    ops: &mut RowOps,
    rows: &[(usize, Row)],
    vars: &[VarId],
    s: &Singular,
) -> Vec<String> {
    let (open, equations) = (&s.parts.under_cols, &s.parts.under_rows);
    let mut hints = Vec::new();
    if open.is_empty() || open.len() > MOST_OPEN {
        return hints;
    }
    // Derivatives count as a multiple of what they are derivatives of.
    let rate = 0.734_f64;
    let mut entries: Vec<(usize, usize, f64)> = Vec::new();
    for (i, &r) in equations.iter().enumerate() {
        let row = &rows[r as usize].1;
        for (var, order) in crate::modes::continuous_args(sys, row).collect::<std::collections::BTreeSet<_>>() {
            if let Some(j) = open.iter().position(|&j| vars[j as usize] == var) {
                let value = jacobian_entry(sys, ops, row, var, order, &Generic);
                entries.push((i, j, value * rate.powi(order.into())));
            }
        }
    }
    let support = null_support(open.len(), entries.iter().copied());
    let names: Vec<String> = support.iter().map(|&j| sys.dae.vars[vars[open[j] as usize]].name.clone()).collect();
    // All of them may be raised by the same amount.
    let sum = |i: usize| entries.iter().filter(|e| e.0 == i && support.contains(&e.1)).map(|e| e.2).sum::<f64>();
    if names.len() > 1 && (0..equations.len()).all(|i| sum(i).abs() < 1e-9) {
        let names = list(&names, 8);
        hints.push(format!(
            "only differences of {names} are determined: a reference is missing (in a circuit, a ground)"
        ));
    } else if !names.is_empty() && names.len() < open.len() {
        hints.push(format!("with the others as they are, open is: {}", list(&names, 8)));
    }
    let empty: Vec<String> = sys.vacuous.iter().map(|(_, row)| equation_text(&sys.dae, row)).collect();
    if !empty.is_empty() {
        let verb = if empty.len() == 1 { "says" } else { "say" };
        hints.push(format!("{} {verb} nothing new: the other equations imply it", list(&empty, 4)));
    }
    hints
}

/// Unknowns without equation, up to which it is told what is open by numbers.
const MOST_OPEN: usize = 60;

/// The same; without an answer, the variables and what is wrong with the rows.
fn find_offsets(
    sys: &System,
    keyless: bool,
    rows: &[(usize, Row)],
    asked: &[VarId],
) -> Result<Offsets, (Vec<VarId>, Singular)> {
    let mut column: FxHashMap<VarId, u32> = FxHashMap::default();
    let mut vars: Vec<VarId> = Vec::new();
    let mut entries: Vec<Vec<(u32, i32)>> = rows
        .iter()
        .map(|(_, row)| {
            crate::modes::continuous_args(sys, row)
                .map(|(v, o)| {
                    let j = *column.entry(v).or_insert_with(|| {
                        vars.push(v);
                        vars.len() as u32 - 1
                    });
                    (j, i32::from(o))
                })
                .collect()
        })
        .collect();
    // A variable no active equation mentions is inactive in this mode; without modes it lacks an equation.
    if keyless {
        for (id, _) in sys.dae.vars.iter() {
            if sys.role(id) == Role::Continuous && sys.alias[id].is_none() && !column.contains_key(&id) {
                column.insert(id, vars.len() as u32);
                vars.push(id);
            }
        }
    }
    // der(v) read by a row with an unknown of its own, which is forgotten again.
    for (k, v) in asked.iter().enumerate() {
        if let Some(&j) = column.get(v) {
            entries.push(vec![(j, 1), ((vars.len() + k) as u32, 0)]);
        }
    }
    let signature = Signature::from_rows(vars.len() + asked.len(), &entries);
    match sigma_method(&signature) {
        Ok(o) => {
            let c = o.c.iter().take(rows.len()).map(|&c| c as u8).collect();
            let d = vars.iter().zip(&o.d).map(|(&v, &d)| (v, d as u8)).collect();
            Ok((c, d, vars, o.index))
        }
        Err(_) if !asked.is_empty() => find_offsets(sys, keyless, rows, &[]),
        Err(s) => Err((vars, s)),
    }
}

/// Conditions of a key that make a mode structurally singular: those of equations that are too many, and those of equations
/// that have what is left open in some branch.
pub fn singular_conditions(
    sys: &mut System,
    ops: &mut RowOps,
    modes: &Modes,
    key: &ModeKey,
) -> Option<(Vec<VarId>, Vec<VarId>)> {
    let rows = active_rows(sys, ops, modes, key);
    let (vars, singular) = find_offsets(sys, key.is_empty(), &rows, &[]).err()?;
    let keyed: FxHashSet<VarId> = modes.conditions(key).into_iter().collect();
    let conditions = |sys: &System, eq: usize, out: &mut Vec<VarId>| {
        let eq = &sys.equations[eq];
        let mut add = |v: VarId| {
            if keyed.contains(&v) && !out.contains(&v) {
                out.push(v);
            }
        };
        eq.row.args.iter().filter_map(|&a| sys.resolve(a).variable()).for_each(&mut add);
        let mut at = eq.guard;
        while let Some((g, _)) = at {
            sys.groups[g].conditions.iter().copied().for_each(&mut add);
            at = sys.groups[g].parent;
        }
    };
    let (mut over, mut under) = (Vec::new(), Vec::new());
    for &i in &singular.parts.over_rows {
        conditions(sys, rows[i as usize].0, &mut over);
    }
    let open: FxHashSet<VarId> = singular.parts.under_cols.iter().map(|&j| vars[j as usize]).collect();
    for eq in 0..sys.equations.len() {
        if sys.equations[eq].row.args.iter().any(|a| a.variable().is_some_and(|v| open.contains(&v))) {
            conditions(sys, eq, &mut under);
        }
    }
    Some((over, under))
}

/// Orders the evaluation of the continuous part and of the whole.
fn sequence(sys: &mut System, ops: &mut RowOps, modes: &Modes, plan: &mut StructuralPlan) -> Result<(), Diagnostic> {
    let unknowns = unknown_cells(&plan.vars, &plan.d, &plan.states);
    let mut items: Vec<Item> = Vec::new();
    for (i, levels) in plan.levels.iter().enumerate() {
        for (k, row) in levels.iter().enumerate() {
            items.push(Item::Residual { row: row.clone(), eq: plan.rows[i].0, level: k as u8 });
        }
    }
    let problem = Problem::new(sys, items, unknowns);
    let matching = problem.matching(sys, ops);
    if !matching.is_perfect() {
        let mode = Mode { values: modes.values(&plan.key), text: key_text(sys, modes, &plan.key) };
        return Err(explain_unmatched(sys, &mode, &problem, &matching));
    }
    plan.continuous = problem.blocks(&matching);
    order_events(sys, plan, problem, &matching)
}

/// The event system: the continuous one, already matched, with the discrete part.
pub(crate) fn order_events(
    sys: &System,
    plan: &mut StructuralPlan,
    mut problem: Problem,
    matching: &Matching,
) -> Result<(), Diagnostic> {
    let n = problem.items.len();
    for d in &sys.discrete {
        let cell = Cell::new(d.var, 0);
        problem.add_unknown(cell);
        let item = match &d.kind {
            DiscKind::Value(row) => Item::Value { cell, row: row.clone() },
            DiscKind::Relation(index) => Item::Relation { cell, index: *index },
            DiscKind::When(when, values) => Item::When { cell, when: *when, values: values.clone() },
        };
        problem.items.push(item);
    }
    let mut full = Matching::empty(problem.items.len(), problem.unknowns.len());
    for i in 0..n {
        full.row_to_col[i] = matching.row_to_col[i];
        full.col_to_row[matching.row_to_col[i] as usize] = i as u32;
    }
    for (i, item) in problem.items.iter().enumerate().skip(n) {
        let Some(cell) = item.target() else { continue };
        let j = problem.column[&cell];
        if full.col_to_row[j as usize] != NONE {
            let name = &sys.dae.vars[cell.var].name;
            let d = &sys.discrete[i - n];
            let mut e = Diagnostic::error(
                Stage::Structure,
                d.origin.span.unwrap_or(Span::NONE),
                format!("the model is structurally singular: discrete variable {name} is determined by two equations"),
            )
            .within(d.origin.instance.clone());
            let other = sys.discrete[..i - n].iter().find(|o| o.var == d.var);
            if let Some(s) = other.and_then(|o| o.origin.span) {
                e = e.label(s, "the other one");
            }
            if other.is_some_and(|o| matches!((&o.kind, &d.kind), (DiscKind::When(..), DiscKind::When(..)))) {
                e = e.hint(format!("one when-clause with elsewhen can set {name} in both cases"));
            }
            return Err(e);
        }
        full.row_to_col[i] = j;
        full.col_to_row[j as usize] = i as u32;
    }
    full.size = problem.items.len();
    problem.edges(sys);
    plan.event = problem.blocks(&full);
    plan.early = early_blocks(sys, &plan.event);
    Ok(())
}

/// Discrete blocks that depend on nothing an event may change but on other such blocks.
fn early_blocks(sys: &System, event: &Sequence) -> Vec<usize> {
    let mut out = Vec::new();
    // Continuous unknowns that read discrete variables, discrete variables that read those.
    let mut touched: FxHashSet<Cell> = FxHashSet::default();
    let owner: FxHashMap<Cell, usize> =
        event.blocks.iter().enumerate().flat_map(|(k, b)| b.unknowns.iter().map(move |&c| (c, k))).collect();
    for (k, b) in event.blocks.iter().enumerate() {
        let own = |c: &Cell| owner.get(c) == Some(&k);
        let discrete = |c: &Cell| c.order >= 0 && sys.role(c.var) == Role::Discrete;
        let reads = || b.items.iter().flat_map(|&i| event.items[i].reads(sys)).filter(|c| !own(c));
        // An equation that another mode writes differently is solved anew, whatever this mode reads.
        let varies = |i: usize| match &event.items[i] {
            Item::Residual { eq, .. } => sys.equations.get(*eq).is_some_and(|e| {
                e.guard.is_some() || e.row.args.iter().filter_map(|&a| Cell::of(a)).any(|c| discrete(&c))
            }),
            _ => false,
        };
        let all_discrete = b.unknowns.iter().all(discrete);
        let late = reads().any(|c| touched.contains(&c));
        if all_discrete && !late {
            out.push(k);
        } else if all_discrete || late || b.unknowns.iter().any(discrete) || b.items.iter().any(|&i| varies(i)) {
            touched.extend(&b.unknowns);
        }
    }
    out
}

/// Items against unknowns, before ordering.
pub(crate) struct Problem {
    pub items: Vec<Item>,
    pub unknowns: Vec<Cell>,
    pub column: FxHashMap<Cell, u32>,
    /// Who reads what: decides the order.
    pub graph: Bipartite,
    /// Who may determine what: definitions determine their own target (or, `x := pre(y)`, the previous value).
    pub candidates: Bipartite,
}

impl Problem {
    pub fn new(sys: &System, items: Vec<Item>, unknowns: Vec<Cell>) -> Problem {
        let column = unknowns.iter().enumerate().map(|(j, &c)| (c, j as u32)).collect();
        let mut p = Problem { items, unknowns, column, graph: Bipartite::default(), candidates: Bipartite::default() };
        p.edges(sys);
        p
    }

    pub fn add_unknown(&mut self, cell: Cell) {
        if !self.column.contains_key(&cell) {
            self.column.insert(cell, self.unknowns.len() as u32);
            self.unknowns.push(cell);
        }
    }

    /// Rebuilds the incidence graph.
    pub fn edges(&mut self, sys: &System) {
        let rows: Vec<Vec<u32>> = self
            .items
            .iter()
            .map(|item| {
                let mut cols: Vec<u32> = item
                    .reads(sys)
                    .iter()
                    .chain(item.target().iter())
                    .filter_map(|c| self.column.get(c).copied())
                    .collect();
                cols.sort_unstable();
                cols.dedup();
                cols
            })
            .collect();
        let candidates: Vec<Vec<u32>> = self
            .items
            .iter()
            .zip(&rows)
            .map(|(item, all)| match item {
                Item::Residual { .. } => all.clone(),
                Item::Value { cell, row } => {
                    // `x := pre(y)` may also give pre(y) its value, `x := y` give it to y.
                    let copied = match (&*row.args, sys.dae.pool.node(row.template)) {
                        ([Operand::Pre { var }], saltus_expr::Node::Hole(0)) => self.column.get(&Cell::pre(*var)),
                        ([Operand::Var { var, order: 0, neg: false }], saltus_expr::Node::Hole(0))
                            if sys.role(*var) == Role::Discrete =>
                        {
                            self.column.get(&Cell::new(*var, 0))
                        }
                        _ => None,
                    };
                    self.column.get(cell).into_iter().chain(copied).copied().collect()
                }
                other => other.target().and_then(|c| self.column.get(&c).copied()).into_iter().collect(),
            })
            .collect();
        self.graph = Bipartite::from_rows(self.unknowns.len(), &rows);
        self.candidates = Bipartite::from_rows(self.unknowns.len(), &candidates);
    }

    /// Cost class of solving item i for column j.
    pub fn class(&self, sys: &mut System, ops: &mut RowOps, i: usize, j: u32) -> u8 {
        let cell = self.unknowns[j as usize];
        match &self.items[i] {
            Item::Residual { row, .. } => {
                let ks: Vec<usize> = (0..row.args.len()).filter(|&k| Cell::of(row.args[k]) == Some(cell)).collect();
                if ks.len() != 1 {
                    return 4;
                }
                match ops.classify(&mut sys.dae, row, ks[0]) {
                    Coefficient::Unit => 0,
                    Coefficient::Constant => 1,
                    Coefficient::Parameter => 2,
                    Coefficient::Varying => 3,
                    Coefficient::Nonlinear | Coefficient::Absent => 4,
                }
            }
            item => u8::from(item.target() != Some(cell)) * 5,
        }
    }

    /// A maximum matching that prefers easily solved pairs.
    pub fn matching(&self, sys: &mut System, ops: &mut RowOps) -> Matching {
        let classes: Vec<u8> = self.candidates.edges().map(|(_, i, j)| self.class(sys, ops, i as usize, j)).collect();
        weighted_matching(&self.candidates, |e| classes[e])
    }

    /// Blocks in evaluation order; unmatched items are left out.
    pub fn blocks(&self, m: &Matching) -> Sequence {
        let order = block_order(&self.graph, m);
        let blocks = order
            .into_iter()
            .filter_map(|rows| {
                let items: Vec<usize> = rows.iter().map(|&i| i as usize).filter(|&i| m.row_to_col[i] != NONE).collect();
                let unknowns = items.iter().map(|&i| self.unknowns[m.row_to_col[i] as usize]).collect();
                (!items.is_empty()).then_some(Block { items, unknowns })
            })
            .collect();
        Sequence { items: self.items.clone(), blocks }
    }
}

fn list(names: &[String], max: usize) -> String {
    let mut s = names.iter().take(max).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > max {
        s.push_str(&format!(", … ({} in all)", names.len()));
    }
    s
}

fn explain_singular(sys: &System, mode: &Mode, rows: &[(usize, Row)], vars: &[VarId], s: &Singular) -> Diagnostic {
    let names =
        |cols: &[u32]| -> Vec<String> { cols.iter().map(|&j| sys.dae.vars[vars[j as usize]].name.clone()).collect() };
    let mut message = format!(
        "the model is structurally singular{}: {} equations for {} unknowns",
        mode.suffix(),
        rows.len(),
        vars.len()
    );
    let mut hints = Vec::new();
    let p = &s.parts;
    if !p.under_cols.is_empty() {
        message.push_str(&format!("; not determined: {}", list(&names(&p.under_cols), 8)));
        let mentioned: FxHashSet<VarId> =
            rows.iter().flat_map(|(_, r)| crate::modes::continuous_args(sys, r).map(|a| a.0)).collect();
        let lost: Vec<u32> = p.under_cols.iter().copied().filter(|&j| !mentioned.contains(&vars[j as usize])).collect();
        let missing = p.under_cols.len() - p.under_rows.len().min(p.under_cols.len());
        let among = if missing == 1 { "an equation is".into() } else { format!("{missing} equations are") };
        hints.push(format!("{among} missing for one of: {}", list(&names(&p.under_cols), 8)));
        if !lost.is_empty() {
            let verb = if lost.len() == 1 { "occurs" } else { "occur" };
            hints.push(format!("{} {verb} in no equation", list(&names(&lost), 8)));
        }
    }
    // Equations without any unknown, and those that compete for the same ones.
    let (empty, crowded): (Vec<u32>, Vec<u32>) =
        p.over_rows.iter().partition(|&&i| crate::modes::continuous_args(sys, &rows[i as usize].1).next().is_none());
    let text = |i: &u32| equation_text(&sys.dae, &rows[*i as usize].1);
    if !crowded.is_empty() {
        message.push_str(&format!("; determined more than once: {}", list(&names(&p.over_cols), 8)));
        let over: Vec<String> = crowded.iter().map(text).collect();
        hints.push(format!("one of these equations is too many: {}", list(&over, 6)));
        // The last of them, in the order of the source, against those it shares unknowns with.
        if let Some((last, others)) = crowded.split_last() {
            let mine: FxHashSet<VarId> =
                crate::modes::continuous_args(sys, &rows[*last as usize].1).map(|a| a.0).collect();
            let against: Vec<String> = others
                .iter()
                .filter(|&&i| crate::modes::continuous_args(sys, &rows[i as usize].1).any(|a| mine.contains(&a.0)))
                .map(text)
                .collect();
            hints.push(format!(
                "for example {}: {} already follow{} from {}",
                text(last),
                list(
                    &mine
                        .iter()
                        .map(|&v| sys.dae.vars[v].name.clone())
                        .collect::<std::collections::BTreeSet<_>>()
                        .into_iter()
                        .collect::<Vec<_>>(),
                    4
                ),
                if mine.len() == 1 { "s" } else { "" },
                list(&against, 4)
            ));
        }
    }
    let mut against: Vec<Span> = Vec::new();
    for i in &empty {
        let row = &rows[*i as usize].1;
        let known: std::collections::BTreeSet<String> = row
            .args
            .iter()
            .filter_map(|a| a.variable())
            .map(|v| {
                let var = &sys.dae.vars[v];
                let what = match (var.variability, sys.role(v)) {
                    (saltus_dae::Variability::Constant, _) => "a constant",
                    (saltus_dae::Variability::Parameter, _) => "a parameter",
                    (_, Role::Discrete) => "discrete",
                    _ => "given",
                };
                format!("{} is {what}", var.name)
            })
            .collect();
        let known: Vec<String> = known.into_iter().collect();
        // What it was before its unknowns became constants, and who made them so.
        let origin = sys.equations[rows[*i as usize].0].origin_in(&|v| mode.values.get(&v).copied());
        let before = sys.emptied.iter().find(|e| e.0.span == origin.span && e.0.instance == origin.instance);
        if let Some((_, old)) = before.filter(|_| known.is_empty()) {
            let text = equation_text(&sys.dae, old);
            message.push_str(&format!("; {text} has no unknown left"));
            let settled = old.args.iter().filter_map(|a| sys.settled.get(&a.variable()?).zip(a.variable()));
            for ((origin, row), v) in settled {
                let other = equation_text(&sys.dae, row);
                hints.push(format!(
                    "{} already follows from {other}: one of {other} and {text} is too many",
                    sys.dae.vars[v].name
                ));
                against.extend(origin.span);
            }
            continue;
        }
        // Factors that are zero in this mode.
        let whole = &sys.equations[rows[*i as usize].0].row;
        let mut zeros: Vec<String> = whole
            .args
            .iter()
            .filter_map(|a| a.variable())
            .filter(|v| sys.dae.vars[*v].ty != VarType::Boolean && mode.values.get(v) == Some(&false))
            .map(|v| sys.dae.vars[v].name.clone())
            .collect();
        zeros.dedup();
        message.push_str(&format!("; the equation {} has no unknown", text(i)));
        hints.push(if !zeros.is_empty() {
            format!("with {} zero nothing else is left of {}", list(&zeros, 4), equation_text(&sys.dae, whole))
        } else if known.is_empty() {
            "other equations have made constants of its variables: one of them is too many".into()
        } else {
            format!("{}: the equation determines nothing", list(&known, 4))
        });
    }
    let first = s.parts.over_rows.first().or(s.parts.under_rows.first()).map(|&i| rows[i as usize].0);
    let origin = first.map(|i| sys.equations[i].origin_in(&|v| mode.values.get(&v).copied()));
    let span = origin
        .and_then(|o| o.span)
        .or_else(|| s.parts.under_cols.first().and_then(|&j| sys.dae.vars[vars[j as usize]].origin.span));
    let mut d = Diagnostic::error(Stage::Structure, span.unwrap_or(Span::NONE), message);
    if let Some(o) = origin {
        d = d.within(o.instance.clone());
    }
    for &i in s.parts.over_rows.iter().skip(1).take(5) {
        let origin = sys.equations[rows[i as usize].0].origin_in(&|v| mode.values.get(&v).copied());
        if let Some(span) = origin.span {
            d = d.label(span, "against this equation");
        }
    }
    for &span in against.iter().take(5) {
        d = d.label(span, "against this equation");
    }
    d.hints = hints;
    d
}

/// Constraints that say the same, and what is open because of that.
fn explain_dependent(
    sys: &mut System,
    ops: &mut RowOps,
    mode: &Mode,
    plan: &StructuralPlan,
    dependent: &[usize],
) -> Diagnostic {
    let mut entries: Vec<(usize, usize, f64)> = Vec::new();
    for (i, (_, row)) in plan.rows.iter().enumerate() {
        for (var, order) in crate::modes::continuous_args(sys, row).collect::<std::collections::BTreeSet<_>>() {
            if let Some(j) = plan.vars.iter().position(|v| *v == var)
                && plan.d[&var] == order + plan.c[i]
            {
                entries.push((i, j, jacobian_entry(sys, ops, row, var, order, &Generic)));
            }
        }
    }
    let open = null_support(plan.vars.len(), entries.into_iter());
    let open: Vec<String> = open.into_iter().map(|j| sys.dae.vars[plan.vars[j]].name.clone()).collect();
    let texts: Vec<String> = dependent.iter().map(|&i| equation_text(&sys.dae, &plan.rows[i].1)).collect();
    let mut message = format!("the model is singular{}: {} depend on each other", mode.suffix(), list(&texts, 6));
    if !open.is_empty() {
        message.push_str(&format!("; not determined: {}", list(&open, 8)));
    }
    let origin = |i: usize| sys.equations[plan.rows[i].0].origin_in(&|v| mode.values.get(&v).copied());
    let spans: Vec<Span> = dependent.iter().rev().filter_map(|&i| origin(i).span).collect();
    let mut d = Diagnostic::error(Stage::Structure, spans.first().copied().unwrap_or(Span::NONE), message)
        .hint(format!("one of these equations is too many: {}", list(&texts, 6)));
    for &span in spans.iter().skip(1).take(5) {
        d = d.label(span, "against this equation");
    }
    match dependent.last() {
        Some(&i) => d.within(origin(i).instance.clone()),
        None => d,
    }
}

fn explain_unmatched(sys: &System, mode: &Mode, p: &Problem, m: &Matching) -> Diagnostic {
    let cols: Vec<String> = m.free_cols().map(|j| sys.dae.vars[p.unknowns[j as usize].var].name.clone()).collect();
    let rows: Vec<String> = m
        .free_rows()
        .filter_map(|i| match &p.items[i as usize] {
            Item::Residual { row, .. } => Some(equation_text(&sys.dae, row)),
            _ => None,
        })
        .collect();
    let span = m.free_rows().find_map(|i| match &p.items[i as usize] {
        Item::Residual { eq, .. } => {
            sys.equations.get(*eq).and_then(|e| e.origin_in(&|v| mode.values.get(&v).copied()).span)
        }
        _ => None,
    });
    Diagnostic::error(
        Stage::Structure,
        span.unwrap_or(Span::NONE),
        format!(
            "no order of evaluation{}: not determined: {}; equations left over: {}",
            mode.suffix(),
            list(&cols, 8),
            list(&rows, 8)
        ),
    )
}
