//! Dense typed ids: a primary [`Arena`] owns, a [`SecondaryMap`] annotates.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A dense index into an [`Arena`] of `T`.
pub struct Id<T>(u32, PhantomData<fn() -> T>);

impl<T> Id<T> {
    /// The id with this index.
    pub const fn new(index: usize) -> Self {
        Id(index as u32, PhantomData)
    }
    /// The index as a number.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
impl<T> Clone for Id<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Id<T> {}
impl<T> PartialEq for Id<T> {
    fn eq(&self, o: &Self) -> bool {
        self.0 == o.0
    }
}
impl<T> Eq for Id<T> {}
impl<T> PartialOrd for Id<T> {
    fn partial_cmp(&self, o: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(o))
    }
}
impl<T> Ord for Id<T> {
    fn cmp(&self, o: &Self) -> std::cmp::Ordering {
        self.0.cmp(&o.0)
    }
}
impl<T> Hash for Id<T> {
    fn hash<H: Hasher>(&self, h: &mut H) {
        self.0.hash(h);
    }
}
impl<T> fmt::Debug for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// A growing list whose elements are named by [`Id`].
#[derive(Clone, Debug)]
pub struct Arena<T>(Vec<T>);

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Arena(Vec::new())
    }
}
impl<T> Arena<T> {
    /// An empty arena.
    pub fn new() -> Self {
        Self::default()
    }
    /// Adds an element.
    pub fn push(&mut self, value: T) -> Id<T> {
        self.0.push(value);
        Id::new(self.0.len() - 1)
    }
    /// The id the next push will return.
    pub fn next_id(&self) -> Id<T> {
        Id::new(self.0.len())
    }
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.0.len()
    }
    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// All ids in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = Id<T>> + ExactSizeIterator + use<T> {
        (0..self.0.len()).map(Id::new)
    }
    /// Ids with elements.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Id<T>, &T)> + ExactSizeIterator {
        self.0.iter().enumerate().map(|(i, v)| (Id::new(i), v))
    }
    /// The element, if the id is in range.
    pub fn get(&self, id: Id<T>) -> Option<&T> {
        self.0.get(id.index())
    }
    /// The elements as a slice.
    pub fn as_slice(&self) -> &[T] {
        &self.0
    }
    /// The elements, mutably.
    pub fn values_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.0.iter_mut()
    }
}
impl<T> Index<Id<T>> for Arena<T> {
    type Output = T;
    fn index(&self, id: Id<T>) -> &T {
        &self.0[id.index()]
    }
}
impl<T> IndexMut<Id<T>> for Arena<T> {
    fn index_mut(&mut self, id: Id<T>) -> &mut T {
        &mut self.0[id.index()]
    }
}

/// A value of type `V` for every element of an arena of `T`.
#[derive(Clone, Debug)]
pub struct SecondaryMap<T, V> {
    values: Vec<V>,
    marker: PhantomData<fn() -> T>,
}
impl<T, V: Clone> SecondaryMap<T, V> {
    /// `value` for each of `len` elements.
    pub fn filled(len: usize, value: V) -> Self {
        SecondaryMap { values: vec![value; len], marker: PhantomData }
    }
}
impl<T, V> SecondaryMap<T, V> {
    /// Ids with values.
    pub fn iter(&self) -> impl Iterator<Item = (Id<T>, &V)> {
        self.values.iter().enumerate().map(|(i, v)| (Id::new(i), v))
    }
    /// Number of entries.
    pub fn len(&self) -> usize {
        self.values.len()
    }
    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}
impl<T, V> Index<Id<T>> for SecondaryMap<T, V> {
    type Output = V;
    fn index(&self, id: Id<T>) -> &V {
        &self.values[id.index()]
    }
}
impl<T, V> IndexMut<Id<T>> for SecondaryMap<T, V> {
    fn index_mut(&mut self, id: Id<T>) -> &mut V {
        &mut self.values[id.index()]
    }
}
