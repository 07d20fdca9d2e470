//! The preprocessor: directives and macros, as `cpp` treats a P4 program for the vendor's compiler.
//!
//! The result is one list of tokens; a token from a macro has a position in an expansion of the source map. Differences from the
//! preprocessor of C follow from the mode in which the vendor's compiler calls it (`-x assembler-with-cpp`):
//! - `##` between tokens that do not make one token leaves both, without a message.
//! - `#` in the replacement of a macro is an operator before a parameter only.
//!
//! In addition, a number has no points, so `1..5` is three tokens.
//!
//! Bounds: [`MAX_INCLUDES`] files inside each other, [`MAX_NESTING`] conditions, arguments or parentheses inside each other, and the
//! [`limits`] of included files, tokens from macros, and bytes in a word or string from a macro. A program beyond a bound has one error, and
//! preprocessing ends.

mod condition;
mod conditional;
mod define;
mod directive;
mod expand;
mod lex;
mod number;
mod options;
mod paste;
mod substitute;
#[cfg(test)]
mod tests;
mod token;

pub use options::{Define, Options};
pub(crate) use token::{Flags, Punct, Token, TokenKind};

use crate::diagnostic::{Class, Diagnostic, Diagnostics};
use crate::names::{Names, Symbol};
use crate::source::{FileId, Include, IncludeKind, LoadError, Loader, SourceMap, Span};
use conditional::Conditional;
use define::Macro;
use expand::Context;
use lex::{Lexer, Mistake};
use rustc_hash::FxHashSet;
use sluice_asic::limits;
use sluice_entity::Entity;
use std::rc::Rc;
use std::sync::Arc;

/// The greatest number of files that include each other.
pub const MAX_INCLUDES: usize = 64;
/// The greatest number of conditions, of arguments with macros in them, or of parentheses in a condition, inside each other.
pub const MAX_NESTING: usize = 200;

/// Files of architectures that Sluice does not have, and the name of each.
const OTHER_ARCHITECTURES: [(&str, &str); 9] = [
    ("v1model.p4", "the architecture v1model (bmv2)"),
    ("psa.p4", "the architecture PSA"),
    ("pna.p4", "the architecture PNA"),
    ("xdp_model.p4", "the architecture XDP"),
    ("ebpf_model.p4", "the architecture eBPF"),
    ("ubpf_model.p4", "the architecture uBPF"),
    ("t3na.p4", "the architecture T3NA of Tofino 3"),
    ("tofino/intrinsic_metadata.p4", "P4_14"),
    ("tofino/stateful_alu_blackbox.p4", "P4_14"),
];

/// Returns the tokens of a program; `None` if a part of it is missing, because a file cannot be read, or because of an `#error` or
/// a bound.
pub(crate) fn preprocess(
    loader: &dyn Loader,
    root: &str,
    options: &Options,
    sources: &mut SourceMap,
    names: &mut Names,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<Token>> {
    let words = Words::new(names);
    let mut preprocessor = Preprocessor {
        loader,
        sources,
        names,
        diagnostics,
        words,
        macros: Vec::new(),
        files: Vec::new(),
        included: (0, 0),
        contexts: Vec::new(),
        once: FxHashSet::default(),
        condition: false,
        counter: 0,
        expanded: 0,
        nesting: 0,
        stopped: false,
        incomplete: false,
        inherited: Flags::default(),
    };
    let tokens = preprocessor.run(root, options);
    (!preprocessor.stopped && !preprocessor.incomplete).then_some(tokens)
}

/// Words with a meaning for the preprocessor.
struct Words {
    defined: Symbol,
    variadic: Symbol,
    line: Symbol,
    file: Symbol,
    counter: Symbol,
}

impl Words {
    fn new(names: &mut Names) -> Words {
        Words {
            defined: names.intern("defined"),
            variadic: names.intern("__VA_ARGS__"),
            line: names.intern("__LINE__"),
            file: names.intern("__FILE__"),
            counter: names.intern("__COUNTER__"),
        }
    }
}

/// A file that is being read.
struct Reading {
    file: FileId,
    lexer: Lexer,
    conditionals: Vec<Conditional>,
}

struct Preprocessor<'a> {
    loader: &'a dyn Loader,
    sources: &'a mut SourceMap,
    names: &'a mut Names,
    diagnostics: &'a mut Diagnostics,
    words: Words,
    /// Definitions by the symbol's index.
    macros: Vec<Option<Rc<Macro>>>,
    /// The files that include each other, the innermost last.
    files: Vec<Reading>,
    /// Files that were included so far, and their bytes.
    included: (usize, usize),
    /// Lists of tokens that are read before the file, the innermost last.
    contexts: Vec<Context>,
    /// Names of files with `#pragma once`.
    once: FxHashSet<String>,
    /// True in the condition of an `#if`, where `defined` is an operator.
    condition: bool,
    /// The next value of `__COUNTER__`.
    counter: u64,
    /// Tokens made by expansions so far.
    expanded: usize,
    /// Arguments that are being expanded inside each other.
    nesting: usize,
    /// True after a fatal error.
    stopped: bool,
    /// True if a file is missing.
    incomplete: bool,
    /// Flags of a use of a macro that made no token; the next token gets them.
    inherited: Flags,
}

