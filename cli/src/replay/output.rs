//! Captures out: one interface per port, in order of time, and the dead packets apart.

use super::Plan;
use super::behind::Behind;
use super::order::{Order, Waiting};
use crate::fail::Failure;
use crate::files::{Folder, Pending};
use sluice_asic::mac::MIN_FRAME;
use sluice_asic::units::Time;
use sluice_pcaps::capture::write::{
    CaptureWriter, Direction, InterfaceSpec, InterfaceStatistics, Packet, WriteError,
};
use sluice_pcaps::capture::{CaptureTime, MAX_FRAME_LEN};
use sluice_pipeline::switch::{Left, Mode};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

/// Zeros that pad short frames.
const PAD: [u8; 60] = [0; 60];

/// The interfaces of the capture of dead packets.
const DEAD: [InterfaceSpec<'static>; 2] = [
    InterfaceSpec { name: "dropped", description: "packets that died in the switch", speed: 0 },
    InterfaceSpec { name: "absorbed", description: "packets that the program consumed on purpose", speed: 0 },
];

/// What a port counted, for the statistics at the end of a capture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortCounts {
    pub(crate) dev_port: u16,
    pub(crate) received: u64,
    /// Lost in its queues.
    pub(crate) dropped: u64,
}

/// The end of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Death {
    pub(crate) time: Time,
    /// Consumed on purpose.
    pub(crate) absorbed: bool,
    /// Bytes that it had on the wire.
    pub(crate) bytes: u32,
}

/// The captures of a run.
pub(crate) struct Outputs<'a> {
    plan: &'a Plan<'a>,
    origin: CaptureTime,
    out: Option<Sent>,
    drops: Option<Dead>,
    error: Option<WriteError>,
}

/// The capture of what left.
struct Sent {
    capture: Capture,
    /// Interface of each dev_port that sent something, and how many packets.
    interfaces: Vec<Option<(u32, u64)>>,
    waiting: Order,
    last: Time,
}

/// The capture of what died. Deaths are not told in order, and there are few of them.
struct Dead {
    capture: Capture,
    waiting: BTreeMap<(Time, u64), (u32, Waiting, Vec<u8>)>,
    seq: u64,
    counts: [u64; DEAD.len()],
    last: Time,
}

/// A capture under construction.
struct Capture {
    file: Pending,
    writer: CaptureWriter<Behind<File>>,
}

impl<'a> Outputs<'a> {
    /// Writes what leaves to `out`, what dies to `drops`.
    pub(crate) fn create(
        plan: &'a Plan<'a>,
        origin: CaptureTime,
        out: Option<&Path>,
        drops: Option<&Path>,
    ) -> Result<Self, Failure> {
        let mut outputs = Outputs::nowhere(plan, origin);
        if let Some(path) = out {
            outputs.out = Some(Sent {
                capture: Capture::create(path, &[])?,
                interfaces: Vec::new(),
                waiting: Order::default(),
                last: Time::ORIGIN,
            });
        }
        if let Some(path) = drops {
            outputs.drops = Some(Dead {
                capture: Capture::create(path, &DEAD)?,
                waiting: BTreeMap::new(),
                seq: 0,
                counts: [0; DEAD.len()],
                last: Time::ORIGIN,
            });
        }
        Ok(outputs)
    }

    /// Writes nothing.
    pub(crate) fn nowhere(plan: &'a Plan<'a>, origin: CaptureTime) -> Self {
        Outputs { plan, origin, out: None, drops: None, error: None }
    }

    /// Whether packets that left are written.
    pub(crate) const fn wants_sent(&self) -> bool {
        self.out.is_some()
    }

    /// Whether packets that died are written.
    pub(crate) const fn wants_lost(&self) -> bool {
        self.drops.is_some()
    }

