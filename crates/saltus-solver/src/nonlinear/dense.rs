//! Small dense linear algebra for the nonlinear solvers: an equilibrated LU and a column-pivoted QR.
//!
//! All matrices are column-major slices: entry (i, j) of an m × n matrix is `a[i + j * m]`.

use faer::MatRef;
use faer::linalg::solvers::{PartialPivLu, SolveCore};

/// From this size on the factorization is left to faer's blocked LU.
const BLOCKED_FROM: usize = 80;

/// Where an LU factorization broke down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SingularAt {
    /// Row of the original matrix that carried the smallest pivot.
    pub row: usize,
    /// Column of the original matrix for which no usable pivot was found.
    pub column: usize,
}

/// LU factorization with partial pivoting of the equilibrated matrix `R A C`.
///
/// `R` and `C` are powers of two, so equilibration adds no rounding error.
#[derive(Debug, Clone, Default)]
pub struct Lu {
    n: usize,
    a: Vec<f64>,
    piv: Vec<usize>,
    row: Vec<f64>,
    col: Vec<f64>,
    tmp: Vec<f64>,
    big: Option<PartialPivLu<f64>>,
    pivot_ratio: f64,
}

/// The power of two nearest below `1 / x`, or 1 for values that cannot be inverted.
fn inverse_power_of_two(x: f64) -> f64 {
    if !(x.is_finite() && x > 0.0) {
        return 1.0;
    }
    let e = x.log2().floor().clamp(-1000.0, 1000.0);
    (-e).exp2()
}

impl Lu {
    /// An empty factorization (n = 0).
    pub fn new() -> Self {
        Self::default()
    }

    /// Factors the n × n matrix `a`; `weight[j]` is the magnitude of unknown j and steers the row scaling.
    pub fn factor(&mut self, n: usize, a: &[f64], weight: &[f64]) -> Result<(), SingularAt> {
        self.n = n;
        self.big = None;
        self.pivot_ratio = 1.0;
        self.a.clear();
        self.a.extend_from_slice(&a[..n * n]);
        self.row.clear();
        self.row.resize(n, 0.0);
        self.col.clear();
        self.col.resize(n, 1.0);
        self.tmp.resize(n, 0.0);
        self.piv.clear();
        self.piv.extend(0..n);
        for j in 0..n {
            let w = weight.get(j).copied().unwrap_or(1.0);
            let c = 1.0 / inverse_power_of_two(w);
            self.col[j] = c;
            for i in 0..n {
                let v = a[i + j * n];
                if !v.is_finite() {
                    return Err(SingularAt { row: i, column: j });
                }
                self.row[i] = self.row[i].max((v * c).abs());
            }
        }
        for i in 0..n {
            if self.row[i] == 0.0 {
                return Err(SingularAt { row: i, column: i });
            }
            self.row[i] = inverse_power_of_two(self.row[i]);
        }
        for j in 0..n {
            let mut largest = 0.0f64;
            for i in 0..n {
                let v = self.a[i + j * n] * self.row[i] * self.col[j];
                self.a[i + j * n] = v;
                largest = largest.max(v.abs());
            }
            if largest == 0.0 {
                return Err(SingularAt { row: j, column: j });
            }
            let s = inverse_power_of_two(largest);
            self.col[j] *= s;
            for v in &mut self.a[j * n..(j + 1) * n] {
                *v *= s;
            }
        }
        if n >= BLOCKED_FROM { self.factor_blocked() } else { self.factor_plain() }
    }

    fn threshold(&self) -> f64 {
        2.0 * f64::EPSILON * (self.n as f64).max(4.0)
    }

