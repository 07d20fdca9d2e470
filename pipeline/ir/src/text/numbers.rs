//! Parameters and constants of a text: their values take the place of their names.

use super::ParseError;
use super::cursor::{Cursor, Parsed, did_you_mean};
use super::lex::{Tok, Token};
use sluice_asic::names::nearest;
use std::collections::BTreeMap;

/// Deepest nesting of parentheses.
pub(super) const MAX_DEPTH: u32 = 64;

type Values<'v> = BTreeMap<&'v str, u128>;

/// Returns the tokens with values at the names of parameters, and with constants in place of `16w(EXPRESSION)`.
///
/// # Errors
/// Refuses an expression that is not a number, and one whose value does not fit its width.
pub(super) fn expand(tokens: &[Token], values: &Values<'_>) -> Parsed<Vec<Token>> {
    let mut out = Vec::with_capacity(tokens.len());
    let mut c = Cursor::new(tokens, 0);
    while let Some(token) = tokens.get(c.position()) {
        let tok = match &token.tok {
            Tok::End => Tok::End,
            Tok::Width(width) => {
                let width = *width;
                c.advance();
                c.expect("(")?;
                let before = c.clone();
                let value = expression(&mut c, values)?;
                c.expect(")").map_err(|_| c.error("`+`, `-`, `*`, `/`, `%` or `)`"))?;
                if width < 128 && value >> width != 0 {
                    let found = format!("the value {value}");
                    return Err(ParseError { found, ..before.error(format!("a value of {width} bits")) });
                }
                out.push(Token { tok: Tok::Int { value, width: Some(width) }, ..token.clone() });
                continue;
            }
            Tok::Name { text, quoted: false } => match values.get(text.as_str()) {
                Some(&value) => Tok::Param { text: text.clone(), value },
                None => token.tok.clone(),
            },
            other => other.clone(),
        };
        let end = tok == Tok::End;
        out.push(Token { tok, ..token.clone() });
        if end {
            break;
        }
        c.advance();
    }
    Ok(out)
}

/// Parses sums and differences of products; the cursor is behind them.
pub(super) fn expression(c: &mut Cursor<'_>, values: &Values<'_>) -> Parsed<u128> {
    Numbers { values, depth: 0 }.sum(c)
}

struct Numbers<'v> {
    values: &'v Values<'v>,
    depth: u32,
}

impl Numbers<'_> {
    fn sum(&mut self, c: &mut Cursor<'_>) -> Parsed<u128> {
        let mut left = self.product(c)?;
        loop {
            let at = c.clone();
            let result = if c.eat("+") {
                left.checked_add(self.product(c)?)
            } else if c.eat("-") {
                left.checked_sub(self.product(c)?)
            } else {
                return Ok(left);
            };
            left = result.ok_or_else(|| beyond(&at))?;
        }
    }

    fn product(&mut self, c: &mut Cursor<'_>) -> Parsed<u128> {
        let mut left = self.number(c)?;
        loop {
            let at = c.clone();
            let result = if c.eat("*") {
                left.checked_mul(self.number(c)?)
            } else if c.eat("/") {
                left.checked_div(self.number(c)?)
            } else if c.eat("%") {
                left.checked_rem(self.number(c)?)
            } else {
                return Ok(left);
            };
            left = result.ok_or_else(|| beyond(&at))?;
        }
    }

    /// Parses a number, the name of one, `log2(n)`, `pow2(n)`, or an expression in parentheses.
    fn number(&mut self, c: &mut Cursor<'_>) -> Parsed<u128> {
        let at = c.clone();
        match c.peek() {
            Tok::Int { value, width: None } => {
                c.advance();
                Ok(*value)
            }
            Tok::Punct("(") => self.in_parentheses(c),
            Tok::Name { text, quoted: false } if matches!(text.as_str(), "log2" | "pow2") && c.then("(") => {
                c.advance();
                let value = self.in_parentheses(c)?;
                let result = match text.as_str() {
                    "log2" => value.checked_ilog2().map(u128::from),
                    _ => u32::try_from(value).ok().and_then(|by| 1u128.checked_shl(by)),
                };
                result.ok_or_else(|| beyond(&at))
            }
            Tok::Name { text, quoted: false } => {
                let Some(value) = self.values.get(text.as_str()) else {
                    let near = nearest(text, self.values.keys().copied()).map(did_you_mean);
                    let minus = text.contains('-').then(|| "put blanks around `-`".to_owned());
                    return Err(
                        at.error_with("a number, parameter or constant", minus.or(near).unwrap_or_default())
                    );
                };
                c.advance();
                Ok(*value)
            }
            _ => Err(c.error("a number, parameter or constant")),
        }
    }

    fn in_parentheses(&mut self, c: &mut Cursor<'_>) -> Parsed<u128> {
        if self.depth == MAX_DEPTH {
            return Err(c.error(format!("at most {MAX_DEPTH} levels of parentheses")));
        }
        self.depth += 1;
        c.expect("(")?;
        let value = self.sum(c)?;
        c.expect(")").map_err(|_| c.error("`+`, `-`, `*`, `/`, `%` or `)`"))?;
        self.depth -= 1;
        Ok(value)
    }
}

/// Returns the error of an operation without a result.
fn beyond(at: &Cursor<'_>) -> ParseError {
    let error = at.error("a result from 0 to 2^128 - 1");
    ParseError { found: format!("{}, which has no such result with these values", error.found), ..error }
}
