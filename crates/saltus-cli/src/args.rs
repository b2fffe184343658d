//! The command line as types.
//!
//! What clap can check is checked here, so that every value further in is usable: steps are positive, times are finite,
//! solver names exist. Wrong usage ends with exit code 2.

use clap::{Args, Parser, Subcommand, ValueEnum};
use saltus_engine::{EngineKind, Inversion, Options};
use saltus_sim::{Linear, RunOptions, SOLVERS, Zeno};
use std::path::PathBuf;

const EXIT_CODES: &str = "Exit codes: 0 fine; 2 usage; 3 syntax, names, types, flattening; 4 structure or compilation; \
                          5 initialization; 6 run; 70 a bug in Saltus.";

/// Modelica and multi-mode models: check, analyse, simulate.
#[derive(Debug, Parser)]
#[command(name = "saltus", version, about, after_help = EXIT_CODES)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a model and write its trajectory
    #[command(after_help = EXIT_CODES)]
    Simulate(Box<SimulateArgs>),
    /// Look for errors, in all modes, without running
    Check(CheckArgs),
    /// Print the flat model
    Flatten(FlattenArgs),
    /// Print sizes, index, states and block structure
    Analyze(AnalyzeArgs),
    /// Find initial values; choose what is fixed and what is computed
    #[command(after_help = EXIT_CODES)]
    Init(Box<InitArgs>),
    /// Write a model in another form: C source code
    Export(ExportArgs),
    /// Run an FMU (not supported yet)
    RunFmu(Anything),
    /// Work in the browser (not supported yet)
    Studio(Anything),
    /// Serve an editor (not supported yet)
    Lsp(Anything),
    /// Measure Saltus on this machine
    Bench(BenchArgs),
}

impl Command {
    /// Whether messages are for machines.
    pub fn json(&self) -> bool {
        match self {
            Command::Simulate(a) => a.model.json,
            Command::Check(a) => a.model.json,
            Command::Flatten(a) => a.model.json,
            Command::Analyze(a) => a.model.json,
            Command::Init(a) => a.model.json,
            Command::Export(a) => a.model.json,
            _ => false,
        }
    }
}

/// Arguments of a command that does not exist yet.
#[derive(Debug, Args)]
pub struct Anything {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    #[allow(dead_code, reason = "they are only accepted, so that the answer is 'not supported yet'")]
    arguments: Vec<String>,
}

/// Which model, and how it is compiled.
#[derive(Debug, Args)]
pub struct ModelArgs {
    /// A Modelica file, a library folder, or the qualified name of a library class
    #[arg(value_name = "FILE|CLASS")]
    pub target: String,
    /// The class to use [default: the last top-level model of the file]
    #[arg(long, value_name = "A.B.C")]
    pub model: Option<String>,
    /// A folder with libraries, or one library; MODELICAPATH adds more
    #[arg(long, short = 'L', value_name = "PATH")]
    pub library: Vec<PathBuf>,
    /// Parse library files anew instead of taking trees kept from earlier runs
    #[arg(long)]
    pub no_cache: bool,
    /// Give a parameter or start value another value
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,
    /// Compute the input U so that Y has the given value (an expression over time and the model's names)
    #[arg(long, value_name = "U:Y=EXPRESSION", value_parser = inversion)]
    pub invert: Vec<Inversion>,
    /// Keep variables that are only aliases or could be eliminated
    #[arg(long)]
    pub keep_all_variables: bool,
    /// Eliminate at most this many variables
    #[arg(long, value_name = "N")]
    pub max_eliminations: Option<usize>,
    /// What evaluates the equations
    #[arg(long, value_enum, default_value = "native")]
    pub engine: EngineChoice,
    /// Print messages as JSON, one object per line
    #[arg(long)]
    pub json: bool,
}

impl ModelArgs {
    /// The settings of the engine.
    pub fn options(&self) -> Options {
        let mut libraries = self.library.clone();
        if let Some(path) = std::env::var_os("MODELICAPATH") {
            libraries.extend(std::env::split_paths(&path).filter(|p| !p.as_os_str().is_empty()));
        }
        Options {
            libraries,
            cache: (!self.no_cache).then(|| saltus_base::cache_folder().join("trees")),
            overrides: self.set.clone(),
            inversions: self.invert.clone(),
            keep_all_variables: self.keep_all_variables,
            max_eliminations: self.max_eliminations,
            engine: match self.engine {
                EngineChoice::Native => EngineKind::Native,
                EngineChoice::Interpreter => EngineKind::Interpreter,
            },
            keep_final: false,
            stop: None,
        }
    }
}

