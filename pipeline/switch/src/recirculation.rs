//! Paths back to an ingress parser: recirculation ports and resubmits.
//!
//! Both take slots of the ingress pipe. Recirculation also takes bandwidth of the line that all recirculation
//! ports of a pipe share. Neither makes a packet. A *timer* is a packet that a packet generator made, or a
//! packet made inside that has recirculated [`TIMER_RECIRCULATIONS`] times; a run does not wait for timers.

use super::ingress::Arrival;
use super::observe::Sink;
use super::port::Settled;
use super::reason::{DeviceDrop, Reason};
use super::{Event, Mode, PacketInfo, Switch};
use sluice_asic::event::{EventClass, EventKey};
use sluice_asic::gress::Gress;
use sluice_asic::meter::Colour;
use sluice_asic::units::{Bytes, Duration, Time};
use sluice_control::{ControlState, Then};
use sluice_exec::packet::Packet;
use sluice_ir::{ActionCall, Expr, Intrinsic, PrimitiveKind, Program, Table};

/// Recirculations after which a packet that was made inside counts as a timer.
pub const TIMER_RECIRCULATIONS: u32 = 8;

/// Limit of recirculations of a packet in functional mode, including those of the packet it is a copy of;
/// making a copy counts as one.
pub const FUNCTIONAL_RECIRCULATIONS: u32 = 64;

/// Limit of the passes that a packet from outside and its copies may take in functional mode.
pub const FUNCTIONAL_PASSES: u32 = 4096;

/// First source number of packets on a line of recirculation ports, after all places that make packets.
const LINES: u32 = 1 << 17;

impl PacketInfo {
    /// True for a timer, which no run waits for.
    pub(super) const fn is_timer(&self) -> bool {
        self.generated || self.made && self.recirculations >= TIMER_RECIRCULATIONS
    }
}

impl Switch<'_> {
    /// Handles a packet that left egress on a recirculation port.
    pub(super) fn recirculate(
        &mut self,
        packet: Packet,
        port: u16,
        booked: Duration,
        exit: Time,
        sink: &mut dyn Sink,
    ) {
        self.packets.settle(packet);
        if self.config.mode == Mode::Functional {
            return self.recirculated(packet, port, booked, exit, sink);
        }
        // Other ports and the packet generator share the line, so their order is known only at that time.
        let p = &mut self.ports[usize::from(port)];
        let (device, class) = (self.config.device, EventClass::PacketEntry);
        let key = EventKey { time: exit, device, class, port: LINES + u32::from(port), seq: p.schedules };
        p.schedules += 1;
        let pushed = self.events.push(key, Event::Recirculate { packet, port, booked });
        debug_assert!(pushed.is_ok(), "{pushed:?}");
    }

    /// Handles a packet that reaches the line of its pipe's recirculation ports.
    pub(super) fn recirculated(
        &mut self,
        packet: Packet,
        port: u16,
        booked: Duration,
        exit: Time,
        sink: &mut dyn Sink,
    ) {
        let bytes = self.packets.len(packet);
        self.totals.recirculated(usize::from(port), bytes);
        let p = &mut self.ports[usize::from(port)];
        let (mac, parser) = match self.config.mode {
            Mode::Timed => {
                let length = Bytes(u64::from(bytes));
                let pipe = usize::from(p.pipe);
                let at = &mut self.pipes[pipe];
                let shortest = at.recirculation.line_time(Bytes(60));
                let queued = self.info[packet.index()].queued;
                at.crowd.note(exit, at.recirculation.free_at(), queued, shortest);
                let (sent, took) = (at.recirculation.start(exit, length), at.recirculation.line_time(length));
                at.generator.busy_until(sent.free_at);
                at.generator.recirculated(self.packets.head(packet), exit);
                let parser = p.rx.receive(sent.first_bit, length).parser;
                self.schedule_generator(pipe);
                self.settle(port, Settled { exit, booked, took, free_at: sent.free_at });
                (sent.first_bit, parser)
            }
            Mode::Functional => (exit, exit),
        };
        let p = &mut self.ports[usize::from(port)];
        let seq = p.rx_seq;
        p.rx_seq += 1;
        let info = &mut self.info[packet.index()];
        (info.port, info.source, info.seq, info.mac) = (port, port.into(), seq, mac);
        (info.resubmitted, info.replicated) = (false, false);
        (info.bypass, info.deflect, info.deflected) = (false, false, None);
        info.colour = Colour::Green;
        self.again(packet, Arrival { parser, port, seq, packet }, exit, sink);
    }

    /// Handles a packet that left ingress for another ingress pass.
    pub(super) fn resubmit(&mut self, packet: Packet, exit: Time, sink: &mut dyn Sink) {
        self.totals.resubmitted += 1;
        let parser = exit + self.timing.resubmit;
        let info = &mut self.info[packet.index()];
        info.resubmitted = true;
        let (port, seq) = (info.port, info.seq);
        self.again(packet, Arrival { parser, port, seq, packet }, exit, sink);
    }

    fn again(&mut self, packet: Packet, arrival: Arrival, now: Time, sink: &mut dyn Sink) {
        let info = &mut self.info[packet.index()];
        let was_timer = info.is_timer();
        info.recirculations = info.recirculations.saturating_add(1);
        let (recirculations, timer) = (info.recirculations, info.is_timer());
        self.outside -= u64::from(timer && !was_timer);
        match self.config.mode {
            Mode::Timed if !timer && recirculations > self.config.max_recirculations => {
                self.lose(packet, now, Reason::Device(DeviceDrop::TooManyRecirculations), sink);
            }
            Mode::Timed => self.arrive(arrival),
            Mode::Functional if recirculations > FUNCTIONAL_RECIRCULATIONS => {
                let time = self.info_of(packet).received;
                self.lose(packet, time, Reason::Device(DeviceDrop::TooManyRecirculations), sink);
            }
            Mode::Functional => self.functional.work.push_back((packet, None)),
        }
    }

    /// Counts the end of a packet.
    pub(super) fn ended(&mut self, info: &PacketInfo) {
        self.outside -= u64::from(!info.is_timer());
    }

    /// True if packets other than timers are inside: a run must wait for them.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.outside > 0
    }

    /// Returns true if, with the entries in force, every packet goes once through ingress, one queue and
    /// egress.
    pub(super) fn is_straight(&mut self) -> bool {
        if self.straight.is_none() {
            let recirculates = |port: u128| {
                let index = u16::try_from(port).ok().and_then(|port| self.port_index(port));
                index.is_some_and(|i| self.ports[usize::from(i)].recirculation)
            };
            // A received pause may make a packet generator send.
            let triggers = self.config.mode == Mode::Timed
                && self.flow.is_some()
                && !self.pipes.iter().all(|pipe| pipe.generator.unit.is_unused());
            let straight = !triggers
                && !makes_anything(&self.program)
                && !sends_to(&self.program, &self.control, recirculates);
            self.straight = Some(straight);
        }
        self.straight == Some(true)
    }
}

