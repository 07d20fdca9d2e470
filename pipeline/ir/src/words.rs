//! Names for authors: what an output calls the parts of a program that their author did not name.
//!
//! An action of inline statements has a name of its gress and line, `ingress_l81`, and a condition has none. Where the front end
//! keeps the author's text ([`Loc::text`]), outputs show the place and this text: `leaf.p4:81 hdr.ipv4.tos = 0xff`.

use crate::cfg::{Cfg, Node, NodeKind, Var};
use crate::entity::Entity;
use crate::{Action, ActionData, Cond, Expr, Home, Label, Loc, Program};
use sluice_asic::gress::Gress;

/// Returns the name of an action: its own, or place and text of the statements that it consists of. A statement whose parts run
/// one after another has several actions, which are numbered from 1.
#[must_use]
pub fn action(program: &Program, action: Action) -> String {
    let data = &program.actions[action];
    let Some((place, text)) = data.loc.short().zip(statements(data)) else {
        return data.name.clone();
    };
    let same = |other: &ActionData| unnamed(&other.name) == unnamed(&data.name) && other.loc.is_at(&data.loc);
    let all = program.actions.iter().filter(|(_, other)| same(other));
    format!("{place} {text}{}", number(all.map(|(other, _)| other == action)))
}

/// Returns an action as the subject of a message that has the place: ``action `Ingress.send` ``, or ``statement
/// `hdr.ipv4.tos = 0xff` `` without a number.
#[must_use]
pub fn subject(data: &ActionData) -> String {
    match statements(data) {
        Some(text) => format!("statement `{text}`"),
        None => format!("action `{}`", data.name),
    }
}

/// Returns what an output calls a field: its name, or for a value that lowering keeps between two steps, the place of the statement.
#[must_use]
pub fn var(program: &Program, var: Var) -> String {
    let name = var.name(program);
    let Var::Field(field) = var else { return name };
    let data = &program.fields[field];
    match (unnamed(&name), data.home, data.loc.short()) {
        (Some("step"), Home::Metadata, Some(place)) => format!("a step of {place}"),
        _ => name,
    }
}

/// Returns what an output calls a label of a drop: its name, or place and text of the statement that drops.
#[must_use]
pub fn label(program: &Program, label: Label) -> String {
    let data = &program.labels[label];
    match (unnamed(&data.name), data.loc.short()) {
        (Some(_), Some(place)) if !data.loc.text.is_empty() => format!("{place} {}", data.loc.text),
        _ => data.name.clone(),
    }
}

/// Returns a line of a program's text with what outputs call its actions and fields in place of their names.
#[must_use]
pub fn line(program: &Program, text: &str) -> String {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '-');
    let mut said = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let end = rest.find(|other| part(other) != part(c)).unwrap_or(rest.len());
        let (token, after) = rest.split_at(end);
        rest = after;
        match unnamed(token) {
            Some(_) => said.push_str(&spoken(program, token)),
            None => said.push_str(token),
        }
    }
    said
}

fn spoken(program: &Program, name: &str) -> String {
    let field = program.fields.iter().find(|(_, data)| data.name == name).map(|(field, _)| field);
    let named = program.action_named(name);
    match (field, named) {
        (Some(field), _) => var(program, Var::Field(field)),
        (None, Some(of)) => action(program, of),
        (None, None) => name.to_owned(),
    }
}

/// Returns the text of the statements that an action without a name of its own consists of; `None` for an action with a name,
/// and without texts. A step of an action that the author declared has that action's name in front.
fn statements(data: &ActionData) -> Option<String> {
    let owner = unnamed(&data.name).filter(|_| !data.loc.text.is_empty())?;
    let mut text = data.loc.text.to_string();
    if Gress::ALL.iter().all(|gress| owner != gress.name()) {
        text = format!("{owner}: {text}");
    }
    if data.body.iter().any(|primitive| !primitive.loc.is_at(&data.loc)) {
        text.push_str("; ..");
    }
    Some(text)
}

/// Returns the name of a condition: place and text of its statement, or `cond-N`.
#[must_use]
pub fn condition(cfg: &Cfg, node: Node) -> String {
    let loc: &Loc = &cfg.nodes[node].loc;
    let Some(place) = loc.short() else { return format!("cond-{}", node.index()) };
    let same = cfg
        .nodes
        .iter()
        .filter(|(_, other)| matches!(other.kind, NodeKind::Gateway(_)) && other.loc.is_at(loc));
    format!("{place} {}{}", loc.text, number(same.map(|(other, _)| other == node)))
}

/// Returns the text of a condition, with names of fields and headers.
#[must_use]
pub fn cond(program: &Program, condition: &Cond) -> String {
    match condition {
        Cond::Cmp(op, a, b) => format!("{} {} {}", expr(program, a), op.symbol(), expr(program, b)),
        Cond::Valid(header) => format!("{}.isValid()", program.headers[*header].name),
        Cond::Not(a) => format!("!({})", cond(program, a)),
        Cond::And(a, b) => format!("({} && {})", cond(program, a), cond(program, b)),
        Cond::Or(a, b) => format!("({} || {})", cond(program, a), cond(program, b)),
    }
}

/// Returns the text of a value.
fn expr(program: &Program, value: &Expr) -> String {
    match value {
        Expr::Const(value, _) => format!("{value:#x}"),
        Expr::Field(field) => program.fields[*field].name.clone(),
        Expr::Param(index, _) => format!("${index}"),
        Expr::Slice(of, hi, lo) => format!("{}[{hi}:{lo}]", expr(program, of)),
        Expr::Cast(of, width) => format!("(bit<{width}>){}", expr(program, of)),
        Expr::Alu(op, a, b) => format!("{op}({}, {})", expr(program, a), expr(program, b)),
        Expr::Funnel(high, low, by) => {
            format!("funnel_shift({}, {}, {by})", expr(program, high), expr(program, low))
        }
    }
}

/// Returns the part of an unnamed action's name before its line, `ingress` in `ingress_l81` and `ingress_l81_2`; `None` for names
/// of another form.
#[must_use]
pub fn unnamed(name: &str) -> Option<&str> {
    let (owner, line) = name.rsplit_once("_l")?;
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    line.split('_').all(digits).then_some(owner)
}

/// Returns `, part 2 of 3` for the second of three, nothing for one alone.
fn number(which: impl Iterator<Item = bool>) -> String {
    let which: Vec<bool> = which.collect();
    match which.iter().position(|own| *own) {
        Some(at) if which.len() > 1 => format!(", part {} of {}", at + 1, which.len()),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{line, unnamed};

    #[test]
    fn names_of_inline_statements_end_in_their_line() {
        assert_eq!(unnamed("ingress_l81"), Some("ingress"));
        assert_eq!(unnamed("Ig.scale_l56_2"), Some("Ig.scale"));
        assert_eq!((unnamed("route_lpm"), unnamed("ingress_l"), unnamed("a_l1_x")), (None, None, None));
    }

    #[test]
    fn lines_have_what_outputs_call_the_parts() {
        let text = "sluice 1; program p; header h : ingress { bit<8> a; } metadata : ingress { bit<8> m.x; }
            action set : ingress () { m.x = 1; }";
        let program = crate::text::parse(text).map_err(|e| format!("{e:?}"));
        let program = program.unwrap_or_default();
        // Names of another form stay, and so do those that the program lacks.
        assert_eq!(line(&program, "m.x = add(step_l17, 8w1);"), "m.x = add(step_l17, 8w1);");
    }
}
