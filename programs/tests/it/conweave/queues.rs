//! Reorder queues and the hashes that pick them: scenarios D of model: conweave §7.

use crate::conweave::destination::{Dest, ORIGIN, REPLY, build, old, request, rerouted, tail};
use crate::conweave::wire::Flow;
use crate::conweave::world::TICK;
use sluice_ir::KeyValue;

/// Reroutes flows at the same time until no queue is free; returns the flow that got none.
fn exhaust(d: &mut Dest) -> usize {
    for n in 0..d.flows.len() {
        d.send(10 * TICK + n as u64 * 100, n, 10, rerouted(1, 121, 120));
    }
    d.run(20 * TICK);
    let owned = |n: usize| {
        d.out.iter().all(|s| crate::conweave::wire::read(&s.bytes).is_none_or(|s| s.flow != d.flows[n]))
    };
    (0..d.flows.len()).find(|n| !owned(*n)).unwrap()
}

#[test]
fn scenario_41_and_42_without_a_free_queue_an_epoch_is_delivered_as_it_comes() {
    let mut d = Dest::new(60);
    let lost = exhaust(&mut d);
    // Four ways of eight queues.
    assert!(d.tor.counter("unsorted", 0) >= 60 - 32);
    assert_eq!(d.psns(lost), [10], "not held");
    assert_eq!(d.tor.register("reorder_status_rx", lost + 1), 0);
    d.send(21 * TICK, lost, 11, rerouted(1, 122, 120));
    d.send(22 * TICK, lost, 1, tail(1, 120));
    d.run(30 * TICK);
    assert_eq!(d.psns(lost), [10, 11, 1]);
    assert!(d.kinds().contains(&(REPLY, 1, 1)), "TAIL is cleared at once");
    // Another port has separate queues.
    let other = Flow::new(1, 2, 7);
    let mut e = Dest::with(build(), d.flows.iter().copied().chain([other]).collect(), ORIGIN);
    exhaust(&mut e);
    e.send(21 * TICK, 30, 10, rerouted(1, 122, 120));
    e.run(23 * TICK);
    assert!(e.tor.by(&e.out, 1).is_empty(), "it waits");
    // All queues come back; the next epoch is normal.
    d.run(500 * TICK);
    d.tor.assert_clean();
    d.send(501 * TICK, lost, 20, rerouted(2, 600, 599));
    d.send(502 * TICK, lost, 19, tail(2, 599));
    d.run(700 * TICK);
    assert_eq!(d.psns(lost)[3..], [19, 20]);
    d.tor.assert_clean();
}

#[test]
fn scenario_44_46_ways_and_owners() {
    let mut d = Dest::new(14);
    for n in 0..d.flows.len() {
        d.send(10 * TICK + n as u64 * 100, n, 10, rerouted(1, 121, 120));
    }
    d.run(20 * TICK);
    let owners = |d: &Dest| -> Vec<Vec<u64>> {
        let ways = ["owner", "owner_1", "owner_2", "owner_3"];
        ways.iter()
            .map(|w| (0..64).map(|cell| d.tor.register(w, cell)).filter(|v| *v != 0).collect())
            .collect()
    };
    let ways = owners(&d);
    let unsorted = d.tor.counter("unsorted", 0) as usize;
    assert_eq!(ways.iter().map(Vec::len).sum::<usize>(), 14 - unsorted, "{ways:?}");
    assert!(ways[1..].iter().any(|w| !w.is_empty()), "who finds way 1 taken goes to the next: {ways:?}");
    // One flow releases its queue; all others keep theirs.
    let first = ways[0][0] as usize - 1;
    d.send(21 * TICK, first, 1, tail(1, 120));
    d.run(30 * TICK);
    let after = owners(&d);
    let gone: Vec<u64> = ways.concat().into_iter().filter(|o| !after.concat().contains(o)).collect();
    assert_eq!(gone, [first as u64 + 1]);
    // The queue's next owner starts without state: the same flow in its next epoch.
    d.send(31 * TICK, first, 20, rerouted(2, 300, 299));
    d.run(34 * TICK);
    assert_eq!(d.psns(first), [1, 10]);
    d.send(35 * TICK, first, 19, tail(2, 299));
    d.run(600 * TICK);
    assert_eq!(d.psns(first), [1, 10, 19, 20]);
    d.tor.assert_clean();
}

#[test]
fn scenario_48_only_reorder_queues_are_counted() {
    let mut d = Dest::new(1);
    for n in 0..10 {
        d.send(n * TICK, 0, n as u32, if n == 0 { request(1, 100) } else { old(1, 100) });
    }
    d.run(30 * TICK);
    assert!((0..64).all(|cell| d.tor.register("dequeued", cell) == 0));
    let table = build().program.table_named("queue_cell").unwrap();
    let keys: Vec<u128> = d.tor.switch.control_state().tables[table]
        .entries()
        .filter_map(|(_, e)| match e.key[1] {
            KeyValue::Exact(qid) => Some(qid),
            _ => None,
        })
        .collect();
    assert!(!keys.is_empty() && keys.iter().all(|q| (2..2 + 32).contains(q)), "{keys:?}");
}

