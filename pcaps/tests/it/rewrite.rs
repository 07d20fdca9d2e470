//! Addresses that change from turn to turn; an independent parser checks the checksums.

use etherparse::{NetSlice, PacketBuilder, SlicedPacket, TransportSlice, VlanId};
use proptest::prelude::*;
use sluice_pcaps::replay::Rewrite;
use sluice_pcaps::wire::{FrameBuilder, MacAddr, ipv4, ipv6, roce, udp};
use std::net::{Ipv4Addr, Ipv6Addr};

/// Returns source and destination; all checksums of the frame must be correct.
fn sound(frame: &[u8]) -> (u128, u128) {
    let sliced = SlicedPacket::from_ethernet(frame).unwrap();
    match (sliced.net.unwrap(), sliced.transport) {
        (NetSlice::Ipv4(ip), transport) => {
            let header = ip.header().to_header();
            assert_eq!(header.header_checksum, header.calc_header_checksum());
            match transport {
                Some(TransportSlice::Udp(udp)) => {
                    let sum = udp.to_header().calc_checksum_ipv4(&header, udp.payload()).unwrap();
                    assert_eq!(udp.checksum(), sum);
                }
                Some(TransportSlice::Tcp(tcp)) => {
                    let sum = tcp.to_header().calc_checksum_ipv4(&header, tcp.payload()).unwrap();
                    assert_eq!(tcp.checksum(), sum);
                }
                _ => {}
            }
            let number = |address| u128::from(u32::from_be_bytes(address));
            (number(header.source), number(header.destination))
        }
        (NetSlice::Ipv6(ip), transport) => {
            let header = ip.header().to_header();
            match transport.unwrap() {
                TransportSlice::Udp(udp) => {
                    let sum = udp.to_header().calc_checksum_ipv6(&header, udp.payload()).unwrap();
                    assert_eq!(udp.checksum(), sum);
                }
                TransportSlice::Icmpv6(icmp) => {
                    let sum =
                        icmp.icmp_type().calc_checksum(header.source, header.destination, icmp.payload());
                    assert_eq!(icmp.checksum(), sum.unwrap());
                }
                other => panic!("{other:?}"),
            }
            (u128::from_be_bytes(header.source), u128::from_be_bytes(header.destination))
        }
        (net, _) => panic!("{net:?}"),
    }
}

fn udp4(source: u32, destination: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    PacketBuilder::ethernet2([2; 6], [4; 6])
        .ipv4(source.to_be_bytes(), destination.to_be_bytes(), 9)
        .udp(1000, 2000)
        .write(&mut frame, payload)
        .unwrap();
    frame
}

proptest! {
    #[test]
    fn sums_stay_right_and_addresses_move(
        source in 0x0100_0000u32..0xd000_0000,
        destination in 0x0100_0000u32..0xd000_0000,
        turn in 1u32..1 << 24,
        payload in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        let original = udp4(source, destination, &payload);
        for rewrite in [Rewrite::Source, Rewrite::Destination, Rewrite::Both] {
            let mut frame = original.clone();
            rewrite.apply(&mut frame, turn);
            let (s, d) = (u128::from(source), u128::from(destination));
            let up = |a: u32| u128::from(a.wrapping_add(turn));
            let down = |a: u32| u128::from(a.wrapping_sub(turn));
            let expected = match rewrite {
                Rewrite::Source => (up(source), d),
                Rewrite::Destination => (s, up(destination)),
                Rewrite::Both if source < destination => (up(source), down(destination)),
                Rewrite::Both => (down(source), up(destination)),
            };
            prop_assert_eq!(sound(&frame), expected);
        }
    }

    #[test]
    fn both_directions_stay_one_flow(a in 0x0100_0000u32..0xd000_0000, b: u32, turn in 0u32..1000) {
        let b = b % 0xc000_0000 + 0x0100_0000;
        prop_assume!(a != b);
        let (mut there, mut back) = (udp4(a, b, b"x"), udp4(b, a, b"x"));
        Rewrite::Both.apply(&mut there, turn);
        Rewrite::Both.apply(&mut back, turn);
        let ((s, d), (t, e)) = (sound(&there), sound(&back));
        prop_assert_eq!((s, d), (e, t));
    }
}

