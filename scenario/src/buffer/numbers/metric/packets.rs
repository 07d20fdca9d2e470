//! Numbers of packets that were sent on ports and left queues since counting began.

use super::{Number, Row, class, known};
use crate::buffer::device::bench::Bench;
use crate::buffer::device::events::SentPacket;
use sluice_asic::units::Time;
use std::collections::BTreeMap;

const FROM: &str = "port, class, from";

/// Packets sent on a port, the time at which counting began, and the present time.
struct Train {
    out: Vec<SentPacket>,
    since: Time,
    now: Time,
}

impl Train {
    fn ps(&self, out: Option<&SentPacket>) -> i128 {
        out.map_or(-1, |o| o.first_bit.saturating_since(self.since).as_ps().into())
    }
}

type OfTrain = fn(&Train) -> i128;
/// Getter for departures from a queue, in ps since counting began.
type OfTimes = fn(&[u64]) -> i128;

static DELIVERED: [Number<OfTrain>; 9] = [
    Number::new(
        "delivered",
        FROM,
        "packets",
        "packets sent on a port; class or from -1: any; any if absent",
        |t| t.out.len() as i128,
    ),
    Number::new("delivered.ce", FROM, "packets", "packets sent on a port with CE", |t| {
        t.out.iter().filter(|o| o.ce).count() as i128
    }),
    Number::new(
        "delivered.mbps",
        FROM,
        "Mb/s",
        "rate of the packets sent on a port since counting began, without FCS",
        |t| {
            let bits: i128 = t.out.iter().map(|o| i128::from(o.bytes) * 8).sum();
            let ps = i128::from(t.now.saturating_since(t.since).as_ps());
            if ps == 0 { 0 } else { bits * 1_000_000 / ps }
        },
    ),
    Number::new(
        "delivered.first_ps",
        FROM,
        "ps",
        "time of the first packet's first bit, since counting began; -1 if there is none",
        |t| t.ps(t.out.first()),
    ),
    Number::new(
        "delivered.last_ps",
        FROM,
        "ps",
        "time of the last packet's first bit, since counting began; -1 if there is none",
        |t| t.ps(t.out.last()),
    ),
    Number::new(
        "delivered.first_not_ce",
        "port",
        "",
        "number of the first packet without CE, from 1; 0 if all have it",
        |t| place(t.out.iter().position(|o| !o.ce)),
    ),
    Number::new(
        "delivered.last_ce",
        "port",
        "",
        "number of the last packet with CE, from 1; 0 if none has it",
        |t| place(t.out.iter().rposition(|o| o.ce)),
    ),
    Number::new(
        "delivered.reordered",
        "port",
        "packets",
        "packets sent after a later one of the same sender and queue",
        |t| reordered(&t.out),
    ),
    Number::new(
        "delivered.left_over",
        "port",
        "packets",
        "largest number of packets of other queues after the last packet of a queue",
        |t| left_over(&t.out),
    ),
];

static DEPARTED: [Number<OfTimes>; 2] = [
    Number::new(
        "departed.first_ps",
        "port, class",
        "ps",
        "time at which the first packet left the queue, since counting began; -1 if there is none",
        |times| times.first().map_or(-1, |t| i128::from(*t)),
    ),
    Number::new(
        "departed.gap_ps",
        "port, class",
        "ps",
        "longest time between two packets that left the queue",
        |times| times.windows(2).map(|w| w[1].saturating_sub(w[0])).max().unwrap_or(0).into(),
    ),
];

pub(super) fn rows() -> impl Iterator<Item = &'static Row> {
    DELIVERED.iter().map(|n| &n.row).chain(DEPARTED.iter().map(|n| &n.row))
}

impl Bench {
    pub(super) fn of_delivered(&self, name: &str, args: &[i128]) -> Result<i128, String> {
        let get = known(&DELIVERED, name)?;
        let port = self.port(args)?.number();
        let class = args.get(1).copied().filter(|c| *c >= 0);
        let from = args.get(2).copied().filter(|f| *f >= 0);
        let from = from.map(|front| self.dev(front).map(|dev| dev.number())).transpose()?;
        let of = |out: &&SentPacket| {
            out.port == port
                && class.is_none_or(|c| c == i128::from(out.queue))
                && from.is_none_or(|f| f == out.from)
        };
        let out = self.seen.out.iter().filter(of).copied().collect();
        Ok(get(&Train { out, since: self.mark, now: self.now }))
    }

    pub(super) fn of_departed(&self, name: &str, args: &[i128]) -> Result<i128, String> {
        let get = known(&DEPARTED, name)?;
        let (port, class) = (self.port(args)?.number(), class(args)?);
        let of = |(p, q, _): &&(u16, u8, Time)| *p == port && *q == class;
        let since = |(_, _, time): &(u16, u8, Time)| time.saturating_since(self.mark).as_ps();
        let times: Vec<u64> = self.seen.dequeued.iter().filter(of).map(since).collect();
        Ok(get(&times))
    }
}

/// Returns a position counted from 1; 0 for none.
fn place(at: Option<usize>) -> i128 {
    at.map_or(0, |at| at as i128 + 1)
}

/// Returns the number of packets sent after a later one of the same sender and queue.
fn reordered(out: &[SentPacket]) -> i128 {
    let mut last = BTreeMap::new();
    let mut found = 0;
    for o in out {
        let latest = last.entry((o.from, o.queue)).or_insert(o.tag);
        found += i128::from(o.tag < *latest);
        *latest = (*latest).max(o.tag);
    }
    found
}

/// Returns the largest number of packets of other queues after the last packet of a queue.
fn left_over(out: &[SentPacket]) -> i128 {
    let mut queues: Vec<u8> = out.iter().map(|o| o.queue).collect();
    queues.sort_unstable();
    queues.dedup();
    let behind = |queue: u8| out.iter().rposition(|o| o.queue == queue).map_or(0, |at| out.len() - 1 - at);
    queues.into_iter().map(behind).max().unwrap_or(0) as i128
}
