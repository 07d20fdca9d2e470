//! `l3-ecmp`: a leaf switch that routes, filters and bridges.
//!
//! Ingress finds the VLAN and the routing table, filters, routes IPv4 and IPv6 by longest prefix, picks one
//! member of an ECMP or WCMP group by a hash of the flow, and rewrites the frame for the next hop. Egress
//! adds the 802.1Q tag if the port sends the VLAN tagged. Precedence, first match wins:
//!
//! 1. ARP goes to the CPU; any other frame that is not IP is bridged by VLAN and destination MAC.
//! 2. IPv4 with options goes to the CPU; IPv4 with a wrong header checksum is dropped (`ipv4_checksum`).
//! 3. The filter (`ipv4_acl`, `ipv6_acl`) permits, drops (`acl_deny`) or sends to the CPU.
//! 4. TTL or hop limit 0 or 1 goes to the CPU.
//! 5. The route decides; without one the packet is dropped (`no_route`).
//!
//! For routed packets the TTL is decremented and the IPv4 checksum updated. Any destination MAC is accepted.
//!
//! | file | contents |
//! |---|---|
//! | `params`, `hash_params` | the parameters |
//! | `headers` | headers, metadata, the ingress parser |
//! | `hashing` | the flow hash and the selector that it drives |
//! | `ingress`, `egress` | tables and control |
//! | `entries` | default entries |
//! | `routes` | entries at a position in a network |
//! | `model` | the same decisions in plain Rust, for the property `as_modelled` |

mod egress;
mod entries;
mod hash_params;
mod hashing;
mod headers;
mod ingress;
mod model;
mod params;
mod routes;

pub use hash_params::{
    ChoiceError, FieldList, HashChoice, HashField, HashItem, HashSeed, HashWidth, Ipv4HashField,
    Ipv6HashField, SeedStyle, Selection,
};
pub use params::Params;

use crate::model::Judge;
use model::L3Model;
use sluice_asic::port::PortMap;
use sluice_build::Builder;
use sluice_catalogue::position::Position;
use sluice_catalogue::properties::{HopLimit, SameWay};
use sluice_catalogue::{ProgramDef, ProgramError, Setup, SetupError};
use sluice_ir::Program;
use sluice_switch::property::Property;

/// The program `l3-ecmp`.
#[derive(Clone, Copy, Debug)]
pub struct L3Ecmp;

impl ProgramDef for L3Ecmp {
    const NAME: &'static str = "l3-ecmp";
    const SUMMARY: &'static str =
        "Routes IPv4 and IPv6 with ECMP and WCMP, filters, and bridges VLANs, as a leaf switch does";
    type Params = Params;

    fn check(p: &Params) -> Result<(), ProgramError> {
        p.check(Self::NAME)
    }

    fn declare(b: &Builder, p: &Params) {
        ingress::ingress(&b.ingress(), p);
        egress::egress(&b.egress(), p);
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

    fn properties(_: &Program, p: &Params) -> Vec<Box<dyn Property>> {
        vec![Box::new(SameWay::default()), Box::new(HopLimit), Box::new(Judge::new(L3Model::new(p)))]
    }
}

/// Builds the program with these parameters.
///
/// # Errors
/// If the parameters conflict, or the verifier refuses the program.
pub fn program(p: &Params) -> Result<Program, ProgramError> {
    sluice_catalogue::build::<L3Ecmp>(p)
}
