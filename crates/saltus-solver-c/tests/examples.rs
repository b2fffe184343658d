//! The C examples, compiled by gcc against the static library and run; each judges its own result.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder that cargo puts the libraries in: two above the test's own program.
fn libraries() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().to_path_buf()
}

#[test]
fn c_examples_compile_and_are_right() {
    if Command::new("gcc").arg("--version").output().is_err() {
        return println!("skipped: no gcc");
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let library = ["libsaltus_solver_c.a", "deps/libsaltus_solver_c.a"].map(|p| libraries().join(p));
    let library = library.iter().find(|p| p.exists()).expect("the static library was built");
    for name in ["robertson", "relief_valve", "counter"] {
        let program = std::env::temp_dir().join(format!("saltus-c-{}-{name}", std::process::id()));
        let gcc = Command::new("gcc")
            .args(["-std=c99", "-Wall", "-O1", "-I"])
            .arg(root.join("include"))
            .arg(root.join(format!("examples/{name}.c")))
            .arg(library)
            .args(["-lm", "-lpthread", "-ldl", "-o"])
            .arg(&program)
            .output()
            .unwrap();
        assert!(gcc.status.success(), "{name}: {}", String::from_utf8_lossy(&gcc.stderr));
        let run = Command::new(&program).output().unwrap();
        let text = String::from_utf8_lossy(&run.stdout);
        println!("{name}:\n{text}");
        let _ = std::fs::remove_file(&program);
        assert!(run.status.success(), "{name}: {text}");
    }
}
