//! Ranges in TCAM (model: chip §3.2). The TCAM stores a nibble of a range key as the set of its values, so one row
//! compares each nibble with any set of values, and a range takes a few rows.

/// Bits of a digit: each is compared with a set of its 16 values.
pub const RANGE_DIGIT_BITS: u32 = 4;

/// Widest field that is compared by range: five nibbles.
pub const MAX_RANGE_BITS: u32 = 20;

/// One row of a range: for each digit, most significant first, a set of matching values with one bit per value.
pub type RangeRow = Vec<u16>;

/// Returns the rows that together match exactly `lo..=hi`. There are at most `2 * digits - 1` rows, and no value
/// matches two of them.
///
/// `digits` are the bits (1 to 4) of each digit, most significant first; the value has their sum. A field that starts
/// on a nibble has digits of 4 bits and at most one shorter digit at the top. If `lo > hi`, there are no rows.
pub fn range_rows(lo: u32, hi: u32, digits: &[u32]) -> Vec<RangeRow> {
    let Some((&width, rest)) = digits.split_first() else {
        return if lo <= hi { vec![Vec::new()] } else { Vec::new() };
    };
    let below = rest.iter().sum::<u32>();
    let low_mask = (1_u32 << below.min(31)) - 1;
    let all = u16::MAX >> (16 - (1_u32 << width.min(RANGE_DIGIT_BITS)).min(16));
    let (first, last) = (lo >> below, hi >> below);
    let (lo_rest, hi_rest) = (lo & low_mask, hi & low_mask);
    let any = |set: u16| -> RangeRow {
        let wild = rest.iter().map(|w| u16::MAX >> (16 - (1_u32 << w)));
        std::iter::once(set).chain(wild).collect()
    };
    let under = |digit: u32, lo: u32, hi: u32| -> Vec<RangeRow> {
        let rows = range_rows(lo, hi, rest).into_iter();
        rows.map(|row| std::iter::once(1 << digit).chain(row).collect()).collect()
    };
    let (whole_lo, whole_hi) = (lo_rest == 0, hi_rest == low_mask);
    if first > last {
        return Vec::new();
    }
    if first == last && !(whole_lo && whole_hi) {
        return under(first, lo_rest, hi_rest);
    }
    let mut rows = Vec::new();
    if !whole_lo {
        rows.extend(under(first, lo_rest, low_mask));
    }
    let (from, to) = (first + u32::from(!whole_lo), (last + 1).saturating_sub(u32::from(!whole_hi)));
    let middle = (from..to).fold(0_u16, |set, digit| set | 1 << digit) & all;
    if middle != 0 {
        rows.push(any(middle));
    }
    if !whole_hi {
        rows.extend(under(last, 0, hi_rest));
    }
    rows
}

/// Returns the digits of a field of `width` bits that starts on a nibble.
pub fn range_digits(width: u32) -> Vec<u32> {
    let odd = width % RANGE_DIGIT_BITS;
    let whole = std::iter::repeat_n(RANGE_DIGIT_BITS, (width / RANGE_DIGIT_BITS) as usize);
    (odd > 0).then_some(odd).into_iter().chain(whole).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(rows: &[RangeRow], value: u32, digits: &[u32]) -> usize {
        let hit = |row: &RangeRow| {
            let mut below = digits.iter().sum::<u32>();
            row.iter().zip(digits).all(|(set, width)| {
                below -= width;
                set >> (value >> below & ((1 << width) - 1)) & 1 == 1
            })
        };
        rows.iter().filter(|row| hit(row)).count()
    }

    #[test]
    fn a_port_range_takes_few_rows() {
        let rows = |lo, hi| range_rows(lo, hi, &range_digits(16)).len();
        // 0x0050..=0x01bb: 005+, 00[6-f]x, 01[0-a]x, 01bx.
        assert_eq!(range_rows(0x50, 0x1bb, &range_digits(16)).len(), 3);
        assert_eq!(rows(0, 0xffff), 1);
        assert_eq!(rows(80, 80), 1);
        assert_eq!(rows(1024, 0xffff), 2);
        assert_eq!(rows(0x1, 0xfffe), 7, "2 * 4 - 1: the worst case of four nibbles");
        assert_eq!(range_rows(1, 0xf_fffe, &range_digits(20)).len(), 9);
        assert!(range_rows(5, 4, &range_digits(16)).is_empty());
        assert_eq!(range_digits(10), [2, 4, 4]);
    }

    proptest! {
        #[test]
        fn rows_match_the_range_once_and_nothing_else(
            digits in prop::collection::vec(1..=4u32, 1..=4), a: u32, b: u32, probes: [u32; 20],
        ) {
            let mask = (1 << digits.iter().sum::<u32>()) - 1;
            let (lo, hi) = ((a & mask).min(b & mask), (a & mask).max(b & mask));
            let rows = range_rows(lo, hi, &digits);
            prop_assert!(rows.len() < 2 * digits.len());
            let edges = [lo, hi, lo.wrapping_sub(1), hi + 1, 0, mask];
            for value in probes.into_iter().chain(edges).map(|v| v & mask) {
                let wanted = usize::from(lo <= value && value <= hi);
                prop_assert_eq!(matches(&rows, value, &digits), wanted, "{} in {}..={}", value, lo, hi);
            }
        }
    }
}
