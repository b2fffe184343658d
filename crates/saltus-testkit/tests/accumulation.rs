//! Where switches accumulate, and what follows, does not depend on the integrator or its tolerance.

use saltus_testkit::problems::{Case, LIMIT, arguments, check};
use saltus_testkit::{Scratch, in_parallel, process, project_root, saltus_binary};
use serde_json::{Number, Value};
use std::fs;

const PROBLEMS: [&str; 5] =
    ["tanks_hose", "tanks_hose_stop", "tanks_three_hose", "tanks_by_equation", "hysteresis_closes"];
const SOLVERS: [&str; 7] = ["auto", "dopri5", "bdf", "radau", "esdirk", "lsoda", "dae"];
const TOLERANCES: [f64; 4] = [1e-3, 1e-4, 1e-6, 1e-8];

#[test]
fn accumulations_do_not_depend_on_the_integrator() {
    let (folder, binary) = (project_root().unwrap().join("tests/problems"), saltus_binary().unwrap());
    let of = |p| SOLVERS.into_iter().flat_map(move |s| TOLERANCES.into_iter().map(move |t| (p, s, t)));
    let all: Vec<(&str, &str, f64)> = PROBLEMS.into_iter().flat_map(of).collect();
    let complaints = |&(problem, solver, tolerance): &(&str, &str, f64)| {
        let folder = folder.join(problem);
        let mut case: Case = serde_json::from_str(&fs::read_to_string(folder.join("case.json")).unwrap()).unwrap();
        case.tolerance = Number::from_f64(tolerance).unwrap();
        case.settings.insert("solver".into(), Value::from(solver));
        case.expect.iter_mut().for_each(|e| e.abs = e.abs.max(50.0 * tolerance));
        let scratch = Scratch::new().unwrap();
        let [table, events] = ["out.csv", "events.json"].map(|f| scratch.path().join(f));
        let arguments = arguments(&case, &folder.join("model.mo"), &table, &events);
        let outcome = process::run(&binary, &arguments, scratch.path(), LIMIT).unwrap();
        let read = |path| fs::read_to_string(path).map_err(|e| e.to_string());
        check(&case, &outcome, read(table), read(events))
    };
    let found = in_parallel(&all, complaints);
    let wrong: Vec<_> = all.iter().zip(&found).filter(|(_, c)| !c.is_empty()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
