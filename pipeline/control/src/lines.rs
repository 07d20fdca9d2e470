//! Entries as lines of commands, in the style of the run-time command files of software switches.
//!
//! ```text
//! # comments and empty lines are skipped
//! act_prof_create_member PROFILE ACTION arg..      members are numbered from 0 in the order of the file
//! act_prof_create_group PROFILE                    groups are numbered in the same way
//! act_prof_add_member_to_group PROFILE MEMBER GROUP   repeat for each further slot (WCMP)
//! act_prof_set_group PROFILE GROUP MEMBER..        replaces the members of an existing group
//! table_add TABLE ACTION key.. => arg.. [priority]
//! table_indirect_add TABLE key.. => MEMBER [priority]
//! table_indirect_add_with_group TABLE key.. => GROUP [priority]
//! table_set_default TABLE ACTION arg..
//! table_modify TABLE ACTION ENTRY arg..            ENTRY is an entry's number in its table
//! table_delete TABLE ENTRY
//! table_set_timeout TABLE ENTRY TIME               time to live without a hit, such as 50ms; 0ms: never expires
//! value_set_add SET value..                        a member of a value set of the parser; one value per field, as ternary keys
//! value_set_delete SET value..
//! counter_reset COUNTER [INDEX]
//! register_write REGISTER INDEX VALUE [HIGH]      registers, meters and readings: see below
//! mirroring_add SESSION PORT                       a dev_port; other settings of a session need the TOML form
//! port_metadata_set PORT value..                   a dev_port; one value per field of the port metadata
//! pktgen_write_buffer PIPE OFFSET BYTES            hexadecimal digits
//! pktgen_set_app PIPE APP KEY=VALUE..              the keys of the TOML form
//! pktgen_enable PIPE APP                           and pktgen_disable
//! port_down PORT                                   and port_up
//! port_pfc PORT mac|program                        the unit that obeys and sends PFC frames
//! port_shaper PORT RATE:BURST|off                  maximum rate
//! queue_shaper PORT QUEUE RATE:BURST|off           maximum rate
//! queue_guarantee PORT QUEUE RATE:BURST PRIORITY   minimum rate; and queue_guarantee PORT QUEUE off
//! queue_schedule PORT QUEUE PRIORITY WEIGHT        strict priority 0 to 7, DWRR weight 0 to 1023
//! queue_pause PORT QUEUE                           and queue_resume
//! queue_flow_control PORT QUEUE xoff|credit|off
//! deflection_set PIPE PORT QUEUE                   target of packets that would be dropped; and deflection_clear PIPE
//! in_pipe PIPE COMMAND ..                          applies a command on tables or arrays to one pipe only
//! ```
//!
//! Arrays: `register_write NAME INDEX VALUE [HIGH]`, `register_param_set NAME PARAMETER VALUE`,
//! `register_clear NAME [INDEX]`, `register_fast_clear NAME [BUSY]`, `register_read NAME [INDEX]`,
//! `counter_read NAME [INDEX]`, `meter_set_rates NAME INDEX RATE:BURST RATE:BURST`,
//! `lpf_set NAME INDEX sample|rate RISE [FALL] [SHIFT]`, `wred_set NAME INDEX MIN MAX PERCENT [TIME]`,
//! `meter_clear NAME [INDEX]`. `*` as INDEX means all cells.
//!
//! A file of *changes* has the same commands, each after the time at which it takes effect:
//!
//! ```text
//! @1.5ms table_delete ipv4_route 3
//! @2ms   table_set_default ipv4_route ipv4_drop
//! ```
//!
//! Keys and arguments are written as for [`parse_match`](super::parse_match), without spaces inside
//! (`0x50&&&0xf0`). A port is a dev_port (`136` or `dev_port:136`), or a port of the front panel (`port:8`) if the reader knows
//! the device. An entry of a table with a ternary or range key needs a priority; the lowest number wins.

mod device;

