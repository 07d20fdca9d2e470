//! Parts of the language that Sluice does not have, refused by name.

use super::Parser;
use crate::diagnostic::{Class, Diagnostic};
use crate::preprocess::{Punct, TokenKind};
use crate::source::Span;

impl Parser<'_> {
    /// Reports a construct that Sluice does not have.
    pub(super) fn unsupported(&mut self, at: Span, construct: &str, help: &str) {
        let message = format!("Sluice does not support {construct}");
        self.diagnostics.push(Diagnostic::error(Class::Unsupported, at, message).help(help));
    }

    /// Skips tokens from an opening parenthesis, bracket, brace or `<` to the one that closes it.
    pub(super) fn skip_balanced(&mut self) {
        let mut depth = 0_usize;
        loop {
            match self.peek().kind {
                TokenKind::End | TokenKind::Punct(Punct::Semicolon) if depth == 0 => return,
                TokenKind::End => return,
                TokenKind::Punct(Punct::LParen | Punct::LBracket | Punct::LBrace | Punct::Lt) => depth += 1,
                TokenKind::Punct(Punct::RParen | Punct::RBracket | Punct::RBrace | Punct::Gt) => {
                    depth = depth.saturating_sub(1);
                }
                TokenKind::Punct(Punct::Shr) => depth = depth.saturating_sub(2),
                _ => {}
            }
            self.advance();
            if depth == 0 {
                return;
            }
        }
    }
}
