//! Table geometry against the rules and examples of model: chip §3 to §5.

use proptest::prelude::*;
use sluice_asic::chip::{ChipSpec, MauSpec};
use sluice_asic::geometry::*;

fn mau() -> MauSpec {
    ChipSpec::tofino2().mau
}

#[test]
fn ways_of_the_examples_in_the_chip_page() {
    // model: chip §3.1.
    let rows: [(u32, &[u32]); 8] = [
        (1, &[1, 1, 1, 1]),
        (4, &[1, 1, 1, 1]),
        (5, &[2, 1, 1, 1]),
        (6, &[2, 2, 1, 1]),
        (7, &[2, 2, 2, 1]),
        (8, &[2, 2, 2, 2]),
        (16, &[4, 4, 4, 4]),
        (32, &[8, 8, 8, 8]),
    ];
    for (depth, expected) in rows {
        assert_eq!(
            exact_ways(&mau(), depth),
            Ways { sizes: expected.to_vec(), hash_functions: 1 },
            "depth {depth}"
        );
    }
}

#[test]
fn ways_of_uneven_and_large_tables() {
    // Worked by hand from the greedy rule: largest way first, 12 select bits per hash function.
    let rows: [(u32, &[u32], u32); 6] = [
        (9, &[2, 2, 2, 2, 1], 1),
        (24, &[4, 4, 4, 4, 4, 4], 1),
        (33, &[8, 8, 8, 8, 1], 1),
        (40, &[8, 8, 8, 8, 8], 2),
        (64, &[16, 16, 16, 16], 2),
        (80, &[16, 16, 16, 16, 16], 2),
    ];
    for (depth, sizes, hash_functions) in rows {
        assert_eq!(
            exact_ways(&mau(), depth),
            Ways { sizes: sizes.to_vec(), hash_functions },
            "depth {depth}"
        );
    }
    assert_eq!(exact_ways(&mau(), 1000).depth(), 80);
}

fn exact(key_bits: u32, overhead_bits: u32, entries: u64) -> ExactLayout {
    let table = ExactTable { key_bits, overhead_bits, entries, ghost: true, identity_hash: false };
    exact_layout(&mau(), &table).unwrap()
}

#[test]
fn exact_tables() {
    // 32-bit key: 22 bits stored in 3 bytes; 24 + 4 + 8 = 36 bits, 3 entries per RAM word.
    let small = exact(32, 8, 1024);
    assert_eq!((small.pack, small.width, small.ghost_bits, small.match_bits), (3, 1, 10, 24));
    assert_eq!((small.srams, small.capacity), (4, 4 * 3 * 1024));
    // 64k entries: one RAM wide, 3 per word take 22 RAMs; two wide, 7 per word (252 of 256 bits) take 10 x 2.
    // Ways of two RAMs imply one bit more, which does not free a byte.
    let large = exact(32, 8, 65_536);
    assert_eq!((large.pack, large.width, large.ways.sizes.clone()), (7, 2, vec![2, 2, 2, 2, 2]));
    assert_eq!(
        (large.ghost_bits, large.match_bits, large.srams, large.capacity),
        (11, 24, 20, 10 * 7 * 1024)
    );
    let table =
        ExactTable { key_bits: 32, overhead_bits: 8, entries: 65_536, ghost: true, identity_hash: false };
    let narrow = exact_layouts(&mau(), &table).unwrap().remove(0);
    assert_eq!((narrow.pack, narrow.width, narrow.srams), (3, 1, 22));
    assert_eq!(narrow.ways.sizes, [4, 4, 4, 4, 4, 2]);
    // A 48-bit MAC with 16 bits of overhead: 40 + 4 + 16 = 60 bits, 2 per word.
    let mac = exact(48, 16, 16_384);
    assert_eq!((mac.pack, mac.width, mac.ways.sizes.clone(), mac.srams), (2, 1, vec![2, 2, 2, 2], 8));
    // A 296-bit key (IPv6 5-tuple): 288 + 4 + 32 bits need three RAMs.
    let wide = exact(296, 32, 4096);
    assert_eq!((wide.pack, wide.width, wide.match_bits, wide.srams), (1, 3, 288, 12));
}

#[test]
fn packing_limits() {
    // At most 5 entries per RAM, however small; at most 9 per wide word.
    assert_eq!(exact(10, 0, 1024).pack, 5);
    // Overhead within the low 64 bits of each RAM: 40 bits allow one entry.
    assert_eq!(exact(16, 40, 1024).pack, 1);
    let identity =
        ExactTable { key_bits: 9, overhead_bits: 32, entries: 512, ghost: true, identity_hash: true };
    let layout = exact_layout(&mau(), &identity).unwrap();
    assert_eq!((layout.ways.sizes, layout.srams, layout.match_bits), (vec![1], 1, 0));
    let masked = ExactTable {
        ghost: false,
        ..ExactTable { key_bits: 32, overhead_bits: 8, entries: 1, ghost: true, identity_hash: false }
    };
    assert_eq!(exact_layout(&mau(), &masked).unwrap().match_bits, 32);
}

