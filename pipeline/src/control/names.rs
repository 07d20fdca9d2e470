//! Names that users mistype. What may not live here: what a name means.

/// The candidate that takes the fewest edits to reach, if that is fewer than half the name's letters.
pub(super) fn nearest<'a>(wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let best = candidates.into_iter().map(|c| (edits(wrong, c), c)).min_by_key(|(distance, _)| *distance)?;
    (best.0 * 2 <= wrong.chars().count().max(2)).then_some(best.1)
}

/// Fewest insertions, deletions and replacements of one letter that turn `a` into `b`.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut costs: Vec<usize> = (0..=b.len()).collect();
    for (row, from) in (1..).zip(a.chars()) {
        let mut corner = std::mem::replace(&mut costs[0], row);
        for (col, to) in b.iter().enumerate() {
            let replace = corner + usize::from(from != *to);
            corner = costs[col + 1];
            costs[col + 1] = replace.min(costs[col] + 1).min(corner + 1);
        }
    }
    costs[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_offered_and_far_ones_not() {
        assert_eq!(nearest("ipv4_lmp", ["acl", "ipv4_lpm"]), Some("ipv4_lpm"));
        assert_eq!(nearest("kitten", ["acl", "ipv4_lpm"]), None);
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("", "abc"), 3);
    }
}
