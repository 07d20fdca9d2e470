//! SONiC's files of Trident 3, Tomahawk 3 and Tomahawk 5 as they are shipped, against packet counts of these switches.
//!
//! Sizes are those of sonic-buildimage @ 086b03bd (`device/`), counts those of sonic-mgmt @ b4ba9de3
//! (`tests/qos/files/qos_params.td3.yaml`, `qos_params.th3.yaml`, `qos_params.th5.yaml`): packets of 64 bytes, a cell each, into one
//! group after another towards a blocked port. Nothing here is fitted to a count: ports and their groups are those of the topology
//! (`ansible/vars/topo_*.yml`), and what a pool includes is in `docs/model/buffer.md` §1.5 with its sources.

use crate::buffer::support::Bench;
use serde_json::{Value, json};
use sluice_asic::tm::buffer::{BufferConfig, BufferFile, Hardware, PortInfo, Rules, SonicText};
use sluice_asic::units::{BitRate, Bytes};

/// Difference to a count that a check allows, in packets.
const MARGIN: u32 = 2;

/// Ports of a topology: with lossless groups 3 and 4, with lossless groups 2, 3, 4 and 6, and with lossy traffic alone.
struct Ports {
    usual: usize,
    extra: usize,
    lossy: usize,
}

/// Counts after the last pause.
enum Then {
    /// Number of the packet of the only group that is dropped.
    Drop(u32),
    /// Packets that each group gets into its headroom, and those of the last group, with which the pool is full.
    Headroom(u32, u32),
}

struct Row {
    hwsku: &'static str,
    /// Topology and key in sonic-mgmt.
    topology: &'static str,
    ports: Ports,
    /// `size` and `xoff` of `ingress_lossless_pool`.
    pool: (u64, u64),
    /// `size` of `egress_lossless_pool`, and of `egress_lossy_pool` if lossy queues have one.
    egress: (u64, Option<u64>),
    /// `size` and `dynamic_th` of `egress_lossy_profile`.
    lossy: (u64, i64),
    /// Line of `pg_profile_lookup.ini`.
    lookup: &'static str,
    /// For each group: number of its packet that pauses it.
    paused: &'static [u32],
    then: Then,
}

const fn usual(usual: usize) -> Ports {
    Ports { usual, extra: 0, lossy: 0 }
}

/// Trident 3: `device/arista/x86_64-arista_7050cx3_32s`. Of a dual ToR's ports, the uplinks have four lossless groups.
const fn td3(hwsku: &'static str, pool: (u64, u64), egress: (u64, u64)) -> Row {
    Row {
        hwsku,
        topology: "",
        ports: usual(32),
        pool,
        egress: (egress.0, Some(egress.1)),
        lossy: (1_792, 3),
        lookup: "100000 300m 4608 4608 160000 0 4608",
        paused: &[],
        then: Then::Drop(0),
    }
}

/// Tomahawk 3: `device/dell/x86_64-dellemc_z9332f_d1508-r0`.
const fn th3(hwsku: &'static str, ports: usize, xoff: u64, egress: u64) -> Row {
    Row {
        hwsku,
        topology: "",
        ports: usual(ports),
        pool: (66_394_076, xoff),
        egress: (egress, None),
        lossy: (1_778, 1),
        lookup: "",
        paused: &[],
        then: Then::Drop(0),
    }
}

/// Tomahawk 5: `device/arista/x86_64-arista_7060x6_*`.
const fn th5(hwsku: &'static str, ports: Ports, pool: (u64, u64), lookup: &'static str) -> Row {
    let egress = (pool.0, None);
    Row {
        hwsku,
        topology: "",
        ports,
        pool,
        egress,
        lossy: (1_778, 0),
        lookup,
        paused: &[],
        then: Then::Drop(0),
    }
}

impl Row {
    const fn counts(self, topology: &'static str, paused: &'static [u32], then: Then) -> Row {
        Row { topology, paused, then, ..self }
    }

