//! Probes: headers, tables of best hops, the two passes of a probe, and the use of best hops by packets.

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
/// Best hop of a ToR of which no probe has arrived: no group has a member with this number.
const NOBODY: u64 = 0xffff;
/// Bits of resolution beyond the eighths of `conga`: a link's utilisation is counted in 128ths of its rate.
pub(super) const FINER: u8 = 4;

/// Probe header, after Ethernet
#[derive(Header, Debug)]
pub(super) struct Probe {
    /// Number of the ToR that sent the probe
    tor: Bits<16>,
    /// Reserved; 0
    reserved: Bits<16>,
    /// Utilisation of the most used link on the path to the ToR, in 128ths of the link's rate
    util: Bits<32>,
}

/// Resubmit header of a probe
#[derive(Header, Debug)]
pub(super) struct Found {
    /// Utilisation, in the opposite direction, of the link on which the probe arrived, in 128ths of its rate
    level: Bits<32>,
    /// 0 if the probe arrived from the best hop, else the difference of the two member numbers
    other: Bits<32>,
}

/// Per-packet metadata
#[derive(Header, Debug)]
pub(super) struct Meta {
    /// Time at which the packet entered ingress, in units of the parameter `tick`
    now: Bits<32>,
    /// Member number of the port on which the probe arrived
    hop: Bits<32>,
    /// Multicast group to which the probe is forwarded; 0 = the probe ends here
    onward: Bits<16>,
    /// 1 for a probe from a neighbouring switch
    seen: Bits<1>,
    /// 1 if the probe changed the best path's utilisation or time
    news: Bits<1>,
    /// Member number of the best hop; 65535 = none so far
    best: Bits<32>,
    /// 1 if the best path to the ToR is older than the keepalive
    silent: Bits<1>,
    /// Bytes that the packet takes on its link
    bytes: Bits<32>,
}

/// The headers that `hula` adds to those of every leaf.
#[derive(Clone, Copy, Debug)]
pub(super) struct Headers {
    pub(super) probe: Hdr<Probe>,
    pub(super) found: Hdr<Found>,
}

/// Tables, filters and register actions.
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
    /// Returns the registers that both packets from hosts and probes access.
    pub(super) fn shared(&self) -> [ir::Register; 2] {
        self.shared
    }
}

/// Returns the filter for a link of this rate.
pub(super) fn filter(rate: BitRate, p: &Params) -> LpfSpec {
    let spec = estimator(rate, p.tau).spec();
    LpfSpec { shift: spec.shift.saturating_sub(FINER), ..spec }
}

/// Declares the parser: a resubmitted packet has `found` in front, and a probe header follows Ethernet.
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

