//! Runs `tests/problems` on the built binary; see the README there.
//!
//! `SALTUS_ONLY=bouncing_ball,clutch` runs only those.

use saltus_testkit::{problems, project_root, saltus_binary};
use std::{env, fs};

#[test]
fn problems() {
    let run = || -> Result<String, String> {
        let folder = project_root()?.join("tests/problems");
        let list =
            fs::read_to_string(folder.join("known-failures.txt")).map_err(|e| format!("known-failures.txt: {e}"))?;
        let known = problems::known_failures(&list)?;
        let judged = problems::judge_all(&folder, &saltus_binary()?)?;
        problems::verdict(&judged, &known, env::var_os("SALTUS_ONLY").is_none())
    };
    match run() {
        Ok(report) => println!("{report}"),
        Err(report) => panic!("\n{report}"),
    }
}
