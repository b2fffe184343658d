//! Linear systems `A x = b`: dense LU, sparse LU in the manner of KLU, GMRES, and a facade that chooses.
//!
//! Use [`LinearSolver`] unless you know better: it takes a [`Pattern`] once and then values in that
//! pattern's order, and refactors cheaply when only the values changed. All factorizations are generic
//! over [`Scalar`], real or complex, since Radau IIA needs one of each.

mod dense;
mod gmres;
mod ordering;
mod pattern;
mod scalar;
mod sparse;

pub use dense::DenseLu;
pub use gmres::{Gmres, GmresOutcome, LinearOperator};
pub use ordering::{BlockTriangular, block_triangular, markowitz, minimum_degree};
pub use pattern::{Csc, Pattern};
pub use scalar::{C64, Scalar};
pub use sparse::SparseLu;

/// The matrix has no usable pivot in this column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Singular {
    /// Column (variable) without a pivot, in the caller's numbering.
    pub column: usize,
    /// True if the pattern alone says so, whatever the values.
    pub structural: bool,
}

impl std::fmt::Display for Singular {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = if self.structural { "structurally" } else { "numerically" };
        write!(f, "matrix is {kind} singular in column {}", self.column)
    }
}

impl std::error::Error for Singular {}

/// Systems up to this size are factored dense whatever their pattern.
pub const DENSE_LIMIT: usize = 40;

enum Kind<T: Scalar> {
    Dense(DenseLu<T>),
    Sparse(Box<SparseLu<T>>),
}

/// LU factorization of a square matrix with fixed pattern, dense or sparse as fits.
pub struct LinearSolver<T: Scalar = f64> {
    kind: Kind<T>,
    /// `None`: values come as a full column-major matrix.
    pattern: Option<Pattern>,
    n: usize,
}

impl<T: Scalar> LinearSolver<T> {
    /// Chooses dense for `n <= DENSE_LIMIT` or more than a third filled, sparse otherwise.
    pub fn new(pattern: &Pattern) -> Self {
        let n = pattern.n_cols();
        assert_eq!(n, pattern.n_rows(), "a square matrix is needed");
        if n <= DENSE_LIMIT || 3 * pattern.nnz() > n * n {
            let kind = Kind::Dense(DenseLu::new(n));
            return LinearSolver { kind, pattern: Some(pattern.clone()), n };
        }
        Self::sparse(pattern)
    }

    /// Dense solver whose values come as a full column-major matrix.
    pub fn dense(n: usize) -> Self {
        LinearSolver { kind: Kind::Dense(DenseLu::new(n)), pattern: None, n }
    }

    /// Sparse solver even where [`Self::new`] would choose dense.
    pub fn sparse(pattern: &Pattern) -> Self {
        let n = pattern.n_cols();
        LinearSolver { kind: Kind::Sparse(Box::new(SparseLu::new(pattern))), pattern: None, n }
    }

    /// Number of unknowns.
    pub fn dim(&self) -> usize {
        self.n
    }

    /// Whether the sparse factorization was chosen.
    pub fn is_sparse(&self) -> bool {
        matches!(self.kind, Kind::Sparse(_))
    }

    /// Factors the matrix with these values (pattern order; full column-major after [`Self::dense`]).
    /// A sparse matrix factored before keeps its pivots unless they have become too small.
    pub fn factor(&mut self, values: &[T]) -> Result<(), Singular> {
        match &mut self.kind {
            Kind::Sparse(lu) => lu.refactor(values),
            Kind::Dense(lu) => {
                let a = lu.matrix_mut();
                if let Some(p) = &self.pattern {
                    a.fill(T::ZERO);
                    for j in 0..self.n {
                        for k in p.range(j) {
                            a[j * self.n + p.row_indices()[k]] = values[k];
                        }
                    }
                } else {
                    a.copy_from_slice(values);
                }
                lu.factor()
            }
        }
    }

    /// Whether the determinant of the (real) matrix factored last is negative.
    pub fn determinant_is_negative(&mut self) -> bool {
        match &mut self.kind {
            Kind::Dense(lu) => lu.determinant_is_negative(),
            Kind::Sparse(lu) => lu.determinant_is_negative(),
        }
    }

    /// Overwrites `b` by `A⁻¹ b`; [`Self::factor`] must have succeeded.
    pub fn solve(&mut self, b: &mut [T]) {
        match &mut self.kind {
            Kind::Dense(lu) => lu.solve(b),
            Kind::Sparse(lu) => lu.solve(b),
        }
    }
}
