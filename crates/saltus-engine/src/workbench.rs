//! The initialization workbench: a model, a scenario, and answers.
//!
//! ```text
//! flat model ──entries──▶ Scenario ──fix, relax, mark, steady (each judged by structural rank)──▶ Scenario
//!            ──problem──▶ flat model with these conditions ──solve──▶ values back in the Scenario, after failure too
//! ```

use crate::Engine;
use crate::scenario::{Entry, Kind, Scenario, ScenarioFile, split_name};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_base::{Diagnostic, Severity, Span, Stage};
use saltus_dae::{
    Action, Equation, HybridDae, Operand, Origin, Row, SoftTarget, VarId, VarType, Variability, Variable,
};
use saltus_expr::{Binary, Node};
use saltus_program::Interpreter;
use saltus_sim::{Journal, Model, StartOptions, StartReport};
use saltus_structure::{Cell, Conflict, Incidence, Item, RowOps, analyse_modes, cell_name, lower};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Which entries to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// All.
    Normal,
    /// What is left to iterate on after elimination.
    Reduced,
    /// Marked ones of the component asked for.
    Selected,
    /// All marked ones.
    SelectedAll,
    /// Those whose weight is not the model's.
    Changed,
}

/// What may stand in an entry's place.
#[derive(Clone, Debug, Default)]
pub struct Alternatives {
    /// Unknowns that may be kept (and guessed) instead, with the number of equations between.
    pub keep: Vec<(String, usize)>,
    /// If it is fixed: what may be fixed instead.
    pub fix: Vec<String>,
}

/// The outcome of [`Workbench::solve`].
#[derive(Debug)]
pub struct Solved {
    /// Whether initial values were found. The reasons why not are in [`Engine::diagnostics`].
    pub found: bool,
    /// How.
    pub report: StartReport,
    /// Names of what took its start value because nothing determines it.
    pub chosen: Vec<String>,
    /// Wishes: name, wanted, reached, weight.
    pub wishes: Vec<(String, f64, f64, f64)>,
    /// Names of what was left to iterate on.
    pub reduced: Vec<String>,
    /// What linear equations leave open although they agree, with the values taken.
    pub open: Vec<(String, f64)>,
    /// The mode found, if the model has structural modes.
    pub mode: Option<String>,
    /// Structural index of the mode found.
    pub index: Option<i32>,
}

/// A flat model with the scenario that its initialization starts from.
pub struct Workbench {
    /// The scenario as it stands.
    pub scenario: Scenario,
    dae: HybridDae,
    defaults: Scenario,
    /// What each entry is about.
    cells: Vec<(VarId, u8)>,
    index: FxHashMap<String, usize>,
    structure: Option<Structure>,
    /// What the user has fixed: named first when something is in conflict.
    fixed_by_user: FxHashSet<Cell>,
    /// Entry indices of the last solution's reduced list.
    reduced: FxHashSet<usize>,
    /// Derivatives that have to be zero.
    steady: Vec<String>,
}

/// What [`Workbench::steady`] had to do.
#[derive(Clone, Debug, Default)]
pub struct Steadied {
    /// Derivatives that follow from others and need no condition.
    pub following: Vec<String>,
    /// Conditions of the model that gave way: initial equations as text, `fixed` attributes by the variable's name.
    pub relaxed: Vec<String>,
}

/// The unsimplified model, for structural answers.
struct Structure {
    model: Model,
    incidence: Incidence,
}

impl Engine {
    /// A workbench for a model. `None` after errors.
    pub fn workbench(&mut self, model: &str) -> Option<Workbench> {
        let dae = self.flatten(model)?;
        Some(Workbench::new(dae))
    }
}

fn usage(message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(Stage::Usage, Span::NONE, message)
}

/// Variables whose derivative occurs.
fn differentiated(dae: &HybridDae) -> FxHashSet<VarId> {
    let calls = dae.calls.iter().chain(&dae.initial_calls).flat_map(|c| c.args.iter());
    let equations = dae.equations.iter().map(|(_, e)| &e.row).chain(dae.initial_equations.iter().map(|e| &e.row));
    equations
        .chain(calls)
        .flat_map(|r| r.args.iter())
        .filter_map(|a| match a {
            Operand::Var { var, order, .. } if *order > 0 => Some(*var),
            _ => None,
        })
        .collect()
}

/// Variables that keep their values between the edges of when-clauses, or whose values from before an event are read.
fn remembered(dae: &HybridDae) -> FxHashSet<VarId> {
    let actions = dae.whens.iter().flat_map(|w| &w.branches).flat_map(|b| &b.actions);
    let rows = dae.equations.iter().map(|(_, e)| &e.row).chain(dae.calls.iter().flat_map(|c| c.args.iter()));
    let before = |a: &Operand| if let Operand::Pre { var } = a { Some(*var) } else { None };
    let mut out: FxHashSet<VarId> = rows.flat_map(|r| r.args.iter()).filter_map(before).collect();
    for a in actions {
        match a {
            Action::Assign { var, .. } => {
                out.insert(*var);
            }
            Action::Call { outputs, .. } => out.extend(outputs.iter().flatten()),
            Action::Reinit { .. } | Action::Assert { .. } | Action::Terminate { .. } => {}
        }
    }
    out
}

