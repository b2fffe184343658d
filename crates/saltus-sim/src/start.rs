//! Initialization: modes and values together.

use crate::ahead::MOMENTS;
use crate::compile::Step;
use crate::machine::{BlockMethod, Trouble};
use crate::model::{ModeProgram, Model};
use rustc_hash::FxHashMap;
use saltus_base::{Diagnostic, Span, Stage};
use saltus_dae::{HybridDae, Operand, Row, VarId, Variability};
use saltus_program::Batch;
use saltus_solver::nonlinear::{
    DomainError, LeastSquaresOptions, Method, NewtonOptions, ResidualSystem, least_squares,
};
use saltus_structure::{
    Cell, DiscEq, DiscKind, InitPlan, Item, ModeKey, Wish, cell_name, plan_initialization, singular_conditions,
    spread_guesses,
};
use std::rc::Rc;

/// Up to so many conditions all modes are tried at the start; with more, so many modes and some per condition.
const ALL_TRIED: usize = 8;
const LED: usize = 256;

/// A method of finding initial values, as the user names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartMethod {
    /// Damped Newton.
    Newton,
    /// Least squares: Levenberg-Marquardt, then dogleg; survives singular Jacobians.
    LeastSquares,
    /// Continuation along the model's `homotopy()` operators.
    Homotopy,
    /// Continuation of F(z) - (1 - s) F(z0).
    NewtonHomotopy,
    /// Continuation from z - z0 to F(z).
    FixedPoint,
    /// Piecewise-linear continuation, from simplex to simplex.
    PiecewiseLinear,
    /// From random points between the bounds.
    MultiStart,
}

impl StartMethod {
    /// All, in the order in which they are tried by default.
    pub const ALL: [(StartMethod, &'static str); 7] = [
        (StartMethod::Newton, "newton"),
        (StartMethod::LeastSquares, "least-squares"),
        (StartMethod::Homotopy, "homotopy"),
        (StartMethod::NewtonHomotopy, "newton-homotopy"),
        (StartMethod::FixedPoint, "fixed-point"),
        (StartMethod::PiecewiseLinear, "piecewise-linear"),
        (StartMethod::MultiStart, "multi-start"),
    ];

    /// By name.
    pub fn parse(name: &str) -> Option<StartMethod> {
        StartMethod::ALL.iter().find(|m| m.1 == name).map(|m| m.0)
    }
}

/// How relations are found together with the values of a loop, as the user names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModeMethod {
    /// Values with relations locked, then relations from the values, until both agree or a mode comes back.
    Iteration,
    /// Lemke's method on the linearized complementarity problem.
    Pivoting,
    /// Newton with the slopes of the branch at hand.
    Semismooth,
    /// Homotopies with locked relations, begun anew where a relation switches.
    Homotopy,
    /// Search over violated relations, then enumeration.
    Search,
}