/// `--engine`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineChoice {
    /// Machine code
    Native,
    /// The reference interpreter
    Interpreter,
}

/// `--dump`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Dump {
    /// The syntax tree of the file
    Syntax,
    /// The classes that the model is made of, with what each declares
    Classes,
    /// The flat model
    Flat,
    /// The structural plan
    Structure,
    /// What a run evaluates, in order
    Program,
}

/// `saltus export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The form
    #[arg(value_enum)]
    pub form: ExportForm,
    /// Which model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Where it goes; '-' is standard output [default: MODEL.c]
    #[arg(long, short = 'o', value_name = "FILE", allow_hyphen_values = true)]
    pub output: Option<String>,
}

/// What a model can be written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportForm {
    /// One C99 file without dependencies
    C,
    /// A functional mock-up unit (not supported yet)
    Fmu,
}

/// `saltus simulate`.
#[derive(Debug, Args)]
pub struct SimulateArgs {
    /// Which model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// How to run it.
    #[command(flatten, next_help_heading = "Run")]
    pub run: RunArgs,
    /// Start from this scenario (written by 'init --write' or '--write-final')
    #[arg(long, value_name = "FILE", help_heading = "Run")]
    pub from: Option<PathBuf>,
    /// Write the values at the end as a scenario that another run can go on from
    #[arg(long, value_name = "FILE.toml|.xml", help_heading = "Results")]
    pub write_final: Option<PathBuf>,
    /// Where the trajectory goes: .csv, .mat or .parquet; '-' is CSV on standard output [default: MODEL.csv]
    #[arg(long, short = 'o', value_name = "FILE", allow_hyphen_values = true, help_heading = "Results")]
    pub output: Option<String>,
    /// Write these variables only; '*' and '?' stand for any text and character, the name of an array or component for all its parts
    #[arg(long, value_name = "PATTERN,PATTERN…", help_heading = "Results")]
    pub variables: Vec<String>,
    /// Write discrete variables there, a line `time,variable,value` per change, and not as columns
    #[arg(long, value_name = "FILE.csv", help_heading = "Results")]
    pub discrete: Option<PathBuf>,
    /// Write what happened at events
    #[arg(long, value_name = "FILE.json", help_heading = "Results")]
    pub events: Option<PathBuf>,
    /// Draw these variables as SVG beside the output; the name of an array means all its elements
    #[arg(long, value_name = "VAR,VAR…", help_heading = "Results")]
    pub plot: Vec<String>,
    /// Say how long the phases took and what the solver did
    #[arg(long, help_heading = "Results")]
    pub stats: bool,
    /// Tell on standard error what happens
    #[arg(long, value_enum, value_name = "WHAT", help_heading = "Results")]
    pub trace: Option<Trace>,
    /// Print the text form of a stage and stop there
    #[arg(long, value_enum, value_name = "STAGE", help_heading = "Results")]
    pub dump: Option<Dump>,
}

/// `--trace`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Trace {
    /// Every event, in words
    Events,
}

