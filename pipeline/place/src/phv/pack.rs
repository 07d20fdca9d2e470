//! Packs small metadata fields and validity bits, several to a container.

use super::demand::{Demand, Demands};
use super::layout::{Layout, PieceHome, Seg, container_bits, stands_alone};
use super::orders::Order;
use super::overlay::{Life, Lives};
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_ir::cfg::{Cfg, Node};
use sluice_ir::{Field, Header, Home, PrimitiveKind, Program};
use std::cmp::Reverse;

/// Small fields that share one container.
struct Pack {
    piece: usize,
    bits: u8,
    filled: u8,
    members: Vec<Member>,
}

/// A field in a pack. Of several fields at the same bits, only the last can have a successor.
struct Member {
    field: Field,
    at: u8,
    last: bool,
}

/// Fields that may share a container.
#[derive(Clone, Copy)]
pub(super) enum Mix<'a> {
    /// None.
    Nothing,
    /// Fields of which no packet runs two writers: sharing costs nothing.
    Exclusive,
    /// Also fields whose writers are in different stages anyway.
    Ordered(&'a [Order; 2]),
    /// Any. Writers that could share a stage then cannot.
    Any,
}

/// Packs the fields that [`Layout::of`] left out, first fit: wide fields first, then in order of declaration.
pub(super) fn pack(
    program: &Program,
    chip: &ChipSpec,
    cfgs: &[Cfg; 2],
    demands: &Demands,
    lives: Option<&Lives>,
    mix: Mix<'_>,
    layout: &mut Layout,
) {
    for gress in Gress::ALL {
        fields(program, demands, &cfgs[gress.index()], (lives, mix), gress, layout);
        validity(program, chip, demands, gress, layout);
    }
}

