//! Opens programs that are files: `.sluice` files, and P4 programs with the declarations beside them.

use crate::error::FileError;
use crate::file::{ProgramFile, is_file};
use crate::p4::{P4Program, P4Reading, by_kind, is_p4};
use sluice_asic::chip::ChipSpec;
use sluice_catalogue::{Catalogue, StageProgram, UnknownProgram};
use sluice_ir::Program;
use sluice_p4::Define;
use sluice_p4::source::{Include, IncludeKind, LoadError, Loader};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How P4 programs are read.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// The chip that they are read for.
    pub chip: ChipSpec,
    /// Definitions of macros, in order.
    pub defines: Vec<Define>,
    /// Files that are read before the program, in order.
    pub includes: Vec<String>,
}

/// Tofino 2, without definitions.
impl Default for ReadOptions {
    fn default() -> ReadOptions {
        ReadOptions { chip: ChipSpec::tofino2(), defines: Vec::new(), includes: Vec::new() }
    }
}

/// Reason why a program cannot be opened.
#[derive(Clone, Debug, thiserror::Error)]
pub enum OpenError {
    /// The loader has no text of the file.
    #[error("cannot read {file}: {}", reason(.error))]
    Unread {
        /// File that the loader was asked for.
        file: String,
        /// Error of the loader.
        error: LoadError,
    },
    /// The program, or the declarations beside it, have mistakes.
    #[error("{error}")]
    Mistakes {
        /// The mistakes, with their source lines.
        error: FileError,
        /// Name of the other chip, if a P4 program has no mistakes there.
        other_chip: Option<String>,
    },
    /// The program is neither a file nor one of the catalogue.
    #[error("{error}")]
    Unknown {
        /// The program's name as a path, in case that a file was meant.
        path: PathBuf,
        /// Error of the catalogue.
        error: UnknownProgram,
    },
    /// The program of a role cannot be opened.
    #[error("{file}: role: {error}")]
    Role {
        /// File with the role.
        file: String,
        /// Reason.
        error: Box<OpenError>,
    },
}

impl From<FileError> for OpenError {
    fn from(error: FileError) -> OpenError {
        OpenError::Mistakes { error, other_chip: None }
    }
}

fn reason(error: &LoadError) -> &str {
    match error {
        LoadError::NotFound { .. } => "there is no such file",
        LoadError::Unreadable { reason, .. } => reason,
    }
}

/// A program of a file.
#[derive(Clone, Debug)]
enum Opened {
    Text(Box<ProgramFile>),
    P4(Box<P4Program>),
}

impl Opened {
    fn read(loader: &dyn Loader, file: &str, options: &ReadOptions) -> Result<(Opened, String), OpenError> {
        if is_p4(Path::new(file)) {
            let reading = P4Reading::read(loader, file, options);
            let program = Box::new(reading.stage(loader, options)?);
            return Ok((Opened::P4(program), by_kind(&reading.warnings())));
        }
        let text = text(loader, file).map_err(|error| OpenError::Unread { file: file.to_owned(), error })?;
        Ok((Opened::Text(Box::new(ProgramFile::parse(file, &text)?)), String::new()))
    }

    fn name(&self) -> &str {
        match self {
            Opened::Text(program) => program.name(),
            Opened::P4(program) => program.name(),
        }
    }

    fn named(self, name: &str) -> Opened {
        match self {
            Opened::Text(program) => Opened::Text(Box::new(program.named(name))),
            Opened::P4(program) => Opened::P4(Box::new(program.named(name))),
        }
    }

    /// Returns the text with the program's roles.
    fn roles(&mut self) -> Option<&mut ProgramFile> {
        match self {
            Opened::Text(program) => Some(program),
            Opened::P4(program) => program.beside(),
        }
    }

    fn into_stage(self) -> Arc<dyn StageProgram> {
        match self {
            Opened::Text(program) => Arc::new(*program),
            Opened::P4(program) => Arc::new(*program),
        }
    }
}

