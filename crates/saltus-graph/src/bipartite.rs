//! The bipartite graph every algorithm here reads: rows, each with a list of columns.

/// A bipartite graph in compressed-row form.
///
/// The columns of row `i` are `adj[row_start[i] .. row_start[i + 1]]`. An *edge
/// index* is a position in `adj`. Inside a row the columns keep the order in which
/// they were given; repeated edges and edges with an id out of range are dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bipartite {
    n_rows: usize,
    n_cols: usize,
    row_start: Vec<u32>,
    adj: Vec<u32>,
}

impl Default for Bipartite {
    fn default() -> Self {
        Bipartite { n_rows: 0, n_cols: 0, row_start: vec![0], adj: Vec::new() }
    }
}

impl Bipartite {
    /// The graph with the edges `(row, col)`.
    pub fn new(n_rows: usize, n_cols: usize, edges: &[(u32, u32)]) -> Self {
        let ok = |&&(r, c): &&(u32, u32)| (r as usize) < n_rows && (c as usize) < n_cols;
        let mut start = vec![0u32; n_rows + 1];
        for &(r, _) in edges.iter().filter(ok) {
            start[r as usize + 1] += 1;
        }
        for i in 0..n_rows {
            start[i + 1] += start[i];
        }
        let mut adj = vec![0u32; start[n_rows] as usize];
        let mut next = start.clone();
        for &(r, c) in edges.iter().filter(ok) {
            let p = &mut next[r as usize];
            adj[*p as usize] = c;
            *p += 1;
        }
        Self::dedup(n_rows, n_cols, start, adj)
    }

    /// The graph whose row `i` has the columns `rows[i]`.
    pub fn from_rows(n_cols: usize, rows: &[Vec<u32>]) -> Self {
        let mut start = Vec::with_capacity(rows.len() + 1);
        let mut adj = Vec::with_capacity(rows.iter().map(Vec::len).sum());
        start.push(0);
        for row in rows {
            adj.extend(row.iter().copied().filter(|&c| (c as usize) < n_cols));
            start.push(adj.len() as u32);
        }
        Self::dedup(rows.len(), n_cols, start, adj)
    }

    /// Parts already known to be well formed: offsets monotone, ids in range, no repeats.
    pub(crate) fn from_csr(n_cols: usize, row_start: Vec<u32>, adj: Vec<u32>) -> Self {
        debug_assert!(!row_start.is_empty());
        debug_assert_eq!(*row_start.last().unwrap_or(&0) as usize, adj.len());
        Bipartite { n_rows: row_start.len().saturating_sub(1), n_cols, row_start, adj }
    }

    /// Drops repeats inside each row, keeping the first, in place.
    fn dedup(n_rows: usize, n_cols: usize, mut start: Vec<u32>, mut adj: Vec<u32>) -> Self {
        let mut seen = vec![crate::NONE; n_cols];
        let mut w = 0usize;
        let mut lo = 0usize;
        for i in 0..n_rows {
            let hi = start[i + 1] as usize;
            for e in lo..hi {
                let c = adj[e];
                if seen[c as usize] != i as u32 {
                    seen[c as usize] = i as u32;
                    adj[w] = c;
                    w += 1;
                }
            }
            lo = hi;
            start[i + 1] = w as u32;
        }
        adj.truncate(w);
        Bipartite { n_rows, n_cols, row_start: start, adj }
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.n_cols
    }

    /// Number of edges, `adj().len()`.
    pub fn n_edges(&self) -> usize {
        self.adj.len()
    }

    /// The columns of row `i`; empty when `i` is out of range.
    #[inline]
    pub fn row(&self, i: usize) -> &[u32] {
        if i < self.n_rows { &self.adj[self.edge_range(i)] } else { &[] }
    }

    /// The edge indices of row `i`: positions in [`adj`](Self::adj); empty when `i` is out of range.
    #[inline]
    pub fn edge_range(&self, i: usize) -> std::ops::Range<usize> {
        if i < self.n_rows { self.row_start[i] as usize..self.row_start[i + 1] as usize } else { 0..0 }
    }

    /// `row_start[i]` is the first edge index of row `i`; length `n_rows + 1`.
    pub fn row_start(&self) -> &[u32] {
        &self.row_start
    }

    /// `adj[e]` is the column of edge `e`.
    pub fn adj(&self) -> &[u32] {
        &self.adj
    }

    /// All edges as `(edge index, row, col)`, by ascending edge index.
    pub fn edges(&self) -> impl Iterator<Item = (usize, u32, u32)> + '_ {
        (0..self.n_rows).flat_map(move |i| self.edge_range(i).map(move |e| (e, i as u32, self.adj[e])))
    }

    /// Whether row `i` has column `j`. Linear in the length of the row.
    pub fn has_edge(&self, i: usize, j: u32) -> bool {
        self.row(i).contains(&j)
    }

    /// Rows become columns: `j ∈ transpose.row(i)` iff `i ∈ row(j)`; each list ascending.
    pub fn transpose(&self) -> Bipartite {
        let mut start = vec![0u32; self.n_cols + 1];
        for &c in &self.adj {
            start[c as usize + 1] += 1;
        }
        for j in 0..self.n_cols {
            start[j + 1] += start[j];
        }
        let mut next = start.clone();
        let mut adj = vec![0u32; self.adj.len()];
        for i in 0..self.n_rows {
            for &c in self.row(i) {
                let p = &mut next[c as usize];
                adj[*p as usize] = i as u32;
                *p += 1;
            }
        }
        Bipartite { n_rows: self.n_cols, n_cols: self.n_rows, row_start: start, adj }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_their_order_and_lose_repeats_and_strays() {
        let g = Bipartite::new(3, 4, &[(2, 1), (0, 3), (0, 1), (0, 3), (9, 0), (1, 9)]);
        assert_eq!(g.row(0), [3, 1]);
        assert_eq!(g.row(1), [0u32; 0]);
        assert_eq!(g.row(2), [1]);
        assert_eq!(g.row(7), [0u32; 0]);
        assert_eq!(g, Bipartite::from_rows(4, &[vec![3, 1, 3], vec![4], vec![1]]));
    }

    #[test]
    fn transpose_swaps_the_sides() {
        let g = Bipartite::from_rows(3, &[vec![2, 0], vec![0]]);
        let t = g.transpose();
        assert_eq!((t.n_rows(), t.n_cols()), (3, 2));
        assert_eq!((t.row(0), t.row(1), t.row(2)), (&[0, 1][..], &[][..], &[0][..]));
    }
}
