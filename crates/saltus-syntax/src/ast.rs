//! The typed syntax tree: plain data, every node with its span. Names follow the grammar of the Modelica
//! specification 3.6, appendix A. Boxes only where the grammar recurses.

use crate::store::StoredBody;
use saltus_base::{Name, Span};
use std::sync::{Arc, OnceLock};

/// A whole file: `within` clause and class definitions.
#[derive(Clone, Debug, Default)]
pub struct StoredDefinition {
    /// `within A.B;` (None: no clause; Some(empty): `within ;`).
    pub within: Option<Vec<Ident>>,
    /// The top-level classes of the file.
    pub classes: Vec<Arc<ClassDef>>,
}

/// An identifier with its place. Quoted identifiers keep their quotes.
#[derive(Clone, Copy, Debug)]
pub struct Ident {
    /// The text.
    pub name: Name,
    /// Where it stands.
    pub span: Span,
}

/// The specialised class keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ClassKind {
    Class,
    Model,
    Block,
    Connector,
    Record,
    OperatorRecord,
    Package,
    Function,
    OperatorFunction,
    Operator,
    Type,
}

/// Prefixes of a class definition and of elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct ClassPrefixes {
    pub encapsulated: bool,
    pub partial: bool,
    pub expandable: bool,
    /// `pure` or `impure` on functions.
    pub pure: bool,
    pub impure: bool,
}

/// A class definition of any form.
#[derive(Clone, Debug)]
pub struct ClassDef {
    /// The class keyword.
    pub kind: ClassKind,
    /// Prefixes before the keyword.
    pub prefixes: ClassPrefixes,
    /// Its name (for `class extends X`, the name X).
    pub name: Ident,
    /// The description string, if any.
    pub description: String,
    /// What it is made of.
    pub body: Body,
    /// From the first prefix to the closing name.
    pub span: Span,
}

/// The body of a class definition; of a stored tree it is decoded when first looked at.
#[derive(Clone)]
pub struct Body {
    pub(crate) decoded: OnceLock<ClassBody>,
    pub(crate) stored: Option<StoredBody>,
}

impl From<ClassBody> for Body {
    fn from(body: ClassBody) -> Body {
        Body { decoded: body.into(), stored: None }
    }
}
impl std::ops::Deref for Body {
    type Target = ClassBody;
    fn deref(&self) -> &ClassBody {
        self.decoded.get_or_init(|| match self.stored.as_ref().and_then(StoredBody::decode) {
            Some(body) => body,
            None => unreachable!("stored trees are checked when they are loaded"),
        })
    }
}
impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

/// The right-hand side of a class definition.
#[derive(Clone, Debug)]
pub enum ClassBody {
    /// `model A ... end A;` and `model extends A(mod) ... end A;`
    Long {
        /// `Some(modification)` for `class extends` (redeclare … extends).
        extends: Option<Option<Modification>>,
        /// Declarations, imports, extends clauses, nested classes, in order.
        elements: Vec<Element>,
        /// Equation and algorithm sections, in order.
        sections: Vec<Section>,
        /// `external "C" y = f(x) annotation(...);`
        external: Option<External>,
        /// The class annotation.
        annotation: Option<Annotation>,
    },
    /// `type A = B[3](mod) "…" annotation(…);`
    Short {
        /// `input`, `output`, `flow`, `stream` prefixes of the base.
        prefix: TypePrefix,
        /// The class it is short for.
        base: TypeSpec,
        /// Array dimensions.
        dims: Vec<Subscript>,
        /// Modifier.
        modification: Option<Modification>,
        /// Annotation.
        annotation: Option<Annotation>,
    },
    /// `type E = enumeration(a "…", b);` or `enumeration(:)` (open).
    Enumeration {
        /// The literals.
        literals: Vec<EnumLiteral>,
        /// `enumeration(:)`.
        open: bool,
        /// Annotation.
        annotation: Option<Annotation>,
    },
    /// `function fx = der(f, x, y);`
    Derivative {
        /// The differentiated function.
        function: TypeSpec,
        /// Variables, in order.
        with_respect_to: Vec<Ident>,
        /// Annotation.
        annotation: Option<Annotation>,
    },
}

/// One literal of an enumeration.
#[derive(Clone, Debug)]
pub struct EnumLiteral {
    /// Its name.
    pub name: Ident,
    /// Its description.
    pub description: String,
    /// Annotation.
    pub annotation: Option<Annotation>,
}

