//! The instance tree: components and the classes they are looked up through, made when first asked for.

use crate::check::{Plug, Wanted};
use crate::modifier::{Binding, Mod, NodeId, Projection, Redeclared, Scope, merge};
use crate::template::{ClassRef, MemberKind, Template};
use crate::value::{Ty, Value, shape_text};
use crate::{Env, Flattener, Mode, R};
use rustc_hash::FxHashMap;
use saltus_base::{Name, Span};
use saltus_dae::VarId;
use saltus_resolve::ClassId;
use saltus_syntax::ast::{
    Causality, ClassBody, ClassDef, ClassKind, Component, ComponentClause, Connection, Expr, ExprKind, Ident, RefPart,
    Subscript, TypeSpec, VariabilityPrefix,
};
use std::borrow::Cow;
use std::fmt::Write;
use std::rc::Rc;

/// Models with more components than this would not fit into memory.
const MOST_NODES: usize = 3_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeKind {
    Root,
    /// A class looked into: package, function, or the type of something.
    Class,
    /// A component, all of it if it is an array.
    Component,
    /// One element of an array of components.
    Element,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    Unknown,
    Busy,
    Absent,
    Node(NodeId),
}

#[derive(Clone)]
pub(crate) enum Constant {
    Unknown,
    Busy,
    Known(Value),
}

pub(crate) struct Node<'t> {
    pub name: Name,
    pub index: Box<[usize]>,
    pub parent: Option<NodeId>,
    pub kind: NodeKind,
    pub cref: ClassRef<'t>,
    pub template: Option<Rc<Template<'t>>>,
    pub effective: Box<[Rc<Mod<'t>>]>,
    pub children: Box<[Slot]>,
    /// Classes found below it.
    pub classes: Option<Box<FxHashMap<Name, ClassRef<'t>>>>,
    pub clause: Option<(&'t ComponentClause, &'t Component, Scope)>,
    /// Dimensions come from here instead, if a redeclaration leaves them out.
    pub dims_from: Option<Box<(&'t ComponentClause, &'t Component, Scope)>>,
    pub dims: Option<Rc<[usize]>>,
    /// The dimensions found so far while the others are being evaluated (`A[:, size(A, 1)]`).
    pub sizing: Option<Box<[usize]>>,
    pub elements: Option<Rc<Vec<NodeId>>>,
    pub variability: VariabilityPrefix,
    pub causality: Causality,
    pub connection: Connection,
    pub protected: bool,
    pub is_final: bool,
    pub inner: bool,
    pub outer: Option<Option<NodeId>>,
    pub var: Option<VarId>,
    pub constant: Constant,
    /// Part of the simulated model (has variables), as opposed to packages and functions.
    pub live: bool,
    /// Asked for as a structural value.
    pub structural: bool,
}

#[derive(Clone)]
pub(crate) enum Found<'t> {
    Component(NodeId),
    Class(ClassRef<'t>),
}

impl Found<'_> {
    fn same(&self, o: &Found<'_>) -> bool {
        match (self, o) {
            (Found::Component(a), Found::Component(b)) => a == b,
            (Found::Class(a), Found::Class(b)) => a.class == b.class,
            _ => false,
        }
    }
}

