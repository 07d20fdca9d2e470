//! Finished runs in files that know whether they were changed.

use crate::console::fail::Failure;
pub(in crate::run) use crate::output::digest::sha256;
use crate::output::files::{Pending, pretty};
use serde::Serialize;
use std::io::Write as _;
use std::path::Path;

/// SHA-256 of the sources of Sluice and of Cargo.lock, taken when it was built.
pub(crate) const SOURCES: &str = env!("SLUICE_SOURCES");

/// The key at the level of the file itself, which is indented by two.
const KEY: &str = "\n  \"content\": \"";
/// The value of the key `content` while the digest is taken.
pub(in crate::run) const UNSEALED: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Writes a run's file, whose key `content` is [`UNSEALED`], with the digest of its text there.
pub(in crate::run) fn write(path: &Path, run: &impl Serialize) -> Result<(), Failure> {
    let text = pretty(run);
    let text = text.replacen(&format!("{KEY}{UNSEALED}"), &format!("{KEY}{}", sha256(text.as_bytes())), 1);
    let mut file = Pending::create(path)?;
    file.writer().write_all(text.as_bytes()).map_err(|e| Failure::file("write", path, &e))?;
    file.finish()
}

/// Checks that the text of a run's file is as it was written.
pub(in crate::run) fn check(text: &str) -> Result<(), String> {
    let at = text.find(KEY).map(|at| at + KEY.len());
    let sealed = at.and_then(|at| Some((at, text.get(at..at + UNSEALED.len())?)));
    let Some((at, digest)) = sealed else { return Err("run.json has no digest of its content".to_owned()) };
    let mut unsealed = text.to_owned();
    unsealed.replace_range(at..at + UNSEALED.len(), UNSEALED);
    match sha256(unsealed.as_bytes()) == digest {
        true => Ok(()),
        false => Err("run.json was changed since it was written".to_owned()),
    }
}
