//! Requests of a deparser: resubmits, mirror copies, digests, multicast.

use super::batch::{Phv, for_lanes, lanes_where};
use super::deparser::may_change;
use super::error::LowerError;
use super::field::{FieldAt, SlotMap};
use super::list::ListAt;
use crate::packet::PacketStore;
use crate::pass::{Made, MadeKind, McastRequest, Pass, PktgenRequest, put_in_front};
use sluice_asic::gress::Gress;
use sluice_asic::phv::Container;
use sluice_asic::port::DevPort;
use sluice_asic::tm::MirrorMetadata;
use sluice_ir::{Intrinsic, Primitive, PrimitiveKind, Program, RequestKind};
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// Request of the deparser, with the columns of its fields.
#[derive(Clone, Debug)]
struct RequestAt {
    kind: RequestKind,
    selector: u32,
    type_at: FieldAt,
    /// 1-bit field that must be 1, too.
    when: Option<FieldAt>,
    session: FieldAt,
    data: ListAt,
}

/// Columns of the fields of a [`McastRequest`].
#[derive(Clone, Debug)]
struct McastAt {
    groups: [Option<FieldAt>; 2],
    level1_exclusion: Option<FieldAt>,
    level2_exclusion: Option<FieldAt>,
    rid: Option<FieldAt>,
    hashes: [Option<FieldAt>; 2],
    cpu: [Option<FieldAt>; 2],
}

/// Columns of the fields of a [`MirrorMetadata`] and of a [`PktgenRequest`].
#[derive(Clone, Debug)]
struct OverrideAt {
    hash: Option<FieldAt>,
    deflect: Option<FieldAt>,
    address: Option<FieldAt>,
    length: Option<FieldAt>,
    port: Option<FieldAt>,
    qid: Option<FieldAt>,
    cos: Option<FieldAt>,
    multicast: Option<FieldAt>,
}

/// `drop_ctl` bit 1: no copy to the CPU (model: chip §10).
const DROP_CTL_NO_CPU: u32 = 2;
/// `drop_ctl` bit 2, in egress: no mirror copies.
const DROP_CTL_NO_MIRROR: u32 = 4;

/// The lowered requests of a gress.
#[derive(Clone, Debug)]
pub(super) struct RequestCode {
    list: Vec<RequestAt>,
    mcast: Option<McastAt>,
    /// Field that selects the packet that mirror copies are made of: 1 is the packet as it leaves, 0 as it came in. If
    /// there is no such field, `leaving` decides.
    io_select: Option<FieldAt>,
    leaving: bool,
    overrides: OverrideAt,
    flow_control: Option<FieldAt>,
    /// `drop_ctl`, if an action writes it other than by a drop.
    drop_ctl: Option<FieldAt>,
}

/// Requests of the lanes of a batch.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    /// Lanes that make each request, in the order of `RequestCode::list`.
    lanes: SmallVec<[u64; 8]>,
    /// Lanes that request a resubmit.
    pub(super) resubmit: u64,
    /// Lanes that request a mirror copy of the packet as it leaves.
    pub(super) leaving: u64,
    /// Lanes that name a multicast group or request a copy to the CPU.
    pub(super) multicast: u64,
    /// Lanes that request a copy to the CPU.
    cpu: u64,
    /// Lanes that an action dropped: of their copies to groups and the CPU, only those to the CPU are made.
    dropped: u64,
    /// Lanes with a flow-control word.
    flow_control: u64,
}

impl Asked {
    /// Returns true if any lane makes a request.
    pub(super) fn any(&self) -> bool {
        self.multicast != 0 || self.flow_control != 0 || self.lanes.iter().any(|l| *l != 0)
    }
}