impl ModeMethod {
    /// All, in the order in which they are tried by default.
    pub const ALL: [(ModeMethod, &'static str); 5] = [
        (ModeMethod::Iteration, "iteration"),
        (ModeMethod::Pivoting, "pivoting"),
        (ModeMethod::Semismooth, "semismooth"),
        (ModeMethod::Homotopy, "homotopy"),
        (ModeMethod::Search, "search"),
    ];

    /// By name.
    pub fn parse(name: &str) -> Option<ModeMethod> {
        ModeMethod::ALL.iter().find(|m| m.1 == name).map(|m| m.0)
    }
}

/// How to find initial values.
#[derive(Clone, Debug)]
pub struct StartOptions {
    /// The methods, in order.
    pub methods: Vec<StartMethod>,
    /// How loops through relations find their mode, in order.
    pub modes: Vec<ModeMethod>,
}

impl Default for StartOptions {
    fn default() -> Self {
        StartOptions {
            methods: StartMethod::ALL.iter().map(|m| m.0).collect(),
            modes: ModeMethod::ALL.iter().map(|m| m.0).collect(),
        }
    }
}

/// What the methods mean for one system of equations.
pub(crate) fn block_methods(options: &StartOptions) -> Vec<BlockMethod> {
    use BlockMethod::{Homotopy, Ladder};
    options
        .methods
        .iter()
        .flat_map(|m| match m {
            StartMethod::Newton => vec![Ladder(Method::Newton)],
            StartMethod::LeastSquares => {
                vec![Ladder(Method::LevenbergMarquardt), Ladder(Method::Dogleg), Ladder(Method::Bracketing)]
            }
            StartMethod::Homotopy => vec![Homotopy],
            StartMethod::NewtonHomotopy => vec![Ladder(Method::NewtonHomotopy)],
            StartMethod::FixedPoint => vec![Ladder(Method::FixedPointHomotopy)],
            StartMethod::PiecewiseLinear => vec![Ladder(Method::PiecewiseLinear)],
            StartMethod::MultiStart => vec![Ladder(Method::MultiStart)],
        })
        .collect()
}

/// How initial values were found.
#[derive(Clone, Debug, Default)]
pub struct StartReport {
    /// What took its start value because nothing else determines it.
    pub chosen: Vec<Cell>,
    /// Wishes: what, wanted value, value reached, weight.
    pub wishes: Vec<(Cell, f64, f64, f64)>,
    /// What is left to iterate on after elimination.
    pub reduced: Vec<Cell>,
    /// Unknowns of the whole problem.
    pub unknowns: usize,
    /// Conditions that were too many, and hold.
    pub redundant: usize,
    /// What linear equations leave open although they agree: the solution nearest to the guesses was taken.
    pub open: Vec<Cell>,
    /// The modes tried.
    pub modes: usize,
    /// The steps in λ, if the whole system was led along `homotopy()`.
    pub homotopy_steps: usize,
}

/// How often delayed values at the start are taken anew from what is delayed.
const MOST_ROUNDS: usize = 8;

impl Model {
    /// Finds consistent values and the mode at `start`, at first without long searches for the modes of loops. After a failure
    /// the values reached stay.
    pub fn initialize(&mut self, start: f64) -> Result<Rc<ModeProgram>, Diagnostic> {
        let kept = self.machine.values.clone();
        (self.machine.hurried, self.machine.given_up) = (true, false);
        let found = self.find_start(start);
        self.machine.hurried = false;
        if found.is_ok() || self.machine.stopped() || !self.machine.given_up {
            return found.map_err(|d| self.interrupted(d, start));
        }
        self.machine.host.error = None;
        self.restore_guess(&kept);
        self.find_start(start).map_err(|d| self.interrupted(d, start))
    }

    /// Unknowns for which no value within their bounds was found, told once: where they are declared, and what is wrong.
    pub fn outside_bounds(&mut self) -> Vec<(Span, String)> {
        let mut out: Vec<(Span, String)> = Vec::new();
        for cell in std::mem::take(&mut self.machine.outside) {
            let Some((x, beyond)) = self.beyond_bounds(cell.var) else { continue };
            let v = &self.sys.dae.vars[cell.var];
            let text = format!("{} = {x:?} at the start lies {beyond}: no solution inside was found", v.name);
            let span = v.origin.span.unwrap_or(Span::NONE);
            if !out.iter().any(|o| o.1 == text) {
                out.push((span, text));
            }
        }
        out
    }

    /// The value of a variable outside its constant bounds, and which one it is beyond.
    pub(crate) fn beyond_bounds(&self, id: VarId) -> Option<(f64, String)> {
        let dae = &self.sys.dae;
        let bound = |r: &Option<Row>| r.as_ref().and_then(|r| dae.row_constant(r));
        let (min, max) = (bound(&dae.vars[id].min), bound(&dae.vars[id].max));
        let x = self.value(id, 0).filter(|_| min.is_some() || max.is_some())?;
        match (min, max) {
            (Some(min), _) if x < min => Some((x, format!("below its min {min:?}"))),
            (_, Some(max)) if x > max => Some((x, format!("above its max {max:?}"))),
            _ => None,
        }
    }

    /// Why there are no initial values, if somebody wanted the search to end.
    fn interrupted(&self, failure: Diagnostic, start: f64) -> Diagnostic {
        if !self.machine.stopped() {
            return failure;
        }
        let text = format!("interrupted while initial values at time {start:?} were looked for");
        Diagnostic::error(Stage::Initialization, Span::NONE, text)
            .hint("saltus init --write keeps the values reached; --trace init shows what takes long")
    }