fn fields(
    program: &Program,
    demands: &Demands,
    cfg: &Cfg,
    (lives, mix): (Option<&Lives>, Mix<'_>),
    gress: Gress,
    layout: &mut Layout,
) {
    let small = |f: Field| {
        let data = &program.fields[f];
        data.gress == gress
            && demands.fields[f].used
            && !matches!(data.home, Home::Header(_))
            && !demands.fields[f].shared
            && demands.fields[f].beside.is_none()
            && !stands_alone(program, demands, f)
    };
    let life = |f: Field| lives.and_then(|l| l[f].as_ref());
    let mut list: Vec<Field> = program.fields.keys().filter(|f| small(*f)).collect();
    list.sort_by_key(|f| (Reverse(program.fields[*f].width), life(*f).map(Life::order)));
    let mut packs: Vec<Pack> = Vec::new();
    let together = |f: Field, m: &Member| {
        let (a, b) = (&demands.fields[m.field], &demands.fields[f]);
        let pairs = a.writers.len() * b.writers.len() + a.written_in.len() * b.written_in.len();
        demands.steps.take(1 + pairs) && compatible(cfg, mix, gress, a, b)
    };
    for f in list {
        if !demands.steps.take(1 + packs.len()) {
            return;
        }
        let width = program.fields[f].width as u8;
        // The bits of a field whose use has ended are free for this one, if it may share the container with the other
        // fields.
        let ended = |m: &Member| {
            m.last
                && u16::from(width) == program.fields[m.field].width
                && life(m.field).zip(life(f)).is_some_and(|(a, b)| a.over_before(b))
        };
        let free = packs.iter().enumerate().find_map(|(i, p)| {
            let m = p.members.iter().position(ended)?;
            let at = p.members[m].at;
            let sized = demands.author.size(f).is_none_or(|size| size == p.bits);
            (sized && p.members.iter().all(|o| o.at == at || together(f, o))).then_some((i, m))
        });
        if let Some((i, m)) = free {
            packs[i].members[m].last = false;
            let at = packs[i].members[m].at;
            packs[i].put(layout, f, width, at);
            continue;
        }
        let size = demands.author.size(f);
        let fits = |p: &Pack| {
            p.filled + width <= p.bits
                && size.is_none_or(|size| size == p.bits)
                && p.members.iter().all(|m| together(f, m))
        };
        let i = packs.iter().position(fits).unwrap_or_else(|| {
            let bits = size.unwrap_or(0).max(container_bits(width.into()));
            let piece = layout.push(gress, PieceHome::Pack, bits);
            packs.push(Pack { piece, bits, filled: 0, members: Vec::new() });
            packs.len() - 1
        });
        let at = packs[i].filled;
        packs[i].filled += width;
        packs[i].put(layout, f, width, at);
    }
}

impl Pack {
    fn put(&mut self, layout: &mut Layout, field: Field, width: u8, at: u8) {
        layout.segs[field].push(Seg { lo: 0, width: width.into(), piece: self.piece, at });
        self.members.push(Member { field, at, last: true });
    }
}

/// Returns true if two fields may share a container: their writers may, and no action writes one of them from a hash result
/// and the other too, which would take two words of the action data bus.
fn compatible(cfg: &Cfg, mix: Mix<'_>, gress: Gress, a: &Demand, b: &Demand) -> bool {
    let apart = |n: Node, m: Node| match mix {
        Mix::Nothing => false,
        Mix::Exclusive => n == m || cfg.exclusive(n, m),
        Mix::Ordered(orders) => n == m || cfg.exclusive(n, m) || orders[gress.index()].apart(n, m),
        Mix::Any => true,
    };
    let by_nodes =
        !matches!(mix, Mix::Nothing) && a.writers.iter().all(|n| b.writers.iter().all(|m| apart(*n, *m)));
    let by_actions =
        a.written_in.iter().all(|(x, h)| b.written_in.iter().all(|(y, g)| x != y || !(*h || *g)));
    by_nodes && by_actions
}

/// Packs validity bits in order of declaration, into containers in which the parser can set any bit by a constant:
/// 16-bit ones if 16-bit extractors take any constant, else 8-bit ones (model: chip §6.1).
fn validity(program: &Program, chip: &ChipSpec, demands: &Demands, gress: Gress, layout: &mut Layout) {
    let bits = if chip.parser.constant_bits_16 >= 16 { 16 } else { 8 };
    // Validity bits that actions copy to each other share a separate container: those of a stack are neighbours, so that one
    // instruction rotates them all and fills the end with zeros.
    let copied = copied_validity(program, gress);
    for headers in &copied {
        let used = headers.iter().filter(|h| demands.valid[**h]).copied();
        let list: Vec<Header> = used.collect();
        for headers in list.chunks(usize::from(bits)) {
            let piece = layout.push(gress, PieceHome::Pov, if headers.len() <= 8 { 8 } else { bits });
            for (header, at) in headers.iter().zip(0..) {
                layout.valid[*header] = Some((piece, at));
            }
        }
    }
    let apart = |h: Header| copied.iter().any(|headers| headers.contains(&h));
    let mut open: Option<(usize, u8)> = None;
    let used = demands.valid.iter().filter(|(h, used)| **used && program.headers[*h].gress == gress);
    for (header, _) in used.filter(|(h, _)| !apart(*h)) {
        let (piece, at) = match open {
            Some((piece, at)) if at < bits => (piece, at),
            _ => (layout.push(gress, PieceHome::Pov, bits), 0),
        };
        layout.valid[header] = Some((piece, at));
        open = Some((piece, at + 1));
    }
}

/// Returns the groups of headers of a gress whose validity actions copy within the group. All elements of a stack of which
/// an action copies one to another are in one group, in the order of the stack.
fn copied_validity(program: &Program, gress: Gress) -> Vec<Vec<Header>> {
    let mut groups: Vec<Vec<Header>> = Vec::new();
    let actions = program.actions.values().filter(|a| a.gress == gress);
    for primitive in actions.flat_map(|a| &a.body) {
        let PrimitiveKind::CopyValid(to, from) = primitive.kind else { continue };
        let mut all = Vec::new();
        for header in [to, from] {
            match program.stack_of(header) {
                Some((stack, _)) => all.extend(&program.stacks[stack].headers),
                None => all.push(header),
            }
        }
        let (joined, mut rest): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|group| group.iter().any(|h| all.contains(h)));
        all.extend(joined.into_iter().flatten());
        all.sort_unstable();
        all.dedup();
        rest.push(all);
        groups = rest;
    }
    groups.sort_unstable();
    groups
}
