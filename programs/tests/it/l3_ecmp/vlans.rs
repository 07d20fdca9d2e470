//! 802.1Q tags: removed at ingress, added at egress if the port sends the VLAN tagged.

use crate::l3_ecmp::device::{Device, Fate, SENDER, frame, inbound, ip4, neighbor, outbound, ports};
use sluice_pcaps::wire::{FrameBuilder, ipv4, vlan};

fn tag(vid: u16) -> vlan::Tag {
    vlan::Tag { pcp: 5, dei: true, vid, ethertype: 0 }
}

#[test]
fn the_tag_is_removed_where_the_port_wants_none() {
    let mut device = Device::new();
    let ip = ip4([10, 0, 0, 1], [10, 9, 9, 9]);
    let sent = frame(inbound().vlan(tag(100)).ipv4(ip).udp(ports(1, 2)), 204);
    let wanted = frame(outbound(20).ipv4(ipv4::Header { ttl: 63, ..ip }).udp(ports(1, 2)), 200);
    assert_eq!(device.send(0, &sent), Fate::Out(20, wanted));
    assert_eq!(device.field("m.vid"), 100);
}

/// Returns a destination over the uplinks whose flow takes an uplink that `wanted` accepts.
fn uplink(device: &mut Device, wanted: impl Fn(u16) -> bool) -> (u16, ipv4::Header) {
    let flows = (1..=255).map(|last| ip4([10, 0, 0, 1], [10, 1, 0, last]));
    let mut routed = flows.map(|ip| {
        let sent = frame(inbound().ipv4(ip).udp(ports(1, 2)), 100);
        (device.send(0, &sent).port(), ip)
    });
    routed.find(|(port, _)| wanted(*port)).unwrap()
}

#[test]
fn uplinks_in_vlan_100_send_it_tagged_with_the_priority_that_came_in() {
    let mut device = Device::new();
    let (port, ip) = uplink(&mut device, |port| port >= 12);
    let out = ipv4::Header { ttl: 63, ..ip };
    let untagged = frame(inbound().ipv4(ip).udp(ports(1, 2)), 100);
    let none = vlan::Tag { vid: 100, ..vlan::Tag::default() };
    let wanted = frame(outbound(port).vlan(none).ipv4(out).udp(ports(1, 2)), 104);
    assert_eq!(device.send(0, &untagged), Fate::Out(port, wanted));
    let sent = frame(inbound().vlan(tag(7)).ipv4(ip).udp(ports(1, 2)), 104);
    let wanted = frame(outbound(port).vlan(tag(100)).ipv4(out).udp(ports(1, 2)), 104);
    assert_eq!(device.send(0, &sent), Fate::Out(port, wanted));
    // The other uplinks are in VLAN 1, untagged.
    let (port, ip) = uplink(&mut device, |port| port < 12);
    let out = frame(outbound(port).ipv4(ipv4::Header { ttl: 63, ..ip }).udp(ports(1, 2)), 100);
    let sent = frame(inbound().ipv4(ip).udp(ports(1, 2)), 100);
    assert_eq!(device.send(0, &sent), Fate::Out(port, out));
}

#[test]
fn a_priority_tag_counts_as_no_tag() {
    let mut device = Device::new();
    let sent = frame(inbound().vlan(tag(0)).ipv4(ip4([10, 0, 0, 1], [10, 9, 9, 9])).udp(ports(1, 2)), 104);
    assert_eq!(device.send(0, &sent).port(), 20);
    assert_eq!(device.field("m.vid"), 1);
}

#[test]
fn bridging_stays_in_its_vlan() {
    let mut device = Device::new();
    let bridged = FrameBuilder::new(neighbor(30), SENDER).ethertype(0x88cc);
    assert_eq!(device.send(0, &frame(bridged, 100)).port(), 30);
    // In VLAN 100 the address is unknown; port 31 sends frames untagged.
    let sent = frame(bridged.vlan(tag(100)), 104);
    assert_eq!(device.send(0, &sent), Fate::Out(31, frame(bridged, 100)));
    // The CPU's port sends VLAN 100 tagged, so the tag is kept.
    let expiring = ipv4::Header { ttl: 1, ..ip4([10, 0, 0, 1], [10, 9, 9, 9]) };
    let sent = frame(inbound().vlan(tag(100)).ipv4(expiring).udp(ports(1, 2)), 104);
    assert_eq!(device.send(0, &sent), Fate::Cpu(sent.clone()));
}

#[test]
fn an_inner_tag_is_payload() {
    let mut device = Device::new();
    let mut sent = frame(FrameBuilder::new(neighbor(30), SENDER).vlan(tag(1)).ethertype(0x8100), 100);
    let inner = sent.split_off(18);
    let Fate::Out(30, bytes) = device.send(0, &[sent.clone(), inner.clone()].concat()) else {
        panic!("not bridged")
    };
    assert_eq!(bytes, [&sent[..12], &[0x81, 0x00], &inner[..]].concat());
}
