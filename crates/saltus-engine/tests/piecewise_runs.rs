//! Random piecewise-linear systems against their exact solutions: no event is missed, none is made up, and they come in order.
//!
//! Two states with x_i' = a_i(m) x_i + b_i(m), where the mode m is a pair of Booleans; each flips when its plane
//! c·x − d is crossed upwards. Between events the solution is a sum of exponentials, and so is c·x − d, whose derivative
//! has at most one zero: all crossings follow from two monotone pieces by bisection.
//! 150 systems in ordinary tests; `PROPTEST_CASES` asks for more (`make soak`: 20,000).

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use saltus_engine::{Engine, EngineKind, Options};
use saltus_results::MemorySink;
use saltus_sim::{EventKind, EventRecord, Observer, RunOptions};
use std::fmt::Write as _;

const STOP: f64 = 3.0;

#[derive(Debug, Clone)]
struct Switched {
    /// Per mode and state: a, b.
    rates: [[(f64, f64); 2]; 4],
    /// c and d of each plane.
    planes: [([f64; 2], f64); 2],
    start: [f64; 2],
}

/// A crossing: when, of which plane, upwards.
type Event = (f64, usize, bool);

impl Switched {
    fn state(&self, mode: usize, x: [f64; 2], t: f64) -> [f64; 2] {
        [0, 1].map(|i| {
            let (a, b) = self.rates[mode][i];
            // x e^(at) + b (e^(at) - 1)/a
            x[i] * (a * t).exp() + b * if a == 0.0 { t } else { (a * t).exp_m1() / a }
        })
    }

    fn plane(&self, k: usize, x: [f64; 2]) -> f64 {
        let (c, d) = self.planes[k];
        c[0] * x[0] + c[1] * x[1] - d
    }

    /// Times at which g_k is zero within (0, end), and the extremum of g_k.
    fn zeros(&self, mode: usize, x: [f64; 2], k: usize, end: f64) -> (Vec<f64>, Option<f64>) {
        let g = |t: f64| self.plane(k, self.state(mode, x, t));
        let c = self.planes[k].0;
        // g' = Σ c_i (a_i x_i + b_i) e^(a_i t)
        let slope = [0, 1].map(|i| c[i] * (self.rates[mode][i].0 * x[i] + self.rates[mode][i].1));
        let (a0, a1) = (self.rates[mode][0].0, self.rates[mode][1].0);
        let turn = (slope[0] * slope[1] < 0.0 && a0 != a1).then(|| (-slope[1] / slope[0]).ln() / (a0 - a1));
        let turn = turn.filter(|t| *t > 0.0 && *t < end);
        let mut places = vec![0.0];
        places.extend(turn);
        places.push(end);
        let mut found = Vec::new();
        for w in places.windows(2) {
            let (mut lo, mut hi) = (w[0], w[1]);
            if (g(lo) < 0.0) == (g(hi) < 0.0) {
                continue;
            }
            for _ in 0..200 {
                let mid = 0.5 * (lo + hi);
                if (g(mid) < 0.0) == (g(lo) < 0.0) { lo = mid } else { hi = mid }
            }
            found.push(0.5 * (lo + hi));
        }
        (found, turn.map(g))
    }

    /// All crossings and the last state; `None` if the system is too close to one that behaves otherwise (a touching, two
    /// crossings at once, a plane met at a small angle).
    fn exact(&self) -> Option<(Vec<Event>, [f64; 2])> {
        let (mut t, mut x, mut mode) = (0.0, self.start, 0);
        let mut above = [0, 1].map(|k| self.plane(k, x) > 0.0);
        let mut events: Vec<Event> = Vec::new();
        if (0..2).any(|k| self.plane(k, x).abs() < 1e-3) {
            return None;
        }
        let mut left = [false; 2];
        loop {
            let mut next: Option<(f64, usize)> = None;
            for k in 0..2 {
                let (zeros, turn) = self.zeros(mode, x, k, STOP - t);
                if turn.is_some_and(|g| g.abs() < 1e-3) {
                    return None;
                }
                // The crossing that has just been is zero at the beginning.
                for z in zeros.into_iter().filter(|z| !(left[k] && *z < 1e-9)) {
                    if next.is_some_and(|n| (n.0 - z).abs() < 1e-4 && n.1 != k) {
                        return None;
                    }
                    if next.is_none_or(|n| z < n.0) {
                        next = Some((z, k));
                    }
                }
            }
            let Some((dt, k)) = next else { break };
            if dt < 1e-4 || STOP - t - dt < 1e-4 {
                return None;
            }
            x = self.state(mode, x, dt);
            t += dt;
            let angle = |mode: usize| -> f64 {
                (0..2).map(|i| self.planes[k].0[i] * (self.rates[mode][i].0 * x[i] + self.rates[mode][i].1)).sum()
            };
            let up = !above[k];
            let after = if up { mode ^ (1 << k) } else { mode };
            if angle(mode).abs() < 1e-2 || angle(after).abs() < 1e-2 || x.iter().any(|x| x.abs() > 100.0) {
                return None;
            }
            events.push((t, k, up));
            // Right behind the plane the new mode may turn back: another crossing at this very instant.
            if up && angle(after) < 0.0 {
                events.push((t, k, false));
                above[k] = false;
            } else {
                above[k] = up;
            }
            mode = after;
            left = [k == 0, k == 1];
            if events.len() > 40 {
                return None;
            }
        }
        Some((events, self.state(mode, x, STOP - t)))
    }

