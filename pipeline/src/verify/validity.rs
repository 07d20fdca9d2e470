//! Header validity on every path: which sets of headers can be valid where a field is read.
//!
//! The parser graph gives the sets to start with; conditions filter them, `set_valid` changes them. With
//! more than 4096 sets everything counts as possible. What may not live here: other rules.

use super::Diag;
use crate::entity::Entity;
use crate::flow::table_actions;
use crate::ir::{
    Action, ApplyArms, Block, Cond, Expr, Field, Header, Home, Loc, Next, ParserOpKind, PrimitiveKind,
    Program, StmtKind,
};
use sluice_asic::gress::Gress;
use std::collections::BTreeSet;

/// Sets of valid headers, one bit each.
type Sets = BTreeSet<u128>;
const MAX_SETS: usize = 4096;

/// Checks both control blocks. Programs with more than 128 headers are not followed.
pub(super) fn check(program: &Program) -> Vec<Diag> {
    let mut diags = Vec::new();
    if program.headers.len() > 128 {
        return diags;
    }
    for gress in Gress::ALL {
        let mut sets = Sets::new();
        parsed(program, program.pipe(gress).start, 0, &mut sets, &mut 100_000);
        let mut walk = Walk { program, diags: Vec::new(), seen: BTreeSet::new() };
        walk.block(&program.pipe(gress).control, &mut sets);
        diags.append(&mut walk.diags);
    }
    diags
}

fn parsed(program: &Program, next: Next, mut set: u128, sets: &mut Sets, budget: &mut u32) {
    *budget = budget.saturating_sub(1);
    // A packet that ends early is dropped, or seen by the program with what came before.
    sets.insert(set);
    let Next::State(s) = next else { return };
    if *budget == 0 {
        return;
    }
    let data = &program.states[s];
    for op in &data.ops {
        if let ParserOpKind::Extract(h) = op.kind {
            set |= 1 << h.index();
        }
    }
    if data.arms.iter().all(|a| a.next == data.default) {
        sets.insert(set);
    }
    for next in data.arms.iter().map(|a| a.next).chain([data.default]) {
        parsed(program, next, set, sets, budget);
    }
}

struct Walk<'a> {
    program: &'a Program,
    diags: Vec<Diag>,
    /// One finding per field and severity is enough.
    seen: BTreeSet<(Field, bool)>,
}

impl Walk<'_> {
    fn block(&mut self, block: &Block, sets: &mut Sets) {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Call(a) => self.action(*a, sets),
                StmtKind::If(cond, then, otherwise) => {
                    self.cond(cond, sets, stmt.loc);
                    let (mut yes, mut no) = (refine(cond, sets, true), refine(cond, sets, false));
                    self.block(then, &mut yes);
                    self.block(otherwise, &mut no);
                    yes.extend(no);
                    *sets = widen(yes);
                }
                StmtKind::Apply(t, arms) => {
                    for key in &self.program.tables[*t].keys {
                        // A key of an invalid header is usual: the entry's other columns tell.
                        self.read(key.field, sets, stmt.loc, false);
                    }
                    self.arms(table_actions(self.program, *t), arms, sets);
                }
            }
        }
    }

    fn arms(&mut self, actions: Vec<Action>, arms: &ApplyArms, sets: &mut Sets) {
        let mut after = Sets::new();
        for action in actions {
            let mut here = sets.clone();
            self.action(action, &mut here);
            let run = arms.run.iter().find(|(a, _)| *a == action);
            if let Some((_, block)) = run {
                self.block(block, &mut here);
            }
            after.extend(here);
        }
        let mut after = widen(after);
        let (mut hit, mut miss) = (after.clone(), after.clone());
        self.block(&arms.hit, &mut hit);
        self.block(&arms.miss, &mut miss);
        after.extend(hit);
        after.extend(miss);
        *sets = widen(after);
    }

    /// All instructions of an action see the headers as they were before it.
    fn action(&mut self, action: Action, sets: &mut Sets) {
        let before = sets.clone();
        for step in &self.program.actions[action].body {
            match &step.kind {
                PrimitiveKind::Set(_, value) | PrimitiveKind::Count(_, value) => {
                    self.expr(value, &before, step.loc)
                }
                PrimitiveKind::SetValid(h, on) => {
                    let bit = 1u128 << h.index();
                    *sets = sets.iter().map(|s| if *on { s | bit } else { s & !bit }).collect();
                }
                PrimitiveKind::Hash(..) | PrimitiveKind::CountDirect(_) | PrimitiveKind::Drop(_) => {}
            }
        }
    }

    fn expr(&mut self, e: &Expr, sets: &Sets, at: Loc) {
        let mut fields = Vec::new();
        e.fields(&mut |f| fields.push(f));
        fields.into_iter().for_each(|f| self.read(f, sets, at, true));
    }

    /// The right side of `&&` is only looked at where the left one holds.
    fn cond(&mut self, cond: &Cond, sets: &Sets, at: Loc) {
        match cond {
            Cond::And(a, b) => {
                self.cond(a, sets, at);
                self.cond(b, &refine(a, sets, true), at);
            }
            Cond::Or(a, b) => {
                self.cond(a, sets, at);
                self.cond(b, &refine(a, sets, false), at);
            }
            Cond::Not(a) => self.cond(a, sets, at),
            Cond::Valid(_) => {}
            Cond::Cmp(_, a, b) => {
                self.expr(a, sets, at);
                self.expr(b, sets, at);
            }
        }
    }

    fn read(&mut self, field: Field, sets: &Sets, at: Loc, warn: bool) {
        let data = &self.program.fields[field];
        let Home::Header(h) = data.home else { return };
        let bit = 1u128 << h.index();
        let header = &self.program.headers[h];
        // No set at all: nothing gets here, which is no fault of this line.
        if sets.is_empty() || sets.iter().all(|s| s & bit != 0) {
            return;
        }
        if sets.iter().all(|s| s & bit == 0) {
            if self.seen.insert((field, true)) {
                let text = format!("`{}` is read where header `{}` is never valid", data.name, header.name);
                let help = format!("no parser path extracts `{}` and reaches this line", header.name);
                self.diags.push(Diag::error(at, text).also(header.loc, "header declared here").help(help));
            }
        } else if warn && self.seen.insert((field, false)) {
            let text = format!("`{}` is read where header `{}` may be invalid", data.name, header.name);
            let help = format!("guard the line with `{}.is_valid()`", header.name);
            self.diags.push(Diag::warning(at, text).help(help));
        }
    }
}

/// The sets for which a condition may come out so; only validity is followed.
fn refine(cond: &Cond, sets: &Sets, holds: bool) -> Sets {
    match cond {
        Cond::Valid(h) => sets.iter().copied().filter(|s| (s >> index(*h) & 1 == 1) == holds).collect(),
        Cond::Not(a) => refine(a, sets, !holds),
        Cond::And(a, b) if holds => refine(b, &refine(a, sets, true), true),
        Cond::Or(a, b) if !holds => refine(b, &refine(a, sets, false), false),
        Cond::And(..) | Cond::Or(..) | Cond::Cmp(..) => sets.clone(),
    }
}

fn index(h: Header) -> usize {
    h.index()
}

/// Too many sets: none valid and all valid, so that every read may and may not be valid.
fn widen(sets: Sets) -> Sets {
    if sets.len() > MAX_SETS { Sets::from([0, u128::MAX]) } else { sets }
}
