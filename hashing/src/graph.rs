//! Decision points of paths, and the *pinned* relation between them.
//!
//! A path is a list of steps (switch, choice) with an exact weight. An earlier point is pinned at a later one if the
//! traffic that arrives at some switch of the later point does not contain all outcomes of the earlier point in their
//! usual shares. A function may be used again only at a point where no earlier user of the function is pinned: there,
//! its colours have recombined (model: hashing §3.3).

use std::collections::BTreeMap;

/// One choice on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The switch, and anything else that distinguishes its groups.
    pub switch: u64,
    /// Port that the switch chooses.
    pub choice: u32,
}

/// One path through the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// Weight of the path; its share of the traffic is this over the sum of all weights.
    pub weight: u128,
    /// One step for each decision point.
    pub steps: Vec<Step>,
}

/// A point at which paths diverge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// Name, such as `s2-up`.
    pub name: &'static str,
    /// Stage of the point's switches, from 1 at the edge.
    pub stage: u32,
    /// Ports to choose from.
    pub fan_out: u32,
    /// Earlier points whose outcomes determine the switch that a path reaches.
    pub located_by: Vec<usize>,
}

/// A missing link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Decision point at which the link is missing.
    pub point: usize,
    /// The switch, as outcomes of the points that locate it.
    pub at: Vec<u32>,
    /// Choice that the switch does not have.
    pub choice: u32,
}

/// The decision points of one class of paths, in path order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecisionGraph {
    /// The points.
    pub points: Vec<Point>,
    /// Links that failed.
    pub missing: Vec<Missing>,
}

fn point(name: &'static str, stage: u32, fan_out: u32, located_by: &[usize]) -> Point {
    Point { name, stage, fan_out, located_by: located_by.to_vec() }
}

impl DecisionGraph {
    /// Returns the paths between server blocks of the five-stage Clos of model: hashing §3.4, with `fan_out` ports in
    /// each group and `parallel` parallel links. Pins are the same for all numbers above 1.
    #[must_use]
    pub fn clos5(fan_out: u32, parallel: u32) -> DecisionGraph {
        let m = fan_out;
        DecisionGraph {
            points: vec![
                point("s1-up", 1, m, &[]),
                point("s2-up", 2, m, &[0]),
                point("s3-up", 3, m, &[1]),
                point("s4-up", 4, m, &[1, 2]),
                point("s5", 5, m, &[2, 3]),
                point("s4-down", 4, parallel, &[2, 4]),
                point("s3-down", 3, m, &[4]),
                point("s2-down", 2, parallel, &[6]),
            ],
            missing: Vec::new(),
        }
    }

    /// Returns the five-stage Clos without its top stage: S4 sends down to the chip of the same number in each block.
    #[must_use]
    pub fn clos_without_top(fan_out: u32, parallel: u32) -> DecisionGraph {
        let m = fan_out;
        DecisionGraph {
            points: vec![
                point("s1-up", 1, m, &[]),
                point("s2-up", 2, m, &[0]),
                point("s3-up", 3, m, &[1]),
                point("s4-down", 4, parallel, &[1, 2]),
                point("s3-down", 3, m, &[1]),
                point("s2-down", 2, parallel, &[4]),
            ],
            missing: Vec::new(),
        }
    }

    /// Returns the five-stage Clos with every S3 connected to every S4: S3 chooses the spine block and the chip in it.
    #[must_use]
    pub fn clos_full_mesh(fan_out: u32, parallel: u32) -> DecisionGraph {
        let m = fan_out;
        DecisionGraph {
            points: vec![
                point("s1-up", 1, m, &[]),
                point("s2-up", 2, m, &[0]),
                point("s3-up block", 3, m, &[1]),
                point("s3-up chip", 3, m, &[1]),
                point("s4-up", 4, m, &[2, 3]),
                point("s5", 5, m, &[2, 4]),
                point("s4-down", 4, m, &[2, 5]),
                point("s3-down", 3, m, &[6]),
                point("s2-down", 2, parallel, &[7]),
            ],
            missing: Vec::new(),
        }
    }

    /// Returns all paths, weighted as switches that divide evenly do.
    #[must_use]
    pub fn paths(&self) -> Vec<Path> {
        let mut paths = vec![Path { weight: 1, steps: Vec::new() }];
        for (k, point) in self.points.iter().enumerate() {
            // A multiple of every possible number of remaining ports, so that shares are whole numbers.
            let whole = (1..=u64::from(point.fan_out)).fold(1, super::cv::lcm);
            paths = paths.iter().flat_map(|path| self.onward(k, point, path, whole.into())).collect();
        }
        paths
    }