    fn factor_plain(&mut self) -> Result<(), SingularAt> {
        let n = self.n;
        let (mut lowest, mut highest) = (f64::INFINITY, 0.0f64);
        for k in 0..n {
            let mut p = k;
            for i in k + 1..n {
                if self.a[i + k * n].abs() > self.a[p + k * n].abs() {
                    p = i;
                }
            }
            let pivot = self.a[p + k * n];
            lowest = lowest.min(pivot.abs());
            highest = highest.max(pivot.abs());
            if !(pivot.abs() > self.threshold() * highest) {
                return Err(SingularAt { row: self.piv[p], column: k });
            }
            if p != k {
                self.piv.swap(p, k);
                for j in 0..n {
                    self.a.swap(p + j * n, k + j * n);
                }
            }
            let (head, tail) = self.a.split_at_mut((k + 1) * n);
            let lower = &mut head[k * n + k + 1..];
            for v in lower.iter_mut() {
                *v /= pivot;
            }
            for column in tail.chunks_exact_mut(n) {
                let u = column[k];
                if u != 0.0 {
                    for (c, l) in column[k + 1..].iter_mut().zip(lower.iter()) {
                        *c -= u * *l;
                    }
                }
            }
        }
        self.pivot_ratio = if n == 0 { 1.0 } else { lowest / highest };
        Ok(())
    }

    fn factor_blocked(&mut self) -> Result<(), SingularAt> {
        let n = self.n;
        let lu = PartialPivLu::new(MatRef::from_column_major_slice(&self.a, n, n));
        let (mut lowest, mut highest, mut at) = (f64::INFINITY, 0.0f64, 0);
        for k in 0..n {
            let v = lu.U()[(k, k)].abs();
            highest = highest.max(v);
            if !(v >= lowest) {
                lowest = v;
                at = k;
            }
        }
        if !(lowest > self.threshold() * highest) {
            let row = lu.P().arrays().0[at];
            return Err(SingularAt { row, column: at });
        }
        self.pivot_ratio = lowest / highest;
        self.big = Some(lu);
        Ok(())
    }

    /// Smallest over largest pivot of the equilibrated matrix, a cheap indication of conditioning.
    pub fn pivot_ratio(&self) -> f64 {
        self.pivot_ratio
    }

    /// Solves `A x = b` in place.
    pub fn solve(&mut self, b: &mut [f64]) {
        let n = self.n;
        for i in 0..n {
            b[i] *= self.row[i];
        }
        if let Some(lu) = &self.big {
            let rhs = faer::MatMut::from_column_major_slice_mut(&mut b[..n], n, 1);
            lu.solve_in_place_with_conj(faer::Conj::No, rhs);
        } else {
            for i in 0..n {
                self.tmp[i] = b[self.piv[i]];
            }
            for k in 0..n {
                let x = self.tmp[k];
                if x != 0.0 {
                    for i in k + 1..n {
                        self.tmp[i] -= x * self.a[i + k * n];
                    }
                }
            }
            for k in (0..n).rev() {
                let x = self.tmp[k] / self.a[k + k * n];
                self.tmp[k] = x;
                if x != 0.0 {
                    for i in 0..k {
                        self.tmp[i] -= x * self.a[i + k * n];
                    }
                }
            }
            b[..n].copy_from_slice(&self.tmp[..n]);
        }
        for i in 0..n {
            b[i] *= self.col[i];
        }
    }
}

/// Householder QR with column pivoting, `A P = Q R`, with the numerical rank.
#[derive(Debug, Clone, Default)]
pub struct PivotedQr {
    m: usize,
    n: usize,
    a: Vec<f64>,
    tau: Vec<f64>,
    perm: Vec<usize>,
    rank: usize,
    /// Second factorization `[R11 R12]ᵀ = Z T` (n × rank) used for minimum-norm solutions.
    z: Vec<f64>,
    ztau: Vec<f64>,
}

/// Makes a Householder reflector of `x` in place: `x[0]` becomes the new leading entry, the rest the vector.
fn reflector(x: &mut [f64]) -> f64 {
    let scale = x.iter().fold(0.0f64, |s, v| s.max(v.abs()));
    if scale == 0.0 || !scale.is_finite() {
        return 0.0;
    }
    let tail: f64 = x[1..].iter().map(|v| (v / scale) * (v / scale)).sum();
    if tail == 0.0 {
        return 0.0;
    }
    let alpha = x[0] / scale;
    let norm = (alpha * alpha + tail).sqrt();
    let beta = if alpha > 0.0 { -norm } else { norm };
    let tau = (beta - alpha) / beta;
    let inv = 1.0 / (x[0] - beta * scale);
    for v in &mut x[1..] {
        *v *= inv;
    }
    x[0] = beta * scale;
    tau
}

