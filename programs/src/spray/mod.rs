//! `spray`: sends every packet over a random uplink.
//!
//! Random packet scatter (Dixit et al., INFOCOM 2013): no state is kept, so load is even and packets are reordered.

use crate::leaf::{self, Knows, Leaf, TableSizes};
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

/// Parameters of `spray`.
#[derive(Clone, Debug, PartialEq, Eq, params::Params)]
pub struct Params {
    /// Weights of the uplinks, front-panel ports 8 and up: relative probabilities
    #[param(expects = "a comma-separated list of 2 to 16 numbers")]
    pub weights: NumberList,
    /// Table sizes
    #[param(flatten)]
    pub tables: TableSizes,
}

impl Default for Params {
    fn default() -> Self {
        Params { weights: NumberList(vec![1; 8]), tables: TableSizes::default() }
    }
}

/// Adds the draw: a random number for every packet.
#[stage_program]
pub(crate) fn draw(ig: &GressBuilder<'_>, leaf: Leaf) {
    let m = leaf.m;
    let coin = ig.random::<16>();
    ig.control(|c| {
        if m.group != 0 {
            m.draw = coin.get();
        }
    });
}

/// The program `spray`.
#[derive(Clone, Copy, Debug)]
pub struct Spray;

impl ProgramDef for Spray {
    const NAME: &'static str = "spray";
    const SUMMARY: &'static str = "Sends every packet over a random uplink";
    type Params = Params;

    fn check(p: &Params) -> Result<(), ProgramError> {
        leaf::weights(Self::NAME, &p.weights)
    }

    fn declare(b: &Builder, p: &Params) {
        leaf::pipes(b, (p.tables.sizes(), Knows::Packet), draw, |_, _| {});
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
