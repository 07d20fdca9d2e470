//! The packet header vector: container counts and their grouping rules.

use serde::{Deserialize, Serialize};

/// Containers of one pipe's PHV and how they are grouped (model: chip §2.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhvSpec {
    /// MAU groups of 32-bit containers.
    pub groups_32: u32,
    /// MAU groups of 8-bit containers.
    pub groups_8: u32,
    /// MAU groups of 16-bit containers.
    pub groups_16: u32,
    /// Normal containers per MAU group.
    pub normal_per_group: u32,
    /// Mocha containers per MAU group: matched, parsed and deparsed, but only moved as a whole by ALUs.
    pub mocha_per_group: u32,
    /// Dark containers per MAU group: whole-container moves between containers only.
    pub dark_per_group: u32,
    /// Tagalong collections: containers that only parser and deparser see.
    pub tagalong_collections: u32,
    /// 32-bit containers per tagalong collection.
    pub tagalong_32: u32,
    /// 8-bit containers per tagalong collection.
    pub tagalong_8: u32,
    /// 16-bit containers per tagalong collection.
    pub tagalong_16: u32,
    /// Address of the first tagalong container.
    pub tagalong_base: u32,
    /// Consecutive 32-bit containers of one kind that must belong to one gress.
    pub gress_group_32: u32,
    /// Consecutive 8-bit containers of one kind that must belong to one gress.
    pub gress_group_8: u32,
    /// Consecutive 16-bit containers of one kind that must belong to one gress.
    pub gress_group_16: u32,
    /// True if the last gress group of each size is assigned container by container.
    pub last_group_individual: bool,
    /// True if the first gress group of each size is ingress and the second egress, by wiring.
    pub hard_wired_gress: bool,
    /// Width in bits of the parser's view if it sees all containers alike (an even and an odd 8-bit container
    /// then share one parser container and one gress); 0 if it sees native widths.
    pub parser_width: u32,
    /// Header-validity (POV) bits per gress.
    pub pov_bits: u32,
    /// True if each container has a valid bit.
    pub valid_bits: bool,
}