/// Applies the reflector with vector `(1, v)` and factor `tau` to `y`.
fn reflect(v: &[f64], tau: f64, y: &mut [f64]) {
    if tau == 0.0 {
        return;
    }
    let mut s = y[0];
    for (a, b) in v.iter().zip(&y[1..]) {
        s += a * b;
    }
    s *= tau;
    y[0] -= s;
    for (a, b) in v.iter().zip(&mut y[1..]) {
        *b -= s * a;
    }
}

impl PivotedQr {
    /// Factors the m × n matrix `a`. Diagonal entries of `R` at or below `tol` times the first count as zero.
    /// Non-finite entries give rank 0.
    pub fn factor(&mut self, m: usize, n: usize, a: &[f64], tol: f64) {
        self.m = m;
        self.n = n;
        self.rank = 0;
        self.a.clear();
        self.a.extend_from_slice(&a[..m * n]);
        self.tau.clear();
        self.perm.clear();
        self.perm.extend(0..n);
        if self.a.iter().any(|v| !v.is_finite()) {
            return;
        }
        let column_norm =
            |a: &[f64], j: usize, k: usize| a[j * m + k..(j + 1) * m].iter().map(|v| v * v).sum::<f64>().sqrt();
        let mut norms: Vec<f64> = (0..n).map(|j| column_norm(&self.a, j, 0)).collect();
        let mut first = 0.0;
        for k in 0..m.min(n) {
            let mut p = k;
            for j in k + 1..n {
                if norms[j] > norms[p] {
                    p = j;
                }
            }
            if p != k {
                for i in 0..m {
                    self.a.swap(i + p * m, i + k * m);
                }
                self.perm.swap(p, k);
                norms.swap(p, k);
            }
            let (head, tail) = self.a.split_at_mut((k + 1) * m);
            let x = &mut head[k * m + k..];
            let tau = reflector(x);
            if k == 0 {
                first = x[0].abs();
            }
            if !(x[0].abs() > tol * first) {
                break;
            }
            self.tau.push(tau);
            self.rank = k + 1;
            for (j, y) in tail.chunks_exact_mut(m).enumerate() {
                reflect(&x[1..], tau, &mut y[k..]);
                norms[k + 1 + j] = y[k + 1..].iter().map(|v| v * v).sum::<f64>().sqrt();
            }
        }
        // Rank-deficient or wide: factor [R11 R12]ᵀ once more so that solutions have minimum norm.
        let r = self.rank;
        self.z.clear();
        self.ztau.clear();
        if r < n {
            self.z.resize(n * r, 0.0);
            for i in 0..r {
                for j in i..n {
                    self.z[j + i * n] = self.a[i + j * m];
                }
            }
            for k in 0..r {
                let (head, tail) = self.z.split_at_mut((k + 1) * n);
                let x = &mut head[k * n + k..];
                let tau = reflector(x);
                self.ztau.push(tau);
                for y in tail.chunks_exact_mut(n) {
                    reflect(&x[1..], tau, &mut y[k..]);
                }
            }
        }
    }

    /// The numerical rank.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The column order: the first `rank()` entries are the independent columns.
    pub fn permutation(&self) -> &[usize] {
        &self.perm
    }

