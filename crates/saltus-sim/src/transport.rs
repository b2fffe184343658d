//! What travels: `delay` and `spatialDistribution`.
//!
//! A profile holds values over a position s, piecewise smooth. A delay writes u(t) at s = t and reads at s = t − d. A
//! distribution over 0 ≤ y ≤ 1 moves with x; in the coordinate s = y − x of the moving matter its profile stands still, the
//! inflow is written at one end and the outflow is read at the other.
//!
//! A jump of what is written arrives where it is read as an event. Until then reading is *locked* to the piece before the
//! jump, continued beyond its end, so that integrators see a smooth function. A lag that grows faster than time carries reading back
//! over a jump, an event likewise. While an event is iterated reading is *free*: the lag may jump.

use rustc_hash::FxHashMap;
use saltus_program::{Batch, Interval};
use std::collections::VecDeque;

/// How a point belongs to the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Joint {
    Smooth,
    /// Continuous, with another slope.
    Kink,
    /// Another value at the same place.
    Jump,
}

#[derive(Clone, Copy, Debug)]
struct Point {
    s: f64,
    v: f64,
    joint: Joint,
}

/// Values over positions, in ascending order. Points are numbered; numbers stay when either end grows or is cut.
#[derive(Clone, Debug, Default)]
struct Profile {
    points: VecDeque<Point>,
    first: i64,
    /// Numbers of the points that begin after a jump.
    jumps: VecDeque<i64>,
    /// Largest value ever written.
    size: f64,
}

/// Points that one interpolation uses.
const STENCIL: usize = 6;

/// Numbers of a [`Line::history`] before its points.
pub(crate) const HISTORY_HEAD: usize = 8;

/// Polynomials that one enclosure looks at.
const MOST_CELLS: usize = 2000;

impl Profile {
    fn end(&self) -> i64 {
        self.first + self.points.len() as i64
    }

    fn point(&self, number: i64) -> Point {
        self.points[(number - self.first) as usize]
    }

    /// What places differ by if they are the same but for rounding.
    fn rounding(a: f64, b: f64) -> f64 {
        1e-13 * a.abs().max(b.abs()).max(1e-3)
    }

    /// The same place but for rounding.
    fn same(a: f64, b: f64) -> bool {
        (a - b).abs() <= Profile::rounding(a, b)
    }

    /// Whether two values at one place are a jump.
    fn jumps(a: f64, b: f64) -> bool {
        (a - b).abs() > 1e-9 * a.abs().max(b.abs()).max(1e-6)
    }

    /// Adds a value at the upper end (`up`) or the lower one; an event may make it jump or bend there.
    fn write(&mut self, up: bool, s: f64, v: f64, event: bool) {
        self.size = self.size.max(v.abs());
        let last = if up { self.points.back() } else { self.points.front() };
        let Some(&last) = last else {
            self.points.push_back(Point { s, v, joint: Joint::Smooth });
            return;
        };
        let here = Profile::same(s, last.s);
        if !here && (s < last.s) == up {
            return; // the flow stands still, within errors
        }
        if here && !(event && Profile::jumps(v, last.v)) {
            let end = if up { self.points.back_mut() } else { self.points.front_mut() };
            if let Some(p) = end {
                p.v = v;
                if event && p.joint == Joint::Smooth {
                    p.joint = Joint::Kink;
                }
            }
            return;
        }
        // Several jumps at one place are one.
        let last_number = if up { self.end() - 1 } else { self.first };
        if here && up && last.joint == Joint::Jump {
            self.points.back_mut().into_iter().for_each(|p| p.v = v);
            return;
        }
        if here && !up && self.jumps.front() == Some(&(last_number + 1)) && self.points.len() > 1 {
            self.points.front_mut().into_iter().for_each(|p| p.v = v);
            return;
        }
        let s = if here { last.s } else { s };
        if up {
            let joint = if here { Joint::Jump } else { Joint::Smooth };
            if here {
                self.jumps.push_back(self.end());
            }
            self.points.push_back(Point { s, v, joint });
        } else {
            if here {
                self.points.front_mut().into_iter().for_each(|p| p.joint = Joint::Jump);
                self.jumps.push_front(self.first);
            }
            self.points.push_front(Point { s, v, joint: Joint::Smooth });
            self.first -= 1;
        }
    }

