//! Hashes compiled to affine GF(2) maps over the words that hold the input, evaluated by table loads.

use std::cell::Cell;
use std::ops::BitXorAssign;

use super::{BitString, HashFunction, HashLayout, LayoutError, Piece};

/// A byte load: the slot, and the right shift that brings the byte to the lowest bits.
#[derive(Debug, Clone, Copy)]
struct Load {
    slot: u16,
    shift: u8,
}

/// Tables, one per load. Entries have 32 bits if the output fits, which halves the cache footprint.
#[derive(Debug, Clone)]
enum ByteTables {
    Narrow(Box<[[u32; 256]]>),
    Wide(Box<[[u64; 256]]>),
}

/// A hash function over a fixed input layout, compiled: one table load per input byte, XORed.
///
/// The map is affine: `constant ^ XOR over set input bits of their column` (model: chip §11.1). The constant
/// holds what the hardware keeps in its seed register: the hash of the all-zero input with seed, initial
/// value, final XOR and constant inputs folded in.
#[derive(Debug, Clone)]
pub struct LinearHash {
    function: HashFunction,
    columns: Vec<u64>,
    constant: u64,
    loads: Box<[Load]>,
    tables: ByteTables,
}

impl LinearHash {
    /// Compiles `function` for an input of `input_bits` bits laid out as `layout` says. Takes time
    /// quadratic in the input length; meant for load time.
    ///
    /// # Errors
    /// Fails if the layout names bits that do not exist or feeds a position twice.
    pub fn new(function: HashFunction, input_bits: usize, layout: &HashLayout) -> Result<Self, LayoutError> {
        layout.check(input_bits)?;
        let zero = function.hash(&BitString::unit(input_bits, None));
        let columns: Vec<u64> = (0..input_bits)
            .map(|one| function.hash(&BitString::unit(input_bits, Some(one))) ^ zero)
            .collect();
        let constants = layout.constants.iter().filter(|(_, value)| *value);
        let constant = constants.fold(zero, |sum, &(position, _)| sum ^ column(&columns, position));
        let pieces = || layout.pieces.iter().filter(|piece| piece.bits.iter().any(Option::is_some));
        let loads = pieces().map(|piece| Load { slot: piece.slot, shift: piece.byte * 8 }).collect();
        let wide = pieces().map(|piece| byte_table(&columns, piece));
        let tables = if function.output_bits() <= 32 {
            ByteTables::Narrow(wide.map(|table| table.map(|entry| entry as u32)).collect())
        } else {
            ByteTables::Wide(wide.collect())
        };
        Ok(Self { function, columns, constant, loads, tables })
    }

    /// Returns the hash of the input that `slots` hold; a slot that is not there is zero.
    #[inline]
    pub fn eval(&self, slots: &[u32]) -> u64 {
        self.eval_with(|slot| slots.get(usize::from(slot)).copied().unwrap_or(0))
    }

    /// Returns the hash of an input whose slots `read` returns, for callers that do not keep slots in one slice.
    #[inline]
    pub fn eval_with(&self, read: impl FnMut(u16) -> u32) -> u64 {
        match &self.tables {
            ByteTables::Narrow(tables) => fold(&self.loads, tables, self.constant as u32, read).into(),
            ByteTables::Wide(tables) => fold(&self.loads, tables, self.constant, read),
        }
    }

