//! Ports in files of entries: their names, and whether a device has them.
//!
//! `port 8` is front-panel port 8, as is `port 9/0` (cage and lane), or its name in the user's port map; `dev_port 136` is the
//! number that programs see, and a number alone is a dev_port. In files of lines, where a blank ends a word, a colon takes its
//! place: `port:8`. The front panel is known only to readers that get a [`PortMap`].

use super::resolve::{Problem, Resolver};
use super::{ControlOp, ControlState, EntryError, Script, Then};
use sluice_asic::port::{DevPort, FrontPort, Port, PortKind, PortMap, PortName};
use sluice_ir::{ActionCall, KeyValue, Program};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Width of a dev_port in bits.
pub(super) const WIDTH: u16 = 9;

/// Returns true if a field or parameter of this name and width has a dev_port.
pub(super) fn is_port(name: &str, width: u16) -> bool {
    width == WIDTH && name.rsplit(['.', '_']).next() == Some("port")
}

/// Returns the kind of name and the number of `port 8` or `dev_port 136`.
fn split(text: &str) -> Option<(&str, &str)> {
    let (kind, number) = text.trim().split_once([' ', ':'])?;
    matches!(kind, "port" | "dev_port").then_some((kind, number.trim()))
}

impl Resolver<'_> {
    /// Returns a text in which the name of a port is replaced by its dev_port; any other text as it is.
    pub(super) fn plain<'t>(self, text: &'t str) -> Result<Cow<'t, str>, Problem> {
        // A name of the user's port map may stand alone.
        let named = self.ports.filter(|ports| ports.names().is_some_and(|names| names.front(text).is_some()));
        if let Some(ports) = named {
            return Ok(Cow::Owned(ports.find(text).map_err(no_such_port)?.dev_port.number().to_string()));
        }
        let Some((kind, number)) = split(text) else { return Ok(Cow::Borrowed(text)) };
        let wrong = || {
            Problem {
            text: format!("`{text}` is not a port"),
            help: "write \"port 8\" for a front-panel port, or \"dev_port 136\"; in lines port:8 or dev_port:136"
                .to_owned(),
        }
        };
        if let Some(ports) = self.ports.filter(|_| kind == "port" && number.parse::<u16>().is_err()) {
            return Ok(Cow::Owned(ports.find(number).map_err(no_such_port)?.dev_port.number().to_string()));
        }
        let number: u16 = number.parse().map_err(|_| wrong())?;
        let name = match kind {
            "port" => PortName::Front(FrontPort(number)),
            _ => PortName::Dev(DevPort::new(number).ok_or_else(wrong)?),
        };
        let dev = match (self.ports, name) {
            (Some(ports), _) => ports.resolve(name).map_err(no_such_port)?.dev_port,
            (None, PortName::Dev(dev)) => dev,
            (None, PortName::Front(_)) => {
                let text = format!("`{text}` names a front-panel port, but the device is not known here");
                return Err(Problem { text, help: "write the dev_port".to_owned() });
            }
        };
        Ok(Cow::Owned(dev.number().to_string()))
    }
}

fn no_such_port(error: sluice_asic::port::PortError) -> Problem {
    Problem { text: error.to_string(), help: LIST.to_owned() }
}

/// Advice where ports are listed.
const LIST: &str = "`sluice explain ports` lists the ports with their dev_ports; --port-speed changes them";

/// A dev_port to which an operation sends packets.
struct Target<'p> {
    /// Name of the parameter.
    name: &'p str,
    dev_port: u16,
}

/// Returns the dev_ports to which an operation sends packets.
fn targets<'p>(program: &'p Program, op: &ControlOp) -> Vec<Target<'p>> {
    match op {
        ControlOp::InsertEntry { then, .. }
        | ControlOp::InsertAgeing { then, .. }
        | ControlOp::ModifyEntry { then, .. } => match then {
            Then::Call(call) => targets_of(program, call),
            Then::Member(_) | Then::Group(_) => Vec::new(),
        },
        ControlOp::SetDefault { call, .. } | ControlOp::SetMember { call, .. } => targets_of(program, call),
        ControlOp::SetMirrorSession { session: Some(session), .. } => {
            let target = |port: DevPort| Target { name: "port", dev_port: port.number() };
            session.port.map(target).into_iter().collect()
        }
        ControlOp::InPipe { op, .. } => targets(program, op),
        _ => Vec::new(),
    }
}

fn targets_of<'p>(program: &'p Program, call: &ActionCall) -> Vec<Target<'p>> {
    let params = program.actions[call.action].params.iter().zip(&call.args);
    let ports = params.filter(|(p, _)| is_port(&p.name, p.width));
    ports.filter_map(|(p, v)| Some(Target { name: &p.name, dev_port: u16::try_from(*v).ok()? })).collect()
}

