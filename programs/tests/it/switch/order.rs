//! Batches, the caller's steps and the executor change no observable result.

use crate::switch::steer;
use crate::switch::world::{Frame, Recorder, World, run, run_for};
use proptest::prelude::*;
use sluice_asic::units::Cells;
use sluice_pcaps::wire::{FrameBuilder, MacAddr, ipv4, udp};
use sluice_switch::{Mode, QueueSetup, SwitchConfig};

/// Frames that the program forwards, drops, punts and refuses, from several ports, close together.
pub(crate) fn mixed_frames(most: usize) -> impl Strategy<Value = Vec<Frame>> {
    let routed = (0..4_u8, any::<u16>(), 1..4_u8, 60..1500_usize).prop_map(|(net, sport, ttl, len)| {
        let mut ip = ipv4::Header::new([10, 0, 9, 9].into(), [10, net, 0, 7].into());
        ip.ttl = ttl;
        let mut bytes = Vec::new();
        FrameBuilder::new(MacAddr::from_u64(0x02_00_00_00_00_01), MacAddr::from_u64(0x02_00_00_00_01_00))
            .ipv4(ip)
            .udp(udp::Header::new(sport, 80))
            .build_len(len, &mut bytes)
            .unwrap();
        bytes
    });
    let damaged = (routed.clone(), any::<prop::sample::Index>(), any::<u8>()).prop_map(|(mut b, at, to)| {
        let at = at.index(b.len());
        b[at] = to;
        b
    });
    let any_bytes = prop::collection::vec(any::<u8>(), 0..200);
    let bytes = prop_oneof![6 => routed, 2 => damaged, 2 => any_bytes, 1 => Just(vec![0x55; 9000])];
    let missing = prop_oneof![4 => Just(0_u32), 1 => 0..2000_u32];
    prop::collection::vec((0..6_u16, 0..30_000_u64, bytes, missing), 1..most).prop_map(|list| {
        let mut now = 0;
        let frame = |(front, gap, bytes, missing)| {
            now += gap;
            Frame { front, ps: now, bytes, missing }
        };
        list.into_iter().map(frame).collect()
    })
}

/// Many to one: frames for one slow port that meet in its queues.
fn steered_frames(most: usize) -> impl Strategy<Value = Vec<Frame>> {
    let types = prop_oneof![
        6 => Just(0x0800_u16),
        1 => Just(steer::DROPPED),
        1 => Just(steer::SHORTENED),
    ];
    prop::collection::vec((0..4_u16, 0..3_000_u64, 8..11_u16, 0..4_u8, types, 18..400_usize), 1..most)
        .prop_map(|list| {
            let mut now = 0;
            let frame = |(front, gap, port, qid, ether_type, len)| {
                now += gap;
                Frame::new(front, now, steer::frame(steer::world().dev_port(port), qid, ether_type, len))
            };
            list.into_iter().map(frame).collect()
        })
}

fn seen(world: &World, config: SwitchConfig, frames: &[Frame], step: usize, fast: bool) -> Recorder {
    if fast {
        run(world, &mut world.switch(world.engine(), config), frames, step).sorted()
    } else {
        run(world, &mut world.switch(world.reference(), config), frames, step).sorted()
    }
}

pub(crate) fn invariant(world: &World, config: &SwitchConfig, frames: &[Frame]) -> Result<(), TestCaseError> {
    let with = |max_batch| SwitchConfig { max_batch, ..config.clone() };
    let expected = seen(world, with(64), frames, usize::MAX, true);
    for (max_batch, step, fast) in [(1, 1, true), (7, 3, true), (64, 1, true), (64, 10, false), (1, 5, false)]
    {
        let found = seen(world, with(max_batch), frames, step, fast);
        let differs = expected.seen.iter().zip(&found.seen).find(|(a, b)| a != b);
        prop_assert_eq!(differs, None, "batch {}, step {}, fast {}", max_batch, step, fast);
        prop_assert_eq!(expected.seen.len(), found.seen.len());
    }
    // Without an observer, packets are admitted ahead of earlier events, and pass both gresses in groups.
    let expected = expected.ends();
    for (max_batch, step) in [(64, usize::MAX), (64, 20), (7, 3), (1, 1), (1, 40)] {
        let mut switch = world.switch(world.engine(), with(max_batch));
        let sink = Recorder { content: true, ..Recorder::default() };
        let found = run_for(sink, world, &mut switch, frames, step).sorted();
        let differs = expected.seen.iter().zip(&found.seen).find(|(a, b)| a != b);
        prop_assert_eq!(differs, None, "unwatched, batch {}, step {}", max_batch, step);
        prop_assert_eq!(expected.seen.len(), found.seen.len());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn batches_steps_and_executors_change_nothing(frames in mixed_frames(80), limit in 1..200_u32) {
        let queues = QueueSetup { limit: Cells(limit), ..QueueSetup::default() };
        invariant(World::l3_ecmp(), &SwitchConfig { queues, ..SwitchConfig::default() }, &frames)?;
    }

    #[test]
    fn nor_do_they_without_time(frames in mixed_frames(300)) {
        let config = SwitchConfig { mode: Mode::Functional, ..SwitchConfig::default() };
        invariant(World::l3_ecmp(), &config, &frames)?;
    }

    #[test]
    fn nor_do_they_in_full_queues(frames in steered_frames(150), strict: bool) {
        let queues = QueueSetup { limit: Cells(12), strict, weight: 3 };
        let port = |front| steer::world().dev_port(front);
        let speeds = vec![(port(8), "25G".parse().unwrap()), (port(9), "100G".parse().unwrap())];
        let config = SwitchConfig { queues, port_speeds: speeds, ..SwitchConfig::default() };
        invariant(steer::world(), &config, &frames)?;
    }
}
