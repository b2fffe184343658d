//! Tests are data: source, and the flat model's equations or the error as text.

use crate::{FlattenOptions, flatten};
use saltus_base::Severity;
use saltus_resolve::{ClassTable, StdFileSystem};

fn run(source: &str, overrides: &[(&str, &str)]) -> (Option<saltus_dae::HybridDae>, Vec<saltus_base::Diagnostic>) {
    let table = ClassTable::new(StdFileSystem);
    let ids = table.load_text("test.mo", source);
    let model = ids.last().map(|&i| table.qualified(i)).unwrap_or_default();
    let model = if source.contains("package P") { "P.M".to_string() } else { model };
    let overrides = overrides.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
    flatten(&table, &model, &FlattenOptions { overrides, ..Default::default() })
}

/// The text form after `equation`, one line per entry, must be `expected`.
#[track_caller]
fn check_flatten(source: &str, expected: &str) {
    let (dae, diagnostics) = run(source, &[]);
    let Some(dae) = dae else { panic!("not flattened: {diagnostics:#?}") };
    let text = saltus_dae::print(&dae);
    let body = text.split("equation\n").last().unwrap_or("").rsplit_once("end ").map_or("", |x| x.0);
    let norm = |s: &str| s.lines().map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join("\n");
    assert_eq!(norm(body), norm(expected), "\n--- whole:\n{text}");
}

/// The first error's message must contain `expected`.
#[track_caller]
fn check_error(source: &str, expected: &str) {
    let (_, diagnostics) = run(source, &[]);
    let errors: Vec<_> = diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
    assert!(errors.iter().any(|d| d.message.contains(expected)), "no error with {expected:?} in {errors:#?}");
}

#[test]
fn arrays_are_scalarised() {
    check_flatten(
        "model M parameter Integer n = 2; Real x[n]; Real s; equation for i in 1:n loop der(x[i]) = -i*x[i]; end for; s = x*x; end M;",
        "der(x[1]) + x[1] = 0;
         der(x[2]) + 2*x[2] = 0;
         s = x[1]*x[1] + x[2]*x[2];",
    );
    check_flatten(
        "model M Real A[2,2] = {{1,2},{3,time}}; Real y[2] = A*{1,-1}; Real t = sum(transpose(A)[1,:]); end M;",
        "A[1,1] - 1 = 0;
         A[1,2] - 2 = 0;
         A[2,1] - 3 = 0;
         A[2,2] = time;
         y[1] = A[1,1] - A[1,2];
         y[2] = A[2,1] - A[2,2];
         t = A[1,1] + A[2,1];"
            .replace(" - 1 = 0", " = 1")
            .replace(" - 2 = 0", " = 2")
            .replace(" - 3 = 0", " = 3")
            .as_str(),
    );
}

#[test]
fn modifiers_merge_outside_in() {
    check_flatten(
        "package P
           model A parameter Real k = 1; Real y = k; end A;
           model B extends A(k = 2); end B;
           model M B b; B c(k = 3); A d[2](k = {4, 5}); A e[2](each k = 6); end M;
         end P;",
        "b.y = b.k;
         c.y = c.k;
         d[1].y = d[1].k;
         d[2].y = d[2].k;
         e[1].y = e[1].k;
         e[2].y = e[2].k;",
    );
}

#[test]
fn redeclared_classes_are_seen_by_inherited_code() {
    check_flatten(
        "package P
           partial package Base replaceable constant Real c = 1; replaceable partial function f input Real x; output Real y; end f;
             function g input Real x; output Real y; algorithm y := c*f(x); end g; end Base;
           package Water extends Base(c = 3); redeclare function extends f algorithm y := x + 1; end f; end Water;
           model Pipe replaceable package Medium = Base; Real y = Medium.g(time); end Pipe;
           model M Pipe p(redeclare package Medium = Water); end M;
         end P;",
        "p.y = 3*(time + 1);",
    );
}

