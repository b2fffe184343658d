//! The executor over its three domains.

use proptest::prelude::*;
use saltus_base::Span;
use saltus_expr::{Binary, FuncId, NoCalls, Pool, Unary, eval};
use saltus_function::*;

fn local(name: &str, ty: ScalarType, dims: Vec<Dim>) -> Local {
    Local { name: name.into(), ty, dims, binding: None }
}
fn real(name: &str) -> Local {
    local(name, ScalarType::Real, vec![])
}
fn int(name: &str) -> Local {
    local(name, ScalarType::Integer, vec![])
}
fn vector(name: &str, n: usize) -> Local {
    local(name, ScalarType::Real, vec![Dim::Fixed(n)])
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
fn bin(op: Binary, a: FExpr, b: FExpr) -> FExpr {
    FExpr::Binary(op, Box::new(a), Box::new(b))
}
fn at(a: FExpr, ix: Vec<FExpr>) -> FExpr {
    FExpr::Index(Box::new(a), ix.into_iter().map(FIndex::At).collect())
}
fn range(a: f64, b: f64) -> FExpr {
    FExpr::Range(Box::new(n(a)), None, Box::new(n(b)))
}
fn set(k: u32, e: FExpr) -> FStmtKind {
    FStmtKind::Assign(LValue { local: LocalId(k), indices: vec![] }, e)
}
fn set_at(k: u32, ix: Vec<FIndex>, e: FExpr) -> FStmtKind {
    FStmtKind::Assign(LValue { local: LocalId(k), indices: ix }, e)
}
fn call(f: Function, args: &[f64]) -> Result<Vec<f64>, ExecError> {
    call_f64(&[f], FuncId(0), args)
}
fn builtin(b: Builtin, args: Vec<FExpr>) -> FExpr {
    FExpr::Builtin(b, args)
}
fn arr(v: &[f64]) -> FExpr {
    FExpr::Array(v.iter().map(|x| n(*x)).collect())
}
/// The value of a closed array expression of this rank, with its sizes.
fn value(e: FExpr, rank: usize) -> (Vec<usize>, Vec<f64>) {
    let dims = (0..rank).map(|_| Dim::Free).collect();
    let f = function(vec![local("y", ScalarType::Real, dims), int("i"), int("j")], &[], &[0], vec![set(0, e)]);
    Executor::new(&[f]).call_shaped(FuncId(0), &[]).unwrap().remove(0)
}
fn text(e: FExpr) -> String {
    strings::text(value(e, 0).1[0]).to_string()
}

/// Newton's square root: while, if, return.
fn newton() -> Function {
    function(
        vec![real("x"), real("y"), int("i")],
        &[0],
        &[1],
        vec![
            FStmtKind::If(
                vec![(bin(Binary::Le, l(0), n(0.0)), stmts(vec![set(1, n(0.0)), FStmtKind::Return]))],
                vec![],
            ),
            set(1, l(0)),
            set(2, n(0.0)),
            FStmtKind::While(
                bin(Binary::Lt, l(2), n(30.0)),
                stmts(vec![
                    set(1, bin(Binary::Mul, n(0.5), bin(Binary::Add, l(1), bin(Binary::Div, l(0), l(1))))),
                    set(2, bin(Binary::Add, l(2), n(1.0))),
                ]),
            ),
        ],
    )
}

#[test]
fn loops_and_derivatives() {
    assert!((call(newton(), &[2.0]).unwrap()[0] - 2f64.sqrt()).abs() < 1e-14);
    assert_eq!(call(newton(), &[-2.0]).unwrap(), [0.0]);
    let d = call_dual(&[newton()], FuncId(0), &[2.0], &[1.0]).unwrap();
    assert!((d[0] - 0.5 / 2f64.sqrt()).abs() < 1e-12);
}

#[test]
fn symbolic_return_under_condition() {
    // The loop count is constant: the whole unrolls; the early return becomes a select.
    let mut pool = Pool::new();
    let x = pool.hole(0);
    let e = call_symbolic(&[newton()], FuncId(0), &[x], &mut pool, 1000).unwrap();
    for v in [-1.0, 0.0, 0.5, 9.0] {
        let want = call(newton(), &[v]).unwrap()[0];
        assert_eq!(eval(&pool, e[0], &|_| v, &mut NoCalls), want);
    }
    assert!(call_symbolic(&[newton()], FuncId(0), &[x], &mut pool, 5).is_ok(), "nothing new is built the second time");
    let mut small = Pool::new();
    let x = small.hole(0);
    assert!(call_symbolic(&[newton()], FuncId(0), &[x], &mut small, 10).is_err());
}

#[test]
fn arrays_both_sides() {
    // y := zeros; y[{3,1}] := x[2:3]; y[2] := sum(x)
    let f = function(
        vec![vector("x", 3), vector("y", 3)],
        &[0],
        &[1],
        vec![
            set_at(1, vec![FIndex::At(arr(&[3.0, 1.0]))], at(l(0), vec![range(2.0, 3.0)])),
            set_at(1, vec![FIndex::At(n(2.0))], builtin(Builtin::Sum, vec![l(0)])),
        ],
    );
    assert_eq!(call(f.clone(), &[1.0, 2.0, 3.0]).unwrap(), [3.0, 6.0, 2.0]);
    let d = call_dual(&[f], FuncId(0), &[1.0, 2.0, 3.0], &[0.0, 1.0, 0.0]).unwrap();
    assert_eq!(d, [0.0, 1.0, 1.0]);
}

#[test]
fn matrices() {
    let m = FExpr::Array(vec![arr(&[1.0, 2.0]), arr(&[3.0, 4.0])]);
    let (d, v) = value(builtin(Builtin::MatMul, vec![m.clone(), m.clone()]), 2);
    assert_eq!((d, v), (vec![2, 2], vec![7.0, 10.0, 15.0, 22.0]));
    assert_eq!(value(builtin(Builtin::MatMul, vec![m.clone(), arr(&[1.0, 1.0])]), 1).1, [3.0, 7.0]);
    assert_eq!(value(builtin(Builtin::MatMul, vec![arr(&[1.0, 1.0]), m.clone()]), 1).1, [4.0, 6.0]);
    assert_eq!(value(builtin(Builtin::Transpose, vec![m.clone()]), 2).1, [1.0, 3.0, 2.0, 4.0]);
    assert_eq!(value(builtin(Builtin::MatPow, vec![m.clone(), n(3.0)]), 2).1, [37.0, 54.0, 81.0, 118.0]);
    assert_eq!(value(builtin(Builtin::MatPow, vec![m.clone(), n(0.0)]), 2).1, [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(value(builtin(Builtin::Symmetric, vec![m.clone()]), 2).1, [1.0, 2.0, 2.0, 4.0]);
    let joined = builtin(Builtin::Cat, vec![n(2.0), m.clone(), FExpr::Array(vec![arr(&[9.0]), arr(&[8.0])])]);
    assert_eq!(value(joined, 2), (vec![2, 3], vec![1.0, 2.0, 9.0, 3.0, 4.0, 8.0]));
    assert_eq!(value(at(m.clone(), vec![n(2.0)]), 1).1, [3.0, 4.0]);
    let column = FExpr::Index(Box::new(m), vec![FIndex::All, FIndex::At(n(2.0))]);
    assert_eq!(value(column, 1).1, [2.0, 4.0]);
    assert_eq!(
        value(builtin(Builtin::Cross, vec![arr(&[1.0, 0.0, 0.0]), arr(&[0.0, 1.0, 0.0])]), 1).1,
        [0.0, 0.0, 1.0]
    );
    assert_eq!(value(builtin(Builtin::Linspace, vec![n(0.0), n(1.0), n(5.0)]), 1).1, [0.0, 0.25, 0.5, 0.75, 1.0]);
    assert_eq!(value(builtin(Builtin::Fill, vec![n(7.0), n(2.0), n(0.0)]), 2).0, [2, 0]);
    // {10*j + i for i in 1:2, j in 1:3} has size [3, 2].
    let body = bin(Binary::Add, bin(Binary::Mul, n(10.0), l(2)), l(1));
    let c = FExpr::Comprehension(Box::new(body), vec![(LocalId(1), range(1.0, 2.0)), (LocalId(2), range(1.0, 3.0))]);
    assert_eq!(value(c, 2), (vec![3, 2], vec![11.0, 12.0, 21.0, 22.0, 31.0, 32.0]));
    let r =
        FExpr::Reduction(Builtin::MaxOf, Box::new(bin(Binary::Mul, l(1), l(1))), vec![(LocalId(1), range(-3.0, 2.0))]);
    assert_eq!(value(r, 0).1, [9.0]);
}

#[test]
fn integers() {
    let cases = [
        (7.0, 3.0, 2.0, 1.0, 1.0),
        (-7.0, 3.0, -2.0, 2.0, -1.0),
        (7.0, -3.0, -2.0, -2.0, 1.0),
        (5.5, 2.0, 2.0, 1.5, 1.5),
    ];
    for (a, b, div, modulo, rem) in cases {
        let f = |op| value(builtin(op, vec![n(a), n(b)]), 0).1[0];
        assert_eq!((f(Builtin::Div), f(Builtin::Mod), f(Builtin::Rem)), (div, modulo, rem));
    }
    let f = function(vec![int("x"), int("y")], &[0], &[1], vec![set(1, builtin(Builtin::Div, vec![n(1.0), l(0)]))]);
    assert_eq!(call(f, &[0.0]).unwrap_err().kind, ErrorKind::Division);
}

#[test]
fn texts() {
    let s = |x: &str| FExpr::Str(x.into());
    assert_eq!(text(builtin(Builtin::ToString, vec![n(1.0 / 3.0)])), "0.333333");
    assert_eq!(text(builtin(Builtin::ToString, vec![n(42.0), n(6.0), n(0.0)])), "    42");
    assert_eq!(text(builtin(Builtin::ToString, vec![n(42.0), n(6.0), n(1.0)])), "42    ");
    assert_eq!(text(builtin(Builtin::ToString, vec![n(1.5e-7), n(0.0), n(1.0), n(3.0)])), "1.5e-07");
    assert_eq!(text(builtin(Builtin::ToString, vec![bin(Binary::Lt, n(1.0), n(2.0))])), "true");
    assert_eq!(text(builtin(Builtin::ToString, vec![n(2.5), s("%6.2f")])), "  2.50");
    assert_eq!(text(builtin(Builtin::Concat, vec![s("a"), s("b"), s("c")])), "abc");
    assert_eq!(text(bin(Binary::Add, s("a"), s("b"))), "ab");
    assert_eq!(text(builtin(Builtin::EnumToString, vec![n(2.0), s("red"), s("green")])), "green");
    assert_eq!(value(builtin(Builtin::CompareStrings, vec![s("a"), s("b")]), 0).1, [-1.0]);
    assert_eq!(value(bin(Binary::Lt, s("b"), s("a")), 0).1, [0.0]);
}

#[test]
fn sizes_from_inputs_and_order_of_entry() {
    // work has size m, which is declared after it and computed from n.
    let mut m = int("m");
    m.binding = Some(bin(Binary::Mul, n(2.0), l(0)));
    let f = function(
        vec![
            int("n"),
            local("x", ScalarType::Real, vec![Dim::Computed(l(0))]),
            real("y"),
            local("work", ScalarType::Real, vec![Dim::Computed(l(4))]),
            m,
        ],
        &[0, 1],
        &[2],
        vec![set(2, bin(Binary::Add, builtin(Builtin::Size, vec![l(3), n(1.0)]), at(l(1), vec![l(0)])))],
    );
    assert_eq!(call(f.clone(), &[2.0, 10.0, 20.0]).unwrap(), [24.0]);
    assert!(call(f.clone(), &[2.0, 10.0]).is_err());
    assert!(call(f.clone(), &[-1.0]).is_err());
    assert!(call(f.clone(), &[f64::NAN]).is_err());
    assert!(call(f, &[1e300]).is_err());
}

#[test]
fn recursion() {
    // fact(n) = if n <= 1 then 1 else n * fact(n - 1)
    let again = FExpr::Call(FuncId(0), vec![bin(Binary::Sub, l(0), n(1.0))], 0);
    let body =
        FExpr::If(Box::new(bin(Binary::Le, l(0), n(1.0))), Box::new(n(1.0)), Box::new(bin(Binary::Mul, l(0), again)));
    let f = function(vec![int("n"), int("y")], &[0], &[1], vec![set(1, body)]);
    assert_eq!(call(f.clone(), &[10.0]).unwrap(), [3628800.0]);
    let mut pool = Pool::new();
    let ten = pool.num(10.0);
    let r = call_symbolic(std::slice::from_ref(&f), FuncId(0), &[ten], &mut pool, 100).unwrap();
    assert_eq!(pool.as_const(r[0]), Some(3628800.0));
    let x = pool.hole(0);
    assert!(call_symbolic(&[f], FuncId(0), &[x], &mut pool, 100_000).is_err());
    let endless = FExpr::Call(FuncId(0), vec![l(0)], 0);
    let f = function(vec![int("n"), int("y")], &[0], &[1], vec![set(1, endless)]);
    assert_eq!(call(f, &[10.0]).unwrap_err().kind, ErrorKind::Limit);
}

#[test]
fn asserts() {
    let f = |warning| {
        function(
            vec![real("x"), real("y")],
            &[0],
            &[1],
            vec![
                FStmtKind::Assert(
                    bin(Binary::Gt, l(0), n(0.0)),
                    builtin(Builtin::Concat, vec![FExpr::Str("x is ".into()), builtin(Builtin::ToString, vec![l(0)])]),
                    warning,
                ),
                set(1, l(0)),
            ],
        )
    };
    let e = call(f(false), &[-1.5]).unwrap_err();
    assert_eq!((e.kind, e.message.as_str()), (ErrorKind::Assert, "x is -1.5"));
    let mut x = Executor::new(&[f(true)]);
    x.call(FuncId(0), &[-1.0], &mut [0.0]).unwrap();
    assert_eq!(x.take_warnings()[0].message, "x is -1");
    assert!(x.take_warnings().is_empty());
    let mut pool = Pool::new();
    let h = pool.hole(0);
    assert!(call_symbolic(&[f(false)], FuncId(0), &[h], &mut pool, 100).is_err());
    let one = pool.num(1.0);
    assert_eq!(call_symbolic(&[f(false)], FuncId(0), &[one], &mut pool, 100).unwrap(), [one]);
}

#[test]
fn annotated_derivative_is_used() {
    // f = x^2 with a derivative function that says 100 * der_x.
    let mut f = function(vec![real("x"), real("y")], &[0], &[1], vec![set(1, bin(Binary::Mul, l(0), l(0)))]);
    f.derivative = Some(FuncId(1));
    let d = function(
        vec![real("x"), real("der_x"), real("der_y")],
        &[0, 1],
        &[2],
        vec![set(2, bin(Binary::Mul, n(100.0), l(1)))],
    );
    let outer = function(vec![real("x"), real("y")], &[0], &[1], vec![set(1, FExpr::Call(FuncId(0), vec![l(0)], 0))]);
    let all = [f, d, outer];
    assert_eq!(call_dual(&all, FuncId(0), &[3.0], &[2.0]).unwrap(), [200.0]);
    assert_eq!(call_dual(&all, FuncId(2), &[3.0], &[2.0]).unwrap(), [200.0]);
    assert_eq!(call_f64(&all, FuncId(2), &[3.0]).unwrap(), [9.0]);
}

#[test]
fn calls_that_stay_calls() {
    // g loops on its argument: the outer function keeps the call.
    let g = function(
        vec![real("x"), vector("y", 2)],
        &[0],
        &[1],
        vec![FStmtKind::While(bin(Binary::Gt, l(0), n(10.0)), stmts(vec![FStmtKind::Break]))],
    );
    let outer = function(
        vec![real("x"), real("y")],
        &[0],
        &[1],
        vec![set(1, at(FExpr::Call(FuncId(0), vec![l(0)], 0), vec![n(2.0)]))],
    );
    let mut pool = Pool::new();
    let x = pool.hole(0);
    let all = [g, outer];
    let r = call_symbolic(&all, FuncId(1), &[x], &mut pool, 100).unwrap();
    assert_eq!(r, [pool.call(FuncId(0), [x].into(), 1)]);
    assert!(call_symbolic(&all, FuncId(0), &[x], &mut pool, 100).is_err());
}

#[test]
fn malformed_is_an_error() {
    let bad: Vec<Function> = vec![
        function(vec![real("x")], &[7], &[0], vec![]),
        function(vec![real("x")], &[], &[9], vec![]),
        function(vec![real("x")], &[], &[0], vec![set(5, n(1.0))]),
        function(vec![real("x")], &[], &[0], vec![set(0, l(5))]),
        function(vec![real("x")], &[], &[0], vec![set(0, at(l(0), vec![n(1.0)]))]),
        function(vec![real("x")], &[], &[0], vec![set(0, FExpr::Call(FuncId(9), vec![], 0))]),
        function(vec![real("x")], &[], &[0], vec![set(0, FExpr::Call(FuncId(0), vec![n(1.0)], 0))]),
        function(vec![vector("x", 2)], &[], &[0], vec![set(0, arr(&[1.0, 2.0, 3.0]))]),
        function(vec![vector("x", 2)], &[], &[0], vec![set(0, n(1.0))]),
        function(vec![vector("x", 2)], &[], &[0], vec![set_at(0, vec![FIndex::At(n(3.0))], n(1.0))]),
        function(vec![vector("x", 2)], &[], &[0], vec![set_at(0, vec![FIndex::At(n(1.5))], n(1.0))]),
        function(vec![vector("x", 2)], &[], &[0], vec![set_at(0, vec![FIndex::At(n(f64::NAN))], n(1.0))]),
        function(vec![real("x")], &[], &[0], vec![set(0, builtin(Builtin::MatMul, vec![]))]),
        function(vec![real("x")], &[], &[0], vec![set(0, FExpr::Array(vec![n(1.0), arr(&[1.0])]))]),
        function(
            vec![real("x")],
            &[],
            &[0],
            vec![set(0, builtin(Builtin::Sum, vec![builtin(Builtin::Zeros, vec![n(1e12)])]))],
        ),
    ];
    for f in bad {
        let shown = format!("{:?}", f.body);
        assert!(call(f, &[]).is_err(), "{shown}");
    }
    assert!(call_f64(&[], FuncId(0), &[]).is_err());
    let mut deep = n(1.0);
    for _ in 0..5000 {
        deep = bin(Binary::Add, n(1.0), deep);
    }
    assert!(call(function(vec![real("x")], &[], &[0], vec![set(0, deep)]), &[]).is_err());
}

/// Random straight-line code with branches over three inputs, two locals and an output.
fn expr(depth: u32) -> BoxedStrategy<FExpr> {
    let leaf = prop_oneof![(-2.0..2.0).prop_map(n), (0u32..5).prop_map(l)];
    leaf.prop_recursive(depth, 16, 3, |inner| {
        prop_oneof![
            (
                prop_oneof![
                    Just(Binary::Add),
                    Just(Binary::Sub),
                    Just(Binary::Mul),
                    Just(Binary::Min),
                    Just(Binary::Max)
                ],
                inner.clone(),
                inner.clone()
            )
                .prop_map(|(op, a, b)| bin(op, a, b)),
            (prop_oneof![Just(Unary::Sin), Just(Unary::Neg), Just(Unary::Tanh), Just(Unary::Atan)], inner.clone())
                .prop_map(|(op, a)| FExpr::Unary(op, Box::new(a))),
            (inner.clone(), inner.clone(), inner).prop_map(|(c, a, b)| FExpr::If(
                Box::new(bin(Binary::Gt, c, n(0.1))),
                Box::new(a),
                Box::new(b)
            )),
        ]
    })
    .boxed()
}

fn statement(depth: u32) -> BoxedStrategy<FStmtKind> {
    let assign = (3u32..6, expr(3)).prop_map(|(k, e)| set(k, e));
    if depth == 0 {
        return assign.boxed();
    }
    let inner = proptest::collection::vec(statement(depth - 1), 1..3);
    prop_oneof![
        3 => assign,
        1 => (expr(2), inner.clone(), inner.clone()).prop_map(|(c, a, b)| FStmtKind::If(
            vec![(bin(Binary::Lt, c, n(0.2)), stmts(a))], stmts(b))),
        1 => inner.prop_map(|b| FStmtKind::For(LocalId(6), range(1.0, 3.0), stmts(b))),
    ]
    .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn domains_agree(body in proptest::collection::vec(statement(2), 1..6), x in proptest::array::uniform3(-2.0..2.0f64),
                     d in proptest::array::uniform3(-1.0..1.0f64)) {
        let f = function(
            vec![real("a"), real("b"), real("c"), real("u"), real("v"), real("y"), int("i")],
            &[0, 1, 2], &[5], body);
        let all = [f];
        let y = call_f64(&all, FuncId(0), &x).unwrap()[0];
        let mut pool = Pool::new();
        let holes: Vec<_> = (0..3).map(|k| pool.hole(k)).collect();
        if let Ok(e) = call_symbolic(&all, FuncId(0), &holes, &mut pool, 20_000) {
            let z = eval(&pool, e[0], &|k| x[k as usize], &mut NoCalls);
            prop_assert!((y - z).abs() <= 1e-9 * (1.0 + y.abs()), "{y} {z}");
        }
        let slope = call_dual(&all, FuncId(0), &x, &d).unwrap()[0];
        let h = 1e-6;
        let at = |s: f64| call_f64(&all, FuncId(0), &[x[0] + s * d[0], x[1] + s * d[1], x[2] + s * d[2]]).unwrap()[0];
        let (left, mid, right) = ((at(0.0) - at(-h)) / h, (at(h) - at(-h)) / (2.0 * h), (at(h) - at(0.0)) / h);
        // Away from kinks and jumps.
        if (left - right).abs() < 1e-3 * (1.0 + mid.abs()) && mid.abs() < 1e6 {
            prop_assert!((slope - mid).abs() <= 1e-3 * (1.0 + mid.abs()), "{slope} {mid}");
        }
    }
}

fn external(symbol: &str, args: Vec<FExpr>, result: Option<u32>) -> Option<ExternalCall> {
    Some(ExternalCall {
        language: "C".into(),
        symbol: symbol.into(),
        args,
        passing: Vec::new(),
        returns_record: false,
        result: result.map(LocalId),
        includes: vec![],
        libraries: vec![],
        include_dirs: vec![],
        library_dirs: vec![],
        source_dirs: vec![],
        destructor: None,
    })
}

#[test]
fn tables_through_functions() {
    let matrix = local("table", ScalarType::Real, vec![Dim::Fixed(3), Dim::Fixed(2)]);
    let mut make = function(vec![matrix, local("id", ScalarType::Object, vec![])], &[0], &[1], vec![]);
    make.external = external(
        "ModelicaStandardTables_CombiTable1D_init3",
        vec![
            FExpr::Str("NoName".into()),
            FExpr::Str("NoName".into()),
            l(0),
            builtin(Builtin::Size, vec![l(0), n(1.0)]),
            builtin(Builtin::Size, vec![l(0), n(2.0)]),
            arr(&[2.0]),
            n(1.0),
            n(1.0),
            n(2.0),
            n(0.0),
            FExpr::Str(",".into()),
            n(0.0),
        ],
        Some(1),
    );
    let mut get = function(vec![local("id", ScalarType::Object, vec![]), real("u"), real("y")], &[0, 1], &[2], vec![]);
    get.external = external("ModelicaStandardTables_CombiTable1D_getValue", vec![l(0), n(1.0), l(1)], Some(2));
    let mut unknown = get.clone();
    unknown.external = external("no_such_function", vec![], None);
    let all = [make, get, unknown];
    let id = call_f64(&all, FuncId(0), &[0.0, 0.0, 1.0, 2.0, 3.0, 0.0]).unwrap()[0];
    assert_eq!(call_f64(&all, FuncId(1), &[id, 0.25]).unwrap(), [0.5]);
    assert_eq!(call_f64(&all, FuncId(1), &[id, 5.0]).unwrap(), [-2.0]);
    assert_eq!(call_dual(&all, FuncId(1), &[id, 2.0], &[0.0, 3.0]).unwrap(), [-3.0]);
    let e = call_f64(&all, FuncId(2), &[id, 0.0]).unwrap_err();
    assert!(e.message.starts_with("there is no C code for no_such_function"), "{}", e.message);
    assert!(call_f64(&all, FuncId(1), &[1e9, 0.25]).is_err());
    let mut pool = Pool::new();
    let (h, u) = (pool.num(id), pool.num(0.5));
    assert!(call_symbolic(&all, FuncId(1), &[h, u], &mut pool, 100).is_err());
}

#[test]
fn linear_systems_through_functions() {
    // x := A \ b by dgesv; the derivative by differences.
    let mut copy = vector("Awork", 2);
    copy.dims.push(Dim::Fixed(2));
    let mut given = copy.clone();
    given.name = "A".into();
    copy.binding = Some(l(0));
    let mut x = vector("x", 2);
    x.binding = Some(l(1));
    let ipiv = local("ipiv", ScalarType::Integer, vec![Dim::Fixed(2)]);
    let mut f = function(vec![given, vector("b", 2), x, int("info"), copy, ipiv], &[0, 1], &[2, 3], vec![]);
    f.external = external("dgesv", vec![n(2.0), n(1.0), l(4), n(2.0), l(5), l(2), n(2.0), l(3)], None);
    let all = [f];
    let r = call_f64(&all, FuncId(0), &[2.0, 0.0, 1.0, 4.0, 2.0, 9.0]).unwrap();
    assert_eq!(r, [1.0, 2.0, 0.0]);
    let d = call_dual(&all, FuncId(0), &[2.0, 0.0, 1.0, 4.0, 2.0, 9.0], &[0.0, 0.0, 0.0, 0.0, 2.0, 0.0]).unwrap();
    assert!((d[0] - 1.0).abs() < 1e-8 && (d[1] + 0.25).abs() < 1e-8, "{d:?}");
}

/// Every result of a record is asked for by a call of its own; the work is done once all the same.
#[test]
fn results_of_one_call_are_computed_once() {
    // The innermost function loops; every other one asks the one below for each of its three results.
    let looping = FStmtKind::For(LocalId(4), range(1.0, 100.0), stmts(vec![set(1, bin(Binary::Add, l(1), l(0)))]));
    let mut all = vec![function(
        vec![real("u"), real("a"), real("b"), real("c"), int("i")],
        &[0],
        &[1, 2, 3],
        vec![set(1, n(0.0)), looping, set(2, l(0)), set(3, n(1.0))],
    )];
    for k in 0..30 {
        let below = |out| FExpr::Call(FuncId(k), vec![l(0)], out);
        all.push(function(
            vec![real("u"), real("a"), real("b"), real("c")],
            &[0],
            &[1, 2, 3],
            vec![set(1, below(0)), set(2, below(1)), set(3, bin(Binary::Add, below(2), n(1.0)))],
        ));
    }
    assert_eq!(call_f64(&all, FuncId(30), &[2.0]).unwrap(), [200.0, 2.0, 31.0]);
    assert_eq!(call_f64(&all, FuncId(30), &[3.0]).unwrap(), [300.0, 3.0, 31.0]);
}

/// Second derivatives of a function with a loop, against the symbolic ones of what the loop computes.
#[test]
fn exact_second_derivatives() {
    use saltus_expr::{Differentiator, ExprId};
    let unary = [
        Unary::Neg,
        Unary::Abs,
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
    ];
    let binary =
        [Binary::Add, Binary::Sub, Binary::Mul, Binary::Div, Binary::Pow, Binary::Atan2, Binary::Min, Binary::Max];
    // y := 0; for i in 1:3 loop y := y + op(x*u/4, …)*i; end for
    let term = |e: FExpr| {
        function(
            vec![real("x"), real("u"), real("y"), int("i")],
            &[0, 1],
            &[2],
            vec![
                set(2, n(0.0)),
                FStmtKind::For(
                    LocalId(3),
                    range(1.0, 3.0),
                    stmts(vec![set(2, bin(Binary::Add, l(2), bin(Binary::Mul, e, l(3))))]),
                ),
            ],
        )
    };
    let inner = || bin(Binary::Mul, bin(Binary::Mul, l(0), l(1)), n(0.25));
    let other = || bin(Binary::Add, l(1), bin(Binary::Mul, l(0), l(0)));
    let mut pool = Pool::new();
    let mut cases: Vec<(Function, ExprId)> = Vec::new();
    let (x, u) = (pool.hole(0), pool.hole(1));
    let quarter = pool.num(0.25);
    let xu = pool.mul(x, u);
    let a = pool.mul(xu, quarter);
    let xx = pool.mul(x, x);
    let b = pool.add(u, xx);
    let six = pool.num(6.0);
    for op in unary {
        let e = pool.un(op, a);
        cases.push((term(FExpr::Unary(op, Box::new(inner()))), pool.mul(six, e)));
    }
    for op in binary {
        let e = pool.bin(op, a, b);
        cases.push((term(bin(op, inner(), other())), pool.mul(six, e)));
    }
    // Holes: x, u, the first direction, the second direction, how the first changes.
    let point = [0.7, 1.3, 0.4, -0.9, 1.1, 0.6, -0.3, 0.8];
    for (f, e) in cases {
        let first = Differentiator::new(&mut pool, &mut |p: &mut Pool, k| Some(p.hole(k + 2))).derivative(e);
        let mut second = |p: &mut Pool, k: u32| Some(p.hole(k + 4));
        let second = Differentiator::new(&mut pool, &mut second).derivative(first);
        let at = |e: ExprId| eval(&pool, e, &|k| point[k as usize], &mut NoCalls);
        let mut executor = Executor::new(&[f]);
        let (mut out, mut dout) = (Vec::new(), Vec::new());
        let tangent = FuncId(0).tangent().unwrap();
        executor.call_dual(tangent, &point[..4], &point[4..], &mut out, &mut dout).unwrap();
        let (want, dwant) = (at(first), at(second));
        assert!((out[0] - want).abs() <= 1e-13 * (1.0 + want.abs()), "{out:?} {want}");
        assert!((dout[0] - dwant).abs() <= 1e-12 * (1.0 + dwant.abs()), "{dout:?} {dwant}");
    }
}
