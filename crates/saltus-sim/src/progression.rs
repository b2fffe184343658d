//! Lists of index tuples as arithmetic progressions: what comes from loops of the model needs no index per element.

use std::ops::Range;

/// A stretch of a list.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece<const N: usize> {
    /// `first`, `first + step`, …: `len` tuples.
    Run { first: [u32; N], step: [u32; N], len: u32 },
    /// Tuples without a rule, by their places in the list.
    Each(Range<usize>),
}

/// Rows of a loop repeat their tuples: so many are looked at together.
const LONGEST_PERIOD: usize = 12;
/// Fewer repetitions do not pay.
const FEWEST: usize = 8;

/// Takes a list apart. Tuples that alternate (a₁, b₁, a₂, b₂, …) become one run for each unless `ordered` forbids it for
/// these runs; the order is kept otherwise.
pub fn pieces<const N: usize>(list: &[[u32; N]], ordered: impl Fn(&[Piece<N>]) -> bool) -> Vec<Piece<N>> {
    let mut out: Vec<Piece<N>> = Vec::new();
    let mut at = 0;
    while at < list.len() {
        let best = (1..=LONGEST_PERIOD)
            .map(|period| (repetitions(&list[at..], period), period))
            .filter(|(n, _)| *n >= FEWEST)
            .max_by_key(|(n, period)| (n * period, std::cmp::Reverse(*period)));
        let runs: Option<(Vec<Piece<N>>, usize)> = best.map(|(n, period)| {
            let run = |k: usize| {
                let first = list[at + k];
                let next = list[at + period + k];
                Piece::Run { first, step: std::array::from_fn(|i| next[i].wrapping_sub(first[i])), len: n as u32 }
            };
            ((0..period).map(run).collect(), n * period)
        });
        match runs {
            Some((runs, n)) if runs.len() == 1 || !ordered(&runs) => {
                out.extend(runs);
                at += n;
            }
            _ => {
                match out.last_mut() {
                    Some(Piece::Each(r)) => r.end += 1,
                    _ => out.push(Piece::Each(at..at + 1)),
                }
                at += 1;
            }
        }
    }
    out
}

/// How often the first `period` tuples are repeated with constant differences, the first time included.
fn repetitions<const N: usize>(list: &[[u32; N]], period: usize) -> usize {
    // Differences that are small: flags in high bits are the same, and nothing runs backwards.
    let small = |k: usize| (0..N).all(|i| list[period + k][i].wrapping_sub(list[k][i]) < 1 << 20);
    if list.len() < 2 * period || !(0..period).all(small) {
        return 1;
    }
    let same = |k: usize| {
        (0..N).all(|i| {
            let step = list[period + k % period][i].wrapping_sub(list[k % period][i]);
            list[k][i] == list[k - period][i].wrapping_add(step)
        })
    };
    let mut k = 2 * period;
    while k < list.len() && same(k) {
        k += 1;
    }
    k / period
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand<const N: usize>(list: &[[u32; N]], pieces: &[Piece<N>]) -> Vec<[u32; N]> {
        let mut out = Vec::new();
        for p in pieces {
            match p {
                Piece::Each(r) => out.extend_from_slice(&list[r.clone()]),
                Piece::Run { first, step, len } => {
                    out.extend((0..*len).map(|k| std::array::from_fn(|i| first[i] + k * step[i])));
                }
            }
        }
        out
    }

    #[test]
    fn stencils_become_runs() {
        let mut list: Vec<[u32; 2]> = vec![[7, 3], [1, 9]];
        list.extend((0..50).flat_map(|k| [[100 + 5 * k, 2 * k], [101 + 5 * k, 1 << 30 | k], [300 + k, 4]]));
        list.extend([[5, 5], [2, 8]]);
        let cut = pieces(&list, |_| false);
        assert!(cut.len() <= 6, "{cut:?}");
        let mut all = expand(&list, &cut);
        all.sort_unstable();
        list.sort_unstable();
        assert_eq!(all, list);
    }

    #[test]
    fn order_is_kept_where_it_counts() {
        let list: Vec<[u32; 1]> = (0..40).flat_map(|k| [[k], [1000 - k]]).chain((0..30).map(|k| [k])).collect();
        let cut = pieces(&list, |_| true);
        assert_eq!(expand(&list, &cut), list);
        assert!(matches!(cut.last(), Some(Piece::Run { len: 30, .. })), "{cut:?}");
    }
}
