//! Models of `tests/problems`, cut off and mutilated at pseudo-random places: `saltus check` may refuse them, with a message,
//! but never crashes and always ends.
//!
//! `SALTUS_ROBUSTNESS=2000` tries more of them.

use saltus_testkit::process::{self, End, Outcome};
use saltus_testkit::{Scratch, in_parallel, project_root, saltus_binary};
use std::time::Duration;
use std::{env, fs};

/// The linear congruential generator of Knuth's MMIX; the upper bits are used.
struct Generator(u64);

impl Generator {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

/// Words and characters that make a difference.
const INSERTED: &str = "; ( ) { } [ ] \" ' /* // = := == . , - ^ end if then else for loop when equation algorithm der( pre( \
    model extends each redeclare flow discrete true 1e999 99999999999999999999 \u{0} \u{feff} é";

/// One harm done to a text.
fn mutilate(text: &str, generator: &mut Generator) -> String {
    let characters: Vec<char> = text.chars().collect();
    let place = generator.below(characters.len() + 1);
    let end = (place + 1 + generator.below(20)).min(characters.len());
    let word = |g: &mut Generator| {
        let words: Vec<&str> = INSERTED.split(' ').collect();
        format!(" {} ", words[g.below(words.len())]).chars().collect::<Vec<char>>()
    };
    let (head, rest) = characters.split_at(place);
    let tail = &characters[end.max(place)..];
    let pieces: [Vec<char>; 3] = match generator.below(7) {
        0 => [head.to_vec(), vec![], vec![]],
        1 => [head.to_vec(), word(generator), rest.to_vec()],
        2 => [head.to_vec(), word(generator), tail.to_vec()],
        3 => [head.to_vec(), vec![], tail.to_vec()],
        4 => [head.to_vec(), rest[..end - place].repeat(2), tail.to_vec()],
        5 => return exchange_names(text, generator),
        _ => return exchange_lines(text, generator),
    };
    pieces.concat().into_iter().collect()
}

/// One name of the text in the place of another one: mostly still grammatical, mostly without a meaning.
fn exchange_names(text: &str, generator: &mut Generator) -> String {
    let names: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty()).collect();
    if names.is_empty() {
        return String::new();
    }
    let (old, new) = (names[generator.below(names.len())], names[generator.below(names.len())]);
    let places: Vec<usize> = text.match_indices(old).map(|(k, _)| k).collect();
    let place = places[generator.below(places.len())];
    format!("{}{new}{}", &text[..place], &text[place + old.len()..])
}

fn exchange_lines(text: &str, generator: &mut Generator) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    if lines.is_empty() {
        return String::new();
    }
    let (a, b) = (generator.below(lines.len()), generator.below(lines.len()));
    match generator.below(3) {
        0 => lines.swap(a, b),
        1 => drop(lines.remove(a)),
        _ => lines.insert(a, lines[b]),
    }
    lines.join("\n")
}

/// What is wrong with an answer, whatever the question was.
fn fault(outcome: &Outcome) -> Option<String> {
    if let Some(crash) = outcome.crash() {
        return Some(crash);
    }
    match outcome.end {
        End::Code(0) => None,
        End::Code(70) => Some("exit code 70, a bug in Saltus".into()),
        End::Code(code) if !(2..=6).contains(&code) => Some(format!("exit code {code} has no meaning")),
        _ if outcome.stderr.trim().is_empty() => Some("refused without a message".into()),
        _ => None,
    }
}

#[test]
fn mutilated_models_are_answered() {
    let (root, binary) = match (project_root(), saltus_binary()) {
        (Ok(root), Ok(binary)) => (root, binary),
        (Err(e), _) | (_, Err(e)) => panic!("{e}"),
    };
    let mut models: Vec<_> = fs::read_dir(root.join("tests/problems"))
        .unwrap()
        .flatten()
        .map(|entry| entry.path().join("model.mo"))
        .filter(|path| path.is_file())
        .collect();
    models.sort();
    let texts: Vec<String> = models.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    assert!(!texts.is_empty(), "no models in tests/problems");

    let count = env::var("SALTUS_ROBUSTNESS").ok().and_then(|v| v.parse().ok()).unwrap_or(240);
    let mut generator = Generator(20_261_116);
    let variants: Vec<String> = (0..count)
        .map(|k| {
            let harms = 1 + generator.below(3);
            (0..harms).fold(texts[k % texts.len()].clone(), |text, _| mutilate(&text, &mut generator))
        })
        .collect();

    let faults = in_parallel(&variants, |text| {
        let scratch = Scratch::new().unwrap();
        fs::write(scratch.path().join("model.mo"), text).unwrap();
        let outcome = process::run(&binary, &["check", "model.mo"], scratch.path(), Duration::from_secs(20)).unwrap();
        fault(&outcome).map(|fault| format!("{fault}\n{}\n--- of the model:\n{text}", outcome.stderr.trim_end()))
    });
    let faults: Vec<String> = faults.into_iter().flatten().collect();
    assert!(faults.is_empty(), "\n{}\n\n{} of {} went wrong", faults.join("\n\n"), faults.len(), variants.len());
}

#[test]
fn harm_is_the_same_every_time() {
    let harm = || mutilate("model M\n  Real x = 1;\nend M;\n", &mut Generator(7));
    assert_eq!(harm(), harm());
    let mut generator = Generator(1);
    for _ in 0..1000 {
        mutilate("", &mut generator);
        mutilate("a é\nb", &mut generator);
    }
}
