//! The parameters of `conweave`.

use sluice_build::params;
use sluice_catalogue::ProgramError;
use sluice_catalogue::ports::PortRange;

/// Parameters. Times are in ticks of 1.024 us (model: conweave §1.13, §1.14).
#[derive(Clone, Debug, PartialEq, Eq, params::Params)]
pub struct Params {
    /// Flows under ConWeave's control: rows of the flow table and of every array with a cell per flow; row 0 is none
    #[param(range = 1..=65_536)]
    pub flows: u32,
    /// Ways of the reorder queue table: the paper has 4, the authors' code 3. They share a port's queues from 2 on
    #[param(range = 3..=4)]
    pub ways: u32,
    /// Reorder queues of a host's port at most, not fewer than `ways`: a way has eight, and a port has 16 queues a lane of which
    /// two are for other things
    #[param(range = 3..=32)]
    pub queues: u32,
    /// Destinations (groups of paths) that the tables of paths and of busy paths hold
    #[param(range = 1..=2_048)]
    pub groups: u32,
    /// Hosts and prefixes that the route table holds
    #[param(range = 16..=65_536)]
    pub routes: u32,
    /// theta_reply of flows that the control plane installs: how long an RTT_REPLY may take
    #[param(range = 1..=10_000_000)]
    pub reply: u32,
    /// theta_path_busy: how long a path stays busy after a NOTIFY. The paper has 8 us, the authors' ns-3 runs 16
    #[param(range = 0..=10_000_000)]
    pub path_busy: u32,
    /// theta_inactive: the silence after which a flow starts a new epoch whatever happened before
    #[param(range = 0..=10_000_000)]
    pub inactive: u32,
    /// What T_resume adds to the time at which TAIL is expected
    #[param(range = 0..=32_768)]
    pub resume_margin: u32,
    /// T_resume of a packet that overtook every packet of its epoch
    #[param(range = 0..=1_000_000)]
    pub resume_default: u32,
    /// By how much a timely RTT_REPLY moves the deadline, so that no timeout comes between its two passes
    #[param(range = 0..=1_000)]
    pub reply_bridge: u32,
    /// How long, as a power of two of ticks, a resumed queue may take to drain and TAIL to leave before the timer
    /// packet stops waiting: what they wait for was lost
    #[param(range = 8..=15)]
    pub patience: u32,
    /// For how long the timer packet of a flow that waits may not be seen before the flow's next packet makes another
    /// one in its place: it was lost on its way round. A lap takes 0.6 us, and more when many flows wait
    #[param(range = 16..=1_000_000)]
    pub watchdog: u32,
    /// DSCP of RTT_REPLY, CLEAR and NOTIFY: the switches on their way must give it a higher priority than data
    #[param(range = 0..=63)]
    pub control_dscp: u32,
    /// Sends TAIL at a timeout even when both sampled paths are busy, as the authors' code does; the paper's
    /// condition asks for a path
    pub tail_without_path: bool,
    /// An RTT_REPLY exactly at the deadline is late (ns-3) or timely (the P4 program)
    pub strict_deadline: bool,
    /// Milliseconds without a packet after which the control plane is told that a flow's entry is idle. The entries are swept
    /// every 5 ms, and an entry's 6 bits count at most 63 sweeps
    #[param(range = 10..=315)]
    pub idle_ms: u32,
    /// UDP source ports, from 49152 on, whose flows between hosts are known from the start; the control plane learns of
    /// all others by digests
    #[param(range = 0..=64)]
    pub known: u32,
    /// Pipe that all ports of the ToR are in
    #[param(range = 0..=3)]
    pub pipe: u32,
    /// Front-panel ports of the hosts: one range
    #[param(expects = "a range of front-panel ports such as 0-3")]
    pub hosts: PortRange,
    /// Front-panel ports of the paths to the spines: one range
    #[param(expects = "a range of front-panel ports such as 4-7")]
    pub uplinks: PortRange,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            flows: 4096,
            ways: 4,
            queues: 32,
            groups: 2048,
            routes: 2048,
            reply: 8,
            path_busy: 8,
            inactive: 300,
            resume_margin: 16,
            resume_default: 200,
            reply_bridge: 4,
            patience: 14,
            watchdog: 64,
            control_dscp: super::CONTROL_DSCP,
            tail_without_path: false,
            strict_deadline: false,
            idle_ms: 100,
            known: 4,
            pipe: 0,
            hosts: PortRange { first: 0, last: 3 },
            uplinks: PortRange { first: 4, last: 7 },
        }
    }
}

impl Params {
    /// The dev_port of the pipe's recirculation port (model: conweave §2.5).
    #[must_use]
    pub fn recirculation(&self) -> u64 {
        u64::from(self.pipe) << 7 | 6
    }

    /// Checks the parameters that depend on each other.
    pub(super) fn check(&self, program: &str) -> Result<(), ProgramError> {
        let conflict =
            |key, found: String, expected: &str| Err(ProgramError::conflict(program, key, found, expected));
        if self.hosts.meets(self.uplinks) {
            let expected =
                format!("hosts={} has ports of them: a port is for a host or for a path", self.hosts);
            return conflict("uplinks", self.uplinks.to_string(), &expected);
        }
        if self.queues < self.ways {
            let expected = format!("at least ways={}: two ways never share a queue", self.ways);
            return conflict("queues", self.queues.to_string(), &expected);
        }
        if self.uplinks.iter().count() > 255 {
            let expected = "a path id has eight bits and 0 is none: at most 255 uplinks";
            return conflict("uplinks", self.uplinks.to_string(), expected);
        }
        Ok(())
    }
}
