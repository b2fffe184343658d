//! The `saltus` command: the outermost crate, with the files, the terminal, the clock and the exit codes.
//!
//! ```text
//!   args ──▶ session ──▶ engine ──▶ output (rows) ──▶ .csv .mat .parquet .svg
//!                │         └──────▶ watch (events, messages, progress) ──▶ events.json, stderr
//!                └──▶ render ──▶ stderr
//! ```
//!
//! * [`args`]: what can be written on the command line;
//! * [`session`]: an engine for one model, and the way from its diagnostics to an exit code;
//! * [`simulate`], [`init`], [`inspect`], [`bench`]: the commands;
//! * [`output`], [`events`], [`watch`], [`stats`]: what a run leaves behind and shows on the way;
//! * [`render`], [`console`], [`guard`]: diagnostics as text, the standard streams, and the last resort.
//!
//! Absent here: anything that knows Modelica or equations. The commands call the engine and pass on what it says.

mod args;
mod bench;
mod console;
mod events;
mod guard;
mod init;
mod inspect;
mod output;
mod render;
mod session;
mod simulate;
mod stats;
mod watch;

use args::{Arguments, Command};
use clap::Parser;
use session::Failure;
use std::time::Instant;

fn main() {
    let begun = Instant::now();
    // Wrong usage ends in here, with exit code 2.
    let arguments = Arguments::parse();
    let json = arguments.command.json();
    let code = guard::run(move || match run(arguments.command, begun) {
        Ok(()) => 0,
        Err(failure) => failure.tell(json),
    });
    std::process::exit(code);
}

fn run(command: Command, begun: Instant) -> Result<(), Failure> {
    match command {
        Command::Simulate(arguments) => simulate::simulate(&arguments, begun),
        Command::Check(arguments) => inspect::check(&arguments),
        Command::Flatten(arguments) => inspect::flatten(&arguments),
        Command::Analyze(arguments) => inspect::analyze(&arguments),
        Command::Bench(arguments) => bench::bench(&arguments),
        Command::Init(arguments) => init::init(&arguments, begun),
        Command::Export(arguments) => inspect::export(&arguments),
        Command::RunFmu(_) => not_yet("run-fmu"),
        Command::Studio(_) => not_yet("studio"),
        Command::Lsp(_) => not_yet("lsp"),
    }
}

fn not_yet(command: &str) -> Result<(), Failure> {
    Err(Failure::Usage(format!("not supported yet: saltus {command}")))
}
