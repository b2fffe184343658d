//! Where rows go: a file (or standard output), and the memory of the plot.

use crate::console::StandardOutput;
use saltus_dae::{HybridDae, VarType, Variability};
use saltus_results::{Apart, Column, CsvSink, Format, Kind, MemorySink, Sink, Trajectory};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Where the trajectory goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// CSV on standard output.
    StandardOutput,
    /// A file in a format told by its extension.
    File(PathBuf, Format),
}

impl Destination {
    /// What `--output` asks for; without it, `MODEL.csv` in the current folder.
    pub fn new(output: Option<&str>, model: &str) -> Result<Destination, String> {
        let Some(output) = output else { return Ok(Destination::File(format!("{model}.csv").into(), Format::Csv)) };
        if output == "-" {
            return Ok(Destination::StandardOutput);
        }
        let path = PathBuf::from(output);
        let Some(format) = Format::of_path(&path) else {
            return Err(format!("cannot tell the format of {output}: it has to end with .csv, .mat or .parquet"));
        };
        check_folder(&path)?;
        Ok(Destination::File(path, format))
    }

    /// Where the picture goes: beside the output, or `MODEL.svg`.
    pub fn picture(&self, model: &str) -> PathBuf {
        match self {
            Destination::StandardOutput => format!("{model}.svg").into(),
            Destination::File(path, _) => path.with_extension("svg"),
        }
    }
}

/// Refuses to write one file twice, or over what is read. Devices take everything.
pub fn check_distinct<'a>(files: impl IntoIterator<Item = &'a Path>) -> Result<(), String> {
    let mut seen = Vec::new();
    for file in files {
        let folder = file.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let place = file.canonicalize().ok().or_else(|| Some(folder.canonicalize().ok()?.join(file.file_name()?)));
        if place.as_ref().is_some_and(|p| p.exists() && !p.is_file()) {
            continue;
        }
        if place.is_some() && seen.contains(&place) {
            return Err(format!("{} cannot be two files at once", file.display()));
        }
        seen.push(place);
    }
    Ok(())
}

/// Whether a file can be made there, as far as that can be told before the run.
pub fn check_folder(path: &Path) -> Result<(), String> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            Err(format!("no such folder: {}", folder.display()))
        }
        _ if path.is_dir() => Err(format!("{} is a folder", path.display())),
        _ => Ok(()),
    }
}

/// Takes the rows of a run.
pub struct Output {
    destination: Destination,
    constants: Vec<(Column, f64)>,
    sink: Option<Box<dyn Sink + Send>>,
    /// What `--plot` asks for.
    wanted: Vec<String>,
    plot: Option<MemorySink>,
    /// The variables to draw, in order.
    pub drawn: Vec<String>,
    /// What `--plot` asks for and the result does not have.
    pub missing: Vec<String>,
    /// The file could not be made, and why.
    pub refused: Option<String>,
    /// What went wrong with writing, however the engine takes it.
    pub failed: Option<io::Error>,
    /// When the columns were announced.
    pub begun: Option<Instant>,
    /// When the first row came.
    pub first_row: Option<Instant>,
    /// Rows so far.
    pub rows: usize,
    /// The time of the last row.
    pub last_time: f64,
    /// Somebody follows the run: rows are handed on as they come.
    pub followed: bool,
    /// Where discrete variables go as they change, if not into the table.
    pub discrete: Option<PathBuf>,
}

impl Output {
    /// An output to `destination` that keeps the `wanted` variables for a picture. `constants` are stored by formats that
    /// have a place for parameters.
    pub fn new(destination: Destination, wanted: Vec<String>, constants: Vec<(Column, f64)>) -> Output {
        Output {
            destination,
            constants,
            sink: None,
            wanted,
            plot: None,
            drawn: Vec::new(),
            missing: Vec::new(),
            refused: None,
            failed: None,
            begun: None,
            first_row: None,
            rows: 0,
            last_time: f64::NAN,
            followed: false,
            discrete: None,
        }
    }

    /// The file that was written, if it is one.
    pub fn path(&self) -> Option<&Path> {
        match &self.destination {
            Destination::File(path, _) if self.sink.is_some() => Some(path),
            _ => None,
        }
    }

