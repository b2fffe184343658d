//! Restarted GMRES with right preconditioning, for systems too large to factor.

use super::Scalar;

/// What GMRES needs to know of a system: products with A and, optionally, with an approximate inverse.
pub trait LinearOperator<T: Scalar = f64> {
    /// y = A x.
    fn apply(&mut self, x: &[T], y: &mut [T]);
    /// z ≈ A⁻¹ z in place; the default does nothing (no preconditioner).
    fn precondition(&mut self, _z: &mut [T]) {}
}

/// How a GMRES solve ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GmresOutcome {
    /// Whether the residual norm came below the bound.
    pub converged: bool,
    /// Products with A.
    pub iterations: usize,
    /// Final 2-norm of the residual.
    pub residual: f64,
}

/// Workspace of GMRES(m) for n unknowns (Saad and Schultz 1986; modified Gram–Schmidt, Givens rotations).
pub struct Gmres<T: Scalar = f64> {
    n: usize,
    m: usize,
    v: Vec<T>,
    h: Vec<T>,
    cs: Vec<f64>,
    sn: Vec<T>,
    g: Vec<T>,
    z: Vec<T>,
}

impl<T: Scalar> Gmres<T> {
    /// Krylov dimension `m` before a restart.
    pub fn new(n: usize, m: usize) -> Self {
        let m = m.clamp(1, n.max(1));
        Gmres {
            n,
            m,
            v: vec![T::ZERO; n * (m + 1)],
            h: vec![T::ZERO; (m + 1) * m],
            cs: vec![0.0; m],
            sn: vec![T::ZERO; m],
            g: vec![T::ZERO; m + 1],
            z: vec![T::ZERO; n],
        }
    }

    /// Solves A x = b to ‖b − A x‖₂ <= tol, starting from the given x, with at most `max_iter` products.
    pub fn solve(
        &mut self,
        op: &mut dyn LinearOperator<T>,
        b: &[T],
        x: &mut [T],
        tol: f64,
        max_iter: usize,
    ) -> GmresOutcome {
        let (n, m) = (self.n, self.m);
        let mut iterations = 0;
        loop {
            op.apply(x, &mut self.z);
            for i in 0..n {
                self.v[i] = b[i] - self.z[i];
            }
            let beta = norm(&self.v[..n]);
            if beta <= tol || iterations >= max_iter || !beta.is_finite() {
                return GmresOutcome { converged: beta <= tol, iterations, residual: beta };
            }
            self.v[..n].iter_mut().for_each(|v| *v = v.scale(1.0 / beta));
            self.g.fill(T::ZERO);
            self.g[0] = T::from(beta);
            let mut used = 0;
            for k in 0..m {
                if iterations >= max_iter {
                    break;
                }
                iterations += 1;
                let (basis, rest) = self.v.split_at_mut((k + 1) * n);
                let w = &mut rest[..n];
                self.z.copy_from_slice(&basis[k * n..]);
                op.precondition(&mut self.z);
                op.apply(&self.z, w);
                let h = &mut self.h[k * (m + 1)..(k + 1) * (m + 1)];
                for (vi, hi) in basis.chunks_exact(n).zip(h.iter_mut()) {
                    *hi = dot(vi, w);
                    w.iter_mut().zip(vi).for_each(|(w, v)| *w -= *hi * *v);
                }
                let hk = norm(w);
                for i in 0..k {
                    let (a, c) = (h[i], h[i + 1]);
                    h[i] = a.scale(self.cs[i]) + self.sn[i] * c;
                    h[i + 1] = c.scale(self.cs[i]) - self.sn[i].conj() * a;
                }
                let a = h[k].modulus();
                let r = a.hypot(hk);
                used = k + 1;
                if r == 0.0 {
                    used = k;
                    break;
                }
                // The rotation that takes (h_k, ‖w‖) to (h_k r/|h_k|, 0).
                let phase = if a > 0.0 { h[k].scale(1.0 / a) } else { T::ONE };
                (self.cs[k], self.sn[k]) = (a / r, phase.scale(hk / r));
                h[k] = phase.scale(r);
                self.g[k + 1] = -(self.sn[k].conj() * self.g[k]);
                self.g[k] = self.g[k].scale(self.cs[k]);
                if self.g[k + 1].modulus() <= tol || hk == 0.0 {
                    break;
                }
                w.iter_mut().for_each(|v| *v = v.scale(1.0 / hk));
            }
            if used == 0 {
                return GmresOutcome { converged: false, iterations, residual: beta };
            }
            for i in (0..used).rev() {
                let mut s = self.g[i];
                for j in i + 1..used {
                    s -= self.h[j * (m + 1) + i] * self.g[j];
                }
                self.g[i] = s / self.h[i * (m + 1) + i];
            }
            self.z.fill(T::ZERO);
            for (vk, &gk) in self.v.chunks_exact(n).zip(&self.g[..used]) {
                self.z.iter_mut().zip(vk).for_each(|(z, v)| *z += gk * *v);
            }
            op.precondition(&mut self.z);
            x.iter_mut().zip(&self.z).for_each(|(x, z)| *x += *z);
        }
    }
}

/// Σ conj(a_i) b_i.
fn dot<T: Scalar>(a: &[T], b: &[T]) -> T {
    a.iter().zip(b).fold(T::ZERO, |s, (a, b)| s + a.conj() * *b)
}

fn norm<T: Scalar>(a: &[T]) -> f64 {
    a.iter().map(|a| a.modulus().powi(2)).sum::<f64>().sqrt()
}
