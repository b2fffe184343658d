//! Continuous equations on a clock: brought to state space form, then one step of the clock's method of integration per tick
//! (Modelica 3.6, section 16.8.2).
//!
//! With c_i and d_j of the Σ-method, equation i is there with its first c_i derivatives, and x_j with its first d_j. Of the
//! derivatives as many as differentiated equations are dummies, that is variables like any other; what the other ones are
//! derivatives of are states (mathematics, section 4). Which ones is decided by structure and the modeller's wishes alone.

use crate::clocked::{Base, Clock};
use crate::{Flattener, R};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_base::{Diagnostic, Span, Stage};
use saltus_dae::{HybridDae, Operand, Origin, StateSelect, VarId, VarType, Variability};
use saltus_expr::{Binary, Coefficient, Differentiator, ExprId, Node as XNode, classify};
use saltus_graph::{Augmenter, Bipartite, Matching, Signature, hopcroft_karp, sigma_method};

/// Marks equations that give a state its value in a way that depends on the tick: by them it is found, and by iteration.
pub(crate) const FIRST: &str = "start value or step of a clock's method";

/// A variable that is integrated, with the variable of its derivative.
struct State {
    var: VarId,
    slope: VarId,
    /// What has its start value fixed in place of this state.
    start: Option<VarId>,
    origin: Origin,
}

/// The variables of a partition with the highest order of derivative of each, and the equations they are in.
#[derive(Default)]
struct Pattern {
    columns: Vec<VarId>,
    at: FxHashMap<VarId, u32>,
    /// Columns with orders, by equation.
    rows: Vec<Vec<(u32, i32)>>,
}

type Equations = Vec<(ExprId, Origin)>;