    /// Takes a packet that left; it is written when no earlier one can come.
    pub(crate) fn sent(&mut self, p: &Left, comment: Option<String>, head: &[u8], tail: &[u8]) {
        let Some(out) = &mut self.out else { return };
        let at_hand = head.len() + tail.len();
        let short = at_hand == p.bytes as usize && (at_hand as u64) < MIN_FRAME.get();
        let pad = if short { &PAD[at_hand..] } else { &[] };
        let packet = Waiting {
            time: p.first_bit,
            captured: (at_hand + pad.len()) as u32,
            orig_len: p.bytes.max(MIN_FRAME.get() as u32),
            comment: comment.map(String::into_boxed_str),
        };
        // Without time packets leave in the order in which they are told.
        if self.plan.config.mode == Mode::Functional && pad.is_empty() {
            let written = out.write(self.plan, self.origin, p.egress_port, &packet, head, tail);
            note(&mut self.error, written);
        } else {
            out.waiting.push(p.egress_port, packet, [head, tail, pad]);
            if self.plan.config.mode == Mode::Functional {
                let written = out.flush(self.plan, self.origin, Time::MAX);
                note(&mut self.error, written);
            }
        }
    }

    /// Takes a packet that died.
    pub(crate) fn lost(&mut self, p: &Death, comment: String, head: &[u8], tail: &[u8]) {
        let Some(dead) = &mut self.drops else { return };
        let bytes = [head, tail].concat();
        let comment = Some(comment.into_boxed_str());
        let w = Waiting { time: p.time, captured: bytes.len() as u32, orig_len: p.bytes, comment };
        dead.seq += 1;
        dead.waiting.insert((p.time, dead.seq), (u32::from(p.absorbed), w, bytes));
    }

    /// Writes every packet that left or died until then: nothing earlier can come any more.
    pub(crate) fn flush(&mut self, until: Time) -> Result<(), Failure> {
        if let Some(out) = &mut self.out {
            let written = out.flush(self.plan, self.origin, until);
            note(&mut self.error, written);
        }
        if let Some(dead) = &mut self.drops {
            let written = dead.flush(self.origin, until);
            note(&mut self.error, written);
        }
        self.error.take().map_or(Ok(()), |e| Err(Failure::input(e)))
    }

    /// Completes the captures; they get their names with the folder's other files.
    pub(crate) fn finish(
        self,
        folder: &mut Folder,
        name: &str,
        counts: &[PortCounts],
    ) -> Result<(), Failure> {
        if let Some(out) = self.out {
            let file = out.finish(self.origin, counts)?;
            folder.add(file, name, "pcapng", "packets that left, one interface per port, ns stamps");
        }
        match self.drops {
            Some(dead) => dead.finish(self.origin),
            None => Ok(()),
        }
    }
}

/// Keeps the first error for the next flush: a sink cannot fail.
fn note(first: &mut Option<WriteError>, result: Result<(), WriteError>) {
    if let Err(e) = result {
        first.get_or_insert(e);
    }
}

/// The pieces of a frame, as far as captures hold them: headers may have made it longer than one may be.
fn held<'b>(head: &'b [u8], tail: &'b [u8]) -> (&'b [u8], &'b [u8]) {
    let room = MAX_FRAME_LEN as usize;
    let head = &head[..head.len().min(room)];
    (head, &tail[..tail.len().min(room - head.len())])
}

fn stamp(origin: CaptureTime, time: Time) -> CaptureTime {
    origin.checked_add_ps(time.as_ps()).unwrap_or(origin)
}

impl Sent {
    fn flush(&mut self, plan: &Plan<'_>, origin: CaptureTime, until: Time) -> Result<(), WriteError> {
        let mut waiting = std::mem::take(&mut self.waiting);
        let mut result = Ok(());
        while result.is_ok()
            && let Some(written) =
                waiting.pop(until, |port, w, head, tail| self.write(plan, origin, port, &w, head, tail))
        {
            result = written;
        }
        self.waiting = waiting;
        result
    }

