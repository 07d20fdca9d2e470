//! Tables that a control applies at several places, of which a packet runs one.
//!
//! The memories of a table are in one place of the pipe, so that placement and engine want one application. [`join`] makes one
//! of several: it stands behind the branches that contained them, under the condition that a packet came to one of the
//! places. What followed a place in its branch follows the table, under the condition of the branch. A condition is tested
//! again where no statement changes what it reads; elsewhere the branch sets a flag of one bit.

use crate::cfg::{Var, block_writes};
use crate::{
    Action, ActionData, ApplyArms, Block, CmpOp, Cond, Expr, FieldData, Home, Loc, Primitive, PrimitiveKind,
    Program, Stmt, StmtKind, Table,
};
use sluice_asic::gress::Gress;
use std::collections::BTreeSet;

/// The most values that a repeated condition compares.
const MOST: usize = 6;

/// Joins the applications of each table that branches exclude from each other. A table whose applications do not exclude each
/// other, or are in another order in another branch, keeps them; [`crate::verify`] reports it.
pub fn join(program: &mut Program) {
    let mut other = program.clone();
    let left = join_all(program, Turns::FirstRepeated);
    if left > 0 && join_all(&mut other, Turns::LastApplied) < left {
        *program = other;
    }
}

/// The table that is joined next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turns {
    /// The one that is the first to be repeated.
    FirstRepeated,
    /// One that no other repeated table follows in a branch. What follows a table leaves the branch with it, so that a table
    /// that is joined later may be in two statements.
    LastApplied,
}

/// Joins tables of all controls; returns the number of tables that keep several applications.
fn join_all(program: &mut Program, turns: Turns) -> usize {
    let mut left = 0;
    for gress in Gress::ALL {
        let mut block = std::mem::take(&mut program.pipes[gress.index()].control);
        left += join_block(program, gress, &mut block, turns);
        program.pipes[gress.index()].control = block;
    }
    let mut ghost = std::mem::take(&mut program.ghost);
    left += join_block(program, Gress::Ingress, &mut ghost, turns);
    program.ghost = ghost;
    left
}

fn join_block(program: &mut Program, gress: Gress, block: &mut Block, turns: Turns) -> usize {
    let mut given_up = BTreeSet::new();
    loop {
        let mut applied = Vec::new();
        tables(block, &mut applied);
        let again = |(n, table): (usize, &Table)| applied[..n].contains(table) && !given_up.contains(table);
        let repeated: Vec<Table> =
            applied.iter().enumerate().filter(|(n, t)| again((*n, t))).map(|(_, t)| *t).collect();
        let last = || repeated.iter().find(|t| !repeated.iter().any(|other| follows(block, **t, *other)));
        let next = match turns {
            Turns::FirstRepeated => repeated.first(),
            Turns::LastApplied => last().or(repeated.first()),
        };
        let Some(&table) = next else { return given_up.len() };
        if !(Join { program, gress, table }).within(block) {
            given_up.insert(table);
        }
    }
}

/// Returns true if a statement with the application of `later` follows one with that of `table` in some block.
fn follows(block: &Block, table: Table, later: Table) -> bool {
    let has = |stmt: &Stmt, wanted: Table| {
        let mut found = Vec::new();
        tables_of(stmt, &mut found);
        found.contains(&wanted)
    };
    let first = block.iter().position(|stmt| has(stmt, table));
    let after = first.is_some_and(|at| block[at + 1..].iter().any(|stmt| has(stmt, later)));
    table != later
        && (after || block.iter().flat_map(branches).any(|(_, inner)| follows(inner, table, later)))
}

/// Adds the tables that a block applies, in order, repeats included.
fn tables(block: &Block, found: &mut Vec<Table>) {
    block.iter().for_each(|stmt| tables_of(stmt, found));
}

fn tables_of(stmt: &Stmt, found: &mut Vec<Table>) {
    if let StmtKind::Apply(table, _) = stmt.kind {
        found.push(table);
    }
    for (_, inner) in branches(stmt) {
        tables(inner, found);
    }
}

/// Outcome by which control comes to a branch: a condition and its value, or one of a table.
type Turn = Option<(Cond, bool)>;

