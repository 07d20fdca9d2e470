//! Numbers: `255`, `0xFF`, `8w0b1111_1111`, `8s127`.

use super::{Parsed, Parser};
use crate::diagnostic::{Class, Diagnostic};
use crate::preprocess::Token;
use crate::syntax::ast::{IntLiteral, Width};
use num_bigint::BigUint;

/// The greatest number of characters of a number; 4,096 are 16,384 bits in hexadecimal.
const MAX_CHARACTERS: usize = 4096;

impl Parser<'_> {
    /// Reads a number.
    pub(super) fn number(&mut self) -> Parsed<IntLiteral> {
        let token = self.peek();
        match self.literal(token) {
            Ok(literal) => {
                self.advance();
                Ok(literal)
            }
            Err(diagnostic) => {
                self.diagnostics.push(*diagnostic);
                // The tree goes on with 0, and the program has its error.
                self.advance();
                Ok(IntLiteral { value: BigUint::ZERO, width: None })
            }
        }
    }

    /// Returns the value of a number.
    pub(super) fn literal(&self, token: Token) -> Result<IntLiteral, Box<Diagnostic>> {
        let text = self.ast.names.text(token.symbol);
        let error = |class, message: String, help: &str| {
            Box::new(Diagnostic::error(class, token.span, message).help(help))
        };
        if text.len() > MAX_CHARACTERS {
            let message =
                format!("the number has {} characters; at most {MAX_CHARACTERS} are possible", text.len());
            return Err(error(Class::Limit, message, "fields have at most a few thousand bits"));
        }
        parse(text).ok_or_else(|| {
            let help = "numbers are written 255, 0xFF, 0b1111_1111, 0o377, or with a width 8w255 (bit<8>) or 8s127 (int<8>)";
            error(Class::Token, format!("`{text}` is not a number"), help)
        })
    }
}

/// Returns the value and width of a number.
fn parse(text: &str) -> Option<IntLiteral> {
    let (width, digits) = match text.find(['w', 's']) {
        Some(at) => {
            let bits = text[..at].parse().ok()?;
            (Some(Width { bits, signed: text.as_bytes()[at] == b's' }), &text[at + 1..])
        }
        None => (None, text),
    };
    let (radix, digits) = match digits.get(..2) {
        Some("0x" | "0X") => (16, &digits[2..]),
        Some("0b" | "0B") => (2, &digits[2..]),
        Some("0o" | "0O") => (8, &digits[2..]),
        Some("0d" | "0D") => (10, &digits[2..]),
        _ => (10, digits),
    };
    let plain;
    let digits = if digits.contains('_') {
        plain = digits.replace('_', "");
        plain.as_str()
    } else {
        digits
    };
    let value = BigUint::parse_bytes(digits.as_bytes(), radix)?;
    Some(IntLiteral { value, width })
}
