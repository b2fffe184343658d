//! Native functions give the bits of the executor.

use proptest::prelude::*;
use saltus_base::Span;
use saltus_codegen::{Called, NativeFunctions, PRELUDE_C, called, functions_c, literal_c};
use saltus_expr::{Binary, FuncId, Unary};
use saltus_function::*;
use saltus_program::{Functions, Passage, Seconds};

fn local(name: &str, ty: ScalarType, dims: Vec<Dim>) -> Local {
    Local { name: name.into(), ty, dims, binding: None }
}
fn real(name: &str) -> Local {
    local(name, ScalarType::Real, vec![])
}
fn int(name: &str) -> Local {
    local(name, ScalarType::Integer, vec![])
}
fn array(name: &str, dims: &[usize]) -> Local {
    local(name, ScalarType::Real, dims.iter().map(|n| Dim::Fixed(*n)).collect())
}
fn function(locals: Vec<Local>, inputs: &[u32], outputs: &[u32], body: Vec<FStmtKind>) -> Function {
    Function {
        name: "f".into(),
        locals,
        inputs: inputs.iter().map(|i| LocalId(*i)).collect(),
        outputs: outputs.iter().map(|i| LocalId(*i)).collect(),
        body: stmts(body),
        external: None,
        derivative: None,
        impure: false,
        span: Span::NONE,
    }
}
fn stmts(v: Vec<FStmtKind>) -> Vec<FStmt> {
    v.into_iter().map(|kind| FStmt { kind, span: Span::NONE }).collect()
}
fn n(v: f64) -> FExpr {
    FExpr::Num(v)
}
fn l(k: u32) -> FExpr {
    FExpr::Local(LocalId(k))
}
fn un(op: Unary, a: FExpr) -> FExpr {
    FExpr::Unary(op, Box::new(a))
}
fn bin(op: Binary, a: FExpr, b: FExpr) -> FExpr {
    FExpr::Binary(op, Box::new(a), Box::new(b))
}
fn at(a: FExpr, ix: Vec<FExpr>) -> FExpr {
    FExpr::Index(Box::new(a), ix.into_iter().map(FIndex::At).collect())
}
fn range(a: FExpr, b: FExpr) -> FExpr {
    FExpr::Range(Box::new(a), None, Box::new(b))
}
fn set(k: u32, e: FExpr) -> FStmtKind {
    FStmtKind::Assign(LValue { local: LocalId(k), indices: vec![] }, e)
}
fn set_at(k: u32, ix: Vec<FIndex>, e: FExpr) -> FStmtKind {
    FStmtKind::Assign(LValue { local: LocalId(k), indices: ix }, e)
}
fn builtin(b: Builtin, args: Vec<FExpr>) -> FExpr {
    FExpr::Builtin(b, args)
}

/// Calls a function natively and by the executor, with a derivative along `dargs`, and compares the bits.
fn check(all: &[Function], f: u32, args: &[f64], dargs: &[f64]) -> Vec<f64> {
    let f = FuncId(f);
    let mut native = NativeFunctions::with_threshold(all, 0);
    let mut executor = Executor::new(all);
    let bits = |v: &[f64]| v.iter().map(|x| if x.is_nan() { 1 } else { x.to_bits() }).collect::<Vec<_>>();
    let (mut out, mut dout) = (Vec::new(), Vec::new());
    let want = executor.call_vec(f, args);
    let got = native.call(f, args, &mut out);
    match (&want, got) {
        (Ok(want), Ok(())) => assert_eq!(bits(want), bits(&out), "{want:?} {out:?}"),
        (Err(a), Err(b)) => assert_eq!(*a, b),
        (a, b) => panic!("{a:?} {b:?}"),
    }
    let (mut wv, mut wd) = (Vec::new(), Vec::new());
    let want_d = executor.call_dual(f, args, dargs, &mut wv, &mut wd);
    let got_d = native.call_dual(f, args, dargs, &mut out, &mut dout);
    match (want_d, got_d) {
        (Ok(()), Ok(())) => {
            assert_eq!(bits(&wv), bits(&out), "{wv:?} {out:?}");
            // The sign of a zero derivative is left open.
            let zero = |v: &[f64]| v.iter().map(|x| if *x == 0.0 { 0.0 } else { *x }).collect::<Vec<_>>();
            assert_eq!(bits(&zero(&wd)), bits(&zero(&dout)), "{wd:?} {dout:?}");
        }
        (Err(a), Err(b)) => assert_eq!(a, b),
        (a, b) => panic!("{a:?} {b:?}"),
    }
    want.unwrap_or_default()
}

/// The same, and it must have become machine code.
fn native(all: &[Function], f: u32, args: &[f64], dargs: &[f64]) -> Vec<f64> {
    let r = check(all, f, args, dargs);
    let mut x = NativeFunctions::with_threshold(all, 0);
    let mut out = Vec::new();
    x.call(FuncId(f), args, &mut out).unwrap();
    x.call_dual(FuncId(f), args, dargs, &mut out, &mut Vec::new()).unwrap();
    assert!(x.is_native(FuncId(f), false), "not compiled");
    assert!(x.is_native(FuncId(f), true), "not compiled with derivatives");
    r
}

#[test]
fn loops_over_arrays_of_any_size() {
    // w has as many elements as n says: w[i] := i*a; y := sum(w) + size(w, 1); z := w[end]
    let mut w = local("w", ScalarType::Real, vec![Dim::Computed(l(1))]);
    w.binding = None;
    let body = vec![
        FStmtKind::For(
            LocalId(4),
            range(n(1.0), l(1)),
            stmts(vec![set_at(3, vec![FIndex::At(l(4))], bin(Binary::Mul, l(4), l(0)))]),
        ),
        set(2, bin(Binary::Add, builtin(Builtin::Sum, vec![l(3)]), builtin(Builtin::Size, vec![l(3), n(1.0)]))),
        set(5, at(l(3), vec![l(1)])),
    ];
    let f = function(vec![real("a"), int("n"), real("y"), w, int("i"), real("z")], &[0, 1], &[2, 5], body);
    assert_eq!(native(std::slice::from_ref(&f), 0, &[0.5, 4.0], &[1.0, 0.0]), [9.0, 2.0]);
    assert_eq!(native(std::slice::from_ref(&f), 0, &[0.5, 100_000.0], &[1.0, 0.0])[1], 50_000.0);
    // A subscript of an empty array: the executor says what is wrong.
    check(&[f], 0, &[0.5, 0.0], &[1.0, 0.0]);
}

