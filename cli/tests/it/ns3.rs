//! `sluice run` of configs of the ns-3 simulators, through the real binary.

use sluice_scenario::ns3::{KEYS, Meaning, Simulator};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A star as in HPCC's samples: switch 0, hosts 1 to 4.
const STAR: &str = "5 1 4\n0\n0 1 100Gbps 0.001ms 0\n0 2 100Gbps 0.001ms 0\n0 3 100Gbps 0.001ms 0\n0 4 100Gbps 0.001ms 0\n\n\
                    First line: total node #, switch node #, link #\n";

/// HPCC's sample config, with DCQCN and a small buffer.
const CONFIG: &str = "ENABLE_QCN 1 {0: disable, 1: enable}\nPACKET_PAYLOAD_SIZE 1000\nTOPOLOGY_FILE mix/topology.txt\n\
    FLOW_FILE mix/flow.txt\nTRACE_FILE mix/trace.txt\nFCT_OUTPUT_FILE mix/fct.txt\nPFC_OUTPUT_FILE mix/pfc.txt\n\
    SIMULATOR_STOP_TIME 4.00\nCC_MODE 1\nALPHA_RESUME_INTERVAL 1\nRATE_DECREASE_INTERVAL 4\nRP_TIMER 900 \nEWMA_GAIN 0.00390625\n\
    FAST_RECOVERY_TIMES 1\nRATE_AI 50Mb/s\nRATE_HAI 100Mb/s\nMIN_RATE 100Mb/s\nDCTCP_RATE_AI 1000Mb/s\nL2_ACK_INTERVAL 1\n\
    HAS_WIN 0\nVAR_WIN 1\nU_TARGET 0.95\nMI_THRESH 0\nMULTI_RATE 0\nKMAX_MAP 1 100000000000 1600\n\
    KMIN_MAP 1 100000000000 400\nPMAX_MAP 1 100000000000 0.2\nBUFFER_SIZE 1\nQLEN_MON_FILE mix/qlen.txt\n\
    QLEN_MON_START 2000000000\nQLEN_MON_END 2110000000\n";

/// A lone flow, then three at once to one host; text after the counted flows is not read.
const FLOWS: &str = "4 \n1 2 3 100 1000 2\n2 1 3 100 300000 2.0001\n3 1 3 100 300000 2.0001\n4 1 3 200 300000 2.0001\nFirst line\n";

/// Returns a folder with a small config, and the config's path. Its paths do not depend on the folder of the caller.
pub(crate) fn small() -> (tempfile::TempDir, String) {
    let dir = folder(CONFIG, STAR, FLOWS);
    let config = dir.path().join("mix/config.txt");
    let mix = format!("{}/mix/", dir.path().display());
    fs::write(&config, CONFIG.replace("mix/", &mix)).unwrap();
    (dir, config.display().to_string())
}

/// A folder as the simulators have it.
fn folder(config: &str, topology: &str, flows: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("mix")).unwrap();
    for (name, text) in [("config.txt", config), ("topology.txt", topology), ("flow.txt", flows)] {
        fs::write(dir.path().join("mix").join(name), text).unwrap();
    }
    dir
}

/// Exit code, standard output and standard error of a run in a folder.
fn run(dir: &Path, args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_sluice")).current_dir(dir).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn numbers(text: &str) -> Vec<Vec<u64>> {
    let row = |line: &str| line.split(' ').map(|word| word.parse().unwrap()).collect();
    text.lines().map(row).collect()
}

