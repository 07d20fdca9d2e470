//! Units of one stage: those in use, their owners and purposes.

use super::super::bits::ByteRef;
use super::super::data::{Owner, Unit, UnitUse};
use super::super::purpose::Purpose;
use rustc_hash::FxHashMap;
use sluice_asic::chip::Column;
use std::collections::BTreeSet;

/// Content of a unit, which decides whether owners may share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Content of one owner alone.
    Own,
    /// This container byte, for all its readers.
    Byte(ByteRef),
    /// Bytes of this crossbar group and, if given, the bits of this hash group.
    Bus {
        /// Exact crossbar group.
        xbar: u16,
        /// Hash group.
        hash: Option<u16>,
    },
    /// An action profile or array that several nodes use.
    Shared(u32),
    /// Bits of a computation: its number and its number of bits.
    Hashed(u32, u32),
    /// A hash distribution slice fed by this hash group, with bits of a computation.
    Dist {
        /// Hash group.
        group: u16,
        /// Computation and number of bits; `None` if the owner does not share them.
        of: Option<(u32, u32)>,
    },
    /// Instruction word: index of the containers that it writes.
    Instruction(u32),
}

impl Content {
    fn is_shared(self) -> bool {
        !matches!(self, Content::Own | Content::Dist { of: None, .. })
    }

    /// Returns the computation of these bits and its number of bits.
    pub(crate) fn computation(self) -> Option<(u32, u32)> {
        match self {
            Content::Hashed(what, bits) | Content::Dist { of: Some((what, bits)), .. } => Some((what, bits)),
            _ => None,
        }
    }
}

/// Unit in use.
#[derive(Clone, Debug)]
struct Held {
    content: Content,
    owners: Vec<Owner>,
}

/// State to which the pool can be rolled back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark(usize);

impl Mark {
    /// Returns the number of units taken between an earlier mark and this one.
    pub(crate) fn since(self, earlier: Mark) -> usize {
        self.0.saturating_sub(earlier.0)
    }
}

/// Units of one stage.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pool {
    stage: u8,
    held: FxHashMap<(Column, u16, u16), Held>,
    log: Vec<UnitUse>,
}

impl Pool {
    /// Returns a stage with all units free.
    pub(crate) fn new(stage: u8) -> Self {
        Pool { stage, ..Default::default() }
    }

