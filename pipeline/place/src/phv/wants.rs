//! Constraints of pieces: suitable kinds of containers, and pieces that must share a group.

use super::cuts::pairs;
use super::demand::Demands;
use super::fit::{Carry, Spare, Want};
use super::layout::{Layout, PieceHome, Seg};
use super::moves::{Shape, Source};
use super::overlay::{Life, Lives};
use sluice_asic::phv::ContainerKind::{self, Dark, Mocha, Normal, Tagalong};
use sluice_ir::verify::Diag;
use sluice_ir::{Field, Home, Program};
use std::collections::BTreeSet;

/// Returns the constraints of each piece; without `lives`, only normal containers are allowed. If `halves`, pieces that
/// several headers share may be halved.
pub(super) fn wants(
    program: &Program,
    demands: &Demands,
    layout: &Layout,
    lives: Option<&Lives>,
    halves: bool,
) -> Vec<Want> {
    let held = held(layout);
    let carried = carried(program, demands, layout);
    let clusters = clusters(demands, layout, &carried);
    let demanded = |p: usize| held[p].iter().find_map(|(f, _)| demands.author.kind(*f));
    let suited = |kinds: Vec<ContainerKind>, p: usize| match demanded(p) {
        Some(kind) if kinds.contains(&kind) => vec![kind],
        _ => kinds,
    };
    let want = |p: usize| Want {
        kinds: match lives {
            Some(lives) if carried[p] == Carry::None => suited(kinds(demands, layout, lives, &held, p), p),
            _ => vec![Normal],
        },
        cluster: clusters[p],
        spare: spare(program, demands, (layout, p), &held[p], halves),
        carry: carried[p],
    };
    (0..layout.pieces.len()).map(want).collect()
}

/// Returns the copies whose containers cannot be of one size.
pub(super) fn mismatches(program: &Program, demands: &Demands, layout: &Layout) -> Vec<Diag> {
    let mut found: Vec<Diag> = Vec::new();
    for pair in pairs(demands, layout) {
        let ((a, sa), (b, sb)) = (pair.a, pair.b);
        let (bits_a, bits_b) = (layout.pieces[sa.piece].bits, layout.pieces[sb.piece].bits);
        if bits_a == bits_b {
            continue;
        }
        let (da, db) = (&program.fields[a], &program.fields[b]);
        let text = format!(
            "`{}` is computed from `{}`, but the first needs a {bits_a}-bit container and the second a {bits_b}-bit \
             one; an instruction reads only containers of its destination's size",
            da.name, db.name
        );
        let loc = demands
            .writes
            .iter()
            .find(|w| w.dst == a && w.sources().any(|s| s.0 == b))
            .map_or(da.loc, |w| w.loc);
        let diag = Diag::error(loc, text)
            .also(da.loc, format!("`{}`", da.name))
            .also(db.loc, format!("`{}`", db.name))
            .help("give both fields one width, or let the parser copy the narrow one into a wider metadata field");
        if !found.iter().any(|f| f.text == diag.text) {
            found.push(diag);
        }
    }
    found
}

/// Returns the fields of copies and operations whose containers are not of one size.
pub(super) fn unlike(demands: &Demands, layout: &Layout) -> BTreeSet<Field> {
    let differ = |a: Seg, b: Seg| layout.pieces[a.piece].bits != layout.pieces[b.piece].bits;
    pairs(demands, layout).filter(|p| differ(p.a.1, p.b.1)).flat_map(|p| [p.a.0, p.b.0]).collect()
}

/// Returns the fields in each piece.
fn held(layout: &Layout) -> Vec<Vec<(Field, Seg)>> {
    let mut held = vec![Vec::new(); layout.pieces.len()];
    for (f, segs) in layout.segs.iter() {
        segs.iter().for_each(|s| held[s.piece].push((f, *s)));
    }
    held
}

/// Returns for each piece whether a carry leaves or enters it.
fn carried(program: &Program, demands: &Demands, layout: &Layout) -> Vec<Carry> {
    let mut list = vec![Carry::None; layout.pieces.len()];
    for (field, segs) in layout.segs.iter().filter(|(f, _)| demands.carries(program, *f)) {
        if let [high, low] = segs.as_slice() {
            list[low.piece] = Carry::Out(high.piece);
            list[high.piece] = Carry::In;
        }
        debug_assert!(segs.is_empty() || segs.len() == 2, "`{}` is cut once", program.fields[field].name);
    }
    list
}

