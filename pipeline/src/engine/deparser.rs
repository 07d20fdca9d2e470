//! The deparser: for each parse path and set of valid headers one plan, made when first seen.
//!
//! A header that still stands where it was extracted needs only its rewritten containers stored; one that
//! moved is copied first; one that the program made is stored whole. What may not live here: control.

use super::LowerError;
use super::batch::{Phv, Slot, for_lanes, lanes_where};
use super::field::{FieldAt, SlotMap};
use super::parser::{Leaf, header_columns, sum_bytes, sum_fields};
use crate::ir::{Field, Header, Program};
use crate::packet::{HeadSpan, Packet, PacketStore};
use sluice_asic::gress::Gress;
use sluice_asic::phv::Container;
use std::collections::BTreeSet;

/// A header that the deparser may emit.
#[derive(Clone, Debug)]
struct Emit {
    header: Header,
    bytes: u32,
    pov: Option<(Slot, u8)>,
    /// Offset, size, column and whether the MAU may have rewritten it.
    stores: Vec<(u32, u8, Option<Slot>, bool)>,
}

/// A checksum to compute after the headers stand.
#[derive(Clone, Debug)]
struct Checksum {
    header: Header,
    /// Byte offset of the checksum in its header.
    offset: u32,
    /// The inputs if they are not just the rest of the header.
    fields: Option<Vec<(FieldAt, u16)>>,
}

/// A store of one container, relative to the packet's old first byte.
#[derive(Clone, Copy, Debug)]
struct Store {
    at: i32,
    bytes: u8,
    /// `None` stores zeros: the header became valid without a field ever set.
    slot: Option<Slot>,
}

/// A checksum at a place.
#[derive(Clone, Copy, Debug)]
struct ChecksumAt {
    header: i32,
    bytes: u32,
    offset: u32,
    index: usize,
}

/// What to do for one leaf and one set of valid headers.
#[derive(Clone, Debug)]
struct Plan {
    leaf: u16,
    valid: u64,
    /// New first byte relative to the old one; negative when the packet grows.
    start: i32,
    /// From, to, length: headers that moved, in emission order.
    moves: Vec<(i32, i32, u32)>,
    stores: Vec<Store>,
    checksums: Vec<ChecksumAt>,
}

/// A lowered deparser.
#[derive(Debug, Default)]
pub(super) struct DeparserCode {
    emits: Vec<Emit>,
    checksums: Vec<Checksum>,
    plans: Vec<Plan>,
    scratch: Vec<u8>,
}

