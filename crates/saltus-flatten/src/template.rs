//! Class templates: what a class is made of once its extends clauses are followed. Shared by all instances of the
//! class in one scope; nothing here depends on modifiers.

use crate::modifier::{Mod, NodeId, Scope, merge};
use crate::value::Ty;
use crate::{Flattener, R};
use rustc_hash::FxHashMap;
use saltus_base::{Name, Span};
use saltus_resolve::{ClassId, OwnMember};
use saltus_syntax::ast::{
    Causality, ClassBody, ClassDef, ClassKind, Component, ComponentClause, ComponentRef, Connection, Element, Equation,
    EquationKind, LeftOut, Modification, Section, Subscript, TypeSpec, VariabilityPrefix,
};
use std::cell::RefCell;
use std::rc::Rc;

/// A class in the scope it was declared in, with modifiers from outside.
#[derive(Clone)]
pub(crate) struct ClassRef<'t> {
    pub class: ClassId,
    /// The lexically enclosing instance.
    pub scope: Scope,
    pub mods: Rc<Mod<'t>>,
}

/// One class of the inheritance tree, in preorder.
pub(crate) struct Part<'t> {
    pub class: ClassId,
    pub def: &'t ClassDef,
    /// Its lexically enclosing scope.
    pub parent: Scope,
    /// The part that extends this one (itself for the first).
    pub from: u16,
    /// One past the last part of its subtree.
    pub end: u16,
    /// The extends clause that brings it in.
    pub clause: Option<Span>,
    /// The modifier of the extends clause.
    pub modification: Option<&'t Modification>,
    /// Modifiers that came with the base class (a redeclared package, say).
    pub base_mods: Rc<Mod<'t>>,
    /// Scope of that modifier: `None`: the deriving part; `Some`: fixed (short classes).
    pub mod_scope: Option<Scope>,
    /// What the extends clause does not take over.
    pub left_out: &'t [LeftOut],
    pub protected: bool,
}

#[derive(Clone)]
pub(crate) enum MemberKind<'t> {
    Component {
        clause: &'t ComponentClause,
        component: &'t Component,
    },
    /// The effective class first, then what it overrides.
    Class(Vec<(ClassId, u16)>),
}

#[derive(Clone)]
pub(crate) struct Member<'t> {
    pub name: Name,
    pub part: u16,
    pub kind: MemberKind<'t>,
    pub protected: bool,
    /// The declaration that a `redeclare` in the class body replaces.
    pub replaced: Option<(&'t ComponentClause, &'t Component, u16)>,
}

pub(crate) struct Template<'t> {
    pub class: ClassId,
    pub parts: Vec<Part<'t>>,
    pub members: Vec<Member<'t>>,
    pub index: FxHashMap<Name, u32>,
    pub builtin: Option<Ty>,
    /// Dimensions of array types, with the scope of their names and the part that gives them.
    pub dims: Vec<(&'t [Subscript], Scope, u16)>,
    pub causality: Causality,
    pub connection: Connection,
    pub variability: VariabilityPrefix,
    pub kind: ClassKind,
    pub expandable: bool,
    pub partial: bool,
    pub seen: RefCell<FxHashMap<(u16, Name), Option<u32>>>,
    /// Types of components that do not depend on the instance.
    pub types: RefCell<FxHashMap<u32, ClassRef<'t>>>,
}

/// Types whose names nothing else may have (Modelica 3.6, section 4.9).
const RESERVED: [&str; 7] = ["Real", "Integer", "Boolean", "String", "StateSelect", "AssertionLevel", "ExternalObject"];

/// Whether a class of one kind may extend one of the other (Modelica 3.6, section 7.1.3).
fn may_extend(heir: ClassKind, base: ClassKind) -> bool {
    use ClassKind::*;
    match heir {
        _ if base == Class => true,
        Package => base == Package,
        Function | OperatorFunction => matches!(base, Function | OperatorFunction),
        Type => matches!(base, Type | Record | OperatorRecord | Connector),
        Record | OperatorRecord => matches!(base, Record | OperatorRecord),
        Connector => matches!(base, Type | Record | OperatorRecord | Connector),
        Block => matches!(base, Record | OperatorRecord | Block),
        Model => matches!(base, Record | OperatorRecord | Block | Model),
        _ => true,
    }
}

