//! Syntax of a trace filter: comparisons of a name with a value, joined by `&&`, `||` and parentheses.

/// Most nested parentheses.
const DEPTH: usize = 32;

/// Signs of the language; longer ones come before their beginnings.
const SIGNS: [&str; 10] = ["&&", "||", "==", "!=", "<=", ">=", "<", ">", "(", ")"];

/// A mistake in a trace filter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {text}")]
pub struct FilterError {
    /// Column of the mistake, from 1.
    pub column: usize,
    /// The text found and the text expected.
    pub text: String,
    /// How to correct the filter.
    pub help: String,
}

/// A name or value, with its column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) column: usize,
}

impl Word {
    pub(super) fn error(&self, text: String, help: impl Into<String>) -> FilterError {
        FilterError { column: self.column, text, help: help.into() }
    }
}

/// Comparison of a name with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    const TABLE: [(&'static str, Comparison); 6] = [
        ("==", Comparison::Equal),
        ("!=", Comparison::NotEqual),
        ("<=", Comparison::LessOrEqual),
        (">=", Comparison::GreaterOrEqual),
        ("<", Comparison::Less),
        (">", Comparison::Greater),
    ];

    pub(super) const fn is_order(self) -> bool {
        !matches!(self, Comparison::Equal | Comparison::NotEqual)
    }

    /// Returns true if a value is in this order to `limit`.
    pub(super) const fn holds(self, value: u128, limit: u128) -> bool {
        match self {
            Comparison::Equal => value == limit,
            Comparison::NotEqual => value != limit,
            Comparison::Less => value < limit,
            Comparison::LessOrEqual => value <= limit,
            Comparison::Greater => value > limit,
            Comparison::GreaterOrEqual => value >= limit,
        }
    }
}

/// A condition whose comparisons are `T`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Condition<T> {
    And(Box<[Condition<T>; 2]>),
    Or(Box<[Condition<T>; 2]>),
    Test(T),
}

/// A comparison as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) name: Word,
    pub(super) comparison: Comparison,
    pub(super) value: Word,
}

impl<T> Condition<T> {
    /// Returns the condition with other comparisons.
    pub(super) fn map<U>(&self, to: &mut impl FnMut(&T) -> U) -> Condition<U> {
        match self {
            Condition::And(sides) => Condition::And(Box::new([sides[0].map(to), sides[1].map(to)])),
            Condition::Or(sides) => Condition::Or(Box::new([sides[0].map(to), sides[1].map(to)])),
            Condition::Test(test) => Condition::Test(to(test)),
        }
    }

    /// Returns true if the condition holds, given which comparisons hold.
    pub(super) fn holds(&self, of: &impl Fn(&T) -> bool) -> bool {
        match self {
            Condition::And(sides) => sides.iter().all(|side| side.holds(of)),
            Condition::Or(sides) => sides.iter().any(|side| side.holds(of)),
            Condition::Test(test) => of(test),
        }
    }

    /// Calls a function with each comparison, from left to right.
    pub(super) fn each<'c>(&'c self, with: &mut impl FnMut(&'c T)) {
        match self {
            Condition::And(sides) | Condition::Or(sides) => sides.iter().for_each(|side| side.each(with)),
            Condition::Test(test) => with(test),
        }
    }
}

enum Token {
    Sign(&'static str),
    Word(String),
}

/// Parses a condition.
pub(super) fn parse(text: &str) -> Result<Condition<Written>, FilterError> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0, end: text.chars().count() + 1 };
    let condition = parser.either()?;
    match parser.tokens.get(parser.at) {
        None => Ok(condition),
        Some(_) => Err(parser.expected("`&&`, `||` or the end")),
    }
}

fn tokens(text: &str) -> Result<Vec<(Token, usize)>, FilterError> {
    let is_of_word = |c: char| !c.is_whitespace() && !"&|=!<>()\"'".contains(c);
    let mut list = Vec::new();
    let (mut rest, mut column) = (text, 1);
    while let Some(first) = rest.chars().next() {
        let length = if first.is_whitespace() {
            first.len_utf8()
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            list.push((Token::Sign(sign), column));
            sign.len()
        } else if matches!(first, '"' | '\'') {
            let Some((word, _)) = rest.get(1..).and_then(|inner| inner.split_once(first)) else {
                let text = format!("{first} has no partner");
                return Err(FilterError { column, text, help: format!("close the name with {first}") });
            };
            list.push((Token::Word(word.to_owned()), column));
            word.len() + 2
        } else {
            let end = rest.find(|c| !is_of_word(c)).unwrap_or(rest.len());
            let Some(word) = rest.get(..end).filter(|word| !word.is_empty()) else {
                let text = format!("found `{first}`, expected a name, a comparison, `&&` or `||`");
                let help = match first {
                    '=' => "a comparison is written `==`",
                    '&' => "both conditions must hold with `&&`",
                    '|' => "one of two conditions must hold with `||`",
                    _ => "`!=` compares; a condition cannot be negated",
                };
                return Err(FilterError { column, text, help: help.to_owned() });
            };
            list.push((Token::Word(word.to_owned()), column));
            end
        };
        let (taken, after) = rest.split_at(length);
        column += taken.chars().count();
        rest = after;
    }
    Ok(list)
}

