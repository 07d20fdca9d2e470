//! Values of names and calls in expressions: definitions and saved numbers of the file, numbers of the profile, numbers
//! of the device.

use super::breakpoints::ExpectedBreakpoints;
use super::metric;
use crate::buffer::device::bench::Bench;
use crate::language::expr::{Expr, Scope};
use sluice_asic::mac::wire_bytes;
use sluice_asic::names::did_you_mean;
use sluice_asic::tm::pfc::quanta_time;
use sluice_asic::units::{BitRate, Bytes, Length};
use std::cell::Cell;
use std::collections::BTreeMap;

/// Names and calls in addition to those of [`metric::rows`], with their meanings.
pub const TABLE: [(&str, &str); 25] = [
    ("cell", "bytes of a cell"),
    ("memory", "cells of the memory"),
    ("partitions", "number of partitions of the memory"),
    ("ports", "number of front-panel ports"),
    ("pool", "cells of the pool that lossless groups share, in one partition"),
    ("reserved", "reserved cells of a lossless group"),
    ("headroom", "largest headroom that one lossless group can use, cells"),
    ("headroom_pool", "cells of the headroom pool; without a pool, of a group's headroom"),
    ("xon", "cells in use at which a group resumes, however low its threshold is"),
    ("xon_offset", "distance below its threshold at which a group resumes, cells"),
    ("queue_reserved", "reserved cells of a lossy queue"),
    ("quantum_ps", "length of a quantum of pause time at the ports' speed"),
    ("reaction_ps", "time from the last bit of a PFC frame to its effect"),
    ("cells(bytes)", "cells of a packet"),
    (
        "xoff_at(cells, other)",
        "number of the packet of `cells` cells that pauses a group while other groups hold `other` shared cells",
    ),
    ("drop_at(cells, other)", "number of the first packet that is dropped then"),
    ("xon_after(cells)", "departures after which a group resumes that was filled until a drop"),
    (
        "xoff_each(cells, n)",
        "number of the packet, within its group, that pauses the last of n groups that get packets in turn",
    ),
    ("dismiss(cells)", "departures after which a group resumes that has just been paused"),
    ("lossy_drop_at(cells)", "number of the first packet of a lossy class that is dropped"),
    ("wire_ps(bytes)", "line time of a frame, preamble and gap included"),
    ("cable_bytes(metres)", "bytes on a cable, there and back, at the ports' speed"),
    ("cable_ps(metres)", "propagation delay of a cable"),
    ("min(a, b)", "the smaller number"),
    ("max(a, b)", "the larger number"),
];

/// Most nested definitions.
const DEPTH: u32 = 32;

/// The scope in which names are looked up.
pub(crate) struct Names<'a> {
    pub(crate) bench: Option<&'a Bench>,
    /// Definitions of the case and of the scenario, in order of precedence.
    pub(crate) defined: [&'a BTreeMap<String, Expr>; 2],
    pub(crate) saved: &'a BTreeMap<String, i128>,
    pub(crate) depth: Cell<u32>,
}

fn known<T>(value: Option<T>, what: &str) -> Result<i128, String>
where
    i128: From<T>,
{
    value.map(i128::from).ok_or_else(|| format!("`{what}`: the profile has no such group or limit"))
}

/// Returns an argument: cells, bytes, groups or metres, of which no device has more, so that what is computed of them is exact.
fn unsigned(n: i128) -> Result<u64, String> {
    u32::try_from(n).map(u64::from).map_err(|_| format!("{n} is not a number from 0 to {}", u32::MAX))
}

impl Names<'_> {
    fn unknown(&self, name: &str) -> String {
        let own = TABLE.iter().map(|(name, _)| name.split('(').next().unwrap_or(name));
        let all = own.chain(metric::rows().map(|row| row.name));
        let defined = self.defined.iter().flat_map(|names| names.keys().map(String::as_str));
        let known = all.chain(defined).chain(self.saved.keys().map(String::as_str));
        format!("unknown name `{name}`{}", did_you_mean(name, known))
    }

    fn of_profile(&self, bench: &Bench, name: &str) -> Option<Result<i128, String>> {
        let n = ExpectedBreakpoints::new(&bench.config);
        let speed = bench.ports.speed();
        Some(match name {
            "cell" => Ok(bench.config.cell.get().into()),
            "memory" => Ok(bench.config.size.get().into()),
            "partitions" => Ok(bench.config.partitions.into()),
            "ports" => Ok(bench.ports.front_ports().len() as i128),
            "pool" => known(n.pool(), name),
            "reserved" => known(n.reserved(), name),
            "headroom" => known(n.headroom(), name),
            "headroom_pool" => known(n.headroom_pool(), name),
            "xon" => known(n.xon(), name),
            "xon_offset" => known(n.xon_offset(), name),
            "queue_reserved" => known(n.queue_reserved(), name),
            "quantum_ps" => Ok(quanta_time(speed, 1).as_ps().into()),
            "reaction_ps" => Ok(bench.config.pfc.reaction_on(speed).as_ps().into()),
            _ => return None,
        })
    }

    fn called(&self, bench: &Bench, name: &str, args: &[i128]) -> Option<Result<i128, String>> {
        let n = ExpectedBreakpoints::new(&bench.config);
        let speed = bench.ports.speed();
        let of = |args: &[i128]| -> Result<i128, String> {
            let numbers: Vec<u64> = args.iter().map(|a| unsigned(*a)).collect::<Result<_, _>>()?;
            match (name, numbers.as_slice()) {
                ("cells", [bytes]) => Ok(n.cells(*bytes).into()),
                ("xoff_at", [cells]) => known(n.xoff_at(*cells, 0), name),
                ("xoff_at", [cells, other]) => known(n.xoff_at(*cells, *other), name),
                ("drop_at", [cells]) => known(n.drop_at(*cells, 0), name),
                ("drop_at", [cells, other]) => known(n.drop_at(*cells, *other), name),
                ("xon_after", [cells]) => known(n.xon_after(*cells), name),
                ("xoff_each", [cells, groups]) => known(n.xoff_each(*cells, *groups), name),
                ("dismiss", [cells]) => known(n.dismiss(*cells), name),
                ("lossy_drop_at", [cells]) => known(n.lossy_drop_at(*cells), name),
                (_, args) => on_line(speed, name, args)
                    .ok_or_else(|| format!("`{name}` does not take {} argument(s)", args.len())),
            }
        };
        let own = TABLE.iter().any(|(known, _)| known.split_once('(').is_some_and(|(own, _)| own == name));
        own.then(|| of(args))
    }
}

