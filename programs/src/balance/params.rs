//! The parameters of `ecmp` and `wcmp`.

use crate::l3_ecmp::{HashSeed, Selection};
use sluice_asic::hash::rtag7::Rtag7Function;
use sluice_build::params;
use sluice_hashing::replicas::Order;
use sluice_hashing::scheme::{FlowFunction, Scheme};
use sluice_hashing::values::{FunctionList, Members, NumberList};
use sluice_hashing::wcmp::Method;

/// What users can set on `ecmp`.
#[derive(Clone, Debug, PartialEq, Eq, params::Params)]
pub struct EcmpParams {
    /// How switches keep their choices apart
    #[param(expects = "plain, ttl, per-stage, per-port, recombine or coprime")]
    pub scheme: Scheme,
    /// This switch's stage in a five-stage Clos, 1 at the edge: it decides which functions the schemes give
    #[param(range = 1..=5)]
    pub stage: u32,
    /// Hash functions of the switches, the first one for schemes of one function
    #[param(
        expects = "a comma-separated list of crc32_lo, crc32_hi, ccitt, bisync, xor16, crc16_xor1, crc16_xor2, \
                   crc16_xor4, crc16_xor8 (RTAG7 on its own bins), or names such as crc_16, crc_32 (the P4 extern on \
                   the five-tuple)"
    )]
    pub functions: FunctionList,
    /// Seed of draws, and of the hash in schemes that draw none
    #[param(expects = "0 to 0xffffffff, decimal or hexadecimal")]
    pub seed: HashSeed,
    /// Ports to the north: front-panel ports 8 and up
    #[param(range = 1..=16)]
    pub ports: u32,
    /// Sizes of groups on correlated switches before this one, for scheme=coprime
    #[param(expects = "a comma-separated list of numbers, or none")]
    pub upstream: NumberList,
    /// Members of the group to the north; `auto` leaves it to the planner
    #[param(expects = "auto, or 1 to 120")]
    pub members: Members,
    /// Largest variation of shares that replication may cause, in thousandths
    #[param(range = 1..=1_000)]
    pub target: u32,
    /// Order of replicas in the member table; interleaved equals h % q % m
    #[param(expects = "interleaved or blocked")]
    pub order: Order,
    /// How the hash picks a member: `fair` divides by the members that are up, `resilient` keeps the flows of
    /// members that stay up in place, `plain-modulo` sees all 16 bits, as no chip does
    #[param(expects = "fair, resilient or plain-modulo")]
    pub selection: Selection,
    /// IPv4 routes that the table must hold
    #[param(range = 1..=1_000_000)]
    pub routes: u32,
    /// Groups that the selector must hold
    #[param(range = 2..=65_535)]
    pub groups: u32,
    /// Entries of the member table over all groups
    #[param(range = 8..=65_536)]
    pub member_entries: u32,
}

/// Six functions whose low bits are independent, as `sluice polarization` takes them.
fn functions() -> FunctionList {
    FunctionList(Rtag7Function::UNCORRELATED.map(FlowFunction::Rtag7).to_vec())
}

impl Default for EcmpParams {
    fn default() -> Self {
        EcmpParams {
            scheme: Scheme::Coprime,
            stage: 2,
            functions: functions(),
            seed: HashSeed(0),
            ports: 8,
            upstream: NumberList(vec![8]),
            members: Members::Auto,
            target: 50,
            order: Order::Interleaved,
            selection: Selection::Resilient,
            routes: 1_024,
            groups: 512,
            member_entries: 16_384,
        }
    }
}

/// What users can set on `wcmp`.
#[derive(Clone, Debug, PartialEq, Eq, params::Params)]
pub struct WcmpParams {
    /// Weights of the ports to the north, front-panel ports 8 and up; 0 leaves a port out
    #[param(expects = "a comma-separated list of 1 to 16 numbers")]
    pub weights: NumberList,
    /// How members are handed out: `split` is the paper's, `largest-remainder` is better for skewed weights
    #[param(expects = "naive, split or largest-remainder")]
    pub method: Method,
    /// Hash function, the first one of the list
    #[param(expects = "as in ecmp")]
    pub functions: FunctionList,
    /// Seed of the hash
    #[param(expects = "0 to 0xffffffff, decimal or hexadecimal")]
    pub seed: HashSeed,
    /// Sizes of groups on correlated switches before this one
    #[param(expects = "a comma-separated list of numbers, or none")]
    pub upstream: NumberList,
    /// Members of the group; `auto` leaves it to the planner
    #[param(expects = "auto, or 1 to 120")]
    pub members: Members,
    /// Largest variation of members per weight, in thousandths
    #[param(range = 1..=1_000)]
    pub target: u32,
    /// Order of replicas in the member table
    #[param(expects = "interleaved or blocked")]
    pub order: Order,
    /// How the hash picks a member, as in ecmp
    #[param(expects = "fair, resilient or plain-modulo")]
    pub selection: Selection,
    /// IPv4 routes that the table must hold
    #[param(range = 1..=1_000_000)]
    pub routes: u32,
    /// Groups that the selector must hold
    #[param(range = 2..=65_535)]
    pub groups: u32,
    /// Entries of the member table over all groups
    #[param(range = 8..=65_536)]
    pub member_entries: u32,
}

impl Default for WcmpParams {
    fn default() -> Self {
        let e = EcmpParams::default();
        WcmpParams {
            weights: NumberList(vec![3, 1]),
            method: Method::Split,
            functions: e.functions,
            seed: e.seed,
            upstream: e.upstream,
            members: Members::Auto,
            target: 50,
            order: e.order,
            selection: e.selection,
            routes: e.routes,
            groups: e.groups,
            member_entries: e.member_entries,
        }
    }
}
