//! Systems of next values (`x•`, MODRIO chapter 3): one instant after another, each solved by the plan of its mode.
//!
//! ```text
//! known: x (and x•, …, below the highest shift)   ⇒   predicates   ⇒   mode   ⇒   solve for the rest   ⇒   tick: x := x•
//! ```
//!
//! A predicate that reads what the instant solves for is evaluated after it; if that changes the mode, the instant is solved
//! anew in that mode, until they agree. Instants are one unit of time apart.

use crate::api::found;
use crate::compile::Step;
use crate::model::Model;
use crate::{EventKind, EventRecord, Observer, RunOptions, RunReport};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_base::{Diagnostic, Span, Stage};
use saltus_dae::{HybridDae, Operand, Row, VarId, VarType, Variability};
use saltus_results::{Column, Kind, Sink};
use saltus_structure::{Block, Cell, DiscKind, InstantPlan, Item, ModeKey, Role, cell_name, plan_instant};
use std::rc::Rc;

/// Modes tried in one instant.
const TRIES: usize = 64;

/// How far a residual of the first instant may be from zero.
const CONSISTENT: f64 = 1e-9;

struct Instant {
    plan: InstantPlan,
    steps: Vec<Step>,
}

fn io(e: std::io::Error) -> Diagnostic {
    Diagnostic::error(Stage::Run, Span::NONE, format!("cannot write the results: {e}"))
}

/// Runs instants `start`, `start + 1`, … up to the stop time.
pub fn run_instants(
    model: &mut Model,
    options: &RunOptions,
    sink: &mut dyn Sink,
    observer: &mut dyn Observer,
) -> Result<RunReport, Diagnostic> {
    let e = model.sys.dae.experiment;
    let start = options.start.or(e.start).unwrap_or(0.0);
    let stop = options.stop.or(e.stop).unwrap_or(start + 10.0);
    model.parameters(start)?;
    model.machine.plain_relations = true;
    let mut run = Instants::new(model);
    run.columns(model, options, sink, observer)?;
    let mut report = RunReport { solver: "instants (a system of next values)".into(), ..RunReport::default() };
    let count = (stop - start).max(0.0).floor() as u64;
    let mut last: Option<ModeKey> = None;
    for n in 0..=count {
        if observer.cancelled() {
            break;
        }
        let t = start + n as f64;
        model.machine.values[model.machine.time as usize] = t;
        let (key, instant) = run.solve(model, t, &mut report)?;
        if n == 0 {
            run.consistent(model, &instant, t)?;
        }
        run.invariants(model, t)?;
        if last.as_ref() != Some(&key) {
            let kind = if last.is_none() { EventKind::Initial } else { EventKind::Mode };
            observer.event(&EventRecord {
                time: t,
                kind,
                fired: Vec::new(),
                changed: Vec::new(),
                texts: Vec::new(),
                micro_steps: 1,
                instants: Vec::new(),
                mode: run.mode_text(model, &key),
                impulses: Vec::new(),
                conserved: Vec::new(),
                residual: None,
                worst: None,
            });
            last = Some(key);
        }
        run.write(model, &instant, t, sink)?;
        // The end is where a run may go on from.
        if n < count {
            run.tick(model, &instant);
        }
        report.steps += 1;
        observer.progress(t);
    }
    sink.finish().map_err(io)?;
    Ok(report)
}

struct Instants {
    programs: FxHashMap<ModeKey, Rc<Instant>>,
    /// Predicates and propositions.
    guards: Vec<Step>,
    slots: Vec<(u32, VarId)>,
    /// Cells that have a value when an instant begins; everything that has a start value at the first.
    known: Option<FxHashSet<Cell>>,
    /// What predicates read, by predicate: variables and how far ahead.
    reads: FxHashMap<VarId, Vec<(VarId, u8)>>,
    /// Variables that may be dead where a guard reads them.
    mortal: Vec<Mortal>,
    sources: Vec<(VarId, u32, f64)>,
    constants: Vec<(usize, f64)>,
    row: Vec<f64>,
    active: Vec<bool>,
}

