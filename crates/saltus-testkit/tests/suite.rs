//! Runs `tests/suite` on the built binary; `saltus_testkit::suite` says how the files are written.
//!
//! `SALTUS_UPDATE=1` rewrites expectations, `SALTUS_ONLY=name,name` runs only those sections.

use saltus_testkit::process::{self, Outcome};
use saltus_testkit::suite::{self, Section};
use saltus_testkit::{Scratch, project_root, saltus_binary};
use std::path::Path;
use std::time::Duration;
use std::{env, fs, io};

fn run(binary: &Path, section: &Section) -> io::Result<Outcome> {
    let scratch = Scratch::new()?;
    fs::write(scratch.path().join(section.file), &section.source)?;
    process::run(binary, &section.command(section.file), scratch.path(), Duration::from_secs(60))
}

#[test]
fn suite() {
    let (root, binary) = match (project_root(), saltus_binary()) {
        (Ok(root), Ok(binary)) => (root, binary),
        (Err(e), _) | (_, Err(e)) => panic!("{e}"),
    };
    let update = env::var("SALTUS_UPDATE").is_ok_and(|v| v == "1");
    let report = suite::run_all(&root.join("tests/suite"), update, |section| run(&binary, section));
    println!("{} tests, {} expectations rewritten", report.tests, report.updated);
    let failures = report.failures.join("\n\n");
    assert!(failures.is_empty(), "\n{failures}\n\n{} of {} failed", report.failures.len(), report.tests);
}
