//! Parts of a program for which P4 has no words.

use super::register::cell_op;
use super::value::form;
use sluice_asic::salu::Sense;
use sluice_ir::exchange::exchanged;
use sluice_ir::{
    CellCond, CellStmt, CellStmtKind, CellValue, CounterData, Expr, Loc, ParserOpKind, PrimitiveKind,
    Program, Request, RequestKind, list_header,
};

/// A part of a program that P4 cannot say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwritable {
    /// The part, by its name.
    pub what: String,
    /// The place in the program's source.
    pub at: Loc,
}

impl std::fmt::Display for Unwritable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)
    }
}

/// Returns all such parts of a program.
pub(super) fn all(p: &Program) -> Vec<Unwritable> {
    let mut found = Vec::new();
    let mut add = |what: String, at: Loc| found.push(Unwritable { what, at });
    for action in p.actions.values() {
        if !exchanged(p, &action.body).is_empty() {
            add(format!("action `{}`: an exchange of values of fields", action.name), action.loc);
        }
        for primitive in &action.body {
            if let Some(what) = primitive_without(p, &primitive.kind) {
                add(format!("action `{}`: {what}", action.name), primitive.loc);
            }
        }
    }
    for action in p.register_actions.values() {
        action.statements(&mut |stmt| {
            if let Some(what) = cell_without(&stmt.kind) {
                add(format!("register action `{}`: {what}", action.name), stmt.loc);
            }
        });
        if let Some(at) = changed_read(&action.body, &mut [false; 2]) {
            let what = "a half that is compared or computed with after it was written";
            add(format!("register action `{}`: {what}", action.name), at);
        }
    }
    for state in p.states.values() {
        for what in state.arms.iter().filter_map(|arm| super::value_set::without(p, state, arm)) {
            add(format!("state `{}`: {what}", state.name), state.loc);
        }
        for op in &state.ops {
            if matches!(op.kind, ParserOpKind::SubtractChecksum(..)) {
                add(format!("state `{}`: a residual checksum", state.name), op.loc);
            }
        }
    }
    for counter in p.counters.values().filter(|counter| !usual(counter)) {
        add(format!("counter `{}`: a format or an adjustment of its cells", counter.name), counter.loc);
    }
    for meter in p.meters.values().filter(|meter| meter.adjust != 0) {
        add(format!("meter `{}`: an adjustment of lengths", meter.name), meter.loc);
    }
    if super::parser::resubmitted(p).is_none() {
        add("a resubmit with data that the parser does not extract first".to_owned(), Loc::default());
    }
    for pipe in &p.pipes {
        for update in pipe.deparser.checksums.iter().filter(|update| update.when.is_some()) {
            add("a checksum that a flag decides".to_owned(), update.loc);
        }
        for request in &pipe.deparser.requests {
            if let Some(what) = request_without(p, request) {
                add(what.to_owned(), request.loc);
            }
        }
    }
    for shared in super::ghost::Ghost::of(p).shared {
        add(format!("the ghost control uses {shared}"), Loc::default());
    }
    found
}

fn usual(counter: &CounterData) -> bool {
    counter.cell == sluice_ir::CounterCell::default()
}

fn request_without(p: &Program, request: &Request) -> Option<&'static str> {
    let is_header = list_header(p, &request.data).is_some();
    match request.kind {
        _ if request.when.is_some() => Some("a type of requests that a flag decides"),
        RequestKind::Digest if !is_header => Some("a digest of something other than a header"),
        RequestKind::Resubmit if !is_header && !request.data.is_empty() => {
            Some("a resubmit with a list of fields")
        }
        RequestKind::Pktgen if !is_header => Some("a trigger of the packet generator without a header"),
        _ => None,
    }
}

fn primitive_without(p: &Program, kind: &PrimitiveKind) -> Option<String> {
    match kind {
        PrimitiveKind::SetMasked(..) => Some("a write under a mask".to_owned()),
        PrimitiveKind::CopyValid(..) => Some("a copy of the validity of a header".to_owned()),
        PrimitiveKind::Set(_, value) => operation_without(value),
        PrimitiveKind::Register(access) if access.outputs.iter().any(|(word, _)| *word > 1) => {
            let name = &p.register_actions[access.action].name;
            Some(format!("the third or fourth word of `{name}`"))
        }
        _ => None,
    }
}

