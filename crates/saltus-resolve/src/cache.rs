//! Parsed library files, kept on disk between runs.
//!
//! There is one *pack* per library: an index of its files (path, size, time of the last change, place and checksum of the
//! tree) and the trees as bytes ([`saltus_syntax::store`]). A file is parsed anew if its size or time differs, if the pack was
//! written by another version, or if anything in it is damaged; a pack never makes a difference to what comes out. Size and
//! time are looked up before the file is read, and files changed a moment ago are not kept: another change might leave both as
//! they are.
//!
//! Packs are replaced as a whole by renaming, so that another process sees the old one or the new one. Of two processes
//! that write at once the later one wins, and what the other had learned is learned again.

use rustc_hash::{FxHashMap, FxHasher};
use saltus_base::FileId;
use saltus_syntax::ast::StoredDefinition;
use saltus_syntax::store;
use std::fs::File;
use std::hash::Hasher;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const MAGIC: &[u8; 8] = b"saltus\x00\x01";
/// Magic, format, length of the index, checksum of the index.
const HEAD: usize = 32;

/// Clocks of file systems tick in steps of milliseconds; a file that has been left alone for this long has settled.
const SETTLED: Duration = Duration::from_millis(50);

/// Trees of one or several libraries, read from and written to packs in a folder.
pub struct TreeCache {
    folder: PathBuf,
    packs: FxHashMap<String, Pack>,
}

#[derive(Default)]
struct Pack {
    /// The pack as it was when this process opened it.
    file: Option<File>,
    index: FxHashMap<String, Entry>,
    /// What this process has parsed.
    fresh: Vec<(String, Stamp, Vec<u8>)>,
}

/// What tells whether a file is still the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stamp {
    size: u64,
    time: u64,
}

#[derive(Clone, Copy)]
struct Entry {
    stamp: Stamp,
    offset: u64,
    length: u64,
    checksum: u64,
}

impl TreeCache {
    /// A cache in a folder, which need not exist yet.
    pub fn new(folder: impl Into<PathBuf>) -> TreeCache {
        TreeCache { folder: folder.into(), packs: FxHashMap::default() }
    }

    /// The tree of a file of the library that lies in `library`, if it is known and the file is still the same.
    pub fn get(&mut self, library: &str, path: &str, file: FileId) -> Option<StoredDefinition> {
        let pack = self.pack(library);
        let entry = *pack.index.get(path)?;
        if Stamp::of(path)? != entry.stamp {
            return None;
        }
        let bytes = entry.bytes(pack.file.as_mut()?)?;
        store::decode(bytes, file)
    }

    /// Remembers the tree of a file that had this stamp before it was read.
    pub fn put(&mut self, library: &str, path: &str, stamp: Stamp, tree: &StoredDefinition) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        if u128::from(stamp.time) + SETTLED.as_nanos() <= now {
            self.pack(library).fresh.push((path.to_string(), stamp, store::encode(tree)));
        }
    }

    fn pack(&mut self, library: &str) -> &mut Pack {
        if !self.packs.contains_key(library) {
            let pack = Pack::open(&pack_path(&self.folder, library)).unwrap_or_default();
            self.packs.insert(library.to_string(), pack);
        }
        self.packs.entry(library.to_string()).or_default()
    }

    /// Writes what was learned. That a cache cannot be written is no error.
    pub fn save(&mut self) {
        for (library, pack) in &mut self.packs {
            if !pack.fresh.is_empty() {
                let path = pack_path(&self.folder, library);
                let _ = std::fs::create_dir_all(&self.folder);
                let _ = write_pack(&path, std::mem::take(&mut pack.fresh));
                *pack = Pack::open(&path).unwrap_or_default();
            }
        }
    }
}

