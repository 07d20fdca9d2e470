//! Counter operations of actions.

use super::Effects;
use crate::engine::batch::{Phv, for_lanes};
use crate::engine::source::{EntryOf, Source, value};
use crate::pass::{Count, State};
use sluice_asic::counter::CounterLayout;
use sluice_control::cells::Cells;
use sluice_ir::entity::Entity;
use sluice_ir::{Counter, CounterKind};

/// Counts each lane's packet in the cell that `index` gives.
#[inline(never)]
pub(super) fn count_at<const N: usize>(
    (counter, kind): (u32, CounterKind),
    index: Source,
    mask: u64,
    phv: &Phv<N>,
    entry: &EntryOf<'_>,
    fx: &mut Effects<'_>,
) {
    let (cells, bytes) = (cells(fx.state, counter), fx.bytes);
    match index {
        Source::Column { slot, shift, mask: bits } => {
            let column = phv.column(slot);
            let at = |l: usize| column[l % N].get() >> shift & bits;
            for_lanes::<N>(mask, |l| count(cells, kind, at(l), bytes[l]));
        }
        index => for_lanes::<N>(mask, |l| count(cells, kind, value(index, l, phv, entry), bytes[l])),
    }
}

/// Counts each lane's packet in the cell of the entry that the lookup matched.
#[inline(never)]
pub(super) fn count_entry<const N: usize>(
    (counter, kind): (u32, CounterKind),
    mask: u64,
    entry: &EntryOf<'_>,
    fx: &mut Effects<'_>,
) {
    let (cells, bytes) = (cells(fx.state, counter), fx.bytes);
    for_lanes::<N>(mask, |l| count(cells, kind, entry.entry[l], bytes[l]));
}

/// Counts each lane's packet in a cell with a layout; `index` `None`: in the matched entry's cell.
#[inline(never)]
pub(super) fn count_cell<const N: usize>(
    (counter, layout): (u32, &CounterLayout),
    index: Option<Source>,
    mask: u64,
    phv: &Phv<N>,
    entry: &EntryOf<'_>,
    fx: &mut Effects<'_>,
) {
    let (cells, bytes) = (cells(fx.state, counter), fx.bytes);
    for_lanes::<N>(mask, |l| {
        let at = index.map_or(entry.entry[l], |index| value(index, l, phv, entry));
        if let Some(cell) = cells.get_mut(at as usize) {
            cell.count(*layout, bytes[l]);
        }
    });
}

fn cells(state: &mut State, counter: u32) -> &mut Cells<Count> {
    &mut state.counters[Counter::new(counter as usize)]
}

#[inline(always)]
fn count(cells: &mut Cells<Count>, kind: CounterKind, index: u32, bytes: u32) {
    if let Some(cell) = cells.get_mut(index as usize) {
        cell.packets += u64::from(kind != CounterKind::Bytes);
        cell.bytes += if kind == CounterKind::Packets { 0 } else { u64::from(bytes) };
    }
}
