//! Values that a node reports of a packet at egress, from intrinsic metadata and registers.

use super::block::Block;
use super::metadata::Meta;
use super::params::Params;
use super::parser::Headers;
use sluice_build::*;

/// The hardware's fields at egress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hardware {
    pub(super) out: tna::Egress,
    pub(super) parser: tna::FromParser,
}

/// Drop reason of reports: the queue was full.
const QUEUE_FULL: u64 = 16;

/// Longest IP packet in bytes on a port without an entry.
const MTU: u64 = 9_000;

/// Adds the node ID.
#[stage_program]
pub(super) fn identify(eg: &GressBuilder<'_>, p: &Params, m: Meta) {
    let is_node = eg.action(|a, id: Arg<32>| m.node = id);
    /// Node ID; the control plane sets it
    let node = eg.table([]).actions([is_node]).default_with(is_node, [u64::from(p.node_id)]).build();
    eg.control(|c| {
        node.apply();
    });
}

/// Reads and computes the values of a bridged packet, into metadata and the block's headers.
#[stage_program]
pub(super) fn observe(eg: &GressBuilder<'_>, p: &Params, h: Headers, k: Block, hw: Hardware) {
    let Headers { bridge, copy, ipv6, tcp, udp, m, .. } = h;
    let Hardware { out, parser } = hw;
    let set_port = eg.action(|a, mtu: Arg<16>, interface: Arg<32>| {
        m.mtu = mtu;
        k.l2.egress = interface;
    });
    /// Egress port to its MTU (longest IP packet in bytes) and level-2 interface; without an entry 9000 and none
    let egress_port = eg
        .table([exact(out.egress_port)])
        .actions([set_port])
        .default_with(set_port, [MTU, 0xffff_ffff])
        .size(512)
        .build();
    let set_interface = eg.action(|a, interface: Arg<32>| k.l2.ingress = interface);
    /// Ingress port to its level-2 interface; without an entry 0xffffffff
    let ingress_port = eg
        .table([exact(bridge.ingress_port)])
        .actions([set_interface])
        .default_with(set_interface, [0xffff_ffff])
        .size(512)
        .build();
    let place_queue = eg.action(|a, queue: Arg<32>, reason: Arg<16>| {
        m.queue = queue;
        copy.reason = reason;
    });
    let rows: [Row<1>; 128] = std::array::from_fn(|q| {
        let q = q as u128;
        Row::new([Cell::Value(q)], place_queue, vec![q << 24, q << 8 | u128::from(QUEUE_FULL)])
    });
    /// Egress queue q to two words of a report: q << 24, and q << 8 | 16 (16 = drop reason "queue full")
    let queue = eg.table([exact(out.egress_qid)]).actions([place_queue]).entries(rows).build();

    /// The packet's length in 32 bits, through the hash unit, because no ALU widens a container
    let length =
        eg.hash::<32>(HashAlgorithm::Identity).inputs(list![constant::<16>(0u64), out.pkt_length]).build();
    /// Number of the present window of 65536 ns: egress time / 65536
    let window = eg
        .hash::<32>(HashAlgorithm::Identity)
        .inputs(list![parser.global_tstamp.slice::<47, 16, 32>()])
        .build();
    let read = eg.action(|a| {
        m.depth = out.deq_qdepth.cast::<32>();
        m.length = length.get();
        m.now = parser.global_tstamp.slice::<31, 0, 32>();
        k.ingress_time.time_hi = bridge.ingress_time_hi;
        k.ingress_time.time = bridge.ingress_time;
        k.egress_time.time_hi = parser.global_tstamp.slice::<47, 32, 16>();
        k.egress_time.time = parser.global_tstamp.slice::<31, 0, 32>();
        m.window = window.get();
        k.interfaces.ingress = bridge.ingress_port;
        k.interfaces.egress = out.egress_port.cast::<16>();
    });
    let compute = eg.action(|a| {
        m.latency = m.now - bridge.ingress_time;
        m.queue = m.queue | m.depth;
        // The bridged header is not on the wire.
        m.length -= u64::from(super::headers::BRIDGE_LEN);
    });
    /// Subtracts the IPv6 header from the MTU, because the IPv6 payload length excludes it
    let ipv6_mtu = eg.action(|a| m.mtu -= 40);
    let show = eg.action(|a| {
        k.latency.value = m.latency;
        k.queue.value = m.queue;
        k.node.value = m.node;
    });
    let tcp_sum = eg.action(|a| m.sum = tcp.checksum);
    let udp_sum = eg.action(|a| m.sum = udp.checksum);

    /// By port: lo = number of the present window of 65536 ns, hi = bytes sent in it
    let windows = eg.register_pair::<32>(512);
    /// Adds the packet's bytes; returns the bytes of the previous window if a new one begins, else 0
    let count_bytes = eg.register_action(windows, |r| {
        if r.lo == m.window {
            r.hi = r.hi + m.length;
        } else {
            r.out = r.hi;
            r.hi = m.length;
        }
        r.lo = m.window;
    });
    /// By port: bytes sent in the last window that ended (65536 ns each)
    let utilisation = eg.register::<32>(512);
    let renew = eg.register_action(utilisation, |r| {
        if m.ended != 0 {
            r.value = m.ended;
        }
        r.out = r.value;
    });

    eg.control(|c| {
        if bridge.is_valid() {
            read.call();
            egress_port.apply();
            ingress_port.apply();
            queue.apply();
            if ipv6.is_valid() {
                ipv6_mtu.call();
            }
            if tcp.is_valid() {
                tcp_sum.call();
            } else if udp.is_valid() {
                udp_sum.call();
            }
            compute.call();
            m.ended = count_bytes.execute(out.egress_port);
            k.util.value = renew.execute(out.egress_port);
            show.call();
        }
    });
    if p.domain != 0 {
        /// Bytes sent by each port, modulo 2^32
        let tx_bytes = eg.register::<32>(512);
        /// Adds the packet's bytes; returns the sum before the packet
        let add_bytes = eg.register_action(tx_bytes, |r| {
            r.out = r.value;
            r.value = r.value + m.length;
        });
        eg.control(|c| {
            if bridge.is_valid() {
                k.ds.value = add_bytes.execute(out.egress_port);
            }
        });
    }
}
