//! Piecewise-linear (simplicial) continuation: for F that is continuous and no more, where Newton's tangents mislead.
//!
//! Space × [0, 1] is cut into simplices by Freudenthal's triangulation K₁ with one layer in λ. At the vertices below F is
//! replaced by the affine G(z) = A (z − z₀), whose only zero is known; at those above it is F itself. The zeros of the
//! piecewise-linear interpolant form a path that starts at z₀ and is followed from simplex to simplex by pivoting: each
//! step replaces one vertex and evaluates F at most once, derivatives are never asked for. Where the path reaches the
//! upper layer, the interpolant of F has a zero. From there it goes on with a finer mesh and with A the slope just found,
//! so that each round is short (Merrill 1972; Saigal 1977; Allgower and Georg, Introduction to Numerical Continuation
//! Methods, chapters 12 and 13).

use super::dense::Lu;
use super::{DomainError, NonlinearSystem, checked};

/// Control of [`simplicial`].
#[derive(Debug, Clone, PartialEq)]
pub struct SimplicialOptions {
    /// Edge of the first simplices, in units of the scales.
    pub mesh: f64,
    /// Ends when the mesh is as fine, in units of the scales.
    pub tolerance: f64,
    /// The limit on pivots of all rounds together.
    pub max_pivots: usize,
    /// Typical sizes of the unknowns; empty: 1.
    pub scales: Vec<f64>,
}

impl Default for SimplicialOptions {
    fn default() -> Self {
        Self { mesh: 0.5, tolerance: 1e-11, max_pivots: 50_000, scales: Vec::new() }
    }
}

/// The course of a successful continuation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SimplicialReport {
    /// Rounds, each with a finer mesh.
    pub rounds: usize,
    /// Simplices passed through.
    pub pivots: usize,
    /// Evaluations of F.
    pub evaluations: usize,
}

/// Why the path could not be followed to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SimplicialFailure {
    /// F cannot be evaluated at a vertex of the path.
    Domain,
    /// The path runs back to the lower layer or away: the degree of F around the guess may be zero.
    NoEnd,
}

impl std::fmt::Display for SimplicialFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Domain => "the path leaves the domain of the residual",
            Self::NoEnd => "the path does not arrive",
        })
    }
}

impl std::error::Error for SimplicialFailure {}

/// Solves F(z) = 0 from the guess in `z`.
///
/// ```
/// use saltus_solver::nonlinear::{FnSystem, SimplicialOptions, simplicial};
/// // Steep on one side, flat on the other.
/// let mut kink = FnSystem::new(1, |z: &[f64], r: &mut [f64]| {
///     r[0] = if z[0] < 1.0 { z[0] - 1.0 } else { 1e3 * (z[0] - 1.0) } + 0.5;
///     Ok(())
/// });
/// let mut z = [7.0];
/// simplicial(&mut kink, &mut z, &SimplicialOptions::default()).unwrap();
/// assert!((z[0] - 0.5).abs() < 1e-9);
/// ```
pub fn simplicial<S: NonlinearSystem + ?Sized>(
    sys: &mut S,
    z: &mut [f64],
    opts: &SimplicialOptions,
) -> Result<SimplicialReport, SimplicialFailure> {
    let n = sys.dim();
    let mut report = SimplicialReport::default();
    if n == 0 {
        return Ok(report);
    }
    let scale = |j: usize| opts.scales.get(j).copied().filter(|s| *s > 0.0).unwrap_or(1.0);
    let scales: Vec<f64> = (0..n).map(scale).collect();
    // The first slope is the identity, up to a sign per equation that F itself suggests, else as it is.
    let mut slope: Option<Vec<f64>> = None;
    let mut mesh = opts.mesh;
    while mesh > opts.tolerance {
        let guess = z.to_vec();
        let mut outcome = Err(SimplicialFailure::NoEnd);
        for a in candidates(sys, &guess, &scales, mesh, slope.as_deref(), &mut report)? {
            z.copy_from_slice(&guess);
            outcome = Round::new(n, &guess, &scales, mesh, a).follow(sys, z, opts, &mut report);
            match outcome {
                Ok(_) | Err(SimplicialFailure::Domain) => break,
                Err(SimplicialFailure::NoEnd) => {}
            }
        }
        slope = Some(outcome?);
        report.rounds += 1;
        mesh *= 0.2;
    }
    Ok(report)
}

