//! What changes at events alone, apart from the table: one line per change.

use crate::csv::{BUFFER, push_name, push_real, push_value};
use crate::{Column, Kind, Sink, check_row, misuse};
use std::io::{self, Write};

/// Hands a table without the columns that are [held](Column::held) to another sink and writes these as text with the header
/// `time,variable,value`: all at the first row, and from then on each one whenever it has changed. Columns that are constant stay in
/// the table.
///
/// ```
/// use saltus_results::{Apart, Column, CsvSink, Kind, Sink};
/// let (mut table, mut changes) = (Vec::new(), Vec::new());
/// let mut sink = Apart::new(CsvSink::new(&mut table), &mut changes);
/// sink.begin(&[Column::real("x"), Column::new("on", Kind::Boolean).held()]).unwrap();
/// for (t, x, on) in [(0.0, 1.0, 0.0), (0.5, 2.0, 0.0), (0.5, 2.0, 1.0), (1.0, 3.0, 1.0)] {
///     sink.row(t, &[x, on], None).unwrap();
/// }
/// drop(sink);
/// assert_eq!(String::from_utf8(table).unwrap(), "time,x\n0.0,1.0\n0.5,2.0\n0.5,2.0\n1.0,3.0\n");
/// assert_eq!(String::from_utf8(changes).unwrap(), "time,variable,value\n0.0,on,false\n0.5,on,true\n");
/// ```
pub struct Apart<S: Sink, W: Write> {
    table: S,
    changes: W,
    buffer: Vec<u8>,
    columns: Option<Columns>,
}

struct Columns {
    /// The number of all, and the places of those in the table.
    all: usize,
    table: Vec<usize>,
    held: Vec<Held>,
    /// The present row of the table.
    row: Vec<f64>,
    active: Vec<bool>,
}

struct Held {
    place: usize,
    /// As it stands in the file.
    name: Vec<u8>,
    kind: Kind,
    /// What was written last; inside, nothing where it was inactive.
    last: Option<Option<f64>>,
}

impl<S: Sink, W: Write> Apart<S, W> {
    /// Splits between `table` and `changes`, which is buffered here.
    pub fn new(table: S, changes: W) -> Self {
        Apart { table, changes, buffer: Vec::with_capacity(BUFFER), columns: None }
    }

    fn drain(&mut self) -> io::Result<()> {
        let written = self.changes.write_all(&self.buffer);
        self.buffer.clear();
        written
    }
}

impl<S: Sink, W: Write> Sink for Apart<S, W> {
    fn begin(&mut self, columns: &[Column]) -> io::Result<()> {
        if self.columns.is_some() {
            return Err(misuse("a result was begun twice"));
        }
        let (held, table): (Vec<usize>, Vec<usize>) =
            (0..columns.len()).partition(|&k| columns[k].held && columns[k].constant.is_none());
        let of = |&place: &usize| {
            let mut name = Vec::new();
            push_name(&mut name, &columns[place].name);
            Held { place, name, kind: columns[place].kind, last: None }
        };
        let stays: Vec<Column> = table.iter().map(|&k| columns[k].clone()).collect();
        self.buffer.extend_from_slice(b"time,variable,value\n");
        self.columns = Some(Columns {
            all: columns.len(),
            row: vec![0.0; table.len()],
            active: vec![true; table.len()],
            table,
            held: held.iter().map(of).collect(),
        });
        self.table.begin(&stays)
    }

    fn row(&mut self, t: f64, values: &[f64], active: Option<&[bool]>) -> io::Result<()> {
        let Some(columns) = &mut self.columns else {
            return Err(misuse("a result row came before its columns"));
        };
        check_row(columns.all, values, active)?;
        let is_active = |place: usize| active.is_none_or(|a| a[place]);
        for h in &mut columns.held {
            let value = is_active(h.place).then_some(values[h.place]);
            if h.last != Some(value) {
                push_real(&mut self.buffer, t);
                self.buffer.push(b',');
                self.buffer.extend_from_slice(&h.name);
                self.buffer.push(b',');
                if let Some(value) = value {
                    push_value(&mut self.buffer, value, h.kind);
                }
                self.buffer.push(b'\n');
                h.last = Some(value);
            }
        }
        for (k, &place) in columns.table.iter().enumerate() {
            columns.row[k] = values[place];
            columns.active[k] = is_active(place);
        }
        self.table.row(t, &columns.row, active.map(|_| &columns.active[..]))?;
        if self.buffer.len() >= BUFFER { self.drain() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.drain()?;
        self.changes.flush()?;
        self.table.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        let changes = self.drain().and_then(|()| self.changes.flush());
        self.table.finish().and(changes)
    }
}

impl<S: Sink, W: Write> Drop for Apart<S, W> {
    fn drop(&mut self) {
        // An interrupted run keeps its changes; whoever wants to know about errors calls `finish`.
        let _ = self.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemorySink;

    #[test]
    fn what_is_inactive_has_no_value_and_names_are_quoted() {
        let mut changes = Vec::new();
        let mut sink = Apart::new(MemorySink::default(), &mut changes);
        let columns = [Column::new("u[2,5]", Kind::Integer).held(), Column::real("x"), Column::real("s").held()];
        sink.begin(&columns).unwrap();
        sink.row(0.0, &[1.0, 5.0, 0.5], None).unwrap();
        sink.row(1.0, &[1.0, 6.0, 0.5], Some(&[false, false, true])).unwrap();
        sink.row(2.0, &[1.0, 7.0, 0.25], None).unwrap();
        assert_eq!(sink.table.trajectory().series(0).collect::<Vec<_>>(), [Some(5.0), None, Some(7.0)]);
        drop(sink);
        let expected =
            "time,variable,value\n0.0,\"u[2,5]\",1\n0.0,s,0.5\n1.0,\"u[2,5]\",\n2.0,\"u[2,5]\",1\n2.0,s,0.25\n";
        assert_eq!(String::from_utf8(changes).unwrap(), expected);
    }

    #[test]
    fn constants_stay_in_the_table() {
        let mut changes = Vec::new();
        let mut sink = Apart::new(MemorySink::default(), &mut changes);
        sink.begin(&[Column::new("n", Kind::Integer).held().with_constant(3.0)]).unwrap();
        sink.row(0.0, &[3.0], None).unwrap();
        assert_eq!(sink.table.trajectory().columns().len(), 1);
        drop(sink);
        assert_eq!(changes, b"time,variable,value\n");
    }
}
