//! Polynomials of the last step: what dense output is made of.

/// One polynomial per component over a step [t0, t1], in powers of s = (t − t0)/(t1 − t0).
/// Coefficient j of component i is `c[j * n + i]`.
#[derive(Debug, Clone, Default)]
pub struct StepPolynomial {
    n: usize,
    degree: usize,
    t0: f64,
    t1: f64,
    c: Vec<f64>,
}

impl StepPolynomial {
    /// Room for n components and degrees up to `max_degree`.
    pub fn new(n: usize, max_degree: usize) -> Self {
        StepPolynomial { n, degree: 0, t0: 0.0, t1: 0.0, c: vec![0.0; n * (max_degree + 1)] }
    }

    /// The constant x on the empty interval at t.
    pub fn set_constant(&mut self, t: f64, x: &[f64]) {
        (self.degree, self.t0, self.t1) = (0, t, t);
        self.c[..self.n].copy_from_slice(x);
    }

    /// Starts the polynomial of a new step: interval and degree, to be filled through [`Self::coefficient_mut`].
    pub fn begin(&mut self, t0: f64, t1: f64, degree: usize) {
        (self.t0, self.t1, self.degree) = (t0, t1, degree);
    }

    /// Coefficients of power j, one per component.
    pub fn coefficient_mut(&mut self, j: usize) -> &mut [f64] {
        &mut self.c[j * self.n..(j + 1) * self.n]
    }

    /// The cubic with these end values and slopes (order 3; Hermite).
    pub fn set_hermite(&mut self, t0: f64, t1: f64, x0: &[f64], dx0: &[f64], x1: &[f64], dx1: &[f64]) {
        self.begin(t0, t1, 3);
        let (n, h) = (self.n, t1 - t0);
        for i in 0..n {
            let (d, a, b) = (x1[i] - x0[i], h * dx0[i], h * dx1[i]);
            self.c[i] = x0[i];
            self.c[n + i] = a;
            self.c[2 * n + i] = 3.0 * d - 2.0 * a - b;
            self.c[3 * n + i] = a + b - 2.0 * d;
        }
    }

    /// Adds c s²(1 − s)² to a cubic, such that component i has the value `before[i]` at s = −r: one order more. Where the
    /// bump would exceed `limit(i)` the past is no guide (a transient has died out), and the cubic stays.
    pub fn raise(&mut self, before: &[f64], r: f64, limit: impl Fn(usize) -> f64) {
        let n = self.n;
        for i in 0..n {
            let at = |j: usize| self.c[j * n + i];
            let cubic = at(0) - r * (at(1) - r * (at(2) - r * at(3)));
            let c = (before[i] - cubic) / (r * r * (1.0 + r) * (1.0 + r));
            let c = if c.abs() <= 16.0 * limit(i) { c } else { 0.0 };
            self.c[2 * n + i] += c;
            self.c[3 * n + i] -= 2.0 * c;
            self.c[4 * n + i] = c;
        }
        self.degree = 4;
    }

    /// Adds c_i s²(1 − s)² to a cubic: end values and slopes stay.
    pub fn add_bump(&mut self, c: impl Fn(usize) -> f64) {
        let n = self.n;
        for i in 0..n {
            let c = c(i);
            self.c[2 * n + i] += c;
            self.c[3 * n + i] -= 2.0 * c;
            self.c[4 * n + i] = c;
        }
        self.degree = 4;
    }

    /// A cubic becomes a quartic without a fourth power.
    pub fn lift(&mut self) {
        if self.degree < 4 {
            self.degree = 4;
            self.coefficient_mut(4).fill(0.0);
        }
    }

    /// Degree of the current polynomial.
    pub fn degree(&self) -> usize {
        self.degree
    }

    fn s(&self, t: f64) -> f64 {
        if self.t1 == self.t0 { 0.0 } else { (t - self.t0) / (self.t1 - self.t0) }
    }

    /// Values at t.
    pub fn eval(&self, t: f64, x: &mut [f64]) {
        let (n, s) = (self.n, self.s(t));
        x.copy_from_slice(&self.c[self.degree * n..(self.degree + 1) * n]);
        for j in (0..self.degree).rev() {
            for (x, c) in x.iter_mut().zip(&self.c[j * n..]) {
                *x = *x * s + c;
            }
        }
    }

    /// Time derivatives at t.
    pub fn eval_derivative(&self, t: f64, dx: &mut [f64]) {
        let (n, s) = (self.n, self.s(t));
        dx.fill(0.0);
        if self.t1 == self.t0 {
            return;
        }
        let inv_h = 1.0 / (self.t1 - self.t0);
        for j in (1..=self.degree).rev() {
            for (x, c) in dx.iter_mut().zip(&self.c[j * n..]) {
                *x = *x * s + c * (j as f64);
            }
        }
        dx.iter_mut().for_each(|x| *x *= inv_h);
    }

    /// Coefficients of component i, constant term first.
    pub fn component(&self, i: usize, coeffs: &mut Vec<f64>) {
        coeffs.clear();
        coeffs.extend((0..=self.degree).map(|j| self.c[j * self.n + i]));
    }
}

/// Rewrites Σ c_j r^j as a polynomial in s where r = s·scale + offset, in place.
pub fn substitute_affine(c: &mut [f64], scale: f64, offset: f64) {
    let d = c.len();
    // Taylor shift by synthetic division, then scaling.
    for k in 0..d {
        for j in (k..d.saturating_sub(1)).rev() {
            c[j] += offset * c[j + 1];
        }
    }
    let mut p = 1.0;
    for v in c {
        *v *= p;
        p *= scale;
    }
}

/// Value of Σ c_j s^j.
pub fn horner(c: &[f64], s: f64) -> f64 {
    c.iter().rev().fold(0.0, |a, &c| a * s + c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn affine_substitution() {
        let mut c = [1.0, -2.0, 0.5, 3.0];
        let old = c;
        substitute_affine(&mut c, 0.7, -0.4);
        for s in [-1.0, 0.0, 0.3, 2.0] {
            assert!((horner(&c, s) - horner(&old, 0.7 * s - 0.4)).abs() < 1e-13);
        }
    }

    #[test]
    fn a_raised_cubic_is_exact_for_quartics() {
        let f = |t: f64| [1.0 - t + 0.5 * t.powi(4)];
        let d = |t: f64| [-1.0 + 2.0 * t.powi(3)];
        let mut p = StepPolynomial::new(1, 4);
        p.set_hermite(1.0, 3.0, &f(1.0), &d(1.0), &f(3.0), &d(3.0));
        p.raise(&f(0.5), 0.25, |_| 10.0);
        let mut x = [0.0];
        for t in [1.0, 1.7, 2.4, 3.0] {
            p.eval(t, &mut x);
            assert!((x[0] - f(t)[0]).abs() < 1e-12, "{t}: {x:?}");
        }
    }

    #[test]
    fn hermite_matches_ends() {
        let mut p = StepPolynomial::new(1, 3);
        p.set_hermite(1.0, 3.0, &[2.0], &[-1.0], &[5.0], &[0.5]);
        let (mut x, mut d) = ([0.0], [0.0]);
        for (t, xe, de) in [(1.0, 2.0, -1.0), (3.0, 5.0, 0.5)] {
            p.eval(t, &mut x);
            p.eval_derivative(t, &mut d);
            assert!((x[0] - xe).abs() < 1e-14 && (d[0] - de).abs() < 1e-14);
        }
    }
}
