//! The pipeline, top to bottom, written once.
//!
//! ```text
//! source text → syntax → resolve → flatten → HybridDae → structure → program → code → run → results
//! ```

mod analyze;
mod export_c;
mod modes;
mod program;
mod scenario;
mod schemes;
mod structures;
mod workbench;

pub use program::EvaluationTimes;
pub use saltus_function::interrupt;
pub use scenario::{Entry, Kind, Line, Scenario, ScenarioFile};
pub use workbench::{Alternatives, Show, Solved, Steadied, Workbench};

use modes::Depth;
use saltus_base::{Diagnostic, Severity, SourceMap, Span, Stage};
use saltus_dae::HybridDae;
use saltus_flatten::{FlattenOptions, flatten};
use saltus_program::{Backend, Interpreter};
use saltus_resolve::{ClassId, ClassTable, StdFileSystem};
use saltus_results::Sink;
use saltus_sim::{Model, Observer, RunOptions, RunReport};
use saltus_structure::{
    Modes, RowOps, SimplifyOptions, System, analyse_modes, content, fold_vanishing_calls, fold_zero_parameters, lower,
    numbers, renew, simplify,
};
use saltus_syntax::ast::{ClassBody, ClassDef, ClassKind, Element};
use std::path::{Path, PathBuf};
use structures::{Structure, Structures};

/// Which backend runs kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineKind {
    /// Native code, compiled when worth it.
    #[default]
    Native,
    /// The reference interpreter.
    Interpreter,
}

/// Settings of compilation.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Library folders (`--library`, then `MODELICAPATH`).
    pub libraries: Vec<PathBuf>,
    /// Where parsed library files are kept between runs.
    pub cache: Option<PathBuf>,
    /// `--set NAME=VALUE`.
    pub overrides: Vec<(String, String)>,
    /// `--invert`.
    pub inversions: Vec<Inversion>,
    /// `--keep-all-variables`.
    pub keep_all_variables: bool,
    /// `--max-eliminations N`.
    pub max_eliminations: Option<usize>,
    /// `--engine`.
    pub engine: EngineKind,
    /// Keep the model after a run, for [`Engine::final_scenario`].
    pub keep_final: bool,
    /// Whether the user wants a search for values to end.
    pub stop: Option<fn() -> bool>,
}

/// An input and an output that change places: the input is computed so that the output has a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inversion {
    /// The input.
    pub input: String,
    /// What is prescribed.
    pub output: String,
    /// Its value, an expression over `time` and the model's names.
    pub value: String,
}

/// The compiler and simulator.
pub struct Engine {
    /// Settings.
    pub options: Options,
    /// What was found so far; errors and warnings, in order.
    pub diagnostics: Vec<Diagnostic>,
    /// The last run's model at its end, if [`Options::keep_final`].
    last: Option<Box<Model>>,
    table: ClassTable,
    code: std::rc::Rc<saltus_codegen::CodeStore>,
    structures: std::rc::Rc<std::cell::RefCell<Structures>>,
    /// If the system speaks of next values instead of derivatives: their start values (variable, how far ahead, value).
    ahead: Option<Vec<(String, u8, f64)>>,
    /// Variables that a translation needs and nobody wrote.
    hidden: Vec<String>,
}

/// What `analyze` should show besides sizes, index, states and blocks.
#[derive(Clone, Debug, Default)]
pub struct AnalyzeRequest {
    /// `--explain VAR`.
    pub explain: Option<String>,
    /// `--picture`: sparsity as SVG.
    pub picture: bool,
    /// `--incidence`: the incidence matrix as text.
    pub incidence: bool,
    /// Check all modes (done by `check`).
    pub all_modes: bool,
    /// `--schemes`: what one instant solves, mode by mode.
    pub schemes: bool,
    /// `--shifts N`: how often an equation may be shifted in a scheme.
    pub shifts: Option<u32>,
}

/// The outcome of `analyze`.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// The report.
    pub text: String,
    /// SVG picture, if asked for.
    pub picture: Option<String>,
    /// Incidence matrix, if asked for.
    pub incidence: Option<String>,
}

impl Engine {
    /// An engine with these settings.
    pub fn new(options: Options) -> Engine {
        let mut table = ClassTable::new(StdFileSystem);
        if let Some(folder) = &options.cache {
            table = table.cached(folder);
        }
        for p in &options.libraries {
            table.add_path(p.to_string_lossy().into_owned());
        }
        Engine {
            options,
            diagnostics: Vec::new(),
            last: None,
            table,
            code: Default::default(),
            structures: Default::default(),
            ahead: None,
            hidden: Vec::new(),
        }
    }

