//! Findings for containers that run out.

use super::fit::{Bins, Want};
use super::layout::{Layout, PieceHome};
use sluice_asic::gress::Gress;
use sluice_asic::phv::{Container, ContainerKind};
use sluice_ir::verify::Diag;
use sluice_ir::{Loc, Program};
use std::collections::BTreeMap;

/// Returns one finding for each gress and container size with too few containers.
pub(super) fn check(
    program: &Program,
    bins: &Bins,
    layout: &Layout,
    wants: &[Want],
    places: &[Option<Container>],
) -> Vec<Diag> {
    let mut found = Vec::new();
    for gress in Gress::ALL {
        for bits in [8, 16, 32] {
            let of_size = |p: &usize| layout.pieces[*p].gress == gress && layout.pieces[*p].bits == bits;
            let needed: Vec<usize> = (0..places.len()).filter(of_size).collect();
            let short: Vec<usize> = needed.iter().copied().filter(|&p| places[p].is_none()).collect();
            if !short.is_empty() {
                found.push(report(program, bins, layout, wants, (gress, bits), &needed, &short));
            }
        }
    }
    found
}

fn report(
    program: &Program,
    bins: &Bins,
    layout: &Layout,
    wants: &[Want],
    (gress, bits): (Gress, u8),
    needed: &[usize],
    short: &[usize],
) -> Diag {
    let mut available = Vec::new();
    for (kind, word) in [
        (ContainerKind::Normal, "normal"),
        (ContainerKind::Mocha, "mocha"),
        (ContainerKind::Dark, "dark"),
        (ContainerKind::Tagalong, "tagalong"),
    ] {
        let (have, could) =
            (bins.reachable(gress, bits, kind), needed.iter().filter(|&&p| wants[p].kinds.contains(&kind)));
        let could = could.count();
        // Dark containers suit few pieces, so they are named only if some piece could use them.
        if have > 0 && (kind != ContainerKind::Dark || could > 0) {
            available.push(format!("{have} {word} ({could} could use them)"));
        }
    }
    let mut consumers: BTreeMap<String, (usize, Loc)> = BTreeMap::new();
    for &p in needed {
        let (name, loc) = consumer(program, layout.pieces[p].home);
        consumers.entry(name).or_insert((0, loc)).0 += 1;
    }
    let mut consumers: Vec<_> = consumers.into_iter().collect();
    consumers.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    consumers.truncate(3);
    let biggest: Vec<String> = consumers.iter().map(|(name, (n, _))| format!("{name} {n}")).collect();
    let text = format!(
        "PHV: {gress} needs {} containers of {bits} bits and {} of them find no place; within its reach: {}; \
         biggest consumers: {}",
        needed.len(),
        short.len(),
        if available.is_empty() { "none".to_owned() } else { available.join(", ") },
        biggest.join(", ")
    );
    let linked = linked(program, layout, wants, short);
    let text = match linked.as_slice() {
        [] | [_] => text,
        names => {
            format!("{text}; {} must be in one MAU group, because actions copy or combine them", list(names))
        }
    };
    let clustered = short.iter().any(|&p| wants.iter().filter(|w| w.cluster == wants[p].cluster).count() > 1);
    let help = if clustered {
        "copy fewer fields to each other: the containers of all fields that are linked by copies must be in one MAU \
         group; or carry less in headers and metadata"
    } else {
        "carry fewer headers or less metadata, or narrower fields"
    };
    let at = consumers.first().map_or(Loc::default(), |(_, (_, loc))| *loc);
    Diag::error(at, text).help(help)
}

/// Returns the fields and headers of the largest cluster that a piece without a place is in; at most one if no piece shares its
/// cluster.
fn linked(program: &Program, layout: &Layout, wants: &[Want], short: &[usize]) -> Vec<String> {
    let members = |p: usize| (0..wants.len()).filter(move |&w| wants[w].cluster == wants[p].cluster);
    let largest = short.iter().copied().max_by_key(|&p| (members(p).count(), std::cmp::Reverse(p)));
    let mut names = Vec::new();
    for name in largest.into_iter().flat_map(members).map(|w| consumer(program, layout.pieces[w].home).0) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Returns names as a list of at most twelve.
fn list(names: &[String]) -> String {
    let shown = names[..names.len().min(12)].join(", ");
    match names.len().saturating_sub(12) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Returns the consumer of a piece for a report, and its source location.
fn consumer(program: &Program, home: PieceHome) -> (String, Loc) {
    match home {
        PieceHome::Header(h, _) => (format!("header `{}`", program.headers[h].name), program.headers[h].loc),
        PieceHome::Alone(f) => (format!("`{}`", program.fields[f].name), program.fields[f].loc),
        PieceHome::List => ("fields of lists that the deparser sends".to_owned(), Loc::default()),
        PieceHome::Pack => ("small metadata fields".to_owned(), Loc::default()),
        PieceHome::Pov => ("validity bits".to_owned(), Loc::default()),
    }
}
