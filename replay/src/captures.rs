//! Captures out: one interface per port, in order of time, and the dead packets apart.

use super::Plan;
use super::order::Waiting;
use super::scribe::Scribe;
use super::sent::Sent;
use crate::fail::Failure;
use crate::files::{Folder, Pending};
use sluice_asic::mac::MIN_FRAME;
use sluice_asic::units::Time;
use sluice_pcaps::capture::write::{CaptureWriter, InterfaceSpec, InterfaceStatistics, Packet, WriteError};
use sluice_pcaps::capture::{CaptureTime, MAX_FRAME_LEN};
use sluice_pipeline::switch::Left;
use std::collections::BTreeMap;
use std::io::Write;
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
pub(crate) struct Outputs {
    origin: CaptureTime,
    out: Option<Scribe>,
    drops: Option<Dead>,
    error: Option<WriteError>,
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
pub(super) struct Capture {
    pub(super) file: Pending,
    pub(super) writer: CaptureWriter<Box<dyn Write + Send>>,
}

impl Outputs {
    /// Writes what leaves to `out`, what dies to `drops`.
    pub(crate) fn create(
        plan: &Plan<'_>,
        origin: CaptureTime,
        out: Option<&Path>,
        drops: Option<&Path>,
    ) -> Result<Self, Failure> {
        let mut outputs = Outputs::nowhere(origin);
        if let Some(path) = out {
            outputs.out = Some(Scribe::new(Sent::new(plan, Capture::create(path, &[])?, origin)));
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
    pub(crate) const fn nowhere(origin: CaptureTime) -> Self {
        Outputs { origin, out: None, drops: None, error: None }
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
        note(&mut self.error, out.add(p.egress_port, packet, [head, tail, pad]));
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
            let written = out.flush(until);
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
            let file = out.finish(counts)?;
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
pub(super) fn held<'b>(head: &'b [u8], tail: &'b [u8]) -> (&'b [u8], &'b [u8]) {
    let room = MAX_FRAME_LEN as usize;
    let head = &head[..head.len().min(room)];
    (head, &tail[..tail.len().min(room - head.len())])
}

pub(super) fn stamp(origin: CaptureTime, time: Time) -> CaptureTime {
    origin.checked_add_ps(time.as_ps()).unwrap_or(origin)
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
        let out: Box<dyn Write + Send> = Box::new(file.handle()?);
        let writer = CaptureWriter::new(out, specs).map_err(Failure::input)?;
        Ok(Capture { file, writer })
    }
}
