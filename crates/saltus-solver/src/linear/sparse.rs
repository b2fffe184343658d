//! Sparse LU in the manner of KLU (Davis and Palamadai Natarajan 2010): rows scaled by their largest entry,
//! block triangular form, minimum degree or Markowitz order within each block, left-looking factorization of Gilbert and Peierls
//! with threshold pivoting that prefers the diagonal, and refactorization along the old pivots.

use super::ordering::{about_symmetric, tidy};
use super::{Pattern, Scalar, Singular, block_triangular, markowitz, minimum_degree};

const NONE: usize = usize::MAX;
/// The diagonal is kept as pivot if it is at least this part of the largest candidate.
const THRESHOLD: f64 = 0.01;
/// A refactorization whose multipliers exceed this is redone with fresh pivots.
const MAX_GROWTH: f64 = 1e3;
/// Entries of the factors of a matrix whose rows have 1 as their largest entry; beyond, so many digits are lost that pivots must
/// be the largest of their columns, whatever that fills.
const MAX_ENTRY: f64 = 1e5;

/// LU factors of a sparse square matrix with fixed pattern.
pub struct SparseLu<T: Scalar = f64> {
    n: usize,
    pattern: Pattern,
    structural: Option<usize>,
    blocks: Vec<usize>,
    /// Column in each position.
    cols: Vec<usize>,
    /// Row in each position before pivoting, and its inverse.
    rows0: Vec<usize>,
    pos0: Vec<usize>,
    /// Row in each position after pivoting, and its inverse.
    rows: Vec<usize>,
    pos: Vec<usize>,
    scale: Vec<f64>,
    /// L without its unit diagonal, U without its diagonal (topological order), both by columns of positions.
    l: Columns<T>,
    u: Columns<T>,
    /// Entries above the diagonal blocks.
    off: Columns<T>,
    diag: Vec<T>,
    x: Vec<T>,
    mark: Vec<usize>,
    stack: Vec<(usize, usize)>,
    topo: Vec<usize>,
    fresh: Vec<usize>,
    /// See [`THRESHOLD`]; 1 once entries have grown beyond [`MAX_ENTRY`].
    threshold: f64,
    /// The order within blocks has been chosen.
    ordered: bool,
    factored: bool,
    full_factorizations: usize,
    refactorizations: usize,
}

/// Compressed columns; indices of four bytes keep the inner loops of large factors in cache.
#[derive(Default)]
struct Columns<T> {
    ptr: Vec<usize>,
    idx: Vec<u32>,
    val: Vec<T>,
}

impl<T: Scalar> Columns<T> {
    fn clear(&mut self) {
        self.ptr.clear();
        self.ptr.push(0);
        self.idx.clear();
        self.val.clear();
    }
    fn push(&mut self, i: usize, v: T) {
        self.idx.push(i as u32);
        self.val.push(v);
    }
    fn close(&mut self) {
        self.ptr.push(self.idx.len());
    }
    /// Room for other pivots later, so that a factorization within a step need not allocate.
    fn make_room(&mut self) {
        let room = self.idx.len() / 2 + 16;
        self.idx.reserve(room);
        self.val.reserve(room);
    }
    fn range(&self, k: usize) -> std::ops::Range<usize> {
        self.ptr[k]..self.ptr[k + 1]
    }
    /// y -= a · column k.
    fn subtract(&self, k: usize, a: T, y: &mut [T]) {
        let r = self.range(k);
        for (&i, &v) in self.idx[r.clone()].iter().zip(&self.val[r]) {
            y[i as usize] -= v * a;
        }
    }
}

