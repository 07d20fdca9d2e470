//! Packets that senders held back because they obey PFC frames.

use serde_json::{Value, json};
use sluice_asic::units::{Duration, Length, Time};
use sluice_fabric::network::SwitchId;
use sluice_fabric::senders::{HeldBack, Senders};

/// Packets that the senders of one switch held back.
#[derive(Clone, Debug)]
pub struct HeldBackReport {
    /// Length of the cables to the senders.
    pub cable: Length,
    /// The senders, in the order of their ports, each with the name of its port.
    pub senders: Vec<(String, HeldBack)>,
}

impl HeldBackReport {
    /// Returns the report of the senders of a switch; `name` returns the name of a dev_port.
    pub(crate) fn of(
        senders: &Senders,
        switch: SwitchId,
        name: impl Fn(u16) -> String,
        now: Time,
    ) -> HeldBackReport {
        let own = senders.held_back(now).filter(|s| s.switch == switch.0);
        HeldBackReport { cable: senders.cable(), senders: own.map(|s| (name(s.port), s)).collect() }
    }

    /// Returns the report as the key `obey_pfc` of a summary.
    pub(crate) fn json(&self) -> Value {
        let ns = |d: Duration| d.as_ps() as f64 / 1e3;
        let port = |(name, s): &(String, HeldBack)| {
            json!({
                "port": name, "dev_port": s.port,
                "held_back": s.frames,
                "delay_ns": { "total": ns(s.total), "most": ns(s.most) },
                "unsent": s.unsent,
                "pauses": s.pauses,
                "paused_ns": ns(s.paused),
            })
        };
        let ports: Vec<Value> = self.senders.iter().map(port).collect();
        json!({ "cable_m": self.cable.as_millimetres() as f64 / 1e3, "ports": ports })
    }
}
