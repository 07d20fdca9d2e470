//! A packet that passes an empty port at once, against a packet that is queued and dequeued at the same time.

use super::support::{CONFIG_A, ports, resolve};
use proptest::prelude::*;
use sluice_asic::meter::Colour;
use sluice_asic::tm::buffer::{Buffer, PfcEdge};
use sluice_asic::tm::{
    Dequeued, Offer, Offered, PortQueues, QueueConfig, QueueId, TmConfig, TmPort, TrafficManager,
};
use sluice_asic::units::{Bytes, Cells, Time};

const PORTS: u16 = 4;

/// Four ports with eight queues each, two of them on each of four priorities, and the shared buffer of config A.
fn manager() -> TrafficManager<u32> {
    let queue = |q: u8| QueueConfig { priority: q / 2, weight: 1 + u16::from(q), limit_cells: Cells(300) };
    let config = TmConfig {
        cell_size: Bytes(256),
        buffer_cells: Cells(10_000),
        dwrr_quantum: Bytes(100),
        ports: (0..PORTS).map(|_| PortQueues { queues: (0..8).map(queue).collect() }).collect(),
    };
    let mut tm = TrafficManager::new(config).unwrap();
    tm.set_buffer(Buffer::new(&resolve(CONFIG_A, &[], &ports(PORTS.into(), 100))));
    tm
}

fn edges(tm: &mut TrafficManager<u32>) -> Vec<PfcEdge> {
    tm.buffer_mut().map(|buffer| buffer.edges().collect()).unwrap_or_default()
}

/// Everything that can be read of a traffic manager.
fn view(tm: &TrafficManager<u32>) -> String {
    let queues: Vec<_> = tm.queue_stats().collect();
    let ports: Vec<_> = (0..PORTS).map(|p| (tm.backlog(TmPort(p)), tm.port_max_cells(TmPort(p)))).collect();
    let held: Vec<_> = tm.held_handles().collect();
    let cells = (tm.used_cells(), tm.max_used_cells());
    format!("{queues:?}\n{ports:?}\n{held:?}\n{cells:?}\n{:?}", tm.buffer())
}

proptest! {
    /// Up to 400 packets of 1 to 9000 bytes fill queues, pause groups and are refused. Two thirds of the steps offer a
    /// packet, one third sends one.
    #[test]
    fn passing_is_queueing_and_sending(
        steps in prop::collection::vec((0..PORTS, 0..PORTS, 0..8_u8, 1..9_000_u64, 0..3_u8), 1..600),
    ) {
        let (mut passing, mut queueing) = (manager(), manager());
        let mut passed = 0;
        for (number, (in_port, port, class, bytes, kind)) in (0_u32..).zip(steps) {
            let (now, port) = (Time::from_ps(u64::from(number) * 1_000), TmPort(port));
            let mut seen: [Vec<PfcEdge>; 2] = Default::default();
            if kind == 0 {
                prop_assert_eq!(passing.dequeue(port, now), queueing.dequeue(port, now));
            } else {
                let (queue, in_port, bytes) = (QueueId(class), TmPort(in_port), Bytes(bytes));
                let (handle, colour) = (number, Colour::Green);
                let offer = Offer { handle, port, queue, bytes, in_port, pg: class, colour, copies: None };
                let plain = queueing.offer(&offer, now);
                seen[1].extend(edges(&mut queueing));
                match passing.pass(&offer, now) {
                    Ok(Offered::Queued(stamp)) => prop_assert_eq!(plain, Ok(stamp)),
                    Ok(Offered::Passed(out)) => {
                        passed += 1;
                        prop_assert_eq!(plain, Ok(out.stamp.enqueue));
                        let sent: Option<Dequeued<u32>> = queueing.dequeue(port, now);
                        prop_assert_eq!(sent, Some(out));
                    }
                    Err(drop) => prop_assert_eq!(plain, Err(drop)),
                }
            }
            seen[0].extend(edges(&mut passing));
            seen[1].extend(edges(&mut queueing));
            prop_assert_eq!(&seen[0], &seen[1]);
            prop_assert_eq!(view(&passing), view(&queueing));
        }
        // The first packet finds its port empty.
        prop_assert!(passed > 0 || admitted(&passing) == 0);
    }
}

/// Packets that were admitted, over all queues.
fn admitted(tm: &TrafficManager<u32>) -> u64 {
    tm.queue_stats().map(|(_, _, stats)| stats.enqueued.packets).sum()
}