/// Whether two connections are written alike, in either order.
fn same_connection(p: (&ComponentRef, &ComponentRef), q: (&ComponentRef, &ComponentRef)) -> bool {
    let text = |r: &ComponentRef| r.to_string();
    let (a, b, x, y) = (text(p.0), text(p.1), text(q.0), text(q.1));
    a == x && b == y || a == y && b == x
}

fn has_connection(eqs: &[Equation], p: (&ComponentRef, &ComponentRef)) -> bool {
    eqs.iter().any(|e| match &e.kind {
        EquationKind::Connect(a, b) => same_connection((a, b), p),
        EquationKind::For { body, .. } => has_connection(body, p),
        EquationKind::If { branches, otherwise } => {
            branches.iter().any(|(_, b)| has_connection(b, p)) || has_connection(otherwise, p)
        }
        _ => false,
    })
}

impl<'t> Template<'t> {
    pub fn is_connector(&self) -> bool {
        self.kind == ClassKind::Connector
    }
    /// What the extends clauses that lead to a part leave out.
    pub fn left_out(&self, part: u16) -> impl Iterator<Item = &'t LeftOut> + '_ {
        let up = |&p: &u16| (p > 0).then(|| self.parts[p as usize].from);
        std::iter::successors(Some(part), up).flat_map(|p| self.parts[p as usize].left_out)
    }

    pub fn leaves_out(&self, part: u16, name: Name) -> bool {
        self.left_out(part).any(|l| matches!(l, LeftOut::Component(c) if c.name == name))
    }

    /// Whether a connection of a part is left out: itself, or with one of its components.
    pub fn leaves_out_connection(&self, part: u16, a: &ComponentRef, b: &ComponentRef) -> bool {
        let of = |r: &ComponentRef, name: Name| r.parts.first().is_some_and(|p| p.name.name == name);
        self.left_out(part).any(|l| match l {
            LeftOut::Component(c) => of(a, c.name) || of(b, c.name),
            LeftOut::Connection(x, y, _) => same_connection((a, b), (x, y)),
        })
    }

    pub fn is_record(&self) -> bool {
        let record = |k| matches!(k, ClassKind::Record | ClassKind::OperatorRecord);
        // `connector C = output Complex` is both.
        record(self.kind) || self.kind == ClassKind::Connector && self.parts.iter().any(|p| record(p.def.kind))
    }
}

