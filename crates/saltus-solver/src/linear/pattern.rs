//! Compressed-column sparsity patterns and matrices.

use super::Scalar;
use std::ops::Range;
use std::sync::Arc;

/// Which entries of a matrix may be nonzero, by columns with ascending row indices. Copies share their lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    n_rows: usize,
    col_ptr: Arc<[usize]>,
    row_idx: Arc<[usize]>,
}

impl Pattern {
    /// From any list of (row, column) pairs; duplicates are merged.
    pub fn from_entries(n_rows: usize, n_cols: usize, entries: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut columns = vec![Vec::new(); n_cols];
        for (i, j) in entries {
            assert!(i < n_rows, "row {i} of {n_rows}");
            columns[j].push(i);
        }
        let (mut col_ptr, mut row_idx) = (vec![0], Vec::new());
        for c in &mut columns {
            c.sort_unstable();
            c.dedup();
            row_idx.extend_from_slice(c);
            col_ptr.push(row_idx.len());
        }
        Pattern { n_rows, col_ptr: col_ptr.into(), row_idx: row_idx.into() }
    }

    /// From compressed columns as they are; row indices must ascend within each column.
    pub fn from_parts(n_rows: usize, col_ptr: Vec<usize>, row_idx: Vec<usize>) -> Self {
        assert_eq!(col_ptr.last(), Some(&row_idx.len()));
        debug_assert!(col_ptr.windows(2).all(|w| row_idx[w[0]..w[1]].windows(2).all(|r| r[0] < r[1])));
        debug_assert!(row_idx.iter().all(|&i| i < n_rows));
        Pattern { n_rows, col_ptr: col_ptr.into(), row_idx: row_idx.into() }
    }

    /// Every entry of an n×n matrix.
    pub fn full(n: usize) -> Self {
        Pattern { n_rows: n, col_ptr: (0..=n).map(|j| j * n).collect(), row_idx: (0..n * n).map(|k| k % n).collect() }
    }

    /// Number of rows.
    #[inline]
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }
    /// Number of columns.
    #[inline]
    pub fn n_cols(&self) -> usize {
        self.col_ptr.len() - 1
    }
    /// Number of entries.
    #[inline]
    pub fn nnz(&self) -> usize {
        self.row_idx.len()
    }
    /// Start of each column in [`Self::row_indices`], with the total at the end.
    #[inline]
    pub fn col_ptr(&self) -> &[usize] {
        &self.col_ptr
    }
    /// Row of each entry.
    #[inline]
    pub fn row_indices(&self) -> &[usize] {
        &self.row_idx
    }
    /// Positions of the entries of column `j`.
    #[inline]
    pub fn range(&self, j: usize) -> Range<usize> {
        self.col_ptr[j]..self.col_ptr[j + 1]
    }
    /// Rows of column `j`.
    #[inline]
    pub fn column(&self, j: usize) -> &[usize] {
        &self.row_idx[self.range(j)]
    }
    /// Position of entry (i, j), if it is in the pattern.
    pub fn find(&self, i: usize, j: usize) -> Option<usize> {
        self.column(j).binary_search(&i).ok().map(|k| self.col_ptr[j] + k)
    }
    /// All (row, column) pairs.
    pub fn entries(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.n_cols()).flat_map(move |j| self.column(j).iter().map(move |&i| (i, j)))
    }
    /// The pattern together with the whole diagonal.
    pub fn with_diagonal(&self) -> Self {
        let n = self.n_cols();
        Self::from_entries(self.n_rows, n, self.entries().chain((0..n).map(|i| (i, i))))
    }
    /// Rows and columns exchanged.
    pub fn transpose(&self) -> Self {
        Self::from_entries(self.n_cols(), self.n_rows, self.entries().map(|(i, j)| (j, i)))
    }

    /// Partition of the columns into groups no two of which share a row, so that one evaluation gives the
    /// finite differences of a whole group (Curtis, Powell and Reid 1974; largest column first).
    /// Returns the group of each column and the number of groups.
    pub fn colour_columns(&self) -> (Vec<usize>, usize) {
        let (n, rows) = (self.n_cols(), self.transpose());
        // A full row keeps all columns apart; where nearly all rows are long, looking costs more than it can save.
        let lengths = || (0..rows.n_cols()).map(|i| rows.range(i).len());
        let longest = lengths().max().unwrap_or(0);
        let looking: usize = lengths().map(|l| l * l).sum();
        if longest == n || (2 * longest > n && looking > 64 * self.nnz()) {
            return ((0..n).collect(), n);
        }
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&j| std::cmp::Reverse(self.range(j).len()));
        let (mut colour, mut taken, mut count) = (vec![usize::MAX; n], vec![usize::MAX; n + 1], 0);
        for j in order {
            for &i in self.column(j) {
                for &k in rows.column(i) {
                    if colour[k] != usize::MAX {
                        taken[colour[k]] = j;
                    }
                }
            }
            let c = (0..).find(|&c| taken[c] != j).unwrap_or(0);
            colour[j] = c;
            count = count.max(c + 1);
        }
        (colour, count)
    }
}

/// A compressed-column matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct Csc<T: Scalar = f64> {
    /// Where the entries are.
    pub pattern: Pattern,
    /// The entries in the pattern's order.
    pub values: Vec<T>,
}

impl<T: Scalar> Csc<T> {
    /// The zero matrix with this pattern.
    pub fn zeros(pattern: Pattern) -> Self {
        let values = vec![T::ZERO; pattern.nnz()];
        Csc { pattern, values }
    }

    /// y = A x.
    pub fn mul(&self, x: &[T], y: &mut [T]) {
        y.fill(T::ZERO);
        for j in 0..self.pattern.n_cols() {
            for k in self.pattern.range(j) {
                y[self.pattern.row_idx[k]] += self.values[k] * x[j];
            }
        }
    }
}
