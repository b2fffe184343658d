//! Text to tokens, byte by byte. Nothing is lost: the token texts in a row are the file.
//!
//! `x = 1; // c` ⇒ `Ident Whitespace Equals Whitespace UnsignedInteger Semicolon Whitespace LineComment`

use saltus_base::{Diagnostic, FileId, Span, Stage};

/// A piece of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Token {
    /// The token's text in its file.
    pub fn text<'a>(&self, source: &'a str) -> &'a str {
        source.get(self.start as usize..self.end as usize).unwrap_or("")
    }
    /// The token's place.
    pub fn span(&self, file: FileId) -> Span {
        Span { file, start: self.start, end: self.end }
    }
}

macro_rules! token_kinds {
    (other { $($other:ident $described:literal,)* } symbols { $($symbol:ident $text:literal,)* } keywords { $($keyword:ident $word:literal,)* }) => {
        /// The kinds of tokens.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum TokenKind { $($other,)* $($symbol,)* $($keyword,)* }

        impl TokenKind {
            /// How messages name it.
            pub fn describe(self) -> &'static str {
                match self {
                    $(TokenKind::$other => $described,)*
                    $(TokenKind::$symbol => concat!("`", $text, "`"),)*
                    $(TokenKind::$keyword => concat!("`", $word, "`"),)*
                }
            }
            /// The keyword with this text.
            pub fn keyword(text: &str) -> Option<TokenKind> {
                match text { $($word => Some(TokenKind::$keyword),)* _ => None }
            }
            /// Whether it is a keyword.
            pub fn is_keyword(self) -> bool {
                matches!(self, $(TokenKind::$keyword)|*)
            }
        }
    };
}

token_kinds! {
    other {
        Whitespace "white space",
        LineComment "comment",
        BlockComment "comment",
        Unknown "unknown character",
        Eof "end of file",
        Ident "identifier",
        UnsignedInteger "number",
        UnsignedReal "number",
        String "string",
    }
    symbols {
        LParen "(", RParen ")", LBracket "[", RBracket "]", LBrace "{", RBrace "}",
        Semicolon ";", Comma ",", Dot ".", Colon ":", Assign ":=", Equals "=",
        Plus "+", Minus "-", Star "*", Slash "/", Caret "^",
        DotPlus ".+", DotMinus ".-", DotStar ".*", DotSlash "./", DotCaret ".^",
        Less "<", LessEqual "<=", Greater ">", GreaterEqual ">=", EqualEqual "==", NotEqual "<>",
    }
    keywords {
        Algorithm "algorithm", And "and", Annotation "annotation", Block "block", Break "break", Class "class",
        Connect "connect", Connector "connector", Constant "constant", Constrainedby "constrainedby", Der "der",
        Discrete "discrete", Each "each", Else "else", Elseif "elseif", Elsewhen "elsewhen",
        Encapsulated "encapsulated", End "end", Enumeration "enumeration", Equation "equation",
        Expandable "expandable", Extends "extends", External "external", False "false", Final "final", Flow "flow",
        For "for", Function "function", If "if", Import "import", Impure "impure", In "in", Initial "initial",
        Inner "inner", Input "input", Loop "loop", Model "model", Not "not", Operator "operator", Or "or",
        Outer "outer", Output "output", Package "package", Parameter "parameter", Partial "partial",
        Protected "protected", Public "public", Pure "pure", Record "record", Redeclare "redeclare",
        Replaceable "replaceable", Return "return", Stream "stream", Then "then", True "true", Type "type",
        When "when", While "while", Within "within",
    }
}

impl TokenKind {
    /// White space and comments.
    pub fn is_trivia(self) -> bool {
        matches!(self, TokenKind::Whitespace | TokenKind::LineComment | TokenKind::BlockComment)
    }
}

