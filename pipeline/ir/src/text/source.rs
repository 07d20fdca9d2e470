//! A text before its parameters have values: what a file of a program says.

use super::ParseError;
use super::cursor::{Cursor, Parsed};
use super::lex::{self, Tok, Token};
use super::parts::{self, FileParts};
use super::scope::Scope;
use super::{decls, numbers, scan};
use crate::{Loc, ParamValue, Program};
use sluice_asic::limits;
use std::collections::BTreeMap;

/// Version of the text form that this module reads and that [`print`](super::print) writes.
pub const VERSION: u32 = 1;

/// A parameter that `param NAME = NUMBER : LOW .. HIGH;` declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceParam {
    /// Name, by which users set the parameter.
    pub key: String,
    /// Meaning and unit.
    pub doc: String,
    /// Value without a setting.
    pub default: u128,
    /// Least and greatest value.
    pub range: (u128, u128),
    /// Place of the declaration.
    pub loc: Loc,
}

/// The text of a program, with parameters that have no values yet.
///
/// ```
/// use sluice_ir::text::Source;
///
/// let text = "
///     sluice 1;
///     program counting;
///     /// Packets that are counted
///     param packets = 1024 : 1 .. 65536;
///     counter seen : ingress { kind = packets; size = packets; }
/// ";
/// let source = Source::read(text, "counting.sluice")?;
/// let (program, _) = source.build(&[("packets", 16)])?;
/// assert_eq!(source.params()[0].default, 1024);
/// assert_eq!(program.params[0].value, "16");
/// assert!(sluice_ir::text::print(&program).contains("size = 16;"));
/// # Ok::<(), sluice_ir::text::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Source {
    version: Option<u32>,
    params: Vec<SourceParam>,
    /// Constants in the order of the text, each with the tokens of its value.
    constants: Vec<(String, Vec<Token>)>,
    /// Tokens of the program's declarations.
    program: Vec<Token>,
    /// Tokens of all other declarations.
    parts: Vec<Vec<Token>>,
}

impl Source {
    /// Reads a text. `file` is the file name in locations of the program.
    ///
    /// # Errors
    /// Refuses a text of another version, a text that is too long, and the text at the first token that begins no
    /// declaration. Bodies of declarations are read by [`Source::build`].
    pub fn read(text: &str, file: &'static str) -> Result<Source, ParseError> {
        let limit = &limits::PROGRAM_TEXT_BYTES;
        if limit.is_below(text.len()) {
            return Err(ParseError {
                line: 1,
                col: 1,
                found: format!("a text of {} bytes", text.len()),
                expected: format!("at most {} bytes", limit.get()),
                help: limit.advice(),
            });
        }
        let tokens = lex::tokens(text, file)?;
        let mut c = Cursor::new(&tokens, 0);
        let version = version(&mut c)?;
        let (params, constants, program, parts) = Default::default();
        let mut source = Source { version, params, constants, program, parts };
        while *c.peek() != Tok::End {
            source.declaration(&mut c, &tokens)?;
        }
        source.program.extend(tokens.last().cloned());
        Ok(source)
    }

    /// Returns the version that the text states.
    #[must_use]
    pub const fn version(&self) -> Option<u32> {
        self.version
    }

    /// Returns the parameters in the order of the text.
    #[must_use]
    pub fn params(&self) -> &[SourceParam] {
        &self.params
    }

    /// Returns the program with these values of parameters, and what the text says in addition to the program. A value
    /// outside of its parameter's range and an unknown key are not refused here; an unknown key is ignored.
    ///
    /// # Errors
    /// Refuses the text at the first token that the grammar does not allow there.
    pub fn build(&self, sets: &[(&str, u128)]) -> Result<(Program, FileParts), ParseError> {
        let mut values: BTreeMap<&str, u128> = BTreeMap::new();
        for param in &self.params {
            let set = sets.iter().rev().find(|(key, _)| *key == param.key);
            values.insert(&param.key, set.map_or(param.default, |(_, value)| *value));
        }
        for (name, tokens) in &self.constants {
            let mut c = Cursor::new(tokens, 0);
            let value = numbers::expression(&mut c, &values)?;
            if *c.peek() != Tok::End {
                return Err(c.error("`+`, `-`, `*`, `/`, `%` or `;`"));
            }
            values.insert(name, value);
        }
        let tokens = numbers::expand(&self.program, &values)?;
        let items = scan::items(&tokens)?;
        let limit = &limits::PROGRAM_TEXT_ITEMS;
        let most = usize::try_from(limit.get()).unwrap_or(usize::MAX);
        if let Some(item) = items.get(most) {
            return Err(ParseError {
                line: item.loc.line,
                col: item.loc.col,
                found: format!("declaration {}", most + 1),
                expected: format!("at most {most} declarations, fields and states"),
                help: limit.advice(),
            });
        }
        self.names_differ(&items)?;
        let (mut program, scope) = decls::program(&tokens, &items)?;
        let value = |param: &SourceParam| values.get(param.key.as_str()).copied().unwrap_or(param.default);
        let own = self.params.iter().map(|param| ParamValue {
            key: param.key.clone(),
            value: value(param).to_string(),
            doc: param.doc.clone(),
        });
        program.params.extend(own);
        let parts = self.file_parts(&values, &scope)?;
        Ok((program, parts))
    }

