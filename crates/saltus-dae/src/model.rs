//! The data types.

use saltus_base::{Arena, Id, Name, Span};
use saltus_expr::{ExprId, FuncId, Pool};
use saltus_function::Function;
use std::sync::Arc;

/// A variable's id.
pub type VarId = Id<Variable>;
/// An equation's id.
pub type EqId = Id<Equation>;
/// An if-equation's id.
pub type IfId = Id<IfGroup>;

/// What fills a hole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operand {
    /// A variable, or its derivative of some order, possibly negated (aliases live here, not in templates).
    Var {
        /// Which.
        var: VarId,
        /// 0: itself, 1: its derivative, …
        order: u8,
        /// Minus sign in front.
        neg: bool,
    },
    /// The left limit of a discrete (or, in when-clauses, any) variable.
    Pre {
        /// Which.
        var: VarId,
    },
    /// A constant.
    Const(f64),
}

impl Operand {
    /// The variable itself.
    pub fn var(var: VarId) -> Operand {
        Operand::Var { var, order: 0, neg: false }
    }
    /// Its derivative.
    pub fn der(var: VarId) -> Operand {
        Operand::Var { var, order: 1, neg: false }
    }
    /// The variable it speaks of, if any.
    pub fn variable(self) -> Option<VarId> {
        match self {
            Operand::Var { var, .. } | Operand::Pre { var } => Some(var),
            Operand::Const(_) => None,
        }
    }
}

/// A template with its operands: as an equation it says `template = 0`, elsewhere it is a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The expression over holes 0..args.len().
    pub template: ExprId,
    /// What fills them.
    pub args: Box<[Operand]>,
}

/// Where something comes from.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// Source place ([`Span::NONE`] by default).
    pub span: Option<Span>,
    /// Instance path of the component it belongs to (empty: the model itself), shared by what it holds.
    pub instance: Arc<str>,
    /// How a generated thing came about ("connection", "unconnected flow", "binding", …); empty for source equations.
    pub note: &'static str,
}

impl Origin {
    /// The note of a dummy equation: it takes part where nothing else determines a variable, and nowhere else.
    pub const DUMMY: &'static str = "dummy equation";

    /// Whether this is a dummy equation.
    pub fn is_dummy(&self) -> bool {
        self.note == Origin::DUMMY
    }
}

/// The type of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VarType {
    /// Real.
    Real,
    /// Integer.
    Integer,
    /// Boolean.
    Boolean,
    /// String handle.
    String,
    /// Enumeration (index into [`HybridDae::enumerations`]).
    Enumeration(u32),
    /// Handle of an external object.
    Object,
}

/// How often a variable may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Variability {
    /// Never: known when compiling.
    Constant,
    /// Fixed before the run (or solved at initialization with `fixed = false`).
    Parameter,
    /// Only at events.
    Discrete,
    /// Any time.
    Continuous,
}

/// Role at the model's boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Causality {
    Local,
    Input,
    Output,
}

/// `stateSelect`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum StateSelect {
    Never,
    Avoid,
    #[default]
    Default,
    Prefer,
    Always,
}

/// A scalar variable of the flat model.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Flat name: `a.b[2].c`.
    pub name: String,
    /// Its type.
    pub ty: VarType,
    /// Its variability.
    pub variability: Variability,
    /// Its causality (top-level only).
    pub causality: Causality,
    /// For parameters and constants: the defining value, in terms of other parameters. Variables get equations.
    pub binding: Option<Row>,
    /// Start value or guess.
    pub start: Option<Row>,
    /// `fixed`; `None` where the model says nothing (then false, or true for parameters).
    pub fixed: Option<bool>,
    /// Lower bound.
    pub min: Option<Row>,
    /// Upper bound.
    pub max: Option<Row>,
    /// Typical size.
    pub nominal: Option<Row>,
    /// `stateSelect`.
    pub state_select: StateSelect,
    /// Unit string.
    pub unit: Name,
    /// Display unit.
    pub display_unit: Name,
    /// Description, shared by all variables of a declaration.
    pub description: Arc<str>,
    /// Declared in a protected section, or generated (name starts with `$`): left out of results by default.
    pub hidden: bool,
    /// `annotation(HideResult = true)`: left out of results unless asked for by name.
    pub unshown: bool,
    /// Marked by the user of the initialization: stays when variables are eliminated, so that its start value is used.
    pub marked: bool,
    /// The modeller's word on tearing, `annotation(__Saltus_tear = true)`: torn in any case, or never if that can be helped.
    pub tear: Option<bool>,
    /// Where it comes from.
    pub origin: Origin,
}

