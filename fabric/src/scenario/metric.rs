//! The numbers that expectations are about, declared once: name, arguments, unit, meaning.
//!
//! `port` is a front-panel port; `class` is a priority group, a queue and a PFC priority alike, 3 if absent. What leaves
//! ports is counted since the last step `collect`, everything else since the start. What may not live here: steps.

use super::bench::Bench;
use super::invariants;
use super::seen::Out;
use sluice_asic::names::nearest;
use sluice_asic::port::DevPort;
use sluice_asic::tm::buffer::{Gauge, PgState, PoolView, QueueState, Reader};
use sluice_pipeline::switch::PortFlowView;

/// Name, arguments, unit, meaning.
pub const TABLE: [(&str, &str, &str, &str); 58] = [
    ("pg.reserved", "port, class", "cells", "reserved cells that the group uses"),
    ("pg.shared", "port, class", "cells", "shared cells that it uses"),
    ("pg.headroom", "port, class", "cells", "headroom cells that it uses"),
    ("pg.total", "port, class", "cells", "all of them"),
    ("pg.xoff", "port, class", "", "1 while it wants its senders paused"),
    ("pg.pauses", "port, class", "times", "how often it began to"),
    ("pg.drops", "port, class", "packets", "packets that ingress rules refused"),
    (
        "pg.shared_watermark",
        "port, class, reader",
        "cells",
        "most shared cells; reader 0 user, 1 persistent, 2 periodic",
    ),
    ("pg.headroom_watermark", "port, class, reader", "cells", "most headroom cells"),
    ("pg.headroom_bytes", "port, class", "bytes", "the user's headroom watermark in bytes of cells"),
    ("queue.reserved", "port, class", "cells", "reserved cells that the queue uses"),
    ("queue.shared", "port, class", "cells", "shared cells that it uses"),
    ("queue.depth", "port, class", "cells", "both"),
    ("queue.drops", "port, class", "packets", "packets that egress rules refused"),
    ("queue.shared_watermark", "port, class, reader", "cells", "most shared cells"),
    ("queue.marked", "port, class", "packets", "packets that it marked"),
    ("queue.wred_drops", "port, class", "packets", "packets that WRED dropped"),
    ("queue.detected", "port, class", "storms", "storms that the watchdog saw"),
    ("queue.restored", "port, class", "storms", "storms that ended"),
    ("queue.stormed", "port, class", "", "1 during a storm"),
    ("queue.watchdog_drops", "port, class", "packets", "packets that the watchdog dropped"),
    ("pool.NAME.used", "partition", "cells", "cells of a pool in use; blanks of its name are `_`"),
    ("pool.NAME.watermark", "partition", "cells", "most cells of it in use"),
    ("pool.NAME.size", "partition", "cells", "its size"),
    ("headroom_pool.used", "partition", "cells", "cells of the headroom pool in use"),
    ("headroom_pool.watermark", "partition", "cells", "most cells of it in use"),
    ("headroom_pool.size", "partition", "cells", "its size"),
    ("total", "", "cells", "all cells in use"),
    ("total_watermark", "", "cells", "most cells in use"),
    ("pfc.tx", "port, class", "frames", "PFC frames sent with the class's enable bit"),
    ("pfc.tx_all", "", "frames", "PFC frames sent by all ports"),
    ("pfc.rx", "port, class", "frames", "PFC frames received with the class's enable bit"),
    ("pfc.pauses", "port, class", "times", "pauses of the port's own queue that began"),
    ("pfc.resumes", "port, class", "times", "pauses that ended"),
    ("pfc.paused", "port, class", "", "1 while the queue is paused"),
    ("pfc.paused_ps", "port, class", "ps", "time that it was"),
    ("pfc.paused_quanta", "port, class", "quanta", "the same in quanta of the line"),
    ("pfc.pausing", "port, class", "", "1 while the port keeps its peer paused"),
    ("pfc.ignored_pauses", "port", "frames", "802.3x PAUSE frames, ignored"),
    ("rx_errors", "port", "frames", "frames that the MAC could not use"),
    ("received", "", "packets", "packets that came in"),
    ("sent", "", "packets", "packets that left, MAC control frames too"),
    ("held", "", "packets", "packets inside"),
    ("drops", "", "packets", "packets that were dropped"),
    ("drops.REASON", "", "packets", "packets that were dropped for a reason"),
    (
        "delivered",
        "port, class, from",
        "packets",
        "packets that left a port; class and from -1 for any, any if absent",
    ),
    ("delivered.ce", "port, class, from", "packets", "of those, how many with CE"),
    ("delivered.mbps", "port, class, from", "Mb/s", "their bytes a second since counting began, without FCS"),
    ("delivered.first_not_ce", "port", "", "place of the first packet without CE, from 1; 0 if all have it"),
    ("delivered.last_ce", "port", "", "place of the last packet with CE, from 1; 0 if none has it"),
    ("delivered.reordered", "port", "packets", "packets behind a later one of the same sender and queue"),
    ("delivered.left_over", "port", "packets", "most packets of other queues behind the last one of a queue"),
    (
        "departed.first_ps",
        "port, class",
        "ps",
        "when the first packet left the queue, since counting began; -1 if none",
    ),
    ("departed.gap_ps", "port, class", "ps", "longest time between two packets that left the queue"),
    (
        "flood.xoff",
        "",
        "packets",
        "the packet of its group with which the last group was paused, from 1; 0 if none",
    ),
    ("flood.first_xoff", "", "packets", "the same of the first group"),
    ("flood.drop", "", "packets", "the packet that was dropped, from 1; 0 if none"),
    ("violations", "", "", "invariants that do not hold"),
];

