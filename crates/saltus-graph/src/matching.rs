//! Maximum bipartite matching.
//!
//! [`hopcroft_karp`] answers the whole question at once. [`Augmenter`] adds one row
//! at a time, and after a refusal names the rows that compete for too few columns.

use std::collections::VecDeque;

use crate::{Bipartite, NONE};

/// A set of edges no two of which share a row or a column.
///
/// `col_to_row[row_to_col[i]] == i` for every matched row `i`; unmatched sides hold [`NONE`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matching {
    /// `row_to_col[i]` is the column matched with row `i`, or [`NONE`].
    pub row_to_col: Vec<u32>,
    /// `col_to_row[j]` is the row matched with column `j`, or [`NONE`].
    pub col_to_row: Vec<u32>,
    /// Number of matched pairs.
    pub size: usize,
}

impl Matching {
    /// The matching without pairs.
    pub fn empty(n_rows: usize, n_cols: usize) -> Self {
        Matching { row_to_col: vec![NONE; n_rows], col_to_row: vec![NONE; n_cols], size: 0 }
    }

    /// The matching with the pairs `(i, row_to_col[i])`; a pair whose column is out of
    /// range or already taken by an earlier row is left out.
    pub fn from_row_to_col(n_cols: usize, row_to_col: &[u32]) -> Self {
        let mut m = Matching::empty(row_to_col.len(), n_cols);
        for (i, &j) in row_to_col.iter().enumerate() {
            if (j as usize) < n_cols && m.col_to_row[j as usize] == NONE {
                m.row_to_col[i] = j;
                m.col_to_row[j as usize] = i as u32;
                m.size += 1;
            }
        }
        m
    }

    /// Grows to at least `n_rows` by `n_cols`; new rows and columns are unmatched.
    pub fn grow(&mut self, n_rows: usize, n_cols: usize) {
        if self.row_to_col.len() < n_rows {
            self.row_to_col.resize(n_rows, NONE);
        }
        if self.col_to_row.len() < n_cols {
            self.col_to_row.resize(n_cols, NONE);
        }
    }

    /// The column matched with row `i`, or [`NONE`]; also [`NONE`] out of range.
    #[inline]
    pub fn col_of(&self, i: usize) -> u32 {
        self.row_to_col.get(i).copied().unwrap_or(NONE)
    }

    /// The row matched with column `j`, or [`NONE`]; also [`NONE`] out of range.
    #[inline]
    pub fn row_of(&self, j: usize) -> u32 {
        self.col_to_row.get(j).copied().unwrap_or(NONE)
    }

    /// Whether every row and every column is matched.
    pub fn is_perfect(&self) -> bool {
        self.size == self.row_to_col.len() && self.size == self.col_to_row.len()
    }

    /// The unmatched rows, ascending.
    pub fn free_rows(&self) -> impl Iterator<Item = u32> + '_ {
        free(&self.row_to_col)
    }

    /// The unmatched columns, ascending.
    pub fn free_cols(&self) -> impl Iterator<Item = u32> + '_ {
        free(&self.col_to_row)
    }

    #[inline]
    pub(crate) fn pair(&mut self, i: u32, j: u32) {
        self.row_to_col[i as usize] = j;
        self.col_to_row[j as usize] = i;
    }

    /// This matching cut or padded to the sides of `g`, without pairs that are not edges of `g`.
    fn fitted(mut self, g: &Bipartite) -> Self {
        self.row_to_col.resize(g.n_rows(), NONE);
        self.col_to_row.clear();
        self.col_to_row.resize(g.n_cols(), NONE);
        self.size = 0;
        for i in 0..g.n_rows() {
            let j = self.row_to_col[i];
            if j == NONE {
                continue;
            }
            if g.has_edge(i, j) && self.col_to_row[j as usize] == NONE {
                self.col_to_row[j as usize] = i as u32;
                self.size += 1;
            } else {
                self.row_to_col[i] = NONE;
            }
        }
        self
    }
}

fn free(side: &[u32]) -> impl Iterator<Item = u32> + '_ {
    side.iter().enumerate().filter(|&(_, &p)| p == NONE).map(|(k, _)| k as u32)
}

/// A maximum matching of `g`: `size = max |M|`.
///
/// Hopcroft & Karp, *An n^{5/2} algorithm for maximum matchings in bipartite graphs*,
/// SIAM J. Comput. 2 (1973); O(E √V). Two cheaper steps come first and mostly leave nothing
/// to do: the assignment of Karp & Sipser (1981), whoever has only one possible partner
/// left takes it (already maximum on forests and on triangular patterns), and a bounded
/// number of sweeps of disjoint depth-first searches (Pothen & Fan 1990).
pub fn hopcroft_karp(g: &Bipartite) -> Matching {
    hopcroft_karp_from(g, Matching::empty(g.n_rows(), g.n_cols()))
}