fn branches(stmt: &Stmt) -> Vec<(Turn, &Block)> {
    match &stmt.kind {
        StmtKind::Call(_) => Vec::new(),
        StmtKind::If(cond, then, otherwise) => {
            vec![(Some((cond.clone(), true)), then), (Some((cond.clone(), false)), otherwise)]
        }
        StmtKind::Apply(_, arms) => {
            let run = arms.run.iter().map(|(_, block)| block);
            [&arms.hit, &arms.miss].into_iter().chain(run).map(|block| (None, block)).collect()
        }
    }
}

fn branches_mut(stmt: &mut Stmt) -> Vec<(Turn, &mut Block)> {
    match &mut stmt.kind {
        StmtKind::Call(_) => Vec::new(),
        StmtKind::If(cond, then, otherwise) => {
            vec![(Some((cond.clone(), true)), then), (Some((cond.clone(), false)), otherwise)]
        }
        StmtKind::Apply(_, arms) => {
            let run = arms.run.iter_mut().map(|(_, block)| block);
            [&mut arms.hit, &mut arms.miss].into_iter().chain(run).map(|block| (None, block)).collect()
        }
    }
}

struct Join<'p> {
    program: &'p mut Program,
    gress: Gress,
    table: Table,
}

/// The parts of a statement that are cut off.
struct Cut {
    /// Variables that the whole statement writes.
    written: Vec<Var>,
    /// The places of the table: condition, arms, source location.
    places: Vec<(Cond, ApplyArms, Loc)>,
    /// What followed the places, the innermost first, with conditions.
    rests: Vec<(Cond, Block)>,
    /// True if a place sets a flag.
    flags: bool,
}