use super::array_cells as cells;
use super::check::{has_priority, ordered_kind};
use super::resolve::{Problem, Resolver};
use super::value_sets;
use super::{Change, ControlError, ControlOp, ControlState, EntryError, GroupMember, Script, Sourced, Then};
use sluice_asic::port::{DevPort, PortMap};
use sluice_asic::tm::MirrorSession;
use sluice_asic::units::{Duration, UnitError};
use sluice_ir::entity::EntityMap;
use sluice_ir::{KeyValue, Profile, Program, TableData};

/// Largest number of pipes of a chip (model: chip §1.1).
pub(super) const PIPES: u8 = 4;

/// Commands and their usage.
const COMMANDS: [(&str, &str); 35] = [
    ("act_prof_add_member_to_group", "PROFILE MEMBER GROUP"),
    ("act_prof_create_group", "PROFILE"),
    ("act_prof_create_member", "PROFILE ACTION arg.."),
    ("act_prof_member_down", "PROFILE MEMBER GROUP"),
    ("act_prof_member_up", "PROFILE MEMBER GROUP"),
    ("act_prof_set_group", "PROFILE GROUP MEMBER.."),
    ("counter_reset", "COUNTER [INDEX]"),
    ("deflection_clear", "PIPE"),
    ("deflection_set", "PIPE PORT QUEUE"),
    ("in_pipe", "PIPE COMMAND .."),
    ("mirroring_add", "SESSION PORT"),
    ("pktgen_disable", "PIPE APP"),
    ("pktgen_enable", "PIPE APP"),
    ("pktgen_set_app", "PIPE APP KEY=VALUE.."),
    ("pktgen_write_buffer", "PIPE OFFSET BYTES"),
    ("port_down", "PORT"),
    ("port_metadata_set", "PORT value.."),
    ("port_pfc", "PORT mac|program"),
    ("port_shaper", "PORT RATE:BURST|off"),
    ("port_up", "PORT"),
    ("queue_flow_control", "PORT QUEUE xoff|credit|off"),
    ("queue_guarantee", "PORT QUEUE RATE:BURST PRIORITY"),
    ("queue_pause", "PORT QUEUE"),
    ("queue_resume", "PORT QUEUE"),
    ("queue_schedule", "PORT QUEUE PRIORITY WEIGHT"),
    ("queue_shaper", "PORT QUEUE RATE:BURST|off"),
    ("table_add", "TABLE ACTION key.. => arg.. [priority]"),
    ("table_delete", "TABLE ENTRY"),
    ("table_indirect_add", "TABLE key.. => MEMBER [priority]"),
    ("table_indirect_add_with_group", "TABLE key.. => GROUP [priority]"),
    ("table_modify", "TABLE ACTION ENTRY arg.."),
    ("table_set_default", "TABLE ACTION arg.."),
    ("table_set_timeout", "TABLE ENTRY TIME"),
    ("value_set_add", "SET value.."),
    ("value_set_delete", "SET value.."),
];

/// Reads a file of commands; `origin` names it in errors.
///
/// # Errors
/// Refuses lines that cannot be read, and returns all of these mistakes in the order of lines. Mistakes that
/// depend on the state (duplicates, capacity, values that do not fit) are found by [`Script::apply`].
pub fn parse(program: &Program, text: &str, origin: &str) -> Result<Script, Vec<EntryError>> {
    complete(before_run(program, None, text, origin))
}

/// Reads a file of commands and applies all of it, or nothing.
///
/// # Errors
/// Refuses lines that cannot be read and operations that the state refuses, and returns all mistakes in the
/// order of lines.
pub fn load(
    program: &Program,
    text: &str,
    origin: &str,
    control: &mut ControlState,
) -> Result<Vec<Change>, Vec<EntryError>> {
    let (script, errors) = before_run(program, None, text, origin);
    script.apply_beside(program, control, errors)
}

