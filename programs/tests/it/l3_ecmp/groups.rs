//! The flow hash and the choice of a member.

use crate::l3_ecmp::device::{Device, frame, inbound, ip4, ip6, ports};
use sluice_control::{ControlOp, GroupMember};
use sluice_pcaps::wire::{ipv4, ipv6, tcp, vlan};

/// model: hashing §7.1, §7.3: flows F1 to F4, and their selector input at offsets 0, 4 and 8.
type Vector = (([u8; 4], u16), ([u8; 4], u16), bool, [u128; 3]);
const PINS: [Vector; 4] = [
    (([10, 0, 0, 1], 12345), ([10, 0, 1, 1], 80), true, [0x26e0, 0x026e, 0xe026]),
    (([10, 0, 0, 2], 12345), ([10, 0, 1, 1], 80), true, [0x1a25, 0x51a2, 0x251a]),
    (([192, 168, 1, 10], 5000), ([172, 16, 5, 20], 53), false, [0x917e, 0xe917, 0x7e91]),
    (([10, 1, 2, 3], 40000), ([10, 1, 2, 4], 443), true, [0x0822, 0x2082, 0x2208]),
];

fn flow((src, src_port): ([u8; 4], u16), (dst, dst_port): ([u8; 4], u16), tcp: bool) -> Vec<u8> {
    let builder = inbound().ipv4(ip4(src, dst));
    let builder = match tcp {
        true => builder.tcp(tcp::Header::new(src_port, dst_port)),
        false => builder.udp(ports(src_port, dst_port)),
    };
    frame(builder, 100)
}

/// Gives groups 1 (uplinks) and 2 (default) the uplinks 8 to 14: seven members, so that no hash bit is idle.
fn seven_members(device: &mut Device) {
    let profile = device.program.profile_named("ecmp_members").unwrap();
    for group in [1, 2] {
        let members = (9..=15).map(|member| GroupMember { member, weight: 1, active: true }).collect();
        device.apply(ControlOp::SetGroup { profile, group, members });
    }
}

#[test]
fn another_switchs_hash_and_picks_are_reproduced() {
    const PINS_HASH: [&str; 3] =
        ["hash_fields_v4=src,dst,src_port,dst_port", "hash_seed_style=prefix", "hash_width=16"];
    for (n, rotate) in ["hash_rotate=0", "hash_rotate=4", "hash_rotate=8"].into_iter().enumerate() {
        for selection in ["selection=plain-modulo", "selection=fair"] {
            let [fields, seed, width] = PINS_HASH;
            let mut device = Device::with(&[fields, seed, width, rotate, selection]);
            seven_members(&mut device);
            for (src, dst, tcp, hashes) in PINS {
                let port = device.send(0, &flow(src, dst, tcp)).port();
                assert_eq!(device.field("flow.hash"), hashes[n], "{src:?} {rotate}");
                let bits = if selection == "selection=fair" { hashes[n] & 0x3fff } else { hashes[n] };
                assert_eq!(u128::from(port), 8 + bits % 7, "{src:?} {rotate} {selection}");
            }
        }
    }
}

#[test]
fn plain_modulo_divides_the_result_of_a_narrow_function() {
    // CRC-16/ARC over the five-tuple, from a crate that the product does not use here; 13 divides no power of 2.
    const MEMBERS: [u32; 13] = [9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 25];
    let arc = crc::Crc::<u16>::new(&crc::CRC_16_ARC);
    let mut device = Device::with(&["hash_algorithm=crc_16", "selection=plain-modulo"]);
    let profile = device.program.profile_named("ecmp_members").unwrap();
    let members = MEMBERS.map(|member| GroupMember { member, weight: 1, active: true }).to_vec();
    device.apply(ControlOp::SetGroup { profile, group: 2, members });
    for n in 0..200u16 {
        let [high, low] = n.to_be_bytes();
        let (src, dst) = (([172, 16, high, low], 1_000 + 7 * n), ([172, 20, 0, 1], 443));
        let port = device.send(0, &flow(src, dst, true)).port();
        let mut digest = arc.digest();
        [&src.0[..], &dst.0, &[6], &src.1.to_be_bytes(), &dst.1.to_be_bytes()]
            .iter()
            .for_each(|b| digest.update(b));
        let chosen = MEMBERS[usize::from(digest.finalize() % 13)];
        assert_eq!(u32::from(port), chosen - 1, "flow {n}");
    }
}

