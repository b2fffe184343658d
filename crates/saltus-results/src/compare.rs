//! Is this result that result?

use crate::Trajectory;
use std::fmt;

/// How far two results may differ.
///
/// A reference value r at time t is met if the result, somewhere in [t − `time`, t + `time`] and on either side of an
/// event, comes within `absolute + relative·|r|` of it. The slack in time forgives events found a little earlier or later.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Allowed difference.
    pub absolute: f64,
    /// Allowed difference as a fraction of the reference value.
    pub relative: f64,
    /// Allowed shift in time.
    pub time: f64,
}

impl Default for Tolerance {
    fn default() -> Self {
        Tolerance { absolute: 1e-6, relative: 1e-4, time: 1e-6 }
    }
}

/// The worst miss of one variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The variable.
    pub name: String,
    /// When.
    pub time: f64,
    /// The reference value.
    pub expected: f64,
    /// The nearest value of the result; `None` if it is inactive or ends earlier.
    pub found: Option<f64>,
    /// The difference that would have been allowed.
    pub allowed: f64,
}

/// What came out of comparing a result with a reference.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// How many variables were compared.
    pub compared: usize,
    /// Variables of the reference that the result does not have.
    pub missing: Vec<String>,
    /// One entry for every variable that differs, in the order of the reference.
    pub differences: Vec<Difference>,
}

impl Comparison {
    /// Nothing is missing and nothing differs.
    pub fn agrees(&self) -> bool {
        self.missing.is_empty() && self.differences.is_empty()
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for name in &self.missing {
            writeln!(f, "{name}: not in the result")?;
        }
        for d in &self.differences {
            write!(f, "{}({}) = ", d.name, d.time)?;
            match d.found {
                Some(found) => write!(f, "{found}")?,
                None => write!(f, "nothing")?,
            }
            writeln!(f, ", expected {} (tolerance {:.2e})", d.expected, d.allowed)?;
        }
        write!(f, "{} of {} variables differ", self.differences.len(), self.compared)
    }
}

impl Trajectory {
    /// Checks every value of the reference against this result. Cells that are inactive in the reference are free.
    pub fn compare(&self, reference: &Trajectory, tolerance: Tolerance) -> Comparison {
        let mut comparison = Comparison::default();
        for (theirs, column) in reference.columns().iter().enumerate() {
            let Some(ours) = self.index_of(&column.name) else {
                comparison.missing.push(column.name.clone());
                continue;
            };
            comparison.compared += 1;
            let mut worst: Option<(f64, Difference)> = None;
            for (row, &time) in reference.times().iter().enumerate() {
                let Some(expected) = reference.value(row, theirs) else { continue };
                let found = self.range(ours, time, tolerance.time).map(|(low, high)| expected.clamp(low, high));
                let allowed = tolerance.absolute + tolerance.relative * expected.abs();
                let miss = found.map_or(f64::INFINITY, |found| (found - expected).abs());
                if miss > allowed && worst.as_ref().is_none_or(|(excess, _)| miss - allowed > *excess) {
                    let name = column.name.clone();
                    worst = Some((miss - allowed, Difference { name, time, expected, found, allowed }));
                }
            }
            comparison.differences.extend(worst.map(|(_, d)| d));
        }
        comparison
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Column;

    fn step_at(t: f64, high: f64) -> Trajectory {
        let mut result = Trajectory::new(vec![Column::real("x")]);
        for (time, x) in [(0.0, 0.0), (t, 0.0), (t, high), (2.0, high)] {
            result.push(time, &[x], None);
        }
        result
    }

    #[test]
    fn equal_results_agree() {
        let a = step_at(1.0, 1.0);
        assert!(a.compare(&a, Tolerance { absolute: 0.0, relative: 0.0, time: 0.0 }).agrees());
    }

    #[test]
    fn a_late_event_is_forgiven_only_within_the_time_tolerance() {
        let (result, reference) = (step_at(1.001, 1.0), step_at(1.0, 1.0));
        let tolerance = |time| Tolerance { absolute: 1e-6, relative: 0.0, time };
        assert!(result.compare(&reference, tolerance(0.01)).agrees());
        let c = result.compare(&reference, tolerance(1e-6));
        assert_eq!(c.differences.len(), 1);
        assert_eq!((c.differences[0].time, c.differences[0].expected), (1.0, 1.0));
        assert!(c.to_string().ends_with("1 of 1 variables differ"));
    }

    #[test]
    fn missing_variables_and_short_results_are_told() {
        let mut short = Trajectory::new(vec![Column::real("x")]);
        short.push(0.0, &[0.0], None);
        let c = short.compare(&step_at(1.0, 1.0), Tolerance::default());
        assert_eq!(c.differences[0].found, None);
        let c = Trajectory::new(vec![]).compare(&short, Tolerance::default());
        assert_eq!(c.missing, ["x"]);
        assert!(!c.agrees());
    }

    #[test]
    fn a_wrong_height_is_named_with_its_tolerance() {
        let c = step_at(1.0, 1.1).compare(&step_at(1.0, 1.0), Tolerance { absolute: 0.0, relative: 0.05, time: 0.0 });
        let d = &c.differences[0];
        assert_eq!((d.expected, d.found, d.allowed), (1.0, Some(1.1), 0.05));
    }
}
