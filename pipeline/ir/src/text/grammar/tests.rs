//! The rules can be read, and agree with the parser on examples, mistakes and drawn sentences.

mod changes;
mod sentences;

use super::{Grammar, PRELUDE, Production, TOPICS, accepts};
use crate::text::tests::{MISTAKES, ROUTER};
use crate::text::{parse, parts, scan};
use std::collections::BTreeSet;

#[test]
fn every_rule_can_be_read_and_is_used() {
    let grammar = Grammar::read().unwrap();
    assert_eq!(grammar.rules.len(), TOPICS.iter().map(|topic| topic.rules.len()).sum::<usize>());
    assert_eq!(grammar.rules.len(), grammar.names.len(), "a name of two rules");
    let used: BTreeSet<usize> = grammar
        .nodes
        .iter()
        .filter_map(|node| if let super::Node::Rule(rule) = node { Some(*rule) } else { None })
        .collect();
    let unused: Vec<&&str> =
        grammar.names.iter().filter(|(_, n)| !used.contains(n)).map(|(k, _)| k).collect();
    assert_eq!(unused, [&"file"]);
}

#[test]
fn examples_are_texts_for_parser_and_rules() {
    parse(PRELUDE).unwrap();
    accepts(PRELUDE).unwrap();
    for topic in TOPICS {
        let text = format!("{PRELUDE}{}", topic.example);
        parse(&text).unwrap_or_else(|e| panic!("{}: {e}", topic.title));
        accepts(&text).unwrap_or_else(|e| panic!("{}: {e}", topic.title));
    }
}

#[test]
fn declarations_begin_with_the_words_that_the_parser_knows() {
    let mut heads: BTreeSet<&str> = BTreeSet::new();
    for rule in TOPICS.iter().flat_map(|topic| topic.rules) {
        if let Production::Text(text) | Production::Settings(text, _) = rule.production
            && let Some(head) = text.strip_prefix('"').and_then(|rest| rest.split('"').next())
            && head == rule.name
        {
            heads.insert(head);
        }
    }
    let known: BTreeSet<&str> = scan::WORDS.into_iter().chain(parts::WORDS).collect();
    let missing: Vec<_> = known.difference(&heads).collect();
    assert_eq!(missing, [&"param"], "`parameter` and `record` begin with it");
}

/// Mistakes in a value or an undeclared name. The rules allow each of these texts.
const NOT_SYNTAX: [&str; 3] = ["ipv4.tll > 8w1", "crc(16, 0x8bb6", "@index(4) label no_route = drop"];

#[test]
fn rules_refuse_what_the_parser_refuses_for_its_syntax() {
    accepts(ROUTER).unwrap();
    let mut refused = 0;
    for (from, to, _) in MISTAKES {
        let text = ROUTER.replacen(from, to, 1);
        let parsed = parse(&text).unwrap_err();
        match accepts(&text) {
            Ok(()) => assert!(NOT_SYNTAX.contains(&to), "{to}: only the parser refuses it: {parsed}"),
            Err(_) => refused += 1,
        }
    }
    assert_eq!(refused, 8);
}
