//! The LAPACK functions of `Modelica.Math.Matrices`: small dense matrices, row by row here, so that leading dimensions
//! say nothing and sizes are those of the arrays. Factors have LAPACK's layout (pivots, reflectors with τ).

use super::schur;
use super::{ExtArg, ExtDerivative, ExtResult, External, array, num, set, set_array, string};
use faer::Mat;

/// A dense matrix, row by row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct M {
    pub m: usize,
    pub n: usize,
    pub v: Vec<f64>,
}

impl M {
    pub fn zeros(m: usize, n: usize) -> M {
        M { m, n, v: vec![0.0; m * n] }
    }
    pub fn identity(n: usize) -> M {
        let mut a = M::zeros(n, n);
        (0..n).for_each(|i| *a.at(i, i) = 1.0);
        a
    }
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.v[i * self.n + j]
    }
    pub fn at(&mut self, i: usize, j: usize) -> &mut f64 {
        &mut self.v[i * self.n + j]
    }
    pub fn t(&self) -> M {
        let v = (0..self.n).flat_map(|j| (0..self.m).map(move |i| (i, j))).map(|(i, j)| self.get(i, j)).collect();
        M { m: self.n, n: self.m, v }
    }
    pub fn mul(&self, b: &M) -> M {
        let mut c = M::zeros(self.m, b.n);
        for i in 0..self.m {
            for k in 0..self.n.min(b.m) {
                let x = self.get(i, k);
                for j in 0..b.n {
                    *c.at(i, j) += x * b.get(k, j);
                }
            }
        }
        c
    }
    pub fn minus(&self, b: &M) -> M {
        M { v: self.v.iter().zip(&b.v).map(|(x, y)| x - y).collect(), ..*self }
    }
    pub fn finite(&self) -> bool {
        self.v.iter().all(|x| x.is_finite())
    }
    pub fn norm(&self, kind: &str) -> f64 {
        let sums = |outer: usize, inner: usize, by_row: bool| {
            (0..outer)
                .map(|i| (0..inner).map(|j| if by_row { self.get(i, j) } else { self.get(j, i) }.abs()).sum())
                .fold(0.0f64, f64::max)
        };
        match kind.chars().next() {
            Some('I' | 'i') => sums(self.m, self.n, true),
            Some('1' | 'O' | 'o') => sums(self.n, self.m, false),
            Some('F' | 'f' | 'E' | 'e') => self.v.iter().map(|x| x * x).sum::<f64>().sqrt(),
            _ => self.v.iter().fold(0.0, |m, x| x.abs().max(m)),
        }
    }
}

/// The argument as a matrix; a vector is a column.
pub(super) fn mat(a: &[ExtArg], i: usize) -> Result<M, String> {
    let (dims, v) = array(a, i)?;
    let (m, n) = match dims {
        [m] => (*m, 1),
        [m, n] => (*m, *n),
        _ => return Err(format!("argument {} should be a matrix", i + 1)),
    };
    Ok(M { m, n, v: v.to_vec() })
}

pub(super) fn square(a: &[ExtArg], i: usize) -> Result<M, String> {
    let x = mat(a, i)?;
    if x.m == x.n { Ok(x) } else { Err(format!("argument {} should be a square matrix", i + 1)) }
}

/// LU factors in place of A, row interchanges, and the first zero pivot (from 1).
pub(super) fn lu(a: &mut M) -> (Vec<usize>, usize) {
    let k = a.m.min(a.n);
    let mut pivots = Vec::with_capacity(k);
    let mut info = 0;
    for c in 0..k {
        let p = (c..a.m).fold(c, |p, i| if a.get(i, c).abs() > a.get(p, c).abs() { i } else { p });
        pivots.push(p);
        if p != c {
            for j in 0..a.n {
                let (x, y) = (a.get(c, j), a.get(p, j));
                *a.at(c, j) = y;
                *a.at(p, j) = x;
            }
        }
        let d = a.get(c, c);
        if d == 0.0 {
            if info == 0 {
                info = c + 1;
            }
            continue;
        }
        for i in c + 1..a.m {
            let f = a.get(i, c) / d;
            *a.at(i, c) = f;
            if f != 0.0 {
                for j in c + 1..a.n {
                    let x = a.get(c, j);
                    *a.at(i, j) -= f * x;
                }
            }
        }
    }
    (pivots, info)
}

