//! The subject of a packet test: the program placed on a chip, the ports and the entries.

use super::Shared;
use crate::console::fail::{Failure, reason};
use crate::console::text_file::{self, read_text};
use crate::open::door::Door;
use crate::open::named::Naming;
use crate::open::p4::{self, is_p4};
use crate::open::resolve;
use crate::open::target::Target;
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::{DevPort, PortMap};
use sluice_catalogue::setup::Replaced;
use sluice_fabric::network::Placed;
use sluice_ir::Program;
use sluice_program_file::p4::chips;
use sluice_replay::packet_test::{Command, PacketTest, Script, TestFile, counting_fcs};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A test file that has been read.
pub(super) enum Source {
    Stf(Script),
    Toml(TestFile),
}

/// A test on a chip that could not be prepared.
pub(super) enum Unready {
    Refused(Failure),
    DoesNotFit(String),
}

impl From<Failure> for Unready {
    fn from(failure: Failure) -> Unready {
        Unready::Refused(failure)
    }
}

/// Returns true if a test is in TOML.
pub(super) fn is_toml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "toml")
}

impl Source {
    /// Reads a test.
    pub(super) fn read(test: &Path) -> Result<Source, Failure> {
        let text = read_text(test)?;
        if is_toml(test) {
            let folder = test.parent().unwrap_or(Path::new(""));
            let read = |file: &str| text_file::bytes(folder.join(file)).map_err(|e| reason(&e));
            let file = TestFile::parse(&text, &read);
            return file.map(Source::Toml).map_err(|e| Failure::input(format!("{}:{e}", test.display())));
        }
        Script::parse(&text).map(Source::Stf).map_err(|errors| {
            let lines = errors.iter().map(|e| format!("{}:{}: {}", test.display(), e.line, e.text));
            Failure::input(lines.collect::<Vec<_>>().join("\n"))
        })
    }

    /// Returns the chips on which a test runs if the command line names none.
    pub(super) fn chips(&self, shared: &Shared<'_>, test: &Path) -> Result<Vec<ChipSpec>, Failure> {
        if let Source::Toml(file) = self
            && !file.chips.is_empty()
        {
            let chip = |chip: &String| resolve::chip(chip).map_err(|e| naming(test).failed(chip, e));
            return file.chips.iter().map(chip).collect();
        }
        let (program, folder) = self.program(shared, test);
        let path = folder.join(&program);
        let chips = if is_p4(&path) {
            let options = shared.args.p4.options(&ChipSpec::tofino2());
            chips(&shared.disk, &path.display().to_string(), &options)
        } else {
            Vec::new()
        };
        // A program that names no architecture gets its message from the default chip.
        if chips.is_empty() { Ok(vec![resolve::chip("tofino2")?]) } else { Ok(chips) }
    }

    /// Returns the name or file of the program, and the folder from which a file is named.
    fn program(&self, shared: &Shared<'_>, test: &Path) -> (String, PathBuf) {
        if let Some(program) = &shared.program {
            return (program.clone(), PathBuf::new());
        }
        let folder = test.parent().unwrap_or(Path::new("")).to_owned();
        if let Source::Toml(TestFile { program: Some(program), .. }) = self {
            return (program.clone(), folder);
        }
        let beside = ["p4", "sluice"].map(|ending| test.with_extension(ending));
        let [p4, _] = &beside;
        let path = beside.iter().find(|path| path.is_file()).unwrap_or(p4);
        (path.file_name().unwrap_or_default().to_string_lossy().into_owned(), folder)
    }

    /// Prepares a test for a chip; returns it with its placed program.
    pub(super) fn prepare(
        &self,
        shared: &Shared<'_>,
        test: &Path,
        chip: &ChipSpec,
    ) -> Result<(PacketTest, Arc<Placed>), Unready> {
        let Shared { args, catalogue, disk, .. } = shared;
        let placed = |program: Program| {
            let placed = Placed::with(counting_fcs(program), chip, &args.placing.options());
            placed.map_err(|no_fit| Unready::DoesNotFit(no_fit.reason()))
        };
        let (program, folder) = self.program(shared, test);
        let path = folder.join(&program);
        let sets = match self {
            Source::Toml(file) => [file.sets.clone(), args.sets.clone()].concat(),
            Source::Stf(_) => args.sets.clone(),
        };
        let target = Target { chip: chip.name.clone(), sets, p4: args.p4.clone() };
        let file = match self {
            Source::Stf(script) if is_p4(&path) => {
                let placed = placed(p4::program(&path, &args.p4, disk, chip)?)?;
                return Ok((ready(script.clone(), &placed, chip)?, placed));
            }
            Source::Stf(script) => {
                let placed = placed(resolve::build(resolve::stage(catalogue, &program)?, &target)?)?;
                return Ok((ready(script.clone(), &placed, chip)?, placed));
            }
            Source::Toml(file) => file,
        };
        let mut door = Door::on(disk.clone(), catalogue, &args.p4, chip);
        let name = door.open(&program, &folder).map_err(|e| naming(test).failed(&program, e))?;
        let catalogue = door.into_catalogue();
        let stage = resolve::stage(&catalogue, &name)?;
        let placed = placed(resolve::build(stage, &target)?)?;
        let ports = PortMap::default_for(chip).map_err(Failure::input)?;
        let script = file.script(&ports).map_err(|e| Failure::input(format!("{}:{e}", test.display())))?;
        let missing = missing(&script, &ports);
        let ready = ready(script, &placed, chip)?;
        let entries = match (&file.entries, missing) {
            (None, Some(_)) => return Ok((ready, placed)),
            (Some(_), Some(port)) => {
                return Err(Failure::with_help(
                    format!(
                        "{}: the test names dev:{port}, which {} does not have",
                        test.display(),
                        chip.name
                    ),
                    "a test with `entries` runs on the ports of the chip; `sluice explain ports` lists them",
                )
                .into());
            }
            (None, None) => {
                return Ok((ready.on(ports, sluice_control::ControlState::new(&placed.program)), placed));
            }
            (Some(entries), None) if entries == "default" => None,
            (Some(entries), None) => Some(test.parent().unwrap_or(Path::new("")).join(entries)),
        };
        let both = (&placed.program, Some(&placed.placement));
        let entries = resolve::entries(stage, both, &ports, entries.as_deref(), Replaced::Nothing);
        let named = file.entries.as_deref().unwrap_or_default();
        let entries = entries.map_err(|e| naming(test).failed(named, e))?;
        Ok((ready.on(ports, entries.control), placed))
    }
}

/// Returns a test as the file that names others.
fn naming(test: &Path) -> Naming {
    Naming::of_file(test.display().to_string())
}

fn ready(script: Script, placed: &Arc<Placed>, chip: &ChipSpec) -> Result<PacketTest, Failure> {
    PacketTest::new(script, placed, chip).map_err(Failure::input)
}

/// Returns a dev_port that a test names and the chip does not have.
fn missing(script: &Script, ports: &PortMap) -> Option<u16> {
    let named = script.steps.iter().filter_map(|step| match &step.command {
        Command::Packet { port, .. } | Command::Expect { port: Some(port), .. } => Some(*port),
        _ => None,
    });
    let is_there = |port: u16| DevPort::new(port).and_then(|port| ports.dev(port)).is_some();
    named.into_iter().find(|port| !is_there(*port))
}