/// Slopes for the lower layer, best first: the last round's, differences over the mesh, the identity with either sign.
fn candidates<S: NonlinearSystem + ?Sized>(
    sys: &mut S,
    z: &[f64],
    scales: &[f64],
    mesh: f64,
    last: Option<&[f64]>,
    report: &mut SimplicialReport,
) -> Result<Vec<Vec<f64>>, SimplicialFailure> {
    let n = z.len();
    let mut all: Vec<Vec<f64>> = last.map(<[f64]>::to_vec).into_iter().collect();
    if all.is_empty() {
        let (mut r, mut shifted, mut point) = (vec![0.0; n], vec![0.0; n], z.to_vec());
        let mut evaluate = |p: &[f64], r: &mut [f64]| {
            report.evaluations += 1;
            checked(sys.residual(p, r), r).map_err(|DomainError| SimplicialFailure::Domain)
        };
        evaluate(z, &mut r)?;
        let mut jac = vec![0.0; n * n];
        let mut whole = true;
        for j in 0..n {
            let h = mesh * scales[j];
            point[j] = z[j] + h;
            whole &= evaluate(&point, &mut shifted).is_ok();
            point[j] = z[j];
            jac[j * n..(j + 1) * n].iter_mut().zip(shifted.iter().zip(&r)).for_each(|(a, (s, r))| *a = (s - r) / h);
        }
        if whole {
            all.push(jac);
        }
    }
    for sign in [1.0, -1.0] {
        let mut a = vec![0.0; n * n];
        (0..n).for_each(|j| a[j * n + j] = sign / scales[j]);
        all.push(a);
    }
    all.retain(|a| Lu::new().factor(n, a, scales).is_ok());
    Ok(all)
}

/// One round with a fixed mesh. Coordinates of vertices are integers, the last one is λ.
struct Round {
    n: usize,
    guess: Vec<f64>,
    steps: Vec<f64>,
    slope: Vec<f64>,
    /// The simplex: v₀, and the order in which unit vectors lead from vertex to vertex.
    vertices: Vec<Vec<i64>>,
    order: Vec<usize>,
    /// (1, label) of each vertex.
    columns: Vec<Vec<f64>>,
}

impl Round {
    fn new(n: usize, guess: &[f64], scales: &[f64], mesh: f64, slope: Vec<f64>) -> Round {
        let mut vertices = vec![vec![0i64; n + 1]];
        for k in 0..=n {
            let mut next = vertices[k].clone();
            next[k] += 1;
            vertices.push(next);
        }
        Round {
            n,
            guess: guess.to_vec(),
            steps: scales.iter().map(|s| mesh * s).collect(),
            slope,
            vertices,
            order: (0..=n).collect(),
            columns: Vec::new(),
        }
    }

    /// Where a vertex is: the guess is the centre of the first facet.
    fn point(&self, v: &[i64], out: &mut [f64]) {
        for (j, o) in out.iter_mut().enumerate() {
            let centre = (self.n - j) as f64 / (self.n + 1) as f64;
            *o = self.guess[j] + self.steps[j] * (v[j] as f64 - centre);
        }
    }

    /// (1, G or F) at a vertex.
    fn label<S: NonlinearSystem + ?Sized>(
        &self,
        sys: &mut S,
        v: &[i64],
        report: &mut SimplicialReport,
    ) -> Result<Vec<f64>, SimplicialFailure> {
        let n = self.n;
        let (mut z, mut column) = (vec![0.0; n], vec![1.0; n + 1]);
        self.point(v, &mut z);
        if v[n] == 0 {
            column[1..].fill(0.0);
            for j in 0..n {
                for i in 0..n {
                    column[1 + i] += self.slope[j * n + i] * (z[j] - self.guess[j]);
                }
            }
        } else {
            report.evaluations += 1;
            let r = &mut column[1..];
            checked(sys.residual(&z, r), r).map_err(|DomainError| SimplicialFailure::Domain)?;
        }
        Ok(column)
    }

