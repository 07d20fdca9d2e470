//! Busy paths: an associative table of four ways, looked up for two sampled paths (model: conweave §2.6).
//!
//! A way is one register array per sample, in a separate stage, because a packet can access an array only once. A
//! NOTIFY therefore writes the path to both arrays of its way.

use super::Params;
use super::headers::Headers;
use sluice_build::*;

const WAYS: usize = 4;

/// The two sampled paths, as SrcToR sees them
#[derive(Header, Debug)]
pub(super) struct Paths {
    /// PathID of the first sample; in a NOTIFY or a REPLY, the path that it names
    pub(super) first: Bits<8>,
    /// PathID of the second sample; in a NOTIFY or a REPLY, the path that it names
    pub(super) second: Bits<8>,
    /// 1 if the first sample is busy
    pub(super) first_busy: Bits<1>,
    /// 1 if the second sample is busy
    pub(super) second_busy: Bits<1>,
    /// Way of a busy path: the low bits of its PathID
    pub(super) way: Bits<2>,
    /// PathID of a sample that is not busy; the first sample if both are
    pub(super) good: Bits<8>,
    /// 1 if at least one sample is not busy
    pub(super) found: Bits<8>,
    /// Ticks: the time; in a NOTIFY or a REPLY, the time until which the path that it names is busy
    pub(super) time: Bits<32>,
}

/// The array of one way, for one of the samples.
#[derive(Clone, Copy, Debug)]
struct Cell {
    check: SubcontrolRef,
    mark: SubcontrolRef,
}

/// The two samples and the busy tables.
#[derive(Clone, Copy, Debug)]
pub(super) struct Busy {
    pub(super) paths: Paths,
    /// Draws two paths of the group.
    pub(super) sample: SubcontrolRef,
    /// Sets `paths.good` and `paths.found`.
    pub(super) check: SubcontrolRef,
    /// Marks the path of a NOTIFY, given in both samples, as busy until `paths.time`.
    pub(super) mark: SubcontrolRef,
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
    let sample = ig.subcontrol(|c| {
        sample_first.apply();
        sample_second.apply();
    });
    let ways: [[Cell; 2]; WAYS] = std::array::from_fn(|_| {
        [
            cell(ig, p, h, paths, (paths.first, paths.first_busy)),
            cell(ig, p, h, paths, (paths.second, paths.second_busy)),
        ]
    });
    let check = ig.subcontrol(|c| {
        for cell in ways.iter().flatten() {
            cell.check.apply();
        }
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
    let mark = ig.subcontrol(|c| {
        for (way, cells) in (0u64..).zip(&ways) {
            if paths.way == way {
                for cell in cells {
                    cell.mark.apply();
                }
            }
        }
    });
    Busy { paths, sample, check, mark }
}

#[stage_program]
fn cell(
    ig: &GressBuilder<'_>,
    p: &Params,
    h: Headers,
    paths: Paths,
    (sample, busy): (Bits<8>, Bits<1>),
) -> Cell {
    let group = h.m.group;
    /// A PathID of the group (0 = none), and the time until which the path is busy, in ticks
    let path_busy = ig.register_pair::<32>(p.groups);
    /// Returns 1 if the sample is busy; removes an expired entry
    let check = ig.register_action(path_busy, |r| {
        if serial(gt(r.hi, paths.time)) {
            if r.lo == sample.cast::<32>() {
                r.out = 1;
            }
        } else {
            r.lo = 0;
        }
    });
    /// Replaces the entry, whichever path it has
    let mark = ig.register_action(path_busy, |r| {
        r.lo = sample.cast::<32>();
        r.hi = paths.time;
    });
    /// Looks the sample up unless an earlier way has found it busy
    let check = ig.subcontrol(|c| {
        if busy == 0 {
            busy = check.execute(group);
        }
    });
    let mark = ig.subcontrol(|c| mark.execute(group));
    Cell { check, mark }
}
