//! Where several switching surfaces meet.
//!
//! Every choice of sides is a *corner* with a field of its own. The solution follows a mix of them, Σ_c w_c(λ) f_c, λ_k the share
//! of the second side of surface k: the multilinear one, w_c = Π (λ_k or 1 − λ_k). Surfaces seldom all act on each other; where
//! each adds to the field what it adds alone, the mix is f₀ + Σ λ_k (f_k − f₀) and takes one corner per surface, and one more
//! per pair (three, four, …) that does not add up. Whether the solution slides on a surface or goes to one of its sides is a complementarity
//! problem (mathematics 23a):
//!
//!   λ_k = 0 and h_k ≤ 0,   or   λ_k = 1 and h_k ≥ 0,   or   0 ≤ λ_k ≤ 1 and h_k = 0,
//!
//! h_k the rate at which the mix moves towards the second side of k.
//!
//! Where more surfaces meet than there are directions across them, some functions are combinations of others, and shares that hold
//! them are not unique. The nearest to the middle are taken. What they mix is unique where the sides attract (a maximal
//! monotone field, such as friction).

use crate::resting::NO_PULL;
use saltus_solver::lcp::lemke;

/// Up to so many surfaces all corners are looked at, whether the fields add up or not.
pub(crate) const BLENDED: usize = 3;
/// So many at most where they do not add up, and for trying all choices between sliding and passing.
pub(crate) const MOST_BLENDED: usize = 6;
/// A function is a combination of others up to this part of it.
const COMBINED: f64 = 1e-6;
/// What a share outside of [0, 1] costs against shares away from the middle.
const ELASTIC: f64 = 1e4;
/// How much further beyond [0, 1] shares may be that keep a body at rest.
const BEARABLE: f64 = 1e-9;
/// Rates below this part of the largest are none.
const NO_RATE: f64 = 1e-9;
/// Iterations for the shares; one is enough where the fields add up.
const MOST_ITERATIONS: usize = 30;

/// What the solution does about a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Course {
    /// It goes to the first (false) or the second side.
    Side(bool),
    /// It slides, with this share of the second side.
    Slides(f64),
}

/// Which corners are mixed: of each, the surfaces that are on their second side. With a corner are all those of fewer of its
/// surfaces.
#[derive(Clone)]
pub(crate) struct Corners {
    pub list: Vec<Vec<usize>>,
    /// Whether the fields of all others follow from them, as far as has been looked at.
    pub whole: bool,
    count: usize,
    /// For each corner, those of its own surfaces: which, and the sign that they count with.
    within: Vec<Vec<(usize, f64)>>,
}

impl Corners {
    fn new(count: usize, list: Vec<Vec<usize>>) -> Corners {
        let inside = |of: &Vec<usize>, c: &Vec<usize>| c.iter().all(|k| of.contains(k));
        let sign = |odd: usize| if odd.is_multiple_of(2) { 1.0 } else { -1.0 };
        let within = |of: &Vec<usize>| {
            let parts = list.iter().enumerate().filter(|(_, c)| inside(of, c));
            parts.map(|(i, c)| (i, sign(of.len() - c.len()))).collect()
        };
        Corners { within: list.iter().map(within).collect(), list, whole: true, count }
    }

    /// All corners.
    pub fn all(count: usize) -> Corners {
        let of = |c: usize| (0..count).filter(|k| c >> k & 1 == 1).collect();
        Corners::new(count, (0..1 << count).map(of).collect())
    }

    /// Of these, some of which all with one surface less are among them.
    pub fn among(mut self, mut which: impl FnMut(&[usize]) -> bool) -> Corners {
        self.list.retain(|c| which(c));
        Corners::new(self.count, self.list)
    }

    /// Those of fields that add up but for some pairs of surfaces.
    pub fn sums(count: usize, pairs: &[(usize, usize)]) -> Corners {
        let singles = (0..count).map(|k| vec![k]);
        let pairs = pairs.iter().map(|&(i, j)| vec![i, j]);
        Corners::new(count, std::iter::once(Vec::new()).chain(singles).chain(pairs).collect())
    }

    /// These and more, of which all with one surface less are there.
    pub fn with(mut self, more: Vec<Vec<usize>>) -> Corners {
        self.list.extend(more);
        Corners::new(self.count, self.list)
    }

    /// Whether the mix is linear in the shares.
    fn linear(&self) -> bool {
        self.list.len() == self.count + 1
    }

