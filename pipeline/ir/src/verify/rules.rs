//! Rules of the author about containers and tables.

use super::{Diag, count};
use crate::{ContainerDemand, ContainerRule, MatchKind, Program, TableData};
use std::mem::discriminant;

pub(super) fn check(p: &Program, d: &mut Vec<Diag>) {
    for (n, rule) in p.container_rules.iter().enumerate() {
        container(p, rule, d);
        let alike = |o: &&ContainerRule| {
            o.field == rule.field && discriminant(&o.demand) == discriminant(&rule.demand)
        };
        if let Some(first) = p.container_rules[..n].iter().find(alike) {
            let text =
                format!("two rules about the containers of `{}` are of one kind", p.fields[rule.field].name);
            d.push(Diag::error(rule.loc, text).also(first.loc, "the first one").help("remove one of them"));
        }
    }
    for data in p.tables.values() {
        table(data, d);
    }
}

fn container(p: &Program, rule: &ContainerRule, d: &mut Vec<Diag>) {
    let field = &p.fields[rule.field];
    let mut error = |text: String, help: &str| d.push(Diag::error(rule.loc, text).help(help));
    match &rule.demand {
        ContainerDemand::Sizes(sizes) => {
            let wrong = sizes.iter().find(|size| !matches!(size, 8 | 16 | 32));
            let room: u32 = sizes.iter().map(|size| u32::from(*size)).sum();
            if let Some(wrong) = wrong {
                let text = format!("`{}` is to be in a container of {wrong} bits", field.name);
                error(text, "containers have 8, 16 or 32 bits");
            } else if sizes.len() != 1 && room < u32::from(field.width) {
                let text = format!(
                    "`{}` has {} and is to be in containers of {room} bits in all",
                    field.name,
                    count(field.width.into(), "bit")
                );
                error(text, "name one size for all containers, or sizes with room for all bits");
            }
        }
        ContainerDemand::Atomic if field.width > 32 => {
            let text = format!("`{}` of {} bits is to be in one container", field.name, field.width);
            error(text, "a container has at most 32 bits");
        }
        _ => {}
    }
}

fn table(data: &TableData, d: &mut Vec<Diag>) {
    let rules = &data.rules;
    let mut error = |text: String, help: &str| d.push(Diag::error(data.loc, text).help(help));
    let exact = data.algorithmic.is_none()
        && !data.keys.is_empty()
        && data.keys.iter().all(|key| key.kind == MatchKind::Exact && key.mask.is_none());
    if let Some(entries) = rules.pin_entries
        && (entries == 0 || data.pin.is_none() || data.keys.is_empty())
    {
        let text = format!("table `{}` has `pin_entries = {entries}`", data.name);
        error(text, "give at least one entry of a table with a key to the stage that `pin` names");
    }
    for (name, number) in [("ways", rules.ways), ("pack", rules.pack)] {
        let Some(number) = number else { continue };
        if number == 0 {
            error(format!("table `{}` has 0 as its `{name}`", data.name), "name at least 1, or leave it out");
        } else if !exact {
            let text = format!("table `{}` has `{name}`, but is no exact match table in SRAM", data.name);
            error(text, "leave it out, or make all keys exact");
        }
    }
}
