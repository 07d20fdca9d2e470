//! The deparser: one plan for each pair of a parse path and a set of valid headers, made when the pair first occurs.
//!
//! A header at the offset at which it was extracted needs only its rewritten containers stored. A header that moved is
//! copied first. A header that the program made is stored whole.

mod store;

use super::batch::{Phv, Slot, for_lanes, lanes_where};
use super::error::LowerError;
use super::field::{FieldAt, SlotMap};
use super::parser::{Leaf, header_columns};
use crate::packet::{Packet, PacketStore};
use crate::pass::Pass;
use sluice_asic::gress::Gress;
use sluice_asic::phv::Container;
use sluice_ir::{ChecksumUpdate, Expr, Field, Header, Home, Program};
use std::collections::BTreeSet;
pub(super) use store::Store;
use store::{ChecksumAt, Stores};

/// Header that the deparser may emit.
#[derive(Clone, Debug)]
struct Emit {
    header: Header,
    bytes: u32,
    /// Bit of the header in a set of valid headers.
    valid: Option<u8>,
    /// Containers: byte offset, bytes, column, and true if an action may have rewritten the container.
    stores: Vec<(u32, u8, Option<Slot>, bool)>,
}

impl Emit {
    /// Returns the stores of the header, relative to its first byte: all containers, or those that may have been
    /// rewritten.
    fn stored(&self, whole: bool) -> impl Iterator<Item = Store> + '_ {
        let stores = self.stores.iter().filter(move |(.., rewritten)| whole || *rewritten);
        stores.map(|&(at, bytes, slot, _)| Store { at, bytes, slot })
    }
}

/// Input of a checksum: the field's header (`None` for metadata and zeros), the field, and its width.
type SummedField = (Option<Header>, (FieldAt, u16));

/// Checksum that is computed after the headers are in place.
#[derive(Clone, Debug)]
struct Checksum {
    header: Header,
    /// Byte offset of the checksum in its header.
    offset: u32,
    /// Input fields; `None` if the inputs are the rest of the header in order.
    fields: Option<Vec<SummedField>>,
    /// 1-bit field that must be 1.
    when: Option<FieldAt>,
    zeros_as_ones: bool,
}

/// Validity bits of a column, and the shifts, right and then left, that bring them into a set of valid headers.
#[derive(Clone, Copy, Debug)]
struct ValidBits {
    slot: Slot,
    mask: u32,
    right: u8,
    left: u8,
}

/// Number for no plan.
const NO_PLAN: u32 = u32::MAX;

/// The deparser's work for one leaf and one set of valid headers.
#[derive(Clone, Debug)]
struct Plan {
    /// Next plan of the same leaf, or [`NO_PLAN`].
    next: u32,
    /// Set of valid headers, as [`ValidBits`] lay it out.
    valid: u64,
    /// New first byte relative to the old one; negative if the packet grows.
    start: i32,
    /// Headers that moved, in emission order: old offset, new offset, bytes.
    moves: Vec<(i32, i32, u32)>,
    stores: Stores,
    /// The stores for generated code: number of each stored header, its offset, and true if all of it is stored.
    headers: Vec<(u8, u32, bool)>,
    checksums: Vec<ChecksumAt>,
}

/// A lowered deparser.
#[derive(Clone, Debug, Default)]
pub(super) struct DeparserCode {
    emits: Vec<Emit>,
    valid: Vec<ValidBits>,
    checksums: Vec<Checksum>,
    plans: Vec<Plan>,
    /// Newest plan of each leaf.
    of_leaf: Vec<u32>,
    scratch: Vec<u8>,
}

impl DeparserCode {
    /// Lowers the deparser. `made` are the headers that actions may make valid, `written` the containers that actions
    /// may write.
    pub(super) fn new(
        program: &Program,
        gress: Gress,
        made: &BTreeSet<Header>,
        written: &BTreeSet<Container>,
        slots: &mut SlotMap<'_>,
    ) -> Result<DeparserCode, LowerError> {
        let deparser = &program.pipe(gress).deparser;
        let mut code = DeparserCode::default();
        for update in &deparser.checksums {
            let mut rest = program.header_list(update.header);
            rest.retain(|e| *e != Expr::Field(update.field));
            let bit = program.field_offset(update.header, update.field).unwrap_or(0);
            // No unit sees the result of another one, which the packet's bytes would have.
            let other = |u: &ChecksumUpdate| u.header == update.header && u.field != update.field;
            let whole = rest == update.inputs
                && !deparser.checksums.iter().any(other)
                && bit.is_multiple_of(16)
                && program.header_bits(update.header).is_multiple_of(16);
            let fields = (!whole).then(|| summed(program, &update.inputs, slots));
            let when = update.when.map(|f| slots.source(f));
            let zeros_as_ones = update.zeros_as_ones;
            let (header, offset) = (update.header, bit / 8);
            code.checksums.push(Checksum { header, offset, fields, when, zeros_as_ones });
        }
        if deparser.emit.len() > 64 {
            return Err(LowerError::new(format!("the {gress} deparser emits more than 64 headers")));
        }
        let mut povs = Vec::new();
        for &header in &deparser.emit {
            if made.contains(&header) || rewritten(program, header, written, slots) {
                claim_columns(program, header, made.contains(&header), written, slots);
            }
            povs.push(slots.valid_target(header));
            let stores = header_columns(program, header, slots)
                .into_iter()
                .zip(containers(program, header, slots))
                .map(|((at, bytes, slot), c)| (at, bytes, slot, written.contains(&c)))
                .collect();
            code.emits.push(Emit { header, bytes: program.header_bits(header) / 8, valid: None, stores });
        }
        code.valid = code.gather(&povs);
        Ok(code)
    }

