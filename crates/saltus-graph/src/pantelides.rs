//! Pantelides' algorithm, kept close to the paper, as a cross-check of the Σ-method.

use crate::{Matching, NONE, Signature, Singular, hopcroft_karp};

/// The result of [`pantelides`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pantelides {
    /// How often row `i` was differentiated; equals `c_i` of [`crate::Offsets`].
    pub eq_differentiations: Vec<i32>,
    /// The order of the highest derivative of column `j` afterwards; equals `d_j`.
    pub var_differentiations: Vec<i32>,
    /// The most differentiated rows matched with the highest derivatives:
    /// `var_differentiations[j] − eq_differentiations[i] = σ_ij` on it.
    pub matching: Matching,
}

/// Pantelides' algorithm.
///
/// Pantelides, *The consistent initialization of differential-algebraic systems*, SIAM J. Sci.
/// Stat. Comput. 9 (1988). Nodes of the graph are the derivatives `(j, 0), (j, 1), …` of each
/// column and the differentiated copies of each row; `A` and `B` lead from a node to its
/// derivative. For each row: as long as its last copy cannot be matched to highest derivatives,
/// differentiate all rows and columns seen by the failing search. Ends because the full pattern
/// has a perfect matching, which is checked first.
pub fn pantelides(s: &Signature) -> Result<Pantelides, Singular> {
    let n = s.n_rows();
    let pattern = s.pattern();
    let full = hopcroft_karp(&pattern);
    if n != s.n_cols() || full.size < n {
        return Err(Singular::of(&pattern, full));
    }
    if n == 0 {
        return Ok(Pantelides { eq_differentiations: Vec::new(), var_differentiations: Vec::new(), matching: full });
    }

    // Column nodes: var_of/order_of, A = derivative node, assign = row node matched.
    let mut top = vec![0i32; n];
    for i in 0..n {
        for &(j, sigma) in s.row(i) {
            top[j as usize] = top[j as usize].max(sigma);
        }
    }
    let mut a: Vec<u32> = Vec::new();
    let mut node_of: Vec<Vec<u32>> = Vec::with_capacity(n);
    let mut var_of: Vec<u32> = Vec::new();
    for j in 0..n {
        let mut chain = Vec::new();
        for k in 0..=top[j] {
            chain.push(a.len() as u32);
            var_of.push(j as u32);
            a.push(if k < top[j] { a.len() as u32 + 1 } else { NONE });
        }
        node_of.push(chain);
    }
    let mut assign = vec![NONE; a.len()];

    // Row nodes: incidence as column nodes, B = derivative node.
    let mut incidence: Vec<Vec<u32>> =
        (0..n).map(|i| s.row(i).iter().map(|&(j, k)| node_of[j as usize][k as usize]).collect()).collect();
    let mut b = vec![NONE; n];
    let mut row_of: Vec<u32> = (0..n as u32).collect();
    let mut last: Vec<u32> = (0..n as u32).collect();

    let mut seen: Vec<u32> = vec![0; a.len()];
    let mut from: Vec<u32> = vec![NONE; a.len()];
    // Node matched with a row node, to walk paths backwards.
    let mut partner: Vec<u32> = vec![NONE; n];
    let mut stamp = 0u32;
    for i in 0..n {
        loop {
            stamp += 1;
            let root = last[i];
            let mut rows = vec![root];
            let mut cols: Vec<u32> = Vec::new();
            let mut end = NONE;
            let mut head = 0;
            'search: while head < rows.len() {
                let e = rows[head];
                head += 1;
                for &v in &incidence[e as usize] {
                    if a[v as usize] != NONE || seen[v as usize] == stamp {
                        continue;
                    }
                    seen[v as usize] = stamp;
                    from[v as usize] = e;
                    cols.push(v);
                    if assign[v as usize] == NONE {
                        end = v;
                        break 'search;
                    }
                    rows.push(assign[v as usize]);
                }
            }
            if end != NONE {
                while end != NONE {
                    let e = from[end as usize];
                    assign[end as usize] = e;
                    end = std::mem::replace(&mut partner[e as usize], end);
                }
                break;
            }
            for &v in &cols {
                let dv = a.len() as u32;
                a[v as usize] = dv;
                a.push(NONE);
                var_of.push(var_of[v as usize]);
                node_of[var_of[v as usize] as usize].push(dv);
                assign.push(NONE);
                seen.push(0);
                from.push(NONE);
            }
            for &e in &rows {
                let de = b.len() as u32;
                b[e as usize] = de;
                b.push(NONE);
                row_of.push(row_of[e as usize]);
                last[row_of[e as usize] as usize] = de;
                let inc = incidence[e as usize].iter().map(|&v| a[v as usize]).collect();
                incidence.push(inc);
                partner.push(NONE);
            }
            for &v in &cols {
                let (dv, de) = (a[v as usize], b[assign[v as usize] as usize]);
                assign[dv as usize] = de;
                partner[de as usize] = dv;
            }
        }
    }

    let mut eq = vec![-1i32; n];
    for &i in &row_of {
        eq[i as usize] += 1;
    }
    let row_to_col: Vec<u32> = (0..n).map(|i| var_of[partner[last[i] as usize] as usize]).collect();
    Ok(Pantelides {
        eq_differentiations: eq,
        var_differentiations: node_of.iter().map(|c| c.len() as i32 - 1).collect(),
        matching: Matching::from_row_to_col(n, &row_to_col),
    })
}
