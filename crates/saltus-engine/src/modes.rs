//! All modes ahead of time: which are structurally singular.
//!
//! Guards become Boolean functions of what is not a function of other guards (relations, memories); equations are matched
//! to variables in all modes at once (`saltus_graph::modal_matching`), and what is left over tells the singular modes.
//!
//! A condition that follows from time and parameters alone will come true by itself: a singular mode it leads into is
//! an error. Other singular modes are warnings; entering one stops the run.

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_base::{Diagnostic, Severity, Span, Stage};
use saltus_dae::{Action, HybridDae, Operand, Row, StateSelect, VarId, VarType, Variability, equation_text};
use saltus_expr::{Binary, ExprId, NoCalls, Node, RelOp, Unary, affine_in};
use saltus_graph::{Bdd, Bdds, modal_matching};
use saltus_structure::{
    Cell, DiscKind, Generic, ModeKey, Modes, Reaction, RelationKind, Role, RowOps, System, constraint_shape, plan_mode,
    singular_mode, singular_with, specialise, value_text,
};

/// How far modes are looked at ahead of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Before a run, which must not wait for it.
    Quick,
    /// Where this is what was asked for.
    Thorough,
}

impl Depth {
    /// Nodes of decision diagrams made before giving up.
    fn nodes(self) -> usize {
        match self {
            Depth::Quick => 100_000,
            Depth::Thorough => 1_000_000,
        }
    }
}

/// Neighbouring thresholds whose order is used; beyond, more modes than can occur are looked at.
const MOST_THRESHOLDS: usize = 64;

/// Singular modes that are shown.
const SHOWN: usize = 3;

/// Finds the structurally singular modes.
pub fn check_modes(
    sys: &mut System,
    ops: &mut RowOps,
    modes: &mut Modes,
    span: (f64, f64),
    depth: Depth,
) -> Vec<Diagnostic> {
    let misplaced = reinit_of_algebraic(sys);
    let factors = vanishing(sys);
    let keyless = modes.next(sys, ops, &[]).is_empty();
    let plain = keyless && modes.suspects(&[]).is_empty();
    if !misplaced.is_empty() || (plain && factors.is_empty()) {
        return misplaced;
    }
    let mut planned: Vec<ModeKey> = Vec::new();
    for (key, suspects) in modes_by_time(sys, ops, modes, &factors, span) {
        if !planned.contains(&key) {
            if let Err(d) = plan_mode(sys, ops, modes, &key, &Generic) {
                return vec![d];
            }
            planned.push(key.clone());
        }
        if !suspects.is_empty()
            && let Some(d) = singular_mode(sys, ops, modes, &key, &suspects)
        {
            return vec![d];
        }
    }
    // A factor that the run starts with.
    for &v in factors.iter().filter(|_| keyless) {
        let var = &sys.dae.vars[v];
        let zero = var.fixed == Some(true) && var.start.as_ref().is_some_and(|r| sys.dae.row_constant(r) == Some(0.0));
        let text = value_text(sys, v, false);
        if zero && let Some(d) = singular_with(sys, ops, &[(v, false)].into_iter().collect(), &text) {
            return vec![d];
        }
    }
    let mut guards = Guards::new(sys);
    guards.nodes = depth.nodes();
    // Conditions that decide nothing are not followed.
    guards.factors_only = plain;
    guards.system(sys);
    guards.dummies(sys);
    let mut out = Vec::new();
    let total = guards.rows.len();
    let left = modal_matching(&mut guards.bdds, &guards.rows, &guards.cols, &guards.edges, guards.nodes);
    let mut singular = Bdd::FALSE;
    if left.examined == total {
        for f in left.rows.iter().chain(&left.cols) {
            singular = guards.bdds.or(singular, *f);
        }
    } else {
        for f in &left.rows {
            singular = guards.bdds.or(singular, *f);
        }
        out.push(Diagnostic::warning(
            Stage::Structure,
            Span::NONE,
            format!(
                "the check of all modes is not finished: {} of {total} equations examined in all their modes",
                left.examined
            ),
        ));
    }
    let appearing = guards.appearing(sys);
    let repeated = if plain { Vec::new() } else { guards.repeated(sys, ops) };
    if !singular.is_false() || !appearing.is_empty() || !repeated.is_empty() {
        guards.invariants(sys);
        singular = guards.bdds.and(singular, guards.invariant);
    }
    let conditions: Vec<VarId> = guards.conditions();
    // What inputs alone lead into is an error.
    let given = guards.given(sys, singular);
    if let Some(cube) = guards.bdds.cube(given)
        && let Some(d) = guards.explain(sys, ops, &conditions, &cube)
    {
        return vec![d.hint("inputs alone lead into this mode; an assert over them would exclude it")];
    }
    for (v, without, with) in appearing {
        out.extend(guards.under_specified(sys, ops, modes, v, without, with));
    }
    let mut shown = 0;
    for (when, [first, second]) in repeated {
        // Where structure tells as much, it is told below.
        let when = guards.bdds.and(when, guards.invariant);
        let when = guards.bdds.minus(when, singular);
        let Some(cube) = guards.bdds.cube(when).filter(|_| shown < SHOWN) else { continue };
        shown += 1;
        let text = guards.cube_text(sys, &cube);
        let [a, b] = [&first, &second].map(|e| equation_text(&sys.dae, &e.1));
        let message = format!("the model is singular in the mode {text}: {a} and {b} depend on each other");
        let mut d = Diagnostic::warning(Stage::Structure, second.0.unwrap_or(Span::NONE), message);
        if let Some(span) = first.0 {
            d = d.label(span, "against this equation");
        }
        out.push(d);
    }
    let mut shown = 0;
    while let Some(cube) = guards.bdds.cube(singular) {
        if shown == SHOWN {
            out.push(Diagnostic::warning(
                Stage::Structure,
                Span::NONE,
                format!("and more singular modes, one of them: {}", guards.cube_text(sys, &cube)),
            ));
            break;
        }
        shown += 1;
        if let Some(mut d) = guards.explain(sys, ops, &conditions, &cube) {
            d.severity = Severity::Warning;
            out.push(d);
        }
        // All modes that share these values.
        let mut modes = Bdd::TRUE;
        for (x, up) in cube {
            let v = guards.bdds.var(x);
            let v = if up { v } else { guards.bdds.not(v) };
            modes = guards.bdds.and(modes, v);
        }
        singular = guards.bdds.minus(singular, modes);
    }
    out
}

