//! Intrinsic metadata: fields that the hardware fills or reads.
//!
//! The table has a row per field, with the widths of both chips (model: chip §10). It has all fields that
//! programs of both chips can name, except the headers of PTP-capable MACs. [`Intrinsic::note`] says which
//! fields the device does not fill or obey, and why.

use sluice_asic::gress::Gress;

/// An intrinsic metadata field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Intrinsic {
    /// The port on which the packet arrived.
    IngressPort,
    /// Time at which its first bit reached the ingress MAC, ns.
    IngressMacTstamp,
    /// Time at which its PHV entered this gress, ns.
    GlobalTstamp,
    /// Parser error bits. A program that declares this field processes packets with parser errors; otherwise
    /// they are dropped.
    ParserErr,
    /// The port to send to; 0x1ff, the value at the start of the pass, sends nowhere.
    UcastEgressPort,
    /// The queue of that port.
    Qid,
    /// Set by a drop primitive.
    DropCtl,
    /// The port on which the packet is sent.
    EgressPort,
    /// Queue depth in cells that the packet found when it was enqueued.
    EnqQdepth,
    /// Time at which the packet was enqueued, ns.
    EnqTstamp,
    /// Queue depth in cells that the packet left when it was dequeued.
    DeqQdepth,
    /// Time that it spent in the queue, ns.
    DeqTimedelta,
    /// The queue of the packet.
    EgressQid,
    /// Bytes of the packet in the traffic manager, without FCS.
    PktLength,
    /// 1 in the ingress pass that follows a resubmit.
    ResubmitFlag,
    /// Selects the resubmit that the ingress deparser makes; 0, the value at the start of the pass, makes
    /// none.
    ResubmitType,
    /// Selects the mirror copy that the deparser makes; 0 makes none.
    MirrorType,
    /// 1 copies the packet as it leaves the gress, 0 as it came in. Tofino 2. A program that does not declare
    /// the field mirrors as Tofino does: at ingress the packet as it came in, at egress as it leaves.
    MirrorIoSelect,
    /// Selects the digest that the ingress deparser makes; 0 makes none.
    DigestType,
    /// First multicast group; 0 is none.
    McastGrpA,
    /// Second multicast group; 0 is none.
    McastGrpB,
    /// Multicast nodes with this level-1 exclusion id make no copy.
    Level1ExclusionId,
    /// Ports of this level-2 exclusion id send no copy, in nodes whose replication id is `rid`.
    Level2ExclusionId,
    /// Replication id that the level-2 exclusion compares.
    Rid,
    /// Replication id of the multicast node that made the copy; 0 for any other packet.
    EgressRid,
    /// 1 in the first copy that a multicast node made.
    EgressRidFirst,
    /// Ingress class of service.
    IngressCos,
    /// The class of service that the packet had at ingress.
    EgressCos,
    /// 1 sends a copy to the CPU port as well.
    CopyToCpu,
    /// Class of service of that copy.
    IcosForCopyToCpu,
    /// Port of the mirror copy, if the session lets packets override it. Tofino 2, like the next three
    /// fields.
    MirrorEgressPort,
    /// Queue of the copy, at its port.
    MirrorQid,
    /// Class of service of the copy.
    MirrorIngressCos,
    /// 1 sends the copy to the session's multicast groups.
    MirrorMulticastCtrl,
    /// Version of the configuration that the packet sees.
    PacketVersion,
    /// Version numbers of the parser.
    GlobalVer,
    /// 1 makes the packet bypass egress after its queue: it takes a slot and the time of a pass, but no
    /// parser, table or deparser of egress processes it.
    BypassEgress,
    /// 1 sends a packet that the traffic manager would drop to the deflection port of the pipe.
    DeflectOnDrop,
    /// Colour for the limits of queues: 0 green, 1 yellow, 3 red.
    PacketColor,
    /// 1 forbids unicast cut-through.
    DisableUcastCutthru,
    /// 1 allows multicast cut-through.
    EnableMcastCutthru,
    /// Selects one of the multicast nodes that share a number.
    Level1McastHash,
    /// Selects one port of a multicast node that sends to one of its ports.
    Level2McastHash,
    /// Hash of the mirror copy, if the session lets packets override one of its two. Tofino 2, like the next
    /// two fields.
    MirrorHash,
    /// 1 deflects the copy if it would be dropped, if the session lets packets override that.
    MirrorDeflectOnDrop,
    /// Length in bytes of the sample that a coalescing session takes.
    MirrorCoalesceLength,
    /// Flow-control word for a queue of any pipe, sent if bit 31 is 1. Every pass without a parser error
    /// sends it. Tofino 2.
    AdvFlowCtl,
    /// Length to which the deparser truncates the packet. Tofino 2, like the next field.
    MtuTruncLen,
    /// Treatment of packets that are too long.
    MtuTruncErrF,
    /// 1 triggers the packet generator of the pipe. Tofino 2, like the next two fields.
    Pktgen,
    /// Offset of the packets' bytes in the generator's buffer.
    PktgenAddress,
    /// Length of the packets in bytes.
    PktgenLength,
    /// 1 sends the samples collected so far.
    CoalesceFlush,
    /// Length of the sample in bytes.
    CoalesceLength,
    /// In a deflected packet, the place where it would have been dropped: 0 at the buffer, 2 at its queue. In
    /// other packets, the queue's congestion at enqueue: zero, as [`Intrinsic::note`] says.
    EnqCongestStat,
    /// The queue's congestion at dequeue.
    DeqCongestStat,
    /// Congestion of the four application pools, two bits each.
    AppPoolCongestStat,
    /// 1 in a deflected packet; the low 7 bits of its `enq_qdepth` are then the local port that it was sent
    /// to.
    DeflectionFlag,
    /// 1 makes the MAC record the time at which it sends the packet.
    CaptureTstampOnTx,
    /// 1 makes the MAC write the time spent in the switch into the packet.
    UpdateDelayOnTx,
    /// Ghost control only: alternates from one update of the pipe to the next. Tofino 2, like the next three
    /// fields.
    GhostPingPong,
    /// Ghost control only: the queue's depth in cells.
    GhostQlength,
    /// Ghost control only: the queue, with its MAC in the high four bits and its number among the MAC's
    /// queues below.
    GhostQid,
    /// Ghost control only: the queue's pipe.
    GhostPipeId,
}

