//! Values in places that are used again, under keys that are not.

/// Key of a value: its place, and the number of values that were there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    place: u32,
    generation: u32,
}

/// Values under keys. Removed values free their places.
#[derive(Debug)]
pub(super) struct Slab<T> {
    places: Vec<(u32, Option<T>)>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub(super) const fn new() -> Slab<T> {
        Slab { places: Vec::new(), free: Vec::new() }
    }

    pub(super) fn insert(&mut self, value: T) -> Key {
        if let Some(place) = self.free.pop()
            && let Some((generation, room)) = self.places.get_mut(place as usize)
        {
            *room = Some(value);
            return Key { place, generation: *generation };
        }
        self.places.push((0, Some(value)));
        Key { place: self.places.len() as u32 - 1, generation: 0 }
    }

    pub(super) fn get(&self, key: Key) -> Option<&T> {
        self.places.get(key.place as usize).filter(|place| place.0 == key.generation)?.1.as_ref()
    }

    pub(super) fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        self.places.get_mut(key.place as usize).filter(|place| place.0 == key.generation)?.1.as_mut()
    }

    pub(super) fn remove(&mut self, key: Key) -> Option<T> {
        let place = self.places.get_mut(key.place as usize).filter(|place| place.0 == key.generation)?;
        let value = place.1.take()?;
        place.0 = place.0.wrapping_add(1);
        self.free.push(key.place);
        Some(value)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.places.iter().filter_map(|(_, value)| value.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_outlives_its_value_and_names_no_other() {
        let mut slab = Slab::new();
        let [a, b] = ['a', 'b'].map(|value| slab.insert(value));
        assert_eq!((slab.remove(a), slab.remove(a)), (Some('a'), None));
        let c = slab.insert('c');
        assert_eq!((slab.get(a), slab.get(b), slab.get(c)), (None, Some(&'b'), Some(&'c')));
        assert_eq!((c.place, slab.places.len(), slab.iter().count()), (a.place, 2, 2));
    }
}
