//! Restarted GMRES with right preconditioning, for systems too large to factor.

/// What GMRES needs to know of a system: products with A and, optionally, with an approximate inverse.
pub trait LinearOperator {
    /// y = A x.
    fn apply(&mut self, x: &[f64], y: &mut [f64]);
    /// z ≈ A⁻¹ z in place; the default does nothing (no preconditioner).
    fn precondition(&mut self, _z: &mut [f64]) {}
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
pub struct Gmres {
    n: usize,
    m: usize,
    v: Vec<f64>,
    h: Vec<f64>,
    cs: Vec<f64>,
    sn: Vec<f64>,
    g: Vec<f64>,
    z: Vec<f64>,
}

impl Gmres {
    /// Krylov dimension `m` before a restart.
    pub fn new(n: usize, m: usize) -> Self {
        let m = m.clamp(1, n.max(1));
        Gmres {
            n,
            m,
            v: vec![0.0; n * (m + 1)],
            h: vec![0.0; (m + 1) * m],
            cs: vec![0.0; m],
            sn: vec![0.0; m],
            g: vec![0.0; m + 1],
            z: vec![0.0; n],
        }
    }

    /// Solves A x = b to ‖b − A x‖₂ <= tol, starting from the given x, with at most `max_iter` products.
    pub fn solve(
        &mut self,
        op: &mut dyn LinearOperator,
        b: &[f64],
        x: &mut [f64],
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
            self.v[..n].iter_mut().for_each(|v| *v /= beta);
            self.g.fill(0.0);
            self.g[0] = beta;
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
                    *hi = dot(w, vi);
                    w.iter_mut().zip(vi).for_each(|(w, v)| *w -= *hi * v);
                }
                let hk = norm(w);
                h[k + 1] = hk;
                for i in 0..k {
                    let (a, c) = (h[i], h[i + 1]);
                    (h[i], h[i + 1]) = (self.cs[i] * a + self.sn[i] * c, -self.sn[i] * a + self.cs[i] * c);
                }
                let r = h[k].hypot(h[k + 1]);
                used = k + 1;
                if r == 0.0 {
                    used = k;
                    break;
                }
                (self.cs[k], self.sn[k]) = (h[k] / r, h[k + 1] / r);
                h[k] = r;
                self.g[k + 1] = -self.sn[k] * self.g[k];
                self.g[k] *= self.cs[k];
                if self.g[k + 1].abs() <= tol || hk == 0.0 {
                    break;
                }
                w.iter_mut().for_each(|v| *v /= hk);
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
            self.z.fill(0.0);
            for (vk, gk) in self.v.chunks_exact(n).zip(&self.g[..used]) {
                self.z.iter_mut().zip(vk).for_each(|(z, v)| *z += gk * v);
            }
            op.precondition(&mut self.z);
            x.iter_mut().zip(&self.z).for_each(|(x, z)| *x += z);
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}
