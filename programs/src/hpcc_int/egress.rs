//! Egress of `hpcc-int` in the layout of the paper: one record per hop, with the state of the port and its queue when
//! the packet was sent.

use super::Params;
use super::headers::{Headers, MAX_HOPS, Meta, headers};
use super::params::{Multi, QueueLength};
use sluice_build::*;

/// Bytes of a record.
const RECORD: u64 = 8;

/// Outcomes for INT headers: indices of the counter `events`.
mod event {
    /// A record was added.
    pub(super) const PUSHED: u64 = 1;
    /// The header had all records already.
    pub(super) const HOP_LIMIT: u64 = 2;
    /// The packet would have become too long for the port.
    pub(super) const MTU: u64 = 3;
    /// A reply, which carries a copy of the records back.
    pub(super) const REPLY: u64 = 4;
    /// nHop is above 5, or the packet ends within the header.
    pub(super) const MALFORMED: u64 = 5;
}

/// Declares all of egress.
#[stage_program]
pub(super) fn egress(eg: &GressBuilder<'_>, p: &Params) {
    let h = headers(eg, p);
    let Headers { ethernet, ipv4, udp, summed_udp, common, hops, pushed, m } = h;
    let out = eg.intrinsic::<tna::Egress>();
    let parser = eg.intrinsic::<tna::FromParser>();
    let errors = eg.intrinsic::<tna::ParserErrors>();
    /// INT headers by outcome: 1 record added, 2 hop limit, 3 MTU, 4 reply, 5 malformed
    let events = eg.counter(8, CounterKind::Packets);

    let set_port = eg.action(|a, code: Arg<32>, switch_id: Arg<12>, longest: Arg<16>| {
        m.code = code;
        m.switch_id = switch_id.cast::<16>();
        m.excess = ipv4.total_len.sat_sub(longest);
    });
    /// Egress port to its speed code (upper 4 bits of 32), this switch's number, and the longest IP packet
    /// in bytes that still gets a record
    let port = eg
        .table([exact(out.egress_port)])
        .actions([set_port])
        .default_with(set_port, [0xf000_0000, u64::from(p.switch_id), u64::from(p.mtu) - RECORD])
        .size(512)
        .build();

    /// Bytes sent by each port, modulo 2^32
    let tx_bytes = eg.register::<32>(512);
    /// Adds the packet's bytes; returns the sum before the packet, so two records differ by the bytes sent between them
    let add_bytes = eg.register_action(tx_bytes, |r| {
        r.out = r.value;
        r.value = r.value + m.length;
    });

    /// Reads packet length, queue depth and egress time from intrinsic metadata
    let observe = eg.action(|a| {
        m.length = out.pkt_length.cast::<32>();
        m.depth = out.deq_qdepth.cast::<32>();
        m.hi = parser.global_tstamp.slice::<31, 0, 32>();
    });
    /// Stores the complements of the old checksum and first word, and counts the hop
    let remember = eg.action(|a| {
        m.old_checksum = udp.checksum ^ 0xffff;
        m.old_word = common.word ^ 0xffff;
        m.word = common.word + 0x1000;
    });
    /// Shifts time and bytes to their positions in the record, and limits the depth to 16 bits
    let place = eg.action(|a| {
        m.hi = m.hi << 4;
        m.lo = m.sent << 9;
        m.top = m.sent >> 23;
        m.depth = m.depth.min(0xffff);
        m.word = m.word ^ m.switch_id;
    });
    /// Masks time, bytes and depth to their bits in the record
    let cut = eg.action(|a| {
        m.hi = m.hi & 0x0fff_fff0;
        m.lo = m.lo & 0xffff_0000;
        m.top = m.top & 0xf;
    });
    /// Combines speed code, time, bytes and depth
    let join = eg.action(|a| {
        m.hi = m.hi | m.code;
        m.lo = m.lo | m.depth;
    });
    let join_top = eg.action(|a| m.hi = m.hi | m.top);
    let push = eg.action(|a| {
        pushed.set_valid();
        pushed.hi = m.hi;
        pushed.lo = m.lo;
        common.word = m.word;
        ipv4.total_len += RECORD;
        m.event = event::PUSHED;
    });
    /// Increases the UDP length; a UDP checksum of 0 stays 0
    let lengthen = eg.action(|a| udp.length += RECORD);
    /// Increases the UDP length in the header whose checksum the deparser updates by the record
    let lengthen_summed = eg.action(|a| {
        udp.set_invalid();
        summed_udp.set_valid();
        summed_udp.src_port = udp.src_port;
        summed_udp.dst_port = udp.dst_port;
        summed_udp.length = udp.length + RECORD;
        m.growth = 2 * RECORD;
    });

    eg.control(|c| observe.call());
    correct_length(eg, m, out, p);
    eg.control(|c| {
        if common.is_valid() {
            remember.call();
            port.apply();
        }
        m.sent = add_bytes.execute(out.egress_port);
    });
    if p.qlen == QueueLength::Port {
        port_depth(eg, m, out);
    }
    scale(eg, m, p);
    eg.control(|c| {
        place.call();
        cut.call();
        join.call();
        join_top.call();
        if common.is_valid() {
            if errors.parser_err != 0 || m.malformed {
                m.event = event::MALFORMED;
            } else if m.reply {
                m.event = event::REPLY;
            } else if common.word.slice::<15, 12, 4>() == MAX_HOPS as u64 {
                m.event = event::HOP_LIMIT;
            } else if m.excess != 0 {
                m.event = event::MTU;
            } else {
                push.call();
                if udp.checksum == 0 {
                    lengthen.call();
                } else {
                    lengthen_summed.call();
                }
            }
            events.count(m.event);
        }
    });
    let growth = list![m.old_checksum, m.old_word, m.growth, common.word, pushed.hi, pushed.lo];
    eg.deparser()
        .checksum(ipv4, ipv4.checksum, ipv4.summed())
        .udp_checksum_over(summed_udp, summed_udp.checksum, growth.to_vec())
        .emit(ethernet)
        .emit(ipv4)
        .emit(udp)
        .emit(summed_udp)
        .emit(common)
        .emit(hops)
        .emit(pushed);
}