    fn onward(&self, k: usize, point: &Point, path: &Path, whole: u128) -> Vec<Path> {
        let outcome = |p: &usize| path.steps.get(*p).map_or(0, |s| s.choice);
        let at: Vec<u32> = point.located_by.iter().map(outcome).collect();
        let gone =
            |choice: u32| self.missing.iter().any(|m| m.point == k && m.at == at && m.choice == choice);
        let choices: Vec<u32> = (0..point.fan_out).filter(|c| !gone(*c)).collect();
        let share = whole.checked_div(choices.len() as u128).unwrap_or(0);
        let switch = at.iter().fold(0, |id, outcome| id * 1024 + u64::from(*outcome));
        let extended = |choice: &u32| {
            let mut steps = path.steps.clone();
            steps.push(Step { switch, choice: *choice });
            Path { weight: path.weight * share, steps }
        };
        choices.iter().map(extended).collect()
    }

    /// Returns the earlier points that are pinned at each point. A link may be missing in one block of several, so
    /// points that are pinned without missing links stay pinned.
    #[must_use]
    pub fn pinned(&self) -> Vec<Vec<usize>> {
        let mut pins = pinned(&self.miniature().paths());
        if !self.missing.is_empty() {
            let whole = DecisionGraph { missing: Vec::new(), ..self.clone() };
            for (list, more) in pins.iter_mut().zip(whole.pinned()) {
                list.extend(more);
                list.sort_unstable();
                list.dedup();
            }
        }
        pins
    }

    /// Returns the graph with the fewest ports that have the same pins: two, or one more than missing links name.
    fn miniature(&self) -> DecisionGraph {
        let mut small = self.clone();
        for (k, point) in small.points.iter_mut().enumerate() {
            let choices = self.missing.iter().filter(|m| m.point == k).map(|m| m.choice);
            let places = self.missing.iter().filter_map(|m| {
                let located_by = &self.points.get(m.point)?.located_by;
                m.at.get(located_by.iter().position(|p| *p == k)?).copied()
            });
            let named = choices.chain(places).max().map_or(0, |n| n + 1);
            point.fan_out = point.fan_out.min((named + 1).max(2));
        }
        small
    }
}

/// Returns the earlier points that are pinned at each point of some paths.
#[must_use]
pub fn pinned(paths: &[Path]) -> Vec<Vec<usize>> {
    let points = paths.iter().map(|p| p.steps.len()).max().unwrap_or(0);
    (0..points)
        .map(|later| (0..later).filter(|earlier| is_pinned(paths, *earlier, later)).collect())
        .collect()
}

/// Returns true if outcomes of `earlier` and switches of `later` depend on each other.
fn is_pinned(paths: &[Path], earlier: usize, later: usize) -> bool {
    let mut joint: BTreeMap<(u64, u64, u32), u128> = BTreeMap::new();
    let mut by_switch: BTreeMap<(u64, u64), u128> = BTreeMap::new();
    let mut by_choice: BTreeMap<(u64, u32), u128> = BTreeMap::new();
    let mut total: BTreeMap<u64, u128> = BTreeMap::new();
    for path in paths {
        let (Some(e), Some(l)) = (path.steps.get(earlier), path.steps.get(later)) else { continue };
        // Switches of the earlier point have different ports, so each is tested separately.
        *joint.entry((e.switch, l.switch, e.choice)).or_default() += path.weight;
        *by_switch.entry((e.switch, l.switch)).or_default() += path.weight;
        *by_choice.entry((e.switch, e.choice)).or_default() += path.weight;
        *total.entry(e.switch).or_default() += path.weight;
    }
    by_switch.iter().any(|((from, switch), arrived)| {
        let choices = by_choice.range((*from, 0)..=(*from, u32::MAX));
        choices.into_iter().any(|((_, choice), chosen)| {
            let both = joint.get(&(*from, *switch, *choice)).copied().unwrap_or(0);
            // Compares P(choice | arrived) with P(choice), multiplied crosswise.
            both * total.get(from).copied().unwrap_or(0) != arrived * chosen
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_of_the_five_stage_clos() {
        // model: hashing §3.4.
        let wanted: [&[usize]; 8] = [&[], &[0], &[1], &[1, 2], &[2, 3], &[2, 4], &[4], &[6]];
        assert_eq!(DecisionGraph::clos5(2, 2).pinned(), wanted);
        assert_eq!(pinned(&DecisionGraph::clos5(3, 2).paths()), wanted);
        assert_eq!(DecisionGraph::clos5(8, 4).pinned(), wanted);
    }

    #[test]
    fn a_lost_link_pins_more() {
        let mut graph = DecisionGraph::clos5(2, 2);
        graph.missing.push(Missing { point: 1, at: vec![0], choice: 1 });
        let pinned = graph.pinned();
        assert!(pinned[2].contains(&0), "the S3 that lost a link no longer sees all of S1's outcomes");
        assert!(graph.paths().iter().all(|p| p.steps[0].choice != 0 || p.steps[1].choice == 0));
    }
}
