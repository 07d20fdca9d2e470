//! Sends a capture through a program and its uplinks, and measures the reordering of its flows.

use super::order::{Arrival, Reordering, measure};
use super::placed::Placed;
pub use super::placed::{Candidate, TrialError};
use super::{FlowKey, flow_key};
use serde::Serialize;
use sluice_asic::port::FrontPort;
use sluice_asic::units::{BitRate, Duration, Time};
use sluice_switch::{Left, Lost, RxFrame, Sink, Switch, SwitchConfig};
use std::collections::BTreeMap;

/// First uplink port, for programs without a parameter `uplinks`.
const FIRST_UPLINK: u16 = 8;
/// Simulated time after the last frame in which the switch must become empty.
const DRAIN: Duration = Duration::from_nanos(100_000_000);

/// Frames with their flows, in order of time.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    frames: Vec<Sent>,
    flows: BTreeMap<FlowKey, (u32, u32)>,
}

#[derive(Clone, Debug)]
struct Sent {
    ps: u64,
    /// Flow and sequence number; none for frames without IP.
    of: Option<(u32, u32)>,
    bytes: Vec<u8>,
    orig_len: u32,
}

impl Trace {
    /// Adds a frame at time `ps`, ps since the first frame.
    pub fn push(&mut self, ps: u64, bytes: &[u8], orig_len: u32) {
        let next = self.flows.len() as u32;
        let of = flow_key(bytes).map(|key| {
            let flow = self.flows.entry(key).or_insert((next, 0));
            flow.1 += 1;
            (flow.0, flow.1 - 1)
        });
        self.frames.push(Sent { ps, of, bytes: bytes.to_vec(), orig_len });
    }

    /// Returns the number of frames.
    #[must_use]
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Returns true if there are no frames.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }
}

/// Properties of the uplinks.
#[derive(Clone, Copy, Debug)]
pub struct Uplinks {
    /// Delay of each uplink in addition to the delay of the one before it; the first uplink has delay 0.
    pub step: Duration,
    /// Rate of the uplinks; `None`: the default speed of the ports.
    pub rate: Option<BitRate>,
}

/// Result of a measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// Reordering of the flows.
    #[serde(flatten)]
    pub reordering: Reordering,
    /// Packets dropped in the switch.
    pub lost: u64,
    /// Packets sent on each uplink.
    pub uplinks: Vec<u64>,
}

/// Sends a trace into front-panel port 0 and measures the packets that the switch sends.
///
/// # Errors
/// If the program does not run with these parameters on this chip.
pub fn through(
    trace: &Trace,
    candidate: &Candidate<'_>,
    sets: &[(String, String)],
    uplinks: &Uplinks,
) -> Result<Outcome, TrialError> {
    let placed = Placed::new(candidate, sets)?;
    let first = first_uplink(&placed);
    let fronts = first..placed.ports.front_ports().len() as u16;
    let dev_port = |front: u16| placed.ports.front(FrontPort(front)).map(|p| p.dev_port.number());
    let speeds = |rate: BitRate| fronts.clone().filter_map(|f| Some((dev_port(f)?, rate))).collect();
    let port_speeds = uplinks.rate.map(speeds).unwrap_or_default();
    let config = SwitchConfig { seed: candidate.seed, port_speeds, ..SwitchConfig::default() };
    let (control, engine) = (placed.control.clone(), placed.engine()?);
    let mut switch =
        Switch::new(&placed.program, &placed.placement, &placed.ports, control, Box::new(engine), config)
            .map_err(|e| placed.device(e))?;
    let from = placed.ports.front(FrontPort(0)).ok_or_else(|| placed.device("there is no port 0"))?.dev_port;
    let mut sink = Arrivals {
        placed: &placed,
        trace,
        first,
        step: uplinks.step,
        arrivals: Vec::new(),
        lost: 0,
        uplinks: vec![],
    };
    let mut last = Time::ORIGIN;
    for (tag, frame) in (0..).zip(&trace.frames) {
        last = Time::from_ps(frame.ps);
        let rx = RxFrame { bytes: &frame.bytes, orig_len: frame.orig_len, tag };
        switch.rx(from, last, rx).map_err(|e| placed.device(e))?;
        // No frame arrives before this one, so the switch may run up to just before it.
        switch.advance(Time::from_ps(frame.ps.saturating_sub(1)), &mut sink).map_err(|e| placed.device(e))?;
    }
    switch.advance(last + DRAIN, &mut sink).map_err(|e| placed.device(e))?;
    Ok(Outcome { reordering: measure(sink.arrivals), lost: sink.lost, uplinks: sink.uplinks })
}

/// Returns the first port of the program's parameter `uplinks`, a range such as 4-7.
fn first_uplink(placed: &Placed<'_>) -> u16 {
    let range = placed.program.params.iter().find(|p| p.key == "uplinks");
    range.and_then(|p| p.value.split('-').next()?.trim().parse().ok()).unwrap_or(FIRST_UPLINK)
}

struct Arrivals<'a> {
    placed: &'a Placed<'a>,
    trace: &'a Trace,
    first: u16,
    step: Duration,
    arrivals: Vec<Arrival>,
    lost: u64,
    uplinks: Vec<u64>,
}

impl Arrivals<'_> {
    /// Returns the frame of a tag; packets that the switch generated have none.
    fn frame(&self, tag: u64) -> Option<&Sent> {
        self.trace.frames.get(usize::try_from(tag).ok()?)
    }
}

impl Sink for Arrivals<'_> {
    fn watches(&self) -> bool {
        false
    }

    fn sent(&mut self, packet: &Left, _: &[u8], _: &[u8]) {
        let uplink = self.placed.front(packet.egress_port).and_then(|f| f.0.checked_sub(self.first));
        let Some((flow, number)) = self.frame(packet.tag).and_then(|f| f.of) else { return };
        if let Some(uplink) = uplink.map(usize::from) {
            self.uplinks.resize(self.uplinks.len().max(uplink + 1), 0);
            self.uplinks[uplink] += 1;
        }
        let delay = self.step * u64::from(uplink.unwrap_or(0));
        self.arrivals.push(Arrival { ps: (packet.last_bit + delay).as_ps(), flow, number });
    }

    fn lost(&mut self, packet: &Lost, _: &[u8], _: &[u8]) {
        self.lost += u64::from(self.frame(packet.tag).is_some());
    }
}
