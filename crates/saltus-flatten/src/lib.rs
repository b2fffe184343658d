//! Classes in, flat hybrid system out. The steps, in order ([`flatten`]):
//!
//! 1. *Instantiate*: the tree of components, made lazily as names are looked up; dimensions and conditions are evaluated.
//! 2. *Allocate*: one scalar variable per element of every leaf.
//! 3. *Connect*: connection sets, overconstrained graphs, stream mixing.
//! 4. *Declare*: attributes and bindings of the variables.
//! 5. *Equations*: evaluated over arrays of symbolic scalars, so they come out scalarised.
//!
//! One evaluator serves equations, bindings, dimensions and constants: what depends on nothing folds to a number.
//! Absent here: files (see `saltus-resolve`), ordering and causality of equations (see `saltus-structure`).

mod algorithm;
mod builtin;
mod call;
mod check;
mod clocked;
mod connect;
mod declare;
mod derivative;
mod discretize;
mod equation;
mod eval;
mod instance;
mod lower;
mod modifier;
mod rows;
mod states;
mod template;
mod unit;
mod value;
mod when;

use instance::{Found, Node, NodeKind};
use modifier::{Binding, Mod, NodeId, Scope};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_base::{Diagnostic, Name, Severity, Span, Stage};
use saltus_dae::{Action, HybridDae, Row, RowBuilder, VarId, Variability};
use saltus_expr::{ExprId, FuncId};
use saltus_resolve::{ClassId, ClassTable};
use saltus_syntax::ast::{Argument, ClassBody, Expr, ExprKind, Subscript};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use template::{ClassRef, Template};
use value::{Ty, Value};

/// What the caller may decide.
#[derive(Clone, Debug, Default)]
pub struct FlattenOptions {
    /// `--set name=value`: outermost modifiers.
    pub overrides: Vec<(String, String)>,
    /// Inputs of the model that are unknowns: equations determine them (an inverse model).
    pub computed: Vec<String>,
}

/// A result, or an error for the user.
pub(crate) type R<T> = Result<T, Box<Diagnostic>>;

/// How references to components are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Variables stay symbolic.
    Model,
    /// Everything must be known now; parameters used this way become structural.
    Konst,
    /// Only the shape matters.
    Shape,
}

/// A name bound by an iterator or a function call.
pub(crate) struct Local<'e> {
    pub name: Name,
    pub value: Value,
    pub up: Option<&'e Local<'e>>,
}

/// Where and how an expression is evaluated.
#[derive(Clone, Copy)]
pub(crate) struct Env<'e> {
    pub scope: Scope,
    pub locals: Option<&'e Local<'e>>,
    pub mode: Mode,
    /// Relations generate no events.
    pub plain: bool,
    /// The meaning of `end`.
    pub end: Option<usize>,
    /// Inside a when-clause.
    pub when: bool,
    /// Inside `pure(…)`: impure functions may be called.
    pub pure: bool,
    /// A condition decides whether the value is used.
    pub conditional: bool,
    /// Inside a when-clause that a clock drives.
    pub clocked: bool,
}

impl Env<'static> {
    pub fn model(scope: Scope) -> Self {
        Env {
            scope,
            locals: None,
            mode: Mode::Model,
            plain: false,
            end: None,
            when: false,
            pure: false,
            conditional: false,
            clocked: false,
        }
    }
    pub fn konst(scope: Scope) -> Self {
        Env { mode: Mode::Konst, ..Env::model(scope) }
    }
}

struct Names {
    start: Name,
    fixed: Name,
    time: Name,
    re: Name,
    im: Name,
}

