//! Captures and the ports they go into. What may not live here: pace.

use crate::fail::Failure;
use sluice_asic::port::{DevPort, PortMap, PortName};
use sluice_pcaps::capture::{CaptureError, CaptureReader, CaptureTime};
use sluice_pcaps::merge::Merge;
use sluice_pcaps::samples;
use std::path::Path;

/// One input as the user named it.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) port: DevPort,
    pub(crate) port_text: String,
    /// `None` for the embedded sample.
    path: Option<String>,
    /// File name without folders.
    pub(crate) name: String,
}

/// What is known of an input after the run.
#[derive(Clone, Debug, Default)]
pub(crate) struct InputResult {
    pub(crate) packets: u64,
    pub(crate) truncated: Option<String>,
    pub(crate) oddities: Vec<String>,
}

/// All inputs.
pub(crate) struct Inputs {
    pub(crate) sources: Vec<Source>,
    origin: CaptureTime,
}

impl Inputs {
    /// Parses and opens the inputs once, to see that they are captures and when they begin.
    pub(crate) fn open(texts: &[String], ports: &PortMap) -> Result<Inputs, Failure> {
        let sources = match texts {
            [] => vec![sample(ports)?],
            texts => texts.iter().map(|t| source(t, ports)).collect::<Result<_, _>>()?,
        };
        let mut first = Vec::new();
        for s in &sources {
            let mut reader = reader(s)?;
            first.extend(reader.next_frame().map_err(|e| bad(&e))?.map(|f| f.time));
        }
        let origin = first.into_iter().min().unwrap_or_default();
        Ok(Inputs { sources, origin })
    }

    /// Time zero: the earliest stamp.
    pub(crate) fn origin(&self) -> CaptureTime {
        self.origin
    }

    /// A fresh reading of all inputs, merged by time.
    pub(crate) fn merge(&self) -> Result<Merge<'static>, Failure> {
        Ok(Merge::new(self.sources.iter().map(reader).collect::<Result<_, _>>()?))
    }
}

/// A capture that cannot be used.
pub(crate) fn bad(e: &CaptureError) -> Failure {
    Failure::with_help(e, e.help())
}

fn reader(s: &Source) -> Result<CaptureReader<'static>, Failure> {
    match &s.path {
        None => CaptureReader::from_bytes(samples::L3_ECMP, s.name.clone()).map_err(|e| bad(&e)),
        Some(path) => CaptureReader::open(path).map_err(|e| bad(&e)),
    }
}

fn sample(ports: &PortMap) -> Result<Source, Failure> {
    let name = PortName::Front(sluice_asic::port::FrontPort(0));
    let port = ports.resolve(name).map_err(Failure::input)?.dev_port;
    Ok(Source { port, port_text: "0".into(), path: None, name: "l3-ecmp.pcap (embedded sample)".into() })
}

fn source(text: &str, ports: &PortMap) -> Result<Source, Failure> {
    let usage = "write PORT@FILE: 0@trace.pcap for front-panel port 0, dev:137@trace.pcap for a dev_port";
    let (port, path) = text
        .split_once('@')
        .ok_or_else(|| Failure::with_help(format!("input `{text}` names no port"), usage))?;
    let name: PortName = port.parse().map_err(|e| Failure::with_help(e, usage))?;
    let dev = ports.resolve(name).map_err(Failure::input)?.dev_port;
    let file = Path::new(path).file_name().map_or(path.to_owned(), |n| n.to_string_lossy().into_owned());
    Ok(Source { port: dev, port_text: port.to_owned(), path: Some(path.to_owned()), name: file })
}
