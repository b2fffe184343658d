//! From the instance tree to variables: instantiation, allocation, attributes and bindings.

use crate::eval::{Target, suggest, visit_refs};
use crate::instance::{NodeKind, Slot};
use crate::modifier::{Binding, Mod, NodeId, Scope};
use crate::template::{MemberKind, Template};
use crate::value::{Ty, Value};
use crate::{Env, Flattener, Mode, R};
use saltus_base::{Diagnostic, Span, Stage};
use saltus_dae::{
    Causality as DaeCausality, Enumeration, Equation, Origin, StateSelect, VarId, VarType, Variability, Variable,
};
use saltus_expr::{Binary, Node as XNode};
use saltus_syntax::ast::{Causality, Component, ExprKind, VariabilityPrefix};
use std::rc::Rc;
use std::sync::Arc;

impl<'t> Flattener<'t> {
    /// Makes everything below a component.
    pub(crate) fn instantiate(&mut self, n: NodeId, depth: usize) {
        if self.endless {
            return;
        }
        if depth > 150 {
            let e = self.err(self.part_span(n), "components are nested too deeply");
            self.report(e, n);
            self.endless = true;
            return;
        }
        if let Err(e) = self.instantiate_node(n, depth) {
            self.report(e, n);
        }
    }

    fn instantiate_node(&mut self, n: NodeId, depth: usize) -> R<()> {
        if self.node(n).outer.is_some() {
            self.real(n)?;
            return Ok(());
        }
        let t = self.template(n)?;
        if t.builtin.is_some() {
            self.dims(n)?;
            return Ok(());
        }
        let dims = self.dims(n)?;
        if !dims.is_empty() {
            let el = self.element_nodes(n)?;
            for &e in el.iter() {
                self.instantiate(e, depth + 1);
            }
            return Ok(());
        }
        self.check_modifiers(n)?;
        for (i, m) in t.members.iter().enumerate() {
            if !matches!(m.kind, MemberKind::Component { .. }) {
                continue;
            }
            match self.child(n, i as u32) {
                Ok(Slot::Node(c)) => self.instantiate(c, depth + 1),
                Ok(_) => {}
                Err(e) => self.report(e, n),
            }
        }
        Ok(())
    }

    /// Modifiers of things that do not exist.
    fn check_modifiers(&mut self, n: NodeId) -> R<()> {
        let t = self.template(n)?;
        let mods = self.node(n).cref.mods.clone();
        for part in 0..t.parts.len() as u16 {
            let m = self.effective(n, part)?;
            for (name, c) in &m.children {
                let Some(&i) = t.index.get(name) else { continue };
                let declared = match &t.members[i as usize].kind {
                    MemberKind::Component { clause, component } if t.members[i as usize].part == part => {
                        Some((clause.prefixes.is_final, component.name.span))
                    }
                    _ => None,
                };
                let by_declaration = declared.filter(|d| d.0 && !c.is_empty()).map(|d| d.1);
                if let Some(fixed) = c.violated.or(by_declaration) {
                    self.final_modified(n, *name, c, fixed);
                }
            }
        }
        self.check_extends_modifiers(&t);
        for (name, m) in &mods.children {
            if !t.index.contains_key(name) && !t.expandable {
                let span = m.span.or_else(|| m.binding.as_ref().map(|b| b.span)).unwrap_or(Span::NONE);
                let class = self.lib.qualified(t.class);
                let hints = self.similar_members(n, *name);
                let mut d = Diagnostic::error(Stage::FrontEnd, span, format!("{class} has no {name} to modify"))
                    .within(self.instance_text(n));
                d.hints = hints;
                self.diagnostics.push(d);
            }
        }
        Ok(())
    }

