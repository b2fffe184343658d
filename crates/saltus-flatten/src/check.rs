//! Checks that need the whole flat model: equations that ask for the impossible, and classes that are not balanced.
//!
//! The local balance of a class counts what it declares against the equations it gives (Modelica 3.6, section 4.8): a
//! flow variable of its own connectors is determined from outside; a flow variable or an input of a component's
//! connector is its duty.

use crate::Flattener;
use crate::call::kind_text;
use crate::instance::{Found, NodeKind};
use crate::modifier::{NodeId, Scope};
use crate::template::{ClassRef, MemberKind};
use crate::unit::Unit;
use crate::value::Ty;
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_base::{Diagnostic, Name, Span, Stage};
use saltus_dae::{Action, Causality as DaeCausality, HybridDae, Operand, Row, VarId, VarType, Variability};
use saltus_expr::{Binary, ExprId, Node as XNode};
use saltus_resolve::ClassId;
use saltus_syntax::ast::{Causality, ClassKind, Connection, TypeSpec, VariabilityPrefix};
use std::sync::Arc;

/// What equations leave behind to be looked at in the end.
#[derive(Default)]
pub(crate) struct Checks<'t> {
    /// Discrete variables that stand alone on one side of an equation whose other side is more than they can hold.
    doubtful: Vec<(VarId, Span)>,
    /// Equations that were looked at already.
    seen: FxHashSet<(VarId, Span)>,
    /// Redeclarations.
    pub(crate) plugs: Vec<Plug<'t>>,
    /// Discrete Reals and what they are bound to.
    pub(crate) bound: Vec<(VarId, ExprId, Span)>,
}

/// A redeclaration: what takes the place of what.
pub(crate) struct Plug<'t> {
    pub name: Name,
    pub by: ClassRef<'t>,
    pub span: Span,
    /// Where the original stands.
    pub declared: Span,
    pub replaceable: bool,
    /// A redeclaration before this one that did not leave it replaceable.
    pub settled: Option<Span>,
    pub wanted: Wanted<'t>,
    /// For classes: the kinds of the replacement and of the original.
    pub kinds: Option<(ClassKind, ClassKind)>,
    /// For components: how many dimensions the replacement and the original declare.
    pub ranks: Option<(usize, usize)>,
    /// Nothing was redeclared: the default has to satisfy the constraint, too.
    pub default: bool,
    pub within: NodeId,
}

/// Whether a class of one kind may be redeclared as the other.
fn exchangeable(a: ClassKind, b: ClassKind) -> bool {
    use ClassKind::*;
    let group = |k| match k {
        Block => Model,
        OperatorRecord => Record,
        OperatorFunction => Function,
        k => k,
    };
    a == Class || b == Class || group(a) == group(b)
}

