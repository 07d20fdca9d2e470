//! How long a lap takes when many timer packets go round, on one ToR.
//!
//! A port has 14 reorder queues, so a ToR of four hosts cannot hold more than 56 flows. More timer packets than that are
//! made by the control plane: it says that a row whose timer goes round is free again, and the row's next early packet
//! makes another one. They are the program's own, on the way that all of them take.

use crate::load::{DATA, REROUTED, frame};
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::{FrontPort, PortMap};
use sluice_asic::units::Time;
use sluice_pipeline::control::{ControlOp, ControlState};
use sluice_pipeline::engine::Engine;
use sluice_pipeline::place::place;
use sluice_pipeline::switch::{Left, Lost, RxFrame, Sink, Switch, SwitchConfig};
use sluice_programs::conweave::{FlowEntry, Params, Prefix, TorConfig, program, tor_setup};
use std::net::Ipv4Addr;

struct Nobody;

impl Sink for Nobody {
    fn sent(&mut self, _: &Left, _: &[u8], _: &[u8]) {}
    fn lost(&mut self, _: &Lost, _: &[u8], _: &[u8]) {}
}

/// Timer packets that go round, the mean lap in ns, and the share of the recirculation line in percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Laps {
    pub(crate) timers: u64,
    pub(crate) lap_ns: u64,
    pub(crate) line_percent: u64,
    pub(crate) dropped: u64,
}

/// Bytes of a timer packet on the line, preamble and gap included.
pub(crate) const ON_LINE: u64 = 69 + 24;

const NET: u8 = 2;

fn flow(n: u16) -> (Ipv4Addr, Ipv4Addr, u16) {
    (Ipv4Addr::new(10, 0, 1, 1), Ipv4Addr::new(10, 0, NET, 1 + (n % 4) as u8), 49_152 + n)
}

/// Measures for so many timer packets each.
pub(crate) fn measure(wanted: &[u64]) -> Vec<Laps> {
    let chip = ChipSpec::tofino2();
    let p = Params { resume_default: 1_000_000, watchdog: 1_000_000, ..Params::default() };
    let program = program(&p).unwrap();
    let placement = place(&program, &chip).unwrap_or_else(|e| panic!("{e}"));
    let ports = PortMap::default_for(&chip).unwrap();
    let rows = 40u16;
    let flows = (0..rows).map(|n| {
        let (src, dst, src_port) = flow(n);
        FlowEntry { src, dst, src_port, row: n + 1, theta_reply: 8 }
    });
    let hosts = (1..=4).map(|n| Ipv4Addr::new(10, 0, NET, n)).collect();
    let remote = vec![Prefix { net: Ipv4Addr::new(10, 0, 1, 0), len: 24 }];
    let tor = TorConfig { hosts, remote, flows: flows.collect(), marking: None };
    let mut control = ControlState::new(&program);
    for op in tor_setup(&program, &ports, &tor).unwrap().ops {
        control.apply(&program, op).unwrap();
    }
    let of = |wanted: &u64| {
        let engine = Engine::new(&program, &placement, &control).unwrap();
        let config = SwitchConfig::default();
        let mut switch = Switch::new(&program, &placement, &ports, control.clone(), engine, config).unwrap();
        let uplink = ports.front(FrontPort(4)).unwrap().dev_port;
        let status = program.register_named("reorder_status_rx").unwrap();
        let owners = ["owner", "owner_1", "owner_2", "owner_3"].map(|o| program.register_named(o).unwrap());
        let mut now = 0u64;
        while switch.totals().made.mirror < *wanted {
            now += 1;
            let free = |register| ControlOp::WriteRegister { register, index: None, value: None };
            for register in owners.into_iter().chain([status]) {
                switch.control(Time::from_nanos(now), free(register)).unwrap();
            }
            let missing = *wanted - switch.totals().made.mirror;
            for n in 0..u64::from(rows).min(missing) {
                let (src, dst, port) = flow(n as u16);
                let bytes = frame(src, dst, port, 1, DATA | REROUTED, 64);
                now += 4;
                let rx = RxFrame { bytes: &bytes, orig_len: bytes.len() as u32, tag: 0 };
                switch.rx(uplink, Time::from_nanos(now), rx).unwrap();
            }
            now += 700;
            switch.advance(Time::from_nanos(now), &mut Nobody).unwrap();
        }
        const WINDOW: u64 = 5_000;
        const SETTLES: u64 = 3_000;
        switch.advance(Time::from_nanos(now + SETTLES), &mut Nobody).unwrap();
        let (timers, before) = (switch.totals().made.mirror, switch.totals().recirculated);
        switch.advance(Time::from_nanos(now + SETTLES + WINDOW), &mut Nobody).unwrap();
        let laps = switch.totals().recirculated - before;
        assert_eq!(switch.totals().made.mirror, timers, "all of them wait");
        // The line carries 50 bytes a nanosecond.
        let line_percent = laps * ON_LINE * 2 / WINDOW;
        Laps { timers, lap_ns: WINDOW * timers / laps, line_percent, dropped: switch.totals().dropped }
    };
    wanted.iter().map(of).collect()
}

#[test]
fn laps_are_short_until_the_line_is_full() {
    let [few, full, many] = measure(&[50, 300, 600])[..] else { panic!("three") };
    assert!(full.lap_ns <= few.lap_ns + 30, "{few:?} {full:?}");
    assert!(many.lap_ns > full.lap_ns * 3 / 2 && many.line_percent >= 98, "{many:?}");
    assert_eq!((few.dropped, full.dropped, many.dropped), (0, 0, 0));
}
