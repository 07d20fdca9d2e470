//! Compares header bytes with etherparse, in both directions.

use std::net::{Ipv4Addr, Ipv6Addr};

use etherparse::{
    ArpOperation, ArpPacket, LinkExtHeader, NetHeaders, PacketBuilder, PacketHeaders, SlicedPacket,
    TcpOptions, TransportHeader, VlanId,
};
use proptest::prelude::*;
use sluice_pcaps::wire::{
    Checksum, FrameBuilder, MacAddr, Payload, arp, ethernet, icmp, ipv4, ipv6, tcp, udp, vlan,
};

fn payload() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..120)
}

prop_compose! {
    fn ipv4_header()(
        (dscp, ecn, identification, dont_fragment) in (0u8..64, 0u8..4, any::<u16>(), any::<bool>()),
        (ttl, source, destination) in (any::<u8>(), any::<[u8; 4]>(), any::<[u8; 4]>()),
    ) -> ipv4::Header {
        let base = ipv4::Header::new(source.into(), destination.into());
        ipv4::Header { dscp, ecn, identification, dont_fragment, ttl, ..base }
    }
}

prop_compose! {
    fn ipv6_header()(
        (dscp, ecn, flow_label) in (0u8..64, 0u8..4, 0..=ipv6::MAX_FLOW_LABEL),
        (hop_limit, source, destination) in (any::<u8>(), any::<[u8; 16]>(), any::<[u8; 16]>()),
    ) -> ipv6::Header {
        let base = ipv6::Header::new(source.into(), destination.into());
        ipv6::Header { dscp, ecn, flow_label, hop_limit, ..base }
    }
}

prop_compose! {
    fn tcp_header()(
        (source_port, destination_port, sequence) in (any::<u16>(), any::<u16>(), any::<u32>()),
        (acknowledgement, flags, window, urgent) in (any::<u32>(), any::<u8>(), any::<u16>(), any::<u16>()),
    ) -> tcp::Header {
        let base = tcp::Header::new(source_port, destination_port);
        tcp::Header { sequence, acknowledgement, flags, window, urgent, ..base }
    }
}

fn build(builder: FrameBuilder, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![0xaa; 3];
    builder.build(Payload::Bytes(payload), &mut frame).unwrap();
    assert_eq!(frame.len(), builder.header_len() + payload.len());
    frame
}