/// What a Boolean variable of the diagrams stands for.
#[derive(Clone, Debug, PartialEq)]
enum Atom {
    /// A condition with memory, or a function of numbers that is not looked into.
    Condition(VarId),
    /// `variable == value`.
    Equal(Operand, f64),
}

/// A relation with a constant: expression (none: a bare variable), its operands, constant, whether the relation is true
/// above it, the atom.
type Threshold = (Option<ExprId>, Vec<Operand>, f64, bool, u32);

/// An equation as it stands in some modes, and where it comes from.
type Placed = (Option<Span>, Row);

/// Guards as Boolean functions, and the guarded incidence.
struct Guards {
    bdds: Bdds,
    atoms: Vec<Atom>,
    formulas: FxHashMap<VarId, Bdd>,
    /// Which discrete equation defines a variable.
    definition: FxHashMap<VarId, usize>,
    /// What no mode can violate: values exclude each other, assertions hold.
    invariant: Bdd,
    rows: Vec<Bdd>,
    cols: Vec<Bdd>,
    edges: Vec<Vec<(u32, Bdd)>>,
    /// The variable of each column, and the modes in which it occurs differentiated.
    variables: Vec<(VarId, Bdd)>,
    /// Discrete numbers that stand in equations, and the modes in which they are zero.
    zeros: FxHashMap<VarId, Bdd>,
    /// Only factors that may be zero matter: both branches of a conditional count as read.
    factors_only: bool,
    /// How many nodes of decision diagrams may be made.
    nodes: usize,
}

impl Guards {
    fn new(sys: &System) -> Guards {
        Guards {
            bdds: Bdds::default(),
            atoms: Vec::new(),
            formulas: FxHashMap::default(),
            definition: sys.discrete.iter().enumerate().map(|(k, d)| (d.var, k)).collect(),
            invariant: Bdd::TRUE,
            rows: Vec::new(),
            cols: Vec::new(),
            edges: Vec::new(),
            variables: Vec::new(),
            zeros: FxHashMap::default(),
            factors_only: false,
            nodes: Depth::Quick.nodes(),
        }
    }

    fn atom(&mut self, atom: Atom) -> Bdd {
        let k = self.atoms.iter().position(|a| *a == atom).unwrap_or_else(|| {
            self.atoms.push(atom);
            self.atoms.len() - 1
        });
        self.bdds.var(k as u32)
    }

    fn atom_text(&self, sys: &System, k: usize) -> String {
        match &self.atoms[k] {
            Atom::Condition(v) => sys.condition_text(*v),
            Atom::Equal(op, value) => {
                let name = op.variable().map_or_else(String::new, |v| sys.dae.vars[v].name.clone());
                let name = if matches!(op, Operand::Pre { .. }) { format!("pre({name})") } else { name };
                format!("({name} == {value})")
            }
        }
    }

    fn cube_text(&self, sys: &System, cube: &[(u32, bool)]) -> String {
        let parts = cube.iter().map(|&(x, up)| format!("{} = {up}", self.atom_text(sys, x as usize)));
        parts.collect::<Vec<_>>().join(", ")
    }

    /// What is singular where the atoms of a cube have these values.
    fn explain(
        &self,
        sys: &mut System,
        ops: &mut RowOps,
        conditions: &[VarId],
        cube: &[(u32, bool)],
    ) -> Option<Diagnostic> {
        let value = |x: u32| cube.iter().find(|c| c.0 == x).is_some_and(|c| c.1);
        let mut values: FxHashMap<VarId, bool> =
            conditions.iter().map(|&v| (v, self.bdds.eval(self.formulas[&v], value))).collect();
        // A number that is zero stands in the equations like a condition that is false.
        values.extend(self.zeros.iter().filter(|(_, f)| self.bdds.eval(**f, value)).map(|(&v, _)| (v, false)));
        singular_with(sys, ops, &values, &self.cube_text(sys, cube))
    }