    /// Forgets what lies below `s`, but for a few points.
    fn cut_below(&mut self, s: f64) {
        while self.points.len() > STENCIL && self.points[STENCIL - 1].s < s {
            self.points.pop_front();
            self.first += 1;
        }
        while self.jumps.front().is_some_and(|&j| j <= self.first) {
            self.jumps.pop_front();
        }
    }

    /// Forgets what lies above `s`, but for a few points.
    fn cut_above(&mut self, s: f64) {
        while self.points.len() > STENCIL && self.points[self.points.len() - STENCIL].s > s {
            self.points.pop_back();
        }
        let end = self.end();
        while self.jumps.back().is_some_and(|&j| j >= end) {
            self.jumps.pop_back();
        }
    }

    /// Ends the profile at `s` from above or below: what was beyond has flowed out.
    fn cut_at(&mut self, s: f64, upper: bool, v: f64) {
        if upper {
            while self.points.len() > 1 && self.points.back().is_some_and(|p| p.s >= s) {
                self.points.pop_back();
            }
            let end = self.end();
            while self.jumps.back().is_some_and(|&j| j >= end) {
                self.jumps.pop_back();
            }
        } else {
            while self.points.len() > 1 && self.points.front().is_some_and(|p| p.s <= s) {
                self.points.pop_front();
                self.first += 1;
            }
            while self.jumps.front().is_some_and(|&j| j <= self.first) {
                self.jumps.pop_front();
            }
        }
        self.write(upper, s, v, false);
    }

    /// The points that a piece from number `a` to before number `b` has, as places in the list.
    fn places(&self, a: i64, b: i64) -> (usize, usize) {
        let (a, b) = ((a - self.first).max(0) as usize, ((b - self.first).max(1) as usize).min(self.points.len()));
        (a.min(b - 1), b)
    }

    /// The two neighbours between which `s` lies, of the points from `a` to before `b`; beyond an end the last two.
    fn neighbours(&self, s: f64, a: usize, b: usize) -> (usize, usize) {
        let next = {
            let (mut lo, mut hi) = (a, b);
            while lo < hi {
                let mid = (lo + hi) / 2;
                if self.points[mid].s <= s { lo = mid + 1 } else { hi = mid }
            }
            lo
        };
        let (mut left, mut right) = (next.saturating_sub(1).clamp(a, b - 1), next.clamp(a, b - 1));
        if left == right {
            if right + 1 < b && left == a && next == a {
                right += 1;
            } else if left > a {
                left -= 1;
            }
        }
        (left, right)
    }

    /// The polynomial that holds between two neighbours, through the nearest points of the same smooth piece. Points much closer to
    /// each other than these are passed over (a very short step has written them): differences would be all rounding.
    fn polynomial(&self, left: usize, right: usize, a: usize, b: usize) -> Newton {
        let place = |k: usize| self.points[k].s;
        let smooth = |k: usize| self.points[k].joint == Joint::Smooth;
        let (middle, apart) = (0.5 * (place(left) + place(right)), 0.05 * (place(right) - place(left)));
        let (mut taken, mut n) = ([0; STENCIL], 2);
        (taken[0], taken[1]) = (left, right);
        let (mut low, mut high) = (left, right);
        let mut below = next_apart(low, apart, |k| (k > a && smooth(k)).then(|| k - 1), place);
        let mut above = next_apart(high, apart, |k| (k + 1 < b && smooth(k)).then_some(k + 1), place);
        while n < STENCIL && (below.is_some() || above.is_some()) {
            let closer = match (below, above) {
                (Some(l), Some(r)) => middle - place(l) <= place(r) - middle,
                (l, _) => l.is_some(),
            };
            let next = if closer { below } else { above };
            let Some(next) = next else { break };
            (taken[n], n) = (next, n + 1);
            if closer {
                low = next;
                below = next_apart(low, apart, |k| (k > a && smooth(k)).then(|| k - 1), place);
            } else {
                high = next;
                above = next_apart(high, apart, |k| (k + 1 < b && smooth(k)).then_some(k + 1), place);
            }
        }
        taken[..n].sort_unstable();
        // Newton's divided differences.
        let (mut c, mut x) = ([0.0; STENCIL], [0.0; STENCIL]);
        for k in 0..n {
            (x[k], c[k]) = (place(taken[k]), self.points[taken[k]].v);
        }
        for j in 1..n {
            for k in (j..n).rev() {
                c[k] = (c[k] - c[k - 1]) / (x[k] - x[k - j]);
            }
        }
        Newton { n, x, c }
    }

