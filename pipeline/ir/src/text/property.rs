//! Properties of a file: conditions on a packet as it came and as it was sent.
//!
//! ```text
//! /// A router takes one hop from the packet, and leaves all else as it is
//! property one_hop {
//!     when in.valid(ipv4) && sent;
//!     holds out.ipv4.ttl == in.ipv4.ttl - 1 && only_changes { ipv4.ttl, ipv4.hdr_checksum };
//! }
//! ```

use super::code::Code;
use super::cursor::{Parsed, did_you_mean};
use super::lex::Tok;
use super::scope::Space;
use crate::{CmpOp, Field, Header, Loc};
use sluice_asic::gress::Gress;
use sluice_asic::names::nearest;

/// `property NAME { when TEST; holds TEST; }`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyDecl {
    /// Name.
    pub name: String,
    /// Meaning of the property, in words.
    pub doc: String,
    /// Packets to which the property applies; `None`: all.
    pub when: Option<Test>,
    /// The condition that these packets must meet.
    pub holds: Test,
    /// Place of the declaration.
    pub loc: Loc,
}

/// The packet as it came, or as it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// `in`: on arrival.
    In,
    /// `out`: as it was sent. The ingress parser reads its bytes, as that of the next switch would.
    Out,
}

/// A condition on a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// All hold.
    And(Vec<Test>),
    /// At least one holds.
    Or(Vec<Test>),
    /// The other does not hold.
    Not(Box<Test>),
    /// `a == b` and so on. A value that does not exist, such as a field of a header that the packet lacks, is unequal to
    /// every value, and neither less nor greater.
    Compare(CmpOp, Value, Value),
    /// `in.valid(HEADER)`: the packet has the header.
    Valid(Moment, Header),
    /// `sent`: the packet was sent on a port, and not dropped or consumed.
    Sent,
    /// `only_changes { FIELDS }`: the packet was sent, with the bytes with which it came, except for these fields.
    OnlyChanges(Vec<Field>),
}

/// A number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A constant.
    Number(u128),
    /// `in.FIELD`, `out.FIELD`: a field of a header.
    Field(Moment, Field),
    /// `in.port`, `out.port`: dev_port.
    Port(Moment),
    /// `out.queue`: number of the queue at the port.
    Queue,
    /// `in.length`, `out.length`: bytes without FCS.
    Length(Moment),
    /// Sum.
    Plus(Box<Value>, Box<Value>),
    /// Difference; it does not exist if it is less than zero.
    Minus(Box<Value>, Box<Value>),
}

/// Most parts of a condition or value.
pub(super) const MAX_PARTS: usize = 256;

pub(super) fn property(code: &mut Code<'_>, doc: String, loc: Loc) -> Parsed<PropertyDecl> {
    let name = code.c.name()?;
    code.c.expect("{")?;
    let when = if code.c.eat_word("when") {
        let test = test(code)?;
        code.c.expect(";")?;
        Some(test)
    } else {
        None
    };
    code.c.expect_word("holds")?;
    let holds = test(code)?;
    code.c.expect(";")?;
    code.c.expect("}")?;
    Ok(PropertyDecl { name, doc, when, holds, loc })
}

/// Parses tests joined by `&&` or by `||`. A mix of both needs parentheses.
fn test(code: &mut Code<'_>) -> Parsed<Test> {
    code.nested(|code| {
        let first = one(code)?;
        let word = if code.c.at("&&") { "&&" } else { "||" };
        let mut all = vec![first];
        while code.c.eat(word) {
            all.push(one(code)?);
            if all.len() > MAX_PARTS {
                return Err(code.c.error(format!("at most {MAX_PARTS} parts of a condition")));
            }
        }
        if code.c.at("&&") || code.c.at("||") {
            return Err(code.c.error_with("`)`", "put parentheses where `&&` and `||` meet"));
        }
        match all.len() {
            1 => Ok(all.swap_remove(0)),
            _ if word == "&&" => Ok(Test::And(all)),
            _ => Ok(Test::Or(all)),
        }
    })
}

fn one(code: &mut Code<'_>) -> Parsed<Test> {
    if code.c.eat("!") {
        return code.nested(|code| Ok(Test::Not(Box::new(one(code)?))));
    }
    if code.c.eat("(") {
        let inner = test(code)?;
        code.c.expect(")")?;
        return Ok(inner);
    }
    if code.c.eat_word("sent") {
        return Ok(Test::Sent);
    }
    if code.c.eat_word("only_changes") {
        code.c.expect("{")?;
        return Ok(Test::OnlyChanges(code.list("}", Code::field)?));
    }
    for (word, moment) in [("in.valid", Moment::In), ("out.valid", Moment::Out)] {
        if code.c.eat_word(word) {
            code.c.expect("(")?;
            let header = code.reference(Space::Header)?;
            code.c.expect(")")?;
            return Ok(Test::Valid(moment, header));
        }
    }
    let a = value(code)?;
    let op = CmpOp::ALL.into_iter().find(|op| code.c.at(op.symbol()));
    let op = op.ok_or_else(|| code.c.error("`==`, `!=`, `<`, `<=`, `>` or `>=`"))?;
    code.c.advance();
    Ok(Test::Compare(op, a, value(code)?))
}

/// Parses sums and differences.
fn value(code: &mut Code<'_>) -> Parsed<Value> {
    let mut left = term(code)?;
    for _ in 0..MAX_PARTS {
        if code.c.eat("+") {
            left = Value::Plus(Box::new(left), Box::new(term(code)?));
        } else if code.c.eat("-") {
            left = Value::Minus(Box::new(left), Box::new(term(code)?));
        } else {
            return Ok(left);
        }
    }
    Err(code.c.error(format!("at most {MAX_PARTS} parts of a value")))
}

fn term(code: &mut Code<'_>) -> Parsed<Value> {
    const EXPECTED: &str = "`in.FIELD`, `out.FIELD`, `in.port`, `out.port`, `out.queue`, `in.length`, `out.length`, a number, \
                            `sent`, `in.valid(HEADER)` or `only_changes { FIELDS }`";
    let value = match code.c.peek() {
        Tok::Int { value, width: None } | Tok::Param { value, .. } => Value::Number(*value),
        Tok::Name { text, .. } => match text.as_str() {
            "in.port" => Value::Port(Moment::In),
            "out.port" => Value::Port(Moment::Out),
            "out.queue" => Value::Queue,
            "in.length" => Value::Length(Moment::In),
            "out.length" => Value::Length(Moment::Out),
            text => {
                let at = |prefix, moment| Some((moment, text.strip_prefix(prefix)?));
                let Some((moment, name)) = at("in.", Moment::In).or_else(|| at("out.", Moment::Out)) else {
                    return Err(code.c.error(EXPECTED));
                };
                let Some(field) = code.named(Space::Field, Gress::Ingress, name) else {
                    let near = nearest(name, code.names(Space::Field, Gress::Ingress)).map(did_you_mean);
                    return Err(code.c.error_with("a header field of ingress", near.unwrap_or_default()));
                };
                Value::Field(moment, field)
            }
        },
        _ => return Err(code.c.error(EXPECTED)),
    };
    code.c.advance();
    Ok(value)
}
