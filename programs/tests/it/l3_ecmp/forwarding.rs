//! Routing and bridging of well-formed and of malformed packets.

use crate::l3_ecmp::device::{
    Device, Fate, ROUTER, SENDER, frame, inbound, ip4, ip6, neighbor, outbound, ports,
};
use sluice_control::{ControlOp, Then};
use sluice_ir::{ActionCall, KeyValue};
use sluice_pcaps::wire::{FrameBuilder, MacAddr, arp, icmp, ipv4, ipv6, tcp};

const HOST: [u8; 4] = [10, 9, 9, 9];

#[test]
fn ipv4_is_addressed_to_the_next_hop_one_hop_further() {
    let mut device = Device::new();
    let ip = ipv4::Header { dscp: 10, ecn: 1, identification: 7, ..ip4([10, 0, 0, 1], HOST) };
    let sent = frame(inbound().ipv4(ip).udp(ports(1000, 2000)), 1000);
    let wanted = frame(outbound(20).ipv4(ipv4::Header { ttl: 63, ..ip }).udp(ports(1000, 2000)), 1000);
    assert_ne!(sent[24..26], wanted[24..26], "the checksum has to change");
    assert_eq!(device.send(3, &sent), Fate::Out(20, wanted));
    assert_eq!(device.count_front("ports_in", 3), (1, 1000));
    // Egress counts the bytes of the bridged header, too.
    assert_eq!(device.count_front("ports_out", 20), (1, 1002));
    // Entries in order of insertion: default, four uplink networks, the weighted one, the host.
    assert_eq!(device.count("ipv4_route_hits", 6), (1, 1000));
    assert_eq!(device.count("ipv4_route_hits", 0), (0, 0));
}

#[test]
fn ipv6_is_addressed_to_the_next_hop_one_hop_further() {
    let mut device = Device::new();
    let ip = ipv6::Header { flow_label: 0xabcde, dscp: 46, ..ip6("2001:db8::1", "2001:db8:1::1") };
    let sent = frame(inbound().ipv6(ip).tcp(tcp::Header::new(1000, 443)), 400);
    let Fate::Out(port, bytes) = device.send(0, &sent) else { panic!("not routed") };
    assert!((8..=15).contains(&port));
    let tagged = port >= 12;
    let ip = ipv6::Header { hop_limit: 63, ..ip };
    let wanted = frame(outbound(port).ipv6(ip).tcp(tcp::Header::new(1000, 443)), 400);
    let bytes = if tagged { [&bytes[..12], &bytes[16..]].concat() } else { bytes };
    assert_eq!(bytes, wanted);
}

#[test]
fn a_frame_longer_than_the_parsed_part_keeps_its_payload() {
    let mut device = Device::new();
    let payload: Vec<u8> = (0..8000u32).map(|n| (n * 7) as u8).collect();
    let mut sent = Vec::new();
    let builder = inbound().ipv4(ip4([10, 0, 0, 1], HOST)).udp(ports(1, 2));
    builder.build(sluice_pcaps::wire::Payload::Bytes(&payload), &mut sent).unwrap();
    let Fate::Out(20, bytes) = device.send(0, &sent) else { panic!("not routed") };
    assert_eq!(bytes[42..], payload);
}

#[test]
fn packets_at_the_end_of_their_life_go_to_the_cpu_as_they_came() {
    let mut device = Device::new();
    for ttl in [0, 1] {
        let ip = ipv4::Header { ttl, ..ip4([10, 0, 0, 1], HOST) };
        let sent = frame(inbound().ipv4(ip).udp(ports(1, 2)), 100);
        assert_eq!(device.send(0, &sent), Fate::Cpu(sent.clone()));
        let ip = ipv6::Header { hop_limit: ttl, ..ip6("2001:db8::1", "2001:db8:1::1") };
        let sent = frame(inbound().ipv6(ip).udp(ports(1, 2)), 100);
        assert_eq!(device.send(0, &sent), Fate::Cpu(sent.clone()));
    }
    let ip = ipv4::Header { ttl: 2, ..ip4([10, 0, 0, 1], HOST) };
    let sent = frame(inbound().ipv4(ip).udp(ports(1, 2)), 100);
    assert_eq!(device.send(0, &sent).port(), 20);
}

#[test]
fn a_wrong_header_checksum_is_dropped() {
    let mut device = Device::new();
    let mut sent = frame(inbound().ipv4(ip4([10, 0, 0, 1], HOST)).udp(ports(1, 2)), 100);
    assert_eq!(device.send(0, &sent).port(), 20);
    sent[24] ^= 1;
    assert_eq!(device.send(0, &sent), Fate::Dropped("ipv4_checksum".to_owned()));
    assert_eq!(device.field("m.bad_checksum"), 1);
}

/// Returns a frame whose IPv4 header has one word of options, with a valid checksum.
fn with_options() -> Vec<u8> {
    let mut sent = frame(inbound().ipv4(ip4([10, 0, 0, 1], HOST)).udp(ports(1, 23)), 100);
    sent.splice(34..34, [1, 1, 1, 0]);
    sent[14] = 0x46;
    sent[24..26].fill(0);
    let sum = sluice_pcaps::wire::Checksum::new().with(&sent[14..38]).finish();
    sent[24..26].copy_from_slice(&sum.to_be_bytes());
    sent
}

