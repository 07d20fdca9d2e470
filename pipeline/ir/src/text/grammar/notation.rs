//! Reader of productions in EBNF.

use super::{CLASSES, Grammar, Id, Node};
use crate::text::lex::is_plain;

/// Adds the nodes of a production and returns the first one.
///
/// # Errors
/// Refuses a rule or class of tokens that does not exist, and what is no EBNF.
pub(super) fn read(grammar: &mut Grammar, production: &str) -> Result<Id, String> {
    let mut reader = Reader { grammar, rest: production };
    let id = reader.choice()?;
    match reader.next() {
        "" => Ok(id),
        other => Err(format!("`{other}` after the end of the production")),
    }
}

struct Reader<'g, 't> {
    grammar: &'g mut Grammar,
    rest: &'t str,
}

impl<'t> Reader<'_, 't> {
    /// Returns the next sign, word or terminal with its quotes; empty at the end.
    fn next(&mut self) -> &'t str {
        self.rest = self.rest.trim_start();
        let mut chars = self.rest.char_indices();
        let len = match chars.next() {
            None => 0,
            Some((_, '"')) => chars.find(|(_, c)| *c == '"').map_or(self.rest.len(), |(at, _)| at + 1),
            Some((_, c)) if is_of_word(c) => self.rest.find(|c| !is_of_word(c)).unwrap_or(self.rest.len()),
            Some((_, c)) => c.len_utf8(),
        };
        let (next, rest) = self.rest.split_at(len);
        self.rest = rest;
        next
    }

    fn peek(&mut self) -> &'t str {
        let before = self.rest;
        let next = self.next();
        self.rest = before;
        next
    }

    fn choice(&mut self) -> Result<Id, String> {
        let mut list = vec![self.sequence()?];
        while self.peek() == "|" {
            self.next();
            list.push(self.sequence()?);
        }
        Ok(self.one_or(list, Node::OneOf))
    }

    fn sequence(&mut self) -> Result<Id, String> {
        let mut list = Vec::new();
        while !matches!(self.peek(), "" | "|" | ")" | "]" | "}") {
            list.push(self.part()?);
        }
        Ok(self.one_or(list, Node::Sequence))
    }

    /// Returns the only node of a list, or a node of all.
    fn one_or(&mut self, list: Vec<Id>, make: fn(Vec<Id>) -> Node) -> Id {
        match list.as_slice() {
            [one] => *one,
            _ => self.grammar.add(make(list)),
        }
    }

    fn part(&mut self) -> Result<Id, String> {
        let node = match self.next() {
            "(" => return self.until(")"),
            "[" => Node::Maybe(self.until("]")?),
            "{" => Node::Repeat(self.until("}")?),
            quoted if quoted.starts_with('"') => match quoted.trim_matches('"') {
                "" => return Err("a terminal without characters".to_owned()),
                word if is_plain(word) => Node::Word(word.to_owned()),
                sign => Node::Punct(sign.to_owned()),
            },
            name => match CLASSES.iter().find(|(class, ..)| *class == name) {
                Some((class, ..)) => Node::Class(class),
                None => {
                    let rule = self.grammar.names.get(name).copied();
                    Node::Rule(rule.ok_or_else(|| format!("no rule and no class of tokens `{name}`"))?)
                }
            },
        };
        Ok(self.grammar.add(node))
    }

    fn until(&mut self, end: &str) -> Result<Id, String> {
        let id = self.choice()?;
        match self.next() {
            found if found == end => Ok(id),
            found => Err(format!("`{found}` in the place of `{end}`")),
        }
    }
}

fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
