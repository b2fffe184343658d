//! MAT version 4 files in the layout that Dymola and OpenModelica write.
//!
//! Six matrices follow each other, each with a header of five 32-bit integers (type, rows, columns, imaginary, length of
//! the name), the name with a zero byte, and the elements column by column:
//!
//! | matrix        | elements | rows × columns       | content                                                   |
//! |---------------|----------|----------------------|-----------------------------------------------------------|
//! | `Aclass`      | text     | 4 × 11               | `Atrajectory`, `1.1`, blank, `binTrans`                   |
//! | `name`        | text     | longest × variables  | one name per column                                       |
//! | `description` | text     | longest × variables  | `text [unit]`, and `:#(type=Boolean)` where it is not Real |
//! | `dataInfo`    | int32    | 4 × variables        | matrix (1 or 2, 0 for time), row (negative: −row), 0, −1   |
//! | `data_1`      | double   | (1 + constants) × 2  | values at the start and at the end: what never changes    |
//! | `data_2`      | double   | (1 + columns) × rows | time and values; grows with every row                     |
//!
//! `binTrans` means that everything is transposed, so the file grows at its end; the number of rows (columns of
//! `data_2`) and the stop time are patched whenever rows have been handed on: the file can be read at any time, and holds
//! the rows that fitted if the disk is full.

use crate::trajectory::Source;
use crate::{Column, Kind, Sink, Store, Trajectory, bad_data, check_row, misuse};
use std::io::{self, Read, SeekFrom};

const DOUBLE: i32 = 0;
const SINGLE: i32 = 10;
const INT32: i32 = 20;
const INT16: i32 = 30;
const BYTES: i32 = 50;
const TEXT: i32 = 51;

/// Bytes gathered before they are handed on.
const BUFFER: usize = 1 << 16;

/// Writes rows as a MAT file. Memory does not grow with the rows. Inactive cells become NaN.
pub struct MatSink<W: Store> {
    output: W,
    /// What was not handed on yet: whole rows, once there are rows.
    buffer: Vec<u8>,
    /// Bytes handed on.
    written: u64,
    constants: Vec<(Column, f64)>,
    layout: Option<Layout>,
}

/// Where things are that change until the end.
struct Layout {
    columns: usize,
    /// The columns that may change, if some do not.
    moving: Option<Vec<usize>>,
    start: Option<f64>,
    /// Rows handed on, and the time of the last of them.
    rows: u64,
    stop: f64,
    /// Position of the first row of `data_1`'s two columns: the start and the stop time.
    start_at: u64,
    stop_at: u64,
    /// Position of the number of columns in the header of `data_2`, and of its elements.
    count_at: u64,
    data_at: u64,
    /// Bytes of a row.
    width: u64,
    /// No rows come any more: the end was reached, or the output does not take them.
    finished: bool,
}

impl<W: Store> MatSink<W> {
    /// A sink that writes to `output`. It does its own buffering.
    pub fn new(output: W) -> Self {
        MatSink { output, buffer: Vec::with_capacity(BUFFER), written: 0, constants: Vec::new(), layout: None }
    }

    /// Also stores these parameters with their values, once.
    pub fn with_constants(mut self, constants: Vec<(Column, f64)>) -> Self {
        self.constants = constants;
        self
    }

    fn position(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    fn header(&mut self, name: &str, kind: i32, rows: usize, columns: usize) -> io::Result<()> {
        let size =
            |n: usize| i32::try_from(n).map_err(|_| bad_data(format!("too many elements for the MAT matrix {name}")));
        for word in [kind, size(rows)?, size(columns)?, 0, size(name.len() + 1)?] {
            self.buffer.extend(word.to_le_bytes());
        }
        self.buffer.extend(name.as_bytes());
        self.buffer.push(0);
        Ok(())
    }

    /// One text per column, padded with blanks.
    fn texts<'a>(
        &mut self,
        name: &str,
        texts: impl Iterator<Item = std::borrow::Cow<'a, str>> + Clone,
    ) -> io::Result<()> {
        let (count, longest) = texts.clone().fold((0, 1), |(n, l), t| (n + 1, t.len().max(l)));
        self.header(name, TEXT, longest, count)?;
        for text in texts {
            self.buffer.extend(text.as_bytes());
            self.buffer.extend(std::iter::repeat_n(b' ', longest - text.len()));
        }
        Ok(())
    }

