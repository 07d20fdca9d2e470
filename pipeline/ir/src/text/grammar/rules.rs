//! The rules, a file for each part of the language.

mod code;
mod data;
mod file;
mod parsers;
mod registers;

use super::{Production, Rule, Setting, Topic};
use Setting::{May, Must, Together};

pub(super) const TOPICS: &[Topic] = &[
    file::FILES,
    file::NUMBERS,
    file::REFERENCES,
    data::HEADERS,
    data::HASHES,
    data::COUNTERS,
    data::METERS,
    registers::REGISTERS,
    registers::REGISTER_ACTIONS,
    registers::REGISTER_VALUES,
    code::ACTIONS,
    code::VALUES,
    code::TABLES,
    parsers::PARSERS,
    code::CONTROLS,
    parsers::DEPARSERS,
    file::PARTS,
    file::PROPERTIES,
];

const fn rule(name: &'static str, production: &'static str, meaning: &'static str) -> Rule {
    Rule { name, production: Production::Text(production), meaning }
}

const fn words(name: &'static str, list: fn() -> Vec<&'static str>, meaning: &'static str) -> Rule {
    Rule { name, production: Production::Words(list), meaning }
}

const fn settings(
    name: &'static str,
    head: &'static str,
    list: &'static [Setting],
    meaning: &'static str,
) -> Rule {
    Rule { name, production: Production::Settings(head, list), meaning }
}

/// Returns the words of a table.
fn of_table<T>(table: &[(&'static str, T)]) -> Vec<&'static str> {
    table.iter().map(|(word, _)| *word).collect()
}