    /// `extends A(y = 1)` where A has no y. Asked once for all instances of a class.
    fn check_extends_modifiers(&mut self, t: &Rc<Template<'t>>) {
        if t.expandable || !self.checked.insert((t.class, t.parts[0].parent)) {
            return;
        }
        for (k, p) in t.parts.iter().enumerate().skip(1) {
            for a in p.modification.iter().flat_map(|m| &m.args) {
                let (Some(name), span) = (a.name(), a.span()) else { continue };
                if self.find_member(t, k as u16, name).is_some() {
                    continue;
                }
                let own: Vec<saltus_base::Name> = t.members.iter().map(|m| m.name).collect();
                let base = self.lib.qualified(p.class);
                let mut e =
                    Box::new(Diagnostic::error(Stage::FrontEnd, span, format!("{base} has no {name} to modify")));
                e.hints = suggest(name.as_str(), own.iter().map(|n| n.as_str()));
                e.labels.push(saltus_base::Label { span: p.def.name.span, message: "this class".into() });
                self.diagnostics.push(*e);
            }
        }
    }

    /// A modifier of something declared or modified `final`.
    fn final_modified(&mut self, n: NodeId, name: saltus_base::Name, m: &crate::modifier::Mod<'t>, fixed: Span) {
        let span = m.binding.as_ref().map(|b| b.span).or(m.span).unwrap_or(fixed);
        let path = self.instance_text(n);
        let d = Diagnostic::error(Stage::FrontEnd, span, format!("{name} is final and cannot be modified"))
            .within(path)
            .label(fixed, "made final here")
            .hint("leave out this modifier, or the `final`");
        self.diagnostics.push(d);
    }

    /// Gives every leaf its variables, in order of the tree.
    pub(crate) fn allocate(&mut self, n: NodeId) {
        if self.node(n).outer.is_some() || self.node(n).var.is_some() {
            return;
        }
        let Ok(t) = self.template(n) else { return };
        if let Some(ty) = t.builtin {
            let Ok(dims) = self.dims(n) else { return };
            let parent = self.node(n).parent.map(|p| self.instance_shared(p)).unwrap_or_default();
            let base = match self.node(n).kind {
                NodeKind::Component if !parent.is_empty() => {
                    let name = self.node(n).name.as_str();
                    let mut base = String::with_capacity(parent.len() + 1 + name.len());
                    base.push_str(&parent);
                    base.push('.');
                    base.push_str(name);
                    base
                }
                _ => self.path(n),
            };
            if ty == Ty::Clock {
                let first = self.dae.vars.next_id();
                self.is_clock_var(first, dims.iter().product());
            }
            let ty = self.var_type(ty);
            let variability = match self.node(n).variability {
                VariabilityPrefix::Constant => Variability::Constant,
                VariabilityPrefix::Parameter => Variability::Parameter,
                VariabilityPrefix::Discrete => Variability::Discrete,
                VariabilityPrefix::None if ty == VarType::Real => Variability::Continuous,
                VariabilityPrefix::None => Variability::Discrete,
            };
            self.node_mut(n).var = Some(self.dae.vars.next_id());
            let count: usize = dims.iter().product();
            let mut index = vec![1usize; dims.len()];
            let (span, description) = match self.node(n).clause {
                Some((_, c, _)) => {
                    let description = self.descriptions.entry(c).or_insert_with(|| c.description.as_str().into());
                    (c.name.span, description.clone())
                }
                None => (Span::NONE, Arc::default()),
            };
            let causality = self.boundary(n, &base);
            for _ in 0..count {
                let name = if dims.is_empty() {
                    base.clone()
                } else {
                    let i: Vec<String> = index.iter().map(|i| i.to_string()).collect();
                    format!("{base}[{}]", i.join(","))
                };
                let mut v = Variable::new(name, ty.clone(), variability);
                v.causality = causality;
                v.description = description.clone();
                v.origin = Origin { span: Some(span), instance: parent.clone(), note: "" };
                self.dae.vars.push(v);
                for d in (0..dims.len()).rev() {
                    index[d] += 1;
                    if index[d] <= dims[d] {
                        break;
                    }
                    index[d] = 1;
                }
            }
            return;
        }
        for c in self.below(n) {
            self.allocate(c);
        }
    }

    fn boundary(&self, n: NodeId, name: &str) -> DaeCausality {
        // Only what stands at the top, directly or inside a connector there, belongs to the boundary.
        let node = self.node(n);
        let at_top = node.parent == Some(self.top) && !node.protected;
        match node.causality {
            Causality::Input if at_top && self.computed.iter().any(|c| c == name) => DaeCausality::Local,
            Causality::Input if at_top => DaeCausality::Input,
            Causality::Output if at_top => DaeCausality::Output,
            _ => DaeCausality::Local,
        }
    }

