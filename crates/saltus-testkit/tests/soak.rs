//! Long runs. Ignored in ordinary tests; `make soak` runs them.

use saltus_testkit::process::{End, run};
use saltus_testkit::{Scratch, saltus_binary};
use std::path::Path;
use std::time::Duration;

const SAW: &str = "model Saw
  Real x(start = 0, fixed = true), y(start = 1, fixed = true);
  Boolean up(start = true, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(x) = if up then 1 else -1;
  der(y) = -y + x;
  when x > 1 then
    up = false;
    n = pre(n) + 1;
  elsewhen x < 0 then
    up = true;
    n = pre(n) + 1;
  end when;
end Saw;
";

const MODES: &str = include_str!("../../../tests/problems/clutches_of_many_modes/model.mo");

/// Peak memory in megabytes of a run over `stop` seconds, and what the statistics count under a name.
fn measure(model: &str, stop: u64, counted: &str) -> (f64, f64) {
    let folder = Scratch::new().unwrap();
    std::fs::write(folder.path().join("model.mo"), model).unwrap();
    let line = format!(
        "'{}' simulate model.mo --stop {stop} --intervals 10 --tolerance 1e-4 --output - --stats --json > /dev/null",
        saltus_binary().unwrap().display(),
    );
    let outcome = run(Path::new("sh"), &["-c", &line], folder.path(), Duration::from_secs(3600)).unwrap();
    assert_eq!(outcome.end, End::Code(0), "{}", outcome.stderr);
    let number = |name: &str| -> f64 {
        let stats = outcome.stderr.lines().find(|l| l.contains("\"stats\"")).unwrap_or_default();
        let value: serde_json::Value = serde_json::from_str(stats).unwrap();
        value[name].as_f64().unwrap_or_else(|| panic!("{name} is not in {stats}"))
    };
    (number("peak_memory_bytes") / 1e6, number(counted))
}

#[test]
#[ignore = "minutes"]
fn ten_million_events_in_flat_memory() {
    let (short, few) = measure(SAW, 50_000, "state_events");
    let (long, many) = measure(SAW, 5_000_000, "state_events");
    println!("{few} events: {short:.1} MB; {many} events: {long:.1} MB");
    assert!(many >= 9_999_990.0, "{many} events");
    assert!(long < 1.2 * short + 2.0, "memory grows: {short} MB for {few} events, {long} MB for {many}");
}

#[test]
#[ignore = "minutes"]
fn ever_new_modes_in_flat_memory() {
    let (short, few) = measure(MODES, 160, "modes");
    let (long, many) = measure(MODES, 1600, "modes");
    println!("{few} modes: {short:.1} MB; {many} modes: {long:.1} MB");
    assert!(many > 25_000.0, "{many} modes");
    assert!(long < 1.2 * short + 2.0, "memory grows: {short} MB for {few} modes, {long} MB for {many}");
}