fn operation_without(value: &Expr) -> Option<String> {
    match value {
        Expr::Alu(op, a, b) if form(*op).is_some() => operation_without(a).or_else(|| operation_without(b)),
        Expr::Alu(op, ..) => Some(format!("the instruction `{op}`")),
        Expr::Slice(inner, ..) | Expr::Cast(inner, _) => operation_without(inner),
        Expr::Const(..) | Expr::Field(_) | Expr::Param(..) | Expr::Funnel(..) => None,
    }
}

fn cell_without(kind: &CellStmtKind) -> Option<String> {
    match kind {
        CellStmtKind::Search(_) => Some("a search of lanes".to_owned()),
        CellStmtKind::Output(word, _) if *word > 1 => Some("a third or fourth output word".to_owned()),
        CellStmtKind::Write(_, value) | CellStmtKind::Output(_, value) => value_without(value),
        CellStmtKind::If(cond, ..) => cond_without(cond),
    }
}

/// Returns the first statement that compares or computes with a half that was written before: in P4 for these chips, that is
/// the value before the access. `written` are the halves written so far.
fn changed_read(body: &[CellStmt], written: &mut [bool; 2]) -> Option<Loc> {
    let reads = |value: &CellValue, written: &[bool; 2]| {
        let mut found = false;
        value.halves(&mut |half| found |= written[half as usize]);
        found
    };
    for stmt in body {
        match &stmt.kind {
            CellStmtKind::Write(half, value) => {
                if reads(value, written) {
                    return Some(stmt.loc);
                }
                written[*half as usize] = true;
            }
            CellStmtKind::Output(_, CellValue::Half(_)) | CellStmtKind::Search(_) => {}
            CellStmtKind::Output(_, value) => {
                if reads(value, written) {
                    return Some(stmt.loc);
                }
            }
            CellStmtKind::If(cond, then, otherwise) => {
                let mut found = false;
                cond.values(&mut |value| found |= reads(value, written));
                if found {
                    return Some(stmt.loc);
                }
                let mut other = *written;
                let inside = changed_read(then, written).or_else(|| changed_read(otherwise, &mut other));
                if inside.is_some() {
                    return inside;
                }
                written.iter_mut().zip(other).for_each(|(now, other)| *now |= other);
            }
        }
    }
    None
}

fn value_without(value: &CellValue) -> Option<String> {
    match value {
        CellValue::Op(op, a, b) if cell_op(*op) => value_without(a).or_else(|| value_without(b)),
        CellValue::Op(op, ..) => Some(format!("the instruction `{op}`")),
        CellValue::Lane(_) => Some("a lane".to_owned()),
        CellValue::Math(_, inner) => value_without(inner),
        CellValue::Quotient(a, b) | CellValue::Remainder(a, b) => {
            value_without(a).or_else(|| value_without(b))
        }
        CellValue::Predicate(conds) => conds.iter().find_map(cond_without),
        CellValue::Const(_)
        | CellValue::Half(_)
        | CellValue::Old(_)
        | CellValue::Phv(_)
        | CellValue::Address
        | CellValue::Hash(_)
        | CellValue::Param(_) => None,
    }
}

fn cond_without(cond: &CellCond) -> Option<String> {
    let computed = |value: &CellValue| matches!(value, CellValue::Op(..));
    let zero = |value: &CellValue| *value == CellValue::Const(0);
    match cond {
        CellCond::Cmp(op, Sense::Signed, a, b)
            if op.orders() && (computed(a) || computed(b)) && (zero(a) || zero(b)) =>
        {
            Some("a signed order of a sum and 0".to_owned())
        }
        CellCond::Cmp(_, _, a, b) => value_without(a).or_else(|| value_without(b)),
        CellCond::Not(inner) => cond_without(inner),
        CellCond::And(a, b) | CellCond::Or(a, b) => cond_without(a).or_else(|| cond_without(b)),
        CellCond::Match(..) => Some("a comparison under a mask".to_owned()),
    }
}
