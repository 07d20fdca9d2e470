//! Requests of a deparser: resubmits, copies, digests.

use super::ROOM;
use super::eval::Env;
use super::trace::Event;
use super::{Run, Tracer};
use crate::packet::{Packet, PacketStore};
use crate::pass::{Made, MadeKind, McastRequest, Pass, PktgenRequest, Verdict, put_in_front};
use sluice_asic::gress::Gress;
use sluice_asic::hash::BitString;
use sluice_asic::port::DevPort;
use sluice_asic::tm::MirrorMetadata;
use sluice_ir::{Expr, Intrinsic, Request, RequestKind};

/// `drop_ctl` bit 1: no copy to the CPU (model: chip §10).
const DROP_CTL_NO_CPU: u16 = 2;
/// `drop_ctl` bit 2, in egress: no mirror copies.
const DROP_CTL_NO_MIRROR: u16 = 4;

/// Requests of a pass.
pub(super) struct Asked {
    /// Requests that their type field selects, with the bytes of their headers.
    requests: Vec<(Request, Vec<u8>)>,
    /// True if the packet is to be resubmitted, unless it is dropped.
    pub(super) resubmit: bool,
    /// True if mirror copies are of the packet at the deparser's output.
    leaving: bool,
    pub(super) multicast: Option<McastRequest>,
    flow_control: Option<u32>,
}

impl Asked {
    pub(super) fn copies_what_leaves(&self) -> bool {
        self.leaving && self.requests.iter().any(|(r, _)| matches!(r.kind, RequestKind::Mirror(_)))
    }
}

