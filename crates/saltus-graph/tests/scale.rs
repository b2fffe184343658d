//! Large graphs: no stack overflow, and near-linear time. The limits are many times what is needed
//! on an idle machine, so that only a change of complexity fails.

use std::time::{Duration, Instant};

use saltus_graph::*;

fn timed<T>(what: &str, limit_ms: u64, f: impl FnOnce() -> T) -> T {
    let t = Instant::now();
    let out = f();
    let took = t.elapsed();
    println!("{what:44} {:8.1} ms", took.as_secs_f64() * 1e3);
    let slack = if cfg!(debug_assertions) { 20 } else { 4 };
    assert!(took < Duration::from_millis(slack * limit_ms), "{what} took {took:?}");
    out
}

fn lcg(state: &mut u64) -> u32 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*state >> 33) as u32
}

/// Row i has columns i and i + 1 (cyclic): one big block.
fn ring(n: u32) -> Bipartite {
    Bipartite::from_rows(n as usize, &(0..n).map(|i| vec![(i + 1) % n, i]).collect::<Vec<_>>())
}

#[test]
fn a_million_in_a_path_and_in_a_ring() {
    let n = 1_000_000u32;
    let path = Bipartite::from_rows(
        n as usize,
        &(0..n).map(|i| if i == 0 { vec![0] } else { vec![i - 1, i] }).collect::<Vec<_>>(),
    );
    let m = timed("matching, path of 10^6", 4000, || hopcroft_karp(&path));
    assert!(m.is_perfect());
    let b = timed("block order, path of 10^6", 4000, || block_order(&path, &m));
    assert_eq!((b.len(), &b[0][..], &b[999_999][..]), (n as usize, &[0][..], &[n - 1][..]));

    let g = ring(n);
    let m = timed("matching, ring of 10^6", 4000, || hopcroft_karp(&g));
    assert!(m.is_perfect());
    let b = timed("block order, ring of 10^6", 4000, || block_order(&g, &m));
    assert_eq!(b.len(), 1);
    let t = timed("tearing, ring of 10^6", 4000, || tear(&g, |_, _| 0, &[]));
    assert_eq!((t.tears.len(), t.order.len()), (1, n as usize - 1));
    let (_, k) = timed("colouring, ring of 10^6", 4000, || color_columns(&g));
    assert!(k <= 3);
    let p = timed("Dulmage-Mendelsohn, ring of 10^6", 4000, || dulmage_mendelsohn(&g, &m));
    assert!(p.is_well_determined());
    let succ: Vec<Vec<u32>> = (0..n).map(|i| if i + 1 < n { vec![i + 1] } else { vec![] }).collect();
    assert_eq!(timed("components, path of 10^6", 4000, || scc(&succ)).len(), n as usize);
}

/// The worst order for greedy: row i takes column i first, the last row needs column 0 and
/// everyone has to move.
#[test]
fn one_augmenting_path_through_everything() {
    let n = 1_000_000u32;
    let mut rows: Vec<Vec<u32>> = (0..n - 1).map(|i| vec![i, i + 1]).collect();
    rows.push(vec![0]);
    let g = Bipartite::from_rows(n as usize, &rows);
    let mut m = Matching::empty(n as usize, n as usize);
    let mut a = Augmenter::new();
    timed("10^6 augmentations, the last one long", 4000, || {
        for i in 0..n {
            assert!(a.augment(&g, &mut m, i));
        }
    });
    assert!(m.is_perfect());
    assert!(timed("the same by Hopcroft-Karp", 4000, || hopcroft_karp(&g)).is_perfect());
}

#[test]
fn random_sparse() {
    let n = 100_000u32;
    let mut s = 42;
    let mut edges: Vec<(u32, u32)> = (0..n).map(|i| (i, n - 1 - i)).collect();
    for _ in 0..3 * n {
        edges.push((lcg(&mut s) % n, lcg(&mut s) % n));
    }
    edges.sort_unstable();
    let g = timed("building, 4 * 10^5 edges", 4000, || Bipartite::new(n as usize, n as usize, &edges));
    let m = timed("matching, random 10^5", 8000, || hopcroft_karp(&g));
    assert!(m.is_perfect());
    timed("block order, random 10^5", 4000, || block_order(&g, &m));
    timed("tearing, random 10^5", 20000, || tear(&g, |_, _| 0, &[]));
    timed("colouring, random 10^5", 8000, || color_columns(&g));
    let w = timed("weighted matching, random 10^5", 16000, || weighted_matching(&g, |e| (e % 3) as u8));
    assert!(w.is_perfect());
}

/// n states with their derivatives, n algebraic columns: nothing to differentiate.
fn trivial(n: u32) -> Signature {
    let mut rows = Vec::new();
    for i in 0..n {
        rows.push(vec![(i, 1), (n + i, 0), (n + (i + 1) % n, 0)]);
        rows.push(vec![(i, 0), (n + i, 0)]);
    }
    Signature::from_rows(2 * n as usize, &rows)
}

