//! The Σ-method: how often to differentiate each row so that the columns are determined.

use crate::{Bipartite, DmParts, Matching, NONE, dulmage_mendelsohn, hopcroft_karp, hopcroft_karp_from};

/// The signature matrix `Σ = (σ_ij)`: `σ_ij ≥ 0` is the order of the highest derivative of
/// column `j` in row `i`; an entry that is not stored is `−∞`.
///
/// Stored by rows; a row keeps the order in which its entries were given. Entries out of range
/// or negative are dropped, of repeated entries the largest counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    n_cols: usize,
    row_start: Vec<u32>,
    entries: Vec<(u32, i32)>,
}

impl Signature {
    /// The signature with the entries `(row, col, σ)`.
    pub fn new(n_rows: usize, n_cols: usize, entries: &[(u32, u32, i32)]) -> Self {
        let mut start = vec![0u32; n_rows + 1];
        for &(r, _, _) in entries {
            if (r as usize) < n_rows {
                start[r as usize + 1] += 1;
            }
        }
        for i in 0..n_rows {
            start[i + 1] += start[i];
        }
        let mut sorted = vec![(0u32, 0i32); start[n_rows] as usize];
        let mut next = start.clone();
        for &(r, c, s) in entries {
            if (r as usize) < n_rows {
                let p = &mut next[r as usize];
                sorted[*p as usize] = (c, s);
                *p += 1;
            }
        }
        Self::build(n_cols, (0..n_rows).map(|i| &sorted[start[i] as usize..start[i + 1] as usize]))
    }

    /// The signature whose row `i` has the entries `rows[i]`, each `(col, σ)`.
    pub fn from_rows(n_cols: usize, rows: &[Vec<(u32, i32)>]) -> Self {
        Self::build(n_cols, rows.iter().map(Vec::as_slice))
    }

    fn build<'a>(n_cols: usize, rows: impl Iterator<Item = &'a [(u32, i32)]>) -> Self {
        let mut row_start = vec![0u32];
        let mut entries: Vec<(u32, i32)> = Vec::new();
        let mut at = vec![NONE; n_cols];
        for row in rows {
            let lo = entries.len();
            for &(c, s) in row {
                if c as usize >= n_cols || s < 0 {
                    continue;
                }
                let p = at[c as usize] as usize;
                if p >= lo && p < entries.len() {
                    entries[p].1 = entries[p].1.max(s);
                } else {
                    at[c as usize] = entries.len() as u32;
                    entries.push((c, s));
                }
            }
            row_start.push(entries.len() as u32);
        }
        Signature { n_cols, row_start, entries }
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.row_start.len() - 1
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.n_cols
    }

    /// The entries `(col, σ)` of row `i`; empty when `i` is out of range.
    #[inline]
    pub fn row(&self, i: usize) -> &[(u32, i32)] {
        if i < self.n_rows() { &self.entries[self.row_start[i] as usize..self.row_start[i + 1] as usize] } else { &[] }
    }

    /// `σ_ij`, or `None` for `−∞`. Linear in the length of the row.
    pub fn get(&self, i: usize, j: u32) -> Option<i32> {
        self.row(i).iter().find(|&&(c, _)| c == j).map(|&(_, s)| s)
    }

    /// The pattern: an edge for each stored entry, in the same order.
    pub fn pattern(&self) -> Bipartite {
        self.filtered(|_, _, _| true)
    }

    fn filtered(&self, keep: impl Fn(usize, u32, i32) -> bool) -> Bipartite {
        let mut start = Vec::with_capacity(self.row_start.len());
        let mut adj = Vec::with_capacity(self.entries.len());
        start.push(0);
        for i in 0..self.n_rows() {
            adj.extend(self.row(i).iter().filter(|&&(c, s)| keep(i, c, s)).map(|&(c, _)| c));
            start.push(adj.len() as u32);
        }
        Bipartite::from_csr(self.n_cols, start, adj)
    }

    /// The Jacobian pattern under the offsets: edges with `d_j − c_i = σ_ij`. Missing offsets
    /// are read as 0.
    pub fn tight(&self, c: &[i32], d: &[i32]) -> Bipartite {
        let at = |v: &[i32], k: usize| v.get(k).copied().unwrap_or(0) as i64;
        self.filtered(|i, j, s| at(d, j as usize) - at(c, i) == s as i64)
    }
}

