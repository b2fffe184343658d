//! Enclosures contain what evaluation gives at points of the box, in every backend.

#[allow(dead_code)] // other tests use the rest
mod common;

use common::{HOLES, Host, genes, template};
use proptest::prelude::*;
use saltus_codegen::{Jit, Tiered};
use saltus_expr::{ExprId, Node, Pool, display};
use saltus_program::{Backend, Batch, Interpreter, Interval, NEGATE, Region, Rows};

/// Whether some operation of the template is undefined where the holes have these values.
fn undefined(pool: &Pool, e: ExprId, holes: &[f64]) -> bool {
    let mut parts: Vec<ExprId> = Vec::new();
    pool.visit(e, |e, _| parts.push(e));
    parts.into_iter().any(|p| {
        let v = saltus_expr::eval(pool, p, &|k| holes[k as usize], &mut saltus_expr::NoCalls);
        v.is_nan() && !matches!(pool.node(p), Node::Call { .. } | Node::CallDer { .. })
    })
}

/// What a backend says about a template whose holes lie in a box; every second one negated.
fn enclose(backend: &mut dyn Backend, pool: &Pool, e: ExprId, holes: &[Interval]) -> Interval {
    let kernel = backend.kernel(pool, e, HOLES);
    backend.finish();
    let mut words = vec![HOLES as u32];
    words.extend((0..HOLES as u32).map(|k| k | if k % 2 == 1 { NEGATE } else { 0 }));
    let mut region = Region::default();
    let values: Vec<f64> = holes.iter().map(|h| h.lo).chain([0.0]).collect();
    for (k, h) in holes.iter().enumerate().filter(|h| h.1.lo != h.1.hi) {
        region.set(k as u32, *h);
    }
    let batch = Batch { kernel, rows: Rows::new(words, HOLES + 1) };
    backend.enclose(&batch, &values, &mut region, &mut Host::default());
    region.get(HOLES as u32, &values)
}

fn side() -> impl Strategy<Value = Interval> {
    let end = prop_oneof![-10.0f64..10.0, Just(0.0), Just(-1.0), Just(1.0), -1e6f64..1e6, Just(2.0)];
    let width = prop_oneof![Just(0.0), 0.0f64..0.1, 0.0f64..5.0, 0.0f64..1e7];
    (end, width).prop_map(|(a, w)| Interval::new(a, a + w))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_templates(
        genes in genes(),
        sides in proptest::collection::vec(side(), HOLES),
        places in proptest::collection::vec(proptest::collection::vec(0.0f64..1.0, HOLES), 12),
    ) {
        let mut pool = Pool::new();
        let e = template(&mut pool, &genes, false);
        let range = enclose(&mut Interpreter::new(), &pool, e, &sides);
        let native = enclose(&mut Jit::new().expect("native code"), &pool, e, &sides);
        let tape = enclose(&mut Tiered::new(), &pool, e, &sides);
        prop_assert_eq!(range, native);
        prop_assert_eq!(range, tape);
        for (n, p) in places.iter().enumerate() {
            let at = |k: usize| match (n, p[k]) {
                (0, _) => sides[k].lo,
                (1, _) => sides[k].hi,
                (_, p) => (sides[k].lo + p * (sides[k].hi - sides[k].lo)).clamp(sides[k].lo, sides[k].hi),
            };
            let holes: Vec<f64> = (0..HOLES).map(|k| if k % 2 == 1 { -at(k) } else { at(k) }).collect();
            if undefined(&pool, e, &holes) {
                continue;
            }
            let v = saltus_expr::eval(&pool, e, &|k| holes[k as usize], &mut saltus_expr::NoCalls);
            prop_assert!(
                range.contains(v),
                "{} not in {}: {} at {:?}", v, range, display(&pool, e, &|k| format!("h{k}"), &|_| "f".into()), holes
            );
        }
    }
}

/// An enclosure that says nothing would contain everything: these are sharp.
#[test]
fn sharp_where_each_variable_occurs_once() {
    let mut pool = Pool::new();
    let (x, y, z) = (pool.hole(0), pool.hole(2), pool.hole(4));
    // x² + exp(y) z with x in [-1, 2], y in [0, 1], z in [1, 3]: [1, 4 + 3e]
    let two = pool.num(2.0);
    let square = pool.bin(saltus_expr::Binary::Pow, x, two);
    let power = pool.un(saltus_expr::Unary::Exp, y);
    let product = pool.mul(power, z);
    let sum = pool.add(square, product);
    let thin = Interval::ZERO;
    let sides = [Interval::new(-1.0, 2.0), thin, Interval::new(0.0, 1.0), thin, Interval::new(1.0, 3.0), thin];
    let range = enclose(&mut Interpreter::new(), &pool, sum, &sides);
    let end = 4.0 + 3.0 * std::f64::consts::E;
    assert!((range.lo - 1.0).abs() < 1e-12 && (range.hi - end).abs() < 1e-12, "{range}");
    // An if with a certain condition is its part, with an uncertain one the hull of both.
    let zero = pool.num(0.0);
    let c = pool.bin(saltus_expr::Binary::Lt, x, zero);
    let s = pool.select(c, y, z);
    let range = enclose(&mut Interpreter::new(), &pool, s, &sides);
    assert_eq!(range, Interval::new(0.0, 3.0));
    let right = [Interval::new(0.5, 2.0), thin, sides[2], thin, sides[4], thin];
    assert_eq!(enclose(&mut Interpreter::new(), &pool, s, &right), sides[4]);
}
