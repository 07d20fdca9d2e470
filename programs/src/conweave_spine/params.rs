//! The parameters of `conweave-spine`.

use sluice_build::params;

/// What users can set.
#[derive(Clone, Debug, PartialEq, Eq, params::Params)]
pub struct Params {
    /// Prefixes that the route table holds
    #[param(range = 1..=65_536)]
    pub routes: u32,
    /// ToRs, each a group of links
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
