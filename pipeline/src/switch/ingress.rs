//! From the wire to the traffic manager: reception, entry arbitration, what follows an ingress pass.
//!
//! Also the functional mode, in which an ingress pass is followed by the egress pass at once.

use super::observe::Sink;
use super::reason::{DeviceDrop, Reason};
use super::{Event, Mode, PacketInfo, RxFrame, Switch, SwitchError};
use crate::packet::Packet;
use crate::pass::{Executor, MAX_BATCH, Pass, PassIn, Verdict};
use sluice_asic::event::{EventClass, EventKey};
use sluice_asic::gress::Gress;
use sluice_asic::units::{Bytes, Cycles, Duration, Time};

/// A packet that has not reached its parser.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// When it reaches the parser.
    pub(super) parser: Time,
    pub(super) port: u16,
    pub(super) seq: u64,
    pub(super) packet: Packet,
}

/// A PHV that entered a gress and has not been run.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingPass {
    pub(super) entered: Time,
    pub(super) cycle: Cycles,
    pub(super) waited: Cycles,
    /// Egress: index of the port that it leaves by.
    pub(super) port: u16,
    /// Egress: line time booked for it.
    pub(super) booked: Duration,
    pub(super) pass: Pass,
}

impl<E: Executor> Switch<E> {
    /// Takes a frame off the wire; returns how long it had to wait for the wire.
    pub(super) fn receive(&mut self, port: u16, time: Time, frame: RxFrame<'_>) -> Duration {
        let missing = frame.orig_len.saturating_sub(frame.bytes.len() as u32);
        let packet = self.packets.insert(frame.bytes, missing);
        let p = &mut self.ports[usize::from(port)];
        let first_bit = match self.config.mode {
            Mode::Timed => time.max(p.rx_free),
            Mode::Functional => time,
        };
        let bytes = frame.bytes.len() as u32 + missing;
        let info = PacketInfo {
            tag: frame.tag,
            port,
            seq: p.rx_seq,
            received: first_bit,
            arrived: first_bit,
            ..PacketInfo::default()
        };
        p.rx_seq += 1;
        if self.info.len() <= packet.index() {
            self.info.resize(packet.index() + 1, PacketInfo::default());
        }
        self.info[packet.index()] = info;
        let reception = p.rx.receive(first_bit, Bytes(u64::from(bytes)));
        p.rx_free = reception.next_first_bit;
        self.totals.received(usize::from(port), bytes);
        let parser = match self.config.mode {
            Mode::Timed => reception.parser,
            Mode::Functional => first_bit,
        };
        self.arrive(Arrival { parser, port, seq: info.seq, packet });
        first_bit.saturating_since(time)
    }

    /// Keeps arrivals in order: the hold of the frame's head makes short frames overtake long ones.
    pub(super) fn arrive(&mut self, arrival: Arrival) {
        let key = |a: &Arrival| (a.parser, a.port, a.seq);
        let mut at = self.arrivals.len();
        while at > 0 && key(&self.arrivals[at - 1]) > key(&arrival) {
            at -= 1;
        }
        self.arrivals.insert(at, arrival);
    }

    /// Gives the arrivals up to `until` their slots in the ingress pipes.
    pub(super) fn admit_arrivals(&mut self, until: Time, sink: &mut impl Sink) {
        while let Some(a) = self.arrivals.front().copied().filter(|a| a.parser <= until) {
            self.arrivals.pop_front();
            let port = &self.ports[usize::from(a.port)];
            let (dev_port, pipe, local) = (port.dev_port, usize::from(port.pipe), u32::from(port.local));
            match self.pipes[pipe].entry[0].admit(local, a.parser) {
                Ok(entry) => {
                    let entered = self.clock.time_of(entry.cycle);
                    let input = PassIn {
                        port: dev_port,
                        mac_tstamp: self.stamp(self.info_of(a.packet).arrived),
                        global_tstamp: self.stamp(entered),
                        ..PassIn::default()
                    };
                    let pass = Pass::new(a.packet, input);
                    let booked = Duration::ZERO;
                    let (cycle, waited) = (entry.cycle, entry.waited);
                    let pending = PendingPass { entered, cycle, waited, port: a.port, booked, pass };
                    self.pipes[pipe].enter(Gress::Ingress, self.timing[0].window, pending);
                }
                Err(_) => self.lose(a.packet, a.parser, Reason::Device(DeviceDrop::IngressOverrun), sink),
            }
        }
    }

    /// The data plane's clock in ns.
    pub(super) fn stamp(&self, time: Time) -> u64 {
        self.config.clock_origin.as_nanos() + time.as_nanos()
    }

    /// What follows an ingress pass.
    pub(super) fn ingress_done(&mut self, pass: &Pass, exit: Time, sink: &mut impl Sink) {
        let Some(port) = self.forwarded(pass, exit, sink) else { return };
        let info = &mut self.info[pass.packet.index()];
        info.qid = pass.output.qid;
        let key = EventKey {
            time: exit + self.tm_enqueue,
            device: self.config.device,
            class: EventClass::PacketEntry,
            port: u32::from(info.port),
            seq: info.seq,
        };
        // Never refused: the batch rule has every exit lie behind the last event.
        let lane = usize::from(self.ports[usize::from(info.port)].pipe);
        let pushed = self.events.push_in_lane(lane, key, Event::Enqueue { packet: pass.packet, port });
        debug_assert!(pushed.is_ok(), "{pushed:?}");
    }