    /// The minimum-norm least-squares solution of `A x ≈ b`; `b` (length m) is overwritten.
    pub fn solve(&self, b: &mut [f64], x: &mut [f64]) {
        let (m, n, r) = (self.m, self.n, self.rank);
        for k in 0..r {
            reflect(&self.a[k * m + k + 1..(k + 1) * m], self.tau[k], &mut b[k..m]);
        }
        let mut y = vec![0.0; n];
        if r == n {
            for k in (0..r).rev() {
                y[k] = b[k] / self.a[k + k * m];
                for i in 0..k {
                    b[i] -= y[k] * self.a[i + k * m];
                }
            }
        } else {
            // Tᵀ u = b, then y = Z (u, 0).
            for k in 0..r {
                let mut s = b[k];
                for i in 0..k {
                    s -= self.z[i + k * n] * y[i];
                }
                y[k] = s / self.z[k + k * n];
            }
            for k in (0..r).rev() {
                reflect(&self.z[k * n + k + 1..(k + 1) * n], self.ztau[k], &mut y[k..]);
            }
        }
        for (k, &j) in self.perm.iter().enumerate() {
            x[j] = y[k];
        }
    }
}

/// Cholesky factorization in place (lower triangle); false if the matrix is not positive definite.
pub fn cholesky(n: usize, a: &mut [f64]) -> bool {
    for k in 0..n {
        let d = a[k + k * n];
        if !(d > 0.0 && d.is_finite()) {
            return false;
        }
        let d = d.sqrt();
        a[k + k * n] = d;
        for i in k + 1..n {
            a[i + k * n] /= d;
        }
        let (head, tail) = a.split_at_mut((k + 1) * n);
        let l = &head[k * n..];
        for (jj, column) in tail.chunks_exact_mut(n).enumerate() {
            let j = k + 1 + jj;
            let f = l[j];
            if f != 0.0 {
                for i in j..n {
                    column[i] -= f * l[i];
                }
            }
        }
    }
    true
}

/// Solves with the factor left by [`cholesky`].
pub fn cholesky_solve(n: usize, l: &[f64], b: &mut [f64]) {
    for k in 0..n {
        b[k] /= l[k + k * n];
        let x = b[k];
        for i in k + 1..n {
            b[i] -= x * l[i + k * n];
        }
    }
    for k in (0..n).rev() {
        let mut s = b[k];
        for i in k + 1..n {
            s -= l[i + k * n] * b[i];
        }
        b[k] = s / l[k + k * n];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(n: usize) -> Vec<f64> {
        let mut state = 12345u64;
        (0..n)
            .map(|_| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 33) as f64 / (1u64 << 31) as f64 - 0.5
            })
            .collect()
    }

    #[test]
    fn lu_solves_small_and_blocked() {
        for n in [0, 1, 2, 7, 79, 80, 150] {
            let a = filled(n * n);
            let x = filled(n);
            let mut b = vec![0.0; n];
            for j in 0..n {
                for i in 0..n {
                    b[i] += a[i + j * n] * x[j];
                }
            }
            let mut lu = Lu::new();
            lu.factor(n, &a, &vec![1.0; n]).unwrap();
            lu.solve(&mut b);
            for i in 0..n {
                assert!((b[i] - x[i]).abs() < 1e-10, "n = {n}");
            }
        }
    }

    #[test]
    fn lu_reports_singular() {
        let mut lu = Lu::new();
        assert!(lu.factor(2, &[1.0, 2.0, 2.0, 4.0], &[1.0, 1.0]).is_err());
        assert!(lu.factor(1, &[f64::NAN], &[1.0]).is_err());
        assert!(lu.factor(1, &[0.0], &[1.0]).is_err());
        let n = 100;
        let mut a = filled(n * n);
        for i in 0..n {
            a[i + 7 * n] = a[i + 3 * n] * 2.0;
        }
        assert!(lu.factor(n, &a, &vec![1.0; n]).is_err());
    }

    #[test]
    fn qr_minimum_norm() {
        // x + y = 2 twice: rank 1, minimum norm (1, 1).
        let mut qr = PivotedQr::default();
        qr.factor(2, 2, &[1.0, 2.0, 1.0, 2.0], 1e-12);
        assert_eq!(qr.rank(), 1);
        let mut x = [0.0; 2];
        qr.solve(&mut [2.0, 4.0], &mut x);
        assert!((x[0] - 1.0).abs() < 1e-14 && (x[1] - 1.0).abs() < 1e-14);
    }
}
