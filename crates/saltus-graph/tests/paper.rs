//! Examples small enough to be worked on paper: integers in, arrays out.

use saltus_graph::*;

fn sig(n: usize, rows: &[&[(u32, i32)]]) -> Signature {
    Signature::from_rows(n, &rows.iter().map(|r| r.to_vec()).collect::<Vec<_>>())
}

/// Checks `c`, `d`, index and degrees of freedom, that Pantelides agrees, and that Pryce's fixed
/// point over the transversal gives the same offsets.
#[track_caller]
fn check_offsets(s: &Signature, c: &[i32], d: &[i32], index: i32, dof: i64) {
    let o = sigma_method(s).expect("structurally nonsingular");
    assert_eq!((&o.c[..], &o.d[..], o.index, o.dof), (c, d, index, dof));
    assert!(o.transversal.is_perfect());
    assert_eq!(canonical_offsets(s, &o.transversal), Some((o.c.clone(), o.d.clone())));
    let p = pantelides(s).expect("structurally nonsingular");
    assert_eq!((&p.eq_differentiations[..], &p.var_differentiations[..]), (c, d));
}

/// Columns x, y, λ. Rows x″ = −λx, y″ = −λy − g, x² + y² = L².
#[test]
fn pendulum_second_order() {
    let s = sig(3, &[&[(0, 2), (2, 0)], &[(1, 2), (2, 0)], &[(0, 0), (1, 0)]]);
    check_offsets(&s, &[0, 0, 2], &[2, 2, 0], 3, 2);
}

/// Columns x, y, u, v, λ. Rows x′ = u, y′ = v, u′ = −λx, v′ = −λy − g, x² + y² = L².
#[test]
fn pendulum_first_order() {
    let s = sig(
        5,
        &[
            &[(0, 1), (2, 0)],
            &[(1, 1), (3, 0)],
            &[(2, 1), (4, 0), (0, 0)],
            &[(3, 1), (4, 0), (1, 0)],
            &[(0, 0), (1, 0)],
        ],
    );
    check_offsets(&s, &[1, 1, 0, 0, 2], &[2, 2, 1, 1, 0], 3, 2);
}

/// A pendulum (x, y, λ) whose tension sets the length of a second one (u, v, μ). The constraint of
/// the second is differentiated twice, so λ twice, so the first three rows twice more than alone.
#[test]
fn two_pendula() {
    let s = sig(
        6,
        &[
            &[(0, 2), (2, 0)],
            &[(1, 2), (2, 0)],
            &[(0, 0), (1, 0)],
            &[(3, 2), (5, 0)],
            &[(4, 2), (5, 0)],
            &[(3, 0), (4, 0), (2, 0)],
        ],
    );
    check_offsets(&s, &[2, 2, 4, 0, 0, 2], &[4, 4, 2, 2, 2, 0], 5, 4);
}

/// The same with v‴ in the fifth row and λ″ in the last: index 7, five degrees of freedom.
#[test]
fn two_pendula_modified() {
    let s = sig(
        6,
        &[
            &[(0, 2), (2, 0)],
            &[(1, 2), (2, 0)],
            &[(0, 0), (1, 0)],
            &[(3, 2), (5, 0)],
            &[(4, 3), (5, 0)],
            &[(3, 0), (4, 0), (2, 2)],
        ],
    );
    check_offsets(&s, &[4, 4, 6, 0, 0, 2], &[6, 6, 4, 2, 3, 0], 7, 5);
}

/// x′ = f(x): nothing to differentiate, and no algebraic column: index 0.
#[test]
fn explicit_ode() {
    check_offsets(&sig(1, &[&[(0, 1)]]), &[0], &[1], 0, 1);
}

/// x′ = z, 0 = g(x, z): index 1.
#[test]
fn semi_explicit_index_one() {
    check_offsets(&sig(2, &[&[(0, 1), (1, 0)], &[(0, 0), (1, 0)]]), &[0, 0], &[1, 0], 1, 1);
}

