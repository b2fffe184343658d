//! The files of a library (the folders of `MODELICAPATH`; nothing without it), whole and mutilated: nothing is lost,
//! nothing crashes. `SALTUS_CUTS` sets how often each file is cut and mutated.

use saltus_base::FileId;
use saltus_syntax::{TokenKind, lex, parse};
use std::path::{Path, PathBuf};

fn modelica_files(dir: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(dir).map(|it| it.flatten().map(|e| e.path()).collect()).unwrap_or_default();
    entries.sort();
    for p in entries {
        if p.is_dir() {
            modelica_files(&p, out);
        } else if p.extension().is_some_and(|e| e == "mo") {
            out.push(p);
        }
    }
}

/// xorshift: the same cuts in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

/// `annotation` as a word, and as a node of the tree. The tree's debug form names every node it has.
fn annotations(text: &str) -> (usize, usize) {
    let tree = parse(FileId(0), text);
    let words = tree.tokens.iter().filter(|t| t.kind == TokenKind::Annotation).count();
    (words, format!("{:?}", tree.root).matches("Annotation {").count())
}

#[test]
fn every_place_of_an_annotation_keeps_it() {
    let text = r#"
within A;
model M "m"
  import X.Y annotation(a = 1);
  extends B(x = 1 "d" annotation(b = 1)) annotation(c = 1);
  type E = enumeration(one "1" annotation(d = 1), two) annotation(e = 1);
  function fx = der(f, x) annotation(f = 1);
  replaceable model R = S constrainedby T "t" annotation(g = 1);
  Real x(start = 1) "x" annotation(Dialog(group = "g"), __Vendor(h = 1)), y annotation(choices(choice = 1));
  replaceable Real z constrainedby Real annotation(i = 1);
equation
  connect(a, b) annotation(Line(points = {{0, 0}, {1, 1}}));
  x = y "e" annotation(j = 1);
algorithm
  x := 1 annotation(k = 1);
  if true then
    f(x) "call" annotation(l = 1);
  end if;
  annotation(Icon(graphics = {Text(textString = "%name")}), Diagram, experiment(StopTime = 1));
end M;
"#;
    assert!(parse(FileId(0), text).diagnostics.is_empty());
    assert_eq!(annotations(text), (15, 15));
}

#[test]
fn library_files_whole_and_mutilated() {
    let path = std::env::var("MODELICAPATH").unwrap_or_default();
    let mut files = Vec::new();
    for dir in path.split(':').filter(|d| !d.is_empty()) {
        modelica_files(Path::new(dir), &mut files);
    }
    let cuts: usize = std::env::var("SALTUS_CUTS").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for file in &files {
        let Ok(text) = std::fs::read_to_string(file) else { continue };
        let tree = parse(FileId(0), &text);
        let joined: String = tree.tokens.iter().map(|t| t.text(&text)).collect();
        assert_eq!(joined, text, "{}", file.display());
        for _ in 0..cuts {
            // Cut off at a random place.
            let mut at = random.below(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            parse(FileId(0), &text[..at]);
            // A token left out, doubled, or swapped with another.
            let tokens = lex(FileId(0), &text).0;
            if tokens.is_empty() {
                continue;
            }
            let (i, j) = (random.below(tokens.len()), random.below(tokens.len()));
            let other = tokens[j].text(&text);
            let (before, after) = (&text[..tokens[i].start as usize], &text[tokens[i].end as usize..]);
            for middle in ["", other, &format!("{0}{0}", tokens[i].text(&text))] {
                parse(FileId(0), &format!("{before}{middle}{after}"));
            }
        }
    }
    println!("{} files", files.len());
}
