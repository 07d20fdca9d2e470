//! Lexer: characters to tokens.

use super::ParseError;

/// Kinds of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Tok {
    /// A name or word; quoted ones are never words of the language.
    Name { text: String, quoted: bool },
    /// A number; with a width in the form `8w…`.
    Int { value: u128, width: Option<u16> },
    /// The name of a parameter or constant, and its value: a number where the grammar wants one, otherwise a word.
    Param { text: String, value: u128 },
    /// `#3`: an entity by index.
    Index(u32),
    /// `$3`: a parameter by position.
    Position(u16),
    /// `16w(`, without the parenthesis: the width of a constant that is computed from parameters.
    Width(u16),
    /// A string in double quotes, or lines between `"""` and `"""`.
    Text(String),
    /// A line after `///`.
    Doc(String),
    /// One of [`PUNCTUATION`].
    Punct(&'static str),
    /// The end of the text; always the last token.
    End,
}

/// A token and its place.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) tok: Tok,
    pub(super) line: u32,
    pub(super) col: u32,
    /// Name of the file, for locations.
    pub(super) file: &'static str,
}

/// Punctuation; longer tokens come before their prefixes.
const PUNCTUATION: [&str; 29] = [
    "&&&", "&&", "||", "==", "!=", "<=", ">=", "::", "{", "}", "(", ")", "[", "]", ";", ":", ",", "=", "<",
    ">", "!", "/", "..", ".", "@", "+", "-", "*", "%",
];

impl std::fmt::Display for Tok {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Tok::Name { text, .. } => write!(f, "`{text}`"),
            Tok::Int { value, width: None } => write!(f, "`{value}`"),
            Tok::Int { value, width: Some(w) } => write!(f, "`{w}w{value}`"),
            Tok::Param { text, .. } => write!(f, "`{text}`"),
            Tok::Index(n) => write!(f, "`#{n}`"),
            Tok::Position(n) => write!(f, "`${n}`"),
            Tok::Width(n) => write!(f, "`{n}w(`"),
            Tok::Text(_) => f.write_str("a string"),
            Tok::Doc(_) => f.write_str("a `///` doc comment"),
            Tok::Punct(p) => write!(f, "`{p}`"),
            Tok::End => f.write_str("the end of the text"),
        }
    }
}

/// Returns true if a name needs no backticks.
pub(crate) fn is_plain(name: &str) -> bool {
    let mut chars = name.chars();
    let start = match chars.next() {
        Some('$') => chars.next(),
        other => other,
    };
    start.is_some_and(|c| c.is_ascii_alphabetic() || c == '_') && chars.all(continues_name)
}

fn continues_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '-')
}

/// Returns the tokens of a text, without comments. `file` is the file name in their locations.
///
/// # Errors
/// Refuses the text at a character or literal that begins no token.
pub(super) fn tokens(text: &str, file: &'static str) -> Result<Vec<Token>, ParseError> {
    let mut lexer = Lexer { rest: text, line: 1, col: 1 };
    let mut list = Vec::new();
    loop {
        lexer.skip_blank()?;
        let (line, col) = (lexer.line, lexer.col);
        let tok = lexer.token()?;
        let end = tok == Tok::End;
        list.push(Token { tok, line, col, file });
        if end {
            return Ok(list);
        }
    }
}

struct Lexer<'t> {
    rest: &'t str,
    line: u32,
    col: u32,
}

impl<'t> Lexer<'t> {
    fn error(&self, found: impl Into<String>, expected: &str) -> ParseError {
        let (found, expected) = (found.into(), expected.to_owned());
        ParseError { line: self.line, col: self.col, found, expected, help: String::new() }
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        if c == '\n' {
            self.line += 1;
            self.col = 1;
        } else {
            self.col += 1;
        }
        Some(c)
    }

