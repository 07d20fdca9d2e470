//! A router with VLAN, IPv4, IPv6 and TCP or UDP.

use super::*;
use crate::phv::summary;
use sluice_asic::phv::ContainerKind;
use sluice_ir::cfg::Var;
use sluice_ir::{ApplyArms, ChecksumUpdate, Cond, Intrinsic, MatchKind, SelectArm};
use sluice_samples::sketch::param;

pub(crate) const ETHERNET: [(&str, u16); 3] = [("dst", 48), ("src", 48), ("ether_type", 16)];
const VLAN: [(&str, u16); 4] = [("pcp", 3), ("dei", 1), ("vid", 12), ("ether_type", 16)];
const IPV4: [(&str, u16); 13] = [
    ("version", 4),
    ("ihl", 4),
    ("dscp", 6),
    ("ecn", 2),
    ("total_len", 16),
    ("identification", 16),
    ("flags", 3),
    ("frag_offset", 13),
    ("ttl", 8),
    ("protocol", 8),
    ("checksum", 16),
    ("src", 32),
    ("dst", 32),
];
const IPV6: [(&str, u16); 8] = [
    ("version", 4),
    ("traffic_class", 8),
    ("flow_label", 20),
    ("payload_len", 16),
    ("next_header", 8),
    ("hop_limit", 8),
    ("src", 128),
    ("dst", 128),
];
const TCP: [(&str, u16); 10] = [
    ("sport", 16),
    ("dport", 16),
    ("seq", 32),
    ("ack", 32),
    ("data_offset", 4),
    ("reserved", 4),
    ("flags", 8),
    ("window", 16),
    ("checksum", 16),
    ("urgent", 16),
];
const UDP: [(&str, u16); 4] = [("sport", 16), ("dport", 16), ("length", 16), ("checksum", 16)];

fn arms(width: u16, list: &[(u128, usize)]) -> Vec<SelectArm> {
    let arm = |&(value, state): &(u128, usize)| {
        let next = Next::State(sluice_ir::entity::Entity::new(state));
        SelectArm::new(vec![(value, (1 << width) - 1)], next)
    };
    list.iter().map(arm).collect()
}

