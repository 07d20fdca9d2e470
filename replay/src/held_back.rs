//! What the summary says of senders that obey PFC. What may not live here: the senders.

use serde_json::{Value, json};
use sluice_asic::units::Time;
use sluice_fabric::senders::Senders;

/// What each sender of a switch has held back, and for how long.
pub(crate) fn json(senders: &Senders, switch: u32, name: impl Fn(u16) -> String, now: Time) -> Value {
    let ns = |d: sluice_asic::units::Duration| d.as_ps() as f64 / 1e3;
    let ports: Vec<Value> = senders
        .held_back(now)
        .filter(|s| s.switch == switch)
        .map(|s| {
            json!({
                "port": name(s.port), "dev_port": s.port,
                "held_back": s.frames,
                "delay_ns": { "total": ns(s.total), "most": ns(s.most) },
                "unsent": s.unsent,
                "pauses": s.pauses,
                "paused_ns": ns(s.paused),
            })
        })
        .collect();
    json!({ "cable_m": senders.cable().as_millimetres() as f64 / 1e3, "ports": ports })
}
