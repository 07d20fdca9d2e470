//! Shape of a selection group: words of 120 slots, the slots in use, and the active slots.
//!
//! The divisors for member selection are precomputed from these.

use thiserror::Error;

use super::FastMod;

/// Member slots in one selector RAM word (model: chip §3.5).
pub const WORD_SLOTS: u32 = 120;

/// Words in the largest group: a modulus of up to 31 and a shift of up to 5 (model: chip §3.5).
pub const MAX_WORDS: u32 = 992;

/// One selector RAM word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SelectorWord {
    active: [u64; 2],
    used: FastMod,
    live: FastMod,
}

impl SelectorWord {
    /// Returns a word with slots `0..used` in use and active; `used` is at most [`WORD_SLOTS`].
    const fn full(used: u32) -> Self {
        let low = if used >= 64 { u64::MAX } else { (1 << used) - 1 };
        let high = if used > 64 { (1 << (used - 64)) - 1 } else { 0 };
        Self { active: [low, high], used: FastMod::new(used), live: FastMod::new(used) }
    }

    /// Returns the activity bitmap: bit `i` of element `i / 64` is slot `i`.
    pub const fn active(&self) -> [u64; 2] {
        self.active
    }

    /// Returns the number of slots in use, 0 to 120; they are the lowest slots.
    pub const fn used(&self) -> u32 {
        self.used.divisor()
    }

    /// Returns the active slots.
    pub const fn live(&self) -> u32 {
        self.live.divisor()
    }

    /// Returns true if the slot is active.
    #[inline]
    pub const fn is_active(&self, slot: u32) -> bool {
        slot < 128 && self.active[(slot / 64) as usize] >> (slot % 64) & 1 == 1
    }

    /// Returns the precomputed remainder by [`SelectorWord::used`].
    #[inline]
    pub(super) const fn used_mod(&self) -> FastMod {
        self.used
    }

    /// Returns the precomputed remainder by [`SelectorWord::live`].
    #[inline]
    pub(super) const fn live_mod(&self) -> FastMod {
        self.live
    }

    /// Returns the slot of the active member that `rank` others precede.
    #[inline]
    pub(super) fn nth_active(&self, rank: u32) -> Option<u32> {
        if self.live() == self.used() {
            return (rank < self.used()).then_some(rank);
        }
        let in_low = self.active[0].count_ones();
        let (mut half, mut rest, base) =
            if rank < in_low { (self.active[0], rank, 0) } else { (self.active[1], rank - in_low, 64) };
        while rest > 0 {
            half &= half.wrapping_sub(1);
            rest -= 1;
        }
        (half != 0).then(|| base + half.trailing_zeros())
    }
}

/// Problem of a group's shape or state.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GroupError {
    /// No words.
    #[error("a selection group needs at least one member slot")]
    Empty,
    /// More words than the word choice reaches.
    #[error(
        "a selection group of {words} words is too large; the limit is {MAX_WORDS} words of {WORD_SLOTS} members"
    )]
    TooLarge {
        /// Number of words.
        words: usize,
    },
    /// A word with more slots than there are.
    #[error("word {word} of the selection group has {used} members; a word holds {WORD_SLOTS}")]
    WordTooFull {
        /// Index of the word.
        word: usize,
        /// Number of members.
        used: u32,
    },
    /// Words that no hash value would choose.
    #[error(
        "{words} words cannot all be chosen: above 31 the count must be a multiple of {step}; use {next} words"
    )]
    Unreachable {
        /// Number of words.
        words: usize,
        /// Divisor of the allowed numbers.
        step: u32,
        /// The next larger possible count.
        next: u32,
    },
    /// A slot that is not in use.
    #[error(
        "slot {slot} of the selection group is not in use (slot = word * {WORD_SLOTS} + index in the word)"
    )]
    NoSuchSlot {
        /// The slot.
        slot: u32,
    },
}