    fn find_start(&mut self, start: f64) -> Result<Rc<ModeProgram>, Diagnostic> {
        self.parameters(start)?;
        self.machine.plain_relations = true;
        self.machine.patient = true;
        self.machine.methods = block_methods(&self.start_options);
        self.machine.mode_methods = self.start_options.modes.clone();
        self.guess_discrete();
        if let Some(program) = self.as_left(start) {
            self.machine.plain_relations = false;
            return self.begin(program);
        }
        if !self.key().is_empty() {
            self.deduce_conditions();
        }
        let guess = self.machine.values.clone();
        let mut tried: Vec<ModeKey> = Vec::new();
        let mut failure: Option<(Diagnostic, Vec<f64>)> = None;
        let mut failed: Vec<ModeKey> = Vec::new();
        let mut edge: Option<ModeKey> = None;
        let mut key = self.key();
        // Beyond the modes that can all be tried, the search is led by what is wrong with those tried.
        let led = key.len() > ALL_TRIED;
        let limit = if led { LED + 16 * key.len() } else { 1usize << key.len() };
        let mut changed: FxHashMap<VarId, usize> = FxHashMap::default();
        let mut before = key.clone();
        while tried.len() < limit.max(4) && !(self.machine.stopped() && failure.is_some()) {
            if tried.contains(&key) {
                // Cycling: look at the modes not tried yet, nearest first.
                let next = if led { self.led(&before, &key, &tried, &changed) } else { None };
                let Some(next) = next.or_else(|| self.nearest_untried(&key, &tried)) else { break };
                key = next;
            }
            let (old, new) = (self.modes.values(&before), self.modes.values(&key));
            changed.extend(new.iter().filter(|(v, b)| old.get(v) != Some(b)).map(|(&v, _)| (v, tried.len())));
            before = key.clone();
            tried.push(key.clone());
            self.restore_guess(&guess);
            match self.try_mode(&key, start) {
                Ok((mut program, reached)) if reached == key => {
                    if tried.len() == 1 && self.poised(&program) {
                        let found = (self.machine.values.clone(), self.started.clone());
                        match self.start_ahead(&guess, start, &mut tried, Some(&key)) {
                            Some(ahead) => program = ahead,
                            None => {
                                self.restore_guess(&found.0);
                                self.started = found.1;
                            }
                        }
                    }
                    self.machine.plain_relations = false;
                    self.started.modes = tried.len();
                    return self.begin(program);
                }
                Ok((_, reached)) => {
                    // A mode that could not be solved from the guesses may be from its neighbour's values.
                    if let Some(k) = failed.iter().position(|f| *f == reached) {
                        failed.swap_remove(k);
                        if let Ok((program, again)) = self.try_mode(&reached, start)
                            && again == reached
                        {
                            self.machine.plain_relations = false;
                            self.started.modes = tried.len() + 1;
                            return self.begin(program);
                        }
                    }
                    if self.at_edge(&key, &reached) {
                        edge.get_or_insert(key.clone());
                    }
                    key = reached;
                }
                Err(e) => {
                    let values = self.machine.values.clone();
                    failure.get_or_insert((e, values));
                    if key.is_empty() {
                        break;
                    }
                    failed.push(key.clone());
                }
            }
            if tried.len() == 1
                && let Some(program) = self.start_ahead(&guess, start, &mut tried, None)
            {
                self.machine.plain_relations = false;
                self.started.modes = tried.len();
                return self.begin(program);
            }
        }
        // On the edge of a mode, its conditions count as it wants them: the run shows where it goes.
        if let Some(key) = edge {
            self.restore_guess(&guess);
            let (program, _) = self.try_mode(&key, start)?;
            for (v, value) in self.modes.values(&key) {
                let slot = self.layout.slot(Cell::new(v, 0));
                self.machine.values[slot as usize] = f64::from(value);
            }
            self.machine.plain_relations = false;
            self.started.modes = tried.len();
            return self.begin(program);
        }
        if let Some((failure, values)) = failure {
            self.restore_guess(&values);
            return Err(failure);
        }
        let keys: Vec<String> = tried.iter().filter_map(|k| self.key_text(k)).take(8).collect();
        let text = format!(
            "no consistent mode at time {start:?}: every mode's own conditions contradict it; tried: {}",
            keys.join(" | ")
        );
        Err(self.contradicts_itself(Stage::Initialization, tried.first(), text))
    }

