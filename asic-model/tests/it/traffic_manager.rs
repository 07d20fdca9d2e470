//! The traffic manager against a model that walks every round and keeps a deque per queue.

use std::collections::VecDeque;

use proptest::prelude::*;
use sluice_asic::tm::{
    AfcMode, AfcWord, Counter, EnqueueStamp, PauseCause, PortQueues, QueueConfig, QueueId, TailDrop,
    TmConfig, TmPort, TrafficManager,
};
use sluice_asic::units::{Bytes, Cells, Time};

struct Waiting {
    id: u32,
    bytes: u64,
    cells: u32,
    depth: u32,
    since: Time,
}

struct ModelQueue {
    config: QueueConfig,
    packets: VecDeque<Waiting>,
    deficit: u64,
    /// Weight 0 only: the one packet of the visit has not been sent.
    visit_unused: bool,
    max_cells: u32,
}

impl ModelQueue {
    fn cells(&self) -> u32 {
        self.packets.iter().map(|packet| packet.cells).sum()
    }
}

/// One port; `cursors` are the current visits, by priority.
struct ModelPort {
    queues: Vec<ModelQueue>,
    cursors: [usize; 8],
}

impl ModelPort {
    fn new(config: &PortQueues) -> Self {
        let queue = |&config: &QueueConfig| ModelQueue {
            config,
            packets: VecDeque::new(),
            deficit: 0,
            visit_unused: false,
            max_cells: 0,
        };
        Self { queues: config.queues.iter().map(queue).collect(), cursors: [0; 8] }
    }

    /// Returns the queue that sends next, by walking the round visit by visit.
    fn next(&mut self, dwrr_quantum: u64) -> Option<usize> {
        let busy = |queue: &&ModelQueue| !queue.packets.is_empty();
        let priority = self.queues.iter().filter(busy).map(|queue| queue.config.priority).max()?;
        let ring: Vec<usize> =
            (0..self.queues.len()).filter(|&queue| self.queues[queue].config.priority == priority).collect();
        let cursor = &mut self.cursors[usize::from(priority)];
        loop {
            let queue = &mut self.queues[ring[*cursor]];
            if let Some(head) = queue.packets.front() {
                let fits =
                    if queue.config.weight == 0 { queue.visit_unused } else { queue.deficit >= head.bytes };
                if fits {
                    return Some(ring[*cursor]);
                }
            }
            *cursor = (*cursor + 1) % ring.len();
            let queue = &mut self.queues[ring[*cursor]];
            if !queue.packets.is_empty() {
                queue.deficit += u64::from(queue.config.weight) * dwrr_quantum;
                queue.visit_unused = true;
            }
        }
    }

    fn pop(&mut self, queue: usize) -> Waiting {
        let queue = &mut self.queues[queue];
        let packet = queue.packets.pop_front().unwrap();
        queue.visit_unused = false;
        queue.deficit = if queue.packets.is_empty() || queue.config.weight == 0 {
            0
        } else {
            queue.deficit - packet.bytes
        };
        packet
    }
}

#[derive(Debug, Clone)]
enum Step {
    Enqueue { port: u16, queue: u8, bytes: u64 },
    Dequeue { port: u16 },
}

fn queue_config() -> impl Strategy<Value = QueueConfig> {
    // Few priorities and small weights, so that queues compete.
    let weight = prop_oneof![1 => Just(0), 4 => 1u16..20, 1 => Just(1023u16)];
    (prop_oneof![Just(0u8), Just(3), Just(7)], weight, 1u32..60)
        .prop_map(|(priority, weight, limit)| QueueConfig { priority, weight, limit_cells: Cells(limit) })
}

fn config() -> impl Strategy<Value = TmConfig> {
    let port = prop::collection::vec(queue_config(), 1..6).prop_map(|queues| PortQueues { queues });
    (1u64..200, 60u32..200, 1u64..300, prop::collection::vec(port, 1..4)).prop_map(
        |(cell_size, buffer, dwrr_quantum, ports)| TmConfig {
            cell_size: Bytes(cell_size),
            buffer_cells: Cells(buffer),
            dwrr_quantum: Bytes(dwrr_quantum),
            ports,
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0u16..4, 0u8..7, 0u64..1600).prop_map(|(port, queue, bytes)| Step::Enqueue { port, queue, bytes }),
        2 => (0u16..4).prop_map(|port| Step::Dequeue { port }),
    ]
}

