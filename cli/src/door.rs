//! Opens programs that are files: a program is a name of the catalogue, or a `.sluice` file.
//!
//! A file becomes a program of the catalogue, so everything behind the door finds programs by name. It has the name that its
//! text states, or its path if the catalogue already has a program of this name.

use crate::args::{Command, Target};
use crate::fail::Failure;
use crate::p4::{self, P4Args, is_p4};
use crate::resolve;
use sluice_asic::chip::ChipSpec;
use sluice_catalogue::{Catalogue, StageProgram};
use sluice_fabric::topology::Blueprint;
use sluice_ir::text::MAX_TEXT;
use sluice_program_file::{ProgramFile, is_file};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The catalogue with the files that were opened.
pub(crate) struct Door {
    catalogue: Catalogue,
    /// Name of each opened file.
    names: BTreeMap<PathBuf, String>,
    /// Options of the P4 preprocessor, and the chip that P4 programs are read for.
    p4: P4Args,
    chip: ChipSpec,
}

/// Reads a file of a program.
pub(crate) fn read(path: &Path) -> Result<ProgramFile, Failure> {
    let text = text(path)?;
    ProgramFile::parse(&path.display().to_string(), &text).map_err(|e| Failure::snippets(&e.text))
}

/// Reads the text of a program. A file that is much too long is not read whole.
pub(crate) fn text(path: &Path) -> Result<String, Failure> {
    use std::io::Read;
    let wrong = |e| Failure::file("read", path, &e);
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(wrong)?;
    file.take(MAX_TEXT as u64 + 1).read_to_end(&mut bytes).map_err(wrong)?;
    if bytes.len() > MAX_TEXT {
        let help = "a program's text is far shorter; is this the right file?";
        return Err(Failure::with_help(
            format!("{}: the file has more than {MAX_TEXT} bytes", path.display()),
            help,
        ));
    }
    String::from_utf8(bytes).map_err(|e| {
        let line = 1 + e.as_bytes()[..e.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count();
        Failure::with_help(
            format!("{}:{line}: the file is not text: these bytes are not UTF-8", path.display()),
            "a .sluice file is text; `sluice programs ecmp --ir` prints one",
        )
    })
}

impl Door {
    /// Returns a door with this catalogue behind it.
    pub(crate) fn new(catalogue: &Catalogue) -> Door {
        Door {
            catalogue: catalogue.clone(),
            names: BTreeMap::new(),
            p4: P4Args::default(),
            chip: ChipSpec::tofino2(),
        }
    }

    /// Returns the same door for P4 programs that are read with these options and for this chip.
    pub(crate) fn with_p4(self, p4: &P4Args, chip: &ChipSpec) -> Door {
        Door { p4: p4.clone(), chip: chip.clone(), ..self }
    }

    /// Returns the catalogue with all files that were opened.
    pub(crate) fn into_catalogue(self) -> Catalogue {
        self.catalogue
    }

    /// Returns the name in the catalogue of a program, which may be a file. Paths are relative to `folder`.
    pub(crate) fn open(&mut self, program: &str, folder: &Path) -> Result<String, Failure> {
        if self.catalogue.get(program).is_ok() || !is_file(program) {
            return self.named(program, folder);
        }
        let path = folder.join(program);
        if let Some(name) = self.names.get(&path) {
            return Ok(name.clone());
        }
        if is_p4(&path) {
            return self.open_p4(path);
        }
        let mut file = read(&path)?;
        if self.catalogue.get(file.name()).is_ok() {
            file = file.named(&path.display().to_string());
        }
        let name = file.name().to_owned();
        // A role may name this file again, so the name must be known before roles are opened.
        self.names.insert(path.clone(), name.clone());
        self.catalogue = std::mem::take(&mut self.catalogue).with(file.clone());
        self.roles(&mut file, &path)?;
        self.catalogue = std::mem::take(&mut self.catalogue).with(file);
        Ok(name)
    }

    /// Opens the programs that the roles of a file name.
    fn roles(&mut self, file: &mut ProgramFile, path: &Path) -> Result<(), Failure> {
        let beside = path.parent().unwrap_or(Path::new("")).to_owned();
        let mut of_roles = BTreeMap::new();
        for role in file.role_programs() {
            let opened = self.open(role, &beside);
            of_roles
                .insert(role.to_owned(), opened.map_err(|e| e.within(&format!("{}: role", path.display())))?);
        }
        file.rename_roles(|role| of_roles.get(role).cloned());
        Ok(())
    }

    /// Opens a P4 program.
    fn open_p4(&mut self, path: PathBuf) -> Result<String, Failure> {
        let mut program = p4::open(&path, &self.p4, &self.chip)?;
        if self.catalogue.get(program.name()).is_ok() {
            program = program.named(&path.display().to_string());
        }
        let name = program.name().to_owned();
        // A role may name this file again, so the name must be known before roles are opened.
        self.names.insert(path.clone(), name.clone());
        self.catalogue = std::mem::take(&mut self.catalogue).with(program.clone());
        if let Some(beside) = program.beside() {
            self.roles(beside, &path)?;
            self.catalogue = std::mem::take(&mut self.catalogue).with(program);
        }
        Ok(name)
    }

    /// Takes the options with which a command reads P4 programs.
    fn target(&mut self, target: &Target) -> Result<(), Failure> {
        self.p4 = target.p4.clone();
        self.chip = resolve::chip(&target.chip)?;
        Ok(())
    }

    /// Opens the program of an argument, and puts its name in place of the argument.
    fn argument(&mut self, program: &mut String) -> Result<(), Failure> {
        *program = self.open(program, Path::new(""))?;
        Ok(())
    }

    /// Opens the files that a topology names. Paths are relative to the topology's folder.
    pub(crate) fn topology(&mut self, blueprint: &mut Blueprint, folder: &Path) -> Result<(), Failure> {
        let switches = blueprint.switches.iter_mut().map(|switch| &mut switch.program);
        for program in switches.chain([&mut blueprint.program]).flatten().filter(|program| is_file(program)) {
            *program = self.open(program, folder)?;
        }
        Ok(())
    }

    /// Opens the files that a command names.
    pub(crate) fn command(&mut self, command: &mut Command) -> Result<(), Failure> {
        match command {
            Command::Programs(args) => {
                self.target(&args.target)?;
                args.program.iter_mut().try_for_each(|program| self.argument(program))
            }
            Command::Report(args) => {
                self.target(&args.target)?;
                args.path = is_file(&args.program).then(|| PathBuf::from(&args.program));
                self.argument(&mut args.program)?;
                if let Some(words) = &mut args.compare {
                    *words = self.words(words)?;
                }
                Ok(())
            }
            Command::Replay(args) => {
                self.target(&args.target)?;
                if let Some(topology) = args.topology.as_deref().filter(|_| is_p4(Path::new(&args.program))) {
                    // A P4 program is read for the chip of the network.
                    let chip = resolve::blueprint(topology)?.chip;
                    self.chip = chip.map_or_else(|| Ok(self.chip.clone()), |chip| resolve::chip(&chip))?;
                }
                args.path = is_file(&args.program).then(|| args.program.clone());
                self.argument(&mut args.program)
            }
            Command::Entries(args) => {
                self.target(&args.target)?;
                let path = Path::new(&args.program);
                args.path =
                    (self.catalogue.get(&args.program).is_err() && is_p4(path)).then(|| path.to_owned());
                if args.p4info && args.path.is_some() {
                    // The message comes from the P4 program itself, so that a program without a home here has it too.
                    return Ok(());
                }
                self.argument(&mut args.program)
            }
            Command::Fuzz(args) => {
                self.target(&args.target)?;
                args.path = is_file(&args.program).then(|| PathBuf::from(&args.program));
                self.argument(&mut args.program)
            }
            Command::Test(args) => args.program().into_iter().try_for_each(|program| self.argument(program)),
            Command::Flowlets(args) => {
                self.p4 = args.p4.clone();
                self.chip = resolve::chip(&args.chip)?;
                args.through.iter_mut().try_for_each(|program| self.argument(program))
            }
            Command::Polarization(args) => {
                args.packets.iter_mut().try_for_each(|program| self.argument(program))
            }
            Command::New(_)
            | Command::Check(_)
            | Command::Compare(_)
            | Command::Gen(_)
            | Command::Explain(_)
            | Command::Reproduce(_)
            | Command::Run(_)
            | Command::Int(_)
            | Command::Schema(_)
            | Command::Doctor
            | Command::Completions(_)
            | Command::Man(_) => Ok(()),
        }
    }

    /// Opens the program among the words of `--compare`.
    fn words(&mut self, words: &str) -> Result<String, Failure> {
        let word = |word: &str| {
            if word.contains('=') { Ok(word.to_owned()) } else { self.open(word, Path::new("")) }
        };
        Ok(words.split_whitespace().map(word).collect::<Result<Vec<_>, _>>()?.join(" "))
    }

    /// Returns the name of a program of the catalogue. The error says how a file is given.
    fn named(&self, program: &str, folder: &Path) -> Result<String, Failure> {
        let path = folder.join(program);
        let help = match Path::new(program).extension().and_then(|e| e.to_str()) {
            _ if path.is_dir() => format!("`{program}` is a folder; a program is a name, or a .sluice or .p4 file"),
            Some("toml") if path.is_file() => {
                format!("`sluice run {program}` runs scenarios and contests; a program is a name, or a .sluice or .p4 file")
            }
            Some("pcap" | "pcapng" | "gz" | "zst") if path.is_file() => {
                format!("`sluice replay PROGRAM -i 0@{program}` sends a capture through a program")
            }
            _ if path.is_file() => {
                format!("a file of a program ends in .sluice or .p4, or is given with a `/`: ./{program}")
            }
            _ => "`sluice programs` lists them with their parameters; a program may also be a .sluice or .p4 file"
                .to_owned(),
        };
        let known = self.catalogue.get(program).map(|stage| stage.name().to_owned());
        known.map_err(|e| Failure::with_help(e, help))
    }
}