proptest! {
    #[test]
    fn etherparse_reads_our_ipv4(
        macs in any::<([u8; 6], [u8; 6])>(), ip in ipv4_header(), tag in prop::option::of((0u8..8, any::<bool>(), 0u16..4096)),
        ports in any::<(u16, u16)>(), data in payload(),
    ) {
        let mut builder =
            FrameBuilder::new(MacAddr(macs.0), MacAddr(macs.1)).ipv4(ip).udp(udp::Header::new(ports.0, ports.1));
        if let Some((pcp, dei, vid)) = tag {
            builder = builder.vlan(vlan::Tag { pcp, dei, vid, ethertype: 0 });
        }
        let frame = build(builder, &data);
        let read = PacketHeaders::from_ethernet_slice(&frame).unwrap();
        let link = read.link.unwrap().ethernet2().unwrap();
        prop_assert_eq!((link.destination, link.source), macs);
        let read_tag = read.link_exts.first().map(|ext| match ext {
            LinkExtHeader::Vlan(tag) => (tag.pcp.value(), tag.drop_eligible_indicator, tag.vlan_id.value()),
            other => panic!("{other:?}"),
        });
        prop_assert_eq!(read_tag, tag);
        let Some(NetHeaders::Ipv4(header, _)) = read.net else { panic!("IPv4") };
        prop_assert_eq!(header.header_checksum, header.calc_header_checksum());
        prop_assert_eq!((header.dscp.value(), header.ecn.value()), (ip.dscp, ip.ecn));
        prop_assert_eq!((header.identification, header.dont_fragment), (ip.identification, ip.dont_fragment));
        prop_assert_eq!((header.time_to_live, header.protocol.0), (ip.ttl, 17));
        prop_assert_eq!((header.source, header.destination), (ip.source.octets(), ip.destination.octets()));
        prop_assert_eq!(usize::from(header.total_len), 28 + data.len());
        let Some(TransportHeader::Udp(udp)) = read.transport else { panic!("UDP") };
        prop_assert_eq!((udp.source_port, udp.destination_port), ports);
        prop_assert_eq!(usize::from(udp.length), 8 + data.len());
        prop_assert_eq!(udp.checksum, udp.calc_checksum_ipv4(&header, &data).unwrap());
        prop_assert_eq!(read.payload.slice(), &data[..]);
    }

    #[test]
    fn etherparse_reads_our_ipv6(ip in ipv6_header(), tcp in tcp_header(), data in payload()) {
        let frame = build(FrameBuilder::new(MacAddr::default(), MacAddr::default()).ipv6(ip).tcp(tcp), &data);
        let read = PacketHeaders::from_ethernet_slice(&frame).unwrap();
        let Some(NetHeaders::Ipv6(header, _)) = read.net else { panic!("IPv6") };
        prop_assert_eq!((header.traffic_class, header.flow_label.value()), (ip.dscp << 2 | ip.ecn, ip.flow_label));
        prop_assert_eq!((header.hop_limit, header.next_header.0), (ip.hop_limit, 6));
        prop_assert_eq!(usize::from(header.payload_length), 20 + data.len());
        prop_assert_eq!((header.source, header.destination), (ip.source.octets(), ip.destination.octets()));
        let Some(TransportHeader::Tcp(header_tcp)) = read.transport else { panic!("TCP") };
        prop_assert_eq!(header_tcp.checksum, header_tcp.calc_checksum_ipv6(&header, &data).unwrap());
        prop_assert_eq!((header_tcp.source_port, header_tcp.destination_port), (tcp.source_port, tcp.destination_port));
        prop_assert_eq!((header_tcp.sequence_number, header_tcp.acknowledgment_number), (tcp.sequence, tcp.acknowledgement));
        prop_assert_eq!((header_tcp.window_size, header_tcp.urgent_pointer), (tcp.window, tcp.urgent));
        let flags = [header_tcp.fin, header_tcp.syn, header_tcp.rst, header_tcp.psh, header_tcp.ack];
        prop_assert_eq!(flags, [tcp::FIN, tcp::SYN, tcp::RST, tcp::PSH, tcp::ACK].map(|flag| tcp.flags & flag != 0));
        prop_assert_eq!(read.payload.slice(), &data[..]);
    }

    #[test]
    fn etherparse_accepts_our_icmp(v4 in ipv4_header(), v6 in ipv6_header(), rest in any::<[u8; 4]>(), data in payload()) {
        let link = FrameBuilder::new(MacAddr::default(), MacAddr::default());
        let echo = |kind| icmp::Header { kind, rest, ..icmp::Header::default() };
        let frame = build(link.ipv4(v4).icmp(echo(icmp::ECHO_REQUEST)), &data);
        let ip = ipv4::View::new(ethernet::View::new(&frame).unwrap().payload()).unwrap();
        prop_assert_eq!(Checksum::new().with(ip.payload()).finish(), 0);
        let frame = build(link.ipv6(v6).icmp(echo(icmp::V6_ECHO_REQUEST)), &data);
        let read = SlicedPacket::from_ethernet(&frame).unwrap();
        let Some(etherparse::TransportSlice::Icmpv6(message)) = read.transport else { panic!("ICMPv6") };
        prop_assert!(message.is_checksum_valid(v6.source.octets(), v6.destination.octets()));
        prop_assert_eq!(message.payload(), &data[..]);
    }

    #[test]
    fn we_read_and_rebuild_etherparse_udp(
        macs in any::<([u8; 6], [u8; 6])>(), ips in any::<([u8; 4], [u8; 4])>(), ttl in any::<u8>(), vid in 0u16..4096,
        ports in any::<(u16, u16)>(), data in payload(),
    ) {
        let mut frame = Vec::new();
        PacketBuilder::ethernet2(macs.0, macs.1)
            .single_vlan(VlanId::try_new(vid).unwrap())
            .ipv4(ips.0, ips.1, ttl)
            .udp(ports.0, ports.1)
            .write(&mut frame, &data)
            .unwrap();
        let link = ethernet::View::new(&frame).unwrap();
        prop_assert_eq!((link.source().0, link.destination().0), macs);
        prop_assert_eq!(link.ethertype(), ethernet::TYPE_VLAN);
        let tag = vlan::View::new(link.payload()).unwrap();
        prop_assert_eq!((tag.vid(), tag.ethertype()), (vid, ethernet::TYPE_IPV4));
        let ip = ipv4::View::new(tag.payload()).unwrap();
        prop_assert!(ip.checksum_ok());
        prop_assert_eq!((ip.source().octets(), ip.destination().octets()), ips);
        let udp = udp::View::new(ip.payload()).unwrap();
        prop_assert_eq!((udp.source_port(), udp.destination_port()), ports);
        prop_assert_eq!(udp.payload(), &data[..]);
        let again = FrameBuilder::new(link.destination(), link.source())
            .vlan(tag.tag()).ipv4(ip.header()).udp(udp.header());
        prop_assert_eq!(build(again, &data), frame);
    }

    #[test]
    fn we_read_and_rebuild_etherparse_tcp(
        ips in any::<([u8; 16], [u8; 16])>(), hops in any::<u8>(), ports in any::<(u16, u16)>(),
        sequence in any::<u32>(), window in any::<u16>(), data in payload(),
    ) {
        let mut frame = Vec::new();
        PacketBuilder::ethernet2([1; 6], [2; 6])
            .ipv6(ips.0, ips.1, hops)
            .tcp(ports.0, ports.1, sequence, window)
            .psh()
            .ack(7)
            .write(&mut frame, &data)
            .unwrap();
        let link = ethernet::View::new(&frame).unwrap();
        let ip = ipv6::View::new(link.payload()).unwrap();
        prop_assert_eq!((ip.source().octets(), ip.destination().octets(), ip.hop_limit()), (ips.0, ips.1, hops));
        let tcp = tcp::View::new(ip.payload()).unwrap();
        prop_assert_eq!((tcp.sequence(), tcp.window(), tcp.flags()), (sequence, window, tcp::PSH | tcp::ACK));
        prop_assert_eq!((tcp.acknowledgement(), tcp.payload()), (7, &data[..]));
        let again = FrameBuilder::new(link.destination(), link.source()).ipv6(ip.header()).tcp(tcp.header());
        prop_assert_eq!(build(again, &data), frame);
    }

    #[test]
    fn views_of_any_bytes_do_not_panic(bytes in payload()) {
        if let Ok(view) = ethernet::View::new(&bytes) {
            prop_assert_eq!(&view.header().to_bytes()[..], &bytes[..14]);
        }
        if let Ok(view) = vlan::View::new(&bytes) {
            prop_assert_eq!(&view.tag().to_bytes()[..], &bytes[..4]);
        }
        if let Ok(view) = ipv6::View::new(&bytes) {
            prop_assert_eq!(&view.header().to_bytes()[..], &bytes[..40]);
            let _ = view.payload();
        }
        if let Ok(view) = udp::View::new(&bytes) {
            prop_assert_eq!(&view.header().to_bytes()[..], &bytes[..8]);
            let _ = view.payload();
        }
        if let Ok(view) = icmp::View::new(&bytes) {
            prop_assert_eq!(&view.header().to_bytes()[..], &bytes[..8]);
        }
        let _ = ipv4::View::new(&bytes).map(|view| (view.header(), view.payload().len(), view.checksum_ok()));
        let _ = tcp::View::new(&bytes).map(|view| (view.header(), view.options().len(), view.payload().len()));
        let _ = arp::View::new(&bytes).map(|view| view.packet());
    }
}

