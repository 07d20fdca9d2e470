//! Rules of tables, profiles, control flow and deparsers. What may not live here: what actions do.

use super::Diag;
use crate::flow::{Flow, NodeKind};
use crate::ir::{ActionCall, Cond, Expr, KeyValue, Loc, MatchKind, Program, TableData};
use sluice_asic::gress::Gress;
use std::collections::BTreeMap;

/// Checks all tables and both control blocks and deparsers.
pub(super) fn check(program: &Program) -> Vec<Diag> {
    let mut diags = Vec::new();
    for data in program.tables.values() {
        table(program, data, &mut diags);
    }
    for data in program.profiles.values() {
        let Some(s) = &data.selector else { continue };
        if s.groups == 0 || s.max_group_size == 0 || data.size == 0 {
            let text = format!("profile `{}` has no room for members or groups", data.name);
            diags.push(Diag::error(data.loc, text).help("size, groups and group size are at least 1"));
        }
    }
    for gress in Gress::ALL {
        control(program, gress, &mut diags);
        deparser(program, gress, &mut diags);
    }
    diags
}

fn table(program: &Program, data: &TableData, diags: &mut Vec<Diag>) {
    let mut error = |text: String, help: &str| diags.push(Diag::error(data.loc, text).help(help));
    let count = |kind| data.keys.iter().filter(|k| k.kind == kind).count();
    if count(MatchKind::Lpm) > 1 {
        error(format!("table `{}` has {} longest-prefix keys", data.name, count(MatchKind::Lpm)), "use one");
    }
    if count(MatchKind::Lpm) > 0 && count(MatchKind::Ternary) > 0 {
        let text = format!("table `{}` mixes longest-prefix and ternary keys", data.name);
        error(text, "make the prefix a ternary key with priorities");
    }
    if data.entries.len() as u64 > u64::from(data.size) {
        let text = format!(
            "table `{}` has {} constant entries and size {}",
            data.name,
            data.entries.len(),
            data.size
        );
        error(text, "raise the size");
    }
    let mut found = Vec::new();
    arguments(program, &data.name, "default action", &data.default, data.loc, &mut found);
    for entry in &data.entries {
        arguments(program, &data.name, "entry", &entry.then, data.loc, &mut found);
        if entry.key.len() != data.keys.len() {
            let text = format!(
                "an entry of table `{}` has {} key columns; the table has {}",
                data.name,
                entry.key.len(),
                data.keys.len()
            );
            found.push(Diag::error(data.loc, text).help("one column per key"));
        }
        for (value, key) in entry.key.iter().zip(&data.keys) {
            let field = &program.fields[key.field];
            if let Some(text) = misfit(*value, key.kind, field.width) {
                let text = format!("an entry of table `{}`: `{}` {text}", data.name, field.name);
                found.push(Diag::error(data.loc, text).help("write a value that the key can have"));
            }
        }
        if !data.actions.contains(&entry.then.action) {
            let name = &program.actions[entry.then.action].name;
            let text =
                format!("an entry of table `{}` runs `{name}`, which is none of its actions", data.name);
            found.push(Diag::error(data.loc, text).help("list the action in the table"));
        }
    }
    diags.append(&mut found);
}

/// What is wrong with a key column.
fn misfit(value: KeyValue, kind: MatchKind, width: u16) -> Option<String> {
    let fits = |v: u128| v & !sluice_asic::alu::width_mask(u32::from(width)) == 0;
    match (value, kind) {
        (KeyValue::Exact(v), MatchKind::Exact) if fits(v) => None,
        (KeyValue::Ternary { value, mask }, MatchKind::Ternary) if fits(value | mask) => None,
        (KeyValue::Lpm { value, len }, MatchKind::Lpm) if fits(value) && len <= width => None,
        (KeyValue::Exact(_), MatchKind::Exact)
        | (KeyValue::Ternary { .. }, MatchKind::Ternary)
        | (KeyValue::Lpm { .. }, MatchKind::Lpm) => Some(format!("has {width} bits; the value does not fit")),
        _ => Some("is compared in another way".to_owned()),
    }
}

