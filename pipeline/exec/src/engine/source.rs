//! Operands of operations: bits of columns, constants, and argument words of entries.

use super::batch::{Phv, Slot};
use super::field::FieldAt;

/// Value of at most 32 bits, right-aligned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Source {
    Column {
        slot: Slot,
        shift: u8,
        mask: u32,
    },
    Const(u32),
    /// Argument word of the entry.
    Arg(u16),
}

/// Value of any width.
#[derive(Clone, Debug)]
pub(super) enum WideSource {
    Field {
        at: FieldAt,
        lo: u16,
        width: u16,
    },
    Const(u128),
    /// Argument words, least significant first.
    Args {
        first: u16,
        words: u16,
    },
}

/// Argument words and matched entry of each lane.
pub(super) struct EntryOf<'a> {
    pub(super) args: &'a [u32],
    /// Index of each lane's first argument word.
    pub(super) base: &'a [u32; 64],
    /// Index of each lane's matched entry, for direct arrays; `u32::MAX` on a miss.
    pub(super) entry: &'a [u32; 64],
}

impl EntryOf<'_> {
    #[inline(always)]
    pub(super) fn arg(&self, lane: usize, word: u16) -> u32 {
        self.args[self.base[lane] as usize + usize::from(word)]
    }
}

#[inline(always)]
pub(super) fn value<const N: usize>(s: Source, lane: usize, phv: &Phv<N>, entry: &EntryOf<'_>) -> u32 {
    match s {
        Source::Column { slot, shift, mask } => phv.get(slot, lane) >> shift & mask,
        Source::Const(v) => v,
        Source::Arg(word) => entry.arg(lane, word),
    }
}

pub(super) fn wide_value<const N: usize>(
    s: &WideSource,
    lane: usize,
    phv: &Phv<N>,
    entry: &EntryOf<'_>,
) -> u128 {
    match s {
        WideSource::Field { at, lo, width } => cut(at.read(phv, lane) >> lo, *width),
        WideSource::Const(v) => *v,
        WideSource::Args { first, words } => {
            (0..*words).fold(0, |v, w| v | u128::from(entry.arg(lane, first + w)) << (32 * w))
        }
    }
}

/// Returns the low `width` bits of `v`.
pub(super) fn cut(v: u128, width: u16) -> u128 {
    v & sluice_asic::alu::width_mask(u32::from(width))
}
