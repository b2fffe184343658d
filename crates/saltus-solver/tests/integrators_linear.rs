//! Linear algebra under the integrators.

use proptest::prelude::*;
use saltus_solver::linear::*;

/// A sparse matrix with a hidden diagonal, so that it is structurally regular.
fn matrix(n: usize, seed: u64, density: f64) -> Csc {
    let mut s = seed | 1;
    let mut rnd = move || {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        (s >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut perm: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        perm.swap(i, (rnd() * (i + 1) as f64) as usize);
    }
    let mut e: Vec<(usize, usize)> = (0..n).map(|j| (perm[j], j)).collect();
    for _ in 0..(density * n as f64) as usize {
        e.push(((rnd() * n as f64) as usize, (rnd() * n as f64) as usize));
    }
    let mut a = Csc::zeros(Pattern::from_entries(n, n, e));
    for j in 0..n {
        for k in a.pattern.range(j) {
            let big = a.pattern.row_indices()[k] == perm[j];
            a.values[k] = (rnd() - 0.5) * if big { 8.0 } else { 1.0 } + if big { 6.0 } else { 0.0 };
        }
    }
    a
}

fn residual(a: &Csc, x: &[f64], b: &[f64]) -> f64 {
    let mut y = vec![0.0; b.len()];
    a.mul(x, &mut y);
    y.iter().zip(b).map(|(y, b)| (y - b).abs()).fold(0.0, f64::max)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]
    #[test]
    fn sparse_and_dense_agree(n in 1usize..60, seed in any::<u64>(), density in 0.0f64..6.0) {
        let mut a = matrix(n, seed, density);
        let b: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
        let mut lu = SparseLu::new(&a.pattern);
        let mut dense = LinearSolver::new(&a.pattern);
        for round in 0..4 {
            lu.refactor(&a.values).unwrap();
            dense.factor(&a.values).unwrap();
            let (mut x, mut y) = (b.clone(), b.clone());
            lu.solve(&mut x);
            dense.solve(&mut y);
            let scale = 1.0 + x.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            prop_assert!(residual(&a, &x, &b) < 1e-9 * scale);
            prop_assert!(residual(&a, &y, &b) < 1e-9 * scale);
            for (k, v) in a.values.iter_mut().enumerate() {
                *v *= 1.0 + 0.3 * ((k * 7 + round * 3) as f64).cos();
            }
        }
    }

    #[test]
    fn minimum_degree_is_a_permutation(n in 1usize..80, seed in any::<u64>(), density in 0.0f64..4.0) {
        let a = matrix(n, seed, density);
        let mut adj = vec![Vec::new(); n];
        for (i, j) in a.pattern.entries().filter(|(i, j)| i != j) {
            adj[i].push(j);
            adj[j].push(i);
        }
        adj.iter_mut().for_each(|l| { l.sort(); l.dedup() });
        let mut p = minimum_degree(adj);
        p.sort();
        prop_assert_eq!(p, (0..n).collect::<Vec<_>>());
    }

    #[test]
    fn markowitz_pairs_every_row_with_a_column(n in 1usize..80, seed in any::<u64>(), density in 0.0f64..4.0) {
        let a = matrix(n, seed, density);
        let column = |j: usize| a.pattern.range(j).map(|k| (a.pattern.row_indices()[k], a.values[k])).collect();
        let columns: Vec<Vec<(usize, f64)>> = (0..n).map(column).collect();
        let Some(pivots) = markowitz(columns, usize::MAX) else { return Ok(()) };
        let (mut rows, mut cols): (Vec<usize>, Vec<usize>) = pivots.into_iter().unzip();
        rows.sort();
        cols.sort();
        prop_assert_eq!(&rows, &(0..n).collect::<Vec<_>>());
        prop_assert_eq!(&cols, &rows);
    }
}

