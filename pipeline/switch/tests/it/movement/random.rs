//! Random packets at random times through programs that recirculate, copy and multicast at once: both executors tell
//! one story at every batch size, and every packet is accounted for.

use crate::movement::device::{Frame, World, frame};
use crate::movement::{copies, laps, multicast};
use proptest::prelude::*;
use sluice_asic::chip::ChipSpec;
use std::sync::OnceLock;

fn worlds() -> &'static [World; 4] {
    static WORLDS: OnceLock<[World; 4]> = OnceLock::new();
    WORLDS.get_or_init(|| {
        [
            laps::world(&ChipSpec::tofino2()),
            laps::world(&ChipSpec::tofino()),
            copies::set_up(&ChipSpec::tofino2()),
            multicast::world(),
        ]
    })
}

/// Bytes that have a meaning to the programs, at times that make batches of all sizes.
fn frames() -> impl Strategy<Value = Vec<Frame>> {
    let small = prop_oneof![4 => 0..8u8, 1 => any::<u8>()];
    let one = (0..3usize, 0..400u64, proptest::collection::vec(small, 12), 60..1600usize);
    proptest::collection::vec(one, 1..60).prop_map(|list| {
        let mut time = 0;
        let frames = list.into_iter().map(|(port, gap, mut bytes, len)| {
            time += if gap < 300 { gap / 20 } else { gap * 5 };
            bytes.resize(len, 0xa5);
            frame([8, 24, 136][port], time, &bytes)
        });
        frames.collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn stories_agree_and_add_up(frames in frames(), world in 0..4usize) {
        let w = &worlds()[world];
        for story in [w.run(&frames), w.run_functional(&frames)] {
            let t = &story.totals;
            prop_assert_eq!(t.received, frames.len() as u64);
            prop_assert_eq!(t.received + t.created, t.sent + t.dropped + t.absorbed + story.held);
            prop_assert_eq!(t.created, t.made.mirror + t.made.multicast + t.made.digest + t.made.pktgen);
            prop_assert_eq!(story.held, 0);
        }
    }
}
