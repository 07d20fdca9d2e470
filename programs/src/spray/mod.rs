//! `spray`: every packet goes over a random uplink.
//!
//! Random packet scatter (Dixit et al., INFOCOM 2013): nothing is remembered, so load is even and order is not
//! kept. What may not live here: the leaf around it (`leaf`).

use crate::balance::Numbers;
use crate::catalog::{ProgramError, StageProgram};
use crate::leaf::{self, Leaf, Sizes};
use crate::position::Position;
use crate::setup::{Setup, SetupError};
use sluice_asic::port::PortMap;
use sluice_pipeline::build::params::{self, ParamInfo, Params as _};
use sluice_pipeline::build::*;
use sluice_pipeline::ir::Program;

const NAME: &str = "spray";
const SUMMARY: &str = "Sends every packet over a random uplink";

/// What users can set on `spray`.
#[derive(Clone, Debug, PartialEq, Eq, params::Params)]
pub struct Params {
    /// Chances of the uplinks, front-panel ports 8 and up
    #[param(expects = "a comma-separated list of 2 to 16 numbers")]
    pub weights: Numbers,
    /// IPv4 routes that the table must hold; a quarter as many IPv6 routes
    #[param(range = 16..=1_000_000)]
    pub routes: u32,
    /// Groups of uplinks
    #[param(range = 4..=4_096)]
    pub groups: u32,
}

impl Default for Params {
    fn default() -> Self {
        Params { weights: Numbers(vec![1; 8]), routes: 4_096, groups: 256 }
    }
}

/// A random number draws the candidate of every packet.
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

impl StageProgram for Spray {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        SUMMARY
    }

    fn params(&self) -> Vec<ParamInfo> {
        Params::default().list()
    }

    fn build(&self, sets: &[(String, String)]) -> Result<Program, ProgramError> {
        let p = leaf::set(Params::default(), sets, NAME)?;
        leaf::weights(NAME, &p.weights)?;
        leaf::program((NAME, SUMMARY), (Sizes::new(p.routes, p.groups), false), draw, |_, _| {}, &p)
    }

    fn default_setup(&self, program: &Program, ports: &PortMap) -> Result<Setup, SetupError> {
        leaf::default_setup(program, ports, &leaf::built_with::<Params>(program).weights.0)
    }

    fn setup_at(
        &self,
        program: &Program,
        _: &PortMap,
        position: &Position,
    ) -> Option<Result<Setup, SetupError>> {
        Some(leaf::setup_at(program, position))
    }

    fn p4(&self) -> &'static str {
        concat!(include_str!("../leaf/types.p4"), include_str!("choose.p4"), include_str!("../leaf/pipe.p4"))
    }
}