pub(super) fn lu_solve(a: &M, pivots: &[usize], b: &mut M, transposed: bool) {
    let n = a.n;
    let swap = |b: &mut M, i: usize, p: usize| {
        if i != p && p < b.m {
            for j in 0..b.n {
                b.v.swap(i * b.n + j, p * b.n + j);
            }
        }
    };
    if !transposed {
        for (i, p) in pivots.iter().enumerate() {
            swap(b, i, *p);
        }
    }
    for j in 0..b.n {
        if transposed {
            for i in 0..n {
                let s: f64 = (0..i).map(|k| a.get(k, i) * b.get(k, j)).sum();
                *b.at(i, j) = (b.get(i, j) - s) / a.get(i, i);
            }
            for i in (0..n).rev() {
                let s: f64 = (i + 1..n).map(|k| a.get(k, i) * b.get(k, j)).sum();
                *b.at(i, j) -= s;
            }
        } else {
            for i in 0..n {
                let s: f64 = (0..i).map(|k| a.get(i, k) * b.get(k, j)).sum();
                *b.at(i, j) -= s;
            }
            for i in (0..n).rev() {
                let s: f64 = (i + 1..n).map(|k| a.get(i, k) * b.get(k, j)).sum();
                *b.at(i, j) = (b.get(i, j) - s) / a.get(i, i);
            }
        }
    }
    if transposed {
        for (i, p) in pivots.iter().enumerate().rev() {
            swap(b, i, *p);
        }
    }
}

pub(super) fn transposed(s: &str) -> bool {
    s.starts_with(['T', 't', 'C', 'c'])
}

fn pivots(a: &[ExtArg], i: usize, n: usize) -> Result<Vec<usize>, String> {
    let (_, v) = array(a, i)?;
    if v.len() < n || v.iter().any(|p| !(*p >= 1.0 && *p <= n as f64)) {
        return Err("the pivots are no row numbers".into());
    }
    Ok(v.iter().map(|p| *p as usize - 1).collect())
}

fn one_based(p: &[usize]) -> Vec<f64> {
    p.iter().map(|p| *p as f64 + 1.0).collect()
}

fn solve_into(a: &mut [ExtArg], mut lhs: M, rhs: usize, info: usize) -> Result<(M, Vec<usize>), String> {
    let mut b = mat(a, rhs)?;
    if b.m != lhs.m {
        return Err(format!("the right-hand side has {} rows instead of {}", b.m, lhs.m));
    }
    let (p, bad) = lu(&mut lhs);
    if bad == 0 {
        lu_solve(&lhs, &p, &mut b, false);
        set_array(a, rhs, &b.v)?;
    }
    set(a, info, bad as f64)?;
    Ok((lhs, p))
}

fn dgesv(a: &mut [ExtArg]) -> ExtResult {
    let x = square(a, 2)?;
    let (f, p) = solve_into(a, x, 5, 7)?;
    set_array(a, 2, &f.v)?;
    set_array(a, 4, &one_based(&p))?;
    Ok(0.0)
}

fn dgetrf(a: &mut [ExtArg]) -> ExtResult {
    let mut x = mat(a, 2)?;
    let (p, bad) = lu(&mut x);
    set_array(a, 2, &x.v)?;
    set_array(a, 4, &one_based(&p))?;
    set(a, 5, bad as f64)?;
    Ok(0.0)
}

fn dgetrs(a: &mut [ExtArg]) -> ExtResult {
    let f = square(a, 3)?;
    let p = pivots(a, 5, f.n)?;
    let mut b = mat(a, 6)?;
    if b.m != f.n {
        return Err("the right-hand side does not fit the matrix".into());
    }
    lu_solve(&f, &p, &mut b, transposed(&string(a, 0)?));
    set_array(a, 6, &b.v)?;
    set(a, 8, 0.0)?;
    Ok(0.0)
}

fn dgetri(a: &mut [ExtArg]) -> ExtResult {
    let f = square(a, 1)?;
    let p = pivots(a, 3, f.n)?;
    if let Some(i) = (0..f.n).find(|i| f.get(*i, *i) == 0.0) {
        set(a, 6, i as f64 + 1.0)?;
        return Ok(0.0);
    }
    let mut inv = M::identity(f.n);
    lu_solve(&f, &p, &mut inv, false);
    set_array(a, 1, &inv.v)?;
    set(a, 6, 0.0)?;
    Ok(0.0)
}

fn dgtsv(a: &mut [ExtArg]) -> ExtResult {
    let (sub, diag, sup) = (array(a, 2)?.1, array(a, 3)?.1, array(a, 4)?.1);
    let n = diag.len();
    if sub.len() + 1 < n || sup.len() + 1 < n {
        return Err("the diagonals have wrong lengths".into());
    }
    let mut x = M::zeros(n, n);
    for i in 0..n {
        *x.at(i, i) = diag[i];
        if i + 1 < n {
            *x.at(i + 1, i) = sub[i];
            *x.at(i, i + 1) = sup[i];
        }
    }
    solve_into(a, x, 5, 7)?;
    Ok(0.0)
}

