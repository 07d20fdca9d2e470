//! Expansion of macros: which tokens come next, and the arguments of function-like macros.
//!
//! The next token comes from the innermost list of tokens ([`Context`]), and from the file when there is none. The list of an
//! expansion disables its macro while it is read: the macro's name in it is painted, and never expands again.

use super::define::Macro;
use super::{Flags, MAX_NESTING, Preprocessor, Punct, Token, TokenKind};
use crate::diagnostic::{Class, Diagnostic};
use crate::names::Symbol;
use crate::source::Span;
use sluice_asic::limits;
use std::rc::Rc;

/// A list of tokens that is read before the file.
pub(super) struct Context {
    tokens: Vec<Token>,
    next: usize,
    /// The macro whose expansion the list is.
    of: Option<Rc<Macro>>,
    /// True if the end of the list is the end of the text: the list is a directive or an argument.
    is_whole: bool,
}

/// The tokens of an argument, without the commas around them.
pub(super) type Argument = Vec<Token>;

impl Preprocessor<'_> {
    /// Returns the next token after expansion.
    pub(super) fn next_token(&mut self) -> Token {
        loop {
            let mut token = self.raw_token();
            if token.kind != TokenKind::Word {
                return self.inherit(token);
            }
            if self.condition && token.symbol == self.words.defined {
                return self.defined_operator(token);
            }
            if token.flags.painted || !self.is_defined(token.symbol) {
                return self.inherit(token);
            }
            let Some(definition) = self.definition(token.symbol).map(Rc::clone) else {
                return self.builtin(token);
            };
            if definition.disabled.get() {
                token.flags.painted = true;
                return self.inherit(token);
            }
            if !self.expand(token, &definition) {
                return self.inherit(token);
            }
        }
    }

    /// Gives a token the flags of uses of macros before it that made no token.
    fn inherit(&mut self, mut token: Token) -> Token {
        let flags = std::mem::take(&mut self.inherited);
        token.flags.line_start |= flags.line_start;
        token.flags.blank_before |= flags.blank_before;
        token
    }

    /// Returns the next token before expansion; at the end of a directive, an argument or the program, [`TokenKind::End`].
    pub(super) fn raw_token(&mut self) -> Token {
        while let Some(context) = self.contexts.last_mut() {
            if let Some(&token) = context.tokens.get(context.next) {
                context.next += 1;
                return token;
            }
            if context.is_whole {
                let at = context.tokens.last().map_or(Span::NONE, |token| token.span.at_end());
                return Self::end(at);
            }
            self.pop_context();
        }
        self.file_token()
    }

    fn pop_context(&mut self) {
        if let Some(Context { of: Some(definition), .. }) = self.contexts.pop() {
            definition.disabled.set(false);
        }
    }

    /// Reads a token again, before all others.
    fn unread(&mut self, token: Token) {
        if token.kind == TokenKind::End {
            return;
        }
        self.contexts.push(Context { tokens: vec![token], next: 0, of: None, is_whole: false });
    }

    /// Returns the expansion of a whole list: a directive or an argument.
    pub(super) fn expand_list(&mut self, tokens: Vec<Token>) -> Vec<Token> {
        if self.nesting >= MAX_NESTING {
            let at = tokens.first().map_or(Span::NONE, |token| token.span);
            let message = format!("more than {MAX_NESTING} uses of macros are inside each other's arguments");
            self.stop(
                Diagnostic::error(Class::Limit, at, message).help("define macros for parts of the argument"),
            );
            return Vec::new();
        }
        self.nesting += 1;
        let inherited = std::mem::take(&mut self.inherited);
        let depth = self.contexts.len();
        self.contexts.push(Context { tokens, next: 0, of: None, is_whole: true });
        let mut list = Vec::new();
        while !self.stopped {
            let token = self.next_token();
            if token.kind == TokenKind::End {
                break;
            }
            list.push(token);
        }
        while self.contexts.len() > depth {
            self.pop_context();
        }
        self.inherited = inherited;
        self.nesting -= 1;
        list
    }

    /// Expands the use of a macro whose name is `name`. Returns false if the name stands for itself, because it has no arguments
    /// or wrong ones.
    fn expand(&mut self, name: Token, definition: &Rc<Macro>) -> bool {
        let (used_at, arguments) = match &definition.params {
            None => (name.span, Vec::new()),
            Some(params) => match self.arguments(name, definition, params) {
                Some((end, arguments)) => (name.span.to(end), arguments),
                None => return false,
            },
        };
        let tokens = self.substitute(definition, arguments);
        self.push_expansion(name, definition, used_at, tokens);
        true
    }

    /// Makes the tokens of an expansion the next ones.
    fn push_expansion(&mut self, name: Token, of: &Rc<Macro>, used_at: Span, mut tokens: Vec<Token>) {
        if tokens.is_empty() {
            self.inherited.line_start |= name.flags.line_start;
            self.inherited.blank_before = true;
            return;
        }
        self.expanded += tokens.len();
        let limit = &limits::P4_MACRO_TOKENS;
        if limit.is_below(self.expanded) {
            let message = format!("macros make more than {} tokens", limit.get());
            let help = format!(
                "does each of a chain of macros use the one before it several times? {}",
                limit.advice()
            );
            return self.stop(Diagnostic::error(Class::Limit, self.outermost(used_at), message).help(help));
        }
        let spelled: Vec<Span> = tokens.iter().map(|token| token.span).collect();
        let Ok(base) = self.sources.add_expansion(of.id, used_at, &spelled) else {
            return self.stop(Self::full(used_at));
        };
        for (position, token) in (base..).zip(&mut tokens) {
            token.span = Span::new(position, position + 1);
            token.flags.line_start = false;
        }
        tokens[0].flags = Flags { painted: tokens[0].flags.painted, ..name.flags };
        of.disabled.set(true);
        self.contexts.push(Context { tokens, next: 0, of: Some(Rc::clone(of)), is_whole: false });
    }

    /// Returns a span without its macros, so that a message about many of them shows one place.
    pub(super) fn outermost(&self, span: Span) -> Span {
        let region = self.sources.place(span).map(|place| place.region);
        region.map_or(span, |region| self.sources.span(region.file, region.bytes))
    }

    /// Reads the arguments of a function-like macro, and returns the place of the last parenthesis with them. Returns `None`
    /// if no parenthesis follows the name, or after an error.
    fn arguments(
        &mut self,
        name: Token,
        definition: &Macro,
        params: &[Symbol],
    ) -> Option<(Span, Vec<Argument>)> {
        let open = self.raw_token();
        if !open.is(Punct::LParen) {
            self.unread(open);
            return None;
        }
        let mut arguments = vec![Argument::new()];
        let mut depth = 0_usize;
        let end = loop {
            let token = self.raw_token();
            match token.kind {
                TokenKind::End if self.stopped => return None,
                TokenKind::End => {
                    let message = format!("the use of macro `{}` has no `)`", self.names.text(name.symbol));
                    let error = Diagnostic::error(Class::Preprocessor, name.span, message);
                    self.diagnostics.push(error.also(definition.span, "the macro").help("add the `)`"));
                    self.unread(token);
                    return None;
                }
                TokenKind::Punct(Punct::RParen) if depth == 0 => break token.span,
                TokenKind::Punct(Punct::RParen) => depth -= 1,
                TokenKind::Punct(Punct::LParen) => depth += 1,
                TokenKind::Punct(Punct::Comma)
                    if depth == 0 && !(definition.variadic && arguments.len() == params.len()) =>
                {
                    arguments.push(Argument::new());
                    continue;
                }
                _ => {}
            }
            if let Some(argument) = arguments.last_mut() {
                argument.push(token);
            }
        };
        self.check_count(name, end, definition, params, arguments)
    }

    fn check_count(
        &mut self,
        name: Token,
        end: Span,
        definition: &Macro,
        params: &[Symbol],
        mut arguments: Vec<Argument>,
    ) -> Option<(Span, Vec<Argument>)> {
        if params.is_empty() && arguments.len() == 1 && arguments[0].is_empty() {
            arguments.clear();
        }
        // The arguments of `...` may be absent, with the comma before them.
        if definition.variadic && arguments.len() + 1 == params.len() {
            arguments.push(Argument::new());
        }
        if arguments.len() == params.len() {
            return Some((end, arguments));
        }
        let text = self.names.text(name.symbol);
        let message =
            format!("macro `{text}` has {} parameters, found {} arguments", params.len(), arguments.len());
        let error = Diagnostic::error(Class::Preprocessor, name.span.to(end), message);
        let help = "an argument with a comma in it needs parentheses around it";
        self.diagnostics.push(error.also(definition.span, "the macro").help(help));
        None
    }

    /// Returns the token that `__LINE__`, `__FILE__` or `__COUNTER__` stands for.
    fn builtin(&mut self, name: Token) -> Token {
        let region = self.sources.place(name.span).map(|place| place.region);
        let (file, line) = region.map_or((String::new(), 0), |region| {
            let (file, line, _) = self.sources.line(region.file, region.bytes.start);
            (file.to_owned(), line)
        });
        let (kind, text) = if name.symbol == self.words.line {
            (TokenKind::Number, line.to_string())
        } else if name.symbol == self.words.file {
            (TokenKind::Text, file)
        } else {
            self.counter += 1;
            (TokenKind::Number, (self.counter - 1).to_string())
        };
        let symbol = self.names.intern(&text);
        self.inherit(Token { kind, symbol, ..name })
    }

    /// Returns 1 or 0 for `defined NAME` or `defined(NAME)`, whose first word is read.
    fn defined_operator(&mut self, word: Token) -> Token {
        let mut name = self.raw_token();
        let parenthesis = name.is(Punct::LParen);
        if parenthesis {
            name = self.raw_token();
        }
        let mut end = name.span;
        let mut is_wrong = name.kind != TokenKind::Word;
        if parenthesis {
            let close = self.raw_token();
            is_wrong |= !close.is(Punct::RParen);
            end = close.span;
        }
        if is_wrong {
            self.error(word.span, "`defined` needs the name of a macro", "write `defined(NAME)`");
        }
        let value = !is_wrong && self.is_defined(name.symbol);
        let symbol = self.names.intern(if value { "1" } else { "0" });
        Token { kind: TokenKind::Number, symbol, span: word.span.to(end), ..word }
    }
}
