//! Exported C, compiled by gcc, against the native run: the same bits where nothing is iterated, the same trajectory of
//! the same fixed-step method elsewhere.

use saltus_engine::{Engine, Options};
use saltus_results::{Column, Sink};
use saltus_sim::{Quiet, RunOptions};
use std::path::PathBuf;
use std::process::Command;

#[derive(Default)]
struct Rows {
    names: Vec<String>,
    rows: Vec<(f64, Vec<f64>)>,
}

impl Sink for Rows {
    fn begin(&mut self, columns: &[Column]) -> std::io::Result<()> {
        self.names = columns.iter().map(|c| c.name.clone()).collect();
        Ok(())
    }
    fn row(&mut self, t: f64, values: &[f64], _: Option<&[bool]>) -> std::io::Result<()> {
        self.rows.push((t, values.to_vec()));
        Ok(())
    }
    fn finish(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn folder() -> PathBuf {
    let path = std::env::temp_dir().join(format!("saltus-export-{}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// Exports, compiles and runs a model; compares with a native run by the same method and step. If asked for, the bits
/// of the first row are equal: the integrators add up in different orders, the kernels do not.
fn check(name: &str, text: &str, stop: f64, steps: usize, tolerance: f64, bits: bool) {
    check_model(name, "", text, stop, steps, tolerance, bits);
}

/// The same for a model by name.
fn check_model(name: &str, model: &str, text: &str, stop: f64, steps: usize, tolerance: f64, bits: bool) {
    if Command::new("gcc").arg("--version").output().is_err() {
        eprintln!("no gcc: not checked");
        return;
    }
    let folder = folder();
    let file = folder.join(format!("{name}.mo"));
    std::fs::write(&file, text).unwrap();
    let open = || {
        let mut e = Engine::new(Options::default());
        let m = e.open(file.to_str().unwrap(), Some(model).filter(|m| !m.is_empty())).unwrap();
        let dae = e.flatten(&m).unwrap();
        (e, m, dae)
    };
    let (mut e, m, dae) = open();
    let c = e.export_c(dae, &m).unwrap_or_else(|| panic!("{:?}", e.diagnostics));
    let source = folder.join(format!("{name}.c"));
    let binary = folder.join(name);
    std::fs::write(&source, c).unwrap();
    let made = Command::new("gcc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-O2", "-ffp-contract=off", "-DSALTUS_MAIN", "-o"])
        .args([&binary, &source])
        .arg("-lm")
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let out = Command::new(&binary).args([stop.to_string(), steps.to_string()]).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let printed = String::from_utf8(out.stdout).unwrap();
    let mut lines = printed.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').skip(1).collect();
    let rows: Vec<Vec<f64>> = lines.map(|l| l.split(',').map(|v| v.parse().unwrap()).collect()).collect();

    let (mut e, _, dae) = open();
    let mut native = Rows::default();
    let run = RunOptions {
        stop: Some(stop),
        intervals: Some(steps),
        solver: Some("rk4".into()),
        step: Some(stop / steps as f64),
        ..RunOptions::default()
    };
    e.simulate(dae, &run, &mut native, &mut Quiet).unwrap_or_else(|| panic!("{:?}", e.diagnostics));
    let mut compared = 0;
    for (i, (t, want)) in native.rows.iter().enumerate() {
        // Of the rows at an event, the last.
        if native.rows.get(i + 1).is_some_and(|next| next.0 - t < 1e-9 * stop) {
            continue;
        }
        // Times of events differ by rounding: rows of the output grid are compared.
        let k = t * steps as f64 / stop;
        if (k - k.round()).abs() > 1e-9 {
            continue;
        }
        let Some(row) = rows.iter().rfind(|r| (r[0] - t).abs() < 1e-9 * stop) else { panic!("no row at {t}") };
        for (j, n) in names.iter().enumerate() {
            let Some(i) = native.names.iter().position(|x| x == n) else { continue };
            let (x, y) = (row[j + 1], want[i]);
            if bits && *t == 0.0 {
                assert_eq!(x.to_bits(), y.to_bits(), "{n} at {t}: {x} {y}");
            } else {
                assert!((x - y).abs() <= tolerance * (1.0 + y.abs()), "{n} at {t}: {x} {y}");
            }
            compared += 1;
        }
    }
    assert!(compared > steps, "{compared} values compared");
}

#[test]
fn a_vibrating_chain_to_the_bit() {
    let text = "model Chain
  parameter Integer n = 5;
  parameter Real k = 3.7;
  Real x[n](each start = 0.1, each fixed = true);
  Real v[n](start = {0.3*i for i in 1:n}, each fixed = true);
  Real e;
equation
  for i in 1:n loop
    der(x[i]) = v[i];
    der(v[i]) = -k*sin(x[i]) + (if i > 1 then x[i - 1] - x[i] else 0) + (if i < n then x[i + 1] - x[i] else exp(-x[i]^2));
  end for;
  e = sum(v[i]^2/2 for i in 1:n) + max(x[1], sqrt(abs(v[2])));
end Chain;";
    check("chain", text, 2.0, 200, 1e-12, true);
}

#[test]
fn runs_of_rows_are_loops() {
    let text = "connector Pin Real v; flow Real i; end Pin;
model R parameter Real R = 1; Pin p; Pin n; equation p.v - n.v = R*p.i; p.i + n.i = 0; end R;
model D Pin p; Pin n; equation p.i = 1e-3*(exp((p.v - n.v)/0.1) - 1); p.i + n.i = 0; end D;
model C parameter Real C = 1; Pin p; Pin n; Real v(start = 0.3, fixed = true); equation v = p.v - n.v; C*der(v) = p.i; p.i + n.i = 0; end C;
model G Pin p; equation p.v = 0; end G;
model V Pin p; Pin n; equation p.v - n.v = sin(time); p.i + n.i = 0; end V;
model Ladder
  parameter Integer n = 100;
  R r[n](R = {1 + 0.01*i for i in 1:n}); C c[n]; D d[n]; G g; V s;
equation
  connect(s.n, g.p);
  connect(s.p, r[1].p);
  for i in 1:n loop connect(r[i].n, c[i].p); connect(c[i].n, g.p); connect(c[i].p, d[i].p); connect(d[i].n, g.p); end for;
  for i in 1:n - 1 loop connect(r[i].n, r[i + 1].p); end for;
end Ladder;";
    check("ladder", text, 1.0, 100, 1e-11, false);
}

#[test]
fn a_loop_through_a_saturated_gain() {
    // Newton's method goes to and fro between the two limits.
    let text = "model Amplifier
  parameter Real gain = 15000, limit = 15;
  Real x(start = 0, fixed = true), e, out, i;
equation
  der(x) = 1 - x;
  out = noEvent(if gain*e > limit then limit else if gain*e < -limit then -limit else gain*e);
  e = 5*x - i;
  out - i = 1000*(i - sin(5*time))*1e-3;
end Amplifier;";
    check("amplifier", text, 1.0, 50, 1e-7, false);
}

#[test]
fn tables() {
    let header = "class Table
  extends ExternalObject;
  function constructor
    input String tableName; input String fileName; input Real table[:, :]; input Integer columns[:];
    input Integer smoothness; input Integer extrapolation; input Boolean verbose;
    output Table t;
    external \"C\" t = ModelicaStandardTables_CombiTable1D_init2(fileName, tableName, table, size(table, 1), size(table, 2), columns, size(columns, 1), smoothness, extrapolation, verbose);
  end constructor;
  function destructor input Table t; external \"C\" ModelicaStandardTables_CombiTable1D_close(t); end destructor;
end Table;
class Grid
  extends ExternalObject;
  function constructor
    input String tableName; input String fileName; input Real table[:, :]; input Integer smoothness; input Integer extrapolation;
    input Boolean verbose;
    output Grid t;
    external \"C\" t = ModelicaStandardTables_CombiTable2D_init2(fileName, tableName, table, size(table, 1), size(table, 2), smoothness, extrapolation, verbose);
  end constructor;
  function destructor input Grid t; external \"C\" ModelicaStandardTables_CombiTable2D_close(t); end destructor;
end Grid;
function value input Table t; input Integer icol; input Real u; output Real y;
  external \"C\" y = ModelicaStandardTables_CombiTable1D_getValue(t, icol, u);
end value;
function value2 input Grid t; input Real u; input Real v; output Real y;
  external \"C\" y = ModelicaStandardTables_CombiTable2D_getValue(t, u, v);
end value2;
";
    let mut lines =
        String::from("model Tables\n  Real x(start = -2, fixed = true);\n  Real s(start = 0.1, fixed = true);\n");
    let mut equations = String::from("equation\n  der(x) = 1;\n  s + value(t2_1, 1, s) = 1 + 0.1*x + der(s);\n");
    for smoothness in 1..=6 {
        for extrapolation in 1..=3 {
            let name = format!("t{smoothness}_{extrapolation}");
            lines += &format!(
                "  parameter Table {name} = Table(\"\", \"\", [-1, 0, 3; 0, 1, 2; 1, 1.5, 2.5; 1.5, -1, 0; 3, 2, 3], {{2, 3}}, {smoothness}, {extrapolation}, false);\n  Real y{name}, z{name};\n"
            );
            equations += &format!("  y{name} = value({name}, 1, x);\n  z{name} = value({name}, 2, 0.7*x);\n");
        }
        if smoothness < 4 {
            lines += &format!(
                "  parameter Grid g{smoothness} = Grid(\"\", \"\", [0, 0, 1, 2; 0, 1, 2, 4; 1, 0, 3, 1; 2, 2, 2, 5], {smoothness}, 2, false);\n  Real w{smoothness};\n"
            );
            equations += &format!("  w{smoothness} = value2(g{smoothness}, x, 1 + 0.8*sin(x));\n");
        }
    }
    let text = format!("{lines}{equations}end Tables;\n{header}")
        .replace("model Tables", "model ZTables")
        .replace("end Tables", "end ZTables");
    check_model("tables", "ZTables", &text, 6.0, 300, 1e-9, true);
}

#[test]
fn text_in_functions_is_for_messages() {
    let text = "model Text
  function scaled
    input Real u; input String unit; input Real m[:, :];
    output Real y;
  protected
    String message;
  algorithm
    message := \"u is \" + String(u) + \" in \" + unit;
    assert(u < 100, message);
    y := (if unit == \"mm\" then 1e-3 elseif unit <> \"m\" then 2 else 1)*u + trace(m);
  end scaled;
  function trace input Real m[:, :]; output Real y = 0;
  algorithm for i in 1:size(m, 1) loop y := y + m[i, i]; end for; end trace;
  parameter String unit = \"mm\";
  Real x(start = 1, fixed = true), a, b, c;
algorithm
  a := scaled(x, unit, [1, 2; 3, 4]);
  b := scaled(x, \"m\", [x]);
  c := scaled(x, \"km\", zeros(0, 0));
equation
  der(x) = -x;
end Text;";
    check("text", text, 1.0, 100, 1e-9, false);
}

#[test]
fn delays_of_discrete_signals_at_the_start() {
    let text = "model Start
  Integer n(start = 1, fixed = true), late;
equation
  when {initial(), time > 0.33} then n = pre(n) + 2; end when;
  late = integer(delay(n, 0.2) + 0.5);
end Start;";
    check("start", text, 1.0, 100, 1e-9, false);
}

#[test]
fn a_constraint_that_a_discrete_variable_moves() {
    let text = "model Moved
  Real x, y, vx, vy;
  discrete Real a(start = 1, fixed = true);
  Real z(start = 0.2, fixed = true), w(start = 0, fixed = true);
equation
  der(z) = w;
  der(w) = -z - 0.1*x;
  der(x) = vx;
  der(y) = vy;
  x = a*sin(z);
  y = a*cos(z) + x;
  when sample(0.5, 0.5) then a = pre(a) + 0.1; end when;
end Moved;";
    check("moved", text, 1.4, 140, 1e-7, false);
}

#[test]
fn linear_and_nonlinear_loops() {
    let text = "model Loops
  Real x(start = 1, fixed = true);
  Real a, b, c;
  Real y(start = 0.5), z(start = 1);
equation
  a + 2*b - c = x;
  a - b + c = 1 + time;
  2*a + b + 3*c = sin(x);
  y + exp(y/4) = 2 + z;
  z^3 + y = 3 + 0.1*x;
  der(x) = -x + 0.1*a - y;
end Loops;";
    check("loops", text, 1.0, 100, 1e-9, false);
}

#[test]
fn events_of_all_kinds() {
    let text = "model Events
  Real h(start = 1, fixed = true);
  Real v(start = 0, fixed = true);
  discrete Real s(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
  Real u;
  Real w(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -9.81;
  when h < 0 then
    reinit(v, -0.8*pre(v));
    n = pre(n) + 1;
  end when;
  when sample(0.1, 0.25) then
    s = pre(s) + h;
  end when;
  u = if time > 0.65 then 2 else floor(3*time);
  der(w) = abs(h - 0.5) + u;
end Events;";
    check("events", text, 2.0, 1000, 2e-5, false);
}

#[test]
fn a_torn_loop() {
    // Sixty equations that are solved on two torn unknowns.
    let text = "model Torn
  parameter Integer n = 20;
  Real x(start = 1, fixed = true);
  Real i[n], u[n], w[n];
equation
  u[1] = 1 + 0.1*x;
  for k in 1:n - 1 loop
    u[k] - u[k + 1] = (1 + k/10)*i[k] + 0.01*i[k]^3;
    i[k] = i[k + 1] + w[k];
    w[k] = 0.05*u[k];
  end for;
  w[n] = 0.05*u[n];
  i[n] = w[n];
  der(x) = i[1] - x;
end Torn;";
    check("torn", text, 1.0, 100, 1e-9, false);
}

#[test]
fn delays() {
    let text = "model Delays
  Real x(start = 1, fixed = true);
  Real y, z;
equation
  der(x) = -y;
  y = delay(x, 0.5);
  z = delay(if time > 0.3 then x else 0, 0.2 + 0.05*sin(time), 0.3);
end Delays;";
    // Exported code interpolates linearly between steps, h = 0.005.
    check("delays", text, 2.0, 400, 1e-5, false);
}

#[test]
fn functions_with_loops_arrays_and_several_outputs() {
    let text = "function series input Real u; output Real y; protected Real t; Integer n; algorithm
    y := 1; t := 1; n := 0;
    while abs(t) > 1e-18 loop n := n + 1; t := t*u/n; y := y + t; end while;
  end series;
  function moments input Real x[:]; output Real mean; output Real spread; output Real sorted[size(x, 1)]; protected Real t; algorithm
    mean := sum(x)/size(x, 1);
    spread := 0;
    for i in 1:size(x, 1) loop spread := spread + (x[i] - mean)^2; end for;
    sorted := x;
    for i in 1:size(x, 1) loop
      for j in 1:size(x, 1) - i loop
        if sorted[j] > sorted[j + 1] then t := sorted[j]; sorted[j] := sorted[j + 1]; sorted[j + 1] := t; end if;
      end for;
    end for;
  end moments;
  function fibonacci input Integer n; output Integer f; algorithm
    if n < 2 then f := n; return; end if;
    f := fibonacci(n - 1) + fibonacci(n - 2);
  end fibonacci;
  function polynomial input Real c[:]; input Real x; output Real y; algorithm
    assert(x < 100, \"the argument is too large\");
    y := 0;
    for k in size(c, 1):-1:1 loop y := c[k] + x*y; end for;
  end polynomial;
model Functions
  Real x(start = 0.5, fixed = true);
  Real v[4](start = {0.4, -1, 2, 0.1}, each fixed = true);
  Real m, s, o[4];
  Real z(start = 0.5);
  Real e;
  Integer f = fibonacci(if time > 0.4 then 12 else 5);
equation
  der(x) = -x*series(-x) + 0.01*f;
  (m, s, o) = moments(v);
  for i in 1:4 loop der(v[i]) = sin(time)*o[5 - i] - v[i]; end for;
  polynomial({1, 2, 0.5, 0.25, 0.125}, z) = 3 + x;
  e = z + m*s;
end Functions;";
    check("functions", text, 1.0, 100, 1e-8, false);
}

#[test]
fn derivatives_by_annotation() {
    let text = "function f input Real x; output Real y; protected Real s; algorithm
    s := 0; for i in 1:20 loop s := s + sin(i*x)/i^2; end for; y := x + 0.1*s;
    annotation(derivative = df);
  end f;
  function df input Real x; input Real dx; output Real dy; protected Real s; algorithm
    s := 0; for i in 1:20 loop s := s + cos(i*x)/i; end for; dy := (1 + 0.1*s)*dx;
  end df;
model Annotated
  Real x(start = 0.2, fixed = true);
  Real z(start = 0.1);
equation
  f(z) + 0.1*z^3 = x;
  der(x) = 1 - z;
end Annotated;";
    check("annotated", text, 1.0, 50, 1e-8, false);
}

#[test]
fn external_code_in_annotations() {
    let text = "function f input Real x; input Integer n; output Real y; external \"C\" y = power_sum(x, n)
  annotation(Include = \"static double power_sum(double x, int n) { double s = 0; for (int k = n; k > 0; k--) s = x*(s + 1.0/k); return s; }\");
  end f;
  function g input Real x; output Real y; external \"C\" y = erf(x); end g;
model Foreign
  Real x(start = 0.4, fixed = true);
  Real z(start = 0.1);
equation
  der(x) = -f(x, 7) + g(x);
  z + f(z/2, 3) = x;
end Foreign;";
    check("external", text, 1.0, 100, 1e-8, false);
}

#[test]
fn random_numbers() {
    let generator = |name: &str, n: usize| {
        format!(
            "  function {name} input Integer before[{n}]; output Real r; output Integer after[{n}];
  external \"C\" ModelicaRandom_{name}(before, after, r); end {name};
  function sum_{name} input Real seed; output Real y = 0; protected Integer s[{n}] = {{i*7919 + integer(seed) for i in 1:{n}}}; Real r;
  algorithm
    for i in 1:40 loop (r, s) := {name}(s); y := y + r*i; end for;
  end sum_{name};\n"
        )
    };
    let functions = [("xorshift64star", 2), ("xorshift128plus", 4), ("xorshift1024star", 33)];
    let text: String = functions.iter().map(|(name, n)| generator(name, *n)).collect();
    let text = format!(
        "model Random\n{text}  discrete Real a(start = 0, fixed = true), b(start = 0, fixed = true), c(start = 0, fixed = true);
  Real d = sum_xorshift64star(123456789), x(start = 0, fixed = true);
equation
  der(x) = a - b;
  when sample(0, 0.1) then
    a = sum_xorshift64star(1000*time + 3);
    b = sum_xorshift128plus(1000*time + 5);
    c = sum_xorshift1024star(1000*time + 7);
  end when;
end Random;"
    );
    check("random", &text, 1.0, 100, 1e-12, true);
}

#[test]
fn foreign_code_with_arrays_texts_and_records() {
    let text = r#"package P
  record R Real a; Integer n; Real v[2]; end R;
  function mean
    input Real x[:]; input Integer w[size(x, 1)]; input String how; output Real y; output Real z[size(x, 1)]; output Integer k[2];
    external "C" mean(x, size(x, 1), w, how, y, z, k) annotation(Include = "
#include <string.h>
#include \"ModelicaUtilities.h\"
static void mean(const double *x, size_t n, const int *w, const char *how, double *y, double *z, int *k) {
  double s = 0; int t = 0;
  if (strcmp(how, \"bad\") == 0) ModelicaError(\"a bad mean\");
  for (size_t i = 0; i < n; i++) { s += x[i] * w[i]; t += w[i]; z[i] = x[i] * x[i]; }
  *y = strcmp(how, \"half\") == 0 ? 0.5 * s / t : s / t; k[0] = t; k[1] = (int)n;
}");
  end mean;
  function weight input R r; output Real y;
    external "C" y = of_record(r) annotation(Include = "
struct R { double a; int n; double v[2]; };
static double of_record(void *p) { struct R *r = p; return r->a * r->n + r->v[0] * r->v[1]; }");
  end weight;
  model M
    Real x(start = 1, fixed = true), y, z[3], q, u, v;
    Integer k[2];
  equation
    der(x) = -x;
    (y, z, k) = mean({x, 2*x, 3}, {1, 2, 3}, "half");
    q = weight(R(x, 3, {x, 2}));
    u = mean({x, 1, x*x}, {1, 1, 2}, "full");
    v = der(u);
  end M;
end P;"#;
    check_model("foreign_arrays", "P.M", text, 1.0, 100, 1e-9, true);
}

#[test]
fn text_is_built_and_ordered() {
    let text = r#"package P
  function name input Real x; output String s;
    external "C" s = name_of(x) annotation(Include = "
static const char *name_of(double x) { return x < 0.5 ? \"low\" : \"high\"; }");
  end name;
  type Colour = enumeration(red, green);
  function f input Real x; output Real y;
  protected String s; Colour c = if x > 0.5 then Colour.red else Colour.green;
  algorithm
    s := "x" + String(x, significantDigits = 3) + String(true) + String(5, minimumLength = 4) + String(x, format = "%8.3f");
    y := (if name(x) < "kilo" then 1 else 2) + (if s > "x0.7" then 10 else 20);
    y := y + (if s == "x1true5      1.000" then 100 else 0) + (if String(c) >= "red" then 1000 else 0);
    y := y + (if String(7, format = "05d") + "é" == "00007é" then 1e4 else 0);
    y := y + (if String(-x, minimumLength = 6, leftJustified = false) == "    -1" then 1e5 else 0);
  end f;
  model M
    Real x(start = 1, fixed = true), y = f(x);
  equation
    der(x) = -x;
  end M;
end P;"#;
    check_model("built_text", "P.M", text, 1.0, 100, 1e-9, true);
}

#[test]
fn linear_algebra() {
    let text = r#"package P
  function solve input Real A[:, size(A, 1)]; input Real b[size(A, 1)]; output Real x[size(A, 1)] = b; output Integer info;
  protected Real Awork[:, :] = A; Integer lda = max(1, size(A, 1)); Integer ipiv[size(A, 1)];
    external "FORTRAN 77" dgesv(size(A, 1), 1, Awork, lda, ipiv, x, lda, info) annotation(Library = "lapack");
  end solve;
  function singular "Values and vectors" input Real A[:, :];
    output Real s[min(size(A, 1), size(A, 2))];
    output Real U[size(A, 1), size(A, 1)] = zeros(size(A, 1), size(A, 1));
    output Real VT[size(A, 2), size(A, 2)] = zeros(size(A, 2), size(A, 2));
    output Integer info;
  protected Real Awork[size(A, 1), size(A, 2)] = A; Real work[50];
    external "FORTRAN 77" dgesvd("A", "A", size(A, 1), size(A, 2), Awork, size(A, 1), s, U, size(A, 1), VT, size(A, 2), work, 50,
      info) annotation(Library = "lapack");
  end singular;
  function dgels input Real A[:, :]; input Real B[:, :]; output Real X[size(B, 1), size(B, 2)] = B; output Integer info;
  protected Real Awork[size(A, 1), size(A, 2)] = A; Real work[100];
    external "FORTRAN 77" dgels("N", size(A, 1), size(A, 2), size(B, 2), Awork, size(A, 1), X, size(B, 1), work, 100, info)
      annotation(Library = "lapack");
  end dgels;
  function dgetrf input Real A[:, :]; output Real LU[size(A, 1), size(A, 2)] = A; output Integer p[min(size(A, 1), size(A, 2))];
    output Integer info;
    external "FORTRAN 77" dgetrf(size(A, 1), size(A, 2), LU, size(A, 1), p, info) annotation(Library = "lapack");
  end dgetrf;
  function dgetri input Real LU[:, size(LU, 1)]; input Integer p[size(LU, 1)]; output Real inv[size(LU, 1), size(LU, 2)] = LU;
  protected Integer n = size(LU, 1); Real work[50]; Integer info;
    external "FORTRAN 77" dgetri(n, inv, n, p, work, 50, info) annotation(Library = "lapack");
  end dgetri;
  function dgeqp3 input Real A[:, :]; output Real QR[size(A, 1), size(A, 2)] = A; output Integer p[size(A, 2)] = zeros(size(A, 2));
    output Real tau[min(size(A, 1), size(A, 2))];
  protected Real work[50]; Integer info;
    external "FORTRAN 77" dgeqp3(size(A, 1), size(A, 2), QR, size(A, 1), p, tau, work, 50, info) annotation(Library = "lapack");
  end dgeqp3;
  function dorgqr input Real QR[:, :]; input Real tau[:]; output Real Q[size(QR, 1), size(QR, 2)] = QR;
  protected Real work[50]; Integer info;
    external "FORTRAN 77" dorgqr(size(QR, 1), size(QR, 2), size(tau, 1), Q, size(QR, 1), tau, work, 50, info)
      annotation(Library = "lapack");
  end dorgqr;
  function dgeev input Real A[:, size(A, 1)]; output Real re[size(A, 1)]; output Real im[size(A, 1)];
    output Real V[size(A, 1), size(A, 1)]; output Integer info;
  protected Integer n = size(A, 1); Real Awork[n, n] = A; Real L[n, n]; Real work[100];
    external "FORTRAN 77" dgeev("N", "V", n, Awork, n, re, im, L, n, V, n, work, 100, info) annotation(Library = "lapack");
  end dgeev;
  function all "What does not depend on the signs and the order of vectors" input Real x; output Real y[10];
  protected
    Real re[5], im[5], W[5, 5], s[2], U[3, 3], V[2, 2], X[3, 1], F[2, 2], G[2, 2], Q[3, 2], T[3, 2], tau[2]; Integer i, p[2], o[2];
  algorithm
    (s, U, V, i) := singular([x, 1; 2, x; 0, 1]);
    y[1:2] := s;
    y[3] := U[1, :]*{s[1]*V[1, 2], s[2]*V[2, 2], 0} + U[:, 3]*U[:, 3];
    (X, i) := dgels([1, 1; 1, 2; 1, x], [1; 2; 2]);
    y[4:5] := X[1:2, 1];
    (F, p, i) := dgetrf([x, 2; 3, 4]);
    G := dgetri(F, p);
    y[6] := G[1, 2];
    (T, o, tau) := dgeqp3([x, 1; 2, x; 0, 1]);
    Q := dorgqr(T, tau);
    y[7] := Q[:, 1]*Q[:, 2] + T[1, 1];
    y[8] := o[1] + 10*p[1] + Q[1, 1];
    (re, im, W, i) := dgeev([x, 1, 0, 2, 1; 2, x, 1, 0, 3; -1, -2, 1, x, 0; 0, 1, -3, 2, 1; 1, 0, x, -2, 4]);
    y[9] := sum(exp(re[k]/4)*cos(im[k]) for k in 1:5);
    y[10] := sum(k*W[k, j]^2 for k in 1:5, j in 1:5) + i;
  end all;
  model M
    Real x(start = 1, fixed = true), y[3], t[3], f[3], g[10] = all(x);
    Integer i;
  equation
    der(x) = -x;
    (y, i) = solve([x, 1, 2; 3, x + 4, 1; 1, 1, 1 - x], {1, x, 2});
    t = der(y);
    f = solve([2, 1, 0; 1, 3, 1; 0, 1, 4], {x, x^2, 1});
  end M;
end P;"#;
    check_model("linear", "P.M", text, 1.0, 100, 1e-7, false);
}

#[test]
fn foreign_objects_are_refused() {
    let folder = folder();
    let file = folder.join("foreign.mo");
    let code = "static double last; static void *make(double x) { last = x; return &last; } static void done(void *p) { (void)p; } \
                static double get(void *p) { return *(double *)p; }";
    let text = format!(
        "model Foreign
  class Object extends ExternalObject;
    function constructor input Real x; output Object o; external \"C\" o = make(x) annotation(Include = \"{code}\"); end constructor;
    function destructor input Object o; external \"C\" done(o) annotation(Include = \"{code}\"); end destructor;
  end Object;
  function f input Object o; input Real x; output Real y; external \"C\" y = get(o) annotation(Include = \"{code}\"); end f;
  Object o = Object(2);
  Real x(start = 1, fixed = true);
equation
  der(x) = -f(o, x);
end Foreign;"
    );
    std::fs::write(&file, text).unwrap();
    let mut e = Engine::new(Options::default());
    let m = e.open(file.to_str().unwrap(), None).unwrap();
    let dae = e.flatten(&m).unwrap();
    assert!(e.export_c(dae, &m).is_none());
    let message = &e.diagnostics.last().unwrap().message;
    assert!(message.contains("(an external object)"), "{message}");
}

#[test]
fn a_mode_with_a_constraint() {
    // x falls to 0.5 and is held there.
    let text = "model Modes
  Real x(start = 1, fixed = true);
  Real y;
equation
  y + der(x) = 1;
  if x > 0.5 then
    y = 2;
  else
    x = 0.5;
  end if;
end Modes;";
    check("modes", text, 3.0, 300, 1e-6, false);
}

#[test]
fn clutches_that_engage_and_let_go() {
    // Speeds become equal with momentum conserved where a clutch closes; the index changes with the mode.
    let text = "model Clutches
  Real w1(start = 3, fixed = true), w2(start = 0, fixed = true), w3(start = -1, fixed = true);
  Real t1, t2;
  Boolean a = time > 0.5 and time < 1.4;
  Boolean b = time > 0.9;
equation
  2*der(w1) = 1 - t1;
  3*der(w2) = t1 - t2 - 0.1*w2;
  der(w3) = t2 - 0.2*w3;
  if a then w1 = w2; else t1 = 0; end if;
  if b then w2 = w3; else t2 = 0; end if;
end Clutches;";
    check("clutches", text, 2.0, 400, 1e-8, false);
}

#[test]
fn a_rope_that_becomes_taut() {
    let text = "model Rope
  parameter Real L = 1;
  Real x(start = 0, fixed = true), v(start = 0, fixed = true), f;
  Boolean taut(start = false, fixed = true);
equation
  der(x) = v;
  der(v) = 9.81 - f;
  when x >= L then taut = true; end when;
  if taut then v = 0; else f = 0; end if;
end Rope;";
    check("rope", text, 1.0, 200, 1e-7, false);
}

#[test]
fn what_is_not_supported_is_said() {
    let folder = folder();
    let file = folder.join("modes.mo");
    std::fs::write(
        &file,
        // Every set of shafts that turn with the hub is a part of its own.
        "model Many
  parameter Integer n = 13;
  Real w[n](each fixed = true, start = {i for i in 1:n}), t[n], hub(start = 0, fixed = true);
equation
  der(hub) = sum(t);
  for i in 1:n loop
    der(w[i]) = -t[i];
    if time > i then w[i] = hub; else t[i] = 0; end if;
  end for;
end Many;",
    )
    .unwrap();
    let mut e = Engine::new(Options::default());
    let m = e.open(file.to_str().unwrap(), None).unwrap();
    let dae = e.flatten(&m).unwrap();
    assert!(e.export_c(dae, &m).is_none());
    assert!(e.diagnostics.last().unwrap().message.contains("not supported yet: more than 512 modes"));
}

#[test]
fn modes_too_many_to_list() {
    // 2048 modes, put together from rows of shafts that turn together.
    let text = "model Row
  parameter Integer n = 12;
  Real w[n](start = {sin(i) for i in 1:n}, each fixed = true), tau[n + 1];
  Boolean on[n - 1];
equation
  tau[1] = 0;
  tau[n + 1] = 0;
  for i in 1:n loop
    (1 + 0.1*i)*der(w[i]) = tau[i] - tau[i + 1] - 0.3*w[i];
  end for;
  for i in 1:n - 1 loop
    if on[i] then w[i] = w[i + 1]; else tau[i + 1] = 0; end if;
    on[i] = time > 0.11*mod(5*i, 11) and time < 0.5 + 0.13*mod(7*i, 11);
  end for;
end Row;";
    check("row", text, 2.0, 200, 1e-9, false);
}
