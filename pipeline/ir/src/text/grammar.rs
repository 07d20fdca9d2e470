//! The grammar of the text form as data: rules in EBNF by topic, with meanings and examples.
//!
//! `docs/grammar.md` and the lists of words in `editors` are written from this data. Lists of words are the parser's own tables. Two tests keep the rules true:
//!
//! - [`accepts`] follows the rules without the parser. It accepts the texts of random and of all shipped programs, and
//!   refuses texts that the parser refuses for their syntax.
//! - Sentences that are drawn from the rules are texts that the parser accepts.
//!
//! The rules say what the parser reads token by token. They do not say that a name is declared, that a number fits, or
//! that an index is given once.

mod matcher;
mod notation;
mod rules;
#[cfg(test)]
mod tests;
mod words;

use super::{code, lex, numbers, property};
use sluice_asic::limits;
use std::collections::BTreeMap;
use std::sync::LazyLock;

pub use words::{Group, words};

/// Declarations that the examples of the [topics](TOPICS) use.
pub const PRELUDE: &str = include_str!("grammar/prelude.sluice");

/// Rules of one subject.
#[derive(Clone, Copy, Debug)]
pub struct Topic {
    /// Title.
    pub title: &'static str,
    /// Purpose of the rules.
    pub about: &'static str,
    /// The rules, in reading order.
    pub rules: &'static [Rule],
    /// Declarations that follow the rules.
    pub example: &'static str,
}

/// A rule: a name for a part of a text.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Name.
    pub name: &'static str,
    /// The right side of the rule: parts and tokens of which the part consists.
    pub production: Production,
    /// Meaning of the part, in one sentence.
    pub meaning: &'static str,
}

