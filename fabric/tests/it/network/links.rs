//! Frames over links: their times and bytes, and rejected setups.

use crate::network::support::{Into, Recorder, Seen, chain, dev, frame, inject, switches};
use sluice_asic::port::DevPort;
use sluice_asic::units::{BitRate, Duration, Time};
use sluice_catalogue::Catalogue;
use sluice_fabric::network::{
    End, LinkChange, LinkDrop, LinkEvent, LinkId, LinkSetup, Misaddressed, Network, NetworkSetup, SwitchId,
    Way,
};
use sluice_switch::RxFrame;
use std::net::Ipv4Addr;

const DELAY: Duration = Duration::from_nanos(700);

#[test]
fn a_frame_takes_the_delay_and_the_switches_time() {
    let mut network = Network::new(chain(3, DELAY), &Catalogue::new()).unwrap();
    let hops = frame(&[1, 1, 9], 200);
    inject(&mut network, &[Into { switch: 0, front: 4, ps: 1000, bytes: hops.clone() }]);
    let mut seen = Recorder::default();
    network.drain(Time::from_nanos(1_000_000), &mut seen).unwrap();
    let entered: Vec<_> = seen.entered().map(|(at, e)| (at.0, e.port, e.time, e.link)).collect();
    let links: Vec<_> = seen.on_links().map(|(at, f)| (at.0, *f)).collect();
    let arrivals: Vec<Time> = links.iter().map(|(_, f)| f.fate.unwrap()).collect();
    assert_eq!(
        entered,
        [
            (0, dev(4), Time::from_ps(1000), None),
            (1, dev(0), arrivals[0], Some((LinkId(0), Way::Forth))),
            (2, dev(0), arrivals[1], Some((LinkId(1), Way::Forth))),
        ]
    );
    for (_, f) in &links {
        assert_eq!(f.fate, Ok(f.left.first_bit + DELAY));
        assert_eq!((f.left.tag, f.left.bytes, f.mac), (0, 200, false));
    }
    // Idle switches of one kind take the same time, whatever the clock's phase makes of it.
    let out: Vec<_> = seen.delivered().collect();
    let [(at, left, bytes)] = out[..] else { panic!("{out:?}") };
    assert_eq!((at, left.egress_port, left.ingress_port), (SwitchId(2), dev(9), dev(0)));
    // Each hop shifts the path by one, and leaves the last element as it is.
    assert_eq!(bytes[..2], [0xff, 0xff]);
    assert_eq!(bytes[14..], hops[14..]);
    let times = [(entered[0].2, links[0].1.left), (entered[1].2, links[1].1.left), (entered[2].2, *left)];
    let took: Vec<u64> = times.iter().map(|(from, left)| left.first_bit.as_ps() - from.as_ps()).collect();
    assert!(took.iter().all(|t| t.abs_diff(took[0]) <= 2000), "{took:?}");
    let totals = network.totals();
    assert_eq!((totals.entered, totals.delivered, totals.hops, totals.on_links), (1, 1, 2, 0));
    assert!(totals.is_conserved() && !network.is_busy());
}

#[test]
fn short_frames_are_padded_on_the_wire() {
    let mut network = Network::new(chain(2, DELAY), &Catalogue::new()).unwrap();
    inject(&mut network, &[Into { switch: 0, front: 4, ps: 0, bytes: frame(&[1, 9], 20) }]);
    let mut seen = Recorder::default();
    network.drain(Time::from_nanos(1_000_000), &mut seen).unwrap();
    let lengths: Vec<u32> = seen.entered().map(|(_, e)| e.bytes).collect();
    assert_eq!(lengths, [20, 60]);
    let (_, left, bytes) = seen.delivered().next().unwrap();
    assert_eq!((left.bytes, bytes.len()), (60, 60));
    assert!(bytes[20..].iter().all(|b| *b == 0));
}