    /// Hands on what was gathered, and makes the sizes in the file fit. If not all is taken, whole rows count.
    fn drain(&mut self) -> io::Result<()> {
        let (before, mut done, mut result) = (self.written, 0, Ok(()));
        while done < self.buffer.len() && result.is_ok() {
            match self.output.write(&self.buffer[done..]) {
                Ok(0) => result = Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => done += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => result = Err(e),
            }
        }
        self.written += done as u64;
        if let Some(layout) = &mut self.layout {
            layout.finished |= result.is_err();
            let rows = self.written.saturating_sub(layout.data_at) / layout.width;
            let end = layout.data_at + rows * layout.width;
            if rows > layout.rows {
                let last = (end - layout.width - before) as usize;
                let time = self.buffer[last..].first_chunk().map_or(0.0, |b| f64::from_le_bytes(*b));
                (layout.rows, layout.stop) = (rows, time);
            }
            if result.is_err() && self.written > end {
                result = result.and(self.output.cut(end));
            }
            let patched = self.patch();
            result = result.and(patched);
        }
        self.buffer.clear();
        result
    }

    /// Writes the number of rows and the times of the first and the last one.
    fn patch(&mut self) -> io::Result<()> {
        let Some(layout) = self.layout.as_ref().filter(|l| l.rows > 0) else { return Ok(()) };
        let rows = i32::try_from(layout.rows).map_err(|_| bad_data("too many rows for a MAT file"))?;
        for (at, bytes) in [
            (layout.start_at, layout.start.unwrap_or(0.0).to_le_bytes().as_slice()),
            (layout.stop_at, layout.stop.to_le_bytes().as_slice()),
            (layout.count_at, rows.to_le_bytes().as_slice()),
        ] {
            self.output.seek(SeekFrom::Start(at))?;
            self.output.write_all(bytes)?;
        }
        self.output.seek(SeekFrom::End(0)).map(drop)
    }
}

impl<W: Store> Sink for MatSink<W> {
    fn begin(&mut self, columns: &[Column]) -> io::Result<()> {
        if self.layout.is_some() {
            return Err(misuse("a result was begun twice"));
        }
        let time = Column::real("time").with_unit("s").with_description("Time");
        let mut constants = std::mem::take(&mut self.constants);
        constants.extend(columns.iter().filter_map(|c| c.constant.map(|v| (c.clone(), v))));
        let moving: Vec<usize> = (0..columns.len()).filter(|&k| columns[k].constant.is_none()).collect();
        let moves = || moving.iter().map(|&k| &columns[k]);
        let all = || std::iter::once(&time).chain(constants.iter().map(|(c, _)| c)).chain(moves());

        self.header("Aclass", TEXT, 4, 11)?;
        let rows = [b"Atrajectory", b"1.1        ", b"           ", b"binTrans   "];
        for column in 0..11 {
            self.buffer.extend(rows.map(|r| r[column]));
        }
        self.texts("name", all().map(|c| c.name.as_str().into()))?;
        self.texts("description", all().map(|c| describe(c).into()))?;

        self.header("dataInfo", INT32, 4, 1 + constants.len() + moving.len())?;
        let info = std::iter::once((0, 1))
            .chain((0..constants.len()).map(|k| (1, k + 2)))
            .chain((0..moving.len()).map(|k| (2, k + 2)));
        for (matrix, row) in info {
            self.buffer.extend([matrix, row as i32, 0, -1].iter().flat_map(|word: &i32| word.to_le_bytes()));
        }

        self.header("data_1", DOUBLE, 1 + constants.len(), 2)?;
        let mut times_at = [0; 2];
        for at in &mut times_at {
            *at = self.position();
            self.buffer.extend(0f64.to_le_bytes());
            self.buffer.extend(constants.iter().flat_map(|(_, value)| value.to_le_bytes()));
        }

        let count_at = self.position() + 8;
        self.header("data_2", DOUBLE, 1 + moving.len(), 0)?;
        self.layout = Some(Layout {
            columns: columns.len(),
            width: 8 * (1 + moving.len() as u64),
            moving: (moving.len() < columns.len()).then_some(moving),
            start: None,
            rows: 0,
            stop: 0.0,
            start_at: times_at[0],
            stop_at: times_at[1],
            count_at,
            data_at: self.position(),
            finished: false,
        });
        Ok(())
    }

