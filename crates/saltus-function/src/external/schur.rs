//! The LAPACK functions around the real Schur form A = Z T Zᵀ (Z orthogonal, T upper triangular but for 2×2 blocks with
//! complex eigenvalues) and generalized eigenvalues.
//!
//! * [`schur`]: Hessenberg form, then implicit double shifts (Golub and Van Loan, algorithm 7.5.2);
//! * [`reorder`]: adjacent blocks exchange their places by an orthogonal transformation (Bai and Demmel 1993);
//! * [`Pencil`]: A x = λ B x by the eigenvalues ν = 1/(λ − μ) of (A − μB)⁻¹ B, so that B may be singular.

use super::lapack::{M, eigen, lu, lu_solve, mat, square, svd, transposed};
use super::{ExtArg, ExtResult, array, num, set, set_array, string};

/// Reflects rows `k..k+v.len()` of the columns from `from` on: (I − β v vᵀ) A.
fn reflect_rows(a: &mut M, k: usize, from: usize, v: &[f64], beta: f64) {
    for j in from..a.n {
        let s: f64 = beta * v.iter().enumerate().map(|(i, v)| v * a.get(k + i, j)).sum::<f64>();
        v.iter().enumerate().for_each(|(i, v)| *a.at(k + i, j) -= s * v);
    }
}

/// Reflects columns `k..k+v.len()` of the rows before `to`: A (I − β v vᵀ).
fn reflect_columns(a: &mut M, k: usize, to: usize, v: &[f64], beta: f64) {
    for i in 0..to {
        let s: f64 = beta * v.iter().enumerate().map(|(j, v)| v * a.get(i, k + j)).sum::<f64>();
        v.iter().enumerate().for_each(|(j, v)| *a.at(i, k + j) -= s * v);
    }
}

/// v and β with (I − β v vᵀ) x along the first axis.
fn house(x: &[f64]) -> (Vec<f64>, f64) {
    let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let mut v = x.to_vec();
    if norm == 0.0 {
        return (v, 0.0);
    }
    v[0] += norm.copysign(x[0]);
    let square: f64 = v.iter().map(|v| v * v).sum();
    (v, 2.0 / square)
}

/// Rotates rows and columns `k`, `k+1` of T, and the columns of Z.
fn rotate(t: &mut M, z: &mut M, k: usize, cs: f64, sn: f64) {
    for j in 0..t.n {
        let (x, y) = (t.get(k, j), t.get(k + 1, j));
        (*t.at(k, j), *t.at(k + 1, j)) = (cs * x + sn * y, cs * y - sn * x);
    }
    for m in [t, z] {
        for i in 0..m.m {
            let (x, y) = (m.get(i, k), m.get(i, k + 1));
            (*m.at(i, k), *m.at(i, k + 1)) = (cs * x + sn * y, cs * y - sn * x);
        }
    }
}

/// Splits the 2×2 block at `k` if its eigenvalues are real, else makes its diagonal elements equal.
fn standardize(t: &mut M, z: &mut M, k: usize) {
    let (a, b, c, d) = (t.get(k, k), t.get(k, k + 1), t.get(k + 1, k), t.get(k + 1, k + 1));
    if c == 0.0 {
        return;
    }
    let p = 0.5 * (a - d);
    let square = p * p + b * c;
    if square >= 0.0 {
        let e = p + square.sqrt().copysign(p);
        let (cs, sn) = if e == 0.0 { (0.0, 1.0) } else { (e / c.hypot(e), c / c.hypot(e)) };
        rotate(t, z, k, cs, sn);
        *t.at(k + 1, k) = 0.0;
        return;
    }
    let (sigma, tau) = (b + c, (b + c).hypot(a - d));
    if tau > 0.0 && a != d {
        let cs = (0.5 * (1.0 + sigma.abs() / tau)).sqrt();
        let sn = -(p / (tau * cs)).copysign(p * if sigma < 0.0 { -1.0 } else { 1.0 });
        rotate(t, z, k, cs, sn);
        let mean = 0.5 * (t.get(k, k) + t.get(k + 1, k + 1));
        (*t.at(k, k), *t.at(k + 1, k + 1)) = (mean, mean);
    }
}

