//! A control-plane state as a TOML file that [`toml::parse`](super::toml::parse) reads back.

use super::app_words::{hex, show};
use super::check::has_priority;
use super::device::show_shaper;
use super::ports::{comment, is_port, of_key};
use super::{
    ArrayWrites, ControlState, DeviceState, Entry, GroupMember, ProfileState, Replication, SetMember, Then,
    show_key, show_value,
};
use sluice_asic::meter::LpfMode;
use sluice_asic::port::PortMap;
use sluice_asic::tm::{AfcMode, HashIndex};
use sluice_ir::{ActionCall, KeyValue, MeterConfig, Profile, Program, Table, ValueSetData};
use std::fmt::Write;

/// Prints everything configured in addition to the program's own entries and defaults: members, groups,
/// entries in the order of insertion, changed defaults, mirror sessions, multicast groups and port metadata.
#[must_use]
pub fn print(program: &Program, control: &ControlState) -> String {
    print_state(Of { program, ports: None }, control)
}

/// Like [`print()`], for a device with these ports: comments say which ports the dev_ports are.
#[must_use]
pub fn print_on(program: &Program, ports: &PortMap, control: &ControlState) -> String {
    print_state(Of { program, ports: Some(ports) }, control)
}

/// A program, and the ports of the device if comments name them.
#[derive(Clone, Copy)]
struct Of<'a> {
    program: &'a Program,
    ports: Option<&'a PortMap>,
}

impl Of<'_> {
    /// Returns a comment on dev_ports.
    fn comment<T: Into<u128>>(self, ports: impl IntoIterator<Item = T>) -> String {
        comment(self.ports, ports.into_iter().map(Into::into))
    }
}

fn print_state(of: Of<'_>, control: &ControlState) -> String {
    let program = of.program;
    let mut out = format!("# entries of {}\n", program.name);
    for profile in program.profiles.keys() {
        print_profile(of, profile, &control.profiles[profile], None, &mut out);
    }
    for (table, _) in program.tables.iter().filter(|(_, d)| d.entries.is_empty()) {
        let mut entries: Vec<&Entry> = control.tables[table].entries().map(|(_, e)| e).collect();
        entries.sort_by_key(|e| e.seq);
        entries.iter().for_each(|e| print_entry(of, table, e, &mut out));
    }
    for (table, data) in program.tables.iter().filter(|(t, d)| control.tables[*t].default != d.default) {
        _ = writeln!(out, "\n[default.{}]", quoted(&data.name));
        print_call(of, &control.tables[table].default, &mut out);
    }
    print_replication(of, &control.replication, &mut out);
    for (port, values) in &control.port_metadata {
        let columns = program.port_metadata().zip(values).map(|((_, f), v)| {
            format!("{} = {}", quoted(&f.name), bare_or_string(&show_value(*v, f.width, &f.name)))
        });
        let columns: Vec<String> = columns.collect();
        _ = writeln!(
            out,
            "\n[[port_metadata]]\nport = {port}{}\nvalues = {{ {} }}",
            of.comment([*port]),
            columns.join(", ")
        );
    }
    for (set, data) in program.value_sets.iter() {
        control.value_sets[set].iter().for_each(|member| print_member(data, member, None, &mut out));
    }
    print_device(of, &control.device, &mut out);
    print_arrays(program, &control.arrays, None, &mut out);
    for (pipe, own) in control.own_pipes() {
        print_pipe(of, control, pipe, own, &mut out);
    }
    out
}

/// Prints a member of a value set.
fn print_member(data: &ValueSetData, member: &SetMember, pipe: Option<u8>, out: &mut String) {
    let fields = data.fields.iter().zip(member).filter(|(_, (_, mask))| *mask != 0);
    let fields = fields.map(|(field, &(value, mask))| {
        let key = show_key(KeyValue::Ternary { value, mask }, field.width, &field.name);
        format!("{} = {}", quoted(&field.name), bare_or_string(&key))
    });
    let fields: Vec<String> = fields.collect();
    _ = writeln!(out, "\n[[value_set.{}]]\nkey = {{ {} }}", quoted(&data.name), fields.join(", "));
    print_of(pipe, out);
}

