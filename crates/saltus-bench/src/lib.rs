//! Saltus's integrators beside CVODE and IDA of SUNDIALS: the same problems as native code on both sides, the same
//! tolerances, each measurement in a process of its own.
//!
//! [`measure`] runs one case here and is what the child process calls; [`compare`] starts the children, compiles
//! `sundials.c` where the library is installed, and puts the numbers side by side.

pub mod classical;
mod problems;

use problems::Run;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// One comparison.
pub struct Case {
    /// The problem's name, on both sides.
    pub problem: &'static str,
    /// Our method.
    pub method: &'static str,
    /// Their program.
    pub theirs: &'static str,
    /// What the ratio of time per digit should not exceed.
    pub target: f64,
    /// Repetitions of one measurement, of which the fastest counts.
    repetitions: usize,
}

/// All comparisons.
pub const CASES: &[Case] = &[
    Case { problem: "robertson", method: "bdf", theirs: "CVODE", target: 1.0, repetitions: 20 },
    Case { problem: "robertson", method: "radau", theirs: "CVODE", target: 1.0, repetitions: 20 },
    Case { problem: "robertson-dae", method: "dae-bdf", theirs: "IDA", target: 1.0, repetitions: 20 },
    Case { problem: "reaction-diffusion", method: "bdf", theirs: "CVODE", target: 1.0, repetitions: 2 },
    Case { problem: "circuit", method: "dae-bdf", theirs: "IDA", target: 1.0, repetitions: 5 },
    Case { problem: "jumps", method: "esdirk", theirs: "CVODE", target: 0.5, repetitions: 10 },
    Case { problem: "jumps", method: "rosenbrock", theirs: "CVODE", target: 0.5, repetitions: 10 },
    Case { problem: "jumps", method: "radau", theirs: "CVODE", target: 0.5, repetitions: 10 },
    Case { problem: "jumps", method: "bdf", theirs: "CVODE", target: 0.5, repetitions: 10 },
];

/// Relative tolerances of the comparison.
pub const TOLERANCES: &[f64] = &[1e-4, 1e-6, 1e-8];

/// Numbers of one side of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Seconds of processor time of the fastest repetition.
    pub seconds: f64,
    /// Accepted steps.
    pub steps: usize,
    /// Evaluations of f or F.
    pub evaluations: usize,
    /// Jacobians.
    pub jacobians: usize,
    /// Growth of the process's memory in kilobytes.
    pub kilobytes: f64,
    /// Values at the end.
    pub values: Vec<f64>,
}

impl Measured {
    /// As one line: numbers separated by blanks.
    pub fn to_line(&self) -> String {
        let Measured { seconds, steps, evaluations, jacobians, kilobytes, values } = self;
        let mut line = format!("{seconds:e} {steps} {evaluations} {jacobians} {kilobytes}");
        values.iter().for_each(|v| line += &format!(" {v:e}"));
        line
    }

    fn from_line(line: &str) -> Option<Measured> {
        let v: Vec<f64> = line.split_whitespace().map(|w| w.parse().ok()).collect::<Option<_>>()?;
        let [seconds, steps, evaluations, jacobians, kilobytes, values @ ..] = &v[..] else { return None };
        Some(Measured {
            seconds: *seconds,
            steps: *steps as usize,
            evaluations: *evaluations as usize,
            jacobians: *jacobians as usize,
            kilobytes: *kilobytes,
            values: values.to_vec(),
        })
    }
}

fn memory(key: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix(key));
    line.and_then(|l| l.trim().strip_suffix("kB")?.trim().parse().ok()).unwrap_or(0.0)
}

/// Seconds of processor time that this process has used: on a busy machine the clock on the wall tells nothing.
pub fn processor_seconds() -> f64 {
    #[cfg(target_os = "linux")]
    {
        #[repr(C)]
        struct Time {
            seconds: i64,
            nanoseconds: i64,
        }
        unsafe extern "C" {
            fn clock_gettime(clock: i32, time: *mut Time) -> i32;
        }
        const CLOCK_PROCESS_CPUTIME_ID: i32 = 2;
        let mut t = Time { seconds: 0, nanoseconds: 0 };
        // SAFETY: the C library fills the struct, whose layout is that of `timespec` on 64-bit Linux.
        if unsafe { clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &mut t) } == 0 {
            return t.seconds as f64 + 1e-9 * t.nanoseconds as f64;
        }
    }
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    START.elapsed().as_secs_f64()
}

