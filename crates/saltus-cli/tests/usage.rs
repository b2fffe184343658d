//! What the command says to wrong usage: a clear message, exit code 2, never a crash.

use assert_cmd::Command;
use std::path::PathBuf;
use std::{env, fs, process};

/// Exit code, standard output, standard error.
fn saltus(words: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_saltus"))
        .args(words)
        .current_dir(env::temp_dir())
        .env("NO_COLOR", "1")
        .env_remove("MODELICAPATH")
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

#[track_caller]
fn refused(words: &[&str], message: &str) {
    let (code, stdout, stderr) = saltus(words);
    assert_eq!(code, 2, "{words:?}: {stderr}");
    assert!(stderr.contains(message), "{words:?}: {stderr}");
    assert_eq!(stdout, "", "{words:?}");
}

/// A file of the temporary folder that goes away with the value.
struct Model(PathBuf);

impl Model {
    fn new(name: &str) -> Model {
        let path = env::temp_dir().join(format!("saltus-usage-{}-{name}.mo", process::id()));
        fs::write(&path, "model M\n  Real x = 1;\nend M;\n").unwrap();
        Model(path)
    }
    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[test]
fn help_and_version_are_answers() {
    let (code, stdout, _) = saltus(&["--help"]);
    assert_eq!(code, 0);
    for command in ["simulate", "check", "flatten", "analyze", "init", "export", "run-fmu", "studio", "lsp", "bench"] {
        assert!(stdout.contains(&format!("  {command} ")), "{stdout}");
    }
    assert!(saltus(&["simulate", "--help"]).1.contains("--keep-all-variables"));
    assert!(saltus(&["--version"]).1.starts_with("saltus "));
}

#[test]
fn unknown_words_are_refused() {
    refused(&[], "Usage");
    refused(&["simulat"], "simulate");
    refused(&["simulate"], "FILE|CLASS");
    refused(&["simulate", "m.mo", "--sotp", "1"], "--stop");
    refused(&["simulate", "m.mo", "--solver", "magic"], "modified-euler");
    refused(&["simulate", "m.mo", "--tolerance", "-1e-6"], "above zero");
    refused(&["simulate", "m.mo", "--set", "x"], "NAME=VALUE");
    refused(&["check", "m.mo", "--dump", "soup"], "syntax");
    refused(&["bench", "msl"], "--cases");
}

#[test]
fn missing_files_are_named() {
    refused(&["simulate", "no-such.mo"], "error: no such file: no-such.mo");
    refused(&["check", "./nowhere/M"], "no such file: ./nowhere/M");
    refused(&["flatten", "not a name"], "not the name of a class");
    refused(&["bench", "msl", "--cases", "no-such.json"], "no-such.json");
    let model = Model::new("library");
    refused(&["analyze", model.path(), "--library", "no-such-folder"], "no such library: no-such-folder");
}

#[test]
fn negative_numbers_are_values() {
    refused(&["simulate", "no-such.mo", "--start", "-1", "--stop", "-0.5e-3"], "no such file");
    refused(&["simulate", "no-such.mo", "--start", "-1", "--stop", "-2"], "before the start");
}

#[test]
fn outputs_that_cannot_be_are_refused_before_the_model_is_read() {
    let model = Model::new("output");
    refused(&["simulate", model.path(), "--output", "result.txt"], ".parquet");
    refused(&["simulate", model.path(), "--output", "no-such-folder/x.csv"], "no such folder: no-such-folder");
    refused(&["simulate", model.path(), "--events", "no-such-folder/x.json"], "no such folder: no-such-folder");
}

#[test]
fn what_is_to_come_says_so() {
    for command in ["run-fmu", "studio", "lsp"] {
        refused(&[command], &format!("not supported yet: saltus {command}"));
        refused(&[command, "m.mo", "--option", "-x"], "not supported yet");
    }
}

#[test]
fn messages_for_machines_are_objects() {
    let (code, _, stderr) = saltus(&["simulate", "no-such.mo", "--json"]);
    assert_eq!(code, 2);
    let value: serde_json::Value = serde_json::from_str(stderr.trim()).unwrap();
    assert_eq!((&value["severity"], &value["stage"]), (&"error".into(), &"usage".into()));
    assert_eq!(value["message"], "no such file: no-such.mo");
}
