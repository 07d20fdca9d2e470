//! `conweave-spine`: what a spine does between ConWeave's ToRs: it forwards DATA by PathID, everything else by ECMP,
//! and marks where queues grow (model: conweave §1.1, §1.5).
//!
//! A PathID of eight bits names the ToR's uplink, and with it the spine; where several links lead to one ToR it picks
//! the link as well.
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

use crate::conweave::sample::OF_ONE;
use crate::conweave::story::ConWeaveNarrator;
use sluice_asic::port::PortMap;
use sluice_build::Builder;
use sluice_catalogue::position::Position;
use sluice_catalogue::properties::{EcnMarks, HopLimit};
use sluice_catalogue::story::Narrator;
use sluice_catalogue::{ProgramDef, ProgramError, Setup, SetupError};
use sluice_ir::Program;
use sluice_switch::property::Property;
use std::sync::Arc;

pub(crate) const NAME: &str = "conweave-spine";

/// The program `conweave-spine`.
#[derive(Clone, Copy, Debug)]
pub struct ConWeaveSpine;

impl ProgramDef for ConWeaveSpine {
    const NAME: &'static str = NAME;
    const SUMMARY: &'static str =
        "Forwards between ConWeave's ToRs: DATA by PathID, the rest by ECMP, with ECN marking";
    const P4: Option<&'static str> = Some(include_str!("conweave_spine.p4"));
    const SAMPLE: Option<(&'static str, &'static [u8])> = Some(OF_ONE);
    type Params = Params;

    fn declare(b: &Builder, p: &Params) {
        pipes::ingress(&b.ingress(), p);
        pipes::egress(&b.egress());
    }

    fn default_setup(program: &Program, ports: &PortMap, _: &Params) -> Result<Setup, SetupError> {
        entries::default_setup(program, ports)
    }

    fn setup_at(
        program: &Program,
        ports: &PortMap,
        at: &Position,
        _: &Params,
    ) -> Option<Result<Setup, SetupError>> {
        Some(routes::setup_at(program, ports, at))
    }

    fn properties(_: &Program, _: &Params) -> Vec<Box<dyn Property>> {
        vec![Box::new(HopLimit), Box::new(EcnMarks)]
    }

    fn story() -> Option<Arc<dyn Narrator>> {
        Some(Arc::new(ConWeaveNarrator))
    }
}

/// The program with these parameters.
///
/// # Errors
/// When the verifier refuses the program.
pub fn program(p: &Params) -> Result<Program, ProgramError> {
    sluice_catalogue::build::<ConWeaveSpine>(p)
}
