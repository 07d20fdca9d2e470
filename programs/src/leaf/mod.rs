//! The leaf that all load balancers share: one parser, one set of tables and default entries. They differ only in the
//! choice of an uplink.
//!
//! | part of ingress | does |
//! |---|---|
//! | [`route`] | flow hash if the program needs it, checks of checksum and TTL, longest prefix to group or port |
//! | *the program* | fills `m.draw` |
//! | [`propose`] | `m.draw` picks a candidate among the group's members that are up: `m.member` and its port |
//! | *the program* | may replace `m.member` by a remembered member |
//! | [`send`] | group and `m.member` to port, TTL, deparser |
//!
//! A member is a number within its group and never a port. If flows of two groups collide in a flow table, the stored
//! number is looked up in the packet's own group. Programs that remember members add entries for all numbers to every
//! group ([`go_round`]), so that such a flow also keeps its path. Without an entry the candidate's port is used.

mod entries;
pub(crate) mod generator;
mod headers;
mod ingress;
pub(crate) mod model;

pub(crate) use entries::{
    Places, default_setup, go_round, group_of, member_of, members, operations, operations_at, operations_on,
    setup_at,
};
pub(crate) use ingress::{Leaf, declare, deparse, egress, finish, propose, route, send};

use sluice_build::params;
use sluice_build::{Bits, Builder, GressBuilder, Index};
use sluice_catalogue::ProgramError;
use sluice_hashing::values::NumberList;
use sluice_ir as ir;

/// Generation of a group that never changed. Register elements start with generation 0, which counts as expired.
pub(crate) const FIRST_GENERATION: u64 = 1 << 16;

/// Largest number of members in a group: one selector word (model: chip §3.5).
const MEMBERS: u32 = 120;

/// Table sizes that users set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, params::Params)]
pub struct TableSizes {
    /// IPv4 routes that the table must hold; the IPv6 table holds a quarter as many
    #[param(range = 16..=1_000_000)]
    pub routes: u32,
    /// Uplink groups that the tables must hold
    #[param(range = 4..=4_096)]
    pub groups: u32,
}

impl Default for TableSizes {
    fn default() -> Self {
        TableSizes { routes: 4_096, groups: 256 }
    }
}

impl TableSizes {
    /// Returns the sizes, with room for eight members per group on average.
    pub(crate) fn sizes(&self) -> Sizes {
        Sizes::new(self.routes, self.groups)
    }
}

/// Table sizes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// IPv4 routes; there is room for a quarter as many IPv6 routes.
    pub(crate) routes: u32,
    /// Uplink groups.
    pub(crate) groups: u32,
    /// Members over all groups.
    pub(crate) members: u32,
}

impl Sizes {
    /// Returns sizes for these numbers of routes and groups, with room for eight members per group on average.
    pub(crate) fn new(routes: u32, groups: u32) -> Sizes {
        Sizes { routes, groups, members: (groups * 8).max(2 * MEMBERS) }
    }
}

/// The low bits of a flow's hash as an index.
#[derive(Clone, Debug)]
pub(crate) struct Slot(ir::Expr);

impl Index for Slot {
    fn index(self) -> ir::Expr {
        self.0
    }
}

/// Returns the index of a flow in an array of `elements`, which is a power of two.
pub(crate) fn slot(flow: Bits<32>, elements: u32) -> Slot {
    let bits = elements.trailing_zeros().max(1) as u16;
    Slot(ir::Expr::Slice(Box::new(flow.into()), bits - 1, 0))
}

/// Returns an error if the size is not a power of two, because low bits of a hash index the array.
pub(crate) fn power_of_two(program: &str, key: &str, elements: u32) -> Result<(), ProgramError> {
    if elements.is_power_of_two() && elements > 1 {
        return Ok(());
    }
    Err(ProgramError::conflict(
        program,
        key,
        elements.to_string(),
        format!(
            "bits of a hash index the array, so its size is a power of two; the next is {}",
            elements.max(2).next_power_of_two()
        ),
    ))
}

/// Returns an error unless there are 2 to 16 weights with a sum of 1 to 120, and one of the first two is above 0.
pub(crate) fn weights(program: &str, weights: &NumberList) -> Result<(), ProgramError> {
    let members = weights.0.iter().try_fold(0u32, |sum, w| sum.checked_add(*w));
    let expected = match (weights.0.len(), members) {
        (2..=16, Some(1..=MEMBERS)) if weights.0[..2].iter().any(|w| *w > 0) => return Ok(()),
        (2..=16, Some(1..=MEMBERS)) => "one of the first two uplinks needs a weight above 0, for 10.2.0.0/16",
        (2..=16, _) => "weights add up to 1 to 120, the members of a group",
        _ => "there are 2 to 16 uplinks",
    };
    let found = weights.to_string();
    Err(ProgramError::conflict(program, "weights", found, expected))
}

/// Information about a packet that a leaf computes in addition to its route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Knows {
    /// None.
    Packet,
    /// The hash of the packet's flow.
    Flow,
    /// The flow hash, and the generation of the group, by which a program recognises members stored before a change.
    Flowlet,
    /// The generation of the group, without the flow hash.
    Generation,
}

impl Knows {
    /// Returns true if the flow hash is computed.
    pub(crate) const fn flow(self) -> bool {
        matches!(self, Knows::Flow | Knows::Flowlet)
    }

    /// Returns true if candidates carry the generation of their group.
    pub(crate) const fn generation(self) -> bool {
        matches!(self, Knows::Flowlet | Knows::Generation)
    }
}

/// Declares a leaf with this choice of an uplink: `draw` adds a part before the candidate, `keep` a part after it.
pub(crate) fn pipes(
    b: &Builder,
    (sizes, knows): (Sizes, Knows),
    draw: impl FnOnce(&GressBuilder<'_>, Leaf),
    keep: impl FnOnce(&GressBuilder<'_>, Leaf),
) {
    let ig = b.ingress();
    let (leaf, start) = declare(&ig, sizes, knows);
    ig.start(start);
    route(&ig, leaf);
    draw(&ig, leaf);
    propose(&ig, leaf);
    keep(&ig, leaf);
    send(&ig, leaf);
    egress(&b.egress());
}
