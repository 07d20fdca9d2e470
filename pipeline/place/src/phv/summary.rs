//! Summary of an allocation for reports: use per group, and the content of each container.

use crate::data::PhvAllocation;
use serde::{Serialize, Serializer};
use sluice_asic::alu::AluOp;
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::phv::{Container, ContainerKind, ContainerSize, PhvInventory};
use sluice_ir::cfg::Var;
use sluice_ir::entity::Entity;
use sluice_ir::{Expr, Field, PrimitiveKind, Program};
use std::collections::{BTreeMap, BTreeSet};

/// Use of the containers of one size and kind in one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct GroupUsage {
    /// MAU group; for tagalong containers the collection, from 0.
    pub group: u16,
    /// Size; serialised as its bits.
    #[serde(serialize_with = "bits")]
    pub size: ContainerSize,
    /// Kind.
    pub kind: ContainerKind,
    /// Number of containers on the chip.
    pub containers: u32,
    /// Containers in use, by [`Gress::index`].
    #[serde(serialize_with = "by_gress")]
    pub used: [u32; 2],
    /// Bits in use in these containers, by [`Gress::index`].
    #[serde(serialize_with = "by_gress")]
    pub bits: [u32; 2],
    /// Number of bits on the chip.
    pub bits_available: u32,
}

fn bits<S: Serializer>(size: &ContainerSize, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u32(size.bits())
}

fn by_gress<S: Serializer>(values: &[u32; 2], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(Gress::ALL.iter().zip(values))
}

/// Bits of one variable in a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowSlice {
    /// Field or validity bit.
    pub var: Var,
    /// Lowest bit of the variable in this container.
    pub lo: u16,
    /// Number of bits.
    pub width: u16,
    /// Bit of the container that holds bit `lo`.
    pub at: u8,
}

/// Content of one container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerRow {
    /// Container.
    pub container: Container,
    /// Name (`W12`).
    pub name: String,
    /// Gress that uses the container.
    pub gress: Gress,
    /// Variables, from the most significant bit on.
    pub slices: Vec<RowSlice>,
}

impl ContainerRow {
    /// Returns the bits in use; bits that several fields use one after the other count once.
    #[must_use]
    pub fn bits(&self) -> u32 {
        let mask = |s: &RowSlice| ((1_u64 << s.width.min(32)) - 1) << s.at;
        self.slices.iter().fold(0, |bits, s| bits | mask(s)).count_ones()
    }
}

/// A number in two containers, with the carry of its sums and differences between them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CarryRow {
    /// Field.
    #[serde(skip)]
    pub field: Field,
    /// Name.
    #[serde(rename = "field")]
    pub name: String,
    /// Name of the container of the low 32 bits.
    pub low: String,
    /// Name of the container of the other bits.
    pub high: String,
}

/// Summary of a placed program's PHV.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PhvSummary {
    /// Use of containers, by size in order of addresses, then kind, then group.
    pub groups: Vec<GroupUsage>,
    /// Containers in use, in order.
    #[serde(skip)]
    pub rows: Vec<ContainerRow>,
    /// Numbers of more than 32 bits in sums and differences, in order of declaration.
    pub carries: Vec<CarryRow>,
    /// Number of validity bits, by [`Gress::index`].
    #[serde(serialize_with = "by_gress")]
    pub pov_bits: [u32; 2],
    /// Most validity bits of a gress.
    pub pov_available: u32,
}

/// Returns the summary of an allocation. Containers that the chip does not have are left out.
#[must_use]
pub fn summary(program: &Program, chip: &ChipSpec, allocation: &PhvAllocation) -> PhvSummary {
    let inventory = PhvInventory::new(&chip.phv);
    let rows = rows(program, &inventory, allocation);
    let mut groups: BTreeMap<(ContainerSize, ContainerKind, u16), GroupUsage> = BTreeMap::new();
    let mut collections: Vec<u16> = Vec::new();
    for (_, info) in inventory.iter().filter(|(_, i)| i.mau_group.is_none()) {
        if !collections.contains(&info.gress_group) {
            collections.push(info.gress_group);
        }
    }
    for (container, info) in inventory.iter() {
        let collection = collections.iter().position(|c| *c == info.gress_group).unwrap_or(0) as u16;
        let group = info.mau_group.unwrap_or(collection);
        let usage = groups.entry((info.size, info.kind, group)).or_insert(GroupUsage {
            group,
            size: info.size,
            kind: info.kind,
            containers: 0,
            used: [0; 2],
            bits: [0; 2],
            bits_available: 0,
        });
        usage.containers += 1;
        usage.bits_available += info.size.bits();
        if let Ok(at) = rows.binary_search_by_key(&container, |r| r.container) {
            let row = &rows[at];
            usage.used[row.gress.index()] += 1;
            usage.bits[row.gress.index()] += row.bits();
        }
    }
    let mut groups: Vec<GroupUsage> = groups.into_values().collect();
    groups.sort_by_key(|g| (ContainerSize::ALL.iter().position(|s| *s == g.size), g.kind, g.group));
    let pov = |gress| {
        allocation.valid.iter().filter(|(h, b)| b.is_some() && program.headers[*h].gress == gress).count()
            as u32
    };
    let carries = carries(program, &inventory, allocation);
    PhvSummary { groups, rows, carries, pov_bits: Gress::ALL.map(pov), pov_available: chip.phv.pov_bits }
}

/// Returns the fields of more than 32 bits that are operands or results of sums and differences.
fn carries(program: &Program, inventory: &PhvInventory, allocation: &PhvAllocation) -> Vec<CarryRow> {
    let mut fields = BTreeSet::new();
    for p in program.actions.values().flat_map(|a| &a.body) {
        if let PrimitiveKind::Set(dst, value @ Expr::Alu(AluOp::Add | AluOp::Sub, ..)) = &p.kind {
            fields.insert(*dst);
            value.fields(&mut |f| {
                fields.insert(f);
            });
        }
    }
    let row = |field: Field| {
        let [high, low] = allocation.slices(field) else { return None };
        let name = |c: Container| Some(inventory.get(c)?.to_string());
        let (low, high) = (name(low.container)?, name(high.container)?);
        Some(CarryRow { field, name: program.fields.get(field)?.name.clone(), low, high })
    };
    fields.into_iter().filter_map(row).collect()
}

fn rows(program: &Program, inventory: &PhvInventory, allocation: &PhvAllocation) -> Vec<ContainerRow> {
    let mut held: BTreeMap<Container, (Gress, Vec<RowSlice>)> = BTreeMap::new();
    for field in allocation.fields.keys().filter(|f| f.index() < program.fields.len()) {
        let gress = program.fields[field].gress;
        for s in allocation.slices(field) {
            let slice = RowSlice { var: Var::Field(field), lo: s.lo, width: s.width, at: s.at };
            held.entry(s.container).or_insert((gress, Vec::new())).1.push(slice);
        }
    }
    let valid = allocation.valid.iter().filter(|(h, _)| h.index() < program.headers.len());
    for (header, bit) in valid.filter_map(|(h, b)| b.map(|b| (h, b))) {
        let slice = RowSlice { var: Var::Valid(header), lo: 0, width: 1, at: bit.bit };
        let gress = program.headers[header].gress;
        held.entry(bit.container).or_insert((gress, Vec::new())).1.push(slice);
    }
    held.into_iter()
        .filter_map(|(container, (gress, mut slices))| {
            slices.sort_by_key(|s| std::cmp::Reverse(s.at));
            let name = inventory.get(container)?.to_string();
            Some(ContainerRow { container, name, gress, slices })
        })
        .collect()
}
