//! Invariants of a shared buffer at any time (model: buffer §8, I1 to I7).

use super::bench::Bench;
use sluice_asic::tm::buffer::{Buffer, BufferConfig, PoolKind, PoolView, Reader};

/// Returns the violated invariants, each with its numbers.
///
/// # Errors
/// If the device has no shared buffer.
pub(crate) fn violations(bench: &Bench) -> Result<Vec<String>, String> {
    let (buffer, config) = (bench.buffer()?, &bench.config);
    let mut found = Vec::new();
    sums(buffer, config, &mut found);
    limits(buffer, config, &mut found);
    lossless_egress(bench, &mut found)?;
    if !bench.switch.is_conserved() {
        found.push(
            "I4: packets received and created are not as many as packets sent, dropped and held".to_owned(),
        );
    }
    Ok(found)
}

/// I1 and I2: a pool's use is the sum over its users, and ingress and egress hold the same cells.
fn sums(buffer: &Buffer, config: &BufferConfig, found: &mut Vec<String>) {
    let partition = |port: u16| config.ports.get(usize::from(port)).map_or(0, |p| p.partition);
    for pool in buffer.pools(config) {
        let used = pool.used.current().get();
        let sum: u32 = match pool.kind {
            PoolKind::Ingress | PoolKind::Headroom => buffer
                .all_groups()
                .filter(|(port, _, pg)| {
                    partition(*port) == pool.partition && is_in(config, &pool, pg.config())
                })
                .map(|(_, _, pg)| match pool.kind {
                    PoolKind::Headroom => pg.headroom().current().get(),
                    _ => pg.shared().current().get(),
                })
                .sum(),
            PoolKind::Egress => buffer
                .all_queues()
                .filter(|(port, _, q)| {
                    let own = config.egress_pools.get(usize::from(q.config().pool));
                    partition(*port) == pool.partition && own.is_some_and(|p| p.name == pool.name)
                })
                .map(|(_, _, q)| q.shared().current().get())
                .sum(),
        };
        if used != sum {
            found.push(format!("I1: pool {} has {used} cells, its users {sum}", pool.name));
        }
    }
    let ingress: u32 = buffer.all_groups().map(|(port, pg, _)| buffer.pg_total(port, pg).get()).sum();
    let total = buffer.total().current().get();
    if ingress != total {
        found.push(format!("I2: groups hold {ingress} cells, the memory {total}"));
    }
}

fn is_in(config: &BufferConfig, pool: &PoolView<'_>, pg: &sluice_asic::tm::buffer::PgConfig) -> bool {
    let own = match pool.kind {
        PoolKind::Headroom => {
            pg.lossless.and_then(|l| l.headroom_pool).and_then(|p| config.headroom_pools.get(usize::from(p)))
        }
        _ => config.ingress_pools.get(usize::from(pg.pool)),
    };
    own.is_some_and(|own| own.name == pool.name)
}

/// I6: egress never drops lossless packets, except by the watchdog or WRED, which drop on purpose.
fn lossless_egress(bench: &Bench, found: &mut Vec<String>) -> Result<(), String> {
    let view = bench.view()?;
    for (port, queue, state) in view.buffer.all_queues().filter(|(_, _, q)| q.config().lossless) {
        let own = view.ports.get(usize::from(port)).and_then(|p| p.queues.get(usize::from(queue)));
        let meant = own.map_or(0, |q| q.wred_dropped.packets + q.watchdog_dropped);
        if state.dropped().packets > meant {
            found.push(format!("I6: lossless queue {queue} of port {port} has dropped packets"));
        }
    }
    Ok(())
}

/// I3, I5, I6, I7: limits, XOFF while headroom is in use, no pauses of lossy groups, watermarks.
fn limits(buffer: &Buffer, config: &BufferConfig, found: &mut Vec<String>) {
    if buffer.total().current() > config.size {
        found.push(format!("I3: {} in use of a memory of {}", buffer.total().current(), config.size));
    }
    for (port, pg, state) in buffer.all_groups() {
        let own = state.config();
        let cap = own.lossless.map_or(0, |l| l.cap.get());
        let headroom = state.headroom().current().get();
        if state.reserved() > own.reserved || headroom > cap {
            found.push(format!(
                "I3: group {pg} of port {port} uses more reserved or headroom cells than it has"
            ));
        }
        if headroom > 0 && !state.is_xoff() {
            found.push(format!("I5: group {pg} of port {port} uses headroom without XOFF"));
        }
        if own.lossless.is_none() && state.pauses() > 0 {
            found.push(format!("I6: lossy group {pg} of port {port} has paused its senders"));
        }
        let marks = [state.shared(), state.headroom()];
        if marks.iter().any(|gauge| gauge.watermark(Reader::Persistent) < gauge.current()) {
            found.push(format!("I7: a watermark of group {pg} of port {port} is below what is in use"));
        }
    }
    for pool in buffer.pools(config).filter(|p| p.kind == PoolKind::Headroom) {
        if pool.used.current() > pool.size {
            found.push(format!("I3: {} of {} headroom cells in use", pool.used.current(), pool.size));
        }
    }
}
