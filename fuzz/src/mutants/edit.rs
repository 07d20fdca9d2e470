//! Mutation operators: their edits of a program, and how an edit is applied.

use sluice_asic::alu::{AluOp, width_mask};
use sluice_asic::gress::Gress;
use sluice_ir::{
    Action, ApplyArms, Block, CellCond, CellStmt, CellStmtKind, CellValue, CmpOp, Cond, Expr, Field, Hash,
    Header, KeySource, KeyValue, Label, LabelKind, Next, ParserState, PrimitiveKind, Program, RegisterAction,
    Stmt, StmtKind, Table,
};

/// One mutation at one site. Statements, conditions and values are identified by their number in program order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Removes a parser operation.
    DropParserOp(ParserState, usize),
    /// Flips one bit of an arm's value.
    ArmValue(ParserState, usize, usize),
    /// Removes an arm.
    DropArm(ParserState, usize),
    /// Swaps accept and reject in a default transition.
    FlipDefault(ParserState),
    /// Removes a primitive.
    DropPrimitive(Action, usize),
    /// Adds one to a constant that is written.
    ConstOffByOne(Action, usize),
    /// Swaps addition and subtraction.
    SwapAlu(Action, usize),
    /// Swaps validating and invalidating a header.
    FlipValid(Action, usize),
    /// Drops a packet for another reason.
    OtherLabel(Action, usize, Label),
    /// Negates a condition.
    Negate(Gress, usize),
    /// Replaces a comparison by a similar one: `<` by `<=`, `!=` by `==`.
    OtherComparison(Gress, usize, usize),
    /// Adds one to a constant of a condition.
    CondOffByOne(Gress, usize, usize),
    /// Swaps `&&` and `||`.
    SwapAndOr(Gress, usize, usize),
    /// Removes a statement.
    DropStatement(Gress, usize),
    /// Swaps the blocks for hit and miss.
    SwapArms(Gress, usize),
    /// Makes a key column compare another field of the same width.
    WrongKey(Table, usize, Field),
    /// Replaces the default action.
    OtherDefault(Table, Action),
    /// Flips one bit in a column of a constant entry.
    EntryValue(Table, usize, usize),
    /// Removes a constant entry.
    DropEntry(Table, usize),
    /// Removes the computation of a checksum.
    DropChecksum(Gress, usize),
    /// Removes the emission of a header.
    DropEmit(Gress, usize),
    /// Removes a mirror, digest, resubmit or other copy request.
    DropRequest(Gress, usize),
    /// Replaces a field in the list of a request by zeros.
    ClearListItem(Gress, usize, usize),
    /// Lets a request or a checksum ignore its flag; the checksums come after the requests.
    DropWhen(Gress, usize),
    /// Negates a condition of a register action.
    NegateCell(RegisterAction, usize),
    /// Removes a write of a register action.
    DropWrite(RegisterAction, usize),
    /// Removes an output of a register action.
    DropOutput(RegisterAction, usize),
    /// Adds one to a constant of a register action.
    CellOffByOne(RegisterAction, usize),
    /// Removes an input of a hash.
    DropHashInput(Hash, usize),
    /// Flips the lowest bit of a hash's seed.
    HashSeed(Hash),
    /// Swaps two emitted headers.
    SwapEmit(Gress, usize),
    /// Makes every test of a header's validity false.
    NeverValid(Header),
}