impl Pack {
    fn open(path: &Path) -> Option<Pack> {
        let mut file = File::open(path).ok()?;
        let mut head = [0; HEAD];
        file.read_exact(&mut head).ok()?;
        let word = |k: usize| head[k..k + 8].try_into().map(u64::from_le_bytes).ok();
        if &head[..8] != MAGIC || word(8)? != store::format() {
            return None;
        }
        let length = word(16)?;
        if length > file.metadata().ok()?.len() {
            return None;
        }
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        file.read_exact(&mut bytes).ok()?;
        if checksum(&bytes) != word(24)? {
            return None;
        }
        let mut index = FxHashMap::default();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let (numbers, tail) = rest.split_at_checked(48)?;
            let word = |k: usize| numbers[8 * k..8 * k + 8].try_into().map(u64::from_le_bytes).ok();
            let (name, tail) = tail.split_at_checked(usize::try_from(word(5)?).ok()?)?;
            let stamp = Stamp { size: word(0)?, time: word(1)? };
            let entry = Entry { stamp, offset: word(2)?, length: word(3)?, checksum: word(4)? };
            index.insert(std::str::from_utf8(name).ok()?.to_string(), entry);
            rest = tail;
        }
        Some(Pack { file: Some(file), index, fresh: Vec::new() })
    }
}

impl Entry {
    fn bytes(&self, file: &mut File) -> Option<Vec<u8>> {
        let end = self.offset.checked_add(self.length)?;
        if end > file.metadata().ok()?.len() {
            return None;
        }
        let mut bytes = vec![0; usize::try_from(self.length).ok()?];
        file.seek(SeekFrom::Start(self.offset)).ok()?;
        file.read_exact(&mut bytes).ok()?;
        (checksum(&bytes) == self.checksum).then_some(bytes)
    }
}

/// Joins what is new with what the pack on disk holds by now.
fn write_pack(path: &Path, fresh: Vec<(String, Stamp, Vec<u8>)>) -> std::io::Result<()> {
    let mut all: FxHashMap<String, (Stamp, Vec<u8>)> = FxHashMap::default();
    if let Some(Pack { file: Some(mut file), index, .. }) = Pack::open(path) {
        for (name, entry) in index {
            if let Some(bytes) = entry.bytes(&mut file) {
                all.insert(name, (entry.stamp, bytes));
            }
        }
    }
    all.extend(fresh.into_iter().map(|(name, stamp, bytes)| (name, (stamp, bytes))));
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    let index_length: usize = all.iter().map(|(name, _)| 48 + name.len()).sum();
    let mut offset = (HEAD + index_length) as u64;
    let mut index = Vec::with_capacity(index_length);
    for (name, (stamp, bytes)) in &all {
        let length = bytes.len() as u64;
        for word in [stamp.size, stamp.time, offset, length, checksum(bytes), name.len() as u64] {
            index.extend(word.to_le_bytes());
        }
        index.extend(name.as_bytes());
        offset += length;
    }
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let temporary = path.with_extension(format!("{}-{count}.part", std::process::id()));
    let mut out = std::io::BufWriter::new(File::create(&temporary)?);
    out.write_all(MAGIC)?;
    for word in [store::format(), index.len() as u64, checksum(&index)] {
        out.write_all(&word.to_le_bytes())?;
    }
    out.write_all(&index)?;
    for (_, (_, bytes)) in &all {
        out.write_all(bytes)?;
    }
    let done = out.into_inner().map_err(|e| e.into_error()).and_then(|_| std::fs::rename(&temporary, path));
    if done.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    done
}

fn pack_path(folder: &Path, library: &str) -> PathBuf {
    let whole = std::fs::canonicalize(library).unwrap_or_else(|_| library.into());
    // Entries are named by the path that this process uses.
    let key = checksum(format!("{}\n{library}", whole.display()).as_bytes());
    let name: String = whole.file_name().unwrap_or_default().to_string_lossy().into_owned();
    folder.join(format!("{name}-{key:016x}.trees"))
}

impl Stamp {
    /// The stamp that a file has now.
    pub fn of(path: &str) -> Option<Stamp> {
        let data = std::fs::metadata(path).ok()?;
        let time = data.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(Stamp { size: data.len(), time: u64::try_from(time.as_nanos()).ok()? })
    }
}

fn checksum(bytes: &[u8]) -> u64 {
    let mut h = FxHasher::default();
    h.write(bytes);
    h.finish()
}

#[cfg(test)]
mod tests {
    use crate::{ClassTable, StdFileSystem};
    use std::path::{Path, PathBuf};

