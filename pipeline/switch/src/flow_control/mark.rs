//! Admission to the shared buffer, ECN marking, and the data of a packet that both use.

use super::classify::CE;
use super::{FlowControl, classify};
use crate::{PacketInfo, Switch};
use sluice_asic::meter::Colour;
use sluice_asic::tm::buffer::{PRIORITY_GROUPS, Refusal, Rule};
use sluice_asic::tm::ecn::{Ecn, Mark, MarkPoint};
use sluice_asic::tm::{Dequeued, Offer, Offered, QueueId, TailDrop, TmPort};
use sluice_asic::units::{Bytes, Time};
use sluice_exec::packet::Packet;

/// Flow-control data of a packet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowInfo {
    ecn: Ecn,
    /// True if the packet is sent with CE.
    ce: bool,
    /// Group of the copies that share cells with it.
    pub(crate) copies: Option<sluice_asic::tm::buffer::CopyGroup>,
}

impl FlowInfo {
    /// Returns the data of a received frame.
    #[inline]
    pub(crate) fn of(frame: &[u8]) -> Self {
        FlowInfo { ecn: classify::ecn(frame), ..FlowInfo::default() }
    }

    /// Returns the data for a copy that shares no cells.
    pub(crate) const fn alone(self) -> Self {
        Self { copies: None, ..self }
    }
}

impl FlowControl {
    /// Returns the priority group of a packet, by its traffic class.
    #[inline]
    fn group(&self, info: &PacketInfo) -> u8 {
        self.config.maps.tc_to_pg[usize::from(info.cos) % PRIORITY_GROUPS]
    }

    /// Returns the marking decision for a packet that finds `q` bytes in its queue.
    #[inline]
    fn decide(&mut self, (port, queue): (u16, u8), q: Bytes, (ecn, colour): (Ecn, Colour)) -> Mark {
        let of = self.config.ports.get(usize::from(port)).and_then(|p| p.queues.get(usize::from(queue)));
        let Some(profile) = of.and_then(|q| q.ecn).and_then(|e| self.config.ecn.get(usize::from(e))) else {
            return Mark::Pass;
        };
        let Some(own) =
            self.ports.get_mut(usize::from(port)).and_then(|p| p.queues.get_mut(usize::from(queue)))
        else {
            return Mark::Pass;
        };
        let q = own.average.step(q.get(), profile.average_shift);
        if !profile.may_act(q) {
            return Mark::Pass;
        }
        profile.decide(q, colour, ecn, self.random.draw(32) as u32)
    }
}

impl Switch<'_> {
    /// Offers a packet of `bytes` to its queue. Returns the queue and the result. If `free`, nothing else keeps the port from
    /// sending, and the packet may leave at once.
    pub(crate) fn offer(
        &mut self,
        now: Time,
        packet: Packet,
        port: u16,
        bytes: Bytes,
        free: bool,
    ) -> (u8, Result<Offered<Packet>, TailDrop>) {
        let info = &mut self.info[packet.index()];
        let Some(flow) = &mut self.flow else {
            let offer = Offer {
                handle: packet,
                port: TmPort(port),
                queue: QueueId(info.qid),
                bytes,
                in_port: TmPort(info.port),
                pg: 0,
                colour: info.colour,
                copies: None,
            };
            let result = match free {
                true => self.tm.pass(&offer, now),
                false => self.tm.offer(&offer, now).map(Offered::Queued),
            };
            return (info.qid, result);
        };
        let (queue, pg) = (info.qid, flow.group(info));
        let (in_port, colour, ecn) = (info.port, info.colour, info.flow.ecn);
        let copies = info.flow.copies.take();
        let offer = Offer {
            handle: packet,
            port: TmPort(port),
            queue: QueueId(queue),
            bytes,
            in_port: TmPort(in_port),
            pg,
            colour,
            copies,
        };
        let own = flow.ports.get(usize::from(port)).and_then(|p| p.queues.get(usize::from(queue)));
        let dropping = own.is_some_and(|q| q.dropping);
        let at_enqueue = flow.config.choices.mark_point == MarkPoint::Enqueue;
        let mut rule = dropping.then_some(Rule::Watchdog);
        if rule.is_none() && (at_enqueue || ecn == Ecn::NotEct) {
            let found = self.tm.queued_bytes(TmPort(port), QueueId(queue));
            match flow.decide((port, queue), found, (ecn, colour)) {
                Mark::Pass => {}
                Mark::Ce => self.info[packet.index()].flow.ce = true,
                Mark::Drop => rule = Some(Rule::Wred),
            }
        }
        let result = match rule {
            None if free => self.tm.pass(&offer, now),
            None => self.tm.offer(&offer, now).map(Offered::Queued),
            Some(rule) => {
                let own =
                    flow.ports.get_mut(usize::from(port)).and_then(|p| p.queues.get_mut(usize::from(queue)));
                if let Some(own) = own {
                    if dropping {
                        own.watchdog_dropped += 1;
                    } else {
                        own.wred_dropped.count(bytes);
                    }
                }
                let refusal = Refusal { rule, used: 0, need: self.tm.cells_of(bytes).0, limit: 0 };
                Err(self.tm.refuse(&offer, refusal))
            }
        };
        // What a packet that has left released is handled with its departure.
        if !matches!(result, Ok(Offered::Passed(_))) {
            self.buffer_edges(now);
        }
        match &result {
            Ok(Offered::Queued(stamp)) => self.moved(now, port, queue, Some(stamp.enq_qdepth)),
            Ok(Offered::Passed(out)) => self.moved(now, port, queue, Some(out.stamp.enqueue.enq_qdepth)),
            Err(_) => {}
        }
        (queue, result)
    }

    /// Handles a packet that left its queue.
    #[inline]
    pub(crate) fn left_queue(&mut self, now: Time, port: u16, out: &Dequeued<Packet>) {
        let Some(flow) = &mut self.flow else { return };
        if flow.config.choices.mark_point == MarkPoint::Dequeue {
            let info = &self.info[out.handle.index()];
            let (ecn, colour) = (info.flow.ecn, info.colour);
            if ecn == Ecn::Ect && flow.decide((port, out.queue.0), out.left_bytes, (ecn, colour)) == Mark::Ce
            {
                self.info[out.handle.index()].flow.ce = true;
            }
        }
        let own =
            flow.ports.get_mut(usize::from(port)).and_then(|p| p.queues.get_mut(usize::from(out.queue.0)));
        if let Some(own) = own
            && self.info[out.handle.index()].flow.ce
        {
            own.marked.count(out.bytes);
        }
        self.moved(now, port, out.queue.0, None);
        self.buffer_edges(now);
    }

    /// Writes a packet's mark when it is sent; returns the ECN field that the mark replaces.
    #[inline]
    pub(crate) fn write_mark(&mut self, packet: Packet) -> Option<u8> {
        let flow = &mut self.info[packet.index()].flow;
        if !std::mem::take(&mut flow.ce) {
            return None;
        }
        flow.ecn = Ecn::Ce;
        let (bytes, start, end) = self.packets.slot_mut(packet);
        classify::set_ecn(&mut bytes[start..end], CE)
    }
}
