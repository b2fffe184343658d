//! Functions and algorithms to the function IR: names become locals, records become one local per field.

use crate::algorithm::ModelContext;
use crate::call::holds_object;
use crate::eval::{Target, ref_text, unary_named};
use crate::instance::{Found, Slot};
use crate::modifier::{NodeId, Scope};
use crate::template::MemberKind;
use crate::value::{Ty, Value};
use crate::{Env, Flattener, Mode, R};
use rustc_hash::FxHashMap;
use saltus_base::{Name, Span};
use saltus_expr::{Binary, ExprId, FuncId, Unary};
use saltus_function::{
    Builtin, Dim, ExternalCall, FExpr, FIndex, FStmt, FStmtKind, Function, LValue, Local as FLocal, LocalId, Passing,
    ScalarType, strings,
};
use saltus_resolve::ClassId;
use saltus_syntax::ast::{
    BinaryOp, Call, Causality, ClassBody, ClassDef, ClassKind, ComponentRef, Expr, ExprKind, ForIndex, Ident, Section,
    Statement, StatementKind, Subscript, TypeSpec, UnaryOp, VariabilityPrefix,
};
use std::rc::Rc;

/// The locals of a variable: one, or one per field. Dimensions of enclosing record arrays come first.
#[derive(Clone, Debug)]
pub(crate) enum LTree {
    Leaf { local: LocalId, ty: Ty, rank: usize },
    Rec { class: ClassId, scope: Scope, rank: usize, fields: Vec<(Name, LTree)> },
}

/// A lowered expression.
#[derive(Clone, Debug)]
pub(crate) enum LVal {
    Leaf(FExpr, Ty, usize),
    Rec { class: ClassId, scope: Scope, rank: usize, fields: Vec<(Name, LVal)> },
    Func(NodeId, Vec<(Name, LVal)>),
}

impl LVal {
    /// The type (none for records) and the rank.
    fn kind(&self) -> (Option<Ty>, usize) {
        match self {
            LVal::Leaf(_, t, r) => (Some(*t), *r),
            LVal::Rec { rank, .. } => (None, *rank),
            LVal::Func(..) => (None, 0),
        }
    }
    fn leaves(&self, out: &mut Vec<(FExpr, Ty, usize)>) {
        match self {
            LVal::Leaf(e, t, r) => out.push((e.clone(), *t, *r)),
            LVal::Rec { fields, .. } => fields.iter().for_each(|(_, v)| v.leaves(out)),
            LVal::Func(_, b) => b.iter().for_each(|(_, v)| v.leaves(out)),
        }
    }
    fn rank(&self) -> usize {
        match self {
            LVal::Leaf(_, _, r) => *r,
            LVal::Rec { rank, .. } => *rank,
            LVal::Func(..) => 0,
        }
    }
    fn map(&self, f: &mut dyn FnMut(FExpr) -> FExpr, rank: &dyn Fn(usize) -> usize) -> LVal {
        match self {
            LVal::Leaf(e, t, r) => LVal::Leaf(f(e.clone()), *t, rank(*r)),
            LVal::Rec { class, scope, rank: r, fields } => LVal::Rec {
                class: *class,
                scope: *scope,
                rank: rank(*r),
                fields: fields.iter().map(|(n, v)| (*n, v.map(f, rank))).collect(),
            },
            v => v.clone(),
        }
    }
}

/// What one argument of a call looks like; part of the key of a specialised function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Given {
    /// The default is used.
    Default,
    /// Sizes of the leaves, if known.
    Value(Vec<Vec<Option<usize>>>),
    /// A function with some arguments bound.
    Function(NodeId, Vec<(Name, Given)>),
}

/// Functions with at most this many operations of their own are thin.
const THIN_WEIGHT: usize = 40;

/// External objects that values known when compiling were taken from; they end with the flattening.
#[derive(Default)]
pub(crate) struct Objects(pub Vec<f64>);

impl Drop for Objects {
    fn drop(&mut self) {
        for &handle in self.0.iter().rev() {
            // Tables have nothing to tell when they end.
            let _ = saltus_function::external::destroy(handle);
        }
    }
}

#[derive(Default)]
pub(crate) struct FunctionCache {
    pub ids: FxHashMap<(NodeId, Vec<Given>, Option<Vec<Vec<usize>>>), FuncId>,
    pub executor: Option<saltus_function::exec::Executor>,
    pub objects: Objects,
    pub signatures: FxHashMap<NodeId, Rc<Signature>>,
    /// Functions that cannot be inlined, and why not is not asked twice.
    pub opaque: rustc_hash::FxHashSet<FuncId>,
    /// Functions whose annotations were looked at.
    pub looked_at: rustc_hash::FxHashSet<FuncId>,
    pub impure: FxHashMap<FuncId, bool>,
    pub weights: FxHashMap<FuncId, usize>,
    /// Derivatives of functions as functions.
    pub tangents: FxHashMap<FuncId, FuncId>,
    pub thin: FxHashMap<FuncId, bool>,
    pub inlined: FxHashMap<(FuncId, Box<[ExprId]>), Vec<ExprId>>,
}

pub(crate) struct Signature {
    pub inputs: Vec<Param>,
    pub outputs: Vec<Param>,
    pub impure: bool,
    pub external: bool,
}

/// What is known of an argument: its sizes, and the value of a constant.
pub(crate) struct Shape {
    pub dims: Vec<usize>,
    pub value: Option<f64>,
}

pub(crate) struct Param {
    pub name: Name,
    pub node: NodeId,
    pub rank: usize,
    pub has_default: bool,
}

/// The arguments of an external call.
#[derive(Default)]
struct Arguments {
    args: Vec<FExpr>,
    passing: Vec<Passing>,
}

impl Arguments {
    fn push(&mut self, v: &LVal) {
        let mut l = Vec::new();
        v.leaves(&mut l);
        self.args.extend(l.into_iter().map(|x| x.0));
        self.passing.push(passing(v, 0));
    }
}

/// How a value below `outer` dimensions is passed to C.
fn passing(v: &LVal, outer: usize) -> Passing {
    match v {
        LVal::Rec { rank, fields, .. } => Passing::Record {
            rank: rank.saturating_sub(outer),
            fields: fields.iter().map(|(_, f)| passing(f, *rank)).collect(),
        },
        _ => Passing::Plain,
    }
}

/// A function under construction.
pub(crate) struct Lowering {
    pub f: Function,
    pub vars: FxHashMap<NodeId, LTree>,
    pub funcs: FxHashMap<NodeId, (NodeId, Vec<(Name, LVal)>)>,
    pub iterators: Vec<(Name, LVal)>,
    pub scope: Scope,
    pub literals: FxHashMap<Vec<u64>, LocalId>,
    pub model: Option<crate::algorithm::ModelContext>,
    /// The base whose dimension `end` means, and which dimension.
    pub end: Option<(FExpr, usize)>,
    /// Constant iterator values of unrolled loops.
    pub known: Vec<(Name, Value)>,
    /// How many statements with branches and loops are around: what they hold may never run.
    pub inside: usize,
    /// Dimensions of locals that a type declares.
    pub typed: rustc_hash::FxHashSet<(LocalId, usize)>,
    /// Relations and integer parts make events where the function is inlined.
    pub events: bool,
}

impl Lowering {
    pub fn new(name: String, scope: Scope, span: Span) -> Self {
        Lowering {
            f: Function {
                name,
                locals: Vec::new(),
                inputs: Vec::new(),
                outputs: Vec::new(),
                body: Vec::new(),
                external: None,
                derivative: None,
                impure: false,
                span,
            },
            vars: FxHashMap::default(),
            funcs: FxHashMap::default(),
            iterators: Vec::new(),
            scope,
            literals: FxHashMap::default(),
            model: None,
            end: None,
            known: Vec::new(),
            inside: 0,
            typed: rustc_hash::FxHashSet::default(),
            events: false,
        }
    }

    /// A relation or an integer part, marked if it is to make events.
    fn event(&self, e: FExpr) -> FExpr {
        if self.events { FExpr::Unary(Unary::Event, boxed(e)) } else { e }
    }

    /// Statements that belong before the one being lowered (of an algorithm section).
    pub fn take_pending(&mut self) -> Vec<FStmt> {
        self.model.as_mut().map(crate::algorithm::ModelContext::take_pending).unwrap_or_default()
    }

    /// Conditions of the if-expressions around (of an algorithm section).
    pub fn guards(&mut self) -> Option<&mut Vec<FExpr>> {
        self.model.as_mut().map(|m| &mut m.guards)
    }

    pub fn local(&mut self, name: String, ty: ScalarType, dims: Vec<Dim>, binding: Option<FExpr>) -> LocalId {
        self.f.locals.push(FLocal { name, ty, dims, binding });
        LocalId(self.f.locals.len() as u32 - 1)
    }
}

fn boxed(e: FExpr) -> Box<FExpr> {
    Box::new(e)
}

impl<'t> Flattener<'t> {
    pub(crate) fn signature(&mut self, node: NodeId, span: Span) -> R<Rc<Signature>> {
        if let Some(s) = self.functions.signatures.get(&node) {
            return Ok(s.clone());
        }
        let t = self.template(node)?;
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for (i, m) in t.members.iter().enumerate() {
            let MemberKind::Component { .. } = m.kind else { continue };
            let Slot::Node(c) = self.child(node, i as u32)? else { continue };
            let causality = self.node(c).causality;
            if causality == Causality::None {
                continue;
            }
            let ct = self.template(c)?;
            let mut rank: usize = ct.dims.iter().map(|d| d.0.len()).sum();
            if let Some((clause, comp, _)) = self.node(c).dims_from.as_deref().copied().or(self.node(c).clause) {
                rank += comp.dims.len() + clause.type_dims.len();
            }
            let has_default = self.leaf_or_own_mod(c)?.binding.is_some();
            let p = Param { name: m.name, node: c, rank, has_default };
            if causality == Causality::Input { inputs.push(p) } else { outputs.push(p) }
        }
        let _ = span;
        let impure = t.parts.iter().any(|p| p.def.prefixes.impure);
        let external = t.parts.iter().any(|p| matches!(&*p.def.body, ClassBody::Long { external: Some(_), .. }));
        let s = Rc::new(Signature { inputs, outputs, impure, external });
        self.functions.signatures.insert(node, s.clone());
        Ok(s)
    }

    /// The function specialised to these arguments.
    pub(crate) fn function(
        &mut self,
        node: NodeId,
        given: Vec<Given>,
        outputs: Option<Vec<Vec<usize>>>,
        span: Span,
    ) -> R<FuncId> {
        let key = (node, given, outputs);
        if let Some(&f) = self.functions.ids.get(&key) {
            return Ok(f);
        }
        let sig = self.signature(node, span)?;
        // Reserve the id first: functions may call themselves.
        let id = FuncId(self.dae.functions.len() as u32);
        let name = self.path(node);
        let mut lx = Lowering::new(name, Scope { node, part: 0 }, self.part_span(node));
        lx.f.impure = sig.impure;
        lx.events = self.asks_for_events(node)?;
        self.dae.functions.push(lx.f.clone());
        self.functions.ids.insert(key.clone(), id);
        self.functions.impure.insert(id, sig.impure);
        self.recursion += 5;
        let r = if self.recursion > 600 {
            Err(self.err(span, "function calls are nested too deeply"))
        } else {
            self.lower_function(&mut lx, node, &sig, &key.1, key.2.as_deref())
        };
        self.recursion -= 5;
        if let Err(e) = r {
            self.functions.ids.remove(&key);
            return Err(self.used_at(e, span));
        }
        self.dae.functions[id.0 as usize] = lx.f;
        Ok(id)
    }

    fn lower_function(
        &mut self,
        lx: &mut Lowering,
        node: NodeId,
        sig: &Signature,
        given: &[Given],
        out_dims: Option<&[Vec<usize>]>,
    ) -> R<()> {
        let t = self.template(node)?;
        // Inputs first, in order.
        let mut later: Vec<(usize, &Given)> = Vec::new();
        for (p, g) in sig.inputs.iter().zip(given) {
            match g {
                Given::Default => later.push((0, g)),
                Given::Value(sizes) => {
                    let tree = self.declare_sized(lx, p.node, p.name.to_string(), sizes)?;
                    lx.vars.insert(p.node, tree);
                }
                Given::Function(..) => {
                    if let LVal::Func(target, args) = self.declare_given(lx, p.node, p.name.to_string(), g)? {
                        lx.funcs.insert(p.node, (target, args));
                    }
                }
            }
        }
        // The rest in order of declaration: defaults, outputs, protected variables.
        let mut out_at = 0;
        for (i, m) in t.members.iter().enumerate() {
            let MemberKind::Component { .. } = m.kind else { continue };
            let Slot::Node(c) = self.child(node, i as u32)? else { continue };
            if lx.vars.contains_key(&c) || lx.funcs.contains_key(&c) {
                continue;
            }
            let causality = self.node(c).causality;
            if causality == Causality::None && self.node(c).variability == VariabilityPrefix::Constant {
                continue; // evaluated where used
            }
            let is_out = causality == Causality::Output;
            // A function-valued input left to its default.
            let ct = self.template(c)?;
            if ct.kind == ClassKind::Function {
                let bound = self.node(c).cref.mods.binding.clone();
                let value = match bound {
                    Some(b) => {
                        let keep = std::mem::replace(&mut lx.scope, b.scope);
                        let v = self.lower(lx, b.source);
                        lx.scope = keep;
                        let LVal::Func(target, args) = v? else {
                            return Err(self.err(b.span, format!("{} needs a function", m.name)));
                        };
                        (target, args)
                    }
                    None => {
                        let cn = self.node(c).cref.clone();
                        (self.class_node(&cn), Vec::new())
                    }
                };
                lx.funcs.insert(c, value);
                continue;
            }
            let mut fixed = out_dims.filter(|_| is_out);
            let tree = self.declare_tree(lx, c, m.name.to_string(), &[], &mut |_, dims| {
                if let Some(all) = &mut fixed {
                    let d = all.get(out_at).cloned().unwrap_or_default();
                    out_at += 1;
                    if d.len() == dims.len() {
                        return d.into_iter().map(Dim::Fixed).collect();
                    }
                }
                dims
            })?;
            if is_out {
                tree_locals(&tree, &mut lx.f.outputs);
            }
            lx.vars.insert(c, tree.clone());
            // Its binding.
            self.bind_tree(lx, c, &tree)?;
        }
        let empty = |def: &ClassDef| {
            matches!(&*def.body, ClassBody::Long { sections, external: None, .. } if sections.is_empty())
                || matches!(&*def.body, ClassBody::Short { .. })
        };
        if t.partial && t.parts.iter().all(|p| empty(p.def)) {
            let name = self.lib.qualified(t.class);
            let hint = "redeclare it by a function with an algorithm, or extend it by one".to_string();
            let message = format!("{name} is partial and cannot be called");
            return Err(self.err_hints(self.lib.def(t.class).name.span, message, vec![hint]));
        }
        let mut external = None;
        for part in (0..t.parts.len()).rev() {
            lx.scope = Scope { node, part: part as u16 };
            if let ClassBody::Long { sections, external: x, .. } = &*t.parts[part].def.body {
                for s in sections {
                    if let Section::Algorithm { statements, .. } = s {
                        let body = self.lower_statements(lx, statements)?;
                        lx.f.body.extend(body);
                    }
                }
                if let Some(x) = x {
                    external = Some((x, part));
                }
            }
        }
        if external.is_none() {
            self.check_outputs(lx, sig);
            self.check_unset(lx);
        }
        if let Some((x, part)) = external {
            lx.scope = Scope { node, part: part as u16 };
            let own = self.lib.entry(t.parts[part].class).name.to_string();
            let symbol = x.name.as_ref().map_or(own, |n| n.name.to_string());
            let mut call = Arguments::default();
            let mut result = None;
            // Without a call of its own: inputs, then outputs unless one is returned; sizes follow arrays.
            if x.name.is_none() && x.args.is_empty() && x.result.is_none() {
                let values = |lx: &Lowering, params: &[Param]| -> Vec<LVal> {
                    params.iter().filter_map(|p| lx.vars.get(&p.node)).map(tree_value).collect()
                };
                let mut list = values(lx, &sig.inputs);
                let outputs = values(lx, &sig.outputs);
                match &outputs[..] {
                    [one] if one.rank() == 0 => result = Some(one.clone()),
                    _ => list.extend(outputs),
                }
                for v in list {
                    call.push(&v);
                    let mut l = Vec::new();
                    v.leaves(&mut l);
                    let Some((first, ..)) = l.into_iter().next() else { continue };
                    for d in 0..v.rank() {
                        let size = vec![first.clone(), FExpr::Num(d as f64 + 1.0)];
                        call.push(&LVal::Leaf(FExpr::Builtin(Builtin::Size, size), Ty::Int, 0));
                    }
                }
            }
            for a in &x.args {
                let v = self.lower(lx, a)?;
                call.push(&v);
            }
            if let Some(r) = &x.result {
                if !sig.outputs.iter().any(|o| r.parts.first().is_some_and(|p| p.name.name == o.name)) {
                    let text = format!("{} is no output of this function: it cannot take a result", ref_text(r));
                    return Err(self.err(r.span, text));
                }
                result = Some(self.lower_ref(lx, r)?);
            }
            let returns_record = matches!(result, Some(LVal::Rec { .. }));
            let result = match result {
                Some(LVal::Leaf(FExpr::Local(l), ..)) => Some(l),
                Some(v @ LVal::Rec { rank: 0, .. }) => {
                    call.push(&v);
                    None
                }
                Some(_) => return Err(self.err(x.span, "an external function returns a scalar or a record")),
                None => None,
            };
            let Arguments { args, passing } = call;
            let language = x.language.clone().unwrap_or_else(|| "C".into());
            let (mut includes, mut libraries) = (Vec::new(), Vec::new());
            let folder = self.lib.folder(t.parts[part].class).unwrap_or_else(|| ".".into());
            let root = self.library_root(&folder);
            let below = |name: &str| vec![format!("{root}/Resources/{name}")];
            let (mut include_dirs, mut library_dirs, mut source_dirs) =
                (below("Include"), below("Library"), below("Source"));
            source_dirs.extend(below("C-Sources"));
            if let Some(a) = &x.annotation {
                for arg in &a.args {
                    if let saltus_syntax::ast::Argument::Modification { path, modification: Some(m), .. } = arg
                        && let Some(e) = &m.binding
                    {
                        let mut texts = Vec::new();
                        match &e.kind {
                            ExprKind::String(s) => texts.push(s.to_string()),
                            ExprKind::Array(v) => texts.extend(v.iter().filter_map(|e| match &e.kind {
                                ExprKind::String(s) => Some(s.to_string()),
                                _ => None,
                            })),
                            _ => {}
                        }
                        match path.first().map(|p| p.name.as_str()) {
                            Some("Include") => includes.extend(texts),
                            Some("Library") => libraries.extend(texts),
                            Some(what @ ("IncludeDirectory" | "LibraryDirectory" | "SourceDirectory")) => {
                                let dirs = texts.iter().filter_map(|uri| self.resource_path(uri).ok());
                                match what {
                                    "IncludeDirectory" => include_dirs = dirs.collect(),
                                    "LibraryDirectory" => library_dirs = dirs.collect(),
                                    _ => source_dirs = dirs.collect(),
                                }
                            }
                            _ => {}
                        }
                    }
                }
            }
            if !matches!(&*language, "builtin" | "C" | "FORTRAN 77") {
                let text = format!("there is no way to call functions of the language {language}");
                return Err(self.err_hints(
                    x.span,
                    text,
                    vec!["write external \"C\" or external \"FORTRAN 77\"".into()],
                ));
            }
            if language == "builtin" {
                // `external "builtin" y = sin(u)`: the language's own function.
                let call = Call {
                    function: ComponentRef {
                        global: false,
                        parts: vec![saltus_syntax::ast::RefPart {
                            name: x
                                .name
                                .unwrap_or(saltus_syntax::ast::Ident { name: Name::new(&symbol), span: x.span }),
                            subscripts: Vec::new(),
                        }],
                        span: x.span,
                    },
                    args: x.args.clone(),
                    named: Vec::new(),
                    iterators: Vec::new(),
                };
                let v = self.lower_builtin(lx, &symbol, &call, x.span)?;
                let mut l = Vec::new();
                v.leaves(&mut l);
                if let (Some(r), Some(e)) = (result, l.into_iter().next()) {
                    lx.f.body.push(FStmt {
                        kind: FStmtKind::Assign(LValue { local: r, indices: Vec::new() }, e.0),
                        span: x.span,
                    });
                }
            } else {
                let destructor = self.destructor_of(node, x.span)?;
                lx.f.external = Some(ExternalCall {
                    language,
                    symbol,
                    args,
                    passing,
                    returns_record,
                    result,
                    includes,
                    libraries,
                    include_dirs,
                    library_dirs,
                    source_dirs,
                    destructor,
                });
            }
        }
        Ok(())
    }

