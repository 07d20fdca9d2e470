//! `sluice polarization` and `sluice explain hashing` as users and scripts meet them.

use assert_cmd::Command;
use serde_json::Value;
use std::fs;

fn sluice(args: &[&str]) -> std::process::Output {
    Command::cargo_bin("sluice").unwrap().args(args).output().unwrap()
}

fn ok(args: &[&str]) -> String {
    let out = sluice(args);
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

fn refused(args: &[&str]) -> String {
    let out = sluice(args);
    assert_eq!((out.status.code(), out.stdout.len()), (Some(2), 0), "{args:?}");
    String::from_utf8(out.stderr).unwrap()
}

#[test]
fn schemes_are_compared_and_idle_groups_fail() {
    let text = ok(&["--json", "polarization", "--flows", "20000", "--schemes", "plain,recombine,ttl"]);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["schema"], "sluice.polarization/1");
    let [plain, recombine, ttl, ideal] = report["schemes"].as_array().unwrap().as_slice() else {
        panic!("{report}");
    };
    assert_eq!((&plain["verdict"], &recombine["verdict"]), (&"polarised".into(), &"balanced".into()));
    let s5 = plain["points"].as_array().unwrap().iter().find(|p| p["point"] == "s5").unwrap();
    assert_eq!((&s5["groups"], &s5["empty_groups"]), (&512.into(), &448.into()));
    assert!(s5["failed_groups"].as_u64() >= Some(448));
    assert!(ttl["reason"].as_str().unwrap().contains("no bin for the TTL"));
    assert_eq!((&ideal["scheme"], &ideal["verdict"]), (&"ideal mixer".into(), &"balanced".into()));
    assert_eq!(recombine["cdf_percent"].as_array().unwrap().len(), 101);
}

#[test]
fn output_folders_are_complete_and_repeat() {
    let dirs = [(); 2].map(|()| tempfile::tempdir().unwrap());
    for dir in &dirs {
        let path = dir.path().to_str().unwrap();
        let ring =
            ["polarization", "--topology", "dring", "--blocks", "5", "--flows", "5000", "--from-block", "0"];
        ok(&[&ring[..], &["--schemes", "per-stage,coprime", "--draws", "2", "-o", path]].concat());
    }
    for file in [
        "polarization.json",
        "polarization.txt",
        "cdf.svg",
        "links.csv",
        "links.svg",
        "sizes.svg",
        "manifest.json",
    ] {
        let [a, b] = [0, 1].map(|n| fs::read_to_string(dirs[n].path().join(file)).unwrap());
        assert_eq!(a, b, "{file}");
        assert!(!file.ends_with("svg") || a.starts_with("<svg") && a.ends_with("</svg>\n"), "{file}");
    }
    let json: Value =
        serde_json::from_str(&fs::read_to_string(dirs[0].path().join("polarization.json")).unwrap()).unwrap();
    // Every link has a line, and a group's lines add up to the same flows whatever the scheme.
    let csv = fs::read_to_string(dirs[0].path().join("links.csv")).unwrap();
    let rows: Vec<Vec<&str>> = csv.lines().skip(1).map(|l| l.split(',').collect()).collect();
    let flows = |scheme: &str, switch: &str| -> u64 {
        let of = rows.iter().filter(|r| r[0].starts_with(scheme) && r[2] == switch);
        of.map(|r| r[7].parse::<u64>().unwrap()).sum()
    };
    let first = rows.iter().find(|r| r[0].starts_with("coprime")).unwrap()[2];
    assert!(flows("coprime", first) > 0, "{csv}");
    let point =
        &json["schemes"].as_array().unwrap().iter().find(|s| s["scheme"] == "coprime").unwrap()["points"][0];
    let groups: std::collections::BTreeSet<_> =
        rows.iter().filter(|r| r[0] == "coprime" && r[1] == point["point"]).map(|r| r[3]).collect();
    assert_eq!(groups.len() as u64, point["groups"].as_u64().unwrap());
    let draws = json["draws"].as_array().unwrap();
    assert_eq!(
        (draws.len(), &draws[0]["name"], &draws[0]["draws"]),
        (1, &"per-stage, 2 draws".into(), &2.into())
    );
    let sizes = json["sizes"].as_array().unwrap();
    assert_eq!(sizes.iter().map(|s| s["members"].as_u64().unwrap()).collect::<Vec<_>>(), [9, 25, 41, 57, 73]);
}

