//! `ecmp` and `wcmp`: one data plane, groups and hashes as the planners make them.
//!
//! A packet is routed to the group of ports to the north or to the south; a 16-bit flow hash, chosen by the side
//! that the packet came in by, drives the selector. Schemes differ in functions, seeds, rotations and member
//! tables only, so all of them run in the same pipeline. What may not live here: planning (see
//! [`crate::planning`]), and anything called per packet.
//!
//! | file | what it says |
//! |---|---|
//! | `params`, `values` | what users can set, and how values are spelled |
//! | `plan` | from parameters to hashes and member tables |
//! | `headers`, `hashing`, `ingress` | the data plane |
//! | `entries` | what the programs start with |
//! | `routes` | what they start with in a network |
//! | `properties` | what must hold of packets and member tables |
//! | `balance.p4` | the same data plane in P4_16 for TNA |

mod entries;
mod hashing;
mod headers;
mod ingress;
mod params;
mod plan;
mod properties;
mod routes;
mod values;

pub use params::{EcmpParams, WcmpParams};
pub use plan::{Plan, Side};
use plan::{ecmp_group, wcmp_group};
pub use values::{FunctionList, Members, Numbers, ValueError};

use crate::catalog::{ProgramError, StageProgram};
use crate::position::Position;
use crate::setup::{Setup, SetupError};
use sluice_asic::port::PortMap;
use sluice_pipeline::build::Builder;
use sluice_pipeline::build::params::{ParamError, ParamInfo, Params};
use sluice_pipeline::ir::Program;
use sluice_pipeline::property::Property;

/// The program `ecmp`.
#[derive(Clone, Copy, Debug)]
pub struct Ecmp;

/// The program `wcmp`.
#[derive(Clone, Copy, Debug)]
pub struct Wcmp;

const ECMP: &str = "ecmp";
const ECMP_SUMMARY: &str = "Spreads flows over equal paths by any scheme of hashing: plain, per stage, per port, recombining, coprime";
const WCMP: &str = "wcmp";
const WCMP_SUMMARY: &str =
    "Spreads flows over weighted paths in coprime groups: naive, split or largest remainder";

fn set<P: Params>(mut p: P, sets: &[(String, String)], program: &'static str) -> Result<P, ProgramError> {
    for (key, value) in sets {
        p.set(key, value).map_err(|source: ParamError| ProgramError::Param { program, source })?;
    }
    Ok(p)
}

/// The values that a program was built with.
fn sets(program: &Program) -> Vec<(String, String)> {
    program.params.iter().map(|p| (p.key.clone(), p.value.clone())).collect()
}

fn data_plane(
    name: &'static str,
    summary: &str,
    plan: &Plan,
    sizes: ingress::Sizes,
    p: &impl Params,
) -> Result<Program, ProgramError> {
    let b = Builder::new(name, summary);
    ingress::ingress(&b.ingress(), plan, sizes);
    ingress::egress(&b.egress());
    b.finish(p).map_err(|diags| ProgramError::Illegal { program: name, diags })
}

impl StageProgram for Ecmp {
    fn name(&self) -> &'static str {
        ECMP
    }

    fn summary(&self) -> &'static str {
        ECMP_SUMMARY
    }

    fn params(&self) -> Vec<ParamInfo> {
        EcmpParams::default().list()
    }

    fn build(&self, given: &[(String, String)]) -> Result<Program, ProgramError> {
        let p = set(EcmpParams::default(), given, ECMP)?;
        let sizes = ingress::Sizes { routes: p.routes, groups: p.groups, members: p.member_entries };
        data_plane(ECMP, ECMP_SUMMARY, &Plan::ecmp(&p, ECMP)?, sizes, &p)
    }

    fn default_setup(&self, program: &Program, ports: &PortMap) -> Result<Setup, SetupError> {
        let p = set(EcmpParams::default(), &sets(program), ECMP).ok();
        let plan = p.and_then(|p| Plan::ecmp(&p, ECMP).ok());
        entries::default_setup(program, ports, plan.as_ref())
    }

    fn setup_at(
        &self,
        program: &Program,
        _: &PortMap,
        position: &Position,
    ) -> Option<Result<Setup, SetupError>> {
        let p = set(EcmpParams::default(), &sets(program), ECMP);
        let table =
            |weights: &[u32]| p.as_ref().map_err(ToString::to_string).and_then(|p| ecmp_group(p, weights));
        Some(routes::setup_at(program, position, table))
    }

    fn p4(&self) -> &'static str {
        include_str!("balance.p4")
    }

    fn properties(&self, program: &Program) -> Vec<Box<dyn Property>> {
        let p = set(EcmpParams::default(), &sets(program), ECMP).ok();
        let plan = p.as_ref().and_then(|p| Plan::ecmp(p, ECMP).ok());
        properties::ecmp(p.as_ref(), plan.as_ref())
    }
}

impl StageProgram for Wcmp {
    fn name(&self) -> &'static str {
        WCMP
    }

    fn summary(&self) -> &'static str {
        WCMP_SUMMARY
    }

    fn params(&self) -> Vec<ParamInfo> {
        WcmpParams::default().list()
    }

    fn build(&self, given: &[(String, String)]) -> Result<Program, ProgramError> {
        let p = set(WcmpParams::default(), given, WCMP)?;
        let sizes = ingress::Sizes { routes: p.routes, groups: p.groups, members: p.member_entries };
        data_plane(WCMP, WCMP_SUMMARY, &Plan::wcmp(&p, WCMP)?, sizes, &p)
    }

    fn default_setup(&self, program: &Program, ports: &PortMap) -> Result<Setup, SetupError> {
        let p = set(WcmpParams::default(), &sets(program), WCMP).ok();
        let plan = p.and_then(|p| Plan::wcmp(&p, WCMP).ok());
        entries::default_setup(program, ports, plan.as_ref())
    }

    fn setup_at(
        &self,
        program: &Program,
        _: &PortMap,
        position: &Position,
    ) -> Option<Result<Setup, SetupError>> {
        let p = set(WcmpParams::default(), &sets(program), WCMP);
        let table =
            |weights: &[u32]| p.as_ref().map_err(ToString::to_string).and_then(|p| wcmp_group(p, weights));
        Some(routes::setup_at(program, position, table))
    }

    fn p4(&self) -> &'static str {
        include_str!("balance.p4")
    }

    fn properties(&self, program: &Program) -> Vec<Box<dyn Property>> {
        let p = set(WcmpParams::default(), &sets(program), WCMP).ok();
        let plan = p.as_ref().and_then(|p| Plan::wcmp(p, WCMP).ok());
        properties::wcmp(p.as_ref(), plan.as_ref())
    }
}