    const fn on(self, ports: Ports) -> Row {
        Row { ports, ..self }
    }

    const fn with(self, lookup: &'static str) -> Row {
        Row { lookup, ..self }
    }
}

const TH3_O32: Row = th3("DellEMC-Z9332f-O32", 32, 27_200_352, 38_462_204);
const TH3_O16C64: Row = th3("DellEMC-Z9332f-M-O16C64", 80, 8_644_128, 55_921_148);

/// The rows that the reading of sizes was asked to meet: 71 checks.
fn asked() -> [Row; 4] {
    let t0 = th5(
        "Arista-7060X6-64PE-256x200G",
        usual(256),
        (165_660_324, 29_520_896),
        "200000 5m 18796 0 300990 0 3556",
    );
    let ft2 = th5(
        "Arista-7060X6-64PE-B-P64",
        usual(64),
        (164_733_224, 17_962_880),
        "800000 5m 8636 0 724662 0 3556",
    );
    [
        td3("Arista-7050CX3-32S-C32", (32_732_160, 1_622_016), (32_599_040, 24_709_632))
            .on(Ports { usual: 24, extra: 4, lossy: 0 })
            .counts("topo-dualtor 100000_300m", &[60_204], Then::Drop(60_829)),
        TH3_O32.with("400000 300m 2540 2540 373888 -2 2540").counts(
            "topo-t1-lag 400000_300m",
            &[15_152],
            Then::Drop(16_624),
        ),
        t0.counts("topo-t0-standalone 200000_5m", &STANDALONE, Then::Headroom(1_185, 47)),
        ft2.counts(
            "topo-ft2-64 800000_5m",
            &[142_285, 71_159, 35_597, 17_815, 8_925, 4_479, 2_257, 1_145, 590, 312, 173, 103, 69],
            Then::Headroom(2_853, 1_124),
        ),
    ]
}

/// Half of what is left, again and again, until a group gets its reserve alone.
const STANDALONE: [u32; 50] = [
    120_117, 60_096, 30_085, 15_079, 7_577, 3_825, 1_950, 1_012, 543, 308, 191, 133, 103, 89, 81, 78, 76, 75,
    74, 74, 74, 74, 74, 74, 74, 74, 74, 74, 74, 74, 74, 74, 74, 74, 74, 74, 74, 74, 74, 74, 74, 74, 74, 74,
    74, 74, 74, 74, 74, 74,
];

/// Other HWSKUs of the three ASICs.
fn others() -> [Row; 7] {
    [
        td3("Arista-7050CX3-32S-D48C8", (32_689_152, 2_058_240), (32_340_992, 24_192_256))
            .on(Ports { usual: 24, extra: 8, lossy: 0 })
            .counts("topo-dualtor-56 100000_300m pcbb_xoff_1", &[59_124], Then::Drop(59_749)),
        TH3_O16C64.with("100000 300m 2540 2540 117348 -2 2540").counts(
            "topo-t0-80 100000_300m",
            &[22_026],
            Then::Drop(22_488),
        ),
        th5(
            "Arista-7060X6-64PE-B-P32O64",
            usual(96),
            (164_619_432, 33_690_560),
            "800000 5m 8636 0 724662 0 3556",
        )
        .counts("topo-lt2-p32o64 800000_5m", &[125_589], Then::Drop(128_443)),
        th5(
            "Arista-7060X6-64PE-B-P32O64",
            usual(96),
            (147_226_020, 38_843_712),
            "400000 300m 8636 0 839216 0 3556",
        )
        .counts("topo-t1-f2-d10u8 400000_300m", &[103_397], Then::Drop(106_702)),
        th5(
            "Arista-7060X6-64PE-B-O128",
            usual(128),
            (164_505_640, 22_010_624),
            "400000 40m 18796 0 445770 0 3556",
        )
        .counts(
            "topo-t1-isolated-d128 400000_40m",
            &[
                133_349, 66_711, 33_393, 16_733, 8_404, 4_239, 2_156, 1_115, 595, 334, 204, 139, 107, 90, 82,
                78, 76, 75, 75, 74, 74, 74, 74, 74, 74,
            ],
            Then::Headroom(1_755, 1_208),
        ),
        th5(
            "Arista-7060X6-64PE-B-P32V128",
            usual(160),
            (163_961_572, 40_615_616),
            "200000 300m 8636 0 452374 0 3556",
        )
        .counts("topo-t0-f2-d40u8 200000_300m", &[115_917], Then::Drop(117_699)),
        th5(
            "Arista-7060X6-16PE-384C-B-O128S2",
            Ports { usual: 128, extra: 0, lossy: 2 },
            (164_110_924, 20_181_824),
            "400000 5m 18796 0 393192 0 3556",
        )
        .counts(
            "topo-t0-isolated-d96u32s2 400000_5m",
            &[
                134_725, 67_400, 33_737, 16_905, 8_490, 4_282, 2_178, 1_126, 600, 337, 205, 140, 107, 90, 82,
                78, 76, 75, 75, 74, 74, 74, 74, 74, 74, 74,
            ],
            Then::Headroom(1_548, 1_028),
        ),
    ]
}