/// T and Z of A = Z T Zᵀ.
fn schur(a: &M) -> Option<(M, M)> {
    let n = a.n;
    if !a.finite() {
        return None;
    }
    let (mut h, mut z) = (a.clone(), M::identity(n));
    for c in 0..n.saturating_sub(2) {
        let column: Vec<f64> = (c + 1..n).map(|i| h.get(i, c)).collect();
        let (v, beta) = house(&column);
        reflect_rows(&mut h, c + 1, c, &v, beta);
        reflect_columns(&mut h, c + 1, n, &v, beta);
        reflect_columns(&mut z, c + 1, n, &v, beta);
        (c + 2..n).for_each(|i| *h.at(i, c) = 0.0);
    }
    let norm = h.norm("M");
    let (mut end, mut rounds) = (n, 0);
    while end > 1 {
        let hi = end - 1;
        let mut lo = hi;
        while lo > 0 {
            let around = h.get(lo - 1, lo - 1).abs() + h.get(lo, lo).abs();
            let around = if around == 0.0 { norm } else { around };
            if h.get(lo, lo - 1).abs() <= f64::EPSILON * around {
                *h.at(lo, lo - 1) = 0.0;
                break;
            }
            lo -= 1;
        }
        if lo + 1 >= hi {
            if lo < hi {
                standardize(&mut h, &mut z, lo);
            }
            (end, rounds) = (lo, 0);
            continue;
        }
        rounds += 1;
        if rounds > 30 * n {
            return None;
        }
        let (p, q) = (h.get(hi - 1, hi - 1), h.get(hi, hi));
        let (mut s, mut t) = (p + q, p * q - h.get(hi - 1, hi) * h.get(hi, hi - 1));
        if rounds % 10 == 0 {
            // Shifts that lead out of a cycle.
            let w = h.get(hi, hi - 1).abs() + h.get(hi - 1, hi - 2).abs();
            (s, t) = (1.5 * w, w * w);
        }
        let l = h.get(lo, lo);
        let mut x = l * l + h.get(lo, lo + 1) * h.get(lo + 1, lo) - s * l + t;
        let mut y = h.get(lo + 1, lo) * (l + h.get(lo + 1, lo + 1) - s);
        let mut w = h.get(lo + 1, lo) * h.get(lo + 2, lo + 1);
        for k in lo..hi {
            let size = if k + 1 < hi { 3 } else { 2 };
            let (v, beta) = house(&[x, y, w][..size]);
            reflect_rows(&mut h, k, k.saturating_sub(1).max(lo), &v, beta);
            reflect_columns(&mut h, k, (k + 4).min(end), &v, beta);
            reflect_columns(&mut z, k, n, &v, beta);
            if k > lo {
                (k + 1..k + size).for_each(|i| *h.at(i, k - 1) = 0.0);
            }
            if k + 1 < hi {
                (x, y) = (h.get(k + 1, k), h.get(k + 2, k));
                w = if k + 3 <= hi { h.get(k + 3, k) } else { 0.0 };
            }
        }
    }
    Some((h, z))
}

/// The eigenvalues of a quasi-triangular matrix, in the order of its diagonal.
fn diagonal(t: &M) -> (Vec<f64>, Vec<f64>) {
    let (mut re, mut im) = (Vec::new(), Vec::new());
    for (k, size) in blocks(t) {
        if size == 1 {
            re.push(t.get(k, k));
            im.push(0.0);
            continue;
        }
        let (a, d) = (t.get(k, k), t.get(k + 1, k + 1));
        let square = 0.25 * (a - d) * (a - d) + t.get(k, k + 1) * t.get(k + 1, k);
        re.extend([0.5 * (a + d); 2]);
        im.extend([(-square).max(0.0).sqrt(), -(-square).max(0.0).sqrt()]);
    }
    (re, im)
}

/// Where the diagonal blocks begin, and their sizes.
fn blocks(t: &M) -> Vec<(usize, usize)> {
    let (mut all, mut k) = (Vec::new(), 0);
    while k < t.n {
        let size = if k + 1 < t.n && t.get(k + 1, k) != 0.0 { 2 } else { 1 };
        all.push((k, size));
        k += size;
    }
    all
}

/// For the diagonal blocks A (size p, at k) and B (size q, behind it) of T, with C beside A: the factors of
/// X ↦ A X − X B, and C as a column.
fn sylvester(t: &M, k: usize, p: usize, q: usize) -> Option<(M, Vec<usize>, M)> {
    let mut big = M::zeros(p * q, p * q);
    let mut c = M::zeros(p * q, 1);
    for i in 0..p {
        for j in 0..q {
            (0..p).for_each(|r| *big.at(i * q + j, r * q + j) += t.get(k + i, k + r));
            (0..q).for_each(|r| *big.at(i * q + j, i * q + r) -= t.get(k + p + r, k + p + j));
            *c.at(i * q + j, 0) = t.get(k + i, k + p + j);
        }
    }
    let (pivots, bad) = lu(&mut big);
    (bad == 0).then_some((big, pivots, c))
}

/// Exchanges the blocks of sizes p and q at k and k + p.
fn exchange(t: &mut M, z: &mut M, k: usize, p: usize, q: usize) -> Option<()> {
    // A X − X B = C; then [−X; I] spans what belongs to B.
    let (big, pivots, mut x) = sylvester(t, k, p, q)?;
    lu_solve(&big, &pivots, &mut x, false);
    let mut basis = M::zeros(p + q, q);
    for j in 0..q {
        (0..p).for_each(|i| *basis.at(i, j) = -x.get(i * q + j, 0));
        *basis.at(p + j, j) = 1.0;
    }
    let n = t.n;
    for j in 0..q {
        let column: Vec<f64> = (j..p + q).map(|i| basis.get(i, j)).collect();
        let (v, beta) = house(&column);
        reflect_rows(&mut basis, j, j, &v, beta);
        reflect_rows(t, k + j, 0, &v, beta);
        reflect_columns(t, k + j, n, &v, beta);
        reflect_columns(z, k + j, n, &v, beta);
    }
    for i in k + q..k + p + q {
        (k..k + q).for_each(|j| *t.at(i, j) = 0.0);
    }
    for (at, size) in [(k, q), (k + q, p)] {
        if size == 2 {
            standardize(t, z, at);
        }
    }
    Some(())
}

