//! What the tests of the whole product have in common: they run the `saltus` binary and look at what comes out.
//!
//! * [`problems`]: `tests/problems/<name>/{model.mo, case.json}`, trajectories with known answers;
//! * [`suite`]: `tests/suite/<area>/*.mo`, sections of Modelica text with the dump or the error they must give.
//!
//! Both are driven by an integration test of this crate. They use the binary that lies beside the test executable
//! (`target/release/saltus`), so that has to be built first; `make test` does.

pub mod problems;
pub mod process;
pub mod suite;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, io, process as std_process, thread};

/// How many programs run at the same time.
pub const THREADS: usize = 2;

/// The root of the project: the nearest folder above the current one that has a folder `tests/problems`.
pub fn project_root() -> Result<PathBuf, String> {
    let here = env::current_dir().map_err(|e| e.to_string())?;
    let root = here.ancestors().find(|dir| dir.join("tests/problems").is_dir());
    root.map(Path::to_path_buf).ok_or_else(|| format!("no tests/problems above {}", here.display()))
}

/// The binary that was built into the same target folder and profile as the running test.
pub fn saltus_binary() -> Result<PathBuf, String> {
    let test = env::current_exe().map_err(|e| e.to_string())?;
    let folder = test.parent().and_then(Path::parent).ok_or("the test executable has no folder")?;
    let binary = folder.join(format!("saltus{}", env::consts::EXE_SUFFIX));
    if binary.is_file() {
        Ok(binary)
    } else {
        Err(format!("there is no {}; build it first: make test, or cargo build --release", binary.display()))
    }
}

/// The names in the environment variable `SALTUS_ONLY` (separated by commas); without it, everything is wanted.
pub fn is_wanted(name: &str) -> bool {
    match env::var("SALTUS_ONLY") {
        Ok(only) if !only.trim().is_empty() => only.split(',').any(|o| o.trim() == name),
        _ => true,
    }
}

/// Applies `work` to all items on [`THREADS`] threads; the results are in the order of the items.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<R>>> = Mutex::new(items.iter().map(|_| None).collect());
    thread::scope(|scope| {
        for _ in 0..THREADS.min(items.len()) {
            scope.spawn(|| {
                while let Some((k, item)) = {
                    let k = next.fetch_add(1, Ordering::Relaxed);
                    items.get(k).map(|item| (k, item))
                } {
                    let result = work(item);
                    results.lock().expect("no worker panicked")[k] = Some(result);
                }
            });
        }
    });
    results.into_inner().expect("no worker panicked").into_iter().map(|r| r.expect("every item was done")).collect()
}

/// A folder of its own that disappears with the value.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes a new empty folder.
    pub fn new() -> io::Result<Scratch> {
        static COUNTER: AtomicUsize = AtomicUsize::new(0);
        let name = format!("saltus-test-{}-{}", std_process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
        let path = env::temp_dir().join(name);
        fs::create_dir_all(&path)?;
        Ok(Scratch(path))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_work_keeps_its_order() {
        let items: Vec<usize> = (0..100).collect();
        assert_eq!(in_parallel(&items, |k| k * k), items.iter().map(|k| k * k).collect::<Vec<_>>());
        assert!(in_parallel(&[] as &[u8], |k| *k).is_empty());
    }

    #[test]
    fn scratch_folders_differ_and_go_away() {
        let (a, b) = (Scratch::new().unwrap(), Scratch::new().unwrap());
        assert_ne!(a.path(), b.path());
        let path = a.path().to_path_buf();
        drop(a);
        assert!(!path.exists() && b.path().exists());
    }
}
