//! Packets of the tests, and checksums seen from outside.

use sluice_pcaps::wire::{Checksum, FrameBuilder, MacAddr, Payload, ipv4, ipv6, tcp, udp};
use std::net::{Ipv4Addr, Ipv6Addr};

pub(crate) const NEAR: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 7);
pub(crate) const SLOW: Ipv4Addr = Ipv4Addr::new(10, 9, 9, 9);

pub(crate) fn builder() -> FrameBuilder {
    FrameBuilder::new(MacAddr::from_u64(0x02_00_00_00_00_01), MacAddr::from_u64(0x02_00_00_00_01_00))
}

pub(crate) fn frame(builder: &FrameBuilder, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    builder.build(Payload::Bytes(payload), &mut bytes).unwrap();
    bytes
}

pub(crate) fn ip(to: Ipv4Addr) -> ipv4::Header {
    ipv4::Header::new([10, 0, 0, 1].into(), to)
}

pub(crate) fn udp4(to: Ipv4Addr, port: u16, payload: &[u8]) -> Vec<u8> {
    frame(&builder().ipv4(ip(to)).udp(udp::Header::new(7_000, port)), payload)
}

pub(crate) fn tcp4(to: Ipv4Addr, payload: &[u8]) -> Vec<u8> {
    frame(&builder().ipv4(ip(to)).tcp(tcp::Header::new(7_000, 80)), payload)
}

fn ip6() -> ipv6::Header {
    let at = |net: u16, host: u16| Ipv6Addr::new(0x2001, 0xdb8, net, 0, 0, 0, 0, host);
    ipv6::Header::new(at(0, 1), at(1, 7))
}

pub(crate) fn udp6(payload: &[u8]) -> Vec<u8> {
    frame(&builder().ipv6(ip6()).udp(udp::Header::new(7_000, 9_000)), payload)
}

pub(crate) fn tcp6(payload: &[u8]) -> Vec<u8> {
    frame(&builder().ipv6(ip6()).tcp(tcp::Header::new(7_000, 80)), payload)
}

/// The frame with another UDP checksum.
pub(crate) fn with_udp_checksum(mut frame: Vec<u8>, checksum: u16) -> Vec<u8> {
    frame[40..42].copy_from_slice(&checksum.to_be_bytes());
    frame
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// Lengths and checksums of an IP packet with TCP or UDP are right.
pub(crate) fn assert_well_formed(frame: &[u8]) {
    let (sum, l4, protocol) = match u16_at(frame, 12) {
        0x0800 => {
            let ip = ipv4::View::new(&frame[14..]).unwrap();
            assert!(ip.checksum_ok(), "IPv4 checksum");
            let len = ip.total_len() - 20;
            let sum = Checksum::pseudo_ipv4(ip.source(), ip.destination(), ip.protocol(), len);
            (sum, &frame[34..34 + usize::from(len)], ip.protocol())
        }
        0x86dd => {
            let ip = ipv6::View::new(&frame[14..]).unwrap();
            let len = ip.payload_len();
            let sum = Checksum::pseudo_ipv6(ip.source(), ip.destination(), ip.next_header(), len.into());
            (sum, &frame[54..54 + usize::from(len)], ip.next_header())
        }
        other => panic!("EtherType {other:#06x}"),
    };
    if protocol == 17 {
        assert_eq!(usize::from(u16_at(l4, 4)), l4.len(), "UDP length");
        if u16_at(l4, 6) == 0 {
            return;
        }
    }
    assert_eq!(sum.with(l4).finish(), 0, "checksum of protocol {protocol}");
}