/// The unit of a number.
#[must_use]
pub fn unit(name: &str) -> &'static str {
    let row = TABLE.iter().find(|(known, ..)| *known == name || generic(name) == *known);
    row.map_or("", |(_, _, unit, _)| unit)
}

/// The name with the part that users choose as the table has it.
fn generic(name: &str) -> String {
    if let Some(rest) = name.strip_prefix("pool.") {
        let last = rest.rsplit_once('.').map_or(rest, |(_, last)| last);
        return format!("pool.NAME.{last}");
    }
    match name.starts_with("drops.") {
        true => "drops.REASON".to_owned(),
        false => name.to_owned(),
    }
}

fn reader(args: &[i128]) -> Reader {
    match args.get(2) {
        Some(1) => Reader::Persistent,
        Some(2) => Reader::Periodic,
        _ => Reader::User,
    }
}

fn mark(gauge: &Gauge, args: &[i128]) -> i128 {
    gauge.watermark(reader(args)).get().into()
}

impl Bench {
    /// A number, if there is one of this name.
    pub(super) fn number(&self, name: &str, args: &[i128]) -> Option<Result<i128, String>> {
        if !TABLE.iter().any(|(known, ..)| generic(name) == *known) {
            return None;
        }
        Some(self.find(name, args))
    }

    fn find(&self, name: &str, args: &[i128]) -> Result<i128, String> {
        if let Some(rest) = name.strip_prefix("pg.") {
            return self.of_group(rest, args);
        }
        if let Some(rest) = name.strip_prefix("queue.") {
            return self.of_queue(rest, args);
        }
        if let Some(rest) = name.strip_prefix("pool.") {
            let (pool, what) = rest.rsplit_once('.').unwrap_or((rest, ""));
            return self.of_pool(pool, what, args);
        }
        if let Some(what) = name.strip_prefix("headroom_pool.") {
            let pool = self.config.headroom_pools.first().map_or("", |p| &p.name);
            return self.of_pool(&pool.replace(' ', "_"), what, args);
        }
        if let Some(rest) = name.strip_prefix("pfc.") {
            return self.of_pfc(rest, args);
        }
        if let Some(reason) = name.strip_prefix("drops.") {
            return self.of_reason(reason);
        }
        if name == "delivered" || name.starts_with("delivered.") {
            return self.of_delivered(name, args);
        }
        if let Some(rest) = name.strip_prefix("departed.") {
            return self.of_departed(rest, args);
        }
        let totals = self.switch.totals();
        Ok(match name {
            "total" => self.buffer()?.total().current().get().into(),
            "total_watermark" => self.buffer()?.total().watermark(Reader::User).get().into(),
            "rx_errors" => {
                let port = self.port(args)?.number();
                totals.ports.iter().find(|p| p.dev_port == port).map_or(0, |p| p.rx_errors.into())
            }
            "received" => totals.received.into(),
            "sent" => totals.sent.into(),
            "drops" => totals.dropped.into(),
            "held" => self.switch.held().total().into(),
            "flood.xoff" => self.flooded.xoff.into(),
            "flood.first_xoff" => self.flooded.first_xoff.into(),
            "flood.drop" => self.flooded.drop.into(),
            "violations" => invariants::violations(self)?.len() as i128,
            _ => return Err(format!("`{name}` has no value")),
        })
    }

