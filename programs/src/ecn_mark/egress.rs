//! Egress of `ecn-mark`: the marking probability and the mark.
//!
//! An action cannot multiply a probability by a depth. But the line from (Kmin, 0) to (Kmax, Pmax) is
//! the probability of two independent events: a coin falls, with probability Pmax, *and* a threshold
//! drawn uniformly between Kmin and Kmax is below the depth. Both need only draws and comparisons.
//!
//! The threshold needs a draw below `Kmax - Kmin`, which is not a power of two. The random number is
//! masked to the next power of two above. If it is still too large, the packet takes the mirror image of
//! the previous packet's threshold. The image is as likely as the threshold, so the probability is exact.
//! Because a low threshold follows a high one, counts of marks vary no more than with independent draws.

use crate::forwarding::plain::Ipv6Front;
use sluice_build::net::ether_type::{IPV4, IPV6, VLAN};
use sluice_build::net::{Ethernet, Vlan};
use sluice_build::*;

/// Rows of thresholds.
pub(super) const ROWS: u32 = 16;
/// A threshold that no queue reaches.
const NEVER: u64 = 1 << 20;
/// Bits of a queue depth.
const DEPTH_BITS: u16 = 19;

const ECT_1: u64 = 1;
const ECT_0: u64 = 2;
const CE: u64 = 3;

/// The IPv4 header up to its checksum
#[derive(Header, Debug)]
#[expect(dead_code, reason = "fields that no statement names")]
struct Ipv4Front {
    /// IP version: 4
    version: Bits<4>,
    /// Header length in 32-bit words
    ihl: Bits<4>,
    /// Differentiated services code point
    dscp: Bits<6>,
    /// Explicit congestion notification
    ecn: Bits<2>,
    /// Bytes of header and payload
    total_len: Bits<16>,
    /// Identifies fragments
    identification: Bits<16>,
    /// Flags and fragment offset
    fragment: Bits<16>,
    /// Time to live
    ttl: Bits<8>,
    /// Protocol of the next header
    protocol: Bits<8>,
    /// Ones' complement checksum of the header
    checksum: Bits<16>,
}

/// Per-packet metadata
#[derive(Header, Debug)]
struct Meta {
    /// Row of thresholds of the queue, 0 to 15
    row: Bits<8>,
    /// Depth of the packet's queue in cells when the packet was dequeued
    depth: Bits<32>,
    /// Kmin of the row in cells (`kmax`: Kmax)
    kmin: Bits<32>,
    kmax: Bits<32>,
    /// Kmax - Kmin in cells (`last`: one less)
    width: Bits<32>,
    last: Bits<32>,
    /// Cells by which the depth is above Kmin; 0 = not above (`beyond`: above Kmax)
    above: Bits<32>,
    beyond: Bits<32>,
    /// Random number that is compared with Pmax (`draw`: random number for the threshold)
    coin: Bits<32>,
    draw: Bits<32>,
    /// 0 if the draw is not below the width, and so cannot be the threshold
    fits: Bits<32>,
    /// Threshold in cells above Kmin
    threshold: Bits<32>,
    /// Cells by which the depth is above the threshold; 0 = not above
    over: Bits<32>,
    /// 1 with probability Pmax: the coin is below it
    fell: Bits<1>,
    /// 1 if the packet must be marked
    mark: Bits<1>,
}