/// Declares tables, registers and filters.
#[stage_program]
pub(super) fn declare(ig: &GressBuilder<'_>, leaf: Leaf, h: Headers, p: &Params) -> ProbeTables {
    let t = ig.metadata::<Meta>();
    let (m, probe, ethernet, oldest) = (leaf.m, h.probe, leaf.h.ethernet, p.oldest());
    let mcast = ig.intrinsic::<tna::Multicast>();
    let generator = generator(ig, leaf);
    /// Turns a generated packet into a probe of this ToR
    let announce = ig.action(|a, tor: Arg<16>, group: Arg<16>| {
        ethernet.ether_type = PROBE;
        probe.set_valid();
        probe.tor = tor;
        probe.reserved = 0;
        probe.util = 0;
        mcast.mcast_grp_a = group;
    });
    /// Number of this ToR, and multicast group of its probes; the control plane sets them (0 on a spine)
    let own_tor = ig.table([]).actions([announce]).default_with(announce, [0, 0]).build();
    let neighbour = ig.action(|a, member: Arg<32>, group: Arg<16>| {
        m.made = 1;
        t.seen = 1;
        t.hop = member;
        t.onward = group;
    });
    /// Ingress port from another switch to its member number, and to the multicast group for its probes
    let probe_from = ig.table([exact(leaf.h.port.ingress_port)]).actions([neighbour]).size(512).build();
    /// By ToR: member number of the best hop; 65535 = none so far
    let best_hop = ig.register::<32>(size(p.tors).init(NOBODY));
    let read_hop = ig.register_action(best_hop, |r| r.out = r.value);
    let set_hop = ig.register_action(best_hop, |r| r.value = t.hop);
    /// By ToR: lo = utilisation of the best path in 128ths, hi = time of the probe that reported it, in units of `tick`
    let best_path = ig.register_pair::<32>(p.tors);
    let look = ig.register_action(best_path, |r| {
        if t.now - r.hi > oldest {
            r.out = 1;
        }
    });
    /// Stores utilisation and time of a probe from the best hop
    let renew = ig.register_action(best_path, |r| {
        r.lo = probe.util;
        r.hi = t.now;
    });
    /// If the probe's path is less used, or the best path is older than the keepalive: stores the probe's and returns 1
    let challenge = ig.register_action(best_path, |r| {
        if probe.util < r.lo || t.now - r.hi > oldest {
            r.lo = probe.util;
            r.hi = t.now;
            r.out = 1;
        }
    });
    let link = filter("400G".parse().unwrap_or_default(), p);
    /// Utilisation of each link in 128ths of its rate, by dev_port: bytes sent, decayed with time constant tau
    let dre = ig.meter(MeterKind::Lpf, cells(512).lpf(link));
    let shared = [best_hop.handle(), best_path.handle()];
    ProbeTables { t, generator, own_tor, probe_from, dre, read_hop, set_hop, look, renew, challenge, shared }
}

/// Adds the part before the candidate: packets read the best hop; probes are made, and evaluated on their second pass.
#[stage_program]
pub(super) fn pass(ig: &GressBuilder<'_>, leaf: Leaf, h: Headers, tables: &ProbeTables, p: &Params) {
    let (m, t, probe, found) = (leaf.m, tables.t, h.probe, h.found);
    let ethernet = leaf.h.ethernet;
    let mcast = ig.intrinsic::<tna::Multicast>();
    let stamp = ig.intrinsic::<tna::FromParser>().global_tstamp;
    let stranger = ig.drop_label("A probe arrived on a port that does not lead to a switch");
    let ended = ig.consume_label("A probe that did not change the best path, or had no next switch");
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
    /// Raises the path's utilisation to that of the link on which the probe arrived
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
                // Keeps the shared leaf from dropping the packet under another label.
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

/// Adds the part after the random candidate: the best hop replaces the candidate, unless its probes are overdue.
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

/// Adds the part after the egress port: charges the link. A probe reads the filter of its own port and is resubmitted.
#[stage_program]
pub(super) fn charge(ig: &GressBuilder<'_>, leaf: Leaf, h: Headers, tables: &ProbeTables) {
    let (m, t, found) = (leaf.m, tables.t, h.found);
    let (ipv4, ipv6) = (leaf.h.ipv4, leaf.h.ipv6);
    let (tm, resubmit) = (ig.intrinsic::<tna::ForTm>(), ig.intrinsic::<tna::ForResubmit>());
    // Only the hash unit moves a 16-bit container into a 32-bit one.
    let ipv4_length =
        ig.hash::<32>(HashAlgorithm::Identity).inputs(list![constant::<16>(0), ipv4.total_len]).build();
    let ipv6_length =
        ig.hash::<32>(HashAlgorithm::Identity).inputs(list![constant::<16>(0), ipv6.payload_len]).build();
    let ipv4_bytes = ig.action(|a| t.bytes = ipv4_length.get());
    let ipv6_bytes = ig.action(|a| t.bytes = ipv6_length.get());
    /// Adds Ethernet, FCS, preamble and inter-frame gap
    let ipv4_around = ig.action(|a| t.bytes += 14 + 24);
    /// Adds the same bytes as `ipv4_around`, and the IPv6 header
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
