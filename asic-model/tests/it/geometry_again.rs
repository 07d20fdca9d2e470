//! Table geometry, derived a second time: from the tables of model: chip §3 and §5 and their numbers, by counting entries,
//! words and RAMs one after another. Nothing here is computed by the chip's specification or by `geometry`.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use sluice_asic::chip::ChipSpec;
use sluice_asic::geometry::{self, CounterFormat, ExactTable};

/// Words of a RAM.
const WORDS: u64 = 1024;

/// Returns the key bits that are stored: whole bytes of those that the index does not imply.
fn stored(key_bits: u32, smallest_way: u32) -> u32 {
    let mut implied = 10;
    let mut rams = smallest_way;
    while rams >= 2 {
        implied += 1;
        rams /= 2;
    }
    let mut bytes = 0;
    while implied + bytes * 8 < key_bits {
        bytes += 1;
    }
    bytes * 8
}

/// Returns the most entries that one wide word holds, by adding entries until one has no room.
fn entries_per_word(key: u32, overhead: u32, width: u32) -> u32 {
    // Low halves of the RAMs, 64 bits each, in which overhead can be.
    let mut low = vec![64_u32; width as usize];
    let mut bits = 128 * width;
    let mut entries = 0;
    while entries < 9 && entries < 5 * width && bits >= key + 4 + overhead {
        let Some(half) = low.iter_mut().find(|half| **half >= overhead) else { break };
        *half -= overhead;
        bits -= key + 4 + overhead;
        entries += 1;
    }
    entries
}

/// Returns the ways that hold this number of RAMs, for each RAM of width.
fn ways(depth: u32) -> Vec<u32> {
    match depth {
        0..=4 => return vec![1, 1, 1, 1],
        5 => return vec![2, 1, 1, 1],
        6 => return vec![2, 2, 1, 1],
        7 => return vec![2, 2, 2, 1],
        _ => {}
    }
    // Powers of two as select bits of a way.
    let largest = if depth >= 64 { 4 } else { (3..6).rev().find(|b| 1 << b <= depth).unwrap() - 2 };
    let (mut list, mut rest, mut free, mut bits) = (Vec::new(), depth, 12_u32, largest);
    while rest > 0 {
        if free == 0 && bits > 0 {
            free = 12;
        }
        while 1 << bits > rest || bits > free {
            bits -= 1;
        }
        list.push(1 << bits);
        rest -= 1 << bits;
        free -= bits;
        if list.len() % 4 == 0 {
            bits = (0..=largest).rev().find(|b| 1 << b <= rest.max(1)).unwrap();
        }
    }
    list
}

/// Returns the fewest SRAMs for a table in one stage, with the capacity; `None` if 80 RAMs of ways do not hold it.
fn exact(key_bits: u32, overhead: u32, entries: u64) -> Option<(u32, u64)> {
    let mut best: Option<(u32, u64)> = None;
    for width in 1..=8 {
        let of = |smallest_way: u32| {
            let per_word = entries_per_word(stored(key_bits, smallest_way), overhead, width);
            let mut depth = 0;
            while per_word > 0 && u64::from(depth) * u64::from(per_word) * WORDS < entries {
                depth += 1;
            }
            // A stage has 80 RAMs.
            (per_word > 0).then(|| (per_word, ways(depth.min(80 / width))))
        };
        let Some((per_word, mut list)) = of(1) else { continue };
        let mut pack = per_word;
        let smallest = *list.iter().min().unwrap();
        // Larger ways imply more of the key, unless the table then has smaller ways.
        if let Some((more, deeper)) = of(smallest)
            && deeper.iter().all(|way| *way >= smallest)
        {
            (pack, list) = (more, deeper);
        }
        let rams: u32 = list.iter().sum();
        let capacity = u64::from(rams) * u64::from(pack) * WORDS;
        let srams = rams * width;
        if capacity >= entries && best.is_none_or(|(fewest, _)| srams < fewest) {
            best = Some((srams, capacity));
        }
    }
    best
}