/// A selection group as the selector sees it.
///
/// A *slot* is `word * 120 + index in the word`. The control plane assigns members to slots;
/// [`GroupShape::balanced_slot`] is the driver's assignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupShape {
    words: Box<[SelectorWord]>,
    shift: u32,
    modulus: FastMod,
    live: u32,
}

impl GroupShape {
    /// Creates a group of `members` (1 to 119,040) active members, distributed round-robin over the fewest words that
    /// hold them.
    ///
    /// # Errors
    /// Fails without members, and with too many.
    pub fn balanced(members: u32) -> Result<Self, GroupError> {
        let words = Self::words_for(members);
        if words == 0 {
            return Err(GroupError::Empty);
        }
        if words > MAX_WORDS {
            return Err(GroupError::TooLarge { words: words as usize });
        }
        let used: Vec<u32> =
            (0..words).map(|word| members / words + u32::from(word < members % words)).collect();
        Self::with_words(&used)
    }

    /// Creates a group whose word `i` has slots `0..used[i]` in use, all active.
    ///
    /// # Errors
    /// Fails without words, with too many words, with a number of words that the word choice cannot reach evenly, and
    /// if a word is too full.
    pub fn with_words(used: &[u32]) -> Result<Self, GroupError> {
        let count = used.len();
        if count == 0 || used.iter().all(|&slots| slots == 0) {
            return Err(GroupError::Empty);
        }
        if count > MAX_WORDS as usize {
            return Err(GroupError::TooLarge { words: count });
        }
        if let Some((word, &used)) = used.iter().enumerate().find(|&(_, &slots)| slots > WORD_SLOTS) {
            return Err(GroupError::WordTooFull { word, used });
        }
        let words = count as u32;
        let shift = word_shift(words);
        let step = 1 << shift;
        if !words.is_multiple_of(step) {
            return Err(GroupError::Unreachable { words: count, step, next: words.next_multiple_of(step) });
        }
        Ok(Self {
            words: used.iter().map(|&slots| SelectorWord::full(slots)).collect(),
            shift,
            modulus: FastMod::new(words >> shift),
            live: used.iter().sum(),
        })
    }

    /// Returns the number of words that a group of `members` takes: enough for 120 members each, rounded up so that the
    /// word choice reaches all words. The number may exceed [`MAX_WORDS`].
    pub const fn words_for(members: u32) -> u32 {
        let mut words = members.div_ceil(WORD_SLOTS);
        // After rounding up, a larger shift may be needed, and so coarser rounding.
        loop {
            let rounded = words.next_multiple_of(1 << word_shift(words));
            if rounded == words {
                return words;
            }
            words = rounded;
        }
    }

    /// Returns the slot of member `member` in a [`balanced`](Self::balanced) group of `words` words: each new member
    /// goes to the emptiest word, the first of equals. `words` is 1..=992 and is cut to that range.
    pub const fn balanced_slot(member: u32, words: u32) -> u32 {
        let words = if words == 0 { 1 } else { words };
        let words = if words > MAX_WORDS { MAX_WORDS } else { words };
        member % words * WORD_SLOTS + member / words
    }

    /// Marks a slot active or down, as software or a stateful ALU does with the liveness bits.
    ///
    /// # Errors
    /// Fails if the slot is not in use.
    pub fn set_active(&mut self, slot: u32, active: bool) -> Result<(), GroupError> {
        let (word, index) = ((slot / WORD_SLOTS) as usize, slot % WORD_SLOTS);
        let word = self.words.get_mut(word).filter(|word| index < word.used());
        let word = word.ok_or(GroupError::NoSuchSlot { slot })?;
        if word.is_active(index) == active {
            return Ok(());
        }
        word.active[(index / 64) as usize] ^= 1 << (index % 64);
        let live = word.active[0].count_ones() + word.active[1].count_ones();
        self.live = self.live - word.live() + live;
        word.live = FastMod::new(live);
        Ok(())
    }

    /// Returns the words in order.
    pub const fn words(&self) -> &[SelectorWord] {
        &self.words
    }

