//! Recirculation: its time, the bandwidth it takes, and programs that never end it.

use crate::switch::order::invariant;
use crate::switch::world::{Frame, Recorder, Seen, World, run};
use proptest::prelude::*;
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::port::{DevPort, Pipe, PortMap};
use sluice_asic::units::{Bytes, Time};
use sluice_build::net::Ethernet;
use sluice_build::*;
use sluice_switch::{Mode, RxFrame, SwitchConfig};
use std::sync::OnceLock;

/// EtherType of packets that recirculate for ever.
const FOR_EVER: u16 = 0xffff;

/// The EtherType is the number of recirculations left; then the packet is sent on the port in its source address.
#[stage_program]
fn ingress(ig: &GressBuilder<'_>, round: u64) {
    let eth = ig.header::<Ethernet>();
    let tm = ig.intrinsic::<tna::ForTm>();
    let start = ig.state().extract(eth);
    ig.start(start);
    ig.control(|c| {
        if eth.ether_type == u64::from(FOR_EVER) {
            tm.ucast_egress_port = round;
        } else if eth.ether_type != 0 {
            eth.ether_type -= 1;
            tm.ucast_egress_port = round;
        } else {
            tm.ucast_egress_port = eth.src.slice::<8, 0, 9>();
        }
    });
    ig.deparser().emit(eth);
}

fn round_port(ports: &PortMap) -> u16 {
    ports.recirculation(Pipe(0)).next().unwrap().dev_port.number()
}

fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        let ports = PortMap::default_for(&ChipSpec::tofino2()).unwrap();
        let b = Builder::new("rounds", "Goes round as often as it says");
        ingress(&b.ingress(), round_port(&ports).into());
        drop_nothing(&b.egress());
        World::new(b.finish(&()).unwrap_or_else(|d| panic!("{}", d[0])), Vec::new())
    })
}

#[stage_program]
fn drop_nothing(eg: &GressBuilder<'_>) {
    let eth = eg.header::<Ethernet>();
    let start = eg.state().extract(eth);
    eg.start(start);
    eg.deparser().emit(eth);
}

fn frame(laps: u16, len: usize) -> Vec<u8> {
    crate::switch::steer::frame(world().dev_port(3), 0, laps, len)
}

fn seen(config: SwitchConfig, frames: &[Frame]) -> (Recorder, u64) {
    let mut switch = world().switch(world().engine(), config);
    let seen = run(world(), &mut switch, frames, 16);
    assert_eq!(switch.totals().sent + switch.totals().dropped, frames.len() as u64);
    (seen, switch.totals().recirculated)
}

#[test]
fn laps_create_nothing_and_each_takes_the_same_time() {
    let times: Vec<u64> = (0..6)
        .map(|laps| {
            let (seen, recirculated) = seen(SwitchConfig::default(), &[Frame::new(0, 0, frame(laps, 100))]);
            assert_eq!(recirculated, u64::from(laps));
            let (left, bytes) = seen.sent().next().unwrap();
            assert_eq!((left.received, &bytes[12..14]), (Time::ORIGIN, &[0, 0][..]));
            let passes = seen.seen.iter().filter(|s| matches!(s, Seen::Pass(_))).count();
            assert_eq!(passes, 2 * (usize::from(laps) + 1));
            left.first_bit.as_ps()
        })
        .collect();
    // One recirculation by its parts: two passes, traffic manager, port and the way back (model: cycles §3, §8).
    let chip = ChipSpec::tofino2();
    let l = &chip.latency;
    let cycles: u64 = [Gress::Ingress, Gress::Egress]
        .map(|gress| {
            let placed = world().placement.gress(gress);
            let first = world().program.states.iter().find(|(_, s)| s.gress == gress);
            let parser = first.map_or(0, |(state, _)| u64::from(placed.parser.cycles[state]));
            u64::from(l.parser_fixed + placed.mau_cycles + placed.deparser_cycles) + parser
        })
        .iter()
        .sum();
    let port = world().ports.recirculation(Pipe(0)).next().unwrap();
    let at_rate = |bytes: u64| port.speed.time_for(Bytes(bytes)).as_ps();
    let head = at_rate(104).min(port.ingress_hold.as_ps());
    let fixed = at_rate(8) + l.recirculation.as_ps() + head;
    let lap = fixed + (cycles + u64::from(l.tm_enqueue + l.tm_dequeue)) * 2000 / 3;
    for pair in times.windows(2) {
        // Each pass enters on a clock edge: up to a cycle of waiting for each of the two passes.
        let found = pair[1] - pair[0];
        assert!(found >= lap && found <= lap + 2 * 667, "{found} ps, by its parts {lap}");
    }
}