/// Returns the CRC of bytes, starting from 0; `step` adds one byte.
fn crc(bytes: &[u8], step: impl Fn(u16, u8) -> u16) -> u16 {
    bytes.iter().fold(0, |crc, &byte| step(crc, byte))
}

/// Returns CRC-8 (polynomial 0x07, no reflection) and CRC-16 (polynomial 0x8005, reflected) of a flow's addresses and source
/// port, bit by bit.
fn hashes(flow: &Flow) -> (u16, u16) {
    let key = [&flow.src.octets()[..], &flow.dst.octets()[..], &flow.src_port.to_be_bytes()[..]].concat();
    let crc_8 = crc(&key, |crc, byte| {
        (0..8).fold(crc ^ u16::from(byte), |c, _| (c << 1 ^ if c & 0x80 != 0 { 0x07 } else { 0 }) & 0xff)
    });
    let crc_16 = crc(&key, |crc, byte| {
        (0..8).fold(crc ^ u16::from(byte), |c, _| c >> 1 ^ if c & 1 != 0 { 0xa001 } else { 0 })
    });
    (crc_8, crc_16)
}

#[test]
fn scenario_43_flows_that_collide_in_the_8_bit_hash_alone_take_two_ways() {
    let first = Flow::new(1, 1, 0);
    let (crc_8, crc_16) = hashes(&first);
    let pick = |wanted: &dyn Fn(u16, u16) -> bool| {
        (1..4_000).map(|n| Flow::new(1, 1, n)).find(|f| {
            let (a, b) = hashes(f);
            wanted(a, b)
        })
    };
    // A way has eight queues, so three bits of a hash pick one.
    let colliding = pick(&|a, b| a == crc_8 && b & 7 != crc_16 & 7).unwrap();
    let apart = pick(&|a, _| a & 7 != crc_8 & 7).unwrap();
    let mut d = Dest::with(build(), vec![first, colliding, apart], ORIGIN);
    for n in 0..3 {
        d.send((10 + n as u64) * TICK, n, 10, rerouted(1, 121, 120));
    }
    d.run(20 * TICK);
    let cells = |way: &str, row: u64| -> Vec<usize> {
        (0..1024).filter(|cell| d.tor.register(way, *cell) == row).collect()
    };
    let queue =
        |row: u64| ["owner", "owner_1", "owner_2", "owner_3"].map(|way| cells(way, row).first().copied());
    // Rows are 1, 2 and 3. Cells start at 1, eight to a way. The hashes pick the first flow's cell of way 1, and the second flow's cell of way 2.
    let cell = 1 + usize::from(crc_8 & 7);
    assert_eq!(queue(1), [Some(cell), None, None, None]);
    assert_eq!(queue(2), [None, Some(9 + usize::from(hashes(&colliding).1 & 7)), None, None]);
    assert_eq!(queue(3), [Some(1 + usize::from(hashes(&apart).0 & 7)), None, None, None]);
    for n in 0..3 {
        d.send((30 + n as u64) * TICK, n, 9, tail(1, 120));
    }
    d.run(200 * TICK);
    assert!((0..3).all(|n| d.psns(n) == [9, 10]), "no flow's packets are in another flow's queue");
    d.tor.assert_clean();
}

#[test]
fn a_packet_that_pauses_its_queue_waits_there_unless_the_word_is_slower_than_the_packet() {
    // Whether the word or the packet is first in the traffic manager rests on two assumptions; this is every order of them.
    for enqueue in [0, 1, 40, 60, 80, 120, 160] {
        for word in [1, 40, 60, 80, 120, 160] {
            let build = build().with_chip(|chip| {
                chip.latency.tm_enqueue = enqueue;
                chip.tm.afc_cycles = word;
            });
            let mut d = Dest::with(&build, vec![Flow::new(1, 1, 0)], ORIGIN);
            d.send(0, 0, 0, request(1, 100));
            d.send(1_000, 0, 100, rerouted(1, 121, 120));
            d.send(20_000, 0, 60, tail(1, 120));
            d.run(600 * TICK);
            let in_order = d.psns(0) == [0, 60, 100];
            // The least delay is none: at one instant a pause acts before a queue can send.
            assert_eq!(
                in_order,
                word <= enqueue.max(1),
                "tm_enqueue {enqueue}, afc_cycles {word}: {:?}",
                d.psns(0)
            );
        }
    }
}
