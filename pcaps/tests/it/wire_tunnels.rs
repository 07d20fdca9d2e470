//! Compares two tags, VXLAN and RoCEv2 with etherparse and with plain recomputation.

use etherparse::{LinkExtSlice, NetSlice, SlicedPacket, TransportSlice};
use proptest::prelude::*;
use sluice_pcaps::wire::roce::{self, Bth, Extension, Headers, opcode};
use sluice_pcaps::wire::{FrameBuilder, MacAddr, Payload, ethernet, ipv4, ipv6, udp, vlan, vxlan};

/// Returns the UDP payload of a frame over either IP version; its checksum must be correct or, over IPv4, absent.
fn datagram(frame: &[u8]) -> (u16, Vec<u8>) {
    let sliced = SlicedPacket::from_ethernet(frame).unwrap();
    let Some(TransportSlice::Udp(udp)) = sliced.transport else { panic!("UDP") };
    let header = udp.to_header();
    match sliced.net.unwrap() {
        NetSlice::Ipv4(ip) => {
            let ip = ip.header();
            assert_eq!(ip.header_checksum(), ip.to_header().calc_header_checksum());
            if header.checksum != 0 {
                let sum = header.calc_checksum_ipv4(&ip.to_header(), udp.payload()).unwrap();
                assert_eq!(header.checksum, sum);
            }
        }
        NetSlice::Ipv6(ip) => {
            let sum = header.calc_checksum_ipv6(&ip.header().to_header(), udp.payload()).unwrap();
            assert_eq!(header.checksum, sum);
        }
        NetSlice::Arp(_) => panic!("IP"),
    }
    (udp.destination_port(), udp.payload().to_vec())
}

fn link() -> FrameBuilder {
    FrameBuilder::new(MacAddr::from_u64(1), MacAddr::from_u64(2))
}

fn over(v6: bool, builder: FrameBuilder, addresses: [u8; 32]) -> FrameBuilder {
    let (a, b) = addresses.split_at(16);
    if v6 {
        let [a, b]: [[u8; 16]; 2] = [a, b].map(|octets| octets.try_into().unwrap());
        return builder.ipv6(ipv6::Header { flow_label: 0x12345, ..ipv6::Header::new(a.into(), b.into()) });
    }
    let [a, b]: [[u8; 4]; 2] = [a, b].map(|octets| octets[..4].try_into().unwrap());
    builder.ipv4(ipv4::Header::new(a.into(), b.into()))
}

/// Computes the invariant CRC by its definition, bit by bit: the reflected CRC-32 over eight bytes of ones and the
/// packet, with ones for the fields that routers change.
fn icrc_by_definition(packet: &[u8]) -> u32 {
    let mut masked = packet.to_vec();
    let bth = if packet[0] >> 4 == 4 {
        for at in [1, 8, 10, 11] {
            masked[at] = 0xff;
        }
        28
    } else {
        masked[0] = 0x6f;
        for at in [1, 2, 3, 7] {
            masked[at] = 0xff;
        }
        48
    };
    for at in [bth - 2, bth - 1, bth + 4] {
        masked[at] = 0xff;
    }
    let mut crc = !0u32;
    for byte in [0xff; 8].into_iter().chain(masked) {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ if crc & 1 != 0 { 0xedb8_8320 } else { 0 };
        }
    }
    !crc
}

fn extension() -> impl Strategy<Value = Extension> {
    prop_oneof![
        Just(Extension::None),
        Just(Extension::Cnp),
        any::<(u64, u32, u32)>().prop_map(|(address, key, length)| Extension::Reth { address, key, length }),
        (any::<u8>(), 0..=roce::MAX_U24).prop_map(|(syndrome, msn)| Extension::Aeth { syndrome, msn }),
    ]
}

prop_compose! {
    fn bth()(
        (opcode, solicited, migrated, version, partition) in any::<(u8, bool, bool, u8, u16)>(),
        (fecn, becn, reserved6, ack_request, reserved7) in any::<(bool, bool, u8, bool, u8)>(),
        (destination_qp, psn) in (0..=roce::MAX_U24, 0..=roce::MAX_U24),
    ) -> Bth {
        Bth {
            opcode, solicited, migrated, pad: 0, version: version & 0xf, partition, fecn, becn,
            reserved6: reserved6 & 0x3f, destination_qp, ack_request, reserved7: reserved7 & 0x7f, psn,
        }
    }
}