/// Returns the tables of a row: SONiC's template with the row's sizes.
fn tables(row: &Row) -> Value {
    let name = |port: usize| format!("Ethernet{}", port * 4);
    let Ports { usual, extra, lossy } = row.ports;
    let object = |items: Vec<(String, Value)>| Value::Object(items.into_iter().collect());
    let profile = |name: &str| json!({ "profile": name });
    let (mut groups, mut queues, mut qos) = (Vec::new(), Vec::new(), Vec::new());
    for port in 0..usual + extra + lossy {
        let name = name(port);
        groups.push((format!("{name}|0"), profile("ingress_lossy_profile")));
        let (none, all) = if (usual..usual + extra).contains(&port) {
            (["0-1", "5,7"], ["2-4", "6"])
        } else {
            (["0-2", "5-6"], ["3-4", "3-4"])
        };
        for (which, of) in [(none, "egress_lossy_profile"), (all, "egress_lossless_profile")] {
            queues.extend(which.map(|queues| (format!("{name}|{queues}"), profile(of))));
        }
        let pfc = ["3,4", "2,3,4,6"][usize::from(port >= usual)];
        if port < usual + extra {
            qos.push((name, json!({ "pfc_enable": pfc })));
        }
    }
    let ports = 0..usual + extra + lossy;
    let cable = row.lookup.split_whitespace().nth(1).unwrap();
    let pool = |kind: &str, size: u64| json!({ "type": kind, "mode": "dynamic", "size": size.to_string() });
    let mut pools = vec![("egress_lossless_pool".to_owned(), pool("egress", row.egress.0))];
    pools.extend(row.egress.1.map(|size| ("egress_lossy_pool".to_owned(), pool("egress", size))));
    let mut ingress = pool("ingress", row.pool.0);
    ingress["xoff"] = row.pool.1.to_string().into();
    pools.push(("ingress_lossless_pool".to_owned(), ingress));
    let lossy_pool = row.egress.1.map_or("egress_lossless_pool", |_| "egress_lossy_pool");
    json!({
        "DEVICE_METADATA": { "localhost": { "hwsku": row.hwsku } },
        "PORT": object(ports.clone().map(|port| (name(port), json!({}))).collect()),
        "CABLE_LENGTH": { "AZURE": object(ports.map(|port| (name(port), cable.into())).collect()) },
        "BUFFER_POOL": object(pools),
        "BUFFER_PROFILE": {
            "ingress_lossy_profile":
                { "pool": "ingress_lossless_pool", "size": "0", "static_th": row.pool.0.to_string() },
            "egress_lossless_profile":
                { "pool": "egress_lossless_pool", "size": "0", "static_th": row.egress.0.to_string() },
            "egress_lossy_profile":
                { "pool": lossy_pool, "size": row.lossy.0.to_string(), "dynamic_th": row.lossy.1.to_string() },
        },
        "BUFFER_PG": object(groups),
        "BUFFER_QUEUE": object(queues),
        "PORT_QOS_MAP": object(qos),
    })
}