fn run(problem: &str, method: &str, rtol: f64) -> Result<Run, String> {
    match problem {
        "robertson" => problems::robertson(method, rtol),
        "robertson-dae" => problems::robertson_dae(rtol),
        "reaction-diffusion" => problems::diffusion(method, rtol),
        "circuit" => problems::circuit(rtol),
        "jumps" => problems::jumps(method, rtol),
        _ => return Err(format!("unknown problem {problem}")),
    }
    .map_err(|e| e.to_string())
}

/// Runs a case in this process.
pub fn measure(problem: &str, method: &str, rtol: f64, repetitions: usize) -> Result<Measured, String> {
    // A small run of either kind first: pages of code are no workspace.
    run("robertson", "bdf", 1e-4)?;
    run("robertson-dae", "", 1e-4)?;
    let before = memory("VmRSS:");
    let (mut seconds, mut kilobytes, mut last) = (f64::INFINITY, None, None);
    for _ in 0..repetitions.max(1) {
        let start = processor_seconds();
        let r = run(problem, method, rtol)?;
        seconds = seconds.min(processor_seconds() - start);
        kilobytes.get_or_insert_with(|| memory("VmHWM:") - before);
        last = Some(r);
    }
    let Run { steps, evaluations, jacobians, values } = last.expect("at least one repetition");
    Ok(Measured { seconds, steps, evaluations, jacobians, kilobytes: kilobytes.unwrap_or(0.0), values })
}

/// Correct digits of the worst component: relative to it for Robertson, to the largest otherwise.
pub fn digits(problem: &str, values: &[f64], reference: &[f64]) -> f64 {
    let largest = reference.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let componentwise = problem.starts_with("robertson");
    let error = values
        .iter()
        .zip(reference)
        .map(|(v, r)| (v - r).abs() / if componentwise { r.abs() } else { largest })
        .fold(0.0, f64::max);
    -error.max(1e-16).log10()
}

/// The exact end values, from the literature or from a much sharper run of two methods that agree.
fn reference(problem: &str) -> Result<Vec<f64>, String> {
    Ok(match problem {
        "robertson" | "robertson-dae" => vec![2.083340149701255e-8, 8.333360770334713e-14, 0.999999979166505],
        "jumps" => run(problem, "radau", 1e-12)?.values,
        "circuit" => run(problem, "dae-bdf", 1e-11)?.values,
        _ => run(problem, "bdf", 1e-10)?.values,
    })
}

/// Compiles `sundials.c` into the folder; `Err` says what is missing. `SUNDIALS_DIR` may name an installation.
pub fn compile_sundials(folder: &Path) -> Result<PathBuf, String> {
    let (source, program) = (folder.join("sundials.c"), folder.join("sundials"));
    std::fs::write(&source, include_str!("sundials.c")).map_err(|e| e.to_string())?;
    let mut gcc = Command::new("gcc");
    gcc.args(["-O2", "-o"]).arg(&program).arg(&source);
    if let Some(dir) = std::env::var_os("SUNDIALS_DIR").map(PathBuf::from) {
        gcc.arg("-I").arg(dir.join("include")).arg("-I").arg(dir.join("include/suitesparse"));
        for lib in ["lib", "lib/x86_64-linux-gnu"] {
            let lib = dir.join(lib);
            gcc.arg("-L").arg(&lib).arg(format!("-Wl,--disable-new-dtags,-rpath,{}", lib.display()));
        }
    } else {
        gcc.args(["-I", "/usr/include/suitesparse"]);
    }
    for lib in [
        "sundials_cvode",
        "sundials_ida",
        "sundials_sunlinsolklu",
        "sundials_sunlinsoldense",
        "sundials_sunmatrixsparse",
        "sundials_sunmatrixdense",
        "sundials_nvecserial",
        "sundials_generic",
        "klu",
        "m",
    ] {
        gcc.arg(format!("-l{lib}"));
    }
    let done = gcc.output().map_err(|e| format!("gcc: {e}"))?;
    if done.status.success() {
        return Ok(program);
    }
    let text = String::from_utf8_lossy(&done.stderr);
    Err(text.lines().find(|l| l.contains("error")).unwrap_or("gcc failed").to_string())
}

/// One row of the comparison.
pub struct Row {
    /// Which comparison.
    pub case: &'static Case,
    /// Relative tolerance on both sides.
    pub rtol: f64,
    /// Our numbers and digits.
    pub ours: (Measured, f64),
    /// Theirs, where SUNDIALS is installed.
    pub theirs: Option<(Measured, f64)>,
}

