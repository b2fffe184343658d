//! The outside world as the class table sees it.

/// Reading files and listing folders. Paths use `/`.
pub trait FileSystem {
    /// The text of a file.
    fn read(&self, path: &str) -> Result<String, String>;
    /// The names of the entries of a folder, sorted; empty if it is none.
    fn list(&self, dir: &str) -> Vec<String>;
    /// Whether a file or folder is there.
    fn exists(&self, path: &str) -> bool;
}

/// The machine's own file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct StdFileSystem;

impl FileSystem for StdFileSystem {
    fn read(&self, path: &str) -> Result<String, String> {
        let bytes = std::fs::read(path).map_err(|e| format!("cannot read {path}: {e}"))?;
        Ok(match String::from_utf8(bytes) {
            Ok(s) => s,
            // Old libraries come in Latin-1.
            Err(e) => e.into_bytes().iter().map(|&b| char::from(b)).collect(),
        })
    }
    fn list(&self, dir: &str) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(dir)
            .map(|it| it.flatten().filter_map(|e| e.file_name().into_string().ok()).collect())
            .unwrap_or_default();
        names.sort();
        names
    }
    fn exists(&self, path: &str) -> bool {
        std::path::Path::new(path).exists()
    }
}
