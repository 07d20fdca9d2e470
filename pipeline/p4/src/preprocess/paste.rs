//! `##`: one token of two.

use super::{Flags, Preprocessor, Punct, Token, TokenKind};
use crate::names::Symbol;
use sluice_asic::limits;
use sluice_entity::Entity;

impl Preprocessor<'_> {
    /// Returns the token whose text is the text of two tokens together; `None` if that is no token.
    pub(super) fn paste(&mut self, left: Token, right: Token) -> Option<Token> {
        let kind = match (left.kind, right.kind) {
            (TokenKind::Word, TokenKind::Word | TokenKind::Number) => TokenKind::Word,
            (TokenKind::Number, TokenKind::Word | TokenKind::Number) => TokenKind::Number,
            (TokenKind::Punct(a), TokenKind::Punct(b)) => {
                let text = format!("{}{}", a.text(), b.text());
                let punct = Punct::at(text.as_bytes()).filter(|punct| punct.text() == text)?;
                TokenKind::Punct(punct)
            }
            _ => return None,
        };
        let symbol = match kind {
            TokenKind::Word | TokenKind::Number => {
                let text = format!("{}{}", self.names.text(left.symbol), self.names.text(right.symbol));
                if limits::P4_WORD_BYTES.is_below(text.len()) {
                    self.too_long(right.span);
                }
                self.names.intern(&text)
            }
            _ => Symbol::new(0),
        };
        let flags = Flags { painted: false, ..left.flags };
        Some(Token { kind, symbol, flags, span: left.span.to(right.span) })
    }
}