/// Prints the settings that one pipe has in addition to those of all pipes.
fn print_pipe(of: Of<'_>, all: &ControlState, pipe: u8, own: &ControlState, out: &mut String) {
    let program = of.program;
    for profile in program.profiles.keys() {
        let mut only = own.profiles[profile].clone();
        let common = &all.profiles[profile];
        only.members.retain(|id, call| common.members.get(id) != Some(call));
        only.groups.retain(|id, members| common.groups.get(id) != Some(members));
        print_profile(of, profile, &only, Some(pipe), out);
    }
    for table in program.tables.keys().filter(|t| all.is_per_pipe(*t)) {
        let mut entries: Vec<&Entry> = own.tables[table].entries().map(|(_, e)| e).collect();
        entries.sort_by_key(|e| e.seq);
        for entry in entries {
            print_entry(of, table, entry, out);
            print_of(Some(pipe), out);
        }
    }
    for (table, data) in program.tables.iter() {
        let default = &own.tables[table].default;
        if *default != all.tables[table].default {
            _ = writeln!(out, "\n[[default_in_pipe.{}]]", quoted(&data.name));
            print_call(of, default, out);
            print_of(Some(pipe), out);
        }
    }
    for (set, data) in program.value_sets.iter() {
        let common = &all.value_sets[set];
        let only = own.value_sets[set].iter().filter(|member| !common.contains(member));
        only.for_each(|member| print_member(data, member, Some(pipe), out));
    }
    print_arrays(program, &own.arrays.differences_from(&all.arrays), Some(pipe), out);
}

/// Prints the pipe of the TOML table above, unless it applies to all pipes.
fn print_of(pipe: Option<u8>, out: &mut String) {
    pipe.inspect(|pipe| _ = writeln!(out, "pipe = {pipe}"));
}

/// Prints register writes and meter configurations that differ from the program's initial values.
fn print_arrays(program: &Program, arrays: &ArrayWrites, pipe: Option<u8>, out: &mut String) {
    for ((register, index), value) in &arrays.registers {
        let data = &program.registers[*register];
        let value = value.unwrap_or(data.first());
        _ = writeln!(out, "\n[[register.{}]]", quoted(&data.name));
        index.inspect(|i| _ = writeln!(out, "index = {i}"));
        if data.format.is_pair() {
            _ = writeln!(out, "value = \"{:#x}\"\nhigh = \"{:#x}\"", value.lo, value.hi);
        } else {
            _ = writeln!(out, "value = \"{:#x}\"", value.to_word());
        }
        print_of(pipe, out);
    }
    for ((register, param), value) in &arrays.params {
        let data = &program.registers[*register];
        let name = data.params.get(usize::from(*param)).map_or("", |p| p.name.as_str());
        _ = writeln!(out, "\n[[register.{}]]\nparam = {}\nvalue = {value}", quoted(&data.name), string(name));
        print_of(pipe, out);
    }
    for ((meter, index), config) in &arrays.meters {
        _ = writeln!(out, "\n[[meter.{}]]", quoted(&program.meters[*meter].name));
        index.inspect(|i| _ = writeln!(out, "index = {i}"));
        match config {
            None => _ = writeln!(out, "open = true"),
            Some(MeterConfig::Rates { committed, committed_burst, peak, peak_burst }) => {
                _ = writeln!(out, "committed = \"{committed}:{committed_burst}\"");
                _ = writeln!(out, "peak = \"{peak}:{peak_burst}\"");
            }
            Some(MeterConfig::Lpf(f)) => {
                let mode = if f.mode == LpfMode::Sample { "sample" } else { "rate" };
                _ = writeln!(out, "mode = \"{mode}\"\nrise = \"{}\"", f.rise);
                _ = writeln!(out, "fall = \"{}\"\nshift = {}", f.fall, f.shift);
            }
            Some(MeterConfig::Wred { min, max, probability, average }) => {
                _ = writeln!(out, "min = {min}\nmax = {max}\npercent = {probability}");
                average.inspect(|f| _ = writeln!(out, "average = \"{}\"", f.rise));
            }
        }
        print_of(pipe, out);
    }
}