    /// Value and slope at `s`, of the piece from point `a` to before point `b`.
    fn at(&self, s: f64, a: i64, b: i64) -> (f64, f64) {
        let (a, b) = self.places(a, b);
        let (left, right) = self.neighbours(s, a, b);
        if left == right {
            return (self.points[left].v, 0.0);
        }
        // Beyond an end: along its slope.
        let inside = s.clamp(self.points[left].s, self.points[right].s);
        let (v, dv) = self.polynomial(left, right, a, b).at(inside);
        (v + (s - inside) * dv, dv)
    }

    /// All values over an interval of places, of the piece from point `a` to before point `b`; the whole line if it holds very many
    /// points.
    fn range(&self, s: Interval, a: i64, b: i64) -> Interval {
        let (first, end) = (a, b);
        let (a, b) = self.places(a, b);
        let (from, to) = (self.neighbours(s.lo, a, b), self.neighbours(s.hi, a, b));
        if !(s.lo.is_finite() && s.hi.is_finite()) || to.0 - from.0 > MOST_CELLS {
            return Interval::WHOLE;
        }
        // What lies beyond the ends is a straight line.
        let (low, high) = (self.at(s.lo, first, end).0, self.at(s.hi, first, end).0);
        let mut found = Interval { lo: low.min(high), hi: low.max(high) };
        for left in from.0..=to.0 {
            let right = (left + 1).min(b - 1);
            let (lo, hi) = (s.lo.max(self.points[left].s), s.hi.min(self.points[right].s));
            if left < right && lo < hi {
                found = found.hull(self.polynomial(left, right, a, b).range(lo, hi));
            }
        }
        let slack = 8.0 * f64::EPSILON * found.magnitude();
        Interval { lo: found.lo - slack, hi: found.hi + slack }
    }
}

/// The first point in a direction that is this far away from a point.
fn next_apart(
    from: usize,
    apart: f64,
    next: impl Fn(usize) -> Option<usize>,
    place: impl Fn(usize) -> f64,
) -> Option<usize> {
    let mut k = next(from)?;
    while (place(k) - place(from)).abs() < apart {
        k = next(k)?;
    }
    Some(k)
}

/// A polynomial in Newton's form.
struct Newton {
    n: usize,
    x: [f64; STENCIL],
    c: [f64; STENCIL],
}

impl Newton {
    /// Value and slope.
    fn at(&self, s: f64) -> (f64, f64) {
        let (mut v, mut dv) = (self.c[self.n - 1], 0.0);
        for k in (0..self.n - 1).rev() {
            dv = dv * (s - self.x[k]) + v;
            v = v * (s - self.x[k]) + self.c[k];
        }
        (v, dv)
    }

    /// An interval that holds all values from `lo` to `hi`.
    fn range(&self, lo: f64, hi: f64) -> Interval {
        // Coefficients of the powers of s − m, by Horner's scheme.
        let (m, r) = (0.5 * (lo + hi), 0.5 * (hi - lo));
        let mut t = [0.0; STENCIL];
        t[0] = self.c[self.n - 1];
        for k in (0..self.n - 1).rev() {
            for j in (1..self.n).rev() {
                t[j] = t[j] * (m - self.x[k]) + t[j - 1];
            }
            t[0] = t[0] * (m - self.x[k]) + self.c[k];
        }
        let far: f64 = t[1..].iter().rev().fold(0.0, |sum, c| (sum + c.abs()) * r);
        Interval { lo: t[0] - far, hi: t[0] + far }
    }
}

/// A place where a profile is read; it moves towards one end, from jump to jump.
#[derive(Clone, Copy, Debug)]
struct Reader {
    up: bool,
    /// The jump behind it: number of the point after the jump.
    behind: Option<i64>,
}