/// The model of the whole: ports and the totals that conservation is checked against.
struct Model {
    config: TmConfig,
    ports: Vec<ModelPort>,
    enqueued: u64,
    dequeued: u64,
    dropped: u64,
}

impl Model {
    fn used(&self) -> u32 {
        self.ports.iter().flat_map(|port| &port.queues).map(ModelQueue::cells).sum()
    }

    /// Returns the expected answer of the traffic manager, and updates the model.
    fn enqueue(
        &mut self,
        id: u32,
        port: u16,
        queue: u8,
        bytes: u64,
        now: Time,
    ) -> Result<EnqueueStamp, &'static str> {
        let used = self.used();
        let state =
            self.ports.get_mut(usize::from(port)).and_then(|port| port.queues.get_mut(usize::from(queue)));
        let state = state.ok_or("no_such_queue")?;
        let cells = (bytes.div_ceil(self.config.cell_size.0) as u32).max(1);
        let depth = state.cells();
        if used + cells > self.config.buffer_cells.0 {
            self.dropped += 1;
            return Err("buffer_full");
        }
        if depth + cells > state.config.limit_cells.0 {
            self.dropped += 1;
            return Err("queue_tail_drop");
        }
        state.packets.push_back(Waiting { id, bytes, cells, depth, since: now });
        state.max_cells = state.max_cells.max(depth + cells);
        self.enqueued += 1;
        Ok(EnqueueStamp { enq_qdepth: Cells(depth), enq_tstamp: now })
    }
}

fn check_dequeue(
    tm: &mut TrafficManager<u32>,
    model: &mut Model,
    port: u16,
    now: Time,
) -> Result<(), TestCaseError> {
    let peeked = tm.peek(TmPort(port), now);
    let got = tm.dequeue(TmPort(port), now);
    prop_assert_eq!(peeked, got.map(|packet| (packet.handle, packet.queue, packet.bytes)));
    let dwrr_quantum = model.config.dwrr_quantum.0;
    let want = model.ports.get_mut(usize::from(port)).and_then(|port| {
        let queue = port.next(dwrr_quantum)?;
        Some((queue, port.pop(queue), port.queues[queue].cells()))
    });
    // Work conservation: no packet is sent only if no packet waits.
    let Some((queue, packet, depth)) = want else {
        prop_assert!(got.is_none());
        return Ok(());
    };
    model.dequeued += 1;
    let got = got.ok_or_else(|| TestCaseError::fail("a backlogged port sent nothing"))?;
    prop_assert_eq!((got.handle, got.queue), (packet.id, QueueId(queue as u8)));
    prop_assert_eq!(got.bytes, Bytes(packet.bytes));
    prop_assert_eq!(
        got.stamp.enqueue,
        EnqueueStamp { enq_qdepth: Cells(packet.depth), enq_tstamp: packet.since }
    );
    prop_assert_eq!(got.stamp.deq_qdepth, Cells(depth));
    prop_assert_eq!(got.stamp.deq_timedelta, now.checked_since(packet.since).unwrap());
    Ok(())
}

fn check_state(tm: &TrafficManager<u32>, model: &Model) -> Result<(), TestCaseError> {
    prop_assert_eq!(tm.used_cells(), Cells(model.used()));
    prop_assert!(tm.used_cells() <= model.config.buffer_cells && tm.max_used_cells() >= tm.used_cells());
    prop_assert_eq!(tm.held(), model.enqueued - model.dequeued);
    let waiting = (0u16..).zip(&model.ports).flat_map(|(port, state)| {
        (0u8..).zip(&state.queues).flat_map(move |(queue, state)| {
            state.packets.iter().map(move |packet| (TmPort(port), QueueId(queue), packet.id))
        })
    });
    prop_assert!(tm.held_handles().eq(waiting));
    let mut totals = [Counter::default(); 3];
    for (port, queue, stats) in tm.queue_stats() {
        let state = &model.ports[usize::from(port.0)].queues[usize::from(queue.0)];
        prop_assert_eq!(stats.max_cells, Cells(state.max_cells));
        prop_assert_eq!(tm.depth(port, queue), Some(Cells(state.cells())));
        for (total, part) in totals.iter_mut().zip([stats.enqueued, stats.dequeued, stats.dropped()]) {
            total.packets += part.packets;
            total.bytes += part.bytes;
        }
    }
    prop_assert_eq!(totals.map(|total| total.packets), [model.enqueued, model.dequeued, model.dropped]);
    let backlog = (0..model.ports.len() as u16).map(|port| tm.backlog(TmPort(port)));
    prop_assert_eq!(totals[0].bytes, totals[1].bytes + backlog.map(|backlog| backlog.bytes).sum());
    Ok(())
}

