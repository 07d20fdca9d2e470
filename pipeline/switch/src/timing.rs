//! Constants of the timing model: cycles of each gress, and the delays between the parts of the device.

use sluice_asic::chip::ChipSpec;
use sluice_asic::clock::Clock;
use sluice_asic::gress::Gress;
use sluice_asic::units::{Cycles, Duration};
use sluice_place::Placement;

/// Constants of one gress, in cycles.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GressTiming {
    pub(super) mau: u64,
    pub(super) deparser: u64,
    pub(super) parser_fixed: u64,
    /// Batch window: no pass is faster.
    pub(super) window: Duration,
}

/// Constants of a device that runs a placed program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    pub(super) clock: Clock,
    /// Constants of both gresses, by [`Gress::index`].
    pub(super) gresses: [GressTiming; 2],
    pub(super) tm_enqueue: Duration,
    pub(super) tm_dequeue: Duration,
    pub(super) mac_tx: Duration,
    /// Delay from the ingress deparser back to the parser.
    pub(super) resubmit: Duration,
    /// Mask of the bits of the traffic manager's timestamps.
    pub(super) tm_stamps: u32,
    /// Shortest delay from dequeue to the line.
    pub(super) lookahead: Duration,
    pub(super) tx_ahead: Duration,
}

impl Timing {
    /// Returns the constants of a placed program.
    pub(super) fn of(placement: &Placement) -> Timing {
        let chip: &ChipSpec = &placement.chip;
        let (clock, latency) = (chip.mau.clock, &chip.latency);
        let cycles = |c: u32| clock.span(Cycles(u64::from(c)));
        let gresses = Gress::ALL.map(|gress| gress_timing(placement, gress));
        Timing {
            clock,
            gresses,
            tm_enqueue: cycles(latency.tm_enqueue),
            tm_dequeue: cycles(latency.tm_dequeue),
            mac_tx: latency.mac_tx,
            resubmit: cycles(latency.resubmit),
            tm_stamps: u32::MAX >> (32 - chip.tm.timestamp_bits.clamp(1, 32)),
            lookahead: cycles(latency.tm_dequeue) + gresses[Gress::Egress.index()].window + latency.mac_tx,
            tx_ahead: latency.tx_ahead,
        }
    }
}

fn gress_timing(placement: &Placement, gress: Gress) -> GressTiming {
    let latency = &placement.chip.latency;
    let placed = placement.gress(gress);
    let (mau, deparser) = (u64::from(placed.mau_cycles), u64::from(placed.deparser_cycles));
    let parser_fixed = u64::from(latency.parser_fixed);
    let window = placement.chip.mau.clock.span(Cycles(mau + deparser + parser_fixed));
    GressTiming { mau, deparser, parser_fixed, window }
}
