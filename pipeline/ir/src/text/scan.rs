//! First pass: finds the declarations of a text and skips bodies. Entities may be used before their
//! declaration, so indices must be known first.

use super::ParseError;
use super::cursor::{Cursor, Parsed};
use super::lex::{Tok, Token};
use super::source::skip;
use crate::Loc;
use sluice_asic::gress::Gress;

/// Kinds of declarations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Program,
    Param,
    Header,
    /// A field of the header item at this position of the item list.
    HeaderField(usize),
    Metadata,
    Intrinsic,
    Label,
    Hash,
    Register,
    RegisterAction,
    Counter,
    Profile,
    Action,
    Table,
    /// `start = …;` of a parser.
    Start,
    State,
    Control,
    /// `containers ingress`
    Containers,
    /// `control ghost`
    Ghost,
    Together,
    Deparser,
    Meter,
    PortMetadata,
    Random,
    Stack,
    ValueSet,
}

impl Kind {
    /// Returns true if a program has at most one such part in a gress.
    pub(super) const fn is_single(self) -> bool {
        matches!(self, Kind::Program | Kind::Start | Kind::Control | Kind::Ghost | Kind::Deparser)
    }
}

/// A declaration.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) kind: Kind,
    pub(super) doc: String,
    /// Name; empty for the parts of a pipe.
    pub(super) name: String,
    pub(super) gress: Option<Gress>,
    /// Field width in bits.
    pub(super) width: u16,
    pub(super) index: Option<u32>,
    pub(super) loc: Loc,
    /// Position of the first token after the head.
    pub(super) body: usize,
}

const NAMED: [(&str, Kind); 16] = [
    ("program", Kind::Program),
    ("param", Kind::Param),
    ("header", Kind::Header),
    ("label", Kind::Label),
    ("hash", Kind::Hash),
    ("counter", Kind::Counter),
    ("register", Kind::Register),
    ("register_action", Kind::RegisterAction),
    ("profile", Kind::Profile),
    ("action", Kind::Action),
    ("table", Kind::Table),
    ("stack", Kind::Stack),
    ("together", Kind::Together),
    ("meter", Kind::Meter),
    ("random", Kind::Random),
    ("value_set", Kind::ValueSet),
];

/// Words that begin a declaration.
pub(super) const WORDS: [&str; 23] = [
    "program",
    "param",
    "header",
    "label",
    "hash",
    "counter",
    "register",
    "register_action",
    "profile",
    "action",
    "table",
    "stack",
    "together",
    "meter",
    "random",
    "value_set",
    "metadata",
    "intrinsic",
    "port_metadata",
    "containers",
    "parser",
    "control",
    "deparser",
];

/// Returns true if a declaration begins here, after its documentation.
pub(super) fn begins_item(c: &Cursor<'_>) -> bool {
    c.at("@") || c.word().is_some_and(|word| WORDS.contains(&word))
}

/// Returns the declarations of a text in order. Fields and states follow the declaration that contains them.
///
/// # Errors
/// Refuses a malformed head, and a body without an end.
pub(super) fn items(tokens: &[Token]) -> Result<Vec<Item>, ParseError> {
    let mut scan = Scan { c: Cursor::new(tokens, 0), items: Vec::new() };
    while *scan.c.peek() != Tok::End {
        scan.item()?;
    }
    Ok(scan.items)
}

struct Scan<'t> {
    c: Cursor<'t>,
    items: Vec<Item>,
}

impl Scan<'_> {
    fn item(&mut self) -> Parsed<()> {
        let (doc, index) = self.preamble()?;
        let loc = self.c.loc();
        let mut item =
            Item { kind: Kind::Param, doc, name: String::new(), gress: None, width: 0, index, loc, body: 0 };
        let word = self.c.word().unwrap_or_default();
        if let Some((_, kind)) = NAMED.iter().find(|(name, _)| *name == word) {
            self.c.advance();
            item.kind = *kind;
            return self.named(item);
        }
        match word {
            "metadata" | "intrinsic" | "port_metadata" => {
                self.c.advance();
                self.c.expect(":")?;
                let gress = self.c.gress()?;
                let kind = match word {
                    "metadata" => Kind::Metadata,
                    "intrinsic" => Kind::Intrinsic,
                    _ => Kind::PortMetadata,
                };
                self.fields(gress, kind, "")
            }
            "parser" => {
                self.c.advance();
                let gress = self.c.gress()?;
                self.parser(gress)
            }
            "control" | "deparser" | "containers" => {
                self.c.advance();
                if word == "control" && self.c.word() == Some("ghost") {
                    self.c.advance();
                    (item.kind, item.gress) = (Kind::Ghost, Some(Gress::Ingress));
                    return self.push_and_skip(item);
                }
                item.kind = match word {
                    "control" => Kind::Control,
                    "deparser" => Kind::Deparser,
                    _ => Kind::Containers,
                };
                item.gress = Some(self.c.gress()?);
                self.push_and_skip(item)
            }
            _ => Err(self.c.unknown_word(WORDS.into_iter())),
        }
    }

    fn preamble(&mut self) -> Parsed<(String, Option<u32>)> {
        let doc = self.c.docs();
        let mut index = None;
        if self.c.eat("@") {
            self.c.expect_word("index")?;
            self.c.expect("(")?;
            index = Some(self.c.number("an index")?);
            self.c.expect(")")?;
        }
        Ok((doc, index))
    }

    fn named(&mut self, mut item: Item) -> Parsed<()> {
        item.name = self.c.name()?;
        if !matches!(
            item.kind,
            Kind::Program | Kind::Param | Kind::Label | Kind::RegisterAction | Kind::Together
        ) {
            self.c.expect(":")?;
            item.gress = Some(self.c.gress()?);
        }
        match (item.kind, item.gress) {
            (Kind::Header, Some(gress)) => {
                let (name, kind) = (item.name.clone(), Kind::HeaderField(self.items.len()));
                self.items.push(item);
                self.fields(gress, kind, &format!("{name}."))
            }
            _ => self.push_and_skip(item),
        }
    }

    /// Scans `{ bit<8> ttl; … }`.
    fn fields(&mut self, gress: Gress, kind: Kind, prefix: &str) -> Parsed<()> {
        self.c.expect("{")?;
        while !self.c.eat("}") {
            let (doc, index) = self.preamble()?;
            let loc = self.c.loc();
            let width = self.c.width()?;
            let prefix = if self.c.eat(".") { "" } else { prefix };
            let name = format!("{prefix}{}", self.c.name()?);
            let gress = Some(gress);
            self.push_and_skip(Item { kind, doc, name, gress, width, index, loc, body: 0 })?;
        }
        Ok(())
    }

    /// Scans `{ start = …; state … { … } }`.
    fn parser(&mut self, gress: Gress) -> Parsed<()> {
        self.c.expect("{")?;
        while !self.c.eat("}") {
            let (doc, index) = self.preamble()?;
            let loc = self.c.loc();
            let kind = self.c.one_of(&[("start", Kind::Start), ("state", Kind::State)])?;
            let name = if kind == Kind::State { self.c.name()? } else { String::new() };
            self.push_and_skip(Item { kind, doc, name, gress: Some(gress), width: 0, index, loc, body: 0 })?;
        }
        Ok(())
    }

    /// Skips the body: up to a `;`, or to the partner of the first `{`.
    fn push_and_skip(&mut self, mut item: Item) -> Parsed<()> {
        item.body = self.c.position();
        self.items.push(item);
        skip(&mut self.c)
    }
}
