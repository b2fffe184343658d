//! Strongly connected components and the block lower triangular order.

use crate::{Bipartite, Matching, NONE};

/// The strongly connected components of the digraph with arcs `u → v` for `v ∈ succ[u]`,
/// **successors first**: if `u → v`, the component of `v` is the same or comes earlier.
///
/// Read an arc as "`u` needs `v`" and the result is an order in which everything needed
/// is there already. Each component lists its nodes in ascending order.
///
/// Tarjan, *Depth-first search and linear graph algorithms*, SIAM J. Comput. 1 (1972);
/// O(V + E), with an explicit stack.
pub fn scc(succ: &[Vec<u32>]) -> Vec<Vec<u32>> {
    tarjan(succ.len(), |u| succ[u].as_slice(), |v| v)
}

/// [`scc`] of a digraph in compressed form: the arcs of `u` are `adj[start[u]..start[u + 1]]`.
pub fn scc_csr(start: &[u32], adj: &[u32]) -> Vec<Vec<u32>> {
    tarjan(start.len().saturating_sub(1), |u| adj.get(start[u] as usize..start[u + 1] as usize).unwrap_or(&[]), |v| v)
}

/// The rows of `g` in block lower triangular order.
///
/// A list of blocks (each a list of rows, ascending) that partitions the rows, such that for
/// every row `i` of block `b` and every column `j ∈ row(i)`, the row matched with `j` lies in
/// a block `≤ b`. The blocks are the strongly connected components of the digraph
/// `i → col_to_row[j]`: no finer partition has this property, whichever perfect matching is
/// taken. An unmatched row is a block of its own; an unmatched column constrains nothing.
///
/// Duff & Reid, *An implementation of Tarjan's algorithm for the block triangularization of a
/// matrix*, ACM TOMS 4 (1978).
pub fn block_order(g: &Bipartite, m: &Matching) -> Vec<Vec<u32>> {
    tarjan(g.n_rows(), |i| g.row(i), |j| m.row_of(j as usize))
}

/// Tarjan's algorithm; the arcs of `u` are `target(x)` for `x` in `list(u)`, where a target
/// out of range is no arc.
fn tarjan<'a>(n: usize, list: impl Fn(usize) -> &'a [u32], target: impl Fn(u32) -> u32) -> Vec<Vec<u32>> {
    const DONE: u32 = u32::MAX;
    // low[u] = 0: not seen; DONE: emitted; otherwise the lowest visit number seen from u.
    let mut low = vec![0u32; n];
    let mut ptr = vec![0u32; n];
    let mut path: Vec<(u32, u32)> = Vec::new(); // (node, its visit number)
    let mut open: Vec<u32> = Vec::new();
    let mut count = 0u32;
    let mut out = Vec::new();
    for root in 0..n {
        if low[root] != 0 {
            continue;
        }
        count += 1;
        low[root] = count;
        path.push((root as u32, count));
        open.push(root as u32);
        while let Some(&(u, number)) = path.last() {
            let uu = u as usize;
            let arcs = list(uu);
            let mut descend = NONE;
            while (ptr[uu] as usize) < arcs.len() {
                let v = target(arcs[ptr[uu] as usize]);
                ptr[uu] += 1;
                if v as usize >= n || low[v as usize] == DONE {
                    continue;
                }
                if low[v as usize] == 0 {
                    descend = v;
                    break;
                }
                low[uu] = low[uu].min(low[v as usize]);
            }
            if descend != NONE {
                count += 1;
                low[descend as usize] = count;
                path.push((descend, count));
                open.push(descend);
                continue;
            }
            path.pop();
            if let Some(&(p, _)) = path.last() {
                low[p as usize] = low[p as usize].min(low[uu]);
            }
            if low[uu] == number {
                let at = open.iter().rposition(|&v| v == u).unwrap_or(0);
                let mut block = open.split_off(at);
                for &v in &block {
                    low[v as usize] = DONE;
                }
                block.sort_unstable();
                out.push(block);
            }
        }
    }
    out
}
