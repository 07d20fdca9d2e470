//! Count of cells with its watermarks.

use crate::units::Cells;

/// Reader of a watermark. Each reader clears its own watermark and no other's (model: buffer §1.9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reader {
    /// Watermark of the operator, cleared on request.
    User,
    /// Long-term watermark of the operator.
    Persistent,
    /// Watermark of telemetry, cleared each period.
    Periodic,
}

impl Reader {
    /// Every reader.
    pub const ALL: [Self; 3] = [Self::User, Self::Persistent, Self::Periodic];
}

/// Cells in use, and the most since each reader's last clear.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gauge {
    now: u32,
    /// Most cells since any reader's last clear.
    peak: u32,
    /// Per reader: most cells from its own last clear to the last clear of any reader.
    marks: [u32; 3],
}

impl Gauge {
    #[inline]
    pub(super) const fn add(&mut self, cells: u32) {
        self.now += cells;
        if self.now > self.peak {
            self.peak = self.now;
        }
    }

    /// Adds and removes cells.
    #[inline]
    pub(super) const fn touch(&mut self, cells: u32) {
        if self.now + cells > self.peak {
            self.peak = self.now + cells;
        }
    }

    #[inline]
    pub(super) const fn remove(&mut self, cells: u32) {
        self.now -= cells;
    }

    #[inline]
    pub(super) const fn get(&self) -> u32 {
        self.now
    }

    /// Returns the cells in use.
    pub const fn current(&self) -> Cells {
        Cells(self.now)
    }

    /// Returns the most cells that were in use at once since the reader's last clear.
    pub const fn watermark(&self, reader: Reader) -> Cells {
        let mark = self.marks[reader as usize];
        Cells(if mark > self.peak { mark } else { self.peak })
    }

    /// Restarts the reader's watermark from the cells in use.
    pub(super) fn clear(&mut self, reader: Reader) {
        for mark in &mut self.marks {
            *mark = self.peak.max(*mark);
        }
        self.marks[reader as usize] = self.now;
        self.peak = self.now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_do_not_disturb_each_other() {
        let mut gauge = Gauge::default();
        gauge.add(10);
        gauge.remove(7);
        gauge.clear(Reader::User);
        let marks = |g: &Gauge| Reader::ALL.map(|r| g.watermark(r).get());
        assert_eq!(marks(&gauge), [3, 10, 10]);
        gauge.touch(4);
        gauge.remove(1);
        assert_eq!(marks(&gauge), [7, 10, 10]);
        gauge.clear(Reader::Periodic);
        assert_eq!(marks(&gauge), [7, 10, 2]);
        gauge.clear(Reader::User);
        assert_eq!((marks(&gauge), gauge.current()), ([2, 10, 2], Cells(2)));
    }
}
