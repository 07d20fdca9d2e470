//! Readers of files on any bytes: they refuse, and do not panic. What may not live here: devices.

use sluice_asic::chip::ChipSpec;
use sluice_asic::tm::buffer::BufferFile;
use sluice_fabric::topology::Network;
use sluice_pcaps::capture::CaptureReader;
use sluice_pcaps::generate::Cdf;
use sluice_pipeline::control::{self, ControlState};
use sluice_pipeline::ir::Program;
use std::sync::OnceLock;

/// Frames read of a capture at most.
const FRAMES: u32 = 10_000;

/// A capture of any kind.
pub fn capture(data: &[u8]) {
    let Ok(mut reader) = CaptureReader::from_bytes(data, "fuzz") else { return };
    for _ in 0..FRAMES {
        match reader.next_frame() {
            Ok(Some(frame)) => {
                let (captured, length) = (frame.data.len(), frame.orig_len as usize);
                assert!(captured <= length, "{captured} bytes captured of a frame of {length}");
            }
            Ok(None) | Err(_) => return,
        }
    }
}

/// The shipped programs with their default parameters.
pub(super) fn shipped() -> &'static [Program] {
    static PROGRAMS: OnceLock<Vec<Program>> = OnceLock::new();
    PROGRAMS.get_or_init(|| sluice_programs::all().iter().filter_map(|p| p.build(&[]).ok()).collect())
}

/// Entries in both forms, for every shipped program. What is taken prints and is taken again, to the same effect.
pub fn entries(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for program in shipped() {
        for load in [control::toml::load, control::lines::load] {
            let mut state = ControlState::new(program);
            if load(program, text, "fuzz", &mut state).is_err() {
                continue;
            }
            let printed = control::entries::print(program, &state);
            let mut again = ControlState::new(program);
            let result = control::toml::load(program, &printed, "printed", &mut again);
            assert!(result.is_ok(), "{}: {result:?}\n{printed}", program.name);
            assert_eq!(printed, control::entries::print(program, &again), "{}", program.name);
        }
        let _ = control::lines::parse_changes(program, text, "fuzz");
    }
}

/// A chip file.
pub fn chip_file(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = ChipSpec::from_toml(text, "fuzz");
}

/// A buffer profile.
pub fn buffer_file(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(file) = BufferFile::parse("fuzz", text) {
        let _ = file.resolve(&super::buffer::ports());
    }
}

/// A topology file.
pub fn topology(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = Network::from_toml(text, "fuzz");
}

/// A distribution of flow sizes.
pub fn sizes_file(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = Cdf::parse("fuzz", text);
}
