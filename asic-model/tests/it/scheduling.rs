//! Shaping, guarantees and pauses in addition to priorities and DWRR: each queue's share of a line.

use proptest::prelude::*;
use sluice_asic::tm::{
    Guarantee, PauseCause, QueueConfig, QueueId, ShaperConfig, TmConfig, TmPort, TrafficManager,
};
use sluice_asic::units::{BitRate, Bytes, Cells, Duration, Time};

const PORT: TmPort = TmPort(0);
const LINE: BitRate = BitRate::from_gbps(100);
const PACKET: Bytes = Bytes(980);

/// Returns a port with these priorities and weights.
fn port(queues: &[(u8, u16)]) -> TrafficManager<u32> {
    let queue =
        |&(priority, weight): &(u8, u16)| QueueConfig { priority, weight, limit_cells: Cells(1 << 20) };
    let queues = sluice_asic::tm::PortQueues { queues: queues.iter().map(queue).collect() };
    TrafficManager::new(config(vec![queues])).unwrap()
}

fn config(ports: Vec<sluice_asic::tm::PortQueues>) -> TmConfig {
    let (cell_size, buffer_cells, dwrr_quantum) = (Bytes(176), Cells(1 << 22), Bytes(80));
    TmConfig { cell_size, buffer_cells, dwrr_quantum, ports }
}

fn shaper(gbps: u64) -> ShaperConfig {
    ShaperConfig { rate: BitRate::from_gbps(gbps), burst: Bytes(16_384) }
}

/// Sends for a while with always full queues; returns the rate on the wire (with 20 bytes of gap) by queue, in Gb/s.
fn rates(tm: &mut TrafficManager<u32>, queues: u8) -> Vec<u64> {
    let run = Duration::from_micros(1000);
    let mut now = Time::ORIGIN;
    let mut sent = vec![0; usize::from(queues)];
    while now < Time::ORIGIN + run {
        for queue in 0..queues {
            while tm.depth(PORT, QueueId(queue)).unwrap() < Cells(60) {
                tm.enqueue(PORT, QueueId(queue), 0, PACKET, now).unwrap();
            }
        }
        match tm.dequeue(PORT, now) {
            Some(packet) => {
                sent[usize::from(packet.queue.0)] += packet.bytes.get() + 20;
                now += LINE.time_for(Bytes(packet.bytes.get() + 20));
            }
            // Only a shaper can hold full queues back.
            None => now = tm.opens_at(PORT).unwrap(),
        }
    }
    let gbps = |bytes: u64| (bytes * 8 * 1000 + run.as_nanos() * 500) / run.as_nanos() / 1000;
    sent.into_iter().map(gbps).collect()
}

#[test]
fn a_shaped_queue_gets_its_rate_and_others_the_rest() {
    let mut tm = port(&[(0, 1), (7, 1)]);
    tm.set_queue_shaper(PORT, QueueId(1), Some(shaper(30)));
    assert_eq!(rates(&mut tm, 2), [70, 30]);
}

#[test]
fn a_shaped_port_is_shared_as_before() {
    let mut tm = port(&[(0, 3), (0, 1)]);
    tm.set_port_shaper(PORT, Some(shaper(40)));
    assert_eq!(rates(&mut tm, 2), [30, 10]);
    let mut idle = port(&[(0, 1), (0, 1)]);
    idle.set_queue_shaper(PORT, QueueId(0), Some(shaper(10)));
    idle.set_queue_shaper(PORT, QueueId(1), Some(shaper(20)));
    assert_eq!(rates(&mut idle, 2), [10, 20]);
}

#[test]
fn guarantees_come_first_then_priorities() {
    let mut tm = port(&[(0, 1), (0, 1), (7, 1)]);
    tm.set_guarantee(PORT, QueueId(0), Some(Guarantee { shaper: shaper(20), priority: 0 }));
    assert_eq!(rates(&mut tm, 3), [20, 0, 80]);
    // Guaranteed bytes do not reduce the share of the rest.
    let mut tm = port(&[(0, 1), (0, 1)]);
    tm.set_guarantee(PORT, QueueId(0), Some(Guarantee { shaper: shaper(20), priority: 3 }));
    assert_eq!(rates(&mut tm, 2), [60, 40]);
    // If two guarantees together exceed the line, the one of higher priority is met.
    let mut tm = port(&[(0, 1), (0, 1)]);
    tm.set_guarantee(PORT, QueueId(0), Some(Guarantee { shaper: shaper(70), priority: 0 }));
    tm.set_guarantee(PORT, QueueId(1), Some(Guarantee { shaper: shaper(60), priority: 1 }));
    assert_eq!(rates(&mut tm, 2), [40, 60]);
    tm.set_guarantee(PORT, QueueId(0), None);
    tm.set_guarantee(PORT, QueueId(1), None);
    assert_eq!(rates(&mut tm, 2), [50, 50]);
}

