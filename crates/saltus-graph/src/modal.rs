//! Matching in all modes at once: rows and edges exist in sets of modes, and so does every pair of the matching.
//!
//! A row that is not matched in some modes looks for an augmenting path like in the ordinary algorithm; a path is good in
//! the modes in which all its edges exist and its last column is free, and is applied there. What stays unmatched tells
//! the structurally singular modes (compare B. Caillaud, M. Malandain, J. Thibault, *Implicit structural analysis of
//! multimode DAE systems*, HSCC 2020).

use crate::bdd::{Bdd, Bdds};

/// The modes in which rows and columns are left over.
#[derive(Clone, Debug)]
pub struct ModalMatching {
    /// Per row: the modes in which it exists and has no column.
    pub rows: Vec<Bdd>,
    /// Per column: the modes in which it exists and has no row.
    pub cols: Vec<Bdd>,
    /// Rows looked at; fewer than all if the bound on the number of nodes was met.
    pub examined: usize,
}

/// One row of the search: reached in `modes` by taking the column `via` away from it.
struct Visit {
    row: u32,
    modes: Bdd,
    via: u32,
    parent: usize,
}

/// Matches rows to columns in every mode. `rows[i]` and `cols[j]` are the modes in which they exist, `edges[i]` lists the
/// columns of row i with the modes of each edge. Stops when the diagrams hold more than `limit` nodes.
pub fn modal_matching(
    b: &mut Bdds,
    rows: &[Bdd],
    cols: &[Bdd],
    edges: &[Vec<(u32, Bdd)>],
    limit: usize,
) -> ModalMatching {
    let mut free: Vec<Bdd> = cols.to_vec();
    let mut owners: Vec<Vec<(u32, Bdd)>> = vec![Vec::new(); cols.len()];
    let mut left: Vec<Bdd> = vec![Bdd::FALSE; rows.len()];
    let mut examined = 0;
    for (i, &exists) in rows.iter().enumerate() {
        let mut need = exists;
        while !need.is_false() && b.size() <= limit {
            let found = augment(b, i as u32, need, edges, &mut owners, &mut free);
            if found.is_false() {
                break;
            }
            need = b.minus(need, found);
        }
        if b.size() > limit {
            break;
        }
        left[i] = need;
        examined += 1;
    }
    ModalMatching { rows: left, cols: free, examined }
}

fn give(b: &mut Bdds, owners: &mut Vec<(u32, Bdd)>, row: u32, modes: Bdd) {
    match owners.iter_mut().find(|o| o.0 == row) {
        Some(o) => o.1 = b.or(o.1, modes),
        None => owners.push((row, modes)),
    }
}

fn take(b: &mut Bdds, owners: &mut Vec<(u32, Bdd)>, row: u32, modes: Bdd) {
    if let Some(o) = owners.iter_mut().find(|o| o.0 == row) {
        o.1 = b.minus(o.1, modes);
    }
    owners.retain(|o| !o.1.is_false());
}

/// Applies one augmenting path from `row`; returns the modes in which it was applied.
fn augment(
    b: &mut Bdds,
    row: u32,
    modes: Bdd,
    edges: &[Vec<(u32, Bdd)>],
    owners: &mut [Vec<(u32, Bdd)>],
    free: &mut [Bdd],
) -> Bdd {
    let mut seen: Vec<Bdd> = vec![Bdd::FALSE; free.len()];
    let mut visits = vec![Visit { row, modes, via: u32::MAX, parent: usize::MAX }];
    let mut stack = vec![0usize];
    while let Some(n) = stack.pop() {
        let (row, modes) = (visits[n].row, visits[n].modes);
        for &(j, when) in edges.get(row as usize).map_or(&[][..], Vec::as_slice) {
            let here = b.and(modes, when);
            let here = b.minus(here, seen[j as usize]);
            if here.is_false() {
                continue;
            }
            let open = b.and(here, free[j as usize]);
            if !open.is_false() {
                free[j as usize] = b.minus(free[j as usize], open);
                let (mut at, mut col) = (n, j);
                loop {
                    give(b, &mut owners[col as usize], visits[at].row, open);
                    if visits[at].parent == usize::MAX {
                        return open;
                    }
                    let via = visits[at].via;
                    take(b, &mut owners[via as usize], visits[at].row, open);
                    (at, col) = (visits[at].parent, via);
                }
            }
            seen[j as usize] = b.or(seen[j as usize], here);
            for &(k, owned) in &owners[j as usize] {
                let both = b.and(here, owned);
                if !both.is_false() && k != row {
                    visits.push(Visit { row: k, modes: both, via: j, parent: n });
                    stack.push(visits.len() - 1);
                }
            }
        }
    }
    Bdd::FALSE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bipartite, hopcroft_karp};

    /// Every mode of random guarded systems against the ordinary algorithm.
    #[test]
    fn agrees_with_matching_mode_by_mode() {
        let mut seed = 12345u64;
        let mut random = |n: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % n
        };
        for _ in 0..200 {
            let (n, m, v) = (1 + random(6) as usize, 1 + random(6) as usize, 1 + random(4) as u32);
            let mut b = Bdds::default();
            let literal = |b: &mut Bdds, r: u64| match r % 3 {
                0 => Bdd::TRUE,
                1 => b.var((r / 3) as u32 % v),
                _ => {
                    let x = b.var((r / 3) as u32 % v);
                    b.not(x)
                }
            };
            let mut edges: Vec<Vec<(u32, Bdd)>> = Vec::new();
            let mut rows = Vec::new();
            for _ in 0..n {
                let r = random(30);
                rows.push(literal(&mut b, r));
                let mut list = Vec::new();
                for j in 0..m as u32 {
                    if random(3) == 0 {
                        let r = random(30);
                        let when = literal(&mut b, r);
                        list.push((j, b.and(when, rows[rows.len() - 1])));
                    }
                }
                edges.push(list);
            }
            let cols: Vec<Bdd> = (0..m as u32)
                .map(|j| {
                    let mut f = Bdd::FALSE;
                    for (_, e) in edges.iter().flatten().filter(|e| e.0 == j) {
                        f = b.or(f, *e);
                    }
                    f
                })
                .collect();
            let all = modal_matching(&mut b, &rows, &cols, &edges, usize::MAX);
            assert_eq!(all.examined, n);
            for mode in 0..1u32 << v {
                let value = |x: u32| mode >> x & 1 == 1;
                let lists: Vec<Vec<u32>> =
                    edges.iter().map(|l| l.iter().filter(|e| b.eval(e.1, value)).map(|e| e.0).collect()).collect();
                let size = hopcroft_karp(&Bipartite::from_rows(m, &lists)).size;
                let matched = (0..n).filter(|&i| b.eval(rows[i], value) && !b.eval(all.rows[i], value)).count();
                let used = (0..m).filter(|&j| b.eval(cols[j], value) && !b.eval(all.cols[j], value)).count();
                assert_eq!((matched, used), (size, size));
            }
        }
    }
}