    /// The weight of each corner, and how it changes with the share of surface `by`.
    pub fn weights(&self, shares: &[f64], by: Option<usize>) -> Vec<f64> {
        let mut weights = vec![0.0; self.list.len()];
        for (corner, within) in self.list.iter().zip(&self.within) {
            if by.is_some_and(|k| !corner.contains(&k)) {
                continue;
            }
            let part: f64 = corner.iter().filter(|&&k| by != Some(k)).map(|&k| shares[k]).product();
            within.iter().for_each(|&(c, sign)| weights[c] += sign * part);
        }
        weights
    }
}

/// The corners of some surfaces, and the rates of their functions at each, towards the second sides.
pub(crate) struct Junction {
    pub corners: Corners,
    /// [corner][surface].
    pub rates: Vec<Vec<f64>>,
    /// How strongly bodies at rest would have to be pulled to stay: [corner][body].
    pub lifts: Vec<Vec<f64>>,
}

impl Junction {
    fn mixed(&self, weights: &[f64], j: usize) -> f64 {
        weights.iter().zip(&self.rates).map(|(w, r)| w * r[j]).sum()
    }

    /// Rates of all surfaces for these shares.
    fn towards(&self, shares: &[f64]) -> Vec<f64> {
        let w = self.corners.weights(shares, None);
        (0..shares.len()).map(|j| self.mixed(&w, j)).collect()
    }

    /// ∂h_j/∂λ_k: [j][k].
    fn slopes(&self, shares: &[f64]) -> Vec<Vec<f64>> {
        let columns: Vec<Vec<f64>> = (0..shares.len()).map(|k| self.corners.weights(shares, Some(k))).collect();
        (0..shares.len()).map(|j| columns.iter().map(|w| self.mixed(w, j)).collect()).collect()
    }

    /// The shares of the surfaces in `free` for which their rates are `wanted`, the other shares as given; a share that
    /// nothing determines stays what it was.
    pub fn solve(&self, shares: &mut [f64], free: &[usize], wanted: &[f64]) {
        for _ in 0..MOST_ITERATIONS {
            let (h, slopes) = (self.towards(shares), self.slopes(shares));
            let a = free.iter().map(|&j| free.iter().map(|&k| slopes[j][k]).collect()).collect();
            let b = free.iter().map(|&j| wanted[j] - h[j]).collect();
            let step = solve_small(a, b);
            let mut far = 0.0f64;
            for (&k, d) in free.iter().zip(step) {
                let d = d.unwrap_or(0.0);
                shares[k] += d;
                far = far.max(d.abs());
            }
            if self.corners.linear() || free.len() < 2 || !(far > 1e-13) {
                break;
            }
        }
    }

    /// The shares that give the functions of `base` their wanted rates, those of the others being combinations of them: as near
    /// to the middle as possible, and outside of [0, 1] only as far as necessary.
    pub fn hold(&self, shares: &mut [f64], base: &[usize], wanted: &[f64]) {
        if base.len() == shares.len() {
            return self.solve(shares, base, wanted);
        }
        self.hold_and_bear(shares, base, wanted, &[]);
    }

    /// How strongly each body at rest would have to be pulled to stay; positive: it leaves.
    pub fn lifts(&self, shares: &[f64]) -> Vec<f64> {
        let w = self.corners.weights(shares, None);
        let bodies = self.lifts.first().map_or(0, Vec::len);
        (0..bodies).map(|r| self.lift(&w, r)).collect()
    }

    fn lift(&self, weights: &[f64], r: usize) -> f64 {
        weights.iter().zip(&self.lifts).map(|(w, l)| w * l[r]).sum()
    }

    /// Of the shares that hold the functions of `base`, those with which no body at rest would have to be pulled, if there are:
    /// frictions hold together what none of them holds alone.
    pub fn bear(&self, shares: &mut [f64], base: &[usize]) {
        if base.len() == shares.len() {
            return;
        }
        let (mut pulled, mut trial): (Vec<usize>, Vec<f64>) = (Vec::new(), shares.to_vec());
        loop {
            let lifts = self.lifts(&trial);
            let more: Vec<usize> = (0..lifts.len()).filter(|r| lifts[*r] > 0.0 && !pulled.contains(r)).collect();
            if more.is_empty() {
                break;
            }
            pulled.extend(more);
            self.hold_and_bear(&mut trial, base, &vec![0.0; shares.len()], &pulled);
        }
        // Not at the cost of what surfaces can do.
        let excess = |shares: &[f64]| shares.iter().map(|s| (s - 0.5).abs() - 0.5).fold(0.0, f64::max);
        if !pulled.is_empty() && excess(&trial) <= excess(shares) + BEARABLE {
            shares.copy_from_slice(&trial);
        }
    }

