//! Errors of refused operations: each message names the entity, the value found, the values expected, and a
//! fix.

use super::schema::kind_name;
use super::{DeviceError, ReplicationError};
use sluice_asic::salu::Format;
use sluice_asic::units::Duration;
use sluice_ir::MatchKind;
use sluice_ir::meter_array::MeterConfigError;
use thiserror::Error;

/// Reason why an operation was refused. A refused operation changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "each variant's message says what its fields are")]
pub enum ControlError {
    #[error("the program has no {0}")]
    NoSuchEntity(String),
    #[error(transparent)]
    Replication(#[from] ReplicationError),
    #[error(
        "register `{register}` cannot be cleared in the background, because {chip} has no fast clear; use register_clear, which writes the elements"
    )]
    NoFastClear { register: String, chip: String },
    #[error("the device has no pipe {pipe}; expected 0 to {}", pipes.saturating_sub(1))]
    NoSuchPipe { pipe: u8, pipes: usize },
    #[error("{what} cannot be set for pipe {pipe} alone; leave the pipe out")]
    NotPerPipe { pipe: u8, what: &'static str },
    #[error(
        "table `{table}` has entries in single pipes, so an entry must name its pipe; name one, or delete those entries first"
    )]
    PerPipe { table: String },
    #[error(
        "table `{table}` has entries in all pipes, so it takes no entry in pipe {pipe} alone; leave the pipe out, or delete those entries first"
    )]
    AllPipes { pipe: u8, table: String },
    #[error(
        "the executor of this device uses the same entries in all pipes; pipe {pipe} cannot have separate entries"
    )]
    OneLookup { pipe: u8 },
    #[error("members of value set `{set}` have {} ({fields}), not {found}", counted(*.expected, "field"))]
    ValueArity { set: String, found: usize, expected: usize, fields: String },
    #[error("field `{field}` of value set `{set}` is {width} bits wide; {value:#x} does not fit")]
    ValueTooWide { set: String, field: String, value: u128, width: u16 },
    #[error(
        "field `{field}` of value set `{set}` sets bits that its mask ignores: {value:#x} under mask {mask:#x}; write {mended:#x}"
    )]
    ValueBeyondMask { set: String, field: String, value: u128, mask: u128, mended: u128 },
    #[error("value set `{set}` already has the member {value}; a member is in a set once")]
    DuplicateValue { set: String, value: String },
    #[error("value set `{set}` has no member {value}; write values and masks as they were added")]
    NoSuchValue { set: String, value: String },
    #[error("value set `{set}` is full: it holds {size} members")]
    SetFull { set: String, size: u32 },
    #[error("table `{table}` has no entry {entry}")]
    NoSuchEntry { table: String, entry: u32 },
    #[error("profile `{profile}` has no member {member}; create it first")]
    NoSuchMember { profile: String, member: u32 },
    #[error("profile `{profile}` has no group {group}; create it first")]
    NoSuchGroup { profile: String, group: u32 },
    #[error("group {group} of profile `{profile}` does not contain member {member}")]
    NotInGroup { profile: String, group: u32, member: u32 },
    #[error("table `{table}` is fixed by the program ({entries} const entries) and takes none at run time")]
    ConstTable { table: String, entries: usize },
    #[error("table `{table}` has no key, so it takes no entries; set its default action instead")]
    KeylessTable { table: String },
    #[error("the key of table `{table}` has {} ({columns}), not {found}", counted(*.expected, "column"))]
    KeyArity { table: String, found: usize, expected: usize, columns: String },
    #[error("key `{field}` of table `{table}` is matched {}, but the value given is {}", kind_name(*.expected), kind_name(*.found))]
    KeyKind { table: String, field: String, found: MatchKind, expected: MatchKind },
    #[error("key `{field}` of table `{table}` is {width} bits wide; {value:#x} does not fit")]
    KeyTooWide { table: String, field: String, value: u128, width: u16 },
    #[error(
        "key `{field}` of table `{table}` sets bits that its mask ignores: {value} under mask {mask:#x}; write {mended}"
    )]
    BeyondMask { table: String, field: String, value: String, mask: u128, mended: String },
    #[error(
        "key `{field}` of table `{table}` sets bits beyond its prefix: {value}/{len}; write {mended}/{len}"
    )]
    BeyondPrefix { table: String, field: String, value: String, len: u16, mended: String },
    #[error("key `{field}` of table `{table}` is {width} bits wide; prefix length {len} is larger")]
    PrefixTooLong { table: String, field: String, len: u16, width: u16 },
    #[error(
        "key `{field}` of table `{table}` has the range {lo:#x}..{hi:#x}, which is empty; write the lower bound first"
    )]
    EmptyRange { table: String, field: String, lo: u128, hi: u128 },
    #[error(
        "table `{table}` has {room} TCAM rows for its ranges, {taken} are taken, and this entry takes {rows}; choose ranges with bounds at multiples of 16, or raise the table's size"
    )]
    RangeRows { table: String, room: u64, taken: u64, rows: u64 },
    #[error(
        "table `{table}` has no ternary or range key, so its entries have no priority; leave out priority {priority}"
    )]
    PriorityUnused { table: String, priority: u32 },
    #[error("table `{table}` already has this key{}: entry {entry} ({key}); modify or delete that entry", with_priority(.priority))]
    Duplicate { table: String, entry: u32, key: String, priority: Option<u32> },
    #[error("table `{table}` is full: it holds {size} entries")]
    TableFull { table: String, size: u32 },
    #[error(
        "table `{table}` is full at {live} of {size} entries: the key's rows are taken in all ways, and the driver finds no \
         free row in {moves} moves (see `sluice explain mau.exact_moves`); give the table a larger size"
    )]
    WaysFull { table: String, live: usize, size: u32, moves: u32 },
    #[error(
        "table `{table}` takes members or groups of profile `{profile}`, not actions; name a member or a group"
    )]
    NeedsProfile { table: String, profile: String },
    #[error("table `{table}` has no action profile, so its entries name an action, not a member or group")]
    NoProfile { table: String },
    #[error("profile `{profile}` has no selector, so it has no groups; name a member")]
    NoSelector { profile: String },
    #[error("the default action of table `{table}` is constant: `{action}`")]
    ConstantDefault { table: String, action: String },
    #[error("action `{action}` is not one of table `{table}`'s actions: {listed}")]
    ActionNotListed { table: String, action: String, listed: String },
    #[error("action `{action}` takes {} ({params}), not {found}", counted(*.expected, "argument"))]
    ArgCount { action: String, found: usize, expected: usize, params: String },
    #[error("argument `{param}` of action `{action}` is {width} bits wide; {value:#x} does not fit")]
    ArgTooWide { action: String, param: String, value: u128, width: u16 },
    #[error("profile `{profile}` is full: it holds {size} members")]
    ProfileFull { profile: String, size: u32 },
    #[error("profile `{profile}` is full: its selector holds {groups} groups")]
    GroupsFull { profile: String, groups: u32 },
    #[error(
        "group {group} of profile `{profile}` would have {slots} slots (the sum of its weights); the limit is {limit}"
    )]
    GroupTooLarge { profile: String, group: u32, slots: u64, limit: u32 },
    #[error(
        "member {member} of group {group} of profile `{profile}` has weight 0; use at least 1, or leave the member out"
    )]
    ZeroWeight { profile: String, group: u32, member: u32 },
    #[error(
        "group {group} of profile `{profile}` names member {member} twice; name it once and add up the weights"
    )]
    MemberTwice { profile: String, group: u32, member: u32 },
    #[error("member {member} of profile `{profile}` is used by {user}; change that first")]
    MemberInUse { profile: String, member: u32, user: String },
    #[error("group {group} of profile `{profile}` is used by {user}; change that first")]
    GroupInUse { profile: String, group: u32, user: String },
    #[error("table `{table}` does not age its entries, so they have no time to live")]
    NoAgeing { table: String },
    #[error(
        "table `{table}` is polled for idle entries, so they have no time to live; read their age instead"
    )]
    TtlPolled { table: String },
    #[error(
        "a time to live of {ttl} is {sweeps} sweeps of table `{table}`; its {bits} bits can count at most {longest}; choose a shorter time"
    )]
    TtlTooLong { table: String, ttl: Duration, sweeps: u64, bits: u8, longest: Duration },
    #[error("counter `{counter}` has no cell {index}; it has {size} cells, from 0")]
    CounterIndex { counter: String, index: u32, size: usize },
    #[error("the program has no port metadata")]
    NoPortMetadata,
    #[error("dev_port {port} does not exist; expected 0 to {most}")]
    NoSuchDevPort { port: u16, most: u16 },
    #[error("port metadata of port {port} has {} ({fields}), not {found}", counted(*.expected, "field"))]
    PortMetadataArity { port: u16, found: usize, expected: usize, fields: String },
    #[error("port metadata `{field}` is {width} bits wide; {value:#x} for port {port} does not fit")]
    PortMetadataTooWide { port: u16, field: String, value: u128, width: u16 },
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error("register `{register}` has no element {index}; it has {size} elements, from 0")]
    RegisterIndex { register: String, index: u32, size: u32 },
    #[error(
        "elements of register `{register}` are {format}; {value:#x} does not fit the {bits} bits of {half}"
    )]
    RegisterValue { register: String, format: Format, value: u64, bits: u32, half: &'static str },
    #[error("meter `{meter}` has no cell {index}; it has {size} cells, from 0")]
    MeterIndex { meter: String, index: u32, size: u32 },
    #[error("meter `{meter}`: {error}")]
    Meter { meter: String, error: MeterConfigError },
    #[error("register `{register}` has no parameter {param}; it has {has}, from 0")]
    NoParam { register: String, param: u8, has: usize },
    #[error("parameter `{param}` of register `{register}` is at most {most}; {value} does not fit")]
    ParamValue { register: String, param: String, value: u32, most: u32 },
}

impl ControlError {
    /// Returns true if the operation names an entry, member or group that does not exist.
    pub(super) const fn is_missing(&self) -> bool {
        matches!(
            self,
            ControlError::NoSuchEntry { .. }
                | ControlError::NoSuchMember { .. }
                | ControlError::NoSuchGroup { .. }
                | ControlError::NotInGroup { .. }
        )
    }
}

fn with_priority(priority: &Option<u32>) -> String {
    priority.map_or(String::new(), |p| format!(" at priority {p}"))
}

/// Returns a count with its noun: `1 argument`, `2 arguments`.
fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