    fn row(&mut self, t: f64, values: &[f64], active: Option<&[bool]>) -> io::Result<()> {
        let Some(layout) = &mut self.layout else {
            return Err(misuse("a result row came before its columns"));
        };
        check_row(layout.columns, values, active)?;
        if layout.finished {
            return Err(misuse("a result row came after the end"));
        }
        layout.start.get_or_insert(t);
        self.buffer.extend(t.to_le_bytes());
        let mut put = |k: usize| {
            let value = if active.is_none_or(|a| a[k]) { values[k] } else { f64::NAN };
            self.buffer.extend(value.to_le_bytes());
        };
        match &layout.moving {
            None => (0..values.len()).for_each(&mut put),
            Some(moving) => moving.iter().copied().for_each(&mut put),
        }
        if self.buffer.len() >= BUFFER { self.drain() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.drain()?;
        self.output.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        if let Some(layout) = &mut self.layout {
            layout.finished = true;
        }
        self.flush()
    }
}

impl<W: Store> Drop for MatSink<W> {
    fn drop(&mut self) {
        // An interrupted run keeps its rows; whoever wants to know about errors calls `finish`.
        let _ = self.finish();
    }
}

fn describe(column: &Column) -> String {
    let mut text = column.description.clone();
    let mut add = |part: &str| {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(part);
    };
    if !column.unit.is_empty() {
        add(&format!("[{}]", column.unit));
    }
    match column.kind {
        Kind::Real => {}
        Kind::Integer => add(":#(type=Integer)"),
        Kind::Boolean => add(":#(type=Boolean)"),
        Kind::Enumeration => add(":#(type=Enumeration)"),
    }
    text
}

/// The reverse of [`describe`]; also takes `[unit|displayUnit]` and descriptions without any of it.
fn undescribe(name: &str, text: &str) -> Column {
    let (mut text, mut kind, mut unit) = (text.trim_end(), Kind::Real, "");
    if let Some(at) = text.rfind(":#(") {
        let tag = &text[at..];
        kind = match () {
            () if tag.contains("type=Integer") => Kind::Integer,
            () if tag.contains("type=Boolean") => Kind::Boolean,
            () if tag.contains("type=Enumeration") => Kind::Enumeration,
            () => Kind::Real,
        };
        text = text[..at].trim_end();
    }
    if let (true, Some(at)) = (text.ends_with(']'), text.rfind('[')) {
        unit = text[at + 1..text.len() - 1].split('|').next().unwrap_or("");
        text = text[..at].trim_end();
    }
    Column { name: name.into(), kind, unit: unit.into(), description: text.into(), ..Column::default() }
}

/// A matrix as it stands in the file, elements column by column.
struct Matrix<'a> {
    name: &'a str,
    kind: i32,
    rows: usize,
    columns: usize,
    bytes: &'a [u8],
}

impl<'a> Matrix<'a> {
    /// Takes the next matrix off the front of `input`.
    fn take(input: &mut &'a [u8]) -> io::Result<Self> {
        let cut = || bad_data("the MAT file ends in the middle of a matrix");
        let mut word = || -> io::Result<i32> {
            let (head, rest) = input.split_first_chunk::<4>().ok_or_else(cut)?;
            *input = rest;
            Ok(i32::from_le_bytes(*head))
        };
        let (kind, rows, columns, imaginary, length) = (word()?, word()?, word()?, word()?, word()?);
        let width = match kind {
            DOUBLE => 8,
            SINGLE | INT32 => 4,
            INT16 | 40 => 2,
            BYTES | TEXT => 1,
            _ => return Err(bad_data(format!("not a MAT version 4 file of this machine's byte order (type {kind})"))),
        };
        let size = |n: i32| usize::try_from(n).map_err(|_| bad_data("negative size in a MAT file"));
        let (rows, columns, length) = (size(rows)?, size(columns)?, size(length)?);
        let name = input.split_off(..length).ok_or_else(cut)?;
        let name = std::str::from_utf8(name).unwrap_or("").trim_end_matches('\0');
        if imaginary != 0 {
            return Err(bad_data(format!("the matrix {name} is complex")));
        }
        let bytes = rows.checked_mul(columns).and_then(|n| n.checked_mul(width)).ok_or_else(cut)?;
        let bytes = input.split_off(..bytes).ok_or_else(cut)?;
        Ok(Matrix { name, kind, rows, columns, bytes })
    }