impl Reader {
    /// The piece it reads: first point and end.
    fn piece(&self, p: &Profile) -> (i64, i64) {
        let (lowest, highest) = (p.first, p.end());
        match (self.up, self.behind) {
            (true, b) => {
                let from = b.unwrap_or(i64::MIN);
                let next = p.jumps.partition_point(|&j| j <= from);
                (from.max(lowest), p.jumps.get(next).copied().unwrap_or(highest))
            }
            (false, b) => {
                let to = b.unwrap_or(i64::MAX);
                let before = p.jumps.partition_point(|&j| j < to);
                let from = before.checked_sub(1).and_then(|k| p.jumps.get(k)).copied();
                (from.unwrap_or(lowest), to.min(highest))
            }
        }
    }

    /// The jump it has last gone past, if it goes up and may come back over it: where it is, and the one before.
    fn back(&self, p: &Profile) -> Option<(f64, Option<i64>)> {
        let jump = self.behind.filter(|_| self.up)?;
        let k = p.jumps.binary_search(&jump).ok()?;
        Some((p.point(jump).s, k.checked_sub(1).map(|k| p.jumps[k])))
    }

    /// Goes past the jumps between it and `s`; whether there were any.
    fn follow(&mut self, p: &Profile, s: f64) -> bool {
        let before = self.behind;
        while let Some((jump, _)) = self.ahead(p).filter(|&(_, at)| Profile::same(s, at) || (s > at) == self.up) {
            self.behind = Some(jump);
        }
        while let Some((_, earlier)) = self.back(p).filter(|&(at, _)| s < at && !Profile::same(s, at)) {
            self.behind = earlier;
        }
        self.behind != before
    }

    /// Where the jump ahead is.
    fn ahead(&self, p: &Profile) -> Option<(i64, f64)> {
        let (a, b) = self.piece(p);
        let jump = if self.up { b } else { a };
        p.jumps.binary_search(&jump).ok().map(|_| (jump, p.point(jump).s))
    }
}

/// What a line transports and how.
enum Kind {
    Delay {
        value: (Batch, u32),
        /// t − d.
        position: (Batch, u32),
        /// d.
        lag: (Batch, u32),
        /// Whether d is constant between events.
        steady: bool,
        /// How far back it may reach.
        reach: f64,
    },
    Distribution {
        /// Inflows at 0 and 1, x, positiveVelocity.
        inputs: [(Batch, u32); 4],
        /// x at the start.
        origin: f64,
        positive: bool,
    },
}

/// Where writing into a line has got to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    ends: (i64, i64),
    last: (f64, f64, f64),
}

/// A delay or a distribution.
pub(crate) struct Line {
    kind: Kind,
    profile: Profile,
    readers: [Reader; 2],
    /// What is read before anything has been written.
    pub initial: f64,
    /// When something was last written, and how fast it moves.
    last: (f64, f64, f64),
}

impl Line {
    /// `delay`.
    pub fn delay(value: (Batch, u32), position: (Batch, u32), lag: (Batch, u32), steady: bool) -> Line {
        Line::new(Kind::Delay { value, position, lag, steady, reach: 0.0 })
    }

    /// `spatialDistribution`.
    pub fn distribution(inputs: [(Batch, u32); 4]) -> Line {
        Line::new(Kind::Distribution { inputs, origin: 0.0, positive: true })
    }

    fn new(kind: Kind) -> Line {
        let readers = [Reader { up: true, behind: None }, Reader { up: false, behind: None }];
        Line { kind, profile: Profile::default(), readers, initial: 0.0, last: (f64::NAN, 0.0, 0.0) }
    }

    /// Begins a distribution with these points and values, or a delay that may reach this far.
    pub fn begin(&mut self, points: &[(f64, f64)], reach: f64) {
        self.profile = Profile::default();
        match &mut self.kind {
            Kind::Delay { reach: r, .. } => *r = reach,
            Kind::Distribution { .. } => {
                for &(s, v) in points {
                    self.profile.write(true, s, v, true);
                }
                // Linear between the points.
                for p in self.profile.points.iter_mut().filter(|p| p.joint == Joint::Smooth) {
                    p.joint = Joint::Kink;
                }
            }
        }
    }