impl Join<'_> {
    fn has(&self, stmt: &Stmt) -> bool {
        matches!(stmt.kind, StmtKind::Apply(table, _) if table == self.table)
            || branches(stmt).into_iter().any(|(_, block)| block.iter().any(|stmt| self.has(stmt)))
    }

    fn is_own(&self, stmt: &Stmt) -> bool {
        matches!(stmt.kind, StmtKind::Apply(table, _) if table == self.table)
    }

    /// Joins the applications in a block; returns false if they do not exclude each other.
    fn within(&mut self, block: &mut Block) -> bool {
        let at: Vec<usize> = (0..block.len()).filter(|n| self.has(&block[*n])).collect();
        let [at] = at[..] else { return false };
        if self.is_own(&block[at]) || !self.apart(&block[at]) {
            return false;
        }
        let inside = branches(&block[at]);
        let inside: Vec<usize> =
            (0..inside.len()).filter(|n| inside[*n].1.iter().any(|s| self.has(s))).collect();
        if let [one] = inside[..] {
            let mut list = branches_mut(&mut block[at]);
            return self.within(list.swap_remove(one).1);
        }
        let first = self.first(&block[at]);
        let written = block_writes(self.program, &block[at..=at]);
        let mut cut = Cut { written, places: Vec::new(), rests: Vec::new(), flags: false };
        let mut stmt = block.remove(at);
        self.cut_branches(&mut stmt, &[], &mut cut);
        let loc = stmt.loc;
        let mut made = vec![stmt];
        made.retain(|stmt| !is_idle(stmt));
        let alone = first && !cut.flags;
        let mut joined = self.joined(cut, loc);
        // Packets that come to the table have nothing to do before it: the statement is for the others.
        if alone && let Some(Stmt { kind: StmtKind::If(_, _, otherwise), .. }) = joined.first_mut() {
            *otherwise = std::mem::take(&mut made);
        }
        made.extend(joined);
        block.splice(at..at, made);
        true
    }

    /// Returns true if all applications in a statement exclude each other, and their arms can be joined.
    fn apart(&self, stmt: &Stmt) -> bool {
        let mut by_outcome = [false; 2];
        self.apart_within(stmt, &mut by_outcome) && by_outcome != [true; 2]
    }

    fn apart_within(&self, stmt: &Stmt, by_outcome: &mut [bool; 2]) -> bool {
        if let StmtKind::Apply(table, arms) = &stmt.kind
            && *table == self.table
        {
            by_outcome[0] |= !arms.hit.is_empty() || !arms.miss.is_empty();
            by_outcome[1] |= !arms.run.is_empty();
            return branches(stmt).into_iter().all(|(_, block)| !block.iter().any(|stmt| self.has(stmt)));
        }
        branches(stmt).into_iter().all(|(_, block)| {
            let own: Vec<&Stmt> = block.iter().filter(|stmt| self.has(stmt)).collect();
            own.len() <= 1 && own.into_iter().all(|stmt| self.apart_within(stmt, by_outcome))
        })
    }

    /// Returns true if conditions alone are before each application in a statement, and it changes none of them.
    fn first(&self, stmt: &Stmt) -> bool {
        let StmtKind::If(cond, then, otherwise) = &stmt.kind else { return self.is_own(stmt) };
        let written = block_writes(self.program, std::slice::from_ref(stmt));
        let own = |block: &Block| match block.iter().position(|stmt| self.has(stmt)) {
            Some(0) => self.first(&block[0]),
            Some(_) => false,
            None => true,
        };
        cond.vars().iter().all(|var| !written.contains(var)) && own(then) && own(otherwise)
    }

    fn cut_branches(&mut self, stmt: &mut Stmt, way: &[Turn], cut: &mut Cut) {
        for (turn, block) in branches_mut(stmt) {
            let way: Vec<Turn> = way.iter().cloned().chain([turn]).collect();
            self.cut(block, &way, cut);
        }
    }

    /// Cuts off a branch from the application on.
    fn cut(&mut self, block: &mut Block, way: &[Turn], cut: &mut Cut) {
        let Some(at) = block.iter().position(|stmt| self.has(stmt)) else { return };
        let rest = block.split_off(at + 1);
        let own = self.is_own(&block[at]);
        if own || !rest.is_empty() {
            // The flag is set in front of the statement, which may change what a condition reads.
            let loc = block[at].loc;
            let (cond, flag) = self.condition(way, &cut.written, loc);
            cut.flags |= flag.is_some();
            let index = if let Some(flag) = flag {
                block.insert(at, flag);
                at + 1
            } else {
                at
            };
            if own {
                let stmt = block.remove(index);
                if let StmtKind::Apply(_, arms) = stmt.kind {
                    cut.places.push((cond.clone(), arms, stmt.loc));
                }
            } else {
                self.cut_branches(&mut block[index], way, cut);
            }
            if !rest.is_empty() {
                cut.rests.push((cond, rest));
            }
        } else {
            self.cut_branches(&mut block[at], way, cut);
        }
        block.retain(|stmt| !is_idle(stmt));
    }

    /// Returns the condition of a branch, and the statement of the branch that sets its flag if it needs one.
    fn condition(&mut self, way: &[Turn], written: &[Var], loc: Loc) -> (Cond, Option<Stmt>) {
        let turns: Option<Vec<(Cond, bool)>> = way.iter().cloned().collect();
        let stays = turns.filter(|turns| {
            let kept = turns.iter().all(|(cond, _)| cond.vars().iter().all(|var| !written.contains(var)));
            kept && turns.iter().map(|(cond, _)| size(cond)).sum::<usize>() <= MOST
        });
        if let Some(turns) = stays {
            let each = turns.into_iter().map(|(cond, holds)| if holds { cond } else { not(cond) });
            if let Some(all) = each.reduce(|a, b| Cond::And(Box::new(a), Box::new(b))) {
                return (all, None);
            }
        }
        let (name, gress) = (self.program.tables[self.table].name.clone(), self.gress);
        let unique = |taken: &dyn Fn(&str) -> bool, stem: String| {
            let mut names = std::iter::once(stem.clone()).chain((2..).map(|n| format!("{stem}_{n}")));
            names.find(|name| !taken(name)).unwrap_or(stem)
        };
        let fields = &self.program.fields;
        let taken = |name: &str| fields.values().any(|field| field.gress == gress && field.name == name);
        let field = FieldData {
            name: unique(&taken, format!("{name}.here")),
            gress,
            width: 1,
            home: Home::Metadata,
            doc: String::new(),
            loc,
        };
        let flag = self.program.fields.push(field);
        let actions = &self.program.actions;
        let taken = |name: &str| actions.values().any(|action| action.name == name);
        let action = ActionData {
            name: unique(&taken, format!("{name}.here")),
            gress,
            params: Vec::new(),
            body: vec![Primitive { kind: PrimitiveKind::Set(flag, Expr::Const(1, 1)), loc }],
            doc: String::new(),
            loc,
        };
        let action = self.program.actions.push(action);
        let cond = Cond::Cmp(CmpOp::Eq, Expr::Field(flag), Expr::Const(1, 1));
        (cond, Some(Stmt { kind: StmtKind::Call(action), loc }))
    }

    /// Returns the application and what follows it.
    fn joined(&self, cut: Cut, loc: Loc) -> Block {
        let Cut { places, rests, .. } = cut;
        let conds: Vec<Cond> = places.iter().map(|(cond, ..)| cond.clone()).collect();
        let at = places.first().map_or(loc, |(.., loc)| *loc);
        let arms = merged(places);
        let apply = Stmt { kind: StmtKind::Apply(self.table, arms), loc: at };
        let always = matches!(&conds[..], [a, b] if *b == not(a.clone()));
        let any = conds.into_iter().reduce(either);
        let mut made = match any {
            Some(any) if !always => vec![Stmt { kind: StmtKind::If(any, vec![apply], Vec::new()), loc: at }],
            _ => vec![apply],
        };
        made.extend(rests.into_iter().map(|(cond, rest)| {
            let loc = rest.first().map_or(loc, |stmt| stmt.loc);
            Stmt { kind: StmtKind::If(cond, rest, Vec::new()), loc }
        }));
        made
    }
}