/// Band storage: A(i, j) stands in row kl + ku + i - j.
fn dgbsv(a: &mut [ExtArg]) -> ExtResult {
    let (n, kl, ku) = (num(a, 0)? as usize, num(a, 1)? as usize, num(a, 2)? as usize);
    let band = mat(a, 4)?;
    if band.n != n || band.m < 2 * kl + ku + 1 {
        return Err("the band matrix has a wrong size".into());
    }
    let mut x = M::zeros(n, n);
    for j in 0..n {
        for i in j.saturating_sub(ku)..(j + kl + 1).min(n) {
            *x.at(i, j) = band.get(kl + ku + i - j, j);
        }
    }
    solve_into(a, x, 7, 9)?;
    Ok(0.0)
}

/// Reciprocal condition number from the factors, by the inverse itself.
fn dgecon(a: &mut [ExtArg]) -> ExtResult {
    let f = square(a, 2)?;
    let kind = string(a, 0)?;
    let singular = (0..f.n).any(|i| f.get(i, i) == 0.0);
    let rcond = if f.n == 0 {
        1.0
    } else if singular {
        0.0
    } else {
        // Without the row interchanges: they permute columns of the inverse, which for the 1-norm changes nothing.
        let mut inv = M::identity(f.n);
        lu_solve(&f, &[], &mut inv, false);
        1.0 / (num(a, 4)? * inv.norm(&kind))
    };
    set(a, 5, rcond)?;
    set(a, 8, 0.0)?;
    Ok(0.0)
}

fn dlange(a: &mut [ExtArg]) -> ExtResult {
    Ok(mat(a, 3)?.norm(&string(a, 0)?))
}

fn dpotrf(a: &mut [ExtArg]) -> ExtResult {
    let upper = string(a, 0)?.starts_with(['U', 'u']);
    let x = square(a, 2)?;
    let n = x.n;
    // L from the chosen triangle.
    let mut l = if upper { x.t() } else { x.clone() };
    let mut info = 0;
    'columns: for j in 0..n {
        let s: f64 = (0..j).map(|k| l.get(j, k).powi(2)).sum();
        let d = l.get(j, j) - s;
        if d.is_nan() || d <= 0.0 {
            info = j + 1;
            break 'columns;
        }
        *l.at(j, j) = d.sqrt();
        for i in j + 1..n {
            let s: f64 = (0..j).map(|k| l.get(i, k) * l.get(j, k)).sum();
            *l.at(i, j) = (l.get(i, j) - s) / l.get(j, j);
        }
    }
    let out = if upper { l.t() } else { l };
    set_array(a, 2, &out.v)?;
    set(a, 4, info as f64)?;
    Ok(0.0)
}

/// op(A) X = α B or X op(A) = α B with a triangular A.
fn dtrsm(a: &mut [ExtArg]) -> ExtResult {
    let left = string(a, 0)?.starts_with(['L', 'l']);
    let upper = string(a, 1)?.starts_with(['U', 'u']);
    let trans = transposed(&string(a, 2)?);
    let unit = string(a, 3)?.starts_with(['U', 'u']);
    let alpha = num(a, 6)?;
    let mut t = square(a, 7)?;
    for i in 0..t.n {
        for j in 0..t.n {
            if i == j && unit {
                *t.at(i, j) = 1.0;
            } else if (i > j && upper) || (i < j && !upper) {
                *t.at(i, j) = 0.0;
            }
        }
    }
    if trans {
        t = t.t();
    }
    let mut b = mat(a, 9)?;
    b.v.iter_mut().for_each(|x| *x *= alpha);
    let mut x = if left { b } else { b.t() };
    if !left {
        t = t.t();
    }
    if x.m != t.n {
        return Err("the right-hand side does not fit the matrix".into());
    }
    let n = t.n;
    let lower = (0..n).all(|i| (i + 1..n).all(|j| t.get(i, j) == 0.0));
    for c in 0..x.n {
        for s in 0..n {
            let i = if lower { s } else { n - 1 - s };
            let sum: f64 = (0..n)
                .filter(|k| *k != i)
                .map(|k| t.get(i, k) * if (k < i) == lower { x.get(k, c) } else { 0.0 })
                .sum();
            *x.at(i, c) = (x.get(i, c) - sum) / t.get(i, i);
        }
    }
    let x = if left { x } else { x.t() };
    set_array(a, 9, &x.v)?;
    Ok(0.0)
}

