//! Dense LU with partial pivoting for small systems.

use super::{Scalar, Singular};

/// P A = L U of a column-major matrix, in place, with all workspace owned.
pub struct DenseLu<T: Scalar = f64> {
    n: usize,
    a: Vec<T>,
    pivot: Vec<usize>,
}

impl<T: Scalar> DenseLu<T> {
    /// Workspace for n×n matrices.
    pub fn new(n: usize) -> Self {
        DenseLu { n, a: vec![T::ZERO; n * n], pivot: vec![0; n] }
    }

    /// The column-major matrix to fill before [`Self::factor`] overwrites it.
    pub fn matrix_mut(&mut self) -> &mut [T] {
        &mut self.a
    }

    /// Factors the matrix now stored.
    pub fn factor(&mut self) -> Result<(), Singular> {
        let (n, a) = (self.n, &mut self.a);
        for k in 0..n {
            let (left, right) = a.split_at_mut((k + 1) * n);
            let col = &mut left[k * n..];
            let (mut p, mut best) = (k, 0.0);
            for (i, v) in col.iter().enumerate().skip(k) {
                if v.mag() > best {
                    (p, best) = (i, v.mag());
                }
            }
            if !(best > 0.0 && best.is_finite()) {
                return Err(Singular { column: k, structural: false });
            }
            self.pivot[k] = p;
            col.swap(k, p);
            let inv = T::ONE / col[k];
            for v in &mut col[k + 1..] {
                *v = *v * inv;
            }
            let l = &col[k + 1..n];
            for cj in right.chunks_exact_mut(n) {
                cj.swap(k, p);
                let u = cj[k];
                if u != T::ZERO {
                    for (c, &lk) in cj[k + 1..].iter_mut().zip(l) {
                        *c -= lk * u;
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether the determinant of the matrix factored last is negative.
    pub fn determinant_is_negative(&self) -> bool {
        let odd = |k: usize| (self.pivot[k] != k) ^ self.a[k * self.n + k].is_negative();
        (0..self.n).fold(false, |sign, k| sign ^ odd(k))
    }

    /// Overwrites `b` by `A⁻¹ b`.
    pub fn solve(&self, b: &mut [T]) {
        let (n, a) = (self.n, &self.a);
        // Columns right of k were swapped as they were eliminated, those left were not: interleave as LINPACK does.
        for k in 0..n {
            b.swap(k, self.pivot[k]);
            let u = b[k];
            if u != T::ZERO {
                for (c, &l) in b[k + 1..].iter_mut().zip(&a[k * n + k + 1..(k + 1) * n]) {
                    *c -= l * u;
                }
            }
        }
        for k in (0..n).rev() {
            b[k] = b[k] / a[k * n + k];
            let u = b[k];
            for (c, &v) in b[..k].iter_mut().zip(&a[k * n..k * n + k]) {
                *c -= v * u;
            }
        }
    }
}