impl Row {
    /// Time per correct digit, ours to theirs.
    pub fn time_per_digit(&self) -> Option<f64> {
        let (t, d) = self.theirs.as_ref()?;
        Some((self.ours.0.seconds / self.ours.1.max(0.1)) / (t.seconds / d.max(0.1)))
    }
}

fn child(mut command: Command) -> Result<Measured, String> {
    let out = command.output().map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&out.stdout);
    Measured::from_line(&text)
        .filter(|_| out.status.success())
        .ok_or_else(|| format!("{command:?}: {text}{}", String::from_utf8_lossy(&out.stderr)))
}

/// Runs all cases whose problem contains `filter`. `ours` gives the command that calls [`measure`] and prints its line;
/// `theirs` is the compiled `sundials.c`, if there is one.
pub fn compare(
    filter: &str,
    ours: impl Fn(&str, &str, f64, usize) -> Command,
    theirs: Option<&Path>,
) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    let mut exact: Option<(&str, Vec<f64>)> = None;
    for case in CASES.iter().filter(|c| c.problem.contains(filter)) {
        if exact.as_ref().is_none_or(|e| e.0 != case.problem) {
            exact = Some((case.problem, reference(case.problem)?));
        }
        let exact = &exact.as_ref().expect("just set").1;
        for &rtol in TOLERANCES {
            let reps = case.repetitions;
            // Alternating, so that a disturbance of the machine hits both sides.
            let mut best: (Option<Measured>, Option<Measured>) = (None, None);
            let keep = |best: &mut Option<Measured>, m: Measured| {
                if best.as_ref().is_none_or(|b| m.seconds < b.seconds) {
                    *best = Some(m);
                }
            };
            for _ in 0..3 {
                keep(&mut best.0, child(ours(case.problem, case.method, rtol, reps))?);
                if let Some(program) = theirs {
                    let mut c = Command::new(program);
                    c.arg(case.problem).arg(format!("{rtol:e}")).arg(reps.to_string());
                    keep(&mut best.1, child(c)?);
                }
            }
            let with_digits = |m: Measured| {
                let d = digits(case.problem, &m.values, exact);
                (m, d)
            };
            let (a, b) = best;
            let ours = with_digits(a.expect("measured"));
            rows.push(Row { case, rtol, ours, theirs: b.map(with_digits) });
        }
    }
    Ok(rows)
}

/// The rows as a Markdown table: ours, and the ratio to theirs.
pub fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "| problem | ours : theirs | rtol | digits | steps | evaluations | time | time per digit | target | memory |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    for r in rows {
        let (o, d) = &r.ours;
        text += &format!("| {} | {} : {} | {:.0e} ", r.case.problem, r.case.method, r.case.theirs, r.rtol);
        text += &match &r.theirs {
            Some((t, td)) => format!(
                "| {d:.1} : {td:.1} | {} : {} | {} : {} | {:.2} | **{:.2}** | {} | {} |\n",
                o.steps,
                t.steps,
                o.evaluations,
                t.evaluations,
                o.seconds / t.seconds,
                r.time_per_digit().unwrap_or(f64::NAN),
                r.case.target,
                if t.kilobytes > 1000.0 { format!("{:.2}", o.kilobytes / t.kilobytes) } else { "small".into() },
            ),
            None => {
                format!(
                    "| {d:.1} | {} | {} | {:.3} ms | | {} | |\n",
                    o.steps,
                    o.evaluations,
                    1e3 * o.seconds,
                    r.case.target
                )
            }
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_reaches_digits_near_its_tolerance() {
        for c in CASES.iter().filter(|c| c.problem != "reaction-diffusion") {
            let exact = reference(c.problem).unwrap();
            let m = measure(c.problem, c.method, 1e-6, 1).unwrap();
            let d = digits(c.problem, &m.values, &exact);
            assert!(d > 3.5, "{} {}: {d} digits", c.problem, c.method);
            assert_eq!(Measured::from_line(&m.to_line()), Some(m));
        }
    }

    #[test]
    fn two_methods_agree_on_the_reference_of_the_jumps() {
        let (a, b) = (run("jumps", "radau", 1e-12).unwrap(), run("jumps", "rosenbrock", 1e-11).unwrap());
        assert!(digits("jumps", &a.values, &b.values) > 8.0, "{:?} {:?}", a.values, b.values);
    }
}