/// A reflector H = I - τ v vᵀ (v₀ = 1) that maps x to (β, 0, …): β, τ and the tail of v.
fn reflector(x: &[f64]) -> (f64, f64, Vec<f64>) {
    let tail: f64 = x[1..].iter().map(|v| v * v).sum();
    if tail == 0.0 {
        return (x[0], 0.0, vec![0.0; x.len() - 1]);
    }
    let beta = -(x[0] * x[0] + tail).sqrt().copysign(x[0]);
    (beta, (beta - x[0]) / beta, x[1..].iter().map(|v| v / (x[0] - beta)).collect())
}

/// Applies H from the left to rows r.. of `a`, columns c...
fn reflect_left(a: &mut M, r: usize, c: usize, tau: f64, v: &[f64]) {
    for j in c..a.n {
        let s = a.get(r, j) + v.iter().enumerate().map(|(k, v)| v * a.get(r + 1 + k, j)).sum::<f64>();
        *a.at(r, j) -= tau * s;
        for (k, v) in v.iter().enumerate() {
            *a.at(r + 1 + k, j) -= tau * s * v;
        }
    }
}

/// QR with reflectors below the diagonal; with column exchanges if asked for.
fn qr(a: &mut M, pivoting: bool) -> (Vec<f64>, Vec<usize>) {
    let k = a.m.min(a.n);
    let mut taus = Vec::with_capacity(k);
    let mut order: Vec<usize> = (0..a.n).collect();
    for c in 0..k {
        if pivoting {
            let norm = |a: &M, j: usize| (c..a.m).map(|i| a.get(i, j).powi(2)).sum::<f64>();
            let p = (c..a.n).fold(c, |p, j| if norm(a, j) > norm(a, p) { j } else { p });
            if p != c {
                order.swap(c, p);
                for i in 0..a.m {
                    a.v.swap(i * a.n + c, i * a.n + p);
                }
            }
        }
        let x: Vec<f64> = (c..a.m).map(|i| a.get(i, c)).collect();
        let (beta, tau, v) = reflector(&x);
        reflect_left(a, c, c + 1, tau, &v);
        *a.at(c, c) = beta;
        for (i, v) in v.iter().enumerate() {
            *a.at(c + 1 + i, c) = *v;
        }
        taus.push(tau);
    }
    (taus, order)
}

/// H₀ H₁ … applied to C from the left; reflector k begins in row k + shift.
fn apply_q(f: &M, taus: &[f64], shift: usize, c: &mut M, trans: bool) {
    let mut order: Vec<usize> = (0..taus.len()).collect();
    if !trans {
        order.reverse();
    }
    for k in order {
        let r = k + shift;
        if r >= c.m {
            continue;
        }
        let v: Vec<f64> = (r + 1..c.m).map(|i| f.get(i, k)).collect();
        reflect_left(c, r, 0, taus[k], &v);
    }
}

fn dgeqrf(a: &mut [ExtArg]) -> ExtResult {
    let mut x = mat(a, 2)?;
    let (taus, _) = qr(&mut x, false);
    set_array(a, 2, &x.v)?;
    set_array(a, 4, &taus)?;
    set(a, 7, 0.0)?;
    Ok(0.0)
}

fn dgeqp3(a: &mut [ExtArg]) -> ExtResult {
    let mut x = mat(a, 2)?;
    let (taus, order) = qr(&mut x, true);
    set_array(a, 2, &x.v)?;
    set_array(a, 4, &one_based(&order))?;
    set_array(a, 5, &taus)?;
    set(a, 8, 0.0)?;
    Ok(0.0)
}

fn dorgqr(a: &mut [ExtArg]) -> ExtResult {
    let f = mat(a, 3)?;
    let taus = array(a, 5)?.1.to_vec();
    let mut q = M::zeros(f.m, f.n);
    (0..f.m.min(f.n)).for_each(|i| *q.at(i, i) = 1.0);
    if taus.len() > f.n {
        return Err("there are more reflectors than columns".into());
    }
    apply_q(&f, &taus, 0, &mut q, false);
    set_array(a, 3, &q.v)?;
    set(a, 8, 0.0)?;
    Ok(0.0)
}

