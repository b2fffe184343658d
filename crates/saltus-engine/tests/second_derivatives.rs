//! Second derivatives of functions with loops are exact.

use saltus_engine::{Engine, Options};
use saltus_results::{Column, Sink};
use saltus_sim::{Quiet, RunOptions};

/// The largest magnitude of a column.
#[derive(Default)]
struct Largest(Option<usize>, f64, usize);

impl Sink for Largest {
    fn begin(&mut self, columns: &[Column]) -> std::io::Result<()> {
        self.0 = columns.iter().position(|c| c.name == "error");
        Ok(())
    }
    fn row(&mut self, _: f64, values: &[f64], _: Option<&[bool]>) -> std::io::Result<()> {
        self.1 = self.1.max(values[self.0.expect("a column")].abs());
        self.2 += 1;
        Ok(())
    }
    fn finish(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn acceleration_along_a_curve() {
    // y = 10 exp(x) by its series, which cannot be inlined: ÿ = y (ẋ² + ẍ).
    let text = "function f input Real x; output Real y; protected Real t; Integer n; algorithm
  y := 10; t := 10; n := 0;
  while abs(t) > 1e-25 loop n := n + 1; t := t*x/n; y := y + t; end while;
end f;
model Curve
  Real x = 1.5 + sin(time), y = f(x), vy = der(y), ay = der(vy);
  Real error = ay/y - (cos(time)^2 - sin(time));
end Curve;";
    let path = std::env::temp_dir().join(format!("saltus-second-{}.mo", std::process::id()));
    std::fs::write(&path, text).unwrap();
    let mut e = Engine::new(Options::default());
    let m = e.open(path.to_str().unwrap(), Some("Curve")).unwrap();
    let dae = e.flatten(&m).unwrap();
    let mut largest = Largest::default();
    let run = RunOptions { stop: Some(3.0), intervals: Some(100), ..RunOptions::default() };
    e.simulate(dae, &run, &mut largest, &mut Quiet).unwrap_or_else(|| panic!("{:?}", e.diagnostics));
    // Differences of first derivatives are wrong by 1e-10 here.
    assert!(largest.2 > 100 && largest.1 < 1e-13, "{} rows, wrong by {:e}", largest.2, largest.1);
}
