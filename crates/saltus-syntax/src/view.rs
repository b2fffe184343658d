//! Reading the tree: annotations and modifiers by name, the parts of classes.
//!
//! ```
//! # use saltus_base::FileId;
//! let tree = saltus_syntax::parse(FileId(0), "model M annotation(experiment(StopTime = 2)); end M;");
//! let annotation = tree.root.classes[0].annotation().unwrap();
//! assert_eq!(annotation.value("experiment.StopTime").unwrap().to_string(), "2");
//! ```

use crate::ast::*;
use saltus_base::{Name, Span};

/// The modification that `args` hold for a dotted path; the last one given counts.
fn find<'a>(args: &'a [Argument], path: &str) -> Option<&'a Argument> {
    let parts: Vec<&str> = path.split('.').collect();
    find_parts(args, &parts)
}

fn find_parts<'a>(args: &'a [Argument], parts: &[&str]) -> Option<&'a Argument> {
    args.iter().rev().find_map(|argument| match argument {
        Argument::Modification { path, modification, .. } => {
            let matches = path.len() <= parts.len() && path.iter().zip(parts).all(|(a, b)| a.name.as_str() == *b);
            match (matches, &parts[path.len().min(parts.len())..]) {
                (true, []) => Some(argument),
                (true, rest) => modification.as_ref().and_then(|m| find_parts(&m.args, rest)),
                (false, _) => None,
            }
        }
        Argument::Redeclare { .. } => {
            (parts.len() == 1 && argument.name() == Some(Name::new(parts[0]))).then_some(argument)
        }
    })
}

impl Annotation {
    /// The arguments of `name(…)`: `find("experiment")`; dotted paths go deeper. Empty for `name = value`.
    pub fn find(&self, path: &str) -> Option<&[Argument]> {
        find(&self.args, path).map(|a| a.modification().map_or(&[][..], |m| &m.args))
    }
    /// The modification of `name(…)` or `name = value`.
    pub fn get(&self, path: &str) -> Option<&Modification> {
        find(&self.args, path).and_then(Argument::modification)
    }
    /// The value of `name = value`: `value("experiment.StopTime")`.
    pub fn value(&self, path: &str) -> Option<&Expr> {
        self.get(path).and_then(|m| m.binding.as_ref())
    }
    /// Whether `name` is `true`.
    pub fn is_true(&self, path: &str) -> bool {
        self.value(path).and_then(Expr::as_bool) == Some(true)
    }
}

impl Modification {
    /// The modification of a dotted name inside this one: `get("a.start")`.
    pub fn get(&self, path: &str) -> Option<&Modification> {
        find(&self.args, path).and_then(Argument::modification)
    }
    /// The value bound to a dotted name inside this one.
    pub fn value(&self, path: &str) -> Option<&Expr> {
        self.get(path).and_then(|m| m.binding.as_ref())
    }
    /// The argument for a dotted name, also a redeclaration.
    pub fn argument(&self, path: &str) -> Option<&Argument> {
        find(&self.args, path)
    }
}

impl Argument {
    /// The first name it is about (that of the class or component, for a redeclaration).
    pub fn name(&self) -> Option<Name> {
        match self {
            Argument::Modification { path, .. } => path.first().map(|i| i.name),
            Argument::Redeclare { element, .. } => match &**element {
                Element::Class { def, .. } => Some(def.name.name),
                Element::Components(clause) => clause.components.first().map(|c| c.name.name),
                Element::Import(..) | Element::Extends(_) => None,
            },
        }
    }
    /// What it modifies with; None for redeclarations.
    pub fn modification(&self) -> Option<&Modification> {
        match self {
            Argument::Modification { modification, .. } => modification.as_ref(),
            Argument::Redeclare { .. } => None,
        }
    }
    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            Argument::Modification { span, .. } | Argument::Redeclare { span, .. } => *span,
        }
    }
}

