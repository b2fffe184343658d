//! The tree as Modelica text, with as few parentheses as the grammar allows.

use crate::ast::*;
use std::fmt::{self, Display, Formatter, Write};

impl Display for Ident {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.name.as_str())
    }
}

/// Items separated by `separator`.
fn list<I: Display>(f: &mut Formatter<'_>, items: impl IntoIterator<Item = I>, separator: &str) -> fmt::Result {
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            f.write_str(separator)?;
        }
        write!(f, "{item}")?;
    }
    Ok(())
}

impl Display for TypeSpec {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.global {
            f.write_char('.')?;
        }
        list(f, &self.path, ".")
    }
}

impl Display for ComponentRef {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.global {
            f.write_char('.')?;
        }
        list(f, &self.parts, ".")
    }
}

impl Display for RefPart {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        subscripts(f, &self.subscripts)
    }
}

fn subscripts(f: &mut Formatter<'_>, subscripts: &[Subscript]) -> fmt::Result {
    if subscripts.is_empty() {
        return Ok(());
    }
    f.write_char('[')?;
    list(f, subscripts, ", ")?;
    f.write_char(']')
}

impl Display for Subscript {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Subscript::All(_) => f.write_char(':'),
            Subscript::Index(e) => write!(f, "{e}"),
        }
    }
}

impl Display for ForIndex {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.range {
            Some(range) => write!(f, "{} in {range}", self.name),
            None => write!(f, "{}", self.name),
        }
    }
}

impl UnaryOp {
    /// As written.
    pub fn symbol(self) -> &'static str {
        match self {
            UnaryOp::Neg => "-",
            UnaryOp::Plus => "+",
            UnaryOp::ElemNeg => ".-",
            UnaryOp::ElemPlus => ".+",
            UnaryOp::Not => "not ",
        }
    }
}

impl BinaryOp {
    /// As written.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Pow => "^",
            BinaryOp::ElemAdd => ".+",
            BinaryOp::ElemSub => ".-",
            BinaryOp::ElemMul => ".*",
            BinaryOp::ElemDiv => "./",
            BinaryOp::ElemPow => ".^",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "<>",
            BinaryOp::And => "and",
            BinaryOp::Or => "or",
        }
    }

    fn level(self) -> u8 {
        match self {
            BinaryOp::Or => OR,
            BinaryOp::And => AND,
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge | BinaryOp::Eq | BinaryOp::Ne => RELATION,
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::ElemAdd | BinaryOp::ElemSub => SUM,
            BinaryOp::Mul | BinaryOp::Div | BinaryOp::ElemMul | BinaryOp::ElemDiv => TERM,
            BinaryOp::Pow | BinaryOp::ElemPow => POWER,
        }
    }
}

const ANY: u8 = 0;
const RANGE: u8 = 1;
const OR: u8 = 2;
const AND: u8 = 3;
const NOT: u8 = 4;
const RELATION: u8 = 5;
const SUM: u8 = 6;
const TERM: u8 = 7;
const POWER: u8 = 8;
const PRIMARY: u8 = 9;

/// How tightly the text of an expression holds together.
fn level(expr: &Expr) -> u8 {
    match &expr.kind {
        ExprKind::If(..) => ANY,
        ExprKind::Range(..) => RANGE,
        ExprKind::Binary(op, ..) => op.level(),
        ExprKind::Unary(UnaryOp::Not, _) => NOT,
        ExprKind::Unary(..) => SUM,
        ExprKind::Real(v) if v.is_sign_negative() => SUM,
        ExprKind::Integer(v) if *v < 0 => SUM,
        _ => PRIMARY,
    }
}

/// An expression where at least `.1` is needed.
struct At<'a>(&'a Expr, u8);

impl Display for At<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if level(self.0) < self.1 { write!(f, "({})", self.0) } else { write!(f, "{}", self.0) }
    }
}

/// A string literal with its quotes and escapes.
pub(crate) struct Quoted<'a>(pub &'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                '\t' => f.write_str("\\t")?,
                '\x07' => f.write_str("\\a")?,
                '\x08' => f.write_str("\\b")?,
                '\x0b' => f.write_str("\\v")?,
                '\x0c' => f.write_str("\\f")?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