#[test]
fn arrays_that_grow() {
    // w := {a}; for i in 1:n loop w := cat(1, w, {w[i]*2}); end for; y := sum(w)
    let w = local("w", ScalarType::Real, vec![Dim::Free]);
    let body = vec![
        set(3, FExpr::Array(vec![l(0)])),
        FStmtKind::For(
            LocalId(4),
            range(n(1.0), l(1)),
            stmts(vec![set(
                3,
                builtin(
                    Builtin::Cat,
                    vec![n(1.0), l(3), FExpr::Array(vec![bin(Binary::Mul, at(l(3), vec![l(4)]), n(1.001))])],
                ),
            )]),
        ),
        set(2, builtin(Builtin::Sum, vec![l(3)])),
    ];
    let f = function(vec![real("a"), int("n"), real("y"), w, int("i")], &[0, 1], &[2], body);
    native(std::slice::from_ref(&f), 0, &[0.5, 3.0], &[1.0, 0.0]);
    // More than the arena holds at first.
    native(&[f], 0, &[0.5, 400.0], &[1.0, 0.0]);
}

#[test]
fn recursion_and_endless_recursion() {
    let fib = |base: f64| {
        let call = |d: f64| FExpr::Call(FuncId(0), vec![bin(Binary::Sub, l(0), n(d))], 0);
        function(
            vec![real("n"), real("y")],
            &[0],
            &[1],
            vec![FStmtKind::If(
                vec![(bin(Binary::Le, l(0), n(base)), stmts(vec![set(1, l(0))]))],
                stmts(vec![set(1, bin(Binary::Add, call(1.0), call(2.0)))]),
            )],
        )
    };
    assert_eq!(native(&[fib(1.0)], 0, &[20.0], &[1.0]), [6765.0]);
    check(&[fib(f64::NEG_INFINITY)], 0, &[20.0], &[1.0]);
}

#[test]
fn assertions_name_their_place() {
    let mut f = function(
        vec![real("x"), real("y")],
        &[0],
        &[1],
        vec![
            FStmtKind::Assert(
                bin(Binary::Gt, l(0), n(0.0)),
                builtin(Builtin::Concat, vec![FExpr::Str("x is ".into()), builtin(Builtin::ToString, vec![l(0)])]),
                false,
            ),
            set(1, un(Unary::Sqrt, l(0))),
        ],
    );
    f.name = "root".into();
    assert_eq!(native(std::slice::from_ref(&f), 0, &[4.0], &[1.0]), [2.0]);
    check(std::slice::from_ref(&f), 0, &[-4.0], &[1.0]);
    let e = NativeFunctions::with_threshold(&[f], 0).call(FuncId(0), &[-4.0], &mut Vec::new()).unwrap_err();
    assert_eq!((e.kind, e.message.as_str(), e.trace), (ErrorKind::Assert, "x is -4", vec!["root".to_string()]));
}

#[test]
fn text_is_compared() {
    let inner = function(
        vec![real("x"), array("v", &[2]), array("w", &[2])],
        &[0, 1],
        &[2],
        vec![set(
            2,
            FExpr::If(
                Box::new(bin(
                    Binary::Eq,
                    builtin(
                        Builtin::CompareStrings,
                        vec![builtin(Builtin::ToString, vec![l(0)]), FExpr::Str("2".into())],
                    ),
                    n(0.0),
                )),
                Box::new(l(1)),
                Box::new(bin(Binary::Mul, l(1), l(0))),
            ),
        )],
    );
    let outer = function(
        vec![real("x"), real("y"), array("v", &[2])],
        &[0],
        &[1],
        vec![
            set(2, FExpr::Call(FuncId(0), vec![l(0), FExpr::Array(vec![l(0), n(3.0)])], 0)),
            set(1, bin(Binary::Add, at(l(2), vec![n(1.0)]), at(l(2), vec![n(2.0)]))),
        ],
    );
    let all = [inner, outer];
    native(&all, 0, &[2.0, 1.0, 1.0], &[1.0, 0.0, 0.0]);
    assert_eq!(native(&all, 1, &[2.0], &[1.0]), [5.0]);
    assert_eq!(native(&all, 1, &[3.0], &[1.0]), [18.0]);
}

/// s := String(x, 8) + "|" + String(x, "%.3f") + "|" + names[i], and how it compares; results of the executor's bits mean the
/// same texts.
#[test]
fn text_is_built() {
    let name = |s: &str| FExpr::Str(s.into());
    let text = |args: Vec<FExpr>| builtin(Builtin::ToString, args);
    let join = |a: FExpr, b: FExpr| builtin(Builtin::Concat, vec![a, b]);
    let f = function(
        vec![real("x"), int("i"), local("s", ScalarType::String, vec![]), local("c", ScalarType::Boolean, vec![])],
        &[0, 1],
        &[2, 3],
        vec![
            set(2, join(text(vec![l(0), n(8.0)]), name("|"))),
            set(2, join(l(2), text(vec![l(0), name("%.3f")]))),
            set(2, join(l(2), join(name("|"), builtin(Builtin::EnumToString, vec![l(1), name("one"), name("two")])))),
            set(3, bin(Binary::Lt, l(2), name("2"))),
        ],
    );
    let all = [f];
    for (x, i, expected, less) in [(1.5, 1.0, "1.5     |1.500|one", 1.0), (2.25, 2.0, "2.25    |2.250|two", 0.0)] {
        let y = native(&all, 0, &[x, i], &[0.0, 0.0]);
        assert_eq!((&*strings::text(y[0]), y[1]), (expected, less));
    }
    // There is no third name.
    check(&all, 0, &[1.0, 3.0], &[0.0, 0.0]);
}