/// Parses, looks up, copies the router's address, decrements, and rewrites a source address in egress.
pub(crate) fn router() -> Program {
    let mut s = Sketch::new("router");
    let port = s.intrinsic(Intrinsic::IngressPort);
    let out = s.intrinsic(Intrinsic::UcastEgressPort);
    s.intrinsic(Intrinsic::DropCtl);
    let (ethernet, eth) = s.header("ethernet", &ETHERNET);
    let (vlan, tag) = s.header("vlan", &VLAN);
    let (ipv4, ip) = s.header("ipv4", &IPV4);
    let (ipv6, ip6) = s.header("ipv6", &IPV6);
    let (tcp, _) = s.header("tcp", &TCP);
    let (udp, _) = s.header("udp", &UDP);
    let types = [(0x8100, 1), (0x800, 2), (0x86dd, 3)];
    s.state("parse_ethernet", ethernet, &[eth[2]], arms(16, &types));
    s.state("parse_vlan", vlan, &[tag[3]], arms(16, &types[1..]));
    s.state("parse_ipv4", ipv4, &[ip[9]], arms(8, &[(6, 4), (17, 5)]));
    s.state("parse_ipv6", ipv6, &[ip6[4]], arms(8, &[(6, 4), (17, 5)]));
    s.state("parse_tcp", tcp, &[], vec![]);
    s.state("parse_udp", udp, &[], vec![]);

    let (vrf, nexthop) = (s.meta("vrf", 12), s.meta("nexthop", 16));
    let (routed, denied) = (s.meta("routed", 1), s.meta("denied", 1));
    let vrf_of_tag = s.action("vrf_of_tag", &[], vec![set(vrf, field(tag[2]))]);
    let deny = s.action("deny", &[], vec![set(denied, Expr::Const(1, 1))]);
    let nop = s.action("nop", &[], vec![]);
    let acl = s.table("acl", &[(port, MatchKind::Exact)], &[deny, nop], 256);
    let route = s.action("route", &[16], vec![set(nexthop, param(0, 16)), set(routed, Expr::Const(1, 1))]);
    let lpm4 = s.table("lpm4", &[(vrf, MatchKind::Exact), (ip[12], MatchKind::Lpm)], &[route, nop], 1024);
    let lpm6 = s.table("lpm6", &[(vrf, MatchKind::Exact), (ip6[7], MatchKind::Lpm)], &[route, nop], 1024);
    let minus = |f: Field| alu(AluOp::Sub, field(f), Expr::Const(1, 8));
    let body = |ttl: Field| {
        vec![
            set(eth[1], field(eth[0])),
            set(eth[0], param(0, 48)),
            set(out, param(1, 9)),
            set(ttl, minus(ttl)),
        ]
    };
    let rewrite4 = s.action("rewrite4", &[48, 9], body(ip[8]));
    let rewrite6 = s.action("rewrite6", &[48, 9], body(ip6[5]));
    let hops4 = s.table("nexthops4", &[(nexthop, MatchKind::Exact)], &[rewrite4, nop], 1024);
    let hops6 = s.table("nexthops6", &[(nexthop, MatchKind::Exact)], &[rewrite6, nop], 1024);
    let tagged = vec![s.stmt(StmtKind::Call(vrf_of_tag))];
    let (on4, on6) = (vec![s.apply(lpm4), s.apply(hops4)], vec![s.apply(lpm6), s.apply(hops6)]);
    let if6 = s.stmt(StmtKind::If(Cond::Valid(ipv6), on6, vec![]));
    let block = vec![
        s.stmt(StmtKind::If(Cond::Valid(vlan), tagged, vec![])),
        s.stmt(StmtKind::Apply(acl, ApplyArms::default())),
        s.stmt(StmtKind::If(Cond::Valid(ipv4), on4, vec![if6])),
    ];
    s.control(block);
    let inputs = ip.iter().copied().filter(|f| *f != ip[10]).map(sluice_ir::Expr::Field).collect();
    let loc = s.program.headers[ipv4].loc;
    s.program.pipes[0].deparser.checksums =
        vec![ChecksumUpdate { header: ipv4, when: None, field: ip[10], inputs, zeros_as_ones: false, loc }];

    s.gress = Gress::Egress;
    let egress_port = s.intrinsic(Intrinsic::EgressPort);
    let (ethernet, eth) = s.header("ethernet", &ETHERNET);
    s.state("parse_ethernet_out", ethernet, &[], vec![]);
    let source = s.action("set_source", &[48], vec![set(eth[1], param(0, 48))]);
    let keep = s.action("keep", &[], vec![]);
    let smac = s.table("source_mac", &[(egress_port, MatchKind::Exact)], &[source, keep], 512);
    let block = vec![s.apply(smac)];
    s.control(block);
    s.program
}

fn of(program: &Program, name: &str) -> Field {
    program.field_named(Gress::Ingress, name).unwrap()
}

#[test]
fn fits_both_chips_and_is_clean() {
    let program = router();
    for chip in chips() {
        let allocation = allocated(&program, &chip);
        assert_eq!(findings(&program, &chip, &allocation), Vec::<String>::new());
    }
}

#[test]
fn is_the_same_every_time() {
    let program = router();
    for chip in chips() {
        assert_eq!(allocated(&program, &chip), allocated(&program, &chip));
    }
}

#[test]
fn headers_are_runs_of_whole_containers() {
    let program = router();
    for chip in chips() {
        let allocation = allocated(&program, &chip);
        for header in program.headers.keys() {
            let mut next = 0;
            for (byte, container) in allocation.header_containers(&program, header) {
                assert_eq!(byte, next, "{}", program.headers[header].name);
                next += info(&chip, container).size.bits() / 8;
            }
            assert_eq!(next * 8, program.header_bits(header));
        }
    }
}

