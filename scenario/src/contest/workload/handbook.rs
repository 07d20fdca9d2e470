//! The tables of kinds and keys for the handbook.

use super::keys::Declared;
use super::kinds::{EVERY, KINDS};
use std::fmt::Write;

const HEAD: &str = "| key | value | default | meaning |\n|---|---|---|---|\n";

fn row(key: &dyn Declared, of: &str) -> String {
    let [value, absent, meaning] = key.documented();
    format!("| `{}`{of} | {value} | {absent} | {meaning} |\n", key.name())
}

/// Returns the keys of every workload.
pub(crate) fn of_every_workload() -> String {
    EVERY.iter().fold(HEAD.to_owned(), |table, key| table + &row(*key, ""))
}

/// Returns the kinds with the names of their keys.
pub(crate) fn kinds() -> String {
    let mut table = "| kind | what is sent | keys |\n|---|---|---|\n".to_owned();
    for kind in &KINDS {
        let own = kind.keys().into_iter().filter(|key| EVERY.iter().all(|other| other.name() != key.name()));
        let keys: Vec<String> = own.map(|key| format!("`{}`", key.name())).collect();
        let _ = writeln!(table, "| `{}` | {} | {} |", kind.name, kind.meaning, keys.join(", "));
    }
    table
}

/// Returns the keys of the kinds, sorted by name; a key that differs between kinds has a row for each declaration, with its kinds.
pub(crate) fn of_kinds() -> String {
    let mut all: Vec<(&dyn Declared, Vec<&str>)> = Vec::new();
    for kind in &KINDS {
        for key in kind.keys() {
            if EVERY.iter().any(|other| other.name() == key.name()) {
                continue;
            }
            let same = |other: &&mut (&dyn Declared, Vec<&str>)| {
                other.0.name() == key.name() && other.0.documented() == key.documented()
            };
            match all.iter_mut().find(same) {
                Some((_, kinds)) => kinds.push(kind.name),
                None => all.push((key, vec![kind.name])),
            }
        }
    }
    all.sort_by_key(|(key, _)| key.name());
    let several = |name: &str| all.iter().filter(|(key, _)| key.name() == name).count() > 1;
    let mut table = HEAD.to_owned();
    for (key, kinds) in &all {
        let of = if several(key.name()) { format!(" of {}", kinds.join(", ")) } else { String::new() };
        table += &row(*key, &of);
    }
    table
}
