//! Observations of DstToR in one run, which its models judge: DATA with its fate and its answers, and timer packets that
//! ended.

use super::Params;
use super::model::{Role, TorModel};
use super::wire::{Frame, Header, opcode, read};
use crate::model::Entries;
use sluice_asic::units::Time;
use sluice_switch::Reason;
use sluice_switch::property::{Departed, Ended, Entered, Finding, Property, Settled};
use std::marker::PhantomData;

/// Largest number of packets that are kept per run.
const MOST: usize = 1 << 14;
/// Positions of the flow's row, and of its epoch and phase, in a timer packet.
const ROW: usize = 67;
const BITS: usize = 50;
const TIMER: [u8; 2] = [0x20, 0x01];

/// Copies of a packet that became control packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Answers {
    pub(super) reply: u8,
    pub(super) clear: u8,
    pub(super) notify: u8,
}

impl Answers {
    fn count(&mut self, header: &Header) {
        match (header.opcode, header.phase) {
            (opcode::REPLY, 0) => self.reply += 1,
            (opcode::REPLY, _) => self.clear += 1,
            _ => self.notify += 1,
        }
    }
}

/// When and how a packet was sent. Times are in ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) port: u16,
    pub(super) queue: u8,
    pub(super) first_bit: u64,
    pub(super) last_bit: u64,
}

/// A packet that arrived.
#[derive(Clone, Debug)]
pub(super) struct Arrived {
    pub(super) port: u16,
    pub(super) time: Time,
    pub(super) bytes: Vec<u8>,
    pub(super) sent: Option<Sent>,
    /// True if it was refused before the flow's state was looked up.
    refused: bool,
    pub(super) answers: Answers,
}

/// A timer packet that ended because its queue is empty.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    /// The packet that began to wait.
    pub(super) tag: u64,
    /// In ns.
    pub(super) time: u64,
    pub(super) row: u16,
    pub(super) epoch: u8,
    pub(super) phase: u8,
}

/// DATA for a host of this ToR, of a flow in the flow table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Data<'a> {
    pub(super) tag: u64,
    /// The flow's row.
    pub(super) row: u128,
    pub(super) packet: &'a Arrived,
    pub(super) frame: Frame,
}

/// The observations of one run.
#[derive(Clone, Debug, Default)]
pub(super) struct Observed {
    pub(super) packets: Vec<Arrived>,
    pub(super) done: Vec<Done>,
    /// Time of the last event in ns.
    pub(super) now: u64,
    /// True if entries, queues or ports change, or packets were lost for another reason than the program's.
    pub(super) unknown: bool,
}

/// A model of DstToR that judges a run by its observations.
pub(super) trait Judge: Send {
    /// Name of the property.
    const NAME: &'static str;

    /// Returns the model of a program with these parameters for the observations of a run.
    fn new(p: &Params, seen: Observed) -> Self;

    /// Returns the first deviation of the run from the model.
    fn judge(&self, entries: &Entries<'_>) -> Finding;
}

/// The property that a run is as the model `J` says, judged after the run. Not judged are runs whose observations do not
/// suffice ([`Observed::unknown`]), and runs after which the device is busy.
pub(super) struct AfterRun<J> {
    p: Params,
    seen: Observed,
    judge: PhantomData<J>,
}

impl<J> AfterRun<J> {
    pub(super) fn new(p: &Params) -> Self {
        AfterRun { p: p.clone(), seen: Observed::default(), judge: PhantomData }
    }
}

impl<J: Judge> Property for AfterRun<J> {
    fn name(&self) -> &'static str {
        J::NAME
    }

    fn entered(&mut self, packet: &Entered<'_>) -> Finding {
        self.seen.entered(packet);
        Ok(())
    }

    fn changed(&mut self) {
        self.seen.unknown = true;
    }

