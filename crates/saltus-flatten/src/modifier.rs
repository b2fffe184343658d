//! Modifiers as trees of closures: an expression with the scope its names belong to.

use crate::Flattener;
use crate::value::Value;
use rustc_hash::FxHashMap;
use saltus_base::{Name, Span};
use saltus_resolve::ClassId;
use saltus_syntax::ast::{Argument, Component, ComponentClause, Element, Expr, ExprKind, Modification};
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

/// An instance node: a component, or a class (package, function) looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NodeId(pub u32);

/// Where names are looked up: an instance seen from one of the classes it is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Scope {
    pub node: NodeId,
    pub part: u16,
}

impl Scope {
    pub const ROOT: Scope = Scope { node: NodeId(0), part: 0 };
}

/// A step from a bound value to the part of it that an inner component gets.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Projection {
    /// Element of an array of components, and the dimensions of that array (none where they are not at hand).
    Index(Vec<usize>, Rc<[usize]>),
    /// Field of a record.
    Field(Name),
}

/// `= e` somewhere, and what part of it is meant.
#[derive(Clone)]
pub(crate) struct Binding<'t> {
    pub source: &'t Expr,
    pub scope: Scope,
    /// `each` stands before it: the same for all elements of the arrays around it.
    pub each: bool,
    /// How many arguments around it say `each`: so many arrays, from outside, are passed without taking an element.
    pub around: u8,
    pub projections: Vec<Projection>,
    /// Written inside a record class: a value given to the whole record comes before it.
    pub weak: bool,
    pub cache: Rc<RefCell<FxHashMap<bool, Value>>>,
    pub span: Span,
}

impl<'t> Binding<'t> {
    pub fn project(&self, p: Projection) -> Binding<'t> {
        let mut b = self.clone();
        // `each` spoke of the array around the record, not of arrays inside it.
        if matches!(p, Projection::Field(_)) {
            (b.each, b.around) = (false, 0);
        }
        b.projections.push(p);
        b
    }
}

#[derive(Clone)]
pub(crate) enum Redeclared<'t> {
    Class(ClassId),
    Component(&'t ComponentClause, &'t Component),
}

#[derive(Clone)]
pub(crate) struct Redeclare<'t> {
    pub what: Redeclared<'t>,
    pub scope: Scope,
    /// Modifiers from further inside than the redeclaration: what it says itself comes before them.
    pub under: Option<Rc<Mod<'t>>>,
    /// The modifiers of its constraining clause: what takes its place keeps to them.
    pub constraint: Option<Rc<Mod<'t>>>,
    /// `each`: the same for all elements of the arrays around it.
    pub each: bool,
    /// Which elements of the arrays around it are meant, outermost first.
    pub elements: Vec<Vec<usize>>,
    /// It is written with `replaceable` and may be redeclared again.
    pub replaceable: bool,
    /// A redeclaration further inside that is not replaceable.
    pub settled: Option<Span>,
}

/// A modifier with everything below it. Outer modifiers are merged over inner ones.
#[derive(Clone, Default)]
pub(crate) struct Mod<'t> {
    pub binding: Option<Binding<'t>>,
    /// The binding was removed by `= break`.
    pub broken: bool,
    pub children: Vec<(Name, Rc<Mod<'t>>)>,
    /// What is said about single elements of an array (`--set r[3].R=5`), the strongest first.
    pub elements: Vec<(Vec<usize>, Rc<Mod<'t>>)>,
    pub redeclare: Option<Box<Redeclare<'t>>>,
    pub is_final: bool,
    pub span: Option<Span>,
    /// The `final` modifier that an outer one wanted to change.
    pub violated: Option<Span>,
    pub weak: Weakened<'t>,
}

/// A modifier [`Mod::weakened`], made once: what many instances share stays shared. A copy starts without it.
#[derive(Default)]
pub(crate) struct Weakened<'t>(OnceCell<Rc<Mod<'t>>>);

impl Clone for Weakened<'_> {
    fn clone(&self) -> Self {
        Weakened::default()
    }
}

