//! Files that a program or an experiment depends on, for callers that copy them to other machines.

use super::Error;
use crate::console::fail::Failure;
use crate::console::text_file;
use crate::open::p4::P4Args;
use crate::run::contest::inputs;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A file that work depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFile {
    /// Path at which the work finds the file.
    pub path: PathBuf,
    /// The content.
    pub bytes: Vec<u8>,
}

impl NamedFile {
    /// Reads files.
    pub(super) fn read(paths: BTreeSet<PathBuf>) -> Result<Vec<NamedFile>, Error> {
        let read = |path: PathBuf| match text_file::bytes(&path) {
            Ok(bytes) => Ok(NamedFile { path, bytes }),
            Err(e) => Err(Failure::file("read", &path, &e).into()),
        };
        paths.into_iter().map(read).collect()
    }
}

/// Returns the file of this name in a folder, and the files that it names or includes, sorted by path; none if there is no
/// such file, for example because the name is that of a shipped program. `p4` are options of P4 programs, such as `-I DIR`.
///
/// # Errors
/// If an option is wrong, or a file cannot be read any more.
pub fn files_of(name: &str, folder: &Path, p4: &[String]) -> Result<Vec<NamedFile>, Error> {
    NamedFile::read(inputs::files(&name.into(), folder, &P4Args::of_words(p4)?))
}
