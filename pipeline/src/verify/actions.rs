//! Rules of action bodies: what one VLIW instruction can do (facts: asic §2.2). What may not live here:
//! containers.

use super::Diag;
use crate::flow::Var;
use crate::ir::{ActionData, CounterHome, Expr, Home, Loc, Primitive, PrimitiveKind, Program};
use sluice_asic::alu::AluClass;

/// Checks all actions.
pub(super) fn check(program: &Program) -> Vec<Diag> {
    let mut diags = Vec::new();
    for data in program.actions.values() {
        let mut written: Vec<(Var, Loc)> = Vec::new();
        for step in &data.body {
            primitive(program, data, step, &mut diags);
            order(program, data, step, &mut written, &mut diags);
        }
    }
    diags
}

fn primitive(program: &Program, data: &ActionData, step: &Primitive, diags: &mut Vec<Diag>) {
    match &step.kind {
        PrimitiveKind::Set(dst, value) => {
            let field = &program.fields[*dst];
            if let Home::Intrinsic(which) = field.home
                && !which.info().writable
            {
                let text = format!("action `{}` writes `{}`, which is read-only", data.name, field.name);
                diags.push(Diag::error(step.loc, text).help("copy it to a metadata field and change that"));
            }
            let width = value.width(program);
            if width != field.width {
                let text = format!(
                    "action `{}` sets `{}` of {} bits from a value of {width} bits",
                    data.name, field.name, field.width
                );
                diags.push(Diag::error(step.loc, text).help("cast or slice the value"));
            }
            instruction(program, data, value, step.loc, diags);
        }
        PrimitiveKind::Hash(dst, hash) => {
            let (field, hash) = (&program.fields[*dst], &program.hashes[*hash]);
            if field.width != hash.width {
                let text =
                    format!("`{}` has {} bits, hash `{}` {}", field.name, field.width, hash.name, hash.width);
                diags.push(Diag::error(step.loc, text).help("give the hash the width of the field"));
            }
        }
        PrimitiveKind::Count(counter, index) => {
            if matches!(program.counters[*counter].home, CounterHome::Direct(_)) {
                let text = format!("direct counter `{}` is given an index", program.counters[*counter].name);
                diags.push(Diag::error(step.loc, text).help("a direct counter counts the matched entry"));
            }
            leaf(program, data, index, step.loc, diags);
        }
        PrimitiveKind::CountDirect(counter) => {
            let c = &program.counters[*counter];
            let own = |t| {
                crate::flow::table_actions(program, t).iter().any(|a| program.actions[*a].name == data.name)
            };
            if !matches!(c.home, CounterHome::Direct(t) if own(t)) {
                let text =
                    format!("action `{}` counts on `{}`, a counter of another table", data.name, c.name);
                diags.push(
                    Diag::error(step.loc, text).help("count only on the counter of the table that runs it"),
                );
            }
        }
        PrimitiveKind::SetValid(..) | PrimitiveKind::Drop(_) => {}
    }
}

/// A leaf, or one operation on two leaves.
fn instruction(program: &Program, data: &ActionData, value: &Expr, at: Loc, diags: &mut Vec<Diag>) {
    let Expr::Alu(op, a, b) = value else {
        leaf(program, data, value, at, diags);
        return;
    };
    leaf(program, data, a, at, diags);
    leaf(program, data, b, at, diags);
    let (wa, wb) = (a.width(program), b.width(program));
    if op.class() == AluClass::Shift {
        if !matches!(**b, Expr::Const(..)) {
            let text = format!("action `{}` shifts by an amount that is no constant", data.name);
            diags.push(Diag::error(at, text).help("use a table that maps the amount to actions"));
        }
    } else if wa != wb {
        let text = format!("action `{}`: `{op}` of {wa} and {wb} bits", data.name);
        diags.push(Diag::error(at, text).help("cast or slice one of them"));
    }
}

fn leaf(program: &Program, data: &ActionData, e: &Expr, at: Loc, diags: &mut Vec<Diag>) {
    match e {
        Expr::Alu(..) => {
            let text =
                format!("action `{}` asks one ALU for more than one operation on two operands", data.name);
            diags.push(Diag::error(at, text).help("compute the inner value in an earlier action"));
        }
        Expr::Slice(inner, hi, lo) => {
            if hi < lo || *hi >= inner.width(program) {
                let text =
                    format!("action `{}` slices [{hi}:{lo}] of {} bits", data.name, inner.width(program));
                diags.push(Diag::error(at, text).help("slices are [high:low] within the value"));
            }
            leaf(program, data, inner, at, diags);
        }
        Expr::Cast(inner, _) => leaf(program, data, inner, at, diags),
        Expr::Const(v, w) => {
            if !(1..=128).contains(w) || v & !sluice_asic::alu::width_mask(u32::from(*w)) != 0 {
                let text = format!("action `{}`: {v:#x} does not fit {w} bits", data.name);
                diags.push(Diag::error(at, text).help("use a smaller constant or a wider field"));
            }
        }
        Expr::Param(i, w) => {
            let width = data.params.get(usize::from(*i)).map(|p| p.width);
            if width != Some(*w) {
                let text = format!("action `{}` has no parameter {i} of {w} bits", data.name);
                diags.push(Diag::error(at, text).help("declare the parameter"));
            }
        }
        Expr::Field(_) => {}
    }
}

/// All instructions of an action read the PHV before any of them writes it.
fn order(
    program: &Program,
    data: &ActionData,
    step: &Primitive,
    written: &mut Vec<(Var, Loc)>,
    diags: &mut Vec<Diag>,
) {
    let mut reads = Vec::new();
    let write = match &step.kind {
        PrimitiveKind::Set(dst, value) => {
            value.fields(&mut |f| reads.push(Var::Field(f)));
            Some(Var::Field(*dst))
        }
        PrimitiveKind::SetValid(h, _) => Some(Var::Valid(*h)),
        PrimitiveKind::Hash(dst, hash) => {
            program.hashes[*hash].inputs.iter().for_each(|e| e.fields(&mut |f| reads.push(Var::Field(f))));
            Some(Var::Field(*dst))
        }
        PrimitiveKind::Count(_, index) => {
            index.fields(&mut |f| reads.push(Var::Field(f)));
            None
        }
        PrimitiveKind::CountDirect(_) | PrimitiveKind::Drop(_) => None,
    };
    let clash = |var: &Var| written.iter().find(|(w, _)| w == var).map(|(_, at)| *at);
    for (var, word) in reads.iter().map(|v| (v, "reads")).chain(write.iter().map(|v| (v, "writes"))) {
        if let Some(first) = clash(var) {
            let text = format!("action `{}` {word} `{}` after writing it", data.name, var.name(program));
            let diag = Diag::error(step.loc, text).also(first, "written here");
            diags.push(
                diag.help("all instructions of an action read before any writes: split it into two actions"),
            );
        }
    }
    written.extend(write.map(|v| (v, step.loc)));
}
