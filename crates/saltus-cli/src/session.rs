//! An engine for one model, and the way from its diagnostics to an exit code.

use crate::args::{Dump, ModelArgs};
use crate::render::{self, Style};
use crate::{console, guard};
use saltus_base::{Diagnostic, Severity, SourceMap, Span, Stage};
use saltus_dae::HybridDae;
use saltus_engine::{AnalyzeRequest, Engine};
use std::path::Path;
use std::{fs, io};

/// Why a command ended early.
#[derive(Debug)]
pub enum Failure {
    /// Wrong usage: exit code 2 and this message.
    Usage(String),
    /// The run failed for a reason that no diagnostic of the engine tells: exit code 6 and this message.
    Run(String),
    /// Everything has been said; this is the exit code.
    Code(i32),
    /// Saltus has a bug.
    Bug(String),
}

impl Failure {
    /// Writes the message to standard error and gives the exit code.
    pub fn tell(self, json: bool) -> i32 {
        let (stage, message) = match self {
            Failure::Usage(message) => (Stage::Usage, message),
            Failure::Run(message) => (Stage::Run, message),
            Failure::Code(code) => return code,
            Failure::Bug(message) => return guard::bug(&message),
        };
        let error = Diagnostic::error(stage, Span::NONE, message);
        console::say(render::render(&error, &SourceMap::default(), Style::for_stderr(json)));
        stage.exit_code()
    }
}

impl From<io::Error> for Failure {
    /// Errors of standard output. That its reader has gone away (`saltus … | head`) is none.
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::Code(0),
            _ => Failure::Run(format!("cannot write to standard output: {error}")),
        }
    }
}

/// An engine that has opened a model.
pub struct Session {
    /// The engine.
    pub engine: Engine,
    /// The qualified name of the model.
    pub model: String,
    /// How messages are shown.
    pub style: Style,
    /// How many diagnostics have been shown already.
    told: usize,
}

impl Session {
    /// Opens the model that the arguments ask for.
    pub fn open(arguments: &ModelArgs) -> Result<Session, Failure> {
        let engine = Session::engine(arguments)?;
        let style = Style::for_stderr(arguments.json);
        let mut session = Session { engine, model: String::new(), style, told: 0 };
        let model = session.engine.open(&arguments.target, arguments.model.as_deref());
        let model = session.need(model)?;
        let model = session.engine.invert(model);
        session.model = session.need(model)?;
        Ok(session)
    }

    /// The syntax tree of the file as text; errors in the file do not hinder it, but they are told.
    pub fn dump_syntax(arguments: &ModelArgs) -> Result<(), Failure> {
        let engine = Session::engine(arguments)?;
        let style = Style::for_stderr(arguments.json);
        let mut session = Session { engine, model: String::new(), style, told: 0 };
        let text = session.engine.dump_syntax(&arguments.target);
        if let Some(text) = &text {
            console::print(text)?;
        }
        session.need(text)?;
        session.tell()
    }

    fn engine(arguments: &ModelArgs) -> Result<Engine, Failure> {
        check_target(&arguments.target)?;
        if let Some(missing) = arguments.library.iter().find(|path| !path.exists()) {
            return Err(Failure::Usage(format!("no such library: {}", missing.display())));
        }
        Ok(Engine::new(arguments.options()))
    }

    /// The flat model.
    pub fn flatten(&mut self) -> Result<HybridDae, Failure> {
        let dae = self.engine.flatten(&self.model);
        self.need(dae)
    }

    /// Prints the text form of a stage after the first one.
    pub fn dump(&mut self, stage: Dump) -> Result<(), Failure> {
        let dae = self.flatten()?;
        let text = match stage {
            Dump::Classes => self.engine.dump_classes(),
            Dump::Structure => {
                let analysis = self.engine.analyze(dae, &AnalyzeRequest::default());
                self.need(analysis)?.text
            }
            Dump::Program => {
                let text = self.engine.dump_program(dae);
                self.need(text)?
            }
            _ => {
                let text = saltus_dae::print(&dae);
                // The program ends here: the system takes the memory back at once.
                std::mem::forget(dae);
                text
            }
        };
        self.tell()?;
        Ok(console::print(&text)?)
    }

