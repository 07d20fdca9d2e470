//! What the author demands of a placement: rules about the containers of fields and about the memory and order of tables.
//!
//! They have no effect on packets. P4 states them as annotations (`@pa_container_size`, `@ways`, ...). A placement that breaks a
//! rule is refused.

use super::{Field, Loc};
use sluice_asic::phv::ContainerKind;

/// A demand on the containers of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerRule {
    /// The field.
    pub field: Field,
    /// The demand.
    pub demand: ContainerDemand,
    /// Source location.
    pub loc: Loc,
}

/// Kinds of demands on the containers of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContainerDemand {
    /// Sizes in bits: 8, 16 or 32. With one size, all bits are in containers of this size, and in one container if it has room
    /// for them. With several, the first container has the least significant bits, and the last one may be partially filled.
    Sizes(Vec<u8>),
    /// All bits are in one container.
    Atomic,
    /// No other field has bits in the field's containers, except fields that take turns at the same bits.
    Solitary,
    /// No other field has the same bits of a container, at any time.
    NoOverlay,
    /// Kind of all containers.
    Kind(ContainerKind),
}

impl ContainerDemand {
    /// Returns the lowest bit, the number of bits and the container size of each part that several sizes demand of a field of
    /// this width, the lowest part first. Bits above the last part, and all bits under another demand, are free.
    #[must_use]
    pub fn parts(&self, width: u16) -> Vec<(u16, u16, u8)> {
        let ContainerDemand::Sizes(sizes) = self else { return Vec::new() };
        if let [size] = sizes[..] {
            let step = usize::from(size.max(1));
            return (0..width).step_by(step).map(|lo| (lo, (width - lo).min(size.into()), size)).collect();
        }
        let mut lo = 0;
        let mut part = |size: &u8| {
            let bits = u16::from(*size).min(width - lo);
            lo += bits;
            (lo - bits, bits, *size)
        };
        sizes.iter().map(&mut part).filter(|(_, bits, _)| *bits > 0).collect()
    }

    /// Returns the name of the annotation with which P4 states the demand.
    #[must_use]
    pub const fn annotation(&self) -> &'static str {
        match self {
            ContainerDemand::Sizes(_) => "pa_container_size",
            ContainerDemand::Atomic => "pa_atomic",
            ContainerDemand::Solitary => "pa_solitary",
            ContainerDemand::NoOverlay => "pa_no_overlay",
            ContainerDemand::Kind(_) => "pa_container_type",
        }
    }
}

impl ContainerRule {
    /// Returns the rule as an annotation of P4, with this name of the field.
    #[must_use]
    pub fn p4(&self, gress: sluice_asic::gress::Gress, field: &str) -> String {
        let rest = match &self.demand {
            ContainerDemand::Sizes(sizes) => sizes.iter().map(|size| format!(", {size}")).collect(),
            ContainerDemand::Kind(kind) => format!(", \"{}\"", kind_name(*kind)),
            ContainerDemand::Atomic | ContainerDemand::Solitary | ContainerDemand::NoOverlay => String::new(),
        };
        format!("@{}(\"{gress}\", \"{field}\"{rest})", self.demand.annotation())
    }
}

/// Kinds of containers with their names in P4's annotation and in the text form.
pub const CONTAINER_KINDS: [(&str, ContainerKind); 4] = [
    ("normal", ContainerKind::Normal),
    ("mocha", ContainerKind::Mocha),
    ("dark", ContainerKind::Dark),
    ("tagalong", ContainerKind::Tagalong),
];

/// Returns the name of a kind of containers.
#[must_use]
pub fn kind_name(kind: ContainerKind) -> &'static str {
    CONTAINER_KINDS.iter().find(|(_, other)| *other == kind).map_or("", |(name, _)| name)
}

/// Demands on the memory and the order of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableRules {
    /// Entries in the stage that the table is pinned to; the others are in later stages. `None`: as many as there is room for
    /// (second number of `@stage`).
    pub pin_entries: Option<u32>,
    /// Number of ways of an exact match table in SRAM (`@ways`).
    pub ways: Option<u8>,
    /// Entries per word of an exact match table in SRAM (`@pack`).
    pub pack: Option<u8>,
    /// Of tables that other nodes wait for equally long, the one with the greatest priority is placed first
    /// (`@placement_priority`).
    pub priority: i16,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_divide_a_field_from_its_low_end() {
        let sizes = |list: &[u8], width| ContainerDemand::Sizes(list.to_vec()).parts(width);
        assert_eq!(sizes(&[16], 8), [(0, 8, 16)]);
        assert_eq!(sizes(&[8], 20), [(0, 8, 8), (8, 8, 8), (16, 4, 8)]);
        assert_eq!(sizes(&[8, 16, 8, 32], 60), [(0, 8, 8), (8, 16, 16), (24, 8, 8), (32, 28, 32)]);
        assert_eq!(sizes(&[16, 32], 16), [(0, 16, 16)]);
        assert_eq!(ContainerDemand::Solitary.parts(9), []);
    }
}