    /// An engine with the same settings that reads all files anew and keeps the machine code and the structure found so
    /// far: for files that were edited.
    pub fn with_new_sources(&self) -> Engine {
        let (code, structures) = (self.code.clone(), self.structures.clone());
        Engine { code, structures, ..Engine::new(self.options.clone()) }
    }

    /// The files read so far (for rendering diagnostics).
    pub fn sources(&self) -> std::cell::Ref<'_, SourceMap> {
        self.table.sources()
    }

    fn fail(&mut self, d: Diagnostic) {
        self.diagnostics.push(d);
    }

    fn failed(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == Severity::Error)
    }

    /// Opens `target` (a file, a directory library, or a qualified library class name) and returns the model's
    /// qualified name: `model` if given, else the last top-level model of the file.
    pub fn open(&mut self, target: &str, model: Option<&str>) -> Option<String> {
        if Path::new(target).exists() {
            if target.ends_with(".mdae") {
                return self.open_mdae(target);
            }
            let ids = match self.table.load_file(target) {
                Ok(ids) => ids,
                Err(e) => {
                    self.fail(Diagnostic::error(Stage::Usage, Span::NONE, format!("cannot read {target}: {e}")));
                    return None;
                }
            };
            let found = self.table.take_diagnostics();
            self.diagnostics.extend(found);
            if self.failed() {
                return None;
            }
            if let Some(m) = model {
                return Some(m.to_string());
            }
            let name = ids.iter().rev().find_map(|&id| self.last_model(id));
            if name.is_none() {
                let partial = ids.iter().rev().map(|&id| self.table.def(id)).find(|d| d.prefixes.partial);
                self.fail(match partial {
                    Some(d) => {
                        let text = format!("{} is partial and cannot be simulated", d.name.name);
                        Diagnostic::error(Stage::FrontEnd, d.name.span, text)
                            .hint("extend it by a class that completes it")
                    }
                    None => Diagnostic::error(Stage::FrontEnd, Span::NONE, format!("{target} holds no model"))
                        .hint("name one with --model"),
                });
            }
            return name;
        }
        let looks_like_file = target.ends_with(".mo") || target.contains('/') || target.contains('\\');
        if looks_like_file {
            self.fail(Diagnostic::error(Stage::Usage, Span::NONE, format!("no such file: {target}")));
            return None;
        }
        Some(model.unwrap_or(target).to_string())
    }

    /// The model with inputs and outputs exchanged as [`Options::inversions`] says; the same one if they say nothing.
    pub fn invert(&mut self, model: String) -> Option<String> {
        if self.options.inversions.is_empty() {
            return Some(model);
        }
        let (given, told) = (std::mem::take(&mut self.options.inversions), self.diagnostics.len());
        let dae = self.flatten(&model);
        self.options.inversions = given;
        let dae = dae?;
        // Warnings come again with the model that is run.
        self.diagnostics.truncate(told);
        let input = |n: &str| dae.vars.iter().any(|(_, v)| v.name == n && v.causality == saltus_dae::Causality::Input);
        let wrong = self.options.inversions.iter().find(|i| !input(&i.input));
        if let Some(i) = wrong {
            let message = format!("--invert: {} is not an input of {model} without a value of its own", i.input);
            self.fail(Diagnostic::error(Stage::Usage, Span::NONE, message));
            return None;
        }
        let name = format!("{}Inverse", scenario::split_name(&model).1.trim_matches('\''));
        let equations: Vec<String> =
            self.options.inversions.iter().map(|i| format!("  {} = {};\n", i.output, i.value)).collect();
        let text = format!("model {name}\n  extends {model};\nequation\n{}end {name};\n", equations.concat());
        self.table.load_text("--invert", text);
        let found = self.table.take_diagnostics();
        self.diagnostics.extend(found);
        (!self.failed()).then_some(name)
    }

    /// Opens a system in the mini-language of the MODRIO document.
    fn open_mdae(&mut self, target: &str) -> Option<String> {
        let text = match std::fs::read_to_string(target) {
            Ok(text) => text,
            Err(e) => {
                self.fail(Diagnostic::error(Stage::Usage, Span::NONE, format!("cannot read {target}: {e}")));
                return None;
            }
        };
        let stem = Path::new(target).file_stem().map_or_else(|| "System".into(), |s| s.to_string_lossy().into_owned());
        match saltus_mdae::translate(&stem, &text) {
            Ok(t) => {
                let derivative = if t.difference { '•' } else { '\'' };
                self.ahead = t.difference.then_some(t.ahead);
                self.hidden = t.hidden;
                self.table.load_translation(target, t.text, &text, t.anchors, derivative);
                let found = self.table.take_diagnostics();
                self.diagnostics.extend(found);
                (!self.failed()).then_some(t.name)
            }
            Err(problems) => {
                let file = self.table.add_text(target, &text);
                for (from, to, message) in problems {
                    self.fail(Diagnostic::error(Stage::FrontEnd, Span::new(file, from, to), message));
                }
                None
            }
        }
    }

    /// The class itself if it is a model; else the last model in it.
    fn last_model(&self, id: ClassId) -> Option<String> {
        fn search(def: &ClassDef, path: &str) -> Option<String> {
            let runnable =
                matches!(def.kind, ClassKind::Model | ClassKind::Block | ClassKind::Class) && !def.prefixes.partial;
            if runnable {
                return Some(path.to_string());
            }
            if def.kind != ClassKind::Package {
                return None;
            }
            let ClassBody::Long { elements, .. } = &*def.body else { return None };
            elements.iter().rev().find_map(|e| match e {
                Element::Class { def, .. } => search(def, &format!("{path}.{}", def.name.name)),
                _ => None,
            })
        }
        search(self.table.def(id), &self.table.qualified(id))
    }

    /// The syntax tree of a file as text.
    pub fn dump_syntax(&mut self, target: &str) -> Option<String> {
        match self.table.parse_file(target) {
            Ok(tree) => {
                self.diagnostics.extend(tree.diagnostics);
                Some(saltus_syntax::dump(&tree.root))
            }
            Err(e) => {
                self.fail(Diagnostic::error(Stage::Usage, Span::NONE, e));
                None
            }
        }
    }

    /// The classes that have been looked into, as text.
    pub fn dump_classes(&self) -> String {
        self.table.dump()
    }

    /// Flattens a model. `None` after errors (see [`Engine::diagnostics`]).
    pub fn flatten(&mut self, model: &str) -> Option<HybridDae> {
        let computed = self.options.inversions.iter().map(|i| i.input.clone()).collect();
        let options = FlattenOptions { overrides: self.options.overrides.clone(), computed };
        let (dae, found) = flatten(&self.table, model, &options);
        self.table.save_cache();
        self.diagnostics.extend(found);
        if self.failed() {
            return None;
        }
        let mut dae = dae?;
        for (name, order, value) in self.ahead.iter().flatten() {
            let var = dae.vars.iter().find(|(_, v)| v.name == *name).map(|v| v.0);
            dae.guesses.extend(var.map(|v| (v, *order, *value)));
        }
        if !self.hidden.is_empty() {
            dae.vars.values_mut().filter(|v| self.hidden.contains(&v.name)).for_each(|v| v.hidden = true);
        }
        Some(dae)
    }

    /// Lowers, simplifies and finds the modes.
    fn prepare(&mut self, dae: HybridDae) -> (System, RowOps, Modes) {
        let (mut sys, ops) = self.simplified(dae);
        let modes = analyse_modes(&mut sys);
        (sys, ops, modes)
    }

    /// The same, with what was found out about equations of the same content; and a number for that content, unless the
    /// system is too large to be kept.
    fn structure(&mut self, dae: HybridDae) -> (Option<u64>, Structure) {
        let (mut sys, ops) = self.simplified(dae);
        let content = (sys.equations.len() <= structures::MOST_EQUATIONS).then(|| content(&sys));
        if let Some(mut known) = content.and_then(|c| self.structures.borrow_mut().take(c)) {
            renew(&mut known.sys, sys);
            return (content, known);
        }
        let modes = analyse_modes(&mut sys);
        (content, Structure { sys, ops, modes, plans: Vec::new(), checked: None })
    }

    fn simplified(&self, dae: HybridDae) -> (System, RowOps) {
        let mut sys = lower(dae);
        let mut ops = RowOps::default();
        let how = SimplifyOptions {
            // What is constant has a derivative of zero, but a next value.
            keep_all: self.options.keep_all_variables || self.ahead.is_some(),
            max: self.options.max_eliminations.unwrap_or(usize::MAX),
        };
        let late: Vec<_> = saltus_structure::late_parameters(&sys);
        let values = modes::parameter_values(&sys);
        let value = |v| values.get(&v).copied().filter(|_| !late.contains(&v));
        fold_zero_parameters(&mut sys, &mut ops, &value);
        simplify(&mut sys, &mut ops, how);
        if fold_vanishing_calls(&mut sys, &value) {
            simplify(&mut sys, &mut ops, how);
        }
        (sys, ops)
    }

    /// Native code is kept between models: what has not changed is not compiled again.
    fn tiered(&self) -> saltus_codegen::Tiered {
        saltus_codegen::Tiered::with_store(self.code.clone(), saltus_codegen::Tiered::THRESHOLD)
    }

    /// Number of kernels compiled to machine code so far.
    pub fn compiled(&self) -> usize {
        self.code.compiled()
    }

    /// Number of modes planned in runs so far.
    pub fn planned(&self) -> usize {
        self.structures.borrow().planned
    }

    fn backend(&self) -> Box<dyn Backend> {
        match self.options.engine {
            EngineKind::Interpreter => Box::new(Interpreter::new()),
            EngineKind::Native => Box::new(self.tiered()),
        }
    }

    /// Structural analysis as text; with errors `None`.
    pub fn analyze(&mut self, dae: HybridDae, request: &AnalyzeRequest) -> Option<Analysis> {
        let (mut sys, mut ops, mut modes) = self.prepare(dae);
        if request.all_modes {
            let found = modes::check_modes(&mut sys, &mut ops, &mut modes, (0.0, f64::INFINITY), Depth::Thorough);
            self.diagnostics.extend(found);
            if self.failed() {
                return None;
            }
        }
        if request.schemes {
            let text = schemes::schemes(&mut sys, &mut ops, &mut modes, request.shifts, self.ahead.is_some());
            return Some(Analysis { text, ..Analysis::default() });
        }
        let place = |span: Span| if span.is_none() { String::new() } else { self.table.sources().describe(span) };
        match analyze::analyze(sys, ops, modes, request, &place, self.backend()) {
            Ok(a) => Some(a),
            Err(d) => {
                // Told as a warning before: one of all modes.
                self.diagnostics.retain(|w| w.message != d.message);
                self.fail(d);
                None
            }
        }
    }

    /// Prepares a model and initializes it at its start time.
    fn started(&mut self, dae: HybridDae) -> Option<program::Started> {
        let (sys, ops, modes) = self.prepare(dae);
        let start = sys.dae.experiment.start.unwrap_or(0.0);
        match program::start(sys, ops, modes, self.tiered(), start) {
            Ok(s) => Some(s),
            Err(d) => {
                self.fail(d);
                None
            }
        }
    }

    /// The program of the mode a model starts in, as text.
    pub fn dump_program(&mut self, dae: HybridDae) -> Option<String> {
        Some(program::text(&self.started(dae)?))
    }

    /// A model as one C99 file that needs nothing but the mathematical functions of the C library.
    pub fn export_c(&mut self, dae: HybridDae, name: &str) -> Option<String> {
        let (mut sys, mut ops, mut modes) = self.prepare(dae);
        let e = sys.dae.experiment;
        let start = e.start.unwrap_or(0.0);
        let span = (start, e.stop.unwrap_or(start + 1.0));
        let found = modes::check_modes(&mut sys, &mut ops, &mut modes, span, Depth::Quick);
        self.diagnostics.extend(found);
        if self.failed() {
            return None;
        }
        let started = program::start(sys, ops, modes, self.tiered(), start);
        match started.and_then(|mut s| export_c::write(&mut s, name)) {
            Ok(text) => Some(text),
            Err(d) => {
                self.fail(d);
                None
            }
        }
    }

    /// How long evaluations of a model beside its start take by a clock that tells seconds, `n` of them measured together. `beside`
    /// is called in turn with that, many times, and tells how long something else took, in nanoseconds.
    pub fn evaluation_times(
        &mut self,
        dae: HybridDae,
        n: usize,
        clock: fn() -> f64,
        beside: &mut dyn FnMut() -> f64,
    ) -> Option<EvaluationTimes> {
        self.code.measure_by(clock);
        let mut started = self.started(dae)?;
        let times = program::evaluation_times(&mut started, n, &clock, beside);
        Some(EvaluationTimes { spent: self.code.spent(), ..times })
    }

    /// Runs a model, writing rows to `sink`. On failure the error is in [`Engine::diagnostics`] and rows written so far
    /// stay.
    pub fn simulate(
        &mut self,
        dae: HybridDae,
        run: &RunOptions,
        sink: &mut dyn Sink,
        observer: &mut dyn Observer,
    ) -> Option<RunReport> {
        let (content, structure) = self.structure(dae);
        let Structure { mut sys, mut ops, mut modes, plans, checked } = structure;
        let e = sys.dae.experiment;
        let start = run.start.or(e.start).unwrap_or(0.0);
        let stop = run.stop.or(e.stop).unwrap_or(start + 1.0);
        let (numbers, span) = (numbers(&sys), (start, stop));
        let checked = checked
            .filter(|c| (c.0, c.1) == (numbers, span))
            .unwrap_or_else(|| (numbers, span, modes::check_modes(&mut sys, &mut ops, &mut modes, span, Depth::Quick)));
        self.diagnostics.extend(checked.2.iter().cloned());
        if self.failed() {
            return None;
        }
        let mut model = match Model::new(sys, ops, modes, self.backend()) {
            Ok(m) => m.with_plans(plans),
            Err(d) => {
                let _ = sink.finish();
                self.fail(d);
                return None;
            }
        };
        model.machine.stop = self.options.stop;
        let result = match self.ahead.is_some() {
            true => saltus_sim::run_instants(&mut model, run, sink, observer),
            false => saltus_sim::run(&mut model, run, sink, observer),
        };
        match (&result, content) {
            (Ok(_), _) if self.options.keep_final => self.last = Some(Box::new(model)),
            (_, Some(content)) => self.structures.borrow_mut().keep(content, model, Some(checked)),
            (_, None) => {}
        }
        match result {
            Ok(r) => Some(r),
            Err(d) => {
                let _ = sink.finish();
                self.fail(d);
                None
            }
        }
    }

    /// The values at the end of the last run as a scenario that goes on from there; `bench` is that of the same model.
    pub fn final_scenario(&mut self, bench: &mut Workbench) -> Option<Scenario> {
        let mut model = self.last.take()?;
        let key = model.key();
        let states = match model.mode(&key) {
            _ if !model.left_states.is_empty() => model.left_states.iter().copied().collect(),
            Ok(p) => p.plan.states.iter().copied().collect(),
            Err(d) => {
                self.fail(d);
                return None;
            }
        };
        bench.write_back(&model, Some(&states));
        bench.scenario.left = std::mem::take(&mut model.left);
        bench.scenario.time = model.machine.values[model.machine.time as usize];
        bench.scenario.continues = true;
        bench.scenario.histories = model.histories();
        Some(bench.scenario.clone())
    }
}

