//! The known word nearest to a misspelt one.

/// The word of `known` with the fewest edits to `found`, if it is near enough to be meant: at most half of
/// its letters differ. Ties go to the nearest in length, then to the first.
pub(crate) fn nearest<'k>(found: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let length = |word: &str| word.chars().count();
    let best = known.min_by_key(|word| (edits(found, word), length(word).abs_diff(length(found))))?;
    (edits(found, best) * 2 <= length(best)).then_some(best)
}

/// Levenshtein distance.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (to, cell) in b.iter().zip(row.iter_mut().skip(1)) {
            let substituted = diagonal + usize::from(from != *to);
            diagonal = *cell;
            left = substituted.min(*cell + 1).min(left + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(edits("stages", "stages"), 0);
        assert_eq!(edits("stage", "stages"), 1);
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("kitten", "sitting"), 3);
    }

    #[test]
    fn only_near_words_are_offered() {
        let known = || ["stages", "sram_rows"].into_iter();
        assert_eq!(nearest("stagse", known()), Some("stages"));
        assert_eq!(nearest("frobnicate", known()), None);
        assert_eq!(nearest("x", std::iter::empty()), None);
    }
}