/// The result of the [`sigma_method`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offsets {
    /// `c_i`: how often row `i` is to be differentiated. The smallest `c ≥ 0` for which a `d`
    /// exists with `d_j − c_i ≥ σ_ij` everywhere and equality on a transversal.
    pub c: Vec<i32>,
    /// `d_j = max_i (σ_ij + c_i)`: the order of the highest derivative of column `j` afterwards.
    pub d: Vec<i32>,
    /// A highest-value transversal: a perfect matching maximizing `Σ σ_{i,j(i)}`; on it,
    /// `d_j − c_i = σ_ij`.
    pub transversal: Matching,
    /// The structural index, `max_i c_i + (1 if some d_j = 0, else 0)`; 0 for the empty matrix.
    pub index: i32,
    /// Degrees of freedom, `Σ d_j − Σ c_i = Σ σ_{i,j(i)}`.
    pub dof: i64,
}

/// There is no transversal: no choice of derivatives makes the rows determine the columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Singular {
    /// A maximum matching on the full pattern.
    pub matching: Matching,
    /// The Dulmage–Mendelsohn parts of the full pattern: who is too many, who is too few.
    pub parts: Box<DmParts>,
}

impl Singular {
    pub(crate) fn of(pattern: &Bipartite, start: Matching) -> Self {
        let matching = hopcroft_karp_from(pattern, start);
        let parts = Box::new(dulmage_mendelsohn(pattern, &matching));
        Singular { matching, parts }
    }
}

impl std::fmt::Display for Singular {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "structurally singular: {} of {} rows and {} columns can be matched",
            self.matching.size,
            self.matching.row_to_col.len(),
            self.matching.col_to_row.len()
        )
    }
}

impl std::error::Error for Singular {}

/// The Σ-method: canonical offsets, transversal, structural index, degrees of freedom.
///
/// Pryce, *A simple structural analysis method for DAEs*, BIT 41 (2001). The assignment problem
/// `max Σ σ_{i,j(i)}` and its dual `min Σ d_j − Σ c_i`, `d_j − c_i ≥ σ_ij`, `c ≥ 0`, are solved
/// together by the Hungarian method (Kuhn 1955) from all unmatched rows at once:
///
/// 1. `c = 0`, `d_j = max_i σ_ij`;
/// 2. match as many rows as possible along tight edges, `d_j − c_i = σ_ij`;
/// 3. if rows are left over, let `R`, `C` be the rows and columns reachable from them by
///    alternating tight paths; raise `c` on `R` and `d` on `C` by the smallest slack of an edge
///    from `R` out of `C`; go to 2.
///
/// Every row of `R` has to be raised in every feasible dual that lies above the current one and
/// is tight on a transversal, hence `c` ends as the smallest such dual, the one
/// [`canonical_offsets`] defines. A system that needs no differentiation is finished after one
/// matching; otherwise there are about as many rounds as the index.
pub fn sigma_method(s: &Signature) -> Result<Offsets, Singular> {
    let n = s.n_rows();
    let empty = || Matching::empty(n, s.n_cols());
    if n != s.n_cols() {
        return Err(Singular::of(&s.pattern(), empty()));
    }
    let mut c = vec![0i64; n];
    let mut d = vec![-1i64; n];
    for &(j, sigma) in &s.entries {
        d[j as usize] = d[j as usize].max(sigma as i64);
    }
    let tight_graph = |c: &[i64], d: &[i64]| s.filtered(|i, j, sigma| d[j as usize] - c[i] == sigma as i64);
    let mut tight = tight_graph(&c, &d);
    let mut m = hopcroft_karp(&tight);
    if m.size < n {
        let pattern = s.pattern();
        let full = hopcroft_karp_from(&pattern, m.clone());
        if full.size < n {
            return Err(Singular::of(&pattern, full));
        }
    }
    while m.size < n {
        let mut in_r = vec![false; n];
        let mut in_c = vec![false; n];
        let mut reached: Vec<u32> = m.free_rows().collect();
        for &i in &reached {
            in_r[i as usize] = true;
        }
        let mut head = 0;
        while head < reached.len() {
            let i = reached[head] as usize;
            head += 1;
            for &j in tight.row(i) {
                if !std::mem::replace(&mut in_c[j as usize], true) {
                    let i2 = m.row_of(j as usize);
                    if i2 != NONE && !std::mem::replace(&mut in_r[i2 as usize], true) {
                        reached.push(i2);
                    }
                }
            }
        }
        let step = reached
            .iter()
            .flat_map(|&i| s.row(i as usize).iter().map(move |&(j, sigma)| (i, j, sigma)))
            .filter(|&(_, j, _)| !in_c[j as usize])
            .map(|(i, j, sigma)| d[j as usize] - c[i as usize] - sigma as i64)
            .min();
        let Some(step) = step else {
            // Unreachable: the full pattern has a perfect matching, so some edge leaves R × C.
            return Err(Singular::of(&s.pattern(), m));
        };
        for &i in &reached {
            c[i as usize] += step;
        }
        for j in 0..n {
            if in_c[j] {
                d[j] += step;
            }
        }
        tight = tight_graph(&c, &d);
        m = hopcroft_karp_from(&tight, m);
    }
    Ok(offsets(&c, &d, m))
}

