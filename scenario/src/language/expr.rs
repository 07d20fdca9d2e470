//! Whole-number expressions of scenario files: `drop_at(cells) - xoff_at(cells) - 1`.
//!
//! Numbers, names with dots, calls, `+ - * / %` and comparisons (1 or 0). Division rounds down.

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use std::fmt;

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    text: String,
    node: Node,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    Number(i128),
    Name(String),
    Call(String, Vec<Node>),
    Binary(Op, Box<[Node; 2]>),
    Negative(Box<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// Operators by precedence, lowest first; longer spellings come first.
const LEVELS: [&[(&str, Op)]; 3] = [
    &[("==", Op::Eq), ("!=", Op::Ne), ("<=", Op::Le), (">=", Op::Ge), ("<", Op::Lt), (">", Op::Gt)],
    &[("+", Op::Add), ("-", Op::Sub)],
    &[("*", Op::Mul), ("/", Op::Div), ("%", Op::Rem)],
];

/// Most nested parentheses, calls and signs.
const DEPTH: usize = 32;

/// Comparison of two sides by order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inequality {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Inequality {
    /// Returns the inequality that is true of two numbers if and only if this one is false.
    #[must_use]
    pub const fn negated(self) -> Inequality {
        match self {
            Inequality::Less => Inequality::GreaterOrEqual,
            Inequality::LessOrEqual => Inequality::Greater,
            Inequality::Greater => Inequality::LessOrEqual,
            Inequality::GreaterOrEqual => Inequality::Less,
        }
    }
}

/// Values of names and calls.
pub trait Scope {
    /// Returns the value of a name.
    ///
    /// # Errors
    /// If there is no such name, or it has no value at present.
    fn name(&self, name: &str) -> Result<i128, String>;

    /// Returns the value of a call.
    ///
    /// # Errors
    /// If there is no such function, or it does not take these arguments.
    fn call(&self, name: &str, args: &[i128]) -> Result<i128, String>;
}

impl Expr {
    /// Parses an expression.
    ///
    /// # Errors
    /// If the text is not an expression; the error says what was found and what was expected.
    pub fn parse(text: &str) -> Result<Expr, String> {
        let mut parser = Parser { rest: text, depth: 0 };
        let node = parser.level(0)?;
        match parser.rest.trim() {
            "" => Ok(Expr { text: text.trim().to_owned(), node }),
            rest => Err(format!("`{rest}` in `{text}`; expected an operator or the end")),
        }
    }

    /// Returns true if the expression is an operation or a comparison, false for a number, a name or a call.
    #[must_use]
    pub fn is_operation(&self) -> bool {
        matches!(self.node, Node::Binary(..) | Node::Negative(_))
    }

    /// Evaluates the expression.
    ///
    /// # Errors
    /// If a name or function is unknown, a divisor is 0, or a number needs more than 127 bits.
    pub fn value(&self, scope: &impl Scope) -> Result<i128, String> {
        eval(&self.node, scope).map_err(|e| format!("`{}`: {e}", self.text))
    }

    /// Returns the inequality whose two sides make up the expression, `None` for every other expression.
    #[must_use]
    pub fn inequality(&self) -> Option<Inequality> {
        let Node::Binary(op, _) = &self.node else { return None };
        match op {
            Op::Lt => Some(Inequality::Less),
            Op::Le => Some(Inequality::LessOrEqual),
            Op::Gt => Some(Inequality::Greater),
            Op::Ge => Some(Inequality::GreaterOrEqual),
            Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Rem | Op::Eq | Op::Ne => None,
        }
    }

    /// Evaluates left side - right side of an expression with two sides; of another expression its value.
    ///
    /// # Errors
    /// Those of [`Self::value`].
    pub fn difference(&self, scope: &impl Scope) -> Result<i128, String> {
        let Node::Binary(_, sides) = &self.node else { return self.value(scope) };
        let difference =
            || eval(&sides[0], scope)?.checked_sub(eval(&sides[1], scope)?).ok_or_else(too_large);
        difference().map_err(|e| format!("`{}`: {e}", self.text))
    }

    /// Returns the expression's name if it is a single name or call; otherwise an empty text.
    #[must_use]
    pub fn head(&self) -> &str {
        match &self.node {
            Node::Name(name) | Node::Call(name, _) => name,
            _ => "",
        }
    }

    /// Returns the names in the expression, in order.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        fn walk<'a>(node: &'a Node, into: &mut Vec<&'a str>) {
            match node {
                Node::Number(_) => {}
                Node::Name(name) => into.push(name),
                Node::Call(_, args) => args.iter().for_each(|arg| walk(arg, into)),
                Node::Binary(_, sides) => sides.iter().for_each(|side| walk(side, into)),
                Node::Negative(inner) => walk(inner, into),
            }
        }
        let mut names = Vec::new();
        walk(&self.node, &mut names);
        names
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

fn eval(node: &Node, scope: &impl Scope) -> Result<i128, String> {
    match node {
        Node::Number(n) => Ok(*n),
        Node::Name(name) => scope.name(name),
        Node::Negative(inner) => eval(inner, scope)?.checked_neg().ok_or_else(too_large),
        Node::Call(name, args) => {
            let args: Vec<i128> = args.iter().map(|a| eval(a, scope)).collect::<Result<_, _>>()?;
            scope.call(name, &args)
        }
        Node::Binary(op, sides) => {
            let [a, b] = [eval(&sides[0], scope)?, eval(&sides[1], scope)?];
            let found = match op {
                Op::Add => a.checked_add(b),
                Op::Sub => a.checked_sub(b),
                Op::Mul => a.checked_mul(b),
                Op::Div | Op::Rem if b == 0 => return Err("division by zero".to_owned()),
                Op::Div => a.checked_div_euclid(b),
                Op::Rem => a.checked_rem_euclid(b),
                Op::Eq => Some((a == b).into()),
                Op::Ne => Some((a != b).into()),
                Op::Lt => Some((a < b).into()),
                Op::Le => Some((a <= b).into()),
                Op::Gt => Some((a > b).into()),
                Op::Ge => Some((a >= b).into()),
            };
            found.ok_or_else(too_large)
        }
    }
}