/// Metadata of egress for packets that count as longer or shorter than they are
#[derive(Header, Debug)]
struct Counted {
    /// Bytes that the packet adds to bytes sent
    length: Bits<16>,
}

/// Adds the overhead to the packet's length, if it is not 0.
#[stage_program]
pub(super) fn correct_length(eg: &GressBuilder<'_>, m: Meta, out: tna::Egress, p: &Params) {
    if p.overhead == 0 {
        return;
    }
    let counted = eg.metadata::<Counted>();
    // 16 bits wrap, so a negative number is its complement.
    let overhead = u64::from((p.overhead as i16).cast_unsigned());
    /// Adds the bytes that packets have beyond their length to the length
    let correct = eg.action(|a| counted.length = out.pkt_length + overhead);
    let widen = eg.action(|a| m.length = counted.length.cast::<32>());
    eg.control(|c| {
        correct.call();
        widen.call();
    });
}

/// Divides bytes sent and depth by the factor of their units, if it is not 1.
#[stage_program]
pub(super) fn scale(eg: &GressBuilder<'_>, m: Meta, p: &Params) {
    if p.multi == Multi::One {
        return;
    }
    let shift = p.multi.shift();
    /// Divides bytes sent and depth by the factor of their units
    let divide = eg.action(|a| {
        m.sent = m.sent >> shift;
        m.depth = m.depth >> shift;
    });
    eg.control(|c| divide.call());
}

/// Replaces the depth by that of all queues of the port, each as it was when the queue last sent.
#[stage_program]
pub(super) fn port_depth(eg: &GressBuilder<'_>, m: Meta, out: tna::Egress) {
    /// By port and queue: depth in cells when the queue last sent
    let queue_depth = eg.register::<32>(65_536);
    let renew = eg.register_action(queue_depth, |r| {
        r.out = r.value;
        r.value = m.depth;
    });
    /// By port: sum of `queue_depth` over the port's queues, in cells
    let port_sum = eg.register::<32>(512);
    let add_change = eg.register_action(port_sum, |r| {
        r.value = r.value + m.change;
        r.out = r.value;
    });
    /// Index of a queue: port and queue number, concatenated
    let queue = eg.hash::<16>(HashAlgorithm::Identity).inputs(list![out.egress_port, out.egress_qid]).build();
    let subtract = eg.action(|a| m.change = m.depth - m.earlier);
    eg.control(|c| {
        m.earlier = renew.execute(queue);
        subtract.call();
        m.depth = add_change.execute(out.egress_port);
    });
}