/// Returns the disjunction of two conditions; of the second, what the first leaves open.
fn either(a: Cond, b: Cond) -> Cond {
    match b {
        Cond::And(x, y) if *x == not(a.clone()) => Cond::Or(Box::new(a), y),
        b => Cond::Or(Box::new(a), Box::new(b)),
    }
}

fn not(cond: Cond) -> Cond {
    match cond {
        Cond::Not(inner) => *inner,
        cond => Cond::Not(Box::new(cond)),
    }
}

/// Returns the number of values that a condition compares.
fn size(cond: &Cond) -> usize {
    match cond {
        Cond::Cmp(..) | Cond::Valid(_) => 1,
        Cond::Not(a) => size(a),
        Cond::And(a, b) | Cond::Or(a, b) => size(a) + size(b),
    }
}

/// Returns true for a condition without statements.
fn is_idle(stmt: &Stmt) -> bool {
    matches!(&stmt.kind, StmtKind::If(_, then, otherwise) if then.is_empty() && otherwise.is_empty())
}

/// Returns arms that do at each place what its own do.
fn merged(places: Vec<(Cond, ApplyArms, Loc)>) -> ApplyArms {
    if let Some((_, first, _)) = places.first()
        && places.iter().all(|(_, arms, _)| arms == first)
    {
        return first.clone();
    }
    let pick = |of: &dyn Fn(&ApplyArms) -> Block| -> Block {
        let mut block = Vec::new();
        for (cond, arms, loc) in places.iter().rev() {
            let own = of(arms);
            // The places exclude each other.
            if !own.is_empty() {
                let kind = StmtKind::If(cond.clone(), own, std::mem::take(&mut block));
                block = vec![Stmt { kind, loc: *loc }];
            }
        }
        block
    };
    let mut actions: Vec<Action> =
        places.iter().flat_map(|(_, arms, _)| arms.run.iter().map(|(action, _)| *action)).collect();
    actions.sort_unstable();
    actions.dedup();
    let run = |action: Action| {
        pick(&|arms| {
            arms.run.iter().filter(|(a, _)| *a == action).flat_map(|(_, block)| block.clone()).collect()
        })
    };
    let run = actions.into_iter().map(|action| (action, run(action))).filter(|(_, block)| !block.is_empty());
    ApplyArms {
        run: run.collect(),
        hit: pick(&|arms| arms.hit.clone()),
        miss: pick(&|arms| arms.miss.clone()),
    }
}
