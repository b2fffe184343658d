//! The process-wide string table: a string value is an exact integer handle in an `f64`.

use crate::format;
use crate::ir::ScalarType;
use rustc_hash::FxHashMap;
use std::sync::{Arc, LazyLock, RwLock};

struct Table {
    handles: FxHashMap<Arc<str>, u32>,
    texts: Vec<Arc<str>>,
}

static TABLE: LazyLock<RwLock<Table>> = LazyLock::new(|| {
    let empty: Arc<str> = "".into();
    RwLock::new(Table { handles: FxHashMap::from_iter([(empty.clone(), 0)]), texts: vec![empty] })
});

/// The handle of a text; equal texts have equal handles, and the empty text has handle 0.
pub fn intern(text: &str) -> f64 {
    if let Some(&h) = TABLE.read().unwrap_or_else(|e| e.into_inner()).handles.get(text) {
        return f64::from(h);
    }
    let mut t = TABLE.write().unwrap_or_else(|e| e.into_inner());
    if let Some(&h) = t.handles.get(text) {
        return f64::from(h);
    }
    let text: Arc<str> = text.into();
    let h = t.texts.len() as u32;
    t.texts.push(text.clone());
    t.handles.insert(text, h);
    f64::from(h)
}

/// The text behind a handle; numbers that are no handle give the empty text.
pub fn text(handle: f64) -> Arc<str> {
    let t = TABLE.read().unwrap_or_else(|e| e.into_inner());
    t.texts.get(handle as usize).unwrap_or(&t.texts[0]).clone()
}

/// All texts, by their handles.
pub fn all() -> Vec<Arc<str>> {
    TABLE.read().unwrap_or_else(|e| e.into_inner()).texts.clone()
}

/// a + b.
pub fn concat(a: f64, b: f64) -> f64 {
    let mut s = text(a).to_string();
    s.push_str(&text(b));
    intern(&s)
}

/// -1, 0 or 1 by the order of two texts.
pub fn compare(a: f64, b: f64) -> f64 {
    f64::from(text(a).cmp(&text(b)) as i8)
}

/// `String(x, minimumLength, leftJustified, significantDigits)`; what is not given has its default.
pub fn of_value(ty: ScalarType, x: f64, width: Option<f64>, left: Option<f64>, digits: Option<f64>) -> f64 {
    let digits = digits.unwrap_or(6.0).clamp(1.0, 100.0) as usize;
    let text = match ty {
        ScalarType::Boolean => if x != 0.0 { "true" } else { "false" }.to_string(),
        ScalarType::String => text(x).to_string(),
        ScalarType::Integer | ScalarType::Enumeration => format!("{x:.0}"),
        _ => format::general(x, digits),
    };
    let width = width.unwrap_or(0.0).clamp(0.0, 10_000.0) as usize;
    intern(&format::pad(text, width, left.is_none_or(|l| l != 0.0)))
}

/// `String(x, format = f)`; `None` if that is no format for a number.
pub fn formatted(x: f64, f: f64) -> Option<f64> {
    format::c_format(&text(f), x).map(|s| intern(&s))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_stable() {
        assert_eq!(intern(""), 0.0);
        let a = intern("alpha");
        assert_eq!(a, intern("alpha"));
        assert_ne!(a, intern("beta"));
        assert_eq!(&*text(a), "alpha");
        assert_eq!(&*text(f64::NAN), "");
        assert_eq!(&*text(-5.0), "");
        assert_eq!(&*text(1e300), "");
    }
}
