//! Equations and statements, which share the shapes of `if`, `for` and `when`.

use super::*;

impl Parser<'_> {
    /// Whether a list of equations or statements ends here.
    fn at_body_end(&self) -> bool {
        match self.kind() {
            T::End | T::Else | T::Elseif | T::Elsewhen | T::Eof | T::Annotation => true,
            T::Equation | T::Algorithm | T::Public | T::Protected | T::External => true,
            T::Initial => matches!(self.peek(1), T::Equation | T::Algorithm),
            kind => begins_element(kind),
        }
    }

    /// Reads items until the body ends; every round makes progress.
    fn body<R>(&mut self, mut item: impl FnMut(&mut Self) -> R) -> Vec<R> {
        let mut items = Vec::new();
        while !self.at_body_end() {
            let before = self.position;
            self.recovering = false;
            items.push(item(self));
            if self.position == before {
                self.bump();
            }
        }
        items
    }

    pub(super) fn equations(&mut self) -> Vec<Equation> {
        self.body(Self::equation)
    }

    pub(super) fn statements(&mut self) -> Vec<Statement> {
        self.body(Self::statement)
    }

    /// `then` after a condition; a broken rest of the line is skipped.
    fn then(&mut self, after: &str) {
        if self.eat(T::Then) {
            return;
        }
        if !self.recovering {
            let diagnostic = self.expected_then(after);
            self.error(diagnostic);
        }
        self.skip_to(T::Then);
    }

    /// `loop` after iterators or a condition.
    fn loop_word(&mut self) {
        if self.eat(T::Loop) {
            return;
        }
        if !self.recovering {
            let message = format!("expected `loop`, found {}", self.found());
            let diagnostic = self.diagnostic(self.gap(), message).hint("add `loop` here");
            self.error(diagnostic);
        }
        self.skip_to(T::Loop);
    }

    /// Skips to `word` and over it if it stands on this line, else to the end of the line.
    fn skip_to(&mut self, word: T) {
        while !self.at(T::Eof) && !self.at_line_start() && !self.at(T::Semicolon) && !self.at_boundary() {
            if self.bump().kind == word {
                break;
            }
        }
        self.recovering = false;
    }

    /// `end for` and the like, for what was opened at `start`.
    #[inline(never)]
    fn end_block(&mut self, word: T, start: Span) {
        if self.at(T::End) && self.peek(1) == word {
            self.bump();
            self.bump();
            return;
        }
        let name = word.describe().trim_matches('`');
        let opened = format!("this `{name}` is not closed");
        let wrong_word = matches!(self.peek(1), T::If | T::For | T::When | T::While);
        if self.at(T::End) && wrong_word && !self.closes_outer() {
            let found = format!("end {}", self.peek(1).describe().trim_matches('`'));
            let span = self.span().to(self.tokens[self.position + 1].span(self.file));
            let message = format!("expected `end {name}`, found `{found}`");
            let diagnostic = self.diagnostic(span, message).label(start, format!("opened by this `{name}`"));
            self.report(diagnostic.hint(format!("write `end {name}`")));
            self.bump();
            self.bump();
            return;
        }
        if !self.recovering {
            let message = format!("missing `end {name}` before {}", self.found_end());
            let mut diagnostic = self.diagnostic(self.gap(), message).label(start, opened);
            if word == T::If && !self.else_if.is_none() && self.else_if.start > start.start {
                let hint = "`else if` opens another `if` with its own end; a further branch is written `elseif`";
                diagnostic = diagnostic.label(self.else_if, "another `if` begins here").hint(hint);
            } else {
                diagnostic = diagnostic.hint(format!("add `end {name};` here"));
            }
            self.error(diagnostic);
        }
    }

    /// At `end x`: whether that closes something further out than the innermost.
    pub(super) fn closes_outer(&self) -> bool {
        let word = self.peek(1);
        let next = self.tokens[(self.position + 1).min(self.tokens.len() - 1)];
        let outer = &self.open[..self.open.len().saturating_sub(1)];
        outer.iter().any(|open| match *open {
            Open::Block(block) => block == word,
            Open::Class(name) => word == T::Ident && self.token_text(next) == name.as_str(),
        })
    }

    /// Runs `f` inside the block opened by `word`, and reads its end.
    fn block<R>(&mut self, word: T, f: impl FnOnce(&mut Self) -> R) -> Option<R> {
        let start = self.span();
        if !self.enter(1) {
            self.synchronize();
            return None;
        }
        self.open.push(Open::Block(word));
        self.bump();
        let result = f(self);
        self.end_block(word, start);
        self.open.pop();
        self.leave(1);
        Some(result)
    }

    /// `c then … elseif d then … else …` after the first word; `next` begins further branches.
    fn branches<R>(&mut self, next: T, mut body: impl FnMut(&mut Self) -> Vec<R>) -> (Vec<(Expr, Vec<R>)>, Vec<R>) {
        let mut branches = Vec::new();
        let mut otherwise = Vec::new();
        loop {
            let condition = self.expression();
            self.then("condition");
            let items = body(self);
            branches.push((condition, items));
            if self.eat(next) {
                continue;
            }
            match self.kind() {
                T::Else => {
                    let word = self.span();
                    if next == T::Elsewhen {
                        self.mistake(word, "`when` has no `else` branch", "use `elsewhen condition then`");
                    }
                    self.bump();
                    if self.at(T::If) && !self.at_line_start() {
                        self.else_if = word.to(self.span());
                    }
                    otherwise = body(self);
                }
                T::Elseif | T::Elsewhen => {
                    let error = self.expected(next.describe()).hint(format!("here it is {}", next.describe()));
                    self.report(error);
                    self.bump();
                    continue;
                }
                _ => {}
            }
            break;
        }
        (branches, otherwise)
    }

    fn equation(&mut self) -> Equation {
        let start = self.span();
        let kind = match self.kind() {
            T::If => self.block(T::If, |p| {
                let (branches, otherwise) = p.branches(T::Elseif, Self::equations);
                EquationKind::If { branches, otherwise }
            }),
            T::For => self.block(T::For, |p| {
                let indices = p.for_indices();
                p.loop_word();
                EquationKind::For { indices, body: p.equations() }
            }),
            T::When => self.block(T::When, |p| {
                let (branches, _) = p.branches(T::Elsewhen, Self::equations);
                EquationKind::When { branches }
            }),
            T::Connect => Some(self.connect()),
            _ => Some(self.simple_equation()),
        };
        // Nested too deep: the rest was skipped already.
        let Some(kind) = kind else { return Equation { kind: no_equation(start), ..blank(start) } };
        let description = self.description_string();
        let annotation = self.annotation();
        let span = self.since(start);
        self.semicolon("the equation");
        Equation { kind, description, annotation, span }
    }

    #[inline(never)]
    pub(super) fn connect(&mut self) -> EquationKind {
        self.bump();
        let open = self.span();
        self.expect(T::LParen);
        let a = self.component_ref();
        self.expect(T::Comma);
        let b = self.component_ref();
        if self.at(T::Comma) {
            let span = self.span();
            self.mistake(span, "`connect` joins two connectors", "write one `connect` for each pair");
            while !matches!(self.kind(), T::RParen | T::Semicolon | T::End | T::Eof) {
                self.bump();
            }
        }
        self.expect_close(T::RParen, open);
        EquationKind::Connect(a, b)
    }

    #[inline(never)]
    fn simple_equation(&mut self) -> EquationKind {
        let start = self.span();
        self.last_equality = Span::NONE;
        let left = self.simple_expression();
        match self.kind() {
            T::Equals => {
                self.bump();
            }
            T::Assign => {
                self.mistake(
                    self.span(),
                    "`:=` in an equation",
                    "equations are written with `=`; `:=` assigns in algorithms",
                );
                self.bump();
            }
            _ if matches!(left.kind, ExprKind::Call(_)) => return EquationKind::Call(left),
            _ => {
                let place = self.last_equality;
                return match left.kind {
                    ExprKind::Binary(BinaryOp::Eq, a, b) if !place.is_none() && !self.recovering => {
                        self.mistake(
                            place,
                            "`==` in place of `=` in an equation",
                            "`==` compares; equations are written with `=`",
                        );
                        EquationKind::Simple(*a, *b)
                    }
                    kind => {
                        let left = Expr { kind, span: left.span };
                        if !self.recovering {
                            let mut error = self.expected("`=`");
                            if self.at(T::Ident) && matches!(left.kind, ExprKind::Ref(_)) {
                                error = error.hint("a declaration stands before `equation`, not after it");
                            } else if self.at(T::Semicolon) {
                                error.span = self.gap();
                                error = error.hint("an equation has two sides: `a = b`");
                            }
                            self.error(error);
                        }
                        let missing = Expr { kind: ExprKind::Error, span: self.since(start) };
                        EquationKind::Simple(left, missing)
                    }
                };
            }
        }
        let right = self.expression();
        EquationKind::Simple(left, right)
    }

    fn statement(&mut self) -> Statement {
        let start = self.span();
        let kind = match self.kind() {
            T::If => self.block(T::If, |p| {
                let (branches, otherwise) = p.branches(T::Elseif, Self::statements);
                StatementKind::If { branches, otherwise }
            }),
            T::For => self.block(T::For, |p| {
                let indices = p.for_indices();
                p.loop_word();
                StatementKind::For { indices, body: p.statements() }
            }),
            T::While => self.block(T::While, |p| {
                let condition = p.expression();
                p.loop_word();
                StatementKind::While { condition, body: p.statements() }
            }),
            T::When => self.block(T::When, |p| {
                let (branches, _) = p.branches(T::Elsewhen, Self::statements);
                StatementKind::When { branches }
            }),
            T::Break => {
                let around = self.open.iter().rev().map_while(|o| match o {
                    Open::Block(word) => Some(*word),
                    Open::Class(_) => None,
                });
                if !around.into_iter().any(|word| matches!(word, T::For | T::While)) {
                    self.mistake(self.span(), "`break` outside of a loop", "it ends the for or while loop around it");
                }
                self.bump();
                Some(StatementKind::Break)
            }
            T::Return => {
                self.bump();
                Some(StatementKind::Return)
            }
            T::Connect => {
                self.mistake(start, "`connect` in an algorithm", "`connect` belongs to an `equation` section");
                self.connect();
                Some(no_statement(start))
            }
            _ => Some(self.simple_statement()),
        };
        let Some(kind) = kind else {
            return Statement { kind: no_statement(start), comment: Comment::default(), span: start };
        };
        let comment = self.comment();
        let span = self.since(start);
        self.semicolon("the statement");
        Statement { kind, comment, span }
    }

    #[inline(never)]
    fn simple_statement(&mut self) -> StatementKind {
        let start = self.span();
        let tuple = self.at(T::LParen);
        self.last_equality = Span::NONE;
        let left = self.simple_expression();
        let (left, right) = match self.kind() {
            T::Assign => {
                self.bump();
                (left, self.expression())
            }
            T::Equals => {
                self.mistake(self.span(), "`=` in an algorithm", "assignments are written with `:=`");
                self.bump();
                (left, self.expression())
            }
            _ if matches!(left.kind, ExprKind::Call(_)) => return StatementKind::Call(left),
            _ => match left.kind {
                ExprKind::Binary(BinaryOp::Eq, a, b) if !self.last_equality.is_none() && !self.recovering => {
                    self.mistake(
                        self.last_equality,
                        "`==` in place of `:=` in an algorithm",
                        "`==` compares; assignments are written with `:=`",
                    );
                    (*a, *b)
                }
                kind => {
                    if !self.recovering {
                        let mut error = self.expected("`:=`");
                        if self.at(T::Semicolon) {
                            error.span = self.gap();
                            error = error.hint("a statement is an assignment `a := b` or a call");
                        }
                        self.error(error);
                    }
                    (Expr { kind, span: left.span }, Expr { kind: ExprKind::Error, span: self.since(start) })
                }
            },
        };
        match left.kind {
            ExprKind::Ref(reference) if tuple => StatementKind::MultiAssign(vec![Some(reference)], right),
            ExprKind::Ref(reference) => StatementKind::Assign(reference, right),
            ExprKind::Tuple(entries) => {
                let mut targets = Vec::with_capacity(entries.len());
                for entry in entries {
                    let target = match entry {
                        None => None,
                        Some(Expr { kind: ExprKind::Ref(reference), .. }) => Some(reference),
                        Some(other) => {
                            self.not_assignable(other.span);
                            None
                        }
                    };
                    targets.push(target);
                }
                StatementKind::MultiAssign(targets, right)
            }
            _ => {
                self.not_assignable(left.span);
                StatementKind::MultiAssign(Vec::new(), right)
            }
        }
    }

    fn not_assignable(&mut self, span: Span) {
        self.mistake(
            span,
            "only variables can be assigned to",
            "the left side of `:=` is a variable, or several in parentheses",
        );
    }
}

/// Stands for an equation that could not be read.
fn no_equation(span: Span) -> EquationKind {
    EquationKind::Call(Expr { kind: ExprKind::Error, span })
}

/// Stands for a statement that could not be read.
fn no_statement(span: Span) -> StatementKind {
    StatementKind::Call(Expr { kind: ExprKind::Error, span })
}

fn blank(span: Span) -> Equation {
    Equation { kind: no_equation(span), description: String::new(), annotation: None, span }
}