fn offsets(c: &[i64], d: &[i64], transversal: Matching) -> Offsets {
    let narrow = |v: &[i64]| -> Vec<i32> { v.iter().map(|&x| x.clamp(0, i32::MAX as i64) as i32).collect() };
    let dof = d.iter().sum::<i64>() - c.iter().sum::<i64>();
    let (c, d) = (narrow(c), narrow(d));
    let algebraic = d.contains(&0) as i32;
    let index = c.iter().copied().max().unwrap_or(0).saturating_add(algebraic);
    Offsets { c, d, transversal, index, dof }
}

/// Pryce's fixed point: from `c = 0`, repeat `d_j = max_i (σ_ij + c_i)`,
/// `c_i = d_{j(i)} − σ_{i,j(i)}` over the transversal `j(·)`, until nothing changes.
///
/// Returns the smallest offsets `(c, d)`; they do not depend on which highest-value transversal is
/// given. `None` if `transversal` is not a perfect matching of the pattern or not of highest
/// value: then the iteration, which otherwise ends within `n` rounds, does not end.
pub fn canonical_offsets(s: &Signature, transversal: &Matching) -> Option<(Vec<i32>, Vec<i32>)> {
    let n = s.n_rows();
    if n != s.n_cols() {
        return None;
    }
    let mut on = Vec::with_capacity(n);
    for i in 0..n {
        let j = transversal.col_of(i);
        if j == NONE || transversal.row_of(j as usize) != i as u32 {
            return None;
        }
        on.push(s.get(i, j)? as i64);
    }
    let mut c = vec![0i64; n];
    let mut d = vec![0i64; n];
    // Longest paths, a round at a time; only rows raised in the last round can raise others.
    let mut active: Vec<u32> = (0..n as u32).collect();
    let mut queued = vec![u32::MAX; n];
    for round in 0..=n as u32 {
        let mut next = Vec::new();
        for &i in &active {
            for &(j, sigma) in s.row(i as usize) {
                let v = sigma as i64 + c[i as usize];
                if v > d[j as usize] {
                    d[j as usize] = v;
                }
                let k = transversal.row_of(j as usize) as usize;
                if d[j as usize] - on[k] > c[k] && queued[k] != round {
                    queued[k] = round;
                    next.push(k as u32);
                }
            }
        }
        if next.is_empty() {
            return Some((
                c.iter().map(|&x| x.min(i32::MAX as i64) as i32).collect(),
                d.iter().map(|&x| x.min(i32::MAX as i64) as i32).collect(),
            ));
        }
        for &k in &next {
            c[k as usize] = d[transversal.col_of(k as usize) as usize] - on[k as usize];
        }
        active = next;
    }
    None
}