#[test]
fn options_go_to_the_cpu_whatever_the_checksum_seems() {
    let mut device = Device::new();
    let sent = with_options();
    assert_eq!(device.send(0, &sent), Fate::Cpu(sent.clone()));
    assert_eq!(device.field("m.dst_port"), 0);
}

#[test]
fn arp_goes_to_the_cpu_and_other_frames_are_bridged() {
    let mut device = Device::new();
    let request = arp::Packet {
        operation: arp::REQUEST,
        sender_mac: SENDER,
        sender_ip: [10, 0, 0, 7].into(),
        target_mac: MacAddr::default(),
        target_ip: [10, 0, 0, 1].into(),
    };
    let sent = frame(FrameBuilder::new(MacAddr::BROADCAST, SENDER).arp(request), 60);
    assert_eq!(device.send(0, &sent), Fate::Cpu(sent.clone()));
    for (to, port) in [(neighbor(30), 30), (neighbor(29), 31), (MacAddr::BROADCAST, 31)] {
        let sent = frame(FrameBuilder::new(to, SENDER).ethertype(0x88cc), 80);
        assert_eq!(device.send(0, &sent), Fate::Out(port, sent.clone()));
    }
}

#[test]
fn any_destination_mac_is_routed() {
    let mut device = Device::new();
    for to in [ROUTER, neighbor(30), MacAddr::BROADCAST] {
        let sent = frame(FrameBuilder::new(to, SENDER).ipv4(ip4([10, 0, 0, 1], HOST)).udp(ports(1, 2)), 100);
        assert_eq!(device.send(0, &sent).port(), 20);
    }
}

#[test]
fn only_whole_datagrams_show_their_ports() {
    let mut device = Device::new();
    let mut seen = |ip: ipv4::Header| {
        device.send(0, &frame(inbound().ipv4(ip).udp(ports(7, 9)), 100));
        (device.field("m.src_port"), device.field("m.dst_port"))
    };
    let whole = ip4([10, 0, 0, 1], HOST);
    assert_eq!(seen(whole), (7, 9));
    assert_eq!(seen(ipv4::Header { dont_fragment: false, ..whole }), (7, 9));
    assert_eq!(seen(ipv4::Header { dont_fragment: false, more_fragments: true, ..whole }), (0, 0));
    assert_eq!(seen(ipv4::Header { dont_fragment: false, fragment_offset: 1, ..whole }), (0, 0));
    assert_eq!(seen(ipv4::Header { fragment_offset: 0x1000, ..whole }), (0, 0));
    let ping = inbound().ipv4(whole).icmp(icmp::Header { kind: 8, code: 0, ..icmp::Header::default() });
    assert_eq!(device.send(0, &frame(ping, 100)).port(), 20);
    assert_eq!(device.field("m.src_port"), 0);
}

#[test]
fn routes_can_punt_drop_and_lead_nowhere() {
    let mut device = Device::new();
    let table = device.program.table_named("ipv4_route").unwrap();
    let mut route = |last: u8, action: &str, args: &[u128]| {
        let action = device.program.action_named(action).unwrap();
        let value = 0x0b00_0000 | u128::from(last);
        let key = vec![KeyValue::Exact(0), KeyValue::Lpm { value, len: 32 }];
        let then = Then::Call(ActionCall { action, args: args.to_vec() });
        device.apply(ControlOp::InsertEntry { table, key, priority: 0, then });
        device.send(0, &frame(inbound().ipv4(ip4([10, 0, 0, 1], [11, 0, 0, last])).udp(ports(1, 2)), 100))
    };
    let sent = frame(inbound().ipv4(ip4([10, 0, 0, 1], [11, 0, 0, 1])).udp(ports(1, 2)), 100);
    assert_eq!(route(1, "ipv4_route_punt", &[]), Fate::Cpu(sent));
    assert_eq!(route(2, "ipv4_no_route", &[]), Fate::Dropped("no_route".to_owned()));
    assert_eq!(route(3, "ipv4_set_nexthop", &[999]), Fate::Dropped("no_neighbor".to_owned()));
    // A group that does not exist: its lookup misses, so there is no next hop.
    assert_eq!(route(4, "ipv4_set_group", &[999]), Fate::Dropped("no_neighbor".to_owned()));
}

#[test]
fn another_routing_table_has_other_routes() {
    let mut device = Device::new();
    let program = device.program.clone();
    let call = |name: &str, args: &[u128]| {
        Then::Call(ActionCall { action: program.action_named(name).unwrap(), args: args.to_vec() })
    };
    let entry = |table: &str, key: Vec<KeyValue>, then: Then| ControlOp::InsertEntry {
        table: program.table_named(table).unwrap(),
        key,
        priority: 0,
        then,
    };
    let sent = frame(inbound().ipv4(ip4([10, 0, 0, 1], [10, 9, 9, 9])).udp(ports(1, 2)), 100);
    let dev_port = u128::from(device.ports.front_ports()[6].dev_port.number());
    device.apply(entry("port_vlan", vec![KeyValue::Exact(dev_port)], call("set_vid", &[200])));
    device.apply(entry("vlan", vec![KeyValue::Exact(200)], call("set_vrf", &[7])));
    assert_eq!(device.send(6, &sent), Fate::Dropped("no_route".to_owned()));
    assert_eq!(device.send(5, &sent).port(), 20);
    let key = vec![KeyValue::Exact(7), KeyValue::Lpm { value: 0, len: 0 }];
    device.apply(entry("ipv4_route", key, call("ipv4_set_nexthop", &[9])));
    assert_eq!(device.send(6, &sent).port(), 8);
}
