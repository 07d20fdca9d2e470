//! Recogniser: which tokens a rule can end at. It knows nothing of the parser.

use super::{Grammar, Id, Leaf, Node};
use crate::text::ParseError;
use crate::text::code::MAX_DEPTH;
use crate::text::lex::{Tok, Token};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// Checks that the tokens are one `file`.
///
/// # Errors
/// Returns the first token that fits no rule at its place.
pub(super) fn accepts(grammar: &Grammar, tokens: &[Token]) -> Result<(), ParseError> {
    if let Some(token) = too_deep(tokens) {
        return Err(error(token, format!("at most {MAX_DEPTH} levels of nesting")));
    }
    let mut m = Matcher { grammar, tokens, known: HashMap::new(), far: 0, wanted: BTreeSet::new() };
    let file = grammar.names.get("file").and_then(|&file| grammar.rules.get(file));
    let ends = file.map(|&file| m.ends(file, 0)).unwrap_or_default();
    let end = tokens.len().saturating_sub(1) as u32;
    if ends.contains(&end) {
        return Ok(());
    }
    let wanted: Vec<&str> = m.wanted.iter().map(String::as_str).collect();
    match tokens.get(m.far as usize).or(tokens.last()) {
        Some(token) => Err(error(token, wanted.join(" or "))),
        None => Ok(()),
    }
}

fn error(token: &Token, expected: String) -> ParseError {
    let found = token.tok.to_string();
    ParseError { line: token.line, col: token.col, found, expected, help: String::new() }
}

/// Returns the first token beyond the deepest nesting, which bounds the recursion.
fn too_deep(tokens: &[Token]) -> Option<&Token> {
    let mut depth = 0u32;
    tokens.iter().find(|token| {
        match token.tok {
            Tok::Punct("(" | "[" | "{") => depth += 1,
            Tok::Punct(")" | "]" | "}") => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > MAX_DEPTH
    })
}

struct Matcher<'a> {
    grammar: &'a Grammar,
    tokens: &'a [Token],
    /// Ends of a rule by its first node and its first token.
    known: HashMap<(Id, u32), Rc<[u32]>>,
    /// The last token that was looked at.
    far: u32,
    /// Tokens that would fit there.
    wanted: BTreeSet<String>,
}

impl Matcher<'_> {
    /// Returns the tokens before which a node that begins at a token can end.
    fn ends(&mut self, id: Id, at: u32) -> Vec<u32> {
        let grammar = self.grammar;
        match grammar.node(id) {
            None => Vec::new(),
            Some(Node::Word(word)) => {
                self.token(at, word, |tok| matches!(tok, Tok::Name { text, quoted: false } if text == word))
            }
            Some(Node::Punct(sign)) => self.token(at, sign, |tok| matches!(tok, Tok::Punct(p) if p == sign)),
            Some(Node::Class(class)) => self.token(at, class, |tok| is_of_class(tok, class)),
            Some(Node::Rule(rule)) => self.rule(*rule, at),
            Some(Node::Sequence(parts)) => {
                let mut ends = vec![at];
                for &part in parts {
                    ends = self.all_ends(part, &ends);
                }
                ends
            }
            Some(Node::OneOf(parts)) => sorted(parts.iter().flat_map(|&part| self.ends(part, at)).collect()),
            Some(Node::Maybe(part)) => {
                let ends = self.ends(*part, at);
                sorted(std::iter::once(at).chain(ends).collect())
            }
            Some(Node::Repeat(part)) => {
                let (mut all, mut new) = (BTreeSet::from([at]), vec![at]);
                while !new.is_empty() {
                    new = self.all_ends(*part, &new);
                    new.retain(|&end| all.insert(end));
                }
                all.into_iter().collect()
            }
            Some(Node::Settings(leaves)) => self.settings(leaves, at),
        }
    }

    fn all_ends(&mut self, id: Id, starts: &[u32]) -> Vec<u32> {
        sorted(starts.iter().flat_map(|&start| self.ends(id, start)).collect())
    }

    fn rule(&mut self, rule: usize, at: u32) -> Vec<u32> {
        let Some(&first) = self.grammar.rules.get(rule) else { return Vec::new() };
        if let Some(ends) = self.known.get(&(first, at)) {
            return ends.to_vec();
        }
        let ends = self.ends(first, at);
        self.known.insert((first, at), Rc::from(ends.as_slice()));
        ends
    }

    fn token(&mut self, at: u32, wanted: &str, fits: impl Fn(&Tok) -> bool) -> Vec<u32> {
        if self.tokens.get(at as usize).is_some_and(|token| fits(&token.tok)) {
            return vec![at + 1];
        }
        if at > self.far {
            self.far = at;
            self.wanted.clear();
        }
        if at == self.far {
            self.wanted.insert(format!("`{wanted}`"));
        }
        Vec::new()
    }

    /// Follows settings in every order; a state is the next token, and a bit for each setting that was there.
    fn settings(&mut self, leaves: &[Leaf], at: u32) -> Vec<u32> {
        let (mut all, mut new) = (BTreeSet::from([(at, 0u32)]), vec![(at, 0u32)]);
        while let Some((at, seen)) = new.pop() {
            for (bit, leaf) in leaves.iter().enumerate().filter(|(bit, _)| seen & 1 << bit == 0) {
                for end in self.ends(leaf.node, at) {
                    let state = (end, seen | 1 << bit);
                    if all.insert(state) {
                        new.push(state);
                    }
                }
            }
        }
        sorted(all.into_iter().filter(|&(_, seen)| is_complete(leaves, seen)).map(|(end, _)| end).collect())
    }
}

/// Returns true if no required setting is missing.
fn is_complete(leaves: &[Leaf], seen: u32) -> bool {
    let has = |bit: usize| seen & 1 << bit != 0;
    leaves.iter().enumerate().filter(|(bit, leaf)| leaf.required && !has(*bit)).all(|(_, missing)| {
        let mut others = leaves.iter().enumerate().filter(|(_, leaf)| leaf.group == missing.group);
        missing.group.is_some() && !others.any(|(bit, _)| has(bit))
    })
}

fn is_of_class(tok: &Tok, class: &str) -> bool {
    match (class, tok) {
        ("NAME", Tok::Name { .. })
        | ("NUMBER", Tok::Int { width: None, .. })
        | ("SIZED", Tok::Int { width: Some(_), .. })
        | ("WIDTH", Tok::Width(_))
        | ("INDEX", Tok::Index(_))
        | ("POSITION", Tok::Position(_))
        | ("TEXT", Tok::Text(_))
        | ("DOC", Tok::Doc(_)) => true,
        ("PACKET_FIELD", Tok::Name { text, .. }) => text.starts_with("in.") || text.starts_with("out."),
        _ => false,
    }
}

fn sorted(mut list: Vec<u32>) -> Vec<u32> {
    list.sort_unstable();
    list.dedup();
    list
}
