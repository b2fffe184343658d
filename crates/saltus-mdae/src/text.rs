//! Names and what stands between them.

use saltus_base::Anchor;

/// A name with its marks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name {
    pub base: String,
    /// How often it is differentiated.
    pub primes: usize,
    /// How often it is shifted.
    pub bullets: usize,
    /// The right limit.
    pub plus: bool,
}

impl Name {
    pub fn marks(&self) -> usize {
        self.primes + self.bullets + usize::from(self.plus)
    }
}

/// A piece of an expression.
#[derive(Debug)]
pub enum Piece<'a> {
    /// Taken over as it is.
    Text(&'a str),
    /// A name, where it begins and where it ends.
    Name(Name, usize, usize),
}

/// Comments as blanks, so that places stay; so are characters that stand for marks.
pub fn without_comments(text: &str) -> String {
    let text = text.replace(MARK, "   ");
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(p) = rest.find("//") {
        let end = rest[p..].find('\n').map_or(rest.len(), |e| p + e);
        out.push_str(&rest[..p]);
        out.extend(std::iter::repeat_n(' ', end - p));
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// Before a piece of the translation: where it comes from, until [`take_marks`] takes it out again.
///
/// `exact`: taken over as it is.
pub fn mark(start: usize, end: usize, exact: bool) -> String {
    format!("{MARK}{start},{end},{}{MARK}", u8::from(exact))
}

const MARK: char = '\u{E000}';

/// The text without marks, and the places they tell.
pub fn take_marks(text: &str) -> (String, Vec<Anchor>) {
    let (mut out, mut anchors) = (String::with_capacity(text.len()), Vec::new());
    let mut parts = text.split(MARK);
    out.push_str(parts.next().unwrap_or(""));
    while let (Some(place), Some(rest)) = (parts.next(), parts.next()) {
        let mut numbers = place.split(',').map_while(|n| n.parse().ok());
        if let (Some(start), Some(end), Some(exact)) = (numbers.next(), numbers.next(), numbers.next()) {
            anchors.push(Anchor { at: out.len() as u32, start, end, exact: exact == 1 });
        }
        out.push_str(rest);
    }
    (out, anchors)
}

/// The text without marks.
pub fn plain(text: &str) -> String {
    take_marks(text).0
}

/// The text as a single name, if it is one.
pub fn identifier(text: &str) -> Option<Name> {
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let (name, end) = name_at(text, 0);
    (begins && end == text.len()).then_some(name)
}

/// Names and the text between them.
pub fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut out = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(c) = text[at..].chars().next() {
        if c.is_ascii_alphabetic() || c == '_' {
            if from < at {
                out.push(Piece::Text(&text[from..at]));
            }
            let (name, end) = name_at(text, at);
            out.push(Piece::Name(name, at, end));
            (from, at) = (end, end);
        } else if c.is_ascii_digit() {
            at = number_end(text, at);
        } else {
            at += c.len_utf8();
        }
    }
    if from < text.len() {
        out.push(Piece::Text(&text[from..]));
    }
    out
}

/// The end of a number with its exponent.
fn number_end(text: &str, from: usize) -> usize {
    let digits =
        |at: usize| at + text[at..].find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len() - at);
    let end = digits(from);
    let rest = &text[end..];
    let Some(tail) = rest.strip_prefix(['e', 'E']) else { return end };
    let sign = tail.starts_with(['+', '-']) as usize;
    if tail[sign..].starts_with(|c: char| c.is_ascii_digit()) { digits(end + 1 + sign) } else { end }
}

/// The name that begins at a place, and where it ends.
fn name_at(text: &str, from: usize) -> (Name, usize) {
    let len = text[from..].find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len() - from);
    let mut name = Name { base: text[from..from + len].to_string(), ..Name::default() };
    let mut at = from + len;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at + c.len_utf8()..];
        match c {
            '\'' | '′' | '’' => name.primes += 1,
            '•' => name.bullets += 1,
            '⁺' => name.plus = true,
            // A sum, unless no operand follows.
            '+' if rest.trim_start().is_empty() || rest.trim_start().starts_with(OPERATORS) => name.plus = true,
            _ => break,
        }
        at += c.len_utf8();
        if name.plus {
            break;
        }
    }
    (name, at)
}

const OPERATORS: &[char] = &['=', '+', '-', '*', '/', '^', ')', ',', '<', '>', '⟂'];

/// Whether a name means something else in Modelica, where it will stand.
pub fn reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

const RESERVED: &[&str] = &[
    "algorithm",
    "and",
    "annotation",
    "block",
    "break",
    "class",
    "connect",
    "connector",
    "constant",
    "constrainedby",
    "der",
    "discrete",
    "do",
    "each",
    "else",
    "elseif",
    "elsewhen",
    "encapsulated",
    "end",
    "enumeration",
    "equation",
    "expandable",
    "extends",
    "external",
    "false",
    "final",
    "flow",
    "for",
    "function",
    "if",
    "import",
    "impure",
    "in",
    "initial",
    "inner",
    "input",
    "loop",
    "model",
    "not",
    "operator",
    "or",
    "outer",
    "output",
    "package",
    "parameter",
    "partial",
    "protected",
    "public",
    "pure",
    "record",
    "redeclare",
    "replaceable",
    "return",
    "stream",
    "then",
    "time",
    "true",
    "type",
    "when",
    "while",
    "within",
];
