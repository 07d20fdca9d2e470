//! Suggestions for mistyped names.

/// Returns the candidate that takes the fewest edits (insertions, deletions, replacements, swaps of neighbours) to
/// reach, if that is near enough to be meant: at most half of its letters. Ties go to the nearest in length, then to
/// the first.
pub fn nearest<'k>(found: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let length = |word: &str| word.chars().count();
    let edits = |word: &str| strsim::osa_distance(found, word);
    let best = known.into_iter().min_by_key(|word| (edits(word), length(word).abs_diff(length(found))))?;
    (edits(best) * 2 <= length(best)).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_near_words_are_offered() {
        assert_eq!(nearest("stagse", ["stages", "sram_rows"]), Some("stages"));
        assert_eq!(nearest("kye", ["action", "key"]), Some("key"));
        assert_eq!(nearest("ipv4_lmp", ["acl", "ipv4_lpm"]), Some("ipv4_lpm"));
        for wrong in ["frobnicate", "kitten", "nope"] {
            assert_eq!(nearest(wrong, ["macs", "stages", "acl", "ipv4_lpm"]), None, "{wrong}");
        }
        assert_eq!(nearest("x", []), None);
    }
}
