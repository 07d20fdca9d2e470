//! What the control plane has configured. Plain data: executors compile their own lookup structures from it.
//!
//! Order of entries, the same for every executor: a longer prefix before a shorter one, then a lower
//! priority number before a higher one, then the older entry before the younger (`seq`).

use super::arrays::ArrayWrites;
use super::device::DeviceState;
use super::index::TableIndex;
use super::port::PortMetadata;
use super::replication::Replication;
use sluice_asic::alu::width_mask;
use sluice_asic::select::{GroupShape, WORD_SLOTS};
use sluice_asic::units::Duration;
use sluice_ir::entity::EntityMap;
use sluice_ir::{ActionCall, KeyValue, Profile, Program, Table};
use std::collections::{BTreeMap, BTreeSet};

/// Slot of an entry in its table: stable while the entry lives, and the index of its direct counter.
pub type EntryId = u32;

/// What a matching entry does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Then {
    /// Runs an action.
    Call(ActionCall),
    /// Runs the action of a profile member.
    Member(u32),
    /// Runs the action of the group member that the selector picks.
    Group(u32),
}

/// An entry of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// One column per key.
    pub key: Vec<KeyValue>,
    /// Lower wins among ternary entries; 0 elsewhere.
    pub priority: u32,
    /// Order of insertion, over the life of the table.
    pub seq: u64,
    /// What it does.
    pub then: Then,
    /// Time to live without a hit; `None` for that of its table.
    pub ttl: Option<Duration>,
}

/// The entries of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableState {
    /// Entries by slot; `None` is a free slot.
    pub slots: Vec<Option<Entry>>,
    /// Runs on a miss.
    pub default: ActionCall,
}

impl TableState {
    /// Entries with their slots, in slot order.
    pub fn entries(&self) -> impl Iterator<Item = (EntryId, &Entry)> {
        self.slots.iter().enumerate().filter_map(|(i, e)| e.as_ref().map(|e| (i as EntryId, e)))
    }
}

/// A member's place in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupMember {
    /// Member of the profile.
    pub member: u32,
    /// Slots of the group that it fills (WCMP); at least 1.
    pub weight: u32,
    /// A member that is down keeps its slots but is not picked.
    pub active: bool,
}

/// Members and groups of one profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfileState {
    /// Members by number.
    pub members: BTreeMap<u32, ActionCall>,
    /// Groups by number; slots are the members in order, each repeated `weight` times.
    pub groups: BTreeMap<u32, Vec<GroupMember>>,
}

/// A group laid out in the slots of a selector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupSlots {
    /// The slots as the selector's arithmetic sees them; `None` for a group without members.
    pub shape: Option<GroupShape>,
    /// Member of each slot (word times 120 plus index in the word); `None` where no member is.
    pub members: Vec<Option<u32>>,
}

impl ProfileState {
    /// Lays a group out: its members in order, each as often as its weight says, dealt to the words as the
    /// driver does. A group that does not exist has no slots.
    #[must_use]
    pub fn slots(&self, group: u32) -> GroupSlots {
        let members = self.groups.get(&group).map_or(&[][..], Vec::as_slice);
        let list: Vec<GroupMember> =
            members.iter().flat_map(|m| std::iter::repeat_n(*m, m.weight as usize)).collect();
        let words = GroupShape::words_for(list.len() as u32);
        let Ok(mut shape) = GroupShape::balanced(list.len() as u32) else { return GroupSlots::default() };
        let mut slots = vec![None; (words * WORD_SLOTS) as usize];
        for (i, m) in list.iter().enumerate() {
            let slot = GroupShape::balanced_slot(i as u32, words);
            slots[slot as usize] = Some(m.member);
            if !m.active && shape.set_active(slot, false).is_err() {
                return GroupSlots::default();
            }
        }
        GroupSlots { shape: Some(shape), members: slots }
    }
}

/// Slots were changed beside the index over a table's keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaleIndex;

/// Everything the control plane has configured: in all pipes, but for what is of one pipe alone
/// ([`ControlState::of_pipe`]).
///
/// Change it by [`ControlState::apply`](Self::apply), which checks. Slots that are pushed or popped directly
/// are noticed by the next operation; entries overwritten in place are not found by their new key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlState {
    /// Per table.
    pub tables: EntityMap<Table, TableState>,
    /// Per profile.
    pub profiles: EntityMap<Profile, ProfileState>,
    /// Mirror sessions and multicast groups.
    pub replication: Replication,
    /// Port metadata.
    pub port_metadata: PortMetadata,
    /// Packet generator, ports and queues.
    pub device: DeviceState,
    /// Registers written and meters configured.
    pub arrays: ArrayWrites,
    pub(super) index: EntityMap<Table, TableIndex>,
    /// All that is configured in pipes that have something of their own.
    pub(super) pipes: BTreeMap<u8, ControlState>,
    /// Tables whose entries are each of one pipe.
    pub(super) per_pipe: BTreeSet<Table>,
}

impl ControlState {
    /// The state of a program before any operation: its constant entries and defaults.
    #[must_use]
    pub fn new(program: &Program) -> ControlState {
        let tables: EntityMap<Table, TableState> = program
            .tables
            .values()
            .map(|t| TableState {
                slots: t
                    .entries
                    .iter()
                    .enumerate()
                    .map(|(i, e)| {
                        let then = Then::Call(e.then.clone());
                        Some(Entry { key: e.key.clone(), priority: i as u32, seq: i as u64, then, ttl: None })
                    })
                    .collect(),
                default: t.default.clone(),
            })
            .collect();
        let profiles = program.profiles.values().map(|_| ProfileState::default()).collect();
        let index = tables.values().map(|_| TableIndex::default()).collect();
        ControlState {
            tables,
            profiles,
            replication: Replication::default(),
            port_metadata: PortMetadata::new(),
            device: DeviceState::default(),
            arrays: ArrayWrites::default(),
            index,
            pipes: BTreeMap::new(),
            per_pipe: BTreeSet::new(),
        }
    }

    /// The longest shorter prefix that covers an entry's and is equal to it in all other columns: its length and
    /// slot. `width` are the bits of the prefix' field.
    ///
    /// # Errors
    /// When slots were changed beside the index.
    pub fn covering(
        &self,
        table: Table,
        key: &[KeyValue],
        width: u16,
    ) -> Result<Option<(u16, EntryId)>, StaleIndex> {
        let index = &self.index[table];
        if !index.is_fresh(&self.tables[table]) {
            return Err(StaleIndex);
        }
        let mut named = (key.to_vec(), 0);
        let prefix =
            |k: &KeyValue| if let KeyValue::Lpm { value, len } = *k { Some((value, len)) } else { None };
        let Some((column, (value, len))) =
            key.iter().map(prefix).enumerate().find_map(|(i, p)| Some((i, p?)))
        else {
            return Ok(None);
        };
        for len in (0..len).rev() {
            let kept = !width_mask(width.saturating_sub(len).into());
            named.0[column] = KeyValue::Lpm { value: value & kept, len };
            if let Some(slot) = index.find(&named) {
                return Ok(Some((len, slot)));
            }
        }
        Ok(None)
    }
}