#[test]
fn a_config_writes_the_simulators_files_and_says_what_differs() {
    let dir = folder(CONFIG, STAR, FLOWS);
    let (code, text, notes) = run(dir.path(), &["run", "mix/config.txt"]);
    assert_eq!(code, 0, "{notes}{text}");
    assert!(
        text.starts_with(
            "mix/config.txt: 1 switches that run ecmp, 4 hosts, 4 flows\n  4 flows complete at 2.0"
        ),
        "{text}"
    );
    assert_eq!(notes.matches("ignored: TRACE_FILE: ").count(), 1, "{notes}");
    assert!(!notes.contains("CC_MODE") && !notes.contains("RATE_AI"), "{notes}");
    let read = |name: &str| fs::read_to_string(dir.path().join("mix").join(name)).unwrap();
    // model: int §4.4: addresses in hexadecimal digits, ports, bytes, start, time, time of a lone flow.
    let fct = read("fct.txt");
    let rows: Vec<Vec<&str>> = fct.lines().map(|line| line.split(' ').collect()).collect();
    // 4160 + 1048 x 0.08 ns; the lone flow takes 4000 + 2 x 83.84 + 2 x 4.16 ns, and the switch 2 ns at most.
    assert_eq!(rows[0][..6], ["0b000101", "0b000201", "10000", "100", "1000", "2000000000"]);
    let time: u64 = rows[0][6].parse().unwrap();
    assert!((4_175..=4_180).contains(&time) && rows[0][7] == "4243", "{fct}");
    // Three flows share the line of host 1: 900 packets of 83.84 ns after 4 us.
    let last: u64 = rows[3][6].parse().unwrap();
    assert!((79_400..85_000).contains(&last), "{fct}");
    assert!(rows.iter().all(|row| row.len() == 8) && rows.len() == 4);
    // The buffer is 1 MiB, so three senders at line rate are paused, and their pauses end.
    let pfc = numbers(&read("pfc.txt"));
    assert!(
        !pfc.is_empty()
            && pfc
                .iter()
                .all(|row| row.len() == 5 && row[2] == 0 && row[3] == 1 && (2..=4).contains(&row[1]))
    );
    for node in 2..=4 {
        let own: Vec<u64> = pfc.iter().filter(|row| row[1] == node).map(|row| row[4]).collect();
        assert_eq!((own.first(), own.last()), (Some(&1), Some(&0)), "{pfc:?}");
    }
    // One sample at 2.0 s, and one every 100 ns up to 2.1 s.
    let qlen = read("qlen.txt");
    let blocks: Vec<&str> = qlen.split("time: ").skip(1).collect();
    assert_eq!(blocks.len(), 2);
    for (block, (at, samples)) in blocks.iter().zip([("2000000000", 1), ("2100000000", 1_000_001)]) {
        let (time, rows) = block.split_once('\n').unwrap();
        let rows = numbers(rows);
        assert_eq!((time, rows.len()), (at, 4));
        assert!(rows.iter().all(|row| row[0] == 0 && row[2..].iter().sum::<u64>() == samples), "{qlen}");
    }
    // The port of host 1 alone has a queue.
    let longest = |port: u64| {
        numbers(blocks[1].split_once('\n').unwrap().1).into_iter().find(|row| row[1] == port).unwrap().len()
    };
    assert!(longest(1) > 100 && longest(2) <= 5, "{qlen}");
}

#[test]
fn a_page_has_the_flows_and_the_pauses() {
    let dir = folder(CONFIG, STAR, FLOWS);
    let (code, text, notes) = run(dir.path(), &["run", "mix/config.txt", "--html", "page.html"]);
    assert_eq!(code, 0, "{notes}{text}");
    let page = fs::read_to_string(dir.path().join("page.html")).unwrap();
    for part in ["4 flows complete", "Slowdown against a lone flow", "Slowdown by size", "Paused ports", "79"]
    {
        assert!(page.contains(part), "{part}");
    }
    // The four flows are listed, each with its source first.
    assert_eq!(page.matches("<tr><td class=\"l\">0b000").count(), 4, "{page}");
    assert!(page.contains("sluice run mix/config.txt --html page.html"));
}

#[test]
fn every_congestion_control_of_the_simulators_completes_its_flows() {
    for (mode, window) in [("0", "0"), ("1", "1"), ("3", "1"), ("7", "0"), ("8", "1")] {
        let config = CONFIG
            .replace("CC_MODE 1", &format!("CC_MODE {mode}"))
            .replace("HAS_WIN 0", &format!("HAS_WIN {window}"));
        let dir = folder(&config.replace("BUFFER_SIZE 1", "BUFFER_SIZE 32"), STAR, FLOWS);
        let (code, text, notes) = run(dir.path(), &["run", "mix/config.txt", "--json"]);
        assert_eq!(code, 0, "CC_MODE {mode}: {notes}{text}");
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["runs"][0]["flows"]["complete"], 4, "CC_MODE {mode}");
    }
}

