//! The scheduler's choice: strict priority and deficit round robin, to the packet.

use crate::switch::steer;
use crate::switch::world::{Frame, Seen, run};
use sluice_asic::units::Cells;
use sluice_switch::{QueueSetup, SwitchConfig};

/// Returns the order in which queues of one port at 10G were served, all filled at once from several ports.
fn served(strict: bool, weight: u16, packets: &[(u8, usize, usize)]) -> Vec<(u8, u64)> {
    let world = steer::world();
    let port = world.dev_port(9);
    let queues = QueueSetup { limit: Cells(100_000), strict, weight };
    let port_speeds = vec![(port, "10G".parse().unwrap())];
    let config = SwitchConfig { queues, port_speeds, ..SwitchConfig::default() };
    let mut frames = Vec::new();
    for (qid, len, count) in packets {
        for n in 0..*count {
            let (front, ps) = (u16::from(*qid), n as u64 * (*len as u64 + 24) * 20);
            frames.push(Frame::new(front, ps, steer::frame(port, *qid, 0x0800, *len)));
        }
    }
    frames.sort_by_key(|f| f.ps);
    let mut switch = world.switch(world.engine(), config);
    let seen = run(world, &mut switch, &frames, 16);
    let mut list = Vec::new();
    for s in &seen.seen {
        if let Seen::Dequeued(e) = s {
            list.push((e.qid, frames[e.tag as usize].bytes.len() as u64));
        }
    }
    list
}

#[test]
fn strict_priority_serves_the_highest_queue_first() {
    let order = served(true, 1, &[(0, 200, 30), (3, 200, 30), (7, 200, 30)]);
    // The first packets are sent before the others have arrived; from then on the order is 7, 3, 0.
    let rest: Vec<u8> = order.iter().skip(4).map(|(q, _)| *q).collect();
    assert!(rest.is_sorted_by(|a, b| a >= b), "{rest:?}");
    assert_eq!(rest.len(), 86);
}

#[test]
fn round_robin_shares_bytes() {
    // Equal weights, packets of 1000 and 250 bytes: four to one while both have packets.
    let order = served(false, 4, &[(1, 1000, 60), (2, 250, 240)]);
    let busy = &order[4..200];
    let bytes = |q: u8| busy.iter().filter(|(of, _)| *of == q).map(|(_, b)| *b).sum::<u64>();
    let (large, small) = (bytes(1), bytes(2));
    // A queue is ahead by at most its quantum and a packet.
    assert!(large.abs_diff(small) <= 4 * 80 + 1000, "{large} and {small} bytes");
}

#[test]
fn a_queue_that_the_port_does_not_have() {
    let world = steer::world();
    // A front-panel port of eight lanes has a queue for every value of the field; the CPU's port has one lane.
    let cpu = world.ports.cpu().unwrap();
    let (port, queues) = (cpu.dev_port.number(), cpu.queues);
    let frames = [
        Frame::new(0, 0, steer::frame(port, (queues - 1) as u8, 0x0800, 100)),
        Frame::new(0, 10_000, steer::frame(port, queues as u8, 0x0800, 100)),
        Frame::new(0, 20_000, steer::frame(0x1fe, 0, 0x0800, 100)),
        Frame::new(0, 30_000, steer::frame(0x1ff, 0, 0x0800, 100)),
    ];
    let mut switch = world.switch(world.engine(), SwitchConfig::default());
    let seen = run(world, &mut switch, &frames, 1);
    // The last two have not reached the traffic manager yet.
    let names: Vec<&str> = seen.lost().map(|l| l.reason.name(&world.program)).collect();
    assert_eq!(seen.sent().count(), 1);
    assert_eq!(names, ["unknown_egress_port", "no_egress_port", "no_such_queue"]);
}
