//! Irregularities that a capture may have and still be read. The reader counts them.

use std::fmt;

/// Irregularity of a record. The reader delivers the frame nevertheless.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Oddity {
    /// More bytes were captured than the record's original length; the captured length replaces the original one.
    IncludedBeyondOriginal,
    /// More bytes were captured than the file's snap length allows.
    IncludedBeyondSnap,
    /// The original length exceeds that of any frame; the captured length replaces it.
    ImplausibleOriginal,
    /// The record has no timestamp (pcapng Simple Packet Block). The frame gets the timestamp of the previous frame, or
    /// the epoch if it is the first.
    NoTimestamp,
    /// The timestamp is earlier than that of the record before.
    TimeBackwards,
}

impl Oddity {
    /// All oddities, in order.
    pub const ALL: [Self; 5] = [
        Self::IncludedBeyondOriginal,
        Self::IncludedBeyondSnap,
        Self::ImplausibleOriginal,
        Self::NoTimestamp,
        Self::TimeBackwards,
    ];
}

impl fmt::Display for Oddity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::IncludedBeyondOriginal => "captured length greater than original length",
            Self::IncludedBeyondSnap => "captured length greater than the snap length",
            Self::ImplausibleOriginal => "original length above the largest frame, ignored",
            Self::NoTimestamp => "no timestamp in the record",
            Self::TimeBackwards => "timestamp earlier than that of the previous record",
        })
    }
}

/// Number of occurrences of an oddity, and the place of the first.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    /// Number of records with the oddity.
    pub count: u64,
    /// Number of the first such record, from 1; 0 if none.
    pub first_record: u64,
}

/// Oddities that one reader has found so far.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Oddities([Tally; Oddity::ALL.len()]);

impl Oddities {
    /// Returns the tally of one oddity.
    pub fn tally(&self, oddity: Oddity) -> Tally {
        self.0[oddity as usize]
    }

    /// Returns the oddities that occurred, in the order of [`Oddity::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (Oddity, Tally)> + '_ {
        Oddity::ALL
            .into_iter()
            .map(|oddity| (oddity, self.tally(oddity)))
            .filter(|(_, tally)| tally.count > 0)
    }

    pub(super) fn note(&mut self, oddity: Oddity, record: u64) {
        let tally = &mut self.0[oddity as usize];
        if tally.count == 0 {
            tally.first_record = record;
        }
        tally.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_record_is_kept() {
        let mut oddities = Oddities::default();
        oddities.note(Oddity::TimeBackwards, 4);
        oddities.note(Oddity::TimeBackwards, 9);
        let met: Vec<_> = oddities.iter().collect();
        assert_eq!(met, [(Oddity::TimeBackwards, Tally { count: 2, first_record: 4 })]);
    }

    #[test]
    fn all_is_in_the_order_of_the_discriminants() {
        for (index, oddity) in Oddity::ALL.into_iter().enumerate() {
            assert_eq!(oddity as usize, index);
        }
    }
}
