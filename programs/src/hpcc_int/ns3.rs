//! Egress of `hpcc-int` in the layout of the authors' simulator (model: int §1.9): every packet has five slots of eight
//! bytes and a count of hops after them, and a switch overwrites slot (count modulo 5).

use super::Params;
use super::egress::{correct_length, port_depth, scale};
use super::headers::{MAX_HOPS, Meta, parse_to_udp};
use super::params::QueueLength;
use sluice_build::net::{Ethernet, Ipv4, Udp};
use sluice_build::*;

/// Largest number of hops: more than the TTL of an IP packet allows.
const MOST_HOPS: u128 = 255;

/// Outcomes for packets with slots: indices of the counter `events`.
mod event {
    /// The record was written to a free slot.
    pub(super) const PUSHED: u128 = 1;
    /// The packet ends within the slots, or nHop is impossible.
    pub(super) const MALFORMED: u64 = 5;
    /// The record overwrote one of an earlier hop.
    pub(super) const OVERWRITTEN: u128 = 6;
}

/// Header of the simulator's packets in front of the slots
#[derive(Header, Debug)]
#[allow(dead_code, reason = "it passes as it is")]
struct Sequence {
    /// Sequence number
    seq: Bits<32>,
    /// Priority group
    pg: Bits<16>,
}

/// Record of a hop: port speed code (3 bits), time (24), bytes sent (20), queue length (17), from the lowest bit on,
/// lowest byte first
#[derive(Header, Debug)]
struct Slot {
    /// First four bytes of the record
    lo: Bits<32>,
    /// Last four bytes of the record
    hi: Bits<32>,
}

/// Count of hops, after the slots
#[derive(Header, Debug)]
struct Count {
    /// nHop: number of hops so far, lowest byte first
    hops: Bits<16>,
}

/// Metadata of egress for the simulator's layout
#[derive(Header, Debug)]
struct Turn {
    /// 1 for a packet that should have slots: UDP to the INT port
    claimed: Bits<1>,
    /// First word of the new record, in the byte order of the packet
    lo: Bits<32>,
    /// Second word of the new record, in the byte order of the packet
    hi: Bits<32>,
    /// Ones' complement of the first word of the overwritten record
    old_lo: Bits<32>,
    /// Ones' complement of the second word of the overwritten record
    old_hi: Bits<32>,
}

/// Declares the action that writes the record to a slot; its argument `event` is the outcome to count.
#[stage_program]
#[allow(clippy::let_and_return, reason = "a `let` gives a declaration its name")]
fn write<'b>(eg: &GressBuilder<'b>, slot: Hdr<Slot>, count: Hdr<Count>, turn: Turn, m: Meta) -> ActionRef {
    let write_slot = eg.action(|a, event: Arg<8>| {
        turn.old_lo = slot.lo ^ 0xffff_ffff;
        turn.old_hi = slot.hi ^ 0xffff_ffff;
        slot.lo = turn.lo;
        slot.hi = turn.hi;
        m.old_word = count.hops ^ 0xffff;
        count.hops += 0x100;
        m.event = event;
    });
    write_slot
}

