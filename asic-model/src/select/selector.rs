//! Choice of a slot: the three modes and the fall-back encoder.

use super::group::{GroupShape, SelectorWord, WORD_SLOTS};
use super::scramble::{scramble14, scramble15, scramble18};

/// Method of choosing a member from the hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SelectorMode {
    /// A 14-bit hash modulo the number of *active* members, then the member of that rank. Shares stay equal
    /// when a member fails, but flows of healthy members move (model: hashing §6).
    Fair,
    /// A 14-bit hash modulo the slots in use; a slot that is down is retried with two more 14-bit hashes,
    /// then resolved by a circular priority encoder. Only flows of failed members move (model: hashing §6).
    Resilient,
    /// The whole hash modulo the active members of all words, then the member of that rank, as software models do. No
    /// chip has a divider for it, so the mode is for comparison only.
    PlainModulo,
}

impl SelectorMode {
    /// Returns true if the chip has the mode.
    pub const fn on_chip(self) -> bool {
        !matches!(self, Self::PlainModulo)
    }

    /// Returns the hash bits that the mode reads, for a group of one word or of several; `None` means all bits.
    pub const fn hash_bits(self, several_words: bool) -> Option<u32> {
        match (self, several_words) {
            (Self::Fair, false) => Some(14),
            (Self::Resilient, false) => Some(51),
            (Self::Fair | Self::Resilient, true) => Some(66),
            (Self::PlainModulo, _) => None,
        }
    }
}

/// A configured selector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Selector {
    mode: SelectorMode,
    scramble: bool,
}

impl Selector {
    /// Creates a selector without the scrambler.
    pub const fn new(mode: SelectorMode) -> Self {
        Self { mode, scramble: false }
    }

    /// Passes every hash input of the on-chip modes through the scrambler.
    pub const fn scrambled(mut self) -> Self {
        self.scramble = true;
        self
    }

    /// Returns true if the group picks among the members of one word, all active, by a plain modulo of 14 hash bits.
    pub const fn is_plain_fair(self) -> bool {
        matches!(self.mode, SelectorMode::Fair) && !self.scramble
    }

    /// Returns the mode.
    pub const fn mode(self) -> SelectorMode {
        self.mode
    }

    /// Returns the slot that `hash` selects, or `None` when no member of the chosen word is active: on the chip the
    /// lookup then has no valid result. Bits beyond the hash's width are zero.
    #[inline]
    pub fn pick(self, hash: u128, group: &GroupShape) -> Option<u32> {
        if self.mode == SelectorMode::PlainModulo {
            return plain_modulo(hash, group);
        }
        let number = if group.words().len() > 1 { self.word(hash, group) } else { 0 };
        let word = group.words().get(number as usize)?;
        let index = match self.mode {
            SelectorMode::Resilient => self.resilient(hash, word)?,
            _ => word.nth_active(word.live_mod().rem(self.bits14(hash, 0)))?,
        };
        Some(number * WORD_SLOTS + index)
    }

    /// Returns the word: ten bits modulo the word count without its shift, the shifted-out low bits from the hash.
    fn word(self, hash: u128, group: &GroupShape) -> u32 {
        let field = (hash >> 51) as u32 & 0x7fff;
        let field = if self.scramble { scramble15(field) } else { field };
        let low = field >> 10 & ((1 << group.word_shift()) - 1);
        group.word_mod().rem(field & 0x3ff) << group.word_shift() | low
    }

    /// Returns the 14 bits from `first` up.
    #[inline]
    fn bits14(self, hash: u128, first: u32) -> u32 {
        let bits = (hash >> first) as u32 & 0x3fff;
        if self.scramble { scramble14(bits) } else { bits }
    }

    fn resilient(self, hash: u128, word: &SelectorWord) -> Option<u32> {
        let tried = [0, 14, 28].into_iter().map(|first| word.used_mod().rem(self.bits14(hash, first)));
        let hit = tried.into_iter().find(|&slot| word.is_active(slot));
        hit.or_else(|| {
            let input = ((hash >> 42) as u32 & 0x1ff) << 9 | (hash >> 5) as u32 & 0x1ff;
            encode(if self.scramble { scramble18(input) } else { input }, word)
        })
    }
}

/// Returns the full hash modulo all active members; no word boundaries.
fn plain_modulo(hash: u128, group: &GroupShape) -> Option<u32> {
    let live = u128::from(group.live());
    let mut rank = hash.checked_rem(live)? as u32;
    for (number, word) in (0..).zip(group.words()) {
        if rank < word.live() {
            return word.nth_active(rank).map(|index| number * WORD_SLOTS + index);
        }
        rank -= word.live();
    }
    None
}

