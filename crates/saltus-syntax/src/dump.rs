//! The tree as indented text (`--dump syntax`): one line per class, element, equation and statement.
//!
//! `model M "m" Real x = 1; equation der(x) = -x; end M;` ⇒
//! ```text
//! model M "m"
//!   Real x = 1
//!   equation
//!     der(x) = -x
//! ```

use crate::ast::*;
use crate::display::Quoted;
use std::fmt::{Display, Write};

/// The whole file, indented by two spaces per level.
pub fn dump(root: &StoredDefinition) -> String {
    let mut d = Dumper { out: String::new(), indent: 0 };
    if let Some(within) = &root.within {
        let path: Vec<&str> = within.iter().map(|i| i.name.as_str()).collect();
        d.line(format_args!("within {}", path.join(".")));
    }
    for class in &root.classes {
        d.class("", class, None);
    }
    d.out
}

struct Dumper {
    out: String,
    indent: usize,
}

impl Dumper {
    fn line(&mut self, text: impl Display) {
        let start = self.out.len();
        // Writing to a String cannot fail.
        let _ = write!(self.out, "{:1$}{text}", "", 2 * self.indent);
        self.out.truncate(start + self.out[start..].trim_end().len());
        self.out.push('\n');
    }

    fn indented(&mut self, f: impl FnOnce(&mut Self)) {
        self.indent += 1;
        f(self);
        self.indent -= 1;
    }

    fn annotation(&mut self, annotation: Option<&Annotation>) {
        if let Some(annotation) = annotation {
            self.indented(|d| {
                d.line("annotation");
                d.indented(|d| annotation.args.iter().for_each(|a| d.line(a)));
            });
        }
    }

    fn class(&mut self, prefixes: &str, class: &ClassDef, constraint: Option<&Constraint>) {
        let by = constraint.map(|c| format!(" {c}")).unwrap_or_default();
        self.line(format_args!("{prefixes}{class}{by}"));
        match &*class.body {
            ClassBody::Long { elements, sections, external, annotation, .. } => {
                self.indented(|d| {
                    elements.iter().for_each(|e| d.element(e));
                    sections.iter().for_each(|s| d.section(s));
                    external.iter().for_each(|e| d.external(e));
                });
                self.annotation(annotation.as_ref());
            }
            ClassBody::Enumeration { literals, annotation, .. } => {
                self.indented(|d| {
                    for literal in literals.iter().filter(|l| !l.description.is_empty()) {
                        d.line(format_args!("{} {}", literal.name, Quoted(&literal.description)));
                    }
                });
                self.annotation(annotation.as_ref());
            }
            ClassBody::Short { annotation, .. } | ClassBody::Derivative { annotation, .. } => {
                self.annotation(annotation.as_ref());
            }
        }
    }

    fn element(&mut self, element: &Element) {
        match element {
            Element::Import(import, _) => self.line(import),
            Element::Extends(extends) => {
                let protected = if extends.protected { "protected " } else { "" };
                let modification = extends.modification.as_ref().map(Modification::to_string).unwrap_or_default();
                self.line(format_args!("{protected}extends {}{modification}", extends.base));
                for left_out in &extends.left_out {
                    match left_out {
                        LeftOut::Component(name) => self.line(format_args!("  break {}", name.name)),
                        LeftOut::Connection(a, b, _) => self.line(format_args!("  break connect({a}, {b})")),
                    }
                }
                self.annotation(extends.annotation.as_ref());
            }
            Element::Class { prefixes, def, constraint } => {
                self.class(&prefixes.to_string(), def, constraint.as_ref());
            }
            Element::Components(clause) => {
                self.line(clause);
                clause.components.iter().for_each(|c| self.annotation(c.annotation.as_ref()));
            }
        }
    }

    fn section(&mut self, section: &Section) {
        let word = |initial: &bool| if *initial { "initial " } else { "" };
        match section {
            Section::Equations { initial, equations } => {
                self.line(format_args!("{}equation", word(initial)));
                self.indented(|d| equations.iter().for_each(|e| d.equation(e)));
            }
            Section::Algorithm { initial, statements, .. } => {
                self.line(format_args!("{}algorithm", word(initial)));
                self.indented(|d| statements.iter().for_each(|s| d.statement(s)));
            }
        }
    }

    fn external(&mut self, external: &External) {
        let mut text = "external".to_string();
        if let Some(language) = &external.language {
            let _ = write!(text, " {}", Quoted(language));
        }
        if let Some(result) = &external.result {
            let _ = write!(text, " {result} =");
        }
        if let Some(name) = external.name {
            let args: Vec<String> = external.args.iter().map(Expr::to_string).collect();
            let _ = write!(text, " {name}({})", args.join(", "));
        }
        self.line(text);
        self.annotation(external.annotation.as_ref());
    }

    fn branches<R>(&mut self, words: [&str; 2], branches: &[(Expr, Vec<R>)], item: impl Fn(&mut Self, &R)) {
        for (i, (condition, body)) in branches.iter().enumerate() {
            self.line(format_args!("{} {condition}", words[i.min(1)]));
            self.indented(|d| body.iter().for_each(|b| item(d, b)));
        }
    }

    fn otherwise<R>(&mut self, body: &[R], item: impl Fn(&mut Self, &R)) {
        if !body.is_empty() {
            self.line("else");
            self.indented(|d| body.iter().for_each(|b| item(d, b)));
        }
    }

    fn indices(indices: &[ForIndex]) -> String {
        indices.iter().map(ForIndex::to_string).collect::<Vec<_>>().join(", ")
    }

    fn equation(&mut self, equation: &Equation) {
        let text = match equation.description.as_str() {
            "" => String::new(),
            text => format!(" {}", Quoted(text)),
        };
        match &equation.kind {
            EquationKind::Simple(a, b) => self.line(format_args!("{a} = {b}{text}")),
            EquationKind::Connect(a, b) => self.line(format_args!("connect({a}, {b}){text}")),
            EquationKind::If { branches, otherwise } => {
                self.branches(["if", "elseif"], branches, Self::equation);
                self.otherwise(otherwise, Self::equation);
            }
            EquationKind::For { indices, body } => {
                self.line(format_args!("for {}{text}", Self::indices(indices)));
                self.indented(|d| body.iter().for_each(|e| d.equation(e)));
            }
            EquationKind::When { branches } => self.branches(["when", "elsewhen"], branches, Self::equation),
            EquationKind::Call(call) => self.line(format_args!("{call}{text}")),
        }
        self.annotation(equation.annotation.as_ref());
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Assign(target, e) => self.line(format_args!("{target} := {e}")),
            StatementKind::MultiAssign(targets, e) => {
                let targets: Vec<String> =
                    targets.iter().map(|t| t.as_ref().map(ComponentRef::to_string).unwrap_or_default()).collect();
                self.line(format_args!("({}) := {e}", targets.join(", ")));
            }
            StatementKind::Call(call) => self.line(call),
            StatementKind::If { branches, otherwise } => {
                self.branches(["if", "elseif"], branches, Self::statement);
                self.otherwise(otherwise, Self::statement);
            }
            StatementKind::For { indices, body } => {
                self.line(format_args!("for {}", Self::indices(indices)));
                self.indented(|d| body.iter().for_each(|s| d.statement(s)));
            }
            StatementKind::While { condition, body } => {
                self.line(format_args!("while {condition}"));
                self.indented(|d| body.iter().for_each(|s| d.statement(s)));
            }
            StatementKind::When { branches } => self.branches(["when", "elsewhen"], branches, Self::statement),
            StatementKind::Break => self.line("break"),
            StatementKind::Return => self.line("return"),
        }
    }
}