    /// See [`Junction::hold`]; some bodies are just not pulled.
    fn hold_and_bear(&self, shares: &mut [f64], base: &[usize], wanted: &[f64], pulled: &[usize]) {
        for _ in 0..MOST_ITERATIONS {
            let (h, slopes) = (self.towards(shares), self.slopes(shares));
            let lifts = self.lifts(shares);
            let by: Vec<Vec<f64>> = match pulled {
                [] => Vec::new(),
                _ => (0..shares.len()).map(|k| self.corners.weights(shares, Some(k))).collect(),
            };
            let pulls: Vec<Vec<f64>> = pulled.iter().map(|&r| by.iter().map(|w| self.lift(w, r)).collect()).collect();
            let rows: Vec<&Vec<f64>> = base.iter().map(|&j| &slopes[j]).chain(&pulls).collect();
            let off = |r: &Vec<f64>| r.iter().zip(&*shares).map(|(r, s)| r * (s - 0.5)).sum::<f64>();
            let lacking = base.iter().map(|&j| wanted[j] - h[j]).chain(pulled.iter().map(|&r| -lifts[r] - NO_PULL));
            let b = lacking.zip(&rows).map(|(l, r)| l + off(r)).collect();
            let Some(z) = nearest(&rows, b) else { break };
            let mut far = 0.0f64;
            for (s, z) in shares.iter_mut().zip(z) {
                far = far.max((0.5 + z - *s).abs());
                *s = 0.5 + z;
            }
            if self.corners.linear() || !(far > 1e-12) {
                break;
            }
        }
    }

    /// The smallest change of the shares that changes the rates of `base` by this much.
    pub fn shift(&self, base: &[usize], by: Vec<f64>) -> Vec<f64> {
        let slopes = self.slopes(&vec![0.5; self.corners.count]);
        smallest(&base.iter().map(|&j| &slopes[j]).collect::<Vec<_>>(), by)
    }

    /// How firmly each surface is held by what slides on these: below zero something leads away. Surfaces that act on each
    /// other are judged together.
    pub fn holds(&self, shares: &[f64], free: &[usize]) -> Vec<f64> {
        let slopes = self.slopes(shares);
        let mut holds: Vec<f64> = free.iter().map(|&k| -slopes[k][k]).collect();
        for group in groups(&slopes, free) {
            if group.len() > 1 {
                let part = group.iter().map(|&j| group.iter().map(|&k| slopes[j][k]).collect()).collect();
                let hold = -growth(part);
                free.iter().zip(&mut holds).filter(|(k, _)| group.contains(k)).for_each(|(_, h)| *h = hold);
            }
        }
        holds
    }

    /// What the solution does: the fewest surfaces to slide on, then the nearest to the present sides. Shares may leave [0, 1] by
    /// the margins; `ways` tell which functions are combinations of others: where those are held, they are.
    pub fn resolve(&self, present: &[bool], margins: &[f64], ways: &[Vec<f64>]) -> Option<Vec<Course>> {
        let m = present.len();
        if m > MOST_BLENDED {
            return self.pivoted(margins, ways);
        }
        let sizes = self.sizes(m);
        let mut choices: Vec<Vec<u8>> = vec![Vec::new()];
        for _ in 0..m {
            choices = choices.iter().flat_map(|c| [0, 1, 2].map(|v| [&c[..], &[v]].concat())).collect();
        }
        // 0: where it is, 1: the other side, 2: on the surface.
        let count = |c: &Vec<u8>, v: u8| c.iter().filter(|&&x| x == v).count();
        choices.sort_by_key(|c| (count(c, 2), count(c, 1)));
        // A rate of zero tells of no side: where functions depend on each other, the solution is on the surface if it can be.
        let clear: &[f64] = if base(ways).len() < m { &[NO_RATE, -NO_RATE] } else { &[-NO_RATE] };
        clear.iter().find_map(|clear| {
            choices.iter().find_map(|choice| {
                let free: Vec<usize> = (0..m).filter(|&k| choice[k] == 2).collect();
                let second = |k: usize| present[k] != (choice[k] == 1);
                let mut shares: Vec<f64> =
                    (0..m).map(|k| if choice[k] == 2 { 0.5 } else { f64::from(second(k)) }).collect();
                self.solve(&mut shares, &free, &vec![0.0; m]);
                let h = self.towards(&shares);
                let fits = |k: usize| match choice[k] {
                    2 => {
                        let inside = shares[k] >= -margins[k] && shares[k] <= 1.0 + margins[k];
                        inside && h[k].abs() <= 1e-6 * sizes[k]
                    }
                    _ if second(k) && h[k] >= clear * sizes[k] => true,
                    _ if !second(k) && h[k] <= -clear * sizes[k] => true,
                    _ => h[k].abs() <= 1e-6 * sizes[k] && held_by(ways, &free, k),
                };
                let held = || self.holds(&shares, &free).iter().zip(&free).all(|(h, &k)| *h > NO_RATE * sizes[k]);
                ((0..m).all(fits) && held()).then(|| courses(&shares, &free, ways))
            })
        })
    }

