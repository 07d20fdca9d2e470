//! I1 to I8 of `docs/model/buffer.md` over random configurations and events, and against the naive ledger. I9 needs a
//! network and I10 queues, so tests of the device check these.
//!
//! Stated exceptions: of I2, copies of one packet share their ingress cells; of I3, shared cells of an ingress pool may
//! pass its size by one packet per lossless group.

use crate::buffer::ledger::{Fate, Ledger, Rules};
use crate::buffer::support::{Bench, CONFIG_A, changed, ports};
use proptest::prelude::*;
use sluice_asic::tm::buffer::{BufferConfig, BufferFile, PoolKind, Reader};

fn rules() -> impl Strategy<Value = Rules> {
    let pools = (200i64..3000, 0i64..300, 100i64..3000, -8i32..=7, -8i32..=7);
    let groups = (0i64..20, 0i64..120, 0i64..20, 0i64..40, 0i64..60);
    (pools, groups, any::<bool>(), prop::bool::weighted(0.3), 300i64..4000).prop_map(
        |(
            (ingress, headroom, lossy, alpha, queue_alpha),
            (reserved, cap, queue_min, xon, xon_offset),
            pre,
            rescan,
            memory,
        )| {
            Rules {
                cell: 256,
                memory: memory.max(ingress).max(lossy),
                ingress,
                headroom: headroom.max(1),
                lossy,
                reserved,
                cap,
                alpha,
                queue_min,
                queue_alpha,
                xon,
                xon_offset,
                pre_admission: pre,
                rescan,
            }
        },
    )
}

/// The ledger's rules as a profile file.
fn config(r: &Rules) -> BufferConfig {
    let bytes = |cells: i64| format!("\"{}B\"", cells * 256);
    let (test, rescan) = (if r.pre_admission { "pre-admission" } else { "post-admission" }, r.rescan);
    let lossless = format!(
        "size = {}, xoff = {}, xon = {}, xon_offset = {}, dynamic_th = {}",
        bytes(r.reserved),
        bytes(r.cap),
        bytes(r.xon),
        bytes(r.xon_offset),
        r.alpha
    );
    let accept = "accept = [\"over-commit\", \"headroom-cap\", \"xon\", \"lossy-pool\", \"lossless-pool\"]";
    let head = format!("{accept}\ndecisions = {{ xoff_test = \"{test}\", rescan = {rescan} }}\ncell = ");
    let text = changed(
        CONFIG_A,
        &[
            ("cell = ", &head),
            ("buffer = \"2560000B\"", &format!("buffer = {}", bytes(r.memory))),
            ("size = \"2560000B\"", &format!("size = {}", bytes(r.memory))),
            (
                "size = \"2304000B\", xoff = \"153600B\"",
                &format!("size = {}, xoff = {}", bytes(r.ingress), bytes(r.headroom)),
            ),
            ("size = \"2048000B\"", &format!("size = {}", bytes(r.lossy))),
            (
                "size = \"2560B\", xoff = \"51200B\", xon = \"2560B\", xon_offset = \"5120B\", dynamic_th = -3",
                &lossless,
            ),
            (
                "size = \"2048B\", dynamic_th = -2",
                &format!("size = {}, dynamic_th = {}", bytes(r.queue_min), r.queue_alpha),
            ),
        ],
    );
    let file = BufferFile::parse("random", &text).unwrap();
    file.resolve(&ports(4, 100)).unwrap_or_else(|p| panic!("{p}"))
}