impl DeparserCode {
    /// `made` are the headers that actions may make valid, `written` the containers that actions may write.
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
            let rest: Vec<Field> = program.headers[update.header]
                .fields
                .iter()
                .copied()
                .filter(|f| *f != update.field)
                .collect();
            let bit = program.field_offset(update.header, update.field).unwrap_or(0);
            let whole = rest == update.inputs
                && bit.is_multiple_of(16)
                && program.header_bits(update.header).is_multiple_of(16);
            let fields = (!whole)
                .then(|| update.inputs.iter().map(|&f| (slots.source(f), program.fields[f].width)).collect());
            code.checksums.push(Checksum { header: update.header, offset: bit / 8, fields });
        }
        if deparser.emit.len() > 64 {
            return Err(LowerError::new(format!("the {gress} deparser emits more than 64 headers")));
        }
        for &header in &deparser.emit {
            if made.contains(&header) || rewritten(program, header, written, slots) {
                claim_columns(program, header, made.contains(&header), written, slots);
            }
            let pov = slots.valid_target(header);
            let stores = header_columns(program, header, slots)
                .into_iter()
                .zip(containers(program, header, slots))
                .map(|((at, bytes, slot), c)| (at, bytes, slot, written.contains(&c)))
                .collect();
            code.emits.push(Emit { header, bytes: program.header_bits(header) / 8, pov, stores });
        }
        Ok(code)
    }

    /// Rewrites the packets of `mask` and returns the lanes that had no room.
    pub(super) fn run(
        &mut self,
        mask: u64,
        leaves: &[Leaf],
        leaf: &[u16; 64],
        phv: &Phv,
        packets: &mut PacketStore,
        lanes: &[(Packet, HeadSpan)],
    ) -> u64 {
        let mut valid = [0u64; 64];
        for (i, emit) in self.emits.iter().enumerate() {
            if let Some((slot, bit)) = emit.pov {
                let column = phv.column(slot);
                for_lanes(mask, |l| valid[l] |= u64::from(column[l].get() >> bit & 1) << i);
            }
        }
        let (mut rest, mut no_room) = (mask, 0);
        while rest != 0 {
            let first = rest.trailing_zeros() as usize;
            let (id, bits) = (leaf[first], valid[first]);
            let group = lanes_where(rest, |l| leaf[l] == id && valid[l] == bits);
            rest &= !group;
            let plan = self.plan(id, bits, leaves);
            no_room |= self.run_plan(plan, group, phv, packets, lanes);
        }
        no_room
    }

    /// The plan's position, made if it is new.
    fn plan(&mut self, leaf: u16, valid: u64, leaves: &[Leaf]) -> usize {
        if let Some(i) = self.plans.iter().position(|p| p.leaf == leaf && p.valid == valid) {
            return i;
        }
        let plan = self.make_plan(leaf, valid, &leaves[usize::from(leaf)]);
        self.plans.push(plan);
        self.plans.len() - 1
    }

    fn make_plan(&self, leaf: u16, valid: u64, parsed: &Leaf) -> Plan {
        let emitted: Vec<&Emit> =
            self.emits.iter().enumerate().filter(|(i, _)| valid >> i & 1 == 1).map(|(_, e)| e).collect();
        let length: u32 = emitted.iter().map(|e| e.bytes).sum();
        let start = parsed.payload as i32 - length as i32;
        let mut plan =
            Plan { leaf, valid, start, moves: Vec::new(), stores: Vec::new(), checksums: Vec::new() };
        let mut at = start;
        for e in emitted {
            let was = parsed.extracted.get(&e.header).map(|&o| o as i32);
            if let Some(was) = was.filter(|was| *was != at) {
                plan.moves.push((was, at, e.bytes));
            }
            for &(offset, bytes, slot, rewritten) in &e.stores {
                if rewritten || was.is_none() {
                    plan.stores.push(Store { at: at + offset as i32, bytes, slot });
                }
            }
            for (index, c) in self.checksums.iter().enumerate().filter(|(_, c)| c.header == e.header) {
                plan.checksums.push(ChecksumAt { header: at, bytes: e.bytes, offset: c.offset, index });
            }
            at += e.bytes as i32;
        }
        plan
    }

    fn run_plan(
        &mut self,
        plan: usize,
        group: u64,
        phv: &Phv,
        packets: &mut PacketStore,
        lanes: &[(Packet, HeadSpan)],
    ) -> u64 {
        let plan = &self.plans[plan];
        let no_room = lanes_where(group, |l| {
            let span = lanes[l].1;
            plan.start < 0 && span.start - span.room < plan.start.unsigned_abs() as usize
        });
        let group = group & !no_room;
        let heads = packets.heads_mut();
        let place = |l: usize, at: i32| lanes[l].1.start.wrapping_add_signed(at as isize);
        if !plan.moves.is_empty() {
            let scratch = &mut self.scratch;
            for_lanes(group, |l| move_headers(&plan.moves, heads, scratch, |at| place(l, at)));
        }
        for store in &plan.stores {
            store.run(group, phv, heads, place);
        }
        for c in &plan.checksums {
            let fields = self.checksums[c.index].fields.as_deref();
            for_lanes(group, |l| {
                let header = place(l, c.header);
                c.write(&mut heads[header..header + c.bytes as usize], fields, phv, l);
            });
        }
        if plan.start != 0 {
            for_lanes(group, |l| packets.set_start(lanes[l].0, place(l, plan.start) - lanes[l].1.room));
        }
        no_room
    }
}

/// Copies moved headers through a scratch buffer: their old and new places may overlap.
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

impl Store {
    #[inline(always)]
    fn run(self, group: u64, phv: &Phv, heads: &mut [u8], place: impl Fn(usize, i32) -> usize) {
        let Some(slot) = self.slot else {
            for_lanes(group, |l| {
                let at = place(l, self.at);
                heads[at..at + usize::from(self.bytes)].fill(0);
            });
            return;
        };
        let column = phv.column(slot);
        match self.bytes {
            1 => for_lanes(group, |l| heads[place(l, self.at)] = column[l].get() as u8),
            2 => for_lanes(group, |l| {
                let at = place(l, self.at);
                heads[at..at + 2].copy_from_slice(&(column[l].get() as u16).to_be_bytes());
            }),
            _ => for_lanes(group, |l| {
                let at = place(l, self.at);
                heads[at..at + 4].copy_from_slice(&column[l].get().to_be_bytes());
            }),
        }
    }
}

impl ChecksumAt {
    #[inline(always)]
    fn write(&self, header: &mut [u8], fields: Option<&[(FieldAt, u16)]>, phv: &Phv, lane: usize) {
        let at = self.offset as usize;
        let sum = match fields {
            Some(fields) => sum_fields(fields, phv, lane),
            None => {
                header[at..at + 2].fill(0);
                sum_bytes(header)
            }
        };
        header[at..at + 2].copy_from_slice(&(!sum).to_be_bytes());
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

/// Gives columns to the containers that must be stored: the rewritten ones, or all of a header that the
/// program can make.
fn claim_columns(
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

/// The containers that hold a field.
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