proptest! {
    #[test]
    fn follows_the_model(config in config(), steps in prop::collection::vec(step(), 1..300)) {
        let mut tm = TrafficManager::new(config.clone()).unwrap();
        let ports = config.ports.iter().map(ModelPort::new).collect();
        let mut model = Model { config, ports, enqueued: 0, dequeued: 0, dropped: 0 };
        for (id, step) in (0u32..).zip(steps) {
            let now = Time::from_nanos(u64::from(id) * 7);
            match step {
                Step::Enqueue { port, queue, bytes } => {
                    let got = tm.enqueue(TmPort(port), QueueId(queue), id, Bytes(bytes), now);
                    let want = model.enqueue(id, port, queue, bytes, now);
                    prop_assert_eq!(got.map_err(|drop| drop.reason()), want);
                }
                Step::Dequeue { port } => check_dequeue(&mut tm, &mut model, port, now)?,
            }
            check_state(&tm, &model)?;
        }
        // After draining, packets in equal packets out.
        for port in 0..model.ports.len() as u16 {
            while tm.backlog(TmPort(port)).packets > 0 {
                check_dequeue(&mut tm, &mut model, port, Time::from_nanos(1 << 20))?;
            }
        }
        check_state(&tm, &model)?;
        prop_assert_eq!((tm.held(), tm.used_cells()), (0, Cells::ZERO));
        tm.reset_watermarks();
        prop_assert!(tm.queue_stats().all(|(_, _, stats)| stats.max_cells == Cells::ZERO));
    }

    /// Queues that never run empty: over any number of turns, no queue's service, counted in its own quanta,
    /// is ahead of another's by more than two rounds and the packets that straddle them.
    #[test]
    fn byte_shares_follow_weights(
        weights in prop::collection::vec(1u16..1023, 2..6),
        lengths in prop::collection::vec(prop::collection::vec(1u64..1500, 1..7), 6),
        dwrr_quantum in 1u64..4,
        turns in 1usize..600,
    ) {
        const MTU: u128 = 1500;
        let queue = |&weight: &u16| QueueConfig { priority: 2, weight, limit_cells: Cells(100) };
        let config = TmConfig {
            cell_size: Bytes(1500),
            buffer_cells: Cells(1000),
            dwrr_quantum: Bytes(dwrr_quantum),
            ports: vec![PortQueues { queues: weights.iter().map(queue).collect() }],
        };
        let mut tm = TrafficManager::new(config).unwrap();
        let port = TmPort(0);
        let fill = |tm: &mut TrafficManager<usize>, queue: u8, serial: usize| {
            let sizes = &lengths[usize::from(queue)];
            tm.enqueue(port, QueueId(queue), serial, Bytes(sizes[serial % sizes.len()]), Time::ORIGIN).unwrap();
        };
        for queue in 0..weights.len() as u8 {
            fill(&mut tm, queue, 0);
            fill(&mut tm, queue, 1);
        }
        let mut sent = vec![0u128; weights.len()];
        for _ in 0..turns {
            let packet = tm.dequeue(port, Time::ORIGIN).unwrap();
            sent[usize::from(packet.queue.0)] += u128::from(packet.bytes.0);
            fill(&mut tm, packet.queue.0, packet.handle + 2);
            for (&a, &weight_a) in sent.iter().zip(&weights) {
                for (&b, &weight_b) in sent.iter().zip(&weights) {
                    let quantum = |weight: u16| u128::from(weight) * u128::from(dwrr_quantum);
                    let (qa, qb) = (quantum(weight_a), quantum(weight_b));
                    let bound = b * qa + 2 * qa * qb + MTU * qa.max(qb);
                    prop_assert!(a * qb <= bound, "{sent:?} at weights {weights:?}");
                }
            }
        }
    }
}

