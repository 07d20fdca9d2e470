//! What a run leaves in a device's registers, counters and streams, without what never changed.

use sluice_asic::salu::State as Element;
use sluice_exec::pass::{Count, State};
use sluice_ir::{Counter, Register};

/// Of each pipe the elements that are not as they were at first, and the rest whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Remains {
    registers: Vec<(usize, Register, u32, Element)>,
    counters: Vec<(usize, Counter, u32, Count)>,
    rest: Vec<State>,
}

impl Remains {
    /// What is left in these pipes. Their states keep the memory of their large arrays alone.
    pub(super) fn of(states: &mut [State]) -> Remains {
        let mut remains = Remains::default();
        for (pipe, state) in states.iter_mut().enumerate() {
            for (register, array) in state.registers.iter() {
                let other = array.changed();
                remains.registers.extend(other.map(|(i, e)| (pipe, register, i as u32, e)));
            }
            for (counter, cells) in state.counters.iter() {
                let other = cells.changed();
                remains.counters.extend(other.map(|(i, c)| (pipe, counter, i as u32, c)));
            }
            let (registers, counters) =
                (std::mem::take(&mut state.registers), std::mem::take(&mut state.counters));
            let arrays = State { registers, counters, ..State::default() };
            remains.rest.push(std::mem::replace(state, arrays));
        }
        remains
    }
}
