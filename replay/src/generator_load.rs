//! Packets that packet generators will make during a run: an estimate before the run starts.
//!
//! A run costs the simulated time between the packets of a capture, too, if a program uses periodic generators whose rounds
//! change state or read a clock. Which rounds do is known only when they run, so the estimate counts all packets.

use crate::inputs::Inputs;
use sluice_asic::pktgen::Trigger;
use sluice_asic::port::DevPort;
use sluice_asic::units::{BitRate, Duration};
use sluice_control::ControlState;
use sluice_fabric::network::SwitchId;
use sluice_pcaps::replay::Schedule;

/// Frames of the inputs that are read for the estimate.
const SCANNED: u64 = 1 << 20;

/// Packets that periodic packet generators make during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeneratorLoad {
    /// Simulated time between the first and the last packet of the inputs, or of their beginning if the inputs are long:
    /// the run takes at least this time.
    pub time: Duration,
    /// Packets that the generators of all switches make within this time.
    pub packets: u64,
}

impl GeneratorLoad {
    /// Estimates the load of a run with time, for switches with these settings. Returns `None` if no generator is
    /// periodic, or if the inputs can be read only once. Faults of the inputs are left to the run.
    #[must_use]
    pub fn of<'c>(
        inputs: &Inputs,
        schedule: Schedule,
        switches: impl IntoIterator<Item = &'c ControlState>,
    ) -> Option<GeneratorLoad> {
        let periods: Vec<(u64, u64)> = switches.into_iter().flat_map(periods).collect();
        if periods.is_empty() || inputs.may_wait() {
            return None;
        }
        let limit = schedule.limit.min(SCANNED);
        let no_line = |_: SwitchId, _: DevPort| BitRate::from_bps(0);
        let mut feed = inputs.feed(Schedule { limit, ..schedule }, no_line).ok()?;
        let mut last = 0;
        while let Ok(Some(sent)) = feed.next_frame() {
            last = sent.time;
        }
        let within = |(period, packets): (u64, u64)| (last / period.max(1)).saturating_mul(packets);
        let packets = periods.into_iter().map(within).fold(0, u64::saturating_add);
        Some(GeneratorLoad { time: Duration::from_ps(last), packets })
    }
}

/// Returns the period in ps and the packets per period of each periodic generator that is enabled.
fn periods(control: &ControlState) -> impl Iterator<Item = (u64, u64)> + '_ {
    control.device.apps.values().filter(|app| app.enabled).filter_map(|app| match app.config.trigger {
        Trigger::Periodic { period } => {
            Some((period.as_ps(), u64::from(app.config.batches) * u64::from(app.config.packets)))
        }
        _ => None,
    })
}
