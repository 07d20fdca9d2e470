//! `drb`: round robin of packets over the uplinks.
//!
//! Digit-reversal bouncing (Cao et al., CoNEXT 2013) at a leaf: round robin over the spines, with one turn counter per
//! group of uplinks, or one per flow. Within a round the order is that of the members' numbers, so a controller obtains
//! the digit-reversed order by numbering the members accordingly.

use crate::flowlet::choices;
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

choices! {
    /// Scope of a turn counter.
    Turns {
        /// All packets of a group of uplinks.
        Group = "group",
        /// The packets of each flow.
        Flow = "flow",
    }
}

/// Parameters of `drb`.
#[derive(Clone, Debug, PartialEq, Eq, params::Params)]
pub struct Params {
    /// Scope of the round robin: `group` = all packets of an uplink group, `flow` = the packets of each flow
    #[param(expects = "group or flow")]
    pub turns: Turns,
    /// Number of turn counters of flows, a power of two; flows that share one take turns together. For turns=flow
    #[param(range = 2..=131_072)]
    pub flows: u32,
    /// Initial value of every turn counter
    #[param(range = 0..=15_119)]
    pub start: u32,
    /// Weights of the uplinks, front-panel ports 8 and up: turns per round of each uplink
    #[param(expects = "a comma-separated list of 2 to 16 numbers")]
    pub weights: NumberList,
    /// Table sizes
    #[param(flatten)]
    pub tables: TableSizes,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            turns: Turns::Group,
            flows: 32_768,
            start: 0,
            weights: NumberList(vec![1; 8]),
            tables: TableSizes::default(),
        }
    }
}

/// Largest turn; the next one is 0. 15,120 is the largest multiple of all of 1 to 10, 12, 14, 15, 16,
/// 18 and 20 below the selector's 2^14: with one of these numbers of members every round is complete.
/// With 11 or 13 members one round per 15,120 packets is cut short.
pub(crate) const LAST_TURN: u64 = 15_119;

/// Adds the draw: the next turn of the group or flow.
#[stage_program]
fn draw(ig: &GressBuilder<'_>, leaf: Leaf, p: &Params) {
    let m = leaf.m;
    let by_flow = p.turns == Turns::Flow;
    /// Next turn of the group or flow, 0 to 15119, then 0 again
    let turn = ig.register::<16>(size(if by_flow { p.flows } else { p.tables.groups }).init(p.start.into()));
    let take_turn = ig.register_action(turn, |r| {
        r.out = r.value;
        if r.value >= LAST_TURN {
            r.value = 0;
        } else {
            r.value += 1;
        }
    });
    ig.control(|c| {
        if m.group != 0 {
            if by_flow {
                m.draw = take_turn.execute(slot(m.flow, p.flows));
            } else {
                m.draw = take_turn.execute(m.group);
            }
        }
    });
}

/// The program `drb`.
#[derive(Clone, Copy, Debug)]
pub struct Drb;

impl ProgramDef for Drb {
    const NAME: &'static str = "drb";
    const SUMMARY: &'static str = "Sends packets over the uplinks in turn, by group or by flow";
    /// Parameters for `sluice fuzz`: turns begin shortly before they wrap to 0.
    const HUNT: &'static [(&'static str, &'static str)] = &[("start", "15110")];
    type Params = Params;

    fn check(p: &Params) -> Result<(), ProgramError> {
        leaf::weights(Self::NAME, &p.weights)?;
        leaf::power_of_two(Self::NAME, "flows", p.flows)
    }

    fn declare(b: &Builder, p: &Params) {
        let knows = if p.turns == Turns::Flow { Knows::Flow } else { Knows::Packet };
        leaf::pipes(b, (p.tables.sizes(), knows), |ig, l| draw(ig, l, p), |_, _| {});
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
