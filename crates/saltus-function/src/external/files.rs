//! Matrices in files: the library's text format, comma separated values, and MATLAB level 4 and 5 (`-v6`, `-v7`).

use super::tables::Matrix;
use super::{ExtArg, ExtDerivative, ExtResult, External, array, num, set_array, string};

/// A matrix by name from a file of any known format.
pub(super) fn read_table(file: &str, name: &str, delimiter: &str, header: usize) -> Result<Matrix, String> {
    let path = file.strip_prefix("file://").unwrap_or(file);
    let bytes = std::fs::read(path).map_err(|e| format!("the file {path} cannot be read: {e}"))?;
    let lower = path.to_ascii_lowercase();
    if lower.ends_with(".csv") {
        let text = String::from_utf8_lossy(&bytes);
        return parse_csv(&text, delimiter, header).map_err(|m| format!("{path}: {m}"));
    }
    if lower.ends_with(".mat") {
        return read_mat4(&bytes, name).map_err(|m| format!("{path}: {m}"));
    }
    parse_text(&String::from_utf8_lossy(&bytes), name).map_err(|m| format!("{path}: {m}"))
}

/// `#1`, then `double name(rows, columns)` followed by the numbers; `#` begins a comment.
fn parse_text(text: &str, name: &str) -> Result<Matrix, String> {
    let mut lines = text.lines();
    if !lines.next().unwrap_or("").trim_start_matches('\u{feff}').trim_start().starts_with("#1") {
        return Err("a table file begins with #1".into());
    }
    while let Some(line) = lines.next() {
        let line = line.split('#').next().unwrap_or("").trim();
        let Some(rest) = line.strip_prefix("double ").or_else(|| line.strip_prefix("float ")) else { continue };
        let Some((found, rest)) = rest.split_once('(') else { continue };
        if found.trim() != name {
            continue;
        }
        let (dims, first) = rest.split_once(')').ok_or("the size of the table is not closed")?;
        let (r, c) = dims.split_once(',').ok_or("the size of the table needs two numbers")?;
        let size = |s: &str| s.trim().parse::<usize>().map_err(|_| format!("{s} is no size"));
        let (rows, cols) = (size(r)?, size(c)?);
        let total = rows.checked_mul(cols).filter(|n| *n < 1 << 28).ok_or("the table is too large")?;
        let mut values = Vec::new();
        for line in std::iter::once(first).chain(lines.by_ref()) {
            let line = line.split('#').next().unwrap_or("");
            for word in line.split(|c: char| c.is_whitespace() || c == ',' || c == ';').filter(|w| !w.is_empty()) {
                if values.len() == total {
                    break;
                }
                values.push(word.parse::<f64>().map_err(|_| format!("{word} is no number"))?);
            }
            if values.len() == total {
                return Ok(Matrix { rows, cols, values });
            }
        }
        return Err(format!("the table {name} has {} numbers instead of {total}", values.len()));
    }
    Err(format!("there is no table named {name}"))
}

fn parse_csv(text: &str, delimiter: &str, header: usize) -> Result<Matrix, String> {
    let delimiter = delimiter.chars().next().unwrap_or(',');
    let (mut rows, mut cols, mut values) = (0, 0, Vec::new());
    for line in text.lines().skip(header) {
        if line.trim().is_empty() {
            continue;
        }
        let before = values.len();
        for word in line.split(delimiter) {
            let word = word.trim().trim_matches('"');
            values.push(word.parse::<f64>().map_err(|_| format!("{word} is no number"))?);
        }
        let n = values.len() - before;
        if rows > 0 && n != cols {
            return Err(format!("row {} has {n} columns instead of {cols}", rows + 1));
        }
        cols = n;
        rows += 1;
    }
    Ok(Matrix { rows, cols, values })
}