    /// The largest rate of each function.
    fn sizes(&self, m: usize) -> Vec<f64> {
        (0..m).map(|j| self.rates.iter().map(|r| r[j].abs()).fold(0.0f64, f64::max)).collect()
    }

    /// What the solution does about many surfaces: a linear complementarity problem of λ and of what keeps λ ≤ 1, once where the
    /// fields add up, else about the shares found last until they stay.
    fn pivoted(&self, margins: &[f64], ways: &[Vec<f64>]) -> Option<Vec<Course>> {
        let (m, sizes) = (ways.len(), self.sizes(ways.len()));
        let mut shares = vec![0.5; m];
        for _ in 0..MOST_ITERATIONS {
            let (h, slopes) = (self.towards(&shares), self.slopes(&shares));
            let n = 2 * m;
            let (mut a, mut q) = (vec![0.0; n * n], vec![1.0; n]);
            for j in 0..m {
                let size = sizes[j].max(f64::MIN_POSITIVE);
                let there: f64 = slopes[j].iter().zip(&shares).map(|(a, s)| a * s).sum();
                q[j] = (there - h[j]) / size;
                (0..m).for_each(|k| a[j + k * n] = -slopes[j][k] / size);
                a[j + (m + j) * n] = 1.0;
                a[m + j + j * n] = -1.0;
            }
            let found = lemke(&a, &q).ok()?.z[..m].to_vec();
            let far = found.iter().zip(&shares).fold(0.0f64, |far, (a, b)| far.max((a - b).abs()));
            shares = found;
            if self.corners.linear() || far <= 1e-12 {
                break;
            }
        }
        let h = self.towards(&shares);
        let still = |k: usize| h[k].abs() <= 1e-6 * sizes[k];
        let inside = |k: usize| shares[k] > 1e-9 && shares[k] < 1.0 - 1e-9;
        let free: Vec<usize> = (0..m).filter(|&k| inside(k) && still(k)).collect();
        let fits = |k: usize| match shares[k] > 0.5 {
            _ if still(k) => true,
            true => h[k] > 0.0 && shares[k] >= 1.0 - margins[k],
            false => h[k] < 0.0 && shares[k] <= margins[k],
        };
        (0..m).all(fits).then(|| courses(&shares, &free, ways))
    }
}

/// Sliding on `free` and on what they hold, and the sides of the others.
fn courses(shares: &[f64], free: &[usize], ways: &[Vec<f64>]) -> Vec<Course> {
    let course = |k: usize| match free.contains(&k) || held_by(ways, free, k) {
        true => Course::Slides(shares[k]),
        false => Course::Side(shares[k] > 0.5),
    };
    (0..shares.len()).map(course).collect()
}

/// Whether function k is a combination of these.
fn held_by(ways: &[Vec<f64>], of: &[usize], k: usize) -> bool {
    !of.is_empty() && made_of(&of.iter().map(|&j| ways[j].clone()).collect::<Vec<_>>(), &ways[k]).is_some()
}

/// The coefficients of a function as a combination of others, by the rates of all in some directions; the fewest others that
/// come first.
pub(crate) fn made_of(others: &[Vec<f64>], way: &[f64]) -> Option<Vec<f64>> {
    let size = |a: &[f64]| dot(a, a).sqrt();
    // Each other one as what it adds to those before (of length 1), and as a combination of the given ones.
    let mut basis: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
    let reduce = |basis: &[(Vec<f64>, Vec<f64>)], way: &[f64]| {
        let (mut rest, mut parts) = (way.to_vec(), vec![0.0; others.len()]);
        // Twice, for rounding.
        for (q, of) in basis.iter().chain(basis) {
            let f = dot(q, &rest);
            rest.iter_mut().zip(q).for_each(|(r, q)| *r -= f * q);
            parts.iter_mut().zip(of).for_each(|(p, o)| *p += f * o);
        }
        (rest, parts)
    };
    for (k, other) in others.iter().enumerate() {
        let (rest, mut parts) = reduce(&basis, other);
        let left = size(&rest);
        if left > COMBINED * size(other) {
            parts.iter_mut().for_each(|p| *p = -*p / left);
            parts[k] += 1.0 / left;
            basis.push((rest.iter().map(|r| r / left).collect(), parts));
        }
    }
    let (rest, parts) = reduce(&basis, way);
    (size(&rest) <= COMBINED * size(way)).then_some(parts)
}

