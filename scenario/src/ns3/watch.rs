//! PFC frames and lengths of queues during a run, as the simulators record them (model: int §4.5, §4.6).

use sluice_asic::units::{Duration, Time};
use sluice_fabric::network::{LinkFrame, LinkId, Observer, SwitchId, Way};
use sluice_switch::{Left, QueueEvent};
use std::collections::BTreeMap;

/// Time between two samples of HPCC's simulator.
pub(super) const SAMPLE: Duration = Duration::from_nanos(100);
/// Bytes of a column of a histogram.
const COLUMN: u64 = 1_000;
/// Queue of packets that the simulators do not count: acknowledgements.
const UNCOUNTED: u8 = 1;

/// The receiver of a PFC frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Heard {
    /// The far end of a link, seen in this direction.
    Link(LinkId, bool),
    /// The host at this dev_port of a switch.
    Host(SwitchId, u16),
}

/// A PFC frame that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pause {
    /// Arrival of its last bit; of a frame to a host, the time at which it was sent.
    pub(super) time: Time,
    pub(super) to: Heard,
    /// True if it pauses, false if it ends pauses.
    pub(super) pauses: bool,
}

/// How often a port's queues had each length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Histogram {
    /// Samples by thousands of bytes.
    pub(super) columns: Vec<u64>,
    bytes: u64,
    /// Number of the next sample.
    next: u64,
}

impl Histogram {
    /// Counts all samples before sample number `until` with the present length.
    fn count(&mut self, until: u64) {
        let samples = until.saturating_sub(self.next);
        if samples == 0 {
            return;
        }
        let column = (self.bytes / COLUMN) as usize;
        if self.columns.len() <= column {
            self.columns.resize(column + 1, 0);
        }
        self.columns[column] += samples;
        self.next = until;
    }
}

/// When queues are sampled: times of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sampling {
    /// First sample of the run.
    pub(super) start: Time,
    /// Samples before it, which found nothing.
    pub(super) before: u64,
    /// No sample is after this time.
    pub(super) end: Time,
}

impl Sampling {
    /// Returns the number of samples before `time`, or up to it.
    fn samples(self, time: Time, inclusive: bool) -> u64 {
        let last = time.min(self.end);
        if last < self.start {
            return 0;
        }
        let span = last.saturating_since(self.start).as_ps();
        let whole = span / SAMPLE.as_ps();
        let on_time = span.is_multiple_of(SAMPLE.as_ps()) && last == time && !inclusive;
        if on_time { whole } else { whole + 1 }
    }
}

/// Watches one switch.
#[derive(Clone, Debug, Default)]
pub(super) struct Watch {
    sampling: Option<Sampling>,
    /// Histograms by dev_port.
    pub(super) queues: BTreeMap<u16, Histogram>,
    pub(super) pauses: Vec<Pause>,
}

impl Watch {
    /// Watches a switch with these dev_ports.
    pub(super) fn new(sampling: Option<Sampling>, ports: impl Iterator<Item = u16>) -> Watch {
        let queues = ports.filter(|_| sampling.is_some()).map(|port| (port, Histogram::default()));
        Watch { sampling, queues: queues.collect(), pauses: Vec::new() }
    }

    /// Returns the samples before the run, which found nothing.
    pub(super) fn before(&self) -> u64 {
        self.sampling.map_or(0, |sampling| sampling.before)
    }

    fn change(&mut self, event: &QueueEvent, enters: bool) {
        let Some(sampling) = self.sampling.filter(|_| event.qid != UNCOUNTED) else { return };
        let Some(queue) = self.queues.get_mut(&event.port) else { return };
        queue.count(sampling.samples(event.time, false));
        let bytes = event.bytes.get();
        queue.bytes = if enters { queue.bytes + bytes } else { queue.bytes.saturating_sub(bytes) };
    }

    /// Counts the samples up to and including `time`.
    pub(super) fn count(&mut self, time: Time) {
        if let Some(sampling) = self.sampling {
            let until = sampling.samples(time, true);
            self.queues.values_mut().for_each(|queue| queue.count(until));
        }
    }

    fn pause(&mut self, time: Time, to: Heard, frame: &[u8]) {
        if let Some(pauses) = pauses(frame) {
            self.pauses.push(Pause { time, to, pauses });
        }
    }
}

/// Returns whether a PFC frame pauses any priority; `None` if the frame is no PFC frame.
fn pauses(frame: &[u8]) -> Option<bool> {
    // Two addresses, EtherType, opcode, vector of priorities, eight times.
    const MAC_CONTROL: [u8; 4] = [0x88, 0x08, 0x01, 0x01];
    if frame.get(12..16)? != MAC_CONTROL {
        return None;
    }
    let vector = frame.get(17)?;
    let times = frame.get(18..34)?.chunks(2);
    Some(times.enumerate().any(|(priority, time)| vector >> priority & 1 != 0 && time != [0, 0]))
}

impl Observer for Watch {
    fn on_link(&mut self, _: SwitchId, frame: &LinkFrame, head: &[u8], _: &[u8]) {
        if let (true, Ok(first)) = (frame.mac, frame.fate) {
            let last = first + frame.left.last_bit.saturating_since(frame.left.first_bit);
            self.pause(last, Heard::Link(frame.link, frame.way == Way::Forth), head);
        }
    }

    fn mac_sent(&mut self, from: SwitchId, frame: &Left, bytes: &[u8]) {
        self.pause(frame.last_bit, Heard::Host(from, frame.egress_port), bytes);
    }

    fn enqueued(&mut self, _: SwitchId, event: &QueueEvent) {
        self.change(event, true);
    }

    fn dequeued(&mut self, _: SwitchId, event: &QueueEvent) {
        self.change(event, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_asic::units::{Bytes, Cells};

    fn event(ns: u64, qid: u8, bytes: u64) -> QueueEvent {
        let (time, bytes) = (Time::from_nanos(ns), Bytes(bytes));
        QueueEvent { tag: 0, port: 5, qid, time, depth: Cells(0), bytes }
    }

    #[test]
    fn samples_are_100_ns_apart_and_count_data_alone() {
        let sampling = Sampling { start: Time::from_nanos(1_000), before: 0, end: Time::from_nanos(2_000) };
        let mut watch = Watch::new(Some(sampling), [5].into_iter());
        let at = SwitchId(0);
        watch.enqueued(at, &event(1_150, 0, 1_500)); // samples at 1000 and 1100 find nothing
        watch.enqueued(at, &event(1_160, 1, 9_000)); // an acknowledgement's queue
        watch.enqueued(at, &event(1_300, 0, 1_500)); // 1200 finds 1500 bytes
        watch.dequeued(at, &event(1_501, 0, 1_500)); // 1300, 1400, 1500 find 3000
        watch.count(Time::from_nanos(1_600));
        assert_eq!(watch.queues[&5].columns, [2, 2, 0, 3]);
        watch.count(Time::from_nanos(99_999)); // up to 2000: eleven samples in all
        assert_eq!(watch.queues[&5].columns, [2, 6, 0, 3]);
    }

    #[test]
    fn frames_that_end_pauses_are_told_from_those_that_pause() {
        let mut frame = vec![0; 60];
        frame[12..18].copy_from_slice(&[0x88, 0x08, 0x01, 0x01, 0, 1 << 3]);
        assert_eq!(pauses(&frame), Some(false));
        frame[18 + 6] = 0xff;
        assert_eq!(pauses(&frame), Some(true));
        frame[13] = 0;
        assert_eq!(pauses(&frame), None);
        assert_eq!(pauses(&frame[..10]), None);
    }
}
