//! `conweave-spine`: what a spine does between ConWeave's ToRs: it forwards DATA by PathID, everything else by ECMP,
//! and marks where queues grow (facts: conweave §1.1, §1.5).
//!
//! A PathID of eight bits names the ToR's uplink, and with it the spine; where several links lead to one ToR it picks
//! the link as well. What may not live here: the ToRs' program, and anything called per packet.
//!
//! | file | what it says |
//! |---|---|
//! | `params` | what users can set |
//! | `pipes` | both gresses |
//! | `entries` | what the program starts with |
//! | `routes` | the same at its place in a network |
//! | `conweave_spine.p4` | the same program in P4_16 for TNA |

mod entries;
mod params;
mod pipes;
mod routes;

pub use entries::{Route, SpineConfig, spine_setup};
pub use params::Params;

use crate::catalog::{ProgramError, StageProgram};
use crate::position::Position;
use crate::setup::{Setup, SetupError};
use sluice_asic::port::PortMap;
use sluice_pipeline::build::Builder;
use sluice_pipeline::build::params::{ParamInfo, Params as _};
use sluice_pipeline::ir::Program;

pub(crate) const NAME: &str = "conweave-spine";
const SUMMARY: &str = "Forwards between ConWeave's ToRs: DATA by PathID, the rest by ECMP, with ECN marking";

/// The program `conweave-spine`.
#[derive(Clone, Copy, Debug)]
pub struct ConWeaveSpine;

impl StageProgram for ConWeaveSpine {
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
        let mut p = Params::default();
        for (key, value) in sets {
            p.set(key, value).map_err(|source| ProgramError::Param { program: NAME, source })?;
        }
        program(&p)
    }

    fn default_setup(&self, program: &Program, ports: &PortMap) -> Result<Setup, SetupError> {
        entries::default_setup(program, ports)
    }

    fn setup_at(
        &self,
        program: &Program,
        ports: &PortMap,
        position: &Position,
    ) -> Option<Result<Setup, SetupError>> {
        Some(routes::setup_at(program, ports, position))
    }

    fn p4(&self) -> &'static str {
        include_str!("conweave_spine.p4")
    }
}

/// The program with these parameters.
///
/// # Errors
/// When the verifier refuses the program.
pub fn program(p: &Params) -> Result<Program, ProgramError> {
    let b = Builder::new(NAME, SUMMARY);
    pipes::ingress(&b.ingress(), p);
    pipes::egress(&b.egress());
    b.finish(p).map_err(|diags| ProgramError::Illegal { program: NAME, diags })
}
