//! `conweave-spine`: a spine between ConWeave's ToRs. It forwards DATA by PathID and everything else by ECMP, and marks
//! packets by queue depth (model: conweave §1.1, §1.5).
//!
//! A PathID of eight bits identifies the ToR's uplink, and so the spine. If several links lead from the
//! spine to one ToR, the PathID also picks the link.
//!
//! | file | contents |
//! |---|---|
//! | `params` | the parameters |
//! | `pipes` | ingress and egress |
//! | `entries` | default entries |
//! | `model` | the fate of a frame, in plain Rust, for properties |
//! | `routes` | entries at a position in a network |

mod entries;
mod model;
mod params;
mod pipes;
mod routes;

pub use entries::{Route, SpineConfig, spine_setup};
pub use params::Params;

use crate::conweave::sample::OF_ONE;
use crate::conweave::story::ConWeaveNarrator;
use crate::model::Judge;
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

    fn warnings_at(at: &Position, _: &Params) -> Vec<String> {
        routes::warnings_at(at)
    }

    fn properties(_: &Program, _: &Params) -> Vec<Box<dyn Property>> {
        vec![Box::new(HopLimit), Box::new(EcnMarks), Box::new(Judge::new(model::SpineModel))]
    }

    fn story() -> Option<Arc<dyn Narrator>> {
        Some(Arc::new(ConWeaveNarrator))
    }
}

/// Builds the program with these parameters.
///
/// # Errors
/// If the verifier refuses the program.
pub fn program(p: &Params) -> Result<Program, ProgramError> {
    sluice_catalogue::build::<ConWeaveSpine>(p)
}