    /// The neighbour on the other side of the facet opposite to vertex k; where its new vertex stands.
    fn replace(&mut self, k: usize) -> usize {
        let last = self.n + 1;
        let mut new = self.vertices[k].clone();
        if k == 0 {
            new.clone_from(&self.vertices[last]);
            let first = self.order.remove(0);
            new[first] += 1;
            self.order.push(first);
            self.vertices.remove(0);
            self.columns.remove(0);
            self.vertices.push(new);
            self.columns.push(Vec::new());
            last
        } else if k == last {
            new.clone_from(&self.vertices[0]);
            let end = self.order.pop().unwrap_or(0);
            new[end] -= 1;
            self.order.insert(0, end);
            self.vertices.pop();
            self.columns.pop();
            self.vertices.insert(0, new);
            self.columns.insert(0, Vec::new());
            0
        } else {
            self.order.swap(k - 1, k);
            new.clone_from(&self.vertices[k - 1]);
            new[self.order[k - 1]] += 1;
            self.vertices[k] = new;
            k
        }
    }

    /// Follows the path to the upper layer: `z` is the zero found there, the slope of F around it comes back.
    fn follow<S: NonlinearSystem + ?Sized>(
        &mut self,
        sys: &mut S,
        z: &mut [f64],
        opts: &SimplicialOptions,
        report: &mut SimplicialReport,
    ) -> Result<Vec<f64>, SimplicialFailure> {
        let (n, m) = (self.n, self.n + 1);
        for k in 0..=m {
            let v = self.vertices[k].clone();
            let column = self.label(sys, &v, report)?;
            self.columns.push(column);
        }
        // The facet without `entering` holds a zero of the interpolant.
        let mut entering = m;
        let mut lu = Lu::new();
        let ones = vec![1.0; m];
        loop {
            report.pivots += 1;
            if report.pivots > opts.max_pivots {
                return Err(SimplicialFailure::NoEnd);
            }
            let facet: Vec<usize> = (0..=m).filter(|&k| k != entering).collect();
            let basis: Vec<f64> = facet.iter().flat_map(|&k| self.columns[k].iter().copied()).collect();
            if lu.factor(m, &basis, &ones).is_err() {
                return Err(SimplicialFailure::NoEnd);
            }
            let mut weights = vec![0.0; m];
            weights[0] = 1.0;
            lu.solve(&mut weights);
            if facet.iter().all(|&k| self.vertices[k][n] == 1) {
                return self.arrive(&facet, &weights, z);
            }
            let mut shares = self.columns[entering].clone();
            lu.solve(&mut shares);
            // The vertex whose weight vanishes first as the new one's grows; ties by their powers of a perturbation.
            let leaving = (0..m)
                .filter(|&k| shares[k] > 1e-12)
                .min_by(|&a, &b| {
                    let ratio = |k: usize| weights[k].max(0.0) / shares[k];
                    ratio(a).total_cmp(&ratio(b)).then(shares[b].total_cmp(&shares[a]))
                })
                .ok_or(SimplicialFailure::NoEnd)?;
            let leaving = facet[leaving];
            // The new facet is the whole simplex without `leaving`; beyond it lies the next simplex.
            let rest: Vec<usize> = (0..=m).filter(|&k| k != leaving).collect();
            if rest.iter().all(|&k| self.vertices[k][n] == 1) {
                entering = leaving;
                continue;
            }
            if rest.iter().all(|&k| self.vertices[k][n] == 0) {
                return Err(SimplicialFailure::NoEnd);
            }
            entering = self.replace(leaving);
            let v = self.vertices[entering].clone();
            if !(0..=1).contains(&v[n]) {
                return Err(SimplicialFailure::NoEnd);
            }
            self.columns[entering] = self.label(sys, &v, report)?;
        }
    }

