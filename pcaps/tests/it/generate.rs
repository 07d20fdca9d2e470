//! Checks generated traffic with an independent parser: all frames of all kinds are whole, all checksums are correct,
//! and the same seed gives the same bytes.

use std::collections::BTreeSet;

use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use proptest::prelude::*;
use sluice_pcaps::capture::CaptureTime;
use sluice_pcaps::generate::{
    ArpKind, Arrivals, Envelope, FrameList, FrameSource, Incast, Kind, Overlay, Pace, Periods, RoceMessages,
    RoceOperation, Sizes, Traffic, Tuples,
};
use sluice_pcaps::wire::roce::{self, opcode};
use sluice_pcaps::wire::{MacAddr, vlan, vxlan};

const START: CaptureTime = CaptureTime::from_secs(1_700_000_000);

fn traffic(kind: Kind) -> Traffic {
    Traffic {
        packets: 200,
        flows: 20,
        kind,
        sizes: Sizes::Range(60..=1500),
        arrivals: Arrivals::Constant(Pace::BackToBack { bits_per_second: 100_000_000_000 }),
        start: START,
        seed: 1,
        envelope: Envelope::new(MacAddr::from_u64(1), MacAddr::from_u64(2)),
        tuples: Tuples {
            sources: vec!["10.0.0.0/16".parse().unwrap(), "2001:db8::/48".parse().unwrap()],
            destinations: vec!["10.1.0.0/16".parse().unwrap(), "2001:db8:1::/48".parse().unwrap()],
            source_ports: 49_152..=65_535,
            destination_ports: 20_480..=20_543,
            ipv6_percent: 0,
        },
    }
}

fn all(traffic: Traffic) -> Vec<(CaptureTime, Vec<u8>)> {
    let mut frames = traffic.frames().unwrap();
    std::iter::from_fn(|| frames.next_frame().map(|(time, frame)| (time, frame.to_vec()))).collect()
}

/// Content of a frame whose checksums have all been checked.
#[derive(Debug)]
struct Seen {
    v6: bool,
    tags: Vec<u16>,
    dscp_ecn: (u8, u8),
    tuple: (Vec<u8>, Vec<u8>, u16, u16),
    /// TCP's sequence number.
    sequence: Option<u32>,
    payload: Vec<u8>,
}

fn seen(frame: &[u8]) -> Seen {
    let sliced = SlicedPacket::from_ethernet(frame).unwrap();
    let tags = sliced.vlan_ids().iter().map(|id| id.value()).collect();
    let net = sliced.net.as_ref().unwrap();
    let (v6, dscp_ecn, source, destination) = match net {
        NetSlice::Ipv4(ip) => {
            let header = ip.header().to_header();
            assert_eq!(header.header_checksum, header.calc_header_checksum());
            let on_link = frame.len() - 14 - 4 * sliced.link_exts.len();
            assert_eq!(usize::from(header.total_len), on_link, "no padding, nothing cut");
            let class = (header.dscp.value(), header.ecn.value());
            (false, class, header.source.to_vec(), header.destination.to_vec())
        }
        NetSlice::Ipv6(ip) => {
            let header = ip.header().to_header();
            let class = (header.traffic_class >> 2, header.traffic_class & 3);
            (true, class, header.source.to_vec(), header.destination.to_vec())
        }
        NetSlice::Arp(_) => panic!("IP"),
    };
    let (ports, sequence, payload) = match (sliced.transport.unwrap(), net) {
        (TransportSlice::Udp(udp), net) => {
            let header = udp.to_header();
            assert_eq!(usize::from(header.length), 8 + udp.payload().len());
            let right = match net {
                NetSlice::Ipv4(ip) => {
                    header.calc_checksum_ipv4(&ip.header().to_header(), udp.payload()).unwrap()
                }
                NetSlice::Ipv6(ip) => {
                    header.calc_checksum_ipv6(&ip.header().to_header(), udp.payload()).unwrap()
                }
                NetSlice::Arp(_) => panic!("IP"),
            };
            let may_be_absent = [roce::PORT, vxlan::PORT].contains(&header.destination_port) && !v6;
            assert!(header.checksum == right || header.checksum == 0 && may_be_absent);
            ((header.source_port, header.destination_port), None, udp.payload().to_vec())
        }
        (TransportSlice::Tcp(tcp), net) => {
            let header = tcp.to_header();
            let right = match net {
                NetSlice::Ipv4(ip) => tcp.calc_checksum_ipv4(
                    ip.header().source_addr().octets(),
                    ip.header().destination_addr().octets(),
                ),
                NetSlice::Ipv6(ip) => tcp.calc_checksum_ipv6(
                    ip.header().source_addr().octets(),
                    ip.header().destination_addr().octets(),
                ),
                NetSlice::Arp(_) => panic!("IP"),
            };
            assert_eq!(header.checksum, right.unwrap());
            (
                (header.source_port, header.destination_port),
                Some(header.sequence_number),
                tcp.payload().to_vec(),
            )
        }
        other => panic!("{other:?}"),
    };
    Seen { v6, tags, dscp_ecn, tuple: (source, destination, ports.0, ports.1), sequence, payload }
}