    fn get(&self, row: usize, column: usize) -> f64 {
        fn at<const N: usize>(bytes: &[u8], k: usize) -> [u8; N] {
            let mut word = [0; N];
            word.copy_from_slice(&bytes[k * N..(k + 1) * N]);
            word
        }
        let k = row + column * self.rows;
        match self.kind {
            DOUBLE => f64::from_le_bytes(at(self.bytes, k)),
            SINGLE => f32::from_le_bytes(at(self.bytes, k)).into(),
            INT32 => i32::from_le_bytes(at(self.bytes, k)).into(),
            INT16 => i16::from_le_bytes(at(self.bytes, k)).into(),
            40 => u16::from_le_bytes(at(self.bytes, k)).into(),
            _ => self.bytes[k].into(),
        }
    }
}

/// A matrix seen so that one variable is one index `item`, whichever way round the file is.
struct Oriented<'a> {
    matrix: &'a Matrix<'a>,
    /// The matrix has one *column* per item.
    items_in_columns: bool,
}

impl Oriented<'_> {
    fn items(&self) -> usize {
        if self.items_in_columns { self.matrix.columns } else { self.matrix.rows }
    }
    fn fields(&self) -> usize {
        if self.items_in_columns { self.matrix.rows } else { self.matrix.columns }
    }
    fn get(&self, item: usize, field: usize) -> f64 {
        if self.items_in_columns { self.matrix.get(field, item) } else { self.matrix.get(item, field) }
    }
    fn text(&self, item: usize) -> String {
        let bytes: Vec<u8> = (0..self.fields()).map(|f| self.get(item, f) as u8).collect();
        String::from_utf8_lossy(&bytes).trim_end_matches(['\0', ' ']).to_string()
    }
}