/// How to run a model. What is left out is up to the model's `experiment` annotation.
#[derive(Clone, Debug, Default, Args)]
pub struct RunArgs {
    /// Start time
    #[arg(long, value_name = "S", allow_hyphen_values = true, value_parser = finite)]
    pub start: Option<f64>,
    /// Stop time
    #[arg(long, value_name = "T", allow_hyphen_values = true, value_parser = finite)]
    pub stop: Option<f64>,
    /// Number of output intervals
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = count)]
    pub intervals: Option<usize>,
    /// Relative tolerance
    #[arg(long, value_name = "TOL", allow_hyphen_values = true, value_parser = positive)]
    pub tolerance: Option<f64>,
    /// Absolute tolerance, times the nominal value of each variable
    #[arg(long, value_name = "TOL", allow_hyphen_values = true, value_parser = positive)]
    pub absolute: Option<f64>,
    /// Integration method
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = clap::builder::PossibleValuesParser::new(SOLVERS.iter().copied()))]
    pub solver: Option<String>,
    /// Step of fixed-step methods; auto: their error is controlled by step doubling
    #[arg(long, value_name = "H|auto", allow_hyphen_values = true, value_parser = step)]
    pub step: Option<StepChoice>,
    /// Largest step
    #[arg(long, value_name = "H", allow_hyphen_values = true, value_parser = positive)]
    pub max_step: Option<f64>,
    /// First step
    #[arg(long, value_name = "H", allow_hyphen_values = true, value_parser = positive)]
    pub initial_step: Option<f64>,
    /// Smallest step
    #[arg(long, value_name = "H", allow_hyphen_values = true, value_parser = positive)]
    pub min_step: Option<f64>,
    /// Times closer than this are one instant
    #[arg(long, value_name = "H", allow_hyphen_values = true, value_parser = positive)]
    pub time_resolution: Option<f64>,
    /// Give up after this many steps
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = count)]
    pub max_steps: Option<usize>,
    /// Give up after this many evaluations of the right-hand side
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = count)]
    pub max_evaluations: Option<usize>,
    /// Keep states within their min and max while integrating
    #[arg(long)]
    pub keep_bounds: bool,
    /// Carry sensitivities to these parameters along: columns der(variable, parameter)
    #[arg(long, value_name = "PARAM,PARAM…", value_delimiter = ',')]
    pub sensitivity: Vec<String>,
    /// Let the sensitivities take part in the error test
    #[arg(long, requires = "sensitivity")]
    pub sensitivity_error: bool,
    /// How the linear systems of implicit methods are solved; auto takes gmres where factors would be far larger than the matrix
    #[arg(long, value_enum, default_value = "auto")]
    pub linear: LinearChoice,
    /// Highest order of the method
    #[arg(long, value_name = "K", allow_hyphen_values = true, value_parser = count)]
    pub max_order: Option<usize>,
    /// What to do where events accumulate: come to rest, end the run, or fail
    #[arg(long, value_enum, default_value = "rest")]
    pub zeno: ZenoChoice,
    /// What to do where the solution ends in a fold: tell it and jump to another solution, or fail
    #[arg(long, value_enum, default_value = "jump")]
    pub fold: FoldChoice,
    /// Seconds of model time per second of wall clock
    #[arg(long, value_name = "SCALE", allow_hyphen_values = true, value_parser = positive)]
    pub realtime: Option<f64>,
}

impl RunArgs {
    /// The settings of the run.
    pub fn options(&self, all_variables: bool) -> RunOptions {
        RunOptions {
            start: self.start,
            stop: self.stop,
            intervals: self.intervals,
            tolerance: self.tolerance,
            absolute: self.absolute,
            solver: self.solver.as_ref().map(|s| s.to_ascii_lowercase()),
            step: self.step.and_then(|s| match s {
                StepChoice::Auto => None,
                StepChoice::Fixed(h) => Some(h),
            }),
            doubling: self.step == Some(StepChoice::Auto),
            max_step: self.max_step,
            initial_step: self.initial_step,
            min_step: self.min_step,
            max_order: self.max_order,
            time_resolution: self.time_resolution,
            max_steps: self.max_steps,
            max_evaluations: self.max_evaluations,
            keep_bounds: self.keep_bounds,
            zeno: self.zeno.into(),
            stop_at_folds: self.fold == FoldChoice::Error,
            realtime: self.realtime,
            all_variables,
            variables: Vec::new(),
            sensitivity: self.sensitivity.clone(),
            sensitivity_error: self.sensitivity_error,
            linear: self.linear.into(),
        }
    }
}

/// `--fold`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum FoldChoice {
    /// Tell it and go on with another solution
    #[default]
    Jump,
    /// Fail, with the results so far
    Error,
}

/// `--zeno`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum ZenoChoice {
    #[default]
    Rest,
    Stop,
    Error,
}

/// `--step`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepChoice {
    /// Error control by step doubling.
    Auto,
    /// This step.
    Fixed(f64),
}

fn step(text: &str) -> Result<StepChoice, String> {
    if text == "auto" { Ok(StepChoice::Auto) } else { positive(text).map(StepChoice::Fixed) }
}

/// `--linear`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LinearChoice {
    #[default]
    Auto,
    Direct,
    Gmres,
}

