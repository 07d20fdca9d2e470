//! Buffer profiles by name: those that come with Sluice, TOML files, and files of SONiC.

use crate::console::fail::Failure;
use crate::console::text_file::read_text;
use sluice_asic::chip::ChipSpec;
use sluice_asic::names::did_you_mean;
use sluice_asic::port_names::PortNames;
use sluice_asic::tm::buffer::{BufferFile, Hardware, Rules, SonicText};
use std::path::{Path, PathBuf};

/// Joins the files of a profile of SONiC.
const JOINT: char = '+';

/// Beginning of the first note of a profile from files of SONiC.
const MEMORY: &str = "the memory is that of ";

/// Returns the first note of a profile if it says whose memory a profile from files of SONiC has.
pub(crate) fn whose_memory(first: Option<&str>) -> Option<&str> {
    first.filter(|note| note.starts_with(MEMORY))
}

/// Returns the buffer profile of this name: `chip` for that of the chip, a shipped one, a TOML file, or files of SONiC joined
/// by `+`,
/// to which the name of a profile may be joined that has the memory. Files are searched in `folder` first; `names` are the
/// user's names of the front-panel ports.
pub(crate) fn profile(
    name: &str,
    chip: &ChipSpec,
    folder: &Path,
    names: Option<&PortNames>,
) -> Result<BufferFile, Failure> {
    let whole = [name];
    let parts: Vec<&str> = match folder.join(name).is_file() || Path::new(name).is_file() {
        true => whole.to_vec(),
        false => name.split(JOINT).collect(),
    };
    let (files, bases): (Vec<&str>, Vec<&str>) = parts.into_iter().partition(|part| is_of_sonic(part));
    match (files.as_slice(), bases.as_slice()) {
        ([], [one]) => single(one, chip, folder),
        ([_, ..], []) => of_sonic(&files, None, chip, folder, names),
        ([_, ..], [base]) => of_sonic(&files, Some(single(base, chip, folder)?), chip, folder, names),
        (_, several) => Err(Failure::with_help(
            format!("--buffer {name}: {} are several profiles", several.join(" and ")),
            "join files of SONiC (.json, .ini) and at most one profile for the memory: config_db.json+th",
        )),
    }
}

/// Returns true for the names of SONiC's files.
pub(crate) fn is_of_sonic(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|e| e == "json" || e == "ini")
}

/// Returns the path of a file beside others, or else from the present folder.
fn path_of(name: &str, folder: &Path) -> PathBuf {
    let beside = folder.join(name);
    if beside.exists() { beside } else { PathBuf::from(name) }
}

fn single(name: &str, chip: &ChipSpec, folder: &Path) -> Result<BufferFile, Failure> {
    let own = if name == "chip" { chip.name.as_str() } else { name };
    if let Some(file) = BufferFile::shipped(own) {
        return file.map_err(Failure::input);
    }
    if Path::new(name).extension().is_none_or(|e| e != "toml") {
        let names = BufferFile::names().collect::<Vec<_>>().join(", ");
        return Err(Failure::with_help(
            format!("there is no buffer profile `{own}`{}", did_you_mean(own, BufferFile::names())),
            format!(
                "profiles are {names}, `chip` for the chip's own, a TOML file, or a config_db.json of SONiC"
            ),
        ));
    }
    let path = path_of(name, folder);
    let text = read_text(&path)?;
    BufferFile::parse(name, &text).map_err(Failure::input)
}

/// Returns a profile without pools that has the memory of a chip, under SAI's rules.
fn memory_of(chip: &ChipSpec) -> BufferFile {
    BufferFile::of_memory(&chip.name, Rules::Sai, chip.tm.cell, chip.tm.cells.bytes(chip.tm.cell))
}

/// Returns the memory of the ASIC that a configuration names, or else that of the chip, and whose it is.
fn memory_for(hardware: Option<Hardware>, chip: &ChipSpec) -> Result<(BufferFile, String), Failure> {
    let own = |why: String| {
        let text =
            format!("{MEMORY}{}, the chip of this run: {why}; join another, as in FILE.json+th", chip.name);
        (memory_of(chip), text)
    };
    let Some(Hardware { name, asic, profile }) = hardware else {
        return Ok(own("the files name no hwsku and no platform in DEVICE_METADATA".to_owned()));
    };
    // SONiC's rules are SAI's, also on a chip whose own profile has others.
    let of_profile = |name| match name {
        "tofino" => Ok(memory_of(&ChipSpec::tofino())),
        "tofino2" => Ok(memory_of(&ChipSpec::tofino2())),
        other => single(other, chip, Path::new("")),
    };
    match (asic, profile.map(of_profile)) {
        (Some(asic), Some(file)) => {
            let file = file?;
            let text = format!("{MEMORY}{}: {name} has a {asic}", file.name);
            Ok((file, text))
        }
        (Some(asic), None) => Ok(own(format!("{name} has a {asic}, of whose memory there is no profile"))),
        (None, _) => Ok(own(format!("the ASIC of {name} is not known"))),
    }
}

fn of_sonic(
    files: &[&str],
    base: Option<BufferFile>,
    chip: &ChipSpec,
    folder: &Path,
    names: Option<&PortNames>,
) -> Result<BufferFile, Failure> {
    let read = |name: &&str| {
        let path = path_of(name, folder);
        read_text(&path)
    };
    let read: Vec<String> = files.iter().map(read).collect::<Result<_, _>>()?;
    let texts: Vec<SonicText<'_>> =
        files.iter().zip(&read).map(|(name, text)| SonicText { name, text }).collect();
    let problems = |e: sluice_asic::tm::buffer::SonicProblems| {
        let many = if e.0.len() == 1 { "1 mistake".to_owned() } else { format!("{} mistakes", e.0.len()) };
        Failure::with_help(e, format!("{many}; docs/sonic.md says which tables are read, and how"))
    };
    let (base, whose) = match base {
        Some(base) => {
            let whose = format!("{MEMORY}{}, as you ask", base.name);
            (base, whose)
        }
        None => memory_for(Hardware::of(&texts), chip)?,
    };
    let mut file = BufferFile::from_sonic(&texts, &base, names).map_err(problems)?;
    file.notes.insert(0, whose);
    Ok(file)
}