impl Variable {
    /// A variable with nothing said about it.
    pub fn new(name: impl Into<String>, ty: VarType, variability: Variability) -> Variable {
        Variable {
            name: name.into(),
            ty,
            variability,
            causality: Causality::Local,
            binding: None,
            start: None,
            fixed: None,
            min: None,
            max: None,
            nominal: None,
            state_select: StateSelect::Default,
            unit: Name::default(),
            display_unit: Name::default(),
            description: Arc::default(),
            hidden: false,
            unshown: false,
            marked: false,
            tear: None,
            origin: Origin::default(),
        }
    }
}

/// A branch of an if-equation: (group, branch number; the else branch has number `conditions.len()`).
pub type Guard = (IfId, u32);

/// An if-equation whose conditions may change during the run. Its branches may hold different equations.
#[derive(Clone, Debug)]
pub struct IfGroup {
    /// Boolean values of `if`/`elseif`, in order.
    pub conditions: Vec<Row>,
    /// The branch this if-equation stands in, if nested.
    pub parent: Option<Guard>,
    /// Where it comes from.
    pub origin: Origin,
}

/// `row = 0`, while its guard's branch is the chosen one.
#[derive(Clone, Debug)]
pub struct Equation {
    /// The residual.
    pub row: Row,
    /// The branch it stands in.
    pub guard: Option<Guard>,
    /// Where it comes from.
    pub origin: Origin,
}

/// `(outputs) = function(args)`: one call that determines several variables. Algorithm sections take this form too:
/// discrete outputs read their previous values through `pre` operands among the arguments.
#[derive(Clone, Debug)]
pub struct CallEquation {
    /// The function.
    pub func: FuncId,
    /// Flattened scalar arguments.
    pub args: Vec<Row>,
    /// One variable per flattened scalar output.
    pub outputs: Vec<VarId>,
    /// The branch it stands in.
    pub guard: Option<Guard>,
    /// Where it comes from.
    pub origin: Origin,
}

/// Text with values in it (messages).
#[derive(Clone, Debug, Default)]
pub struct Message {
    /// The pieces in order.
    pub pieces: Vec<Piece>,
}

/// A piece of a message.
#[derive(Clone, Debug)]
pub enum Piece {
    /// Fixed text.
    Text(String),
    /// A string handle.
    String(Row),
}

/// What a when-branch does on its rising edge.
#[derive(Clone, Debug)]
pub enum Action {
    /// `var = value`.
    Assign {
        /// The discrete variable.
        var: VarId,
        /// Its new value.
        value: Row,
    },
    /// `(vars) = f(args)`.
    Call {
        /// The function.
        func: FuncId,
        /// Flattened arguments.
        args: Vec<Row>,
        /// One per flattened output (`None`: dropped).
        outputs: Vec<Option<VarId>>,
    },
    /// `reinit(state, value)`.
    Reinit {
        /// The state.
        var: VarId,
        /// Its new value.
        value: Row,
        /// Only if this holds (an `if` inside the when-clause).
        condition: Option<Row>,
    },
    /// `assert(condition, message)`.
    Assert {
        /// Must hold.
        condition: Row,
        /// Said otherwise.
        message: Message,
        /// Whether it stops the run.
        error: bool,
    },
    /// `terminate(message)`.
    Terminate {
        /// The reason.
        message: Message,
        /// Only if this holds.
        condition: Option<Row>,
    },
}

