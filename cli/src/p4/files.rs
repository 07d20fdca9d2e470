//! Files of a P4 program: the root, and what it includes.

use sluice_p4::source::{Include, IncludeKind, LoadError, Loaded, Loader};
use std::cell::RefCell;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Greatest length of a file, bytes. The largest public program for Tofino has less than 1 MB with all its files.
const MAX_FILE: u64 = 16 << 20;

/// A file of a program.
#[derive(Clone, Debug)]
pub(crate) struct FileOfProgram {
    /// Its path, without links and `..`.
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// A loader that remembers what it read, in order.
pub(super) struct Remembering<'a> {
    pub(super) inner: Files<'a>,
    pub(super) read: RefCell<Vec<FileOfProgram>>,
}

impl Loader for Remembering<'_> {
    fn load(&self, include: &Include<'_>) -> Result<Loaded, LoadError> {
        let loaded = self.inner.load(include)?;
        let path = std::fs::canonicalize(&loaded.name).unwrap_or_else(|_| PathBuf::from(&loaded.name));
        let mut read = self.read.borrow_mut();
        if read.iter().all(|file| file.path != path) {
            read.push(FileOfProgram { path, text: loaded.text.to_string() });
        }
        Ok(loaded)
    }
}

/// Reads files from disk: `#include "x"` from the folder of the including file first, then from the folders of `-I`.
pub(super) struct Files<'a> {
    pub(super) folders: &'a [PathBuf],
}

impl Loader for Files<'_> {
    fn load(&self, include: &Include<'_>) -> Result<Loaded, LoadError> {
        let beside = match include.kind {
            IncludeKind::Root => Some(Path::new("")),
            IncludeKind::Quoted => Path::new(include.from).parent(),
            IncludeKind::Angled => None,
        };
        let mut searched = Vec::new();
        for folder in beside.into_iter().chain(self.folders.iter().map(PathBuf::as_path)) {
            let path = folder.join(include.name);
            match read(&path) {
                Ok(text) => return Ok(Loaded { name: path.display().to_string(), text: text.into() }),
                Err(Unread::Missing) => {
                    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
                    searched.push(folder.display().to_string());
                }
                Err(Unread::Because(why)) => {
                    return Err(LoadError::Unreadable(format!("{}: {why}", path.display())));
                }
            }
        }
        Err(LoadError::NotFound { searched })
    }
}

/// Reason why a file has no text.
enum Unread {
    Missing,
    Because(String),
}

/// Reads a file. Bytes that are not UTF-8, as in comments of old programs, become replacement characters.
fn read(path: &Path) -> Result<String, Unread> {
    let wrong = |e: std::io::Error| match e.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Unread::Missing,
        _ => Unread::Because(e.to_string()),
    };
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(wrong)?;
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(wrong)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(Unread::Because(format!("the file has more than {MAX_FILE} bytes")));
    }
    if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
        let line = 1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count();
        return Err(Unread::Because(format!("the file is not text: line {line} has a zero byte")));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
