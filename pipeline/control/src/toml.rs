//! Entries as TOML.
//!
//! ```toml
//! [[profile.nexthops.member]]
//! id = 1
//! action = "set_nexthop"
//! args = { port = 4, dmac = "02:00:00:00:00:04" }   # or positional: [4, "02:00:00:00:00:04"]
//!
//! [[profile.nexthops.group]]
//! id = 7
//! members = [{ member = 1, weight = 3 }, 2]          # 2 is { member = 2, weight = 1 }; active = false: down
//!
//! [[table.ipv4_lpm]]
//! key = { "ipv4.dst" = "10.1.0.0/16" }               # full field name, or its last part: { dst = … }
//! group = 7                                          # or member = 1, or action = "…" and args
//! priority = 10                                      # tables with a ternary or range key only
//! ttl = "50ms"                                       # tables that notify of idle entries only; "0ms": never expires
//! pipe = 1                                           # in that pipe only; left out: in all pipes. Also a key of
//!                                                    # members, groups, registers and meters
//!
//! [default.ipv4_lpm]
//! action = "drop"
//!
//! [[default_in_pipe.ipv4_lpm]]
//! pipe = 1
//! action = "drop"
//!
//! [[mirror]]                                         # a mirror session
//! session = 3
//! port = 136                                         # dev_port; or groups = [5], or both
//! queue = 1                                          # of that port; cos, ingress = false, egress = false
//! max_length = 128                                   # bytes of the copy, its mirror header included
//! overrides = ["port"]                               # settings that packets override: port (and queue), cos,
//!                                                    # multicast, deflect_on_drop, hash_1 or hash_2
//! hashes = [0, 5]                                    # select multicast members; deflect_on_drop = true
//!
//! [[multicast]]
//! group = 5
//! nodes = [{ rid = 1, ports = [16, 24], level1_exclusion = 9 }, { rid = 2, ports = [32] }]
//!                                                    # one_of = true: a LAG; ecmp = 1: one node of those with 1
//!
//! [[register.flowlet]]                               # without index: all elements
//! index = 3
//! value = 17                                         # of a pair: the low half, with high = ..
//!
//! [[meter.police]]                                   # without index: all cells
//! index = 3
//! committed = "8Mbps:1500"                           # rate and burst; packets: "1000:10"
//! peak = "16Mbps:3000"                               # lpf: mode, rise, fall, shift; wred: min, max, percent, average
//!
//! [[value_set.cpu_ports]]                            # a member of a parser's value set
//! key = { ether_type = "0x9000", port = "0x40&&&0x1c0" }   # values as of ternary keys; a field left out matches all
//!
//! [[exclusion]]                                      # a level-2 exclusion id
//! id = 7
//! ports = [24, 32]
//!
//! [[port_metadata]]                                  # values that the parser of a port's packets gets
//! port = 8                                           # dev_port
//! values = { "port_md.vrf" = 3, kind = 1 }           # full field name, or its last part; others are 0
//!
//! [[pktgen_buffer]]                                  # bytes of generated packets
//! pipe = 0
//! offset = 0                                         # a multiple of 16 for a packet's first byte
//! bytes = "0x0011"
//!
//! [[pktgen]]                                         # an application of a pipe's packet generator
//! pipe = 0
//! app = 1
//! trigger = "periodic"                               # one_shot, port_down, recirculation, request, pfc
//! time = "10us"                                      # or ports = "0,8-15", match = "0x12&&&0xf0", header
//! length = 64                                        # from `offset` of the buffer
//! source_port = 68                                   # source_port_wrap, batches, packets, batch_gap, packet_gap,
//! enabled = true                                     # batch_jitter, packet_jitter, copy_key
//!
//! [[port]]
//! port = 136                                         # dev_port
//! up = false
//! pfc = "program"                                    # or "mac": handles PFC of the port
//!
//! [[queue]]
//! port = 136
//! queue = 3
//! paused = true
//! flow_control = "xoff"                              # or "credit": obeys flow-control words of packets. Tofino 2
//! max = "10Gbps:9216B"                               # maximum rate and burst; ports have `max` too
//! min = "1Gbps:9216B"                                # guaranteed rate and burst, served first
//! min_priority = 7                                   # among guarantees
//! priority = 5                                       # strict; the highest first
//! weight = 10                                        # DWRR among queues of one priority
//!
//! [[deflection]]                                     # target of packets with deflect_on_drop
//! pipe = 0
//! port = 144
//! queue = 0
//! ```
//!
//! A port is a dev_port (`136` or `"dev_port 136"`), or a port of the front panel (`"port 8"`) if the reader knows the device.
//! Values are written as for [`parse_value`](super::parse_value) and [`parse_match`](super::parse_match);
//! integers need no quotes. A ternary, lpm or range column that is left out matches every value. Members are
//! applied first, then groups, entries and defaults, each in the order of the file.