/// Reads the tables of a row over the memory of their HWSKU.
fn read(row: &Row) -> BufferConfig {
    let text = tables(row).to_string();
    let texts = [
        SonicText { name: "c.json", text: &text },
        SonicText { name: "pg_profile_lookup.ini", text: row.lookup },
    ];
    let memory = Hardware::of(&texts).unwrap().profile.unwrap();
    let base = BufferFile::shipped(memory).unwrap().unwrap();
    let file = BufferFile::from_sonic(&texts, &base, None).unwrap_or_else(|problems| panic!("{problems}"));
    let gbps = row.lookup.split_whitespace().next().unwrap().parse::<u64>().unwrap() / 1_000;
    let port = |i: usize| PortInfo {
        name: i.to_string(),
        speed: BitRate::from_gbps(gbps),
        queues: 10,
        internal: false,
    };
    let ports: Vec<PortInfo> = (0..row.ports.usual + row.ports.extra + row.ports.lossy).map(port).collect();
    file.resolve(&ports).unwrap_or_else(|problems| panic!("{}: {problems}", row.hwsku))
}

/// Fills the groups of a row, and holds its counts against those of the switch. Returns the number of counts and those beyond the
/// margin.
fn check(row: &Row) -> (usize, Vec<String>) {
    let config = read(row);
    let mut bench = Bench::new(&config);
    let out = (row.ports.usual + row.ports.extra - 1) as u16;
    let group = |i: usize| ((i / 2) as u16, 3 + (i % 2) as u8);
    let (mut counts, mut wrong) = (0, Vec::new());
    let mut hold = |what: &str, found: u32, expected: u32| {
        counts += 1;
        if found.abs_diff(expected) > MARGIN {
            wrong.push(format!("{} {}: {what}: {found}, not {expected}", row.hwsku, row.topology));
        }
    };
    let mut first = None;
    for (i, expected) in row.paused.iter().enumerate() {
        let (port, pg) = group(i);
        let paused = (1..).find(|_| {
            bench.send(port, out, pg, pg, 64).unwrap();
            bench.is_xoff(port, pg)
        });
        first = first.or(paused);
        hold(&format!("pause of group {i}"), paused.unwrap(), *expected);
    }
    let mut rest = |i: usize| {
        let (port, pg) = group(i);
        (0u32..).find(|_| bench.send(port, out, pg, pg, 64).is_err()).unwrap()
    };
    match row.then {
        Then::Drop(expected) => {
            let headroom = rest(0);
            hold("drop", first.unwrap() + headroom + 1, expected);
        }
        Then::Headroom(full, partial) => {
            let last = row.paused.len() - 1;
            let fulls: Vec<u32> = (0..last).map(&mut rest).collect();
            assert!(fulls.iter().all(|found| *found == fulls[0]), "{fulls:?}");
            hold("headroom of a group", fulls[0], full);
            hold("headroom of the last group", rest(last), partial);
        }
    }
    (counts, wrong)
}

#[test]
fn files_as_shipped_meet_the_counts_of_their_switches() {
    let found: Vec<_> = asked().iter().map(check).collect();
    let wrong: Vec<&String> = found.iter().flat_map(|(_, wrong)| wrong).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(found.iter().map(|(counts, _)| counts).sum::<usize>(), 71);
}