    /// An output must get a value, by its declaration or by the algorithm, whatever branches are taken.
    fn check_outputs(&mut self, lx: &Lowering, sig: &Signature) {
        let mut given = rustc_hash::FxHashSet::default();
        targets(&lx.f.body, &mut given);
        let assured = assured(&lx.f, &lx.f.body).filter(|_| !calls_for_effect(&lx.f.body));
        for o in &sig.outputs {
            let mut locals = Vec::new();
            match lx.vars.get(&o.node) {
                Some(t) => tree_locals(t, &mut locals),
                None => continue,
            }
            let valued = |l: &LocalId| {
                let local = &lx.f.locals[l.0 as usize];
                given.contains(l) || local.binding.is_some() || local.dims.iter().any(|d| matches!(d, Dim::Fixed(0)))
            };
            let span = self.node(o.node).clause.map_or(lx.f.span, |c| c.1.name.span);
            if !locals.is_empty() && !locals.iter().any(valued) && self.warned.insert(span) {
                let text = format!("{} gives its output {} no value", lx.f.name, o.name);
                let d = saltus_base::Diagnostic::error(saltus_base::Stage::FrontEnd, span, text);
                self.diagnostics.push(d.hint(format!("assign {} in the algorithm, or give it a value here", o.name)));
            }
            // Parts of arrays and records may have a meaning in some cases only.
            if let (Some(assured), &[l]) = (&assured, &locals[..])
                && let FLocal { dims, binding: None, .. } = &lx.f.locals[l.0 as usize]
                && dims.is_empty()
                && given.contains(&l)
                && !assured.contains(&l)
                && self.warned.insert(span)
            {
                let text = format!("not every branch of {} gives its output {} a value", lx.f.name, o.name);
                let d = saltus_base::Diagnostic::warning(saltus_base::Stage::FrontEnd, span, text);
                self.diagnostics.push(d.hint("assign it before the branches, or in an else"));
            }
        }
    }

    /// A protected variable that is read must get a value somewhere.
    fn check_unset(&mut self, lx: &Lowering) {
        let mut given = rustc_hash::FxHashSet::default();
        targets(&lx.f.body, &mut given);
        let mut found = Vec::new();
        for (&n, tree) in &lx.vars {
            let mut locals = Vec::new();
            tree_locals(tree, &mut locals);
            let valued = |l: &LocalId| {
                let local = &lx.f.locals[l.0 as usize];
                given.contains(l) || local.binding.is_some() || local.dims.iter().any(|d| matches!(d, Dim::Fixed(0)))
            };
            let Some((_, component, _)) = self.node(n).clause else { continue };
            if self.node(n).causality == Causality::None
                && !locals.iter().any(valued)
                && locals.iter().any(|&l| reads(&lx.f.body, l))
                && self.warned.insert(component.name.span)
            {
                let text = format!("{} reads {}, which has no value", lx.f.name, component.name.name);
                let d = saltus_base::Diagnostic::warning(saltus_base::Stage::FrontEnd, component.name.span, text);
                found.push(d);
            }
        }
        // The variables are in no order.
        found.sort_by_key(|d| d.span.start);
        self.diagnostics.extend(found);
    }

    /// The text of an assertion; nothing where it cannot be told, which does not stop a function from being used.
    fn lower_message(&mut self, lx: &mut Lowering, e: &Expr) -> R<Option<FExpr>> {
        match self.lower(lx, e) {
            Ok(LVal::Leaf(m, Ty::Str, 0)) => Ok(Some(m)),
            Ok(LVal::Leaf(_, ty, _)) => {
                let ty = self.type_text(ty);
                Err(self.err(e.span, format!("a message must be a String, not {ty}")))
            }
            _ => Ok(None),
        }
    }

    /// The destructor that belongs to the constructor of an external object.
    fn destructor_of(&mut self, node: NodeId, span: Span) -> R<Option<FuncId>> {
        let object = self.node(node).cref.scope;
        if self.node(node).name != "constructor"
            || object == Scope::ROOT
            || self.template(object.node)?.builtin != Some(Ty::Object)
        {
            return Ok(None);
        }
        let Some(Found::Class(d)) = self.member_from(object, Name::new("destructor"))? else { return Ok(None) };
        let d = self.class_node(&d);
        self.function(d, vec![Given::Value(vec![Vec::new()])], None, span).map(Some)
    }

    /// Roughly how many operations one run of a function takes; decides whether inlining is worth trying.
    pub(crate) fn weight(&mut self, f: FuncId) -> usize {
        if let Some(&w) = self.functions.weights.get(&f) {
            return w;
        }
        self.functions.weights.insert(f, 100_000); // recursion
        let Some(fun) = self.dae.functions.get(f.0 as usize).cloned() else { return 0 };
        let w = self.function_weight(&fun, true);
        self.functions.weights.insert(f, w);
        w
    }

    /// Few operations of its own: inlined even where what it calls is not.
    pub(crate) fn is_thin(&mut self, f: FuncId) -> bool {
        if let Some(&t) = self.functions.thin.get(&f) {
            return t;
        }
        let Some(fun) = self.dae.functions.get(f.0 as usize).cloned() else { return false };
        let thin = fun.external.is_none() && self.function_weight(&fun, false) <= THIN_WEIGHT;
        self.functions.thin.insert(f, thin);
        thin
    }

    fn call_weight(&mut self, f: FuncId, deep: bool) -> usize {
        if deep { self.weight(f) } else { 1 }
    }

    /// Operations of a function, with those of what it calls or (not `deep`) a call as one.
    fn function_weight(&mut self, fun: &Function, deep: bool) -> usize {
        let mut w = if fun.external.is_some() { 5 } else { 0 };
        for l in &fun.locals {
            if let Some(b) = &l.binding {
                w += self.expr_weight(b, deep);
            }
        }
        w + self.body_weight(&fun.body, deep)
    }

    fn body_weight(&mut self, body: &[FStmt], deep: bool) -> usize {
        let mut w: usize = 0;
        for s in body {
            w = w.saturating_add(match &s.kind {
                FStmtKind::Assign(_, e) => self.expr_weight(e, deep),
                FStmtKind::MultiAssign(_, f, args) => {
                    args.iter().map(|a| self.expr_weight(a, deep)).sum::<usize>() + self.call_weight(*f, deep)
                }
                FStmtKind::If(b, o) => {
                    b.iter().map(|(c, b)| self.expr_weight(c, deep) + self.body_weight(b, deep)).sum::<usize>()
                        + self.body_weight(o, deep)
                }
                FStmtKind::For(_, r, b) => self.expr_weight(r, deep) + self.body_weight(b, deep).saturating_mul(8),
                FStmtKind::While(c, b) => self.expr_weight(c, deep) + self.body_weight(b, deep).saturating_mul(20),
                _ => 1,
            });
        }
        w
    }

    fn expr_weight(&mut self, e: &FExpr, deep: bool) -> usize {
        match e {
            FExpr::Num(_) | FExpr::Str(_) | FExpr::Local(_) => 0,
            FExpr::Index(a, i) => {
                1 + self.expr_weight(a, deep)
                    + i.iter()
                        .map(|i| match i {
                            FIndex::At(e) => self.expr_weight(e, deep),
                            FIndex::All => 1,
                        })
                        .sum::<usize>()
            }
            FExpr::Unary(_, a) => 1 + self.expr_weight(a, deep),
            FExpr::Binary(_, a, b) => 1 + self.expr_weight(a, deep) + self.expr_weight(b, deep),
            FExpr::If(c, a, b) => 1 + self.expr_weight(c, deep) + self.expr_weight(a, deep) + self.expr_weight(b, deep),
            FExpr::Array(v) => v.iter().map(|a| self.expr_weight(a, deep)).sum(),
            FExpr::Range(a, _, b) => 3 + self.expr_weight(a, deep) + self.expr_weight(b, deep),
            FExpr::Comprehension(b, _) | FExpr::Reduction(_, b, _) => self.expr_weight(b, deep).saturating_mul(8),
            FExpr::Call(f, args, _) => {
                args.iter().map(|a| self.expr_weight(a, deep)).sum::<usize>() + self.call_weight(*f, deep)
            }
            FExpr::Builtin(_, args) => 3 + args.iter().map(|a| self.expr_weight(a, deep)).sum::<usize>(),
        }
    }

    /// The locals of an input whose leaves have the sizes given.
    fn declare_sized(&mut self, lx: &mut Lowering, c: NodeId, name: String, sizes: &[Vec<Option<usize>>]) -> R<LTree> {
        let mut k = 0;
        let tree = self.declare_tree(lx, c, name, &[], &mut |_, dims| {
            let s = sizes.get(k).cloned().unwrap_or_default();
            k += 1;
            dims.into_iter()
                .enumerate()
                .map(|(i, _)| s.get(i).copied().flatten().map_or(Dim::Free, Dim::Fixed))
                .collect()
        })?;
        tree_locals(&tree, &mut lx.f.inputs);
        Ok(tree)
    }

    /// What an input stands for: its locals, or a function whose bound arguments have locals.
    fn declare_given(&mut self, lx: &mut Lowering, c: NodeId, name: String, g: &Given) -> R<LVal> {
        match g {
            Given::Value(sizes) => Ok(tree_value(&self.declare_sized(lx, c, name, sizes)?)),
            Given::Function(target, bound) => {
                let sig = self.signature(*target, Span::NONE)?;
                let mut args = Vec::new();
                for (n, g) in bound {
                    let Some(q) = sig.inputs.iter().find(|q| q.name == *n) else { continue };
                    args.push((*n, self.declare_given(lx, q.node, format!("{name}.{n}"), g)?));
                }
                Ok(LVal::Func(*target, args))
            }
            Given::Default => Err(self.err(Span::NONE, "bug in Saltus: a bound argument without a value")),
        }
    }