/// Checks the invariant CRC over IPv4 or IPv6 of a frame without tags.
fn assert_icrc(frame: &[u8]) {
    let (covered, stored) = frame[14..].split_last_chunk().unwrap();
    assert_eq!(roce::icrc(covered).unwrap().to_le_bytes(), *stored);
}

fn write(mtu: u32, message: u32) -> Kind {
    Kind::Roce(RoceMessages { operation: RoceOperation::Write, mtu, message })
}

fn overlay(v6: bool) -> Kind {
    let [source, destination] = if v6 { ["fd00::1", "fd00::/64"] } else { ["10.255.0.1", "10.1.255.0/24"] };
    Kind::Vxlan(Overlay {
        vni: 5000,
        networks: 3,
        source: source.parse().unwrap(),
        destination: destination.parse().unwrap(),
        inner_macs: [MacAddr::from_u64(3), MacAddr::from_u64(4)],
    })
}

fn kind() -> impl Strategy<Value = Kind> {
    let operation = prop_oneof![
        Just(RoceOperation::Write),
        Just(RoceOperation::Send),
        Just(RoceOperation::Read),
        Just(RoceOperation::Ack)
    ];
    let roce = (operation, prop_oneof![Just(256), Just(1024), Just(4096)], 0u32..10_000)
        .prop_map(|(operation, mtu, message)| Kind::Roce(RoceMessages { operation, mtu, message }));
    prop_oneof![Just(Kind::Udp), Just(Kind::Tcp), roce, Just(Kind::Cnp), any::<bool>().prop_map(overlay)]
}