#[test]
fn drops_say_what_was_full() {
    let queue = QueueConfig { priority: 0, weight: 1, limit_cells: Cells(3) };
    let mut tm = TrafficManager::new(TmConfig::uniform(Bytes(80), Cells(4), Bytes(80), 1, 2, queue)).unwrap();
    let mut enqueue = |queue, bytes| tm.enqueue(TmPort(0), QueueId(queue), (), Bytes(bytes), Time::ORIGIN);
    // 81 bytes take two cells, 80 one.
    assert!(enqueue(0, 81).is_ok());
    let tail = enqueue(0, 81).unwrap_err();
    assert_eq!(tail, TailDrop::QueueTailDrop { depth: Cells(2), need: Cells(2), limit: Cells(3) });
    assert_eq!(tail.to_string(), "queue holds 2 cells of 3 cells; 2 cells more do not fit");
    assert!(enqueue(0, 80).is_ok());
    assert!(enqueue(1, 80).is_ok());
    let full = enqueue(1, 1).unwrap_err();
    assert_eq!(full, TailDrop::BufferFull { used: Cells(4), need: Cells(1), size: Cells(4) });
    assert_eq!(enqueue(1, u64::MAX).unwrap_err().reason(), "buffer_full");
    assert_eq!(enqueue(2, 1).unwrap_err().to_string(), "port 0 has no queue 2");
    let stats: Vec<_> = tm.queue_stats().map(|(_, _, stats)| *stats).collect();
    assert_eq!(
        (stats[0].tail_dropped, stats[0].buffer_dropped),
        (Counter { packets: 1, bytes: Bytes(81) }, Counter::default())
    );
    assert_eq!((stats[1].tail_dropped.packets, stats[1].buffer_dropped.packets), (0, 2));
    assert_eq!((tm.port_max_cells(TmPort(0)), tm.max_used_cells()), (Some(Cells(4)), Cells(4)));
}

#[test]
fn held_queues_are_passed_over_and_go_on() {
    let config = QueueConfig { priority: 0, weight: 1, limit_cells: Cells(100) };
    let mut tm =
        TrafficManager::new(TmConfig::uniform(Bytes(80), Cells(400), Bytes(80), 1, 3, config)).unwrap();
    let (port, queue) = (TmPort(0), |q| QueueId(q));
    for q in [0, 1, 2] {
        for n in 0..3 {
            tm.enqueue(port, queue(q), (q, n), Bytes(80), Time::ORIGIN).unwrap();
        }
    }
    assert!(tm.pause(port, queue(0), PauseCause::Operator, true));
    assert!(tm.set_flow_control(port, queue(1), Some(AfcMode::Xoff)));
    assert!(tm.set_flow_control(port, queue(2), Some(AfcMode::Credit)));
    let word = |credit| AfcWord { qfc: true, pipe: 0, mac: 0, queue: 0, credit };
    assert!(tm.flow_control(port, queue(1), word(1)));
    assert_eq!(tm.dequeue(port, Time::ORIGIN), None, "one paused, one stopped, one without credit");
    assert_eq!(tm.peek(port, Time::ORIGIN), None);
    assert!(tm.flow_control(port, queue(2), word(2)));
    let taken = |tm: &mut TrafficManager<(u8, u8)>| {
        std::iter::from_fn(|| tm.dequeue(port, Time::ORIGIN)).map(|d| d.handle).collect::<Vec<_>>()
    };
    assert_eq!(taken(&mut tm), [(2, 0), (2, 1)]);
    assert!(tm.flow_control(port, queue(1), word(0)));
    assert_eq!(taken(&mut tm), [(1, 0), (1, 1), (1, 2)]);
    tm.pause(port, queue(0), PauseCause::Operator, false);
    tm.set_flow_control(port, queue(2), None);
    assert_eq!(taken(&mut tm), [(2, 2), (0, 0), (0, 1), (0, 2)], "round the ring");
    assert_eq!((tm.held(), tm.used_cells()), (0, Cells(0)));
    assert!(
        !tm.pause(port, queue(3), PauseCause::Operator, true)
            && !tm.flow_control(TmPort(1), queue(0), word(0))
    );
}
