//! Maps from a packet's code points to its traffic class, and from there to priority group and queue.

use super::config::PRIORITY_GROUPS;

/// Number of traffic classes.
pub const TRAFFIC_CLASSES: usize = 8;
/// Number of DSCP code points.
pub const DSCPS: usize = 64;

/// Code point of a packet that determines its traffic class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CodePoint {
    /// DSCP of an IP packet, 0 to 63.
    Dscp(u8),
    /// VLAN priority of a tagged packet that is not IP, 0 to 7.
    Pcp(u8),
    /// The packet has neither.
    None,
}

/// Traffic class of a packet, with group and queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Class {
    /// Traffic class.
    pub tc: u8,
    /// Priority group at ingress.
    pub pg: u8,
    /// Queue at egress.
    pub queue: u8,
}

/// Maps from DSCP and PCP to traffic class, and from traffic class to group and queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QosMaps {
    /// Traffic class by DSCP.
    pub dscp_to_tc: [u8; DSCPS],
    /// Traffic class by PCP.
    pub pcp_to_tc: [u8; 8],
    /// Traffic class of packets with neither DSCP nor PCP.
    pub default_tc: u8,
    /// Priority group by traffic class.
    pub tc_to_pg: [u8; TRAFFIC_CLASSES],
    /// Queue by traffic class.
    pub tc_to_queue: [u8; TRAFFIC_CLASSES],
}

impl QosMaps {
    /// Returns the class of a packet. Bits of a code point beyond its width are ignored.
    #[inline]
    pub fn class(&self, point: CodePoint) -> Class {
        let tc = match point {
            CodePoint::Dscp(dscp) => self.dscp_to_tc[usize::from(dscp) % DSCPS],
            CodePoint::Pcp(pcp) => self.pcp_to_tc[usize::from(pcp) % 8],
            CodePoint::None => self.default_tc,
        } % TRAFFIC_CLASSES as u8;
        let pg = self.tc_to_pg[usize::from(tc)] % PRIORITY_GROUPS as u8;
        Class { tc, pg, queue: self.tc_to_queue[usize::from(tc)] }
    }

    /// Returns the traffic classes that some code point maps to, as bits.
    pub fn reachable(&self) -> u8 {
        let all = self.dscp_to_tc.iter().chain(&self.pcp_to_tc).chain([&self.default_tc]);
        all.fold(0, |bits, tc| bits | 1u8.checked_shl(u32::from(*tc)).unwrap_or(0))
    }
}