/// Like [`load`], for a device with these ports: front-panel ports have names. Returns the script, which was applied.
///
/// # Errors
/// Those of [`load`].
pub fn load_on(
    program: &Program,
    ports: &PortMap,
    text: &str,
    origin: &str,
    control: &mut ControlState,
) -> Result<Script, Vec<EntryError>> {
    let (script, errors) = before_run(program, Some(ports), text, origin);
    script.apply_beside(program, control, errors).map(|_| script)
}

/// Reads commands that take effect at once, without a time.
fn before_run(
    program: &Program,
    ports: Option<&PortMap>,
    text: &str,
    origin: &str,
) -> (Script, Vec<EntryError>) {
    let (script, mut errors) = read(program, ports, text, origin, |words| Ok((Duration::ZERO, words)));
    let reads = script.ops.iter().filter(|sourced| matches!(sourced.op, ControlOp::Read { .. }));
    errors.extend(reads.map(|sourced| EntryError {
        origin: origin.to_owned(),
        line: sourced.line,
        text: "cells can be read only during the run".to_owned(),
        help: "put the command into a file of changes, after its time: `@1ms register_read ..`".to_owned(),
    }));
    errors.sort_by_key(|e| e.line);
    (script, errors)
}

fn complete((script, errors): (Script, Vec<EntryError>)) -> Result<Script, Vec<EntryError>> {
    if errors.is_empty() { Ok(script) } else { Err(errors) }
}

/// Reads a file of changes: commands with the time, from the start of the run, at which each takes effect.
/// The script is sorted by time; members and groups are numbered in the order of the file.
///
/// # Errors
/// Refuses the same lines as [`parse`], and lines without a time. [`Script::check`] checks the changes
/// against the entries that they will find.
pub fn parse_changes(program: &Program, text: &str, origin: &str) -> Result<Script, Vec<EntryError>> {
    changes(program, None, text, origin)
}

/// Like [`parse_changes`], for a device with these ports: front-panel ports have names.
///
/// # Errors
/// Those of [`parse_changes`].
pub fn parse_changes_on(
    program: &Program,
    ports: &PortMap,
    text: &str,
    origin: &str,
) -> Result<Script, Vec<EntryError>> {
    changes(program, Some(ports), text, origin)
}

fn changes(
    program: &Program,
    ports: Option<&PortMap>,
    text: &str,
    origin: &str,
) -> Result<Script, Vec<EntryError>> {
    let (mut script, errors) = read(program, ports, text, origin, |words| {
        let help = "write the time from the start of the run first, such as `@1.5ms table_delete ..`";
        let (first, rest) = words.split_first().unwrap_or((&"", &[]));
        let Some(time) = first.strip_prefix('@') else {
            return Err(Problem {
                text: format!("a line must start with its time, found `{first}`"),
                help: help.to_owned(),
            });
        };
        let refused = |e: UnitError| Problem { text: e.to_string(), help: help.to_owned() };
        time.parse().map(|at| (at, rest)).map_err(refused)
    });
    script.ops.sort_by_key(|sourced| sourced.at);
    complete((script, errors))
}

/// Reads commands; `time` splits the time off the words of a line.
fn read(
    program: &Program,
    ports: Option<&PortMap>,
    text: &str,
    origin: &str,
    time: impl for<'w> Fn(&'w [&'w str]) -> Result<(Duration, &'w [&'w str]), Problem>,
) -> (Script, Vec<EntryError>) {
    let mut reader = Reader {
        resolver: Resolver { program, ports, loose: false },
        profiles: EntityMap::filled(program.profiles.len(), |_| Numbered::default()),
    };
    let mut script = Script { origin: origin.to_owned(), ops: Vec::new() };
    let mut errors = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let words: Vec<&str> = text.split('#').next().unwrap_or("").split_whitespace().collect();
        if words.is_empty() {
            continue;
        }
        let sourced = time(&words).and_then(|(at, words)| {
            let (command, rest) = words.split_first().unwrap_or((&"", &[]));
            reader.command(command, rest).map(|op| Sourced { line, op, at })
        });
        match sourced {
            Ok(sourced) => script.ops.push(sourced),
            Err(Problem { text, help }) => {
                errors.push(EntryError { origin: origin.to_owned(), line, text, help })
            }
        }
    }
    (script, errors)
}

/// Members and groups that the file has created so far.
#[derive(Default)]
struct Numbered {
    members: u32,
    groups: Vec<Vec<GroupMember>>,
}

struct Reader<'a> {
    resolver: Resolver<'a>,
    profiles: EntityMap<Profile, Numbered>,
}

