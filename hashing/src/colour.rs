//! Colours: sets of decision points that may share a hash function.

/// Assigns each point one of `supply` colours, so that no point has the colour of a point that is pinned there. New
/// colours are used while there are any, because reuse balances only as long as the traffic on which it relies is even
/// (model: hashing §3.4). After that, the colour whose last use is farthest upstream is taken. Returns `None` if a
/// point has no colour left.
#[must_use]
pub fn recombine(pinned: &[Vec<usize>], supply: usize) -> Option<Vec<usize>> {
    let mut colours: Vec<usize> = Vec::new();
    for forbidden in pinned {
        let allowed = |c: &usize| !forbidden.iter().any(|p| colours.get(*p) == Some(c));
        let last_use = |c: &usize| colours.iter().rposition(|used| used == c);
        let chosen = (0..supply).filter(allowed).min_by_key(|c| (last_use(c).map_or(0, |at| at + 1), *c))?;
        colours.push(chosen);
    }
    Some(colours)
}

/// Returns an assignment with the fewest colours: the first one in order of points.
#[must_use]
pub fn fewest(pinned: &[Vec<usize>]) -> Vec<usize> {
    (1..=pinned.len()).find_map(|supply| search(pinned, supply, Vec::new())).unwrap_or_default()
}

fn search(pinned: &[Vec<usize>], supply: usize, colours: Vec<usize>) -> Option<Vec<usize>> {
    let Some(forbidden) = pinned.get(colours.len()) else { return Some(colours) };
    let fresh = colours.iter().max().map_or(0, |c| c + 1);
    (0..supply.min(fresh + 1)).find_map(|colour| {
        if forbidden.iter().any(|p| colours.get(*p) == Some(&colour)) {
            return None;
        }
        search(pinned, supply, [colours.as_slice(), &[colour]].concat())
    })
}

/// Returns the first point that has the colour of a point pinned there, and that pinned point; `None` if there is no
/// conflict.
#[must_use]
pub fn conflict(pinned: &[Vec<usize>], colours: &[usize]) -> Option<(usize, usize)> {
    let points = pinned.iter().enumerate();
    let mut pairs = points.flat_map(|(k, list)| list.iter().map(move |p| (k, *p)));
    pairs.find(|(k, p)| colours.get(*k).is_some_and(|c| colours.get(*p) == Some(c)))
}

/// Returns the number of different colours in use.
#[must_use]
pub fn count(colours: &[usize]) -> usize {
    let mut used = colours.to_vec();
    used.sort_unstable();
    used.dedup();
    used.len()
}

#[cfg(test)]
mod tests {
    use super::super::graph::{DecisionGraph, Missing};
    use super::*;

    /// Returns true if there is an assignment of this many colours, found by trying all.
    fn possible(pinned: &[Vec<usize>], supply: usize) -> bool {
        let points = pinned.len() as u32;
        (0..supply.pow(points)).any(|n| {
            let colours: Vec<usize> = (0..points).map(|k| n / supply.pow(k) % supply).collect();
            conflict(pinned, &colours).is_none()
        })
    }

    #[test]
    fn scenario_25_recombine_solver() {
        let clos = DecisionGraph::clos5(2, 2).pinned();
        // The paper's two assignments are legal, and three colours are the fewest.
        assert_eq!(conflict(&clos, &[0, 1, 0, 2, 1, 2, 0, 1]), None);
        assert_eq!(conflict(&clos, &[0, 1, 2, 3, 0, 1, 2, 3]), None);
        assert_eq!(count(&fewest(&clos)), 3);
        let mut pins = vec![clos.clone()];
        for graph in [DecisionGraph::clos_without_top(2, 2), DecisionGraph::clos_full_mesh(2, 2)] {
            assert_ne!(graph.pinned(), clos);
            pins.push(graph.pinned());
        }
        let mut failed = DecisionGraph::clos5(2, 2);
        failed.missing.push(Missing { point: 1, at: vec![0], choice: 1 });
        pins.push(failed.pinned());
        for pinned in pins {
            let fewest = fewest(&pinned);
            let colours = count(&fewest);
            assert_eq!(conflict(&pinned, &fewest), None);
            assert!(possible(&pinned, colours) && !possible(&pinned, colours - 1), "{pinned:?}");
            for supply in colours..=8 {
                let greedy = recombine(&pinned, supply).unwrap();
                assert_eq!(conflict(&pinned, &greedy), None, "{pinned:?} {supply}");
            }
            assert_eq!(recombine(&pinned, 1), None);
        }
    }

    #[test]
    fn fresh_colours_first_then_the_farthest() {
        let clos = DecisionGraph::clos5(2, 2).pinned();
        assert_eq!(recombine(&clos, 8).unwrap(), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(recombine(&clos, 6).unwrap(), [0, 1, 2, 3, 4, 5, 0, 1]);
        assert_eq!(recombine(&clos, 3).unwrap()[..4], [0, 1, 2, 0]);
    }

    #[test]
    fn bad_reuse_is_named() {
        let clos = DecisionGraph::clos5(2, 2).pinned();
        assert_eq!(conflict(&clos, &[0, 1, 2, 2, 3, 4, 5, 6]), Some((3, 2)));
    }
}
