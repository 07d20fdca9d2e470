//! Mutants of every kind of text go through its reader without a panic.
//!
//! `SLUICE_TEXT_MUTANTS=NUMBER` takes that many mutants of each kind in place of [`CASES`]; `SLUICE_TEXT_SEED` draws others.

use sluice_fuzz::hunt::words;
use sluice_fuzz::targets::{Programs, TARGETS, TEXTS, change_text};
use sluice_fuzz::text_mutant;
use std::path::Path;
use std::sync::LazyLock;

/// Mutants of each kind of text in a plain test run.
const CASES: u64 = 60;

static PROGRAMS: LazyLock<Programs> = LazyLock::new(|| Programs::new(sluice_programs::catalogue()));

/// Returns the number in an environment variable.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|e| panic!("{name}={text}: {e}")))
}

/// Returns the texts in the corpus of a target, in the order of their names.
fn seeds(target: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files.iter().filter_map(|file| std::fs::read_to_string(file).ok()).collect()
}

#[test]
fn mutants_of_texts_do_not_panic() {
    let (cases, seed) =
        (number("SLUICE_TEXT_MUTANTS").unwrap_or(CASES), number("SLUICE_TEXT_SEED").unwrap_or(1));
    for (name, target) in TARGETS.iter().filter(|(name, _)| TEXTS.contains(name)) {
        let seeds = seeds(name);
        assert!(seeds.len() >= 2, "{name} has {} texts", seeds.len());
        for case in 0..cases {
            let mut words = words(seed << 32 | case);
            let mut draws = || words.next().unwrap_or_default();
            let one = |draw: u32| &seeds[draw as usize % seeds.len()];
            let mutant = text_mutant(one(draws()), one(draws()), &mut draws);
            // If a mutant panics, the test prints it.
            println!("{name} {case}: {mutant:?}");
            target(&PROGRAMS, mutant.as_bytes());
        }
    }
}

#[test]
fn a_fuzzer_changes_texts_and_leaves_bytes_to_itself() {
    const MOST: usize = 1 << 17;
    let mut data = b"rate = 10\n".to_vec();
    data.resize(MOST, 0);
    // Of eight seeds, four are the fuzzer's own, which says so by the size 0.
    let mut sizes: Vec<usize> =
        (0..8).map(|seed| change_text(&mut data.clone(), 10, MOST, seed, |_, _, _| 0)).collect();
    sizes.retain(|size| *size == 0);
    assert_eq!(sizes.len(), 4);
    // A text that is longer than what the fuzzer takes is left to the fuzzer too.
    assert_eq!(change_text(&mut data.clone(), 10, 0, 4, |_, _, most| most), 0);
    let changed = change_text(&mut data, 10, MOST, 4, |_, _, _| 0);
    assert_ne!(&data[..changed], b"rate = 10\n");
    data[0] = 0xff;
    assert_eq!(change_text(&mut data, 10, MOST, 4, |_, _, _| 77), 77);
}
