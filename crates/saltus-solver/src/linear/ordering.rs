//! Orderings for sparse LU: block triangular form and minimum degree.

use super::Pattern;

const NONE: usize = usize::MAX;

/// Rows and columns permuted so that the matrix is block upper triangular with a zero-free diagonal:
/// entry (`rows[a]`, `cols[b]`) is in the pattern only if block(a) <= block(b).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockTriangular {
    /// `rows[k]` is the row in position k.
    pub rows: Vec<usize>,
    /// `cols[k]` is the column in position k; (`rows[k]`, `cols[k]`) is an entry.
    pub cols: Vec<usize>,
    /// Block b holds positions `blocks[b]..blocks[b + 1]`.
    pub blocks: Vec<usize>,
}

/// Maximum transversal (Duff's MC21), then strong components (Tarjan). An unmatched column is the error:
/// the matrix is structurally singular there.
pub fn block_triangular(p: &Pattern) -> Result<BlockTriangular, usize> {
    let n = p.n_cols();
    let row_of = transversal(p)?;
    let mut col_of = vec![NONE; n];
    for (j, &i) in row_of.iter().enumerate() {
        col_of[i] = j;
    }
    // Edges j -> col_of[i] for i in column j; components are finished sinks first.
    let (mut index, mut low, mut on_stack) = (vec![NONE; n], vec![0; n], vec![false; n]);
    let (mut stack, mut path, mut counter) = (Vec::new(), Vec::new(), 0);
    let mut out = BlockTriangular { rows: Vec::with_capacity(n), cols: Vec::with_capacity(n), blocks: vec![0] };
    for root in 0..n {
        if index[root] != NONE {
            continue;
        }
        path.push((root, p.col_ptr()[root]));
        while let Some(&mut (j, ref mut next)) = path.last_mut() {
            if index[j] == NONE {
                (index[j], low[j], on_stack[j]) = (counter, counter, true);
                counter += 1;
                stack.push(j);
            }
            if *next < p.col_ptr()[j + 1] {
                let k = col_of[p.row_indices()[*next]];
                *next += 1;
                if index[k] == NONE {
                    path.push((k, p.col_ptr()[k]));
                } else if on_stack[k] {
                    low[j] = low[j].min(index[k]);
                }
                continue;
            }
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                low[parent] = low[parent].min(low[j]);
            }
            if low[j] == index[j] {
                while let Some(k) = stack.pop() {
                    on_stack[k] = false;
                    out.cols.push(k);
                    out.rows.push(row_of[k]);
                    if k == j {
                        break;
                    }
                }
                out.blocks.push(out.cols.len());
            }
        }
    }
    Ok(out)
}

/// For each column a distinct row with an entry in it.
fn transversal(p: &Pattern) -> Result<Vec<usize>, usize> {
    let n = p.n_cols();
    let (mut row_of, mut col_of) = (vec![NONE; n], vec![NONE; n]);
    // Diagonal first: Jacobians of simulation models mostly have one, and it is the natural pivot.
    for j in 0..n {
        if p.find(j, j).is_some() {
            (row_of[j], col_of[j]) = (j, j);
        }
    }
    let mut cheap: Vec<usize> = p.col_ptr()[..n].to_vec();
    let mut seen = vec![NONE; n];
    let mut path: Vec<(usize, usize, usize)> = Vec::new(); // column, next entry, row by which it goes on
    for start in 0..n {
        if row_of[start] != NONE {
            continue;
        }
        path.clear();
        path.push((start, p.col_ptr()[start], NONE));
        let mut found = false;
        while let Some(&mut (j, ref mut next, ref mut via)) = path.last_mut() {
            let end = p.col_ptr()[j + 1];
            while cheap[j] < end && col_of[p.row_indices()[cheap[j]]] != NONE {
                cheap[j] += 1;
            }
            if cheap[j] < end {
                *via = p.row_indices()[cheap[j]];
                found = true;
                break;
            }
            if *next < end {
                let i = p.row_indices()[*next];
                *next += 1;
                let k = col_of[i];
                if k != j && seen[k] != start {
                    seen[k] = start;
                    *via = i;
                    path.push((k, p.col_ptr()[k], NONE));
                }
            } else {
                path.pop();
            }
        }
        if !found {
            return Err(start);
        }
        for &(j, _, i) in path.iter().rev() {
            (row_of[j], col_of[i]) = (i, j);
        }
    }
    Ok(row_of)
}

/// Degree lists: doubly linked lists of variables by approximate degree.
struct Buckets {
    head: Vec<usize>,
    next: Vec<usize>,
    prev: Vec<usize>,
    at: Vec<usize>,
    least: usize,
}

impl Buckets {
    fn new(n: usize) -> Self {
        Buckets { head: vec![NONE; n + 1], next: vec![NONE; n], prev: vec![NONE; n], at: vec![NONE; n], least: 0 }
    }
    fn insert(&mut self, i: usize, d: usize) {
        let h = self.head[d];
        (self.next[i], self.prev[i], self.at[i], self.head[d]) = (h, NONE, d, i);
        if h != NONE {
            self.prev[h] = i;
        }
        self.least = self.least.min(d);
    }
    fn remove(&mut self, i: usize) {
        let d = std::mem::replace(&mut self.at[i], NONE);
        if d == NONE {
            return;
        }
        let (p, q) = (self.prev[i], self.next[i]);
        if p == NONE {
            self.head[d] = q
        } else {
            self.next[p] = q
        }
        if q != NONE {
            self.prev[q] = p;
        }
    }
    fn pop(&mut self) -> Option<usize> {
        while self.least < self.head.len() {
            let i = self.head[self.least];
            if i != NONE {
                self.remove(i);
                return Some(i);
            }
            self.least += 1;
        }
        None
    }
}