/// Moves the selected eigenvalues to the upper left; returns how many there are.
fn reorder(t: &mut M, z: &mut M, select: &[f64]) -> Option<usize> {
    let chosen = |k: usize, size: usize| (k..k + size).any(|i| select.get(i).is_some_and(|s| *s != 0.0));
    let mut wanted: Vec<(usize, bool)> = blocks(t).into_iter().map(|(k, size)| (size, chosen(k, size))).collect();
    let mut done = 0;
    for i in 0..wanted.len() {
        if !wanted[i].1 {
            continue;
        }
        for j in (done..i).rev() {
            let k = wanted[..j].iter().map(|b| b.0).sum();
            exchange(t, z, k, wanted[j].0, wanted[j + 1].0)?;
            wanted.swap(j, j + 1);
        }
        done += 1;
    }
    Some(wanted[..done].iter().map(|b| b.0).sum())
}

/// How well the first m eigenvalues are separated from the others: the reciprocal condition number of their mean
/// (1 over the norm of the spectral projector, in the Frobenius norm), and of their invariant subspace.
fn separation(t: &M, m: usize) -> Option<(f64, f64)> {
    if m == 0 || m == t.n {
        return Some((1.0, t.norm("1")));
    }
    let (big, pivots, mut x) = sylvester(t, 0, m, t.n - m)?;
    lu_solve(&big, &pivots, &mut x, false);
    let square: f64 = x.v.iter().map(|x| x * x).sum();
    let mut inverse = M::identity(big.n);
    lu_solve(&big, &pivots, &mut inverse, false);
    Some((1.0 / (1.0 + square).sqrt(), 1.0 / inverse.norm("1")))
}

pub(super) fn dgees(a: &mut [ExtArg]) -> ExtResult {
    if string(a, 1)?.starts_with(['S', 's']) {
        return Err("not supported yet: dgees with sorted eigenvalues".into());
    }
    let Some((t, z)) = schur(&square(a, 4)?) else {
        set(a, 14, 1.0)?;
        return Ok(0.0);
    };
    let (re, im) = diagonal(&t);
    set_array(a, 4, &t.v)?;
    set(a, 6, 0.0)?;
    set_array(a, 7, &re)?;
    set_array(a, 8, &im)?;
    set_array(a, 9, &z.v)?;
    set(a, 14, 0.0)?;
    Ok(0.0)
}

pub(super) fn dhseqr(a: &mut [ExtArg]) -> ExtResult {
    let Some((t, z)) = schur(&square(a, 5)?) else {
        set(a, 13, 1.0)?;
        return Ok(0.0);
    };
    let (re, im) = diagonal(&t);
    set_array(a, 7, &re)?;
    set_array(a, 8, &im)?;
    if string(a, 0)?.starts_with(['S', 's']) {
        set_array(a, 5, &t.v)?;
        match string(a, 1)?.chars().next() {
            Some('V' | 'v') => {
                let z = square(a, 9)?.mul(&z);
                set_array(a, 9, &z.v)?;
            }
            Some('I' | 'i') => set_array(a, 9, &z.v)?,
            _ => {}
        }
    }
    set(a, 13, 0.0)?;
    Ok(0.0)
}

pub(super) fn dtrsen(a: &mut [ExtArg]) -> ExtResult {
    let (mut t, mut z) = (square(a, 4)?, square(a, 6)?);
    let select = array(a, 2)?.1.to_vec();
    let Some(m) = reorder(&mut t, &mut z, &select) else {
        set(a, 17, 1.0)?;
        return Ok(0.0);
    };
    let (re, im) = diagonal(&t);
    set_array(a, 4, &t.v)?;
    if string(a, 1)?.starts_with(['V', 'v']) {
        set_array(a, 6, &z.v)?;
    }
    set_array(a, 8, &re)?;
    set_array(a, 9, &im)?;
    set(a, 10, m as f64)?;
    let job = string(a, 0)?.to_uppercase();
    if !job.starts_with('N') {
        if m * (t.n - m) > 4096 {
            return Err("not supported yet: condition numbers of so many eigenvalues".into());
        }
        let (s, sep) = separation(&t, m).unwrap_or((0.0, 0.0));
        if job.starts_with(['E', 'B']) {
            set(a, 11, s)?;
        }
        if job.starts_with(['V', 'B']) {
            set(a, 12, sep)?;
        }
    }
    set(a, 17, 0.0)?;
    Ok(0.0)
}