impl Flattener<'_> {
    /// Replaces derivatives by steps. `d` below is the derivative at a tick, `p` the tick before:
    ///
    /// ```text
    /// ExplicitEuler        x = p.x + h p.d
    /// ExplicitMidPoint2    x = p.x + h f(p.x + h/2 p.d)
    /// ExplicitRungeKutta4  x = p.x + h/6 (p.d + 2 k2 + 2 k3 + k4)
    /// ImplicitEuler        x = p.x + h d
    /// ImplicitTrapezoid    x = p.x + h/2 (p.d + d)
    /// ```
    ///
    /// A stage k is a copy of the partition's equations with variables of its own.
    pub(crate) fn discretize(
        &mut self,
        eqs: &mut Equations,
        clock: Clock,
        method: Option<(VarId, String, Span)>,
        unknown: &dyn Fn(&Self, VarId) -> bool,
    ) -> R<()> {
        let mut derived = None;
        for (e, origin) in eqs.iter() {
            for k in self.dae.pool.holes(*e) {
                if let Some(Operand::Var { var, order: 1.., .. }) = self.hole(k) {
                    derived.get_or_insert((var, origin.clone()));
                }
            }
        }
        let Some((var, origin)) = derived else { return Ok(()) };
        let Some((_, name, span)) = method else {
            let message =
                format!("{} is differentiated, but its clock has no method of integration", self.dae.vars[var].name);
            let hint = "name one: Clock(c, solverMethod = \"ExplicitEuler\")".to_string();
            return Err(self.err_hints(origin.span.unwrap_or(Span::NONE), message, vec![hint]));
        };
        let name = name.as_str();
        let states = self.state_space_form(eqs, name.starts_with("Explicit"), unknown)?;
        let mut new = Vec::new();
        let h = match clock.base {
            Base::Periodic(t) => self.dae.pool.num(t * clock.period.value()),
            _ => self.since_last_tick(Some(clock), &origin, &mut new),
        };
        let half = self.dae.pool.num(0.5);
        let half = self.dae.pool.mul(half, h);
        let before: Vec<ExprId> = states.iter().map(|s| self.previous_value(s.var)).collect();
        let slope: Vec<ExprId> = states.iter().map(|s| self.previous_value(s.slope)).collect();
        let now: Vec<ExprId> = states.iter().map(|s| self.var_expr(s.slope)).collect();
        // The sum of weighted derivatives that a step of h goes along.
        let along: Vec<ExprId> = match name {
            "ExplicitEuler" => slope.clone(),
            "ImplicitEuler" => now,
            // "External" leaves the choice to the tool.
            "ImplicitTrapezoid" | "External" => self.weighted(&[(0.5, &slope), (0.5, &now)]),
            "ExplicitMidPoint2" => self.stage(eqs, &states, &before, &slope, half, Some(half), unknown, &mut new)?,
            "ExplicitRungeKutta4" => {
                let k2 = self.stage(eqs, &states, &before, &slope, half, Some(half), unknown, &mut new)?;
                let k3 = self.stage(eqs, &states, &before, &k2, half, Some(half), unknown, &mut new)?;
                let k4 = self.stage(eqs, &states, &before, &k3, h, None, unknown, &mut new)?;
                let (sixth, third) = (1.0 / 6.0, 1.0 / 3.0);
                self.weighted(&[(sixth, &slope), (third, &k2), (third, &k3), (sixth, &k4)])
            }
            other => {
                let known =
                    ["ExplicitEuler", "ExplicitMidPoint2", "ExplicitRungeKutta4", "ImplicitEuler", "ImplicitTrapezoid"];
                let mut hints = crate::eval::suggest(other, known.into_iter());
                hints.push(format!("there are {}", known.join(", ")));
                return Err(self.err_hints(
                    span,
                    format!("not supported yet: the solver method {other} of a clock"),
                    hints,
                ));
            }
        };
        // The first tick begins at the start value; with the derivative of the tick before it does so by itself.
        let begun = (name != "ExplicitEuler" || states.iter().any(|s| s.start.is_some())).then(|| {
            let v = self.hidden("begun", VarType::Boolean, Variability::Discrete, origin.clone());
            let (x, one) = (self.var_expr(v), self.dae.pool.num(1.0));
            new.push((self.dae.pool.intern(XNode::Binary(Binary::Sub, x, one)), origin.clone()));
            self.previous_value(v)
        });
        for (k, state) in states.iter().enumerate() {
            let x = self.var_expr(state.var);
            let step = self.dae.pool.mul(h, along[k]);
            let mut next = self.dae.pool.add(before[k], step);
            if let Some(b) = begun {
                let first = match state.start {
                    Some(v) => {
                        let (other, start) = (self.var_expr(v), self.previous_value(v));
                        let off = self.dae.pool.sub(other, start);
                        self.dae.pool.sub(x, off)
                    }
                    None => before[k],
                };
                next = self.dae.pool.select(b, next, first);
            }
            let note = if state.start.is_some() { FIRST } else { "step of a clock's method" };
            let origin = Origin { note, ..state.origin.clone() };
            new.push((self.dae.pool.intern(XNode::Binary(Binary::Sub, x, next)), origin));
        }
        eqs.extend(new);
        Ok(())
    }

    /// Differentiates what has to be, and puts variables in the place of derivatives.
    fn state_space_form(
        &mut self,
        eqs: &mut Equations,
        explicit: bool,
        unknown: &dyn Fn(&Self, VarId) -> bool,
    ) -> R<Vec<State>> {
        let pattern = self.pattern(eqs, unknown);
        let Pattern { columns, at, rows } = &pattern;
        let signature = Signature::from_rows(columns.len(), rows);
        let mut d = vec![0; columns.len()];
        rows.iter().flatten().for_each(|&(j, order)| d[j as usize] = order.max(d[j as usize]));
        let mut c = vec![0; rows.len()];
        // What has too many equations is told where they are solved.
        if let Ok(offsets) = sigma_method(&signature) {
            match self.not_differentiable(eqs, &offsets.c, at) {
                None => (c, d) = (offsets.c, offsets.d),
                Some(e) if explicit => return Err(e),
                // An implicit step takes the difference between two ticks.
                Some(_) => {}
            }
        }
        let dummies = self.dummies(eqs, &pattern, &signature, &c, &d);
        // The derivatives of the equations, then variables for those of variables.
        let mut origin: Vec<Option<Origin>> = vec![None; columns.len()];
        for (i, row) in rows.iter().enumerate() {
            for &(j, order) in row {
                if order > 0 {
                    origin[j as usize].get_or_insert_with(|| eqs[i].1.clone());
                }
            }
        }
        let mut all = Vec::new();
        for ((e, origin), &times) in std::mem::take(eqs).into_iter().zip(&c) {
            let mut e = e;
            for p in 0..=times {
                if p > 0 {
                    e = self.derivative_on_clock(e, at);
                }
                all.push((e, origin.clone()));
            }
        }
        let mut derivative: FxHashMap<(u32, i32), VarId> = FxHashMap::default();
        let mut states = Vec::new();
        for (j, &x) in columns.iter().enumerate() {
            let origin = origin[j].clone().unwrap_or_else(|| self.dae.vars[x].origin.clone());
            let mut below = x;
            for order in 1..=d[j] {
                let slope = self.hidden("der", VarType::Real, Variability::Discrete, origin.clone());
                derivative.insert((j as u32, order), slope);
                if !dummies.contains(&(j as u32, order)) {
                    states.push(State { var: below, slope, start: None, origin: origin.clone() });
                }
                below = slope;
            }
        }
        for (e, _) in &mut all {
            let mut map: FxHashMap<u32, ExprId> = FxHashMap::default();
            for k in self.dae.pool.holes(*e) {
                let Some(Operand::Var { var, order: order @ 1.., neg }) = self.hole(k) else { continue };
                let Some(&v) = at.get(&var).and_then(|&j| derivative.get(&(j, i32::from(order)))) else { continue };
                let v = self.var_expr(v);
                map.insert(k, if neg { self.dae.pool.neg(v) } else { v });
            }
            *e = self.dae.pool.substitute(*e, |p, k| map.get(&k).copied().unwrap_or_else(|| p.hole(k)));
        }
        *eqs = all;
        if !dummies.is_empty() {
            self.exchange_starts(eqs, &mut states, columns, &d, unknown);
        }
        Ok(states)
    }

    fn pattern(&mut self, eqs: &Equations, unknown: &dyn Fn(&Self, VarId) -> bool) -> Pattern {
        let mut out = Pattern::default();
        for (e, _) in eqs {
            let given = self.values_given(*e);
            let mut row = Vec::new();
            for k in self.dae.pool.holes(*e) {
                let Some(Operand::Var { var, order, .. }) = self.hole(k) else { continue };
                // Discrete variables are determined where they stand alone.
                let lone = || given.iter().any(|g| g.0 == var);
                if unknown(self, var) && (self.dae.vars[var].ty == VarType::Real || lone()) {
                    let j = *out.at.entry(var).or_insert_with(|| {
                        out.columns.push(var);
                        out.columns.len() as u32 - 1
                    });
                    row.push((j, i32::from(order)));
                }
            }
            out.rows.push(row);
        }
        out
    }

    /// Why an equation that has to be differentiated cannot be: of what is sampled, and of values of ticks before, no
    /// derivative is known.
    fn not_differentiable(&self, eqs: &Equations, c: &[i32], at: &FxHashMap<VarId, u32>) -> Option<Box<Diagnostic>> {
        let clocked: FxHashSet<VarId> = self.clocks.results().collect();
        for ((e, origin), _) in eqs.iter().zip(c).filter(|x| *x.1 > 0) {
            let unknown = |k: u32| match self.hole(k) {
                Some(Operand::Pre { .. }) => true,
                Some(Operand::Var { var, .. }) if clocked.contains(&var) => true,
                Some(Operand::Var { var, .. }) => {
                    self.varies(var) && self.dae.vars[var].ty == VarType::Real && !at.contains_key(&var)
                }
                _ => false,
            };
            if self.dae.pool.holes(*e).into_iter().any(unknown) {
                let text = "the clock's explicit method needs the derivative of this value, which has values at ticks only: \
                            equations set a state equal to it (an inverse model)";
                let d = Diagnostic::error(Stage::FrontEnd, origin.span.unwrap_or(Span::NONE), text);
                return Some(Box::new(
                    d.within(origin.instance.clone())
                        .hint("filter it first, der(y) = (u - y)/T: a filter of order n has n derivatives")
                        .hint("or take differences: Clock(c, solverMethod = \"ImplicitEuler\")"),
                ));
            }
        }
        None
    }

    /// The total derivative in time; what is not Real stays as it is between ticks.
    fn derivative_on_clock(&mut self, e: ExprId, at: &FxHashMap<VarId, u32>) -> ExprId {
        let (rows, vars) = (&mut self.rows, &self.dae.vars);
        let mut dhole = |p: &mut saltus_expr::Pool, k: u32| match rows.get(k) {
            Operand::Var { var, .. } if var == HybridDae::TIME => Some(p.num(1.0)),
            Operand::Var { var, order, neg } if vars[var].ty == VarType::Real && at.contains_key(&var) => {
                Some(rows.operand(p, Operand::Var { var, order: order + 1, neg }))
            }
            _ => None,
        };
        Differentiator::new(&mut self.dae.pool, &mut dhole).derivative(e)
    }

    /// The derivatives (column, order) that are not integrated. Stage p has the equations with c_i ≥ p, and of x_j with
    /// d_j ≥ p what is a dummy one order higher; those least wanted as states come first.
    fn dummies(
        &mut self,
        eqs: &Equations,
        pattern: &Pattern,
        signature: &Signature,
        c: &[i32],
        d: &[i32],
    ) -> FxHashSet<(u32, i32)> {
        let mut out = FxHashSet::default();
        let tight = signature.tight(c, d);
        let mut candidates: Vec<u32> = (0..d.len() as u32).collect();
        for p in 1..=c.iter().copied().max().unwrap_or(0) {
            candidates.retain(|&j| d[j as usize] >= p);
            let mut of: Vec<Vec<u32>> = vec![Vec::new(); d.len()];
            let mut solid = vec![false; d.len()];
            for i in (0..c.len()).filter(|&i| c[i] >= p) {
                for &j in tight.row(i) {
                    of[j as usize].push(i as u32);
                    let order = (d[j as usize] - c[i]) as u8;
                    solid[j as usize] |=
                        self.coefficient(eqs[i].0, pattern.columns[j as usize], order) < Coefficient::Varying;
                }
            }
            candidates.sort_by_key(|&j| {
                let order = d[j as usize] - p;
                (self.wish(pattern.columns[j as usize], order), !solid[j as usize], j)
            });
            let graph = Bipartite::from_rows(c.len(), &of);
            let (mut matching, mut augmenter) = (Matching::empty(d.len(), c.len()), Augmenter::new());
            candidates.retain(|&j| augmenter.augment(&graph, &mut matching, j));
            out.extend(candidates.iter().map(|&j| (j, d[j as usize] - p + 1)));
        }
        out
    }

    /// How much a derivative of this order is wanted as a state.
    fn wish(&self, x: VarId, order: i32) -> u8 {
        let v = &self.dae.vars[x];
        match v.state_select {
            _ if order > 0 => 2,
            StateSelect::Never => 0,
            StateSelect::Avoid => 1,
            StateSelect::Default if v.fixed == Some(true) => 5,
            StateSelect::Default => 3 + u8::from(v.start.is_some()),
            StateSelect::Prefer => 6,
            StateSelect::Always => 7,
        }
    }

    /// How well an equation can be solved for a derivative of a variable.
    pub(crate) fn coefficient(&mut self, e: ExprId, x: VarId, of: u8) -> Coefficient {
        let holes = self.dae.pool.holes(e);
        let constant = |k: u32| {
            let variable = self.hole(k).and_then(Operand::variable);
            variable.is_some_and(|v| self.dae.vars[v].variability <= Variability::Parameter)
        };
        let parameters: FxHashSet<u32> = holes.iter().copied().filter(|&k| constant(k)).collect();
        let here = |k: &u32| matches!(self.hole(*k), Some(Operand::Var { var, order, .. }) if var == x && order == of);
        match holes.iter().copied().find(here) {
            Some(k) => classify(&mut self.dae.pool, e, k, |j| parameters.contains(&j)),
            None => Coefficient::Absent,
        }
    }

    /// Fixed start values of what is no state take the place of values that nothing fixes: at the first tick a state that is
    /// not fixed is what makes them hold.
    fn exchange_starts(
        &mut self,
        eqs: &Equations,
        states: &mut [State],
        columns: &[VarId],
        d: &[i32],
        unknown: &dyn Fn(&Self, VarId) -> bool,
    ) {
        let fixed = |me: &Self, v: VarId| me.dae.vars[v].fixed == Some(true);
        let wanted: Vec<VarId> = columns
            .iter()
            .zip(d)
            .filter(|&(&x, &d)| d > 0 && fixed(self, x) && !states.iter().any(|s| s.var == x))
            .map(|x| *x.0)
            .collect();
        if wanted.is_empty() {
            return;
        }
        let Pattern { columns, at, rows } = self.pattern(eqs, unknown);
        let mut rows: Vec<Vec<u32>> = rows.into_iter().map(|r| r.into_iter().map(|x| x.0).collect()).collect();
        let first = rows.len();
        rows.extend(states.iter().map(|s| at.get(&s.var).copied().into_iter().collect()));
        for x in wanted {
            let Some(&j) = at.get(&x) else { continue };
            let found = (0..states.len()).find(|&k| {
                if states[k].start.is_some() || fixed(self, states[k].var) {
                    return false;
                }
                let kept = std::mem::replace(&mut rows[first + k], vec![j]);
                let complete = hopcroft_karp(&Bipartite::from_rows(columns.len(), &rows)).size == rows.len();
                if !complete {
                    rows[first + k] = kept;
                }
                complete
            });
            match found {
                Some(k) => states[k].start = Some(x),
                None => {
                    let v = &self.dae.vars[x];
                    let text = format!("the start value of {} is not used: those of others determine it", v.name);
                    let d = Diagnostic::warning(Stage::FrontEnd, v.origin.span.unwrap_or(Span::NONE), text);
                    self.diagnostics.push(d);
                }
            }
        }
    }

    /// The value of a clocked variable at the tick before.
    pub(crate) fn previous_value(&mut self, var: VarId) -> ExprId {
        self.rows.operand(&mut self.dae.pool, Operand::Pre { var })
    }

    /// Sums of derivatives, state by state.
    fn weighted(&mut self, terms: &[(f64, &[ExprId])]) -> Vec<ExprId> {
        let p = &mut self.dae.pool;
        let count = terms.first().map_or(0, |t| t.1.len());
        (0..count)
            .map(|k| {
                terms.iter().fold(p.num(0.0), |sum, (weight, values)| {
                    let w = p.num(*weight);
                    let v = p.mul(w, values[k]);
                    p.add(sum, v)
                })
            })
            .collect()
    }

    /// The derivatives at `before + h along`, `back` earlier than this tick: a copy of the equations. What is sampled or
    /// depends on previous values is an input; between two ticks it is their mean.
    fn stage(
        &mut self,
        eqs: &[(ExprId, Origin)],
        states: &[State],
        before: &[ExprId],
        along: &[ExprId],
        h: ExprId,
        back: Option<ExprId>,
        unknown: &dyn Fn(&Self, VarId) -> bool,
        new: &mut Vec<(ExprId, Origin)>,
    ) -> R<Vec<ExprId>> {
        let mut at: FxHashMap<VarId, ExprId> = FxHashMap::default();
        for (k, s) in states.iter().enumerate() {
            let p = &mut self.dae.pool;
            let step = p.mul(h, along[k]);
            at.insert(s.var, p.add(before[k], step));
        }
        let sampled: FxHashSet<VarId> = self.clocks.results().collect();
        let mut copied: Vec<usize> = Vec::new();
        for (i, (e, _)) in eqs.iter().enumerate() {
            let holes = self.dae.pool.holes(*e);
            let past = holes.iter().any(|&k| matches!(self.hole(k), Some(Operand::Pre { .. })));
            let own = self.sides(*e).and_then(|s| self.as_var(s.0));
            match own {
                Some(v) if past || sampled.contains(&v) => {
                    let now = self.var_expr(v);
                    let value = if back.is_none() {
                        now
                    } else if self.dae.vars[v].ty == VarType::Real {
                        let old = self.previous_value(v);
                        let p = &mut self.dae.pool;
                        let half = p.num(0.5);
                        let sum = p.add(now, old);
                        p.mul(half, sum)
                    } else {
                        self.previous_value(v)
                    };
                    at.insert(v, value);
                }
                _ => copied.push(i),
            }
        }
        let time = self.var_expr(HybridDae::TIME);
        let then = back.map_or(time, |b| self.dae.pool.sub(time, b));
        at.insert(HybridDae::TIME, then);
        for i in copied {
            let (e, origin) = eqs[i].clone();
            let mut map: FxHashMap<u32, ExprId> = FxHashMap::default();
            for k in self.dae.pool.holes(e) {
                let value = match self.hole(k) {
                    Some(Operand::Var { var, order: 0, neg }) => {
                        if !at.contains_key(&var) && self.varies(var) {
                            if !unknown(self, var) {
                                let name = &self.dae.vars[var].name;
                                let text = format!(
                                    "not supported yet: {name} comes from an algorithm section, which the stages of the clock's method would have to repeat"
                                );
                                let hint =
                                    "ExplicitEuler, ImplicitEuler and ImplicitTrapezoid have no stages".to_string();
                                return Err(self.err_hints(origin.span.unwrap_or(Span::NONE), text, vec![hint]));
                            }
                            let ty = self.dae.vars[var].ty.clone();
                            let copy = self.hidden("stage", ty, Variability::Discrete, origin.clone());
                            self.dae.vars[copy].start = self.dae.vars[var].start.clone();
                            let x = self.var_expr(copy);
                            at.insert(var, x);
                        }
                        at.get(&var).map(|&x| if neg { self.dae.pool.neg(x) } else { x })
                    }
                    _ => None,
                };
                map.extend(value.map(|v| (k, v)));
            }
            let e = self.dae.pool.substitute(e, |p, k| map.get(&k).copied().unwrap_or_else(|| p.hole(k)));
            new.push((e, origin));
        }
        Ok(states.iter().map(|s| at.get(&s.slope).copied().unwrap_or_else(|| self.var_expr(s.slope))).collect())
    }
}
