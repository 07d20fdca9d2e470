//! Congestion tables of a leaf: paths from other leaves, which is sent back to them as feedback; paths
//! to other leaves, which arrives as feedback; and the leaf's own uplinks.

use super::Params;
use super::headers::{Headers, TOLD};
use crate::leaf::Leaf;
use crate::leaf::generator::{MADE, generator};
use sluice_build::*;
use sluice_ir::{self as ir, MeterKind};

/// Congestion over one uplink, 8 (idle) to 15
#[derive(Header, Debug)]
pub(super) struct Uplink {
    /// Congestion of the path after the uplink, 8 to 15; later the larger of this and the uplink's own, or 31 if the
    /// uplink does not lead to the leaf; at the end, how far it is above the lowest of all uplinks
    pub(super) path: Bits<8>,
}

/// Per-packet metadata
#[derive(Header, Debug)]
pub(super) struct Meta {
    /// Time at which the packet entered ingress, in units of the parameter `tick`
    pub(super) now: Bits<32>,
    /// Uplink of the destination's leaf that the packet's feedback is about: its LBTag
    pub(super) turn: Bits<16>,
    /// Bytes that the packet takes on its uplink; 0 for generated packets
    bytes: Bits<32>,
}

/// Actions on the congestion of one uplink.
#[derive(Clone, Copy, Debug)]
struct Path {
    worse: RegisterActionRef,
    show: RegisterActionRef,
    read: RegisterActionRef,
    learn: RegisterActionRef,
    known: Uplink,
}

/// Registers, filters and tables of congestion, and the actions on them.
#[derive(Clone, Debug)]
pub(super) struct FeedbackTables {
    t: Meta,
    generator: TableRef,
    quantise: TableRef,
    dre: MeterRef,
    paths: Vec<Path>,
    hear: RegisterActionRef,
    tell: RegisterActionRef,
    next: RegisterActionRef,
    shared: Vec<ir::Register>,
}

impl FeedbackTables {
    /// Returns the registers that both packets from hosts and packets from uplinks access.
    pub(super) fn shared(&self) -> Vec<ir::Register> {
        self.shared.clone()
    }
}

/// Time and congestion that the choice of an uplink uses.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) t: Meta,
    pub(super) uplinks: Vec<Uplink>,
}

/// Declares registers, filters and tables of congestion.
#[stage_program]
pub(super) fn declare(ig: &GressBuilder<'_>, leaf: Leaf, h: Headers, p: &Params) -> FeedbackTables {
    let t = ig.metadata::<Meta>();
    let (found, overlay) = (h.found, h.overlay);
    let (oldest, uplinks, tags) = (p.oldest(), p.count(), p.tags());
    let generator = generator(ig, leaf);
    let set_level = ig.action(|a, told: Arg<32>| found.level = told);
    /// Load of an uplink in eighths of its rate to congestion: the eighths, at most 7, plus 8
    let quantise = ig
        .table([exact(found.level)])
        .actions([set_level])
        .default_with(set_level, [TOLD + 7])
        .entries(std::array::from_fn::<_, 7, _>(|n| {
            Row::new([Cell::Value(n as u128)], set_level, vec![n as u128 + u128::from(TOLD)])
        }))
        .build();
    let mut shared = Vec::new();
    let mut paths = Vec::new();
    for _ in 0..uplinks {
        let known = ig.metadata::<Uplink>();
        /// Congestion of an uplink, 8 to 15, as a generated packet last read it from the uplink's filter
        let local = ig.register::<32>(size(1).init(TOLD));
        /// Returns the larger of the uplink's congestion and the path's
        let worse = ig.register_action(local, |r| r.out = r.value.max(known.path.cast::<32>()));
        let show = ig.register_action(local, |r| r.value = found.level);
        /// By leaf: congestion on the path after this uplink, as that leaf's feedback said, and time of the feedback
        let to_leaf = ig.register_pair::<32>(p.leaves);
        let read = ig.register_action(to_leaf, |r| {
            if t.now - r.hi > oldest {
                r.lo = TOLD;
            }
            r.out = r.lo;
        });
        let learn = ig.register_action(to_leaf, |r| {
            r.lo = overlay.feedback.cast::<32>();
            r.hi = t.now;
        });
        shared.extend([local.handle(), to_leaf.handle()]);
        paths.push(Path { worse, show, read, learn, known });
    }
    /// By leaf and that leaf's uplink: congestion that its last packet carried, 8 to 15 (0 = too old), and its time
    let from_leaf = ig.register_pair::<32>(p.leaves * tags);
    let hear = ig.register_action(from_leaf, |r| {
        r.lo = overlay.ce.cast::<32>();
        r.hi = t.now;
    });
    let tell = ig.register_action(from_leaf, |r| {
        if t.now - r.hi > oldest {
            r.lo = 0;
        }
        r.out = r.lo;
    });
    shared.push(from_leaf.handle());
    /// By leaf: the uplink of that leaf that the next feedback is about; all LBTags in turn, from 0
    let turn = ig.register::<16>(p.leaves);
    let last = u64::from(p.turns()) - 1;
    let next = ig.register_action(turn, |r| {
        r.out = r.value;
        if r.value >= last {
            r.value = 0;
        } else {
            r.value += 1;
        }
    });
    let link = super::dre::estimator("400G".parse().unwrap_or_default(), p.tau);
    /// Load of each uplink in eighths of its rate: bytes sent, decayed with time constant tau
    let dre = ig.meter(MeterKind::Lpf, cells(tags).lpf(link.spec()));
    FeedbackTables { t, generator, quantise, dre, paths, hear, tell, next, shared }
}

