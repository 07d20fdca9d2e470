//! Checks over a whole configuration, and the sums of the memory that they use.

use super::config::{BufferConfig, PgConfig, Rules};
use super::file::{Direction, PoolClass};
use super::problem::{Check, Sum, Sums};
use super::resolve::Resolver;
use super::threshold::Threshold;
use crate::units::{Bytes, Cells};
use std::collections::BTreeSet;

/// Runs all checks that need more than one entry; returns how the memory is divided.
pub(super) fn whole(r: &mut Resolver<'_>, config: &BufferConfig) -> Sums {
    let sums = sums(config);
    if sums.total() > config.size {
        let text = format!(
            "pools, headroom and reserved cells are {}, the memory has {}: {} too many; make a pool smaller",
            sums.total(),
            config.size,
            sums.total() - config.size
        );
        r.wrong(Check::OverCommit, "buffer", text);
    }
    pools(r, config);
    groups(r, config);
    classes(r, config);
    if config.rules == Rules::Tofino {
        tofino(r, config);
    }
    sums
}

fn sums(config: &BufferConfig) -> Sums {
    let times = u32::from(config.partitions);
    let mut parts = Vec::new();
    let mut part = |what: String, cells: Cells| parts.push(Sum { what, cells });
    let all = |size: Cells| Cells(size.get().saturating_mul(times));
    for pool in &config.ingress_pools {
        part(format!("{}, shared", pool.name), all(pool.size));
    }
    for pool in &config.headroom_pools {
        part(format!("{}, shared by lossless groups", pool.name), all(pool.size));
    }
    let private = |pg: &&PgConfig| pg.lossless.is_some_and(|l| l.headroom_pool.is_none());
    let own: Vec<&PgConfig> = pgs(config).filter(private).collect();
    if !own.is_empty() {
        let cells = own.iter().filter_map(|pg| pg.lossless).map(|l| l.cap).sum();
        part(format!("headroom of {} lossless groups, each its own", own.len()), cells);
    }
    let reserved: Vec<&PgConfig> = pgs(config).filter(|pg| pg.reserved > Cells::ZERO).collect();
    part(format!("reserved for {} groups", reserved.len()), reserved.iter().map(|pg| pg.reserved).sum());
    Sums { cell: config.cell, memory: config.size, parts }
}

fn pgs(config: &BufferConfig) -> impl Iterator<Item = &PgConfig> {
    config.ports.iter().flat_map(|p| p.groups.iter().flatten())
}

fn pools(r: &mut Resolver<'_>, config: &BufferConfig) {
    let file = r.file;
    for pool in &file.pool {
        if pool.size > file.buffer {
            let text = format!("size {} is more than the memory's {}", pool.size, file.buffer);
            r.wrong(Check::PoolSize, format!("pool `{}`", pool.name), text);
        }
        if pool.direction != Direction::Ingress
            && (pool.xoff.is_some() || pool.over_subscribe_ratio.is_some())
        {
            let text = "has xoff or over_subscribe_ratio, which only ingress pools have: remove it";
            r.wrong(Check::Class, format!("pool `{}`", pool.name), text);
        }
    }
    let sum = |direction: Direction, without: PoolClass| -> Bytes {
        file.pool.iter().filter(|p| p.direction == direction && p.class != without).map(|p| p.size).sum()
    };
    let ingress = sum(Direction::Ingress, PoolClass::Lossless);
    for pool in file.pool.iter().filter(|p| p.direction == Direction::Egress && p.class == PoolClass::Lossy) {
        if pool.size > ingress {
            let text = format!(
                "size {} is more than the ingress pools for lossy traffic, {ingress}: lossy packets would be refused at \
                 ingress",
                pool.size
            );
            r.wrong(Check::LossyPool, format!("pool `{}`", pool.name), text);
        }
    }
    lossless_pool(r, config);
}

/// Checks that the egress pools for lossless traffic hold all lossless traffic that ingress can admit.
fn lossless_pool(r: &mut Resolver<'_>, config: &BufferConfig) {
    let times = u64::from(config.partitions);
    let file = r.file;
    let is = |direction: Direction| move |p: &&super::file::PoolEntry| p.direction == direction;
    let egress = file.pool.iter().filter(is(Direction::Egress)).zip(&config.egress_pools);
    let lossless: Vec<u64> = egress
        .filter(|(p, _)| p.class == PoolClass::Lossless)
        .map(|(_, c)| u64::from(c.size.get()) * times)
        .collect();
    if lossless.is_empty() {
        return;
    }
    let ingress = file.pool.iter().filter(is(Direction::Ingress)).zip(&config.ingress_pools);
    let shared: u64 = ingress
        .filter(|(p, _)| p.class != PoolClass::Lossy)
        .map(|(_, c)| u64::from(c.size.get()) * times)
        .sum();
    let headroom: u64 = config.headroom_pools.iter().map(|p| u64::from(p.size.get()) * times).sum();
    let own = |pg: &PgConfig| {
        let l = pg.lossless?;
        let private = if l.headroom_pool.is_none() { l.cap } else { Cells::ZERO };
        Some(u64::from((pg.reserved + private).get()))
    };
    let reserved: u64 = pgs(config).filter_map(own).sum();
    let (need, have) = (shared + headroom + reserved, lossless.iter().sum::<u64>());
    if need.min(u64::from(config.size.get())) > have {
        let text = format!(
            "the egress pools for lossless traffic have {have} cells; ingress can admit {shared} shared + {headroom} \
             headroom + {reserved} reserved = {need}: make them larger, up to the memory"
        );
        r.wrong(Check::LosslessPool, "pool", text);
    }
}