/// A class name as written: `.A.B.C` or `A.B`.
#[derive(Clone, Debug)]
pub struct TypeSpec {
    /// Starts with a dot: looked up from the top.
    pub global: bool,
    /// The parts.
    pub path: Vec<Ident>,
    /// Where.
    pub span: Span,
}

/// Visibility, `final`, `redeclare`, … of an element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct ElementPrefixes {
    pub protected: bool,
    pub redeclare: bool,
    pub is_final: bool,
    pub inner: bool,
    pub outer: bool,
    pub replaceable: bool,
}

/// `constrainedby C(mod)`.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// The constraining class.
    pub class: TypeSpec,
    /// Its modifier.
    pub modification: Option<Modification>,
}

/// An element of a class body.
#[derive(Clone, Debug)]
pub enum Element {
    /// `import …;` with its description and annotation.
    Import(Import, Comment),
    /// `extends A(mod) annotation(…);`
    Extends(Extends),
    /// A nested class.
    Class {
        /// Prefixes.
        prefixes: ElementPrefixes,
        /// The class.
        def: Arc<ClassDef>,
        /// `constrainedby`.
        constraint: Option<Constraint>,
    },
    /// One or several components declared together: `parameter Real x = 1, y[2];`
    Components(ComponentClause),
}

/// An import clause.
#[derive(Clone, Debug)]
pub enum Import {
    /// `import A.B.C;` or `import D = A.B.C;`
    Named {
        /// The local name.
        alias: Ident,
        /// The full name.
        path: Vec<Ident>,
        /// Where.
        span: Span,
    },
    /// `import A.B.*;`
    Wildcard {
        /// The package.
        path: Vec<Ident>,
        /// Where.
        span: Span,
    },
    /// `import A.B.{c, d};`
    List {
        /// The package.
        path: Vec<Ident>,
        /// The names taken from it.
        names: Vec<Ident>,
        /// Where.
        span: Span,
    },
}

/// An extends clause.
#[derive(Clone, Debug)]
pub struct Extends {
    /// The base class.
    pub base: TypeSpec,
    /// The modifier.
    pub modification: Option<Modification>,
    /// What is not inherited.
    pub left_out: Vec<LeftOut>,
    /// Whether it stands in a protected section.
    pub protected: bool,
    /// Annotation.
    pub annotation: Option<Annotation>,
    /// Where.
    pub span: Span,
}

/// What an extends clause leaves out of its base class.
#[derive(Clone, Debug)]
pub enum LeftOut {
    /// `break x`.
    Component(Ident),
    /// `break connect(a, b)`.
    Connection(ComponentRef, ComponentRef, Span),
}

/// `parameter`, `discrete`, `constant` or nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum VariabilityPrefix {
    #[default]
    None,
    Discrete,
    Parameter,
    Constant,
}

/// `input`, `output` or nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Causality {
    #[default]
    None,
    Input,
    Output,
}

/// `flow`, `stream` or nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Connection {
    #[default]
    Potential,
    Flow,
    Stream,
}

/// The prefixes of a component clause's type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct TypePrefix {
    pub connection: Connection,
    pub variability: VariabilityPrefix,
    pub causality: Causality,
}

/// `parameter Modelica.Units.SI.Length[3] a(start=1) = 2 if cond "text" annotation(…), b;`
#[derive(Clone, Debug)]
pub struct ComponentClause {
    /// Element prefixes.
    pub prefixes: ElementPrefixes,
    /// Type prefixes.
    pub type_prefix: TypePrefix,
    /// The type.
    pub type_spec: TypeSpec,
    /// Dimensions after the type.
    pub type_dims: Vec<Subscript>,
    /// The declared components.
    pub components: Vec<Component>,
    /// `constrainedby` (replaceable components).
    pub constraint: Option<Constraint>,
    /// Where.
    pub span: Span,
}

/// One declared component.
#[derive(Clone, Debug)]
pub struct Component {
    /// Its name.
    pub name: Ident,
    /// Dimensions after the name (these come first in the full dimension list).
    pub dims: Vec<Subscript>,
    /// Modifier and binding.
    pub modification: Option<Modification>,
    /// `if cond`.
    pub condition: Option<Expr>,
    /// Description.
    pub description: String,
    /// Annotation.
    pub annotation: Option<Annotation>,
    /// Where.
    pub span: Span,
}