impl From<LinearChoice> for Linear {
    fn from(choice: LinearChoice) -> Linear {
        match choice {
            LinearChoice::Auto => Linear::Auto,
            LinearChoice::Direct => Linear::Direct,
            LinearChoice::Gmres => Linear::Gmres,
        }
    }
}

impl From<ZenoChoice> for Zeno {
    fn from(choice: ZenoChoice) -> Zeno {
        match choice {
            ZenoChoice::Rest => Zeno::Rest,
            ZenoChoice::Stop => Zeno::Stop,
            ZenoChoice::Error => Zeno::Error,
        }
    }
}

/// `saltus check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Which model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Print the text form of a stage and stop there
    #[arg(long, value_enum, value_name = "STAGE")]
    pub dump: Option<Dump>,
}

/// `saltus flatten`.
#[derive(Debug, Args)]
pub struct FlattenArgs {
    /// Which model.
    #[command(flatten)]
    pub model: ModelArgs,
}

/// `saltus analyze`.
#[derive(Debug, Args)]
pub struct AnalyzeArgs {
    /// Which model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Draw the block structure as SVG
    #[arg(long, value_name = "FILE.svg")]
    pub picture: Option<PathBuf>,
    /// Write the incidence matrix as text
    #[arg(long, value_name = "FILE")]
    pub incidence: Option<PathBuf>,
    /// Say how a variable is computed
    #[arg(long, value_name = "VAR")]
    pub explain: Option<String>,
    /// Show what one instant solves, mode by mode
    #[arg(long)]
    pub schemes: bool,
    /// Show the schemes with equations shifted at most N times (0: before latent equations are added)
    #[arg(long, value_name = "N")]
    pub shifts: Option<u32>,
}

/// `saltus init`.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// Which model.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Read what is fixed, relaxed, guessed and marked from a file (TOML, or XML)
    #[arg(long, value_name = "FILE", help_heading = "Scenario")]
    pub scenario: Option<PathBuf>,
    /// Keep a variable, derivative or parameter at a value (at its present one if none is given)
    #[arg(long, value_name = "NAME[=VALUE]", help_heading = "Scenario", allow_hyphen_values = true)]
    pub fix: Vec<String>,
    /// Let variables or parameters be computed
    #[arg(long, value_name = "NAME,…", help_heading = "Scenario")]
    pub relax: Vec<String>,
    /// Give a first value
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment, help_heading = "Scenario")]
    pub guess: Vec<(String, String)>,
    /// Make a value a wish: between 0 (relaxed) and 1 (fixed), met in least squares
    #[arg(long, value_name = "NAME=WEIGHT", value_parser = assignment, help_heading = "Scenario")]
    pub weight: Vec<(String, String)>,
    /// Keep these variables when others are eliminated, so that their guesses are used
    #[arg(long, value_name = "NAME,…", help_heading = "Scenario")]
    pub mark: Vec<String>,
    /// Take the marks away
    #[arg(long, value_name = "NAME,…", help_heading = "Scenario")]
    pub unmark: Vec<String>,
    /// Start in equilibrium: derivatives are zero, of all states or of those named
    #[arg(long, value_name = "NAME,…", num_args = 0..=1, require_equals = true, default_missing_value = "", help_heading = "Scenario")]
    pub steady: Option<String>,
    /// The time of the start
    #[arg(long, value_name = "S", allow_hyphen_values = true, value_parser = finite)]
    pub start: Option<f64>,
    /// Methods to try, in this order: newton, least-squares, homotopy, newton-homotopy, fixed-point, piecewise-linear, multi-start
    #[arg(long, value_name = "NAME,…")]
    pub method: Option<String>,
    /// How relations are found together with values, in this order: iteration, pivoting, semismooth, homotopy, search
    #[arg(long, value_name = "NAME,…")]
    pub modes: Option<String>,
    /// Look at the scenario, name what is wrong with it, and stop
    #[arg(long, help_heading = "Answers")]
    pub check: bool,
    /// Say what may be guessed or fixed in place of a variable, and stop
    #[arg(long, value_name = "NAME", help_heading = "Answers")]
    pub alternatives: Option<String>,
    /// Which variables to list
    #[arg(long, value_enum, value_name = "WHICH", help_heading = "Answers")]
    pub show: Option<ShowChoice>,
    /// List only this component
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true, help_heading = "Answers")]
    pub branch: String,
    /// Write the scenario with the values reached, also after a failure
    #[arg(long, value_name = "FILE.toml|.xml", help_heading = "Answers")]
    pub write: Option<PathBuf>,
    /// Write a Modelica model that starts as the scenario says
    #[arg(long, value_name = "FILE.mo", help_heading = "Answers")]
    pub write_model: Option<PathBuf>,
    /// Tell every iteration on standard error, as JSON
    #[arg(long, value_enum, value_name = "WHAT", help_heading = "Answers")]
    pub trace: Option<InitTrace>,
    /// Say how long it took
    #[arg(long, help_heading = "Answers")]
    pub stats: bool,
}

