//! The table itself.

use crate::append::AppendVec;
use crate::cache::{Stamp, TreeCache};
use crate::files::{FileSystem, StdFileSystem};
use crate::versions;
use rustc_hash::FxHashMap;
use saltus_base::{Anchor, Diagnostic, FileId, Name, SourceMap, Span, Stage};
use saltus_syntax::ast::{
    ClassBody, ClassDef, Component, ComponentClause, Constraint, Element, ElementPrefixes, Expr, Extends, Import,
    StoredDefinition,
};
use std::cell::{Cell, OnceCell, Ref, RefCell};
use std::sync::Arc;

/// A class known to the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(pub u32);

/// A class definition with its place in the package tree.
pub struct ClassEntry {
    /// Its simple name.
    pub name: Name,
    /// The class it is declared in.
    pub parent: Option<ClassId>,
    /// The syntax.
    pub def: Arc<ClassDef>,
    /// Prefixes of the element that declares it.
    pub prefixes: ElementPrefixes,
    /// The `constrainedby` clause.
    pub constraint: Option<Constraint>,
    /// The folder of a directory package.
    dir: Option<String>,
    own: OnceCell<Own>,
    /// Members stored as files of their own, by name (`None`: looked for in vain).
    files: RefCell<FxHashMap<Name, Option<ClassId>>>,
    /// Names that a directory package has as files.
    listing: OnceCell<Vec<Name>>,
}

/// Where an element of a class stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnMember {
    /// Component: element number and number within its clause.
    Component(u32, u32),
    /// Nested class.
    Class(ClassId),
}

/// What a class body declares itself, without what it inherits.
#[derive(Default)]
pub struct Own {
    /// Components and nested classes in order of declaration (file members of a package are not listed here).
    pub members: Vec<(Name, OwnMember)>,
    /// The same by name.
    pub index: FxHashMap<Name, u32>,
    /// `import A = B.C;`, `import B.C;`, `import B.{C}`: local name and full path.
    pub imports: FxHashMap<Name, Vec<Name>>,
    /// Where those imports stand.
    pub import_spans: FxHashMap<Name, Span>,
    /// `import A.B.*;`
    pub wildcards: Vec<Vec<Name>>,
}

/// A parsed file.
struct Parsed {
    root: StoredDefinition,
    /// There was nothing to complain about.
    clean: bool,
}

/// All classes reachable from the loaded files and library paths.
pub struct ClassTable {
    fs: Box<dyn FileSystem>,
    paths: RefCell<Vec<String>>,
    sources: RefCell<SourceMap>,
    classes: AppendVec<ClassEntry>,
    top: RefCell<FxHashMap<Name, Option<ClassId>>>,
    anonymous: RefCell<FxHashMap<usize, ClassId>>,
    /// Versions of libraries asked for by `uses` annotations, with the class that asks and where.
    wanted: RefCell<FxHashMap<Name, (String, String, Span)>>,
    exprs: AppendVec<Expr>,
    diagnostics: RefCell<Vec<Diagnostic>>,
    cache: Option<RefCell<TreeCache>>,
    parsed: Cell<usize>,
}

impl ClassTable {
    /// An empty table.
    pub fn new(fs: impl FileSystem + 'static) -> Self {
        ClassTable {
            fs: Box::new(fs),
            paths: RefCell::default(),
            sources: RefCell::default(),
            classes: AppendVec::default(),
            top: RefCell::default(),
            anonymous: RefCell::default(),
            wanted: RefCell::default(),
            exprs: AppendVec::default(),
            diagnostics: RefCell::default(),
            cache: None,
            parsed: Cell::new(0),
        }
    }

    /// Lets trees of library files come from a cache in this folder. The files are those of the machine.
    pub fn cached(mut self, folder: impl Into<std::path::PathBuf>) -> Self {
        self.cache = Some(RefCell::new(TreeCache::new(folder)));
        self
    }

