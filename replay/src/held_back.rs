//! Packets that senders held back because they obey PFC frames.

use serde::Serialize;
use sluice_asic::units::{Duration, Time};
use sluice_fabric::network::SwitchId;
use sluice_fabric::senders::Senders;

/// Packets that the senders of a switch, or of all switches of a network, held back.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeldBackReport {
    /// Length of the cables to the senders, in m.
    pub cable_m: f64,
    /// The senders, in the order of their ports.
    pub ports: Vec<SenderRow>,
}

/// A sender. Times are in ns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SenderRow {
    /// Name of the switch, in a network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch: Option<String>,
    /// Name of the port that it sends to.
    pub port: String,
    /// dev_port of this port.
    pub dev_port: u16,
    /// Frames that were sent later than they were due.
    pub held_back: u64,
    /// Delays of these frames.
    pub delay_ns: DelayRow,
    /// Frames that wait at the end.
    pub unsent: u64,
    /// Number of pauses, over all priorities.
    pub pauses: u64,
    /// Sum of the pauses' lengths, over all priorities.
    pub paused_ns: f64,
}

/// Delays of frames, in ns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DelayRow {
    /// Sum of all delays.
    pub total: f64,
    /// Largest delay.
    pub most: f64,
}

impl HeldBackReport {
    /// Returns the report of the senders of a switch; `name` returns the name of a dev_port.
    pub(crate) fn of(
        senders: &Senders,
        switch: SwitchId,
        name: impl Fn(u16) -> String,
        now: Time,
    ) -> HeldBackReport {
        let ns = |time: Duration| time.as_ps() as f64 / 1e3;
        let own = senders.held_back(now).filter(|s| s.switch == switch.0);
        let row = own.map(|s| SenderRow {
            switch: None,
            port: name(s.port),
            dev_port: s.port,
            held_back: s.frames,
            delay_ns: DelayRow { total: ns(s.total), most: ns(s.most) },
            unsent: s.unsent,
            pauses: s.pauses,
            paused_ns: ns(s.paused),
        });
        HeldBackReport { cable_m: senders.cable().as_millimetres() as f64 / 1e3, ports: row.collect() }
    }
}