/// `(a=1, redeclare …) = e`, either part optional.
#[derive(Clone, Debug, Default)]
pub struct Modification {
    /// The arguments in parentheses.
    pub args: Vec<Argument>,
    /// `= e` or `:= e` (the latter in functions).
    pub binding: Option<Expr>,
    /// `= break` is kept as `binding: None, is_break: true`.
    pub is_break: bool,
    /// Where.
    pub span: Option<Span>,
}

/// One argument of a class modification.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // nearly all are modifications
pub enum Argument {
    /// `each final a.b(mod) = e`.
    Modification {
        /// `each`.
        each: bool,
        /// `final`.
        is_final: bool,
        /// The dotted name that is modified.
        path: Vec<Ident>,
        /// What with.
        modification: Option<Modification>,
        /// Description.
        description: String,
        /// Annotation.
        annotation: Option<Box<Annotation>>,
        /// Where.
        span: Span,
    },
    /// `redeclare … ` or `replaceable …` of a component or class.
    Redeclare {
        /// `each`.
        each: bool,
        /// `final`.
        is_final: bool,
        /// Whether the word `redeclare` stands there (else an element replaceable modification).
        redeclare: bool,
        /// Whether `replaceable` stands there.
        replaceable: bool,
        /// The new element: `Element::Class` or `Element::Components` with exactly one component.
        element: Box<Element>,
        /// Where.
        span: Span,
    },
}

/// What may follow an element or a statement: `"text" annotation(…)`.
#[derive(Clone, Debug, Default)]
pub struct Comment {
    /// Description.
    pub description: String,
    /// Annotation.
    pub annotation: Option<Box<Annotation>>,
}

/// `annotation(…)`: kept as arguments.
#[derive(Clone, Debug)]
pub struct Annotation {
    /// The arguments.
    pub args: Vec<Argument>,
    /// Where.
    pub span: Span,
}

/// A section of equations or statements.
#[derive(Clone, Debug)]
pub enum Section {
    /// `equation` / `initial equation`.
    Equations {
        /// `initial`.
        initial: bool,
        /// The equations.
        equations: Vec<Equation>,
    },
    /// `algorithm` / `initial algorithm`.
    Algorithm {
        /// `initial`.
        initial: bool,
        /// The statements.
        statements: Vec<Statement>,
        /// Where the section begins.
        span: Span,
    },
}

/// An equation with its description and place.
#[derive(Clone, Debug)]
pub struct Equation {
    /// What it says.
    pub kind: EquationKind,
    /// Description string.
    pub description: String,
    /// Annotation (on connect: `Line`).
    pub annotation: Option<Annotation>,
    /// Where.
    pub span: Span,
}

/// The forms of equations.
#[derive(Clone, Debug)]
pub enum EquationKind {
    /// `lhs = rhs`.
    Simple(Expr, Expr),
    /// `connect(a, b)`.
    Connect(ComponentRef, ComponentRef),
    /// `if … then … elseif … else … end if` (conditions with bodies; the else body last).
    If {
        /// `if`/`elseif` branches.
        branches: Vec<(Expr, Vec<Equation>)>,
        /// `else` branch.
        otherwise: Vec<Equation>,
    },
    /// `for i in r, j in s loop … end for`.
    For {
        /// Iterators.
        indices: Vec<ForIndex>,
        /// Body.
        body: Vec<Equation>,
    },
    /// `when c then … elsewhen d then … end when`.
    When {
        /// Branches in order of priority.
        branches: Vec<(Expr, Vec<Equation>)>,
    },
    /// A call used as an equation: `assert(…)`, `terminate(…)`, `reinit(…)`, `Connections.root(…)`, user functions.
    Call(Expr),
}

/// `i in range` (range absent: deduced from use).
#[derive(Clone, Debug)]
pub struct ForIndex {
    /// The iterator.
    pub name: Ident,
    /// Its range.
    pub range: Option<Expr>,
}

/// A statement of an algorithm.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it does.
    pub kind: StatementKind,
    /// Description and annotation.
    pub comment: Comment,
    /// Where.
    pub span: Span,
}

