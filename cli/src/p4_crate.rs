//! A P4 program as a crate of one's own, which `sluice new --from FILE.p4` writes.

use crate::command_line::dispatch;
use crate::console::fail::{Failure, complain};
use crate::open::p4::{Disk, P4Args, declarations, files_of};
use crate::open::resolve;
use clap::Parser;
use sluice_asic::chip::ChipSpec;
use sluice_catalogue::{Catalogue, StageProgram};
use sluice_exec::cover::Points;
use sluice_exec::engine::generate::{generate, module};
use sluice_exec::engine::generated::Generated;
use sluice_program_file::p4::{P4Program, P4Reading};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A P4 program as a crate of one's own: its build script writes the program's generated code, and its binary has all commands of
/// Sluice. `sluice new --from FILE.p4` writes such a crate.
#[derive(Clone, Copy, Debug)]
pub struct P4Crate {
    /// Name of the program in commands.
    pub name: &'static str,
    /// Folder of the crate: `env!("CARGO_MANIFEST_DIR")`.
    pub folder: &'static str,
    /// The P4 file, relative to the folder.
    pub file: &'static str,
    /// The chip for which code is generated, and options of the P4 preprocessor, as commands take them. Folders and files are
    /// relative to the crate's folder.
    pub options: &'static [&'static str],
}

/// The options of a crate.
#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct Options {
    #[arg(long, alias = "target", default_value = "tofino2")]
    chip: String,
    #[command(flatten)]
    p4: P4Args,
}

impl P4Crate {
    /// Writes the generated code as `code.rs` into the folder `OUT_DIR`, for a build script: the program as it is placed on the
    /// crate's chip, and a second time with counters for coverage.
    ///
    /// # Errors
    /// If the program is refused or does not fit, or the file cannot be written.
    pub fn generate(&self) -> Result<(), Box<dyn Error>> {
        let options = self.options()?;
        let path = self.path();
        let chip = resolve::chip(&options.chip).map_err(text)?;
        let disk = options.p4.disk();
        let program = self.program(&options, &disk, &chip).map_err(text)?.build(&[])?;
        for file in files_of(&path, &disk) {
            println!("cargo:rerun-if-changed={}", file.path.display());
        }
        println!("cargo:rerun-if-changed={}", declarations(&path).display());
        let placement = resolve::fit(&program, &chip, &sluice_place::Options::default())
            .map_err(|no_fit| crate::console::snippet::no_fit(&no_fit))?;
        let name = self.name.replace('-', "_");
        let counts = generate(&program, &placement, Some(&Points::of(&program, &chip)))?;
        let texts = [(format!("{name}_covered"), counts), (name, generate(&program, &placement, None)?)];
        // The crate depends on `sluice` alone.
        let code = module(&texts).replace("::sluice_exec::", "::sluice::generated_code::");
        let out = std::env::var_os("OUT_DIR").ok_or("cargo tells a build script where to write")?;
        Ok(std::fs::write(Path::new(&out).join("code.rs"), code)?)
    }

    /// Returns the chip for which code is generated.
    #[must_use]
    pub fn chip(&self) -> ChipSpec {
        let options = self.options().map_err(|e| e.to_string());
        let chip = options.and_then(|options| resolve::chip(&options.chip).map_err(text));
        chip.unwrap_or_else(|_| ChipSpec::tofino2())
    }

    /// Returns the catalogue of the shipped programs and of this one, as it is on the crate's chip.
    ///
    /// # Errors
    /// If the program is refused; the text has the places.
    pub fn catalogue(&self, code: &[Generated]) -> Result<Catalogue, String> {
        let options = self.options().map_err(|e| e.to_string())?;
        let chip = resolve::chip(&options.chip).map_err(text)?;
        let program = self.program(&options, &options.p4.disk(), &chip).map_err(text)?;
        Ok(sluice_generated::catalogue().with(program).with_code(code))
    }

    /// Runs the command line of this process with the shipped programs and this one, and returns its exit code. The program is read
    /// for the chip of the command.
    #[must_use]
    pub fn run(&self, code: &[Generated]) -> ExitCode {
        let chip = chip_of(std::env::args()).unwrap_or_else(|| "tofino2".to_owned());
        let program = || {
            let options = self.options().map_err(Failure::input)?;
            self.program(&options, &options.p4.disk(), &resolve::chip(&chip)?)
        };
        match program() {
            Ok(program) => {
                let catalogue = sluice_generated::catalogue().with(program).with_code(code);
                ExitCode::from(dispatch::command(&catalogue, std::env::args_os()))
            }
            Err(failure) => {
                complain(&failure);
                ExitCode::from(failure.code())
            }
        }
    }

    fn path(&self) -> PathBuf {
        Path::new(self.folder).join(self.file)
    }

    fn options(&self) -> Result<Options, clap::Error> {
        let mut options = Options::try_parse_from(self.options)?;
        options.p4.relative_to(Path::new(self.folder));
        Ok(options)
    }

    fn program(&self, options: &Options, disk: &Disk, chip: &ChipSpec) -> Result<P4Program, Failure> {
        options.p4.check(chip)?;
        let (path, read) = (self.path().display().to_string(), options.p4.options(chip));
        Ok(P4Reading::read(disk, &path, &read).stage(disk, &read)?.named(self.name))
    }
}

/// Returns the chip that a command line names.
fn chip_of(arguments: impl Iterator<Item = String>) -> Option<String> {
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        for flag in ["--chip", "--target"] {
            if argument == flag {
                return arguments.next();
            }
            if let Some(chip) = argument.strip_prefix(flag).and_then(|rest| rest.strip_prefix('=')) {
                return Some(chip.to_owned());
            }
        }
    }
    None
}

fn text(failure: Failure) -> String {
    let help = failure.help().map_or_else(String::new, |help| format!("\n  = help: {help}"));
    format!("{failure}{help}")
}

#[cfg(test)]
mod tests {
    use super::chip_of;

    #[test]
    fn the_chip_of_a_command_is_found() {
        let chip = |line: &str| chip_of(line.split(' ').map(str::to_owned));
        assert_eq!(chip("leaf replay leaf --chip tofino -i 0@a.pcap"), Some("tofino".to_owned()));
        assert_eq!(chip("leaf report leaf --target=a.toml"), Some("a.toml".to_owned()));
        assert_eq!(chip("leaf programs"), None);
    }
}