impl<'t> Mod<'t> {
    pub fn is_empty(&self) -> bool {
        self.binding.is_none()
            && self.children.is_empty()
            && self.elements.is_empty()
            && self.redeclare.is_none()
            && !self.broken
    }

    pub fn child(&self, name: Name) -> Option<&Rc<Mod<'t>>> {
        self.children.iter().find(|(n, _)| *n == name).map(|(_, m)| m)
    }

    fn put(&mut self, name: Name, m: Rc<Mod<'t>>) {
        match self.children.iter_mut().find(|(n, _)| *n == name) {
            Some((_, old)) => *old = merge(old, &m),
            None => self.children.push((name, m)),
        }
    }

    /// The modifiers of element `index` of an array of components.
    pub fn element(&self, index: &[usize], dims: &Rc<[usize]>) -> Rc<Mod<'t>> {
        self.element_of(index, dims, true)
    }

    /// `own`: the array is what is modified itself; an `each` speaks of the arrays around it.
    fn element_of(&self, index: &[usize], dims: &Rc<[usize]>, own: bool) -> Rc<Mod<'t>> {
        let mut m = self.clone();
        if let Some(b) = &mut m.binding {
            if !b.each {
                match b.around.checked_sub(1) {
                    Some(rest) => b.around = rest,
                    None => b.projections.push(Projection::Index(index.to_vec(), dims.clone())),
                }
            } else if own {
                b.projections.push(Projection::Index(index.to_vec(), dims.clone()));
            }
        }
        for (_, c) in &mut m.children {
            *c = c.element_of(index, dims, false);
        }
        if let Some(r) = &mut m.redeclare {
            if !r.each {
                r.elements.push(index.to_vec());
            }
            r.under = r.under.as_ref().map(|u| u.element(index, dims));
            r.constraint = r.constraint.as_ref().map(|c| c.element(index, dims));
        }
        if own {
            let meant = std::mem::take(&mut m.elements).into_iter().filter(|(i, _)| i == index).rev();
            return meant.fold(Rc::new(m), |m, (_, e)| merge(&e, &m));
        }
        Rc::new(m)
    }

    /// Whether [`Self::element`] gives different elements different modifiers.
    pub fn differs_by_element(&self) -> bool {
        self.differs(true)
    }

    fn differs(&self, own: bool) -> bool {
        self.binding.as_ref().is_some_and(|b| if b.each { own } else { b.around == 0 })
            || own && !self.elements.is_empty()
            || self.children.iter().any(|(_, c)| c.differs(false))
            || self
                .redeclare
                .as_ref()
                .is_some_and(|r| !r.each || r.under.iter().chain(&r.constraint).any(|m| m.differs_by_element()))
    }

    /// Whether two modifiers are written alike.
    pub fn says_the_same(&self, o: &Mod<'t>) -> bool {
        let value = |m: &Mod<'t>| m.binding.as_ref().map(|b| b.source.to_string());
        value(self) == value(o)
            && self.broken == o.broken
            && self.children.len() == o.children.len()
            && self.children.iter().all(|(n, c)| o.child(*n).is_some_and(|d| c.says_the_same(d)))
    }

    /// The same, giving way to a value of the whole record it is part of.
    pub fn weakened(&self) -> Rc<Mod<'t>> {
        let weak = self.weak.0.get_or_init(|| {
            let children = self.children.iter().map(|(n, c)| (*n, c.weakened())).collect();
            let binding = self.binding.clone().map(|b| Binding { weak: true, ..b });
            Rc::new(Mod { binding, children, ..self.clone() })
        });
        weak.clone()
    }

    /// Whether it redeclares anything, at any depth.
    pub fn redeclares(&self) -> bool {
        self.redeclare.is_some() || self.children.iter().any(|(_, c)| c.redeclares())
    }

    /// The same with nothing final in it.
    pub fn without_final(&self) -> Rc<Mod<'t>> {
        let children = self.children.iter().map(|(n, c)| (*n, c.without_final())).collect();
        Rc::new(Mod { is_final: false, violated: None, children, ..self.clone() })
    }

    /// The same without its own redeclaration.
    pub fn without_redeclare(&self) -> Mod<'t> {
        Mod { redeclare: None, ..self.clone() }
    }
}

