//! `l3-ecmp`: what a leaf switch does to every packet.
//!
//! Ingress finds the VLAN and the routing table, filters, routes IPv4 and IPv6 by longest prefix, picks one
//! member of an ECMP or WCMP group by a hash of the flow, and rewrites the frame for the next hop. Egress
//! puts the 802.1Q tag on where the port wants one. Precedence, first match wins:
//!
//! 1. ARP goes to the CPU; any other frame that is no IP is bridged by VLAN and destination MAC.
//! 2. IPv4 with options goes to the CPU; IPv4 with a wrong header checksum is dropped (`ipv4_checksum`).
//! 3. The filter (`ipv4_acl`, `ipv6_acl`) permits, drops (`acl_deny`) or sends to the CPU.
//! 4. TTL or hop limit 0 or 1 goes to the CPU.
//! 5. The route decides; without one the packet is dropped (`no_route`).
//!
//! Routed packets have their TTL lowered and their IPv4 checksum updated. Any destination MAC is accepted.
//! What may not live here: other programs, and anything called per packet.
//!
//! | file | what it says |
//! |---|---|
//! | `params`, `hash_params` | what users can set |
//! | `headers` | headers, metadata, the ingress parser |
//! | `hashing` | the flow hash and the selector that it drives |
//! | `ingress`, `egress` | tables and control |
//! | `entries` | what the program starts with |
//! | `routes` | what it starts with in a network |
//! | `l3_ecmp.p4` | the same program in P4_16 for TNA |

mod egress;
mod entries;
mod hash_params;
mod hashing;
mod headers;
mod ingress;
mod params;
mod routes;

pub use hash_params::{
    ChoiceError, FieldList, HashChoice, HashField, HashItem, HashSeed, HashWidth, Ipv4HashField,
    Ipv6HashField, SeedStyle, Selection,
};
pub use params::Params;

use crate::catalog::{ProgramError, StageProgram};
use crate::position::Position;
use crate::setup::{Setup, SetupError};
use sluice_asic::port::PortMap;
use sluice_pipeline::build::Builder;
use sluice_pipeline::build::params::{ParamInfo, Params as _};
use sluice_pipeline::ir::Program;

const NAME: &str = "l3-ecmp";
const SUMMARY: &str =
    "Routes IPv4 and IPv6 with ECMP and WCMP, filters, and bridges VLANs, as a leaf switch does";

/// The program `l3-ecmp`.
#[derive(Clone, Copy, Debug)]
pub struct L3Ecmp;

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
        include_str!("l3_ecmp.p4")
    }
}

/// The program with these parameters.
///
/// # Errors
/// When the parameters do not go together, or the verifier refuses the program.
pub fn program(p: &Params) -> Result<Program, ProgramError> {
    p.check(NAME)?;
    let b = Builder::new(NAME, SUMMARY);
    ingress::ingress(&b.ingress(), p);
    egress::egress(&b.egress(), p);
    b.finish(p).map_err(|diags| ProgramError::Illegal { program: NAME, diags })
}
