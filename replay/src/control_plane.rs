//! Passes messages of switches to a control plane, and operations of the control plane to switches.

use crate::error::Error;
use crate::network::switch_observer::SwitchObserver;
use sluice_asic::units::{Duration, Time};
use sluice_catalogue::control_plane::{ControlPlane, Operation};
use sluice_control::{ControlOp, ControlState};
use sluice_fabric::network::{Network, SwitchId};
use sluice_ir::KeyValue;
use sluice_switch::{Digest, IdleEntry, Switch, SwitchError};

/// Messages of one switch that the control plane has not yet received.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    digests: Vec<(Time, Vec<u8>)>,
    idle: Vec<IdleEntry>,
}

impl Heard {
    pub(crate) fn digest(&mut self, digest: &Digest, data: &[u8]) {
        self.digests.push((digest.time, data.to_vec()));
    }

    pub(crate) fn idle(&mut self, entry: &IdleEntry) {
        self.idle.push(*entry);
    }
}

/// Returns the end of the next step of a run with a control plane of this latency: one latency after `now`, or as many
/// as end before the run notices anything. `happens` returns the earliest time of an event or of an idle entry.
pub(crate) fn end_of_step(
    now: Time,
    latency: Duration,
    until: Time,
    happens: impl FnOnce() -> Option<Time>,
) -> Time {
    let latency = latency.max(Duration::from_ps(1));
    if now + latency >= until {
        return until;
    }
    let quiet = happens().map_or(until, |at| at.min(until)).saturating_since(now).as_ps().saturating_sub(1);
    now + latency * (quiet / latency.as_ps()).max(1)
}

/// Passes the messages of one switch to the control plane, and the control plane's operations to the switch. Calls `changes`
/// with the time and the operation.
pub(crate) fn listen_to_switch(
    plane: &mut dyn ControlPlane,
    switch: &mut Switch<'_>,
    heard: &mut Heard,
    changes: &mut dyn FnMut(Time, &ControlOp),
) -> Result<(), SwitchError> {
    const ONLY: usize = 0;
    for (time, data) in heard.digests.drain(..) {
        plane.digest(time, ONLY, &data);
    }
    for idle in heard.idle.drain(..) {
        plane.idle(idle.time, ONLY, idle.entry, &key_of(switch.control_state(), &idle));
    }
    while let Some(Operation { time, op, .. }) = plane.poll() {
        let time = time.max(switch.time());
        changes(time, &op);
        switch.control(time, op)?;
    }
    Ok(())
}

/// Passes the messages of all switches of a network to the control plane, digests in order of time, and its operations
/// to the switches.
pub(crate) fn listen_to_network(
    plane: &mut dyn ControlPlane,
    network: &mut Network,
    observers: &mut [SwitchObserver<'_>],
) -> Result<(), Error> {
    let mut digests: Vec<(Time, SwitchId, Vec<u8>)> = Vec::new();
    let mut idle: Vec<(SwitchId, IdleEntry)> = Vec::new();
    for (id, observer) in (0..).map(SwitchId).zip(observers) {
        let Some(heard) = &mut observer.collector.heard else { continue };
        digests.extend(heard.digests.drain(..).map(|(time, data)| (time, id, data)));
        idle.extend(heard.idle.drain(..).map(|entry| (id, entry)));
    }
    digests.sort();
    for (time, id, data) in digests {
        plane.digest(time, id.0 as usize, &data);
    }
    for (id, entry) in idle {
        let key = network.switch(id).map(|s| key_of(s.control_state(), &entry)).unwrap_or_default();
        plane.idle(entry.time, id.0 as usize, entry.entry, &key);
    }
    while let Some(Operation { time, switch, op }) = plane.poll() {
        network.control(SwitchId(switch as u32), time.max(network.time()), op)?;
    }
    Ok(())
}

/// Returns the key of an idle entry; an empty one if the entry no longer exists.
fn key_of(control: &ControlState, idle: &IdleEntry) -> Vec<KeyValue> {
    let slot = control.tables.get(idle.table).and_then(|t| t.slots.get(idle.entry as usize));
    slot.and_then(|s| s.as_ref()).map(|e| e.key.clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_without_an_event_are_one() {
        let ns = Time::from_nanos;
        let step =
            |until, happens| end_of_step(ns(100), Duration::from_nanos(50), ns(until), || happens).as_nanos();
        assert_eq!([step(150, None), step(120, None)], [150, 120]);
        // Steps end at 150, 200, 250, ..; the step in which something happens is one latency long.
        assert_eq!([step(1_000, Some(ns(120))), step(1_000, Some(ns(150)))], [150, 150]);
        assert_eq!([step(1_000, Some(ns(151))), step(1_000, Some(ns(200)))], [150, 150]);
        assert_eq!([step(1_000, Some(ns(201))), step(1_000, Some(ns(777)))], [200, 750]);
        assert_eq!([step(1_000, Some(ns(5_000))), step(1_000, None)], [950, 950]);
    }
}