    /// Whether inputs alone decide an atom, each value of which some input gives: a Boolean input, an input compared with a
    /// constant.
    fn is_given(&self, sys: &System, k: usize) -> bool {
        match &self.atoms[k] {
            Atom::Equal(op, _) => op.variable().is_some_and(|v| sys.is_input(v)),
            Atom::Condition(v) => match self.definition.get(v).map(|&d| &sys.discrete[d].kind) {
                None => sys.is_input(*v),
                Some(DiscKind::Relation(i)) => {
                    let r = &sys.relations[*i];
                    let variables: Vec<VarId> = r.g.args.iter().filter_map(|a| a.variable()).collect();
                    matches!(&variables[..], [v] if sys.is_input(*v))
                        && matches!(r.kind, RelationKind::Sign(_))
                        && affine(sys, r.g.template)
                }
                Some(_) => false,
            },
        }
    }

    /// The values of inputs with which the modes are singular, whatever the other conditions are.
    fn given(&mut self, sys: &System, singular: Bdd) -> Bdd {
        let (given, others): (Vec<usize>, Vec<usize>) = (0..self.atoms.len()).partition(|&k| self.is_given(sys, k));
        if singular.is_false() || given.is_empty() {
            return Bdd::FALSE;
        }
        let impossible = self.bdds.not(self.invariant);
        let (mut always, mut possible) = (self.bdds.or(singular, impossible), self.invariant);
        for k in others {
            always = self.bdds.for_all(always, k as u32);
            possible = self.bdds.exists(possible, k as u32);
        }
        self.bdds.and(always, possible)
    }

    /// The Boolean function a discrete variable is.
    fn formula(&mut self, sys: &System, v: VarId) -> Bdd {
        let v = match sys.resolve(Operand::var(v)) {
            Operand::Const(c) => return if c != 0.0 { Bdd::TRUE } else { Bdd::FALSE },
            op => op.variable().unwrap_or(v),
        };
        if let Some(&f) = self.formulas.get(&v) {
            return f;
        }
        // A definition that comes back to itself is a memory of its own.
        let own = self.atom(Atom::Condition(v));
        self.formulas.insert(v, own);
        let f = match self.definition.get(&v).map(|&k| &sys.discrete[k].kind) {
            // A function of very many is not looked into.
            Some(DiscKind::Value(row)) if row.args.len() <= 24 => {
                let row = row.clone();
                self.expression(sys, &row, row.template)
            }
            _ => None,
        };
        let f = f.unwrap_or(own);
        self.formulas.insert(v, f);
        f
    }

    /// The Boolean function an expression is, if it is one of discrete variables.
    fn expression(&mut self, sys: &System, row: &Row, e: ExprId) -> Option<Bdd> {
        Some(match *sys.dae.pool.node(e) {
            Node::Const(bits) => {
                if f64::from_bits(bits) != 0.0 {
                    Bdd::TRUE
                } else {
                    Bdd::FALSE
                }
            }
            Node::Hole(k) => match row.args[k as usize] {
                Operand::Var { var, order: 0, .. }
                    if sys.dae.vars[var].ty == VarType::Boolean && sys.may_guard(var) =>
                {
                    self.formula(sys, var)
                }
                _ => return None,
            },
            Node::Unary(Unary::Not, a) => {
                let a = self.expression(sys, row, a)?;
                self.bdds.not(a)
            }
            Node::Binary(Binary::And, a, b) => {
                let (a, b) = (self.expression(sys, row, a)?, self.expression(sys, row, b)?);
                self.bdds.and(a, b)
            }
            Node::Binary(Binary::Or, a, b) => {
                let (a, b) = (self.expression(sys, row, a)?, self.expression(sys, row, b)?);
                self.bdds.or(a, b)
            }
            Node::If(c, a, b) => {
                let c = self.expression(sys, row, c)?;
                let (a, b) = (self.expression(sys, row, a)?, self.expression(sys, row, b)?);
                let yes = self.bdds.and(c, a);
                let no = self.bdds.minus(b, c);
                self.bdds.or(yes, no)
            }
            Node::Binary(op @ (Binary::Eq | Binary::Ne), a, b) => {
                let side = |e| match sys.dae.pool.node(e) {
                    Node::Hole(k) => Some(row.args[*k as usize]),
                    Node::Const(bits) => Some(Operand::Const(f64::from_bits(*bits))),
                    _ => None,
                };
                let (x, c) = match (side(a)?, side(b)?) {
                    (x, Operand::Const(c)) | (Operand::Const(c), x) => (x, c),
                    _ => return None,
                };
                if x.variable().is_none_or(|v| !sys.may_guard(v)) {
                    return None;
                }
                let f = self.atom(Atom::Equal(x, c));
                if op == Binary::Ne { self.bdds.not(f) } else { f }
            }
            _ => return None,
        })
    }

    /// The modes in which a branch is the chosen one.
    fn guard(&mut self, sys: &System, guard: Option<(usize, u32)>) -> Bdd {
        let mut f = Bdd::TRUE;
        let mut at = guard;
        while let Some((g, branch)) = at {
            let group = &sys.groups[g];
            for (k, &c) in group.conditions.iter().enumerate().take(branch as usize + 1) {
                let c = self.formula(sys, c);
                f = if k == branch as usize { self.bdds.and(f, c) } else { self.bdds.minus(f, c) };
            }
            at = group.parent;
        }
        f
    }