#[test]
fn pauses_are_counted_by_who_asks() {
    let mut tm = port(&[(0, 1), (0, 1)]);
    for queue in [0, 1] {
        tm.enqueue(PORT, QueueId(queue), queue.into(), PACKET, Time::ORIGIN).unwrap();
    }
    tm.pause(PORT, QueueId(0), PauseCause::Pfc, true);
    tm.pause(PORT, QueueId(0), PauseCause::Operator, true);
    assert_eq!(tm.dequeue(PORT, Time::ORIGIN).unwrap().handle, 1);
    assert_eq!((tm.dequeue(PORT, Time::ORIGIN).map(|p| p.handle), tm.opens_at(PORT)), (None, None));
    tm.pause(PORT, QueueId(0), PauseCause::Pfc, false);
    assert!(tm.is_paused(PORT, QueueId(0)) && tm.peek(PORT, Time::ORIGIN).is_none());
    tm.pause(PORT, QueueId(0), PauseCause::Operator, false);
    assert_eq!(tm.dequeue(PORT, Time::ORIGIN).unwrap().left_bytes, Bytes::ZERO);
}

proptest! {
    /// Work conservation: a port without a port shaper sends if an open queue holds a packet.
    #[test]
    fn an_open_queue_is_never_left_waiting(
        queues in prop::collection::vec((0u8..8, 0u16..20, prop::option::of(1u64..100), any::<bool>()), 1..8),
        events in prop::collection::vec((any::<bool>(), 0usize..8, 60u64..9000, 0u64..300_000), 1..300),
    ) {
        let mut tm = port(&queues.iter().map(|q| (q.0, q.1)).collect::<Vec<_>>());
        for (id, queue) in (0..).zip(&queues) {
            tm.set_queue_shaper(PORT, QueueId(id), queue.2.map(shaper));
            if queue.3 {
                tm.set_guarantee(PORT, QueueId(id), Some(Guarantee { shaper: shaper(5), priority: id }));
            }
        }
        let mut now = Time::ORIGIN;
        for (enqueue, queue, bytes, gap) in events {
            now += Duration::from_ps(gap);
            if enqueue {
                let queue = QueueId((queue % queues.len()) as u8);
                tm.enqueue(PORT, queue, 0, Bytes(bytes), now).unwrap();
                continue;
            }
            let peeked = tm.peek(PORT, now);
            let held = tm.held();
            match tm.dequeue(PORT, now) {
                Some(p) => prop_assert_eq!(peeked, Some((p.handle, p.queue, p.bytes))),
                None if held > 0 => {
                    // Every queue with a packet is closed, and the port knows until when.
                    let at = tm.opens_at(PORT).unwrap();
                    prop_assert!(at > now);
                    prop_assert!(tm.peek(PORT, at).is_some());
                }
                None => prop_assert_eq!(peeked, None),
            }
        }
    }
}

#[test]
fn one_that_was_used_is_again_as_new() {
    let queue = QueueConfig { priority: 0, weight: 1, limit_cells: Cells(60) };
    let ports = |queues: usize| vec![sluice_asic::tm::PortQueues { queues: vec![queue; queues] }; 5];
    let new = |queues| TrafficManager::<u32>::new(config(ports(queues))).unwrap();
    let text = |tm: &TrafficManager<u32>| format!("{tm:?}");
    let mut used = new(4);
    for n in 0..100 {
        // The last of them are dropped, which is counted.
        _ = used.enqueue(TmPort(0), QueueId(1), n, PACKET, Time::ORIGIN);
    }
    used.dequeue(TmPort(0), Time::ORIGIN).unwrap();
    used.set_schedule(TmPort(1), QueueId(0), 3, 7);
    used.pause(TmPort(2), QueueId(3), PauseCause::Operator, true);
    used.set_port_shaper(TmPort(3), Some(shaper(10)));
    used.set_guarantee(TmPort(4), QueueId(0), Some(Guarantee { shaper: shaper(10), priority: 1 }));
    assert_ne!(text(&used), text(&new(4)));
    let other = used.clone().again(config(ports(3))).unwrap();
    assert_eq!(text(&other), text(&new(3)));
    assert_eq!(text(&used.again(config(ports(4))).unwrap()), text(&new(4)));
    assert!(new(4).again(config(Vec::new())).is_ok_and(|tm| text(&tm) != text(&new(4))));
}