    fn disturbed(&mut self) {
        self.seen.unknown = true;
    }

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        self.seen.left(packet);
        Ok(())
    }

    fn ended(&mut self, packet: &Ended<'_>) -> Finding {
        self.seen.ended(packet);
        Ok(())
    }

    fn settled(&mut self, device: &Settled<'_>) -> Finding {
        let seen = std::mem::take(&mut self.seen);
        if seen.unknown || device.busy {
            return Ok(());
        }
        J::new(&self.p, seen).judge(&Entries::new(device.program, device.control))
    }
}

/// Reasons of the device that say nothing about the program.
const EXCUSES: [&str; 5] =
    ["port_down", "queue_tail_drop", "buffer_full", "no_such_queue", "ingress_overrun"];

/// Returns true for a reason for which a packet ends before the flow's state is looked up.
fn is_refused(reason: &str) -> bool {
    matches!(reason, "bad_checksum" | "ttl_expired" | "no_route" | "foreign" | "parser_partial_header")
}

impl Observed {
    pub(super) fn entered(&mut self, packet: &Entered<'_>) {
        let origin = packet.packet;
        self.now = self.now.max(origin.time.as_nanos());
        self.unknown |= self.packets.len() >= MOST;
        if !self.unknown {
            self.packets.push(Arrived {
                port: origin.port,
                time: origin.time,
                bytes: origin.bytes.to_vec(),
                sent: None,
                refused: false,
                answers: Answers::default(),
            });
        }
    }

    pub(super) fn left(&mut self, packet: &Departed<'_>) {
        let left = &packet.left;
        self.now = self.now.max(left.first_bit.as_nanos());
        let tag = usize::try_from(left.tag).unwrap_or(usize::MAX);
        let Some(arrived) = self.packets.get_mut(tag) else { return };
        match read(packet.bytes) {
            Some(sent) if left.made => arrived.answers.count(&sent.header),
            _ => {
                let (first_bit, last_bit) = (left.first_bit.as_nanos(), left.last_bit.as_nanos());
                arrived.sent = Some(Sent { port: left.egress_port, queue: left.qid, first_bit, last_bit });
            }
        }
    }

    pub(super) fn ended(&mut self, packet: &Ended<'_>) {
        let time = packet.lost.time.as_nanos();
        self.now = self.now.max(time);
        let tag = usize::try_from(packet.lost.tag).unwrap_or(usize::MAX);
        let Some(arrived) = self.packets.get_mut(tag) else { return };
        self.unknown |= EXCUSES.contains(&packet.reason) || matches!(packet.why(), Reason::Buffer(_));
        if packet.bytes.get(12..14) == Some(&TIMER) && arrived.bytes.get(12..14) != Some(&TIMER) {
            if let (Some(&[a, b]), Some(bits)) = (packet.bytes.get(ROW..ROW + 2), packet.bytes.get(BITS)) {
                let (row, epoch, phase) = (u16::from_be_bytes([a, b]), bits >> 2 & 3, bits >> 4 & 1);
                self.done.push(Done { tag: packet.lost.tag, time, row, epoch, phase });
            }
            return;
        }
        let came = read(&arrived.bytes).map_or(0, |frame| frame.header.opcode);
        match read(packet.bytes).map(|frame| frame.header) {
            // A copy for which there is no route.
            Some(header) if came == opcode::DATA && header.opcode > opcode::DATA => {
                arrived.answers.count(&header);
            }
            _ => arrived.refused |= is_refused(packet.reason),
        }
    }

    /// Returns all DATA at DstToR, in order of arrival; `None` if the fate of a packet is not known.
    pub(super) fn data(&self, p: &Params, entries: &Entries<'_>) -> Option<Vec<Data<'_>>> {
        let tor = TorModel { pipe: p.pipe as u16 };
        let mut list = Vec::new();
        for (tag, packet) in (0u64..).zip(&self.packets).filter(|(_, packet)| !packet.refused) {
            let Some(frame) = read(&packet.bytes) else { continue };
            let Some(routed) = tor.routed(entries, packet.port, &packet.bytes) else { continue };
            let Role::Destination(flow) = routed.role else { continue };
            packet.sent?;
            list.push(Data { tag, row: flow.row, packet, frame });
        }
        Some(list)
    }
}