impl<T: Scalar> SparseLu<T> {
    /// Analyses the pattern; the order within blocks is chosen when the first values are known.
    pub fn new(pattern: &Pattern) -> Self {
        let n = pattern.n_cols();
        let (mut structural, mut blocks, mut cols, mut rows0) = (None, vec![0, n], (0..n).collect(), (0..n).collect());
        match block_triangular(pattern) {
            Ok(b) => (cols, rows0, blocks) = (b.cols, b.rows, b.blocks),
            Err(column) => structural = Some(column),
        }
        let columns = || Columns { ptr: vec![0], idx: Vec::new(), val: Vec::new() };
        SparseLu {
            n,
            pattern: pattern.clone(),
            structural,
            blocks,
            cols,
            rows: rows0.clone(),
            pos: vec![NONE; n],
            rows0,
            pos0: vec![NONE; n],
            ordered: false,
            threshold: THRESHOLD,
            scale: vec![1.0; n],
            l: columns(),
            u: columns(),
            off: columns(),
            diag: vec![T::ZERO; n],
            x: vec![T::ZERO; n],
            mark: vec![NONE; n],
            stack: Vec::new(),
            topo: Vec::new(),
            fresh: Vec::new(),
            factored: false,
            full_factorizations: 0,
            refactorizations: 0,
        }
    }

    /// Entries in L and U together.
    pub fn fill(&self) -> usize {
        self.l.idx.len() + self.u.idx.len() + self.off.idx.len() + self.n
    }

    /// Number of diagonal blocks.
    pub fn block_count(&self) -> usize {
        self.blocks.len() - 1
    }

    /// How many factorizations chose pivots, and how many followed old ones.
    pub fn counts(&self) -> (usize, usize) {
        (self.full_factorizations, self.refactorizations)
    }

    fn scale_rows(&mut self, values: &[T]) {
        self.scale.fill(0.0);
        for (&i, v) in self.pattern.row_indices().iter().zip(values) {
            self.scale[i] = self.scale[i].max(v.mag());
        }
        for s in &mut self.scale {
            *s = if *s > 0.0 && s.is_finite() { 1.0 / *s } else { 1.0 };
        }
    }

    /// Factors with a fresh choice of pivots.
    pub fn factor(&mut self, values: &[T]) -> Result<(), Singular> {
        if let Some(column) = self.structural {
            return Err(Singular { column, structural: true });
        }
        self.factored = false;
        self.full_factorizations += 1;
        self.scale_rows(values);
        if !self.ordered {
            self.order_blocks(values);
            self.ordered = true;
        }
        self.l.clear();
        self.u.clear();
        self.off.clear();
        self.mark.fill(NONE);
        // While a block is factored, `pos[r]` is the pivot position of pre-pivot row r, or NONE.
        self.pos.fill(NONE);
        for b in 0..self.block_count() {
            let (k1, k2) = (self.blocks[b], self.blocks[b + 1]);
            let l_start = self.l.idx.len();
            for k in k1..k2 {
                self.factor_column(k, k1, values)?;
            }
            for i in &mut self.l.idx[l_start..] {
                *i = self.pos[*i as usize] as u32;
            }
        }
        // From pre-pivot numbering to the caller's rows.
        for r in 0..self.n {
            self.rows[self.pos[r]] = self.rows0[r];
        }
        for (k, &i) in self.rows.iter().enumerate() {
            self.pos[i] = k;
        }
        if self.threshold < 1.0 && self.largest() > MAX_ENTRY {
            self.threshold = 1.0;
            return self.factor(values);
        }
        self.factored = true;
        self.l.make_room();
        self.u.make_room();
        Ok(())
    }

    /// The largest entry of U.
    fn largest(&self) -> f64 {
        self.u.val.iter().chain(&self.diag).fold(0.0, |m, v| m.max(v.mag()))
    }