    /// Writes what the cache has learned.
    pub fn save_cache(&self) {
        if let Some(c) = &self.cache {
            c.borrow_mut().save();
        }
    }

    /// The number of files that were parsed.
    pub fn parsed(&self) -> usize {
        self.parsed.get()
    }

    /// Adds a folder in which libraries are searched, after those given before.
    pub fn add_path(&self, path: impl Into<String>) {
        let mut p: String = path.into();
        while p.len() > 1 && p.ends_with('/') {
            p.pop();
        }
        self.top.borrow_mut().retain(|_, v| v.is_some());
        self.paths.borrow_mut().push(p);
    }

    /// The files read so far.
    pub fn sources(&self) -> Ref<'_, SourceMap> {
        self.sources.borrow()
    }

    /// Makes a text that is no Modelica (a scenario, say) known, so that messages can point into it.
    pub fn add_text(&self, path: &str, text: &str) -> FileId {
        self.sources.borrow_mut().add(path, text)
    }

    /// The file system given at the start.
    pub fn file_system(&self) -> &dyn FileSystem {
        &*self.fs
    }

    /// What the parser and the loader had to say; taken out.
    pub fn take_diagnostics(&self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.diagnostics.borrow_mut())
    }

    fn complain(&self, d: Diagnostic) {
        self.diagnostics.borrow_mut().push(d);
    }

    /// Loads a file (or the `package.mo` of a folder); its classes become known by their names. Returns them in order.
    pub fn load_file(&self, path: &str) -> Result<Vec<ClassId>, String> {
        self.load(path, false)
    }

    /// [`Self::load_file`]; a library's files may come from the cache.
    fn load(&self, path: &str, library: bool) -> Result<Vec<ClassId>, String> {
        let path = path.trim_end_matches('/');
        let package = format!("{path}/package.mo");
        let (file, dir) = if self.fs.exists(&package) {
            (package.as_str(), Some(path))
        } else {
            (path, path.strip_suffix("/package.mo"))
        };
        let root = if library { self.library_tree(path, file)? } else { self.parse(file, self.fs.read(file)?).root };
        Ok(self.load_tree(root, dir.map(str::to_string)))
    }

    /// Loads source text given by the caller.
    pub fn load_text(&self, path: &str, text: impl Into<String>) -> Vec<ClassId> {
        self.load_tree(self.parse(path, text.into()).root, None)
    }

    /// Loads a translation of the text `original`, to which its places lead back.
    /// `derivative`: the mark that stands for `der` in it.
    pub fn load_translation(
        &self,
        path: &str,
        text: String,
        original: &str,
        anchors: Vec<Anchor>,
        derivative: char,
    ) -> Vec<ClassId> {
        let file = self.sources.borrow_mut().add(path, text.as_str());
        self.sources.borrow_mut().translated_from(file, original, anchors, derivative);
        let tree = saltus_syntax::parse(file, &text);
        self.diagnostics.borrow_mut().extend(tree.diagnostics);
        self.load_tree(tree.root, None)
    }

    fn load_tree(&self, root: StoredDefinition, dir: Option<String>) -> Vec<ClassId> {
        let mut ids = Vec::new();
        let parent = match &root.within {
            Some(w) if !w.is_empty() => {
                let names: Vec<Name> = w.iter().map(|i| i.name).collect();
                let p = self.class(&names);
                if p.is_none() {
                    self.complain(
                        Diagnostic::warning(
                            Stage::FrontEnd,
                            w[0].span,
                            format!("the package {} of the within clause is not known", dotted(&names)),
                        )
                        .hint("its classes are taken as top-level classes"),
                    );
                }
                p
            }
            _ => None,
        };
        let mut seen: FxHashMap<Name, Span> = FxHashMap::default();
        for def in root.classes {
            let name = def.name.name;
            if let Some(first) = seen.insert(name, def.name.span) {
                self.complain(
                    Diagnostic::error(
                        Stage::FrontEnd,
                        def.name.span,
                        format!("there are two classes called {name} in this file"),
                    )
                    .label(first, "the other one stands here")
                    .hint("rename or remove one of the two"),
                );
            }
            for (library, version, span) in versions::uses(&def) {
                self.wanted
                    .borrow_mut()
                    .entry(Name::new(&library))
                    .or_insert_with(|| (version, name.to_string(), span));
            }
            let id = self.add(def, parent, ElementPrefixes::default(), None, dir.clone());
            match parent {
                Some(p) => {
                    if let Some(e) = self.classes.get(p.0 as usize) {
                        e.files.borrow_mut().insert(name, Some(id));
                    }
                }
                None => {
                    self.top.borrow_mut().insert(name, Some(id));
                }
            }
            ids.push(id);
        }
        ids
    }

    /// The tree of a file that belongs to the library in the folder (or file) `library`.
    fn library_tree(&self, library: &str, path: &str) -> Result<StoredDefinition, String> {
        let Some(cache) = &self.cache else { return Ok(self.parse(path, self.fs.read(path)?).root) };
        let next = FileId(self.sources.borrow().len() as u32);
        if let Some(root) = cache.borrow_mut().get(library, path, next) {
            self.sources.borrow_mut().add_unread(path, |p| StdFileSystem.read(p).unwrap_or_default());
            return Ok(root);
        }
        let stamp = Stamp::of(path);
        let tree = self.parse(path, self.fs.read(path)?);
        if let (true, Some(stamp)) = (tree.clean, stamp) {
            cache.borrow_mut().put(library, path, stamp, &tree.root);
        }
        Ok(tree.root)
    }

    fn parse(&self, path: &str, text: String) -> Parsed {
        let file = self.sources.borrow_mut().add(path, text);
        let text = self.sources.borrow().get(file).map(|f| f.text().clone()).unwrap_or_else(|| "".into());
        let tree = saltus_syntax::parse(file, &text);
        self.parsed.set(self.parsed.get() + 1);
        let clean = tree.diagnostics.is_empty();
        self.diagnostics.borrow_mut().extend(tree.diagnostics);
        Parsed { root: tree.root, clean }
    }

    /// The tree of a file with its errors; its classes do not become known.
    pub fn parse_file(&self, path: &str) -> Result<saltus_syntax::SyntaxTree, String> {
        let file = self.sources.borrow_mut().add(path, self.fs.read(path)?);
        let text = self.sources.borrow().get(file).map(|f| f.text().clone()).unwrap_or_else(|| "".into());
        Ok(saltus_syntax::parse(file, &text))
    }

    /// Parses an expression given as text (overrides from the command line); errors come back as text.
    pub fn expression(&self, what: &str, text: &str) -> Result<&Expr, Vec<Diagnostic>> {
        let file = self.sources.borrow_mut().add(what, text);
        let (expr, diagnostics) = saltus_syntax::parse_expression(file, text);
        if !diagnostics.is_empty() {
            return Err(diagnostics);
        }
        let i = self.exprs.push(expr);
        self.exprs.get(i).ok_or_else(Vec::new)
    }

    /// Keeps an expression for as long as the table lives.
    pub fn keep(&self, e: Expr) -> Option<&Expr> {
        let i = self.exprs.push(e);
        self.exprs.get(i)
    }

    fn add(
        &self,
        def: Arc<ClassDef>,
        parent: Option<ClassId>,
        prefixes: ElementPrefixes,
        constraint: Option<Constraint>,
        dir: Option<String>,
    ) -> ClassId {
        let i = self.classes.push(ClassEntry {
            name: def.name.name,
            parent,
            def,
            prefixes,
            constraint,
            dir,
            own: OnceCell::new(),
            files: RefCell::default(),
            listing: OnceCell::new(),
        });
        ClassId(i as u32)
    }

    /// The class of a definition that stands in a modifier (`redeclare model M = …`); the same id each time.
    pub fn anonymous(&self, def: &Arc<ClassDef>, prefixes: ElementPrefixes, constraint: Option<Constraint>) -> ClassId {
        let key = Arc::as_ptr(def) as usize;
        if let Some(&id) = self.anonymous.borrow().get(&key) {
            return id;
        }
        let id = self.add(def.clone(), None, prefixes, constraint, None);
        self.anonymous.borrow_mut().insert(key, id);
        id
    }

    /// The entry of a class.
    pub fn entry(&self, id: ClassId) -> &ClassEntry {
        match self.classes.get(id.0 as usize) {
            Some(e) => e,
            None => unreachable!("class ids come from this table"),
        }
    }

    /// The definition of a class.
    pub fn def(&self, id: ClassId) -> &ClassDef {
        &self.entry(id).def
    }

    /// The qualified name of a class.
    pub fn qualified(&self, id: ClassId) -> String {
        let e = self.entry(id);
        match e.parent {
            Some(p) => format!("{}.{}", self.qualified(p), e.name),
            None => e.name.to_string(),
        }
    }

    /// The class with this full name.
    pub fn class(&self, path: &[Name]) -> Option<ClassId> {
        let (&first, rest) = path.split_first()?;
        let mut id = self.top(first)?;
        for &n in rest {
            id = self.nested(id, n)?;
        }
        Some(id)
    }

    /// The class with this dotted name.
    pub fn class_named(&self, name: &str) -> Option<ClassId> {
        let path: Vec<Name> = split_dots(name).into_iter().map(Name::new).collect();
        self.class(&path)
    }

    /// A top-level class: loaded before, or found in the library paths.
    pub fn top(&self, name: Name) -> Option<ClassId> {
        if let Some(&found) = self.top.borrow().get(&name) {
            return found;
        }
        let text = name.as_str();
        let mut found = None;
        let paths = self.paths.borrow().clone();
        for p in &paths {
            // The path itself may be the library's folder or file.
            let own = p.rsplit('/').next().unwrap_or(p);
            let folder = own == text || own.strip_prefix(text).is_some_and(|r| r.starts_with(' '));
            if folder && self.fs.exists(&format!("{p}/package.mo")) || own.strip_suffix(".mo") == Some(text) {
                found = self.load_top(p, name);
            } else if self.fs.exists(&format!("{p}/{text}/package.mo")) {
                found = self.load_top(&format!("{p}/{text}"), name);
            } else if self.fs.exists(&format!("{p}/{text}.mo")) {
                found = self.load_top(&format!("{p}/{text}.mo"), name);
            } else {
                // `Modelica 4.1.0`: the highest version wins.
                let mut versions: Vec<String> = self
                    .fs
                    .list(p)
                    .into_iter()
                    .filter(|n| n.strip_prefix(text).is_some_and(|r| r.starts_with(' ')))
                    .collect();
                versions.sort_by_key(|v| {
                    v.split([' ', '.', '+'])
                        .map(|s| s.trim_end_matches("mo").parse::<u64>().unwrap_or(0))
                        .collect::<Vec<_>>()
                });
                // What a `uses` annotation asks for comes before the highest version.
                let wanted = self.wanted.borrow().get(&name).map(|(v, ..)| format!("{text} {v}"));
                let exact = versions.iter().find(|v| wanted.as_deref() == Some(v.strip_suffix(".mo").unwrap_or(v)));
                if let Some(v) = exact.or(versions.last()) {
                    found = self.load_top(&format!("{p}/{v}"), name);
                }
            }
            if found.is_some() {
                break;
            }
        }
        self.top.borrow_mut().insert(name, found);
        found
    }

    /// The names of the top-level classes known so far and of the libraries that could be loaded.
    pub fn top_names(&self) -> Vec<Name> {
        let mut names: Vec<Name> =
            self.top.borrow().iter().filter(|(_, c)| c.is_some()).map(|(&name, _)| name).collect();
        for path in self.paths.borrow().iter() {
            for entry in self.fs.list(path) {
                let library = entry.strip_suffix(".mo").unwrap_or(&entry);
                let name = library.split(' ').next().unwrap_or(library);
                if entry.ends_with(".mo") || self.fs.exists(&format!("{path}/{entry}/package.mo")) {
                    names.push(Name::new(name));
                }
            }
        }
        names.sort_by(|a, b| a.as_str().cmp(b.as_str()));
        names.dedup();
        names
    }

    fn load_top(&self, path: &str, name: Name) -> Option<ClassId> {
        match self.load(path, true) {
            Ok(ids) => {
                let found = ids.into_iter().find(|&id| self.entry(id).name == name);
                if let Some(id) = found {
                    self.check_version(id, path);
                }
                found
            }
            Err(e) => {
                self.complain(Diagnostic::error(Stage::FrontEnd, Span::NONE, e));
                None
            }
        }
    }

    /// Compares the version of a loaded library with what was asked for.
    fn check_version(&self, id: ClassId, path: &str) {
        let wanted = self.wanted.borrow().get(&self.entry(id).name).cloned();
        let (Some((want, user, span)), Some(have)) = (wanted, versions::version(self.def(id))) else { return };
        if want != have && !versions::converts_silently(self.def(id), &want) {
            let name = self.entry(id).name;
            self.complain(
                Diagnostic::warning(
                    Stage::FrontEnd,
                    span,
                    format!("{user} uses {name} {want}, but version {have} was found in {path}"),
                )
                .hint(format!("put `{name} {want}` into a library folder, or change the `uses` annotation")),
            );
        }
    }

    /// A class nested in another by declaration (not by inheritance).
    pub fn nested(&self, id: ClassId, name: Name) -> Option<ClassId> {
        if let Some(&i) = self.own(id).index.get(&name)
            && let OwnMember::Class(c) = self.own(id).members[i as usize].1
        {
            return Some(c);
        }
        self.file_member(id, name)
    }

    /// A member of a package that is stored as a file of its own.
    pub fn file_member(&self, id: ClassId, name: Name) -> Option<ClassId> {
        let e = self.entry(id);
        if let Some(&found) = e.files.borrow().get(&name) {
            return found;
        }
        let dir = e.dir.as_ref()?;
        if !self.listing(id).contains(&name) {
            return None;
        }
        let folder = format!("{dir}/{name}");
        let package = format!("{folder}/package.mo");
        let (path, sub) =
            if self.fs.exists(&package) { (package, Some(folder)) } else { (format!("{dir}/{name}.mo"), None) };
        let found = match self.library_tree(&self.library(id), &path) {
            Ok(root) => {
                self.check_within(id, &root);
                let own = root.classes.into_iter().find(|d| d.name.name == name);
                own.map(|d| self.add(d, Some(id), ElementPrefixes::default(), None, sub))
            }
            Err(e) => {
                self.complain(Diagnostic::error(Stage::FrontEnd, Span::NONE, e));
                None
            }
        };
        e.files.borrow_mut().insert(name, found);
        found
    }

    /// The within clause of a file says what its folder says.
    fn check_within(&self, package: ClassId, root: &StoredDefinition) {
        let Some(within) = &root.within else { return };
        let said: Vec<Name> = within.iter().map(|i| i.name).collect();
        let (said, meant) = (dotted(&said), self.qualified(package));
        if said != meant {
            let span = within.first().map(|i| i.span).or(root.classes.first().map(|d| d.name.span));
            let text = if said.is_empty() { "nothing".to_string() } else { said };
            self.complain(
                Diagnostic::warning(
                    Stage::FrontEnd,
                    span.unwrap_or(Span::NONE),
                    format!("the within clause names {text}, but the file belongs to the package {meant}"),
                )
                .hint(format!("write `within {meant};`")),
            );
        }
    }

    /// The folder of the top-level package that a class belongs to.
    fn library(&self, id: ClassId) -> String {
        let e = self.entry(id);
        match (e.parent, &e.dir) {
            (Some(p), _) => self.library(p),
            (None, dir) => dir.clone().unwrap_or_default(),
        }
    }

    /// The members of a directory package that are stored as files.
    pub fn listing(&self, id: ClassId) -> &[Name] {
        let e = self.entry(id);
        e.listing.get_or_init(|| {
            let Some(dir) = &e.dir else { return Vec::new() };
            let mut names: Vec<Name> =
                self.fs
                    .list(dir)
                    .into_iter()
                    .filter_map(|n| match n.strip_suffix(".mo") {
                        Some("package") => None,
                        Some(base) => Some(Name::new(base)),
                        None => (!n.contains('.') && self.fs.exists(&format!("{dir}/{n}/package.mo")))
                            .then(|| Name::new(&n)),
                    })
                    .collect();
            self.check_doubles(id, dir, &mut names);
            let file = format!("{dir}/package.order");
            if let (true, Ok(order)) = (self.fs.exists(&file), self.fs.read(&file)) {
                let order: Vec<&str> = order.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
                names.sort_by_key(|n| order.iter().position(|o| *o == n.as_str()).unwrap_or(usize::MAX));
                for missing in order {
                    let name = Name::new(missing);
                    if !names.contains(&name) && !self.own(id).index.contains_key(&name) {
                        self.complain(Diagnostic::warning(
                            Stage::FrontEnd,
                            e.def.name.span,
                            format!("{file} lists {missing}, which is not there"),
                        ));
                    }
                }
            }
            names
        })
    }

    /// A package has one class of a name: in `package.mo`, in a file or in a folder.
    fn check_doubles(&self, id: ClassId, dir: &str, names: &mut Vec<Name>) {
        names.sort_by(|a, b| a.as_str().cmp(b.as_str()));
        let e = self.entry(id);
        let twice = |text: String| self.complain(Diagnostic::error(Stage::FrontEnd, e.def.name.span, text));
        for pair in names.windows(2).filter(|p| p[0] == p[1]) {
            let name = pair[0];
            twice(format!("{} has two classes called {name}: {dir}/{name}.mo and {dir}/{name}/package.mo", e.name));
        }
        names.dedup();
        for name in names.iter().filter(|n| self.own(id).index.contains_key(*n)) {
            let file = format!("{dir}/{name}.mo");
            let file = if self.fs.exists(&file) { file } else { format!("{dir}/{name}/package.mo") };
            twice(format!("{} has two classes called {name}: in {dir}/package.mo and in {file}", e.name));
        }
    }

    /// The folder of a directory package, or of the file's library (for `modelica://` URIs).
    pub fn folder(&self, id: ClassId) -> Option<String> {
        let e = self.entry(id);
        if let Some(d) = &e.dir {
            return Some(d.clone());
        }
        if let Some(p) = e.parent {
            return self.folder(p);
        }
        let sources = self.sources.borrow();
        let path = &sources.get(e.def.span.file)?.path;
        Some(path.rsplit_once('/').map_or(".", |(d, _)| d).to_string())
    }

    /// What the class declares itself.
    pub fn own(&self, id: ClassId) -> &Own {
        let e = self.entry(id);
        e.own.get_or_init(|| {
            let mut own = Own::default();
            let ClassBody::Long { elements, .. } = &*e.def.body else { return own };
            let mut spans: FxHashMap<Name, Span> = FxHashMap::default();
            let mut put = |own: &mut Own, name: Name, span: Span, m: OwnMember| {
                if let Some(&first) = spans.get(&name) {
                    self.complain(
                        Diagnostic::error(
                            Stage::FrontEnd,
                            span,
                            format!("{name} is declared twice in {}", self.qualified(id)),
                        )
                        .label(first, "first declared here")
                        .hint("rename or remove one of the two"),
                    );
                    return;
                }
                spans.insert(name, span);
                own.index.insert(name, own.members.len() as u32);
                own.members.push((name, m));
            };
            for (k, el) in elements.iter().enumerate() {
                match el {
                    Element::Components(c) => {
                        for (j, c) in c.components.iter().enumerate() {
                            put(&mut own, c.name.name, c.name.span, OwnMember::Component(k as u32, j as u32));
                        }
                    }
                    Element::Class { prefixes, def, constraint } => {
                        let c = self.add(def.clone(), Some(id), *prefixes, constraint.clone(), None);
                        put(&mut own, def.name.name, def.name.span, OwnMember::Class(c));
                    }
                    Element::Import(Import::Named { alias, path, span }, _) => {
                        self.import(&mut own, id, alias.name, path.iter().map(|i| i.name).collect(), *span);
                    }
                    Element::Import(Import::List { path, names, .. }, _) => {
                        for n in names {
                            let path = path.iter().map(|i| i.name).chain([n.name]).collect();
                            self.import(&mut own, id, n.name, path, n.span);
                        }
                    }
                    Element::Import(Import::Wildcard { path, .. }, _) => {
                        own.wildcards.push(path.iter().map(|i| i.name).collect());
                    }
                    Element::Extends(_) => {}
                }
            }
            own
        })
    }

    /// Notes an import; two of one name must mean the same.
    fn import(&self, own: &mut Own, id: ClassId, name: Name, path: Vec<Name>, span: Span) {
        if let (Some(before), Some(&first)) = (own.imports.get(&name), own.import_spans.get(&name)) {
            let class = self.qualified(id);
            let d = match *before == path {
                true => Diagnostic::warning(Stage::FrontEnd, span, format!("{name} is imported twice in {class}")),
                false => Diagnostic::error(
                    Stage::FrontEnd,
                    span,
                    format!("{name} is imported twice in {class}, with different meanings"),
                )
                .hint(format!("give one of the two another name: import Other = {};", dotted(&path))),
            };
            self.complain(d.label(first, "first imported here"));
            return;
        }
        own.import_spans.insert(name, span);
        own.imports.insert(name, path);
    }

    /// How many classes have been met.
    pub(crate) fn len(&self) -> usize {
        self.classes.len()
    }

    /// Whether somebody has asked what the class declares.
    pub(crate) fn looked_into(&self, id: ClassId) -> bool {
        self.entry(id).own.get().is_some()
    }

    /// The elements of a long class.
    pub fn elements(&self, id: ClassId) -> &[Element] {
        match &*self.def(id).body {
            ClassBody::Long { elements, .. } => elements,
            _ => &[],
        }
    }

    /// The clause and component behind [`OwnMember::Component`].
    pub fn component(&self, id: ClassId, element: u32, component: u32) -> Option<(&ComponentClause, &Component)> {
        match self.elements(id).get(element as usize)? {
            Element::Components(c) => Some((c, c.components.get(component as usize)?)),
            _ => None,
        }
    }

    /// The extends clauses of a long class, in order.
    pub fn extends(&self, id: ClassId) -> impl Iterator<Item = &Extends> {
        self.elements(id).iter().filter_map(|e| match e {
            Element::Extends(x) => Some(x),
            _ => None,
        })
    }
}

fn dotted(path: &[Name]) -> String {
    path.iter().map(|n| n.as_str()).collect::<Vec<_>>().join(".")
}

/// Splits a dotted name; dots inside quoted identifiers do not count.
fn split_dots(name: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut quoted) = (0, false);
    for (i, c) in name.char_indices() {
        match c {
            '\'' => quoted = !quoted,
            '.' if !quoted => {
                parts.push(&name[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(&name[start..]);
    parts
}