/// `outer` where it says something, `inner` otherwise.
pub(crate) fn merge<'t>(outer: &Rc<Mod<'t>>, inner: &Rc<Mod<'t>>) -> Rc<Mod<'t>> {
    if outer.is_empty() && !outer.is_final {
        return inner.clone();
    }
    if inner.is_empty() && !inner.is_final {
        return outer.clone();
    }
    if let Some(r) = &outer.redeclare {
        // The redeclaration's own modifiers stand between the two.
        let mut rest = Rc::new(inner.without_redeclare());
        // Of a redeclaration that is redeclared, what it asks of its replacements remains.
        if let Some(i) = &inner.redeclare {
            for below in i.constraint.iter().chain(&i.under) {
                rest = merge(&rest, below);
            }
        }
        let under = Some(r.under.as_ref().map_or_else(|| rest.clone(), |u| merge(u, &rest)));
        let settled = inner.redeclare.as_ref().filter(|i| !i.replaceable && outer.span != inner.span);
        let settled = r.settled.or_else(|| settled.and(inner.span));
        let redeclare = Some(Box::new(Redeclare { under, settled, ..(**r).clone() }));
        let violated = if inner.is_final && outer.span != inner.span { inner.span } else { None };
        return Rc::new(Mod { redeclare, violated: outer.violated.or(violated), ..(**outer).clone() });
    }
    // A value for the whole comes before what further inside is said about its parts.
    let inner = if outer.binding.is_some() && !inner.children.is_empty() { &inner.weakened() } else { inner };
    let mut m = Mod {
        binding: if outer.binding.is_some() || outer.broken { outer.binding.clone() } else { inner.binding.clone() },
        broken: outer.broken,
        children: outer.children.clone(),
        elements: outer.elements.clone(),
        redeclare: outer.redeclare.clone().or_else(|| inner.redeclare.clone()),
        is_final: outer.is_final || inner.is_final,
        span: outer.span.or(inner.span),
        violated: outer.violated.or(inner.violated),
        weak: Weakened::default(),
    };
    if inner.is_final && outer.span != inner.span && m.violated.is_none() {
        m.violated = inner.span;
    }
    // A value of the whole replaces what was said about its elements before.
    if outer.binding.is_none() {
        m.elements.extend(inner.elements.iter().cloned());
    }
    for (name, c) in &inner.children {
        match m.children.iter_mut().find(|(n, _)| n == name) {
            Some((_, o)) => *o = merge(o, c),
            None => m.children.push((*name, c.clone())),
        }
    }
    Rc::new(m)
}

/// The latest results of [`merge`], by their operands: instances of one class with the same modifiers share what is merged for them.
pub(crate) struct Merged<'t>(Vec<Option<[Rc<Mod<'t>>; 3]>>);

impl<'t> Merged<'t> {
    const SIZE: usize = 1 << 10;

    pub fn new() -> Self {
        Merged(vec![None; Self::SIZE])
    }

    /// [`merge`].
    pub fn merge(&mut self, outer: &Rc<Mod<'t>>, inner: &Rc<Mod<'t>>) -> Rc<Mod<'t>> {
        if outer.is_empty() && !outer.is_final {
            return inner.clone();
        }
        if inner.is_empty() && !inner.is_final {
            return outer.clone();
        }
        let (a, b) = (Rc::as_ptr(outer) as usize, Rc::as_ptr(inner) as usize);
        let at = (a >> 4).wrapping_mul(31).wrapping_add(b >> 4) % Self::SIZE;
        // What is kept here is alive: equal addresses are the same modifiers.
        if let Some([o, i, m]) = &self.0[at]
            && Rc::ptr_eq(o, outer)
            && Rc::ptr_eq(i, inner)
        {
            return m.clone();
        }
        let m = merge(outer, inner);
        self.0[at] = Some([outer.clone(), inner.clone(), m.clone()]);
        m
    }
}