impl<'t> Flattener<'t> {
    pub(crate) fn node(&self, n: NodeId) -> &Node<'t> {
        &self.nodes[n.0 as usize]
    }
    pub(crate) fn node_mut(&mut self, n: NodeId) -> &mut Node<'t> {
        &mut self.nodes[n.0 as usize]
    }

    pub(crate) fn new_node(
        &mut self,
        name: Name,
        parent: Option<NodeId>,
        kind: NodeKind,
        cref: ClassRef<'t>,
    ) -> NodeId {
        self.nodes.push(Node {
            name,
            index: Box::default(),
            parent,
            kind,
            cref,
            template: None,
            effective: Box::default(),
            children: Box::default(),
            classes: None,
            clause: None,
            dims_from: None,
            dims: None,
            sizing: None,
            elements: None,
            variability: VariabilityPrefix::None,
            causality: Causality::None,
            connection: Connection::Potential,
            protected: false,
            is_final: false,
            inner: false,
            outer: None,
            var: None,
            constant: Constant::Unknown,
            live: false,
            structural: false,
        });
        NodeId(self.nodes.len() as u32 - 1)
    }

    pub(crate) fn template(&mut self, n: NodeId) -> R<Rc<Template<'t>>> {
        if let Some(t) = &self.node(n).template {
            return Ok(t.clone());
        }
        let (class, scope) = (self.node(n).cref.class, self.node(n).cref.scope);
        let t = self.template_of(class, scope)?;
        if self.in_progress(class, scope) {
            return Ok(t);
        }
        let node = self.node_mut(n);
        node.effective = Box::default();
        node.children = vec![Slot::Unknown; t.members.len()].into();
        node.template = Some(t.clone());
        Ok(t)
    }

    /// The modifiers on what `part` declares, outermost winning.
    pub(crate) fn effective(&mut self, n: NodeId, part: u16) -> R<Rc<Mod<'t>>> {
        if let Some(m) = self.node(n).effective.get(part as usize) {
            return Ok(m.clone());
        }
        let t = self.template(n)?;
        let mut all = Vec::with_capacity(t.parts.len());
        all.push(self.node(n).cref.mods.clone());
        let whole = t.is_record() && all[0].binding.is_some();
        for (k, p) in t.parts.iter().enumerate().skip(1) {
            let scope = p.mod_scope.unwrap_or(Scope { node: n, part: p.from });
            let m = self.modifier(p.modification, scope, false);
            let m = if p.base_mods.is_empty() { m } else { merge(&m, &p.base_mods) };
            // `model A3 = A[3](…)` modifies all elements of its array.
            let (kind, index) = (self.node(n).kind, self.node(n).index.clone());
            let tail: usize = t.dims.iter().filter(|d| d.2 >= p.from).map(|d| d.0.len()).sum();
            let m = match index.len().checked_sub(tail) {
                Some(at) if kind == NodeKind::Element && tail > 0 => m.element(&index[at..], &Rc::default()),
                _ => m,
            };
            let m = if whole { m.weakened() } else { m };
            let outer = &all[p.from as usize];
            let joined = self.merged.merge(outer, &m);
            debug_assert_eq!(k, all.len());
            all.push(joined);
        }
        let m = all[part as usize].clone();
        self.node_mut(n).effective = all.into();
        Ok(m)
    }

    /// The modifiers that reach a leaf's own attributes and binding.
    pub(crate) fn leaf_mod(&mut self, n: NodeId) -> R<Rc<Mod<'t>>> {
        let t = self.template(n)?;
        self.effective(n, t.parts.len() as u16 - 1)
    }

    /// `a.b[2].c`
    pub(crate) fn path(&self, n: NodeId) -> String {
        let mut out = String::new();
        self.write_path(n, &mut out);
        out
    }

    fn write_path(&self, n: NodeId, out: &mut String) {
        let node = self.node(n);
        match (node.kind, node.parent) {
            (NodeKind::Class, _) => out.push_str(&self.lib.qualified(node.cref.class)),
            (NodeKind::Element, parent) => {
                if let Some(p) = parent {
                    self.write_path(p, out);
                }
                out.push('[');
                for (k, i) in node.index.iter().enumerate() {
                    // Writing to a string cannot fail.
                    let _ = write!(out, "{}{i}", if k == 0 { "" } else { "," });
                }
                out.push(']');
            }
            (NodeKind::Component, Some(p)) => {
                if p != self.top {
                    self.write_path(p, out);
                }
                if !out.is_empty() {
                    out.push('.');
                }
                out.push_str(node.name.as_str());
            }
            (NodeKind::Root, _) | (NodeKind::Component, None) => {}
        }
    }

    // ---- lookup --------------------------------------------------------------------------------------------------

    /// The meaning of a simple name.
    pub(crate) fn lookup(&mut self, scope: Scope, name: Name) -> R<Option<Found<'t>>> {
        let mut s = scope;
        loop {
            if s.node == Scope::ROOT.node {
                return Ok(self.lib.top(name).map(|c| Found::Class(self.plain(c, Scope::ROOT))));
            }
            if let Some(f) = self.member_from(s, name)? {
                if let Found::Component(n) = f
                    && s.node != scope.node
                    && n.0 != u32::MAX
                    && self.node(scope.node).live
                    && self.is_out_of_reach(n, s.node)?
                {
                    let span = self.node(n).clause.map_or(Span::NONE, |c| c.1.name.span);
                    let inside = self.lib.qualified(self.node(scope.node).cref.class);
                    let what = match self.node(n).variability {
                        VariabilityPrefix::Parameter => "parameter",
                        _ => "variable",
                    };
                    return Err(self.err_hints(
                        span,
                        format!("{name} is a {what} of an enclosing class and cannot be used inside {inside}"),
                        vec!["only constants are seen from nested classes; hand the value in by a modifier".into()],
                    ));
                }
                return Ok(Some(f));
            }
            let t = self.template(s.node)?;
            let Some(p) = t.parts.get(s.part as usize) else { return Ok(None) };
            if let Some(f) = self.import(p.class, name)? {
                return Ok(Some(f));
            }
            if p.def.prefixes.encapsulated {
                return Ok(self.predefined(name));
            }
            s = p.parent;
        }
    }

    /// Whether a component of an enclosing class is nothing that a class inside can use: a variable, or a parameter of a
    /// model of which there is no instance.
    fn is_out_of_reach(&mut self, n: NodeId, owner: NodeId) -> R<bool> {
        Ok(match self.node(n).variability {
            VariabilityPrefix::None | VariabilityPrefix::Discrete => self.node(n).live,
            VariabilityPrefix::Parameter => {
                !self.node(n).live && self.node(owner).kind == NodeKind::Class && {
                    let kind = self.template(owner)?.kind;
                    matches!(kind, ClassKind::Model | ClassKind::Block | ClassKind::Class)
                }
            }
            _ => false,
        })
    }

    /// A type of the language itself: the only names that an encapsulated class sees of its surroundings.
    pub(crate) fn predefined(&self, name: Name) -> Option<Found<'t>> {
        let known = crate::PREDEFINED.contains(&name.as_str());
        self.lib.top(name).filter(|_| known).map(|c| Found::Class(self.plain(c, Scope::ROOT)))
    }

    pub(crate) fn plain(&self, class: ClassId, scope: Scope) -> ClassRef<'t> {
        ClassRef { class, scope, mods: self.no_mod.clone() }
    }

    /// A member of an instance as seen from one of its parts.
    pub(crate) fn member_from(&mut self, s: Scope, name: Name) -> R<Option<Found<'t>>> {
        let t = self.template(s.node)?;
        if let Some(i) = self.find_member(&t, s.part, name) {
            return self.member(s.node, &t, i).map(Some);
        }
        // Members of directory packages stored as files.
        if t.kind == ClassKind::Package || t.members.is_empty() {
            for p in t.parts.get(s.part as usize).map_or(0..0, |q| s.part as usize..q.end as usize) {
                if let Some(c) = self.lib.file_member(t.parts[p].class, name) {
                    return Ok(Some(Found::Class(self.plain(c, Scope { node: s.node, part: p as u16 }))));
                }
            }
        }
        if let Some(extra) = self.extra.get(&(s.node, name)) {
            return Ok(Some(Found::Component(*extra)));
        }
        Ok(None)
    }

    fn member(&mut self, n: NodeId, t: &Rc<Template<'t>>, i: u32) -> R<Found<'t>> {
        match &t.members[i as usize].kind {
            MemberKind::Component { .. } => match self.child(n, i)? {
                Slot::Node(c) => Ok(Found::Component(c)),
                // What is wrong with it has been told; whoever reads it can say nothing else.
                _ => match self.broken.get(&(n, i)) {
                    Some(e) => Err(e.clone()),
                    None => Ok(Found::Component(NodeId(u32::MAX))),
                },
            },
            MemberKind::Class(chain) => {
                let name = t.members[i as usize].name;
                if let Some(c) = self.node(n).classes.as_ref().and_then(|k| k.get(&name)) {
                    return Ok(Found::Class(c.clone()));
                }
                let (class, part) = chain[0];
                if self.lib.entry(class).prefixes.outer
                    && let Some(found) = self.inner_class(n, name)?
                {
                    if let Found::Class(c) = &found {
                        self.node_mut(n).classes.get_or_insert_default().insert(name, c.clone());
                    }
                    return Ok(found);
                }
                let eff = self.effective(n, part)?;
                let mut cref = ClassRef { class, scope: Scope { node: n, part }, mods: self.no_mod.clone() };
                if let Some(m) = eff.child(name).cloned() {
                    if let Some(r) = &m.redeclare
                        && let Redeclared::Class(c) = r.what
                    {
                        let mut below = self.inherited_mods(n, name, chain)?;
                        if let Some(under) = &r.under {
                            below = merge(under, &below);
                        }
                        let mut mods = Rc::new(m.without_redeclare());
                        if !below.is_empty() {
                            mods = merge(&mods, &merge(&self.short_mods(c, r.scope), &below));
                        }
                        cref = ClassRef { class: c, scope: r.scope, mods };
                        let replaceable = chain.iter().any(|(c, _)| self.lib.entry(*c).prefixes.replaceable);
                        // What redeclared it last should have left it replaceable.
                        let latest =
                            (!self.lib.entry(class).prefixes.replaceable).then_some(self.lib.def(class).name.span);
                        let constraint = self.lib.entry(class).constraint.as_ref().map(|k| &k.class);
                        self.checks.plugs.push(Plug {
                            name,
                            by: cref.clone(),
                            span: m.span.unwrap_or(self.lib.def(c).name.span),
                            declared: self.lib.def(class).name.span,
                            replaceable,
                            settled: r.settled.or(latest),
                            wanted: match constraint {
                                Some(k) => Wanted::Named(k, Scope { node: n, part }),
                                None => Wanted::Class(ClassRef {
                                    class,
                                    scope: Scope { node: n, part },
                                    mods: self.no_mod.clone(),
                                }),
                            },
                            kinds: Some((self.lib.def(c).kind, self.lib.def(class).kind)),
                            ranks: None,
                            default: false,
                            within: n,
                        });
                    } else {
                        cref.mods = m;
                    }
                }
                // A redeclaration in the class body keeps to what was said about the original on the way to it.
                if let Some(&(original, _)) = chain.last()
                    && original != class
                    && cref.class == class
                {
                    let below = self.inherited_mods(n, name, chain)?;
                    if !below.is_empty() {
                        let own = self.own_mods(class, Scope { node: n, part });
                        cref.mods = merge(&cref.mods, &merge(&own, &below));
                    }
                }
                // A redeclaration to its own name in its own scope would never end.
                self.node_mut(n).classes.get_or_insert_default().insert(name, cref.clone());
                Ok(Found::Class(cref))
            }
        }
    }

    /// The inner class that an outer one of this name in `n` stands for.
    fn inner_class(&mut self, n: NodeId, name: Name) -> R<Option<Found<'t>>> {
        let mut up = self.node(n).parent;
        while let Some(p) = up {
            let t = self.template(p)?;
            if let Some(&i) = t.index.get(&name)
                && let MemberKind::Class(chain) = &t.members[i as usize].kind
                && chain.iter().any(|(c, _)| self.lib.entry(*c).prefixes.inner)
            {
                return self.member(p, &t, i).map(Some);
            }
            up = self.node(p).parent;
        }
        Ok(None)
    }

    /// What holds for every replacement of a class that was redeclared in class bodies (the latest first): its
    /// constraints, and modifiers of it on the way.
    fn inherited_mods(&mut self, n: NodeId, name: Name, chain: &[(ClassId, u16)]) -> R<Rc<Mod<'t>>> {
        let mut below = self.no_mod.clone();
        for (k, &(class, part)) in chain.iter().enumerate().rev() {
            if k + 1 == chain.len() || self.lib.entry(class).constraint.is_some() {
                below = merge(&self.constraint_mods(class, Scope { node: n, part }), &below);
            }
            if k > 0
                && let Some(m) = self.effective(n, part)?.child(name)
            {
                below = merge(&Rc::new(m.without_redeclare()), &below);
            }
        }
        Ok(below)
    }

    /// The modifiers that hold for every replacement of a class: those of its constraining clause or, without one, of its
    /// own short definition.
    fn constraint_mods(&self, class: ClassId, scope: Scope) -> Rc<Mod<'t>> {
        match &self.lib.entry(class).constraint {
            Some(k) => self.modifier(k.modification.as_ref(), scope, false),
            None => self.short_mods(class, scope),
        }
    }

    /// The modifiers of `model A = B(…)`.
    fn short_mods(&self, class: ClassId, scope: Scope) -> Rc<Mod<'t>> {
        match &*self.lib.def(class).body {
            ClassBody::Short { modification, .. } => self.modifier(modification.as_ref(), scope, false),
            _ => self.no_mod.clone(),
        }
    }

    /// What a redeclaration says itself: `model A = B(…)` or `model extends A(…)`.
    fn own_mods(&self, class: ClassId, scope: Scope) -> Rc<Mod<'t>> {
        match &*self.lib.def(class).body {
            ClassBody::Long { extends: Some(modification), .. } => self.modifier(modification.as_ref(), scope, false),
            _ => self.short_mods(class, scope),
        }
    }

    /// A name imported by a class.
    pub(crate) fn import(&mut self, class: ClassId, name: Name) -> R<Option<Found<'t>>> {
        let own = self.lib.own(class);
        if own.imports.is_empty() && own.wildcards.is_empty() {
            return Ok(None);
        }
        if let Some(f) = self.imports.get(&(class, name)) {
            return Ok(f.clone());
        }
        let mut found = None;
        if let Some(path) = own.imports.get(&name) {
            found = self.global(path)?;
            if found.is_none() {
                let (message, hints) = self.unknown_import(path)?;
                let span = own.import_spans.get(&name).copied().unwrap_or(self.lib.def(class).name.span);
                return Err(self.err_hints(span, message, hints));
            }
        } else if !self.importing.contains(&class) {
            self.importing.push(class);
            let mut from: Option<&Vec<Name>> = None;
            for path in &own.wildcards {
                let Some(whole) = self.global(path)? else {
                    let (message, hints) = self.unknown_import(path)?;
                    let span = self.lib.def(class).name.span;
                    if self.warned.insert(span) {
                        let mut d = self.err_hints(span, message, hints);
                        d.severity = saltus_base::Severity::Warning;
                        self.diagnostics.push(*d);
                    }
                    continue;
                };
                if let Found::Class(c) = whole {
                    let n = self.class_node(&c);
                    let here = self.member_from(Scope { node: n, part: 0 }, name)?;
                    if let (Some(a), Some(b)) = (&found, &here)
                        && let Some(first) = from
                        && !a.same(b)
                    {
                        self.importing.pop();
                        return Err(self.ambiguous(class, name, first, path));
                    }
                    if found.is_none() && here.is_some() {
                        (found, from) = (here, Some(path));
                    }
                }
            }
            self.importing.pop();
        } else {
            return Ok(None);
        }
        self.imports.insert((class, name), found.clone());
        Ok(found)
    }

    /// A name that two `import P.*` clauses bring along.
    fn ambiguous(&self, class: ClassId, name: Name, first: &[Name], second: &[Name]) -> Box<saltus_base::Diagnostic> {
        let text = |p: &[Name]| p.iter().map(|n| n.as_str()).collect::<Vec<_>>().join(".");
        let (first, second) = (text(first), text(second));
        let message = format!("{name} is ambiguous: both {first} and {second}, imported as a whole, have it");
        let hint = format!("import the one that is meant by its name: import {first}.{name};");
        self.err_hints(self.lib.def(class).name.span, message, vec![hint])
    }

    /// What to say about an import whose name leads nowhere.
    pub(crate) fn unknown_import(&mut self, path: &[Name]) -> R<(String, Vec<String>)> {
        let text: Vec<&str> = path.iter().map(|n| n.as_str()).collect();
        let mut known = path.len();
        while known > 0 && self.global(&path[..known])?.is_none() {
            known -= 1;
        }
        let message = match known {
            0 => format!("the imported name {} is not known: there is no {}", text.join("."), text[0]),
            k => format!(
                "the imported name {} is not known: there is no {} in {}",
                text.join("."),
                text[k],
                text[..k].join(".")
            ),
        };
        let hints = if known == 0 {
            self.missing_library(path[0])
        } else {
            match self.global(&path[..known])? {
                Some(Found::Class(c)) => {
                    let n = self.class_node(&c);
                    self.similar_members(n, path[known])
                }
                _ => Vec::new(),
            }
        };
        Ok((message, hints))
    }

    /// Advice for a top-level name that neither the loaded files nor the libraries hold.
    pub(crate) fn missing_library(&self, name: Name) -> Vec<String> {
        let known: Vec<Name> = self.lib.top_names();
        let hints = crate::eval::suggest(name.as_str(), known.iter().map(|n| n.as_str()));
        if !hints.is_empty() {
            return hints;
        }
        vec![format!("if {name} is a library, give its folder with --library or in MODELICAPATH")]
    }

    /// A fully qualified name.
    pub(crate) fn global(&mut self, path: &[Name]) -> R<Option<Found<'t>>> {
        let Some((&first, rest)) = path.split_first() else { return Ok(None) };
        let Some(c) = self.lib.top(first) else { return Ok(None) };
        let mut found = Found::Class(self.plain(c, Scope::ROOT));
        for &n in rest {
            let node = match &found {
                Found::Class(c) => self.class_node(c),
                Found::Component(c) => *c,
            };
            match self.member_from(Scope { node, part: 0 }, n)? {
                Some(f) => found = f,
                None => return Ok(None),
            }
        }
        Ok(Some(found))
    }

    /// The class meant by a type specifier.
    pub(crate) fn class_in(&mut self, scope: Scope, spec: &TypeSpec) -> R<ClassRef<'t>> {
        let Some(first) = spec.path.first() else { return Err(self.err(spec.span, "a class name is missing")) };
        let start = if spec.global { Scope::ROOT } else { scope };
        match self.lookup(start, first.name)? {
            Some(f) => self.class_below(f, &spec.path[1..], spec),
            None => {
                let mut hints = self.similar(scope, first.name, true);
                let meant = match first.name.as_str() {
                    "float" | "double" => Some("Real"),
                    "int" => Some("Integer"),
                    "bool" => Some("Boolean"),
                    _ => None,
                };
                if let Some(meant) = meant {
                    hints = vec![format!("did you mean {meant}?")];
                }
                if hints.is_empty() && spec.path.len() > 1 {
                    hints = self.missing_library(first.name);
                }
                Err(self.err_hints(first.span, format!("the class {} is not known here", spec_text(spec)), hints))
            }
        }
    }

    pub(crate) fn class_below(&mut self, found: Found<'t>, rest: &[Ident], spec: &TypeSpec) -> R<ClassRef<'t>> {
        let mut found = found;
        for i in rest {
            let node = match &found {
                Found::Class(c) => self.class_node(c),
                Found::Component(c) if c.0 != u32::MAX => *c,
                Found::Component(_) => break,
            };
            match self.member_from(Scope { node, part: 0 }, i.name)? {
                Some(f) => found = f,
                None => {
                    let hints = self.similar_members(node, i.name);
                    let inside = self.path(node);
                    return Err(self.err_hints(i.span, format!("there is no class {} in {inside}", i.name), hints));
                }
            }
        }
        match found {
            Found::Class(c) => Ok(c),
            Found::Component(_) => Err(self.err(spec.span, format!("{} is a component, not a class", spec_text(spec)))),
        }
    }

    /// The node through which a class is looked into.
    pub(crate) fn class_node(&mut self, c: &ClassRef<'t>) -> NodeId {
        let key = (c.class, c.scope, if c.mods.is_empty() { 0 } else { Rc::as_ptr(&c.mods) as usize });
        if let Some(&n) = self.class_nodes.get(&key) {
            return n;
        }
        let name = self.lib.entry(c.class).name;
        let n = self.new_node(name, Some(c.scope.node), NodeKind::Class, c.clone());
        self.class_nodes.insert(key, n);
        n
    }

    // ---- components ----------------------------------------------------------------------------------------------

    /// The child of a component member, made on first use.
    pub(crate) fn child(&mut self, n: NodeId, i: u32) -> R<Slot> {
        let t = self.template(n)?;
        match self.node(n).children.get(i as usize) {
            Some(Slot::Unknown) => {}
            Some(Slot::Busy) => {
                let m = &t.members[i as usize];
                return Err(self.err(self.part_span(n), format!("the declaration of {} depends on itself", m.name)));
            }
            Some(&s) => return Ok(s),
            None => return Ok(Slot::Absent),
        }
        self.node_mut(n).children[i as usize] = Slot::Busy;
        let r = self.make_child(n, &t, i);
        self.node_mut(n).children[i as usize] = match &r {
            Ok(s) => *s,
            Err(e) => {
                self.broken.insert((n, i), e.clone());
                Slot::Absent
            }
        };
        r
    }

    fn make_child(&mut self, n: NodeId, t: &Rc<Template<'t>>, i: u32) -> R<Slot> {
        let m = &t.members[i as usize];
        let MemberKind::Component { mut clause, mut component } = m.kind else { return Ok(Slot::Absent) };
        if self.nodes.len() > MOST_NODES {
            self.endless = true;
            let message =
                format!("the model has more than {MOST_NODES} components: does {} hold too many?", self.path(n));
            return Err(self.err(component.span, message));
        }
        if self.depth(n) > 200 {
            self.endless = true;
            return Err(self.err(
                component.span,
                format!("components are nested too deeply; does {} contain itself?", self.lib.qualified(t.class)),
            ));
        }
        let mut scope = Scope { node: n, part: m.part };
        let eff = self.effective(n, m.part)?;
        let outside = eff.child(m.name).cloned().unwrap_or_else(|| self.no_mod.clone());
        let condition = component.condition.as_ref().or_else(|| m.replaced.and_then(|r| r.1.condition.as_ref()));
        if let Some(cond) = condition {
            let env = Env::konst(scope);
            let v = self.eval(&env, cond)?;
            if v.ty() != Some(Ty::Bool) {
                let message = format!("the condition of a component must be a Boolean, not {}", v.describe());
                return Err(self.err(cond.span, message));
            }
            match self.bool_of(&v) {
                Some(true) => {}
                Some(false) => return Ok(Slot::Absent),
                None => return Err(self.err(cond.span, "the condition of a component must be a parameter expression")),
            }
        }
        let outside_mods = outside.clone();
        let mut mods = outside;
        let mut dims_from = None;
        let original = (clause, component, scope);
        if let Some(r) = mods.redeclare.clone()
            && let Redeclared::Component(c, k) = r.what
        {
            (clause, component, scope) = (c, k, r.scope);
            if component.dims.is_empty() && clause.type_dims.is_empty() {
                dims_from = Some(original);
            }
            let constraint = match &original.0.constraint {
                Some(k) => self.modifier(k.modification.as_ref(), original.2, false),
                None => self.modifier(original.1.modification.as_ref(), original.2, false),
            };
            let own = self.modifier(component.modification.as_ref(), scope, false);
            let own = r.elements.iter().fold(own, |own, index| own.element(index, &Rc::default()));
            // Its own constraining clause holds for it as for what may take its place.
            let own = [&r.constraint, &r.under].into_iter().flatten().fold(own, |own, below| merge(&own, below));
            mods = merge(&Rc::new(mods.without_redeclare()), &merge(&own, &constraint));
        } else {
            let mut own = self.modifier(component.modification.as_ref(), scope, false);
            if let Some(k) = &clause.constraint {
                own = merge(&own, &self.modifier(k.modification.as_ref(), scope, false));
            }
            mods = self.merged.merge(&mods, &own);
            if let Some((c0, k0, p0)) = m.replaced {
                let s0 = Scope { node: n, part: p0 };
                let base = match &c0.constraint {
                    Some(k) => self.modifier(k.modification.as_ref(), s0, false),
                    None => self.modifier(k0.modification.as_ref(), s0, false),
                };
                let eff0 = self.effective(n, p0)?;
                let through = eff0.child(m.name).cloned().unwrap_or_else(|| self.no_mod.clone());
                if std::ptr::eq(component, k0) && !outside_mods.says_the_same(&through) {
                    let mut e = self.err_hints(
                        component.name.span,
                        format!("{} is inherited twice, with different modifiers", m.name),
                        vec!["inherited declarations of one name must be the same".into()],
                    );
                    for span in [outside_mods.span, through.span].into_iter().flatten() {
                        e.labels.push(saltus_base::Label { span, message: "modified here".into() });
                    }
                    return Err(e);
                }
                // The same declaration, inherited twice, does not modify itself.
                mods = merge(&mods, &merge(&through, &base).without_final());
                if component.dims.is_empty() && clause.type_dims.is_empty() {
                    dims_from = Some((c0, k0, s0));
                }
            }
        }
        if original.0.prefixes.outer
            && !original.0.prefixes.inner
            && self.node(n).live
            && !(mods.binding.is_none() && mods.children.is_empty())
        {
            let mut e = self.err_hints(
                original.1.name.span,
                format!("{} is outer: what is modified is the inner declaration, not this one", m.name),
                vec!["modify the inner declaration, or leave the modifier out".into()],
            );
            if let Some(span) = mods.span {
                e.labels.push(saltus_base::Label { span, message: "modified here".into() });
            }
            return Err(e);
        }
        // A record's binding binds its fields, unless they are modified themselves.
        if let Some(b) = self.node(n).cref.mods.binding.clone()
            && t.is_record()
        {
            let given = eff.child(m.name).and_then(|c| c.binding.as_ref()).is_some_and(|b| !b.weak);
            if !given {
                let declared = self.modifier(component.modification.as_ref(), scope, false).weakened();
                let mut k = match eff.child(m.name) {
                    // A redeclaration has been followed above; here it would hide what its class says about parts.
                    Some(o) => (*merge(&Rc::new(o.without_redeclare()), &merge(&declared, &mods))).clone(),
                    None => (*merge(&declared, &mods)).clone(),
                };
                k.binding = Some(b.project(Projection::Field(m.name)));
                mods = Rc::new(k);
            }
        }
        let redeclared = !std::ptr::eq(clause, original.0);
        let live_parent = self.node(n).live;
        let cached = if redeclared { None } else { t.types.borrow().get(&i).cloned() };
        let ty = match cached {
            Some(c) => c,
            None => {
                let c = self.class_in(scope, &clause.type_spec)?;
                if !redeclared && !self.depends_on_instance(c.scope, n) && c.mods.is_empty() {
                    t.types.borrow_mut().insert(i, c.clone());
                }
                c
            }
        };
        let rank = |clause: &ComponentClause, component: &Component| component.dims.len() + clause.type_dims.len();
        let own_rank = rank(clause, component);
        if redeclared && live_parent {
            let modified = eff.child(m.name).and_then(|o| o.redeclare.as_ref()).and_then(|r| r.settled);
            let latest = (!original.0.prefixes.replaceable).then_some(original.1.name.span);
            self.checks.plugs.push(Plug {
                name: m.name,
                by: ty.clone(),
                span: component.name.span,
                declared: original.1.name.span,
                replaceable: original.0.prefixes.replaceable || m.replaced.is_some_and(|r| r.0.prefixes.replaceable),
                settled: modified.or(latest),
                wanted: match &original.0.constraint {
                    Some(k) => Wanted::Named(&k.class, original.2),
                    None => Wanted::Named(&original.0.type_spec, original.2),
                },
                kinds: None,
                ranks: (own_rank > 0).then(|| (own_rank, rank(original.0, original.1))),
                default: false,
                within: n,
            });
        } else if let Some(k) = &clause.constraint
            && live_parent
            && self.warned.insert(k.class.span)
        {
            self.checks.plugs.push(Plug {
                name: m.name,
                by: ty.clone(),
                span: component.name.span,
                declared: k.class.span,
                replaceable: true,
                settled: None,
                wanted: Wanted::Named(&k.class, scope),
                kinds: None,
                ranks: None,
                default: true,
                within: n,
            });
        }
        let inner = if mods.binding.is_some() { ty.mods.weakened() } else { ty.mods.clone() };
        let cref = ClassRef { class: ty.class, scope: ty.scope, mods: self.merged.merge(&mods, &inner) };
        let kind = NodeKind::Component;
        let c = self.new_node(m.name, Some(n), kind, cref);
        let (live, vp, cp, prot, fp) = {
            let p = self.node(n);
            (p.live, p.variability, p.causality, p.protected, p.connection)
        };
        let may_end = component.condition.is_some() || !component.dims.is_empty() || !clause.type_dims.is_empty();
        if !may_end {
            self.contains_itself(c, n, component.name.span)?;
        }
        let tt = self.template(c)?;
        let prefix = clause.type_prefix;
        let var =
            strongest(strongest(prefix.variability, original.0.type_prefix.variability), strongest(vp, tt.variability));
        let node = self.node_mut(c);
        node.clause = Some((clause, component, scope));
        node.dims_from = dims_from.map(Box::new);
        node.live = live;
        node.variability = var;
        let caus = [prefix.causality, original.0.type_prefix.causality, tt.causality, cp];
        node.causality = caus.into_iter().find(|&c| c != Causality::None).unwrap_or_default();
        node.connection = [prefix.connection, original.0.type_prefix.connection, tt.connection, fp]
            .into_iter()
            .find(|&c| c != Connection::Potential)
            .unwrap_or_default();
        node.protected = prot || m.protected;
        node.is_final = clause.prefixes.is_final || mods.is_final;
        node.inner = clause.prefixes.inner || original.0.prefixes.inner;
        if clause.prefixes.outer || original.0.prefixes.outer {
            node.outer = Some(None);
        }
        let (is_outer, bound) = (node.outer.is_some(), node.cref.mods.binding.clone());
        if let Some(Ty::Enum(class)) = tt.builtin
            && live
            && !is_outer
            && self.enum_literals(class).is_empty()
        {
            let message = format!("{} is of {}, an enumeration without literals", m.name, self.lib.qualified(class));
            let hint = "enumeration(:) stands for any enumeration: redeclare the type with one".to_string();
            return Err(self.err_hints(component.name.span, message, vec![hint]));
        }
        if prefix.connection != Connection::Potential
            && let Some(ty) =
                tt.builtin.filter(|t| !t.numeric() || prefix.connection == Connection::Stream && *t != Ty::Real)
        {
            let what = if prefix.connection == Connection::Stream { "stream" } else { "flow" };
            let message = format!("{} is a {what} variable and must be Real, not {}", m.name, self.type_text(ty));
            return Err(self.err(component.name.span, message));
        }
        if matches!(tt.kind, ClassKind::Model | ClassKind::Block)
            && tt.builtin.is_none()
            && let whole @ ("record" | "connector" | "function") = crate::call::kind_text(t.kind)
        {
            let (class, part) = (self.lib.qualified(tt.class), crate::call::kind_text(tt.kind));
            let message = format!("{} cannot be part of a {whole}: {class} is a {part}", component.name.name);
            return Err(self.err(component.name.span, message));
        }
        if live && tt.builtin.is_none() && !is_outer {
            let class = self.lib.qualified(tt.class);
            let kind = match tt.kind {
                ClassKind::Package => Some("package"),
                ClassKind::Function | ClassKind::OperatorFunction => Some("function"),
                _ => None,
            };
            if let Some(kind) = kind {
                let message = format!("{} cannot be a component: {class} is a {kind}", component.name.name);
                return Err(self.err(component.name.span, message));
            }
            if let Some(b) = bound.as_ref().filter(|_| matches!(tt.kind, ClassKind::Model | ClassKind::Block)) {
                let message = format!("{} is a {class}, which has no value that could be bound", component.name.name);
                let hint = "modify its parts: write (x = …) instead of = …".to_string();
                return Err(self.err_hints(b.span, message, vec![hint]));
            }
        }
        let node = self.node_mut(c);
        if tt.partial && live && tt.builtin.is_none() && node.outer.is_none() && !matches!(tt.kind, ClassKind::Function)
        {
            let class = self.lib.qualified(tt.class);
            let path = self.path(c);
            return Err(Box::new(
                saltus_base::Diagnostic::error(
                    saltus_base::Stage::FrontEnd,
                    component.name.span,
                    format!("{path} is of the partial class {class}"),
                )
                .within(self.path(n))
                .label(self.lib.def(tt.class).name.span, "declared partial here")
                .hint("redeclare it with a class that is complete"),
            ));
        }
        Ok(Slot::Node(c))
    }

    /// A component of a class inside a component of that class, with nothing between them that could end it
    /// (a condition, a dimension, a redeclaration), would never end.
    fn contains_itself(&mut self, c: NodeId, parent: NodeId, span: Span) -> R<()> {
        let class = self.node(c).cref.class;
        if self.builtin_types.contains_key(&class) {
            return Ok(());
        }
        let may_end = |me: &Self, x: NodeId| {
            let node = me.node(x);
            node.kind == NodeKind::Element
                || node.cref.mods.redeclares()
                || node.clause.is_some_and(|(clause, k, _)| {
                    k.condition.is_some() || !k.dims.is_empty() || !clause.type_dims.is_empty()
                })
        };
        if self.node(c).cref.mods.redeclares() {
            return Ok(());
        }
        let mut up = Some(parent);
        while let Some(x) = up {
            if !matches!(self.node(x).kind, NodeKind::Component | NodeKind::Element) {
                break;
            }
            if self.node(x).cref.class == class {
                self.endless = true;
                let inside = if x == self.top { "the model".into() } else { self.path(x) };
                let class_name = self.lib.qualified(class);
                let mut e = self.err_hints(
                    span,
                    format!(
                        "{class_name} contains itself: {inside} would hold {}, and so on without end",
                        self.path(c)
                    ),
                    vec!["a component with a condition, or an array that becomes empty, can end a recursion".into()],
                );
                e.labels.push(saltus_base::Label { span: self.lib.def(class).name.span, message: "this class".into() });
                return Err(e);
            }
            if may_end(self, x) {
                break;
            }
            up = self.node(x).parent;
        }
        Ok(())
    }

    fn depends_on_instance(&self, s: Scope, n: NodeId) -> bool {
        let _ = n;
        // Scopes that are plain classes all the way up are shared by all instances.
        let mut k = s.node;
        loop {
            let node = self.node(k);
            match node.kind {
                NodeKind::Root => return false,
                NodeKind::Class if node.cref.mods.is_empty() => k = node.cref.scope.node,
                _ => return true,
            }
        }
    }

    pub(crate) fn depth(&self, n: NodeId) -> usize {
        let mut d = 0;
        let mut k = Some(n);
        while let Some(x) = k {
            d += 1;
            k = self.node(x).parent;
            if d > 1000 {
                break;
            }
        }
        d
    }

    /// An inner variable is of the type that the outer one declares.
    fn inner_fits(&mut self, outer: NodeId, inner: NodeId) -> R<()> {
        let (have, want) = (self.template(inner)?.builtin, self.template(outer)?.builtin);
        let fits = match (have, want) {
            (Some(Ty::Enum(x)), Some(Ty::Enum(y))) => self.same_enum(x, y),
            (x, y) => x == y,
        };
        let place = |me: &Self, n: NodeId| me.node(n).clause.map_or(Span::NONE, |c| c.1.name.span);
        let name = self.node(outer).name;
        if fits {
            // An outer declaration may leave sizes open.
            let open = |me: &Self, n: NodeId| {
                me.node(n).clause.is_none_or(|(clause, c, _)| {
                    c.dims.iter().chain(&clause.type_dims).any(|s| matches!(s, Subscript::All(_)))
                })
            };
            let fixed = |v| matches!(v, VariabilityPrefix::Parameter | VariabilityPrefix::Constant);
            if fixed(self.node(outer).variability) && !fixed(self.node(inner).variability) && want.is_some() {
                let text = format!("outer {name} is a parameter, but the inner {name} varies during the run");
                let mut e = self.err(place(self, outer), text);
                e.labels.push(saltus_base::Label { span: place(self, inner), message: "the inner declaration".into() });
                return Err(e);
            }
            if open(self, outer) || open(self, inner) {
                return Ok(());
            }
            let (want, have) = (self.dims(outer)?.to_vec(), self.dims(inner)?.to_vec());
            if want == have {
                return Ok(());
            }
            let (want, have) = (crate::value::shape_text(&want), crate::value::shape_text(&have));
            let text = format!("outer {name} has the shape {want}, but the inner {name} has the shape {have}");
            let mut e = self.err(place(self, outer), text);
            e.labels.push(saltus_base::Label { span: place(self, inner), message: "the inner declaration".into() });
            return Err(e);
        }
        let text = |me: &Self, n: NodeId, ty: Option<Ty>| match ty {
            Some(t) => me.type_text(t),
            None => me.lib.qualified(me.node(n).cref.class),
        };
        let (have, want) = (text(self, inner, have), text(self, outer, want));
        let mut e = self.err(place(self, outer), format!("outer {name} is a {want}, but the inner {name} is a {have}"));
        e.labels.push(saltus_base::Label { span: place(self, inner), message: "the inner declaration".into() });
        Err(e)
    }

    /// Follows `outer` to the matching `inner`.
    pub(crate) fn real(&mut self, n: NodeId) -> R<NodeId> {
        if n.0 == u32::MAX {
            return Ok(n);
        }
        match self.node(n).outer {
            None => Ok(n),
            Some(Some(k)) => Ok(k),
            Some(None) => {
                let name = self.node(n).name;
                let mut up = self.node(n).parent.and_then(|p| self.node(p).parent);
                while let Some(p) = up {
                    if matches!(self.node(p).kind, NodeKind::Component) || p == self.top {
                        let t = self.template(p)?;
                        if let Some(&i) = t.index.get(&name)
                            && let MemberKind::Component { clause, .. } = t.members[i as usize].kind
                            && (clause.prefixes.inner
                                || t.members[i as usize].replaced.is_some_and(|r| r.0.prefixes.inner))
                            && let Slot::Node(k) = self.child(p, i)?
                            && k != n
                        {
                            let k = self.inner_part(k);
                            self.inner_fits(n, k)?;
                            self.node_mut(n).outer = Some(Some(k));
                            return Ok(k);
                        }
                    } else if self.node(p).kind == NodeKind::Element {
                        let t = self.template(p)?;
                        if let Some(&i) = t.index.get(&name)
                            && let MemberKind::Component { clause, .. } = t.members[i as usize].kind
                            && clause.prefixes.inner
                            && let Slot::Node(k) = self.child(p, i)?
                            && k != n
                        {
                            let k = self.inner_part(k);
                            self.inner_fits(n, k)?;
                            self.node_mut(n).outer = Some(Some(k));
                            return Ok(k);
                        }
                    }
                    up = self.node(p).parent;
                }
                // No inner declaration: make one at the top, as the specification asks.
                if let Some(&k) = self.extra.get(&(self.top, name)) {
                    self.node_mut(n).outer = Some(Some(k));
                    return Ok(k);
                }
                let cref = ClassRef { mods: self.no_mod.clone(), ..self.node(n).cref.clone() };
                let t = self.template(n)?;
                if t.partial || t.builtin.is_some() {
                    let span = self.node(n).clause.map_or(Span::NONE, |c| c.1.name.span);
                    let why = if t.partial { "is partial" } else { "gives it no value" };
                    return Err(self.err_hints(
                        span,
                        format!(
                            "there is no inner declaration for outer {name}, and its class {} {why}",
                            self.lib.qualified(t.class)
                        ),
                        vec![format!("declare `inner … {name}` in an enclosing component")],
                    ));
                }
                let k = self.new_node(name, Some(self.top), NodeKind::Component, cref);
                let clause = self.node(n).clause;
                let variability = self.node(n).variability;
                let node = self.node_mut(k);
                node.live = true;
                node.clause = clause;
                node.inner = true;
                node.variability = variability;
                self.extra.insert((self.top, name), k);
                self.extra_order.push(k);
                self.node_mut(n).outer = Some(Some(k));
                let span = clause.map_or(Span::NONE, |c| c.1.name.span);
                let class = self.lib.qualified(t.class);
                let mut d = saltus_base::Diagnostic::warning(
                    saltus_base::Stage::FrontEnd,
                    span,
                    format!("there is no inner declaration for outer {name}; a default {class} is used"),
                )
                .hint(format!("declare `inner {class} {name}` at the top of the model"));
                if let Some(text) = t.parts.iter().find_map(|p| message_of(p.def, "missingInnerMessage")) {
                    d = d.hint(text);
                }
                let within = self.node(n).parent.unwrap_or(n);
                self.report(Box::new(d), within);
                Ok(k)
            }
        }
    }

    /// What components inside see of `k`: itself, or for `inner outer` the component it declares for them, which is not
    /// the one its own class sees.
    fn inner_part(&mut self, k: NodeId) -> NodeId {
        let (Some(parent), Some(_)) = (self.node(k).parent, self.node(k).outer) else { return k };
        let name = self.node(k).name;
        if let Some(&inner) = self.extra.get(&(parent, name)) {
            return inner;
        }
        let cref = self.node(k).cref.clone();
        let inner = self.new_node(name, Some(parent), NodeKind::Component, cref);
        let from = self.node(k);
        let (clause, dims_from, live, variability, protected) =
            (from.clause, from.dims_from.clone(), from.live, from.variability, from.protected);
        let node = self.node_mut(inner);
        node.clause = clause;
        node.dims_from = dims_from;
        node.live = live;
        node.variability = variability;
        node.protected = protected;
        node.inner = true;
        self.extra.insert((parent, name), inner);
        self.extra_order.push(inner);
        inner
    }

    /// The dimensions of a component.
    pub(crate) fn dims(&mut self, n: NodeId) -> R<Rc<[usize]>> {
        if let Some(d) = &self.node(n).dims {
            return Ok(d.clone());
        }
        if self.node(n).kind != NodeKind::Component || self.node(n).clause.is_none() {
            return Ok(self.no_dims.clone());
        }
        let t = self.template(n)?;
        let mut subs: Vec<(&'t Subscript, Scope)> = Vec::new();
        let take = |subs: &mut Vec<(&'t Subscript, Scope)>, d: (&'t ComponentClause, &'t Component, Scope)| {
            subs.extend(d.1.dims.iter().chain(&d.0.type_dims).map(|s| (s, d.2)));
        };
        if let Some(d) = self.node(n).dims_from.as_deref().copied().or(self.node(n).clause) {
            take(&mut subs, d);
        }
        for (d, s, _) in &t.dims {
            subs.extend(d.iter().map(|x| (x, *s)));
        }
        if subs.is_empty() {
            self.node_mut(n).dims = Some(self.no_dims.clone());
            return Ok(self.no_dims.clone());
        }
        let nested = self.node_mut(n).sizing.replace(Box::default());
        let dims = self.evaluated_dims(n, &subs);
        self.node_mut(n).sizing = nested;
        let dims: Rc<[usize]> = dims?.into();
        self.node_mut(n).dims = Some(dims.clone());
        Ok(dims)
    }

    fn evaluated_dims(&mut self, n: NodeId, subs: &[(&'t Subscript, Scope)]) -> R<Vec<usize>> {
        let mut dims = Vec::with_capacity(subs.len());
        let mut guess: Option<Vec<usize>> = None;
        for (k, (s, scope)) in subs.iter().enumerate() {
            let d = match s {
                Subscript::Index(e) => {
                    let v = self.eval(&Env::konst(*scope), e)?;
                    self.dimension(&v, e.span)?
                }
                Subscript::All(span) => {
                    if guess.is_none() {
                        let m = self.leaf_or_own_mod(n)?;
                        let g = match &m.binding {
                            Some(b) => Some(self.binding_value(b, Mode::Shape)?.dims().to_vec()),
                            None => match m.child(self.names.start).and_then(|c| c.binding.clone()) {
                                Some(b) => Some(self.binding_value(&b, Mode::Shape)?.dims().to_vec()),
                                None => None,
                            },
                        };
                        guess = g;
                    }
                    match guess.as_ref().and_then(|g| g.get(k)) {
                        Some(&d) => d,
                        None => {
                            let path = self.path(n);
                            return Err(self.err_hints(
                                *span,
                                format!("the size of {path} is not known"),
                                vec!["give it a size or a binding of the right size".into()],
                            ));
                        }
                    }
                }
            };
            dims.push(d);
            self.node_mut(n).sizing = Some(dims.clone().into());
        }
        if let Err(count) = crate::value::count_of(&dims) {
            let path = self.path(n);
            let span = self.node(n).clause.map_or(Span::NONE, |c| c.1.name.span);
            let message = format!("{path} has the shape {}: {count} elements are too many", shape_text(&dims));
            return Err(self.err(span, message));
        }
        Ok(dims)
    }

    pub(crate) fn leaf_or_own_mod(&mut self, n: NodeId) -> R<Rc<Mod<'t>>> {
        let t = self.template(n)?;
        if t.builtin.is_some() { self.leaf_mod(n) } else { Ok(self.node(n).cref.mods.clone()) }
    }

    pub(crate) fn dimension(&mut self, v: &Value, span: Span) -> R<usize> {
        if let Value::Num(e, ty) = v {
            if let Ty::Enum(_) | Ty::Bool = ty
                && let Some(x) = self.dae.pool.as_const(*e)
            {
                return Ok(x as usize);
            }
            if let Some(x) = self.dae.pool.as_const(*e)
                && x >= 0.0
                && x.fract() == 0.0
                && *ty == Ty::Int
            {
                if x >= 1e9 {
                    return Err(self.err(span, format!("{x} elements are too many")));
                }
                return Ok(x as usize);
            }
        }
        if let Value::Arr(a) = v
            && matches!(a.ty, Ty::Enum(_) | Ty::Bool)
        {
            return Ok(a.e.len()); // an enumeration type as dimension
        }
        let text = match v {
            Value::Num(_, Ty::Real) => format!("the Real {}", self.value_text(v)),
            v => self.value_text(v),
        };
        Err(self.err(span, format!("a dimension must be a nonnegative Integer, not {text}")))
    }

    /// The elements of an array of structured components, made on first use.
    pub(crate) fn element_nodes(&mut self, n: NodeId) -> R<Rc<Vec<NodeId>>> {
        if let Some(e) = &self.node(n).elements {
            return Ok(e.clone());
        }
        let dims = self.dims(n)?;
        let count: usize = dims.iter().product();
        let mut out = Vec::with_capacity(count);
        let mut index = vec![1usize; dims.len()];
        let (name, cref, clause) = (self.node(n).name, self.node(n).cref.clone(), self.node(n).clause);
        let shared = (!cref.mods.differs_by_element()).then(|| cref.mods.element(&index, &dims));
        for _ in 0..count {
            let mods = shared.clone().unwrap_or_else(|| cref.mods.element(&index, &dims));
            let k = self.new_node(name, Some(n), NodeKind::Element, ClassRef { mods, ..cref.clone() });
            let (live, v, c, f, p, fin) = {
                let o = self.node(n);
                (o.live, o.variability, o.causality, o.connection, o.protected, o.is_final)
            };
            let e = self.node_mut(k);
            e.index = index.clone().into();
            e.clause = clause;
            e.live = live;
            e.variability = v;
            e.causality = c;
            e.connection = f;
            e.protected = p;
            e.is_final = fin;
            out.push(k);
            for d in (0..dims.len()).rev() {
                index[d] += 1;
                if index[d] <= dims[d] {
                    break;
                }
                index[d] = 1;
            }
        }
        let out = Rc::new(out);
        self.node_mut(n).elements = Some(out.clone());
        Ok(out)
    }

    /// The value of a binding: evaluated once, then projected.
    pub(crate) fn binding_value(&mut self, b: &Binding<'t>, mode: Mode) -> R<Value> {
        let konst = mode == Mode::Konst;
        let cached = if mode == Mode::Shape { None } else { b.cache.borrow().get(&konst).cloned() };
        let mut projections = &b.projections[..];
        let alone = match (&cached, projections) {
            (None, [Projection::Field(_), ..]) if mode != Mode::Model => self.field_alone(b)?,
            _ => None,
        };
        let mut v = match (cached, alone) {
            (Some(v), _) => v,
            (None, Some((e, fields))) => {
                projections = &projections[fields..];
                let env = Env { mode, ..Env::model(b.scope) };
                crate::eval::first_of(&self.eval(&env, &e)?)
            }
            (None, None) => {
                let env = Env { mode, ..Env::model(b.scope) };
                let v = crate::eval::first_of(&self.eval(&env, b.source)?);
                if mode != Mode::Shape {
                    b.cache.borrow_mut().insert(konst, v.clone());
                }
                v
            }
        };
        for p in projections {
            match p {
                Projection::Field(f) => match v.field(*f) {
                    Some(x) => v = x,
                    None => {
                        return Err(self.err(b.span, format!("the bound value ({}) has no field {f}", v.describe())));
                    }
                },
                Projection::Index(i, array) => {
                    if v.rank() == 0 {
                        // Tolerated: a scalar for every element.
                        if mode != Mode::Shape {
                            self.warn_each(b.span);
                        }
                        continue;
                    }
                    if v.rank() < i.len() {
                        return Err(self.err(
                            b.span,
                            format!("{} cannot be spread over an array of {} dimensions", v.describe(), i.len()),
                        ));
                    }
                    let d = v.dims().to_vec();
                    if i.iter().zip(&d).any(|(&x, &n)| x > n) {
                        return Err(self.err_hints(
                            b.span,
                            format!(
                                "the modifier has the shape {}, too small for element [{}]",
                                shape_text(&d),
                                i.iter().map(|x| x.to_string()).collect::<Vec<_>>().join(",")
                            ),
                            vec!["write `each` if every element gets the same value".into()],
                        ));
                    }
                    if !array.is_empty() && d[..i.len()] != **array {
                        let (d, array) = (shape_text(&d), shape_text(array));
                        let text = format!("the modifier has the shape {d}, too large for an array of shape {array}");
                        return Err(self.err(b.span, text));
                    }
                    let rest: usize = d[i.len()..].iter().product();
                    let mut at = 0;
                    for (x, n) in i.iter().zip(&d) {
                        at = at * n + (x - 1);
                    }
                    let e = v.elements();
                    let part = &e[at * rest..(at + 1) * rest];
                    v = if d.len() == i.len() { part[0].clone() } else { slice_value(&v, &d[i.len()..], part) };
                }
            }
        }
        Ok(v)
    }

    /// What a field of a bound record (or a field of that) is by itself, and how many fields down that is: the argument of a
    /// constructor, or the field of the record it is bound to. The other fields need not be known, and may depend on it.
    fn field_alone(&mut self, b: &Binding<'t>) -> R<Option<(Cow<'t, Expr>, usize)>> {
        let mut alone = Cow::Borrowed(b.source);
        let mut taken = 0;
        while let Some(&Projection::Field(f)) = b.projections.get(taken)
            && let Some(e) = self.field_of(b.scope, &alone, f)?
        {
            alone = e;
            taken += 1;
        }
        Ok((taken > 0).then_some((alone, taken)))
    }

    fn field_of(&mut self, scope: Scope, record: &Cow<'t, Expr>, field: Name) -> R<Option<Cow<'t, Expr>>> {
        let (class, alone) = match (record, &record.kind) {
            (Cow::Borrowed(Expr { kind: ExprKind::Call(c), .. }), _) => {
                match c.named.iter().find(|(n, _)| n.name == field) {
                    Some((_, argument)) => (&c.function, Cow::Borrowed(argument)),
                    None => return Ok(None),
                }
            }
            (_, ExprKind::Ref(r)) => {
                let mut part = r.clone();
                part.parts.push(RefPart { name: Ident { name: field, span: r.span }, subscripts: Vec::new() });
                (r, Cow::Owned(Expr { kind: ExprKind::Ref(part), span: r.span }))
            }
            _ => return Ok(None),
        };
        let node = match (self.resolve(&Env::model(scope), class), &alone) {
            (Ok(crate::eval::Target::Class(class)), Cow::Borrowed(_)) => self.class_node(&class),
            (Ok(crate::eval::Target::Nodes(nodes, ..)), Cow::Owned(_)) => match nodes.first() {
                Some(&n) if n.0 != u32::MAX => n,
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        let t = self.template(node)?;
        Ok((t.kind == ClassKind::Record && t.index.contains_key(&field)).then_some(alone))
    }

    /// The value of an array with what is said about its single elements.
    pub(crate) fn set_elements(&mut self, n: NodeId, v: Value, m: &Mod<'t>, mode: Mode) -> R<Value> {
        if m.elements.is_empty() {
            return Ok(v);
        }
        let (Some(ty), dims) = (v.ty(), self.dims(n)?) else { return Ok(v) };
        let mut list = v.scalar_list();
        for (index, c) in m.elements.iter().rev() {
            if let (Some(k), Some(b)) = (position(index, &dims), &c.binding) {
                let x = self.binding_value(b, mode)?;
                list[k] = self.fit(x, &[], ty, b.span, n)?.scalar_list()[0];
            }
        }
        Ok(Value::array(ty, dims.to_vec(), list))
    }

    /// Tells of a scalar that modifies an array without `each`.
    fn warn_each(&mut self, span: Span) {
        if self.warned.insert(span) {
            let text = "a scalar modifies the elements of an array: `each` is missing before it";
            let d = saltus_base::Diagnostic::warning(saltus_base::Stage::FrontEnd, span, text)
                .hint("write `each` if every element gets this value");
            self.diagnostics.push(d);
        }
    }

    /// The value of a constant or parameter, evaluated now.
    pub(crate) fn constant(&mut self, n: NodeId) -> R<Value> {
        let n = self.real(n)?;
        match &self.node(n).constant {
            Constant::Known(v) => return Ok(v.clone()),
            Constant::Busy => {
                let path = self.path(n);
                let span = self.node(n).clause.map_or(Span::NONE, |c| c.1.span);
                return Err(self.err(span, format!("the value of {path} depends on itself")));
            }
            Constant::Unknown => {}
        }
        self.node_mut(n).constant = Constant::Busy;
        let r = self.constant_now(n);
        self.node_mut(n).constant = match &r {
            Ok(v) => Constant::Known(v.clone()),
            Err(_) => Constant::Unknown,
        };
        r
    }

    fn constant_now(&mut self, n: NodeId) -> R<Value> {
        let t = self.template(n)?;
        let Some(ty) = t.builtin else {
            return self.structured_value(n, Mode::Konst);
        };
        let name_span = self.node(n).clause.map_or(Span::NONE, |c| c.1.name.span);
        if !matches!(self.node(n).variability, VariabilityPrefix::Parameter | VariabilityPrefix::Constant) {
            let path = self.path(n);
            // A variable of a class looked into is never simulated; of the model, it varies.
            return Err(self.err(
                name_span,
                format!("{path} is neither a parameter nor a constant, so its value is not known when compiling"),
            ));
        }
        let m = self.leaf_mod(n)?;
        if let Some(f) = m.child(self.names.fixed).and_then(|c| c.binding.clone()) {
            let v = self.binding_value(&f, Mode::Konst)?;
            if self.bool_of(&v) == Some(false) {
                let path = self.path(n);
                return Err(self.err(
                    name_span,
                    format!(
                        "{path} is computed at initialization (fixed = false), so its value is not known when compiling"
                    ),
                ));
            }
        }
        let b = match &m.binding {
            Some(b) => b.clone(),
            None => match m.child(self.names.start).and_then(|c| c.binding.clone()) {
                Some(b) => b,
                None => {
                    let dims = self.dims(n)?;
                    if dims.contains(&0) {
                        return Ok(Value::array(ty, dims.to_vec(), Vec::new()));
                    }
                    let path = self.path(n);
                    let constant = self.node(n).variability == VariabilityPrefix::Constant;
                    return Err(self.err_hints(
                        name_span,
                        format!("the {} {path} has no value", if constant { "constant" } else { "parameter" }),
                        match constant {
                            true => vec!["give it one in its declaration or by a modifier".into()],
                            false => vec![format!("give it one by a modifier or --set {path}=…")],
                        },
                    ));
                }
            },
        };
        let v = self.binding_value(&b, Mode::Konst)?;
        let dims = self.dims(n)?;
        let v = self.fit(v, &dims, ty, b.span, n)?;
        let v = self.set_elements(n, v, &m, Mode::Konst)?;
        // Everything must be constant now.
        let mut s = Vec::new();
        v.scalars(&mut s);
        if s.iter().any(|(e, _)| self.dae.pool.as_const(*e).is_none()) {
            let path = self.path(n);
            return Err(self.err(b.span, format!("the value of {path} cannot be computed when compiling")));
        }
        Ok(v)
    }

    /// Makes a value fit declared dimensions and type: scalars are repeated, Integers become Reals.
    pub(crate) fn fit(&mut self, v: Value, dims: &[usize], ty: Ty, span: Span, n: NodeId) -> R<Value> {
        self.fit_as(v, dims, ty, span, &|me| me.path(n))
    }

    /// [`Self::fit`] for something with a name of its own.
    pub(crate) fn fit_as(
        &mut self,
        v: Value,
        dims: &[usize],
        ty: Ty,
        span: Span,
        name: &dyn Fn(&Self) -> String,
    ) -> R<Value> {
        let vt = v.ty();
        let type_ok = match (ty, vt) {
            (_, None) => false,
            (Ty::Real, Some(Ty::Int)) => true,
            (a, Some(b)) if a == b => true,
            (Ty::Enum(a), Some(Ty::Enum(b))) => self.same_enum(a, b),
            _ => false,
        };
        if !type_ok && (v.len() != 0 || v.rank() == 0) {
            let path = name(self);
            let have = match vt {
                Some(t @ Ty::Enum(_)) if v.rank() == 0 => self.type_text(t),
                _ => v.describe(),
            };
            return Err(self.err(span, format!("{path} is of type {}, but the value is {have}", self.type_text(ty))));
        }
        if v.rank() == 0 && !dims.is_empty() {
            let count = dims.iter().product();
            let e = v.scalar_list();
            return Ok(Value::array(ty, dims.to_vec(), vec![e[0]; count]));
        }
        if v.dims() != dims {
            // Empty arrays lose their trailing dimensions.
            if v.len() == 0 && dims.iter().product::<usize>() == 0 {
                return Ok(Value::array(ty, dims.to_vec(), Vec::new()));
            }
            let path = name(self);
            return Err(self.err(
                span,
                format!(
                    "{path} has the shape {}, but the value has the shape {}",
                    shape_text(dims),
                    shape_text(v.dims())
                ),
            ));
        }
        Ok(match v {
            Value::Num(e, _) => Value::Num(e, ty),
            Value::Arr(a) if a.ty != ty => Value::array(ty, a.dims.clone(), a.e.clone()),
            v => v,
        })
    }
}

/// Where an element stands in the list of all, if it is there.
/// The text of `annotation(name = "…")` of a class.
fn message_of(def: &ClassDef, name: &str) -> Option<String> {
    def.annotation()?.args.iter().find_map(|a| {
        match a.modification().filter(|_| a.name().is_some_and(|n| n.as_str() == name))?.binding.as_ref()?.kind {
            ExprKind::String(ref text) => Some(text.to_string()),
            _ => None,
        }
    })
}

pub(crate) fn position(index: &[usize], dims: &[usize]) -> Option<usize> {
    let inside = index.len() == dims.len() && !dims.is_empty();
    let at = |at: usize, (&k, &d): (&usize, &usize)| (1..=d).contains(&k).then(|| at * d + k - 1);
    if inside { index.iter().zip(dims).try_fold(0, at) } else { None }
}

fn slice_value(whole: &Value, dims: &[usize], part: &[Value]) -> Value {
    match whole {
        Value::Arr(a) => Value::array(a.ty, dims.to_vec(), part.iter().flat_map(Value::scalar_list).collect()),
        _ => Value::records(dims.to_vec(), part.to_vec()),
    }
}

fn strongest(a: VariabilityPrefix, b: VariabilityPrefix) -> VariabilityPrefix {
    let rank = |v| match v {
        VariabilityPrefix::None => 0,
        VariabilityPrefix::Discrete => 1,
        VariabilityPrefix::Parameter => 2,
        VariabilityPrefix::Constant => 3,
    };
    if rank(a) >= rank(b) { a } else { b }
}

pub(crate) fn spec_text(s: &TypeSpec) -> String {
    let t: Vec<&str> = s.path.iter().map(|i| i.name.as_str()).collect();
    format!("{}{}", if s.global { "." } else { "" }, t.join("."))
}
