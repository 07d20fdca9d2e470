//! `l3-ecmp`: what a leaf switch does.
//!
//! VLAN, IPv4 and IPv6 longest prefix, ECMP and WCMP groups by a hash that can be set to reproduce another
//! switch's choices, neighbour rewrite, TTL and hop limit, ternary ACL, counters per port and route, and
//! the CPU for what the data plane does not finish. ECMP is a group of equal weights; WCMP the same group
//! with weights.

mod egress;
mod entries;
mod headers;
mod ingress;
mod params;

pub use headers::{Bridge, L4Ports, Meta};
pub use params::{Algorithm, BadValue, Fields, HashWidth, Params, SeedStyle, Selection};

use crate::catalog::{ProgramError, Setup, SetupError, StageProgram};
use sluice_asic::port::PortMap;
use sluice_pipeline::build::Builder;
use sluice_pipeline::build::params::{ParamInfo, Params as _};
use sluice_pipeline::ir::Program;
use sluice_pipeline::verify::Diag;

/// Name of the program.
const NAME: &str = "l3-ecmp";
const SUMMARY: &str = "Leaf switch: VLAN, IPv4/IPv6 LPM, ECMP/WCMP groups, neighbours, ACL, counters, punt";

/// Builds the program.
///
/// # Errors
/// Everything that breaks a rule of programs.
pub fn program(p: &Params) -> Result<Program, Vec<Diag>> {
    let b = Builder::new(NAME, SUMMARY);
    let ig = b.ingress();
    match p.hash_width.0 {
        14 => ingress::ingress::<14>(&ig, p),
        16 => ingress::ingress::<16>(&ig, p),
        51 => ingress::ingress::<51>(&ig, p),
        64 => ingress::ingress::<64>(&ig, p),
        _ => ingress::ingress::<32>(&ig, p),
    }
    egress::egress(&b.egress());
    b.finish(p)
}

/// The catalog's entry.
pub(crate) struct L3Ecmp;

impl StageProgram for L3Ecmp {
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
            p.set(key, value)?;
        }
        program(&p).map_err(ProgramError::Program)
    }

    fn default_setup(&self, program: &Program, ports: &PortMap) -> Result<Setup, SetupError> {
        entries::default_setup(NAME, program, ports)
    }

    fn p4(&self) -> &'static str {
        include_str!("l3_ecmp.p4")
    }
}
