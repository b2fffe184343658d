use saltus_base::FileId;
use saltus_syntax::ast::*;
use saltus_syntax::parse_expression;

fn read(text: &str) -> Expr {
    let (expr, diagnostics) = parse_expression(FileId(0), text);
    assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
    assert_eq!((expr.span.start, expr.span.end as usize), (0, text.len()), "span of {text}");
    expr
}

/// The tree with all brackets.
fn full(e: &Expr) -> String {
    match &e.kind {
        ExprKind::Unary(op, a) => format!("({}{})", op.symbol(), full(a)),
        ExprKind::Binary(op, a, b) => format!("({} {} {})", full(a), op.symbol(), full(b)),
        ExprKind::Range(a, None, b) => format!("({} : {})", full(a), full(b)),
        ExprKind::Range(a, Some(s), b) => format!("({} : {} : {})", full(a), full(s), full(b)),
        ExprKind::If(branches, otherwise) => {
            let b: Vec<String> = branches.iter().map(|(c, v)| format!("{} ? {}", full(c), full(v))).collect();
            format!("<{} ! {}>", b.join(" ; "), full(otherwise))
        }
        _ => e.to_string(),
    }
}

/// Parses to this tree, and the text of the tree parses to the same one.
fn shape(text: &str, expected: &str) {
    let expr = read(text);
    assert_eq!(full(&expr), expected, "{text}");
    assert_eq!(full(&read(&expr.to_string())), expected, "{text} printed as {expr}");
}

/// Prints as written.
fn same(text: &str) {
    assert_eq!(read(text).to_string(), text);
}

fn error(text: &str, expected: &str) {
    let (_, diagnostics) = parse_expression(FileId(0), text);
    let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(messages.join("; "), expected, "{text}");
}

#[test]
fn precedence() {
    shape("a + b * c", "(a + (b * c))");
    shape("a * b + c", "((a * b) + c)");
    shape("a - b - c", "((a - b) - c)");
    shape("a - (b - c)", "(a - (b - c))");
    shape("a / b * c", "((a / b) * c)");
    shape("a / (b * c)", "(a / (b * c))");
    shape("-a^2", "(-(a ^ 2))");
    shape("(-a)^2", "((-a) ^ 2)");
    shape("-a*b", "(-(a * b))");
    shape("-a + b", "((-a) + b)");
}

#[test]
fn signs_are_for_first_terms() {
    shape("+a", "(+a)");
    shape(".-a .+ b", "((.-a) .+ b)");
    shape("a*(-b)", "(a * (-b))");
    shape("2^(-1)", "(2 ^ (-1))");
    error("a*-b", "a signed operand needs parentheses");
    error("2^-1", "a signed operand needs parentheses");
}

#[test]
fn logic_and_relations() {
    shape("a or b and not c == d", "(a or (b and (not (c == d))))");
    shape("(a or b) and c", "((a or b) and c)");
    shape("not (a and b)", "(not (a and b))");
    shape("a + 1 < b * 2", "((a + 1) < (b * 2))");
    shape("(a < b) == c", "((a < b) == c)");
    shape("a <> b", "(a <> b)");
    shape("a >= b or a <= c or a > d", "(((a >= b) or (a <= c)) or (a > d))");
    error("a < b < c", "relations cannot be chained");
    error("a == not b", "`not` as an operand needs parentheses");
}

#[test]
fn powers() {
    shape("a^b * c", "((a ^ b) * c)");
    shape("a.^b", "(a .^ b)");
    shape("(a^b)^c", "((a ^ b) ^ c)");
    shape("a^(b^c)", "(a ^ (b ^ c))");
    error("a^b^c", "`a^b^c` is ambiguous and taken as `a^(b^c)`");
    let (e, _) = parse_expression(FileId(0), "a^b^c");
    assert_eq!(full(&e), "(a ^ (b ^ c))");
}

#[test]
fn ranges() {
    shape("1:n", "(1 : n)");
    shape("1:2:n + 1", "(1 : 2 : (n + 1))");
    shape("(1:n) + a", "((1 : n) + a)");
    same("x[1:end, :, end - 1]");
    same("x[:]");
    same("x[a[end]:end].y[2].z");
}