#[test]
fn hpcc_with_a_queue_takes_the_times_of_its_simulator() {
    // Three flows to host 1, one against them, and a lone packet: times in ns that alibaba-edu's simulator (9f4be2a) has for
    // these files. Acknowledgements of the flows to host 1 wait in no queue; those of host 1's own flow share the queue of data.
    const FLOWS: &str = "5\n2 1 3 100 300000 2\n3 1 3 100 300000 2\n4 1 3 100 300000 2\n1 2 3 100 300000 2.00002\n3 4 3 100 1000 2.00003\n";
    let config = CONFIG
        .replace("CC_MODE 1", "CC_MODE 3")
        .replace("HAS_WIN 0", "HAS_WIN 1\nINT_MULTI 4")
        .replace("BUFFER_SIZE 1", "BUFFER_SIZE 32");
    let dir = folder(&config, STAR, FLOWS);
    let (code, text, notes) = run(dir.path(), &["run", "mix/config.txt"]);
    assert_eq!(code, 0, "{notes}{text}");
    let fct = fs::read_to_string(dir.path().join("mix/fct.txt")).unwrap();
    let times = |from: &str, to: &str| -> Vec<f64> {
        let rows = fct.lines().filter(|row| row.starts_with(&format!("{from} {to} ")));
        rows.map(|row| row.split(' ').nth(6).unwrap().parse().unwrap()).collect()
    };
    let near = |found: f64, expected: f64, share: f64| {
        assert!((found / expected - 1.0).abs() < share, "{found} ns, {expected} in the simulator: {fct}");
    };
    let mut three = [2, 3, 4].map(|node| times(&format!("0b000{node}01"), "0b000101")[0]);
    three.sort_by(f64::total_cmp);
    // Which of the three is first depends on the order of simultaneous packets.
    for (found, expected) in three.into_iter().zip([85_934.0, 87_828.0, 92_077.0]) {
        near(found, expected, 0.03);
    }
    near(times("0b000101", "0b000201")[0], 32_294.0, 0.03);
    near(times("0b000301", "0b000401")[0], 4_188.0, 0.01);
}

/// ConWeave's dialect: two leaves (4, 5) with two hosts each, two spines (6, 7).
const LEAVES: &str = "8 4 8\n4 5 6 7\n0 4 100Gbps 1000ns 0\n1 4 100Gbps 1000ns 0\n2 5 100Gbps 1000ns 0\n3 5 100Gbps 1000ns 0\n\
    4 6 100Gbps 1000ns 0\n4 7 100Gbps 1000ns 0\n5 6 100Gbps 1000ns 0\n5 7 100Gbps 1000ns 0\n";

#[test]
fn load_balancers_of_conweaves_simulator_are_programs() {
    let flows = "3\n0 2 3 200000 2\n1 2 3 200000 2\n3 0 3 1000 2.001\n";
    for (mode, program) in [(0, "ecmp"), (2, "drill"), (3, "conga"), (6, "letflow"), (9, "conweave")] {
        let dir = folder(&conweave(mode), LEAVES, flows);
        let (code, text, notes) = run(dir.path(), &["run", "mix/config.txt"]);
        assert_eq!(code, 0, "LB_MODE {mode}: {notes}{text}");
        assert!(
            text.contains(&format!("4 switches that run {program}, 4 hosts, 3 flows\n  3 flows complete")),
            "{text}"
        );
        let fct = numbers(&fs::read_to_string(dir.path().join("mix/fct.txt")).unwrap());
        // Node numbers; source ports by sender, destination ports by receiver; 8320 + 1048 x 0.08 ns for a lone packet.
        assert_eq!(fct[2][..6], [3, 0, 10_000, 100, 1_000, 2_001_000_000]);
        assert_eq!(fct[2][7], 8_403);
        assert!(fct.iter().any(|row| row[..5] == [1, 2, 10_000, 101, 200_000]), "{fct:?}");
        assert!(dir.path().join("mix/cnp.txt").exists());
    }
}

