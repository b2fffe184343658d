//! Parquet files: one column per variable, nulls where a variable is inactive.

use crate::{Column, Kind, Sink, check_row, misuse};
use parquet::basic::{Repetition, Type as Physical};
use parquet::data_type::{BoolType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use std::io::{self, Write};
use std::sync::Arc;

/// Bytes of values gathered before they are written as a row group.
const BUDGET: usize = 64 << 20;
/// Rows that a group has at most, however narrow it is.
const MOST_ROWS: usize = 1 << 17;

/// Writes rows as Parquet: `time` and Reals as doubles, Integers and enumerations as 64-bit integers, Booleans as such.
///
/// Rows are gathered and written in groups of bounded size. Units and descriptions become key-value metadata of the file:
/// `unit:<name>` and `description:<name>`.
pub struct ParquetSink<W: Write + Send> {
    state: State<W>,
}

enum State<W: Write + Send> {
    New(W),
    Open(Box<Open<W>>),
    Finished,
}

struct Open<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    kinds: Vec<Kind>,
    rows_per_group: usize,
    times: Vec<f64>,
    /// Row by row.
    values: Vec<f64>,
    /// Row by row; empty as long as everything has been active.
    active: Vec<bool>,
}

impl<W: Write + Send> ParquetSink<W> {
    /// A sink that writes to `output`. It does its own buffering.
    pub fn new(output: W) -> Self {
        ParquetSink { state: State::New(output) }
    }
}

impl<W: Write + Send> Sink for ParquetSink<W> {
    fn begin(&mut self, columns: &[Column]) -> io::Result<()> {
        let State::New(output) = std::mem::replace(&mut self.state, State::Finished) else {
            return Err(misuse("a result was begun twice"));
        };
        self.state = State::Open(Box::new(Open::new(output, columns)?));
        Ok(())
    }

    fn row(&mut self, t: f64, values: &[f64], active: Option<&[bool]>) -> io::Result<()> {
        match &mut self.state {
            State::Open(open) => open.row(t, values, active),
            _ => Err(misuse("a result row came before its columns or after the end")),
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        match std::mem::replace(&mut self.state, State::Finished) {
            State::Open(mut open) => {
                open.write_group()?;
                let mut output = open.writer.into_inner().map_err(to_io)?;
                output.flush()
            }
            _ => Ok(()),
        }
    }
}

impl<W: Write + Send> Drop for ParquetSink<W> {
    fn drop(&mut self) {
        // An interrupted run keeps its rows; whoever wants to know about errors calls `finish`.
        let _ = self.finish();
    }
}

impl<W: Write + Send> Open<W> {
    fn new(output: W, columns: &[Column]) -> io::Result<Self> {
        let field = |name: &str, physical, repetition| {
            Type::primitive_type_builder(name, physical)
                .with_repetition(repetition)
                .build()
                .map(Arc::new)
                .map_err(to_io)
        };
        let mut fields = vec![field("time", Physical::DOUBLE, Repetition::REQUIRED)?];
        let mut metadata = vec![KeyValue::new("unit:time".into(), "s".to_string())];
        for column in columns {
            let physical = match column.kind {
                Kind::Real => Physical::DOUBLE,
                Kind::Boolean => Physical::BOOLEAN,
                Kind::Integer | Kind::Enumeration => Physical::INT64,
            };
            fields.push(field(&column.name, physical, Repetition::OPTIONAL)?);
            for (key, text) in [("unit", &column.unit), ("description", &column.description)] {
                if !text.is_empty() {
                    metadata.push(KeyValue::new(format!("{key}:{}", column.name), text.clone()));
                }
            }
        }
        let schema = Type::group_type_builder("result").with_fields(fields).build().map_err(to_io)?;
        let properties = WriterProperties::builder()
            .set_created_by(concat!("saltus ", env!("CARGO_PKG_VERSION")).into())
            .set_key_value_metadata(Some(metadata))
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .build();
        Ok(Open {
            writer: SerializedFileWriter::new(output, Arc::new(schema), Arc::new(properties)).map_err(to_io)?,
            kinds: columns.iter().map(|c| c.kind).collect(),
            rows_per_group: (BUDGET / (9 * (columns.len() + 1))).clamp(1, MOST_ROWS),
            times: Vec::new(),
            values: Vec::new(),
            active: Vec::new(),
        })
    }

