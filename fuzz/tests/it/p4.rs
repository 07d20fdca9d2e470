//! Mutants of P4 programs go through the front end without a panic, in bounded time.
//!
//! `SLUICE_P4_MUTANTS=SECONDS` goes on for so many seconds, with mutants of mutants and with all shipped programs, and keeps what
//! panics, or takes more than a minute, in `SLUICE_P4_FOUND=FOLDER`. `SLUICE_P4_SEED` begins elsewhere.

use sluice_fuzz::p4_mutant;
use sluice_fuzz::targets::p4_program;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Mutants of a plain test run.
const CASES: u32 = 300;

/// A program takes far less, at the tests' optimisation and on a machine with other work.
const LONGEST: Duration = Duration::from_secs(60);

/// Returns a sequence of numbers (SplitMix64, upper half).
fn draws(seed: u64) -> impl FnMut() -> u32 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 33) as u32
    }
}

/// Small programs with many constructs.
const SNIPPETS: [&str; 2] =
    [include_str!("../../corpus/p4/a-whole-pipe.p4"), include_str!("../../corpus/p4/t2na.p4")];

#[test]
fn mutants_do_not_panic() {
    let mut draws = draws(1);
    let seeds: Vec<String> = SNIPPETS.iter().map(|text| (*text).to_owned()).collect();
    let mut passes = BTreeMap::new();
    for _ in 0..CASES {
        let mutant = p4_mutant(one(&seeds, draws()), one(&seeds, draws()), &mut draws);
        // If a mutant panics, the test prints it.
        println!("{mutant}\n---");
        *passes.entry(p4_program(&mutant, false)).or_insert(0) += 1;
    }
    // Mutants that do not parse test the parser alone.
    let parsed = CASES - passes.get("read").copied().unwrap_or(0);
    assert!(parsed > CASES / 2, "{passes:?}");
}

fn one(list: &[String], draw: u32) -> &str {
    &list[draw as usize % list.len()]
}

/// The long run; without `SLUICE_P4_MUTANTS` it does nothing.
#[test]
fn mutants_for_a_long_time() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let Some(seconds) = number("SLUICE_P4_MUTANTS") else { return };
    let folder = PathBuf::from(std::env::var("SLUICE_P4_FOUND").expect("SLUICE_P4_FOUND names a folder"));
    let (seed, begun) = (number("SLUICE_P4_SEED").unwrap_or(1), Instant::now());
    let mut seeds: Vec<String> = SNIPPETS.iter().map(|text| (*text).to_owned()).collect();
    for stage in sluice_programs::catalogue().programs() {
        let program = stage.build(&[]).unwrap();
        seeds.extend(sluice_p4::write::write(&program));
    }
    let first = seeds.len();
    let (mut passes, mut found, mut cases) = (BTreeMap::<&str, u64>::new(), 0, 0);
    while begun.elapsed().as_secs() < seconds {
        let mut draws = draws(seed << 32 | cases);
        cases += 1;
        // Small programs are half of the seeds' draws.
        let from = if draws().is_multiple_of(2) { draws() % SNIPPETS.len() as u32 } else { draws() };
        let mutant = p4_mutant(one(&seeds, from), one(&seeds, draws()), &mut draws);
        // An overflow of the stack ends the process: the last program is in this file.
        std::fs::write(folder.join(format!("last-{seed}.p4")), &mutant).unwrap();
        let (started, placed) = (Instant::now(), draws().is_multiple_of(4));
        let pass = std::panic::catch_unwind(|| p4_program(&mutant, placed));
        let slow = started.elapsed() > LONGEST;
        if pass.is_err() || slow {
            found += 1;
            let what = if slow { "slow" } else { "panic" };
            std::fs::write(folder.join(format!("{what}-{seed}-{cases}.p4")), &mutant).unwrap();
        }
        let pass = pass.unwrap_or("panic");
        // Legal mutants are seeds, so that changes add up.
        if matches!(pass, "legal" | "placed") && mutant.len() < 100_000 {
            if seeds.len() < first + 300 {
                seeds.push(mutant)
            } else {
                seeds[first + draws() as usize % 300] = mutant
            }
        }
        *passes.entry(pass).or_insert(0) += 1;
        if cases % 500 == 0 {
            println!("{cases} in {} s: {passes:?}, {found} found", begun.elapsed().as_secs());
        }
    }
    println!("{cases} in {} s: {passes:?}, {found} found", begun.elapsed().as_secs());
    assert_eq!(found, 0, "see {}", folder.display());
}