    /// The port that the packet goes on to; otherwise accounts for its end.
    fn forwarded(&mut self, pass: &Pass, time: Time, sink: &mut impl Sink) -> Option<u16> {
        let reason = match pass.output.verdict {
            Verdict::Forward => match self.port_index(pass.output.port) {
                Some(port) => return Some(port),
                None => Reason::Device(DeviceDrop::UnknownEgressPort),
            },
            verdict => Reason::of(verdict),
        };
        self.lose(pass.packet, time, reason, sink);
        None
    }

    /// Runs everything that has arrived, ingress and egress, without time.
    pub(super) fn advance_functional(
        &mut self,
        until: Time,
        sink: &mut impl Sink,
    ) -> Result<(), SwitchError> {
        loop {
            let op = self.events.next_time().filter(|t| *t <= until);
            let before = op.unwrap_or(until);
            while self
                .arrivals
                .front()
                .is_some_and(|a| a.parser < before || op.is_none() && a.parser <= until)
            {
                self.functional_batch(before, op.is_none(), sink);
            }
            self.now = self.now.max(before);
            match op.and_then(|_| self.events.pop()) {
                Some((_, Event::Control(op))) => self.apply(*op)?,
                Some(_) | None => return Ok(()),
            }
        }
    }

    /// One batch of packets that came in by one pipe.
    fn functional_batch(&mut self, until: Time, inclusive: bool, sink: &mut impl Sink) {
        let limit = self.config.max_batch.clamp(1, MAX_BATCH);
        let pipe_of = |s: &Self, a: &Arrival| usize::from(s.ports[usize::from(a.port)].pipe);
        let Some(pipe) = self.arrivals.front().map(|a| pipe_of(self, a)) else { return };
        self.batch.clear();
        while let Some(a) = self.arrivals.front().copied() {
            let due = a.parser < until || inclusive && a.parser == until;
            if !due || pipe_of(self, &a) != pipe || self.batch.len() == limit {
                break;
            }
            self.arrivals.pop_front();
            let stamp = self.stamp(a.parser);
            let port = self.ports[usize::from(a.port)].dev_port;
            let input = PassIn { port, mac_tstamp: stamp, global_tstamp: stamp, ..PassIn::default() };
            self.batch.push(Pass::new(a.packet, input));
        }
        self.execute(pipe, Gress::Ingress);
        let mut next = std::mem::take(&mut self.onward);
        next.clear();
        for i in 0..self.batch.len() {
            let pass = &{ self.batch[i] };
            let received = self.info_of(pass.packet).received;
            sink.pass(&self.functional_event(pipe, Gress::Ingress, pass));
            if let Some(port) = self.forwarded(pass, received, sink) {
                let p = &self.ports[usize::from(port)];
                let stamp = self.stamp(received);
                let input = PassIn {
                    port: p.dev_port,
                    global_tstamp: stamp,
                    enq_tstamp: stamp as u32,
                    qid: pass.output.qid,
                    ..PassIn::default()
                };
                self.info[pass.packet.index()].qid = pass.output.qid;
                next.push((usize::from(p.pipe), port, Pass::new(pass.packet, input)));
            }
        }
        self.functional_egress(&next, sink);
        self.onward = next;
    }

    /// Egress passes in packet order, grouped into runs of one pipe: the order of what leaves is kept.
    fn functional_egress(&mut self, next: &[(usize, u16, Pass)], sink: &mut impl Sink) {
        for pipe in 0..self.pipes.len() {
            self.batch.clear();
            self.batch.extend(next.iter().filter(|(p, ..)| *p == pipe).map(|(.., pass)| *pass));
            if !self.batch.is_empty() {
                self.execute(pipe, Gress::Egress);
                self.functional_results(pipe, next);
            }
        }
        let results = std::mem::take(&mut self.results);
        for (i, (pipe, port, _)) in next.iter().enumerate() {
            let Some(pass) = results.get(i).copied().flatten() else { continue };
            sink.pass(&self.functional_event(*pipe, Gress::Egress, &pass));
            let received = self.info_of(pass.packet).received;
            self.egress_done(&pass, *port, Duration::ZERO, received, sink);
        }
        self.results = results;
        self.results.clear();
    }

    /// Puts the batch's results back in packet order.
    fn functional_results(&mut self, pipe: usize, next: &[(usize, u16, Pass)]) {
        self.results.resize(next.len(), None);
        let slots = next.iter().enumerate().filter(|(_, (p, ..))| *p == pipe).map(|(i, _)| i);
        for (slot, pass) in slots.zip(&self.batch) {
            self.results[slot] = Some(*pass);
        }
    }

    fn functional_event(&self, pipe: usize, gress: Gress, pass: &Pass) -> super::PassEvent {
        let at = self.info_of(pass.packet).received;
        let (cycle, waited, booked) = (Cycles(0), Cycles(0), Duration::ZERO);
        let pending = PendingPass { entered: at, cycle, waited, port: 0, booked, pass: *pass };
        self.pass_event(pipe, gress, &pending, pass, at)
    }
}
