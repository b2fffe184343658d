//! Every construct of the grammar, positive and negative. Tests are data: `constructs.txt` and `errors.txt` hold texts
//! with what becomes of them.

mod expressions;
mod lexer;
mod library;
mod robustness;
mod views;

use saltus_base::{Diagnostic, FileId, SourceMap, Stage};
use saltus_syntax::{SyntaxTree, dump, parse};
use std::path::Path;

/// Parses and checks what holds for every text: lossless tokens, stage, spans inside the text.
pub fn parsed(text: &str) -> SyntaxTree {
    let tree = parse(FileId(0), text);
    let joined: String = tree.tokens.iter().map(|t| t.text(text)).collect();
    assert_eq!(joined, text, "tokens are the text");
    for d in &tree.diagnostics {
        assert_eq!(d.stage, Stage::FrontEnd);
        for span in std::iter::once(d.span).chain(d.labels.iter().map(|l| l.span)) {
            assert!(span.start <= span.end && span.end as usize <= text.len(), "{d:?}");
        }
    }
    tree
}

/// `line:column message | line:column label ? hint`, one per line.
pub fn render(text: &str, diagnostics: &[Diagnostic]) -> String {
    let mut map = SourceMap::default();
    let id = map.add("", text);
    let place = |offset: u32| {
        let p = map.get(id).expect("just added").line_col(offset);
        format!("{}:{}", p.line, p.column)
    };
    let mut out = String::new();
    for d in diagnostics {
        out += &format!("{} {}", place(d.span.start), d.message);
        for l in &d.labels {
            out += &format!(" | {} {}", place(l.span.start), l.message);
        }
        for h in &d.hints {
            out += &format!(" ? {h}");
        }
        out += "\n";
    }
    out
}

/// Runs `result` on the text of every section of a file and compares, or rewrites the file.
fn check_sections(file: &str, result: impl Fn(&str) -> String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite").join(file);
    let old = std::fs::read_to_string(&path).expect("test file").replace("\r\n", "\n");
    let mut sections = old.split("\n### ");
    let mut new = sections.next().unwrap_or_default().trim_end().to_string() + "\n";
    for section in sections {
        let (head, _) = section.split_once("\n=>").unwrap_or_else(|| panic!("no `=>` in: {section}"));
        let (name, text) = head.split_once('\n').unwrap_or((head, ""));
        new += &format!("\n### {name}\n{text}\n=>\n{}\n", result(text).trim_end());
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, new).expect("write test file");
        return;
    }
    for (a, b) in new.split("\n### ").zip(old.split("\n### ")) {
        assert_eq!(a.trim_end(), b.trim_end(), "\nnow (left) differs from {file} (right)");
    }
    assert_eq!(new.trim_end(), old.trim_end());
}

#[test]
fn constructs() {
    check_sections("constructs.txt", |text| {
        let tree = parsed(text);
        assert!(tree.diagnostics.is_empty(), "{text}\n{}", render(text, &tree.diagnostics));
        dump(&tree.root)
    });
}

#[test]
fn errors() {
    check_sections("errors.txt", |text| {
        let tree = parsed(text);
        assert!(!tree.diagnostics.is_empty(), "{text}");
        format!("{}~~~\n{}", render(text, &tree.diagnostics), dump(&tree.root))
    });
}
