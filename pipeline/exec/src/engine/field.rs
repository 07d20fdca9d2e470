//! Fields as bits of columns, and the map from containers to columns.
//!
//! A container has a column only if something reads or writes it between parser and deparser; bytes that only pass through
//! stay in the packet.

use super::batch::{Phv, Slot, deposit, for_lanes};
use sluice_asic::phv::Container;
use sluice_ir::cfg::Var;
use sluice_ir::entity::Entity;
use sluice_ir::{Field, Header, Key, Program};
use sluice_place::{FieldSlice, PhvAllocation, PovBit};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Bits of a field in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) slot: Slot,
    /// Bit of the column for bit `lo` of the field.
    pub(super) at: u8,
    /// Lowest bit of the field in this piece.
    pub(super) lo: u8,
    pub(super) width: u8,
    /// Bits of the column that a write of the piece must keep; 0 if the container has nothing else.
    pub(super) keep: u32,
}

impl Piece {
    /// Returns the field's bit after the last one of this piece.
    pub(super) fn end(self) -> u16 {
        u16::from(self.lo) + u16::from(self.width)
    }

    /// Returns a mask of the piece's width, right-aligned.
    pub(super) const fn mask(self) -> u32 {
        ones(self.width)
    }
}

/// Returns `width` ones (0..=32).
pub(super) const fn ones(width: u8) -> u32 {
    if width >= 32 { u32::MAX } else { (1 << width) - 1 }
}

/// A field of a lane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FieldAt {
    pub(super) pieces: SmallVec<[Piece; 2]>,
}

impl FieldAt {
    /// Returns the field's only piece; `None` if there are several.
    pub(super) fn single(&self) -> Option<Piece> {
        match self.pieces.as_slice() {
            [piece] => Some(*piece),
            _ => None,
        }
    }

    pub(super) fn read<const N: usize>(&self, phv: &Phv<N>, lane: usize) -> u128 {
        self.pieces
            .iter()
            .fold(0, |value, p| value | u128::from((phv.get(p.slot, lane) >> p.at) & p.mask()) << p.lo)
    }

    pub(super) fn write<const N: usize>(&self, phv: &Phv<N>, lane: usize, value: u128) {
        for p in &self.pieces {
            let cell = &phv.column(p.slot)[lane];
            let bits = ((value >> p.lo) as u32 & p.mask()) << p.at;
            cell.set(cell.get() & p.keep | bits);
        }
    }

    /// Writes a value of at most 64 bits for each lane of `mask`.
    #[inline(always)]
    pub(super) fn write_lanes<const N: usize>(&self, mask: u64, phv: &Phv<N>, value: impl Fn(usize) -> u64) {
        match self.single() {
            Some(p) => {
                let bits = p.mask();
                deposit::<N>(phv.column(p.slot), p.keep, mask, |l| (value(l) as u32 & bits) << p.at);
            }
            None => for_lanes::<N>(mask, |l| self.write(phv, l, u128::from(value(l)))),
        }
    }

    /// Calls `put` with the low 32 bits of the field in each lane of `mask`.
    #[inline(always)]
    pub(super) fn read_lanes<const N: usize>(
        &self,
        mask: u64,
        phv: &Phv<N>,
        mut put: impl FnMut(usize, u32),
    ) {
        match self.single() {
            Some(p) => {
                let (column, bits) = (phv.column(p.slot), p.mask());
                for_lanes::<N>(mask, |l| put(l, column[l % N].get() >> p.at & bits));
            }
            None => for_lanes::<N>(mask, |l| put(l, self.read(phv, l) as u32)),
        }
    }

    /// Returns the low 32 bits of the field.
    #[inline(always)]
    pub(super) fn read32<const N: usize>(&self, phv: &Phv<N>, lane: usize) -> u32 {
        match self.pieces.as_slice() {
            [p] => phv.get(p.slot, lane) >> p.at & p.mask(),
            _ => self.read(phv, lane) as u32,
        }
    }
}

/// Assigns columns to the containers of one gress.
pub(super) struct SlotMap<'a> {
    phv: &'a PhvAllocation,
    slots: BTreeMap<Container, Slot>,
    next: Slot,
    /// Containers whose reads go to their shadow, while a node with a hazard is lowered.
    shadow: BTreeMap<Container, Slot>,
    /// Bits in use of each container.
    used: BTreeMap<Container, u32>,
    /// Bits in use of each column.
    used_of: Vec<u32>,
}

impl<'a> SlotMap<'a> {
    pub(super) fn new(phv: &'a PhvAllocation) -> Self {
        let mut used: BTreeMap<Container, u32> = BTreeMap::new();
        for s in phv.fields.values().flatten() {
            *used.entry(s.container).or_default() |= ones(s.width as u8) << s.at;
        }
        for pov in phv.valid.values().flatten() {
            *used.entry(pov.container).or_default() |= 1 << pov.bit;
        }
        let (slots, shadow, used_of) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        SlotMap { phv, slots, next: 0, shadow, used, used_of }
    }

    /// Returns `keep` without the bits of the column that nothing sets.
    pub(super) fn kept(&self, slot: Slot, keep: u32) -> u32 {
        self.used_of.get(usize::from(slot)).map_or(keep, |used| keep & used)
    }

    pub(super) fn len(&self) -> usize {
        usize::from(self.next)
    }

