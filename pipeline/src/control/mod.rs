//! The control plane: runtime entries, action-profile members and groups, by typed operation or by name.
//!
//! What lives here: the state that both executors read, the operations that change it and their checks,
//! the schema of a program and its text forms. What may not: lookups on the packet path.

mod state;

pub use state::{ControlState, Entry, EntryId, GroupMember, ProfileState, TableState, Then};
