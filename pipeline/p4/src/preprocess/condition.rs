//! Conditions of `#if` and `#elif`: integer expressions of 64 bits.

use super::number::{Value, parse};
use super::{MAX_NESTING, Preprocessor, Punct, Token, TokenKind};
use crate::diagnostic::{Class, Diagnostic};
use crate::source::Span;

impl Preprocessor<'_> {
    /// Reads the rest of a directive's line and returns whether its value is not 0; false after an error.
    pub(super) fn condition(&mut self, at: Span) -> bool {
        let line = self.rest_of_directive();
        let written_end = line.last().map_or(at, |token| token.span).at_end();
        self.condition = true;
        let tokens = self.expand_list(line);
        self.condition = false;
        if self.stopped {
            return false;
        }
        let mut evaluator =
            Evaluator { preprocessor: self, tokens, next: 0, depth: 0, live: true, end: written_end };
        match evaluator.whole(at) {
            Ok(value) => value.is_true(),
            Err(error) => {
                self.diagnostics.push(*error);
                false
            }
        }
    }
}

type Evaluated = Result<Value, Box<Diagnostic>>;

struct Evaluator<'e, 'p> {
    preprocessor: &'e Preprocessor<'p>,
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
    /// False in operands that `&&`, `||` and `? :` do not need: a division by zero in them is no mistake.
    live: bool,
    /// The end of the line.
    end: Span,
}

fn error(at: Span, message: impl Into<String>, help: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(Class::Preprocessor, at, message).help(help))
}

impl Evaluator<'_, '_> {
    fn whole(&mut self, at: Span) -> Evaluated {
        if self.tokens.is_empty() {
            return Err(error(at, "the condition is empty", "write `#if CONDITION`, or `#ifdef NAME`"));
        }
        let value = self.ternary()?;
        match self.tokens.get(self.next) {
            None => Ok(value),
            Some(&token) => Err(self.unexpected(token, "an operator or the end of the line")),
        }
    }

    fn unexpected(&self, token: Token, expected: &str) -> Box<Diagnostic> {
        let found = self.preprocessor.spelling(token);
        error(token.span, format!("expected {expected} in the condition, found `{found}`"), "")
    }

    fn accept(&mut self, punct: Punct) -> Option<Token> {
        let token = *self.tokens.get(self.next)?;
        token.is(punct).then(|| {
            self.next += 1;
            token
        })
    }