#[test]
fn addresses_are_cut_alike_and_lie_in_one_group() {
    let program = router();
    for chip in chips() {
        let allocation = allocated(&program, &chip);
        let (dst, src) = (of(&program, "ethernet.dst"), of(&program, "ethernet.src"));
        let shape = |f| allocation.slices(f).iter().map(|s| (s.lo, s.width)).collect::<Vec<_>>();
        assert_eq!(shape(dst), [(16, 32), (0, 16)]);
        assert_eq!(shape(dst), shape(src));
        for (d, s) in allocation.slices(dst).iter().zip(allocation.slices(src)) {
            assert_eq!(info(&chip, d.container).mau_group, info(&chip, s.container).mau_group);
        }
        let ipv6 = allocation.slices(of(&program, "ipv6.dst"));
        assert_eq!(
            ipv6.iter().map(|s| (s.lo, s.width)).collect::<Vec<_>>(),
            [(96, 32), (64, 32), (32, 32), (0, 32)]
        );
    }
}

#[test]
fn a_tag_is_copied_between_containers_of_one_size() {
    let program = router();
    for chip in chips() {
        let allocation = allocated(&program, &chip);
        let vrf = allocation.slices(of(&program, "meta.vrf"));
        let vid = allocation.slices(of(&program, "vlan.vid"));
        assert_eq!((vrf.len(), vid.len()), (1, 1));
        assert_eq!(info(&chip, vrf[0].container).size, info(&chip, vid[0].container).size);
        // `pcp`, `dei` and `vid` share it.
        assert_eq!(allocation.users(vid[0].container).count(), 3);
    }
}

#[test]
fn what_passes_through_goes_where_the_mau_cannot_see() {
    let program = router();
    for (chip, kind) in chips().into_iter().zip([ContainerKind::Tagalong, ContainerKind::Mocha]) {
        let allocation = allocated(&program, &chip);
        for name in ["tcp.seq", "udp.length", "tcp.data_offset"] {
            let kinds: Vec<_> =
                allocation.slices(of(&program, name)).iter().map(|s| info(&chip, s.container).kind).collect();
            assert!(kinds.iter().all(|k| *k == kind), "{name}: {kinds:?}");
        }
        let ttl = allocation.slices(of(&program, "ipv4.ttl"))[0];
        assert_eq!(
            allocation.users(ttl.container).collect::<Vec<_>>(),
            [Var::Field(of(&program, "ipv4.ttl"))]
        );
        assert_eq!(info(&chip, ttl.container).kind, ContainerKind::Normal);
    }
}

#[test]
fn the_summary_counts_what_is_there() {
    let program = router();
    for (chip, containers, bits) in [(ChipSpec::tofino(), 336, 6144), (ChipSpec::tofino2(), 280, 5120)] {
        let allocation = allocated(&program, &chip);
        let sum = summary(&program, &chip, &allocation);
        assert_eq!(sum.groups.iter().map(|g| g.containers).sum::<u32>(), containers);
        assert_eq!(sum.groups.iter().map(|group| group.bits_available).sum::<u32>(), bits);
        let used: u32 = sum.groups.iter().flat_map(|g| g.used).sum();
        assert_eq!(used as usize, sum.rows.len());
        assert_eq!(sum.pov_bits, [6, 1]);
        // All bits of all used variables.
        let fields: u32 = program
            .fields
            .keys()
            .filter(|f| !allocation.slices(*f).is_empty())
            .map(|f| u32::from(program.fields[f].width))
            .sum();
        assert_eq!(sum.groups.iter().flat_map(|g| g.bits).sum::<u32>(), fields + 7);
        assert!(sum.rows.iter().all(|r| r.slices.windows(2).all(|w| w[0].at > w[1].at)));
    }
}
