//! Names in shorter and longer forms, and suggestions for mistyped names.

/// What a name that a user wrote stands for; see [`by_suffix`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// The name at this position.
    One(usize),
    /// Several names, by position.
    Several(Vec<usize>),
    /// None of the names.
    Nothing,
}

/// Finds the name that a user means, given in full or by its end: `acl.hit`, or `hit` alone, for `SwitchIngress.acl.hit`. A name with
/// more parts in front, such as `pipe.SwitchIngress.acl.hit`, is found as well. Names whose longest part fits come first.
pub fn by_suffix<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Named {
    let common = |name: &str| {
        let pairs = || wanted.rsplit('.').zip(name.rsplit('.'));
        let (equal, parts) = (pairs().take_while(|(a, b)| a == b).count(), pairs().count());
        if name == wanted {
            usize::MAX
        } else if equal == parts {
            equal
        } else {
            0
        }
    };
    let fits: Vec<(usize, usize)> =
        names.into_iter().map(common).enumerate().filter(|(_, common)| *common > 0).collect();
    let longest = fits.iter().map(|(_, common)| *common).max();
    let best: Vec<usize> =
        fits.iter().filter(|(_, common)| Some(*common) == longest).map(|(at, _)| *at).collect();
    match best[..] {
        [] => Named::Nothing,
        [one] => Named::One(one),
        _ => Named::Several(best),
    }
}

/// Finds the name that ends with some letters, which need not be whole parts: `t1` for `Ingress.test1`.
pub fn by_letters<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Named {
    let fits = names.into_iter().enumerate().filter(|(_, name)| !wanted.is_empty() && name.ends_with(wanted));
    let fits: Vec<usize> = fits.map(|(at, _)| at).collect();
    match fits[..] {
        [] => Named::Nothing,
        [one] => Named::One(one),
        _ => Named::Several(fits),
    }
}

/// Returns the question whether the [`nearest`] of some names was meant, for the end of a sentence: "; did you mean `x`?". The text
/// is empty if no name is near.
pub fn did_you_mean<'k>(found: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    nearest(found, known).map_or(String::new(), |near| format!("; did you mean `{near}`?"))
}

/// Returns the candidate that takes the fewest edits (insertions, deletions, replacements, swaps of neighbours) to
/// reach, if that is near enough to be meant: at most half of its letters. Capitals are as small letters, and `_` is as `-`.
/// Ties go to the nearest in length, then to the first.
pub fn nearest<'k>(found: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let length = |word: &str| word.chars().count();
    let plain = |word: &str| word.to_lowercase().replace('_', "-");
    let found = &plain(found);
    let edits = |word: &str| strsim::osa_distance(found, &plain(word));
    let best = known.into_iter().min_by_key(|word| (edits(word), length(word).abs_diff(length(found))))?;
    (edits(best) * 2 <= length(best)).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_names_are_enough() {
        let names = ["SwitchIngress.acl.hit", "SwitchIngress.nat.hit", "acl.miss", "hits"];
        assert_eq!(by_suffix("acl.hit", names), Named::One(0));
        assert_eq!(by_suffix("hit", names), Named::Several(vec![0, 1]));
        assert_eq!(by_suffix("pipe.SwitchIngress.nat.hit", names), Named::One(1));
        assert_eq!(by_suffix("SwitchIngress.acl.miss", names), Named::One(2));
        assert_eq!(by_suffix("it", names), Named::Nothing);
        assert_eq!(by_suffix("nat.miss", names), Named::Nothing);
        // The whole name comes before names that end with it.
        assert_eq!(by_suffix("hits", ["x.hits", "hits"]), Named::One(1));
    }

    #[test]
    fn letters_at_the_end_are_enough_where_they_are_asked_for() {
        let names = ["Ingress.test1", "Ingress.test2", "Egress.best2"];
        assert_eq!(by_letters("t1", names), Named::One(0));
        assert_eq!(by_letters("est2", names), Named::Several(vec![1, 2]));
        assert_eq!(by_letters("t3", names), Named::Nothing);
        assert_eq!(by_letters("", names), Named::Nothing);
    }

    #[test]
    fn only_near_words_are_offered() {
        assert_eq!(nearest("stagse", ["stages", "sram_rows"]), Some("stages"));
        assert_eq!(nearest("kye", ["action", "key"]), Some("key"));
        assert_eq!(nearest("ipv4_lmp", ["acl", "ipv4_lpm"]), Some("ipv4_lpm"));
        for wrong in ["frobnicate", "kitten", "nope"] {
            assert_eq!(nearest(wrong, ["macs", "stages", "acl", "ipv4_lpm"]), None, "{wrong}");
        }
        assert_eq!(nearest("x", []), None);
        assert_eq!(nearest("IPV4-ACL", ["ipv4_lpm", "ipv4_acl"]), Some("ipv4_acl"));
    }
}