/// Configs of forks run as their simulator runs them, also where a switch has no link of the fastest, or less memory than its links
/// need.
#[test]
fn mixed_speeds_and_long_links_run_with_a_note() {
    let maps = |config: &str| {
        let config =
            config.replace("KMAX_MAP 1 100000000000 1600", "KMAX_MAP 2 25000000000 400 100000000000 1600");
        let config =
            config.replace("KMIN_MAP 1 100000000000 400", "KMIN_MAP 2 25000000000 100 100000000000 400");
        config.replace("PMAX_MAP 1 100000000000 0.2", "PMAX_MAP 2 25000000000 0.2 100000000000 0.2")
    };
    let mixed = "6 3 5\n0 1 2\n0 3 25Gbps 0.001ms 0\n0 4 25Gbps 0.001ms 0\n0 1 25Gbps 0.001ms 0\n1 2 100Gbps 0.001ms 0\n\
                 2 5 100Gbps 0.001ms 0\n";
    let flows = "1\n3 5 3 100 1000000 2.0\n";
    let dir = folder(&maps(CONFIG), mixed, flows);
    let (code, text, notes) = run(dir.path(), &["run", "mix/config.txt"]);
    assert_eq!(code, 0, "{notes}{text}");
    assert!(text.contains("1 flows complete") && !notes.contains("BUFFER_SIZE"), "{notes}{text}");
    // A buffer of the largest size.
    let dir = folder(&CONFIG.replace("BUFFER_SIZE 1\n", "BUFFER_SIZE 1023\n"), STAR, FLOWS);
    let (code, text, notes) = run(dir.path(), &["run", "mix/config.txt"]);
    assert_eq!(code, 0, "{notes}{text}");
    // 1 MiB for links of 1 ms.
    let long = STAR.replace("0.001ms", "1ms");
    let dir = folder(CONFIG, &long, FLOWS);
    let (code, text, notes) = run(dir.path(), &["run", "mix/config.txt"]);
    assert_eq!(code, 0, "{notes}{text}");
    assert!(
        notes.contains("BUFFER_SIZE: headroom and guarantees of the 4 ports")
            && text.contains("4 flows complete"),
        "{notes}{text}"
    );
}

/// ConWeave's dialect of the config, with DCQCN.
fn conweave(mode: u32) -> String {
    CONFIG.replace("SIMULATOR_STOP_TIME 4.00\n", "")
        + &format!(
            "CNP_OUTPUT_FILE mix/cnp.txt\nENABLE_PFC 1\nENABLE_IRN 0\nLB_MODE {mode}\n\
             FLOWGEN_START_TIME 2.0\nFLOWGEN_STOP_TIME 2.1\nRANDOM_SEED 1\nBUFFER_SIZE 9\n"
        )
}