impl<T: Tracer> Run<'_, T> {
    pub(super) fn asked(&self, pass: &Pass) -> Asked {
        let no_mirror = self.gress == Gress::Egress && self.drop_ctl() & DROP_CTL_NO_MIRROR != 0;
        let chosen = |r: &&Request| {
            self.intrinsic(r.kind.type_field()) == Some(r.selector.into())
                && r.when.is_none_or(|f| self.phv.field(f) == 1)
        };
        let all = self.program.pipe(self.gress).deparser.requests.iter();
        let requests: Vec<(Request, Vec<u8>)> = all
            .filter(chosen)
            .filter(|r| r.kind != RequestKind::Resubmit || !pass.input.resubmitted)
            .filter(|r| !(no_mirror && matches!(r.kind, RequestKind::Mirror(_))))
            .map(|r| (r.clone(), self.list(&r.data)))
            .collect();
        let leaving = match self.intrinsic(Intrinsic::MirrorIoSelect) {
            Some(select) => select == 1,
            None => self.gress == Gress::Egress,
        };
        let resubmit = requests.iter().any(|(r, _)| r.kind == RequestKind::Resubmit);
        let word = self.phv.intrinsic(self.gress, Intrinsic::AdvFlowCtl).map(|f| self.phv.field(f) as u32);
        let flow_control = word.filter(|word| word >> 31 != 0);
        Asked { requests, resubmit, leaving, multicast: self.multicast(), flow_control }
    }

    /// Returns the bytes of a list, each value most significant bit first.
    fn list(&self, list: &[Expr]) -> Vec<u8> {
        let env = Env { program: self.program, phv: self.phv, args: &[] };
        let mut bits = BitString::with_capacity(ROOM);
        for value in list {
            bits.push(env.value(value), value.width(self.program).into());
        }
        bits.words(8).map(|byte| byte as u8).collect()
    }

    /// Returns the value of `drop_ctl`; 0 if the program does not declare it.
    fn drop_ctl(&self) -> u16 {
        self.intrinsic(Intrinsic::DropCtl).unwrap_or(0)
    }

    /// Returns the request to the replication engine. A drop leaves the copy to the CPU alone.
    pub(super) fn multicast(&self) -> Option<McastRequest> {
        let value = |which| self.intrinsic(which).unwrap_or(0);
        let groups = match self.label {
            Some(_) => [0, 0],
            None => [value(Intrinsic::McastGrpA), value(Intrinsic::McastGrpB)],
        };
        let copied = value(Intrinsic::CopyToCpu) == 1 && self.drop_ctl() & DROP_CTL_NO_CPU == 0;
        let cpu = copied.then(|| value(Intrinsic::IcosForCopyToCpu) as u8);
        (groups != [0, 0] || cpu.is_some()).then(|| McastRequest {
            groups,
            cpu,
            level1_exclusion: value(Intrinsic::Level1ExclusionId),
            level2_exclusion: value(Intrinsic::Level2ExclusionId),
            rid: value(Intrinsic::Rid),
            hashes: [value(Intrinsic::Level1McastHash), value(Intrinsic::Level2McastHash)],
        })
    }

    /// Makes copies and digests of the packet as it entered.
    pub(super) fn make(
        &mut self,
        asked: &Asked,
        verdict: Verdict,
        packet: Packet,
        packets: &mut PacketStore,
    ) {
        if let Some(word) = asked.flow_control {
            self.made.push(Made { pass: self.number, kind: MadeKind::FlowControl(word) });
        }
        for (request, header) in &asked.requests {
            match request.kind {
                RequestKind::Mirror(_) if asked.leaving => {}
                RequestKind::Mirror(session) => {
                    let session = self.phv.field(session) as u16;
                    self.mirror(request, session, header, packet, packets);
                }
                RequestKind::Digest => {
                    let data = packets.insert(header, 0);
                    self.tell(&Event::Requested { request, data: header });
                    let kind = MadeKind::Digest { kind: request.selector, data };
                    self.made.push(Made { pass: self.number, kind });
                }
                RequestKind::Resubmit if verdict == Verdict::Resubmit => {
                    self.tell(&Event::Requested { request, data: header });
                    put_in_front(packets, packet, header);
                }
                RequestKind::Resubmit => {}
                RequestKind::Pktgen => {
                    self.tell(&Event::Requested { request, data: header });
                    let value = |which| self.intrinsic(which).unwrap_or(0);
                    let (at, length) = (value(Intrinsic::PktgenAddress), value(Intrinsic::PktgenLength));
                    let kind = MadeKind::Pktgen(PktgenRequest::new(header, at, length));
                    self.made.push(Made { pass: self.number, kind });
                }
            }
        }
    }

    /// Makes copies of the packet as it leaves.
    pub(super) fn finish(
        &mut self,
        asked: &Asked,
        verdict: Verdict,
        packet: Packet,
        packets: &mut PacketStore,
    ) {
        for (request, header) in asked.requests.iter().filter(|_| asked.leaving) {
            if let RequestKind::Mirror(session) = request.kind {
                let session = self.phv.field(session) as u16;
                self.mirror(request, session, header, packet, packets);
            }
        }
        if let (Some(request), Verdict::Forward) = (asked.multicast, verdict) {
            self.made.push(Made { pass: self.number, kind: MadeKind::Multicast(request) });
        }
    }

    fn mirror(
        &mut self,
        request: &Request,
        session: u16,
        header: &[u8],
        packet: Packet,
        packets: &mut PacketStore,
    ) {
        self.tell(&Event::Requested { request, data: header });
        let copy = packets.duplicate(packet);
        put_in_front(packets, copy, header);
        let value = |which| self.intrinsic(which).unwrap_or(0);
        let metadata = MirrorMetadata {
            cos: value(Intrinsic::MirrorIngressCos) as u8,
            multicast: value(Intrinsic::MirrorMulticastCtrl) == 1,
            port: self.intrinsic(Intrinsic::MirrorEgressPort).and_then(DevPort::new),
            qid: value(Intrinsic::MirrorQid) as u8,
            hash: value(Intrinsic::MirrorHash),
            deflect_on_drop: value(Intrinsic::MirrorDeflectOnDrop) == 1,
        };
        let kind = MadeKind::Mirror { session, header: header.len() as u16, packet: metadata, copy };
        self.made.push(Made { pass: self.number, kind });
    }
}
