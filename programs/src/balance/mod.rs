//! `ecmp` and `wcmp`: one data plane, groups and hashes as the planners make them.
//!
//! A packet is routed to the group of ports to the north or to the south; a 16-bit flow hash, chosen by the side that
//! the packet came in by, drives the selector. Schemes differ in functions, seeds, rotations and member tables only, so
//! all of them run in the same pipeline.
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
pub use values::{FunctionList, Members, NumberList, ValueError};

use crate::catalog::ProgramError;
use crate::position::Position;
use crate::setup::{Setup, SetupError};
use crate::shipped::Shipped;
use sluice_asic::port::PortMap;
use sluice_build::Builder;
use sluice_build::params::Params;
use sluice_ir::Program;
use sluice_switch::property::Property;

/// What the two programs differ in.
pub(crate) trait Scheme: Sync {
    const NAME: &'static str;
    const SUMMARY: &'static str;
    type Params: Params + Default;

    /// Hashes and member tables of the default entries.
    fn plan(p: &Self::Params) -> Result<Plan, ProgramError>;

    fn sizes(p: &Self::Params) -> ingress::Sizes;

    /// What must hold under these parameters and this plan of them.
    fn properties(p: &Self::Params, plan: Option<&Plan>) -> Vec<Box<dyn Property>>;

    /// The member table of a group over links of these weights, or why there is none.
    fn group(p: &Self::Params, weights: &[u32]) -> Result<Vec<u32>, String>;
}

/// The program `ecmp`.
#[derive(Clone, Copy, Debug)]
pub struct Ecmp;

impl Scheme for Ecmp {
    const NAME: &'static str = "ecmp";
    const SUMMARY: &'static str = "Spreads flows over equal paths by any scheme of hashing: plain, per stage, per port, recombining, coprime";
    type Params = EcmpParams;

    fn plan(p: &EcmpParams) -> Result<Plan, ProgramError> {
        Plan::ecmp(p, <Self as Scheme>::NAME)
    }

    fn sizes(p: &EcmpParams) -> ingress::Sizes {
        ingress::Sizes { routes: p.routes, groups: p.groups, members: p.member_entries }
    }

    fn properties(p: &EcmpParams, plan: Option<&Plan>) -> Vec<Box<dyn Property>> {
        properties::ecmp(p, plan)
    }

    fn group(p: &EcmpParams, weights: &[u32]) -> Result<Vec<u32>, String> {
        ecmp_group(p, weights)
    }
}

/// The program `wcmp`.
#[derive(Clone, Copy, Debug)]
pub struct Wcmp;

impl Scheme for Wcmp {
    const NAME: &'static str = "wcmp";
    const SUMMARY: &'static str =
        "Spreads flows over weighted paths in coprime groups: naive, split or largest remainder";
    type Params = WcmpParams;

    fn plan(p: &WcmpParams) -> Result<Plan, ProgramError> {
        Plan::wcmp(p, <Self as Scheme>::NAME)
    }

    fn sizes(p: &WcmpParams) -> ingress::Sizes {
        ingress::Sizes { routes: p.routes, groups: p.groups, members: p.member_entries }
    }

    fn properties(p: &WcmpParams, plan: Option<&Plan>) -> Vec<Box<dyn Property>> {
        properties::wcmp(p, plan)
    }

    fn group(p: &WcmpParams, weights: &[u32]) -> Result<Vec<u32>, String> {
        wcmp_group(p, weights)
    }
}

impl<S: Scheme> Shipped for S {
    const NAME: &'static str = S::NAME;
    const SUMMARY: &'static str = S::SUMMARY;
    const P4: &'static str = include_str!("balance.p4");
    type Params = S::Params;

    fn check(p: &S::Params) -> Result<(), ProgramError> {
        S::plan(p).map(|_| ())
    }

    fn declare(b: &Builder, p: &S::Params) {
        // What cannot be planned has been refused.
        if let Ok(plan) = S::plan(p) {
            ingress::ingress(&b.ingress(), &plan, S::sizes(p));
            ingress::egress(&b.egress());
        }
    }

    fn default_setup(program: &Program, ports: &PortMap, p: &S::Params) -> Result<Setup, SetupError> {
        let refuse = |e: ProgramError| SetupError::Place { program: S::NAME.to_owned(), why: e.to_string() };
        entries::default_setup(program, ports, &S::plan(p).map_err(refuse)?)
    }

    fn setup_at(
        program: &Program,
        _: &PortMap,
        at: &Position,
        p: &S::Params,
    ) -> Option<Result<Setup, SetupError>> {
        Some(routes::setup_at(program, at, |weights| S::group(p, weights)))
    }

    fn properties(_: &Program, p: &S::Params) -> Vec<Box<dyn Property>> {
        S::properties(p, S::plan(p).ok().as_ref())
    }
}