    /// Everything that a run which goes on must know, as numbers: [`Line::initial`], when, where and how fast it was last
    /// written, how far it reaches or where it began, its direction, the jumps behind its readers, then place, value and
    /// joint of each point.
    pub fn history(&self) -> Vec<f64> {
        let (begun, positive) = match &self.kind {
            Kind::Delay { reach, .. } => (*reach, 1.0),
            Kind::Distribution { origin, positive, .. } => (*origin, f64::from(*positive)),
        };
        let behind = |r: &Reader| r.behind.map_or(-1.0, |b| (b - self.profile.first).max(0) as f64);
        let mut out = vec![self.initial, self.last.0, self.last.1, self.last.2, begun, positive];
        out.extend(self.readers.iter().map(behind));
        for p in &self.profile.points {
            let joint = match p.joint {
                Joint::Smooth => 0.0,
                Joint::Kink => 1.0,
                Joint::Jump => 2.0,
            };
            out.extend([p.s, p.v, joint]);
        }
        out
    }

    /// Goes on from what [`Line::history`] has told; anything else is left alone.
    pub fn resume(&mut self, past: &[f64]) {
        let Some((head, points)) = past.split_at_checked(HISTORY_HEAD) else { return };
        let sorted = points.chunks(3).zip(points.chunks(3).skip(1)).all(|(a, b)| a[0] <= b[0]);
        if points.len() % 3 != 0 || points.is_empty() || !past.iter().all(|v| v.is_finite()) || !sorted {
            return;
        }
        self.initial = head[0];
        self.last = (head[1], head[2], head[3]);
        match &mut self.kind {
            Kind::Delay { reach, .. } => *reach = reach.max(head[4]),
            Kind::Distribution { origin, positive, .. } => (*origin, *positive) = (head[4], head[5] != 0.0),
        }
        self.profile = Profile::default();
        for (k, p) in points.chunks_exact(3).enumerate() {
            let joint = match p[2] as i32 {
                0 => Joint::Smooth,
                1 => Joint::Kink,
                _ => Joint::Jump,
            };
            if joint == Joint::Jump {
                self.profile.jumps.push_back(k as i64);
            }
            self.profile.points.push_back(Point { s: p[0], v: p[1], joint });
        }
        for (r, b) in self.readers.iter_mut().zip(&head[6..HISTORY_HEAD]) {
            r.behind = (*b >= 0.0).then_some(*b as i64);
        }
    }

    /// What computes the delayed value; `None` for distributions.
    pub fn delayed(&self) -> Option<&(Batch, u32)> {
        match &self.kind {
            Kind::Delay { value, .. } => Some(value),
            Kind::Distribution { .. } => None,
        }
    }

    /// What computes the delayed value and the lag; `None` for distributions.
    pub fn delay_parts(&self) -> Option<[&(Batch, u32); 2]> {
        match &self.kind {
            Kind::Delay { value, lag, .. } => Some([value, lag]),
            Kind::Distribution { .. } => None,
        }
    }

    /// How far back a delay may reach; `None` for distributions.
    pub fn reach(&self) -> Option<f64> {
        match self.kind {
            Kind::Delay { reach, .. } => Some(reach),
            Kind::Distribution { .. } => None,
        }
    }

    /// What computes the inputs of a distribution; `None` for delays.
    pub fn flow_inputs(&self) -> Option<&[(Batch, u32); 4]> {
        match &self.kind {
            Kind::Delay { .. } => None,
            Kind::Distribution { inputs, .. } => Some(inputs),
        }
    }

    /// Everything that must be computed before writing.
    pub fn batches(&self) -> Vec<Batch> {
        match &self.kind {
            Kind::Delay { value, position, lag, .. } => {
                vec![value.0.clone(), position.0.clone(), lag.0.clone()]
            }
            Kind::Distribution { inputs, .. } => inputs.iter().map(|i| i.0.clone()).collect(),
        }
    }

    /// Where reader `k` reads, given computed batches; `None` if nothing is read there.
    fn position(&self, values: &[f64], k: usize) -> Option<f64> {
        match &self.kind {
            Kind::Delay { position, .. } => (k == 0).then(|| values[position.1 as usize]),
            Kind::Distribution { inputs, origin, positive } => {
                let x = values[inputs[2].1 as usize] - origin;
                match (k, positive) {
                    (0, false) => Some(-x),
                    (1, true) => Some(1.0 - x),
                    _ => None,
                }
            }
        }
    }