impl Display for Call {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.function)?;
        list(f, &self.args, ", ")?;
        for (i, (name, value)) in self.named.iter().enumerate() {
            let comma = if i > 0 || !self.args.is_empty() { ", " } else { "" };
            write!(f, "{comma}{name} = {value}")?;
        }
        if !self.iterators.is_empty() {
            f.write_str(" for ")?;
            list(f, &self.iterators, ", ")?;
        }
        f.write_char(')')
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExprKind::Real(v) if v.is_infinite() => write!(f, "{}1e999", if *v < 0.0 { "-" } else { "" }),
            ExprKind::Real(v) => write!(f, "{v:?}"),
            ExprKind::Integer(v) => write!(f, "{v}"),
            ExprKind::Boolean(v) => write!(f, "{v}"),
            ExprKind::String(v) => write!(f, "{}", Quoted(v)),
            ExprKind::Ref(reference) => write!(f, "{reference}"),
            ExprKind::Unary(op, e) => {
                let inner = if *op == UnaryOp::Not { RELATION } else { TERM };
                write!(f, "{}{}", op.symbol(), At(e, inner))
            }
            ExprKind::Binary(op, a, b) => {
                let own = op.level();
                let left = match own {
                    RELATION | POWER => own + 1,
                    _ => own,
                };
                let space = if own >= POWER { "" } else { " " };
                write!(f, "{}{space}{}{space}{}", At(a, left), op.symbol(), At(b, own + 1))
            }
            ExprKind::If(branches, otherwise) => {
                for (i, (condition, value)) in branches.iter().enumerate() {
                    let word = if i == 0 { "if" } else { " elseif" };
                    write!(f, "{word} {condition} then {value}")?;
                }
                // Without parentheses `else if` would read as another branch.
                write!(f, " else {}", At(otherwise, RANGE))
            }
            ExprKind::Call(call) => write!(f, "{call}"),
            ExprKind::PartialFunction(call) => write!(f, "function {call}"),
            ExprKind::Array(entries) => {
                f.write_char('{')?;
                list(f, entries, ", ")?;
                f.write_char('}')
            }
            ExprKind::ArrayComprehension(body, indices) => {
                write!(f, "{{{body} for ")?;
                list(f, indices, ", ")?;
                f.write_char('}')
            }
            ExprKind::Matrix(rows) => {
                f.write_char('[')?;
                for (i, row) in rows.iter().enumerate() {
                    if i > 0 {
                        f.write_str("; ")?;
                    }
                    list(f, row, ", ")?;
                }
                f.write_char(']')
            }
            ExprKind::Range(a, step, b) => match step {
                Some(step) => write!(f, "{}:{}:{}", At(a, OR), At(step, OR), At(b, OR)),
                None => write!(f, "{}:{}", At(a, OR), At(b, OR)),
            },
            ExprKind::Tuple(entries) => {
                f.write_char('(')?;
                for (i, entry) in entries.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    if let Some(entry) = entry {
                        write!(f, "{entry}")?;
                    }
                }
                f.write_char(')')
            }
            ExprKind::End => f.write_str("end"),
            ExprKind::Index(e, indices) => {
                base(f, e)?;
                subscripts(f, indices)
            }
            ExprKind::Field(e, name) => {
                base(f, e)?;
                write!(f, ".{name}")
            }
            ExprKind::Error => f.write_str("<error>"),
        }
    }
}

/// What is indexed: references and numbers need brackets, or the text would read differently.
fn base(f: &mut Formatter<'_>, e: &Expr) -> fmt::Result {
    match e.kind {
        ExprKind::Ref(_) | ExprKind::Real(_) | ExprKind::Integer(_) => write!(f, "({e})"),
        _ => write!(f, "{}", At(e, PRIMARY)),
    }
}

impl Display for Modification {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if !self.args.is_empty() {
            f.write_char('(')?;
            list(f, &self.args, ", ")?;
            f.write_char(')')?;
        }
        match &self.binding {
            Some(e) => write!(f, " = {e}"),
            None if self.is_break => f.write_str(" = break"),
            None if self.args.is_empty() => f.write_str("()"),
            None => Ok(()),
        }
    }
}

impl Display for Argument {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let word = |f: &mut Formatter<'_>, given: bool, word: &str| if given { f.write_str(word) } else { Ok(()) };
        match self {
            Argument::Modification { each, is_final, path, modification, description, .. } => {
                word(f, *each, "each ")?;
                word(f, *is_final, "final ")?;
                list(f, path, ".")?;
                if let Some(modification) = modification {
                    write!(f, "{modification}")?;
                }
                if !description.is_empty() {
                    write!(f, " {}", Quoted(description))?;
                }
                Ok(())
            }
            Argument::Redeclare { each, is_final, redeclare, replaceable, element, .. } => {
                word(f, *redeclare, "redeclare ")?;
                word(f, *each, "each ")?;
                word(f, *is_final, "final ")?;
                word(f, *replaceable, "replaceable ")?;
                match &**element {
                    Element::Components(clause) => {
                        write!(f, "{}{}", clause.type_prefix, clause.type_spec)?;
                        subscripts(f, &clause.type_dims)?;
                        for component in &clause.components {
                            write!(f, " {component}")?;
                        }
                        constraint(f, clause.constraint.as_ref())
                    }
                    Element::Class { def, constraint: by, .. } => {
                        write!(f, "{def}")?;
                        constraint(f, by.as_ref())
                    }
                    Element::Import(..) | Element::Extends(_) => f.write_str("<error>"),
                }
            }
        }
    }
}

