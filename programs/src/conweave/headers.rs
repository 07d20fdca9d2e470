//! Headers and metadata of `conweave`, bit by bit (model: conweave §1.16), and the ingress parser.

use sluice_build::net::ether_type::IPV4;
use sluice_build::net::protocol::UDP;
use sluice_build::net::{Ethernet, Ipv4, Udp};
use sluice_build::*;

/// EtherType of timer packets, which never leave the switch
pub(super) const TIMER_TYPE: u64 = 0x2001;
/// UDP destination port of RoCEv2
pub(crate) const ROCE: u64 = 4791;

/// Values of [`Bth::cw_opcode`].
pub(crate) mod opcode {
    /// DATA, RTT_REQUEST, TAIL, REROUTED.
    pub(crate) const DATA: u64 = 1;
    /// RTT_REPLY (phase 0) and CLEAR (phase 1).
    pub(crate) const REPLY: u64 = 2;
    /// NOTIFY.
    pub(crate) const NOTIFY: u64 = 3;
}

/// Kind of a frame for egress: the first byte of everything that the traffic manager gets from ingress.
pub(super) mod kind {
    /// A packet on its way.
    pub(in super::super) const PLAIN: u64 = 0;
    /// The copy that becomes a CLEAR.
    pub(in super::super) const CLEAR: u64 = 1;
    /// The copy that becomes an RTT_REPLY.
    pub(in super::super) const REPLY: u64 = 2;
    /// The copy that becomes a NOTIFY.
    pub(in super::super) const NOTIFY: u64 = 3;
    /// The copy that becomes a timer packet; an order follows.
    pub(in super::super) const BIRTH: u64 = 4;
    /// A TAIL that lets a queue go on; an order follows.
    pub(in super::super) const TAIL: u64 = 5;
    /// The copy that becomes a timer packet in place of a lost one; an order follows.
    pub(in super::super) const REBIRTH: u64 = 6;
    /// The same for packets that wait since an epoch before.
    pub(in super::super) const REBIRTH_OLD: u64 = 7;
}

/// Base transport header, its reserved bits as ConWeave uses them: hosts send and receive zeros there
#[derive(Header, Debug)]
#[expect(dead_code, reason = "fields that only pass through have handles as well")]
pub(crate) struct Bth {
    /// RDMA operation
    pub(crate) opcode: Bits<8>,
    /// Solicited event, migration, padding, version; in an RTT_REPLY the RTT_REQUEST's ECN
    pub(crate) flags: Bits<8>,
    /// Partition key
    pub(crate) partition: Bits<16>,
    /// PathID
    pub(crate) path: Bits<8>,
    /// Destination queue pair
    pub(crate) queue_pair: Bits<24>,
    /// Acknowledgement request
    pub(crate) ack_request: Bits<1>,
    /// 0 none, 1 DATA, 2 REPLY, 3 NOTIFY
    pub(crate) cw_opcode: Bits<2>,
    /// 1 in REROUTED packets and in CLEAR
    pub(crate) phase: Bits<1>,
    /// Epoch modulo 4
    pub(crate) epoch: Bits<2>,
    /// Asks DstToR for an answer: RTT_REQUEST and TAIL
    pub(crate) ask_reply: Bits<1>,
    /// The last packet on the old path
    pub(crate) tail: Bits<1>,
    /// Packet sequence number
    pub(crate) psn: Bits<24>,
}

/// ConWeave's header between BTH and payload
#[derive(Header, Debug)]
pub(super) struct Cwh {
    /// When SrcToR sent the packet, ticks; in timer packets when DstToR began to wait
    pub(super) ts_tx: Bits<16>,
    /// When SrcToR sent the epoch's TAIL, 0 before
    pub(super) ts_tail: Bits<16>,
}

