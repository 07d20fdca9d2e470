//! Fuzz targets: functions of raw bytes that panic if a check fails.
//!
//! The package `fuzz/cargo-fuzz` passes them to libFuzzer; `cargo test` replays the corpora in `fuzz/corpus`.

mod buffer;
mod engines;
mod experiments;
mod files;
mod p4;
mod p4_mutants;
mod programs;

pub use buffer::buffer;
pub use engines::{engines, placement};
pub use experiments::{contest, kept_input, ns3, packet_test, papers, scenario};
pub use files::{
    buffer_file, capture, chip_file, entries, int_frames, lists, program_file, program_text, sizes_file,
    topology,
};
pub use p4::p4;
pub use p4_mutants::{p4_mutants, p4_program};
pub use programs::{Programs, describe, programs};

use crate::text_mutants::text_mutant;

/// A target, as a function of the programs of a catalogue and of raw bytes. Most targets need no program.
pub type Target = fn(&'static Programs, &[u8]);

/// All targets; the name of each is that of its corpus folder.
pub const TARGETS: [(&str, Target); 22] = [
    ("capture", |_, data| capture(data)),
    ("entries", entries),
    ("chip_file", |_, data| chip_file(data)),
    ("buffer_file", |_, data| buffer_file(data)),
    ("topology", |_, data| topology(data)),
    ("sizes_file", |_, data| sizes_file(data)),
    ("scenario", |_, data| scenario(data)),
    ("contest", |_, data| contest(data)),
    ("ns3", |_, data| ns3(data)),
    ("papers", |_, data| papers(data)),
    ("packet_test", |_, data| packet_test(data)),
    ("kept_input", kept_input),
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

/// Names of the targets whose inputs are texts.
pub const TEXTS: [&str; 15] = [
    "entries",
    "chip_file",
    "buffer_file",
    "topology",
    "sizes_file",
    "scenario",
    "contest",
    "ns3",
    "papers",
    "packet_test",
    "kept_input",
    "program_text",
    "program_file",
    "p4",
    "lists",
];

/// Changes a text for a fuzzer: the first `size` bytes of `data` become a text of at most `most` bytes, whose size is returned.
/// Half of the seeds, and bytes that are no text, are left to `others`, the fuzzer's own changes.
pub fn change_text(
    data: &mut [u8],
    size: usize,
    most: usize,
    seed: u32,
    others: impl FnOnce(&mut [u8], usize, usize) -> usize,
) -> usize {
    let text = std::str::from_utf8(&data[..size]).ok().filter(|_| seed.is_multiple_of(2));
    let mut words = sluice_random::words(seed.into());
    let mutant = text.map(|text| text_mutant(text, text, &mut || words.next().unwrap_or_default()));
    match mutant.filter(|mutant| mutant.len() <= most) {
        Some(mutant) => {
            data[..mutant.len()].copy_from_slice(mutant.as_bytes());
            mutant.len()
        }
        None => others(data, size, most),
    }
}

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