/// Properties of an intrinsic field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntrinsicInfo {
    /// The field.
    pub field: Intrinsic,
    /// `struct.field`, with the short struct names that programs use (`ig`, `ig_prsr`, `ig_tm`, …).
    pub name: &'static str,
    /// True if ingress has it.
    pub ingress: bool,
    /// True if egress has it.
    pub egress: bool,
    /// Width in bits on Tofino.
    pub tofino: u16,
    /// Width in bits on Tofino 2, which is the width that programs declare.
    pub tofino2: u16,
    /// True if programs may write it.
    pub writable: bool,
}

const fn row(
    field: Intrinsic,
    name: &'static str,
    gresses: (bool, bool),
    widths: (u16, u16),
    writable: bool,
) -> IntrinsicInfo {
    IntrinsicInfo {
        field,
        name,
        ingress: gresses.0,
        egress: gresses.1,
        tofino: widths.0,
        tofino2: widths.1,
        writable,
    }
}

const IG: (bool, bool) = (true, false);
const EG: (bool, bool) = (false, true);
const BOTH: (bool, bool) = (true, true);

impl Intrinsic {
    /// Value of [`Intrinsic::UcastEgressPort`] at the start of a pass: no port.
    pub const NO_PORT: u16 = 0x1ff;

    /// Every intrinsic field, in the order of the enum.
    pub const TABLE: [IntrinsicInfo; 64] = [
        row(Intrinsic::IngressPort, "ig.ingress_port", IG, (9, 9), false),
        row(Intrinsic::IngressMacTstamp, "ig.ingress_mac_tstamp", IG, (48, 48), false),
        row(Intrinsic::GlobalTstamp, "prsr.global_tstamp", BOTH, (48, 48), false),
        row(Intrinsic::ParserErr, "prsr.parser_err", BOTH, (16, 16), false),
        row(Intrinsic::UcastEgressPort, "ig_tm.ucast_egress_port", IG, (9, 9), true),
        row(Intrinsic::Qid, "ig_tm.qid", IG, (5, 7), true),
        row(Intrinsic::DropCtl, "dprsr.drop_ctl", BOTH, (3, 3), false),
        row(Intrinsic::EgressPort, "eg.egress_port", EG, (9, 9), false),
        row(Intrinsic::EnqQdepth, "eg.enq_qdepth", EG, (19, 19), false),
        row(Intrinsic::EnqTstamp, "eg.enq_tstamp", EG, (18, 32), false),
        row(Intrinsic::DeqQdepth, "eg.deq_qdepth", EG, (19, 19), false),
        row(Intrinsic::DeqTimedelta, "eg.deq_timedelta", EG, (18, 32), false),
        row(Intrinsic::EgressQid, "eg.egress_qid", EG, (5, 7), false),
        row(Intrinsic::PktLength, "eg.pkt_length", EG, (16, 16), false),
        row(Intrinsic::ResubmitFlag, "ig.resubmit_flag", IG, (1, 1), false),
        row(Intrinsic::ResubmitType, "dprsr.resubmit_type", IG, (3, 3), true),
        row(Intrinsic::MirrorType, "dprsr.mirror_type", BOTH, (3, 4), true),
        row(Intrinsic::MirrorIoSelect, "dprsr.mirror_io_select", BOTH, (0, 1), true),
        row(Intrinsic::DigestType, "dprsr.digest_type", IG, (3, 3), true),
        row(Intrinsic::McastGrpA, "ig_tm.mcast_grp_a", IG, (16, 16), true),
        row(Intrinsic::McastGrpB, "ig_tm.mcast_grp_b", IG, (16, 16), true),
        row(Intrinsic::Level1ExclusionId, "ig_tm.level1_exclusion_id", IG, (16, 16), true),
        row(Intrinsic::Level2ExclusionId, "ig_tm.level2_exclusion_id", IG, (9, 9), true),
        row(Intrinsic::Rid, "ig_tm.rid", IG, (16, 16), true),
        row(Intrinsic::EgressRid, "eg.egress_rid", EG, (16, 16), false),
        row(Intrinsic::EgressRidFirst, "eg.egress_rid_first", EG, (1, 1), false),
        row(Intrinsic::IngressCos, "ig_tm.ingress_cos", IG, (3, 3), true),
        row(Intrinsic::EgressCos, "eg.egress_cos", EG, (3, 3), false),
        row(Intrinsic::CopyToCpu, "ig_tm.copy_to_cpu", IG, (1, 1), true),
        row(Intrinsic::IcosForCopyToCpu, "ig_tm.icos_for_copy_to_cpu", IG, (3, 3), true),
        row(Intrinsic::MirrorEgressPort, "dprsr.mirror_egress_port", BOTH, (0, 9), true),
        row(Intrinsic::MirrorQid, "dprsr.mirror_qid", BOTH, (0, 7), true),
        row(Intrinsic::MirrorIngressCos, "dprsr.mirror_ingress_cos", BOTH, (0, 3), true),
        row(Intrinsic::MirrorMulticastCtrl, "dprsr.mirror_multicast_ctrl", BOTH, (0, 1), true),
        row(Intrinsic::PacketVersion, "ig.packet_version", IG, (2, 2), false),
        row(Intrinsic::GlobalVer, "prsr.global_ver", BOTH, (32, 32), false),
        row(Intrinsic::BypassEgress, "ig_tm.bypass_egress", IG, (1, 1), true),
        row(Intrinsic::DeflectOnDrop, "ig_tm.deflect_on_drop", IG, (1, 1), true),
        row(Intrinsic::PacketColor, "ig_tm.packet_color", IG, (2, 2), true),
        row(Intrinsic::DisableUcastCutthru, "ig_tm.disable_ucast_cutthru", IG, (1, 1), true),
        row(Intrinsic::EnableMcastCutthru, "ig_tm.enable_mcast_cutthru", IG, (1, 1), true),
        row(Intrinsic::Level1McastHash, "ig_tm.level1_mcast_hash", IG, (13, 13), true),
        row(Intrinsic::Level2McastHash, "ig_tm.level2_mcast_hash", IG, (13, 13), true),
        row(Intrinsic::MirrorHash, "dprsr.mirror_hash", BOTH, (0, 13), true),
        row(Intrinsic::MirrorDeflectOnDrop, "dprsr.mirror_deflect_on_drop", BOTH, (0, 1), true),
        row(Intrinsic::MirrorCoalesceLength, "dprsr.mirror_coalesce_length", BOTH, (0, 8), true),
        row(Intrinsic::AdvFlowCtl, "dprsr.adv_flow_ctl", BOTH, (0, 32), true),
        row(Intrinsic::MtuTruncLen, "dprsr.mtu_trunc_len", BOTH, (0, 14), true),
        row(Intrinsic::MtuTruncErrF, "dprsr.mtu_trunc_err_f", BOTH, (0, 1), true),
        row(Intrinsic::Pktgen, "dprsr.pktgen", IG, (0, 1), true),
        row(Intrinsic::PktgenAddress, "dprsr.pktgen_address", IG, (0, 14), true),
        row(Intrinsic::PktgenLength, "dprsr.pktgen_length", IG, (0, 10), true),
        row(Intrinsic::CoalesceFlush, "dprsr.coalesce_flush", EG, (1, 1), true),
        row(Intrinsic::CoalesceLength, "dprsr.coalesce_length", EG, (7, 7), true),
        row(Intrinsic::EnqCongestStat, "eg.enq_congest_stat", EG, (2, 2), false),
        row(Intrinsic::DeqCongestStat, "eg.deq_congest_stat", EG, (2, 2), false),
        row(Intrinsic::AppPoolCongestStat, "eg.app_pool_congest_stat", EG, (8, 8), false),
        row(Intrinsic::DeflectionFlag, "eg.deflection_flag", EG, (1, 1), false),
        row(Intrinsic::CaptureTstampOnTx, "eg_oport.capture_tstamp_on_tx", EG, (1, 1), true),
        row(Intrinsic::UpdateDelayOnTx, "eg_oport.update_delay_on_tx", EG, (1, 1), true),
        row(Intrinsic::GhostPingPong, "ghost.ping_pong", IG, (0, 1), false),
        row(Intrinsic::GhostQlength, "ghost.qlength", IG, (0, 18), false),
        row(Intrinsic::GhostQid, "ghost.qid", IG, (0, 11), false),
        row(Intrinsic::GhostPipeId, "ghost.pipe_id", IG, (0, 2), false),
    ];