/// Columns of `v` (complex pairs as real and imaginary part) in the order in which `want` has the eigenvalues `have`.
fn matched(have: (&[f64], &[f64]), v: &M, want: (&[f64], &[f64])) -> M {
    let n = v.n;
    let mut used = vec![false; n];
    let mut out = M::zeros(v.m, n);
    let mut k = 0;
    while k < n {
        let pair = want.1[k] != 0.0 && k + 1 < n;
        let distance = |j: usize| (have.0[j] - want.0[k]).hypot(have.1[j].abs() - want.1[k].abs());
        let free = (0..n).filter(|&j| !used[j] && (!pair || have.1[j] > 0.0) && have.1[j] >= 0.0);
        let j = free.min_by(|&i, &j| distance(i).total_cmp(&distance(j))).unwrap_or(k);
        for c in 0..=usize::from(pair) {
            used[(j + c).min(n - 1)] = true;
            (0..v.m).for_each(|i| *out.at(i, k + c) = v.get(i, (j + c).min(n - 1)));
        }
        k += 1 + usize::from(pair);
    }
    out
}

/// The second column of each pair changes its sign.
fn conjugate(v: &mut M, im: &[f64]) {
    for j in (0..v.n).filter(|&j| im[j] < 0.0) {
        (0..v.m).for_each(|i| *v.at(i, j) = -v.get(i, j));
    }
}

/// Eigenvectors of a matrix whose eigenvalues are to come in a given order: right ones, or left ones.
fn vectors(x: &M, left: bool, want: (&[f64], &[f64])) -> Option<M> {
    let (re, im, v) = eigen(&if left { x.t() } else { x.clone() })?;
    let mut v = matched((&re, &im), &v, want);
    if left {
        conjugate(&mut v, want.1);
    }
    Some(v)
}

/// A vector of complex numbers.
struct Complexes {
    re: Vec<f64>,
    im: Vec<f64>,
}

impl Complexes {
    /// The k-th eigenvector out of columns that hold pairs as real and imaginary part; of a pair the first.
    fn column(v: &M, im: &[f64], k: usize) -> Complexes {
        let k = if im[k] < 0.0 { k.saturating_sub(1) } else { k };
        let part = |j: usize| (0..v.m).map(|i| v.get(i, j)).collect::<Vec<_>>();
        Complexes { re: part(k), im: if im[k] == 0.0 { vec![0.0; v.m] } else { part(k + 1) } }
    }

    /// uᴴ v as a vector of one number.
    fn dot(u: &Complexes, v: &Complexes) -> Complexes {
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        let re = dot(&u.re, &v.re) + dot(&u.im, &v.im);
        Complexes { re: vec![re], im: vec![dot(&u.re, &v.im) - dot(&u.im, &v.re)] }
    }

    fn norm(&self) -> f64 {
        self.re.iter().chain(&self.im).map(|x| x * x).sum::<f64>().sqrt()
    }

    /// A v.
    fn times(a: &M, v: &Complexes) -> Complexes {
        let times = |x: &[f64]| a.mul(&M { m: x.len(), n: 1, v: x.to_vec() }).v;
        Complexes { re: times(&v.re), im: times(&v.im) }
    }

    /// An orthonormal basis of what is orthogonal to this vector, with (re, im) as the coordinates of complex vectors.
    fn complement(&self) -> M {
        let n = self.re.len();
        let mut span = M::zeros(2 * n, 2);
        for i in 0..n {
            (*span.at(i, 0), *span.at(n + i, 0)) = (self.re[i], self.im[i]);
            (*span.at(i, 1), *span.at(n + i, 1)) = (-self.im[i], self.re[i]);
        }
        let mut q = M::identity(2 * n);
        for j in 0..2 {
            let column: Vec<f64> = (j..2 * n).map(|i| span.get(i, j)).collect();
            let (v, beta) = house(&column);
            reflect_rows(&mut span, j, j, &v, beta);
            reflect_columns(&mut q, j, 2 * n, &v, beta);
        }
        let mut out = M::zeros(2 * n, 2 * n - 2);
        (0..2 * n).for_each(|i| (2..2 * n).for_each(|j| *out.at(i, j - 2) = q.get(i, j)));
        out
    }
}

/// A + (a + ib) I on (re, im).
fn embedded(x: &M, (a, b): (f64, f64)) -> M {
    let n = x.n;
    let mut out = M::zeros(2 * n, 2 * n);
    for i in 0..n {
        for j in 0..n {
            *out.at(i, j) = x.get(i, j);
            *out.at(n + i, n + j) = x.get(i, j);
        }
        *out.at(i, i) += a;
        *out.at(n + i, n + i) += a;
        *out.at(i, n + i) -= b;
        *out.at(n + i, i) += b;
    }
    out
}

fn smallest_singular_value(x: &M) -> f64 {
    svd(x).and_then(|(_, s, _)| s.last().copied()).unwrap_or(0.0)
}

/// How far λ is from the rest of the spectrum, which its eigenvector v is as sensitive to as 1/sep: the smallest
/// singular value of A − λ on what is orthogonal to v.
fn vector_separation(x: &M, (re, im): (f64, f64), v: &Complexes) -> f64 {
    if x.n == 1 {
        return re.abs();
    }
    let z = v.complement();
    smallest_singular_value(&z.t().mul(&embedded(x, (-re, -im))).mul(&z))
}

