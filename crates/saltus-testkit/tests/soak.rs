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

/// Peak memory in megabytes and the number of events of a run over `stop` seconds, two events each.
fn saw(stop: u64) -> (f64, f64) {
    let folder = Scratch::new().unwrap();
    std::fs::write(folder.path().join("saw.mo"), SAW).unwrap();
    let line = format!(
        "'{}' simulate saw.mo --stop {stop} --intervals 10 --tolerance 1e-4 --output - --stats --json > /dev/null",
        saltus_binary().unwrap().display(),
    );
    let outcome = run(Path::new("sh"), &["-c", &line], folder.path(), Duration::from_secs(3600)).unwrap();
    assert_eq!(outcome.end, End::Code(0), "{}", outcome.stderr);
    let number = |name: &str| -> f64 {
        let stats = outcome.stderr.lines().find(|l| l.contains("\"stats\"")).unwrap_or_default();
        let value: serde_json::Value = serde_json::from_str(stats).unwrap();
        value[name].as_f64().unwrap_or_else(|| panic!("{name} is not in {stats}"))
    };
    (number("peak_memory_bytes") / 1e6, number("state_events"))
}

#[test]
#[ignore = "minutes"]
fn ten_million_events_in_flat_memory() {
    let (short, few) = saw(50_000);
    let (long, many) = saw(5_000_000);
    println!("{few} events: {short:.1} MB; {many} events: {long:.1} MB");
    assert!(many >= 9_999_990.0, "{many} events");
    assert!(long < 1.2 * short + 2.0, "memory grows: {short} MB for {few} events, {long} MB for {many}");
}
