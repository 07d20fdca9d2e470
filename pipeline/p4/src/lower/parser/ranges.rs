//! Ranges of values as values under masks.

use sluice_asic::alu::width_mask;

/// Returns values and masks that match exactly the numbers from `first` to `last` of `width` bits, at most `2 * width` of them.
pub(super) fn prefixes(first: u128, last: u128, width: u32) -> Vec<(u128, u128)> {
    let all = width_mask(width);
    let mut found = Vec::new();
    let mut at = first;
    while at <= last {
        // The largest aligned block of numbers that begins here and does not go beyond the end.
        let mut bits = at.trailing_zeros().min(width);
        while bits > 0 && (last - at) < width_mask(bits) {
            bits -= 1;
        }
        found.push((at, all & !width_mask(bits)));
        match at.checked_add(width_mask(bits)).and_then(|end| end.checked_add(1)) {
            Some(next) => at = next,
            None => break,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::prefixes;

    #[test]
    fn every_number_of_a_range_matches_and_no_other() {
        for (first, last) in [(0, 255), (1, 254), (7, 7), (16, 31), (3, 130), (255, 255)] {
            let found = prefixes(first, last, 8);
            assert!(found.len() <= 16);
            for value in 0..256 {
                let matches = found.iter().filter(|(of, mask)| value & mask == *of).count();
                assert_eq!(
                    matches,
                    usize::from((first..=last).contains(&value)),
                    "{value} in {first}..{last}"
                );
            }
        }
        assert_eq!(prefixes(16, 31, 8), [(16, 0xf0)]);
        assert_eq!(prefixes(1024, 65535, 16).len(), 6);
        assert_eq!(prefixes(0, u128::MAX, 128), [(0, 0)]);
    }
}