/// C := op(Q) C or C op(Q).
fn apply_to(a: &mut [ExtArg], f: usize, tau: usize, c: usize, info: usize, shift: usize) -> ExtResult {
    let (left, trans) = (string(a, 0)?.starts_with(['L', 'l']), transposed(&string(a, 1)?));
    let f = mat(a, f)?;
    let taus = array(a, tau)?.1.to_vec();
    let x = mat(a, c)?;
    let mut x = if left { x } else { x.t() };
    if taus.len() > f.n || x.m > f.m {
        return Err("the reflectors do not fit the matrix".into());
    }
    apply_q(&f, &taus, shift, &mut x, if left { trans } else { !trans });
    let x = if left { x } else { x.t() };
    set_array(a, c, &x.v)?;
    set(a, info, 0.0)?;
    Ok(0.0)
}

fn dgehrd(a: &mut [ExtArg]) -> ExtResult {
    let mut x = square(a, 3)?;
    let n = x.n;
    let mut taus = Vec::new();
    for c in 0..n.saturating_sub(1) {
        let column: Vec<f64> = (c + 1..n).map(|i| x.get(i, c)).collect();
        let (beta, tau, v) = reflector(&column);
        reflect_left(&mut x, c + 1, c + 1, tau, &v);
        let mut t = x.t();
        reflect_left(&mut t, c + 1, 0, tau, &v);
        x = t.t();
        *x.at(c + 1, c) = beta;
        for (i, v) in v.iter().enumerate() {
            *x.at(c + 2 + i, c) = *v;
        }
        taus.push(tau);
    }
    set_array(a, 3, &x.v)?;
    taus.resize(array(a, 5)?.1.len(), 0.0);
    set_array(a, 5, &taus)?;
    set(a, 8, 0.0)?;
    Ok(0.0)
}

fn dorghr(a: &mut [ExtArg]) -> ExtResult {
    let f = square(a, 3)?;
    let mut taus = array(a, 5)?.1.to_vec();
    taus.truncate(f.n.saturating_sub(1));
    let mut q = M::identity(f.n);
    apply_q(&f, &taus, 1, &mut q, false);
    set_array(a, 3, &q.v)?;
    set(a, 8, 0.0)?;
    Ok(0.0)
}

/// U (m×m), σ descending, Vᵀ (n×n).
pub(super) fn svd(x: &M) -> Option<(M, Vec<f64>, M)> {
    if !x.finite() {
        return None;
    }
    if x.m == 0 || x.n == 0 {
        return Some((M::identity(x.m), vec![], M::identity(x.n)));
    }
    let f = Mat::from_fn(x.m, x.n, |i, j| x.get(i, j)).svd().ok()?;
    let (u, s, v) = (f.U(), f.S().column_vector(), f.V());
    let mut left = M::zeros(x.m, x.m);
    let mut right = M::zeros(x.n, x.n);
    for i in 0..x.m {
        for j in 0..x.m {
            *left.at(i, j) = u[(i, j)];
        }
    }
    for i in 0..x.n {
        for j in 0..x.n {
            *right.at(i, j) = v[(j, i)];
        }
    }
    Some((left, (0..x.m.min(x.n)).map(|i| s[i]).collect(), right))
}

/// The pseudoinverse, with singular values below rcond·σ₁ dropped, and the rank.
fn pinv(x: &M, rcond: f64) -> Option<(M, usize)> {
    let (u, s, vt) = svd(x)?;
    let cut = rcond.max(f64::EPSILON * x.m.max(x.n) as f64) * s.first().copied().unwrap_or(0.0);
    let mut out = M::zeros(x.n, x.m);
    let mut rank = 0;
    for (k, s) in s.iter().enumerate() {
        if *s > cut {
            rank += 1;
            for i in 0..x.n {
                for j in 0..x.m {
                    *out.at(i, j) += vt.get(k, i) * u.get(j, k) / s;
                }
            }
        }
    }
    Some((out, rank))
}

fn dgesvd(a: &mut [ExtArg]) -> ExtResult {
    let vectors = string(a, 0)?.starts_with(['A', 'a']);
    svd_into(a, vectors, 4, 6, 13)
}

fn dgesdd(a: &mut [ExtArg]) -> ExtResult {
    let vectors = string(a, 0)?.starts_with(['A', 'a']);
    svd_into(a, vectors, 3, 5, 13)
}

/// σ, U and Vᵀ at `s`, `s + 1` and `s + 3`.
fn svd_into(a: &mut [ExtArg], vectors: bool, x: usize, s: usize, info: usize) -> ExtResult {
    match svd(&mat(a, x)?) {
        Some((u, sigma, vt)) => {
            set_array(a, s, &sigma)?;
            if vectors {
                set_array(a, s + 1, &u.v)?;
                set_array(a, s + 3, &vt.v)?;
            }
            set(a, info, 0.0)?;
        }
        None => set(a, info, 1.0)?,
    }
    Ok(0.0)
}

