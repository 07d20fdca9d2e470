//! `sluice explain ports`: which dev_port each port has.

use crate::console::fail::Failure;
use crate::console::invocation::Out;
use crate::console::table::table;
use serde_json::{Value, json};
use sluice_asic::port::{Port, PortKind, PortMap};
use std::io::Write;

/// Prints the port map.
pub(super) fn run(ports: &PortMap, chip: &str, as_json: bool) -> Result<(), Failure> {
    let mut out = Out::new();
    if as_json {
        let list: Vec<Value> = ports.iter().map(|port| value(ports, port)).collect();
        let all = json!({ "schema": "sluice.ports/1", "chip": chip, "speed_bps": ports.speed().as_bps(), "ports": list });
        writeln!(out, "{all}")?;
        return Ok(());
    }
    writeln!(
        out,
        "Ports of {chip} at {} per port. In entries, `port = \"port 8\"` is front-panel port 8, and `port = 8` or\n\
         `port = \"dev_port 8\"` is dev_port 8. Inputs (-i 8@FILE) and --port have front-panel numbers, or cages with lanes (1/0); dev:8 is dev_port 8.\n",
        ports.speed()
    )?;
    let rows = ports.iter().map(|port| row(ports, port)).collect();
    writeln!(out, "{}", table(&["PORT", "DEV", "PIPE", "MAC", "LANES", "SPEED", "QUEUES", "CAGE"], rows))?;
    Ok(())
}

fn name(ports: &PortMap, port: &Port) -> String {
    match port.kind {
        PortKind::Front(front) => ports.shown(front),
        PortKind::Cpu => "cpu".to_owned(),
        PortKind::Recirculation => "recirc".to_owned(),
    }
}

fn row(ports: &PortMap, port: &Port) -> Vec<String> {
    let numbers = [port.dev_port.number(), port.pipe().0.into(), port.mac.0.into(), port.lanes.into()];
    let numbers = numbers.map(|n| n.to_string());
    let cage = port.front().map_or(String::new(), |_| ports.cage(port));
    let rest = [port.speed.to_string(), port.queues.to_string(), cage];
    [name(ports, port)].into_iter().chain(numbers).chain(rest).collect()
}

fn value(ports: &PortMap, port: &Port) -> Value {
    let name = port.front().and_then(|front| ports.names()?.name(front).map(str::to_owned));
    json!({
        "name": name, "cage": port.front().map(|_| ports.cage(port)),
        "port": port.front().map(|front| front.0), "kind": match port.kind {
            PortKind::Front(_) => "front",
            PortKind::Cpu => "cpu",
            PortKind::Recirculation => "recirculation",
        },
        "dev_port": port.dev_port.number(), "pipe": port.pipe().0, "mac": port.mac.0, "lanes": port.lanes,
        "speed_bps": port.speed.as_bps(), "queues": port.queues,
    })
}