    /// Gives each emitted header its bit in a set of valid headers. If at most two columns have validity bits, the bits
    /// of a column stay together; else each header's bit is shifted separately.
    fn gather(&mut self, povs: &[Option<(Slot, u8)>]) -> Vec<ValidBits> {
        let mut columns: Vec<(Slot, u32)> = Vec::new();
        for (slot, bit) in povs.iter().flatten() {
            match columns.iter_mut().find(|(s, _)| s == slot) {
                Some((_, mask)) => *mask |= 1 << bit,
                None => columns.push((*slot, 1 << bit)),
            }
        }
        if columns.len() > 2 {
            for (i, emit) in self.emits.iter_mut().enumerate() {
                emit.valid = povs[i].map(|_| i as u8);
            }
            let own = povs.iter().zip(0u8..).filter_map(|(pov, left)| {
                pov.map(|(slot, bit)| ValidBits { slot, mask: 1 << bit, right: bit, left })
            });
            return own.collect();
        }
        for (emit, pov) in self.emits.iter_mut().zip(povs) {
            let column = |slot: &Slot| columns.iter().position(|(s, _)| s == slot).unwrap_or(0) as u8;
            emit.valid = pov.map(|(slot, bit)| 32 * column(&slot) + bit);
        }
        let whole = |(&(slot, mask), i): (&(Slot, u32), u8)| ValidBits { slot, mask, right: 0, left: 32 * i };
        columns.iter().zip(0u8..).map(whole).collect()
    }

