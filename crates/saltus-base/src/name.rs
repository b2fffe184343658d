//! Interned identifiers: comparing and hashing a [`Name`] costs as much as a number.

use rustc_hash::FxHashMap;
use std::fmt;
use std::sync::{LazyLock, RwLock};

/// An interned string. Two names are equal exactly when their texts are. The empty one is the default.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(u32);

struct Interner {
    map: FxHashMap<&'static str, u32>,
    texts: Vec<&'static str>,
}

static INTERNER: LazyLock<RwLock<Interner>> = LazyLock::new(|| {
    // The empty text comes first: it is the default.
    RwLock::new(Interner { map: FxHashMap::from_iter([("", 0)]), texts: vec![""] })
});

impl Name {
    /// The name with this text.
    pub fn new(text: &str) -> Name {
        if let Some(&id) = INTERNER.read().unwrap_or_else(|e| e.into_inner()).map.get(text) {
            return Name(id);
        }
        let mut it = INTERNER.write().unwrap_or_else(|e| e.into_inner());
        if let Some(&id) = it.map.get(text) {
            return Name(id);
        }
        // Names live as long as the process: identifiers of the libraries in use.
        let text: &'static str = Box::leak(text.into());
        let id = it.texts.len() as u32;
        it.texts.push(text);
        it.map.insert(text, id);
        Name(id)
    }

    /// Whether it is the empty text.
    pub fn is_empty(self) -> bool {
        self == Name::default()
    }

    /// The text.
    pub fn as_str(self) -> &'static str {
        INTERNER.read().unwrap_or_else(|e| e.into_inner()).texts[self.0 as usize]
    }
}

impl From<&str> for Name {
    fn from(s: &str) -> Name {
        Name::new(s)
    }
}
impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}
impl PartialEq<str> for Name {
    fn eq(&self, o: &str) -> bool {
        self.as_str() == o
    }
}
impl PartialEq<&str> for Name {
    fn eq(&self, o: &&str) -> bool {
        self.as_str() == *o
    }
}
