//! All of `tests/problems` on the reference interpreter: the trajectories are those of native code, byte by byte.
//!
//! `SALTUS_ONLY=bouncing_ball,clutch` runs only those.

use saltus_testkit::problems::{Case, LIMIT, arguments};
use saltus_testkit::process::{self, End};
use saltus_testkit::{Scratch, in_parallel, is_wanted, project_root, saltus_binary};
use std::path::Path;
use std::{env, fs};

/// How a run ended and what it wrote.
fn result(folder: &Path, binary: &Path, engine: &str) -> (End, Vec<u8>) {
    let case: Case = serde_json::from_str(&fs::read_to_string(folder.join("case.json")).unwrap()).unwrap();
    let scratch = Scratch::new().unwrap();
    let (table, events) = (scratch.path().join("out.csv"), scratch.path().join("events.json"));
    let mut arguments = arguments(&case, &folder.join("model.mo"), &table, &events);
    arguments.extend(["--engine".to_string(), engine.to_string()]);
    let outcome = process::run(binary, &arguments, scratch.path(), LIMIT).unwrap();
    (outcome.end, fs::read(table).unwrap_or_default())
}

#[test]
fn the_interpreter_gives_the_bits_of_native_code() {
    let (folder, binary) = (project_root().unwrap().join("tests/problems"), saltus_binary().unwrap());
    let entries = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).filter(|p| p.join("case.json").is_file());
    let wanted = |p: &Path| is_wanted(&p.file_name().unwrap_or_default().to_string_lossy());
    let problems: Vec<_> = entries.filter(|p| wanted(p)).collect();
    let same = |p: &std::path::PathBuf| {
        let [native, interpreted] = ["native", "interpreter"].map(|engine| result(p, &binary, engine));
        (native == interpreted, !native.1.is_empty())
    };
    let all = in_parallel(&problems, same);
    let differ: Vec<_> = problems.iter().zip(&all).filter(|(_, s)| !s.0).map(|(p, _)| p).collect();
    assert!(differ.is_empty(), "{differ:?}");
    assert!(env::var_os("SALTUS_ONLY").is_some() || all.iter().filter(|s| s.1).count() > 300, "few have results");
}
