//! Every word of the language, by its part of speech, for editors that show words in colours.

use super::{GRAMMAR, Node, Production, TOPICS};
use crate::text::lex::is_plain;
use crate::text::{parts, scan};
use std::collections::{BTreeMap, BTreeSet};

/// Parts of speech.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Words that begin a declaration.
    Declaration,
    /// Words of a table of the parser: kinds, modes, algorithms.
    Value,
    /// Names of the chip's fields.
    Intrinsic,
    /// Instructions of the ALUs.
    Instruction,
    /// Words in front of a parenthesis.
    Operation,
    /// Words that begin a setting.
    Setting,
    /// `bit`.
    Type,
    /// All other words.
    Keyword,
}

impl Group {
    /// Every part of speech.
    pub const ALL: [Group; 8] = [
        Group::Declaration,
        Group::Value,
        Group::Intrinsic,
        Group::Instruction,
        Group::Operation,
        Group::Setting,
        Group::Type,
        Group::Keyword,
    ];
}

/// Rules whose words are instructions.
const INSTRUCTIONS: [&str; 3] = ["alu_operation", "salu_operation", "lane_operation"];
/// Words in front of a parenthesis that are no operations.
const BRANCHES: [&str; 2] = ["if", "select"];
/// Words that begin a declaration inside of another one.
const INNER: [&str; 2] = ["start", "state"];
/// Words in front of all declarations, and before one.
const OUTER: [&str; 2] = ["sluice", "const"];

/// Returns every word of the language by its part of speech. A word of several parts of speech has the first one of these: declaration,
/// setting, operation, instruction, any other.
#[must_use]
pub fn words() -> BTreeMap<Group, BTreeSet<String>> {
    let mut found: BTreeMap<&str, Group> = BTreeMap::new();
    for word in terminals() {
        found.insert(word, Group::Keyword);
    }
    let lists: Vec<(&str, Vec<&str>)> = TOPICS
        .iter()
        .flat_map(|topic| topic.rules)
        .filter_map(|rule| match rule.production {
            Production::Words(list) => Some((rule.name, list())),
            _ => None,
        })
        .collect();
    for (rule, list) in &lists {
        let group = match *rule {
            "intrinsic_name" => Group::Intrinsic,
            name if INSTRUCTIONS.contains(&name) => Group::Instruction,
            _ => Group::Value,
        };
        for word in list.iter().filter(|word| is_plain(word)) {
            // `add` and `sub` are words of a search, too.
            let entry = found.entry(word).or_insert(group);
            if *entry != Group::Instruction {
                *entry = group;
            }
        }
    }
    for word in called().into_iter().filter(|word| !BRANCHES.contains(word)) {
        found.insert(word, Group::Operation);
    }
    for word in set() {
        found.insert(word, Group::Setting);
    }
    for word in scan::WORDS.into_iter().chain(parts::WORDS).chain(INNER).chain(OUTER) {
        found.insert(word, Group::Declaration);
    }
    found.insert("bit", Group::Type);
    let mut groups: BTreeMap<Group, BTreeSet<String>> = BTreeMap::new();
    for (word, group) in found {
        groups.entry(group).or_default().insert(word.to_owned());
    }
    groups
}

/// Returns the words of all rules.
fn terminals() -> BTreeSet<&'static str> {
    let words = GRAMMAR.nodes.iter();
    words.filter_map(|node| if let Node::Word(word) = node { Some(word.as_str()) } else { None }).collect()
}

/// Returns the words that stand before a parenthesis.
fn called() -> BTreeSet<&'static str> {
    let mut called = BTreeSet::new();
    for node in &GRAMMAR.nodes {
        let Node::Sequence(parts) = node else { continue };
        for pair in parts.windows(2) {
            if GRAMMAR.node(pair[1]) == Some(&Node::Punct("(".to_owned())) {
                called.extend(own_words(pair[0]));
            }
        }
    }
    called
}

/// Returns the word of a node, or the words of a choice in a production.
fn own_words(id: super::Id) -> Vec<&'static str> {
    match GRAMMAR.node(id) {
        Some(Node::Word(word)) => vec![word],
        Some(Node::OneOf(parts)) => parts.iter().flat_map(|&part| own_words(part)).collect(),
        _ => Vec::new(),
    }
}

/// Returns the words of settings: those before `=`.
fn set() -> BTreeSet<&'static str> {
    let mut set = BTreeSet::new();
    for node in &GRAMMAR.nodes {
        let Node::Sequence(parts) = node else { continue };
        for pair in parts.windows(2) {
            if GRAMMAR.node(pair[1]) == Some(&Node::Punct("=".to_owned())) {
                set.extend(own_words(pair[0]));
            }
        }
    }
    set
}