    /// Returns the row of this field.
    #[must_use]
    pub const fn info(self) -> IntrinsicInfo {
        Self::TABLE[self as usize]
    }

    /// Returns true if only the ghost control has the field.
    #[must_use]
    pub const fn is_ghost(self) -> bool {
        matches!(
            self,
            Intrinsic::GhostPingPong | Intrinsic::GhostQlength | Intrinsic::GhostQid | Intrinsic::GhostPipeId
        )
    }

    /// Returns what the model leaves out of the field, if anything: its value is always zero, or the device
    /// ignores it.
    #[must_use]
    pub const fn note(self) -> Option<&'static str> {
        match self {
            Intrinsic::PacketVersion | Intrinsic::GlobalVer => Some(
                "reads zero: tables change at once for all packets, so there are no versions to tell apart",
            ),
            Intrinsic::DisableUcastCutthru | Intrinsic::EnableMcastCutthru => {
                Some("is written in vain: packets are queued whole")
            }
            Intrinsic::MirrorCoalesceLength | Intrinsic::CoalesceFlush | Intrinsic::CoalesceLength => {
                Some("is written in vain: copies are not gathered into one packet")
            }
            Intrinsic::MtuTruncLen | Intrinsic::MtuTruncErrF => {
                Some("is written in vain: what the chip does with it is not public")
            }
            Intrinsic::EnqCongestStat => Some(
                "reads zero in packets that were not deflected: the traffic manager has no congestion levels",
            ),
            Intrinsic::DeqCongestStat | Intrinsic::AppPoolCongestStat => {
                Some("reads zero: the traffic manager has no congestion levels")
            }
            Intrinsic::CaptureTstampOnTx | Intrinsic::UpdateDelayOnTx => {
                Some("is written in vain: MACs keep no times")
            }
            _ => None,
        }
    }

    /// Returns the field of this name in this gress.
    #[must_use]
    pub fn named(gress: Gress, name: &str) -> Option<Intrinsic> {
        Self::TABLE.iter().find(|i| i.name == name && i.exists_in(gress)).map(|i| i.field)
    }
}