/// What is left of functions apart from combinations of some others.
pub(crate) fn apart_from(others: &[Vec<f64>], mut ways: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    for way in &mut ways {
        let near = smallest(&others.iter().collect::<Vec<_>>(), others.iter().map(|o| dot(o, way)).collect());
        let size = dot(way, way);
        way.iter_mut().zip(near).for_each(|(w, n)| *w -= n);
        if dot(way, way) <= COMBINED * COMBINED * size {
            way.fill(0.0);
        }
    }
    ways
}

/// The first functions of which all are combinations.
pub(crate) fn base(ways: &[Vec<f64>]) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    for k in 0..ways.len() {
        if !held_by(ways, &found, k) {
            found.push(k);
        }
    }
    found
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The smallest z with A z = b: Aᵀ (A Aᵀ)⁻¹ b.
fn smallest(rows: &[&Vec<f64>], b: Vec<f64>) -> Vec<f64> {
    let gram = rows.iter().map(|r| rows.iter().map(|s| dot(r, s)).collect()).collect();
    let y: Vec<f64> = solve_small(gram, b).into_iter().map(|y| y.unwrap_or(0.0)).collect();
    (0..rows.first().map_or(0, |r| r.len())).map(|k| rows.iter().zip(&y).map(|(r, y)| r[k] * y).sum()).collect()
}

/// The smallest z with A z = b and |z_k| ≤ ½ (23b): outside of that only as far as necessary.
fn nearest(rows: &[&Vec<f64>], b: Vec<f64>) -> Option<Vec<f64>> {
    let m = rows.first()?.len();
    let z = smallest(rows, b);
    if z.iter().all(|z| z.abs() <= 0.5) {
        return Some(z);
    }
    // What moves z and not A z: one column of the projection for each share.
    let column = |k: usize| {
        let mut c: Vec<f64> = smallest(rows, rows.iter().map(|r| r[k]).collect()).iter().map(|v| -v).collect();
        c[k] += 1.0;
        c
    };
    let free: Vec<Vec<f64>> = (0..m).map(column).collect();
    // Multipliers of z ≤ ½ + s and of −z ≤ ½ + s, and s itself.
    let n = 2 * m + 1;
    let (mut a, mut q) = (vec![0.0; n * n], vec![ELASTIC; n]);
    for j in 0..m {
        for k in 0..m {
            let p = free[k][j];
            (a[j + k * n], a[j + (m + k) * n], a[m + j + k * n], a[m + j + (m + k) * n]) = (p, -p, -p, p);
        }
        for i in [j, m + j] {
            (a[i + 2 * m * n], a[2 * m + i * n]) = (1.0, -1.0);
        }
        (q[j], q[m + j]) = (0.5 - z[j], 0.5 + z[j]);
    }
    let Ok(found) = lemke(&a, &q) else { return Some(z) };
    let moved = |j: usize| (0..m).map(|k| free[k][j] * (found.z[k] - found.z[m + k])).sum::<f64>();
    Some((0..m).map(|j| z[j] - moved(j)).collect())
}

/// Surfaces that act on each other, directly or through others, in both directions.
fn groups(slopes: &[Vec<f64>], free: &[usize]) -> Vec<Vec<usize>> {
    let acts = |j: usize, k: usize| slopes[j][k].abs() > NO_RATE * slopes[j].iter().fold(0.0f64, |s, v| s.max(v.abs()));
    let n = free.len();
    let mut reach: Vec<Vec<bool>> =
        free.iter().map(|&j| free.iter().map(|&k| j == k || acts(j, k)).collect()).collect();
    for via in 0..n {
        for i in 0..n {
            for j in 0..n {
                reach[i][j] |= reach[i][via] && reach[via][j];
            }
        }
    }
    let together = |i: usize, j: usize| reach[i][j] && reach[j][i];
    (0..n)
        .filter(|&i| (0..i).all(|j| !together(i, j)))
        .map(|i| (i..n).filter(|&j| together(i, j)).map(|j| free[j]).collect())
        .collect()
}

