//! What it costs to locate events, in evaluations and enclosures.

use saltus_engine::{Engine, Options};
use saltus_results::{Column, Sink};
use saltus_sim::{Quiet, RunOptions, RunReport};

struct Nowhere;

impl Sink for Nowhere {
    fn begin(&mut self, _: &[Column]) -> std::io::Result<()> {
        Ok(())
    }
    fn row(&mut self, _: f64, _: &[f64], _: Option<&[bool]>) -> std::io::Result<()> {
        Ok(())
    }
    fn finish(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn run(name: &str, text: &str, stop: f64) -> RunReport {
    let path = std::env::temp_dir().join(format!("saltus-location-{}-{name}.mo", std::process::id()));
    std::fs::write(&path, text).expect("a temporary file");
    let mut engine = Engine::new(Options::default());
    let model = engine.open(&path.to_string_lossy(), None).expect("opens");
    let dae = engine.flatten(&model).expect("flattens");
    let _ = std::fs::remove_file(&path);
    let options = RunOptions { stop: Some(stop), ..RunOptions::default() };
    engine.simulate(dae, &options, &mut Nowhere, &mut Quiet).expect("runs")
}

#[test]
fn integer_parts_are_not_looked_for_beyond_their_crossing() {
    let direct = "model M Real x(start = 0, fixed = true), v(start = 1, fixed = true); Integer n; equation
        der(x) = v; der(v) = -x; n = integer(100*x*x + sin(v)); end M;";
    let through = "model M Real x(start = 0, fixed = true), v(start = 1, fixed = true), y, z; Integer n; equation
        der(x) = v; der(v) = -x; y = x*x + 0.1*v; z = exp(y) + y*y; n = integer(100*z); end M;";
    for (name, text) in [("direct", direct), ("through", through)] {
        let r = run(name, text, 20.0);
        assert!(r.state_events > 1000, "{name}: {} events", r.state_events);
        assert!(r.enclosures < 60 * r.state_events, "{name}: {} for {} events", r.enclosures, r.state_events);
    }
}

#[test]
fn valves_that_close_at_once_are_closed_at_once() {
    let text = include_str!("../../../tests/problems/valves_in_series/model.mo");
    let r = run("valves", text, 20.0);
    // Six times the source passes the pressure behind the valves.
    assert!(r.state_events <= 24, "{} events", r.state_events);
}