#[test]
fn exact_tables_that_do_not_fit() {
    let table =
        ExactTable { key_bits: 1025, overhead_bits: 0, entries: 1, ghost: true, identity_hash: false };
    assert_eq!(
        exact_layout(&mau(), &table).unwrap_err().to_string(),
        "exact-match key of 1025 bits; at most 1024"
    );
    let overhead = ExactTable { key_bits: 32, overhead_bits: 65, ..table };
    assert!(exact_layout(&mau(), &overhead).is_err());
    // More entries than a stage holds: the layout is one stage's share.
    let huge = exact(32, 8, 10_000_000);
    assert!(huge.srams <= 80 && huge.capacity < 10_000_000, "{huge:?}");
}

#[test]
fn ternary_widths() {
    // model: chip §3.2, all ranges at both ends.
    let rows = [(1..=6, 1), (7..=11, 2), (12..=17, 3), (18..=22, 4), (23..=28, 5), (29..=33, 6)];
    for (bytes, width) in rows {
        for byte in bytes {
            assert_eq!(ternary_width(byte), width, "{byte} bytes");
        }
    }
    assert_eq!(ternary_width(0), 1);
    assert_eq!((tcams(&mau(), 512, 5), tcams(&mau(), 513, 5), tcams(&mau(), 2048, 17)), (1, 2, 12));
}

#[test]
fn ternary_indirection() {
    let per_word = |bits| tind_entries_per_word(&mau(), bits);
    assert_eq!(per_word(0), Ok(None));
    for (bits, entries) in [(1, 16), (8, 16), (9, 8), (16, 8), (17, 4), (32, 4), (33, 2), (64, 2)] {
        assert_eq!(per_word(bits), Ok(Some(entries)), "{bits} bits");
    }
    assert!(per_word(65).is_err());
    assert_eq!(tind_rams(&mau(), 16 * 1024, 8), Ok(1));
    assert_eq!(tind_rams(&mau(), 16 * 1024 + 1, 8), Ok(2));
    assert_eq!(tind_rams(&mau(), 512, 0), Ok(0));
}

#[test]
fn range_expansion() {
    // A quarter are ranges: 4 nibbles take 7 lines each, 6 nibbles would take 11 but stop at 8.
    assert_eq!(range_lines(400, 4), 300 + 100 * 7);
    assert_eq!(range_lines(400, 6), 300 + 100 * 8);
    assert_eq!((range_lines(400, 0), range_lines(0, 4)), (400, 0));
}

#[test]
fn action_data_layouts() {
    let layout = |entries, bits| {
        let layout = action_data(&mau(), entries, bits).unwrap();
        (layout.entries_per_word, layout.words_per_entry, layout.rams)
    };
    assert_eq!(layout(1024, 8), (16, 1, 1));
    assert_eq!(layout(16 * 1024, 8), (16, 1, 1));
    assert_eq!(layout(4096, 48), (2, 1, 2));
    assert_eq!(layout(1024, 128), (1, 1, 1));
    assert_eq!(layout(1024, 136), (1, 2, 2));
    assert_eq!(layout(1025, 1024), (1, 8, 16));
    assert_eq!(layout(1024, 0), (0, 0, 0));
    assert!(action_data(&mau(), 1, 1025).is_err());
}

#[test]
fn registers() {
    // model: chip §4.5: 65,536 x 32 b is 16 RAMs and a spare; 1,024 x 32 b is 1 and a spare.
    let large = register(&mau(), 65_536, 32).unwrap();
    assert_eq!((large.data_rams, large.srams, large.map_rams, large.capacity), (16, 17, 17, 65_536));
    let small = register(&mau(), 1_024, 32).unwrap();
    assert_eq!((small.srams, small.map_rams, small.capacity), (2, 2, 4_096));
    for (bits, per_word) in [(1, 128), (8, 16), (16, 8), (32, 4), (64, 2), (128, 1)] {
        assert_eq!(register(&mau(), 1, bits).unwrap().entries_per_word, per_word);
    }
    assert!(register(&mau(), 1, 24).is_err());
    // model: chip §4.5: 23 data RAMs and a spare on Tofino 2.
    assert_eq!(max_register_rams(&ChipSpec::tofino2()), 24);
    assert_eq!(register(&mau(), 94_208, 32).unwrap().srams, 24);
    assert_eq!(register(&mau(), 94_209, 32).unwrap().srams, 25);
}

