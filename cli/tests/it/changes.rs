//! Entries that change during the run, through the binary.

use crate::support::{SLOW_PORT, folder, json, pcap, refused, text, udp};
use std::fs;

/// One packet each microsecond; at 5.5 us the routes go away, when the passes of the first six have begun.
#[test]
fn a_route_that_goes_away_stops_the_packets_behind_it() {
    let dir = folder("changes");
    let (trace, changes) = (dir.path().join("in.pcap"), dir.path().join("changes.txt"));
    let frames: Vec<(u32, Vec<u8>)> = (0..20).map(|n| (n * 1_000, udp(n, 100))).collect();
    fs::write(&trace, pcap(&frames)).unwrap();
    let input = format!("0@{}", text(&trace));
    let all = json(&["replay", "l3-ecmp", "-i", &input, "--json"]);
    assert_eq!(all["packets"]["out"], 20);
    // A change of the default action has no effect while the entry exists.
    let with = |lines: &str, extra: &[&str]| {
        fs::write(&changes, lines).unwrap();
        let mut args = vec!["replay", "l3-ecmp", "-i", &input, "--json", "--changes", text(&changes)];
        args.extend(extra);
        json(&args)
    };
    assert_eq!(
        with("# later\n\n@5500ns table_set_default ipv4_route ipv4_route_punt # a default\n", &[])["packets"]
            ["out"],
        20
    );
    for extra in [&[][..], &["--engine", "reference"], &["--functional"]] {
        let gone: String = (0..5).map(|n| format!("@5500ns table_delete ipv4_route {n}\n")).collect();
        let found = with(&gone, extra);
        assert_eq!(found["packets"]["out"], 6, "those of 0 to 5 us, {extra:?}");
        assert_eq!(found["drops"]["no_route"], 14, "{extra:?}");
    }
}

/// Equal packets leave by one port until the control plane says otherwise, which properties are told.
#[test]
fn properties_hear_of_changes() {
    let dir = folder("changes-checked");
    let (trace, changes) = (dir.path().join("in.pcap"), dir.path().join("changes.txt"));
    let frames: Vec<(u32, Vec<u8>)> = (0..20).map(|n| (n * 1_000, udp(7, 100))).collect();
    fs::write(&trace, pcap(&frames)).unwrap();
    // All neighbours are at another port from then on.
    let to = "02:00:00:00:02:08 02:00:00:00:00:01 136 1";
    let later: String =
        (0..15).map(|n| format!("@9500ns table_modify neighbor rewrite {n} {to}\n")).collect();
    fs::write(&changes, later).unwrap();
    let input = format!("0@{}", text(&trace));
    let args = ["replay", "l3-ecmp", "-i", &input, "--check", "--changes", text(&changes), "--json"];
    let found = json(&args);
    let ways =
        found["ports"].as_array().unwrap().iter().filter(|p| p["tx_packets"].as_u64() > Some(0)).count();
    assert_eq!((ways, &found["violations"]), (2, &serde_json::json!([])), "{found}");
}

#[test]
fn mistakes_are_found_before_the_run() {
    let dir = folder("changes");
    let changes = dir.path().join("changes.txt");
    let run = |lines: &str| {
        fs::write(&changes, lines).unwrap();
        refused(&["replay", "l3-ecmp", "--changes", text(&changes)])
    };
    let (code, said) =
        run("table_delete ipv4_route 0\n@5x table_delete ipv4_route 0\n@1ms table_delete ipv4_rote 0\n");
    assert_eq!(code, 2);
    for part in [
        "a line must start with its time, found `table_delete`",
        "changes.txt:1",
        "5x",
        "changes.txt:2",
        "did you mean `ipv4_route`",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let (code, said) = run("@1ms table_delete ipv4_route 0\n@2ms table_delete ipv4_route 0\n");
    assert_eq!(code, 2);
    assert!(said.contains("changes.txt:2") && !said.contains("changes.txt:1"), "{said}");
}

/// A generator that sends an IPv4 packet each microsecond from 2 us to 10 us; the frames that came in go on.
#[test]
fn generated_packets_are_counted_and_not_waited_for() {
    let dir = folder("pktgen");
    let (trace, changes) = (dir.path().join("in.pcap"), dir.path().join("changes.txt"));
    let frames: Vec<(u32, Vec<u8>)> = (0..20).map(|n| (n * 1_000, udp(n, 100))).collect();
    fs::write(&trace, pcap(&frames)).unwrap();
    let input = format!("0@{}", text(&trace));
    // The generator's header becomes the first six bytes of the destination address: the rest is the frame's.
    let bytes: String = udp(3, 60)[6..].iter().map(|b| format!("{b:02x}")).collect();
    let lines = format!(
        "@1us pktgen_write_buffer 0 0 {bytes}\n@1us pktgen_set_app 0 0 trigger=periodic time=1us length=54 source_port=6\n\
         @1us pktgen_enable 0 0\n@10500ns pktgen_disable 0 0\n"
    );
    fs::write(&changes, lines).unwrap();
    let args = ["replay", "l3-ecmp", "-i", &input, "--json", "--changes", text(&changes)];
    let found = json(&args);
    assert_eq!((&found["created"]["pktgen"], &found["packets"]["created"]), (&9.into(), &9.into()));
    let sum = |keys: &[&str]| keys.iter().map(|k| found["packets"][k].as_u64().unwrap()).sum::<u64>();
    assert_eq!(sum(&["in", "created"]), sum(&["out", "dropped", "absorbed", "held"]));
    assert_eq!(found["packets"]["in"], 20);
    let generator = found["ports"].as_array().unwrap().iter().find(|p| p["dev_port"] == 6).unwrap();
    assert_eq!((&generator["rx_packets"], &generator["rx_bytes"]), (&9.into(), &540.into()));
    // Without time there is no generator.
    fs::write(
        &changes,
        "@1us pktgen_set_app 0 0 trigger=periodic time=1us length=54 source_port=6\n@1us pktgen_enable 0 0\n",
    )
    .unwrap();
    let (code, said) = refused(&[&args[..4], &["--functional", "--changes", text(&changes)]].concat());
    assert_eq!(code, 2);
    assert!(said.contains("the packet generator needs time"), "{said}");
}

/// A run waits for packets in a queue that nobody resumes until the end of the drain.
#[test]
fn a_queue_that_stays_paused_ends_the_run_after_the_drain() {
    let dir = folder("changes-paused");
    let (trace, changes) = (dir.path().join("in.pcap"), dir.path().join("changes.txt"));
    let frames: Vec<(u32, Vec<u8>)> = (0..5).map(|n| (n * 1_000, udp(SLOW_PORT, 100))).collect();
    fs::write(&trace, pcap(&frames)).unwrap();
    // dev_port 296 is front-panel port 20.
    fs::write(&changes, (0..8).map(|queue| format!("@2500ns queue_pause 296 {queue}\n")).collect::<String>())
        .unwrap();
    let input = format!("0@{}", text(&trace));
    for obey in [&[][..], &["--obey-pfc"]] {
        let base =
            ["replay", "l3-ecmp", "-i", &input, "--json", "--drain", "3ms", "--changes", text(&changes)];
        let found = json(&[&base[..], obey].concat());
        let packets = |key: &str| found["packets"][key].as_u64().unwrap();
        assert!(packets("held") >= 2 && packets("out") + packets("held") == 5, "{found}");
    }
}