    /// Pairs of conditional equations that say the same of the same unknowns, with the modes in which both hold.
    fn repeated(&mut self, sys: &mut System, ops: &mut RowOps) -> Vec<(Bdd, [Placed; 2])> {
        let mut known: FxHashMap<Vec<(Cell, i64)>, Vec<(usize, Bdd, Row)>> = FxHashMap::default();
        let mut out = Vec::new();
        for k in 0..sys.equations.len() {
            let eq = sys.equations[k].clone();
            let conditions: FxHashSet<VarId> = eq.row.args.iter().filter_map(|a| a.variable()).collect();
            let is = |v: &VarId| sys.dae.vars[*v].ty == VarType::Boolean && sys.may_guard(*v);
            let mut conditions: Vec<VarId> = conditions.into_iter().filter(is).collect();
            conditions.sort_unstable();
            if conditions.len() > 2 || (conditions.is_empty() && eq.guard.is_none()) {
                continue;
            }
            let exists = self.guard(sys, eq.guard);
            for values in 0..1u32 << conditions.len() {
                let value = |v: VarId| conditions.iter().position(|c| *c == v).map(|i| values >> i & 1 == 1);
                let row = specialise(sys, ops, &eq.row, value);
                let Some(shape) = constraint_shape(sys, ops, &row) else { continue };
                let mut when = exists;
                for (i, &c) in conditions.iter().enumerate() {
                    let f = self.formula(sys, c);
                    when = if values >> i & 1 == 1 { self.bdds.and(when, f) } else { self.bdds.minus(when, f) };
                }
                let same = known.entry(shape).or_default();
                for (other, also, old) in same.iter().filter(|s| s.0 != k) {
                    let both = self.bdds.and(when, *also);
                    if !both.is_false() {
                        let place = |eq: usize, row: &Row| (sys.equations[eq].origin.span, row.clone());
                        out.push((both, [place(*other, old), place(k, &row)]));
                    }
                }
                same.push((k, when, row));
            }
        }
        out
    }

    /// Rows, columns and edges with the modes in which they exist.
    fn system(&mut self, sys: &System) {
        let mut column: FxHashMap<VarId, u32> = FxHashMap::default();
        for eq in &sys.equations {
            let exists = self.guard(sys, eq.guard);
            let mut present: Vec<Bdd> = vec![Bdd::FALSE; eq.row.args.len()];
            self.incidence(sys, &eq.row, eq.row.template, exists, &mut present, 0);
            let mut list: Vec<(u32, Bdd)> = Vec::new();
            for (a, when) in eq.row.args.iter().zip(present) {
                let Operand::Var { var, order, .. } = *a else { continue };
                if sys.role(var) != Role::Continuous || when.is_false() {
                    continue;
                }
                let j = *column.entry(var).or_insert_with(|| {
                    self.cols.push(Bdd::FALSE);
                    self.variables.push((var, Bdd::FALSE));
                    self.cols.len() as u32 - 1
                });
                if order > 0 {
                    let moving = self.variables[j as usize].1;
                    self.variables[j as usize].1 = self.bdds.or(moving, when);
                }
                self.cols[j as usize] = self.bdds.or(self.cols[j as usize], when);
                match list.iter_mut().find(|e| e.0 == j) {
                    Some(e) => e.1 = self.bdds.or(e.1, when),
                    None => list.push((j, when)),
                }
            }
            self.rows.push(exists);
            self.edges.push(list);
        }
    }

    /// Dummy equations take part in the modes in which the others leave one of their variables open.
    fn dummies(&mut self, sys: &System) {
        let dummies: Vec<usize> = (0..sys.equations.len()).filter(|&i| sys.equations[i].origin.is_dummy()).collect();
        let declared: Vec<Bdd> = dummies.iter().map(|&i| std::mem::replace(&mut self.rows[i], Bdd::FALSE)).collect();
        let edges: Vec<_> = dummies.iter().map(|&i| std::mem::take(&mut self.edges[i])).collect();
        for (k, &i) in dummies.iter().enumerate() {
            let left = modal_matching(&mut self.bdds, &self.rows, &self.cols, &self.edges, self.nodes);
            let mut open = Bdd::FALSE;
            for f in &left.cols {
                open = self.bdds.or(open, *f);
            }
            let needed = self.bdds.and(declared[k], open);
            self.rows[i] = needed;
            self.edges[i] = edges[k].iter().map(|&(j, when)| (j, self.bdds.and(when, needed))).collect();
            self.edges[i].retain(|e| !e.1.is_false());
        }
    }

    /// Variables without an equation in some modes that occur differentiated in others, and that no `reinit` sets: the
    /// modes without, the modes where they move.
    fn appearing(&mut self, sys: &System) -> Vec<(VarId, Bdd, Bdd)> {
        let set = |v: VarId| {
            sys.reactions.iter().any(|r| matches!(&r.action, saltus_dae::Action::Reinit { var, .. } if *var == v))
        };
        let mut out = Vec::new();
        for j in 0..self.cols.len() {
            let (v, moving) = self.variables[j];
            let without = self.bdds.not(self.cols[j]);
            if !moving.is_false() && !without.is_false() && !set(v) {
                out.push((v, without, moving));
            }
        }
        out
    }