    /// What a stage returned. Nothing means that it failed: then the diagnostics are shown.
    pub fn need<T>(&mut self, result: Option<T>) -> Result<T, Failure> {
        match result {
            Some(value) => Ok(value),
            None => {
                self.tell()?;
                Err(Failure::Bug("a stage gave up without a message".into()))
            }
        }
    }

    /// Shows the diagnostics that have come up since the last time. Fails if there are errors, with the exit code of the
    /// first one's stage.
    pub fn tell(&mut self) -> Result<(), Failure> {
        let fresh = &self.engine.diagnostics[self.told..];
        let first_error = fresh.iter().find(|d| d.severity == Severity::Error).map(|d| d.stage.exit_code());
        if console::reader_gone() {
            return Err(Failure::Code(0));
        }
        let text = render::render_all(fresh, &self.engine.sources(), self.style);
        self.told = self.engine.diagnostics.len();
        if !text.is_empty() {
            console::say(text);
        }
        first_error.map_or(Ok(()), |code| Err(Failure::Code(code)))
    }

    /// How many warnings there have been.
    pub fn warnings(&self) -> usize {
        self.engine.diagnostics.iter().filter(|d| d.severity == Severity::Warning).count()
    }

    /// A remark on standard error; for machines, as an object.
    pub fn remark(&self, words: &str, object: impl FnOnce() -> serde_json::Value) {
        console::say(if self.style.is_json() { object().to_string() } else { words.to_string() });
    }

    /// The last part of the model's name: what files are called by default.
    pub fn short_name(&self) -> String {
        short_name(&self.model)
    }
}

/// The last part of a qualified name, without characters that have no place in a file name. Dots inside quotes do not
/// separate.
fn short_name(model: &str) -> String {
    let mut quoted = false;
    let start = model.char_indices().filter(|&(_, c)| {
        quoted ^= c == '\'';
        c == '.' && !quoted
    });
    let last = start.last().map_or(model, |(k, _)| &model[k + 1..]);
    let name: String = last.chars().filter(|c| !matches!(c, '\'' | '/' | '\\' | '\0')).collect();
    if name.is_empty() { "model".into() } else { name }
}

/// A file has to be readable; what is neither there nor looks like a file may be a class.
fn check_target(target: &str) -> Result<(), Failure> {
    let path = Path::new(target);
    match fs::metadata(path) {
        Ok(data) if data.is_dir() => Ok(()),
        Ok(_) => match fs::File::open(path) {
            Ok(_) => Ok(()),
            Err(error) => Err(Failure::Usage(format!("cannot read {target}: {error}"))),
        },
        Err(_) if target.ends_with(".mo") || target.contains(std::path::MAIN_SEPARATOR) => {
            Err(Failure::Usage(format!("no such file: {target}")))
        }
        Err(_) if is_class_name(target) => Ok(()),
        Err(_) => Err(Failure::Usage(format!("no such file, and not the name of a class: {target:?}"))),
    }
}

fn is_class_name(text: &str) -> bool {
    let identifier = |part: &str| {
        let mut chars = part.chars();
        chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
            && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    text.contains('\'') || text.strip_prefix('.').unwrap_or(text).split('.').all(identifier)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_called_after_the_last_part() {
        for (model, name) in [("A.B.C", "C"), ("M", "M"), ("P.'x.y/z'", "x.yz"), ("", "model")] {
            assert_eq!(short_name(model), name);
        }
    }

    #[test]
    fn class_names_are_told_from_files() {
        for name in ["Modelica.Blocks.Examples.PID_Controller", ".A.B", "P.'odd name'", "_x"] {
            assert!(is_class_name(name), "{name}");
        }
        for name in ["", "a b", "1.2", "A..B", "x-y"] {
            assert!(!is_class_name(name), "{name}");
        }
    }
}