    /// Whether guards that depend on what they guard are at zero in a mode: its neighbours hold here, too.
    fn poised(&self, program: &ModeProgram) -> bool {
        self.circular(program, &program.plan.key).into_iter().any(|v| self.at_rest(v, &[], 0))
    }

    /// The mode that holds a moment after start values, if it agrees with its own guards; none if it is the mode `found`.
    fn start_ahead(
        &mut self,
        guess: &[f64],
        start: f64,
        tried: &mut Vec<ModeKey>,
        found: Option<&ModeKey>,
    ) -> Option<Rc<ModeProgram>> {
        for (moment, losses) in MOMENTS.into_iter().flat_map(|m| [(m, true), (m, false)]) {
            self.restore_guess(guess);
            let h = moment * self.machine.instants.span();
            let Some(decision) = self.decide_ahead(h, &[], None, losses) else { continue };
            self.lock(&decision);
            let key = self.key();
            if found == Some(&key) {
                return None;
            }
            if tried.contains(&key) {
                continue;
            }
            tried.push(key.clone());
            if let Ok((program, reached)) = self.try_mode(&key, start)
                && (reached == key || self.at_edge(&key, &reached))
            {
                self.lock(&decision);
                self.settle(&decision.relations);
                self.machine.decided.extend(decision.relations.iter().map(|d| d.0));
                return Some(program);
            }
            self.machine.host.error = None;
        }
        None
    }

    /// The start of a run that goes on from the end of another: in its mode, if that can be solved. Relations that have changed since
    /// do so in the first event.
    fn as_left(&mut self, start: f64) -> Option<Rc<ModeProgram>> {
        let lines = std::mem::take(&mut self.sys.dae.left);
        let relations = self.recall(&lines).relations;
        let guess = self.machine.values.clone();
        let found = (!relations.is_empty()).then(|| {
            self.guess_as_left(&lines);
            self.freeze(&relations, true);
            let key = self.key();
            let found = self.try_mode(&key, start);
            self.freeze(&relations, false);
            found.ok().filter(|f| f.1 == key)
        });
        self.sys.dae.left = lines;
        let found = found.flatten();
        if found.is_none() {
            self.machine.host.error = None;
            self.restore_guess(&guess);
        }
        found.map(|f| f.0)
    }

    /// Parameters that initialization should have found and that nothing determines: where they are declared, and what to do.
    pub fn undetermined_parameters(&self) -> Vec<(Span, String)> {
        let dae = &self.sys.dae;
        let parameters = self.started.chosen.iter().filter(|c| dae.vars[c.var].variability == Variability::Parameter);
        parameters
            .filter_map(|c| {
                let (v, x) = (&dae.vars[c.var], self.value(c.var, 0)?);
                let text = format!(
                    "nothing determines parameter {} (fixed = false): it keeps its start value {x:?}; an initial equation \
                     or a fixed start value would determine it",
                    v.name
                );
                Some((v.origin.span.unwrap_or(Span::NONE), text))
            })
            .collect()
    }

    /// What took its start value because nothing else determines it, with that value.
    pub fn chosen_values(&self) -> Vec<(String, f64)> {
        let dae = &self.sys.dae;
        let visible = |c: &&Cell| {
            let v = &dae.vars[c.var];
            !v.name.starts_with('$') && v.variability != Variability::Parameter
        };
        let value = |c: &Cell| self.layout.find(*c).map_or(f64::NAN, |s| self.machine.values[s as usize]);
        self.started.chosen.iter().filter(visible).map(|c| (cell_name(&self.sys, *c), value(c))).collect()
    }

    /// What linear equations leave open at the start, with the values taken.
    pub fn open_values(&self) -> Vec<(String, f64)> {
        let visible = |c: &&Cell| !self.sys.dae.vars[c.var].name.starts_with('$');
        let value = |c: &Cell| self.layout.find(*c).map_or(f64::NAN, |s| self.machine.values[s as usize]);
        self.started.open.iter().filter(visible).map(|c| (cell_name(&self.sys, *c), value(c))).collect()
    }

    /// Whether a mode and the one that its values call for differ in relations at zero only.
    fn at_edge(&self, key: &ModeKey, reached: &ModeKey) -> bool {
        let (wanted, found) = (self.modes.values(key), self.modes.values(reached));
        wanted.iter().all(|(v, value)| found.get(v).is_none_or(|f| f == value) || self.at_rest(*v, &[], 0))
    }