/// Returns RAMs counted by the RAM of the last entry, with `per_word` entries to a word.
fn rams_of(entries: u64, per_word: u64) -> u64 {
    entries.checked_sub(1).map_or(0, |last| last / per_word / WORDS + 1)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2_000, rng_seed: RngSeed::Fixed(26), failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn exact_tables_take_the_rams_of_the_second_derivation(
        key_bits in 11_u32..300,
        overhead_bits in 0_u32..=64,
        entries in 1_u64..60_000,
    ) {
        for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
            let table = ExactTable { key_bits, overhead_bits, entries, ghost: true, identity_hash: false };
            let layout = geometry::exact_layout(&chip.mau, &table).unwrap();
            let found = (layout.capacity >= entries).then_some((layout.srams, layout.capacity));
            prop_assert_eq!(found, exact(key_bits, overhead_bits, entries), "{:?}", layout);
        }
    }

    #[test]
    fn action_data_takes_the_rams_of_the_second_derivation(bits in 1_u32..=1024, entries in 1_u64..300_000) {
        // Bytes of an entry, entries in a word, words of an entry.
        let table = [
            (1, 16, 1), (2, 8, 1), (4, 4, 1), (8, 2, 1), (16, 1, 1), (32, 1, 2), (64, 1, 4), (128, 1, 8),
        ];
        let (_, per_word, words) = table.into_iter().find(|(bytes, ..)| bytes * 8 >= bits).unwrap();
        let expected = rams_of(entries, per_word) * words;
        for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
            prop_assert_eq!(geometry::action_data(&chip.mau, entries, bits).unwrap().rams, expected);
        }
    }

    #[test]
    fn ternary_tables_take_the_memories_of_the_second_derivation(
        bytes in 1_u32..=33,
        overhead in 1_u32..=64,
        entries in 1_u64..20_000,
    ) {
        let width = [(6, 1), (11, 2), (17, 3), (22, 4), (28, 5), (33, 6)].into_iter().find(|(b, _)| *b >= bytes);
        let blocks = rams_of(entries, 1).max(1);
        let half_rams = entries.div_ceil(512);
        let per_word = [(8, 16), (16, 8), (32, 4), (64, 2)].into_iter().find(|(b, _)| *b >= overhead).unwrap().1;
        for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
            let tcams = geometry::tcams(&chip.mau, entries, bytes);
            prop_assert_eq!(tcams, half_rams * width.unwrap().1);
            prop_assert!(tcams >= blocks);
            prop_assert_eq!(geometry::tind_rams(&chip.mau, entries, overhead).unwrap(), rams_of(entries, per_word));
            prop_assert_eq!(geometry::tind_rams(&chip.mau, entries, 0).unwrap(), 0);
        }
    }

    #[test]
    fn counters_meters_and_ages_take_the_rams_of_the_second_derivation(entries in 1_u64..200_000) {
        let formats = [
            (CounterFormat::Single32, 4),
            (CounterFormat::Single64, 2),
            (CounterFormat::Both28And36, 2),
            (CounterFormat::Both64, 1),
            (CounterFormat::Both17And25, 3),
        ];
        for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
            let mau = &chip.mau;
            for (format, per_word) in formats {
                let rams = rams_of(entries, per_word);
                let layout = geometry::counter(mau, entries, format);
                prop_assert_eq!((layout.data_rams, layout.srams, layout.map_rams), (rams, rams + 1, rams + 1));
            }
            let meters = geometry::meter(mau, entries);
            prop_assert_eq!(meters.srams, rams_of(entries, 1) + 1);
            prop_assert_eq!(geometry::meter_colour_rams(mau, entries), rams_of(entries, 4));
            for (bits, per_word) in [(1, 8), (2, 4), (3, 2), (6, 1)] {
                prop_assert_eq!(geometry::idle_map_rams(mau, entries, bits), rams_of(entries, per_word));
            }
            for bits in [8, 16, 32, 64, 128] {
                let layout = geometry::register(mau, entries, bits).unwrap();
                prop_assert_eq!(layout.srams, rams_of(entries, 128 / u64::from(bits)) + 1);
            }
        }
    }
}
