//! A drawing of a timeline in bounded memory: the busiest places, a line each. Peaks are kept.

use sluice_switch::{Subject, TimelineRow};
use std::collections::BTreeMap;

/// Most points that a line keeps. A line with twice as many is thinned out to this number.
const POINTS: usize = 1024;
/// Most lines of a drawing: more cannot be told apart.
const LINES: usize = 8;

/// One place over time: a level from each point to the next.
#[derive(Clone, Debug, Default)]
struct Steps {
    /// Time in ps and cells.
    points: Vec<(u64, u32)>,
    /// Time in ps. Points closer together than this become one, the highest.
    grain: u64,
    peak: u32,
}

impl Steps {
    fn add(&mut self, time: u64, cells: u32) {
        self.peak = self.peak.max(cells);
        match self.points.last_mut() {
            Some(last) if time / self.grain.max(1) == last.0 / self.grain.max(1) && self.grain > 0 => {
                last.1 = last.1.max(cells);
                // What follows the peak within a grain is seen with the next grain's first point.
            }
            _ => self.points.push((time, cells)),
        }
        if self.points.len() >= 2 * POINTS {
            self.coarsen();
        }
    }

    /// Widens the grain until no more than [`POINTS`] points are left.
    fn coarsen(&mut self) {
        let span = self.points.last().map_or(0, |l| l.0) - self.points.first().map_or(0, |f| f.0);
        self.grain = (self.grain * 2).max(span / POINTS as u64).max(1);
        let mut kept: Vec<(u64, u32)> = Vec::with_capacity(2 * POINTS);
        for (time, cells) in self.points.drain(..) {
            match kept.last_mut() {
                Some(last) if last.0 / self.grain == time / self.grain => last.1 = last.1.max(cells),
                _ => kept.push((time, cells)),
            }
        }
        self.points = kept;
    }

    /// Corners of the steps in microseconds, up to the end.
    fn corners(&self, end: u64) -> Vec<(f64, f64)> {
        let micros = |ps: u64| ps as f64 / 1e6;
        let mut corners = Vec::with_capacity(2 * self.points.len() + 1);
        let mut held = 0;
        for (time, cells) in self.points.iter().copied().chain([(end, self.points.last().map_or(0, |p| p.1))])
        {
            corners.extend([(micros(time), f64::from(held)), (micros(time), f64::from(cells))]);
            held = cells;
        }
        corners
    }
}

/// Levels of places over time, in bounded memory for each place.
#[derive(Debug, Default)]
pub struct Levels {
    places: BTreeMap<(Subject, String, u16), Steps>,
    end: u64,
}

/// One place of a drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Kind and name of the place.
    pub name: String,
    /// Corners of the level over time: microseconds and cells.
    pub points: Vec<(f64, f64)>,
}

impl Levels {
    /// Adds a row of a timeline. Rows come in order of time.
    pub fn add(&mut self, row: &TimelineRow<'_>) {
        let time = row.time.as_ps();
        self.end = self.end.max(time);
        let place = (row.subject, row.name.to_owned(), row.index);
        self.places.entry(place).or_default().add(time, row.level.cells);
    }

    /// Returns true if no place ever held anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.values().all(|steps| steps.peak == 0)
    }

    /// Returns the eight places with the highest peaks, in order of their kind, name and number.
    #[must_use]
    pub fn lines(&self) -> Vec<Line> {
        let mut busiest: Vec<_> = self.places.iter().filter(|(_, steps)| steps.peak > 0).collect();
        busiest.sort_by_key(|(place, steps)| (std::cmp::Reverse(steps.peak), *place));
        busiest.truncate(LINES);
        busiest.sort_by_key(|(place, _)| *place);
        let line = |((subject, name, index), steps): (&(Subject, String, u16), &Steps)| {
            let name = match subject {
                Subject::Buffer => "all of it".to_owned(),
                Subject::Group => format!("port {name}, group {index}"),
                Subject::Queue => format!("port {name}, queue {index}"),
                _ if *index == 0 => name.clone(),
                _ => format!("{name}, partition {index}"),
            };
            Line { name, points: steps.corners(self.end) }
        };
        busiest.into_iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_survive_however_many_points_there_are() {
        let mut steps = Steps::default();
        for n in 0..1_000_000u64 {
            let peak = if n == 777_777 { 5_000 } else { (n % 100) as u32 };
            steps.add(n * 1_000, peak);
        }
        assert!(steps.points.len() < 2 * POINTS);
        assert_eq!(steps.peak, 5_000);
        let highest = steps.points.iter().max_by_key(|p| p.1).unwrap();
        assert_eq!(highest.1, 5_000);
        assert!(highest.0.abs_diff(777_777_000) <= steps.grain, "{highest:?}");
        assert!(steps.points.windows(2).all(|w| w[0].0 < w[1].0));
    }

    #[test]
    fn steps_are_drawn_with_their_corners() {
        let mut steps = Steps::default();
        steps.add(1_000_000, 4);
        steps.add(3_000_000, 0);
        let drawn = steps.corners(5_000_000);
        assert_eq!(drawn, [(1.0, 0.0), (1.0, 4.0), (3.0, 4.0), (3.0, 0.0), (5.0, 0.0), (5.0, 0.0)]);
    }
}