fn too_large() -> String {
    "a number needs more than 127 bits".to_owned()
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

impl Parser<'_> {
    fn level(&mut self, level: usize) -> Result<Node, String> {
        let Some(ops) = LEVELS.get(level) else { return self.atom() };
        let mut left = self.level(level + 1)?;
        loop {
            self.rest = self.rest.trim_start();
            let Some((word, op)) = ops.iter().find(|(word, _)| self.rest.starts_with(word)) else {
                return Ok(left);
            };
            self.rest = &self.rest[word.len()..];
            left = Node::Binary(*op, Box::new([left, self.level(level + 1)?]));
        }
    }

    fn atom(&mut self) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(format!("more than {DEPTH} nested parentheses"));
        }
        self.rest = self.rest.trim_start();
        let node = match self.rest.chars().next() {
            Some('(') => {
                self.rest = &self.rest[1..];
                let inner = self.level(0)?;
                self.expect(')')?;
                inner
            }
            Some('-') => {
                self.rest = &self.rest[1..];
                Node::Negative(Box::new(self.atom()?))
            }
            Some(c) if c.is_ascii_digit() => {
                let digits = self.word(|c| c.is_ascii_digit() || c == '_');
                let number = digits.replace('_', "").parse();
                Node::Number(number.map_err(|_| format!("`{digits}` is not a number below 2^127"))?)
            }
            Some(c) if c.is_ascii_alphabetic() => {
                let name = self.word(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
                match self.rest.trim_start().starts_with('(') {
                    true => Node::Call(name, self.args()?),
                    false => Node::Name(name),
                }
            }
            _ => {
                let found = if self.rest.is_empty() { "the end" } else { self.rest };
                return Err(format!("`{found}`; expected a number, a name or `(`"));
            }
        };
        self.depth -= 1;
        Ok(node)
    }

    fn args(&mut self) -> Result<Vec<Node>, String> {
        self.expect('(')?;
        let mut args = Vec::new();
        if self.rest.trim_start().starts_with(')') {
            self.expect(')')?;
            return Ok(args);
        }
        loop {
            args.push(self.level(0)?);
            match self.rest.trim_start().starts_with(',') {
                true => self.expect(',')?,
                false => break,
            }
        }
        self.expect(')')?;
        Ok(args)
    }

    fn word(&mut self, of: impl Fn(char) -> bool) -> String {
        let end = self.rest.find(|c| !of(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.to_owned()
    }

    fn expect(&mut self, c: char) -> Result<(), String> {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                Ok(())
            }
            None => {
                Err(format!("`{}`; expected `{c}`", if self.rest.is_empty() { "the end" } else { self.rest }))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Expr {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit;
        impl Visitor<'_> for Visit {
            type Value = Expr;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number or an expression such as \"2 * cells + 1\"")
            }
            fn visit_i64<E: Error>(self, n: i64) -> Result<Expr, E> {
                Ok(Expr { text: n.to_string(), node: Node::Number(n.into()) })
            }
            fn visit_u64<E: Error>(self, n: u64) -> Result<Expr, E> {
                Ok(Expr { text: n.to_string(), node: Node::Number(n.into()) })
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Expr, E> {
                Expr::parse(text).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Visit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Names;

    impl Scope for Names {
        fn name(&self, name: &str) -> Result<i128, String> {
            match name {
                "cells" => Ok(6),
                "a.b" => Ok(-7),
                _ => Err(format!("nothing is called {name}")),
            }
        }
        fn call(&self, name: &str, args: &[i128]) -> Result<i128, String> {
            match (name, args) {
                ("min", [a, b]) => Ok(*a.min(b)),
                _ => Err(format!("no {name} of {}", args.len())),
            }
        }
    }

    #[test]
    fn values() {
        let value = |text: &str| Expr::parse(text).and_then(|e| e.value(&Names));
        let rows = [
            ("1_000 + 2*3", 1006),
            ("(1+2)*3 - -4", 13),
            ("10 - 3 - 2", 5),
            ("7/2 + a.b/2", -1),
            ("a.b % 4", 1),
            ("min(cells, 4+1)", 5),
            ("cells == 6", 1),
            ("cells < 6", 0),
            ("1 + 1 >= 2", 1),
        ];
        for (text, expected) in rows {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
        let sides = |text: &str| {
            let expr = Expr::parse(text).unwrap();
            (expr.inequality(), expr.difference(&Names))
        };
        assert_eq!(sides("cells + 1 < 2 * 5"), (Some(Inequality::Less), Ok(-3)));
        assert_eq!(sides("a.b >= cells"), (Some(Inequality::GreaterOrEqual), Ok(-13)));
        assert_eq!(sides("cells == 4"), (None, Ok(2)));
        assert_eq!(sides("(1 < 2) == 1").0, None);
        assert_eq!(sides("7"), (None, Ok(7)));
        assert_eq!(value("1/0"), Err("`1/0`: division by zero".to_owned()));
        assert!(value("other").unwrap_err().contains("nothing is called other"));
        for bad in ["", "1 +", "(1", "1 2", "min(1,", "*", "1)", &"(".repeat(99)] {
            assert!(Expr::parse(bad).is_err(), "{bad}");
        }
    }
}
