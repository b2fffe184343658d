//! The table objects of the standard library: one and two abscissas, and time tables.

use super::files::read_table;
use super::{ExtArg, ExtDerivative, ExtResult, External, Object, array, insert, num, object, remove, string};
use std::sync::Arc;

/// How values between the points are found; the numbers are those of the library's enumeration.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Smoothness {
    Linear,
    Akima,
    Constant,
    FritschButland,
    Steffen,
    ModifiedAkima,
}

impl Smoothness {
    fn new(v: f64) -> Result<Self, String> {
        Ok(match v as i64 {
            1 => Self::Linear,
            2 => Self::Akima,
            3 => Self::Constant,
            4 => Self::FritschButland,
            5 => Self::Steffen,
            6 => Self::ModifiedAkima,
            _ => return Err(format!("{v} is no smoothness of a table")),
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Extrapolation {
    Hold,
    LastTwoPoints,
    Periodic,
    None,
}

impl Extrapolation {
    fn new(v: f64) -> Result<Self, String> {
        Ok(match v as i64 {
            1 => Self::Hold,
            2 => Self::LastTwoPoints,
            3 => Self::Periodic,
            4 => Self::None,
            _ => return Err(format!("{v} is no extrapolation of a table")),
        })
    }
}

/// Node derivatives of a piecewise cubic through (x, y), x strictly increasing.
fn slopes(kind: Smoothness, x: &[f64], y: &[f64], periodic: bool) -> Vec<f64> {
    let n = x.len();
    if n < 2 {
        return vec![0.0; n];
    }
    let h: Vec<f64> = (0..n - 1).map(|i| x[i + 1] - x[i]).collect();
    let m: Vec<f64> = (0..n - 1).map(|i| (y[i + 1] - y[i]) / h[i]).collect();
    if n == 2 {
        return vec![m[0]; 2];
    }
    let k = n - 1;
    match kind {
        Smoothness::Akima | Smoothness::ModifiedAkima => {
            // Slopes with two more on each side.
            let mut e = Vec::with_capacity(k + 4);
            if periodic {
                e.extend([m[k - 2], m[k - 1]]);
                e.extend(&m);
                e.extend([m[0], m[1]]);
            } else {
                let a = 2.0 * m[0] - m[1];
                e.extend([2.0 * a - m[0], a]);
                e.extend(&m);
                let b = 2.0 * m[k - 1] - m[k - 2];
                e.extend([b, 2.0 * b - m[k - 1]]);
            }
            (0..n)
                .map(|i| {
                    // e[i + 1] is the slope left of node i, e[i + 2] the one right of it.
                    let mut w1 = (e[i + 3] - e[i + 2]).abs();
                    let mut w2 = (e[i + 1] - e[i]).abs();
                    if kind == Smoothness::ModifiedAkima {
                        w1 += (e[i + 3] + e[i + 2]).abs() / 2.0;
                        w2 += (e[i + 1] + e[i]).abs() / 2.0;
                        if w1 + w2 == 0.0 {
                            return 0.0;
                        }
                    }
                    if w1 + w2 == 0.0 {
                        0.5 * (e[i + 1] + e[i + 2])
                    } else {
                        (w1 * e[i + 1] + w2 * e[i + 2]) / (w1 + w2)
                    }
                })
                .collect()
        }
        Smoothness::FritschButland => {
            let inner = |hl: f64, hr: f64, ml: f64, mr: f64| {
                if ml * mr <= 0.0 { 0.0 } else { 3.0 * (hl + hr) / ((2.0 * hr + hl) / ml + (hr + 2.0 * hl) / mr) }
            };
            let ends = periodic.then(|| inner(h[k - 1], h[0], m[k - 1], m[0]));
            (0..n)
                .map(|i| match i {
                    0 => ends.unwrap_or(m[0]),
                    i if i == k => ends.unwrap_or(m[k - 1]),
                    i => inner(h[i - 1], h[i], m[i - 1], m[i]),
                })
                .collect()
        }
        Smoothness::Steffen => {
            let sign = |v: f64| if v == 0.0 { 0.0 } else { v.signum() };
            let inner = |hl: f64, hr: f64, ml: f64, mr: f64| {
                let p = (ml * hr + mr * hl) / (hl + hr);
                (sign(ml) + sign(mr)) * ml.abs().min(mr.abs()).min(0.5 * p.abs())
            };
            let end = |h0: f64, h1: f64, m0: f64, m1: f64| {
                let p = m0 * (1.0 + h0 / (h0 + h1)) - m1 * h0 / (h0 + h1);
                if p * m0 <= 0.0 {
                    0.0
                } else if p.abs() > 2.0 * m0.abs() {
                    2.0 * m0
                } else {
                    p
                }
            };
            let ends = periodic.then(|| inner(h[k - 1], h[0], m[k - 1], m[0]));
            (0..n)
                .map(|i| match i {
                    0 => ends.unwrap_or_else(|| end(h[0], h[1], m[0], m[1])),
                    i if i == k => ends.unwrap_or_else(|| end(h[k - 1], h[k - 2], m[k - 1], m[k - 2])),
                    i => inner(h[i - 1], h[i], m[i - 1], m[i]),
                })
                .collect()
        }
        Smoothness::Linear | Smoothness::Constant => vec![0.0; n],
    }
}

/// Value and two derivatives.
type Jet = (f64, f64, f64);

/// The smallest and the largest value.
type Range = (f64, f64);

fn hull(a: Range, b: Range) -> Range {
    (a.0.min(b.0), a.1.max(b.1))
}

/// One function of one abscissa.
#[derive(Debug)]
struct Curve {
    x: Arc<[f64]>,
    y: Vec<f64>,
    /// Per segment: derivative at its left and right end (cubic kinds).
    ends: Vec<(f64, f64)>,
    kind: Smoothness,
}

impl Curve {
    fn new(x: Arc<[f64]>, y: Vec<f64>, kind: Smoothness, periodic: bool) -> Self {
        let n = x.len();
        let mut ends = Vec::new();
        if !matches!(kind, Smoothness::Linear | Smoothness::Constant) && n > 1 {
            ends = vec![(0.0, 0.0); n - 1];
            // Smooth pieces lie between duplicated abscissas.
            let mut a = 0;
            while a + 1 < n {
                let mut b = a;
                while b + 1 < n && x[b + 1] > x[b] {
                    b += 1;
                }
                if b > a {
                    let d = slopes(kind, &x[a..=b], &y[a..=b], periodic && a == 0 && b == n - 1);
                    for i in a..b {
                        ends[i] = (d[i - a], d[i - a + 1]);
                    }
                }
                a = b.max(a) + 1;
            }
        }
        Curve { x, y, ends, kind }
    }

    /// In segment i, which may be left on either side.
    fn segment(&self, i: usize, u: f64) -> Jet {
        let (x0, x1, y0, y1) = (self.x[i], self.x[i + 1], self.y[i], self.y[i + 1]);
        let (h, s) = (x1 - x0, u - x0);
        if h <= 0.0 {
            return (y1, 0.0, 0.0);
        }
        match self.kind {
            Smoothness::Constant => (y0, 0.0, 0.0),
            Smoothness::Linear => {
                let m = (y1 - y0) / h;
                (if u == x1 { y1 } else { y0 + m * s }, m, 0.0)
            }
            _ => {
                let (d0, d1) = self.ends[i];
                let m = (y1 - y0) / h;
                let c2 = (3.0 * m - 2.0 * d0 - d1) / h;
                let c3 = (d0 + d1 - 2.0 * m) / (h * h);
                let v = if u == x1 { y1 } else { y0 + s * (d0 + s * (c2 + s * c3)) };
                (v, d0 + s * (2.0 * c2 + s * 3.0 * c3), 2.0 * c2 + 6.0 * c3 * s)
            }
        }
    }

    /// The segment that holds u, the right one of two at a point; u is inside the table.
    fn find(&self, u: f64) -> usize {
        let n = self.x.len();
        let mut i = self.x.partition_point(|x| *x <= u).clamp(1, n - 1) - 1;
        while i > 0 && self.x[i + 1] <= self.x[i] {
            i -= 1;
        }
        i
    }

    /// The value at u; `left` takes the limit from the left at a point of the table.
    fn at(&self, u: f64, extrapolation: Extrapolation, left: bool) -> Result<Jet, String> {
        let n = self.x.len();
        if n == 0 {
            return Err("the table is empty".into());
        }
        if n == 1 {
            return Ok((self.y[0], 0.0, 0.0));
        }
        let (a, b) = (self.x[0], self.x[n - 1]);
        let mut u = u;
        if u.is_nan() {
            return Ok((u, u, u));
        }
        if extrapolation == Extrapolation::Periodic && b > a && (u < a || u > b || (u == b && !left)) {
            let t = b - a;
            u -= t * ((u - a) / t).floor();
            u = u.clamp(a, b);
            if left && u == a {
                u = b;
            }
        }
        if u < a || u > b {
            let (end, i) = if u < a { (a, self.first()) } else { (b, self.last()) };
            let (v, d, _) = self.segment(i, end);
            // Steps are held beyond the table by its first and its last row, even where an end is given twice.
            let v = match self.kind {
                Smoothness::Constant if u > b => self.y[n - 1],
                Smoothness::Constant => self.y[0],
                _ => v,
            };
            return match extrapolation {
                Extrapolation::None => Err(format!("{u} is outside the table, which goes from {a} to {b}")),
                Extrapolation::Hold => Ok((v, 0.0, 0.0)),
                _ => Ok((v + d * (u - end), d, 0.0)),
            };
        }
        if u == b && !left && self.kind == Smoothness::Constant {
            return Ok((self.y[n - 1], 0.0, 0.0));
        }
        if u == b && !left && self.x[n - 2] == b {
            return Ok((self.y[n - 1], 0.0, 0.0));
        }
        let i = if left {
            let i = self.x.partition_point(|x| *x < u).clamp(1, n - 1) - 1;
            let mut i = i;
            while i + 2 < n && self.x[i + 1] <= self.x[i] {
                i += 1;
            }
            i
        } else {
            self.find(u)
        };
        // From the left, the steps' first abscissa belongs to what lies before the table.
        if left && u == a && self.kind == Smoothness::Constant && extrapolation != Extrapolation::Periodic {
            return Ok((self.y[0], 0.0, 0.0));
        }
        Ok(self.segment(i, u))
    }

    /// All values over [lo, hi], or all slopes; `left` takes the limit from the left at the end. `None` where the table is not
    /// defined.
    fn range(&self, (lo, hi): (f64, f64), how: Extrapolation, left: bool, slope: bool) -> Option<Range> {
        let n = self.x.len();
        if n == 0 || !(lo <= hi) {
            return None;
        }
        let (a, b) = (self.x[0], self.x[n - 1]);
        if how == Extrapolation::Periodic && b > a {
            let (t, period) = (b - a, |u: f64| ((u - a) / (b - a)).floor());
            let (k, l) = (period(lo), period(hi));
            let (from, to) = ((lo - t * k).clamp(a, b), (hi - t * l).clamp(a, b));
            let part = |from: f64, to: f64, end: bool| self.range((from, to), Extrapolation::Hold, end, slope);
            // The last point of a period is the first of the next one.
            return match l - k {
                0.0 => part(from, to, left),
                1.0 if left && to == a => part(from, b, true),
                1.0 => Some(hull(part(from, b, true)?, part(a, to, left)?)),
                _ => part(a, b, true),
            };
        }
        let of = |jet: Jet| if slope { jet.1 } else { jet.0 };
        let end = |u: f64, left: bool| self.at(u, how, left).ok().map(|jet| (of(jet), of(jet)));
        let mut all = hull(end(lo, false)?, end(hi, left)?);
        let mut size = self.y[0].abs().max(self.y[n - 1].abs());
        let from = self.x.partition_point(|x| *x <= lo).max(1) - 1;
        for i in from..n - 1 {
            let (x0, x1) = (self.x[i], self.x[i + 1]);
            if x0 > hi || (x0 == hi && left) {
                break;
            }
            let (p, q) = (lo.clamp(x0, x1), hi.clamp(x0, x1));
            // Where a cubic, or its slope, may turn.
            let (y, s, c) = self.segment(i, x0);
            let last = self.segment(i, x1);
            let third = (last.2 - c) / (x1 - x0);
            let turns = match slope {
                true => [-c / third, f64::NAN],
                false => {
                    let root = (c * c - 2.0 * third * s).max(0.0).sqrt();
                    let far = -(c + root.copysign(c));
                    [far / third, 2.0 * s / far]
                }
            };
            for u in [p, q, x0 + turns[0], x0 + turns[1]] {
                if (p..=q).contains(&u) {
                    let v = of(self.segment(i, u));
                    all = hull(all, (v, v));
                }
            }
            size = size.max(y.abs()).max(s.abs().max(last.1.abs()) * if slope { 1.0 } else { x1 - x0 });
        }
        let slack = 1e-14 * size.max(all.0.abs()).max(all.1.abs());
        (all.0 <= all.1).then_some((all.0 - slack, all.1 + slack))
    }

    fn first(&self) -> usize {
        (0..self.x.len() - 1).find(|i| self.x[i + 1] > self.x[*i]).unwrap_or(0)
    }

    fn last(&self) -> usize {
        (0..self.x.len() - 1).rev().find(|i| self.x[i + 1] > self.x[*i]).unwrap_or(0)
    }
}

/// A table of one abscissa with several columns.
#[derive(Debug)]
pub(super) struct Table1 {
    x: Arc<[f64]>,
    curves: Vec<Curve>,
    extrapolation: Extrapolation,
}

impl Table1 {
    fn new(
        data: &Matrix,
        columns: &[f64],
        kind: Smoothness,
        extrapolation: Extrapolation,
        strict: bool,
    ) -> Result<Self, String> {
        let Matrix { rows, cols, values } = data;
        if *rows == 0 || *cols == 0 {
            return Err("the table is empty".into());
        }
        let x: Arc<[f64]> = (0..*rows).map(|i| values[i * cols]).collect();
        for w in x.windows(2) {
            if w[1] < w[0] || (strict && w[1] <= w[0]) || w[0].is_nan() || w[1].is_nan() {
                return Err(format!(
                    "the first column of the table does not increase: {} is followed by {}",
                    w[0], w[1]
                ));
            }
        }
        let periodic = extrapolation == Extrapolation::Periodic;
        let curves = columns
            .iter()
            .map(|c| {
                if !(*c >= 1.0 && *c <= *cols as f64) {
                    return Err(format!("the table has {cols} columns, column {c} is asked for"));
                }
                let y = (0..*rows).map(|i| values[i * cols + *c as usize - 1]).collect();
                Ok(Curve::new(x.clone(), y, kind, periodic))
            })
            .collect::<Result<_, _>>()?;
        Ok(Table1 { x, curves, extrapolation })
    }

    fn curve(&self, icol: f64) -> Result<&Curve, String> {
        let i = icol as usize;
        if icol >= 1.0 && i <= self.curves.len() {
            Ok(&self.curves[i - 1])
        } else {
            Err(format!("the table has {} output columns, number {icol} is asked for", self.curves.len()))
        }
    }
}

/// A time table: a [`Table1`] over time.
#[derive(Debug)]
pub(super) struct TimeTable {
    table: Table1,
    start: f64,
    shift: f64,
    /// Event times within the table, ascending.
    events: Vec<f64>,
    no_events: bool,
}

impl TimeTable {
    fn jet(&self, icol: f64, t: f64, next_event: f64) -> Result<Jet, String> {
        let c = self.table.curve(icol)?;
        let left = t == next_event;
        if t < self.start || (left && t == self.start) {
            return Ok((0.0, 0.0, 0.0));
        }
        c.at(t - self.shift, self.table.extrapolation, left)
    }

    fn range(&self, icol: f64, (lo, hi): Range, next_event: f64) -> Option<Range> {
        let c = self.table.curve(icol).ok()?;
        let first = self.jet(icol, lo, next_event).ok()?.0;
        if hi < self.start {
            return Some((first, first));
        }
        let after = (lo.max(self.start) - self.shift, hi - self.shift);
        let range = c.range(after, self.table.extrapolation, hi == next_event, false)?;
        Some(hull(range, (first, first)))
    }

    fn next_event(&self, t: f64) -> f64 {
        if self.no_events {
            return f64::MAX;
        }
        if t < self.start {
            return self.start;
        }
        let x = &self.table.x;
        let (a, b) = (x[0], x[x.len() - 1]);
        let next = |u: f64| self.events.iter().copied().find(|e| *e > u);
        let u = t - self.shift;
        // Times very near an event count as it, since the shift rounds.
        let eps = 1e-13 * (1.0 + t.abs());
        if self.table.extrapolation == Extrapolation::Periodic && b > a {
            let period = b - a;
            let mut k = ((u - a) / period).floor();
            for _ in 0..3 {
                let base = k * period;
                for e in &self.events {
                    let time = e + base + self.shift;
                    if time > t + eps {
                        return time;
                    }
                }
                k += 1.0;
            }
            return f64::MAX;
        }
        match next(u + eps) {
            Some(e) => e + self.shift,
            None => f64::MAX,
        }
    }
}

/// A table of two abscissas.
#[derive(Debug)]
pub(super) struct Table2 {
    x: Vec<f64>,
    y: Vec<f64>,
    /// Row by row over x, then y: value, ∂x, ∂y, ∂x∂y.
    nodes: Vec<[f64; 4]>,
    kind: Smoothness,
    extrapolation: Extrapolation,
}

/// Weight of a node's value or derivative along one axis, with its first and second derivative.
type Weight = (usize, bool, [f64; 3]);

impl Table2 {
    fn new(data: &Matrix, kind: Smoothness, extrapolation: Extrapolation) -> Result<Self, String> {
        let Matrix { rows, cols, values } = data;
        if *rows < 2 || *cols < 2 {
            return Err("a table of two abscissas needs at least two rows and two columns".into());
        }
        let x: Vec<f64> = (1..*rows).map(|i| values[i * cols]).collect();
        let y: Vec<f64> = values[1..*cols].to_vec();
        for v in [&x, &y] {
            if v.windows(2).any(|w| w[1].is_nan() || w[1] <= w[0]) {
                return Err("the abscissas of the table do not increase".into());
            }
        }
        let (m, n) = (x.len(), y.len());
        let mut nodes = vec![[0.0; 4]; m * n];
        for i in 0..m {
            for j in 0..n {
                nodes[i * n + j][0] = values[(i + 1) * cols + j + 1];
            }
        }
        if !matches!(kind, Smoothness::Linear | Smoothness::Constant) {
            let p = extrapolation == Extrapolation::Periodic;
            for j in 0..n {
                let column: Vec<f64> = (0..m).map(|i| nodes[i * n + j][0]).collect();
                for (i, d) in slopes(kind, &x, &column, p).into_iter().enumerate() {
                    nodes[i * n + j][1] = d;
                }
            }
            for i in 0..m {
                for (from, to) in [(0, 2), (1, 3)] {
                    let row: Vec<f64> = (0..n).map(|j| nodes[i * n + j][from]).collect();
                    for (j, d) in slopes(kind, &y, &row, p).into_iter().enumerate() {
                        nodes[i * n + j][to] = d;
                    }
                }
            }
        }
        Ok(Table2 { x, y, nodes, kind, extrapolation })
    }

    fn weights(&self, x: &[f64], u: f64) -> Result<Vec<Weight>, String> {
        let n = x.len();
        if n == 1 {
            return Ok(vec![(0, false, [1.0, 0.0, 0.0])]);
        }
        let (a, b) = (x[0], x[n - 1]);
        let mut u = u;
        if self.extrapolation == Extrapolation::Periodic {
            u -= (b - a) * ((u - a) / (b - a)).floor();
            u = u.clamp(a, b);
        }
        let outside = u < a || u > b;
        if outside && self.extrapolation == Extrapolation::None {
            return Err(format!("{u} is outside the table, which goes from {a} to {b}"));
        }
        let end = if u < a { 0 } else { n - 1 };
        if outside && (self.extrapolation == Extrapolation::Hold || self.kind == Smoothness::Constant) {
            return Ok(vec![(end, false, [1.0, 0.0, 0.0])]);
        }
        let i = x.partition_point(|v| *v <= u).clamp(1, n - 1) - 1;
        let (h, s) = (x[i + 1] - x[i], u - x[i]);
        let t = s / h;
        Ok(match self.kind {
            Smoothness::Constant => vec![(if u == b { n - 1 } else { i }, false, [1.0, 0.0, 0.0])],
            Smoothness::Linear => {
                vec![(i, false, [1.0 - t, -1.0 / h, 0.0]), (i + 1, false, [t, 1.0 / h, 0.0])]
            }
            _ if outside => vec![(end, false, [1.0, 0.0, 0.0]), (end, true, [u - x[end], 1.0, 0.0])],
            _ => vec![
                (i, false, [(1.0 + 2.0 * t) * (1.0 - t).powi(2), 6.0 * t * (t - 1.0) / h, (12.0 * t - 6.0) / (h * h)]),
                (i + 1, false, [t * t * (3.0 - 2.0 * t), 6.0 * t * (1.0 - t) / h, (6.0 - 12.0 * t) / (h * h)]),
                (i, true, [h * t * (1.0 - t).powi(2), (1.0 - t) * (1.0 - 3.0 * t), (6.0 * t - 4.0) / h]),
                (i + 1, true, [h * t * t * (t - 1.0), t * (3.0 * t - 2.0), (6.0 * t - 2.0) / h]),
            ],
        })
    }

    /// All values over a box; of lines and steps alone, which are extreme at the corners of each cell.
    fn range(&self, u: Range, v: Range) -> Option<Range> {
        let cubic = !matches!(self.kind, Smoothness::Linear | Smoothness::Constant);
        if cubic || self.extrapolation == Extrapolation::Periodic {
            return None;
        }
        let places = |x: &[f64], (lo, hi): Range| -> Vec<f64> {
            x.iter().copied().filter(|x| lo < *x && *x < hi).chain([lo, hi]).collect()
        };
        let (us, vs) = (places(&self.x, u), places(&self.y, v));
        let mut all: Option<Range> = None;
        for &u in &us {
            for &v in &vs {
                let f = self.jet(u, v).ok()?[0];
                all = Some(all.map_or((f, f), |a| hull(a, (f, f))));
            }
        }
        let (lo, hi) = all?;
        let size = self.nodes.iter().fold(lo.abs().max(hi.abs()), |m, n| m.max(n[0].abs()));
        (lo <= hi).then_some((lo - 1e-14 * size, hi + 1e-14 * size))
    }

    /// f, ∂1, ∂2, ∂11, ∂12, ∂22.
    fn jet(&self, u: f64, v: f64) -> Result<[f64; 6], String> {
        let mut out = [0.0; 6];
        let columns = self.weights(&self.y, v)?;
        for (i, dx, a) in self.weights(&self.x, u)? {
            for (j, dy, b) in &columns {
                let f = self.nodes[i * self.y.len() + j][usize::from(dx) + 2 * usize::from(*dy)];
                for (k, (p, q)) in [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)].into_iter().enumerate() {
                    out[k] += f * a[p] * b[q];
                }
            }
        }
        Ok(out)
    }
}

/// A table as plain numbers, for programs that read it on their own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableData {
    /// 1: one abscissa, 2: two, 3: time.
    pub kind: u8,
    /// As numbered in the library.
    pub smoothness: u8,
    /// As numbered in the library.
    pub extrapolation: u8,
    /// Number of columns.
    pub columns: usize,
    /// The abscissas.
    pub x: Vec<f64>,
    /// The second abscissas.
    pub y: Vec<f64>,
    /// Of one abscissa, column by column: the values and, of cubic kinds, the slopes at the left ends of all segments, then at
    /// their right ends. Of two, node by node: the value, ∂x, ∂y, ∂x∂y.
    pub data: Vec<f64>,
    /// When a time table begins.
    pub start: f64,
    /// How far it is shifted.
    pub shift: f64,
    /// Its events.
    pub events: Vec<f64>,
    /// Whether it has none.
    pub no_events: bool,
}

impl TableData {
    fn of(t: &Table1, kind: u8) -> TableData {
        let data = t.curves.iter().flat_map(|c| {
            let ends = c.ends.iter().map(|e| e.0).chain(c.ends.iter().map(|e| e.1));
            c.y.iter().copied().chain(ends).collect::<Vec<_>>()
        });
        TableData {
            kind,
            smoothness: t.curves.first().map_or(1, |c| c.kind as u8 + 1),
            extrapolation: t.extrapolation as u8 + 1,
            columns: t.curves.len(),
            x: t.x.to_vec(),
            data: data.collect(),
            ..TableData::default()
        }
    }
}

/// The numbers of a table object.
pub fn table_data(handle: f64) -> Option<TableData> {
    match &*object(handle).ok()? {
        Object::Table1(t) => Some(TableData::of(t, 1)),
        Object::Time(t) => Some(TableData {
            start: t.start,
            shift: t.shift,
            events: t.events.clone(),
            no_events: t.no_events,
            ..TableData::of(&t.table, 3)
        }),
        Object::Table2(t) => Some(TableData {
            kind: 2,
            smoothness: t.kind as u8 + 1,
            extrapolation: t.extrapolation as u8 + 1,
            columns: 1,
            x: t.x.clone(),
            y: t.y.clone(),
            data: t.nodes.iter().flatten().copied().collect(),
            ..TableData::default()
        }),
        Object::Foreign(..) => None,
    }
}

/// A matrix row by row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Matrix {
    pub rows: usize,
    pub cols: usize,
    pub values: Vec<f64>,
}

/// The table given as array, or read from the file. `at` is the position of delimiter and header lines, if any.
fn data(a: &[ExtArg], at: Option<usize>, kind: i32) -> Result<Matrix, String> {
    let (file, name) = (string(a, 0)?, string(a, 1)?);
    let none = |s: &str| s.is_empty() || s == "NoName" || s.chars().all(char::is_whitespace);
    let (dims, values) = array(a, 2)?;
    let size = |i: usize| dims.get(i).copied().unwrap_or(0);
    if none(&file)
        && values.is_empty()
        && !none(&name)
        && let Some(found) = super::foreign::user_table(&name, kind)
    {
        return found.map(|(rows, cols, values)| Matrix { rows, cols, values });
    }
    if none(&file) || (!values.is_empty() && none(&name)) {
        return Ok(Matrix { rows: size(0), cols: if dims.len() > 1 { size(1) } else { 1 }, values: values.to_vec() });
    }
    let (delimiter, header) = match at {
        Some(i) => (string(a, i)?.to_string(), num(a, i + 1)?.max(0.0) as usize),
        None => (",".into(), 0),
    };
    read_table(&file, &name, &delimiter, header)
}

fn init_1d(a: &mut [ExtArg]) -> ExtResult {
    let m = data(a, (a.len() >= 12).then_some(10), 1)?;
    let columns = array(a, 5)?.1.to_vec();
    let t = Table1::new(&m, &columns, Smoothness::new(num(a, 7)?)?, Extrapolation::new(num(a, 8)?)?, false)?;
    Ok(insert(Object::Table1(t)))
}

fn table1(a: &[ExtArg]) -> Result<Arc<Object>, String> {
    object(num(a, 0)?)
}

fn jet_1d(a: &[ExtArg]) -> Result<Jet, String> {
    match &*table1(a)? {
        Object::Table1(t) => t.curve(num(a, 1)?)?.at(num(a, 2)?, t.extrapolation, false),
        _ => Err("this object is no table of one abscissa".into()),
    }
}

fn range_1d(a: &[ExtArg]) -> Result<(f64, f64), String> {
    match &*table1(a)? {
        Object::Table1(t) => Ok((t.x[0], t.x[t.x.len() - 1])),
        Object::Time(t) => Ok((t.table.x[0], t.table.x[t.table.x.len() - 1])),
        _ => Err("this object is no table of one abscissa".into()),
    }
}

fn init_time(a: &mut [ExtArg]) -> ExtResult {
    // init3 and init2 agree up to shiftTime (10); init has neither.
    let m = data(a, (a.len() >= 15).then_some(13), 0)?;
    let columns = array(a, 6)?.1.to_vec();
    let kind = Smoothness::new(num(a, 8)?)?;
    let extrapolation = Extrapolation::new(num(a, 9)?)?;
    let start = num(a, 5)?;
    let shift = if a.len() > 10 { num(a, 10)? } else { 0.0 };
    let timing = if a.len() > 11 { num(a, 11)? as i64 } else { 1 };
    let table = Table1::new(&m, &columns, kind, extrapolation, false)?;
    let x = &table.x;
    let n = x.len();
    let jumps = |i: usize| (i > 0 && x[i - 1] == x[i]) || (i + 1 < n && x[i + 1] == x[i]);
    let corners = matches!(kind, Smoothness::Linear | Smoothness::Constant);
    let mut events: Vec<f64> = (0..n)
        .filter(|i| match timing {
            1 => corners || jumps(*i) || *i == 0 || *i + 1 == n,
            _ => kind == Smoothness::Constant || jumps(*i),
        })
        .map(|i| x[i])
        .collect();
    if extrapolation == Extrapolation::Periodic && timing != 3 && table.curves.iter().any(|c| c.y.first() != c.y.last())
    {
        events.push(x[n - 1]);
    }
    events.dedup();
    Ok(insert(Object::Time(TimeTable { table, start, shift, events, no_events: timing == 3 })))
}

fn jet_time(a: &[ExtArg]) -> Result<Jet, String> {
    match &*table1(a)? {
        Object::Time(t) => t.jet(num(a, 1)?, num(a, 2)?, num(a, 3)?),
        _ => Err("this object is no time table".into()),
    }
}

fn init_2d(a: &mut [ExtArg]) -> ExtResult {
    let m = data(a, (a.len() >= 10).then_some(8), 2)?;
    let t = Table2::new(&m, Smoothness::new(num(a, 5)?)?, Extrapolation::new(num(a, 6)?)?)?;
    Ok(insert(Object::Table2(t)))
}

fn jet_2d(a: &[ExtArg]) -> Result<[f64; 6], String> {
    match &*table1(a)? {
        Object::Table2(t) => t.jet(num(a, 1)?, num(a, 2)?),
        _ => Err("this object is no table of two abscissas".into()),
    }
}

fn bounds_2d(a: &mut [ExtArg], last: bool) -> ExtResult {
    let (x, y) = match &*table1(a)? {
        Object::Table2(t) if last => (t.x[t.x.len() - 1], t.y[t.y.len() - 1]),
        Object::Table2(t) => (t.x[0], t.y[0]),
        _ => return Err("this object is no table of two abscissas".into()),
    };
    match a.get_mut(1) {
        Some(ExtArg::Array { data, .. }) if data.len() == 2 => data.copy_from_slice(&[x, y]),
        _ => return Err("a vector of two elements is needed".into()),
    }
    Ok(0.0)
}

fn close(a: &mut [ExtArg]) -> ExtResult {
    remove(num(a, 0)?);
    Ok(0.0)
}

/// All values that a function of a table returns while its arguments lie in these ranges; `None` if that is not known.
pub(super) fn range(symbol: &str, a: &[Range]) -> Option<Range> {
    let symbol = symbol.strip_prefix("ModelicaStandardTables_")?;
    let thin = |k: usize| a.get(k).filter(|r| r.0 == r.1).map(|r| r.0);
    let object = object(thin(0)?).ok()?;
    match (symbol, &*object) {
        ("CombiTable1D_getValue", Object::Table1(t)) => {
            t.curve(thin(1)?).ok()?.range(*a.get(2)?, t.extrapolation, false, false)
        }
        ("CombiTable1D_getDerValue", Object::Table1(t)) => {
            let slopes = t.curve(thin(1)?).ok()?.range(*a.get(2)?, t.extrapolation, false, true)?;
            let by = *a.get(3)?;
            let products = [slopes.0 * by.0, slopes.0 * by.1, slopes.1 * by.0, slopes.1 * by.1];
            let all = products.into_iter().map(|v| (v, v)).reduce(hull)?;
            (products.iter().all(|v| !v.is_nan())).then_some((all.0.next_down(), all.1.next_up()))
        }
        ("CombiTimeTable_getValue", Object::Time(t)) => t.range(thin(1)?, *a.get(2)?, thin(3)?),
        ("CombiTable2D_getValue", Object::Table2(t)) => t.range(*a.get(1)?, *a.get(2)?),
        _ => None,
    }
}

macro_rules! table {
    ($symbol:literal, $call:expr) => {
        table!($symbol, $call, ExtDerivative::Zero)
    };
    ($symbol:literal, $call:expr, $der:expr) => {
        External { symbol: concat!("ModelicaStandardTables_", $symbol), call: $call, derivative: $der }
    };
}

/// The derivative of `getDerValue` needs the second derivative, that of `getDer2Value` is taken as zero.
pub(super) static LIST: &[External] = &[
    table!("CombiTable1D_init", init_1d),
    table!("CombiTable1D_init2", init_1d),
    table!("CombiTable1D_init3", init_1d),
    table!("CombiTable1D_close", close),
    table!(
        "CombiTable1D_getValue",
        |a| Ok(jet_1d(a)?.0),
        ExtDerivative::Analytic(|a, d| Ok(jet_1d(a)?.1 * num(d, 2)?))
    ),
    table!(
        "CombiTable1D_getDerValue",
        |a| Ok(jet_1d(a)?.1 * num(a, 3)?),
        ExtDerivative::Analytic(|a, d| {
            let j = jet_1d(a)?;
            Ok(j.2 * num(d, 2)? * num(a, 3)? + j.1 * num(d, 3)?)
        })
    ),
    table!(
        "CombiTable1D_getDer2Value",
        |a| {
            let j = jet_1d(a)?;
            Ok(j.2 * num(a, 3)?.powi(2) + j.1 * num(a, 4)?)
        },
        ExtDerivative::Differences
    ),
    table!("CombiTable1D_minimumAbscissa", |a| Ok(range_1d(a)?.0)),
    table!("CombiTable1D_maximumAbscissa", |a| Ok(range_1d(a)?.1)),
    table!("CombiTimeTable_init", init_time),
    table!("CombiTimeTable_init2", init_time),
    table!("CombiTimeTable_init3", init_time),
    table!("CombiTimeTable_close", close),
    table!(
        "CombiTimeTable_getValue",
        |a| Ok(jet_time(a)?.0),
        ExtDerivative::Analytic(|a, d| Ok(jet_time(a)?.1 * num(d, 2)?))
    ),
    table!(
        "CombiTimeTable_getDerValue",
        |a| Ok(jet_time(a)?.1 * num(a, 5)?),
        ExtDerivative::Analytic(|a, d| {
            let j = jet_time(a)?;
            Ok(j.2 * num(d, 2)? * num(a, 5)? + j.1 * num(d, 5)?)
        })
    ),
    table!(
        "CombiTimeTable_getDer2Value",
        |a| {
            let j = jet_time(a)?;
            Ok(j.2 * num(a, 5)?.powi(2) + j.1 * num(a, 6)?)
        },
        ExtDerivative::Differences
    ),
    table!("CombiTimeTable_minimumTime", |a| Ok(range_1d(a)?.0)),
    table!("CombiTimeTable_maximumTime", |a| Ok(range_1d(a)?.1)),
    table!("CombiTimeTable_nextTimeEvent", |a| match &*table1(a)? {
        Object::Time(t) => Ok(t.next_event(num(a, 1)?)),
        _ => Err("this object is no time table".into()),
    }),
    table!("CombiTable2D_init", init_2d),
    table!("CombiTable2D_init2", init_2d),
    table!("CombiTable2D_init3", init_2d),
    table!("CombiTable2D_close", close),
    table!(
        "CombiTable2D_getValue",
        |a| Ok(jet_2d(a)?[0]),
        ExtDerivative::Analytic(|a, d| {
            let j = jet_2d(a)?;
            Ok(j[1] * num(d, 1)? + j[2] * num(d, 2)?)
        })
    ),
    table!(
        "CombiTable2D_getDerValue",
        |a| {
            let j = jet_2d(a)?;
            Ok(j[1] * num(a, 3)? + j[2] * num(a, 4)?)
        },
        ExtDerivative::Analytic(|a, d| {
            let j = jet_2d(a)?;
            let (du, dv, su, sv) = (num(d, 1)?, num(d, 2)?, num(a, 3)?, num(a, 4)?);
            Ok((j[3] * du + j[4] * dv) * su + (j[4] * du + j[5] * dv) * sv + j[1] * num(d, 3)? + j[2] * num(d, 4)?)
        })
    ),
    table!(
        "CombiTable2D_getDer2Value",
        |a| {
            let j = jet_2d(a)?;
            let (u, v) = (num(a, 3)?, num(a, 4)?);
            Ok(j[3] * u * u + 2.0 * j[4] * u * v + j[5] * v * v + j[1] * num(a, 5)? + j[2] * num(a, 6)?)
        },
        ExtDerivative::Differences
    ),
    table!("CombiTable2D_minimumAbscissa", |a| bounds_2d(a, false)),
    table!("CombiTable2D_maximumAbscissa", |a| bounds_2d(a, true)),
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KINDS: [Smoothness; 6] = [
        Smoothness::Linear,
        Smoothness::Akima,
        Smoothness::Constant,
        Smoothness::FritschButland,
        Smoothness::Steffen,
        Smoothness::ModifiedAkima,
    ];

    fn curve(kind: Smoothness, x: &[f64], y: &[f64]) -> Curve {
        Curve::new(x.into(), y.to_vec(), kind, false)
    }

    #[test]
    fn straight_lines_are_exact() {
        let x = [0.0, 1.0, 2.5, 3.0, 7.0];
        let y: Vec<f64> = x.iter().map(|x| 2.0 - 3.0 * x).collect();
        for kind in KINDS {
            if kind == Smoothness::Constant {
                continue;
            }
            let c = curve(kind, &x, &y);
            for u in [-2.0, 0.0, 0.3, 1.0, 2.9, 5.0, 7.0, 9.0] {
                let (v, d, _) = c.at(u, Extrapolation::LastTwoPoints, false).unwrap();
                assert!((v - (2.0 - 3.0 * u)).abs() < 1e-12 && (d + 3.0).abs() < 1e-12, "{kind:?} {u} {v} {d}");
            }
            assert_eq!(c.at(9.0, Extrapolation::Hold, false).unwrap(), (y[4], 0.0, 0.0));
            assert!(c.at(9.0, Extrapolation::None, false).is_err());
            let (v, ..) = c.at(7.0 + 0.3, Extrapolation::Periodic, false).unwrap();
            assert!((v - 1.1).abs() < 1e-12);
        }
        let c = curve(Smoothness::Constant, &x, &y);
        assert_eq!(c.at(2.9, Extrapolation::Hold, false).unwrap().0, y[2]);
        assert_eq!(c.at(7.0, Extrapolation::Hold, false).unwrap().0, y[4]);
    }

    #[test]
    fn akima_reproduces_parabolas_on_even_grids() {
        let x: Vec<f64> = (0..8).map(f64::from).collect();
        let y: Vec<f64> = x.iter().map(|x| x * x).collect();
        let c = curve(Smoothness::Akima, &x, &y);
        for u in [0.5, 2.25, 6.9] {
            let (v, d, s) = c.at(u, Extrapolation::Hold, false).unwrap();
            assert!((v - u * u).abs() < 1e-12 && (d - 2.0 * u).abs() < 1e-12 && (s - 2.0).abs() < 1e-11);
        }
    }

    #[test]
    fn jumps_have_two_limits() {
        let c = curve(Smoothness::Linear, &[0.0, 1.0, 1.0, 2.0], &[0.0, 1.0, 5.0, 6.0]);
        assert_eq!(c.at(1.0, Extrapolation::Hold, true).unwrap().0, 1.0);
        assert_eq!(c.at(1.0, Extrapolation::Hold, false).unwrap().0, 5.0);
        for kind in KINDS {
            let c = curve(kind, &[0.0, 0.0, 1.0, 1.0], &[3.0, 0.0, 1.0, 5.0]);
            for u in [-1.0, 0.0, 0.5, 1.0, 2.0] {
                for left in [false, true] {
                    assert!(c.at(u, Extrapolation::Hold, left).unwrap().0.is_finite());
                }
            }
        }
    }

    #[test]
    fn steps_hold_the_first_row_before_the_table() {
        let c = curve(Smoothness::Constant, &[2.0, 2.0, 4.0, 6.0], &[0.0, 1.0, 0.0, 1.0]);
        for (u, left, v) in [
            (1.0, false, 0.0),
            (1.0, true, 0.0),
            (2.0, true, 0.0),
            (2.0, false, 1.0),
            (3.0, false, 1.0),
            (4.0, true, 1.0),
            (4.0, false, 0.0),
            (6.0, true, 0.0),
            (6.0, false, 1.0),
            (7.0, false, 1.0),
        ] {
            assert_eq!(c.at(u, Extrapolation::Hold, left).unwrap().0, v, "{u} {left}");
        }
    }

    #[test]
    fn bilinear_and_bicubic() {
        let f = |u: f64, v: f64| 1.0 + 2.0 * u - v + 0.5 * u * v;
        let (x, y) = ([0.0, 1.0, 2.0, 4.0], [0.0, 1.0, 3.0]);
        let mut values = vec![0.0];
        values.extend(y);
        for u in x {
            values.push(u);
            values.extend(y.map(|v| f(u, v)));
        }
        let m = Matrix { rows: 5, cols: 4, values };
        for kind in [Smoothness::Linear, Smoothness::Akima, Smoothness::ModifiedAkima] {
            let t = Table2::new(&m, kind, Extrapolation::LastTwoPoints).unwrap();
            for (u, v) in [(0.5, 0.5), (3.0, 2.0), (4.0, 3.0), (5.0, -1.0), (-1.0, 2.0)] {
                let j = t.jet(u, v).unwrap();
                assert!((j[0] - f(u, v)).abs() < 1e-12, "{kind:?} {u} {v}");
                assert!((j[1] - (2.0 + 0.5 * v)).abs() < 1e-12);
                assert!((j[2] - (0.5 * u - 1.0)).abs() < 1e-12);
                assert!((j[4] - 0.5).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn events_of_time_tables() {
        let make = |extrapolation: f64, timing: f64| {
            let table = vec![0.0, 0.0, 1.0, 1.0, 1.0, 5.0, 2.0, 6.0];
            let mut a = vec![
                ExtArg::Num(0.0),
                ExtArg::Num(0.0),
                ExtArg::Array { dims: vec![4, 2], data: table },
                ExtArg::Num(4.0),
                ExtArg::Num(2.0),
                ExtArg::Num(0.5),
                ExtArg::Array { dims: vec![1], data: vec![2.0] },
                ExtArg::Num(1.0),
                ExtArg::Num(1.0),
                ExtArg::Num(extrapolation),
                ExtArg::Num(0.0),
                ExtArg::Num(timing),
                ExtArg::Num(1.0),
                ExtArg::Num(crate::strings::intern(",")),
                ExtArg::Num(0.0),
            ];
            init_time(&mut a).unwrap()
        };
        let next = |h: f64, t: f64| match &*object(h).unwrap() {
            Object::Time(x) => x.next_event(t),
            _ => f64::NAN,
        };
        let h = make(1.0, 1.0);
        assert_eq!((next(h, 0.0), next(h, 0.5), next(h, 1.0), next(h, 2.0)), (0.5, 1.0, 2.0, f64::MAX));
        let h = make(1.0, 2.0);
        assert_eq!((next(h, 0.5), next(h, 1.0)), (1.0, f64::MAX));
        let h = make(3.0, 2.0);
        assert_eq!((next(h, 1.0), next(h, 2.0), next(h, 3.0)), (2.0, 3.0, 4.0));
        assert_eq!(next(make(1.0, 3.0), 0.0), f64::MAX);
        let value = |t: f64, e: f64| match &*object(make(1.0, 1.0)).unwrap() {
            Object::Time(x) => x.jet(1.0, t, e).unwrap().0,
            _ => f64::NAN,
        };
        assert_eq!((value(0.2, 0.5), value(1.0, 1.0), value(1.0, 2.0)), (0.0, 1.0, 5.0));
    }

    proptest! {
        #[test]
        fn ranges_hold_all_values(
            steps in proptest::collection::vec((0.0..2.0f64, -3.0..3.0f64), 1..9),
            from in -3.0..9.0f64,
            long in 0.0..9.0f64,
        ) {
            let (mut x, mut y) = (vec![0.0], vec![1.0]);
            for (h, v) in &steps {
                // Now and then an abscissa is given twice.
                x.push(x[x.len() - 1] + if *h < 0.2 { 0.0 } else { *h });
                y.push(*v);
            }
            let (lo, hi) = (from, from + long);
            for kind in KINDS {
                for how in [Extrapolation::Hold, Extrapolation::LastTwoPoints, Extrapolation::Periodic] {
                    let c = Curve::new(x.as_slice().into(), y.clone(), kind, how == Extrapolation::Periodic);
                    let (values, slopes) = (c.range((lo, hi), how, false, false), c.range((lo, hi), how, false, true));
                    let (values, slopes) = (values.unwrap(), slopes.unwrap());
                    let places = (0..=200).map(|k| lo + long * f64::from(k) / 200.0).chain(x.iter().copied());
                    for u in places.filter(|u| (lo..=hi).contains(u)) {
                        let (v, d, _) = c.at(u, how, false).unwrap();
                        prop_assert!(values.0 <= v && v <= values.1, "{kind:?} {how:?} {u}: {v} in {values:?}");
                        prop_assert!(slopes.0 <= d && d <= slopes.1, "{kind:?} {how:?} {u}: slope {d} in {slopes:?}");
                    }
                    // No more than there are: no value beyond the largest of many by more than their distance.
                    let most = slopes.0.abs().max(slopes.1.abs()) * long / 1000.0;
                    let largest = (0..=1000).map(|k| c.at(lo + long * f64::from(k) / 1000.0, how, false).unwrap().0);
                    let jumps = kind == Smoothness::Constant || how == Extrapolation::Periodic || x.windows(2).any(|w| w[0] == w[1]);
                    prop_assert!(jumps || values.1 <= largest.fold(f64::MIN, f64::max) + most + 1e-9, "{kind:?} {how:?}");
                }
            }
        }

        #[test]
        fn smooth_and_monotone(steps in proptest::collection::vec((0.1..2.0f64, 0.0..3.0f64), 2..9), at in 0.01..0.99f64) {
            let (mut x, mut y) = (vec![0.0], vec![0.0]);
            for (h, d) in &steps {
                x.push(x[x.len() - 1] + h);
                y.push(y[y.len() - 1] + d);
            }
            let last = x[x.len() - 1];
            for kind in KINDS {
                let c = curve(kind, &x, &y);
                let at1 = |u: f64| c.at(u, Extrapolation::LastTwoPoints, false).unwrap();
                for (i, u) in x.iter().enumerate() {
                    prop_assert!((at1(*u).0 - y[i]).abs() < 1e-9, "{kind:?} passes through its points");
                }
                if kind == Smoothness::Constant {
                    continue;
                }
                let u = at * last;
                let h = 1e-7;
                let slope = (at1(u + h).0 - at1(u - h).0) / (2.0 * h);
                if kind != Smoothness::Linear {
                    prop_assert!((slope - at1(u).1).abs() < 1e-4 * (1.0 + slope.abs()), "{kind:?}");
                }
                if matches!(kind, Smoothness::FritschButland | Smoothness::Steffen | Smoothness::Linear) {
                    prop_assert!(at1(u).1 >= -1e-9, "{kind:?} keeps the direction");
                }
            }
        }
    }
}