    fn take_while(&mut self, keep: impl Fn(char) -> bool) -> &'t str {
        let text = self.rest;
        while self.rest.chars().next().is_some_and(&keep) {
            self.bump();
        }
        &text[..text.len() - self.rest.len()]
    }

    fn skip_blank(&mut self) -> Result<(), ParseError> {
        loop {
            self.take_while(char::is_whitespace);
            if self.rest.starts_with("//") && !self.is_doc() {
                self.take_while(|c| c != '\n');
            } else if self.rest.starts_with("/*") {
                let open = self.error("a comment that does not end", "`*/`");
                let Some(end) = self.rest.find("*/") else { return Err(open) };
                let after = self.rest.len() - end - 2;
                while self.rest.len() > after {
                    self.bump();
                }
            } else {
                return Ok(());
            }
        }
    }

    fn is_doc(&self) -> bool {
        self.rest.starts_with("///") && !self.rest.starts_with("////")
    }

    fn token(&mut self) -> Result<Tok, ParseError> {
        let Some(first) = self.rest.chars().next() else { return Ok(Tok::End) };
        if self.is_doc() {
            let line = self.take_while(|c| c != '\n')[3..].to_owned();
            return Ok(Tok::Doc(unescape_doc(line.strip_prefix(' ').unwrap_or(&line))));
        }
        match first {
            '`' => Ok(Tok::Name { text: self.quoted('`')?, quoted: true }),
            '"' if self.rest.starts_with("\"\"\"") => self.lines().map(Tok::Text),
            '"' => Ok(Tok::Text(self.quoted('"')?)),
            '0'..='9' => self.number(),
            '#' => self.sigil("#", "an entity index such as `#3`").map(Tok::Index),
            '$' if !is_plain(&self.rest.chars().take(2).collect::<String>()) => {
                self.sigil("$", "a parameter position such as `$0`").map(Tok::Position)
            }
            c if c.is_ascii_alphabetic() || matches!(c, '_' | '$') => {
                Ok(Tok::Name { text: self.take_while(continues_name).to_owned(), quoted: false })
            }
            c => {
                let Some(p) = PUNCTUATION.into_iter().find(|p| self.rest.starts_with(p)) else {
                    return Err(self.error(format!("`{c}`"), "a name, a number, a string or punctuation"));
                };
                for _ in p.chars() {
                    self.bump();
                }
                Ok(Tok::Punct(p))
            }
        }
    }

    fn sigil<T: std::str::FromStr>(&mut self, sign: &str, expected: &str) -> Result<T, ParseError> {
        let wrong = self.error(format!("`{sign}`"), expected);
        self.bump();
        self.take_while(|c| c.is_ascii_digit()).parse().map_err(|_| wrong)
    }

    fn number(&mut self) -> Result<Tok, ParseError> {
        let start = self.error("", "a number such as `10`, `0x0a` or `16w0x800`, below 2^128");
        let text = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        if self.rest.starts_with('(')
            && let Some(width) = text.strip_suffix('w').and_then(|w| w.parse().ok())
        {
            return Ok(Tok::Width(width));
        }
        let read = || {
            let (width, digits) = match text.split_once('w') {
                Some((w, d)) => (Some(w.parse().ok()?), d),
                None => (None, text),
            };
            let digits = digits.replace('_', "");
            let value = match digits.strip_prefix("0x") {
                Some(hex) => u128::from_str_radix(hex, 16),
                None => digits.parse(),
            };
            Some(Tok::Int { value: value.ok()?, width })
        };
        read().ok_or(ParseError { found: format!("`{text}`"), ..start })
    }

    /// Reads lines between `"""` and `"""`. They have no escapes.
    fn lines(&mut self) -> Result<String, ParseError> {
        let open = self.error("`\"\"\"` without its partner", "closing `\"\"\"`");
        let quotes = 3;
        let Some(end) = self.rest.get(quotes..).and_then(|rest| rest.find("\"\"\"")) else {
            return Err(open);
        };
        let after = self.rest.len() - end - 2 * quotes;
        let text = self.rest[quotes..quotes + end].to_owned();
        while self.rest.len() > after {
            self.bump();
        }
        Ok(text)
    }

    fn quoted(&mut self, quote: char) -> Result<String, ParseError> {
        let open = self.error(format!("`{quote}` without its partner"), "a closing quote");
        self.bump();
        let mut text = String::new();
        loop {
            match self.bump() {
                None => return Err(open),
                Some(c) if c == quote => return Ok(text),
                Some('\\') => match self.bump() {
                    Some('n') => text.push('\n'),
                    Some('r') => text.push('\r'),
                    Some(c) => text.push(c),
                    None => return Err(open),
                },
                Some(c) => text.push(c),
            }
        }
    }
}

/// Returns a text in quotes, escaped for the lexer.
pub(super) fn quote(text: &str, quote: char) -> String {
    let mut out = String::from(quote);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            c if c == quote || c == '\\' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

/// Returns a doc line as it is printed after `/// `.
pub(super) fn escape_doc(line: &str) -> String {
    line.replace('\\', "\\\\").replace('\r', "\\r")
}

fn unescape_doc(line: &str) -> String {
    // A carriage return that the printer did not write is part of the file's line ending.
    let line = line.strip_suffix('\r').unwrap_or(line);
    let mut out = String::new();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (c, chars.clone().next()) {
            ('\\', Some('\\')) => {
                chars.next();
                out.push('\\');
            }
            ('\\', Some('r')) => {
                chars.next();
                out.push('\r');
            }
            _ => out.push(c),
        }
    }
    out
}
