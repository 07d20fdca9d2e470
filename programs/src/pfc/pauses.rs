//! Model of requested pauses in plain Rust: which PFC frames `pfc` must send (IEEE 802.1Qbb; model: buffer §2).
//!
//! The model sees packets on the wire. It estimates when a packet was dequeued from the time at which it was sent and the
//! time that it spent in the queue, and judges only what holds for all times within a margin of the estimate.

use super::Params;
use super::model::one_class;
use crate::model::Entries;
use sluice_asic::units::{Duration, Time};
use sluice_switch::property::{Departed, Ended, Finding, Property, Settled};
use std::collections::BTreeMap;

/// A PFC frame that the program made.
#[derive(Clone, Copy, Debug)]
struct Asked {
    /// The packet from whose copy the frame was made.
    tag: u64,
    /// dev_port that sent the frame.
    port: u16,
    class: u8,
    /// 0 ends the pause.
    quanta: u16,
    source: u128,
}

/// A packet that took a queue.
#[derive(Clone, Copy, Debug)]
struct Sent {
    tag: u64,
    /// dev_port on which it arrived.
    from: u16,
    /// dev_port and queue.
    queue: (u16, u8),
    bytes: u64,
    enqueued: Time,
    dequeued: Time,
}

/// `pauses_as_modelled`: the switch requests a pause from the sender of a packet whose lossless queue is above `xoff`, and
/// its end below `xon`, first a pause and then its end, and repeats a request after `refresh`. Not judged: runs in which
/// entries change or packets are lost at ports and queues.
#[derive(Clone, Debug)]
pub(super) struct Pauses {
    p: Params,
    asked: Vec<Asked>,
    sent: Vec<Sent>,
    /// True if entries changed, or if a frame of the program may be lost.
    unknown: bool,
    /// First mistake in a frame that the program made.
    wrong: Option<String>,
}

/// Largest difference between the estimated and the real order of two dequeued packets.
const MARGIN: Duration = Duration::from_nanos(700);
/// Largest number of packets that are kept per run: each is compared with the others of its queue.
const MOST: usize = 1 << 12;
/// Bytes of a cell of the packet buffer.
const CELL: u64 = 176;
/// Most bytes that a packet has in the buffer in addition to its own: the tag and the FCS.
const MORE: u64 = 32;

/// A packet, with `xoff` and `xon` of its queue in cells.
type Limited<'a> = (&'a Sent, u64, u64);

impl Pauses {
    /// Returns the model for these parameters.
    pub(super) fn new(p: &Params) -> Pauses {
        Pauses { p: p.clone(), asked: Vec::new(), sent: Vec::new(), unknown: false, wrong: None }
    }

    /// Returns the least and the largest number of cells in a packet's queue when the packet was dequeued.
    fn depth(&self, packet: &Sent) -> (u64, u64) {
        let (mut least, mut most) = (0, 0);
        for other in self.sent.iter().filter(|other| other.queue == packet.queue) {
            let cells = |bytes: u64| bytes.div_ceil(CELL);
            if other.enqueued + MARGIN < packet.dequeued && other.dequeued > packet.dequeued + MARGIN {
                least += cells(other.bytes);
            }
            if other.enqueued < packet.dequeued + MARGIN && other.dequeued + MARGIN >= packet.dequeued {
                most += cells(other.bytes + MORE);
            }
        }
        (least, most)
    }

    /// Checks the frames that request pauses and their ends.
    fn requests(&self, entries: &Entries<'_>) -> Finding {
        let by_tag: BTreeMap<u64, &Asked> = self.asked.iter().map(|asked| (asked.tag, asked)).collect();
        // By sender, class and the pipe of the queue, in order of time.
        let mut groups: BTreeMap<(u16, u128, u16), Vec<Limited<'_>>> = BTreeMap::new();
        for packet in &self.sent {
            let (port, queue) = packet.queue;
            let limits = entries.exact("limits", &[port.into(), queue.into()]);
            match (limits, by_tag.get(&packet.tag)) {
                (_, Some(asked)) if asked.port != packet.from => {
                    let (tag, from, port) = (packet.tag, packet.from, asked.port);
                    return Err(format!(
                        "packet {tag} came from port {from}, and port {port} sent its PFC frame"
                    ));
                }
                (Some(limits), asked) => {
                    if asked.is_some_and(|asked| u128::from(asked.class) != limits.arg(0)) {
                        return Err(format!("packet {} of queue {queue} paused another class", packet.tag));
                    }
                    let source = entries.exact("own_mac", &[packet.from.into()]).map(|call| call.arg(0));
                    if asked.is_some_and(|asked| source.is_some_and(|mac| mac != asked.source)) {
                        return Err(format!("the frame for packet {} has another source MAC", packet.tag));
                    }
                    let key = (packet.from, limits.arg(0), port >> 7);
                    groups.entry(key).or_default().push((packet, limits.arg(3) as u64, limits.arg(4) as u64));
                }
                (None, Some(_)) => {
                    return Err(format!(
                        "packet {} of queue {queue}, which is not lossless, made a frame",
                        packet.tag
                    ));
                }
                (None, None) => {}
            }
        }
        for list in groups.values_mut() {
            list.sort_by_key(|(packet, ..)| packet.dequeued);
            self.sender(list, &by_tag)?;
        }
        Ok(())
    }