    /// Refuses a second control, deparser or parser start of a gress, and a second name. [`Source::build`] takes the last one.
    ///
    /// # Errors
    /// If the text has a second one.
    pub fn check_single(&self) -> Result<(), ParseError> {
        let mut parts = Vec::new();
        for item in scan::items(&self.program)? {
            let part = (item.kind, item.gress);
            if item.kind.is_single() && parts.contains(&part) {
                return Err(ParseError {
                    line: item.loc.line,
                    col: item.loc.col,
                    found: "a second declaration of this part".to_owned(),
                    expected: "one program, and one control, deparser and parser start of each gress"
                        .to_owned(),
                    help: "put the statements of both into one".to_owned(),
                });
            }
            parts.push(part);
        }
        Ok(())
    }

    fn file_parts(&self, values: &BTreeMap<&str, u128>, scope: &Scope) -> Parsed<FileParts> {
        let mut parts = FileParts::default();
        for tokens in &self.parts {
            let tokens = numbers::expand(tokens, values)?;
            parts::part(&mut Cursor::new(&tokens, 0), scope, &mut parts)?;
        }
        Ok(parts)
    }

    /// Refuses a parameter or constant with the name of an entity: the name would mean the number everywhere.
    fn names_differ(&self, items: &[scan::Item]) -> Parsed<()> {
        let known = self.params.iter().map(|p| &p.key).chain(self.constants.iter().map(|(name, _)| name));
        for name in known {
            if let Some(item) = items.iter().find(|item| item.name == *name) {
                return Err(ParseError {
                    line: item.loc.line,
                    col: item.loc.col,
                    found: format!("`{name}`, which is a parameter"),
                    expected: "another name".to_owned(),
                    help: String::new(),
                });
            }
        }
        Ok(())
    }

    /// Reads one declaration: takes parameters and constants, keeps the tokens of others.
    fn declaration(&mut self, c: &mut Cursor<'_>, tokens: &[Token]) -> Parsed<()> {
        let start = c.position();
        let doc = c.docs();
        let loc = c.loc();
        match c.word() {
            Some("param") if matches!(c.at_distance(3), Some(Tok::Int { .. })) => {
                c.advance();
                return self.param(c, doc, loc);
            }
            Some("const") => {
                c.advance();
                let before = c.clone();
                let name = c.name()?;
                self.is_new(&before, &name)?;
                c.expect("=")?;
                let from = c.position();
                skip(c)?;
                let mut value = tokens.get(from..c.position() - 1).unwrap_or_default().to_vec();
                value.push(Token { tok: Tok::End, ..tokens[c.position() - 1].clone() });
                self.constants.push((name, value));
                return Ok(());
            }
            Some("sluice") => return Err(c.error("the version only at the beginning of the text")),
            _ => {}
        }
        let part = c.word().is_some_and(|word| parts::WORDS.contains(&word));
        if part || scan::begins_item(c) {
            skip(c)?;
        } else {
            let all = scan::WORDS.iter().copied().chain(parts::WORDS).chain(["const"]);
            let all: Vec<&str> = all.collect();
            return Err(c.unknown_word(all.iter().copied()));
        }
        let own = tokens.get(start..c.position()).unwrap_or_default();
        if part {
            let end = Token { tok: Tok::End, ..tokens[c.position() - 1].clone() };
            self.parts.push(own.iter().cloned().chain([end]).collect());
        } else {
            self.program.extend_from_slice(own);
        }
        Ok(())
    }

    /// Reads the rest of `param NAME = NUMBER : LOW .. HIGH;`.
    fn param(&mut self, c: &mut Cursor<'_>, doc: String, loc: Loc) -> Parsed<()> {
        let before = c.clone();
        let key = c.name()?;
        self.is_new(&before, &key)?;
        c.expect("=")?;
        let at = c.clone();
        let default = c.number("a number")?;
        let mut range = (0, u128::MAX);
        if c.eat(":") {
            range.0 = c.number("the least value")?;
            c.expect("..")?;
            range.1 = c.number("the greatest value")?;
        }
        if !(range.0..=range.1).contains(&default) {
            return Err(at.error(format!("a value from {} to {}", range.0, range.1)));
        }
        c.expect(";")?;
        self.params.push(SourceParam { key, doc, default, range, loc });
        Ok(())
    }

    fn is_new(&self, at: &Cursor<'_>, name: &str) -> Parsed<()> {
        let mut known = self.params.iter().map(|p| &p.key).chain(self.constants.iter().map(|(name, _)| name));
        if known.any(|known| known == name) {
            return Err(at.error("a name that no other parameter or constant has"));
        }
        Ok(())
    }
}

/// Reads `sluice 1;`, if the text begins with it.
fn version(c: &mut Cursor<'_>) -> Parsed<Option<u32>> {
    if !c.eat_word("sluice") {
        return Ok(None);
    }
    let before = c.clone();
    let version = c.number("the version of the text form")?;
    if version != VERSION {
        let help = format!("this Sluice reads version {VERSION}");
        return Err(before.error_with(format!("version `{VERSION}`"), help));
    }
    c.expect(";")?;
    Ok(Some(version))
}

/// Skips a declaration: up to a `;`, or to the partner of the first `{`.
pub(super) fn skip(c: &mut Cursor<'_>) -> Parsed<()> {
    let mut depth = 0u32;
    loop {
        match c.peek() {
            Tok::End => return Err(c.error(if depth > 0 { "`}`" } else { "`;` or `{`" })),
            Tok::Punct("{") => depth += 1,
            Tok::Punct("}") if depth == 0 => return Err(c.error("`;` or `{`")),
            Tok::Punct("}") => depth -= 1,
            _ => {}
        }
        let last = c.advance();
        if depth == 0 && matches!(last, Tok::Punct(";" | "}")) {
            return Ok(());
        }
    }
}
