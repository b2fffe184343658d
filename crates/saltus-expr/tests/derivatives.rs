//! Symbolic derivatives of templates against dual numbers.

use num_dual::{Dual2_64, DualNum};
use proptest::prelude::*;
use saltus_expr::{Binary, Differentiator, ExprId, NoCalls, Node, Pool, Unary, eval};

const HOLES: u32 = 3;

/// How to build a random template.
#[derive(Clone, Debug)]
enum Shape {
    Const(f64),
    Hole(u32),
    Unary(Unary, Box<Shape>),
    Binary(Binary, Box<Shape>, Box<Shape>),
}

fn shapes() -> impl Strategy<Value = Shape> {
    let leaf =
        prop_oneof![(-20i32..20).prop_map(|c| Shape::Const(f64::from(c) / 8.0)), (0..HOLES).prop_map(Shape::Hole)];
    leaf.prop_recursive(5, 24, 2, |inner| {
        let unary = prop::sample::select(vec![
            Unary::Neg,
            Unary::Sqrt,
            Unary::Exp,
            Unary::Log,
            Unary::Log10,
            Unary::Sin,
            Unary::Cos,
            Unary::Tan,
            Unary::Asin,
            Unary::Acos,
            Unary::Atan,
            Unary::Sinh,
            Unary::Cosh,
            Unary::Tanh,
        ]);
        let binary =
            prop::sample::select(vec![Binary::Add, Binary::Sub, Binary::Mul, Binary::Div, Binary::Pow, Binary::Atan2]);
        prop_oneof![
            (unary, inner.clone()).prop_map(|(op, a)| Shape::Unary(op, Box::new(a))),
            (binary, inner.clone(), inner).prop_map(|(op, a, b)| Shape::Binary(op, Box::new(a), Box::new(b))),
        ]
    })
}

fn build(pool: &mut Pool, s: &Shape) -> ExprId {
    match s {
        Shape::Const(c) => pool.num(*c),
        Shape::Hole(k) => pool.hole(*k),
        Shape::Unary(op, a) => {
            let a = build(pool, a);
            pool.un(*op, a)
        }
        Shape::Binary(op, a, b) => {
            let (a, b) = (build(pool, a), build(pool, b));
            pool.bin(*op, a, b)
        }
    }
}

/// The same over second-order dual numbers. `None`: outside the domain, or too steep to compare.
fn dual(s: &Shape, x: &[Dual2_64]) -> Option<Dual2_64> {
    let v = match s {
        Shape::Const(c) => Dual2_64::from(*c),
        Shape::Hole(k) => x[*k as usize],
        Shape::Unary(op, a) => {
            let a = dual(a, x)?;
            match op {
                Unary::Neg => -a,
                Unary::Sqrt => a.sqrt(),
                Unary::Exp => a.exp(),
                Unary::Log => a.ln(),
                Unary::Log10 => a.log10(),
                Unary::Sin => a.sin(),
                Unary::Cos => a.cos(),
                Unary::Tan => a.tan(),
                // At the edge a rounding error of the argument is a large one of the value.
                Unary::Asin | Unary::Acos if a.re.abs() > 0.99 => return None,
                Unary::Asin => a.asin(),
                Unary::Acos => a.acos(),
                Unary::Atan => a.atan(),
                Unary::Sinh => a.sinh(),
                Unary::Cosh => a.cosh(),
                Unary::Tanh => a.tanh(),
                _ => return None,
            }
        }
        Shape::Binary(op, a, b) => {
            let (a, b) = (dual(a, x)?, dual(b, x)?);
            match op {
                Binary::Add => a + b,
                Binary::Sub => a - b,
                Binary::Mul => a * b,
                Binary::Div => {
                    // Of x/x near zero the second derivative is a difference of large numbers, in the reference as well.
                    if b.re.abs() <= 2e-2 {
                        return None;
                    }
                    a / b
                }
                Binary::Pow => {
                    // The language defines powers of negative numbers for whole exponents only.
                    if a.re <= 1e-3 {
                        return None;
                    }
                    a.powd(b)
                }
                Binary::Atan2 => {
                    if b.re <= 1e-3 {
                        return None;
                    }
                    (a / b).atan()
                }
                _ => return None,
            }
        }
    };
    let tame = [v.re, v.v1, v.v2].iter().all(|c| c.is_finite() && c.abs() < 30.0);
    tame.then_some(v)
}