impl Edit {
    /// Returns the class of fault, in kebab-case.
    #[must_use]
    pub const fn operator(&self) -> &'static str {
        match self {
            Edit::DropParserOp(..) => "drop-parser-op",
            Edit::ArmValue(..) => "wrong-arm-value",
            Edit::DropArm(..) => "drop-arm",
            Edit::FlipDefault(_) => "flip-parser-default",
            Edit::DropPrimitive(..) => "drop-update",
            Edit::ConstOffByOne(..) => "constant-off-by-one",
            Edit::SwapAlu(..) => "swap-add-sub",
            Edit::FlipValid(..) => "flip-validity",
            Edit::OtherLabel(..) => "wrong-drop-reason",
            Edit::Negate(..) => "negate-condition",
            Edit::OtherComparison(..) => "wrong-comparison",
            Edit::CondOffByOne(..) => "condition-off-by-one",
            Edit::SwapAndOr(..) => "swap-and-or",
            Edit::DropStatement(..) => "drop-statement",
            Edit::SwapArms(..) => "swap-hit-miss",
            Edit::WrongKey(..) => "wrong-key",
            Edit::OtherDefault(..) => "wrong-default-action",
            Edit::EntryValue(..) => "wrong-entry-value",
            Edit::DropEntry(..) => "drop-entry",
            Edit::DropChecksum(..) => "skip-checksum",
            Edit::DropEmit(..) => "drop-emit",
            Edit::DropRequest(..) => "drop-request",
            Edit::ClearListItem(..) => "clear-list-item",
            Edit::DropWhen(..) => "ignore-flag",
            Edit::NegateCell(..) => "swap-salu-predicate",
            Edit::DropWrite(..) => "drop-salu-update",
            Edit::DropOutput(..) => "drop-salu-output",
            Edit::CellOffByOne(..) => "salu-constant-off-by-one",
            Edit::DropHashInput(..) => "drop-hash-input",
            Edit::HashSeed(_) => "wrong-hash",
            Edit::SwapEmit(..) => "swap-emit",
            Edit::NeverValid(_) => "never-valid",
        }
    }

    /// Returns the constant entry that the edit changes; `None` if it changes none.
    pub(super) const fn entry(&self) -> Option<(Table, usize)> {
        match self {
            Edit::EntryValue(table, entry, _) | Edit::DropEntry(table, entry) => Some((*table, *entry)),
            _ => None,
        }
    }

    /// Returns the program with this edit.
    #[must_use]
    pub fn apply(&self, program: &Program) -> Program {
        let mut p = program.clone();
        match self {
            Edit::DropParserOp(state, at) => remove(&mut p.states[*state].ops, *at),
            Edit::ArmValue(state, arm, key) => {
                let arm = p.states[*state].arms.get_mut(*arm);
                if let Some((value, mask)) = arm.and_then(|a| a.values.get_mut(*key)) {
                    *value ^= *mask & mask.wrapping_neg();
                }
            }
            Edit::DropArm(state, arm) => remove(&mut p.states[*state].arms, *arm),
            Edit::FlipDefault(state) => {
                let default = &mut p.states[*state].default;
                *default = if *default == Next::Reject { Next::Accept } else { Next::Reject };
            }
            Edit::DropPrimitive(action, at) => remove(&mut p.actions[*action].body, *at),
            Edit::ConstOffByOne(action, at) => {
                if let Some(
                    PrimitiveKind::Set(_, Expr::Const(v, w))
                    | PrimitiveKind::SetSlice(.., Expr::Const(v, w))
                    | PrimitiveKind::DropCtl(_, Expr::Const(v, w), _),
                ) = primitive(&mut p, *action, *at)
                {
                    *v ^= 1 & width_mask(u32::from(*w));
                }
            }
            Edit::SwapAlu(action, at) => {
                if let Some(PrimitiveKind::Set(_, Expr::Alu(op, ..))) = primitive(&mut p, *action, *at) {
                    *op = if *op == AluOp::Add { AluOp::Sub } else { AluOp::Add };
                }
            }
            Edit::FlipValid(action, at) => {
                if let Some(PrimitiveKind::SetValid(_, valid)) = primitive(&mut p, *action, *at) {
                    *valid = !*valid;
                }
            }
            Edit::OtherLabel(action, at, other) => {
                if let Some(PrimitiveKind::Drop(label)) = primitive(&mut p, *action, *at) {
                    *label = *other;
                }
            }
            Edit::Negate(gress, at) => condition(&mut p, *gress, *at, |cond| {
                *cond = Cond::Not(Box::new(cond.clone()));
            }),
            Edit::OtherComparison(gress, at, n) => condition(&mut p, *gress, *at, |cond| {
                nth_cond(cond, *n, &mut |c| {
                    if let Cond::Cmp(op, ..) = c {
                        *op = other(*op);
                    }
                });
            }),
            Edit::CondOffByOne(gress, at, n) => condition(&mut p, *gress, *at, |cond| {
                nth_cond(cond, *n, &mut |c| {
                    if let Cond::Cmp(_, _, Expr::Const(v, w)) = c {
                        *v = v.wrapping_add(1) & width_mask(u32::from(*w));
                    }
                });
            }),
            Edit::SwapAndOr(gress, at, n) => condition(&mut p, *gress, *at, |cond| {
                nth_cond(cond, *n, &mut |c| {
                    *c = match &*c {
                        Cond::And(a, b) => Cond::Or(a.clone(), b.clone()),
                        Cond::Or(a, b) => Cond::And(a.clone(), b.clone()),
                        c => c.clone(),
                    };
                });
            }),
            Edit::DropStatement(gress, at) => {
                let mut left = *at;
                drop_statement(&mut p.pipes[gress.index()].control, &mut left);
            }
            Edit::SwapArms(gress, at) => statement(&mut p, *gress, *at, |stmt| {
                if let StmtKind::Apply(_, arms) = &mut stmt.kind {
                    std::mem::swap(&mut arms.hit, &mut arms.miss);
                }
            }),
            Edit::WrongKey(table, at, field) => {
                if let Some(key) = p.tables[*table].keys.get_mut(*at) {
                    key.what = KeySource::Field(*field);
                }
            }
            Edit::OtherDefault(table, action) => {
                let args = vec![0; p.actions[*action].params.len()];
                p.tables[*table].default = sluice_ir::ActionCall { action: *action, args };
            }
            Edit::EntryValue(table, entry, column) => {
                let key = p.tables[*table].entries.get_mut(*entry).and_then(|e| e.key.get_mut(*column));
                if let Some(key) = key {
                    flip(key);
                }
            }
            Edit::DropEntry(table, entry) => remove(&mut p.tables[*table].entries, *entry),
            Edit::DropChecksum(gress, at) => remove(&mut p.pipes[gress.index()].deparser.checksums, *at),
            Edit::DropEmit(gress, at) => remove(&mut p.pipes[gress.index()].deparser.emit, *at),
            Edit::SwapEmit(gress, at) => {
                let emit = &mut p.pipes[gress.index()].deparser.emit;
                if at + 1 < emit.len() {
                    emit.swap(*at, at + 1);
                }
            }
            Edit::DropRequest(gress, at) => remove(&mut p.pipes[gress.index()].deparser.requests, *at),
            Edit::ClearListItem(gress, at, item) => {
                let width = |e: &Expr| e.width(program);
                let request = p.pipes[gress.index()].deparser.requests.get_mut(*at);
                if let Some(item) = request.and_then(|r| r.data.get_mut(*item)) {
                    *item = Expr::Const(0, width(item));
                }
            }
            Edit::DropWhen(gress, at) => {
                let deparser = &mut p.pipes[gress.index()].deparser;
                let requests = deparser.requests.iter_mut().map(|r| &mut r.when);
                let sums = deparser.checksums.iter_mut().map(|c| &mut c.when);
                if let Some(when) = requests.chain(sums).nth(*at) {
                    *when = None;
                }
            }
            Edit::NegateCell(action, n) => cell(&mut p, *action, *n, |stmt| {
                if let CellStmtKind::If(cond, ..) = &mut stmt.kind {
                    *cond = CellCond::Not(Box::new(cond.clone()));
                }
            }),
            Edit::DropWrite(action, n) | Edit::DropOutput(action, n) => {
                let mut left = *n;
                drop_cell(&mut p.register_actions[*action].body, &mut left);
            }
            Edit::CellOffByOne(action, n) => cell(&mut p, *action, *n, |stmt| match &mut stmt.kind {
                CellStmtKind::Write(_, v) | CellStmtKind::Output(_, v) => _ = first_const(v),
                CellStmtKind::If(cond, ..) => _ = first_const_of(cond),
                CellStmtKind::Search(_) => {}
            }),
            Edit::DropHashInput(hash, at) => remove(&mut p.hashes[*hash].inputs, *at),
            Edit::HashSeed(hash) => p.hashes[*hash].seed ^= 1,
            Edit::NeverValid(header) => {
                for pipe in &mut p.pipes {
                    never_valid(&mut pipe.control, *header);
                }
            }
        }
        p
    }
}