/// Sums and lists of arrays over iterators.
#[test]
fn arrays_over_iterators() {
    let it = |k: u32, from: FExpr, to: FExpr| (LocalId(k), range(from, to));
    let row = |scale: FExpr| FExpr::Array(vec![bin(Binary::Mul, scale, l(0)), l(2), bin(Binary::Add, l(2), l(0))]);
    let f = function(
        vec![
            real("x"),
            int("n"),
            int("i"),
            int("j"),
            array("s", &[3]),
            local("m", ScalarType::Real, vec![Dim::Computed(l(1)), Dim::Fixed(3)]),
            local("big", ScalarType::Real, vec![Dim::Computed(l(1))]),
        ],
        &[0, 1],
        &[4, 5, 6],
        vec![
            set(
                4,
                FExpr::Reduction(Builtin::Sum, Box::new(row(l(3))), vec![it(2, n(1.0), l(1)), it(3, n(1.0), n(2.0))]),
            ),
            set(5, FExpr::Comprehension(Box::new(row(n(2.0))), vec![it(2, n(1.0), l(1))])),
            set(
                6,
                FExpr::Reduction(
                    Builtin::Sum,
                    Box::new(builtin(Builtin::Fill, vec![bin(Binary::Mul, l(2), l(0)), l(1)])),
                    vec![it(2, n(1.0), l(1))],
                ),
            ),
        ],
    );
    let all = [f];
    let y = native(&all, 0, &[0.5, 6.0], &[1.0, 0.0]);
    // Σ_j Σ_i (j/2, i, i + 1/2) for j = 1, 2 and i = 1 … 6.
    assert_eq!(y[..3], [9.0, 42.0, 48.0]);
    assert_eq!(y[3 + 3 * 5..][..3], [1.0, 6.0, 6.5]);
    assert_eq!(y[21..], [10.5; 6]);
    check(&all, 0, &[0.5, 0.0], &[1.0, 0.0]);
}

#[test]
fn rare_branches_may_do_what_native_code_cannot() {
    // if x > 2 then fail("x is " + String(x)); and an impure function in another branch: the rest is native.
    let mut fail = function(
        vec![local("text", ScalarType::String, vec![]), real("y")],
        &[0],
        &[1],
        vec![FStmtKind::Assert(n(0.0), l(0), false)],
    );
    fail.name = "fail".into();
    let mut impure = function(vec![real("x"), real("y")], &[0], &[1], vec![set(1, bin(Binary::Mul, l(0), n(10.0)))]);
    impure.impure = true;
    let text = builtin(Builtin::Concat, vec![FExpr::Str("x is ".into()), builtin(Builtin::ToString, vec![l(0)])]);
    let outer = function(
        vec![real("x"), real("y")],
        &[0],
        &[1],
        vec![
            FStmtKind::If(
                vec![(bin(Binary::Gt, l(0), n(2.0)), stmts(vec![set(1, FExpr::Call(FuncId(0), vec![text], 0))]))],
                vec![],
            ),
            FStmtKind::If(
                vec![(bin(Binary::Lt, l(0), n(0.0)), stmts(vec![set(1, FExpr::Call(FuncId(1), vec![l(0)], 0))]))],
                stmts(vec![set(1, un(Unary::Sqrt, l(0)))]),
            ),
        ],
    );
    let all = [fail, impure, outer];
    assert_eq!(native(&all, 2, &[1.0], &[1.0]), [1.0]);
    assert_eq!(check(&all, 2, &[-1.0], &[1.0]), [-10.0]);
    check(&all, 2, &[3.0], &[1.0]);
    let e = NativeFunctions::with_threshold(&all, 0).call(FuncId(2), &[3.0], &mut Vec::new()).unwrap_err();
    assert_eq!(e.message, "x is 3");
}

#[test]
fn annotated_derivatives_are_used() {
    let square = function(vec![real("x"), real("y")], &[0], &[1], vec![set(1, bin(Binary::Mul, l(0), l(0)))]);
    // Wrong on purpose, so that it shows.
    let slope = function(
        vec![real("x"), real("dx"), real("dy")],
        &[0, 1],
        &[2],
        vec![set(2, bin(Binary::Mul, n(100.0), l(1)))],
    );
    let caller = function(vec![real("x"), real("y")], &[0], &[1], vec![set(1, FExpr::Call(FuncId(0), vec![l(0)], 0))]);
    let mut all = [square, slope, caller];
    all[0].derivative = Some(FuncId(1));
    let mut x = NativeFunctions::with_threshold(&all, 0);
    let (mut v, mut d) = (Vec::new(), Vec::new());
    for f in [0, 2] {
        x.call_dual(FuncId(f), &[3.0], &[2.0], &mut v, &mut d).unwrap();
        assert_eq!((&v[..], &d[..]), (&[9.0][..], &[200.0][..]));
        check(&all, f, &[3.0], &[2.0]);
        check(&all, f, &[3.0], &[0.0]);
    }
}