    /// The warning if a change into a mode where `v` is a state leaves open where it begins.
    fn under_specified(
        &mut self,
        sys: &mut System,
        ops: &mut RowOps,
        modes: &mut Modes,
        v: VarId,
        without: Bdd,
        with: Bdd,
    ) -> Option<Diagnostic> {
        let from = self.bdds.and(without, self.invariant);
        let to = self.bdds.and(with, self.invariant);
        let (from, to) = (self.bdds.cube(from)?, self.bdds.cube(to)?);
        let text = |me: &Guards, sys: &System, cube: &[(u32, bool)]| {
            let parts = cube.iter().map(|&(x, up)| format!("{} = {up}", me.atom_text(sys, x as usize)));
            parts.collect::<Vec<_>>().join(", ")
        };
        let value = |x: u32| to.iter().find(|c| c.0 == x).is_some_and(|c| c.1);
        let values: FxHashMap<VarId, bool> =
            self.formulas.iter().map(|(&c, &f)| (c, self.bdds.eval(f, value))).collect();
        let key = modes.key(sys, ops, &|_, c| values.get(&c).copied())?;
        let plan = plan_mode(sys, ops, modes, &key, &Generic).ok()?;
        if !plan.states.contains(&saltus_structure::Cell::new(v, 0)) {
            return None;
        }
        let var = &sys.dae.vars[v];
        Some(
            Diagnostic::warning(
                Stage::Structure,
                var.origin.span.unwrap_or(Span::NONE),
                format!(
                    "the change from the mode {} into the mode {} is under-specified: {} is a state there and has no value before",
                    text(self, sys, &from),
                    text(self, sys, &to),
                    var.name
                ),
            )
            .hint("it goes on from the value it had last, at first from its start value; a reinit at the change says otherwise"),
        )
    }

    /// What no mode can violate.
    fn invariants(&mut self, sys: &System) {
        // An assertion over guards says which of their combinations occur.
        for (row, k) in &sys.assertions {
            if sys.dae.assertions[*k].error
                && let Some(f) = self.expression(sys, row, row.template)
            {
                self.invariant = self.bdds.and(self.invariant, f);
            }
        }
        // Last: assertions speak of values and thresholds, too.
        self.exclusions(sys);
        self.thresholds(sys);
    }

    /// The modes in which an expression is zero, as far as its conditions tell.
    fn zero(&mut self, sys: &System, row: &Row, e: ExprId, depth: usize) -> Bdd {
        if depth > 20 {
            return Bdd::FALSE;
        }
        let is = |x: f64| if x == 0.0 { Bdd::TRUE } else { Bdd::FALSE };
        match *sys.dae.pool.node(e) {
            Node::Const(bits) => is(f64::from_bits(bits)),
            Node::Hole(k) => match row.args[k as usize] {
                Operand::Const(x) => is(x),
                Operand::Var { var, order: 0, .. } => self.zero_number(sys, var, depth),
                _ => Bdd::FALSE,
            },
            Node::Unary(Unary::Neg, a) | Node::Binary(Binary::Div, a, _) => self.zero(sys, row, a, depth + 1),
            Node::Binary(Binary::Mul, a, b) => {
                let (a, b) = (self.zero(sys, row, a, depth + 1), self.zero(sys, row, b, depth + 1));
                self.bdds.or(a, b)
            }
            Node::Binary(Binary::Add | Binary::Sub, a, b) => {
                let (a, b) = (self.zero(sys, row, a, depth + 1), self.zero(sys, row, b, depth + 1));
                self.bdds.and(a, b)
            }
            Node::If(..) if self.factors_only => Bdd::FALSE,
            Node::If(c, a, b) => {
                let Some(c) = self.expression(sys, row, c) else { return Bdd::FALSE };
                let (a, b) = (self.zero(sys, row, a, depth + 1), self.zero(sys, row, b, depth + 1));
                let (yes, no) = (self.bdds.and(c, a), self.bdds.minus(b, c));
                self.bdds.or(yes, no)
            }
            _ => Bdd::FALSE,
        }
    }

    /// The modes in which a discrete number is zero, as far as its definition tells.
    fn zero_number(&mut self, sys: &System, v: VarId, depth: usize) -> Bdd {
        if sys.role(v) != Role::Discrete || sys.dae.vars[v].ty == VarType::Boolean {
            return Bdd::FALSE;
        }
        if let Some(&f) = self.zeros.get(&v) {
            return f;
        }
        self.zeros.insert(v, Bdd::FALSE);
        // Its own definition is followed in any case.
        let factors_only = std::mem::replace(&mut self.factors_only, false);
        let f = match self.definition.get(&v).map(|&k| &sys.discrete[k].kind) {
            Some(DiscKind::Value(row)) if row.args.len() <= 24 => {
                let row = row.clone();
                self.zero(sys, &row, row.template, depth + 1)
            }
            Some(kind @ DiscKind::When(..)) if set_to_zero(sys, v, kind) => {
                self.atom(Atom::Equal(Operand::var(v), 0.0))
            }
            _ => Bdd::FALSE,
        };
        self.factors_only = factors_only;
        self.zeros.insert(v, f);
        f
    }

