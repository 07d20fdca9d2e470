//! The state that the control plane sets: entries, default actions, members of groups, and members of value sets.

use crate::value::Value;
use num_bigint::BigInt;
use rustc_hash::FxHashMap;
use sluice_p4::elaborate::{ActionId, ObjectId, TableId, ValueSetId};

/// A condition on one element of a table's key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Match {
    /// The key has this value.
    Exact(BigInt),
    /// The key has this value in the bits of a mask.
    Ternary {
        /// The value.
        value: BigInt,
        /// The mask.
        mask: BigInt,
    },
    /// The first bits of the key are those of a value.
    Lpm {
        /// The value.
        value: BigInt,
        /// Number of bits that are compared.
        length: u32,
    },
    /// The key is in a range.
    Range {
        /// The least value.
        low: BigInt,
        /// The greatest value.
        high: BigInt,
    },
}

impl Match {
    /// Returns true if a key of `width` bits fits.
    pub(crate) fn fits(&self, key: &BigInt, width: u32) -> bool {
        match self {
            Match::Exact(value) => value == key,
            Match::Ternary { value, mask } => key & mask == value & mask,
            Match::Lpm { value, length } => {
                let ignored = width.saturating_sub(*length);
                key >> ignored == value >> ignored
            }
            Match::Range { low, high } => low <= key && key <= high,
        }
    }

    /// Returns the length of a prefix.
    pub(crate) fn prefix(&self) -> u32 {
        match self {
            Match::Lpm { length, .. } => *length,
            _ => 0,
        }
    }
}

/// An action with the arguments that the control plane gives it: one for each parameter without a direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionCall {
    /// The action.
    pub action: ActionId,
    /// The arguments.
    pub args: Vec<BigInt>,
}

/// The effect of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Then {
    /// An action.
    Call(ActionCall),
    /// A member of the table's action profile.
    Member(u32),
    /// A group of members, among which a hash chooses.
    Group(u32),
}

/// An entry of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// One condition for each element of the key, except those of kind `selector`.
    pub keys: Vec<Match>,
    /// Priority among entries with equally long prefixes, the lowest first; then the earlier entry wins.
    pub priority: u32,
    /// The effect.
    pub then: Then,
}

/// The entries and the default action of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableState {
    /// The entries; those that the program states are not among them.
    pub entries: Vec<Entry>,
    /// The default action, if it is not that of the program.
    pub default: Option<ActionCall>,
}

/// The state of the control plane.
#[derive(Clone, Debug, Default)]
pub struct Control {
    /// Tables by instance.
    pub tables: FxHashMap<TableId, TableState>,
    /// Members of action profiles.
    pub members: FxHashMap<(ObjectId, u32), ActionCall>,
    /// Members of value sets: value and mask of each field.
    pub value_sets: FxHashMap<ValueSetId, Vec<Vec<(BigInt, BigInt)>>>,
}

impl Control {
    /// Returns true if a value set has a member that matches keys.
    pub(crate) fn has_value(&self, set: ValueSetId, keys: &[Value]) -> bool {
        let members = self.value_sets.get(&set).map(Vec::as_slice).unwrap_or_default();
        members.iter().any(|member| {
            member.len() == keys.len()
                && member
                    .iter()
                    .zip(keys)
                    .all(|((value, mask), key)| key.as_number().is_some_and(|key| key & mask == value & mask))
        })
    }
}
