//! Connections: sets with inside and outside members, flows, streams, expandable connectors, overconstrained graphs.

use crate::eval::{Target, ref_text};
use crate::instance::{Found, NodeKind};
use crate::modifier::{NodeId, Scope};
use crate::template::ClassRef;
use crate::value::{FuncValue, Ty, Value, shape_text};
use crate::{Env, Flattener, Mode, R};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_base::{Name, Span};
use saltus_dae::{Assertion, Equation, Message, Origin, Piece, VarId, VarType, Variability};
use saltus_expr::{Binary, ExprId, Node as XNode};
use saltus_syntax::ast::{
    Call, Causality, ClassBody, Component, ComponentRef, Connection, Equation as AstEquation, EquationKind, Expr,
    ExprKind, Section, Subscript, VariabilityPrefix,
};
use std::rc::Rc;

/// One side of a connection: a component, or one element of an array of simple ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct End {
    node: NodeId,
    element: Option<usize>,
    outside: bool,
}

#[derive(Clone, Copy)]
struct Pair {
    a: End,
    b: End,
    span: Span,
    within: NodeId,
}

/// A connection between two expandable or not yet complete sides.
struct Pending<'t> {
    a: &'t ComponentRef,
    b: &'t ComponentRef,
    locals: Vec<(Name, Value)>,
    scope: Scope,
    span: Span,
}

struct Edge {
    a: NodeId,
    b: NodeId,
    pair: Option<Pair>,
    kept: bool,
}

struct Sets<K: std::hash::Hash + Eq + Copy> {
    index: FxHashMap<K, u32>,
    items: Vec<K>,
    parent: Vec<u32>,
}

impl<K: std::hash::Hash + Eq + Copy> Default for Sets<K> {
    fn default() -> Self {
        Sets { index: FxHashMap::default(), items: Vec::new(), parent: Vec::new() }
    }
}

impl<K: std::hash::Hash + Eq + Copy> Sets<K> {
    fn at(&mut self, k: K) -> u32 {
        let n = self.items.len() as u32;
        let i = *self.index.entry(k).or_insert(n);
        if i == n {
            self.items.push(k);
            self.parent.push(n);
        }
        i
    }
    fn find(&mut self, mut i: u32) -> u32 {
        while self.parent[i as usize] != i {
            let p = self.parent[i as usize];
            self.parent[i as usize] = self.parent[p as usize];
            i = p;
        }
        i
    }
    /// Whether the two were apart.
    fn union(&mut self, a: K, b: K) -> bool {
        let (a, b) = (self.at(a), self.at(b));
        let (a, b) = (self.find(a), self.find(b));
        let (lo, hi) = (a.min(b), a.max(b));
        self.parent[hi as usize] = lo;
        a != b
    }
    fn groups(&mut self) -> Vec<Vec<K>> {
        let mut out: Vec<Vec<K>> = Vec::new();
        let mut of: FxHashMap<u32, usize> = FxHashMap::default();
        for i in 0..self.items.len() as u32 {
            let r = self.find(i);
            let g = *of.entry(r).or_insert_with(|| {
                out.push(Vec::new());
                out.len() - 1
            });
            out[g].push(self.items[i as usize]);
        }
        out
    }
}

#[derive(Default)]
pub(crate) struct Connections {
    pairs: Vec<Pair>,
    degree: FxHashMap<NodeId, usize>,
    flows: Sets<(VarId, bool)>,
    flow_span: FxHashMap<VarId, Span>,
    potentials: Sets<VarId>,
    /// Signals connected in one class, by its instance, and those among them that give the value.
    signals: Sets<(NodeId, VarId, bool)>,
    sources: FxHashMap<(NodeId, VarId, bool), Span>,
    /// Where signals are connected.
    joined: FxHashMap<(NodeId, VarId), Span>,
    streams: Sets<(NodeId, bool)>,
    stream_groups: FxHashMap<(NodeId, bool), Rc<Vec<(NodeId, bool)>>>,
    edges: Vec<Edge>,
    branches: Vec<(NodeId, NodeId)>,
    roots: Vec<NodeId>,
    potential_roots: Vec<(NodeId, f64)>,
    is_root: FxHashSet<NodeId>,
    level: FxHashMap<NodeId, usize>,
    equations: Vec<(ExprId, Span, NodeId)>,
}

impl Connections {
    /// The instances of classes that connect something.
    pub(crate) fn classes(&self) -> FxHashSet<NodeId> {
        self.pairs.iter().map(|p| p.within).collect()
    }

    /// Whether a signal is connected to something in this class.
    pub(crate) fn connected(&self, within: NodeId, v: VarId) -> bool {
        [false, true].into_iter().any(|outside| self.signals.index.contains_key(&(within, v, outside)))
    }
}

impl<'t> Flattener<'t> {
    /// The equations that the connect statements of one class give, and how many flows of its components they take
    /// part in; nothing if there are none.
    pub(crate) fn connection_equations_in(&mut self, n: NodeId) -> Option<(usize, usize)> {
        let pairs: Vec<Pair> = self.connections.pairs.iter().filter(|p| p.within == n).copied().collect();
        if pairs.is_empty() {
            return None;
        }
        let mut sets: Sets<End> = Sets::default();
        for p in &pairs {
            sets.union(p.a, p.b);
        }
        let (mut equations, mut flows) = (0, 0);
        for set in sets.groups() {
            let mut first = None;
            for end in &set {
                let (mut p, mut f) = self.connector_size(end.node);
                if end.element.is_some() {
                    (p, f) = (p.min(1), f.min(1));
                }
                if !end.outside {
                    flows += f;
                }
                first = first.or(Some((p, f)));
            }
            let (p, f) = first.unwrap_or_default();
            equations += (set.len() - 1) * p + f;
        }
        Some((equations, flows))
    }

    // ---- collecting ----------------------------------------------------------------------------------------------

    pub(crate) fn collect_connections(&mut self, top: NodeId) {
        let mut pending = Vec::new();
        self.collect_below(top, &mut pending);
        let mut k = 0;
        while k < self.extra_order.len() {
            let n = self.extra_order[k];
            if self.node(n).parent == Some(self.top) {
                self.collect_below(n, &mut pending);
            }
            k += 1;
        }
        // Expandable connectors grow until nothing changes.
        self.grow(&pending);
        for p in &pending {
            let locals = p.locals.clone();
            let env = Env::model(p.scope);
            let r = self.with_known(&locals, &env, &mut |me, env| me.connect(env, p.a, p.b, p.span));
            if let Err(e) = r {
                self.report_in(e, p.scope);
            }
        }
    }

    fn collect_below(&mut self, n: NodeId, pending: &mut Vec<Pending<'t>>) {
        if self.node(n).outer.is_some() {
            return;
        }
        let Ok(t) = self.template(n) else { return };
        if t.builtin.is_some() {
            return;
        }
        if self.dims(n).is_ok_and(|d| d.is_empty()) {
            for part in (0..t.parts.len()).rev() {
                let ClassBody::Long { sections, .. } = &*t.parts[part].def.body else { continue };
                let env = Env::model(Scope { node: n, part: part as u16 });
                for s in sections {
                    if let Section::Equations { initial: false, equations } = s
                        && let Err(e) = self.collect_in(&env, equations, pending)
                    {
                        self.report(e, n);
                    }
                }
            }
        }
        for c in self.below(n) {
            self.collect_below(c, pending);
        }
    }