#[test]
fn files_of_other_boards_meet_the_counts_of_their_switches() {
    let found: Vec<_> = others().iter().map(check).collect();
    let wrong: Vec<&String> = found.iter().flat_map(|(_, wrong)| wrong).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Dell's files of Tomahawk 3 give the shared cells themselves, as the size of the egress pool: the ingress pool without headroom,
/// without 10 cells for each lossless group, and without 7 cells for each of 5 lossy queues in both halves of the memory.
#[test]
fn the_shared_cells_of_tomahawk_3_are_those_of_its_egress_pool() {
    for (row, cells) in [
        (TH3_O32.with("400000 300m 2540 2540 373888 -2 2540"), 75_713),
        (TH3_O16C64.with("100000 300m 2540 2540 117348 -2 2540"), 110_081),
    ] {
        assert_eq!(row.egress.0, cells * 2 * 254, "{}", row.hwsku);
        let config = read(&row);
        assert_eq!(u64::from(config.ingress_pools[0].size.get()), cells, "{}", row.hwsku);
        assert_eq!(config.partitions, 2);
    }
}

/// `lossy_queue_1`, `pkts_num_trig_egr_drp`: the number of the packet of a lossy queue that is dropped.
#[test]
fn lossy_queues_meet_the_counts_of_their_switches() {
    let [_, th3, t0, ft2] = asked();
    let t0_td3 = td3("Arista-7050CX3-32S-C32", (32_732_160, 1_622_016), (32_599_040, 24_709_632));
    let rows = [(t0_td3.on(usual(28)), 84_935), (th3, 50_482), (t0, 120_051), (ft2, 142_259)];
    for (row, expected) in rows {
        let config = read(&row);
        let admitted = Bench::new(&config).flood_lossy(0, (config.ports.len() - 1) as u16, 0);
        assert!((admitted + 1).abs_diff(expected) <= MARGIN, "{}: {admitted}, {expected}", row.hwsku);
    }
}

/// A pool that the memory cannot hold in addition to its headroom includes it, whatever the memory's profile says.
#[test]
fn a_pool_beyond_the_memory_includes_its_headroom() {
    let [row, ..] = asked();
    let text = tables(&row).to_string();
    let texts = [SonicText { name: "c.json", text: &text }, SonicText { name: "p.ini", text: row.lookup }];
    let memory = |bytes: u64| {
        let (cell, rules) = (Bytes(256), Rules::Sai);
        let base = BufferFile::of_memory("m", rules, cell, Bytes(bytes));
        BufferFile::from_sonic(&texts, &base, None).unwrap()
    };
    // 32,732,160 and 1,622,016 B.
    let (small, large) = (memory(34_354_175), memory(34_354_176));
    assert!(small.pool_includes_headroom && !large.pool_includes_headroom);
    assert!(
        small
            .notes
            .iter()
            .any(|note| note.contains("ingress_lossless_pool: size and xoff are 34354176B, more than")),
        "{:#?}",
        small.notes
    );
}

/// Dell's S5232f has a Trident 3 without `sai_optimized_mmu`, which Arista's has: its pool and headroom are 32,575,488 B together, the
/// size of its egress pool, and its pool is shared cells alone (`device/dell/x86_64-dellemc_s5232f_c3538-r0/DellEMC-S5232f-C32`).
#[test]
fn a_pool_that_leaves_room_for_its_headroom_is_shared_cells_alone() {
    let row = td3("DellEMC-S5232f-C32", (26_284_032, 6_291_456), (32_575_488, 32_575_488))
        .with("100000 300m 1024 2048 272640 -3 2048");
    let config = read(&row);
    assert_eq!((config.ingress_pools[0].size.get(), config.headroom_pools[0].size.get()), (102_672, 24_576));
    let note = "size and xoff are 32575488B, no more than the memory, 33554432B: the size is taken as shared cells alone";
    assert!(config.notes.iter().any(|found| found.ends_with(note)), "{:#?}", config.notes);
}
