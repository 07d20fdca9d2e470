//! Ingress of `int`: edge ports, watch-list, reports of dropped packets.

use super::headers::{Bridge, IngressCopy, kind};
use super::metadata::IngressMeta;
use super::params::{Carrier, Foreign, Mode, Params, SinkReport};
use crate::forwarding::routed::{Routed, Sizes, route};
use sluice_build::net::protocol::UDP;
use sluice_build::*;

/// Flags of a report: D, Q and F.
pub(super) mod flag {
    /// D: the packet was dropped.
    pub(crate) const DROP: u64 = 0x80;
    /// Q: the queue is congested.
    pub(crate) const QUEUE: u64 = 0x40;
    /// F: the packet is of a tracked flow.
    pub(crate) const FLOW: u64 = 0x20;
}

/// Metadata that ingress knows, in bits 0 to 7 of a bitmap: interfaces and ingress time.
const INGRESS_METADATA: u64 = 0x48;
/// Queue and drop reason, in bits 8 to 15 of a bitmap.
pub(super) const DROP_REASON: u64 = 0x01;
/// No interface.
const NOWHERE: u64 = 0xffff;

/// Declares all of ingress.
#[stage_program]
pub(super) fn ingress(ig: &GressBuilder<'_>, p: &Params) {
    let bridge = ig.header::<Bridge>();
    /// Header of mirrored copies that become reports
    let copy = ig.header::<IngressCopy>();
    let h = route(ig, Sizes { routes: p.routes, groups: p.groups });
    let Routed { ethernet, ipv4, ipv6, l4, m: routed, tm } = h;
    let m = ig.metadata::<IngressMeta>();
    let port = ig.intrinsic::<tna::Ingress>();
    let mirror = ig.intrinsic::<tna::ForMirror>();
    let deflection = ig.intrinsic::<tna::Deflection>();

    let arrive = ig.action(|a| {
        bridge.set_valid();
        bridge.kind = kind::BRIDGED;
        bridge.ingress_port = port.ingress_port.cast::<16>();
        bridge.ingress_time_hi = port.ingress_mac_tstamp.slice::<47, 32, 16>();
        bridge.ingress_time = port.ingress_mac_tstamp.slice::<31, 0, 32>();
        // A packet whose queue is full is deflected, and becomes a report.
        deflection.deflect_on_drop = 1;
        m.session = u64::from(p.session);
    });
    let describe_refused = ig.action(|a| {
        copy.ingress_port = port.ingress_port.cast::<16>();
        copy.egress_port = NOWHERE;
        copy.queue = 0;
        copy.latency = 0;
        copy.egress_time = 0;
        copy.ingress_time = port.ingress_mac_tstamp;
    });
    ig.control(|c| {
        arrive.call();
        describe_refused.call();
    });
    if p.knows_hosts() {
        /// The packet arrived from a host
        let from_host = ig.action(|a| bridge.edge = 1);
        let from_node = ig.action(|_a| {});
        /// Ingress ports from hosts: INT begins there, and a host's packets that are marked as INT are refused
        let port_in = ig
            .table([exact(port.ingress_port)])
            .actions([from_host, from_node])
            .default(from_node)
            .size(512)
            .build();
        ig.control(|c| {
            port_in.apply();
        });
    }
    if p.ends() {
        let to_host = ig.action(|a| bridge.sink = 1);
        let to_node = ig.action(|_a| {});
        /// Egress ports to hosts: INT ends there
        let port_out = ig
            .table([exact(tm.ucast_egress_port)])
            .actions([to_host, to_node])
            .default(to_node)
            .size(512)
            .build();
        ig.control(|c| {
            port_out.apply();
        });
    }
    if p.watches() {
        watch_flows(ig, p, h, bridge, m);
    }
    if p.knows_hosts() || (p.ends() && p.sink_report == SinkReport::Ingress) {
        recognise(ig, p, h, m);
    }
    if p.knows_hosts() {
        guard(ig, p, h, bridge, m);
    }
    let report_drop = ig.action(|a| {
        copy.head = kind::COPY << 24 | flag::DROP << 16 | INGRESS_METADATA << 8 | DROP_REASON;
        copy.reason = routed.refused;
        mirror.mirror_type = 1;
    });
    let sample = ig.action(|a| bridge.watched = 1);
    let (watches, everywhere) = (p.watches(), p.mode == Mode::Xd);
    ig.control(|c| {
        if routed.refused != 0 {
            report_drop.call();
        } else if watches {
            if m.watched && m.over == 0 {
                if everywhere {
                    sample.call();
                } else if bridge.edge && !m.int {
                    sample.call();
                }
            }
        }
    });
    if p.ends() && p.sink_report == SinkReport::Ingress {
        let report_flow = ig.action(|a| {
            copy.head = kind::COPY << 24 | flag::FLOW << 16 | INGRESS_METADATA << 8;
            mirror.mirror_type = 1;
        });
        ig.control(|c| {
            if m.int && bridge.sink && !bridge.edge && routed.refused == 0 {
                report_flow.call();
            }
        });
    }
    ig.deparser()
        .checksum(ipv4, ipv4.checksum, ipv4.summed())
        .mirror(1, m.session, copy)
        .emit(bridge)
        .emit(ethernet)
        .emit(ipv4)
        .emit(ipv6)
        .emit(l4);
}