impl IntrinsicInfo {
    /// Returns true if the field is zero at the start of every pass.
    #[must_use]
    pub const fn starts_zero(&self) -> bool {
        self.writable && !matches!(self.field, Intrinsic::UcastEgressPort)
            || matches!(self.field, Intrinsic::DropCtl)
    }

    /// Returns true if this gress has the field.
    #[must_use]
    pub const fn exists_in(&self, gress: Gress) -> bool {
        match gress {
            Gress::Ingress => self.ingress,
            Gress::Egress => self.egress,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_that_of_the_architectures() {
        use sluice_asic::intrinsic::{Architecture, IntrinsicStruct as S};
        let structs = [
            (S::Ingress, "ig", IG),
            (S::FromParser, "prsr", BOTH),
            (S::ForTm, "ig_tm", IG),
            (S::IngressForDeparser, "dprsr", IG),
            (S::Egress, "eg", EG),
            (S::EgressForDeparser, "dprsr", EG),
            (S::ForOutputPort, "eg_oport", EG),
            (S::Ghost, "ghost", IG),
        ];
        let mut seen = 0;
        for (which, prefix, (ingress, _)) in structs {
            for field in which.fields().iter().filter(|f| !f.is_padding()) {
                let name = format!("{prefix}.{}", field.name());
                let gress = if ingress { Gress::Ingress } else { Gress::Egress };
                let info = Intrinsic::named(gress, &name).unwrap_or_else(|| panic!("{name}")).info();
                let widths = Architecture::ALL.map(|a| field.bits(a));
                assert_eq!([info.tofino, info.tofino2], widths, "{name}");
                seen += 1 + usize::from(which == S::FromParser);
            }
        }
        let gresses =
            Intrinsic::TABLE.iter().map(|r| usize::from(r.ingress) + usize::from(r.egress)).sum::<usize>();
        assert_eq!(seen, gresses, "every row is a field of the architectures");
    }

    #[test]
    fn rows_stand_at_their_own_index() {
        for (i, row) in Intrinsic::TABLE.iter().enumerate() {
            assert_eq!(row.field as usize, i);
            assert!(row.ingress || row.egress);
            assert!(row.tofino <= row.tofino2);
            assert_eq!(row.field.info(), *row);
        }
    }
}
