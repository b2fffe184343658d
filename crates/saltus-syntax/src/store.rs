//! Trees as bytes, for caches of parsed files: [`decode`] of [`encode`] gives the tree back, with its spans in another
//! file id. The body of a class is decoded when it is looked at ([`Body`]), so that the classes of a large file that nobody
//! asks for cost nothing. Bytes that are no tree give `None`, or a panic when such a body is looked at: callers keep a
//! checksum.
//!
//! A tree is its table of names, then its nodes in the order of their fields; numbers take as many bytes as they need.
//! [`format`] tells formats apart: it changes with the source of the tree, the parser and this module.

use crate::ast::*;
use crate::parser::MAX_HEIGHT;
use rustc_hash::{FxHashMap, FxHasher};
use saltus_base::{FileId, Name, Span};
use std::hash::Hasher;
use std::sync::{Arc, OnceLock};

/// What the bytes mean: a hash of everything that decides what a tree looks like.
pub fn format() -> u64 {
    let mut h = FxHasher::default();
    for source in [
        include_str!("ast.rs"),
        include_str!("store.rs"),
        include_str!("lexer.rs"),
        include_str!("parser/mod.rs"),
        include_str!("parser/classes.rs"),
        include_str!("parser/equations.rs"),
        include_str!("parser/expressions.rs"),
    ] {
        h.write(source.as_bytes());
    }
    h.finish()
}

/// The bytes of a tree.
pub fn encode(tree: &StoredDefinition) -> Vec<u8> {
    let mut w = Writer::default();
    tree.write(&mut w);
    let mut head = Writer::default();
    head.number(w.names.len() as u64);
    for n in &w.names {
        head.text(n.as_str());
    }
    head.bytes.extend(w.bytes);
    head.bytes
}

/// The tree of some bytes, its spans in `file`.
pub fn decode(bytes: Vec<u8>, file: FileId) -> Option<StoredDefinition> {
    let (names, at) = {
        let mut r = Reader { bytes: &bytes, names: &[], tree: None, file, at: 0, end: bytes.len(), depth: 0 };
        (r.table()?, r.at)
    };
    let tree = Arc::new(Tree { bytes, names, file });
    let mut r = tree.reader(at, tree.bytes.len());
    let root = StoredDefinition::read(&mut r)?;
    (r.at == r.end).then_some(root)
}

/// The bytes of a file with what they refer to.
struct Tree {
    bytes: Vec<u8>,
    names: Vec<Name>,
    file: FileId,
}

impl Tree {
    fn reader(self: &Arc<Self>, at: usize, end: usize) -> Reader<'_> {
        Reader { bytes: &self.bytes, names: &self.names, tree: Some(self), file: self.file, at, end, depth: 0 }
    }
}

/// Where the body of a class is stored.
#[derive(Clone)]
pub struct StoredBody {
    tree: Arc<Tree>,
    at: usize,
    end: usize,
}

impl StoredBody {
    pub(crate) fn decode(&self) -> Option<ClassBody> {
        let mut r = self.tree.reader(self.at, self.end);
        let body = ClassBody::read(&mut r)?;
        (r.at == r.end).then_some(body)
    }
}

impl Store for Body {
    /// The length in four bytes, then the body.
    fn write(&self, w: &mut Writer) {
        let from = w.bytes.len() + 4;
        w.bytes.extend([0; 4]);
        (**self).write(w);
        let length = (w.bytes.len() - from) as u32;
        w.bytes[from - 4..from].copy_from_slice(&length.to_le_bytes());
    }
    fn read(r: &mut Reader) -> Option<Self> {
        let length = u32::from_le_bytes(r.take(4)?.try_into().ok()?);
        let at = r.at;
        r.take(length as usize)?;
        Some(Body { decoded: OnceLock::new(), stored: Some(StoredBody { tree: r.tree?.clone(), at, end: r.at }) })
    }
}

#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    names: Vec<Name>,
    numbers: FxHashMap<Name, u64>,
}

