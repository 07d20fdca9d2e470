//! Definitions of macros.

use super::{Preprocessor, Punct, Token, TokenKind};
use crate::diagnostic::{Class, Diagnostic};
use crate::names::Symbol;
use crate::source::{MacroId, Span};
use sluice_entity::Entity;
use std::cell::Cell;
use std::rc::Rc;

/// A definition of a macro.
#[derive(Debug)]
pub(super) struct Macro {
    pub(super) id: MacroId,
    /// The place of the name in the `#define`.
    pub(super) span: Span,
    /// The parameters of a function-like macro.
    pub(super) params: Option<Vec<Symbol>>,
    /// True if the last parameter takes all remaining arguments.
    pub(super) variadic: bool,
    pub(super) body: Vec<Piece>,
    /// True while an expansion of the macro is being read: its name in it does not expand.
    pub(super) disabled: Cell<bool>,
}

/// A token of a macro's replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) token: Token,
    pub(super) role: Role,
    /// True if `##` follows.
    pub(super) paste: bool,
}

/// What a piece of a replacement stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Itself.
    Token,
    /// The argument of this parameter.
    Param(usize),
    /// The text of the argument of this parameter.
    Stringify(usize),
}

impl Macro {
    /// Returns true if two definitions mean the same.
    fn equals(&self, other: &Macro) -> bool {
        let same = |(a, b): (&Piece, &Piece)| {
            let text = (a.token.kind, a.token.symbol, a.role, a.paste);
            text == (b.token.kind, b.token.symbol, b.role, b.paste)
        };
        self.params == other.params
            && self.variadic == other.variadic
            && self.body.len() == other.body.len()
            && self.body.iter().zip(&other.body).all(same)
    }
}

/// The parameters of a macro.
struct Params {
    names: Vec<Symbol>,
    variadic: bool,
}