    /// Returns the column of a container, which is created if there is none.
    pub(super) fn slot(&mut self, container: Container) -> Slot {
        let (next, used_of) = (&mut self.next, &mut self.used_of);
        let used = self.used.get(&container).copied().unwrap_or(0);
        *self.slots.entry(container).or_insert_with(|| {
            used_of.push(used);
            take(next)
        })
    }

    /// Returns the column of a container; `None` if it has none.
    pub(super) fn existing(&self, container: Container) -> Option<Slot> {
        self.slots.get(&container).copied()
    }

    /// Returns a new column without a container.
    pub(super) fn scratch(&mut self) -> Slot {
        self.used_of.push(u32::MAX);
        take(&mut self.next)
    }

    /// Sets the containers whose reads go to their shadows.
    pub(super) fn set_shadow(&mut self, shadow: BTreeMap<Container, Slot>) {
        self.shadow = shadow;
    }

    /// Returns the containers in which two fields share bits.
    pub(super) fn shared(&self, a: Field, b: Field) -> Vec<Container> {
        let of = |f: Field| self.phv.fields.get(f).map_or(&[][..], |slices| slices);
        let bits = |s: &FieldSlice| ones(s.width as u8) << s.at;
        let meets =
            |s: &&FieldSlice| of(b).iter().any(|t| t.container == s.container && bits(s) & bits(t) != 0);
        of(a).iter().filter(meets).map(|s| s.container).collect()
    }

    /// Returns where to write a field.
    pub(super) fn target(&mut self, field: Field) -> FieldAt {
        self.field(field, false)
    }

    /// Returns where to write bits `hi` to `lo` of a field.
    pub(super) fn target_bits(&mut self, field: Field, hi: u16, lo: u16) -> FieldAt {
        let slices = self.phv.fields.get(field).cloned().unwrap_or_default();
        self.part(&slices, lo, (hi + 1).saturating_sub(lo), false)
    }

    /// Returns bits `lo..lo + count` of a variable, counted from 0. All its containers get a column, because those that fill
    /// a field rely on it that a field has columns for all its bits or for none.
    fn part(&mut self, slices: &[FieldSlice], lo: u16, count: u16, read: bool) -> FieldAt {
        let mut pieces = SmallVec::new();
        for s in slices {
            let slot = self.slot(s.container);
            let slot = if read { self.shadow.get(&s.container).copied().unwrap_or(slot) } else { slot };
            if let Some(inside) = s.within(lo, count) {
                pieces.push(self.piece(inside, slot));
            }
        }
        FieldAt { pieces }
    }

    /// Returns where to read a field.
    pub(super) fn source(&mut self, field: Field) -> FieldAt {
        self.field(field, true)
    }

    /// Returns where to read bits `hi` to `lo` of a field, counted from 0.
    pub(super) fn source_bits(&mut self, field: Field, hi: u16, lo: u16) -> FieldAt {
        let slices = self.phv.fields.get(field).cloned().unwrap_or_default();
        self.part(&slices, lo, (hi + 1).saturating_sub(lo), true)
    }

    fn field(&mut self, field: Field, read: bool) -> FieldAt {
        let slices = self.phv.fields.get(field).cloned().unwrap_or_default();
        let mut pieces = SmallVec::new();
        for s in slices {
            let slot = self.slot(s.container);
            let slot = if read { self.shadow.get(&s.container).copied().unwrap_or(slot) } else { slot };
            pieces.push(self.piece(s, slot));
        }
        FieldAt { pieces }
    }

    /// Returns where to read the bits of a key.
    pub(super) fn key(&mut self, key: &Key, program: &Program) -> FieldAt {
        let slices: Vec<FieldSlice> = match key.var() {
            Var::Field(field) => self.phv.fields.get(field).cloned().unwrap_or_default(),
            Var::Valid(header) => {
                let bit = |p: PovBit| FieldSlice { lo: 0, width: 1, container: p.container, at: p.bit };
                self.pov(header).map(bit).into_iter().collect()
            }
        };
        self.part(&slices, key.lo(), key.width(program), true)
    }

    /// Returns where to write those bits of a field whose containers have a column; nothing reads the others.
    pub(super) fn known(&self, field: Field) -> FieldAt {
        let slices = self.phv.fields.get(field).map_or(&[][..], Vec::as_slice);
        let pieces =
            slices.iter().filter_map(|s| self.existing(s.container).map(|slot| self.piece(*s, slot)));
        FieldAt { pieces: pieces.collect() }
    }

    fn piece(&self, s: FieldSlice, slot: Slot) -> Piece {
        let keep = self.kept(slot, !(ones(s.width as u8) << s.at));
        Piece { slot, at: s.at, lo: s.lo as u8, width: s.width as u8, keep }
    }

    /// Returns where to write a header's validity bit.
    pub(super) fn valid_target(&mut self, header: Header) -> Option<(Slot, u8)> {
        let PovBit { container, bit } = self.pov(header)?;
        Some((self.slot(container), bit))
    }

    /// Returns where to read a header's validity bit.
    pub(super) fn valid_source(&mut self, header: Header) -> Option<(Slot, u8)> {
        let PovBit { container, bit } = self.pov(header)?;
        let slot = self.slot(container);
        Some((self.shadow.get(&container).copied().unwrap_or(slot), bit))
    }

    pub(super) fn pov(&self, header: Header) -> Option<PovBit> {
        if header.index() < self.phv.valid.len() { self.phv.valid[header] } else { None }
    }

    pub(super) fn allocation(&self) -> &'a PhvAllocation {
        self.phv
    }
}

fn take(next: &mut Slot) -> Slot {
    let slot = *next;
    *next += 1;
    slot
}
