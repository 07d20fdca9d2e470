//! Where the result files of a config go: into the folder of `-o`, or where the config says. All names are checked before the run.

use crate::console::fail::Failure;
use crate::output::files::{free_name, in_folder};
use sluice_scenario::ns3::Config;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// A result file of a config.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// Key of the config that names the file.
    pub(super) key: &'static str,
    /// Name of the file, below the folder of results.
    pub(super) name: String,
    /// The file.
    pub(super) path: PathBuf,
}

/// Keys of the files that a config names.
const KEYS: [&str; 4] = ["FCT_OUTPUT_FILE", "PFC_OUTPUT_FILE", "QLEN_MON_FILE", "CNP_OUTPUT_FILE"];

/// Returns the files in a folder of `-o`, under their last names. If there are several configs, the name of the config is in front.
/// `taken` has the names of the other files of the folder.
pub(super) fn in_output(
    config: &Config,
    dir: &Path,
    several: bool,
    taken: &mut BTreeSet<String>,
) -> Result<Vec<Target>, Failure> {
    let mut list: Vec<Target> = Vec::new();
    let stem = Path::new(&config.origin).file_stem().unwrap_or_default().to_string_lossy();
    for (key, text) in named(config) {
        let last = Path::new(text).file_name().unwrap_or_default().to_string_lossy();
        let mut name = if several { format!("{stem}.{last}") } else { last.into_owned() };
        if list.iter().any(|other| other.name == name) {
            name = format!("{key}.{name}");
        }
        let name = free_name(&name, taken);
        let path =
            in_folder(dir, &name).map_err(|e| unusable(config, key, &e, "name a file, such as `fct.txt`"))?;
        list.push(Target { key, name, path });
    }
    Ok(list)
}

/// Returns the files where the config says, below the folder from which its names count. A file that is there and is no result of the
/// same kind is refused, because the config may come from somebody who does not know what is in that folder.
pub(super) fn as_named(config: &Config, base: &Path) -> Result<Vec<Target>, Failure> {
    const HELP: &str = "-o DIR writes the file into DIR under its last name";
    let mut list: Vec<Target> = Vec::new();
    for (key, text) in named(config) {
        let path = in_folder(base, text).map_err(|e| unusable(config, key, &e, HELP))?;
        if let Some(other) = list.iter().find(|other| other.path == path) {
            let what = format!("`{text}` is the file of {} too", other.key);
            return Err(unusable(config, key, what, "give each key a file of its own"));
        }
        if std::fs::symlink_metadata(&path).is_ok() && !is_result(key, &path) {
            let what = format!("{} is there and has other contents; it is not replaced", path.display());
            return Err(unusable(config, key, what, HELP));
        }
        list.push(Target { key, name: text.to_owned(), path });
    }
    Ok(list)
}

fn named(config: &Config) -> impl Iterator<Item = (&'static str, &str)> {
    KEYS.into_iter().map(|key| (key, config.text(key))).filter(|(_, text)| !text.is_empty())
}

fn unusable(config: &Config, key: &str, what: impl std::fmt::Display, help: &str) -> Failure {
    Failure::with_help(format!("{}:{}: {key}: {what}", config.origin, config.line(key)), help)
}

/// Returns true if a file is empty or begins as a result of this key does.
fn is_result(key: &str, path: &Path) -> bool {
    /// Most bytes that are read of a first line.
    const LINE: u64 = 4_096;
    if !path.is_file() {
        return false;
    }
    let mut line = String::new();
    let Ok(file) = File::open(path) else { return false };
    if BufReader::new(file.take(LINE)).read_line(&mut line).is_err() {
        return false;
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let numbers =
        |count: usize| words.len() == count && words.iter().all(|word| u64::from_str_radix(word, 16).is_ok());
    line.is_empty()
        || match key {
            "FCT_OUTPUT_FILE" => numbers(8),
            "QLEN_MON_FILE" => words.len() == 2 && words[0] == "time:",
            _ => numbers(5),
        }
}
