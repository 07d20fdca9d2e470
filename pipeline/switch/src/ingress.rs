//! From the wire to the traffic manager: reception, arbitration of ingress slots, and the end of an ingress
//! pass.

use super::flow_control;
use super::observe::Sink;
use super::pipe::PipeState;
use super::reason::{DeviceDrop, Reason};
use super::{Event, Mode, PacketInfo, RxFrame, Switch};
use sluice_asic::event::{EventClass, EventKey};
use sluice_asic::gress::Gress;
use sluice_asic::meter::Colour;
use sluice_asic::units::{Bytes, Cycles, Duration, Time};
use sluice_exec::packet::Packet;
use sluice_exec::pass::{Pass, PassIn, Verdict};

/// A packet that has not reached its parser.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// Time at which it reaches the parser.
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
    /// Egress only: index of the port on which it is sent.
    pub(super) port: u16,
    /// Egress only: line time booked for it.
    pub(super) booked: Duration,
    /// Egress only: true if the packet bypasses the stages; it takes only its slot and its time.
    pub(super) bypass: bool,
}

impl Switch<'_> {
    /// Receives a frame from the wire; returns its delay if the wire was busy.
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
            origin: port,
            source: port.into(),
            seq: p.rx_seq,
            received: first_bit,
            mac: first_bit,
            flow: self
                .flow
                .as_ref()
                .map_or_else(Default::default, |_| flow_control::FlowInfo::of(frame.bytes)),
            ..Default::default()
        };
        p.rx_seq += 1;
        let reception = p.rx.receive(first_bit, Bytes(u64::from(bytes)));
        p.rx_free = reception.next_first_bit;
        self.totals.received(usize::from(port), bytes);
        if self.mac_control(port, reception.last_bit, frame.bytes) {
            self.packets.remove(packet);
            return first_bit.saturating_since(time);
        }
        let parser = match self.config.mode {
            Mode::Timed => reception.parser,
            Mode::Functional => first_bit,
        };
        self.outside += 1;
        self.note(packet, info);
        self.arrive(Arrival { parser, port, seq: info.seq, packet });
        first_bit.saturating_since(time)
    }

    /// Returns the least delay, over all ports, from a frame's first bit to the frame's first effect: the
    /// MAC's receive latency, or a PFC reaction time if that is shorter. A caller that has passed in all
    /// frames up to `t` may advance the switch to `t + lead`.
    #[must_use]
    pub fn reception_lead(&self) -> Duration {
        let reaction = self.flow.iter().flat_map(|flow| flow.reactions()).min();
        self.chip.latency.mac_rx.min(reaction.unwrap_or(Duration::MAX))
    }

    pub(super) fn note(&mut self, packet: Packet, info: PacketInfo) {
        if self.info.len() <= packet.index() {
            self.info.resize(packet.index() + 1, PacketInfo::default());
        }
        self.info[packet.index()] = info;
    }

    /// Inserts an arrival in order of time: short frames overtake long ones, because the head of a frame is
    /// held.
    pub(super) fn arrive(&mut self, arrival: Arrival) {
        let key = |a: &Arrival| (a.parser, a.port, a.seq);
        let mut at = self.arrivals.len();
        while at > 0 && key(&self.arrivals[at - 1]) > key(&arrival) {
            at -= 1;
        }
        // Most arrivals are already in order.
        if at == self.arrivals.len() {
            self.arrivals.push_back(arrival);
        } else {
            self.arrivals.insert(at, arrival);
        }
    }

    /// Returns true if arrivals may get their slots before earlier events: no event inside can make an
    /// arrival, take a slot, or change entries that arrivals meet. False if any operation was ever scheduled,
    /// because operations may change entries.
    pub(super) fn may_admit_ahead(&mut self) -> bool {
        let active = |pipe: &PipeState| pipe.generator.scheduled.is_some() || pipe.deflection.is_some();
        self.ops == 0
            && !self.has_ghost
            && !self.watched
            && !self.pipes.iter().any(active)
            && self.own.iter().all(Option::is_none)
            && self.is_straight()
    }

    /// Gives the arrivals up to `until` their slots in the ingress pipes.
    ///
    /// Arrivals up to `sure` are before all other events. No arrival after the due time of a batch gets a
    /// slot, unless no result of the batch can arrive earlier. A lost arrival is reported in the order of
    /// events, so it stops later ones.
    pub(super) fn admit_arrivals(&mut self, sure: Time, until: Time, sink: &mut dyn Sink) {
        let (mut sure, ahead) = (sure, until > sure);
        while let Some(a) = self.arrivals.front().copied()
            && (a.parser <= sure || ahead && a.parser <= until)
        {
            let port = &self.ports[usize::from(a.port)];
            let (dev_port, pipe, local) = (port.dev_port, usize::from(port.pipe), u32::from(port.local));
            let admitted = match port.up {
                true => {
                    self.pipes[pipe].entry[0].admit(local, a.parser).map_err(|_| DeviceDrop::IngressOverrun)
                }
                false => Err(DeviceDrop::PortDown),
            };
            let entry = match admitted {
                Ok(entry) => entry,
                Err(_) if a.parser > sure => break,
                Err(drop) => {
                    self.arrivals.pop_front();
                    self.lose(a.packet, a.parser, Reason::Device(drop), sink);
                    continue;
                }
            };
            self.arrivals.pop_front();
            let entered = self.clock.time_of(entry.cycle);
            let (mac, resubmitted) = self
                .info
                .get(a.packet.index())
                .map_or((Time::ORIGIN, false), |info| (info.mac, info.resubmitted));
            let input = PassIn {
                port: dev_port,
                mac_tstamp: self.stamp(mac),
                global_tstamp: self.stamp(entered),
                resubmitted,
                ..PassIn::default()
            };
            let pass = Pass::new(a.packet, input);
            let (cycle, waited) = (entry.cycle, entry.waited);
            let (port, booked) = (a.port, Duration::ZERO);
            let pending = PendingPass { entered, cycle, waited, port, booked, bypass: false };
            sure = sure.min(self.enter(pipe, Gress::Ingress, pending, pass));
        }
    }

    /// Returns the data plane's clock in ns.
    pub(super) fn stamp(&self, time: Time) -> u64 {
        self.config.clock_origin.as_nanos() + time.as_nanos()
    }

    /// Returns the timestamp as the traffic manager keeps it: only its low bits (model: tm §11).
    pub(super) fn short_stamp(&self, time: Time) -> u32 {
        self.stamp(time) as u32 & self.tm_stamps
    }

    /// Handles the end of an ingress pass.
    pub(super) fn ingress_done(&mut self, pass: &Pass, exit: Time, sink: &mut dyn Sink) {
        if pass.output.verdict == Verdict::Resubmit {
            self.resubmit(pass.packet, exit, sink);
            return;
        }
        if self.info[pass.packet.index()].replicated {
            return;
        }
        let Some(port) = self.forwarded(pass, exit, sink) else { return };
        let info = &mut self.info[pass.packet.index()];
        (info.qid, info.cos) = (pass.output.qid, pass.output.cos);
        (info.bypass, info.deflect) = (pass.output.bypass, pass.output.deflect);
        info.colour = Colour::from_bits(pass.output.colour);
        self.queue_up(pass.packet, port, exit);
    }

    /// Sends a packet that left a deparser at `exit` to a queue of the port.
    pub(super) fn queue_up(&mut self, packet: Packet, port: u16, exit: Time) {
        if self.config.mode == Mode::Functional {
            self.work.push_back((packet, Some(port)));
            return;
        }
        let Some(PacketInfo { source, seq, port: from, .. }) = self.info.get(packet.index()) else { return };
        let key = EventKey {
            time: exit + self.tm_enqueue,
            device: self.config.device,
            class: EventClass::PacketEntry,
            port: *source,
            seq: *seq,
        };
        // The push cannot fail: by the rule of batches, every exit is after the last event.
        let lane = usize::from(self.ports[usize::from(*from)].pipe);
        let pushed = self.events.push_in_lane(lane, key, Event::Enqueue { packet, port });
        debug_assert!(pushed.is_ok(), "{pushed:?}");
    }

    /// Returns the port that the packet is forwarded to; otherwise counts its end.
    pub(super) fn forwarded(&mut self, pass: &Pass, time: Time, sink: &mut dyn Sink) -> Option<u16> {
        match self.way_on(pass) {
            Ok(port) => Some(port),
            Err(reason) => {
                self.lose(pass.packet, time, reason, sink);
                None
            }
        }
    }

    /// Returns the port that a packet is forwarded to, or the reason of its drop.
    #[inline]
    pub(super) fn way_on(&self, pass: &Pass) -> Result<u16, Reason> {
        match pass.output.verdict {
            Verdict::Forward => {
                let port = self.port_index(pass.output.port);
                port.ok_or(Reason::Device(DeviceDrop::UnknownEgressPort))
            }
            verdict => Err(Reason::of(verdict)),
        }
    }
}