    /// The existing components directly below: elements or children.
    pub(crate) fn below(&mut self, n: NodeId) -> Vec<NodeId> {
        if let Some(e) = &self.node(n).elements {
            return e.to_vec();
        }
        if self.dims(n).is_ok_and(|d| !d.is_empty()) {
            return self.element_nodes(n).map(|e| e.to_vec()).unwrap_or_default();
        }
        let mut out: Vec<NodeId> = self
            .node(n)
            .children
            .iter()
            .filter_map(|s| match s {
                Slot::Node(c) => Some(*c),
                _ => None,
            })
            .collect();
        if n != self.top {
            out.extend(self.extra_order.iter().copied().filter(|&k| self.node(k).parent == Some(n)));
        }
        out
    }

    pub(crate) fn var_type(&mut self, ty: Ty) -> VarType {
        match ty {
            Ty::Real => VarType::Real,
            Ty::Int => VarType::Integer,
            Ty::Bool | Ty::Clock => VarType::Boolean,
            Ty::Str => VarType::String,
            Ty::Object => VarType::Object,
            Ty::Enum(c) => {
                if let Some(&i) = self.enum_index.get(&c) {
                    return VarType::Enumeration(i);
                }
                let i = self.dae.enumerations.len() as u32;
                let e = Enumeration {
                    name: self.lib.qualified(c),
                    literals: self.enum_literals(c).iter().map(|n| n.to_string()).collect(),
                };
                self.dae.enumerations.push(e);
                self.enum_index.insert(c, i);
                VarType::Enumeration(i)
            }
        }
    }

    /// Attributes and bindings of everything below.
    pub(crate) fn declare(&mut self, n: NodeId) {
        if self.node(n).outer.is_some() {
            return;
        }
        let Ok(t) = self.template(n) else { return };
        if self.node(n).kind == NodeKind::Component {
            self.check_elements(n);
        }
        if t.builtin.is_some() {
            if let Err(mut e) = self.declare_leaf(n) {
                // What a modifier got wrong conflicts with the declaration.
                if let Some((clause, c, _)) = self.node(n).clause
                    && !(clause.span.file == e.span.file
                        && clause.span.start <= e.span.start
                        && e.span.end <= clause.span.end)
                {
                    e.labels.push(saltus_base::Label { span: c.name.span, message: "declared here".into() });
                }
                let p = self.node(n).parent.unwrap_or(n);
                self.report(e, p);
            }
            // What the modifiers of a variable say is in its attributes from here on.
            self.node_mut(n).effective = Box::default();
            return;
        }
        for c in self.below(n) {
            self.declare(c);
        }
    }

    /// Annotations of a declaration whose values are Booleans.
    /// Whether a variable or a component around it is not meant for results; what is said closest counts.
    fn hides_result(&self, n: NodeId) -> bool {
        let around = std::iter::successors(Some(n), |&n| self.node(n).parent);
        around.into_iter().find_map(|n| self.annotation_flag(n, "HideResult")).unwrap_or(false)
    }

    fn check_flags(&mut self, n: NodeId) {
        let Some((_, Component { annotation: Some(a), .. }, _)) = self.node(n).clause else { return };
        for arg in &a.args {
            let Some(name) = arg.name().map(|n| n.as_str()) else { continue };
            if !matches!(name, "Evaluate" | "HideResult") {
                continue;
            }
            let value = arg.modification().and_then(|m| m.binding.as_ref()).map(|e| &e.kind);
            let wrong = match value {
                // A parameter may decide.
                Some(ExprKind::Real(_) | ExprKind::Integer(_) | ExprKind::String(_)) | None => {
                    format!("{name} is of type Boolean, so this says nothing")
                }
                Some(ExprKind::Boolean(true)) if name == "Evaluate" => match self.node(n).variability {
                    VariabilityPrefix::Parameter | VariabilityPrefix::Constant => continue,
                    _ => format!("Evaluate speaks of parameters, and {} is a variable", self.path(n)),
                },
                _ => continue,
            };
            if self.warned.insert(arg.span()) {
                let p = self.node(n).parent.unwrap_or(n);
                self.report(Box::new(Diagnostic::warning(Stage::FrontEnd, arg.span(), wrong)), p);
            }
        }
    }

