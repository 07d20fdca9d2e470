//! `sluice explain ports`: which dev_port each port has.

use crate::fail::Failure;
use crate::table::table;
use serde_json::{Value, json};
use sluice_asic::port::{Port, PortKind, PortMap};
use std::io::Write;

/// Prints the port map.
pub(super) fn run(ports: &PortMap, chip: &str, as_json: bool) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    if as_json {
        let list: Vec<Value> = ports.iter().map(value).collect();
        let all = json!({ "schema": "sluice.ports/1", "chip": chip, "speed_bps": ports.speed().as_bps(), "ports": list });
        writeln!(out, "{all}")?;
        return Ok(());
    }
    writeln!(
        out,
        "Ports of {chip} at {} per port. In entries, `port = \"port 8\"` is front-panel port 8, and `port = 8` or\n\
         `port = \"dev_port 8\"` is dev_port 8. Inputs (-i 8@FILE) and --port have front-panel numbers; dev:8 is dev_port 8.\n",
        ports.speed()
    )?;
    let rows = ports.iter().map(row).collect();
    writeln!(out, "{}", table(&["PORT", "DEV", "PIPE", "MAC", "LANES", "SPEED", "QUEUES"], rows))?;
    Ok(())
}

fn name(port: &Port) -> String {
    match port.kind {
        PortKind::Front(front) => front.to_string(),
        PortKind::Cpu => "cpu".to_owned(),
        PortKind::Recirculation => "recirc".to_owned(),
    }
}

fn row(port: &Port) -> Vec<String> {
    let numbers = [port.dev_port.number(), port.pipe().0.into(), port.mac.0.into(), port.lanes.into()];
    let numbers = numbers.map(|n| n.to_string());
    [name(port)].into_iter().chain(numbers).chain([port.speed.to_string(), port.queues.to_string()]).collect()
}

fn value(port: &Port) -> Value {
    json!({
        "port": port.front().map(|front| front.0), "kind": match port.kind {
            PortKind::Front(_) => "front",
            PortKind::Cpu => "cpu",
            PortKind::Recirculation => "recirculation",
        },
        "dev_port": port.dev_port.number(), "pipe": port.pipe().0, "mac": port.mac.0, "lanes": port.lanes,
        "speed_bps": port.speed.as_bps(), "queues": port.queues,
    })
}