/// A matrix of a MATLAB level 4 file.
fn read_mat4(bytes: &[u8], name: &str) -> Result<Matrix, String> {
    if bytes.starts_with(b"MATLAB") {
        return read_mat5(bytes, name);
    }
    let mut at = 0usize;
    let int = |at: usize| -> Option<i32> { Some(i32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?)) };
    while at + 20 <= bytes.len() {
        let cut = "the file ends too early";
        let header: Vec<i32> = (0..5).map(|k| int(at + 4 * k)).collect::<Option<_>>().ok_or(cut)?;
        let (kind, rows, cols, imaginary, len) = (header[0], header[1], header[2], header[3], header[4]);
        if !(0..1000).contains(&kind) || rows < 0 || cols < 0 || len < 1 {
            return Err("this is no MATLAB level 4 file of this byte order".into());
        }
        let (rows, cols, len) = (rows as usize, cols as usize, len as usize);
        at += 20;
        let found = bytes.get(at..at + len).ok_or(cut)?;
        at += len;
        let width = [8, 4, 4, 2, 2, 1].get((kind / 10 % 10) as usize).copied().ok_or("unknown number type")?;
        let n = rows.checked_mul(cols).filter(|n| *n < 1 << 28).ok_or("the matrix is too large")?;
        let size = n * width;
        let data = bytes.get(at..at + size).ok_or(cut)?;
        at += size * if imaginary != 0 { 2 } else { 1 };
        if found.split(|b| *b == 0).next() != Some(name.as_bytes()) {
            continue;
        }
        let value = |k: usize| -> f64 {
            let b = &data[k * width..(k + 1) * width];
            match kind / 10 % 10 {
                0 => f64::from_le_bytes(b.try_into().unwrap_or_default()),
                1 => f64::from(f32::from_le_bytes(b.try_into().unwrap_or_default())),
                2 => f64::from(i32::from_le_bytes(b.try_into().unwrap_or_default())),
                3 => f64::from(i16::from_le_bytes(b.try_into().unwrap_or_default())),
                4 => f64::from(u16::from_le_bytes(b.try_into().unwrap_or_default())),
                _ => f64::from(b[0]),
            }
        };
        let values = (0..n).map(|k| value(k % cols * rows + k / cols)).collect();
        return Ok(Matrix { rows, cols, values });
    }
    Err(format!("there is no matrix named {name}"))
}

/// One element of a level 5 file: its type, its data, and where the next one begins.
fn element(bytes: &[u8], at: usize) -> Option<(u32, &[u8], usize)> {
    let word = |at: usize| -> Option<u32> { Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?)) };
    let kind = word(at)?;
    if kind >> 16 != 0 {
        let len = (kind >> 16) as usize;
        return Some((kind & 0xffff, bytes.get(at + 4..at + 4 + len)?, at + 8));
    }
    let len = word(at + 4)? as usize;
    let end = at.checked_add(8)?.checked_add(len)?;
    // Compressed elements are not padded.
    let next = if kind == 15 { end } else { end.next_multiple_of(8) };
    Some((kind, bytes.get(at + 8..end)?, next))
}

/// A real matrix of a MATLAB level 5 file, as it is (`-v6`) or compressed (`-v7`).
fn read_mat5(bytes: &[u8], name: &str) -> Result<Matrix, String> {
    if bytes.get(126..128) != Some(b"IM") {
        return Err("this is no MATLAB level 5 file of this byte order".into());
    }
    let mut at = 128;
    while let Some((kind, data, next)) = element(bytes, at) {
        at = next;
        let unpacked;
        let (kind, data) = if kind == 15 {
            unpacked = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(data, 1 << 31)
                .map_err(|e| format!("the compressed data cannot be read: {e}"))?;
            match element(&unpacked, 0) {
                Some((kind, data, _)) => (kind, data),
                None => continue,
            }
        } else {
            (kind, data)
        };
        if kind != 14 {
            continue;
        }
        let mut path = name.split('.');
        let first = path.next().unwrap_or(name).as_bytes();
        let Some(mut array) = Array5::new(data).filter(|x| x.name == first) else { continue };
        for field in path {
            array = array.field(field).ok_or_else(|| format!("there is no matrix named {name}"))?;
        }
        return array.matrix(name);
    }
    Err(format!("there is no matrix named {name}"))
}

