//! Problems with known answers as exported C, compiled by gcc and run with fixed steps: the values are right as far as the method
//! goes, or the run ends with a status that says why.

use saltus_testkit::{project_root, saltus_binary};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Modes, guards, impulses and instants; steps of a two-thousandth of the run.
const RIGHT: &[&str] = &[
    "set_for_an_instant",
    "joined_for_an_instant",
    "projected_at_samples",
    "sampled_clutch",
    "diode_source_falls",
    "diode_source_steps",
    "source_falls_at_reinit",
    "reinit_against_diode",
    "table_falls_away",
    "reinit_dependent",
    "reinit_pendulum",
    "two_at_once",
    "stacked_blocks",
    "three_balls_meet",
    "rope_complementarity",
    "contact_complementarity",
    "buck_dcm",
    "delay_integer",
    "when_terminal",
    "long_buffers",
    "tiny_threshold",
    "clutch_three",
    // What crosses and comes back within one step.
    "narrow_dip",
    "many_waves",
    // What touches zero for one instant; sizes that nominal values tell.
    "kinks_that_touch",
    "tiny_crossing",
    // States that no longer determine the others are exchanged.
    "pendulum_cartesian",
    "crank_cartesian",
    "machine_restarts_pendulum",
    "preferred_coordinate",
    // What accumulates comes to rest, and is set in motion again.
    "zeno_ball",
    "zeno_lift",
    "moving_table",
    "rest_again",
    // Slides along switching lines.
    "sliding_mode",
    "sliding_leave",
    "two_slides",
    "repelling_surface",
    "stick_slip_long",
    "support_jumps",
    // Ideal diodes and brakes whose modes are singular for an instant, and equations that leave something open.
    "bridge_capacitor",
    "bridge_three_phase",
    "six_pulse",
    "diode_or",
    "two_brakes",
    "flow_at_rest",
    "lifted_mass",
    // What when-equations keep of a mode that ends.
    "held_where_it_is",
    "distribution_jump",
    "distribution_profile",
    "distribution_turns",
    // Too many modes to list: they are put together from parts.
    "many_contacts",
    "many_rectifiers",
    "bridge_five_phases",
    // At its edge within rounding where a step ends: one with the time event there.
    "events_at_the_end",
    "stays_at_zero",
    "tick_meets_crossing",
    // Loops of when-equations, and slides along two surfaces whose fields do not add up.
    "when_integer_loop",
    "varying_clock_solver",
    "relays_product",
];

/// What exported code does not do: it ends, and says so with these words.
const TOLD: &[(&str, &str)] = &[
    ("refused_impulse_cubed", "status 8"),
    ("stiff_edges", "the step is too long"),
    ("refused_parallel_switches", "equations of this mode depend on each other"),
];

fn compiled(name: &str, options: &[&str]) -> Option<(PathBuf, Value)> {
    if Command::new("gcc").arg("--version").output().is_err() {
        eprintln!("no gcc: not checked");
        return None;
    }
    let problem = project_root().unwrap().join("tests/problems").join(name);
    let case: Value = serde_json::from_str(&std::fs::read_to_string(problem.join("case.json")).unwrap()).unwrap();
    let folder = std::env::temp_dir().join(format!("saltus-exported-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let binary = folder.join(format!("{name}{}", options.concat()));
    let source = binary.with_extension("c");
    let run = |command: &mut Command| {
        let out = command.output().unwrap();
        assert!(out.status.success(), "{name}: {}", String::from_utf8_lossy(&out.stderr));
    };
    let model = problem.join("model.mo");
    let mut export = Command::new(saltus_binary().unwrap());
    run(export.args(["export", "c", "--model", case["model"].as_str().unwrap(), "--output"]).args([&source, &model]));
    let mut gcc = Command::new("gcc");
    gcc.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-ffp-contract=off", "-DSALTUS_MAIN"]).args(options);
    run(gcc.arg("-o").args([&binary, &source]).arg("-lm"));
    Some((binary, case))
}

fn run(binary: &Path, case: &Value, steps: usize) -> (String, String) {
    let out = Command::new(binary).args([case["stop"].to_string(), steps.to_string()]).output().unwrap();
    (String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap())
}

/// Whether all expected values are met, within a thousandth or the bounds given times 300.
fn judge(name: &str, case: &Value, printed: &str) {
    let mut reader = csv::Reader::from_reader(printed.as_bytes());
    let names = reader.headers().unwrap().clone();
    let rows: Vec<Vec<f64>> =
        reader.records().map(|r| r.unwrap().iter().map(|v| v.parse().unwrap()).collect()).collect();
    let number = |v: &Value| v.as_f64().unwrap();
    for e in case["expect"].as_array().unwrap() {
        let (var, time, value) = (e["var"].as_str().unwrap(), number(&e["time"]), number(&e["value"]));
        let column = names.iter().position(|n| n == var).unwrap_or_else(|| panic!("{name}: no {var}"));
        let at = rows.partition_point(|r| r[0] < time - 1e-9);
        assert!(at < rows.len(), "{name}: no row at {time}");
        // Between rows: linear.
        let near = rows.iter().filter(|r| (r[0] - time).abs() <= 1e-9).map(|r| r[column]).collect::<Vec<_>>();
        let between = || {
            let (a, b) = (&rows[at - 1], &rows[at]);
            a[column] + (b[column] - a[column]) * (time - a[0]) / (b[0] - a[0])
        };
        let found = if near.is_empty() { vec![between()] } else { near };
        let bound = 1e-3 * value.abs().max(1e-3) + 300.0 * (number(&e["abs"]) + number(&e["rel"]) * value.abs());
        assert!(found.iter().any(|f| (f - value).abs() <= bound), "{name}: {var} at {time}: {found:?} {value}");
    }
}

#[test]
fn problems_with_modes_are_right() {
    for name in RIGHT {
        let Some((binary, case)) = compiled(name, &[]) else { return };
        let (printed, error) = run(&binary, &case, 2000);
        assert!(error.is_empty(), "{name}: {error}");
        judge(name, &case, &printed);
    }
}

#[test]
fn what_is_not_done_is_told() {
    for (name, words) in TOLD {
        let Some((binary, case)) = compiled(name, &[]) else { return };
        let (_, error) = run(&binary, &case, 2000);
        assert!(error.contains(words), "{name}: {error}");
    }
}

#[test]
fn stiff_models_take_long_steps() {
    // With these steps the explicit method is unstable.
    for name in ["stiff_edges", "heat_rod"] {
        let Some((binary, case)) = compiled(name, &["-DSALTUS_STIFF"]) else { return };
        let (printed, error) = run(&binary, &case, 2000);
        assert!(error.is_empty(), "{error}");
        judge(name, &case, &printed);
    }
    // Nor is an implicit one right where it cannot follow.
    let Some((binary, case)) = compiled("orbit_max_distance", &["-DSALTUS_STIFF"]) else { return };
    assert!(run(&binary, &case, 2000).1.contains("the step is too long"));
}