/// The conditions of an eigenvalue of A x = λ B x with its left and right vectors: chordal, |(uᴴAv, uᴴBv)| / (|u| |v|);
/// and of the vectors, the smallest singular value of (r, l) ↦ (a r − l A₂₂, b r − l B₂₂), where A₂₂ and B₂₂ are what is
/// left of the matrices beside (a, b) = (qᴴAv, qᴴBv).
fn pencil_conditions((a, b): (&M, &M), u: &Complexes, v: &Complexes) -> (f64, f64) {
    let (av, bv) = (Complexes::times(a, v), Complexes::times(b, v));
    let length = v.norm();
    let of = |u: &Complexes, w: &Complexes| Complexes::dot(u, w);
    let value = of(u, &av).norm().hypot(of(u, &bv).norm()) / (u.norm() * length);
    let q = if av.norm() >= bv.norm() { &av } else { &bv };
    let scale = 1.0 / (q.norm() * length);
    let corner = [of(q, &av), of(q, &bv)].map(|c| (c.re[0] * scale, c.im[0] * scale));
    if a.n == 1 {
        return (value, corner.iter().map(|c| c.0.hypot(c.1)).fold(0.0, f64::hypot));
    }
    let (q, z) = (q.complement(), v.complement());
    let m = z.n;
    let turn = z.t().mul(&embedded(&M::zeros(a.n, a.n), (0.0, 1.0))).mul(&z);
    let mut map = M::zeros(2 * m, 2 * m);
    for (k, (x, (re, im))) in [a, b].into_iter().zip(corner).enumerate() {
        let rest = q.t().mul(&embedded(x, (0.0, 0.0))).mul(&z);
        for i in 0..m {
            for j in 0..m {
                *map.at(k * m + i, j) = -im * turn.get(i, j) + if i == j { re } else { 0.0 };
                *map.at(k * m + i, m + j) = -rest.get(j, i);
            }
        }
    }
    (value, smallest_singular_value(&map))
}

pub(super) fn dgeevx(a: &mut [ExtArg]) -> ExtResult {
    let x = square(a, 5)?;
    let n = x.n;
    let found = schur(&x).and_then(|(t, _)| {
        let (re, im, right) = eigen(&x)?;
        let left = vectors(&x, true, (&re, &im))?;
        Some((t, re, im, left, right))
    });
    let Some((t, re, im, left, right)) = found else {
        set(a, 22, 1.0)?;
        return Ok(0.0);
    };
    let (mut values, mut spaces) = (Vec::new(), Vec::new());
    for k in 0..n {
        let (u, v) = (Complexes::column(&left, &im, k), Complexes::column(&right, &im, k));
        values.push(Complexes::dot(&u, &v).norm() / (u.norm() * v.norm()));
        spaces.push(vector_separation(&x, (re[k], im[k].abs()), &v));
    }
    set_array(a, 5, &t.v)?;
    set_array(a, 7, &re)?;
    set_array(a, 8, &im)?;
    set_array(a, 9, &left.v)?;
    set_array(a, 11, &right.v)?;
    set(a, 13, 1.0)?;
    set(a, 14, n as f64)?;
    set_array(a, 15, &vec![1.0; n])?;
    set(a, 16, x.norm("1"))?;
    set_array(a, 17, &values)?;
    set_array(a, 18, &spaces)?;
    set(a, 22, 0.0)?;
    Ok(0.0)
}

pub(super) fn dtrevc(a: &mut [ExtArg]) -> ExtResult {
    let t = square(a, 4)?;
    let (re, im) = diagonal(&t);
    let side = string(a, 0)?.to_uppercase();
    let back = string(a, 1)?.to_uppercase().starts_with('B');
    for (left, at) in [(true, 6), (false, 8)] {
        if !(side.starts_with('B') || side.starts_with(if left { 'L' } else { 'R' })) {
            continue;
        }
        let Some(mut v) = vectors(&t, left, (&re, &im)) else {
            set(a, 13, 1.0)?;
            return Ok(0.0);
        };
        if back {
            v = square(a, at)?.mul(&v);
        }
        scale_largest(&mut v, &im);
        set_array(a, at, &v.v)?;
    }
    set(a, 13, 0.0)?;
    Ok(0.0)
}

/// The largest component of each vector gets the size |re| + |im| = 1.
fn scale_largest(v: &mut M, im: &[f64]) {
    let mut k = 0;
    while k < v.n {
        let columns = if im[k] != 0.0 && k + 1 < v.n { 2 } else { 1 };
        let size = |i: usize| (k..k + columns).map(|j| v.get(i, j).abs()).sum::<f64>();
        let largest = (0..v.m).map(size).fold(0.0, f64::max);
        if largest > 0.0 {
            for j in k..k + columns {
                (0..v.m).for_each(|i| *v.at(i, j) /= largest);
            }
        }
        k += columns;
    }
}

/// Eigenvalues (α + iα')/β of A x = λ B x.
struct Pencil {
    re: Vec<f64>,
    im: Vec<f64>,
    beta: Vec<f64>,
    left: M,
    right: M,
}

