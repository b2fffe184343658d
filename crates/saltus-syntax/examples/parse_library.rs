//! Parses every `.mo` file under the folders of `MODELICAPATH` (or the arguments) and prints count, time and errors.

use saltus_base::{Severity, SourceMap};
use std::path::{Path, PathBuf};
use std::time::Instant;

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let mut entries: Vec<_> = std::fs::read_dir(path).into_iter().flatten().flatten().map(|e| e.path()).collect();
        entries.sort();
        entries.iter().for_each(|e| collect(e, files));
    } else if path.extension().is_some_and(|e| e == "mo") {
        files.push(path.to_path_buf());
    }
}

fn main() {
    let mut roots: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if roots.is_empty() {
        roots = std::env::var_os("MODELICAPATH").iter().flat_map(std::env::split_paths).collect();
    }
    let mut files = Vec::new();
    roots.iter().for_each(|r| collect(r, &mut files));
    let started = Instant::now();
    let mut map = SourceMap::default();
    let mut ids = Vec::new();
    for file in &files {
        let bytes = std::fs::read(file).unwrap_or_default();
        ids.push(map.add(file.display().to_string(), String::from_utf8_lossy(&bytes)));
    }
    let read = started.elapsed();
    let started = Instant::now();
    let trees: Vec<_> =
        ids.iter().map(|&id| saltus_syntax::parse(id, map.get(id).expect("just added").text())).collect();
    let parsed = started.elapsed();
    let bytes: usize = ids.iter().map(|&id| map.get(id).expect("just added").text().len()).sum();
    let diagnostics = trees.iter().flat_map(|t| &t.diagnostics);
    let mut count = 0;
    for d in diagnostics {
        count += 1;
        let severity = if d.severity == Severity::Error { "error" } else { "warning" };
        println!("{}: {severity}: {}", map.describe(d.span), d.message);
    }
    let tokens: usize = trees.iter().map(|t| t.tokens.len()).sum();
    println!(
        "{} files, {:.1} MB, {tokens} tokens: read {:.3} s, parsed {:.3} s; {count} diagnostics",
        files.len(),
        bytes as f64 / 1e6,
        read.as_secs_f64(),
        parsed.as_secs_f64()
    );
}
