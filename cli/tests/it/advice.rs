//! Outputs say what was done, what was not, and what would help.

use crate::support::{folder, json, ok, refused, text};
use assert_cmd::cargo::cargo_bin;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Returns the arguments of lossless traffic from four ports to the slow one, above its rate.
fn incast(dir: &Path) -> Vec<String> {
    let path = dir.join("incast.pcap");
    let rate = ["--rate", "300Gbps", "--size", "1000", "--packets", "2500"];
    let to = ["--dst", "10.9.9.9/32", "--dscp", "3", "--flows", "16"];
    ok(&[&["gen", "udp", "-o", text(&path)][..], &rate, &to].concat());
    (0..4).flat_map(|port| ["-i".to_owned(), format!("{port}@{}", text(&path))]).collect()
}

#[test]
fn senders_that_ignore_pauses_are_named_before_the_profile() {
    let dir = folder("pauses");
    let profile = sluice_asic::tm::buffer::BufferFile::text_of("tofino2").unwrap();
    let small = profile
        .replace("size = \"43067728B\"", "size = \"880000B\"")
        .replace("size = \"3153920B\"", "size = \"704000B\"");
    let path = dir.path().join("profile.toml");
    fs::write(&path, small).unwrap();
    let inputs = incast(dir.path());
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    let replay =
        |more: &[&str]| ok(&[&["replay", "l3-ecmp", "--buffer", text(&path)][..], &inputs, more].concat());
    let ignored = replay(&[]);
    let hint = ignored.find("try: --obey-pfc, because the switch sent ").unwrap();
    let raise = ignored.find("raise the pool's xoff").or(ignored.find("raise the group's xoff")).unwrap();
    assert!(hint < raise, "{ignored}");
    let obeyed = replay(&["--obey-pfc"]);
    assert!(!obeyed.contains("try: --obey-pfc"), "{obeyed}");
}

#[test]
fn frames_that_a_mac_takes_are_explained() {
    let dir = folder("taken");
    let path = dir.path().join("pfc.pcap");
    ok(&["gen", "pfc", "-o", text(&path), "--packets", "10"]);
    let input = format!("0@{}", text(&path));
    let out = ok(&["replay", "l3-ecmp", "--buffer", "chip", "-i", &input]);
    assert!(
        out.contains("10 absorbed (100.0 %)  mac_control: PFC and PAUSE frames that the switch's MACs took"),
        "{out}"
    );
}

#[test]
fn a_check_says_which_properties_hold() {
    let out = ok(&["replay", "ecmp", "--check"]);
    let line = out.lines().find(|l| l.starts_with("properties: all ")).unwrap();
    let (count, names) = line.strip_prefix("properties: all ").unwrap().split_once(" hold: ").unwrap();
    let names: BTreeSet<&str> = names.split(", ").collect();
    assert_eq!(count.parse(), Ok(names.len()));
    assert!(names.contains("conservation") && names.len() > 3, "{line}");
    assert!(!ok(&["replay", "ecmp"]).contains("properties:"));
}

#[test]
fn a_hunt_without_inputs_is_refused() {
    for (args, words) in [(["--cases", "0"], "at least 1"), (["--time", "0s"], "no time for an input")] {
        let (code, stderr) = refused(&[&["fuzz", "ecmp"][..], &args].concat());
        assert!(code == 2 && stderr.contains(words), "{stderr}");
    }
}