    /// Returns how many of these bytes are not yet on a crossbar.
    pub(crate) fn missing<'b>(&self, column: Column, bytes: impl Iterator<Item = &'b ByteRef>) -> usize {
        let carried: Vec<ByteRef> = self
            .held
            .iter()
            .filter(|((c, ..), _)| *c == column)
            .filter_map(|(_, h)| if let Content::Byte(byte) = h.content { Some(byte) } else { None })
            .collect();
        bytes.filter(|b| !carried.contains(b)).count()
    }

    /// Returns true if the unit is free.
    pub(crate) fn is_free(&self, column: Column, row: u16, col: u16) -> bool {
        !self.held.contains_key(&(column, row, col))
    }

    /// Returns the content of the unit.
    pub(crate) fn content(&self, column: Column, row: u16, col: u16) -> Option<Content> {
        self.held.get(&(column, row, col)).map(|h| h.content)
    }

    /// Returns all owners of the unit.
    pub(crate) fn owners_at(&self, column: Column, row: u16, col: u16) -> &[Owner] {
        self.held.get(&(column, row, col)).map_or(&[], |h| h.owners.as_slice())
    }

    /// Returns the first owner of the unit.
    pub(crate) fn owner_of(&self, column: Column, row: u16, col: u16) -> Option<Owner> {
        self.held.get(&(column, row, col)).and_then(|h| h.owners.first().copied())
    }

    /// Returns true if the unit is free or has this content.
    pub(crate) fn accepts(&self, column: Column, row: u16, col: u16, content: Content) -> bool {
        match self.content(column, row, col) {
            None => true,
            Some(found) => found == content && content.is_shared(),
        }
    }

    /// Gives the unit to `owner`, as a further owner if it has the same content. Returns false, and changes nothing,
    /// if it has other content.
    pub(crate) fn take(
        &mut self,
        (column, row, col): (Column, u16, u16),
        owner: Owner,
        content: Content,
        purpose: Purpose,
    ) -> bool {
        if !self.accepts(column, row, col, content) {
            return false;
        }
        let held = self.held.entry((column, row, col)).or_insert(Held { content, owners: Vec::new() });
        if !held.owners.contains(&owner) {
            held.owners.push(owner);
            let unit = Unit { stage: self.stage, column, row, col };
            self.log.push(UnitUse { unit, owner, purpose });
        }
        true
    }

    /// Returns the first owner of a meter ALU with this content.
    pub(crate) fn holder(&self, content: Content) -> Option<Owner> {
        let mut alus = self.log.iter().filter(|u| u.unit.column == Column::MeterAlu);
        let found = alus.find(|u| self.content(Column::MeterAlu, u.unit.row, u.unit.col) == Some(content));
        found.map(|u| u.owner)
    }

    /// Returns true if a unit of the column has this content.
    pub(crate) fn carries(&self, column: Column, content: Content) -> bool {
        self.held.iter().any(|((c, ..), h)| *c == column && h.content == content)
    }

    /// Makes `owner` a further owner of all units with this content; returns false if there are none.
    pub(crate) fn join(&mut self, content: Content, owner: Owner) -> bool {
        self.join_all(|c| c == content, owner)
    }

    /// Makes `owner` a further owner of all bits of a computation with at least this many; returns false if there is
    /// none.
    pub(crate) fn join_computation(&mut self, what: u32, bits: u32, owner: Owner) -> bool {
        let known = self.held.values().filter_map(|h| h.content.computation());
        let Some(found) = known.filter(|(w, b)| *w == what && *b >= bits).min() else { return false };
        self.join_all(|c| c.computation() == Some(found), owner)
    }

    fn join_all(&mut self, same: impl Fn(Content) -> bool, owner: Owner) -> bool {
        let held = self.held.iter().filter(|(_, h)| same(h.content));
        let mut theirs: Vec<((Column, u16, u16), Content)> = held.map(|(at, h)| (*at, h.content)).collect();
        // Sorted, because the log must not depend on the order of a hash map.
        theirs.sort_unstable_by_key(|(at, _)| *at);
        for &(at, content) in &theirs {
            let known = self.log.iter().find(|u| (u.unit.column, u.unit.row, u.unit.col) == at);
            if let Some(purpose) = known.map(|u| u.purpose.clone()) {
                self.take(at, owner, content, purpose);
            }
        }
        !theirs.is_empty()
    }

    /// Returns the state to which [`Pool::roll_back`] can return.
    pub(crate) fn mark(&self) -> Mark {
        Mark(self.log.len())
    }

    /// Frees all units taken since `mark`.
    pub(crate) fn roll_back(&mut self, mark: Mark) {
        for used in self.log.drain(mark.0..).rev() {
            let key = (used.unit.column, used.unit.row, used.unit.col);
            if let Some(held) = self.held.get_mut(&key) {
                held.owners.retain(|o| *o != used.owner);
                if held.owners.is_empty() {
                    self.held.remove(&key);
                }
            }
        }
    }

    /// Returns all units in use.
    pub(crate) fn uses(&self) -> &[UnitUse] {
        &self.log
    }

    /// Returns the number of units of a column in use; both colours of an instruction row count once.
    pub(crate) fn used(&self, column: Column) -> usize {
        let held = self.held.keys().filter(|(c, ..)| *c == column);
        match column {
            Column::Vliw => held.map(|(_, row, _)| row).collect::<BTreeSet<_>>().len(),
            _ => held.count(),
        }
    }

    /// Returns the owners of units of a column, in order of taking.
    pub(crate) fn owners_of(&self, column: Column) -> Vec<Owner> {
        let mut owners = Vec::new();
        for used in self.log.iter().filter(|u| u.unit.column == column) {
            if !owners.contains(&used.owner) {
                owners.push(used.owner);
            }
        }
        owners
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_asic::gress::Gress;
    use sluice_ir::cfg::Node;
    use sluice_ir::entity::Entity;

    #[test]
    fn a_unit_is_shared_only_for_the_same_content_and_comes_back() {
        let owner = |n| Owner { gress: Gress::Ingress, node: Node::new(n) };
        let mut pool = Pool::new(3);
        let bus = |xbar| Content::Bus { xbar, hash: None };
        let search = |xbar| Purpose::SearchBus { xbar, hash: None };
        let at = (Column::ExactSearchBus, 0, 1);
        assert!(pool.take(at, owner(0), bus(2), search(2)));
        let mark = pool.mark();
        assert!(!pool.take(at, owner(1), bus(3), search(3)));
        assert!(pool.take(at, owner(1), bus(2), search(2)));
        assert!(!pool.take(at, owner(2), Content::Own, Purpose::Condition));
        assert_eq!(pool.owners_of(Column::ExactSearchBus), [owner(0), owner(1)]);
        pool.roll_back(mark);
        assert_eq!(pool.owners_of(Column::ExactSearchBus), [owner(0)]);
        pool.roll_back(Mark(0));
        assert!(pool.is_free(Column::ExactSearchBus, 0, 1));
    }
}
