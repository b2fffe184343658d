//! No text makes the parser panic, hang or overflow the stack.

use crate::parsed;
use proptest::prelude::*;
use saltus_syntax::dump;

/// A model with nearly every construct.
pub const MODEL: &str = include_str!("everything.mo");

fn survives(text: &str) {
    let tree = parsed(text);
    // Whatever came out can be printed and dropped.
    let _ = dump(&tree.root);
    let (expr, _) = saltus_syntax::parse_expression(saltus_base::FileId(0), text);
    let _ = expr.to_string();
}

#[test]
fn the_model_itself_is_clean() {
    let tree = parsed(MODEL);
    assert!(tree.diagnostics.is_empty(), "{}", crate::render(MODEL, &tree.diagnostics));
}

#[test]
fn every_prefix() {
    for (end, _) in MODEL.char_indices() {
        survives(&MODEL[..end]);
    }
}

#[test]
fn every_token_removed_or_doubled() {
    let tokens = parsed(MODEL).tokens;
    for t in tokens.iter().filter(|t| !t.kind.is_trivia()) {
        let (a, b) = (t.start as usize, t.end as usize);
        survives(&format!("{}{}", &MODEL[..a], &MODEL[b..]));
        survives(&format!("{} {}{}", &MODEL[..b], &MODEL[a..b], &MODEL[b..]));
    }
}

#[test]
fn deep_nesting_of_everything() {
    let n = 50_000;
    for piece in [
        "model A ",
        "(",
        "[",
        "{",
        "annotation(",
        "if a then ",
        "for i in 1:2 loop ",
        "when a then ",
        "a(b(c(",
        "f(function g(",
        "x[",
        "not ",
        "-",
        "if ",
        "1 + (",
        "redeclare model A = B(",
        "replaceable package ",
        "elseif ",
        "else ",
        "end ",
        "end A; ",
        "a.b.",
        ".",
        "extends A(redeclare ",
        "function f = der(",
        "enumeration(",
        "a = ",
        "a := ",
        "'",
        "\"",
        "\\\"",
        "/*",
        "\u{0}",
        "é",
        "within ",
        "import ",
        "external ",
        "public ",
        "equation ",
        "algorithm while a loop ",
        "a^",
        "a < ",
        "1:",
        "(,",
        "constrainedby B(",
    ] {
        for head in
            ["", "model M ", "model M equation ", "model M algorithm ", "model M Real x(", "model M equation x = "]
        {
            survives(&format!("{head}{}", piece.repeat(n)));
        }
    }
}

#[test]
fn small_stack() {
    // Threads usually have 2 MiB; the parser takes less than half of it.
    let deep = |open: &str, close: &str| format!("model M {}1{}; end M;", open.repeat(255), close.repeat(255));
    let texts = [
        deep("Real x = (", ")"),
        format!("model M equation x = {}1{}; end M;", "f({[".repeat(80), "]})".repeat(80)),
        format!("model M equation {} end M;", "if a then for i in 1:2 loop ".repeat(127)),
        format!("model M {}", "model A ".repeat(255)),
        format!("model M extends A({}", "redeclare model A = B(".repeat(255)),
        format!("model M Real x({}", "a(".repeat(255)),
        format!("model M equation x = {}1;", "a*(".repeat(250)),
        format!("model M equation x = {};", vec!["a"; 1000].join("*")),
    ];
    let run = std::thread::Builder::new().stack_size(1024 * 1024).spawn(move || texts.iter().for_each(|t| survives(t)));
    run.expect("thread").join().expect("no overflow");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        survives(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn random_words(words in prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..120)) {
        survives(&words.join(" "));
    }

    #[test]
    fn pieces_exchanged(a in 0..MODEL.len(), b in 0..MODEL.len(), c in 0..MODEL.len(), word in prop::sample::select(WORDS.to_vec())) {
        let cut = |mut i: usize| { while !MODEL.is_char_boundary(i) { i -= 1 } i };
        let mut at = [cut(a), cut(b), cut(c)];
        at.sort();
        survives(&format!("{}{}{word}{}{}", &MODEL[..at[0]], &MODEL[at[1]..at[2]], &MODEL[at[0]..at[1]], &MODEL[at[2]..]));
    }
}

const WORDS: &[&str] = &[
    "model",
    "A",
    "B",
    "x",
    "end",
    "end A;",
    ";",
    "equation",
    "algorithm",
    "initial",
    "if",
    "then",
    "else",
    "elseif",
    "for",
    "i",
    "in",
    "1:3",
    "loop",
    "while",
    "when",
    "elsewhen",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    "=",
    ":=",
    "==",
    "+",
    "-",
    "*",
    "^",
    "1",
    "2.5",
    "\"s\"",
    "annotation",
    "extends",
    "redeclare",
    "replaceable",
    "constrainedby",
    "package",
    "function",
    "Real",
    "parameter",
    "der",
    "connect",
    "external",
    "import",
    ".",
    ".*",
    ":",
    "type",
    "enumeration",
    "public",
    "protected",
    "not",
    "and",
    "break",
    "return",
    "each",
    "final",
    "operator",
    "record",
    "within",
    "pure",
    "impure",
    "end if;",
    "end for;",
    "\n",
    "'q'",
    "true",
    "inner",
    "outer",
];