/// Whether a modification names nothing, so that it means the same in every scope.
fn is_literal(m: &Modification) -> bool {
    fn literal(e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Real(_) | ExprKind::Integer(_) | ExprKind::Boolean(_) | ExprKind::String(_) => true,
            ExprKind::Unary(_, a) => literal(a),
            _ => false,
        }
    }
    m.binding.as_ref().is_none_or(literal)
        && m.args.iter().all(|a| match a {
            Argument::Modification { modification, .. } => modification.as_ref().is_none_or(is_literal),
            Argument::Redeclare { .. } => false,
        })
}

impl<'t> Flattener<'t> {
    /// The tree of a modification whose names belong to `scope`.
    pub(crate) fn modifier(&self, m: Option<&'t Modification>, scope: Scope, each: bool) -> Rc<Mod<'t>> {
        let Some(m) = m else { return self.no_mod.clone() };
        if each {
            return self.modifier_within(Some(m), scope, each, 0);
        }
        // Attributes of types are literals mostly, and the same for all their variables.
        let shared = self.literal_mods.borrow().get(&std::ptr::from_ref(m)).cloned();
        let shared = shared.unwrap_or_else(|| {
            let built = is_literal(m).then(|| self.modifier_within(Some(m), scope, each, 0));
            self.literal_mods.borrow_mut().insert(m, built.clone());
            built
        });
        shared.unwrap_or_else(|| self.modifier_within(Some(m), scope, each, 0))
    }

    fn modifier_within(&self, m: Option<&'t Modification>, scope: Scope, each: bool, around: u8) -> Rc<Mod<'t>> {
        let Some(m) = m else { return self.no_mod.clone() };
        let mut out = Mod { span: m.span, broken: m.is_break, ..Mod::default() };
        if let Some(e) = &m.binding {
            out.binding = Some(Binding {
                source: e,
                scope,
                each,
                around,
                projections: Vec::new(),
                weak: false,
                cache: Rc::default(),
                span: e.span,
            });
        }
        for a in &m.args {
            self.argument(&mut out, a, scope, around.saturating_add(u8::from(each)));
        }
        Rc::new(out)
    }

    fn argument(&self, out: &mut Mod<'t>, a: &'t Argument, scope: Scope, around: u8) {
        match a {
            Argument::Modification { each: e, is_final, path, modification, span, .. } => {
                let mut m = self.modifier_within(modification.as_ref(), scope, *e, around);
                m = Rc::new(Mod { is_final: *is_final, span: Some(*span), ..(*m).clone() });
                let mut parts = path.iter().rev();
                let Some(last) = parts.next() else { return };
                let mut name = last.name;
                for p in parts {
                    m = Rc::new(Mod { children: vec![(name, m)], span: Some(*span), ..Mod::default() });
                    name = p.name;
                }
                out.put(name, m);
            }
            Argument::Redeclare { each: e, element, span, is_final, .. } => {
                let (name, what, constraint, replaceable) = match &**element {
                    Element::Class { prefixes, def, constraint } => {
                        let class = self.lib.anonymous(def, *prefixes, constraint.clone());
                        (def.name.name, Redeclared::Class(class), constraint, prefixes.replaceable)
                    }
                    Element::Components(clause) => match clause.components.first() {
                        Some(c) => {
                            let what = Redeclared::Component(clause, c);
                            (c.name.name, what, &clause.constraint, clause.prefixes.replaceable)
                        }
                        None => return,
                    },
                    _ => return,
                };
                let constraint = constraint.as_ref().map(|k| self.modifier(k.modification.as_ref(), scope, false));
                let each = *e || around > 0;
                let elements = Vec::new();
                let settled = None;
                let redeclare =
                    Redeclare { what, scope, under: None, constraint, each, elements, replaceable, settled };
                let redeclare = Some(Box::new(redeclare));
                out.put(name, Rc::new(Mod { redeclare, is_final: *is_final, span: Some(*span), ..Mod::default() }));
            }
        }
    }
}