/// A maximum matching of `g` grown from the partial matching `start`.
///
/// Every row and column matched in `start` (by an edge of `g`) stays matched, possibly
/// with another partner. Pairs of `start` that are not edges of `g` are forgotten.
pub fn hopcroft_karp_from(g: &Bipartite, start: Matching) -> Matching {
    let mut m = start.fitted(g);
    if m.size < g.n_rows() && m.size < g.n_cols() {
        cheap_assignment(g, &mut m);
        if !sweeps(g, &mut m) {
            phases(g, &mut m);
        }
    }
    debug_assert!(m.size <= g.n_rows().min(g.n_cols()));
    m
}

/// Karp–Sipser: match nodes of residual degree one first, otherwise the next free row
/// with its least contested free column.
fn cheap_assignment(g: &Bipartite, m: &mut Matching) {
    let (n, k) = (g.n_rows(), g.n_cols());
    let t = g.transpose();
    // Nodes: rows 0..n, columns n..n+k. deg counts free partners.
    let mut deg = vec![0u32; n + k];
    for i in 0..n {
        if m.row_to_col[i] != NONE {
            continue;
        }
        for &j in g.row(i) {
            if m.col_to_row[j as usize] == NONE {
                deg[i] += 1;
                deg[n + j as usize] += 1;
            }
        }
    }
    let mut queue: VecDeque<u32> = (0..n + k).filter(|&v| deg[v] == 1).map(|v| v as u32).collect();
    let mut next_row = 0;
    loop {
        let (i, j) = if let Some(v) = queue.pop_front() {
            let v = v as usize;
            if deg[v] != 1 {
                continue;
            }
            if v < n {
                if m.row_to_col[v] != NONE {
                    continue;
                }
                match g.row(v).iter().find(|&&j| m.col_to_row[j as usize] == NONE) {
                    Some(&j) => (v as u32, j),
                    None => continue,
                }
            } else {
                if m.col_to_row[v - n] != NONE {
                    continue;
                }
                match t.row(v - n).iter().find(|&&i| m.row_to_col[i as usize] == NONE) {
                    Some(&i) => (i, (v - n) as u32),
                    None => continue,
                }
            }
        } else {
            while next_row < n && (m.row_to_col[next_row] != NONE || deg[next_row] == 0) {
                next_row += 1;
            }
            if next_row == n {
                return;
            }
            let best = g
                .row(next_row)
                .iter()
                .filter(|&&j| m.col_to_row[j as usize] == NONE)
                .min_by_key(|&&j| deg[n + j as usize]);
            match best {
                Some(&j) => (next_row as u32, j),
                None => {
                    next_row += 1;
                    continue;
                }
            }
        };
        m.pair(i, j);
        m.size += 1;
        for &c in g.row(i as usize) {
            let d = &mut deg[n + c as usize];
            *d = d.saturating_sub(1);
            if *d == 1 && m.col_to_row[c as usize] == NONE {
                queue.push_back((n + c as usize) as u32);
            }
        }
        for &r in t.row(j as usize) {
            let d = &mut deg[r as usize];
            *d = d.saturating_sub(1);
            if *d == 1 && m.row_to_col[r as usize] == NONE {
                queue.push_back(r);
            }
        }
    }
}

/// Augments along vertex-disjoint paths of any length, one sweep over the free rows after the
/// other; true if the matching is maximum.
///
/// Pothen & Fan (1990) with the look-ahead and fairness of Duff, Kaya & Uçar, *Design,
/// implementation, and analysis of maximum transversal algorithms*, ACM TOMS 38 (2011): a row first
/// looks for a free column, and every other sweep reads the rows backwards, so that the same detour
/// is not made each time. Mostly faster than layers, but without their bound: hence a fixed number
/// of sweeps.
fn sweeps(g: &Bipartite, m: &mut Matching) -> bool {
    const SWEEPS: u32 = 40;
    let start = g.row_start();
    let adj = g.adj();
    let mut seen = vec![0u32; g.n_rows()];
    let mut tried = vec![0u32; g.n_rows()]; // edges of the row tried in this sweep
    let mut stack: Vec<u32> = Vec::new();
    let mut roots: Vec<u32> = m.free_rows().collect();
    for sweep in 1..=SWEEPS {
        let edge =
            |r: usize, k: u32| -> usize { (if sweep % 2 == 1 { start[r] + k } else { start[r + 1] - 1 - k }) as usize };
        let before = m.size;
        for &root in &roots {
            stack.clear();
            stack.push(root);
            seen[root as usize] = sweep;
            tried[root as usize] = 0;
            while let Some(&r) = stack.last() {
                let ru = r as usize;
                let free = |&e: &usize| m.col_to_row[adj[e] as usize] == NONE;
                if tried[ru] == 0
                    && let Some(e) = g.edge_range(ru).find(free)
                {
                    let mut c = adj[e];
                    while let Some(s) = stack.pop() {
                        let given_up = m.row_to_col[s as usize];
                        m.pair(s, c);
                        c = given_up;
                    }
                    m.size += 1;
                    break;
                }
                if tried[ru] >= start[ru + 1] - start[ru] {
                    stack.pop();
                    continue;
                }
                let r2 = m.col_to_row[adj[edge(ru, tried[ru])] as usize];
                tried[ru] += 1;
                if r2 != NONE && seen[r2 as usize] != sweep {
                    seen[r2 as usize] = sweep;
                    tried[r2 as usize] = 0;
                    stack.push(r2);
                }
            }
        }
        if m.size == before || m.size == g.n_rows() {
            return true;
        }
        roots.retain(|&r| m.row_to_col[r as usize] == NONE);
    }
    false
}

