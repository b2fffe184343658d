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

/// The same for a model by name; gives what the program said besides.
fn check_model(
    name: &str,
    model: &str,
    text: &str,
    stop: f64,
    steps: usize,
    tolerance: f64,
    bits: bool,
) -> Option<String> {
    if Command::new("gcc").arg("--version").output().is_err() {
        eprintln!("no gcc: not checked");
        return None;
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
    Some(String::from_utf8(out.stderr).unwrap())
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
fn foreign_objects() {
    let ended = folder().join("ended.txt");
    let text = r#"package P
  class Polynomial extends ExternalObject;
    function constructor input Real c[:]; input Integer shift; input String log; output Polynomial p;
      external "C" p = make_polynomial(c, size(c, 1), shift, log) annotation(Include = "
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include \"ModelicaUtilities.h\"
#ifndef POLYNOMIAL
#define POLYNOMIAL
typedef struct { double c[8]; int n, shift; char log[200]; } polynomial;
static void *make_polynomial(const double *c, size_t n, int shift, const char *log) {
  polynomial *p = calloc(1, sizeof *p);
  if (!p || n > 8 || strlen(log) >= sizeof p->log) ModelicaError(\"no such polynomial\");
  memcpy(p->c, c, n * sizeof *c); p->n = (int)n; p->shift = shift; strcpy(p->log, log);
  return p;
}
static void end_polynomial(void *o) {
  polynomial *p = o;
  FILE *f = fopen(p->log, \"a\");
  if (f) { fprintf(f, \"%d\\n\", p->shift); fclose(f); }
  free(p);
}
static double of_polynomial(void *o, double x) {
  polynomial *p = o;
  double y = 0;
  for (int i = p->n; i-- > 0;) y = y * x + p->c[i];
  return y + p->shift;
}
static double both(void *a, void *b, const double *x, size_t n) {
  double y = 0;
  for (size_t i = 0; i < n; i++) y += of_polynomial(a, x[i]) * of_polynomial(b, x[i]);
  return y;
}
#endif
");
    end constructor;
    function destructor input Polynomial p; external "C" end_polynomial(p); end destructor;
  end Polynomial;
  function value input Polynomial p; input Real x; output Real y; external "C" y = of_polynomial(p, x); end value;
  function both input Polynomial a; input Polynomial b; input Real x[:]; output Real y;
    external "C" y = both(a, b, x, size(x, 1));
  end both;
  model Part input Polynomial p; Real y; input Real x; equation y = value(p, x); end Part;
  model M
    parameter Real c[3] = {1, -2, 0.5};
    parameter Integer k = 3;
    Polynomial p = Polynomial(c, k, "LOG"), q = Polynomial({2, 1}, k + 1, "LOG");
    Part part(p = q, x = 2*x);
    Real x(start = 1, fixed = true), y, z, d;
  equation
    der(x) = -value(p, x)/10;
    y = both(p, q, {x, 2*x, 3});
    z + sin(z) = value(q, x*z) - 6;
    d = der(part.y);
  end M;
end P;"#
        .replace("LOG", ended.to_str().unwrap());
    let Some(said) = check_model("objects", "P.M", &text, 1.0, 100, 1e-7, false) else { return };
    assert_eq!(said, "");
    // Two each of the export, the exported program and the native run; what was made last ends first.
    assert_eq!(std::fs::read_to_string(&ended).unwrap(), "4\n3\n".repeat(3));
}

#[test]
fn impure_random_numbers() {
    let text = "model Impure
  impure function set input Integer state[33]; input Integer id;
    external \"C\" ModelicaRandom_setInternalState_xorshift1024star(state, size(state, 1), id); end set;
  impure function begin input Integer seed; output Integer id;
  algorithm set({i*7919 + seed for i in 1:33}, seed); id := seed; end begin;
  impure function draw input Integer id; output Real y;
    external \"C\" y = ModelicaRandom_impureRandom_xorshift1024star(id); end draw;
  impure function several input Integer id; input Integer n; output Real y = 0;
  algorithm for i in 1:n loop y := y + draw(id); end for; end several;
  parameter Integer id = begin(4711);
  discrete Real a(start = 0, fixed = true), b(start = 0, fixed = true), c(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  when sample(0, 0.1) then
    a = draw(id);
    n = pre(n) + 1;
  end when;
  when n > 4 and a > 0 then
    c = draw(id);
  end when;
algorithm
  when sample(0.05, 0.1) then
    b := several(id, 3) + several(id, 2);
    b := b - draw(id);
  end when;
end Impure;";
    check("impure", text, 1.0, 100, 1e-14, true);
}

#[test]
fn calls_for_their_effects() {
    let text = r#"model Effects
  impure function print input String s; input String file = "";
    external "C" ModelicaInternal_print(s, file); end print;
  impure function message input String s; external "C" ModelicaMessage(s); end message;
  Real x(start = 1, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(x) = -x;
  when sample(0, 0.25) then
    n = pre(n) + 1;
    print("tick");
    print("tick " + String(pre(n)));
  end when;
  when x < 0.5 then
    message("half");
  end when;
end Effects;"#;
    let Some(said) = check_model("effects", "Effects", text, 0.9, 90, 1e-7, false) else { return };
    assert_eq!(said, "tick\ntick 0\ntick\ntick 1\ntick\ntick 2\nhalf\ntick\ntick 3\n");
}

#[test]
fn files_and_strings() {
    let file = folder().join("lines.txt");
    let text = r##"package P
  impure function print input String s; input String file; external "C" ModelicaInternal_print(s, file); end print;
  impure function countLines input String file; output Integer n; external "C" n = ModelicaInternal_countLines(file);
  end countLines;
  impure function readLine input String file; input Integer n; output String s; output Boolean eof;
    external "C" s = ModelicaInternal_readLine(file, n, eof); end readLine;
  impure function readFile input String file; input Integer n; output String s[n];
    external "C" ModelicaInternal_readFile(file, s, n); end readFile;
  impure function stat input String file; output Integer kind; external "C" kind = ModelicaInternal_stat(file); end stat;
  impure function remove input String file; external "C" ModelicaInternal_removeFile(file); end remove;
  impure function rename input String a; input String b; external "C" ModelicaInternal_rename(a, b); end rename;
  impure function copy input String a; input String b; external "C" ModelicaInternal_copyFile(a, b); end copy;
  impure function sizes input String file; input String name; output Integer n[2];
    external "C" ModelicaIO_readMatrixSizes(file, name, n); end sizes;
  impure function read input String file; input String name; input Integer m; input Integer n; output Real A[m, n];
    external "C" ModelicaIO_readRealMatrix(file, name, A, m, n, false); end read;
  impure function write input String file; input String name; input Real A[:, :]; input Boolean append; output Boolean done;
    external "C" done = ModelicaIO_writeRealMatrix(file, name, A, size(A, 1), size(A, 2), append, "4"); end write;
  function scanReal input String s; input Integer from; input Boolean unsigned; output Integer next; output Real x;
    external "C" ModelicaStrings_scanReal(s, from, unsigned, next, x); end scanReal;
  function scanInteger input String s; input Integer from; input Boolean unsigned; output Integer next; output Integer x;
    external "C" ModelicaStrings_scanInteger(s, from, unsigned, next, x); end scanInteger;
  function scanString input String s; input Integer from; output Integer next; output String x;
    external "C" ModelicaStrings_scanString(s, from, next, x); end scanString;
  function scanIdentifier input String s; input Integer from; output Integer next; output String x;
    external "C" ModelicaStrings_scanIdentifier(s, from, next, x); end scanIdentifier;
  function skip input String s; input Integer from; output Integer next;
    external "C" next = ModelicaStrings_skipWhiteSpace(s, from); end skip;
  function substring input String s; input Integer a; input Integer b; output String x;
    external "C" x = ModelicaStrings_substring(s, a, b); end substring;
  function compare input String a; input String b; input Boolean sensitive; output Integer order;
    external "C" order = ModelicaStrings_compare(a, b, sensitive); end compare;
  function length input String s; output Integer n; external "C" n = ModelicaStrings_length(s); end length;
  function hash input String s; output Integer h; external "C" h = ModelicaStrings_hashString(s); end hash;
  impure function lines input Integer k; input Real x; input String file; output Real y[7];
  protected String s, all[k + 1]; Boolean eof, done; Integer n, next, m[2]; Real A[2, 3];
  algorithm
    if k == 0 and stat(file) == 2 then remove(file); end if;
    print(String(k) + " " + String(x, significantDigits = 4) + " é \"a \\\"quoted\\\" word\" Name_1", file);
    n := countLines(file);
    (s, eof) := readLine(file, n);
    (next, y[1]) := scanReal(s, 2, false);
    y[2] := n + 10*next;
    (s, eof) := readLine(file, n + 1);
    y[3] := if eof then 1 else 0;
    copy(file, file + "2");
    rename(file + "2", file + "3");
    all := readFile(file + "3", k + 1);
    y[4] := length(all[1]) + 100*stat(file + "2") + 10*stat(file + "3");
    done := write(file + ".mat", "other", [x], false);
    done := write(file + ".mat", "A", [x, 2, 3; 4, 5, x], true);
    m := sizes(file + ".mat", "A");
    A := read(file + ".mat", "A", m[1], m[2]);
    y[5] := A[1, 1] + 10*A[1, 2] + 100*A[2, 1] + 1000*A[2, 3];
    remove(file + "3");
    if k == 0 then
      if stat(file + ".txt") == 2 then remove(file + ".txt"); end if;
      print("#1\n# double tab(1, 1)\ndouble no(1,1)\n 7\ndouble tab(2, 2) # here\n1 2.5\n # more\n3,-4e1\n", file + ".txt");
    end if;
    m := sizes(file + ".txt", "tab");
    y[6:7] := read(file + ".txt", "tab", m[1], m[2])*{x, 1};
  end lines;
  function taken "Everything in one number" input Real x; output Real y;
  protected String s = "  -12.5e1 +7 é \"a \\\"b\\\"\" Ab_1,"; Integer n, k; Real r; String t; 
  algorithm
    (n, r) := scanReal(s, 1, false); y := x + r + n;
    (n, r) := scanReal(s, 1, true); y := 3*y + r + n;
    (n, k) := scanInteger(s, 10, false); y := 3*y + k + n;
    (n, k) := scanInteger(s, 1, false); y := 3*y + k + n;
    n := skip(s, n + 12); y := 3*y + n;
    (n, t) := scanString(s, 15); y := 3*y + n + (if t == "a \"b\"" then 1 else 0);
    (n, t) := scanIdentifier(s, n); y := 3*y + n + (if t == "Ab_1" then 1 else 0);
    (n, t) := scanIdentifier("1a", 1); y := 3*y + n + length(t);
    y := y + length(s) + (if substring(s, 14, 16) == "é \"" then 1 else 0) + length(substring(s, 9, 5));
    y := y + compare("abc", "ABC", false) + 3*compare("abc", "ABC", true) + 9*compare("ab", "abc", true);
    y := y + hash("this is a test" + substring("xyz", 1, integer(x)))/1e3;
  end taken;
  model M
    Real x(start = 1, fixed = true), u = taken(x);
    discrete Real y[7](each start = 0, each fixed = true);
    Integer k(start = -1, fixed = true);
  equation
    der(x) = -x;
    when sample(0, 0.2) then
      k = pre(k) + 1;
      y = lines(k, x, "FILE");
    end when;
  end M;
end P;"##
        .replace("FILE", file.to_str().unwrap());
    check_model("files", "P.M", &text, 1.0, 100, 1e-7, false);
}

#[test]
fn errors_of_functions_end_the_run_with_their_words() {
    let folder = folder();
    let file = folder.join("failing.mo");
    let text = r#"model Failing
  function fail input String s; external "C" ModelicaError(s); end fail;
  function f input Real x; output Real y = x; algorithm if x > 0.5 then fail("x is " + String(x > 0.5)); end if; end f;
  impure function lines input String file; output Integer n; external "C" n = ModelicaInternal_countLines(file); end lines;
  Real x(start = 0, fixed = true), y = f(time);
  Integer n(start = 0, fixed = true);
  parameter Boolean read = true;
equation
  der(x) = y;
  when time > 0.25 then n = if read then lines("no such file") else 0; end when;
end Failing;"#;
    if Command::new("gcc").arg("--version").output().is_err() {
        return;
    }
    for (set, options, words) in [
        ("false", "-O1", "x is true"),
        ("true", "-O1", "a file cannot be opened: no such file"),
        ("true", "-DSALTUS_NO_STDIO", "files and messages are not part of this program"),
    ] {
        std::fs::write(&file, text.replace("read = true", &format!("read = {set}"))).unwrap();
        let mut e = Engine::new(Options::default());
        let m = e.open(file.to_str().unwrap(), None).unwrap();
        let dae = e.flatten(&m).unwrap();
        let c = e.export_c(dae, &m).unwrap_or_else(|| panic!("{:?}", e.diagnostics));
        let (source, binary) = (folder.join("failing.c"), folder.join("failing"));
        std::fs::write(&source, c).unwrap();
        let flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-DSALTUS_MAIN", options, "-o"];
        let made = Command::new("gcc").args(flags).args([&binary, &source]).arg("-lm").output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let out = Command::new(&binary).args(["1", "100"]).output().unwrap();
        let said = String::from_utf8(out.stderr).unwrap();
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn schur_forms_and_generalized_eigenvalues() {
    let text = r#"package P
  function dgees input Real A[:, size(A, 1)]; output Real T[size(A, 1), size(A, 1)] = A; output Real Z[size(A, 1), size(A, 1)];
    output Real re[size(A, 1)]; output Real im[size(A, 1)];
  protected Integer n = size(A, 1), none, sdim, info; Real work[50]; Boolean b[size(A, 1)];
    external "FORTRAN 77" dgees("V", "N", none, n, T, n, sdim, re, im, Z, n, work, 50, b, info) annotation(Library = "lapack");
  end dgees;
  function dgehrd input Real A[:, size(A, 1)]; output Real H[size(A, 1), size(A, 1)] = A; output Real tau[size(A, 1) - 1];
  protected Integer n = size(A, 1), info; Real work[50];
    external "FORTRAN 77" dgehrd(n, 1, n, H, n, tau, work, 50, info) annotation(Library = "lapack");
  end dgehrd;
  function dorghr input Real A[:, size(A, 1)]; input Real tau[size(A, 1) - 1]; output Real Q[size(A, 1), size(A, 1)] = A;
  protected Integer n = size(A, 1), info; Real work[50];
    external "FORTRAN 77" dorghr(n, 1, n, Q, n, tau, work, 50, info) annotation(Library = "lapack");
  end dorghr;
  function dormhr input Real C[:, :]; input Real A[:, size(A, 1)]; input Real tau[:]; input String side; input String trans;
    output Real X[size(C, 1), size(C, 2)] = C;
  protected Integer m = size(C, 1), n = size(C, 2), k = size(A, 1), info; Real work[50];
    external "FORTRAN 77" dormhr(side, trans, m, n, 1, k, A, k, tau, X, m, work, 50, info) annotation(Library = "lapack");
  end dormhr;
  function dhseqr input Real H[:, size(H, 1)]; input String job; input String compz; input Real Z[:, :];
    output Real re[size(H, 1)]; output Real im[size(H, 1)]; output Real T[size(H, 1), size(H, 1)] = H;
    output Real Q[size(H, 1), size(H, 1)] = Z;
  protected Integer n = size(H, 1), info; Real work[50];
    external "FORTRAN 77" dhseqr(job, compz, n, 1, n, T, n, re, im, Q, n, work, 50, info) annotation(Library = "lapack");
  end dhseqr;
  function dtrsen input Real T[:, size(T, 1)]; input Real Q[:, :]; input Boolean choose[size(T, 1)];
    output Real U[size(T, 1), size(T, 1)] = T; output Real Z[size(T, 1), size(T, 1)] = Q; output Real re[size(T, 1)];
    output Real im[size(T, 1)]; output Integer m; output Real s; output Real sep;
  protected Integer n = size(T, 1), info, iwork[99]; Real work[99];
    external "FORTRAN 77" dtrsen("B", "V", choose, n, U, n, Z, n, re, im, m, s, sep, work, 99, iwork, 99, info)
      annotation(Library = "lapack");
  end dtrsen;
  function dtrevc input Real T[:, size(T, 1)]; input Real Q[:, :]; output Real L[size(T, 1), size(T, 1)] = Q;
    output Real R[size(T, 1), size(T, 1)] = Q;
  protected Integer n = size(T, 1), info; Boolean choose[size(T, 1)]; Real work[99];
    external "FORTRAN 77" dtrevc("B", "B", choose, n, T, n, L, n, R, n, n, n, work, info) annotation(Library = "lapack");
  end dtrevc;
  function dgeevx input Real A[:, size(A, 1)]; output Real re[size(A, 1)]; output Real im[size(A, 1)];
    output Real L[size(A, 1), size(A, 1)]; output Real R[size(A, 1), size(A, 1)]; output Real e[size(A, 1)]; output Real v[size(A, 1)];
  protected Integer n = size(A, 1), ilo, ihi, info, iwork[20]; Real T[size(A, 1), size(A, 1)] = A, scale[size(A, 1)], norm, work[99];
    external "FORTRAN 77" dgeevx("B", "V", "V", "B", n, T, n, re, im, L, n, R, n, ilo, ihi, scale, norm, e, v, work, 99, iwork, info)
      annotation(Library = "lapack");
  end dgeevx;
  function dggev input Real A[:, size(A, 1)]; input Real B[size(A, 1), size(A, 1)]; output Real re[size(A, 1)];
    output Real im[size(A, 1)]; output Real beta[size(A, 1)]; output Real L[size(A, 1), size(A, 1)];
    output Real R[size(A, 1), size(A, 1)]; output Integer info;
  protected Integer n = size(A, 1); Real S[size(A, 1), size(A, 1)] = A, T[size(A, 1), size(A, 1)] = B, work[99];
    external "FORTRAN 77" dggev("V", "V", n, S, n, T, n, re, im, beta, L, n, R, n, work, 99, info) annotation(Library = "lapack");
  end dggev;
  function dggevx input Real A[:, size(A, 1)]; input Real B[size(A, 1), size(A, 1)]; output Real re[size(A, 1)];
    output Real im[size(A, 1)]; output Real beta[size(A, 1)]; output Real e[size(A, 1)]; output Real v[size(A, 1)];
  protected Integer n = size(A, 1), ilo, ihi, info, iwork[20]; Boolean bwork[20];
    Real S[n, n] = A, T[n, n] = B, L[n, n], R[n, n], ls[n], rs[n], na, nb, work[99];
    external "FORTRAN 77" dggevx("B", "V", "V", "B", n, S, n, T, n, re, im, beta, L, n, R, n, ilo, ihi, ls, rs, na, nb, e, v, work, 99,
      iwork, bwork, info) annotation(Library = "lapack");
  end dggevx;
  function dhgeqz input Real A[:, size(A, 1)]; input Real B[size(A, 1), size(A, 1)]; output Real re[size(A, 1)];
    output Real im[size(A, 1)]; output Real beta[size(A, 1)];
  protected Integer n = size(A, 1), info; Real S[n, n] = A, T[n, n] = B, Q[1, 1], work[99];
    external "FORTRAN 77" dhgeqz("E", "N", "N", n, 1, n, S, n, T, n, re, im, beta, Q, 1, Q, 1, work, 99, info)
      annotation(Library = "lapack");
  end dhgeqz;
  function dtrsm input Real A[:, :]; input Real B[:, :]; input String side; input String uplo; input String trans;
    output Real X[size(B, 1), size(B, 2)] = B;
    external "FORTRAN 77" dtrsm(side, uplo, trans, "N", size(B, 1), size(B, 2), 2.0, A, size(A, 1), X, size(B, 1))
      annotation(Library = "lapack");
  end dtrsm;
  function dgglse input Real A[:, :]; input Real B[:, size(A, 2)]; input Real c[:]; input Real d[:]; output Real x[size(A, 2)];
  protected Real S[size(A, 1), size(A, 2)] = A, T[size(B, 1), size(B, 2)] = B, u[size(c, 1)] = c, v[size(d, 1)] = d, work[50];
    Integer info;
    external "FORTRAN 77" dgglse(size(A, 1), size(A, 2), size(B, 1), S, size(A, 1), T, size(B, 1), u, v, x, work, 50, info)
      annotation(Library = "lapack");
  end dgglse;
  function dtrsyl input Real A[:, :]; input Real B[:, :]; input Real C[:, :]; input Boolean t; input Integer sign;
    output Real X[size(C, 1), size(C, 2)] = C;
  protected Real scale; Integer info; String o = if t then "T" else "N";
    external "FORTRAN 77" dtrsyl(o, o, sign, size(A, 1), size(B, 1), A, size(A, 1), B, size(B, 1), X, size(C, 1), scale, info)
      annotation(Library = "lapack");
  end dtrsyl;
  function dgesvx input Real A[:, size(A, 1)]; input Real B[:, :]; input String trans; output Real X[size(A, 1), size(B, 2)];
    output Real rcond; output Integer info;
  protected Integer n = size(A, 1), p[n], iwork[n]; String equed = " ";
    Real S[n, n] = A, F[n, n], r[n], c[n], T[n, size(B, 2)] = B, fe[size(B, 2)], be[size(B, 2)], work[99];
    external "FORTRAN 77" dgesvx("N", trans, n, size(B, 2), S, n, F, n, p, equed, r, c, T, n, X, n, rcond, fe, be, work, iwork, info)
      annotation(Library = "lapack");
  end dgesvx;
  function fft input Real u[:]; output Real a[div(size(u, 1), 2) + 1]; output Real p[div(size(u, 1), 2) + 1]; output Integer info;
  protected Real work[3*size(u, 1) + 2*(div(size(u, 1), 2) + 1)];
    external "C" info = ModelicaFFT_kiss_fftr(u, size(u, 1), work, size(work, 1), a, p);
  end fft;
  function values "What does not depend on the order of eigenvalues" input Real re[:]; input Real im[:]; output Real y;
  algorithm y := sum(exp(re[k]/8)*cos(im[k]/2) for k in 1:size(re, 1)); end values;
  function ratios "The same, of those that are finite" input Real re[:]; input Real im[:]; input Real beta[:]; output Real y;
  algorithm
    y := sum(if abs(beta[k]) < 1e-9 then 100 else exp(-abs(re[k]/beta[k])/50)*cos(im[k]/beta[k]/20) for k in 1:size(re, 1));
  end ratios;
  function far "How far two matrices are apart" input Real A[:, :]; input Real B[:, :]; output Real y;
  algorithm y := max(max(abs(A[i, j] - B[i, j]) for i in 1:size(A, 1), j in 1:size(A, 2)), 1e-9); end far;
  function all input Real x; output Real y[26];
  protected
    Real A[5, 5] = [x, 1, 0, 2, 1; 2, x, 1, 0, 3; -1, -2, 1, x, 0; 0, 1, -3, 2, 1; 1, 0, x, -2, 4];
    Real B[5, 5] = [4, 1, 0, x, 1; 1, 5, 1, 0, 0; 0, x, 6, 1, 1; 1, 0, 1, 7, 2; 0, 1, 1, 0, 3];
    Real S[5, 5] = [4, 1, 0, x, 1; 1, 5, 1, 0, 0; 0, x, 6, 1, 1; 1, 0, 1, 7, 2; 0, 0, 0, 0, 0];
    Real T[5, 5], Z[5, 5], H[5, 5], Q[5, 5], tau[4], re[5], im[5], beta[5], L[5, 5], R[5, 5], e[5], v[5], s, sep, X[5, 2], a[7], p[7];
    Integer m, info; Boolean choose[5];
  algorithm
    (T, Z, re, im) := dgees(A);
    y[1] := values(re, im) + far(Z*T*transpose(Z), A) + far(Z*transpose(Z), identity(5));
    for k in 1:5 loop choose[k] := re[k] > 2; end for;
    (T, Z, re, im, m, s, sep) := dtrsen(T, Z, choose);
    y[2] := values(re[1:m], im[1:m]) + far(Z*T*transpose(Z), A);
    y[3] := s;
    y[4] := if sep > 0 then m else -m;
    (L, R) := dtrevc(T, Z);
    y[5] := sum(sum(abs(R[i, k]) for i in 1:5)*(if im[k] == 0 then 1 else 0) for k in 1:5);
    y[6] := sum(sum(abs(L[i, k]) for i in 1:5)*(if im[k] == 0 then 1 else 0) for k in 1:5);
    (H, tau) := dgehrd(A);
    y[7] := sum(H) + sum(tau);
    Q := dorghr(H, tau);
    y[8] := sum(Q*[1, 2; 3, 4; 5, 6; 7, 8; 9, x]);
    y[9] := far(dormhr(dormhr(A, H, tau, "L", "T"), H, tau, "R", "N"), transpose(Q)*A*Q) + 1;
    for i in 3:5 loop for j in 1:i - 2 loop H[i, j] := 0; end for; end for;
    (re, im, T, Z) := dhseqr(H, "S", "V", Q);
    y[10] := values(re, im) + far(Z*T*transpose(Z), A);
    (re, im) := dhseqr(H, "E", "N", Q);
    y[11] := values(re, im);
    (re, im, L, R, e, v) := dgeevx(A);
    y[12] := values(re, im) + sum(e);
    y[13] := sum(v);
    y[14] := sum(abs(sum(L[i, k]*R[i, k] for i in 1:5)) for k in 1:5);
    (re, im, beta, L, R, info) := dggev(A, B);
    y[15] := ratios(re, im, beta) + info;
    y[16] := sum(sum(R[i, k]^2 for i in 1:5) + sum(L[i, k]^2 for i in 1:5) for k in 1:5);
    (re, im, beta, e, v) := dggevx(A, B);
    y[17] := ratios(re, im, beta) + sum(e);
    y[18] := sum(v);
    (re, im, beta) := dhgeqz(A, S);
    y[19] := ratios(re, im, beta);
    X := [1, x; 2, 0; 0, 1; x, x; 3, 1];
    y[20] := sum(dtrsm(B, X, "L", "U", "T")) + sum(dtrsm(B, X, "L", "L", "N"));
    y[21] := sum(dtrsm(B, transpose(X), "R", "U", "N")) + sum(dtrsm(B, transpose(X), "R", "L", "T"));
    y[22] := {1, 2, 3, 4, 5}*dgglse(A[1:4, :], B[1:2, :], {1, 2, x, 4}, {3, x});
    y[23] := sum(dtrsyl(B, [2, x; 0, 1], X, false, 1)) + sum(dtrsyl(B, [2, x; 0, 1], X, true, -1));
    (X, s, info) := dgesvx(B, X, "T");
    y[24] := sum(X) + s + info;
    (a, p, info) := fft({x*sin(k) + cos(2*k) + k for k in 1:12});
    y[25] := {1, 2, 3, 4, 5, 6, 7}*a + info;
    y[26] := p[2] + p[3] + p[5];
  end all;
  model M
    Real x(start = 1, fixed = true), y[26] = all(x);
  equation
    der(x) = -x;
  end M;
end P;"#;
    check_model("schur", "P.M", text, 1.0, 100, 1e-7, false);
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