/// Every CC_MODE beside every LB_MODE, on a network of two stages or of three, as the simulator's own topologies are: eight
/// leaves with as many spines, and a fat tree with k = 4, both with fewer hosts.
#[test]
fn every_congestion_control_runs_with_every_load_balancer() {
    let link = |a: u32, b: u32| format!("{a} {b} 100Gbps 1000ns 0\n");
    // Hosts 0 to 15, leaves 16 to 23, spines 24 to 31.
    let mut leaf_spine = format!("32 16 80\n{}\n", (16..32).map(|s| format!("{s} ")).collect::<String>());
    (0..16).for_each(|host| leaf_spine += &link(host, 16 + host / 2));
    (16..24).for_each(|leaf| (24..32).for_each(|spine| leaf_spine += &link(leaf, spine)));
    // Hosts 0 to 15, ToRs 16 to 23, aggregation 24 to 31, core 32 to 35.
    let mut fat = format!("36 20 48\n{}\n", (16..36).map(|s| format!("{s} ")).collect::<String>());
    (0..16).for_each(|host| fat += &link(host, 16 + host / 2));
    for pod in 0..4 {
        let (tors, above) = (16 + 2 * pod, 24 + 2 * pod);
        (0..4).for_each(|n| fat += &link(tors + n / 2, above + n % 2));
        (0..4).for_each(|core| fat += &link(above + core / 2, 32 + core));
    }
    let flows = "3\n0 15 3 20000 2\n1 15 3 20000 2\n15 0 3 1000 2.001\n";
    let (balancers, controls) = ([0, 2, 3, 6, 9], [0, 1, 7, 8]);
    let all = balancers.iter().flat_map(|lb| controls.map(|cc| (*lb, cc))).chain([(0, 3), (0, 3)]);
    for (number, (lb, cc)) in all.enumerate() {
        // One after the other takes turns, and another one begins with each row.
        let (topology, name, alone) = match (number + number / 4) % 2 {
            0 => (&leaf_spine, "leaf-spine", 8_403),
            _ => (&fat, "fat tree", 12_563),
        };
        let mut config = conweave(lb).replace("CC_MODE 1", &format!("CC_MODE {cc}"));
        // Every third without PFC, with selective retransmission.
        if number % 3 == 0 {
            config = config.replace("ENABLE_PFC 1\nENABLE_IRN 0", "ENABLE_PFC 0\nENABLE_IRN 1");
        }
        let dir = folder(&config, topology, flows);
        let (code, text, notes) = run(dir.path(), &["run", "mix/config.txt"]);
        let what = format!("CC_MODE {cc}, LB_MODE {lb}, {name}: {notes}{text}");
        assert!(code == 0 && text.contains("3 flows complete") && text.contains(" 0 dropped"), "{what}");
        assert!(!notes.contains("warning: "), "{what}");
        // The lone packet takes the time of the simulators' closed form: it has no queue.
        let fct = numbers(&fs::read_to_string(dir.path().join("mix/fct.txt")).unwrap());
        let lone = fct.iter().find(|row| row[..2] == [15, 0]).unwrap();
        assert_eq!(lone[7], alone, "{what}");
        assert!(lone[6].abs_diff(alone) * 100 < 2 * alone, "{} ns: {what}", lone[6]);
    }
}

/// HPCC's fat tree has hosts at 100G and links between switches at 400G.
#[test]
fn every_congestion_control_runs_on_hpccs_fat_tree() {
    let mut fat = "20 12 32\n8 9 10 11 12 13 14 15 16 17 18 19\n".to_owned();
    (0..8).for_each(|host| fat += &format!("{host} {} 100Gbps 1000ns 0\n", 8 + host / 2));
    for pod in 0..2 {
        let (tors, above) = (8 + 2 * pod, 12 + 2 * pod);
        (0..4).for_each(|n| fat += &format!("{} {} 400Gbps 1000ns 0\n", tors + n / 2, above + n % 2));
    }
    for above in 12..16 {
        (16..20).for_each(|core| fat += &format!("{above} {core} 400Gbps 1000ns 0\n"));
    }
    let config = CONFIG
        .replace("KMAX_MAP 1 ", "KMAX_MAP 2 400000000000 6400 ")
        .replace("KMIN_MAP 1 ", "KMIN_MAP 2 400000000000 1600 ")
        .replace("PMAX_MAP 1 ", "PMAX_MAP 2 400000000000 0.2 ")
        .replace("BUFFER_SIZE 1\n", "BUFFER_SIZE 32\n");
    for mode in ["0", "1", "3", "7", "8"] {
        let config = config.replace("CC_MODE 1", &format!("CC_MODE {mode}"));
        let dir = folder(&config, &fat, "3\n0 7 3 100 20000 2\n1 7 3 100 20000 2\n7 0 3 100 1000 2.001\n");
        let (code, text, notes) = run(dir.path(), &["run", "mix/config.txt"]);
        assert!(
            code == 0 && text.contains("3 flows complete") && text.contains(" 0 dropped"),
            "{notes}{text}"
        );
        assert!(!notes.contains("warning: "), "{notes}");
        let fct = fs::read_to_string(dir.path().join("mix/fct.txt")).unwrap();
        let row = fct.lines().find(|row| row.starts_with("0b000701 ")).unwrap();
        let lone: u64 = row.split(' ').nth(6).unwrap().parse().unwrap();
        // model: int §1.14: 12,240 + 1048 x 0.08 ns.
        assert!(lone.abs_diff(12_323) < 250 && row.ends_with(" 12323"), "CC_MODE {mode}: {row}");
    }
}