    /// Takes note of the present values: `event` if they may have jumped.
    pub fn write(&mut self, t: f64, values: &[f64], event: bool) {
        let fresh = self.last.0.is_nan();
        let read = |i: &(Batch, u32)| values[i.1 as usize];
        match &mut self.kind {
            Kind::Delay { value, position, reach, .. } => {
                let (v, s) = (read(value), read(position));
                *reach = reach.max(t - s);
                self.profile.write(true, t, v, event && !fresh);
                self.last = (t, 0.0, 0.0);
            }
            Kind::Distribution { inputs, origin, positive } => {
                let [in0, in1, x, forward] = [read(&inputs[0]), read(&inputs[1]), read(&inputs[2]), read(&inputs[3])];
                if fresh {
                    (*origin, *positive) = (x, forward != 0.0);
                    self.last = (t, 0.0, 0.0);
                }
                let moved = x - *origin;
                if (forward != 0.0) != *positive {
                    // The flow turns: what was the outlet takes in.
                    let outlet = usize::from(*positive);
                    let s = if *positive { 1.0 - moved } else { -moved };
                    let (a, b) = self.readers[outlet].piece(&self.profile);
                    let v = self.profile.at(s, a, b).0;
                    self.profile.cut_at(s, *positive, v);
                    *positive = forward != 0.0;
                    self.readers[usize::from(*positive)].behind = None;
                }
                let (s, v) = if *positive { (-moved, in0) } else { (1.0 - moved, in1) };
                self.profile.write(!*positive, s, v, event);
                if t > self.last.0 {
                    self.last = (t, moved, (moved - self.last.1) / (t - self.last.0));
                }
            }
        }
    }

    /// Where writing has got to, for [`Line::rewind`].
    pub fn mark(&self) -> Mark {
        Mark { ends: (self.profile.first, self.profile.end()), last: self.last }
    }

    /// Takes back what was written since, without an event in between.
    pub fn rewind(&mut self, mark: &Mark) {
        let p = &mut self.profile;
        while p.first < mark.ends.0 && p.points.pop_front().is_some() {
            p.first += 1;
        }
        p.points.truncate((mark.ends.1 - p.first).max(0) as usize);
        self.last = mark.last;
    }

    /// How far the profile is from what would be written now, as a part of the values written since the mark (or of a
    /// thousandth of the largest ever).
    pub fn misses(&self, t: f64, values: &[f64], mark: &Mark) -> f64 {
        let read = |i: &(Batch, u32)| values[i.1 as usize];
        let (s, v) = match &self.kind {
            Kind::Delay { value, .. } => (t, read(value)),
            Kind::Distribution { inputs, origin, positive } => {
                let moved = read(&inputs[2]) - origin;
                if *positive { (-moved, read(&inputs[0])) } else { (1.0 - moved, read(&inputs[1])) }
            }
        };
        let p = &self.profile;
        let (low, high) = (p.first..mark.ends.0, mark.ends.1..p.end());
        // The piece at the end that grows.
        let piece = match (low.is_empty(), high.is_empty()) {
            (_, false) => (p.jumps.back().copied().unwrap_or(p.first), p.end()),
            (false, true) => (p.first, p.jumps.front().copied().unwrap_or(p.end())),
            (true, true) => return 0.0, // the flow stands still
        };
        let size = low.chain(high).map(|k| p.point(k).v.abs()).fold(v.abs(), f64::max);
        (p.at(s, piece.0, piece.1).0 - v).abs() / size.max(1e-3 * p.size).max(1e-300)
    }

    /// Forgets what is not read after the last writing.
    pub fn forget(&mut self) {
        let (t, moved, _) = self.last;
        match &self.kind {
            Kind::Delay { reach, .. } => self.profile.cut_below(t - 1.001 * reach),
            Kind::Distribution { positive: true, .. } => self.profile.cut_above(1.0 - moved),
            Kind::Distribution { .. } => self.profile.cut_below(-moved),
        }
    }