#[test]
fn tcp_options_are_no_payload() {
    let mut frame = Vec::new();
    PacketBuilder::ethernet2([1; 6], [2; 6])
        .ipv4([1; 4], [2; 4], 9)
        .tcp(1, 2, 3, 4)
        .options_raw(TcpOptions::try_from_slice(&[1; 8]).unwrap().as_slice())
        .unwrap()
        .write(&mut frame, b"data")
        .unwrap();
    let ip = ipv4::View::new(ethernet::View::new(&frame).unwrap().payload()).unwrap();
    let tcp = tcp::View::new(ip.payload()).unwrap();
    assert_eq!((tcp.options(), tcp.payload()), (&[1; 8][..], &b"data"[..]));
}

#[test]
fn arp_in_both_directions() {
    let packet = arp::Packet {
        operation: arp::REPLY,
        sender_mac: MacAddr([1; 6]),
        sender_ip: Ipv4Addr::new(10, 0, 0, 1),
        target_mac: MacAddr([2; 6]),
        target_ip: Ipv4Addr::new(10, 0, 0, 2),
    };
    let frame = build(FrameBuilder::new(MacAddr([2; 6]), MacAddr([1; 6])).arp(packet), &[]);
    let Some(NetHeaders::Arp(read)) = PacketHeaders::from_ethernet_slice(&frame).unwrap().net else {
        panic!("ARP")
    };
    assert_eq!(read.operation, ArpOperation::REPLY);
    assert_eq!((read.sender_hw_addr(), read.target_protocol_addr()), (&[1; 6][..], &[10, 0, 0, 2][..]));
    let mut theirs = Vec::new();
    let their_packet: ArpPacket = read;
    PacketBuilder::ethernet2([1; 6], [2; 6]).arp(their_packet).write(&mut theirs).unwrap();
    assert_eq!(arp::View::new(ethernet::View::new(&theirs).unwrap().payload()).unwrap().packet(), packet);
}

