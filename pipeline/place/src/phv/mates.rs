//! Bits of a header that share a byte with bits that the parser copies there.
//!
//! An extractor copies whole bytes, so the copied bits come with the bits of the packet beside them. That does no harm where
//! nothing of the gress reads the bits that they reach (padding, which the chip sends as it came and Sluice as it should be),
//! where the state sets these bits to ones, and where it copies the very same bits.

use super::demand::Demand;
use super::landing::Landing;
use sluice_ir::entity::EntityMap;
use sluice_ir::{Expr, Field, Home, ParserOpKind, Program};

/// Returns the first and the last bit but one of a header that a copy of bits to it reaches with its whole bytes; `None` if the copy
/// goes elsewhere, or to other places in their bytes.
pub(super) fn reach(program: &Program, landing: &Landing) -> Option<(u32, u32)> {
    let data = &program.fields[landing.to];
    let Home::Header(header) = data.home else { return None };
    let end = program.field_offset(header, landing.to)? + u32::from(data.width - landing.lo);
    let start = end - u32::from(landing.width);
    let below = (8 - end % 8) % 8;
    (below == u32::from(landing.bit)).then_some((start / 8 * 8, end.next_multiple_of(8)))
}

/// Returns a field that the bits beside a copied part of a byte would change; `None` if there is none.
pub(super) fn harmed(
    program: &Program,
    landings: &[Landing],
    demands: &EntityMap<Field, Demand>,
    landing: &Landing,
) -> Option<Field> {
    let Some((from, to)) = reach(program, landing) else { return Some(landing.to) };
    let Home::Header(header) = program.fields[landing.to].home else { return Some(landing.to) };
    if landing.width != program.fields[landing.to].width {
        return Some(landing.to);
    }
    let mut start = 0;
    program.headers[header].fields.iter().copied().find(|&f| {
        let end = start + u32::from(program.fields[f].width);
        let beside = f != landing.to && start < to && from < end;
        start = end;
        beside && !is_free(program, landings, &demands[f], f, landing)
    })
}

fn is_free(
    program: &Program,
    landings: &[Landing],
    demand: &Demand,
    field: Field,
    landing: &Landing,
) -> bool {
    let dead = demand.passes_through() && demand.sums.is_empty() && !demand.listed && !demand.shared;
    let ones = program.states[landing.state].ops.iter().any(|op| match op.kind {
        ParserOpKind::Set(to, Expr::Const(value, width)) => {
            to == field && value.count_ones() == u32::from(width)
        }
        _ => false,
    });
    let same = landings.iter().any(|l| {
        let whole = l.to == field && l.width == program.fields[field].width;
        whole
            && l.state == landing.state
            && l.moved(program).is_some()
            && l.moved(program) == landing.moved(program)
    });
    dead && !super::overlay::in_parser(program, field) && !sent_on(program, field) || ones || same
}

/// Returns true if a parser copies the field to another one, or a request sends it.
fn sent_on(program: &Program, field: Field) -> bool {
    let ops = program.states.values().flat_map(|s| &s.ops);
    let copied = ops.filter_map(|op| op.kind.write()?.source()).any(|(from, _)| from == field);
    let mut sent = false;
    for request in program.pipes.iter().flat_map(|p| &p.deparser.requests) {
        request.fields(&mut |f| sent |= f == field);
    }
    copied || sent
}
