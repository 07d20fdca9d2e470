//! Programs that are files: round trips of shipped programs, errors, parameters, networks and contests.

use crate::support::{folder, json, ok, refused, text};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Returns what a command says of its input; its exit code is 2.
fn refusal(args: &[&str]) -> String {
    let (code, said) = refused(args);
    assert_eq!(code, 2, "{args:?}: {said}");
    said
}

/// The sketch of the examples.
const SKETCH: &str = include_str!("../../../examples/sketch.sluice");

/// Keys of a report that are places in a source.
const PLACES: [&str; 6] = ["source", "loc", "file", "line", "called_from", "program"];

/// Returns a report without places in sources.
fn placeless(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.into_iter().filter(|(key, _)| !PLACES.contains(&key.as_str()));
            Value::Object(kept.map(|(key, value)| (key, placeless(value))).collect())
        }
        Value::Array(list) => Value::Array(list.into_iter().map(placeless).collect()),
        other => other,
    }
}

/// Returns the sample that has packets for a program's default entries.
fn sample(program: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let own = ["programs/samples", "pcaps/samples"].map(|dir| root.join(dir).join(format!("{program}.pcap")));
    let other = root.join("pcaps/samples/flowlets.pcap");
    let path = own.into_iter().find(|path| path.exists()).unwrap_or(other);
    format!("0@{}", path.display())
}

#[test]
fn every_shipped_program_makes_the_round_trip() {
    let dir = folder("round_trip");
    let programs = json(&["programs", "--json"]);
    let names: Vec<&str> =
        programs["programs"].as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 17);
    for name in names {
        let file = dir.path().join(format!("{name}.sluice"));
        fs::write(&file, ok(&["programs", name, "--ir"])).unwrap();
        let own = placeless(json(&["report", name, "--json"]));
        let of_file = placeless(json(&["report", text(&file), "--json"]));
        assert_eq!(own, of_file, "{name}");
        let entries = dir.path().join(format!("{name}.toml"));
        let printed = ok(&["entries", name]);
        fs::write(&entries, &printed).unwrap();
        let (input, out) = (sample(name), [dir.path().join("a"), dir.path().join("b")]);
        ok(&["replay", name, "-i", &input, "-o", text(&out[0])]);
        let mut args =
            vec!["replay", text(&file), "-i", &input, "-o", text(&out[1]), "--entries", text(&entries)];
        // Default entries may come with slower ports, which the printed entries name.
        let slow = printed.lines().filter_map(|line| line.split_once("--port ")).map(|(_, port)| port);
        slow.for_each(|port| args.extend(["--port", port]));
        ok(&args);
        let bytes = out.map(|dir| fs::read(dir.join("out.pcapng")).unwrap());
        assert!(bytes[0].len() > 10_000, "{name}: {} bytes", bytes[0].len());
        assert!(bytes[0] == bytes[1], "{name}: the captures differ");
    }
}

/// A contest of a shipped program with its file, in a network of two leaves and two spines.
fn contest(program: &str) -> String {
    format!(
        r#"
id = "round-trip"
name = "a program and its file"
source = "own"
topology = "{TOPOLOGY}"
port_speed = "100G"
seeds = 1
alone = "own"

[workload]
sizes = "solar"
load = 30
time = "40us"

[hosts]
cable = "500ns"
recovery = "go-back-n"

[[program]]
name = "{program}"
label = "own"

[[program]]
file = "{program}/{program}.sluice"
entries = "{program}/{{switch}}.toml"
label = "file"
"#
    )
}

const TOPOLOGY: &str = "leaf-spine:leaves=2,spines=2,hosts=2,rate=100G,delay=500ns";

#[test]
fn a_contest_is_the_same_with_the_files_of_a_network() {
    let dir = folder("round_trip_contest");
    for program in ["ecmp", "hula", "conweave"] {
        let files = dir.path().join(program);
        let network = ["--topology", TOPOLOGY, "--port-speed", "100G", "-o", text(&files)];
        ok(&[&["programs", program, "--ir"], &network[..]].concat());
        ok(&[&["entries", program], &network[..]].concat());
        let file = dir.path().join(format!("{program}.toml"));
        fs::write(&file, contest(program)).unwrap();
        let found = json(&["run", text(&file), "--json"]);
        let results = found["contests"][0]["programs"].as_array().unwrap().iter().map(|program| {
            let mut program = program.clone();
            program
                .as_object_mut()
                .unwrap()
                .retain(|key, _| !["label", "program", "params", "runs"].contains(&key.as_str()));
            program
        });
        let results: Vec<Value> = results.collect();
        assert_eq!(results.len(), 2);
        let messages = results[0]["numbers"]["messages"]["mean"].as_f64().unwrap();
        assert!(messages > 3.0, "{}", results[0]);
        assert_eq!(results[0]["unfinished"], Value::Array(Vec::new()), "{program}");
        assert_eq!(results[0], results[1], "{program}");
    }
    // The leaves and the spines of ConWeave are two programs, which the file's roles name.
    let leaf = fs::read_to_string(dir.path().join("conweave/conweave.sluice")).unwrap();
    assert!(
        leaf.ends_with("\nrole \"spine0\" = \"spine0.sluice\";\nrole \"spine1\" = \"spine0.sluice\";\n"),
        "{leaf}"
    );
}