/// Least squares or minimal norm; the solution stands in the first rows of X.
fn least_squares(a: &mut [ExtArg], x: usize, b: usize, rcond: f64, info: usize) -> Result<usize, String> {
    let lhs = mat(a, x)?;
    let mut rhs = mat(a, b)?;
    if rhs.m < lhs.m.max(lhs.n) {
        return Err("the right-hand side has too few rows".into());
    }
    let Some((p, rank)) = pinv(&lhs, rcond) else {
        set(a, info, 1.0)?;
        return Ok(0);
    };
    let top = M { m: lhs.m, n: rhs.n, v: rhs.v[..lhs.m * rhs.n].to_vec() };
    let sol = p.mul(&top);
    // What is left of an overdetermined right-hand side keeps the size of the residual.
    let rest = lhs.mul(&sol).minus(&top);
    for j in 0..rhs.n {
        for i in 0..rhs.m {
            *rhs.at(i, j) = if i < lhs.n {
                sol.get(i, j)
            } else if i == lhs.n {
                (0..lhs.m).map(|k| rest.get(k, j).powi(2)).sum::<f64>().sqrt()
            } else {
                0.0
            };
        }
    }
    set_array(a, b, &rhs.v)?;
    set(a, info, 0.0)?;
    Ok(rank)
}

fn dgels(a: &mut [ExtArg]) -> ExtResult {
    least_squares(a, 4, 6, 0.0, 10)?;
    Ok(0.0)
}

fn dgelsy(a: &mut [ExtArg]) -> ExtResult {
    let rcond = num(a, 8)?;
    let rank = least_squares(a, 3, 5, rcond, 12)?;
    set(a, 9, rank as f64)?;
    Ok(0.0)
}

/// min ‖c - A x‖ subject to B x = d, by pseudoinverses.
fn dgglse(a: &mut [ExtArg]) -> ExtResult {
    let (x, b, c, d) = (mat(a, 3)?, mat(a, 5)?, mat(a, 7)?, mat(a, 8)?);
    if x.n != b.n || c.m != x.m || d.m != b.m {
        return Err("the sizes of the matrices do not fit".into());
    }
    let Some((pb, rank)) = pinv(&b, 0.0) else {
        set(a, 12, 1.0)?;
        return Ok(0.0);
    };
    let x0 = pb.mul(&d);
    let z = M::identity(b.n).minus(&pb.mul(&b));
    let az = x.mul(&z);
    let scale = x.norm("M").max(1e-300);
    let Some((paz, _)) = pinv(&az, 1e-13 * scale / az.norm("M").max(1e-300)) else {
        set(a, 12, 1.0)?;
        return Ok(0.0);
    };
    let step = paz.mul(&c.minus(&x.mul(&x0)));
    let sol: Vec<f64> = x0.v.iter().zip(&step.v).map(|(p, q)| p + q).collect();
    set_array(a, 9, &sol)?;
    set(a, 12, if rank < b.m { 1.0 } else { 0.0 })?;
    Ok(0.0)
}

/// Eigenvalues and right eigenvectors in LAPACK's form: conjugate pairs follow each other, the positive part first,
/// and their vectors are stored as real and imaginary part.
pub(super) fn eigen(x: &M) -> Option<(Vec<f64>, Vec<f64>, M)> {
    let n = x.n;
    if !x.finite() {
        return None;
    }
    if n == 0 {
        return Some((vec![], vec![], M::zeros(0, 0)));
    }
    let e = Mat::from_fn(n, n, |i, j| x.get(i, j)).eigen().ok()?;
    let (s, u) = (e.S().column_vector(), e.U());
    let (mut re, mut im) = (Vec::new(), Vec::new());
    let mut vectors = M::zeros(n, n);
    for k in 0..n {
        let z = s[k];
        if z.im < 0.0 || re.len() >= n {
            continue;
        }
        let column: Vec<(f64, f64)> = (0..n).map(|i| (u[(i, k)].re, u[(i, k)].im)).collect();
        let norm = column.iter().map(|c| c.0 * c.0 + c.1 * c.1).sum::<f64>().sqrt();
        // The largest component becomes real.
        let big =
            column.iter().fold((0.0, 0.0), |b: (f64, f64), c| if c.0.hypot(c.1) > b.0.hypot(b.1) { *c } else { b });
        let size = big.0.hypot(big.1);
        let (c, s) = if z.im > 0.0 && size > 0.0 { (big.0 / size, -big.1 / size) } else { (1.0, 0.0) };
        let at = re.len();
        for (i, (a, b)) in column.iter().enumerate() {
            *vectors.at(i, at) = (a * c - b * s) / norm;
            if z.im > 0.0 && at + 1 < n {
                *vectors.at(i, at + 1) = (a * s + b * c) / norm;
            }
        }
        re.push(z.re);
        im.push(z.im);
        if z.im > 0.0 {
            re.push(z.re);
            im.push(-z.im);
        }
    }
    (re.len() == n).then_some((re, im, vectors))
}

