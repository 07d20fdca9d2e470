//! Declarations of a file that are not its program: entries, routes of a network, roles, properties.
//!
//! These declarations are data here. Crates that know entries, networks and runs give them their meaning.

use super::code::Code;
use super::cursor::{Cursor, Parsed};
use super::lex::Tok;
use super::property::{self, PropertyDecl};
use super::scope::{Scope, Space};
use crate::{Action, Loc, Table};
use sluice_asic::gress::Gress;

/// Words that begin a part.
pub(super) const WORDS: [&str; 4] = ["entries", "routes", "role", "property"];

/// The parts of a file that are not its program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileParts {
    /// Entries of a device outside of a network, and the line of their first character.
    pub entries: Option<(String, u32)>,
    /// Tables that a network's routes fill, in order.
    pub routes: Vec<RoutesDecl>,
    /// Programs of switches, in order.
    pub roles: Vec<RoleDecl>,
    /// Properties, in order.
    pub properties: Vec<PropertyDecl>,
}

/// `routes TABLE (KEYS) = ACTION(ARGUMENTS);`: in a network, the table gets an entry for each route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoutesDecl {
    /// The table.
    pub table: Table,
    /// One value for each key of the table; empty if the table's only key is the destination.
    pub keys: Vec<RouteValue>,
    /// The action of a next hop.
    pub action: Action,
    /// Its arguments.
    pub args: Vec<RouteValue>,
    /// Place of the declaration.
    pub loc: Loc,
}

/// A value in the entry of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteValue {
    /// `destination`: the prefix or address to which the route leads.
    Destination,
    /// `port`: dev_port of the next hop.
    Port,
    /// The same number for all routes.
    Number(u128),
}

/// The switches for which a role is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RolePlace {
    /// `edge`: switches with hosts.
    Edge,
    /// `core`: switches without hosts.
    Core,
    /// A switch of this name.
    Switch(String),
}

/// `role PLACE = PROGRAM (KEY = VALUE, ..);`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleDecl {
    /// The switches.
    pub place: RolePlace,
    /// Name or file of the program; `None`: this program.
    pub program: Option<String>,
    /// Parameters as key and value.
    pub params: Vec<(String, String)>,
    /// Place of the declaration.
    pub loc: Loc,
}

/// Parses one part.
pub(super) fn part(c: &mut Cursor<'_>, scope: &Scope, into: &mut FileParts) -> Parsed<()> {
    let doc = c.docs();
    let loc = c.loc();
    let words = WORDS.map(|word| (word, word));
    let before = c.clone();
    let word = c.one_of(&words)?;
    let mut code = Code::new(c.clone(), scope, Some(Gress::Ingress));
    match word {
        "entries" => {
            if into.entries.is_some() {
                return Err(before.error("`entries` only once"));
            }
            into.entries = Some(entries(&mut code)?);
        }
        "routes" => into.routes.push(routes(&mut code, loc)?),
        "role" => into.roles.push(role(&mut code.c, loc)?),
        _ => into.properties.push(property::property(&mut code, doc, loc)?),
    }
    match code.c.peek() {
        Tok::End => Ok(()),
        _ => Err(code.c.error("the end of the declaration")),
    }
}

/// Parses `= """LINES""";`.
fn entries(code: &mut Code<'_>) -> Parsed<(String, u32)> {
    code.c.expect("=")?;
    let line = code.c.loc().line;
    let text = code.c.text()?;
    code.c.expect(";")?;
    // A line break after the opening quotes is not part of the text.
    let rest = text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n'));
    Ok(rest.map_or((text.clone(), line), |rest| (rest.to_owned(), line + 1)))
}

fn routes(code: &mut Code<'_>, loc: Loc) -> Parsed<RoutesDecl> {
    let table = code.reference(Space::Table)?;
    let keys = if code.c.eat("(") { code.list(")", |code| value(code, true))? } else { Vec::new() };
    code.c.expect("=")?;
    let action = code.reference(Space::Action)?;
    code.c.expect("(")?;
    let args = code.list(")", |code| value(code, false))?;
    code.c.expect(";")?;
    Ok(RoutesDecl { table, keys, action, args, loc })
}

fn value(code: &mut Code<'_>, key: bool) -> Parsed<RouteValue> {
    if key && code.c.eat_word("destination") {
        return Ok(RouteValue::Destination);
    }
    if !key && code.c.eat_word("port") {
        return Ok(RouteValue::Port);
    }
    code.c
        .number(if key { "`destination` or a number" } else { "`port` or a number" })
        .map(RouteValue::Number)
}

fn role(c: &mut Cursor<'_>, loc: Loc) -> Parsed<RoleDecl> {
    let place = match c.peek() {
        Tok::Text(name) => {
            c.advance();
            RolePlace::Switch(name.clone())
        }
        _ if c.eat_word("edge") => RolePlace::Edge,
        _ if c.eat_word("core") => RolePlace::Core,
        _ => return Err(c.error("`edge`, `core` or the name of a switch in double quotes")),
    };
    c.expect("=")?;
    let program = if c.eat_word("self") {
        None
    } else {
        Some(c.text().map_err(|_| c.error("`self`, or the name or file of a program in double quotes"))?)
    };
    let mut params = Vec::new();
    if c.eat("(") {
        params = c.list(")", |c| {
            let key = c.name()?;
            c.expect("=")?;
            let value = match c.peek() {
                Tok::Int { value, width: None } | Tok::Param { value, .. } => value.to_string(),
                Tok::Text(text) => text.clone(),
                _ => return Err(c.error("a number, or a text in double quotes")),
            };
            c.advance();
            Ok((key, value))
        })?;
    }
    c.expect(";")?;
    Ok(RoleDecl { place, program, params, loc })
}