/// Declares all of egress.
#[stage_program]
pub(super) fn egress(eg: &GressBuilder<'_>, p: &Params) {
    let (ethernet, ipv4, udp) = (eg.header::<Ethernet>(), eg.header::<Ipv4>(), eg.header::<Udp>());
    /// Replaces `udp` if the UDP checksum must be updated
    let summed_udp = eg.header::<Udp>();
    let sequence = eg.header::<Sequence>();
    let slots = eg.stack::<Slot, MAX_HOPS>();
    let count = eg.header::<Count>();
    let m = eg.metadata::<Meta>();
    let turn = eg.metadata::<Turn>();

    let parse_udp = parse_to_udp(eg, ethernet, ipv4, udp);
    let parse_sequence = eg.state().set(turn.claimed, 1).extract(sequence);
    let mut before = parse_sequence;
    for slot in slots.iter() {
        let parse_slot = eg.state().extract(slot);
        before.otherwise(parse_slot);
        before = parse_slot;
    }
    let parse_count = eg.state().extract(count);
    before.otherwise(parse_count);
    parse_udp.on(u64::from(p.udp_port), parse_sequence);

    let out = eg.intrinsic::<tna::Egress>();
    let parser = eg.intrinsic::<tna::FromParser>();
    let errors = eg.intrinsic::<tna::ParserErrors>();
    /// Packets with slots by outcome: 1 record written, 5 malformed, 6 record of an earlier hop overwritten
    let events = eg.counter(8, CounterKind::Packets);
    let set_port = eg.action(|a, code: Arg<32>| m.code = code);
    /// Egress port to its speed code
    let port =
        eg.table([exact(out.egress_port)]).actions([set_port]).default_with(set_port, [0]).size(512).build();
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
    /// Stores the complement of the old checksum, and limits the depth to the 17 bits of qLen
    let remember = eg.action(|a| {
        m.old_checksum = udp.checksum ^ 0xffff;
        m.depth = m.depth.min(0x1_ffff);
    });
    /// First word of the record; the hash unit moves every bit to its place, as the record's byte order is reversed
    let lower = eg
        .hash::<32>(HashAlgorithm::Identity)
        .inputs(list![
            m.hi.slice::<4, 0, 5>(),
            m.code.slice::<2, 0, 3>(),
            m.hi.slice::<12, 5, 8>(),
            m.hi.slice::<20, 13, 8>(),
            m.sent.slice::<11, 7, 5>(),
            m.hi.slice::<23, 21, 3>()
        ])
        .build();
    let upper = eg
        .hash::<32>(HashAlgorithm::Identity)
        .inputs(list![
            m.sent.slice::<19, 12, 8>(),
            m.depth.slice::<0, 0, 1>(),
            m.sent.slice::<26, 20, 7>(),
            m.depth.slice::<8, 1, 8>(),
            m.depth.slice::<16, 9, 8>()
        ])
        .build();
    let assemble = eg.action(|a| {
        turn.lo = lower.get();
        turn.hi = upper.get();
    });
    let writers: Vec<ActionRef> = slots.iter().map(|slot| write(eg, slot, count, turn, m)).collect();
    let malformed = eg.action(|a| m.event = event::MALFORMED);
    let rows: [Row<1>; MOST_HOPS as usize] = std::array::from_fn(|hops| {
        let event = if hops < MAX_HOPS { event::PUSHED } else { event::OVERWRITTEN };
        let writer = writers.get(hops % MAX_HOPS).copied().unwrap_or(malformed);
        Row::new([Cell::Value((hops as u128) << 8)], writer, vec![event])
    });
    let [first, second, third, fourth, fifth] = [0, 1, 2, 3, 4].map(|n: usize| writers[n]);
    /// Count of hops so far to the slot: count modulo 5
    let slot = eg
        .table([exact(count.hops)])
        .actions([first, second, third, fourth, fifth, malformed])
        .default(malformed)
        .entries(rows)
        .build();
    /// Switches to the UDP header whose checksum the deparser updates; a checksum of 0 stays 0
    let resum = eg.action(|a| {
        udp.set_invalid();
        summed_udp.set_valid();
        summed_udp.src_port = udp.src_port;
        summed_udp.dst_port = udp.dst_port;
        summed_udp.length = udp.length;
    });

    eg.control(|c| observe.call());
    correct_length(eg, m, out, p);
    eg.control(|c| {
        if turn.claimed {
            port.apply();
        }
        m.sent = add_bytes.execute(out.egress_port);
    });
    if p.qlen == QueueLength::Port {
        port_depth(eg, m, out);
    }
    scale(eg, m, p);
    eg.control(|c| {
        if turn.claimed {
            remember.call();
            assemble.call();
            if errors.parser_err != 0 {
                malformed.call();
            } else {
                slot.apply();
                if m.event != event::MALFORMED {
                    if udp.checksum != 0 {
                        resum.call();
                    }
                }
            }
            events.count(m.event);
        }
    });
    let change = list![m.old_checksum, m.old_word, turn.old_lo, turn.old_hi, count.hops, turn.lo, turn.hi];
    eg.deparser()
        .checksum(ipv4, ipv4.checksum, ipv4.summed())
        .udp_checksum_over(summed_udp, summed_udp.checksum, change.to_vec())
        .emit(ethernet)
        .emit(ipv4)
        .emit(udp)
        .emit(summed_udp)
        .emit(sequence)
        .emit(slots)
        .emit(count);
}
