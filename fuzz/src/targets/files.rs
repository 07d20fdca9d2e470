//! Readers of captures, programs, entries and devices on arbitrary bytes: they report errors and do not panic.

use super::Programs;
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::PortMap;
use sluice_asic::port_names::PortNames;
use sluice_asic::tm::buffer::{BufferFile, Rules, SonicText};
use sluice_asic::units::{Bytes, Time};
use sluice_catalogue::StageProgram;
use sluice_catalogue::route_list::RouteList;
use sluice_control::{self as control, ControlState};
use sluice_fabric::topology::{Blueprint, Network};
use sluice_ir::Program;
use sluice_ir::text;
use sluice_ir::verify::{has_errors, verify};
use sluice_pcaps::capture::CaptureReader;
use sluice_pcaps::generate::{Cdf, Envelope, FlowList, FrameList, ListDefaults, Pace};
use sluice_pcaps::int::{Marks, Telemetry, decode};
use sluice_pcaps::wire::MacAddr;
use sluice_place::place;
use sluice_program_file::ProgramFile;
use sluice_switch::property::{Departed, Origin};

/// Most frames that are read from a capture.
const FRAMES: u32 = 10_000;

/// Reads a capture of any format.
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

/// Returns true if a text names something of a program that the control plane can change.
fn names(program: &Program, text: &str) -> bool {
    let tables = program.tables.values().map(|t| &t.name).chain(program.profiles.values().map(|p| &p.name));
    let arrays = program.registers.values().map(|r| &r.name).chain(program.meters.values().map(|m| &m.name));
    let counters = program.counters.values().map(|c| &c.name);
    tables.chain(arrays).chain(counters).any(|name| text.contains(name.as_str()))
}

/// Reads entries in both forms, for the first program and every program of which they name a part; all others give the
/// same errors. Accepted entries are printed and read again, with the same effect.
pub fn entries(programs: &Programs, data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let named = programs.built().iter().enumerate().filter(|(n, program)| *n == 0 || names(program, text));
    for (_, program) in named {
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

/// Reads a chip file.
pub fn chip_file(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = ChipSpec::from_toml(text, "fuzz");
}

/// Reads a buffer profile: TOML, and tables of SONiC.
pub fn buffer_file(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let memory = BufferFile::of_memory("fuzz", Rules::Sai, Bytes(176), Bytes(60_000_000));
    if let Ok(file) = BufferFile::from_sonic(&[SonicText { name: "fuzz", text }], &memory, None) {
        let _ = file.resolve(&super::buffer::ports());
    }
    if let Ok(file) = BufferFile::parse("fuzz", text) {
        let _ = file.resolve(&super::buffer::ports());
    }
}

/// Reads a topology file of each kind (decision points, switches, ns-3), a list of routes, and names of ports.
pub fn topology(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = PortNames::parse("fuzz", text);
    if let (Ok(list), Ok(ports)) =
        (RouteList::parse("fuzz", text), PortMap::default_for(&ChipSpec::tofino2()))
    {
        let _ = list.position(&ports, |name| ports.find(name).map_err(|e| e.to_string()));
    }
    let _ = Network::from_toml(text, "fuzz");
    let _ = if Blueprint::is_ns3(text) {
        Blueprint::from_ns3(text, "fuzz").map(drop).map_err(drop)
    } else {
        Blueprint::from_toml(text, "fuzz").map(drop).map_err(drop)
    };
}

/// Reads the text of a program. An accepted program is printed and read again, and must be equal.
pub fn program_text(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(program) = text::parse(text) else { return };
    // A program that the verifier refuses may have no meaningful text.
    if has_errors(&verify(&program)) {
        return;
    }
    let printed = text::print(&program);
    let again = text::parse(&printed);
    assert_eq!(again.as_ref().map_err(ToString::to_string), Ok(&program), "{printed}");
}

/// Reads a file of a program, and uses what it says as commands do: builds it with extreme values of its parameters, makes
/// its entries for a switch, judges a packet by its properties, and places it.
pub fn program_file(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(file) = ProgramFile::parse("fuzz.sluice", text) else { return };
    let chip = ChipSpec::tofino2();
    let Ok(ports) = PortMap::default_for(&chip) else { return };
    let params = file.params();
    let bounds = params.iter().flat_map(|param| {
        let bounds = param.expects.split_whitespace().filter(|word| word.parse::<u128>().is_ok());
        bounds.map(|bound| vec![(param.key.clone(), bound.to_owned())]).collect::<Vec<_>>()
    });
    for sets in std::iter::once(Vec::new()).chain(bounds.take(4)) {
        let Ok(program) = file.build(&sets) else { continue };
        let _ = file.default_setup(&program, &ports);
        let came = Origin { port: 8, time: Time::ORIGIN, bytes: data };
        for property in &mut file.properties(&program) {
            let _ = property.left(&Departed::of(data, 9, Some(came)));
        }
        let _ = place(&program, &chip);
    }
}

/// Reads lists of flows and frames.
pub fn lists(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let envelope = Envelope::new(MacAddr::from_u64(1), MacAddr::from_u64(2));
    let pace = Pace::Spacing { ps: 1_000_000 };
    let _ = FlowList::parse("fuzz", text, ListDefaults { envelope, pace, size: 200 });
    let _ = FrameList::parse("fuzz", text, envelope);
}

/// Decodes telemetry, RoCEv2 and the headers of the catalogue's programs from a frame. Bytes after what was decoded change
/// nothing.
pub fn int_frames(programs: &Programs, data: &[u8]) {
    let default = Marks::default();
    let marks = [default, Marks { dscp: None, hpcc_port: Some(4791), ..default }];
    for marks in marks {
        if let Ok(Some(found)) = decode(data, &marks) {
            let padded = [data, &[0; 4]].concat();
            if !matches!(found, Telemetry::Reports(_)) {
                assert_eq!(decode(&padded, &marks), Ok(Some(found)), "with padding");
            }
        }
    }
    let _ = sluice_pcaps::wire::roce::dissect(data);
    for narrator in programs.catalogue().programs().iter().filter_map(|program| program.story()) {
        let _ = narrator.read(data);
    }
}

/// Reads a distribution of flow sizes.
pub fn sizes_file(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = Cdf::parse("fuzz", text);
}