/// Returns the dev_ports to which a state sends packets.
fn targets_of_state(program: &Program, state: &ControlState) -> BTreeSet<u16> {
    let entries = state.tables.values().flat_map(|t| t.entries().map(|(_, e)| &e.then));
    let calls = entries.filter_map(|then| match then {
        Then::Call(call) => Some(call),
        Then::Member(_) | Then::Group(_) => None,
    });
    let members = state.profiles.values().flat_map(|p| p.members.values());
    let defaults = state.tables.values().map(|t| &t.default);
    let calls = calls.chain(members).chain(defaults);
    let sessions = state.replication.sessions.values().filter_map(|s| s.port);
    let ports = calls.flat_map(|call| targets_of(program, call)).map(|t| t.dev_port);
    ports.chain(sessions.map(DevPort::number)).collect()
}

impl Script {
    /// Returns an error for each operation that sends packets to a port that the device does not have, although `usual`, a
    /// state that the program is known to run with, does not.
    #[must_use]
    pub fn missing_ports(&self, program: &Program, ports: &PortMap, usual: &ControlState) -> Vec<EntryError> {
        let usual = targets_of_state(program, usual);
        let mut errors = Vec::new();
        for sourced in &self.ops {
            let missing = targets(program, &sourced.op).into_iter().filter(|t| !usual.contains(&t.dev_port));
            for Target { name, dev_port } in missing {
                // Wider values are refused with their width.
                let Some(dev) = DevPort::new(dev_port) else { continue };
                let Err(error) = ports.resolve(PortName::Dev(dev)) else { continue };
                let Problem { text, help } = no_such_port(error);
                let (origin, text) = (self.origin.clone(), format!("argument `{name}`: {text}"));
                errors.push(EntryError { origin, line: sourced.line, text, help });
            }
        }
        errors
    }

    /// Returns a warning for each recirculation port to which the script sends packets and `usual`, a state that the program
    /// is known to run with, does not: the number may be meant as a front-panel port.
    #[must_use]
    pub fn unlikely_ports(&self, program: &Program, ports: &PortMap, usual: &ControlState) -> Vec<String> {
        let mut seen = targets_of_state(program, usual);
        let mut warnings = Vec::new();
        for sourced in &self.ops {
            for Target { dev_port, .. } in targets(program, &sourced.op) {
                let port = DevPort::new(dev_port).and_then(|dev| ports.dev(dev));
                let recirculates = port.is_some_and(|p| p.kind == PortKind::Recirculation);
                if !recirculates || !seen.insert(dev_port) {
                    continue;
                }
                let meant = ports.front(FrontPort(dev_port)).map_or(String::new(), |front| {
                    format!("; front-panel port {dev_port} is {}, or \"port {dev_port}\"", of(front.dev_port))
                });
                warnings.push(format!(
                    "{}:{}: {} is a recirculation port, so packets come back into ingress{meant}",
                    self.origin,
                    sourced.line,
                    DevPort::new(dev_port).map_or(String::new(), of),
                ));
            }
        }
        warnings
    }
}

fn of(port: DevPort) -> String {
    format!("dev_port {}", port.number())
}

/// Returns the name of a port as files take it: `port 8`, or `dev_port 6` if it is not at the front panel.
pub(super) fn name_of(ports: &PortMap, port: &Port) -> String {
    port.front().map_or_else(|| of(port.dev_port), |front| format!("port {}", ports.shown(front)))
}

/// Returns a comment that says which ports these dev_ports are; empty without any.
pub(super) fn comment(ports: Option<&PortMap>, values: impl Iterator<Item = u128>) -> String {
    let Some(ports) = ports else { return String::new() };
    let devs: BTreeSet<u16> = values.filter_map(|v| u16::try_from(v).ok()).collect();
    let text = |dev: DevPort| match ports.dev(dev).map(|port| port.kind) {
        Some(PortKind::Front(front)) => format!("{} is port {}", of(dev), ports.shown(front)),
        Some(PortKind::Cpu) => format!("{} is the CPU port", of(dev)),
        Some(PortKind::Recirculation) => format!("{} is a recirculation port", of(dev)),
        None => format!("{} does not exist", of(dev)),
    };
    let texts: Vec<String> = devs.into_iter().filter_map(DevPort::new).map(text).collect();
    if texts.is_empty() { String::new() } else { format!("  # {}", texts.join(", ")) }
}

/// Returns the value of a key column that names one port.
pub(super) fn of_key(key: KeyValue) -> Option<u128> {
    match key {
        KeyValue::Exact(value) => Some(value),
        KeyValue::Ternary { value, mask } if mask == (1 << WIDTH) - 1 => Some(value),
        _ => None,
    }
}
