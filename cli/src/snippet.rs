//! Findings of the verifier and of the placer, with the lines of the user's files that they are about.

use sluice_ir::verify::Diag;
use sluice_place::NoFit;
use std::collections::BTreeMap;
use std::path::Path;

/// Endings of files whose lines are shown: those of a user's programs. Programs of a crate have places in Rust.
const SHOWN: [&str; 5] = ["p4", "sluice", "p4h", "h", "inc"];

/// Returns the report of a program that does not fit, with source lines.
pub(crate) fn no_fit(no_fit: &NoFit) -> String {
    let mut files = BTreeMap::new();
    sluice_report::text_no_fit_with(no_fit, &mut |diag| shown(diag, &mut files))
}

/// Returns a finding with its source lines.
pub(crate) fn of(diag: &Diag) -> String {
    shown(diag, &mut BTreeMap::new())
}

/// The files that were read; `None`: those that have no text.
type Texts = BTreeMap<&'static str, Option<String>>;

fn shown(diag: &Diag, files: &mut Texts) -> String {
    let places = || std::iter::once(diag.at).chain(diag.also.iter().map(|(at, _)| *at));
    for at in places() {
        files.entry(at.file).or_insert_with(|| text(at.file));
    }
    let source = |file: &str| files.get(file)?.as_deref();
    if source(diag.at.file).is_none() {
        return diag.to_string();
    }
    sluice_program_file::rendered(diag, &source)
}

fn text(file: &str) -> Option<String> {
    let extension = Path::new(file).extension()?.to_str()?;
    SHOWN.contains(&extension).then(|| std::fs::read_to_string(file).ok()).flatten()
}
