//! Opens the programs that a command names: names of the catalogue, and `.sluice` and `.p4` files.

use crate::console::fail::Failure;
use crate::console::terminal;
use crate::open::named::Naming;
use crate::open::p4::{Disk, P4Args, is_p4, unread};
use crate::open::resolve;
use crate::open::target::Target;
use sluice_asic::chip::ChipSpec;
use sluice_catalogue::{Catalogue, StageProgram};
use sluice_fabric::topology::Blueprint;
use sluice_program_file::{FileCatalogue, OpenError, is_file};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A program that a command names.
pub(crate) struct OpenProgram {
    /// The catalogue with the program, and with the programs of its roles.
    pub(crate) catalogue: Catalogue,
    /// The program in that catalogue.
    pub(crate) stage: Arc<dyn StageProgram>,
    /// The file as the user named it, if it is one.
    pub(crate) file: Option<PathBuf>,
}

impl OpenProgram {
    /// Returns the name in the catalogue.
    pub(crate) fn name(&self) -> &str {
        self.stage.name()
    }
}

/// Opens a program for a command with these options.
pub(crate) fn program(catalogue: &Catalogue, program: &str, target: &Target) -> Result<OpenProgram, Failure> {
    Door::new(catalogue, &target.p4, &resolve::chip(&target.chip)?).program(program)
}

/// The catalogue with the files that were opened.
pub(crate) struct Door {
    files: FileCatalogue<Disk>,
    p4: P4Args,
    chip: ChipSpec,
}

impl Door {
    /// Returns a door with this catalogue behind it. P4 programs are read with these options and for this chip.
    pub(crate) fn new(catalogue: &Catalogue, p4: &P4Args, chip: &ChipSpec) -> Door {
        Door::on(p4.disk(), catalogue, p4, chip)
    }

    /// Like [`Door::new`], with files that may have been read.
    pub(crate) fn on(disk: Disk, catalogue: &Catalogue, p4: &P4Args, chip: &ChipSpec) -> Door {
        let files = FileCatalogue::new(catalogue.clone(), disk, p4.options(chip));
        Door { files, p4: p4.clone(), chip: chip.clone() }
    }

    /// Returns the catalogue with all files that were opened.
    pub(crate) fn into_catalogue(self) -> Catalogue {
        self.files.into_catalogue()
    }

    /// Opens a program, and returns it with the catalogue.
    pub(crate) fn program(&mut self, program: &str) -> Result<OpenProgram, Failure> {
        let name = self.open(program, Path::new(""))?;
        let catalogue = self.files.catalogue().clone();
        let stage = Arc::clone(resolve::stage(&catalogue, &name)?);
        Ok(OpenProgram { catalogue, stage, file: is_file(program).then(|| PathBuf::from(program)) })
    }

    /// Returns the name in the catalogue of a program, which may be a file. Paths are relative to `folder`. Warnings go to stderr.
    pub(crate) fn open(&mut self, program: &str, folder: &Path) -> Result<String, Failure> {
        let opened = self.files.open(program, folder);
        if self.files.files().any(is_p4) || is_p4(Path::new(program)) && opened.is_err() {
            self.p4.check(&self.chip)?;
        }
        for warnings in self.files.take_warnings() {
            match &opened {
                Ok(_) => terminal::warn(format_args!("{warnings}\n")),
                // They may be about the mistake.
                Err(_) => terminal::note(format_args!("{warnings}\n")),
            }
        }
        opened.map_err(Failure::from)
    }

    /// Opens the files that a topology names. Paths are relative to the topology's folder.
    pub(crate) fn topology(&mut self, blueprint: &mut Blueprint, folder: &Path) -> Result<(), Failure> {
        let switches = blueprint.switches.iter_mut().map(|switch| &mut switch.program);
        for program in switches.chain([&mut blueprint.program]).flatten().filter(|program| is_file(program)) {
            let opened = self.open(program, folder);
            *program =
                opened.map_err(|failure| Naming::of_file(&blueprint.origin).failed(program, failure))?;
        }
        Ok(())
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Failure {
        match error {
            OpenError::Unread { file, error } => unread(Path::new(&file), error),
            OpenError::Mistakes { error, other_chip: None } => Failure::snippets(&error.text),
            OpenError::Mistakes { error, other_chip: Some(chip) } => Failure::with_help(
                error.text.trim_start_matches("error: "),
                format!("the program has no mistakes on {chip}: give --chip {chip}"),
            ),
            OpenError::Unknown { path, error } => {
                let help = of_unknown(&error.found, &path);
                Failure::with_help(error, help)
            }
            OpenError::Role { file, error } => Failure::from(*error).within(&format!("{file}: role")),
        }
    }
}

/// Returns advice on a name that is not one of the catalogue. `path` is the file that may be meant.
fn of_unknown(program: &str, path: &Path) -> String {
    match Path::new(program).extension().and_then(|e| e.to_str()) {
        _ if path.is_dir() => {
            format!("`{program}` is a folder; a program is a name, or a .sluice or .p4 file")
        }
        Some("toml") if path.is_file() => {
            format!(
                "`sluice run {program}` runs scenarios and contests; a program is a name, or a .sluice or .p4 file"
            )
        }
        Some("pcap" | "pcapng" | "gz" | "zst") if path.is_file() => {
            format!("`sluice replay PROGRAM -i 0@{program}` sends a capture through a program")
        }
        _ if path.is_file() => {
            format!("a file of a program ends in .sluice or .p4, or is given with a `/`: ./{program}")
        }
        _ => {
            "`sluice programs` lists them with their parameters; a program may also be a .sluice or .p4 file"
                .to_owned()
        }
    }
}