pub(crate) struct Flattener<'t> {
    lib: &'t ClassTable,
    nodes: Vec<Node<'t>>,
    top: NodeId,
    templates: FxHashMap<(ClassId, Scope), Option<Rc<Template<'t>>>>,
    shallow: FxHashMap<(ClassId, Scope), Rc<Template<'t>>>,
    class_nodes: FxHashMap<(ClassId, Scope, usize), NodeId>,
    imports: FxHashMap<(ClassId, Name), Option<Found<'t>>>,
    importing: Vec<ClassId>,
    builtin_types: FxHashMap<ClassId, Ty>,
    builtin_names: FxHashSet<&'static str>,
    builtin_calls: FxHashMap<(usize, u16, Name), bool>,
    no_mod: Rc<Mod<'t>>,
    /// See [`modifier::Merged`].
    merged: modifier::Merged<'t>,
    /// The dimensions of scalars.
    no_dims: Rc<[usize]>,
    /// Modifications (by address) that mean the same in every scope, built once; `None` for the others.
    literal_mods: RefCell<FxHashMap<*const saltus_syntax::ast::Modification, Option<Rc<Mod<'t>>>>>,
    names: Names,
    /// Components made without a declaration in their parent: automatic inner ones, members of expandable connectors.
    extra: FxHashMap<(NodeId, Name), NodeId>,
    extra_order: Vec<NodeId>,
    /// Members that could not be made, and why.
    broken: FxHashMap<(NodeId, u32), Box<Diagnostic>>,
    dae: HybridDae,
    /// See [`FlattenOptions::computed`].
    computed: Vec<String>,
    rows: RowBuilder,
    diagnostics: Vec<Diagnostic>,
    variabilities: FxHashMap<ExprId, Variability>,
    counter: usize,
    recursion: usize,
    samplers: FxHashMap<(ExprId, ExprId), VarId>,
    synthetic: FxHashMap<String, FuncId>,
    enum_index: FxHashMap<ClassId, u32>,
    complex: Option<ClassId>,
    loose_records: bool,
    connections: connect::Connections,
    functions: lower::FunctionCache,
    conditions: FxHashMap<ExprId, VarId>,
    clocks: clocked::Clocks,
    states: states::StateMachines,
    call_vars: FxHashMap<(FuncId, Box<[ExprId]>), VarId>,
    in_initial: bool,
    /// What must hold where the equation of a when-clause that is looked at fires.
    when_checks: Vec<Action>,
    guard: Option<saltus_dae::Guard>,
    /// A class was found to contain itself: nothing more is instantiated.
    endless: bool,
    checks: check::Checks<'t>,
    /// Classes whose extends clauses were looked at.
    checked: FxHashSet<(ClassId, Scope)>,
    /// Places already warned about.
    warned: FxHashSet<Span>,
    /// Whether dimensions that are names, by where they stand, are types.
    typed_dims: FxHashMap<Span, bool>,
    /// The instance path asked for last.
    last_instance: RefCell<(NodeId, Arc<str>)>,
    /// Descriptions by their declarations.
    descriptions: FxHashMap<*const saltus_syntax::ast::Component, Arc<str>>,
}

const BUILTIN: &str = "type Real end Real; type Integer end Integer; type Boolean end Boolean; type String end String;
type Clock end Clock; partial class ExternalObject end ExternalObject;
type StateSelect = enumeration(never, avoid, default, prefer, always);
type AssertionLevel = enumeration(warning, error);";

/// Their names.
pub(crate) const PREDEFINED: &[&str] =
    &["Real", "Integer", "Boolean", "String", "Clock", "ExternalObject", "StateSelect", "AssertionLevel"];

const NAMES: &[&str] = &[
    "sqrt",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "exp",
    "log",
    "log10",
    "der",
    "pre",
    "previous",
    "edge",
    "change",
    "initial",
    "terminal",
    "noEvent",
    "smooth",
    "homotopy",
    "semiLinear",
    "sample",
    "hold",
    "subSample",
    "superSample",
    "shiftSample",
    "backSample",
    "noClock",
    "firstTick",
    "interval",
    "Clock",
    "delay",
    "spatialDistribution",
    "inStream",
    "actualStream",
    "cardinality",
    "rooted",
    "getInstanceName",
    "abs",
    "sign",
    "floor",
    "integer",
    "ceil",
    "div",
    "mod",
    "rem",
    "atan2",
    "Integer",
    "String",
    "min",
    "max",
    "sum",
    "product",
    "ndims",
    "size",
    "scalar",
    "vector",
    "matrix",
    "promote",
    "identity",
    "diagonal",
    "zeros",
    "ones",
    "fill",
    "linspace",
    "transpose",
    "outerProduct",
    "symmetric",
    "cross",
    "skew",
    "cat",
    "array",
    "pure",
    "activeState",
    "ticksInState",
    "timeInState",
    "assert",
    "reinit",
    "terminate",
];

