//! Messages and flows in groups of similar size.

/// Number of groups at most; all have about the same number of messages (model: conweave §4.5).
const GROUPS: usize = 20;

/// Returns groups of values in order of size, for pairs of size and value. Values of one size are in one group.
pub(super) fn groups<T: Copy>(mut all: Vec<(u64, T)>) -> Vec<Vec<(u64, T)>> {
    all.sort_by_key(|(size, _)| *size);
    let least = all.len().div_ceil(GROUPS).max(1);
    let mut groups: Vec<Vec<(u64, T)>> = Vec::new();
    for one in all {
        match groups.last_mut() {
            Some(group) if group.len() < least || group.last().is_some_and(|last| last.0 == one.0) => {
                group.push(one)
            }
            _ => groups.push(vec![one]),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_in_one_group() {
        let all = (0..100).map(|n| (if n < 60 { 7 } else { n }, n)).collect();
        let groups = groups(all);
        assert_eq!((groups[0].len(), groups[1].len()), (60, 5));
        assert_eq!(groups.len(), 1 + 40 / 5);
        assert!(groups.windows(2).all(|pair| pair[0][pair[0].len() - 1].0 < pair[1][0].0));
        assert!(super::groups::<u8>(Vec::new()).is_empty());
    }
}
