//! Runs `tests/problems` on the built binary; see the README there.
//!
//! `SALTUS_ONLY=bouncing_ball,clutch` runs only those.

use saltus_testkit::{problems, project_root, saltus_binary};
use std::{env, fs};

fn run(list: &str, coarse: bool) {
    let run = || -> Result<String, String> {
        let folder = project_root()?.join("tests/problems");
        let list = fs::read_to_string(folder.join(list)).map_err(|e| format!("{list}: {e}"))?;
        let known = problems::known_failures(&list)?;
        let judged = problems::judge_all(&folder, &saltus_binary()?, coarse)?;
        problems::verdict(&judged, &known, env::var_os("SALTUS_ONLY").is_none())
    };
    match run() {
        Ok(report) => println!("{report}"),
        Err(report) => panic!("\n{report}"),
    }
}

#[test]
fn problems() {
    run("known-failures.txt", false);
}

/// The same at tolerance 1e-4 with bounds a thousand times wider: events must not get lost when steps are long.
#[test]
fn problems_at_a_coarse_tolerance() {
    run("known-failures-coarse.txt", true);
}