/// Flattens a class, given by its qualified name. With errors among the diagnostics the model is not returned.
pub fn flatten(lib: &ClassTable, model: &str, options: &FlattenOptions) -> (Option<HybridDae>, Vec<Diagnostic>) {
    let mut f = Flattener::new(lib, model);
    f.computed.clone_from(&options.computed);
    let r = f.run(model, options);
    if let Err(e) = r {
        f.diagnostics.push(*e);
    }
    let mut diagnostics = lib.take_diagnostics();
    diagnostics.append(&mut f.diagnostics);
    // One cause is told once.
    let mut seen = FxHashSet::default();
    diagnostics.retain(|d| seen.insert((d.span, d.message.clone())));
    if diagnostics.iter().any(|d| d.severity == Severity::Error) {
        return (None, diagnostics);
    }
    let mut dae = f.dae;
    if let Err(e) = saltus_dae::verify(&dae) {
        diagnostics.push(Diagnostic::error(Stage::FrontEnd, Span::NONE, e));
        return (None, diagnostics);
    }
    dae.name = model.to_string();
    (Some(dae), diagnostics)
}

impl<'t> Flattener<'t> {
    fn new(lib: &'t ClassTable, model: &str) -> Self {
        if lib.top(Name::new("AssertionLevel")).is_none() {
            lib.load_text("<builtin>", BUILTIN);
        }
        let mut builtin_types = FxHashMap::default();
        for (name, ty) in [
            ("Real", Ty::Real),
            ("Integer", Ty::Int),
            ("Boolean", Ty::Bool),
            ("String", Ty::Str),
            ("Clock", Ty::Clock),
            ("ExternalObject", Ty::Object),
        ] {
            if let Some(c) = lib.top(Name::new(name)) {
                builtin_types.insert(c, ty);
            }
        }
        let no_mod = Rc::new(Mod::default());
        let mut f = Flattener {
            lib,
            nodes: Vec::new(),
            top: NodeId(1),
            templates: FxHashMap::default(),
            shallow: FxHashMap::default(),
            class_nodes: FxHashMap::default(),
            imports: FxHashMap::default(),
            importing: Vec::new(),
            builtin_types,
            builtin_calls: FxHashMap::default(),
            builtin_names: NAMES.iter().copied().collect(),
            no_mod: no_mod.clone(),
            merged: modifier::Merged::new(),
            no_dims: Rc::from([]),
            literal_mods: RefCell::default(),
            names: Names {
                start: Name::new("start"),
                fixed: Name::new("fixed"),
                time: Name::new("time"),
                re: Name::new("re"),
                im: Name::new("im"),
            },
            extra: FxHashMap::default(),
            extra_order: Vec::new(),
            dae: HybridDae::new(model),
            computed: Vec::new(),
            rows: RowBuilder::new(),
            diagnostics: Vec::new(),
            variabilities: FxHashMap::default(),
            counter: 0,
            recursion: 0,
            samplers: FxHashMap::default(),
            synthetic: FxHashMap::default(),
            enum_index: FxHashMap::default(),
            complex: None,
            loose_records: false,
            connections: Default::default(),
            functions: Default::default(),
            conditions: FxHashMap::default(),
            clocks: Default::default(),
            states: Default::default(),
            call_vars: FxHashMap::default(),
            in_initial: false,
            when_checks: Vec::new(),
            guard: None,
            broken: FxHashMap::default(),
            endless: false,
            checks: Default::default(),
            checked: FxHashSet::default(),
            warned: FxHashSet::default(),
            typed_dims: FxHashMap::default(),
            last_instance: RefCell::new((NodeId(u32::MAX), Arc::default())),
            descriptions: FxHashMap::default(),
        };
        let root = ClassRef { class: ClassId(0), scope: Scope::ROOT, mods: no_mod };
        f.new_node(Name::new(""), None, NodeKind::Root, root);
        f
    }

