//! Rows of the table `equals`: which uplinks are least congested, and a random number, to the words that the flowlet
//! table's stateful ALU compares with a flow's previous uplink.
//!
//! | uplinks of the leaf | uplink in the register | least congested | `second` |
//! |---|---|---|---|
//! | at most 4 | its number | 1 or 2 | the other one of two, or `first` again |
//! | | | 3 or 4 | the only one that is not; 4, which is no uplink's number, if all are |
//! | 5 to 8 | four copies of its number, 4 bits each | 1 to 4 | these uplinks, 4 bits each; one may be repeated |
//! | | | 5 to 8 | the uplinks that are not, at most three; 8, which is no uplink's number, in place of others |
//!
//! Copies let four comparators compare the uplink with four different ones: each reads its own 4 bits of both operands.

use super::params::FEW;

/// Bits of each of the four numbers in a word.
const NUMBER: usize = 4;
/// Numbers in a word.
const NUMBERS: usize = 4;
/// Values of the random number.
const COINS: usize = 256;

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Words {
    /// Least congested uplinks, as bits.
    pub(super) set: u16,
    /// Range of the random number, both ends included.
    pub(super) coin: (u8, u8),
    /// True if `second` has the uplinks that are not least congested.
    pub(super) many: bool,
    /// Uplink for the flowlet, as the register holds it.
    pub(super) first: u32,
    /// Uplinks with which the previous one is compared, as the register holds them.
    pub(super) second: u32,
}

/// Returns the word of four numbers, the first one in the low bits.
fn word(numbers: [usize; NUMBERS]) -> u32 {
    numbers.iter().rev().fold(0, |word, number| word << NUMBER | *number as u32)
}

/// Returns four copies of an uplink's number.
pub(super) fn copies(uplink: u32) -> u32 {
    word([uplink as usize; NUMBERS])
}

/// Returns a row for each set of these uplinks and each member of the set; the members get even shares of the random
/// number's range. Larger sets are first: the first match wins, so a small set matches only if no larger one does.
pub(super) fn ties(uplinks: usize, most: usize) -> Vec<Words> {
    let sets = (1..=uplinks as u32)
        .rev()
        .flat_map(|size| (1u16..1 << uplinks).filter(move |set| set.count_ones() == size));
    sets.flat_map(|set| of_set(set, uplinks, most)).collect()
}

/// Returns the rows of one set.
fn of_set(set: u16, uplinks: usize, most: usize) -> impl Iterator<Item = Words> {
    let members: Vec<usize> = (0..uplinks).filter(|n| set >> n & 1 == 1).collect();
    let others: Vec<usize> = (0..most).filter(|n| set >> n & 1 == 0).collect();
    let size = members.len();
    let limits = move |turn: usize| (turn * COINS / size) as u8;
    members.clone().into_iter().enumerate().map(move |(turn, member)| {
        let coin = (limits(turn), ((turn + 1) * COINS / size - 1) as u8);
        let many = size > most / 2;
        let (first, second) = if most > FEW {
            let compared = if many { (&others, most) } else { (&members, member) };
            let second = std::array::from_fn(|n| compared.0.get(n).copied().unwrap_or(compared.1));
            (word([member; NUMBERS]), word(second))
        } else {
            let second = match size {
                1 => member,
                2 => members[1 - turn],
                _ => others.first().copied().unwrap_or(most),
            };
            (member as u32, second as u32)
        };
        Words { set, coin, many, first, second }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(set: u16, coin: u8, uplinks: usize, most: usize) -> Words {
        let holds = |words: &&Words| words.set == set && (words.coin.0..=words.coin.1).contains(&coin);
        *ties(uplinks, most).iter().find(holds).unwrap()
    }

    #[test]
    fn every_set_has_a_row_for_each_member() {
        // n 2^(n-1) rows: each uplink is in half of the sets.
        for (uplinks, rows) in [(5, 80), (6, 192), (7, 448), (8, 1_024)] {
            assert_eq!(ties(uplinks, 8).len(), rows);
        }
        assert_eq!(ties(4, 4).len(), 32);
    }

    #[test]
    fn words_of_four_and_of_eight_uplinks() {
        let words = |set, coin, many, first, second| Words { set, coin, many, first, second };
        // Uplinks 1 and 3 of four: the coin takes 1 in its lower half, and 3 is the other one.
        assert_eq!(row(0b1010, 5, 4, 4), words(0b1010, (0, 127), false, 1, 3));
        // All but 2 of four, and all four.
        assert_eq!(row(0b1011, 255, 4, 4), words(0b1011, (170, 255), true, 3, 2));
        assert_eq!(row(0b1111, 64, 4, 4), words(0b1111, (64, 127), true, 1, 4));
        // Uplinks 2, 5 and 7 of eight: all three are compared, and the chosen one fills the fourth place.
        assert_eq!(row(0xa4, 100, 8, 8), words(0xa4, (85, 169), false, 0x5555, 0x5752));
        // All but 0, 4 and 6, and all eight.
        assert_eq!(row(0xae, 0, 8, 8), words(0xae, (0, 50), true, 0x1111, 0x8640));
        assert_eq!(row(0xff, 255, 8, 8), words(0xff, (224, 255), true, 0x7777, 0x8888));
        // Five of five uplinks: the numbers that this leaf lacks are among those that are not least congested.
        assert_eq!(row(0x1f, 255, 5, 8), words(0x1f, (204, 255), true, 0x4444, 0x8765));
    }
}
