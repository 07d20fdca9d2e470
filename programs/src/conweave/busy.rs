//! Which paths are busy: an associative table of four ways, each a register array in a stage of its own, asked for two
//! sampled paths at once (model: conweave §2.6).

use super::Params;
use super::headers::Headers;
use sluice_build::*;

const WAYS: usize = 4;

/// What SrcToR knows of the two sampled paths
#[derive(Header, Debug)]
pub(super) struct Paths {
    /// First sample; in a NOTIFY the path that it names
    pub(super) first: Bits<8>,
    /// Second sample
    pub(super) second: Bits<8>,
    /// 1 when the first sample is busy
    pub(super) first_busy: Bits<1>,
    /// 1 when the second sample is busy
    pub(super) second_busy: Bits<1>,
    /// Way that a busy path belongs to: the low bits of its PathID
    pub(super) way: Bits<2>,
    /// The sample that is not busy, or the first one
    pub(super) good: Bits<8>,
    /// 1 when a sample is not busy
    pub(super) found: Bits<8>,
    /// The clock; of a NOTIFY until when the path that it names is busy
    pub(super) time: Bits<32>,
}

/// One way for one of the samples.
#[derive(Clone, Copy, Debug)]
struct Cell {
    check: RegisterActionRef,
    mark: RegisterActionRef,
    busy: Bits<1>,
}

/// The two samples and the busy tables.
#[derive(Clone, Copy, Debug)]
pub(super) struct Busy {
    pub(super) paths: Paths,
    sample_first: TableRef,
    sample_second: TableRef,
    cells: [[Cell; 2]; WAYS],
}

/// Declares samples and busy tables.
#[stage_program]
pub(super) fn busy(ig: &GressBuilder<'_>, p: &Params, h: Headers) -> Busy {
    let paths = ig.metadata::<Paths>();
    let Headers { m, .. } = h;
    /// The clock, as it is
    let first_draw = ig.hash::<51>("crc_64").inputs(list![m.now]).build();
    /// The clock, shuffled
    let second_draw = ig.hash::<51>(HashAlgorithm::Random { seed: 1 }).inputs(list![m.now]).build();
    let set_first = ig.action(|a, path: Arg<8>| paths.first = path);
    let set_second = ig.action(|a, path: Arg<8>| paths.second = path);
    /// Paths that the first sample is drawn from
    let first_paths = ig.profile(p.groups);
    let first_paths =
        first_paths.selector(SelectorMode::Resilient, first_draw, p.groups.min(256), 32).build();
    /// Paths that the second sample is drawn from
    let second_paths = ig.profile(p.groups);
    let second_paths =
        second_paths.selector(SelectorMode::Resilient, second_draw, p.groups.min(256), 32).build();
    /// First sample of the paths to the destination
    let sample_first =
        ig.table([exact(m.group)]).actions([set_first]).size(p.groups).profile(first_paths).build();
    /// Second sample of the paths to the destination
    let sample_second =
        ig.table([exact(m.group)]).actions([set_second]).size(p.groups).profile(second_paths).build();
    let cells = std::array::from_fn(|_| {
        [
            cell(ig, p, paths, paths.first, paths.first_busy),
            cell(ig, p, paths, paths.second, paths.second_busy),
        ]
    });
    Busy { paths, sample_first, sample_second, cells }
}

#[stage_program]
fn cell(ig: &GressBuilder<'_>, p: &Params, paths: Paths, sample: Bits<8>, busy: Bits<1>) -> Cell {
    /// A path of the group and until when it is busy; path 0 is none
    let path_busy = ig.register_pair::<32>(p.groups);
    /// Whether the sample is busy; what is over is forgotten
    let check = ig.register_action(path_busy, |r| {
        if serial(gt(r.hi, paths.time)) {
            if r.lo == sample.cast::<32>() {
                r.out = 1;
            }
        } else {
            r.lo = 0;
        }
    });
    /// The last NOTIFY of a way wins
    let mark = ig.register_action(path_busy, |r| {
        r.lo = sample.cast::<32>();
        r.hi = paths.time;
    });
    Cell { check, mark, busy }
}

impl Busy {
    /// Draws two paths of the group.
    pub(super) fn sample(&self, c: &mut Control<'_>) {
        c.run(self.sample_first.apply());
        c.run(self.sample_second.apply());
    }

    /// Asks all ways about both samples; a sample that is busy is not asked for again.
    pub(super) fn check(&self, c: &mut Control<'_>, h: Headers) {
        for cell in self.cells.iter().flatten() {
            c.if_(cell.busy.eq(0), |c| c.set(cell.busy, cell.check.execute(h.m.group)));
        }
        choose(c, self.paths);
    }

    /// Marks the path of a NOTIFY, given in both samples, in the way that it belongs to.
    pub(super) fn mark(&self, c: &mut Control<'_>, h: Headers) {
        for (way, cells) in (0u64..).zip(&self.cells) {
            c.if_(self.paths.way.eq(way), |c| {
                for cell in cells {
                    c.run(cell.mark.execute(h.m.group));
                }
            });
        }
    }
}

#[stage_program]
fn choose(c: &mut Control<'_>, paths: Paths) {
    c.block(|c| {
        if paths.first_busy == 0 {
            paths.good = paths.first;
            paths.found = 1;
        } else if paths.second_busy == 0 {
            paths.good = paths.second;
            paths.found = 1;
        } else {
            paths.good = paths.first;
        }
    });
}
