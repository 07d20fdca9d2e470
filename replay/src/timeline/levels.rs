//! A drawing of a timeline in bounded memory: levels, limits and pauses of each place. Every point that is kept was
//! reported, and the highest and the lowest level of each stretch are kept exactly.

use sluice_switch::{Subject, TimelineRow};
use std::collections::BTreeMap;

/// Most grains that a place keeps. A place with twice as many is thinned out to this number.
const GRAINS: usize = 512;
/// Number of lines of a drawing; more lines could not be distinguished.
const LINES: usize = 8;
/// Most pauses of a place that are kept apart. Beyond twice this number, the closest ones become one.
const PAUSES: usize = 1024;

/// A level, in cells, from a time in ps on.
type Point = (u64, u32);

/// Levels of a place within a grain of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Grain {
    first: Point,
    highest: Point,
    lowest: Point,
    last: Point,
}

impl Grain {
    const fn of(point: Point) -> Grain {
        Grain { first: point, highest: point, lowest: point, last: point }
    }

    /// Returns the points in order of time, each once.
    fn points(&self) -> impl Iterator<Item = Point> {
        let [one, other] = match self.highest.0 <= self.lowest.0 {
            true => [self.highest, self.lowest],
            false => [self.lowest, self.highest],
        };
        let mut last = None;
        [self.first, one, other, self.last]
            .into_iter()
            .filter(move |point| last.replace(*point) != Some(*point))
    }
}

/// One number over time: a level from each point to the next.
#[derive(Clone, Debug, Default)]
struct Steps {
    grains: Vec<Grain>,
    /// Time in ps. Levels of one grain become at most four points.
    grain: u64,
    /// The highest level of all, and the first time at which it was reached.
    peak: Point,
}

impl Steps {
    fn add(&mut self, time: u64, cells: u32) {
        if cells > self.peak.1 {
            self.peak = (time, cells);
        }
        self.join(Grain::of((time, cells)));
        if self.grains.len() >= 2 * GRAINS {
            self.coarsen();
        }
    }

    /// Adds a grain, or merges it into the last one if both have the same time.
    fn join(&mut self, new: Grain) {
        match self.grains.last_mut() {
            Some(old) if self.grain > 0 && new.first.0 / self.grain == old.first.0 / self.grain => {
                if new.highest.1 > old.highest.1 {
                    old.highest = new.highest;
                }
                if new.lowest.1 < old.lowest.1 {
                    old.lowest = new.lowest;
                }
                old.last = new.last;
            }
            _ => self.grains.push(new),
        }
    }

    /// Widens the grain until at most [`GRAINS`] grains are left.
    fn coarsen(&mut self) {
        let ends = (self.grains.first(), self.grains.last());
        let span = ends.1.map_or(0, |l| l.first.0) - ends.0.map_or(0, |f| f.first.0);
        self.grain = (self.grain * 2).max(span / GRAINS as u64).max(1);
        for grain in std::mem::take(&mut self.grains) {
            self.join(grain);
        }
    }

    fn last(&self) -> Option<u32> {
        self.grains.last().map(|grain| grain.last.1)
    }

    /// Returns levels as microseconds and cells. The last level lasts until `end`.
    fn points(&self, end: u64) -> Vec<(f64, f64)> {
        let mut points: Vec<Point> = self.grains.iter().flat_map(Grain::points).collect();
        points.extend(self.grains.last().map(|grain| (end.max(grain.last.0), grain.last.1)));
        points.into_iter().map(|(time, cells)| (micros(time), f64::from(cells))).collect()
    }
}

fn micros(ps: u64) -> f64 {
    ps as f64 / 1e6
}

/// Pauses of a place: begin and end, in ps.
#[derive(Clone, Debug, Default)]
struct Pauses {
    list: Vec<(u64, u64)>,
    begun: Option<u64>,
    /// Time of all pauses that have ended.
    total: u64,
    count: u64,
}

