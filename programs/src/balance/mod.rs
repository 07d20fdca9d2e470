//! `ecmp` and `wcmp`: one data plane, with the groups and hashes that the planners make.
//!
//! A packet is routed to the group of ports to the north or to the south; a 16-bit flow hash, chosen by
//! the side on which the packet arrived, drives the selector. Schemes differ in functions, seeds,
//! rotations and member tables only, so all of them run in the same pipeline.
//!
//! | file | contents |
//! |---|---|
//! | `params` | the parameters |
//! | `plan` | hashes and member tables from parameters |
//! | `headers`, `hashing`, `ingress` | the data plane |
//! | `entries` | default entries |
//! | `routes` | entries at a position in a network |
//! | `properties` | properties of packets and member tables |
//! | `model` | the fate of a packet in plain Rust, for the property `as_modelled` |

mod entries;
mod hashing;
mod headers;
mod ingress;
mod model;
mod params;
mod plan;
mod properties;
mod routes;

pub use params::{EcmpParams, WcmpParams};
pub use plan::{Plan, Side};
use plan::{ecmp_group, wcmp_group};

use sluice_asic::port::PortMap;
use sluice_build::Builder;
use sluice_build::params::Params;
use sluice_catalogue::position::Position;
use sluice_catalogue::{ProgramDef, ProgramError, Setup, SetupError};
use sluice_ir::Program;
use sluice_switch::property::Property;

/// The differences between the two programs.
pub(crate) trait Scheme: Send + Sync {
    const NAME: &'static str;
    const SUMMARY: &'static str;
    type Params: Params + Default;

    /// Returns hashes and member tables of the default entries.
    fn plan(p: &Self::Params) -> Result<Plan, ProgramError>;

    fn sizes(p: &Self::Params) -> ingress::Sizes;

    /// Returns the properties under these parameters and their plan.
    fn properties(p: &Self::Params, plan: Option<&Plan>) -> Vec<Box<dyn Property>>;

    /// Returns the member table of a group over links of these weights, or says why there is none.
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

/// Defines a program by its [`Scheme`]. A blanket implementation is not possible: another crate defines [`ProgramDef`].
macro_rules! define {
    ($program:ty, $params:ty) => {
        impl ProgramDef for $program {
            const NAME: &'static str = <$program as Scheme>::NAME;
            const SUMMARY: &'static str = <$program as Scheme>::SUMMARY;
            type Params = $params;

            fn check(p: &Self::Params) -> Result<(), ProgramError> {
                Self::plan(p).map(|_| ())
            }

            fn declare(b: &Builder, p: &Self::Params) {
                declare::<$program>(b, p);
            }

            fn default_setup(
                program: &Program,
                ports: &PortMap,
                p: &Self::Params,
            ) -> Result<Setup, SetupError> {
                default_setup::<$program>(program, ports, p)
            }

            fn setup_at(
                program: &Program,
                _: &PortMap,
                at: &Position,
                p: &Self::Params,
            ) -> Option<Result<Setup, SetupError>> {
                Some(routes::setup_at(program, at, |weights| Self::group(p, weights)))
            }

            fn properties(_: &Program, p: &Self::Params) -> Vec<Box<dyn Property>> {
                <$program as Scheme>::properties(p, Self::plan(p).ok().as_ref())
            }
        }
    };
}

define!(Ecmp, EcmpParams);
define!(Wcmp, WcmpParams);

fn declare<S: Scheme>(b: &Builder, p: &S::Params) {
    // `check` has refused parameters without a plan.
    if let Ok(plan) = S::plan(p) {
        ingress::ingress(&b.ingress(), &plan, S::sizes(p));
        ingress::egress(&b.egress());
    }
}

fn default_setup<S: Scheme>(program: &Program, ports: &PortMap, p: &S::Params) -> Result<Setup, SetupError> {
    let refuse = |e: ProgramError| SetupError::Place { program: S::NAME.to_owned(), why: e.to_string() };
    entries::default_setup(program, ports, &S::plan(p).map_err(refuse)?)
}