    fn collect_in(&mut self, env: &Env, eqs: &'t [AstEquation], pending: &mut Vec<Pending<'t>>) -> R<()> {
        for eq in eqs {
            match &eq.kind {
                EquationKind::Connect(a, b)
                    if self.template(env.scope.node)?.leaves_out_connection(env.scope.part, a, b) => {}
                EquationKind::Connect(a, b) => {
                    let mut locals = Vec::new();
                    let mut l = env.locals;
                    while let Some(x) = l {
                        locals.push((x.name, x.value.clone()));
                        l = x.up;
                    }
                    locals.reverse();
                    pending.push(Pending { a, b, locals, scope: env.scope, span: eq.span });
                }
                EquationKind::For { indices, body } if has_connect(body) => {
                    self.iterate(env, indices, None, &mut |me, env| me.collect_in(env, body, pending))?;
                }
                EquationKind::If { branches, otherwise }
                    if branches.iter().any(|(_, b)| has_connect(b)) || has_connect(otherwise) =>
                {
                    let konst = Env { mode: Mode::Konst, ..*env };
                    let mut chosen = None;
                    for (c, b) in branches {
                        let v = self.eval(&konst, c).map_err(|mut e| {
                            e.hints.push("connect inside if needs a condition of parameters".into());
                            e
                        })?;
                        if self.bool_of(&v) == Some(true) {
                            chosen = Some(b);
                            break;
                        }
                    }
                    let body = chosen.unwrap_or(otherwise);
                    self.collect_in(env, body, pending)?;
                }
                EquationKind::Call(Expr { kind: ExprKind::Call(c), .. }) => {
                    if let [p, q] = &c.function.parts[..]
                        && p.name.name == "Connections"
                        && let Err(e) = self.graph_call(env, q.name.name.as_str(), c, eq.span)
                    {
                        self.report_in(e, env.scope);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn graph_node(&mut self, env: &Env, e: &Expr) -> R<Option<NodeId>> {
        let ExprKind::Ref(r) = &e.kind else {
            return Err(self.err(e.span, "a connector's overdetermined record is needed"));
        };
        match self.resolve(env, r)? {
            Target::Nodes(nodes, dims, subs) => {
                if dims == [usize::MAX] {
                    return Ok(None);
                }
                match (&nodes[..], subs) {
                    ([n], _) if !self.template(*n)?.index.contains_key(&Name::new("equalityConstraint")) => {
                        let text = format!(
                            "{} is not overdetermined: its class has no function equalityConstraint",
                            ref_text(r)
                        );
                        Err(self.err(e.span, text))
                    }
                    ([n], _) => Ok(Some(*n)),
                    _ => Err(self.err(e.span, "a single record is needed here")),
                }
            }
            _ => Err(self.err(e.span, "a connector's overdetermined record is needed")),
        }
    }

    fn graph_call(&mut self, env: &Env, name: &str, c: &Call, span: Span) -> R<()> {
        match (name, &c.args[..]) {
            ("branch", [a, b]) => {
                if let (Some(a), Some(b)) = (self.graph_node(env, a)?, self.graph_node(env, b)?) {
                    self.connections.branches.push((a, b));
                }
            }
            ("root", [a]) => {
                if let Some(a) = self.graph_node(env, a)? {
                    self.connections.roots.push(a);
                }
            }
            ("potentialRoot", [a, rest @ ..]) => {
                let p = c.named.iter().find(|(n, _)| n.name == "priority").map(|(_, e)| e).or(rest.first());
                let p = match p {
                    Some(e) => {
                        let v = self.eval(&Env { mode: Mode::Konst, ..*env }, e)?;
                        self.const_of(&v).unwrap_or(0.0)
                    }
                    None => 0.0,
                };
                if let Some(a) = self.graph_node(env, a)? {
                    self.connections.potential_roots.push((a, p));
                }
            }
            ("uniqueRoot", _) => {}
            ("branch", _) => return Err(self.err(span, "Connections.branch needs two connectors' records")),
            ("root" | "potentialRoot", _) => {
                return Err(self.err(span, format!("Connections.{name} needs a connector's record")));
            }
            _ => return Err(self.err(span, format!("Connections.{name} is not known"))),
        }
        Ok(())
    }

    /// Adds the members that expandable connectors get by being connected.
    fn grow(&mut self, pending: &[Pending<'t>]) {
        for _ in 0..20 {
            let mut changed = false;
            for p in pending {
                let locals = p.locals.clone();
                let env = Env::model(p.scope);
                for (x, y) in [(p.a, p.b), (p.b, p.a)] {
                    let r = self.with_known(&locals, &env, &mut |me, env| me.grow_side(env, x, y));
                    changed |= r.unwrap_or(false);
                }
                let r = self.with_known(&locals, &env, &mut |me, env| me.grow_both(env, p.a, p.b));
                changed |= r.unwrap_or(false);
            }
            if !changed {
                return;
            }
        }
    }

    /// `connect(bus.x, y)` with no x in the bus: x gets the type of y.
    fn grow_side(&mut self, env: &Env, x: &ComponentRef, y: &ComponentRef) -> R<bool> {
        if x.parts.len() < 2 {
            return Ok(false);
        }
        let mut prefix = x.clone();
        let Some(last) = prefix.parts.pop() else { return Ok(false) };
        let Target::Nodes(nodes, dims, subs) = self.resolve(env, &prefix)? else { return Ok(false) };
        if dims == [usize::MAX] {
            return Ok(false);
        }
        let holder =
            prefix.parts.last().map(|p| saltus_syntax::ast::RefPart { name: p.name, subscripts: subs.to_vec() });
        let mut buses = Vec::new();
        let mut lead = dims.len();
        for n in nodes {
            match &holder {
                Some(h) => {
                    let (list, d) = self.select_elements(env, n, h)?;
                    lead = dims.len() + d.len();
                    buses.extend(list);
                }
                None => buses.push(n),
            }
        }
        let mut changed = false;
        for bus in buses {
            let t = self.template(bus)?;
            if !t.expandable || self.member_from(Scope { node: bus, part: 0 }, last.name.name)?.is_some() {
                // An array member may still have to grow.
                if t.expandable
                    && !last.subscripts.is_empty()
                    && let Some(&k) = self.extra.get(&(bus, last.name.name))
                {
                    let need = self.subscript_sizes(env, &last.subscripts)?;
                    if let Some(have) = self.node(k).dims.clone() {
                        let bigger: Vec<usize> = have.iter().zip(&need).map(|(a, b)| *a.max(b)).collect();
                        if bigger[..] != have[..] {
                            let node = self.node_mut(k);
                            node.dims = Some(bigger.into());
                            node.elements = None;
                            changed = true;
                        }
                    }
                }
                continue;
            }
            // The other side must exist.
            let Target::Nodes(others, odims, osubs) = self.resolve(env, y)? else { continue };
            if odims == [usize::MAX] {
                continue;
            }
            let Some(&other) = others.first() else { continue };
            let mut dims = odims.clone();
            let od = self.dims(other)?;
            if osubs.is_empty() {
                dims.extend(od.iter().copied());
            } else if let Ok(i) = self.indices(env, osubs, &od, None, y.span)
                && let Some((_, d)) = crate::eval::places(&i, &od)
            {
                dims.extend(d);
            }
            // An array of buses is connected element by element.
            dims.drain(..lead.min(dims.len()));
            if !last.subscripts.is_empty() {
                let mut need = self.subscript_sizes(env, &last.subscripts)?;
                let kept = last.subscripts.iter().filter(|s| !matches!(s, Subscript::Index(_))).count();
                if dims.len() > kept {
                    need.extend(dims[kept..].iter().copied());
                }
                dims = need;
            }
            self.add_member(bus, last.name.name, other, dims)?;
            changed = true;
        }
        Ok(changed)
    }

    fn subscript_sizes(&mut self, env: &Env, subs: &[Subscript]) -> R<Vec<usize>> {
        let mut out = Vec::new();
        for s in subs {
            match s {
                Subscript::Index(e) => {
                    let v = self.eval(&Env { mode: Mode::Konst, ..*env }, e)?;
                    let m = v.scalar_list().iter().filter_map(|x| self.dae.pool.as_const(*x)).fold(0.0, f64::max);
                    out.push(m as usize);
                }
                Subscript::All(_) => out.push(0),
            }
        }
        Ok(out)
    }

    fn add_member(&mut self, bus: NodeId, name: Name, like: NodeId, dims: Vec<usize>) -> R<NodeId> {
        let cref = ClassRef { mods: self.no_mod.clone(), ..self.node(like).cref.clone() };
        let k = self.new_node(name, Some(bus), NodeKind::Component, cref);
        let (clause, connection, variability) =
            (self.node(like).clause, self.node(like).connection, self.node(like).variability);
        let node = self.node_mut(k);
        node.live = true;
        node.clause = clause;
        node.connection = connection;
        node.variability = variability;
        node.dims = Some(dims.into());
        self.extra.insert((bus, name), k);
        self.extra_order.push(k);
        self.instantiate(k, 0);
        Ok(k)
    }

    /// `connect(bus1, bus2)`: each gets the members of the other.
    fn grow_both(&mut self, env: &Env, a: &ComponentRef, b: &ComponentRef) -> R<bool> {
        let (x, y) = (self.ends(env, a)?, self.ends(env, b)?);
        let (Some((x, _)), Some((y, _))) = (x, y) else { return Ok(false) };
        let mut changed = false;
        for (p, q) in x.iter().zip(&y) {
            for (from, to) in [(p.node, q.node), (q.node, p.node)] {
                changed |= self.copy_members(from, to)?;
            }
        }
        Ok(changed)
    }

    fn copy_members(&mut self, from: NodeId, to: NodeId) -> R<bool> {
        let (tf, tt) = (self.template(from)?, self.template(to)?);
        if tf.builtin.is_some() || tt.builtin.is_some() || !tt.expandable {
            return Ok(false);
        }
        let mut changed = false;
        for c in self.below(from) {
            let name = self.node(c).name;
            match self.member_from(Scope { node: to, part: 0 }, name)? {
                None => {
                    let d = self.dims(c)?;
                    self.add_member(to, name, c, d.to_vec())?;
                    changed = true;
                }
                Some(Found::Component(k)) if k.0 != u32::MAX => {
                    // Buses within buses; arrays that differ in size take the larger one.
                    changed |= self.copy_members(c, k)?;
                    if self.extra.get(&(to, name)) == Some(&k) {
                        let (dc, dk) = (self.dims(c)?, self.dims(k)?);
                        let bigger: Vec<usize> = dc.iter().zip(dk.iter()).map(|(a, b)| *a.max(b)).collect();
                        if bigger.len() == dk.len() && bigger[..] != dk[..] {
                            let node = self.node_mut(k);
                            node.dims = Some(bigger.into());
                            node.elements = None;
                            changed = true;
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(changed)
    }

    /// The components a side of a connect names; `None` if it is switched off.
    fn ends(&mut self, env: &Env, r: &ComponentRef) -> R<Option<(Vec<End>, Vec<usize>)>> {
        let Some(first) = r.parts.first() else { return Err(self.err(r.span, "a connector is missing")) };
        let outside = match self.lookup(env.scope, first.name.name)? {
            Some(Found::Component(n)) if n.0 != u32::MAX => {
                let is_outer = self.node(n).outer.is_some();
                let n = self.real(n)?;
                let t = self.template(n)?;
                !is_outer && (t.is_connector() || t.expandable || t.builtin.is_some())
            }
            _ => false,
        };
        let Target::Nodes(nodes, mut dims, subs) = self.resolve(env, r)? else {
            return Err(self.err(r.span, format!("{} is not a connector", ref_text(r))));
        };
        if dims == [usize::MAX] {
            return Ok(None);
        }
        let mut out = Vec::new();
        let mut added: Option<Vec<usize>> = None;
        for n in nodes {
            let nd = self.dims(n)?;
            let t = self.template(n)?;
            let (leaf, connector) = (t.builtin.is_some(), t.is_connector());
            if leaf && !connector && self.node(n).causality == Causality::None && !self.in_connector(n) {
                return Err(self.err(r.span, format!("{} is not a connector", ref_text(r))));
            }
            if !leaf && !connector && !t.expandable && !self.in_connector(n) {
                let what = self.lib.qualified(t.class);
                return Err(self.err(r.span, format!("{} is not a connector, but a {what}", ref_text(r))));
            }
            if let Some(hidden) = self.component_between(env.scope.node, n)? {
                return Err(self.err_hints(
                    r.span,
                    format!(
                        "{} lies inside of {hidden}: a class connects its own connectors and those of its components",
                        ref_text(r)
                    ),
                    vec![format!("give {hidden} a connector of its own and connect that")],
                ));
            }
            if nd.is_empty() {
                if !subs.is_empty() {
                    return Err(self.err(r.span, format!("{} is not an array", ref_text(r))));
                }
                out.push(End { node: n, element: None, outside });
                added = Some(vec![]);
                continue;
            }
            let index = self.indices(env, subs, &nd, Some(n), r.span)?;
            let Some((places, d)) = crate::eval::places(&index, &nd) else {
                return Err(self.err(r.span, "subscripts in connect must be known when compiling"));
            };
            if leaf {
                out.extend(places.into_iter().map(|p| End { node: n, element: Some(p), outside }));
            } else {
                let el = self.element_nodes(n)?;
                out.extend(places.into_iter().map(|p| End { node: el[p], element: None, outside }));
            }
            added = Some(d);
        }
        dims.extend(added.unwrap_or_default());
        Ok(Some((out, dims)))
    }

    /// The component of a class (`scope`) whose insides a connector belongs to, if it is not a connector of the component.
    fn component_between(&mut self, scope: NodeId, n: NodeId) -> R<Option<Name>> {
        let mut components = Vec::new();
        let mut k = self.node(n).parent;
        while let Some(p) = k {
            if p == scope {
                return Ok((components.len() > 1).then(|| components[components.len() - 1]));
            }
            let t = self.template(p)?;
            if self.node(p).kind == NodeKind::Component && !t.is_connector() && !t.expandable && !t.is_record() {
                components.push(self.node(p).name);
            }
            k = self.node(p).parent;
        }
        Ok(None) // found through `outer`
    }

    fn connect(&mut self, env: &Env, a: &ComponentRef, b: &ComponentRef, span: Span) -> R<()> {
        // With one end switched off, the other may be what only a connection would make: `connect(sum.u[2], off.y)`.
        let ((x, dx), (y, dy)) = match (self.ends(env, a), self.ends(env, b)) {
            (Ok(None), _) | (_, Ok(None)) => return Ok(()),
            (Ok(Some(x)), Ok(Some(y))) => (x, y),
            (Err(e), _) | (_, Err(e)) => return Err(e),
        };
        if dx != dy {
            return Err(self.err(
                span,
                format!(
                    "{} has the shape {}, but {} has the shape {}",
                    ref_text(a),
                    shape_text(&dx),
                    ref_text(b),
                    shape_text(&dy)
                ),
            ));
        }
        if x == y && self.warned.insert(span) {
            let text = format!("{} is connected to itself, which says nothing", ref_text(a));
            self.diagnostics.push(saltus_base::Diagnostic::warning(saltus_base::Stage::FrontEnd, span, text));
        }
        for (p, q) in x.into_iter().zip(y) {
            for e in [p, q] {
                *self.connections.degree.entry(e.node).or_insert(0) += 1;
            }
            self.connections.pairs.push(Pair { a: p, b: q, span, within: env.scope.node });
        }
        Ok(())
    }

    pub(crate) fn cardinality(&mut self, env: &Env, r: &ComponentRef) -> R<usize> {
        match self.ends(env, r)? {
            Some((e, _)) => Ok(e.iter().map(|e| self.connections.degree.get(&e.node).copied().unwrap_or(0)).sum()),
            None => Ok(0),
        }
    }

    // ---- sets ----------------------------------------------------------------------------------------------------

    pub(crate) fn build_connections(&mut self) {
        let pairs = std::mem::take(&mut self.connections.pairs);
        for p in &pairs {
            if let Err(e) = self.join(*p) {
                self.report(e, p.within);
            }
        }
        self.connections.pairs = pairs;
        self.check_wanted_connections();
        self.spanning_tree();
        let edges = std::mem::take(&mut self.connections.edges);
        for e in &edges {
            let Some(p) = e.pair else { continue };
            let leaf = self.template(p.a.node).is_ok_and(|t| t.builtin.is_some());
            let r = match (e.kept, leaf) {
                (true, true) => self.join_leaf(p),
                (true, false) => self.join_fields(p),
                (false, _) => Ok(()),
            };
            if let Err(d) = r {
                self.report(d, p.within);
            }
        }
        self.connections.edges = edges;
        for g in self.connections.streams.groups() {
            let g = Rc::new(g);
            for k in g.iter() {
                self.connections.stream_groups.insert(*k, g.clone());
            }
        }
    }

    fn vars_of(&mut self, e: End) -> R<Vec<VarId>> {
        let Some(first) = self.node(e.node).var else {
            return Err(self.err(Span::NONE, format!("{} has no variables", self.path(e.node))));
        };
        let n: usize = self.dims(e.node)?.iter().product();
        Ok(match e.element {
            Some(k) => vec![VarId::new(first.index() + k)],
            None => (0..n).map(|k| VarId::new(first.index() + k)).collect(),
        })
    }

    fn join(&mut self, p: Pair) -> R<()> {
        let (ta, tb) = (self.template(p.a.node)?, self.template(p.b.node)?);
        if ta.builtin.is_some() != tb.builtin.is_some() {
            let (x, y) = (self.path(p.a.node), self.path(p.b.node));
            return Err(self.err(p.span, format!("{x} and {y} have different structure and cannot be connected")));
        }
        // A type with a function equalityConstraint is overdetermined.
        let overdetermined = ta.index.contains_key(&Name::new("equalityConstraint"));
        if ta.builtin.is_some() && overdetermined {
            self.connections.edges.push(Edge { a: p.a.node, b: p.b.node, pair: Some(p), kept: true });
            return Ok(());
        }
        if ta.builtin.is_some() {
            return self.join_leaf(p);
        }
        let (da, db) = (self.dims(p.a.node)?, self.dims(p.b.node)?);
        if da != db {
            let (x, y) = (self.path(p.a.node), self.path(p.b.node));
            return Err(self.err(
                p.span,
                format!("{x} has the shape {}, but {y} has the shape {}", shape_text(&da), shape_text(&db)),
            ));
        }
        if !da.is_empty() {
            let (ea, eb) = (self.element_nodes(p.a.node)?, self.element_nodes(p.b.node)?);
            for (&x, &y) in ea.iter().zip(eb.iter()) {
                self.join(Pair { a: End { node: x, ..p.a }, b: End { node: y, ..p.b }, ..p })?;
            }
            return Ok(());
        }
        if overdetermined && ta.is_record() {
            self.connections.edges.push(Edge { a: p.a.node, b: p.b.node, pair: Some(p), kept: true });
            return Ok(());
        }
        self.join_fields(p)
    }

    fn join_fields(&mut self, p: Pair) -> R<()> {
        let mut stream = false;
        let ta = self.template(p.a.node)?;
        let tb = self.template(p.b.node)?;
        if ta.expandable != tb.expandable {
            let (x, y) = (self.path(p.a.node), self.path(p.b.node));
            let (bus, other) = if ta.expandable { (x, y) } else { (y, x) };
            return Err(self.err_hints(
                p.span,
                format!("{bus} is expandable and {other} is not: they cannot be connected"),
                vec![format!("connect {other} to a member of {bus}: {bus}.name")],
            ));
        }
        for c in self.below(p.a.node) {
            let name = self.node(c).name;
            stream |= self.node(c).connection == Connection::Stream;
            match self.member_from(Scope { node: p.b.node, part: 0 }, name)? {
                Some(Found::Component(d)) if d.0 != u32::MAX => {
                    let (c, d) = (self.real(c)?, self.real(d)?);
                    self.join(Pair {
                        a: End { node: c, element: None, outside: p.a.outside },
                        b: End { node: d, element: None, outside: p.b.outside },
                        ..p
                    })?;
                }
                Some(Found::Component(_)) => {}
                _ if ta.expandable && tb.expandable => {}
                _ => {
                    let (x, y) = (self.path(p.a.node), self.path(p.b.node));
                    return Err(self.err_hints(
                        p.span,
                        format!("{x} has {name}, but {y} has not"),
                        vec![format!(
                            "{x} is a {}, {y} is a {}",
                            self.lib.qualified(ta.class),
                            self.lib.qualified(tb.class)
                        )],
                    ));
                }
            }
        }
        if stream {
            self.connections.streams.union((p.a.node, p.a.outside), (p.b.node, p.b.outside));
        }
        Ok(())
    }

    fn join_leaf(&mut self, p: Pair) -> R<()> {
        let (x, y) = (self.vars_of(p.a)?, self.vars_of(p.b)?);
        let (cx, cy) = (self.node(p.a.node).connection, self.node(p.b.node).connection);
        if cx != cy {
            let (a, b) = (self.path(p.a.node), self.path(p.b.node));
            return Err(self.err(
                p.span,
                format!("{a} and {b} cannot be connected: only one of them is a flow or stream variable"),
            ));
        }
        if x.len() != y.len() {
            let (a, b) = (self.path(p.a.node), self.path(p.b.node));
            return Err(self.err(p.span, format!("{a} has {} elements, but {b} has {}", x.len(), y.len())));
        }
        let fixed = |v: VariabilityPrefix| matches!(v, VariabilityPrefix::Parameter | VariabilityPrefix::Constant);
        let (fa, fb) = (fixed(self.node(p.a.node).variability), fixed(self.node(p.b.node).variability));
        if fa != fb {
            let (a, b) = (self.path(p.a.node), self.path(p.b.node));
            return Err(self.err(p.span, format!("{a} and {b} cannot be connected: only one of them is a parameter")));
        }
        if fa {
            // Parameters are not set by connections: they have to agree (Modelica 3.6, section 9.2).
            for (u, v) in x.into_iter().zip(y) {
                let (a, b) = (self.var_expr(u), self.var_expr(v));
                let same = self.dae.pool.bin(Binary::Eq, a, b);
                if self.dae.pool.as_const(same) == Some(1.0) {
                    continue;
                }
                let (a, b) = (self.dae.vars[u].name.clone(), self.dae.vars[v].name.clone());
                let text = format!("{a} and {b} are connected, but their values differ");
                let message = Message { pieces: vec![Piece::Text(text)] };
                let condition = self.row(same);
                let origin = Origin { span: Some(p.span), instance: self.instance_shared(self.top), note: "" };
                self.dae.assertions.push(Assertion { condition, message, error: true, guard: None, origin });
            }
            return Ok(());
        }
        let compatible = |a: &VarType, b: &VarType| match (a, b) {
            (VarType::Enumeration(_), VarType::Enumeration(_)) => true,
            (a, b) => a == b,
        };
        for (u, v) in x.into_iter().zip(y) {
            if !compatible(&self.dae.vars[u].ty, &self.dae.vars[v].ty) {
                let (a, b) = (self.dae.vars[u].name.clone(), self.dae.vars[v].name.clone());
                return Err(self.err(p.span, format!("{a} and {b} have different types and cannot be connected")));
            }
            match cx {
                Connection::Flow => {
                    self.connections.flow_span.entry(u).or_insert(p.span);
                    self.connections.flows.union((u, p.a.outside), (v, p.b.outside));
                }
                Connection::Stream => {}
                Connection::Potential => {
                    self.join_signals(p, u, v);
                    if u != v && self.connections.potentials.union(u, v) {
                        let (a, b) = (self.var_expr(u), self.var_expr(v));
                        let ty = if self.is_real_var(u) { Ty::Real } else { Ty::Int };
                        let r = self.residual(a, b, ty);
                        self.connections.equations.push((r, p.span, p.within));
                    }
                }
            }
        }
        Ok(())
    }

    fn join_signals(&mut self, p: Pair, u: VarId, v: VarId) {
        let causal = |e: End| self.node(e.node).causality != Causality::None;
        if !causal(p.a) && !causal(p.b) {
            return;
        }
        for (e, v) in [(p.a, u), (p.b, v)] {
            // An output of a component, or a public input of the class itself.
            let node = self.node(e.node);
            let gives = if e.outside { Causality::Input } else { Causality::Output };
            if node.causality == gives && !(e.outside && node.protected) {
                self.connections.sources.entry((p.within, v, e.outside)).or_insert(p.span);
            }
        }
        self.connections.joined.entry((p.within, u)).or_insert(p.span);
        self.connections.signals.union((p.within, u, p.a.outside), (p.within, v, p.b.outside));
    }

    /// Connectors whose declaration says how often they are to be connected from outside, with `mustBeConnected` and
    /// `mayOnlyConnectOnce` (Modelica 3.6, section 18.8).
    fn check_wanted_connections(&mut self) {
        let mut wanted = Vec::new();
        for k in 0..self.nodes.len() as u32 {
            let (n, node) = (NodeId(k), self.node(NodeId(k)));
            let Some((_, Component { annotation: Some(a), name, .. }, _)) = node.clause else { continue };
            if !node.live || node.parent == Some(self.top) || !node.template.as_ref().is_some_and(|t| t.is_connector())
            {
                continue;
            }
            for arg in &a.args {
                let Some(what @ ("mustBeConnected" | "mayOnlyConnectOnce")) = arg.name().map(|n| n.as_str()) else {
                    continue;
                };
                if let Some(ExprKind::String(why)) =
                    arg.modification().and_then(|m| m.binding.as_ref()).map(|e| &e.kind)
                {
                    wanted.push((n, what == "mustBeConnected", why.to_string(), name.span));
                }
            }
        }
        if wanted.is_empty() {
            return;
        }
        let mut count: FxHashMap<(NodeId, usize), usize> = FxHashMap::default();
        for e in self.connections.pairs.iter().flat_map(|p| [p.a, p.b]).filter(|e| !e.outside) {
            *count.entry((e.node, e.element.unwrap_or(0))).or_default() += 1;
        }
        for (n, must, why, declared) in wanted {
            let Ok(dims) = self.dims(n) else { continue };
            let structured = self.template(n).is_ok_and(|t| t.builtin.is_none());
            // The elements of arrays of structured connectors are nodes of their own.
            let elements = match structured && !dims.is_empty() {
                true => 0,
                false => dims.iter().product(),
            };
            for k in 0..elements {
                let found = count.get(&(n, k)).copied().unwrap_or(0);
                let what = match must {
                    true if found == 0 => "must be connected",
                    false if found > 1 => "may be connected only once",
                    _ => continue,
                };
                let text = format!("{} {what}: {why}", self.path(n));
                let within = self.node(n).parent.unwrap_or(n);
                self.report(self.err(declared, text), within);
                break;
            }
        }
    }

    /// At most one member of a set of connected signals may give the value.
    fn check_signals(&mut self) {
        for group in self.connections.signals.groups() {
            let mut sources: Vec<(Span, VarId)> =
                group.iter().filter_map(|k| self.connections.sources.get(k).map(|&span| (span, k.1))).collect();
            sources.sort_by_key(|s| (s.0.file, s.0.start));
            let [first, .., last] = &sources[..] else { continue };
            let given: Vec<VarId> = sources.iter().map(|s| s.1).collect();
            let all: Vec<VarId> = group.iter().map(|k| k.1).collect();
            if self.joins_states(&given, &all) {
                continue;
            }
            let (a, b) = (self.dae.vars[first.1].name.clone(), self.dae.vars[last.1].name.clone());
            let mut e = self.err_hints(
                last.0,
                format!("{a} and {b} are connected, and both give the value: only one signal can be the source"),
                vec!["connect an output (or an input of the class itself) to inputs only".into()],
            );
            if first.0 != last.0 {
                e.labels.push(saltus_base::Label { span: first.0, message: format!("{a} is connected here") });
            }
            self.report(e, group[0].0);
        }
    }

    /// Connected inputs of components to which no signal gives a value; `determined` are the variables that equations do.
    pub(crate) fn sourceless(&mut self, determined: &FxHashSet<VarId>) -> Vec<saltus_base::Diagnostic> {
        let mut found = Vec::new();
        for group in self.connections.signals.groups() {
            if group.iter().any(|k| self.connections.sources.contains_key(k) || k.2 || determined.contains(&k.1)) {
                continue;
            }
            let mut names: Vec<&str> = group.iter().map(|k| self.dae.vars[k.1].name.as_str()).collect();
            names.sort_unstable();
            let span = group.iter().find_map(|k| self.connections.joined.get(&(k.0, k.1)));
            found.push(
                saltus_base::Diagnostic::warning(
                    saltus_base::Stage::FrontEnd,
                    span.copied().unwrap_or(Span::NONE),
                    format!(
                        "{} are inputs that are connected to each other only: nothing gives them a value",
                        names.join(", ")
                    ),
                )
                .within(self.instance_text(group[0].0))
                .hint("connect an output to one of them, or give it a value by an equation"),
            );
        }
        found
    }

    // ---- overconstrained -----------------------------------------------------------------------------------------

    fn spanning_tree(&mut self) {
        let c = &mut self.connections;
        if c.edges.is_empty() && c.branches.is_empty() && c.potential_roots.is_empty() && c.roots.is_empty() {
            return;
        }
        let mut sets: Sets<NodeId> = Sets::default();
        let mut rooted: FxHashSet<u32> = FxHashSet::default();
        for &r in &c.roots {
            sets.at(r);
        }
        for &(r, _) in &c.potential_roots {
            sets.at(r);
        }
        for &(a, b) in &c.branches {
            sets.union(a, b);
        }
        let mut twice = None;
        for &r in &c.roots {
            let i = sets.at(r);
            let i = sets.find(i);
            if !rooted.insert(i) && c.roots.iter().filter(|&&q| q == r).count() == 1 {
                twice = twice.or(Some(r));
            }
        }
        for e in &mut c.edges {
            let (a, b) = (sets.at(e.a), sets.at(e.b));
            let (a, b) = (sets.find(a), sets.find(b));
            let both = rooted.contains(&a) && rooted.contains(&b);
            if a == b || both {
                e.kept = false;
                continue;
            }
            let r = rooted.remove(&a) | rooted.remove(&b);
            sets.union(e.a, e.b);
            let i = sets.at(e.a);
            let i = sets.find(i);
            if r {
                rooted.insert(i);
            }
        }
        // Components without a definite root get the potential root of least priority number.
        let mut best: FxHashMap<u32, (f64, NodeId)> = FxHashMap::default();
        for &(n, p) in &c.potential_roots {
            let i = sets.at(n);
            let i = sets.find(i);
            if rooted.contains(&i) {
                continue;
            }
            let e = best.entry(i).or_insert((p, n));
            if p < e.0 {
                *e = (p, n);
            }
        }
        let mut starts: Vec<NodeId> = c.roots.clone();
        let mut chosen: Vec<NodeId> = best.values().map(|b| b.1).collect();
        chosen.sort();
        starts.extend(&chosen);
        c.is_root = starts.iter().copied().collect();
        // Distances from the roots over the tree.
        let mut neighbours: FxHashMap<NodeId, Vec<NodeId>> = FxHashMap::default();
        for &(a, b) in &c.branches {
            neighbours.entry(a).or_default().push(b);
            neighbours.entry(b).or_default().push(a);
        }
        for e in c.edges.iter().filter(|e| e.kept) {
            neighbours.entry(e.a).or_default().push(e.b);
            neighbours.entry(e.b).or_default().push(e.a);
        }
        let mut queue: std::collections::VecDeque<NodeId> = starts.into_iter().collect();
        for &n in &queue {
            c.level.insert(n, 0);
        }
        while let Some(n) = queue.pop_front() {
            let l = c.level[&n];
            if let Some(list) = neighbours.get(&n) {
                for &m in list {
                    if let std::collections::hash_map::Entry::Vacant(e) = c.level.entry(m) {
                        e.insert(l + 1);
                        queue.push_back(m);
                    }
                }
            }
        }
        if let Some(r) = twice {
            let path = self.path(r);
            let span = self.node(r).clause.map_or(Span::NONE, |c| c.1.name.span);
            let e =
                self.err(span, format!("{path} is a root, and so is another one that Connections.branch joins it to"));
            self.diagnostics.push(*e);
            return;
        }
        let c = &self.connections;
        if let Some(&(lost, _)) = c.branches.iter().find(|(a, _)| !c.level.contains_key(a)) {
            let span = self.node(lost).clause.map_or(Span::NONE, |c| c.1.name.span);
            let path = self.path(lost);
            self.diagnostics.push(
                saltus_base::Diagnostic::warning(
                    saltus_base::Stage::FrontEnd,
                    span,
                    format!("{path} and what is connected to it have no root"),
                )
                .hint("say Connections.root or Connections.potentialRoot of one of them, where its value is known"),
            );
        }
    }

    /// `Connections.isRoot(…)` and friends as expressions.
    pub(crate) fn connections_call(&mut self, env: &Env, name: &str, c: &Call, span: Span) -> R<Value> {
        let Some(a) = c.args.first() else {
            return Err(self.err(span, format!("Connections.{name} needs an argument")));
        };
        if !matches!(name, "isRoot" | "rooted") {
            return Err(self.err(span, format!("Connections.{name} is not an expression")));
        }
        let node = self.graph_node(env, a)?;
        let v = match name {
            "isRoot" => node.is_some_and(|n| self.connections.is_root.contains(&n)),
            _ => {
                // Nearer to the root than the other end of its branch.
                let Some(n) = node else { return Ok(self.num(0.0, Ty::Bool)) };
                let l = self.connections.level.get(&n).copied().unwrap_or(0);
                self.connections.branches.iter().filter(|(a, b)| *a == n || *b == n).all(|&(a, b)| {
                    let o = if a == n { b } else { a };
                    self.connections.level.get(&o).is_none_or(|&k| l <= k)
                })
            }
        };
        Ok(self.num(f64::from(v), Ty::Bool))
    }

    // ---- equations -----------------------------------------------------------------------------------------------

    pub(crate) fn connection_equations(&mut self) {
        self.check_signals();
        for (r, span, within) in std::mem::take(&mut self.connections.equations) {
            self.push_connection(r, span, within, "connection");
        }
        // Flow sums.
        for g in self.connections.flows.groups() {
            let mut terms = Vec::new();
            let mut span = Span::NONE;
            for (v, outside) in &g {
                let x = self.var_expr(*v);
                terms.push(if *outside { self.dae.pool.neg(x) } else { x });
                if span.is_none() {
                    span = self.connections.flow_span.get(v).copied().unwrap_or(Span::NONE);
                }
            }
            let terms = self.partial_sums(terms, span);
            let s = self.sum(&terms);
            self.push_connection(s, span, self.top, "connection");
        }
        // Flows that nothing is connected to from outside.
        for i in 0..self.nodes.len() {
            let n = NodeId(i as u32);
            if self.node(n).connection != Connection::Flow || self.node(n).var.is_none() || !self.node(n).live {
                continue;
            }
            if !self.in_connector(n) {
                continue;
            }
            let span = self.node(n).clause.map_or(Span::NONE, |c| c.1.name.span);
            let Ok(vars) = self.vars_of(End { node: n, element: None, outside: false }) else { continue };
            for v in vars {
                if !self.connections.flows.index.contains_key(&(v, false)) {
                    let x = self.var_expr(v);
                    self.push_connection(x, span, n, "unconnected flow");
                }
            }
        }
        // Broken loops of overconstrained graphs.
        for e in std::mem::take(&mut self.connections.edges) {
            if e.kept {
                continue;
            }
            let Some(p) = e.pair else { continue };
            if let Err(d) = self.equality_constraint(e.a, e.b, p) {
                self.report(d, p.within);
            }
        }
        // Streams of connectors seen from inside.
        let mut groups: Vec<Rc<Vec<(NodeId, bool)>>> = Vec::new();
        for k in self.connections.streams.items.clone() {
            if let Some(g) = self.connections.stream_groups.get(&k)
                && g[0] == k
            {
                groups.push(g.clone());
            }
        }
        for g in groups {
            for &(n, outside) in g.iter() {
                if !outside {
                    continue;
                }
                for c in self.below(n) {
                    if self.node(c).connection == Connection::Stream
                        && let Err(e) = self.outside_stream(n, c, &g)
                    {
                        self.report(e, n);
                    }
                }
            }
        }
        self.unused_bus_members();
    }

    /// The sum of many flows is taken in a tree of hidden partial sums: rows stay short and share their templates.
    fn partial_sums(&mut self, mut terms: Vec<ExprId>, span: Span) -> Vec<ExprId> {
        const WIDTH: usize = 16;
        while terms.len() > 2 * WIDTH {
            let mut sums = Vec::with_capacity(terms.len() / WIDTH + 1);
            for part in terms.chunks(WIDTH) {
                let [_, _, ..] = part else {
                    sums.extend(part);
                    continue;
                };
                let origin = Origin { span: Some(span), note: "connection", ..Origin::default() };
                let v = self.hidden("flow", VarType::Real, Variability::Continuous, origin);
                let (x, s) = (self.var_expr(v), self.sum(part));
                let r = self.dae.pool.sub(x, s);
                self.push_connection(r, span, self.top, "connection");
                sums.push(x);
            }
            terms = sums;
        }
        terms
    }

    fn in_connector(&mut self, n: NodeId) -> bool {
        let mut k = self.node(n).parent;
        while let Some(p) = k {
            if p == self.top {
                return false;
            }
            match self.template(p) {
                Ok(t) if t.is_connector() => return true,
                _ => {}
            }
            k = self.node(p).parent;
        }
        false
    }

    fn push_connection(&mut self, residual: ExprId, span: Span, within: NodeId, note: &'static str) {
        let row = self.row(residual);
        let origin = Origin { span: Some(span), instance: self.instance_shared(within), note };
        self.dae.equations.push(Equation { row, guard: None, origin });
    }

    fn equality_constraint(&mut self, a: NodeId, b: NodeId, p: Pair) -> R<()> {
        let Some(Found::Class(f)) = self.member_from(Scope { node: a, part: 0 }, Name::new("equalityConstraint"))?
        else {
            return Ok(());
        };
        let node = self.class_node(&f);
        let env = Env::model(Scope { node: p.within, part: 0 });
        let (x, y) = (self.node_value(&env, a, p.span)?, self.node_value(&env, b, p.span)?);
        let v = self.apply(&env, &FuncValue { node, bound: Vec::new() }, vec![x, y], Vec::new(), p.span)?;
        for e in v.scalar_list() {
            self.push_connection(e, p.span, p.within, "connection");
        }
        Ok(())
    }

    /// A bus variable that only buses know has no value; it is fixed to its default so that the model stays complete.
    fn unused_bus_members(&mut self) {
        let mut used: FxHashSet<VarId> = FxHashSet::default();
        for eq in self.dae.equations.as_slice() {
            if eq.origin.note != "connection" {
                used.extend(eq.row.args.iter().filter_map(|a| a.variable()));
            }
        }
        for c in &self.dae.calls {
            used.extend(c.outputs.iter().copied());
            used.extend(c.args.iter().flat_map(|r| r.args.iter().filter_map(|a| a.variable())));
        }
        for w in &self.dae.whens {
            for b in &w.branches {
                for a in &b.actions {
                    if let saltus_dae::Action::Assign { var, .. } = a {
                        used.insert(*var);
                    }
                }
            }
        }
        let mut bus: FxHashSet<VarId> = FxHashSet::default();
        for i in 0..self.nodes.len() {
            let n = NodeId(i as u32);
            // Flows are determined by the sums.
            if self.node(n).var.is_none() || !self.node(n).live || self.node(n).connection == Connection::Flow {
                continue;
            }
            let Some(p) = self.node(n).parent else { continue };
            let mut k = Some(p);
            let mut expandable = false;
            while let Some(q) = k {
                if q == self.top {
                    break;
                }
                if let Ok(t) = self.template(q) {
                    if t.expandable {
                        expandable = true;
                        break;
                    }
                    if !t.is_connector() && !t.is_record() {
                        break;
                    }
                }
                k = self.node(q).parent;
            }
            if expandable && let Ok(v) = self.vars_of(End { node: n, element: None, outside: false }) {
                bus.extend(v);
            }
        }
        if bus.is_empty() {
            return;
        }
        let mut seen: FxHashSet<VarId> = FxHashSet::default();
        let mut fix = Vec::new();
        for g in self.connections.potentials.groups() {
            seen.extend(&g);
            if g.iter().all(|v| bus.contains(v) && !used.contains(v)) {
                fix.push(g[0]);
            }
        }
        let mut alone: Vec<VarId> = bus.iter().copied().filter(|v| !seen.contains(v) && !used.contains(v)).collect();
        alone.sort();
        fix.extend(alone);
        for v in fix {
            if self.dae.vars[v].variability <= Variability::Parameter {
                continue;
            }
            let x = self.var_expr(v);
            let zero = match self.dae.vars[v].start.clone() {
                Some(s) => self.rows.open(&mut self.dae.pool, &s),
                None => self.dae.pool.num(0.0),
            };
            let r = if self.dae.vars[v].ty == VarType::Real {
                self.dae.pool.sub(x, zero)
            } else {
                self.dae.pool.intern(XNode::Binary(Binary::Sub, x, zero))
            };
            let span = self.dae.vars[v].origin.span.unwrap_or(Span::NONE);
            self.push_connection(r, span, self.top, "unused bus variable");
        }
    }

    // ---- streams -------------------------------------------------------------------------------------------------

    /// The flow variable beside a stream variable.
    fn flow_of(&mut self, connector: NodeId) -> R<Option<NodeId>> {
        for c in self.below(connector) {
            if self.node(c).connection == Connection::Flow && self.template(c)?.builtin.is_some() {
                return Ok(Some(c));
            }
        }
        Ok(None)
    }

    fn expr_of_leaf(&mut self, n: NodeId, k: usize) -> R<ExprId> {
        match self.node(n).var {
            Some(v) => Ok(self.var_expr(VarId::new(v.index() + k))),
            None => Err(self.err(Span::NONE, format!("{} has no variables", self.path(n)))),
        }
    }

    /// A flow that can never leave its component contributes nothing to the mixture.
    fn never_leaves(&mut self, flow: NodeId) -> bool {
        let Ok(m) = self.leaf_mod(flow) else { return false };
        let Some(b) = m.child(Name::new("min")).and_then(|c| c.binding.clone()) else { return false };
        match self.binding_value(&b, Mode::Konst) {
            Ok(v) => self.const_of(&v).is_some_and(|x| x >= 0.0),
            Err(_) => false,
        }
    }

    /// The mixture that flows into connector `of` of the set, from all others. Of two connectors each gets what the other
    /// gives, whatever the signs of the flows; an outside connector gets something in any case.
    fn mixture(
        &mut self,
        group: &[(NodeId, bool)],
        of: (NodeId, bool),
        name: Name,
        k: usize,
        depth: usize,
    ) -> R<ExprId> {
        if depth > 50 {
            return Err(self.err(self.part_span(of.0), "the stream connections go round in a circle"));
        }
        let mut others: Vec<(NodeId, bool, ExprId)> = Vec::new();
        let mut idle = Vec::new();
        for &(n, outside) in group {
            if (n, outside) == of {
                continue;
            }
            let Some(flow) = self.flow_of(n)? else { continue };
            idle.push(group.len() > 2 && !outside && self.never_leaves(flow));
            let m = self.expr_of_leaf(flow, 0)?;
            // Towards the mixing point: out of inside connectors, into outside ones.
            let towards = if outside { m } else { self.dae.pool.neg(m) };
            others.push((n, outside, towards));
        }
        if !of.1 || idle.contains(&false) {
            let mut idle = idle.into_iter();
            others.retain(|_| idle.next() == Some(false));
        }
        let mut values = Vec::new();
        for &(n, outside, _) in &others {
            let h = if outside {
                self.in_stream(n, name, k, depth + 1)?
            } else {
                match self.member_from(Scope { node: n, part: 0 }, name)? {
                    Some(Found::Component(c)) => self.expr_of_leaf(c, k)?,
                    _ => return Err(self.err(self.part_span(n), format!("there is no {name} here"))),
                }
            };
            values.push(h);
        }
        match others.len() {
            0 => match self.member_from(Scope { node: of.0, part: 0 }, name)? {
                Some(Found::Component(c)) => self.expr_of_leaf(c, k),
                _ => Err(self.err(self.part_span(of.0), format!("there is no {name} here"))),
            },
            1 => Ok(values[0]),
            _ => {
                let eps = self.dae.pool.num(1e-10);
                let (mut num, mut den) = (Vec::new(), Vec::new());
                for ((_, _, m), h) in others.iter().zip(&values) {
                    let w = self.dae.pool.bin(Binary::Max, *m, eps);
                    num.push(self.dae.pool.mul(w, *h));
                    den.push(w);
                }
                let (n, d) = (self.sum(&num), self.sum(&den));
                Ok(self.dae.pool.div(n, d))
            }
        }
    }

    /// `inStream` of element `k` of the stream variable `name` of a connector, seen from inside its component.
    fn in_stream(&mut self, connector: NodeId, name: Name, k: usize, depth: usize) -> R<ExprId> {
        match self.connections.stream_groups.get(&(connector, false)).cloned() {
            Some(g) => self.mixture(&g, (connector, false), name, k, depth),
            None => match self.member_from(Scope { node: connector, part: 0 }, name)? {
                Some(Found::Component(c)) => self.expr_of_leaf(c, k),
                _ => Err(self.err(self.part_span(connector), format!("there is no {name} here"))),
            },
        }
    }

    fn outside_stream(&mut self, connector: NodeId, leaf: NodeId, group: &[(NodeId, bool)]) -> R<()> {
        let name = self.node(leaf).name;
        let n: usize = self.dims(leaf)?.iter().product();
        for k in 0..n {
            let h = self.expr_of_leaf(leaf, k)?;
            let m = self.mixture(group, (connector, true), name, k, 0)?;
            let r = self.dae.pool.sub(h, m);
            let span = self.node(leaf).clause.map_or(Span::NONE, |c| c.1.name.span);
            self.push_connection(r, span, connector, "connection");
        }
        Ok(())
    }

    pub(crate) fn stream_call(&mut self, env: &Env, name: &str, c: &Call, span: Span) -> R<Value> {
        let Some(Expr { kind: ExprKind::Ref(r), .. }) = c.args.first() else {
            return Err(self.err(span, format!("{name} needs a stream variable")));
        };
        if env.mode == Mode::Shape {
            return self.eval_ref(env, r);
        }
        let Target::Nodes(nodes, dims, subs) = self.resolve(env, r)? else {
            return Err(self.err(span, format!("{name} needs a stream variable")));
        };
        if dims == [usize::MAX] {
            return Err(self.err(span, format!("{} does not exist", ref_text(r))));
        }
        let mut parts = Vec::new();
        for n in nodes {
            let Some(connector) = self.node(n).parent else { continue };
            if self.node(n).connection != Connection::Stream {
                return Err(self.err(span, format!("{name} needs a stream variable; {} is none", ref_text(r))));
            }
            let leaf = self.node(n).name;
            let d = self.dims(n)?;
            let count: usize = d.iter().product();
            let mut e = Vec::new();
            for k in 0..count {
                let mut x = self.in_stream(connector, leaf, k, 0)?;
                if name == "actualStream" {
                    let h = self.expr_of_leaf(n, k)?;
                    if let Some(flow) = self.flow_of(connector)? {
                        let m = self.expr_of_leaf(flow, 0)?;
                        let zero = self.dae.pool.num(0.0);
                        let c = self.dae.pool.bin(Binary::Gt, m, zero);
                        x = self.dae.pool.select(c, x, h);
                    }
                }
                e.push(x);
            }
            let v = Value::array(Ty::Real, d.to_vec(), e);
            parts.push(self.subscript_value(env, v, subs, span)?);
        }
        if dims.is_empty() && parts.len() == 1 {
            return Ok(parts.remove(0));
        }
        self.stacked(&dims, &parts, span)
    }
}

fn has_connect(eqs: &[AstEquation]) -> bool {
    eqs.iter().any(|e| match &e.kind {
        EquationKind::Connect(..) => true,
        EquationKind::For { body, .. } => has_connect(body),
        EquationKind::If { branches, otherwise } => {
            branches.iter().any(|(_, b)| has_connect(b)) || has_connect(otherwise)
        }
        EquationKind::Call(Expr { kind: ExprKind::Call(c), .. }) => {
            matches!(&c.function.parts[..], [p, _] if p.name.name == "Connections")
        }
        _ => false,
    })
}