/// One branch of a when-equation.
#[derive(Clone, Debug)]
pub struct WhenBranch {
    /// Boolean variables; the branch fires on a rising edge of any of them. Condition expressions get a hidden Boolean
    /// variable with a defining equation (the front end makes it).
    pub conditions: Vec<VarId>,
    /// The condition holds `initial()`: the branch also fires at initialization.
    pub initial: bool,
    /// What it does.
    pub actions: Vec<Action>,
}

/// A when-equation; earlier branches win.
#[derive(Clone, Debug)]
pub struct When {
    /// Branches in order of priority. All assign the same variables.
    pub branches: Vec<WhenBranch>,
    /// The if-equation branch it stands in.
    pub guard: Option<Guard>,
    /// Where it comes from.
    pub origin: Origin,
}

/// `sample(start, interval)`: `var` is true exactly at the ticks.
#[derive(Clone, Debug)]
pub struct Sampler {
    /// The Boolean variable.
    pub var: VarId,
    /// First tick.
    pub start: Row,
    /// It is counted from the start of the run, as clocks are.
    pub from_start: bool,
    /// Distance of ticks.
    pub interval: Row,
    /// Where it comes from.
    pub origin: Origin,
}

/// `delay(expr, time)`: the delayed value is `func(time - delay)`.
#[derive(Clone, Debug)]
pub struct Delay {
    /// The function that reads it; it has no body.
    pub func: FuncId,
    /// What is delayed.
    pub value: Row,
    /// By how much.
    pub delay: Row,
    /// At most by how much.
    pub max: Row,
    /// Where it comes from.
    pub origin: Origin,
}

impl Delay {
    /// The rows that are evaluated while running.
    pub fn rows_mut(&mut self) -> impl Iterator<Item = &mut Row> {
        [&mut self.value, &mut self.delay].into_iter()
    }
}

/// `spatialDistribution`: a profile over 0 ≤ y ≤ 1 that moves with x. Its values at 0 and 1 are `ends[k](x)`.
#[derive(Clone, Debug)]
pub struct Distribution {
    /// The functions that read its ends; they have no bodies.
    pub ends: [FuncId; 2],
    /// Inflow at 0 and at 1, x, positiveVelocity.
    pub inputs: [Row; 4],
    /// Points of the profile at the start.
    pub points: Vec<Row>,
    /// Values there.
    pub values: Vec<Row>,
    /// Where it comes from.
    pub origin: Origin,
}

/// An assertion checked during the run.
#[derive(Clone, Debug)]
pub struct Assertion {
    /// Must hold.
    pub condition: Row,
    /// Said otherwise.
    pub message: Message,
    /// Error or warning.
    pub error: bool,
    /// The branch it stands in.
    pub guard: Option<Guard>,
    /// Where it comes from.
    pub origin: Origin,
}

/// A wish at initialization: `der^order(var) = goal`, met in least squares after everything that must hold.
#[derive(Clone, Copy, Debug)]
pub struct SoftTarget {
    /// The variable.
    pub var: VarId,
    /// Which derivative.
    pub order: u8,
    /// The hidden parameter that holds the wanted value.
    pub goal: VarId,
    /// Between 0 and 1.
    pub weight: f64,
}

/// An enumeration type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enumeration {
    /// Qualified name.
    pub name: String,
    /// Literals; the first has the value 1.
    pub literals: Vec<String>,
}

/// The `experiment` annotation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Experiment {
    pub start: Option<f64>,
    pub stop: Option<f64>,
    pub tolerance: Option<f64>,
    pub interval: Option<f64>,
}