    fn restore_guess(&mut self, guess: &[f64]) {
        self.layout.extend(&mut self.machine.values);
        self.machine.values[..guess.len()].copy_from_slice(guess);
    }

    /// Sweeps over the discrete definitions with start values, to guess the mode.
    pub fn guess_discrete(&mut self) {
        let discrete = self.sys.discrete.clone();
        let values: Vec<Option<Batch>> = self.compile(|c| {
            let value = |d: &DiscEq| match &d.kind {
                DiscKind::Value(row) => {
                    let slot = c.layout.slot(Cell::new(d.var, 0));
                    Some(c.batch(slot, row))
                }
                _ => None,
            };
            discrete.iter().map(value).collect()
        });
        for _ in 0..3 {
            for (d, value) in discrete.iter().zip(&values) {
                match (&d.kind, value) {
                    (DiscKind::Relation(i), _) => self.machine.relation(*i),
                    (_, Some(b)) => self.machine.batch(b),
                    _ => {}
                }
            }
        }
        self.machine.host.error = None;
    }

    /// Solves the initialization problem of one mode; returns the mode its values call for.
    fn try_mode(&mut self, key: &ModeKey, start: f64) -> Result<(Rc<ModeProgram>, ModeKey), Diagnostic> {
        let program = self.mode(key)?;
        let plan = program.plan.clone();
        let init = plan_initialization(&mut self.sys, &mut self.ops, &self.modes, key, &plan)?;
        let steps = self.compile(|c| c.sequence(&init.sequence));
        self.started = StartReport {
            chosen: init.chosen.clone(),
            reduced: reduced(&steps),
            unknowns: init.sequence.blocks.iter().map(|b| b.unknowns.len()).sum(),
            redundant: init.redundant.len(),
            ..StartReport::default()
        };
        let slot = self.layout.slot(Cell::new(HybridDae::INITIAL, 0));
        self.machine.values[slot as usize] = 1.0;
        let outcome = self.run_start(&init, &steps);
        if let Some(d) = self.singular_by_order(&program, &[]) {
            return Err(d);
        }
        outcome.map_err(|t| {
            self.keep_reached(&t);
            self.explain(&t, Stage::Initialization, start, "initialization failed")
        })?;
        // Delayed values begin with what they delay; the equations have known that already, relations have not.
        for round in 0..if self.machine.host.lines.list.is_empty() { 0 } else { MOST_ROUNDS } {
            let mut moved = false;
            for k in 0..self.machine.host.lines.list.len() {
                let Some((batch, slot)) = self.machine.host.lines.list[k].delayed().cloned() else { continue };
                self.machine.batch(&batch);
                let v = self.machine.values[slot as usize];
                let line = &mut self.machine.host.lines.list[k];
                moved |= v.is_finite() && !((line.initial - v).abs() <= 1e-12 * v.abs());
                if v.is_finite() {
                    line.initial = v;
                }
            }
            if !moved {
                break;
            }
            if round + 1 == MOST_ROUNDS {
                let span = self.sys.dae.delays.first().and_then(|d| d.origin.span).unwrap_or(Span::NONE);
                let text = "what is delayed does not come to a value at the start that delay() gives back";
                return Err(Diagnostic::error(Stage::Initialization, span, text));
            }
            self.machine
                .run(&steps)
                .map_err(|t| self.explain(&t, Stage::Initialization, start, "initialization failed"))?;
        }
        self.grant(&init.wishes, &steps);
        self.started.open = self.machine.open_unknowns(&steps);
        for item in &init.redundant {
            self.check_redundant(item, start)?;
        }
        if let Some(t) = self.not_finite(&program) {
            return Err(self.explain(&t, Stage::Initialization, start, "initialization failed"));
        }
        if let Some(d) = self.no_number_at_start(start) {
            return Err(d);
        }
        Ok((program, self.key()))
    }

