//! A list that only grows, so that references to its elements stay valid while more are added.

use std::cell::{Cell, OnceCell};

/// Append-only vector with interior mutability: `push` takes `&self` and elements never move.
pub struct AppendVec<T> {
    chunks: [OnceCell<Box<[OnceCell<T>]>>; 28],
    len: Cell<usize>,
}

const FIRST: usize = 16;

/// Chunk number and place in it: chunk c holds FIRST·2^c elements.
fn place(i: usize) -> (usize, usize) {
    let c = (i / FIRST + 1).ilog2() as usize;
    (c, i - FIRST * ((1 << c) - 1))
}

impl<T> Default for AppendVec<T> {
    fn default() -> Self {
        AppendVec { chunks: std::array::from_fn(|_| OnceCell::new()), len: Cell::new(0) }
    }
}

impl<T> AppendVec<T> {
    /// Adds an element and returns its index.
    pub fn push(&self, value: T) -> usize {
        let i = self.len.get();
        let (c, k) = place(i);
        let chunk = self.chunks[c].get_or_init(|| (0..FIRST << c).map(|_| OnceCell::new()).collect());
        let _ = chunk[k].set(value);
        self.len.set(i + 1);
        i
    }
    /// The element.
    pub fn get(&self, i: usize) -> Option<&T> {
        let (c, k) = place(i);
        self.chunks.get(c)?.get()?.get(k)?.get()
    }
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len.get()
    }
    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn grows_in_place() {
        let v = super::AppendVec::default();
        v.push(0);
        let first: &i32 = v.get(0).unwrap_or(&-1);
        for i in 1..1000 {
            assert_eq!(v.push(i), i as usize);
        }
        assert_eq!((*first, v.get(999), v.get(1000)), (0, Some(&999), None));
    }
}