/// An array of a level 5 file.
struct Array5<'a> {
    class: u8,
    dims: Vec<usize>,
    name: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Array5<'a> {
    fn new(data: &'a [u8]) -> Option<Array5<'a>> {
        let (_, flags, p) = element(data, 0)?;
        let (_, dims, p) = element(data, p)?;
        let (_, name, p) = element(data, p)?;
        let size = |b: &[u8]| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize;
        let dims = dims.chunks_exact(4).map(size).collect();
        Some(Array5 { class: *flags.first()?, dims, name, rest: data.get(p..)? })
    }

    /// A field of a structure: the length of names, all names, then one array per field.
    fn field(&self, name: &str) -> Option<Array5<'a>> {
        const STRUCTURE: u8 = 2;
        if self.class != STRUCTURE || self.dims.iter().any(|d| *d != 1) {
            return None;
        }
        let (_, length, p) = element(self.rest, 0)?;
        let length = u32::from_le_bytes(length.get(..4)?.try_into().ok()?) as usize;
        let (_, names, mut p) = element(self.rest, p)?;
        for found in names.chunks_exact(length.max(1)) {
            let (_, data, next) = element(self.rest, p)?;
            if found.split(|b| *b == 0).next() == Some(name.as_bytes()) {
                return Array5::new(data);
            }
            p = next;
        }
        None
    }

    fn matrix(&self, name: &str) -> Result<Matrix, String> {
        let [rows, cols] = self.dims[..] else { return Err(format!("{name} is no matrix")) };
        let Some((kind, values, _)) = element(self.rest, 0).filter(|_| (6..=13).contains(&self.class)) else {
            return Err(format!("{name} is no matrix of numbers"));
        };
        let n = rows.checked_mul(cols).filter(|n| *n < 1 << 28).ok_or("the matrix is too large")?;
        let width = match kind {
            1 | 2 => 1,
            3 | 4 => 2,
            5..=7 => 4,
            9 => 8,
            _ => return Err("unknown number type".into()),
        };
        if values.len() < n * width {
            return Err("the file ends too early".into());
        }
        let value = |k: usize| {
            let b = &values[k * width..(k + 1) * width];
            match kind {
                1 => f64::from(b[0] as i8),
                2 => f64::from(b[0]),
                3 => f64::from(i16::from_le_bytes([b[0], b[1]])),
                4 => f64::from(u16::from_le_bytes([b[0], b[1]])),
                5 => f64::from(i32::from_le_bytes([b[0], b[1], b[2], b[3]])),
                6 => f64::from(u32::from_le_bytes([b[0], b[1], b[2], b[3]])),
                7 => f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]])),
                _ => f64::from_le_bytes(b.try_into().unwrap_or_default()),
            }
        };
        let values = (0..n).map(|k| value(k % cols * rows + k / cols)).collect();
        Ok(Matrix { rows, cols, values })
    }
}

fn write_mat4(file: &str, name: &str, rows: usize, cols: usize, values: &[f64], append: bool) -> Result<(), String> {
    use std::io::Write;
    let mut out = Vec::new();
    for v in [0, rows as i32, cols as i32, 0, name.len() as i32 + 1] {
        out.extend(v.to_le_bytes());
    }
    out.extend(name.as_bytes());
    out.push(0);
    for j in 0..cols {
        for i in 0..rows {
            out.extend(values[i * cols + j].to_le_bytes());
        }
    }
    let mut f = std::fs::OpenOptions::new()
        .create(true)
        .write(true)
        .append(append)
        .truncate(!append)
        .open(file)
        .map_err(|e| format!("the file {file} cannot be written: {e}"))?;
    f.write_all(&out).map_err(|e| format!("the file {file} cannot be written: {e}"))
}

fn matrix_sizes(a: &mut [ExtArg]) -> ExtResult {
    let m = read_table(&string(a, 0)?, &string(a, 1)?, ",", 0)?;
    set_array(a, 2, &[m.rows as f64, m.cols as f64])?;
    Ok(0.0)
}

fn read_matrix(a: &mut [ExtArg]) -> ExtResult {
    let m = read_table(&string(a, 0)?, &string(a, 1)?, ",", 0)?;
    set_array(a, 2, &m.values)?;
    Ok(0.0)
}

fn write_matrix(a: &mut [ExtArg]) -> ExtResult {
    let (file, name, append) = (string(a, 0)?, string(a, 1)?, num(a, 5)? != 0.0);
    let (dims, values) = array(a, 2)?;
    let [rows, cols] = dims[..] else { return Err("a matrix is needed".into()) };
    write_mat4(&file, &name, rows, cols, values, append)?;
    Ok(1.0)
}

