//! PHV allocation: containers for every field and validity bit that a program uses.
//!
//! The allocator, queries on its result, an independent verifier of it, and its summary for reports.
//!
//! Rules (model: chip §2.1, §2.2, §6.1):
//! 1. A container belongs to one gress; so do all containers of its gress group (T1: the first group of each size is
//!    wired to ingress, the second to egress; a tagalong collection is a group).
//! 2. The bytes of a header are covered in wire order, without gaps, by whole containers. In a packet that has the
//!    header, these hold nothing else (see rule 14). Fields that do not end on a byte boundary share a container.
//! 3. Operands of arithmetic, shifts and comparisons, which work on whole containers, have separate containers and
//!    begin at bit 0. A header field must then have 8, 16 or 32 bits on a byte boundary; a metadata field has at most
//!    32 bits and is padded. Sums and differences of 33 to 64 bits carry from a 32-bit container of even number to
//!    the next one of its group (model: chip §2.3; the compiler's rule); a header field must then have 64 bits.
//!    Of a wide field, an operation needs only the part that it names (`parts`). Data are added to the topmost field of a
//!    byte where it is (`tops`).
//!    Operands of bitwise functions have separate containers as well, unless one is a constant and the other the
//!    destination. So do fields to which the deparser writes a checksum.
//! 4. An instruction reads only containers of its destination's MAU group, which have one size: fields that are
//!    copied to each other are cut alike. If a number decides the size, fields that are linked to it follow: metadata is
//!    padded, and a field of a header shares a container with its neighbours (`joins`). Constants, parameters and hash results come over the action data bus and
//!    bind no group.
//! 5. An action has one instruction per container, with at most two sources, of which one may be the action data bus.
//!    A partial write from a PHV source takes the destination as its second source. One PHV source may be rotated by
//!    bits, two only by bytes.
//! 6. Variables that tables, gateways and hashes read are in normal or mocha containers; variables that an ALU reads
//!    or writes are not in tagalong containers. Mocha containers (T2) can only be set as a whole from one source.
//! 7. Bytes that only pass from parser to deparser go to tagalong (T1) or mocha containers (T2) if there is room.
//! 8. Two nodes that write fields of one container are in different stages; the table placer separates them. Metadata
//!    fields therefore share a container if no packet runs two nodes that write them. If containers run out, they also
//!    share if the nodes' data keeps them in different stages (`orders`), then whatever stages that costs.
//! 9. An intrinsic field has separate containers, in the layout of the parser and the traffic manager. A part of a time
//!    stamp that is only copied may be in a larger container: the extractor takes the bytes beside it as well.
//! 10. Validity bits have separate containers, with at most `pov_bits` bits per gress. Two nodes may write bits of
//!     one container: an instruction sets or clears its bits under a mask, and the table placer keeps such nodes in
//!     different stages (container conflict).
//! 11. If containers run out, metadata fields take turns in one (`overlay`): bits are shared only if each read sees
//!     the last value of the same field. Shared bits add dependencies, so an allocation without turns is preferred.
//! 12. A field to which the parser copies packet bytes, other than by extracting its header, has a separate container
//!     and starts and ends on a byte boundary. Other bits may go to the same bits of a byte of a header, if the bits beside
//!     them do no harm there (`mates`).
//! 13. Dark containers (T2) hold metadata that only actions copy, in and out as a whole, and that is written before
//!     every read: they do not have the value zero with which other metadata starts.
//! 14. If containers run out, headers of which no packet has two share them (`headers`): no path through the parser
//!     extracts both, no action makes them valid, and every reader of a field knows that its header is valid. As a last
//!     resort, bytes that only pass through share containers with bytes in use.
//! 15. Lists of requests name whole containers (`lists`): fields of a list have separate containers, or share them in the
//!     list's order. Two nodes that write fields of one container are in different stages.
//! 16. If containers run out, metadata fields that the same actions copy from bits of one field are in one container, at
//!     the places of these bits (`beside`).
//! 17. The author may demand sizes and kinds of containers, a field in one container, nothing beside a field, and no other field at
//!     its bits (`author`).
//! 18. Fields can be cut in several ways (`cuts`). If an action needs too many sources with one of them, or containers run
//!     out, the others are tried.
//!
//! Metadata that a stateful ALU must take as bytes has separate containers, too. Not considered: a gateway that
//! compares two fields could use byte pairs if both fields were at equal bits of a byte.

