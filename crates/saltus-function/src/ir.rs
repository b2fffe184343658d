//! The data types of functions.

use saltus_base::Span;
use saltus_expr::{Binary, FuncId, Unary};
use std::sync::Arc;

/// The scalar type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ScalarType {
    Real,
    Integer,
    Boolean,
    /// A handle into the process-wide string table.
    String,
    /// Ordinal, from 1.
    Enumeration,
    /// Handle of an external object.
    Object,
}

/// A local variable: index into [`Function::locals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalId(pub u32);

/// The size of one dimension of a local.
#[derive(Clone, Debug)]
pub enum Dim {
    /// Known.
    Fixed(usize),
    /// Evaluated on entry from earlier inputs.
    Computed(FExpr),
    /// Taken from what is assigned (`:` in a local or output), or from the argument at the call.
    Free,
}

/// An input, output or protected variable of a function.
#[derive(Clone, Debug)]
pub struct Local {
    /// Its name, for messages.
    pub name: String,
    /// Its element type.
    pub ty: ScalarType,
    /// Its dimensions, empty for a scalar.
    pub dims: Vec<Dim>,
    /// Initial value (default binding of locals and outputs), evaluated on entry in order of declaration.
    pub binding: Option<FExpr>,
}

/// A function specialised to its argument shapes.
#[derive(Clone, Debug)]
pub struct Function {
    /// Qualified name.
    pub name: String,
    /// All variables.
    pub locals: Vec<Local>,
    /// Which are inputs, in order of the flattened arguments.
    pub inputs: Vec<LocalId>,
    /// Which are outputs, in order of the flattened results.
    pub outputs: Vec<LocalId>,
    /// The algorithm, empty for external functions.
    pub body: Vec<FStmt>,
    /// The external clause.
    pub external: Option<ExternalCall>,
    /// `derivative` annotation: function computing the directional derivative, if given and usable; its arguments
    /// are the flattened inputs followed by the flattened Real input derivatives, its outputs the output derivatives.
    pub derivative: Option<FuncId>,
    /// Declared `impure`: never folded, never repeated speculatively.
    pub impure: bool,
    /// Where it is declared.
    pub span: Span,
}

impl Function {
    /// Number of scalars of a local whose dimensions are all fixed.
    pub fn fixed_len(&self, local: LocalId) -> Option<usize> {
        self.locals[local.0 as usize]
            .dims
            .iter()
            .map(|d| match d {
                Dim::Fixed(n) => Some(*n),
                _ => None,
            })
            .product()
    }
}

/// A call of foreign code.
#[derive(Clone, Debug)]
pub struct ExternalCall {
    /// `C`, `FORTRAN 77` or `builtin`.
    pub language: String,
    /// The symbol.
    pub symbol: String,
    /// The arguments in order (locals are passed by reference where the language asks for it), fields of records apart.
    pub args: Vec<FExpr>,
    /// How the arguments reach C, in order; empty if all are passed as they are.
    pub passing: Vec<Passing>,
    /// The last of `passing` is a record that the function returns.
    pub returns_record: bool,
    /// Where the returned value goes.
    pub result: Option<LocalId>,
    /// `Library`, `Include`, … annotation strings, for compilation from `Resources`.
    pub includes: Vec<String>,
    /// Libraries to link.
    pub libraries: Vec<String>,
    /// Folders of header files.
    pub include_dirs: Vec<String>,
    /// Folders of compiled libraries.
    pub library_dirs: Vec<String>,
    /// Folders of C code named like a library.
    pub source_dirs: Vec<String>,
    /// Of the constructor of an external object: the function that ends what it makes.
    pub destructor: Option<FuncId>,
}

impl ExternalCall {
    /// Whether two calls are compiled from the same code.
    pub fn same_code(&self, o: &ExternalCall) -> bool {
        self.includes == o.includes
            && self.libraries == o.libraries
            && self.include_dirs == o.include_dirs
            && self.library_dirs == o.library_dirs
            && self.source_dirs == o.source_dirs
    }
}

/// How the next of the arguments of an external call are passed.
#[derive(Clone, Debug, PartialEq)]
pub enum Passing {
    /// One as it is.
    Plain,
    /// The fields of a record, or of an array of records with this many dimensions: by a pointer to structures.
    Record {
        /// Its dimensions.
        rank: usize,
        /// The members of the structure.
        fields: Vec<Passing>,
    },
}

/// A subscript.
#[derive(Clone, Debug)]
pub enum FIndex {
    /// One scalar index (drops the dimension) or a vector of indices (keeps it).
    At(FExpr),
    /// `:`
    All,
}

