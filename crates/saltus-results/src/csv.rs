//! Comma-separated text: header `time,<names>`, one line per row, empty cells for inactive variables.

use crate::{Column, Kind, Sink, Trajectory, bad_data, check_row, misuse};
use std::io::{self, Read, Write};

/// Bytes gathered before they are handed on.
pub(crate) const BUFFER: usize = 1 << 16;

/// Writes rows as comma-separated text.
///
/// Real numbers are written with the fewest digits that read back to the same value, Integers and enumerations without
/// a point, Booleans as `true` and `false`. Names that hold a comma, a quote or a line break are quoted.
///
/// ```
/// use saltus_results::{Column, CsvSink, Kind, Sink};
/// let mut text = Vec::new();
/// let mut sink = CsvSink::new(&mut text);
/// sink.begin(&[Column::real("u[2,5]"), Column::new("on", Kind::Boolean)]).unwrap();
/// sink.row(0.0, &[0.1, 1.0], None).unwrap();
/// sink.row(0.5, &[0.0, 0.0], Some(&[false, true])).unwrap();
/// sink.finish().unwrap();
/// drop(sink);
/// assert_eq!(String::from_utf8(text).unwrap(), "time,\"u[2,5]\",on\n0.0,0.1,true\n0.5,,false\n");
/// ```
pub struct CsvSink<W: Write> {
    output: W,
    buffer: Vec<u8>,
    kinds: Option<Vec<Kind>>,
}

impl<W: Write> CsvSink<W> {
    /// A sink that writes to `output`. It does its own buffering.
    pub fn new(output: W) -> Self {
        CsvSink { output, buffer: Vec::with_capacity(BUFFER + 4096), kinds: None }
    }

    fn drain(&mut self) -> io::Result<()> {
        let written = self.output.write_all(&self.buffer);
        self.buffer.clear();
        written
    }
}

impl<W: Write> Sink for CsvSink<W> {
    fn begin(&mut self, columns: &[Column]) -> io::Result<()> {
        if self.kinds.is_some() {
            return Err(misuse("a result was begun twice"));
        }
        self.buffer.extend_from_slice(b"time");
        for column in columns {
            self.buffer.push(b',');
            push_name(&mut self.buffer, &column.name);
        }
        self.buffer.push(b'\n');
        self.kinds = Some(columns.iter().map(|c| c.kind).collect());
        Ok(())
    }