/// (A − μB)⁻¹ B for the first of some shifts that leaves it well conditioned, and the shift.
fn inverted(a: &M, b: &M) -> Option<(M, f64)> {
    let ratio = a.norm("1") / b.norm("1");
    let ratio = if ratio.is_finite() && ratio > 0.0 { ratio } else { 1.0 };
    let mut best: Option<(f64, M, f64)> = None;
    for factor in [0.0, 0.7312, -1.1937, 2.3914, -0.3127] {
        let shift = factor * ratio;
        let mut f = M { v: a.v.iter().zip(&b.v).map(|(a, b)| a - shift * b).collect(), ..a.clone() };
        let norm = f.norm("1");
        let (pivots, bad) = lu(&mut f);
        if bad != 0 {
            continue;
        }
        let mut inverse = M::identity(a.n);
        lu_solve(&f, &pivots, &mut inverse, false);
        let condition = norm * inverse.norm("1");
        if condition.is_finite() && best.as_ref().is_none_or(|b| condition < 0.1 * b.0) {
            best = Some((condition, inverse.mul(b), shift));
        }
    }
    best.filter(|b| b.0 < 1.0 / f64::EPSILON).map(|(_, k, shift)| (k, shift))
}

fn pencil(a: &M, b: &M) -> Option<Pencil> {
    let n = a.n;
    if n == 0 {
        return Some(Pencil { re: vec![], im: vec![], beta: vec![], left: M::zeros(0, 0), right: M::zeros(0, 0) });
    }
    let (k, shift) = inverted(a, b)?;
    let (re, im, mut right) = eigen(&k)?;
    // Aᵀ − μBᵀ is inverted on the other side: its eigenvalues are the same, its vectors not.
    let mut f = M { v: a.v.iter().zip(&b.v).map(|(a, b)| a - shift * b).collect(), ..a.clone() }.t();
    let (pivots, _) = lu(&mut f);
    let mut transposed = b.t();
    lu_solve(&f, &pivots, &mut transposed, false);
    let mut left = vectors(&transposed, false, (&re, &im))?;
    let zero = 1e2 * f64::EPSILON * n as f64 * k.norm("1");
    let mut p = Pencil { re: vec![], im: vec![], beta: vec![], left: M::zeros(0, 0), right: M::zeros(0, 0) };
    for (re, im) in re.iter().zip(&im) {
        let square = re * re + im * im;
        let (x, y, beta) = if square.sqrt() <= zero {
            (1.0, 0.0, 0.0)
        } else if *im == 0.0 {
            let sign = re.signum();
            (sign * (1.0 + shift * re), 0.0, re.abs())
        } else {
            // The part with the positive imaginary part of λ comes first.
            (shift + re / square, im / square, 1.0)
        };
        p.re.push(x);
        p.im.push(y);
        p.beta.push(beta);
    }
    // λ has the sign of the imaginary part of ν turned round; a left vector is the conjugate of one of the transposed.
    conjugate(&mut right, &im);
    scale_largest(&mut right, &im);
    scale_largest(&mut left, &im);
    (p.left, p.right) = (left, right);
    Some(p)
}

/// The upper left part of size n.
fn leading(x: &M, n: usize) -> M {
    let n = n.min(x.n);
    M { m: n, n, v: (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| x.get(i, j)).collect() }
}

/// Generalized eigenvalues: the places of n, A, B, α, the vectors if any, their condition numbers if any, and info.
fn generalized(
    a: &mut [ExtArg],
    n: usize,
    m: (usize, usize),
    alpha: usize,
    v: Option<(usize, usize)>,
    conditions: Option<usize>,
    info: usize,
) -> ExtResult {
    let (x, y) = (square(a, m.0)?, square(a, m.1)?);
    let size = x.n;
    let n = (num(a, n)?.max(0.0) as usize).min(size);
    let (x, y) = (leading(&x, n), leading(&y, n));
    let Some(p) = pencil(&x, &y) else {
        set(a, info, 1.0)?;
        return Ok(0.0);
    };
    if let Some(at) = conditions {
        let of = |k| (Complexes::column(&p.left, &p.im, k), Complexes::column(&p.right, &p.im, k));
        let found = (0..n).map(of).map(|(u, v)| pencil_conditions((&x, &y), &u, &v));
        let (mut values, mut spaces): (Vec<f64>, Vec<f64>) = found.unzip();
        values.resize(size, 0.0);
        spaces.resize(size, 0.0);
        set_array(a, at, &values)?;
        set_array(a, at + 1, &spaces)?;
    }
    for (k, mut values) in [p.re, p.im, p.beta].into_iter().enumerate() {
        values.resize(size, 0.0);
        set_array(a, alpha + k, &values)?;
    }
    if let Some((left, right)) = v {
        for (at, v) in [(left, p.left), (right, p.right)] {
            let mut whole = M::zeros(size, size);
            (0..n).for_each(|i| (0..n).for_each(|j| *whole.at(i, j) = v.get(i, j)));
            set_array(a, at, &whole.v)?;
        }
    }
    set(a, info, 0.0)?;
    Ok(0.0)
}