#[test]
fn connections() {
    check_flatten(
        "package P
           connector Pin Real v; flow Real i; end Pin;
           model R Pin p; Pin n; equation p.v - n.v = 2*p.i; p.i + n.i = 0; end R;
           model Two Pin p; Pin n; R a; R b; equation connect(p, a.p); connect(a.n, b.p); connect(b.n, n); end Two;
           model M Two t; equation t.p.v = 1; connect(t.n, t.n); end M;
         end P;",
        "t.p.v = 1;
         t.a.p.v - t.a.n.v = 2*t.a.p.i;
         t.a.p.i + t.a.n.i = 0;
         t.b.p.v - t.b.n.v = 2*t.b.p.i;
         t.b.p.i + t.b.n.i = 0;
         t.p.v = t.a.p.v;
         t.a.n.v = t.b.p.v;
         t.b.n.v = t.n.v;
         t.n.i = 0;
         t.a.p.i - t.p.i = 0;
         t.a.n.i + t.b.p.i = 0;
         t.b.n.i - t.n.i = 0;
         t.p.i = 0;"
            .replace("t.a.p.i - t.p.i = 0", "t.a.p.i = t.p.i")
            .replace("t.b.n.i - t.n.i = 0", "t.b.n.i = t.n.i")
            .as_str(),
    );
}

#[test]
fn modes_stay_guarded() {
    check_flatten(
        "model M Real x(start = 1); Boolean b = time > 1; parameter Boolean p = true;
         equation if b then x = 0; else der(x) = 1; end if; if p then assert(x < 5, \"x\"); end if; end M;",
        "b = time > 1;
         x = 0  when b;
         der(x) = 1  when not (b);
         assert(x < 5);",
    );
}

#[test]
fn when_clauses() {
    check_flatten(
        "model M Integer n(start = 0); Real t; equation when {time > 1, initial()} then n = pre(n) + 1; elsewhen sample(0, 2) then n = 0; end when;
         t = n; end M;",
        "$when1 = time > 1;
         t = n;
         $sample2 = sample(0, 2);
         when {$when1, initial()} then
         n = pre(n) + 1;
         elsewhen {$sample2} then
         n = 0;
         end when;",
    );
}

#[test]
fn clocked_partitions_become_when_clauses() {
    check_flatten(
        "model M Real u = time; Real y; Real x(start = 0); Real z; Clock c = Clock(0.5);
         equation y = sample(u, c); x = previous(x) + y; z = hold(x); end M;",
        "u = time;
         z = $hold3;
         $hold3 = x;
         c = $tick4;
         $clock1 = $tick4;
         $tick4 = sample(startTime + 0, 0.5);
         when {$tick4} then
         y = $sample2;
         x = pre(x) + y;
         $sample2 = pre(u);
         end when;",
    );
}

#[test]
fn overrides_are_outermost() {
    let source = "package P model A parameter Real k = 1; end A; model M A a(k = 2); Real y = a.k*time; end M; end P;";
    let (dae, _) = run(source, &[("a.k", "7")]);
    let text = dae.map(|d| saltus_dae::print(&d)).unwrap_or_default();
    assert!(text.contains("parameter Real a.k = 7"), "{text}");
    let (none, diagnostics) = run(source, &[("a.q", "7")]);
    assert!(none.is_none() && diagnostics.iter().any(|d| d.message.contains("has no q to modify")));
}

#[test]
fn what_could_not_be_made_is_told_once() {
    let source = "package P partial model A Real x; end A; model M Rael x; A a; Real y = x + a.x; equation x = a.x; end M; end P;";
    let (_, diagnostics) = run(source, &[]);
    let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(messages, ["the class Rael is not known here", "a is of the partial class P.A"]);
}

#[test]
fn errors_say_what_is_wrong() {
    check_error("model M Real speed; equation spead = 1; end M;", "spead is not known");
    check_error("model M Real x[2]; equation x = {1, 2, 3}; end M;", "different shapes: [2] and [3]");
    check_error("model M parameter Real p = time; end M;", "p is a parameter, but its value varies");
    check_error("model M Real x; Real x; end M;", "x is declared twice");
    check_error("model M extends M; end M;", "extends itself");
    check_error("model M M m; end M;", "M contains itself");
    check_error("partial model M end M;", "is partial");
    check_error("model M Boolean b = 1; end M;", "b is of type Boolean, but the value is Integer");
    check_error("model M parameter Integer n = n + 1; Real x[n]; end M;", "depends on itself");
    check_error("package P model A Real x; end A; model M A a(y = 1); end M; end P;", "has no y to modify");
}