impl Reader<'_> {
    fn command(&mut self, command: &str, words: &[&str]) -> Result<ControlOp, Problem> {
        match (command, words) {
            ("table_add", [table, action, rest @ ..]) => self.add(table, action, rest),
            ("table_indirect_add", [table, rest @ ..]) => self.add_indirect(table, rest, Then::Member),
            ("table_indirect_add_with_group", [table, rest @ ..]) => {
                self.add_indirect(table, rest, Then::Group)
            }
            ("table_set_default", [table, action, args @ ..]) => {
                let table = self.resolver.table(table)?.0;
                let args: Vec<&str> = args.iter().copied().filter(|a| *a != "=>").collect();
                let call = self.resolver.call(action, &args, &self.resolver.default_actions(table))?;
                Ok(ControlOp::SetDefault { table, call })
            }
            ("table_modify", [table, action, entry, args @ ..]) => {
                let (table, data) = self.resolver.table(table)?;
                let args: Vec<&str> = args.iter().copied().filter(|a| *a != "=>").collect();
                let then = Then::Call(self.resolver.call(action, &args, &data.actions)?);
                Ok(ControlOp::ModifyEntry { table, entry: number("entry", entry)?, then })
            }
            ("table_delete", [table, entry]) => Ok(ControlOp::DeleteEntry {
                table: self.resolver.table(table)?.0,
                entry: number("entry", entry)?,
            }),
            ("table_set_timeout", [table, entry, ttl]) => {
                let (table, entry) = (self.resolver.table(table)?.0, number("entry", entry)?);
                let ttl: Duration = ttl.parse().map_err(|e: UnitError| Problem::new(e.to_string()))?;
                Ok(ControlOp::SetEntryTtl { table, entry, ttl: Some(ttl) })
            }
            ("act_prof_create_member", [profile, action, args @ ..]) => {
                self.create_member(profile, action, args)
            }
            ("act_prof_create_group", [profile]) => self.create_group(profile),
            ("act_prof_add_member_to_group", [profile, member, group]) => {
                self.add_to_group(profile, member, group)
            }
            ("act_prof_set_group", [profile, group, members @ ..]) => {
                let profile = self.resolver.profile(profile)?;
                let mut list: Vec<GroupMember> = Vec::new();
                for member in members {
                    add_slot(&mut list, number("member", member)?);
                }
                Ok(ControlOp::SetGroup { profile, group: number("group", group)?, members: list })
            }
            ("act_prof_member_down" | "act_prof_member_up", [profile, member, group]) => {
                Ok(ControlOp::SetMemberActive {
                    profile: self.resolver.profile(profile)?,
                    group: number("group", group)?,
                    member: number("member", member)?,
                    active: command == "act_prof_member_up",
                })
            }
            ("in_pipe", [pipe, command, rest @ ..]) => {
                let wrong = || Problem::new(format!("`{pipe}` is not a pipe; expected 0 to 3"));
                let pipe = pipe.parse().ok().filter(|p| *p < PIPES).ok_or_else(wrong)?;
                Ok(self.command(command, rest)?.in_pipe(Some(pipe)))
            }
            ("counter_reset", [counter]) => {
                Ok(ControlOp::ClearCounter { counter: self.resolver.counter(counter)?, index: None })
            }
            ("counter_reset", [counter, index]) => {
                let (counter, index) = (self.resolver.counter(counter)?, number("cell", index)?);
                Ok(ControlOp::ClearCounter { counter, index: Some(index) })
            }
            ("mirroring_add", [session, port]) => mirror(session, &self.resolver.plain(port)?),
            ("port_metadata_set", [port, values @ ..]) => self.port_metadata(port, values),
            _ if command.starts_with("pktgen_")
                || command.starts_with("port_")
                || command.starts_with("queue_")
                || command.starts_with("deflection_") =>
            {
                device::command(self.resolver, command, words)?
                    .map(ControlOp::Device)
                    .ok_or_else(|| misused(command))
            }
            _ => value_sets::command(self.resolver, command, words)
                .or_else(|| cells::command(self.resolver, command, words))
                .unwrap_or_else(|| Err(misused(command))),
        }
    }

    fn port_metadata(&self, port: &str, values: &[&str]) -> Result<ControlOp, Problem> {
        let port = &*self.resolver.plain(port)?;
        let number = number("dev_port", port)?;
        let unknown =
            || Problem::new(format!("`{port}` is not a dev_port; expected 0 to {}", DevPort::COUNT - 1));
        let port = u16::try_from(number).ok().filter(|p| *p < DevPort::COUNT).ok_or_else(unknown)?;
        let fields: Vec<_> = self.resolver.program.port_metadata().map(|(_, f)| f).collect();
        if fields.len() != values.len() {
            let names: Vec<&str> = fields.iter().map(|f| f.name.as_str()).collect();
            let (found, expected) = (values.len(), names.len());
            let error = ControlError::PortMetadataArity { port, found, expected, fields: names.join(", ") };
            return Err(Problem::new(error.to_string()));
        }
        let values = fields.iter().zip(values).map(|(f, text)| self.resolver.port_value(f, text));
        Ok(ControlOp::SetPortMetadata { port, values: values.collect::<Result<_, _>>()? })
    }

    fn add(&self, table: &str, action: &str, rest: &[&str]) -> Result<ControlOp, Problem> {
        let (table, data) = self.resolver.table(table)?;
        let (key, tail) = self.key(data, rest)?;
        let params = self.resolver.action(action, &data.actions)?.1.params.len();
        let (args, priority) = priority(data, tail, params)?;
        let then = Then::Call(self.resolver.call(action, args, &data.actions)?);
        Ok(ControlOp::InsertEntry { table, key, priority, then })
    }

    fn add_indirect(&self, table: &str, rest: &[&str], then: fn(u32) -> Then) -> Result<ControlOp, Problem> {
        let (table, data) = self.resolver.table(table)?;
        let (key, tail) = self.key(data, rest)?;
        let (handle, priority) = priority(data, tail, 1)?;
        let [handle] = handle else {
            return Err(Problem::new(format!(
                "expected one member or group number after =>, found {}",
                handle.len()
            )));
        };
        Ok(ControlOp::InsertEntry { table, key, priority, then: then(number("member or group", handle)?) })
    }

    /// Parses the key columns before `=>`; returns them and the words after it.
    fn key<'w, 's>(
        &self,
        data: &TableData,
        words: &'w [&'s str],
    ) -> Result<(Vec<KeyValue>, &'w [&'s str]), Problem> {
        let arrow = words.iter().position(|w| *w == "=>").unwrap_or(words.len());
        let (columns, tail) = words.split_at(arrow);
        if columns.len() != data.keys.len() {
            let names: Vec<String> = data.keys.iter().map(|k| k.name(self.resolver.program)).collect();
            let error = ControlError::KeyArity {
                table: data.name.clone(),
                found: columns.len(),
                expected: names.len(),
                columns: names.join(", "),
            };
            return Err(Problem {
                text: error.to_string(),
                help:
                    "the key ends at =>, which is needed even if no argument follows; write masks without spaces"
                        .to_owned(),
            });
        }
        let key = columns.iter().enumerate().map(|(i, text)| self.resolver.key_value(data, i, text));
        Ok((key.collect::<Result<_, _>>()?, tail.get(1..).unwrap_or_default()))
    }

    fn create_member(&mut self, profile: &str, action: &str, args: &[&str]) -> Result<ControlOp, Problem> {
        let profile = self.resolver.profile(profile)?;
        let member = self.profiles[profile].members;
        // A refused member keeps its number, so that later lines keep their meaning.
        self.profiles[profile].members += 1;
        let call = self.resolver.call(action, args, &self.resolver.profile_actions(profile))?;
        Ok(ControlOp::SetMember { profile, member, call })
    }

    fn create_group(&mut self, profile: &str) -> Result<ControlOp, Problem> {
        let profile = self.resolver.profile(profile)?;
        let groups = &mut self.profiles[profile].groups;
        groups.push(Vec::new());
        Ok(ControlOp::SetGroup { profile, group: groups.len() as u32 - 1, members: Vec::new() })
    }

    fn add_to_group(&mut self, profile: &str, member: &str, group: &str) -> Result<ControlOp, Problem> {
        let name = profile;
        let profile = self.resolver.profile(profile)?;
        let (member, group) = (number("member", member)?, number("group", group)?);
        let Some(members) = self.profiles[profile].groups.get_mut(group as usize) else {
            return Err(Problem::new(format!(
                "no line before this one created group {group} of profile `{name}`"
            )));
        };
        add_slot(members, member);
        Ok(ControlOp::SetGroup { profile, group, members: members.clone() })
    }
}

