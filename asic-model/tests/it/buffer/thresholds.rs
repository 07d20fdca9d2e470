//! Rows 1 to 15 of the scenarios in `docs/model/buffer.md` (§8).

use crate::buffer::support::{Bench, CONFIG_A, config_a, ports, resolve};
use sluice_asic::tm::buffer::{Reader, Rule};
use sluice_asic::units::Cells;

#[test]
fn rows_1_to_5_pause_headroom_drop_resume() {
    let mut a = config_a(&[]);
    (0..1009).for_each(|_| a.send(0, 1, 3, 3, 64).unwrap());
    assert_eq!((a.edges.len(), a.shared(0, 3), a.headroom(0, 3)), (0, 999, 0));
    a.send(0, 1, 3, 3, 64).unwrap();
    let edge = a.edges[0];
    assert_eq!((edge.port, edge.pg, edge.priorities, edge.xoff), (0, 3, 0x08, true));
    let pg = a.buffer.group(0, 3).unwrap();
    assert_eq!((pg.reserved(), a.shared(0, 3), a.headroom(0, 3)), (Cells(10), 1000, 0));
    (0..200).for_each(|_| a.send(0, 1, 3, 3, 64).unwrap());
    assert_eq!((a.headroom(0, 3), a.buffer.pg_total(0, 3)), (200, Cells(1210)));
    assert_eq!(a.send(0, 1, 3, 3, 64), Err(Rule::PgHeadroom));
    let pg = a.buffer.group(0, 3).unwrap();
    let marks = (pg.headroom().watermark(Reader::User), pg.shared().watermark(Reader::User));
    assert_eq!((marks, pg.dropped().packets), ((Cells(200), Cells(1000)), 1));
    assert_eq!((a.shared(0, 3), a.headroom(0, 3), a.edges.len()), (1000, 200, 1));
    assert_eq!(a.buffer.queue(1, 3).unwrap().dropped().packets, 0);

    assert_eq!(a.drain(217), None);
    assert!(a.is_xoff(0, 3));
    assert_eq!(a.drain(1), Some(1));
    assert_eq!((a.shared(0, 3), a.is_xoff(0, 3)), (982, false));
    a.drain(usize::MAX);
    assert_eq!(a.buffer.total().current(), Cells::ZERO);
}

#[test]
fn rows_6_and_7_packets_of_several_cells() {
    let mut a = config_a(&[]);
    assert_eq!(a.flood(0, 1, 1500), (Some(169), 203));
    assert_eq!((a.shared(0, 3), a.headroom(0, 3)), (1004, 198));
    assert_eq!(config_a(&[]).flood(0, 1, 257), (Some(505), 606));
}

#[test]
fn row_8_ports_one_after_another() {
    let config = resolve(CONFIG_A, &[], &ports(4, 100));
    let mut a = Bench::new(&config);
    let found: Vec<_> = (0..4).map(|p| a.flood(p, (p + 1) % 4, 64)).collect();
    assert_eq!(found, [(Some(1010), 1211), (Some(899), 1100), (Some(800), 1001), (Some(712), 713)]);
    assert_eq!(a.drops.last().unwrap().rule, Rule::HeadroomPool);
    assert_eq!((a.pool(&config, "ingress_pool headroom"), a.pool(&config, "ingress_pool")), (600, 3381));
    assert_eq!(a.buffer.total().current(), Cells(4021));
}

#[test]
fn row_9_groups_share_round_robin() {
    for (n, index, shared) in [(2u16, 910, 900), (4, 760, 750), (8, 573, 563)] {
        let mut a = config_a(&[]);
        let mut xoff = vec![None; usize::from(n)];
        for packet in 1..2000 {
            for group in 0..n {
                let (port, pg) = (group / 2, 3 + (group % 2) as u8);
                if xoff[usize::from(group)].is_none() {
                    a.send(port, 3, pg, pg, 64).unwrap();
                    if a.is_xoff(port, pg) {
                        xoff[usize::from(group)] = Some((packet, a.shared(port, pg)));
                    }
                }
            }
        }
        for (group, found) in xoff.iter().enumerate() {
            let (packet, used) = found.unwrap();
            // The last of a round can be a packet earlier: the others have already taken theirs.
            assert!(index - packet <= 1 && shared - used <= 1, "{n}: {group} {packet} {used}");
        }
        assert_eq!(xoff.last().unwrap().unwrap().1, shared, "{n}: {xoff:?}");
    }
}

#[test]
fn rows_13_to_15_extreme_profiles() {
    let alpha = |n: &str| config_a(&[("dynamic_th = -3", &format!("dynamic_th = {n}"))]).flood(0, 1, 64);
    assert_eq!(alpha("-6"), (Some(148), 349));
    assert_eq!(alpha("7"), (Some(8941), 9142));
    let shifted_out = [
        ("dynamic_th = -3", "dynamic_th = -8"),
        ("cell = ", "accept = [\"xon\"]\nalpha = { \"-8\" = \"0\" }\ncell = "),
    ];
    assert_eq!(config_a(&shifted_out).flood(0, 1, 64), (Some(11), 212));
    let none = [("size = \"2560B\", xoff = \"51200B\"", "size = \"0B\", xoff = \"0B\"")];
    assert_eq!(config_a(&none).flood(0, 1, 64), (Some(1000), 1001));
}