    fn factor_column(&mut self, k: usize, k1: usize, values: &[T]) -> Result<(), Singular> {
        let j = self.cols[k];
        self.topo.clear();
        self.fresh.clear();
        // Reach of the column's rows in the graph of L.
        for e in self.pattern.range(j) {
            let i = self.pattern.row_indices()[e];
            let (r, v) = (self.pos0[i], values[e].scale(self.scale[i]));
            if r < k1 {
                self.off.push(self.pos[r], v);
                continue;
            }
            self.visit(r, k);
            self.x[r] = v;
        }
        self.off.close();
        for t in (0..self.topo.len()).rev() {
            let r = self.topo[t];
            let a = std::mem::replace(&mut self.x[r], T::ZERO);
            let c = self.pos[r];
            self.u.push(c, a);
            self.l.subtract(c, a, &mut self.x);
        }
        self.u.close();
        let mut best = (NONE, 0.0);
        for &r in &self.fresh {
            let m = self.x[r].mag();
            if m > best.1 || !m.is_finite() {
                best = (r, m);
            }
        }
        if best.0 == NONE || !best.1.is_finite() {
            for &r in &self.fresh {
                self.x[r] = T::ZERO;
            }
            return Err(Singular { column: j, structural: false });
        }
        // Pre-pivot row k is the matched diagonal of column k.
        let pivot = if self.mark[k] == k && self.pos[k] == NONE && self.x[k].mag() >= self.threshold * best.1 {
            k
        } else {
            best.0
        };
        let d = self.x[pivot];
        self.diag[k] = d;
        self.pos[pivot] = k;
        let inv = T::ONE / d;
        for t in 0..self.fresh.len() {
            let r = self.fresh[t];
            let v = std::mem::replace(&mut self.x[r], T::ZERO);
            if r != pivot {
                self.l.push(r, v * inv);
            }
        }
        self.l.close();
        Ok(())
    }

    /// Depth-first search from pre-pivot row r through columns of L; postorder of pivoted rows into `topo`,
    /// others into `fresh`.
    fn visit(&mut self, r: usize, k: usize) {
        if self.mark[r] == k {
            return;
        }
        self.mark[r] = k;
        if self.pos[r] == NONE {
            self.fresh.push(r);
            return;
        }
        self.stack.push((r, self.l.ptr[self.pos[r]]));
        while let Some(top) = self.stack.last_mut() {
            let c = self.pos[top.0];
            if top.1 == self.l.ptr[c + 1] {
                self.topo.push(top.0);
                self.stack.pop();
                continue;
            }
            let i = self.l.idx[top.1] as usize;
            top.1 += 1;
            if self.mark[i] != k {
                self.mark[i] = k;
                match self.pos[i] {
                    NONE => self.fresh.push(i),
                    ci => self.stack.push((i, self.l.ptr[ci])),
                }
            }
        }
    }

    /// Factors along the pivots of the last factorization; falls back to [`Self::factor`] if there is none
    /// or a pivot has become too small beside its column.
    pub fn refactor(&mut self, values: &[T]) -> Result<(), Singular> {
        if !self.factored {
            return self.factor(values);
        }
        self.scale_rows(values);
        for b in 0..self.block_count() {
            let (k1, k2) = (self.blocks[b], self.blocks[b + 1]);
            for k in k1..k2 {
                let mut off = self.off.ptr[k];
                for e in self.pattern.range(self.cols[k]) {
                    let i = self.pattern.row_indices()[e];
                    let (p, v) = (self.pos[i], values[e].scale(self.scale[i]));
                    if p < k1 {
                        self.off.val[off] = v;
                        off += 1;
                    } else {
                        self.x[p] = v;
                    }
                }
                for t in self.u.range(k) {
                    let c = self.u.idx[t] as usize;
                    let a = std::mem::replace(&mut self.x[c], T::ZERO);
                    self.u.val[t] = a;
                    if a != T::ZERO {
                        self.l.subtract(c, a, &mut self.x);
                    }
                }
                let d = std::mem::replace(&mut self.x[k], T::ZERO);
                let inv = T::ONE / d;
                let mut growth = 0.0f64;
                for t in self.l.range(k) {
                    let v = std::mem::replace(&mut self.x[self.l.idx[t] as usize], T::ZERO) * inv;
                    growth = growth.max(v.mag());
                    self.l.val[t] = v;
                }
                self.diag[k] = d;
                if !(d.mag() > 0.0 && d.mag().is_finite() && growth < MAX_GROWTH) {
                    self.x.fill(T::ZERO);
                    return self.factor(values);
                }
            }
        }
        if self.largest() > MAX_ENTRY {
            self.factor(values)?;
        }
        self.refactorizations += 1;
        Ok(())
    }