impl ClassDef {
    /// The class annotation.
    pub fn annotation(&self) -> Option<&Annotation> {
        match &*self.body {
            ClassBody::Long { annotation, .. }
            | ClassBody::Short { annotation, .. }
            | ClassBody::Enumeration { annotation, .. }
            | ClassBody::Derivative { annotation, .. } => annotation.as_ref(),
        }
    }
    /// The elements of a long class, else none.
    pub fn elements(&self) -> &[Element] {
        match &*self.body {
            ClassBody::Long { elements, .. } => elements,
            _ => &[],
        }
    }
    /// The sections of a long class, else none.
    pub fn sections(&self) -> &[Section] {
        match &*self.body {
            ClassBody::Long { sections, .. } => sections,
            _ => &[],
        }
    }
    /// The nested class of this name.
    pub fn class(&self, name: &str) -> Option<&std::sync::Arc<ClassDef>> {
        self.classes().find(|def| def.name.name.as_str() == name)
    }
    /// The nested classes.
    pub fn classes(&self) -> impl Iterator<Item = &std::sync::Arc<ClassDef>> {
        self.elements().iter().filter_map(|e| match e {
            Element::Class { def, .. } => Some(def),
            _ => None,
        })
    }
    /// The components with their clauses.
    pub fn components(&self) -> impl Iterator<Item = (&ComponentClause, &Component)> {
        self.elements().iter().flat_map(|e| match e {
            Element::Components(clause) => clause.components.iter().map(|c| (clause, c)).collect::<Vec<_>>(),
            _ => Vec::new(),
        })
    }
}

impl ClassKind {
    /// The keyword, as written.
    pub fn keyword(self) -> &'static str {
        match self {
            ClassKind::Class => "class",
            ClassKind::Model => "model",
            ClassKind::Block => "block",
            ClassKind::Connector => "connector",
            ClassKind::Record => "record",
            ClassKind::OperatorRecord => "operator record",
            ClassKind::Package => "package",
            ClassKind::Function => "function",
            ClassKind::OperatorFunction => "operator function",
            ClassKind::Operator => "operator",
            ClassKind::Type => "type",
        }
    }
}

impl Expr {
    /// The value of `true` and `false`.
    pub fn as_bool(&self) -> Option<bool> {
        match self.kind {
            ExprKind::Boolean(value) => Some(value),
            _ => None,
        }
    }
    /// The value of a string literal.
    pub fn as_str(&self) -> Option<&str> {
        match &self.kind {
            ExprKind::String(value) => Some(value),
            _ => None,
        }
    }
    /// The value of a number, with signs.
    pub fn as_f64(&self) -> Option<f64> {
        match &self.kind {
            ExprKind::Real(value) => Some(*value),
            ExprKind::Integer(value) => Some(*value as f64),
            ExprKind::Unary(UnaryOp::Neg, inner) => inner.as_f64().map(|v| -v),
            ExprKind::Unary(UnaryOp::Plus, inner) => inner.as_f64(),
            _ => None,
        }
    }
    /// The reference, if it is one.
    pub fn as_reference(&self) -> Option<&ComponentRef> {
        match &self.kind {
            ExprKind::Ref(reference) => Some(reference),
            _ => None,
        }
    }
    /// The call, if it is one.
    pub fn as_call(&self) -> Option<&Call> {
        match &self.kind {
            ExprKind::Call(call) => Some(call),
            _ => None,
        }
    }
}

impl Call {
    /// The named argument.
    pub fn named(&self, name: &str) -> Option<&Expr> {
        self.named.iter().find(|(ident, _)| ident.name.as_str() == name).map(|(_, value)| value)
    }
    /// Whether a plain function of this name is called: `is("der")`.
    pub fn is(&self, name: &str) -> bool {
        matches!(self.function.parts.as_slice(), [part] if part.name.name.as_str() == name && part.subscripts.is_empty())
    }
}

impl ComponentRef {
    /// The only name, if it is a plain one without subscripts.
    pub fn simple(&self) -> Option<Name> {
        match self.parts.as_slice() {
            [part] if part.subscripts.is_empty() && !self.global => Some(part.name.name),
            _ => None,
        }
    }
}