#[test]
fn five_tuple_hashes_are_those_of_the_catalogue() {
    // model: hashing §7.1: F1 under CRC-16/ARC, CRC-32 and CRC-32C; the last under a seed, too.
    let (src, dst, tcp, _) = PINS[0];
    for (sets, wanted) in [
        (["hash_algorithm=crc_16", "hash_width=16"], 0x4f71),
        (["hash_algorithm=crc:16,0x1021,plain,0,0", "hash_width=16"], 0x1c2d),
        (["hash_algorithm=crc_32", "hash_width=32"], 0x1d56_9bff),
        (["hash_algorithm=crc_32c", "hash_width=32"], 0xb4f0_40dd),
    ] {
        let mut device = Device::with(&sets);
        device.send(0, &flow(src, dst, tcp));
        assert_eq!(device.field("flow.hash"), wanted, "{sets:?}");
        let mut device = Device::with(&[sets[0], sets[1], "hash_seed=0xbeef"]);
        device.send(0, &flow(src, dst, tcp));
        assert_eq!(device.field("flow.hash"), wanted ^ 0xbeef, "{sets:?}");
    }
}

/// Returns the flow hash after one packet.
fn hash_of(device: &mut Device, port: u16, sent: &[u8]) -> u128 {
    device.send(port, sent);
    device.field("flow.hash")
}

#[test]
fn every_ipv4_field_counts_where_it_is_listed_and_nowhere_else() {
    const ALL: &str = "src,dst,protocol,src_port,dst_port,ttl,ingress_port,vlan,length,dscp,identification";
    let base = ip4([10, 0, 0, 1], [10, 9, 9, 9]);
    let udp = |ip: ipv4::Header, src, dst| frame(inbound().ipv4(ip).udp(ports(src, dst)), 100);
    let tag = vlan::Tag { vid: 100, ..vlan::Tag::default() };
    let changed: [(&str, u16, Vec<u8>); 11] = [
        ("src", 0, udp(ipv4::Header { source: [10, 0, 0, 9].into(), ..base }, 5, 6)),
        ("dst", 0, udp(ipv4::Header { destination: [10, 9, 9, 8].into(), ..base }, 5, 6)),
        ("protocol", 0, frame(inbound().ipv4(base).tcp(tcp::Header::new(5, 6)), 100)),
        ("src_port", 0, udp(base, 7, 6)),
        ("dst_port", 0, udp(base, 5, 7)),
        ("ttl", 0, udp(ipv4::Header { ttl: 9, ..base }, 5, 6)),
        ("ingress_port", 1, udp(base, 5, 6)),
        ("vlan", 0, frame(inbound().vlan(tag).ipv4(base).udp(ports(5, 6)), 104)),
        ("length", 0, frame(inbound().ipv4(base).udp(ports(5, 6)), 120)),
        ("dscp", 0, udp(ipv4::Header { dscp: 8, ..base }, 5, 6)),
        ("identification", 0, udp(ipv4::Header { identification: 8, ..base }, 5, 6)),
    ];
    let mut all = Device::with(&[&format!("hash_fields_v4={ALL}"), "hash_width=32"]);
    let usual = hash_of(&mut all, 0, &udp(base, 5, 6));
    for (name, port, sent) in &changed {
        assert_ne!(hash_of(&mut all, *port, sent), usual, "{name}");
        let others: Vec<&str> = ALL.split(',').filter(|f| f != name).collect();
        let mut device = Device::with(&[&format!("hash_fields_v4={}", others.join(",")), "hash_width=32"]);
        let usual = hash_of(&mut device, 0, &udp(base, 5, 6));
        assert_eq!(hash_of(&mut device, *port, sent), usual, "{name}");
    }
}

