//! Limits of the work that a file may ask for.
//!
//! A small file can ask for work without end. Each reader, and the placer, count a deterministic measure of their work, never
//! time, and end with an error above the limit. A limit has one value in the whole process, which the option
//! `--max NAME=N` sets before a command reads its files. A limit never changes a result: a program or a run is the same under
//! every limit that it keeps.

use crate::names::did_you_mean;
use std::sync::atomic::{AtomicU64, Ordering};

/// A limit of the work that a file may ask for.
#[derive(Debug)]
pub struct Limit {
    /// Name in `--max NAME=N`.
    pub name: &'static str,
    /// Counted things, in one phrase.
    pub counts: &'static str,
    /// Value without `--max`.
    pub default: u64,
    value: AtomicU64,
}

impl Limit {
    const fn new(name: &'static str, default: u64, counts: &'static str) -> Limit {
        Limit { name, counts, default, value: AtomicU64::new(default) }
    }

    /// Returns the value.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.value.load(Ordering::Relaxed)
    }

    /// Returns true if a number is above the limit.
    #[must_use]
    pub fn is_below(&self, number: usize) -> bool {
        self.get() < number as u64
    }

    /// Returns the option that raises the limit, as the end of an error.
    #[must_use]
    pub fn advice(&self) -> String {
        format!("--max {}=N raises the limit", self.name)
    }
}

/// Bytes of a P4 file.
pub static P4_FILE_BYTES: Limit = Limit::new("p4-file-bytes", 16 << 20, "bytes of one P4 file");
/// Inclusions of P4 files.
pub static P4_INCLUDES: Limit =
    Limit::new("p4-includes", 5_000, "files that a P4 program includes, each as often as it is included");
/// Bytes of included P4 files.
pub static P4_INCLUDED_BYTES: Limit =
    Limit::new("p4-included-bytes", 64 << 20, "bytes of all files that a P4 program includes");
/// Tokens that macros make.
pub static P4_MACRO_TOKENS: Limit =
    Limit::new("p4-macro-tokens", 2_000_000, "tokens that all macros of a P4 program make");
/// Bytes of a word that a macro makes.
pub static P4_WORD_BYTES: Limit =
    Limit::new("p4-word-bytes", 65_536, "bytes of one word or string that a macro makes");
/// Numbers of a constant.
pub static P4_CONSTANT_NUMBERS: Limit =
    Limit::new("p4-constant-numbers", 65_536, "numbers of one constant, such as a list of lists");
/// Instances of a P4 program.
pub static P4_INSTANCES: Limit =
    Limit::new("p4-instances", 10_000, "blocks, tables, actions and extern objects of a P4 program");
/// Statements of action bodies.
pub static P4_STATEMENTS: Limit = Limit::new(
    "p4-statements",
    10_000,
    "statements of all actions of a P4 program, after calls of actions are inlined",
);
/// States of a parser.
pub static P4_PARSER_STATES: Limit =
    Limit::new("p4-parser-states", 2_000, "states of a P4 parser, after its paths are told apart");
/// Arms of a select.
pub static P4_SELECT_ARMS: Limit =
    Limit::new("p4-select-arms", 4_096, "combinations of values that one select of a P4 parser compares");
/// Bytes of a text of a program.
pub static PROGRAM_TEXT_BYTES: Limit = Limit::new("program-text-bytes", 1 << 20, "bytes of one .sluice file");
/// Declarations of a text of a program.
pub static PROGRAM_TEXT_ITEMS: Limit =
    Limit::new("program-text-items", 16_384, "declarations, fields and states of one .sluice file");
/// Nodes of an unrolled parser.
pub static PARSER_NODES: Limit =
    Limit::new("parser-nodes", 16_384, "states of one parser, after its loops are unrolled");
/// Steps of a placement.
pub static PLACING_STEPS: Limit = Limit::new(
    "placing-steps",
    200_000_000,
    "steps of one placement: pairs of tables and conditions that it compares, units and containers that it looks at",
);
/// Switches of a topology file.
pub static SWITCHES: Limit = Limit::new("switches", 1_024, "switches of a topology file");
/// Ports of SONiC tables.
pub static SONIC_PORTS: Limit = Limit::new("sonic-ports", 4_096, "front-panel ports of SONiC tables");
/// Steps of a scenario.
pub static SCENARIO_STEPS: Limit =
    Limit::new("scenario-steps", 100_000, "steps, rounds, notifications and marked packets of a scenario");
/// Steps of a scenario about a host.
pub static HOST_STEPS: Limit = Limit::new(
    "host-steps",
    20_000_000,
    "steps, rounds, notifications and marked packets of a scenario about a part of a host",
);
/// Frames of a scenario.
pub static SCENARIO_FRAMES: Limit =
    Limit::new("scenario-frames", 10_000_000, "frames that one case of a scenario sends");
/// Combinations of a sweep.
pub static SWEEP_RUNS: Limit =
    Limit::new("sweep-runs", 10_000, "combinations of `[sweep]` of a contest or scenario");
/// Seeds of a contest.
pub static SEEDS: Limit = Limit::new("seeds", 1_000, "seeds of a contest or scenario");

/// All limits, in the order of their list.
pub static ALL: [&Limit; 21] = [
    &P4_FILE_BYTES,
    &P4_INCLUDES,
    &P4_INCLUDED_BYTES,
    &P4_MACRO_TOKENS,
    &P4_WORD_BYTES,
    &P4_CONSTANT_NUMBERS,
    &P4_INSTANCES,
    &P4_STATEMENTS,
    &P4_PARSER_STATES,
    &P4_SELECT_ARMS,
    &PROGRAM_TEXT_BYTES,
    &PROGRAM_TEXT_ITEMS,
    &PARSER_NODES,
    &PLACING_STEPS,
    &SWITCHES,
    &SONIC_PORTS,
    &SCENARIO_STEPS,
    &HOST_STEPS,
    &SCENARIO_FRAMES,
    &SWEEP_RUNS,
    &SEEDS,
];

/// Returns the limit with this name.
///
/// # Errors
/// If there is none; the error has all names, and the nearest one.
pub fn named(name: &str) -> Result<&'static Limit, String> {
    ALL.into_iter().find(|limit| limit.name == name).ok_or_else(|| {
        let names = || ALL.into_iter().map(|limit| limit.name);
        let all = names().collect::<Vec<_>>().join(", ");
        format!("there is no limit `{name}`; expected {all}{}", did_you_mean(name, names()))
    })
}

/// Gives limits these values, and all others their defaults.
pub fn set(chosen: &[(&'static Limit, u64)]) {
    for limit in ALL {
        let own = chosen.iter().rev().find(|(other, _)| other.name == limit.name);
        limit.value.store(own.map_or(limit.default, |(_, value)| *value), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_and_find_their_limits() {
        for limit in ALL {
            assert!(std::ptr::eq(named(limit.name).unwrap(), limit), "{}", limit.name);
        }
        let wrong = named("placing-step").unwrap_err();
        assert!(wrong.starts_with("there is no limit `placing-step`; expected p4-file-bytes, "), "{wrong}");
        assert!(wrong.ends_with("did you mean `placing-steps`?"), "{wrong}");
        assert_eq!(SEEDS.advice(), "--max seeds=N raises the limit");
        assert!(!SEEDS.is_below(1_000) && SEEDS.is_below(1_001));
    }
}
