//! The result of an operation: the part of the configuration that an executor must rebuild or carry over to its state.

use super::EntryId;
use super::op::ArrayRef;
use sluice_asic::salu::State as Element;
use sluice_ir::{Counter, Meter, MeterConfig, Profile, Register, Table};

/// What an operation changed: which executor structures to rebuild.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A new entry.
    Inserted(Table, EntryId),
    /// An entry does something else.
    Modified(Table, EntryId),
    /// An entry is gone.
    Deleted(Table, EntryId),
    /// A table's default action.
    Default(Table),
    /// A member of a profile.
    Member(Profile, u32),
    /// A group of a profile.
    Group(Profile, u32),
    /// A counter is to be zeroed: one cell or all.
    Counter(Counter, Option<u32>),
    /// Mirror sessions or multicast groups.
    Replication,
    /// Port metadata.
    PortMetadata,
    /// The packet generator, a port or a queue.
    Device,
    /// Elements of a register are to be written: one or all, with a value or the first one.
    Register(Register, Option<u32>, Option<Element>),
    /// Nothing; a cell, or all, is to be noted.
    Read(ArrayRef, Option<u32>),
    /// Cells of a meter are to be configured: one or all.
    Meter(Meter, Option<u32>, Option<MeterConfig>),
    /// A parameter of a register, by position, has this value.
    Param(Register, u8, u32),
    /// All elements of a register become the first value, and packets find this word until the device says that they have.
    Clear(Register, u32),
}

impl Change {
    /// The table whose lookups changed.
    #[must_use]
    pub const fn table(self) -> Option<Table> {
        match self {
            Change::Inserted(t, _) | Change::Modified(t, _) | Change::Deleted(t, _) | Change::Default(t) => {
                Some(t)
            }
            _ => None,
        }
    }

    /// The profile whose members or groups changed.
    #[must_use]
    pub const fn profile(self) -> Option<Profile> {
        match self {
            Change::Member(p, _) | Change::Group(p, _) => Some(p),
            _ => None,
        }
    }
}
