//! The units of one stage: which are taken, by whom and for what.
//!
//! Taking and giving back.

use super::super::bits::ByteRef;
use super::super::data::{Owner, Unit, UnitUse};
use rustc_hash::FxHashMap;
use sluice_asic::chip::Column;

/// What a unit carries, which decides who may share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Only its owner's.
    Own,
    /// This byte, whoever reads it.
    Byte(ByteRef),
    /// The bytes of this crossbar group and, if given, the bits of this hash group.
    Bus {
        /// Exact crossbar group.
        xbar: u16,
        /// Hash group.
        hash: Option<u16>,
    },
    /// An action profile or counter that several nodes use by name.
    Shared(u32),
    /// Bits of a computation, by its number and how many bits it has.
    Hashed(u32, u32),
    /// A slice of hash distribution fed by this hash group, with bits of a computation.
    Dist {
        /// Hash group.
        group: u16,
        /// The computation and its bits; `None` if it is the owner's alone.
        of: Option<(u32, u32)>,
    },
    /// An instruction word: index of the containers that it writes.
    Instruction(u32),
}

impl Content {
    fn is_shared(self) -> bool {
        !matches!(self, Content::Own | Content::Dist { of: None, .. })
    }

    /// The computation whose bits these are, and how many it has.
    pub(crate) fn computation(self) -> Option<(u32, u32)> {
        match self {
            Content::Hashed(what, bits) | Content::Dist { of: Some((what, bits)), .. } => Some((what, bits)),
            _ => None,
        }
    }
}

/// A unit in use.
#[derive(Clone, Debug)]
struct Held {
    content: Content,
    owners: Vec<Owner>,
}

/// A point to return to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark(usize);

impl Mark {
    /// How many units were taken between an earlier point and this one.
    pub(crate) fn since(self, earlier: Mark) -> usize {
        self.0.saturating_sub(earlier.0)
    }
}

/// The units of one stage.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pool {
    stage: u8,
    held: FxHashMap<(Column, u16, u16), Held>,
    log: Vec<UnitUse>,
}

impl Pool {
    /// A stage with all units free.
    pub(crate) fn new(stage: u8) -> Self {
        Pool { stage, ..Default::default() }
    }

    /// How many of these bytes a crossbar does not carry yet.
    pub(crate) fn missing<'b>(&self, column: Column, bytes: impl Iterator<Item = &'b ByteRef>) -> usize {
        let carried: Vec<ByteRef> = self
            .held
            .iter()
            .filter(|((c, ..), _)| *c == column)
            .filter_map(|(_, h)| if let Content::Byte(byte) = h.content { Some(byte) } else { None })
            .collect();
        bytes.filter(|b| !carried.contains(b)).count()
    }

    /// Whether nobody uses the unit.
    pub(crate) fn is_free(&self, column: Column, row: u16, col: u16) -> bool {
        !self.held.contains_key(&(column, row, col))
    }

    /// What the unit carries.
    pub(crate) fn content(&self, column: Column, row: u16, col: u16) -> Option<Content> {
        self.held.get(&(column, row, col)).map(|h| h.content)
    }

    /// Everyone who uses the unit.
    pub(crate) fn owners_at(&self, column: Column, row: u16, col: u16) -> &[Owner] {
        self.held.get(&(column, row, col)).map_or(&[], |h| h.owners.as_slice())
    }

    /// The unit's first owner.
    pub(crate) fn owner_of(&self, column: Column, row: u16, col: u16) -> Option<Owner> {
        self.held.get(&(column, row, col)).and_then(|h| h.owners.first().copied())
    }

    /// Whether the unit is free or carries the same already.
    pub(crate) fn accepts(&self, column: Column, row: u16, col: u16, content: Content) -> bool {
        match self.content(column, row, col) {
            None => true,
            Some(found) => found == content && content.is_shared(),
        }
    }

    /// Gives the unit to `owner`; a unit that carries the same for another owner gets one owner more.
    /// Returns false, and changes nothing, if it carries something else.
    pub(crate) fn take(
        &mut self,
        (column, row, col): (Column, u16, u16),
        owner: Owner,
        content: Content,
        purpose: &str,
    ) -> bool {
        if !self.accepts(column, row, col, content) {
            return false;
        }
        let held = self.held.entry((column, row, col)).or_insert(Held { content, owners: Vec::new() });
        if !held.owners.contains(&owner) {
            held.owners.push(owner);
            let unit = Unit { stage: self.stage, column, row, col };
            self.log.push(UnitUse { unit, owner, purpose: purpose.to_owned() });
        }
        true
    }

    /// The first owner of a meter ALU that carries this content.
    pub(crate) fn holder(&self, content: Content) -> Option<Owner> {
        let mut alus = self.log.iter().filter(|u| u.unit.column == Column::MeterAlu);
        let found = alus.find(|u| self.content(Column::MeterAlu, u.unit.row, u.unit.col) == Some(content));
        found.map(|u| u.owner)
    }

    /// Whether a unit of the column carries this content.
    pub(crate) fn carries(&self, column: Column, content: Content) -> bool {
        self.held.iter().any(|((c, ..), h)| *c == column && h.content == content)
    }

    /// Makes `owner` a further owner of everything that carries this content; false if nothing does.
    pub(crate) fn join(&mut self, content: Content, owner: Owner) -> bool {
        self.join_all(|c| c == content, owner)
    }

    /// Makes `owner` a further owner of all bits of a computation that has at least this many; false if there is none.
    pub(crate) fn join_computation(&mut self, what: u32, bits: u32, owner: Owner) -> bool {
        let known = self.held.values().filter_map(|h| h.content.computation());
        let Some(found) = known.filter(|(w, b)| *w == what && *b >= bits).min() else { return false };
        self.join_all(|c| c.computation() == Some(found), owner)
    }

    fn join_all(&mut self, same: impl Fn(Content) -> bool, owner: Owner) -> bool {
        let held = self.held.iter().filter(|(_, h)| same(h.content));
        let mut theirs: Vec<((Column, u16, u16), Content)> = held.map(|(at, h)| (*at, h.content)).collect();
        // The map's order is nobody's business.
        theirs.sort_unstable_by_key(|(at, _)| *at);
        for &(at, content) in &theirs {
            let purpose = self.log.iter().find(|u| (u.unit.column, u.unit.row, u.unit.col) == at);
            let purpose = purpose.map(|u| u.purpose.clone()).unwrap_or_default();
            self.take(at, owner, content, &purpose);
        }
        !theirs.is_empty()
    }

    /// The state to which [`Pool::roll_back`] can return.
    pub(crate) fn mark(&self) -> Mark {
        Mark(self.log.len())
    }

    /// Gives back everything taken since `mark`.
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

    /// Everything in use.
    pub(crate) fn uses(&self) -> &[UnitUse] {
        &self.log
    }

    /// Owners of units of a column, in order of taking.
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
        let at = (Column::ExactSearchBus, 0, 1);
        assert!(pool.take(at, owner(0), bus(2), "group 2"));
        let mark = pool.mark();
        assert!(!pool.take(at, owner(1), bus(3), "group 3"));
        assert!(pool.take(at, owner(1), bus(2), "group 2"));
        assert!(!pool.take(at, owner(2), Content::Own, "mine"));
        assert_eq!(pool.owners_of(Column::ExactSearchBus), [owner(0), owner(1)]);
        pool.roll_back(mark);
        assert_eq!(pool.owners_of(Column::ExactSearchBus), [owner(0)]);
        pool.roll_back(Mark(0));
        assert!(pool.is_free(Column::ExactSearchBus, 0, 1));
    }
}