    /// Makes the locals of a variable; `dims` may change the dimensions of each leaf.
    fn declare_tree(
        &mut self,
        lx: &mut Lowering,
        c: NodeId,
        name: String,
        outer: &[Dim],
        dims: &mut dyn FnMut(&mut Self, Vec<Dim>) -> Vec<Dim>,
    ) -> R<LTree> {
        let t = self.template(c)?;
        let mut own: Vec<Dim> = outer.to_vec();
        let mut subs: Vec<(&'t Subscript, Scope)> = Vec::new();
        if let Some(d) = self.node(c).dims_from.as_deref().copied().or(self.node(c).clause) {
            subs.extend(d.1.dims.iter().chain(&d.0.type_dims).map(|s| (s, d.2)));
        }
        for (d, s, _) in &t.dims {
            subs.extend(d.iter().map(|x| (x, *s)));
        }
        for (s, scope) in subs {
            own.push(match s {
                Subscript::All(_) => Dim::Free,
                Subscript::Index(e) => match self.eval(&Env::konst(scope), e) {
                    Ok(v)
                        if self.const_of(&v).is_some()
                            && v.rank() == 0
                            && !(scope.node == lx.scope.node && names_given_input(lx, e)) =>
                    {
                        let none = v.ty() == Some(Ty::Int) && self.const_of(&v).is_some_and(|n| n < 0.0);
                        Dim::Fixed(if none { 0 } else { self.dimension(&v, e.span)? })
                    }
                    Ok(Value::Arr(a)) if matches!(a.ty, Ty::Enum(_) | Ty::Bool) => Dim::Fixed(a.e.len()),
                    _ => {
                        let keep = lx.scope;
                        lx.scope = scope;
                        let v = self.lower(lx, e);
                        lx.scope = keep;
                        match v {
                            Ok(LVal::Leaf(e, _, 0)) => match known_size(&lx.f, &e) {
                                Some(n) => Dim::Fixed(n.max(0.0) as usize),
                                None => Dim::Computed(e),
                            },
                            Err(why) if self.names_nothing(scope, e) => return Err(why),
                            _ => Dim::Free,
                        }
                    }
                },
            });
        }
        if let Some(ty) = t.builtin {
            let own = dims(self, own);
            let rank = own.len();
            let fixed = own.iter().filter_map(|d| if let Dim::Fixed(n) = d { Some(*n) } else { None });
            if let Err(count) = crate::value::count_of(&fixed.collect::<Vec<_>>()) {
                let span = self.node(c).clause.map_or(Span::NONE, |c| c.1.name.span);
                return Err(self.err(span, format!("{name}: {count} elements are too many")));
            }
            let local = lx.local(name, ty.scalar(), own, None);
            for k in 0..rank - outer.len().min(rank) {
                if self.indexed_by_type(c, k) == Some(true) {
                    lx.typed.insert((local, outer.len() + k));
                }
            }
            return Ok(LTree::Leaf { local, ty, rank });
        }
        let rank = own.len();
        let mut fields = Vec::new();
        for (i, m) in t.members.iter().enumerate() {
            let MemberKind::Component { .. } = m.kind else { continue };
            let Slot::Node(k) = self.child(c, i as u32)? else { continue };
            let tree = self.declare_tree(lx, k, format!("{name}.{}", m.name), &own, dims)?;
            fields.push((m.name, tree));
        }
        Ok(LTree::Rec { class: t.class, scope: self.node(c).cref.scope, rank, fields })
    }

    /// Whether an expression holds a name that means nothing in its scope.
    fn names_nothing(&mut self, scope: Scope, e: &Expr) -> bool {
        let mut unknown = false;
        crate::eval::visit_refs(e, &mut |r| {
            let name = r.parts.first().map(|p| p.name.name);
            unknown |= !r.global && name.is_some_and(|n| matches!(self.lookup(scope, n), Ok(None)));
        });
        unknown
    }

    /// Bindings of a local or output variable, evaluated on entry.
    fn bind_tree(&mut self, lx: &mut Lowering, c: NodeId, tree: &LTree) -> R<()> {
        let m = self.leaf_or_own_mod(c)?;
        if let Some(b) = &m.binding {
            if !b.projections.is_empty() {
                // A field of a record with a binding: handled at the record.
                return Ok(());
            }
            let keep = lx.scope;
            lx.scope = b.scope;
            let v = self.lower(lx, b.source);
            lx.scope = keep;
            let v = v?;
            let (mut locals, mut leaves) = (Vec::new(), Vec::new());
            tree_locals(tree, &mut locals);
            self.ordered(&tree_value(tree), &v, &mut leaves, b.span)?;
            let mut tl = Vec::new();
            tree_leaves(tree, &mut tl);
            for ((l, e), (_, ty, rank)) in locals.into_iter().zip(leaves).zip(tl) {
                if e.2 == rank {
                    self.check_assigned(lx, &LValue { local: l, indices: Vec::new() }, (ty, rank), &e, b.span)?;
                }
                let e = self.broadcast(lx, l, e, rank);
                lx.f.locals[l.0 as usize].binding = Some(e);
            }
            return Ok(());
        }
        if let LTree::Rec { fields, .. } = tree {
            let t = self.template(c)?;
            let mut nodes = Vec::new();
            for (n, sub) in fields {
                if let Some(&i) = t.index.get(n)
                    && let Slot::Node(k) = self.child(c, i)?
                {
                    nodes.push((k, sub));
                }
            }
            // Defaults may read fields that have none.
            for (k, sub) in &nodes {
                if self.leaf_or_own_mod(*k)?.binding.is_none() {
                    lx.vars.insert(*k, (*sub).clone());
                }
            }
            for (k, sub) in nodes {
                self.bind_tree(lx, k, sub)?;
            }
        }
        Ok(())
    }

    fn broadcast(&mut self, lx: &Lowering, l: LocalId, e: (FExpr, Ty, usize), rank: usize) -> FExpr {
        if e.2 == 0 && rank > 0 {
            let mut args = vec![e.0];
            for d in &lx.f.locals[l.0 as usize].dims {
                match d {
                    Dim::Fixed(n) => args.push(FExpr::Num(*n as f64)),
                    Dim::Computed(x) => args.push(x.clone()),
                    Dim::Free => args.push(FExpr::Num(0.0)),
                }
            }
            return FExpr::Builtin(Builtin::Fill, args);
        }
        e.0
    }

    /// The leaves of `v` in the order of `like` (records are matched by field names).
    fn ordered(&mut self, like: &LVal, v: &LVal, out: &mut Vec<(FExpr, Ty, usize)>, span: Span) -> R<()> {
        match (like, v) {
            (LVal::Rec { fields: a, .. }, LVal::Rec { fields: b, .. }) => {
                for (n, x) in a {
                    match b.iter().find(|(m, _)| m == n) {
                        Some((_, y)) => self.ordered(x, y, out, span)?,
                        None => return Err(self.err(span, format!("the value has no field {n}"))),
                    }
                }
                Ok(())
            }
            (LVal::Leaf(_, want, _), LVal::Leaf(e, t, r)) => {
                if !self.alike(*want, *t) && !is_empty(e) {
                    let (want, have) = (self.type_text(*want), self.type_text(*t));
                    return Err(self.err(span, format!("{want} and {have} do not fit together")));
                }
                out.push((e.clone(), *t, *r));
                Ok(())
            }
            (LVal::Rec { .. }, LVal::Leaf(_, _, r)) if *r > 0 => {
                // An empty array of records.
                let mut l = Vec::new();
                like.leaves(&mut l);
                for _ in l {
                    v.leaves(out);
                }
                Ok(())
            }
            _ => Err(self.err(span, "a record and a number cannot be assigned to each other")),
        }
    }

    /// Whether values of two types can stand for each other, up to Integers and Reals.
    fn alike(&mut self, a: Ty, b: Ty) -> bool {
        match (a, b) {
            (Ty::Enum(x), Ty::Enum(y)) => self.same_enum(x, y),
            (Ty::Bool | Ty::Clock, Ty::Bool | Ty::Clock) => true,
            (a, b) => a == b || a.numeric() && b.numeric(),
        }
    }

    /// What goes into a variable must be of its type and have as many dimensions; sizes that are known must agree.
    fn check_assigned(
        &mut self,
        lx: &Lowering,
        target: &LValue,
        (ty, rank): (Ty, usize),
        value: &(FExpr, Ty, usize),
        span: Span,
    ) -> R<()> {
        if is_empty(&value.0) && rank > 0 {
            return Ok(());
        }
        let local = &lx.f.locals[target.local.0 as usize];
        if ty == Ty::Int && value.1 == Ty::Real || !self.alike(ty, value.1) {
            let (want, have) = (self.type_text(ty), self.type_text(value.1));
            let message = format!("{} is of type {want}, but the value is of type {have}", local.name);
            let hints = match (ty, value.1) {
                (Ty::Int, Ty::Real) => vec!["round it with integer(…)".into()],
                _ => Vec::new(),
            };
            return Err(self.err_hints(span, message, hints));
        }
        if value.2 != rank {
            let dimensions = |n: usize| match n {
                0 => "is a scalar".to_string(),
                1 => "has 1 dimension".to_string(),
                n => format!("has {n} dimensions"),
            };
            let message = format!("{} {}, but the value {}", local.name, dimensions(rank), dimensions(value.2));
            let hints = match value.2 {
                0 => vec!["fill(…) makes an array of one value".into()],
                _ => Vec::new(),
            };
            return Err(self.err_hints(span, message, hints));
        }
        if target.indices.is_empty()
            && lx.inside == 0
            && let Some(have) = fixed_shape(&lx.f, &value.0)
            && have.len() == local.dims.len()
            && have.iter().zip(&local.dims).any(|(n, d)| matches!(d, Dim::Fixed(m) if m != n))
            && let Some(want) = fixed_shape(&lx.f, &FExpr::Local(target.local))
        {
            let (want, have) = (crate::value::shape_text(&want), crate::value::shape_text(&have));
            let message = format!("{} has the shape {want}, but the value has the shape {have}", local.name);
            return Err(self.err(span, message));
        }
        Ok(())
    }

    /// A condition of statements.
    fn lower_condition(&mut self, lx: &mut Lowering, e: &Expr) -> R<FExpr> {
        match self.lower(lx, e)? {
            LVal::Leaf(x, Ty::Bool | Ty::Clock, 0) => Ok(x),
            LVal::Leaf(_, ty, 0) => {
                let ty = self.type_text(ty);
                Err(self.err(e.span, format!("a condition must be a Boolean, not of type {ty}")))
            }
            _ => Err(self.err(e.span, "a condition must be a Boolean scalar")),
        }
    }

    // ---- statements ----------------------------------------------------------------------------------------------

    pub(crate) fn lower_statements(&mut self, lx: &mut Lowering, s: &[Statement]) -> R<Vec<FStmt>> {
        let mut out = Vec::new();
        for s in s {
            let mut own = Vec::new();
            let nests = matches!(
                s.kind,
                StatementKind::If { .. }
                    | StatementKind::For { .. }
                    | StatementKind::While { .. }
                    | StatementKind::When { .. }
            );
            lx.inside += usize::from(nests);
            let r = self.lower_statement(lx, s, &mut own);
            lx.inside -= usize::from(nests);
            r?;
            match &s.kind {
                StatementKind::Assign(r, _) => self.forget(lx, r),
                StatementKind::MultiAssign(targets, _) => targets.iter().flatten().for_each(|r| self.forget(lx, r)),
                _ => {}
            }
            out.extend(lx.take_pending());
            out.extend(own);
        }
        Ok(out)
    }

    fn lower_statement(&mut self, lx: &mut Lowering, s: &Statement, out: &mut Vec<FStmt>) -> R<()> {
        let mut push = |kind| out.push(FStmt { kind, span: s.span });
        match &s.kind {
            StatementKind::Assign(r, e) => {
                let (targets, like) = self.lvalue(lx, r)?;
                let v = self.lower(lx, e)?;
                let mut leaves = Vec::new();
                self.ordered(&like, &v, &mut leaves, s.span)?;
                let mut list = Vec::with_capacity(targets.len());
                for ((l, ty, rank), v) in targets.into_iter().zip(leaves) {
                    self.check_assigned(lx, &l, (ty, rank), &v, e.span)?;
                    list.push((l, v.0, rank));
                }
                self.assign_together(lx, list, s.span, out)
            }
            StatementKind::MultiAssign(targets, e) => {
                let ExprKind::Call(c) = &e.kind else {
                    if let [Some(r)] = &targets[..] {
                        let st = Statement {
                            kind: StatementKind::Assign(r.clone(), e.clone()),
                            comment: Default::default(),
                            span: s.span,
                        };
                        return self.lower_statement(lx, &st, out);
                    }
                    return Err(self.err(s.span, "several results come only from a function call"));
                };
                if self.is_builtin_call(lx.scope, &c.function)
                    && c.function.parts[0].name.name == "spatialDistribution"
                    && lx.model.is_some()
                {
                    let results = self.captured_results(lx, e)?;
                    for (r, v) in targets.iter().zip(results) {
                        let Some(r) = r else { continue };
                        let (l, like) = self.lvalue(lx, r)?;
                        let mut leaves = Vec::new();
                        self.ordered(&like, &v, &mut leaves, s.span)?;
                        for ((l, ..), e) in l.into_iter().zip(leaves) {
                            push(FStmtKind::Assign(l, e.0));
                        }
                    }
                    return Ok(());
                }
                let Some((f, args, outs)) = self.lower_user_call(lx, c, e.span)? else {
                    let v = self.lower(lx, e)?;
                    if let Some(Some(r)) = targets.first() {
                        let (l, like) = self.lvalue(lx, r)?;
                        let mut leaves = Vec::new();
                        self.ordered(&like, &v, &mut leaves, s.span)?;
                        for ((l, ..), e) in l.into_iter().zip(leaves) {
                            push(FStmtKind::Assign(l, e.0));
                        }
                    }
                    return Ok(());
                };
                let mut all = Vec::new();
                for (k, o) in outs.iter().enumerate() {
                    let mut l = Vec::new();
                    o.leaves(&mut l);
                    match targets.get(k) {
                        Some(Some(r)) => {
                            let (t, like) = self.lvalue(lx, r)?;
                            let mut values = Vec::new();
                            self.ordered(&like, o, &mut values, r.span)?;
                            for ((l, ty, rank), v) in t.into_iter().zip(values) {
                                self.check_assigned(lx, &l, (ty, rank), &(FExpr::Num(0.0), v.1, v.2), r.span)?;
                                all.push(Some(l));
                            }
                        }
                        _ => all.extend(l.iter().map(|_| None)),
                    }
                }
                push(FStmtKind::MultiAssign(all, f, args));
                Ok(())
            }
            StatementKind::Call(e) => {
                let ExprKind::Call(c) = &e.kind else { return Err(self.err(s.span, "this is not a statement")) };
                let name = if let [p] = &c.function.parts[..] { p.name.name.as_str() } else { "" };
                match name {
                    "assert" => {
                        let pick = |k: usize, n: &str| {
                            c.args.get(k).or_else(|| c.named.iter().find(|(m, _)| m.name == n).map(|(_, e)| e))
                        };
                        let Some(cond) = pick(0, "condition") else {
                            return Err(self.err(s.span, "assert needs a condition"));
                        };
                        let cond = self.lower_condition(lx, cond)?;
                        let message = match pick(1, "message") {
                            Some(m) => self.lower_message(lx, m)?.unwrap_or(FExpr::Str("assertion failed".into())),
                            None => FExpr::Str("assertion failed".into()),
                        };
                        let warn = match pick(2, "level") {
                            Some(l) => matches!(self.lower_scalar(lx, l)?, FExpr::Num(x) if x == 1.0),
                            None => false,
                        };
                        push(FStmtKind::Assert(cond, message, warn));
                        Ok(())
                    }
                    "terminate" => {
                        let m = match c.args.first() {
                            Some(m) => self.lower_message(lx, m)?.unwrap_or(FExpr::Str("".into())),
                            None => FExpr::Str("".into()),
                        };
                        push(FStmtKind::Terminate(m));
                        Ok(())
                    }
                    "reinit" => self.algorithm_reinit(lx, c, s.span, out),
                    _ => {
                        if let Some((f, args, _)) = self.lower_user_call(lx, c, e.span)? {
                            push(FStmtKind::MultiAssign(Vec::new(), f, args));
                        }
                        Ok(())
                    }
                }
            }
            StatementKind::If { branches, otherwise } => {
                let mut inside = branches.iter().flat_map(|b| &b.1).chain(otherwise);
                if let Some(when) = inside.find(|s| matches!(s.kind, StatementKind::When { .. })) {
                    let hint = "other tools refuse that (Modelica 3.6, section 11.2.7.1): write the condition into the when-statement";
                    self.other_tools("a when-statement stands in an if-statement".into(), hint, when.span);
                }
                self.lower_if(lx, branches, otherwise, s.span, out)
            }
            StatementKind::For { indices, body } => {
                if let Some(when) = body.iter().find(|s| matches!(s.kind, StatementKind::When { .. }))
                    && self.warned.insert(when.span)
                {
                    // Not in the specification, but it is clear what is meant.
                    let text = "a when-statement stands in a loop: every pass counts as one of its own";
                    let d = saltus_base::Diagnostic::warning(saltus_base::Stage::FrontEnd, when.span, text);
                    self.diagnostics.push(d.hint("write the loop inside the when-statement"));
                }
                let b = self.lower_for(lx, indices, body, s.span)?;
                out.extend(b);
                Ok(())
            }
            StatementKind::While { condition, body } => {
                if let Some(when) = body.iter().find(|s| matches!(s.kind, StatementKind::When { .. })) {
                    return Err(self.err(when.span, "when cannot stand in a while loop"));
                }
                let within = |m: &mut ModelContext| {
                    let in_while = m.capture || m.in_while;
                    (std::mem::replace(&mut m.capture, false), std::mem::replace(&mut m.in_while, in_while))
                };
                let keep = lx.model.as_mut().map(within);
                self.forget_all(lx);
                let c = self.lower_condition(lx, condition)?;
                let b = self.lower_statements(lx, body)?;
                if let (Some(m), Some(k)) = (&mut lx.model, keep) {
                    (m.capture, m.in_while) = k;
                }
                out.push(FStmt { kind: FStmtKind::While(c, b), span: s.span });
                Ok(())
            }
            StatementKind::When { branches } => self.algorithm_when(lx, branches, s.span, out),
            StatementKind::Break => {
                push(FStmtKind::Break);
                Ok(())
            }
            StatementKind::Return if lx.model.is_some() => {
                Err(self.err(s.span, "`return` ends a function: it cannot stand in an algorithm section of a model"))
            }
            StatementKind::Return => {
                push(FStmtKind::Return);
                Ok(())
            }
        }
    }

    /// Assigns the fields of a record at once: a field that a later one reads is kept aside until all are computed.
    fn assign_together(
        &mut self,
        lx: &mut Lowering,
        list: Vec<(LValue, FExpr, usize)>,
        span: Span,
        out: &mut Vec<FStmt>,
    ) -> R<()> {
        let targets: Vec<LocalId> = list.iter().map(|(l, ..)| l.local).collect();
        let index_reads = |l: &LValue, t: LocalId| l.indices.iter().any(|i| matches!(i, FIndex::At(x) if x.reads(t)));
        let mut last = Vec::new();
        for k in 0..list.len() {
            let (l, e, rank) = &list[k];
            let aside = list[k + 1..].iter().any(|(o, e, _)| e.reads(l.local) || index_reads(o, l.local));
            if !aside {
                out.push(FStmt { kind: FStmtKind::Assign(l.clone(), e.clone()), span });
                continue;
            }
            if targets.iter().any(|t| index_reads(l, *t)) {
                let message = "the subscripts read the record that is assigned";
                return Err(self.err_hints(span, message, vec!["compute the subscript before".into()]));
            }
            let of = &lx.f.locals[l.local.0 as usize];
            let (ty, dims) = match l.indices.is_empty() {
                true => (of.ty, of.dims.clone()),
                false => (of.ty, vec![Dim::Free; *rank]),
            };
            let id = lx.local(format!("{}'", of.name), ty, dims, None);
            let target = LValue { local: id, indices: Vec::new() };
            out.push(FStmt { kind: FStmtKind::Assign(target, e.clone()), span });
            last.push(FStmt { kind: FStmtKind::Assign(l.clone(), FExpr::Local(id)), span });
        }
        out.extend(last);
        Ok(())
    }

    fn lower_if(
        &mut self,
        lx: &mut Lowering,
        branches: &[(Expr, Vec<Statement>)],
        otherwise: &[Statement],
        span: Span,
        out: &mut Vec<FStmt>,
    ) -> R<()> {
        let Some(((c, body), rest)) = branches.split_first() else {
            out.extend(self.lower_statements(lx, otherwise)?);
            return Ok(());
        };
        let c = self.lower_condition(lx, c)?;
        out.extend(lx.take_pending());
        if let FExpr::Num(x) = c {
            if x == 0.0 {
                return self.lower_if(lx, rest, otherwise, span, out);
            }
            out.extend(self.lower_statements(lx, body)?);
            return Ok(());
        }
        let mut list = vec![(c, self.lower_statements(lx, body)?)];
        let mut last = Vec::new();
        self.lower_if(lx, rest, otherwise, span, &mut last)?;
        // One statement with several branches, where the later conditions need no statements of their own.
        if !rest.is_empty()
            && last.len() == 1
            && let Some(FStmt { kind: FStmtKind::If(..), .. }) = last.first()
            && let Some(FStmt { kind: FStmtKind::If(more, end), .. }) = last.pop()
        {
            list.extend(more);
            last = end;
        }
        out.push(FStmt { kind: FStmtKind::If(list, last), span });
        Ok(())
    }

    fn lower_for(&mut self, lx: &mut Lowering, indices: &[ForIndex], body: &[Statement], span: Span) -> R<Vec<FStmt>> {
        let Some((it, rest)) = indices.split_first() else { return self.lower_statements(lx, body) };
        let range = match &it.range {
            Some(r) => r.clone(),
            None => {
                let mut found = None;
                for s in body {
                    visit_statement(s, &mut |e| {
                        if found.is_none() {
                            found = subscripted(it.name.name, e);
                        }
                    });
                }
                match found {
                    Some((base, d)) => self.implicit_in(lx, base, d),
                    None => {
                        return Err(self.err(it.name.span, format!("the range of {} cannot be deduced", it.name.name)));
                    }
                }
            }
        };
        if lx.model.is_some() && !has_jump(body) {
            // Unroll: relations inside become events of their own.
            let env = self.env_of(lx);
            let env = Env { mode: Mode::Konst, ..env };
            let known = lx.known.clone();
            let v = self.with_known(&known, &env, &mut |me, env| me.eval(env, &range));
            if let Ok(v) = v
                && v.rank() == 1
                && v.dims()[0] <= 1000
                && self.all_const(&v)
            {
                let mut out = Vec::new();
                for k in 0..v.dims()[0] {
                    lx.known.push((it.name.name, v.at(k)));
                    let r = self.lower_for(lx, rest, body, span);
                    lx.known.pop();
                    out.extend(r?);
                }
                return Ok(out);
            }
        }
        let LVal::Leaf(r, ty, 1) = self.lower(lx, &range)? else {
            return Err(self.err(range.span, "a for-loop must run over a vector"));
        };
        let mut out = lx.take_pending();
        self.forget_all(lx);
        let id = lx.local(it.name.name.to_string(), ty.scalar(), Vec::new(), None);
        lx.iterators.push((it.name.name, LVal::Leaf(FExpr::Local(id), ty, 0)));
        let b = self.lower_for(lx, rest, body, span);
        lx.iterators.pop();
        out.push(FStmt { kind: FStmtKind::For(id, r, b?), span });
        Ok(out)
    }

    pub(crate) fn env_of(&self, lx: &Lowering) -> Env<'static> {
        // Statements check their own subscripts.
        Env { conditional: true, ..Env::model(lx.scope) }
    }