/// Two senders fill the queue of host 2 to some 400 KB: KMIN and KMAX alone decide which packets ConWeave's switches mark.
#[test]
fn thresholds_of_the_config_mark_beside_conweave() {
    let marked = |changes: &[(&str, &str)]| {
        let config = changes.iter().fold(conweave(9), |text, (from, to)| text.replace(from, to));
        let dir = folder(&config, LEAVES, "2\n0 2 3 400000 2\n1 2 3 400000 2\n");
        let (code, text, notes) = run(dir.path(), &["run", "mix/config.txt", "--json"]);
        assert_eq!(code, 0, "{notes}{text}");
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let (packets, flows) = (&value["runs"][0]["packets"], &value["runs"][0]["flows"]);
        assert_eq!((flows["complete"].as_u64(), packets["dropped"].as_u64()), (Some(2), Some(0)), "{text}");
        packets["marked"].as_u64().unwrap()
    };
    let step = |kb: &str, more: &[(&str, &str)]| {
        let (kmin, kmax) = (format!("KMIN_MAP 1 100000000000 {kb}"), format!("KMAX_MAP 1 100000000000 {kb}"));
        let own = [("KMIN_MAP 1 100000000000 400", kmin.as_str()), ("KMAX_MAP 1 100000000000 1600", &kmax)];
        marked(&[&own[..], more].concat())
    };
    // The program's own curve would begin at 100 KB.
    assert_eq!(step("2000", &[]), 0);
    assert_eq!(step("20", &[("ENABLE_QCN 1", "ENABLE_QCN 0")]), 0);
    let (low, high) = (step("20", &[]), step("150", &[]));
    assert!(low > high && high > 0, "{low} marks from 20 KB on, {high} from 150 KB on");
}

/// The numbers of a config whose topology was exchanged.
#[test]
fn parameters_of_another_speed_draw_warnings() {
    let slow = STAR.replace("100Gbps", "25Gbps");
    let config = CONFIG
        .replace("KMAX_MAP 1 100000000000", "KMAX_MAP 1 25000000000")
        .replace("KMIN_MAP 1 100000000000", "KMIN_MAP 1 25000000000")
        .replace("PMAX_MAP 1 100000000000", "PMAX_MAP 1 25000000000");
    let dir = folder(&config, &slow, FLOWS);
    let (code, text, notes) = run(dir.path(), &["run", "mix/config.txt", "--json"]);
    assert_eq!(code, 0, "{notes}{text}");
    for expected in [
        "warning: mix/config.txt:15: RATE_AI: 50Mb/s and RATE_HAI 100Mb/s are published for hosts of 100Gbps",
        "warning: mix/config.txt:26: KMIN_MAP: 400 KB, and 1600 KB in KMAX_MAP, for links of 25Gbps are published for links of 100Gbps",
        "write `25000000000 100` in KMIN_MAP and `25000000000 400` in KMAX_MAP",
    ] {
        assert!(notes.contains(expected) && text.contains(expected), "{expected}\n{notes}");
    }
    // The same config with the topology that it is published with.
    let dir = folder(CONFIG, STAR, FLOWS);
    let (_, _, notes) = run(dir.path(), &["run", "mix/config.txt"]);
    assert!(!notes.contains("warning: "), "{notes}");
}