/// Numbers that the files state: definitions, as far as they use neither thresholds of the profile nor the device, the
/// profile's sizes, and times and bytes on lines.
pub(crate) struct StatedNumbers<'a> {
    /// The device; a host has none.
    pub(crate) bench: Option<&'a Bench>,
    /// Definitions of the case and of the scenario, in order of precedence.
    pub(crate) defined: [&'a BTreeMap<String, Expr>; 2],
    /// Number of the present round, in a repeated step.
    pub(crate) round: Option<i128>,
    /// Depth of the definition that is being evaluated.
    pub(crate) depth: Cell<u32>,
}

impl Scope for StatedNumbers<'_> {
    fn name(&self, name: &str) -> Result<i128, String> {
        match (name, self.bench, self.round) {
            ("round", _, Some(round)) => return Ok(round),
            ("cell", Some(bench), _) => return Ok(bench.config.cell.get().into()),
            ("memory", Some(bench), _) => return Ok(bench.config.size.get().into()),
            ("partitions", Some(bench), _) => return Ok(bench.config.partitions.into()),
            ("ports", Some(bench), _) => return Ok(bench.ports.front_ports().len() as i128),
            _ => {}
        }
        let expr = self.defined.iter().find_map(|names| names.get(name));
        let expr =
            expr.filter(|_| self.depth.get() < DEPTH).ok_or_else(|| format!("`{name}` is not stated"))?;
        self.depth.set(self.depth.get() + 1);
        let value = expr.value(self);
        self.depth.set(self.depth.get() - 1);
        value
    }

    fn call(&self, name: &str, args: &[i128]) -> Result<i128, String> {
        match (name, args) {
            ("min", [a, b]) => return Ok(*a.min(b)),
            ("max", [a, b]) => return Ok(*a.max(b)),
            _ => {}
        }
        let numbers: Vec<u64> = args.iter().map(|a| unsigned(*a)).collect::<Result<_, _>>()?;
        let value = self.bench.and_then(|bench| on_line(bench.ports.speed(), name, &numbers));
        value.ok_or_else(|| format!("`{name}` is not stated"))
    }
}

/// Returns the value of a call about lines and cables, `None` for another call.
fn on_line(speed: BitRate, name: &str, args: &[u64]) -> Option<i128> {
    match (name, args) {
        ("wire_ps", [bytes]) => Some(speed.time_for(wire_bytes(Bytes(*bytes))).as_ps().into()),
        ("cable_bytes", [metres]) => Some(Length::from_metres(*metres).round_trip_bytes(speed).get().into()),
        ("cable_ps", [metres]) => Some(Length::from_metres(*metres).delay().as_ps().into()),
        _ => None,
    }
}

impl Scope for Names<'_> {
    fn name(&self, name: &str) -> Result<i128, String> {
        if let Some(value) = self.saved.get(name) {
            return Ok(*value);
        }
        if let Some(expr) = self.defined.iter().find_map(|names| names.get(name)) {
            self.depth.set(self.depth.get() + 1);
            if self.depth.get() > DEPTH {
                return Err(format!(
                    "`{name}`: more than {DEPTH} nested definitions; a definition must not use itself"
                ));
            }
            let value = expr.value(self);
            self.depth.set(self.depth.get() - 1);
            return value;
        }
        let Some(bench) = self.bench else { return Err(self.unknown(name)) };
        let found = self.of_profile(bench, name).or_else(|| bench.number(name, &[]));
        found.unwrap_or_else(|| Err(self.unknown(name)))
    }

    fn call(&self, name: &str, args: &[i128]) -> Result<i128, String> {
        match (name, args) {
            ("min", [a, b]) => return Ok(*a.min(b)),
            ("max", [a, b]) => return Ok(*a.max(b)),
            _ => {}
        }
        let Some(bench) = self.bench else { return Err(self.unknown(name)) };
        let found = self.called(bench, name, args).or_else(|| bench.number(name, args));
        found.unwrap_or_else(|| Err(self.unknown(name)))
    }
}