proptest! {
    #[test]
    fn every_frame_is_right(
        kind in kind(), seed in any::<u64>(), flows in 1u32..40, ipv6_percent in 0u8..=100,
        size in 60u32..400, dscp in 0u8..64, ecn in 0u8..4, tags in 0usize..3,
    ) {
        let base = traffic(kind.clone());
        let tag = |place: usize, vid| (tags >= place).then_some(vlan::Tag { vid, ..vlan::Tag::default() });
        let envelope = Envelope { dscp, ecn, tag: tag(1, 7), service_tag: tag(2, 9), ..base.envelope };
        let tuples = Tuples { ipv6_percent, ..base.tuples.clone() };
        let sizes = Sizes::Range(size..=size + 50);
        let frames = all(Traffic { seed, flows, envelope, tuples, sizes, ..base });
        prop_assert_eq!(frames.len(), 200);
        prop_assert!(frames.is_sorted_by_key(|(time, _)| *time));
        let mut distinct = BTreeSet::new();
        for (_, frame) in &frames {
            let outer = seen(frame);
            prop_assert_eq!(&outer.tags[..], &[9, 7][2 - tags..]);
            prop_assert_eq!(outer.dscp_ecn, (dscp, ecn));
            if let Kind::Vxlan(_) = kind {
                let view = vxlan::View::new(&outer.payload).unwrap();
                prop_assert!((5000..5003).contains(&view.vni()));
                let inner = seen(view.payload());
                prop_assert_eq!(inner.dscp_ecn, (dscp, ecn));
                distinct.insert(inner.tuple);
            } else {
                distinct.insert(outer.tuple);
            }
        }
        prop_assert_eq!(distinct.len(), flows as usize);
    }

    /// Checks RoCEv2 by the standard: the invariant CRC, sequence numbers without gaps, whole messages.
    #[test]
    fn messages_are_whole(mtu in prop_oneof![Just(256u32), Just(512), Just(2048)], message in 1u32..9_000, v6 in any::<bool>()) {
        let base = traffic(write(mtu, message));
        let tuples = Tuples { ipv6_percent: if v6 { 100 } else { 0 }, ..base.tuples.clone() };
        let frames = all(Traffic { flows: 1, tuples, ..base });
        let (mut expected_psn, mut bytes) = (None, 0);
        for (_, frame) in &frames {
            assert_icrc(frame);
            let payload = seen(frame).payload;
            let view = roce::View::new(&payload).unwrap();
            let bth = view.header();
            prop_assert_eq!(bth.psn, expected_psn.unwrap_or(bth.psn));
            expected_psn = Some((bth.psn + 1) & roce::MAX_U24);
            let first = [opcode::RC_WRITE_FIRST, opcode::RC_WRITE_ONLY].contains(&bth.opcode);
            let last = [opcode::RC_WRITE_LAST, opcode::RC_WRITE_ONLY].contains(&bth.opcode);
            prop_assert_eq!(first, bytes == 0);
            let reth = if first { 16 } else { 0 };
            bytes += view.payload().len() - reth - usize::from(bth.pad);
            prop_assert_eq!((last, bth.ack_request), (bytes == message as usize, last));
            if last {
                bytes = 0;
            }
        }
    }

    /// No text makes the readers of files panic.
    #[test]
    fn any_text_is_read_or_refused(text in "(\\[\\[frame\\]\\]\n)?(at|kind|hex|src|vlan)? ?= ?[\"a-f0-9 \\[\\]äö,.-]{0,30}\n?\\PC{0,40}") {
        let envelope = traffic(Kind::Udp).envelope;
        if let Err(error) = FrameList::parse("f", &text, envelope) {
            prop_assert!(error.line <= text.lines().count() + 1, "{error}");
        }
        let defaults = sluice_pcaps::generate::ListDefaults { envelope, pace: Pace::Spacing { ps: 1 }, size: 64 };
        let _ = sluice_pcaps::generate::FlowList::parse("f", &text, defaults);
        let _ = sluice_pcaps::generate::Cdf::parse("f", &text);
        let _ = Sizes::parse(&text);
        let _ = text.parse::<Pace>();
    }
}

#[test]
fn the_seed_decides_every_byte() {
    let arrivals = Arrivals::Poisson(Pace::Packets { per_second: 1_000_000 });
    for kind in [Kind::Udp, Kind::Tcp, Kind::Cnp, write(1024, 5_000), overlay(false)] {
        let of = |seed| all(Traffic { seed, arrivals: arrivals.clone(), ..traffic(kind.clone()) });
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }
}

#[test]
fn sequence_numbers_go_on() {
    let frames = all(Traffic { flows: 3, ..traffic(Kind::Tcp) });
    let mut next = std::collections::BTreeMap::new();
    for (_, frame) in &frames {
        let seen = seen(frame);
        let expected = next.entry(seen.tuple.clone()).or_insert(0);
        assert_eq!(seen.sequence, Some(*expected));
        *expected += seen.payload.len() as u32;
    }
    assert_eq!(next.len(), 3);
}

#[test]
fn flows_come_in_turn_first_and_families_have_their_share() {
    let base = traffic(Kind::Udp);
    let tuples = Tuples { ipv6_percent: 25, ..base.tuples.clone() };
    let frames = all(Traffic { flows: 200, tuples, ..base });
    let v6 = frames.iter().filter(|(_, frame)| seen(frame).v6).count();
    assert_eq!(v6, 50);
}