    /// Returns the byte that each load reads: its slot, and its distance from the slot's lowest bit.
    pub fn bytes(&self) -> impl Iterator<Item = (u16, u8)> + '_ {
        self.loads.iter().map(|load| (load.slot, load.shift))
    }

    /// Returns the hash of the input with these bytes, one for each byte of [`LinearHash::bytes`], in the same
    /// order.
    #[inline]
    pub fn eval_bytes<const K: usize>(&self, input: [u8; K]) -> u64 {
        match &self.tables {
            ByteTables::Narrow(tables) => fold_bytes(tables, self.constant as u32, input).into(),
            ByteTables::Wide(tables) => fold_bytes(tables, self.constant, input),
        }
    }

    /// Computes the hashes of up to `N` inputs into `sums`: input `i` consists of entry `i` of each slot's column. The
    /// loop runs table by table over all inputs, which overlaps their loads.
    #[inline]
    pub fn eval_lanes<'c, const N: usize>(
        &self,
        sums: &mut [u64],
        column: impl Fn(u16) -> &'c [Cell<u32>; N],
    ) {
        sums.fill(self.constant);
        match &self.tables {
            ByteTables::Narrow(tables) => fold_lanes(&self.loads, tables, sums, column),
            ByteTables::Wide(tables) => fold_lanes(&self.loads, tables, sums, column),
        }
    }

    /// Returns the function that was compiled.
    pub const fn function(&self) -> &HashFunction {
        &self.function
    }

    /// Returns the matrix of the map, for reports.
    pub fn matrix(&self) -> HashMatrix<'_> {
        HashMatrix {
            columns: &self.columns,
            constant: self.constant,
            output_bits: self.function.output_bits(),
        }
    }
}

/// Returns the XOR of `start` and each load's table entry.
#[inline]
fn fold<W: Copy + BitXorAssign>(
    loads: &[Load],
    tables: &[[W; 256]],
    start: W,
    mut read: impl FnMut(u16) -> u32,
) -> W {
    let mut sum = start;
    for (load, table) in loads.iter().zip(tables) {
        sum ^= table[usize::from((read(load.slot) >> load.shift) as u8)];
    }
    sum
}

/// [`fold`] for bytes that were read.
#[inline]
fn fold_bytes<W: Copy + BitXorAssign, const K: usize>(tables: &[[W; 256]], start: W, input: [u8; K]) -> W {
    let mut sum = start;
    if let Some(tables) = tables.first_chunk::<K>() {
        // The loop is by index, because the number of tables is a constant and the loop is unrolled.
        for i in 0..K {
            sum ^= tables[i][usize::from(input[i])];
        }
    }
    sum
}

/// [`fold`] for many inputs; a whole word of a slot is taken apart in one go.
#[inline]
fn fold_lanes<'c, W: Copy + Into<u64>, const N: usize>(
    loads: &[Load],
    tables: &[[W; 256]],
    sums: &mut [u64],
    column: impl Fn(u16) -> &'c [Cell<u32>; N],
) {
    let mut at = 0;
    for group in loads.chunk_by(|a, b| a.slot == b.slot) {
        let Some(first) = group.first() else { continue };
        let column = column(first.slot);
        let tables = &tables[at..at + group.len()];
        at += group.len();
        let shifts = |i: usize| group[i].shift;
        let byte = |word: u32, shift: u8| usize::from((word >> shift) as u8);
        match tables {
            [a, b, c, d] => {
                let shifts = [shifts(0), shifts(1), shifts(2), shifts(3)];
                for (sum, word) in sums.iter_mut().zip(column) {
                    let word = word.get();
                    let low: u64 = a[byte(word, shifts[0])].into() ^ b[byte(word, shifts[1])].into();
                    let high: u64 = c[byte(word, shifts[2])].into() ^ d[byte(word, shifts[3])].into();
                    *sum ^= low ^ high;
                }
            }
            [a, b] => {
                let shifts = [shifts(0), shifts(1)];
                for (sum, word) in sums.iter_mut().zip(column) {
                    let word = word.get();
                    *sum ^= a[byte(word, shifts[0])].into() ^ b[byte(word, shifts[1])].into();
                }
            }
            _ => {
                for (load, table) in group.iter().zip(tables) {
                    for (sum, word) in sums.iter_mut().zip(column) {
                        *sum ^= table[byte(word.get(), load.shift)].into();
                    }
                }
            }
        }
    }
}

/// Returns the contribution of each value of the piece's byte to the hash.
fn byte_table(columns: &[u64], piece: &Piece) -> [u64; 256] {
    let mut table = [0; 256];
    for value in 1..256usize {
        let lowest = value.trailing_zeros() as usize;
        let fed = piece.bits[lowest].map_or(0, |position| column(columns, usize::from(position)));
        table[value] = table[value & (value - 1)] ^ fed;
    }
    table
}

