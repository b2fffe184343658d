//! ∂f/∂x by the chain rule against differences of the right-hand side.

use saltus_codegen::Tiered;
use saltus_engine::{Engine, Options};
use saltus_program::{Backend, Interpreter};
use saltus_sim::Model;
use saltus_solver::ode::JacobianMatrix;
use saltus_structure::{RowOps, SimplifyOptions, analyse_modes, lower, simplify};

fn check(name: &str, text: &str) {
    check_with(name, text, Box::new(Interpreter::new()));
    check_with(name, text, Box::new(Tiered::new()));
    check_with(name, text, Box::new(Tiered::with_threshold(0)));
}

/// Largest difference between the two, relative to the entries' size.
fn check_with(name: &str, text: &str, backend: Box<dyn Backend>) {
    let path = std::env::temp_dir().join(format!("saltus-jacobian-{}-{name}.mo", std::process::id()));
    std::fs::write(&path, text).expect("a temporary file");
    let mut engine = Engine::new(Options::default());
    let model = engine.open(&path.to_string_lossy(), None).expect("opens");
    let dae = engine.flatten(&model).expect("flattens");
    let _ = std::fs::remove_file(&path);
    let mut sys = lower(dae);
    let mut ops = RowOps::default();
    simplify(&mut sys, &mut ops, SimplifyOptions::default());
    let modes = analyse_modes(&mut sys);
    let mut model = Model::new(sys, ops, modes, backend).expect("a model");
    let program = model.initialize(0.0).expect("initial values");
    let n = program.states.len();
    let m = &mut model.machine;
    m.run(&program.derivatives).expect("a right-hand side");
    let tangent = program.tangent.as_ref().expect("a chain rule");
    let mut jac = JacobianMatrix::new(n, program.pattern.as_ref());
    assert!(tangent.jacobian(m, &mut jac), "{name}: not a matrix of numbers");
    // Once more: it may be kept.
    let mut again = JacobianMatrix::new(n, program.pattern.as_ref());
    assert!(tangent.jacobian(m, &mut again));
    assert_eq!(jac.values(), again.values());
    // A matrix that still is what it was is left alone, one that was changed is not.
    assert!(tangent.jacobian(m, &mut again));
    assert_eq!(jac.values(), again.values());
    if let Some(v) = again.values_mut().first_mut() {
        *v += 1.0;
    }
    assert!(tangent.jacobian(m, &mut again));
    assert_eq!(jac.values(), again.values());
    // Along a direction, without the matrix.
    let v: Vec<f64> = (0..n).map(|j| (1.7 * j as f64 + 0.3).cos()).collect();
    let mut along = vec![0.0; n];
    assert!(tangent.along(m, &v, &mut along));
    for (i, a) in along.iter().enumerate() {
        let product: f64 = (0..n).map(|j| jac.get(i, j) * v[j]).sum();
        assert!(
            (a - product).abs() <= 1e-12 * (1.0 + product.abs()),
            "{name}: row {i} gives {a}, the matrix {product}"
        );
    }
    let x: Vec<f64> = program.states.iter().map(|s| m.values[s.0 as usize]).collect();
    for j in 0..n {
        let h = 1e-5 * x[j].abs().max(0.1);
        let mut side = |sign: f64| -> Vec<f64> {
            for (s, v) in program.states.iter().zip(&x) {
                m.values[s.0 as usize] = *v;
            }
            m.values[program.states[j].0 as usize] += sign * h;
            m.run(&program.derivatives).expect("a right-hand side");
            program.states.iter().map(|s| m.values[s.1 as usize]).collect()
        };
        let (up, down) = (side(1.0), side(-1.0));
        for i in 0..n {
            let d = (up[i] - down[i]) / (2.0 * h);
            let e = jac.get(i, j);
            assert!((d - e).abs() <= 1e-6 * (1.0 + d.abs()), "{name}: entry ({i}, {j}) is {e}, differences say {d}");
        }
    }
}

#[test]
fn explicit_system() {
    check(
        "explicit",
        "model M Real x(start = 0.3, fixed = true), y(start = 2, fixed = true), z; equation
           z = sin(x)*y; der(x) = z^2 - y; der(y) = if x > 0 then exp(-x*z) else 1; end M;",
    );
}

#[test]
fn through_a_nonlinear_loop() {
    check(
        "loop",
        "model M Real x(start = 0.7, fixed = true), y(start = 1, fixed = true), u(start = 1), v; equation
           u + v^3 = x + 2; v - sin(u) = y; der(x) = u - v; der(y) = -u*y; end M;",
    );
}