/// The phases of Hopcroft and Karp: breadth-first layers, then vertex-disjoint shortest paths.
fn phases(g: &Bipartite, m: &mut Matching) {
    let n = g.n_rows();
    let start = g.row_start();
    let adj = g.adj();
    const FAR: u32 = u32::MAX;
    let mut layer = vec![FAR; n];
    let mut ptr = vec![0u32; n];
    let mut queue: Vec<u32> = Vec::new();
    let mut stack: Vec<u32> = Vec::new();
    let mut roots: Vec<u32> = m.free_rows().collect();
    while !roots.is_empty() {
        // Layers, only as deep as the first free column.
        queue.clear();
        for &r in &roots {
            layer[r as usize] = 0;
            queue.push(r);
        }
        let mut limit = FAR;
        let mut head = 0;
        while head < queue.len() {
            let r = queue[head] as usize;
            head += 1;
            if layer[r] >= limit {
                break;
            }
            ptr[r] = start[r];
            for &c in g.row(r) {
                let r2 = m.col_to_row[c as usize];
                if r2 == NONE {
                    limit = layer[r] + 1;
                } else if layer[r2 as usize] == FAR {
                    layer[r2 as usize] = layer[r] + 1;
                    queue.push(r2);
                }
            }
        }
        if limit == FAR {
            return;
        }
        // Vertex-disjoint augmenting paths along the layers.
        for &root in &roots {
            stack.clear();
            stack.push(root);
            while let Some(&r) = stack.last() {
                let ru = r as usize;
                if layer[ru] >= limit || ptr[ru] >= start[ru + 1] {
                    layer[ru] = FAR;
                    stack.pop();
                    if let Some(&below) = stack.last() {
                        ptr[below as usize] += 1;
                    }
                    continue;
                }
                let r2 = m.col_to_row[adj[ptr[ru] as usize] as usize];
                if r2 == NONE {
                    for &s in &stack {
                        m.pair(s, adj[ptr[s as usize] as usize]);
                        layer[s as usize] = FAR;
                    }
                    m.size += 1;
                    break;
                }
                if layer[r2 as usize] == layer[ru] + 1 {
                    stack.push(r2);
                } else {
                    ptr[ru] += 1;
                }
            }
        }
        for &r in &queue {
            layer[r as usize] = FAR;
        }
        roots.retain(|&r| m.row_to_col[r as usize] == NONE);
    }
}

/// Scratch memory for matching one row at a time.
///
/// One [`augment`](Augmenter::augment) costs at most the edges it looks at; nothing is
/// cleared between calls. After a refusal, [`visited_rows`](Augmenter::visited_rows) and
/// [`visited_cols`](Augmenter::visited_cols) are a minimal Hall violator: those rows have
/// no columns but those columns, and are one more than them.
#[derive(Clone, Debug, Default)]
pub struct Augmenter {
    stamp: u32,
    col_seen: Vec<u32>,
    col_from: Vec<u32>,
    rows: Vec<u32>,
    cols: Vec<u32>,
}

impl Augmenter {
    /// Empty scratch memory; it grows with use.
    pub fn new() -> Self {
        Self::default()
    }