    fn modelica(&self) -> String {
        let mut s = String::from("model M\n");
        for i in 0..2 {
            let _ = writeln!(s, "  Real x{i}(start = {:?}, fixed = true);", self.start[i]);
            let _ = writeln!(s, "  Boolean m{i}(start = false, fixed = true);");
        }
        s.push_str("equation\n");
        for i in 0..2 {
            let rate = |m: usize| format!("({:?})*x{i} + ({:?})", self.rates[m][i].0, self.rates[m][i].1);
            let _ = writeln!(
                s,
                "  der(x{i}) = if m1 then (if m0 then {} else {}) else (if m0 then {} else {});",
                rate(3),
                rate(2),
                rate(1),
                rate(0)
            );
            let (c, d) = self.planes[i];
            let _ = writeln!(
                s,
                "  when ({:?})*x0 + ({:?})*x1 - ({d:?}) > 0 then\n    m{i} = not pre(m{i});\n  end when;",
                c[0], c[1]
            );
        }
        s.push_str("end M;\n");
        s
    }

    fn run(&self) -> Result<(Vec<(f64, Vec<String>)>, Vec<f64>), String> {
        let path = std::env::temp_dir().join(format!("saltus-switched-{}.mo", std::process::id()));
        std::fs::write(&path, self.modelica()).map_err(|e| e.to_string())?;
        let mut engine = Engine::new(Options { engine: EngineKind::Interpreter, ..Options::default() });
        let options = RunOptions {
            stop: Some(STOP),
            intervals: Some(1),
            tolerance: Some(1e-9),
            all_variables: false,
            ..RunOptions::default()
        };
        let (mut rows, mut log) = (MemorySink::new(), Log::default());
        let done = engine
            .open(&path.to_string_lossy(), None)
            .and_then(|m| engine.flatten(&m))
            .and_then(|dae| engine.simulate(dae, &options, &mut rows, &mut log));
        let _ = std::fs::remove_file(&path);
        match done {
            Some(_) => {
                let rows = rows.into_trajectory();
                let end = |k| rows.series(k).last().flatten().unwrap_or(f64::NAN);
                Ok((log.0, (0..rows.columns().len()).map(end).collect()))
            }
            None => Err(engine.diagnostics.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("\n")),
        }
    }
}

#[derive(Default)]
struct Log(Vec<(f64, Vec<String>)>);
impl Observer for Log {
    fn event(&mut self, e: &EventRecord) {
        if e.kind == EventKind::State {
            self.0.push((e.time, e.fired.clone()));
        }
    }
}

fn system() -> impl Strategy<Value = Switched> {
    let rate = (-2.0..2.0f64, -3.0..3.0f64);
    let rates = prop::array::uniform4(prop::array::uniform2(rate));
    let planes = prop::array::uniform2((prop::array::uniform2(-1.0..1.0f64), -1.0..1.0f64));
    (rates, planes, prop::array::uniform2(-2.0..2.0f64)).prop_map(|(rates, planes, start)| Switched {
        rates,
        planes,
        start,
    })
}

#[test]
fn events_are_those_of_the_exact_solution() {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|c| c.parse().ok()).unwrap_or(150);
    let config = Config {
        cases,
        rng_seed: RngSeed::Fixed(7_000_001),
        failure_persistence: None,
        max_shrink_iters: 0,
        max_global_rejects: 100 * cases,
        ..Config::default()
    };
    TestRunner::new(config)
        .run(&system().prop_filter_map("clear", |s| s.exact().map(|e| (s, e))), |(s, (expected, last))| {
            let (found, row) = s.run().map_err(TestCaseError::fail)?;
            // Two crossings at one instant may be one event.
            let seen: Vec<f64> = found.iter().flat_map(|(t, fired)| fired.iter().map(|_| *t)).collect();
            prop_assert_eq!(seen.len(), expected.len(), "{:?}\n{:?}\n{}", found, expected, s.modelica());
            for ((t, fired), e) in found.iter().flat_map(|(t, f)| f.iter().map(move |f| (t, f))).zip(&expected) {
                prop_assert!((t - e.0).abs() < 1e-5, "event at {} instead of {:?}\n{}", t, e, s.modelica());
                let ends = if e.2 { "true" } else { "false" };
                prop_assert!(fired.ends_with(ends), "{} instead of {:?}\n{}", fired, e, s.modelica());
            }
            for i in 0..2 {
                // Columns: x0, m0, x1, m1.
                let x = row[2 * i];
                prop_assert!(
                    (x - last[i]).abs() < 1e-4 * (1.0 + last[i].abs()),
                    "x{i} = {x} instead of {}\n{}",
                    last[i],
                    s.modelica()
                );
            }
            Ok(())
        })
        .unwrap();
}