    /// A new file; where it cannot be made the reason is kept.
    fn create(&mut self, path: &Path) -> io::Result<File> {
        File::create(path).inspect_err(|error| {
            self.refused = Some(format!("cannot write {}: {error}", path.display()));
        })
    }

    fn note(&mut self, result: io::Result<()>) -> io::Result<()> {
        result.inspect_err(|error| {
            self.failed.get_or_insert_with(|| io::Error::new(error.kind(), error.to_string()));
        })
    }

    /// What is to be drawn.
    pub fn trajectory(&self) -> Option<&Trajectory> {
        self.plot.as_ref().map(MemorySink::trajectory)
    }
}

impl Sink for Output {
    fn begin(&mut self, columns: &[Column]) -> io::Result<()> {
        self.begun.get_or_insert_with(Instant::now);
        let mut sink: Box<dyn Sink + Send> = match self.destination.clone() {
            Destination::StandardOutput => Box::new(CsvSink::new(StandardOutput)),
            Destination::File(path, format) => {
                let file = self.create(&path)?;
                let mut constants = std::mem::take(&mut self.constants);
                let names: std::collections::HashSet<&str> = columns.iter().map(|c| c.name.as_str()).collect();
                constants.retain(|(column, _)| !names.contains(column.name.as_str()));
                format.sink(file, constants)
            }
        };
        if let Some(path) = self.discrete.clone() {
            sink = Box::new(Apart::new(sink, self.create(&path)?));
        }
        sink.begin(columns)?;
        self.sink = Some(sink);
        if !self.wanted.is_empty() {
            (self.drawn, self.missing) = choose(&self.wanted, columns.iter().map(|c| c.name.as_str()));
            let mut plot = MemorySink::only(self.drawn.clone());
            plot.begin(columns)?;
            self.plot = Some(plot);
        }
        Ok(())
    }

    fn row(&mut self, t: f64, values: &[f64], active: Option<&[bool]>) -> io::Result<()> {
        self.first_row.get_or_insert_with(Instant::now);
        self.rows += 1;
        self.last_time = t;
        if let Some(plot) = &mut self.plot {
            plot.row(t, values, active)?;
        }
        let result = self.sink.as_mut().map_or(Ok(()), |sink| match self.followed {
            true => sink.row(t, values, active).and_then(|()| sink.flush()),
            false => sink.row(t, values, active),
        });
        self.note(result)
    }

    fn finish(&mut self) -> io::Result<()> {
        let result = self.sink.as_mut().map_or(Ok(()), |sink| sink.finish());
        self.note(result)
    }
}

/// The columns that a list of names means, and the names that mean none. The name of an array means its elements.
pub fn choose<'a>(wanted: &[String], columns: impl Iterator<Item = &'a str> + Clone) -> (Vec<String>, Vec<String>) {
    let (mut chosen, mut missing) = (Vec::new(), Vec::new());
    for name in wanted {
        let name = name.replace(' ', "");
        let is_element = |c: &str| c.strip_prefix(&name).is_some_and(|rest| rest.starts_with('['));
        let before = chosen.len();
        if columns.clone().any(|c| c == name) {
            chosen.push(name);
        } else {
            chosen.extend(columns.clone().filter(|c| is_element(c)).map(str::to_string));
            if chosen.len() == before {
                missing.push(name);
            }
        }
    }
    (chosen, missing)
}

/// The name that is most like a wrong one, if any is.
pub fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // Of a name with one or two letters nothing would be left.
    let most = name.chars().count() / 3;
    names
        .map(|n| (distance(name, n, most), n))
        .filter(|(d, _)| (1..=most).contains(d))
        .min_by_key(|(d, _)| *d)
        .map(|(_, n)| n)
}

/// The number of characters to insert, delete or replace, if it is at most `most`.
fn distance(a: &str, b: &str, most: usize) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > most {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = (diagonal + usize::from(x != y)).min(above + 1).min(row[j] + 1);
            diagonal = above;
        }
    }
    row[b.len()]
}

