//! Rules about variables that share a container or a gress group. That two nodes which write one container are in different
//! stages is a rule of the table placement.

use super::View;
use sluice_asic::gress::Gress;
use sluice_asic::phv::{Container, ContainerKind};
use sluice_ir::cfg::Var;
use sluice_ir::verify::Diag;
use sluice_ir::{Field, Header, Home, ParserOpKind, ParserState};
use std::collections::BTreeMap;

pub(super) fn check(view: &View) -> Vec<Diag> {
    let mut found = gresses(view);
    for (field, data) in view.program.fields.iter() {
        let kind = match data.home {
            Home::Intrinsic(_) => "an intrinsic field",
            Home::PortMetadata => "port metadata",
            Home::Header(_) | Home::Metadata => continue,
        };
        found.extend(alone(view, field, &format!("is {kind}, which needs separate containers")));
    }
    found.extend(validity(view));
    found.extend(checksums(view));
    found.extend(copies(view));
    found
}

/// Checks that a container and a gress group have one gress, the wired one if there is one, and that two 8-bit
/// containers that the parser sees as one have the same gress.
fn gresses(view: &View) -> Vec<Diag> {
    let mut found = Vec::new();
    let mut groups: BTreeMap<u16, (Gress, Container, Var)> = BTreeMap::new();
    let mut owners: BTreeMap<Container, Gress> = BTreeMap::new();
    for (&container, held) in &view.held {
        let Some(info) = view.info(container) else { continue };
        for h in held {
            let gress = view.gress(h.var);
            let name = view.name(container);
            let (first, other, var) = *groups.entry(info.gress_group).or_insert((gress, container, h.var));
            if first != gress {
                let text = format!(
                    "{} of {gress} is in {name}, whose gress group belongs to {first} ({} is in {})",
                    view.var(h.var),
                    view.var(var),
                    view.name(other)
                );
                found.push(view.error(h.var, text).also(view.loc(var), "the other gress"));
            }
            if info.hard_wired.is_some_and(|wired| wired != gress) {
                found.push(view.error(
                    h.var,
                    format!("{} of {gress} is in {name}, wired to the other gress", view.var(h.var)),
                ));
            }
            owners.insert(container, gress);
        }
    }
    for (&container, gress) in &owners {
        let partner = view.inventory.parser_partner(container).and_then(|p| owners.get(&p).map(|g| (p, g)));
        if let Some((p, _)) = partner.filter(|(p, g)| container < *p && *g != gress) {
            let text = format!(
                "PHV: {} and {} share a parser container but not a gress",
                view.name(container),
                view.name(p)
            );
            found.push(Diag::error(sluice_ir::Loc::default(), text));
        }
    }
    found
}

fn alone(view: &View, field: Field, why: &str) -> Option<Diag> {
    let var = Var::Field(field);
    let (container, other) = view.shared(var)?;
    let text =
        format!("{} {why}, but shares {} with {}", view.var(var), view.name(container), view.var(other));
    Some(view.error(var, text).also(view.loc(other), "the other"))
}

/// Checks the number of validity bits, and that they are in normal containers that hold nothing else.
fn validity(view: &View) -> Vec<Diag> {
    let mut found = Vec::new();
    let limit = view.chip.phv.pov_bits.min(view.chip.deparser.pov_bits);
    for gress in Gress::ALL {
        let of_gress = |h: &sluice_ir::Header| view.program.headers[*h].gress == gress;
        let bits = view.allocation.valid.iter().filter(|(h, b)| b.is_some() && of_gress(h)).count();
        if bits > limit as usize {
            let text = format!("PHV: {gress} has {bits} validity bits, the chip {limit}");
            found.push(Diag::error(sluice_ir::Loc::default(), text).help("declare fewer headers"));
        }
    }
    for (container, held) in &view.held {
        let Some(bit) = held.iter().find(|h| matches!(h.var, Var::Valid(_))) else { continue };
        let other = held.iter().find(|h| !matches!(h.var, Var::Valid(_)));
        if let Some(other) = other {
            let text = format!("{} is among validity bits in {}", view.var(other.var), view.name(*container));
            found.push(view.error(other.var, text));
        }
        if view.info(*container).is_some_and(|i| i.kind != ContainerKind::Normal) {
            let text = format!(
                "{} is in {}, but validity bits need a normal container",
                view.var(bit.var),
                view.name(*container)
            );
            found.push(view.error(bit.var, text));
        }
    }
    found
}

