//! Rows 16 to 25 and 65 to 80: lossy traffic, coupling of classes, changes during the run.

use crate::buffer::support::{Bench, CONFIG_A, config_a, ports, resolve};
use sluice_asic::meter::Colour;
use sluice_asic::tm::buffer::{Arrival, CodePoint, Reader, Rule, Share, Threshold};
use sluice_asic::units::{Bytes, Cells};

#[test]
fn rows_16_to_18_lossy_queues() {
    let config = resolve(CONFIG_A, &[], &ports(4, 100));
    let mut a = Bench::new(&config);
    assert_eq!(a.flood_lossy(0, 1, 0), 1608);
    let queue = a.buffer.queue(1, 0).unwrap();
    assert_eq!(
        (queue.reserved(), queue.shared().current(), queue.dropped().packets),
        (Cells(8), Cells(1600), 1)
    );
    assert_eq!((a.pool(&config, "ingress_pool"), a.edges.len()), (1608, 0));
    let group = a.buffer.group(0, 0).unwrap();
    assert_eq!((group.dropped().packets, group.shared().current()), (0, Cells(1608)));
    assert_eq!(a.drops[0].rule, Rule::QueueShared);
    assert_eq!([a.flood_lossy(1, 2, 0), a.flood_lossy(2, 3, 0)], [1288, 1032]);
    assert_eq!(a.pool(&config, "egress_lossy_pool"), 3904);
}

#[test]
fn rows_19_and_20_lossy_load_lowers_the_pause_threshold() {
    let mut a = config_a(&[]);
    a.flood_lossy(0, 1, 0);
    assert_eq!(a.flood(1, 2, 64), (Some(831), 1032));
    for (rescan, at_once) in [("false", false), ("true", true)] {
        let mut a = config_a(&[("cell = ", &format!("decisions = {{ rescan = {rescan} }}\ncell = "))]);
        (0..710).for_each(|_| a.send(3, 0, 3, 3, 64).unwrap());
        assert_eq!((a.shared(3, 3), a.edges.len()), (700, 0));
        let lossy: u32 = [(0, 1), (1, 2), (2, 3)].map(|(i, o)| a.flood_lossy(i, o, 0)).iter().sum();
        assert_eq!((lossy, a.is_xoff(3, 3)), (3928, at_once));
        a.send(3, 0, 3, 3, 64).unwrap();
        assert!(a.is_xoff(3, 3));
    }
}

#[test]
fn rows_21_and_22_the_pools_fill() {
    let greedy = [("size = \"2048000B\"", "size = \"2304000B\""), ("dynamic_th = -2", "dynamic_th = 3")];
    let mut a = config_a(&greedy);
    assert_eq!(a.flood_lossy(0, 1, 0), 8008);
    assert!(a.drops[0].rule.is_egress());
    assert_eq!(a.flood(1, 2, 64), (Some(120), 321));
    assert_eq!(a.buffer.total().current(), Cells(8328));

    let config = resolve(CONFIG_A, &[("dynamic_th = -3", "dynamic_th = 7")], &ports(4, 100));
    let mut a = Bench::new(&config);
    while !a.is_xoff(0, 3) {
        a.send(0, 1, 3, 3, 64).unwrap();
    }
    let free = 9000 - a.pool(&config, "ingress_pool");
    (0..free).for_each(|_| a.send(1, 2, 0, 0, 64).unwrap());
    assert_eq!(a.send(1, 2, 0, 0, 64), Err(Rule::IngressPool));
    assert_eq!((a.headroom(1, 0), a.buffer.group(1, 0).unwrap().dropped().packets), (0, 1));
    // D5: the queue's limit alone.
    let pass = [
        ("dynamic_th = -3", "dynamic_th = 7"),
        ("cell = ", "decisions = { lossy_needs_ingress_pool = false }\ncell = "),
    ];
    let mut a = config_a(&pass);
    while !a.is_xoff(0, 3) {
        a.send(0, 1, 3, 3, 64).unwrap();
    }
    (0..=free).for_each(|_| a.send(1, 2, 0, 0, 64).unwrap());
}

