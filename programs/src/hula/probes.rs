//! Probes: headers, tables of best hops, two passes of a probe, and what packets of hosts read.

use super::Params;
use crate::conga::estimator;
use crate::flowlet::Tick;
use crate::leaf::Leaf;
use crate::leaf::generator::{MADE, generator};
use sluice_asic::units::BitRate;
use sluice_build::*;
use sluice_ir::{self as ir, LpfSpec, MeterKind};

/// EtherType of probes: the second experimental one (IEEE 802, local).
pub(super) const PROBE: u64 = 0x88b6;
/// A best hop that nobody has told: no group has such a member.
const NOBODY: u64 = 0xffff;
/// A link's use is counted in parts of 128: bits finer than the eighths of `conga`.
pub(super) const FINER: u8 = 4;

/// A probe, behind Ethernet
#[derive(Header, Debug)]
pub(super) struct Probe {
    /// The ToR that sent it
    tor: Bits<16>,
    /// Zero
    reserved: Bits<16>,
    /// The most used link of the way to it, in parts of 128 of its rate
    util: Bits<32>,
}

/// What a probe brings to its second pass
#[derive(Header, Debug)]
pub(super) struct Found {
    /// Use of the link that it came by, the other way
    level: Bits<32>,
    /// Zero when it came from the best hop
    other: Bits<32>,
}

/// Per-packet metadata
#[derive(Header, Debug)]
pub(super) struct Meta {
    /// When the packet entered ingress, in ticks
    now: Bits<32>,
    /// Member that the port of a probe is
    hop: Bits<32>,
    /// Multicast group that a probe goes on to; 0 ends it
    onward: Bits<16>,
    /// 1 for a probe of a neighbour
    seen: Bits<1>,
    /// 1 when a probe is news
    news: Bits<1>,
    /// Member of the best hop
    best: Bits<32>,
    /// 1 when nobody has told of the ToR for too long
    silent: Bits<1>,
    /// Bytes that the packet takes of its link
    bytes: Bits<32>,
}

/// The headers besides those of every leaf.
#[derive(Clone, Copy, Debug)]
pub(super) struct Headers {
    pub(super) probe: Hdr<Probe>,
    pub(super) found: Hdr<Found>,
}

/// Tables and actions on arrays.
#[derive(Clone, Debug)]
pub(super) struct ProbeTables {
    t: Meta,
    generator: TableRef,
    own_tor: TableRef,
    probe_from: TableRef,
    dre: MeterRef,
    read_hop: RegisterActionRef,
    set_hop: RegisterActionRef,
    look: RegisterActionRef,
    renew: RegisterActionRef,
    challenge: RegisterActionRef,
    shared: [ir::Register; 2],
}

impl ProbeTables {
    /// Registers that packets of hosts and probes share.
    pub(super) fn shared(&self) -> [ir::Register; 2] {
        self.shared
    }
}

/// The filter of a link of this rate.
pub(super) fn filter(rate: BitRate, p: &Params) -> LpfSpec {
    let spec = estimator(rate, p.tau).spec();
    LpfSpec { shift: spec.shift.saturating_sub(FINER), ..spec }
}

/// The parser: a second pass has `found` in front, a probe stands behind Ethernet.
#[stage_program]
pub(super) fn headers<'b>(ig: &GressBuilder<'b>, first: StateRef<'b>) -> Headers {
    let (probe, found) = (ig.header::<Probe>(), ig.header::<Found>());
    let flag = ig.intrinsic::<tna::Resubmitted>();
    let enter = ig.state().select(flag.resubmit_flag);
    let parse_found = ig.state().extract(found);
    let parse_probe = ig.state().extract(probe);
    enter.on(1, parse_found).otherwise(first);
    parse_found.otherwise(first);
    first.on(PROBE, parse_probe);
    ig.start(enter);
    Headers { probe, found }
}

/// Declares tables and arrays.
#[stage_program]
pub(super) fn declare(ig: &GressBuilder<'_>, leaf: Leaf, h: Headers, p: &Params) -> ProbeTables {
    let t = ig.metadata::<Meta>();
    let (m, probe, ethernet, oldest) = (leaf.m, h.probe, leaf.h.ethernet, p.oldest());
    let mcast = ig.intrinsic::<tna::Multicast>();
    let generator = generator(ig, leaf);
    /// A generated packet becomes a probe of this ToR
    let announce = ig.action(|a, tor: Arg<16>, group: Arg<16>| {
        ethernet.ether_type = PROBE;
        probe.set_valid();
        probe.tor = tor;
        probe.reserved = 0;
        probe.util = 0;
        mcast.mcast_grp_a = group;
    });
    /// Number and multicast group of this switch if it is a ToR; the control plane sets them
    let own_tor = ig.table([]).actions([announce]).default_with(announce, [0, 0]).build();
    let neighbour = ig.action(|a, member: Arg<32>, group: Arg<16>| {
        m.made = 1;
        t.seen = 1;
        t.hop = member;
        t.onward = group;
    });
    /// Ports of other switches: member of groups, and where probes go on to
    let probe_from = ig.table([exact(leaf.h.port.ingress_port)]).actions([neighbour]).size(512).build();
    /// By ToR: member of the best hop
    let best_hop = ig.register::<32>(size(p.tors).init(NOBODY));
    let read_hop = ig.register_action(best_hop, |r| r.out = r.value);
    let set_hop = ig.register_action(best_hop, |r| r.value = t.hop);
    /// By ToR: use of the best path, and when a probe said so
    let best_path = ig.register_pair::<32>(p.tors);
    let look = ig.register_action(best_path, |r| {
        if t.now - r.hi > oldest {
            r.out = 1;
        }
    });
    /// The best hop says how it is now
    let renew = ig.register_action(best_path, |r| {
        r.lo = probe.util;
        r.hi = t.now;
    });
    /// Another hop is better, or the best one is silent
    let challenge = ig.register_action(best_path, |r| {
        if probe.util < r.lo || t.now - r.hi > oldest {
            r.lo = probe.util;
            r.hi = t.now;
            r.out = 1;
        }
    });
    let link = filter("400G".parse().unwrap_or_default(), p);
    /// Bytes sent over each link, by dev_port, forgotten over tau
    let dre = ig.meter(MeterKind::Lpf, cells(512).lpf(link));
    let shared = [best_hop.handle(), best_path.handle()];
    ProbeTables { t, generator, own_tor, probe_from, dre, read_hop, set_hop, look, renew, challenge, shared }
}