/// Array and other functions that are not elementwise scalar functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Builtin {
    /// `size(a)` as a vector, or `size(a, i)` with two arguments.
    Size,
    Ndims,
    /// `a * b` in the sense of linear algebra (vectors, matrices, scalars).
    MatMul,
    Transpose,
    Identity,
    /// `diagonal(v)`.
    Diagonal,
    /// `zeros(n, …)`.
    Zeros,
    Ones,
    /// `fill(s, n, …)`.
    Fill,
    Linspace,
    /// Reductions over one array, or over two scalars (min, max).
    Sum,
    Product,
    MinOf,
    MaxOf,
    /// `cat(k, a, b, …)`, k a literal.
    Cat,
    /// `[a, b; c, d]` is `Cat(1, Cat(2, a, b), Cat(2, c, d))` of promoted arguments.
    Promote,
    Scalar,
    Vector,
    Matrix,
    OuterProduct,
    Symmetric,
    Cross,
    Skew,
    /// `a ^ n` of a square matrix.
    MatPow,
    /// Euclidean remainder family on numbers: `div`, `mod`, `rem`.
    Div,
    Mod,
    Rem,
    /// `integer(x)`.
    ToInteger,
    /// `String(x, minimumLength, leftJustified, significantDigits)`; arguments in that order, missing ones left out.
    ToString,
    /// Enumeration to string: literals are given as string arguments after the value.
    EnumToString,
    /// String concatenation.
    Concat,
    /// String relations: -1, 0, 1.
    CompareStrings,
    /// `semiLinear(x, k+, k-)`.
    SemiLinear,
}

/// An expression: scalar or array valued.
#[derive(Clone, Debug)]
pub enum FExpr {
    /// A number (Boolean as 0/1).
    Num(f64),
    /// A string constant.
    Str(Arc<str>),
    /// A whole local.
    Local(LocalId),
    /// Subscripted value.
    Index(Box<FExpr>, Vec<FIndex>),
    /// Elementwise.
    Unary(Unary, Box<FExpr>),
    /// Elementwise, scalars broadcast. (`Mul` of two arrays here is elementwise; see [`Builtin::MatMul`].)
    Binary(Binary, Box<FExpr>, Box<FExpr>),
    /// Only the chosen branch is evaluated.
    If(Box<FExpr>, Box<FExpr>, Box<FExpr>),
    /// `{a, b, …}`: equal shapes, a new leading dimension.
    Array(Vec<FExpr>),
    /// `a:step:b`.
    Range(Box<FExpr>, Option<Box<FExpr>>, Box<FExpr>),
    /// `{body for i in …}`; a new leading dimension per iterator (first iterator of the source is the last dimension,
    /// as in the specification).
    Comprehension(Box<FExpr>, Vec<(LocalId, FExpr)>),
    /// `sum(body for …)` and friends: `Sum`, `Product`, `MinOf`, `MaxOf`.
    Reduction(Builtin, Box<FExpr>, Vec<(LocalId, FExpr)>),
    /// Output number `out` of a function.
    Call(FuncId, Vec<FExpr>, usize),
    /// A call through a function-valued input: replaced at specialisation, kept for completeness.
    Builtin(Builtin, Vec<FExpr>),
}

impl FExpr {
    /// Whether a local is read.
    pub fn reads(&self, local: LocalId) -> bool {
        let mut all = Vec::new();
        crate::lower::mentions(self, &mut all, 0);
        all.contains(&local.0)
    }
}

/// What is assigned to.
#[derive(Clone, Debug)]
pub struct LValue {
    /// The local.
    pub local: LocalId,
    /// Its subscripts, empty for the whole.
    pub indices: Vec<FIndex>,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct FStmt {
    /// What it does.
    pub kind: FStmtKind,
    /// Where it stands.
    pub span: Span,
}

/// The forms of statements.
#[derive(Clone, Debug)]
pub enum FStmtKind {
    /// `x := e`.
    Assign(LValue, FExpr),
    /// `(a, , b) := f(…)`; also a bare call (no targets).
    MultiAssign(Vec<Option<LValue>>, FuncId, Vec<FExpr>),
    /// Branches in order, then the else part.
    If(Vec<(FExpr, Vec<FStmt>)>, Vec<FStmt>),
    /// Over the elements of a vector.
    For(LocalId, FExpr, Vec<FStmt>),
    /// While.
    While(FExpr, Vec<FStmt>),
    /// Break.
    Break,
    /// Return.
    Return,
    /// `assert(condition, message, level)`: `true` for warnings only.
    Assert(FExpr, FExpr, bool),
    /// `terminate(message)`.
    Terminate(FExpr),
}
