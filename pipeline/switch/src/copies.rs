//! Packets made from packets: mirror copies, multicast copies, digests.
//!
//! After the deparser, a copy is a separate packet: it is queued, scheduled and sent or lost like any other.

use super::observe::{Digest, Sink};
use super::reason::{DeviceDrop, Reason};
use super::replicate::Member;
use super::{FUNCTIONAL_RECIRCULATIONS, Mode, PacketInfo, Switch};
use sluice_asic::gress::Gress;
use sluice_asic::meter::Colour;
use sluice_asic::tm::MirrorSession;
use sluice_asic::units::{Bytes, Duration, Time};
use sluice_exec::packet::Packet;
use sluice_exec::pass::{MadeKind, McastRequest, Pass};

/// First source number of packets made inside, after all ports.
const MAKERS: u32 = 1 << 16;

/// Place and time at which a packet is made.
#[derive(Clone, Copy)]
pub(super) struct MadeAt {
    pub(super) pipe: usize,
    pub(super) gress: Gress,
    pub(super) time: Time,
}

impl Switch<'_> {
    /// Handles the packets made by a pass of the batch, from the `from`-th on. Returns the index of the first
    /// one that another pass made.
    pub(super) fn made_by(
        &mut self,
        from: usize,
        (pass, parent): (usize, &Pass),
        at: MadeAt,
        sink: &mut dyn Sink,
    ) -> usize {
        let mut next = from;
        while let Some(made) = self.scratch.made.get(next).copied().filter(|m| m.pass as usize == pass) {
            next += 1;
            match made.kind {
                MadeKind::Mirror { session, header, packet, copy } => {
                    let session = self.replicator.session(session, at.gress).map(|s| s.resolve(&packet));
                    self.mirror(parent, session, (header, copy), at, sink);
                }
                MadeKind::Digest { kind, data } => self.digest(parent, kind, data, at, sink),
                MadeKind::FlowControl(word) => self.flow_control(word, at),
                MadeKind::Pktgen(request) if self.config.mode == Mode::Timed => {
                    self.request_packets(at.pipe, request, at.time);
                }
                // In functional mode there is no packet generator.
                MadeKind::Pktgen(_) => {}
                MadeKind::Multicast(request) => self.multicast(parent, request, at, sink),
            }
        }
        next
    }

    /// Returns the data of a packet made from `parent`.
    fn offspring(&mut self, parent: &PacketInfo, at: MadeAt) -> PacketInfo {
        let made = &mut self.pipes[at.pipe].copies[at.gress.index()];
        let seq = *made;
        *made += 1;
        PacketInfo {
            source: MAKERS + 2 * at.pipe as u32 + at.gress.index() as u32,
            seq,
            queued: Duration::ZERO,
            rid: 0,
            rid_first: false,
            resubmitted: false,
            replicated: false,
            bypass: false,
            deflect: false,
            deflected: None,
            made: true,
            recirculations: parent.recirculations.saturating_add(1),
            flow: parent.flow.alone(),
            ..*parent
        }
    }

    fn born(&mut self, packet: Packet, info: PacketInfo) {
        self.outside += u64::from(!info.is_timer());
        self.note(packet, info);
    }

    fn mirror(
        &mut self,
        parent: &Pass,
        session: Option<MirrorSession>,
        (header, copy): (u16, Packet),
        at: MadeAt,
        sink: &mut dyn Sink,
    ) {
        let parent = self.info_of(parent.packet);
        let info = self.offspring(&parent, at);
        self.born(copy, info);
        self.totals.count_made(|m| &mut m.mirror);
        if self.config.mode == Mode::Functional && info.recirculations > FUNCTIONAL_RECIRCULATIONS {
            self.lose(copy, at.time, Reason::Device(DeviceDrop::TooManyRecirculations), sink);
            return;
        }
        let Some(session) = session else {
            self.lose(copy, at.time, Reason::Device(DeviceDrop::MirrorSessionOff), sink);
            return;
        };
        let (header, whole) = (u32::from(header), self.packets.len(copy));
        let packet = Bytes(u64::from(whole - header));
        let length = session.copy_length(Bytes(u64::from(header)), packet);
        self.packets.truncate(copy, u32::try_from(length.get()).unwrap_or(u32::MAX));
        self.packets.settle(copy);
        let info = &mut self.info[copy.index()];
        (info.qid, info.cos, info.deflect) = (session.qid, session.cos, session.deflect_on_drop);
        info.colour = session.colour;
        let groups = session.groups.map(Option::unwrap_or_default);
        if groups == [0, 0] && session.cpu_cos.is_none() {
            return self.send(copy, session.port.map(|p| p.number()), at.time, sink);
        }
        self.replicate(copy, session.port.map(|p| p.number()), request_of(&session, groups), at, sink);
    }

    fn digest(&mut self, parent: &Pass, kind: u8, data: Packet, at: MadeAt, sink: &mut dyn Sink) {
        let tag = self.info_of(parent.packet).tag;
        self.totals.count_made(|m| &mut m.digest);
        self.totals.absorbed_digest();
        let digest = Digest { tag, pipe: at.pipe as u8, kind, time: at.time };
        sink.digest(&digest, self.packets.head(data));
        self.packets.remove(data);
    }

    fn multicast(&mut self, parent: &Pass, request: McastRequest, at: MadeAt, sink: &mut dyn Sink) {
        let info = &mut self.info[parent.packet.index()];
        (info.replicated, info.qid, info.cos) = (true, parent.output.qid, parent.output.cos);
        (info.bypass, info.deflect) = (parent.output.bypass, parent.output.deflect);
        info.colour = Colour::from_bits(parent.output.colour);
        let unicast = Some(parent.output.port).filter(|p| *p != sluice_ir::Intrinsic::NO_PORT);
        self.replicate(parent.packet, unicast, request, at, sink);
    }

    /// Sends a packet to a port, if any, and to the members of groups. The first destination gets the packet
    /// itself, the others get copies.
    fn replicate(
        &mut self,
        packet: Packet,
        unicast: Option<u16>,
        request: McastRequest,
        at: MadeAt,
        sink: &mut dyn Sink,
    ) {
        let mut members = std::mem::take(&mut self.scratch.members);
        members.clear();
        self.replicator.members(&request, &mut members);
        // The CPU port comes last, so that the packet itself goes to the groups.
        members.extend(request.cpu.and_then(|cos| self.cpu_member(cos)));
        let here = unicast.and_then(|p| self.port_index(p)).is_some();
        let sharing = members.len() as u32 + u32::from(here);
        self.info[packet.index()].flow.copies = self.tm.buffer_mut().and_then(|b| b.open_copies(sharing));
        let parent = self.info_of(packet);
        let mine = if unicast.is_some() { None } else { members.first().copied() };
        for member in &members[usize::from(mine.is_some())..] {
            let copy = self.packets.duplicate(packet);
            let info = self.offspring(&parent, at);
            let cos = member.cos.unwrap_or(info.cos);
            let PacketInfo { bypass, deflect, flow, .. } = parent;
            let (rid, rid_first) = (member.rid, member.first);
            self.born(copy, PacketInfo { rid, rid_first, cos, bypass, deflect, flow, ..info });
            self.totals.count_made(|m| &mut m.multicast);
            self.queue_up(copy, member.port, at.time);
        }
        self.scratch.members = members;
        match (unicast, mine) {
            (Some(_), _) => self.send(packet, unicast, at.time, sink),
            (None, Some(Member { port, rid, first, cos })) => {
                let info = &mut self.info[packet.index()];
                (info.rid, info.rid_first, info.cos) = (rid, first, cos.unwrap_or(info.cos));
                self.queue_up(packet, port, at.time);
            }
            (None, None) => {
                self.lose(packet, at.time, Reason::Device(DeviceDrop::NoMulticastMember), sink);
            }
        }
    }

    fn cpu_member(&self, cos: u8) -> Option<Member> {
        let port = self.port_index(u16::try_from(self.chip.ports.cpu_dev_port).ok()?)?;
        Some(Member { port, rid: 0, first: false, cos: Some(cos) })
    }

    fn send(&mut self, packet: Packet, dev_port: Option<u16>, time: Time, sink: &mut dyn Sink) {
        match dev_port.and_then(|p| self.port_index(p)) {
            Some(port) => self.queue_up(packet, port, time),
            None => self.lose(packet, time, Reason::Device(DeviceDrop::UnknownEgressPort), sink),
        }
    }
}

fn request_of(session: &MirrorSession, groups: [u16; 2]) -> McastRequest {
    McastRequest {
        groups,
        level1_exclusion: session.level1_exclusion,
        level2_exclusion: session.level2_exclusion,
        rid: session.rid,
        cpu: session.cpu_cos,
        hashes: session.hashes,
    }
}