struct Parser {
    tokens: Vec<(Token, usize)>,
    at: usize,
    depth: usize,
    /// Column after the last character.
    end: usize,
}

impl Parser {
    fn expected(&self, what: &str) -> FilterError {
        let (found, column) = match self.tokens.get(self.at) {
            Some((Token::Sign(sign), column)) => (format!("`{sign}`"), *column),
            Some((Token::Word(word), column)) => (format!("`{word}`"), *column),
            None => ("the end".to_owned(), self.end),
        };
        let help = "for example `table == acl && port == 3`".to_owned();
        FilterError { column, text: format!("found {found}, expected {what}"), help }
    }

    fn takes(&mut self, sign: &str) -> bool {
        let is_next = matches!(self.tokens.get(self.at), Some((Token::Sign(next), _)) if *next == sign);
        self.at += usize::from(is_next);
        is_next
    }

    fn either(&mut self) -> Result<Condition<Written>, FilterError> {
        let mut left = self.both()?;
        while self.takes("||") {
            left = Condition::Or(Box::new([left, self.both()?]));
        }
        Ok(left)
    }

    fn both(&mut self) -> Result<Condition<Written>, FilterError> {
        let mut left = self.single()?;
        while self.takes("&&") {
            left = Condition::And(Box::new([left, self.single()?]));
        }
        Ok(left)
    }

    fn single(&mut self) -> Result<Condition<Written>, FilterError> {
        if !self.takes("(") {
            let name = self.word("a name such as `table` or `ipv4.dst`")?;
            let comparison = Comparison::TABLE.into_iter().find(|(sign, _)| self.takes(sign));
            let Some((_, comparison)) = comparison else {
                return Err(self.expected("`==`, `!=`, `<`, `<=`, `>` or `>=`"));
            };
            return Ok(Condition::Test(Written { name, comparison, value: self.word("a value")? }));
        }
        self.depth += 1;
        if self.depth > DEPTH {
            let text = format!("more than {DEPTH} nested parentheses");
            return Err(FilterError { column: self.end, text, help: "write a shorter condition".to_owned() });
        }
        let inner = self.either()?;
        self.depth -= 1;
        if self.takes(")") { Ok(inner) } else { Err(self.expected("`)`, `&&` or `||`")) }
    }

    fn word(&mut self, what: &str) -> Result<Word, FilterError> {
        let Some((Token::Word(text), column)) = self.tokens.get(self.at) else {
            return Err(self.expected(what));
        };
        self.at += 1;
        Ok(Word { text: text.clone(), column: *column })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the condition with all parentheses.
    fn shown(condition: &Condition<Written>) -> String {
        match condition {
            Condition::And(sides) => format!("({} and {})", shown(&sides[0]), shown(&sides[1])),
            Condition::Or(sides) => format!("({} or {})", shown(&sides[0]), shown(&sides[1])),
            Condition::Test(Written { name, comparison, value }) => {
                format!("{} {comparison:?} {}", name.text, value.text)
            }
        }
    }

    #[test]
    fn and_binds_more_than_or() {
        let rows = [
            ("table == acl", "table Equal acl"),
            ("a==1||b!=2&&c<3", "(a Equal 1 or (b NotEqual 2 and c Less 3))"),
            ("(a == 1 || b == 2) && c >= 0x3", "((a Equal 1 or b Equal 2) and c GreaterOrEqual 0x3)"),
            ("ipv6.dst == 2001:db8::/32", "ipv6.dst Equal 2001:db8::/32"),
            ("table == 'my (table)' && port == 1/0", "(table Equal my (table) and port Equal 1/0)"),
        ];
        for (text, expected) in rows {
            assert_eq!(parse(text).as_ref().map(shown), Ok(expected.to_owned()));
        }
    }

    #[test]
    fn mistakes_have_a_column() {
        let rows = [
            ("", "column 1: found the end, expected a name such as `table` or `ipv4.dst`"),
            ("table", "column 6: found the end, expected `==`, `!=`, `<`, `<=`, `>` or `>=`"),
            ("table = acl", "column 7: found `=`, expected a name, a comparison, `&&` or `||`"),
            ("port == && 3", "column 9: found `&&`, expected a value"),
            ("port == 3 table == acl", "column 11: found `table`, expected `&&`, `||` or the end"),
            ("(port == 3", "column 11: found the end, expected `)`, `&&` or `||`"),
            ("ä == 'b", "column 6: ' has no partner"),
        ];
        for (text, expected) in rows {
            assert_eq!(parse(text).unwrap_err().to_string(), expected);
        }
        assert_eq!(parse(&"(".repeat(99)).unwrap_err().text, "more than 32 nested parentheses");
    }
}
