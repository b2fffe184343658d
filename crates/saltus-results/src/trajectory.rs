//! A result in memory.

use crate::{Column, Sink, bad_data, check_row};
use std::collections::HashMap;
use std::io;

/// Where the values of a column are kept. Parameters and aliases of a MAT file cost no rows.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// The same value at all times.
    Constant(f64),
    /// A stored series, or its negative.
    Series { index: usize, negated: bool },
}

/// The rows of one run, in order of time. At an event the same time occurs more than once.
#[derive(Clone, Debug, Default)]
pub struct Trajectory {
    columns: Vec<Column>,
    sources: Vec<Source>,
    by_name: HashMap<String, usize>,
    times: Vec<f64>,
    /// Column by column; NaN where inactive.
    series: Vec<Vec<f64>>,
}

/// The value of a variable just before and just after an instant; equal except at an event. `None`: inactive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sides {
    /// The left limit.
    pub before: Option<f64>,
    /// The right limit.
    pub after: Option<f64>,
}

impl Trajectory {
    /// An empty trajectory with these columns.
    pub fn new(columns: Vec<Column>) -> Self {
        let series = vec![Vec::new(); columns.len()];
        let sources = (0..columns.len()).map(|index| Source::Series { index, negated: false }).collect();
        Trajectory { by_name: index_names(&columns), columns, sources, times: Vec::new(), series }
    }

    /// A trajectory from whole columns; NaN marks inactive cells.
    pub(crate) fn from_columns(columns: Vec<Column>, times: Vec<f64>, series: Vec<Vec<f64>>) -> io::Result<Self> {
        let sources = (0..columns.len()).map(|index| Source::Series { index, negated: false }).collect();
        Trajectory::from_sources(columns, sources, times, series)
    }

    /// A trajectory whose columns may be constants or share series.
    pub(crate) fn from_sources(
        columns: Vec<Column>,
        sources: Vec<Source>,
        times: Vec<f64>,
        series: Vec<Vec<f64>>,
    ) -> io::Result<Self> {
        debug_assert!(series.iter().all(|s| s.len() == times.len()));
        if let Some(k) = (1..times.len()).find(|&k| times[k] < times[k - 1]) {
            return Err(bad_data(format!("time runs backwards at {}", times[k])));
        }
        Ok(Trajectory { by_name: index_names(&columns), columns, sources, times, series })
    }

    /// Appends a row.
    ///
    /// # Panics
    /// If `values` or `active` do not have one entry per column.
    pub fn push(&mut self, t: f64, values: &[f64], active: Option<&[bool]>) {
        assert_eq!(values.len(), self.series.len(), "one value per column");
        self.times.push(t);
        for (k, (series, &value)) in self.series.iter_mut().zip(values).enumerate() {
            series.push(if active.is_none_or(|a| a[k]) { value } else { f64::NAN });
        }
    }

    /// The variables, without the time.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The times of the rows, never decreasing.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// The number of the column with this name. Blanks do not matter: `u[2, 5]` is `u[2,5]`.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).or_else(|| self.by_name.get(&name.replace(' ', ""))).copied()
    }

    /// One value; `None` where the variable is inactive.
    pub fn value(&self, row: usize, column: usize) -> Option<f64> {
        let value = match self.sources[column] {
            Source::Constant(value) => value,
            Source::Series { index, negated: false } => self.series[index][row],
            Source::Series { index, negated: true } => -self.series[index][row],
        };
        (!value.is_nan()).then_some(value)
    }

    /// The values of one column in the order of the rows.
    pub fn series(&self, column: usize) -> impl Iterator<Item = Option<f64>> + '_ {
        (0..self.times.len()).map(move |row| self.value(row, column))
    }

    /// The instants that occur more than once.
    pub fn events(&self) -> Vec<f64> {
        let mut events: Vec<f64> = self.times.windows(2).filter(|w| w[0] == w[1]).map(|w| w[0]).collect();
        events.dedup();
        events
    }

    /// The value of a variable at an instant, from both sides.
    ///
    /// On rows with that time (up to 1e-9 of the time span, since grids are computed) the first row gives the left and
    /// the last row the right limit. Between rows Real values are interpolated linearly, others hold their last value.
    /// `None` if there is no such variable or the result does not reach that time.
    pub fn at(&self, name: &str, t: f64) -> Option<Sides> {
        self.sides(self.index_of(name)?, t)
    }

    /// [`Trajectory::at`] for a column that is already known by its number.
    pub fn sides(&self, column: usize, t: f64) -> Option<Sides> {
        let span = self.times.last()? - self.times.first()?;
        let near = 1e-9 * span.max(t.abs());
        let from = self.times.partition_point(|&s| s < t - near);
        let to = self.times.partition_point(|&s| s <= t + near);
        if from < to {
            return Some(Sides { before: self.value(from, column), after: self.value(to - 1, column) });
        }
        if from == 0 || from == self.times.len() {
            return None;
        }
        let value = self.between(column, from - 1, from, t);
        Some(Sides { before: value, after: value })
    }

    /// The value at `t` between the neighbouring rows `a` and `b`.
    fn between(&self, column: usize, a: usize, b: usize, t: f64) -> Option<f64> {
        let left = self.value(a, column);
        if self.columns[column].kind.holds() {
            return left;
        }
        let (left, right) = (left?, self.value(b, column)?);
        let weight = (t - self.times[a]) / (self.times[b] - self.times[a]);
        Some(left + weight * (right - left))
    }

    /// Smallest and largest value in the closed interval around `t`, jumps included; `None` if there is no value in it.
    pub(crate) fn range(&self, column: usize, t: f64, radius: f64) -> Option<(f64, f64)> {
        let rows = self.times.partition_point(|&s| s < t - radius)..self.times.partition_point(|&s| s <= t + radius);
        let inside = rows.filter_map(|row| self.value(row, column));
        let ends = [t - radius, t, t + radius]
            .into_iter()
            .filter_map(|t| self.sides(column, t))
            .flat_map(|s| [s.before, s.after])
            .flatten();
        inside.chain(ends).fold(None, |range, v| match range {
            None => Some((v, v)),
            Some((low, high)) => Some((low.min(v), high.max(v))),
        })
    }

    /// Writes the whole trajectory to a sink.
    pub fn write_to(&self, sink: &mut dyn Sink) -> io::Result<()> {
        sink.begin(&self.columns)?;
        let mut values = vec![0.0; self.columns.len()];
        let mut active = vec![true; self.columns.len()];
        for (row, &t) in self.times.iter().enumerate() {
            for column in 0..self.columns.len() {
                let value = self.value(row, column);
                active[column] = value.is_some();
                values[column] = value.unwrap_or(0.0);
            }
            sink.row(t, &values, Some(&active))?;
        }
        sink.finish()
    }
}