    /// `each` speaks of the elements of an array: one must stand between the modifier and what it modifies.
    fn check_each(&mut self, n: NodeId, b: &Binding<'t>) {
        if !b.each || b.scope == Scope::ROOT || self.warned.contains(&b.span) {
            return;
        }
        let mut at = Some(n);
        while let Some(k) = at.filter(|&k| k != b.scope.node) {
            if self.node(k).kind == NodeKind::Element || self.dims(k).is_ok_and(|d| !d.is_empty()) {
                return;
            }
            at = self.node(k).parent;
        }
        self.warned.insert(b.span);
        let text = format!("`each` stands before a modifier of {}, which is in no array", self.path(n));
        // Libraries do this, too.
        let d = Diagnostic::warning(Stage::FrontEnd, b.span, text).hint("leave out `each`");
        let p = self.node(n).parent.unwrap_or(n);
        self.report(Box::new(d), p);
    }

    /// What is said about single elements must speak of elements that are there.
    fn check_elements(&mut self, n: NodeId) {
        let said = self.node(n).cref.mods.elements.clone();
        if said.is_empty() {
            return;
        }
        let Ok(dims) = self.dims(n) else { return };
        for (index, m) in said {
            let outside = index.len() != dims.len() || index.iter().zip(&*dims).any(|(&k, &d)| k < 1 || k > d);
            if outside {
                let list: Vec<String> = index.iter().map(|k| k.to_string()).collect();
                let (path, list) = (self.path(n), list.join(","));
                let shape = match dims.is_empty() {
                    true => "is no array".to_string(),
                    false => format!("has the shape {}", crate::value::shape_text(&dims)),
                };
                let span = m.span.or(m.binding.as_ref().map(|b| b.span)).unwrap_or(saltus_base::Span::NONE);
                let e = self.err(span, format!("there is no {path}[{list}]: {path} {shape}"));
                self.diagnostics.push(*e);
            }
        }
    }

