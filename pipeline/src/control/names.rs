//! Names that users mistype, and numbers of things. What may not live here: what a name means.

/// The candidate that takes the fewest edits to reach, if that is at most half the name's letters.
pub(super) fn nearest<'a>(wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let best = candidates.into_iter().map(|c| (edits(wrong, c), c)).min_by_key(|(distance, _)| *distance)?;
    (best.0 * 2 <= wrong.chars().count().max(2)).then_some(best.1)
}

/// Fewest insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`, no letter being
/// touched twice.
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before = vec![0; b.len() + 1];
    let mut costs: Vec<usize> = (0..=b.len()).collect();
    for row in 0..a.len() {
        let mut next = vec![row + 1; b.len() + 1];
        for col in 0..b.len() {
            let replace = costs[col] + usize::from(a[row] != b[col]);
            next[col + 1] = replace.min(next[col] + 1).min(costs[col + 1] + 1);
            if row > 0 && col > 0 && a[row] == b[col - 1] && a[row - 1] == b[col] {
                next[col + 1] = next[col + 1].min(before[col - 1] + 1);
            }
        }
        before = std::mem::replace(&mut costs, next);
    }
    costs[b.len()]
}

/// `1 argument`, `2 arguments`.
pub(super) fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_offered_and_far_ones_not() {
        assert_eq!(nearest("ipv4_lmp", ["acl", "ipv4_lpm"]), Some("ipv4_lpm"));
        assert_eq!(nearest("kye", ["action", "key"]), Some("key"));
        assert_eq!(nearest("kitten", ["acl", "ipv4_lpm"]), None);
    }

    #[test]
    fn edits_are_counted() {
        for (a, b, expected) in
            [("kitten", "sitting", 3), ("", "abc", 3), ("kye", "key", 1), ("abc", "abc", 0)]
        {
            assert_eq!((edits(a, b), edits(b, a)), (expected, expected), "{a} {b}");
        }
    }
}