    fn library(name: &str) -> PathBuf {
        let root = std::env::temp_dir().join(format!("saltus-trees-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        let lib = root.join("Lib");
        assert!(std::fs::create_dir_all(&lib).is_ok());
        write(&lib.join("package.mo"), "package Lib end Lib;");
        write(&lib.join("A.mo"), "within Lib; model A Real x = 1; end A;");
        write(&lib.join("B.mo"), "within Lib; model B Real x = ; end B;");
        std::thread::sleep(2 * super::SETTLED);
        root
    }

    fn write(path: &Path, text: &str) {
        assert!(std::fs::write(path, text).is_ok());
    }

    /// What comes of `Lib.A`, how many errors `Lib.B` has, and how many texts were read.
    fn look(root: &Path) -> (String, usize, usize) {
        let table = ClassTable::new(StdFileSystem).cached(root.join("cache"));
        table.add_path(root.to_string_lossy());
        let text = match table.class_named("Lib.A") {
            Some(id) => format!("{:?} in {}", table.def(id).body, table.sources().describe(table.def(id).span)),
            None => String::new(),
        };
        table.class_named("Lib.B");
        let errors = table.take_diagnostics().len();
        table.save_cache();
        let read = table.parsed();
        (text, errors, read)
    }

    fn pack(root: &Path) -> PathBuf {
        let Ok(mut files) = std::fs::read_dir(root.join("cache")) else { panic!("no cache") };
        let Some(Ok(f)) = files.next() else { panic!("no pack") };
        assert!(files.next().is_none(), "one pack, and nothing left over");
        f.path()
    }

    #[test]
    fn the_second_look_parses_nothing_but_what_is_wrong() {
        let root = library("second");
        let first = look(&root);
        assert_eq!((first.1, first.2), (1, 3));
        // Errors must be told again: such files are not kept.
        assert_eq!(look(&root), (first.0.clone(), 1, 1));
        // A changed file is parsed anew.
        write(&root.join("Lib/A.mo"), "within Lib;\nmodel A Real y = 2.5; end A;");
        assert_eq!(look(&root).2, 2, "changed a moment ago");
        std::thread::sleep(2 * super::SETTLED);
        let third = look(&root);
        assert_eq!((third.1, third.2), (1, 2));
        assert!(third.0.contains("2.5"), "{}", third.0);
        assert_eq!(look(&root), (third.0, 1, 1));
        let _ = std::fs::remove_dir_all(root);
    }

    #[test]
    fn a_damaged_pack_changes_nothing() {
        let root = library("damaged");
        let first = look(&root);
        let path = pack(&root);
        let Ok(good) = std::fs::read(&path) else { panic!("no pack") };
        for k in (0..good.len()).step_by(7) {
            let mut bad = good.clone();
            bad[k] ^= 0x55;
            assert!(std::fs::write(&path, &bad).is_ok());
            let now = look(&root);
            assert_eq!((&now.0, now.1), (&first.0, 1), "byte {k}");
            // What was damaged is repaired.
            assert_eq!(look(&root).2, 1, "byte {k}");
        }
        for cut in [0, 5, 20, 40, 100, good.len() - 1] {
            assert!(std::fs::write(&path, &good[..cut]).is_ok());
            let now = look(&root);
            assert_eq!((&now.0, now.1), (&first.0, 1), "cut at {cut}");
        }
        let _ = std::fs::remove_dir_all(root);
    }

    #[test]
    fn processes_at_the_same_time() {
        let root = library("together");
        let first = look(&root);
        std::thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| {
                    for _ in 0..20 {
                        let _ = std::fs::remove_file(pack_if_any(&root));
                        let now = look(&root);
                        assert_eq!((&now.0, now.1), (&first.0, 1));
                    }
                });
            }
        });
        let _ = std::fs::remove_dir_all(root);
    }

    fn pack_if_any(root: &Path) -> PathBuf {
        let found = std::fs::read_dir(root.join("cache")).ok().and_then(|mut f| f.next()).and_then(Result::ok);
        found.map(|f| f.path()).unwrap_or_default()
    }
}
