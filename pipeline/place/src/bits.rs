//! Container bits and bytes of a variable.

use super::data::{FieldSlice, PhvAllocation};
use sluice_asic::chip::ChipSpec;
use sluice_asic::phv::{Container, ContainerKind, PhvInventory};
use sluice_ir::cfg::Var;
use sluice_ir::{Key, Program};
use std::collections::{BTreeMap, BTreeSet};

/// One byte of a container; lane 0 is the least significant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ByteRef {
    /// Container.
    pub(crate) container: Container,
    /// Byte, 0 = least significant.
    pub(crate) lane: u8,
    /// Size of the container in bytes: 1, 2 or 4.
    pub(crate) of: u8,
}

impl ByteRef {
    /// Returns true if the input crossbar can bring this byte to absolute position `at`: bytes of 8-bit containers go
    /// anywhere, others keep their lane modulo the container's bytes (model: chip §1.3).
    pub(crate) fn may_stand_at(self, at: u16) -> bool {
        let of = u16::from(self.of.max(1));
        at % of == u16::from(self.lane) % of
    }
}

/// An allocation with the inventory of its containers.
pub(crate) struct PhvView<'a> {
    /// Allocation.
    pub(crate) alloc: &'a PhvAllocation,
    /// Containers of the chip.
    pub(crate) inventory: PhvInventory,
}

impl<'a> PhvView<'a> {
    /// Returns a view of `alloc` on `chip`.
    pub(crate) fn new(chip: &ChipSpec, alloc: &'a PhvAllocation) -> Self {
        PhvView { alloc, inventory: PhvInventory::new(&chip.phv) }
    }

    /// Returns the bits of a container: 8, 16 or 32; 0 if the chip has no such container.
    pub(crate) fn width(&self, container: Container) -> u16 {
        self.inventory.get(container).map_or(0, |info| info.size.bits() as u16)
    }

    /// Returns true if a match on the container makes a stage match-dependent.
    pub(crate) fn is_mocha(&self, container: Container) -> bool {
        self.inventory.get(container).is_some_and(|info| info.kind == ContainerKind::Mocha)
    }

    /// Formats a container byte, as in `W3.0`.
    pub(crate) fn byte_name(&self, byte: ByteRef) -> String {
        self.name_of_byte(byte.container, byte.lane)
    }

    /// Formats a byte of a container, as in `W3.0`.
    pub(crate) fn name_of_byte(&self, container: Container, lane: u8) -> String {
        match self.inventory.get(container) {
            Some(info) => format!("{info}.{lane}"),
            None => format!("?{}.{lane}", container.0),
        }
    }

    /// Returns the slices of a variable; empty if it is not allocated.
    pub(crate) fn slices(&self, var: Var) -> Vec<FieldSlice> {
        slices(self.alloc, var)
    }

    /// Returns the containers with bits of these variables.
    pub(crate) fn containers(&self, vars: &[Var]) -> BTreeSet<Container> {
        containers(self.alloc, vars)
    }

    /// Returns the slices of bits `lo..lo + count` of one variable, with bit numbers counted from `lo`.
    pub(crate) fn slices_of_bits(&self, var: Var, lo: u16, count: u16) -> Vec<FieldSlice> {
        self.slices(var).iter().filter_map(|s| s.within(lo, count)).collect()
    }

    /// Returns the container bytes with bits of these variables, each with a mask of these bits.
    pub(crate) fn bytes(&self, vars: impl IntoIterator<Item = Var>) -> BTreeMap<ByteRef, u8> {
        let mut found = BTreeMap::new();
        for slice in vars.into_iter().flat_map(|var| self.slices(var)) {
            self.add_bits(&mut found, &slice, slice.lo, slice.width);
        }
        found
    }

    /// Returns the container bytes of bits `lo..lo + count` of one variable.
    pub(crate) fn bytes_of_bits(&self, var: Var, lo: u16, count: u16) -> BTreeMap<ByteRef, u8> {
        let mut found = BTreeMap::new();
        for slice in self.slices(var) {
            let from = slice.lo.max(lo);
            let to = slice.lo.saturating_add(slice.width).min(lo.saturating_add(count));
            if from < to {
                self.add_bits(&mut found, &slice, from, to - from);
            }
        }
        found
    }

    /// Returns the container bytes that keys compare, each with a mask of the bits.
    pub(crate) fn key_bytes<'k>(
        &self,
        program: &Program,
        keys: impl IntoIterator<Item = &'k Key>,
    ) -> BTreeMap<ByteRef, u8> {
        let mut found = BTreeMap::new();
        for key in keys {
            let compared = key.compared(program);
            for slice in slices(self.alloc, key.var()) {
                let Some(part) = slice.within(key.lo(), key.width(program)) else { continue };
                for bit in part.lo..part.lo + part.width {
                    if compared >> bit & 1 == 1 {
                        self.add_bits(&mut found, &part, bit, 1);
                    }
                }
            }
        }
        found
    }

    /// Returns a mask of the bits of a container byte that are ever in use.
    pub(crate) fn occupied(&self, byte: ByteRef) -> u8 {
        let fields = self.alloc.fields.values().flatten().map(|s| (s.container, u16::from(s.at), s.width));
        let valid = self.alloc.valid.values().flatten().map(|p| (p.container, u16::from(p.bit), 1));
        let of_byte = fields.chain(valid).filter(|(container, ..)| *container == byte.container);
        let first = u16::from(byte.lane) * 8;
        let bit = |at: u16, (_, from, width): (Container, u16, u16)| (from..from + width).contains(&at);
        of_byte.fold(0, |mask, slice| {
            (0..8).filter(|i| bit(first + i, slice)).fold(mask, |mask, i| mask | 1 << i)
        })
    }

    fn add_bits(&self, found: &mut BTreeMap<ByteRef, u8>, slice: &FieldSlice, lo: u16, count: u16) {
        let of = (self.width(slice.container) / 8) as u8;
        for bit in lo..lo.saturating_add(count) {
            let at = u16::from(slice.at) + (bit - slice.lo);
            let byte = ByteRef { container: slice.container, lane: (at / 8) as u8, of };
            *found.entry(byte).or_insert(0) |= 1 << (at % 8);
        }
    }
}

/// Returns the slices of a variable; empty if it is not allocated.
pub(crate) fn slices(alloc: &PhvAllocation, var: Var) -> Vec<FieldSlice> {
    match var {
        Var::Field(field) => alloc.fields.get(field).cloned().unwrap_or_default(),
        Var::Valid(header) => {
            let pov = alloc.valid.get(header).copied().flatten();
            pov.map(|p| FieldSlice { lo: 0, width: 1, container: p.container, at: p.bit })
                .into_iter()
                .collect()
        }
    }
}

/// Returns the containers with bits of these variables.
pub(crate) fn containers(alloc: &PhvAllocation, vars: &[Var]) -> BTreeSet<Container> {
    vars.iter().flat_map(|&var| slices(alloc, var)).map(|slice| slice.container).collect()
}

/// Returns the bits needed to tell `values` values apart.
pub(crate) const fn bits_for(values: u32) -> u32 {
    if values <= 1 { 0 } else { (values - 1).ilog2() + 1 }
}