#[test]
fn results_of_one_call_are_computed_once() {
    let looping =
        FStmtKind::For(LocalId(4), range(n(1.0), n(100.0)), stmts(vec![set(1, bin(Binary::Add, l(1), l(0)))]));
    let mut all = vec![function(
        vec![real("u"), real("a"), real("b"), real("c"), int("i")],
        &[0],
        &[1, 2, 3],
        vec![set(1, n(0.0)), looping, set(2, l(0)), set(3, n(1.0))],
    )];
    for k in 0..30 {
        let below = |out| FExpr::Call(FuncId(k), vec![l(0)], out);
        // Under a condition nothing is shared while compiling: the last call is kept while running.
        let third = FStmtKind::If(
            vec![(bin(Binary::Gt, l(0), n(0.0)), stmts(vec![set(3, bin(Binary::Add, below(2), n(1.0)))]))],
            vec![],
        );
        all.push(function(
            vec![real("u"), real("a"), real("b"), real("c")],
            &[0],
            &[1, 2, 3],
            vec![set(1, below(0)), set(2, below(1)), third],
        ));
    }
    assert_eq!(native(&all, 30, &[2.0], &[1.0]), [200.0, 2.0, 31.0]);
    assert_eq!(native(&all, 30, &[3.0], &[1.0]), [300.0, 3.0, 31.0]);
}

#[test]
fn cold_functions_become_native() {
    let f = function(
        vec![real("a"), int("n"), real("y"), int("i")],
        &[0, 1],
        &[2],
        vec![FStmtKind::For(
            LocalId(3),
            range(n(1.0), l(1)),
            stmts(vec![set(2, bin(Binary::Add, l(2), bin(Binary::Div, l(0), l(3))))]),
        )],
    );
    let all = [f];
    let mut x = NativeFunctions::new(&all);
    let mut out = Vec::new();
    x.call(FuncId(0), &[1.0, 10.0], &mut out).unwrap();
    assert!(!x.is_native(FuncId(0), false), "a short call pays for no compilation");
    // One long loop is enough.
    x.call(FuncId(0), &[1.0, 1e6], &mut out).unwrap();
    assert!(x.is_native(FuncId(0), false));
    assert_eq!(out, call_f64(&all, FuncId(0), &[1.0, 1e6]).unwrap());
}

// ---- random functions

/// Locals: 0, 1, 2 inputs a, b, c; 3 input x[3]; 4 u, 5 v, 6 i; 7 p[3], 8 m[3,3], 9 w[:]; outputs 5, 7, 8.
const I: u32 = 6;

fn scalar(depth: u32) -> BoxedStrategy<FExpr> {
    let leaf = prop_oneof![
        (0u32..3).prop_map(l),
        (4u32..6).prop_map(l),
        prop_oneof![Just(0.0), Just(1.0), Just(2.0), Just(-0.5), Just(3.0)].prop_map(n),
        Just(l(I)),
        (1..=3i32).prop_map(|k| at(l(7), vec![n(k.into())])),
    ];
    if depth == 0 {
        return leaf.boxed();
    }
    let s = move || scalar(depth - 1);
    prop_oneof![
        2 => leaf,
        4 => (
            prop_oneof![
                Just(Binary::Add), Just(Binary::Sub), Just(Binary::Mul), Just(Binary::Div), Just(Binary::Min),
                Just(Binary::Max), Just(Binary::Pow), Just(Binary::Atan2)
            ],
            s(), s()
        ).prop_map(|(op, a, b)| bin(op, a, b)),
        3 => (
            prop_oneof![
                Just(Unary::Sin), Just(Unary::Neg), Just(Unary::Tanh), Just(Unary::Atan), Just(Unary::Exp),
                Just(Unary::Sqrt), Just(Unary::Abs), Just(Unary::Log), Just(Unary::Floor), Just(Unary::Sign)
            ],
            s()
        ).prop_map(|(op, a)| un(op, a)),
        1 => (condition(depth - 1), s(), s()).prop_map(|(c, a, b)| FExpr::If(Box::new(c), Box::new(a), Box::new(b))),
        1 => prop_oneof![Just(Builtin::Sum), Just(Builtin::Product), Just(Builtin::MinOf), Just(Builtin::MaxOf)]
            .prop_flat_map(move |b| vector(depth - 1).prop_map(move |v| builtin(b, vec![v]))),
        1 => (vector(depth - 1), vector(depth - 1)).prop_map(|(a, b)| builtin(Builtin::MatMul, vec![a, b])),
        1 => (prop_oneof![Just(Builtin::Mod), Just(Builtin::Rem), Just(Builtin::Div)], s())
            .prop_map(|(b, a)| builtin(b, vec![a, n(3.0)])),
        1 => (s(), s()).prop_map(|(a, b)| FExpr::Call(FuncId(1), vec![a, b, l(3)], 0)),
        1 => s().prop_map(|b| FExpr::Reduction(Builtin::Sum, Box::new(bin(Binary::Mul, b, l(I))), vec![(LocalId(I), range(n(1.0), n(7.0)))])),
    ]
    .boxed()
}

fn condition(depth: u32) -> BoxedStrategy<FExpr> {
    let relation = (prop_oneof![Just(Binary::Lt), Just(Binary::Ge), Just(Binary::Eq)], scalar(depth), scalar(depth))
        .prop_map(|(op, a, b)| bin(op, a, b));
    prop_oneof![
        3 => relation.clone(),
        1 => (prop_oneof![Just(Binary::And), Just(Binary::Or)], relation.clone(), relation)
            .prop_map(|(op, a, b)| bin(op, a, b)),
    ]
    .boxed()
}

