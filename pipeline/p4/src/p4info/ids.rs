//! Ids of the control plane's objects, and their short names.
//!
//! An id has the kind in its highest 8 bits and a hash of the name in the others; if the id is taken, the next free one is taken, in
//! the order of names. Compilers agree on this, so a controller may know ids from another compiler's file.

use std::collections::{BTreeMap, BTreeSet};

/// Kinds of objects, with the number that is in their ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Action = 0x01,
    Table = 0x02,
    ValueSet = 0x03,
    ControllerHeader = 0x04,
    ActionProfile = 0x11,
    Counter = 0x12,
    DirectCounter = 0x13,
    Meter = 0x14,
    DirectMeter = 0x15,
    Register = 0x16,
    Digest = 0x17,
}

/// Names with their ids.
#[derive(Debug, Default)]
pub(super) struct Ids {
    names: BTreeSet<(Kind, String)>,
    ids: BTreeMap<(Kind, String), u32>,
    /// How many names end with these parts.
    ends: BTreeMap<String, usize>,
}

impl Ids {
    /// Adds a name.
    pub(super) fn add(&mut self, kind: Kind, name: &str) {
        let is_new_text = !self.names.iter().any(|(_, known)| known == name);
        if self.names.insert((kind, name.to_owned())) && is_new_text {
            for end in ends(name) {
                *self.ends.entry(end.to_owned()).or_default() += 1;
            }
        }
    }

    /// Gives ids to all names.
    pub(super) fn assign(&mut self) {
        let mut taken = BTreeSet::new();
        for (kind, name) in &self.names {
            let mut hash = jenkins(name.as_bytes());
            let id = loop {
                let id = (*kind as u32) << 24 | hash & 0xff_ffff;
                if taken.insert(id) {
                    break id;
                }
                hash = hash.wrapping_add(1);
            };
            self.ids.insert((*kind, name.clone()), id);
        }
    }

    /// Returns the id of a name that was added before [`Ids::assign`]; 0, which is no id, for another name.
    pub(super) fn id(&self, kind: Kind, name: &str) -> u32 {
        self.ids.get(&(kind, name.to_owned())).copied().unwrap_or(0)
    }

    /// Returns the shortest end of a name that no other name has.
    pub(super) fn alias<'n>(&self, name: &'n str) -> &'n str {
        ends(name).find(|end| self.ends.get(*end).is_none_or(|count| *count < 2)).unwrap_or(name)
    }
}

/// Returns the ends of a name, from its last part to the whole name.
fn ends(name: &str) -> impl Iterator<Item = &str> {
    let starts = name.rmatch_indices('.').map(|(at, _)| at + 1).chain(std::iter::once(0));
    starts.map(move |at| name.get(at..).unwrap_or(name))
}

/// Returns Jenkins' one-at-a-time hash.
fn jenkins(key: &[u8]) -> u32 {
    let mut hash: u32 = 0;
    for byte in key {
        hash = hash.wrapping_add(u32::from(*byte));
        hash = hash.wrapping_add(hash << 10);
        hash ^= hash >> 6;
    }
    hash = hash.wrapping_add(hash << 3);
    hash ^= hash >> 11;
    hash.wrapping_add(hash << 15)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ids that p4c wrote into published files.
    #[test]
    fn ids_are_those_of_published_files() {
        let mut ids = Ids::default();
        let known = [
            (Kind::Action, "NoAction", 21_257_015),
            (Kind::Table, "MyIngress.ipv4_lpm", 37_375_156),
            (Kind::Action, "MyIngress.ipv4_forward", 28_792_405),
            (Kind::Action, "MyIngress.drop", 25_652_968),
        ];
        known.iter().for_each(|(kind, name, _)| ids.add(*kind, name));
        ids.assign();
        for (kind, name, id) in known {
            assert_eq!(ids.id(kind, name), id, "{name}");
        }
    }

    #[test]
    fn the_shortest_end_that_one_name_has() {
        let mut ids = Ids::default();
        for name in ["pipe.a.t", "pipe.b.t", "pipe.b.u", "t.u.x"] {
            ids.add(Kind::Table, name);
        }
        let alias = |name| ids.alias(name);
        assert_eq!([alias("pipe.a.t"), alias("pipe.b.u"), alias("t.u.x")], ["a.t", "u", "x"]);
    }
}
