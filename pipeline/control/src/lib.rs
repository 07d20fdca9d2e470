//! The control plane: runtime entries, action-profile members and groups, by typed operation or by name.
//!
//! What lives here: the state that both executors read, the operations that change it and their checks,
//! the schema of a program and its text forms. What may not: lookups on the packet path.
//!
//! | module | what it does |
//! |---|---|
//! | `state` | what is configured |
//! | `op`, `check`, `error` | typed operations, their rules, what they say when refused |
//! | `replication` | mirror sessions and multicast groups |
//! | `port` | port metadata |
//! | `device`, `app_words` | packet generator, ports, queues; a generator's application as words |
//! | `back` | taking operations back |
//! | `arrays`, `cells` | registers and meters that are written; their values as text |
//! | `schema` | what a program lets the control plane configure |
//! | `value` | numbers, addresses, prefixes and masks as text |
//! | `script`, `resolve` | a file's operations with their lines; names to handles |
//! | [`toml`], [`lines`] | the two file formats |
//! | [`entries`], [`template`] | a state, or the room for one, as a TOML file |

mod app_words;
mod array_cells;
mod arrays;
mod back;
pub mod cells;
mod change;
mod check;
mod device;
pub mod entries;
mod error;
mod index;
pub mod lines;
mod op;
mod pipe;
mod port;
mod replication;
mod resolve;
mod schema;
mod script;
mod state;
pub mod template;
pub mod toml;
mod value;

#[cfg(test)]
mod tests;

pub use arrays::ArrayWrites;
pub use back::Scope;
pub use change::Change;
pub use device::{DeviceError, DeviceOp, DeviceState, PktgenApp};
pub use error::ControlError;
pub use op::{ArrayRef, ControlOp, Reading};
pub use port::PortMetadata;
pub use replication::{MulticastNode, Replication, ReplicationError};
pub use schema::{
    ActionSchema, CounterSchema, KeySchema, MeterSchema, ParamSchema, PortFieldSchema, ProfileSchema,
    RegisterParamSchema, RegisterSchema, Schema, TableSchema,
};
pub use script::{EntryError, Script, Sourced};
pub use state::{ControlState, Entry, EntryId, GroupMember, GroupSlots, ProfileState, TableState, Then};
pub use value::{ValueError, parse_match, parse_value, show_key, show_value};
