//! Numbers of the shared buffer: priority groups, queues, pools.

use super::{Number, Row, known};
use crate::buffer::device::bench::Bench;
use sluice_asic::tm::buffer::{Gauge, PgState, PoolView, QueueState, Reader};
use sluice_asic::units::Cells;
use sluice_switch::QueueFlowView;

const PLACE: &str = "port, class";
const READ: &str = "port, class, reader";

/// A priority group, and the bytes of a cell.
struct Group<'a> {
    pg: &'a PgState,
    cell: u64,
}

/// A queue's accounting, and its marks and watchdog.
struct Queue<'a> {
    state: &'a QueueState,
    flow: QueueFlowView,
}

type OfGroup = fn(&Group<'_>, Reader) -> i128;
type OfQueue = fn(&Queue<'_>, Reader) -> i128;
type OfPool = fn(&PoolView<'_>) -> i128;

fn cells(cells: Cells) -> i128 {
    cells.get().into()
}

fn mark(gauge: &Gauge, reader: Reader) -> i128 {
    cells(gauge.watermark(reader))
}

static GROUPS: [Number<OfGroup>; 10] = [
    Number::new("pg.reserved", PLACE, "cells", "reserved cells in use by the group", |g, _| {
        cells(g.pg.reserved())
    }),
    Number::new("pg.shared", PLACE, "cells", "shared cells in use by the group", |g, _| {
        cells(g.pg.shared().current())
    }),
    Number::new("pg.headroom", PLACE, "cells", "headroom cells in use by the group", |g, _| {
        cells(g.pg.headroom().current())
    }),
    Number::new(
        "pg.total",
        PLACE,
        "cells",
        "reserved, shared and headroom cells in use by the group",
        |g, _| cells(g.pg.reserved() + g.pg.shared().current() + g.pg.headroom().current()),
    ),
    Number::new("pg.xoff", PLACE, "", "1 while the group wants its senders paused (XOFF)", |g, _| {
        g.pg.is_xoff().into()
    }),
    Number::new("pg.pauses", PLACE, "times", "number of times that the group entered XOFF", |g, _| {
        g.pg.pauses().into()
    }),
    Number::new("pg.drops", PLACE, "packets", "packets that ingress admission dropped", |g, _| {
        g.pg.dropped().packets.into()
    }),
    Number::new(
        "pg.shared_watermark",
        READ,
        "cells",
        "largest number of shared cells in use; reader 0 user, 1 persistent, 2 periodic",
        |g, r| mark(g.pg.shared(), r),
    ),
    Number::new("pg.headroom_watermark", READ, "cells", "largest number of headroom cells in use", |g, r| {
        mark(g.pg.headroom(), r)
    }),
    Number::new(
        "pg.headroom_bytes",
        PLACE,
        "bytes",
        "the user's headroom watermark, cells times the bytes of a cell",
        |g, _| mark(g.pg.headroom(), Reader::User) * i128::from(g.cell),
    ),
];

static QUEUES: [Number<OfQueue>; 11] = [
    Number::new("queue.reserved", PLACE, "cells", "reserved cells in use by the queue", |q, _| {
        cells(q.state.reserved())
    }),
    Number::new("queue.shared", PLACE, "cells", "shared cells in use by the queue", |q, _| {
        cells(q.state.shared().current())
    }),
    Number::new("queue.depth", PLACE, "cells", "reserved and shared cells in use by the queue", |q, _| {
        cells(q.state.reserved() + q.state.shared().current())
    }),
    Number::new("queue.drops", PLACE, "packets", "packets that egress admission dropped", |q, _| {
        q.state.dropped().packets.into()
    }),
    Number::new("queue.shared_watermark", READ, "cells", "largest number of shared cells in use", |q, r| {
        mark(q.state.shared(), r)
    }),
    Number::new("queue.marked", PLACE, "packets", "packets that the queue marked CE", |q, _| {
        q.flow.marked.packets.into()
    }),
    Number::new("queue.wred_drops", PLACE, "packets", "packets that WRED dropped", |q, _| {
        q.flow.wred_dropped.packets.into()
    }),
    Number::new("queue.detected", PLACE, "storms", "storms that the watchdog detected", |q, _| {
        q.flow.detected.into()
    }),
    Number::new("queue.restored", PLACE, "storms", "storms that ended", |q, _| q.flow.restored.into()),
    Number::new("queue.stormed", PLACE, "", "1 during a storm", |q, _| q.flow.stormed.into()),
    Number::new("queue.watchdog_drops", PLACE, "packets", "packets that the watchdog dropped", |q, _| {
        q.flow.watchdog_dropped.into()
    }),
];

/// Numbers of pools, by the last part of their names.
static POOLS: [Number<OfPool>; 3] = [
    Number::new(
        "pool.NAME.used",
        "partition",
        "cells",
        "cells of the pool in use; NAME is the name of the pool with `_` in place of blanks",
        |p| cells(p.used.current()),
    ),
    Number::new(
        "pool.NAME.watermark",
        "partition",
        "cells",
        "largest number of cells of the pool in use",
        |p| cells(p.used.watermark(Reader::User)),
    ),
    Number::new("pool.NAME.size", "partition", "cells", "size of the pool", |p| cells(p.size)),
];

/// Numbers of the headroom pool, which need no pool name.
static HEADROOM_POOL: [Row; 3] = [
    headroom("headroom_pool.used", "cells of the headroom pool in use"),
    headroom("headroom_pool.watermark", "largest number of cells of the headroom pool in use"),
    headroom("headroom_pool.size", "size of the headroom pool"),
];

const fn headroom(name: &'static str, meaning: &'static str) -> Row {
    Row { name, arguments: "partition", unit: "cells", meaning }
}

pub(super) fn rows() -> impl Iterator<Item = &'static Row> {
    let groups = GROUPS.iter().map(|n| &n.row);
    let queues = QUEUES.iter().map(|n| &n.row);
    groups.chain(queues).chain(POOLS.iter().map(|n| &n.row)).chain(&HEADROOM_POOL)
}

fn reader(args: &[i128]) -> Reader {
    match args.get(2) {
        Some(1) => Reader::Persistent,
        Some(2) => Reader::Periodic,
        _ => Reader::User,
    }
}

impl Bench {
    pub(super) fn of_group(&self, name: &str, args: &[i128]) -> Result<i128, String> {
        let (port, class) = self.place(args)?;
        let missing = || format!("priority group {class} of port {port} has no profile");
        let pg = self.buffer()?.group(port, class).ok_or_else(missing)?;
        Ok(known(&GROUPS, name)?(&Group { pg, cell: self.config.cell.get() }, reader(args)))
    }

    pub(super) fn of_queue(&self, name: &str, args: &[i128]) -> Result<i128, String> {
        let (port, class) = self.place(args)?;
        let state = self.buffer()?.queue(port, class);
        let state = state.ok_or_else(|| format!("port {port} has no queue {class}"))?;
        let flow = self.with_port(args, |view| view.queues.get(usize::from(class)).copied())?;
        Ok(known(&QUEUES, name)?(&Queue { state, flow: flow.unwrap_or_default() }, reader(args)))
    }

    pub(super) fn of_pool(&self, name: &str, args: &[i128]) -> Result<i128, String> {
        let (own, what) = name.rsplit_once('.').unwrap_or((name, ""));
        let pool = match own.strip_prefix("pool.") {
            Some(pool) => pool.to_owned(),
            None => self.config.headroom_pools.first().map_or_else(String::new, |p| p.name.replace(' ', "_")),
        };
        let get = known(&POOLS, &format!("pool.NAME.{what}"))?;
        let partition = args.first().copied().unwrap_or(0);
        let called = |view: &PoolView<'_>| view.name.replace(' ', "_");
        let buffer = self.buffer()?;
        let views = || buffer.pools(&self.config);
        let found = views().find(|view| called(view) == pool && i128::from(view.partition) == partition);
        let view = found.ok_or_else(|| {
            let names: Vec<String> = views().filter(|v| v.partition == 0).map(|v| called(&v)).collect();
            format!("no pool `{pool}` in partition {partition}; pools are {}", names.join(", "))
        })?;
        Ok(get(&view))
    }
}