/// The forms of statements.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// `x := e`.
    Assign(ComponentRef, Expr),
    /// `(a, , b) := f(…)`.
    MultiAssign(Vec<Option<ComponentRef>>, Expr),
    /// A call as a statement.
    Call(Expr),
    /// `if`.
    If {
        /// `if`/`elseif` branches.
        branches: Vec<(Expr, Vec<Statement>)>,
        /// `else` branch.
        otherwise: Vec<Statement>,
    },
    /// `for`.
    For {
        /// Iterators.
        indices: Vec<ForIndex>,
        /// Body.
        body: Vec<Statement>,
    },
    /// `while`.
    While {
        /// Condition.
        condition: Expr,
        /// Body.
        body: Vec<Statement>,
    },
    /// `when`.
    When {
        /// Branches in order of priority.
        branches: Vec<(Expr, Vec<Statement>)>,
    },
    /// `break`.
    Break,
    /// `return`.
    Return,
}

/// The external clause of a function.
#[derive(Clone, Debug)]
pub struct External {
    /// `"C"`, `"FORTRAN 77"`, `"builtin"`; None if omitted (means C).
    pub language: Option<String>,
    /// `y =`.
    pub result: Option<ComponentRef>,
    /// The external function's name, if a call is given.
    pub name: Option<Ident>,
    /// Its arguments.
    pub args: Vec<Expr>,
    /// Annotation (Library, Include, …).
    pub annotation: Option<Annotation>,
    /// Where.
    pub span: Span,
}

/// A component reference: `.a[1].b[:, i].c`.
#[derive(Clone, Debug)]
pub struct ComponentRef {
    /// Starts with a dot.
    pub global: bool,
    /// Names with subscripts.
    pub parts: Vec<RefPart>,
    /// Where.
    pub span: Span,
}

/// One part of a component reference.
#[derive(Clone, Debug)]
pub struct RefPart {
    /// The name.
    pub name: Ident,
    /// Its subscripts, empty if none.
    pub subscripts: Vec<Subscript>,
}

/// An array subscript or dimension.
#[derive(Clone, Debug)]
pub enum Subscript {
    /// `:`
    All(Span),
    /// An expression (scalar or vector).
    Index(Expr),
}

/// An expression with its place.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where.
    pub span: Span,
}

/// Unary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum UnaryOp {
    Neg,
    Plus,
    /// `.-`
    ElemNeg,
    /// `.+`
    ElemPlus,
    Not,
}

/// Binary operators; the `Elem…` ones are the dotted forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    ElemAdd,
    ElemSub,
    ElemMul,
    ElemDiv,
    ElemPow,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    And,
    Or,
}

/// The forms of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// `1.5e3`, `.5`, `2.`: Real literal.
    Real(f64),
    /// Integer literal (kept as f64-exact i64; larger ones become Real).
    Integer(i64),
    /// `true`, `false`.
    Boolean(bool),
    /// String literal, escapes resolved.
    String(Arc<str>),
    /// A component (or class, or function) reference; `time` is one too.
    Ref(ComponentRef),
    /// Unary operator.
    Unary(UnaryOp, Box<Expr>),
    /// Binary operator.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `if a then b elseif c then d else e`.
    If(Vec<(Expr, Expr)>, Box<Expr>),
    /// `f(x, y, name = z)`; `der`, `initial`, `pure` as functions too.
    Call(Call),
    /// `{a, b}`.
    Array(Vec<Expr>),
    /// `{e for i in r}`.
    ArrayComprehension(Box<Expr>, Vec<ForIndex>),
    /// `[a, b; c, d]`.
    Matrix(Vec<Vec<Expr>>),
    /// `a:b` or `a:step:b`.
    Range(Box<Expr>, Option<Box<Expr>>, Box<Expr>),
    /// `(a, , b)`: output expression list (left of a tuple equation), or a parenthesised expression when single.
    Tuple(Vec<Option<Expr>>),
    /// `end` inside a subscript.
    End,
    /// `function f(x = 1)`: partial application, as a function argument.
    PartialFunction(Call),
    /// `e[i]` on a parenthesised/other expression or `e.field` (Modelica 3.7 style, tolerated).
    Index(Box<Expr>, Vec<Subscript>),
    /// Field of an expression (`f(x).re`, tolerated).
    Field(Box<Expr>, Ident),
    /// What could not be parsed; a diagnostic was given.
    Error,
}

/// A function call.
#[derive(Clone, Debug)]
pub struct Call {
    /// What is called.
    pub function: ComponentRef,
    /// Positional arguments.
    pub args: Vec<Expr>,
    /// Named arguments.
    pub named: Vec<(Ident, Expr)>,
    /// `f(e for i in r)`: reduction; then `args` holds the single body.
    pub iterators: Vec<ForIndex>,
}
