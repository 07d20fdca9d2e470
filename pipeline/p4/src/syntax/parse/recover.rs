//! Where parsing goes on after a mistake.

use super::Parser;
use crate::preprocess::{Punct, TokenKind};
use crate::syntax::keyword::Keyword;

impl Parser<'_> {
    /// Skips to the next declaration of the top level: past a `;` or a block, or before a keyword of the top level at the
    /// beginning of a line. `before` is where the wrong declaration began.
    pub(super) fn recover_declaration(&mut self, before: usize) {
        if self.next == before {
            self.advance();
        }
        self.skip(true);
        while self.at(Punct::RBrace) {
            self.advance();
        }
    }

    /// Skips the rest of a wrong part of a block: past the next `;` or block, or before the `}` that ends the block around it.
    /// `before` is where the part began.
    pub(super) fn recover_in_block(&mut self, before: usize) {
        if self.next == before && !self.at(Punct::RBrace) {
            self.advance();
            if self.previous().is(Punct::Semicolon) {
                return;
            }
        }
        self.skip(false);
    }

    fn skip(&mut self, top: bool) {
        let mut depth = 0_usize;
        loop {
            let token = self.peek();
            match token.kind {
                TokenKind::End => return,
                TokenKind::Punct(Punct::LBrace) => depth += 1,
                TokenKind::Punct(Punct::RBrace) if depth == 0 => return,
                TokenKind::Punct(Punct::RBrace) => {
                    depth -= 1;
                    if depth == 0 {
                        self.advance();
                        // `= { ... };` ends with its semicolon.
                        self.accept(Punct::Semicolon);
                        return;
                    }
                }
                TokenKind::Punct(Punct::Semicolon) if depth == 0 => {
                    self.advance();
                    return;
                }
                TokenKind::Word
                    if token.flags.line_start && self.begins_top_level() && (top || depth == 0) =>
                {
                    return;
                }
                _ => {}
            }
            self.advance();
        }
    }

    /// Returns true if the next words can only begin a declaration of the top level: a keyword and a name.
    pub(super) fn begins_top_level(&self) -> bool {
        let keyword = Self::keyword_of(self.peek());
        let is_declarator = matches!(
            keyword,
            Some(
                Keyword::Control
                    | Keyword::Parser
                    | Keyword::Header
                    | Keyword::HeaderUnion
                    | Keyword::Struct
                    | Keyword::Extern
                    | Keyword::Package
                    | Keyword::Typedef
            )
        );
        is_declarator && self.peek_at(1).kind == TokenKind::Word
    }
}
