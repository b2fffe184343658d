//! Linear blocks forget where they were started from.

use saltus_engine::{Engine, Options};
use saltus_program::Interpreter;
use saltus_sim::Model;
use saltus_structure::{RowOps, SimplifyOptions, analyse_modes, lower, simplify};

/// A switch opens: what was 1e15 is 1 now, and the one evaluation that follows is right to the last digits; the rounding of
/// the values before must not be left in the solution.
#[test]
fn the_rounding_of_a_far_guess_is_not_left_in_the_solution() {
    let text = "model M Real x(start = 1, fixed = true), y(start = 2, fixed = true), a, b, c; equation
        a + y*b = x + 0.1; b - 3*c = x; c/7 + y*a = 2*x; der(x) = a - b; der(y) = c; end M;";
    let path = std::env::temp_dir().join(format!("saltus-linear-blocks-{}.mo", std::process::id()));
    std::fs::write(&path, text).expect("a temporary file");
    let mut engine = Engine::new(Options::default());
    let model = engine.open(&path.to_string_lossy(), None).expect("opens");
    let dae = engine.flatten(&model).expect("flattens");
    let _ = std::fs::remove_file(&path);
    let mut sys = lower(dae);
    let mut ops = RowOps::default();
    simplify(&mut sys, &mut ops, SimplifyOptions::default());
    let modes = analyse_modes(&mut sys);
    let mut model = Model::new(sys, ops, modes, Box::new(Interpreter::new())).expect("a model");
    let program = model.initialize(0.0).expect("initial values");
    let m = &mut model.machine;
    let mut at = |x: f64| -> Vec<f64> {
        for s in &program.states {
            m.values[s.0 as usize] = if m.values[s.0 as usize] == 2.0 { 2.0 } else { x };
        }
        m.run(&program.derivatives).expect("a right-hand side");
        program.states.iter().map(|s| m.values[s.1 as usize]).collect()
    };
    at(1.0);
    let near = at(1.0);
    at(1e15);
    for (far, near) in at(1.0).iter().zip(&near) {
        assert!((far - near).abs() < 1e-12 * (1.0 + near.abs()), "{far} instead of {near}");
    }
}
