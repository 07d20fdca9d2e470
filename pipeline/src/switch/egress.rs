//! From the traffic manager to the wire: queues, scheduling against the line, what follows an egress pass.

use super::ingress::PendingPass;
use super::observe::{Left, QueueEvent, Sink};
use super::reason::{DeviceDrop, Reason};
use super::{Event, Mode, PacketInfo, Switch};
use crate::packet::Packet;
use crate::pass::{Executor, Pass, PassIn, Verdict};
use sluice_asic::event::{EventClass, EventKey};
use sluice_asic::gress::Gress;
use sluice_asic::tm::{QueueId, TailDrop, TmPort};
use sluice_asic::units::{Bytes, Time};

impl<E: Executor> Switch<E> {
    /// A packet reaches its queue.
    pub(super) fn enqueue(&mut self, now: Time, packet: Packet, port: u16, sink: &mut impl Sink) {
        let info = self.info_of(packet);
        let bytes = Bytes(u64::from(self.packets.len(packet)));
        match self.tm.enqueue(TmPort(port), QueueId(info.qid), packet, bytes, now) {
            Ok(stamp) => {
                let dev_port = self.ports[usize::from(port)].dev_port;
                sink.enqueued(&QueueEvent {
                    tag: info.tag,
                    port: dev_port,
                    qid: info.qid,
                    time: now,
                    depth: stamp.enq_qdepth,
                });
                if !self.ports[usize::from(port)].waiting {
                    self.dequeue_when_free(now, port, sink);
                }
            }
            Err(drop) => {
                let reason = match drop {
                    TailDrop::QueueTailDrop { .. } => DeviceDrop::QueueTailDrop,
                    TailDrop::BufferFull { .. } => DeviceDrop::BufferFull,
                    TailDrop::NoSuchQueue { .. } => DeviceDrop::NoSuchQueue,
                };
                self.lose(packet, now, Reason::Device(reason), sink);
            }
        }
    }

    fn dequeue_when_free(&mut self, now: Time, port: u16, sink: &mut impl Sink) {
        let due = self.due(now, port);
        if due <= now {
            self.dequeue(now, port, sink);
        } else {
            self.schedule(due, port);
        }
    }

    /// When the port may dequeue next: neither faster than its line, nor further ahead of the line than the
    /// egress pipe is long. Only passes that have left the deparser by `now` are known.
    fn due(&mut self, now: Time, port: u16) -> Time {
        let p = &mut self.ports[usize::from(port)];
        while let Some((_, free)) = p.line.front().copied().filter(|(exit, _)| *exit <= now) {
            p.line.pop_front();
            p.line_free = free;
        }
        p.next_dequeue.max(p.line_free.saturating_sub(self.lookahead))
    }

    fn schedule(&mut self, due: Time, port: u16) {
        let p = &mut self.ports[usize::from(port)];
        p.waiting = true;
        let key = EventKey {
            time: due,
            device: self.config.device,
            class: EventClass::BufferRelease,
            port: u32::from(port),
            seq: p.dequeues,
        };
        // Never refused: `due` lies behind the event being handled.
        let pushed = self.events.push(key, Event::Dequeue { port });
        debug_assert!(pushed.is_ok(), "{pushed:?}");
    }

    /// Sends the next packet of a port into its egress pipe.
    pub(super) fn dequeue(&mut self, now: Time, port: u16, sink: &mut impl Sink) {
        let due = self.due(now, port);
        if due > now {
            self.ports[usize::from(port)].dequeues += 1;
            self.schedule(due, port);
            return;
        }
        let Some(out) = self.tm.dequeue(TmPort(port), now) else { return };
        let p = &mut self.ports[usize::from(port)];
        p.dequeues += 1;
        p.next_dequeue = now + p.tx.line_time(out.bytes);
        let (dev_port, pipe) = (p.dev_port, usize::from(p.pipe));
        let info = &mut self.info[out.handle.index()];
        info.queued = out.stamp.deq_timedelta;
        let PacketInfo { rid, rid_first, cos, .. } = *info;
        sink.dequeued(&QueueEvent {
            tag: info.tag,
            port: dev_port,
            qid: out.queue.0,
            time: now,
            depth: out.stamp.deq_qdepth,
        });
        let entry = self.pipes[pipe].entry[1].reserve(now + self.tm_dequeue);
        let entered = self.clock.time_of(entry.cycle);
        let input = PassIn {
            port: dev_port,
            mac_tstamp: 0,
            global_tstamp: self.stamp(entered),
            enq_qdepth: out.stamp.enqueue.enq_qdepth.0,
            enq_tstamp: self.stamp(out.stamp.enqueue.enq_tstamp) as u32,
            deq_qdepth: out.stamp.deq_qdepth.0,
            deq_timedelta: out.stamp.deq_timedelta.as_nanos() as u32,
            qid: out.queue.0,
            rid,
            rid_first,
            cos,
            resubmitted: false,
        };
        let pass = Pass::new(out.handle, input);
        let pending = PendingPass { entered, cycle: entry.cycle, waited: entry.waited, port, pass };
        self.pipes[pipe].enter(Gress::Egress, self.timing[1].window, pending);
        if self.tm.backlog(TmPort(port)).packets > 0 {
            let due = self.due(now, port);
            self.schedule(due, port);
        }
    }

    /// What follows an egress pass: the packet is sent, or its end is accounted for.
    pub(super) fn egress_done(&mut self, pass: &Pass, port: u16, exit: Time, sink: &mut impl Sink) {
        let packet = pass.packet;
        if pass.output.verdict != Verdict::Forward {
            self.lose(packet, exit, Reason::of(pass.output.verdict), sink);
            return;
        }
        if self.ports[usize::from(port)].recirculation {
            self.recirculate(packet, port, exit, sink);
            return;
        }
        let info = self.info_of(packet);
        let bytes = self.packets.len(packet);
        let p = &mut self.ports[usize::from(port)];
        let (first_bit, last_bit) = match self.config.mode {
            Mode::Timed => {
                let sent = p.tx.start(exit + self.mac_tx, Bytes(u64::from(bytes)));
                p.line.push_back((exit, sent.free_at));
                (sent.first_bit, sent.last_bit)
            }
            Mode::Functional => (exit, exit),
        };
        let dev_port = p.dev_port;
        self.totals.sent(usize::from(port), bytes);
        self.ended(&info);
        let (head, tail) = self.packets.captured(packet);
        let left = Left {
            tag: info.tag,
            ingress_port: self.ports[usize::from(info.origin)].dev_port,
            egress_port: dev_port,
            received: info.received,
            first_bit,
            last_bit,
            queued: info.queued,
            qid: info.qid,
            bytes,
        };
        sink.sent(&left, head, tail);
        self.packets.remove(packet);
    }
}
