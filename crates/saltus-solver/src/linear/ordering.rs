//! Orderings for sparse LU: block triangular form, minimum degree for symmetric patterns, Markowitz for others.

use super::{Pattern, Scalar};

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
    /// The least degree, after the lists were emptied from below.
    fn lowest(&mut self) -> usize {
        while self.least < self.head.len() && self.head[self.least] == NONE {
            self.least += 1;
        }
        self.least
    }
    /// The variables of degree d.
    fn list(&self, d: usize) -> impl Iterator<Item = usize> + '_ {
        let start = self.head.get(d).copied().filter(|&i| i != NONE);
        std::iter::successors(start, |&i| Some(self.next[i]).filter(|&k| k != NONE))
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

/// Entries of the triangular factors of a matrix with a symmetrized pattern after minimum degree: the sizes of the row
/// subtrees of its elimination tree (Liu 1990), without storing the factors.
pub fn fill(pattern: &Pattern) -> usize {
    let n = pattern.n_cols();
    let mut near: Vec<Vec<usize>> = vec![Vec::new(); n];
    for (i, j) in pattern.entries().filter(|(i, j)| i != j) {
        near[i].push(j);
        near[j].push(i);
    }
    near.iter_mut().for_each(|l| {
        l.sort_unstable();
        l.dedup();
    });
    let order = minimum_degree(near.clone());
    let mut position = vec![0; n];
    order.iter().enumerate().for_each(|(k, &i)| position[i] = k);
    let (mut parent, mut seen, mut count) = (vec![NONE; n], vec![NONE; n], n);
    for (k, &i) in order.iter().enumerate() {
        seen[k] = k;
        for &j in &near[i] {
            let mut at = position[j];
            while at < k && seen[at] != k {
                if parent[at] == NONE {
                    parent[at] = k;
                }
                seen[at] = k;
                count += 2;
                at = parent[at];
            }
        }
    }
    count
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

/// Lines of lowest count that [`markowitz`] looks at in search of a pivot.
const SEARCHED: usize = 8;
/// Pivots of these products go before the rest is looked at as a whole; lines without such a pivot are set aside meanwhile,
/// until they change.
const CHEAP: [usize; 2] = [4, 9];
/// A pivot of [`markowitz`] is at least this part of the largest entry of its column.
const LARGE_ENOUGH: f64 = 0.02;

/// Pivots (row, column) of a square matrix given by columns: first those with a small Markowitz product (r - 1)(c - 1), r and c
/// being the entries left in the pivot's row and column, that are not small in their column (Markowitz 1957; the search of few
/// lines after Zlatev 1980); then, the rest being symmetric about its largest entries, minimum degree. `None` if it is not, or
/// more than `budget` entries would have to be touched.
///
/// Unlike [`minimum_degree`] alone it need not keep to a diagonal that a transversal has chosen: in networks, where balances hold
/// flows only and branches hold one flow and two potentials, the flows go first and leave a symmetric pattern. It eliminates with
/// values, because in such matrices entries cancel.
pub fn markowitz<T: Scalar>(mut cols: Vec<Vec<(usize, T)>>, budget: usize) -> Option<Vec<(usize, usize)>> {
    let n = cols.len();
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); n];
    for (j, c) in cols.iter().enumerate() {
        c.iter().for_each(|e| rows[e.0].push(j));
    }
    let (mut by_row, mut by_col) = (Buckets::new(n), Buckets::new(n));
    for k in (0..n).rev() {
        by_row.insert(k, rows[k].len());
        by_col.insert(k, cols[k].len());
    }
    let (mut at, mut work) = (vec![NONE; n], 0usize);
    let (mut order, mut phase) = (Vec::with_capacity(n), 0);
    let mut entries: usize = cols.iter().map(Vec::len).sum();
    while order.len() < n {
        let left = n - order.len();
        if entries * 4 > left * left * 3 {
            break; // Dense: the order no longer matters.
        }
        let mut best = (usize::MAX, NONE, NONE);
        let cheap = CHEAP[phase];
        let mut count = by_row.lowest().min(by_col.lowest());
        while count <= left {
            // Whatever comes now costs at least this.
            let bound = count.saturating_sub(1).pow(2);
            if best.0 <= bound || bound > cheap {
                break;
            }
            let lines: Vec<usize> = by_col.list(count).take(SEARCHED).collect();
            let mut parked = 0;
            for &j in &lines {
                let column = &cols[j];
                let largest = column.iter().map(|e| e.1.mag()).fold(0.0, f64::max);
                let usable = column.iter().filter(|e| e.1.mag() > 0.0 && e.1.mag() >= LARGE_ENOUGH * largest);
                let own = usable.map(|e| ((rows[e.0].len() - 1) * (column.len() - 1), e.0, j)).min();
                best = own.map_or(best, |own| best.min(own));
                work += column.len();
                if own.is_none_or(|own| own.0 > cheap) {
                    by_col.remove(j);
                    parked += 1;
                }
            }
            let more: Vec<usize> = by_row.list(count).take(SEARCHED).collect();
            for &i in &more {
                let mut keep = false;
                for &j in &rows[i] {
                    let cost = (rows[i].len() - 1) * (cols[j].len() - 1);
                    if cost < best.0 || !keep && cost <= cheap {
                        let largest = cols[j].iter().map(|e| e.1.mag()).fold(0.0, f64::max);
                        let own = cols[j].iter().find(|e| e.0 == i).map_or(0.0, |e| e.1.mag());
                        if own > 0.0 && own >= LARGE_ENOUGH * largest {
                            best = best.min((cost, i, j));
                            keep |= cost <= cheap;
                        }
                        work += cols[j].len();
                    }
                }
                if !keep {
                    by_row.remove(i);
                    parked += 1;
                }
            }
            // Where all that was seen is set aside, others of the same count may be cheap.
            if parked < lines.len() + more.len() || parked == 0 {
                count += 1;
            }
        }
        if best.0 > cheap {
            phase += 1;
            if let Some(rest) = symmetric_rest(&cols, &order) {
                order.extend(rest);
                return Some(order);
            }
            if phase == CHEAP.len() {
                return None;
            }
            for k in 0..n {
                if by_row.at[k] == NONE && !rows[k].is_empty() {
                    by_row.insert(k, rows[k].len());
                }
                if by_col.at[k] == NONE && !cols[k].is_empty() {
                    by_col.insert(k, cols[k].len());
                }
            }
            continue;
        }
        let (_, i, j) = best;
        order.push((i, j));
        let (pivot_row, pivot_col) = (std::mem::take(&mut rows[i]), std::mem::take(&mut cols[j]));
        by_row.remove(i);
        by_col.remove(j);
        for (r, _) in pivot_col.iter().filter(|e| e.0 != i) {
            rows[*r].retain(|&k| k != j);
        }
        entries -= pivot_row.len() + pivot_col.len() - 1;
        let pivot = pivot_col.iter().find(|e| e.0 == i).map_or(T::ONE, |e| e.1);
        for &k in pivot_row.iter().filter(|&&k| k != j) {
            // Column k, less its multiple of the pivot's column.
            let column = &mut cols[k];
            let mut factor = T::ZERO;
            column.retain(|e| {
                factor = if e.0 == i { e.1 / pivot } else { factor };
                e.0 != i
            });
            column.iter().enumerate().for_each(|(p, e)| at[e.0] = p);
            work += column.len() + pivot_col.len();
            let before = column.len();
            for &(r, v) in pivot_col.iter().filter(|e| e.0 != i) {
                if at[r] == NONE {
                    column.push((r, T::ZERO - v * factor));
                    rows[r].push(k);
                } else {
                    let e = &mut column[at[r]].1;
                    let new = *e - v * factor;
                    // What cancels is no pivot.
                    *e = if new.mag() > 1e-13 * e.mag() { new } else { T::ZERO };
                }
            }
            entries += column.len() - before;
            column.iter().for_each(|e| at[e.0] = NONE);
            by_col.remove(k);
            by_col.insert(k, column.len());
        }
        for &(r, _) in pivot_col.iter().filter(|e| e.0 != i) {
            by_row.remove(r);
            by_row.insert(r, rows[r].len());
        }
        if work > budget {
            return None;
        }
    }
    let (mut row_done, mut col_done) = (vec![false; n], vec![false; n]);
    for &(i, j) in &order {
        (row_done[i], col_done[j]) = (true, true);
    }
    let rest = (0..n).filter(|&i| !row_done[i]).zip((0..n).filter(|&j| !col_done[j]));
    order.extend(rest.collect::<Vec<_>>());
    Some(order)
}