fn index_names(columns: &[Column]) -> HashMap<String, usize> {
    columns.iter().enumerate().map(|(k, c)| (c.name.clone(), k)).collect()
}

/// Keeps rows in memory: all columns, or only those asked for.
#[derive(Clone, Debug, Default)]
pub struct MemorySink {
    wanted: Option<Vec<String>>,
    /// Columns of the rows that are kept, in the order of `trajectory`.
    kept: Vec<usize>,
    width: usize,
    trajectory: Trajectory,
}

impl MemorySink {
    /// Keeps everything.
    pub fn new() -> Self {
        MemorySink::default()
    }

    /// Keeps only the named columns, those that exist, in this order.
    pub fn only<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        MemorySink { wanted: Some(names.into_iter().map(Into::into).collect()), ..MemorySink::default() }
    }

    /// What has been kept so far.
    pub fn trajectory(&self) -> &Trajectory {
        &self.trajectory
    }

    /// What has been kept.
    pub fn into_trajectory(self) -> Trajectory {
        self.trajectory
    }
}

impl Sink for MemorySink {
    fn begin(&mut self, columns: &[Column]) -> io::Result<()> {
        self.width = columns.len();
        self.kept = match &self.wanted {
            None => (0..columns.len()).collect(),
            Some(names) => {
                let by_name = index_names(columns);
                names
                    .iter()
                    .filter_map(|n| by_name.get(n).or_else(|| by_name.get(&n.replace(' ', ""))))
                    .copied()
                    .collect()
            }
        };
        self.trajectory = Trajectory::new(self.kept.iter().map(|&k| columns[k].clone()).collect());
        Ok(())
    }

    fn row(&mut self, t: f64, values: &[f64], active: Option<&[bool]>) -> io::Result<()> {
        check_row(self.width, values, active)?;
        self.trajectory.times.push(t);
        for (series, &k) in self.trajectory.series.iter_mut().zip(&self.kept) {
            series.push(if active.is_none_or(|a| a[k]) { values[k] } else { f64::NAN });
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    /// x rises to 1, jumps to -1 at t = 1 where y comes alive, and rises again; n counts.
    fn sample() -> Trajectory {
        let mut sink = MemorySink::new();
        sink.begin(&[Column::real("x"), Column::real("y"), Column::new("n", Kind::Integer)]).unwrap();
        sink.row(0.0, &[0.0, 0.0, 0.0], Some(&[true, false, true])).unwrap();
        sink.row(1.0, &[1.0, 0.0, 0.0], Some(&[true, false, true])).unwrap();
        sink.row(1.0, &[-1.0, 5.0, 1.0], None).unwrap();
        sink.row(3.0, &[1.0, 7.0, 1.0], None).unwrap();
        sink.into_trajectory()
    }

    #[test]
    fn both_sides_of_an_event() {
        let t = sample();
        let sides = |name: &str, at| t.at(name, at).unwrap();
        assert_eq!(sides("x", 1.0), Sides { before: Some(1.0), after: Some(-1.0) });
        assert_eq!(sides("y", 1.0), Sides { before: None, after: Some(5.0) });
        assert_eq!(sides("x", 0.5), Sides { before: Some(0.5), after: Some(0.5) });
        assert_eq!(sides("x", 2.0), Sides { before: Some(0.0), after: Some(0.0) });
        assert_eq!(sides("n", 0.99), Sides { before: Some(0.0), after: Some(0.0) });
        assert_eq!(sides("x", 3.0 + 1e-12).after, Some(1.0));
        assert_eq!(t.at("x", 3.1), None);
        assert_eq!(t.at("x", -0.1), None);
        assert_eq!(t.at("z", 1.0), None);
        assert_eq!(t.events(), [1.0]);
    }

    #[test]
    fn a_selection_keeps_its_order() {
        let all = sample();
        let mut some = MemorySink::only(["n", "missing", "x"]);
        all.write_to(&mut some).unwrap();
        let some = some.into_trajectory();
        assert_eq!(some.columns().iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["n", "x"]);
        assert_eq!(some.series(1).flatten().collect::<Vec<_>>(), [0.0, 1.0, -1.0, 1.0]);
    }

    #[test]
    fn blanks_in_names_do_not_matter() {
        let t = Trajectory::new(vec![Column::real("u[2,5]")]);
        assert_eq!(t.index_of("u[2, 5]"), Some(0));
    }

    #[test]
    fn an_empty_trajectory_has_no_values() {
        let t = Trajectory::new(vec![Column::real("x")]);
        assert_eq!(t.at("x", 0.0), None);
        assert!(t.events().is_empty());
    }
}
