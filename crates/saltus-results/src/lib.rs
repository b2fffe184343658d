//! Trajectories of hybrid simulations: writing, reading, comparing, drawing.
//!
//! A run produces rows: a time and one value per column. At an event the same time comes twice (or more often), first
//! with the values before, then with the values after. A column that does not exist in the current mode is *inactive*:
//! an empty cell in CSV, a null in Parquet, a NaN in MAT files.
//!
//! ```text
//!   rows ──▶ Sink ──┬─ CsvSink      text, for everything
//!                   ├─ MatSink      MAT v4 as Dymola and OpenModelica write it
//!                   ├─ ParquetSink  columns, for data frames
//!                   ├─ MemorySink ──▶ Trajectory ──▶ at, compare, plot_svg
//!                   ├─ Apart        what changes at events alone, as a list of changes
//!                   └─ Tee          several of them at once
//! ```
//!
//! Nothing in here knows what a model is: columns have names, kinds, units and descriptions, and that is all.

mod apart;
mod compare;
mod csv;
mod mat;
mod parquet;
mod plot;
mod trajectory;

pub use crate::apart::Apart;
pub use crate::compare::{Comparison, Difference, Tolerance};
pub use crate::csv::CsvSink;
pub use crate::mat::MatSink;
pub use crate::parquet::ParquetSink;
pub use crate::plot::{Size, UnknownVariable, plot_svg};
pub use crate::trajectory::{MemorySink, Sides, Trajectory};

use std::io;
use std::path::Path;

/// What the values of a column mean. All of them travel as `f64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Kind {
    /// A continuous or discrete real number.
    #[default]
    Real,
    /// A whole number.
    Integer,
    /// Zero is false, everything else is true.
    Boolean,
    /// The ordinal number of a literal, starting with one.
    Enumeration,
}

impl Kind {
    /// Whether values between two rows hold their last value instead of being interpolated.
    pub fn holds(self) -> bool {
        self != Kind::Real
    }
}

/// One variable of a result.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Column {
    /// The flattened name: `a.b`, `u[3]`, `u[2,5]`.
    pub name: String,
    /// What the values mean.
    pub kind: Kind,
    /// The unit as written in the model, or empty.
    pub unit: String,
    /// The description string, or empty.
    pub description: String,
    /// Its value, if it is the same in every row: formats that have a place for constants store it once.
    pub constant: Option<f64>,
    /// It changes at events alone.
    pub held: bool,
}

impl Column {
    /// A column without unit and description.
    pub fn new(name: impl Into<String>, kind: Kind) -> Self {
        Column { name: name.into(), kind, ..Column::default() }
    }

    /// A real column without unit and description.
    pub fn real(name: impl Into<String>) -> Self {
        Column::new(name, Kind::Real)
    }

    /// The same column with a unit.
    pub fn with_unit(mut self, unit: impl Into<String>) -> Self {
        self.unit = unit.into();
        self
    }

    /// The same column, known to hold one value.
    pub fn with_constant(mut self, value: f64) -> Self {
        self.constant = Some(value);
        self
    }

    /// The same column, known to change at events alone.
    pub fn held(mut self) -> Self {
        self.held = true;
        self
    }

    /// The same column with a description.
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }
}

/// Something that takes the rows of one run: `begin` once, `row` in order of time, `finish` once.
///
/// Writers finish by themselves when dropped, so that an interrupted run keeps its rows; only `finish` reports errors.
pub trait Sink {
    /// Announces the columns. The time is not one of them.
    fn begin(&mut self, columns: &[Column]) -> io::Result<()>;

    /// One row. `values` has one finite value per column; where `active` is given and false the variable does not exist
    /// in the current mode and its value is ignored.
    fn row(&mut self, t: f64, values: &[f64], active: Option<&[bool]>) -> io::Result<()>;

    /// Hands on the rows so far, where the format allows it, so that others can read them.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Completes the output. Calling it again does nothing.
    fn finish(&mut self) -> io::Result<()>;
}

impl<S: Sink + ?Sized> Sink for &mut S {
    fn begin(&mut self, columns: &[Column]) -> io::Result<()> {
        (**self).begin(columns)
    }
    fn row(&mut self, t: f64, values: &[f64], active: Option<&[bool]>) -> io::Result<()> {
        (**self).row(t, values, active)
    }
    fn flush(&mut self) -> io::Result<()> {
        (**self).flush()
    }
    fn finish(&mut self) -> io::Result<()> {
        (**self).finish()
    }
}

impl<S: Sink + ?Sized> Sink for Box<S> {
    fn begin(&mut self, columns: &[Column]) -> io::Result<()> {
        (**self).begin(columns)
    }
    fn row(&mut self, t: f64, values: &[f64], active: Option<&[bool]>) -> io::Result<()> {
        (**self).row(t, values, active)
    }
    fn flush(&mut self) -> io::Result<()> {
        (**self).flush()
    }
    fn finish(&mut self) -> io::Result<()> {
        (**self).finish()
    }
}

/// Hands every row to two sinks; nest for more. The second still finishes when the first fails to.
pub struct Tee<A, B>(pub A, pub B);

impl<A: Sink, B: Sink> Sink for Tee<A, B> {
    fn begin(&mut self, columns: &[Column]) -> io::Result<()> {
        self.0.begin(columns)?;
        self.1.begin(columns)
    }
    fn row(&mut self, t: f64, values: &[f64], active: Option<&[bool]>) -> io::Result<()> {
        self.0.row(t, values, active)?;
        self.1.row(t, values, active)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()?;
        self.1.flush()
    }
    fn finish(&mut self) -> io::Result<()> {
        let first = self.0.finish();
        self.1.finish().and(first)
    }
}

/// Where files go that are patched while they grow.
pub trait Store: io::Write + io::Seek {
    /// Cuts off what lies beyond this length.
    fn cut(&mut self, length: u64) -> io::Result<()>;
}

impl Store for std::fs::File {
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }
}

impl Store for io::Cursor<Vec<u8>> {
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.get_mut().truncate(length as usize);
        Ok(())
    }
}

impl<S: Store + ?Sized> Store for &mut S {
    fn cut(&mut self, length: u64) -> io::Result<()> {
        (**self).cut(length)
    }
}

/// A result file format, told from the extension of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated text.
    Csv,
    /// MAT version 4.
    Mat,
    /// Parquet.
    Parquet,
}

impl Format {
    /// The format that the extension asks for; `None` if it names none of ours.
    pub fn of_path(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "csv" => Some(Format::Csv),
            "mat" => Some(Format::Mat),
            "parquet" => Some(Format::Parquet),
            _ => None,
        }
    }

    /// A sink that writes this format. `constants` are parameters with their values: MAT files store them once; the
    /// other formats leave them out.
    pub fn sink<W>(self, output: W, constants: Vec<(Column, f64)>) -> Box<dyn Sink + Send>
    where
        W: Store + Send + 'static,
    {
        match self {
            Format::Csv => Box::new(CsvSink::new(output)),
            Format::Mat => Box::new(MatSink::new(output).with_constants(constants)),
            Format::Parquet => Box::new(ParquetSink::new(output)),
        }
    }
}

/// The error of a sink that was used out of order or with rows of the wrong width.
fn misuse(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("bug in Saltus: {what}"))
}

/// The error of a file that is not what it should be.
fn bad_data(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.into())
}

/// Checks one row against the number of announced columns.
fn check_row(columns: usize, values: &[f64], active: Option<&[bool]>) -> io::Result<()> {
    if values.len() != columns || active.is_some_and(|a| a.len() != columns) {
        return Err(misuse("a result row does not have one value per column"));
    }
    Ok(())
}
