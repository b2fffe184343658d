//! Linear systems `A x = b`: dense LU, sparse LU in the manner of KLU, GMRES, and a facade that chooses.
//!
//! Use [`LinearSolver`] unless you know better: it takes a [`Pattern`] once and then values in that
//! pattern's order, and refactors cheaply when only the values changed. All factorizations are generic
//! over [`Scalar`], real or complex, since Radau IIA needs one of each.

mod dense;
mod gmres;
mod krylov;
mod ordering;
mod pattern;
mod scalar;
mod sparse;

pub use dense::DenseLu;
pub use gmres::{Gmres, GmresOutcome, LinearOperator};
pub use krylov::Krylov;
pub use ordering::{BlockTriangular, block_triangular, fill, markowitz, minimum_degree};
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

/// How an implicit method solves its linear systems.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Linear {
    /// By factorization, unless the factors of a large matrix would be far larger than the matrix.
    #[default]
    Auto,
    /// By factorization, dense or sparse.
    Direct,
    /// By GMRES with an incomplete factorization as preconditioner.
    Gmres,
}

/// From this size on [`Linear::Auto`] looks at the fill,
const LARGE: usize = 5_000;
/// and takes GMRES where the factors have so many times the entries of the matrix.
const FILL: usize = 25;

enum Kind<T: Scalar> {
    Dense(DenseLu<T>),
    Sparse(Box<SparseLu<T>>),
    Krylov(Box<Krylov<T>>),
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

    /// As the user chose; iterations end when the weighted residual is `tol` times as large as it was.
    pub fn choose(pattern: &Pattern, linear: Linear, tol: f64) -> Self {
        let n = pattern.n_cols();
        let iterate = match linear {
            Linear::Direct => false,
            Linear::Gmres => n > DENSE_LIMIT,
            Linear::Auto => n >= LARGE && fill(pattern) > FILL * pattern.nnz(),
        };
        let krylov = if iterate { Krylov::new(pattern, tol).ok() } else { None };
        match krylov {
            Some(krylov) => LinearSolver { kind: Kind::Krylov(Box::new(krylov)), pattern: None, n },
            None => Self::new(pattern),
        }
    }

    /// Tells an iteration how large the unknowns typically are, as reciprocals. Before [`Self::factor`].
    pub fn weigh(&mut self, weight: &[f64]) {
        if let Kind::Krylov(krylov) = &mut self.kind {
            krylov.weigh(weight);
        }
    }

    /// Products with the matrix if GMRES is used, and whether it has given way to a factorization.
    pub fn krylov(&self) -> Option<(usize, bool)> {
        match &self.kind {
            Kind::Krylov(k) => Some((k.iterations(), k.gave_up())),
            _ => None,
        }
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
            Kind::Krylov(krylov) => krylov.factor(values),
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
            // Nobody knows.
            Kind::Krylov(_) => false,
        }
    }

    /// Overwrites `b` by `A⁻¹ b`; [`Self::factor`] must have succeeded.
    pub fn solve(&mut self, b: &mut [T]) {
        match &mut self.kind {
            Kind::Dense(lu) => lu.solve(b),
            Kind::Sparse(lu) => lu.solve(b),
            Kind::Krylov(krylov) => krylov.solve(b),
        }
    }
}