#[test]
fn a_slow_link_is_as_slow_as_it_says() {
    let mut setup = chain(2, DELAY);
    setup.links[0].rate = Some(BitRate::from_gbps(100));
    let mut network = Network::new(setup, &Catalogue::new()).unwrap();
    let frames: Vec<Into> =
        (0..40).map(|n| Into { switch: 0, front: 4, ps: n * 24_480, bytes: frame(&[1, 9], 1000) }).collect();
    inject(&mut network, &frames);
    let mut seen = Recorder::default();
    network.drain(Time::from_nanos(1_000_000), &mut seen).unwrap();
    let arrivals: Vec<u64> = seen.on_links().map(|(_, f)| f.fate.unwrap().as_ps()).collect();
    assert_eq!(arrivals.len(), 40);
    // 1,024 bytes of line time at 80 ps each.
    assert!(arrivals.windows(2).all(|w| w[1] - w[0] == 1024 * 80), "{arrivals:?}");
    assert_eq!(network.way(LinkId(0), Way::Forth).unwrap().wire_bytes, 40 * 1024);
    assert_eq!(network.way(LinkId(0), Way::Back).unwrap().frames, 0);
}

/// The results do not depend on the steps in which the network runs.
#[test]
fn the_size_of_steps_does_not_matter() {
    let frames: Vec<Into> = (0..60)
        .map(|n| Into { switch: n % 2, front: 4, ps: u64::from(n / 2) * 3000, bytes: frame(&[1, 1, 9], 64) })
        .collect();
    let run = |step: u64| {
        let mut network = Network::new(chain(4, DELAY), &Catalogue::new()).unwrap();
        inject(&mut network, &frames);
        let mut seen = Recorder::default();
        (1..=10_000_000 / step).for_each(|n| network.advance(Time::from_ps(n * step), &mut seen).unwrap());
        assert!(!network.is_busy());
        // The time at which the switch gets a frame, before the frame can act, depends on the steps.
        seen.seen.retain(|(_, s)| !matches!(s, Seen::Entered(_)));
        network.ids().map(|id| seen.of(id)).collect::<Vec<_>>()
    };
    let whole = run(10_000_000);
    assert!(whole.iter().all(|s| !s.seen.is_empty()));
    assert_eq!(run(1000), whole);
    assert_eq!(run(333_333), whole);
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    let refused = |setup| Network::new(setup, &Catalogue::new()).err().unwrap().to_string();
    let mut setup = chain(2, DELAY);
    setup.link(LinkSetup::new(End::new(SwitchId(0), 1), End::new(SwitchId(1), 5), DELAY));
    assert_eq!(
        refused(setup),
        "s0:1-s1:5: port 1 of switch `s0` has another link already; choose a free port"
    );
    let mut setup = chain(2, DELAY);
    setup.switches[1].config.port_speeds.push((dev(0), BitRate::from_gbps(100)));
    assert_eq!(
        refused(setup),
        "s0:1-s1:0: one end runs at 400Gbps, the other at 100Gbps; give the link a rate, or the ports one speed"
    );
    let mut setup = switches(2);
    setup.link(LinkSetup::new(End::new(SwitchId(0), 32), End::new(SwitchId(1), 5), DELAY));
    assert_eq!(refused(setup), "switch `s0` has no front-panel port 32; its front-panel ports are 0 to 31");
    let mut setup = switches(1);
    setup.link(LinkSetup::new(End::new(SwitchId(0), 3), End::new(SwitchId(7), 5), DELAY));
    assert_eq!(refused(setup), "there is no switch 7; the network has 1");
    let mut setup = switches(2);
    setup.switches[1].name = "s0".to_owned();
    assert_eq!(refused(setup), "two switches are called `s0`; give every switch a different name");

    let mut network = Network::new(chain(2, DELAY), &Catalogue::new()).unwrap();
    let rx = RxFrame { bytes: &[0; 64], orig_len: 64, tag: 0 };
    let port = |front| DevPort::new(dev(front)).unwrap();
    let error = network.inject(SwitchId(0), port(1), Time::ORIGIN, rx).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "port {} of switch `s0` has a link or a host; frames from outside and hosts need a port without one",
            port(1)
        )
    );
    network.inject(SwitchId(0), port(2), Time::from_nanos(9), rx).unwrap();
    let error = network.inject(SwitchId(0), port(2), Time::from_nanos(8), rx).unwrap_err();
    assert!(error.to_string().contains("because the port takes frames from 9ns on"), "{error}");
    network.advance(Time::from_nanos(50), &mut ()).unwrap();
    let event = LinkEvent { time: Time::from_nanos(49), way: None, change: LinkChange::Down };
    let error = network.script(LinkId(0), event).unwrap_err();
    assert_eq!(
        error.to_string(),
        "s0:1-s1:0: a change at 49ns is too late, because frames of that time are on the link; schedule changes in advance"
    );
}

