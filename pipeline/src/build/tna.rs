//! Intrinsic metadata as structs of handles, as in TNA.
//!
//! What lives here: one struct per TNA struct, with the fields that the device really fills or obeys, as
//! wide as on Tofino 2 (facts: asic §10). What may not: any other metadata. `dprsr.drop_ctl` has no handle:
//! a drop sets it.

use super::fields::{IntrinsicDeclarer, IntrinsicFields, IntrinsicHandle};
use super::value::{Bits, Ro};
use crate::ir::Intrinsic;

macro_rules! intrinsic {
    ($(
        $(#[$struct_doc:meta])*
        $name:ident { $(#[doc = $doc:literal] $field:ident: $handle:ty = $which:ident;)* }
    )*) => { $(
        $(#[$struct_doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name {
            $(#[doc = $doc] pub $field: $handle,)*
        }

        $(const _: () = {
            let info = Intrinsic::$which.info();
            assert!(info.tofino2 == <$handle as IntrinsicHandle>::WIDTH);
            assert!(info.writable == <$handle as IntrinsicHandle>::WRITABLE);
        };)*

        impl IntrinsicFields for $name {
            fn declare(declarer: &mut IntrinsicDeclarer<'_>) -> Self {
                $name { $($field: declarer.field(Intrinsic::$which, $doc.trim_ascii())),* }
            }
        }
    )*

        #[cfg(test)]
        const NAMES: &[(&str, Intrinsic)] = &[$($((stringify!($field), Intrinsic::$which)),*),*];
    };
}

intrinsic! {
    /// `ig`: what the ingress MAC knows of the packet.
    Ingress {
        /// The port that the packet came in by
        ingress_port: Ro<9> = IngressPort;
        /// When its first bit reached the ingress MAC, ns
        ingress_mac_tstamp: Ro<48> = IngressMacTstamp;
    }
    /// `prsr`: what the parser knows, in either gress.
    FromParser {
        /// When the packet's PHV entered this gress, ns
        global_tstamp: Ro<48> = GlobalTstamp;
    }
    /// `prsr`: the parser's errors, in either gress. A program that asks for them sees packets with parser
    /// errors; any other never does, the parser drops them.
    ParserErrors {
        /// Parser error bits, 0 for a good packet
        parser_err: Ro<16> = ParserErr;
    }
    /// `ig_tm`: what ingress tells the traffic manager.
    ForTm {
        /// The port to send to; 0x1ff, the value at the start of the pass, sends nowhere
        ucast_egress_port: Bits<9> = UcastEgressPort;
        /// The queue of that port
        qid: Bits<7> = Qid;
    }
    /// `ig`: whether the packet was resubmitted.
    Resubmitted {
        /// 1 in the ingress pass that follows a resubmit
        resubmit_flag: Ro<1> = ResubmitFlag;
    }
    /// `dprsr`: what ingress tells its deparser about resubmits; see [`Deparser::resubmit`](super::Deparser::resubmit).
    ForResubmit {
        /// Which resubmit to make; 0, the value at the start of the pass, makes none
        resubmit_type: Bits<3> = ResubmitType;
    }
    /// `dprsr`: what either gress tells its deparser about copies; see [`Deparser::mirror`](super::Deparser::mirror).
    ForMirror {
        /// Which mirror copy to make; 0, the value at the start of the pass, makes none
        mirror_type: Bits<4> = MirrorType;
    }
    /// `dprsr`: what a copy is of. Tofino 2 only.
    MirrorIo {
        /// 1 copies the packet as it leaves the gress, 0 as it came in
        mirror_io_select: Bits<1> = MirrorIoSelect;
    }
    /// `dprsr`: what ingress tells its deparser about digests; see [`Deparser::digest`](super::Deparser::digest).
    ForDigest {
        /// Which digest to make; 0, the value at the start of the pass, makes none
        digest_type: Bits<3> = DigestType;
    }
    /// `ig_tm`: the multicast groups of a packet.
    Multicast {
        /// First group; 0, the value at the start of the pass, is none
        mcast_grp_a: Bits<16> = McastGrpA;
        /// Second group; 0 is none
        mcast_grp_b: Bits<16> = McastGrpB;
    }
    /// `ig_tm`: which members of its groups a packet does not go to.
    Exclusion {
        /// Nodes with this level-1 exclusion id make no copy
        level1_exclusion_id: Bits<16> = Level1ExclusionId;
        /// By the ports of this level-2 exclusion id no copy leaves, in nodes whose rid is `rid`
        level2_exclusion_id: Bits<9> = Level2ExclusionId;
        /// Replication id that the level-2 exclusion looks for
        rid: Bits<16> = Rid;
    }
    /// `eg`: which copy of a multicast packet this is.
    Replica {
        /// Replication id of the node that made the copy; 0 for any other packet
        egress_rid: Ro<16> = EgressRid;
        /// 1 in the first copy that a node made
        egress_rid_first: Ro<1> = EgressRidFirst;
    }
    /// `dprsr`: what a copy takes from the packet, where its mirror session lets packets override it. Tofino 2
    /// only.
    MirrorOverride {
        /// Port of the copy
        mirror_egress_port: Bits<9> = MirrorEgressPort;
        /// Its queue, with the port
        mirror_qid: Bits<7> = MirrorQid;
        /// Its class of service
        mirror_ingress_cos: Bits<3> = MirrorIngressCos;
        /// Whether it goes to the session's multicast groups
        mirror_multicast_ctrl: Bits<1> = MirrorMulticastCtrl;
    }
    /// `ig_tm`: copies to the CPU.
    CopyToCpu {
        /// 1 sends a copy to the CPU port as well
        copy_to_cpu: Bits<1> = CopyToCpu;
        /// Class of service of that copy
        icos_for_copy_to_cpu: Bits<3> = IcosForCopyToCpu;
    }
    /// `ig_tm`: the class of service.
    Cos {
        /// Ingress class of service
        ingress_cos: Bits<3> = IngressCos;
    }
    /// `eg`: the class of service.
    EgressClass {
        /// The class of service that the packet had at ingress
        egress_cos: Ro<3> = EgressCos;
    }
    /// `eg`: what the traffic manager tells egress.
    Egress {
        /// The port that the packet leaves by
        egress_port: Ro<9> = EgressPort;
        /// Queue depth in cells that the packet found when it was enqueued
        enq_qdepth: Ro<19> = EnqQdepth;
        /// When it was enqueued, ns
        enq_tstamp: Ro<32> = EnqTstamp;
        /// Queue depth in cells that it left behind when it was dequeued
        deq_qdepth: Ro<19> = DeqQdepth;
        /// Time that it spent in the queue, ns
        deq_timedelta: Ro<32> = DeqTimedelta;
        /// The queue that it came from
        egress_qid: Ro<7> = EgressQid;
        /// Bytes of the packet as the traffic manager held it, without FCS
        pkt_length: Ro<16> = PktLength;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_intrinsic_but_drop_ctl_has_a_handle_of_its_name() {
        let named = NAMES.iter().map(|&(field, which)| {
            assert_eq!(which.info().name.split('.').nth(1), Some(field));
            which
        });
        let mut named: Vec<Intrinsic> = named.collect();
        named.push(Intrinsic::DropCtl);
        named.sort_unstable();
        assert_eq!(named, Intrinsic::TABLE.map(|row| row.field));
    }
}