mod arrays;
mod call;
mod device;
mod port;
mod profiles;
mod replication;
mod value;
mod value_sets;

use self::value::{Value, kind_of, start};
use super::lines::PIPES;
use super::resolve::{Problem, Resolver};
use super::{Change, ControlOp, ControlState, EntryError, Script, Sourced, Then};
use ::toml::de::{DeTable, DeValue};
use sluice_asic::port::PortMap;
use sluice_asic::units::{Duration, UnitError};
use sluice_ir::{KeyValue, Program, Table, TableData};

/// Reads a TOML file; `origin` names it in errors.
///
/// # Errors
/// Refuses parts that cannot be read, and returns all of these mistakes in the order of lines. Mistakes that
/// depend on the state (duplicates, capacity, values that do not fit) are found by [`Script::apply`].
pub fn parse(program: &Program, text: &str, origin: &str) -> Result<Script, Vec<EntryError>> {
    let (script, errors) = read(program, None, text, origin);
    if errors.is_empty() { Ok(script) } else { Err(errors) }
}

/// Reads a TOML file and applies all of it, or nothing.
///
/// # Errors
/// Refuses parts that cannot be read and operations that the state refuses, and returns all mistakes in the
/// order of lines.
pub fn load(
    program: &Program,
    text: &str,
    origin: &str,
    control: &mut ControlState,
) -> Result<Vec<Change>, Vec<EntryError>> {
    let (script, errors) = read(program, None, text, origin);
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
    let (script, errors) = read(program, Some(ports), text, origin);
    script.apply_beside(program, control, errors).map(|_| script)
}

/// Returns the operations that can be read, in the order of application, and the mistakes in the rest.
fn read(program: &Program, ports: Option<&PortMap>, text: &str, origin: &str) -> (Script, Vec<EntryError>) {
    let (document, syntax) = DeTable::parse_recoverable(text);
    let mut reader =
        Reader { resolver: Resolver { program, ports, loose: false }, ops: Vec::new(), problems: Vec::new() };
    if syntax.is_empty() {
        reader.document(document.get_ref());
    }
    for error in &syntax {
        let at = error.span().map_or(0, |s| s.start);
        reader.problems.push((at, Problem::new(format!("this is not TOML: {}", error.message()))));
    }
    let starts: Vec<usize> = std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1)).collect();
    let line = |at: usize| starts.partition_point(|s| *s <= at) as u32;
    reader.ops.sort_by_key(|(rank, at, _)| (*rank, *at));
    let ops = reader
        .ops
        .into_iter()
        .map(|(_, at, op)| Sourced { line: line(at), op, at: Duration::ZERO })
        .collect();
    reader.problems.sort_by_key(|(at, _)| *at);
    let error =
        |(at, Problem { text, help })| EntryError { origin: origin.to_owned(), line: line(at), text, help };
    let mut errors: Vec<EntryError> = reader.problems.into_iter().map(error).collect();
    // The TOML reader may report one mistake twice while it recovers.
    errors.dedup();
    (Script { origin: origin.to_owned(), ops }, errors)
}

/// Order of application.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Replication,
    Member,
    Group,
    Entry,
    Default,
    Array,
}

struct Reader<'a> {
    resolver: Resolver<'a>,
    ops: Vec<(Rank, usize, ControlOp)>,
    problems: Vec<(usize, Problem)>,
}

