//! `measure PROBLEM METHOD RTOL REPETITIONS` runs one case here; without arguments, the whole comparison.

use std::process::Command;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [problem, method, rtol, reps] = &args[..] {
        let m = saltus_bench::measure(problem, method, rtol.parse().unwrap(), reps.parse().unwrap()).unwrap();
        return println!("{}", m.to_line());
    }
    if args.first().is_some_and(|a| a == "digits") {
        return print!("{}", saltus_bench::classical::table());
    }
    let folder = std::env::temp_dir();
    let theirs = saltus_bench::compile_sundials(&folder).map_err(|e| eprintln!("no SUNDIALS: {e}")).ok();
    let this = std::env::current_exe().unwrap();
    let ours = |p: &str, m: &str, rtol: f64, reps: usize| {
        let mut c = Command::new(&this);
        c.args([p, m, &format!("{rtol:e}"), &reps.to_string()]);
        c
    };
    let filter = args.first().map_or("", String::as_str);
    let rows = saltus_bench::compare(filter, ours, theirs.as_deref()).unwrap();
    print!("{}", saltus_bench::table(&rows));
}