fn print_replication(of: Of<'_>, state: &Replication, out: &mut String) {
    for (id, s) in &state.sessions {
        _ = writeln!(out, "\n[[mirror]]\nsession = {id}");
        s.port.inspect(|p| _ = writeln!(out, "port = {}{}", p.number(), of.comment([p.number()])));
        _ = writeln!(out, "queue = {}\ncos = {}\nmax_length = {}", s.qid, s.cos, s.max_length);
        let groups: Vec<String> = s.groups.iter().flatten().map(ToString::to_string).collect();
        if !groups.is_empty() {
            _ = writeln!(out, "groups = [{}]", groups.join(", "));
        }
        let o = s.overrides;
        let words = [
            ("port", o.port),
            ("cos", o.cos),
            ("multicast", o.multicast),
            ("deflect_on_drop", o.deflect_on_drop),
            ("hash_1", o.hash == Some(HashIndex::First)),
            ("hash_2", o.hash == Some(HashIndex::Second)),
        ];
        let words: Vec<&str> = words.iter().filter(|(_, on)| *on).map(|(word, _)| *word).collect();
        if !words.is_empty() {
            _ = writeln!(out, "overrides = [\"{}\"]", words.join("\", \""));
        }
        if s.hashes != [0, 0] {
            _ = writeln!(out, "hashes = [{}, {}]", s.hashes[0], s.hashes[1]);
        }
        if s.deflect_on_drop {
            _ = writeln!(out, "deflect_on_drop = true");
        }
        for (key, _) in [("ingress", s.ingress), ("egress", s.egress)].iter().filter(|(_, on)| !on) {
            _ = writeln!(out, "{key} = false");
        }
    }
    let ports = |list: &[u16]| list.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    for (id, nodes) in &state.groups {
        _ = writeln!(out, "\n[[multicast]]\ngroup = {id}\nnodes = [");
        for node in nodes {
            let exclusion = node.level1_exclusion.map(|x| format!(", level1_exclusion = {x}"));
            let (rid, list, exclusion) = (node.rid, ports(&node.ports), exclusion.unwrap_or_default());
            let one_of = if node.one_of { ", one_of = true" } else { "" };
            let ecmp = node.ecmp.map(|n| format!(", ecmp = {n}")).unwrap_or_default();
            _ = writeln!(
                out,
                "  {{ rid = {rid}, ports = [{list}]{exclusion}{one_of}{ecmp} }},{}",
                of.comment(node.ports.clone())
            );
        }
        _ = writeln!(out, "]");
    }
    for (id, list) in &state.exclusions {
        _ = writeln!(
            out,
            "\n[[exclusion]]\nid = {id}\nports = [{}]{}",
            ports(list),
            of.comment(list.clone())
        );
    }
}

fn print_device(of: Of<'_>, state: &DeviceState, out: &mut String) {
    let named = |port: &u16| format!("{port}{}", of.comment([*port]));
    for (pipe, bytes) in &state.buffers {
        _ = writeln!(out, "\n[[pktgen_buffer]]\npipe = {pipe}\nbytes = \"{}\"", hex(bytes));
    }
    for ((pipe, app), a) in &state.apps {
        _ = writeln!(out, "\n[[pktgen]]\npipe = {pipe}\napp = {app}\nenabled = {}", a.enabled);
        for (key, value) in show(&a.config) {
            _ = writeln!(out, "{key} = {}", bare_or_string(&value));
        }
    }
    for port in &state.down {
        _ = writeln!(out, "\n[[port]]\nport = {}\nup = false", named(port));
    }
    for port in &state.program_pfc {
        _ = writeln!(out, "\n[[port]]\nport = {}\npfc = \"program\"", named(port));
    }
    for ((port, queue), mode) in &state.flow_control {
        let mode = if *mode == AfcMode::Xoff { "xoff" } else { "credit" };
        _ = writeln!(out, "\n[[queue]]\nport = {}\nqueue = {queue}\nflow_control = \"{mode}\"", named(port));
    }
    for (port, most) in &state.port_shapers {
        _ = writeln!(out, "\n[[port]]\nport = {}\nmax = \"{}\"", named(port), show_shaper(most));
    }
    for ((port, queue), most) in &state.queue_shapers {
        _ = writeln!(
            out,
            "\n[[queue]]\nport = {}\nqueue = {queue}\nmax = \"{}\"",
            named(port),
            show_shaper(most)
        );
    }
    for ((port, queue), g) in &state.guarantees {
        let min = show_shaper(&g.shaper);
        _ = writeln!(
            out,
            "\n[[queue]]\nport = {}\nqueue = {queue}\nmin = \"{min}\"\nmin_priority = {}",
            named(port),
            g.priority
        );
    }
    for ((port, queue), (priority, weight)) in &state.schedules {
        _ = writeln!(
            out,
            "\n[[queue]]\nport = {}\nqueue = {queue}\npriority = {priority}\nweight = {weight}",
            named(port)
        );
    }
    for (pipe, (port, queue)) in &state.deflections {
        _ = writeln!(out, "\n[[deflection]]\npipe = {pipe}\nport = {}\nqueue = {queue}", named(port));
    }
    for (port, queue) in &state.paused {
        _ = writeln!(out, "\n[[queue]]\nport = {}\nqueue = {queue}\npaused = true", named(port));
    }
}

