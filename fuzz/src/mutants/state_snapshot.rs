//! Sparse snapshot of a device's state after a run, for comparison: registers, counters, meters, ages and random streams.

use sluice_asic::salu::State as Element;
use sluice_exec::pass::{Count, State};
use sluice_ir::{Counter, Register};

/// State of all pipes: register and counter cells that changed, as (pipe, array, index, value), and all other state of each
/// pipe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StateSnapshot {
    registers: Vec<(usize, Register, u32, Element)>,
    counters: Vec<(usize, Counter, u32, Count)>,
    rest: Vec<State>,
}

impl StateSnapshot {
    /// Takes a snapshot of these pipes. Their states keep only registers and counters, whose memory is used again.
    pub(super) fn of(states: &mut [State]) -> StateSnapshot {
        let mut snapshot = StateSnapshot::default();
        for (pipe, state) in states.iter_mut().enumerate() {
            for (register, array) in state.registers.iter() {
                let other = array.changed();
                snapshot.registers.extend(other.map(|(i, e)| (pipe, register, i as u32, e)));
            }
            for (counter, cells) in state.counters.iter() {
                let other = cells.changed();
                snapshot.counters.extend(other.map(|(i, c)| (pipe, counter, i as u32, c)));
            }
            let (registers, counters) =
                (std::mem::take(&mut state.registers), std::mem::take(&mut state.counters));
            let arrays = State { registers, counters, ..State::default() };
            snapshot.rest.push(std::mem::replace(state, arrays));
        }
        snapshot
    }
}