#[test]
fn a_closed_stderr_does_not_change_the_exit_code() {
    for args in [["replay", "no-such-program"], ["report", "no-such-program"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = Command::new(cargo_bin("sluice"));
        let status = command.args(args).stdout(Stdio::null()).stderr(writer).status().unwrap();
        assert_eq!(status.code(), Some(2), "{args:?}");
    }
}

/// Returns the names of the files in a folder, and those that its manifest lists.
fn files(dir: &Path) -> [BTreeSet<String>; 2] {
    let there = fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let manifest: Value = serde_json::from_slice(&fs::read(dir.join("manifest.json")).unwrap()).unwrap();
    let listed = manifest["files"].as_array().unwrap().iter().map(|f| f["file"].as_str().unwrap().to_owned());
    [there.collect(), listed.collect()]
}

#[test]
fn a_folder_has_the_files_of_the_last_run_and_those_of_others() {
    let dir = folder("again");
    let out = dir.path().join("out");
    let to = ["-o", text(&out)];
    ok(&[&["replay", "l3-ecmp", "--trace", "--limit", "5"][..], &to].concat());
    let own = out.join("notes.txt");
    fs::write(&own, "mine").unwrap();
    let [before, _] = files(&out);
    assert!(before.contains("trace.txt"));
    ok(&[&["report", "l3-ecmp"][..], &to].concat());
    let again = crate::support::sluice(&[&["replay", "l3-ecmp", "--limit", "5"][..], &to].concat());
    let said = String::from_utf8(again.stderr).unwrap();
    assert_eq!(said, format!("note: removed files of an earlier run from {}: trace.txt\n", text(&out)));
    let [there, listed] = files(&out);
    assert!(!there.contains("trace.txt") && there.contains("out.pcapng") && there.contains("report.html"));
    let mut expected = listed;
    expected.insert("notes.txt".to_owned());
    assert_eq!(there, expected);
    // A manifest cannot name files elsewhere.
    let outside = dir.path().join("outside.txt");
    fs::write(&outside, "mine").unwrap();
    let text = r#"{ "schema": "sluice.manifest/1", "files": [{ "file": "../outside.txt" }] }"#;
    fs::write(out.join("manifest.json"), text).unwrap();
    let (code, said) = refused(&[&["replay", "l3-ecmp", "--limit", "5", "-q"][..], &to].concat());
    // What it does not name is not of Sluice.
    assert!(code == 2 && said.contains("is not of Sluice and is not replaced"), "{said}");
    assert!(outside.exists() && own.exists());
}

/// A contest of one message between two leaves.
const CONTEST: &str = r#"
name = "one message"
topology = "leaf-spine:leaves=2,spines=2,hosts=2,rate=100G,delay=500ns"
port_speed = "100G"
seeds = 1
[workload]
flows = "flows.txt"
time = "10us"
[hosts]
cable = "500ns"
recovery = "go-back-n"
[[program]]
name = "ecmp"
"#;

#[test]
fn a_file_of_the_user_stops_a_command_before_its_work() {
    let dir = folder("foreign");
    let place = |name: &str| text(&dir.path().join(name)).to_owned();
    fs::write(place("c.toml"), CONTEST).unwrap();
    fs::write(place("flows.txt"), "1\n0 2 3 100000 0.0 50000\n").unwrap();
    ok(&["gen", "udp", "--packets", "8", "-o", &place("t.pcap")]);
    let [contest, capture] = [place("c.toml"), place("t.pcap")];
    let net = "leaf-spine:leaves=2,spines=2,hosts=2";
    let sent = &format!("leaf0:0@{capture}");
    let commands: [(&[&str], &str); 20] = [
        (&["replay", "ecmp"], "out.pcapng"),
        (&["replay", "ecmp", "--coverage"], "coverage.html"),
        (&["replay", "ecmp", "--topology", net, "-i", sent], "leaf1.pcapng"),
        (&["replay", "ecmp", "--topology", net, "-i", sent], "spine0.state.json"),
        (&["run", "--filter", "8.1"], "run.csv"),
        (&["run", &contest], "contest.json"),
        (&["run", &contest], "runs"),
        (&["run", &contest, "--watch-flow", "1"], "flow.html"),
        (&["run", &contest, "--write-flows"], "flows.1.csv"),
        (&["reproduce", "hashing/wan"], "hashing-wan.md"),
        (&["fuzz", "ecmp", "--cases", "1"], "failure-1.txt"),
        (&["report", "ecmp"], "report.html"),
        (&["report", "ecmp", "--sweep", "routes=1..64"], "sweep.csv"),
        (&["report", "ecmp", "--compare", "l3-ecmp"], "comparison.json"),
        (&["entries", "ecmp", "--topology", net], "leaf0.toml"),
        (&["programs", "ecmp", "--ir", "--topology", net], "ecmp.sluice"),
        (&["int", "decode", &capture], "hops.csv"),
        (&["flowlets", "-i", &capture], "flowlets.json"),
        (&["polarization", "--flows", "2000"], "cdf.svg"),
        (&["man"], "sluice-run.1"),
    ];
    for (number, (command, name)) in commands.into_iter().enumerate() {
        let out = dir.path().join(format!("out{number}"));
        fs::create_dir(&out).unwrap();
        fs::write(out.join(name), "mine").unwrap();
        let to: &[&str] =
            if command.contains(&"--write-flows") { &[text(&out)] } else { &["-o", text(&out)] };
        let (code, said) = refused(&[command, to].concat());
        let path = out.join(name);
        let expected = match name {
            "runs" => format!("error: {} is not a folder", text(&path)),
            _ => format!("error: {} is not of Sluice and is not replaced", text(&path)),
        };
        assert!(code == 2 && said.contains(&expected), "{command:?}: {said}");
        let left: Vec<_> = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(
            (left, fs::read_to_string(&path).unwrap().as_str()),
            (vec![name.into()], "mine"),
            "{command:?}"
        );
    }
}

#[test]
fn a_timeline_without_a_drawing_says_so() {
    let dir = folder("idle");
    let svg = dir.path().join("t.svg");
    let network = ["--topology", "leaf-spine:leaves=2,spines=2", "--limit", "0", "--timeline", text(&svg)];
    let out = crate::support::sluice(&[&["replay", "conweave"][..], &network].concat());
    let said = String::from_utf8(out.stderr).unwrap();
    assert!(out.status.success() && said.contains("t.svg: no drawing"), "{said}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn the_last_parameter_of_a_range_is_accepted() {
    let listed = json(&["programs", "conweave", "--json"]);
    let idle = listed["params"].as_array().unwrap().iter().find(|p| p["key"] == "idle_ms").unwrap();
    assert!(idle["doc"].as_str().unwrap().contains("315"), "{idle}");
    ok(&["programs", "conweave", "--ir", "--set", "idle_ms=315"]);
    let (code, stderr) = refused(&["programs", "conweave", "--ir", "--set", "idle_ms=316"]);
    assert!(code == 2 && stderr.contains("10 to 315"), "{stderr}");
}
