//! What the control plane has configured. Plain data: executors compile their own lookup structures from it.
//!
//! Order of entries, the same for every executor: a longer prefix before a shorter one, then a lower
//! priority number before a higher one, then the older entry before the younger (`seq`).

use crate::entity::EntityMap;
use crate::ir::{ActionCall, KeyValue, Profile, Program, Table};
use std::collections::BTreeMap;

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

/// Everything the control plane has configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlState {
    /// Per table.
    pub tables: EntityMap<Table, TableState>,
    /// Per profile.
    pub profiles: EntityMap<Profile, ProfileState>,
}

impl ControlState {
    /// The state of a program before any operation: its constant entries and defaults.
    #[must_use]
    pub fn new(program: &Program) -> ControlState {
        let tables = program
            .tables
            .values()
            .map(|t| TableState {
                slots: t
                    .entries
                    .iter()
                    .enumerate()
                    .map(|(i, e)| {
                        let then = Then::Call(e.then.clone());
                        Some(Entry { key: e.key.clone(), priority: i as u32, seq: i as u64, then })
                    })
                    .collect(),
                default: t.default.clone(),
            })
            .collect();
        let profiles = program.profiles.values().map(|_| ProfileState::default()).collect();
        ControlState { tables, profiles }
    }
}
