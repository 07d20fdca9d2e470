//! Lane search: the smallest or largest lane of a 128-bit word.

/// Function of a lane search and width of the lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LaneOp {
    /// The smallest of sixteen bytes.
    Min8,
    /// The largest of sixteen bytes.
    Max8,
    /// The smallest of eight 16-bit lanes.
    Min16,
    /// The largest of eight 16-bit lanes.
    Max16,
}

impl LaneOp {
    /// Every search.
    pub const ALL: [Self; 4] = [Self::Min8, Self::Max8, Self::Min16, Self::Max16];

    /// Returns the vendor assembler's mnemonic.
    pub const fn mnemonic(self) -> &'static str {
        match self {
            Self::Min8 => "min8",
            Self::Max8 => "max8",
            Self::Min16 => "min16",
            Self::Max16 => "max16",
        }
    }

    /// Returns the bits per lane.
    pub const fn lane_bits(self) -> u32 {
        match self {
            Self::Min8 | Self::Max8 => 8,
            Self::Min16 | Self::Max16 => 16,
        }
    }

    /// Returns the lanes of a word, which are also the bits of the mask.
    pub const fn lanes(self) -> u32 {
        128 / self.lane_bits()
    }

    const fn is_max(self) -> bool {
        matches!(self, Self::Max8 | Self::Max16)
    }
}

/// Lanes that are searched; bit 0 is the lowest lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LaneMask {
    /// A constant, from the register file.
    Constant(u16),
    /// The lowest bits of the PHV operand.
    Phv,
}

/// Amount by which the chosen lane changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PostAmount {
    /// A constant, from the register file.
    Constant(u8),
    /// A PHV byte: the lowest one if the mask is a constant, otherwise the one above the mask.
    Phv,
}

/// A change of the chosen lane, capped at zero and at the lane's largest value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LanePost {
    /// True if the amount is subtracted.
    pub subtract: bool,
    /// The amount.
    pub amount: PostAmount,
}

/// Search over the register's word or the PHV operands. An action with a lane search has no other update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LaneSearch {
    /// Function of the search.
    pub op: LaneOp,
    /// True if the lanes are those of the PHV operands; a change is then output and not stored.
    pub from_phv: bool,
    /// Lanes that are searched.
    pub mask: LaneMask,
    /// A change of the chosen lane.
    pub post: Option<LanePost>,
}

/// Result of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FoundLane {
    /// The chosen lane's number.
    pub(super) index: u32,
    /// Value of the lane.
    pub(super) value: u32,
    /// Value of the lane after the change.
    pub(super) changed: u32,
    /// The register's new word.
    pub(super) word: u128,
}

impl LaneSearch {
    /// Searches; of equal lanes the highest one is chosen, and without any lane index and value are 0 (model).
    #[inline]
    pub(super) fn run(&self, word: u128, phv: u128) -> FoundLane {
        let (lanes, bits) = (self.op.lanes(), self.op.lane_bits());
        let lane_mask = (1u32 << bits) - 1;
        let mask = match self.mask {
            LaneMask::Constant(mask) => u32::from(mask),
            LaneMask::Phv => phv as u32,
        } & ((1u32 << lanes) - 1);
        let source = if self.from_phv { phv } else { word };
        let lane = |index: u32| (source >> (index * bits)) as u32 & lane_mask;
        let mut found: Option<(u32, u32)> = None;
        for index in (0..lanes).filter(|index| mask >> index & 1 != 0) {
            let value = lane(index);
            let better = |(_, best): (u32, u32)| if self.op.is_max() { value >= best } else { value <= best };
            if found.is_none_or(better) {
                found = Some((index, value));
            }
        }
        let Some((index, value)) = found else { return FoundLane { index: 0, value: 0, changed: 0, word } };
        let Some(post) = self.post else { return FoundLane { index, value, changed: value, word } };
        let amount = match (post.amount, self.mask) {
            (PostAmount::Constant(amount), _) => u32::from(amount),
            (PostAmount::Phv, LaneMask::Constant(_)) => phv as u32 & 0xff,
            (PostAmount::Phv, LaneMask::Phv) => (phv >> lanes) as u32 & 0xff,
        };
        let changed =
            if post.subtract { value.saturating_sub(amount) } else { (value + amount).min(lane_mask) };
        let place = index * bits;
        let stored = word & !(u128::from(lane_mask) << place) | u128::from(changed) << place;
        FoundLane { index, value, changed, word: if self.from_phv { word } else { stored } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORD: u128 = 0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0102;

    fn search(op: LaneOp, mask: LaneMask, post: Option<LanePost>) -> LaneSearch {
        LaneSearch { op, from_phv: false, mask, post }
    }

    #[test]
    fn smallest_and_largest_of_the_lanes_that_take_part() {
        let rows = [
            (LaneOp::Min8, 0xffff, 1, 0x01),
            // Two lanes hold 2: the higher one wins.
            (LaneOp::Min8, 0xfffd, 2, 0x02),
            (LaneOp::Max8, 0xffff, 15, 0x0f),
            (LaneOp::Max8, 0x00ff, 7, 0x07),
            (LaneOp::Min16, 0xff, 0, 0x0102),
            (LaneOp::Max16, 0x0f, 3, 0x0706),
            (LaneOp::Max16, 0, 0, 0),
        ];
        for (op, mask, index, value) in rows {
            let found = search(op, LaneMask::Constant(mask), None).run(WORD, 0);
            assert_eq!((found.index, found.value, found.word), (index, value, WORD), "{}", op.mnemonic());
        }
    }

    #[test]
    fn the_chosen_lane_changes_within_its_range() {
        let post = |subtract, amount| Some(LanePost { subtract, amount });
        let down = search(LaneOp::Max8, LaneMask::Phv, post(true, PostAmount::Constant(200)));
        let found = down.run(WORD, 0x0003);
        assert_eq!((found.index, found.value, found.changed), (0, 2, 0));
        assert_eq!(found.word, WORD & !0xff);
        // The amount is above the sixteen mask bits.
        let up = search(LaneOp::Max8, LaneMask::Phv, post(false, PostAmount::Phv));
        assert_eq!(up.run(WORD, 0x00fe_8000).changed, 0xff);
        let up = LaneSearch {
            from_phv: true,
            ..search(LaneOp::Min16, LaneMask::Constant(2), post(false, PostAmount::Phv))
        };
        let found = up.run(WORD, 0x0100_0005);
        assert_eq!((found.index, found.value, found.changed, found.word), (1, 0x0100, 0x0105, WORD));
    }
}
