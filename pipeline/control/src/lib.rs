//! Control plane: run-time entries, action-profile members and groups, register and meter writes, device
//! settings.
//!
//! This crate has the control-plane state that both executors read, the typed operations that change it with
//! their checks, the schema of a program, and the text formats. Lookups on the packet path are in the
//! executors.
//!
//! | module | content |
//! |---|---|
//! | `state` | the control-plane state |
//! | `op`, `check`, `error` | typed operations, their rules, and the errors of refused operations |
//! | [`classes`] | entries for a buffer profile's maps |
//! | [`marks`] | tables whose entries a buffer profile's ECN curves replace |
//! | `replication` | mirror sessions and multicast groups |
//! | `port` | port metadata |
//! | `ports` | names of ports in files; ports that a device does not have |
//! | `device`, `app_words` | packet generator, ports, queues; a packet-generator application as text |
//! | `restore` | restoring an earlier state |
//! | `arrays`, `cells` | register and meter writes; arrays with marks on written blocks |
//! | `schema` | the tables, profiles and arrays that a program lets the control plane configure |
//! | `ways` | rows of exact tables: cuckoo hashing over the ways of a placed table |
//! | `value` | numbers, addresses, prefixes and masks as text |
//! | `script`, `resolve` | operations of a file with their lines; names to handles |
//! | [`named`] | operations from the names of tables, keys and actions |
//! | [`toml`], [`lines`] | the two file formats |
//! | [`entries`], [`template`] | a state, or a template for one, as a TOML file |

mod app_words;
mod array_cells;
mod arrays;
pub mod cells;
mod change;
mod check;
pub mod classes;
mod device;
pub mod entries;
mod error;
mod index;
pub mod lines;
pub mod marks;
pub mod named;
mod op;
mod pipe;
mod port;
mod ports;
mod replication;
mod resolve;
mod restore;
mod schema;
mod script;
mod slices;
mod state;
pub mod template;
pub mod toml;
mod value;
mod value_sets;
mod ways;

#[cfg(test)]
mod tests;

pub use arrays::ArrayWrites;
pub use change::Change;
pub use device::{DeviceError, DeviceOp, DeviceState, PktgenApp};
pub use error::ControlError;
pub use op::{ArrayRef, ControlOp, Reading};
pub use port::PortMetadata;
pub use replication::{MulticastNode, Replication, ReplicationError};
pub use restore::Scope;
pub use schema::{
    ActionSchema, CounterSchema, KeySchema, MeterSchema, ParamSchema, PortFieldSchema, ProfileSchema,
    RegisterParamSchema, RegisterSchema, Schema, TableSchema, ValueSetSchema,
};
pub use script::{EntryError, Script, Sourced};
pub use state::{ControlState, Entry, EntryId, GroupMember, GroupSlots, ProfileState, TableState, Then};
pub use value::{ValueError, parse_match, parse_value, show_key, show_value};
pub use value_sets::{SetMember, has_match};
pub use ways::{ExactLayout, PartLayout};