    /// Tries to match `row` by a shortest augmenting path. True if `row` is matched afterwards
    /// (also if it was before). Rows and columns already matched stay matched.
    pub fn augment(&mut self, g: &Bipartite, m: &mut Matching, row: u32) -> bool {
        m.grow(g.n_rows(), g.n_cols());
        self.rows.clear();
        self.cols.clear();
        if row as usize >= g.n_rows() {
            return false;
        }
        if m.row_to_col[row as usize] != NONE {
            return true;
        }
        if self.col_seen.len() < g.n_cols() {
            self.col_seen.resize(g.n_cols(), 0);
            self.col_from.resize(g.n_cols(), NONE);
        }
        if self.stamp == u32::MAX {
            self.col_seen.fill(0);
            self.stamp = 0;
        }
        self.stamp += 1;
        self.rows.push(row);
        let mut head = 0;
        while head < self.rows.len() {
            let r = self.rows[head];
            head += 1;
            for &c in g.row(r as usize) {
                let cu = c as usize;
                if self.col_seen[cu] == self.stamp {
                    continue;
                }
                self.col_seen[cu] = self.stamp;
                self.col_from[cu] = r;
                self.cols.push(c);
                let r2 = m.col_to_row[cu];
                if r2 != NONE {
                    self.rows.push(r2);
                    continue;
                }
                // Free column: flip the path back to the root.
                let mut c = c;
                while c != NONE {
                    let r = self.col_from[c as usize];
                    let before = m.row_to_col[r as usize];
                    m.pair(r, c);
                    c = before;
                }
                m.size += 1;
                return true;
            }
        }
        false
    }

    /// The rows seen by the last call, the root first.
    pub fn visited_rows(&self) -> &[u32] {
        &self.rows
    }

    /// The columns seen by the last call.
    pub fn visited_cols(&self) -> &[u32] {
        &self.cols
    }
}

/// Tries to match `row` as well, starting from the partial matching `m`.
///
/// True if `row` is matched afterwards. For many rows keep an [`Augmenter`]: this
/// function allocates its scratch memory on every call.
pub fn augment(g: &Bipartite, m: &mut Matching, row: u32) -> bool {
    Augmenter::new().augment(g, m, row)
}

/// A maximum matching of `g` that prefers edges of low class; `class(e)` for edge index `e`,
/// 0 is best.
///
/// A heuristic, lexicographic by class through successive augmentation: with
/// `E_k = { e : class(e) ≤ k }`, the result is a maximum matching of every `E_k` in turn,
/// each grown from the one before. So as many rows *and columns* as possible are matched
/// within `E_0`, and they stay matched; but an augmentation in a later class may exchange a
/// cheap edge for a dearer one. The cardinality is maximum for `g`; the summed cost need not
/// be minimum.
pub fn weighted_matching(g: &Bipartite, class: impl Fn(usize) -> u8) -> Matching {
    let classes: Vec<u8> = (0..g.n_edges()).map(class).collect();
    let mut used = [false; 256];
    for &k in &classes {
        used[k as usize] = true;
    }
    let mut m = Matching::empty(g.n_rows(), g.n_cols());
    for k in (0..256).filter(|&k| used[k]) {
        // The edges up to class k, each row cheapest first.
        let mut start = Vec::with_capacity(g.n_rows() + 1);
        let mut adj: Vec<u32> = Vec::new();
        let mut row: Vec<(u8, u32)> = Vec::new();
        start.push(0);
        for i in 0..g.n_rows() {
            row.clear();
            row.extend(g.edge_range(i).filter(|&e| classes[e] as usize <= k).map(|e| (classes[e], g.adj()[e])));
            row.sort_by_key(|&(k, _)| k);
            adj.extend(row.iter().map(|&(_, c)| c));
            start.push(adj.len() as u32);
        }
        m = hopcroft_karp_from(&Bipartite::from_csr(g.n_cols(), start, adj), m);
        if m.size == g.n_rows().min(g.n_cols()) {
            break;
        }
    }
    m
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The three ways to maximality, each alone from nothing, on pseudo-random graphs.
    #[test]
    fn phases_sweeps_and_single_rows_agree() {
        let mut x = 1u64;
        let mut next = |n: u32| {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (x >> 33) as u32 % n
        };
        for round in 0..300 {
            let (n, k) = (1 + next(40), 1 + next(40));
            let edges: Vec<_> = (0..next(3 * n) + round % 7).map(|_| (next(n), next(k))).collect();
            let g = Bipartite::new(n as usize, k as usize, &edges);
            let empty = || Matching::empty(n as usize, k as usize);
            let size = hopcroft_karp(&g).size;
            let mut m = empty();
            phases(&g, &mut m);
            assert_eq!((m.size, m.clone().fitted(&g)), (size, m));
            let mut m = empty();
            assert!(sweeps(&g, &mut m));
            assert_eq!((m.size, m.clone().fitted(&g)), (size, m));
            let mut m = empty();
            cheap_assignment(&g, &mut m);
            assert_eq!(m.clone().fitted(&g), m);
            let mut a = Augmenter::new();
            for i in 0..n {
                a.augment(&g, &mut m, i);
            }
            assert_eq!((m.size, m.clone().fitted(&g)), (size, m));
        }
    }
}
