//! Expressions by precedence climbing: `or < and < not < relation < + - < * / < ^`.
//!
//! A leading sign belongs to the first term: `-a*b` ⇒ `-(a*b)`, `-a^2` ⇒ `-(a^2)`.

use super::*;
use std::mem;

const OR: u8 = 1;
const AND: u8 = 2;
const NOT: u8 = 3;
const RELATION: u8 = 4;
const SUM: u8 = 5;
const TERM: u8 = 6;
const POWER: u8 = 7;
const PRIMARY: u8 = 8;

/// Sums and chains of `and`, `or` with more terms are grouped, so that their trees stay low:
/// `t1 + … + t600` ⇒ `(t1 + … + t256) + (t257 + … + t512) + …`.
const CHAIN: u32 = 256;

fn binary_operator(kind: T) -> Option<(BinaryOp, u8)> {
    Some(match kind {
        T::Or => (BinaryOp::Or, OR),
        T::And => (BinaryOp::And, AND),
        T::Less => (BinaryOp::Lt, RELATION),
        T::LessEqual => (BinaryOp::Le, RELATION),
        T::Greater => (BinaryOp::Gt, RELATION),
        T::GreaterEqual => (BinaryOp::Ge, RELATION),
        T::EqualEqual => (BinaryOp::Eq, RELATION),
        T::NotEqual => (BinaryOp::Ne, RELATION),
        T::Plus => (BinaryOp::Add, SUM),
        T::Minus => (BinaryOp::Sub, SUM),
        T::DotPlus => (BinaryOp::ElemAdd, SUM),
        T::DotMinus => (BinaryOp::ElemSub, SUM),
        T::Star => (BinaryOp::Mul, TERM),
        T::Slash => (BinaryOp::Div, TERM),
        T::DotStar => (BinaryOp::ElemMul, TERM),
        T::DotSlash => (BinaryOp::ElemDiv, TERM),
        T::Caret => (BinaryOp::Pow, POWER),
        T::DotCaret => (BinaryOp::ElemPow, POWER),
        _ => return None,
    })
}

fn sign(kind: T) -> Option<UnaryOp> {
    Some(match kind {
        T::Minus => UnaryOp::Neg,
        T::Plus => UnaryOp::Plus,
        T::DotMinus => UnaryOp::ElemNeg,
        T::DotPlus => UnaryOp::ElemPlus,
        _ => return None,
    })
}

/// Finished groups of a long chain of `op`.
#[derive(Default)]
struct Groups {
    op: Option<BinaryOp>,
    before: Option<Expr>,
    height: u32,
    /// Operators since the last group.
    length: u32,
}

fn join(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    let span = left.span.to(right.span);
    Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), span }
}

