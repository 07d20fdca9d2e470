//! Set-up of a shared buffer for the ports of a device.

use super::{FlowControl, PortFlow, QueueFlow};
use crate::port::PortState;
use sluice_asic::gress::Gress;
use sluice_asic::random::{RandomStream, StreamId};
use sluice_asic::tm::buffer::{Buffer, BufferConfig, BufferFile, PgConfig, PortBuffer, PortInfo, Problems};
use sluice_asic::tm::pfc::{PfcRx, PfcTx};
use sluice_asic::tm::watchdog::Watchdog;
use sluice_asic::units::Duration;

/// Shared buffer of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferSetup {
    /// The profile.
    pub file: BufferFile,
    /// Seed of the marking's random numbers.
    pub seed: u64,
}

impl BufferSetup {
    /// Resolves the profile for these ports.
    pub(crate) fn resolve(&self, ports: &[PortState]) -> Result<BufferConfig, Problems> {
        let info = |p: &PortState| PortInfo {
            name: p.name.clone(),
            speed: p.tx.rate(),
            queues: p.queues,
            internal: !p.front,
        };
        self.file.resolve(&ports.iter().map(info).collect::<Vec<_>>())
    }
}

/// Returns the PFC priorities of a port's lossless groups, as bits.
fn lossless(port: &PortBuffer) -> u8 {
    let of = |pg: &PgConfig| pg.lossless.map_or(0, |l| l.priorities);
    port.groups.iter().flatten().map(of).fold(0, |bits, own| bits | own)
}

impl FlowControl {
    /// Makes flow control without pauses, and its buffer.
    pub(crate) fn new(
        config: BufferConfig,
        setup: &BufferSetup,
        device: u32,
        ports: &[PortState],
    ) -> (FlowControl, Buffer) {
        let buffer = Buffer::new(&config);
        let port = |(state, port): (&PortState, &PortBuffer)| {
            let rate = state.tx.rate();
            let own = lossless(port);
            let watched = |q: &sluice_asic::tm::buffer::QueueBuffer| {
                let on = state.front && q.priority.is_some_and(|p| own >> p & 1 != 0) && q.lossless;
                config.watchdog.filter(|_| on).map(|w| Box::new(Watchdog::new(w)))
            };
            PortFlow {
                rx: PfcRx::new(rate, port.pfc_receive),
                tx: PfcTx::new(rate, &config.pfc, own),
                reaction: config.pfc.reaction_on(rate),
                unknown: 0,
                pause_ends: None,
                held_up: false,
                queues: port
                    .queues
                    .iter()
                    .map(|q| QueueFlow { watchdog: watched(q), ..QueueFlow::default() })
                    .collect(),
                polling: false,
                looking: false,
            }
        };
        let id = StreamId { switch: device, pipe: u32::MAX, gress: Gress::Egress, instance: 0 };
        let flow = FlowControl {
            ports: ports.iter().zip(&config.ports).map(port).collect(),
            random: RandomStream::new(setup.seed, id),
            config,
            big_red_switch: false,
        };
        (flow, buffer)
    }

    /// Returns every port's delay from the end of a PFC frame to its effect.
    pub(crate) fn reactions(&self) -> impl Iterator<Item = Duration> + '_ {
        self.ports.iter().map(|port| port.reaction)
    }
}