    fn row(&mut self, t: f64, values: &[f64], active: Option<&[bool]>) -> io::Result<()> {
        check_row(self.kinds.len(), values, active)?;
        if let Some(active) = active.filter(|a| !self.active.is_empty() || a.contains(&false)) {
            self.active.resize(self.values.len(), true);
            self.active.extend_from_slice(active);
        } else if !self.active.is_empty() {
            self.active.resize(self.values.len() + values.len(), true);
        }
        self.times.push(t);
        self.values.extend_from_slice(values);
        if self.times.len() >= self.rows_per_group {
            self.write_group()?;
        }
        Ok(())
    }

    fn write_group(&mut self) -> io::Result<()> {
        if self.times.is_empty() {
            return Ok(());
        }
        let width = self.kinds.len();
        let mut group = self.writer.next_row_group().map_err(to_io)?;
        write_column::<DoubleType, W>(&mut group, &self.times, None)?;
        for (k, &kind) in self.kinds.iter().enumerate() {
            let is_active = |row: usize| self.active.is_empty() || self.active[row * width + k];
            let levels: Vec<i16> = (0..self.times.len()).map(|row| is_active(row).into()).collect();
            let cells = (0..self.times.len()).filter(|&row| is_active(row)).map(|row| self.values[row * width + k]);
            match kind {
                Kind::Real => write_column::<DoubleType, W>(&mut group, &cells.collect::<Vec<_>>(), Some(&levels))?,
                Kind::Boolean => {
                    write_column::<BoolType, W>(
                        &mut group,
                        &cells.map(|v| v != 0.0).collect::<Vec<_>>(),
                        Some(&levels),
                    )?;
                }
                Kind::Integer | Kind::Enumeration => {
                    write_column::<Int64Type, W>(
                        &mut group,
                        &cells.map(|v| v as i64).collect::<Vec<_>>(),
                        Some(&levels),
                    )?;
                }
            }
        }
        group.close().map_err(to_io)?;
        self.times.clear();
        self.values.clear();
        self.active.clear();
        Ok(())
    }
}

fn write_column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    cells: &[T::T],
    levels: Option<&[i16]>,
) -> io::Result<()> {
    let mut column = group.next_column().map_err(to_io)?.ok_or_else(|| misuse("fewer columns than announced"))?;
    column.typed::<T>().write_batch(cells, levels, None).map_err(to_io)?;
    column.close().map_err(to_io)
}

fn to_io(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(e) => match e.downcast::<io::Error>() {
            Ok(e) => *e,
            Err(e) => io::Error::other(e),
        },
        e => io::Error::other(e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;
    use std::fs::{self, File};

    #[test]
    fn reading_back_gives_the_same_rows() {
        let path = std::env::temp_dir().join(format!("saltus-results-{}.parquet", std::process::id()));
        let columns = [
            Column::real("u[2,5]").with_unit("V").with_description("voltage"),
            Column::new("n", Kind::Integer),
            Column::new("b", Kind::Boolean),
        ];
        let mut sink = ParquetSink::new(File::create(&path).unwrap());
        sink.begin(&columns).unwrap();
        if let State::Open(open) = &mut sink.state {
            open.rows_per_group = 3;
        }
        for k in 0..8 {
            let x = f64::from(k);
            // The first rows come without the active bits, so that both ways are walked.
            let active = [true, k != 5, k != 3];
            sink.row(x, &[x * 0.1, x, f64::from(k % 2)], (k > 1).then_some(&active[..])).unwrap();
        }
        drop(sink); // no finish: an interrupted run
        let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        assert_eq!(reader.metadata().num_row_groups(), 3);
        let metadata = reader.metadata().file_metadata().key_value_metadata().unwrap();
        assert!(metadata.contains(&KeyValue::new("unit:u[2,5]".into(), "V".to_string())));
        let mut rows = 0;
        for (k, row) in reader.get_row_iter(None).unwrap().enumerate() {
            let row = row.unwrap();
            let cells: Vec<(&str, &Field)> = row.get_column_iter().map(|(n, f)| (n.as_str(), f)).collect();
            let x = k as f64;
            assert_eq!(cells[0], ("time", &Field::Double(x)));
            assert_eq!(cells[1], ("u[2,5]", &Field::Double(x * 0.1)));
            assert_eq!(cells[2], ("n", &if k == 5 { Field::Null } else { Field::Long(k as i64) }));
            assert_eq!(cells[3], ("b", &if k == 3 { Field::Null } else { Field::Bool(k % 2 == 1) }));
            rows += 1;
        }
        assert_eq!(rows, 8);
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn the_order_of_calls_is_checked() {
        let mut sink = ParquetSink::new(Vec::new());
        assert!(sink.row(0.0, &[], None).is_err());
        sink.begin(&[]).unwrap();
        assert!(sink.begin(&[]).is_err());
    }
}