    /// Value and slope at reader `k` for the argument of its function: t − d, or x.
    fn read(&self, k: usize, argument: f64, free: bool) -> (f64, f64) {
        if self.profile.points.is_empty() {
            return (self.initial, 0.0);
        }
        let (s, sign) = match &self.kind {
            Kind::Delay { .. } => (argument, 1.0),
            Kind::Distribution { origin, .. } => (k as f64 - (argument - origin), -1.0),
        };
        if matches!(self.kind, Kind::Delay { .. }) && s <= self.profile.points[0].s {
            return (self.profile.points[0].v, 0.0); // before the start
        }
        let mut reader = self.readers[k];
        if free && matches!(self.kind, Kind::Delay { .. }) {
            reader.follow(&self.profile, s);
        }
        let (a, b) = reader.piece(&self.profile);
        let (v, dv) = self.profile.at(s, a, b);
        (v, sign * dv)
    }

    /// All values at reader `k` for arguments in an interval.
    fn enclose(&self, k: usize, argument: Interval) -> Interval {
        let Some(first) = self.profile.points.front() else { return Interval::point(self.initial) };
        let (mut s, mut found) = match &self.kind {
            Kind::Delay { .. } => (argument, None),
            Kind::Distribution { origin, .. } => {
                let place = |x: f64| k as f64 - (x - origin);
                (Interval { lo: place(argument.hi), hi: place(argument.lo) }, None)
            }
        };
        if matches!(self.kind, Kind::Delay { .. }) && s.lo <= first.s {
            found = Some(Interval::point(first.v)); // before the start
            s.lo = first.s;
        }
        if s.lo <= s.hi {
            let (a, b) = self.readers[k].piece(&self.profile);
            // What lies beyond the piece is not written yet, or is behind a jump.
            let (first, end) = self.profile.places(a, b);
            let (low, high) = (self.profile.points[first].s, self.profile.points[end - 1].s);
            if (s.lo < low && !Profile::same(s.lo, low)) || (s.hi > high && !Profile::same(s.hi, high)) {
                return Interval::WHOLE;
            }
            let range = self.profile.range(s, a, b);
            found = Some(found.map_or(range, |f| f.hull(range)));
        }
        found.unwrap_or(Interval::WHOLE)
    }

    /// How far the nearest jump is from a reader (negative once it has arrived), given computed batches.
    pub fn distance(&self, values: &[f64]) -> f64 {
        let mut nearest = f64::INFINITY;
        for k in 0..2 {
            let Some(s) = self.position(values, k) else { continue };
            let r = self.readers[k];
            if let Some((_, at)) = r.ahead(&self.profile) {
                nearest = nearest.min(if r.up { at - s } else { s - at });
            }
            // Where it has just gone past the jump it has not come back.
            if let Some((at, _)) = r.back(&self.profile) {
                nearest = nearest.min(s - at + 2.0 * Profile::rounding(s, at));
            }
        }
        nearest
    }

    /// Whether there are jumps that readers may come to.
    pub fn has_jumps(&self) -> bool {
        !self.profile.jumps.is_empty()
    }

    /// Whether the lag varies between events.
    pub fn varies(&self) -> bool {
        matches!(self.kind, Kind::Delay { steady: false, .. })
    }

    /// Readers that have reached a jump go past it; whether there were any.
    pub fn arrive(&mut self, values: &[f64]) -> bool {
        let mut any = false;
        for k in 0..2 {
            if let Some(s) = self.position(values, k) {
                any |= self.readers[k].follow(&self.profile, s);
            }
        }
        any
    }

    /// When the next jump arrives, if that is known: the lag is constant between events.
    pub fn due(&self, values: &[f64]) -> f64 {
        match (&self.kind, self.readers[0].ahead(&self.profile)) {
            (Kind::Delay { lag, steady: true, .. }, Some((_, at))) => at + values[lag.1 as usize],
            _ => f64::INFINITY,
        }
    }

    /// How long a step may be, so that it reads what has been written.
    pub fn longest(&self, values: &[f64]) -> f64 {
        match &self.kind {
            Kind::Delay { position, .. } => self.last.0 - values[position.1 as usize],
            Kind::Distribution { .. } => 0.5 / self.last.2.abs(),
        }
    }
}

/// All lines of a model, found by the functions that read them.
#[derive(Default)]
pub(crate) struct Lines {
    pub list: Vec<Line>,
    /// An event is iterated: delays are read where their lags are now, whatever jumps lie between.
    pub free: bool,
    readers: FxHashMap<u32, (usize, usize)>,
}