    fn declare_leaf(&mut self, n: NodeId) -> R<()> {
        let Some(first) = self.node(n).var else { return Ok(()) };
        let t = self.template(n)?;
        let Some(ty) = t.builtin else { return Ok(()) };
        let dims = self.dims(n)?;
        let count: usize = dims.iter().product();
        let m = self.leaf_mod(n)?;
        let at = |k: usize| VarId::new(first.index() + k);
        self.check_flags(n);
        if self.hides_result(n) {
            (0..count).for_each(|k| self.dae.vars[at(k)].unshown = true);
        }
        if self.annotated(n, "__Saltus_conserved") {
            self.dae.conserved.extend((0..count).map(at));
        }
        if let Some(tear) = self.annotation_flag(n, "__Saltus_tear") {
            for v in (0..count).map(at) {
                self.dae.vars[v].tear = Some(tear);
                self.dae.vars[v].marked |= tear;
            }
        }
        for (name, c) in &m.children {
            if let Some(fixed) = c.violated {
                let p = self.node(n).parent.unwrap_or(n);
                self.final_modified(p, *name, c, fixed);
            }
            let Some(b) = &c.binding else { continue };
            self.check_each(n, b);
            let known = attributes(ty);
            match name.as_str() {
                other if !known.contains(&other) => {
                    let hints = suggest(other, known.iter().copied());
                    let text = format!("{} has no attribute {name}", ty.text());
                    let e = self.err_hints(c.span.unwrap_or(b.span), text, hints);
                    self.report(e, n);
                }
                "unbounded" => {}
                "quantity" | "unit" | "displayUnit" => {
                    let v = self.binding_value(b, Mode::Konst)?;
                    if v.ty() != Some(Ty::Str) {
                        let message =
                            format!("{}.{name} is of type String, but the value is {}", self.path(n), v.describe());
                        return Err(self.err(b.span, message));
                    }
                    let u: Vec<Value> = v.elements();
                    for k in 0..count {
                        let x = if u.len() == count { &u[k] } else { &u[0] };
                        let s = self.str_of(x).unwrap_or_default();
                        let var = &mut self.dae.vars[at(k)];
                        match name.as_str() {
                            "unit" => var.unit = s.as_str().into(),
                            "displayUnit" => var.display_unit = s.as_str().into(),
                            _ => {}
                        }
                    }
                }
                "start" | "min" | "max" | "nominal" => {
                    let v = self.binding_value(b, Mode::Model)?;
                    if b.each && v.rank() > 0 && v.rank() == dims.len() && self.warned.insert(b.span) {
                        let text = format!("`each {name}` stands before an array: every element would get all of it");
                        let d = saltus_base::Diagnostic::warning(saltus_base::Stage::FrontEnd, b.span, text)
                            .hint("leave out `each` to give the elements different values");
                        self.diagnostics.push(d);
                    }
                    let v = self.fit_as(v, &dims, ty, b.span, &|me| format!("{}.{name}", me.path(n)))?;
                    if self.value_variability(&v) > Variability::Parameter && self.warned.insert(b.span) {
                        let text = format!("{}.{name} must be a parameter expression", self.path(n));
                        self.report(self.err(b.span, text), n);
                    }
                    let e = v.scalar_list();
                    for k in 0..count {
                        let row = self.row(e[k]);
                        let var = &mut self.dae.vars[at(k)];
                        match name.as_str() {
                            "start" => var.start = Some(row),
                            "min" => var.min = Some(row),
                            "max" => var.max = Some(row),
                            _ => var.nominal = Some(row),
                        }
                    }
                }
                "fixed" => {
                    let v = self.binding_value(b, Mode::Konst)?;
                    let v = self.fit_as(v, &dims, Ty::Bool, b.span, &|me| format!("{}.fixed", me.path(n)))?;
                    for k in 0..count {
                        self.dae.vars[at(k)].fixed = self.bool_of(&v.at(k));
                    }
                }
                "stateSelect" => {
                    let v = self.binding_value(b, Mode::Konst)?;
                    if !matches!(v.ty(), Some(Ty::Enum(_))) {
                        let message = format!(
                            "{}.stateSelect is of type StateSelect, but the value is {}",
                            self.path(n),
                            v.describe()
                        );
                        return Err(self.err(b.span, message));
                    }
                    let el = v.elements();
                    for k in 0..count {
                        let x = if el.len() == count { &el[k] } else { &el[0] };
                        self.dae.vars[at(k)].state_select = match self.const_of(x).unwrap_or(3.0) as i64 {
                            1 => StateSelect::Never,
                            2 => StateSelect::Avoid,
                            4 => StateSelect::Prefer,
                            5 => StateSelect::Always,
                            _ => StateSelect::Default,
                        };
                    }
                }
                _ => {}
            }
        }
        for (index, c) in &m.elements {
            let Some(k) = crate::instance::position(index, &dims) else { continue };
            self.declare_element(n, at(k), ty, c)?;
        }
        let variability = match self.node(n).variability {
            VariabilityPrefix::Constant => Variability::Constant,
            VariabilityPrefix::Parameter => Variability::Parameter,
            _ => Variability::Continuous,
        };
        let parameter = variability <= Variability::Parameter;
        let Some(b) = m.binding.clone() else {
            if variability == Variability::Constant && count > 0 && self.node(n).clause.is_some() {
                let path = self.path(n);
                let span = self.node(n).clause.map_or(saltus_base::Span::NONE, |c| c.1.name.span);
                return Err(self.err(span, format!("the constant {path} has no value")));
            }
            if parameter && count > 0 {
                self.unbound_parameter(n, first, count)?;
            }
            return Ok(());
        };
        if variability == Variability::Constant {
            self.constant_of_constants(n, &b)?;
        }
        self.check_each(n, &b);
        let v = match (&self.node(n).constant, parameter && ty != Ty::Object) {
            (crate::instance::Constant::Known(v), true) => v.clone(),
            _ => {
                self.clocks.vanished.clear();
                let v = self.binding_value(&b, Mode::Model)?;
                if v.rank() == 0 && !dims.is_empty() && !b.each && b.projections.is_empty() {
                    let path = self.path(n);
                    return Err(self.err_hints(
                        b.span,
                        format!("{path} has the shape {}, but the value is a scalar", crate::value::shape_text(&dims)),
                        vec![
                            "fill(…) makes an array of one value; in a modifier of an array's elements write `each`"
                                .into(),
                        ],
                    ));
                }
                let v = self.fit(v, &dims, ty, b.span, n)?;
                self.set_elements(n, v, &m, Mode::Model)?
            }
        };
        let e = v.scalar_list();
        for k in 0..count {
            if parameter {
                if self.variability(e[k]) > Variability::Parameter {
                    let name = self.dae.vars[at(k)].name.clone();
                    return Err(self.err_hints(
                        b.span,
                        format!("{name} is a parameter, but its value varies during the run"),
                        vec!["bind it to an expression of parameters, or make it a variable".into()],
                    ));
                }
                let row = self.row(e[k]);
                let fixed = self.dae.vars[at(k)].fixed != Some(false);
                if fixed {
                    self.dae.vars[at(k)].binding = Some(row);
                } else if self.dae.vars[at(k)].start.is_none() {
                    self.dae.vars[at(k)].start = Some(row);
                }
            } else {
                if self.dae.vars[at(k)].causality == DaeCausality::Input {
                    self.dae.vars[at(k)].causality = DaeCausality::Local; // supplied by its binding
                }
                let x = self.var_expr(at(k));
                if ty == Ty::Real && self.node(n).variability == VariabilityPrefix::Discrete {
                    self.checks.bound.push((at(k), e[k], b.span));
                }
                let r = if self.dae.vars[at(k)].ty != VarType::Real {
                    self.dae.pool.intern(XNode::Binary(Binary::Sub, x, e[k]))
                } else {
                    self.dae.pool.sub(x, e[k])
                };
                self.tie_vanished(r);
                let row = self.row(r);
                let origin = Origin {
                    span: Some(b.span),
                    instance: self.dae.vars[at(k)].origin.instance.clone(),
                    note: "binding",
                };
                self.dae.equations.push(Equation { row, guard: None, origin });
            }
        }
        Ok(())
    }