/// Opens the program of a file: a P4 program if its name ends in `.p4`, with the declarations of `FILE.sluice` beside it, otherwise
/// a program in the text form. Programs that its roles name are not opened; [`FileCatalogue`] opens them too.
///
/// # Errors
/// If a text is missing or has mistakes.
pub fn open(
    loader: &dyn Loader,
    file: &str,
    options: &ReadOptions,
) -> Result<Arc<dyn StageProgram>, OpenError> {
    Ok(Opened::read(loader, file, options)?.0.into_stage())
}

/// Returns the declarations beside a program; `None` if the loader has no such file.
pub(crate) fn beside(
    loader: &dyn Loader,
    file: &Path,
    program: &Program,
) -> Result<Option<ProgramFile>, OpenError> {
    let file = file.display().to_string();
    match text(loader, &file) {
        Ok(text) => Ok(Some(ProgramFile::beside(&file, &text, program)?)),
        Err(LoadError::NotFound { .. }) => Ok(None),
        Err(error) => Err(OpenError::Unread { file, error }),
    }
}

fn text(loader: &dyn Loader, file: &str) -> Result<Arc<str>, LoadError> {
    loader.load(&Include { name: file, kind: IncludeKind::Root, from: "" }).map(|loaded| loaded.text)
}

/// A catalogue that also has the programs of files that were opened.
///
/// A file becomes a program of the catalogue, so users of the catalogue find it by name. It has the name that its text states, or
/// its path if the catalogue already has a program of this name.
#[derive(Debug)]
pub struct FileCatalogue<L> {
    catalogue: Catalogue,
    loader: L,
    options: ReadOptions,
    /// Name of each opened file.
    names: BTreeMap<PathBuf, String>,
    warnings: Vec<String>,
}

impl<L: Loader> FileCatalogue<L> {
    /// Returns a catalogue whose files the loader has.
    pub fn new(catalogue: Catalogue, loader: L, options: ReadOptions) -> FileCatalogue<L> {
        FileCatalogue { catalogue, loader, options, names: BTreeMap::new(), warnings: Vec::new() }
    }

    /// Returns the name in the catalogue of a program, which may be a file. Paths are relative to `folder`. Opens the programs that
    /// its roles name.
    ///
    /// # Errors
    /// If there is no such program, or if a file cannot be opened.
    pub fn open(&mut self, program: &str, folder: &Path) -> Result<String, OpenError> {
        let path = folder.join(program);
        match self.catalogue.get(program) {
            Ok(known) => return Ok(known.name().to_owned()),
            Err(error) if !is_file(program) => return Err(OpenError::Unknown { path, error }),
            Err(_) => {}
        }
        if let Some(name) = self.names.get(&path) {
            return Ok(name.clone());
        }
        let file = path.display().to_string();
        let (mut opened, warnings) = Opened::read(&self.loader, &file, &self.options)?;
        self.warnings.extend((!warnings.is_empty()).then_some(warnings));
        if self.catalogue.get(opened.name()).is_ok() {
            opened = opened.named(&file);
        }
        let name = opened.name().to_owned();
        // A role may name this file again, so the name must be known before roles are opened.
        self.names.insert(path.clone(), name.clone());
        self.add(opened.clone());
        if let Some(roles) = opened.roles() {
            self.roles(roles, &path)?;
            self.add(opened);
        }
        Ok(name)
    }

    fn add(&mut self, opened: Opened) {
        self.catalogue = std::mem::take(&mut self.catalogue).with_shared(opened.into_stage());
    }

    /// Opens the programs that the roles of a file name.
    fn roles(&mut self, roles: &mut ProgramFile, path: &Path) -> Result<(), OpenError> {
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let mut names = BTreeMap::new();
        for role in roles.role_programs() {
            let name = self.open(role, &folder).map_err(|error| OpenError::Role {
                file: path.display().to_string(),
                error: Box::new(error),
            })?;
            names.insert(role.to_owned(), name);
        }
        roles.rename_roles(|role| names.get(role).cloned());
        Ok(())
    }

    /// Returns the catalogue with all files that were opened.
    #[must_use]
    pub const fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// Returns the files that were opened.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.names.keys().map(PathBuf::as_path)
    }

    /// Returns and forgets the warnings of P4 programs that were opened since the last call, with source lines.
    pub fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// Returns the catalogue with all files that were opened.
    #[must_use]
    pub fn into_catalogue(self) -> Catalogue {
        self.catalogue
    }
}
