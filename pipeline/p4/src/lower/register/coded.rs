//! Enumerations that a register action returns.
//!
//! An output word shows one source. The vendor's compiler returns a member of an enumeration as the code of the comparisons that
//! choose it: a word with one bit, whose number has the result of comparison `i` in its bit `i`.

use sluice_asic::salu::Half;
use sluice_ir::{CellCond, CellStmt, CellStmtKind, CellValue, Loc};

/// The most comparisons of a code.
const MOST: usize = 4;

/// A returned member: one, or one of two by a condition.
#[derive(Clone, Debug, PartialEq)]
enum Member {
    One(u64),
    By(CellCond, Box<Member>, Box<Member>),
}

/// Lets a body return a code in place of several members. Returns the member for each code; `None`, with the body as it was, if it
/// returns one member only, or something other than members.
pub(super) fn with_code(body: &mut Vec<CellStmt>, word: u8) -> Option<Vec<(u128, u128)>> {
    let member = returned(body, word, Member::One(0))?;
    let mut conds = Vec::new();
    conditions(&member, &mut conds);
    if conds.is_empty() || conds.len() > MOST {
        return None;
    }
    // A flag is the result of a comparison as it is.
    if !more_than_a_flag(&member) {
        return None;
    }
    let codes = 0..1_u32 << conds.len();
    let of = |code: u32| (1_u128 << code, u128::from(chosen(&member, &conds, code)));
    let members = codes.map(of).collect();
    let loc = body.first().map_or_else(Loc::default, |first| first.loc);
    without(body, word);
    body.insert(0, CellStmt { kind: CellStmtKind::Output(word, CellValue::Predicate(conds)), loc });
    Some(members)
}

/// Returns what statements return, if they returned `before` up to there.
fn returned(stmts: &[CellStmt], word: u8, before: Member) -> Option<Member> {
    let mut now = before;
    for stmt in stmts {
        match &stmt.kind {
            CellStmtKind::Output(to, value) if *to == word => match value {
                CellValue::Const(member) => now = Member::One(*member),
                _ => return None,
            },
            CellStmtKind::If(cond, yes, no) => {
                let yes = returned(yes, word, now.clone())?;
                let no = returned(no, word, now.clone())?;
                if yes != now || no != now {
                    now = Member::By(cond.clone(), Box::new(yes), Box::new(no));
                }
            }
            _ => {}
        }
    }
    Some(now)
}

fn conditions(member: &Member, found: &mut Vec<CellCond>) {
    if let Member::By(cond, yes, no) = member {
        if !found.contains(cond) {
            found.push(cond.clone());
        }
        conditions(yes, found);
        conditions(no, found);
    }
}

fn more_than_a_flag(member: &Member) -> bool {
    match member {
        Member::One(member) => *member > 1,
        Member::By(_, yes, no) => more_than_a_flag(yes) || more_than_a_flag(no),
    }
}

/// Returns the member that the results of the conditions choose.
fn chosen(member: &Member, conds: &[CellCond], code: u32) -> u64 {
    match member {
        Member::One(member) => *member,
        Member::By(cond, yes, no) => {
            let holds = conds.iter().position(|other| other == cond).is_some_and(|at| code >> at & 1 == 1);
            chosen(if holds { yes } else { no }, conds, code)
        }
    }
}

/// Removes the writes of an output word, and branches that are empty then.
fn without(stmts: &mut Vec<CellStmt>, word: u8) {
    for stmt in stmts.iter_mut() {
        if let CellStmtKind::If(_, yes, no) = &mut stmt.kind {
            without(yes, word);
            without(no, word);
        }
    }
    stmts.retain(|stmt| match &stmt.kind {
        CellStmtKind::Output(to, _) => *to != word,
        CellStmtKind::If(_, yes, no) => !yes.is_empty() || !no.is_empty(),
        CellStmtKind::Write(Half::Lo | Half::Hi, _) | CellStmtKind::Search(_) => true,
    });
}