    /// Returns the sources of a set of valid headers: column, mask, right shift, left shift.
    pub(super) fn valid_bits(&self) -> impl Iterator<Item = (Slot, u32, u8, u8)> + '_ {
        self.valid.iter().map(|v| (v.slot, v.mask, v.right, v.left))
    }

    /// Returns the set of valid headers of each lane of `mask`.
    #[inline(always)]
    pub(super) fn valid<const N: usize>(&self, mask: u64, phv: &Phv<N>) -> [u64; N] {
        let mut valid = [0u64; N];
        for v in &self.valid {
            let column = phv.column(v.slot);
            for_lanes::<N>(mask, |l| {
                valid[l % N] |= u64::from((column[l % N].get() & v.mask) >> v.right) << v.left;
            });
        }
        valid
    }

    /// Rewrites the packets of `mask`, whose valid headers are given; returns the lanes whose packets had no room to
    /// grow.
    pub(super) fn run<const N: usize>(
        &mut self,
        mask: u64,
        valid: [u64; N],
        leaves: &[Leaf],
        lanes: &DeparserLanes<'_>,
        phv: &Phv<N>,
        packets: &mut PacketStore,
    ) -> u64 {
        if N == 1 {
            if mask == 0 {
                return 0;
            }
            let plan = self.plan(lanes.leaf[0], valid[0], leaves);
            return self.run_plan::<N>(plan, 1, lanes, phv, packets);
        }
        let (mut rest, mut no_room) = (mask, 0);
        while rest != 0 {
            let first = rest.trailing_zeros() as usize % 64;
            let (id, bits) = (lanes.leaf[first], valid[first % N]);
            let mut differ = 0;
            for_lanes::<N>(rest, |l| differ |= u64::from(lanes.leaf[l] ^ id) | (valid[l % N] ^ bits));
            let group = if differ == 0 {
                rest
            } else {
                lanes_where::<N>(rest, |l| lanes.leaf[l] == id && valid[l % N] == bits)
            };
            rest &= !group;
            let plan = self.plan(id, bits, leaves);
            no_room |= self.run_plan::<N>(plan, group, lanes, phv, packets);
        }
        no_room
    }

    /// Rewrites one packet; returns true if it had no room to grow. `store` stores a header's containers in its bytes: all if
    /// its second argument is true, else those that may have been rewritten.
    #[inline(always)]
    pub(super) fn rewrite(
        &mut self,
        (leaf, valid): (u16, u64),
        leaves: &[Leaf],
        (start, packet): (usize, Packet),
        phv: &Phv<1>,
        packets: &mut PacketStore,
        store: impl Fn(u8, bool, &mut [u8]),
    ) -> bool {
        let newest = self.of_leaf.get(usize::from(leaf)).copied();
        let known = newest.filter(|at| self.plans.get(*at as usize).is_some_and(|plan| plan.valid == valid));
        let plan = match known {
            Some(plan) => plan as usize,
            None => self.plan(leaf, valid, leaves),
        };
        let Some(plan) = self.plans.get(plan) else { return false };
        if plan.start < 0 && packets.room(packet) < plan.start.unsigned_abs() as usize {
            return true;
        }
        let heads = packets.heads_mut();
        let place = |at: i32| start.wrapping_add_signed(at as isize);
        if !plan.moves.is_empty() {
            move_headers(&plan.moves, heads, &mut self.scratch, place);
        }
        let first = place(plan.start);
        for &(header, at, whole) in &plan.headers {
            if let Some(bytes) = heads.get_mut(first + at as usize..) {
                store(header, whole, bytes);
            }
        }
        for c in &plan.checksums {
            c.run::<1>(1, phv, heads, |_| first);
        }
        if plan.start != 0 {
            packets.move_start(packet, plan.start);
        }
        false
    }

    /// Returns the headers that may be emitted: number, bytes, and two lists of stores, for the whole header and for
    /// what may have been rewritten.
    pub(super) fn stored(&self) -> impl Iterator<Item = (u8, u32, [Vec<Store>; 2])> + '_ {
        let both = |e: &Emit| [true, false].map(|whole| e.stored(whole).collect());
        (0..).zip(&self.emits).map(move |(number, e)| (number, e.bytes, both(e)))
    }

    /// Returns the index of the plan, which is made if there is none.
    fn plan(&mut self, leaf: u16, valid: u64, leaves: &[Leaf]) -> usize {
        if self.of_leaf.len() < leaves.len() {
            self.of_leaf.resize(leaves.len(), NO_PLAN);
        }
        let mut at = self.of_leaf[usize::from(leaf)];
        while at != NO_PLAN {
            let plan = &self.plans[at as usize];
            if plan.valid == valid {
                return at as usize;
            }
            at = plan.next;
        }
        let mut plan = self.make_plan(valid, &leaves[usize::from(leaf)]);
        let first = &mut self.of_leaf[usize::from(leaf)];
        plan.next = std::mem::replace(first, self.plans.len() as u32);
        self.plans.push(plan);
        self.plans.len() - 1
    }

    fn make_plan(&self, valid: u64, parsed: &Leaf) -> Plan {
        let is_valid = |e: &&Emit| e.valid.is_some_and(|bit| valid >> bit & 1 == 1);
        let emitted: Vec<(u8, &Emit)> = (0..).zip(&self.emits).filter(|(_, e)| is_valid(e)).collect();
        let length: u32 = emitted.iter().map(|(_, e)| e.bytes).sum();
        let start = parsed.payload as i32 - length as i32;
        let (mut moves, mut stores, mut checksums) = (Vec::new(), Vec::new(), Vec::new());
        let (mut at, mut headers) = (start, Vec::new());
        for (number, e) in emitted {
            let was = parsed.extracted.get(&e.header).map(|&o| o as i32);
            if let Some(was) = was.filter(|was| *was != at) {
                moves.push((was, at, e.bytes));
            }
            let here = (at - start) as u32;
            stores.extend(e.stored(was.is_none()).map(|s| Store { at: here + s.at, ..s }));
            if e.stored(was.is_none()).next().is_some() {
                headers.push((number, here, was.is_none()));
            }
            for c in self.checksums.iter().filter(|c| c.header == e.header) {
                checksums.push(self.checksum_at(c, here, e.bytes, valid));
            }
            at += e.bytes as i32;
        }
        Plan { next: NO_PLAN, valid, start, moves, stores: Stores::new(&stores), headers, checksums }
    }

    /// Returns a checksum with its place in the packet. Inputs from headers that are not valid are zeros.
    fn checksum_at(&self, c: &Checksum, header: u32, bytes: u32, valid: u64) -> ChecksumAt {
        let there = |h: Header| {
            self.emits.iter().any(|e| e.header == h && e.valid.is_some_and(|bit| valid >> bit & 1 == 1))
        };
        let present = |list: &Vec<SummedField>| {
            let one = |(home, (at, width)): &SummedField| match home.is_none_or(there) {
                true => (at.clone(), *width),
                false => (FieldAt::default(), *width),
            };
            list.iter().map(one).collect()
        };
        let fields = c.fields.as_ref().map(present);
        ChecksumAt {
            header,
            bytes,
            offset: c.offset,
            fields,
            when: c.when.clone(),
            zeros_as_ones: c.zeros_as_ones,
        }
    }

    fn run_plan<const N: usize>(
        &mut self,
        plan: usize,
        group: u64,
        lanes: &DeparserLanes<'_>,
        phv: &Phv<N>,
        packets: &mut PacketStore,
    ) -> u64 {
        let plan = &self.plans[plan];
        let mut no_room = 0;
        if plan.start < 0 {
            let grows = plan.start.unsigned_abs() as usize;
            for_lanes::<N>(group, |l| no_room |= u64::from(packets.room(lanes.batch[l].packet) < grows) << l);
        }
        let group = group & !no_room;
        let heads = packets.heads_mut();
        let place = |l: usize, at: i32| lanes.start[l].wrapping_add_signed(at as isize);
        if !plan.moves.is_empty() {
            let scratch = &mut self.scratch;
            for_lanes::<N>(group, |l| move_headers(&plan.moves, heads, scratch, |at| place(l, at)));
        }
        let first = |l: usize| place(l, plan.start);
        plan.stores.run::<N>(group, phv, heads, first);
        for c in &plan.checksums {
            c.run::<N>(group, phv, heads, first);
        }
        if plan.start != 0 {
            for_lanes::<N>(group, |l| packets.move_start(lanes.batch[l].packet, plan.start));
        }
        no_room
    }
}