/// Checks I1, I2, I3, I5, I6, I7 and that the ledger agrees.
fn check(bench: &Bench, ledger: &Ledger, config: &BufferConfig, r: &Rules) -> Result<(), TestCaseError> {
    let b = &bench.buffer;
    let (mut shared, mut headroom, mut all, mut lossy, mut lossless_cells) = (0i64, 0i64, 0i64, 0i64, 0i64);
    for (port, pg, state) in b.all_groups() {
        let of = |g: &sluice_asic::tm::buffer::Gauge| i64::from(g.current().get());
        let (s, h, own) = (of(state.shared()), of(state.headroom()), i64::from(state.reserved().get()));
        prop_assert_eq!(s, ledger.get("pg shared", port, pg), "shared {} {}", port, pg);
        prop_assert_eq!(h, ledger.get("headroom", port, pg));
        prop_assert_eq!(own, ledger.get("pg reserved", port, pg));
        prop_assert_eq!(i64::from(state.is_xoff()), ledger.get("xoff", port, pg), "xoff {} {}", port, pg);
        prop_assert!(own <= i64::from(state.config().reserved.get()));
        prop_assert!(h <= r.cap && (h == 0 || state.is_xoff()));
        for reader in Reader::ALL {
            prop_assert!(state.shared().watermark(reader) >= state.shared().current());
            prop_assert!(i64::from(state.headroom().watermark(reader).get()) <= r.cap);
        }
        (shared, headroom, all) = (shared + s, headroom + h, all + s + h + own);
    }
    let mut waiting = 0;
    for (port, queue, state) in b.all_queues() {
        let (s, own) = (i64::from(state.shared().current().get()), i64::from(state.reserved().get()));
        prop_assert_eq!(s, ledger.get("queue shared", port, queue));
        prop_assert_eq!(own, ledger.get("queue min", port, queue));
        if state.config().lossless {
            prop_assert_eq!(state.dropped().packets, 0);
            lossless_cells += s;
        } else {
            lossy += s;
        }
        waiting += s + own;
    }
    let total = i64::from(b.total().current().get());
    prop_assert_eq!((all, waiting, total), (total, total, ledger.total()));
    prop_assert!(total <= r.memory);
    for pool in b.pools(config) {
        let used = i64::from(pool.used.current().get());
        match (pool.kind, pool.name) {
            (PoolKind::Ingress, _) => prop_assert_eq!(used, shared),
            (PoolKind::Headroom, _) => {
                prop_assert_eq!(used, headroom);
                prop_assert!(used <= r.headroom);
            }
            (PoolKind::Egress, "egress_lossy_pool") => {
                prop_assert_eq!(used, lossy);
                prop_assert!(used <= r.lossy);
            }
            (PoolKind::Egress, _) => prop_assert_eq!(used, lossless_cells),
        }
    }
    let ports: u32 = (0..4).filter_map(|p| b.port(p)).map(|[i, _]| i.current().get()).sum();
    prop_assert_eq!(i64::from(ports), total);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_buffer_agrees_with_the_ledger(
        r in rules(),
        events in prop::collection::vec((0u8..10, 0u16..4, 0u16..4, 0usize..4, 0usize..5, any::<prop::sample::Index>()), 1..600),
    ) {
        let config = config(&r);
        let (mut bench, mut ledger) = (Bench::new(&config), Ledger::new(r.clone()));
        let (mut received, mut dropped, mut released) = (0, 0, 0);
        for (kind, in_port, out_port, class, size, index) in events {
            if kind < 3 && ledger.len() > 0 {
                let at = index.index(ledger.len());
                ledger.release(at);
                let charge = bench.held.remove(at).unwrap();
                bench.buffer.release(charge);
                released += 1;
            } else {
                let class = [0u8, 3, 4, 1][class];
                let bytes = [64, 257, 1500, 9000, 256][size];
                received += 1;
                let pg = if class == 3 || class == 4 { class } else { 0 };
                let found = match bench.send(in_port, out_port, pg, class, bytes) {
                    Ok(()) => Fate::In,
                    Err(rule) => {
                        dropped += 1;
                        Fate::Dropped(rule.name())
                    }
                };
                prop_assert_eq!(found, ledger.send(in_port, class, out_port, bytes));
            }
            bench.edges.extend(bench.buffer.edges());
            check(&bench, &ledger, &config, &r)?;
        }
        // I4 and I8.
        let lost: u64 = bench.buffer.all_groups().map(|g| g.2.dropped().packets).sum::<u64>()
            + bench.buffer.all_queues().map(|q| q.2.dropped().packets).sum::<u64>();
        prop_assert_eq!((received, lost), (dropped + released + bench.held.len() as u64, dropped));
        // Pauses and resumes of a group alternate; a lossy group has none.
        for port in 0..4 {
            for pg in 0..8 {
                let edges: Vec<bool> = bench.edges.iter().filter(|e| (e.port, e.pg) == (port, pg)).map(|e| e.xoff).collect();
                prop_assert!(edges.iter().enumerate().all(|(i, xoff)| *xoff == (i % 2 == 0)));
                prop_assert!(edges.is_empty() || pg == 3 || pg == 4);
            }
        }
        while let Some(charge) = bench.held.pop_front() {
            bench.buffer.release(charge);
        }
        prop_assert_eq!(bench.buffer.total().current().get(), 0);
        prop_assert!(bench.buffer.all_groups().all(|(_, _, g)| !g.is_xoff()));
    }
}

/// The soak test of `docs/model/buffer.md`: 200,000 random steps on Config A, then everything drains.
#[test]
fn soak() {
    let r = Rules {
        cell: 256,
        memory: 10_000,
        ingress: 9_000,
        headroom: 600,
        lossy: 8_000,
        reserved: 10,
        cap: 200,
        alpha: -3,
        queue_min: 8,
        queue_alpha: -2,
        xon: 10,
        xon_offset: 20,
        pre_admission: false,
        rescan: false,
    };
    let config = config(&r);
    let (mut bench, mut ledger) = (Bench::new(&config), Ledger::new(r.clone()));
    let mut state = 1u64;
    let mut draw = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    for step in 0..200_000 {
        if draw(100) < 47 && ledger.len() > 0 {
            let at = draw(ledger.len().min(16) as u64) as usize;
            ledger.release(at);
            bench.buffer.release(bench.held.remove(at).unwrap());
        } else {
            let class = [0, 3, 4][draw(3) as usize];
            let (i, o, bytes) = (draw(4) as u16, draw(4) as u16, [64, 257, 1500, 9000][draw(4) as usize]);
            let found =
                bench.send(i, o, class, class, bytes).map_or_else(|r| Fate::Dropped(r.name()), |()| Fate::In);
            assert_eq!(found, ledger.send(i, class, o, bytes), "step {step}");
        }
        if step % 1000 == 0 {
            check(&bench, &ledger, &config, &r).unwrap();
        }
    }
    check(&bench, &ledger, &config, &r).unwrap();
    assert!(bench.drops.len() > 1000 && bench.buffer.all_groups().any(|(_, _, g)| g.pauses() > 10));
    bench.drain(usize::MAX);
    assert_eq!(bench.buffer.total().current().get(), 0);
    assert!(bench.buffer.all_groups().all(|(_, _, g)| !g.is_xoff()));
}
