//! From the traffic manager to the wire: queues, scheduling against the line, and the end of an egress pass.
//!
//! *Pacing.* When a packet is dequeued, its line time is booked on the port. The scheduler dequeues the next
//! packet when the booked time is at most `tx_ahead` after the present. So it neither floods the egress pipe
//! nor lets rounding to cycles open gaps on the line. When the packet leaves the egress deparser, its booking
//! is settled: unused time (the packet was dropped, or lost a header) is returned, and the true state of the
//! line is known.

use super::ingress::PendingPass;
use super::observe::{Left, QueueEvent, Sink};
use super::port::Settled;
use super::reason::{DeviceDrop, Reason};
use super::settings::WAKE;
use super::{Event, Mode, PacketInfo, Switch};
use sluice_asic::event::{EventClass, EventKey};
use sluice_asic::gress::Gress;
use sluice_asic::tm::buffer::{Refusal, Rule};
use sluice_asic::tm::{Dequeued, Offered, TailDrop, TmPort};
use sluice_asic::units::{Bytes, Cells, Duration, Time};
use sluice_exec::packet::Packet;
use sluice_exec::pass::{Pass, PassIn, Verdict};

impl Switch<'_> {
    /// Handles a packet that reaches its queue.
    pub(super) fn enqueue(&mut self, now: Time, packet: Packet, port: u16, sink: &mut dyn Sink) {
        // Reads two words instead of copying the struct, because every packet passes here.
        let tag = self.info.get(packet.index()).map_or(0, |info| info.tag);
        let bytes = Bytes(u64::from(self.packets.len(packet)));
        // A packet that could be sent at once need not wait in its queue.
        let free = self.ports[usize::from(port)].scheduled.is_none() && self.due(now, port) <= now;
        let (qid, result) = self.offer(now, packet, port, bytes, free);
        match result {
            Ok(offered) => {
                if self.watched {
                    let (port, depth) = (self.ports[usize::from(port)].dev_port, depth_of(&offered));
                    sink.enqueued(&QueueEvent { tag, port, qid, time: now, depth, bytes });
                }
                self.depth_changed(now, port, qid);
                match offered {
                    Offered::Passed(out) => self.dequeued(now, port, &out, sink),
                    Offered::Queued(_) => {
                        let p = &self.ports[usize::from(port)];
                        if p.scheduled.is_none() || p.asleep {
                            self.dequeue(now, port, sink);
                        }
                    }
                }
            }
            Err(drop) => {
                let info = self.info_of(packet);
                if let Some((to, queue, place)) = self.deflection(&info, port, &drop) {
                    let local = self.ports[usize::from(port)].local;
                    let info = &mut self.info[packet.index()];
                    (info.qid, info.deflected) = (queue, Some((local, place)));
                    return self.enqueue(now, packet, to, sink);
                }
                let reason = match drop {
                    TailDrop::QueueTailDrop { .. } => Reason::Device(DeviceDrop::QueueTailDrop),
                    TailDrop::BufferFull { .. } => Reason::Device(DeviceDrop::BufferFull),
                    TailDrop::NoSuchQueue { .. } => Reason::Device(DeviceDrop::NoSuchQueue),
                    TailDrop::Refused(Refusal { rule: Rule::BufferFull, .. }) => {
                        Reason::Device(DeviceDrop::BufferFull)
                    }
                    TailDrop::Refused(Refusal { rule: Rule::NoSuchQueue, .. }) => {
                        Reason::Device(DeviceDrop::NoSuchQueue)
                    }
                    TailDrop::Refused(refusal) => Reason::Buffer(refusal.rule),
                };
                self.lose(packet, now, reason, sink);
            }
        }
    }

    /// Returns the deflection target of a packet that would be dropped: port, queue, and the place of the
    /// drop as egress sees it (model: tm §7).
    fn deflection(&self, info: &PacketInfo, port: u16, drop: &TailDrop) -> Option<(u16, u8, u8)> {
        if !info.deflect || info.deflected.is_some() {
            return None;
        }
        let place = match drop {
            TailDrop::BufferFull { .. } => 0,
            TailDrop::QueueTailDrop { .. } => 2,
            TailDrop::NoSuchQueue { .. } | TailDrop::Refused(Refusal { rule: Rule::NoSuchQueue, .. }) => {
                return None;
            }
            // Any rule of the shared buffer.
            TailDrop::Refused(_) => 0,
        };
        let (to, queue) = self.pipes[usize::from(self.ports[usize::from(port)].pipe)].deflection?;
        Some((to, queue, place))
    }

    /// Returns the time of the port's next dequeue, as far as known at `now`.
    pub(super) fn due(&mut self, now: Time, port: u16) -> Time {
        let p = &mut self.ports[usize::from(port)];
        while let Some(s) = p.settled.front().copied().filter(|s| s.exit <= now) {
            p.settled.pop_front();
            p.booked = p.booked.saturating_sub(s.booked) + s.took;
            p.line_free = p.line_free.max(s.free_at);
        }
        let line = p.line_free.saturating_sub(self.timing.lookahead);
        p.booked.max(line).saturating_sub(self.timing.tx_ahead)
    }

    /// Schedules the port's next dequeue. An earlier time replaces a later one.
    pub(super) fn schedule(&mut self, due: Time, port: u16) {
        let p = &mut self.ports[usize::from(port)];
        if p.scheduled.is_some_and(|t| t <= due) {
            return;
        }
        p.scheduled = Some(due);
        p.asleep = false;
        self.push(due, port, Event::Dequeue { port });
    }

    pub(super) fn push(&mut self, time: Time, port: u16, event: Event) {
        let p = &mut self.ports[usize::from(port)];
        let (device, class) = (self.config.device, EventClass::BufferRelease);
        let mut key = EventKey { time, device, class, port: u32::from(port), seq: p.schedules };
        p.schedules += 1;
        if self.events.last().is_some_and(|last| key <= last) {
            // It is due at once, but not from an event of this class, because the queue could have been
            // resumed earlier.
            (key.class, key.port) = (EventClass::Timer, WAKE + u32::from(port));
        }
        // The push cannot fail, because the time is not before that of the event being handled.
        let pushed = self.events.push_in_lane(self.pipes.len(), key, event);
        debug_assert!(pushed.is_ok(), "{pushed:?}");
    }

    /// Handles a scheduled dequeue; ignores one that an earlier one replaced.
    pub(super) fn scheduled(&mut self, now: Time, port: u16, sink: &mut dyn Sink) {
        let p = &mut self.ports[usize::from(port)];
        if p.scheduled == Some(now) {
            p.scheduled = None;
            p.asleep = false;
            self.dequeue(now, port, sink);
        }
    }

    /// Handles returned line time: the next packet may be due earlier.
    pub(super) fn credit(&mut self, now: Time, port: u16) {
        if self.ports[usize::from(port)].scheduled.is_some() {
            let due = self.due(now, port).max(now);
            self.schedule(due, port);
        }
    }

    /// Sends the next packet of a port into its egress pipe, or schedules it.
    fn dequeue(&mut self, now: Time, port: u16, sink: &mut dyn Sink) {
        let due = self.due(now, port);
        if due > now {
            self.schedule(due, port);
            return;
        }
        let Some(out) = self.tm.dequeue(TmPort(port), now) else {
            self.sleep(now, port);
            return;
        };
        self.dequeued(now, port, &out, sink);
        if self.tm.backlog(TmPort(port)).packets == 0 {
            return;
        }
        if self.can_send(port, now) {
            let due = self.due(now, port).max(now);
            self.schedule(due, port);
        } else {
            self.sleep(now, port);
        }
    }

    /// Sends a packet that left its queue into the egress pipe of its port.
    fn dequeued(&mut self, now: Time, port: u16, out: &Dequeued<Packet>, sink: &mut dyn Sink) {
        self.depth_changed(now, port, out.queue.0);
        self.left_queue(now, port, out);
        let p = &mut self.ports[usize::from(port)];
        let booked = p.tx.line_time(out.bytes);
        p.booked = p.booked.max(now) + booked;
        let (dev_port, pipe) = (p.dev_port, usize::from(p.pipe));
        let info = &mut self.info[out.handle.index()];
        info.queued = out.stamp.deq_timedelta;
        info.qid = out.queue.0;
        let PacketInfo { rid, rid_first, cos, deflected, bypass, .. } = *info;
        if self.watched {
            let (tag, qid) = (info.tag, out.queue.0);
            sink.dequeued(&QueueEvent {
                tag,
                port: dev_port,
                qid,
                time: now,
                depth: out.stamp.deq_qdepth,
                bytes: out.bytes,
            });
        }
        let entry = self.pipes[pipe].entry[1].reserve(now + self.timing.tm_dequeue);
        let entered = self.timing.clock.time_of(entry.cycle);
        let enqueued = out.stamp.enqueue.enq_tstamp;
        let input = PassIn {
            port: dev_port,
            mac_tstamp: 0,
            global_tstamp: self.stamp(entered),
            enq_qdepth: deflected.map_or(out.stamp.enqueue.enq_qdepth.0, |(local, _)| local.into()),
            enq_tstamp: self.short_stamp(enqueued),
            deq_qdepth: out.stamp.deq_qdepth.0,
            deq_timedelta: self.short_stamp(now).wrapping_sub(self.short_stamp(enqueued))
                & self.timing.tm_stamps,
            deflected: deflected.is_some(),
            enq_congest_stat: deflected.map_or(0, |(_, place)| place),
            qid: out.queue.0,
            rid,
            rid_first,
            cos,
            resubmitted: false,
        };
        let pass = Pass::new(out.handle, input);
        let (cycle, waited) = (entry.cycle, entry.waited);
        let pending = PendingPass { entered, cycle, waited, port, booked, bypass };
        self.enter(pipe, Gress::Egress, pending, pass);
    }

    /// Handles a port whose waiting packets may not be sent: schedules a look at the time at which a shaper
    /// opens, if any.
    #[cold]
    fn sleep(&mut self, now: Time, port: u16) {
        if let Some(at) = self.tm.opens_at(TmPort(port)).filter(|at| *at > now) {
            self.schedule(at, port);
            let p = &mut self.ports[usize::from(port)];
            p.asleep = p.asleep || p.scheduled == Some(at);
        }
    }

    /// Handles the end of an egress pass for which `booked` line time was reserved: sends the packet, or
    /// counts its drop.
    pub(super) fn egress_done(
        &mut self,
        pass: &Pass,
        port: u16,
        booked: Duration,
        exit: Time,
        sink: &mut dyn Sink,
    ) {
        let packet = pass.packet;
        if pass.output.verdict != Verdict::Forward {
            let free_at = self.ports[usize::from(port)].tx.free_at();
            self.settle(port, Settled { exit, booked, took: Duration::ZERO, free_at });
            self.lose(packet, exit, Reason::of(pass.output.verdict), sink);
            return;
        }
        if !self.ports[usize::from(port)].up {
            let free_at = self.ports[usize::from(port)].tx.free_at();
            self.settle(port, Settled { exit, booked, took: Duration::ZERO, free_at });
            self.lose(packet, exit, Reason::Device(DeviceDrop::PortDown), sink);
            return;
        }
        if self.ports[usize::from(port)].recirculation {
            self.recirculate(packet, port, booked, exit, sink);
            return;
        }
        let marked = self.write_mark(packet);
        let bytes = self.packets.len(packet);
        let p = &mut self.ports[usize::from(port)];
        let (first_bit, last_bit) = match self.config.mode {
            Mode::Timed => {
                let begin = (exit + self.timing.mac_tx).max(p.tx.free_at());
                let sent = p.tx.start(begin, Bytes(u64::from(bytes)));
                let took = sent.free_at.saturating_since(begin);
                self.settle(port, Settled { exit, booked, took, free_at: sent.free_at });
                (sent.first_bit, sent.last_bit)
            }
            Mode::Functional => (exit, exit),
        };
        self.totals.sent(usize::from(port), bytes);
        // Reads some words instead of copying the struct, because every packet passes here.
        let Some(info) = self.info.get(packet.index()) else { return };
        let left = Left {
            tag: info.tag,
            ingress_port: self.ports[usize::from(info.origin)].dev_port,
            egress_port: self.ports[usize::from(port)].dev_port,
            received: info.received,
            first_bit,
            last_bit,
            queued: info.queued,
            qid: info.qid,
            bytes,
            made: info.made,
            marked,
        };
        self.outside -= u64::from(!info.is_timer());
        let (head, tail) = self.packets.captured(packet);
        sink.sent(&left, head, tail);
        self.packets.remove(packet);
    }

    /// Records the line time that a packet took of its booking. If much time is returned, the scheduler is
    /// notified at once; small differences, made by headers, are found at its next look.
    pub(super) fn settle(&mut self, port: u16, settled: Settled) {
        if self.config.mode == Mode::Functional {
            return;
        }
        self.ports[usize::from(port)].settled.push_back(settled);
        if settled.booked > settled.took + self.timing.tx_ahead {
            self.push(settled.exit, port, Event::Credit { port });
        }
    }
}

/// Returns the depth of a queue before the packet was offered.
fn depth_of(offered: &Offered<Packet>) -> Cells {
    match offered {
        Offered::Queued(stamp) => stamp.enq_qdepth,
        Offered::Passed(out) => out.stamp.enqueue.enq_qdepth,
    }
}
