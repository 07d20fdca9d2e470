//! The parameters of `ecmp` and `wcmp`.

use crate::l3_ecmp::{HashSeed, Selection};
use sluice_asic::hash::rtag7::Rtag7Function;
use sluice_build::params;
use sluice_hashing::replicas::Order;
use sluice_hashing::scheme::{FlowFunction, Scheme};
use sluice_hashing::values::{FunctionList, Members, NumberList};
use sluice_hashing::wcmp::Method;

/// Parameters of `ecmp`.
#[derive(Clone, Debug, PartialEq, Eq, params::Params)]
pub struct EcmpParams {
    /// How the choices of successive switches are decorrelated
    #[param(expects = "plain, ttl, per-stage, per-port, recombine or coprime")]
    pub scheme: Scheme,
    /// Stage of this switch in a five-stage Clos, 1 at the edge: it decides which function the scheme assigns
    #[param(range = 1..=5)]
    pub stage: u32,
    /// Hash functions that the scheme assigns to switches; a scheme with one function uses the first
    #[param(
        expects = "a comma-separated list of crc32_lo, crc32_hi, ccitt, bisync, xor16, crc16_xor1, crc16_xor2, \
                   crc16_xor4, crc16_xor8 (RTAG7 on its own bins), or names such as crc_16, crc_32 (the P4 extern on \
                   the five-tuple)"
    )]
    pub functions: FunctionList,
    /// Seed of the scheme's random draws; in schemes without draws, seed of the hash
    #[param(expects = "0 to 0xffffffff, decimal or hexadecimal")]
    pub seed: HashSeed,
    /// Number of ports to the north: front-panel ports 8 and up
    #[param(range = 1..=16)]
    pub ports: u32,
    /// Group sizes of the correlated switches before this one, for scheme=coprime
    #[param(expects = "a comma-separated list of numbers, or none")]
    pub upstream: NumberList,
    /// Number of members of the group to the north; `auto`: the planner chooses it
    #[param(expects = "auto, or 1 to 120")]
    pub members: Members,
    /// Largest variation of the ports' shares that replication may cause, in thousandths
    #[param(range = 1..=1_000)]
    pub target: u32,
    /// Order of replicas in the member table; interleaved is hash % members % ports, blocked has each port's in a row
    #[param(expects = "interleaved or blocked")]
    pub order: Order,
    /// How the hash picks a member: `fair` takes 14 bits modulo the number of members that are up; `resilient`
    /// moves no flow whose member stays up; `plain-modulo` takes all 16 bits, which no chip does
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

/// Returns six functions with independent low bits, the default of `sluice polarization`.
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

/// Parameters of `wcmp`.
#[derive(Clone, Debug, PartialEq, Eq, params::Params)]
pub struct WcmpParams {
    /// Weights of the ports to the north, front-panel ports 8 and up; 0 leaves a port out
    #[param(expects = "a comma-separated list of 1 to 16 numbers")]
    pub weights: NumberList,
    /// Method of distributing members by weight: `split` is the paper's, `largest-remainder` suits skewed weights
    #[param(expects = "naive, split or largest-remainder")]
    pub method: Method,
    /// Hash function: the first of the list is used
    #[param(expects = "a comma-separated list of hash functions, named as in ecmp")]
    pub functions: FunctionList,
    /// Seed of the hash
    #[param(expects = "0 to 0xffffffff, decimal or hexadecimal")]
    pub seed: HashSeed,
    /// Group sizes of the correlated switches before this one
    #[param(expects = "a comma-separated list of numbers, or none")]
    pub upstream: NumberList,
    /// Number of members of the group; `auto`: the planner chooses it
    #[param(expects = "auto, or 1 to 120")]
    pub members: Members,
    /// Largest variation of the number of members per weight, in thousandths
    #[param(range = 1..=1_000)]
    pub target: u32,
    /// Order of replicas in the member table: round robin over ports (interleaved), or each port's in a row (blocked)
    #[param(expects = "interleaved or blocked")]
    pub order: Order,
    /// How the hash picks a member; the values mean the same as in ecmp
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