/// Returns the condition that a packet's feedback is about this uplink.
fn told_about(tags: Bits<8>, wide: bool, number: u64) -> Cond {
    if wide { tags.slice::<3, 0, 4>().eq(number) } else { tags.slice::<1, 0, 2>().eq(number) }
}

/// Reads and writes the congestion tables: packets from leaves bring congestion and feedback, packets to leaves take
/// feedback along, generated packets age the tables and publish the congestion of the leaf's own uplinks.
#[stage_program]
pub(super) fn exchange(
    ig: &GressBuilder<'_>,
    leaf: Leaf,
    h: Headers,
    tables: &FeedbackTables,
    p: &Params,
) -> Known {
    let (m, t, overlay, bridge, found) = (leaf.m, tables.t, h.overlay, h.bridge, h.found);
    let ethernet = leaf.h.ethernet;
    let stamp = ig.intrinsic::<tna::FromParser>().global_tstamp;
    let bad_overlay =
        ig.drop_label("A packet from a leaf's address is not VXLAN, or its outer checksum is wrong");
    let stray = ig.drop_label("A VXLAN packet arrived whose inner destination is not a host of this leaf");
    let shown =
        ig.consume_label("A generated packet that aged feedback of leaves and read an uplink's estimator");
    let tick = p.gaps.tick;
    let read_clock = ig.action(|a| {
        bridge.set_valid();
        if tick == crate::flowlet::Tick::Ns1 {
            t.now = stamp.slice::<31, 0, 32>();
        } else if tick == crate::flowlet::Tick::Ns256 {
            t.now = stamp.slice::<39, 8, 32>();
        } else {
            t.now = stamp.slice::<41, 10, 32>();
        }
    });
    let (wide, outer) = (p.wide_tags(), h.outer);
    let (of_leaf, asked) = if wide {
        (
            list![constant::<5>(0), outer.src.slice::<7, 0, 8>(), overlay.tags.slice::<6, 4, 3>()],
            list![constant::<5>(0), m.group.slice::<7, 0, 8>(), t.turn.slice::<2, 0, 3>()],
        )
    } else {
        (
            list![constant::<6>(0), outer.src.slice::<7, 0, 8>(), overlay.tags.slice::<5, 4, 2>()],
            list![constant::<6>(0), m.group.slice::<7, 0, 8>(), t.turn.slice::<1, 0, 2>()],
        )
    };
    let of_leaf = ig.hash::<16>(HashAlgorithm::Identity).inputs(of_leaf).build();
    let asked = ig.hash::<16>(HashAlgorithm::Identity).inputs(asked).build();
    let (hear, tell, next) = (tables.hear, tables.tell, tables.next);
    let paths = &tables.paths;
    ig.control(|c| {
        read_clock.call();
        if h.outer.is_valid() {
            if !overlay.is_valid() || h.bad_outer {
                // Keeps the shared leaf from dropping the packet under another label.
                m.routed = 1;
                drop(bad_overlay);
            } else {
                hear.execute(of_leaf);
                if overlay.feedback != 0 {
                    for (number, path) in (0u64..).zip(paths) {
                        if told_about(overlay.tags, wide, number) {
                            path.learn.execute(h.outer.src.slice::<15, 0, 16>());
                        }
                    }
                }
                if m.group != 0 {
                    drop(stray);
                }
            }
        } else if m.group != 0 {
            t.turn = next.execute(m.group);
            bridge.feedback = tell.execute(asked);
            for path in paths {
                path.known.path = path.read.execute(m.group);
                path.known.path = path.worse.execute(0);
            }
        } else if ethernet.ether_type == MADE {
            if tables.generator.apply().hit() {
                if found.is_valid() {
                    tables.quantise.apply();
                    for (number, path) in (0u64..).zip(paths) {
                        if ethernet.dst.slice::<15, 0, 16>() == number {
                            path.show.execute(0);
                        }
                    }
                    drop(shown);
                } else {
                    tell.execute(ethernet.dst.slice::<15, 0, 16>());
                    for path in paths {
                        if wide {
                            path.read.execute(ethernet.dst.slice::<15, 3, 13>());
                        } else {
                            path.read.execute(ethernet.dst.slice::<15, 2, 14>());
                        }
                    }
                }
            }
        }
    });
    Known { t, uplinks: paths.iter().map(|path| path.known).collect() }
}