/// Checks the numbers of each lossless group against its pools.
fn groups(r: &mut Resolver<'_>, config: &BufferConfig) {
    let seen: BTreeSet<_> = pgs(config)
        .filter_map(|pg| {
            let l = pg.lossless?;
            let size = config.ingress_pools.get(usize::from(pg.pool))?.size;
            Some((pg.threshold.at(size.get()), l.cap.get(), l.headroom_pool, l.xon.get(), l.xon_offset.get()))
        })
        .collect();
    for (limit, cap, headroom_pool, xon, xon_offset) in seen {
        let pool = headroom_pool.and_then(|p| config.headroom_pools.get(usize::from(p)));
        if let Some(pool) = pool.filter(|pool| cap > pool.size.get()) {
            let text =
                format!("xoff of {cap} cells is more than `{}` with {}: lower it", pool.name, pool.size);
            r.wrong(Check::HeadroomCap, "lossless profile", text);
        }
        if xon > limit {
            let text = format!(
                "xon of {xon} cells is above the largest threshold, {limit}: it would never be paused for long"
            );
            r.wrong(Check::Xon, "lossless profile", text);
        }
        if xon_offset > limit {
            let text =
                format!("xon_offset of {xon_offset} cells is above the largest threshold, {limit}: lower it");
            r.wrong(Check::Xon, "lossless profile", text);
        }
    }
}

/// Checks that each traffic class is lossless or lossy at both ingress and egress, and that its group and queue exist.
fn classes(r: &mut Resolver<'_>, config: &BufferConfig) {
    let reachable = config.maps.reachable();
    let ports = r.ports;
    for (port, info) in config.ports.iter().zip(ports).filter(|(_, info)| !info.internal) {
        let mut taken = 0u8;
        for (index, pg) in port.groups.iter().enumerate() {
            let own = pg.and_then(|pg| pg.lossless).map_or(0, |l| l.priorities);
            if taken & own != 0 {
                let text = "pauses a PFC priority that another group pauses too; give each its own";
                r.wrong(Check::Class, format!("priority group {index}"), text);
            }
            taken |= own;
        }
        for tc in (0..8usize).filter(|tc| reachable >> tc & 1 != 0) {
            let (pg, queue) =
                (usize::from(config.maps.tc_to_pg[tc]), usize::from(config.maps.tc_to_queue[tc]));
            let group = port.groups.get(pg).copied().flatten();
            if group.is_none() {
                let text =
                    format!("leads to priority group {pg}, which has no profile on port {}", info.name);
                r.wrong(Check::Map, format!("traffic class {tc}"), text);
            }
            let Some(of) = port.queues.get(queue) else {
                let text = format!("leads to queue {queue}; port {} has {}", info.name, port.queues.len());
                r.wrong(Check::Map, format!("traffic class {tc}"), text);
                continue;
            };
            let lossless = group.is_some_and(|pg| pg.lossless.is_some());
            if group.is_some() && lossless != of.lossless {
                let word = |lossless| if lossless { "lossless" } else { "lossy" };
                let text = format!(
                    "is {} at ingress (priority group {pg}) and {} at egress (queue {queue}): make them alike",
                    word(lossless),
                    word(of.lossless)
                );
                r.wrong(Check::Class, format!("traffic class {tc}"), text);
            }
        }
    }
}

/// Checks the limits of Tofino's registers (model: tm §1, §2).
fn tofino(r: &mut Resolver<'_>, config: &BufferConfig) {
    for (what, n) in [("ingress", config.ingress_pools.len()), ("egress", config.egress_pools.len())] {
        if n > 4 {
            r.wrong(
                Check::Silicon,
                "pool",
                format!("{n} {what} pools; the chip has 4 application pools each way"),
            );
        }
    }
    let offsets: BTreeSet<u32> =
        pgs(config).filter_map(|pg| pg.lossless).map(|l| l.xon_offset.get()).collect();
    if offsets.len() > 32 {
        r.wrong(Check::Silicon, "profile", format!("{} hysteresis values; the chip has 32", offsets.len()));
    }
    for offset in offsets.iter().filter(|o| *o % 8 != 0) {
        let text = format!("xon_offset of {offset} cells; hysteresis comes in steps of 8 cells");
        r.wrong(Check::Silicon, "profile", text);
    }
    let shared = |pg: &PgConfig| pg.lossless.is_some() && pg.threshold == Threshold::Unlimited;
    if pgs(config).any(shared) {
        let text =
            "a lossless group without a threshold is never paused: give it baf, dynamic_th or static_th";
        r.wrong(Check::Threshold, "profile", text);
    }
}