impl Preprocessor<'_> {
    /// Returns the definition of a word.
    pub(super) fn definition(&self, word: Symbol) -> Option<&Rc<Macro>> {
        self.macros.get(word.index()).and_then(Option::as_ref)
    }

    pub(super) fn is_defined(&self, word: Symbol) -> bool {
        self.definition(word).is_some()
            || [self.words.line, self.words.file, self.words.counter].contains(&word)
    }

    /// `#undef NAME`
    pub(super) fn undefine(&mut self, at: Span) {
        let name = self.directive_token();
        if name.kind != TokenKind::Word {
            return self.error(at, "`#undef` has no name", "write `#undef NAME`");
        }
        self.end_of_directive("#undef");
        if let Some(definition) = self.macros.get_mut(name.symbol.index()) {
            *definition = None;
        }
    }

    /// `#define NAME replacement` or `#define NAME(params) replacement`
    pub(super) fn define(&mut self, at: Span) {
        let name = self.directive_token();
        if name.kind != TokenKind::Word {
            return self.error(at, "`#define` has no name", "write `#define NAME replacement`");
        }
        if name.symbol == self.words.defined || name.symbol == self.words.variadic {
            let message = format!("`{}` cannot be the name of a macro", self.names.text(name.symbol));
            return self.error(name.span, message, "choose another name");
        }
        let mut line = self.rest_of_directive();
        let mut params = None;
        if line.first().is_some_and(|token| token.is(Punct::LParen) && !token.flags.blank_before) {
            let Some((list, length)) = self.params(&line) else { return };
            line.drain(..length);
            params = Some(list);
        }
        let Some(body) = self.body(&line, params.as_ref()) else { return };
        let id = self.sources.add_macro(self.names.text(name.symbol));
        let (params, variadic) = params.map_or((None, false), |list| (Some(list.names), list.variadic));
        self.add_macro(
            name.symbol,
            Macro { id, span: name.span, params, variadic, body, disabled: Cell::new(false) },
        );
    }

    fn add_macro(&mut self, name: Symbol, definition: Macro) {
        if let Some(old) = self.definition(name)
            && !old.equals(&definition)
        {
            let message = format!("macro `{}` is defined again, differently", self.names.text(name));
            let warning = Diagnostic::warning(Class::Preprocessor, definition.span, message)
                .also(old.span, "the earlier definition")
                .help("remove one of them, or write #undef before the second");
            self.diagnostics.push(warning);
        }
        if self.macros.len() <= name.index() {
            self.macros.resize(name.index() + 1, None);
        }
        self.macros[name.index()] = Some(Rc::new(definition));
    }

    /// Returns the parameters at the beginning of a line, and the number of their tokens.
    fn params(&mut self, line: &[Token]) -> Option<(Params, usize)> {
        let mut list = Params { names: Vec::new(), variadic: false };
        let mut rest = line.iter().enumerate().skip(1).peekable();
        if let Some((index, _)) = rest.next_if(|(_, token)| token.is(Punct::RParen)) {
            return Some((list, index + 1));
        }
        loop {
            let place =
                rest.peek().map_or_else(|| line[line.len() - 1].span.at_end(), |(_, token)| token.span);
            let param = match rest.next() {
                Some((_, token)) if token.is(Punct::Dots) => {
                    list.variadic = true;
                    self.words.variadic
                }
                Some((_, token)) if token.kind == TokenKind::Word => {
                    list.variadic = rest.next_if(|(_, token)| token.is(Punct::Dots)).is_some();
                    token.symbol
                }
                _ => {
                    let message =
                        format!("expected a parameter of the macro, found {}", self.found_at(line, place));
                    self.error(place, message, "write `#define NAME(A, B) replacement`");
                    return None;
                }
            };
            if list.names.contains(&param) {
                let message =
                    format!("two parameters of the macro have the name `{}`", self.names.text(param));
                self.error(place, message, "rename one of them");
                return None;
            }
            list.names.push(param);
            match rest.next() {
                Some((index, token)) if token.is(Punct::RParen) => return Some((list, index + 1)),
                Some((_, token)) if token.is(Punct::Comma) && !list.variadic => {}
                other => {
                    let place =
                        other.map_or_else(|| line[line.len() - 1].span.at_end(), |(_, token)| token.span);
                    let found = self.found_at(line, place);
                    let message =
                        format!("expected `,` or `)` after a parameter of the macro, found {found}");
                    self.error(place, message, "write `#define NAME(A, B) replacement`");
                    return None;
                }
            }
        }
    }

    fn found_at(&self, line: &[Token], place: Span) -> String {
        line.iter()
            .find(|token| token.span == place)
            .map_or_else(|| "the end of the line".to_owned(), |token| format!("`{}`", self.spelling(*token)))
    }

    /// Returns the pieces of a replacement.
    fn body(&mut self, line: &[Token], params: Option<&Params>) -> Option<Vec<Piece>> {
        let param = |token: &Token| {
            let names = params.map(|list| list.names.as_slice()).unwrap_or_default();
            names.iter().position(|&name| token.kind == TokenKind::Word && token.symbol == name)
        };
        let mut body: Vec<Piece> = Vec::with_capacity(line.len());
        let mut tokens = line.iter().peekable();
        while let Some(&token) = tokens.next() {
            if token.is(Punct::HashHash) {
                if body.is_empty() || tokens.peek().is_none() {
                    self.error(
                        token.span,
                        "`##` is at an end of the replacement",
                        "put a token on each side of it",
                    );
                    return None;
                }
                if let Some(last) = body.last_mut() {
                    last.paste = true;
                }
                continue;
            }
            if token.is(Punct::Hash)
                && let Some(argument) = tokens.peek().and_then(|next| param(next))
            {
                tokens.next();
                body.push(Piece { token, role: Role::Stringify(argument), paste: false });
                continue;
            }
            let role = param(&token).map_or(Role::Token, Role::Param);
            body.push(Piece { token, role, paste: false });
        }
        Some(body)
    }
}
