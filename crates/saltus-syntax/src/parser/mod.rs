//! Tokens to tree by recursive descent.
//!
//! No parsing function fails: what is missing becomes an error node or is left out, one diagnostic is given, and further
//! ones are held back (`recovering`) until the statement or element is over. Then reading goes on after its `;`, or at
//! the word that visibly begins something new.

mod classes;
mod equations;
mod expressions;

use crate::ast::*;
use crate::lexer::{Token, TokenKind, lex};
use TokenKind as T;
use saltus_base::{Diagnostic, FileId, Name, Severity, Span, Stage};

/// How deep brackets, statements and classes may nest in a file (a class counts for six levels).
pub const MAX_DEPTH: u32 = 256;
/// A class takes much more of the stack than a bracket.
const CLASS_LEVELS: u32 = 6;
/// How high an expression tree may become (long chains of operators count too).
pub const MAX_HEIGHT: u32 = 1024;
/// More diagnostics than these are not given for one file.
const MAX_DIAGNOSTICS: usize = 100;

/// What became of a file.
#[derive(Clone, Debug, Default)]
pub struct SyntaxTree {
    /// Every token, trivia included: their texts in a row are the file.
    pub tokens: Vec<Token>,
    /// The typed tree.
    pub root: StoredDefinition,
    /// What was wrong with the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses a file. Always gives a tree; errors are in its diagnostics.
pub fn parse(file: FileId, text: &str) -> SyntaxTree {
    if text.len() >= u32::MAX as usize {
        let error = Diagnostic::error(Stage::FrontEnd, Span::new(file, 0, 0), "the file is larger than 4 GiB");
        return SyntaxTree { diagnostics: vec![error], ..SyntaxTree::default() };
    }
    let (tokens, diagnostics) = lex(file, text);
    let mut parser = Parser::new(file, text, &tokens, diagnostics);
    let root = parser.stored_definition();
    let diagnostics = parser.finish();
    SyntaxTree { tokens, root, diagnostics }
}

/// Parses a single expression (`--set` values).
pub fn parse_expression(file: FileId, text: &str) -> (Expr, Vec<Diagnostic>) {
    let (tokens, diagnostics) = lex(file, text);
    let mut parser = Parser::new(file, text, &tokens, diagnostics);
    let expr = parser.expression();
    if !parser.at(T::Eof) {
        parser.error_expected("an operator or the end of the expression");
    }
    (expr, parser.finish())
}

/// Something that an `end` closes.
#[derive(Clone, Copy)]
enum Open {
    Class(Name),
    Block(T),
}

struct Parser<'a> {
    file: FileId,
    text: &'a str,
    /// The tokens that are not trivia, then `Eof`.
    tokens: Vec<Token>,
    /// Runs of characters that are no tokens.
    unknown: Vec<Token>,
    position: usize,
    diagnostics: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
    /// An error was reported in this statement or element; further ones are consequences.
    recovering: bool,
    depth: u32,
    /// Height of the expression read last, and the largest one within the current bracket.
    height: u32,
    inner_height: u32,
    /// `end` is an expression inside subscripts.
    subscript_depth: u32,
    /// Place of the `==` read last, to say where it should be `=`.
    last_equality: Span,
    /// The last `else if` on one line in a body, which is often meant as `elseif`.
    else_if: Span,
    open: Vec<Open>,
    /// Stacks from which finished lists are cut off, so that each list takes just the memory it needs.
    expressions: Vec<Expr>,
    arguments: Vec<Argument>,
    /// How many annotations the parser is inside of.
    annotations: u32,
    /// Inside the list of an extends clause, and what has been left out there.
    selecting: bool,
    left_out: Vec<LeftOut>,
}

impl<'a> Parser<'a> {
    fn new(file: FileId, text: &'a str, all: &[Token], diagnostics: Vec<Diagnostic>) -> Self {
        let mut tokens = Vec::with_capacity(all.len() / 2 + 1);
        // Unknown characters were reported by the lexer; reading on without them is the best guess.
        tokens.extend(all.iter().filter(|t| !t.kind.is_trivia() && t.kind != T::Unknown));
        let unknown = all.iter().filter(|t| t.kind == T::Unknown).copied().collect();
        let end = text.len() as u32;
        tokens.push(Token { kind: T::Eof, start: end, end });
        Parser {
            file,
            text,
            tokens,
            unknown,
            position: 0,
            diagnostics,
            errors: 0,
            warnings: 0,
            recovering: false,
            depth: 0,
            height: 0,
            inner_height: 0,
            subscript_depth: 0,
            last_equality: Span::NONE,
            else_if: Span::NONE,
            open: Vec::new(),
            expressions: Vec::new(),
            arguments: Vec::new(),
            annotations: 0,
            selecting: false,
            left_out: Vec::new(),
        }
    }

