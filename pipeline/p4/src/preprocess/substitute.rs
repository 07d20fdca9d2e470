//! Replacement of a macro's parameters, `#` and `##`.

use super::define::{Macro, Piece, Role};
use super::expand::Argument;
use super::{Flags, Preprocessor, Punct, Token, TokenKind};
use sluice_asic::limits;

/// An argument, as it is written and, once it was needed, expanded.
struct Operand {
    written: Argument,
    expanded: Option<Argument>,
}

/// The tokens of a replacement so far.
#[derive(Default)]
struct Output {
    tokens: Vec<Token>,
    /// The number of tokens before the operands of the current `##`.
    chain: usize,
    /// True if the last piece had `##` after it.
    paste: bool,
}

impl Preprocessor<'_> {
    /// Returns the replacement of a macro. Its tokens have the places where they are spelled.
    pub(super) fn substitute(&mut self, definition: &Macro, arguments: Vec<Argument>) -> Vec<Token> {
        let mut operands: Vec<Operand> =
            arguments.into_iter().map(|written| Operand { written, expanded: None }).collect();
        let mut out = Output::default();
        for (index, piece) in definition.body.iter().enumerate() {
            let next = definition.body.get(index + 1);
            if self.is_comma_of_variadic(definition, piece, next) {
                // `, ## __VA_ARGS__`: the comma goes away with an absent argument, and is not pasted to others.
                let absent = operands.last().is_none_or(|operand| operand.written.is_empty());
                if !absent {
                    out.tokens.push(piece.token);
                }
                (out.chain, out.paste) = (out.tokens.len(), false);
                continue;
            }
            match piece.role {
                Role::Token => self.append(&mut out, &[piece.token], piece),
                Role::Stringify(param) => {
                    let token = self.stringify(piece.token, &operands[param].written);
                    self.append(&mut out, &[token], piece);
                }
                Role::Param(param) if piece.paste || out.paste => {
                    let written = operands[param].written.clone();
                    self.append(&mut out, &written, piece);
                }
                Role::Param(param) => {
                    let expanded = match operands[param].expanded.take() {
                        Some(expanded) => expanded,
                        None => self.expand_list(operands[param].written.clone()),
                    };
                    self.append(&mut out, &expanded, piece);
                    operands[param].expanded = Some(expanded);
                }
            }
            if self.stopped || limits::P4_MACRO_TOKENS.is_below(out.tokens.len()) {
                break;
            }
        }
        out.tokens
    }

    /// Returns true for the comma in `, ## __VA_ARGS__`.
    fn is_comma_of_variadic(&self, definition: &Macro, piece: &Piece, next: Option<&Piece>) -> bool {
        let last = definition.params.as_ref().map_or(0, Vec::len);
        definition.variadic
            && piece.paste
            && piece.token.is(Punct::Comma)
            && next.is_some_and(|next| next.role == Role::Param(last.wrapping_sub(1)))
    }

    /// Adds the tokens of a piece; the first is pasted to the last one before it if `##` is between them.
    fn append(&mut self, out: &mut Output, tokens: &[Token], piece: &Piece) {
        let mut tokens = tokens;
        if !out.paste {
            out.chain = out.tokens.len();
        }
        if out.paste
            && out.tokens.len() > out.chain
            && let Some((&right, rest)) = tokens.split_first()
            && let Some(&left) = out.tokens.last()
        {
            match self.paste(left, right) {
                Some(token) => {
                    out.tokens.pop();
                    out.tokens.push(token);
                }
                None => {
                    out.tokens.push(Token { flags: Flags { blank_before: false, ..right.flags }, ..right })
                }
            }
            tokens = rest;
        } else if let Some((&first, rest)) = tokens.split_first() {
            let flags = Flags { blank_before: piece.token.flags.blank_before, ..first.flags };
            out.tokens.push(Token { flags, ..first });
            tokens = rest;
        }
        out.tokens.extend_from_slice(tokens);
        out.paste = piece.paste;
    }

    /// Returns the string of an argument's text: one blank for blanks between tokens, none at the ends.
    fn stringify(&mut self, hash: Token, argument: &[Token]) -> Token {
        let mut text = String::new();
        for (index, &token) in argument.iter().enumerate() {
            if index > 0 && (token.flags.blank_before || token.flags.line_start) {
                text.push(' ');
            }
            let spelling = self.spelling(token);
            if token.kind == TokenKind::Text {
                text.extend(spelling.chars().flat_map(|c| {
                    let escape = matches!(c, '"' | '\\').then_some('\\');
                    escape.into_iter().chain([c])
                }));
            } else {
                text.push_str(&spelling);
            }
            if limits::P4_WORD_BYTES.is_below(text.len()) {
                self.too_long(token.span);
                break;
            }
        }
        let symbol = self.names.intern(&text);
        Token { kind: TokenKind::Text, symbol, ..hash }
    }
}
