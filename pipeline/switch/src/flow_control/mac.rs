//! PFC at the MACs: received and sent frames, beginning and end of pauses.

use super::classify;
use crate::observe::{Left, Sink};
use crate::port::Settled;
use crate::{Event, Switch, SwitchError};
use sluice_asic::event::{EventClass, EventKey};
use sluice_asic::port::DevPort;
use sluice_asic::tm::pfc::{PRIORITIES, PfcTimes};
use sluice_asic::tm::{PauseCause, QueueId, TmPort};
use sluice_asic::units::{Bytes, Duration, Time};
use sluice_exec::packet::Packet;
use sluice_pcaps::wire::{FrameBuilder, MacAddr, Payload, ethernet, pause};

/// Tag of frames that a MAC makes.
const MAC_TAG: u64 = u64::MAX;

impl Switch<'_> {
    /// Schedules an event of a port other than a dequeue.
    pub(super) fn push_at(&mut self, time: Time, class: EventClass, port: u16, event: Event) {
        let p = &mut self.ports[usize::from(port)];
        let key =
            EventKey { time, device: self.config.device, class, port: u32::from(port), seq: p.schedules };
        p.schedules += 1;
        // The push cannot fail: the classes used here come after those of the events that call this.
        let pushed = self.events.push(key, event);
        debug_assert!(pushed.is_ok(), "{pushed:?}");
    }

    /// Takes a MAC control frame whose last bit is on the wire at `last_bit`. Returns true if the frame is
    /// one.
    pub(crate) fn mac_control(&mut self, port: u16, last_bit: Time, frame: &[u8]) -> bool {
        let Some(flow) = self.flow.as_mut().filter(|_| !self.ports[usize::from(port)].program_pfc) else {
            return false;
        };
        let Some(control) = classify::mac_control(frame) else { return false };
        self.totals.absorbed_mac_control();
        let Some(own) = flow.ports.get_mut(usize::from(port)) else { return true };
        match pause::View::new(control).map(|view| view.packet()) {
            Ok(pause::Packet::Pfc { enabled, quanta }) => {
                let at = last_bit + own.reaction;
                let event = Event::PfcReceived { port, times: Box::new(PfcTimes { enabled, quanta }) };
                self.push_at(at, EventClass::PfcReceived, port, event);
            }
            Ok(pause::Packet::Pause { .. }) => own.rx.ignore_pause(),
            Err(_) => own.unknown += 1,
        }
        true
    }

    /// Handles a received PFC frame that takes effect.
    pub(crate) fn pfc_received(&mut self, now: Time, port: u16, times: &PfcTimes) {
        self.watch(now, port);
        let Some(own) = self.flow.as_mut().and_then(|f| f.ports.get_mut(usize::from(port))) else { return };
        let changed = own.rx.take(now, times);
        self.pauses_changed(now, port, changed);
    }

    /// Handles the possible end of a pause.
    pub(crate) fn pause_ends(&mut self, now: Time, port: u16) {
        let Some(own) = self.flow.as_mut().and_then(|f| f.ports.get_mut(usize::from(port))) else { return };
        if own.pause_ends.is_none_or(|at| at > now) {
            return;
        }
        own.pause_ends = None;
        let changed = own.rx.expire(now);
        self.pauses_changed(now, port, changed);
    }

    /// Pauses and resumes queues after the paused priorities changed.
    pub(super) fn pauses_changed(&mut self, now: Time, port: u16, changed: u8) {
        let Some(flow) = &mut self.flow else { return };
        let own = &mut flow.ports[usize::from(port)];
        let paused = own.rx.paused();
        let queues = &flow.config.ports[usize::from(port)].queues;
        for (id, queue) in (0u8..).zip(queues) {
            if let Some(priority) = queue.priority.filter(|p| changed >> p & 1 != 0) {
                let stop = paused >> priority & 1 != 0;
                self.tm.pause(TmPort(port), QueueId(id), PauseCause::Pfc, stop);
            }
        }
        own.held_up = paused != 0 || own.held_up && self.tm.any_paused(TmPort(port));
        let ends = own.rx.next_expiry();
        if let Some(at) = ends.filter(|at| own.pause_ends.is_none_or(|known| *at < known)) {
            own.pause_ends = Some(at);
            self.push_at(at.max(now), EventClass::Timer, port, Event::PauseEnds { port });
        } else if ends.is_none() {
            own.pause_ends = None;
        }
        if changed & !paused != 0 {
            self.kick(now, port);
        }
        if changed != 0 {
            // A packet generator of Tofino 2 may have a PFC trigger.
            let pipe = usize::from(self.ports[usize::from(port)].pipe);
            self.pipes[pipe].generator.pfc_changed(now);
            self.schedule_generator(pipe);
        }
    }

    /// Makes a port look for a packet to send.
    pub(super) fn kick(&mut self, now: Time, port: u16) {
        if self.tm.backlog(TmPort(port)).packets > 0 {
            // 1 ps later, because dequeues come before other events of the same time.
            let due = self.due(now, port).max(now + Duration::from_ps(1));
            self.schedule(due, port);
        }
    }

    /// Passes the buffer's requests to pause and resume to the MACs.
    #[inline]
    pub(crate) fn buffer_edges(&mut self, now: Time) {
        if self.tm.buffer().is_some_and(|b| b.has_edges()) {
            self.request_pauses(now);
        }
    }

    #[cold]
    fn request_pauses(&mut self, now: Time) {
        let Some(flow) = &mut self.flow else { return };
        let edges: Vec<_> = self.tm.buffer_mut().map(|b| b.edges().collect()).unwrap_or_default();
        let mut ports: Vec<u16> = Vec::new();
        for edge in edges {
            if let Some(touched) = self.tm.touched() {
                touched.group(TmPort(edge.port), edge.pg);
            }
            let Some(own) = flow.ports.get_mut(usize::from(edge.port)) else { continue };
            if self.ports[usize::from(edge.port)].program_pfc {
                continue;
            }
            own.tx.request(edge.priorities, edge.xoff);
            if !ports.contains(&edge.port) {
                ports.push(edge.port);
            }
        }
        for port in ports {
            let at = now + self.timing.mac_tx;
            self.push_at(at, EventClass::Timer, port, Event::PfcDue { port });
        }
    }

    /// Sends the PFC frame that is due, if any.
    pub(crate) fn pfc_due(&mut self, now: Time, port: u16, sink: &mut dyn Sink) {
        let Some(own) = self.flow.as_mut().and_then(|f| f.ports.get_mut(usize::from(port))) else { return };
        let Some(times) = own.tx.take(now) else { return };
        let refresh = own.tx.next_time();
        let mut frame = Vec::with_capacity(60);
        let p = &mut self.ports[usize::from(port)];
        let source = MacAddr::from_u64(0x02_00_00_00_00_00 | u64::from(p.dev_port));
        let packet = pause::Packet::Pfc { enabled: times.enabled, quanta: times.quanta };
        let built = FrameBuilder::new(pause::DESTINATION, source)
            .ethertype(ethernet::TYPE_MAC_CONTROL)
            .build(Payload::Bytes(&packet.to_bytes()), &mut frame);
        debug_assert!(built.is_ok(), "{built:?}");
        let length = Bytes(frame.len() as u64);
        let (sent, took, dev_port) = (p.tx.start(now, length), p.tx.line_time(length), p.dev_port);
        self.settle(port, Settled { exit: now, booked: Duration::ZERO, took, free_at: sent.free_at });
        self.totals.count_made(|m| &mut m.pfc);
        self.totals.sent(usize::from(port), frame.len() as u32);
        let left = Left {
            tag: MAC_TAG,
            ingress_port: dev_port,
            egress_port: dev_port,
            received: sent.first_bit,
            first_bit: sent.first_bit,
            last_bit: sent.last_bit,
            queued: Duration::ZERO,
            qid: 0,
            bytes: frame.len() as u32,
            made: true,
            marked: None,
        };
        sink.mac_sent(&left, &frame);
        if let Some(at) = refresh {
            self.push_at(at.max(now), EventClass::Timer, port, Event::PfcDue { port });
        }
    }

    /// Returns true if the port has a packet that it may send now.
    #[inline]
    pub(crate) fn can_send(&self, port: u16, now: Time) -> bool {
        let own = self.flow.as_ref().and_then(|f| f.ports.get(usize::from(port)));
        let unsure = own.is_some_and(|p| p.held_up) || self.ports[usize::from(port)].asleep;
        !unsure || self.tm.peek(TmPort(port), now).is_some()
    }

    /// Blocks or unblocks all queues of a port, as an operator does to inspect waiting packets.
    ///
    /// # Errors
    /// Refuses a port that the switch does not have.
    pub fn block(&mut self, port: DevPort, blocked: bool) -> Result<(), SwitchError> {
        let index = self.known(port)?;
        for queue in 0..self.ports[usize::from(index)].queues {
            self.tm.pause(TmPort(index), QueueId(queue as u8), PauseCause::Port, blocked);
        }
        let now = self.now;
        if let Some(own) = self.flow.as_mut().and_then(|f| f.ports.get_mut(usize::from(index))) {
            own.held_up = blocked || own.rx.paused() != 0;
        }
        if !blocked {
            self.kick(now, index);
        }
        Ok(())
    }

    /// Drops all packets of a queue.
    pub(super) fn flush(&mut self, now: Time, port: u16, queue: u8, mut each: impl FnMut(&mut Self, Packet)) {
        while let Some(out) = self.tm.evict(TmPort(port), QueueId(queue), now) {
            let own = self.flow.as_mut().and_then(|flow| flow.ports.get_mut(usize::from(port)));
            if let Some(own) = own.and_then(|own| own.queues.get_mut(usize::from(queue))) {
                own.flushed += 1;
            }
            each(self, out.handle);
        }
        self.buffer_edges(now);
    }

    /// Returns the queues of a port by PFC priority.
    pub(super) fn queues_of(&self, port: u16) -> Vec<(u8, usize)> {
        let Some(flow) = &self.flow else { return Vec::new() };
        let queues = (0u8..).zip(&flow.config.ports[usize::from(port)].queues);
        queues.filter_map(|(id, q)| q.priority.map(|p| (id, usize::from(p) % PRIORITIES))).collect()
    }
}