fn remove<T>(list: &mut Vec<T>, at: usize) {
    if at < list.len() {
        list.remove(at);
    }
}

fn primitive(p: &mut Program, action: Action, at: usize) -> Option<&mut PrimitiveKind> {
    p.actions[action].body.get_mut(at).map(|primitive| &mut primitive.kind)
}

/// Changes the values that a column matches: flips a bit, shortens a prefix by one bit, or raises a range's lower
/// bound.
fn flip(key: &mut KeyValue) {
    match key {
        KeyValue::Exact(v) => *v ^= 1,
        KeyValue::Ternary { value, mask } => *value ^= *mask & mask.wrapping_neg(),
        KeyValue::Lpm { len: 0, .. } => {}
        KeyValue::Lpm { len, .. } => *len -= 1,
        KeyValue::Range { lo, hi } => *lo = (*lo + 1).min(*hi),
    }
}

const fn other(op: CmpOp) -> CmpOp {
    match op {
        CmpOp::Eq => CmpOp::Ne,
        CmpOp::Ne => CmpOp::Eq,
        CmpOp::Lt => CmpOp::Le,
        CmpOp::Le => CmpOp::Lt,
        CmpOp::Gt => CmpOp::Ge,
        CmpOp::Ge => CmpOp::Gt,
    }
}