#[test]
fn conditional_expressions() {
    shape("if a then b else c", "<a ? b ! c>");
    shape("if a then b elseif c then d else e + 1", "<a ? b ; c ? d ! (e + 1)>");
    shape("if a then b else if c then d else e", "<a ? b ; c ? d ! e>");
    shape("(if a then b else c) + 1", "(<a ? b ! c> + 1)");
    shape("if if a then b else c then d else e", "<<a ? b ! c> ? d ! e>");
    error("if a then b", "expected `else`, found end of file");
    error("if a b else c", "expected `then` after the condition, found `b`");
    error("if a = b then b else c", "expected `then` after the condition, found `=`");
    error("1 + if a then b else c", "an `if` expression as an operand needs parentheses");
}

#[test]
fn literals() {
    assert!(matches!(read("9007199254740992").kind, ExprKind::Integer(9007199254740992)));
    assert!(matches!(read("9007199254740993").kind, ExprKind::Real(_)));
    assert!(matches!(read("1.").kind, ExprKind::Real(1.0)));
    assert!(matches!(read(".5").kind, ExprKind::Real(0.5)));
    assert!(matches!(read("1e-3").kind, ExprKind::Real(0.001)));
    assert!(matches!(read("true").kind, ExprKind::Boolean(true)));
    assert_eq!(read(r#""a\n\"\\ü\t\?\'""#).as_str(), Some("a\n\"\\ü\t?'"));
    same(r#""a\n\"\\ü\t""#);
    error(r#""a\q""#, "`\\q` is no escape sequence; the backslash is kept");
    error("1e999", "this number is larger than the largest Real");
    same("\"a\" + \"b\"");
}

#[test]
fn calls() {
    same("f()");
    same("f(x, y + 1)");
    same("f(x, a = 1, b = {2, 3})");
    same("A.B.f(x)");
    same(".A.f(x)");
    same("der(x)");
    same("der(a.b[1])");
    same("initial()");
    same("pure(f(x))");
    same("sum(x[i] for i in 1:n)");
    same("sum(x[i, j] for i in 1:n, j)");
    same("f(function g(a = 1), 2)");
    same("f(h = function A.g())");
    same("a[1].b.f(x)");
    error("f(a = 1, 2)", "a positional argument cannot follow named ones");
    error("f(1, )", "expected an argument after `,`, found `)`");
    error("f(1 2)", "expected `,` or `)`, found number `2`");
    error("f(1", "expected `,` or `)`, found end of file");
    error("der x", "expected `(` after `der`, found `x`");
    error("function g(a = 1)", "expected an expression, found `function`");
}

#[test]
fn arrays() {
    same("{1, 2, 3}");
    same("{{1, 2}, {3, 4}}");
    same("{}");
    same("{i^2 for i in 1:3}");
    same("{i + j for i in 1:3, j in {1, 2}}");
    same("[1, 2; 3, 4]");
    same("[a]");
    same("[[1, 2]; b]");
    error("{1, }", "expected an expression after `,`, found `}`");
    error("[1, 2; ]", "expected an expression, found `]`");
    error("{1; 2}", "expected `,` or `}`, found `;`");
}

#[test]
fn brackets_are_remembered_as_span_only() {
    let expr = read("((a + b))");
    assert!(matches!(expr.kind, ExprKind::Binary(BinaryOp::Add, ..)));
    same("(a, b)");
    same("(a, , b)");
    same("(, b)");
    same("(a, )");
    same("()");
    error("(a", "expected `,` or `)`, found end of file");
    error("(a))", "expected an operator or the end of the expression, found `)`");
}

#[test]
fn beyond_the_grammar_of_3_6() {
    same("f(x)[1]");
    same("f(x).re");
    same("(a)[1]");
    same("{1, 2}[i]");
    same("(a + b).re");
    same("f(x)[1].y[2]");
}

#[test]
fn references() {
    same("a.'b c'.d");
    same(".a");
    same("time");
    error("a.", "expected a name after `.`, found end of file");
    error("a.end", "expected a name after `.`, found `end`");
    error("end", "expected an expression, found `end`");
    error("", "expected an expression, found end of file");
    error("a b", "expected an operator or the end of the expression, found `b`");
    error("x[", "expected an expression, found end of file");
    error("x[1", "expected `,` or `]`, found end of file");
    error("1 + ;", "expected an expression, found `;`");
    error("model", "expected an expression, found `model`");
}

#[test]
fn long_chains_stay_low() {
    fn height(e: &Expr) -> usize {
        match &e.kind {
            ExprKind::Binary(_, a, b) => 1 + height(a).max(height(b)),
            ExprKind::Unary(_, a) => 1 + height(a),
            _ => 1,
        }
    }
    fn terms(e: &Expr, sign: i64, sum: &mut i64) {
        match &e.kind {
            ExprKind::Binary(BinaryOp::Add, a, b) => {
                terms(a, sign, sum);
                terms(b, sign, sum);
            }
            ExprKind::Binary(BinaryOp::Sub, a, b) => {
                terms(a, sign, sum);
                terms(b, -sign, sum);
            }
            ExprKind::Unary(UnaryOp::Neg, a) => terms(a, -sign, sum),
            ExprKind::Integer(i) => *sum += sign * i,
            other => panic!("{other:?}"),
        }
    }
    let mut text = "0".to_string();
    let mut value = 0i64;
    for i in 1..20_000i64 {
        let minus = i % 7 == 0 || (i > 5000 && i < 6000);
        text += &format!(" {} {i}", if minus { '-' } else { '+' });
        value += if minus { -i } else { i };
    }
    let expr = read(&text);
    assert!(height(&expr) < 500, "{}", height(&expr));
    let mut sum = 0;
    terms(&expr, 1, &mut sum);
    assert_eq!(sum, value);

    let compared = read(&format!("{text} < 3 or b"));
    let ExprKind::Binary(BinaryOp::Or, left, _) = &compared.kind else { panic!() };
    let ExprKind::Binary(BinaryOp::Lt, left, _) = &left.kind else { panic!() };
    let mut sum = 0;
    terms(left, 1, &mut sum);
    assert_eq!(sum, value);

    read(&vec!["a"; 50_000].join(" and "));
    error(&vec!["a"; 50_000].join(" * "), "this expression has more than 1024 levels");
}

#[test]
fn else_if_chains_have_no_depth() {
    read(&format!("{}0", "if a then 1 else ".repeat(10_000)));
}

#[test]
fn depth_is_bounded() {
    let deep = |n: usize| format!("{}1{}", "(".repeat(n), ")".repeat(n));
    assert!(matches!(read(&deep(200)).kind, ExprKind::Integer(1)));
    for n in [300, 100_000] {
        error(&deep(n), "nested deeper than 256 levels");
    }
    error(&"(".repeat(100_000), "nested deeper than 256 levels");
    error(&"{[f(".repeat(100_000), "nested deeper than 256 levels");
    error(&format!("{}a", "not (".repeat(100_000)), "nested deeper than 256 levels");
    error(&format!("{}a{}", "x[".repeat(100_000), "]".repeat(100_000)), "nested deeper than 256 levels");
    // A tower of brackets on the left of long products: high, although never deep.
    let mut tower = "a".to_string();
    for _ in 0..200 {
        tower = format!("({tower}){}", "*b".repeat(900));
    }
    error(&tower, "this expression has more than 1024 levels");
    error(&format!("f(x){}", "[1]".repeat(5000)), "this expression has more than 1024 levels");
    let (_, d) = parse_expression(FileId(0), &format!("{}a", "-".repeat(100_000)));
    assert!(d.iter().any(|d| d.message == "nested deeper than 256 levels"));
    let (_, d) = parse_expression(FileId(0), &vec!["a"; 100_000].join("^"));
    assert!(d.iter().any(|d| d.message == "nested deeper than 256 levels"));
}
