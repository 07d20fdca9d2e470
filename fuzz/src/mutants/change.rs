//! A mutation as shown to the program's author: the source location, and the text before and after.

use super::edit::{Edit, statements};
use serde::Serialize;
use sluice_asic::gress::Gress;
use sluice_ir::{Loc, Program, RegisterAction};
use sluice_ir::{text, words};

/// Lines of a program's text that a mutation changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Lines before the mutation.
    pub old: Vec<String>,
    /// Lines after the mutation; empty if they are removed.
    pub new: Vec<String>,
}

impl Change {
    /// Returns the lines from the first to the last difference that an edit makes.
    #[must_use]
    pub fn of(program: &Program, edit: &Edit) -> Change {
        let edited = edit.apply(program);
        let (old, new) = (text::print(program), text::print(&edited));
        let (mut old, mut new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
        while !old.is_empty() && old.last() == new.last() {
            old.pop();
            new.pop();
        }
        let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        let said = |of, lines: &[&str]| lines.iter().map(|line| words::line(of, line.trim())).collect();
        Change { old: said(program, &old[same..]), new: said(&edited, &new[same..]) }
    }
}

impl std::fmt::Display for Change {
    /// Returns the change in one line, with the first line of longer changes.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let show = |lines: &[String]| match lines {
            [] => "nothing".to_owned(),
            [one] => format!("`{one}`"),
            [first, rest @ ..] => format!("`{first}` and {} lines more", rest.len()),
        };
        write!(f, "{} for {}", show(&self.new), show(&self.old))
    }
}

impl Edit {
    /// Returns the source location of the mutated element.
    #[must_use]
    pub fn source(&self, p: &Program) -> Loc {
        let op = |loc: Option<Loc>| loc.unwrap_or_default();
        match *self {
            Edit::DropParserOp(state, at) => op(p.states[state].ops.get(at).map(|o| o.loc)),
            Edit::ArmValue(state, ..) | Edit::DropArm(state, _) | Edit::FlipDefault(state) => {
                p.states[state].loc
            }
            Edit::DropPrimitive(action, at)
            | Edit::ConstOffByOne(action, at)
            | Edit::SwapAlu(action, at)
            | Edit::FlipValid(action, at)
            | Edit::OtherLabel(action, at, _) => op(p.actions[action].body.get(at).map(|o| o.loc)),
            Edit::Negate(gress, at)
            | Edit::OtherComparison(gress, at, _)
            | Edit::CondOffByOne(gress, at, _)
            | Edit::SwapAndOr(gress, at, _)
            | Edit::DropStatement(gress, at)
            | Edit::SwapArms(gress, at) => statement(p, gress, at),
            Edit::WrongKey(table, ..)
            | Edit::OtherDefault(table, _)
            | Edit::EntryValue(table, ..)
            | Edit::DropEntry(table, _) => p.tables[table].loc,
            Edit::DropChecksum(gress, at) => op(p.pipe(gress).deparser.checksums.get(at).map(|sum| sum.loc)),
            Edit::DropEmit(gress, at) | Edit::SwapEmit(gress, at) => {
                op(p.pipe(gress).deparser.emit.get(at).map(|h| p.headers[*h].loc))
            }
            Edit::DropRequest(gress, at) | Edit::ClearListItem(gress, at, _) => {
                op(p.pipe(gress).deparser.requests.get(at).map(|r| r.loc))
            }
            Edit::DropWhen(gress, at) => {
                let d = &p.pipe(gress).deparser;
                op(d.requests.iter().map(|r| r.loc).chain(d.checksums.iter().map(|c| c.loc)).nth(at))
            }
            Edit::NegateCell(action, n)
            | Edit::DropWrite(action, n)
            | Edit::DropOutput(action, n)
            | Edit::CellOffByOne(action, n) => cell(p, action, n),
            Edit::DropHashInput(hash, _) | Edit::HashSeed(hash) => p.hashes[hash].loc,
            Edit::NeverValid(header) => p.headers[header].loc,
        }
    }
}

fn statement(p: &Program, gress: Gress, at: usize) -> Loc {
    let mut all = Vec::new();
    statements(&p.pipe(gress).control, &mut |stmt| all.push(stmt.loc));
    all.get(at).copied().unwrap_or_default()
}

fn cell(p: &Program, action: RegisterAction, at: usize) -> Loc {
    let mut all = Vec::new();
    p.register_actions[action].statements(&mut |stmt| all.push(stmt.loc));
    all.get(at).copied().unwrap_or(p.register_actions[action].loc)
}
