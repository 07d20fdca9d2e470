//! The leaf that all load balancers share: one parser, one set of tables and default entries, one place in which
//! they differ.
//!
//! | part of ingress | does |
//! |---|---|
//! | [`route`] | flow hash where it is wanted, sanity, longest prefix to group or port |
//! | *the program* | fills `m.draw` |
//! | [`propose`] | `m.draw` picks a candidate among the group's members that are up: `m.member` and its port |
//! | *the program* | may put a remembered member in `m.member` instead |
//! | [`send`] | group and `m.member` to port, TTL, bytes |
//!
//! A member is a number within its group and never a port: what a colliding flow of another group left behind is looked
//! up in the packet's own group. Programs that remember members have entries for all numbers in every group
//! ([`go_round`]), so that such a flow, too, keeps its way; where there is none the candidate's port stands.

mod entries;
pub(crate) mod generator;
mod headers;
mod ingress;

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

/// Generation of groups that never changed. Elements of registers start at generation 0, which is over.
pub(crate) const FIRST_GENERATION: u64 = 1 << 16;

/// Most members of a group: a selector word (model: chip §3.5).
const MEMBERS: u32 = 120;

/// Table sizes that users set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, params::Params)]
pub struct TableSizes {
    /// IPv4 routes that the table must hold; a quarter as many IPv6 routes
    #[param(range = 16..=1_000_000)]
    pub routes: u32,
    /// Groups of uplinks
    #[param(range = 4..=4_096)]
    pub groups: u32,
}

impl Default for TableSizes {
    fn default() -> Self {
        TableSizes { routes: 4_096, groups: 256 }
    }
}

impl TableSizes {
    /// Room for groups of eight members.
    pub(crate) fn sizes(&self) -> Sizes {
        Sizes::new(self.routes, self.groups)
    }
}

/// Table sizes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// IPv4 routes; there is room for a quarter as many IPv6 routes.
    pub(crate) routes: u32,
    /// Groups of uplinks.
    pub(crate) groups: u32,
    /// Members over all groups.
    pub(crate) members: u32,
}

impl Sizes {
    /// Room for so many routes and groups of eight members.
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

/// The element of a flow in an array of `elements`, a power of two.
pub(crate) fn slot(flow: Bits<32>, elements: u32) -> Slot {
    let bits = elements.trailing_zeros().max(1) as u16;
    Slot(ir::Expr::Slice(Box::new(flow.into()), bits - 1, 0))
}

/// Refuses arrays that low bits of a hash cannot index.
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

/// Refuses weights that make no group.
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

/// What a leaf knows of a packet beside its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Knows {
    /// Nothing.
    Packet,
    /// The hash of its flow.
    Flow,
    /// The generation of its group as well, by which a program that remembers members knows those from before a change.
    Flowlet,
    /// That generation without the flow.
    Generation,
}

impl Knows {
    /// Whether the flow's hash is worked out.
    pub(crate) const fn flow(self) -> bool {
        matches!(self, Knows::Flow | Knows::Flowlet)
    }

    /// Whether candidates carry the generation of their group.
    pub(crate) const fn generation(self) -> bool {
        matches!(self, Knows::Flowlet | Knows::Generation)
    }
}

/// A leaf with this choice of an uplink: `draw` stands before the candidate, `keep` behind it.
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
