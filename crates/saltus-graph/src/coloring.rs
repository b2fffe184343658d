//! Column grouping for compressed Jacobians.

use crate::{Bipartite, NONE};

/// Colours the columns such that columns sharing a row differ: `(colour of each column,
/// number of colours)`.
///
/// `j ≠ k`, `j, k ∈ row(i)` ⇒ `colour[j] ≠ colour[k]`; colours are `0 .. n_colours`. At least
/// as many colours as the longest row are needed; the greedy result is that or a little more.
/// First fit, once in natural order (exact for banded patterns) and once by falling number of
/// neighbours; the better of the two.
///
/// Curtis, Powell & Reid, *On the estimation of sparse Jacobian matrices*, J. Inst. Maths
/// Applics 13 (1974); Coleman & Moré, SIAM J. Numer. Anal. 20 (1983).
pub fn color_columns(g: &Bipartite) -> (Vec<u32>, u32) {
    let t = g.transpose();
    let longest = (0..g.n_rows()).map(|i| g.row(i).len()).max().unwrap_or(0) as u32;
    let natural: Vec<u32> = (0..g.n_cols() as u32).collect();
    let first = first_fit(g, &t, &natural);
    if first.1 <= longest.max(1) {
        return first;
    }
    let neighbours =
        |j: u32| -> usize { t.row(j as usize).iter().map(|&i| g.row(i as usize).len().saturating_sub(1)).sum() };
    let mut keyed: Vec<(usize, u32)> = natural.into_iter().map(|j| (neighbours(j), j)).collect();
    keyed.sort_by_key(|&(k, j)| (std::cmp::Reverse(k), j));
    let by_degree: Vec<u32> = keyed.into_iter().map(|(_, j)| j).collect();
    let second = first_fit(g, &t, &by_degree);
    if second.1 < first.1 { second } else { first }
}

/// The colours used so far in one row.
enum Used {
    /// Ascending list, for short rows.
    Few(Vec<u32>),
    /// Bit set and the length of its leading run of ones, for long rows.
    Many(Vec<u64>, u32),
}

impl Used {
    fn next_free(&self, from: u32) -> u32 {
        match self {
            Used::Few(v) => {
                let mut c = from;
                let at = v.partition_point(|&x| x < c);
                for &x in &v[at..] {
                    if x != c {
                        break;
                    }
                    c += 1;
                }
                c
            }
            Used::Many(bits, full) => {
                let c = from.max(*full);
                let mut w = (c / 64) as usize;
                let mut mask = !0u64 << (c % 64);
                while w < bits.len() {
                    let zeros = !bits[w] & mask;
                    if zeros != 0 {
                        return w as u32 * 64 + zeros.trailing_zeros();
                    }
                    mask = !0;
                    w += 1;
                }
                c.max(w as u32 * 64)
            }
        }
    }

    fn insert(&mut self, c: u32) {
        match self {
            Used::Few(v) => {
                let at = v.partition_point(|&x| x < c);
                v.insert(at, c);
            }
            Used::Many(bits, full) => {
                let w = (c / 64) as usize;
                if bits.len() <= w {
                    bits.resize(w + 1, 0);
                }
                bits[w] |= 1 << (c % 64);
                while bits.get((*full / 64) as usize).is_some_and(|b| b >> (*full % 64) & 1 == 1) {
                    *full += 1;
                }
            }
        }
    }
}

fn first_fit(g: &Bipartite, t: &Bipartite, order: &[u32]) -> (Vec<u32>, u32) {
    let mut used: Vec<Used> = (0..g.n_rows())
        .map(|i| {
            if g.row(i).len() <= 64 { Used::Few(Vec::with_capacity(g.row(i).len())) } else { Used::Many(Vec::new(), 0) }
        })
        .collect();
    let mut colour = vec![NONE; g.n_cols()];
    let mut n = 0;
    for &j in order {
        let rows = t.row(j as usize);
        let mut c = 0;
        loop {
            let before = c;
            for &i in rows {
                c = used[i as usize].next_free(c);
            }
            if c == before {
                break;
            }
        }
        for &i in rows {
            used[i as usize].insert(c);
        }
        colour[j as usize] = c;
        n = n.max(c + 1);
    }
    (colour, n)
}
