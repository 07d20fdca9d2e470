//! Captures of a run: sent packets, and packets that ended inside.

use crate::capture_writer::CaptureWriter;
use crate::error::Error;
use crate::sent_capture::SentCapture;
use crate::time_order::Waiting;
use crate::view::SwitchView;
use sluice_asic::mac::MIN_FRAME;
use sluice_asic::units::Time;
use sluice_pcaps::capture::MAX_FRAME_LEN;
use sluice_pcaps::capture::write::{InterfaceSpec, InterfaceStatistics, Packet, WriteError};
use sluice_pcaps::replay::Stamps;
use sluice_switch::Left;
use std::collections::BTreeMap;
use std::io::Write;

/// Zeros that pad short frames.
const PAD: [u8; 60] = [0; 60];

/// Interfaces of a capture of packets that ended inside.
const LOST: [InterfaceSpec<'static>; 2] = [
    InterfaceSpec { name: "dropped", description: "packets that died in the switch", speed: 0 },
    InterfaceSpec { name: "absorbed", description: "packets that the program consumed on purpose", speed: 0 },
];

/// Counters of a port, for the statistics at the end of a capture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortCounts {
    pub(crate) dev_port: u16,
    pub(crate) received: u64,
    /// Packets dropped in the queues of the port.
    pub(crate) dropped: u64,
}

/// End of a packet inside a switch or on a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub(crate) time: Time,
    /// True if the program consumed the packet on purpose.
    pub(crate) absorbed: bool,
    /// Bytes on the wire.
    pub(crate) bytes: u32,
}

/// Writers of captures in pcapng. A writer that is `None` is not used.
#[derive(Default)]
pub struct Captures {
    /// Sent packets: one interface per port, in order of time, timestamps in ns.
    pub sent: Option<Box<dyn Write + Send>>,
    /// Packets that ended inside the switch, with reason and place as comment. There is one interface for dropped
    /// packets and one for absorbed packets.
    pub lost: Option<Box<dyn Write + Send>>,
}

/// The writer of a pcapng file.
pub(crate) type PcapngWriter = sluice_pcaps::capture::write::CaptureWriter<Box<dyn Write + Send>>;

/// The captures of a run while they are written.
pub(crate) struct CaptureOutputs {
    stamps: Stamps,
    sent: Option<CaptureWriter>,
    lost: Option<LostCapture>,
    error: Option<WriteError>,
}

/// A capture of packets that ended inside. Packets are sorted here, because the switch does not report their ends in
/// order of time.
struct LostCapture {
    writer: PcapngWriter,
    waiting: BTreeMap<(Time, u64), (u32, Waiting, Vec<u8>)>,
    seq: u64,
    counts: [u64; LOST.len()],
    last: Time,
}

impl CaptureOutputs {
    /// Starts the captures.
    pub(crate) fn new(view: &SwitchView<'_>, stamps: Stamps, captures: Captures) -> Result<Self, WriteError> {
        let sent = captures.sent.map(|out| SentCapture::new(view, out, stamps.clone())).transpose()?;
        let lost = captures.lost.map(|out| PcapngWriter::new(out, &LOST)).transpose()?;
        let lost = lost.map(|writer| LostCapture {
            writer,
            waiting: BTreeMap::new(),
            seq: 0,
            counts: [0; LOST.len()],
            last: Time::ORIGIN,
        });
        Ok(CaptureOutputs { stamps, sent: sent.map(CaptureWriter::new), lost, error: None })
    }

    /// True if sent packets are written.
    #[inline]
    pub(crate) const fn wants_sent(&self) -> bool {
        self.sent.is_some()
    }

    /// True if packets that ended inside are written.
    #[inline]
    pub(crate) const fn wants_lost(&self) -> bool {
        self.lost.is_some()
    }

    /// Takes a sent packet. The packet is written when no earlier packet can follow.
    pub(crate) fn sent(&mut self, p: &Left, comment: Option<String>, head: &[u8], tail: &[u8]) {
        let Some(out) = &mut self.sent else { return };
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

    /// Takes a packet that ended inside.
    pub(crate) fn lost(&mut self, p: &End, comment: String, head: &[u8], tail: &[u8]) {
        let Some(lost) = &mut self.lost else { return };
        let bytes = [head, tail].concat();
        let comment = Some(comment.into_boxed_str());
        let w = Waiting { time: p.time, captured: bytes.len() as u32, orig_len: p.bytes, comment };
        lost.seq += 1;
        lost.waiting.insert((p.time, lost.seq), (u32::from(p.absorbed), w, bytes));
    }

    /// Writes every packet up to `until`. No earlier packet may follow.
    pub(crate) fn flush(&mut self, until: Time) -> Result<(), Error> {
        if let Some(out) = &mut self.sent {
            let written = out.flush(until);
            note(&mut self.error, written);
        }
        if let Some(lost) = &mut self.lost {
            let written = lost.flush(&mut self.stamps, until);
            note(&mut self.error, written);
        }
        self.error.take().map_or(Ok(()), |e| Err(e.into()))
    }

    /// Completes the captures.
    pub(crate) fn finish(self, counts: &[PortCounts]) -> Result<(), WriteError> {
        if let Some(out) = self.sent {
            out.finish(counts)?;
        }
        match self.lost {
            Some(lost) => lost.finish(self.stamps),
            None => Ok(()),
        }
    }
}

/// Keeps the first error for the next flush, because methods of a sink return nothing.
fn note(first: &mut Option<WriteError>, result: Result<(), WriteError>) {
    if let Err(e) = result {
        first.get_or_insert(e);
    }
}

/// Returns the pieces of a frame, cut to the length of the longest frame in a capture: added headers may have made the
/// frame longer.
pub(crate) fn at_most_longest<'b>(head: &'b [u8], tail: &'b [u8]) -> (&'b [u8], &'b [u8]) {
    let room = MAX_FRAME_LEN as usize;
    let head = &head[..head.len().min(room)];
    (head, &tail[..tail.len().min(room - head.len())])
}

impl LostCapture {
    fn flush(&mut self, stamps: &mut Stamps, until: Time) -> Result<(), WriteError> {
        while let Some(entry) = self.waiting.first_entry().filter(|e| e.key().0 <= until) {
            let (interface, w, bytes) = entry.remove();
            self.counts[interface as usize] += 1;
            self.last = self.last.max(w.time);
            let (head, tail) = at_most_longest(&bytes, &[]);
            self.writer.write(&Packet {
                interface,
                time: stamps.at(w.time.as_ps()),
                head,
                tail,
                orig_len: w.orig_len,
                direction: None,
                comments: &[w.comment.as_deref().unwrap_or_default()],
            })?;
        }
        Ok(())
    }

    fn finish(self, mut stamps: Stamps) -> Result<(), WriteError> {
        let time = stamps.at(self.last.as_ps());
        let statistics: Vec<InterfaceStatistics<'_>> = (0..)
            .zip(self.counts)
            .map(|(interface, dropped)| InterfaceStatistics {
                interface,
                time,
                dropped: Some(dropped),
                ..Default::default()
            })
            .collect();
        self.writer.finish(&statistics).map(drop)
    }
}