    /// Checks the packets of one sender and class, in order of time.
    fn sender(&self, list: &[Limited<'_>], asked: &BTreeMap<u64, &Asked>) -> Finding {
        let refresh = Duration::from_nanos(self.p.refresh);
        // Time and quanta of the last frame.
        let mut last: Option<(Time, u16)> = None;
        for (at, (packet, xoff, xon)) in list.iter().enumerate() {
            let (tag, now) = (packet.tag, packet.dequeued);
            let (least, most) = self.depth(packet);
            let paused = last.is_some_and(|(_, quanta)| quanta != 0);
            let gap = last.map(|(time, _)| now.saturating_since(time));
            // Packets of other queues that were dequeued at nearly the same time may come before this one.
            let near = |other: &&(&Sent, u64, u64)| {
                other.0.queue != packet.queue
                    && other.0.dequeued < now + MARGIN
                    && now < other.0.dequeued + MARGIN
            };
            let alone = !list[..at].iter().rev().take(8).any(|o| near(&o))
                && !list[at + 1..].iter().take(8).any(|o| near(&o));
            match asked.get(&tag) {
                Some(frame) if frame.quanta != 0 => {
                    if most <= *xoff {
                        return Err(format!(
                            "packet {tag} requested a pause with at most {most} cells in its queue, expected more than {xoff}"
                        ));
                    }
                    if alone && paused && gap.is_some_and(|gap| gap + MARGIN < refresh) {
                        return Err(format!("packet {tag} requested a pause before {refresh} were over"));
                    }
                    last = Some((now, frame.quanta));
                }
                Some(frame) => {
                    if least >= *xon {
                        return Err(format!(
                            "packet {tag} ended a pause with at least {least} cells in its queue, expected less than {xon}"
                        ));
                    }
                    if alone && !paused {
                        return Err(format!("packet {tag} ended a pause that was not requested"));
                    }
                    last = Some((now, frame.quanta));
                }
                None if alone
                    && least > *xoff
                    && (!paused || gap.is_some_and(|gap| gap > refresh + MARGIN)) =>
                {
                    return Err(format!(
                        "packet {tag} requested no pause with at least {least} cells in its queue"
                    ));
                }
                None if alone && most < *xon && paused => {
                    return Err(format!(
                        "packet {tag} did not end a pause with at most {most} cells in its queue"
                    ));
                }
                None => {}
            }
        }
        Ok(())
    }
}

impl Property for Pauses {
    fn name(&self) -> &'static str {
        "pauses_as_modelled"
    }

    fn changed(&mut self) {
        self.unknown = true;
    }

    fn left(&mut self, packet: &Departed<'_>) -> Finding {
        let (left, Some(from)) = (&packet.left, packet.from) else { return Ok(()) };
        if left.made {
            let (class, quanta) = match one_class(packet.bytes) {
                Ok(found) => found,
                Err(text) => {
                    self.wrong.get_or_insert(text);
                    return Ok(());
                }
            };
            if quanta != 0 && u32::from(quanta) != self.p.quanta {
                return Err(format!("a PFC frame has quanta {quanta}, expected {}", self.p.quanta));
            }
            let source = packet.bytes[6..12].iter().fold(0, |value, byte| value << 8 | u128::from(*byte));
            self.asked.push(Asked { tag: left.tag, port: left.egress_port, class, quanta, source });
            return Ok(());
        }
        self.unknown |= self.sent.len() >= MOST;
        if !self.unknown {
            let dequeued = left.first_bit;
            let enqueued = Time::ORIGIN + dequeued.saturating_since(Time::ORIGIN + left.queued);
            let (queue, bytes) = ((left.egress_port, left.qid), packet.bytes.len() as u64);
            self.sent.push(Sent { tag: left.tag, from: from.port, queue, bytes, enqueued, dequeued });
        }
        Ok(())
    }

    fn ended(&mut self, packet: &Ended<'_>) -> Finding {
        // Such a packet, or a frame that was lost, is not among the sent ones.
        let lost = ["port_down", "queue_tail_drop", "buffer_full", "mirror_session_off"];
        self.unknown |= packet.from.is_some() && lost.contains(&packet.reason);
        Ok(())
    }

    fn settled(&mut self, device: &Settled<'_>) -> Finding {
        let run = std::mem::replace(self, Pauses::new(&self.p));
        if run.unknown || device.held > 0 {
            return Ok(());
        }
        if let Some(text) = run.wrong {
            return Err(text);
        }
        let entries = Entries::new(device.program, device.control);
        run.requests(&entries)
    }
}