fn grid(m: usize) -> Csc {
    let n = m * m;
    let at = |i: usize, j: usize| i * m + j;
    let mut e = Vec::new();
    for i in 0..m {
        for j in 0..m {
            e.push((at(i, j), at(i, j)));
            if i > 0 {
                e.extend([(at(i, j), at(i - 1, j)), (at(i - 1, j), at(i, j))]);
            }
            if j > 0 {
                e.extend([(at(i, j), at(i, j - 1)), (at(i, j - 1), at(i, j))]);
            }
        }
    }
    let mut a = Csc::zeros(Pattern::from_entries(n, n, e));
    for j in 0..n {
        for k in a.pattern.range(j) {
            a.values[k] = if a.pattern.row_indices()[k] == j { 4.1 } else { -1.0 };
        }
    }
    a
}

#[test]
fn grid_fill_is_that_of_minimum_degree() {
    let a = grid(100);
    let n = 10_000;
    let mut lu = SparseLu::new(&a.pattern);
    lu.factor(&a.values).unwrap();
    // AMD gives about 2 × 240,000 on the 100×100 five-point grid.
    assert!(lu.fill() < 620_000, "fill {}", lu.fill());
    let b = vec![1.0; n];
    let mut x = b.clone();
    lu.solve(&mut x);
    assert!(residual(&a, &x, &b) < 1e-11);
    lu.refactor(&a.values).unwrap();
    assert_eq!(lu.counts(), (1, 1));

    struct Op<'a>(&'a Csc);
    impl LinearOperator for Op<'_> {
        fn apply(&mut self, x: &[f64], y: &mut [f64]) {
            self.0.mul(x, y);
        }
        fn precondition(&mut self, z: &mut [f64]) {
            z.iter_mut().for_each(|z| *z /= 4.1);
        }
    }
    let mut y = vec![0.0; n];
    let out = Gmres::new(n, 30).solve(&mut Op(&a), &b, &mut y, 1e-8, 500);
    assert!(out.converged, "{out:?}");
    let d = x.iter().zip(&y).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(d < 1e-7, "{d}");
}

/// Pipes on a grid: a balance of flows for each node, a law for each pipe that holds its flow and two pressures.
fn network(m: usize) -> Csc {
    let at = |i: usize, j: usize| i * m + j;
    let pipes: Vec<(usize, usize)> = (0..m)
        .flat_map(|i| {
            (0..m).flat_map(move |j| {
                [(j + 1 < m).then(|| (at(i, j), at(i, j + 1))), (i + 1 < m).then(|| (at(i, j), at(i + 1, j)))]
            })
        })
        .flatten()
        .collect();
    let nodes = m * m;
    let n = nodes + pipes.len();
    let mut entries = vec![(0, 0, 1.0)];
    for (k, &(a, b)) in pipes.iter().enumerate() {
        let q = nodes + k;
        entries.extend([(q, q, 1.0 + (k as f64).sin() / 2.0), (q, a, -1.0), (q, b, 1.0)]);
        entries.extend([(a, q, 1.0), (b, q, -1.0)].into_iter().filter(|e| e.0 != 0));
    }
    let mut a = Csc::zeros(Pattern::from_entries(n, n, entries.iter().map(|e| (e.0, e.1))));
    for (i, j, v) in entries {
        let k = a.pattern.find(i, j).unwrap();
        a.values[k] = v;
    }
    a
}

#[test]
fn network_fill_is_that_of_its_laplacian() {
    let a = network(60);
    let mut lu = SparseLu::new(&a.pattern);
    lu.factor(&a.values).unwrap();
    // The flows add three entries each; the Laplacian of 3,600 nodes fills to about 2 × 70,000.
    assert!(lu.fill() < 260_000, "fill {}", lu.fill());
    let b: Vec<f64> = (0..a.pattern.n_cols()).map(|k| (k as f64).cos()).collect();
    let mut x = b.clone();
    lu.solve(&mut x);
    assert!(residual(&a, &x, &b) < 1e-9);
}

