//! Inputs of a replay: the captures of `-i`, or the embedded samples.

use super::stdin::Stdin;
use crate::console::fail::Failure;
use sluice_asic::port::{DevPort, FrontPort, PortMap, PortName};
use sluice_catalogue::StageProgram;
use sluice_fabric::network::SwitchId;
use sluice_pcaps::capture::CaptureReader;
use sluice_pcaps::samples;
use sluice_replay::{Input, Inputs};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Path that means standard input.
const STDIN: &str = "-";

/// Parses the inputs of one switch; without inputs, returns the program's sample. `stop` ends standard input early.
pub(super) fn of_switch(
    texts: &[String],
    program: &dyn StageProgram,
    ports: &PortMap,
    stop: &Arc<AtomicBool>,
) -> Result<Inputs, Failure> {
    if texts.is_empty() {
        return samples_of(program, ports).map(Inputs::from);
    }
    let usage = "write PORT@FILE: 0@trace.pcap or 1/0@trace.pcap for front-panel port 0, Ethernet0@trace.pcap with \
                 --port-map, dev:137@trace.pcap for a dev_port, 0@- for standard input";
    let input = |text: &String| {
        let (port, path) = text
            .split_once('@')
            .ok_or_else(|| Failure::with_help(format!("input `{text}` names no port"), usage))?;
        let dev = ports.find(port).map_err(|e| Failure::with_help(e, usage))?.dev_port;
        Ok(named((SwitchId(0), dev), port, path, stop))
    };
    let texts: Vec<&String> = texts.iter().collect();
    all(&texts, input).map(Inputs::from)
}

/// Parses the inputs of a network; `port` finds the port before the `@`.
pub(super) fn of_network(
    texts: &[&String],
    port: impl Fn(&str) -> Result<(SwitchId, DevPort), Failure>,
    stop: &Arc<AtomicBool>,
) -> Result<Vec<Input>, Failure> {
    let usage =
        "write SWITCH:PORT@FILE, for example leaf0:0@trace.pcap, or hosts@FILE for the ports of all hosts";
    let input = |text: &String| {
        let (name, path) = text
            .split_once('@')
            .ok_or_else(|| Failure::with_help(format!("input `{text}` names no port"), usage))?;
        Ok(named(port(name)?, name, path, stop))
    };
    all(texts, input)
}

/// Returns the embedded samples of a network: place, name and bytes of each.
pub(super) fn of_network_samples(
    samples: &[(&str, &str, &'static [u8])],
    port: impl Fn(&str) -> Result<(SwitchId, DevPort), Failure>,
) -> Result<Inputs, Failure> {
    let input = |(place, file, bytes): &(&str, &str, &'static [u8])| {
        let (switch, port) = port(place)?;
        Ok(sample(port, place, file, bytes).at(switch))
    };
    samples.iter().map(input).collect::<Result<Vec<_>, Failure>>().map(Inputs::from)
}

/// Parses inputs, of which at most one may be standard input.
fn all(
    texts: &[&String],
    mut input: impl FnMut(&String) -> Result<Input, Failure>,
) -> Result<Vec<Input>, Failure> {
    let inputs: Vec<Input> = texts.iter().map(|text| input(text)).collect::<Result<_, _>>()?;
    let is_stdin = |text: &&&String| text.split_once('@').is_some_and(|(_, path)| path == STDIN);
    if texts.iter().filter(is_stdin).count() > 1 {
        return Err(Failure::with_help("more than one input is standard input", "give the others as files"));
    }
    Ok(inputs)
}

/// Returns the input of a path, or standard input.
fn named((switch, port): (SwitchId, DevPort), text: &str, path: &str, stop: &Arc<AtomicBool>) -> Input {
    let input = if path == STDIN {
        let stop = Arc::clone(stop);
        let name = "standard input";
        let open = move || CaptureReader::from_read(Stdin::new(Arc::clone(&stop)), name);
        Input::new(port, name, open).read_once()
    } else {
        let name = Path::new(path).file_name().map_or(path.to_owned(), |n| n.to_string_lossy().into_owned());
        let size = std::fs::metadata(path).ok().filter(|m| m.is_file()).map(|m| m.len());
        let path = path.to_owned();
        Input::new(port, name, move || CaptureReader::open(&path)).with_bytes(size)
    };
    input.with_port_name(text).at(switch)
}

fn samples_of(program: &dyn StageProgram, ports: &PortMap) -> Result<Vec<Input>, Failure> {
    let (file, bytes) = program.sample().unwrap_or_else(|| samples::of(program.name()));
    let all = std::iter::once((0, file, bytes)).chain(samples::beside(program.name()).iter().copied());
    let input = |(front, file, bytes): (u16, &str, &'static [u8])| {
        let name = PortName::Front(FrontPort(front));
        let port = ports.resolve(name).map_err(Failure::input)?.dev_port;
        Ok(sample(port, &front.to_string(), file, bytes))
    };
    all.map(input).collect()
}

fn sample(port: DevPort, port_name: &str, file: &str, bytes: &'static [u8]) -> Input {
    Input::from_bytes(port, format!("{file} (embedded sample)"), bytes).with_port_name(port_name)
}
