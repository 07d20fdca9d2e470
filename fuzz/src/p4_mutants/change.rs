//! One change of a program.

use super::text::{Kind, Tokens};
use std::ops::Range;

/// Numbers that are at an edge: of widths, of masks, of tables, of the front end's limits.
const NUMBERS: [&str; 24] = [
    "0",
    "1",
    "2",
    "3",
    "7",
    "8",
    "9",
    "15",
    "16",
    "17",
    "31",
    "32",
    "33",
    "64",
    "127",
    "128",
    "129",
    "255",
    "256",
    "65536",
    "4294967295",
    "1000000000",
    "0xffffffffffffffffffffffffffffffff",
    "340282366920938463463374607431768211456",
];

/// Operators of two operands.
const BINARY: [&str; 18] =
    ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "==", "!=", "<", ">", "<=", ">=", "|+|", "++"];

/// Texts in which a part is wrapped, before and after it.
const EXPRESSIONS: [(&str, &str); 12] = [
    ("(~", ")"),
    ("(-", ")"),
    ("(bit<8>)(", ")"),
    ("(bit<32>)(", ")"),
    ("(int<16>)(", ")"),
    ("(1 - ", ")"),
    ("(", ")[0:0]"),
    ("(", ")[7:0]"),
    ("(8w1 ++ ", ")"),
    ("(true ? ", " : 0)"),
    ("(", " << 1)"),
    ("{ ", ", 1 }"),
];

/// Texts in which statements are wrapped.
const STATEMENTS: [(&str, &str); 7] = [
    ("if (true) {", "}"),
    ("if (hdr.isValid()) {", "} else { exit; }"),
    ("{", "return; }"),
    ("{ bit<8> tmp_;", "tmp_ = 1; }"),
    ("@in_hash {", "}"),
    ("exit;", ""),
    ("@hidden", ""),
];

/// Changes a program at one place.
pub(super) fn change(tokens: &mut Tokens, other: &Tokens, draws: &mut dyn FnMut() -> u32) {
    match draws() % 16 {
        0..3 => rename(tokens, draws),
        3..5 => renumber(tokens, draws),
        5..7 => operate(tokens, draws),
        7 => without(tokens, draws),
        8 => twice(tokens, draws),
        9 => swap(tokens, draws),
        10 | 11 => graft(tokens, other, draws),
        12 => wrap(tokens, Tokens::statements, &STATEMENTS, draws),
        13 | 14 => wrap(tokens, Tokens::operands, &EXPRESSIONS, draws),
        _ => empty(tokens, draws),
    }
}

/// Picks one of a list.
fn one<T>(list: &[T], draw: u32) -> Option<&T> {
    list.get(draw as usize % list.len().max(1))
}

/// Replaces a name by another, or a path such as `hdr.ipv4.ttl` by one that begins with the same name.
fn rename(tokens: &mut Tokens, draws: &mut dyn FnMut() -> u32) {
    if draws().is_multiple_of(4) {
        let names = tokens.all(Kind::Name);
        if let (Some(&to), Some(&from)) = (one(&names, draws()), one(&names, draws())) {
            tokens.list[to] = tokens.list[from].clone();
        }
        return;
    }
    let paths: Vec<Range<usize>> = tokens.operands().into_iter().filter(|path| path.len() > 2).collect();
    let Some(to) = one(&paths, draws()) else { return };
    let alike: Vec<&Range<usize>> =
        paths.iter().filter(|from| tokens.list[from.start].1 == tokens.list[to.start].1).collect();
    if let Some(from) = one(&alike, draws()) {
        let path = tokens.list[(*from).clone()].to_vec();
        tokens.list.splice(to.clone(), path);
    }
}

fn renumber(tokens: &mut Tokens, draws: &mut dyn FnMut() -> u32) {
    let numbers = tokens.all(Kind::Number);
    if let (Some(&at), Some(number)) = (one(&numbers, draws()), one(&NUMBERS, draws())) {
        tokens.list[at].1 = (*number).to_owned();
    }
}

fn operate(tokens: &mut Tokens, draws: &mut dyn FnMut() -> u32) {
    let mut operators = tokens.all(Kind::Operator);
    // Angles of types and `:` are left alone.
    operators.retain(|&at| {
        BINARY.contains(&tokens.list[at].1.as_str()) && !matches!(tokens.list[at].1.as_str(), "<" | ">")
    });
    if let (Some(&at), Some(operator)) = (one(&operators, draws()), one(&BINARY, draws())) {
        tokens.list[at].1 = (*operator).to_owned();
    }
}

/// Deletes a statement.
fn without(tokens: &mut Tokens, draws: &mut dyn FnMut() -> u32) {
    if let Some(range) = one(&tokens.statements(), draws()) {
        tokens.list.drain(range.clone());
    }
}

/// Repeats a statement.
fn twice(tokens: &mut Tokens, draws: &mut dyn FnMut() -> u32) {
    if let Some(range) = one(&tokens.statements(), draws()) {
        let copy = tokens.list[range.clone()].to_vec();
        tokens.list.splice(range.end..range.end, copy);
    }
}

/// Exchanges a statement and the one after it.
fn swap(tokens: &mut Tokens, draws: &mut dyn FnMut() -> u32) {
    let statements = tokens.statements();
    let Some(first) = one(&statements, draws()) else { return };
    let Some(second) = statements.iter().find(|second| second.start == first.end) else { return };
    let moved = tokens.list[second.clone()].to_vec();
    tokens.list.drain(second.clone());
    tokens.list.splice(first.start..first.start, moved);
}

/// Replaces a part by one of another program, or adds the other's part.
fn graft(tokens: &mut Tokens, other: &Tokens, draws: &mut dyn FnMut() -> u32) {
    let parts = |of: &Tokens, kind: u32| -> Vec<Range<usize>> {
        match kind {
            0 => of.brackets("(", ")"),
            1 => of.brackets("{", "}"),
            _ => of.statements(),
        }
    };
    let kind = draws() % 4;
    let (here, there) = (parts(tokens, kind), parts(other, kind));
    if let (Some(here), Some(there)) = (one(&here, draws()), one(&there, draws())) {
        let range = if kind == 3 { here.end..here.end } else { here.clone() };
        tokens.list.splice(range, other.list[there.clone()].to_vec());
    }
}

/// Puts a part into a text.
fn wrap(
    tokens: &mut Tokens,
    parts: impl Fn(&Tokens) -> Vec<Range<usize>>,
    texts: &[(&str, &str)],
    draws: &mut dyn FnMut() -> u32,
) {
    let all = parts(tokens);
    if let (Some(range), Some((before, after))) = (one(&all, draws()), one(texts, draws())) {
        tokens.list.insert(range.end, (Kind::Other, format!(" {after} ")));
        tokens.list.insert(range.start, (Kind::Other, format!(" {before} ")));
    }
}

/// Deletes what is between two brackets.
fn empty(tokens: &mut Tokens, draws: &mut dyn FnMut() -> u32) {
    let (open, close) = if draws().is_multiple_of(2) { ("(", ")") } else { ("{", "}") };
    if let Some(range) = one(&tokens.brackets(open, close), draws()) {
        tokens.list.drain(range.start + 1..range.end - 1);
    }
}