/// Checks that each checksum that the deparser writes fills a 16-bit container.
fn checksums(view: &View) -> Vec<Diag> {
    let updates = view.program.pipes.iter().flat_map(|p| &p.deparser.checksums);
    let bad = |field: Field| match view.allocation.slices(field) {
        [s] => s.width != 16 || s.at != 0 || view.info(s.container).is_none_or(|i| i.size.bits() != 16),
        _ => true,
    };
    updates
        .filter(|u| bad(u.field))
        .map(|u| {
            let text =
                format!("checksum {} is not alone in a 16-bit container", view.var(Var::Field(u.field)));
            view.error(Var::Field(u.field), text).also(u.loc, "the update")
        })
        .collect()
}

/// Checks that a field that the parser copies, other than by extraction, has separate containers. Packet bytes must fill
/// them; other packet bits must be at the bit of the container at which they are in their byte, and no other bits of the
/// field may be with them.
fn copies(view: &View) -> Vec<Diag> {
    let program = view.program;
    let mut found = Vec::new();
    let ops = program.states.iter().flat_map(|(state, s)| s.ops.iter().map(move |op| (state, op)));
    for (state, op) in ops {
        let Some(dst) = op.kind.written() else { continue };
        // Bits of the destination, and the number of bits in the packet's byte below the lowest one.
        let (low, width, below) = match &op.kind {
            ParserOpKind::SubtractChecksum(..) => (0, program.fields[dst].width, Some(0)),
            ParserOpKind::Lookahead(_, at) => {
                let width = program.fields[dst].width;
                (0, width, Some((8 - (at + width) % 8) % 8))
            }
            kind => {
                let Some(write) = kind.write().filter(|write| !write.is_constant()) else { continue };
                let (hi, lo) = write.bits.unwrap_or((program.fields[dst].width - 1, 0));
                let below = write.source().and_then(|(from, at)| {
                    let Home::Header(header) = program.fields[from].home else { return None };
                    let behind = program.field_offset(header, from)? + u32::from(program.fields[from].width);
                    Some(((8 - (behind - u32::from(at)) % 8) % 8) as u16)
                });
                (lo, hi + 1 - lo, below)
            }
        };
        let partial = below.is_some_and(|below| below != 0 || !width.is_multiple_of(8));
        match program.fields[dst].home {
            Home::Header(_) if partial => found.extend(super::mates::check(view, state, dst, op.loc)),
            _ => found.extend(alone(view, dst, "is copied by the parser")),
        }
        let Some(below) = below else { continue };
        let fits = |s: &crate::FieldSlice| {
            let (s_lo, s_end) = (s.lo, s.lo + s.width);
            let inside = s_lo >= low && s_end <= low + width;
            let apart = s_end <= low || s_lo >= low + width;
            let aligned = (u16::from(s.at) + 8 - (below + s_lo.saturating_sub(low)) % 8).is_multiple_of(8);
            let size = view.info(s.container).map_or(0, |i| i.size.bits());
            let bytes = (size.saturating_sub(u32::from(s.width))) / 8;
            let top = program.fields[dst].width;
            let taken = top > 32 && s_end == top && bytes_before(view, state, &op.kind) >= Some(bytes);
            let filled = s.at == 0 && (size == u32::from(s.width) || taken);
            let whole = below == 0 && width.is_multiple_of(8);
            apart || inside && aligned && (filled || !whole)
        };
        if !view.allocation.slices(dst).iter().all(fits) {
            let text = format!(
                "{} is copied by the parser, but does not fill its containers",
                view.var(Var::Field(dst))
            );
            found.push(view.error(Var::Field(dst), text).also(op.loc, "the copy"));
        }
    }
    found
}

/// Returns the bytes of headers that a state extracts before the first byte that it copies to a field; `None` if it copies no bytes
/// of a header that it extracts.
fn bytes_before(view: &View, state: ParserState, kind: &ParserOpKind) -> Option<u32> {
    let program = view.program;
    let (from, at) = kind.write()?.source()?;
    let Home::Header(header) = program.fields[from].home else { return None };
    let extracted: Vec<Header> = program.states[state]
        .ops
        .iter()
        .filter_map(|op| if let ParserOpKind::Extract(h) = op.kind { Some(h) } else { None })
        .collect();
    let place = extracted.iter().position(|h| *h == header)?;
    let bits: u32 = extracted[..place].iter().map(|h| program.header_bits(*h)).sum();
    let width = program.fields[kind.written()?].width;
    let above = program.fields[from].width.checked_sub(at + width)?;
    Some((bits + program.field_offset(header, from)? + u32::from(above)) / 8)
}