/// `init --trace`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum InitTrace {
    /// Iterations
    Init,
}

/// `init --show`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ShowChoice {
    /// All
    Normal,
    /// What is left to iterate on after elimination
    Reduced,
    /// Marked ones of the component named by --branch
    Selected,
    /// All marked ones
    SelectedAll,
    /// Those whose weight was changed
    Changed,
}

/// `saltus bench`: without a name, start to first row of a small model.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// What to measure; nothing: start to first row of a built-in ten-equation model
    #[command(subcommand)]
    pub what: Option<BenchWhat>,
    /// Print the numbers as JSON
    #[arg(long, global = true)]
    pub json: bool,
}

/// What to measure.
#[derive(Debug, Subcommand)]
pub enum BenchWhat {
    /// Examples of the Modelica Standard Library, each in a process of its own
    Msl(MslArgs),
    /// The integrators beside SUNDIALS (where installed, or in SUNDIALS_DIR): time, steps, digits as ratios
    Solvers(SolversArgs),
    /// One evaluation of the derivatives of a model, against the exported C compiled with gcc -O2
    Program(ProgramArgs),
    /// Functions with loops over many elements, against the same in C compiled with gcc -O2
    Functions(FunctionsArgs),
    /// What an event costs beside up to 16,000 crossing functions that it does not touch
    Events,
    /// A thyristor bridge, against the same with its switching instants given
    Bridge,
}

/// `saltus bench solvers`.
#[derive(Debug, Args)]
pub struct SolversArgs {
    /// Only problems whose name contains this
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub filter: String,
    /// Correct digits against tolerance on classical problems instead
    #[arg(long)]
    pub digits: bool,
    /// One measurement in this process: problem, method, tolerance, repetitions
    #[arg(long, hide = true, num_args = 4, value_names = ["PROBLEM", "METHOD", "RTOL", "REPETITIONS"])]
    pub measure: Vec<String>,
}

/// `saltus bench program`.
#[derive(Debug, Args)]
pub struct ProgramArgs {
    /// A Modelica file, a library folder, or the qualified name of a library class
    #[arg(value_name = "FILE|CLASS")]
    pub target: String,
    /// The class to use [default: the last top-level model of the file]
    #[arg(long, value_name = "A.B.C")]
    pub model: Option<String>,
    /// A folder with libraries; MODELICAPATH adds more
    #[arg(long, short = 'L', value_name = "PATH")]
    pub library: Vec<PathBuf>,
    /// Evaluations measured together
    #[arg(long, value_name = "N", value_parser = count, default_value = "100")]
    pub evaluations: usize,
}

/// `saltus bench functions`.
#[derive(Debug, Args)]
pub struct FunctionsArgs {
    /// Elements of the loops
    #[arg(long, value_name = "N", value_parser = count, default_value = "1000000")]
    pub elements: usize,
}

/// `saltus bench msl`.
#[derive(Debug, Args)]
pub struct MslArgs {
    /// The examples: {"cases": [{"model": …, "start": …, "stop": …, "tolerance": …}, …]}
    #[arg(long, value_name = "FILE.json")]
    pub cases: PathBuf,
    /// Only every K-th example
    #[arg(long, value_name = "K", value_parser = count, default_value = "1")]
    pub every: usize,
    /// Only examples whose name contains this
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub filter: String,
    /// A folder with libraries; MODELICAPATH adds more
    #[arg(long, short = 'L', value_name = "PATH")]
    pub library: Vec<PathBuf>,
    /// Seconds that an example may take
    #[arg(long, value_name = "SECONDS", value_parser = positive, default_value = "60")]
    pub limit: f64,
}