#[test]
fn laps_share_the_port_and_its_line() {
    let (packets, laps, len) = (40_u64, 25_u16, 1000_u64);
    let frames: Vec<Frame> =
        (0..packets).map(|n| Frame::new(0, n * 1024 * 20, frame(laps, len as usize))).collect();
    let (seen, recirculated) = seen(SwitchConfig::default(), &frames);
    assert_eq!(recirculated, packets * u64::from(laps));
    assert_eq!(seen.sent().count() as u64, packets);
    let line = world().ports.recirculation(Pipe(0)).next().unwrap().speed;
    let busy = line.time_for(Bytes(recirculated * (len + 24))).as_ps();
    let last = seen.sent().map(|(l, _)| l.first_bit.as_ps()).max().unwrap();
    assert!(last > busy, "{recirculated} laps take {busy} ps of the line; the last packet left at {last}");
    assert!(last < busy + 2_000_000, "and the line is what they wait for: {last} against {busy}");
}

#[test]
fn a_line_that_gets_more_than_it_takes_is_told_of() {
    let waits = |apart: u64| {
        let frames: Vec<Frame> = (0..200).map(|n| Frame::new(0, n * apart, frame(25, 1000))).collect();
        let mut switch = world().switch(world().engine(), SwitchConfig::default());
        run(world(), &mut switch, &frames, 16);
        switch.recirculation_overloads()
    };
    let [overload] = waits(1024 * 20)[..] else { panic!("200 packets go round at once") };
    let line = world().ports.recirculation(Pipe(0)).next().unwrap().speed;
    let lap_of_all = line.time_for(Bytes(200 * 1024)).as_ps();
    assert_eq!(overload.pipe, 0);
    assert!((lap_of_all / 2..lap_of_all * 2).contains(&overload.waited.as_ps()), "{}", overload.waited);
    // One after the other, the packets find the line free.
    assert_eq!(waits(60_000_000), []);
}

#[test]
fn a_packet_that_nothing_lets_go_of_is_held() {
    let mut switch = world().switch(world().engine(), SwitchConfig::default());
    let mut sink = Recorder::default();
    let bytes = frame(FOR_EVER, 64);
    let rx = RxFrame { bytes: &bytes, orig_len: 64, tag: 0 };
    switch.rx(DevPort::new(world().dev_port(0)).unwrap(), Time::ORIGIN, rx).unwrap();
    switch.advance(Time::from_ps(100_000_000), &mut sink).unwrap();
    let laps = switch.totals().recirculated;
    assert!((100..400).contains(&laps), "{laps} laps in 100 us");
    assert_eq!((switch.held().total(), switch.is_conserved()), (1, true));
    assert!(switch.next_time().is_some());
}

#[test]
fn without_time_laps_are_bounded() {
    let functional = SwitchConfig { mode: Mode::Functional, ..SwitchConfig::default() };
    let frames = [Frame::new(0, 0, frame(50, 64)), Frame::new(1, 5, frame(FOR_EVER, 64))];
    let (seen, recirculated) = seen(functional, &frames);
    assert_eq!(recirculated, 50 + 65);
    assert_eq!(seen.sent().count(), 1);
    let lost: Vec<&str> = seen.lost().map(|l| l.reason.name(&world().program)).collect();
    assert_eq!(lost, ["too_many_laps"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn batches_steps_and_executors_change_nothing(
        list in prop::collection::vec((0..5_u16, 0..20_000_u64, 0..9_u16, 18..300_usize), 1..60),
    ) {
        let mut now = 0;
        let frames: Vec<Frame> = list
            .into_iter()
            .map(|(front, gap, laps, len)| {
                now += gap;
                Frame::new(front, now, frame(laps, len))
            })
            .collect();
        invariant(world(), &SwitchConfig::default(), &frames)?;
    }
}
