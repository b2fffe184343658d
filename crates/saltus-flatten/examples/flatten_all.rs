//! `flatten_all PATH LIST.json|NAME… [--dump]`: flattens each model and reports time, balance and the first error.

use saltus_base::Severity;
use saltus_dae::{Action, HybridDae, Variability};
use saltus_flatten::{FlattenOptions, flatten};
use saltus_resolve::{ClassTable, StdFileSystem};
use std::collections::BTreeMap;

/// Unknowns and equations, counted per scalar; if-equations by their largest branch.
fn balance(dae: &HybridDae) -> (usize, usize) {
    let unknowns = dae
        .vars
        .iter()
        .filter(|(id, v)| {
            !HybridDae::is_builtin(*id)
                && v.variability >= Variability::Discrete
                && v.causality != saltus_dae::Causality::Input
        })
        .count();
    let mut equations = dae.equations.as_slice().iter().filter(|e| e.guard.is_none()).count();
    let mut branches: BTreeMap<usize, BTreeMap<u32, usize>> = BTreeMap::new();
    for e in dae.equations.as_slice() {
        if let Some((g, b)) = e.guard {
            *branches.entry(g.index()).or_default().entry(b).or_default() += 1;
        }
    }
    let mut own: BTreeMap<usize, BTreeMap<u32, usize>> = branches;
    for i in (0..dae.ifs.len()).rev() {
        let n = own.get(&i).and_then(|b| b.values().max().copied()).unwrap_or(0);
        match dae.ifs.as_slice()[i].parent {
            Some((p, b)) => *own.entry(p.index()).or_default().entry(b).or_default() += n,
            None => equations += n,
        }
    }
    equations += dae.calls.iter().map(|c| c.outputs.len()).sum::<usize>();
    equations += dae.samplers.len();
    for w in &dae.whens {
        let mut vars = std::collections::BTreeSet::new();
        for b in &w.branches {
            for a in &b.actions {
                match a {
                    Action::Assign { var, .. } => {
                        vars.insert(*var);
                    }
                    Action::Call { outputs, .. } => vars.extend(outputs.iter().flatten().copied()),
                    _ => {}
                }
            }
        }
        equations += vars.len();
    }
    (unknowns, equations)
}

fn run() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let dump = args.iter().any(|a| a == "--dump");
    let args: Vec<&String> = args.iter().filter(|a| !a.starts_with("--")).collect();
    let Some((path, rest)) = args.split_first() else {
        eprintln!("usage: flatten_all PATH LIST.json|FILE.mo|NAME…");
        return;
    };
    let mut names: Vec<(Option<String>, String)> = Vec::new();
    for r in rest {
        if r.ends_with(".json") {
            let text = std::fs::read_to_string(r).unwrap_or_default();
            names.extend(text.split('"').skip(1).step_by(2).map(|s| (None, s.to_string())));
        } else if let Some((file, model)) = r.split_once(':') {
            names.push((Some(file.to_string()), model.to_string()));
        } else {
            names.push((None, r.to_string()));
        }
    }
    let fresh = names.len() < 5;
    let new = || {
        let t = ClassTable::new(StdFileSystem);
        t.add_path(path.as_str());
        t
    };
    let mut table = new();
    let (mut ok, mut balanced) = (0, 0);
    let total = std::time::Instant::now();
    for (file, name) in &names {
        if fresh {
            table = new();
        }
        if let Some(f) = file
            && let Err(e) = table.load_file(f)
        {
            eprintln!("{e}");
        }
        let began = std::time::Instant::now();
        let (dae, diagnostics) = flatten(&table, name, &FlattenOptions::default());
        let time = began.elapsed().as_secs_f64();
        match &dae {
            Some(d) => {
                ok += 1;
                let (u, e) = balance(d);
                balanced += usize::from(u == e);
                println!("{} {name} vars={u} eqs={e} {time:.2}s", if u == e { "ok " } else { "UNB" });
                if dump {
                    println!("{}", saltus_dae::print(d));
                }
            }
            None => {
                let list: Vec<_> = diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
                let n = if dump { 20 } else { 1 };
                for d in list.iter().take(n) {
                    println!(
                        "ERR {name} ({}) {}: {} [{}] {time:.2}s",
                        list.len(),
                        table.sources().describe(d.span),
                        d.message,
                        d.instance
                    );
                    if dump {
                        for l in &d.labels {
                            println!("      {}: {}", table.sources().describe(l.span), l.message);
                        }
                        for h in &d.hints {
                            println!("      hint: {h}");
                        }
                    }
                }
            }
        }
        if dump {
            for d in diagnostics.iter().filter(|d| d.severity == Severity::Warning) {
                println!("warning {}: {} [{}]", table.sources().describe(d.span), d.message, d.instance);
            }
        }
    }
    println!(
        "TOTAL {} models, {ok} flattened, {balanced} balanced, {:.1}s",
        names.len(),
        total.elapsed().as_secs_f64()
    );
}

fn main() {
    let t = std::thread::Builder::new().stack_size(1 << 30).spawn(run);
    if let Ok(t) = t {
        let _ = t.join();
    }
}