    fn finish(mut self) -> Vec<Diagnostic> {
        // What cannot be read right after an unknown character is its consequence.
        let unknown: Vec<usize> = self.unknown.iter().map(|t| t.end as usize).collect();
        let text = self.text;
        self.diagnostics.retain(|d| {
            let at = d.span.start as usize;
            let before = unknown.partition_point(|&end| end <= at);
            before == 0 || !d.message.starts_with("expected") || !text[unknown[before - 1]..at].trim().is_empty()
        });
        // Errors first where there are too many, then all by place.
        self.diagnostics.sort_by_key(|d| (std::cmp::Reverse(d.severity), d.span.start));
        self.diagnostics.truncate(MAX_DIAGNOSTICS);
        self.diagnostics.sort_by_key(|d| d.span.start);
        self.diagnostics
    }

    // ---- cursor ----

    fn token(&self) -> Token {
        self.tokens[self.position]
    }
    fn kind(&self) -> T {
        self.tokens[self.position].kind
    }
    fn peek(&self, ahead: usize) -> T {
        self.tokens[(self.position + ahead).min(self.tokens.len() - 1)].kind
    }
    fn at(&self, kind: T) -> bool {
        self.kind() == kind
    }
    fn bump(&mut self) -> Token {
        let token = self.token();
        if token.kind != T::Eof {
            self.position += 1;
        }
        token
    }
    fn eat(&mut self, kind: T) -> bool {
        let found = self.at(kind);
        if found {
            self.position += 1;
        }
        found
    }
    fn token_text(&self, token: Token) -> &'a str {
        token.text(self.text)
    }
    fn span(&self) -> Span {
        self.token().span(self.file)
    }
    /// Where the previous token ends.
    fn previous_end(&self) -> u32 {
        if self.position == 0 { self.token().start } else { self.tokens[self.position - 1].end }
    }
    /// The empty place after the previous token.
    fn gap(&self) -> Span {
        Span { file: self.file, start: self.previous_end(), end: self.previous_end() }
    }
    /// From the start of `start` to the last token read.
    fn since(&self, start: Span) -> Span {
        Span { file: self.file, start: start.start, end: self.previous_end().max(start.start) }
    }
    /// Whether a line break stands before the current token.
    fn at_line_start(&self) -> bool {
        let (from, to) = (self.previous_end() as usize, self.token().start as usize);
        self.position == 0 || self.text.as_bytes()[from..to].contains(&b'\n')
    }

    // ---- diagnostics ----

    /// Reports, unless the statement already has an error.
    #[cold]
    #[inline(never)]
    fn error(&mut self, diagnostic: Diagnostic) {
        if !self.recovering {
            self.report(diagnostic);
            self.recovering = true;
        }
    }
    /// Reports something after which reading simply goes on.
    #[cold]
    #[inline(never)]
    fn report(&mut self, diagnostic: Diagnostic) {
        let count = if diagnostic.severity == Severity::Error { &mut self.errors } else { &mut self.warnings };
        if *count < MAX_DIAGNOSTICS && !self.recovering {
            *count += 1;
            self.diagnostics.push(diagnostic);
        }
    }
    /// Reports an error after which reading simply goes on. (Out of line, as the next: keeps stack frames small.)
    #[cold]
    #[inline(never)]
    fn mistake(&mut self, span: Span, message: impl Into<String>, hint: &str) {
        let diagnostic = self.diagnostic(span, message);
        self.report(if hint.is_empty() { diagnostic } else { diagnostic.hint(hint) });
    }
    /// Reports an error that spoils the rest of the statement.
    #[cold]
    #[inline(never)]
    fn fault(&mut self, span: Span, message: impl Into<String>, hint: &str) {
        let diagnostic = self.diagnostic(span, message);
        self.error(if hint.is_empty() { diagnostic } else { diagnostic.hint(hint) });
    }
    fn diagnostic(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(Stage::FrontEnd, span, message)
    }
    /// The current token, for messages.
    #[inline(never)]
    fn found(&self) -> String {
        match self.kind() {
            T::Ident | T::UnsignedInteger | T::UnsignedReal => {
                let text = self.token_text(self.token());
                let short: String = text.chars().take(40).collect();
                if self.at(T::Ident) { format!("`{short}`") } else { format!("number `{short}`") }
            }
            T::String => "a string".to_string(),
            kind => kind.describe().to_string(),
        }
    }
    #[cold]
    #[inline(never)]
    fn expected(&self, what: &str) -> Diagnostic {
        self.diagnostic(self.span(), format!("expected {what}, found {}", self.found()))
    }
    #[cold]
    #[inline(never)]
    fn error_expected(&mut self, what: &str) {
        if !self.recovering {
            let diagnostic = self.expected(what);
            self.error(diagnostic);
        }
    }
    fn expect(&mut self, kind: T) -> bool {
        let found = self.eat(kind);
        if !found {
            self.error_expected(kind.describe());
        }
        found
    }
    /// The bracket that closes the one at `open`.
    fn expect_close(&mut self, kind: T, open: Span) {
        if !self.eat(kind) && !self.recovering {
            self.error_not_closed(kind, open);
        }
    }
    #[cold]
    #[inline(never)]
    fn error_not_closed(&mut self, kind: T, open: Span) {
        let what = match kind {
            T::RParen => "`,` or `)`",
            T::RBrace => "`,` or `}`",
            _ => "`,` or `]`",
        };
        let diagnostic = self.expected(what).label(open, "the bracket opened here");
        self.error(diagnostic);
    }
    fn ident(&mut self, what: &str) -> Option<Ident> {
        if self.at(T::Ident) {
            let token = self.bump();
            return Some(self.ident_of(token));
        }
        if !self.recovering {
            let mut diagnostic = self.expected(what);
            if self.kind().is_keyword() {
                diagnostic = diagnostic.hint(format!(
                    "{} is a reserved word; as a name it would be written in single quotes",
                    self.kind().describe()
                ));
            }
            self.error(diagnostic);
        }
        None
    }
    fn ident_of(&self, token: Token) -> Ident {
        Ident { name: Name::new(self.token_text(token)), span: token.span(self.file) }
    }

    // ---- recovery ----

    /// The `;` after `what`; without it, reading goes on at the next plausible place.
    fn semicolon(&mut self, what: &str) {
        if self.eat(T::Semicolon) {
            self.recovering = false;
            return;
        }
        if self.recovering {
            return self.synchronize();
        }
        let fits = self.at_line_start() || self.at(T::Eof) || self.at_boundary();
        let (span, hint) = match self.kind() {
            T::Assign => (self.span(), "`:=` assigns in algorithms; equations and bindings are written `=`"),
            T::EqualEqual => (self.span(), "`==` compares; equations and bindings are written `=`"),
            T::Equals => (self.span(), "inside an expression equality is written `==`"),
            T::RParen | T::RBracket | T::RBrace => (self.span(), "this bracket was not opened"),
            _ if fits => (self.gap(), "add `;` here"),
            _ => (self.span(), "an operator, a comma or `;` may be missing before it"),
        };
        let diagnostic = self.diagnostic(span, format!("expected `;` after {what}, found {}", self.found())).hint(hint);
        self.error(diagnostic);
        if fits { self.recovering = false } else { self.synchronize() }
    }

    /// At a word that ends a list of equations or elements whatever came before.
    fn at_boundary(&self) -> bool {
        match self.kind() {
            T::Equation | T::Algorithm | T::Eof => true,
            T::Public | T::Protected | T::External => true,
            T::Initial => matches!(self.peek(1), T::Equation | T::Algorithm),
            T::End => matches!(self.peek(1), T::Ident | T::If | T::For | T::When | T::While),
            T::Else | T::Elseif | T::Elsewhen => self.at_line_start() && self.in_block(),
            _ => false,
        }
    }
    fn in_block(&self) -> bool {
        matches!(self.open.last(), Some(Open::Block(_)))
    }

    /// Skips the rest of a broken statement or element, its `;` included.
    #[cold]
    #[inline(never)]
    fn synchronize(&mut self) {
        self.recovering = false;
        let (mut brackets, mut square) = (0u32, 0u32);
        loop {
            if self.at_boundary() && (brackets == 0 || !self.at(T::End) || self.peek(2) == T::Semicolon) {
                return;
            }
            match self.kind() {
                T::Semicolon if square == 0 => {
                    self.bump();
                    return;
                }
                T::LBracket => square += 1,
                T::RBracket => square = square.saturating_sub(1),
                T::LParen | T::LBrace => brackets += 1,
                T::RParen | T::RBrace => brackets = brackets.saturating_sub(1),
                kind if brackets == 0 && self.at_line_start() && begins_element(kind) => return,
                _ => {}
            }
            self.bump();
        }
    }

    /// Skips what is nested too deep, up to the bracket that closes it.
    #[cold]
    #[inline(never)]
    fn skip_nested(&mut self) {
        let mut level = 0u32;
        loop {
            match self.kind() {
                T::Eof | T::Semicolon => return,
                T::LParen | T::LBracket | T::LBrace => level += 1,
                T::RParen | T::RBracket | T::RBrace => match level.checked_sub(1) {
                    Some(l) => level = l,
                    None => return,
                },
                _ => {}
            }
            self.bump();
        }
    }

    /// Goes one level deeper, or reports that this is too deep. To be followed by `leave`.
    fn enter(&mut self, levels: u32) -> bool {
        let fits = self.depth + levels <= MAX_DEPTH;
        if fits {
            self.depth += levels;
        } else {
            self.fault(self.span(), format!("nested deeper than {MAX_DEPTH} levels"), "");
        }
        fits
    }
    fn leave(&mut self, levels: u32) {
        self.depth -= levels;
    }

    // ---- shared small parts ----

    /// `A.B.C`
    fn name(&mut self, what: &str) -> Vec<Ident> {
        let Some(first) = self.ident(what) else { return Vec::new() };
        let mut path = Vec::with_capacity(1);
        path.push(first);
        while self.at(T::Dot) && self.peek(1) == T::Ident {
            self.bump();
            path.extend(self.ident(what));
        }
        path
    }

    /// `.A.B.C`
    fn type_spec(&mut self) -> TypeSpec {
        let start = self.span();
        let global = self.eat(T::Dot);
        let path = self.name("a class name");
        if self.at(T::Dot) && !path.is_empty() {
            self.bump();
            self.ident("a name after `.`");
        }
        TypeSpec { global, path, span: self.since(start) }
    }

    /// `"text" + "text"`, empty if absent.
    fn description_string(&mut self) -> String {
        let mut text = String::new();
        while self.at(T::String) {
            let token = self.bump();
            if text.is_empty() {
                text = self.string_value(token);
            } else {
                text.push_str(&self.string_value(token));
            }
            if !(self.at(T::Plus) && self.peek(1) == T::String) {
                break;
            }
            self.bump();
        }
        text
    }

    /// The value of a string token, escapes resolved.
    #[inline(never)]
    fn string_value(&mut self, token: Token) -> String {
        let raw = self.token_text(token);
        let raw = raw.strip_prefix('"').unwrap_or(raw);
        let raw = raw.strip_suffix('"').unwrap_or(raw);
        let Some(first) = raw.find('\\') else { return raw.to_string() };
        let mut value = String::with_capacity(raw.len());
        value.push_str(&raw[..first]);
        let mut chars = raw[first..].chars();
        while let Some(c) = chars.next() {
            if c != '\\' {
                value.push(c);
                continue;
            }
            match chars.next() {
                Some(c @ ('\'' | '"' | '?' | '\\')) => value.push(c),
                Some('a') => value.push('\x07'),
                Some('b') => value.push('\x08'),
                Some('f') => value.push('\x0c'),
                Some('n') => value.push('\n'),
                Some('r') => value.push('\r'),
                Some('t') => value.push('\t'),
                Some('v') => value.push('\x0b'),
                other => {
                    value.push('\\');
                    value.extend(other);
                    let shown: String = other.into_iter().collect();
                    let warning = Diagnostic::warning(
                        Stage::FrontEnd,
                        token.span(self.file),
                        format!("`\\{shown}` is no escape sequence; the backslash is kept"),
                    );
                    self.report(warning.hint("write `\\\\` for a backslash"));
                }
            }
        }
        value
    }
}

/// Words that only begin a declaration.
fn begins_element(kind: T) -> bool {
    begins_class(kind)
        || matches!(kind, T::Parameter | T::Constant | T::Discrete | T::Input | T::Output | T::Flow | T::Stream)
        || matches!(kind, T::Inner | T::Outer | T::Replaceable | T::Redeclare | T::Final | T::Extends | T::Import)
}

/// Words that begin a class definition.
fn begins_class(kind: T) -> bool {
    matches!(kind, T::Class | T::Model | T::Block | T::Connector | T::Record | T::Package | T::Function | T::Type)
        || matches!(kind, T::Operator | T::Partial | T::Encapsulated | T::Expandable | T::Impure)
}