/// The right side of a rule. Terminals are in quotes, [classes of tokens](CLASSES) in capitals; `[ a ]` may be left out, `{ a }`
/// is repeated any number of times, `a | b` is one of both.
#[derive(Clone, Copy, Debug)]
pub enum Production {
    /// In EBNF.
    Text(&'static str),
    /// One of the words of a table of the parser.
    Words(fn() -> Vec<&'static str>),
    /// A head, and settings in braces, in any order and each once.
    Settings(&'static str, &'static [Setting]),
}

/// A setting, in EBNF.
#[derive(Clone, Copy, Debug)]
pub enum Setting {
    /// It is required.
    Must(&'static str),
    /// It may be left out.
    May(&'static str),
    /// These may be left out together.
    Together(&'static [Setting]),
}

impl Production {
    /// Returns the production in EBNF. Settings are in the order in which [`print`](super::print) prints them.
    #[must_use]
    pub fn ebnf(&self) -> String {
        match self {
            Production::Text(text) => (*text).to_owned(),
            Production::Words(list) => {
                list().into_iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" | ")
            }
            Production::Settings(head, list) => format!("{head} \"{{\"{}\n\"}}\"", block(list, 1)),
        }
    }
}

fn block(list: &[Setting], depth: usize) -> String {
    let line = "\n".to_owned() + &"    ".repeat(depth);
    let one = |setting: &Setting| match setting {
        Setting::Must(text) => format!("{line}{text}"),
        Setting::May(text) => format!("{line}[ {text} ]"),
        Setting::Together(list) => format!("{line}[{}{line}]", block(list, depth + 1)),
    };
    list.iter().map(one).collect()
}

/// Classes of tokens: name, examples, meaning.
pub const CLASSES: [(&str, &str, &str); 9] = [
    (
        "NAME",
        "`ipv4.ttl`, `parse-eth`, `$x`, `` `odd name` ``",
        "Letters, digits, `_`, `.`, `-` and `$`, of which the first is a letter, `_`, or `$` before one of them. Any other \
         name is written in backticks; a name in backticks is never a word of the language, a parameter or a constant.",
    ),
    (
        "PACKET_FIELD",
        "`in.ipv4.ttl`, `out.ipv4.ttl`",
        "A NAME that consists of `in.` or `out.` and the name of a field.",
    ),
    (
        "NUMBER",
        "`10`, `0x0a`, `65_536`",
        "A number below 2^128, in decimal or, after `0x`, in hexadecimal; `_` separates digits.",
    ),
    ("SIZED", "`16w0x800`, `8w255`", "A number with its width in bits."),
    (
        "WIDTH",
        "`16w`",
        "The width of a constant that is computed; the parenthesis follows at once: `16w(last * 2)`.",
    ),
    ("INDEX", "`#3`", "The entity with this index of its kind, from 0."),
    ("POSITION", "`$0`", "The parameter of the action at this position, from 0."),
    (
        "TEXT",
        "`\"32x2\"`, `\"\"\"` … `\"\"\"`",
        "Characters between double quotes, where `\\n`, `\\r`, `\\\"` and `\\\\` stand for a line feed, a carriage return, a quote and \
         a backslash; or lines between `\"\"\"` and `\"\"\"`, without escapes, and without a line break after the opening \
         quotes.",
    ),
    ("DOC", "`/// Hops left`", "A line that documents the next declaration, field or state."),
];

/// Returns the limits of a text: what is limited, and the greatest value.
#[must_use]
pub fn limits() -> [(&'static str, u128); 6] {
    [
        ("Bytes of a text", limits::PROGRAM_TEXT_BYTES.default.into()),
        (
            "Declarations of the program, with fields and parser states",
            limits::PROGRAM_TEXT_ITEMS.default.into(),
        ),
        ("Levels of nested blocks, conditions and values", code::MAX_DEPTH.into()),
        ("Parts of a condition of a control block, and slices of a value", code::MAX_DEPTH.into()),
        ("Levels of parentheses in a number that is computed", numbers::MAX_DEPTH.into()),
        ("Parts of a condition or value of a property", property::MAX_PARTS as u128),
    ]
}

/// The rules by topic, in reading order.
pub static TOPICS: &[Topic] = rules::TOPICS;

/// Checks a text against the rules, without the parser.
///
/// ```
/// use sluice_ir::text::grammar::accepts;
///
/// assert!(accepts("program l3; label no_route = drop;").is_ok());
/// let wrong = accepts("program l3; label no_route = lost;").unwrap_err();
/// assert_eq!(wrong.to_string(), "1:30: found `lost`, expected `consume` or `drop`");
/// ```
///
/// # Errors
/// Returns the first token that no rule allows at its place.
pub fn accepts(text: &str) -> Result<(), super::ParseError> {
    matcher::accepts(&GRAMMAR, &lex::tokens(text, "<text>")?)
}

/// The rules, read. A test checks that they can be read.
static GRAMMAR: LazyLock<Grammar> = LazyLock::new(|| Grammar::read().unwrap_or_default());

/// Number of a [`Node`].
type Id = u32;

/// A part of a production.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    /// A word, as a name without backticks.
    Word(String),
    /// Punctuation.
    Punct(String),
    /// A class of tokens.
    Class(&'static str),
    /// A rule, by number.
    Rule(usize),
    Sequence(Vec<Id>),
    OneOf(Vec<Id>),
    Maybe(Id),
    Repeat(Id),
    Settings(Vec<Leaf>),
}

/// A setting of [`Node::Settings`].
#[derive(Clone, Debug, PartialEq, Eq)]
struct Leaf {
    node: Id,
    required: bool,
    /// Number of the [`Setting::Together`] that contains it. Then it is required if another one of it is there.
    group: Option<usize>,
}

/// All rules as nodes.
#[derive(Clone, Debug, Default)]
struct Grammar {
    nodes: Vec<Node>,
    /// The first node of each rule.
    rules: Vec<Id>,
    names: BTreeMap<&'static str, usize>,
}

impl Grammar {
    /// Reads the rules of all topics.
    fn read() -> Result<Grammar, String> {
        let all = || TOPICS.iter().flat_map(|topic| topic.rules);
        let names = all().enumerate().map(|(n, rule)| (rule.name, n)).collect();
        let mut grammar = Grammar { names, ..Grammar::default() };
        for rule in all() {
            let first = grammar.production(&rule.production).map_err(|e| format!("{}: {e}", rule.name))?;
            grammar.rules.push(first);
        }
        Ok(grammar)
    }

    fn production(&mut self, production: &Production) -> Result<Id, String> {
        let Production::Settings(head, list) = production else {
            return notation::read(self, &production.ebnf());
        };
        let head = notation::read(self, head)?;
        let mut leaves = Vec::new();
        for (n, setting) in list.iter().enumerate() {
            match setting {
                Setting::Together(list) => {
                    for setting in *list {
                        leaves.push(self.leaf(setting, Some(n))?);
                    }
                }
                single => leaves.push(self.leaf(single, None)?),
            }
        }
        let parts = [Node::Punct("{".to_owned()), Node::Settings(leaves), Node::Punct("}".to_owned())];
        let parts = std::iter::once(head).chain(parts.map(|node| self.add(node))).collect();
        Ok(self.add(Node::Sequence(parts)))
    }

    fn leaf(&mut self, setting: &Setting, group: Option<usize>) -> Result<Leaf, String> {
        let (text, required) = match setting {
            Setting::Must(text) => (text, true),
            Setting::May(text) => (text, false),
            Setting::Together(_) => return Err("a group of settings in a group".to_owned()),
        };
        Ok(Leaf { node: notation::read(self, text)?, required, group })
    }

    fn add(&mut self, node: Node) -> Id {
        self.nodes.push(node);
        self.nodes.len() as Id - 1
    }

    fn node(&self, id: Id) -> Option<&Node> {
        self.nodes.get(id as usize)
    }
}