impl Workbench {
    /// The workbench of a flat model: weights and values as the model says, marked what the user is likely to know.
    pub fn new(dae: HybridDae) -> Workbench {
        let (differential, remembered) = (differentiated(&dae), remembered(&dae));
        let (mut entries, mut cells) = (Vec::new(), Vec::new());
        for (id, v) in dae.vars.iter() {
            let number = !matches!(v.ty, VarType::String | VarType::Object);
            // Of what nobody wrote, only what remembers: counters of clocks, say.
            let generated = v.name.starts_with('$') && !remembered.contains(&id);
            if HybridDae::is_builtin(id) || generated || !number || v.variability == Variability::Constant {
                continue;
            }
            let constant = |r: &Option<Row>| r.as_ref().and_then(|r| dae.row_constant(r));
            let parameter = v.variability == Variability::Parameter;
            let kind = match () {
                () if parameter && v.binding.is_some() && constant(&v.binding).is_none() => Kind::Derived,
                () if parameter => Kind::Parameter,
                () if differential.contains(&id) => Kind::Differential,
                () if v.variability == Variability::Continuous && v.ty == VarType::Real => Kind::Algebraic,
                () => Kind::Discrete,
            };
            let fixed = v.fixed.unwrap_or(parameter);
            let value = if parameter && v.binding.is_some() { constant(&v.binding) } else { constant(&v.start) };
            entries.push(Entry {
                name: v.name.clone(),
                id: format!("v{}", id.index()),
                kind,
                fixed,
                weight: f64::from(fixed),
                value,
                min: constant(&v.min).filter(|x| x.is_finite()),
                max: constant(&v.max).filter(|x| x.is_finite()),
                nominal: constant(&v.nominal),
                mark: parameter || kind == Kind::Differential || v.start.is_some(),
            });
            cells.push((id, 0));
            if kind == Kind::Differential {
                entries.push(Entry {
                    name: format!("der({})", v.name),
                    id: format!("d{}", id.index()),
                    kind: Kind::Derivative,
                    fixed: false,
                    weight: 0.0,
                    value: None,
                    min: None,
                    max: None,
                    nominal: None,
                    mark: false,
                });
                cells.push((id, 1));
            }
        }
        let index = entries.iter().enumerate().map(|(k, e)| (e.name.clone(), k)).collect();
        let time = dae.experiment.start.unwrap_or(0.0);
        let scenario = Scenario {
            model: dae.name.clone(),
            time,
            continues: false,
            dropped: Vec::new(),
            histories: Vec::new(),
            left: Vec::new(),
            entries,
        };
        Workbench {
            defaults: scenario.clone(),
            scenario,
            dae,
            cells,
            index,
            structure: None,
            fixed_by_user: FxHashSet::default(),
            reduced: FxHashSet::default(),
            steady: Vec::new(),
        }
    }

    /// The flat model as it was, without the scenario.
    pub fn model(&self) -> &HybridDae {
        &self.dae
    }

    /// The number of an entry, or a message with the nearest name.
    pub fn find(&self, name: &str) -> Result<usize, Diagnostic> {
        if let Some(&k) = self.index.get(name) {
            return Ok(k);
        }
        let d = usage(format!("there is no variable {name} in {}", self.scenario.model));
        let near = self.scenario.entries.iter().map(|e| (distance(name, &e.name), &e.name)).min();
        Err(match near {
            Some((d1, n)) if d1 <= (name.chars().count() / 3).max(1) => d.hint(format!("did you mean {n}?")),
            _ => d,
        })
    }

    /// The unsimplified model with the incidence, made on first use.
    fn structure(&mut self) -> Result<&mut Structure, Diagnostic> {
        if self.structure.is_none() {
            let mut sys = lower(self.dae.clone());
            let ops = RowOps::default();
            let modes = analyse_modes(&mut sys);
            let mut model = Model::new(sys, ops, modes, Box::new(Interpreter::new()))?;
            model.parameters(self.scenario.time)?;
            // The mode is that of the values given: the one of the model's own guesses may not exist.
            for (e, &(var, order)) in self.scenario.entries.iter().zip(&self.cells) {
                let given = !matches!(e.kind, Kind::Parameter | Kind::Derived);
                if let (true, Some(v), Some(slot)) = (given, e.value, model.layout.find(Cell::new(var, order))) {
                    model.machine.values.get_mut(slot as usize).into_iter().for_each(|x| *x = v);
                }
            }
            model.guess_discrete();
            model.guess_as_left(&self.scenario.left);
            let key = model.key();
            let program = model.mode(&key)?;
            let mut incidence = Incidence::new(&mut model.sys, &mut model.ops, &model.modes, &key, &program.plan);
            let entries = self.scenario.entries.iter().zip(&self.defaults.entries).enumerate();
            let (parameters, others): (Vec<_>, Vec<_>) =
                entries.partition(|(_, (e, _))| matches!(e.kind, Kind::Parameter | Kind::Derived));
            for (k, (e, d)) in parameters {
                if e.kind == Kind::Parameter && d.kind == Kind::Derived {
                    incidence.drop_binding(self.cell(k));
                }
                if e.kind == Kind::Parameter && e.is_fixed() {
                    incidence.force(self.cell(k));
                }
            }
            for &k in &self.scenario.dropped {
                if let Some(n) = number_in_mode(&model, &incidence, k - 1) {
                    incidence.drop_initial(n);
                }
            }
            if !self.scenario.continues {
                incidence.enter_initial_equations();
            }
            for (k, (e, _)) in others {
                if e.is_fixed() {
                    incidence.force(self.cell(k));
                }
            }
            self.structure = Some(Structure { model, incidence });
        }
        self.structure.as_mut().ok_or_else(|| usage("no structure"))
    }

    fn cell(&self, k: usize) -> Cell {
        let (var, order) = self.cells[k];
        if self.scenario.entries[k].kind == Kind::Discrete { Cell::pre(var) } else { Cell::new(var, order) }
    }

    /// Fixes an entry, at `value` if given. Refused, with the reason, if the structure does not allow it.
    pub fn fix(&mut self, name: &str, value: Option<f64>) -> Result<(), Diagnostic> {
        let k = self.find(name)?;
        self.judge_value(k, value)?;
        let cell = self.cell(k);
        let kind = self.scenario.entries[k].kind;
        self.structure()?;
        let Some(s) = &mut self.structure else { return Ok(()) };
        if kind == Kind::Derived {
            s.incidence.drop_binding(cell);
        }
        if !s.incidence.is_fixed(cell) {
            let known = s.incidence.knows(cell) || matches!(kind, Kind::Parameter | Kind::Derived | Kind::Discrete);
            if !known {
                return Err(usage(format!("{name} does not take part in the start's mode")));
            }
            if let Err(c) = s.incidence.fix(cell) {
                return Err(refuse(&s.model, &s.incidence, &c, &self.fixed_by_user));
            }
        }
        self.fixed_by_user.insert(cell);
        let e = &mut self.scenario.entries[k];
        e.weight = 1.0;
        if kind == Kind::Derived {
            e.kind = Kind::Parameter;
        }
        if value.is_some() {
            e.value = value;
        }
        Ok(())
    }

