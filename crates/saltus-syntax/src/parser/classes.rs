//! Files, class definitions, elements and modifications.

use super::*;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What a section after `equation` or `algorithm` holds.
#[derive(Clone, Copy)]
enum SectionKind {
    Equations { initial: bool },
    Algorithm { initial: bool },
}

/// The parts of a long class, as they come in.
#[derive(Default)]
struct Composition {
    elements: Vec<Element>,
    sections: Vec<Section>,
    external: Option<External>,
    annotation: Option<Annotation>,
}

impl Parser<'_> {
    pub(super) fn stored_definition(&mut self) -> StoredDefinition {
        let mut root = StoredDefinition::default();
        if self.eat(T::Within) {
            root.within = Some(if self.at(T::Ident) { self.name("a package name") } else { Vec::new() });
            self.semicolon("the `within` clause");
        }
        while !self.at(T::Eof) {
            self.recovering = false;
            let before = self.position;
            self.eat(T::Final);
            if begins_class(self.kind()) || self.at(T::Pure) {
                root.classes.extend(self.class_definition().map(Arc::new));
                self.semicolon("the class");
            } else {
                self.unexpected_at_top();
            }
            if self.position == before {
                self.bump();
            }
        }
        root
    }

    /// Reports and skips to the next class definition.
    fn unexpected_at_top(&mut self) {
        let mut error = self.expected("a class definition");
        error = match self.kind() {
            T::End => error.hint("an `end` too many, or the class was closed before"),
            T::Within => error.hint("`within` stands only once, at the beginning of the file"),
            T::Semicolon => error.hint("remove this `;`"),
            _ => error.hint("a file holds classes: `model`, `package`, `function`, …"),
        };
        self.error(error);
        while !self.at(T::Eof) {
            self.bump();
            if begins_class(self.kind()) && self.at_line_start() {
                break;
            }
        }
    }

    /// `partial model A … end A`, without the `;`.
    pub(super) fn class_definition(&mut self) -> Option<ClassDef> {
        if !self.enter(CLASS_LEVELS) {
            self.synchronize();
            return None;
        }
        let class = self.class_definition_inner();
        self.leave(CLASS_LEVELS);
        class
    }

    #[inline(never)]
    fn class_definition_inner(&mut self) -> Option<ClassDef> {
        let start = self.span();
        let mut prefixes = ClassPrefixes::default();
        let kind = loop {
            let kind = self.kind();
            match kind {
                T::Encapsulated => prefixes.encapsulated = true,
                T::Partial => prefixes.partial = true,
                T::Expandable => prefixes.expandable = true,
                T::Pure => prefixes.pure = true,
                T::Impure => prefixes.impure = true,
                T::Class => break ClassKind::Class,
                T::Model => break ClassKind::Model,
                T::Block => break ClassKind::Block,
                T::Connector => break ClassKind::Connector,
                T::Record => break ClassKind::Record,
                T::Package => break ClassKind::Package,
                T::Function => break ClassKind::Function,
                T::Type => break ClassKind::Type,
                T::Operator => match self.peek(1) {
                    T::Record => {
                        self.bump();
                        break ClassKind::OperatorRecord;
                    }
                    T::Function => {
                        self.bump();
                        break ClassKind::OperatorFunction;
                    }
                    _ => break ClassKind::Operator,
                },
                _ => {
                    self.error_expected("a class keyword (`model`, `package`, `function`, …)");
                    return None;
                }
            }
            self.bump();
        };
        self.bump();
        if prefixes.expandable && kind != ClassKind::Connector {
            self.mistake(start, "only connectors can be `expandable`", "");
        }
        if (prefixes.pure || prefixes.impure) && !matches!(kind, ClassKind::Function | ClassKind::OperatorFunction) {
            self.mistake(start, "only functions can be `pure` or `impure`", "");
        }

        let extends_place = self.span();
        let extends = self.eat(T::Extends);
        let name = self.ident("the name of the class")?;
        if !extends && self.at(T::Equals) {
            self.bump();
            let (body, description) = self.short_class();
            return Some(ClassDef { kind, prefixes, name, description, body: body.into(), span: self.since(start) });
        }
        let mut extension = None;
        if extends {
            extension = Some(self.at(T::LParen).then(|| self.class_modification(extends_place)));
        } else if self.at(T::LParen) {
            self.fault(
                self.span(),
                format!("a modifier after the class name `{}`", name.name),
                "a class is modified where it is used, or by `= Base(…)`",
            );
            self.skip_line();
        }
        let description = self.description_string();
        self.open.push(Open::Class(name.name));
        let composition = self.composition();
        self.class_end(start, name);
        self.open.pop();
        let Composition { elements, sections, external, annotation } = composition;
        let body = ClassBody::Long { extends: extension, elements, sections, external, annotation };
        Some(ClassDef { kind, prefixes, name, description, body: body.into(), span: self.since(start) })
    }

    fn skip_line(&mut self) {
        while !self.at(T::Eof) && !self.at_line_start() {
            self.bump();
        }
        self.recovering = false;
    }

    /// `end A`.
    #[inline(never)]
    fn class_end(&mut self, start: Span, name: Ident) {
        let opened = || format!("class `{}` begins here", name.name);
        if self.at(T::End) {
            let next = self.tokens[self.position + 1];
            match next.kind {
                T::Ident if self.token_text(next) == name.name.as_str() => {
                    self.bump();
                    self.bump();
                    return;
                }
                T::Ident if !self.closes_outer() => {
                    let found = self.token_text(next);
                    let message = format!("class `{}` ends with the wrong name `{found}`", name.name);
                    let error = self.diagnostic(next.span(self.file), message).label(name.span, opened());
                    self.report(error.hint(format!("write `end {}`", name.name)));
                    self.bump();
                    self.bump();
                    return;
                }
                T::Ident => {}
                _ => {
                    let message = format!("expected `{}` after `end`", name.name);
                    let place = Span { start: self.token().end, end: self.token().end, ..self.span() };
                    let error = self.diagnostic(place, message).label(name.span, opened());
                    self.report(error.hint(format!("write `end {};`", name.name)));
                    self.bump();
                    return;
                }
            }
        }
        if !self.recovering {
            let error = self
                .diagnostic(self.gap(), format!("missing `end {}` before {}", name.name, self.found_end()))
                .label(Span { end: name.span.end, ..start }, format!("class `{}` is not closed", name.name));
            self.error(error.hint(format!("add `end {};`", name.name)));
        }
    }

    /// The current token, with the name if it is `end X`.
    pub(super) fn found_end(&self) -> String {
        if self.at(T::End) && self.peek(1) == T::Ident {
            format!("`end {}`", self.token_text(self.tokens[self.position + 1]))
        } else {
            self.found()
        }
    }

    /// What stands right of `=`: enumeration, derivative or base class.
    #[inline(never)]
    fn short_class(&mut self) -> (ClassBody, String) {
        if self.at(T::Enumeration) {
            self.bump();
            let (literals, open) = self.enumeration();
            let description = self.description_string();
            let annotation = self.annotation();
            return (ClassBody::Enumeration { literals, open, annotation }, description);
        }
        if self.at(T::Der) {
            self.bump();
            let open = self.span();
            self.expect(T::LParen);
            let function = self.type_spec();
            let mut with_respect_to = Vec::new();
            while self.eat(T::Comma) {
                with_respect_to.extend(self.ident("the name of an input"));
            }
            if with_respect_to.is_empty() {
                self.error_expected("`,` and the input to differentiate by");
            }
            self.expect_close(T::RParen, open);
            let description = self.description_string();
            let annotation = self.annotation();
            return (ClassBody::Derivative { function, with_respect_to, annotation }, description);
        }
        let prefix = self.type_prefix();
        let base = self.type_spec();
        let dims = if self.at(T::LBracket) { self.subscripts() } else { Vec::new() };
        let start = self.span();
        let modification = self.at(T::LParen).then(|| self.class_modification(start));
        let description = self.description_string();
        let annotation = self.annotation();
        (ClassBody::Short { prefix, base, dims, modification, annotation }, description)
    }

    #[inline(never)]
    fn enumeration(&mut self) -> (Vec<EnumLiteral>, bool) {
        let open = self.span();
        let mut literals = Vec::new();
        if !self.expect(T::LParen) {
            return (literals, false);
        }
        let unspecified = self.eat(T::Colon);
        while !unspecified && !self.at(T::RParen) {
            let Some(name) = self.ident("an enumeration literal") else { break };
            let description = self.description_string();
            let annotation = self.annotation();
            literals.push(EnumLiteral { name, description, annotation });
            if !self.eat(T::Comma) {
                break;
            }
            if self.at(T::RParen) {
                self.error_expected("an enumeration literal after `,`");
            }
        }
        self.expect_close(T::RParen, open);
        (literals, unspecified)
    }

    /// Elements and sections up to `end`.
    #[inline(never)]
    fn composition(&mut self) -> Composition {
        let mut parts = Composition::default();
        let mut protected = false;
        let mut section: Option<SectionKind> = None;
        loop {
            self.recovering = false;
            let before = self.position;
            match self.kind() {
                T::Eof => break,
                T::End => match self.peek(1) {
                    T::If | T::For | T::When | T::While => {
                        let word = self.peek(1).describe().trim_matches('`');
                        let message = format!("`end {word}` without an open `{word}`");
                        self.fault(self.span(), message, "remove it, or look for a block closed too early");
                        self.bump();
                        self.bump();
                        self.synchronize();
                        self.section(&mut parts, section);
                    }
                    _ => break,
                },
                T::Public | T::Protected => {
                    protected = self.at(T::Protected);
                    section = None;
                    self.bump();
                    if self.at(T::Semicolon) {
                        self.mistake(self.span(), "no `;` stands after `public` and `protected`", "remove it");
                        self.bump();
                    }
                }
                T::Equation | T::Algorithm | T::Initial if self.at_section() => {
                    let initial = self.eat(T::Initial);
                    let equations = self.at(T::Equation);
                    let kind = match equations {
                        true => SectionKind::Equations { initial },
                        false => SectionKind::Algorithm { initial },
                    };
                    section = Some(kind);
                    self.bump();
                    if self.at(T::Semicolon) {
                        self.mistake(self.span(), "no `;` stands after `equation` and `algorithm`", "remove it");
                        self.bump();
                    }
                    self.section(&mut parts, section);
                }
                T::External => {
                    let external = self.external();
                    if parts.external.is_some() {
                        self.mistake(external.span, "a function has only one `external` clause", "");
                    }
                    parts.external = Some(external);
                }
                T::Annotation => {
                    let start = self.span();
                    let annotation = self.annotation();
                    if parts.annotation.is_some() {
                        self.warn(
                            start,
                            "a class has only one annotation: this one is joined to the first",
                            "write it there",
                        );
                    }
                    merge(&mut parts.annotation, annotation);
                    self.semicolon("the annotation");
                }
                T::When | T::For | T::If | T::Connect | T::Der if section.is_none() => {
                    self.mistake(
                        self.span(),
                        format!("{} outside of a section", self.found()),
                        "write `equation` before the first equation",
                    );
                    section = Some(SectionKind::Equations { initial: false });
                    self.section(&mut parts, section);
                }
                T::Semicolon => {
                    self.mistake(self.span(), "a `;` without a declaration", "remove it");
                    self.bump();
                }
                T::Else | T::Elseif | T::Elsewhen => {
                    self.fault(
                        self.span(),
                        format!("{} without an open block", self.found()),
                        "look for a block closed too early",
                    );
                    self.bump();
                    self.synchronize();
                    self.section(&mut parts, section);
                }
                _ => {
                    if section.is_some() {
                        let error = self.diagnostic(self.span(), "a declaration in a section of equations");
                        let hint = "move it before `equation` or `algorithm`, or write `public` or `protected` first";
                        self.report(error.hint(hint));
                    }
                    self.element(protected, &mut parts.elements);
                    if section.is_some() && !begins_element(self.kind()) {
                        self.section(&mut parts, section);
                    }
                }
            }
            if self.position == before {
                self.bump();
            }
        }
        parts
    }

    fn at_section(&self) -> bool {
        match self.kind() {
            T::Initial => matches!(self.peek(1), T::Equation | T::Algorithm),
            kind => matches!(kind, T::Equation | T::Algorithm),
        }
    }

    /// The equations or statements of a section (also its rest, after something that does not belong there).
    #[inline(never)]
    fn section(&mut self, parts: &mut Composition, kind: Option<SectionKind>) {
        match kind {
            Some(SectionKind::Equations { initial }) => {
                let equations = self.equations();
                parts.sections.push(Section::Equations { initial, equations });
            }
            Some(SectionKind::Algorithm { initial }) => {
                let word = self.position.saturating_sub(1);
                let span = self.tokens[word].span(self.file);
                let statements = self.statements();
                parts.sections.push(Section::Algorithm { initial, statements, span });
            }
            None => {}
        }
    }

    #[inline(never)]
    fn external(&mut self) -> External {
        let start = self.span();
        self.bump();
        let language = self.at(T::String).then(|| {
            let token = self.bump();
            self.string_value(token)
        });
        let (mut result, mut name, mut args) = (None, None, Vec::new());
        if self.at(T::Ident) || self.at(T::Dot) {
            let mut reference = self.component_ref();
            if self.eat(T::Equals) {
                result = Some(reference);
                reference = self.component_ref();
            }
            match reference.parts.as_slice() {
                [part] if part.subscripts.is_empty() => name = Some(part.name),
                [] => {}
                _ => {
                    self.mistake(reference.span, "the name of an external function is one identifier", "");
                }
            }
            if self.at(T::LParen) {
                let call = self.call(reference);
                args = call.args;
                if let Some((name, _)) = call.named.first() {
                    self.mistake(name.span, "an external function takes no named arguments", "");
                }
            } else {
                self.error_expected("`(` after the external function");
            }
        }
        let annotation = self.annotation();
        let span = self.since(start);
        self.semicolon("the `external` clause");
        External { language, result, name, args, annotation, span }
    }

    /// Import, extends, class or components, with the `;`.
    #[inline(never)]
    fn element(&mut self, protected: bool, elements: &mut Vec<Element>) {
        let start = self.span();
        match self.kind() {
            T::Import => {
                elements.extend(self.import().map(|(import, comment)| Element::Import(import, comment)));
                self.semicolon("the import");
                return;
            }
            T::Extends => {
                self.bump();
                let base = self.type_spec();
                let place = self.span();
                self.selecting = true;
                let modification = self.at(T::LParen).then(|| self.class_modification(place));
                self.selecting = false;
                let left_out = std::mem::take(&mut self.left_out);
                self.description_string();
                let annotation = self.annotation();
                let span = self.since(start);
                if !base.path.is_empty() {
                    elements.push(Element::Extends(Extends {
                        base,
                        modification,
                        left_out,
                        protected,
                        annotation,
                        span,
                    }));
                }
                self.semicolon("the extends clause");
                return;
            }
            _ => {}
        }
        let mut prefixes = ElementPrefixes { protected, ..ElementPrefixes::default() };
        loop {
            let flag = match self.kind() {
                T::Redeclare => &mut prefixes.redeclare,
                T::Final => &mut prefixes.is_final,
                T::Inner => &mut prefixes.inner,
                T::Outer => &mut prefixes.outer,
                T::Replaceable => &mut prefixes.replaceable,
                _ => break,
            };
            let repeated = std::mem::replace(flag, true);
            if repeated {
                self.mistake(self.span(), format!("{} stands twice", self.found()), "");
            }
            self.bump();
        }
        let element = self.element_body(prefixes, start, true);
        elements.extend(element);
        self.semicolon("the declaration");
    }

    /// A class or component clause after its prefixes, with `constrainedby`. `several`: a list may be declared.
    #[inline(never)]
    fn element_body(&mut self, prefixes: ElementPrefixes, start: Span, several: bool) -> Option<Element> {
        if begins_class(self.kind()) || self.at(T::Pure) {
            let mut def = self.class_definition()?;
            let (constraint, description, annotation) = self.constraint();
            if def.description.is_empty() {
                def.description = description;
            }
            if annotation.is_some()
                && let Some(
                    ClassBody::Long { annotation: own, .. }
                    | ClassBody::Short { annotation: own, .. }
                    | ClassBody::Enumeration { annotation: own, .. }
                    | ClassBody::Derivative { annotation: own, .. },
                ) = def.body.decoded.get_mut()
            {
                merge(own, annotation);
            }
            return Some(Element::Class { prefixes, def: Arc::new(def), constraint });
        }
        let type_prefix = self.type_prefix();
        if !matches!(self.kind(), T::Ident | T::Dot) {
            if !self.recovering {
                let mut error = self.expected("a declaration, `equation`, `algorithm` or `end`");
                if self.kind().is_keyword() {
                    error = error.hint(format!("{} cannot stand here", self.kind().describe()));
                }
                self.error(error);
            }
            return None;
        }
        let type_spec = self.type_spec();
        let type_dims = if self.at(T::LBracket) { self.subscripts() } else { Vec::new() };
        let mut components = Vec::with_capacity(1);
        while let Some(component) = self.component(&type_spec, components.is_empty()) {
            components.push(component);
            if !several || !self.eat(T::Comma) {
                break;
            }
        }
        let (constraint, description, annotation) = self.constraint();
        let last = components.last_mut()?;
        if last.description.is_empty() {
            last.description = description;
        }
        merge(&mut last.annotation, annotation);
        let span = self.since(start);
        Some(Element::Components(ComponentClause {
            prefixes,
            type_prefix,
            type_spec,
            type_dims,
            components,
            constraint,
            span,
        }))
    }

    /// `constrainedby C(mod) "text" annotation(…)`; text and annotation belong to the element.
    #[inline(never)]
    fn constraint(&mut self) -> (Option<Constraint>, String, Option<Annotation>) {
        if !self.at(T::Constrainedby) {
            return (None, String::new(), None);
        }
        self.bump();
        let class = self.type_spec();
        let place = self.span();
        let modification = self.at(T::LParen).then(|| self.class_modification(place));
        let description = self.description_string();
        let annotation = self.annotation();
        (Some(Constraint { class, modification }), description, annotation)
    }

    #[inline(never)]
    fn component(&mut self, type_spec: &TypeSpec, first: bool) -> Option<Component> {
        let start = self.span();
        if !self.at(T::Ident) && first && !self.recovering {
            let last = type_spec.path.last().map_or("?", |i| i.name.as_str());
            let error = match self.kind() {
                T::Equals | T::Assign => self
                    .expected(&format!("a component name after the type `{last}`"))
                    .hint("an equation stands after the word `equation`; a declaration begins with a type"),
                T::LParen => self
                    .expected(&format!("a component name after the type `{last}`"))
                    .hint("calls stand after `equation` or `algorithm`; modifiers after the component's name"),
                T::Semicolon | T::Comma => {
                    let mut error = self.expected(&format!("a component name after the type `{last}`"));
                    error.span = self.gap();
                    error
                }
                _ => {
                    self.ident("a component name")?;
                    return None;
                }
            };
            self.error(error);
            return None;
        }
        let name = self.ident("a component name")?;
        let dims = if self.at(T::LBracket) { self.subscripts() } else { Vec::new() };
        let modification = self.modification();
        let condition = self.eat(T::If).then(|| self.expression());
        let description = self.description_string();
        let annotation = self.annotation();
        let span = self.since(start);
        Some(Component { name, dims, modification, condition, description, annotation, span })
    }

    /// `flow`, `parameter`, `input`, … in any order.
    fn type_prefix(&mut self) -> TypePrefix {
        let mut prefix = TypePrefix::default();
        loop {
            let repeated = match self.kind() {
                T::Flow => replace(&mut prefix.connection, Connection::Flow),
                T::Stream => replace(&mut prefix.connection, Connection::Stream),
                T::Discrete => replace(&mut prefix.variability, VariabilityPrefix::Discrete),
                T::Parameter => replace(&mut prefix.variability, VariabilityPrefix::Parameter),
                T::Constant => replace(&mut prefix.variability, VariabilityPrefix::Constant),
                T::Input => replace(&mut prefix.causality, Causality::Input),
                T::Output => replace(&mut prefix.causality, Causality::Output),
                _ => return prefix,
            };
            if repeated {
                self.mistake(self.span(), format!("{} contradicts or repeats a prefix", self.found()), "");
            }
            self.bump();
        }
    }

    /// `import A.B;`, `import D = A.B;`, `import A.*;`, `import A.{b, c};`
    #[inline(never)]
    fn import(&mut self) -> Option<(Import, Comment)> {
        let start = self.span();
        self.bump();
        let mut alias = None;
        if self.at(T::Ident) && self.peek(1) == T::Equals {
            let token = self.bump();
            alias = Some(self.ident_of(token));
            self.bump();
        }
        self.eat(T::Dot);
        let path = self.name("the name of a package or class");
        let last = *path.last()?;
        let import = match self.kind() {
            T::DotStar if alias.is_none() => {
                self.bump();
                Import::Wildcard { path, span: self.since(start) }
            }
            T::Dot if self.peek(1) == T::Star && alias.is_none() => {
                self.bump();
                self.bump();
                Import::Wildcard { path, span: self.since(start) }
            }
            T::Dot if self.peek(1) == T::LBrace && alias.is_none() => {
                self.bump();
                let open = self.span();
                self.bump();
                let mut names = Vec::new();
                while let Some(name) = self.ident("a name to import") {
                    names.push(name);
                    if !self.eat(T::Comma) {
                        break;
                    }
                }
                self.expect_close(T::RBrace, open);
                Import::List { path, names, span: self.since(start) }
            }
            _ => {
                if self.at(T::Dot) {
                    self.bump();
                    self.ident("a name after `.`");
                }
                Import::Named { alias: alias.unwrap_or(last), path, span: self.since(start) }
            }
        };
        Some((import, self.comment()))
    }

    /// `"text" annotation(…)`, either part optional.
    pub(super) fn comment(&mut self) -> Comment {
        Comment { description: self.description_string(), annotation: self.annotation().map(Box::new) }
    }

    /// `annotation(…)` if it stands here.
    pub(super) fn annotation(&mut self) -> Option<Annotation> {
        if !self.at(T::Annotation) {
            return None;
        }
        let start = self.span();
        self.bump();
        if !self.at(T::LParen) {
            self.error_expected("`(` after `annotation`");
            return Some(Annotation { args: Vec::new(), span: self.since(start) });
        }
        self.annotations += 1;
        let args = self.arguments();
        self.annotations -= 1;
        Some(Annotation { args, span: self.since(start) })
    }

    /// `(…)` as a modification without binding.
    fn class_modification(&mut self, start: Span) -> Modification {
        let args = self.arguments();
        Modification { args, binding: None, is_break: false, span: Some(self.since(start)) }
    }

    /// `(…) = e`, `= e`, `:= e`, or nothing.
    fn modification(&mut self) -> Option<Modification> {
        let start = self.span();
        let args = match self.kind() {
            T::LParen => self.arguments(),
            T::Equals | T::Assign => Vec::new(),
            T::EqualEqual => {
                self.mistake(
                    start,
                    "`==` in place of `=` in a binding",
                    "`==` compares; bindings are written with `=`",
                );
                Vec::new()
            }
            _ => return None,
        };
        let mut modification = Modification { args, ..Modification::default() };
        if matches!(self.kind(), T::Equals | T::Assign | T::EqualEqual) {
            self.bump();
            if self.eat(T::Break) {
                modification.is_break = true;
            } else {
                modification.binding = Some(self.expression());
            }
        }
        modification.span = Some(self.since(start));
        Some(modification)
    }

    /// `(a = 1, redeclare B c, …)`
    fn arguments(&mut self) -> Vec<Argument> {
        let open = self.span();
        // Only the list of the extends clause itself tells what is left out.
        let selecting = std::mem::take(&mut self.selecting);
        if !self.enter(1) {
            self.bump();
            self.skip_nested();
            self.eat(T::RParen);
            return Vec::new();
        }
        self.bump();
        let mark = self.arguments.len();
        while !self.at(T::RParen) {
            if selecting && self.at(T::Break) {
                self.deselection();
            } else {
                let Some(argument) = self.modification_argument() else { break };
                self.arguments.push(argument);
            }
            if !self.eat(T::Comma) {
                break;
            }
            if self.at(T::RParen) {
                self.error_expected("a modifier after `,`");
            }
        }
        self.expect_close(T::RParen, open);
        self.leave(1);
        let arguments = self.arguments.split_off(mark);
        if self.annotations == 0 {
            self.modified_twice(&arguments);
        }
        arguments
    }

    /// `break x`, `break connect(a, b)`
    fn deselection(&mut self) {
        let start = self.span();
        self.bump();
        let left_out = match self.kind() {
            T::Connect => match self.connect() {
                EquationKind::Connect(a, b) => Some(LeftOut::Connection(a, b, self.since(start))),
                _ => None,
            },
            _ => self.ident("the name of a component, or `connect`").map(LeftOut::Component),
        };
        self.left_out.extend(left_out);
    }

    /// Two values for one name by different arguments of a list: `p = 1, p = 2` or `p(min = 1), p.min = 2`; or two
    /// redeclarations.
    fn modified_twice(&mut self, arguments: &[Argument]) {
        let redeclared = |a: &Argument| match a {
            Argument::Redeclare { element, span, .. } => match &**element {
                Element::Class { def, .. } => Some((def.name.name, *span)),
                Element::Components(c) => c.components.first().map(|c| (c.name.name, *span)),
                _ => None,
            },
            Argument::Modification { .. } => None,
        };
        let redeclarations: Vec<(Name, Span)> = arguments.iter().filter_map(redeclared).collect();
        for (k, &(name, span)) in redeclarations.iter().enumerate() {
            if let Some(&(_, first)) = redeclarations[..k].iter().find(|(n, _)| *n == name) {
                let d =
                    self.diagnostic(span, format!("{name} is redeclared twice")).label(first, "first redeclared here");
                self.report(d.hint("remove one of the two"));
            }
        }
        type Values = Vec<(Vec<Name>, usize, Span)>;
        fn values(a: &Argument, number: usize, at: &[Name], out: &mut Values) {
            let Argument::Modification { path, modification: Some(m), span, .. } = a else { return };
            let path: Vec<Name> = at.iter().copied().chain(path.iter().map(|i| i.name)).collect();
            m.args.iter().for_each(|a| values(a, number, &path, out));
            if m.binding.is_some() {
                out.push((path, number, *span));
            }
        }
        let first = |a: &Argument| match a {
            Argument::Modification { path, .. } => path.first().map(|i| i.name),
            Argument::Redeclare { .. } => None,
        };
        let mut names: Vec<Name> = arguments.iter().filter_map(first).collect();
        names.sort_unstable();
        if names.windows(2).all(|w| w[0] != w[1]) {
            return;
        }
        let mut all = Vec::new();
        arguments.iter().enumerate().for_each(|(k, a)| values(a, k, &[], &mut all));
        let mut seen: FxHashMap<Vec<Name>, (usize, Span)> = FxHashMap::default();
        for (path, number, span) in all {
            match seen.get(&path) {
                Some(&(other, _)) if other == number => {}
                Some(&(_, first)) => {
                    let names: Vec<&str> = path.iter().map(|n| n.as_str()).collect();
                    let message = format!("{} is modified twice", names.join("."));
                    let d = self.diagnostic(span, message).label(first, "first modified here");
                    self.report(d.hint("remove one of the two"));
                }
                None => {
                    seen.insert(path, (number, span));
                }
            }
        }
    }

    fn modification_argument(&mut self) -> Option<Argument> {
        let start = self.span();
        let (mut each, mut is_final, mut redeclare, mut replaceable) = (false, false, false, false);
        loop {
            match self.kind() {
                T::Each => each = true,
                T::Final => is_final = true,
                T::Redeclare => redeclare = true,
                T::Replaceable => replaceable = true,
                _ => break,
            }
            self.bump();
        }
        if redeclare || replaceable {
            let prefixes = ElementPrefixes { redeclare, is_final, replaceable, ..ElementPrefixes::default() };
            let element = Box::new(self.element_body(prefixes, start, false)?);
            let span = self.since(start);
            return Some(Argument::Redeclare { each, is_final, redeclare, replaceable, element, span });
        }
        if !self.at(T::Ident) && !self.recovering {
            let mut error = self.expected("a modifier `name = value`");
            if self.at(T::Break) {
                error = error.hint("`break` leaves something out in the list of an extends clause only");
            } else if begins_element(self.kind()) {
                error = error.hint("to exchange a class or component, write `redeclare` before it");
            } else if self.at(T::Semicolon) || self.at(T::End) {
                error.span = self.gap();
                error = error.hint("the bracket opened before is not closed");
            }
            self.error(error);
            return None;
        }
        let path = self.name("a modifier `name = value`");
        if path.is_empty() {
            return None;
        }
        let modification = self.modification();
        if self.at(T::LBracket) && !self.recovering {
            self.fault(
                self.span(),
                "a modifier cannot address single elements of an array",
                "give the values of all elements: `a = {…}`",
            );
        }
        let description = self.description_string();
        let annotation = self.annotation().map(Box::new);
        let span = self.since(start);
        Some(Argument::Modification { each, is_final, path, modification, description, annotation, span })
    }
}

/// Sets and tells whether something else than the default was set before.
fn replace<V: Default + PartialEq>(slot: &mut V, value: V) -> bool {
    std::mem::replace(slot, value) != V::default()
}

/// Adds the arguments of one annotation to another.
fn merge(into: &mut Option<Annotation>, more: Option<Annotation>) {
    match (into.as_mut(), more) {
        (Some(first), Some(second)) => {
            first.args.extend(second.args);
            first.span = first.span.to(second.span);
        }
        (None, Some(second)) => *into = Some(second),
        (_, None) => {}
    }
}