fn constraint(f: &mut Formatter<'_>, constraint: Option<&Constraint>) -> fmt::Result {
    constraint.map_or(Ok(()), |c| write!(f, " {c}"))
}

impl Display for Constraint {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "constrainedby {}", self.class)?;
        self.modification.as_ref().map_or(Ok(()), |m| write!(f, "{m}"))
    }
}

/// `name[dims](mod) = e if c "text"`, annotation left out.
impl Display for Component {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        subscripts(f, &self.dims)?;
        if let Some(modification) = &self.modification {
            write!(f, "{modification}")?;
        }
        if let Some(condition) = &self.condition {
            write!(f, " if {condition}")?;
        }
        if !self.description.is_empty() {
            write!(f, " {}", Quoted(&self.description))?;
        }
        Ok(())
    }
}

/// The words with a space after each.
impl Display for TypePrefix {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self.connection {
            Connection::Potential => "",
            Connection::Flow => "flow ",
            Connection::Stream => "stream ",
        })?;
        f.write_str(match self.variability {
            VariabilityPrefix::None => "",
            VariabilityPrefix::Discrete => "discrete ",
            VariabilityPrefix::Parameter => "parameter ",
            VariabilityPrefix::Constant => "constant ",
        })?;
        f.write_str(match self.causality {
            Causality::None => "",
            Causality::Input => "input ",
            Causality::Output => "output ",
        })
    }
}

/// The words with a space after each.
impl Display for ElementPrefixes {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let words = [
            (self.protected, "protected "),
            (self.redeclare, "redeclare "),
            (self.is_final, "final "),
            (self.inner, "inner "),
            (self.outer, "outer "),
            (self.replaceable, "replaceable "),
        ];
        words.iter().filter(|(given, _)| *given).try_for_each(|(_, word)| f.write_str(word))
    }
}

/// The head of a class in one line: `partial model A`, `type T = Real[3](unit = "m")`.
impl Display for ClassDef {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let p = self.prefixes;
        let words = [
            (p.encapsulated, "encapsulated "),
            (p.partial, "partial "),
            (p.expandable, "expandable "),
            (p.pure, "pure "),
            (p.impure, "impure "),
        ];
        words.iter().filter(|(given, _)| *given).try_for_each(|(_, word)| f.write_str(word))?;
        write!(f, "{} ", self.kind.keyword())?;
        match &*self.body {
            ClassBody::Long { extends: None, .. } => write!(f, "{}", self.name)?,
            ClassBody::Long { extends: Some(modification), .. } => {
                write!(f, "extends {}", self.name)?;
                modification.as_ref().map_or(Ok(()), |m| write!(f, "{m}"))?;
            }
            ClassBody::Short { prefix, base, dims, modification, .. } => {
                write!(f, "{} = {prefix}{base}", self.name)?;
                subscripts(f, dims)?;
                modification.as_ref().map_or(Ok(()), |m| write!(f, "{m}"))?;
            }
            ClassBody::Enumeration { literals, open, .. } => {
                write!(f, "{} = enumeration({}", self.name, if *open { ":" } else { "" })?;
                list(f, literals.iter().map(|l| l.name), ", ")?;
                f.write_char(')')?;
            }
            ClassBody::Derivative { function, with_respect_to, .. } => {
                write!(f, "{} = der({function}", self.name)?;
                with_respect_to.iter().try_for_each(|i| write!(f, ", {i}"))?;
                f.write_char(')')?;
            }
        }
        if !self.description.is_empty() {
            write!(f, " {}", Quoted(&self.description))?;
        }
        Ok(())
    }
}

impl Display for Import {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("import ")?;
        match self {
            Import::Named { alias, path, .. } => {
                if path.last().is_none_or(|last| last.name != alias.name) {
                    write!(f, "{alias} = ")?;
                }
                list(f, path, ".")
            }
            Import::Wildcard { path, .. } => {
                list(f, path, ".")?;
                f.write_str(".*")
            }
            Import::List { path, names, .. } => {
                list(f, path, ".")?;
                f.write_str(".{")?;
                list(f, names, ", ")?;
                f.write_char('}')
            }
        }
    }
}

/// `parameter T[3] x = 1, y`, annotations left out.
impl Display for ComponentClause {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.prefixes, self.type_prefix, self.type_spec)?;
        subscripts(f, &self.type_dims)?;
        f.write_char(' ')?;
        list(f, &self.components, ", ")?;
        constraint(f, self.constraint.as_ref())
    }
}