/// Returns column `position`. Layouts are checked to stay within the input, so every column exists.
fn column(columns: &[u64], position: usize) -> u64 {
    columns.get(position).copied().unwrap_or(0)
}

/// An affine map over GF(2), as the hash generator of a stage would be programmed.
#[derive(Debug, Clone, Copy)]
pub struct HashMatrix<'a> {
    columns: &'a [u64],
    constant: u64,
    output_bits: u32,
}

impl HashMatrix<'_> {
    /// Returns the number of input bits.
    pub const fn input_bits(&self) -> usize {
        self.columns.len()
    }

    /// Returns the number of output bits, 1..=64.
    pub const fn output_bits(&self) -> u32 {
        self.output_bits
    }

    /// Returns the output for an all-zero variable input: the seed register's value.
    pub const fn constant(&self) -> u64 {
        self.constant
    }

    /// Returns the output bits that each input position flips, by position.
    pub const fn columns(&self) -> &[u64] {
        self.columns
    }

    /// Returns the input positions whose XOR makes output bit `bit` (constant aside); none for a bit that does not
    /// exist.
    pub fn row(&self, bit: u32) -> impl Iterator<Item = usize> + '_ {
        let asked =
            move |(position, column): (usize, &u64)| (bit < 64 && column >> bit & 1 == 1).then_some(position);
        self.columns.iter().enumerate().filter_map(asked)
    }

    /// Returns the number of linearly independent output bits among those of `mask`: 2^rank values are reachable.
    pub fn rank(&self, mask: u64) -> u32 {
        // Basis vectors with distinct top bits; a new column that reduces to nothing adds no dimension.
        let mut basis = [0u64; 64];
        for column in self.columns {
            let mut rest = column & mask;
            while rest != 0 {
                let top = rest.ilog2() as usize;
                if basis[top] == 0 {
                    basis[top] = rest;
                    break;
                }
                rest ^= basis[top];
            }
        }
        basis.iter().filter(|vector| **vector != 0).count() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{HashAlgorithm, Seed};

    fn function(name: &str, bits: u32) -> HashFunction {
        HashFunction::new(HashAlgorithm::from_name(name).unwrap(), bits).unwrap()
    }

    /// A 5-tuple as 32-, 32-, 8-, 16- and 16-bit slots in key order.
    fn five_tuple() -> HashLayout {
        let mut layout = HashLayout::new();
        for (slot, width, position) in [(0, 32, 0), (1, 32, 32), (2, 8, 64), (3, 16, 72), (4, 16, 88)] {
            layout.field(slot, 0, width, position).unwrap();
        }
        layout
    }

    #[test]
    fn five_tuple_in_containers() {
        // model: hashing §7.1, flow F1.
        let slots = [0x0a00_0001, 0x0a00_0101, 6, 12345, 80];
        for (name, want) in [("crc_16", 0x4f71), ("crc_32", 0x1d56_9bff), ("crc_16_xmodem", 0x1c2d)] {
            let bits = if want > 0xffff { 32 } else { 16 };
            let hash = LinearHash::new(function(name, bits), 104, &five_tuple()).unwrap();
            assert_eq!(hash.eval(&slots), want, "{name}");
        }
    }

    #[test]
    fn many_at_once_are_each_alone() {
        let columns: Vec<[Cell<u32>; 64]> = (0..5u32)
            .map(|c| std::array::from_fn(|l| Cell::new((l as u32 * 5 + c).wrapping_mul(0x9e37_79b9))))
            .collect();
        for (name, bits) in [("crc_32", 32), ("crc_64", 64), ("crc_16", 16)] {
            let hash = LinearHash::new(function(name, bits), 104, &five_tuple()).unwrap();
            let mut sums = [0u64; 64];
            hash.eval_lanes(&mut sums, |slot| &columns[usize::from(slot)]);
            for (l, sum) in sums.iter().enumerate() {
                assert_eq!(*sum, hash.eval_with(|slot| columns[usize::from(slot)][l].get()), "{name} {l}");
            }
        }
    }

    #[test]
    fn rows_and_rank_describe_the_map() {
        let hash = LinearHash::new(function("xor16", 16), 104, &five_tuple()).unwrap();
        let matrix = hash.matrix();
        assert_eq!((matrix.input_bits(), matrix.output_bits(), matrix.constant()), (104, 16, 0));
        // Output bit 15 is the first bit of every 16-bit word: 0, 16, .. 96.
        assert!(matrix.row(15).eq((0..7).map(|word| word * 16)));
        assert_eq!(matrix.row(16).count(), 0);
        assert_eq!(matrix.rank(u64::MAX), 16);
        let crc = LinearHash::new(function("crc_16", 16), 104, &five_tuple()).unwrap();
        assert_eq!(crc.matrix().rank(0b111), 3);
        // Repeating eight bits adds no dimension.
        let repeated = LinearHash::new(function("crc_8", 16).extended(), 104, &five_tuple()).unwrap();
        assert_eq!(repeated.matrix().rank(u64::MAX), 8);
    }

    #[test]
    fn a_seed_is_a_constant() {
        let slots = [1, 2, 3, 4, 5];
        let plain = function("crc_32c", 32);
        let plain_hash = LinearHash::new(plain, 104, &five_tuple()).unwrap();
        for seed in [Seed::Xor(0xdead_beef), Seed::Prefix { value: 0xdead_beef, bits: 32 }] {
            let seeded = LinearHash::new(plain.with_seed(seed).unwrap(), 104, &five_tuple()).unwrap();
            let difference = plain_hash.matrix().constant() ^ seeded.matrix().constant();
            assert_eq!(plain_hash.eval(&slots) ^ seeded.eval(&slots), difference);
            assert_eq!(plain_hash.matrix().columns(), seeded.matrix().columns());
        }
    }

    #[test]
    fn missing_slots_and_unfed_positions_are_zero() {
        let mut layout = HashLayout::new();
        layout.field(7, 4, 8, 2).unwrap();
        let hash = LinearHash::new(function("identity", 12), 12, &layout).unwrap();
        assert_eq!(hash.eval(&[]), 0);
        assert_eq!(hash.eval(&[0, 0, 0, 0, 0, 0, 0, 0xffff_fa5f]), 0xa5 << 2);
    }

    #[test]
    fn impossible_layouts_are_refused() {
        let compile = |layout: &HashLayout| LinearHash::new(function("crc_16", 16), 16, layout).map(|_| ());
        let mut twice = HashLayout::new();
        twice.field(0, 0, 8, 0).unwrap().field(1, 0, 8, 7).unwrap();
        assert_eq!(compile(&twice), Err(LayoutError::FedTwice { slot: 1, position: 7 }));
        let mut same_bits = HashLayout::new();
        same_bits.field(0, 0, 8, 0).unwrap().field(0, 0, 8, 8).unwrap();
        assert_eq!(compile(&same_bits), Ok(()), "one slot bit may feed two positions");
        let mut beyond = HashLayout::new();
        beyond.field(3, 0, 8, 10).unwrap();
        assert_eq!(
            compile(&beyond),
            Err(LayoutError::PositionBeyondInput { slot: 3, position: 17, input_bits: 16 })
        );
        let mut constant = HashLayout::new();
        constant.field(0, 0, 8, 0).unwrap().constant(7, 1, 1);
        assert_eq!(compile(&constant), Err(LayoutError::BadConstant { position: 7, input_bits: 16 }));
        assert_eq!(
            HashLayout::new().field(0, 30, 3, 0).unwrap_err(),
            LayoutError::NoSuchBit { slot: 0, bit: 32 }
        );
        assert!(HashLayout::new().field(0, 0, 32, u16::MAX).is_err());
        let mut no_byte = HashLayout::new();
        no_byte.piece(Piece { slot: 2, byte: 4, bits: [None; 8] });
        assert_eq!(compile(&no_byte), Err(LayoutError::NoSuchBit { slot: 2, bit: 32 }));
    }
}
