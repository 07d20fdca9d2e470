//! Statistics of a capture's flowlets, for each of several timeouts.

use super::FlowKey;
use crate::decimals;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// Counts flowlets for several timeouts in one pass over the capture.
#[derive(Clone, Debug)]
pub struct Census {
    /// Timeouts in ps, in the order given.
    timeouts: Vec<u64>,
    flows: BTreeMap<FlowKey, OpenFlowlets>,
    closed: Vec<Closed>,
    frames: u64,
    bytes: u64,
    skipped: u64,
    first: Option<u64>,
    last: u64,
}

/// A flow and its open flowlet for each timeout. `last` is the time of the flow's last packet, ps.
#[derive(Clone, Debug)]
struct OpenFlowlets {
    last: u64,
    open: Vec<Open>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Open {
    start: u64,
    packets: u64,
    bytes: u64,
}

/// Ended flowlets of one timeout: number of flowlets by packets and by bytes, and the sum of their durations, ps.
#[derive(Clone, Debug, Default)]
struct Closed {
    packets: BTreeMap<u64, u64>,
    bytes: BTreeMap<u64, u64>,
    duration: u128,
}

/// Mean and order statistics of whole numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// Mean; 0 if there are no values.
    #[serde(serialize_with = "decimals::one")]
    pub mean: f64,
    /// The smallest value that at least half of all values do not exceed.
    pub median: u64,
    /// The smallest value that at least 99 % of all values do not exceed.
    pub p99: u64,
    /// Largest value.
    pub max: u64,
}

/// Statistics of the flowlets for one timeout.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Flowlet timeout, ps: a longer gap ends the flowlet.
    pub timeout_ps: u64,
    /// Number of flowlets of all flows.
    pub flowlets: u64,
    /// Packets per flowlet.
    pub packets: Spread,
    /// Bytes per flowlet, without FCS.
    pub bytes: Spread,
    /// Mean time from a flowlet's first packet to its last one, ps.
    #[serde(rename = "duration_mean_ps", serialize_with = "whole")]
    pub duration_ps: f64,
    /// Mean number of active flowlets at any time; a flowlet is active until the timeout after its last packet. This is
    /// the mean number of live entries of a flowlet table.
    #[serde(rename = "alive_mean", serialize_with = "decimals::one")]
    pub alive: f64,
}

fn whole<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(value.round())
}

/// Flowlet statistics of a capture.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Number of flows.
    pub flows: u64,
    /// Frames that belong to a flow.
    pub frames: u64,
    /// Bytes of these frames, without FCS.
    pub bytes: u64,
    /// Frames without IPv4 or IPv6.
    pub skipped: u64,
    /// Time from the first frame of any flow to the last one, ps.
    pub span_ps: u64,
    /// One row per timeout.
    #[serde(rename = "timeouts")]
    pub rows: Vec<Row>,
}

impl Census {
    /// Creates a census for these timeouts, in ps. A gap of exactly the timeout does not end a flowlet.
    #[must_use]
    pub fn new(timeouts: &[u64]) -> Census {
        Census {
            timeouts: timeouts.to_vec(),
            flows: BTreeMap::new(),
            closed: vec![Closed::default(); timeouts.len()],
            frames: 0,
            bytes: 0,
            skipped: 0,
            first: None,
            last: 0,
        }
    }

    /// Counts a frame that belongs to no flow.
    pub fn skip(&mut self) {
        self.skipped += 1;
    }

    /// Adds a frame of `bytes` bytes at time `ps`: ps since any origin, not before the flow's previous frame.
    pub fn add(&mut self, key: FlowKey, ps: u64, bytes: u32) {
        self.frames += 1;
        self.bytes += u64::from(bytes);
        self.first = Some(self.first.map_or(ps, |first| first.min(ps)));
        self.last = self.last.max(ps);
        let begin = Open { start: ps, packets: 0, bytes: 0 };
        let flow = self
            .flows
            .entry(key)
            .or_insert_with(|| OpenFlowlets { last: ps, open: vec![begin; self.closed.len()] });
        let gap = ps.saturating_sub(flow.last);
        for ((timeout, closed), open) in self.timeouts.iter().zip(&mut self.closed).zip(&mut flow.open) {
            if gap > *timeout {
                closed.close(*open, flow.last);
                *open = begin;
            }
            open.packets += 1;
            open.bytes += u64::from(bytes);
        }
        flow.last = flow.last.max(ps);
    }