/// State of a timer packet
#[derive(Header, Debug)]
pub(super) struct Timer {
    /// Zero
    pub(super) pad: Bits<5>,
    /// T_resume is over and TAIL came: waiting for TAIL to leave
    pub(super) waiting: Bits<1>,
    /// The queue was resumed: waiting for it to drain
    pub(super) draining: Bits<1>,
    /// The queue is empty: the last lap
    pub(super) last: Bits<1>,
    /// Packets that left the queue, as egress counted them
    pub(super) dequeued: Bits<32>,
    /// The word that resumes the queue
    pub(super) word: Bits<32>,
    /// The flow's row
    pub(super) row: Bits<16>,
}

/// Bridged metadata: facts about a frame from ingress to egress
#[derive(Header, Debug)]
pub(super) struct Kind {
    /// See [`kind`]
    pub(super) kind: Bits<8>,
}

/// Bridged metadata of a flow that is being reordered
#[derive(Header, Debug)]
pub(super) struct Order {
    /// The word that resumes the flow's queue
    pub(super) word: Bits<32>,
    /// The flow's row
    pub(super) row: Bits<16>,
}

/// In front of the copy that becomes a timer packet
#[derive(Header, Debug)]
pub(super) struct Birth {
    /// [`kind::BIRTH`]
    pub(super) kind: Bits<8>,
    /// The word that resumes the flow's queue
    pub(super) word: Bits<32>,
    /// The flow's row
    pub(super) row: Bits<16>,
}

/// Learned by the control plane: a flow that the flow table does not know
#[derive(Header, Debug)]
pub(super) struct NewFlow {
    /// IPv4 source
    pub(super) src: Bits<32>,
    /// IPv4 destination
    pub(super) dst: Bits<32>,
    /// UDP source port
    pub(super) src_port: Bits<16>,
    /// 1 if the switch is the flow's DstToR
    pub(super) at_destination: Bits<8>,
}

/// Metadata of both roles
#[derive(Header, Debug)]
pub(super) struct Meta {
    /// Ticks of 1.024 us
    pub(super) now: Bits<32>,
    /// Its low half, as ConWeave's header has it
    pub(super) now_16: Bits<16>,
    /// 1 if the IPv4 header checksum is wrong
    pub(super) bad_checksum: Bits<1>,
    /// 1 if the packet arrived on the recirculation port
    pub(super) recirculated: Bits<1>,
    /// 1 if the UDP port and BTH opcode are those of RDMA data
    pub(super) rdma: Bits<1>,
    /// 1 if the destination is a host of this ToR
    pub(super) last_hop: Bits<1>,
    /// 1 if the flow is in the flow table
    pub(super) known: Bits<1>,
    /// IPv4 source of the flow's DATA; in a REPLY or NOTIFY from a path, this is the packet's destination address
    pub(super) src: Bits<32>,
    /// IPv4 destination of the flow's DATA; in a REPLY or NOTIFY from a path, this is the packet's source address
    pub(super) dst: Bits<32>,
    /// Group of paths to the other ToR
    pub(super) group: Bits<16>,
    /// Port of the host
    pub(super) port: Bits<9>,
    /// Row of the flow in all per-flow arrays, from 1
    pub(super) row: Bits<16>,
    /// UDP source port; 0 in other packets
    pub(super) src_port: Bits<16>,
    /// UDP destination port; 0 in other packets
    pub(super) dst_port: Bits<16>,
    /// 4 + the packet's epoch
    pub(super) epoch_tag: Bits<8>,
    /// Mirror session
    pub(super) session: Bits<10>,
}

/// Headers and metadata of ingress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Headers {
    pub(super) bridge: Hdr<Kind>,
    pub(super) order: Hdr<Order>,
    pub(super) copy: Hdr<Kind>,
    pub(super) birth: Hdr<Birth>,
    pub(super) new_flow: Hdr<NewFlow>,
    pub(super) ethernet: Hdr<Ethernet>,
    pub(super) ipv4: Hdr<Ipv4>,
    pub(super) udp: Hdr<Udp>,
    pub(super) bth: Hdr<Bth>,
    pub(super) cwh: Hdr<Cwh>,
    pub(super) timer: Hdr<Timer>,
    pub(super) m: Meta,
    pub(super) port: tna::Ingress,
    pub(super) resubmitted: tna::Resubmitted,
    pub(super) clock: tna::FromParser,
    pub(super) tm: tna::ForTm,
    pub(super) words: tna::FlowControl,
    pub(super) resubmit: tna::ForResubmit,
    pub(super) mirror: tna::ForMirror,
    pub(super) digest: tna::ForDigest,
}