    #[inline]
    fn write(
        &mut self,
        plan: &Plan<'_>,
        origin: CaptureTime,
        port: u16,
        w: &Waiting,
        head: &[u8],
        tail: &[u8],
    ) -> Result<(), WriteError> {
        let known = self.interfaces.get_mut(usize::from(port)).and_then(Option::as_mut);
        let interface = match known {
            Some((number, packets)) => {
                *packets += 1;
                *number
            }
            None => self.declare(plan, port)?,
        };
        self.last = self.last.max(w.time);
        let (head, tail) = held(head, tail);
        let comments: &[&str] = &[w.comment.as_deref().unwrap_or_default()];
        self.capture.writer.write(&Packet {
            interface,
            time: stamp(origin, w.time),
            head,
            tail,
            orig_len: w.orig_len,
            direction: Some(Direction::Outbound),
            comments: &comments[..usize::from(w.comment.is_some())],
        })
    }

    /// The interface of a port that sends for the first time.
    #[cold]
    fn declare(&mut self, plan: &Plan<'_>, port: u16) -> Result<u32, WriteError> {
        let (name, description) = (plan.port_name(port), format!("dev_port {port}"));
        let speed = plan.speed_of(port).as_bps();
        let spec = InterfaceSpec { name: &name, description: &description, speed };
        let number = self.capture.writer.add_interface(&spec)?;
        let index = usize::from(port);
        if self.interfaces.len() <= index {
            self.interfaces.resize(index + 1, None);
        }
        self.interfaces[index] = Some((number, 1));
        Ok(number)
    }

    fn finish(self, origin: CaptureTime, counts: &[PortCounts]) -> Result<Pending, Failure> {
        let time = stamp(origin, self.last);
        let used = self.interfaces.iter().zip(0u16..);
        let mut statistics: Vec<InterfaceStatistics<'_>> = used
            .filter_map(|(interface, port)| {
                let (interface, sent) = (*interface)?;
                let counted = counts.iter().find(|c| c.dev_port == port);
                Some(InterfaceStatistics {
                    interface,
                    time,
                    received: counted.map(|c| c.received),
                    dropped: counted.map(|c| c.dropped),
                    delivered: Some(sent),
                    comments: &[],
                })
            })
            .collect();
        statistics.sort_by_key(|s| s.interface);
        self.capture.writer.finish(&statistics).map_err(Failure::input)?;
        Ok(self.capture.file)
    }
}

impl Dead {
    fn flush(&mut self, origin: CaptureTime, until: Time) -> Result<(), WriteError> {
        while let Some(entry) = self.waiting.first_entry().filter(|e| e.key().0 <= until) {
            let (interface, w, bytes) = entry.remove();
            self.counts[interface as usize] += 1;
            self.last = self.last.max(w.time);
            let (head, tail) = held(&bytes, &[]);
            self.capture.writer.write(&Packet {
                interface,
                time: stamp(origin, w.time),
                head,
                tail,
                orig_len: w.orig_len,
                direction: None,
                comments: &[w.comment.as_deref().unwrap_or_default()],
            })?;
        }
        Ok(())
    }

    fn finish(self, origin: CaptureTime) -> Result<(), Failure> {
        let time = stamp(origin, self.last);
        let statistics: Vec<InterfaceStatistics<'_>> = (0..)
            .zip(self.counts)
            .map(|(interface, dropped)| InterfaceStatistics {
                interface,
                time,
                dropped: Some(dropped),
                ..Default::default()
            })
            .collect();
        self.capture.writer.finish(&statistics).map_err(Failure::input)?;
        self.capture.file.finish()
    }
}

impl Capture {
    fn create(path: &Path, specs: &[InterfaceSpec<'_>]) -> Result<Capture, Failure> {
        let file = Pending::create(path)?;
        let writer = CaptureWriter::new(Behind::new(file.handle()?), specs).map_err(Failure::input)?;
        Ok(Capture { file, writer })
    }
}