impl Parser<'_> {
    /// `if … then … else …` or a simple expression.
    pub(super) fn expression(&mut self) -> Expr {
        if !self.enter(1) {
            return self.skipped();
        }
        let expr = if self.at(T::If) { self.if_expression() } else { self.range() };
        self.leave(1);
        self.inner_height = self.inner_height.max(self.height);
        expr
    }

    /// An expression that is not an `if` (left side of an equation).
    pub(super) fn simple_expression(&mut self) -> Expr {
        let expr = self.range();
        self.inner_height = self.inner_height.max(self.height);
        expr
    }

    /// Stands for what is nested too deep.
    #[cold]
    #[inline(never)]
    fn skipped(&mut self) -> Expr {
        let span = self.span();
        self.skip_nested();
        self.height = 1;
        Expr { kind: ExprKind::Error, span }
    }

    /// Runs `f`, whose subexpressions are read by `expression`, and makes their height plus one the current one.
    fn bracketed(&mut self, f: impl FnOnce(&mut Self) -> Expr) -> Expr {
        let outer = mem::replace(&mut self.inner_height, 0);
        let expr = f(self);
        self.height = self.inner_height;
        self.inner_height = outer;
        self.raise(expr)
    }

    /// Counts one level for `expr`, whose parts have the current height.
    fn raise(&mut self, expr: Expr) -> Expr {
        self.height += 1;
        if self.height <= MAX_HEIGHT {
            return expr;
        }
        let message = format!("this expression has more than {MAX_HEIGHT} levels");
        self.fault(expr.span, message, "split it with an auxiliary variable");
        self.height = 1;
        Expr { kind: ExprKind::Error, span: expr.span }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn warn(&mut self, span: Span, message: &str, hint: &str) {
        self.report(Diagnostic::warning(Stage::FrontEnd, span, message).hint(hint));
    }

    /// `else if` continues the chain as `elseif` does, so long chains stay flat.
    #[inline(never)]
    fn if_expression(&mut self) -> Expr {
        self.bracketed(|p| {
            let start = p.span();
            let mut branches = Vec::new();
            p.bump();
            loop {
                let condition = p.expression();
                if !p.eat(T::Then) && !p.recovering {
                    let diagnostic = p.expected_then("condition");
                    p.error(diagnostic);
                }
                let value = p.expression();
                branches.push((condition, value));
                if p.eat(T::Elseif) {
                    continue;
                }
                if !p.eat(T::Else) {
                    if !p.recovering {
                        let diagnostic = p.expected("`else`").label(start, "of this `if` expression");
                        p.error(diagnostic.hint("an `if` expression has a value in every case: `else` is required"));
                    }
                    let otherwise = Box::new(Expr { kind: ExprKind::Error, span: p.span() });
                    return Expr { kind: ExprKind::If(branches, otherwise), span: p.since(start) };
                }
                if !p.eat(T::If) {
                    break;
                }
            }
            let otherwise = Box::new(p.expression());
            Expr { kind: ExprKind::If(branches, otherwise), span: p.since(start) }
        })
    }

    /// The message for a missing `then`.
    pub(super) fn expected_then(&self, after: &str) -> Diagnostic {
        match self.kind() {
            T::Equals => self.expected(&format!("`then` after the {after}")).hint("equality is tested with `==`"),
            T::Assign => self.expected(&format!("`then` after the {after}")).hint("equality is tested with `==`"),
            _ => {
                let message = format!("expected `then` after the {after}, found {}", self.found());
                self.diagnostic(self.gap(), message).hint("add `then` here")
            }
        }
    }

    fn range(&mut self) -> Expr {
        let first = self.binary(OR);
        if self.at(T::Colon) { self.range_rest(first) } else { first }
    }

    #[inline(never)]
    fn range_rest(&mut self, first: Expr) -> Expr {
        let mut height = self.height;
        self.bump();
        let second = self.binary(OR);
        height = height.max(self.height);
        let third = self.eat(T::Colon).then(|| self.binary(OR));
        self.height = height.max(self.height);
        let (step, last) = match third {
            Some(last) => (Some(Box::new(second)), last),
            None => (None, second),
        };
        let span = first.span.to(last.span);
        self.raise(Expr { kind: ExprKind::Range(Box::new(first), step, Box::new(last)), span })
    }

    #[inline(never)]
    fn prefix(&mut self, op: UnaryOp, operand_level: u8) -> Expr {
        let start = self.span();
        self.bump();
        if !self.enter(1) {
            return self.skipped();
        }
        let operand = self.binary(operand_level);
        self.leave(1);
        let span = start.to(operand.span);
        self.raise(Expr { kind: ExprKind::Unary(op, Box::new(operand)), span })
    }

    /// Operators of at least this level.
    fn binary(&mut self, level: u8) -> Expr {
        let kind = self.kind();
        let mut left = match sign(kind) {
            _ if kind == T::Not => {
                if level > NOT {
                    self.warn(self.span(), "`not` as an operand needs parentheses", "write `(not …)`");
                }
                self.prefix(UnaryOp::Not, RELATION)
            }
            Some(op) if level <= SUM => self.prefix(op, TERM),
            Some(op) => {
                self.warn(self.span(), "a signed operand needs parentheses", "write `(-…)`");
                self.prefix(op, POWER)
            }
            None => self.primary(),
        };
        let mut groups = Groups::default();
        let mut compared = false;
        while let Some((op, own)) = binary_operator(self.kind()) {
            if own < level {
                break;
            }
            let place = self.span();
            self.bump();
            if own == RELATION {
                if compared {
                    self.mistake(place, "relations cannot be chained", "write `a < b and b < c`");
                }
                compared = true;
                if op == BinaryOp::Eq {
                    self.last_equality = place;
                }
            }
            let joint = match op {
                BinaryOp::Add | BinaryOp::Sub => Some(BinaryOp::Add),
                BinaryOp::And | BinaryOp::Or => Some(op),
                _ => None,
            };
            if groups.op != joint {
                left = self.join_groups(&mut groups, left);
                groups.op = joint;
            }
            let left_height = self.height;
            let mut right = self.binary(own + 1);
            if own == POWER && matches!(self.kind(), T::Caret | T::DotCaret) {
                let message = "`a^b^c` is ambiguous and taken as `a^(b^c)`";
                self.warn(self.span(), message, "write the parentheses");
                right = self.power_chain(right);
            }
            groups.length += 1;
            if joint.is_some() && groups.length == CHAIN {
                // `left op right…`: set `left` aside and begin the next group with `right`.
                let right_height = self.height;
                self.height = left_height;
                groups.before = Some(self.join_groups(&mut groups, left));
                groups.op = joint;
                groups.height = self.height;
                self.height = right_height;
                left = right;
                if op == BinaryOp::Sub {
                    let span = left.span;
                    left = self.raise(Expr { kind: ExprKind::Unary(UnaryOp::Neg, Box::new(left)), span });
                }
                continue;
            }
            self.height = self.height.max(left_height);
            left = self.raise(join(op, left, right));
        }
        self.join_groups(&mut groups, left)
    }

    /// Puts the groups set aside before `last`.
    #[inline(never)]
    fn join_groups(&mut self, groups: &mut Groups, last: Expr) -> Expr {
        match mem::take(groups) {
            Groups { before: Some(before), op: Some(op), height, .. } => {
                self.height = self.height.max(height);
                self.raise(join(op, before, last))
            }
            _ => last,
        }
    }

    /// `^b^c…` after `base`, right to left.
    #[inline(never)]
    fn power_chain(&mut self, base: Expr) -> Expr {
        let height = self.height;
        let op = if self.at(T::Caret) { BinaryOp::Pow } else { BinaryOp::ElemPow };
        self.bump();
        let mut exponent = self.binary(PRIMARY);
        if matches!(self.kind(), T::Caret | T::DotCaret) {
            if !self.enter(1) {
                return self.skipped();
            }
            exponent = self.power_chain(exponent);
            self.leave(1);
        }
        self.height = self.height.max(height);
        self.raise(join(op, base, exponent))
    }

    fn primary(&mut self) -> Expr {
        self.bracketed(|p| {
            let start = p.span();
            let inner = p.primary_inner();
            let reference = matches!(inner.kind, ExprKind::Ref(_)) && inner.span.start == start.start;
            let parenthesised = p.text.as_bytes().get(start.start as usize) == Some(&b'(');
            let follows = matches!(p.kind(), T::LBracket | T::Dot);
            if !follows || (reference && !parenthesised) { inner } else { p.postfix(start, inner) }
        })
    }

    /// `f(x)[i].re`: tolerated beyond the grammar of 3.6.
    #[inline(never)]
    fn postfix(&mut self, start: Span, mut expr: Expr) -> Expr {
        loop {
            let kind = match self.kind() {
                T::LBracket if !matches!(expr.kind, ExprKind::Error) => {
                    let subscripts = self.subscripts();
                    ExprKind::Index(Box::new(expr), subscripts)
                }
                T::Dot if self.peek(1) == T::Ident => {
                    self.bump();
                    let token = self.bump();
                    ExprKind::Field(Box::new(expr), self.ident_of(token))
                }
                _ => return expr,
            };
            self.inner_height += 1;
            expr = Expr { kind, span: self.since(start) };
            if self.inner_height >= MAX_HEIGHT {
                self.height = MAX_HEIGHT;
                return self.raise(expr);
            }
        }
    }

    fn primary_inner(&mut self) -> Expr {
        let start = self.span();
        let token = self.token();
        let kind = match token.kind {
            T::UnsignedInteger | T::UnsignedReal => {
                self.bump();
                self.number(token)
            }
            T::String => {
                self.bump();
                ExprKind::String(self.string_value(token).into())
            }
            T::True | T::False => {
                self.bump();
                ExprKind::Boolean(token.kind == T::True)
            }
            T::Ident | T::Dot => {
                let reference = self.component_ref();
                if self.at(T::LParen) {
                    ExprKind::Call(self.call(reference))
                } else if reference.parts.is_empty() {
                    ExprKind::Error
                } else {
                    ExprKind::Ref(reference)
                }
            }
            T::Der | T::Initial | T::Pure => {
                self.bump();
                let part = RefPart { name: self.ident_of(token), subscripts: Vec::new() };
                let function = ComponentRef { global: false, parts: vec![part], span: start };
                if self.at(T::LParen) {
                    ExprKind::Call(self.call(function))
                } else {
                    self.error_expected(&format!("`(` after {}", token.kind.describe()));
                    ExprKind::Error
                }
            }
            T::LParen => return self.parenthesised(),
            T::LBrace => self.array(),
            T::LBracket => self.matrix(),
            T::End if self.subscript_depth > 0 => {
                self.bump();
                ExprKind::End
            }
            T::If => {
                self.mistake(
                    start,
                    "an `if` expression as an operand needs parentheses",
                    "write `(if … then … else …)`",
                );
                return self.expression();
            }
            T::Function => {
                self.error_expected("an expression");
                ExprKind::Error
            }
            _ => {
                self.error_no_expression();
                ExprKind::Error
            }
        };
        Expr { kind, span: if self.position > 0 { self.since(start) } else { start } }
    }

    #[cold]
    #[inline(never)]
    fn error_no_expression(&mut self) {
        if self.recovering {
            return;
        }
        let mut diagnostic = self.expected("an expression");
        if self.at(T::End) {
            diagnostic = diagnostic.hint("`end` is an index only inside `[…]`");
        } else if self.at(T::Star) {
            diagnostic = diagnostic.hint("a power is written `^`");
        } else if self.at(T::Semicolon) || self.at(T::RParen) {
            diagnostic.span = self.gap();
        }
        self.error(diagnostic);
    }

    fn number(&mut self, token: Token) -> ExprKind {
        let text = self.token_text(token);
        if token.kind == T::UnsignedInteger
            && let Ok(value) = text.parse::<i64>()
            && value <= 1 << 53
        {
            return ExprKind::Integer(value);
        }
        let value: f64 = text.parse().unwrap_or(f64::INFINITY);
        if value.is_infinite() {
            self.mistake(
                token.span(self.file),
                "this number is larger than the largest Real",
                "the largest is 1.79e308",
            );
            return ExprKind::Real(f64::MAX);
        }
        ExprKind::Real(value)
    }

    /// `(e)` ⇒ `e` with the span of the brackets; `(a, , b)` ⇒ a tuple.
    fn parenthesised(&mut self) -> Expr {
        let start = self.span();
        self.bump();
        let mut entries: Vec<Option<Expr>> = Vec::new();
        if !self.at(T::RParen) {
            loop {
                let empty = matches!(self.kind(), T::Comma | T::RParen);
                let entry = (!empty).then(|| self.expression());
                entries.push(entry);
                if !self.eat(T::Comma) {
                    break;
                }
            }
        }
        self.expect_close(T::RParen, start);
        let span = self.since(start);
        match entries.as_mut_slice() {
            [Some(_)] => match entries.pop().flatten() {
                Some(expr) => Expr { kind: expr.kind, span },
                None => Expr { kind: ExprKind::Error, span },
            },
            _ => Expr { kind: ExprKind::Tuple(entries), span },
        }
    }

    fn array(&mut self) -> ExprKind {
        let open = self.span();
        self.bump();
        let mark = self.expressions.len();
        while !self.at(T::RBrace) {
            let entry = self.expression();
            if self.expressions.len() == mark && self.eat(T::For) {
                let indices = self.for_indices();
                self.expect_close(T::RBrace, open);
                return ExprKind::ArrayComprehension(Box::new(entry), indices);
            }
            self.expressions.push(entry);
            if !self.eat(T::Comma) {
                break;
            }
            if self.at(T::RBrace) {
                self.error_expected("an expression after `,`");
            }
        }
        self.expect_close(T::RBrace, open);
        ExprKind::Array(self.expressions.split_off(mark))
    }

    fn matrix(&mut self) -> ExprKind {
        let open = self.span();
        self.bump();
        let mut rows = Vec::new();
        loop {
            rows.push(self.expression_list());
            if self.recovering || !self.eat(T::Semicolon) {
                break;
            }
        }
        self.expect_close(T::RBracket, open);
        ExprKind::Matrix(rows)
    }

    fn expression_list(&mut self) -> Vec<Expr> {
        let mark = self.expressions.len();
        loop {
            let entry = self.expression();
            self.expressions.push(entry);
            if !self.eat(T::Comma) {
                return self.expressions.split_off(mark);
            }
        }
    }

    /// `[i, :, 1:n]`
    pub(super) fn subscripts(&mut self) -> Vec<Subscript> {
        let open = self.span();
        self.bump();
        self.subscript_depth += 1;
        let mut subscripts = Vec::with_capacity(1);
        loop {
            if self.at(T::Colon) && matches!(self.peek(1), T::Comma | T::RBracket) {
                subscripts.push(Subscript::All(self.span()));
                self.bump();
            } else {
                subscripts.push(Subscript::Index(self.expression()));
            }
            if !self.eat(T::Comma) {
                break;
            }
        }
        self.subscript_depth -= 1;
        self.expect_close(T::RBracket, open);
        subscripts
    }

    /// `.a[1].b`
    pub(super) fn component_ref(&mut self) -> ComponentRef {
        let start = self.span();
        let global = self.eat(T::Dot);
        let mut parts = Vec::with_capacity(1);
        while let Some(name) = self.ident(if parts.is_empty() { "a name" } else { "a name after `.`" }) {
            let subscripts = if self.at(T::LBracket) { self.subscripts() } else { Vec::new() };
            parts.push(RefPart { name, subscripts });
            if !self.eat(T::Dot) {
                break;
            }
        }
        ComponentRef { global, parts, span: self.since(start) }
    }

    /// `(x, y, name = z)` or `(e for i in r)` after a function name.
    pub(super) fn call(&mut self, function: ComponentRef) -> Call {
        let open = self.span();
        let mut call = Call { function, args: Vec::new(), named: Vec::new(), iterators: Vec::new() };
        let mark = self.expressions.len();
        self.bump();
        while !self.at(T::RParen) {
            if self.at(T::Ident) && self.peek(1) == T::Equals {
                let token = self.bump();
                let name = self.ident_of(token);
                self.bump();
                let value = self.argument();
                call.named.push((name, value));
            } else {
                if !call.named.is_empty() && !self.recovering {
                    self.mistake(
                        self.span(),
                        "a positional argument cannot follow named ones",
                        "give it a name, or move it to the front",
                    );
                }
                let value = self.argument();
                self.expressions.push(value);
                if self.expressions.len() == mark + 1 && call.named.is_empty() && self.eat(T::For) {
                    call.iterators = self.for_indices();
                    break;
                }
            }
            if !self.eat(T::Comma) {
                break;
            }
            if self.at(T::RParen) {
                self.error_expected("an argument after `,`");
            }
        }
        self.expect_close(T::RParen, open);
        call.args = self.expressions.split_off(mark);
        call
    }

    /// An argument: an expression or `function f(x = 1)`.
    fn argument(&mut self) -> Expr {
        if !self.at(T::Function) {
            return self.expression();
        }
        let start = self.span();
        if !self.enter(1) {
            return self.skipped();
        }
        let expr = self.bracketed(|p| {
            p.bump();
            let spec = p.type_spec();
            let parts = spec.path.iter().map(|name| RefPart { name: *name, subscripts: Vec::new() }).collect();
            let function = ComponentRef { global: spec.global, parts, span: spec.span };
            let call = if p.at(T::LParen) {
                p.call(function)
            } else {
                p.error_expected("`(` after the function name");
                Call { function, args: Vec::new(), named: Vec::new(), iterators: Vec::new() }
            };
            Expr { kind: ExprKind::PartialFunction(call), span: p.since(start) }
        });
        self.leave(1);
        self.inner_height = self.inner_height.max(self.height);
        expr
    }

    /// `i in r, j in s` (after `for`).
    pub(super) fn for_indices(&mut self) -> Vec<ForIndex> {
        let mut indices = Vec::with_capacity(1);
        while let Some(name) = self.ident("an iterator name") {
            let range = if self.eat(T::In) {
                Some(self.expression())
            } else {
                if matches!(self.kind(), T::Equals | T::Assign) {
                    let error = self.expected("`in`").hint("iterators are written `i in 1:n`");
                    self.error(error);
                }
                None
            };
            indices.push(ForIndex { name, range });
            if !self.eat(T::Comma) {
                break;
            }
        }
        indices
    }
}