/// Declares all of egress.
#[stage_program]
pub(super) fn egress(eg: &GressBuilder<'_>) {
    let (ethernet, vlan) = (eg.header::<Ethernet>(), eg.header::<Vlan>());
    let (ipv4, ipv6) = (eg.header::<Ipv4Front>(), eg.header::<Ipv6Front>());
    let m = eg.metadata::<Meta>();
    let queue = eg.intrinsic::<tna::Egress>();
    let start = eg.state().extract(ethernet).select(ethernet.ether_type);
    let parse_vlan = eg.state().extract(vlan).select(vlan.ether_type);
    let parse_ipv4 = eg.state().extract(ipv4);
    let parse_ipv6 = eg.state().extract(ipv6);
    start.on(VLAN, parse_vlan);
    for state in [start, parse_vlan] {
        state.on(IPV4, parse_ipv4).on(IPV6, parse_ipv6);
    }
    eg.start(start);

    let set_row = eg.action(|a, row: Arg<8>| m.row = row);
    /// Egress port and queue to a row of thresholds; a queue without an entry is not marked
    let profile =
        eg.table([exact(queue.egress_port), exact(queue.egress_qid)]).actions([set_row]).size(4096).build();

    /// By row: Kmin, the depth in cells up to which no packet is marked
    let kmin = eg.register::<32>(size(ROWS).init(NEVER));
    let get_kmin = eg.register_action(kmin, |r| r.out = r.value);
    /// By row: Kmax, the depth in cells above which every packet is marked
    let kmax = eg.register::<32>(size(ROWS).init(NEVER));
    let get_kmax = eg.register_action(kmax, |r| r.out = r.value);
    /// By row: Pmax, the marking probability at Kmax, in parts of 2^32; 0xffffffff stands for certainty
    let pmax = eg.register::<32>(ROWS);
    let toss = eg.register_action(pmax, |r| {
        if m.coin < r.value {
            r.out = 1;
        }
    });
    /// By row: the last threshold, in cells above Kmin
    let threshold = eg.register::<32>(ROWS);
    let fresh = eg.register_action(threshold, |r| {
        r.value = m.draw;
        r.out = r.value;
    });
    let mirrored = eg.register_action(threshold, |r| {
        r.value = m.last - r.value;
        r.out = r.value;
    });
    let coins = eg.random::<32>();
    let draws = eg.random::<32>();

    let cut = eg.action(|a, mask: Arg<32>| m.draw = m.draw & mask);
    /// Width to a mask for the draw: all bits up to the width's highest one
    let spread = eg.table([ternary(m.width)]).actions([cut]).default_with(cut, [0]);
    let spread = spread.entries(powers(cut)).build();
    let marks = marks(eg, ipv4, ipv6, queue);

    eg.control(|c| {
        m.depth = queue.deq_qdepth.cast::<32>();
        m.coin = coins.get();
        m.draw = draws.get();
        if profile.apply().hit() {
            m.kmin = get_kmin.execute(m.row);
            m.kmax = get_kmax.execute(m.row);
            m.fell = toss.execute(m.row);
            m.width = m.kmax.sat_sub(m.kmin);
            m.above = m.depth.sat_sub(m.kmin);
            m.beyond = m.depth.sat_sub(m.kmax);
            spread.apply();
            m.last = m.width - 1;
            m.fits = m.width.sat_sub(m.draw);
            if m.fits == 0 {
                m.threshold = mirrored.execute(m.row);
            } else {
                m.threshold = fresh.execute(m.row);
            }
            m.over = m.above.sat_sub(m.threshold);
            if m.beyond != 0 {
                m.mark = 1;
            } else if m.over != 0 && m.fell == 1 {
                m.mark = 1;
            }
            if m.mark == 1 {
                if ipv4.is_valid() {
                    marks.ipv4.apply();
                } else if ipv6.is_valid() {
                    marks.ipv6.apply();
                }
            }
        }
    });
    eg.deparser().emit(ethernet).emit(vlan).emit(ipv4).emit(ipv6);
}

/// Returns one row per power of two: the highest bit of a width to a mask of all bits up to it.
fn powers(cut: ActionRef) -> [Row<1>; DEPTH_BITS as usize] {
    std::array::from_fn(|bit| {
        let (value, below) = (1u128 << bit, (1u128 << bit) - 1);
        Row::new([Cell::Masked(value, 0xffff_ffff ^ below)], cut, vec![value | below])
    })
}

/// Tables that write the mark.
#[derive(Clone, Copy, Debug)]
struct Marks {
    ipv4: TableRef,
    ipv6: TableRef,
}

/// Declares the tables that mark. The checksum is updated as in RFC 1624: the mark adds 1 to the word of an ECT(0)
/// packet and 2 to that of an ECT(1) packet, so the checksum decreases by as much, and 1 more if it passes zero.
#[stage_program]
fn marks(eg: &GressBuilder<'_>, ipv4: Hdr<Ipv4Front>, ipv6: Hdr<Ipv6Front>, queue: tna::Egress) -> Marks {
    /// Packets and bytes marked, by dev_port
    let marked = eg.counter(512, CounterKind::PacketsAndBytes);
    let [less_1, less_2, less_3] = [1, 2, 3].map(|less: u64| {
        eg.named(&format!("mark_less_{less}"), "Marks an IPv4 packet and lowers its checksum").action(|a| {
            a.set(ipv4.ecn, CE);
            a.set(ipv4.checksum, ipv4.checksum - less);
            a.run(marked.count(queue.egress_port));
        })
    });
    let as_it_is = eg.action(|_a| {});
    /// Marks an IPv4 packet if it is ECT(0) or ECT(1)
    let mark_ipv4 = eg
        .table([ternary(ipv4.ecn), ternary(ipv4.checksum)])
        .actions([less_1, less_2, less_3, as_it_is])
        .default(as_it_is)
        .entries(entries![
            (ECT_0, 0) => less_2,
            (ECT_0, _) => less_1,
            (ECT_1, 0 &&& 0xfffe) => less_3,
            (ECT_1, _) => less_2,
        ])
        .build();
    let mark = eg.named("mark_flow", "Marks an IPv6 packet").action(|a| {
        a.set(ipv6.ecn, CE);
        a.run(marked.count(queue.egress_port));
    });
    /// Marks an IPv6 packet if it is ECT(0) or ECT(1)
    let mark_ipv6 = eg
        .table([exact(ipv6.ecn)])
        .actions([mark, as_it_is])
        .default(as_it_is)
        .entries(entries![(ECT_0) => mark, (ECT_1) => mark])
        .build();
    Marks { ipv4: mark_ipv4, ipv6: mark_ipv6 }
}
