//! Meters and random numbers.

use super::eval::Env;
use super::trace::Event;
use super::{Run, Tracer};
use sluice_control::EntryId;
use sluice_ir::meter_array::Question;
use sluice_ir::{Counter, CounterHome, Field, Index, Loc, MeterAccess, Random, Table};

impl<T: Tracer> Run<'_, T> {
    /// Draws one number for this pass from every random number generator of the gress.
    pub(super) fn draw(&mut self) {
        let own = self.program.randoms.values().zip(self.state.randoms.values_mut());
        self.draws = own
            .map(|(data, stream)| if data.gress == self.gress { stream.draw(data.width.into()) } else { 0 })
            .collect();
    }

    /// Returns the cell that an index names; `None` if there is none, as on a miss.
    pub(super) fn cell(
        &self,
        index: &Index,
        home: CounterHome,
        args: &[u128],
        entry: Option<(Table, EntryId)>,
    ) -> Option<u128> {
        let env = Env { program: self.program, phv: self.phv, args };
        match index {
            Index::At(e) => Some(env.value(e)),
            Index::Hash(hash) => Some(env.hash(&self.program.hashes[*hash]).into()),
            Index::Entry => entry.filter(|(t, _)| home == CounterHome::Direct(*t)).map(|(_, id)| id.into()),
        }
    }

    /// Runs a meter's cell for the packet and writes the result; without a cell the result is 0.
    pub(super) fn ask(
        &mut self,
        access: &MeterAccess,
        args: &[u128],
        entry: Option<(Table, EntryId)>,
        loc: Loc,
    ) {
        let home = self.program.meters[access.meter].home;
        let index = self.cell(&access.index, home, args, entry);
        let env = Env { program: self.program, phv: self.phv, args };
        let input = access.input.as_ref().map_or(0, |e| env.value(e) as u32);
        let question = Question { now: self.now, bytes: self.bytes, input };
        let at = index.and_then(|i| usize::try_from(i).ok());
        let answer = at.map_or(0, |i| self.state.meters[access.meter].ask(i, question));
        if let Some(index) = index {
            self.tell(&Event::Asked { meter: access.meter, index, input, answer, loc });
        }
        self.write(access.to, answer.into(), loc);
    }

    /// Writes this pass's number of a random number generator to a field.
    pub(super) fn random(&mut self, field: Field, random: Random, loc: Loc) {
        let value = self.draws[random];
        self.tell(&Event::Drew { random, value, loc });
        self.write(field, value.into(), loc);
    }

    /// Returns the counter's cell of the matched entry.
    pub(super) fn counted_entry(&self, counter: Counter, entry: Option<(Table, EntryId)>) -> Option<u128> {
        self.cell(&Index::Entry, self.program.counters[counter].home, &[], entry)
    }
}
