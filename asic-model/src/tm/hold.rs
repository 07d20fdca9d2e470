//! Reasons for which a queue with packets may not send: pauses by cause, and the credit of flow-control words.
//!
//! Assumptions (model: tm §5, §12 item 1 leave these open): one credit is one cell; a queue in credit mode sends while
//! its credit is above zero; each packet takes as many credits as it has cells, so the last packet may overdraw the
//! credit; sums saturate at the word's 15 bits.

use super::afc::{AfcEffect, AfcMode, AfcWord};
use crate::units::Cells;

/// Cause of a pause. Resuming one cause leaves the pauses of other causes in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PauseCause {
    /// The control plane paused the queue.
    Operator,
    /// The control plane paused all queues of the port.
    Port,
    /// A received PFC frame paused the queue.
    Pfc,
}

/// Smallest and largest credit: 15 bits with sign.
const CREDIT: (i32, i32) = (-(1 << 14), (1 << 14) - 1);

/// Pauses and credit of one queue.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Hold {
    /// One bit per [`PauseCause`].
    causes: u8,
    mode: Option<AfcMode>,
    /// True if a flow-control word paused the queue.
    xoff: bool,
    credit: i32,
}

impl Hold {
    /// Returns true if the queue may send.
    #[inline]
    pub(super) fn open(&self) -> bool {
        self.causes == 0 && !self.xoff && (self.mode != Some(AfcMode::Credit) || self.credit > 0)
    }

    pub(super) fn pause(&mut self, cause: PauseCause, paused: bool) {
        let bit = 1 << cause as u8;
        if paused { self.causes |= bit } else { self.causes &= !bit }
    }

    /// Changes the flow-control mode and clears the effects of earlier words.
    pub(super) fn set_mode(&mut self, mode: Option<AfcMode>) {
        *self = Self { causes: self.causes, mode, ..Self::default() };
    }

    /// Mode in which the queue obeys flow-control words; `None`: it ignores them.
    pub(super) const fn mode(&self) -> Option<AfcMode> {
        self.mode
    }

    pub(super) fn obey(&mut self, word: AfcWord) {
        match self.mode.and_then(|mode| word.effect(mode)) {
            Some(AfcEffect::Pause) => self.xoff = true,
            Some(AfcEffect::Resume) => self.xoff = false,
            Some(AfcEffect::Credit(credit)) => {
                self.credit = (self.credit + i32::from(credit)).clamp(CREDIT.0, CREDIT.1);
            }
            None => {}
        }
    }

    /// Subtracts a sent packet from the credit.
    #[inline]
    pub(super) fn spend(&mut self, cells: Cells) {
        if self.mode == Some(AfcMode::Credit) {
            let cells = i32::try_from(cells.0).unwrap_or(i32::MAX);
            self.credit = self.credit.saturating_sub(cells).max(CREDIT.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(credit: u16) -> AfcWord {
        AfcWord { qfc: true, pipe: 0, mac: 0, queue: 0, credit }
    }

    #[test]
    fn words_are_obeyed_in_the_mode_of_the_queue() {
        let mut hold = Hold::default();
        hold.obey(word(1));
        assert!(hold.open(), "no mode, no word");
        hold.set_mode(Some(AfcMode::Xoff));
        hold.obey(word(1));
        assert!(!hold.open());
        hold.pause(PauseCause::Operator, true);
        hold.obey(word(0));
        assert!(!hold.open(), "the operator's pause stays");
        hold.pause(PauseCause::Operator, false);
        assert!(hold.open());
        hold.set_mode(Some(AfcMode::Credit));
        assert!(!hold.open());
        hold.obey(word(3));
        hold.spend(Cells(2));
        assert!(hold.open());
        hold.spend(Cells(2));
        assert!(!hold.open(), "overdrawn by one");
        hold.obey(word(1));
        assert!(!hold.open());
        hold.obey(word(0x3fff));
        hold.obey(word(0x3fff));
        hold.spend(Cells(0x3ffe));
        assert!(hold.open(), "sums end at 2^14 - 1");
        hold.obey(word(0x7fff));
        assert!(!hold.open(), "a word can take credit away");
    }
}