/// What a replacement must offer.
pub(crate) enum Wanted<'t> {
    /// As much as the class of this name.
    Named(&'t TypeSpec, Scope),
    /// As much as the original.
    Class(ClassRef<'t>),
}

/// A number by instance path.
type PerInstance = FxHashMap<Arc<str>, usize>;

/// Unknowns of the whole, and equations.
pub(crate) struct Census {
    per: PerInstance,
    unknowns: usize,
    /// Of what is written alone, without what is generated for it.
    written: bool,
}

/// How many instances of a class are counted.
const INSTANCES: usize = 16;

/// Stands for no instance: connection equations.
const CONNECTIONS: &str = "$connections";

/// How many unknowns and equations something brings along.
#[derive(Clone, Default)]
struct Count {
    unknowns: usize,
    equations: usize,
    flows: usize,
    /// Inputs of components that the class has to give a value.
    inputs: Vec<NodeId>,
}

impl<'t> Flattener<'t> {
    /// Notes an equation that an Integer or a discrete Real may not be able to follow.
    pub(crate) fn note_sides(&mut self, x: ExprId, tx: Ty, y: ExprId, ty: Ty, span: Span) {
        for (e, own, f, other) in [(x, tx, y, ty), (y, ty, x, tx)] {
            let Some(v) = self.as_var(e).filter(|&v| self.dae.vars[v].variability == Variability::Discrete) else {
                continue;
            };
            if own == Ty::Int && other == Ty::Real || own == Ty::Real && self.variability(f) == Variability::Continuous
            {
                self.checks.doubtful.push((v, span));
            }
        }
    }

    /// What is to be found and the equations for it, by the instance they stand in; none if branches of an if differ. Of models with
    /// clocks or state machines it is taken before those are built, of what the modeller has written alone.
    pub(crate) fn census(&self) -> Option<Census> {
        let written = self.clocks.any() || self.states.any();
        let counts = |v: VarId| !written || !self.is_generated(v);
        let per = self.equations_per_instance(&counts, written)?;
        let unknowns = self.dae.vars.iter().filter(|(id, v)| {
            !HybridDae::is_builtin(*id)
                && v.variability >= Variability::Discrete
                && v.causality != DaeCausality::Input
                && v.origin.note != "complementarity"
                && counts(*id)
        });
        let unknowns = unknowns.count();
        Some(Census { per, unknowns, written })
    }

    fn is_generated(&self, v: VarId) -> bool {
        self.dae.vars[v].name.starts_with('$')
    }

    pub(crate) fn finish_checks(&mut self, census: Option<Census>) {
        self.check_plugs();
        self.check_foreign();
        self.check_streams();
        self.check_blocks();
        self.check_units();
        self.check_resets();
        for (v, e, span) in std::mem::take(&mut self.checks.bound) {
            if self.variability(e) == Variability::Continuous {
                self.checks.doubtful.push((v, span));
            }
        }
        self.check_doubtful();
        self.check_equations();
        self.check_balance(census);
    }

    /// Only what is replaceable can be redeclared, and only by something that offers as much.
    fn check_plugs(&mut self) {
        let mut seen = FxHashSet::default();
        for p in std::mem::take(&mut self.checks.plugs) {
            if !seen.insert((p.span, p.declared, p.by.class)) {
                continue;
            }
            let by = self.lib.qualified(p.by.class);
            if !p.replaceable {
                let e = Diagnostic::error(
                    Stage::FrontEnd,
                    p.span,
                    format!("{} is not replaceable and cannot be redeclared", p.name),
                )
                .label(p.declared, "declared here")
                .hint(format!("write `replaceable` before the declaration of {}", p.name));
                self.report(Box::new(e), p.within);
                continue;
            }
            // Libraries do this, too.
            if let Some(first) = p.settled {
                let text = format!("{} was redeclared without `replaceable`, and is redeclared again here", p.name);
                let w = Diagnostic::warning(Stage::FrontEnd, p.span, text)
                    .label(first, "redeclared here")
                    .hint("write `redeclare replaceable` there");
                self.report(Box::new(w), p.within);
            }
            let wanted = match &p.wanted {
                Wanted::Class(c) => c.clone(),
                Wanted::Named(spec, scope) => match self.class_in(*scope, spec) {
                    Ok(c) => c,
                    Err(e) => {
                        self.report(e, p.within);
                        continue;
                    }
                },
            };
            let (Ok(have), Ok(want)) =
                (self.template_of(p.by.class, p.by.scope), self.template_of(wanted.class, wanted.scope))
            else {
                continue;
            };
            let constraint = self.lib.qualified(wanted.class);
            let refuse = |me: &mut Self, why: String, hint: String| {
                let e = Diagnostic::error(Stage::FrontEnd, p.span, why).label(p.declared, "declared here").hint(hint);
                me.report(Box::new(e), p.within);
            };
            if let Some((have, want)) = p.kinds.filter(|(have, want)| !exchangeable(*have, *want)) {
                let why =
                    format!("{} is a {}, and cannot be redeclared as a {}", p.name, kind_text(want), kind_text(have));
                refuse(self, why, format!("write `redeclare {} {} = …`", kind_text(want), p.name));
                continue;
            }
            let wanted_is_structured = want.builtin.is_none();
            let same = match (have.builtin, want.builtin) {
                (Some(Ty::Enum(a)), Some(Ty::Enum(b))) => self.same_enum(a, b) || self.enum_literals(b).is_empty(),
                (a, b) => a == b,
            };
            if !same {
                let why = format!("{by} cannot take the place of {}, which is a {constraint}", p.name);
                refuse(self, why, format!("choose a class that is a {constraint}, too"));
                continue;
            }
            // A type may be an array by itself; of what else, the declaration tells all dimensions.
            let plain = matches!(&p.wanted, Wanted::Named(spec, _) if spec.path.len() == 1
                && ["Real", "Integer", "Boolean", "String"].contains(&spec.path[0].name.as_str()));
            if let Some((have, want)) = p.ranks.filter(|(have, want)| have != want)
                && (plain || wanted_is_structured)
            {
                let why = format!("{} has {want} dimensions, and cannot be redeclared with {have}", p.name);
                refuse(self, why, "sizes may change, their number may not".into());
                continue;
            }
            if want.builtin.is_some() {
                continue;
            }
            let missing = want.members.iter().find(|m| {
                !m.protected && matches!(m.kind, MemberKind::Component { .. }) && !have.index.contains_key(&m.name)
            });
            if let Some(m) = missing {
                let place = if p.default { "be the default" } else { "take the place" };
                let why =
                    format!("{by} cannot {place} of {}: it has no {}, which {constraint} declares", p.name, m.name);
                refuse(self, why, format!("extend {constraint}, or choose a class with everything that it declares"));
            }
        }
    }

    /// A connector with streams has exactly one flow, which carries them.
    fn check_streams(&mut self) {
        let mut seen = FxHashSet::default();
        for k in 0..self.nodes.len() as u32 {
            let n = NodeId(k);
            let node = self.node(n);
            let class = node.cref.class;
            let Some(t) = node.template.clone().filter(|t| t.is_connector() && t.builtin.is_none() && !t.expandable)
            else {
                continue;
            };
            if !node.live || !self.dims(n).is_ok_and(|d| d.is_empty()) || !seen.insert(class) {
                continue;
            }
            let (mut flows, mut streams) = (0, 0);
            for c in self.below(n) {
                let count = self.dims(c).map_or(1, |d| d.iter().product::<usize>());
                match self.node(c).connection {
                    Connection::Flow => flows += count,
                    Connection::Stream => streams += 1,
                    Connection::Potential => {}
                }
            }
            if let (0, Some((potentials, flows))) = (streams, self.connector_balance(n))
                && potentials != flows
                && flows > 0
            {
                let name = self.lib.qualified(t.class);
                let text =
                    format!("{name} has {potentials} potential and {flows} flow variables: they should be as many");
                let d = Diagnostic::warning(Stage::FrontEnd, self.lib.def(t.class).name.span, text);
                self.report(Box::new(d), n);
            }
            if streams > 0 && flows != 1 {
                let name = self.lib.qualified(t.class);
                let e = Diagnostic::error(
                    Stage::FrontEnd,
                    self.lib.def(t.class).name.span,
                    format!("{name} has stream variables, so it must have exactly one flow variable, not {flows}"),
                );
                self.report(Box::new(e), n);
            }
        }
    }

    /// What is connected or equal has the same unit, where both sides tell theirs.
    fn check_units(&mut self) {
        let mut units: FxHashMap<Name, Option<Unit>> = FxHashMap::default();
        let mut found = Vec::new();
        for eq in self.dae.equations.as_slice() {
            let XNode::Binary(Binary::Sub, a, b) = *self.dae.pool.node(eq.row.template) else { continue };
            let (
                XNode::Hole(0),
                XNode::Hole(1),
                &[Operand::Var { var: x, order: 0, neg: false }, Operand::Var { var: y, order: 0, neg: false }],
            ) = (self.dae.pool.node(a), self.dae.pool.node(b), &eq.row.args[..])
            else {
                continue;
            };
            let (u, v) = (self.dae.vars[x].unit, self.dae.vars[y].unit);
            if u == v {
                continue;
            }
            let mut unit = |u: Name| *units.entry(u).or_insert_with(|| Unit::parse(u.as_str()));
            if let (Some(p), Some(q), Some(span)) = (unit(u), unit(v), eq.origin.span)
                && !p.same(&q)
            {
                found.push((span, x, y, eq.origin.instance.clone()));
            }
        }
        for (span, x, y, instance) in found {
            if self.warned.insert(span) {
                let (x, y) = (&self.dae.vars[x], &self.dae.vars[y]);
                let text = format!("{} has the unit {}, but {} has the unit {}", x.name, x.unit, y.name, y.unit);
                let mut d = Diagnostic::warning(Stage::FrontEnd, span, text);
                d.instance = instance.to_string();
                self.diagnostics.push(d);
            }
        }
    }

    /// The connectors of a block are inputs and outputs throughout (Modelica 3.6, section 4.7).
    fn check_blocks(&mut self) {
        let mut seen = FxHashSet::default();
        for k in 0..self.nodes.len() as u32 {
            let n = NodeId(k);
            let node = self.node(n);
            let (Some(parent), Some(t), Some((_, component, _))) = (node.parent, &node.template, node.clause) else {
                continue;
            };
            let place = component.name.span;
            let public = node.live && node.kind == NodeKind::Component && !node.protected && node.outer.is_none();
            if !public || !t.is_connector() || t.expandable || seen.contains(&place) {
                continue;
            }
            let block = self.node(parent).template.as_ref().is_some_and(|p| p.kind == ClassKind::Block);
            if block
                && seen.insert(place)
                && let Some(leaf) = self.without_direction(n)
            {
                let (name, leaf) = (self.lib.qualified(self.node(parent).cref.class), self.path(leaf));
                let text = format!("{name} is a block, but {leaf} in its connector is neither input nor output");
                self.report(Box::new(Diagnostic::error(Stage::FrontEnd, place, text)), parent);
            }
        }
    }

    /// A variable of a connector that is neither input nor output.
    fn without_direction(&mut self, n: NodeId) -> Option<NodeId> {
        let t = self.template(n).ok()?;
        let node = self.node(n);
        if node.causality != Causality::None
            || matches!(node.variability, VariabilityPrefix::Parameter | VariabilityPrefix::Constant)
        {
            return None;
        }
        if t.builtin.is_some() {
            return Some(n);
        }
        self.below(n).into_iter().find_map(|k| self.without_direction(k))
    }

    /// The potentials and flows of a connector, without inputs and outputs; of an overdetermined type the equations that
    /// its `equalityConstraint` gives count (Modelica 3.6, section 9.3.1).
    fn connector_balance(&mut self, n: NodeId) -> Option<(usize, usize)> {
        let t = self.template(n).ok()?;
        let count: usize = self.dims(n).ok()?.iter().product();
        let node = self.node(n);
        if node.causality != Causality::None
            || matches!(node.variability, VariabilityPrefix::Parameter | VariabilityPrefix::Constant)
        {
            return Some((0, 0));
        }
        let connection = node.connection;
        if let Ok(Some(Found::Class(f))) = self.member_from(Scope { node: n, part: 0 }, Name::new("equalityConstraint"))
        {
            let f = self.class_node(&f);
            let sig = self.signature(f, Span::NONE).ok()?;
            let residue: usize = self.dims(sig.outputs.first()?.node).ok()?.iter().product();
            return Some((residue * count, 0));
        }
        if t.builtin.is_some() {
            return Some(if connection == Connection::Flow { (0, count) } else { (count, 0) });
        }
        let mut sum = (0, 0);
        for k in self.below(n) {
            let (p, f) = self.connector_balance(k)?;
            sum = (sum.0 + p, sum.1 + f);
        }
        Some(sum)
    }

    /// Foreign C code has to compile.
    fn check_foreign(&mut self) {
        for (k, why) in saltus_function::external::foreign::prepare(&self.dae.functions) {
            let e = self.err(self.dae.functions[k].span, why);
            self.diagnostics.push(*e);
        }
    }

    /// Variables that something determines: oriented equations (but for doubtful ones), when-clauses, algorithms.
    fn check_doubtful(&mut self) {
        if self.checks.doubtful.is_empty() {
            return;
        }
        let mut doubtful = std::mem::take(&mut self.checks.doubtful);
        // What the user did not write is a consequence of something else.
        doubtful.retain(|(v, _)| !self.dae.vars[*v].name.starts_with('$'));
        self.checks.seen = doubtful.iter().copied().collect();
        let skip = &self.checks.seen;
        let mut defined: FxHashSet<VarId> = FxHashSet::default();
        for eq in self.dae.equations.as_slice() {
            if let Some(v) = self.oriented(&eq.row)
                && !eq.origin.span.is_some_and(|s| skip.contains(&(v, s)))
            {
                defined.insert(v);
                // A connection determines one of its ends, whichever.
                if eq.origin.note == "connection" {
                    defined.extend(eq.row.args.iter().filter_map(|a| a.variable()));
                }
            }
        }
        for w in &self.dae.whens {
            defined.extend(assigned(&w.branches.iter().flat_map(|b| b.actions.iter()).collect::<Vec<_>>()));
        }
        defined.extend(self.dae.calls.iter().flat_map(|c| c.outputs.iter().copied()));
        defined.extend(self.dae.samplers.iter().map(|s| s.var));
        for (v, span) in doubtful {
            if defined.contains(&v) {
                continue;
            }
            let var = &self.dae.vars[v];
            let (message, hint) = if var.ty == VarType::Integer {
                (
                    format!("{} is an Integer, but this equation gives it a Real value", var.name),
                    "round it with integer(…), floor(…) or ceil(…), or declare the variable as Real",
                )
            } else {
                (
                    format!("{} is discrete, but this equation changes it continuously", var.name),
                    "assign it in a when-clause, or leave out `discrete`",
                )
            };
            let mut d = Diagnostic::error(Stage::FrontEnd, span, message).hint(hint);
            d.instance = var.origin.instance.to_string();
            if let Some(s) = var.origin.span {
                d = d.label(s, "declared here");
            }
            self.diagnostics.push(d);
        }
    }

    /// The variable `v` of a row `v - value`.
    fn oriented(&self, row: &Row) -> Option<VarId> {
        match *self.dae.pool.node(row.template) {
            XNode::Binary(Binary::Sub, a, _) => match (self.dae.pool.node(a), row.args.first()) {
                (XNode::Hole(0), Some(&Operand::Var { var, order: 0, neg: false })) => Some(var),
                _ => None,
            },
            _ => None,
        }
    }

    /// How often the value of a row's part may change.
    fn row_variability(&self, row: &Row, e: ExprId) -> Variability {
        match self.dae.pool.node(e) {
            XNode::Const(_) => Variability::Constant,
            XNode::Hole(k) => match row.args[*k as usize] {
                Operand::Var { var, order: 0, .. } => self.dae.vars[var].variability,
                Operand::Var { .. } => Variability::Continuous,
                Operand::Pre { .. } => Variability::Discrete,
                Operand::Const(_) => Variability::Constant,
            },
            XNode::Relation(..) | XNode::EventFloor(_) => Variability::Discrete,
            _ => {
                let mut kids = Vec::new();
                self.dae.pool.children(e, |c| kids.push(c));
                kids.into_iter().map(|k| self.row_variability(row, k)).max().unwrap_or(Variability::Constant)
            }
        }
    }

    /// The variables that are fields of records, and no Reals, and those that are one of several results of a function.
    fn discrete_results(&mut self) -> FxHashSet<VarId> {
        let mut fields = FxHashSet::default();
        let results: FxHashSet<VarId> = self.dae.calls.iter().flat_map(|c| c.outputs.iter().copied()).collect();
        for eq in self.dae.equations.as_slice() {
            if let [_, Operand::Var { var, order: 0, .. }] = eq.row.args[..]
                && results.contains(&var)
            {
                fields.extend(self.oriented(&eq.row));
            }
        }
        for n in 0..self.nodes.len() as u32 {
            let node = self.node(NodeId(n));
            let (Some(first), Some(mut parent)) = (node.var, node.parent) else { continue };
            if self.node(parent).kind == NodeKind::Element {
                parent = self.node(parent).parent.unwrap_or(parent);
            }
            let count = node.dims.as_ref().map_or(1, |d| d.iter().product());
            if self.dae.vars[first].ty != VarType::Real
                && self.node(parent).template.as_ref().is_some_and(|t| t.is_record())
            {
                fields.extend((0..count).map(|k| VarId::new(first.index() + k)));
            }
        }
        fields
    }

    /// An Integer, a Boolean or an enumeration changes at events only. A field of a record is an exception: a function of
    /// continuous arguments that gives the whole record gives it, too; so is one of several results. It may go on to other functions,
    /// but equations cannot read it.
    fn check_equations(&mut self) {
        let before = self.diagnostics.len();
        let mut freed: Vec<(VarId, Diagnostic)> = Vec::new();
        loop {
            let continuous = self.check_rows();
            if continuous.is_empty() {
                break;
            }
            let fields = self.discrete_results();
            let known = freed.len();
            freed.extend(continuous.into_iter().filter(|(v, _)| fields.contains(v)));
            if freed.len() == known {
                break;
            }
            for (v, _) in &freed[known..] {
                self.dae.vars[*v].variability = Variability::Continuous;
            }
            self.diagnostics.truncate(before);
        }
        if freed.is_empty() {
            return;
        }
        let read = self.read_outside_calls(&freed.iter().map(|(v, _)| *v).collect());
        self.diagnostics.extend(freed.into_iter().filter(|(v, _)| read.contains(v)).map(|(_, d)| d));
    }

    /// Which of these variables equations and conditions read otherwise than to hand them to a function, or on to another of
    /// these.
    fn read_outside_calls(&self, fields: &FxHashSet<VarId>) -> FxHashSet<VarId> {
        let equations = self.dae.equations.as_slice().iter().filter(|eq| {
            eq.origin.note != "connection" && !self.oriented(&eq.row).is_some_and(|v| fields.contains(&v))
        });
        let conditions = self.dae.ifs.as_slice().iter().flat_map(|g| &g.conditions);
        // Algorithm sections are functions that ask what they read.
        let sections = self.dae.calls.iter().filter(|c| self.dae.functions[c.func.0 as usize].name.starts_with('$'));
        let mut read = FxHashSet::default();
        for row in equations.map(|eq| &eq.row).chain(conditions).chain(sections.flat_map(|c| &c.args)) {
            if !row.args.iter().any(|a| a.variable().is_some_and(|v| fields.contains(&v))) {
                continue;
            }
            let mut open = vec![row.template];
            while let Some(e) = open.pop() {
                match self.dae.pool.node(e) {
                    XNode::Call { .. } => {}
                    XNode::Hole(k) => {
                        if let Operand::Var { var, order: 0, .. } = row.args[*k as usize]
                            && fields.contains(&var)
                        {
                            read.insert(var);
                        }
                    }
                    _ => self.dae.pool.children(e, |c| open.push(c)),
                }
            }
        }
        read
    }

    /// Looks at all equations; returns the discrete variables that one changes continuously, with what is said of it.
    fn check_rows(&mut self) -> Vec<(VarId, Diagnostic)> {
        let mut continuous = Vec::new();
        let mut found = Vec::new();
        let branches = self.dae.whens.iter().flat_map(|w| &w.branches);
        let conditions: FxHashSet<VarId> = branches.flat_map(|b| b.conditions.iter().copied()).collect();
        for eq in self.dae.equations.as_slice() {
            let Some(span) = eq.origin.span else { continue };
            if eq.origin.note == "when condition"
                && let XNode::Binary(Binary::Sub, _, value) = *self.dae.pool.node(eq.row.template)
                && self.oriented(&eq.row).is_some_and(|v| conditions.contains(&v))
                && self.row_variability(&eq.row, value) == Variability::Continuous
            {
                let what = "this when-condition follows continuous variables without events: nothing would notice it";
                let hint = "write the relation in the when-clause itself; inside noEvent, and in functions without the \
                            annotation GenerateEvents = true, relations make no events";
                found
                    .push(Diagnostic::error(Stage::FrontEnd, span, what).hint(hint).within(eq.origin.instance.clone()));
            }
            if !matches!(eq.origin.note, "" | "binding") {
                continue;
            }
            let unknown = eq
                .row
                .args
                .iter()
                .filter_map(|a| a.variable())
                .any(|v| !HybridDae::is_builtin(v) && self.dae.vars[v].variability >= Variability::Discrete);
            if !unknown {
                let parameter = self.oriented(&eq.row).filter(|&v| !HybridDae::is_builtin(v));
                let d = match parameter {
                    Some(v) => {
                        let var = &self.dae.vars[v];
                        let d = Diagnostic::error(
                            Stage::FrontEnd,
                            span,
                            format!("{} is a parameter: an equation cannot determine it", var.name),
                        )
                        .hint("give the value in its declaration, or set fixed = false and use an initial equation");
                        match var.origin.span {
                            Some(s) => d.label(s, "declared here"),
                            None => d,
                        }
                    }
                    None => Diagnostic::error(Stage::FrontEnd, span, "this equation holds no unknown"),
                };
                found.push(d.within(eq.origin.instance.clone()));
                continue;
            }
            let Some(v) = self.oriented(&eq.row).filter(|&v| {
                let var = &self.dae.vars[v];
                let discrete = var.ty != VarType::Real && var.variability == Variability::Discrete && !var.hidden;
                discrete && !self.checks.seen.contains(&(v, span))
            }) else {
                continue;
            };
            let XNode::Binary(Binary::Sub, _, value) = *self.dae.pool.node(eq.row.template) else { continue };
            if self.row_variability(&eq.row, value) == Variability::Continuous {
                let var = &self.dae.vars[v];
                let mut d = Diagnostic::error(
                    Stage::FrontEnd,
                    span,
                    format!("{} may change only at events, but this equation changes it continuously", var.name),
                )
                .hint("it follows relations and discrete values; inside noEvent and in functions relations make no events")
                .within(eq.origin.instance.clone());
                if let Some(s) = var.origin.span {
                    d = d.label(s, "declared here");
                }
                found.push(d.clone());
                continuous.push((v, d));
            }
        }
        self.diagnostics.extend(found);
        continuous
    }

    // ---- balance -------------------------------------------------------------------------------------------------

    /// Names the classes that are not balanced, if the whole is not.
    fn check_balance(&mut self, census: Option<Census>) {
        if self.diagnostics.iter().any(|d| d.severity == saltus_base::Severity::Error) {
            return;
        }
        let Some(Census { mut per, mut unknowns, written }) = census else { return };
        // What states give to the class around them is an unknown of each, and an equation of that class: the value of the active one.
        let outputs = &self.states.outputs;
        if outputs.composite {
            return;
        }
        unknowns += outputs.nameless;
        for &v in &outputs.given {
            *per.entry(self.dae.vars[v].origin.instance.clone()).or_default() += 1;
        }
        if let Some(n) = per.get_mut(CONNECTIONS) {
            *n = n.saturating_sub(outputs.joined);
        }
        let equations: usize = per.values().sum();
        if unknowns == equations {
            self.check_local_balance(&per);
            return;
        }
        if equations < unknowns {
            let mut determined: FxHashSet<VarId> = FxHashSet::default();
            let own = self.dae.equations.as_slice().iter().filter(|e| e.origin.note != "connection");
            determined.extend(own.filter_map(|e| self.oriented(&e.row)));
            determined.extend(self.dae.calls.iter().flat_map(|c| c.outputs.iter().copied()));
            let actions = self.dae.whens.iter().flat_map(|w| &w.branches).flat_map(|b| &b.actions);
            determined.extend(assigned(&actions.collect::<Vec<_>>()));
            let sourceless = self.sourceless(&determined);
            self.diagnostics.extend(sourceless);
        }
        let mut found: Vec<(NodeId, Count, bool)> = Vec::new();
        let mut own = per;
        let generated = if written { PerInstance::default() } else { self.generated_per_instance() };
        for (instance, count) in generated {
            if let Some(n) = own.get_mut(&instance) {
                *n = n.saturating_sub(count);
            }
        }
        self.unbalanced(self.top, &own, &mut found);
        // What the composite classes miss is only told if everything together explains the whole.
        let sum: i64 = found.iter().map(|(_, c, _)| c.unknowns as i64 - c.equations as i64).sum();
        let explained = sum == unknowns as i64 - equations as i64;
        let mut told = FxHashSet::default();
        for (n, c, leaf) in found {
            let open = if c.equations < c.unknowns { self.open_inputs(n, &c.inputs) } else { Vec::new() };
            let missing = open.len();
            self.diagnostics.extend(open);
            // One message for one mistake.
            if c.unknowns == c.equations || !leaf && !explained || c.equations + missing == c.unknowns {
                continue;
            }
            let class = self.node(n).cref.class;
            if !told.insert((class, c.unknowns, c.equations)) {
                continue;
            }
            self.tell_unbalanced(n, &c);
        }
    }

    /// Classes that are not balanced although the whole is: what one has too much another one lacks. Looked at are classes
    /// without components and connections of their own; those are counted exactly.
    fn check_local_balance(&mut self, per: &PerInstance) {
        if self.clocks.any() || self.states.any() {
            return;
        }
        let generated = self.generated_per_instance();
        let connecting = self.connections.classes();
        let mut looked_at: FxHashMap<ClassId, usize> = FxHashMap::default();
        let mut found = Vec::new();
        let mut open = self.below(self.top);
        while let Some(n) = open.pop() {
            if self.node(n).outer.is_some() {
                continue;
            }
            let Ok(t) = self.template(n) else { continue };
            if t.builtin.is_some() {
                continue;
            }
            let below = self.below(n);
            open.extend(&below);
            let model = matches!(t.kind, ClassKind::Model | ClassKind::Block);
            if !model || t.partial || connecting.contains(&n) || !self.dims(n).is_ok_and(|d| d.is_empty()) {
                continue;
            }
            // Instances of a class differ by what modifiers bind; the first ones stand for all.
            let times = looked_at.entry(t.class).or_default();
            *times += 1;
            if *times > INSTANCES {
                continue;
            }
            let place = self.instance_text(n);
            let mut c = Count { equations: per.get(&*place).copied().unwrap_or(0), ..Count::default() };
            c.unknowns += generated.get(&*place).copied().unwrap_or(0);
            let mut plain = true;
            for k in below {
                let name = self.node(k).name;
                let protected = t.members.iter().any(|m| m.name == name && m.protected);
                plain &= self.own(k, per, &mut c) && self.own_inputs(k, n, protected, &mut c);
            }
            if plain && c.unknowns != c.equations {
                found.push((n, c));
            }
        }
        found.sort_by_key(|f| f.0);
        for (n, c) in found {
            self.tell_unbalanced(n, &c);
        }
    }

    /// Inputs as a class sees its own: public connectors are given from outside, even where the class says by a binding what they
    /// are equal to (bindings of other inputs are defaults); protected ones are unknowns like others. `false` for connectors with redundant variables.
    fn own_inputs(&mut self, n: NodeId, class: NodeId, protected: bool, c: &mut Count) -> bool {
        let Ok(t) = self.template(n) else { return false };
        if t.index.contains_key(&Name::new("equalityConstraint")) {
            return false;
        }
        if t.builtin.is_none() {
            return self.below(n).into_iter().all(|k| self.own_inputs(k, class, protected, c));
        }
        if self.node(n).causality != Causality::Input {
            return true;
        }
        let Some(size) = self.leaf_size(n) else { return true };
        match self.leaf_mod(n).ok().and_then(|m| m.binding.as_ref().map(|b| b.scope.node)) {
            None if protected => c.unknowns += size,
            Some(from) if !protected && from == class && t.is_connector() => c.unknowns -= size,
            _ => {}
        }
        true
    }

    fn tell_unbalanced(&mut self, n: NodeId, c: &Count) {
        let class = self.node(n).cref.class;
        let name = self.lib.qualified(class);
        let difference = match c.equations as i64 - c.unknowns as i64 {
            -1 => "one equation too few".to_string(),
            1 => "one equation too many".to_string(),
            d if d < 0 => format!("{} equations too few", -d),
            d => format!("{d} equations too many"),
        };
        let d = Diagnostic::warning(
            Stage::FrontEnd,
            self.lib.def(class).name.span,
            format!("{name} is not balanced: {} unknowns, {} equations, {difference}", c.unknowns, c.equations),
        )
        .within(self.instance_text(n));
        self.diagnostics.push(d);
    }

    /// Inputs of components of a class that the class neither connects nor mentions.
    fn open_inputs(&mut self, class: NodeId, inputs: &[NodeId]) -> Vec<Diagnostic> {
        let place = self.instance_text(class);
        let mentioned: FxHashSet<VarId> = (self.dae.equations.as_slice().iter())
            .filter(|e| *e.origin.instance == *place)
            .flat_map(|e| e.row.args.iter().filter_map(|a| a.variable()))
            .collect();
        let mut found = Vec::new();
        for &n in inputs {
            let Some(first) = self.node(n).var else { continue };
            let size = self.dims(n).map_or(1, |d| d.iter().product());
            for v in (first.index()..first.index() + size).map(VarId::new) {
                if mentioned.contains(&v) || self.connections.connected(class, v) {
                    continue;
                }
                let mut component = n;
                while let Some(p) = self.node(component).parent.filter(|&p| p != class) {
                    component = p;
                }
                let span = self.node(component).clause.map_or(Span::NONE, |c| c.1.name.span);
                let name = &self.dae.vars[v].name;
                found.push(
                    Diagnostic::warning(
                        Stage::FrontEnd,
                        span,
                        format!("the input {name} is not connected, and nothing gives it a value"),
                    )
                    .within(place.clone())
                    .hint("connect an output to it, or give it a value in the declaration or by an equation"),
                );
            }
        }
        found
    }

    /// The number of equations for generated variables, which stand where they are used first, whoever uses them.
    fn generated_per_instance(&self) -> PerInstance {
        let mut generated = PerInstance::default();
        let hidden = |v: &VarId| self.dae.vars[*v].hidden;
        for e in self.dae.equations.as_slice() {
            if self.oriented(&e.row).is_some_and(|v| hidden(&v)) {
                *generated.entry(e.origin.instance.clone()).or_default() += 1;
            }
        }
        for c in &self.dae.calls {
            *generated.entry(c.origin.instance.clone()).or_default() += c.outputs.iter().filter(|v| hidden(v)).count();
        }
        generated
    }

    /// The number of equations by the instance they stand in; nothing if branches of an if differ.
    fn equations_per_instance(&self, counts: &dyn Fn(VarId) -> bool, written: bool) -> Option<PerInstance> {
        let mut per = PerInstance::default();
        let mut branches: FxHashMap<(usize, u32), usize> = FxHashMap::default();
        let connections: Arc<str> = CONNECTIONS.into();
        let mut odd = false;
        for eq in self.dae.equations.as_slice() {
            if eq.origin.is_dummy() {
                return None;
            }
            if written && (eq.origin.note == "clock" || self.oriented(&eq.row).is_some_and(|v| !counts(v))) {
                continue;
            }
            // One equation for its class: two, and the unknown that they share.
            odd = eq.origin.note == "complementarity" && !odd;
            if odd {
                continue;
            }
            let mut first = true;
            let mut guard = eq.guard;
            if let Some((g, b)) = guard {
                *branches.entry((g.index(), b)).or_default() += 1;
            }
            while let Some((g, b)) = guard {
                first &= b == 0;
                guard = self.dae.ifs.as_slice()[g.index()].parent;
            }
            if first {
                // What connections give is counted by their class.
                let connection = matches!(eq.origin.note, "connection" | "unconnected flow");
                let key = if connection { connections.clone() } else { eq.origin.instance.clone() };
                *per.entry(key).or_default() += 1;
            }
        }
        for (g, group) in self.dae.ifs.as_slice().iter().enumerate() {
            let count = |b: u32| branches.get(&(g, b)).copied().unwrap_or(0);
            if group.parent.is_some() || (1..=group.conditions.len() as u32).any(|b| count(b) != count(0)) {
                return None;
            }
        }
        for c in &self.dae.calls {
            *per.entry(c.origin.instance.clone()).or_default() += c.outputs.iter().filter(|&&v| counts(v)).count();
        }
        let mut seen: FxHashSet<VarId> = FxHashSet::default();
        for w in &self.dae.whens {
            let vars = assigned(&w.branches.iter().flat_map(|b| b.actions.iter()).collect::<Vec<_>>());
            let fresh = vars.into_iter().filter(|&v| counts(v) && seen.insert(v)).count();
            *per.entry(w.origin.instance.clone()).or_default() += fresh;
        }
        let rest = self.dae.samplers.iter().filter(|s| counts(s.var)).count();
        *per.entry(connections).or_default() += rest;
        Some(per)
    }

    fn unbalanced(&mut self, n: NodeId, per: &PerInstance, out: &mut Vec<(NodeId, Count, bool)>) {
        if self.node(n).outer.is_some() {
            return;
        }
        let Ok(t) = self.template(n) else { return };
        let whole = self.dims(n).is_ok_and(|d| d.is_empty());
        if whole && matches!(t.kind, ClassKind::Model | ClassKind::Block | ClassKind::Class) && t.builtin.is_none() {
            let mut c = Count { equations: per.get(&*self.instance_text(n)).copied().unwrap_or(0), ..Count::default() };
            let mut leaf = true;
            for k in self.below(n) {
                leaf &= self.own(k, per, &mut c);
            }
            let joined = self.connection_equations_in(n);
            leaf &= joined.is_none();
            let (equations, joined_flows) = joined.unwrap_or_default();
            c.equations += equations + c.flows.saturating_sub(joined_flows);
            out.push((n, c, leaf));
        }
        for k in self.below(n) {
            self.unbalanced(k, per, out);
        }
    }

    /// Adds what a component declared in a class contributes to the class; whether it is no model itself.
    fn own(&mut self, n: NodeId, per: &PerInstance, c: &mut Count) -> bool {
        if self.node(n).outer.is_some() {
            c.unknowns += self.states.outputs.sizes.get(&n).copied().unwrap_or(0);
            return true;
        }
        let Ok(t) = self.template(n) else { return true };
        if t.builtin.is_some() {
            self.own_leaf(n, c);
            return true;
        }
        if matches!(t.kind, ClassKind::Model | ClassKind::Block | ClassKind::Class)
            && self.dims(n).is_ok_and(|d| d.is_empty())
        {
            for k in self.below(n) {
                if !self.node(k).protected {
                    self.duty(k, c);
                }
            }
            return false;
        }
        if self.dims(n).is_ok_and(|d| d.is_empty()) {
            c.equations += per.get(&*self.instance_text(n)).copied().unwrap_or(0);
        }
        let mut plain = true;
        for k in self.below(n) {
            plain &= self.own(k, per, c);
        }
        plain
    }

    fn leaf_size(&mut self, n: NodeId) -> Option<usize> {
        if matches!(self.node(n).variability, VariabilityPrefix::Parameter | VariabilityPrefix::Constant) {
            return None;
        }
        self.dims(n).ok().map(|d| d.iter().product())
    }

    fn own_leaf(&mut self, n: NodeId, c: &mut Count) {
        let Some(size) = self.leaf_size(n) else { return };
        if self.node(n).causality == Causality::Input && !self.bound(n) {
            return;
        }
        c.unknowns += size;
        if self.node(n).connection == Connection::Flow {
            c.equations += size;
        }
    }

    fn bound(&mut self, n: NodeId) -> bool {
        self.leaf_mod(n).is_ok_and(|m| m.binding.is_some())
    }

    /// The flows and inputs at the boundary of a component of a class, which the class has to determine.
    fn duty(&mut self, n: NodeId, c: &mut Count) {
        if self.node(n).outer.is_some() {
            return;
        }
        let Ok(t) = self.template(n) else { return };
        if t.builtin.is_some() {
            let Some(size) = self.leaf_size(n) else { return };
            if self.node(n).connection == Connection::Flow {
                c.unknowns += size;
                c.flows += size;
            } else if self.node(n).causality == Causality::Input && !self.bound(n) {
                c.unknowns += size;
                c.inputs.push(n);
            }
            return;
        }
        if t.is_connector() || t.is_record() || self.node(n).kind == NodeKind::Element {
            for k in self.below(n) {
                self.duty(k, c);
            }
        }
    }

    /// The scalars of a connector: potentials (and signals), flows.
    pub(crate) fn connector_size(&mut self, n: NodeId) -> (usize, usize) {
        let Ok(t) = self.template(n) else { return (0, 0) };
        if t.builtin.is_some() {
            let Some(size) = self.leaf_size(n) else { return (0, 0) };
            return match self.node(n).connection {
                Connection::Flow => (0, size),
                Connection::Stream => (0, 0),
                Connection::Potential => (size, 0),
            };
        }
        let mut sum = (0, 0);
        for k in self.below(n) {
            let (p, f) = self.connector_size(k);
            sum = (sum.0 + p, sum.1 + f);
        }
        sum
    }
}

fn assigned(actions: &[&Action]) -> Vec<VarId> {
    let mut out = Vec::new();
    for a in actions {
        match a {
            Action::Assign { var, .. } => out.push(*var),
            Action::Call { outputs, .. } => out.extend(outputs.iter().flatten()),
            _ => {}
        }
    }
    out
}