/// How fast ż = D A z grows or decays, D a diagonal that makes the surfaces act on each other alike: the sign that tells whether
/// a spiral between two surfaces goes in or out.
fn growth(mut a: Vec<Vec<f64>>) -> f64 {
    let n = a.len();
    // Whatever D is, rows that their diagonals dominate decay.
    let others = |j: usize| a[j].iter().enumerate().filter(|(k, _)| *k != j).map(|(_, v)| v.abs()).sum::<f64>();
    let slowest = (0..n).map(|j| a[j][j] + others(j)).fold(f64::NEG_INFINITY, f64::max);
    if slowest < 0.0 {
        return slowest;
    }
    // D by the least squares of log(d_j |a_jk|) = log(d_k |a_kj|), one surface at a time.
    let mut d = vec![0.0f64; n];
    for _ in 0..50 {
        for j in 0..n {
            let ratio = |k: usize| d[k] + (a[k][j].abs() / a[j][k].abs()).ln();
            let known: Vec<f64> = (0..n).filter(|&k| k != j).map(ratio).filter(|r| r.is_finite()).collect();
            if !known.is_empty() && j > 0 {
                d[j] = known.iter().sum::<f64>() / known.len() as f64;
            }
        }
    }
    let row = |r: &Vec<f64>| r.iter().map(|v| v.abs()).sum::<f64>();
    let plain = a.iter().map(row).fold(0.0f64, f64::max);
    a.iter_mut().zip(&d).for_each(|(r, d)| r.iter_mut().for_each(|v| *v *= d.exp()));
    let size = a.iter().map(row).fold(0.0f64, f64::max);
    if !(size > 0.0 && size.is_finite()) {
        return 0.0;
    }
    // M = (s − A)⁻¹ (s + A) has spectral radius below 1 where A has eigenvalues on the left only; powers tell it.
    let s = 1.5 * size;
    let left: Vec<Vec<f64>> =
        (0..n).map(|i| (0..n).map(|j| if i == j { s - a[i][j] } else { -a[i][j] }).collect()).collect();
    let mut m = vec![vec![0.0; n]; n];
    for j in 0..n {
        let b = (0..n).map(|i| if i == j { s + a[i][j] } else { a[i][j] }).collect();
        for (i, v) in solve_small(left.clone(), b).into_iter().enumerate() {
            m[i][j] = v.unwrap_or(f64::INFINITY);
        }
    }
    let (mut log, mut power) = (0.0, 1.0);
    for _ in 0..40 {
        let norm = m.iter().map(row).fold(0.0f64, f64::max);
        if !norm.is_finite() {
            return plain;
        }
        if norm == 0.0 {
            return -plain;
        }
        log += norm.ln() / power;
        m.iter_mut().flatten().for_each(|v| *v /= norm);
        m = (0..n).map(|i| (0..n).map(|j| (0..n).map(|k| m[i][k] * m[k][j]).sum()).collect()).collect();
        power *= 2.0;
    }
    // In units of the original rates.
    0.75 * log * plain
}