    /// Attributes of one element of an array.
    fn declare_element(&mut self, n: NodeId, v: VarId, ty: Ty, m: &Mod<'t>) -> R<()> {
        for (name, c) in &m.children {
            let Some(b) = &c.binding else { continue };
            let path = |me: &Self| format!("{}.{name}", me.path(n));
            match name.as_str() {
                "start" | "min" | "max" | "nominal" => {
                    let x = self.binding_value(b, Mode::Model)?;
                    let x = self.fit_as(x, &[], ty, b.span, &path)?;
                    let row = Some(self.row(x.scalar_list()[0]));
                    let var = &mut self.dae.vars[v];
                    match name.as_str() {
                        "start" => var.start = row,
                        "min" => var.min = row,
                        "max" => var.max = row,
                        _ => var.nominal = row,
                    }
                }
                "fixed" => {
                    let x = self.binding_value(b, Mode::Konst)?;
                    let x = self.fit_as(x, &[], Ty::Bool, b.span, &path)?;
                    self.dae.vars[v].fixed = self.bool_of(&x);
                }
                _ => return Err(self.err(b.span, format!("an element of {} has no {name} to set", self.path(n)))),
            }
        }
        Ok(())
    }

    /// A constant may use constants only, not parameters; sizes of arrays are constants too.
    fn constant_of_constants(&mut self, n: NodeId, b: &Binding<'t>) -> R<()> {
        // A field of a record that is bound as a whole is constant in both.
        if !b.projections.is_empty() {
            return Ok(());
        }
        let mut refs = Vec::new();
        let (ExprKind::Ref(_) | ExprKind::Unary(..) | ExprKind::Binary(..)) = &b.source.kind else { return Ok(()) };
        visit_refs(b.source, &mut |r| refs.push(r.clone()));
        let calls = b.source.to_string().contains("size(");
        for r in refs.iter().filter(|_| !calls) {
            let Ok(Target::Nodes(nodes, ..)) = self.resolve(&Env::model(b.scope), r) else { continue };
            let Some(&x) = nodes.first().filter(|x| x.0 != u32::MAX) else { continue };
            if self.node(x).live && self.node(x).variability != VariabilityPrefix::Constant {
                let (path, used) = (self.path(n), self.path(x));
                return Err(self.err_hints(
                    b.span,
                    format!("{path} is a constant, but {used} is not"),
                    vec![format!("declare {path} as a parameter, or {used} as a constant")],
                ));
            }
        }
        Ok(())
    }