mod author;
mod beside;
mod cuts;
mod demand;
mod fit;
mod headers;
mod joins;
mod landing;
mod layout;
mod lists;
mod mates;
mod moves;
mod orders;
mod overflow;
mod overlay;
mod pack;
mod parts;
mod query;
mod summary;
mod tops;
mod verify;
mod wants;

#[cfg(test)]
mod tests;

pub use summary::{CarryRow, ContainerRow, GroupUsage, PhvSummary, RowSlice, summary};
pub use verify::verify;

use super::data::{FieldSlice, PhvAllocation, PovBit};
use super::options::{Optimisation, Options};
use super::steps::Steps;
use cuts::Cuts;
use demand::Demands;
use fit::Bins;
use headers::Apart;
use layout::Layout;
use orders::Order;
use overlay::Lives;
use pack::Mix;
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::phv::{Container, PhvInventory};
use sluice_ir::Program;
use sluice_ir::cfg::Cfg;
use sluice_ir::entity::EntityMap;
use sluice_ir::verify::Diag;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Gives every used field and validity bit of both gresses its containers.
///
/// Deterministic: first fit over pieces sorted by constraint, size and order of declaration.
///
/// # Errors
/// One finding per field that no allocation can serve, per copy between containers of different sizes, per
/// rule that an action breaks by needing too many sources, or per container size that runs out.
pub fn allocate(
    program: &Program,
    chip: &ChipSpec,
    options: &Options,
    cfgs: &[Cfg; 2],
) -> Result<PhvAllocation, Vec<Diag>> {
    allocate_in(program, chip, options, cfgs, &Rc::default())
}

/// Like [`allocate`], with a budget, which may end with any result.
pub(super) fn allocate_in(
    program: &Program,
    chip: &ChipSpec,
    options: &Options,
    cfgs: &[Cfg; 2],
    steps: &Rc<Steps>,
) -> Result<PhvAllocation, Vec<Diag>> {
    let result = allocated(program, chip, options, cfgs, steps);
    let Err(mut found) = result else { return result };
    let fits = |other: &Program| allocated(other, chip, options, cfgs, steps).is_ok();
    if let Some(diag) = author::blame(program, fits) {
        found.insert(0, diag);
    }
    Err(found)
}

fn allocated(
    program: &Program,
    chip: &ChipSpec,
    options: &Options,
    cfgs: &[Cfg; 2],
    steps: &Rc<Steps>,
) -> Result<PhvAllocation, Vec<Diag>> {
    let (demands, layout) = demanded(program, chip, cfgs, steps)?;
    let first = fitted(program, chip, options, cfgs, &demands, &layout);
    let Err(found) = first else { return first };
    let mut beside = demands;
    if beside.put_beside(program) {
        let second = laid_out(program, &beside)
            .and_then(|layout| fitted(program, chip, options, cfgs, &beside, &layout));
        if second.is_ok() {
            return second;
        }
    }
    Err(found)
}

/// Returns the demands of a program and the layout of its headers and large fields. If the containers of some fields do not
/// suit the operations on them, these operations take the parts that they name.
fn demanded(
    program: &Program,
    chip: &ChipSpec,
    cfgs: &[Cfg; 2],
    steps: &Rc<Steps>,
) -> Result<(Demands, Layout), Vec<Diag>> {
    let (mut parted, mut first) = (BTreeSet::new(), Vec::new());
    loop {
        let demands = Demands::of(program, chip, cfgs, &parted, steps);
        let (mut found, mut unlike) = (demands.check(program), demands.misfits(program));
        if found.is_empty() {
            match laid_out(program, &demands) {
                Ok(layout) => return Ok((demands, layout)),
                Err(mismatches) => found = mismatches,
            }
            unlike =
                wants::unlike(&demands, &Layout::of(program, &demands, &Cuts::settle(program, &demands)));
        }
        if first.is_empty() {
            first = found;
        }
        let known = parted.len();
        parted.extend(parts::parted(program, &demands.writes, &unlike));
        if parted.len() == known || steps.are_over() {
            return Err(first);
        }
    }
}