    /// Lets an entry be computed.
    pub fn relax(&mut self, name: &str) -> Result<(), Diagnostic> {
        let k = self.find(name)?;
        let cell = self.cell(k);
        let kind = self.scenario.entries[k].kind;
        if kind == Kind::Derived || kind == Kind::Parameter {
            if self.dae.vars[cell.var].ty != VarType::Real {
                return Err(usage(format!("{name} is not a Real parameter: it cannot be computed")));
            }
            let s = self.structure()?;
            s.incidence.drop_binding(cell);
            if s.incidence.knows(cell) && s.incidence.alternatives(cell).is_empty() {
                return Err(Diagnostic::error(
                    Stage::Initialization,
                    self.dae.vars[cell.var].origin.span.unwrap_or(Span::NONE),
                    format!("{name} cannot be relaxed: it stands in no equation with unknowns"),
                )
                .hint("its value may have shaped the model when it was flattened"));
            }
            self.scenario.entries[k].kind = Kind::Parameter;
        }
        self.structure()?.incidence.relax(cell);
        self.fixed_by_user.remove(&cell);
        self.scenario.entries[k].weight = 0.0;
        Ok(())
    }

    /// Makes an entry a wish.
    pub fn wish(&mut self, name: &str, value: Option<f64>, weight: f64) -> Result<(), Diagnostic> {
        let k = self.find(name)?;
        if self.scenario.entries[k].kind == Kind::Discrete {
            return Err(usage(format!("{name} is discrete: it is fixed or relaxed, nothing between")));
        }
        self.judge_value(k, value)?;
        self.relax(name)?;
        let e = &mut self.scenario.entries[k];
        e.weight = weight;
        if value.is_some() {
            e.value = value;
        }
        Ok(())
    }

    /// Gives a value or guess without changing the weight.
    pub fn set(&mut self, name: &str, value: f64) -> Result<(), Diagnostic> {
        let k = self.find(name)?;
        self.judge_value(k, Some(value))?;
        self.scenario.entries[k].value = Some(value);
        Ok(())
    }

    /// Marks an entry, or takes the mark away.
    pub fn mark(&mut self, name: &str, mark: bool) -> Result<(), Diagnostic> {
        let k = self.find(name)?;
        self.scenario.entries[k].mark = mark;
        Ok(())
    }

    /// Asks for equilibrium: the derivatives of these states (all, if none are named) are zero, the states relaxed. What the
    /// model says about its start gives way where it stands against this: initial equations that name the state first, then
    /// other initial equations, then `fixed` attributes of other variables. What the user has fixed stays.
    pub fn steady(&mut self, names: &[String]) -> Result<Steadied, Diagnostic> {
        let names: Vec<String> = if names.is_empty() {
            self.scenario.entries.iter().filter(|e| e.kind == Kind::Differential).map(|e| e.name.clone()).collect()
        } else {
            names.to_vec()
        };
        for n in &names {
            let k = self.find(n)?;
            if self.scenario.entries[k].kind != Kind::Differential {
                return Err(usage(format!("{n} is no differential variable: it has no derivative to be zero")));
            }
            self.relax(n)?;
        }
        let mut out = Steadied::default();
        for n in &names {
            let der = format!("der({n})");
            let (state, cell) = (self.cell(self.find(n)?), self.cell(self.find(&der)?));
            let s = self.structure()?;
            let names_state = |i: &Item| match i {
                Item::Residual { row, .. } => !row.args.iter().filter_map(|&a| Cell::of(a)).any(|c| c.var == state.var),
                _ => true,
            };
            if s.incidence.knows(cell)
                && let Ok(Some(number)) = s.incidence.fix_over(cell, names_state)
            {
                self.drop_equation(number, &mut out);
            }
            // A derivative that still cannot be fixed: `fixed` attributes of the model give way.
            let entry = self.find(&der)?;
            while let Some(s) = &mut self.structure
                && let Err(c) = s.incidence.fix(cell)
            {
                let of_model = |c: &&Cell| !self.fixed_by_user.contains(c) && c.order == 0;
                let in_the_way = c.fixed[1..].iter().filter(of_model).find_map(|c| {
                    let k = self.cells.iter().position(|x| *x == (c.var, 0))?;
                    let kind = self.scenario.entries[k].kind;
                    matches!(kind, Kind::Algebraic | Kind::Differential).then_some(k)
                });
                let Some(k) = in_the_way else { break };
                let name = self.scenario.entries[k].name.clone();
                self.relax(&name)?;
                out.relaxed.push(format!("fixed = true of {name}"));
            }
            if self.structure()?.incidence.is_fixed(cell) {
                self.fixed_by_user.insert(cell);
                self.scenario.entries[entry].weight = 1.0;
            } else {
                out.following.push(der.clone());
            }
            self.scenario.entries[entry].value = Some(0.0);
            self.steady.push(der);
        }
        // Initial equations for which nothing is left to determine have given way, too.
        let surplus = self.structure()?.incidence.surplus_initial();
        for number in surplus {
            self.structure()?.incidence.drop_initial(number);
            self.drop_equation(number, &mut out);
        }
        Ok(out)
    }

    /// Notes that an initial equation, numbered within the mode, no longer holds.
    fn drop_equation(&mut self, number: usize, out: &mut Steadied) {
        let Some(s) = &self.structure else { return };
        let first = s.incidence.items.len() - s.incidence.initial;
        let Item::Residual { eq, .. } = &s.incidence.items[first + number] else { return };
        let k = eq - s.model.sys.equations.len();
        out.relaxed.push(s.model.equation(*eq, 0).0);
        if k < self.dae.initial_equations.len() {
            self.scenario.dropped.push(k + 1);
            self.scenario.dropped.sort_unstable();
            self.scenario.dropped.dedup();
        }
    }

