//! Captures and the ports they go into.

use super::stdin::Stdin;
use crate::fail::Failure;
use sluice_asic::port::{DevPort, FrontPort, PortMap, PortName};
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
    /// An embedded sample.
    Sample(&'static [u8]),
    Stdin,
    File(String),
}

/// One input as the user named it.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// Number of the switch in a network; 0 without one.
    pub(crate) switch: u32,
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
    /// The switches that these ports belong to.
    pub(crate) switches: Vec<u32>,
    stop: Arc<AtomicBool>,
}

impl Inputs {
    /// Takes the inputs' names apart; without any it is the program's sample. `stop` ends standard input early.
    pub(crate) fn parse(
        texts: &[String],
        program: &str,
        ports: &PortMap,
        stop: Arc<AtomicBool>,
    ) -> Result<Inputs, Failure> {
        let sources = match texts {
            [] => samples_of(program, ports)?,
            texts => texts.iter().map(|t| source(t, ports)).collect::<Result<_, _>>()?,
        };
        Inputs::of(sources, stop)
    }

    /// The inputs of a network: `port` finds what stands before the `@`.
    pub(crate) fn into_network(
        texts: &[String],
        port: impl Fn(&str) -> Result<(u32, DevPort), Failure>,
        stop: Arc<AtomicBool>,
    ) -> Result<Inputs, Failure> {
        let source = |text: &String| {
            let usage = "write SWITCH:PORT@FILE, for example leaf0:0@trace.pcap";
            let (name, path) = text
                .split_once('@')
                .ok_or_else(|| Failure::with_help(format!("input `{text}` names no port"), usage))?;
            let (switch, port) = port(name)?;
            Ok(named(switch, port, name, path))
        };
        Inputs::of(texts.iter().map(source).collect::<Result<_, Failure>>()?, stop)
    }

    /// The embedded samples of a network: place, name and bytes of each.
    pub(crate) fn of_samples(
        samples: &[(&str, &str, &'static [u8])],
        port: impl Fn(&str) -> Result<(u32, DevPort), Failure>,
        stop: Arc<AtomicBool>,
    ) -> Result<Inputs, Failure> {
        let source = |(place, file, bytes): &(&str, &str, &'static [u8])| {
            let (switch, port) = port(place)?;
            let name = format!("{file} (embedded sample)");
            Ok(Source { switch, port, port_text: (*place).to_owned(), place: Place::Sample(bytes), name })
        };
        Inputs::of(samples.iter().map(source).collect::<Result<_, Failure>>()?, stop)
    }

    fn of(sources: Vec<Source>, stop: Arc<AtomicBool>) -> Result<Inputs, Failure> {
        if sources.iter().filter(|s| s.place == Place::Stdin).count() > 1 {
            return Err(Failure::with_help("two inputs are standard input", "give one of them as a file"));
        }
        let mut places: Vec<(u32, DevPort)> = Vec::new();
        for s in &sources {
            if !places.contains(&(s.switch, s.port)) {
                places.push((s.switch, s.port));
            }
        }
        let (switches, ports) = places.into_iter().unzip();
        Ok(Inputs { sources, ports, switches, stop })
    }

    /// Those of one switch.
    pub(crate) fn at(&self, switch: u32) -> Inputs {
        let places = self.switches.iter().zip(&self.ports).filter(|(s, _)| **s == switch);
        let (switches, ports) = places.map(|(s, p)| (*s, *p)).unzip();
        let sources = self.sources.iter().filter(|s| s.switch == switch).cloned().collect();
        Inputs { sources, ports, switches, stop: Arc::clone(&self.stop) }
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
        speed: impl Fn(u32, DevPort) -> BitRate,
    ) -> Result<Feed<'static>, CaptureError> {
        let port = |(switch, port): (&u32, &DevPort)| Port {
            inputs: (0..self.sources.len())
                .filter(|i| (self.sources[*i].switch, self.sources[*i].port) == (*switch, *port))
                .collect(),
            line: speed(*switch, *port).as_bps(),
        };
        let (sources, stop) = (self.sources.clone(), Arc::clone(&self.stop));
        let open = move |input: usize| reader(&sources[input], &stop);
        Feed::new(self.switches.iter().zip(&self.ports).map(port).collect(), schedule, Box::new(open))
    }

    /// Whether somebody may still be making the bytes of an input.
    pub(crate) fn wait(&self) -> bool {
        self.sources.iter().any(|s| s.place == Place::Stdin)
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

fn samples_of(program: &str, ports: &PortMap) -> Result<Vec<Source>, Failure> {
    let own = sluice_programs::by_name(program).ok().and_then(|program| program.sample());
    let (file, bytes) = own.unwrap_or_else(|| samples::of(program));
    let all = std::iter::once((0, file, bytes)).chain(samples::beside(program).iter().copied());
    let source = |(front, file, bytes): (u16, &str, &'static [u8])| {
        let name = PortName::Front(FrontPort(front));
        let port = ports.resolve(name).map_err(Failure::input)?.dev_port;
        let name = format!("{file} (embedded sample)");
        Ok(Source { switch: 0, port, port_text: front.to_string(), place: Place::Sample(bytes), name })
    };
    all.map(source).collect()
}

fn source(text: &str, ports: &PortMap) -> Result<Source, Failure> {
    let usage = "write PORT@FILE: 0@trace.pcap for front-panel port 0, dev:137@trace.pcap for a dev_port, 0@- for \
                 standard input";
    let (port, path) = text
        .split_once('@')
        .ok_or_else(|| Failure::with_help(format!("input `{text}` names no port"), usage))?;
    let name: PortName = port.parse().map_err(|e| Failure::with_help(e, usage))?;
    let dev = ports.resolve(name).map_err(Failure::input)?.dev_port;
    Ok(named(0, dev, port, path))
}

/// The input of a path, or standard input.
fn named(switch: u32, port: DevPort, text: &str, path: &str) -> Source {
    let port_text = text.to_owned();
    if path == "-" {
        return Source { switch, port, port_text, place: Place::Stdin, name: "standard input".into() };
    }
    let name = Path::new(path).file_name().map_or(path.to_owned(), |n| n.to_string_lossy().into_owned());
    Source { switch, port, port_text, place: Place::File(path.to_owned()), name }
}