#[test]
fn ipv6_flows_are_told_apart_by_their_label() {
    let base = ip6("2001:db8::1", "2001:db8:1::1");
    let with = |label: u32, hop_limit: u8| {
        let ip = ipv6::Header { flow_label: label, hop_limit, ..base };
        frame(inbound().ipv6(ip).udp(ports(5, 6)), 100)
    };
    let mut device = Device::with(&["hash_width=32"]);
    let usual = hash_of(&mut device, 0, &with(1, 64));
    assert_ne!(hash_of(&mut device, 0, &with(2, 64)), usual);
    assert_eq!(hash_of(&mut device, 0, &with(1, 63)), usual);
    let mut device = Device::with(&["hash_fields_v6=src,dst,hop_limit", "hash_width=32"]);
    let usual = hash_of(&mut device, 0, &with(1, 64));
    assert_eq!(hash_of(&mut device, 0, &with(2, 64)), usual);
    assert_ne!(hash_of(&mut device, 0, &with(1, 63)), usual);
}

/// Returns how many of 10,000 flows to a network take each port.
fn shares(device: &mut Device, network: u8) -> [u32; 32] {
    let mut shares = [0; 32];
    for n in 0..10_000u32 {
        let [_, _, high, low] = n.to_be_bytes();
        let src_port = 1024 + (n.wrapping_mul(40_503) >> 7) as u16 % 50_000;
        let sent =
            frame(inbound().ipv4(ip4([10, 0, high, low], [10, network, 0, 1])).udp(ports(src_port, 80)), 64);
        shares[usize::from(device.send(0, &sent).port())] += 1;
    }
    shares
}

/// Asserts a share of 10,000 to four standard deviations of independent draws.
fn near(found: u32, share: f64, what: &str) {
    let (mean, deviation) = (10_000.0 * share, (10_000.0 * share * (1.0 - share)).sqrt());
    assert!((f64::from(found) - mean).abs() <= 4.0 * deviation, "{what}: {found}, expected {mean}");
}

#[test]
fn equal_members_get_equal_shares() {
    let shares = shares(&mut Device::new(), 1);
    (8..=15).for_each(|port| near(shares[port], 0.125, &format!("port {port}")));
    assert_eq!(shares[8..=15].iter().sum::<u32>(), 10_000);
}

#[test]
fn weighted_members_get_shares_by_weight() {
    let shares = shares(&mut Device::new(), 5);
    near(shares[24], 0.75, "weight 3 of 4");
    near(shares[25], 0.25, "weight 1 of 4");
    assert_eq!(shares[24] + shares[25], 10_000);
}

#[test]
fn a_resilient_group_moves_only_the_flows_of_the_member_that_died() {
    for (selection, moves_others) in [("selection=resilient", false), ("selection=fair", true)] {
        let mut device = Device::with(&[selection]);
        seven_members(&mut device);
        let sent = |n: u16| frame(inbound().ipv4(ip4([10, 0, 0, 1], [10, 1, 0, 1])).udp(ports(n, 80)), 64);
        let before: Vec<u16> = (0..500).map(|n| device.send(0, &sent(n)).port()).collect();
        let profile = device.program.profile_named("ecmp_members").unwrap();
        device.apply(ControlOp::SetMemberActive { profile, group: 1, member: 9, active: false });
        let after: Vec<u16> = (0..500).map(|n| device.send(0, &sent(n)).port()).collect();
        assert!(after.iter().all(|port| *port != 8) && before.contains(&8));
        let moved = before.iter().zip(&after).filter(|(b, a)| **b != 8 && a != b).count();
        assert_eq!(moved > 0, moves_others, "{selection}: {moved} flows of living members moved");
    }
}