/// A dense system of a few equations; unknowns that are not determined are none.
pub(crate) fn solve_small(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<Option<f64>> {
    let m = b.len();
    let mut order: Vec<Option<usize>> = vec![None; m];
    let mut used = vec![false; m];
    let size = a.iter().flatten().fold(0.0f64, |s, v| s.max(v.abs()));
    for col in 0..m {
        let Some(p) = (0..m).filter(|&i| !used[i]).max_by(|&i, &j| a[i][col].abs().total_cmp(&a[j][col].abs())) else {
            continue;
        };
        if !(a[p][col].abs() > 1e-14 * size) {
            continue;
        }
        used[p] = true;
        order[col] = Some(p);
        for i in (0..m).filter(|&i| i != p) {
            let f = a[i][col] / a[p][col];
            if f != 0.0 {
                for j in 0..m {
                    let d = f * a[p][j];
                    a[i][j] -= d;
                }
                b[i] -= f * b[p];
            }
        }
    }
    (0..m).map(|col| order[col].map(|p| b[p] / a[p][col])).collect()
}

/// Watches for events that go round between several surfaces, ever faster: the solution winds into where they meet.
#[derive(Default)]
pub(crate) struct Whirl {
    /// The latest switches: relation, value before and after, time.
    recent: std::collections::VecDeque<(usize, f64, f64, f64)>,
}

/// So many switches tell of a whirl.
const TURNS: usize = 12;

impl Whirl {
    /// Notes a switch.
    pub fn note(&mut self, i: usize, was: f64, is: f64, t: f64) {
        self.recent.push_back((i, was, is, t));
        if self.recent.len() > TURNS {
            self.recent.pop_front();
        }
    }

    /// Starts anew.
    pub fn clear(&mut self) {
        self.recent.clear();
    }

    /// Forgets some relations.
    pub fn forget(&mut self, mut which: impl FnMut(usize) -> bool) {
        self.recent.retain(|r| !which(r.0));
    }

    /// The relations that switched in turn within `window` of time before `t`, with their last switch.
    pub fn winding(&self, t: f64, window: f64) -> Vec<(usize, f64, f64)> {
        if self.recent.len() < TURNS || self.recent.front().is_none_or(|f| t - f.3 > window) {
            return Vec::new();
        }
        let mut last: Vec<(usize, f64, f64)> = Vec::new();
        for &(i, was, is, _) in &self.recent {
            last.retain(|l| l.0 != i);
            last.push((i, was, is));
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ẋ = c + B s with relays s_k = ±1, second side positive.
    fn relays(b: &[Vec<f64>], c: &[f64], corners: Corners) -> Junction {
        let m = c.len();
        let rate = |corner: &[usize], j: usize| c[j] + (0..m).map(|k| b[j][k] * side(corner, k)).sum::<f64>();
        let rates = corners.list.iter().map(|c| (0..m).map(|j| rate(c, j)).collect()).collect();
        Junction { corners, rates, lifts: Vec::new() }
    }

    /// A relay at a corner.
    fn side(corner: &[usize], k: usize) -> f64 {
        if corner.contains(&k) { 1.0 } else { -1.0 }
    }

    fn rows<const M: usize>(b: [[f64; M]; M]) -> Vec<Vec<f64>> {
        b.map(Vec::from).to_vec()
    }

    /// Functions that have nothing to do with each other.
    fn apart(m: usize) -> Vec<Vec<f64>> {
        (0..m).map(|j| (0..m).map(|k| f64::from(j == k)).collect()).collect()
    }

    #[test]
    fn shares_are_those_of_the_equivalent_control() {
        // s = −B⁻¹ c by hand: B = [-2 1; 1 -3], c = (0.5, 0.25): s = (0.35, 0.2).
        for corners in [Corners::sums(2, &[]), Corners::all(2)] {
            let j = relays(&rows([[-2.0, 1.0], [1.0, -3.0]]), &[0.5, 0.25], corners);
            let courses = j.resolve(&[true, true], &[1e-6; 2], &apart(2)).unwrap();
            let share = |c: &Course| if let Course::Slides(s) = c { *s } else { f64::NAN };
            assert!((share(&courses[0]) - 0.675).abs() < 1e-12 && (share(&courses[1]) - 0.6).abs() < 1e-12);
        }
    }

    #[test]
    fn one_of_two_surfaces_is_passed() {
        // The second relay is overruled: c₂ = 5.
        let j = relays(&rows([[-2.0, 1.0], [1.0, -3.0]]), &[0.5, 5.0], Corners::sums(2, &[]));
        let courses = j.resolve(&[true, false], &[1e-6; 2], &apart(2)).unwrap();
        assert_eq!(courses[1], Course::Side(true));
        assert!(matches!(courses[0], Course::Slides(s) if (s - 0.875).abs() < 1e-12)); // s₁ = (0.5 + 1)/2
    }

    #[test]
    fn a_whirl_goes_in_or_out_as_its_turns_shrink_or_grow() {
        // One turn of ẋ = −a s₁ + b s₂, ẏ = −c s₁ + d s₂ shrinks by ((b − a)(c + d) / ((c − d)(a + b)))²: in if b d < a c.
        for (a, b, c, d, inward) in [
            (1.0, 2.0, 2.0, 0.5, true),
            (0.5, 2.0, 2.0, 1.0, false),
            (0.5, 3.0, 20.0, 1.0, true),
            (1.0, 30.0, 2.0, 0.5, false),
        ] {
            let j = relays(&rows([[-a, b], [-c, d]]), &[0.0, 0.0], Corners::sums(2, &[]));
            assert_eq!(j.holds(&[0.5, 0.5], &[0, 1])[0] > 0.0, inward, "{a} {b} {c} {d}");
        }
    }

    #[test]
    fn where_functions_depend_on_each_other_shares_stay_in_their_bounds() {
        // Two masses with friction to the ground (0.3, 1) and between them (0.5), pushed by p: v₁, v₂, v₁ − v₂. Both stay if
        // some r in [−0.5, 0.5] has |p₁ − r| ≤ 0.3 and |p₂ + r| ≤ 1.
        for (p, stay) in [([0.7, 0.4], true), ([0.7, 0.55], true), ([0.7, 0.65], false), ([0.85, 0.0], false)] {
            let friction = |v: [f64; 3]| [p[0] - 0.3 * v[0] - 0.5 * v[2], p[1] - v[1] + 0.5 * v[2]];
            let corners = Corners::all(3);
            let rate = |c: &Vec<usize>| {
                let f = friction([0, 1, 2].map(|k| side(c, k)));
                vec![f[0], f[1], f[0] - f[1]]
            };
            let rates = corners.list.iter().map(rate).collect();
            let ways = vec![vec![1.0, 0.0], vec![0.0, 1.0], vec![1.0, -1.0]];
            assert_eq!(made_of(&ways[..2], &ways[2]), Some(vec![1.0, -1.0]));
            let base = base(&ways);
            let junction = Junction { corners, rates, lifts: Vec::new() };
            let mut shares = vec![0.5; 3];
            junction.hold(&mut shares, &base, &[0.0; 3]);
            assert!(junction.towards(&shares).iter().all(|h| h.abs() < 1e-9), "{shares:?}");
            assert_eq!(shares.iter().all(|s| (-1e-9..=1.0 + 1e-9).contains(s)), stay, "{shares:?}");
            let courses = junction.resolve(&[true; 3], &[1e-6; 3], &ways).unwrap();
            assert_eq!(courses.iter().all(|c| matches!(c, Course::Slides(_))), stay, "{courses:?}");
            let corners = Corners::sums(3, &[]);
            let rates = corners.list.iter().map(rate).collect();
            let pivoted = Junction { corners, rates, lifts: Vec::new() }.pivoted(&[1e-6; 3], &ways).unwrap();
            let kind = |c: &Course| if let Course::Side(s) = c { Some(*s) } else { None };
            assert!(pivoted.iter().map(kind).eq(courses.iter().map(kind)), "{pivoted:?} {courses:?}");
        }
    }

    #[test]
    fn a_product_of_relays_is_mixed_by_all_corners() {
        // ẋ = −s₁ + 0.5 s₁ s₂ + 0.3, ẏ = −s₂ + 0.2: s₂ = 0.2, s₁ = 0.3 / 0.9.
        let corners = Corners::all(2);
        let rate = |c: &Vec<usize>| vec![-side(c, 0) + 0.5 * side(c, 0) * side(c, 1) + 0.3, -side(c, 1) + 0.2];
        let rates = corners.list.iter().map(rate).collect();
        let courses =
            Junction { corners, rates, lifts: Vec::new() }.resolve(&[false, false], &[1e-6; 2], &apart(2)).unwrap();
        let sign = |c: &Course| if let Course::Slides(s) = c { 2.0 * s - 1.0 } else { f64::NAN };
        assert!((sign(&courses[0]) - 1.0 / 3.0).abs() < 1e-12 && (sign(&courses[1]) - 0.2).abs() < 1e-12);
    }

    #[test]
    fn many_surfaces_are_resolved_with_products_of_some() {
        // Rings of m relays, each pushed by its neighbours and by a product of the first two: s = −B⁻¹ (c + e s₁ s₂) on all of
        // them, made from s.
        for m in [8, 20, 50] {
            let b: Vec<Vec<f64>> = (0..m)
                .map(|j| {
                    (0..m)
                        .map(|k| {
                            if j == k {
                                -3.0
                            } else if (j + 1) % m == k || (k + 1) % m == j {
                                0.8
                            } else {
                                0.0
                            }
                        })
                        .collect()
                })
                .collect();
            let s: Vec<f64> = (0..m).map(|k| 0.9 * (k as f64 + 0.3).cos()).collect();
            let e = |j: usize| 0.3 * (j as f64).sin();
            let product = |corner: &[usize]| side(corner, 0) * side(corner, 1);
            let c: Vec<f64> =
                (0..m).map(|j| -b[j].iter().zip(&s).map(|(b, s)| b * s).sum::<f64>() - e(j) * s[0] * s[1]).collect();
            let mut junction = relays(&b, &c, Corners::sums(m, &[(0, 1)]));
            for (corner, rates) in junction.corners.list.iter().zip(&mut junction.rates) {
                rates.iter_mut().enumerate().for_each(|(j, r)| *r += e(j) * product(corner));
            }
            let courses = junction.resolve(&vec![true; m], &vec![1e-6; m], &apart(m)).unwrap();
            for (course, s) in courses.iter().zip(&s) {
                assert!(
                    matches!(course, Course::Slides(share) if (2.0 * share - 1.0 - s).abs() < 1e-9),
                    "{m}: {course:?}, {s}"
                );
            }
        }
    }
}