/// Gives fields and validity bits with these demands their containers.
fn fitted(
    program: &Program,
    chip: &ChipSpec,
    options: &Options,
    cfgs: &[Cfg; 2],
    demands: &Demands,
    layout: &Layout,
) -> Result<PhvAllocation, Vec<Diag>> {
    let mut lives = overlay::lives(program, cfgs, &demands.steps);
    for field in program.fields.keys().filter(|f| demands.author.is_unshared(*f)) {
        lives[field] = None;
    }
    let fitting = Fitting { program, chip, options, cfgs, demands, lives: &lives, orders: OnceCell::new() };
    let first = fitting.fit(layout);
    if first.is_ok() {
        return first;
    }
    let mut known = vec![layout.clone()];
    for settle in [Cuts::settle_wide, Cuts::settle_together, Cuts::settle_undivided] {
        let other = Layout::of(program, demands, &settle(program, demands));
        if known.contains(&other) || demands.steps.are_over() {
            continue;
        }
        if wants::mismatches(program, demands, &other).is_empty()
            && let Ok(allocation) = fitting.fit(&other)
        {
            return Ok(allocation);
        }
        known.push(other);
    }
    first
}

/// What all attempts to fit a layout have in common.
struct Fitting<'a> {
    program: &'a Program,
    chip: &'a ChipSpec,
    options: &'a Options,
    cfgs: &'a [Cfg; 2],
    demands: &'a Demands,
    lives: &'a Lives,
    /// Made only if containers run out.
    orders: OnceCell<[Order; 2]>,
}

/// A way to share containers, and the order in which pieces get them.
#[derive(Clone, Copy)]
struct Way {
    /// Packed fields whose live ranges are disjoint share bits.
    turns: bool,
    packs: Packs,
    /// Pieces that may have a larger container than they need are placed last.
    padded_last: bool,
    /// Headers that pass through share pieces with headers in use, and pieces that headers share may be halved.
    mixed: bool,
}

/// Small metadata fields that share a container; see [`Mix`].
#[derive(Clone, Copy)]
enum Packs {
    None,
    Exclusive,
    Ordered,
    Any,
}

impl Fitting<'_> {
    /// Gives the pieces of a layout containers. Ways that cost no stages are preferred, then those that share the fewest
    /// bits. An allocation in which some action needs more than one instruction can do is left out; it is what the error
    /// reports if every way fails.
    fn fit(&self, layout: &Layout) -> Result<PhvAllocation, Vec<Diag>> {
        let layouts = self.layouts(layout, false);
        let mut mixed = self.layouts(layout, true);
        mixed.retain(|layout| !layouts.contains(layout));
        let (free, any): (&[Packs], &[Packs]) = match self.options.may(Optimisation::PackedMetadata) {
            true => (&[Packs::Exclusive, Packs::Ordered], &[Packs::Any]),
            false => (&[Packs::None], &[]),
        };
        let (plain, sharing) = layouts.split_at(1);
        let (mut found, mut broken) = (Vec::new(), Vec::new());
        let attempts = [(plain, free), (sharing, free), (&layouts, any), (&mixed, free), (&mixed, any)];
        for (step, (layouts, packs)) in attempts.into_iter().enumerate() {
            let ways = layouts.iter().flat_map(|layout| packs.iter().map(move |packs| (layout, *packs)));
            for ((layout, turns), packs) in ways {
                for padded_last in [false, true] {
                    let way = Way { turns: *turns, packs, padded_last, mixed: step > 2 };
                    self.demands.steps.allocation();
                    match self.contain(layout.clone(), way) {
                        _ if self.demands.steps.are_over() => return Err(found),
                        Ok(allocation) => {
                            if !self.demands.steps.take(verification(self.cfgs, &allocation)) {
                                return Err(found);
                            }
                            let rules = verify(self.program, self.chip, self.cfgs, &allocation);
                            if rules.is_empty() {
                                return Ok(allocation);
                            }
                            if broken.is_empty() {
                                broken = rules;
                            }
                        }
                        // Pieces placed last, and mixed ones, are halved more often, which would overstate what is needed.
                        Err(_) if padded_last || way.mixed => {}
                        Err(short) => found = short,
                    }
                }
            }
        }
        Err(if broken.is_empty() { found } else { broken })
    }

    /// Returns the layout, then with headers and fields that take turns in its pieces, each true if packed fields take turns
    /// too. For `mixed`, see [`Layout::overlay_headers`].
    fn layouts(&self, layout: &Layout, mixed: bool) -> Vec<(Layout, bool)> {
        let (program, demands, lives) = (self.program, self.demands, self.lives);
        let mut layouts = vec![(layout.clone(), false)];
        let mut shared = layout.clone();
        let nodes: usize = self.cfgs.iter().map(|cfg| cfg.nodes.len()).sum();
        let (headers, states, pieces) = (program.headers.len(), program.states.len(), layout.pieces.len());
        let compared =
            [headers.saturating_mul(nodes), states * states, pieces * (pieces + program.fields.len())];
        let may_share = self.options.may(Optimisation::HeaderOverlay)
            && demands.steps.take(compared.iter().sum())
            && shared.overlay_headers(program, demands, &Apart::of(program, self.cfgs), mixed);
        layouts.extend(may_share.then(|| (shared.clone(), false)));
        if self.options.may(Optimisation::Turns) && lives.values().any(Option::is_some) {
            let mut alone = layout.clone();
            alone.take_turns(&overlay::turns(program, demands, &alone, lives));
            layouts.push((alone, true));
            if may_share {
                shared.take_turns(&overlay::turns(program, demands, &shared, lives));
                layouts.push((shared, true));
            }
        }
        layouts
    }

    /// Packs small fields, and assigns containers to all pieces.
    fn contain(&self, mut layout: Layout, way: Way) -> Result<PhvAllocation, Vec<Diag>> {
        let Fitting { program, chip, options, cfgs, demands, lives, .. } = *self;
        let orders = || Gress::ALL.map(|gress| Order::of(program, &cfgs[gress.index()], &demands.steps));
        let mix = match way.packs {
            Packs::None => Mix::Nothing,
            Packs::Exclusive => Mix::Exclusive,
            Packs::Ordered => Mix::Ordered(self.orders.get_or_init(orders)),
            Packs::Any => Mix::Any,
        };
        pack::pack(program, chip, cfgs, demands, way.turns.then_some(lives), mix, &mut layout);
        if !demands.steps.take(layout.pieces.len() * (1 + demands.writes.len())) {
            return Err(Vec::new());
        }
        let mut bins = Bins::new(&PhvInventory::new(&chip.phv));
        let special = options.may(Optimisation::SpecialContainers);
        let mut wants = wants::wants(program, demands, &layout, special.then_some(lives), way.mixed);
        let places = fit::fit(&mut bins, &mut layout, &mut wants, way.padded_last, &demands.steps);
        let found = overflow::check(program, &bins, &layout, &wants, &places);
        if found.is_empty() { Ok(fill(&layout, &places)) } else { Err(found) }
    }
}

