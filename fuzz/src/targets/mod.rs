//! Fuzz targets: functions of raw bytes that panic if a check fails.
//!
//! The package `fuzz/cargo-fuzz` passes them to libFuzzer; `cargo test` replays the corpora in `fuzz/corpus`.

mod buffer;
mod engines;
mod files;
mod p4;
mod p4_mutants;
mod programs;

pub use buffer::buffer;
pub use engines::{engines, placement};
pub use files::{
    buffer_file, capture, chip_file, entries, int_frames, lists, program_file, program_text, scenario,
    sizes_file, topology,
};
pub use p4::p4;
pub use p4_mutants::{p4_mutants, p4_program};
pub use programs::{Programs, describe, programs};

/// A target, as a function of the programs of a catalogue and of raw bytes. Most targets need no program.
pub type Target = fn(&'static Programs, &[u8]);

/// All targets; the name of each is that of its corpus folder.
pub const TARGETS: [(&str, Target); 17] = [
    ("capture", |_, data| capture(data)),
    ("entries", entries),
    ("chip_file", |_, data| chip_file(data)),
    ("buffer_file", |_, data| buffer_file(data)),
    ("topology", |_, data| topology(data)),
    ("sizes_file", |_, data| sizes_file(data)),
    ("scenario", |_, data| scenario(data)),
    ("program_text", |_, data| program_text(data)),
    ("program_file", |_, data| program_file(data)),
    ("p4", |_, data| p4(data)),
    ("p4_mutants", p4_mutants),
    ("lists", |_, data| lists(data)),
    ("int_frames", int_frames),
    ("programs", programs),
    ("engines", |_, data| engines(data)),
    ("placement", |_, data| placement(data)),
    ("buffer", |_, data| buffer(data)),
];

/// Returns the target of this name.
#[must_use]
pub fn target(name: &str) -> Option<Target> {
    TARGETS.iter().find(|(n, _)| *n == name).map(|(_, t)| *t)
}

/// Converts bytes to the words that draws read: four bytes each, most significant first, so that zeros stay small choices.
fn words(data: &[u8]) -> Vec<u32> {
    let word = |chunk: &[u8]| chunk.iter().fold(0, |w, b| w << 8 | u32::from(*b)) << (8 * (4 - chunk.len()));
    data.chunks(4).map(word).collect()
}
