//! `ecn-mark`: RED marking for DCQCN, its thresholds in registers.
//!
//! A packet that leaves its queue is marked with congestion experienced by the length that it leaves behind: never up to
//! Kmin, with a probability that rises to Pmax at Kmax, always beyond (facts: buffer §3.1). Only packets of senders that
//! understand ECN are marked. Thresholds stand in rows of three registers, one row per port speed, and change at run time
//! as registers do. What may not live here: other programs, and anything called per packet.
//!
//! | file | what it says |
//! |---|---|
//! | `params` | what users can set |
//! | `ingress` | forwarding, and no more |
//! | `egress` | the law, and the mark |
//! | `entries` | what the program starts with |
//! | `ecn_mark.p4` | the same program in P4_16 for TNA |

mod egress;
mod entries;
mod ingress;
mod params;

pub use params::Params;

use crate::catalog::{ProgramError, StageProgram};
use crate::setup::{Setup, SetupError};
use sluice_asic::port::PortMap;
use sluice_pipeline::build::Builder;
use sluice_pipeline::build::params::{ParamInfo, Params as _};
use sluice_pipeline::ir::Program;

const NAME: &str = "ecn-mark";
const SUMMARY: &str =
    "Marks packets by the length of their queue, as RED for DCQCN does, with thresholds in registers";

/// The program `ecn-mark`.
#[derive(Clone, Copy, Debug)]
pub struct EcnMark;

impl StageProgram for EcnMark {
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
        p.check(NAME)?;
        let b = Builder::new(NAME, SUMMARY);
        ingress::ingress(&b.ingress(), &p);
        egress::egress(&b.egress());
        b.finish(&p).map_err(|diags| ProgramError::Illegal { program: NAME, diags })
    }

    fn default_setup(&self, program: &Program, ports: &PortMap) -> Result<Setup, SetupError> {
        entries::default_setup(program, ports)
    }

    fn p4(&self) -> &'static str {
        include_str!("ecn_mark.p4")
    }
}