#[test]
fn what_is_wrong_is_named_with_file_and_line_before_anything_runs() {
    let error = |config: (&str, &str), topology: (&str, &str), flows: (&str, &str)| {
        let dir = folder(
            &CONFIG.replacen(config.0, config.1, 1),
            &STAR.replacen(topology.0, topology.1, 1),
            &FLOWS.replacen(flows.0, flows.1, 1),
        );
        let (code, text, error) = run(dir.path(), &["run", "mix/config.txt"]);
        assert_eq!((code, text.as_str()), (2, ""), "{error}");
        assert!(!dir.path().join("mix/fct.txt").exists());
        error
    };
    let none = ("", "");
    for (found, expected) in [
        (
            error(none, ("0 2 100G", "0 2 40G"), none),
            "mix/config.txt:26: KMIN_MAP: mix/topology.txt has links of 40Gbps",
        ),
        (error(none, none, ("1 2 3", "1 0 3")), "mix/flow.txt:2: node 0 is a switch in mix/topology.txt"),
        (error(none, none, ("1 2 3", "1 9 3")), "mix/flow.txt:2: node 9 is no host with a link"),
        (
            error(none, none, ("4 \n", "9 \n")),
            "mix/flow.txt:6: sender: found `First`, expected a node number",
        ),
        (error(("CC_MODE 1", "CC_MODE 10"), none, none), "mix/config.txt:9: CC_MODE: 10 is HPCC-PINT"),
        (error(("EWMA_GAIN 0.00390625", "EWMA_GAIN 0"), none, none), "mix/config.txt:13: EWMA_GAIN: found 0"),
        (
            error(("TIME 4.00", "TIME 1.5"), none, none),
            "mix/config.txt:8: SIMULATOR_STOP_TIME: the run ends at 1.5s",
        ),
        (
            error(("mix/flow.txt", "mix/none.txt"), none, none),
            "mix/config.txt:4: FLOW_FILE: cannot read mix/none.txt",
        ),
        (error(none, ("0 4 100Gbps", "3 4 100Gbps"), none), "mix/topology.txt:6: link 3 4 joins two hosts"),
        (error(none, ("0 4 100Gbps", "0 3 100Gbps"), none), "mix/topology.txt:6: host h3 has 2 links"),
        (error(("BUFFER_SIZE 1", "BUFFER_SIZE 1024"), none, none), "mix/config.txt:28: BUFFER_SIZE"),
    ] {
        assert!(found.contains(expected), "{found}\n{expected}");
    }
}

#[test]
fn flags_of_other_files_are_refused() {
    let dir = folder(CONFIG, STAR, FLOWS);
    let flags: [&[&str]; 4] =
        [&["--dry-run"], &["--seeds", "3"], &["--write-flows", "lists"], &["--watch-flow", "1", "-o", "out"]];
    for flag in flags {
        let (code, text, error) = run(dir.path(), &[&["run", "mix/config.txt"][..], flag].concat());
        assert_eq!((code, text.as_str()), (2, ""), "{error}");
        assert!(error.contains(&format!("{} is not for configs of ns-3 simulators", flag[0])), "{error}");
    }
    assert!(!dir.path().join("mix/fct.txt").exists());
}

#[test]
fn the_page_lists_all_keys() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/ns3.md");
    let old = fs::read_to_string(&page).unwrap();
    let mut table = String::from("| key | of | default | here |\n|---|---|---|---|\n");
    for key in KEYS {
        let of = match key.of {
            None => "both",
            Some(Simulator::Hpcc) => "HPCC",
            Some(Simulator::ConWeave) => "ConWeave",
        };
        let here = match key.meaning {
            Meaning::Same => "the same".to_owned(),
            Meaning::Ignored(why) => format!("ignored: {why}"),
            Meaning::Only(only, why) => format!("counts as {only}: {why}"),
        };
        writeln!(table, "| `{}` | {of} | {} | {here} |", key.name, key.default).unwrap();
    }
    let (before, rest) = old.split_once("<!-- keys -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end -->").unwrap();
    let new = format!("{before}<!-- keys -->\n{table}<!-- end -->{after}");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&page, &new).unwrap();
    } else {
        assert!(old == new, "docs/ns3.md is stale; write it with UPDATE_EXPECT=1");
    }
}