/// Data of a batch's lanes that the deparser reads.
pub(super) struct DeparserLanes<'a> {
    /// Leaf at which each lane's parsing ended.
    pub(super) leaf: &'a [u16; 64],
    pub(super) batch: &'a [Pass],
    /// Offset of each packet's first byte among all heads.
    pub(super) start: &'a [usize; 64],
}

/// Copies moved headers through a scratch buffer, because their old and new places may overlap.
fn move_headers(
    moves: &[(i32, i32, u32)],
    heads: &mut [u8],
    scratch: &mut Vec<u8>,
    place: impl Fn(i32) -> usize,
) {
    scratch.clear();
    for &(from, _, bytes) in moves {
        let from = place(from);
        scratch.extend_from_slice(&heads[from..from + bytes as usize]);
    }
    let mut taken = 0;
    for &(_, to, bytes) in moves {
        let (to, bytes) = (place(to), bytes as usize);
        heads[to..to + bytes].copy_from_slice(&scratch[taken..taken + bytes]);
        taken += bytes;
    }
}

fn containers(program: &Program, header: Header, slots: &SlotMap<'_>) -> Vec<Container> {
    let mut list: Vec<Container> = Vec::new();
    for &f in &program.headers[header].fields {
        for s in slots.allocation().fields.get(f).map_or(&[][..], Vec::as_slice) {
            if list.last() != Some(&s.container) {
                list.push(s.container);
            }
        }
    }
    list
}

fn rewritten(program: &Program, header: Header, written: &BTreeSet<Container>, slots: &SlotMap<'_>) -> bool {
    containers(program, header, slots).iter().any(|c| written.contains(c))
}

/// Returns the inputs of a checksum; zeros have no column.
fn summed(program: &Program, inputs: &[Expr], slots: &mut SlotMap<'_>) -> Vec<SummedField> {
    let one = |input: &Expr| match input {
        Expr::Field(f) => {
            let home = match program.fields[*f].home {
                Home::Header(h) => Some(h),
                _ => None,
            };
            (home, (slots.source(*f), program.fields[*f].width))
        }
        _ => (None, (FieldAt::default(), input.width(program))),
    };
    inputs.iter().map(one).collect()
}

/// Gives columns to the containers that must be stored: the rewritten ones, or all of a header that the program can
/// make.
pub(super) fn claim_columns(
    program: &Program,
    header: Header,
    made: bool,
    written: &BTreeSet<Container>,
    slots: &mut SlotMap<'_>,
) {
    for c in containers(program, header, slots) {
        if made || written.contains(&c) {
            slots.slot(c);
        }
    }
}

/// Returns true if a field that starts as zero may have another value at the deparser.
pub(super) fn may_change(field: Field, touched: &BTreeSet<Container>, slots: &SlotMap<'_>) -> bool {
    containers_of(field, slots).any(|c| touched.contains(&c))
}

/// Returns the containers that hold a field.
pub(super) fn containers_of(field: Field, slots: &SlotMap<'_>) -> impl Iterator<Item = Container> + use<> {
    let list: Vec<Container> = slots
        .allocation()
        .fields
        .get(field)
        .map_or(&[][..], Vec::as_slice)
        .iter()
        .map(|s| s.container)
        .collect();
    list.into_iter()
}