/// x₁ = u(t), x₂ = x₁′, x₃ = x₂′: a chain of differentiators, index = length.
#[test]
fn differentiator_chain() {
    let s = sig(3, &[&[(0, 0)], &[(1, 0), (0, 1)], &[(2, 0), (1, 1)]]);
    check_offsets(&s, &[2, 1, 0], &[2, 1, 0], 3, 0);
}

/// A higher derivative in a row that must be matched elsewhere: the first tight matching is not
/// the final one.
#[test]
fn slack_larger_than_one() {
    // Row 0: x only, order 0. Row 1: x‴ and y.
    check_offsets(&sig(2, &[&[(0, 0)], &[(0, 3), (1, 0)]]), &[3, 0], &[3, 0], 4, 0);
}

#[test]
fn empty_signature() {
    check_offsets(&sig(0, &[]), &[], &[], 0, 0);
}

/// Two rows over one column, and two columns nobody else needs.
#[test]
fn singular_names_the_parts() {
    let s = sig(3, &[&[(0, 1)], &[(0, 0)], &[(1, 0), (2, 1)]]);
    let e = sigma_method(&s).unwrap_err();
    assert_eq!(e.matching.size, 2);
    assert_eq!((&e.parts.over_rows[..], &e.parts.over_cols[..]), (&[0, 1][..], &[0][..]));
    assert_eq!((&e.parts.under_rows[..], &e.parts.under_cols[..]), (&[2][..], &[1, 2][..]));
    assert!(e.parts.well_rows.is_empty() && e.parts.well_cols.is_empty());
    assert_eq!(pantelides(&s).unwrap_err().parts, e.parts);
    assert_eq!(e.to_string(), "structurally singular: 2 of 3 rows and 3 columns can be matched");
}

#[test]
fn not_square_is_singular() {
    let e = sigma_method(&sig(2, &[&[(0, 0), (1, 0)]])).unwrap_err();
    assert_eq!((e.matching.size, e.parts.under_cols.len()), (1, 2));
    let e = sigma_method(&sig(0, &[&[], &[]])).unwrap_err();
    assert_eq!(e.parts.over_rows, [0, 1]);
    assert!(pantelides(&sig(0, &[&[]])).is_err());
}

/// A transversal that exists but is not of highest value: the fixed point does not end.
#[test]
fn fixed_point_refuses_a_poor_transversal() {
    let s = sig(2, &[&[(0, 1), (1, 0)], &[(0, 0), (1, 1)]]);
    assert_eq!(canonical_offsets(&s, &Matching::from_row_to_col(2, &[1, 0])), None);
    assert_eq!(canonical_offsets(&s, &Matching::empty(2, 2)), None);
    let best = Matching::from_row_to_col(2, &[0, 1]);
    assert_eq!(canonical_offsets(&s, &best), Some((vec![0, 0], vec![1, 1])));
}

#[test]
fn one_row_at_a_time() {
    let g = Bipartite::from_rows(2, &[vec![0], vec![0, 1], vec![0, 1]]);
    let mut m = Matching::default();
    let mut a = Augmenter::new();
    assert!(a.augment(&g, &mut m, 1));
    assert!(a.augment(&g, &mut m, 0), "row 1 has to move from 0 to 1");
    assert_eq!(m.row_to_col, [0, 1, NONE]);
    assert!(!a.augment(&g, &mut m, 2));
    let mut rows = a.visited_rows().to_vec();
    rows.sort();
    assert_eq!((rows, a.visited_cols()), (vec![0, 1, 2], &[0, 1][..]));
    assert!(augment(&g, &mut m, 1), "already matched");
    assert!(!augment(&g, &mut m, 99), "no such row");
}