impl RequestCode {
    pub(super) fn new(
        program: &Program,
        gress: Gress,
        touched: &BTreeSet<Container>,
        slots: &mut SlotMap<'_>,
    ) -> Result<RequestCode, LowerError> {
        let mut list = Vec::new();
        for request in &program.pipe(gress).deparser.requests {
            let Some(type_field) = program.intrinsic(gress, request.kind.type_field()) else { continue };
            list.push(RequestAt {
                kind: request.kind,
                selector: request.selector.into(),
                type_at: slots.source(type_field),
                session: match request.kind {
                    RequestKind::Mirror(session) => slots.source(session),
                    _ => FieldAt::default(),
                },
                when: request.when.map(|f| slots.source(f)),
                data: ListAt::new(program, &request.data, slots)?,
            });
        }
        // A field that nothing sets requests nothing.
        let asks = |which| program.intrinsic(gress, which).is_some_and(|f| may_change(f, touched, slots));
        let multicasts = [Intrinsic::McastGrpA, Intrinsic::McastGrpB, Intrinsic::CopyToCpu].map(asks);
        let controls_flow = asks(Intrinsic::AdvFlowCtl);
        let mut field = |which| program.intrinsic(gress, which).map(|f| slots.source(f));
        let groups = [field(Intrinsic::McastGrpA), field(Intrinsic::McastGrpB)];
        let cpu = [field(Intrinsic::CopyToCpu), field(Intrinsic::IcosForCopyToCpu)];
        let mcast = multicasts.contains(&true).then(|| McastAt {
            cpu,
            groups,
            level1_exclusion: field(Intrinsic::Level1ExclusionId),
            level2_exclusion: field(Intrinsic::Level2ExclusionId),
            rid: field(Intrinsic::Rid),
            hashes: [field(Intrinsic::Level1McastHash), field(Intrinsic::Level2McastHash)],
        });
        let io_select = field(Intrinsic::MirrorIoSelect);
        let overrides = OverrideAt {
            port: field(Intrinsic::MirrorEgressPort),
            qid: field(Intrinsic::MirrorQid),
            cos: field(Intrinsic::MirrorIngressCos),
            multicast: field(Intrinsic::MirrorMulticastCtrl),
            hash: field(Intrinsic::MirrorHash),
            deflect: field(Intrinsic::MirrorDeflectOnDrop),
            address: field(Intrinsic::PktgenAddress),
            length: field(Intrinsic::PktgenLength),
        };
        let flow_control = field(Intrinsic::AdvFlowCtl).filter(|_| controls_flow);
        let writes = |p: &Primitive| matches!(p.kind, PrimitiveKind::DropCtl(..));
        let computed = program.actions.values().any(|a| a.gress == gress && a.body.iter().any(writes));
        let drop_ctl = if computed { field(Intrinsic::DropCtl) } else { None };
        let leaving = gress == Gress::Egress;
        Ok(RequestCode { list, mcast, io_select, leaving, overrides, flow_control, drop_ctl })
    }

    /// Returns the conditions under which a packet makes a request: a field, a mask, and the value that the masked
    /// field must have (`None`: any value except zero).
    pub(super) fn conditions(&self) -> Vec<(FieldAt, u32, Option<u32>)> {
        let flow_control = self.flow_control.iter().map(|at| (at.clone(), 1 << 31, None));
        // A type may be 0 under a flag, which then is the rarer condition.
        let requests = self.list.iter().map(|r| match &r.when {
            Some(when) => (when.clone(), 1, Some(1)),
            None => (r.type_at.clone(), u32::MAX, Some(r.selector)),
        });
        let multicast = self.mcast.iter().flat_map(|m| m.groups.iter().flatten().chain(&m.cpu[0]));
        flow_control.chain(requests).chain(multicast.map(|at| (at.clone(), u32::MAX, None))).collect()
    }

    /// Returns the requests of the lanes of `mask`, of which an action dropped those of `dropped`.
    #[inline]
    pub(super) fn asked<const N: usize>(
        &self,
        (mask, dropped): (u64, u64),
        batch: &[Pass],
        phv: &Phv<N>,
    ) -> Asked {
        let mut asked = Asked { dropped, ..Asked::default() };
        if self.list.is_empty() && self.mcast.is_none() && self.flow_control.is_none() {
            return asked;
        }
        if let Some(at) = &self.flow_control {
            asked.flow_control = lanes_where::<N>(mask, |l| at.read32(phv, l) >> 31 != 0);
        }
        let kept = |bit: u32| match &self.drop_ctl {
            Some(at) => lanes_where::<N>(mask, |l| at.read32(phv, l) & bit == 0),
            None => mask,
        };
        for request in &self.list {
            let mut lanes = lanes_where::<N>(mask, |l| request.type_at.read32(phv, l) == request.selector);
            if let Some(when) = &request.when {
                lanes &= lanes_where::<N>(mask, |l| when.read32(phv, l) == 1);
            }
            match request.kind {
                RequestKind::Resubmit => {
                    for_lanes::<N>(lanes, |l| lanes &= !(u64::from(batch[l].input.resubmitted) << l));
                    asked.resubmit |= lanes;
                }
                RequestKind::Mirror(_) => {
                    if self.leaving {
                        lanes &= kept(DROP_CTL_NO_MIRROR);
                    }
                    asked.leaving |= match &self.io_select {
                        Some(at) => lanes_where::<N>(lanes, |l| at.read32(phv, l) == 1),
                        None if self.leaving => lanes,
                        None => 0,
                    };
                }
                RequestKind::Digest | RequestKind::Pktgen => {}
            }
            asked.lanes.push(lanes);
        }
        for at in self.mcast.iter().flat_map(|m| m.groups.iter().flatten()) {
            asked.multicast |= lanes_where::<N>(mask & !dropped, |l| at.read32(phv, l) != 0);
        }
        if let Some(at) = self.mcast.as_ref().and_then(|m| m.cpu[0].as_ref()) {
            asked.cpu = lanes_where::<N>(kept(DROP_CTL_NO_CPU), |l| at.read32(phv, l) == 1);
            asked.multicast |= asked.cpu;
        }
        asked
    }