pub(super) fn dggev(a: &mut [ExtArg]) -> ExtResult {
    generalized(a, 2, (3, 5), 7, Some((10, 12)), None, 16)
}

pub(super) fn dggevx(a: &mut [ExtArg]) -> ExtResult {
    generalized(a, 4, (5, 7), 9, Some((12, 14)), Some(22), 28)
}

pub(super) fn dhgeqz(a: &mut [ExtArg]) -> ExtResult {
    generalized(a, 3, (6, 8), 10, None, None, 19)
}

pub(super) fn dgesvx(a: &mut [ExtArg]) -> ExtResult {
    let (x, b) = (square(a, 4)?, mat(a, 12)?);
    if b.m != x.n {
        return Err(format!("the right-hand side has {} rows instead of {}", b.m, x.n));
    }
    let mut f = x.clone();
    let (pivots, bad) = lu(&mut f);
    let mut rcond = if x.n == 0 { 1.0 } else { 0.0 };
    if bad == 0 && x.n > 0 {
        let mut inverse = M::identity(x.n);
        lu_solve(&f, &pivots, &mut inverse, false);
        let kind = if transposed(&string(a, 1)?) { "I" } else { "1" };
        rcond = 1.0 / (x.norm(kind) * inverse.norm(kind));
        let mut solution = b;
        lu_solve(&f, &pivots, &mut solution, transposed(&string(a, 1)?));
        set_array(a, 14, &solution.v)?;
    }
    set(a, 16, rcond)?;
    let info = if bad == 0 && rcond < 0.5 * f64::EPSILON && x.n > 0 { x.n + 1 } else { bad };
    set(a, 21, info as f64)?;
    Ok(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(n: usize, seed: f64) -> M {
        M { m: n, n, v: (0..n * n).map(|k| ((k as f64 + seed).powi(2) * 1.7).sin() * 3.0).collect() }
    }
    fn far(a: &M, b: &M) -> f64 {
        a.v.iter().zip(&b.v).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
    }
    fn is_schur(a: &M, t: &M, z: &M) {
        assert!(far(&z.mul(&z.t()), &M::identity(a.n)) < 1e-12);
        assert!(far(&z.mul(t).mul(&z.t()), a) < 1e-11, "{a:?} {t:?}");
        for i in 2..a.n {
            (0..i - 1).for_each(|j| assert_eq!(t.get(i, j), 0.0));
        }
        for w in blocks(t).windows(2) {
            assert_eq!(t.get(w[1].0, w[1].0 - 1), 0.0);
        }
    }

    #[test]
    fn the_schur_form_is_similar_and_quasi_triangular() {
        for n in 0..9 {
            for seed in [0.3, 1.1, 4.2, 9.9] {
                let a = example(n, seed);
                let (t, z) = schur(&a).unwrap();
                is_schur(&a, &t, &z);
                let trace: f64 = (0..n).map(|i| a.get(i, i)).sum();
                let (re, im) = diagonal(&t);
                assert!((re.iter().sum::<f64>() - trace).abs() < 1e-11);
                assert!(im.iter().sum::<f64>().abs() < 1e-11);
            }
        }
        // A permutation: all eigenvalues on the unit circle, shifts that would cycle.
        let a = M { m: 4, n: 4, v: vec![0., 0., 0., 1., 1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0.] };
        let (t, z) = schur(&a).unwrap();
        is_schur(&a, &t, &z);
    }

    #[test]
    fn selected_eigenvalues_come_first() {
        for seed in [0.3, 1.1, 4.2] {
            let a = example(7, seed);
            let (mut t, mut z) = schur(&a).unwrap();
            let (re, _) = diagonal(&t);
            let select: Vec<f64> = re.iter().map(|x| f64::from(u8::from(*x < 0.0))).collect();
            let m = reorder(&mut t, &mut z, &select).unwrap();
            is_schur(&a, &t, &z);
            let (now, _) = diagonal(&t);
            assert_eq!(m, re.iter().filter(|x| **x < 0.0).count());
            assert!(now[..m].iter().all(|x| *x < 0.0) && now[m..].iter().all(|x| *x >= 0.0), "{now:?}");
        }
    }

    #[test]
    fn condition_of_selected_eigenvalues() {
        // The projector onto the first eigenvector of [1 c; 0 2] is [1 -c; 0 0].
        let t = M { m: 2, n: 2, v: vec![1.0, 3.0, 0.0, 2.0] };
        let (s, sep) = separation(&t, 1).unwrap();
        assert!((s - 1.0 / 10f64.sqrt()).abs() < 1e-14 && (sep - 1.0).abs() < 1e-14);
    }

    /// A normal matrix: a turned block diagonal of 3, −1 ± 2i, 0.5.
    fn normal() -> M {
        let mut d = M::zeros(4, 4);
        for (i, j, x) in [(0, 0, 3.0), (1, 1, -1.0), (2, 2, -1.0), (1, 2, 2.0), (2, 1, -2.0), (3, 3, 0.5)] {
            *d.at(i, j) = x;
        }
        let (_, q) = schur(&example(4, 3.1)).unwrap();
        q.mul(&d).mul(&q.t())
    }

    #[test]
    fn eigenvectors_are_as_sensitive_as_their_eigenvalues_are_close() {
        // Of a normal matrix the distance to the nearest other eigenvalue, the other of a pair included.
        let a = normal();
        let (re, im, v) = eigen(&a).unwrap();
        let left = vectors(&a, true, (&re, &im)).unwrap();
        for k in 0..4 {
            let others = (0..4).filter(|&j| j != k).map(|j| (re[j] - re[k]).hypot(im[j] - im[k]));
            let nearest = others.fold(f64::INFINITY, f64::min);
            let (u, v) = (Complexes::column(&left, &im, k), Complexes::column(&v, &im, k));
            assert!((vector_separation(&a, (re[k], im[k].abs()), &v) - nearest).abs() < 1e-12);
            assert!((Complexes::dot(&u, &v).norm() - u.norm() * v.norm()).abs() < 1e-12);
        }
        // Not normal: the rest of [1 3; 0 2] beside 1 is 2.
        let t = M { m: 2, n: 2, v: vec![1.0, 3.0, 0.0, 2.0] };
        let v = Complexes { re: vec![1.0, 0.0], im: vec![0.0, 0.0] };
        assert!((vector_separation(&t, (1.0, 0.0), &v) - 1.0).abs() < 1e-14);
    }

    #[test]
    fn conditions_of_a_pencil() {
        // diag(α), diag(β): (r, l) ↦ (α r − α' l, β r − β' l) has the smallest singular value of that 2×2 matrix.
        let of = |d: [f64; 2]| M { m: 2, n: 2, v: vec![d[0], 0.0, 0.0, d[1]] };
        let (a, b) = (of([3.0, 1.0]), of([1.0, 2.0]));
        let e = Complexes { re: vec![1.0, 0.0], im: vec![0.0, 0.0] };
        let (value, space) = pencil_conditions((&a, &b), &e, &e);
        assert!((value - 10f64.sqrt()).abs() < 1e-14);
        let two = M { m: 2, n: 2, v: vec![3.0, -1.0, 1.0, -2.0] };
        assert!((space - smallest_singular_value(&two)).abs() < 1e-13, "{space}");
        // A complex pair of a normal matrix beside the identity: its worst neighbour decides.
        let (a, b) = (normal(), M::identity(4));
        let p = pencil(&a, &b).unwrap();
        for k in 0..4 {
            let (u, v) = (Complexes::column(&p.left, &p.im, k), Complexes::column(&p.right, &p.im, k));
            let (_, space) = pencil_conditions((&a, &b), &u, &v);
            let ratio = |j: usize| (p.re[j] / p.beta[j], p.im[j] / p.beta[j]);
            let (re, im) = ratio(k);
            let nearest = (0..4).filter(|&j| j != k).map(|j| {
                let (x, y) = ratio(j);
                // [λ −μ; 1 −1] on complex numbers.
                let mut m = M::zeros(4, 4);
                for (r, c, x, y) in [(0, 0, re, im), (0, 2, -x, -y), (2, 0, 1.0, 0.0), (2, 2, -1.0, 0.0)] {
                    (*m.at(r, c), *m.at(r + 1, c + 1)) = (x, x);
                    (*m.at(r, c + 1), *m.at(r + 1, c)) = (-y, y);
                }
                smallest_singular_value(&m)
            });
            let nearest = nearest.fold(f64::INFINITY, f64::min);
            assert!((space - nearest).abs() < 1e-11, "{k}: {space} {nearest}");
        }
    }

    #[test]
    fn generalized_eigenvalues_and_vectors() {
        let mut singular = example(4, 2.0);
        (0..4).for_each(|j| *singular.at(3, j) = 0.0);
        for b in [M::identity(4), example(4, 5.0), singular] {
            let a = example(4, 0.7);
            let p = pencil(&a, &b).unwrap();
            let column = |m: &M, j: usize| M { m: 4, n: 1, v: (0..4).map(|i| m.get(i, j)).collect() };
            for k in 0..4 {
                if p.im[k] < 0.0 {
                    continue;
                }
                // β A v = α B v, and uᴴ from the left.
                for (v, a, b, sign) in [(&p.right, &a, &b, 1.0), (&p.left, &a.t(), &b.t(), -1.0)] {
                    let (x, y) = (column(v, k), if p.im[k] == 0.0 { M::zeros(4, 1) } else { column(v, k + 1) });
                    let (ax, ay, bx, by) = (a.mul(&x), a.mul(&y), b.mul(&x), b.mul(&y));
                    for i in 0..4 {
                        let im = sign * p.im[k];
                        let re = p.beta[k] * ax.v[i] - p.re[k] * bx.v[i] + im * by.v[i];
                        let ri = p.beta[k] * ay.v[i] - p.re[k] * by.v[i] - im * bx.v[i];
                        assert!(re.hypot(ri) < 1e-9, "{k} {re} {ri}");
                    }
                }
            }
        }
        let zero = M { m: 2, n: 2, v: vec![0.0; 4] };
        assert!(pencil(&zero, &zero).is_none());
    }
}
