//! A text as tokens, and its parts.

use std::ops::Range;

/// Kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word that the program chose, such as the name of a field.
    Name,
    /// A number.
    Number,
    /// An operator.
    Operator,
    /// Everything else: words of the language, brackets, `;`, spaces, comments, directives, texts.
    Other,
}

/// A text as tokens, with nothing left out.
#[derive(Clone, Debug)]
pub(super) struct Tokens {
    pub(super) list: Vec<(Kind, String)>,
}

/// Words of the language that stand where names do not.
const WORDS: [&str; 34] = [
    "abstract",
    "action",
    "actions",
    "apply",
    "bit",
    "bool",
    "const",
    "control",
    "default",
    "default_action",
    "else",
    "entries",
    "enum",
    "exit",
    "header",
    "if",
    "in",
    "inout",
    "int",
    "key",
    "out",
    "parser",
    "return",
    "select",
    "size",
    "state",
    "struct",
    "switch",
    "table",
    "this",
    "transition",
    "true",
    "typedef",
    "void",
];

/// Operators, longer ones first.
const OPERATORS: [&str; 28] = [
    "|+|", "|-|", "&&&", "<<", ">>", "==", "!=", "<=", ">=", "&&", "||", "++", "..", "+", "-", "*", "/", "%",
    "&", "|", "^", "~", "!", "?", ":", "<", ">", "=",
];

impl Tokens {
    /// Cuts a text.
    pub(super) fn of(text: &str) -> Tokens {
        let (mut list, mut rest) = (Vec::new(), text);
        while !rest.is_empty() {
            let (kind, len) = first(rest);
            let (token, after) = rest.split_at(len);
            list.push((kind, token.to_owned()));
            rest = after;
        }
        Tokens { list }
    }

    pub(super) fn text(&self) -> String {
        self.list.iter().map(|(_, text)| text.as_str()).collect()
    }

    /// Returns the places of all tokens of a kind.
    pub(super) fn all(&self, kind: Kind) -> Vec<usize> {
        (0..self.list.len()).filter(|&at| self.list[at].0 == kind).collect()
    }

    /// Returns the brackets of a kind with their contents, as ranges of tokens.
    pub(super) fn brackets(&self, open: &str, close: &str) -> Vec<Range<usize>> {
        let (mut list, mut begun) = (Vec::new(), Vec::new());
        for (at, (_, text)) in self.list.iter().enumerate() {
            if text == open {
                begun.push(at);
            } else if text == close
                && let Some(start) = begun.pop()
            {
                list.push(start..at + 1);
            }
        }
        list
    }

    /// Returns numbers, and names with the members after them, such as `hdr.ipv4.ttl`, as ranges of tokens.
    pub(super) fn operands(&self) -> Vec<Range<usize>> {
        let is = |at: usize| matches!(self.list.get(at), Some((Kind::Name | Kind::Number, _)));
        let dot = |at: usize| self.list.get(at).is_some_and(|(_, text)| text == ".");
        let (mut list, mut at) = (Vec::new(), 0);
        while at < self.list.len() {
            let start = at;
            while is(at) && dot(at + 1) {
                at += 2;
            }
            if is(at) {
                list.push(start..at + 1);
            }
            at += 1;
        }
        list
    }

    /// Returns the statements and declarations, as ranges of tokens: up to a `;`, or up to the `}` of a block.
    pub(super) fn statements(&self) -> Vec<Range<usize>> {
        let mut list = Vec::new();
        // Beginnings of the statements that are open, one for each level of braces.
        let mut begun = vec![0];
        let mut parentheses = 0;
        for (at, (_, text)) in self.list.iter().enumerate() {
            match text.as_str() {
                "(" => parentheses += 1,
                ")" => parentheses -= 1,
                "{" => begun.push(at + 1),
                "}" | ";" if parentheses == 0 => {
                    if text == "}" && begun.len() > 1 {
                        begun.pop();
                    }
                    if let Some(start) = begun.last_mut() {
                        list.push(*start..at + 1);
                        *start = at + 1;
                    }
                }
                _ => {}
            }
        }
        list
    }
}

/// Returns kind and length of the first token of a text that is not empty.
fn first(text: &str) -> (Kind, usize) {
    let until = |stop: &dyn Fn(char) -> bool| text.find(stop).unwrap_or(text.len());
    let c = text.chars().next().unwrap_or(' ');
    if c.is_whitespace() {
        return (Kind::Other, until(&|c| !c.is_whitespace()));
    }
    if text.starts_with("//") || c == '#' {
        return (Kind::Other, until(&|c| c == '\n'));
    }
    if text.starts_with("/*") {
        return (Kind::Other, text.find("*/").map_or(text.len(), |at| at + 2));
    }
    if c == '"' {
        return (Kind::Other, text[1..].find('"').map_or(text.len(), |at| at + 2));
    }
    if c.is_alphanumeric() || c == '_' {
        let len = until(&|c: char| !(c.is_alphanumeric() || c == '_'));
        let kind = match () {
            () if c.is_ascii_digit() => Kind::Number,
            () if WORDS.contains(&&text[..len]) => Kind::Other,
            () => Kind::Name,
        };
        return (kind, len);
    }
    match OPERATORS.iter().find(|operator| text.starts_with(**operator)) {
        Some(operator) => (Kind::Operator, operator.len()),
        None => (Kind::Other, c.len_utf8()),
    }
}