/// Before the candidate: heads read the best hop; probes are made, and taken in on their second pass.
#[stage_program]
pub(super) fn pass(ig: &GressBuilder<'_>, leaf: Leaf, h: Headers, tables: &ProbeTables, p: &Params) {
    let (m, t, probe, found) = (leaf.m, tables.t, h.probe, h.found);
    let ethernet = leaf.h.ethernet;
    let mcast = ig.intrinsic::<tna::Multicast>();
    let stamp = ig.intrinsic::<tna::FromParser>().global_tstamp;
    let stranger = ig.drop_label("A probe came by a port that leads to no switch");
    let ended = ig.consume_label("A probe was no news, or went no further");
    let (tick, refresh) = (p.gaps.tick, p.refresh);
    let read_clock = ig.action(|a| {
        if tick == Tick::Ns1 {
            t.now = stamp.slice::<31, 0, 32>();
        } else if tick == Tick::Ns256 {
            t.now = stamp.slice::<39, 8, 32>();
        } else {
            t.now = stamp.slice::<41, 10, 32>();
        }
    });
    /// The way is used as much as its most used link
    let raise = ig.action(|a| probe.util = probe.util.max(found.level));
    let onward = ig.action(|a| mcast.mcast_grp_a = t.onward);
    let (read_hop, set_hop) = (tables.read_hop, tables.set_hop);
    let (look, renew, challenge) = (tables.look, tables.renew, tables.challenge);
    ig.control(|c| {
        read_clock.call();
        if m.group != 0 {
            t.silent = look.execute(m.group);
            t.best = read_hop.execute(m.group);
        } else if probe.is_valid() {
            if tables.probe_from.apply().hit() {
                if found.is_valid() {
                    raise.call();
                    if found.other == 0 {
                        if refresh {
                            renew.execute(probe.tor);
                            t.news = 1;
                        } else {
                            t.news = challenge.execute(probe.tor);
                        }
                    } else {
                        t.news = challenge.execute(probe.tor);
                        if t.news {
                            set_hop.execute(probe.tor);
                        }
                    }
                    if t.news && t.onward != 0 {
                        onward.call();
                    } else {
                        drop(ended);
                    }
                } else {
                    t.best = read_hop.execute(probe.tor);
                    found.other = t.best - t.hop;
                }
            } else {
                // Not what the leaf behind would call it.
                m.made = 1;
                drop(stranger);
            }
        } else if ethernet.ether_type == MADE {
            if tables.generator.apply().hit() {
                tables.own_tor.apply();
            }
        }
    });
}

/// Behind the candidate that chance drew: the best hop takes its place while probes tell of it.
#[stage_program]
pub(super) fn prefer(ig: &GressBuilder<'_>, leaf: Leaf, tables: &ProbeTables) {
    let (m, t) = (leaf.m, tables.t);
    let prefer = ig.action(|a| m.candidate = m.generation | t.best);
    ig.control(|c| {
        if m.group != 0 && t.silent == 0 {
            prefer.call();
        }
    });
}

/// Behind the port: the link is charged; a probe reads that of its own port and comes again.
#[stage_program]
pub(super) fn charge(ig: &GressBuilder<'_>, leaf: Leaf, h: Headers, tables: &ProbeTables) {
    let (m, t, found) = (leaf.m, tables.t, h.found);
    let (ipv4, ipv6) = (leaf.h.ipv4, leaf.h.ipv6);
    let (tm, resubmit) = (ig.intrinsic::<tna::ForTm>(), ig.intrinsic::<tna::ForResubmit>());
    // A 16-bit container gets into a 32-bit one through the hash unit only.
    let ipv4_length =
        ig.hash::<32>(HashAlgorithm::Identity).inputs(list![constant::<16>(0), ipv4.total_len]).build();
    let ipv6_length =
        ig.hash::<32>(HashAlgorithm::Identity).inputs(list![constant::<16>(0), ipv6.payload_len]).build();
    let ipv4_bytes = ig.action(|a| t.bytes = ipv4_length.get());
    let ipv6_bytes = ig.action(|a| t.bytes = ipv6_length.get());
    /// Ethernet, FCS, preamble and gap
    let ipv4_around = ig.action(|a| t.bytes += 14 + 24);
    /// The IPv6 header besides
    let ipv6_around = ig.action(|a| t.bytes += 14 + 24 + 40);
    let again = ig.action(|a| resubmit.resubmit_type = 1);
    let dre = tables.dre;
    ig.control(|c| {
        if m.routed {
            if ipv4.is_valid() {
                ipv4_bytes.call();
                ipv4_around.call();
            } else if ipv6.is_valid() {
                ipv6_bytes.call();
                ipv6_around.call();
            }
            found.level = dre.execute(tm.ucast_egress_port).with(t.bytes);
        } else if t.seen && !found.is_valid() {
            found.level = dre.execute(leaf.h.port.ingress_port).with(t.bytes);
            again.call();
        }
    });
}