/// Declares the headers and the ingress parser: Ethernet, IPv4 without options, UDP, and for RoCEv2 the base
/// transport header with what ConWeave put behind it.
#[stage_program]
pub(super) fn headers(ig: &GressBuilder<'_>) -> Headers {
    let (bridge, order) = (ig.header::<Kind>(), ig.header::<Order>());
    let (copy, birth) = (ig.header::<Kind>(), ig.header::<Birth>());
    let new_flow = ig.header::<NewFlow>();
    let (ethernet, ipv4, udp) = (ig.header::<Ethernet>(), ig.header::<Ipv4>(), ig.header::<Udp>());
    let (bth, cwh, timer) = (ig.header::<Bth>(), ig.header::<Cwh>(), ig.header::<Timer>());
    let m = ig.metadata::<Meta>();
    let port = ig.intrinsic::<tna::Ingress>();
    let resubmitted = ig.intrinsic::<tna::Resubmitted>();
    let (clock, tm) = (ig.intrinsic::<tna::FromParser>(), ig.intrinsic::<tna::ForTm>());
    let (words, resubmit) = (ig.intrinsic::<tna::FlowControl>(), ig.intrinsic::<tna::ForResubmit>());
    let (mirror, digest) = (ig.intrinsic::<tna::ForMirror>(), ig.intrinsic::<tna::ForDigest>());

    let parse_ethernet = ig.state().extract(ethernet).select(list![ethernet.ether_type, lookahead::<8>(0)]);
    let parse_ipv4 = ig.state().extract(ipv4).verify_checksum(m.bad_checksum, ipv4.whole()).select(list![
        ipv4.flags,
        ipv4.frag_offset,
        ipv4.protocol
    ]);
    let parse_udp = ig
        .state()
        .extract(udp)
        .set(m.src_port, udp.src_port)
        .set(m.dst_port, udp.dst_port)
        .select(udp.dst_port);
    let parse_bth = ig.state().extract(bth).select(bth.cw_opcode);
    let parse_cwh = ig.state().extract(cwh);
    // Timer packets have states of their own up to here: their EtherType is long past.
    let parse_timer_ipv4 = ig.state().extract(ipv4);
    let parse_timer_udp = ig.state().extract(udp).set(m.src_port, udp.src_port);
    let parse_timer_bth = ig.state().extract(bth);
    let parse_timer_cwh = ig.state().extract(cwh);
    let parse_timer = ig.state().extract(timer);

    // IPv4 with options is bridged: its checksum covers more than is parsed.
    const WITHOUT_OPTIONS: u64 = 0x45;
    parse_ethernet
        .on_tuple([(IPV4, 0xffff), (WITHOUT_OPTIONS, 0xff)], parse_ipv4)
        .on_tuple([(TIMER_TYPE, 0xffff), (WITHOUT_OPTIONS, 0xff)], parse_timer_ipv4);
    const MORE_FRAGMENTS: u64 = 1;
    parse_ipv4.on_tuple([(0, MORE_FRAGMENTS), (0, 0x1fff), (UDP, 0xff)], parse_udp);
    parse_udp.on(ROCE, parse_bth);
    parse_bth.on(0, Accept).otherwise(parse_cwh);
    parse_timer_ipv4.otherwise(parse_timer_udp);
    parse_timer_udp.otherwise(parse_timer_bth);
    parse_timer_bth.otherwise(parse_timer_cwh);
    parse_timer_cwh.otherwise(parse_timer);
    ig.start(parse_ethernet);
    Headers {
        bridge,
        order,
        copy,
        birth,
        new_flow,
        ethernet,
        ipv4,
        udp,
        bth,
        cwh,
        timer,
        m,
        port,
        resubmitted,
        clock,
        tm,
        words,
        resubmit,
        mirror,
        digest,
    }
}