fn dgeev(a: &mut [ExtArg]) -> ExtResult {
    match eigen(&square(a, 3)?) {
        Some((re, im, v)) => {
            set_array(a, 5, &re)?;
            set_array(a, 6, &im)?;
            if string(a, 1)?.starts_with(['V', 'v']) {
                set_array(a, 9, &v.v)?;
            }
            set(a, 13, 0.0)?;
        }
        None => set(a, 13, 1.0)?,
    }
    Ok(0.0)
}

/// op(A) X ± X op(B) = C, as one linear system.
fn dtrsyl(a: &mut [ExtArg]) -> ExtResult {
    let (mut l, mut r, c) = (square(a, 5)?, square(a, 7)?, mat(a, 9)?);
    if transposed(&string(a, 0)?) {
        l = l.t();
    }
    if transposed(&string(a, 1)?) {
        r = r.t();
    }
    let sign = num(a, 2)?;
    let (m, n) = (l.n, r.n);
    if c.m != m || c.n != n || m * n > 4096 {
        return Err("the sizes of the matrices do not fit".into());
    }
    let mut big = M::zeros(m * n, m * n);
    for i in 0..m {
        for j in 0..n {
            for k in 0..m {
                *big.at(i * n + j, k * n + j) += l.get(i, k);
            }
            for k in 0..n {
                *big.at(i * n + j, i * n + k) += sign * r.get(k, j);
            }
        }
    }
    let (p, bad) = lu(&mut big);
    let mut x = M { m: m * n, n: 1, v: c.v };
    if bad == 0 {
        lu_solve(&big, &p, &mut x, false);
        set_array(a, 9, &x.v)?;
    }
    set(a, 11, 1.0)?;
    set(a, 12, if bad == 0 { 0.0 } else { 1.0 })?;
    Ok(0.0)
}

macro_rules! lapack {
    ($symbol:literal, $call:expr) => {
        External { symbol: $symbol, call: $call, derivative: ExtDerivative::Differences }
    };
}