fn value(pool: &Pool, e: ExprId, at: &[f64]) -> f64 {
    eval(pool, e, &|k| at[k as usize], &mut NoCalls)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-10 * (1.0 + a.abs().max(b.abs()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, max_global_rejects: 1_000_000, ..ProptestConfig::default() })]

    /// d/dt and d²/dt² along x(t) with given x, ẋ, ẍ: holes 0.. are x, 3.. are ẋ, 6.. are ẍ.
    #[test]
    fn time_derivatives_agree_with_dual_numbers(
        s in shapes(),
        x in prop::array::uniform3(-2.0..2.0f64),
        dx in prop::array::uniform3(-1.0..1.0f64),
        ddx in prop::array::uniform3(-1.0..1.0f64),
    ) {
        let duals: Vec<Dual2_64> = (0..3).map(|k| Dual2_64::new(x[k], dx[k], ddx[k])).collect();
        let Some(exact) = dual(&s, &duals) else { return Err(TestCaseError::reject("outside the domain")) };
        let mut pool = Pool::new();
        let e = build(&mut pool, &s);
        let mut next = |p: &mut Pool, k: u32| Some(p.hole(k + HOLES));
        let d = Differentiator::new(&mut pool, &mut next).derivative(e);
        let dd = Differentiator::new(&mut pool, &mut next).derivative(d);
        let at: Vec<f64> = x.iter().chain(&dx).chain(&ddx).copied().collect();
        let (v0, v1, v2) = (value(&pool, e, &at), value(&pool, d, &at), value(&pool, dd, &at));
        prop_assert!(close(v0, exact.re), "value {v0} against {}", exact.re);
        prop_assert!(close(v1, exact.v1), "first {v1} against {}", exact.v1);
        prop_assert!(close(v2, exact.v2), "second {v2} against {}", exact.v2);
    }

    /// Partial derivatives likewise.
    #[test]
    fn partial_derivatives_agree_with_dual_numbers(s in shapes(), x in prop::array::uniform3(-2.0..2.0f64), k in 0..HOLES) {
        let duals: Vec<Dual2_64> =
            (0..3).map(|j| Dual2_64::new(x[j], f64::from(u8::from(j as u32 == k)), 0.0)).collect();
        let Some(exact) = dual(&s, &duals) else { return Err(TestCaseError::reject("outside the domain")) };
        let mut pool = Pool::new();
        let e = build(&mut pool, &s);
        let d = Differentiator::partial(&mut pool, e, k);
        let v = value(&pool, d, &x);
        prop_assert!(close(v, exact.v1), "{v} against {}", exact.v1);
    }

    /// `affine_in` splits exactly, and only what is affine.
    #[test]
    fn an_affine_split_gives_the_value_back(s in shapes(), x in prop::array::uniform3(-2.0..2.0f64), k in 0..HOLES) {
        let mut pool = Pool::new();
        let e = build(&mut pool, &s);
        if let Some(a) = saltus_expr::affine_in(&mut pool, e, k) {
            let whole = value(&pool, e, &x);
            let split = value(&pool, a.slope, &x) * x[k as usize] + value(&pool, a.rest, &x);
            if whole.is_finite() && split.is_finite() && whole.abs() < 1e4 {
                prop_assert!((whole - split).abs() <= 1e-9 * (1.0 + whole.abs()), "{whole} against {split}");
            }
        }
    }
}

/// A function with a derivative function is differentiated by it, and that one being linear in the derivatives it is
/// given, further differentiation is exact: here f = u², f_der(u, u') = 2 u u'.
#[test]
fn annotated_functions_are_differentiated_by_their_own_function() {
    use saltus_expr::{ArgumentRule, Calls, DerivativeRule, FuncId, affine_in};
    struct Squares;
    impl Calls for Squares {
        fn call(&mut self, func: FuncId, args: &[f64], _: u32) -> f64 {
            if func.0 == 0 { args[0] * args[0] } else { 2.0 * args[0] * args[1] }
        }
        fn call_der(&mut self, func: FuncId, args: &[f64], dargs: &[f64], _: u32) -> f64 {
            assert_eq!(func.0, 1, "only the derivative function is differentiated by the executor");
            2.0 * dargs[0] * args[1] + 2.0 * args[0] * dargs[1]
        }
    }
    let mut pool = Pool::new();
    let rule = DerivativeRule { func: FuncId(1), arguments: vec![ArgumentRule::Passed] };
    pool.set_derivative_rules(FuncId(0), vec![rule]);
    let u = pool.hole(0);
    let f = pool.call(FuncId(0), Box::new([u]), 0);
    let mut next = |p: &mut Pool, k: u32| Some(p.hole(k + 1));
    let d = Differentiator::new(&mut pool, &mut next).derivative(f);
    assert!(matches!(pool.node(d), Node::Call { func: FuncId(1), .. }));
    assert!(affine_in(&mut pool, d, 1).is_some(), "affine in the derivative");
    assert!(affine_in(&mut pool, d, 0).is_none(), "not in the value");
    let dd = Differentiator::new(&mut pool, &mut next).derivative(d);
    let at = [3.0, 5.0, 7.0];
    let v = eval(&pool, dd, &|k| at[k as usize], &mut Squares);
    assert_eq!(v, 2.0 * 5.0 * 5.0 + 2.0 * 3.0 * 7.0);
}
