//! Lookups of packets in a table, and the choice of group members.

use super::super::batch::{Phv, for_lanes, lanes_where};
use super::super::lookup::Lookup;
use super::{EngineTable, GROUP, Hit, LaneLookups, NO_ENTRY, Row};
use crate::pass::State;

impl EngineTable {
    /// Looks up the lanes of `mask`; returns the lanes that hit, or 0 if nothing depends on hits.
    #[inline]
    pub(in crate::engine) fn find<const N: usize>(
        &self,
        mask: u64,
        phv: &Phv<N>,
        found: &mut LaneLookups,
        state: &mut State,
    ) -> u64 {
        if matches!(self.lookup, Lookup::Miss) {
            state.looked_up(self.table, 0, mask.count_ones());
            self.all_find::<N>(self.rows[0], mask, found);
            return 0;
        }
        if self.selector.is_none() && self.same_key::<N>(mask, phv) {
            let at = self.lookup.one(phv, mask.trailing_zeros() as usize % 64);
            state.looked_up(self.table, at, mask.count_ones());
            self.all_find::<N>(self.rows[at as usize], mask, found);
            return if at == 0 { 0 } else { mask };
        }
        self.lookup.find::<N>(mask, phv, &mut found.rows);
        if !state.hits[self.table].is_empty() {
            for_lanes::<N>(mask, |l| state.looked_up(self.table, found.rows[l], 1));
        }
        let LaneLookups { rows, action, base, entry, mixed } = found;
        let first = self.rows[rows[mask.trailing_zeros() as usize % 64] as usize].action;
        let mut differ = 0;
        if self.selector.is_some() {
            for_lanes::<N>(mask, |l| {
                let row = &self.rows[rows[l] as usize];
                entry[l] = row.entry;
                let row = if row.action == GROUP { self.select(row, phv, l) } else { row };
                (action[l], base[l]) = (row.action, row.args);
            });
            let first = action[mask.trailing_zeros() as usize % 64];
            for_lanes::<N>(mask, |l| differ |= action[l] ^ first);
        } else if self.counts {
            for_lanes::<N>(mask, |l| {
                let row = &self.rows[rows[l] as usize];
                (action[l], base[l], entry[l]) = (row.action, row.args, row.entry);
                differ |= row.action ^ first;
            });
        } else {
            for_lanes::<N>(mask, |l| {
                let row = &self.rows[rows[l] as usize];
                (action[l], base[l]) = (row.action, row.args);
                differ |= row.action ^ first;
            });
        }
        *mixed = differ != 0;
        if self.hits { lanes_where::<N>(mask, |l| rows[l] != 0) } else { 0 }
    }

    /// Returns true if all lanes of `mask` have one key, as packets of one port or VLAN have.
    #[inline]
    fn same_key<const N: usize>(&self, mask: u64, phv: &Phv<N>) -> bool {
        let (first, last) = (mask.trailing_zeros() as usize % 64, 63 - mask.leading_zeros() as usize % 64);
        self.key.pieces().all(|(slot, bits)| {
            let column = phv.column(slot);
            let value = column[first % N].get();
            let mut differ = column[last % N].get() ^ value;
            if differ & bits == 0 {
                for_lanes::<N>(mask, |l| differ |= column[l % N].get() ^ value);
            }
            differ & bits == 0
        })
    }

    /// Looks up a batch's only packet; returns true on a hit, and the position of the action to run.
    #[inline(always)]
    pub(in crate::engine) fn one<const N: usize>(
        &self,
        phv: &Phv<N>,
        found: &mut LaneLookups,
        state: &mut State,
    ) -> (bool, usize) {
        let at = self.lookup.one(phv, 0);
        state.looked_up(self.table, at, 1);
        let Some(mut row) = self.rows.get(at as usize) else { return (false, 0) };
        found.entry[0] = row.entry;
        if row.action == GROUP {
            row = self.select(row, phv, 0);
        }
        found.base[0] = row.args;
        (at != 0, row.action as usize)
    }

    /// Returns the result of a row for one packet; a group selects a member by the packet's hash.
    #[inline(always)]
    pub(in crate::engine) fn hit(&self, at: u32, phv: &Phv<1>) -> Hit<'_> {
        let Some(row) = self.rows.get(at as usize) else { return Hit::new(false, (0, NO_ENTRY), &[]) };
        let chosen = if row.action == GROUP { self.select(row, phv, 0) } else { row };
        let args = self.args.get(chosen.args as usize..).unwrap_or(&[]);
        Hit::new(at != 0, (chosen.action, row.entry), args)
    }

    /// Resets the age of an entry that one packet matched.
    #[inline]
    pub(in crate::engine) fn refresh_entry(&self, entry: u32, state: &mut State) {
        if let Some(age) = state.ages[self.table].get_mut(entry as usize) {
            *age = 0;
        }
    }

    /// Resets the ages of the entries that the lanes of `hits` matched.
    #[inline]
    pub(in crate::engine) fn refresh<const N: usize>(
        &self,
        hits: u64,
        found: &LaneLookups,
        state: &mut State,
    ) {
        if self.ages {
            self.make_young::<N>(hits, found, state);
        }
    }

    #[inline(never)]
    fn make_young<const N: usize>(&self, hits: u64, found: &LaneLookups, state: &mut State) {
        let ages = &mut state.ages[self.table];
        for_lanes::<N>(hits, |l| {
            if let Some(age) = ages.get_mut(found.entry[l] as usize) {
                *age = 0;
            }
        });
    }

    /// Gives every lane of `mask` the same row, such as the default action of a table without key or entries.
    fn all_find<const N: usize>(&self, row: Row, mask: u64, found: &mut LaneLookups) {
        for_lanes::<N>(mask, |l| (found.action[l], found.base[l]) = (row.action, row.args));
        if self.counts {
            for_lanes::<N>(mask, |l| found.entry[l] = row.entry);
        }
        found.mixed = false;
    }

    #[inline]
    fn select<'s, const N: usize>(&'s self, row: &Row, phv: &Phv<N>, lane: usize) -> &'s Row {
        let group = &self.groups[row.args as usize];
        let Some((selector, hash)) = &self.selector else { return &self.rows[0] };
        let hash = hash.eval(phv, lane);
        let slot = match group.fast {
            Some(modulus) => Some(modulus.rem(hash as u32 & 0x3fff)),
            None => group.shape.as_ref().and_then(|shape| selector.pick(u128::from(hash), shape)),
        };
        slot.and_then(|s| group.rows.get(s as usize)).unwrap_or(&self.rows[0])
    }
}