    /// Evaluates with the iterators of unrolled loops bound.
    pub(crate) fn with_known<T>(
        &mut self,
        known: &[(Name, Value)],
        env: &Env,
        f: &mut dyn FnMut(&mut Self, &Env) -> R<T>,
    ) -> R<T> {
        match known.split_first() {
            None => f(self, env),
            Some(((n, v), rest)) => {
                let local = crate::Local { name: *n, value: v.clone(), up: env.locals };
                let env = Env { locals: Some(&local), ..*env };
                self.with_known(rest, &env, f)
            }
        }
    }

    /// What an assignment writes to.
    pub(crate) fn lvalue(&mut self, lx: &mut Lowering, r: &ComponentRef) -> R<(Vec<(LValue, Ty, usize)>, LVal)> {
        if lx.model.as_ref().is_some_and(|m| !m.initial)
            && let [first] = &r.parts[..]
            && let Ok(Some(Found::Component(n))) = self.lookup(lx.scope, first.name.name)
            && n.0 != u32::MAX
            && matches!(self.node(n).variability, VariabilityPrefix::Parameter | VariabilityPrefix::Constant)
        {
            if self.node(n).variability == VariabilityPrefix::Constant {
                let message = format!("{} is a constant and cannot be assigned", first.name.name);
                return Err(self.err(r.span, message));
            }
            let message = format!("{} is a parameter: an algorithm cannot determine it", first.name.name);
            let hint = "set fixed = false and assign it in an initial algorithm".to_string();
            let mut e = self.err_hints(r.span, message, vec![hint]);
            if let Some((_, c, _)) = self.node(n).clause {
                e.labels.push(saltus_base::Label { span: c.name.span, message: "declared here".into() });
            }
            return Err(e);
        }
        if lx.model.is_none()
            && let Some(first) = r.parts.first()
            && let Ok(Some(Found::Component(n))) = self.lookup(lx.scope, first.name.name)
            && n.0 != u32::MAX
            && self.node(n).causality == Causality::Input
            && lx.vars.contains_key(&n)
        {
            let mut e = self.err_hints(
                r.span,
                format!("{} is an input of {} and cannot be assigned", first.name.name, lx.f.name),
                vec!["copy it to a protected variable first".into()],
            );
            if let Some((_, c, _)) = self.node(n).clause {
                e.labels.push(saltus_base::Label { span: c.name.span, message: "declared here".into() });
            }
            return Err(e);
        }
        let tree = match self.ref_tree(lx, r)? {
            Some(t) => t,
            // An array without elements: whether the statement is ever reached is not known here.
            None => match self.without_elements(lx, r) {
                Some(t) => (t, r.parts.len() - 1),
                None => {
                    let name = ref_text(r);
                    let iterator = lx.iterators.iter().map(|i| i.0).chain(lx.known.iter().map(|k| k.0));
                    let text = match iterator.into_iter().any(|n| n == name.as_str()) {
                        true => format!("{name} is the variable of a loop and cannot be assigned"),
                        false => format!("{name} cannot be assigned here"),
                    };
                    return Err(self.err(r.span, text));
                }
            },
        };
        let (tree, skip) = tree;
        let mut t = tree;
        let mut indices: Vec<FIndex> = Vec::new();
        let mut dropped = 0;
        for (k, p) in r.parts.iter().enumerate().skip(skip) {
            if k > skip {
                t = match &t {
                    LTree::Rec { fields, .. } => match fields.iter().find(|(n, _)| *n == p.name.name) {
                        Some((_, f)) => f.clone(),
                        None => return Err(self.err(p.name.span, format!("there is no field {}", p.name.name))),
                    },
                    LTree::Leaf { .. } => {
                        return Err(self.err(p.name.span, format!("there is no field {}", p.name.name)));
                    }
                };
            }
            let rank = match &t {
                LTree::Leaf { rank, .. } | LTree::Rec { rank, .. } => *rank,
            };
            if !p.subscripts.is_empty() {
                let base = first_local(&t);
                for s in &p.subscripts {
                    let at = indices.len();
                    indices.push(self.lower_index(lx, s, base.clone(), at, &mut dropped)?);
                }
            }
            while indices.len() < rank && k + 1 < r.parts.len() {
                indices.push(FIndex::All);
            }
        }
        let mut out = Vec::new();
        let mut leaves = Vec::new();
        tree_leaves(&t, &mut leaves);
        for (local, ty, rank) in leaves {
            let mut idx = indices.clone();
            if !idx.is_empty() {
                while idx.len() < rank {
                    idx.push(FIndex::All);
                }
            }
            if idx.iter().all(|i| matches!(i, FIndex::All)) {
                idx.clear();
            }
            out.push((LValue { local, indices: idx }, ty, rank.saturating_sub(dropped)));
        }
        let like = tree_value(&t);
        Ok((out, like))
    }

    /// A local for a variable of the model that has no elements.
    fn without_elements(&mut self, lx: &mut Lowering, r: &ComponentRef) -> Option<LTree> {
        lx.model.as_ref()?;
        let mut bare = r.clone();
        bare.parts.last_mut()?.subscripts.clear();
        let (env, known) = (self.env_of(lx), lx.known.clone());
        let v = self.with_known(&known, &env, &mut |me, env| me.eval_ref(env, &bare)).ok()?;
        let ty = v.ty().filter(|_| v.rank() > 0 && v.len() == 0)?;
        let dims = v.dims().iter().map(|&d| Dim::Fixed(d)).collect();
        let nothing = FExpr::Builtin(Builtin::Zeros, v.dims().iter().map(|&d| FExpr::Num(d as f64)).collect());
        let local = lx.local(ref_text(&bare), ty.scalar(), dims, Some(nothing));
        Some(LTree::Leaf { local, ty, rank: v.rank() })
    }

    fn lower_index(
        &mut self,
        lx: &mut Lowering,
        s: &Subscript,
        base: FExpr,
        dim: usize,
        dropped: &mut usize,
    ) -> R<FIndex> {
        match s {
            Subscript::All(_) => Ok(FIndex::All),
            Subscript::Index(e) => {
                let typed = matches!(base, FExpr::Local(l) if lx.typed.contains(&(l, dim)));
                let keep = lx.end.replace((base, dim + 1));
                let v = self.lower(lx, e);
                lx.end = keep;
                match v? {
                    LVal::Leaf(_, Ty::Int, _) if typed && !crate::eval::mentions_end(e) => {
                        Err(self.untyped_subscript(e))
                    }
                    LVal::Leaf(x, ty, r @ (0 | 1)) => {
                        if r == 0 {
                            *dropped += 1;
                        }
                        let x = if ty == Ty::Bool {
                            FExpr::Binary(Binary::Add, boxed(x), boxed(FExpr::Num(1.0)))
                        } else {
                            x
                        };
                        Ok(FIndex::At(x))
                    }
                    _ => Err(self.err(e.span, "a subscript must be an Integer or a vector of Integers")),
                }
            }
        }
    }

    /// The locals of the first parts of a reference, and the number of the part they belong to.
    fn ref_tree(&mut self, lx: &mut Lowering, r: &ComponentRef) -> R<Option<(LTree, usize)>> {
        let Some(first) = r.parts.first() else { return Ok(None) };
        if !r.global
            && let Some(Found::Component(n)) = self.lookup(lx.scope, first.name.name)?
        {
            if n.0 == u32::MAX {
                return Err(self.err(
                    r.span,
                    format!("{} does not exist: the component is switched off by its condition", ref_text(r)),
                ));
            }
            if let Some(t) = lx.vars.get(&n) {
                return Ok(Some((t.clone(), 0)));
            }
        }
        if lx.model.is_some() {
            return self.model_tree(lx, r);
        }
        Ok(None)
    }

    // ---- expressions ---------------------------------------------------------------------------------------------

    pub(crate) fn lower_scalar(&mut self, lx: &mut Lowering, e: &Expr) -> R<FExpr> {
        match self.lower(lx, e)? {
            LVal::Leaf(x, _, 0) => Ok(x),
            _ => Err(self.err(e.span, "a scalar is needed here")),
        }
    }

    /// A constant as an expression.
    pub(crate) fn literal(&mut self, lx: &mut Lowering, v: &Value) -> R<LVal> {
        match v {
            Value::Num(e, ty) => match self.dae.pool.as_const(*e) {
                Some(x) => {
                    Ok(LVal::Leaf(if *ty == Ty::Str { FExpr::Str(strings::text(x)) } else { FExpr::Num(x) }, *ty, 0))
                }
                None => Err(self.err(Span::NONE, "this value is not known when compiling")),
            },
            Value::Arr(a) => {
                let mut flat = Vec::with_capacity(a.e.len());
                for e in &a.e {
                    match self.dae.pool.as_const(*e) {
                        Some(x) => {
                            flat.push(if a.ty == Ty::Str { FExpr::Str(strings::text(x)) } else { FExpr::Num(x) })
                        }
                        None => return Err(self.err(Span::NONE, "this value is not known when compiling")),
                    }
                }
                let rank = a.dims.len();
                if flat.is_empty() {
                    let dims = a.dims.iter().map(|&d| FExpr::Num(d as f64)).collect();
                    return Ok(LVal::Leaf(FExpr::Builtin(Builtin::Zeros, dims), a.ty, rank));
                }
                let nested = nest(&flat, &a.dims);
                if a.e.len() <= 3 {
                    return Ok(LVal::Leaf(nested, a.ty, rank));
                }
                let mut key: Vec<u64> = a.dims.iter().map(|&d| d as u64).collect();
                key.push(u64::MAX);
                key.extend(a.e.iter().map(|e| e.index() as u64));
                let id = match lx.literals.get(&key) {
                    Some(&l) => l,
                    None => {
                        let n = lx.literals.len();
                        let l = lx.local(
                            format!("$c{n}"),
                            a.ty.scalar(),
                            a.dims.iter().map(|&d| Dim::Fixed(d)).collect(),
                            Some(nested),
                        );
                        lx.literals.insert(key, l);
                        l
                    }
                };
                Ok(LVal::Leaf(FExpr::Local(id), a.ty, rank))
            }
            Value::Rec(r) => Ok(LVal::Rec {
                class: r.class,
                scope: r.scope,
                rank: 0,
                fields: r.fields.iter().map(|(n, v)| Ok((*n, self.literal(lx, v)?))).collect::<R<_>>()?,
            }),
            Value::RecArr(a) => {
                let Some(Value::Rec(first)) = a.e.first() else {
                    return Ok(LVal::Leaf(FExpr::Array(Vec::new()), Ty::Real, a.dims.len()));
                };
                let mut fields = Vec::new();
                for (n, _) in &first.fields {
                    if let Some(f) = v.field(*n) {
                        fields.push((*n, self.literal(lx, &f)?));
                    }
                }
                Ok(LVal::Rec { class: first.class, scope: first.scope, rank: a.dims.len(), fields })
            }
            Value::Func(f) => {
                let bound = f.bound.iter().map(|(n, v)| Ok((*n, self.literal(lx, v)?))).collect::<R<_>>()?;
                Ok(LVal::Func(f.node, bound))
            }
            Value::Tuple(t) => match t.first() {
                Some(v) => self.literal(lx, v),
                None => Err(self.err(Span::NONE, "nothing is no value")),
            },
        }
    }

    pub(crate) fn lower(&mut self, lx: &mut Lowering, e: &Expr) -> R<LVal> {
        self.recursion += 1;
        if self.recursion > 700 {
            self.recursion -= 1;
            return Err(self.err(e.span, "the expression is nested too deeply"));
        }
        let r = self.lower_inner(lx, e);
        self.recursion -= 1;
        r
    }

    /// Relations inside are taken as they stand: no events.
    fn lower_literally(&mut self, lx: &mut Lowering, e: &Expr) -> R<LVal> {
        let literally = |m: &mut ModelContext| {
            (std::mem::replace(&mut m.capture, false), std::mem::replace(&mut m.in_while, false))
        };
        let keep = lx.model.as_mut().map(literally);
        let events = std::mem::replace(&mut lx.events, false);
        let v = self.lower(lx, e);
        lx.events = events;
        if let (Some(m), Some(k)) = (&mut lx.model, keep) {
            (m.capture, m.in_while) = k;
        }
        v
    }

