//! P4 programs: options of the preprocessor, and files on disk.

mod files;

pub use files::Disk;
pub(crate) use files::{FileOfProgram, text, unread};
pub(crate) use sluice_program_file::p4::{declarations, is_p4};

use crate::console::fail::Failure;
use clap::{Args, Parser};
use sluice_asic::chip::ChipSpec;
use sluice_asic::intrinsic::Architecture;
use sluice_ir::Program;
use sluice_p4::Define;
use sluice_program_file::ReadOptions;
use sluice_program_file::p4::P4Reading;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Options of the P4 preprocessor, spelled as p4c spells them.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct P4Args {
    /// P4: folder to search for included files, repeatable. A folder with `tna.p4` takes the place of the built-in one
    #[arg(short = 'I', value_name = "DIR", help_heading = "P4")]
    folders: Vec<PathBuf>,
    /// P4: define a macro, repeatable; without a value it is 1
    #[arg(short = 'D', value_name = "NAME[=VALUE]", help_heading = "P4")]
    defines: Vec<String>,
    /// P4: undefine a macro after all definitions, repeatable
    #[arg(short = 'U', value_name = "NAME", help_heading = "P4")]
    undefines: Vec<String>,
    /// P4: file to read before the program, repeatable (p4c's `-include`)
    #[arg(long = "include", value_name = "FILE", help_heading = "P4")]
    includes: Vec<String>,
    /// P4: architecture, tna or t2na, as p4c takes it. It follows from the chip and from what the program includes; so this is only
    /// checked. (p4c's `--target` is another spelling of --chip.)
    #[arg(long = "arch", value_name = "ARCH", help_heading = "P4")]
    architecture: Option<String>,
}

/// Returns the arguments of a command line with p4c's `-include` as `--include`.
pub(crate) fn as_p4c(arguments: impl Iterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    arguments.map(|argument| if argument == "-include" { "--include".into() } else { argument })
}

/// The options by themselves.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Line {
    #[command(flatten)]
    p4: P4Args,
}

impl P4Args {
    /// Returns the options of these words of a command line.
    pub(crate) fn of_words(words: &[String]) -> Result<P4Args, Failure> {
        let line = Line::try_parse_from(as_p4c(words.iter().map(OsString::from)));
        line.map(|line| line.p4).map_err(|e| {
            let text = e.to_string();
            Failure::input(text.trim_start_matches("error: ").trim_end())
        })
    }

    /// Returns the folders of `-I`.
    pub(crate) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Returns the files that are read before the program.
    pub(crate) fn first_files(&self) -> &[String] {
        &self.includes
    }

    /// Returns `-D` and `-U`, each with its value.
    pub(crate) fn definitions(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let defines = self.defines.iter().map(|value| ("-D", value.as_str()));
        defines.chain(self.undefines.iter().map(|value| ("-U", value.as_str())))
    }

    /// Makes all paths relative to a folder.
    pub(crate) fn relative_to(&mut self, folder: &Path) {
        self.folders.iter_mut().for_each(|one| *one = folder.join(&*one));
        self.includes.iter_mut().for_each(|one| *one = folder.join(&*one).display().to_string());
    }

    /// Returns all options as words of a command line that runs elsewhere; `back` leads from there to this folder.
    pub(crate) fn words_from(&self, back: &Path) -> Vec<String> {
        let mut moved = self.clone();
        moved.relative_to(back);
        let folders = moved.folders.iter().map(|folder| format!("-I {}", folder.display()));
        folders.chain(moved.options_text()).collect()
    }

    /// Returns the options that change what a program says, as text; `None` without such options.
    pub(crate) fn options_text(&self) -> Option<String> {
        let first = self.includes.iter().map(|file| format!("--include {file}"));
        let all: Vec<String> =
            self.definitions().map(|(flag, value)| format!("{flag} {value}")).chain(first).collect();
        (!all.is_empty()).then(|| all.join(" "))
    }

    /// Refuses an architecture that Sluice or the chip does not have.
    pub(crate) fn check(&self, chip: &ChipSpec) -> Result<(), Failure> {
        match (self.architecture.as_deref(), Architecture::of(chip)) {
            (None | Some("tna"), _) | (Some("t2na"), Architecture::T2na) => Ok(()),
            (Some("t2na"), Architecture::Tna) => Err(Failure::with_help(
                format!("--arch t2na: the architecture of {} is tna", chip.name),
                "give --chip tofino2, or --arch tna",
            )),
            (Some(other), _) => Err(Failure::with_help(
                format!("--arch {other}: Sluice reads P4 programs for tna and t2na"),
                "programs for v1model, PSA and other architectures need TNA's parsers, controls and externs first",
            )),
        }
    }

    /// Returns the options with which the library reads a program for a chip.
    pub(crate) fn options(&self, chip: &ChipSpec) -> ReadOptions {
        let define = self.defines.iter().cloned().map(Define::Define);
        let undefine = self.undefines.iter().cloned().map(Define::Undefine);
        let (defines, includes) = (define.chain(undefine).collect(), self.includes.clone());
        ReadOptions { chip: chip.clone(), defines, includes }
    }

    /// Returns a reader of files.
    pub(crate) fn disk(&self) -> Disk {
        Disk::new(&self.folders)
    }
}

/// Reads a P4 program without a word on its warnings.
pub(crate) fn program(path: &Path, args: &P4Args, disk: &Disk, chip: &ChipSpec) -> Result<Program, Failure> {
    args.check(chip)?;
    let options = args.options(chip);
    let reading = P4Reading::read(disk, &path.display().to_string(), &options);
    Ok(reading.legal(disk, &options)?.clone())
}

/// Returns the files on disk that a program consists of and that were read, the root first.
pub(crate) fn files_of(path: &Path, disk: &Disk) -> Vec<FileOfProgram> {
    let mut files = disk.files();
    // Files of `--include` are read before the root.
    let root = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    files.sort_by_key(|file| file.path != root);
    files
}