/// After the choice: charges the packet to its uplink's filter. Generated packets read the filter and are resubmitted.
#[stage_program]
pub(super) fn charge(ig: &GressBuilder<'_>, leaf: Leaf, h: Headers, tables: &FeedbackTables, p: &Params) {
    let (m, t, found, ethernet) = (leaf.m, tables.t, h.found, leaf.h.ethernet);
    let (ipv4, ipv6, many) = (leaf.h.ipv4, leaf.h.ipv6, p.many());
    let resubmit = ig.intrinsic::<tna::ForResubmit>();
    // Only the hash unit moves a 16-bit container into a 32-bit one.
    let ipv4_length =
        ig.hash::<32>(HashAlgorithm::Identity).inputs(list![constant::<16>(0), ipv4.total_len]).build();
    let ipv6_length =
        ig.hash::<32>(HashAlgorithm::Identity).inputs(list![constant::<16>(0), ipv6.payload_len]).build();
    let ipv4_bytes = ig.action(|a| t.bytes = ipv4_length.get());
    let ipv6_bytes = ig.action(|a| t.bytes = ipv6_length.get());
    /// Adds Ethernet twice, outer IPv4, UDP and VXLAN, FCS, preamble and inter-frame gap
    let ipv4_around = ig.action(|a| t.bytes += 2 * 14 + 20 + 8 + 8 + 24);
    /// Adds the same bytes as `ipv4_around`, and the IPv6 header
    let ipv6_around = ig.action(|a| t.bytes += 2 * 14 + 20 + 8 + 8 + 24 + 40);
    let dre = tables.dre;
    let again = ig.action(|a| resubmit.resubmit_type = 1);
    ig.control(|c| {
        if m.group != 0 {
            if ipv4.is_valid() {
                ipv4_bytes.call();
                ipv4_around.call();
            } else if ipv6.is_valid() {
                ipv6_bytes.call();
                ipv6_around.call();
            }
            if many {
                found.level = dre.execute(m.member.slice::<2, 0, 3>()).with(t.bytes);
            } else {
                found.level = dre.execute(m.member).with(t.bytes);
            }
        } else if m.made && !found.is_valid() && ethernet.is_valid() {
            if p.wide_tags() {
                found.level = dre.execute(ethernet.dst.slice::<2, 0, 3>()).with(t.bytes);
            } else {
                found.level = dre.execute(ethernet.dst.slice::<1, 0, 2>()).with(t.bytes);
            }
            again.call();
        }
    });
}
