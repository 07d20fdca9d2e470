//! A drawing of a timeline in bounded memory: the places with the highest peaks, one line each. Peaks are kept exactly.

use sluice_switch::{Subject, TimelineRow};
use std::collections::BTreeMap;

/// Most grains that a place keeps. A place with twice as many is thinned out to this number.
const GRAINS: usize = 1024;
/// Number of lines of a drawing; more lines could not be distinguished.
const LINES: usize = 8;

/// Levels of a place within a grain of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Grain {
    /// Time in ps of the first level.
    time: u64,
    /// The highest level, in cells.
    peak: u32,
    /// Time in ps of the last level.
    last_time: u64,
    /// The last level, in cells.
    last: u32,
}

/// One place over time: a level from each point to the next.
#[derive(Clone, Debug, Default)]
struct Steps {
    grains: Vec<Grain>,
    /// Time in ps. Levels of one grain become two points: the highest level and the last one.
    grain: u64,
    peak: u32,
}

impl Steps {
    fn add(&mut self, time: u64, cells: u32) {
        self.peak = self.peak.max(cells);
        self.join(Grain { time, peak: cells, last_time: time, last: cells });
        if self.grains.len() >= 2 * GRAINS {
            self.coarsen();
        }
    }

    /// Adds a grain, or merges it into the last one if both have the same time.
    fn join(&mut self, new: Grain) {
        match self.grains.last_mut() {
            Some(old) if self.grain > 0 && new.time / self.grain == old.time / self.grain => {
                *old = Grain { time: old.time, peak: old.peak.max(new.peak), ..new };
            }
            _ => self.grains.push(new),
        }
    }

    /// Widens the grain until at most [`GRAINS`] grains are left.
    fn coarsen(&mut self) {
        let span = self.grains.last().map_or(0, |l| l.time) - self.grains.first().map_or(0, |f| f.time);
        self.grain = (self.grain * 2).max(span / GRAINS as u64).max(1);
        for grain in std::mem::take(&mut self.grains) {
            self.join(grain);
        }
    }

    /// Returns levels from 0 on, as microseconds and cells. The last level lasts until `end`.
    fn points(&self, end: u64) -> Vec<(f64, f64)> {
        let point = |time: u64, cells: u32| (time as f64 / 1e6, f64::from(cells));
        let mut points = Vec::with_capacity(2 * self.grains.len() + 2);
        points.extend(self.grains.first().map(|first| point(first.time, 0)));
        for grain in &self.grains {
            points.push(point(grain.time, grain.peak));
            if grain.last != grain.peak {
                points.push(point(grain.last_time, grain.last));
            }
        }
        points.extend(self.grains.last().map(|last| point(end.max(last.last_time), last.last)));
        points
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
    /// Corners of the level over time, in microseconds and cells.
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

    /// Returns true if every place was empty during the whole run.
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
            Line { name, points: steps.points(self.end) }
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
        assert!(steps.grains.len() < 2 * GRAINS);
        assert_eq!(steps.peak, 5_000);
        let highest = steps.grains.iter().max_by_key(|g| g.peak).unwrap();
        assert_eq!(highest.peak, 5_000);
        assert!(highest.time.abs_diff(777_777_000) <= steps.grain, "{highest:?}");
        assert!(steps.grains.windows(2).all(|w| w[0].last_time < w[1].time));
    }

    #[test]
    fn a_drawing_ends_with_the_last_level() {
        // Bursts, each of which is gone before the next one; then one that ends with the run.
        let mut steps = Steps::default();
        for n in 0..1_000_000u64 {
            steps.add(n * 1_000, if n % 10_000 < 5_000 { 100 } else { 0 });
        }
        assert!(steps.grain > 1_000, "levels share grains");
        steps.add(1_000_000_000, 700);
        steps.add(1_000_000_001, 0);
        let points = steps.points(1_000_000_002);
        assert_eq!(points.iter().map(|p| p.1).fold(0.0, f64::max), 700.0);
        assert_eq!(points.last(), Some(&(1_000.000_002, 0.0)));
        // No level lasts longer than a burst and a grain on each of its sides.
        let most = 5.0 + 2.0 * steps.grain as f64 / 1e6;
        let mut begin = None;
        for (time, cells) in points {
            assert!(begin.is_none_or(|from| time - from <= most), "{begin:?} until {time}");
            begin = (cells > 0.0).then(|| begin.unwrap_or(time));
        }
    }

    #[test]
    fn a_place_begins_empty_and_holds_its_last_level() {
        let mut steps = Steps::default();
        steps.add(1_000_000, 4);
        steps.add(3_000_000, 2);
        assert_eq!(steps.points(5_000_000), [(1.0, 0.0), (1.0, 4.0), (3.0, 2.0), (5.0, 2.0)]);
        assert!(Steps::default().points(5).is_empty());
    }
}
