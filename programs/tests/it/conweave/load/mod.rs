//! The cost of reordering: recirculations by number of timer packets, and resources of flows that move all the time.
//! The `.txt` files beside the tests are their tables.

mod alone;
mod longer;
mod moving;
mod tables;

use crate::conweave::wire::{Cw, Flow, operation};
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::PortMap;
use sluice_asic::units::BitRate;
use sluice_pcaps::wire::roce;

/// The pipe's recirculation port, and the queue that timer packets take.
const RECIRCULATION: (u16, u8) = (6, 1);
/// Bytes of a timer packet: headers, ConWeave's header, its state.
const TIMER: u64 = 58 + 11;
/// Bytes of a frame on a line in addition to its own: FCS, preamble, inter-frame gap.
const LINE: u64 = 4 + 20;
/// Gb/s of a recirculation port.
const RATE: u64 = 400;

/// Ports of this speed.
fn ports(gbps: u64) -> PortMap {
    PortMap::new(&ChipSpec::tofino2(), BitRate::from_gbps(gbps)).unwrap()
}

/// Returns DATA of a SrcToR with this payload in bytes.
fn data(flow: Flow, psn: u32, cw: Cw, payload: usize) -> Vec<u8> {
    cw.put(&operation(flow, roce::opcode::RC_WRITE_MIDDLE, psn, payload))
}

/// Formats a number of tenths.
fn tenths(n: u64) -> String {
    format!("{}.{}", n / 10, n % 10)
}