    /// The derivatives that were to be zero and are not, after a solution.
    fn restless(&self, model: &Model) -> Option<Diagnostic> {
        let entry = |n: &str| self.index.get(n).copied();
        let moving: Vec<(String, f64, Span)> = self
            .steady
            .iter()
            .filter_map(|n| {
                let (var, _) = self.cells[entry(n)?];
                let (value, rate) = (model.value(var, 0)?, model.value(var, 1)?);
                let size = self.scenario.entries[entry(n)?].nominal.unwrap_or(1.0).max(value.abs());
                let span = self.dae.vars[var].origin.span.unwrap_or(Span::NONE);
                (rate.abs() > 1e-6 * size).then(|| (n.clone(), rate, span))
            })
            .collect();
        let (_, _, span) = moving.first()?;
        let list: Vec<String> = moving.iter().map(|(n, v, _)| format!("{n} = {v:?}")).collect();
        let message =
            format!("there is no equilibrium under these conditions: {} follows from the equations", and(&list, 6));
        Some(Diagnostic::error(Stage::Initialization, *span, message).hint(
            "relax a parameter or an input that the derivative depends on, or ask for fewer states: --steady=x,y",
        ))
    }

    fn judge_value(&self, k: usize, value: Option<f64>) -> Result<(), Diagnostic> {
        let (e, Some(v)) = (&self.scenario.entries[k], value) else { return Ok(()) };
        let ty = &self.dae.vars[self.cells[k].0].ty;
        let whole = v.fract() == 0.0;
        match ty {
            VarType::Boolean if v != 0.0 && v != 1.0 => {
                return Err(usage(format!("{} is Boolean: 0 or 1 is expected, not {v}", e.name)));
            }
            VarType::Integer | VarType::Enumeration(_) if !whole => {
                return Err(usage(format!("{} is not Real: a whole number is expected, not {v}", e.name)));
            }
            _ => {}
        }
        if e.min.is_some_and(|m| v < m) || e.max.is_some_and(|m| v > m) {
            let bound = |b: Option<f64>, d: &str| b.map_or(d.to_string(), |b| b.to_string());
            return Err(usage(format!(
                "{} = {v} is not between its bounds {} and {}",
                e.name,
                bound(e.min, "-inf"),
                bound(e.max, "inf")
            )));
        }
        Ok(())
    }

    /// Takes over what a file says. Whatever is wrong is named at its line; the rest is taken over.
    pub fn read(&mut self, engine: &mut Engine, path: &str, text: &str) -> Vec<Diagnostic> {
        let file = engine.table.add_text(path, text);
        let (given, mut faults) = ScenarioFile::read(file, text);
        if let Some((model, span)) = &given.model
            && *model != self.scenario.model
        {
            let message = format!("this scenario is for {model}, not for {}", self.scenario.model);
            faults.push(Diagnostic::warning(Stage::Usage, *span, message));
        }
        if let Some(t) = given.time {
            self.scenario.time = t;
        }
        self.scenario.continues = given.continues;
        let travel = self.dae.delays.len() + self.dae.distributions.len();
        if !given.histories.is_empty() && given.histories.len() != travel {
            let message = format!(
                "histories: {} lists are given, the model has {travel} delays and distributions",
                given.histories.len()
            );
            faults.push(usage(message));
        }
        self.scenario.histories = given.histories.clone();
        self.scenario.left = given.left.clone();
        if given.continues && travel > 0 && given.histories.is_empty() {
            let message =
                "the scenario goes on from the end of a run but does not say what travelled in delays: they start anew";
            faults.push(Diagnostic::warning(Stage::Usage, Span::NONE, message));
        }
        let known = 1..=self.dae.initial_equations.len();
        self.scenario.dropped = given.dropped.iter().copied().filter(|k| known.contains(k)).collect();
        if let Some(k) = given.dropped.iter().find(|k| !known.contains(k)) {
            faults.push(usage(format!("dropped: there is no initial equation {k}; the model has {}", known.end())));
        }
        self.structure = None;
        // Names that the model has only with the file's own parameter values.
        if given.lines.iter().any(|l| !self.index.contains_key(&l.name)) {
            for l in given.lines.iter().filter(|l| l.value.is_some()) {
                if let Some(&k) = self.index.get(&l.name)
                    && self.scenario.entries[k].kind == Kind::Parameter
                    && l.weight.is_none_or(|w| w >= 1.0)
                    && self.judge_value(k, l.value).is_ok()
                {
                    self.scenario.entries[k].value = l.value;
                }
            }
            if let Some(Some(dae)) = self.reflatten(engine) {
                self.adopt(dae);
            }
        }
        let mut changes: Vec<(f64, &str, Option<f64>, Option<Span>)> = Vec::new();
        for l in &given.lines {
            let place = |mut d: Diagnostic| {
                d.span = l.span.unwrap_or(Span::NONE);
                d
            };
            let k = match self.find(&l.name) {
                Ok(k) => k,
                Err(d) => {
                    faults.push(place(d));
                    continue;
                }
            };
            let e = &mut self.scenario.entries[k];
            if let Some(kind) = l.kind
                && kind != e.kind
                && !(kind == Kind::Parameter && e.kind == Kind::Derived)
                && !(kind == Kind::Derived && e.kind == Kind::Parameter)
            {
                let message = format!("{} is {}, not {}", l.name, e.kind.name(), kind.name());
                faults.push(place(usage(message)));
                continue;
            }
            // The value of a derived parameter is for information, unless the file says that it is one of its own.
            let derived = e.kind == Kind::Derived && l.kind != Some(Kind::Parameter);
            let own = e.kind == Kind::Derived && l.kind == Some(Kind::Parameter);
            (e.min, e.max) = (l.min.or(e.min), l.max.or(e.max));
            e.nominal = l.nominal.or(e.nominal);
            e.mark = l.mark.unwrap_or(e.mark);
            let weight = l.weight.unwrap_or(e.weight);
            let (now, value) = (e.weight, l.value.filter(|_| !derived));
            let changed = weight != now || own;
            if let Err(d) = self.judge_value(k, value) {
                faults.push(place(d));
                continue;
            }
            if value.is_some() {
                self.scenario.entries[k].value = value;
            }
            if changed {
                changes.push((weight.clamp(0.0, 1.0), &l.name, value, l.span));
            }
        }
        // All values are known before the structure is asked, and fixing comes after relaxing: the order of lines does not matter.
        changes.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (weight, name, value, span) in changes {
            let outcome = match weight {
                0.0 => self.relax(name),
                1.0 => self.fix(name, None),
                w => self.wish(name, value, w),
            };
            if let Err(mut d) = outcome {
                d.span = span.unwrap_or(d.span);
                faults.push(d);
            }
        }
        faults
    }