/// Calls `visit` for every statement in order; nested statements come after the statement that contains them.
pub(super) fn statements<'a>(block: &'a Block, visit: &mut impl FnMut(&'a Stmt)) {
    for stmt in block {
        visit(stmt);
        match &stmt.kind {
            StmtKind::If(_, then, otherwise) => {
                statements(then, visit);
                statements(otherwise, visit);
            }
            StmtKind::Apply(_, ApplyArms { hit, miss, run }) => {
                statements(hit, visit);
                statements(miss, visit);
                run.iter().for_each(|(_, block)| statements(block, visit));
            }
            StmtKind::Call(_) => {}
        }
    }
}

fn statements_mut(block: &mut Block, visit: &mut impl FnMut(&mut Stmt)) {
    for stmt in block {
        visit(stmt);
        match &mut stmt.kind {
            StmtKind::If(_, then, otherwise) => {
                statements_mut(then, visit);
                statements_mut(otherwise, visit);
            }
            StmtKind::Apply(_, ApplyArms { hit, miss, run }) => {
                statements_mut(hit, visit);
                statements_mut(miss, visit);
                run.iter_mut().for_each(|(_, block)| statements_mut(block, visit));
            }
            StmtKind::Call(_) => {}
        }
    }
}

fn statement(p: &mut Program, gress: Gress, at: usize, mut change: impl FnMut(&mut Stmt)) {
    let mut n = 0;
    statements_mut(&mut p.pipes[gress.index()].control, &mut |stmt| {
        if n == at {
            change(stmt);
        }
        n += 1;
    });
}

fn condition(p: &mut Program, gress: Gress, at: usize, mut change: impl FnMut(&mut Cond)) {
    statement(p, gress, at, |stmt| {
        if let StmtKind::If(cond, ..) = &mut stmt.kind {
            change(cond);
        }
    });
}

/// Removes the statement `left` statements further on; returns true if it was removed.
fn drop_statement(block: &mut Block, left: &mut usize) -> bool {
    for at in 0..block.len() {
        if *left == 0 {
            block.remove(at);
            return true;
        }
        *left -= 1;
        let dropped = match &mut block[at].kind {
            StmtKind::If(_, then, otherwise) => drop_statement(then, left) || drop_statement(otherwise, left),
            StmtKind::Apply(_, ApplyArms { hit, miss, run }) => {
                drop_statement(hit, left)
                    || drop_statement(miss, left)
                    || run.iter_mut().any(|(_, block)| drop_statement(block, left))
            }
            StmtKind::Call(_) => false,
        };
        if dropped {
            return true;
        }
    }
    false
}