fn arguments(program: &Program, table: &str, what: &str, call: &ActionCall, at: Loc, diags: &mut Vec<Diag>) {
    let action = &program.actions[call.action];
    if action.params.len() != call.args.len() {
        let text = format!(
            "the {what} of table `{table}` gives `{}` {} arguments; it has {} parameters",
            action.name,
            call.args.len(),
            action.params.len()
        );
        diags.push(Diag::error(at, text).help("give one value per parameter"));
    }
    for (param, value) in action.params.iter().zip(&call.args) {
        if value & !sluice_asic::alu::width_mask(u32::from(param.width)) != 0 {
            let text = format!(
                "the {what} of table `{table}`: `{}` of `{}` has {} bits; {value:#x} does not fit",
                param.name, action.name, param.width
            );
            diags.push(Diag::error(at, text).help("write a smaller value"));
        }
    }
}

fn control(program: &Program, gress: Gress, diags: &mut Vec<Diag>) {
    let flow = Flow::of(program, gress);
    let mut applied: BTreeMap<_, Loc> = BTreeMap::new();
    for node in flow.nodes.values() {
        match &node.kind {
            NodeKind::Table(t) => {
                if let Some(first) = applied.insert(*t, node.loc) {
                    let text = format!("table `{}` is applied in two places", program.tables[*t].name);
                    let diag = Diag::error(node.loc, text).also(first, "first place");
                    diags.push(
                        diag.help(
                            "a table is looked up once per packet: merge the places, or make two tables",
                        ),
                    );
                }
            }
            NodeKind::Action(a) => {
                let action = &program.actions[*a];
                if !action.params.is_empty() {
                    let text =
                        format!("action `{}` has parameters and is called without a table", action.name);
                    diags.push(
                        Diag::error(node.loc, text)
                            .help("run it from a table, whose entries hold the values"),
                    );
                }
            }
            NodeKind::Gateway(cond) => condition(program, cond, node.loc, diags),
        }
    }
}

fn condition(program: &Program, cond: &Cond, at: Loc, diags: &mut Vec<Diag>) {
    match cond {
        Cond::Valid(_) => {}
        Cond::Not(a) => condition(program, a, at, diags),
        Cond::And(a, b) | Cond::Or(a, b) => {
            condition(program, a, at, diags);
            condition(program, b, at, diags);
        }
        Cond::Cmp(_, a, b) => {
            let (wa, wb) = (a.width(program), b.width(program));
            if wa != wb {
                let text = format!("a condition compares {wa} bits with {wb} bits");
                diags.push(Diag::error(at, text).help("cast or slice one of them"));
            }
            for side in [a, b] {
                if let Some(word) = no_operand(side) {
                    let text = format!("a condition compares {word}");
                    diags.push(Diag::error(at, text).help("compute the value in an earlier action"));
                }
            }
        }
    }
}

/// What a gateway cannot compare.
fn no_operand(e: &Expr) -> Option<&'static str> {
    match e {
        Expr::Const(..) | Expr::Field(_) => None,
        Expr::Slice(inner, ..) | Expr::Cast(inner, _) => no_operand(inner),
        Expr::Param(..) => Some("an action parameter"),
        Expr::Alu(..) => Some("the result of an operation"),
    }
}

fn deparser(program: &Program, gress: Gress, diags: &mut Vec<Diag>) {
    for update in &program.pipe(gress).deparser.checksums {
        let field = &program.fields[update.field];
        let inside = program.field_offset(update.header, update.field).is_some_and(|bit| bit % 8 == 0);
        if field.width != 16 || !inside {
            let text = format!(
                "the checksum of header `{}` is written to `{}`, which is no 16-bit field of it on a byte boundary",
                program.headers[update.header].name, field.name
            );
            diags.push(Diag::error(update.loc, text).help("name the checksum field of the header"));
        }
    }
}
