//! The entry into a pipe: one PHV per clock, FIFOs that overflow, ports and speeds that do not exist.

use crate::switch::steer;
use crate::switch::world::{Frame, World, run};
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::DevPort;
use sluice_asic::units::Time;
use sluice_switch::{Mode, RxFrame, SwitchConfig};
use std::collections::{BTreeMap, VecDeque};

/// Eight ports of one pipe at 400G with frames of 64 bytes: 8 x 595 M/s against 1500 M/s.
fn flood(packets: u64) -> Vec<Frame> {
    let world = steer::world();
    let mut frames = Vec::new();
    for n in 0..packets {
        for front in 0..8_u16 {
            let ps = n * 84 * 20 + u64::from(front) * 7;
            frames.push(Frame::new(front, ps, steer::frame(world.dev_port(16 + front), 0, 0x0800, 60)));
        }
    }
    frames.sort_by_key(|f| f.ps);
    frames
}

#[test]
fn fifos_overflow_as_a_ledger_of_them_says() {
    let world = steer::world();
    let frames = flood(600);
    let mut switch = world.switch(world.engine(), SwitchConfig::default());
    let seen = run(world, &mut switch, &frames, 64);
    let overrun = seen.lost().filter(|l| l.reason.name(&world.program) == "ingress_overrun").count();
    // The ledger: each port is a FIFO; the pipe takes, in order of arrival, one packet per cycle.
    let chip = ChipSpec::tofino2();
    let depth = chip.parser.fifo_packets as usize;
    let hold = 64 * 20;
    let mut next_cycle = 0u64;
    let mut fifos: BTreeMap<u16, VecDeque<u64>> = BTreeMap::new();
    let mut lost = 0;
    for f in &frames {
        let arrival = f.ps + hold + chip.latency.mac_rx.as_ps();
        let edge = (arrival * 3).div_ceil(2000);
        let fifo = fifos.entry(f.front).or_default();
        while fifo.front().is_some_and(|leaves| *leaves <= edge) {
            fifo.pop_front();
        }
        if fifo.len() == depth {
            lost += 1;
            continue;
        }
        let cycle = edge.max(next_cycle);
        next_cycle = cycle + 1;
        fifo.push_back(cycle);
    }
    assert!(lost > 500, "the ledger overflows: {lost}");
    assert_eq!(overrun, lost);
}

#[test]
fn functional_mode_forwards_the_same_bytes() {
    let world = steer::world();
    let frames: Vec<Frame> = (0..200_u16)
        .map(|n| {
            let kind = [0x0800, steer::DROPPED, steer::SHORTENED][usize::from(n % 3)];
            let bytes = steer::frame(world.dev_port(n % 20), (n % 8) as u8, kind, 64 + usize::from(n));
            Frame::new(n % 7, u64::from(n) * 100_000, bytes)
        })
        .collect();
    let ends = |mode| {
        let mut switch = world.switch(world.engine(), SwitchConfig { mode, ..SwitchConfig::default() });
        let seen = run(world, &mut switch, &frames, 10).sorted();
        let sent: Vec<_> = seen.sent().map(|(l, b)| (l.tag, l.egress_port, l.qid, b.to_vec())).collect();
        let lost: Vec<_> = seen.lost().map(|l| (l.tag, l.reason)).collect();
        (sent, lost, switch.state())
    };
    assert_eq!(ends(Mode::Timed), ends(Mode::Functional));
}

#[test]
fn frames_that_overlap_on_the_wire_are_put_one_after_the_other() {
    let world = steer::world();
    let mut switch = world.switch(world.engine(), SwitchConfig::default());
    let bytes = steer::frame(world.dev_port(3), 0, 0x0800, 1000);
    let port = DevPort::new(world.dev_port(0)).unwrap();
    let rx = |tag| RxFrame { bytes: &bytes, orig_len: 1000, tag };
    let line = (1000 + 24) * 20;
    assert_eq!(switch.rx(port, Time::from_ps(100), rx(0)).unwrap().as_ps(), 0);
    assert_eq!(switch.rx(port, Time::from_ps(100), rx(1)).unwrap().as_ps(), line);
    assert_eq!(switch.rx(port, Time::from_ps(100 + 2 * line), rx(2)).unwrap().as_ps(), 0);
}

#[test]
fn what_cannot_be_is_said() {
    let world = World::l3_ecmp();
    let refused = |config: SwitchConfig| {
        let control = world.control.clone();
        let made = sluice_switch::Switch::new(
            &world.program,
            &world.placement,
            &world.ports,
            control,
            Box::new(world.engine()),
            config,
        );
        made.err().unwrap().to_string()
    };
    let speeds = |port, speed: &str| SwitchConfig {
        port_speeds: vec![(port, speed.parse().unwrap())],
        ..SwitchConfig::default()
    };
    assert_eq!(refused(speeds(5, "100G")), "the switch has no dev_port 5");
    let text = refused(speeds(8, "3G"));
    assert!(text.starts_with("dev_port 8 cannot run at 3Gbps; its lanes allow "), "{text}");
    let mut queues = SwitchConfig::default();
    queues.queues.weight = 2000;
    let text = refused(queues);
    assert!(text.starts_with("the traffic manager cannot be set up: "), "{text}");
    let mut switch = world.switch(world.engine(), SwitchConfig::default());
    let rx = RxFrame { bytes: &[0; 60], orig_len: 60, tag: 0 };
    let missing = switch.rx(DevPort::new(5).unwrap(), Time::from_ps(0), rx).unwrap_err();
    assert_eq!(missing.to_string(), "the switch has no dev_port 5");
}