    /// The zero of the interpolant of F on a facet above, and its slope.
    fn arrive(&self, facet: &[usize], weights: &[f64], z: &mut [f64]) -> Result<Vec<f64>, SimplicialFailure> {
        let n = self.n;
        let mut points = vec![vec![0.0; n]; facet.len()];
        for (p, &k) in points.iter_mut().zip(facet) {
            self.point(&self.vertices[k], p);
        }
        for (j, z) in z.iter_mut().enumerate() {
            *z = points.iter().zip(weights).map(|(p, w)| w * p[j]).sum();
        }
        // Neighbouring vertices differ in one coordinate each: the slope comes by differences.
        let mut slope = vec![0.0; n * n];
        for (k, pair) in facet.windows(2).enumerate() {
            let j = (0..n).find(|&j| points[k + 1][j] != points[k][j]).ok_or(SimplicialFailure::NoEnd)?;
            let h = points[k + 1][j] - points[k][j];
            for i in 0..n {
                slope[j * n + i] = (self.columns[pair[1]][1 + i] - self.columns[pair[0]][1 + i]) / h;
            }
        }
        Ok(slope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nonlinear::FnSystem;

    fn check(n: usize, f: impl FnMut(&[f64], &mut [f64]), guess: &[f64], expected: &[f64]) -> SimplicialReport {
        let mut f = f;
        let mut sys = FnSystem::new(n, |z: &[f64], r: &mut [f64]| {
            f(z, r);
            Ok(())
        });
        let mut z = guess.to_vec();
        let report = simplicial(&mut sys, &mut z, &SimplicialOptions::default()).unwrap_or_else(|e| panic!("{e}"));
        for (a, b) in z.iter().zip(expected) {
            assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{z:?} {expected:?} {report:?}");
        }
        report
    }

    #[test]
    fn affine_systems() {
        check(2, |z, r| (r[0], r[1]) = (2.0 * z[0] + z[1] - 3.0, z[0] - z[1]), &[-4.0, 9.0], &[1.0, 1.0]);
    }

    #[test]
    fn kinks_that_make_newton_cycle() {
        // Newton from either side of a root of sign(x) √|x| jumps to and fro for ever.
        let report = check(1, |z, r| r[0] = (z[0] - 0.3).signum() * (z[0] - 0.3).abs().sqrt(), &[5.0], &[0.3]);
        println!("{report:?}");
        // |x| + |y| = 1 and x = y, with slopes that change sign on the way.
        check(
            2,
            |z, r| (r[0], r[1]) = (z[0].abs() + z[1].abs() - 1.0 + 0.2 * z[0], z[0] - z[1]),
            &[3.0, -1.0],
            &[1.0 / 2.2, 1.0 / 2.2],
        );
    }

    #[test]
    fn smooth_systems_and_larger_ones() {
        check(
            2,
            |z, r| (r[0], r[1]) = (z[0].exp() - z[1], z[0] + z[1] - 3.0),
            &[0.0, 0.0],
            &[0.792_059_968_430_677_2, 2.207_940_031_569_323],
        );
        // max(x_i, 2 x_i) − Σ_j x_j / 20 = i: strictly diagonally dominant, so one root; checked by its residual.
        let n = 8;
        let f = |z: &[f64], r: &mut [f64]| {
            let sum: f64 = z.iter().sum();
            for i in 0..z.len() {
                r[i] = z[i].max(2.0 * z[i]) - sum / 20.0 - (i as f64 - 3.0);
            }
        };
        let mut sys = FnSystem::new(n, |z: &[f64], r: &mut [f64]| {
            f(z, r);
            Ok(())
        });
        let mut z = vec![10.0; n];
        let report = simplicial(&mut sys, &mut z, &SimplicialOptions::default()).unwrap();
        let mut r = vec![0.0; n];
        f(&z, &mut r);
        assert!(r.iter().all(|v| v.abs() < 1e-9), "{r:?} {report:?}");
    }

    #[test]
    fn failures_are_told() {
        let mut none = FnSystem::new(1, |z: &[f64], r: &mut [f64]| {
            r[0] = z[0] * z[0] + 1.0;
            Ok(())
        });
        let opts = SimplicialOptions { max_pivots: 2000, ..Default::default() };
        assert_eq!(simplicial(&mut none, &mut [1.0], &opts), Err(SimplicialFailure::NoEnd));
        let mut outside = FnSystem::new(1, |_: &[f64], _: &mut [f64]| Err(DomainError));
        assert_eq!(simplicial(&mut outside, &mut [1.0], &opts), Err(SimplicialFailure::Domain));
        let mut empty = FnSystem::new(0, |_: &[f64], _: &mut [f64]| Ok(()));
        assert!(simplicial(&mut empty, &mut [], &opts).is_ok());
    }
}
