//! Random numbers, meters and selectors of an executor, for the tree.

use num_bigint::BigInt;
use sluice_asic::gress::Gress;
use sluice_control::ControlState;
use sluice_exec::pass::State;
use sluice_ir::entity::EntityMap;
use sluice_ir::meter_array::{MeterArray, Question};
use sluice_ir::{Meter, Program, Random};
use sluice_reference::Outside;

/// The results that a pass of an executor will get.
pub(super) struct Around<'s> {
    program: &'s Program,
    control: &'s ControlState,
    draws: EntityMap<Random, u64>,
    meters: EntityMap<Meter, MeterArray>,
    now: u64,
    bytes: u32,
}

impl<'s> Around<'s> {
    /// Looks ahead from the state before a pass.
    pub(super) fn new(
        program: &'s Program,
        control: &'s ControlState,
        state: &State,
        gress: Gress,
        now: u64,
        bytes: u32,
    ) -> Around<'s> {
        let draws = program.randoms.iter().map(|(random, data)| {
            let mut stream = state.randoms[random].clone();
            if data.gress == gress { stream.draw(data.width.into()) } else { 0 }
        });
        Around { program, control, draws: draws.collect(), meters: state.meters.clone(), now, bytes }
    }

    fn ask(&mut self, object: &str, index: u64, input: u32) -> Option<u32> {
        let meter = self.program.meters.iter().find(|(_, data)| is(&data.name, object))?.0;
        let question = Question { now: self.now, bytes: self.bytes, input };
        Some(self.meters[meter].ask(index as usize, question))
    }
}

/// Returns true if a lowered object is the object of a full name.
fn is(lowered: &str, full: &str) -> bool {
    full == lowered || full.strip_suffix(lowered).is_some_and(|rest| rest.ends_with('.'))
}

impl Outside for Around<'_> {
    fn random(&mut self, object: &str, _: u32) -> Option<BigInt> {
        let random = self.program.randoms.iter().find(|(_, data)| is(&data.name, object))?.0;
        Some(self.draws[random].into())
    }

    fn filter(&mut self, object: &str, index: u64, value: &BigInt) -> Option<BigInt> {
        let input = u32::try_from(value).ok()?;
        self.ask(object, index, input).map(BigInt::from)
    }

    fn colour(&mut self, object: &str, index: u64, _: u64, before: u8) -> u8 {
        self.ask(object, index, before.into()).unwrap_or(0) as u8
    }

    fn member(&mut self, table: &str, group: u32, hash: u64) -> Option<Option<u32>> {
        let data = self.program.tables.values().find(|data| is(&data.name, table))?;
        let profile = data.profile?;
        let selector = self.program.profiles[profile].selector.as_ref()?;
        let slots = self.control.profiles[profile].slots(group);
        let slot = slots.shape.as_ref().and_then(|shape| selector.arithmetic().pick(hash.into(), shape));
        Some(slot.and_then(|slot| slots.members.get(slot as usize).copied().flatten()))
    }
}