#[test]
fn through_torn_loops() {
    // Coefficients that move: the loop is torn, only some of its unknowns go on to the derivatives.
    check(
        "torn-linear",
        "model M Real x(start = 0.7, fixed = true), y(start = 1.2, fixed = true), a, b, c, d, e; equation
           a + x*b = 3; b - y*c = sin(x); c + d = x*y; 2*d - y*e = 1; e + x*a - b = y; der(x) = c*a; der(y) = e - y; end M;",
    );
    check(
        "torn-nonlinear",
        "model M Real x(start = 0.7, fixed = true), y(start = 1.2, fixed = true), a(start = 1), b, c, d; equation
           b = a^2 + x; c = y*b - a; d = exp(-c) + x*b; a + d = y + 1; der(x) = c - x; der(y) = d*a; end M;",
    );
    // Constant coefficients, some of them by a condition: the matrix is kept.
    check(
        "torn-constant",
        "model M parameter Real p = 2; Real x(start = 0.7, fixed = true), y(start = 1.2, fixed = true), a, b, c, d;
         equation
           a + p*b = x; b - c = if time > 1 then a else 2*a; c + p*d = y; d - a = x - y; der(x) = c; der(y) = d; end M;",
    );
}

#[test]
fn through_linear_loops_and_functions() {
    check(
        "functions",
        "function f input Real u; output Real y; protected Real t; Integer n; algorithm
           y := 1; t := 1; n := 0; while abs(t) > 1e-18 loop n := n + 1; t := t*u/n; y := y + t; end while; end f;
         model M Real x(start = 0.7, fixed = true), y(start = 1, fixed = true), a, b, c; equation
           a + x*b = 3; b - y*a = c; c = f(x*y); der(x) = a*b; der(y) = c - y; end M;",
    );
}

#[test]
fn of_a_pendulum_in_cartesian_coordinates() {
    check(
        "pendulum",
        "model M Real x(start = 0.6), y(start = -0.8, fixed = true), vx, vy(start = 0.5, fixed = true), F; equation
           der(x) = vx; der(y) = vy; der(vx) = -F*x; der(vy) = -F*y - 9.81; x^2 + y^2 = 1; end M;",
    );
}

#[test]
fn of_a_linear_system() {
    check(
        "linear",
        "model M parameter Real a = 3; Real u[20](each fixed = true, start = {sin(i) for i in 1:20}); equation
           der(u[1]) = a*(u[2] - u[1]) + sin(time);
           for i in 2:19 loop der(u[i]) = a*(u[i - 1] + u[i + 1] - 2*u[i]); end for;
           der(u[20]) = (if u[1] > -100 then 2 else 1)*(u[19] - u[20]); end M;",
    );
}

#[test]
fn of_a_sparse_system() {
    check(
        "chain",
        "model M parameter Integer n = 30; Real u[n](each fixed = true, start = {sin(i) for i in 1:n}); equation
           der(u[1]) = u[2] - u[1]^3;
           for i in 2:n - 1 loop der(u[i]) = u[i - 1]*u[i + 1] - 2*u[i]; end for;
           der(u[n]) = -u[n] + u[n - 1]; end M;",
    );
}

#[test]
fn of_many_rows_of_one_template() {
    // Conductivities as variables, cheap and dear ones, as part of the equation, and as fluxes that two rows share.
    for (name, flux) in [
        ("inside", "q[i] = (1 + 0.1*(u[i] + u[i + 1]))*(u[i] - u[i + 1]); k[i] = 1;"),
        ("cheap", "q[i] = k[i]*(u[i] - u[i + 1]); k[i] = 1 + u[i]*u[i + 1];"),
        ("dear", "q[i] = k[i]*(u[i] - u[i + 1]); k[i] = exp(-u[i]) + sqrt(4 + u[i + 1]);"),
        ("signs", "q[i] = -k[i]; -k[i] = u[i]^3 - u[i + 1];"),
    ] {
        check(
            name,
            &format!(
                "model M parameter Integer n = 80; Real u[n](each fixed = true, start = {{sin(i) for i in 1:n}}), q[n - 1], k[n - 1];
                 equation
                   for i in 1:n - 1 loop {flux} end for;
                   der(u[1]) = -q[1];
                   for i in 2:n - 1 loop der(u[i]) = q[i - 1] - q[i] - u[i]*abs(u[i]); end for;
                   der(u[n]) = q[n - 1]; end M;"
            ),
        );
    }
}
