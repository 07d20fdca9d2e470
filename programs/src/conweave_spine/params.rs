//! The parameters of `conweave-spine`.

use sluice_build::params;

/// Parameters of `conweave-spine`.
#[derive(Clone, Debug, PartialEq, Eq, params::Params)]
pub struct Params {
    /// IPv4 prefixes that the route table must hold
    #[param(range = 1..=65_536)]
    pub routes: u32,
    /// Groups of links that the tables must hold, one per ToR
    #[param(range = 1..=2_048)]
    pub groups: u32,
    /// Links to each ToR: path p takes link (p - 1) modulo this number
    #[param(range = 1..=4)]
    pub links: u32,
}

impl Default for Params {
    fn default() -> Self {
        Params { routes: 2048, groups: 256, links: 1 }
    }
}
