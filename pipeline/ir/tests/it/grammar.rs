//! The rules of the grammar: texts of programs that they accept, the page that they make, the words of editors.

use expect_test::expect_file;
use proptest::prelude::*;
use sluice_ir::text::grammar::{
    CLASSES, Group, PRELUDE, Production, Rule, TOPICS, Topic, accepts, limits, words,
};
use sluice_ir::text::{VERSION, print};
use sluice_random::{Draw, Limits, References, illegal_program, program, words as numbers};
use std::fmt::Write;
use std::fs;

proptest! {
    #[test]
    fn rules_accept_every_printed_program(words in proptest::collection::vec(any::<u32>(), 64..1600)) {
        let drawn = illegal_program(&mut Draw::new(&words), &Limits::default(), References::Dangling);
        let text = print(&drawn);
        let result = accepts(&text);
        prop_assert!(result.is_ok(), "{}\n{text}", result.unwrap_err());
    }
}

#[test]
fn rules_accept_legal_programs_and_the_example() {
    for n in 0..64 {
        let words: Vec<u32> = numbers(n).take(1600).collect();
        let text = print(&program(&mut Draw::new(&words), &Limits::default()));
        accepts(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    }
    let sketch = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sketch.sluice");
    accepts(&fs::read_to_string(sketch).unwrap()).unwrap();
}

/// No bracket and no sign can make the recogniser use up its stack.
#[test]
fn rules_refuse_deep_nesting() {
    for open in ["(", "!", "!(", "cast(", "[0:0]"] {
        let text = format!("control ingress {{ if ({}valid(h)) {{ }} }}", open.repeat(20_000));
        let _ = accepts(&text);
    }
    let deep = format!("control ingress {{ if ({}valid(h)) {{ }} }}", "(".repeat(20_000));
    assert_eq!(accepts(&deep).unwrap_err().expected, "at most 128 levels of nesting");
}

const HEAD: &str = "# Grammar of `.sluice` files

The rules of the text form of stage programs, for readers and for writers of tools. [examples/sketch.sluice](../examples/sketch.sluice) is
a program in this form; `sluice programs conweave --ir` prints a large one. [editors](../editors/README.md) has colours for VS Code and
Vim.

This page is made from the rules beside the parser by `UPDATE_EXPECT=1 cargo test -p sluice-ir --test it grammar`. Tests hold the rules
and the parser together: texts of random and of all shipped programs follow the rules, and the parser reads sentences drawn from
the rules.

The rules say which tokens may follow each other. They do not say that a name is declared, that a value fits its width, or that a
program fits a chip; `sluice check FILE` says so.

## Tokens

Blanks and line breaks separate tokens and have no other meaning. `//` begins a comment up to the end of the line, `/*` one up to `*/`;
comments do not nest. A line with exactly three slashes is documentation (DOC), not a comment.

";

const NOTATION: &str = "
Words are names: no word is reserved, but a name in backticks is never a word.

## Notation

`\"word\"` stands for itself, a name in capitals for a token of that class, and a name in small letters for a rule. `[ a ]` may be left
out, `{ a }` is repeated any number of times or left out, and `a | b` is one of both. Settings in braces, one on each line, may be in any
order, each once; they are shown in the order in which Sluice prints them.
";

/// Lists with more words than this have a section of their own.
const LONG: usize = 12;

#[test]
fn the_page_is_made_from_the_rules() {
    let mut page = HEAD.to_owned();
    page += "| class | examples | meaning |\n|---|---|---|\n";
    for (class, examples, meaning) in CLASSES {
        writeln!(page, "| {class} | {examples} | {meaning} |").unwrap();
    }
    page += NOTATION;
    for topic in TOPICS {
        page += &section(topic);
    }
    page += "\n## Lists of words\n";
    for rule in TOPICS.iter().flat_map(|topic| topic.rules) {
        if let Some(list) = long_list(rule) {
            let list: Vec<String> = list.iter().map(|word| format!("`{word}`")).collect();
            writeln!(page, "\n**{}**: {}.", rule.name, list.join(", ")).unwrap();
        }
    }
    writeln!(page, "\n## Limits\n\n| what | at most |\n|---|---|").unwrap();
    for (what, most) in limits() {
        writeln!(page, "| {what} | {most} |").unwrap();
    }
    writeln!(page, "\nThis Sluice reads and writes version {VERSION} of the text form.").unwrap();
    page += "\n## Declarations of the examples\n\nThe examples above follow these declarations:\n";
    write!(page, "\n```text\n{PRELUDE}```\n").unwrap();
    expect_file![concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/grammar.md")].assert_eq(&page);
}

/// Returns the words of a rule that is a long list.
fn long_list(rule: &Rule) -> Option<Vec<&'static str>> {
    let Production::Words(list) = rule.production else { return None };
    Some(list()).filter(|list| list.len() > LONG)
}

fn section(topic: &Topic) -> String {
    let mut text = format!("\n## {}\n", topic.title);
    if !topic.about.is_empty() {
        write!(text, "\n{}\n", topic.about).unwrap();
    }
    text += "\n```text\n";
    for rule in topic.rules {
        writeln!(text, "{} = {}", rule.name, right_side(rule)).unwrap();
    }
    text += "```\n\n";
    for rule in topic.rules {
        writeln!(text, "- `{}`: {}", rule.name, rule.meaning).unwrap();
    }
    write!(text, "\nExample:\n\n```text\n{}```\n", topic.example).unwrap();
    text
}

/// Returns a production as the page shows it: lines after the first one are indented.
fn right_side(rule: &Rule) -> String {
    if long_list(rule).is_some() {
        return "a word of its list below".to_owned();
    }
    let ebnf = rule.production.ebnf();
    match rule.production {
        Production::Text(_) => ebnf.lines().map(str::trim).collect::<Vec<_>>().join("\n    "),
        Production::Words(_) | Production::Settings(..) => ebnf,
    }
}

/// A new word of the language is in the files of the editors, too.
#[test]
fn editors_know_every_word() {
    let all = words();
    assert!(all.values().map(|list| list.len()).sum::<usize>() > 300, "{all:?}");
    for group in Group::ALL {
        assert!(all.contains_key(&group), "{group:?}");
    }
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../editors/vim/syntax/sluice.vim");
    let own = fs::read_to_string(file).unwrap();
    let lines = own.lines().map(|line| {
        let group =
            Group::ALL.into_iter().find(|g| line.starts_with(&format!("syntax keyword sluice{g:?} ")));
        group.map_or(line.to_owned(), |g| {
            let list: Vec<&str> = all[&g].iter().map(String::as_str).collect();
            format!("syntax keyword sluice{g:?} {}", list.join(" "))
        })
    });
    expect_file![file].assert_eq(&(lines.collect::<Vec<_>>().join("\n") + "\n"));

    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../editors/vscode/syntaxes/sluice.tmLanguage.json");
    let own = fs::read_to_string(file).unwrap();
    let mut made = None;
    let mut text = String::new();
    for line in own.lines() {
        made = Group::ALL.into_iter().find(|g| line.contains(&format!("\"made: {g:?}\""))).or(made);
        if line.trim_start().starts_with("\"match\": ")
            && let Some(group) = made.take()
        {
            let list: Vec<String> = all[&group].iter().map(|word| word.replace('.', "\\\\.")).collect();
            let list = list.join("|");
            writeln!(text, "          \"match\": \"(?<![\\\\w.$-])(?:{list})(?![\\\\w.$-])\"").unwrap();
        } else {
            writeln!(text, "{line}").unwrap();
        }
    }
    assert!(made.is_none());
    expect_file![file].assert_eq(&text);
}