    fn deeper<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, Box<Diagnostic>>,
    ) -> Result<T, Box<Diagnostic>> {
        if self.depth >= MAX_NESTING {
            let at = self.tokens.get(self.next).map_or(self.end, |token| token.span);
            let message = format!("more than {MAX_NESTING} operators are inside each other in the condition");
            return Err(Box::new(Diagnostic::error(Class::Limit, at, message).help("split the condition")));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// Evaluates an operand that is one level deeper.
    fn operand(&mut self, needed: bool, parse: impl FnOnce(&mut Self) -> Evaluated) -> Evaluated {
        let live = self.live;
        self.live &= needed;
        let value = self.deeper(parse);
        self.live = live;
        value
    }

    fn ternary(&mut self) -> Evaluated {
        let condition = self.binary(0)?;
        if self.accept(Punct::Question).is_none() {
            return Ok(condition);
        }
        let then = self.operand(condition.is_true(), Self::ternary)?;
        if self.accept(Punct::Colon).is_none() {
            return Err(match self.tokens.get(self.next) {
                Some(&token) => self.unexpected(token, "`:`"),
                None => error(self.end, "expected `:` in the condition, found the end of the line", ""),
            });
        }
        let otherwise = self.operand(!condition.is_true(), Self::ternary)?;
        let unsigned = then.unsigned || otherwise.unsigned;
        Ok(Value { bits: if condition.is_true() { then.bits } else { otherwise.bits }, unsigned })
    }

    /// Evaluates operators of at least this precedence.
    fn binary(&mut self, least: u8) -> Evaluated {
        let mut left = self.unary()?;
        while let Some(&token) = self.tokens.get(self.next) {
            let TokenKind::Punct(punct) = token.kind else { break };
            let Some(precedence) = precedence(punct).filter(|&precedence| precedence >= least) else { break };
            self.next += 1;
            let needed = match punct {
                Punct::AndAnd => left.is_true(),
                Punct::OrOr => !left.is_true(),
                _ => true,
            };
            let right = self.operand(needed, |evaluator| evaluator.binary(precedence + 1))?;
            left = match apply(punct, left, right) {
                Some(value) => value,
                None if !self.live => Value { bits: 0, unsigned: left.unsigned },
                None => return Err(error(token.span, "the condition divides by zero", "")),
            };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Evaluated {
        let Some(&token) = self.tokens.get(self.next) else {
            let message = "expected a number in the condition, found the end of the line";
            return Err(error(self.end, message, ""));
        };
        self.next += 1;
        match token.kind {
            TokenKind::Number => parse(self.preprocessor.names.text(token.symbol)).ok_or_else(|| {
                let text = self.preprocessor.spelling(token);
                error(token.span, format!("`{text}` is not a number of at most 64 bits"), "")
            }),
            // A word that no macro defines is 0.
            TokenKind::Word => Ok(Value::truth(false)),
            TokenKind::Punct(Punct::LParen) => {
                let value = self.deeper(Self::ternary)?;
                match self.tokens.get(self.next) {
                    Some(close) if close.is(Punct::RParen) => self.next += 1,
                    Some(&other) => return Err(self.unexpected(other, "`)`")),
                    None => return Err(error(token.span, "the parenthesis has no `)`", "add the `)`")),
                }
                Ok(value)
            }
            TokenKind::Punct(Punct::Not) => {
                let value = self.deeper(Self::unary)?;
                Ok(Value::truth(!value.is_true()))
            }
            TokenKind::Punct(Punct::Minus) => {
                let value = self.deeper(Self::unary)?;
                Ok(Value { bits: value.bits.wrapping_neg(), ..value })
            }
            TokenKind::Punct(Punct::Plus) => self.deeper(Self::unary),
            TokenKind::Punct(Punct::Tilde) => {
                let value = self.deeper(Self::unary)?;
                Ok(Value { bits: !value.bits, ..value })
            }
            _ => Err(self.unexpected(token, "a number or a name")),
        }
    }
}

fn precedence(punct: Punct) -> Option<u8> {
    Some(match punct {
        Punct::OrOr => 0,
        Punct::AndAnd => 1,
        Punct::Or => 2,
        Punct::Xor => 3,
        Punct::And => 4,
        Punct::EqEq | Punct::Ne => 5,
        Punct::Lt | Punct::Gt | Punct::Le | Punct::Ge => 6,
        Punct::Shl | Punct::Shr => 7,
        Punct::Plus | Punct::Minus => 8,
        Punct::Star | Punct::Slash | Punct::Percent => 9,
        _ => return None,
    })
}

/// Returns the result of an operator; `None` for a division by zero.
fn apply(punct: Punct, left: Value, right: Value) -> Option<Value> {
    let unsigned = left.unsigned || right.unsigned;
    let (a, b) = (left.bits, right.bits);
    let (x, y) = (a as i64, b as i64);
    let less = if unsigned { a < b } else { x < y };
    let bits = match punct {
        Punct::OrOr => return Some(Value::truth(left.is_true() || right.is_true())),
        Punct::AndAnd => return Some(Value::truth(left.is_true() && right.is_true())),
        Punct::EqEq => return Some(Value::truth(a == b)),
        Punct::Ne => return Some(Value::truth(a != b)),
        Punct::Lt => return Some(Value::truth(less)),
        Punct::Ge => return Some(Value::truth(!less)),
        Punct::Gt => return Some(Value::truth(!less && a != b)),
        Punct::Le => return Some(Value::truth(less || a == b)),
        Punct::Or => a | b,
        Punct::Xor => a ^ b,
        Punct::And => a & b,
        Punct::Shl | Punct::Shr => return Some(shift(left, right, punct == Punct::Shl)),
        Punct::Plus => a.wrapping_add(b),
        Punct::Minus => a.wrapping_sub(b),
        Punct::Star => a.wrapping_mul(b),
        _ if b == 0 => return None,
        Punct::Slash if unsigned => a / b,
        Punct::Slash => x.wrapping_div(y) as u64,
        _ if unsigned => a % b,
        _ => x.wrapping_rem(y) as u64,
    };
    Some(Value { bits, unsigned })
}

/// Returns `value` shifted; a negative distance shifts the other way, and distances from 64 on shift everything out.
fn shift(value: Value, distance: Value, left: bool) -> Value {
    let (distance, left) = match distance.bits as i64 {
        negative if !distance.unsigned && negative < 0 => (negative.unsigned_abs(), !left),
        _ => (distance.bits, left),
    };
    let bits = match (left, value.unsigned) {
        (true, _) => {
            if distance < 64 {
                value.bits << distance
            } else {
                0
            }
        }
        (false, true) => {
            if distance < 64 {
                value.bits >> distance
            } else {
                0
            }
        }
        (false, false) => ((value.bits as i64) >> distance.min(63)) as u64,
    };
    Value { bits, ..value }
}