/// Cuts the text into tokens (no final `Eof`), with diagnostics on what is no token.
pub fn lex(file: FileId, text: &str) -> (Vec<Token>, Vec<Diagnostic>) {
    let mut lexer = Lexer { file, text, bytes: text.as_bytes(), at: 0, diagnostics: Vec::new(), open_string: false };
    let mut tokens: Vec<Token> = Vec::with_capacity(text.len() / 4);
    // Places count in u32; `parse` refuses longer texts.
    let limit = text.len().min(u32::MAX as usize);
    while lexer.at < limit {
        let start = lexer.at;
        let kind = lexer.token();
        debug_assert!(lexer.at > start);
        if kind == TokenKind::Unknown {
            // A run of unknown characters is one token and one message.
            if let Some(last) = tokens.last_mut().filter(|t| t.kind == TokenKind::Unknown && t.end as usize == start) {
                last.end = lexer.at as u32;
                continue;
            }
            lexer.unknown(start);
        }
        tokens.push(Token { kind, start: start as u32, end: lexer.at as u32 });
    }
    (tokens, lexer.diagnostics)
}

struct Lexer<'a> {
    file: FileId,
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    diagnostics: Vec<Diagnostic>,
    /// An unterminated string was seen: the rest of the file has no closing quote.
    open_string: bool,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn error(&mut self, start: usize, end: usize, message: &str, hint: &str) {
        let mut d = Diagnostic::error(Stage::FrontEnd, Span::new(self.file, start, end), message);
        if !hint.is_empty() {
            d = d.hint(hint);
        }
        self.diagnostics.push(d);
    }

    fn unknown(&mut self, start: usize) {
        let hint = match &self.bytes[start..] {
            [b'!', b'=', ..] => "`not equal` is written `<>`",
            [b'!', ..] => "negation is written `not`",
            [b'&', ..] => "conjunction is written `and`",
            [b'|', ..] => "disjunction is written `or`",
            [b'%', ..] => "comments begin with `//`; the remainder of a division is mod(a, b)",
            [b'#', ..] => "comments begin with `//`",
            [b'?', ..] => "a choice between two values is written `if … then … else …`",
            _ => "",
        };
        let c = self.text[start..].chars().next().unwrap_or('?');
        let hint = match c {
            '–' | '—' | '−' => "the minus sign is written `-`",
            '“' | '”' | '„' | '’' | '‘' | '«' | '»' => "strings stand between `\"` and `\"`",
            '·' | '×' => "the product is written `*`",
            '≤' => "less or equal is written `<=`",
            '≥' => "greater or equal is written `>=`",
            '≠' => "`not equal` is written `<>`",
            c if c.is_alphabetic() => {
                "letters of other alphabets stand in comments, strings and names in single quotes"
            }
            _ => hint,
        };
        let shown = if c.is_control() || c.is_whitespace() {
            format!("unknown character U+{:04X}", c as u32)
        } else {
            format!("unknown character `{c}`")
        };
        self.error(start, start + c.len_utf8(), &shown, hint);
    }

    fn take_while(&mut self, f: impl Fn(u8) -> bool) {
        while self.at < self.bytes.len() && f(self.bytes[self.at]) {
            self.at += 1;
        }
    }

    fn take(&mut self, n: usize, kind: TokenKind) -> TokenKind {
        self.at += n;
        kind
    }

    fn token(&mut self) -> TokenKind {
        use TokenKind::*;
        match (self.peek(0), self.peek(1)) {
            (b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c, _) => {
                self.take_while(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c));
                Whitespace
            }
            (0xef, 0xbb) if self.at == 0 && self.peek(2) == 0xbf => self.take(3, Whitespace),
            (b'a'..=b'z' | b'A'..=b'Z' | b'_', _) => {
                let start = self.at;
                self.take_while(|b| b.is_ascii_alphanumeric() || b == b'_');
                TokenKind::keyword(&self.text[start..self.at]).unwrap_or(Ident)
            }
            (b'0'..=b'9', _) | (b'.', b'0'..=b'9') => self.number(),
            (b'"', _) => self.string(),
            (b'\'', _) => self.quoted_ident(),
            (b'/', b'/') => {
                self.take_while(|b| b != b'\n');
                LineComment
            }
            (b'/', b'*') => self.block_comment(),
            (b'(', _) => self.take(1, LParen),
            (b')', _) => self.take(1, RParen),
            (b'[', _) => self.take(1, LBracket),
            (b']', _) => self.take(1, RBracket),
            (b'{', _) => self.take(1, LBrace),
            (b'}', _) => self.take(1, RBrace),
            (b';', _) => self.take(1, Semicolon),
            (b',', _) => self.take(1, Comma),
            (b':', b'=') => self.take(2, Assign),
            (b':', _) => self.take(1, Colon),
            (b'=', b'=') => self.take(2, EqualEqual),
            (b'=', _) => self.take(1, Equals),
            (b'<', b'=') => self.take(2, LessEqual),
            (b'<', b'>') => self.take(2, NotEqual),
            (b'<', _) => self.take(1, Less),
            (b'>', b'=') => self.take(2, GreaterEqual),
            (b'>', _) => self.take(1, Greater),
            (b'.', b'+') => self.take(2, DotPlus),
            (b'.', b'-') => self.take(2, DotMinus),
            (b'.', b'*') => self.take(2, DotStar),
            (b'.', b'/') => self.take(2, DotSlash),
            (b'.', b'^') => self.take(2, DotCaret),
            (b'.', _) => self.take(1, Dot),
            (b'+', _) => self.take(1, Plus),
            (b'-', _) => self.take(1, Minus),
            (b'*', _) => self.take(1, Star),
            (b'/', _) => self.take(1, Slash),
            (b'^', _) => self.take(1, Caret),
            _ => {
                let width = self.text[self.at..].chars().next().map_or(1, char::len_utf8);
                self.take(width, Unknown)
            }
        }
    }

    /// `1`, `1.`, `1.5`, `.5`, `1e3`, `1.5E-3`: the longest one, so `2.*x` is `2.` times `x`.
    fn number(&mut self) -> TokenKind {
        let mut kind = TokenKind::UnsignedInteger;
        self.take_while(|b| b.is_ascii_digit());
        if self.peek(0) == b'.' {
            kind = TokenKind::UnsignedReal;
            self.at += 1;
            self.take_while(|b| b.is_ascii_digit());
        }
        if matches!(self.peek(0), b'e' | b'E') {
            let sign = usize::from(matches!(self.peek(1), b'+' | b'-'));
            if self.peek(1 + sign).is_ascii_digit() {
                kind = TokenKind::UnsignedReal;
                self.at += 1 + sign;
                self.take_while(|b| b.is_ascii_digit());
            }
        }
        kind
    }

    fn string(&mut self) -> TokenKind {
        let start = self.at;
        self.at += 1;
        while !self.open_string {
            match self.peek(0) {
                b'"' if self.at < self.bytes.len() => {
                    self.at += 1;
                    return TokenKind::String;
                }
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
            self.open_string = self.at >= self.bytes.len();
        }
        // No closing quote in the whole rest: take the string to end with its line.
        self.at = start + 1;
        self.take_while(|b| b != b'\n');
        self.error(start, self.at, "this string is not closed", "add the closing `\"`");
        TokenKind::String
    }

    fn quoted_ident(&mut self) -> TokenKind {
        let start = self.at;
        self.at += 1;
        while self.at < self.bytes.len() {
            match self.peek(0) {
                b'\'' => {
                    self.at += 1;
                    if self.at - start == 2 {
                        self.error(start, self.at, "a quoted identifier cannot be empty", "");
                    }
                    return TokenKind::Ident;
                }
                b'\n' => break,
                b'\\' if !matches!(self.peek(1), b'\n' | 0) => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at = start + 1;
        self.take_while(|b| b != b'\n');
        self.error(
            start,
            self.at,
            "this quoted identifier is not closed on its line",
            "add the closing `'`; strings are written with `\"`",
        );
        TokenKind::Ident
    }

    fn block_comment(&mut self) -> TokenKind {
        let start = self.at;
        match self.text[start + 2..].find("*/") {
            Some(length) => self.at = start + 2 + length + 2,
            None => {
                self.at = self.bytes.len();
                self.error(start, start + 2, "this comment is not closed", "add `*/`");
            }
        }
        TokenKind::BlockComment
    }
}