#[test]
fn a_program_of_ones_own_is_placed_replayed_hunted_and_compared() {
    let dir = folder("own_program");
    let file = dir.path().join("sketch.sluice");
    fs::write(&file, SKETCH).unwrap();
    let name = text(&file);
    assert!(ok(&["report", name]).starts_with("sketch on tofino2: fits, 3 of 20 stages"));
    let said = ok(&["programs", name]);
    assert!(
        said.contains("threshold = 100\n      Packets from which on a flow is heavy (1 to 2047)"),
        "{said}"
    );
    // Of the sample's 803 packets, 91 are not IPv4 and 4 have a TTL of 0 or 1. Of 40 flows more than four packets come.
    let summary =
        json(&["replay", name, "--set", "threshold=5", "--check", "--json", "-i", &sample("l3-ecmp")]);
    assert_eq!((&summary["packets"]["out"], &summary["absorbed"]["digest"]), (&708.into(), &40.into()));
    assert_eq!(summary["violations"], Value::Array(Vec::new()));
    let hunted = json(&["fuzz", name, "--set", "threshold=3", "--cases", "24", "--json"]);
    assert_eq!(hunted["failures"], Value::Array(Vec::new()));
    let contest = contest("ecmp").replace("ecmp/ecmp.sluice", "sketch.sluice").replace("entries =", "#");
    let path = dir.path().join("contest.toml");
    fs::write(&path, contest).unwrap();
    let found = json(&["run", text(&path), "--json"]);
    assert_eq!(found["contests"][0]["programs"][1]["program"], "sketch");
    assert_eq!(found["contests"][0]["programs"][1]["unfinished"], Value::Array(Vec::new()));
}

#[test]
fn a_hunt_finds_what_a_property_of_the_file_forbids() {
    let dir = folder("own_mistake");
    let file = dir.path().join("wrong.sluice");
    // Without the test of the TTL, a packet with TTL 0 leaves with TTL 255.
    let guard = "if (ipv4.ttl <= 8w1) { call expired; } else { apply route; }";
    assert!(SKETCH.contains(guard));
    fs::write(&file, SKETCH.replace(guard, "apply route;")).unwrap();
    let out = crate::support::sluice(&["fuzz", text(&file), "--cases", "64", "--json"]);
    assert_eq!(out.status.code(), Some(1));
    let found: Value = serde_json::from_slice(&out.stdout).unwrap();
    let failure = &found["failures"][0];
    assert_eq!(failure["property"], "keeps_the_rest");
    let said = failure.to_string();
    assert!(said.contains("ipv4.ttl came with 0x0, sent with 0xff"), "{said}");
}

#[test]
fn parameters_are_set_within_their_range() {
    let dir = folder("own_params");
    let file = dir.path().join("sketch.sluice");
    fs::write(&file, SKETCH).unwrap();
    let said = |set: &str| refusal(&["report", text(&file), "--set", set]);
    assert!(
        said("threshold=0").contains("parameter `threshold` is `0`; expected 1 to 2047"),
        "{}",
        said("threshold=0")
    );
    assert!(said("treshold=7").contains("unknown parameter `treshold`; did you mean `threshold`?"));
    let wrong = said("columns=1000000");
    assert!(wrong.contains("expected 16 to 65536"), "{wrong}");
    // A width that follows from parameters may be refused, at its place in the text.
    let file = dir.path().join("narrow.sluice");
    fs::write(&file, SKETCH.replace("1 .. 2047", "1 .. 0x1ffffffff")).unwrap();
    let wrong = refusal(&["report", text(&file), "--set", "threshold=0x1ffffffff"]);
    assert!(wrong.contains("the value 8589934591") && wrong.contains("a value of 32 bits"), "{wrong}");
    // A text that was printed has its values in it.
    let file = dir.path().join("printed.sluice");
    fs::write(&file, ok(&["programs", "l3-ecmp", "--ir"])).unwrap();
    let wrong = refusal(&["report", text(&file), "--set", "ipv4_routes=16"]);
    assert!(wrong.contains("the text was printed with `ipv4_routes` = `"), "{wrong}");
    let wrong = refusal(&["report", text(&file), "--set", "colour=16"]);
    assert!(wrong.contains("the text declares no parameters, so `colour` cannot be set"), "{wrong}");
}