    /// Solves the initialization problem: from guesses spread through the equations, from those given alone, along the
    /// homotopy of the whole system.
    fn run_start(&mut self, init: &InitPlan, steps: &[Step]) -> Result<(), Trouble> {
        let guess = self.machine.values.clone();
        let homotopy = self.start_options.methods.iter().position(|m| *m == StartMethod::Homotopy);
        let led = homotopy.is_some()
            && init.sequence.items.iter().any(|i| {
                matches!(i, Item::Residual { row, .. } | Item::Value { row, .. }
                    if row.args.contains(&Operand::var(HybridDae::LAMBDA)))
            });
        // Of several solutions the model has chosen the one that its simplified expressions lead to: without an order of the
        // user's own they come first.
        let first = homotopy == Some(0) || self.start_options.methods == StartOptions::default().methods;
        if led && first {
            if self.lead(steps).is_ok() {
                return Ok(());
            }
            self.machine.host.error = None;
            self.restore_guess(&guess);
        }
        self.spread(init);
        let failure = match self.machine.run(steps) {
            Ok(()) => return Ok(()),
            Err(e) => e,
        };
        if self.start_options.methods.contains(&StartMethod::LeastSquares) && !matches!(failure, Trouble::Function(_)) {
            let reached = self.machine.values.clone();
            self.restore_guess(&guess);
            if self.machine.run(steps).is_ok() {
                return Ok(());
            }
            self.machine.host.error = None;
            self.restore_guess(&reached);
        }
        if led && !first {
            let reached = self.machine.values.clone();
            self.restore_guess(&guess);
            if self.lead(steps).is_ok() {
                return Ok(());
            }
            self.machine.host.error = None;
            self.restore_guess(&reached);
        }
        Err(failure)
    }

    /// Gives guesses to what has none, from what has: of several solutions, the one near the start values is meant.
    fn spread(&mut self, init: &InitPlan) {
        let rows = spread_guesses(&mut self.sys, &mut self.ops, &init.sequence);
        let slots: Vec<u32> = rows.iter().map(|(cell, _)| self.layout.slot(*cell)).collect();
        self.layout.extend(&mut self.machine.values);
        let before: Vec<f64> = slots.iter().map(|&s| self.machine.values[s as usize]).collect();
        let guesses = self.compile(|c| c.chain(rows.iter().zip(&slots).map(|((_, row), &slot)| (slot, row))));
        self.machine.chain(&guesses);
        for (&s, v) in slots.iter().zip(before) {
            if !self.machine.values[s as usize].is_finite() {
                self.machine.values[s as usize] = v;
            }
        }
        self.machine.host.error = None;
    }

    /// From the simplified to the actual problem in steps of λ that adapt to how well they go.
    fn lead(&mut self, steps: &[Step]) -> Result<(), Trouble> {
        let slot = self.machine.lambda() as usize;
        let (mut at, mut step) = (0.0, 0.1);
        self.machine.values[slot] = 0.0;
        let mut outcome = self.machine.run(steps);
        let mut good = self.machine.values.clone();
        // Methods that look far away would leave the path.
        let patient = std::mem::replace(&mut self.machine.patient, false);
        while outcome.is_ok() && at < 1.0 {
            let next: f64 = f64::min(at + step, 1.0);
            self.machine.values[slot] = next;
            self.started.homotopy_steps += 1;
            match self.machine.run(steps) {
                Ok(()) => {
                    at = next;
                    step *= 1.6;
                    good = self.machine.values.clone();
                }
                Err(e) => {
                    self.restore_guess(&good);
                    step *= 0.3;
                    if step < 1e-4 {
                        outcome = Err(e);
                    }
                }
            }
        }
        self.machine.patient = patient;
        self.machine.values[slot] = 1.0;
        outcome
    }

    /// The values where a block gave up stay, for the user to go on from.
    fn keep_reached(&mut self, t: &Trouble) {
        if let Trouble::Unsolved { unknowns, .. } = t {
            for &(c, v) in unknowns {
                if let Some(s) = self.layout.find(c) {
                    self.machine.values[s as usize] = v;
                }
            }
        }
    }

