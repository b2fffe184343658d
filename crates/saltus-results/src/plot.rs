//! A small line plotter that writes SVG.

use crate::Trajectory;
use std::fmt::{self, Write as _};

/// The size of a picture in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Pixels from left to right.
    pub width: u32,
    /// Pixels from top to bottom.
    pub height: u32,
}

impl Default for Size {
    fn default() -> Self {
        Size { width: 800, height: 480 }
    }
}

/// A variable was asked for that the trajectory does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownVariable(pub String);

impl fmt::Display for UnknownVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no variable {} in the result", self.0)
    }
}

impl std::error::Error for UnknownVariable {}

/// Colours that stay apart for most eyes, on white and on paper; then again with dashes.
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#5b3fa0", "#444444"];
const DASHES: [&str; 3] = ["", "7 4", "2 3"];

/// Width of a character of the labels, in pixels; an estimate that is rather too large.
const CHARACTER: f64 = 7.2;

/// Draws the named variables over time.
///
/// Jumps at events are drawn as vertical lines, Integers and Booleans as stairs; where a variable is inactive its curve
/// has a gap. Long results are thinned to what the picture can show, extremes kept.
pub fn plot_svg<S: AsRef<str>>(trajectory: &Trajectory, names: &[S], size: Size) -> Result<String, UnknownVariable> {
    let mut curves = Vec::new();
    for name in names {
        let name = name.as_ref().trim();
        curves.push(trajectory.index_of(name).ok_or_else(|| UnknownVariable(name.to_string()))?);
    }
    Ok(Plot::new(trajectory, &curves, size).draw())
}

/// A straight map from values to pixels, with marks at round numbers.
struct Axis {
    low: f64,
    high: f64,
    ticks: Vec<(f64, String)>,
}

impl Axis {
    /// An axis over `low..high`; `widen` rounds the ends out to marks.
    fn new(low: f64, high: f64, marks: f64, widen: bool) -> Axis {
        let (mut low, mut high) = match (low.is_finite() && high.is_finite(), low < high) {
            (false, _) => (0.0, 1.0),
            (true, true) => (low, high),
            (true, false) => {
                let room = if low == 0.0 { 1.0 } else { low.abs() * 0.1 };
                (low - room, low + room)
            }
        };
        let mut step = round_step((high / marks - low / marks).max(f64::MIN_POSITIVE));
        // A range that floating-point numbers cannot divide gets no marks inside.
        if low + step == low || high - step == high || !step.is_finite() {
            step = high / 2.0 - low / 2.0;
        }
        let (mut first, mut last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
        if widen {
            (first, last) = ((low / step + 1e-9).floor(), (high / step - 1e-9).ceil());
            (low, high) = (low.min(first * step), high.max(last * step));
        }
        let count = (last - first).clamp(0.0, 50.0) as usize;
        let values: Vec<f64> = (0..=count).map(|k| (first + k as f64) * step).collect();
        let largest = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let ticks = values.into_iter().map(|v| (v, label(v, step, largest))).collect();
        Axis { low, high, ticks }
    }

    /// From 0 at the low end to 1 at the high end.
    fn part(&self, value: f64) -> f64 {
        let half = self.high / 2.0 - self.low / 2.0; // halved, so that huge ranges do not overflow
        (value / 2.0 - self.low / 2.0) / half
    }
}

/// The next of 1, 2, 5, 10 times a power of ten.
fn round_step(rough: f64) -> f64 {
    let power = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|m| m * power).find(|s| *s >= rough * 0.999).unwrap_or(10.0 * power)
}

fn label(value: f64, step: f64, largest: f64) -> String {
    if value == 0.0 || value.abs() < step * 1e-6 {
        return "0".into();
    }
    let text = if !(1e-4..1e6).contains(&largest) {
        let digits = (largest.log10().floor() - step.log10().floor()).clamp(0.0, 15.0) as usize;
        let text = format!("{value:.digits$e}");
        match text.split_once('e') {
            Some((mantissa, exponent)) if mantissa.contains('.') => {
                format!("{}e{exponent}", mantissa.trim_end_matches('0').trim_end_matches('.'))
            }
            _ => text,
        }
    } else {
        let digits = (-(step * 1.000001).log10().floor()).clamp(0.0, 15.0) as usize;
        format!("{value:.digits$}")
    };
    text.replace('-', "\u{2212}")
}