#[test]
fn row_23_groups_are_paused_by_themselves() {
    let mut a = config_a(&[]);
    while !a.is_xoff(0, 3) {
        a.send(0, 1, 3, 3, 64).unwrap();
    }
    assert!(!a.is_xoff(0, 4));
    while !a.is_xoff(0, 4) {
        a.send(0, 1, 4, 4, 64).unwrap();
    }
    assert_eq!(a.edges.iter().map(|e| e.priorities).collect::<Vec<_>>(), [0x08, 0x10]);
}

#[test]
fn row_24_dscp_sweep() {
    let maps = resolve(CONFIG_A, &[], &ports(1, 100)).maps;
    let mut queues = [0; 8];
    for dscp in 0..64 {
        let class = maps.class(CodePoint::Dscp(dscp));
        queues[usize::from(class.queue)] += 1;
        let pg = if dscp == 3 || dscp == 4 { dscp } else { 0 };
        assert_eq!(class.pg, pg, "{dscp}");
    }
    assert_eq!(queues, [1, 58, 1, 1, 1, 1, 1, 0]);
    assert_eq!(maps.class(CodePoint::Dscp(46)).queue, 5);
    assert_eq!((maps.class(CodePoint::Pcp(4)).pg, maps.class(CodePoint::None).queue), (4, 0));
}

fn to(out_port: u16, queue: u8) -> Arrival {
    Arrival { in_port: 0, pg: 3, out_port, queue, bytes: Bytes(256), colour: Colour::Green, copies: None }
}

#[test]
fn row_25_copies_cost_ingress_once() {
    let mut a = config_a(&[]);
    let copies = a.buffer.open_copies(3);
    assert!(copies.is_some());
    let charges: Vec<_> =
        (1..4).map(|port| a.buffer.admit(&Arrival { copies, ..to(port, 3) }).unwrap()).collect();
    assert_eq!((a.buffer.pg_total(0, 3), a.buffer.total().current()), (Cells(1), Cells(1)));
    assert_eq!([1, 2, 3].map(|port| a.buffer.depth(port, 3).get()), [1, 1, 1]);
    for (n, charge) in (1..).zip(charges) {
        assert_eq!(a.buffer.pg_total(0, 3), Cells(1), "before copy {n}");
        a.buffer.release(charge);
    }
    assert_eq!(a.buffer.pg_total(0, 3), Cells(0));
    // A copy that is refused counts as released; its slot is used again.
    let again = a.buffer.open_copies(2);
    assert_eq!(again, copies);
    let charge = a.buffer.admit(&Arrival { copies: again, ..to(1, 3) }).unwrap();
    assert!(a.buffer.admit(&Arrival { copies: again, ..to(1, 77) }).is_err());
    a.buffer.release(charge);
    assert_eq!(a.buffer.total().current(), Cells(0));
    // The first copy's group is charged for copies of other groups.
    let mixed = a.buffer.open_copies(2);
    let first = a.buffer.admit(&Arrival { copies: mixed, ..to(1, 3) }).unwrap();
    let other = a.buffer.admit(&Arrival { copies: mixed, pg: 0, ..to(2, 0) }).unwrap();
    assert_eq!((a.buffer.pg_total(0, 3), a.buffer.pg_total(0, 0)), (Cells(1), Cells(0)));
    a.buffer.release(first);
    a.buffer.release(other);
    assert_eq!((a.buffer.pg_total(0, 3), a.buffer.total().current()), (Cells(0), Cells(0)));
    // Otherwise each copy is charged to its group.
    let mut b = config_a(&[("cell = ", "decisions = { multicast_once = false }\ncell = ")]);
    assert_eq!(b.buffer.open_copies(3), None);
}

#[test]
fn colours_have_limits_of_their_own() {
    let change = (
        "size = \"2048B\", dynamic_th = -2",
        "size = \"2048B\", dynamic_th = -2, yellow_eighths = 4, red_eighths = 1",
    );
    let mut a = config_a(&[change]);
    let mut admitted = |colour| {
        let arrival = Arrival { pg: 0, queue: 0, colour, ..to(1, 0) };
        (0..).find(|_| a.buffer.admit(&arrival).is_err()).unwrap()
    };
    // Red first: an eighth of the falling limit, then yellow up to half, then green.
    assert_eq!([admitted(Colour::Red), admitted(Colour::Yellow), admitted(Colour::Green)], [250, 647, 711]);
}

