//! The filters.

use crate::l3_ecmp::device::{Device, Fate, frame, inbound, ip4, ip6, ports};
use sluice_control::{ControlOp, Then};
use sluice_ir::{ActionCall, KeyValue};
use sluice_pcaps::wire::{ipv4, tcp};

const ANY: KeyValue = KeyValue::Ternary { value: 0, mask: 0 };

fn denied() -> Fate {
    Fate::Dropped("acl_deny".to_owned())
}

#[test]
fn telnet_and_documentation_addresses_are_denied() {
    let mut device = Device::new();
    let ip = ip4([10, 0, 0, 1], [10, 9, 9, 9]);
    assert_eq!(device.send(0, &frame(inbound().ipv4(ip).tcp(tcp::Header::new(9, 23)), 100)), denied());
    assert_eq!(device.send(0, &frame(inbound().ipv4(ip).udp(ports(9, 23)), 80)), denied());
    let documentation = ip4([192, 0, 2, 77], [10, 9, 9, 9]);
    assert_eq!(device.send(0, &frame(inbound().ipv4(documentation).udp(ports(9, 9)), 100)), denied());
    let ip = ip6("2001:db8::1", "2001:db8:1::1");
    assert_eq!(device.send(0, &frame(inbound().ipv6(ip).tcp(tcp::Header::new(9, 23)), 100)), denied());
    assert_eq!(device.count("ipv4_acl_hits", 0), (1, 100));
    assert_eq!(device.count("ipv4_acl_hits", 1), (1, 80));
    assert_eq!(device.count("ipv4_acl_hits", 2), (1, 100));
    assert_eq!(device.count("ipv6_acl_hits", 0), (1, 100));

    for passing in [ip4([192, 0, 3, 77], [10, 9, 9, 9]), ip4([10, 0, 0, 1], [10, 9, 9, 9])] {
        assert_eq!(device.send(0, &frame(inbound().ipv4(passing).udp(ports(23, 9)), 100)).port(), 20);
    }
}

#[test]
fn a_denied_packet_is_denied_even_at_the_end_of_its_life() {
    let mut device = Device::new();
    let ip = ipv4::Header { ttl: 1, ..ip4([192, 0, 2, 1], [10, 9, 9, 9]) };
    assert_eq!(device.send(0, &frame(inbound().ipv4(ip).udp(ports(9, 9)), 100)), denied());
}

#[test]
fn the_first_rule_by_priority_decides() {
    let mut device = Device::new();
    let sent = frame(inbound().ipv4(ip4([192, 0, 2, 1], [10, 9, 9, 9])).udp(ports(9, 9)), 100);
    let mut rule = |priority: u32, action: &str| {
        let source = KeyValue::Ternary { value: 0xc000_0201, mask: 0xffff_ffff };
        let action = device.program.action_named(action).unwrap();
        device.apply(ControlOp::InsertEntry {
            table: device.program.table_named("ipv4_acl").unwrap(),
            key: vec![source, ANY, ANY, ANY, ANY],
            priority,
            then: Then::Call(ActionCall { action, args: Vec::new() }),
        });
        device.send(0, &sent)
    };
    assert_eq!(rule(30, "ipv4_acl_permit"), denied(), "20 stands before 30");
    assert_eq!(rule(5, "ipv4_acl_permit").port(), 20);
    assert_eq!(rule(4, "ipv4_acl_punt"), Fate::Cpu(sent.clone()));
}