    fn unbound_parameter(&mut self, n: NodeId, first: VarId, count: usize) -> R<()> {
        let mut warned = false;
        for k in 0..count {
            let v = VarId::new(first.index() + k);
            if self.dae.vars[v].fixed == Some(false) {
                continue;
            }
            let name = self.dae.vars[v].name.clone();
            let span = self.dae.vars[v].origin.span.unwrap_or(Span::NONE);
            match self.dae.vars[v].start.clone() {
                Some(s) => {
                    self.dae.vars[v].binding = Some(s);
                    if !warned {
                        warned = true;
                        let mut d = Diagnostic::warning(
                            Stage::FrontEnd,
                            span,
                            format!("the parameter {name} has no value; its start value is used"),
                        );
                        d.instance = self.node(n).parent.map(|p| self.instance_text(p)).unwrap_or_default();
                        self.diagnostics.push(d);
                    }
                }
                None => {
                    let zero = match self.dae.vars[v].ty {
                        VarType::Object => {
                            return Err(self.err(span, format!("the external object {name} has no value")));
                        }
                        VarType::Enumeration(_) => 1.0,
                        _ => 0.0,
                    };
                    let row = self.dae.constant_row(zero);
                    self.dae.vars[v].binding = Some(row);
                    if !warned {
                        warned = true;
                        let mut d = Diagnostic::warning(
                            Stage::FrontEnd,
                            span,
                            format!("the parameter {name} has no value; zero is used"),
                        )
                        .hint(format!("give it one by a modifier or --set {name}=…"));
                        d.instance = self.node(n).parent.map(|p| self.instance_text(p)).unwrap_or_default();
                        self.diagnostics.push(d);
                    }
                }
            }
        }
        Ok(())
    }

    /// Parameters whose values shaped the model are constants now.
    pub(crate) fn finish_structural(&mut self) {
        for i in 0..self.nodes.len() {
            let n = NodeId(i as u32);
            if !self.node(n).structural {
                continue;
            }
            if let (Some(first), crate::instance::Constant::Known(v)) =
                (self.node(n).var, self.node(n).constant.clone())
            {
                for (k, e) in v.scalar_list().into_iter().enumerate() {
                    let row = self.row(e);
                    let var = VarId::new(first.index() + k);
                    self.dae.vars[var].binding = Some(row);
                }
            }
        }
    }

    /// Variables assigned in when-clauses are discrete; this must be known before relations are built.
    pub(crate) fn find_discrete(&mut self, n: NodeId) {
        if self.node(n).outer.is_some() {
            return;
        }
        let Ok(t) = self.template(n) else { return };
        if t.builtin.is_some() {
            return;
        }
        if self.dims(n).is_ok_and(|d| d.is_empty()) {
            for part in 0..t.parts.len() {
                let env = Env::model(Scope { node: n, part: part as u16 });
                if let saltus_syntax::ast::ClassBody::Long { sections, .. } = &*t.parts[part].def.body {
                    for s in sections {
                        self.discrete_in_section(&Env { conditional: true, ..env }, s);
                    }
                }
            }
        }
        for c in self.below(n) {
            self.find_discrete(c);
        }
    }
}

/// The attributes of a predefined type (Modelica 3.6, section 4.9).
fn attributes(ty: Ty) -> &'static [&'static str] {
    const REAL: [&str; 10] =
        ["start", "fixed", "quantity", "min", "max", "unit", "displayUnit", "nominal", "stateSelect", "unbounded"];
    match ty {
        Ty::Bool | Ty::Str => &REAL[..3],
        Ty::Int | Ty::Enum(_) => &REAL[..5],
        _ => &REAL,
    }
}
