//! Bits of a container of a header beside those that a parser state copies there: the packet's bits reach them, too.

use super::View;
use sluice_ir::cfg::Var;
use sluice_ir::verify::Diag;
use sluice_ir::{Expr, Field, Home, Loc, ParserOpKind, ParserState};

/// Returns a finding if a copy of bits to a field of a header changes bits beside it that count.
pub(super) fn check(view: &View, state: ParserState, dst: Field, loc: Loc) -> Option<Diag> {
    let shift = moved(view, state, dst);
    for s in view.allocation.slices(dst) {
        for other in view.held.get(&s.container).into_iter().flatten() {
            let Var::Field(f) = other.var else { continue };
            let same = shift.is_some() && moved(view, state, f) == shift;
            if f == dst || same || is_ones(view, state, f) || !is_read(view, f) {
                continue;
            }
            let text = format!(
                "{} is copied by the parser with the bits beside it, which changes {}",
                view.var(Var::Field(dst)),
                view.var(Var::Field(f))
            );
            return Some(view.error(Var::Field(dst), text).also(loc, "the copy"));
        }
    }
    None
}

/// Returns the distance in bits over which a state moves a whole field of a header, with the field's source; `None` if it does not.
fn moved(view: &View, state: ParserState, field: Field) -> Option<(sluice_ir::Header, i64)> {
    let program = view.program;
    let start = |f: Field| match program.fields[f].home {
        Home::Header(h) => program.field_offset(h, f).map(|at| (h, i64::from(at))),
        _ => None,
    };
    let (_, to) = start(field)?;
    program.states[state].ops.iter().find_map(|op| {
        let ParserOpKind::Set(dst, value) = &op.kind else { return None };
        let (source, above) = match value {
            Expr::Field(f) => (*f, 0),
            Expr::Slice(inner, hi, _) => match **inner {
                Expr::Field(f) => (f, program.fields[f].width - 1 - hi),
                _ => return None,
            },
            _ => return None,
        };
        let (header, from) = start(source)?;
        (*dst == field).then_some((header, from + i64::from(above) - to))
    })
}

fn is_ones(view: &View, state: ParserState, field: Field) -> bool {
    view.program.states[state].ops.iter().any(|op| match &op.kind {
        ParserOpKind::Set(dst, Expr::Const(value, width)) => {
            *dst == field && (0..*width).all(|bit| value >> bit & 1 == 1)
        }
        _ => false,
    })
}

/// Returns true if something other than the emission of its header reads or writes a field.
fn is_read(view: &View, field: Field) -> bool {
    let (program, var) = (view.program, Var::Field(field));
    let cfg = &view.cfgs[program.fields[field].gress.index()];
    let in_nodes = cfg.nodes.keys().any(|n| {
        let e = cfg.effects(program, n);
        e.match_reads.iter().chain(&e.action_reads).chain(&e.writes).any(|v| *v == var)
    });
    let in_states = program.states.values().any(|s| {
        s.select.iter().filter_map(|key| key.field()).any(|f| f == field)
            || s.ops.iter().any(|op| match &op.kind {
                ParserOpKind::VerifyChecksum(_, inputs) | ParserOpKind::SubtractChecksum(_, inputs) => {
                    inputs.contains(&Expr::Field(field))
                }
                kind => kind.write().is_some_and(|w| w.source().is_some_and(|(from, _)| from == field)),
            })
    });
    let in_sums = program
        .pipes
        .iter()
        .flat_map(|p| &p.deparser.checksums)
        .any(|c| c.field == field || c.inputs.iter().any(|e| matches!(e, Expr::Field(f) if *f == field)));
    let mut sent = false;
    for request in program.pipes.iter().flat_map(|p| &p.deparser.requests) {
        request.fields(&mut |f| sent |= f == field);
    }
    in_nodes || in_states || in_sums || sent
}