impl Lines {
    /// Adds a line that these functions read.
    pub fn push(&mut self, line: Line, functions: &[saltus_expr::FuncId]) {
        for (k, f) in functions.iter().enumerate() {
            self.readers.insert(f.0, (self.list.len(), k));
        }
        self.list.push(line);
    }

    /// Whether a function reads a line.
    pub fn reads(&self, func: saltus_expr::FuncId) -> bool {
        self.readers.contains_key(&func.0)
    }

    /// All values while the argument is in an interval, if the function reads a line.
    pub fn enclose(&self, func: saltus_expr::FuncId, args: &[Interval]) -> Option<Interval> {
        let &(line, k) = self.readers.get(&func.0)?;
        Some(args.first().map_or(Interval::WHOLE, |a| self.list[line].enclose(k, *a)))
    }

    /// Value and slope, if the function reads a line.
    pub fn read(&self, func: saltus_expr::FuncId, argument: f64) -> Option<(f64, f64)> {
        if self.list.is_empty() {
            return None;
        }
        let &(line, k) = self.readers.get(&func.0)?;
        Some(self.list[line].read(k, argument, self.free))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smooth_pieces_are_interpolated_to_high_order() {
        let mut p = Profile::default();
        for k in 0..=40 {
            let s = k as f64 * 0.05;
            p.write(true, s, s.sin(), false);
        }
        for k in 0..400 {
            let s = k as f64 * 0.005;
            let (v, dv) = p.at(s, p.first, p.end());
            assert!((v - s.sin()).abs() < 1e-9 && (dv - s.cos()).abs() < 1e-6, "{s}: {v} {dv}");
        }
    }

    #[test]
    fn ranges_hold_all_values_and_little_more() {
        let mut p = Profile::default();
        for k in 0..=40 {
            let s = k as f64 * 0.05;
            p.write(true, s, (3.0 * s).sin(), false);
        }
        for (lo, hi) in [(0.31, 0.33), (0.2, 0.9), (-0.1, 0.02), (1.9, 2.1), (0.5, 0.5)] {
            let range = p.range(Interval { lo, hi }, p.first, p.end());
            let values: Vec<f64> =
                (0..=200).map(|k| p.at(lo + (hi - lo) * k as f64 / 200.0, p.first, p.end()).0).collect();
            let (least, most) = values.iter().fold((f64::MAX, f64::MIN), |(l, m), &v| (l.min(v), m.max(v)));
            assert!(range.lo <= least && most <= range.hi, "{lo} {hi}: {range:?}");
            assert!(range.hi - range.lo < 1.3 * (most - least) + 0.01, "{lo} {hi}: {range:?}");
        }
    }

    #[test]
    fn a_jump_is_seen_only_after_it_has_arrived() {
        let mut p = Profile::default();
        for (s, v, event) in [(0.0, 0.0, false), (1.0, 1.0, false), (1.0, 5.0, true), (2.0, 6.0, false)] {
            p.write(true, s, v, event);
        }
        let mut r = Reader { up: true, behind: None };
        let (a, b) = r.piece(&p);
        assert_eq!(p.at(1.5, a, b).0, 1.5);
        let (jump, at) = r.ahead(&p).unwrap();
        assert_eq!(at, 1.0);
        r.behind = Some(jump);
        let (a, b) = r.piece(&p);
        assert_eq!((p.at(0.5, a, b).0, p.at(1.5, a, b).0), (4.5, 5.5));
        assert!(r.ahead(&p).is_none());
    }

    #[test]
    fn the_lower_end_grows_as_well() {
        let mut p = Profile::default();
        p.write(true, 0.0, 0.0, false);
        p.write(true, 1.0, 0.0, false);
        p.write(false, 0.0, 3.0, true);
        p.write(false, -0.5, 3.0, false);
        p.write(false, -0.5, 4.0, true);
        p.write(false, -1.0, 4.0, false);
        let mut r = Reader { up: false, behind: None };
        let mut seen = Vec::new();
        loop {
            let (a, b) = r.piece(&p);
            seen.push(p.at(-0.7, a, b).0);
            let Some((jump, _)) = r.ahead(&p) else { break };
            r.behind = Some(jump);
        }
        assert_eq!(seen, [0.0, 3.0, 4.0]);
    }
}
