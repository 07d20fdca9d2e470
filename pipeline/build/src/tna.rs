//! Intrinsic metadata as structs of handles, as in TNA.
//!
//! Each struct groups fields of TNA's intrinsic metadata that are used together, as wide as on Tofino 2
//! (model: chip §10). A doc comment says if the device does not fill or obey a field. `dprsr.drop_ctl` has no
//! handle, because a drop sets it.

use super::fields::{IntrinsicDeclarer, IntrinsicFields, IntrinsicHandle};
use super::value::{Bits, Ro};
use sluice_ir::Intrinsic;

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
    /// `ig`: the packet at the ingress MAC.
    Ingress {
        /// The port that the packet arrived on
        ingress_port: Ro<9> = IngressPort;
        /// Time at which its first bit reached the ingress MAC, ns
        ingress_mac_tstamp: Ro<48> = IngressMacTstamp;
    }
    /// `prsr`: the parser's timestamp, in either gress.
    FromParser {
        /// Time at which the packet's PHV entered this gress, ns
        global_tstamp: Ro<48> = GlobalTstamp;
    }
    /// `prsr`: the parser's errors, in either gress. A gress that declares this struct also processes packets
    /// with parser errors. Otherwise the parser drops them.
    ParserErrors {
        /// Parser error bits, 0 for a good packet
        parser_err: Ro<16> = ParserErr;
    }
    /// `ig_tm`: port and queue, from ingress to the traffic manager.
    ForTm {
        /// The port to send to; 0x1ff, the value at the start of the pass, sends nowhere
        ucast_egress_port: Bits<9> = UcastEgressPort;
        /// The queue of that port
        qid: Bits<7> = Qid;
    }
    /// `ig`: the mark of a resubmitted packet.
    Resubmitted {
        /// 1 in the ingress pass that follows a resubmit
        resubmit_flag: Ro<1> = ResubmitFlag;
    }
    /// `dprsr`: the resubmit request of ingress; see [`Deparser::resubmit`](super::Deparser::resubmit).
    ForResubmit {
        /// Selects the resubmit to make; 0, the value at the start of the pass, makes none
        resubmit_type: Bits<3> = ResubmitType;
    }
    /// `dprsr`: the mirror request of either gress; see [`Deparser::mirror`](super::Deparser::mirror).
    ForMirror {
        /// Selects the mirror copy to make; 0, the value at the start of the pass, makes none
        mirror_type: Bits<4> = MirrorType;
    }
    /// `dprsr`: the version of the packet that is mirrored. Tofino 2 only.
    MirrorIo {
        /// 1 copies the packet as it leaves the gress, 0 as it came in
        mirror_io_select: Bits<1> = MirrorIoSelect;
    }
    /// `dprsr`: the digest request of ingress; see [`Deparser::digest`](super::Deparser::digest).
    ForDigest {
        /// Selects the digest to make; 0, the value at the start of the pass, makes none
        digest_type: Bits<3> = DigestType;
    }
    /// `ig_tm`: the multicast groups of a packet.
    Multicast {
        /// First group; 0, the value at the start of the pass, is none
        mcast_grp_a: Bits<16> = McastGrpA;
        /// Second group; 0 is none
        mcast_grp_b: Bits<16> = McastGrpB;
    }
    /// `ig_tm`: exclusion of members of the packet's multicast groups.
    Exclusion {
        /// Nodes with this level-1 exclusion id make no copy
        level1_exclusion_id: Bits<16> = Level1ExclusionId;
        /// Ports of this level-2 exclusion id send no copy, in nodes whose replication id is `rid`
        level2_exclusion_id: Bits<9> = Level2ExclusionId;
        /// Replication id that the level-2 exclusion compares
        rid: Bits<16> = Rid;
    }
    /// `eg`: identification of a multicast copy.
    Replica {
        /// Replication id of the node that made the copy; 0 for any other packet
        egress_rid: Ro<16> = EgressRid;
        /// 1 in the first copy that a node made
        egress_rid_first: Ro<1> = EgressRidFirst;
    }
    /// `dprsr`: fields of a mirror copy that the packet may override, if its mirror session allows it. Tofino
    /// 2 only.
    MirrorOverride {
        /// Port of the copy
        mirror_egress_port: Bits<9> = MirrorEgressPort;
        /// Queue of the copy, at its port
        mirror_qid: Bits<7> = MirrorQid;
        /// Class of service of the copy
        mirror_ingress_cos: Bits<3> = MirrorIngressCos;
        /// 1 sends the copy to the session's multicast groups
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
        /// Traffic class, which the chip maps to a priority group of the ingress port
        ingress_cos: Bits<3> = IngressCos;
    }
    /// `eg`: the class of service.
    EgressClass {
        /// The class of service that the packet had at ingress
        egress_cos: Ro<3> = EgressCos;
    }
    /// `eg`: port, queue and queueing delay, from the traffic manager to egress.
    Egress {
        /// The port that the packet is sent on
        egress_port: Ro<9> = EgressPort;
        /// Queue depth in cells that the packet found when it was enqueued
        enq_qdepth: Ro<19> = EnqQdepth;
        /// Time at which the packet was enqueued, ns
        enq_tstamp: Ro<32> = EnqTstamp;
        /// Queue depth in cells that the packet left when it was dequeued
        deq_qdepth: Ro<19> = DeqQdepth;
        /// Time that it spent in the queue, ns
        deq_timedelta: Ro<32> = DeqTimedelta;
        /// The queue of the packet
        egress_qid: Ro<7> = EgressQid;
        /// Bytes of the packet in the traffic manager, without FCS
        pkt_length: Ro<16> = PktLength;
    }
    /// `ig`: the version of the configuration. Always zero, because the configuration has no versions.
    Versions {
        /// Version that the packet sees
        packet_version: Ro<2> = PacketVersion;
    }
    /// `prsr`: the version numbers of the parser. Always zero, because the configuration has no versions.
    ParserVersions {
        /// Version numbers
        global_ver: Ro<32> = GlobalVer;
    }
    /// `ig_tm`: egress bypass.
    Bypass {
        /// 1 sends the packet through its queue and past egress
        bypass_egress: Bits<1> = BypassEgress;
    }
    /// `ig_tm`: deflection of packets that would be dropped.
    Deflection {
        /// 1 sends a packet that would be dropped to the deflection port of the pipe
        deflect_on_drop: Bits<1> = DeflectOnDrop;
    }
    /// `ig_tm`: the packet's colour, for limits and curves of a shared buffer.
    Color {
        /// 0 green, 1 yellow, 3 red
        packet_color: Bits<2> = PacketColor;
    }
    /// `ig_tm`: cut-through. The device ignores these fields: it queues whole packets.
    CutThrough {
        /// 1 forbids unicast cut-through
        disable_ucast_cutthru: Bits<1> = DisableUcastCutthru;
        /// 1 allows multicast cut-through
        enable_mcast_cutthru: Bits<1> = EnableMcastCutthru;
    }
    /// `ig_tm`: hashes that select multicast members.
    McastHash {
        /// Selects one of the nodes that share a number
        level1_mcast_hash: Bits<13> = Level1McastHash;
        /// Selects one port of a node that sends to one of its ports
        level2_mcast_hash: Bits<13> = Level2McastHash;
    }
    /// `dprsr`: more fields of a mirror copy that the packet may override, if its mirror session allows it.
    /// Tofino 2 only.
    MirrorChoice {
        /// One of the copy's two hashes
        mirror_hash: Bits<13> = MirrorHash;
        /// 1 deflects the copy if it would be dropped
        mirror_deflect_on_drop: Bits<1> = MirrorDeflectOnDrop;
    }
    /// `dprsr`: samples of coalescing sessions. The device ignores it, because it does not coalesce copies.
    /// Tofino 2 only.
    MirrorCoalesce {
        /// Length of the sample in bytes
        mirror_coalesce_length: Bits<8> = MirrorCoalesceLength;
    }
    /// `dprsr`: a flow-control word to a queue of any pipe, from either gress. Tofino 2 only.
    FlowControl {
        /// Bit 31: a word for a queue; 30-29 its pipe; 28-25 its MAC; 21-15 the MAC's queue; 14-0 credit, 1 pauses
        adv_flow_ctl: Bits<32> = AdvFlowCtl;
    }
    /// `dprsr`: truncation. The device ignores it, because the chip's behaviour is not public. Tofino 2 only.
    MtuTruncation {
        /// Length to truncate to, in bytes
        mtu_trunc_len: Bits<14> = MtuTruncLen;
        /// Treatment of packets that are too long
        mtu_trunc_err_f: Bits<1> = MtuTruncErrF;
    }
    /// `dprsr`: the request of ingress to the packet generator; see
    /// [`Deparser::pktgen`](super::Deparser::pktgen). Tofino 2 only.
    ForPktgen {
        /// 1 requests packets
        pktgen: Bits<1> = Pktgen;
        /// Offset of the packets' bytes in the generator's buffer
        pktgen_address: Bits<14> = PktgenAddress;
        /// Length of the packets in bytes
        pktgen_length: Bits<10> = PktgenLength;
    }
    /// `dprsr`: samples of coalescing sessions. The device ignores it, because it does not coalesce copies.
    Coalesce {
        /// 1 sends the samples collected so far
        coalesce_flush: Bits<1> = CoalesceFlush;
        /// Length of the sample in bytes
        coalesce_length: Bits<7> = CoalesceLength;
    }
    /// `eg`: congestion levels of the packet's queue. Zero except in deflected packets, because the traffic
    /// manager has no congestion levels.
    Congestion {
        /// Level of the queue at enqueue; in a deflected packet, level where it would have been dropped
        enq_congest_stat: Ro<2> = EnqCongestStat;
        /// Level of the queue at dequeue
        deq_congest_stat: Ro<2> = DeqCongestStat;
        /// Levels of the four application pools, two bits each
        app_pool_congest_stat: Ro<8> = AppPoolCongestStat;
    }
    /// `eg`: the mark of a deflected packet.
    Deflected {
        /// 1 in a deflected packet; the low 7 bits of its `enq_qdepth` are then the local port that it was sent to
        deflection_flag: Ro<1> = DeflectionFlag;
    }
    /// `ghost`: an update of a queue's depth, the only input of the ghost control. Tofino 2 only.
    Ghost {
        /// Alternates from one update of the pipe to the next
        ping_pong: Ro<1> = GhostPingPong;
        /// The queue's depth in cells
        qlength: Ro<18> = GhostQlength;
        /// The queue: its MAC in bits 10 to 7, its number among the MAC's queues in bits 6 to 0
        qid: Ro<11> = GhostQid;
        /// The queue's pipe
        pipe_id: Ro<2> = GhostPipeId;
    }
    /// `dprsr.drop_ctl` as the field that it is. [`drop`](super::drop) writes it without a handle.
    DropCtl {
        /// Bit 0: no copy for port and groups, no resubmit; bit 1: none to the CPU; bit 2: no mirror copies in egress
        drop_ctl: Ro<3> = DropCtl;
    }
    /// `eg_oport`: timestamps at the MAC. The device ignores it, because its MACs keep no timestamps.
    OutputPort {
        /// 1 makes the MAC record the time at which it sends the packet
        capture_tstamp_on_tx: Bits<1> = CaptureTstampOnTx;
        /// 1 makes the MAC write the time spent in the switch into the packet
        update_delay_on_tx: Bits<1> = UpdateDelayOnTx;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_intrinsic_has_a_handle_of_its_name() {
        let named = NAMES.iter().map(|&(field, which)| {
            assert_eq!(which.info().name.split('.').nth(1), Some(field));
            which
        });
        let mut named: Vec<Intrinsic> = named.collect();
        named.sort_unstable();
        assert_eq!(named, Intrinsic::TABLE.map(|row| row.field));
    }
}
