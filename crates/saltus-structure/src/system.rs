//! The lowered system: relations have become discrete variables, if-equations carry condition variables, calls are
//! ordinary rows. This is what plans are made from.

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_base::SecondaryMap;
use saltus_dae::{Action, HybridDae, Operand, Origin, Row, VarId, Variability, Variable};
use saltus_expr::{FuncId, RelOp};

/// What a relation variable watches.
#[derive(Clone, Debug, PartialEq)]
pub enum RelationKind {
    /// `g op 0`.
    Sign(RelOp),
    /// The integer part: changes whenever g passes an integer.
    Floor,
}

/// A discrete variable defined by a discontinuity function.
#[derive(Clone, Debug)]
pub struct Relation {
    /// The hidden variable holding the truth value (or the integer part).
    pub var: VarId,
    /// How.
    pub kind: RelationKind,
    /// The discontinuity function.
    pub g: Row,
    /// What the user wrote.
    pub text: String,
    /// Where it comes from.
    pub origin: Origin,
}

/// A continuous equation `row = 0`.
#[derive(Clone, Debug)]
pub struct SysEq {
    /// The residual.
    pub row: Row,
    /// Group and branch it stands in.
    pub guard: Option<(usize, u32)>,
    /// Where it comes from (for a merged equation: its first branch).
    pub origin: Origin,
    /// The branches it was merged from, if so.
    pub merged: Option<Box<Merged>>,
}

/// Where the branches of a merged equation come from.
#[derive(Clone, Debug)]
pub struct Merged {
    /// Conditions, in order.
    pub conditions: Vec<VarId>,
    /// One origin per condition and one for `else`; a branch may be merged itself.
    pub branches: Vec<(Origin, Option<Box<Merged>>)>,
}

impl SysEq {
    /// Where the equation comes from when the conditions have these values (`None`: not known).
    pub fn origin_in(&self, truth: &dyn Fn(VarId) -> Option<bool>) -> &Origin {
        let (mut origin, mut merged) = (&self.origin, &self.merged);
        while let Some(m) = merged {
            let mut chosen = m.conditions.len();
            for (k, &c) in m.conditions.iter().enumerate() {
                match truth(c) {
                    Some(false) => {}
                    Some(true) => {
                        chosen = k;
                        break;
                    }
                    None => return origin,
                }
            }
            (origin, merged) = (&m.branches[chosen].0, &m.branches[chosen].1);
        }
        origin
    }
}

/// How a discrete variable gets its value at an event.
#[derive(Clone, Debug)]
pub enum DiscKind {
    /// A value of other variables.
    Value(Row),
    /// A relation (index into [`System::relations`]).
    Relation(usize),
    /// Assigned by a when-equation: (index into [`System::whens`], one value per branch; `None`: keeps `pre`).
    When(usize, Vec<Option<Row>>),
}

/// The defining equation of a discrete variable.
#[derive(Clone, Debug)]
pub struct DiscEq {
    /// The variable.
    pub var: VarId,
    /// Its definition.
    pub kind: DiscKind,
    /// Group and branch it stands in.
    pub guard: Option<(usize, u32)>,
    /// Where it comes from.
    pub origin: Origin,
}

/// The conditions of one when-equation.
#[derive(Clone, Debug)]
pub struct WhenHead {
    /// Per branch: condition variables and whether it fires at initialization.
    pub branches: Vec<(Vec<VarId>, bool)>,
    /// Group and branch it stands in.
    pub guard: Option<(usize, u32)>,
}

/// Something a when-branch does besides assigning discrete variables.
#[derive(Clone, Debug)]
pub struct Reaction {
    /// The when-equation.
    pub when: usize,
    /// Its branch.
    pub branch: usize,
    /// Reinit, assert or terminate.
    pub action: Action,
    /// Where it comes from.
    pub origin: Origin,
}

/// An if-equation with conditions as variables.
#[derive(Clone, Debug)]
pub struct Group {
    /// Boolean condition variables, in order.
    pub conditions: Vec<VarId>,
    /// The branch it stands in.
    pub parent: Option<(usize, u32)>,
    /// Whether the chosen branch is part of the mode key (otherwise its equations were merged into conditionals).
    pub structural: bool,
    /// Where it comes from.
    pub origin: Origin,
}

/// What stands for an eliminated variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Alias {
    /// Another variable, possibly negated.
    Var(VarId, bool),
    /// A constant.
    Const(f64),
}

/// What a variable is to the solvers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Known before the run: constants, parameters, inputs, `time`.
    Known,
    /// Solved for continuously.
    Continuous,
    /// Changes at events only.
    Discrete,
}

/// A lowered, simplified hybrid system.
#[derive(Clone, Debug)]
pub struct System {
    /// Variables, pool, functions, samplers, delays. Its equation lists have been consumed.
    pub dae: HybridDae,
    /// Continuous equations.
    pub equations: Vec<SysEq>,
    /// Discrete definitions.
    pub discrete: Vec<DiscEq>,
    /// Relations.
    pub relations: Vec<Relation>,
    /// When heads.
    pub whens: Vec<WhenHead>,
    /// Reinit, assert, terminate.
    pub reactions: Vec<Reaction>,
    /// If-equations.
    pub groups: Vec<Group>,
    /// Initial equations.
    pub initial: Vec<SysEq>,
    /// Eliminated variables.
    pub alias: SecondaryMap<Variable, Option<Alias>>,
    /// Assertions checked during the run: condition (relations plain), index into `dae.assertions`.
    pub assertions: Vec<(Row, usize)>,
    /// Variables given from outside the equations: sampler ticks.
    pub external: FxHashSet<VarId>,
    /// Variables that an equation made constants of, with that equation.
    pub settled: FxHashMap<VarId, (Origin, Row)>,
    /// Equations that have lost their last unknown to such a constant, as they were before.
    pub emptied: Vec<(Origin, Row)>,
    /// Equations that others imply, as they were before: nothing is left of them.
    pub vacuous: Vec<(Origin, Row)>,
    /// Sizes before simplification: (continuous variables, equations).
    pub original: (usize, usize),
    /// Calls that are evaluated apart from the reading of their results.
    pub shared: Vec<SharedCall>,
}