/// Adds the watch-list, and sampling by the chance that the matching rule gives.
#[stage_program]
fn watch_flows(ig: &GressBuilder<'_>, p: &Params, h: Routed, bridge: Hdr<Bridge>, m: IngressMeta) {
    let Routed { ipv4, ipv6, m: routed, .. } = h;
    /// Watches the flow: samples `chance` + 1 of 65536 packets, with the instructions of `profile`
    let watch = ig.action(|a, profile: Arg<5>, chance: Arg<16>| {
        m.watched = 1;
        bridge.profile = profile;
        m.over = m.draw.sat_sub(chance);
    });
    let ignore = ig.action(|_a| {});
    let ports = [ternary(routed.src_port), ternary(routed.dst_port)];
    /// Watch-list of IPv4 flows
    let ipv4_watch = ig
        .table([ternary(ipv4.src), ternary(ipv4.dst), ternary(ipv4.protocol), ports[0], ports[1]])
        .actions([watch, ignore])
        .default(ignore)
        .size(p.watch_rules)
        .build();
    /// Watch-list of IPv6 flows
    let ipv6_watch = ig
        .table([ternary(ipv6.src), ternary(ipv6.dst), ternary(ipv6.next_header), ports[0], ports[1]])
        .actions([watch, ignore])
        .default(ignore)
        .size(p.watch_rules)
        .build();
    /// Random number for sampling, 0 to 65535
    let sampler = ig.random::<16>();
    let draw = ig.action(|a| m.draw = sampler.get());
    ig.control(|c| {
        draw.call();
        if ipv4.is_valid() {
            ipv4_watch.apply();
        } else if ipv6.is_valid() {
            ipv6_watch.apply();
        }
    });
}

/// Recognises packets that are marked as INT.
#[stage_program]
fn recognise(ig: &GressBuilder<'_>, p: &Params, h: Routed, m: IngressMeta) {
    let Routed { ipv4, ipv6, m: routed, .. } = h;
    let looks_like_int = ig.action(|a| m.int = 1);
    if p.carrier == Carrier::Dscp {
        ig.control(|c| {
            if ipv4.is_valid() && ipv4.dscp == u64::from(p.int_dscp) {
                looks_like_int.call();
            } else if ipv6.is_valid() && ipv6.dscp == u64::from(p.int_dscp) {
                looks_like_int.call();
            }
        });
    } else {
        ig.control(|c| {
            if ipv4.is_valid() && ipv4.protocol == UDP && routed.dst_port == u64::from(p.int_port) {
                looks_like_int.call();
            } else if ipv6.is_valid() && ipv6.next_header == UDP && routed.dst_port == u64::from(p.int_port) {
                looks_like_int.call();
            }
        });
    }
}

/// Drops packets of hosts that are marked as INT, or clears the mark.
#[stage_program]
fn guard(ig: &GressBuilder<'_>, p: &Params, h: Routed, bridge: Hdr<Bridge>, m: IngressMeta) {
    let Routed { ipv4, ipv6, .. } = h;
    if p.foreign == Foreign::Clear && p.carrier == Carrier::Dscp {
        let clear_ipv4 = ig.action(|a| ipv4.dscp = 0);
        let clear_ipv6 = ig.action(|a| ipv6.dscp = 0);
        ig.control(|c| {
            if m.int && bridge.edge {
                if ipv4.is_valid() {
                    clear_ipv4.call();
                } else {
                    clear_ipv6.call();
                }
            }
        });
    } else {
        let foreign_int = ig.drop_label("A host sent a packet that is marked as INT");
        let refuse = ig.action(|a| drop(foreign_int));
        ig.control(|c| {
            if m.int && bridge.edge {
                refuse.call();
            }
        });
    }
}