/// How long a call of a function takes.
pub struct FunctionTime {
    /// The shortest time in seconds.
    pub best: f64,
    /// The middle one of the ratios to what was measured in turn with it.
    pub ratio: f64,
    /// Its first result.
    pub result: f64,
}

/// How long a call of a function of the model takes as native code, in seconds of the given clock, `n` times in turn with
/// `beside`, which tells its own time in seconds.
pub fn function_time(
    dae: &HybridDae,
    name: &str,
    args: &[f64],
    n: usize,
    clock: &dyn Fn() -> f64,
    beside: &mut dyn FnMut() -> f64,
) -> Option<FunctionTime> {
    let f = dae.functions.iter().position(|f| f.name == name)?;
    let f = saltus_expr::FuncId(f as u32);
    let mut native = saltus_codegen::NativeFunctions::with_threshold(&dae.functions, 0);
    let (mut best, mut ratios, mut out) = (f64::INFINITY, Vec::new(), Vec::new());
    let mut moved = args.to_vec();
    for k in 1..=n {
        // Another argument each time: the results of an equal call would be at hand.
        if let (Some(m), Some(a)) = (moved.last_mut(), args.last()) {
            *m = a * (1.0 + k as f64 * 1e-9);
        }
        let begun = clock();
        saltus_program::Functions::call(&mut native, f, &moved, &mut out).ok()?;
        let took = clock() - begun;
        best = best.min(took);
        ratios.push(took / beside());
    }
    saltus_program::Functions::call(&mut native, f, args, &mut out).ok()?;
    native.is_native(f, false).then_some(())?;
    Some(FunctionTime { best, ratio: program::middle(ratios), result: *out.first()? })
}