/// Applies the fall-back: a circular priority encoder over the word's slots, shuffled and started by 18 bits.
///
/// Even slots are moved by XOR with bits 0..=5 (times two), odd ones with bits 6..=11; the encoder then takes
/// the first active position at or below its head, bits 12..=17, going down and round over 120 positions.
///
/// Assumption: the shuffle can carry a slot to positions 120..=127, which the reference function's 120-entry
/// encoder does not scan; here they come last, so that a word with an active member always yields one.
fn encode(input: u32, word: &SelectorWord) -> Option<u32> {
    let moved = [(input & 0x3f) << 1, (input >> 6 & 0x3f) << 1];
    let head = input >> 12 & 0x3f;
    // The shuffle keeps parity and is its own inverse.
    let slot_at = |position: u32| position ^ moved[(position & 1) as usize];
    let scanned = (0..WORD_SLOTS).map(|step| (head + WORD_SLOTS - step) % WORD_SLOTS);
    scanned.chain(WORD_SLOTS..128).map(slot_at).find(|&slot| word.is_active(slot))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FAIR: Selector = Selector::new(SelectorMode::Fair);
    const RESILIENT: Selector = Selector::new(SelectorMode::Resilient);
    const PLAIN: Selector = Selector::new(SelectorMode::PlainModulo);

    #[test]
    fn plain_picks() {
        // model: hashing §7.4: F1 with and without seed.
        for (hash, wanted) in [
            (0xff4e, [(8, 6), (57, 36), (73, 23), (7, 6), (9, 0), (5, 3)]),
            (0x66de, [(8, 6), (57, 0), (73, 54), (7, 0), (9, 0), (5, 4)]),
        ] {
            for (members, slot) in wanted {
                let group = GroupShape::balanced(members).unwrap();
                assert_eq!(PLAIN.pick(hash, &group), Some(slot), "{hash:#x} % {members}");
                // The chip sees 14 bits only.
                let on_chip = Some((hash & 0x3fff) as u32 % members);
                assert_eq!(FAIR.pick(hash, &group), on_chip);
                assert_eq!(RESILIENT.pick(hash, &group), on_chip);
            }
        }
        assert!(FAIR.mode().on_chip() && RESILIENT.mode().on_chip() && !PLAIN.mode().on_chip());
    }

    #[test]
    fn fair_divides_by_the_survivors_resilient_moves_only_the_dead() {
        // model: hashing §8 scenario 32 (tofino_fair_fail): one of 57 members dies.
        let whole = GroupShape::balanced(57).unwrap();
        let mut maimed = whole.clone();
        maimed.set_active(13, false).unwrap();
        let mut moved_by_fair = 0;
        for low in 0..1u128 << 14 {
            // The retry bits differ from the first pick's.
            let hash = low | ((low * 7 + 3) & 0x3fff) << 14 | ((low * 11 + 5) & 0x3fff) << 28;
            let before = FAIR.pick(hash, &whole).unwrap();
            let rank = (low % 56) as u32;
            let fair = FAIR.pick(hash, &maimed).unwrap();
            assert_eq!(fair, rank + u32::from(rank >= 13));
            moved_by_fair += u32::from(fair != before && before != 13);
            let resilient = RESILIENT.pick(hash, &maimed).unwrap();
            if before == 13 { assert_ne!(resilient, 13) } else { assert_eq!(resilient, before) }
        }
        assert!(moved_by_fair > 15_000, "{moved_by_fair} of 16384 flows moved");
        // 56 shares the factor 8 with an upstream group of 8, 57 shares none: of the flows that an upstream
        // `% 8` sends this way, only every eighth survivor is reached.
        let reached = |group: &GroupShape| {
            let mut slots: Vec<u32> =
                (0..1u128 << 14).filter(|h| h % 8 == 3).filter_map(|h| FAIR.pick(h, group)).collect();
            slots.sort_unstable();
            slots.dedup();
            slots.len()
        };
        assert_eq!((reached(&whole), reached(&maimed)), (57, 7));
    }

    #[test]
    fn a_wide_group_is_no_modulo() {
        // model: hashing §8 scenario 33 (tofino_wide): 121 members take two words of 61 and 60.
        let group = GroupShape::balanced(121).unwrap();
        let mut hits = vec![0u32; 240];
        for low in 0..61 * 60u128 {
            for field in 0..2u128 {
                let slot = FAIR.pick(low | field << 51, &group).unwrap();
                assert_eq!(slot / WORD_SLOTS, field as u32);
                hits[slot as usize] += 1;
            }
        }
        // Each word takes half of the hash space, so members of the smaller word get more.
        assert_eq!((hits[0], hits[60], hits[120], hits[179]), (60, 60, 61, 61));
        assert_eq!(hits.iter().filter(|&&count| count > 0).count(), 121);
        assert_eq!(PLAIN.pick(121 + 4, &group), Some(4));
        assert_eq!(PLAIN.pick(61, &group), Some(120));
    }

    #[test]
    fn word_choice_takes_modulus_and_low_bits() {
        // 62 words: modulus 31, shift 1.
        let group = GroupShape::balanced(62 * 120).unwrap();
        let slot = |ten: u128, five: u128| FAIR.pick((five << 10 | ten) << 51, &group).unwrap();
        assert_eq!(slot(0, 0), 0);
        assert_eq!(slot(0, 1), 120);
        assert_eq!(slot(0, 0b11110), 0, "only one low bit is used");
        assert_eq!(slot(33, 1), 120 * 5);
        assert_eq!(slot(1022, 0), 120 * 2 * 30, "1022 % 31 == 30");
        assert_eq!(SelectorMode::Fair.hash_bits(true), Some(66));
    }

    #[test]
    fn retries_take_the_next_fourteen_bits() {
        let mut group = GroupShape::balanced(10).unwrap();
        group.set_active(3, false).unwrap();
        group.set_active(4, false).unwrap();
        assert_eq!(RESILIENT.pick(3 | 7 << 14, &group), Some(7));
        assert_eq!(RESILIENT.pick(3 | 4 << 14 | 9 << 28, &group), Some(9));
        // Third miss: head 0, no shuffle; position 0 is first.
        assert_eq!(RESILIENT.pick(3 | 4 << 14 | 3 << 28, &group), Some(0));
        // Head 5 (bits 48..=50 and up of the encoder's 18): positions 5, then down.
        assert_eq!(RESILIENT.pick(3 | 4 << 14 | 3 << 28 | 5 << 45, &group), Some(5));
        group.set_active(5, false).unwrap();
        assert_eq!(RESILIENT.pick(3 | 4 << 14 | 3 << 28 | 5 << 45, &group), Some(2));
    }

    #[test]
    fn the_encoder_shuffles_even_and_odd_slots_apart() {
        let without = |dead: &[u32]| {
            let mut group = GroupShape::balanced(10).unwrap();
            for &slot in dead {
                group.set_active(slot, false).unwrap();
            }
            group
        };
        // Hash bit 6 moves even slots by 4: position 0 is slot 4, down, and coming from the top position 12,
        // which is slot 8, precedes position 9.
        assert_eq!(RESILIENT.pick(1 << 6 | 4 << 14 | 4 << 28, &without(&[4])), Some(8));
        // Hash bit 11 moves odd slots by 2: with 9 down (position 11), position 7 is slot 5.
        assert_eq!(RESILIENT.pick(1 << 11 | 8 << 14 | 8 << 28, &without(&[0, 8, 9])), Some(5));
        // Hash bit 42 is the odd slots' fourth: they move by 16, so 5 sits at position 21, above all others.
        assert_eq!(RESILIENT.pick(1 << 42, &without(&[0, 7, 9])), Some(5));
    }

    #[test]
    fn a_dead_word_has_no_member() {
        let mut group = GroupShape::balanced(121).unwrap();
        for index in 0..60 {
            group.set_active(WORD_SLOTS + index, false).unwrap();
        }
        for selector in [FAIR, RESILIENT] {
            assert_eq!(selector.pick(1 << 51, &group), None);
            assert!(selector.pick(0, &group).is_some());
        }
        assert_eq!(PLAIN.pick(61, &group), Some(0));
    }

    proptest! {
        #[test]
        fn an_active_member_is_always_found(
            members in 1u32..=120, dead: [u64; 2], hash: u128, scramble: bool, survivor: u32,
        ) {
            let mut group = GroupShape::balanced(members).unwrap();
            for slot in (0..members).filter(|&slot| slot != survivor % members) {
                group.set_active(slot, dead[(slot / 64) as usize] >> (slot % 64) & 1 == 0).unwrap();
            }
            for mode in [SelectorMode::Fair, SelectorMode::Resilient, SelectorMode::PlainModulo] {
                let selector = Selector::new(mode);
                let selector = if scramble { selector.scrambled() } else { selector };
                let slot = selector.pick(hash, &group).unwrap();
                prop_assert!(group.words()[0].is_active(slot), "{mode:?} took slot {slot}");
            }
        }

        #[test]
        fn fair_equals_a_list_of_survivors(members in 1u32..=120, dead: [u64; 2], hash: u128) {
            let mut group = GroupShape::balanced(members).unwrap();
            for slot in 0..members {
                group.set_active(slot, dead[(slot / 64) as usize] >> (slot % 64) & 1 == 0).unwrap();
            }
            let survivors: Vec<u32> = (0..members).filter(|&slot| group.words()[0].is_active(slot)).collect();
            let want = ((hash & 0x3fff) as usize).checked_rem(survivors.len()).map(|rank| survivors[rank]);
            prop_assert_eq!(FAIR.pick(hash, &group), want);
        }
    }
}
