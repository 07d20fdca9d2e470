//! Packets that leave by a recirculation port and come in by it again. What may not live here: resubmission,
//! which never leaves ingress.

use super::ingress::Arrival;
use super::observe::Sink;
use super::reason::{DeviceDrop, Reason};
use super::{Mode, Switch};
use crate::packet::Packet;
use crate::pass::Executor;
use sluice_asic::units::{Bytes, Time};

/// Laps of one packet without time: a program that never lets go of a packet would run for ever there. With
/// time laps have no bound but the end of the run.
const FUNCTIONAL_LAPS: u32 = 4096;

impl<E: Executor> Switch<E> {
    /// Sends a packet round: its first bit leaves by the port at `first_bit`.
    pub(super) fn recirculate(&mut self, packet: Packet, port: u16, first_bit: Time, sink: &mut impl Sink) {
        let bytes = self.packets.len(packet);
        let timed = self.config.mode == Mode::Timed;
        let info = &mut self.info[packet.index()];
        info.laps += 1;
        if !timed && info.laps > FUNCTIONAL_LAPS {
            self.lose(packet, first_bit, Reason::Device(DeviceDrop::RecirculationLimit), sink);
            return;
        }
        let at_buffer = first_bit + self.recirculation;
        info.arrived = if timed { at_buffer } else { first_bit };
        let p = &mut self.ports[usize::from(port)];
        let seq = p.rx_seq;
        p.rx_seq += 1;
        let parser = if timed { p.rx.parser_of(at_buffer, Bytes(u64::from(bytes))) } else { first_bit };
        self.totals.recirculated(usize::from(port), bytes);
        self.arrive(Arrival { parser, port, seq, packet });
    }
}