/// A vector of three.
fn vector(depth: u32) -> BoxedStrategy<FExpr> {
    let leaf = prop_oneof![
        Just(l(3)),
        Just(l(7)),
        (1..=3i32).prop_map(|k| FExpr::Index(Box::new(l(8)), vec![FIndex::At(n(k.into()))]))
    ];
    if depth == 0 {
        return leaf.boxed();
    }
    let v = move || vector(depth - 1);
    let s = move || scalar(depth - 1);
    prop_oneof![
        2 => leaf,
        2 => (prop_oneof![Just(Binary::Add), Just(Binary::Sub), Just(Binary::Mul)], v(), v())
            .prop_map(|(op, a, b)| bin(op, a, b)),
        1 => (s(), v()).prop_map(|(a, b)| builtin(Builtin::MatMul, vec![a, b])),
        1 => (matrix(depth - 1), v()).prop_map(|(a, b)| builtin(Builtin::MatMul, vec![a, b])),
        1 => (v(), v()).prop_map(|(a, b)| builtin(Builtin::Cross, vec![a, b])),
        1 => (s(), s(), s()).prop_map(|(a, b, c)| FExpr::Array(vec![a, b, c])),
        1 => v().prop_map(|a| FExpr::Index(Box::new(a), vec![FIndex::At(FExpr::Array(vec![n(3.0), n(1.0), n(2.0)]))])),
        1 => s().prop_map(|b| FExpr::Comprehension(Box::new(bin(Binary::Sub, b, l(I))), vec![(LocalId(I), range(n(1.0), n(3.0)))])),
        1 => (s(), v()).prop_map(|(a, b)| builtin(Builtin::Cat, vec![
            n(1.0), FExpr::Array(vec![a]), FExpr::Index(Box::new(b), vec![FIndex::At(range(n(2.0), n(3.0)))])])),
        1 => (s(), s()).prop_map(|(a, b)| builtin(Builtin::Linspace, vec![a, b, n(3.0)])),
        1 => (condition(depth - 1), v(), v())
            .prop_map(|(c, a, b)| FExpr::If(Box::new(c), Box::new(a), Box::new(b))),
        1 => (s(), s()).prop_map(|(a, b)| FExpr::Call(FuncId(1), vec![a, b, l(3)], 1)),
    ]
    .boxed()
}

fn matrix(depth: u32) -> BoxedStrategy<FExpr> {
    if depth == 0 {
        return Just(l(8)).boxed();
    }
    let m = move || matrix(depth - 1);
    prop_oneof![
        2 => Just(l(8)),
        1 => m().prop_map(|a| builtin(Builtin::Transpose, vec![a])),
        1 => (m(), m()).prop_map(|(a, b)| builtin(Builtin::MatMul, vec![a, b])),
        1 => vector(depth - 1).prop_map(|a| builtin(Builtin::Skew, vec![a])),
        1 => vector(depth - 1).prop_map(|a| builtin(Builtin::Diagonal, vec![a])),
        1 => (vector(depth - 1), vector(depth - 1)).prop_map(|(a, b)| builtin(Builtin::OuterProduct, vec![a, b])),
        1 => m().prop_map(|a| builtin(Builtin::Symmetric, vec![a])),
        1 => (m(), scalar(depth - 1)).prop_map(|(a, b)| bin(Binary::Add, a, builtin(Builtin::Fill, vec![b, n(3.0), n(3.0)]))),
        1 => Just(builtin(Builtin::Identity, vec![n(3.0)])),
    ]
    .boxed()
}

fn statement(depth: u32) -> BoxedStrategy<FStmtKind> {
    let assign = prop_oneof![
        3 => (4u32..6, scalar(3)).prop_map(|(k, e)| set(k, e)),
        2 => vector(2).prop_map(|e| set(7, e)),
        1 => matrix(2).prop_map(|e| set(8, e)),
        1 => vector(2).prop_map(|e| set(9, e)),
        1 => (scalar(2), 1..=3i32).prop_map(|(e, k)| set_at(7, vec![FIndex::At(n(k.into()))], e)),
        1 => (vector(2), 1..=3i32).prop_map(|(e, k)| set_at(8, vec![FIndex::All, FIndex::At(n(k.into()))], e)),
        1 => (scalar(1), scalar(1)).prop_map(|(a, b)| FStmtKind::MultiAssign(
            vec![Some(LValue { local: LocalId(4), indices: vec![] }), Some(LValue { local: LocalId(7), indices: vec![] })],
            FuncId(1), vec![a, b, l(7)])),
    ];
    if depth == 0 {
        return assign.boxed();
    }
    let inner = proptest::collection::vec(statement(depth - 1), 1..3);
    prop_oneof![
        4 => assign,
        1 => (condition(2), inner.clone(), inner.clone())
            .prop_map(|(c, a, b)| FStmtKind::If(vec![(c, stmts(a))], stmts(b))),
        1 => (inner.clone(), 1..6i32).prop_map(|(mut b, k)| {
            // Subscripts by the loop variable, and a way out.
            b.push(set_at(7, vec![FIndex::At(builtin(Builtin::MinOf, vec![l(I), n(3.0)]))], bin(Binary::Add, l(4), l(I))));
            b.push(FStmtKind::If(
                vec![(bin(Binary::Gt, l(4), n(5.0)), stmts(vec![FStmtKind::Break]))], vec![]));
            FStmtKind::For(LocalId(I), range(n(1.0), n(k.into())), stmts(b))
        }),
    ]
    .boxed()
}

/// 150 functions in ordinary tests; `PROPTEST_CASES` asks for more.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|c| c.parse().ok()).unwrap_or(150)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]
    #[test]
    fn random_functions_agree(
        body in proptest::collection::vec(statement(2), 1..6),
        x in proptest::array::uniform6(-2.0..2.0f64),
        d in proptest::array::uniform6(prop_oneof![Just(0.0), -1.0..1.0f64]),
    ) {
        let f = function(
            vec![real("a"), real("b"), real("c"), array("x", &[3]), real("u"), real("v"), int("i"), array("p", &[3]),
                 array("m", &[3, 3]), local("w", ScalarType::Real, vec![Dim::Free])],
            &[0, 1, 2, 3], &[5, 7, 8], body);
        // Two results, one of them an array of a size given by the argument.
        let g = function(
            vec![real("a"), real("b"), local("x", ScalarType::Real, vec![Dim::Free]), real("s"),
                 local("r", ScalarType::Real, vec![Dim::Free])],
            &[0, 1, 2], &[3, 4],
            vec![
                set(3, bin(Binary::Add, bin(Binary::Mul, l(0), l(1)), builtin(Builtin::Sum, vec![l(2)]))),
                set(4, bin(Binary::Mul, l(2), l(0))),
            ]);
        let all = [f, g];
        check(&all, 0, &x, &d);
        check_second(&x, &d, &all);
    }
}

