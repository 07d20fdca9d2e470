//! Every lost packet is counted: any bytes, any ports, any times, any queues, both modes.

use crate::switch::order::mixed_frames;
use crate::switch::world::{Recorder, World, run};
use proptest::prelude::*;
use sluice_asic::units::Cells;
use sluice_switch::{Mode, QueueSetup, SwitchConfig};
use std::collections::BTreeMap;

fn config() -> impl Strategy<Value = SwitchConfig> {
    (any::<bool>(), any::<bool>(), 1..40_u32, 1..65_usize).prop_map(
        |(functional, strict, limit, max_batch)| SwitchConfig {
            mode: if functional { Mode::Functional } else { Mode::Timed },
            queues: QueueSetup { limit: Cells(limit), strict, weight: 1 },
            max_batch,
            ..SwitchConfig::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn every_frame_ends_once(frames in mixed_frames(120), config in config(), step in 1..50_usize) {
        let world = World::l3_ecmp();
        let mut switch = world.switch(world.engine(), config);
        let seen = run(world, &mut switch, &frames, step);
        let totals = switch.totals();
        prop_assert_eq!(totals.received, frames.len() as u64);
        prop_assert_eq!(totals.created, 0);
        prop_assert_eq!(totals.received, totals.sent + totals.dropped + totals.absorbed);
        prop_assert_eq!(switch.held().total(), 0);
        // The sink's events equal the counts, in total, by reason and by port.
        let mut ends: Vec<u64> = seen.sent().map(|(l, _)| l.tag).chain(seen.lost().map(|l| l.tag)).collect();
        ends.sort_unstable();
        prop_assert!(ends.iter().copied().eq(0..frames.len() as u64), "{:?}", ends);
        for (reason, count) in totals.reasons() {
            prop_assert_eq!(seen.lost().filter(|l| l.reason == reason).count() as u64, count);
        }
        for port in &totals.ports {
            let out = seen.sent().filter(|(l, _)| l.egress_port == port.dev_port);
            let (packets, bytes) = out.fold((0, 0), |(n, b), (l, _)| (n + 1, b + u64::from(l.bytes)));
            prop_assert_eq!((port.tx_packets, port.tx_bytes), (packets, bytes));
        }
        queues_agree(&seen, switch.queues().map(|(p, q, s)| ((p, q), s.enqueued.packets)).collect())?;
    }
}

/// The queues' counts equal the packets that the sink saw enter and leave them.
fn queues_agree(seen: &Recorder, counted: BTreeMap<(u16, u8), u64>) -> Result<(), TestCaseError> {
    use crate::switch::world::Seen;
    let (mut entered, mut left) = (BTreeMap::new(), BTreeMap::new());
    for s in &seen.seen {
        match s {
            Seen::Enqueued(e) => *entered.entry((e.port, e.qid)).or_insert(0u64) += 1,
            Seen::Dequeued(e) => *left.entry((e.port, e.qid)).or_insert(0u64) += 1,
            _ => {}
        }
    }
    prop_assert_eq!(&entered, &left);
    for (queue, count) in &entered {
        prop_assert_eq!(counted.get(queue), Some(count));
    }
    Ok(())
}
