//! Linear algebra over GF(2) on hashes: the number of independent bits of a set of functions.
//!
//! Two choices are independent exactly if the hash bits that they use are jointly independent: n bits of rank n reach
//! all 2^n combinations equally often (model: hashing §1.3).

/// Returns the rows of a linear function of up to 128 key bits: row i says which key bits are XORed into output bit i.
/// A constant (a seed) has no part in it.
pub fn rows(key_bits: u32, output_bits: u32, hash: impl Fn(u128) -> u64) -> Vec<u128> {
    let zero = hash(0);
    let mut rows = vec![0u128; output_bits as usize];
    for bit in 0..key_bits.min(128) {
        let column = hash(1 << bit) ^ zero;
        for (i, row) in rows.iter_mut().enumerate() {
            *row |= u128::from(column >> i & 1) << bit;
        }
    }
    rows
}

/// Returns the rank of some rows: the number of linearly independent ones.
pub fn rank(rows: impl IntoIterator<Item = u128>) -> u32 {
    let mut basis = [0u128; 128];
    let mut rank = 0;
    for mut row in rows {
        while row != 0 {
            let top = row.ilog2() as usize;
            if basis[top] == 0 {
                basis[top] = row;
                rank += 1;
                break;
            }
            row ^= basis[top];
        }
    }
    rank
}

/// Returns the rank of some rows when only the key bits of `varying` differ from flow to flow: the entropy that reaches
/// the outputs, in bits.
pub fn rank_within(rows: impl IntoIterator<Item = u128>, varying: u128) -> u32 {
    rank(rows.into_iter().map(|row| row & varying))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_counts_what_differs() {
        let double = |key: u128| (key & 0b11) as u64 | (key as u64 & 1) << 2;
        let rows = rows(8, 4, |key| double(key) ^ 0b1000);
        assert_eq!(rows, [1, 2, 1, 0]);
        assert_eq!(rank(rows.clone()), 2);
        assert_eq!(rank_within(rows, 1), 1);
        assert_eq!(rank([]), 0);
    }
}