    /// What could be wrong with the scenario as a whole.
    pub fn check(&mut self) -> Vec<Diagnostic> {
        let surplus = match self.structure() {
            Ok(s) => s.incidence.surplus(),
            Err(d) => return vec![d],
        };
        let mut out = Vec::new();
        if surplus > 0 {
            out.push(Diagnostic::warning(
                Stage::Initialization,
                Span::NONE,
                format!("{surplus} initial conditions of the model are too many; they must agree with the others"),
            ));
        }
        out
    }

    /// How many unknowns nothing determines: they will take their start values.
    pub fn freedom(&mut self) -> Result<usize, Diagnostic> {
        Ok(self.structure()?.incidence.freedom())
    }

    /// What may stand in an entry's place.
    pub fn alternatives(&mut self, name: &str) -> Result<Alternatives, Diagnostic> {
        let k = self.find(name)?;
        let cell = self.cell(k);
        let derived: FxHashSet<Cell> = (0..self.cells.len())
            .filter(|&k| self.scenario.entries[k].kind == Kind::Derived)
            .map(|k| self.cell(k))
            .collect();
        let s = self.structure()?;
        let keep = s.incidence.alternatives(cell);
        let fix = s.incidence.exchanges(cell);
        let text = |c: &Cell| cell_name(&s.model.sys, *c);
        let visible = |c: &Cell| c.order >= 0 && c.order <= 1 && !s.model.sys.dae.vars[c.var].name.starts_with('$');
        Ok(Alternatives {
            keep: keep
                .iter()
                .filter(|a| visible(&a.0) && !derived.contains(&a.0))
                .map(|(c, d)| (text(c), *d))
                .collect(),
            fix: fix.iter().filter(|c| visible(c)).map(text).collect(),
        })
    }

    /// The flat model with the scenario's conditions in force.
    pub fn problem(&mut self, engine: &mut Engine) -> Option<HybridDae> {
        if let Some(dae) = self.reflatten(engine)? {
            self.adopt(dae);
        }
        let mut dae = self.dae.clone();
        self.apply(&mut dae);
        Some(dae)
    }

    /// Goes over to a flat model with other parameter values, which may have other variables; what was said about names that
    /// are still there stays.
    fn adopt(&mut self, dae: HybridDae) {
        let mut next = Workbench::new(dae);
        for (k, e) in next.scenario.entries.iter_mut().enumerate() {
            if let Some(&old) = self.index.get(&e.name) {
                let id = std::mem::take(&mut e.id);
                *e = Entry { id, ..self.scenario.entries[old].clone() };
                next.defaults.entries[k] = Entry { id: e.id.clone(), ..self.defaults.entries[old].clone() };
            }
        }
        next.scenario.time = self.scenario.time;
        next.scenario.continues = self.scenario.continues;
        next.scenario.dropped = self.scenario.dropped.clone();
        next.scenario.histories = self.scenario.histories.clone();
        next.scenario.left = self.scenario.left.clone();
        next.steady = std::mem::take(&mut self.steady);
        *self = next;
    }

    /// Parameters with other values go through the front end again: their values may shape the model. `Some(None)` if there
    /// are none.
    fn reflatten(&self, engine: &mut Engine) -> Option<Option<HybridDae>> {
        let mut overrides = Vec::new();
        for (k, (e, d)) in self.scenario.entries.iter().zip(&self.defaults.entries).enumerate() {
            // What an earlier run has computed shapes nothing.
            let computed = self.scenario.continues && !d.is_fixed();
            let differs = e.value != d.value || d.kind == Kind::Derived;
            let given = e.kind == Kind::Parameter && e.is_fixed() && differs && !computed;
            if let (true, Some(v)) = (given, e.value) {
                let text = match &self.dae.vars[self.cells[k].0].ty {
                    VarType::Boolean => (v != 0.0).to_string(),
                    VarType::Integer => format!("{v}"),
                    VarType::Enumeration(n) => {
                        let t = &self.dae.enumerations[*n as usize];
                        let literal = t.literals.get((v as usize).wrapping_sub(1)).cloned().unwrap_or_default();
                        format!("{}.{literal}", t.name)
                    }
                    _ => format!("{v:?}"),
                };
                overrides.push((e.name.clone(), text));
            }
        }
        if overrides.is_empty() {
            return Some(None);
        }
        let before = engine.options.overrides.clone();
        engine.options.overrides.extend(overrides);
        let dae = engine.flatten(&self.scenario.model);
        engine.options.overrides = before;
        dae.map(Some)
    }

