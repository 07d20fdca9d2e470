//! Fuzz targets: functions of raw bytes that panic if a check fails.
//!
//! The package `fuzz/cargo-fuzz` passes them to libFuzzer; `cargo test` replays the corpora in `fuzz/corpus`.

mod buffer;
mod engines;
mod files;
mod programs;

pub use buffer::buffer;
pub use engines::{engines, placement};
pub use files::{
    buffer_file, capture, chip_file, entries, int_frames, lists, program_text, scenario, sizes_file, topology,
};
pub use programs::{describe, programs};

/// A fuzz target.
pub type Target = fn(&[u8]);

/// All targets; the name of each is that of its corpus folder.
pub const TARGETS: [(&str, Target); 14] = [
    ("capture", capture),
    ("entries", entries),
    ("chip_file", chip_file),
    ("buffer_file", buffer_file),
    ("topology", topology),
    ("sizes_file", sizes_file),
    ("scenario", scenario),
    ("program_text", program_text),
    ("lists", lists),
    ("int_frames", int_frames),
    ("programs", programs),
    ("engines", engines),
    ("placement", placement),
    ("buffer", buffer),
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
