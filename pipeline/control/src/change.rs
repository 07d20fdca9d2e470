//! The result of an operation: the part of the configuration that an executor must rebuild or carry over to its state.

use super::EntryId;
use super::op::ArrayRef;
use sluice_asic::salu::State as Element;
use sluice_ir::{Counter, Meter, MeterConfig, Profile, Register, Table, ValueSet};

/// Result of an operation: the part of an executor's structures that must be rebuilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A new entry.
    Inserted(Table, EntryId),
    /// An entry's action, member or group was changed.
    Modified(Table, EntryId),
    /// An entry was deleted.
    Deleted(Table, EntryId),
    /// A table's default action was changed.
    Default(Table),
    /// A member of a profile was set or deleted.
    Member(Profile, u32),
    /// A group of a profile was set or deleted.
    Group(Profile, u32),
    /// A counter must be cleared: one cell, or all (`None`).
    Counter(Counter, Option<u32>),
    /// Mirror sessions or multicast groups were changed.
    Replication,
    /// Port metadata was changed.
    PortMetadata,
    /// A member was added to a value set, or removed.
    ValueSet(ValueSet),
    /// The packet generator, a port or a queue was changed.
    Device,
    /// Elements of a register must be written: one, or all (`None`), with a value or the initial one
    /// (`None`).
    Register(Register, Option<u32>, Option<Element>),
    /// Nothing changed; the value of a cell, or of all (`None`), must be recorded.
    Read(ArrayRef, Option<u32>),
    /// Cells of a meter must be configured: one, or all (`None`).
    Meter(Meter, Option<u32>, Option<MeterConfig>),
    /// A register parameter, by position, was set to this value.
    Param(Register, u8, u32),
    /// A register must be cleared: until the device reports the end, accesses return this word; then all
    /// elements have the initial value.
    Clear(Register, u32),
}

impl Change {
    /// Returns the table whose lookups changed, if any.
    #[must_use]
    pub const fn table(self) -> Option<Table> {
        match self {
            Change::Inserted(t, _) | Change::Modified(t, _) | Change::Deleted(t, _) | Change::Default(t) => {
                Some(t)
            }
            _ => None,
        }
    }

    /// Returns the profile whose members or groups changed, if any.
    #[must_use]
    pub const fn profile(self) -> Option<Profile> {
        match self {
            Change::Member(p, _) | Change::Group(p, _) => Some(p),
            _ => None,
        }
    }
}