/// A variable with the Booleans that tell whether it is dead (`saltus_mdae`).
struct Mortal {
    cell: Cell,
    /// Slot: it takes part in the instant.
    alive: u32,
    /// Slot of the previous value: the instant before has determined it.
    held: Option<u32>,
}

/// The numerical variables that each predicate reads, through other predicates too.
fn reads(model: &Model) -> FxHashMap<VarId, Vec<(VarId, u8)>> {
    let sys = &model.sys;
    let rows: FxHashMap<VarId, &Row> = sys
        .discrete
        .iter()
        .filter_map(|d| match &d.kind {
            DiscKind::Value(row) => Some((d.var, row)),
            DiscKind::Relation(i) => Some((d.var, &sys.relations[*i].g)),
            DiscKind::When(..) => None,
        })
        .collect();
    let mut out = FxHashMap::default();
    for &p in rows.keys() {
        let (mut seen, mut todo, mut found) = (FxHashSet::default(), vec![(p, 0)], Vec::new());
        while let Some((v, ahead)) = todo.pop() {
            if !seen.insert((v, ahead)) {
                continue;
            }
            match rows.get(&v) {
                Some(row) => todo.extend(row.args.iter().filter_map(|a| match *a {
                    Operand::Var { var, order, .. } => Some((var, order)),
                    _ => None,
                })),
                None if sys.role(v) == Role::Continuous => found.push((v, ahead)),
                None => {}
            }
        }
        out.insert(p, found);
    }
    out
}

impl Instants {
    fn new(model: &mut Model) -> Instants {
        let items: Vec<Item> = model
            .sys
            .discrete
            .iter()
            .filter_map(|d| {
                let cell = Cell::new(d.var, 0);
                match &d.kind {
                    DiscKind::Value(row) => Some(Item::Value { cell, row: row.clone() }),
                    DiscKind::Relation(index) => Some(Item::Relation { cell, index: *index }),
                    DiscKind::When(..) => None,
                }
            })
            .collect();
        let blocks: Vec<Block> = items
            .iter()
            .enumerate()
            .filter_map(|(i, item)| Some(Block { items: vec![i], unknowns: vec![item.target()?] }))
            .collect();
        let guards = model.compile(|c| c.blocks(&items, &blocks));
        let slots = blocks.iter().map(|b| (model.layout.slot(b.unknowns[0]), b.unknowns[0].var)).collect();
        let named: FxHashMap<String, VarId> = model.sys.dae.vars.iter().map(|(v, x)| (x.name.clone(), v)).collect();
        let mut mortal = Vec::new();
        for (name, &var) in &named {
            for ahead in 0..8 {
                let of = |what: &str| named.get(&format!("'{name}{} {what}'", "•".repeat(ahead))).copied();
                let Some(alive) = of("alive") else { continue };
                let held = of("held").filter(|_| ahead == 0).map(|h| model.layout.slot(Cell::pre(h)));
                let alive = model.layout.slot(Cell::new(alive, 0));
                mortal.push(Mortal { cell: Cell::new(var, ahead as u8), alive, held });
            }
        }
        model.layout.extend(&mut model.machine.values);
        Instants {
            programs: FxHashMap::default(),
            reads: reads(model),
            mortal,
            guards,
            slots,
            known: None,
            sources: Vec::new(),
            constants: Vec::new(),
            row: Vec::new(),
            active: Vec::new(),
        }
    }

