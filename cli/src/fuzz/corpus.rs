//! `--corpus DIR`: inputs that reached new coverage, kept between hunts.

use super::FuzzArgs;
use crate::console::fail::Failure;
use crate::console::terminal;
use crate::console::text_file;
use crate::output::digest::sha256;
use crate::output::files::Pending;
use sluice_fuzz::hunt::{Input, Subject, kept};
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Ending of the files.
const ENDING: &str = "input";

/// The inputs of a corpus, with the name of each.
#[derive(Default)]
pub(super) struct Kept {
    names: Vec<String>,
    pub(super) inputs: Vec<Input>,
}

/// Numbers of the inputs that a hunt added to the folder and removed from it.
pub(super) struct Change {
    pub(super) added: usize,
    pub(super) removed: usize,
    pub(super) all: usize,
}

/// Reads the inputs of `--corpus` and `--merge`, in the order of their names; those of `--corpus` first.
pub(super) fn read(args: &FuzzArgs, subject: &Subject<'_>) -> Result<Kept, Failure> {
    let mut kept = Kept::default();
    let Some(corpus) = &args.corpus else { return Ok(kept) };
    if corpus.exists() {
        folder(corpus, subject, &mut kept)?;
    }
    for other in &args.merge {
        folder(other, subject, &mut kept)?;
    }
    Ok(kept)
}

/// Returns the text of a file; `None` if another process has removed it meanwhile.
fn there(path: &Path) -> Result<Option<String>, Failure> {
    match text_file::text(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        text => text.map(Some).map_err(|e| Failure::file("read", path, &e)),
    }
}

fn folder(dir: &Path, subject: &Subject<'_>, kept: &mut Kept) -> Result<(), Failure> {
    for path in files(dir)? {
        let Some(text) = there(&path)? else { continue };
        match kept::parse(subject, &text) {
            Ok(input) => {
                let name = name(&text);
                if !kept.names.contains(&name) {
                    kept.names.push(name);
                    kept.inputs.push(input);
                }
            }
            Err(why) => terminal::note(format_args!("note: {} is left out: {why}\n", path.display())),
        }
    }
    Ok(())
}

/// Returns the files of inputs of a folder, sorted.
fn files(dir: &Path) -> Result<Vec<PathBuf>, Failure> {
    let wrong = |e: &std::io::Error| Failure::file("read", dir, e);
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(|e| wrong(&e))? {
        paths.push(entry.map_err(|e| wrong(&e))?.path());
    }
    paths.retain(|path| path.extension().is_some_and(|ending| ending == ENDING));
    paths.sort();
    Ok(paths)
}

/// Returns the name of an input: the first digits of the SHA-256 of its text, so equal inputs have one file.
fn name(text: &str) -> String {
    format!("{}.{ENDING}", &sha256(text.as_bytes())[..16])
}

/// Writes the inputs that reached something new, and with `--minimise` removes those that the others make needless.
pub(super) fn write(
    args: &FuzzArgs,
    subject: &Subject<'_>,
    found: &[Input],
) -> Result<Option<Change>, Failure> {
    let Some(dir) = &args.corpus else { return Ok(None) };
    let before: BTreeSet<PathBuf> =
        if dir.exists() { files(dir)?.into_iter().collect() } else { BTreeSet::new() };
    let chosen = match args.minimise {
        true => kept::fewest(subject, found).map_err(Failure::input)?,
        false => (0..found.len()).collect(),
    };
    let mut wanted = BTreeSet::new();
    for text in chosen.into_iter().map(|at| kept::text(subject, &found[at])) {
        let path = dir.join(name(&text));
        if !before.contains(&path) && !wanted.contains(&path) {
            let mut file = Pending::create(&path)?;
            file.writer().write_all(text.as_bytes()).map_err(|e| Failure::file("write", &path, &e))?;
            file.finish()?;
        }
        wanted.insert(path);
    }
    let added = wanted.difference(&before).count();
    let needless = before.difference(&wanted).filter(|_| args.minimise);
    let mut removed = 0;
    for path in needless {
        // A file for another program stays.
        let Some(text) = there(path)? else { continue };
        if kept::parse(subject, &text).is_ok() {
            match std::fs::remove_file(path) {
                Err(e) if e.kind() != ErrorKind::NotFound => return Err(Failure::file("remove", path, &e)),
                _ => removed += 1,
            }
        }
    }
    Ok(Some(Change { added, removed, all: before.len() + added - removed }))
}
