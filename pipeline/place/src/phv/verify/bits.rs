//! Rules about coordinates: every used bit has exactly one place, in a container that exists.

use super::{Held, View};
use sluice_asic::gress::Gress;
use sluice_asic::phv::Container;
use sluice_ir::cfg::{Var, used_vars};
use sluice_ir::verify::Diag;
use sluice_ir::{Field, Header, Home};

pub(super) fn check(view: &View) -> Vec<Diag> {
    let mut found = Vec::new();
    for (container, held) in &view.held {
        found.extend(inside(view, *container, held));
        found.extend(overlap(view, *container, held));
    }
    let used: Vec<Var> = Gress::ALL.into_iter().flat_map(|g| used_vars(view.program, g)).collect();
    for field in view.program.fields.keys() {
        found.extend(covered(view, field, used.contains(&Var::Field(field))));
    }
    for header in view.program.headers.keys() {
        let needed = used.contains(&Var::Valid(header));
        if needed != view.allocation.valid[header].is_some() {
            let what = if needed { "no validity bit" } else { "a validity bit that nothing uses" };
            let text = format!("header `{}` has {what}", view.program.headers[header].name);
            found.push(view.error(Var::Valid(header), text));
        }
        let mut requests = view.program.pipes.iter().flat_map(|p| &p.deparser.requests);
        let sent = requests.any(|r| r.carries(view.program, header));
        if found.is_empty() && (needed || sent) {
            found.extend(wire_order(view, header));
        }
    }
    found
}

/// Checks that the container exists and is wide enough.
fn inside(view: &View, container: Container, held: &[Held]) -> Vec<Diag> {
    let size = view.info(container).map_or(0, |i| i.size.bits());
    let outside = held.iter().filter(|h| u32::from(h.at) + u32::from(h.width) > size || h.width == 0);
    let diag = |h: &Held| {
        let text = format!(
            "{} has {} bits at bit {} of {}, which has {size} bits",
            view.var(h.var),
            h.width,
            h.at,
            view.name(container)
        );
        view.error(h.var, text)
    };
    outside.map(diag).collect()
}

/// Checks that no bit is used twice, except by metadata fields at the same bits and by two headers (see `headers`).
fn overlap(view: &View, container: Container, held: &[Held]) -> Option<Diag> {
    let pairs = held.iter().enumerate().flat_map(|(i, a)| held[i + 1..].iter().map(move |b| (a, b)));
    let turns = |a: &Held, b: &Held| {
        [a, b].iter().all(|h| view.home(h.var) == Some(Home::Metadata))
            && (a.lo, a.width, a.at) == (b.lo, b.width, b.at)
    };
    let (a, b) = pairs
        .into_iter()
        .find(|(a, b)| a.meets(b) && !turns(a, b) && super::headers::headers(view, a, b).is_none())?;
    let text = format!("{} and {} overlap in {}", view.var(a.var), view.var(b.var), view.name(container));
    Some(view.error(a.var, text).also(view.loc(b.var), "the other"))
}

/// Checks that the slices of a used field follow each other from the most significant bit down to bit 0.
fn covered(view: &View, field: Field, used: bool) -> Option<Diag> {
    let slices = view.allocation.slices(field);
    let mut next = if used { view.program.fields[field].width } else { 0 };
    for s in slices {
        if s.lo + s.width != next {
            let text = format!(
                "{} has bits {}..{} in {} where bit {} should end",
                view.var(Var::Field(field)),
                s.lo,
                s.lo + s.width,
                view.name(s.container),
                next
            );
            return Some(view.error(Var::Field(field), text));
        }
        next = s.lo;
    }
    let text = format!("{} has no container for its low {next} bits", view.var(Var::Field(field)));
    (next != 0).then(|| view.error(Var::Field(field), text))
}

/// Checks that whole containers cover a header's bytes in wire order. They hold nothing else, because one packet uses
/// no bit twice.
fn wire_order(view: &View, header: Header) -> Option<Diag> {
    let data = &view.program.headers[header];
    let mut wire: Vec<(Container, u32, Field)> = Vec::new();
    for &f in &data.fields {
        for s in view.allocation.slices(f) {
            let bits = (0..u32::from(s.width)).rev();
            wire.extend(bits.map(|b| (s.container, u32::from(s.at) + b, f)));
        }
    }
    let mut at = 0;
    while at < wire.len() {
        let (container, _, field) = wire[at];
        let size = view.info(container).map_or(8, |i| i.size.bits());
        for i in 0..size {
            let expected = size - 1 - i;
            if wire.get(at + i as usize).is_none_or(|(c, bit, _)| (*c, *bit) != (container, expected)) {
                let text = format!(
                    "bytes {}.. of header `{}` are not the whole of {} in wire order",
                    at / 8,
                    data.name,
                    view.name(container)
                );
                return Some(view.error(Var::Field(field), text).also(data.loc, "the header"));
            }
        }
        at += size as usize;
    }
    None
}
