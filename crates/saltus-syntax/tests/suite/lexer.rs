use saltus_base::FileId;
use saltus_syntax::{TokenKind, TokenKind::*, lex};

fn check(text: &str, expected: &[TokenKind]) {
    let (tokens, diagnostics) = lex(FileId(0), text);
    let kinds: Vec<TokenKind> = tokens.iter().map(|t| t.kind).filter(|k| *k != Whitespace).collect();
    assert_eq!(kinds, expected, "{text}");
    assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
    assert_eq!(tokens.iter().map(|t| t.text(text)).collect::<std::string::String>(), text);
}

fn check_error(text: &str, message: &str, hint: &str) {
    let (tokens, diagnostics) = lex(FileId(0), text);
    assert_eq!(tokens.iter().map(|t| t.text(text)).collect::<std::string::String>(), text);
    let found: Vec<(&str, Vec<&str>)> =
        diagnostics.iter().map(|d| (d.message.as_str(), d.hints.iter().map(|h| h.as_str()).collect())).collect();
    let hints = if hint.is_empty() { vec![] } else { vec![hint] };
    assert_eq!(found, [(message, hints)], "{text}");
}

#[test]
fn numbers() {
    check("1 12 007", &[UnsignedInteger, UnsignedInteger, UnsignedInteger]);
    check("1. 1.5 .5 1e3 1.E-3 1.5e+3 .5e1", &[UnsignedReal; 7]);
    check("1e", &[UnsignedInteger, Ident]);
    check("1:2", &[UnsignedInteger, Colon, UnsignedInteger]);
    check("2.*x", &[UnsignedReal, Star, Ident]);
    check("2 .* x", &[UnsignedInteger, DotStar, Ident]);
}

#[test]
fn operators() {
    check("+ - * / ^", &[Plus, Minus, Star, Slash, Caret]);
    check(".+ .- .* ./ .^", &[DotPlus, DotMinus, DotStar, DotSlash, DotCaret]);
    check("< <= > >= == <>", &[Less, LessEqual, Greater, GreaterEqual, EqualEqual, NotEqual]);
    check("= := : . , ;", &[Equals, Assign, Colon, Dot, Comma, Semicolon]);
    check("()[]{}", &[LParen, RParen, LBracket, RBracket, LBrace, RBrace]);
    check("a.b[1].c", &[Ident, Dot, Ident, LBracket, UnsignedInteger, RBracket, Dot, Ident]);
}

#[test]
fn identifiers_and_keywords() {
    check("a _b c1 endx End", &[Ident; 5]);
    check("'a b' '+' 'it\\'s' 'ü'", &[Ident; 4]);
    check("end model constrainedby der", &[End, Model, Constrainedby, Der]);
}

#[test]
fn strings_and_comments() {
    check(r#""a" "" "a\"b" "a\\""#, &[String; 4]);
    check("\"two\nlines\" x", &[String, Ident]);
    check("a // b\nc", &[Ident, LineComment, Ident]);
    check("a /* b\n * c */ d /**/", &[Ident, BlockComment, Ident, BlockComment]);
    check("a / /* x */ b", &[Ident, Slash, BlockComment, Ident]);
    check("\u{feff}model", &[Model]);
}

#[test]
fn what_is_no_token() {
    check_error("a \"b\nc", "this string is not closed", "add the closing `\"`");
    check_error(
        "a 'b\nc",
        "this quoted identifier is not closed on its line",
        "add the closing `'`; strings are written with `\"`",
    );
    check_error("''", "a quoted identifier cannot be empty", "");
    check_error("a /* b", "this comment is not closed", "add `*/`");
    check_error("a != b", "unknown character `!`", "`not equal` is written `<>`");
    check_error("a && b", "unknown character `&`", "conjunction is written `and`");
    check_error("a || b", "unknown character `|`", "disjunction is written `or`");
    check_error("!a", "unknown character `!`", "negation is written `not`");
    check_error("a € b", "unknown character `€`", "");
    check_error("a\u{a0}b", "unknown character U+00A0", "");
}