/// Returns for each piece the lowest piece with which it must share a MAU group.
fn clusters(demands: &Demands, layout: &Layout, carried: &[Carry]) -> Vec<usize> {
    let mut root: Vec<usize> = (0..layout.pieces.len()).collect();
    fn find(root: &[usize], mut p: usize) -> usize {
        while root[p] != p {
            p = root[p];
        }
        p
    }
    for pair in pairs(demands, layout) {
        let (a, b) = (find(&root, pair.a.1.piece), find(&root, pair.b.1.piece));
        root[a.max(b)] = a.min(b);
    }
    for (low, carry) in carried.iter().enumerate() {
        if let Carry::Out(high) = carry {
            let (a, b) = (find(&root, low), find(&root, *high));
            root[a.max(b)] = a.min(b);
        }
    }
    (0..root.len()).map(|p| find(&root, p)).collect()
}

fn kinds(
    demands: &Demands,
    layout: &Layout,
    lives: &Lives,
    held: &[Vec<(Field, Seg)>],
    p: usize,
) -> Vec<ContainerKind> {
    let header = match layout.pieces[p].home {
        PieceHome::Header(..) => true,
        PieceHome::Alone(_) => false,
        PieceHome::Pack | PieceHome::List | PieceHome::Pov => return vec![Normal],
    };
    if header && held[p].iter().all(|(f, _)| demands.fields[*f].passes_through()) {
        return vec![Tagalong, Mocha, Normal];
    }
    let moved_whole = match held[p].as_slice() {
        [(f, seg)] => {
            demands.writes.iter().filter(|w| w.dst == *f && w.reaches(seg.lo, seg.width)).all(|w| {
                w.shape == Shape::Copy
                    && w.moves.iter().filter(|m| m.lo < seg.lo + seg.width && seg.lo < m.lo + m.width).count()
                        == 1
                    && w.moves.iter().any(|m| whole_source(layout, held, *seg, m.lo, m.width, m.source))
            })
        }
        many => many.iter().all(|(f, _)| demands.fields[*f].writers.is_empty()),
    };
    let unseen = |f: Field| {
        let d = &demands.fields[f];
        let copied_in = demands.writes.iter().filter(|w| w.dst == f);
        !d.matched
            && !d.own
            && !d.copied
            && lives[f].as_ref().is_some_and(Life::is_written_first)
            && copied_in.flat_map(|w| &w.moves).all(|m| matches!(m.source, Source::Field(..)))
            && demands.writes.iter().filter(|w| w.sources().any(|s| s.0 == f)).all(|w| w.shape == Shape::Copy)
    };
    match held[p].as_slice() {
        _ if !moved_whole => vec![Normal],
        // Dark containers suit few fields, so they come first: the other kinds stay free for fields that need them.
        [(f, _)] if !header && unseen(*f) => vec![Dark, Normal, Mocha],
        _ => vec![Normal, Mocha],
    }
}

/// Returns true if bits `lo..lo + width` of the destination's field fill `seg` from one whole source of the same
/// layout.
fn whole_source(
    layout: &Layout,
    held: &[Vec<(Field, Seg)>],
    seg: Seg,
    lo: u16,
    width: u16,
    source: Source,
) -> bool {
    if lo > seg.lo || lo + width < seg.lo + seg.width {
        return false;
    }
    match source {
        Source::Data | Source::Hash => true,
        Source::Field(f, at) => layout.segs[f].iter().any(|s| {
            s.lo == at + seg.lo - lo && s.width == seg.width && s.at == seg.at && held[s.piece].len() == 1
        }),
    }
}

/// Returns the fallback of a piece: a header piece without computation can be halved, and a metadata field with its own
/// container can be padded.
fn spare(
    program: &Program,
    demands: &Demands,
    (layout, p): (&Layout, usize),
    held: &[(Field, Seg)],
    halves: bool,
) -> Spare {
    let tied = |(f, _): &(Field, Seg)| {
        let d = &demands.fields[*f];
        d.moved
            || d.own
            || d.copied
            || d.listed
            || demands.author.sizes(*f)
            || matches!(program.fields[*f].home, Home::Intrinsic(_) | Home::PortMetadata)
    };
    let home = held.first().map_or(Home::Metadata, |(f, _)| program.fields[*f].home);
    // A metadata field would be halved as well.
    let whole = |(f, _): &(Field, Seg)| match program.fields[*f].home {
        Home::Header(_) => !halves && program.fields[*f].home != home,
        _ => true,
    };
    match layout.pieces[p].home {
        PieceHome::Pov | PieceHome::List => Spare::Nothing,
        _ if held.iter().any(tied) => Spare::Nothing,
        PieceHome::Header(..) if held.iter().any(whole) => Spare::Nothing,
        PieceHome::Header(..) => Spare::Halves,
        PieceHome::Alone(_) | PieceHome::Pack => Spare::Larger,
    }
}
