//! GMRES in the place of a factorization: a matrix given by its entries, an incomplete factorization as preconditioner, and
//! the complete one where the iteration does not converge.

use super::{Gmres, LinearOperator, Pattern, Scalar, Singular, SparseLu, block_triangular};

/// Krylov vectors before GMRES starts anew.
const VECTORS: usize = 30;
/// Products with the matrix before the iteration is given up.
const MOST: usize = 240;

/// A x = b by preconditioned GMRES, in the place of [`SparseLu`].
pub struct Krylov<T: Scalar = f64> {
    matrix: Rows<T>,
    gmres: Gmres<T>,
    b: Vec<T>,
    x: Vec<T>,
    /// 1/W of the unknowns.
    weight: Vec<f64>,
    tol: f64,
    /// The complete factorization, once the iteration has failed; the values it needs.
    direct: Option<Box<SparseLu<T>>>,
    pattern: Pattern,
    values: Vec<T>,
    iterations: usize,
}

/// The matrix by rows, rows and columns permuted so that no diagonal entry is missing, with weighted unknowns; and
/// incomplete factors on the same entries, ILU(0) (Meijerink and van der Vorst 1977).
struct Rows<T: Scalar> {
    ptr: Vec<usize>,
    col: Vec<u32>,
    /// Position of each entry in the caller's order.
    from: Vec<usize>,
    val: Vec<T>,
    lu: Vec<T>,
    diag: Vec<usize>,
    /// Original row and column of each position.
    row_of: Vec<usize>,
    col_of: Vec<usize>,
    /// Factor of each row.
    scale: Vec<f64>,
    /// Position of each column within the row that is being eliminated.
    place: Vec<usize>,
}

impl<T: Scalar> Rows<T> {
    fn new(pattern: &Pattern) -> Result<Self, Singular> {
        let n = pattern.n_cols();
        let whole = (0..n).all(|i| pattern.find(i, i).is_some());
        let (row_of, col_of): (Vec<usize>, Vec<usize>) = if whole {
            ((0..n).collect(), (0..n).collect())
        } else {
            let b = block_triangular(pattern).map_err(|column| Singular { column, structural: true })?;
            (b.rows, b.cols)
        };
        let mut at_col = vec![0; n];
        col_of.iter().enumerate().for_each(|(k, &j)| at_col[j] = k);
        let mut rows: Vec<Vec<(u32, usize)>> = vec![Vec::new(); n];
        for j in 0..n {
            for k in pattern.range(j) {
                rows[pattern.row_indices()[k]].push((at_col[j] as u32, k));
            }
        }
        let (mut ptr, mut col, mut from, mut diag) = (vec![0], Vec::new(), Vec::new(), vec![0; n]);
        for (k, &i) in row_of.iter().enumerate() {
            rows[i].sort_unstable();
            for &(j, at) in &rows[i] {
                if j as usize == k {
                    diag[k] = col.len();
                }
                col.push(j);
                from.push(at);
            }
            ptr.push(col.len());
        }
        let zeros = vec![T::ZERO; col.len()];
        let place = vec![usize::MAX; n];
        Ok(Rows { ptr, col, from, val: zeros.clone(), lu: zeros, diag, row_of, col_of, scale: vec![1.0; n], place })
    }

    fn dim(&self) -> usize {
        self.diag.len()
    }

    /// Takes values, multiplies column j by 1/w_j and rows such that their largest entry is 1, and eliminates without fill.
    fn factor(&mut self, values: &[T], w: &[f64]) -> Result<(), Singular> {
        for i in 0..self.dim() {
            let row = self.ptr[i]..self.ptr[i + 1];
            let mut largest = 0.0f64;
            for k in row.clone() {
                self.val[k] = values[self.from[k]].scale(1.0 / w[self.col_of[self.col[k] as usize]]);
                largest = largest.max(self.val[k].mag());
            }
            if !(largest > 0.0) || !largest.is_finite() {
                return Err(Singular { column: self.col_of[i], structural: false });
            }
            self.scale[i] = 1.0 / largest;
            row.for_each(|k| self.val[k] = self.val[k].scale(1.0 / largest));
        }
        self.lu.copy_from_slice(&self.val);
        for i in 0..self.dim() {
            let row = self.ptr[i]..self.ptr[i + 1];
            row.clone().for_each(|k| self.place[self.col[k] as usize] = k);
            for k in row.start..self.diag[i] {
                let p = self.col[k] as usize;
                let factor = self.lu[k] / self.lu[self.diag[p]];
                self.lu[k] = factor;
                for m in self.diag[p] + 1..self.ptr[p + 1] {
                    let at = self.place[self.col[m] as usize];
                    if at != usize::MAX {
                        let v = self.lu[m];
                        self.lu[at] -= factor * v;
                    }
                }
            }
            row.for_each(|k| self.place[self.col[k] as usize] = usize::MAX);
            let pivot = self.lu[self.diag[i]].mag();
            if !(pivot > 0.0) || !pivot.is_finite() {
                return Err(Singular { column: self.col_of[i], structural: false });
            }
        }
        Ok(())
    }
}