#[test]
fn counters_and_meters() {
    // model: chip §5.
    let densities: Vec<u32> = CounterFormat::ALL.iter().map(|format| format.entries_per_word()).collect();
    assert_eq!(densities, [4, 2, 2, 1, 3]);
    assert_eq!(counter(&mau(), 4096, CounterFormat::Single32).srams, 2);
    assert_eq!(counter(&mau(), 4097, CounterFormat::Single32).srams, 3);
    assert_eq!(counter(&mau(), 3072, CounterFormat::Both17And25).srams, 2);
    assert_eq!(
        (meter(&mau(), 2048).srams, meter_colour_rams(&mau(), 4096), meter_colour_rams(&mau(), 4097)),
        (3, 1, 2)
    );
}

#[test]
fn selectors() {
    // model: chip §3.5.
    let chip = ChipSpec::tofino2();
    let group = |members| selector_group(&chip.hash, members).map(|group| (group.words(), group.shift));
    assert_eq!(group(1), Ok((1, 0)));
    assert_eq!(group(120), Ok((1, 0)));
    assert_eq!(group(121), Ok((2, 0)));
    assert_eq!(group(120 * 31), Ok((31, 0)));
    // 33 words are 17 << 1.
    assert_eq!(group(120 * 33), Ok((34, 1)));
    assert_eq!(group(119_040), Ok((992, 5)));
    assert!(group(119_041).is_err() && group(0).is_err());
    assert!(!is_wide_selector(&chip.hash, 120) && is_wide_selector(&chip.hash, 121));
    assert_eq!(selector(&chip, 1024, 120).map(|layout| (layout.srams, layout.map_rams)), Ok((2, 2)));
    assert_eq!(selector(&chip, 1024, 240).map(|layout| layout.srams), Ok(3));
}

#[test]
fn algorithmic_tcams() {
    // model: chip §3.3: 65,536 entries in 1,024 partitions are 64 each; 2 per word make 32 RAMs, 7 tables.
    let layout = atcam(&mau(), 65_536, 1024, 2, 1).unwrap();
    assert_eq!((layout.ram_depth, layout.logical_tables, layout.ways, layout.srams), (32, 7, 1, 32));
    let split = atcam(&mau(), 65_536, 8192, 2, 1).unwrap();
    assert_eq!((split.ram_depth, split.logical_tables, split.ways, split.srams), (4, 4, 8, 32));
    let table = alpm(&mau(), 65_536, 4, 1024, 2, (2, 1)).unwrap();
    assert_eq!((table.classifier_entries, table.classifier_tcams, table.atcam), (2048, 4, layout));
    assert!(alpm(&mau(), 1, 4, 1000, 2, (2, 1)).is_err());
    assert!(atcam(&mau(), 1, 0, 2, 1).is_err());
}

proptest! {
    #[test]
    fn ways_are_powers_of_two_that_sum_to_the_depth(depth in 0..200_u32) {
        let ways = exact_ways(&mau(), depth);
        prop_assert!(ways.sizes.len() >= 4);
        prop_assert!(ways.sizes.iter().all(|size| size.is_power_of_two()));
        prop_assert_eq!(ways.depth(), depth.clamp(4, 80));
        prop_assert!(ways.select_bits() <= 12 * ways.hash_functions);
    }

    #[test]
    fn exact_layouts_hold_what_they_say(
        key_bits in 0..900_u32, overhead_bits in 0..=64_u32, entries in 0..400_000_u64, ghost: bool, identity_hash: bool
    ) {
        let mau = mau();
        let table = ExactTable { key_bits, overhead_bits, entries, ghost, identity_hash };
        let layout = exact_layout(&mau, &table).unwrap();
        prop_assert!(layout.match_bits + layout.ghost_bits >= key_bits);
        prop_assert!(layout.pack * (layout.match_bits + 4 + overhead_bits) <= layout.width * 128);
        prop_assert!(layout.pack * overhead_bits <= layout.width * 64);
        prop_assert!(layout.pack <= 9 && layout.pack <= 5 * layout.width);
        prop_assert_eq!(layout.srams, layout.ways.depth() * layout.width);
        prop_assert_eq!(layout.capacity, u64::from(layout.ways.depth() * layout.pack) * 1024);
        let smallest = layout.ways.sizes.iter().min().unwrap();
        prop_assert!(layout.ghost_bits <= 10 + smallest.ilog2());
        // A layout that is short leaves less RAM free than a word is wide, or a way's rounding took the rest.
        prop_assert!(layout.capacity >= entries || layout.srams * 2 > 80);
        if layout.capacity >= entries && !ghost && !identity_hash {
            let more = exact_layout(&mau, &ExactTable { key_bits: key_bits + 8, ..table }).unwrap();
            prop_assert!(more.capacity < entries || more.srams >= layout.srams);
        }
    }
}
