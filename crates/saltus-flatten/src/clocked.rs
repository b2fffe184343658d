//! Clocked partitions. Clocked operators leave hidden variables behind while equations are built; at the end the
//! variables that equations tie together form partitions, clocks are propagated between them, and every clocked
//! partition becomes one when-clause on its tick:
//!
//! ```text
//! y = sample(u);  x = previous(x) + y;   ⇒   when $tick then  y = pre(u);  x = pre(x) + y;  end when;
//! ```

use crate::discretize::FIRST;
use crate::value::{Ty, Value};
use crate::{Env, Flattener, Mode, R};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_base::{Diagnostic, Span, Stage};
use saltus_dae::{
    Action, Assertion, Equation, Guard, HybridDae, Message, Operand, Origin, Piece, Sampler, VarId, VarType,
    Variability, When, WhenBranch,
};
use saltus_expr::{Binary, Coefficient, ExprId, Node as XNode, RelOp, Unary, affine_in, inverted};
use saltus_syntax::ast::{Call, Equation as AstEquation, Expr};
use std::collections::hash_map::Entry;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rational {
    n: i128,
    d: i128,
}

impl Rational {
    fn new(n: i128, d: i128) -> Self {
        let g = gcd(n.abs(), d.abs()).max(1);
        let s = if d < 0 { -1 } else { 1 };
        Rational { n: s * n / g, d: s * d / g }
    }
    /// The simple fraction a decimal number means, if there is one.
    fn near(x: f64) -> Option<Self> {
        for d in [1i128, 10, 100, 1000, 10_000, 100_000, 1_000_000, 3, 7, 9, 30, 60, 50, 48, 256, 1024] {
            let n = (x * d as f64).round();
            if n.abs() < 1e15 && (n / d as f64 - x).abs() <= x.abs() * 1e-14 {
                return Some(Rational::new(n as i128, d));
            }
        }
        None
    }
    fn add(self, o: Self) -> Self {
        Rational::new(self.n * o.d + o.n * self.d, self.d * o.d)
    }
    fn mul(self, o: Self) -> Self {
        Rational::new(self.n * o.n, self.d * o.d)
    }
    fn div(self, o: Self) -> Self {
        Rational::new(self.n * o.d, self.d * o.n)
    }
    pub(crate) fn value(self) -> f64 {
        self.n as f64 / self.d as f64
    }
    fn gcd(self, o: Self) -> Self {
        Rational::new(gcd((self.n * o.d).abs(), (o.n * self.d).abs()), self.d * o.d)
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Where ticks come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Base {
    /// Multiples of this many seconds.
    Periodic(f64),
    /// Rising edges of a Boolean.
    Event(VarId),
    /// When time reaches this variable, which every tick sets anew.
    Varying(VarId),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Clock {
    pub(crate) base: Base,
    pub(crate) period: Rational,
    offset: Rational,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Sample,
    Hold,
    /// period × factor (`None`: inferred).
    Sub(Option<i128>),
    Super(Option<i128>),
    Shift(Rational),
    Back(Rational),
    NoClock,
    Interval,
    FirstTick,
}

impl Kind {
    /// The clock of the result, from that of the argument.
    fn forward(self, c: Clock) -> Option<Clock> {
        let r = |f: i128| Rational::new(f, 1);
        Some(match self {
            Kind::Sub(f) => Clock { period: c.period.mul(r(f?)), ..c },
            Kind::Super(f) => Clock { period: c.period.div(r(f?)), ..c },
            Kind::Shift(s) => Clock { offset: c.offset.add(c.period.mul(s)), ..c },
            Kind::Back(s) => Clock { offset: c.offset.add(c.period.mul(Rational::new(-s.n, s.d))), ..c },
            _ => return None,
        })
    }

    /// The clock of the argument, from that of the result.
    fn backward(self, c: Clock) -> Option<Clock> {
        match self {
            Kind::Sub(f) => Kind::Super(f).forward(c),
            Kind::Super(f) => Kind::Sub(f).forward(c),
            Kind::Shift(s) => Kind::Back(s).forward(c),
            Kind::Back(s) => Kind::Shift(s).forward(c),
            _ => None,
        }
    }
}

impl Clock {
    /// Whether two clocks tick at the same instants.
    fn same(self, o: Clock) -> bool {
        match (self.base, o.base) {
            (Base::Periodic(a), Base::Periodic(b)) => {
                let near = |x: f64, y: f64| (x - y).abs() <= 1e-9 * x.abs().max(y.abs());
                near(a * self.period.value(), b * o.period.value())
                    && near(a * self.offset.value(), b * o.offset.value())
            }
            _ => self == o,
        }
    }
}

/// A clock of varying interval, in variables that its ticks set.
#[derive(Clone, Copy)]
struct Varying {
    /// When it ticks next.
    next: VarId,
    /// How long that is from its last tick.
    length: VarId,
    /// The interval as the model says it, in parts of a second.
    interval: VarId,
    resolution: i128,
}

/// `terminate(message)` on a clock.
struct Ending {
    clock: VarId,
    message: Message,
    guard: Option<Guard>,
    origin: Origin,
}

struct Op {
    kind: Kind,
    out: VarId,
    arg: Option<ExprId>,
    span: Span,
}

/// What is known about clocks.
#[derive(Default)]
pub(crate) struct Clocks {
    vars: FxHashSet<VarId>,
    defs: Vec<(VarId, Clock)>,
    /// Clocks with a method of integration.
    solved: Vec<(VarId, String, Span)>,
    ops: Vec<Op>,
    /// What interval() is at the first tick of an event clock, by its condition.
    first: Vec<(VarId, f64)>,
    varying: Vec<Varying>,
    /// Equations (by number) and calls that a clock drives.
    tagged: Vec<(usize, VarId)>,
    tagged_calls: Vec<(usize, VarId)>,
    tagged_assertions: Vec<(usize, VarId)>,
    /// `terminate` in when-clauses of clocks.
    endings: Vec<Ending>,
    /// Variables whose previous values are asked for.
    states: Vec<VarId>,
    /// The clock of the when-clause being read.
    current: Option<VarId>,
    /// Variables that tick together though no equation ties them.
    together: Vec<(VarId, VarId)>,
    /// What the equation being read has lost where it is constant (`0*u`, `u - u`): clocks know it still.
    pub(crate) vanished: Vec<ExprId>,
}

impl Clocks {
    /// Whether the model has any.
    pub fn any(&self) -> bool {
        !self.vars.is_empty() || !self.defs.is_empty() || !self.ops.is_empty()
    }
}

impl Clocks {
    /// What operators give.
    pub(crate) fn results(&self) -> impl Iterator<Item = VarId> {
        self.ops.iter().map(|op| op.out)
    }
    /// The arguments of operators, with the variables they give.
    pub(crate) fn arguments(&mut self) -> impl Iterator<Item = (VarId, &mut ExprId)> {
        self.ops.iter_mut().filter_map(|op| op.arg.as_mut().map(|a| (op.out, a)))
    }
    /// Equations have gone, others have moved: where each of them is now.
    pub(crate) fn moved(&mut self, places: &[Option<usize>]) {
        self.tagged.retain_mut(|t| match places.get(t.0) {
            Some(Some(now)) => {
                t.0 = *now;
                true
            }
            Some(None) => false,
            // What is no equation.
            None => true,
        });
    }
    /// Notes that the previous value of a variable is asked for.
    pub(crate) fn mark_state(&mut self, v: VarId) {
        self.states.push(v);
    }
    /// Puts two variables on one clock.
    pub(crate) fn tie(&mut self, a: VarId, b: VarId) {
        self.together.push((a, b));
    }
}

impl<'t> Flattener<'t> {
    pub(crate) fn is_clock_var(&mut self, first: VarId, count: usize) {
        for k in 0..count {
            self.clocks.vars.insert(VarId::new(first.index() + k));
        }
    }

    /// Ties what an equation has lost to what is left of it.
    pub(crate) fn tie_vanished(&mut self, residual: ExprId) {
        let Some(&gone) = self.clocks.vanished.first() else { return };
        let Some(&left) = self.vars_in(residual).first() else { return };
        // All of it belongs together, so that one of it is enough from now on.
        for e in std::mem::replace(&mut self.clocks.vanished, vec![gone]) {
            for v in self.vars_in(e) {
                self.clocks.tie(left, v);
            }
        }
    }

    fn clock_var(&mut self, env: &Env, span: Span) -> VarId {
        let o = self.origin(env, span, "clock");
        let v = self.hidden("clock", VarType::Boolean, Variability::Discrete, o);
        self.clocks.vars.insert(v);
        v
    }

    fn konst_number(&mut self, env: &Env, e: &Expr) -> R<(f64, Ty)> {
        let v = self.eval(&Env { mode: Mode::Konst, ..*env }, e)?;
        match (self.const_of(&v), v.ty()) {
            (Some(x), Some(t)) => Ok((x, t)),
            _ => Err(self.err(e.span, "a constant is needed here")),
        }
    }

    fn int_arg(&mut self, env: &Env, c: &Call, k: usize, name: &str) -> R<Option<i128>> {
        let e = c.args.get(k).or_else(|| c.named.iter().find(|(n, _)| n.name == name).map(|(_, e)| e));
        match e {
            Some(e) => match self.konst_number(env, e)? {
                (n, Ty::Int) => Ok(Some(n as i128)),
                (n, ty) => Err(self.err(e.span, format!("{name} must be an Integer, not the {} {n}", ty.text()))),
            },
            None => Ok(None),
        }
    }

    pub(crate) fn clock_call(&mut self, env: &Env, name: &str, c: &Call, span: Span) -> R<Value> {
        if name == "Clock" {
            if env.mode != Mode::Model {
                return Ok(Value::Num(self.dae.pool.hole(u32::MAX), Ty::Clock));
            }
            let v = self.clock_var(env, span);
            let first = c.args.first().or_else(|| c.named.first().map(|(_, e)| e));
            if let Some(e) = first {
                let value = self.eval(env, e)?;
                let one = Rational::new(1, 1);
                let zero = Rational::new(0, 1);
                match value.ty() {
                    Some(Ty::Int | Ty::Real) if self.value_variability(&value) > Variability::Parameter => {
                        let resolution = self.int_arg(env, c, 1, "resolution")?.unwrap_or(1);
                        self.varying_clock(env, v, &value, resolution, span)?;
                    }
                    Some(Ty::Clock) => {
                        // A solver method; the clock is the same.
                        let method = c
                            .args
                            .get(1)
                            .or_else(|| c.named.iter().find(|(n, _)| n.name == "solverMethod").map(|(_, e)| e));
                        if let Some(m) = method {
                            let m = self.eval(&Env { mode: Mode::Konst, ..*env }, m)?;
                            if let Some(m) = self.str_of(&m).filter(|s| !s.is_empty()) {
                                self.clocks.solved.push((v, m, span));
                            }
                        }
                        let x = value.scalar_list()[0];
                        let y = self.var_expr(v);
                        let r = self.dae.pool.sub(y, x);
                        self.add_equation(env, r, span, "clock");
                    }
                    Some(Ty::Bool) => {
                        let x = value.scalar_list()[0];
                        let cond = self.condition_var(env, x, span);
                        let start =
                            c.args.get(1).or(c.named.iter().find(|(n, _)| n.name == "startInterval").map(|(_, e)| e));
                        if let Some(e) = start {
                            let (first, ty) = self.konst_number(env, e)?;
                            if !ty.numeric() {
                                let text = format!("startInterval must be a Real, not a {}", ty.text());
                                return Err(self.err(e.span, text));
                            }
                            self.clocks.first.push((cond, first));
                        }
                        self.clocks.defs.push((v, Clock { base: Base::Event(cond), period: one, offset: zero }));
                    }
                    Some(Ty::Int) => {
                        let n = self.konst_number(env, e)?.0 as i128;
                        let d = self.int_arg(env, c, 1, "resolution")?.unwrap_or(1);
                        if n < 0 || d <= 0 {
                            let what = if n < 0 { "interval" } else { "resolution" };
                            return Err(self.err(span, format!("the {what} of a clock must be positive")));
                        }
                        // An interval of 0 is inferred.
                        if n > 0 {
                            let clock = Clock { base: Base::Periodic(1.0), period: Rational::new(n, d), offset: zero };
                            self.clocks.defs.push((v, clock));
                        }
                    }
                    Some(Ty::Real) => {
                        if c.args.len() + c.named.len() > 1 {
                            let hint = "a resolution divides an Integer: Clock(1, 10) ticks every tenth of a second";
                            let text = "a clock with a Real interval has no further arguments";
                            return Err(self.err_hints(span, text, vec![hint.into()]));
                        }
                        let t = self.konst_number(env, e)?.0;
                        if t <= 0.0 {
                            return Err(self.err(e.span, "the interval of a clock must be positive"));
                        }
                        let clock = match Rational::near(t) {
                            Some(r) => Clock { base: Base::Periodic(1.0), period: r, offset: zero },
                            None => Clock { base: Base::Periodic(t), period: one, offset: zero },
                        };
                        self.clocks.defs.push((v, clock));
                    }
                    _ => return Err(self.err(span, "a clock is made from an interval, a condition or a clock")),
                }
            }
            return Ok(Value::Num(self.var_expr(v), Ty::Clock));
        }
        let arg = match c.args.first().or_else(|| c.named.iter().find(|(n, _)| n.name == "u").map(|(_, e)| e)) {
            Some(e) => Some(self.eval(env, e)?),
            None => None,
        };
        let kind = match name {
            "sample" => Kind::Sample,
            "hold" => Kind::Hold,
            "subSample" | "superSample" => {
                // A factor of 0 is inferred, as a missing one.
                let factor = self.int_arg(env, c, 1, "factor")?;
                if factor.is_some_and(|f| f < 0) {
                    return Err(self.err(span, format!("the factor of {name} must not be negative")));
                }
                let factor = factor.filter(|&f| f > 0);
                if name == "subSample" { Kind::Sub(factor) } else { Kind::Super(factor) }
            }
            "shiftSample" | "backSample" => {
                let n = self
                    .int_arg(env, c, 1, if name == "backSample" { "backCounter" } else { "shiftCounter" })?
                    .unwrap_or(0);
                let d = self.int_arg(env, c, 2, "resolution")?.unwrap_or(1);
                if n < 0 || d < 1 {
                    let what =
                        if n < 0 { "counter of {} must not be negative" } else { "resolution of {} must be positive" };
                    return Err(self.err(span, format!("the {}", what.replace("{}", name))));
                }
                let r = Rational::new(n, d);
                if name == "backSample" { Kind::Back(r) } else { Kind::Shift(r) }
            }
            "noClock" => Kind::NoClock,
            "interval" => Kind::Interval,
            "firstTick" => Kind::FirstTick,
            _ => return Err(self.err(span, format!("the clocked operator {name} is not known"))),
        };
        if env.mode == Mode::Shape {
            return match (kind, arg) {
                (Kind::Interval | Kind::FirstTick, _) | (_, None) => Ok(self.num(0.0, Ty::Real)),
                (_, Some(v)) => Ok(v),
            };
        }
        if kind != Kind::Sample && arg.iter().flat_map(Value::scalar_list).any(|x| self.is_time_alone(x)) {
            let hint = "sample(…) makes a clocked signal of one that is defined all the time".to_string();
            return Err(self.err_hints(span, format!("{name} needs a clocked signal"), vec![hint]));
        }
        if let Kind::Interval | Kind::FirstTick = kind {
            let ty = if kind == Kind::Interval { Ty::Real } else { Ty::Bool };
            let o = self.origin(env, span, "clock");
            let vt = self.var_type(ty);
            let out = self.hidden(name, vt, Variability::Discrete, o);
            let arg = arg.and_then(|v| v.scalar_list().first().copied());
            self.clocks.ops.push(Op { kind, out, arg, span });
            return Ok(Value::Num(self.var_expr(out), ty));
        }
        let Some(arg) = arg else { return Err(self.err(span, format!("{name} needs an argument"))) };
        // sample(u, clock): the result belongs to that clock.
        let clock =
            match (kind, c.args.get(1).or_else(|| c.named.iter().find(|(n, _)| n.name == "clock").map(|(_, e)| e))) {
                (Kind::Sample, Some(e)) => {
                    let v = self.eval(env, e)?;
                    if v.ty() != Some(Ty::Clock) {
                        return Err(self.err(e.span, format!("sample needs a clock, not {}", v.describe())));
                    }
                    v.scalar_list().first().and_then(|&x| self.as_var(x))
                }
                _ => None,
            };
        let mut list = Vec::new();
        let mut scalars = Vec::new();
        arg.scalars(&mut scalars);
        for (x, ty) in scalars {
            let o = self.origin(env, span, "clock");
            let vt = self.var_type(ty);
            let out = self.hidden(name, vt, Variability::Discrete, o);
            if ty == Ty::Clock {
                self.clocks.vars.insert(out);
            }
            if let Some(s) = self.as_var(x).and_then(|v| self.dae.vars[v].start.clone()) {
                self.dae.vars[out].start = Some(s);
            }
            self.clocks.ops.push(Op { kind, out, arg: Some(x), span });
            if let Some(k) = clock {
                // The result and the clock tick together.
                self.clocks.tagged.push((usize::MAX - out.index(), k));
            }
            list.push(self.var_expr(out));
        }
        let mut it = list.into_iter();
        Ok(arg.rebuild(&mut |x, _| it.next().unwrap_or(x)))
    }

    /// A clock whose interval is a clocked variable: each tick says when the next one comes (Modelica 3.6, section 16.3).
    /// A counter counts as this tick sets it, a Real interval as the tick before did.
    fn varying_clock(&mut self, env: &Env, clock: VarId, value: &Value, resolution: i128, span: Span) -> R<()> {
        let Some(interval) = value.scalar_list().first().and_then(|&x| self.as_var(x)) else {
            return Err(self.err(span, "the interval of a clock must be a variable or known when compiling"));
        };
        if resolution < 1 {
            return Err(self.err(span, "the resolution of a clock must be positive"));
        }
        let origin = self.origin(env, span, "clock");
        let next = self.hidden("next", VarType::Real, Variability::Discrete, origin.clone());
        let length = self.hidden("length", VarType::Real, Variability::Discrete, origin);
        // The first tick is at the start.
        let row = self.dae.constant_row(-f64::MAX);
        self.dae.vars[next].start = Some(row);
        self.dae.vars[next].fixed = Some(true);
        let mut said = self.var_expr(interval);
        if value.ty() == Some(Ty::Real) {
            said = self.previous(said, span)?;
        }
        let (x, h, time) = (self.var_expr(next), self.var_expr(length), self.var_expr(HybridDae::TIME));
        self.interval_is_positive(env, clock, said, span);
        let p = &mut self.dae.pool;
        let divisor = p.num(resolution as f64);
        let said = p.div(said, divisor);
        let then = p.add(time, h);
        let equations = [(h, said), (x, then)].map(|(v, e)| p.intern(XNode::Binary(Binary::Sub, v, e)));
        for e in equations {
            self.clocks.tagged.push((self.dae.equations.len(), clock));
            self.add_equation(env, e, span, "clock");
        }
        self.clocks.varying.push(Varying { next, length, interval, resolution });
        let (one, zero) = (Rational::new(1, 1), Rational::new(0, 1));
        self.clocks.defs.push((clock, Clock { base: Base::Varying(next), period: one, offset: zero }));
        Ok(())
    }

    /// What a tick says about the next one has to lie ahead.
    fn interval_is_positive(&mut self, env: &Env, clock: VarId, said: ExprId, span: Span) {
        let zero = self.dae.pool.num(0.0);
        let positive = self.dae.pool.bin(Binary::Gt, said, zero);
        let origin = self.origin(env, span, "clock");
        let text = "the interval of this clock is not positive: there is no next tick";
        let (condition, message) = (self.row(positive), Message { pieces: vec![Piece::Text(text.into())] });
        self.clocks.tagged_assertions.push((self.dae.assertions.len(), clock));
        self.dae.assertions.push(Assertion { condition, message, error: true, guard: self.guard, origin });
    }

    /// Whether an expression depends on time, and on no variable that could belong to a clock.
    fn is_time_alone(&self, x: ExprId) -> bool {
        let mut time = false;
        for k in self.dae.pool.holes(x) {
            match self.hole(k).and_then(|o| o.variable()) {
                Some(v) if v == HybridDae::TIME => time = true,
                Some(v) if self.dae.vars[v].variability <= Variability::Parameter => {}
                Some(_) => return false,
                None => {}
            }
        }
        time
    }

    pub(crate) fn previous(&mut self, e: ExprId, span: Span) -> R<ExprId> {
        if self.is_time_alone(e) {
            return Err(self.err(span, "previous needs a clocked variable: time has no ticks"));
        }
        if let Some(v) = self.as_var(e) {
            self.clocks.states.push(v);
            if self.dae.vars[v].variability > Variability::Discrete {
                self.dae.vars[v].variability = Variability::Discrete;
            }
        }
        self.pre(e, span)
    }

    pub(crate) fn clocked_when(
        &mut self,
        env: &Env,
        c: &'t Expr,
        body: &'t [AstEquation],
        branches: usize,
        span: Span,
    ) -> R<bool> {
        let shape = self.eval(&Env { mode: Mode::Shape, ..*env }, c);
        if !matches!(&shape, Ok(v) if v.ty() == Some(Ty::Clock)) {
            return Ok(false);
        }
        if branches > 1 {
            return Err(self.err(span, "a when-clause on a clock has no elsewhen"));
        }
        let v = self.eval(env, c)?;
        let Some(clock) = v.scalar_list().first().and_then(|&x| self.as_var(x)) else {
            return Err(self.err(c.span, "this is not a clock"));
        };
        let (first, calls, assertions) = (self.dae.equations.len(), self.dae.calls.len(), self.dae.assertions.len());
        let around = self.clocks.current.replace(clock);
        let env = &Env { clocked: true, ..*env };
        for e in body {
            if let saltus_syntax::ast::EquationKind::When { .. } = e.kind {
                self.clocks.current = around;
                return Err(self.err(e.span, "a when-clause cannot stand inside one that a clock drives"));
            }
            if let Err(d) = self.equation(env, e) {
                self.report_in(d, env.scope);
            }
        }
        self.clocks.current = around;
        for k in first..self.dae.equations.len() {
            self.clocks.tagged.push((k, clock));
        }
        for k in calls..self.dae.calls.len() {
            self.clocks.tagged_calls.push((k, clock));
        }
        for k in assertions..self.dae.assertions.len() {
            self.clocks.tagged_assertions.push((k, clock));
        }
        Ok(true)
    }

    /// `terminate(message)` in a when-clause of a clock; `false` if it stands in none.
    pub(crate) fn clocked_terminate(&mut self, env: &Env, c: &Call, span: Span) -> R<bool> {
        let Some(clock) = self.clocks.current else { return Ok(false) };
        let message = match c.args.first() {
            Some(m) => self.message(env, m)?,
            None => Message::default(),
        };
        let origin = self.origin(env, span, "");
        self.clocks.endings.push(Ending { clock, message, guard: self.guard, origin });
        Ok(true)
    }

    // ---- the end: partitions -------------------------------------------------------------------------------------

    pub(crate) fn varies(&self, v: VarId) -> bool {
        !HybridDae::is_builtin(v) && self.dae.vars[v].variability >= Variability::Discrete
    }

    pub(crate) fn vars_in(&self, e: ExprId) -> Vec<VarId> {
        let mut out = Vec::new();
        for k in self.dae.pool.holes(e) {
            if let Some(v) = self.hole(k).and_then(Operand::variable)
                && self.varies(v)
            {
                out.push(v);
            }
        }
        out
    }

    fn row_vars(&self, r: &saltus_dae::Row) -> Vec<VarId> {
        r.args.iter().filter_map(|a| a.variable()).filter(|&v| self.varies(v)).collect()
    }

    /// The variables of the conditions that a branch stands under.
    fn guard_vars(&self, guard: Option<Guard>) -> Vec<VarId> {
        let (mut out, mut guard) = (Vec::new(), guard);
        while let Some((g, _)) = guard {
            let group = &self.dae.ifs[g];
            out.extend(group.conditions.iter().flat_map(|c| self.row_vars(c)));
            guard = group.parent;
        }
        out
    }

    /// Whether a branch and those around it are taken.
    fn guard_holds(&mut self, guard: Option<Guard>) -> ExprId {
        let (mut out, mut guard) = (self.dae.pool.num(1.0), guard);
        while let Some((g, branch)) = guard {
            let group = self.dae.ifs[g].clone();
            for (k, c) in group.conditions.iter().enumerate().take(branch as usize + 1) {
                let mut c = self.rows.open(&mut self.dae.pool, c);
                if k < branch as usize {
                    c = self.dae.pool.not(c);
                }
                out = self.dae.pool.bin(Binary::And, c, out);
            }
            guard = group.parent;
        }
        out
    }

    /// Derivatives are sampled like other signals of continuous time, as variables. So is what switches: a tick takes its left limit.
    fn name_sampled_expressions(&mut self) {
        let mut ops = std::mem::take(&mut self.clocks.ops);
        for op in ops.iter_mut().filter(|op| op.kind == Kind::Sample) {
            let Some(a) = op.arg else { continue };
            let derived = |k: &u32| matches!(self.hole(*k), Some(Operand::Var { order: 1.., .. }));
            let mut named = self.dae.pool.holes(a).iter().any(derived);
            self.dae.pool.visit(a, |_, n| named |= matches!(n, XNode::Relation(..) | XNode::EventFloor(_)));
            if named {
                let origin = Origin { note: "", ..self.dae.vars[op.out].origin.clone() };
                let ty = self.dae.vars[op.out].ty.clone();
                let variability = if ty == VarType::Real { Variability::Continuous } else { Variability::Discrete };
                let v = self.hidden("sampled", ty, variability, origin.clone());
                self.define(v, a, &origin);
                op.arg = Some(self.var_expr(v));
            }
        }
        self.clocks.ops = ops;
    }

    pub(crate) fn finish_clocks(&mut self) {
        if self.clocks.ops.is_empty() && self.clocks.vars.is_empty() && self.clocks.states.is_empty() {
            return;
        }
        // What is missing because of other errors would be told again as clocks that cannot be found.
        if self.diagnostics.iter().any(|d| d.severity == saltus_base::Severity::Error) {
            return;
        }
        if let Err(e) = self.partition() {
            self.diagnostics.push(*e);
        }
    }

    fn partition(&mut self) -> R<()> {
        self.name_sampled_expressions();
        let n = self.dae.vars.len();
        let mut parent: Vec<u32> = (0..n as u32).collect();
        fn find(p: &mut [u32], mut i: u32) -> u32 {
            while p[i as usize] != i {
                p[i as usize] = p[p[i as usize] as usize];
                i = p[i as usize];
            }
            i
        }
        let mut tie = |vs: &[VarId]| {
            for w in vs.windows(2) {
                let (a, b) = (find(&mut parent, w[0].index() as u32), find(&mut parent, w[1].index() as u32));
                parent[a.max(b) as usize] = a.min(b);
            }
        };
        for eq in self.dae.equations.as_slice() {
            let mut vs = self.row_vars(&eq.row);
            vs.extend(self.guard_vars(eq.guard));
            tie(&vs);
        }
        // An operator in an assertion ticks with what else the assertion reads.
        let made: FxHashSet<VarId> = self.clocks.ops.iter().filter(|o| o.kind != Kind::Hold).map(|o| o.out).collect();
        for a in &self.dae.assertions {
            let mut vs = self.row_vars(&a.condition);
            vs.extend(self.guard_vars(a.guard));
            if vs.iter().any(|v| made.contains(v)) {
                tie(&vs);
            }
        }
        for &(k, c) in &self.clocks.tagged_assertions {
            let a = &self.dae.assertions[k];
            let mut vs = self.row_vars(&a.condition);
            vs.extend(self.guard_vars(a.guard));
            vs.push(c);
            tie(&vs);
        }
        for e in &self.clocks.endings {
            let mut vs = self.guard_vars(e.guard);
            vs.push(e.clock);
            tie(&vs);
        }
        for &(a, b) in &self.clocks.together {
            tie(&[a, b]);
        }
        for c in &self.dae.calls {
            let mut vs: Vec<VarId> = c.args.iter().flat_map(|r| self.row_vars(r)).collect();
            vs.extend(&c.outputs);
            tie(&vs);
        }
        for w in &self.dae.whens {
            let mut vs: Vec<VarId> = Vec::new();
            for b in &w.branches {
                vs.extend(&b.conditions);
                for a in &b.actions {
                    match a {
                        Action::Assign { var, value } => {
                            vs.push(*var);
                            vs.extend(self.row_vars(value));
                        }
                        Action::Reinit { var, value, .. } => {
                            vs.push(*var);
                            vs.extend(self.row_vars(value));
                        }
                        Action::Call { args, outputs, .. } => {
                            vs.extend(outputs.iter().flatten());
                            vs.extend(args.iter().flat_map(|r| self.row_vars(r)));
                        }
                        _ => {}
                    }
                }
            }
            tie(&vs);
        }
        for op in &self.clocks.ops {
            if let Some(a) = op.arg {
                let vs = self.vars_in(a);
                tie(&vs);
                if matches!(op.kind, Kind::FirstTick | Kind::Interval)
                    && let Some(&v) = vs.first()
                {
                    tie(&[op.out, v]);
                }
            }
        }
        for &(k, c) in &self.clocks.tagged {
            if k < self.dae.equations.len() {
                let mut vs = self.row_vars(&self.dae.equations.as_slice()[k].row);
                vs.push(c);
                tie(&vs);
            } else {
                tie(&[VarId::new(usize::MAX - k), c]);
            }
        }
        for &(k, c) in &self.clocks.tagged_calls {
            let mut vs = self.dae.calls[k].outputs.clone();
            vs.push(c);
            tie(&vs);
        }
        let of: Vec<u32> = (0..n as u32).map(|i| find(&mut parent, i)).collect();
        let part = |v: VarId| of[v.index()];
        // Which partitions are clocked, and what is known of their clocks.
        let mut clocked: FxHashSet<u32> = FxHashSet::default();
        let mut clock: FxHashMap<u32, Clock> = FxHashMap::default();
        for &v in &self.clocks.vars {
            clocked.insert(part(v));
        }
        let mut conflicts: Vec<(Span, Option<Span>, Clock, Clock)> = Vec::new();
        let mut said: FxHashMap<u32, VarId> = FxHashMap::default();
        for &(v, c) in &self.clocks.defs {
            let place = |v: VarId| self.dae.vars[v].origin.span;
            match clock.get(&part(v)) {
                Some(&d) if !d.same(c) => {
                    conflicts.push((place(v).unwrap_or(Span::NONE), said.get(&part(v)).and_then(|&w| place(w)), d, c))
                }
                _ => {
                    clock.insert(part(v), c);
                    said.insert(part(v), v);
                }
            }
            clocked.insert(part(v));
        }
        for &v in &self.clocks.states {
            clocked.insert(part(v));
        }
        for op in &self.clocks.ops {
            let arg = op.arg.and_then(|a| self.vars_in(a).first().copied());
            match op.kind {
                Kind::Sample | Kind::FirstTick | Kind::Interval => {
                    clocked.insert(part(op.out));
                }
                Kind::Hold => {
                    if let Some(a) = arg {
                        clocked.insert(part(a));
                    }
                }
                _ => {
                    clocked.insert(part(op.out));
                    if let Some(a) = arg {
                        clocked.insert(part(a));
                    }
                }
            }
        }
        // Clocks travel along sub/super/shift/back in both directions.
        loop {
            let mut changed = false;
            for op in &self.clocks.ops {
                let Some(a) = op.arg.and_then(|a| self.vars_in(a).first().copied()) else { continue };
                let (pa, po) = (part(a), part(op.out));
                match (clock.get(&pa).copied(), clock.get(&po).copied()) {
                    (Some(c), None) => {
                        if let Some(d) = op.kind.forward(c) {
                            clock.insert(po, d);
                            changed = true;
                        }
                    }
                    (None, Some(c)) => {
                        if let Some(d) = op.kind.backward(c) {
                            clock.insert(pa, d);
                            changed = true;
                        }
                    }
                    _ => {}
                }
            }
            if !changed {
                break;
            }
        }
        for op in &self.clocks.ops {
            let Some(a) = op.arg.and_then(|a| self.vars_in(a).first().copied()) else { continue };
            if let (Some(&c), Some(&d)) = (clock.get(&part(a)), clock.get(&part(op.out)))
                && let Some(expected) = op.kind.forward(c)
                && !expected.same(d)
            {
                conflicts.push((op.span, None, d, expected));
            }
        }
        if !conflicts.is_empty() {
            for (span, other, c, d) in conflicts {
                let mut e = Diagnostic::error(
                    Stage::FrontEnd,
                    span,
                    format!(
                        "signals of different clocks meet: one ticks {}, the other {}",
                        self.ticks_text(c),
                        self.ticks_text(d)
                    ),
                )
                .hint("use subSample, superSample, shiftSample or hold to get from one clock to the other");
                if let Some(s) = other {
                    e = e.label(s, "the other clock");
                }
                self.diagnostics.push(e);
            }
            return Ok(());
        }
        let mut delayed = Vec::new();
        for d in &self.dae.delays {
            if self.row_vars(&d.value).iter().any(|&v| clocked.contains(&part(v))) {
                delayed.push(d.origin.span.unwrap_or(Span::NONE));
            }
        }
        for span in delayed {
            let text = "delay cannot be applied to a clocked signal: it has values at ticks only";
            let e = Diagnostic::error(Stage::FrontEnd, span, text);
            self.diagnostics.push(e.hint("use previous(…) or shiftSample(…), or hold(…) inside the delay"));
        }
        let mut order: Vec<u32> = clocked.iter().copied().collect();
        order.sort_unstable();
        let links = self.links(&of);
        for &(a, b, kind, span) in &links {
            if let Kind::Sub(None) | Kind::Super(None) = kind
                && clock.contains_key(&a) != clock.contains_key(&b)
            {
                let hint = "give it a factor, or its result a clock".to_string();
                return Err(self.err_hints(span, "the factor between the two clocks cannot be inferred", vec![hint]));
            }
        }
        self.default_clocks(&links, &order, &mut clock);
        // A condition tells nothing about the time until it becomes true again: its ticks cannot be divided.
        for op in &self.clocks.ops {
            let arg = op.arg.and_then(|a| self.vars_in(a).first().copied());
            let (text, ends) = match op.kind {
                Kind::Super(_) => ("superSample", [Some(op.out), None]),
                Kind::Sub(_) => ("subSample", [arg, None]),
                Kind::Shift(_) | Kind::Back(_) => ("a resolution other than 1", [Some(op.out), arg]),
                _ => continue,
            };
            let divided = |c: &&Clock| matches!(c.base, Base::Event(_)) && (c.period.d != 1 || c.offset.d != 1);
            let Some(c) = ends.into_iter().flatten().find_map(|v| clock.get(&part(v)).filter(divided)) else {
                continue;
            };
            let message = format!("{text} would add ticks to a clock that ticks {}", self.ticks_text(*c));
            return Err(self.err(op.span, message));
        }
        for &p in &order {
            let Entry::Vacant(place) = clock.entry(p) else { continue };
            let equations = self.dae.equations.as_slice();
            let has_equations = equations.iter().any(|e| self.row_vars(&e.row).first().is_some_and(|&v| part(v) == p));
            let (base, period, offset) = (Base::Periodic(1.0), Rational::new(1, 1), Rational::new(0, 1));
            place.insert(Clock { base, period, offset });
            if has_equations {
                self.warn_default(p);
            }
        }
        let fed_back = self.fed_back(&of, &clock);
        for op in &self.clocks.ops {
            if let Kind::Back(_) = op.kind
                && clock.get(&of[op.out.index()]).is_some_and(|c| c.offset.n < 0)
            {
                let message = "backSample would begin before the clock that it goes back from";
                return Err(self.err_hints(
                    op.span,
                    message,
                    vec!["shift the clock forward first with shiftSample".into()],
                ));
            }
        }
        let ticks = self.make_ticks(&order, &clock, &fed_back);
        self.lower_partitions(&of, &order, &clock, &ticks, &links)
    }

    /// The partitions that sub-clock conversions lead between, with the conversion.
    fn links(&self, of: &[u32]) -> Vec<(u32, u32, Kind, Span)> {
        let mut links = Vec::new();
        for op in &self.clocks.ops {
            if let Kind::Sub(_) | Kind::Super(_) | Kind::Shift(_) | Kind::Back(_) | Kind::NoClock = op.kind
                && let Some(a) = op.arg.and_then(|a| self.vars_in(a).first().copied())
            {
                links.push((of[a.index()], of[op.out.index()], op.kind, op.span));
            }
        }
        links
    }

    fn warn_default(&mut self, partition: u32) {
        let var = &self.dae.vars[VarId::new(partition as usize)];
        let text = format!("the clock of {} cannot be inferred; one second is used", var.name);
        let d = Diagnostic::warning(Stage::FrontEnd, var.origin.span.unwrap_or(Span::NONE), text);
        self.diagnostics.push(d.hint("assign a clock to one of the signals tied to it"));
    }

    /// Where nothing in a base partition has a clock, the fastest of its sub-partitions ticks every second
    /// (Modelica 3.6, section 16.3.1); the others follow.
    fn default_clocks(&mut self, links: &[(u32, u32, Kind, Span)], order: &[u32], clock: &mut FxHashMap<u32, Clock>) {
        for &p in order {
            if clock.contains_key(&p) {
                continue;
            }
            let one = Rational::new(1, 1);
            let mut found = vec![(p, Clock { base: Base::Periodic(1.0), period: one, offset: Rational::new(0, 1) })];
            let mut k = 0;
            while k < found.len() {
                let (q, c) = found[k];
                k += 1;
                for &(a, b, kind, _) in links {
                    let next = match (a == q, b == q) {
                        (true, false) => kind.forward(c).map(|d| (b, d)),
                        (false, true) => kind.backward(c).map(|d| (a, d)),
                        _ => None,
                    };
                    if let Some(n) = next
                        && !found.iter().any(|f| f.0 == n.0)
                    {
                        found.push(n);
                    }
                }
            }
            // Alone it is told and set below.
            if found.len() == 1 {
                continue;
            }
            self.warn_default(p);
            let fastest = found.iter().map(|f| f.1.period).fold(one, |a, b| if b.value() < a.value() { b } else { a });
            let first = found.iter().map(|f| f.1.offset).fold(None, |a: Option<Rational>, b| match a {
                Some(a) if a.value() <= b.value() => Some(a),
                _ => Some(b),
            });
            let back = first.map_or(Rational::new(0, 1), |f| Rational::new(-f.n, f.d));
            for (q, c) in found {
                let offset = c.offset.add(back).div(fastest);
                clock.insert(q, Clock { period: c.period.div(fastest), offset, ..c });
            }
        }
    }

    /// The method of integration of a partition: its own, or that of the partitions that conversions of clocks lead to
    /// (Modelica 3.6, section 16.8.4).
    fn method_of(&self, p: u32, links: &[(u32, u32, Kind, Span)], of: &[u32]) -> R<Option<(VarId, String, Span)>> {
        let mut seen = vec![p];
        let mut found: Option<(VarId, String, Span)> = None;
        let mut k = 0;
        while k < seen.len() {
            let q = seen[k];
            k += 1;
            match self.clocks.solved.iter().find(|s| of.get(s.0.index()) == Some(&q)) {
                Some(s) => match &found {
                    Some(f) if f.1 != s.1 => {
                        let message = format!("two methods of integration meet: {} and {}", f.1, s.1);
                        return Err(Box::new(Diagnostic::error(Stage::FrontEnd, s.2, message).label(f.2, "the other")));
                    }
                    _ => found = Some(s.clone()),
                },
                None => {
                    let next = links.iter().filter_map(|&(a, b, ..)| match (a == q, b == q) {
                        (true, false) => Some(b),
                        (false, true) => Some(a),
                        _ => None,
                    });
                    for n in next {
                        if !seen.contains(&n) {
                            seen.push(n);
                        }
                    }
                }
            }
            if q == p && found.is_some() {
                break;
            }
        }
        Ok(found)
    }

    fn ticks_text(&self, c: Clock) -> String {
        match c.base {
            Base::Periodic(b) => {
                let offset = b * c.offset.value();
                let from = if offset == 0.0 { String::new() } else { format!(", from {offset} s on") };
                format!("every {} s{from}", b * c.period.value())
            }
            Base::Event(v) => format!("with {}", self.dae.vars[v].name),
            Base::Varying(_) => "at intervals that vary".into(),
        }
    }

    /// Conditions of event clocks that values held on that clock may change at once: their ticks come one iteration of the
    /// event later, so that the condition may fall in the iteration that it caused.
    fn fed_back(&self, of: &[u32], clock: &FxHashMap<u32, Clock>) -> Vec<VarId> {
        let mut out = Vec::new();
        for op in self.clocks.ops.iter().filter(|op| op.kind == Kind::Hold) {
            let Some(a) = op.arg.and_then(|a| self.vars_in(a).first().copied()) else { continue };
            if let Some(Clock { base: Base::Event(c), .. }) = clock.get(&of[a.index()])
                && of[op.out.index()] == of[c.index()]
            {
                out.push(*c);
            }
        }
        out
    }

    /// One Boolean per distinct clock, true exactly at its ticks.
    fn make_ticks(
        &mut self,
        order: &[u32],
        clock: &FxHashMap<u32, Clock>,
        fed_back: &[VarId],
    ) -> FxHashMap<u32, VarId> {
        let mut out = FxHashMap::default();
        let mut bases: Vec<(Base, Vec<Clock>)> = Vec::new();
        for p in order {
            let c = clock[p];
            match bases.iter_mut().find(|(b, _)| *b == c.base) {
                Some((_, l)) => {
                    if !l.contains(&c) {
                        l.push(c);
                    }
                }
                None => bases.push((c.base, vec![c])),
            }
        }
        let origin = Origin { note: "clock", ..Origin::default() };
        let mut tick_of: Vec<(Clock, VarId)> = Vec::new();
        for (base, list) in bases {
            let mut g = list[0].period;
            for c in &list {
                g = g.gcd(c.period);
                if c.offset.n != 0 {
                    g = g.gcd(c.offset);
                }
            }
            let finest = list.iter().map(|c| c.period.value()).fold(f64::INFINITY, f64::min);
            let shared = finest / g.value() <= 50.0 || !matches!(base, Base::Periodic(_));
            if let (Base::Periodic(t), false) = (base, shared) {
                for c in list {
                    let v = self.hidden("tick", VarType::Boolean, Variability::Discrete, origin.clone());
                    let (start, interval) =
                        (self.dae.constant_row(c.offset.value() * t), self.dae.constant_row(c.period.value() * t));
                    self.dae.samplers.push(Sampler {
                        var: v,
                        start,
                        from_start: true,
                        interval,
                        origin: origin.clone(),
                    });
                    tick_of.push((c, v));
                }
                continue;
            }
            let tick = self.hidden("tick", VarType::Boolean, Variability::Discrete, origin.clone());
            let mut counter = None;
            match base {
                Base::Periodic(t) => {
                    let (start, interval) = (self.dae.constant_row(0.0), self.dae.constant_row(g.value() * t));
                    self.dae.samplers.push(Sampler {
                        var: tick,
                        start,
                        from_start: true,
                        interval,
                        origin: origin.clone(),
                    });
                }
                Base::Varying(mut next) => {
                    if g != Rational::new(1, 1)
                        && let Some(&v) = self.clocks.varying.iter().find(|v| v.next == next)
                    {
                        let n = self.count_ticks(tick, &origin);
                        counter = Some(n);
                        next = self.divide_interval(v, tick, n, g, &origin);
                    }
                    // The first tick comes after initialization.
                    let due = self.hidden("due", VarType::Boolean, Variability::Discrete, origin.clone());
                    let then = self.rows.operand(&mut self.dae.pool, Operand::Pre { var: next });
                    let (time, initial) = (self.var_expr(HybridDae::TIME), self.var_expr(HybridDae::INITIAL));
                    let reached = self.dae.pool.relation(RelOp::Ge, time, then);
                    let later = self.dae.pool.not(initial);
                    let e = self.dae.pool.bin(Binary::And, reached, later);
                    self.define(due, e, &origin);
                    let x = self.var_expr(due);
                    let pre = self.rows.operand(&mut self.dae.pool, Operand::Pre { var: due });
                    let not = self.dae.pool.not(pre);
                    let edge = self.dae.pool.bin(Binary::And, x, not);
                    self.define(tick, edge, &origin);
                }
                Base::Event(c) => {
                    let mut c = c;
                    if fed_back.contains(&c) {
                        let seen = self.hidden("seen", VarType::Boolean, Variability::Discrete, origin.clone());
                        let before = self.rows.operand(&mut self.dae.pool, Operand::Pre { var: c });
                        self.define(seen, before, &origin);
                        c = seen;
                    }
                    let x = self.var_expr(c);
                    let pre = self.rows.operand(&mut self.dae.pool, Operand::Pre { var: c });
                    let not = self.dae.pool.not(pre);
                    let edge = self.dae.pool.bin(Binary::And, x, not);
                    self.define(tick, edge, &origin);
                }
            }
            for c in list {
                let (k, j) = (c.period.div(g), c.offset.div(g));
                if k == Rational::new(1, 1) && j.n == 0 {
                    tick_of.push((c, tick));
                    continue;
                }
                let n = *counter.get_or_insert_with(|| self.count_ticks(tick, &origin));
                let v = self.hidden("tick", VarType::Boolean, Variability::Discrete, origin.clone());
                let (x, t) = (self.var_expr(n), self.var_expr(tick));
                let (k, j) = (self.dae.pool.num(k.value()), self.dae.pool.num(j.value().round()));
                let d = self.dae.pool.sub(x, j);
                let q = self.dae.pool.div(d, k);
                let f = self.dae.pool.un(Unary::Floor, q);
                let whole = self.dae.pool.bin(Binary::Eq, f, q);
                let begun = self.dae.pool.bin(Binary::Ge, x, j);
                let both = self.dae.pool.bin(Binary::And, whole, begun);
                let e = self.dae.pool.bin(Binary::And, t, both);
                self.define(v, e, &origin);
                tick_of.push((c, v));
            }
        }
        for &p in order {
            if let Some((_, v)) = tick_of.iter().find(|(c, _)| *c == clock[&p]) {
                out.insert(p, *v);
            }
        }
        out
    }

    /// A variable that counts ticks: 0 at the first one.
    fn count_ticks(&mut self, tick: VarId, origin: &Origin) -> VarId {
        let n = self.hidden("count", VarType::Integer, Variability::Discrete, origin.clone());
        let row = self.dae.constant_row(-1.0);
        self.dae.vars[n].start = Some(row);
        self.dae.vars[n].fixed = Some(true);
        let pre = self.rows.operand(&mut self.dae.pool, Operand::Pre { var: n });
        let one = self.dae.pool.num(1.0);
        let next = self.dae.pool.add(pre, one);
        self.assign_at(tick, n, next, origin);
        n
    }

    /// The instants that divide the intervals of a clock into equal parts, each `part` of its interval: the variable that
    /// holds the next of them. With m parts, of which this tick begins the j-th (j = 0, …, m - 1), it is
    /// `next - (1 - (j + 1)/m) length`: the last one ends exactly where the clock ticks again.
    fn divide_interval(&mut self, v: Varying, tick: VarId, count: VarId, part: Rational, origin: &Origin) -> VarId {
        let instant = self.hidden("next", VarType::Real, Variability::Discrete, origin.clone());
        self.dae.vars[instant].start = self.dae.vars[v.next].start.clone();
        self.dae.vars[instant].fixed = Some(true);
        let (n, next, length) = (self.var_expr(count), self.var_expr(v.next), self.var_expr(v.length));
        let p = &mut self.dae.pool;
        let (one, m) = (p.num(1.0), p.num(part.d as f64));
        let whole = p.div(n, m);
        let whole = p.un(Unary::Floor, whole);
        let begun = p.mul(whole, m);
        let j = p.sub(n, begun);
        let gone = p.add(j, one);
        let gone = p.div(gone, m);
        let left = p.sub(one, gone);
        let left = p.mul(left, length);
        let then = p.sub(next, left);
        self.assign_at(tick, instant, then, origin);
        instant
    }

    /// `when tick then v = e; end when;`
    fn assign_at(&mut self, tick: VarId, v: VarId, e: ExprId, origin: &Origin) {
        let actions = vec![Action::Assign { var: v, value: self.row(e) }];
        let branch = WhenBranch { conditions: vec![tick], initial: false, actions };
        self.dae.whens.push(When { branches: vec![branch], guard: None, origin: origin.clone() });
    }

    fn define(&mut self, v: VarId, e: ExprId, origin: &Origin) {
        let x = self.var_expr(v);
        let r = self.dae.pool.intern(XNode::Binary(Binary::Sub, x, e));
        let row = self.row(r);
        self.dae.equations.push(Equation { row, guard: None, origin: origin.clone() });
    }

    /// Moves the equations of clocked partitions into when-clauses.
    fn lower_partitions(
        &mut self,
        of: &[u32],
        order: &[u32],
        clock: &FxHashMap<u32, Clock>,
        ticks: &FxHashMap<u32, VarId>,
        links: &[(u32, u32, Kind, Span)],
    ) -> R<()> {
        let clocked: FxHashSet<u32> = order.iter().copied().collect();
        let within = |v: VarId| of.get(v.index()).copied().filter(|p| clocked.contains(p));
        let mut bodies: FxHashMap<u32, Vec<(ExprId, Origin)>> = FxHashMap::default();
        // Sort out the equations.
        let all = std::mem::take(&mut self.dae.equations);
        let mut pending_ifs: FxHashMap<usize, Vec<(u32, ExprId)>> = FxHashMap::default();
        let mut places: FxHashMap<usize, u32> = FxHashMap::default();
        for eq in all.as_slice() {
            let vs = self.row_vars(&eq.row);
            if !vs.is_empty() && vs.iter().all(|v| self.clocks.vars.contains(v)) {
                continue; // between clocks
            }
            match vs.first().and_then(|&v| within(v)) {
                Some(p) if eq.guard.is_none() => {
                    let e = self.rows.open(&mut self.dae.pool, &eq.row);
                    bodies.entry(p).or_default().push((e, eq.origin.clone()));
                }
                Some(p) => {
                    if let Some((g, branch)) = eq.guard {
                        let e = self.rows.open(&mut self.dae.pool, &eq.row);
                        pending_ifs.entry(g.index()).or_default().push((branch, e));
                        places.insert(g.index(), p);
                    }
                }
                None => {
                    self.dae.equations.push(eq.clone());
                }
            }
        }
        // If-equations: those of the branches for one variable become one, inner ones first.
        while let Some(g) = pending_ifs.keys().copied().max() {
            let (Some(list), Some(&p)) = (pending_ifs.remove(&g), places.get(&g)) else { continue };
            let group = self.dae.ifs.as_slice()[g].clone();
            let mut by: Vec<Vec<ExprId>> = vec![Vec::new(); group.conditions.len() + 1];
            list.into_iter().for_each(|(branch, e)| by[branch as usize].push(e));
            let Some(joined) = self.join_branches(&group.conditions, by) else {
                let span = group.origin.span.unwrap_or(Span::NONE);
                return Err(self.err(
                    span,
                    "the branches of an if-equation in a clocked partition must have equally many equations",
                ));
            };
            for e in joined {
                match group.parent {
                    Some((up, branch)) => {
                        pending_ifs.entry(up.index()).or_default().push((branch, e));
                        places.insert(up.index(), p);
                    }
                    None => bodies.entry(p).or_default().push((e, group.origin.clone())),
                }
            }
        }
        // The operators themselves.
        let ops = std::mem::take(&mut self.clocks.ops);
        for op in &ops {
            let x = self.var_expr(op.out);
            let origin = Origin { span: Some(op.span), note: "clock", ..Origin::default() };
            if self.clocks.vars.contains(&op.out) {
                continue;
            }
            let value = match op.kind {
                Kind::Sample => {
                    let a = op.arg.unwrap_or(x);
                    // The left limit of what is sampled.
                    let mut map = FxHashMap::default();
                    for k in self.dae.pool.holes(a) {
                        if let Some(Operand::Var { var, order: 0, .. }) = self.hole(k)
                            && self.varies(var)
                        {
                            map.insert(k, self.rows.operand(&mut self.dae.pool, Operand::Pre { var }));
                        }
                    }
                    self.dae.pool.substitute(a, |p, k| map.get(&k).copied().unwrap_or_else(|| p.hole(k)))
                }
                Kind::Interval => match within(op.out).and_then(|p| clock.get(&p)) {
                    Some(Clock { base: Base::Periodic(t), period, .. }) => self.dae.pool.num(t * period.value()),
                    c => {
                        let mut equations = Vec::new();
                        let e = self.since_last_tick(c.copied(), &origin, &mut equations);
                        if let Some(p) = within(op.out) {
                            bodies.entry(p).or_default().extend(equations);
                        }
                        e
                    }
                },
                Kind::FirstTick => {
                    let o = origin.clone();
                    let done = self.hidden("started", VarType::Boolean, Variability::Discrete, o);
                    let d = self.var_expr(done);
                    let one = self.dae.pool.num(1.0);
                    let r = self.dae.pool.intern(XNode::Binary(Binary::Sub, d, one));
                    if let Some(p) = within(op.out) {
                        bodies.entry(p).or_default().push((r, origin.clone()));
                    }
                    let pre = self.rows.operand(&mut self.dae.pool, Operand::Pre { var: done });
                    self.dae.pool.not(pre)
                }
                _ => op.arg.unwrap_or(x),
            };
            let r = self.dae.pool.intern(XNode::Binary(Binary::Sub, x, value));
            match within(op.out) {
                Some(p) => bodies.entry(p).or_default().push((r, origin)),
                None => self.define(op.out, value, &origin),
            }
        }
        self.clocks.ops = ops;
        // Clock variables are their ticks.
        let mut clock_vars: Vec<VarId> = self.clocks.vars.iter().copied().collect();
        clock_vars.sort();
        for v in clock_vars {
            if let Some(t) = within(v).and_then(|p| ticks.get(&p).copied()) {
                let e = self.var_expr(t);
                let origin = Origin { note: "clock", ..self.dae.vars[v].origin.clone() };
                self.define(v, e, &origin);
            }
        }
        // Calls: algorithms and functions with several results.
        let mut calls: FxHashMap<u32, Vec<Action>> = FxHashMap::default();
        let list = std::mem::take(&mut self.dae.calls);
        for c in list {
            match c.outputs.first().and_then(|&v| within(v)) {
                Some(p) => {
                    for &v in &c.outputs {
                        self.dae.vars[v].variability = Variability::Discrete;
                    }
                    let outputs = c.outputs.iter().map(|&v| Some(v)).collect();
                    calls.entry(p).or_default().push(Action::Call { func: c.func, args: c.args, outputs });
                }
                None => self.dae.calls.push(c),
            }
        }
        let mut reactions = self.clocked_reactions(&within);
        // Ordinary when-clauses inside clocked partitions stay as they are: their conditions are clocked variables.
        for &p in order {
            // Each with its own place.
            for (action, origin) in reactions.remove(&p).unwrap_or_default() {
                let Some(&tick) = ticks.get(&p) else { continue };
                let branch = WhenBranch { conditions: vec![tick], initial: false, actions: vec![action] };
                self.dae.whens.push(When { branches: vec![branch], guard: None, origin });
            }
            let mut eqs = bodies.remove(&p).unwrap_or_default();
            let taken: FxHashSet<VarId> = calls
                .get(&p)
                .into_iter()
                .flatten()
                .flat_map(|a| match a {
                    Action::Call { outputs, .. } => outputs.iter().flatten().copied().collect(),
                    _ => Vec::new(),
                })
                .collect();
            self.merge_state_equations(&mut eqs);
            let method = self.method_of(p, links, of)?;
            if method.is_none() {
                self.warn_time(&eqs);
            }
            let unknown =
                |me: &Self, v: VarId| me.varies(v) && !taken.contains(&v) && of.get(v.index()).is_none_or(|&q| q == p);
            self.discretize(&mut eqs, clock[&p], method, &unknown)?;
            let mut actions = self.solve_partition(eqs, &unknown)?;
            actions.extend(calls.remove(&p).unwrap_or_default());
            if actions.is_empty() {
                continue;
            }
            let Some(&tick) = ticks.get(&p) else { continue };
            let origin = Origin { note: "clocked partition", ..Origin::default() };
            let branch = WhenBranch { conditions: vec![tick], initial: false, actions };
            self.dae.whens.push(When { branches: vec![branch], guard: None, origin });
        }
        Ok(())
    }

    /// The equations of the branches of an if-equation as conditional ones; nothing if some branch has more than another.
    ///
    /// ```text
    /// if c then v = a; w = d; else w = e; v = b; end if;   ⇒   v = if c then a else b;  w = if c then d else e;
    /// ```
    fn join_branches(&mut self, conditions: &[saltus_dae::Row], mut by: Vec<Vec<ExprId>>) -> Option<Vec<ExprId>> {
        let m = conditions.len();
        if by.iter().any(|b| b.len() != by[m].len()) {
            return None;
        }
        let mut out = Vec::new();
        while let Some(&last) = by[m].first() {
            // A variable that every branch gives a value, wherever it does so; or else the equations in their order.
            let mut at: Vec<usize> = vec![0; m + 1];
            let mut values: Vec<ExprId> = by.iter().map(|b| b[0]).collect();
            let mut lone = None;
            for (v, value) in self.values_given(last) {
                let mut found = Vec::new();
                for b in &by[..m] {
                    let given = b
                        .iter()
                        .enumerate()
                        .find_map(|(k, &e)| self.values_given(e).into_iter().find(|x| x.0 == v).map(|x| (k, x.1)));
                    found.extend(given);
                }
                if found.len() == m {
                    found.push((0, value));
                    (at, values) = found.into_iter().unzip();
                    lone = Some(v);
                    break;
                }
            }
            for (b, k) in by.iter_mut().zip(at) {
                b.remove(k);
            }
            let mut e = values[m];
            for (c, &x) in conditions.iter().zip(&values).rev() {
                let c = self.rows.open(&mut self.dae.pool, c);
                e = self.dae.pool.select(c, x, e);
            }
            if let Some(v) = lone {
                let v = self.var_expr(v);
                e = self.dae.pool.intern(XNode::Binary(Binary::Sub, v, e));
            }
            out.push(e);
        }
        Some(out)
    }

    /// The variables that stand alone in a residual, each with the value it then has. The one on the left comes first.
    pub(crate) fn values_given(&mut self, e: ExprId) -> Vec<(VarId, ExprId)> {
        let p = &mut self.dae.pool;
        let pairs = match *p.node(e) {
            XNode::Binary(Binary::Sub, a, b) => vec![(a, b), (b, a)],
            XNode::Binary(Binary::Add, a, b) => vec![(a, p.neg(b)), (b, p.neg(a))],
            XNode::Unary(Unary::Neg, a) => vec![(a, p.num(0.0))],
            XNode::Hole(_) => vec![(e, p.num(0.0))],
            _ => Vec::new(),
        };
        pairs
            .into_iter()
            .filter_map(|(a, b)| {
                let v = self.as_var(a)?;
                let XNode::Hole(k) = *self.dae.pool.node(a) else { return None };
                (!self.dae.pool.has_hole(b, k)).then_some((v, b))
            })
            .collect()
    }

    /// Assertions on clocked variables and `terminate` in when-clauses of clocks, as actions of their partitions.
    fn clocked_reactions(&mut self, within: &dyn Fn(VarId) -> Option<u32>) -> FxHashMap<u32, Vec<(Action, Origin)>> {
        let mut out: FxHashMap<u32, Vec<(Action, Origin)>> = FxHashMap::default();
        let tagged: FxHashMap<usize, VarId> = self.clocks.tagged_assertions.iter().copied().collect();
        for (k, a) in std::mem::take(&mut self.dae.assertions).into_iter().enumerate() {
            let mut vs: Vec<VarId> = tagged.get(&k).copied().into_iter().collect();
            vs.extend(self.row_vars(&a.condition));
            vs.extend(self.guard_vars(a.guard));
            let Some(p) = vs.first().and_then(|&v| within(v)).filter(|_| vs.iter().all(|&v| within(v).is_some()))
            else {
                self.dae.assertions.push(a);
                continue;
            };
            let condition = self.rows.open(&mut self.dae.pool, &a.condition);
            let holds = self.guard_holds(a.guard);
            let (active, condition) = self.while_active(&a.origin.instance, condition);
            let here = self.dae.pool.bin(Binary::And, active, holds);
            let idle = self.dae.pool.not(here);
            let condition = self.dae.pool.bin(Binary::Or, idle, condition);
            let condition = self.plain_relations(condition);
            let condition = self.row(condition);
            let action = Action::Assert { condition, message: a.message, error: a.error };
            out.entry(p).or_default().push((action, a.origin));
        }
        for e in std::mem::take(&mut self.clocks.endings) {
            let Some(p) = within(e.clock) else { continue };
            let holds = self.guard_holds(e.guard);
            let (active, _) = self.while_active(&e.origin.instance, holds);
            let condition = self.dae.pool.bin(Binary::And, active, holds);
            let condition = self.plain_relations(condition);
            let condition = self.dae.pool.as_const(condition).is_none().then(|| self.row(condition));
            out.entry(p).or_default().push((Action::Terminate { message: e.message, condition }, e.origin));
        }
        out
    }

    /// No events on a clock: relations are plain at a tick.
    fn plain_relations(&mut self, e: ExprId) -> ExprId {
        self.dae.pool.rewrite(e, &mut |p, x| match *p.node(x) {
            XNode::Relation(op, a, b) => Some(p.intern(XNode::Binary(op.plain(), a, b))),
            XNode::EventFloor(a) => Some(p.un(Unary::Floor, a)),
            _ => None,
        })
    }

    /// Time flows on between ticks: an equation that reads it without `sample` asks for a method of integration
    /// (Modelica 3.6, section 16.7.2).
    fn warn_time(&mut self, eqs: &[(ExprId, Origin)]) {
        for (e, origin) in eqs.iter().filter(|(_, o)| matches!(o.note, "" | "binding")) {
            let holes = self.dae.pool.holes(*e);
            let reads = holes.iter().any(|&k| self.hole(k).and_then(Operand::variable) == Some(HybridDae::TIME));
            let Some(span) = origin.span.filter(|s| reads && self.warned.insert(*s)) else { continue };
            let text = "time is read on a clock without being sampled: its value at the tick is taken";
            let d = Diagnostic::warning(Stage::FrontEnd, span, text).within(origin.instance.clone());
            self.diagnostics.push(d.hint("write sample(time)"));
        }
    }

    /// The time since the tick before, with the equations that it needs in its partition; at the first tick what the clock
    /// says, or the time since zero.
    pub(crate) fn since_last_tick(
        &mut self,
        clock: Option<Clock>,
        origin: &Origin,
        equations: &mut Vec<(ExprId, Origin)>,
    ) -> ExprId {
        let last = self.hidden("last", VarType::Real, Variability::Discrete, origin.clone());
        let begun = self.hidden("started", VarType::Boolean, Variability::Discrete, origin.clone());
        let (l, b, time) = (self.var_expr(last), self.var_expr(begun), self.var_expr(HybridDae::TIME));
        let one = self.dae.pool.num(1.0);
        for (x, value) in [(l, time), (b, one)] {
            equations.push((self.dae.pool.intern(XNode::Binary(Binary::Sub, x, value)), origin.clone()));
        }
        let before = self.previous_value(last);
        let since = self.dae.pool.sub(time, before);
        let first = match clock {
            Some(Clock { base: Base::Event(c), .. }) => {
                let said = self.clocks.first.iter().find(|f| f.0 == c).map_or(0.0, |f| f.1);
                self.dae.pool.num(said)
            }
            // The start value of the interval, in the part of it that this clock takes.
            Some(Clock { base: Base::Varying(next), period, .. }) => {
                match self.clocks.varying.iter().find(|v| v.next == next) {
                    Some(&v) => {
                        let start = match self.dae.vars[v.interval].start.clone() {
                            Some(row) => self.rows.open(&mut self.dae.pool, &row),
                            None => self.dae.pool.num(0.0),
                        };
                        let factor = self.dae.pool.num(period.value() / v.resolution as f64);
                        self.dae.pool.mul(start, factor)
                    }
                    None => since,
                }
            }
            _ => since,
        };
        let begun = self.previous_value(begun);
        self.dae.pool.select(begun, since, first)
    }

    /// Both sides of a residual; a lone variable equals zero.
    pub(crate) fn sides(&self, e: ExprId) -> Option<(ExprId, Option<ExprId>)> {
        match *self.dae.pool.node(e) {
            XNode::Binary(Binary::Sub, a, b) => Some((a, Some(b))),
            XNode::Hole(_) => Some((e, None)),
            _ => None,
        }
    }

    /// The value of `v` that makes `slope v + rest` vanish. Where the slope is zero by a condition, as in the step of an implicit
    /// method that the first tick does not take, the variable keeps its value.
    fn solved_at_tick(&mut self, v: VarId, slope: ExprId, rest: ExprId) -> ExprId {
        let p = &mut self.dae.pool;
        // -rest/slope = rest/-slope
        let (divisor, rest) = match *p.node(slope) {
            XNode::Unary(Unary::Neg, a) => (a, rest),
            _ => (slope, p.neg(rest)),
        };
        if let XNode::If(c, a, b) = *p.node(divisor)
            && p.is_num(b, 0.0)
        {
            let value = p.div(rest, a);
            let before = self.previous_value(v);
            return self.dae.pool.select(c, value, before);
        }
        p.div(rest, divisor)
    }

    /// Finds the variable each equation determines, and solves for it.
    fn solve_partition(
        &mut self,
        eqs: Vec<(ExprId, Origin)>,
        unknown: &dyn Fn(&Self, VarId) -> bool,
    ) -> R<Vec<Action>> {
        let eqs: Vec<(ExprId, Origin)> = eqs.into_iter().map(|(e, o)| (self.plain_relations(e), o)).collect();
        let mut edges: Vec<Vec<(Coefficient, u32, VarId)>> = Vec::new();
        for (e, origin) in &eqs {
            let mut list = Vec::new();
            // Discrete variables are determined where they stand alone.
            let given = self.values_given(*e);
            for k in self.dae.pool.holes(*e) {
                let Some(Operand::Var { var, order: 0, neg: false }) = self.hole(k) else { continue };
                if !unknown(self, var) {
                    continue;
                }
                let lone = given.iter().any(|g| g.0 == var);
                if self.dae.vars[var].ty != VarType::Real && !lone {
                    continue;
                }
                let c = match (lone, origin.note == FIRST) {
                    (true, _) => Coefficient::Unit,
                    (_, true) => Coefficient::Nonlinear,
                    _ => self.coefficient(*e, var, 0),
                };
                if c < Coefficient::Absent {
                    list.push((c, k, var));
                }
            }
            list.sort_by_key(|x| x.0);
            edges.push(list);
        }
        let mut owner: FxHashMap<VarId, usize> = FxHashMap::default();
        fn augment(
            i: usize,
            edges: &[Vec<(Coefficient, u32, VarId)>],
            owner: &mut FxHashMap<VarId, usize>,
            seen: &mut FxHashSet<VarId>,
        ) -> bool {
            for &(_, _, v) in &edges[i] {
                if !owner.contains_key(&v) && seen.insert(v) {
                    owner.insert(v, i);
                    return true;
                }
            }
            for &(_, _, v) in &edges[i] {
                if seen.insert(v)
                    && let Some(&j) = owner.get(&v)
                    && augment(j, edges, owner, seen)
                {
                    owner.insert(v, i);
                    return true;
                }
            }
            false
        }
        let mut by_choice: Vec<usize> = (0..eqs.len()).collect();
        by_choice.sort_by_key(|&i| edges[i].len());
        // Coefficients that may vanish (at the first tick, say) are divided by only where nothing else is left, and what stands
        // in no sum is found by iteration.
        for worst in [Coefficient::Parameter, Coefficient::Varying, Coefficient::Nonlinear] {
            let good: Vec<Vec<_>> =
                edges.iter().map(|l| l.iter().filter(|x| x.0 <= worst).copied().collect()).collect();
            by_choice.retain(|&i| !augment(i, &good, &mut owner, &mut FxHashSet::default()));
        }
        if let Some(&i) = by_choice.first() {
            let span = eqs[i].1.span.unwrap_or(Span::NONE);
            let mut d = self.err(span, "this clocked equation determines no variable: the clocked partition has too many equations, or one that cannot be solved");
            d.instance = eqs[i].1.instance.to_string();
            return Err(d);
        }
        let mut out: Vec<(usize, Action)> = Vec::new();
        for (v, i) in owner {
            let Some(&(c, k, _)) = edges[i].iter().find(|x| x.2 == v) else { continue };
            let e = eqs[i].0;
            let given = self.values_given(e).into_iter().find(|g| g.0 == v);
            let value = match given {
                Some((_, value)) => value,
                // v = v - e, which the tick iterates.
                None if c == Coefficient::Nonlinear => {
                    let x = self.var_expr(v);
                    self.dae.pool.sub(x, e)
                }
                None => match affine_in(&mut self.dae.pool, e, k) {
                    Some(a) => self.solved_at_tick(v, a.slope, a.rest),
                    None => match inverted(&mut self.dae.pool, e, k) {
                        Some(value) => value,
                        None => continue,
                    },
                },
            };
            if self.dae.vars[v].variability > Variability::Discrete {
                self.dae.vars[v].variability = Variability::Discrete;
            }
            let value = self.state_value(&eqs[i].1.instance, v, value);
            let value = self.row(value);
            out.push((i, Action::Assign { var: v, value }));
        }
        out.sort_by_key(|x| x.0);
        Ok(out.into_iter().map(|x| x.1).collect())
    }
}