    /// Carries out the requests that need the packet as it came in: resubmits, digests and mirror copies of that
    /// packet. Also flow-control words and requests to the packet generator.
    pub(super) fn make<const N: usize>(
        &self,
        asked: &Asked,
        run: &Lanes<'_, N>,
        packets: &mut PacketStore,
        made: &mut Vec<Made>,
    ) {
        if let Some(at) = &self.flow_control {
            for_lanes::<N>(asked.flow_control, |l| {
                let kind = MadeKind::FlowControl(at.read32(run.phv, l));
                made.push(Made { pass: run.first + l as u32, kind });
            });
        }
        for (request, &lanes) in self.list.iter().zip(&asked.lanes) {
            let lanes = match request.kind {
                RequestKind::Mirror(_) => lanes & !asked.leaving,
                RequestKind::Resubmit => lanes & run.resubmit,
                RequestKind::Digest | RequestKind::Pktgen => lanes,
            };
            for_lanes::<N>(lanes, |l| request.make(l, run, &self.overrides, packets, made));
        }
    }

    /// Carries out the requests that need the packet as it leaves: mirror copies of the lanes of `deparsed`, and
    /// multicast of the lanes of `sent`.
    pub(super) fn finish<const N: usize>(
        &self,
        asked: &Asked,
        (deparsed, sent): (u64, u64),
        run: &Lanes<'_, N>,
        packets: &mut PacketStore,
        made: &mut Vec<Made>,
    ) {
        for (request, &lanes) in self.list.iter().zip(&asked.lanes) {
            if let RequestKind::Mirror(_) = request.kind {
                for_lanes::<N>(lanes & asked.leaving & deparsed, |l| {
                    request.make(l, run, &self.overrides, packets, made)
                });
            }
        }
        let Some(at) = &self.mcast else { return };
        let read = |at: &Option<FieldAt>, l: usize| at.as_ref().map_or(0, |at| at.read32(run.phv, l) as u16);
        for_lanes::<N>(asked.multicast & sent, |l| {
            let group = |which: usize| match asked.dropped >> l & 1 {
                1 => 0,
                _ => read(&at.groups[which], l),
            };
            let request = McastRequest {
                groups: [group(0), group(1)],
                level1_exclusion: read(&at.level1_exclusion, l),
                level2_exclusion: read(&at.level2_exclusion, l),
                rid: read(&at.rid, l),
                hashes: [read(&at.hashes[0], l), read(&at.hashes[1], l)],
                cpu: (asked.cpu >> l & 1 == 1).then(|| read(&at.cpu[1], l) as u8),
            };
            made.push(Made { pass: run.first + l as u32, kind: MadeKind::Multicast(request) });
        });
    }
}

/// Lanes of a batch whose requests are carried out.
pub(super) struct Lanes<'a, const N: usize> {
    /// Index of the first lane's packet in the caller's batch.
    pub(super) first: u32,
    pub(super) batch: &'a [Pass],
    pub(super) phv: &'a Phv<N>,
    /// Lanes that are resubmitted.
    pub(super) resubmit: u64,
}

impl OverrideAt {
    fn of<const N: usize>(&self, lane: usize, phv: &Phv<N>) -> MirrorMetadata {
        let read = |at: &Option<FieldAt>| at.as_ref().map_or(0, |at| at.read32(phv, lane));
        MirrorMetadata {
            cos: read(&self.cos) as u8,
            multicast: read(&self.multicast) == 1,
            port: self.port.as_ref().and_then(|at| DevPort::new(at.read32(phv, lane) as u16)),
            qid: read(&self.qid) as u8,
            hash: read(&self.hash) as u16,
            deflect_on_drop: read(&self.deflect) == 1,
        }
    }
}

impl RequestAt {
    fn make<const N: usize>(
        &self,
        lane: usize,
        run: &Lanes<'_, N>,
        overrides: &OverrideAt,
        packets: &mut PacketStore,
        made: &mut Vec<Made>,
    ) {
        let header = self.data.bytes::<N>(lane, run.phv);
        let (pass, packet) = (run.first + lane as u32, run.batch[lane].packet);
        let kind = match self.kind {
            RequestKind::Resubmit => return put_in_front(packets, packet, &header),
            RequestKind::Digest => {
                MadeKind::Digest { kind: self.selector as u8, data: packets.insert(&header, 0) }
            }
            RequestKind::Pktgen => {
                let read = |at: &Option<FieldAt>| at.as_ref().map_or(0, |at| at.read32(run.phv, lane) as u16);
                let (at, length) = (read(&overrides.address), read(&overrides.length));
                MadeKind::Pktgen(PktgenRequest::new(&header, at, length))
            }
            RequestKind::Mirror(_) => {
                let copy = packets.duplicate(packet);
                put_in_front(packets, copy, &header);
                let session = self.session.read32(run.phv, lane) as u16;
                let packet = overrides.of(lane, run.phv);
                MadeKind::Mirror { session, header: self.data.len() as u16, packet, copy }
            }
        };
        made.push(Made { pass, kind });
    }
}
