//! The coarse Dulmage–Mendelsohn decomposition.

use crate::{Bipartite, Matching, NONE, hopcroft_karp_from};

/// The coarse decomposition: each row and each column is in exactly one of three parts.
///
/// Which part does not depend on the maximum matching it was computed from. All lists ascend.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DmParts {
    /// Rows reachable by an alternating path from an unmatched row: too many rows,
    /// `over_rows.len() - over_cols.len()` = number of unmatched rows.
    pub over_rows: Vec<u32>,
    /// All columns of `over_rows`.
    pub over_cols: Vec<u32>,
    /// Rows matched with a column of `under_cols`: too few rows.
    pub under_rows: Vec<u32>,
    /// Columns reachable by an alternating path from an unmatched column,
    /// `under_cols.len() - under_rows.len()` = number of unmatched columns. No row outside
    /// `under_rows` has any of them.
    pub under_cols: Vec<u32>,
    /// The rest: as many rows as columns, perfectly matched among themselves.
    pub well_rows: Vec<u32>,
    /// Columns matched with `well_rows`.
    pub well_cols: Vec<u32>,
}

impl DmParts {
    /// Whether there is neither an over- nor an underdetermined part.
    pub fn is_well_determined(&self) -> bool {
        self.over_rows.is_empty() && self.under_cols.is_empty()
    }
}

/// The coarse Dulmage–Mendelsohn decomposition of `g` from a maximum matching of it.
///
/// If `m` is not maximum it is completed on a copy first.
///
/// Dulmage & Mendelsohn, *Coverings of bipartite graphs*, Canad. J. Math. 10 (1958);
/// Pothen & Fan, *Computing the block triangular form of a sparse matrix*, ACM TOMS 16 (1990).
pub fn dulmage_mendelsohn(g: &Bipartite, m: &Matching) -> DmParts {
    let m = hopcroft_karp_from(g, m.clone());
    const WELL: u8 = 0;
    const OVER: u8 = 1;
    const UNDER: u8 = 2;
    let mut row_part = vec![WELL; g.n_rows()];
    let mut col_part = vec![WELL; g.n_cols()];

    let mut stack: Vec<u32> = m.free_rows().collect();
    for &i in &stack {
        row_part[i as usize] = OVER;
    }
    while let Some(i) = stack.pop() {
        for &j in g.row(i as usize) {
            if col_part[j as usize] != WELL {
                continue;
            }
            col_part[j as usize] = OVER;
            let i2 = m.row_of(j as usize);
            if i2 != NONE && row_part[i2 as usize] == WELL {
                row_part[i2 as usize] = OVER;
                stack.push(i2);
            }
        }
    }

    stack.extend(m.free_cols());
    if !stack.is_empty() {
        let t = g.transpose();
        for &j in &stack {
            col_part[j as usize] = UNDER;
        }
        while let Some(j) = stack.pop() {
            for &i in t.row(j as usize) {
                if row_part[i as usize] != WELL {
                    continue;
                }
                row_part[i as usize] = UNDER;
                let j2 = m.col_of(i as usize);
                if j2 != NONE && col_part[j2 as usize] == WELL {
                    col_part[j2 as usize] = UNDER;
                    stack.push(j2);
                }
            }
        }
    }

    let pick = |part: &[u8], which: u8| -> Vec<u32> {
        (0..part.len()).filter(|&k| part[k] == which).map(|k| k as u32).collect()
    };
    DmParts {
        over_rows: pick(&row_part, OVER),
        over_cols: pick(&col_part, OVER),
        under_rows: pick(&row_part, UNDER),
        under_cols: pick(&col_part, UNDER),
        well_rows: pick(&row_part, WELL),
        well_cols: pick(&col_part, WELL),
    }
}
