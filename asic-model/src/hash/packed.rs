//! Four 16-bit hashes of one key, evaluated together by one table load per key byte, for experiments over millions of
//! flows.

/// A hash of a `K`-byte key.
pub type KeyHash<'f, const K: usize> = &'f dyn Fn(&[u8; K]) -> u16;

/// Four hashes in one word: lane i starts at bit 16·i.
#[derive(Debug, Clone)]
pub struct PackedHash<const K: usize> {
    tables: Tables<K>,
    constant: u64,
}

/// Contribution of each value of each key byte. For two functions the entries are half as wide, so that more of them
/// stay in the cache.
#[derive(Debug, Clone)]
enum Tables<const K: usize> {
    Narrow(Box<[[u32; 256]; K]>),
    Wide(Box<[[u64; 256]; K]>),
}

impl<const K: usize> PackedHash<K> {
    /// Packs up to four functions of a `K`-byte key; further functions are ignored. The functions must be linear over
    /// GF(2) up to a constant, as every hash of this crate is.
    pub fn new(functions: &[KeyHash<'_, K>]) -> Self {
        let all = |key: &[u8; K]| {
            let lanes = (0..4).zip(functions);
            lanes.fold(0u64, |word, (lane, function)| word | u64::from(function(key)) << (16 * lane))
        };
        let constant = all(&[0; K]);
        let mut wide = Box::new([[0u64; 256]; K]);
        for (byte, table) in wide.iter_mut().enumerate() {
            let mut key = [0; K];
            for value in 1..256usize {
                table[value] = if value.is_power_of_two() {
                    key[byte] = value as u8;
                    all(&key) ^ constant
                } else {
                    table[value & (value - 1)] ^ table[1 << value.trailing_zeros()]
                };
            }
        }
        let tables = if functions.len() <= 2 {
            let mut narrow = Box::new([[0u32; 256]; K]);
            for (narrow, wide) in narrow.iter_mut().flatten().zip(wide.iter().flatten()) {
                *narrow = *wide as u32;
            }
            Tables::Narrow(narrow)
        } else {
            Tables::Wide(wide)
        };
        Self { tables, constant }
    }

    /// Returns the four hashes.
    #[inline]
    pub fn eval(&self, key: &[u8; K]) -> u64 {
        match &self.tables {
            Tables::Narrow(tables) => {
                let mut sum = self.constant as u32;
                for (table, byte) in tables.iter().zip(key) {
                    sum ^= table[usize::from(*byte)];
                }
                sum.into()
            }
            Tables::Wide(tables) => {
                let mut sum = self.constant;
                for (table, byte) in tables.iter().zip(key) {
                    sum ^= table[usize::from(*byte)];
                }
                sum
            }
        }
    }

    /// Returns the contribution of a key byte's value to the hashes.
    #[inline]
    pub fn byte(&self, index: usize, value: u8) -> u64 {
        match &self.tables {
            Tables::Narrow(tables) => tables.get(index).map_or(0, |table| table[usize::from(value)].into()),
            Tables::Wide(tables) => tables.get(index).map_or(0, |table| table[usize::from(value)]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{BitString, HashAlgorithm, HashFunction};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lanes_are_the_functions(key: [u8; 13], other: u8) {
            let named = |name| HashFunction::new(HashAlgorithm::from_name(name).unwrap(), 16).unwrap();
            let functions = ["crc_16", "crc_32", "xor16"].map(named);
            let [a, b, c] = functions.map(|f| move |key: &[u8; 13]| f.hash(&BitString::from_bytes(key)) as u16);
            let packed = PackedHash::new(&[&a, &b, &c]);
            let word = packed.eval(&key);
            prop_assert_eq!(PackedHash::new(&[&a, &b]).eval(&key), word & 0xffff_ffff);
            for (lane, function) in functions.into_iter().enumerate() {
                let wanted = function.hash(&BitString::from_bytes(&key));
                prop_assert_eq!(word >> (16 * lane) & 0xffff, wanted);
            }
            let (mut without, mut with) = (key, key);
            (without[4], with[4]) = (0, other);
            prop_assert_eq!(packed.eval(&without) ^ packed.byte(4, other), packed.eval(&with));
            prop_assert_eq!(packed.byte(13, 1), 0);
        }
    }
}