    /// Wishes in conflict: the taken ones move so that the weighted squares of all deviations become least, everything else
    /// holding (mathematics, section 6).
    fn grant(&mut self, wishes: &[Wish], steps: &[Step]) {
        let goal = |me: &Model, v: VarId| me.layout.find(Cell::new(v, 0)).unwrap_or(0);
        let wanted: Vec<f64> = wishes.iter().map(|w| self.machine.values[goal(self, w.goal) as usize]).collect();
        let taken: Vec<usize> = (0..wishes.len()).filter(|&k| wishes[k].taken).collect();
        struct Wished<'a> {
            model: &'a mut Model,
            steps: &'a [Step],
            wishes: &'a [Wish],
            taken: &'a [usize],
            wanted: &'a [f64],
            scale: Vec<f64>,
        }
        impl ResidualSystem for Wished<'_> {
            fn unknowns(&self) -> usize {
                self.taken.len()
            }
            fn equations(&self) -> usize {
                self.wishes.len()
            }
            fn residual(&mut self, z: &[f64], r: &mut [f64]) -> Result<(), DomainError> {
                for (&k, v) in self.taken.iter().zip(z) {
                    let s = self.model.layout.find(Cell::new(self.wishes[k].goal, 0)).ok_or(DomainError)?;
                    self.model.machine.values[s as usize] = *v;
                }
                self.model.machine.run(self.steps).map_err(|_| DomainError)?;
                for (k, w) in self.wishes.iter().enumerate() {
                    let v = self.model.wished(w);
                    r[k] = w.weight.sqrt() * (v - self.wanted[k]) / self.scale[k];
                }
                Ok(())
            }
        }
        if !wishes.is_empty() && taken.len() < wishes.len() && !taken.is_empty() {
            let scale: Vec<f64> =
                wishes.iter().zip(&wanted).map(|(w, v)| self.nominal(w.cell.var).unwrap_or(v.abs().max(1.0))).collect();
            let mut z: Vec<f64> = taken.iter().map(|&k| wanted[k]).collect();
            let options = LeastSquaresOptions {
                newton: NewtonOptions { nominal: taken.iter().map(|&k| scale[k]).collect(), ..Default::default() },
                row_weight: vec![1.0; wishes.len()],
                ..Default::default()
            };
            let before = self.machine.values.clone();
            let mut sys = Wished { model: self, steps, wishes, taken: &taken, wanted: &wanted, scale };
            let done = least_squares(&mut sys, &mut z, &options).is_ok();
            let mut r = vec![0.0; wishes.len()];
            if !done || sys.residual(&z, &mut r).is_err() {
                self.restore_guess(&before);
            }
            self.machine.host.error = None;
        }
        self.started.wishes = wishes.iter().zip(&wanted).map(|(w, &v)| (w.cell, v, self.wished(w), w.weight)).collect();
    }

    fn wished(&self, w: &Wish) -> f64 {
        let v = self.layout.find(w.cell).map_or(f64::NAN, |s| self.machine.values[s as usize]);
        if w.negated { -v } else { v }
    }

    fn nominal(&self, v: VarId) -> Option<f64> {
        let n = self.sys.dae.row_constant(self.sys.dae.vars[v].nominal.as_ref()?)?.abs();
        (n > 0.0 && n.is_finite()).then_some(n)
    }

    fn check_redundant(&mut self, item: &Item, start: f64) -> Result<(), Diagnostic> {
        let (row, eq): (Row, usize) = match item {
            Item::Residual { row, eq, .. } => (row.clone(), *eq),
            Item::Value { cell, row } => {
                let have = self.layout.slot(*cell);
                let s = self.layout.scratch();
                let b = self.compile(|c| c.batch(s, row));
                self.machine.batch(&b);
                let (x, y) = (self.machine.values[have as usize], self.machine.values[s as usize]);
                if (x - y).abs() > 1e-6 * (1.0 + x.abs()) {
                    let name = cell_name(&self.sys, *cell);
                    return Err(Diagnostic::error(
                        Stage::Initialization,
                        Span::NONE,
                        format!(
                            "initialization is over-determined and inconsistent: {name} is {x}, but its start value {y} is fixed"
                        ),
                    ));
                }
                return Ok(());
            }
            _ => return Ok(()),
        };
        let s = self.layout.scratch();
        let b = self.compile(|c| c.batch(s, &row));
        self.machine.batch(&b);
        let r = self.machine.values[s as usize];
        // Judged against the size of what stands in the equation.
        let point = self.snapshot();
        let scale = row.args.iter().map(|&a| saltus_structure::Point::value(&point, a).abs()).fold(1.0, f64::max);
        if r.abs() <= 1e-6 * scale {
            return Ok(());
        }
        let (text, span, instance) = self.equation(eq, 0);
        Err(Diagnostic::error(
            Stage::Initialization,
            span,
            format!("initialization is over-determined and inconsistent at time {start:?}: {text} is off by {r:.6e}"),
        )
        .within(instance)
        .hint("one of the initial conditions must go: set fixed = false on a variable or remove an initial equation"))
    }

    /// Cells of the mode, and discrete ones, that are not numbers.
    pub fn not_finite(&self, program: &ModeProgram) -> Option<Trouble> {
        let bad: Vec<Cell> = (program.plan.vars.iter())
            .chain(self.discrete.iter().map(|d| &d.2).filter(|v| !self.sys.dae.vars[**v].hidden))
            .map(|&v| Cell::new(v, 0))
            .filter(|&c| self.layout.find(c).is_some_and(|s| !self.machine.values[s as usize].is_finite()))
            .collect();
        (!bad.is_empty()).then_some(Trouble::NotFinite(bad))
    }

    /// From initial values to the first instant of the run.
    fn begin(&mut self, program: Rc<ModeProgram>) -> Result<Rc<ModeProgram>, Diagnostic> {
        let slot = self.layout.slot(Cell::new(HybridDae::INITIAL, 0));
        self.machine.values[slot as usize] = 0.0;
        self.remember();
        Ok(self.reselect(&program)?.unwrap_or(program))
    }

    /// Previous values become the present ones.
    pub fn remember(&mut self) {
        for &(s, p, _) in &self.discrete {
            self.machine.values[p as usize] = self.machine.values[s as usize];
        }
        for &(s, p) in &self.previous {
            self.machine.values[p as usize] = self.machine.values[s as usize];
        }
    }

    /// A mode that differs from `key` in one of the conditions that are wrong there: if it is structurally singular, one that
    /// takes an equation away where there are too many, or else brings one; otherwise one that `reached`, which its values
    /// call for, has changed. Those changed longest ago come first.
    fn led(
        &mut self,
        key: &ModeKey,
        reached: &ModeKey,
        tried: &[ModeKey],
        changed: &FxHashMap<VarId, usize>,
    ) -> Option<ModeKey> {
        let values = self.modes.values(key);
        let wrong = match singular_conditions(&mut self.sys, &mut self.ops, &self.modes, key) {
            Some((over, _)) if !over.is_empty() => over,
            Some((_, under)) => under,
            None => {
                let found = self.modes.values(reached);
                self.modes.conditions(key).into_iter().filter(|v| found.get(v) != values.get(v)).collect()
            }
        };
        let mut wrong: Vec<VarId> = wrong.into_iter().filter(|v| values.contains_key(v)).collect();
        wrong.sort_by_key(|v| changed.get(v).map_or(0, |k| k + 1));
        wrong.into_iter().find_map(|v| {
            let mut other = values.clone();
            other.entry(v).and_modify(|b| *b = !*b);
            Some(self.key_with(&other)).filter(|k| !tried.contains(k))
        })
    }

    /// The mode with the fewest conditions changed that has not been tried.
    fn nearest_untried(&mut self, key: &ModeKey, tried: &[ModeKey]) -> Option<ModeKey> {
        let conditions = self.modes.conditions(key);
        let n = conditions.len();
        // Of many conditions at most two.
        let masks: Vec<Vec<usize>> = if n > 12 {
            let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |k| vec![i, k]));
            (0..n).map(|i| vec![i]).chain(pairs).collect()
        } else {
            let mut masks: Vec<u32> = (1..1u32 << n).collect();
            masks.sort_by_key(|m| m.count_ones());
            masks.into_iter().map(|m| (0..n).filter(|i| m >> i & 1 == 1).collect()).collect()
        };
        for m in masks {
            let other = conditions.iter().zip(key).enumerate().map(|(i, (&v, b))| (v, b ^ m.contains(&i))).collect();
            let k = self.key_with(&other);
            if !tried.contains(&k) {
                return Some(k);
            }
        }
        None
    }
}

/// What the blocks iterate on.
fn reduced(steps: &[Step]) -> Vec<Cell> {
    let mut out = Vec::new();
    for s in steps {
        match s {
            Step::Solve(b) => out.extend(&b.guessed),
            Step::Mixed(m) => out.extend(reduced(&m.continuous)),
            _ => {}
        }
    }
    out
}