/// A flat hybrid multi-mode differential-algebraic system.
#[derive(Clone, Debug)]
pub struct HybridDae {
    /// The model's qualified name.
    pub name: String,
    /// All expressions.
    pub pool: Pool,
    /// All variables; the first ones are [`HybridDae::TIME`], [`HybridDae::INITIAL`], [`HybridDae::TERMINAL`], [`HybridDae::LAMBDA`].
    pub vars: Arena<Variable>,
    /// Functions, by [`FuncId`].
    pub functions: Vec<Function>,
    /// Enumeration types.
    pub enumerations: Vec<Enumeration>,
    /// If-equations.
    pub ifs: Arena<IfGroup>,
    /// Equations, continuous and discrete (a Boolean equation `b = expr` is `b - expr = 0` here: the row of an
    /// equation that determines a discrete variable is always `hole0 - value` with hole0 the variable).
    pub equations: Arena<Equation>,
    /// Calls that determine several variables; algorithm sections.
    pub calls: Vec<CallEquation>,
    /// When-equations.
    pub whens: Vec<When>,
    /// Samplers.
    pub samplers: Vec<Sampler>,
    /// Delays.
    pub delays: Vec<Delay>,
    /// Distributions.
    pub distributions: Vec<Distribution>,
    /// Assertions.
    pub assertions: Vec<Assertion>,
    /// Initial equations.
    pub initial_equations: Vec<Equation>,
    /// Initial algorithms.
    pub initial_calls: Vec<CallEquation>,
    /// Soft initial conditions.
    pub soft_targets: Vec<SoftTarget>,
    /// First values of unknowns of initialization, beyond start values: (variable, derivative, value).
    pub guesses: Vec<(VarId, u8, f64)>,
    /// Quantities that events must leave as they are (`annotation(__Saltus_conserved = true)`): reported, not enforced.
    pub conserved: Vec<VarId>,
    /// The start is the end of an earlier run: what ticks at that very instant has ticked.
    pub continues: bool,
    /// What travelled in delays, then in distributions, at the end of that run.
    pub histories: Vec<Vec<f64>>,
    /// What that run left beyond values of variables: lines that `sim::resume` wrote.
    pub left: Vec<String>,
    /// The `experiment` annotation.
    pub experiment: Experiment,
}

impl HybridDae {
    /// The variable `time`.
    pub const TIME: VarId = VarId::new(0);
    /// True during initialization.
    pub const INITIAL: VarId = VarId::new(1);
    /// True at the end of a run.
    pub const TERMINAL: VarId = VarId::new(2);
    /// The homotopy parameter, 1 except during continuation.
    pub const LAMBDA: VarId = VarId::new(3);

    /// A model with nothing in it but the built-in variables.
    pub fn new(name: impl Into<String>) -> HybridDae {
        let mut vars = Arena::new();
        let mut builtin = |name: &str, ty, variability| {
            let mut v = Variable::new(name, ty, variability);
            v.hidden = true;
            vars.push(v);
        };
        builtin("time", VarType::Real, Variability::Continuous);
        builtin("$initial", VarType::Boolean, Variability::Discrete);
        builtin("$terminal", VarType::Boolean, Variability::Discrete);
        builtin("$lambda", VarType::Real, Variability::Parameter);
        HybridDae {
            name: name.into(),
            pool: Pool::new(),
            vars,
            functions: Vec::new(),
            enumerations: Vec::new(),
            ifs: Arena::new(),
            equations: Arena::new(),
            calls: Vec::new(),
            whens: Vec::new(),
            samplers: Vec::new(),
            delays: Vec::new(),
            distributions: Vec::new(),
            assertions: Vec::new(),
            initial_equations: Vec::new(),
            initial_calls: Vec::new(),
            soft_targets: Vec::new(),
            guesses: Vec::new(),
            conserved: Vec::new(),
            continues: false,
            histories: Vec::new(),
            left: Vec::new(),
            experiment: Experiment::default(),
        }
    }

    /// Whether a variable is one of the built-in ones.
    pub fn is_builtin(var: VarId) -> bool {
        var.index() < 4
    }
}