proptest! {
    #[test]
    fn roce_is_whole_and_its_crc_right(
        v6 in any::<bool>(), addresses in any::<[u8; 32]>(), bth in bth(), extension in extension(),
        data in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let builder = over(v6, link(), addresses)
            .roce(udp::Header::new(50_000, roce::PORT), Headers { bth, extension });
        let mut frame = Vec::new();
        builder.build(Payload::Bytes(&data), &mut frame).unwrap();
        let (port, payload) = datagram(&frame);
        prop_assert_eq!(port, roce::PORT);
        let view = roce::View::new(&payload).unwrap();
        let pad = (4 - data.len() % 4) % 4;
        prop_assert_eq!(view.header(), Bth { pad: pad as u8, ..bth });
        let (head, rest) = view.payload().split_at(extension.byte_len());
        if let Extension::Aeth { syndrome, msn } = extension {
            prop_assert_eq!(head, &(u32::from(syndrome) << 24 | msn).to_be_bytes()[..]);
        }
        prop_assert_eq!(&rest[..data.len()], &data[..]);
        prop_assert_eq!(&rest[data.len()..], &[0, 0, 0][..pad]);
        prop_assert_eq!(view.icrc(), icrc_by_definition(&frame[14..frame.len() - 4]));

        // Zeros take a faster way to the same bytes.
        let (mut zeros, mut plain) = (Vec::new(), Vec::new());
        builder.build(Payload::Zeros(data.len()), &mut zeros).unwrap();
        builder.build(Payload::Bytes(&vec![0; data.len()]), &mut plain).unwrap();
        prop_assert_eq!(zeros, plain);
    }

    #[test]
    fn a_vxlan_frame_holds_another(
        v6 in any::<bool>(), addresses in any::<[u8; 32]>(), vni in 0..=vxlan::MAX_VNI, len in 42usize..300,
    ) {
        let mut inner = Vec::new();
        over(false, link(), addresses).udp(udp::Header::new(1, 2)).build_len(len, &mut inner).unwrap();
        let mut frame = Vec::new();
        over(v6, link(), addresses)
            .vxlan(udp::Header::new(50_000, vxlan::PORT), vxlan::Header { vni })
            .build(Payload::Bytes(&inner), &mut frame)
            .unwrap();
        let (port, payload) = datagram(&frame);
        prop_assert_eq!(port, vxlan::PORT);
        let view = vxlan::View::new(&payload).unwrap();
        prop_assert_eq!((view.vni(), view.payload()), (vni, &inner[..]));
        prop_assert_eq!(datagram(view.payload()).0, 2);
    }

    #[test]
    fn two_tags(outer in (0u8..8, 0u16..4096), inner in (0u8..8, 0u16..4096), addresses in any::<[u8; 32]>()) {
        let tag = |(pcp, vid)| vlan::Tag { pcp, vid, ..vlan::Tag::default() };
        let builder = over(false, link().service_vlan(tag(outer)).vlan(tag(inner)), addresses);
        let mut frame = Vec::new();
        builder.udp(udp::Header::new(1, 2)).build(Payload::Zeros(9), &mut frame).unwrap();
        prop_assert_eq!(frame.len(), 14 + 8 + 20 + 8 + 9);
        prop_assert_eq!(ethernet::View::new(&frame).unwrap().ethertype(), 0x88a8);
        let sliced = SlicedPacket::from_ethernet(&frame).unwrap();
        let tags: Vec<(u8, u16)> = sliced.link_exts.iter().map(|ext| match ext {
            LinkExtSlice::Vlan(tag) => (tag.priority_code_point().value(), tag.vlan_identifier().value()),
            other => panic!("{other:?}"),
        }).collect();
        prop_assert_eq!(tags, vec![outer, inner]);
        datagram(&frame);
    }
}

#[test]
fn a_length_that_roce_cannot_have_is_rounded_down() {
    let headers = Headers { bth: Bth::new(opcode::RC_SEND_ONLY, 1, 2), extension: Extension::None };
    let builder = over(false, link(), [1; 32]).roce(udp::Header::new(1, roce::PORT), headers);
    for (asked, made) in [(0, 58), (58, 58), (60, 58), (62, 62), (1082, 1082), (1085, 1082)] {
        let mut frame = Vec::new();
        builder.build_len(asked, &mut frame).unwrap();
        assert_eq!(frame.len(), made, "{asked}");
    }
}
