//! Direction of a pass through a pipe: ingress or egress.

use serde::{Deserialize, Serialize};

/// Direction of a pass through a pipe: towards the traffic manager or away from it.
///
/// Both directions share the resources of every stage (model: chip §1.1); a packet's PHV belongs to
/// exactly one of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gress {
    /// From a port to the traffic manager.
    Ingress,
    /// From the traffic manager to a port.
    Egress,
}

impl Gress {
    /// Both directions, ingress first.
    pub const ALL: [Gress; 2] = [Gress::Ingress, Gress::Egress];

    /// 0 for ingress, 1 for egress: the index of per-gress arrays.
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Gress::Ingress => 0,
            Gress::Egress => 1,
        }
    }

    /// Returns `ingress` or `egress`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Gress::Ingress => "ingress",
            Gress::Egress => "egress",
        }
    }
}

impl std::fmt::Display for Gress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