/// In a network that says where it ends, a frame that leaves by another port is lost and counted; without that it is delivered.
#[test]
fn frames_on_ports_without_a_cable_are_lost() {
    let frames: Vec<Into> = [9, 8, 8]
        .iter()
        .map(|last| Into { switch: 0, front: 4, ps: 0, bytes: frame(&[1, *last], 64) })
        .zip(0..)
        .map(|(into, n)| Into { ps: n * 1_000_000, ..into })
        .collect();
    let run = |edges: Option<Vec<End>>| {
        let setup = NetworkSetup { edges, ..chain(2, DELAY) };
        let mut network = Network::new(setup, &Catalogue::new()).unwrap();
        inject(&mut network, &frames);
        let mut seen = Recorder::default();
        network.drain(Time::from_nanos(1_000_000), &mut seen).unwrap();
        let totals = network.totals();
        assert!(totals.is_conserved());
        assert_eq!(seen.delivered().count() as u64, totals.delivered);
        let lost: Vec<(u16, u64)> = network.uncabled(SwitchId(1)).collect();
        (totals.delivered, totals.link_drops[LinkDrop::NoCable as usize], lost)
    };
    assert_eq!(run(None), (3, 0, vec![]));
    assert_eq!(run(Some(vec![End::new(SwitchId(1), 9)])), (1, 2, vec![(dev(8), 2)]));
    assert_eq!(run(Some(vec![])), (0, 3, vec![(dev(8), 2), (dev(9), 1)]));
}

/// A host takes frames for itself, for several receivers and for addresses that no host has; not those for another host.
#[test]
fn frames_for_another_host_are_lost() {
    let ip = |host: u8| Ipv4Addr::new(10, 0, 0, host);
    let ipv4 = |receiver: u8, host: u8| {
        let mut bytes = frame(&[1, 9], 64);
        // Two hops move the third element of the path to the front.
        bytes[4] = receiver;
        bytes[12..14].copy_from_slice(&[8, 0]);
        bytes[30..34].copy_from_slice(&ip(host).octets());
        bytes
    };
    let all = [ipv4(2, 1), ipv4(2, 2), ipv4(3, 2), ipv4(2, 3), ipv4(2, 77)];
    let frames: Vec<Into> = all
        .into_iter()
        .zip(0..)
        .map(|(bytes, n)| Into { switch: 0, front: 4, ps: n * 1_000_000, bytes })
        .collect();
    let run = |addresses: &[(Ipv4Addr, End)]| {
        let setup = NetworkSetup { addresses: addresses.to_vec(), ..chain(2, DELAY) };
        let mut network = Network::new(setup, &Catalogue::new()).unwrap();
        inject(&mut network, &frames);
        let mut seen = Recorder::default();
        network.drain(Time::from_nanos(1_000_000), &mut seen).unwrap();
        let totals = network.totals();
        assert!(totals.is_conserved());
        assert_eq!(seen.delivered().count() as u64, totals.delivered);
        let lost: Vec<(u16, Misaddressed)> = network.misaddressed(SwitchId(1)).collect();
        (totals.delivered, totals.link_drops[LinkDrop::WrongHost as usize], lost)
    };
    assert_eq!(run(&[]), (5, 0, vec![]));
    let hosts = [
        (ip(1), End::new(SwitchId(1), 9)),
        (ip(2), End::new(SwitchId(0), 9)),
        (ip(3), End::new(SwitchId(1), 8)),
    ];
    // The second and fourth frame are lost; the third has a group of receivers.
    let lost = Misaddressed { host: ip(1), first: ip(2), frames: 2 };
    assert_eq!(run(&hosts), (3, 2, vec![(dev(9), lost)]));
}
