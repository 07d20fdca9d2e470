use super::*;
use crate::{DeviceDrop, Reason};
use sluice_asic::tm::buffer::Rule;
use sluice_control::ControlState;
use sluice_pcaps::wire::{FrameBuilder, MacAddr, Payload, ipv4, udp};
use std::net::Ipv4Addr;

fn datagram(source_port: u16) -> Vec<u8> {
    let mac = MacAddr::from_u64;
    let ip = ipv4::Header::new(Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
    let mut bytes = Vec::new();
    let frame = FrameBuilder::new(mac(1), mac(2)).ipv4(ip).udp(udp::Header::new(source_port, 53));
    assert_eq!(frame.build(Payload::Bytes(&[7; 32]), &mut bytes), Ok(()));
    bytes
}

fn changed(at: usize, to: u8) -> Vec<u8> {
    let mut bytes = datagram(9);
    bytes[at] = to;
    bytes
}

/// Returns a frame whose IPv4 packet ends before the last byte of a UDP header; the byte there is padding.
fn without_ports(protocol: u8) -> Vec<u8> {
    let mut bytes = datagram(9);
    (bytes[16], bytes[17], bytes[23]) = (0, 27, protocol);
    bytes[24..26].fill(0);
    let sum = sluice_pcaps::wire::Checksum::new().with(&bytes[14..34]).finish();
    bytes[24..26].copy_from_slice(&sum.to_be_bytes());
    bytes
}

#[test]
fn lengths_and_checksums_of_a_frame_are_checked() {
    assert_eq!(well_formed(&datagram(9)), Ok(()));
    // Padding after the datagram is well formed, and so are frames that are not IP.
    assert_eq!(well_formed(&[datagram(9), vec![0; 6]].concat()), Ok(()));
    assert_eq!(well_formed(&changed(12, 0x99)), Ok(()));
    for (bytes, text) in [
        (without_ports(17), "UDP: found 7 bytes after the IP header, expected at least 8"),
        (without_ports(6), "TCP: found 7 bytes after the IP header, expected at least 20"),
        (changed(14, 0x35), "IPv4: found version"),
        (changed(22, 9), "IPv4: found header checksum"),
        (changed(39, 200), "UDP: found length 200, expected 8 to 40"),
        (datagram(9)[..50].to_vec(), "IPv4: found total length 60, expected 20 to 36"),
    ] {
        let found = well_formed(&bytes).err().unwrap_or_default();
        assert!(found.starts_with(text), "{found}");
    }
}

#[test]
fn a_flow_is_port_addresses_protocol_and_ports() {
    let of = |port, bytes: &[u8]| FlowKey::of(port, bytes);
    assert_eq!(of(1, &datagram(9)), of(1, &datagram(9)));
    assert_ne!(of(1, &datagram(9)), of(2, &datagram(9)));
    assert_ne!(of(1, &datagram(9)), of(1, &datagram(8)));
    assert_eq!(of(1, &changed(12, 0x99)), None);
    assert_eq!(of(1, &changed(20, 0x20)), None, "a fragment");
}

#[test]
fn a_bad_header_counts_only_if_it_came_in_good() {
    let (good, bad) = (datagram(9), changed(22, 9));
    let origin = |bytes| Some(Origin { port: 1, time: Time::ORIGIN, bytes });
    assert!(WellFormed.left(&Departed::of(&bad, 2, origin(&good))).is_err());
    assert_eq!(WellFormed.left(&Departed::of(&bad, 2, origin(&bad))), Ok(()));
    assert_eq!(WellFormed.left(&Departed::of(&bad, 2, None)), Ok(()));
}

#[test]
fn check_sums_of_segments_are_looked_at() {
    let good = datagram(9);
    assert_eq!(l4_checksum(&good), Some(true));
    // Padding is not part of the datagram; other bytes of it are.
    assert_eq!(l4_checksum(&[good.clone(), vec![1; 6]].concat()), Some(true));
    assert_eq!(l4_checksum(&changed(50, 1)), Some(false));
    let mut none = good.clone();
    none[40..42].fill(0);
    for bytes in [none.clone(), changed(12, 0x99), changed(22, 9), good[..50].to_vec()] {
        assert_eq!(l4_checksum(&bytes), None);
    }
    let left = |new: &[u8], old: &[u8]| {
        L4Checksum.left(&Departed::of(new, 2, Some(Origin { port: 1, time: Time::ORIGIN, bytes: old })))
    };
    assert!(left(&changed(50, 1), &good).is_err());
    assert_eq!(left(&changed(50, 1), &changed(50, 2)), Ok(()));
    assert_eq!(left(&none, &good), Ok(()));
}

#[test]
fn order_is_that_of_arrival_where_senders_let_packets_pass() {
    let bytes = datagram(9);
    let control = ControlState::new(&Program::default());
    let (program, totals) = (Program::default(), Totals::default());
    let (program, totals, control) = (&program, &totals, &control);
    let settled = Settled { program, control, totals, held: 0, busy: false, conserved: true, states: &[] };
    for (times, holds) in [([5, 6], true), ([6, 5], false)] {
        let mut order = FlowOrder::default();
        // The names are those of a capture; a pause has held one of them back.
        for (tag, time) in [7, 3].into_iter().zip(times) {
            let mut d = Departed::of(&bytes, 5, Some(Origin { port: 1, time: Time::ORIGIN, bytes: &bytes }));
            (d.left.tag, d.left.received) = (tag, Time::from_ps(time));
            assert_eq!(order.left(&d), Ok(()));
        }
        assert_eq!(order.settled(&settled).is_ok(), holds);
    }
}

#[test]
fn order_within_a_flow_and_queue() {
    let bytes = datagram(9);
    let departed = |tag, port| {
        let mut d = Departed::of(&bytes, port, Some(Origin { port: 1, time: Time::ORIGIN, bytes: &bytes }));
        d.left.tag = tag;
        d
    };
    let (program, totals) = (Program::default(), Totals::default());
    let control = ControlState::new(&program);
    let settled = Settled {
        program: &program,
        control: &control,
        totals: &totals,
        held: 0,
        busy: false,
        conserved: true,
        states: &[],
    };
    for (tags, holds) in [([0, 1, 2], true), ([0, 2, 1], false)] {
        let mut order = FlowOrder::default();
        tags.iter().for_each(|t| assert_eq!(order.left(&departed(*t, 5)), Ok(())));
        assert_eq!(order.settled(&settled).is_ok(), holds);
    }
    // Packets on different ports are not compared, and a recirculation excuses any order.
    let mut order = FlowOrder::default();
    let _ = (order.left(&departed(1, 5)), order.left(&departed(0, 6)));
    assert_eq!(order.settled(&settled), Ok(()));
    let _ = (order.left(&departed(1, 5)), order.left(&departed(0, 5)));
    let mut recirculations = Totals::default();
    recirculations.recirculated = 1;
    assert_eq!(order.settled(&Settled { totals: &recirculations, ..settled }), Ok(()));
}

#[test]
fn headroom_is_for_lossless_groups_and_ends_are_ends() {
    let ended = |reason| Ended {
        lost: Lost {
            tag: 0,
            port: 1,
            received: Time::ORIGIN,
            time: Time::ORIGIN,
            reason,
            absorbed: false,
            bytes: 60,
        },
        reason: "why",
        bytes: &[],
        from: None,
    };
    assert!(LosslessLoss.ended(&ended(Reason::Buffer(Rule::PgHeadroom))).is_err());
    assert!(LosslessLoss.ended(&ended(Reason::Buffer(Rule::HeadroomPool))).is_err());
    assert_eq!(LosslessLoss.ended(&ended(Reason::Buffer(Rule::PgShared))), Ok(()));
    assert_eq!(LosslessLoss.ended(&ended(Reason::Device(DeviceDrop::NoEgressPort))), Ok(()));
    let (program, totals) = (Program::default(), Totals::default());
    let control = ControlState::new(&program);
    let at = |busy, conserved| Settled {
        program: &program,
        control: &control,
        totals: &totals,
        held: 3,
        busy,
        conserved,
        states: &[],
    };
    assert_eq!(Settles::default().settled(&at(false, true)), Ok(()));
    let stay = Err("3 packets stay inside the device".to_owned());
    assert_eq!(Settles::default().settled(&at(true, true)), stay);
    // Only changed entries may send packets into an endless loop.
    let mut changed = Settles::default();
    changed.changed();
    assert_eq!(changed.settled(&at(true, true)), stay);
    changed.changed();
    let mut rounds = Totals::default();
    rounds.recirculated = 1_000;
    let looping = Settled { totals: &rounds, ..at(true, true) };
    assert_eq!(changed.settled(&looping), Ok(()));
    assert_eq!(Settles::default().settled(&looping), stay);
    assert!(Conservation.settled(&at(false, false)).is_err());
}