#[test]
fn block_triangular_form_solves_each_block_alone() {
    // A lower bidiagonal matrix falls into n blocks of one: no fill at all.
    let n = 100;
    let p = Pattern::from_entries(n, n, (0..n).flat_map(|i| [(i, i), (i, (i + n - 1) % n)]).filter(|&(i, j)| i >= j));
    let lu = SparseLu::<f64>::new(&p);
    assert_eq!(lu.block_count(), n);
}

#[test]
fn singular_matrices_are_named() {
    let p = Pattern::from_entries(3, 3, [(0, 0), (0, 1), (1, 2), (2, 2)]);
    let err = SparseLu::new(&p).factor(&[1.0; 4]).unwrap_err();
    assert!(err.structural, "{err}");
    let p = Pattern::full(2);
    for mut s in [LinearSolver::sparse(&p), LinearSolver::new(&p)] {
        let err = s.factor(&[1.0, 2.0, 2.0, 4.0]).unwrap_err();
        assert!(!err.structural);
    }
}

#[test]
fn a_pivot_that_vanishes_is_replaced() {
    let p = Pattern::full(2);
    let mut lu = SparseLu::new(&p);
    lu.factor(&[1.0, 1.0, 1.0, -1.0]).unwrap();
    lu.refactor(&[0.0, 1.0, 1.0, 0.0]).unwrap();
    let mut b = [2.0, 3.0];
    lu.solve(&mut b);
    assert_eq!(b, [3.0, 2.0]);
    assert_eq!(lu.counts().0, 2);
}

#[test]
fn complex_systems() {
    let p = Pattern::full(2);
    let a = [C64::new(1.0, 2.0), C64::new(0.0, 1.0), C64::new(3.0, 0.0), C64::new(1.0, -1.0)];
    let x = [C64::new(1.0, 1.0), C64::new(-2.0, 0.5)];
    let b = [a[0] * x[0] + a[2] * x[1], a[1] * x[0] + a[3] * x[1]];
    for mut s in [LinearSolver::new(&p), LinearSolver::sparse(&p)] {
        s.factor(&a).unwrap();
        let mut y = b;
        s.solve(&mut y);
        for (x, y) in x.iter().zip(y) {
            assert!((*x - y).mag() < 1e-14);
        }
    }
}

/// The seven-point stencil on m × m × m nodes.
fn cube(m: usize) -> Pattern {
    let at = |i: usize, j: usize, k: usize| (i * m + j) * m + k;
    let mut entries = Vec::new();
    for i in 0..m {
        for j in 0..m {
            for k in 0..m {
                let here = at(i, j, k);
                entries.push((here, here));
                let mut next = |there: usize| entries.extend([(here, there), (there, here)]);
                if i + 1 < m {
                    next(at(i + 1, j, k));
                }
                if j + 1 < m {
                    next(at(i, j + 1, k));
                }
                if k + 1 < m {
                    next(at(i, j, k + 1));
                }
            }
        }
    }
    Pattern::from_entries(m * m * m, m * m * m, entries)
}

#[test]
fn fill_is_counted_without_factors() {
    // A chain has none, an arrow pointing the right way neither.
    let chain = Pattern::from_entries(
        50,
        50,
        (0..50).flat_map(|i| [(i, i), (i, (i + 1) % 50)].into_iter().take(if i < 49 { 2 } else { 1 })),
    );
    assert_eq!(fill(&chain), 50 + 2 * 49);
    let arrow = Pattern::from_entries(50, 50, (0..50).flat_map(|i| [(i, i), (0, i), (i, 0)]));
    assert_eq!(fill(&arrow), 50 + 2 * 49);
    // And a full matrix is full.
    assert_eq!(fill(&Pattern::full(20)), 400);
    assert!(fill(&cube(18)) > 25 * cube(18).nnz());
}