impl Writer {
    fn number(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.bytes.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.bytes.push(n as u8);
    }
    fn text(&mut self, s: &str) {
        self.number(s.len() as u64);
        self.bytes.extend(s.as_bytes());
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    names: &'a [Name],
    tree: Option<&'a Arc<Tree>>,
    file: FileId,
    at: usize,
    end: usize,
    depth: u32,
}

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let to = self.at.checked_add(n).filter(|&to| to <= self.end)?;
        let taken = &self.bytes[self.at..to];
        self.at = to;
        Some(taken)
    }
    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|b| b[0])
    }
    fn table(&mut self) -> Option<Vec<Name>> {
        let n = self.number()?;
        (0..n).map(|_| self.text().map(Name::new)).collect()
    }
    fn number(&mut self) -> Option<u64> {
        let mut n = 0;
        for shift in (0..64).step_by(7) {
            let b = self.byte()?;
            n |= u64::from(b & 0x7f) << shift;
            if b < 0x80 {
                return Some(n);
            }
        }
        None
    }
    fn text(&mut self) -> Option<&'a str> {
        let n = self.number()?;
        std::str::from_utf8(self.take(usize::try_from(n).ok()?)?).ok()
    }
    /// One level deeper; the parser makes no tree that is deeper than this allows.
    fn below<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth > 4 * MAX_HEIGHT {
            return None;
        }
        self.depth += 1;
        let t = read(self);
        self.depth -= 1;
        t
    }
}

trait Store: Sized {
    fn write(&self, w: &mut Writer);
    fn read(r: &mut Reader) -> Option<Self>;
}

