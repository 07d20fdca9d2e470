//! Intrinsic metadata: the fields through which a program and the hardware talk.
//!
//! One row per field, with both chips' widths (facts: asic §10). Only fields that the device really fills
//! or obeys are listed. What may not live here: values.

use sluice_asic::gress::Gress;

/// An intrinsic metadata field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Intrinsic {
    /// The port that the packet came in by.
    IngressPort,
    /// When its first bit reached the ingress MAC, ns.
    IngressMacTstamp,
    /// When its PHV entered this gress, ns.
    GlobalTstamp,
    /// Parser error bits; a program that declares this field sees bad packets instead of losing them.
    ParserErr,
    /// The port to send to; 0x1ff, the value at the start of the pass, sends nowhere.
    UcastEgressPort,
    /// The queue of that port.
    Qid,
    /// Set by a drop primitive.
    DropCtl,
    /// The port that the packet leaves by.
    EgressPort,
    /// Queue depth in cells that the packet found when it was enqueued.
    EnqQdepth,
    /// When it was enqueued, ns.
    EnqTstamp,
    /// Queue depth in cells that it left behind when it was dequeued.
    DeqQdepth,
    /// Time that it spent in the queue, ns.
    DeqTimedelta,
    /// The queue that it came from.
    EgressQid,
    /// Bytes of the packet as the traffic manager held it, without FCS.
    PktLength,
    /// 1 in the ingress pass that follows a resubmit.
    ResubmitFlag,
    /// Which resubmit the ingress deparser makes; 0, the value at the start of the pass, makes none.
    ResubmitType,
    /// Which mirror copy the deparser makes; 0 makes none.
    MirrorType,
    /// Whether the copy is of the packet as it leaves (1) or as it came (0). Tofino 2; a program that does
    /// not declare it mirrors as Tofino does: at ingress what came in, at egress what leaves.
    MirrorIoSelect,
    /// Which digest the ingress deparser makes; 0 makes none.
    DigestType,
    /// First multicast group; 0 is none.
    McastGrpA,
    /// Second multicast group; 0 is none.
    McastGrpB,
    /// Copies are not made by multicast nodes with this level-1 exclusion id.
    Level1ExclusionId,
    /// Where the copy's replication id is `rid`, copies do not leave by the ports of this level-2 exclusion id.
    Level2ExclusionId,
    /// Replication id that the level-2 exclusion looks for.
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
    /// Port of the copy, where the mirror session lets packets override it. Tofino 2, as the next three.
    MirrorEgressPort,
    /// Its queue, with the port.
    MirrorQid,
    /// Its class of service.
    MirrorIngressCos,
    /// Whether it goes to the session's multicast groups.
    MirrorMulticastCtrl,
}

/// What is known of an intrinsic field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntrinsicInfo {
    /// The field.
    pub field: Intrinsic,
    /// `struct.field`, with the short struct names that programs use (`ig`, `ig_prsr`, `ig_tm`, …).
    pub name: &'static str,
    /// Whether ingress has it.
    pub ingress: bool,
    /// Whether egress has it.
    pub egress: bool,
    /// Bits on Tofino.
    pub tofino: u16,
    /// Bits on Tofino 2; what programs declare.
    pub tofino2: u16,
    /// Whether programs may write it.
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
    /// Value of [`Intrinsic::UcastEgressPort`] at the start of a pass: no such port.
    pub const NO_PORT: u16 = 0x1ff;

    /// Every intrinsic field, in the order of the enum.
    pub const TABLE: [IntrinsicInfo; 34] = [
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
    ];

    /// The row of this field.
    #[must_use]
    pub const fn info(self) -> IntrinsicInfo {
        Self::TABLE[self as usize]
    }

    /// The field of this name in this gress.
    #[must_use]
    pub fn named(gress: Gress, name: &str) -> Option<Intrinsic> {
        Self::TABLE.iter().find(|i| i.name == name && i.exists_in(gress)).map(|i| i.field)
    }
}

impl IntrinsicInfo {
    /// Whether the field is zero at the start of every pass.
    #[must_use]
    pub const fn starts_zero(&self) -> bool {
        self.writable && !matches!(self.field, Intrinsic::UcastEgressPort)
            || matches!(self.field, Intrinsic::DropCtl)
    }

    /// Whether this gress has the field.
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
    fn rows_stand_at_their_own_index() {
        for (i, row) in Intrinsic::TABLE.iter().enumerate() {
            assert_eq!(row.field as usize, i);
            assert!(row.ingress || row.egress);
            assert!(row.tofino <= row.tofino2);
            assert_eq!(row.field.info(), *row);
        }
    }
}