/// Gives a member one more slot.
fn add_slot(members: &mut Vec<GroupMember>, member: u32) {
    match members.iter_mut().find(|m| m.member == member) {
        Some(m) => m.weight += 1,
        None => members.push(GroupMember { member, weight: 1, active: true }),
    }
}

/// Splits off the priority after the `args` words, if the table has priorities.
fn priority<'w, 's>(
    data: &TableData,
    words: &'w [&'s str],
    args: usize,
) -> Result<(&'w [&'s str], u32), Problem> {
    if !has_priority(data) {
        return Ok((words, 0));
    }
    match words.split_last() {
        Some((priority, rest)) if rest.len() == args => Ok((rest, number("priority", priority)?)),
        _ if words.len() == args => Err(Problem {
            text: format!(
                "table `{}` has a {} key, so its entries need a priority, and there is none",
                data.name,
                ordered_kind(data)
            ),
            help: "add a number at the end of the line; lower wins".to_owned(),
        }),
        _ => Ok((words, 0)),
    }
}

fn number(what: &str, text: &str) -> Result<u32, Problem> {
    text.parse()
        .map_err(|_| Problem::new(format!("`{text}` is not a {what} number; expected 0 to {}", u32::MAX)))
}

fn mirror(session: &str, port: &str) -> Result<ControlOp, Problem> {
    let small = |what, text| {
        let number = number(what, text)?;
        let most = u16::MAX;
        u16::try_from(number)
            .map_err(|_| Problem::new(format!("{what} {number} is too large; at most {most}")))
    };
    let id = small("mirror session", session)?;
    let unknown =
        || Problem::new(format!("`{port}` is not a dev_port; expected 0 to {}", DevPort::COUNT - 1));
    let port = DevPort::new(small("dev_port", port)?).ok_or_else(unknown)?;
    Ok(ControlOp::SetMirrorSession { id, session: Some(MirrorSession::to_port(port)) })
}

fn misused(command: &str) -> Problem {
    let all = || COMMANDS.iter().chain(&cells::COMMANDS);
    match all().find(|(name, _)| *name == command) {
        Some((name, usage)) => Problem::new(format!("too few or too many words; expected {name} {usage}")),
        None => Problem::unknown("command", command, all().map(|(name, _)| *name)),
    }
}