    /// In which modes each operand of a row is read.
    fn incidence(&mut self, sys: &System, row: &Row, e: ExprId, when: Bdd, present: &mut [Bdd], depth: usize) {
        if when.is_false() || depth > 500 {
            return;
        }
        match sys.dae.pool.node(e) {
            Node::Hole(k) => {
                let k = *k as usize;
                present[k] = self.bdds.or(present[k], when);
            }
            Node::If(c, a, b) => {
                let (c, a, b) = (*c, *a, *b);
                match (!self.factors_only).then(|| self.expression(sys, row, c)).flatten() {
                    Some(f) => {
                        let yes = self.bdds.and(when, f);
                        let no = self.bdds.minus(when, f);
                        self.incidence(sys, row, a, yes, present, depth + 1);
                        self.incidence(sys, row, b, no, present, depth + 1);
                    }
                    None => {
                        for x in [c, a, b] {
                            self.incidence(sys, row, x, when, present, depth + 1);
                        }
                    }
                }
            }
            _ => {
                let mut children = Vec::new();
                sys.dae.pool.children(e, |x| children.push(x));
                // A factor of what is zero in a mode is not read there.
                if let Node::Binary(op @ (Binary::Mul | Binary::Div), a, b) = *sys.dae.pool.node(e) {
                    let za = self.zero(sys, row, a, 0);
                    let zb = if op == Binary::Mul { self.zero(sys, row, b, 0) } else { Bdd::FALSE };
                    if !za.is_false() || !zb.is_false() {
                        let (wa, wb) = (self.bdds.minus(when, zb), self.bdds.minus(when, za));
                        self.incidence(sys, row, a, wa, present, depth + 1);
                        self.incidence(sys, row, b, wb, present, depth + 1);
                        return;
                    }
                }
                // Without conditionals and numbers that may be zero below, all of it is read.
                let mut conditional = false;
                if !self.factors_only {
                    sys.dae.pool.visit(e, |_, n| conditional |= matches!(n, Node::If(..)));
                }
                let holes = sys.dae.pool.holes(e);
                let vanishes = |me: &mut Self, k: u32| {
                    let v = row.args[k as usize].variable();
                    v.is_some_and(|v| !me.zero_number(sys, v, 0).is_false())
                };
                if !conditional && !holes.iter().any(|&k| vanishes(self, k)) {
                    for k in holes {
                        present[k as usize] = self.bdds.or(present[k as usize], when);
                    }
                    return;
                }
                for x in children {
                    self.incidence(sys, row, x, when, present, depth + 1);
                }
            }
        }
    }

    /// A variable has one value at a time, and an enumeration one of its literals.
    fn exclusions(&mut self, sys: &System) {
        let atoms = self.atoms.clone();
        for (i, a) in atoms.iter().enumerate() {
            let Atom::Equal(x, _) = a else { continue };
            let Some(VarType::Enumeration(e)) = x.variable().map(|v| sys.dae.vars[v].ty.clone()) else { continue };
            let of = |b: &Atom| matches!(b, Atom::Equal(y, _) if y == x);
            let all: Vec<usize> = (0..atoms.len()).filter(|&k| of(&atoms[k])).collect();
            if all[0] == i && all.len() == sys.dae.enumerations[e as usize].literals.len() {
                let mut some = Bdd::FALSE;
                for k in all {
                    let f = self.bdds.var(k as u32);
                    some = self.bdds.or(some, f);
                }
                self.invariant = self.bdds.and(self.invariant, some);
            }
        }
        for (i, a) in atoms.iter().enumerate() {
            for (k, b) in atoms.iter().enumerate().skip(i + 1) {
                if let (Atom::Equal(x, c), Atom::Equal(y, d)) = (a, b)
                    && x == y
                    && c != d
                {
                    let (f, g) = (self.bdds.var(i as u32), self.bdds.var(k as u32));
                    let both = self.bdds.and(f, g);
                    self.invariant = self.bdds.minus(self.invariant, both);
                }
            }
        }
    }

    /// Relations of one expression with several constants: `u > 2` implies `u > 1`, and of `u >= 0` and `-u >= 0` one
    /// is true (both only at the edge, which is no mode of its own).
    fn thresholds(&mut self, sys: &System) {
        let mut known: Vec<Threshold> = Vec::new();
        for k in 0..self.atoms.len() {
            let Atom::Condition(v) = self.atoms[k] else { continue };
            let Some(DiscKind::Relation(i)) = self.definition.get(&v).map(|&d| &sys.discrete[d].kind) else { continue };
            let r = &sys.relations[*i];
            let RelationKind::Sign(op) = r.kind else { continue };
            let pool = &sys.dae.pool;
            let constant = |e: ExprId| match pool.node(e) {
                Node::Const(bits) => Some(f64::from_bits(*bits)),
                Node::Hole(k) => match r.g.args[*k as usize] {
                    Operand::Const(c) => Some(c),
                    _ => None,
                },
                _ => None,
            };
            let (mut e, mut c) = match *pool.node(r.g.template) {
                Node::Binary(Binary::Sub, a, b) if constant(b).is_some() => (a, constant(b).unwrap_or(0.0)),
                _ => (r.g.template, 0.0),
            };
            let mut up = matches!(op, RelOp::Gt | RelOp::Ge);
            // -e > c is e < -c.
            while let Node::Unary(Unary::Neg, inner) = *pool.node(e) {
                (e, c, up) = (inner, -c, !up);
            }
            let mut args: Vec<Operand> = pool.holes(e).iter().map(|&h| r.g.args[h as usize]).collect();
            if let (Node::Hole(_), [Operand::Var { neg: neg @ true, .. }]) = (pool.node(e), &mut args[..]) {
                *neg = false;
                (c, up) = (-c, !up);
            }
            // All bare variables count as one expression.
            let e = (!matches!(pool.node(e), Node::Hole(_))).then_some(e);
            known.push((e, args, c + 0.0, up, k as u32));
        }
        // Neighbours are enough: above the higher one is above the lower one.
        known.sort_by(|x, y| {
            let key = |r: &Threshold| (r.0, r.1.iter().map(|a| a.variable()).collect::<Vec<_>>());
            key(x).cmp(&key(y)).then_with(|| x.2.total_cmp(&y.2)).then_with(|| x.4.cmp(&y.4))
        });
        for pair in known.windows(2).take(MOST_THRESHOLDS) {
            let [low, high] = pair else { continue };
            if low.0 != high.0 || low.1 != high.1 {
                continue;
            }
            let (f, g) = (self.bdds.var(low.4), self.bdds.var(high.4));
            let above_low = if low.3 { f } else { self.bdds.not(f) };
            let above_high = if high.3 { g } else { self.bdds.not(g) };
            let mut wrong = self.bdds.minus(above_high, above_low);
            if low.2 == high.2 {
                let other = self.bdds.minus(above_low, above_high);
                wrong = self.bdds.or(wrong, other);
            }
            self.invariant = self.bdds.minus(self.invariant, wrong);
        }
    }