#[test]
fn tcp_behind_two_tags() {
    let mut frame = Vec::new();
    PacketBuilder::ethernet2([2; 6], [4; 6])
        .double_vlan(VlanId::try_new(7).unwrap(), VlanId::try_new(8).unwrap())
        .ipv4([10, 0, 0, 255], [10, 0, 1, 1], 9)
        .tcp(1, 2, 3, 4)
        .write(&mut frame, b"hello")
        .unwrap();
    Rewrite::Both.apply(&mut frame, 1);
    let number = |a: [u8; 4]| u128::from(u32::from(Ipv4Addr::from(a)));
    assert_eq!(sound(&frame), (number([10, 0, 1, 0]), number([10, 0, 1, 0])));
}

#[test]
fn the_last_bits_of_ipv6_move() {
    let (source, destination): (Ipv6Addr, Ipv6Addr) =
        ("2001:db8::1".parse().unwrap(), "2001:db8:1::ffff:fffe".parse().unwrap());
    let builder = || PacketBuilder::ethernet2([2; 6], [4; 6]).ipv6(source.octets(), destination.octets(), 9);
    let (mut udp, mut icmp) = (Vec::new(), Vec::new());
    builder().udp(1, 2).write(&mut udp, b"abc").unwrap();
    builder().icmpv6_echo_request(1, 2).write(&mut icmp, b"abc").unwrap();
    for mut frame in [udp, icmp] {
        Rewrite::Destination.apply(&mut frame, 4);
        let expected: Ipv6Addr = "2001:db8:1::2".parse().unwrap();
        assert_eq!(sound(&frame), (u128::from(source), u128::from(expected)));
    }
}

#[test]
fn what_has_no_owner_stays() {
    for (source, destination) in [(0, 0xffff_ffff), (0, 0xe000_0001)] {
        let original = udp4(source, destination, b"dhcp");
        let mut frame = original.clone();
        Rewrite::Both.apply(&mut frame, 5);
        assert_eq!(frame, original);
    }
}

#[test]
fn an_absent_udp_sum_stays_absent() {
    let mut frame = udp4(0x0a00_0001, 0x0a00_0002, b"abcd");
    frame[40..42].fill(0);
    Rewrite::Source.apply(&mut frame, 9);
    assert_eq!(frame[40..42], [0, 0]);
    assert_eq!(frame[26..30], [10, 0, 0, 10]);
}

#[test]
fn cut_frames_change_as_far_as_they_go() {
    let whole = udp4(0x0a00_0001, 0x0a00_0002, b"abcd");
    for len in 0..whole.len() {
        let mut frame = whole[..len].to_vec();
        Rewrite::Source.apply(&mut frame, 1);
        assert_eq!(frame != whole[..len], len >= 34, "{len}");
    }
}

/// Returns the invariant CRC of a frame without tags, as stored and as computed.
fn icrc(frame: &[u8]) -> (u32, u32) {
    let (covered, stored) = frame.split_last_chunk::<4>().unwrap();
    (u32::from_le_bytes(*stored), roce::icrc(&covered[14..]).unwrap())
}

#[test]
fn the_invariant_crc_of_rocev2_stays_right_or_wrong() {
    let headers = roce::Headers::cnp(0x123);
    let (src, dst): (Ipv6Addr, Ipv6Addr) = ("2001:db8::1".parse().unwrap(), "2001:db8::2".parse().unwrap());
    for v6 in [false, true] {
        let mut builder = FrameBuilder::new(MacAddr([2; 6]), MacAddr([4; 6]));
        builder = match v6 {
            false => builder.ipv4(ipv4::Header::new([10, 0, 0, 1].into(), [10, 0, 1, 1].into())),
            true => builder.ipv6(ipv6::Header::new(src, dst)),
        };
        let mut original = Vec::new();
        builder.roce(udp::Header::new(700, roce::PORT), headers).build_len(80, &mut original).unwrap();
        assert_eq!(icrc(&original).0, icrc(&original).1);
        let mut moved = original.clone();
        Rewrite::Both.apply(&mut moved, 9);
        let (found, right) = icrc(&moved);
        assert_eq!(found, right, "IPv6 {v6}");
        assert_ne!(found, icrc(&original).0);
        if v6 {
            // The datagram's checksum covers the CRC.
            sound(&moved);
        }
        let mut wrong = original.clone();
        *wrong.last_mut().unwrap() ^= 1;
        let stored = icrc(&wrong).0;
        Rewrite::Both.apply(&mut wrong, 9);
        assert_eq!(icrc(&wrong).0, stored, "a wrong one stays as it is");
    }
}
