//! Captures and the ports they go into. What may not live here: when they are sent.

use super::stdin::Stdin;
use crate::fail::Failure;
use sluice_asic::port::{DevPort, PortMap, PortName};
use sluice_asic::units::BitRate;
use sluice_pcaps::capture::{CaptureError, CaptureReader};
use sluice_pcaps::replay::{Feed, Port, Schedule};
use sluice_pcaps::samples;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Where an input's bytes come from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// The embedded sample of the program.
    Sample(&'static [u8]),
    Stdin,
    File(String),
}

/// One input as the user named it.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) port: DevPort,
    pub(crate) port_text: String,
    place: Place,
    /// File name without folders.
    pub(crate) name: String,
}

/// All inputs.
pub(crate) struct Inputs {
    pub(crate) sources: Vec<Source>,
    /// The ports that they go into, in the order of their first input.
    pub(crate) ports: Vec<DevPort>,
    stop: Arc<AtomicBool>,
}

impl Inputs {
    /// Takes the inputs' names apart, or takes the sample of the program; `stop` ends standard input early.
    pub(crate) fn parse(
        texts: &[String],
        program: &str,
        ports: &PortMap,
        stop: Arc<AtomicBool>,
    ) -> Result<Inputs, Failure> {
        let sources = match texts {
            [] => vec![sample(program, ports)?],
            texts => texts.iter().map(|t| source(t, ports)).collect::<Result<_, _>>()?,
        };
        if sources.iter().filter(|s| s.place == Place::Stdin).count() > 1 {
            return Err(Failure::with_help("two inputs are standard input", "give one of them as a file"));
        }
        let mut ports: Vec<DevPort> = Vec::new();
        for s in &sources {
            if !ports.contains(&s.port) {
                ports.push(s.port);
            }
        }
        Ok(Inputs { sources, ports, stop })
    }

    /// Refuses standard input where the captures are read more than once.
    pub(crate) fn check_passes(&self, what: &str) -> Result<(), Failure> {
        if self.sources.iter().all(|s| s.place != Place::Stdin) {
            return Ok(());
        }
        Err(Failure::with_help(
            format!("{what} reads its inputs more than once, and standard input is read once only"),
            "save it to a file first",
        ))
    }

    /// A reading of all inputs from their beginnings. `speed` tells a port's line rate; frames take no time on
    /// lines of rate 0.
    pub(crate) fn feed(
        &self,
        schedule: Schedule,
        speed: impl Fn(DevPort) -> BitRate,
    ) -> Result<Feed<'static>, CaptureError> {
        let port = |port: &DevPort| Port {
            inputs: (0..self.sources.len()).filter(|i| self.sources[*i].port == *port).collect(),
            line: speed(*port).as_bps(),
        };
        let (sources, stop) = (self.sources.clone(), Arc::clone(&self.stop));
        let open = move |input: usize| reader(&sources[input], &stop);
        Feed::new(self.ports.iter().map(port).collect(), schedule, Box::new(open))
    }

    /// Bytes of all inputs, if they are files.
    pub(crate) fn bytes(&self) -> Option<u64> {
        let size = |s: &Source| match &s.place {
            Place::Sample(bytes) => Some(bytes.len() as u64),
            Place::Stdin => None,
            Place::File(path) => std::fs::metadata(path).ok().filter(|m| m.is_file()).map(|m| m.len()),
        };
        self.sources.iter().map(size).sum()
    }
}

/// A capture that cannot be used.
pub(crate) fn bad(e: &CaptureError) -> Failure {
    Failure::with_help(e, e.help())
}

fn reader(s: &Source, stop: &Arc<AtomicBool>) -> Result<CaptureReader<'static>, CaptureError> {
    match &s.place {
        Place::Sample(bytes) => CaptureReader::from_bytes(bytes, s.name.clone()),
        Place::Stdin => CaptureReader::from_read(Stdin::new(Arc::clone(stop)), s.name.clone()),
        Place::File(path) => CaptureReader::open(path),
    }
}

fn sample(program: &str, ports: &PortMap) -> Result<Source, Failure> {
    let (file, bytes) = samples::of(program);
    let name = PortName::Front(sluice_asic::port::FrontPort(0));
    let port = ports.resolve(name).map_err(Failure::input)?.dev_port;
    let name = format!("{file} (embedded sample)");
    Ok(Source { port, port_text: "0".into(), place: Place::Sample(bytes), name })
}

fn source(text: &str, ports: &PortMap) -> Result<Source, Failure> {
    let usage = "write PORT@FILE: 0@trace.pcap for front-panel port 0, dev:137@trace.pcap for a dev_port, 0@- for \
                 standard input";
    let (port, path) = text
        .split_once('@')
        .ok_or_else(|| Failure::with_help(format!("input `{text}` names no port"), usage))?;
    let name: PortName = port.parse().map_err(|e| Failure::with_help(e, usage))?;
    let dev = ports.resolve(name).map_err(Failure::input)?.dev_port;
    let port_text = port.to_owned();
    if path == "-" {
        return Ok(Source { port: dev, port_text, place: Place::Stdin, name: "standard input".into() });
    }
    let file = Path::new(path).file_name().map_or(path.to_owned(), |n| n.to_string_lossy().into_owned());
    Ok(Source { port: dev, port_text, place: Place::File(path.to_owned()), name: file })
}