struct Plot<'a> {
    trajectory: &'a Trajectory,
    curves: &'a [usize],
    width: f64,
    height: f64,
}

impl<'a> Plot<'a> {
    fn new(trajectory: &'a Trajectory, curves: &'a [usize], size: Size) -> Self {
        Plot { trajectory, curves, width: size.width.max(160).into(), height: size.height.max(120).into() }
    }

    fn draw(&self) -> String {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for &column in self.curves {
            for value in self.trajectory.series(column).flatten().filter(|v| v.is_finite()) {
                (low, high) = (low.min(value), high.max(value));
            }
        }
        let times = self.trajectory.times();
        let y = Axis::new(low, high, 6.0, true);
        let x = Axis::new(
            times.first().copied().unwrap_or(f64::NAN),
            times.last().copied().unwrap_or(f64::NAN),
            (self.width / 100.0).max(2.0),
            false,
        );

        let (legend, legend_rows) = self.legend();
        let widest = y.ticks.iter().map(|(_, l)| l.chars().count()).max().unwrap_or(1);
        let unit = self.common_unit();
        let left = 16.0 + widest as f64 * CHARACTER + if unit.is_empty() { 0.0 } else { 20.0 };
        let top = 16.0 + 20.0 * legend_rows as f64;
        let (right, bottom) = (self.width - 20.0, self.height - 48.0);
        let px = |t: f64| left + x.part(t) * (right - left);
        let py = |v: f64| bottom - y.part(v) * (bottom - top);

        let mut svg = String::new();
        let s = &mut svg;
        let (w, h) = (self.width, self.height);
        // Writing to a string cannot fail.
        let _ = writeln!(
            s,
            r##"<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" font-family="system-ui, sans-serif" font-size="12" fill="#333">"##
        );
        let _ = writeln!(s, r##"<rect width="{w}" height="{h}" fill="#fff"/>"##);
        let _ = writeln!(s, r##"<g stroke="#e4e4e4" stroke-width="1">"##);
        for (v, _) in &y.ticks {
            let _ = writeln!(s, r#"<line x1="{}" y1="{y}" x2="{}" y2="{y}"/>"#, Px(left), Px(right), y = Px(py(*v)));
        }
        for (t, _) in &x.ticks {
            let _ = writeln!(s, r#"<line x1="{x}" y1="{}" x2="{x}" y2="{}"/>"#, Px(top), Px(bottom), x = Px(px(*t)));
        }
        let _ = writeln!(s, "</g>");
        let _ = writeln!(s, r#"<g text-anchor="end">"#);
        for (v, text) in &y.ticks {
            let _ = writeln!(s, r#"<text x="{}" y="{}">{text}</text>"#, Px(left - 8.0), Px(py(*v) + 4.0));
        }
        let _ = writeln!(s, "</g>\n<g text-anchor=\"middle\">");
        for (t, text) in &x.ticks {
            let _ = writeln!(s, r#"<text x="{}" y="{}">{text}</text>"#, Px(px(*t)), Px(bottom + 18.0));
        }
        let _ = writeln!(s, r#"<text x="{}" y="{}">time [s]</text>"#, Px((left + right) / 2.0), Px(h - 10.0));
        if !unit.is_empty() {
            let middle = Px((top + bottom) / 2.0);
            let unit = escape(&unit);
            let _ = writeln!(s, r#"<text transform="translate(16 {middle}) rotate(-90)">[{unit}]</text>"#);
        }
        let _ = writeln!(s, "</g>");
        let _ = writeln!(
            s,
            r##"<path d="M{l} {t}V{b}H{r}" fill="none" stroke="#333" stroke-width="1"/>"##,
            l = Px(left),
            t = Px(top),
            b = Px(bottom),
            r = Px(right)
        );
        let _ = writeln!(s, r#"<g fill="none" stroke-width="1.8" stroke-linejoin="round">"#);
        for (k, &column) in self.curves.iter().enumerate() {
            let path = self.path(column, px, py);
            if !path.is_empty() {
                let _ = writeln!(s, r#"<path {} d="{path}"/>"#, stroke(k));
            }
        }
        let _ = writeln!(s, "</g>");
        s.push_str(&legend);
        s.push_str("</svg>\n");
        svg
    }

    /// The unit, if all curves share it.
    fn common_unit(&self) -> String {
        let mut units = self.curves.iter().map(|&c| &self.trajectory.columns()[c].unit);
        match units.next() {
            Some(first) if units.all(|u| u == first) => first.clone(),
            _ => String::new(),
        }
    }

    /// Names and line samples in rows above the picture, and how many rows there are.
    fn legend(&self) -> (String, usize) {
        let share_unit = !self.common_unit().is_empty();
        let mut svg = String::new();
        let (mut x, mut row) = (16.0, 0);
        for (k, &column) in self.curves.iter().enumerate() {
            let column = &self.trajectory.columns()[column];
            let mut text = column.name.clone();
            if !column.unit.is_empty() && !share_unit {
                let _ = write!(text, " [{}]", column.unit);
            }
            let needed = 48.0 + text.chars().count() as f64 * CHARACTER;
            if x + needed > self.width && x > 16.0 {
                (x, row) = (16.0, row + 1);
            }
            let y = 20.0 + 20.0 * f64::from(row);
            let _ = writeln!(
                svg,
                r#"<path {} fill="none" stroke-width="2.5" d="M{} {y}h22"/><text x="{}" y="{}">{}</text>"#,
                stroke(k),
                Px(x),
                Px(x + 28.0),
                y + 4.0,
                escape(&text)
            );
            x += needed;
        }
        (svg, row as usize + 1)
    }

    /// The path of one curve in pixels.
    fn path(&self, column: usize, px: impl Fn(f64) -> f64, py: impl Fn(f64) -> f64) -> String {
        let stairs = self.trajectory.columns()[column].kind.holds();
        let mut path = String::new();
        let mut line: Vec<(f64, f64)> = Vec::new();
        for (&t, value) in self.trajectory.times().iter().zip(self.trajectory.series(column)) {
            match value.filter(|v| v.is_finite()) {
                Some(value) => {
                    let (x, y) = (px(t), py(value));
                    if let Some(&(_, before)) = line.last().filter(|(_, before)| stairs && *before != y) {
                        line.push((x, before));
                    }
                    line.push((x, y));
                }
                None => push_line(&mut path, &mut line),
            }
        }
        push_line(&mut path, &mut line);
        path
    }
}

/// Appends one unbroken line, thinned to first, lowest, highest and last point of every third of a pixel.
fn push_line(path: &mut String, line: &mut Vec<(f64, f64)>) {
    let points = std::mem::take(line);
    let slot = |p: &(f64, f64)| (p.0 * 3.0).floor();
    let mut pen = Pen { path, started: false, last: None };
    for group in points.chunk_by(|a, b| slot(a) == slot(b)) {
        if group.len() <= 4 {
            group.iter().for_each(|p| pen.to(*p));
            continue;
        }
        let by = |k: &usize, l: &usize| group[*k].1.total_cmp(&group[*l].1);
        let mut keep =
            [0, (0..group.len()).min_by(by).unwrap_or(0), (0..group.len()).max_by(by).unwrap_or(0), group.len() - 1];
        keep.sort_unstable();
        keep.iter().for_each(|k| pen.to(group[*k]));
    }
    if points.len() == 1 {
        path.push_str("h0.01"); // a point of its own shows as a dot
    }
}

struct Pen<'a> {
    path: &'a mut String,
    started: bool,
    last: Option<(f64, f64)>,
}

impl Pen<'_> {
    fn to(&mut self, point: (f64, f64)) {
        if self.last == Some(point) {
            return;
        }
        let letter = if self.started { 'L' } else { 'M' };
        let _ = write!(self.path, "{letter}{} {}", Px(point.0), Px(point.1));
        (self.started, self.last) = (true, Some(point));
    }
}

/// A length with at most two digits after the point.
struct Px(f64);

impl fmt::Display for Px {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rounded = (self.0 * 100.0).round() / 100.0;
        write!(f, "{}", if rounded == 0.0 { 0.0 } else { rounded })
    }
}

fn stroke(k: usize) -> String {
    let colour = COLOURS[k % COLOURS.len()];
    match DASHES[k / COLOURS.len() % DASHES.len()] {
        "" => format!(r#"stroke="{colour}""#),
        dashes => format!(r#"stroke="{colour}" stroke-dasharray="{dashes}""#),
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Column, Kind};

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, l)| l.as_str()).collect()
    }

    #[test]
    fn marks_are_round() {
        assert_eq!(labels(&Axis::new(0.0, 3.0, 6.0, false)), ["0", "0.5", "1.0", "1.5", "2.0", "2.5", "3.0"]);
        assert_eq!(labels(&Axis::new(-3.7, 4.1, 6.0, true)), ["−4", "−2", "0", "2", "4", "6"]);
        assert_eq!(labels(&Axis::new(0.0, 4e-9, 4.0, true)), ["0", "1e−9", "2e−9", "3e−9", "4e−9"]);
        assert_eq!(labels(&Axis::new(100.0, 100.04, 4.0, true)), ["100.00", "100.01", "100.02", "100.03", "100.04"]);
        assert_eq!(labels(&Axis::new(5e6, 25e6, 4.0, true)), ["5e6", "1e7", "1.5e7", "2e7", "2.5e7"]);
    }

    #[test]
    fn strange_ranges_do_not_panic_or_explode() {
        let huge =
            [f64::MAX, -f64::MAX, f64::MIN_POSITIVE, 5e-324, 0.0, 1.0, 1.0 + f64::EPSILON, f64::NAN, f64::INFINITY];
        for low in huge {
            for high in huge {
                let axis = Axis::new(low, high, 6.0, true);
                assert!(axis.ticks.len() <= 60, "{low} {high}");
                Axis::new(low, high, 6.0, false);
            }
        }
    }

    #[test]
    fn a_jump_is_a_vertical_line_and_an_inactive_cell_a_gap() {
        let mut t = Trajectory::new(vec![Column::real("x"), Column::new("b", Kind::Boolean)]);
        t.push(0.0, &[0.0, 0.0], None);
        t.push(1.0, &[0.0, 0.0], None);
        t.push(1.0, &[1.0, 1.0], None);
        t.push(2.0, &[1.0, 1.0], Some(&[false, true]));
        t.push(3.0, &[0.0, 0.0], None);
        t.push(4.0, &[1.0, 0.0], None);
        let plot = Plot::new(&t, &[], Size::default());
        let path = |c| plot.path(c, |t| t * 10.0, |v| v * 10.0);
        assert_eq!(path(0), "M0 0L10 0L10 10M30 0L40 10");
        assert_eq!(path(1), "M0 0L10 0L10 10L20 10L30 10L30 0L40 0");
    }

    #[test]
    fn long_results_are_thinned_and_keep_their_extremes() {
        let mut t = Trajectory::new(vec![Column::real("x")]);
        for k in 0..100_000 {
            let spike = if k == 54_321 { 9.0 } else { (f64::from(k) * 0.01).sin() };
            t.push(f64::from(k), &[spike], None);
        }
        let svg = plot_svg(&t, &["x"], Size::default()).unwrap();
        assert!(svg.len() < 200_000, "{} bytes", svg.len());
        let plot = Plot::new(&t, &[], Size::default());
        assert!(plot.path(0, |t| t * 0.008, |v| v).contains(" 9L"));
    }

    #[test]
    fn names_are_escaped_and_unknown_ones_refused() {
        let t = Trajectory::new(vec![Column::real("a<b").with_unit("m")]);
        let svg = plot_svg(&t, &["a<b"], Size { width: 0, height: 0 }).unwrap();
        assert!(svg.contains("a&lt;b") && svg.contains("[m]"));
        assert_eq!(plot_svg(&t, &["c"], Size::default()), Err(UnknownVariable("c".into())));
    }
}