    fn port(&self, args: &[i128]) -> Result<DevPort, String> {
        let front = args.first().ok_or("a port is missing: the first argument is a front-panel port")?;
        self.dev(*front)
    }

    /// The index of a port in the buffer's list: front-panel ports come first, in order.
    fn index(&self, args: &[i128]) -> Result<u16, String> {
        self.port(args)?;
        args.first().and_then(|n| u16::try_from(*n).ok()).ok_or_else(|| "a port is missing".to_owned())
    }

    fn class(args: &[i128]) -> Result<u8, String> {
        let class = args.get(1).copied().unwrap_or(3);
        u8::try_from(class)
            .ok()
            .filter(|c| *c < 8)
            .ok_or_else(|| format!("class {class}; classes are 0 to 7"))
    }

    fn of_group(&self, what: &str, args: &[i128]) -> Result<i128, String> {
        let (port, class) = (self.index(args)?, Self::class(args)?);
        let missing = || format!("priority group {class} of port {port} has no profile");
        let pg: &PgState = self.buffer()?.group(port, class).ok_or_else(missing)?;
        Ok(match what {
            "reserved" => pg.reserved().get().into(),
            "shared" => pg.shared().current().get().into(),
            "headroom" => pg.headroom().current().get().into(),
            "total" => self.buffer()?.pg_total(port, class).get().into(),
            "xoff" => pg.is_xoff().into(),
            "pauses" => pg.pauses().into(),
            "drops" => pg.dropped().packets.into(),
            "shared_watermark" => mark(pg.shared(), args),
            "headroom_watermark" => mark(pg.headroom(), args),
            _ => mark(pg.headroom(), args) * i128::from(self.config.cell.get()),
        })
    }

    fn of_queue(&self, what: &str, args: &[i128]) -> Result<i128, String> {
        let (port, class) = (self.index(args)?, Self::class(args)?);
        let missing = || format!("port {port} has no queue {class}");
        let queue: &QueueState = self.buffer()?.queue(port, class).ok_or_else(missing)?;
        let of = |view: &PortFlowView<'_>| view.queues.get(usize::from(class)).copied().unwrap_or_default();
        let flow = || self.with_port(args, of);
        Ok(match what {
            "reserved" => queue.reserved().get().into(),
            "shared" => queue.shared().current().get().into(),
            "depth" => self.buffer()?.depth(port, class).get().into(),
            "drops" => queue.dropped().packets.into(),
            "shared_watermark" => mark(queue.shared(), args),
            "marked" => flow()?.marked.into(),
            "wred_drops" => flow()?.wred_dropped.into(),
            "detected" => flow()?.detected.into(),
            "restored" => flow()?.restored.into(),
            "stormed" => flow()?.stormed.into(),
            _ => flow()?.watchdog_dropped.into(),
        })
    }