    fn row(&mut self, t: f64, values: &[f64], active: Option<&[bool]>) -> io::Result<()> {
        let Some(kinds) = &self.kinds else {
            return Err(misuse("a result row came before its columns"));
        };
        check_row(kinds.len(), values, active)?;
        push_real(&mut self.buffer, t);
        for (k, (&value, &kind)) in values.iter().zip(kinds).enumerate() {
            self.buffer.push(b',');
            if active.is_none_or(|a| a[k]) {
                push_value(&mut self.buffer, value, kind);
            }
        }
        self.buffer.push(b'\n');
        if self.buffer.len() >= BUFFER {
            self.drain()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.drain()?;
        self.output.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.flush()
    }
}

impl<W: Write> Drop for CsvSink<W> {
    fn drop(&mut self) {
        // An interrupted run keeps its rows; whoever wants to know about errors calls `finish`.
        let _ = self.finish();
    }
}

pub(crate) fn push_name(buffer: &mut Vec<u8>, name: &str) {
    if name.contains([',', '"', '\n', '\r']) {
        buffer.push(b'"');
        buffer.extend_from_slice(name.replace('"', "\"\"").as_bytes());
        buffer.push(b'"');
    } else {
        buffer.extend_from_slice(name.as_bytes());
    }
}

pub(crate) fn push_real(buffer: &mut Vec<u8>, value: f64) {
    buffer.extend_from_slice(ryu::Buffer::new().format(value).as_bytes());
}

pub(crate) fn push_value(buffer: &mut Vec<u8>, value: f64, kind: Kind) {
    match kind {
        Kind::Real => push_real(buffer, value),
        Kind::Boolean => buffer.extend_from_slice(if value != 0.0 { b"true" } else { b"false" }),
        Kind::Integer | Kind::Enumeration => {
            if value.fract() == 0.0 && value.abs() < 9.0e15 {
                buffer.extend_from_slice(itoa::Buffer::new().format(value as i64).as_bytes());
            } else {
                push_real(buffer, value);
            }
        }
    }
}

/// One column as it is being read.
#[derive(Default)]
struct Cells {
    values: Vec<f64>,
    some: bool,
    words: bool,
    real: bool,
}

impl Trajectory {
    /// Reads comma-separated text whose first column is `time`.
    ///
    /// Units and descriptions are not in the file. The kind is told from the text: a column of `true` and `false` is
    /// Boolean, one of whole numbers without points is Integer, everything else is Real.
    pub fn read_csv(input: impl Read) -> io::Result<Trajectory> {
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(input);
        let header = reader.headers().map_err(io::Error::other)?.clone();
        if header.get(0) != Some("time") {
            return Err(bad_data("the first column of the result is not 'time'"));
        }
        let mut times = Vec::new();
        let mut cells: Vec<Cells> = header.iter().skip(1).map(|_| Cells::default()).collect();
        let mut record = csv::StringRecord::new();
        while reader.read_record(&mut record).map_err(|e| bad_data(e.to_string()))? {
            let line = record.position().map_or(0, |p| p.line());
            let not_a_number = |text: &str| bad_data(format!("line {line}: '{text}' is not a number"));
            let mut fields = record.iter();
            let t = fields.next().unwrap_or("");
            times.push(t.parse::<f64>().ok().filter(|t| t.is_finite()).ok_or_else(|| not_a_number(t))?);
            for (cell, text) in cells.iter_mut().zip(fields) {
                let value = match text {
                    "" => f64::NAN,
                    "true" | "false" => {
                        cell.words = true;
                        f64::from(u8::from(text == "true"))
                    }
                    _ => {
                        cell.some = true;
                        cell.real |= !text.bytes().all(|b| b.is_ascii_digit() || b == b'-' || b == b'+');
                        text.parse().map_err(|_| not_a_number(text))?
                    }
                };
                cell.values.push(value);
            }
        }
        let mut columns = Vec::with_capacity(cells.len());
        let mut values = Vec::with_capacity(cells.len());
        for (name, cell) in header.iter().skip(1).zip(cells) {
            let kind = match (cell.words, cell.some, cell.real) {
                (true, false, _) => Kind::Boolean,
                (false, true, false) => Kind::Integer,
                _ => Kind::Real,
            };
            columns.push(Column::new(name, kind));
            values.push(cell.values);
        }
        Trajectory::from_columns(columns, times, values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(columns: &[Column], rows: &[(f64, &[f64], Option<&[bool]>)]) -> String {
        let mut text = Vec::new();
        let mut sink = CsvSink::new(&mut text);
        sink.begin(columns).unwrap();
        for (t, values, active) in rows {
            sink.row(*t, values, *active).unwrap();
        }
        drop(sink); // no finish: an interrupted run
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn every_kind_has_its_spelling() {
        let columns = [
            Column::real("x"),
            Column::new("n", Kind::Integer),
            Column::new("b", Kind::Boolean),
            Column::new("e", Kind::Enumeration),
        ];
        let text = written(&columns, &[(0.0, &[1.0, -3.0, 0.0, 2.0], None), (1e-9, &[1e300, 7.0, 1.0, 1.0], None)]);
        assert_eq!(text, "time,x,n,b,e\n0.0,1.0,-3,false,2\n1e-9,1e300,7,true,1\n");
    }

    #[test]
    fn names_are_quoted_only_where_needed() {
        let text = written(&[Column::real("u[2,5]"), Column::real("a.b[3]"), Column::real("'say \"hi\"'")], &[]);
        assert_eq!(text, "time,\"u[2,5]\",a.b[3],\"'say \"\"hi\"\"'\"\n");
    }

    #[test]
    fn reading_back_gives_the_same_bits() {
        let columns = [Column::real("x"), Column::new("n", Kind::Integer), Column::new("b", Kind::Boolean)];
        let awkward = [0.1, 1.0 / 3.0, 5e-324, f64::MAX, -0.0, 123_456_789.123_456_79];
        let mut text = Vec::new();
        let mut sink = CsvSink::new(&mut text);
        sink.begin(&columns).unwrap();
        for (k, &x) in awkward.iter().enumerate() {
            sink.row(k as f64 * 0.1, &[x, k as f64, (k % 2) as f64], Some(&[true, k != 3, true])).unwrap();
        }
        sink.finish().unwrap();
        drop(sink);
        let back = Trajectory::read_csv(text.as_slice()).unwrap();
        assert_eq!(back.columns(), &columns);
        for (k, &x) in awkward.iter().enumerate() {
            assert_eq!(back.times()[k], k as f64 * 0.1);
            assert_eq!(back.value(k, 0).unwrap().to_bits(), x.to_bits());
            assert_eq!(back.value(k, 1), (k != 3).then_some(k as f64));
        }
    }

    #[test]
    fn wrong_files_are_refused_with_the_line() {
        for (text, message) in [
            ("", "first column"),
            ("t,x\n0,1\n", "first column"),
            ("time,x\n0,1\n1,one\n", "line 3: 'one'"),
            ("time,x\n0,1\n1\n", "line: 3"),
            ("time,x\nnan,1\n", "line 2"),
            ("time,x\n1,1\n0,1\n", "backwards"),
        ] {
            let error = Trajectory::read_csv(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(message), "{text:?} gave {error:?}");
        }
    }

    #[test]
    fn misuse_is_an_error_and_not_a_panic() {
        let mut sink = CsvSink::new(Vec::new());
        assert!(sink.row(0.0, &[], None).is_err());
        sink.begin(&[Column::real("x")]).unwrap();
        assert!(sink.row(0.0, &[], None).is_err());
        assert!(sink.row(0.0, &[1.0], Some(&[])).is_err());
        assert!(sink.begin(&[]).is_err());
    }
}
