//! The pipeline, top to bottom, written once.
//!
//!     source text → syntax → resolve → flatten → HybridDae → structure → program → code → run → results

use saltus_base::{Diagnostic, SourceMap};
use saltus_dae::HybridDae;
use saltus_results::Sink;
use saltus_sim::{Observer, RunOptions, RunReport};
use std::path::PathBuf;

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
    /// `--set NAME=VALUE`.
    pub overrides: Vec<(String, String)>,
    /// `--keep-all-variables`.
    pub keep_all_variables: bool,
    /// `--max-eliminations N`.
    pub max_eliminations: Option<usize>,
    /// `--engine`.
    pub engine: EngineKind,
}

/// The compiler and simulator.
pub struct Engine {
    /// Settings.
    pub options: Options,
    /// What was found so far; errors and warnings, in order.
    pub diagnostics: Vec<Diagnostic>,
}

impl Engine {
    /// An engine with these settings.
    pub fn new(options: Options) -> Engine {
        Engine { options, diagnostics: Vec::new() }
    }

    /// The files read so far (for rendering diagnostics).
    pub fn sources(&self) -> &SourceMap {
        todo_sources()
    }

    /// Opens `target` (a file, a directory library, or a qualified library class name) and returns the model's
    /// qualified name: `model` if given, else the last top-level model of the file.
    pub fn open(&mut self, _target: &str, _model: Option<&str>) -> Option<String> {
        None
    }

    /// The syntax tree of the opened file as text.
    pub fn dump_syntax(&mut self, _target: &str) -> Option<String> {
        None
    }

    /// Flattens a model. `None` after errors (see [`Engine::diagnostics`]).
    pub fn flatten(&mut self, _model: &str) -> Option<HybridDae> {
        None
    }

    /// Structural analysis as text; with errors `None`. `modes`: also check all modes.
    pub fn analyze(&mut self, _dae: HybridDae, _request: &AnalyzeRequest) -> Option<Analysis> {
        None
    }

    /// Runs a model, writing rows to `sink`. On failure the error is in [`Engine::diagnostics`] and rows written so far
    /// stay.
    pub fn simulate(
        &mut self,
        _dae: HybridDae,
        _run: &RunOptions,
        _sink: &mut dyn Sink,
        _observer: &mut dyn Observer,
    ) -> Option<RunReport> {
        None
    }
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

fn todo_sources() -> &'static SourceMap {
    static MAP: std::sync::LazyLock<SourceMap> = std::sync::LazyLock::new(SourceMap::default);
    &MAP
}