/// Returns true if the program can resubmit, copy or multicast packets, make digests, or bypass egress.
fn makes_anything(program: &Program) -> bool {
    let asks = |gress| !program.pipe(gress).deparser.requests.is_empty();
    let groups = [Intrinsic::McastGrpA, Intrinsic::McastGrpB, Intrinsic::CopyToCpu, Intrinsic::BypassEgress];
    Gress::ALL.into_iter().any(asks)
        || groups.into_iter().any(|which| program.intrinsic(Gress::Ingress, which).is_some())
}

/// Returns true if an action can send to such a port: by a constant, by an entry, or by an unknown value.
fn sends_to(program: &Program, control: &ControlState, such: impl Fn(u128) -> bool) -> bool {
    let port = program.intrinsic(Gress::Ingress, Intrinsic::UcastEgressPort);
    program.actions.iter().any(|(action, data)| {
        data.body.iter().any(|primitive| match &primitive.kind {
            PrimitiveKind::Set(dst, Expr::Const(value, _)) if Some(*dst) == port => such(*value),
            PrimitiveKind::Set(dst, Expr::Param(n, _)) if Some(*dst) == port => {
                let sends = |call: &ActionCall| {
                    call.action == action && call.args.get(usize::from(*n)).is_none_or(|v| such(*v))
                };
                program.tables.keys().any(|t| calls(program, control, t, &sends))
            }
            PrimitiveKind::Set(dst, _) | PrimitiveKind::SetSlice(dst, ..) => Some(*dst) == port,
            _ => false,
        })
    })
}

/// Returns true if the table can make such a call.
fn calls(
    program: &Program,
    control: &ControlState,
    table: Table,
    such: &impl Fn(&ActionCall) -> bool,
) -> bool {
    let (data, state) = (&program.tables[table], &control.tables[table]);
    let of_entry = |then: &Then| matches!(then, Then::Call(call) if such(call));
    such(&state.default)
        || data.entries.iter().any(|e| such(&e.then))
        || state.entries().any(|(_, e)| of_entry(&e.then))
        || data.profile.is_some_and(|p| control.profiles[p].members.values().any(such))
}