    /// Ends all open flowlets and returns the statistics.
    #[must_use]
    pub fn finish(mut self) -> Report {
        for flow in self.flows.values() {
            for (closed, open) in self.closed.iter_mut().zip(&flow.open) {
                closed.close(*open, flow.last);
            }
        }
        let span_ps = self.last - self.first.unwrap_or(self.last);
        let rows =
            self.timeouts.iter().zip(&self.closed).map(|(t, closed)| closed.row(*t, span_ps)).collect();
        Report {
            flows: self.flows.len() as u64,
            frames: self.frames,
            bytes: self.bytes,
            skipped: self.skipped,
            span_ps,
            rows,
        }
    }
}

impl Closed {
    fn close(&mut self, open: Open, last: u64) {
        *self.packets.entry(open.packets).or_default() += 1;
        *self.bytes.entry(open.bytes).or_default() += 1;
        self.duration += u128::from(last - open.start);
    }

    fn row(&self, timeout_ps: u64, span_ps: u64) -> Row {
        let flowlets: u64 = self.packets.values().sum();
        let each = |sum: u128| if flowlets == 0 { 0.0 } else { sum as f64 / flowlets as f64 };
        let busy = self.duration + u128::from(timeout_ps) * u128::from(flowlets);
        Row {
            timeout_ps,
            flowlets,
            packets: Spread::of(&self.packets),
            bytes: Spread::of(&self.bytes),
            duration_ps: each(self.duration),
            alive: if span_ps == 0 { 0.0 } else { busy as f64 / (span_ps + timeout_ps) as f64 },
        }
    }
}

impl Spread {
    /// Computes the statistics of values, given the number of times that each occurs.
    #[must_use]
    pub fn of(values: &BTreeMap<u64, u64>) -> Spread {
        let count: u64 = values.values().sum();
        if count == 0 {
            return Spread::default();
        }
        let sum: u128 = values.iter().map(|(value, n)| u128::from(*value) * u128::from(*n)).sum();
        let quantile = |percent: u64| {
            let rank = (u128::from(count) * u128::from(percent)).div_ceil(100);
            let mut seen = 0u128;
            let found = values.iter().find(|(_, n)| {
                seen += u128::from(**n);
                seen >= rank
            });
            found.map_or(0, |(value, _)| *value)
        };
        let max = values.keys().next_back().copied().unwrap_or(0);
        Spread { mean: sum as f64 / count as f64, median: quantile(50), p99: quantile(99), max }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flowlets::flow_key;
    use proptest::prelude::*;

    fn key(flow: u8) -> FlowKey {
        let mut frame = [0; 54];
        frame[12..16].copy_from_slice(&[8, 0, 0x45, 0]);
        frame[29] = flow;
        flow_key(&frame).unwrap()
    }

    #[test]
    fn a_gap_of_the_timeout_ends_nothing() {
        let mut census = Census::new(&[99, 100, 101]);
        for ps in [0, 100, 200, 1_000] {
            census.add(key(1), ps, 60);
        }
        census.add(key(2), 50, 1_000);
        census.skip();
        let report = census.finish();
        assert_eq!((report.flows, report.frames, report.bytes, report.skipped), (2, 5, 1_240, 1));
        let flowlets: Vec<u64> = report.rows.iter().map(|r| r.flowlets).collect();
        assert_eq!(flowlets, [5, 3, 3]);
        let row = report.rows[1];
        assert_eq!((row.packets.median, row.packets.max, row.bytes.max), (1, 3, 1_000));
        assert_eq!(row.packets.mean, 5.0 / 3.0);
        assert_eq!(row.duration_ps, 200.0 / 3.0);
    }

    proptest! {
        /// Every packet is in exactly one flowlet, and longer timeouts never give more flowlets.
        #[test]
        fn packets_are_kept_and_flowlets_fall(steps in prop::collection::vec((0..4u8, 0..500u64, 60..1500u32), 1..200)) {
            let timeouts = [0, 10, 100, 200, 1_000];
            let mut census = Census::new(&timeouts);
            let mut now = 0;
            for (flow, gap, bytes) in &steps {
                now += gap;
                census.add(key(*flow), now, *bytes);
            }
            let report = census.finish();
            for row in &report.rows {
                prop_assert!((row.packets.mean * row.flowlets as f64 - steps.len() as f64).abs() < 1e-6);
                prop_assert!((row.bytes.mean * row.flowlets as f64 - report.bytes as f64).abs() < 1e-3);
            }
            prop_assert!(report.rows.windows(2).all(|r| r[0].flowlets >= r[1].flowlets));
        }
    }
}