    /// Returns the number of active members in all words.
    pub const fn live(&self) -> u32 {
        self.live
    }

    /// Returns the low bits of the word index that come straight from the hash: the selector length's shift, 0..=5.
    pub const fn word_shift(&self) -> u32 {
        self.shift
    }

    /// Returns the selector length's modulus, 1..=31: the word count without its shift.
    pub const fn word_modulus(&self) -> u32 {
        self.modulus.divisor()
    }

    /// Returns the precomputed remainder by [`GroupShape::word_modulus`].
    #[inline]
    pub(super) const fn word_mod(&self) -> FastMod {
        self.modulus
    }
}

/// Returns the smallest shift that brings a word count down to a 5-bit modulus.
const fn word_shift(words: u32) -> u32 {
    let mut shift = 0;
    while words >> shift > 31 {
        shift += 1;
    }
    shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_spread_over_words() {
        let shape = |members| GroupShape::balanced(members).unwrap();
        assert_eq!(shape(120).words().len(), 1);
        let two = shape(121);
        assert_eq!(two.words().iter().map(SelectorWord::used).collect::<Vec<_>>(), [61, 60]);
        assert_eq!((shape(31 * 120).word_modulus(), shape(31 * 120).word_shift()), (31, 0));
        assert_eq!((shape(32 * 120).word_modulus(), shape(32 * 120).word_shift()), (16, 1));
        // 33 words do not divide by two: the driver takes 34.
        assert_eq!(shape(33 * 120).words().len(), 34);
        // 63 words would need rounding to 64, which needs a shift of two.
        assert_eq!((shape(63 * 120).words().len(), shape(63 * 120).word_shift()), (64, 2));
        let largest = shape(119_040);
        assert_eq!((largest.words().len(), largest.word_modulus(), largest.word_shift()), (992, 31, 5));
    }

    #[test]
    fn balanced_slots_are_exactly_the_used_ones() {
        for members in [1, 7, 120, 121, 365, 4000] {
            let shape = GroupShape::balanced(members).unwrap();
            let words = shape.words().len() as u32;
            let mut dealt: Vec<u32> =
                (0..members).map(|member| GroupShape::balanced_slot(member, words)).collect();
            dealt.sort_unstable();
            let used: Vec<u32> = (0..)
                .zip(shape.words())
                .flat_map(|(word, state)| (0..state.used()).map(move |index| word * WORD_SLOTS + index))
                .collect();
            assert_eq!(dealt, used);
        }
    }

    #[test]
    fn impossible_shapes_are_refused() {
        assert_eq!(GroupShape::balanced(0), Err(GroupError::Empty));
        assert_eq!(GroupShape::with_words(&[0, 0]), Err(GroupError::Empty));
        assert!(matches!(GroupShape::balanced(119_041), Err(GroupError::TooLarge { .. })));
        assert_eq!(GroupShape::with_words(&[3, 121]), Err(GroupError::WordTooFull { word: 1, used: 121 }));
        assert_eq!(
            GroupShape::with_words(&[1; 33]),
            Err(GroupError::Unreachable { words: 33, step: 2, next: 34 })
        );
        assert_eq!(
            GroupShape::balanced(5).unwrap().set_active(5, true),
            Err(GroupError::NoSuchSlot { slot: 5 })
        );
    }

    #[test]
    fn liveness_is_counted_and_ranked() {
        let mut shape = GroupShape::balanced(120).unwrap();
        for slot in (0..120).filter(|slot| slot % 3 != 0) {
            shape.set_active(slot, false).unwrap();
            shape.set_active(slot, false).unwrap();
        }
        let word = shape.words()[0];
        assert_eq!((word.live(), word.used(), shape.live()), (40, 120, 40));
        for rank in 0..40 {
            assert_eq!(word.nth_active(rank), Some(3 * rank));
        }
        assert_eq!(word.nth_active(40), None);
        shape.set_active(1, true).unwrap();
        assert_eq!(shape.words()[0].nth_active(1), Some(1));
    }
}