/// A call with many arguments and many results at events: `ticket = call(arguments)` evaluates it and keeps the
/// results, `y = result(ticket, k)` reads one. So the k-th result depends on one variable, not on all arguments.
#[derive(Clone, Copy, Debug)]
pub struct SharedCall {
    /// What is called.
    pub func: FuncId,
    /// Evaluates it; gives a number that is another one for other arguments.
    pub call: FuncId,
    /// Reads a result.
    pub result: FuncId,
}

impl System {
    /// The role of a variable.
    pub fn role(&self, var: VarId) -> Role {
        let v = &self.dae.vars[var];
        if HybridDae::is_builtin(var) || v.variability <= Variability::Parameter || self.external.contains(&var) {
            return Role::Known;
        }
        if v.causality == saltus_dae::Causality::Input && v.binding.is_none() {
            return Role::Known;
        }
        match v.variability {
            Variability::Continuous => Role::Continuous,
            _ => Role::Discrete,
        }
    }

    /// Whether a Boolean is one of those that choose between branches for good while they hold: discrete, or given from
    /// outside.
    pub fn may_guard(&self, var: VarId) -> bool {
        self.role(var) == Role::Discrete || self.is_input(var)
    }

    /// An input without an equation.
    pub fn is_input(&self, var: VarId) -> bool {
        let v = &self.dae.vars[var];
        v.causality == saltus_dae::Causality::Input && v.binding.is_none() && v.variability > Variability::Parameter
    }

    /// Continuous unknowns that only events can change: each is the one unknown of an equation in which nothing else moves.
    pub fn held(&self) -> FxHashSet<VarId> {
        // The unknowns of the equations without time, derivatives or values from outside.
        let still = |eq: &&SysEq| {
            eq.guard.is_none()
                && eq.row.args.iter().all(|&a| match a {
                    Operand::Var { var, order, .. } => match self.role(var) {
                        Role::Continuous => order == 0,
                        Role::Discrete => true,
                        Role::Known => var != HybridDae::TIME && !self.external.contains(&var),
                    },
                    Operand::Const(_) | Operand::Pre { .. } => true,
                })
        };
        let unknowns = |eq: &SysEq| -> FxHashSet<VarId> {
            eq.row.args.iter().filter_map(|a| a.variable()).filter(|&v| self.role(v) == Role::Continuous).collect()
        };
        let mut open: Vec<FxHashSet<VarId>> = self.equations.iter().filter(still).map(unknowns).collect();
        let mut readers: FxHashMap<VarId, Vec<usize>> = FxHashMap::default();
        for (i, unknowns) in open.iter().enumerate() {
            unknowns.iter().for_each(|&v| readers.entry(v).or_default().push(i));
        }
        let mut ready: Vec<usize> = (0..open.len()).filter(|&i| open[i].len() == 1).collect();
        let mut held = FxHashSet::default();
        while let Some(i) = ready.pop() {
            let Some(v) = open[i].iter().copied().next() else { continue };
            held.insert(v);
            for &j in &readers[&v] {
                if open[j].remove(&v) && open[j].len() == 1 {
                    ready.push(j);
                }
            }
        }
        held
    }

    /// An operand with aliases replaced.
    pub fn resolve(&self, mut op: Operand) -> Operand {
        loop {
            op = match op {
                Operand::Var { var, order, neg } => match self.alias[var] {
                    None => return op,
                    Some(Alias::Const(v)) => {
                        return Operand::Const(if order > 0 {
                            0.0
                        } else if neg {
                            -v
                        } else {
                            v
                        });
                    }
                    Some(Alias::Var(to, _)) if order > 0 && self.role(to) == Role::Known => return Operand::Const(0.0),
                    Some(Alias::Var(to, flip)) => Operand::Var { var: to, order, neg: neg != flip },
                },
                Operand::Pre { var } => match self.alias[var] {
                    Some(Alias::Var(to, false)) if self.role(to) != Role::Known => Operand::Pre { var: to },
                    Some(Alias::Var(to, flip)) if self.role(to) == Role::Known => {
                        Operand::Var { var: to, order: 0, neg: flip }
                    }
                    Some(Alias::Const(v)) => return Operand::Const(v),
                    _ => return op,
                },
                Operand::Const(_) => return op,
            }
        }
    }

    /// A row with aliases replaced.
    pub fn resolve_row(&self, row: &Row) -> Row {
        Row { template: row.template, args: row.args.iter().map(|&a| self.resolve(a)).collect() }
    }

    /// The branch conditions of a guard as text.
    pub fn guard_name(&self, (group, branch): (usize, u32)) -> String {
        let g = &self.groups[group];
        let mut parts: Vec<String> = Vec::new();
        for (i, &c) in g.conditions.iter().enumerate().take(branch as usize + 1) {
            let name = self.condition_text(c);
            parts.push(format!("{name} = {}", i == branch as usize));
        }
        parts.join(", ")
    }

    /// A condition variable by what the user wrote.
    pub fn condition_text(&self, var: VarId) -> String {
        let v = &self.dae.vars[var];
        if !v.description.is_empty() && v.name.starts_with('$') { v.description.to_string() } else { v.name.clone() }
    }
}
