//! Intrinsic metadata as structs of handles, as in TNA.
//!
//! The fields of the TNA structs in groups that are used together, as wide as on Tofino 2 (model: chip §10); those that
//! the device does not fill or obey say so. `dprsr.drop_ctl` has no handle: a drop sets it.

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
    /// `ig`: the version of the configuration. Reads zero: there are no versions.
    Versions {
        /// Version that the packet sees
        packet_version: Ro<2> = PacketVersion;
    }
    /// `prsr`: the version numbers of the parser. They read zero: there are no versions.
    ParserVersions {
        /// Version numbers
        global_ver: Ro<32> = GlobalVer;
    }
    /// `ig_tm`: the way past egress.
    Bypass {
        /// 1 sends the packet through its queue and past egress
        bypass_egress: Bits<1> = BypassEgress;
    }
    /// `ig_tm`: what happens to the packet where it would be dropped.
    Deflection {
        /// 1 sends it to the deflection port of the pipe
        deflect_on_drop: Bits<1> = DeflectOnDrop;
    }
    /// `ig_tm`: the packet's colour, for limits and curves of a shared buffer.
    Color {
        /// 0 green, 1 yellow, 3 red
        packet_color: Bits<2> = PacketColor;
    }
    /// `ig_tm`: cut-through. Nobody obeys it: packets are queued whole.
    CutThrough {
        /// 1 forbids unicast cut-through
        disable_ucast_cutthru: Bits<1> = DisableUcastCutthru;
        /// 1 allows multicast cut-through
        enable_mcast_cutthru: Bits<1> = EnableMcastCutthru;
    }
    /// `ig_tm`: the choice among multicast members.
    McastHash {
        /// Chooses one of the nodes that share a number
        level1_mcast_hash: Bits<13> = Level1McastHash;
        /// Chooses one port of a node that sends to one of them
        level2_mcast_hash: Bits<13> = Level2McastHash;
    }
    /// `dprsr`: what else a copy takes from the packet, where its mirror session lets packets override it. Tofino 2
    /// only.
    MirrorChoice {
        /// Hash of the copy, one of its two
        mirror_hash: Bits<13> = MirrorHash;
        /// Whether it is deflected where it would be dropped
        mirror_deflect_on_drop: Bits<1> = MirrorDeflectOnDrop;
    }
    /// `dprsr`: samples of coalescing sessions. Nobody obeys it: copies are not gathered. Tofino 2 only.
    MirrorCoalesce {
        /// Bytes of the sample
        mirror_coalesce_length: Bits<8> = MirrorCoalesceLength;
    }
    /// `dprsr`: flow control of a queue of any pipe, from either gress. Tofino 2 only.
    FlowControl {
        /// Bit 31: a word for a queue; 30-29 its pipe; 28-25 its MAC; 21-15 the MAC's queue; 14-0 credit, 1 pauses
        adv_flow_ctl: Bits<32> = AdvFlowCtl;
    }
    /// `dprsr`: truncation. Nobody obeys it: what the chip does with it is not public. Tofino 2 only.
    MtuTruncation {
        /// Length to cut to
        mtu_trunc_len: Bits<14> = MtuTruncLen;
        /// What becomes of packets that are too long
        mtu_trunc_err_f: Bits<1> = MtuTruncErrF;
    }
    /// `dprsr`: what ingress asks of the packet generator; see [`Deparser::pktgen`](super::Deparser::pktgen). Tofino 2
    /// only.
    ForPktgen {
        /// 1 asks for packets
        pktgen: Bits<1> = Pktgen;
        /// Where their bytes stand in the generator's buffer
        pktgen_address: Bits<14> = PktgenAddress;
        /// How many bytes they have
        pktgen_length: Bits<10> = PktgenLength;
    }
    /// `dprsr`: samples of coalescing sessions. Nobody obeys it: copies are not gathered.
    Coalesce {
        /// 1 sends the samples that were gathered
        coalesce_flush: Bits<1> = CoalesceFlush;
        /// Bytes of the sample
        coalesce_length: Bits<7> = CoalesceLength;
    }
    /// `eg`: congestion when the packet was in its queue. Reads zero but in deflected packets: the traffic manager has no
    /// congestion levels.
    Congestion {
        /// Of its queue at enqueue; of a deflected packet, where it would have been dropped
        enq_congest_stat: Ro<2> = EnqCongestStat;
        /// Of its queue at dequeue
        deq_congest_stat: Ro<2> = DeqCongestStat;
        /// Of the four application pools, two bits each
        app_pool_congest_stat: Ro<8> = AppPoolCongestStat;
    }
    /// `eg`: whether the packet was deflected.
    Deflected {
        /// 1 in a deflected packet; the low seven bits of its `enq_qdepth` are the local port that it was for
        deflection_flag: Ro<1> = DeflectionFlag;
    }
    /// `ghost`: an update of a queue's depth, all that the ghost control sees. Tofino 2 only.
    Ghost {
        /// Flips from one update of the pipe to the next
        ping_pong: Ro<1> = GhostPingPong;
        /// The queue's depth in cells
        qlength: Ro<18> = GhostQlength;
        /// The queue: its MAC in bits 10 to 7, its number among the MAC's queues in bits 6 to 0
        qid: Ro<11> = GhostQid;
        /// The queue's pipe
        pipe_id: Ro<2> = GhostPipeId;
    }
    /// `eg_oport`: times at the MAC. Nobody obeys it: MACs keep no times.
    OutputPort {
        /// 1 has the MAC keep the time at which the packet leaves
        capture_tstamp_on_tx: Bits<1> = CaptureTstampOnTx;
        /// 1 has the MAC write the time in the switch into the packet
        update_delay_on_tx: Bits<1> = UpdateDelayOnTx;
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