/// Second derivatives are the same by native code and by the executor, and those of forward mode twice.
fn check_second(x: &[f64], d: &[f64], all: &[Function]) {
    let at: Vec<f64> = x.iter().chain(d).copied().collect();
    let along: Vec<f64> = d.iter().rev().chain(x).copied().collect();
    let id = FuncId(0).tangent().expect("of a function");
    let run = |mut f: Box<dyn Functions>| {
        let (mut y, mut dy) = (Vec::new(), Vec::new());
        let r = f.call_dual(id, &at, &along, &mut y, &mut dy);
        r.map(|()| y.into_iter().chain(dy).collect::<Vec<f64>>()).map_err(|e| e.message)
    };
    let executor = run(Box::new(Seconds::new(all, Executor::new)));
    let native = run(Box::new(Seconds::new(all, |f| NativeFunctions::with_threshold(f, 0))));
    let bits = |r: &Result<Vec<f64>, String>| {
        r.as_ref()
            .map(|v| v.iter().map(|v| if v.is_nan() || *v == 0.0 { 0 } else { v.to_bits() }).collect::<Vec<_>>())
            .ok()
    };
    assert_eq!(bits(&executor), bits(&native), "{executor:?} {native:?}");
    let twice = run(Box::new(Executor::new(all)));
    if let (Ok(a), Ok(b)) = (&executor, &twice) {
        // These functions use an iterator as a variable, too: where arguments are evaluated once more for the derivative, its
        // value is another one. In models iterators are variables of their own.
        let first = a.len() / 2;
        if a[..first].iter().zip(b).any(|(a, b)| (a - b).abs() > 1e-6 * (1.0 + a.abs() + b.abs())) {
            return;
        }
        for (a, b) in a.iter().zip(b) {
            // Within what is allowed beside a point where the function is another one.
            let close = (a - b).abs() <= 1e-2 * (a.abs() + b.abs()) + 1e-6 || !(a.abs() + b.abs() < 1e6);
            assert!(close, "{a} by the tangent, {b} by forward mode twice");
        }
    }
}

