//! `presto`: round robin of each flow's flowcells over the uplinks.
//!
//! A flow is cut into cells of at most 64 KB of payload, and its n-th cell takes the n-th uplink after
//! that of its first cell. Large flows load the uplinks evenly without any measurement; order is kept
//! within a cell only (He et al., SIGCOMM 2015). Presto cuts flows in the sender's virtual switch and
//! hides reordering at the receiver. Here the leaf cuts flows, and hosts see the reordering.

use crate::drb::LAST_TURN;
use crate::leaf::{self, Knows, Leaf, TableSizes, slot};
use sluice_asic::port::PortMap;
use sluice_build::params;
use sluice_build::*;
use sluice_catalogue::ProgramDef;
use sluice_catalogue::ProgramError;
use sluice_catalogue::position::Position;
use sluice_catalogue::{Setup, SetupError};
use sluice_hashing::values::NumberList;
use sluice_ir::Program;
use sluice_switch::property::Property;

/// Parameters of `presto`.
#[derive(Clone, Debug, PartialEq, Eq, params::Params)]
pub struct Params {
    /// Largest payload of a cell in bytes; a packet that would exceed it begins the next cell
    #[param(range = 64..=16_777_216)]
    pub cell: u32,
    /// Bytes of IPv4 and transport headers, which are not payload: 40 for TCP without options. In IPv6 packets, this
    /// minus 20 is the transport header
    #[param(range = 20..=120)]
    pub headers: u32,
    /// Entries of the flow table, a power of two; flows that share an entry share their cells
    #[param(range = 2..=65_536)]
    pub flows: u32,
    /// Weights of the uplinks, front-panel ports 8 and up: cells per round; 1,2,1 is the order a, b, c, b
    #[param(expects = "a comma-separated list of 2 to 16 numbers")]
    pub weights: NumberList,
    /// Table sizes
    #[param(flatten)]
    pub tables: TableSizes,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            cell: 65_536,
            headers: 40,
            flows: 32_768,
            weights: NumberList(vec![1; 8]),
            tables: TableSizes::default(),
        }
    }
}

/// Flowcell of the packet
#[derive(Header, Debug)]
struct Cell {
    /// Payload of the packet in bytes
    payload: Bits<32>,
    /// 1 if the packet begins a cell
    next: Bits<1>,
    /// Number of the flow's cell, 0 to 15119, then 0 again
    number: Bits<16>,
    /// Offset that is added to the cell numbers of the flow: ten bits of its hash
    first: Bits<16>,
}

/// Adds the draw: the number of the cell plus the offset of the flow.
#[stage_program]
fn draw(ig: &GressBuilder<'_>, leaf: Leaf, p: &Params) {
    let (m, ipv4, ipv6) = (leaf.m, leaf.h.ipv4, leaf.h.ipv6);
    let t = ig.metadata::<Cell>();
    let (headers, cell) = (u64::from(p.headers), u64::from(p.cell));
    // Only the hash unit moves a 16-bit container into a 32-bit one.
    let ipv4_widened =
        ig.hash::<32>(HashAlgorithm::Identity).inputs(list![constant::<16>(0), ipv4.total_len]).build();
    let ipv6_widened =
        ig.hash::<32>(HashAlgorithm::Identity).inputs(list![constant::<16>(0), ipv6.payload_len]).build();
    let ipv4_length = ig.action(|a| t.payload = ipv4_widened.get());
    let ipv6_length = ig.action(|a| t.payload = ipv6_widened.get());
    /// Subtracts the IPv4 and transport headers from the IPv4 length
    let ipv4_payload = ig.action(|a| t.payload = t.payload.sat_sub(headers));
    /// Subtracts the transport header from the IPv6 payload length
    let ipv6_payload = ig.action(|a| t.payload = t.payload.sat_sub(headers - 20));
    /// Payload bytes so far in the flow's cell
    let filled = ig.register::<32>(p.flows);
    /// Adds the packet to the cell; returns 1 if it would exceed the cell, and so begins the next one
    let fill = ig.register_action(filled, |r| {
        if r.value + t.payload > cell {
            r.out = 1;
            r.value = t.payload;
        } else {
            r.value += t.payload;
        }
    });
    /// Number of the flow's cell, 0 to 15119, then 0 again
    let cells = ig.register::<16>(p.flows);
    let same_cell = ig.register_action(cells, |r| r.out = r.value);
    let next_cell = ig.register_action(cells, |r| {
        if r.value >= LAST_TURN {
            r.value = 0;
        } else {
            r.value += 1;
        }
        r.out = r.value;
    });
    /// Bits 31 to 22 of the flow hash: the same for all packets of a flow
    let beginning = ig
        .hash::<16>(HashAlgorithm::Identity)
        .inputs(list![constant::<6>(0), m.flow.slice::<31, 22, 10>()])
        .build();
    let begin = ig.action(|a| t.first = beginning.get());
    ig.control(|c| {
        if m.group != 0 {
            if ipv4.is_valid() {
                ipv4_length.call();
                ipv4_payload.call();
            } else if ipv6.is_valid() {
                ipv6_length.call();
                ipv6_payload.call();
            }
            begin.call();
            t.next = fill.execute(slot(m.flow, p.flows));
            if t.next {
                t.number = next_cell.execute(slot(m.flow, p.flows));
            } else {
                t.number = same_cell.execute(slot(m.flow, p.flows));
            }
            m.draw = t.number + t.first;
        }
    });
}

/// The program `presto`.
#[derive(Clone, Copy, Debug)]
pub struct Presto;

impl ProgramDef for Presto {
    const NAME: &'static str = "presto";
    const SUMMARY: &'static str =
        "Cuts flows into cells of 64 KB that go over the uplinks in turn, by weight";
    /// Parameters for `sluice fuzz`: cells of a few packets.
    const HUNT: &'static [(&'static str, &'static str)] = &[("cell", "4096")];
    type Params = Params;

    fn check(p: &Params) -> Result<(), ProgramError> {
        leaf::weights(Self::NAME, &p.weights)?;
        leaf::power_of_two(Self::NAME, "flows", p.flows)
    }

    fn declare(b: &Builder, p: &Params) {
        leaf::pipes(b, (p.tables.sizes(), Knows::Flow), |ig, l| draw(ig, l, p), |_, _| {});
    }

    fn default_setup(program: &Program, ports: &PortMap, p: &Params) -> Result<Setup, SetupError> {
        leaf::default_setup(program, ports, &p.weights.0)
    }

    fn setup_at(
        program: &Program,
        _: &PortMap,
        at: &Position,
        _: &Params,
    ) -> Option<Result<Setup, SetupError>> {
        Some(leaf::setup_at(program, at))
    }

    fn properties(_: &Program, _: &Params) -> Vec<Box<dyn Property>> {
        leaf::model::properties()
    }
}
