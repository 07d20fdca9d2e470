//! Random choices, drawn from a finite list of numbers or from an endless stream.

use sluice_asic::hash::splitmix64;

/// The step of SplitMix64's counter.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A source of choices. Every choice reads the next number. Past the end all numbers are zero, which is every choice's
/// smallest result, so shorter lists and smaller numbers give smaller results.
#[derive(Clone, Debug)]
pub struct Draw<'a> {
    words: &'a [u32],
    at: usize,
    /// Stream after the end of the list; `None`: zeros.
    more: Option<Words>,
}

/// Returns an endless stream of words that depends on the seed alone and is independent of the words of inputs.
pub fn words(seed: u64) -> impl Iterator<Item = u32> {
    let mut words = Words::new(seed, u64::MAX);
    std::iter::repeat_with(move || words.next())
}

/// An endless stream of words that two numbers determine.
#[derive(Clone, Debug)]
struct Words(u64);

impl Words {
    fn new(seed: u64, number: u64) -> Words {
        Words(seed.wrapping_mul(0xd134_2543_de82_ef95) ^ number.wrapping_mul(STEP))
    }

    /// Returns the next word (splitmix64, upper half).
    fn next(&mut self) -> u32 {
        let word = splitmix64(self.0);
        self.0 = self.0.wrapping_add(STEP);
        (word >> 32) as u32
    }
}

impl<'a> Draw<'a> {
    /// Draws from these numbers.
    #[must_use]
    pub fn new(words: &'a [u32]) -> Self {
        Draw { words, at: 0, more: None }
    }

    /// Draws from an endless stream that two numbers determine.
    #[must_use]
    pub fn endless(seed: u64, number: u64) -> Self {
        Draw { words: &[], at: 0, more: Some(Words::new(seed, number)) }
    }

    /// Returns true if all numbers of the list were used.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.at >= self.words.len() && self.more.is_none()
    }

    /// Returns the next number.
    pub fn word(&mut self) -> u32 {
        let word = self.words.get(self.at).copied();
        self.at += 1;
        word.unwrap_or_else(|| self.more.as_mut().map_or(0, Words::next))
    }

    /// Draws a number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        ((u64::from(self.word()) * n as u64) >> 32) as usize
    }

    /// Returns true in `n` of `of` cases; the smallest choice is false.
    pub fn chance(&mut self, n: usize, of: usize) -> bool {
        self.below(of) + n >= of && n > 0
    }

    /// Draws an item of a list; `None` if it is empty.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> Option<T> {
        let at = self.below(list.len());
        list.get(at).copied()
    }

    /// Draws an item of a list that has a first item.
    pub fn of<T: Copy, const N: usize>(&mut self, list: [T; N]) -> T {
        const { assert!(N > 0) };
        list[self.below(N)]
    }

    /// Draws a value of `width` bits, often one at a boundary.
    pub fn value(&mut self, width: u16) -> u128 {
        let mask = sluice_asic::alu::width_mask(u32::from(width));
        let top = mask ^ (mask >> 1);
        let value = match self.below(12) {
            0..=4 => self.below(4) as u128,
            5 => mask,
            6 => mask.saturating_sub(self.below(3) as u128),
            7 => top,
            8 => top.saturating_sub(1),
            _ => {
                let words = [(); 4].map(|()| u128::from(self.word()));
                words[0] | words[1] << 32 | words[2] << 64 | words[3] << 96
            }
        };
        value & mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn past_the_end_every_choice_is_the_smallest() {
        let mut d = Draw::new(&[]);
        assert!(d.is_empty());
        assert_eq!((d.word(), d.below(9), d.chance(8, 9), d.of([4, 5]), d.value(32)), (0, 0, false, 4, 0));
        assert_eq!(d.pick::<u8>(&[]), None);
    }

    #[test]
    fn an_endless_draw_follows_from_its_numbers() {
        let draw = |seed, number| -> Vec<u32> {
            let mut d = Draw::endless(seed, number);
            assert!(!d.is_empty());
            (0..100).map(|_| d.word()).collect()
        };
        assert_eq!(draw(1, 2), draw(1, 2));
        assert_ne!(draw(1, 2), draw(1, 3));
        assert_ne!(draw(1, 2), draw(2, 2));
        assert!(draw(1, 2).iter().collect::<std::collections::BTreeSet<_>>().len() > 90);
    }

    #[test]
    fn choices_cover_their_range() {
        let words: Vec<u32> = (0..64).map(|i: u32| i << 26).collect();
        let mut d = Draw::new(&words);
        let seen: std::collections::BTreeSet<usize> = (0..64).map(|_| d.below(5)).collect();
        assert_eq!(seen.len(), 5);
        let mut d = Draw::new(&words);
        assert_eq!((0..64).filter(|_| d.chance(1, 4)).count(), 16);
    }
}