    fn lower_inner(&mut self, lx: &mut Lowering, e: &Expr) -> R<LVal> {
        if lx.model.is_some()
            && let Some(v) = self.capture(lx, e)?
        {
            return Ok(v);
        }
        match &e.kind {
            ExprKind::Real(v) => Ok(LVal::Leaf(FExpr::Num(*v), Ty::Real, 0)),
            ExprKind::Integer(v) => Ok(LVal::Leaf(FExpr::Num(*v as f64), Ty::Int, 0)),
            ExprKind::Boolean(v) => Ok(LVal::Leaf(FExpr::Num(f64::from(*v)), Ty::Bool, 0)),
            ExprKind::String(s) => Ok(LVal::Leaf(FExpr::Str(s.clone()), Ty::Str, 0)),
            ExprKind::Ref(r) => self.lower_ref(lx, r),
            ExprKind::Unary(op, a) => {
                let v = self.lower(lx, a)?;
                let plus = matches!(op, UnaryOp::Plus | UnaryOp::ElemPlus);
                if let LVal::Rec { class, scope, .. } = v
                    && !plus
                    && (!self.is_lcomplex(&v) || *op == UnaryOp::Not)
                {
                    let name = if *op == UnaryOp::Not { "'not'" } else { "'-'" };
                    let Some(f) = self.operator_function(class, scope, name, &[v.kind()], 0, e.span)? else {
                        return Err(self.err(e.span, format!("{} has no operator {name}", self.lib.qualified(class))));
                    };
                    return self.lower_applied(lx, f, vec![v], Vec::new(), e.span);
                }
                if let LVal::Leaf(_, ty, _) = v {
                    if *op == UnaryOp::Not && ty != Ty::Bool {
                        return Err(self.err(e.span, format!("`not` needs a Boolean, not {}", ty.text())));
                    }
                    if *op != UnaryOp::Not && !ty.numeric() {
                        return Err(self.err(e.span, format!("{} has no sign", ty.text())));
                    }
                }
                Ok(match op {
                    UnaryOp::Plus | UnaryOp::ElemPlus => v,
                    UnaryOp::Neg | UnaryOp::ElemNeg => v.map(
                        &mut |x| {
                            if let FExpr::Num(k) = x { FExpr::Num(-k) } else { FExpr::Unary(Unary::Neg, boxed(x)) }
                        },
                        &|r| r,
                    ),
                    UnaryOp::Not => v.map(&mut |x| FExpr::Unary(Unary::Not, boxed(x)), &|r| r),
                })
            }
            ExprKind::Binary(op, a, b) => {
                let (x, y) = (self.lower(lx, a)?, self.lower(lx, b)?);
                self.lower_binary(lx, *op, x, y, e.span)
            }
            ExprKind::If(branches, otherwise) => {
                let depth = lx.guards().map_or(0, |g| g.len());
                let parts = self.lower_branches(lx, branches, otherwise);
                if let Some(g) = lx.guards() {
                    g.truncate(depth);
                }
                let (parts, mut v) = parts?;
                for (c, a) in parts.into_iter().rev() {
                    let mut rest = Vec::new();
                    self.ordered(&a, &v, &mut rest, e.span)?;
                    let mut it = rest.into_iter();
                    let real = matches!((&a, &v), (LVal::Leaf(_, Ty::Int, _), LVal::Leaf(_, Ty::Real, _)));
                    v = a.map(
                        &mut |x| {
                            let y = it.next().map_or(FExpr::Num(0.0), |y| y.0);
                            FExpr::If(boxed(c.clone()), boxed(x), boxed(y))
                        },
                        &|r| r,
                    );
                    if real && let LVal::Leaf(x, _, r) = v {
                        v = LVal::Leaf(x, Ty::Real, r);
                    }
                }
                Ok(v)
            }
            ExprKind::Call(c) => self.lower_call(lx, c, e.span),
            ExprKind::Array(items) => {
                let vs = items.iter().map(|i| self.lower(lx, i)).collect::<R<Vec<_>>>()?;
                self.lower_stack(vs, e.span)
            }
            ExprKind::ArrayComprehension(body, iters) => {
                let mut ids = Vec::new();
                let n = lx.iterators.len();
                for it in iters {
                    let (id, r) = self.lower_iterator(lx, it, body)?;
                    ids.push((id, r));
                }
                let v = self.lower(lx, body);
                lx.iterators.truncate(n);
                let k = iters.len();
                Ok(v?.map(&mut |x| FExpr::Comprehension(boxed(x), ids.clone()), &|r| r + k))
            }
            ExprKind::Matrix(rows) => {
                let mut out = Vec::new();
                let mut ty = Ty::Int;
                let mut rank = 2;
                let mut lowered = Vec::new();
                for r in rows {
                    let mut row = Vec::new();
                    for c in r {
                        let LVal::Leaf(x, t, k) = self.lower(lx, c)? else {
                            return Err(self.err(c.span, "matrices are made of numbers"));
                        };
                        ty = ty.join(t);
                        if t != Ty::Int && t != Ty::Real {
                            ty = t;
                        }
                        if t == Ty::Real {
                            ty = Ty::Real;
                        }
                        rank = rank.max(k);
                        row.push((x, k));
                    }
                    lowered.push(row);
                }
                for row in lowered {
                    let mut args = vec![FExpr::Num(2.0)];
                    for (x, k) in row {
                        args.push(if k < rank {
                            FExpr::Builtin(Builtin::Promote, vec![x, FExpr::Num(rank as f64)])
                        } else {
                            x
                        });
                    }
                    out.push(FExpr::Builtin(Builtin::Cat, args));
                }
                if out.len() == 1
                    && let Some(x) = out.pop()
                {
                    return Ok(LVal::Leaf(x, ty, rank));
                }
                let mut args = vec![FExpr::Num(1.0)];
                args.extend(out);
                Ok(LVal::Leaf(FExpr::Builtin(Builtin::Cat, args), ty, rank))
            }
            ExprKind::Range(a, s, b) => {
                let (LVal::Leaf(a, ta, 0), LVal::Leaf(b, tb, 0)) = (self.lower(lx, a)?, self.lower(lx, b)?) else {
                    return Err(self.err(e.span, "the ends of a range must be scalars"));
                };
                let mut ty = ta.join(tb);
                let s = match s {
                    Some(s) => {
                        let LVal::Leaf(s, ts, 0) = self.lower(lx, s)? else {
                            return Err(self.err(e.span, "the step must be a scalar"));
                        };
                        ty = ty.join(ts);
                        Some(boxed(s))
                    }
                    None => None,
                };
                Ok(LVal::Leaf(FExpr::Range(boxed(a), s, boxed(b)), ty, 1))
            }
            ExprKind::Tuple(items) => match &items[..] {
                [Some(one)] => self.lower(lx, one),
                _ => Err(self.err(e.span, "a list of results can only stand on the left")),
            },
            ExprKind::End => match lx.end.clone() {
                Some((base, d)) => {
                    Ok(LVal::Leaf(FExpr::Builtin(Builtin::Size, vec![base, FExpr::Num(d as f64)]), Ty::Int, 0))
                }
                None => Err(self.err(e.span, "`end` can only be used as a subscript")),
            },
            ExprKind::PartialFunction(c) => {
                let v = self.lower_ref(lx, &c.function)?;
                let LVal::Func(n, mut bound) = v else {
                    return Err(self.err(c.function.span, "this is not a function"));
                };
                self.check_bound_names(n, c)?;
                for (k, a) in &c.named {
                    bound.push((k.name, self.lower(lx, a)?));
                }
                Ok(LVal::Func(n, bound))
            }
            ExprKind::Index(base, subs) => {
                let v = self.lower(lx, base)?;
                self.lower_subscripts(lx, v, subs)
            }
            ExprKind::Field(base, f) => match self.lower(lx, base)? {
                LVal::Rec { fields, .. } => match fields.into_iter().find(|(n, _)| *n == f.name) {
                    Some((_, v)) => Ok(v),
                    None => Err(self.err(f.span, format!("there is no field {}", f.name))),
                },
                _ => Err(self.err(f.span, format!("there is no field {}", f.name))),
            },
            ExprKind::Error => Err(self.err(e.span, "this expression could not be read")),
        }
    }

    /// The branches of an if-expression, and what holds if none does; each is under the conditions before it.
    fn lower_branches(
        &mut self,
        lx: &mut Lowering,
        branches: &[(Expr, Expr)],
        otherwise: &Expr,
    ) -> R<(Vec<(FExpr, LVal)>, LVal)> {
        let mut parts = Vec::new();
        for (c, a) in branches {
            let c = self.lower_condition(lx, c)?;
            if let FExpr::Num(k) = c {
                if k != 0.0 {
                    return Ok((parts, self.lower(lx, a)?));
                }
                continue;
            }
            if let Some(g) = lx.guards() {
                g.push(c.clone());
            }
            let a = self.lower(lx, a)?;
            if let Some(last) = lx.guards().and_then(|g| g.last_mut()) {
                *last = FExpr::Unary(Unary::Not, boxed(c.clone()));
            }
            parts.push((c, a));
        }
        Ok((parts, self.lower(lx, otherwise)?))
    }

    /// The range of an iterator without one: the dimension it subscripts, or the type that declares it.
    fn implicit_in(&mut self, lx: &Lowering, base: ComponentRef, d: usize) -> Expr {
        if let [part] = &base.parts[..]
            && let Ok(Some(Found::Component(n))) = self.lookup(lx.scope, part.name.name)
            && n.0 != u32::MAX
            && self.indexed_by_type(n, d) == Some(true)
            && let Some((clause, component, _)) = self.node(n).dims_from.as_deref().copied().or(self.node(n).clause)
            && let Some(Subscript::Index(e)) = component.dims.iter().chain(&clause.type_dims).nth(d)
        {
            return e.clone();
        }
        whole_range(base, d)
    }

    fn lower_iterator(&mut self, lx: &mut Lowering, it: &ForIndex, body: &Expr) -> R<(LocalId, FExpr)> {
        let range = match &it.range {
            Some(r) => r.clone(),
            None => match subscripted(it.name.name, body) {
                Some((base, d)) => self.implicit_in(lx, base, d),
                None => return Err(self.err(it.name.span, format!("the range of {} cannot be deduced", it.name.name))),
            },
        };
        let LVal::Leaf(r, ty, 1) = self.lower(lx, &range)? else {
            return Err(self.err(range.span, "an iterator must run over a vector"));
        };
        let id = lx.local(it.name.name.to_string(), ty.scalar(), Vec::new(), None);
        lx.iterators.push((it.name.name, LVal::Leaf(FExpr::Local(id), ty, 0)));
        Ok((id, r))
    }

    fn lower_stack(&mut self, vs: Vec<LVal>, span: Span) -> R<LVal> {
        let Some(first) = vs.first().cloned() else { return Ok(LVal::Leaf(FExpr::Array(Vec::new()), Ty::Real, 1)) };
        let mut columns: Vec<Vec<FExpr>> = Vec::new();
        let mut ty = None;
        for v in &vs {
            let mut l = Vec::new();
            self.ordered(&first, v, &mut l, span)?;
            if columns.is_empty() {
                columns = l.iter().map(|_| Vec::new()).collect();
            }
            if let LVal::Leaf(_, t, _) = v {
                ty = Some(ty.map_or(*t, |u: Ty| u.join(*t)));
            }
            for (c, x) in columns.iter_mut().zip(l) {
                c.push(x.0);
            }
        }
        let mut it = columns.into_iter();
        let v = first.map(&mut |_| FExpr::Array(it.next().unwrap_or_default()), &|r| r + 1);
        Ok(match (v, ty) {
            (LVal::Leaf(x, _, r), Some(t)) => LVal::Leaf(x, t, r),
            (v, _) => v,
        })
    }

    fn lower_subscripts(&mut self, lx: &mut Lowering, v: LVal, subs: &[Subscript]) -> R<LVal> {
        if subs.is_empty() {
            return Ok(v);
        }
        let mut l = Vec::new();
        v.leaves(&mut l);
        let Some(base) = l.first().map(|x| x.0.clone()) else { return Ok(v) };
        let mut dropped = 0;
        let mut idx = Vec::new();
        for (k, s) in subs.iter().enumerate() {
            idx.push(self.lower_index(lx, s, base.clone(), k, &mut dropped)?);
        }
        Ok(apply_indices(&v, &idx, dropped))
    }

    fn lower_ref(&mut self, lx: &mut Lowering, r: &ComponentRef) -> R<LVal> {
        let Some(first) = r.parts.first() else { return Err(self.err(r.span, "a name is missing")) };
        if !r.global {
            if let Some((_, v)) = lx.iterators.iter().rev().find(|(n, _)| *n == first.name.name) {
                return Ok(v.clone());
            }
            if let Some((_, v)) = lx.known.iter().rev().find(|(n, _)| *n == first.name.name) {
                let v = v.clone();
                return self.literal(lx, &v);
            }
            if let Some(Found::Component(n)) = self.lookup(lx.scope, first.name.name)? {
                if let Some((f, bound)) = lx.funcs.get(&n) {
                    return Ok(LVal::Func(*f, bound.clone()));
                }
                if lx.model.is_none()
                    && n.0 != u32::MAX
                    && self.node(n).live
                    && self.node(n).variability == VariabilityPrefix::Parameter
                    // Values of inputs that a modifier gives are read where it stands.
                    && matches!(self.template(lx.scope.node)?.kind, ClassKind::Function | ClassKind::OperatorFunction)
                {
                    let text = format!(
                        "{} is a parameter of an enclosing class: functions see constants only",
                        first.name.name
                    );
                    return Err(self.err_hints(first.name.span, text, vec!["hand it in as an input".into()]));
                }
            }
        }
        let found = self.ref_tree(lx, r)?;
        let (mut v, skip) = match found {
            Some((t, skip)) => (tree_value(&t), skip),
            None => match (self.lower_constant(lx, r), self.without_elements(lx, r)) {
                (Err(_), Some(t)) => (tree_value(&t), r.parts.len() - 1),
                (v, _) => return v,
            },
        };
        let mut depth = 0; // leading dimensions already subscripted or passed
        for (k, p) in r.parts.iter().enumerate().skip(skip) {
            if k > skip {
                v = match v {
                    LVal::Rec { fields, .. } => match fields.into_iter().find(|(n, _)| *n == p.name.name) {
                        Some((_, f)) => f,
                        None => return Err(self.err(p.name.span, format!("there is no field {}", p.name.name))),
                    },
                    _ => return Err(self.err(p.name.span, format!("there is no field {}", p.name.name))),
                };
            }
            if !p.subscripts.is_empty() {
                let mut l = Vec::new();
                v.leaves(&mut l);
                let Some(base) = l.first().map(|x| x.0.clone()) else { return Ok(v) };
                if depth + p.subscripts.len() > v.rank() {
                    let (name, rank) = (p.name.name, v.rank() - depth);
                    let text = match rank {
                        0 => format!("{name} is a scalar and has no subscripts"),
                        _ => format!("{name} has {rank} dimensions, but {} subscripts", p.subscripts.len()),
                    };
                    return Err(self.err(r.span, text));
                }
                let mut idx: Vec<FIndex> = (0..depth).map(|_| FIndex::All).collect();
                let mut dropped = 0;
                for (j, s) in p.subscripts.iter().enumerate() {
                    idx.push(self.lower_index(lx, s, base.clone(), depth + j, &mut dropped)?);
                }
                v = apply_indices(&v, &idx, dropped);
            }
            depth = v.rank();
        }
        Ok(v)
    }

    /// What a name before parentheses means: an enumeration type converts there, it is no list of its literals.
    fn lower_callee(&mut self, lx: &mut Lowering, name: &ComponentRef) -> R<LVal> {
        let own = |n: Name| lx.iterators.iter().any(|(m, _)| *m == n) || lx.known.iter().any(|(m, _)| *m == n);
        if !name.parts.first().is_some_and(|p| own(p.name.name))
            && let Ok(Target::Class(c)) = self.resolve(&Env::konst(lx.scope), name)
        {
            return Ok(LVal::Func(self.class_node(&c), Vec::new()));
        }
        self.lower_ref(lx, name)
    }

    /// A constant, enumeration literal or function.
    fn lower_constant(&mut self, lx: &mut Lowering, r: &ComponentRef) -> R<LVal> {
        // A variable of the function that is declared further down: its binding stands for it.
        if !r.global
            && let [p] = &r.parts[..]
            && let Some(Found::Component(n)) = self.lookup(lx.scope, p.name.name)?
            && n.0 != u32::MAX
            && self.node(n).variability == VariabilityPrefix::None
            && self.node(n).parent == Some(lx.scope.node)
            && let Some(b) = self.leaf_or_own_mod(n)?.binding.clone()
        {
            let keep = std::mem::replace(&mut lx.scope, b.scope);
            let v = self.lower(lx, b.source);
            lx.scope = keep;
            return self.lower_subscripts(lx, v?, &p.subscripts);
        }
        let env = Env::konst(lx.scope);
        let known = lx.known.clone();
        let dynamic = r.parts.iter().any(|p| !p.subscripts.is_empty());
        if dynamic {
            // Constant subscripts first; otherwise index the whole constant.
            if let Ok(v) = self.with_known(&known, &env, &mut |me, env| me.eval_ref(env, r)) {
                return self.literal(lx, &v);
            }
            let mut bare = r.clone();
            bare.parts.iter_mut().for_each(|p| p.subscripts.clear());
            let whole = self.eval_ref(&env, &bare).map_err(|e| self.used_at(e, r.span))?;
            let mut v = self.literal(lx, &whole)?;
            let mut idx: Vec<FIndex> = Vec::new();
            let mut dropped = 0;
            let mut before = 0;
            for k in 0..r.parts.len() {
                let mut prefix = bare.clone();
                prefix.parts.truncate(k + 1);
                let rank = self.eval_ref(&env, &prefix).map(|v| v.rank()).unwrap_or(before);
                let mut l = Vec::new();
                v.leaves(&mut l);
                let Some(base) = l.first().map(|x| x.0.clone()) else { return Ok(v) };
                for s in &r.parts[k].subscripts {
                    let at = idx.len();
                    idx.push(self.lower_index(lx, s, base.clone(), at, &mut dropped)?);
                }
                while idx.len() < rank {
                    idx.push(FIndex::All);
                }
                before = rank;
            }
            v = apply_indices(&v, &idx, dropped);
            return Ok(v);
        }
        let v = self.with_known(&known, &env, &mut |me, env| me.eval_ref(env, r))?;
        self.literal(lx, &v).map_err(|mut e| {
            e.span = r.span;
            e
        })
    }

    fn is_lcomplex(&self, v: &LVal) -> bool {
        matches!(v, LVal::Rec { fields, .. } if fields.len() == 2 && fields[0].0 == "re" && fields[1].0 == "im")
    }