impl Pauses {
    fn add(&mut self, time: u64, paused: bool) {
        match (self.begun, paused) {
            (None, true) => self.begun = Some(time),
            (Some(from), false) => {
                self.begun = None;
                self.total += time - from;
                self.count += 1;
                self.list.push((from, time));
                if self.list.len() >= 2 * PAUSES {
                    self.coarsen();
                }
            }
            _ => {}
        }
    }

    /// Joins the pauses with the shortest gaps between them.
    fn coarsen(&mut self) {
        let mut gaps: Vec<u64> = self.list.windows(2).map(|pair| pair[1].0 - pair[0].1).collect();
        let middle = gaps.len() / 2;
        let (_, gap, _) = gaps.select_nth_unstable(middle);
        let gap = *gap;
        let mut joined: Vec<(u64, u64)> = Vec::with_capacity(PAUSES);
        for (from, to) in std::mem::take(&mut self.list) {
            match joined.last_mut() {
                Some(last) if from - last.1 <= gap => last.1 = to,
                _ => joined.push((from, to)),
            }
        }
        self.list = joined;
    }

    /// Ends a pause that lasts at the end of the run.
    fn until(&self, end: u64) -> Pauses {
        let mut ended = self.clone();
        ended.add(end, false);
        ended
    }
}

/// Level, limits and pauses of a place over time.
#[derive(Clone, Debug, Default)]
struct LevelLine {
    level: Steps,
    limit: Steps,
    pauses: Pauses,
}

/// Levels of places over time, in bounded memory for each place.
#[derive(Debug, Default)]
pub struct Levels {
    places: BTreeMap<(Subject, String, u16), LevelLine>,
    end: u64,
}

/// One place of a drawing. Times are in microseconds since the first packet, levels in cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Kind of the place.
    pub subject: Subject,
    /// Kind and name of the place.
    pub name: String,
    /// Name of the port of a group or queue, or of the pool.
    pub owner: String,
    /// Number of the group or queue at its port, or the partition.
    pub index: u16,
    /// Corners of the level over time.
    pub points: Vec<(f64, f64)>,
    /// Corners of the level over time at which a lossless group pauses its senders, any other group or queue takes no more,
    /// and a pool is full, as it was when the place's own level changed; empty if only the pool limits the place.
    pub limit: Vec<(f64, f64)>,
    /// Begin and end of pauses: of a group, it pauses its senders; of a queue, it may not send. Of more than 2,000 pauses,
    /// those with the shortest gaps are joined.
    pub pauses: Vec<(f64, f64)>,
    /// The first time of the highest level, and that level.
    pub peak: (f64, u32),
    /// Number of all pauses.
    pub paused_times: u64,
    /// Time of all pauses together.
    pub paused: f64,
}

impl Levels {
    /// Adds a row of a timeline. Rows come in order of time.
    pub fn add(&mut self, row: &TimelineRow<'_>) {
        let time = row.time.as_ps();
        self.end = self.end.max(time);
        let place = self.places.entry((row.subject, row.name.to_owned(), row.index)).or_default();
        if place.level.grains.is_empty() {
            place.level.add(time, 0);
        }
        place.level.add(time, row.level.cells);
        if let Some(limit) = row.limit.filter(|limit| place.limit.last() != Some(*limit)) {
            place.limit.add(time, limit);
        }
        place.pauses.add(time, row.level.paused);
    }

