//! Captures out: one interface per port, in order of time, and the dead packets apart.

use super::Plan;
use crate::fail::Failure;
use crate::files::{Folder, Pending};
use sluice_asic::mac::MIN_FRAME;
use sluice_asic::units::Time;
use sluice_pcaps::capture::CaptureTime;
use sluice_pcaps::capture::write::{
    CaptureWriter, Direction, InterfaceSpec, InterfaceStatistics, Packet, WriteError,
};
use sluice_pipeline::switch::Lost;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs::File;

/// Zeros that pad short frames.
const PAD: [u8; 60] = [0; 60];

/// A packet that left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub(crate) time: Time,
    pub(crate) dev_port: u16,
    pub(crate) tag: u64,
    pub(crate) bytes: u32,
}

/// A packet waiting for earlier ones.
struct Waiting {
    orig_len: u32,
    bytes: Vec<u8>,
}

/// A capture under construction.
struct Capture {
    file: Pending,
    writer: CaptureWriter<File>,
}

/// The captures of a run.
pub(crate) struct Outputs<'a> {
    plan: &'a Plan<'a>,
    origin: CaptureTime,
    out: Option<Capture>,
    drops: Option<Capture>,
    /// Interface of each dev_port that sent something.
    interfaces: BTreeMap<u16, u32>,
    /// Packets per interface.
    sent: Vec<u64>,
    waiting: BTreeMap<Reverse<(Time, u16, u64)>, Waiting>,
    free: Vec<Vec<u8>>,
    error: Option<WriteError>,
    last: Time,
}

impl<'a> Outputs<'a> {
    pub(crate) fn create(plan: &'a Plan<'a>, origin: CaptureTime) -> Result<Self, Failure> {
        let out = match &plan.args.output {
            Some(dir) => Some(Capture::create(&dir.join("out.pcapng"), &[])?),
            None => None,
        };
        let dead =
            [InterfaceSpec { name: "dropped", description: "packets that died in the switch", speed: 0 }];
        let drops = plan.args.drops.as_deref().map(|path| Capture::create(path, &dead)).transpose()?;
        Ok(Outputs {
            plan,
            origin,
            out,
            drops,
            interfaces: BTreeMap::new(),
            sent: Vec::new(),
            waiting: BTreeMap::new(),
            free: Vec::new(),
            error: None,
            last: Time::ORIGIN,
        })
    }

    /// The interface of a port, declared when the port first sends something.
    fn interface(&mut self, dev_port: u16) -> Result<u32, WriteError> {
        if let Some(known) = self.interfaces.get(&dev_port) {
            return Ok(*known);
        }
        let port = self.plan.ports.iter().find(|p| p.dev_port.number() == dev_port);
        let slower = self.plan.config.port_speeds.iter().find(|(dev, _)| *dev == dev_port);
        let speed = slower.map(|(_, s)| *s).or(port.map(|p| p.speed)).map_or(0, |s| s.as_bps());
        let name = port.map_or_else(|| dev_port.to_string(), ToString::to_string);
        let description = format!("dev_port {dev_port}");
        let spec = InterfaceSpec { name: &name, description: &description, speed };
        let Some(capture) = &mut self.out else { return Ok(0) };
        let number = capture.writer.add_interface(&spec)?;
        self.interfaces.insert(dev_port, number);
        self.sent.push(0);
        Ok(number)
    }

    /// Takes a packet that left; it is written when no earlier one can come.
    pub(crate) fn sent(&mut self, r: Record, head: &[u8], tail: &[u8]) {
        if self.out.is_none() {
            return;
        }
        let mut bytes = self.free.pop().unwrap_or_default();
        bytes.clear();
        bytes.extend_from_slice(head);
        bytes.extend_from_slice(tail);
        if bytes.len() == r.bytes as usize && (bytes.len() as u64) < MIN_FRAME.get() {
            bytes.extend_from_slice(&PAD[bytes.len()..]);
        }
        let orig_len = r.bytes.max(MIN_FRAME.get() as u32);
        self.waiting.insert(Reverse((r.time, r.dev_port, r.tag)), Waiting { orig_len, bytes });
    }

    /// Takes a packet that died.
    pub(crate) fn lost(&mut self, p: &Lost, reason: &str, head: &[u8], tail: &[u8]) {
        let time = self.stamp(p.time);
        let Some(capture) = &mut self.drops else { return };
        let comment = format!("packet {}: {reason}; came in by dev_port {}", p.tag, p.port);
        let packet = Packet {
            interface: 0,
            time,
            head,
            tail,
            orig_len: p.bytes,
            direction: None,
            comments: &[&comment],
        };
        if let Err(e) = capture.writer.write(&packet) {
            self.error.get_or_insert(e);
        }
    }

    fn stamp(&self, time: Time) -> CaptureTime {
        self.origin.checked_add_ps(time.as_ps()).unwrap_or(self.origin)
    }

    /// Writes every packet that left before `until`: nothing earlier can come any more.
    pub(crate) fn flush(&mut self, until: Time) -> Result<(), Failure> {
        while let Some(entry) = self.waiting.last_entry() {
            let Reverse((time, dev_port, _)) = *entry.key();
            if time > until {
                break;
            }
            let w = entry.remove();
            let stamp = self.stamp(time);
            self.last = self.last.max(time);
            let interface = self.interface(dev_port).map_err(Failure::input)?;
            self.sent[interface as usize] += 1;
            if let Some(capture) = &mut self.out {
                let packet = Packet {
                    interface,
                    time: stamp,
                    head: &w.bytes,
                    tail: &[],
                    orig_len: w.orig_len,
                    direction: Some(Direction::Outbound),
                    comments: &[],
                };
                capture.writer.write(&packet).map_err(Failure::input)?;
            }
            self.free.push(w.bytes);
        }
        self.error.take().map_or(Ok(()), |e| Err(Failure::input(e)))
    }

    /// Completes the captures; they get their names with the folder's other files.
    pub(crate) fn finish(self, folder: &mut Folder) -> Result<(), Failure> {
        let time = self.stamp(self.last);
        if let Some(Capture { file, writer }) = self.out {
            let statistics: Vec<InterfaceStatistics<'_>> = self
                .sent
                .iter()
                .zip(0..)
                .filter(|(n, _)| **n > 0)
                .map(|(n, interface)| InterfaceStatistics {
                    interface,
                    time,
                    delivered: Some(*n),
                    ..Default::default()
                })
                .collect();
            writer.finish(&statistics).map_err(Failure::input)?;
            folder.add(file, "out.pcapng", "pcapng", "packets that left, one interface per port, ns stamps");
        }
        if let Some(Capture { file, writer }) = self.drops {
            writer.finish(&[]).map_err(Failure::input)?;
            file.finish()?;
        }
        Ok(())
    }
}

impl Capture {
    fn create(path: &std::path::Path, specs: &[InterfaceSpec<'_>]) -> Result<Capture, Failure> {
        let file = Pending::create(path)?;
        let writer = CaptureWriter::new(file.handle()?, specs).map_err(Failure::input)?;
        Ok(Capture { file, writer })
    }
}