    fn run(&mut self, model: &str, options: &FlattenOptions) -> R<()> {
        let Some(class) = self.lib.class_named(model) else {
            let hints = self.similar_class(model);
            return Err(self.err_hints(Span::NONE, format!("there is no class {model}"), hints));
        };
        self.complex = self.lib.top(Name::new("Complex"));
        // The scope of the class: its enclosing packages, as class nodes.
        let scope = self.enclosing(class)?;
        let mods = self.override_mods(options)?;
        let top = self.new_node(self.lib.entry(class).name, None, NodeKind::Component, ClassRef { class, scope, mods });
        self.top = top;
        self.node_mut(top).live = true;
        let t = self.template(top)?;
        if t.partial {
            self.diagnostics.push(
                Diagnostic::error(
                    Stage::FrontEnd,
                    self.lib.def(class).name.span,
                    format!("{model} is partial and cannot be simulated"),
                )
                .hint("extend it by a class that completes it"),
            );
        }
        if matches!(t.kind, saltus_syntax::ast::ClassKind::Package | saltus_syntax::ast::ClassKind::Function)
            || t.builtin.is_some()
        {
            return Err(self.err(self.lib.def(class).name.span, format!("{model} is not a model or block")));
        }
        self.experiment(class);
        self.instantiate(top, 0);
        let mut k = 0;
        while k < self.extra_order.len() {
            let n = self.extra_order[k];
            self.instantiate(n, 0);
            k += 1;
        }
        if self.endless {
            return Ok(());
        }
        self.collect_connections(top);
        self.allocate(top);
        for k in 0..self.extra_order.len() {
            let n = self.extra_order[k];
            if self.node(n).parent == Some(self.top) {
                self.allocate(n);
            }
        }
        self.find_discrete(top);
        self.build_connections();
        self.declare(top);
        for k in 0..self.extra_order.len() {
            let n = self.extra_order[k];
            if self.node(n).parent == Some(self.top) {
                self.declare(n);
            }
        }
        self.sections(top);
        for k in 0..self.extra_order.len() {
            let n = self.extra_order[k];
            if self.node(n).parent == Some(self.top) {
                self.sections(n);
            }
        }
        self.connection_equations();
        let written = (self.clocks.any() || self.states.any()).then(|| self.census());
        self.finish_states();
        self.finish_clocks();
        self.finish_structural();
        self.drop_initial(class);
        let census = written.unwrap_or_else(|| self.census());
        self.finish_checks(census);
        self.check_imports(class);
        Ok(())
    }

    /// Imports that lead nowhere, in the classes that were used of the model's own file; nothing asked for them.
    fn check_imports(&mut self, class: ClassId) {
        let file = self.lib.def(class).name.span.file;
        let mut used: Vec<ClassId> = self.templates.keys().map(|k| k.0).collect();
        used.sort_unstable();
        used.dedup();
        for c in used {
            if self.lib.def(c).name.span.file != file {
                continue;
            }
            let own = self.lib.own(c);
            let mut imports: Vec<_> = own.imports.iter().collect();
            imports.sort_by_key(|(n, _)| own.import_spans.get(n).copied());
            for (name, path) in imports {
                if let Ok(None) = self.global(path)
                    && let (Ok((message, hints)), Some(&span)) = (self.unknown_import(path), own.import_spans.get(name))
                {
                    let mut d = Diagnostic::warning(Stage::FrontEnd, span, message);
                    d.hints = hints;
                    self.diagnostics.push(d);
                }
            }
        }
    }