    /// Writes the scenario into a flat model.
    fn apply(&self, dae: &mut HybridDae) {
        let mut number = 0;
        dae.initial_equations.retain(|_| {
            number += 1;
            !self.scenario.dropped.contains(&number)
        });
        if self.scenario.continues {
            dae.continues = true;
            dae.histories = self.scenario.histories.clone();
            dae.left = self.scenario.left.clone();
            let known: FxHashMap<&str, &str> = saltus_sim::texts(&self.scenario.left).collect();
            for v in 0..if known.is_empty() { 0 } else { dae.vars.len() } {
                let v = VarId::new(v);
                if let Some(text) = known.get(dae.vars[v].name.as_str()) {
                    dae.vars[v].start = Some(dae.constant_row(saltus_function::strings::intern(text)));
                }
            }
            dae.initial_equations.clear();
            dae.initial_calls.clear();
            for w in &mut dae.whens {
                for b in &mut w.branches {
                    b.initial = false;
                }
            }
        }
        for (k, (e, d)) in self.scenario.entries.iter().zip(&self.defaults.entries).enumerate() {
            let (var, order) = self.cells[k];
            if order == 0 {
                for (now, model, which) in [(e.min, d.min, 0), (e.max, d.max, 1), (e.nominal, d.nominal, 2)] {
                    if let (Some(v), true) = (now, now != model) {
                        let row = Some(dae.constant_row(v));
                        let v = &mut dae.vars[var];
                        match which {
                            0 => v.min = row,
                            1 => v.max = row,
                            _ => v.nominal = row,
                        }
                    }
                }
                dae.vars[var].marked = e.mark;
            }
            if e.is_soft() {
                self.soft_target(dae, e, var, order);
            }
            match e.kind {
                Kind::Derived => {}
                // A parameter that an earlier run has computed.
                Kind::Parameter if e.is_fixed() && !d.is_fixed() && self.scenario.continues => {
                    let binding = e.value.map(|v| dae.constant_row(v));
                    let v = &mut dae.vars[var];
                    v.binding = binding.or(v.binding.take());
                    v.fixed = Some(true);
                }
                Kind::Parameter if e.is_fixed() => {}
                Kind::Parameter => {
                    let start = e.value.map(|v| dae.constant_row(v));
                    let v = &mut dae.vars[var];
                    v.start = start.or(v.binding.take()).or(v.start.take());
                    v.binding = None;
                    v.fixed = Some(false);
                }
                Kind::Derivative => {
                    // Of next values: those that the run before has left.
                    if let (true, Some(value)) = (self.scenario.continues, e.value) {
                        dae.guesses.iter_mut().filter(|g| g.0 == var && g.1 == 1).for_each(|g| g.2 = value);
                    }
                    if e.is_fixed() {
                        let row = difference(dae, Operand::der(var), e.value.unwrap_or(0.0));
                        let origin =
                            Origin { span: dae.vars[var].origin.span, instance: Default::default(), note: "scenario" };
                        dae.initial_equations.push(Equation { row, guard: None, origin });
                    } else if let Some(v) = e.value {
                        dae.guesses.push((var, 1, v));
                    }
                }
                Kind::Differential | Kind::Algebraic | Kind::Discrete => {
                    if e.weight != d.weight {
                        dae.vars[var].fixed = Some(e.is_fixed());
                    }
                    let trusted = e.is_fixed() || e.mark || e.kind == Kind::Discrete;
                    match (e.value, trusted) {
                        (Some(v), true) if e.value != d.value => dae.vars[var].start = Some(dae.constant_row(v)),
                        (Some(v), false) => {
                            dae.vars[var].start = None;
                            dae.guesses.push((var, 0, v));
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    fn soft_target(&self, dae: &mut HybridDae, e: &Entry, var: VarId, order: u8) {
        let value = match e.value {
            Some(v) => dae.constant_row(v),
            None => match &dae.vars[var].start {
                Some(r) => r.clone(),
                None => dae.constant_row(0.0),
            },
        };
        let mut goal = Variable::new(format!("$goal({})", e.name), VarType::Real, Variability::Parameter);
        goal.binding = Some(value);
        goal.hidden = true;
        let goal = dae.vars.push(goal);
        dae.soft_targets.push(SoftTarget { var, order, goal, weight: e.weight });
    }

    /// Solves the initialization problem and writes the values reached into the scenario, after failure too. Errors are in
    /// [`Engine::diagnostics`]. Every iteration is told to `journal`, if there is one, as it is made.
    pub fn solve(&mut self, engine: &mut Engine, options: &StartOptions, journal: Option<Journal>) -> Option<Solved> {
        let dae = self.problem(engine)?;
        let (sys, ops, modes) = engine.prepare(dae);
        let mut model = match Model::new(sys, ops, modes, engine.backend()) {
            Ok(m) => m,
            Err(d) => {
                engine.diagnostics.push(d);
                return None;
            }
        };
        model.start_options = options.clone();
        model.machine.stop = engine.options.stop;
        if let Some(journal) = journal {
            model.tell(journal);
        }
        let outcome = model.initialize(self.scenario.time);
        self.write_back(&model, None);
        let key = model.key();
        let mut told = model.outside_bounds();
        told.extend(outcome.is_ok().then(|| model.undetermined_parameters()).unwrap_or_default());
        let name = |c: &Cell| cell_name(&model.sys, *c);
        let report = model.started.clone();
        let reduced: Vec<String> = report.reduced.iter().map(name).collect();
        self.reduced = reduced.iter().filter_map(|n| self.index.get(n).copied()).collect();
        let restless = outcome.is_ok().then(|| self.restless(&model)).flatten();
        let steady = restless.is_none();
        engine.diagnostics.extend(restless);
        let warnings = told.into_iter().map(|(span, text)| Diagnostic::warning(Stage::Initialization, span, text));
        engine.diagnostics.extend(warnings);
        let (found, index) = match outcome {
            Ok(p) => (steady, Some(p.plan.index)),
            Err(d) => {
                engine.diagnostics.push(d);
                (false, None)
            }
        };
        Some(Solved {
            found,
            chosen: report.chosen.iter().map(name).collect(),
            wishes: report.wishes.iter().map(|w| (name(&w.0), w.1, w.2, w.3)).collect(),
            reduced,
            open: model.open_values(),
            mode: model.key_text(&key),
            index,
            report,
        })
    }

    /// Takes over the values of a model; with `states`, those become what is fixed (to go on from the end of a run).
    pub(crate) fn write_back(&mut self, model: &Model, states: Option<&FxHashSet<Cell>>) {
        for (k, e) in self.scenario.entries.iter_mut().enumerate() {
            let (var, order) = self.cells[k];
            let Some(v) = model.value(var, order).filter(|v| v.is_finite()) else { continue };
            let reached = !(e.is_fixed() && e.kind == Kind::Parameter && e.value.is_some());
            if reached && !e.is_soft() {
                e.value = Some(v);
            }
            if let Some(states) = states {
                e.weight = match e.kind {
                    Kind::Parameter | Kind::Derived | Kind::Discrete => 1.0,
                    _ => f64::from(states.contains(&Cell::new(var, order))),
                };
                e.value = Some(v);
            }
        }
    }

    /// The entries to show; `branch` restricts [`Show::Normal`] and [`Show::Selected`] to a component.
    pub fn list(&self, show: Show, branch: &str) -> Vec<&Entry> {
        let inside = |e: &Entry| {
            let plain = e.name.strip_prefix("der(").unwrap_or(&e.name);
            branch.is_empty()
                || plain.strip_prefix(branch).is_some_and(|r| r.starts_with(['.', '[', ')']) || r.is_empty())
        };
        self.scenario
            .entries
            .iter()
            .enumerate()
            .filter(|(_, e)| !e.is_generated())
            .filter(|(k, e)| match show {
                Show::Normal => inside(e),
                Show::Reduced => self.reduced.contains(k),
                Show::Selected => e.mark && inside(e),
                Show::SelectedAll => e.mark,
                Show::Changed => e.weight != self.defaults.entries[*k].weight,
            })
            .map(|(_, e)| e)
            .collect()
    }

    /// A Modelica model that extends the present one and starts as the scenario says.
    pub fn to_modelica(&self, name: &str) -> String {
        let mut tree = Modifier::default();
        let mut equations = Vec::new();
        let mut arrays: BTreeMap<String, (bool, Vec<Element>)> = BTreeMap::new();
        for (k, (e, d)) in self.scenario.entries.iter().zip(&self.defaults.entries).enumerate() {
            if e.is_generated() {
                continue;
            }
            if e.kind == Kind::Derivative {
                if e.is_fixed() {
                    equations.push(format!("{} = {:?};", e.name, e.value.unwrap_or(0.0)));
                }
                continue;
            }
            if e.kind == Kind::Derived {
                continue;
            }
            let text = |v: f64| match &self.dae.vars[self.cells[k].0].ty {
                VarType::Boolean => (v != 0.0).to_string(),
                VarType::Integer => format!("{v}"),
                VarType::Enumeration(n) => {
                    let t = &self.dae.enumerations[*n as usize];
                    format!("{}.{}", t.name, t.literals.get((v as usize).wrapping_sub(1)).map_or("", |s| s))
                }
                _ => format!("{v:?}"),
            };
            let mut fields = Vec::new();
            let parameter = e.kind == Kind::Parameter;
            if e.weight != d.weight {
                fields.push(("fixed", e.is_fixed().to_string()));
            }
            if let Some(v) = e.value
                && e.value != d.value
            {
                fields.push((if parameter && e.is_fixed() { "=" } else { "start" }, text(v)));
            }
            let (plain, at) = subscripts(&e.name);
            if !at.is_empty() {
                let default = if parameter && d.value.is_none() { None } else { Some(text(e.value.unwrap_or(0.0))) };
                let array = arrays.entry(plain).or_insert_with(|| (parameter, Vec::new()));
                array.1.push(Element { at, value: default, fixed: e.is_fixed(), changed: !fields.is_empty() });
                continue;
            }
            tree.add(&e.name, &fields);
        }
        // Elements of arrays cannot be modified one by one: the whole array is.
        for (plain, (parameter, elements)) in &arrays {
            if !elements.iter().any(|e| e.changed) {
                continue;
            }
            let fixed = braces(elements, &|e| Some(e.fixed.to_string()));
            let values = braces(elements, &|e| e.value.clone());
            let mut fields = Vec::new();
            if elements.iter().any(|e| e.fixed) && !parameter {
                fields.extend(fixed.map(|f| ("fixed", f)));
            }
            fields.extend(values.map(|v| (if *parameter { "=" } else { "start" }, v)));
            tree.add(plain, &fields);
        }
        let short = split_name(name).1;
        let mut s = format!(
            "model {short} \"{} as a scenario starts it\"\n  extends {}",
            self.scenario.model, self.scenario.model
        );
        s.push_str(&tree.text(1));
        s.push_str(";\n");
        if !equations.is_empty() {
            s.push_str("initial equation\n");
            for e in equations {
                let _ = writeln!(s, "  {e}");
            }
        }
        if !self.scenario.dropped.is_empty() {
            let numbers: Vec<String> = self.scenario.dropped.iter().map(usize::to_string).collect();
            let _ = writeln!(
                s,
                "  // Initial equations that the scenario gave up, by their numbers in the flat model; other tools keep them."
            );
            let _ = writeln!(s, "  annotation(__Saltus_dropped = {{{}}});", numbers.join(", "));
        }
        let _ = writeln!(s, "end {short};");
        s
    }
}

/// An element of an array in a written model.
struct Element {
    at: Vec<usize>,
    value: Option<String>,
    fixed: bool,
    changed: bool,
}

/// A name without its subscripts, and these from left to right: `a[2].x[1,3]` is `a.x` and 2, 1, 3.
fn subscripts(name: &str) -> (String, Vec<usize>) {
    let (mut plain, mut at, mut rest) = (String::new(), Vec::new(), name);
    while let Some((before, after)) = rest.split_once('[') {
        let Some((inside, after)) = after.split_once(']') else { break };
        plain.push_str(before);
        at.extend(inside.split(',').filter_map(|n| n.trim().parse::<usize>().ok()));
        rest = after;
    }
    plain.push_str(rest);
    (plain, at)
}

/// The elements as an array constructor, if they fill a box and all have a text.
fn braces(elements: &[Element], text: &dyn Fn(&Element) -> Option<String>) -> Option<String> {
    fn level(elements: &[&Element], depth: usize, text: &dyn Fn(&Element) -> Option<String>) -> Option<String> {
        if elements.iter().all(|e| e.at.len() == depth) {
            let [one] = elements else { return None };
            return text(one);
        }
        let size = elements.iter().map(|e| e.at.get(depth).copied()).max()??;
        let part = |k: usize| {
            let own: Vec<&Element> = elements.iter().copied().filter(|e| e.at.get(depth) == Some(&k)).collect();
            level(&own, depth + 1, text)
        };
        let parts: Option<Vec<String>> = (1..=size).map(part).collect();
        Some(format!("{{{}}}", parts?.join(", ")))
    }
    level(&elements.iter().collect::<Vec<_>>(), 0, text)
}

/// Nested modifiers.
#[derive(Default)]
struct Modifier {
    fields: Vec<(&'static str, String)>,
    below: Vec<(String, Modifier)>,
}

impl Modifier {
    fn add(&mut self, name: &str, fields: &[(&'static str, String)]) {
        if fields.is_empty() {
            return;
        }
        let (path, last) = split_name(name);
        let mut at = self;
        for part in path.into_iter().chain([last]) {
            let k = at.below.iter().position(|b| b.0 == part).unwrap_or_else(|| {
                at.below.push((part.to_string(), Modifier::default()));
                at.below.len() - 1
            });
            at = &mut at.below[k].1;
        }
        at.fields = fields.to_vec();
    }

    fn text(&self, depth: usize) -> String {
        let mut parts: Vec<String> =
            self.fields.iter().filter(|f| f.0 != "=").map(|f| format!("{} = {}", f.0, f.1)).collect();
        let pad = "  ".repeat(depth);
        parts.extend(self.below.iter().map(|(n, m)| format!("\n{pad}  {n}{}", m.text(depth + 1))));
        let value = self.fields.iter().find(|f| f.0 == "=").map_or(String::new(), |f| format!(" = {}", f.1));
        if parts.is_empty() { value } else { format!("({}){value}", parts.join(", ").replace(", \n", ",\n")) }
    }
}

/// The number within the mode of the k-th initial equation of the flat model.
fn number_in_mode(model: &Model, incidence: &Incidence, k: usize) -> Option<usize> {
    let first = incidence.items.len() - incidence.initial;
    let wanted = model.sys.equations.len() + k;
    incidence.items[first..].iter().position(|i| matches!(i, Item::Residual { eq, .. } if *eq == wanted))
}

/// `operand - value = 0`.
fn difference(dae: &mut HybridDae, op: Operand, value: f64) -> Row {
    let (a, b) = (dae.pool.hole(0), dae.pool.num(value));
    Row { template: dae.pool.intern(Node::Binary(Binary::Sub, a, b)), args: Box::new([op]) }
}

/// A conflict in words.
fn refuse(model: &Model, incidence: &Incidence, c: &Conflict, by_user: &FxHashSet<Cell>) -> Diagnostic {
    let text = |c: &Cell| cell_name(&model.sys, *c);
    let parameter = |c: &&Cell| model.sys.dae.vars[c.var].variability == Variability::Parameter && !by_user.contains(c);
    let mut names: Vec<String> = c.fixed.iter().take(1).map(text).collect();
    let others: Vec<String> = c.fixed[1..].iter().filter(|c| !parameter(c)).map(text).collect();
    let parameters: Vec<String> = c.fixed[1..].iter().filter(parameter).map(text).collect();
    names.extend(others.iter().cloned());
    names[..].sort();
    let item = |i: usize| match &incidence.items[i] {
        Item::Residual { eq, level, .. } => model.equation(*eq, *level),
        other => {
            let cell = other.target();
            let v = cell.map(|c| &model.sys.dae.vars[c.var]);
            let span = v.and_then(|v| v.origin.span).unwrap_or(Span::NONE);
            (cell.map_or(String::new(), |c| format!("the definition of {}", text(&c))), span, String::new())
        }
    };
    let equations: Vec<(String, Span, String)> = c.equations.iter().map(|&i| item(i)).collect();
    let subject = match &names[..] {
        [one] => format!("{one} cannot be fixed"),
        [a, b] => format!("{a} and {b} cannot both be fixed"),
        many => format!("{} cannot all be fixed", and(many, 6)),
    };
    let shown: Vec<String> = equations.iter().map(|e| e.0.clone()).collect();
    let unknowns: Vec<String> = c.unknowns.iter().map(text).collect();
    let reason = match (shown.len(), unknowns.len()) {
        (0, _) => "it is determined already".to_string(),
        (1, 0) if names.len() == 1 => format!("{} determines it already", shown[0]),
        (1, 0) => format!("{} then has no unknown left", shown[0]),
        (_, 0) => format!("{} then have no unknown left", and(&shown, 4)),
        (2, 1) => format!("{} then both determine {}", and(&shown, 4), unknowns[0]),
        (n, k) => format!("{n} equations then determine only {k} unknowns, {}: {}", and(&unknowns, 6), and(&shown, 4)),
    };
    let span = equations.first().map_or(Span::NONE, |e| e.1);
    let mut d = Diagnostic::error(Stage::Initialization, span, format!("{subject}: {reason}"));
    for e in equations.iter().skip(1).take(4) {
        if e.1 != Span::NONE {
            d = d.label(e.1, "and this equation");
        }
    }
    if !others.is_empty() {
        d = d.hint(format!("relax {} first", or(&others, 6)));
    }
    if !parameters.is_empty() {
        d = d.hint(format!("or let a parameter be computed: {}", or(&parameters, 6)));
    }
    d.severity = Severity::Error;
    d
}

fn and(words: &[String], max: usize) -> String {
    join(words, max, "and")
}

fn or(words: &[String], max: usize) -> String {
    join(words, max, "or")
}

fn join(words: &[String], max: usize, last: &str) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [head @ .., tail] if words.len() <= max => format!("{} {last} {tail}", head.join(", ")),
        _ => format!("{}, … ({} in all)", words[..max].join(", "), words.len()),
    }
}

/// Letters to change from one name to the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let cost = before + usize::from(x != *y);
            before = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(before + 1);
        }
    }
    row[b.len()]
}