#[test]
fn flows_come_from_a_capture_and_networks_from_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let (trace, net) = (dir.path().join("t.pcap"), dir.path().join("net.toml"));
    fs::write(&trace, sluice_pcaps::samples::L3_ECMP).unwrap();
    let text = "name = \"pair\"\nswitch = [{ name = \"a\", stage = 1, edge = true }, \
                { name = \"b\", stage = 1, edge = true }]\ncable = [{ between = [\"a\", \"b\"], links = 4 }]\n";
    fs::write(&net, text).unwrap();
    let (trace, net) = (trace.to_str().unwrap(), net.to_str().unwrap());
    let out = ok(&["polarization", "--topology", net, "--capture", trace, "--schemes", "plain,coprime"]);
    for part in ["pair", "from 803 frames; 3 without IP left out", "stage-1"] {
        assert!(out.contains(part), "{part}\n{out}");
    }
    assert!(refused(&["polarization", "--topology", "ring"]).contains("did you mean `dring`"));
    // The format of the ns-3 simulators, and a builder: two hosts at two edges over two switches.
    let ns3 = dir.path().join("ns3.txt");
    fs::write(
        &ns3,
        "6 4 6\n2 3 4 5\n0 2 1G 1us 0 1 3 1G 1us 0 2 4 1G 1us 0 2 5 1G 1us 0 3 4 1G 1us 0 3 5 1G 1us 0\n",
    )
    .unwrap();
    for topology in [ns3.to_str().unwrap(), "leaf-spine:leaves=2,spines=2,hosts=1"] {
        let of = |threads| {
            let net = ["--json", "polarization", "--topology", topology, "--flows", "9000"];
            ok(&[&net[..], &["--schemes", "plain,coprime", "--threads", threads]].concat())
        };
        let json: Value = serde_json::from_str(&of("1")).unwrap();
        assert_eq!(json["schemes"][0]["points"][0]["point"], "stage-1-up", "{topology}");
        assert_eq!(json["schemes"][0]["verdict"], "balanced");
        assert_eq!(of("1"), of("3"), "threads change nothing");
    }
    assert!(refused(&["polarization", "--fail", "s1-0-0:s9-0-0"]).contains("no switch `s9-0-0`"));
    assert!(refused(&["polarization", "--schemes", "fancy"]).contains("fancy"));
    assert!(refused(&["polarization", "--from-block", "99"]).contains("--from-block"));
    assert!(refused(&["polarization", "--capture", net]).contains("net.toml"));
}

/// The sample of `ecmp` and `wcmp` are flows that the same hash has picked out: a plain hash sends them all one way,
/// and so does a table of as many members as weights; what the planners make spreads them.
#[test]
fn the_sample_shows_what_replication_is_for() {
    let north = |args: &[&str]| -> Vec<u64> {
        let s: Value = serde_json::from_str(&ok(&[&["--json", "replay"], args].concat())).unwrap();
        let ports = s["ports"].as_array().unwrap().iter().filter(|p| p["dev_port"].as_u64() >= Some(136));
        ports.map(|p| p["tx_packets"].as_u64().unwrap()).collect()
    };
    assert_eq!(north(&["ecmp", "--set", "scheme=plain"]), [256]);
    let spread = north(&["ecmp"]);
    assert_eq!((spread.len(), spread.iter().sum::<u64>()), (8, 256));
    assert!(spread.iter().all(|n| *n < 64), "{spread:?}");
    assert_eq!(north(&["wcmp", "--set", "upstream=none"]), [256]);
    let weighted = north(&["wcmp"]);
    assert!(weighted.len() == 2 && weighted[0].abs_diff(192) < 16, "3 to 1: {weighted:?}");
}

#[test]
fn hashing_is_explained() {
    let text = ok(&["explain", "hashing", "--set", "upstream=8,9"]);
    for part in ["8 functions needed, 6 available", "share a factor", "upstream = 8,9", "US 11223561"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let json: Value = serde_json::from_str(&ok(&["--json", "explain", "hashing"])).unwrap();
    assert_eq!(json["hashing"]["params"]["ports"], "8");
    assert!(refused(&["explain", "hashing", "--set", "port=8"]).contains("did you mean `ports`?"));
    assert!(refused(&["explain", "no_route", "--set", "ports=8"]).contains("no effect on this word"));
}