#[test]
fn cheap_classes_first() {
    // Edges 0: (0,0) class 1, 1: (0,1) class 0, 2: (1,0) class 0, 3: (1,1) class 1.
    let g = Bipartite::from_rows(2, &[vec![0, 1], vec![0, 1]]);
    let m = weighted_matching(&g, |e| [1, 0, 0, 1][e]);
    assert_eq!(m.row_to_col, [1, 0]);
    // Cardinality still wins: row 0 and row 1 both want column 0 cheaply.
    let m = weighted_matching(&g, |e| [0, 200, 0, 255][e]);
    assert_eq!((m.size, m.row_to_col[0]), (2, 1));
}

#[test]
fn components_successors_first() {
    let succ = [vec![1], vec![2], vec![1, 3], vec![], vec![4, 0]];
    assert_eq!(scc(&succ), [vec![3], vec![1, 2], vec![0], vec![4]]);
    assert_eq!(scc_csr(&[0, 1, 1], &[1]), [vec![1], vec![0]]);
    assert!(scc(&[]).is_empty() && scc_csr(&[], &[]).is_empty());
}

#[test]
fn block_lower_triangular() {
    // Row 0 determines column 2; rows 1, 2 form a loop in columns 0, 1; row 3 ends in column 3.
    let g = Bipartite::from_rows(4, &[vec![2], vec![0, 1, 2], vec![0, 1], vec![0, 3]]);
    let m = hopcroft_karp(&g);
    assert!(m.is_perfect());
    assert_eq!(block_order(&g, &m), [vec![0], vec![1, 2], vec![3]]);
}

#[test]
fn three_parts() {
    let g = Bipartite::from_rows(5, &[vec![0], vec![0], vec![0, 1, 2], vec![1, 2, 3], vec![2, 3, 4]]);
    let parts = dulmage_mendelsohn(&g, &hopcroft_karp(&g));
    assert_eq!((&parts.over_rows[..], &parts.over_cols[..]), (&[0, 1][..], &[0][..]));
    assert_eq!(parts.under_rows, [2, 3, 4]);
    assert_eq!(parts.under_cols, [1, 2, 3, 4]);
    // From an empty matching: completed first, same answer.
    assert_eq!(dulmage_mendelsohn(&g, &Matching::default()), parts);
}

/// A loop of three: one tear breaks it.
#[test]
fn tear_a_ring() {
    let g = Bipartite::from_rows(3, &[vec![0, 1], vec![1, 2], vec![2, 0]]);
    let t = tear(&g, |_, _| 0, &[]);
    assert_eq!(t.tears, [0]);
    assert_eq!(t.order, [(0, 1), (1, 2)]);
    assert_eq!(t.residuals, [2]);
}

#[test]
fn tear_hints_and_solvability() {
    let g = Bipartite::from_rows(3, &[vec![0, 1], vec![1, 2], vec![2, 0]]);
    assert_eq!(tear(&g, |_, _| 0, &[TearHint::Avoid]).tears, [1]);
    let prefer_2 = [TearHint::Default, TearHint::Default, TearHint::Prefer];
    assert_eq!(tear(&g, |_, _| 0, &prefer_2).tears, [2]);
    // Column 1 can never be solved for: it is the tear, whatever the hint.
    let t = tear(&g, |_, j| if j == 1 { UNSOLVABLE } else { 0 }, &[TearHint::Default, TearHint::Never]);
    assert_eq!(t.tears, [1]);
    // Nothing is solvable: everything is a tear.
    let t = tear(&g, |_, _| UNSOLVABLE, &[]);
    assert_eq!((t.tears.len(), t.residuals.len(), t.order.len()), (3, 3, 0));
    // A triangular block needs no tear, unless asked for.
    let g = Bipartite::from_rows(2, &[vec![0], vec![0, 1]]);
    assert_eq!(tear(&g, |_, _| 0, &[]).order, [(0, 0), (1, 1)]);
    assert_eq!(tear(&g, |_, _| 0, &[TearHint::Always]).tears, [0]);
}

/// The arrow matrix: the column every row has is the only tear needed.
#[test]
fn tear_the_hub() {
    let n = 50u32;
    let mut rows: Vec<Vec<u32>> = (0..n - 1).map(|i| vec![i, n - 1]).collect();
    rows.push((0..n).collect());
    let t = tear(&Bipartite::from_rows(n as usize, &rows), |_, _| 1, &[]);
    assert_eq!(t.tears, [n - 1]);
    assert_eq!(t.residuals, [n - 1]);
}