/// What [`markowitz`] has left after its cheap pivots, by minimum degree, if largest entries make a diagonal about which the
/// pattern is symmetric.
fn symmetric_rest<T: Scalar>(cols: &[Vec<(usize, T)>], done: &[(usize, usize)]) -> Option<Vec<(usize, usize)>> {
    let n = cols.len();
    let mut left = vec![true; n];
    done.iter().for_each(|&(_, j)| left[j] = false);
    let columns: Vec<usize> = (0..n).filter(|&j| left[j]).collect();
    // Largest entries pair rows with columns, those that stand out first; the rest by shortest augmenting paths.
    let (mut number, mut row_at) = (vec![NONE; n], vec![NONE; columns.len()]);
    let mut claims: Vec<(f64, usize, usize)> = Vec::with_capacity(columns.len());
    for (k, &j) in columns.iter().enumerate() {
        let largest = cols[j].iter().max_by(|a, b| a.1.mag().total_cmp(&b.1.mag()))?;
        let all: f64 = cols[j].iter().map(|e| e.1.mag()).sum();
        // A column of zeros claims nothing.
        if all > 0.0 {
            claims.push((largest.1.mag() / all, k, largest.0));
        }
    }
    claims.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    for (_, k, i) in claims {
        if number[i] == NONE {
            (number[i], row_at[k]) = (k, i);
        }
    }
    let (mut seen, mut queue) = (vec![NONE; n], Vec::new());
    for start in (0..columns.len()).filter(|&k| row_at[k] == NONE).collect::<Vec<_>>() {
        queue.clear();
        queue.push((start, NONE, NONE)); // column, place in the queue of the one before, the row that led here
        let mut at = 0;
        let end = 'search: loop {
            let &(k, _, _) = queue.get(at)?;
            for &(i, v) in &cols[columns[k]] {
                if seen[i] != start && v.mag() > 0.0 {
                    seen[i] = start;
                    if number[i] == NONE {
                        break 'search i;
                    }
                    queue.push((number[i], at, i));
                }
            }
            at += 1;
        };
        let (mut at, mut row) = (at, end);
        while at != NONE {
            let (k, before, own) = queue[at];
            (number[row], row_at[k]) = (k, row);
            (at, row) = (before, own);
        }
    }
    let (node, rows) = (number, row_at);
    let mut adj: Vec<Vec<usize>> = vec![Vec::new(); columns.len()];
    let mut entries = 0;
    for (b, &j) in columns.iter().enumerate() {
        for a in cols[j].iter().map(|e| node[e.0]).filter(|&a| a != b) {
            adj[a].push(b);
            adj[b].push(a);
            entries += 1;
        }
    }
    let edges = tidy(&mut adj);
    about_symmetric(entries, edges).then(|| minimum_degree(adj).into_iter().map(|k| (rows[k], columns[k])).collect())
}

/// Sorts neighbour lists and drops duplicates; how many neighbours are left.
pub(super) fn tidy(adj: &mut [Vec<usize>]) -> usize {
    adj.iter_mut()
        .map(|list| {
            list.sort_unstable();
            list.dedup();
            list.len()
        })
        .sum()
}

/// Whether a pattern B with so many entries beside the diagonal, B + Bᵀ having `edges`, is about symmetric: one without any
/// symmetry has half of them.
pub(super) fn about_symmetric(entries: usize, edges: usize) -> bool {
    10 * entries > 9 * edges
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