/// Exported functions: one C program with many random functions prints the bits of values and derivatives.
#[test]
fn c_agrees() {
    use proptest::strategy::ValueTree;
    use std::fmt::Write as _;
    use std::process::Command;
    if Command::new("gcc").arg("--version").output().is_err() {
        eprintln!("no gcc: not checked");
        return;
    }
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let bodies = proptest::collection::vec(statement(2), 1..6);
    let dir = std::env::temp_dir().join(format!("saltus-functions-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a temporary directory");
    let g = || {
        function(
            vec![
                real("a"),
                real("b"),
                local("x", ScalarType::Real, vec![Dim::Free]),
                real("s"),
                local("r", ScalarType::Real, vec![Dim::Free]),
            ],
            &[0, 1, 2],
            &[3, 4],
            vec![
                set(3, bin(Binary::Add, bin(Binary::Mul, l(0), l(1)), builtin(Builtin::Sum, vec![l(2)]))),
                set(4, bin(Binary::Mul, l(2), l(0))),
            ],
        )
    };
    // All functions of one table: f0, g, f2, f3, …
    let count = 20u32;
    let mut all = Vec::new();
    for k in 0..count {
        let body = bodies.new_tree(&mut runner).expect("a function").current();
        let f = function(
            vec![
                real("a"),
                real("b"),
                real("c"),
                array("x", &[3]),
                real("u"),
                real("v"),
                int("i"),
                array("p", &[3]),
                array("m", &[3, 3]),
                local("w", ScalarType::Real, vec![Dim::Free]),
            ],
            &[0, 1, 2, 3],
            &[5, 7, 8],
            body,
        );
        all.push(f);
        if k == 0 {
            all.push(g());
        }
    }
    let ids: Vec<u32> = (0..=count).filter(|k| *k != 1).collect();
    let calls = ids.iter().flat_map(|&k| [false, true].map(|dual| Called { func: FuncId(k), dual, args: 6, outs: 13 }));
    // Second derivatives of those that have a tangent in numbers.
    let (x, d) = ([0.3, -1.2, 1.7, 0.25, -0.5, 1.1], [1.0, 0.0, -0.5, 0.25, 0.0, 2.0]);
    let at: Vec<f64> = x.iter().chain(&d).copied().collect();
    let along: Vec<f64> = d.iter().rev().chain(&x).copied().collect();
    let mut more = all.clone();
    let mut made = Default::default();
    let mut seconds = Vec::new();
    for &k in &ids {
        let Some(p) = Passage::new(&mut more, &mut made, FuncId(k)) else { continue };
        let (mut y, mut dy) = (Vec::new(), Vec::new());
        let fine = Executor::new(&more).call_dual(p.tangent, &at, &along, &mut y, &mut dy).is_ok();
        if fine && y.iter().chain(&dy).all(|v| v.is_finite()) {
            seconds.push(FuncId(k).tangent().expect("of a function"));
        }
    }
    assert!(seconds.len() > 5, "{}", seconds.len());
    let calls = calls.chain(seconds.iter().map(|&func| Called { func, dual: true, args: 12, outs: 13 }));
    let mut executor = Executor::new(&all);
    let mut source = String::from(PRELUDE_C);
    source.push_str(&functions_c(&all, &called(calls), &[], &[], &[], &[]).expect("C"));
    let mut expected = String::new();
    let bits = |v: f64| {
        if v.is_nan() {
            1
        } else if v == 0.0 {
            0
        } else {
            v.to_bits()
        }
    };
    for &k in &ids {
        let v = executor.call_vec(FuncId(k), &x).unwrap_or(vec![f64::NAN; 13]);
        let (mut out, mut dout) = (Vec::new(), Vec::new());
        let fine = executor.call_dual(FuncId(k), &x, &d, &mut out, &mut dout);
        if fine.is_err() {
            dout = vec![f64::NAN; 13];
        }
        assert_eq!((v.len(), dout.len()), (13, 13));
        for b in v.iter().chain(&dout) {
            let _ = writeln!(expected, "{:x}", bits(*b));
        }
    }
    let mut by_executor = Seconds::new(&all, Executor::new);
    for f in &seconds {
        let (mut out, mut dout) = (Vec::new(), Vec::new());
        by_executor.call_dual(*f, &at, &along, &mut out, &mut dout).expect("numbers");
        dout.iter().for_each(|b| expected.extend([format!("{:x}\n", bits(*b))]));
    }
    let list = |v: &[f64]| v.iter().map(|v| literal_c(*v)).collect::<Vec<_>>().join(", ");
    let of_seconds = seconds.iter().map(|f| format!("{}u", f.0)).collect::<Vec<_>>().join(", ");
    let numbers = ids.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let _ = write!(
        source,
        "#include <stdio.h>
        static void show(double v) {{ uint64_t b; memcpy(&b, &v, 8); printf(\"%llx\\n\", v != v ? 1ull : v == 0.0 ? 0ull : (unsigned long long)b); }}
        int main(void) {{
            static saltus_functions c;
            static const double x[] = {{{}}}, d[] = {{{}}};
            static const double at[] = {{{}}}, along[] = {{{}}};
            static const uint32_t ids[] = {{{numbers}}}, seconds[] = {{{of_seconds}}};
            for (int k = 0; k < {count}; k++) {{
                for (uint32_t i = 0; i < 13; i++) show(saltus_call(&c, ids[k], x, 6, i));
                for (uint32_t i = 0; i < 13; i++) show(saltus_call_der(&c, ids[k], x, d, 6, i));
            }}
            for (int k = 0; k < {}; k++)
                for (uint32_t i = 0; i < 13; i++) show(saltus_call_der(&c, seconds[k], at, along, 12, i));
            return 0;
        }}\n",
        list(&x),
        list(&d),
        list(&at),
        list(&along),
        seconds.len()
    );
    let (file, program) = (dir.join("functions.c"), dir.join("functions"));
    std::fs::write(&file, &source).expect("writable");
    let flags = ["-std=c99", "-O1", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror"];
    let built = Command::new("gcc").args(flags).arg(&file).arg("-o").arg(&program).arg("-lm").output().expect("runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let out = Command::new(&program).output().expect("runs");
    let _ = std::fs::remove_dir_all(&dir);
    let text = String::from_utf8_lossy(&out.stdout);
    let finite = expected.lines().filter(|l| *l != "1").count();
    assert!(finite > 300, "{finite} numbers");
    for (i, (a, b)) in expected.lines().zip(text.lines()).enumerate() {
        assert_eq!(a, b, "function {} result {}", i / 26, i % 26);
    }
    assert_eq!(expected.lines().count(), text.lines().count());
}

/// An array written out is stored element by element, whatever its size and with derivatives, too.
#[test]
fn long_lists() {
    let list = |f: &dyn Fn(usize) -> FExpr| FExpr::Array((0..80).map(f).collect());
    let f = function(
        vec![real("a"), array("y", &[80])],
        &[0],
        &[1],
        vec![
            set(1, list(&|k| n(k as f64))),
            set(1, bin(Binary::Add, l(1), bin(Binary::Mul, l(0), list(&|k| bin(Binary::Mul, l(0), n(k as f64)))))),
        ],
    );
    let y = check(std::slice::from_ref(&f), 0, &[3.0], &[1.0]);
    assert_eq!((y[2], y[79]), (20.0, 790.0));
}

/// x[1] := a; for i in 2:n loop if x[i-1] > 1 then x[i] := x[i-1] - 0.75 else x[i] := x[i-1] + a end if; end for
/// with n = size of x, in turn with other loops: values of the turn before stay in registers, elements that are not
/// filled are zero.
#[test]
fn recurrences() {
    let x = || local("x", ScalarType::Real, vec![Dim::Computed(l(0))]);
    let before = |c: f64| at(l(3), vec![bin(Binary::Sub, l(2), n(c))]);
    let assign = |e: FExpr| set_at(3, vec![FIndex::At(l(2))], e);
    let branch = |a: FStmtKind, b: Vec<FStmtKind>| {
        FStmtKind::If(vec![(bin(Binary::Gt, before(1.0), n(1.0)), stmts(vec![a]))], stmts(b))
    };
    let step = || assign(bin(Binary::Sub, before(1.0), n(0.75)));
    let up = || assign(bin(Binary::Add, before(1.0), l(1)));
    let bodies: Vec<(f64, Vec<FStmtKind>)> = vec![
        (2.0, vec![branch(step(), vec![up()])]),
        // One way leaves the element as it is.
        (2.0, vec![branch(step(), vec![])]),
        // It is read after it was set, and set twice.
        (2.0, vec![up(), assign(bin(Binary::Mul, at(l(3), vec![l(2)]), before(1.0)))]),
        // Two back: not yet there at the first turn.
        (3.0, vec![assign(bin(Binary::Add, before(1.0), before(2.0)))]),
        (2.0, vec![branch(FStmtKind::Break, vec![up()]), up()]),
        (2.0, vec![branch(FStmtKind::Return, vec![up()]), up()]),
    ];
    for (first, body) in bodies {
        let f = function(
            vec![int("n"), real("a"), int("i"), x(), real("y")],
            &[0, 1],
            &[4],
            vec![
                set_at(3, vec![FIndex::At(n(1.0))], l(1)),
                FStmtKind::For(LocalId(2), range(n(first), l(0)), stmts(body)),
                set(4, builtin(Builtin::Sum, vec![l(3)])),
            ],
        );
        // Memory that was used before is there again.
        let junk = function(
            vec![int("n"), real("a"), int("i"), x(), real("y")],
            &[0, 1],
            &[4],
            vec![
                FStmtKind::For(LocalId(2), range(n(1.0), l(0)), stmts(vec![assign(n(7.5))])),
                set(
                    4,
                    bin(Binary::Add, builtin(Builtin::Sum, vec![l(3)]), FExpr::Call(FuncId(0), vec![l(0), l(1)], 0)),
                ),
            ],
        );
        let all = [f, junk];
        for size in [1.0, 2.0, 3.0, 10.0, 1000.0] {
            native(&all, 0, &[size, 0.37], &[0.0, 1.0]);
            native(&all, 1, &[size, 0.37], &[0.0, 1.0]);
        }
        // Nothing to begin with: the executor says what is wrong.
        check(&all, 0, &[0.0, 0.37], &[0.0, 1.0]);
    }
}

/// while k > m loop …: turns that end in a branch, and Integers near the largest.
#[test]
fn while_loops() {
    // Inputs k and a; locals i and y; the output is y.
    let down = |by: f64| set(0, bin(Binary::Sub, l(0), n(by)));
    let add = |e: FExpr| set(3, bin(Binary::Add, l(3), e));
    let odd = || bin(Binary::Gt, bin(Binary::Mul, l(1), l(0)), n(2.0));
    let branch = |a: Vec<FStmtKind>, b: Vec<FStmtKind>| FStmtKind::If(vec![(odd(), stmts(a))], stmts(b));
    let over = |body: Vec<FStmtKind>| FStmtKind::For(LocalId(2), range(n(1.0), n(3.0)), stmts(body));
    let bodies: Vec<Vec<FStmtKind>> = vec![
        vec![add(l(1)), down(1.0)],
        vec![down(1.0), down(1.0), add(l(0))],
        vec![branch(vec![down(1.0)], vec![add(l(1)), down(2.0)])],
        vec![over(vec![down(1.0)]), add(l(0))],
        vec![down(1.0), over(vec![branch(vec![add(l(2))], vec![FStmtKind::Break])])],
        vec![down(1.0), over(vec![branch(vec![add(l(2)), branch(vec![add(l(1))], vec![])], vec![add(l(0))])])],
        vec![FStmtKind::While(bin(Binary::Gt, l(0), n(3.0)), stmts(vec![down(1.0)])), add(l(0)), down(1.0)],
        vec![branch(vec![FStmtKind::Break], vec![down(1.0), add(l(1))])],
    ];
    for body in bodies {
        let f = function(
            vec![int("k"), real("a"), int("i"), real("y")],
            &[0, 1],
            &[3],
            vec![set(3, l(1)), FStmtKind::While(bin(Binary::Gt, l(0), n(1.0)), stmts(body))],
        );
        for k in [-3.0, 1.0, 2.0, 3.0, 8.0, 31.0] {
            check(std::slice::from_ref(&f), 0, &[k, 0.37], &[0.0, 1.0]);
        }
    }
    // Up to the largest, and beyond: the executor goes on.
    let up = function(
        vec![int("k"), real("a"), int("i"), real("y")],
        &[0, 1],
        &[3],
        vec![
            set(2, n(2147483647.0)),
            FStmtKind::While(
                bin(Binary::Lt, l(0), l(2)),
                stmts(vec![set(0, bin(Binary::Add, l(0), n(1.0))), add(l(1))]),
            ),
        ],
    );
    check(&[up], 0, &[2147483640.0, 0.37], &[0.0, 1.0]);
}

/// A loop around external C code; its failure is told with its message.
#[test]
fn external_code_in_loops() {
    if std::process::Command::new("gcc").arg("--version").output().is_err() {
        eprintln!("no gcc: not checked");
        return;
    }
    let code = "#include \"ModelicaUtilities.h\"
static double half_square(double x, int n) { if (x < 0) ModelicaError(\"negative\"); return x*x/n; }";
    let mut g = function(vec![real("x"), real("y")], &[0], &[1], vec![]);
    g.name = "g".into();
    g.external = Some(ExternalCall {
        language: "C".into(),
        symbol: "half_square".into(),
        args: vec![l(0), n(2.0)],
        passing: Vec::new(),
        returns_record: false,
        result: Some(LocalId(1)),
        includes: vec![code.into()],
        libraries: vec![],
        include_dirs: vec![],
        library_dirs: vec![],
        source_dirs: vec![],
        destructor: None,
    });
    let f = function(
        vec![real("x"), int("i"), real("y")],
        &[0],
        &[2],
        vec![
            set(2, l(0)),
            FStmtKind::For(
                LocalId(1),
                range(n(1.0), n(5.0)),
                stmts(vec![set(2, bin(Binary::Sub, FExpr::Call(FuncId(1), vec![l(2)], 0), n(0.1)))]),
            ),
        ],
    );
    let all = [f, g];
    let out = native(&all, 0, &[2.5], &[1.0]);
    let want = (0..5).fold(2.5, |y: f64, _| y * y / 2.0 - 0.1);
    assert_eq!(out, [want]);
    check(&all, 1, &[2.5], &[1.0]);
    // 0.3 becomes negative after a turn.
    check(&all, 0, &[0.3], &[1.0]);
    let mut x = NativeFunctions::with_threshold(&all, 0);
    let failed = x.call(FuncId(0), &[0.3], &mut Vec::new()).unwrap_err();
    assert!(failed.message.contains("negative"), "{failed:?}");
}

#[test]
fn powers_of_matrices() {
    for p in 1..9 {
        let f = function(
            vec![array("m", &[3, 3]), array("q", &[3, 3])],
            &[0],
            &[1],
            vec![set(1, builtin(Builtin::MatPow, vec![l(0), n(p.into())]))],
        );
        let m: Vec<f64> = (0..9).map(|k| (1.3 * f64::from(k)).sin()).collect();
        let d: Vec<f64> = (0..9).map(|k| (0.7 * f64::from(k)).cos()).collect();
        native(&[f], 0, &m, &d);
    }
}
