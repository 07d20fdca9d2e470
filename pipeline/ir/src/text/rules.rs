//! Parser of rules of the author about containers and tables.

use super::code::Code;
use super::cursor::Parsed;
use crate::{CONTAINER_KINDS, ContainerDemand, ContainerRule, TableRules};

/// Parses a demand on the memory or the order of a table.
pub(super) fn table(code: &mut Code<'_>, word: &str, rules: &mut TableRules) -> Parsed<()> {
    match word {
        "pin_entries" => rules.pin_entries = Some(code.c.number("a number of entries")?),
        "ways" => rules.ways = Some(code.c.number("a number of ways")?),
        "pack" => rules.pack = Some(code.c.number("a number of entries per word")?),
        _ => {
            let below = code.c.eat("-");
            let before = code.c.clone();
            let value: u16 = code.c.number("a priority")?;
            let value = if below { -i32::from(value) } else { i32::from(value) };
            rules.priority =
                i16::try_from(value).map_err(|_| before.error("a priority from -32768 to 32767"))?;
        }
    }
    Ok(())
}

/// Parses `{ ipv4.ttl : sizes(8); meta.port : solitary; }`.
pub(super) fn containers(code: &mut Code<'_>) -> Parsed<Vec<ContainerRule>> {
    code.block(|code| {
        let loc = code.c.loc();
        let field = code.field()?;
        code.c.expect(":")?;
        let words = ["sizes", "atomic", "solitary", "no_overlay", "kind"].map(|word| (word, word));
        let demand = match code.c.one_of(&words)? {
            "sizes" => {
                code.c.expect("(")?;
                ContainerDemand::Sizes(code.list(")", |code| code.c.number("a size in bits"))?)
            }
            "kind" => {
                code.c.expect("(")?;
                let kind = code.c.one_of(&CONTAINER_KINDS)?;
                code.c.expect(")")?;
                ContainerDemand::Kind(kind)
            }
            "atomic" => ContainerDemand::Atomic,
            "solitary" => ContainerDemand::Solitary,
            _ => ContainerDemand::NoOverlay,
        };
        Ok(ContainerRule { field, demand, loc })
    })
}
