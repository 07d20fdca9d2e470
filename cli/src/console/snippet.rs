//! Findings of the verifier and of the placer, with the lines of the user's files that they are about.

use crate::console::text_file;
use sluice_ir::verify::Diag;
use sluice_place::NoFit;
use sluice_report::WhyNot;
use std::collections::BTreeMap;

/// Returns the report of a program that does not fit, with source lines.
pub(crate) fn no_fit(no_fit: &NoFit) -> String {
    no_fit_with(no_fit, None)
}

/// Like [`no_fit`], with the answer of `--why-not`.
pub(crate) fn no_fit_with(no_fit: &NoFit, why_not: Option<&WhyNot>) -> String {
    let mut files = BTreeMap::new();
    sluice_report::text_no_fit_with(no_fit, why_not, &mut |diag| shown(diag, &mut files))
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
    sluice_program_file::has_lines(file).then(|| text_file::text(file).ok()).flatten()
}