impl Reader<'_> {
    fn fail<T>(&mut self, at: usize, problem: Problem) -> Option<T> {
        self.problems.push((at, problem));
        None
    }

    /// Records the error of a result with its place in the file; returns the value.
    fn ok<T>(&mut self, at: usize, result: Result<T, Problem>) -> Option<T> {
        result.map_or_else(|p| self.fail(at, p), Some)
    }

    fn expected<T>(&mut self, value: &Value<'_>, what: &str, expected: &str) -> Option<T> {
        let found = kind_of(value);
        self.fail(start(value), Problem::new(format!("{what} is {found}; expected {expected}")))
    }

    fn table<'v, 'i>(&mut self, value: &'v Value<'i>, what: &str) -> Option<&'v DeTable<'i>> {
        match value.get_ref() {
            DeValue::Table(table) => Some(table),
            _ => self.expected(value, what, "a table"),
        }
    }

    /// Returns the tables of an array of tables.
    fn tables<'v, 'i>(&mut self, value: &'v Value<'i>, what: &str) -> Vec<(usize, &'v DeTable<'i>)> {
        let DeValue::Array(array) = value.get_ref() else {
            self.expected::<()>(value, what, &format!("an array of tables, [[{what}]]"));
            return Vec::new();
        };
        array.iter().filter_map(|item| Some((start(item), self.table(item, what)?))).collect()
    }

    fn text<'v>(&mut self, value: &'v Value<'_>, what: &str) -> Option<&'v str> {
        match value.get_ref() {
            DeValue::String(text) => Some(text),
            _ => self.expected(value, what, "a string"),
        }
    }

    /// Returns a value of a key or argument as text.
    fn scalar(&mut self, value: &Value<'_>, what: &str) -> Option<String> {
        match value.get_ref() {
            DeValue::String(text) => Some(text.to_string()),
            DeValue::Integer(number) => Some(number.to_string()),
            DeValue::Boolean(bit) => Some(u8::from(*bit).to_string()),
            _ => self.expected(value, what, "an integer or a string"),
        }
    }

    fn number(&mut self, value: &Value<'_>, what: &str) -> Option<u32> {
        if let DeValue::Integer(number) = value.get_ref()
            && let Ok(number) = u32::from_str_radix(number.as_str(), number.radix())
        {
            return Some(number);
        }
        let found =
            if let DeValue::Integer(n) = value.get_ref() { n.to_string() } else { kind_of(value).to_owned() };
        self.fail(
            start(value),
            Problem::new(format!("{what} is {found}; expected an integer from 0 to {}", u32::MAX)),
        )
    }

    /// Reads a time such as "10ms".
    fn duration(&mut self, value: &Value<'_>) -> Option<Duration> {
        let text = self.text(value, "`ttl`")?;
        let read = text.parse().map_err(|e: UnitError| Problem::new(format!("`ttl`: {e}")));
        self.ok(start(value), read)
    }

    /// Reads the number under a required key.
    fn required(&mut self, at: usize, table: &DeTable<'_>, key: &str, what: &str) -> Option<u32> {
        match table.get(key) {
            Some(value) => self.number(value, &format!("`{key}`")),
            None => self.fail(at, Problem::new(format!("this {what} has no `{key}`"))),
        }
    }

    fn only(&mut self, table: &DeTable<'_>, allowed: &[&str], what: &str) {
        for key in table.keys().filter(|k| !allowed.contains(&k.get_ref().as_ref())) {
            let problem = Problem::unknown(what, key.get_ref(), allowed.iter().copied());
            self.problems.push((key.span().start, problem));
        }
    }

    fn document(&mut self, document: &DeTable<'_>) {
        let sections = [
            "table",
            "profile",
            "default",
            "mirror",
            "multicast",
            "exclusion",
            "port_metadata",
            "pktgen_buffer",
            "pktgen",
            "port",
            "queue",
            "deflection",
            "register",
            "meter",
            "default_in_pipe",
            "value_set",
        ];
        self.only(document, &sections, "section");
        for (section, read) in [
            ("mirror", Self::mirrors as fn(&mut Self, &Value<'_>)),
            ("multicast", Self::multicast),
            ("exclusion", Self::exclusions),
            ("port_metadata", Self::port_metadata),
            ("pktgen_buffer", Self::pktgen_buffers),
            ("pktgen", Self::pktgen),
            ("port", Self::ports),
            ("queue", Self::queues),
            ("deflection", Self::deflections),
        ] {
            document.get(section).into_iter().for_each(|value| read(self, value));
        }
        for (section, read) in [
            ("profile", Self::profile as fn(&mut Self, usize, &str, &Value<'_>)),
            ("table", Self::entries),
            ("default", Self::default_action),
            ("default_in_pipe", Self::defaults_in_pipes),
            ("register", Self::registers),
            ("meter", Self::meters),
            ("value_set", Self::value_set),
        ] {
            let Some(value) = document.get(section) else { continue };
            let Some(named) = self.table(value, &format!("`{section}`")) else { continue };
            for (name, value) in named {
                read(self, name.span().start, name.get_ref(), value);
            }
        }
    }

    /// Reads the pipe of an object; `Some(None)`: all pipes.
    fn pipe(&mut self, body: &DeTable<'_>) -> Option<Option<u8>> {
        let Some(value) = body.get("pipe") else { return Some(None) };
        let number = self.number(value, "`pipe`")?;
        match u8::try_from(number).ok().filter(|p| *p < PIPES) {
            Some(pipe) => Some(Some(pipe)),
            None => self.fail(start(value), Problem::new(format!("`pipe` is {number}; expected 0 to 3"))),
        }
    }

    fn entries(&mut self, at: usize, name: &str, value: &Value<'_>) {
        let found = self.resolver.table(name);
        let Some((table, data)) = self.ok(at, found) else { return };
        for (at, body) in self.tables(value, &format!("table.{name}")) {
            self.entry(at, table, data, body);
        }
    }

    fn entry(&mut self, at: usize, table: Table, data: &TableData, body: &DeTable<'_>) {
        let keys = ["key", "action", "args", "member", "group", "priority", "ttl", "pipe"];
        self.only(body, &keys, "entry key");
        let key = self.key(at, data, body);
        let priority = body.get("priority").map_or(Some(0), |p| self.number(p, "`priority`"));
        let then = self.then(at, data, body);
        let ttl = body.get("ttl").map(|value| self.duration(value));
        let pipe = self.pipe(body);
        let (Some(key), Some(priority), Some(then), Some(pipe)) = (key, priority, then, pipe) else { return };
        let op = match ttl {
            None => ControlOp::InsertEntry { table, key, priority, then },
            Some(Some(ttl)) => ControlOp::InsertAgeing { table, key, priority, then, ttl },
            Some(None) => return,
        };
        self.ops.push((Rank::Entry, at, op.in_pipe(pipe)));
    }

    fn key(&mut self, at: usize, data: &TableData, body: &DeTable<'_>) -> Option<Vec<KeyValue>> {
        let mut columns: Vec<Option<KeyValue>> = vec![None; data.keys.len()];
        let before = self.problems.len();
        if let Some(value) = body.get("key") {
            for (name, value) in self.table(value, "`key`")? {
                let column = self.resolver.column(data, name.get_ref());
                let Some(column) = self.ok(name.span().start, column) else { continue };
                let Some(text) = self.scalar(value, &format!("key `{}`", name.get_ref())) else { continue };
                let given = self.resolver.key_value(data, column, &text);
                let given = self.ok(start(value), given);
                if columns[column].is_some() {
                    let problem = Problem::new(format!(
                        "key `{}` names a column that is already given",
                        name.get_ref()
                    ));
                    self.problems.push((name.span().start, problem));
                }
                columns[column] = given;
            }
        }
        if self.problems.len() > before {
            return None;
        }
        let columns: Vec<Option<KeyValue>> = columns
            .into_iter()
            .enumerate()
            .map(|(i, given)| given.or_else(|| self.resolver.absent_key(data, i)))
            .collect();
        if let Some(missing) = columns.iter().position(Option::is_none) {
            let name = data.keys[missing].name(self.resolver.program);
            return self.fail(
                at,
                Problem::new(format!(
                    "this entry of table `{}` has no value for key `{name}`, which is matched exactly",
                    data.name
                )),
            );
        }
        Some(columns.into_iter().flatten().collect())
    }

    fn then(&mut self, at: usize, data: &TableData, body: &DeTable<'_>) -> Option<Then> {
        let given: Vec<&str> =
            ["action", "member", "group"].into_iter().filter(|k| body.contains_key(*k)).collect();
        match given[..] {
            ["action"] => self.call(at, body, &data.actions).map(Then::Call),
            [key] => {
                let number = body.get(key).and_then(|v| self.number(v, &format!("`{key}`")))?;
                Some(if key == "member" { Then::Member(number) } else { Then::Group(number) })
            }
            [] => self.fail(
                at,
                Problem::new(format!(
                    "this entry of table `{}` does not say what it does; expected one of: action, member, group",
                    data.name
                )),
            ),
            _ => self.fail(
                at,
                Problem::new(format!(
                    "this entry of table `{}` has {}; expected only one",
                    data.name,
                    given.join(" and ")
                )),
            ),
        }
    }
}