    fn conditions(&self) -> Vec<VarId> {
        let mut out: Vec<VarId> = self.formulas.keys().copied().collect();
        out.sort_unstable();
        out
    }
}

/// Sums, differences and multiples of one hole.
fn affine(sys: &System, e: ExprId) -> bool {
    let mut only = true;
    sys.dae.pool.visit(e, |_, n| {
        only &= matches!(
            n,
            Node::Const(_)
                | Node::Hole(_)
                | Node::Unary(Unary::Neg, _)
                | Node::Binary(Binary::Add | Binary::Sub | Binary::Mul, ..)
        );
    });
    only && sys.dae.pool.holes(e).len() == 1
}

/// Whether some when-clause, or the start value as it is written, sets a variable to zero.
fn set_to_zero(sys: &System, v: VarId, kind: &DiscKind) -> bool {
    let zero = |r: &Row| sys.dae.row_constant(r) == Some(0.0);
    let DiscKind::When(_, values) = kind else { return false };
    values.iter().flatten().any(zero) || sys.dae.vars[v].start.as_ref().is_some_and(zero)
}

/// Discrete numbers in equations that may be zero, so that what they multiply is not read.
fn vanishing(sys: &System) -> Vec<VarId> {
    let number = |v: VarId| sys.role(v) == Role::Discrete && sys.dae.vars[v].ty != VarType::Boolean;
    let used: FxHashSet<VarId> =
        sys.equations.iter().flat_map(|e| &e.row.args).filter_map(|a| a.variable()).filter(|&v| number(v)).collect();
    if used.is_empty() {
        return Vec::new();
    }
    let mut guards = Guards::new(sys);
    let mut out: Vec<VarId> = used.into_iter().filter(|&v| !guards.zero_number(sys, v, 0).is_false()).collect();
    out.sort_unstable();
    out
}

/// Which paths of the decision tree can occur: guards are functions of each other, invariants hold.
pub struct Possible(Guards);

impl Possible {
    /// What the guards of a system allow.
    pub fn new(sys: &System) -> Possible {
        let mut guards = Guards::new(sys);
        for c in sys.groups.iter().flat_map(|g| &g.conditions) {
            guards.formula(sys, *c);
        }
        for d in &sys.discrete {
            if sys.dae.vars[d.var].ty == VarType::Boolean {
                guards.formula(sys, d.var);
            }
        }
        guards.invariants(sys);
        Possible(guards)
    }

    /// Whether some values of what guards are made of lead to this path.
    pub fn allows(&mut self, sys: &System, modes: &Modes, key: &[bool]) -> bool {
        let mut f = self.0.invariant;
        for (v, up) in modes.conditions(key).into_iter().zip(key) {
            let c = self.0.formula(sys, v);
            f = if *up { self.0.bdds.and(f, c) } else { self.0.bdds.minus(f, c) };
        }
        !f.is_false()
    }
}

/// A key, and the values of conditions outside it that may leave the equations singular.
type Certain = (ModeKey, Vec<(VarId, bool)>);