#[test]
fn rows_66_and_67_accepted_oddities() {
    let cap =
        [("xoff = \"51200B\"", "xoff = \"204800B\""), ("cell = ", "accept = [\"headroom-cap\"]\ncell = ")];
    let config = resolve(CONFIG_A, &cap, &ports(4, 100));
    assert_eq!(config.accepted.len(), 1);
    let mut a = Bench::new(&config);
    assert_eq!(a.flood(0, 1, 64), (Some(1010), 1611));
    assert_eq!(a.headroom(0, 3), 600);
    let xon = [
        ("xon = \"2560B\", xon_offset = \"5120B\"", "xon = \"0B\", xon_offset = \"1280000B\""),
        ("cell = ", "accept = [\"xon\"]\ncell = "),
    ];
    let mut a = config_a(&xon);
    a.flood(0, 1, 64);
    assert_eq!(a.drain(2000), Some(1200 + 10 - 10));
}

#[test]
fn rows_73_76_78_limits_and_changes() {
    // Static 0 is no limit: the queue fills its pool.
    let mut a = config_a(&[("size = \"2048B\", dynamic_th = -2", "size = \"2048B\", static_th = \"0B\"")]);
    assert_eq!(a.flood_lossy(0, 1, 0), 8008);
    assert_eq!(a.drops[0].rule, Rule::EgressPool);
    // A pool that shrinks below its use: nothing is free, the next packet pauses.
    let mut a = config_a(&[]);
    (0..500).for_each(|_| a.send(0, 1, 3, 3, 64).unwrap());
    a.buffer.set_ingress_pool_size(0, 1, Cells(100));
    a.send(0, 1, 3, 3, 64).unwrap();
    assert!(a.is_xoff(0, 3));
    // Alpha grows while paused: the group resumes with its next departure.
    a.buffer.set_ingress_pool_size(0, 1, Cells(9000));
    a.buffer.set_threshold(0, 3, Threshold::Dynamic { base: Cells(0), share: Share::PowerOfTwo(0) });
    assert_eq!(a.drain(1), Some(1));
}

#[test]
fn row_77_empty_and_huge_packets() {
    let mut a = config_a(&[]);
    a.send(0, 1, 0, 0, 0).unwrap();
    assert_eq!(a.buffer.total().current(), Cells(1));
    assert_eq!(a.send(0, 1, 0, 0, u64::MAX), Err(Rule::BufferFull));
    assert_eq!(a.send(0, 1, 0, 8, 64), Err(Rule::NoSuchQueue));
    assert_eq!(a.send(9, 1, 0, 0, 64), Err(Rule::PgMissing));
}

#[test]
fn row_80_oversubscription_ratios() {
    // Four ports with two groups each ask for xon + xoff - size = 51,200 B.
    let with = |text: &str| {
        let config = resolve(CONFIG_A, &[(", xoff = \"153600B\"", text)], &ports(4, 100));
        config.headroom_pools.first().map(|p| p.size.get())
    };
    assert_eq!(with(", over_subscribe_ratio = 2"), Some(800));
    assert_eq!(with(", over_subscribe_ratio = 2, xoff = \"153600B\""), Some(600));
    assert_eq!(with(", over_subscribe_ratio = 3"), Some(533));
}

#[test]
fn readers_of_watermarks() {
    let mut a = config_a(&[]);
    (0..20).for_each(|_| a.send(0, 1, 3, 3, 64).unwrap());
    a.drain(15);
    a.buffer.clear_watermarks(Reader::User);
    let shared = *a.buffer.group(0, 3).unwrap().shared();
    assert_eq!(shared.watermark(Reader::User), shared.current());
    assert_eq!(shared.watermark(Reader::Persistent), Cells(10));
    // Exactly the reserved cells: the shared watermark stays 0.
    let mut a = config_a(&[]);
    (0..10).for_each(|_| a.send(0, 1, 3, 3, 64).unwrap());
    assert_eq!(a.buffer.group(0, 3).unwrap().shared().watermark(Reader::User), Cells(0));
}