/// Approximate minimum degree (Amestoy, Davis and Duff 1996) on a symmetric graph given by neighbour lists
/// without self-loops: quotient graph, element absorption, supervariables. Returns the elimination order.
pub fn minimum_degree(mut vars: Vec<Vec<usize>>) -> Vec<usize> {
    let n = vars.len();
    let mut elems: Vec<Vec<usize>> = vec![Vec::new(); n]; // elements next to each variable
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); n]; // variables of each element
    let mut size = vec![0usize; n]; // weight of each element
    let mut weight = vec![1usize; n]; // variables merged into this one; 0 when merged or eliminated
    let mut merged: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut is_elem = vec![false; n];
    let (mut mark, mut w, mut w_at) = (vec![NONE; n], vec![0usize; n], vec![NONE; n]);
    let mut degree: Vec<usize> = vars.iter().map(Vec::len).collect();
    let mut buckets = Buckets::new(n);
    for i in (0..n).rev() {
        buckets.insert(i, degree[i]);
    }
    let (mut order, mut left) = (Vec::with_capacity(n), n);
    let mut hashed: Vec<(usize, usize)> = Vec::new();
    while let Some(p) = buckets.pop() {
        left -= weight[p];
        let pivot_weight = std::mem::take(&mut weight[p]);
        debug_assert!(pivot_weight > 0);
        let mut lp = Vec::new();
        mark[p] = p;
        let around = std::mem::take(&mut vars[p]);
        let own_elems = std::mem::take(&mut elems[p]);
        let mut add = |v: usize, lp: &mut Vec<usize>| {
            if weight[v] > 0 && mark[v] != p {
                mark[v] = p;
                lp.push(v);
            }
        };
        around.iter().for_each(|&v| add(v, &mut lp));
        for e in own_elems {
            std::mem::take(&mut members[e]).iter().for_each(|&v| add(v, &mut lp));
            is_elem[e] = false;
        }
        is_elem[p] = true;
        let lp_size: usize = lp.iter().map(|&i| weight[i]).sum();
        // w[e] = |L_e \ L_p|
        for &i in &lp {
            for &e in &elems[i] {
                if is_elem[e] {
                    if w_at[e] != p {
                        (w_at[e], w[e]) = (p, size[e]);
                    }
                    w[e] -= weight[i];
                }
            }
        }
        hashed.clear();
        order.push(p);
        for &i in &lp {
            buckets.remove(i);
            let mut beyond = 0;
            elems[i].retain(|&e| {
                let keep = is_elem[e] && w[e] > 0;
                if keep {
                    beyond += w[e];
                } else if is_elem[e] {
                    is_elem[e] = false; // aggressive absorption: L_e lies within L_p
                    members[e] = Vec::new();
                }
                keep
            });
            vars[i].retain(|&v| weight[v] > 0 && mark[v] != p);
            beyond += vars[i].iter().map(|&v| weight[v]).sum::<usize>();
            if beyond == 0 {
                // Nothing outside L_p: eliminate together with p.
                left -= std::mem::take(&mut weight[i]);
                order.push(i);
                continue;
            }
            elems[i].push(p);
            let d = (beyond + lp_size).min(degree[i] + lp_size).min(left) - weight[i].min(left);
            degree[i] = d;
            let h = vars[i].iter().chain(&elems[i]).fold(0usize, |h, &v| h.wrapping_add(v));
            hashed.push((h, i));
        }
        hashed.sort_unstable();
        for a in 0..hashed.len() {
            let (h, i) = hashed[a];
            if weight[i] == 0 {
                continue;
            }
            for &(hb, j) in hashed[a + 1..].iter().take_while(|x| x.0 == h) {
                debug_assert_eq!(hb, h);
                if weight[j] > 0 && same_set(&vars[i], &vars[j], &mut mark) && same_set(&elems[i], &elems[j], &mut mark)
                {
                    weight[i] += std::mem::take(&mut weight[j]);
                    degree[i] = degree[i].saturating_sub(weight[j]);
                    merged[i].push(j);
                }
            }
            // `same_set` used the marks; put p's back.
            mark[i] = p;
        }
        lp.retain(|&i| weight[i] > 0);
        size[p] = lp.iter().map(|&i| weight[i]).sum();
        for &i in &lp {
            buckets.insert(i, degree[i].min(n - 1));
        }
        is_elem[p] = !lp.is_empty();
        members[p] = lp;
    }
    // Merged variables follow their representative.
    let (mut out, mut todo) = (Vec::with_capacity(n), Vec::new());
    for p in order {
        todo.push(p);
        while let Some(i) = todo.pop() {
            out.push(i);
            todo.append(&mut merged[i]);
        }
    }
    out
}

/// Whether two duplicate-free lists hold the same numbers; spoils the marks of those numbers.
fn same_set(a: &[usize], b: &[usize], mark: &mut [usize]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    const SEEN: usize = usize::MAX - 1;
    a.iter().for_each(|&v| mark[v] = SEEN);
    let same = b.iter().all(|&v| mark[v] == SEEN);
    a.iter().for_each(|&v| mark[v] = NONE);
    same
}