fn print_profile(of: Of<'_>, profile: Profile, state: &ProfileState, pipe: Option<u8>, out: &mut String) {
    let name = quoted(&of.program.profiles[profile].name);
    for (id, call) in &state.members {
        _ = writeln!(out, "\n[[profile.{name}.member]]\nid = {id}");
        print_call(of, call, out);
        print_of(pipe, out);
    }
    for (id, members) in &state.groups {
        let members: Vec<String> = members.iter().map(group_member).collect();
        _ = writeln!(out, "\n[[profile.{name}.group]]\nid = {id}\nmembers = [{}]", members.join(", "));
        print_of(pipe, out);
    }
}

fn group_member(m: &GroupMember) -> String {
    match (m.weight, m.active) {
        (1, true) => m.member.to_string(),
        (weight, true) => format!("{{ member = {}, weight = {weight} }}", m.member),
        (weight, false) => format!("{{ member = {}, weight = {weight}, active = false }}", m.member),
    }
}

fn print_entry(of: Of<'_>, table: Table, entry: &Entry, out: &mut String) {
    let program = of.program;
    let data = &program.tables[table];
    let columns = data.keys.iter().zip(&entry.key).map(|(column, value)| {
        let name = column.name(program);
        format!("{} = {}", quoted(&name), bare_or_string(&show_key(*value, column.width(program), &name)))
    });
    let columns: Vec<String> = columns.collect();
    let ports = data.keys.iter().zip(&entry.key).filter_map(|(column, value)| {
        if is_port(&column.name(program), column.width(program)) { of_key(*value) } else { None }
    });
    let comment = of.comment(ports);
    _ = writeln!(out, "\n[[table.{}]]\nkey = {{ {} }}{comment}", quoted(&data.name), columns.join(", "));
    match &entry.then {
        Then::Call(call) => print_call(of, call, out),
        Then::Member(member) => _ = writeln!(out, "member = {member}"),
        Then::Group(group) => _ = writeln!(out, "group = {group}"),
    }
    if has_priority(data) {
        _ = writeln!(out, "priority = {}", entry.priority);
    }
    if let Some(ttl) = entry.ttl {
        _ = writeln!(out, "ttl = \"{ttl}\"");
    }
}

fn print_call(of: Of<'_>, call: &ActionCall, out: &mut String) {
    let data = &of.program.actions[call.action];
    _ = writeln!(out, "action = {}", string(&data.name));
    if !data.params.is_empty() {
        let args = data.params.iter().zip(&call.args);
        let args = args.map(|(p, v)| {
            format!("{} = {}", quoted(&p.name), bare_or_string(&show_value(*v, p.width, &p.name)))
        });
        let ports = data.params.iter().zip(&call.args).filter(|(p, _)| is_port(&p.name, p.width));
        let comment = of.comment(ports.map(|(_, v)| *v));
        _ = writeln!(out, "args = {{ {} }}{comment}", args.collect::<Vec<_>>().join(", "));
    }
}

/// Returns a TOML key: bare if TOML allows it, otherwise quoted.
pub(super) fn quoted(name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if bare { name.to_owned() } else { string(name) }
}

/// Returns a TOML basic string.
pub(super) fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => _ = write!(out, "\\u{:04x}", u32::from(c)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Returns short decimal numbers bare, and everything else (addresses, prefixes, wide numbers) as a string.
pub(super) fn bare_or_string(text: &str) -> String {
    if text.parse::<u32>().is_ok() { text.to_owned() } else { string(text) }
}