pub(super) static LIST: &[External] = &[
    External { symbol: "ModelicaIO_readMatrixSizes", call: matrix_sizes, derivative: ExtDerivative::Zero },
    External { symbol: "ModelicaIO_readRealMatrix", call: read_matrix, derivative: ExtDerivative::Zero },
    External { symbol: "ModelicaIO_writeRealMatrix", call: write_matrix, derivative: ExtDerivative::Zero },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats() {
        let text = "#1\n# comment\ndouble other(1,1)\n 7\ndouble tab(2, 3) # here\n1 2 3\n4,5;6e0\n";
        let m = parse_text(text, "tab").unwrap();
        assert_eq!((m.rows, m.cols, m.values), (2, 3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
        assert!(parse_text(text, "none").is_err());
        assert!(parse_text("double tab(1,1)\n1", "tab").is_err());
        assert!(parse_text("#1\ndouble tab(2,2)\n1 2 3", "tab").is_err());
        let m = parse_csv("a;b\n1;2\n3;4\n", ";", 1).unwrap();
        assert_eq!((m.rows, m.cols, m.values), (2, 2, vec![1.0, 2.0, 3.0, 4.0]));
        assert!(parse_csv("1,2\n3\n", ",", 0).is_err());
    }

    #[test]
    fn mat4_round_trip() {
        let path = std::env::temp_dir().join(format!("saltus-{}.mat", std::process::id()));
        let path = path.to_str().unwrap();
        write_mat4(path, "A", 2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], false).unwrap();
        write_mat4(path, "B", 1, 1, &[9.0], true).unwrap();
        assert_eq!(read_table(path, "A", "", 0).unwrap().values, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(read_table(path, "B", "", 0).unwrap().values, [9.0]);
        assert!(read_table(path, "C", "", 0).is_err());
        let bytes = std::fs::read(path).unwrap();
        for n in 0..bytes.len() {
            let _ = read_mat4(&bytes[..n], "B");
        }
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn mat5() {
        fn put(body: &mut Vec<u8>, kind: u32, data: &[u8]) {
            body.extend(kind.to_le_bytes());
            body.extend((data.len() as u32).to_le_bytes());
            body.extend(data);
            body.resize(body.len().next_multiple_of(8), 0);
        }
        let matrix = |name: &[u8], data: &[u8]| {
            let mut body = Vec::new();
            put(&mut body, 6, &[6, 0, 0, 0, 0, 0, 0, 0]);
            put(&mut body, 5, &[2, 0, 0, 0, 2, 0, 0, 0]);
            put(&mut body, 1, name);
            put(&mut body, 2, data);
            body
        };
        let mut structure = Vec::new();
        put(&mut structure, 6, &[2, 0, 0, 0, 0, 0, 0, 0]);
        put(&mut structure, 5, &[1, 0, 0, 0, 1, 0, 0, 0]);
        put(&mut structure, 1, b"s");
        put(&mut structure, 5, &[4, 0, 0, 0]);
        put(&mut structure, 1, b"one\0two\0");
        put(&mut structure, 14, &matrix(b"", &[1, 1, 1, 1]));
        put(&mut structure, 14, &matrix(b"", &[5, 7, 6, 8]));
        let mut bytes = vec![b' '; 128];
        bytes[..10].copy_from_slice(b"MATLAB 5.0");
        bytes[126..].copy_from_slice(b"IM");
        put(&mut bytes, 14, &structure);
        put(&mut bytes, 14, &matrix(b"tab", &[1, 3, 2, 4]));
        assert_eq!(read_mat4(&bytes, "tab").unwrap().values, [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(read_mat4(&bytes, "s.two").unwrap().values, [5.0, 6.0, 7.0, 8.0]);
        for wrong in ["other", "s.three", "s", "tab.x", "s.one.x"] {
            assert!(read_mat4(&bytes, wrong).is_err(), "{wrong}");
        }
        for n in 0..bytes.len() {
            let _ = read_mat4(&bytes[..n], "s.two");
        }
        for n in 0..bytes.len() {
            let _ = read_mat4(&bytes[..n], "tab");
        }
    }
}