    fn columns(
        &mut self,
        model: &mut Model,
        options: &RunOptions,
        sink: &mut dyn Sink,
        observer: &mut dyn Observer,
    ) -> Result<(), Diagnostic> {
        let mut columns = Vec::new();
        for i in 0..model.sys.dae.vars.len() {
            let v = VarId::new(i);
            let var = &model.sys.dae.vars[v];
            let kind = match var.ty {
                VarType::Real => Kind::Real,
                VarType::Integer => Kind::Integer,
                VarType::Boolean => Kind::Boolean,
                _ => continue,
            };
            if HybridDae::is_builtin(v)
                || var.variability <= Variability::Parameter
                || options.leaves_out(var)
                || !crate::chosen(&options.variables, &var.name)
            {
                continue;
            }
            columns.push(Column::new(var.name.clone(), kind));
            match model.locate(v) {
                Ok((slot, sign)) => self.sources.push((v, slot, sign)),
                Err(c) => self.constants.push((columns.len() - 1, c)),
            }
        }
        model.layout.extend(&mut model.machine.values);
        found(&options.variables, &columns, observer)?;
        self.row = vec![0.0; columns.len()];
        self.active = vec![true; columns.len()];
        sink.begin(&columns).map_err(io)
    }

    /// The predicates as the present values have them.
    fn predicates(&mut self, model: &mut Model, t: f64) -> Result<(), Diagnostic> {
        for _ in 0..=self.slots.len() {
            let before: Vec<f64> = self.slots.iter().map(|s| model.machine.values[s.0 as usize]).collect();
            if let Err(trouble) = model.machine.run(&self.guards) {
                return Err(model.explain(&trouble, Stage::Run, t, "the predicates"));
            }
            if self.slots.iter().zip(&before).all(|(s, b)| model.machine.values[s.0 as usize] == *b) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Finds the mode of the instant and everything in it.
    fn solve(
        &mut self,
        model: &mut Model,
        t: f64,
        report: &mut RunReport,
    ) -> Result<(ModeKey, Rc<Instant>), Diagnostic> {
        // Nothing lives because it lived before.
        self.mortal.iter().for_each(|m| model.machine.values[m.alive as usize] = 0.0);
        self.predicates(model, t)?;
        let mut tried: Vec<ModeKey> = Vec::new();
        loop {
            let key = model.key();
            if tried.contains(&key) || tried.len() == TRIES {
                let modes: Vec<String> = tried.iter().filter_map(|k| self.mode_text(model, k)).collect();
                return Err(Diagnostic::error(
                    Stage::Run,
                    Span::NONE,
                    format!(
                        "at instant {t:?}: guards depend on what they guard, and no mode agrees with its own guards"
                    ),
                )
                .hint(format!("tried: {}", modes.join("; ")))
                .hint("such a system has no constructive order (MODRIO 3.3.2): let guards read known values"));
            }
            let instant = self.instant(model, &key)?;
            if let Some(known) = &self.known {
                let below = |v: &VarId| (0..instant.plan.d[v]).map(|k| Cell::new(*v, k)).collect::<Vec<_>>();
                let missing: Vec<String> = instant
                    .plan
                    .vars
                    .iter()
                    .flat_map(below)
                    .filter(|c| !known.contains(c))
                    .map(|c| name(model, c))
                    .collect();
                if !missing.is_empty() {
                    return Err(Diagnostic::error(
                        Stage::Run,
                        Span::NONE,
                        format!(
                            "at instant {t:?}: the mode {} begins with {}, which the instant before did not determine",
                            self.mode_text(model, &key).unwrap_or_default(),
                            missing.join(", ")
                        ),
                    ));
                }
            }
            report.evaluations += 1;
            if let Err(trouble) = model.machine.run(&instant.steps) {
                return Err(model.explain(&trouble, Stage::Run, t, "the instant"));
            }
            self.predicates(model, t)?;
            if model.key() == key {
                return Ok((key, instant));
            }
            tried.push(key);
        }
    }

    fn instant(&mut self, model: &mut Model, key: &ModeKey) -> Result<Rc<Instant>, Diagnostic> {
        if let Some(i) = self.programs.get(key) {
            return Ok(i.clone());
        }
        let plan = plan_instant(&mut model.sys, &mut model.ops, &model.modes, key)?;
        let steps = model.compile(|c| c.sequence(&plan.sequence));
        let instant = Rc::new(Instant { plan, steps });
        self.programs.insert(key.clone(), instant.clone());
        Ok(instant)
    }

    /// At the first instant the known values must satisfy what later instants get by construction.
    fn consistent(&self, model: &mut Model, instant: &Instant, t: f64) -> Result<(), Diagnostic> {
        for (eq, level, row) in &instant.plan.assumed {
            let slot = model.layout.scratch();
            let batch = model.compile(|c| c.batch(slot, row));
            model.machine.batch(&batch);
            let r = model.machine.values[slot as usize];
            if !(r.abs() <= CONSISTENT) {
                let (text, span, _) = model.equation(*eq, 0);
                let ahead = "•".repeat(usize::from(*level));
                return Err(Diagnostic::error(
                    Stage::Initialization,
                    span,
                    format!("at instant {t:?}: the start values do not satisfy ({text}){ahead}: it is off by {r:.3e}"),
                )
                .hint("give start values that do: x : num = …; x• : num = …"));
            }
        }
        Ok(())
    }

    fn invariants(&self, model: &mut Model, t: f64) -> Result<(), Diagnostic> {
        model.machine.chain(&model.assertions);
        for k in 0..model.assertion_slots.len() {
            if model.machine.values[model.assertion_slots[k] as usize] == 0.0 {
                let a = model.sys.dae.assertions[model.sys.assertions[k].1].clone();
                let text = model.message(&a.message);
                let span = a.origin.span.unwrap_or(Span::NONE);
                return Err(Diagnostic::error(Stage::Run, span, format!("at instant {t:?}: {text} does not hold")));
            }
        }
        Ok(())
    }

    fn write(&mut self, model: &Model, instant: &Instant, t: f64, sink: &mut dyn Sink) -> Result<(), Diagnostic> {
        for &(k, c) in &self.constants {
            self.row[k] = c;
        }
        let mut k = 0;
        for &(v, slot, sign) in &self.sources {
            while self.constants.iter().any(|c| c.0 == k) {
                k += 1;
            }
            self.row[k] = sign * model.machine.values[slot as usize] + 0.0;
            self.active[k] = match self.reads.get(&v) {
                Some(read) => read.iter().all(|&(v, ahead)| self.lives(instant, v, ahead)),
                None => model.sys.role(v) != Role::Continuous || self.lives(instant, v, 0),
            };
            k += 1;
        }
        sink.row(t, &self.row, Some(&self.active[..])).map_err(io)
    }

    /// The mode in words; that a guard reads nothing dead goes without saying.
    fn mode_text(&self, model: &Model, key: &ModeKey) -> Option<String> {
        let mut text = model.key_text(key)?;
        for m in &self.mortal {
            text = text.replace(&format!(" and '{} alive'", name(model, m.cell)), "");
        }
        Some(text)
    }

    /// Whether a variable, or its value so many instants ahead, has a value in this instant.
    fn lives(&self, instant: &Instant, v: VarId, ahead: u8) -> bool {
        instant.plan.d.get(&v).is_some_and(|d| *d >= ahead)
            || self.known.as_ref().is_some_and(|k| k.contains(&Cell::new(v, ahead)))
    }

    /// Next values become present ones; what is dead is not known any more.
    fn tick(&mut self, model: &mut Model, instant: &Instant) {
        let mut known = FxHashSet::default();
        for v in &instant.plan.vars {
            for k in 0..instant.plan.d[v] {
                let (to, from) = (model.layout.find(Cell::new(*v, k)), model.layout.find(Cell::new(*v, k + 1)));
                if let (Some(to), Some(from)) = (to, from) {
                    model.machine.values[to as usize] = model.machine.values[from as usize];
                }
                known.insert(Cell::new(*v, k));
            }
        }
        for m in &self.mortal {
            if let Some(held) = m.held {
                model.machine.values[held as usize] = f64::from(known.contains(&m.cell));
            }
        }
        self.known = Some(known);
    }
}

/// `x••` as the user writes it.
fn name(model: &Model, c: Cell) -> String {
    let base = cell_name(&model.sys, Cell::new(c.var, 0));
    format!("{base}{}", "•".repeat(c.order.max(0) as usize))
}