    fn with_port<T>(&self, args: &[i128], of: impl Fn(&PortFlowView<'_>) -> T) -> Result<T, String> {
        let port = self.port(args)?.number();
        let view = self.view()?;
        let found = view.ports.iter().find(|p| p.dev_port == port).map(of);
        found.ok_or_else(|| format!("dev_port {port} has no flow control"))
    }

    fn of_pool(&self, pool: &str, what: &str, args: &[i128]) -> Result<i128, String> {
        let partition = args.first().copied().unwrap_or(0);
        let name = |view: &PoolView<'_>| view.name.replace(' ', "_");
        let found = self.buffer()?.pools(&self.config);
        let found =
            found.filter(|view| name(view) == pool).find(|view| i128::from(view.partition) == partition);
        let view = found.ok_or_else(|| {
            let names: Vec<String> = self.buffer().map_or_else(
                |_| Vec::new(),
                |b| b.pools(&self.config).filter(|v| v.partition == 0).map(|v| name(&v)).collect(),
            );
            format!("no pool `{pool}` in partition {partition}; pools are {}", names.join(", "))
        })?;
        Ok(match what {
            "used" => view.used.current().get().into(),
            "watermark" => view.used.watermark(Reader::User).get().into(),
            _ => view.size.get().into(),
        })
    }

    fn of_pfc(&self, what: &str, args: &[i128]) -> Result<i128, String> {
        if what == "tx_all" {
            return Ok(self.switch.totals().made.pfc.into());
        }
        let class = usize::from(Self::class(args)?);
        self.with_port(args, |p| {
            let stats = p.received[class];
            match what {
                "tx" => p.sent[class].into(),
                "rx" => stats.frames.into(),
                "pauses" => stats.pauses.into(),
                "resumes" => stats.resumes.into(),
                "paused" => i128::from(p.paused >> class & 1),
                "paused_ps" => stats.paused.as_ps().into(),
                "paused_quanta" => p.paused_quanta[class].into(),
                "pausing" => i128::from(p.pausing >> class & 1),
                _ => p.ignored_pauses.into(),
            }
        })
    }

    fn of_reason(&self, reason: &str) -> Result<i128, String> {
        let names = || self.switch.totals().reasons();
        let program = self.switch.program();
        let found = names().find(|(r, _)| r.name(program) == reason);
        found.map(|(_, n)| n.into()).ok_or_else(|| {
            let near = nearest(reason, names().map(|(r, _)| r.name(program)));
            format!(
                "no drop reason `{reason}`{}",
                near.map_or(String::new(), |n| format!("; did you mean `{n}`?"))
            )
        })
    }

    /// What left a port, of a class and a sender.
    fn out(&self, args: &[i128]) -> Result<Vec<Out>, String> {
        let port = self.port(args)?.number();
        let class = args.get(1).copied().filter(|c| *c >= 0);
        let from = match args.get(2).copied().filter(|f| *f >= 0) {
            Some(front) => Some(self.dev(front)?.number()),
            None => None,
        };
        let of = |out: &&Out| {
            out.port == port
                && class.is_none_or(|c| c == i128::from(out.queue))
                && from.is_none_or(|f| f == out.from)
        };
        Ok(self.seen.out.iter().filter(of).copied().collect())
    }

    fn of_delivered(&self, name: &str, args: &[i128]) -> Result<i128, String> {
        let out = self.out(args)?;
        let place = |at: Option<usize>| at.map_or(0, |at| at as i128 + 1);
        Ok(match name {
            "delivered" => out.len() as i128,
            "delivered.ce" => out.iter().filter(|o| o.ce).count() as i128,
            "delivered.first_not_ce" => place(out.iter().position(|o| !o.ce)),
            "delivered.last_ce" => place(out.iter().rposition(|o| o.ce)),
            "delivered.mbps" => {
                let bits: i128 = out.iter().map(|o| i128::from(o.bytes) * 8).sum();
                let ps = i128::from(self.now.saturating_since(self.mark).as_ps());
                if ps == 0 { 0 } else { bits * 1_000_000 / ps }
            }
            "delivered.reordered" => reordered(&out),
            _ => left_over(&out),
        })
    }

    fn of_departed(&self, what: &str, args: &[i128]) -> Result<i128, String> {
        let (port, class) = (self.port(args)?.number(), Self::class(args)?);
        let of = |(p, q, _): &&(u16, u8, _)| *p == port && *q == class;
        let times: Vec<_> = self.seen.dequeued.iter().filter(of).map(|(_, _, time)| *time).collect();
        Ok(match what {
            "first_ps" => times.first().map_or(-1, |t| t.saturating_since(self.mark).as_ps().into()),
            _ => {
                let gaps = times.windows(2).map(|w| w[1].saturating_since(w[0]).as_ps());
                gaps.max().unwrap_or(0).into()
            }
        })
    }
}

/// Packets behind a later one of the same sender and queue.
fn reordered(out: &[Out]) -> i128 {
    let mut last = std::collections::BTreeMap::new();
    let mut found = 0;
    for o in out {
        let latest = last.entry((o.from, o.queue)).or_insert(o.tag);
        found += i128::from(o.tag < *latest);
        *latest = (*latest).max(o.tag);
    }
    found
}

/// Most packets of other queues behind the last one of a queue.
fn left_over(out: &[Out]) -> i128 {
    let mut queues: Vec<u8> = out.iter().map(|o| o.queue).collect();
    queues.sort_unstable();
    queues.dedup();
    let behind = |queue: u8| out.iter().rposition(|o| o.queue == queue).map_or(0, |at| out.len() - 1 - at);
    queues.into_iter().map(behind).max().unwrap_or(0) as i128
}