/// Cheaper of two ready rows is assigned.
#[test]
fn tear_prefers_the_cheap_row() {
    let g = Bipartite::from_rows(2, &[vec![0], vec![0], vec![0, 1]]);
    let t = tear(&g, |i, _| [5, 1, 0][i as usize], &[]);
    assert_eq!(t.order, [(1, 0), (2, 1)]);
    assert_eq!(t.residuals, [0]);
}

/// CLRS fig. 26.1: maximum flow 23.
#[test]
fn textbook_flow() {
    let mut f = MaxFlow::new(6);
    for (u, v, c) in
        [(0, 1, 16), (0, 2, 13), (1, 3, 12), (2, 1, 4), (2, 4, 14), (3, 2, 9), (3, 5, 20), (4, 3, 7), (4, 5, 4)]
    {
        f.add_edge(u, v, c);
    }
    assert_eq!(f.run(0, 5), 23);
    assert_eq!(f.min_cut_side(0), [true, true, true, false, true, false]);
    assert_eq!(f.run(0, 5), 0, "nothing left to push");
    assert_eq!((f.flow(2), f.capacity(2)), (12, 12));
    assert_eq!((f.run(3, 3), f.run(0, 77), f.flow(99)), (0, 0, 0));
}

#[test]
fn odd_flow_edges_carry_nothing() {
    let mut f = MaxFlow::new(2);
    assert_eq!(f.add_edge(0, 9, 5), 0);
    assert_eq!(f.add_edge(0, 1, -5), 1);
    assert_eq!(f.add_edge(0, 0, 5), 2);
    assert_eq!(f.add_edge(0, 1, 3), 3);
    assert_eq!(f.run(0, 1), 3);
    assert_eq!(f.flow(0), 0);
}

#[test]
fn banded_colouring_is_exact() {
    let n = 40u32;
    let rows: Vec<Vec<u32>> = (0..n).map(|i| (i.saturating_sub(1)..(i + 2).min(n)).collect()).collect();
    let (colour, k) = color_columns(&Bipartite::from_rows(n as usize, &rows));
    assert_eq!(k, 3);
    assert!((0..n).all(|j| colour[j as usize] == j % 3));
    assert_eq!(color_columns(&Bipartite::default()), (vec![], 0));
    assert_eq!(color_columns(&Bipartite::new(0, 2, &[])), (vec![0, 0], 1));
}

#[test]
fn sizes_that_disagree_do_not_panic() {
    let g = Bipartite::from_rows(3, &[vec![0, 1, 2], vec![1]]);
    let big = Matching::from_row_to_col(9, &[8, 1, 5, 0, 0]);
    let small = Matching::default();
    for m in [&big, &small] {
        let full = hopcroft_karp_from(&g, m.clone());
        assert_eq!((full.size, full.row_to_col.len(), full.col_to_row.len()), (2, 2, 3));
        block_order(&g, m);
        dulmage_mendelsohn(&g, m);
        augment(&g, &mut m.clone(), 0);
    }
    tear(&g, |_, _| 0, &[TearHint::Prefer; 9]);
    let s = Signature::new(
        2,
        2,
        &[(0, 0, -1), (0, 0, 2), (0, 0, 1), (1, 1, i32::MAX), (5, 0, 0), (0, 5, 0), (1, 0, i32::MAX)],
    );
    assert_eq!((s.row(0), s.get(1, 1), s.get(0, 1)), (&[(0, 2)][..], Some(i32::MAX), None));
    let o = sigma_method(&s).unwrap();
    assert_eq!(o.c, [i32::MAX - 2, 0]);
    assert_eq!(s.tight(&o.c, &o.d).row(1), [1, 0]);
    assert_eq!(s.tight(&[], &[]).n_edges(), 0);
}