pub(super) static LIST: &[External] = &[
    lapack!("dgesv", dgesv),
    lapack!("dgetrf", dgetrf),
    lapack!("dgetrs", dgetrs),
    lapack!("dgetri", dgetri),
    lapack!("dgtsv", dgtsv),
    lapack!("dgbsv", dgbsv),
    lapack!("dgecon", dgecon),
    lapack!("dlange", dlange),
    lapack!("dpotrf", dpotrf),
    lapack!("dtrsm", dtrsm),
    lapack!("dgeqrf", dgeqrf),
    lapack!("dgeqp3", dgeqp3),
    lapack!("dorgqr", dorgqr),
    lapack!("dormqr", |a| apply_to(a, 5, 7, 8, 12, 0)),
    lapack!("dormhr", |a| apply_to(a, 6, 8, 9, 13, 1)),
    lapack!("dgehrd", dgehrd),
    lapack!("dorghr", dorghr),
    lapack!("dgesvd", dgesvd),
    lapack!("dgesdd", dgesdd),
    lapack!("dgels", dgels),
    lapack!("dgelsy", dgelsy),
    lapack!("dgglse", dgglse),
    lapack!("dgeev", dgeev),
    lapack!("dgees", schur::dgees),
    lapack!("dgeevx", schur::dgeevx),
    lapack!("dgesvx", schur::dgesvx),
    lapack!("dggev", schur::dggev),
    lapack!("dggevx", schur::dggevx),
    lapack!("dhgeqz", schur::dhgeqz),
    lapack!("dhseqr", schur::dhseqr),
    lapack!("dtrevc", schur::dtrevc),
    lapack!("dtrsen", schur::dtrsen),
    lapack!("dtrsyl", dtrsyl),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn example(m: usize, n: usize, seed: f64) -> M {
        M { m, n, v: (0..m * n).map(|k| ((k as f64 + seed).powi(2) * 1.7).sin() * 3.0).collect() }
    }
    fn close(a: &M, b: &M) {
        assert_eq!((a.m, a.n), (b.m, b.n));
        for (x, y) in a.v.iter().zip(&b.v) {
            assert!((x - y).abs() < 1e-9, "{a:?} {b:?}");
        }
    }

    #[test]
    fn factors() {
        let a = example(5, 5, 0.3);
        let b = example(5, 2, 7.0);
        for trans in [false, true] {
            let mut f = a.clone();
            let (p, info) = lu(&mut f);
            assert_eq!(info, 0);
            let mut x = b.clone();
            lu_solve(&f, &p, &mut x, trans);
            close(&if trans { a.t() } else { a.clone() }.mul(&x), &b);
        }
        for (m, n) in [(5, 3), (3, 5), (4, 4)] {
            let a = example(m, n, 1.1);
            let mut f = a.clone();
            let (taus, _) = qr(&mut f, false);
            let mut r = f.clone();
            for i in 0..m {
                for j in 0..i.min(n) {
                    *r.at(i, j) = 0.0;
                }
            }
            apply_q(&f, &taus, 0, &mut r, false);
            close(&r, &a);
            let (u, s, vt) = svd(&a).unwrap();
            let mut d = M::zeros(m, n);
            for (i, s) in s.iter().enumerate() {
                *d.at(i, i) = *s;
            }
            close(&u.mul(&d).mul(&vt), &a);
            let (p, _) = pinv(&a, 0.0).unwrap();
            close(&a.mul(&p).mul(&a), &a);
        }
    }

    #[test]
    fn eigenvalues_and_vectors() {
        let a = M { m: 3, n: 3, v: vec![0.0, -2.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0, 3.0] };
        let (re, im, v) = eigen(&a).unwrap();
        for k in 0..3 {
            // A v = λ v, complex pairs as (real, imaginary) columns.
            let column = |j: usize| M { m: 3, n: 1, v: (0..3).map(|i| v.get(i, j)).collect() };
            if im[k] == 0.0 {
                let x = column(k);
                close(&a.mul(&x), &M { v: x.v.iter().map(|x| x * re[k]).collect(), ..x });
            } else if im[k] > 0.0 {
                assert_eq!(im[k + 1], -im[k]);
                let (x, y) = (column(k), column(k + 1));
                let want: Vec<f64> = x.v.iter().zip(&y.v).map(|(x, y)| re[k] * x - im[k] * y).collect();
                close(&a.mul(&x), &M { m: 3, n: 1, v: want });
            }
        }
        assert_eq!(im.iter().filter(|x| **x != 0.0).count(), 2);
    }

    #[test]
    fn equality_constrained() {
        // min (x-1)² + (y-1)² subject to x + y = 1.
        let array = |dims: &[usize], v: &[f64]| ExtArg::Array { dims: dims.to_vec(), data: v.to_vec() };
        let mut a: Vec<ExtArg> = (0..13).map(|_| ExtArg::Num(0.0)).collect();
        a[3] = array(&[2, 2], &[1.0, 0.0, 0.0, 1.0]);
        a[5] = array(&[1, 2], &[1.0, 1.0]);
        a[7] = array(&[2], &[1.0, 1.0]);
        a[8] = array(&[1], &[1.0]);
        a[9] = array(&[2], &[0.0, 0.0]);
        dgglse(&mut a).unwrap();
        close(&mat(&a, 9).unwrap(), &M { m: 2, n: 1, v: vec![0.5, 0.5] });
    }

    #[test]
    fn triangles() {
        let array = |dims: &[usize], v: &[f64]| ExtArg::Array { dims: dims.to_vec(), data: v.to_vec() };
        let s = |x: &str| ExtArg::Num(crate::strings::intern(x));
        let t = M { m: 2, n: 2, v: vec![2.0, 1.0, 9.0, 4.0] };
        for (side, uplo, tr) in [("L", "U", "N"), ("L", "L", "N"), ("R", "U", "T"), ("R", "L", "N")] {
            let b = example(2, 2, 0.5);
            let mut a = vec![s(side), s(uplo), s(tr), s("N"), ExtArg::Num(2.0), ExtArg::Num(2.0), ExtArg::Num(1.0)];
            a.extend([array(&[2, 2], &t.v), ExtArg::Num(2.0), array(&[2, 2], &b.v), ExtArg::Num(2.0)]);
            dtrsm(&mut a).unwrap();
            let x = mat(&a, 9).unwrap();
            let mut u = t.clone();
            *(if uplo == "U" { u.at(1, 0) } else { u.at(0, 1) }) = 0.0;
            let u = if tr == "T" { u.t() } else { u };
            close(&if side == "L" { u.mul(&x) } else { x.mul(&u) }, &b);
        }
    }
}