    fn lower_binary(&mut self, lx: &mut Lowering, op: BinaryOp, x: LVal, y: LVal, span: Span) -> R<LVal> {
        use BinaryOp::*;
        if self.is_lcomplex(&x) || self.is_lcomplex(&y) {
            let like = if self.is_lcomplex(&x) { x.clone() } else { y.clone() };
            let parts = |v: &LVal| -> Option<(LVal, LVal)> {
                match v {
                    LVal::Rec { fields, .. } => Some((fields[0].1.clone(), fields[1].1.clone())),
                    LVal::Leaf(e, _, 0) => {
                        Some((LVal::Leaf(e.clone(), Ty::Real, 0), LVal::Leaf(FExpr::Num(0.0), Ty::Real, 0)))
                    }
                    _ => None,
                }
            };
            if let (Some((ar, ai)), Some((br, bi))) = (parts(&x), parts(&y)) {
                let mut go =
                    |me: &mut Self, op, a: &LVal, b: &LVal| me.lower_binary(lx, op, a.clone(), b.clone(), span);
                let (re, im) = match op {
                    Add | ElemAdd | Sub | ElemSub => (go(self, op, &ar, &br)?, go(self, op, &ai, &bi)?),
                    Mul | ElemMul => {
                        let (rr, ii, ri, ir) = (
                            go(self, op, &ar, &br)?,
                            go(self, op, &ai, &bi)?,
                            go(self, op, &ar, &bi)?,
                            go(self, op, &ai, &br)?,
                        );
                        (go(self, Sub, &rr, &ii)?, go(self, Add, &ri, &ir)?)
                    }
                    Div | ElemDiv => {
                        let (rr, ii, ri, ir) = (
                            go(self, Mul, &ar, &br)?,
                            go(self, Mul, &ai, &bi)?,
                            go(self, Mul, &ar, &bi)?,
                            go(self, Mul, &ai, &br)?,
                        );
                        let (b2, b3) = (go(self, Mul, &br, &br)?, go(self, Mul, &bi, &bi)?);
                        let d = go(self, Add, &b2, &b3)?;
                        let (n1, n2) = (go(self, Add, &rr, &ii)?, go(self, Sub, &ir, &ri)?);
                        (go(self, Div, &n1, &d)?, go(self, Div, &n2, &d)?)
                    }
                    Eq | Ne => {
                        let (p, q) = (go(self, Eq, &ar, &br)?, go(self, Eq, &ai, &bi)?);
                        let both = go(self, And, &p, &q)?;
                        return Ok(if op == Eq {
                            both
                        } else {
                            both.map(&mut |e| FExpr::Unary(Unary::Not, boxed(e)), &|r| r)
                        });
                    }
                    _ => return self.lower_operator(lx, op, x, y, span),
                };
                let rank = re.rank();
                let LVal::Rec { class, scope, fields, .. } = like else {
                    return Err(self.err(span, "not a complex number"));
                };
                return Ok(LVal::Rec { class, scope, rank, fields: vec![(fields[0].0, re), (fields[1].0, im)] });
            }
        }
        let (LVal::Leaf(a, ta, ra), LVal::Leaf(b, tb, rb)) = (x.clone(), y.clone()) else {
            return self.lower_operator(lx, op, x, y, span);
        };
        let fits = match op {
            Add | ElemAdd if ta == Ty::Str || tb == Ty::Str => ta == tb,
            Add | Sub | Mul | Div | Pow | ElemAdd | ElemSub | ElemMul | ElemDiv | ElemPow => {
                ta.numeric() && tb.numeric()
            }
            And | Or => ta == Ty::Bool && tb == Ty::Bool,
            Lt | Le | Gt | Ge | Eq | Ne => self.alike(ta, tb),
        };
        if !fits && !is_empty(&a) && !is_empty(&b) {
            let (x, y) = (self.type_text(ta), self.type_text(tb));
            return Err(self.err(span, format!("this operator cannot combine {x} and {y}")));
        }
        if ta == Ty::Str && tb == Ty::Str {
            return Ok(match op {
                Add | ElemAdd => LVal::Leaf(FExpr::Builtin(Builtin::Concat, vec![a, b]), Ty::Str, ra),
                _ => {
                    let c = FExpr::Builtin(Builtin::CompareStrings, vec![a, b]);
                    LVal::Leaf(FExpr::Binary(rel(op), boxed(c), boxed(FExpr::Num(0.0))), Ty::Bool, 0)
                }
            });
        }
        let rank = ra.max(rb);
        let (e, ty, rank) = match op {
            Mul if ra > 0 && rb > 0 => (FExpr::Builtin(Builtin::MatMul, vec![a, b]), ta.join(tb), ra + rb - 2),
            Pow if ra == 2 => (FExpr::Builtin(Builtin::MatPow, vec![a, b]), ta, 2),
            Add | ElemAdd => (FExpr::Binary(Binary::Add, boxed(a), boxed(b)), ta.join(tb), rank),
            Sub | ElemSub => (FExpr::Binary(Binary::Sub, boxed(a), boxed(b)), ta.join(tb), rank),
            Mul | ElemMul => (FExpr::Binary(Binary::Mul, boxed(a), boxed(b)), ta.join(tb), rank),
            Div | ElemDiv => (FExpr::Binary(Binary::Div, boxed(a), boxed(b)), Ty::Real, rank),
            Pow | ElemPow => (FExpr::Binary(Binary::Pow, boxed(a), boxed(b)), Ty::Real, rank),
            And => (FExpr::Binary(Binary::And, boxed(a), boxed(b)), Ty::Bool, rank),
            Or => (FExpr::Binary(Binary::Or, boxed(a), boxed(b)), Ty::Bool, rank),
            _ => (lx.event(FExpr::Binary(rel(op), boxed(a), boxed(b))), Ty::Bool, rank),
        };
        Ok(LVal::Leaf(e, ty, rank))
    }

    /// An overloaded operator of an operator record.
    fn lower_operator(&mut self, lx: &mut Lowering, op: BinaryOp, x: LVal, y: LVal, span: Span) -> R<LVal> {
        let name = operator_name(op);
        let (class, scope) = match (&x, &y) {
            (LVal::Rec { class, scope, .. }, _) | (_, LVal::Rec { class, scope, .. }) => (*class, *scope),
            _ => return Err(self.err(span, "this operator cannot be applied here")),
        };
        let Some(f) = self.operator_function(class, scope, name, &[x.kind(), y.kind()], 0, span)? else {
            return Err(self.err(span, format!("{} has no operator {name}", self.lib.qualified(class))));
        };
        let (f, args, outs) = self.lower_call_values(lx, f, vec![x, y], Vec::new(), span)?;
        Ok(pick_output(f, &args, &outs, 0))
    }

    /// A call of a function of the model; `None` if it is a built-in one.
    fn lower_user_call(
        &mut self,
        lx: &mut Lowering,
        c: &Call,
        span: Span,
    ) -> R<Option<(FuncId, Vec<FExpr>, Vec<LVal>)>> {
        if self.is_builtin_call(lx.scope, &c.function) {
            return Ok(None);
        }
        let LVal::Func(node, bound) = self.lower_callee(lx, &c.function)? else {
            return Err(self.err(c.function.span, "this is not a function"));
        };
        let t = self.template(node)?;
        if t.kind != ClassKind::Function && t.kind != ClassKind::OperatorFunction {
            return Ok(None);
        }
        let args = c.args.iter().map(|a| self.lower(lx, a)).collect::<R<Vec<_>>>()?;
        let mut named = Vec::new();
        for (n, a) in &c.named {
            named.push((n.name, self.lower(lx, a)?));
        }
        named.extend(bound);
        self.lower_call_values(lx, node, args, named, span).map(Some)
    }

    fn lower_call_values(
        &mut self,
        lx: &mut Lowering,
        node: NodeId,
        args: Vec<LVal>,
        named: Vec<(Name, LVal)>,
        span: Span,
    ) -> R<(FuncId, Vec<FExpr>, Vec<LVal>)> {
        let sig = self.signature(node, span)?;
        if sig.impure && !lx.f.impure && lx.model.is_none() {
            let text =
                format!("{} calls the impure function {}, but is not declared impure", lx.f.name, self.path(node));
            let caller = self.template(lx.scope.node)?;
            // Without a prefix functions count as pure only since Modelica 3.3.
            let d = match caller.parts.iter().any(|p| p.def.prefixes.pure) {
                true => saltus_base::Diagnostic::error(saltus_base::Stage::FrontEnd, span, text),
                false => saltus_base::Diagnostic::warning(saltus_base::Stage::FrontEnd, span, text),
            }
            .hint("declare it `impure function`, or write pure(…) around the call");
            self.diagnostics.push(d);
        }
        // Positional arguments go to the inputs that no bound argument takes.
        let mut given = Vec::new();
        let mut flat = Vec::new();
        let mut shapes = Vec::new();
        let mut it = args.into_iter();
        for p in &sig.inputs {
            let v = match named.iter().find(|(n, _)| *n == p.name) {
                Some((_, v)) => Some(v.clone()),
                None => it.next(),
            };
            shapes.push(match &v {
                Some(LVal::Leaf(e, ..)) if !is_empty(e) => fixed_shape(&lx.f, e)
                    .map(|dims| Shape { dims, value: if let FExpr::Num(x) = e { Some(*x) } else { None } }),
                _ => None,
            });
            match v {
                Some(v @ LVal::Func(..)) => given.push(given_function(v, &mut flat)),
                Some(v) => {
                    // Leaves in the order the callee declares them.
                    let like = self.type_of(p.node)?;
                    let mut l = Vec::new();
                    self.ordered(&like, &v, &mut l, span)?;
                    let mut wanted = Vec::new();
                    like.leaves(&mut wanted);
                    for (want, have) in wanted.iter().zip(&l) {
                        if want.1 == Ty::Int && have.1 == Ty::Real && !is_empty(&have.0) {
                            let f = self.path(node);
                            let message =
                                format!("{}, an input of {f}, is an Integer, but the argument is a Real", p.name);
                            return Err(self.err(span, message));
                        }
                    }
                    given.push(Given::Value(l.iter().map(|x| vec![None; x.2]).collect()));
                    flat.extend(l.into_iter().map(|x| x.0));
                }
                None if p.has_default => given.push(Given::Default),
                None => {
                    let f = self.path(node);
                    return Err(self.err(span, format!("the argument {} of {f} is missing", p.name)));
                }
            }
        }
        if it.next().is_some() {
            let f = self.path(node);
            return Err(self.err(span, format!("too many arguments for {f}, which has {}", sig.inputs.len())));
        }
        let f = self.function(node, given, None, span)?;
        if lx.inside == 0 {
            let name = self.path(node);
            self.check_sizes(&sig, &shapes, &name, span)?;
        }
        let outs = sig.outputs.iter().map(|o| self.type_of(o.node)).collect::<R<Vec<_>>>()?;
        Ok((f, flat, outs))
    }

    /// The first result of a call; arguments of higher rank than declared are taken element by element.
    fn lower_applied(
        &mut self,
        lx: &mut Lowering,
        node: NodeId,
        args: Vec<LVal>,
        named: Vec<(Name, LVal)>,
        span: Span,
    ) -> R<LVal> {
        let sig = self.signature(node, span)?;
        let mut it = args.iter();
        let mut over: Option<FExpr> = None;
        let mut ranks = Vec::new();
        for p in &sig.inputs {
            let v = named.iter().find(|(n, _)| *n == p.name).map(|(_, v)| v).or_else(|| it.next());
            if let Some(v) = v
                && !matches!(v, LVal::Func(..))
                && v.rank() > p.rank
            {
                let mut l = Vec::new();
                v.leaves(&mut l);
                over = over.or_else(|| l.first().map(|x| x.0.clone()));
            }
            ranks.push((p.name, p.rank));
        }
        let Some(base) = over else {
            let (f, flat, outs) = self.lower_call_values(lx, node, args, named, span)?;
            if outs.is_empty() {
                return Err(self.err(span, "this function has no result"));
            }
            return Ok(pick_output(f, &flat, &outs, 0));
        };
        let id = lx.local("$i".into(), ScalarType::Integer, Vec::new(), None);
        let pick = |v: LVal, rank: usize| {
            if v.rank() > rank && !matches!(v, LVal::Func(..)) {
                apply_indices(&v, &[FIndex::At(FExpr::Local(id))], 1)
            } else {
                v
            }
        };
        let mut free = ranks.iter().filter(|(n, _)| !named.iter().any(|(m, _)| m == n));
        let args = args.into_iter().map(|v| pick(v, free.next().map_or(usize::MAX, |x| x.1))).collect();
        let named = named
            .into_iter()
            .map(|(n, v)| {
                let r = ranks.iter().find(|(m, _)| *m == n).map_or(usize::MAX, |x| x.1);
                (n, pick(v, r))
            })
            .collect();
        let v = self.lower_applied(lx, node, args, named, span)?;
        let size = FExpr::Builtin(Builtin::Size, vec![base, FExpr::Num(1.0)]);
        let range = FExpr::Range(boxed(FExpr::Num(1.0)), None, boxed(size));
        Ok(v.map(&mut |x| FExpr::Comprehension(boxed(x), vec![(id, range.clone())]), &|r| r + 1))
    }

    /// The structure of a function variable, without values.
    fn type_of(&mut self, n: NodeId) -> R<LVal> {
        let mut lx = Lowering::new(String::new(), Scope { node: n, part: 0 }, Span::NONE);
        let t = self.structure(&mut lx, n, 0)?;
        Ok(tree_value(&t))
    }

    fn structure(&mut self, lx: &mut Lowering, n: NodeId, outer: usize) -> R<LTree> {
        let t = self.template(n)?;
        let mut rank: usize = outer + t.dims.iter().map(|d| d.0.len()).sum::<usize>();
        if let Some((clause, comp, _)) = self.node(n).dims_from.as_deref().copied().or(self.node(n).clause) {
            rank += comp.dims.len() + clause.type_dims.len();
        }
        if let Some(ty) = t.builtin {
            let local = lx.local(String::new(), ty.scalar(), Vec::new(), None);
            return Ok(LTree::Leaf { local, ty, rank });
        }
        let mut fields = Vec::new();
        for (i, m) in t.members.iter().enumerate() {
            let MemberKind::Component { .. } = m.kind else { continue };
            let Slot::Node(k) = self.child(n, i as u32)? else { continue };
            fields.push((m.name, self.structure(lx, k, rank)?));
        }
        Ok(LTree::Rec { class: t.class, scope: self.node(n).cref.scope, rank, fields })
    }

    fn lower_call(&mut self, lx: &mut Lowering, c: &Call, span: Span) -> R<LVal> {
        if self.is_builtin_call(lx.scope, &c.function) {
            return self.lower_builtin(lx, c.function.parts[0].name.name.as_str(), c, span);
        }
        let callee = self.lower_callee(lx, &c.function)?;
        if let LVal::Func(node, bound) = callee.clone() {
            let t = self.template(node)?;
            if t.kind == ClassKind::Function || t.kind == ClassKind::OperatorFunction {
                let args = c.args.iter().map(|a| self.lower(lx, a)).collect::<R<Vec<_>>>()?;
                let mut named = Vec::new();
                for (n, a) in &c.named {
                    named.push((n.name, self.lower(lx, a)?));
                }
                named.extend(bound);
                let class = self.node(node).cref.class;
                if let ClassBody::Derivative { function, with_respect_to, .. } = &*self.lib.def(class).body {
                    return self.lower_derivative(lx, node, function, with_respect_to, (args, named), span);
                }
                return self.lower_applied(lx, node, args, named, span);
            }
        }
        let LVal::Func(node, _) = callee else {
            return Err(self.err(span, "this is not a function"));
        };
        let t = self.template(node)?;
        if let Some(ty @ Ty::Enum(class)) = t.builtin
            && let Some(a) = c.args.first()
        {
            let LVal::Leaf(mut x, _, r) = self.lower(lx, a)? else { return Err(self.err(span, "a number is needed")) };
            // The number of a literal that there is: a subscript of all of them.
            if r == 0 && !matches!(x, FExpr::Num(_)) {
                let all = (1..=self.enum_literals(class).len()).map(|k| FExpr::Num(k as f64)).collect();
                x = FExpr::Index(Box::new(FExpr::Array(all)), vec![FIndex::At(x)]);
            }
            return Ok(LVal::Leaf(x, ty, r));
        }
        if t.kind == ClassKind::OperatorRecord
            && let args = c.args.iter().map(|a| self.lower(lx, a)).collect::<R<Vec<_>>>()?
            && let kinds = args.iter().map(LVal::kind).collect::<Vec<_>>()
            && let scope = self.node(node).cref.scope
            && let Some(f) = self.operator_function(t.class, scope, "'constructor'", &kinds, c.named.len(), span)?
        {
            let mut named = Vec::new();
            for (n, a) in &c.named {
                named.push((n.name, self.lower(lx, a)?));
            }
            // Complex(re, im) is plain enough to write down.
            if named.is_empty() && !args.is_empty() && self.complex == Some(t.class) {
                let im = args.get(1).cloned().unwrap_or(LVal::Leaf(FExpr::Num(0.0), Ty::Real, 0));
                let rank = args[0].rank();
                if rank == im.rank() {
                    let fields = vec![(self.names.re, args[0].clone()), (self.names.im, im)];
                    return Ok(LVal::Rec { class: t.class, scope: self.node(node).cref.scope, rank, fields });
                }
                return self.lower_constructor(lx, node, c, span);
            }
            let (f, args, outs) = self.lower_call_values(lx, f, args, named, span)?;
            return Ok(pick_output(f, &args, &outs, 0));
        }
        if t.is_record() {
            return self.lower_constructor(lx, node, c, span);
        }
        Err(self.err(c.function.span, format!("{} is not a function", ref_text(&c.function))))
    }

