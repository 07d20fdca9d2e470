//! Typed indices, and dense maps from them to data.

use std::marker::PhantomData;

/// A small copyable index that names one entity of its kind.
pub trait Entity: Copy + Eq + Ord + std::fmt::Debug {
    /// Makes the entity with this index.
    fn new(index: usize) -> Self;
    /// Returns the position in the dense map.
    fn index(self) -> usize;
}

/// Declares `u32` newtypes that print as a prefix and a number (`table3`).
#[macro_export]
macro_rules! entities {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $crate::Entity for $name {
            fn new(index: usize) -> Self {
                $name(index as u32)
            }
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    )* };
}

/// A dense map from an entity to its data: a `Vec` that only its kind of index can address.
#[derive(Clone, PartialEq, Eq)]
pub struct EntityMap<K, V> {
    items: Vec<V>,
    key: PhantomData<K>,
}

impl<K, V> Default for EntityMap<K, V> {
    fn default() -> Self {
        EntityMap { items: Vec::new(), key: PhantomData }
    }
}

impl<K: Entity, V> EntityMap<K, V> {
    /// Makes an empty map.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a map with a value per key of `0..len`, each made by `make`.
    pub fn filled(len: usize, mut make: impl FnMut(K) -> V) -> Self {
        EntityMap { items: (0..len).map(|i| make(K::new(i))).collect(), key: PhantomData }
    }

    /// Adds `value` and returns its key.
    pub fn push(&mut self, value: V) -> K {
        self.items.push(value);
        K::new(self.items.len() - 1)
    }

    /// Drops all entities but the first `len`.
    pub fn truncate(&mut self, len: usize) {
        self.items.truncate(len);
    }

    /// Returns the key that the next `push` returns.
    #[must_use]
    pub fn next_key(&self) -> K {
        K::new(self.items.len())
    }

    /// Returns the number of entities.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns true if the map is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the data of `key`, if the map has it.
    #[must_use]
    pub fn get(&self, key: K) -> Option<&V> {
        self.items.get(key.index())
    }

    /// Returns all keys in order of declaration.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = K> + ExactSizeIterator + use<K, V> {
        (0..self.items.len()).map(K::new)
    }

    /// Returns all keys and values in order of declaration.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (K, &V)> + ExactSizeIterator {
        self.items.iter().enumerate().map(|(i, v)| (K::new(i), v))
    }

    /// Returns all values in order of declaration.
    pub fn values(&self) -> std::slice::Iter<'_, V> {
        self.items.iter()
    }

    /// Returns all values in order of declaration, mutable.
    pub fn values_mut(&mut self) -> std::slice::IterMut<'_, V> {
        self.items.iter_mut()
    }
}

impl<K: Entity, V> std::ops::Index<K> for EntityMap<K, V> {
    type Output = V;
    #[inline]
    fn index(&self, key: K) -> &V {
        &self.items[key.index()]
    }
}

impl<K: Entity, V> std::ops::IndexMut<K> for EntityMap<K, V> {
    #[inline]
    fn index_mut(&mut self, key: K) -> &mut V {
        &mut self.items[key.index()]
    }
}

impl<K: Entity, V: std::fmt::Debug> std::fmt::Debug for EntityMap<K, V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K: Entity, V> FromIterator<V> for EntityMap<K, V> {
    fn from_iter<I: IntoIterator<Item = V>>(iter: I) -> Self {
        EntityMap { items: iter.into_iter().collect(), key: PhantomData }
    }
}