impl<'t> Flattener<'t> {
    /// The template of a class in its scope.
    pub(crate) fn template_of(&mut self, class: ClassId, scope: Scope) -> R<Rc<Template<'t>>> {
        if let Some(t) = self.templates.get(&(class, scope)) {
            return Ok(match t {
                Some(t) => t.clone(),
                // Its bases are being looked up through it: only what it declares itself is seen.
                None => self.shallow(class, scope),
            });
        }
        self.templates.insert((class, scope), None);
        let mut t = self.empty_template(class);
        let r = self.add_part(&mut t, class, scope, 0, None, None, self.no_mod.clone(), None, &[], false);
        if let Err(e) = r {
            self.templates.remove(&(class, scope));
            return Err(e);
        }
        // A short class or a class that only extends takes over its base's nature.
        if matches!(t.kind, ClassKind::Class | ClassKind::Type | ClassKind::Model) && t.parts.len() > 1 {
            let base = t.parts[1].def.kind;
            let alone = matches!(*t.parts[0].def.body, ClassBody::Short { .. });
            if alone
                && matches!(base, ClassKind::Record | ClassKind::OperatorRecord | ClassKind::Connector)
                && t.kind != ClassKind::Model
            {
                t.kind = base;
            }
        }
        if t.kind == ClassKind::Record && t.parts.iter().any(|p| p.def.kind == ClassKind::OperatorRecord) {
            t.kind = ClassKind::OperatorRecord;
        }
        self.check_class(&t);
        let t = Rc::new(t);
        self.templates.insert((class, scope), Some(t.clone()));
        Ok(t)
    }

    /// What the kind of a class forbids it to hold.
    fn check_class(&mut self, t: &Template<'t>) {
        let (class, kind) = (t.class, self.lib.def(t.class).kind);
        let say = |me: &mut Self, span: Span, text: String| {
            if me.warned.insert(span) {
                let e = saltus_base::Diagnostic::error(saltus_base::Stage::FrontEnd, span, text);
                me.diagnostics.push(e);
            }
        };
        let own = &t.parts[0];
        match &*own.def.body {
            ClassBody::Long { sections, external, .. } => {
                let name = || self.lib.qualified(class);
                let what = match kind {
                    ClassKind::Record | ClassKind::OperatorRecord if !sections.is_empty() => {
                        Some(format!("{} is a record and cannot have equations or algorithms", name()))
                    }
                    ClassKind::Type if !sections.is_empty() => {
                        Some(format!("{} is a type and cannot have equations or algorithms", name()))
                    }
                    ClassKind::Package if !sections.is_empty() => {
                        Some(format!("{} is a package and cannot have equations or algorithms", name()))
                    }
                    ClassKind::Connector if !sections.is_empty() => {
                        Some(format!("{} is a connector and cannot have equations or algorithms", name()))
                    }
                    ClassKind::Function | ClassKind::OperatorFunction
                        if sections.iter().any(|s| matches!(s, Section::Equations { .. })) =>
                    {
                        Some(format!("{} is a function and cannot have equations, only an algorithm", name()))
                    }
                    ClassKind::Function | ClassKind::OperatorFunction if external.is_some() && !sections.is_empty() => {
                        Some(format!("{} is an external function and cannot have an algorithm of its own", name()))
                    }
                    ClassKind::Function | ClassKind::OperatorFunction
                        if sections.iter().filter(|s| matches!(s, Section::Algorithm { .. })).count() > 1 =>
                    {
                        Some(format!("{} is a function and cannot have two algorithms", name()))
                    }
                    _ => None,
                };
                if let Some(text) = what {
                    say(self, own.def.name.span, text);
                }
            }
            ClassBody::Enumeration { literals, .. } => {
                for (k, l) in literals.iter().enumerate() {
                    if ["quantity", "min", "max", "start", "fixed"].contains(&l.name.name.as_str()) {
                        let text = format!("{} is an attribute of enumerations and cannot be a literal", l.name.name);
                        say(self, l.name.span, text);
                    }
                    if literals.iter().take(k).any(|o| o.name.name == l.name.name) {
                        say(
                            self,
                            l.name.span,
                            format!("the literal {} stands twice in {}", l.name.name, own.def.name.name),
                        );
                    }
                }
            }
            _ => {}
        }
        for p in &t.parts[1..] {
            let heir = &t.parts[p.from as usize];
            if !may_extend(heir.def.kind, p.def.kind) {
                let text = format!(
                    "{} is a {} and cannot extend {}, which is a {}",
                    self.lib.qualified(heir.class),
                    crate::call::kind_text(heir.def.kind),
                    self.lib.qualified(p.class),
                    crate::call::kind_text(p.def.kind)
                );
                say(self, p.clause.unwrap_or(heir.def.name.span), text);
            }
        }
        for m in t.members.iter().filter(|m| m.part == 0) {
            let place = match &m.kind {
                MemberKind::Component { component, .. } if kind == ClassKind::Type => {
                    let text = format!("{} is a type and cannot have components", self.lib.qualified(class));
                    say(self, component.name.span, text);
                    continue;
                }
                MemberKind::Component { component, .. } => component.name.span,
                MemberKind::Class(chain) => {
                    chain.first().map_or(own.def.name.span, |&(c, _)| self.lib.def(c).name.span)
                }
            };
            if RESERVED.contains(&m.name.as_str()) {
                say(self, place, format!("{} is a type of the language: nothing else can have its name", m.name));
            }
        }
        if let Some(p) = t.parts[1..].iter().find(|p| p.from == 0 && p.def.kind == ClassKind::OperatorRecord)
            && matches!(*own.def.body, ClassBody::Long { .. })
        {
            let text = format!(
                "{} cannot extend {}: an operator record is taken over by a short class only",
                self.lib.qualified(class),
                self.lib.qualified(p.class)
            );
            say(self, p.clause.unwrap_or(own.def.name.span), text);
        }
        if kind == ClassKind::OperatorRecord {
            self.check_operators(t);
        }
        if matches!(kind, ClassKind::Operator | ClassKind::OperatorFunction) {
            let around = own.parent.node;
            let record = around != Scope::ROOT.node
                && matches!(
                    self.lib.def(self.node(around).cref.class).kind,
                    ClassKind::OperatorRecord | ClassKind::Operator
                );
            if !record {
                let text = format!("{} stands outside of an operator record", self.lib.qualified(class));
                say(self, own.def.name.span, text);
            }
        }
        self.check_prefixes(t, kind);
        if t.builtin == Some(Ty::Object) && class != t.parts[t.parts.len() - 1].class {
            for f in ["constructor", "destructor"] {
                if !t.index.contains_key(&Name::new(f)) {
                    let text = format!("{} is an external object and needs a {f}", self.lib.qualified(class));
                    say(self, own.def.name.span, text);
                }
            }
        }
        if matches!(kind, ClassKind::Function | ClassKind::OperatorFunction) {
            for m in t.members.iter().filter(|m| m.part == 0 && !m.protected) {
                if let MemberKind::Component { clause, component } = &m.kind
                    && clause.type_prefix.causality == Causality::None
                    && self.warned.insert(component.name.span)
                {
                    let text = format!("{} is public in a function, but neither input nor output", m.name);
                    let d = saltus_base::Diagnostic::error(saltus_base::Stage::FrontEnd, component.name.span, text);
                    self.diagnostics.push(d.hint("write `protected` before the variables that only the function uses"));
                }
            }
        }
    }

    /// What may stand before the components of records and connectors (Modelica 3.6, sections 4.6 and 9.1.3).
    fn check_prefixes(&mut self, t: &Template<'t>, kind: ClassKind) {
        let record = matches!(kind, ClassKind::Record | ClassKind::OperatorRecord);
        if !record && kind != ClassKind::Connector {
            return;
        }
        for m in t.members.iter().filter(|m| m.part == 0) {
            let MemberKind::Component { clause, component } = &m.kind else { continue };
            let prefix = clause.type_prefix;
            let class = self.lib.qualified(t.class);
            let fixed = matches!(prefix.variability, VariabilityPrefix::Parameter | VariabilityPrefix::Constant);
            let flow = prefix.connection != Connection::Potential;
            let what = if prefix.connection == Connection::Stream { "stream" } else { "flow" };
            let text = if record && m.protected {
                format!("{} is protected, but {class} is a record: all of it is public", m.name)
            } else if record && flow {
                format!("{} is a {what} variable, but {class} is a record, not a connector", m.name)
            } else if record && (clause.prefixes.inner || clause.prefixes.outer) {
                format!("{} is inner or outer, but {class} is a record", m.name)
            } else if t.expandable && flow {
                format!(
                    "{} is a {what} variable, but {class} is expandable: it can hold them in connectors only",
                    m.name
                )
            } else if flow && fixed {
                format!("{} is a {what} variable, so it cannot be a parameter or constant", m.name)
            } else {
                continue;
            };
            if self.warned.insert(component.name.span) {
                let e = saltus_base::Diagnostic::error(saltus_base::Stage::FrontEnd, component.name.span, text);
                self.diagnostics.push(e);
            }
        }
    }

    /// The operators that a record may define.
    fn check_operators(&mut self, t: &Template<'t>) {
        const KNOWN: [&str; 17] = [
            "'constructor'",
            "'0'",
            "'String'",
            "'+'",
            "'-'",
            "'*'",
            "'/'",
            "'^'",
            "'=='",
            "'<>'",
            "'<'",
            "'<='",
            "'>'",
            "'>='",
            "'and'",
            "'or'",
            "'not'",
        ];
        for m in t.members.iter().filter(|m| m.part == 0) {
            let MemberKind::Class(list) = &m.kind else { continue };
            let Some(def) = list.first().map(|&(c, _)| self.lib.def(c)) else { continue };
            if matches!(def.kind, ClassKind::Operator | ClassKind::OperatorFunction)
                && !KNOWN.contains(&m.name.as_str())
                && self.warned.insert(def.name.span)
            {
                let text = format!("there is no operator {} that a record could define", m.name);
                let d = saltus_base::Diagnostic::error(saltus_base::Stage::FrontEnd, def.name.span, text);
                self.diagnostics.push(d.hint(format!("there are {}", KNOWN.join(", "))));
            }
        }
    }

    /// Whether the template of a class is still being made.
    pub(crate) fn in_progress(&self, class: ClassId, scope: Scope) -> bool {
        matches!(self.templates.get(&(class, scope)), Some(None))
    }

    fn shallow(&mut self, class: ClassId, scope: Scope) -> Rc<Template<'t>> {
        if let Some(t) = self.shallow.get(&(class, scope)) {
            return t.clone();
        }
        let mut t = self.empty_template(class);
        let def = self.lib.def(class);
        t.parts.push(Part {
            class,
            def,
            parent: scope,
            from: 0,
            end: 1,
            clause: None,
            modification: None,
            base_mods: self.no_mod.clone(),
            mod_scope: None,
            left_out: &[],
            protected: false,
        });
        for (name, m) in &self.lib.own(class).members {
            let kind = match *m {
                OwnMember::Class(c) => MemberKind::Class(vec![(c, 0)]),
                OwnMember::Component(..) => continue,
            };
            self.put_member(&mut t, Member { name: *name, part: 0, kind, protected: false, replaced: None });
        }
        let t = Rc::new(t);
        self.shallow.insert((class, scope), t.clone());
        t
    }

    fn empty_template(&self, class: ClassId) -> Template<'t> {
        Template {
            class,
            parts: Vec::new(),
            members: Vec::new(),
            index: FxHashMap::default(),
            builtin: None,
            dims: Vec::new(),
            causality: Causality::None,
            connection: Connection::Potential,
            variability: VariabilityPrefix::None,
            kind: self.lib.def(class).kind,
            expandable: false,
            partial: self.lib.def(class).prefixes.partial,
            seen: RefCell::default(),
            types: RefCell::default(),
        }
    }

    fn add_part(
        &mut self,
        t: &mut Template<'t>,
        class: ClassId,
        parent: Scope,
        from: u16,
        clause: Option<Span>,
        modification: Option<&'t Modification>,
        base_mods: Rc<Mod<'t>>,
        mod_scope: Option<Scope>,
        left_out: &'t [LeftOut],
        protected: bool,
    ) -> R<()> {
        let def = self.lib.def(class);
        if t.parts.len() > 500 {
            return Err(
                self.err(def.name.span, format!("too many classes extended by {}", self.lib.qualified(t.class)))
            );
        }
        let me = t.parts.len() as u16;
        // Extending oneself, directly or not.
        let mut up = from;
        if me > 0 {
            loop {
                if t.parts[up as usize].class == class && t.parts[up as usize].parent == parent {
                    return Err(
                        self.err(def.name.span, format!("the class {} extends itself", self.lib.qualified(class)))
                    );
                }
                if up == 0 {
                    break;
                }
                up = t.parts[up as usize].from;
            }
        }
        let prot = protected || t.parts.get(from as usize).is_some_and(|p| p.protected);
        t.parts.push(Part {
            class,
            def,
            parent,
            from,
            end: 0,
            clause,
            modification,
            base_mods,
            mod_scope,
            left_out,
            protected: prot,
        });
        t.expandable |= def.prefixes.expandable;
        if let Some(&ty) = self.builtin_types.get(&class) {
            t.builtin = Some(ty);
            t.parts[me as usize].end = me + 1;
            return Ok(());
        }
        match &*def.body {
            ClassBody::Long { extends, elements, .. } => {
                if let Some(modification) = extends {
                    let base = self.overridden(class, parent)?;
                    let clause = Some(def.name.span);
                    self.add_part(
                        t,
                        base.0,
                        base.1,
                        me,
                        clause,
                        modification.as_ref(),
                        self.no_mod.clone(),
                        None,
                        &[],
                        false,
                    )?;
                }
                let mut members = self.lib.own(class).members.iter().peekable();
                for (k, el) in elements.iter().enumerate() {
                    match el {
                        Element::Components(clause) => {
                            for component in &clause.components {
                                if members.peek().is_some_and(|(n, m)| {
                                    *n == component.name.name && matches!(m, OwnMember::Component(..))
                                }) {
                                    members.next();
                                } else {
                                    continue; // declared twice
                                }
                                if t.leaves_out(me, component.name.name) {
                                    continue;
                                }
                                self.put_member(
                                    t,
                                    Member {
                                        name: component.name.name,
                                        part: me,
                                        kind: MemberKind::Component { clause, component },
                                        protected: prot || clause.prefixes.protected,
                                        replaced: None,
                                    },
                                );
                            }
                            let _ = k;
                        }
                        Element::Class { prefixes, def, .. } => {
                            if let Some(&&(n, OwnMember::Class(c))) = members.peek()
                                && n == def.name.name
                            {
                                members.next();
                                self.put_member(
                                    t,
                                    Member {
                                        name: n,
                                        part: me,
                                        kind: MemberKind::Class(vec![(c, me)]),
                                        protected: prot || prefixes.protected,
                                        replaced: None,
                                    },
                                );
                            }
                        }
                        Element::Extends(x) => {
                            let base = self.base_class(t, me, class, parent, &x.base)?;
                            if self.lib.entry(base.class).prefixes.replaceable && self.warned.insert(x.base.span) {
                                let (this, that) = (self.lib.qualified(class), self.lib.qualified(base.class));
                                let text = format!("{this} cannot extend {that}, which is replaceable");
                                let place = self.lib.def(base.class).name.span;
                                let d = saltus_base::Diagnostic::error(saltus_base::Stage::FrontEnd, x.base.span, text);
                                self.diagnostics.push(d.label(place, "declared here"));
                            }
                            self.add_part(
                                t,
                                base.class,
                                base.scope,
                                me,
                                Some(x.base.span),
                                x.modification.as_ref(),
                                base.mods.clone(),
                                None,
                                &x.left_out,
                                x.protected,
                            )?;
                            self.check_left_out(t, &x.left_out);
                        }
                        Element::Import(..) => {}
                    }
                }
            }
            ClassBody::Short { prefix, base, dims, modification, .. } => {
                if !dims.is_empty() {
                    t.dims.push((dims, parent, me));
                }
                if prefix.causality != Causality::None && t.causality == Causality::None {
                    t.causality = prefix.causality;
                }
                if prefix.connection != Connection::Potential && t.connection == Connection::Potential {
                    t.connection = prefix.connection;
                }
                if prefix.variability != VariabilityPrefix::None && t.variability == VariabilityPrefix::None {
                    t.variability = prefix.variability;
                }
                let own = me == 0
                    && self.lib.entry(class).name == base.path.first().map_or(self.lib.entry(class).name, |i| i.name)
                    && base.path.len() == 1
                    && !base.global;
                let clause = Some(base.span);
                let base = if own {
                    // `redeclare package Medium = Medium`: the name on the right is the enclosing scope's.
                    self.class_in(parent, base)?
                } else {
                    self.base_class(t, me, class, parent, base)?
                };
                // Modifiers of the constraining class hold for the declaration itself, below its own.
                let mut base_mods = base.mods.clone();
                if let Some(k) = &self.lib.entry(class).constraint {
                    base_mods = merge(&self.modifier(k.modification.as_ref(), parent, false), &base_mods);
                }
                let modification = modification.as_ref();
                self.add_part(
                    t,
                    base.class,
                    base.scope,
                    me,
                    clause,
                    modification,
                    base_mods,
                    Some(parent),
                    &[],
                    false,
                )?;
            }
            ClassBody::Enumeration { .. } => t.builtin = Some(Ty::Enum(class)),
            ClassBody::Derivative { .. } => {}
        }
        t.parts[me as usize].end = t.parts.len() as u16;
        Ok(())
    }

    /// What the base class just added does not have cannot be left out of it.
    fn check_left_out(&mut self, t: &Template<'t>, left_out: &'t [LeftOut]) {
        if left_out.is_empty() {
            return;
        }
        // The parts of the base are those from the one that carries this list.
        let Some(first) = t.parts.iter().rposition(|p| std::ptr::eq(p.left_out, left_out)) else { return };
        let parts = &t.parts[first..];
        let base = self.lib.qualified(t.parts[first].class);
        for l in left_out {
            let (found, what, span) = match l {
                LeftOut::Component(c) => {
                    let own = |class| {
                        self.lib
                            .own(class)
                            .members
                            .iter()
                            .any(|(n, m)| *n == c.name && matches!(m, OwnMember::Component(..)))
                    };
                    (parts.iter().any(|p| own(p.class)), format!("component {}", c.name), c.span)
                }
                LeftOut::Connection(a, b, span) => {
                    let connects = |p: &Part| match &*p.def.body {
                        ClassBody::Long { sections, .. } => sections.iter().any(
                            |s| matches!(s, Section::Equations { equations, .. } if has_connection(equations, (a, b))),
                        ),
                        _ => false,
                    };
                    (parts.iter().any(connects), format!("connect({a}, {b})"), *span)
                }
            };
            if !found && self.warned.insert(span) {
                let text = format!("{base} has no {what} that could be left out");
                self.diagnostics.push(saltus_base::Diagnostic::error(saltus_base::Stage::FrontEnd, span, text));
            }
        }
    }

    /// The class that a `class extends` / `redeclare … extends` refines: the next one its enclosing class inherits.
    fn overridden(&mut self, class: ClassId, parent: Scope) -> R<(ClassId, Scope)> {
        let e = self.lib.entry(class);
        let t = self.template(parent.node)?;
        if let Some(&i) = t.index.get(&e.name)
            && let MemberKind::Class(chain) = &t.members[i as usize].kind
            && let Some(k) = chain.iter().position(|(c, _)| *c == class)
            && let Some(&(c, part)) = chain.get(k + 1)
        {
            // A redeclaration in between need not have said `replaceable` again.
            let replaceable = chain[k + 1..].iter().any(|(c, _)| self.lib.entry(*c).prefixes.replaceable);
            if !replaceable && self.warned.insert(e.def.name.span) {
                let text = format!("{} is not replaceable and cannot be redeclared", e.name);
                let d = saltus_base::Diagnostic::error(saltus_base::Stage::FrontEnd, e.def.name.span, text)
                    .label(self.lib.def(c).name.span, "declared here")
                    .hint(format!("write `replaceable` before the declaration of {}", e.name));
                self.diagnostics.push(d);
            }
            return Ok((c, Scope { node: parent.node, part }));
        }
        // Members of extended packages that are files of their own.
        for (k, p) in t.parts.iter().enumerate().skip(1) {
            if let Some(c) = self.lib.file_member(p.class, e.name) {
                return Ok((c, Scope { node: parent.node, part: k as u16 }));
            }
        }
        Err(self.err(e.def.name.span, format!("there is no inherited class {} to extend", e.name)))
    }

    fn base_class(
        &mut self,
        _t: &Template<'t>,
        _me: u16,
        class: ClassId,
        parent: Scope,
        spec: &'t TypeSpec,
    ) -> R<ClassRef<'t>> {
        if !spec.global
            && let Some(first) = spec.path.first()
        {
            // Imports of the class itself come before its surroundings.
            if let Some(found) = self.import(class, first.name)? {
                return self.class_below(found, &spec.path[1..], spec);
            }
            // A class nested in the class itself: rare, and only sound if nothing modifies it.
            if let Some(c) = self.lib.nested(class, first.name) {
                let node = self.class_node(&ClassRef { class, scope: parent, mods: self.no_mod.clone() });
                let cref = ClassRef { class: c, scope: Scope { node, part: 0 }, mods: self.no_mod.clone() };
                return self.class_below(crate::instance::Found::Class(cref), &spec.path[1..], spec);
            }
        }
        if !spec.global
            && self.lib.def(class).prefixes.encapsulated
            && let Some(first) = spec.path.first()
        {
            if let Some(found) = self.predefined(first.name) {
                return self.class_below(found, &spec.path[1..], spec);
            }
            let name = crate::instance::spec_text(spec);
            let hint = format!("{} is encapsulated: import what it uses", self.lib.qualified(class));
            return Err(self.err_hints(first.span, format!("the class {name} is not known here"), vec![hint]));
        }
        self.class_in(parent, spec)
    }

    fn put_member(&mut self, t: &mut Template<'t>, m: Member<'t>) {
        let Some(&i) = t.index.get(&m.name) else {
            t.index.insert(m.name, t.members.len() as u32);
            t.members.push(m);
            return;
        };
        let old = &mut t.members[i as usize];
        // Parts are in preorder, so a smaller number that is an ancestor wins. The ends of open parts are still 0.
        let ancestor = |a: u16, mut b: u16| loop {
            if a == b {
                return true;
            }
            if b == 0 {
                return false;
            }
            b = t.parts[b as usize].from;
        };
        let wins = ancestor(m.part, old.part) && m.part != old.part;
        if let (MemberKind::Component { clause: c, component: x }, MemberKind::Component { clause: d, component: y }) =
            (&old.kind, &m.kind)
            && !ancestor(m.part, old.part)
            && !ancestor(old.part, m.part)
            && !std::ptr::eq(*x, *y)
            && !(c.prefixes.redeclare || d.prefixes.redeclare)
            && (c.type_spec.path.last().map(|i| i.name) != d.type_spec.path.last().map(|i| i.name)
                || x.modification.as_ref().and_then(|m| m.binding.as_ref()).map(|e| e.to_string())
                    != y.modification.as_ref().and_then(|m| m.binding.as_ref()).map(|e| e.to_string()))
        {
            let e = saltus_base::Diagnostic::error(
                saltus_base::Stage::FrontEnd,
                y.name.span,
                format!("{} is inherited twice, and the declarations differ", m.name),
            )
            .label(x.name.span, "the other declaration")
            .hint("inherited declarations of one name must be the same");
            self.diagnostics.push(e);
        }
        match (&mut old.kind, m.kind) {
            (MemberKind::Class(chain), MemberKind::Class(new)) => {
                if wins
                    && let (Some(&(c, _)), Some(&(inherited, _))) = (new.first(), chain.first())
                    && c != inherited
                    && !self.lib.entry(c).prefixes.redeclare
                    && !matches!(&*self.lib.def(c).body, ClassBody::Long { extends: Some(_), .. })
                {
                    // Libraries do so, and mean a redeclaration.
                    let e = saltus_base::Diagnostic::warning(
                        saltus_base::Stage::FrontEnd,
                        self.lib.def(c).name.span,
                        format!("{} is inherited already: taken as a redeclaration", m.name),
                    )
                    .label(self.lib.def(inherited).name.span, "inherited from here")
                    .hint("write `redeclare` to take its place");
                    if self.warned.insert(self.lib.def(c).name.span) {
                        self.diagnostics.push(e);
                    }
                }
                if wins {
                    chain.splice(0..0, new);
                    old.part = m.part;
                } else {
                    chain.extend(new);
                }
            }
            (kind @ MemberKind::Component { .. }, new @ MemberKind::Component { .. }) => {
                if wins
                    && let (
                        MemberKind::Component { clause: c, component: x },
                        MemberKind::Component { clause: d, component: y },
                    ) = (&*kind, &new)
                    && !d.prefixes.redeclare
                    && c.type_spec.path.last().map(|i| i.name) != d.type_spec.path.last().map(|i| i.name)
                    && self.warned.insert(y.name.span)
                {
                    // Libraries do so, and mean a redeclaration.
                    let text = format!("{} is inherited already: taken as a redeclaration", m.name);
                    self.diagnostics.push(
                        saltus_base::Diagnostic::warning(saltus_base::Stage::FrontEnd, y.name.span, text)
                            .label(x.name.span, "inherited from here")
                            .hint("write `redeclare` to take its place, or rename one of the two"),
                    );
                }
                if wins {
                    if let MemberKind::Component { clause, component } = *kind {
                        old.replaced = Some((clause, component, old.part));
                    }
                    *kind = new;
                    old.part = m.part;
                    old.protected = m.protected;
                } else if old.replaced.is_none()
                    && let MemberKind::Component { clause, component } = new
                {
                    old.replaced = Some((clause, component, m.part));
                }
            }
            (kind, new) => {
                if wins {
                    *kind = new;
                    old.part = m.part;
                }
            }
        }
    }

    /// The member `name` as seen from a part: its own or inherited ones, not those of classes deriving from it.
    pub(crate) fn find_member(&mut self, t: &Rc<Template<'t>>, part: u16, name: Name) -> Option<u32> {
        if part == 0 {
            return t.index.get(&name).copied();
        }
        if let Some(&r) = t.seen.borrow().get(&(part, name)) {
            return r;
        }
        let p = part as usize;
        let r = t.index.get(&name).copied().filter(|_| {
            t.parts.get(p).is_some_and(|q| {
                t.parts[p..q.end as usize].iter().any(|b| {
                    self.lib.own(b.class).index.contains_key(&name) || self.lib.listing(b.class).contains(&name)
                })
            })
        });
        t.seen.borrow_mut().insert((part, name), r);
        r
    }

    pub(crate) fn part_span(&self, node: NodeId) -> Span {
        self.lib.def(self.nodes[node.0 as usize].cref.class).name.span
    }
}