    /// A record constructor; arguments of higher rank than their fields make an array of records.
    fn lower_constructor(&mut self, lx: &mut Lowering, node: NodeId, c: &Call, span: Span) -> R<LVal> {
        let t = self.template(node)?;
        if let Some((n, _)) = c.named.iter().find(|(n, _)| !t.index.contains_key(&n.name)) {
            let hints = self.similar_members(node, n.name);
            let message = format!("{} has no field {}", self.lib.qualified(t.class), n.name);
            return Err(self.err_hints(n.span, message, hints));
        }
        let mut fields: Vec<(Name, LVal)> = Vec::new();
        let mut over: Option<(FExpr, usize)> = None;
        let mut ranks = Vec::new();
        let mut args = c.args.iter();
        for (i, m) in t.members.iter().enumerate() {
            let MemberKind::Component { .. } = m.kind else { continue };
            let Slot::Node(k) = self.child(node, i as u32)? else { continue };
            let given = match c.named.iter().find(|(n, _)| n.name == m.name) {
                Some((_, a)) => Some(a),
                None if self.is_settled_field(k)? => None,
                None => args.next(),
            };
            let rank = self.type_of(k)?.rank();
            ranks.push(rank);
            let v = match given {
                Some(a) => {
                    let v = self.lower(lx, a)?;
                    let mut l = Vec::new();
                    v.leaves(&mut l);
                    if v.rank() > rank
                        && over.is_none()
                        && let Some(x) = l.into_iter().next()
                    {
                        over = Some((x.0, v.rank() - rank));
                    }
                    v
                }
                None => match self.constant(k) {
                    Ok(v) if !holds_object(&v) => self.literal(lx, &v)?,
                    _ => {
                        // A default in terms of the other fields.
                        let b = self.leaf_or_own_mod(k)?.binding.clone();
                        match b.map(|b| b.source) {
                            Some(e) => {
                                let keep = (lx.scope, lx.iterators.len());
                                lx.scope = Scope { node, part: m.part };
                                lx.iterators.extend(fields.iter().cloned());
                                let v = self.lower(lx, e);
                                lx.iterators.truncate(keep.1);
                                lx.scope = keep.0;
                                v?
                            }
                            None if self.complex != Some(t.class)
                                && self.template(k)?.builtin.is_some()
                                && !self.dims(k).is_ok_and(|d| d.contains(&0)) =>
                            {
                                return Err(self.missing_field(node, m.name, span));
                            }
                            None => {
                                // Nothing said: a zero of the right shape.
                                let z = self.type_of(k)?;
                                z.map(&mut |_| FExpr::Num(0.0), &|r| r)
                            }
                        }
                    }
                },
            };
            fields.push((m.name, v));
        }
        if args.next().is_some() {
            return Err(self.err(span, format!("too many arguments for {}", self.lib.qualified(t.class))));
        }
        let scope = self.node(node).cref.scope;
        let Some((base, extra)) = over else {
            return Ok(LVal::Rec { class: t.class, scope, rank: 0, fields });
        };
        // Scalars beside vectors are the same in every record.
        for ((_, v), rank) in fields.iter_mut().zip(ranks) {
            match v.rank() {
                r if r == rank + extra => {}
                0 => {
                    let sizes: Vec<FExpr> = (0..extra)
                        .map(|d| FExpr::Builtin(Builtin::Size, vec![base.clone(), FExpr::Num(d as f64 + 1.0)]))
                        .collect();
                    *v = v.map(
                        &mut |x| {
                            FExpr::Builtin(Builtin::Fill, std::iter::once(x).chain(sizes.iter().cloned()).collect())
                        },
                        &|r| r + extra,
                    );
                }
                _ => {
                    let name = self.lib.qualified(t.class);
                    return Err(
                        self.err(span, format!("the arguments of {name} have shapes that do not fit its fields"))
                    );
                }
            }
        }
        Ok(LVal::Rec { class: t.class, scope, rank: extra, fields })
    }

    /// A call of `function g = der(f, x, …)` inside a function: the tangent of f, once for each variable, along it.
    fn lower_derivative(
        &mut self,
        lx: &mut Lowering,
        node: NodeId,
        function: &'t TypeSpec,
        with_respect_to: &'t [Ident],
        (args, named): (Vec<LVal>, Vec<(Name, LVal)>),
        span: Span,
    ) -> R<LVal> {
        let (base, with_respect_to) = self.differentiated(node, function, with_respect_to)?;
        let sig = self.signature(base, span)?;
        let mut directions = Vec::new();
        for x in with_respect_to {
            let Some(p) = sig.inputs.iter().find(|p| p.name == x.name) else {
                return Err(self.err(x.span, format!("{} has no input {}", self.path(base), x.name)));
            };
            let LVal::Leaf(_, Ty::Real, 0) = self.type_of(p.node)? else {
                return Err(self.err(x.span, format!("{} must be a Real scalar to differentiate by it", x.name)));
            };
            directions.push(x.name);
        }
        let (mut f, mut flat, outs) = self.lower_call_values(lx, base, args, named, span)?;
        for x in directions {
            let g = &self.dae.functions[f.0 as usize];
            let mut seeds = Vec::new();
            for (l, e) in g.inputs.iter().zip(&flat) {
                let l = &g.locals[l.0 as usize];
                if l.ty != ScalarType::Real {
                    continue;
                }
                seeds.push(match l.dims.is_empty() {
                    true => FExpr::Num(f64::from(l.name == x.as_str())),
                    false => FExpr::Binary(Binary::Mul, boxed(FExpr::Num(0.0)), boxed(e.clone())),
                });
            }
            flat.extend(seeds);
            f = saltus_function::tangent(&mut self.dae.functions, &mut self.functions.tangents, f)
                .map_err(|(at, why)| self.used_at(self.err(at, why), span))?;
        }
        Ok(pick_output(f, &flat, &outs, 0))
    }

    fn lower_builtin(&mut self, lx: &mut Lowering, name: &str, c: &Call, span: Span) -> R<LVal> {
        if c.iterators.is_empty() {
            self.count_arguments(name, c, span)?;
        }
        if c.args.is_empty() && !matches!(name, "homotopy" | "initial" | "terminal" | "getInstanceName") {
            return Err(self.err(span, format!("{name} needs an argument")));
        }
        if !c.iterators.is_empty() {
            let op = match name {
                "sum" => Builtin::Sum,
                "product" => Builtin::Product,
                "min" => Builtin::MinOf,
                "max" => Builtin::MaxOf,
                "array" => {
                    let e = Expr {
                        kind: ExprKind::ArrayComprehension(Box::new(c.args[0].clone()), c.iterators.clone()),
                        span,
                    };
                    return self.lower(lx, &e);
                }
                _ => return Err(self.err(span, format!("{name} is not a reduction"))),
            };
            let n = lx.iterators.len();
            let mut ids = Vec::new();
            for it in &c.iterators {
                ids.push(self.lower_iterator(lx, it, &c.args[0])?);
            }
            let v = self.lower(lx, &c.args[0]);
            lx.iterators.truncate(n);
            return Ok(v?.map(&mut |x| FExpr::Reduction(op, boxed(x), ids.clone()), &|r| r));
        }
        // These need nothing evaluated, or in another way.
        match name {
            "pure" => {
                let declared = std::mem::replace(&mut lx.f.impure, true);
                let v = self.lower(lx, &c.args[0]);
                lx.f.impure = declared;
                return v;
            }
            "noEvent" => return self.lower_literally(lx, &c.args[0]),
            // What it gives in a function is not specified (Modelica 3.6, section 3.7.4.4): its name.
            "getInstanceName" => {
                let name = self.lib.qualified(self.node(lx.scope.node).cref.class);
                return Ok(LVal::Leaf(FExpr::Str(name.as_str().into()), Ty::Str, 0));
            }
            "smooth" if lx.model.is_none() && !lx.events => return self.lower(lx, &c.args[1]),
            "smooth" => {
                let LVal::Leaf(FExpr::Num(p), ..) = self.lower(lx, &c.args[0])? else {
                    return Err(self.err(c.args[0].span, "the order of smooth must be constant"));
                };
                return if p >= 1.0 { self.lower_literally(lx, &c.args[1]) } else { self.lower(lx, &c.args[1]) };
            }
            "homotopy" => {
                let a = c.args.first().or_else(|| c.named.iter().find(|(n, _)| n.name == "actual").map(|(_, e)| e));
                return match a {
                    Some(a) => self.lower(lx, a),
                    None => Err(self.err(span, "homotopy needs arguments")),
                };
            }
            "initial"
            | "terminal"
            | "pre"
            | "der"
            | "edge"
            | "change"
            | "sample"
            | "delay"
            | "cardinality"
            | "inStream"
            | "actualStream"
            | "spatialDistribution"
            | "previous"
            | "hold"
            | "Clock"
            | "subSample"
            | "superSample"
            | "shiftSample"
            | "backSample"
            | "noClock"
            | "firstTick"
            | "interval"
            | "activeState"
            | "ticksInState"
            | "timeInState"
                if lx.model.is_none() =>
            {
                return Err(self.err(span, format!("{name} cannot be used in a function")));
            }
            _ => {}
        }
        let mut vs = Vec::new();
        for a in &c.args {
            vs.push(self.lower(lx, a)?);
        }
        if name == "String" {
            let LVal::Leaf(x, ty, 0) = vs[0].clone() else { return Err(self.err(span, "String needs a scalar")) };
            let format_second = matches!(vs.get(1), Some(LVal::Leaf(_, Ty::Str, 0)));
            let options = self.string_options(c, ty, format_second, span)?;
            if let Some(f) = options[3] {
                let LVal::Leaf(f, Ty::Str, 0) = self.lower(lx, f)? else {
                    return Err(self.err(f.span, "the format must be a String"));
                };
                return Ok(LVal::Leaf(FExpr::Builtin(Builtin::ToString, vec![x, f]), Ty::Str, 0));
            }
            let text = match ty {
                Ty::Enum(en) => {
                    let mut args = vec![x];
                    args.extend(self.enum_literals(en).iter().map(|n| FExpr::Str(n.as_str().into())));
                    FExpr::Builtin(Builtin::EnumToString, args)
                }
                Ty::Bool => FExpr::If(boxed(x), boxed(FExpr::Str("true".into())), boxed(FExpr::Str("false".into()))),
                _ => x,
            };
            let mut args = vec![text];
            let all = if ty == Ty::Real { &[0.0, 1.0, 6.0][..] } else { &[0.0, 1.0] };
            let mut given = false;
            for (option, &default) in options.into_iter().zip(all) {
                given |= option.is_some();
                args.push(match option {
                    Some(e) => self.lower_scalar(lx, e)?,
                    None => FExpr::Num(default),
                });
            }
            // Words need no conversion, only blanks.
            if matches!(ty, Ty::Enum(_) | Ty::Bool | Ty::Str) && !given {
                return Ok(LVal::Leaf(args.swap_remove(0), Ty::Str, 0));
            }
            return Ok(LVal::Leaf(FExpr::Builtin(Builtin::ToString, args), Ty::Str, 0));
        }
        if vs.iter().any(|v| !matches!(v, LVal::Leaf(..))) {
            // Records: only shape questions, and sums of complex numbers.
            match (name, &vs[..]) {
                ("size", [v, LVal::Leaf(d, _, 0)]) => {
                    let mut l = Vec::new();
                    v.leaves(&mut l);
                    if let Some(f) = l.first() {
                        return Ok(LVal::Leaf(FExpr::Builtin(Builtin::Size, vec![f.0.clone(), d.clone()]), Ty::Int, 0));
                    }
                }
                ("sum", [v]) => return Ok(v.map(&mut |x| FExpr::Builtin(Builtin::Sum, vec![x]), &|_| 0)),
                ("fill", [v, rest @ ..]) if v.rank() == 0 => {
                    let n = rest.len();
                    let mut sizes = Vec::new();
                    for r in rest {
                        r.leaves(&mut sizes);
                    }
                    return Ok(v.map(
                        &mut |x| {
                            let mut a = vec![x];
                            a.extend(sizes.iter().map(|s| s.0.clone()));
                            FExpr::Builtin(Builtin::Fill, a)
                        },
                        &|r| r + n,
                    ));
                }
                ("cat", [LVal::Leaf(k, ..), rest @ ..]) => {
                    let mut cols: Vec<Vec<FExpr>> = Vec::new();
                    for v in rest {
                        let mut l = Vec::new();
                        self.ordered(&rest[0], v, &mut l, span)?;
                        cols.resize(l.len(), vec![k.clone()]);
                        for (c, x) in cols.iter_mut().zip(l) {
                            c.push(x.0);
                        }
                    }
                    let mut it = cols.into_iter();
                    return Ok(
                        rest[0].map(&mut |_| FExpr::Builtin(Builtin::Cat, it.next().unwrap_or_default()), &|r| r)
                    );
                }
                _ => {}
            }
            return Err(self.err(span, format!("{name} cannot be applied to a record")));
        }
        let l: Vec<(FExpr, Ty, usize)> = {
            let mut l = Vec::new();
            vs.iter().for_each(|v| v.leaves(&mut l));
            l
        };
        let need = |me: &Self, n: usize| {
            if l.len() < n { Err(me.err(span, format!("{name} needs {n} arguments"))) } else { Ok(()) }
        };
        let numbers = matches!(
            name,
            "abs"
                | "sign"
                | "floor"
                | "ceil"
                | "integer"
                | "div"
                | "mod"
                | "rem"
                | "atan2"
                | "sum"
                | "product"
                | "cross"
                | "skew"
                | "outerProduct"
                | "linspace"
                | "semiLinear"
        );
        if (numbers || unary_named(name).is_some())
            && let Some(x) = l.iter().find(|x| !x.1.numeric() && !is_empty(&x.0))
        {
            let ty = self.type_text(x.1);
            return Err(self.err(span, format!("{name} needs numbers, not {ty}")));
        }
        if let Some(op) = unary_named(name) {
            need(self, 1)?;
            return Ok(LVal::Leaf(FExpr::Unary(op, boxed(l[0].0.clone())), Ty::Real, l[0].2));
        }
        need(self, 1)?;
        let (a, ta, ra) = l[0].clone();
        let exprs = || l.iter().map(|x| x.0.clone()).collect::<Vec<_>>();
        let b = |k: usize| l[k].0.clone();
        Ok(match name {
            "abs" => LVal::Leaf(FExpr::Unary(Unary::Abs, boxed(a)), ta, ra),
            "sign" => LVal::Leaf(lx.event(FExpr::Unary(Unary::Sign, boxed(a))), Ty::Int, ra),
            "floor" => LVal::Leaf(lx.event(FExpr::Unary(Unary::Floor, boxed(a))), ta, ra),
            "ceil" => LVal::Leaf(lx.event(FExpr::Unary(Unary::Ceil, boxed(a))), ta, ra),
            "integer" => LVal::Leaf(lx.event(FExpr::Unary(Unary::Floor, boxed(a))), Ty::Int, ra),
            "Integer" if !matches!(ta, Ty::Enum(_) | Ty::Int) => {
                let ty = self.type_text(ta);
                return Err(self.err(span, format!("Integer needs an enumeration value, not {ty}")));
            }
            "Integer" => LVal::Leaf(a, Ty::Int, ra),
            "div" | "mod" | "rem" => {
                need(self, 2)?;
                if lx.events && ra == 0 && ta.join(l[1].1) == Ty::Real {
                    let part = if name == "mod" { Unary::Floor } else { Unary::Trunc };
                    let quotient = FExpr::Binary(Binary::Div, boxed(a.clone()), boxed(b(1)));
                    let turns = lx.event(FExpr::Unary(part, boxed(quotient)));
                    let rest = |turns| {
                        let whole = FExpr::Binary(Binary::Mul, boxed(turns), boxed(b(1)));
                        FExpr::Binary(Binary::Sub, boxed(a), boxed(whole))
                    };
                    return Ok(LVal::Leaf(if name == "div" { turns } else { rest(turns) }, Ty::Real, 0));
                }
                let op = match name {
                    "div" => Builtin::Div,
                    "mod" => Builtin::Mod,
                    _ => Builtin::Rem,
                };
                LVal::Leaf(FExpr::Builtin(op, exprs()), ta.join(l[1].1), ra)
            }
            "atan2" => {
                need(self, 2)?;
                LVal::Leaf(FExpr::Binary(Binary::Atan2, boxed(a), boxed(b(1))), Ty::Real, ra)
            }
            "min" | "max" if l.len() == 2 => {
                if ta == Ty::Str || !self.compatible(ta, l[1].1) {
                    let (a, b) = (self.type_text(ta), self.type_text(l[1].1));
                    return Err(self.err(span, format!("{name} cannot compare {a} and {b}")));
                }
                let op = if name == "min" { Binary::Min } else { Binary::Max };
                LVal::Leaf(FExpr::Binary(op, boxed(a), boxed(b(1))), ta.join(l[1].1), ra.max(l[1].2))
            }
            "min" => LVal::Leaf(FExpr::Builtin(Builtin::MinOf, vec![a]), ta, 0),
            "max" => LVal::Leaf(FExpr::Builtin(Builtin::MaxOf, vec![a]), ta, 0),
            "sum" => LVal::Leaf(FExpr::Builtin(Builtin::Sum, vec![a]), ta, 0),
            "product" => LVal::Leaf(FExpr::Builtin(Builtin::Product, vec![a]), ta, 0),
            "size" => LVal::Leaf(FExpr::Builtin(Builtin::Size, exprs()), Ty::Int, usize::from(l.len() == 1)),
            "ndims" => LVal::Leaf(FExpr::Num(ra as f64), Ty::Int, 0),
            "scalar" => LVal::Leaf(FExpr::Builtin(Builtin::Scalar, vec![a]), ta, 0),
            "vector" => LVal::Leaf(FExpr::Builtin(Builtin::Vector, vec![a]), ta, 1),
            "matrix" => LVal::Leaf(FExpr::Builtin(Builtin::Matrix, vec![a]), ta, 2),
            "promote" => {
                let FExpr::Num(n) = b(1) else { return Err(self.err(span, "promote needs a constant")) };
                if (n as usize) < ra {
                    return Err(self.err(span, format!("promote cannot take dimensions away: there are {ra}, not {n}")));
                }
                LVal::Leaf(FExpr::Builtin(Builtin::Promote, exprs()), ta, n as usize)
            }
            "identity" => LVal::Leaf(FExpr::Builtin(Builtin::Identity, vec![a]), Ty::Int, 2),
            "diagonal" => LVal::Leaf(FExpr::Builtin(Builtin::Diagonal, vec![a]), ta, 2),
            "zeros" => LVal::Leaf(FExpr::Builtin(Builtin::Zeros, exprs()), Ty::Int, l.len()),
            "ones" => LVal::Leaf(FExpr::Builtin(Builtin::Ones, exprs()), Ty::Int, l.len()),
            "fill" => LVal::Leaf(FExpr::Builtin(Builtin::Fill, exprs()), ta, ra + l.len() - 1),
            "linspace" => LVal::Leaf(FExpr::Builtin(Builtin::Linspace, exprs()), Ty::Real, 1),
            "transpose" => LVal::Leaf(FExpr::Builtin(Builtin::Transpose, vec![a]), ta, ra),
            "outerProduct" => LVal::Leaf(FExpr::Builtin(Builtin::OuterProduct, exprs()), ta, 2),
            "symmetric" => LVal::Leaf(FExpr::Builtin(Builtin::Symmetric, vec![a]), ta, 2),
            "cross" => LVal::Leaf(FExpr::Builtin(Builtin::Cross, exprs()), ta.join(l[1].1), 1),
            "skew" => LVal::Leaf(FExpr::Builtin(Builtin::Skew, vec![a]), ta, 2),
            "cat" => {
                need(self, 2)?;
                if let Some(x) = l[2..].iter().find(|x| !self.compatible(x.1, l[1].1) && !is_empty(&x.0)) {
                    let (a, b) = (self.type_text(l[1].1), self.type_text(x.1));
                    return Err(self.err(span, format!("arrays of {a} and {b} do not fit together")));
                }
                let ty = l[1..].iter().map(|x| x.1).reduce(|a, b| a.join(b)).unwrap_or(Ty::Real);
                LVal::Leaf(FExpr::Builtin(Builtin::Cat, exprs()), ty, l[1].2)
            }
            "array" => return self.lower_stack(vs, span),
            "semiLinear" => LVal::Leaf(FExpr::Builtin(Builtin::SemiLinear, exprs()), Ty::Real, 0),
            _ => return Err(self.err(span, format!("{name} cannot be used in an algorithm"))),
        })
    }
}

