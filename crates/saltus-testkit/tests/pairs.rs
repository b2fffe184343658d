//! Two models beside each other give what each gives alone: an event or a change of mode of one is none of the other.

use saltus_testkit::problems::{Case, LIMIT, arguments, check};
use saltus_testkit::{Scratch, in_parallel, process, project_root, saltus_binary};
use serde_json::Number;
use std::fs;
use std::path::Path;

/// Problems of `tests/problems`.
const PAIRS: &str = "\
rest_stirred friction_dependent
slides_beside_memory diode_source_falls
moving_table unilateral_stop
pendulum_cut slides_beside_memory
repelling_surface regenerative_switch
reinit_against_diode when_initial
tanks_join bridge_ideal
backlash two_diodes
bridge_without_loss hundred_crossings
init_steady_state orbit_max_distance
component_diodes rest_beside_mode
diode_inductor piecewise_linear_loop
clutch_array stick_slip
algorithm_loop zeno_tank
pwm bridge_rectifier_1
algorithm_loop rope_slack
bridge_rectifier_1 halfwave_rectifier
der_event residual_conditional
component_diodes peak_detector
sliding_on_off clutch_array
algorithm_loop rope_slack
held_where_it_is multimode_init_1
sample_offsets bridge_three_phase
reinit_against_diode stick_slip
diode_complementarity component_diodes
tanks_in_turn two_brakes
rope_slack algorithm_loop
diode_inductor clutch
ideal_switch_pair star_of_diodes
rest_beside_mode diode_complementarity
regenerative_switch gearbox
tiny_crossing elsewhen
reinit_pendulum inactive
support_jumps piecewise_linear_loop
root_stays_zero narrow_dip
coupled_relays unequal_brakes
stays_at_zero diode_star
init_steady_state zeno_coarse
gear_then_brake clamp_diode
component_diodes peak_detector
sliding_leave unequal_brakes
narrow_dip root_stays_zero
star_of_diodes coupled_relays
guard_fixpoint min_max_abs
compound_condition thermostat
narrow_dip root_stays_zero
schmitt_trigger event_at_start
bouncing_two_walls relay_oscillator
narrow_spike rest_again
no_event_branch blocks_ropes_in_turn
rope_slack algorithm_loop
graze root_stays_zero
pwm bridge_rectifier_1
narrow_peak moving_alarm
moving_table diode_star
halfwave_rectifier pwm
halfwave_rectifier pwm
bridge_rectifier_2 bridge_rectifier_1
clutch_simultaneous clutch_cascade
rope_complementarity algorithm_loop
zeno_two regenerative_switch
event_at_stop held_where_it_is
contact_complementarity machine_nested
piecewise_linear_loop unilateral_stop
tiny_crossing pendulum_grabbed
";

/// Rows at least where each of these has its own.
fn intervals(cases: [&Case; 2], stop: f64) -> u64 {
    let whole = |x: f64| (x - x.round()).abs() < 1e-9 * x;
    let fits = |n: &u64, c: &Case| whole(*n as f64 * c.stop.as_f64().unwrap() / stop / c.intervals as f64);
    (1..20_000).find(|n| cases.iter().all(|c| fits(n, c))).unwrap()
}

/// `x` of the part `a` is `a.x`, `der(x)` is `der(a.x)`.
fn within(part: &str, name: &str) -> String {
    match name.strip_prefix("der(") {
        Some(inner) => format!("der({part}.{inner}"),
        None => format!("{part}.{name}"),
    }
}

fn complaints(folder: &Path, binary: &Path, names: [&str; 2]) -> Vec<String> {
    let read = |file: &str| names.map(|n| fs::read_to_string(folder.join(n).join(file)).unwrap());
    let [mut case, other] = read("case.json").map(|text| serde_json::from_str::<Case>(&text).unwrap());
    let [first, second] = read("model.mo");
    let text = format!(
        "package PA\n{first}\nend PA;\npackage PB\n{second}\nend PB;\nmodel Both\n  PA.{} a;\n  PB.{} b;\nend Both;\n",
        case.model, other.model
    );
    let stop = [&case, &other].map(|c| c.stop.as_f64().unwrap()).into_iter().fold(0.0, f64::max);
    case.intervals = intervals([&case, &other], stop);
    (case.model, case.stop) = ("Both".into(), Number::from_f64(stop).unwrap());
    let tolerance = [&case, &other].map(|c| c.tolerance.as_f64().unwrap()).into_iter().fold(1.0, f64::min);
    case.tolerance = Number::from_f64(tolerance).unwrap();
    case.expect.iter_mut().for_each(|e| e.var = within("a", &e.var));
    case.expect.extend(other.expect.into_iter().map(|mut e| {
        e.var = within("b", &e.var);
        e
    }));
    case.events.extend(other.events);
    let scratch = Scratch::new().unwrap();
    let [model, table, events] = ["both.mo", "out.csv", "events.json"].map(|f| scratch.path().join(f));
    fs::write(&model, text).unwrap();
    let outcome = process::run(binary, &arguments(&case, &model, &table, &events), scratch.path(), LIMIT).unwrap();
    let read = |path| fs::read_to_string(path).map_err(|e| e.to_string());
    check(&case, &outcome, read(table), read(events))
}

#[test]
fn two_models_beside_each_other_give_what_each_gives_alone() {
    let (folder, binary) = (project_root().unwrap().join("tests/problems"), saltus_binary().unwrap());
    let pairs: Vec<[&str; 2]> = PAIRS.lines().filter_map(|l| l.split_once(' ')).map(|(a, b)| [a, b]).collect();
    let found = in_parallel(&pairs, |&names| complaints(&folder, &binary, names));
    let wrong: Vec<_> = pairs.iter().zip(&found).filter(|(_, c)| !c.is_empty()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