impl<T: Scalar> LinearOperator<T> for Rows<T> {
    fn apply(&mut self, x: &[T], y: &mut [T]) {
        for i in 0..self.dim() {
            let r = self.ptr[i]..self.ptr[i + 1];
            y[i] = self.col[r.clone()].iter().zip(&self.val[r]).fold(T::ZERO, |s, (&j, v)| s + *v * x[j as usize]);
        }
    }

    fn precondition(&mut self, z: &mut [T]) {
        let n = self.dim();
        for i in 0..n {
            let mut s = z[i];
            for k in self.ptr[i]..self.diag[i] {
                s -= self.lu[k] * z[self.col[k] as usize];
            }
            z[i] = s;
        }
        for i in (0..n).rev() {
            let mut s = z[i];
            for k in self.diag[i] + 1..self.ptr[i + 1] {
                s -= self.lu[k] * z[self.col[k] as usize];
            }
            z[i] = s / self.lu[self.diag[i]];
        }
    }
}

impl<T: Scalar> Krylov<T> {
    /// For matrices with this pattern, solved until the weighted residual is `tol` times that of zero.
    pub fn new(pattern: &Pattern, tol: f64) -> Result<Self, Singular> {
        let n = pattern.n_cols();
        Ok(Krylov {
            matrix: Rows::new(pattern)?,
            gmres: Gmres::new(n, VECTORS),
            b: vec![T::ZERO; n],
            x: vec![T::ZERO; n],
            weight: vec![1.0; n],
            tol,
            direct: None,
            pattern: pattern.clone(),
            values: vec![T::ZERO; pattern.nnz()],
            iterations: 0,
        })
    }

    /// Typical sizes of the unknowns, as reciprocals: what the norm of a residual weighs by.
    pub fn weigh(&mut self, weight: &[f64]) {
        self.weight.copy_from_slice(weight);
    }

    /// Products with the matrix so far.
    pub fn iterations(&self) -> usize {
        self.iterations
    }

    /// Whether the iteration has failed once and the matrix is factored since.
    pub fn gave_up(&self) -> bool {
        self.direct.is_some()
    }

    /// Takes the values, in the pattern's order.
    pub fn factor(&mut self, values: &[T]) -> Result<(), Singular> {
        self.values.copy_from_slice(values);
        if let Some(lu) = &mut self.direct {
            return lu.refactor(values);
        }
        match self.matrix.factor(values, &self.weight) {
            Ok(()) => Ok(()),
            // A pivot that vanishes without fill need not vanish with it.
            Err(_) => self.direct().refactor(values),
        }
    }

    fn direct(&mut self) -> &mut SparseLu<T> {
        self.direct.get_or_insert_with(|| Box::new(SparseLu::new(&self.pattern)))
    }

    /// b ← A⁻¹ b.
    pub fn solve(&mut self, b: &mut [T]) {
        if let Some(lu) = &mut self.direct {
            lu.solve(b);
            return;
        }
        let m = &mut self.matrix;
        let mut size = 0.0;
        for (i, &r) in m.row_of.iter().enumerate() {
            self.b[i] = b[r].scale(m.scale[i]);
            size += self.b[i].modulus().powi(2);
        }
        self.x.fill(T::ZERO);
        let found = self.gmres.solve(m, &self.b, &mut self.x, self.tol * size.sqrt(), MOST);
        self.iterations += found.iterations;
        if found.converged {
            for (k, &j) in m.col_of.iter().enumerate() {
                b[j] = self.x[k].scale(1.0 / self.weight[j]);
            }
            return;
        }
        let values = std::mem::take(&mut self.values);
        let factored = self.direct().refactor(&values);
        self.values = values;
        match factored {
            Ok(()) => self.direct().solve(b),
            // Not a number: the caller sees that nothing was solved.
            Err(_) => b.fill(T::from(f64::NAN)),
        }
    }
}