/// Returns what `sluice check` says of a file with this content.
fn checked(name: &str, content: &[u8]) -> String {
    let dir = folder("own_mistakes");
    let file = dir.path().join(name);
    fs::write(&file, content).unwrap();
    let said = refusal(&["check", text(&file)]);
    said.replace(&format!("{}/", dir.path().display()), "")
}

#[test]
fn mistakes_have_a_place_a_source_line_and_advice() {
    let wrong = checked("a.sluice", SKETCH.replace("table route :", "tabl route :").as_bytes());
    assert!(
        wrong.contains("found `tabl`, expected ") && wrong.contains("help: did you mean `table`?"),
        "{wrong}"
    );
    assert!(wrong.contains("tabl route : ingress {\n") && wrong.contains("^^^^"), "{wrong}");
    let line = SKETCH.lines().position(|line| line.starts_with("table route :")).unwrap() + 1;
    assert!(wrong.contains(&format!("a.sluice:{line}:1")), "{wrong}");
    let wrong = checked("a.sluice", SKETCH.replace("call least;", "call laest;").as_bytes());
    assert!(wrong.contains("expected an action") && wrong.contains("did you mean `least`?"), "{wrong}");
    let wrong = checked("a.sluice", SKETCH.replace("9> port", "8> port").as_bytes());
    assert!(wrong.contains("ig_tm.ucast_egress_port = port;"), "{wrong}");
    let wrong = checked("a.sluice", SKETCH.replace("sluice 1;", "").as_bytes());
    assert!(wrong.contains("write `sluice 1;` as the first declaration"), "{wrong}");
    let wrong = checked("a.sluice", SKETCH.replace("sluice 1;", "sluice 2;").as_bytes());
    assert!(wrong.contains("found `2`, expected version `1`"), "{wrong}");
    let wrong = checked("a.sluice", SKETCH.replace("out.ipv4.ttl", "out.ipv4.tll").as_bytes());
    assert!(
        wrong.contains("expected a header field of ingress") && wrong.contains("did you mean `ipv4.ttl`?"),
        "{wrong}"
    );
    let wrong = checked(
        "a.sluice",
        SKETCH.replace("routes route = forward(port)", "routes route = unreachable(port)").as_bytes(),
    );
    assert!(wrong.contains("action `unreachable` has 0 parameters, not 1"), "{wrong}");
    let value = crate::support::sluice(&["check", "no-such-file.sluice"]);
    assert_eq!(value.status.code(), Some(2));
}

#[test]
fn a_file_that_is_no_program_is_refused_at_once() {
    let p4 = b"#include <core.p4>\n#include <tna.p4>\nparser P(packet_in pkt) { state start { transition accept; } }\n";
    assert!(checked("a.sluice", p4).contains("this is P4"));
    assert!(checked("a.sluice", b"sluice 1;\n\xff\xfe").contains("a.sluice:2: the file is not text"));
    assert!(checked("a.sluice", b"{\"json\": 1}").contains("found `{`, expected "));
    assert!(checked("a.sluice", b"").contains("does not state the version"));
    assert!(checked("a.sluice", b"sluice 1;").contains("does not name the program"));
    for deep in ["(", "!", "{", "if (valid(ipv4)) {"] {
        let head = "sluice 1; program deep; header ipv4 : ingress { bit<8> a; } control ingress { if (";
        let text = format!("{head}{}", deep.repeat(900_000 / deep.len()));
        assert!(!checked("a.sluice", text.as_bytes()).contains("panicked"));
    }
    let long = checked("a.sluice", "/".repeat(10 << 20).as_bytes());
    assert!(long.contains("the file has more than 1048576 bytes"), "{long}");
}

#[test]
fn a_watched_file_is_placed_again_when_it_changes() {
    let dir = folder("own_watch");
    let file = dir.path().join("sketch.sluice");
    fs::write(&file, SKETCH).unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_sluice"));
    let args = ["report", text(&file), "--watch=1"];
    let mut child = command.args(args).stdout(std::process::Stdio::piped()).spawn().unwrap();
    // The watch ends after one change; the first of these that comes after the start is it.
    let changed = SKETCH.replace("param columns = 4096", "param columns = 65536");
    let mut writes = 0;
    while child.try_wait().unwrap().is_none() {
        writes += 1;
        assert!(writes < 150, "the watch does not end");
        // Longer than the time for which a text must stay as it is.
        std::thread::sleep(std::time::Duration::from_millis(400));
        fs::write(&file, format!("{changed}// {writes}\n")).unwrap();
    }
    let out = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert!(out.starts_with("sketch on tofino2: fits, 3 of 20 stages"), "{out}");
    let second = out.split("sketch on tofino2: fits, 3 stages\n").nth(1);
    // Each row of the sketch has 65536 elements of 32 bits: 16 times the 4 + 1 blocks of 4096 elements, and spares.
    let different = second.is_some_and(|text| text.contains("SRAM: ")) || out.contains("columns = 65536");
    assert!(different, "{out}");
    assert!(refusal(&["report", "ecmp", "--watch"]).contains("--watch: `ecmp` is not a file"));
}

