//! Fewer points for a page. Every point that stays is one of the given points.

/// Number of evenly spaced shares that stay of a distribution.
const SHARES: usize = 400;
/// Number of the greatest values of a distribution that all stay.
const TAIL: usize = 60;

/// Returns at most about `most` of the points, which are in order of x: of each of several equal stretches the first, the
/// last, the lowest and the highest one. So the extrema of the whole are exact.
#[must_use]
pub fn thinned(points: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
    if points.len() <= most.max(4) {
        return points.to_vec();
    }
    let stretch = points.len().div_ceil((most / 4).max(1));
    let mut kept = Vec::with_capacity(most + 4);
    for part in points.chunks(stretch) {
        let by = |better: fn(f64, f64) -> bool| {
            (0..part.len())
                .reduce(|best, n| if better(part[n].1, part[best].1) { n } else { best })
                .unwrap_or(0)
        };
        let mut places = [0, by(|new, old| new < old), by(|new, old| new > old), part.len() - 1];
        places.sort_unstable();
        let mut last = None;
        for place in places {
            if last.replace(place) != Some(place) {
                kept.push(part[place]);
            }
        }
    }
    kept
}

/// Returns the distribution of sorted values as steps: value, and percent of the values that are not greater. Of many values,
/// 400 evenly spaced ones, the least and the 60 greatest ones stay.
#[must_use]
pub fn cumulative(sorted: &[f64]) -> Vec<(f64, f64)> {
    let count = sorted.len();
    let every = (count / SHARES).max(1);
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (rank, value) in sorted.iter().enumerate() {
        // Of equal values, the last one has their share.
        let is_last = sorted.get(rank + 1).is_none_or(|next| next > value);
        let stays = rank % every == 0 || rank + TAIL >= count || points.is_empty();
        if stays || (is_last && points.last().is_some_and(|(last, _)| last == value)) {
            let share = 100.0 * (rank + 1) as f64 / count as f64;
            match points.last_mut() {
                Some(last) if last.0 == *value => last.1 = share,
                _ => points.push((*value, share)),
            }
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extrema_and_ends_stay() {
        let mut points: Vec<(f64, f64)> =
            (0..50_000).map(|n| (f64::from(n), f64::from(n % 7) + 10.0)).collect();
        points[31_111].1 = 999.0;
        points[7].1 = -5.0;
        let kept = thinned(&points, 1_000);
        assert!(kept.len() <= 1_004 && kept.contains(&points[31_111]) && kept.contains(&points[7]));
        assert_eq!((kept.first(), kept.last()), (points.first(), points.last()));
        assert!(kept.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!(thinned(&points[..3], 2), points[..3]);
        assert!(thinned(&[], 10).is_empty());
    }

    #[test]
    fn a_distribution_keeps_exact_shares() {
        let sorted: Vec<f64> = (1..=50_000).map(f64::from).collect();
        let points = cumulative(&sorted);
        assert!(points.len() < 500 && points.last() == Some(&(50_000.0, 100.0)));
        // The share of the n-th of 50,000 different values is n / 500 percent.
        assert!(points.iter().all(|(value, share)| (share - value / 500.0).abs() < 1e-9));
        assert!(points.contains(&(49_950.0, 99.9)));
        // Half of the values are equal: the step is of their whole share.
        let equal: Vec<f64> = (0..1_000).map(|n| if n < 500 { 1.0 } else { f64::from(n) }).collect();
        assert_eq!(cumulative(&equal)[0], (1.0, 50.0));
        assert!(cumulative(&[]).is_empty());
    }
}