    /// Whether the determinant of the matrix factored last is negative.
    pub fn determinant_is_negative(&mut self) -> bool {
        let rows = is_odd(&self.rows, &mut self.mark);
        let columns = is_odd(&self.cols, &mut self.mark);
        self.diag.iter().fold(rows ^ columns, |sign, d| sign ^ d.is_negative())
    }

    /// Overwrites `b` by `A⁻¹ b`.
    pub fn solve(&mut self, b: &mut [T]) {
        debug_assert!(self.factored);
        let y = &mut self.x;
        for (k, &i) in self.rows.iter().enumerate() {
            y[k] = b[i].scale(self.scale[i]);
        }
        for blk in (0..self.blocks.len() - 1).rev() {
            let (k1, k2) = (self.blocks[blk], self.blocks[blk + 1]);
            for k in k1..k2 {
                let a = y[k];
                if a != T::ZERO {
                    self.l.subtract(k, a, y);
                }
            }
            for k in (k1..k2).rev() {
                y[k] = y[k] / self.diag[k];
                let a = y[k];
                if a != T::ZERO {
                    self.u.subtract(k, a, y);
                    self.off.subtract(k, a, y);
                }
            }
        }
        for (k, &j) in self.cols.iter().enumerate() {
            b[j] = y[k];
        }
        y.fill(T::ZERO);
    }

    /// Orders each diagonal block B: minimum degree on B + Bᵀ if the pattern is about symmetric, Markowitz's rule otherwise.
    fn order_blocks(&mut self, values: &[T]) {
        let (p, n) = (&self.pattern, self.n);
        let mut row_pos = vec![0; n];
        for (k, &i) in self.rows0.iter().enumerate() {
            row_pos[i] = k;
        }
        let (mut new_cols, mut new_rows) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for w in self.blocks.windows(2) {
            let (k1, k2) = (w[0], w[1]);
            let size = k2 - k1;
            if size == 1 {
                new_cols.push(self.cols[k1]);
                new_rows.push(self.rows0[k1]);
                continue;
            }
            // The entries of a column within the block: (row, position in the pattern).
            let inside = |b: usize| {
                let range = p.range(self.cols[k1 + b]);
                range.map(|e| (row_pos[p.row_indices()[e]], e)).filter(|x| x.0 >= k1).map(|(a, e)| (a - k1, e))
            };
            let mut adj: Vec<Vec<usize>> = vec![Vec::new(); size];
            let mut entries = 0;
            for b in 0..size {
                for (a, _) in inside(b).filter(|x| x.0 != b) {
                    adj[a].push(b);
                    adj[b].push(a);
                    entries += 1;
                }
            }
            let symmetric = about_symmetric(entries, tidy(&mut adj));
            let scaled = |e: usize| values[e].scale(self.scale[p.row_indices()[e]]);
            let column = |b: usize| inside(b).map(|(a, e)| (a, scaled(e))).collect();
            let pivots = (!symmetric)
                .then(|| markowitz((0..size).map(column).collect(), 1000 * (entries + size)))
                .flatten()
                .unwrap_or_else(|| minimum_degree(adj).into_iter().map(|k| (k, k)).collect());
            for (i, j) in pivots {
                new_cols.push(self.cols[k1 + j]);
                new_rows.push(self.rows0[k1 + i]);
            }
        }
        (self.cols, self.rows0) = (new_cols, new_rows);
        for (k, &i) in self.rows0.iter().enumerate() {
            self.pos0[i] = k;
        }
    }
}

/// Whether a permutation is odd; `seen` is workspace.
fn is_odd(permutation: &[usize], seen: &mut [usize]) -> bool {
    seen.fill(NONE);
    let mut odd = false;
    for start in 0..permutation.len() {
        let mut k = start;
        while seen[k] == NONE {
            seen[k] = start;
            k = permutation[k];
            odd ^= k != start;
        }
    }
    odd
}