fn never_valid(block: &mut Block, header: Header) {
    statements_mut(block, &mut |stmt| {
        if let StmtKind::If(cond, ..) = &mut stmt.kind {
            never_in(cond, header);
        }
    });
}

fn never_in(cond: &mut Cond, header: Header) {
    match cond {
        Cond::Valid(h) if *h == header => {
            let one = || Box::new(Cond::Valid(header));
            *cond = Cond::And(one(), Box::new(Cond::Not(one())));
        }
        Cond::Cmp(..) | Cond::Valid(_) => {}
        Cond::Not(a) => never_in(a, header),
        Cond::And(a, b) | Cond::Or(a, b) => {
            never_in(a, header);
            never_in(b, header);
        }
    }
}

/// Returns the subconditions of a condition in order, the condition itself first.
pub(super) fn parts(cond: &Cond) -> Vec<&Cond> {
    let mut list = vec![cond];
    match cond {
        Cond::Cmp(..) | Cond::Valid(_) => {}
        Cond::Not(a) => list.extend(parts(a)),
        Cond::And(a, b) | Cond::Or(a, b) => {
            list.extend(parts(a));
            list.extend(parts(b));
        }
    }
    list
}

fn nth_cond(cond: &mut Cond, n: usize, change: &mut impl FnMut(&mut Cond)) {
    fn walk(cond: &mut Cond, left: &mut Option<usize>, change: &mut impl FnMut(&mut Cond)) {
        match left {
            None => return,
            Some(0) => {
                *left = None;
                return change(cond);
            }
            Some(n) => *n -= 1,
        }
        match cond {
            Cond::Cmp(..) | Cond::Valid(_) => {}
            Cond::Not(a) => walk(a, left, change),
            Cond::And(a, b) | Cond::Or(a, b) => {
                walk(a, left, change);
                walk(b, left, change);
            }
        }
    }
    walk(cond, &mut Some(n), change);
}

fn cells_mut(body: &mut [CellStmt], visit: &mut impl FnMut(&mut CellStmt)) {
    for stmt in body {
        visit(stmt);
        if let CellStmtKind::If(_, then, otherwise) = &mut stmt.kind {
            cells_mut(then, visit);
            cells_mut(otherwise, visit);
        }
    }
}

fn cell(p: &mut Program, action: RegisterAction, at: usize, mut change: impl FnMut(&mut CellStmt)) {
    let mut n = 0;
    cells_mut(&mut p.register_actions[action].body, &mut |stmt| {
        if n == at {
            change(stmt);
        }
        n += 1;
    });
}

fn drop_cell(body: &mut Vec<CellStmt>, left: &mut usize) -> bool {
    for at in 0..body.len() {
        if *left == 0 {
            body.remove(at);
            return true;
        }
        *left -= 1;
        if let CellStmtKind::If(_, then, otherwise) = &mut body[at].kind
            && (drop_cell(then, left) || drop_cell(otherwise, left))
        {
            return true;
        }
    }
    false
}

/// Adds one to the first constant of a value; returns false if it has none.
fn first_const(value: &mut CellValue) -> bool {
    match value {
        CellValue::Const(c) => {
            *c = if *c == 0 { 1 } else { *c - 1 };
            true
        }
        CellValue::Op(_, a, b) | CellValue::Quotient(a, b) | CellValue::Remainder(a, b) => {
            first_const(a) || first_const(b)
        }
        CellValue::Math(_, a) => first_const(a),
        CellValue::Predicate(conds) => conds.iter_mut().any(first_const_of),
        _ => false,
    }
}

fn first_const_of(cond: &mut CellCond) -> bool {
    match cond {
        CellCond::Cmp(_, _, a, b) => first_const(a) || first_const(b),
        CellCond::Not(a) => first_const_of(a),
        CellCond::And(a, b) | CellCond::Or(a, b) => first_const_of(a) || first_const_of(b),
        CellCond::Match(_, value, _) => first_const(value),
    }
}

/// Returns true if both labels mean a loss, or neither does.
pub(super) fn same_kind(program: &Program, a: Label, b: Label) -> bool {
    let kind = |l: Label| program.labels[l].kind == LabelKind::Drop;
    kind(a) == kind(b)
}