impl Trajectory {
    /// Reads a MAT version 4 result, of Saltus, OpenModelica or Dymola, in either orientation, double or single
    /// precision. Parameters become columns of one value.
    pub fn read_mat(mut input: impl Read) -> io::Result<Trajectory> {
        let mut bytes = Vec::new();
        input.read_to_end(&mut bytes)?;
        let mut rest = bytes.as_slice();
        let mut matrices = Vec::new();
        while !rest.is_empty() {
            matrices.push(Matrix::take(&mut rest)?);
        }
        let find = |name: &str| {
            matrices
                .iter()
                .find(|m| m.name == name)
                .ok_or_else(|| bad_data(format!("no matrix {name} in the MAT file")))
        };
        let class = find("Aclass")?;
        let class: Vec<String> = (0..class.rows)
            .map(|r| (0..class.columns).map(|c| class.get(r, c) as u8 as char).collect::<String>())
            .collect();
        let transposed = class.get(3).is_some_and(|l| l.starts_with("binTrans"));
        if class.first().is_none_or(|l| !l.starts_with("Atrajectory")) {
            return Err(bad_data("the MAT file is not a trajectory"));
        }
        let find = |name| Ok::<_, io::Error>(Oriented { matrix: find(name)?, items_in_columns: transposed });
        let (names, descriptions, info) = (find("name")?, find("description")?, find("dataInfo")?);
        let sampled = find("data_2")?;
        let constants = find("data_1").ok().filter(|m| m.items() > 0);
        if info.items() != names.items() || info.fields() < 2 {
            return Err(bad_data("dataInfo does not fit the names"));
        }
        if sampled.fields() == 0 {
            return Err(bad_data("data_2 has no time"));
        }

        let series = |field: usize| (0..sampled.items()).map(|row| sampled.get(row, field)).collect::<Vec<f64>>();
        let times = series(0);
        let mut stored: Vec<Vec<f64>> = Vec::new();
        let mut slot_of = vec![None; sampled.fields()];
        let (mut columns, mut sources) = (Vec::new(), Vec::new());
        for item in 0..names.items() {
            let name = names.text(item);
            let (matrix, row) = (info.get(item, 0), info.get(item, 1));
            if matrix == 0.0 || (item == 0 && name.eq_ignore_ascii_case("time")) {
                continue;
            }
            let (field, negated) = (row.abs() as usize, row < 0.0);
            let outside = || bad_data(format!("dataInfo of {name} points outside of the data"));
            let field = field.checked_sub(1).ok_or_else(outside)?;
            sources.push(if matrix == 1.0 {
                let constants = constants.as_ref().filter(|c| field < c.fields()).ok_or_else(outside)?;
                let value = constants.get(0, field);
                Source::Constant(if negated { -value } else { value })
            } else {
                let slot = slot_of.get_mut(field).ok_or_else(outside)?;
                let index = *slot.get_or_insert_with(|| {
                    stored.push(series(field));
                    stored.len() - 1
                });
                Source::Series { index, negated }
            });
            let description = if item < descriptions.items() { descriptions.text(item) } else { String::new() };
            columns.push(undescribe(&name, &description));
        }
        Trajectory::from_sources(columns, sources, times, stored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn columns() -> [Column; 3] {
        [
            Column::real("body.h").with_unit("m").with_description("height"),
            Column::new("n", Kind::Integer).with_description("impacts"),
            Column::new("on", Kind::Boolean),
        ]
    }

    fn sample() -> Vec<u8> {
        let mut file = Cursor::new(Vec::new());
        let g = Column::real("g").with_unit("m/s2");
        let mut sink = MatSink::new(&mut file).with_constants(vec![(g, 9.81)]);
        sink.begin(&columns()).unwrap();
        sink.row(0.5, &[1.0, 0.0, 1.0], None).unwrap();
        sink.row(1.0, &[-0.1, 3.0, 0.0], Some(&[true, false, true])).unwrap();
        sink.row(1.0, &[0.1, 4.0, 0.0], None).unwrap();
        drop(sink); // no finish: an interrupted run
        file.into_inner()
    }

    #[test]
    fn reading_back_gives_the_same_trajectory() {
        let back = Trajectory::read_mat(sample().as_slice()).unwrap();
        assert_eq!(back.columns()[0], Column::real("g").with_unit("m/s2"));
        assert_eq!(back.columns()[1..], columns());
        assert_eq!(back.times(), [0.5, 1.0, 1.0]);
        assert_eq!(back.series(0).collect::<Vec<_>>(), [Some(9.81); 3]);
        assert_eq!(back.series(1).collect::<Vec<_>>(), [Some(1.0), Some(-0.1), Some(0.1)]);
        assert_eq!(back.series(2).collect::<Vec<_>>(), [Some(0.0), None, Some(4.0)]);
    }

    #[test]
    fn the_file_holds_the_matrices_in_order() {
        let file = sample();
        let (mut rest, mut seen) = (file.as_slice(), Vec::new());
        while !rest.is_empty() {
            let m = Matrix::take(&mut rest).unwrap();
            seen.push((m.name.to_string(), m.kind, m.rows, m.columns));
            if m.name == "data_1" {
                assert_eq!([m.get(0, 0), m.get(0, 1), m.get(1, 0), m.get(1, 1)], [0.5, 1.0, 9.81, 9.81]);
            }
        }
        let expected = [
            ("Aclass", TEXT, 4, 11),
            ("name", TEXT, 6, 5),
            ("description", TEXT, 24, 5),
            ("dataInfo", INT32, 4, 5),
            ("data_1", DOUBLE, 2, 2),
            ("data_2", DOUBLE, 4, 3),
        ];
        assert_eq!(seen, expected.map(|(n, k, r, c)| (n.to_string(), k, r, c)));
    }

    /// A file the other way round, in single precision, with an alias that is the negative of another variable.
    #[test]
    fn normal_orientation_and_negated_aliases_are_read() {
        fn matrix(file: &mut Vec<u8>, name: &str, kind: i32, rows: usize, columns: usize, bytes: &[u8]) {
            for word in [kind, rows as i32, columns as i32, 0, name.len() as i32 + 1] {
                file.extend(word.to_le_bytes());
            }
            file.extend(name.as_bytes());
            file.push(0);
            file.extend(bytes);
        }
        let by_columns =
            |rows: &[&[u8]]| -> Vec<u8> { (0..rows[0].len()).flat_map(|c| rows.iter().map(move |r| r[c])).collect() };
        let singles = |v: &[f32]| v.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
        let ints = |v: &[i32]| v.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
        let mut f = Vec::new();
        let class: [&[u8]; 4] = [b"Atrajectory", b"1.1        ", b"           ", b"binNormal  "];
        matrix(&mut f, "Aclass", TEXT, 4, 11, &by_columns(&class));
        matrix(&mut f, "name", TEXT, 3, 4, &by_columns(&[b"Time", b"x\0\0\0", b"-x\0\0"]));
        matrix(&mut f, "description", TEXT, 3, 3, &by_columns(&[b"[s]", b"[m]", b"   "]));
        matrix(&mut f, "dataInfo", INT32, 3, 4, &ints(&[0, 2, 2, 1, 2, -2, 0, 0, 0, -1, -1, -1]));
        matrix(&mut f, "data_2", SINGLE, 2, 2, &singles(&[0.0, 1.0, 0.5, 0.25]));
        let back = Trajectory::read_mat(f.as_slice()).unwrap();
        assert_eq!(back.columns(), [Column::real("x").with_unit("m"), Column::real("-x")]);
        assert_eq!(back.series(1).collect::<Vec<_>>(), [Some(-0.5), Some(-0.25)]);
    }

    #[test]
    fn cut_and_mangled_files_are_errors_and_not_panics() {
        let file = sample();
        for n in 0..file.len() {
            let _ = Trajectory::read_mat(&file[..n]);
            for bit in [0x80, 0x01] {
                let mut mangled = file.clone();
                mangled[n] ^= bit;
                let _ = Trajectory::read_mat(mangled.as_slice());
            }
        }
        assert!(Trajectory::read_mat(&b"time,x\n0,1\n"[..]).is_err());
        assert!(Trajectory::read_mat(&b""[..]).is_err());
    }

    /// A disk that takes so many bytes.
    struct Small(Cursor<Vec<u8>>, usize);

    impl io::Write for Small {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            match self.1.saturating_sub(self.0.position() as usize) {
                0 if !bytes.is_empty() => Err(io::ErrorKind::StorageFull.into()),
                left => self.0.write(&bytes[..bytes.len().min(left)]),
            }
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl io::Seek for Small {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.0.seek(to)
        }
    }

    impl Store for Small {
        fn cut(&mut self, length: u64) -> io::Result<()> {
            self.0.cut(length)
        }
    }

    #[test]
    fn a_full_disk_holds_the_rows_that_fitted() {
        let mut disk = Small(Cursor::new(Vec::new()), 1 << 17);
        let mut sink = MatSink::new(&mut disk);
        sink.begin(&columns()).unwrap();
        let failed = (0..).find_map(|k| sink.row(k as f64, &[k as f64; 3], None).err()).unwrap();
        assert_eq!(failed.kind(), io::ErrorKind::StorageFull);
        assert!(sink.finish().is_ok());
        drop(sink);
        let back = Trajectory::read_mat(disk.0.into_inner().as_slice()).unwrap();
        let last = back.times().len() - 1;
        assert!(((1 << 17) - 1000) / 32 < last, "{last}");
        assert_eq!((back.times()[last], back.value(last, 0)), (last as f64, Some(last as f64)));
    }

    #[test]
    fn rows_can_be_read_while_others_come() {
        let mut file = Cursor::new(Vec::new());
        let mut sink = MatSink::new(&mut file);
        sink.begin(&columns()).unwrap();
        for k in 0..3 {
            sink.row(k as f64, &[0.0; 3], None).unwrap();
            sink.flush().unwrap();
            let back = Trajectory::read_mat(sink.output.get_ref().as_slice()).unwrap();
            assert_eq!(back.times().len(), k + 1);
        }
    }

    #[test]
    fn an_empty_run_is_a_valid_file() {
        let mut file = Cursor::new(Vec::new());
        let mut sink = MatSink::new(&mut file);
        sink.begin(&[]).unwrap();
        sink.finish().unwrap();
        drop(sink);
        let back = Trajectory::read_mat(file.into_inner().as_slice()).unwrap();
        assert!(back.times().is_empty() && back.columns().is_empty());
    }
}
