//! Control-plane state, as plain data. Executors compile their lookup structures from it.
//!
//! All executors order entries in the same way: a longer prefix first, then the lower priority number, then
//! the older entry (`seq`).

use super::SetMember;
use super::arrays::ArrayWrites;
use super::device::DeviceState;
use super::index::TableIndex;
use super::port::PortMetadata;
use super::replication::Replication;
use super::ways::ExactLayout;
use sluice_asic::alu::width_mask;
use sluice_asic::select::{GroupShape, WORD_SLOTS};
use sluice_asic::units::Duration;
use sluice_ir::entity::EntityMap;
use sluice_ir::{ActionCall, KeyValue, Profile, Program, Table, ValueSet};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Slot of an entry in its table. It is stable while the entry exists, and is the index of its direct
/// counter.
pub type EntryId = u32;

/// Result of a match: an action, or a member or group of a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Then {
    /// Runs an action.
    Call(ActionCall),
    /// Runs the action of a profile member.
    Member(u32),
    /// Runs the action of the group member that the selector selects.
    Group(u32),
}

/// An entry of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// One column per key.
    pub key: Vec<KeyValue>,
    /// Priority among entries of tables with a ternary or range key, the lowest first; 0 in other tables.
    pub priority: u32,
    /// Number in the order of insertion into the table.
    pub seq: u64,
    /// Action, member or group.
    pub then: Then,
    /// Time without a hit after which the entry expires; `None`: the time of its table.
    pub ttl: Option<Duration>,
}

/// The entries of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableState {
    /// Entries by slot; `None` is a free slot.
    pub slots: Vec<Option<Entry>>,
    /// Default action, which runs on a miss.
    pub default: ActionCall,
}

impl TableState {
    /// Returns the entries with their slots, in slot order.
    pub fn entries(&self) -> impl Iterator<Item = (EntryId, &Entry)> {
        self.slots.iter().enumerate().filter_map(|(i, e)| e.as_ref().map(|e| (i as EntryId, e)))
    }
}

/// Membership in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupMember {
    /// Member of the profile.
    pub member: u32,
    /// Weight (WCMP): number of slots of the group that the member gets; at least 1.
    pub weight: u32,
    /// False if the member is down: it keeps its slots, but the selector does not select it.
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

/// Slots of a group as the selector addresses them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupSlots {
    /// Number of slots and words of the selector's arithmetic; `None` for a group without members.
    pub shape: Option<GroupShape>,
    /// Member of each slot (word * 120 + index in the word); `None` for a slot without a member.
    pub members: Vec<Option<u32>>,
}

impl ProfileState {
    /// Returns the slots of a group: its members in order, each repeated by its weight, distributed over the
    /// words as the driver does. A group that does not exist has no slots.
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

/// Error: slots were changed without the index over the table's keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaleIndex;

/// State of the control plane: the settings of all pipes, and those of single pipes
/// ([`ControlState::of_pipe`]).
///
/// Change it with [`ControlState::apply`](Self::apply), which checks every operation. The next operation
/// notices slots that were pushed or popped directly. An entry overwritten in place is not found by its new
/// key.
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
    /// Members of each value set, the oldest first.
    pub value_sets: EntityMap<ValueSet, Vec<SetMember>>,
    /// Packet generator, ports and queues.
    pub device: DeviceState,
    /// Register writes and meter configurations.
    pub arrays: ArrayWrites,
    pub(super) index: EntityMap<Table, TableIndex>,
    /// Complete states of pipes that differ from the others.
    pub(super) pipes: BTreeMap<u8, ControlState>,
    /// Tables whose entries are each in one pipe.
    pub(super) per_pipe: BTreeSet<Table>,
}

impl ControlState {
    /// Returns the initial state of a program: its constant entries and defaults.
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
            value_sets: program.value_sets.values().map(|_| Vec::new()).collect(),
            device: DeviceState::default(),
            arrays: ArrayWrites::default(),
            index,
            pipes: BTreeMap::new(),
            per_pipe: BTreeSet::new(),
        }
    }

    /// Returns the state with the ways of the exact tables that a placement has: from then on an insertion is refused if
    /// the ways have no row for the key.
    #[must_use]
    pub fn with_layouts(mut self, layouts: impl IntoIterator<Item = (Table, ExactLayout)>) -> ControlState {
        for (table, layout) in layouts {
            self.index[table].set_layout(Some(Arc::new(layout)));
        }
        self
    }

    /// Returns the longest shorter prefix that covers an entry's prefix and is equal to it in all other
    /// columns: its length and slot. `width` is the width of the prefix' field in bits.
    ///
    /// # Errors
    /// Refuses a state whose slots were changed without the index.
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