impl Store for bool {
    fn write(&self, w: &mut Writer) {
        w.bytes.push(u8::from(*self));
    }
    fn read(r: &mut Reader) -> Option<Self> {
        match r.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}
impl Store for i64 {
    fn write(&self, w: &mut Writer) {
        w.number(*self as u64);
    }
    fn read(r: &mut Reader) -> Option<Self> {
        r.number().map(|n| n as i64)
    }
}
impl Store for f64 {
    fn write(&self, w: &mut Writer) {
        w.bytes.extend(self.to_le_bytes());
    }
    fn read(r: &mut Reader) -> Option<Self> {
        Some(f64::from_le_bytes(r.take(8)?.try_into().ok()?))
    }
}
impl Store for String {
    fn write(&self, w: &mut Writer) {
        w.text(self);
    }
    fn read(r: &mut Reader) -> Option<Self> {
        r.text().map(str::to_string)
    }
}
impl Store for Arc<str> {
    fn write(&self, w: &mut Writer) {
        w.text(self);
    }
    fn read(r: &mut Reader) -> Option<Self> {
        r.text().map(Arc::from)
    }
}
impl Store for Name {
    fn write(&self, w: &mut Writer) {
        let n = *w.numbers.entry(*self).or_insert_with(|| {
            w.names.push(*self);
            w.names.len() as u64 - 1
        });
        w.number(n);
    }
    fn read(r: &mut Reader) -> Option<Self> {
        let n = r.number()?;
        r.names.get(usize::try_from(n).ok()?).copied()
    }
}
impl Store for Span {
    /// Zero for no place; else one more than the start, and the length.
    fn write(&self, w: &mut Writer) {
        if self.is_none() {
            return w.number(0);
        }
        w.number(u64::from(self.start) + 1);
        w.number(u64::from(self.end.saturating_sub(self.start)));
    }
    fn read(r: &mut Reader) -> Option<Self> {
        let start = match r.number()? {
            0 => return Some(Span::NONE),
            n => u32::try_from(n - 1).ok()?,
        };
        let end = start.checked_add(u32::try_from(r.number()?).ok()?)?;
        Some(Span { file: r.file, start, end })
    }
}
impl<T: Store> Store for Option<T> {
    fn write(&self, w: &mut Writer) {
        self.is_some().write(w);
        if let Some(t) = self {
            t.write(w);
        }
    }
    fn read(r: &mut Reader) -> Option<Self> {
        if bool::read(r)? { T::read(r).map(Some) } else { Some(None) }
    }
}
impl<T: Store> Store for Box<T> {
    fn write(&self, w: &mut Writer) {
        (**self).write(w);
    }
    fn read(r: &mut Reader) -> Option<Self> {
        r.below(T::read).map(Box::new)
    }
}
impl<T: Store> Store for Arc<T> {
    fn write(&self, w: &mut Writer) {
        (**self).write(w);
    }
    fn read(r: &mut Reader) -> Option<Self> {
        r.below(T::read).map(Arc::new)
    }
}
impl<T: Store> Store for Vec<T> {
    fn write(&self, w: &mut Writer) {
        w.number(self.len() as u64);
        for t in self {
            t.write(w);
        }
    }
    fn read(r: &mut Reader) -> Option<Self> {
        let n = usize::try_from(r.number()?).ok()?;
        // Nothing takes less than a byte.
        if n > r.end - r.at {
            return None;
        }
        r.below(|r| {
            let mut all = Vec::with_capacity(n);
            for _ in 0..n {
                all.push(T::read(r)?);
            }
            Some(all)
        })
    }
}
impl<A: Store, B: Store> Store for (A, B) {
    fn write(&self, w: &mut Writer) {
        self.0.write(w);
        self.1.write(w);
    }
    fn read(r: &mut Reader) -> Option<Self> {
        Some((A::read(r)?, B::read(r)?))
    }
}

/// A struct is its fields in order.
macro_rules! fields {
    ($($t:ident { $($f:ident),* $(,)? })*) => { $(
        impl Store for $t {
            fn write(&self, w: &mut Writer) {
                let $t { $($f),* } = self;
                $( $f.write(w); )*
            }
            fn read(r: &mut Reader) -> Option<Self> {
                Some($t { $($f: Store::read(r)?),* })
            }
        }
    )* };
}

/// A variant is its number, then its fields.
macro_rules! variants {
    ($($t:ident: $($tag:literal $v:ident $(( $($p:ident),* ))? $({ $($f:ident),* $(,)? })?),* ;)*) => { $(
        impl Store for $t {
            fn write(&self, w: &mut Writer) {
                match self {
                    $( $t::$v $(( $($p),* ))? $({ $($f),* })? => {
                        w.bytes.push($tag);
                        $( $($p.write(w);)* )?
                        $( $($f.write(w);)* )?
                    } )*
                }
            }
            fn read(r: &mut Reader) -> Option<Self> {
                Some(match r.byte()? {
                    $( $tag => $t::$v $(( $({ let $p = Store::read(r)?; $p }),* ))? $({ $($f: Store::read(r)?),* })?, )*
                    _ => return None,
                })
            }
        }
    )* };
}

fields! {
    StoredDefinition { within, classes }
    Ident { name, span }
    ClassPrefixes { encapsulated, partial, expandable, pure, impure }
    ClassDef { kind, prefixes, name, description, body, span }
    EnumLiteral { name, description, annotation }
    TypeSpec { global, path, span }
    ElementPrefixes { protected, redeclare, is_final, inner, outer, replaceable }
    Constraint { class, modification }
    Extends { base, modification, left_out, protected, annotation, span }
    TypePrefix { connection, variability, causality }
    ComponentClause { prefixes, type_prefix, type_spec, type_dims, components, constraint, span }
    Component { name, dims, modification, condition, description, annotation, span }
    Modification { args, binding, is_break, span }
    Comment { description, annotation }
    Annotation { args, span }
    Equation { kind, description, annotation, span }
    ForIndex { name, range }
    Statement { kind, comment, span }
    External { language, result, name, args, annotation, span }
    ComponentRef { global, parts, span }
    RefPart { name, subscripts }
    Expr { kind, span }
    Call { function, args, named, iterators }
}

variants! {
    ClassKind: 0 Class, 1 Model, 2 Block, 3 Connector, 4 Record, 5 OperatorRecord, 6 Package, 7 Function,
        8 OperatorFunction, 9 Operator, 10 Type;
    ClassBody: 0 Long { extends, elements, sections, external, annotation },
        1 Short { prefix, base, dims, modification, annotation },
        2 Enumeration { literals, open, annotation },
        3 Derivative { function, with_respect_to, annotation };
    Element: 0 Import(import, comment), 1 Extends(extends), 2 Class { prefixes, def, constraint }, 3 Components(clause);
    LeftOut: 0 Component(name), 1 Connection(a, b, span);
    Import: 0 Named { alias, path, span }, 1 Wildcard { path, span }, 2 List { path, names, span };
    VariabilityPrefix: 0 None, 1 Discrete, 2 Parameter, 3 Constant;
    Causality: 0 None, 1 Input, 2 Output;
    Connection: 0 Potential, 1 Flow, 2 Stream;
    Argument: 0 Modification { each, is_final, path, modification, description, annotation, span },
        1 Redeclare { each, is_final, redeclare, replaceable, element, span };
    Section: 0 Equations { initial, equations }, 1 Algorithm { initial, statements, span };
    EquationKind: 0 Simple(left, right), 1 Connect(a, b), 2 If { branches, otherwise }, 3 For { indices, body },
        4 When { branches }, 5 Call(call);
    StatementKind: 0 Assign(target, value), 1 MultiAssign(targets, value), 2 Call(call), 3 If { branches, otherwise },
        4 For { indices, body }, 5 While { condition, body }, 6 When { branches }, 7 Break, 8 Return;
    Subscript: 0 All(span), 1 Index(index);
    UnaryOp: 0 Neg, 1 Plus, 2 ElemNeg, 3 ElemPlus, 4 Not;
    BinaryOp: 0 Add, 1 Sub, 2 Mul, 3 Div, 4 Pow, 5 ElemAdd, 6 ElemSub, 7 ElemMul, 8 ElemDiv, 9 ElemPow, 10 Lt, 11 Le,
        12 Gt, 13 Ge, 14 Eq, 15 Ne, 16 And, 17 Or;
    ExprKind: 0 Real(v), 1 Integer(v), 2 Boolean(v), 3 String(v), 4 Ref(v), 5 Unary(op, a), 6 Binary(op, a, b),
        7 If(branches, otherwise), 8 Call(call), 9 Array(all), 10 ArrayComprehension(body, indices), 11 Matrix(rows),
        12 Range(from, step, to), 13 Tuple(all), 14 End, 15 PartialFunction(call), 16 Index(base, subscripts),
        17 Field(base, name), 18 Error;
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"within A.B;
encapsulated package P "text" extends Q(final each x[3](start = 1.5e-300) = {1, 2}, redeclare replaceable model M = N
    constrainedby O(a = 1)); import R = S.T; import S.{u, v}; import S.W.*; type E = enumeration(a "A", 'b c');
  function fx = der(f, x, y); protected inner outer parameter Real a[:, 2] if b == "ä\n" annotation(Dialog(group = "g"));
  redeclare function extends g input Real u = -1 ^ 2; external "C" y = h(u, size(u, 1)) annotation(Library = "x"); end g;
  model N connector C flow Real i; stream Real h; end C; C c; initial equation der(x) = .a.b[1, :].c; equation
    connect(c, d) annotation(Line(points = {{0, 0}, {1, 1}})); for i in 1:2:n, j loop x[i] = y[end]; end for;
    if a then b = c; elseif d then assert(false, "e"); else reinit(x, 1); end if; when {a, b} then (p, , q) = f(x, k = 2);
    elsewhen c then terminate("t"); end when; algorithm while true loop break; end while; x := [1, 2; 3, 4] .* y .^ 2;
    (a, , b) := f(g = function h(z = 3)); return; y := {i * j for i in 1:3, j in {1, 2}}; z := sum(i for i in 1:n);
    w := if a < b and not c or d <> e then f(x).re else (1 + 2)[3]; end N; annotation(__Vendor(x = 1), Icon(graphics));
end P;"#;

    #[test]
    fn a_tree_comes_back_with_its_places() {
        let tree = crate::parse(FileId(3), TEXT);
        let bytes = encode(&tree.root);
        let Some(back) = decode(bytes, FileId(3)) else { panic!("not read back") };
        assert_eq!(format!("{:?}", back), format!("{:?}", tree.root));
    }

    #[test]
    fn damaged_bytes_are_read_without_harm() {
        let bytes = encode(&crate::parse(FileId(0), TEXT).root);
        for cut in 0..bytes.len() {
            assert!(decode(bytes[..cut].to_vec(), FileId(0)).is_none(), "cut at {cut}");
        }
        for k in 0..bytes.len() {
            for flip in [1, 0x80, 0xff] {
                let mut b = bytes.clone();
                b[k] ^= flip;
                if let Some(tree) = decode(b, FileId(0)) {
                    bodies(&tree.classes);
                }
            }
        }
    }

    /// Looks at all bodies that can be decoded.
    fn bodies(classes: &[Arc<ClassDef>]) {
        for c in classes {
            if let Some(ClassBody::Long { elements, .. }) = c.body.stored.as_ref().and_then(StoredBody::decode) {
                for e in &elements {
                    if let Element::Class { def, .. } = e {
                        bodies(std::slice::from_ref(def));
                    }
                }
            }
        }
    }
}