/// Parameters and constants whose value is written in the model, as far as these patterns mean them.
pub fn constants(dae: &HybridDae, patterns: &[String]) -> Vec<(Column, f64)> {
    let kind = |ty: &VarType| match ty {
        VarType::Real => Some(Kind::Real),
        VarType::Integer => Some(Kind::Integer),
        VarType::Boolean => Some(Kind::Boolean),
        VarType::Enumeration(_) => Some(Kind::Enumeration),
        _ => None,
    };
    let constant = |v: &saltus_dae::Variable| {
        let value = dae.row_constant(v.binding.as_ref()?)?;
        let column = Column::new(v.name.as_str(), kind(&v.ty)?);
        Some((column.with_unit(v.unit.as_str()).with_description(&*v.description), value))
    };
    let is_shown = |v: &saltus_dae::Variable| {
        !v.hidden
            && !v.unshown
            && matches!(v.variability, Variability::Constant | Variability::Parameter)
            && saltus_sim::chosen(patterns, &v.name)
    };
    dae.vars.as_slice().iter().filter(|v| is_shown(v)).filter_map(constant).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_tells_the_format() {
        assert_eq!(Destination::new(None, "M"), Ok(Destination::File("M.csv".into(), Format::Csv)));
        assert_eq!(Destination::new(Some("a.MAT"), "M"), Ok(Destination::File("a.MAT".into(), Format::Mat)));
        assert_eq!(Destination::new(Some("-"), "M"), Ok(Destination::StandardOutput));
        assert!(Destination::new(Some("a.txt"), "M").unwrap_err().contains(".parquet"));
        assert!(Destination::new(Some("/no/such/folder/a.csv"), "M").unwrap_err().contains("no such folder"));
    }

    #[test]
    fn no_file_is_written_twice() {
        let check = |a: &str, b: &str| check_distinct([Path::new(a), Path::new(b)]);
        assert!(check("a.csv", "b.csv").is_ok() && check("/dev/null", "/dev/null").is_ok());
        assert!(check("a.csv", "a.csv").is_err() && check("a.csv", "./a.csv").is_err());
    }

    #[test]
    fn the_picture_lies_beside_the_output() {
        assert_eq!(Destination::new(Some("a.b.csv"), "M").unwrap().picture("M"), Path::new("a.b.svg"));
        assert_eq!(Destination::StandardOutput.picture("M"), Path::new("M.svg"));
    }

    #[test]
    fn names_mean_columns_or_arrays_of_them() {
        let columns = ["h", "T[1]", "T[2]", "Tx", "u[2,5]"];
        let wanted = ["h", "T", "u[2, 5]", "nope"].map(String::from);
        let (chosen, missing) = choose(&wanted, columns.into_iter());
        assert_eq!(chosen, ["h", "T[1]", "T[2]", "u[2,5]"]);
        assert_eq!(missing, ["nope"]);
    }

    #[test]
    fn a_name_with_a_slip_is_recognised() {
        let names = ["height", "speed", "x"];
        assert_eq!(nearest("hieght", names.into_iter()), Some("height"));
        assert_eq!(nearest("spee", names.into_iter()), Some("speed"));
        assert_eq!(nearest("temperature", names.into_iter()), None);
        assert_eq!(nearest("y", names.into_iter()), None);
    }

    #[test]
    fn rows_reach_the_file_and_the_picture() {
        let path = std::env::temp_dir().join(format!("saltus-output-{}.csv", std::process::id()));
        let mut output = Output::new(Destination::File(path.clone(), Format::Csv), vec!["y".into()], Vec::new());
        assert_eq!(output.path(), None);
        output.begin(&[Column::real("x"), Column::real("y")]).unwrap();
        output.row(0.0, &[1.0, 2.0], None).unwrap();
        output.row(1.0, &[3.0, 4.0], None).unwrap();
        output.finish().unwrap();
        assert_eq!((output.rows, output.last_time), (2, 1.0));
        assert_eq!(output.trajectory().unwrap().columns().len(), 1);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "time,x,y\n0.0,1.0,2.0\n1.0,3.0,4.0\n");
        std::fs::remove_file(path).unwrap();
    }
}