/// Modes that occur because of time and parameters alone, if all keyed conditions depend on nothing else.
fn modes_by_time(
    sys: &mut System,
    ops: &mut RowOps,
    modes: &mut Modes,
    factors: &[VarId],
    span: (f64, f64),
) -> Vec<Certain> {
    let parameters = parameter_values(sys);
    // Instants at which time relations switch.
    let mut instants = vec![span.0];
    for i in 0..sys.relations.len() {
        let g = sys.relations[i].g.clone();
        if g.args.iter().any(|a| {
            !matches!(a, Operand::Var { var, .. } if *var == HybridDae::TIME || parameters.contains_key(var))
                && !matches!(a, Operand::Const(_))
        }) {
            continue;
        }
        let Some(k) = g.args.iter().position(|a| matches!(a, Operand::Var { var, .. } if *var == HybridDae::TIME))
        else {
            continue;
        };
        if sys.relations[i].kind == RelationKind::Floor {
            continue;
        }
        if let Some(a) = affine_in(&mut sys.dae.pool, g.template, k as u32) {
            let value = |e| {
                saltus_expr::eval(&sys.dae.pool, e, &|h| operand(&parameters, g.args[h as usize], 0.0), &mut NoCalls)
            };
            let at = -value(a.rest) / value(a.slope);
            if at.is_finite() && at > span.0 && at <= span.1 {
                instants.push(at);
            }
        }
    }
    instants.sort_by(f64::total_cmp);
    let mut keys: Vec<Certain> = Vec::new();
    for w in 0..instants.len() {
        let end = instants.get(w + 1).copied().unwrap_or(if span.1.is_finite() {
            span.1.max(instants[w])
        } else {
            instants[w] + 1.0
        });
        let t = 0.5 * (instants[w] + end);
        let known = |sys: &System, v: VarId| truth(sys, &parameters, v, t, 0).map(|b| b != 0.0);
        if let Some(key) = modes.key(sys, ops, &known) {
            let suspects = modes.suspects(&key).iter().filter_map(|&v| Some((v, known(sys, v)?)));
            // A factor that is zero counts like a condition that is false.
            let zeros = factors.iter().filter(|&&v| known(sys, v) == Some(false)).map(|&v| (v, false));
            let suspects = suspects.chain(zeros).collect();
            let mode = (key, suspects);
            if !keys.contains(&mode) {
                keys.push(mode);
            }
        }
    }
    keys
}

fn operand(parameters: &FxHashMap<VarId, f64>, op: Operand, t: f64) -> f64 {
    match op {
        Operand::Const(v) => v,
        Operand::Var { var, neg, .. } => {
            let v = if var == HybridDae::TIME { t } else { parameters.get(&var).copied().unwrap_or(f64::NAN) };
            if neg { -v } else { v }
        }
        Operand::Pre { .. } => f64::NAN,
    }
}

/// The value of a discrete variable at time t, if time and parameters decide it.
fn truth(sys: &System, parameters: &FxHashMap<VarId, f64>, v: VarId, t: f64, depth: usize) -> Option<f64> {
    if depth > 50 {
        return None;
    }
    if let Some(&p) = parameters.get(&v) {
        return Some(p);
    }
    let d = sys.discrete.iter().find(|d| d.var == v)?;
    let value = |row: &Row| -> Option<f64> {
        let mut values = Vec::new();
        for &a in &row.args {
            values.push(match a {
                Operand::Const(c) => c,
                Operand::Var { var, order: 0, neg } => {
                    let x = if var == HybridDae::TIME { t } else { truth(sys, parameters, var, t, depth + 1)? };
                    if neg { -x } else { x }
                }
                _ => return None,
            });
        }
        Some(saltus_expr::eval(&sys.dae.pool, row.template, &|k| values[k as usize], &mut NoCalls))
            .filter(|v| v.is_finite())
    };
    match &d.kind {
        DiscKind::Value(row) => value(row),
        DiscKind::Relation(i) => {
            let r = &sys.relations[*i];
            value(&r.g).map(|g| saltus_sim::machine::plain(&r.kind, g))
        }
        DiscKind::When(..) => None,
    }
}

/// Values of parameters whose bindings are plain arithmetic.
pub fn parameter_values(sys: &System) -> FxHashMap<VarId, f64> {
    let mut out: FxHashMap<VarId, f64> = FxHashMap::default();
    for _ in 0..20 {
        let before = out.len();
        for (id, v) in sys.dae.vars.iter() {
            if v.variability > Variability::Parameter || out.contains_key(&id) {
                continue;
            }
            let Some(row) = v.binding.as_ref().or(v.start.as_ref()) else { continue };
            let x = saltus_expr::eval(
                &sys.dae.pool,
                row.template,
                &|k| operand(&out, row.args[k as usize], f64::NAN),
                &mut NoCalls,
            );
            if x.is_finite() {
                out.insert(id, x);
            }
        }
        if out.len() == before {
            break;
        }
    }
    out
}

/// `reinit` of variables that no equation differentiates: they are states in no mode.
fn reinit_of_algebraic(sys: &System) -> Vec<Diagnostic> {
    let states: FxHashSet<VarId> = sys
        .equations
        .iter()
        .flat_map(|e| &e.row.args)
        .filter_map(|a| match a {
            Operand::Var { var, order, .. } if *order > 0 => Some(*var),
            _ => None,
        })
        .collect();
    let algebraic = |v: VarId| {
        let select = sys.dae.vars[v].state_select;
        !states.contains(&v) && !matches!(select, StateSelect::Prefer | StateSelect::Always)
    };
    let complain = |r: &Reaction| match r.action {
        Action::Reinit { var, .. } if algebraic(var) => {
            let name = &sys.dae.vars[var].name;
            let text = format!("reinit needs a state: der({name}) occurs in no equation");
            let hint = if sys.dae.vars[var].variability <= saltus_dae::Variability::Discrete {
                format!("{name} is discrete: an equation {name} = … in the when-clause sets it")
            } else {
                format!("equations determine {name} all the time: reset the states that it follows from")
            };
            let span = r.origin.span.unwrap_or(Span::NONE);
            Some(Diagnostic::error(Stage::Structure, span, text).within(r.origin.instance.clone()).hint(hint))
        }
        _ => None,
    };
    sys.reactions.iter().filter_map(complain).collect()
}