fn rel(op: BinaryOp) -> Binary {
    match op {
        BinaryOp::Lt => Binary::Lt,
        BinaryOp::Le => Binary::Le,
        BinaryOp::Gt => Binary::Gt,
        BinaryOp::Ge => Binary::Ge,
        BinaryOp::Eq => Binary::Eq,
        _ => Binary::Ne,
    }
}

pub(crate) fn operator_name(op: BinaryOp) -> &'static str {
    use BinaryOp::*;
    match op {
        Add | ElemAdd => "'+'",
        Sub | ElemSub => "'-'",
        Mul | ElemMul => "'*'",
        Div | ElemDiv => "'/'",
        Pow | ElemPow => "'^'",
        Eq => "'=='",
        Ne => "'<>'",
        Lt => "'<'",
        Le => "'<='",
        Gt => "'>'",
        Ge => "'>='",
        And => "'and'",
        Or => "'or'",
    }
}

/// `{}`: its type says nothing.
fn is_empty(e: &FExpr) -> bool {
    matches!(e, FExpr::Array(v) if v.is_empty())
}

/// The sizes of an expression where the declarations tell them.
fn fixed_shape(f: &Function, e: &FExpr) -> Option<Vec<usize>> {
    match e {
        FExpr::Num(_) | FExpr::Str(_) => Some(Vec::new()),
        FExpr::Local(l) => {
            let fixed = |d: &Dim| if let Dim::Fixed(n) = d { Some(*n) } else { None };
            f.locals[l.0 as usize].dims.iter().map(fixed).collect()
        }
        FExpr::Array(v) => {
            let mut dims = vec![v.len()];
            dims.extend(fixed_shape(f, v.first()?)?);
            Some(dims)
        }
        FExpr::Unary(_, a) => fixed_shape(f, a),
        FExpr::Binary(_, a, b) => {
            let (a, b) = (fixed_shape(f, a)?, fixed_shape(f, b)?);
            Some(if a.is_empty() { b } else { a })
        }
        _ => None,
    }
}

/// The locals that statements assign to, wherever they stand.
fn targets(body: &[FStmt], out: &mut rustc_hash::FxHashSet<LocalId>) {
    for s in body {
        match &s.kind {
            FStmtKind::Assign(t, _) => {
                out.insert(t.local);
            }
            FStmtKind::MultiAssign(ts, ..) => out.extend(ts.iter().flatten().map(|t| t.local)),
            FStmtKind::If(branches, otherwise) => {
                branches.iter().for_each(|(_, b)| targets(b, out));
                targets(otherwise, out);
            }
            FStmtKind::For(_, _, b) | FStmtKind::While(_, b) => targets(b, out),
            _ => {}
        }
    }
}

/// What has got a value wherever the end of these statements is reached; nothing if it is not reached, or not for sure: a call
/// for its effect may be that of a function that raises an error, and a branch of nothing but assertions is there to fail. A loop
/// counts as run, a branch that sizes choose as taken, and of conditions that compare one value to several, as of an
/// enumeration, one counts as true.
fn assured(f: &Function, body: &[FStmt]) -> Option<rustc_hash::FxHashSet<LocalId>> {
    if !body.is_empty() && body.iter().all(|s| matches!(s.kind, FStmtKind::Assert(_, _, false))) {
        return None;
    }
    let mut out = rustc_hash::FxHashSet::default();
    for s in body {
        match &s.kind {
            FStmtKind::Assign(t, _) => {
                out.insert(t.local);
            }
            FStmtKind::MultiAssign(ts, ..) => out.extend(ts.iter().flatten().map(|t| t.local)),
            FStmtKind::If(branches, _) if branches.iter().any(|(c, _)| asks_for_sizes(f, c)) => {
                targets(std::slice::from_ref(s), &mut out);
            }
            FStmtKind::If(branches, otherwise) => {
                let complete = otherwise.is_empty() && distinguishes(branches);
                let last = (!complete).then_some(otherwise);
                let ways = branches.iter().map(|(_, b)| b).chain(last).filter_map(|b| assured(f, b));
                out.extend(ways.reduce(|a, b| a.intersection(&b).copied().collect())?);
            }
            FStmtKind::For(_, _, b) | FStmtKind::While(_, b) => targets(b, &mut out),
            FStmtKind::Assert(FExpr::Num(0.0), _, false)
            | FStmtKind::Break
            | FStmtKind::Return
            | FStmtKind::Terminate(_) => {
                return None;
            }
            FStmtKind::Assert(..) => {}
        }
    }
    Some(out)
}

/// Whether something is called for its effect.
fn calls_for_effect(body: &[FStmt]) -> bool {
    body.iter().any(|s| match &s.kind {
        FStmtKind::MultiAssign(ts, ..) => ts.is_empty(),
        FStmtKind::If(branches, otherwise) => {
            branches.iter().any(|(_, b)| calls_for_effect(b)) || calls_for_effect(otherwise)
        }
        FStmtKind::For(_, _, b) | FStmtKind::While(_, b) => calls_for_effect(b),
        _ => false,
    })
}

/// `if e == E.a then … elseif e == E.b then …`.
fn distinguishes(branches: &[(FExpr, Vec<FStmt>)]) -> bool {
    let compared = |c: &FExpr| match c {
        FExpr::Binary(Binary::Eq, a, b) => match (&**a, &**b) {
            (FExpr::Local(l), FExpr::Num(_)) | (FExpr::Num(_), FExpr::Local(l)) => Some(*l),
            _ => None,
        },
        _ => None,
    };
    let first = branches.first().and_then(|(c, _)| compared(c));
    branches.len() > 1 && first.is_some() && branches.iter().all(|(c, _)| compared(c) == first)
}

/// Whether statements read a local.
fn reads(body: &[FStmt], local: LocalId) -> bool {
    body.iter().any(|s| match &s.kind {
        FStmtKind::Assign(_, e) | FStmtKind::Terminate(e) => e.reads(local),
        FStmtKind::MultiAssign(_, _, args) => args.iter().any(|a| a.reads(local)),
        FStmtKind::If(branches, otherwise) => {
            branches.iter().any(|(c, b)| c.reads(local) || reads(b, local)) || reads(otherwise, local)
        }
        FStmtKind::For(_, e, b) | FStmtKind::While(e, b) => e.reads(local) || reads(b, local),
        FStmtKind::Assert(c, m, _) => c.reads(local) || m.reads(local),
        FStmtKind::Break | FStmtKind::Return => false,
    })
}

/// The value of an expression of sizes that are known.
fn known_size(f: &Function, e: &FExpr) -> Option<f64> {
    match e {
        FExpr::Num(n) => Some(*n),
        FExpr::Builtin(Builtin::Size, args) => match &args[..] {
            [FExpr::Local(l), FExpr::Num(d)] => match f.locals[l.0 as usize].dims.get((*d as usize).checked_sub(1)?)? {
                Dim::Fixed(n) => Some(*n as f64),
                _ => None,
            },
            _ => None,
        },
        FExpr::Binary(op, a, b) => {
            let (a, b) = (known_size(f, a)?, known_size(f, b)?);
            match op {
                Binary::Add => Some(a + b),
                Binary::Sub => Some(a - b),
                Binary::Mul => Some(a * b),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether a condition depends on sizes, itself or by a variable that is declared by one.
fn asks_for_sizes(f: &Function, e: &FExpr) -> bool {
    match e {
        FExpr::Builtin(Builtin::Size, _) => true,
        FExpr::Builtin(_, args) => args.iter().any(|a| asks_for_sizes(f, a)),
        FExpr::Unary(_, a) => asks_for_sizes(f, a),
        FExpr::Binary(_, a, b) => asks_for_sizes(f, a) || asks_for_sizes(f, b),
        FExpr::Local(l) => {
            let local = &f.locals[l.0 as usize];
            matches!(local.binding, Some(FExpr::Builtin(Builtin::Size, _)))
        }
        _ => false,
    }
}

fn first_local(t: &LTree) -> FExpr {
    let mut l = Vec::new();
    tree_locals(t, &mut l);
    l.first().map_or(FExpr::Num(0.0), |&l| FExpr::Local(l))
}

pub(crate) fn tree_locals(t: &LTree, out: &mut Vec<LocalId>) {
    match t {
        LTree::Leaf { local, .. } => out.push(*local),
        LTree::Rec { fields, .. } => fields.iter().for_each(|(_, f)| tree_locals(f, out)),
    }
}

fn tree_leaves(t: &LTree, out: &mut Vec<(LocalId, Ty, usize)>) {
    match t {
        LTree::Leaf { local, ty, rank } => out.push((*local, *ty, *rank)),
        LTree::Rec { fields, .. } => fields.iter().for_each(|(_, f)| tree_leaves(f, out)),
    }
}

pub(crate) fn tree_value(t: &LTree) -> LVal {
    match t {
        LTree::Leaf { local, ty, rank } => LVal::Leaf(FExpr::Local(*local), *ty, *rank),
        LTree::Rec { class, scope, rank, fields } => LVal::Rec {
            class: *class,
            scope: *scope,
            rank: *rank,
            fields: fields.iter().map(|(n, f)| (*n, tree_value(f))).collect(),
        },
    }
}

fn apply_indices(v: &LVal, idx: &[FIndex], dropped: usize) -> LVal {
    // Indices of an index chain are kept separate: the shapes are already reduced.
    v.map(&mut |x| FExpr::Index(boxed(x), idx.to_vec()), &|r| r.saturating_sub(dropped))
}

/// A function given as an argument, with what is bound to its inputs.
fn given_function(v: LVal, flat: &mut Vec<FExpr>) -> Given {
    match v {
        LVal::Func(n, bound) => {
            Given::Function(n, bound.into_iter().map(|(k, v)| (k, given_function(v, flat))).collect())
        }
        v => {
            let mut l = Vec::new();
            v.leaves(&mut l);
            let sizes = l.iter().map(|x| vec![None; x.2]).collect();
            flat.extend(l.into_iter().map(|x| x.0));
            Given::Value(sizes)
        }
    }
}

/// Output number `k` of a call as a value.
fn pick_output(f: FuncId, args: &[FExpr], outs: &[LVal], k: usize) -> LVal {
    let mut at = 0;
    for o in &outs[..k] {
        let mut l = Vec::new();
        o.leaves(&mut l);
        at += l.len();
    }
    outs[k].map(
        &mut |_| {
            at += 1;
            FExpr::Call(f, args.to_vec(), at - 1)
        },
        &|r| r,
    )
}

fn nest(flat: &[FExpr], dims: &[usize]) -> FExpr {
    match dims {
        [] | [_] => FExpr::Array(flat.to_vec()),
        [n, rest @ ..] => {
            let w = flat.len() / n;
            FExpr::Array((0..*n).map(|k| nest(&flat[k * w..(k + 1) * w], rest)).collect())
        }
    }
}

/// The array that an iterator subscripts, and in which dimension.
fn subscripted(name: Name, e: &Expr) -> Option<(ComponentRef, usize)> {
    let mut found = None;
    crate::eval::visit_refs(e, &mut |r| {
        for (k, p) in r.parts.iter().enumerate() {
            for (d, s) in p.subscripts.iter().enumerate() {
                if let Subscript::Index(Expr { kind: ExprKind::Ref(i), .. }) = s
                    && i.parts.len() == 1
                    && i.parts[0].name.name == name
                    && found.is_none()
                {
                    let mut base = r.clone();
                    base.parts.truncate(k + 1);
                    base.parts[k].subscripts.clear();
                    found = Some((base, d));
                }
            }
        }
    });
    found
}

/// The range `1:size(base, d + 1)`.
fn whole_range(base: ComponentRef, d: usize) -> Expr {
    let span = base.span;
    let num = |v: i64| Expr { kind: ExprKind::Integer(v), span };
    let id = saltus_syntax::ast::Ident { name: Name::new("size"), span };
    let call = Call {
        function: ComponentRef {
            global: false,
            parts: vec![saltus_syntax::ast::RefPart { name: id, subscripts: Vec::new() }],
            span,
        },
        args: vec![Expr { kind: ExprKind::Ref(base), span }, num(d as i64 + 1)],
        named: Vec::new(),
        iterators: Vec::new(),
    };
    Expr { kind: ExprKind::Range(Box::new(num(1)), None, Box::new(Expr { kind: ExprKind::Call(call), span })), span }
}

/// Whether an input is named that the caller gives: its value and its size are not those of its default.
fn names_given_input(lx: &Lowering, e: &Expr) -> bool {
    let mut found = false;
    crate::eval::visit_refs(e, &mut |r| {
        let name = ref_text(r);
        found |= lx.f.inputs.iter().any(|i| lx.f.locals[i.0 as usize].name == name);
    });
    found
}

/// All expressions of a statement, nested ones included.
pub(crate) fn visit_statement(s: &Statement, f: &mut dyn FnMut(&Expr)) {
    let as_expr = |r: &ComponentRef| Expr { kind: ExprKind::Ref(r.clone()), span: r.span };
    match &s.kind {
        StatementKind::Assign(r, e) => {
            f(&as_expr(r));
            f(e);
        }
        StatementKind::MultiAssign(t, e) => {
            t.iter().flatten().for_each(|r| f(&as_expr(r)));
            f(e);
        }
        StatementKind::Call(e) => f(e),
        StatementKind::If { branches, otherwise } => {
            for (c, b) in branches {
                f(c);
                b.iter().for_each(|s| visit_statement(s, f));
            }
            otherwise.iter().for_each(|s| visit_statement(s, f));
        }
        StatementKind::For { indices, body } => {
            indices.iter().filter_map(|i| i.range.as_ref()).for_each(&mut *f);
            body.iter().for_each(|s| visit_statement(s, f));
        }
        StatementKind::While { condition, body } => {
            f(condition);
            body.iter().for_each(|s| visit_statement(s, f));
        }
        StatementKind::When { branches } => {
            for (c, b) in branches {
                f(c);
                b.iter().for_each(|s| visit_statement(s, f));
            }
        }
        StatementKind::Break | StatementKind::Return => {}
    }
}

fn has_jump(body: &[Statement]) -> bool {
    body.iter().any(|s| match &s.kind {
        StatementKind::Break | StatementKind::Return => true,
        StatementKind::If { branches, otherwise } => branches.iter().any(|(_, b)| has_jump(b)) || has_jump(otherwise),
        StatementKind::For { body, .. } | StatementKind::While { body, .. } => has_jump(body),
        _ => false,
    })
}