/// Returns the pieces of headers and of fields with separate containers, cut so that every instruction reads containers
/// of one size.
fn laid_out(program: &Program, demands: &Demands) -> Result<Layout, Vec<Diag>> {
    let layout = Layout::of(program, demands, &Cuts::settle(program, demands));
    let found = wants::mismatches(program, demands, &layout);
    if found.is_empty() {
        return Ok(layout);
    }
    let layout = Layout::of(program, demands, &Cuts::settle_by_numbers(program, demands));
    if wants::mismatches(program, demands, &layout).is_empty() { Ok(layout) } else { Err(found) }
}

/// Returns the steps of verifying an allocation: variables of one container are compared with each other, at each node.
fn verification(cfgs: &[Cfg; 2], allocation: &PhvAllocation) -> usize {
    let mut held: BTreeMap<Container, usize> = BTreeMap::new();
    for slice in allocation.fields.values().flatten() {
        *held.entry(slice.container).or_default() += 1;
    }
    let nodes: usize = cfgs.iter().map(|cfg| cfg.nodes.len()).sum();
    let pairs: usize = held.values().map(|n| n * n).sum();
    pairs.saturating_mul(nodes.max(1))
}

/// Returns the allocation of a layout whose pieces have these containers.
fn fill(layout: &Layout, places: &[Option<Container>]) -> PhvAllocation {
    let slices = |segs: &Vec<layout::Seg>| {
        let slice = |s: &layout::Seg| {
            places[s.piece].map(|container| FieldSlice { lo: s.lo, width: s.width, container, at: s.at })
        };
        segs.iter().filter_map(slice).collect::<Vec<_>>()
    };
    let bit =
        |v: &Option<(usize, u8)>| v.and_then(|(p, bit)| places[p].map(|container| PovBit { container, bit }));
    PhvAllocation {
        fields: layout.segs.values().map(slices).collect::<EntityMap<_, _>>(),
        valid: layout.valid.values().map(bit).collect(),
    }
}