#[test]
fn arp_of_three_kinds() {
    use sluice_pcaps::wire::{arp, ethernet};
    for (kind, operation, group) in [
        (ArpKind::Request, arp::REQUEST, true),
        (ArpKind::Reply, arp::REPLY, false),
        (ArpKind::Gratuitous, arp::REQUEST, true),
    ] {
        for (_, frame) in all(traffic(Kind::Arp(kind))) {
            let sliced = SlicedPacket::from_ethernet(&frame).unwrap();
            assert!(matches!(sliced.net, Some(NetSlice::Arp(_))));
            assert_eq!(frame.len(), 60);
            let link = ethernet::View::new(&frame).unwrap();
            let packet = arp::View::new(link.payload()).unwrap();
            assert_eq!((packet.operation(), link.destination().is_multicast()), (operation, group));
            assert_eq!(packet.sender_ip() == packet.target_ip(), kind == ArpKind::Gratuitous);
        }
    }
}

#[test]
fn incast_comes_from_all_senders_at_once() {
    let pace = Pace::BackToBack { bits_per_second: 10_000_000_000 };
    let incast = Incast { senders: 20, burst: 5, every: 1_000_000_000, jitter: 0, pace };
    let frames = all(Traffic { arrivals: Arrivals::Incast(incast), ..traffic(Kind::Udp) });
    for burst in [&frames[..100], &frames[100..]] {
        let first: BTreeSet<_> = burst[..20].iter().map(|(time, frame)| (*time, seen(frame).tuple)).collect();
        assert_eq!(first.len(), 20, "every sender begins");
        assert_eq!(first.iter().map(|(time, _)| time).collect::<BTreeSet<_>>().len(), 1, "at one instant");
    }
    assert_eq!(frames[100].0.ps_since(frames[0].0), Some(1_000_000_000));
}

#[test]
fn silences_are_silent() {
    let pace = Pace::Packets { per_second: 1_000_000 };
    let arrivals = Arrivals::OnOff { pace, on: 10_000_000, off: 90_000_000, periods: Periods::Fixed };
    for (time, _) in all(Traffic { arrivals, ..traffic(Kind::Udp) }) {
        assert!(time.ps_since(START).unwrap() % 100_000_000 < 10_000_000);
    }
}

#[test]
fn impossible_traffic_is_refused() {
    let refusal = |traffic: Traffic| traffic.frames().unwrap_err().to_string();
    let base = || traffic(Kind::Udp);
    assert_eq!(refusal(Traffic { flows: 0, ..base() }), "flows: found 0, expected 1 to 16777216");
    assert!(refusal(traffic(write(1000, 1))).starts_with("mtu: found `1000`, expected 256, 512"));
    assert!(refusal(traffic(write(1024, u32::MAX))).starts_with("message: found 4294967295"));
    let envelope = Envelope { dscp: 64, ..base().envelope };
    assert_eq!(refusal(Traffic { envelope, ..base() }), "dscp: found 64, expected 0 to 63");
    let incast = Incast { senders: 3, burst: 1, every: 1, jitter: 0, pace: Pace::Spacing { ps: 1 } };
    let arrivals = Arrivals::Incast(incast);
    assert_eq!(refusal(Traffic { arrivals, ..base() }), "flows: found 20, expected 3 to 3");
    let tuples = Tuples { ipv6_percent: 1, ..base().tuples };
    assert!(
        refusal(Traffic { tuples, ..traffic(Kind::Arp(ArpKind::Request)) })
            .starts_with("ARP supports only IPv4")
    );
    let Kind::Vxlan(overlay) = overlay(false) else { panic!() };
    let mixed = Overlay { source: "::1".parse().unwrap(), ..overlay.clone() };
    assert!(refusal(traffic(Kind::Vxlan(mixed))).starts_with("src and dst: found IPv4 and IPv6"));
    let wide = Overlay { vni: vxlan::MAX_VNI, ..overlay };
    assert_eq!(refusal(traffic(Kind::Vxlan(wide))), "vnis: found 3, expected 1 to 1");
}
