//! The files of the libraries under `MODELICAPATH`, if that is set.

use crate::{parsed, render};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        std::fs::read_dir(path).into_iter().flatten().flatten().for_each(|e| collect(&e.path(), files));
    } else if path.extension().is_some_and(|e| e == "mo") {
        files.push(path.to_path_buf());
    }
}

fn texts() -> Vec<(PathBuf, String)> {
    let Some(roots) = std::env::var_os("MODELICAPATH") else {
        println!("skipped: MODELICAPATH is not set");
        return Vec::new();
    };
    let mut files = Vec::new();
    std::env::split_paths(&roots).for_each(|r| collect(&r, &mut files));
    files.sort();
    files.into_iter().filter_map(|f| std::fs::read_to_string(&f).ok().map(|t| (f, t))).collect()
}

#[test]
fn parses_without_a_word() {
    let texts = texts();
    let mut time = Duration::ZERO;
    let mut wrong = String::new();
    for (path, text) in &texts {
        let started = Instant::now();
        let tree = saltus_syntax::parse(saltus_base::FileId(0), text);
        time += started.elapsed();
        if !tree.diagnostics.is_empty() {
            wrong += &format!("{}\n{}", path.display(), render(text, &tree.diagnostics));
        }
        assert_eq!(tree.tokens.iter().map(|t| t.text(text)).collect::<String>(), *text);
    }
    println!("{} files parsed in {:.3} s", texts.len(), time.as_secs_f64());
    assert!(wrong.is_empty(), "{wrong}");
}

/// Printed expressions read back print the same: `Display` and the parser agree on precedence.
#[test]
fn dumps_are_stable() {
    for (path, text) in texts() {
        let tree = saltus_syntax::parse(saltus_base::FileId(0), &text);
        for line in saltus_syntax::dump(&tree.root).lines() {
            let Some((_, right)) = line.trim().split_once(" := ").or_else(|| line.trim().split_once(" = ")) else {
                continue;
            };
            let (expr, diagnostics) = saltus_syntax::parse_expression(saltus_base::FileId(0), right);
            if diagnostics.is_empty() {
                assert_eq!(expr.to_string(), right, "{}", path.display());
            }
        }
    }
}

#[test]
fn cut_anywhere() {
    // A fixed sequence of places: failures can be repeated.
    let mut state = 0x2545_f491_4f6c_dd1du64;
    for (_, text) in texts() {
        for _ in 0..4 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let mut cut = state as usize % (text.len() + 1);
            while !text.is_char_boundary(cut) {
                cut -= 1;
            }
            parsed(&text[..cut]);
            let mut from = cut / 2;
            while !text.is_char_boundary(from) {
                from -= 1;
            }
            parsed(&format!("{}{}", &text[..from], &text[cut..]));
        }
    }
}