    /// Returns true if every place was empty during the whole run.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.values().all(|place| place.level.peak.1 == 0)
    }

    /// Returns the eight places with the highest peaks, in order of their kind, name and number.
    #[must_use]
    pub fn lines(&self) -> Vec<Line> {
        self.busiest(LINES, |_| true)
    }

    /// Returns the `most` places of some kinds with the highest peaks, in order of their kind, name and number. Places that
    /// were always empty are left out.
    #[must_use]
    pub fn busiest(&self, most: usize, of: impl Fn(Subject) -> bool) -> Vec<Line> {
        let mut busiest: Vec<_> = self
            .places
            .iter()
            .filter(|((subject, ..), place)| of(*subject) && place.level.peak.1 > 0)
            .collect();
        busiest.sort_by_key(|(key, place)| (std::cmp::Reverse(place.level.peak.1), *key));
        busiest.truncate(most);
        busiest.sort_by_key(|(key, _)| *key);
        busiest.into_iter().map(|(key, place)| self.line(key, place)).collect()
    }

    fn line(&self, (subject, owner, index): &(Subject, String, u16), place: &LevelLine) -> Line {
        let name = match subject {
            Subject::Buffer => "all of it".to_owned(),
            Subject::Group => format!("port {owner}, group {index}"),
            Subject::Queue => format!("port {owner}, queue {index}"),
            _ if *index == 0 => owner.clone(),
            _ => format!("{owner}, partition {index}"),
        };
        let Pauses { list, total, count, .. } = place.pauses.until(self.end);
        let (time, cells) = place.level.peak;
        Line {
            subject: *subject,
            name,
            owner: owner.clone(),
            index: *index,
            points: place.level.points(self.end),
            limit: place.limit.points(self.end),
            pauses: list.into_iter().map(|(from, to)| (micros(from), micros(to))).collect(),
            peak: (micros(time), cells),
            paused_times: count,
            paused: micros(total),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_asic::units::Time;
    use sluice_switch::Level;

    #[test]
    fn extrema_survive_however_many_points_there_are() {
        let mut steps = Steps::default();
        for n in 0..1_000_000u64 {
            let cells = match n {
                777_777 => 5_000,
                333_333 => 1,
                n => (n % 100) as u32 + 10,
            };
            steps.add(n * 1_000, cells);
        }
        assert!(steps.grains.len() < 2 * GRAINS);
        assert_eq!(steps.peak, (777_777_000, 5_000));
        let points = steps.points(0);
        assert!(points.len() < 8 * GRAINS + 1 && points.windows(2).all(|w| w[0].0 <= w[1].0));
        for kept in [(777.777, 5_000.0), (333.333, 1.0), (0.0, 10.0), (999.999, 109.0)] {
            assert!(points.contains(&kept), "{kept:?}");
        }
        // Every point was given.
        for (time, cells) in points {
            let n = (time * 1_000.0).round() as u64;
            assert!(matches!(n, 777_777 | 333_333) || cells == (n % 100) as f64 + 10.0, "{cells} at {n}");
        }
    }

    #[test]
    fn pauses_are_counted_and_joined() {
        let mut pauses = Pauses::default();
        for n in 0..10_000u64 {
            // Pauses of 3 ps, with gaps of 7 ps; after every hundredth one a gap of 1,000 ps more.
            let at = n * 10 + n / 100 * 1_000;
            pauses.add(at, true);
            pauses.add(at + 1, true);
            pauses.add(at + 3, false);
        }
        pauses.add(1_000_000, true);
        let ended = pauses.until(1_000_005);
        assert_eq!((ended.count, ended.total), (10_001, 30_005));
        assert!(ended.list.len() < 2 * PAUSES && ended.list.windows(2).all(|w| w[0].1 < w[1].0));
        assert_eq!(ended.list.last(), Some(&(1_000_000, 1_000_005)));
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
        let mut levels = Levels::default();
        let mut add = |ps: u64, cells: u32, limit: u32| {
            let level = Level { cells, paused: cells > 3, ..Level::default() };
            let time = Time::from_ps(ps);
            levels.add(&TimelineRow {
                time,
                subject: Subject::Queue,
                name: "8",
                index: 3,
                level,
                limit: Some(limit),
            });
        };
        add(1_000_000, 4, 100);
        add(3_000_000, 2, 100);
        add(5_000_000, 2, 90);
        let [line] = levels.lines().try_into().unwrap();
        assert_eq!(line.name, "port 8, queue 3");
        assert_eq!(line.points, [(1.0, 0.0), (1.0, 4.0), (3.0, 2.0), (5.0, 2.0), (5.0, 2.0)]);
        assert_eq!(line.limit, [(1.0, 100.0), (5.0, 90.0), (5.0, 90.0)]);
        assert_eq!(
            (line.pauses, line.paused_times, line.paused, line.peak),
            (vec![(1.0, 3.0)], 1, 2.0, (1.0, 4))
        );
        assert!(Steps::default().points(5).is_empty());
    }
}