#[test]
fn a_new_text_is_a_program_that_works() {
    let dir = folder("new_text");
    let new = |name: &str| {
        assert_cmd::Command::cargo_bin("sluice")
            .unwrap()
            .current_dir(dir.path())
            .args(["new", "--text", name])
            .output()
            .unwrap()
    };
    assert!(new("heavy-flows").status.success());
    let file = dir.path().join("heavy-flows.sluice");
    let said = ok(&["check", text(&file), "--place"]);
    assert!(said.contains("program `heavy-flows`") && said.contains("fits tofino2"), "{said}");
    let again = new("heavy-flows");
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("heavy-flows.sluice exists already"));
    for wrong in ["", "Heavy", "a/b", "9th", "a-"] {
        assert_eq!(new(wrong).status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn the_page_on_writing_a_program_shows_what_the_binary_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let args = ["--binary", env!("CARGO_BIN_EXE_sluice"), "--only", "docs/write-a-program"];
    let mut tool = std::process::Command::new("python3");
    let out =
        tool.arg(root.join("checks/docs.py")).args(args).output().expect("checks/docs.py needs python3");
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success() && said.contains(" commands on 1 pages"), "{said}");
}

#[test]
fn a_new_crate_is_the_example_under_its_name() {
    let dir = folder("new_crate");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    let new = |args: &[&str]| {
        let mut command = assert_cmd::Command::cargo_bin("sluice").unwrap();
        command.current_dir(dir.path()).arg("new").args(args).output().unwrap()
    };
    assert!(new(&["top-talkers"]).status.success());
    let example = root.join("examples/heavy-hitter");
    for file in ["Cargo.toml", "Cargo.lock", "src/lib.rs", "src/agent.rs", "src/main.rs", "tests/packets.rs"]
    {
        let own = fs::read_to_string(example.join(file)).unwrap();
        let own = own.replace("heavy-hitter", "top-talkers").replace("heavy_hitter", "top_talkers");
        let own = own.replace("HeavyHitter", "TopTalkers");
        let path = format!("path = \"{}\"", root.join("cli").display());
        let own = own.replace("path = \"../../cli\"", &path);
        assert_eq!(fs::read_to_string(dir.path().join("top-talkers").join(file)).unwrap(), own, "{file}");
    }
    let refused = |args: &[&str], why: &str| {
        let out = new(args);
        assert_eq!(out.status.code(), Some(2), "{args:?}");
        assert!(String::from_utf8_lossy(&out.stderr).contains(why), "{args:?}");
    };
    refused(&["top-talkers"], "top-talkers exists already");
    refused(&["other", "--sluice", "no-such-folder"], "no-such-folder is no checkout of Sluice");
    refused(&["struct"], "`struct` is not a name of a program");
    assert!(!dir.path().join("other").exists());
}

#[test]
fn roles_may_name_each_other_and_a_missing_file_is_named() {
    let dir = folder("own_roles");
    let role = |other: &str| format!("{SKETCH}\nrole core = \"{other}\";\n");
    let (a, b) = (dir.path().join("a.sluice"), dir.path().join("b.sluice"));
    fs::write(&a, role("b.sluice")).unwrap();
    fs::write(&b, role("a.sluice")).unwrap();
    let written = dir.path().join("out");
    ok(&["entries", text(&a), "--topology", TOPOLOGY, "-o", text(&written)]);
    // The spines run the second file, which the catalogue knows by its path.
    let spine = fs::read_to_string(written.join("spine0.toml")).unwrap();
    assert!(
        spine.starts_with("# entries of ") && spine.lines().next().unwrap().ends_with("b.sluice"),
        "{spine}"
    );
    fs::write(&b, role("c.sluice")).unwrap();
    let wrong = refusal(&["report", text(&a)]);
    assert!(wrong.contains("b.sluice: role: cannot read ") && wrong.contains("c.sluice"), "{wrong}");
    assert!(refusal(&["report", "no-such.sluice"]).contains("cannot read no-such.sluice"));
    assert!(refusal(&["report", "mine.p4"]).contains("`mine.p4` is not found"));
}
