//! Files of programs on disk. A file is read once, however often a program is read.

use crate::console::fail::{Failure, reason};
use sluice_asic::limits;
use sluice_p4::source::{Include, IncludeKind, LoadError, Loaded, Loader};
use sluice_program_file::p4::is_p4;
use std::cell::RefCell;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// A file of a P4 program.
#[derive(Clone, Debug)]
pub(crate) struct FileOfProgram {
    /// Its path, without links and `..`.
    pub(crate) path: PathBuf,
    pub(crate) text: Arc<str>,
}

/// A file that was read, or could not be.
type ReadFile = (PathBuf, Result<Arc<str>, Unread>);

/// Reads files from disk: `#include "x"` from the folder of the including file first, then from the folders of `-I`. A copy shares
/// what was read.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    folders: Vec<PathBuf>,
    /// Files of P4 programs that were read, in order.
    read: Rc<RefCell<Vec<ReadFile>>>,
}

impl Disk {
    /// Returns a reader with these folders of `-I`.
    #[must_use]
    pub fn new(folders: &[PathBuf]) -> Disk {
        Disk { folders: folders.to_vec(), ..Disk::default() }
    }

    /// Returns the files of P4 programs that were read, in order.
    pub(crate) fn files(&self) -> Vec<FileOfProgram> {
        let mut files: Vec<FileOfProgram> = Vec::new();
        for (path, text) in self.read.borrow().iter() {
            let Ok(text) = text else { continue };
            let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
            if files.iter().all(|file| file.path != path) {
                files.push(FileOfProgram { path, text: Arc::clone(text) });
            }
        }
        files
    }

    fn text(&self, path: PathBuf) -> Result<Arc<str>, Unread> {
        let known = self.read.borrow().iter().find(|(known, _)| *known == path).map(|(_, text)| text.clone());
        known.unwrap_or_else(|| {
            let text = read(&path).map(Arc::from);
            self.read.borrow_mut().push((path, text.clone()));
            text
        })
    }
}

impl Loader for Disk {
    fn load(&self, include: &Include<'_>) -> Result<Loaded, LoadError> {
        if include.kind == IncludeKind::Root && !is_p4(Path::new(include.name)) {
            let text = in_text_form(Path::new(include.name))?.into();
            return Ok(Loaded { name: include.name.to_owned(), text });
        }
        let beside = match include.kind {
            IncludeKind::Root => Some(Path::new("")),
            IncludeKind::Quoted => Path::new(include.from).parent(),
            IncludeKind::Angled => None,
        };
        let mut searched = Vec::new();
        for folder in beside.into_iter().chain(self.folders.iter().map(PathBuf::as_path)) {
            let path = folder.join(include.name);
            let name = path.display().to_string();
            match self.text(path) {
                Ok(text) => return Ok(Loaded { name, text }),
                Err(Unread::Missing) => {
                    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
                    searched.push(folder.display().to_string());
                }
                Err(Unread::Because(why)) => {
                    return Err(LoadError::Unreadable {
                        reason: format!("{name}: {why}"),
                        help: String::new(),
                    });
                }
            }
        }
        Err(LoadError::NotFound { searched })
    }
}

/// Reason why a file has no text.
#[derive(Clone, Debug)]
enum Unread {
    Missing,
    Because(String),
}

/// Reads a file. Bytes that are not UTF-8, as in comments of old programs, become replacement characters.
fn read(path: &Path) -> Result<String, Unread> {
    let wrong = |e: std::io::Error| match e.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Unread::Missing,
        _ => Unread::Because(reason(&e)),
    };
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(wrong)?;
    let limit = &limits::P4_FILE_BYTES;
    file.take(limit.get().saturating_add(1)).read_to_end(&mut bytes).map_err(wrong)?;
    if limit.is_below(bytes.len()) {
        let (most, advice) = (limit.get(), limit.advice());
        return Err(Unread::Because(format!("the file has more than {most} bytes; {advice}")));
    }
    if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
        let line = 1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count();
        return Err(Unread::Because(format!("the file is not text: line {line} has a zero byte")));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads the text of a program in the text form. A file that is much too long is not read whole.
pub(crate) fn text(path: &Path) -> Result<String, Failure> {
    in_text_form(path).map_err(|error| unread(path, error))
}

fn in_text_form(path: &Path) -> Result<String, LoadError> {
    let unreadable = |reason, help: &str| LoadError::Unreadable { reason, help: help.to_owned() };
    let wrong = |e: std::io::Error| match e.kind() {
        ErrorKind::NotFound => LoadError::NotFound { searched: Vec::new() },
        _ => {
            let failure = Failure::file("read", path, &e);
            unreadable(failure.to_string(), failure.help().unwrap_or_default())
        }
    };
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(wrong)?;
    let limit = &limits::PROGRAM_TEXT_BYTES;
    file.take(limit.get().saturating_add(1)).read_to_end(&mut bytes).map_err(wrong)?;
    if limit.is_below(bytes.len()) {
        let reason = format!("{}: the file has more than {} bytes", path.display(), limit.get());
        let help = format!("a program's text is far shorter; is this the right file? {}", limit.advice());
        return Err(unreadable(reason, &help));
    }
    String::from_utf8(bytes).map_err(|e| {
        let line = 1 + e.as_bytes()[..e.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count();
        let reason = format!("{}:{line}: the file is not text: these bytes are not UTF-8", path.display());
        unreadable(reason, "a .sluice file is text; `sluice programs ecmp --ir` prints one")
    })
}

/// Returns the failure of a file without a text.
pub(crate) fn unread(path: &Path, error: LoadError) -> Failure {
    match error {
        LoadError::NotFound { .. } => Failure::file("read", path, &ErrorKind::NotFound.into()),
        LoadError::Unreadable { reason, help } => Failure::with_help(reason, help),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("leaf.p4");
        let load = |disk: &Disk| {
            disk.load(&Include { name: path.to_str().unwrap(), kind: IncludeKind::Root, from: "" })
        };
        let disk = Disk::default();
        std::fs::write(&path, "one").unwrap();
        assert_eq!(&*load(&disk).unwrap().text, "one");
        std::fs::write(&path, "two").unwrap();
        assert_eq!(&*load(&disk.clone()).unwrap().text, "one");
        assert_eq!(&*load(&Disk::default()).unwrap().text, "two");
    }
}