#[test]
fn sigma_on_trivial_structure() {
    let s = trivial(50_000);
    let o = timed("sigma, 10^5 rows of index 1", 100, || sigma_method(&s)).unwrap();
    assert_eq!((o.index, o.dof), (1, 50_000));
    let p = timed("Pantelides, the same", 4000, || pantelides(&s)).unwrap();
    assert_eq!(p.eq_differentiations, o.c);
    let s = trivial(500_000);
    timed("sigma, 10^6 rows of index 1", 9000, || sigma_method(&s)).unwrap();
}

/// Many first-order pendula in a row, each pushed by the multiplier of none: 10^5 rows of index 3.
#[test]
fn sigma_on_many_pendula() {
    let n = 20_000u32;
    let mut rows = Vec::new();
    for k in 0..n {
        let (x, y, u, v, l) = (5 * k, 5 * k + 1, 5 * k + 2, 5 * k + 3, 5 * k + 4);
        let px = if k > 0 { x - 5 } else { x };
        rows.push(vec![(x, 1), (u, 0)]);
        rows.push(vec![(y, 1), (v, 0)]);
        rows.push(vec![(u, 1), (l, 0), (x, 0), (px, 0)]);
        rows.push(vec![(v, 1), (l, 0), (y, 0)]);
        rows.push(vec![(x, 0), (y, 0), (px, 0)]);
    }
    let s = Signature::from_rows(5 * n as usize, &rows);
    let o = timed("sigma, 2 * 10^4 pendula", 2000, || sigma_method(&s)).unwrap();
    assert_eq!((o.index, o.dof), (3, 2 * n as i64));
    let p = timed("Pantelides, 2 * 10^4 pendula", 8000, || pantelides(&s)).unwrap();
    assert_eq!(p.eq_differentiations, o.c);
    assert!(timed("fixed point, 2 * 10^4 pendula", 2000, || canonical_offsets(&s, &o.transversal)).is_some());
}

/// A chain of differentiators: the index is the length, which no model has; still it must end.
#[test]
fn sigma_on_a_long_chain() {
    let n = 2000u32;
    let rows: Vec<Vec<(u32, i32)>> =
        (0..n).map(|i| if i == 0 { vec![(0, 0)] } else { vec![(i, 0), (i - 1, 1)] }).collect();
    let s = Signature::from_rows(n as usize, &rows);
    let o = timed("sigma, index 2000", 8000, || sigma_method(&s)).unwrap();
    assert_eq!((o.index, o.c[0]), (n as i32, n as i32 - 1));
}

#[test]
fn singular_is_noticed_quickly() {
    let mut rows: Vec<Vec<(u32, i32)>> = (0..100_000u32).map(|i| vec![(i, 0), (i.max(1) - 1, 1)]).collect();
    rows[99_999] = vec![(0, 0)];
    let s = Signature::from_rows(100_000, &rows);
    let e = timed("sigma, 10^5 rows, singular", 2000, || sigma_method(&s)).unwrap_err();
    assert_eq!(e.matching.size, 99_999);
}

#[test]
fn a_dense_row_and_a_dense_column() {
    let n = 200_000u32;
    let mut rows: Vec<Vec<u32>> = (0..n).map(|i| vec![i, 0]).collect();
    rows[0] = (0..n).collect();
    let g = Bipartite::from_rows(n as usize, &rows);
    let (_, k) = timed("colouring, dense row of 2 * 10^5", 4000, || color_columns(&g));
    assert_eq!(k, n);
    let t = timed("tearing, arrow of 2 * 10^5", 4000, || tear(&g, |_, _| 0, &[]));
    assert_eq!(t.tears, [0]);
    assert!(timed("matching, arrow of 2 * 10^5", 4000, || hopcroft_karp(&g)).is_perfect());
}

#[test]
fn a_long_flow() {
    let n = 200_000u32;
    let mut f = MaxFlow::new(n as usize);
    for u in 0..n - 1 {
        f.add_edge(u, u + 1, 3);
        f.add_edge(u, u + 1, 2);
    }
    assert_eq!(timed("max flow, path of 2 * 10^5", 4000, || f.run(0, n - 1)), 5);
    // Bipartite matching as a flow agrees with Hopcroft-Karp.
    let (n, mut s) = (20_000u32, 7);
    let edges: Vec<(u32, u32)> = (0..3 * n).map(|_| (lcg(&mut s) % n, lcg(&mut s) % n)).collect();
    let g = Bipartite::new(n as usize, n as usize, &edges);
    let mut f = MaxFlow::new(2 * n as usize + 2);
    for i in 0..n {
        f.add_edge(2 * n, i, 1);
        f.add_edge(n + i, 2 * n + 1, 1);
    }
    for (_, i, j) in g.edges() {
        f.add_edge(i, n + j, 1);
    }
    let value = timed("max flow, unit network", 4000, || f.run(2 * n, 2 * n + 1));
    assert_eq!(value as usize, hopcroft_karp(&g).size);
}