#[test]
fn krylov_in_the_place_of_factors() {
    let pattern = cube(12);
    let n = pattern.n_cols();
    let value = |(i, j): (usize, usize)| {
        if i == j {
            7.0
        } else if i < j {
            -1.2
        } else {
            -0.8
        }
    };
    let values: Vec<f64> = pattern.entries().map(value).collect();
    let exact: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
    let mut b = vec![0.0; n];
    for ((i, j), v) in pattern.entries().zip(&values) {
        b[i] += v * exact[j];
    }
    let mut solver = LinearSolver::choose(&pattern, Linear::Gmres, 1e-10);
    solver.factor(&values).unwrap();
    solver.solve(&mut b);
    let error = b.iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(error < 1e-8, "{error:e}");
    let (iterations, gave_up) = solver.krylov().unwrap();
    assert!(iterations < 40 && !gave_up, "{iterations}");
    // Complex, as Radau needs it.
    let values: Vec<C64> = values.iter().map(|&v| C64::new(v, if v > 0.0 { 3.0 } else { 0.0 })).collect();
    let exact: Vec<C64> = (0..n).map(|i| C64::new((i as f64).sin(), (i as f64).cos())).collect();
    let mut b = vec![C64::default(); n];
    for ((i, j), v) in pattern.entries().zip(&values) {
        b[i] += *v * exact[j];
    }
    let mut solver = LinearSolver::choose(&pattern, Linear::Gmres, 1e-10);
    solver.factor(&values).unwrap();
    solver.solve(&mut b);
    let error = b.iter().zip(&exact).map(|(a, b)| (*a - *b).mag()).fold(0.0, f64::max);
    assert!(error < 1e-8 && !solver.krylov().unwrap().1, "{error:e}");
}

#[test]
fn where_the_iteration_fails_the_matrix_is_factored() {
    // A rotation by one place: GMRES finds nothing until the last vector, and the diagonal is missing.
    let n = 400;
    let pattern =
        Pattern::from_entries(n, n, (0..n).flat_map(|i| [((i + 1) % n, i), (i, (i + 7) % n), (i, (i + 200) % n)]));
    let mut seed = 5u64;
    let values: Vec<f64> = (0..pattern.nnz())
        .map(|_| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 40) as f64 / (1u64 << 24) as f64 - 0.5
        })
        .collect();
    let exact: Vec<f64> = (0..n).map(|i| 1.0 + (i as f64).cos()).collect();
    let mut b = vec![0.0; n];
    for ((i, j), v) in pattern.entries().zip(&values) {
        b[i] += v * exact[j];
    }
    let mut solver = LinearSolver::choose(&pattern, Linear::Gmres, 1e-10);
    solver.factor(&values).unwrap();
    solver.solve(&mut b);
    let error = b.iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(error < 1e-6, "{error:e}");
}

#[test]
fn entries_that_grow_call_for_larger_pivots() {
    // Pivots a hundredth of their columns let entries of the factors grow to 1e8 here.
    let mut a = matrix(59, 11492875643751959536, 1.8205494429374565);
    let b: Vec<f64> = (0..59).map(|i| (i as f64).sin()).collect();
    let mut lu = SparseLu::new(&a.pattern);
    for round in 0..4 {
        lu.refactor(&a.values).unwrap();
        let mut x = b.clone();
        lu.solve(&mut x);
        assert!(residual(&a, &x, &b) < 1e-12, "{:e}", residual(&a, &x, &b));
        for (k, v) in a.values.iter_mut().enumerate() {
            *v *= 1.0 + 0.3 * ((k * 7 + round * 3) as f64).cos();
        }
    }
}

#[test]
fn markowitz_gives_up_where_columns_are_zero() {
    let mut a = grid(12);
    for j in 0..a.pattern.n_cols() {
        for k in a.pattern.range(j) {
            a.values[k] *= if j * 7 % 5 < 2 { 0.0 } else { 1.0 + (j * 37 % 11) as f64 };
        }
    }
    let column = |j: usize| a.pattern.range(j).map(|k| (a.pattern.row_indices()[k], a.values[k])).collect();
    assert_eq!(markowitz((0..a.pattern.n_cols()).map(column).collect(), usize::MAX), None);
}