fn finite(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(x),
        _ => Err("a number is expected".into()),
    }
}

fn positive(text: &str) -> Result<f64, String> {
    finite(text).ok().filter(|x| *x > 0.0).ok_or_else(|| "a number above zero is expected".into())
}

fn count(text: &str) -> Result<usize, String> {
    text.trim().parse().ok().filter(|n| *n > 0).ok_or_else(|| "a whole number from 1 on is expected".into())
}

fn inversion(text: &str) -> Result<Inversion, String> {
    let parts = text.split_once(':').and_then(|(u, rest)| rest.split_once('=').map(|(y, e)| [u, y, e]));
    match parts.map(|p| p.map(str::trim)) {
        Some([u, y, e]) if !u.is_empty() && !y.is_empty() && !e.is_empty() => {
            Ok(Inversion { input: u.into(), output: y.into(), value: e.into() })
        }
        _ => Err("INPUT:OUTPUT=EXPRESSION is expected".into()),
    }
}

fn assignment(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("NAME=VALUE is expected")?;
    let (name, value) = (name.trim(), value.trim());
    if name.is_empty() || value.is_empty() {
        return Err("NAME=VALUE is expected".into());
    }
    Ok((name.into(), value.into()))
}

/// The names in a list separated by commas, except those inside brackets and quotes: `x,u[2,5]` are two.
pub fn names(list: &str) -> Vec<String> {
    let (mut names, mut depth, mut quoted, mut name) = (Vec::new(), 0_i32, false, String::new());
    for c in list.chars() {
        match c {
            ',' if depth <= 0 && !quoted => names.push(std::mem::take(&mut name)),
            _ => {
                match c {
                    '\'' => quoted = !quoted,
                    '[' | '(' if !quoted => depth += 1,
                    ']' | ')' if !quoted => depth -= 1,
                    _ => {}
                }
                name.push(c);
            }
        }
    }
    names.push(name);
    names.iter().map(|n| n.trim().to_string()).filter(|n| !n.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn simulate(words: &str) -> Result<Box<SimulateArgs>, clap::Error> {
        let words = ["saltus", "simulate"].into_iter().chain(words.split_whitespace());
        match Arguments::try_parse_from(words)?.command {
            Command::Simulate(arguments) => Ok(arguments),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_definition_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn numbers_may_be_negative() {
        let run = simulate("m.mo --start -1 --stop -1e-3").unwrap().run;
        assert_eq!((run.start, run.stop), (Some(-1.0), Some(-1e-3)));
    }

    #[test]
    fn values_that_mean_nothing_are_refused() {
        for words in [
            "--start x",
            "--stop inf",
            "--start nan",
            "--intervals 0",
            "--intervals -3",
            "--tolerance 0",
            "--tolerance -1e-6",
            "--step 0",
            "--max-order 0",
            "--solver magic",
            "--zeno perhaps",
            "--set x",
            "--set =3",
            "--set x=",
        ] {
            assert_eq!(simulate(&format!("m.mo {words}")).unwrap_err().exit_code(), 2, "{words}");
        }
    }

    #[test]
    fn settings_reach_the_engine() {
        let arguments =
            simulate("m.mo -L a --library b --set x.y=-3 --set s=a=b --engine interpreter --solver RK4").unwrap();
        let options = arguments.model.options();
        assert!(options.libraries.starts_with(&["a".into(), "b".into()]));
        assert_eq!(options.overrides, [("x.y".into(), "-3".into()), ("s".into(), "a=b".into())]);
        assert_eq!(options.engine, EngineKind::Interpreter);
        assert_eq!(arguments.run.options(false).solver.as_deref(), Some("rk4"));
    }

    #[test]
    fn a_dash_is_an_output() {
        assert_eq!(simulate("m.mo --output -").unwrap().output.as_deref(), Some("-"));
    }

    #[test]
    fn commas_in_subscripts_do_not_separate_names() {
        assert_eq!(names("h, u[2,5],der(x),'a,b'"), ["h", "u[2,5]", "der(x)", "'a,b'"]);
        assert_eq!(names(" ,"), [] as [&str; 0]);
    }
}