impl Preprocessor<'_> {
    fn run(&mut self, root: &str, options: &Options) -> Vec<Token> {
        let mut tokens = Vec::new();
        for (name, text) in options.prologues() {
            self.enter_text(name, text.into(), Span::NONE);
            self.drain(&mut tokens);
        }
        for name in options.includes.iter().map(String::as_str).chain([root]) {
            self.include(name, IncludeKind::Root, Span::NONE);
            self.drain(&mut tokens);
        }
        tokens
    }

    /// Reads all tokens of the current file.
    fn drain(&mut self, tokens: &mut Vec<Token>) {
        while !self.stopped {
            let token = self.next_token();
            if token.kind == TokenKind::End {
                return;
            }
            tokens.push(token);
        }
    }

    fn error(&mut self, at: Span, message: impl Into<String>, help: &str) {
        self.diagnostics.push(Diagnostic::error(Class::Preprocessor, at, message).help(help));
    }

    fn stop(&mut self, diagnostic: Diagnostic) {
        if !self.stopped {
            self.diagnostics.push(diagnostic);
        }
        self.stopped = true;
        self.files.clear();
        self.contexts.clear();
    }

    /// Refuses a file that declares an architecture that Sluice does not have, and ends preprocessing.
    fn refuse_architecture(&mut self, name: &str, at: Span) -> bool {
        let file = name.rsplit('/').next().unwrap_or(name);
        // A program may have any name.
        if at == Span::NONE {
            return false;
        }
        let Some(&(_, architecture)) =
            OTHER_ARCHITECTURES.iter().find(|&&(other, _)| other == file || other == name)
        else {
            return false;
        };
        let message =
            format!("`{name}` is for {architecture}, and Sluice has the architectures TNA and T2NA");
        let help = "include <tna.p4> or <t2na.p4>, and write the blocks with the parameters of its Pipeline: IngressParser, \
                    Ingress, IngressDeparser, EgressParser, Egress, EgressDeparser";
        self.stop(Diagnostic::error(Class::Unsupported, at, message).help(help));
        true
    }

    /// Begins to read a file.
    fn include(&mut self, name: &str, kind: IncludeKind, at: Span) {
        if self.refuse_architecture(name, at) {
            return;
        }
        if self.files.len() >= MAX_INCLUDES {
            let message = format!("{MAX_INCLUDES} files include each other, and `{name}` would be one more");
            let help = "does a file include itself? begin it with #ifndef and #define, or with #pragma once";
            return self.stop(Diagnostic::error(Class::Limit, at, message).help(help));
        }
        let from = self.files.last().map_or("", |reading| self.sources.name(reading.file)).to_owned();
        match self.loader.load(&Include { name, kind, from: &from }) {
            Ok(loaded) if self.once.contains(&loaded.name) => {}
            Ok(loaded) => {
                let (files, bytes) = (self.included.0 + 1, self.included.1 + loaded.text.len());
                self.included = (files, bytes);
                let (most, most_bytes) = (&limits::P4_INCLUDES, &limits::P4_INCLUDED_BYTES);
                let few = !most.is_below(files);
                if !few || most_bytes.is_below(bytes) {
                    let (limit, most, most_bytes) =
                        (if few { most_bytes } else { most }, most.get(), most_bytes.get());
                    let message = format!(
                        "file `{name}` makes {files} includes of {bytes} bytes, at most {most} of {most_bytes} are read"
                    );
                    let help = format!(
                        "do files include others twice? begin them with #ifndef and #define, or with #pragma once; {}",
                        limit.advice()
                    );
                    return self.stop(Diagnostic::error(Class::Limit, at, message).help(help));
                }
                self.enter_text(&loaded.name, loaded.text, at)
            }
            Err(LoadError::NotFound { searched }) => {
                self.incomplete = true;
                let message = format!("file `{name}` is not found");
                let help = if searched.is_empty() {
                    "name its folder with -I".to_owned()
                } else {
                    format!("searched: {}; name its folder with -I", searched.join(", "))
                };
                self.diagnostics.push(Diagnostic::error(Class::Include, at, message).help(help));
            }
            Err(LoadError::Unreadable { reason, help }) => {
                self.incomplete = true;
                let message = format!("file `{name}` cannot be read: {reason}");
                self.diagnostics.push(Diagnostic::error(Class::Include, at, message).help(help));
            }
        }
    }

    fn enter_text(&mut self, name: &str, text: Arc<str>, at: Span) {
        match self.sources.add_file(name, Arc::clone(&text), at) {
            Ok(file) => {
                let lexer = Lexer::new(text, self.sources.base(file));
                self.files.push(Reading { file, lexer, conditionals: Vec::new() });
            }
            Err(_) => self.stop(Self::full(at)),
        }
    }

    /// Reports a word or string that is too long, and ends preprocessing.
    fn too_long(&mut self, at: Span) {
        let at = self.outermost(at);
        let limit = &limits::P4_WORD_BYTES;
        let message = format!("a macro makes a word or string of more than {} bytes", limit.get());
        let help = format!("do its arguments contain its own results? {}", limit.advice());
        self.stop(Diagnostic::error(Class::Limit, at, message).help(help));
    }

    fn full(at: Span) -> Diagnostic {
        Diagnostic::error(Class::Limit, at, "the program and its macros have more than 4 GiB of text")
            .help("does a file include itself many times?")
    }

    /// Returns the next token of the innermost file, after directives; at the end of all files, [`TokenKind::End`].
    fn file_token(&mut self) -> Token {
        loop {
            let Some(reading) = self.files.last_mut() else { return Self::end(Span::NONE) };
            let token = match reading.lexer.token(self.names, false) {
                Ok(token) => token,
                Err(mistake) => {
                    self.mistake(mistake);
                    continue;
                }
            };
            match token.kind {
                TokenKind::End => {
                    self.leave();
                    if self.files.is_empty() {
                        return Self::end(token.span);
                    }
                }
                TokenKind::Punct(Punct::Hash) if token.flags.line_start => self.directive(token.span),
                TokenKind::Punct(Punct::HashHash) if token.flags.line_start => self.no_directive(token.span),
                _ => return token,
            }
        }
    }

    fn end(span: Span) -> Token {
        Token { kind: TokenKind::End, flags: Flags::default(), symbol: Symbol::new(0), span }
    }

    /// Ends the innermost file.
    fn leave(&mut self) {
        let open = self.files.pop().map_or_else(Vec::new, |reading| reading.conditionals);
        for conditional in open {
            self.unclosed(&conditional);
        }
    }

    fn mistake(&mut self, mistake: Mistake) {
        let diagnostic = match mistake {
            Mistake::Comment(at) => {
                Diagnostic::error(Class::Token, at, "the comment that begins here does not end")
                    .help("end the comment with `*/`")
            }
            Mistake::Text(at) => {
                Diagnostic::error(Class::Token, at, "the string that begins here does not end on its line")
                    .help("end the string with `\"`")
            }
        };
        self.diagnostics.push(diagnostic);
    }
}
