//! The node types.

use saltus_base::Id;

/// An expression in a [`crate::Pool`].
pub type ExprId = Id<Node>;

/// A function of the model's function table (the pool does not know what it does).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FuncId(pub u32);

impl FuncId {
    const TANGENT: u32 = 1 << 31;

    /// The function (x, dx) ↦ ∂f/∂x(x)·dx of this function f; `None` if it is one already. It is differentiated, not
    /// called: its directional derivative is the second derivative of f.
    pub fn tangent(self) -> Option<FuncId> {
        (self.0 & Self::TANGENT == 0).then_some(FuncId(self.0 | Self::TANGENT))
    }

    /// The function f whose [`FuncId::tangent`] this is, if it is one.
    pub fn of_tangent(self) -> Option<FuncId> {
        (self.0 & Self::TANGENT != 0).then_some(FuncId(self.0 & !Self::TANGENT))
    }
}

/// Functions of one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Unary {
    Neg,
    Not,
    Abs,
    /// -1, 0 or 1.
    Sign,
    Sqrt,
    Exp,
    Log,
    Log10,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Floor,
    Ceil,
    /// Towards zero (the quotient of Modelica's `div`).
    Trunc,
    /// The value itself. In functions: a relation or an integer part that becomes one that makes events where the function is
    /// inlined. In models: what is read at events only; relations that make events elsewhere are read, others compared.
    Event,
}

impl Unary {
    /// Its name, as in Modelica where there is one.
    pub fn name(self) -> &'static str {
        match self {
            Unary::Neg => "neg",
            Unary::Not => "not",
            Unary::Abs => "abs",
            Unary::Sign => "sign",
            Unary::Sqrt => "sqrt",
            Unary::Exp => "exp",
            Unary::Log => "log",
            Unary::Log10 => "log10",
            Unary::Sin => "sin",
            Unary::Cos => "cos",
            Unary::Tan => "tan",
            Unary::Asin => "asin",
            Unary::Acos => "acos",
            Unary::Atan => "atan",
            Unary::Sinh => "sinh",
            Unary::Cosh => "cosh",
            Unary::Tanh => "tanh",
            Unary::Floor => "floor",
            Unary::Ceil => "ceil",
            Unary::Trunc => "trunc",
            Unary::Event => "event",
        }
    }
}

/// Functions of two arguments. The relations here generate no event; see [`Node::Relation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Atan2,
    Min,
    Max,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    And,
    Or,
}

/// The operator of an event-generating relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum RelOp {
    Lt,
    Le,
    Gt,
    Ge,
}

impl RelOp {
    /// The same relation without an event.
    pub fn plain(self) -> Binary {
        match self {
            RelOp::Lt => Binary::Lt,
            RelOp::Le => Binary::Le,
            RelOp::Gt => Binary::Gt,
            RelOp::Ge => Binary::Ge,
        }
    }
}

/// A hash-consed expression node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// A constant, by its bits.
    Const(u64),
    /// The k-th hole of the template.
    Hole(u32),
    /// A function of one argument.
    Unary(Unary, ExprId),
    /// A function of two arguments.
    Binary(Binary, ExprId, ExprId),
    /// `if c then a else b`; only the chosen branch is evaluated.
    If(ExprId, ExprId, ExprId),
    /// An event-generating relation `a op b`. Event lowering replaces it by a hole before programs are made.
    Relation(RelOp, ExprId, ExprId),
    /// Event-generating `floor(a)`. Event lowering replaces it by a hole before programs are made.
    EventFloor(ExprId),
    /// Scalar output `out` of a function applied to flattened scalar arguments.
    Call {
        /// The function.
        func: FuncId,
        /// Flattened scalar arguments.
        args: Box<[ExprId]>,
        /// Which flattened scalar output.
        out: u32,
    },
    /// Directional derivative of output `out` at `args` along `dargs`.
    CallDer {
        /// The function.
        func: FuncId,
        /// Flattened scalar arguments.
        args: Box<[ExprId]>,
        /// The direction, as long as `args`.
        dargs: Box<[ExprId]>,
        /// Which flattened scalar output.
        out: u32,
    },
}