    /// Advice for a qualified class name that leads nowhere.
    fn similar_class(&mut self, model: &str) -> Vec<String> {
        let path: Vec<Name> = model.split('.').map(Name::new).collect();
        if self.lib.top(path[0]).is_none() {
            return self.missing_library(path[0]);
        }
        for k in (1..path.len()).rev() {
            if let Some(c) = self.lib.class(&path[..k])
                && let Ok(scope) = self.enclosing(c)
            {
                let node = self.class_node(&self.plain(c, scope));
                return self.similar_members(node, path[k]);
            }
        }
        Vec::new()
    }

    /// The scope a class is declared in.
    fn enclosing(&mut self, class: ClassId) -> R<Scope> {
        match self.lib.entry(class).parent {
            None => Ok(Scope::ROOT),
            Some(p) => {
                let scope = self.enclosing(p)?;
                let node = self.class_node(&self.plain(p, scope));
                Ok(Scope { node, part: 0 })
            }
        }
    }

    fn override_mods(&mut self, options: &FlattenOptions) -> R<Rc<Mod<'t>>> {
        let mut all = self.no_mod.clone();
        for (name, text) in &options.overrides {
            let what = format!("--set {name}={text}");
            let first = |mut d: Vec<Diagnostic>, part: &str| {
                let none =
                    || Diagnostic::error(Stage::FrontEnd, Span::NONE, format!("the {part} of {what} is not one"));
                Box::new(d.drain(..).next().unwrap_or_else(none))
            };
            let e = self.lib.expression(&what, text).map_err(|d| first(d, "value"))?;
            let path = match &self.lib.expression(&what, name).map_err(|d| first(d, "name"))?.kind {
                ExprKind::Ref(r) => r,
                _ => return Err(first(Vec::new(), "name")),
            };
            let mut m = Rc::new(Mod {
                binding: Some(Binding {
                    source: e,
                    scope: Scope::ROOT,
                    each: true,
                    around: 0,
                    projections: Vec::new(),
                    weak: false,
                    cache: Rc::default(),
                    span: e.span,
                }),
                span: Some(e.span),
                ..Mod::default()
            });
            for part in path.parts.iter().rev() {
                if !part.subscripts.is_empty() {
                    let index = |s: &Subscript| match s {
                        Subscript::Index(Expr { kind: ExprKind::Integer(k), .. }) => usize::try_from(*k).ok(),
                        _ => None,
                    };
                    let Some(index) = part.subscripts.iter().map(index).collect() else {
                        let text = format!("the subscripts of --set {name} must be whole numbers");
                        return Err(self.err(part.name.span, text));
                    };
                    m = Rc::new(Mod { elements: vec![(index, m)], span: Some(part.name.span), ..Mod::default() });
                }
                m = Rc::new(Mod { children: vec![(part.name.name, m)], span: Some(e.span), ..Mod::default() });
            }
            all = modifier::merge(&m, &all);
        }
        Ok(all)
    }

    fn experiment(&mut self, class: ClassId) {
        let ClassBody::Long { annotation: Some(a), .. } = &*self.lib.def(class).body else { return };
        for arg in &a.args {
            if let Argument::Modification { path, modification: Some(m), .. } = arg
                && path.len() == 1
                && path[0].name == "experiment"
            {
                for x in &m.args {
                    if let Argument::Modification { path, modification: Some(v), .. } = x
                        && let [p] = &path[..]
                        && let Some(e) = &v.binding
                    {
                        let value = match &e.kind {
                            ExprKind::Unary(saltus_syntax::ast::UnaryOp::Neg, x) => number(x).map(|v| -v),
                            _ => number(e),
                        };
                        match p.name.as_str() {
                            "StartTime" => self.dae.experiment.start = value,
                            "StopTime" => self.dae.experiment.stop = value,
                            "Tolerance" => self.dae.experiment.tolerance = value,
                            "Interval" => self.dae.experiment.interval = value,
                            other if other.starts_with("__") => {}
                            other => {
                                let known = ["StartTime", "StopTime", "Tolerance", "Interval"];
                                let mut d = Diagnostic::warning(
                                    Stage::FrontEnd,
                                    p.span,
                                    format!("the experiment annotation has no {other}"),
                                );
                                d.hints = eval::suggest(other, known.into_iter());
                                self.diagnostics.push(d);
                            }
                        }
                    }
                }
            }
        }
    }

    /// `annotation(__Saltus_dropped = {2, 5})` of the model itself: these initial equations of the flat model do not hold.
    fn drop_initial(&mut self, class: ClassId) {
        let ClassBody::Long { annotation: Some(a), .. } = &*self.lib.def(class).body else { return };
        for arg in &a.args {
            let Argument::Modification { path, modification: Some(m), .. } = arg else { continue };
            let ([name], Some(value)) = (&path[..], &m.binding) else { continue };
            if name.name != "__Saltus_dropped" {
                continue;
            }
            let count = self.dae.initial_equations.len();
            let known = |v: f64| v.fract() == 0.0 && v >= 1.0 && v <= count as f64;
            let numbers: Option<Vec<usize>> = match &value.kind {
                ExprKind::Array(list) => {
                    list.iter().map(|e| number(e).filter(|v| known(*v)).map(|v| v as usize)).collect()
                }
                _ => None,
            };
            let Some(numbers) = numbers else {
                let text = format!("__Saltus_dropped is a list of numbers of initial equations, from 1 to {count}");
                self.diagnostics.push(Diagnostic::error(Stage::FrontEnd, value.span, text));
                continue;
            };
            let mut k = 0;
            self.dae.initial_equations.retain(|_| {
                k += 1;
                !numbers.contains(&k)
            });
        }
    }

    // ---- small things ------------------------------------------------------------------------------------------------

    pub(crate) fn err(&self, span: Span, message: impl Into<String>) -> Box<Diagnostic> {
        Box::new(Diagnostic::error(Stage::FrontEnd, span, message))
    }

    pub(crate) fn err_hints(&self, span: Span, message: impl Into<String>, hints: Vec<String>) -> Box<Diagnostic> {
        let mut d = Diagnostic::error(Stage::FrontEnd, span, message);
        d.hints = hints;
        Box::new(d)
    }

    /// Notes down where a value was asked for.
    pub(crate) fn used_at(&self, mut e: Box<Diagnostic>, span: Span) -> Box<Diagnostic> {
        if e.labels.len() < 4 && !span.is_none() && e.span != span {
            e.labels.push(saltus_base::Label { span, message: "needed here".into() });
        }
        e
    }

    #[allow(clippy::boxed_local)] // errors come in boxes
    pub(crate) fn report(&mut self, mut e: Box<Diagnostic>, node: NodeId) {
        if e.instance.is_empty() {
            e.instance = self.instance_text(node);
        }
        // Every use of a component that could not be made says so.
        let same = |d: &Diagnostic| d.span == e.span && d.message == e.message;
        let known = self.broken.values().any(|b| same(b)) && self.diagnostics.iter().any(same);
        if !known && self.diagnostics.len() < 500 {
            self.diagnostics.push(*e);
        }
    }

    /// [`Self::report`] for something that stands in one of the classes an instance is made of: the extends clauses that
    /// lead there are told too.
    pub(crate) fn report_in(&mut self, mut e: Box<Diagnostic>, scope: Scope) {
        if let Some(t) = self.node(scope.node).template.clone() {
            let mut part = scope.part as usize;
            while part > 0 && e.labels.len() < 6 {
                let (p, from) = (&t.parts[part], t.parts[part].from as usize);
                if let Some(span) = p.clause {
                    let by = self.lib.qualified(t.parts[from].class);
                    e.labels.push(saltus_base::Label { span, message: format!("extended by {by} here") });
                }
                part = from;
            }
        }
        self.report(e, scope.node);
    }

    pub(crate) fn instance_text(&self, node: NodeId) -> String {
        if node == self.top { String::new() } else { self.path(node) }
    }

    /// The same, shared by what is asked for of one instance in a row.
    pub(crate) fn instance_shared(&self, node: NodeId) -> Arc<str> {
        let mut last = self.last_instance.borrow_mut();
        if last.0 != node {
            *last = (node, self.instance_text(node).into());
        }
        last.1.clone()
    }

    pub(crate) fn scope_text(&self, s: Scope) -> String {
        match self.node(s.node).template.as_ref().and_then(|t| t.parts.get(s.part as usize)) {
            Some(p) => self.lib.qualified(p.class),
            None => "the top level".into(),
        }
    }

    /// The row of an expression. A residual `v - value` of a discrete v keeps that form, whatever the value.
    pub(crate) fn row(&mut self, e: ExprId) -> Row {
        use saltus_expr::{Binary, Node as XNode};
        if let XNode::Binary(Binary::Sub, a, b) = *self.dae.pool.node(e)
            && let Some(v) = self.as_var(a)
            && self.dae.vars[v].variability == Variability::Discrete
        {
            let value = self.rows.row(&mut self.dae.pool, b);
            let own = saltus_dae::Operand::var(v);
            let mut args = vec![own];
            let mut map = Vec::with_capacity(value.args.len());
            for &x in &value.args {
                if x == own {
                    map.push(0);
                } else {
                    args.push(x);
                    map.push(args.len() as u32 - 1);
                }
            }
            let t = self.dae.pool.substitute(value.template, |p, k| p.hole(map[k as usize]));
            let h = self.dae.pool.hole(0);
            return Row { template: self.dae.pool.intern(XNode::Binary(Binary::Sub, h, t)), args: args.into() };
        }
        self.rows.row(&mut self.dae.pool, e)
    }

    /// So many messages need no advice any more: it would cost more than all the rest.
    fn is_advice_idle(&self) -> bool {
        self.diagnostics.len() > 100
    }

    pub(crate) fn similar(&mut self, scope: Scope, name: Name, classes_only: bool) -> Vec<String> {
        if self.is_advice_idle() {
            return Vec::new();
        }
        let mut all: Vec<Name> = Vec::new();
        let mut s = scope;
        while s.node != Scope::ROOT.node {
            let Ok(t) = self.template(s.node) else { break };
            let fits = |m: &&template::Member<'_>| !classes_only || matches!(m.kind, template::MemberKind::Class(_));
            all.extend(t.members.iter().filter(fits).map(|m| m.name));
            match t.parts.get(s.part as usize) {
                Some(p) if p.def.prefixes.encapsulated => {
                    all.extend(self.lib.listing(p.class));
                    let mut hints = eval::suggest(name.as_str(), all.iter().map(|n| n.as_str()));
                    hints.push(format!("{} is encapsulated: import what it uses", self.lib.qualified(p.class)));
                    return hints;
                }
                Some(p) => {
                    all.extend(self.lib.listing(p.class));
                    s = p.parent;
                }
                None => break,
            }
        }
        if s.node == Scope::ROOT.node {
            all.extend(self.lib.top_names().into_iter().filter(|n| !n.as_str().starts_with('<')));
        }
        eval::suggest(name.as_str(), all.iter().map(|n| n.as_str()))
    }

    pub(crate) fn similar_members(&mut self, node: NodeId, name: Name) -> Vec<String> {
        let Ok(t) = self.template(node) else { return Vec::new() };
        if self.is_advice_idle() {
            return Vec::new();
        }
        let mut all: Vec<Name> = t.members.iter().map(|m| m.name).collect();
        for p in &t.parts {
            all.extend(self.lib.listing(p.class));
        }
        let mut hints = eval::suggest(name.as_str(), all.iter().map(|n| n.as_str()));
        if hints.is_empty() && !all.is_empty() && all.len() <= 12 {
            let list: Vec<&str> = all.iter().map(|n| n.as_str()).collect();
            hints.push(format!("it has {}", list.join(", ")));
        }
        hints
    }
}

fn number(e: &saltus_syntax::ast::Expr) -> Option<f64> {
    match e.kind {
        ExprKind::Real(v) => Some(v),
        ExprKind::Integer(v) => Some(v as f64),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