#[test]
fn what_cannot_be_composed_is_refused() {
    let link = FrameBuilder::new(MacAddr::default(), MacAddr::default());
    let ip = ipv4::Header::new(Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST);
    let mut out = Vec::new();
    let long = link.ipv4(ip).build(Payload::Zeros(65_516), &mut out).unwrap_err();
    assert_eq!(
        long.to_string(),
        "IPv4: found a length of 65536 bytes, expected at most 65535; shorten the payload"
    );
    assert!(link.ipv4(ip).build(Payload::Zeros(65_515), &mut out).is_ok());
    let v6 = ipv6::Header::new(Ipv6Addr::LOCALHOST, Ipv6Addr::LOCALHOST);
    assert!(link.ipv6(v6).udp(udp::Header::new(1, 2)).build(Payload::Zeros(65_528), &mut out).is_err());
    assert!(link.ethertype(0x88b5).udp(udp::Header::new(1, 2)).build(Payload::Zeros(0), &mut out).is_err());
    link.ethertype(0x88b5).build(Payload::Bytes(b"raw"), &mut out).unwrap();
    assert_eq!(out[12..], [0x88, 0xb5, b'r', b'a', b'w']);
}

#[test]
fn zeros_count_as_bytes() {
    let ip = ipv4::Header::new(Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
    let builder = FrameBuilder::new(MacAddr([1; 6]), MacAddr([2; 6])).ipv4(ip).udp(udp::Header::new(1, 2));
    let mut zeros = Vec::new();
    builder.build_len(100, &mut zeros).unwrap();
    assert_eq!(zeros, build(builder, &[0; 58]));
    builder.build_len(10, &mut zeros).unwrap();
    assert_eq!(zeros.len(), builder.header_len());
}

/// A checksum of 0 is sent as ffff, because 0 means that there is none.
#[test]
fn no_udp_checksum_is_zero() {
    let ip = ipv4::Header::new(Ipv4Addr::UNSPECIFIED, Ipv4Addr::UNSPECIFIED);
    let builder = FrameBuilder::new(MacAddr([1; 6]), MacAddr([2; 6])).ipv4(ip);
    // Protocol 17, length 8 twice, and ports that make the sum ffff.
    let frame = build(builder.udp(udp::Header::new(0xffff - 17 - 16, 0)), &[]);
    assert_eq!(frame[40..42], [0xff, 0xff]);
}
