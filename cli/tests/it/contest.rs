//! `sluice run` of contests: programs that serve the same hosts, through the real binary.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A contest of two programs between two leaves, short enough for a build without optimisation.
const SMALL: &str = r#"
id = "small"
name = "two leaves, two spines"
topology = "leaf-spine:leaves=2,spines=2,hosts=1,rate=100G,delay=500ns"
port_speed = "100G"
buffer = "rdma.toml"
seed = 3
expect = ["ecmp.unfinished == 0", "conweave.unfinished == 0", "conweave.dropped + ecmp.dropped == 0"]

[workload]
sizes = "ali-storage"
load = 40
time = "40us"
between_switches = true

[hosts]
cable = "500ns"
recovery = "go-back-n"
reaction = { form = "mellanox", line = "100G" }

[[program]]
name = "ecmp"

[[program]]
name = "conweave"
"#;

/// A folder with the contest and its buffer profile.
fn folder(text: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("small.toml"), text).unwrap();
    let profile = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fabric/contests/rdma-9mb.toml");
    fs::copy(profile, dir.path().join("rdma.toml")).unwrap();
    dir
}

/// Exit code, standard output and standard error of a run in a folder.
fn run(dir: &Path, args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_sluice")).current_dir(dir).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn programs_serve_the_same_hosts_and_everything_is_told() {
    let dir = folder(SMALL);
    let (code, text, error) = run(dir.path(), &["run", "small.toml", "-o", "one"]);
    assert_eq!((code, error.as_str()), (0, ""), "{text}");
    assert!(text.contains("two leaves, two spines") && text.contains("ALONE NS"), "{text}");
    assert_eq!(text.matches("holds  ").count(), 3, "{text}");
    let value: Value =
        serde_json::from_str(&fs::read_to_string(dir.path().join("one/contest.json")).unwrap()).unwrap();
    assert_eq!(value["schema"], "sluice.contest/1");
    let number = |program: usize, name: &str| {
        value["contests"][0]["programs"][program]["numbers"][name].as_i64().unwrap()
    };
    // Both sent the same messages, every packet was acknowledged, and the longer pipeline shows.
    assert!(number(0, "messages") > 10);
    assert_eq!(number(0, "messages"), number(1, "messages"));
    assert_eq!(number(0, "sent"), number(0, "acks"));
    assert!(number(1, "alone_ns") > number(0, "alone_ns"));
    assert!(number(0, "avg") >= 1000 && number(0, "p99") >= number(0, "p50"));
    let units = &value["contests"][0]["programs"][0]["units"];
    for (name, unit) in [("avg", "thousandths"), ("small_p99", "thousandths"), ("alone_ns", "ns")] {
        assert_eq!(units[name], unit, "{name}");
    }
    assert!(units.get("messages").is_none() && units.get("sent").is_none());
    let rows = fs::read_to_string(dir.path().join("one/messages.csv")).unwrap();
    assert_eq!(rows.lines().count() as i64, 1 + 2 * number(0, "messages"));
    for file in ["contest.md", "slowdown.svg", "sizes.svg", "manifest.json"] {
        assert!(dir.path().join("one").join(file).exists(), "{file}");
    }
    // Neither threads nor another run change a byte.
    assert_eq!(run(dir.path(), &["run", "small.toml", "-o", "two", "--threads", "2"]).0, 0);
    for entry in fs::read_dir(dir.path().join("one")).unwrap() {
        let name = entry.unwrap().file_name();
        let read = |folder: &str| fs::read(dir.path().join(folder).join(&name)).unwrap();
        assert!(read("one") == read("two"), "{name:?} differs");
    }
}

#[test]
fn what_does_not_hold_is_said_and_ends_with_one() {
    let one = SMALL.replace("[[program]]\nname = \"conweave\"\n", "");
    let expecting = |expect: &str| {
        let start = one.find("expect").unwrap();
        let end = start + one[start..].find('\n').unwrap();
        let dir = folder(&one.replace(&one[start..end], &format!("expect = [\"{expect}\"]")));
        run(dir.path(), &["run", "small.toml"])
    };
    let (code, text, _) = expecting("ecmp.avg < 1000");
    assert_eq!(code, 1);
    assert!(text.contains("FAILS  ecmp.avg < 1000  (0: ecmp.avg 1"), "{text}");
    let (code, text, _) = expecting("conweave.avg > 0");
    assert_eq!(code, 1);
    assert!(text.contains("FAILS  line 8: `conweave.avg > 0`: no program is called `conweave`"), "{text}");
    let (_, text, _) = expecting("ecmp.average > 0");
    assert!(text.contains("`ecmp` has no number `average`; there are acks, alone_ns, avg"), "{text}");
}

#[test]
fn files_that_make_no_sense_are_refused_with_the_place() {
    let refused = |from: &str, to: &str| {
        assert!(SMALL.contains(from), "{from}");
        let dir = folder(&SMALL.replace(from, to));
        let (code, text, error) = run(dir.path(), &["run", "small.toml"]);
        assert_eq!((code, text.as_str()), (2, ""), "{error}");
        error
    };
    for (from, to, said) in [
        ("load = 40", "load = 0", "workload.load is 0; expected 1 to 100 percent"),
        ("load = 40", "laod = 40", "unknown field `laod`"),
        ("time = \"40us\"", "time = \"40us\"\nwarm_up = \"40us\"", "no message would be judged"),
        ("\"ali-storage\"", "\"ali\"", "expected ali-storage, solar, or a file"),
        ("name = \"ecmp\"", "name = \"ecpm\"", "line 21: switch `leaf0`: there is no program `ecpm`"),
        ("name = \"conweave\"", "name = \"ecmp\"", "two programs are called `ecmp`; give one a `label`"),
        ("leaves=2", "leaves=1", "leaves is `1`; expected"),
        ("\"rdma.toml\"", "\"rmda\"", "there is no buffer profile `rmda`"),
        ("hosts=1", "hosts=0", "the network has no hosts"),
        ("cable = \"500ns\"", "cable = \"0ns\"", "`cable` of the host is 0"),
    ] {
        let error = refused(from, to);
        assert!(error.contains(said), "{to}: {error}");
    }
    let dir = folder(SMALL);
    fs::write(
        dir.path().join("other.toml"),
        "[[skip]]\nid = \"1\"\nsource = \"\"\ntitle = \"\"\nreason = \"\"\n",
    )
    .unwrap();
    let (code, _, error) = run(dir.path(), &["run", "small.toml", "other.toml"]);
    assert!(code == 2 && error.contains("either contests or scenarios"), "{error}");
    let (code, _, error) = run(dir.path(), &["run", "small.toml", "-o", "x", "--timelines", "svg"]);
    assert!(code == 2 && error.contains("--timelines is for scenarios"), "{error}");
}

#[test]
fn contests_that_come_along_are_listed_by_their_ids() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fabric/contests");
    let (code, text, error) = run(
        &folder,
        &[
            "run",
            "--list",
            "leaf-spine-4.toml",
            "leaf-spine-8x8.toml",
            "leaf-spine-8x8-80.toml",
            "reorder-memory.toml",
        ],
    );
    assert_eq!((code, error.as_str()), (0, ""));
    for id in ["conweave-62-4", "conweave-62 ", "conweave-62-80", "conweave-62-memory"] {
        assert!(text.contains(id) && text.contains("conweave §7.62"), "{text}");
    }
}

#[test]
fn a_cable_that_goes_down_for_good_leaves_messages_unfinished_and_the_run_ends() {
    let topology = r#"
name = "one cable"
[[switch]]
name = "leaf0"
hosts = 1
[[switch]]
name = "leaf1"
hosts = 1
[[cable]]
between = ["leaf0", "leaf1"]
delay = "500ns"
[[event]]
at = "20us"
cable = ["leaf0", "leaf1"]
set = "down"
"#;
    let builder = "\"leaf-spine:leaves=2,spines=2,hosts=1,rate=100G,delay=500ns\"";
    let start = SMALL.find("[[program]]\nname = \"conweave\"").unwrap();
    let text = SMALL[..start].replace(builder, "\"cable.toml\"");
    let text = text.replace(
        "expect = [\"ecmp.unfinished == 0\", \"conweave.unfinished == 0\", \"conweave.dropped + ecmp.dropped == 0\"]",
        "expect = [\"ecmp.unfinished > 0\"]\ndrain = \"1ms\"",
    );
    let dir = folder(&text);
    fs::write(dir.path().join("cable.toml"), topology).unwrap();
    let (code, text, error) = run(dir.path(), &["run", "small.toml", "-o", "out"]);
    assert_eq!((code, error.as_str()), (0, ""), "{text}");
    let named = text.lines().filter(|line| line.contains("packets acknowledged")).count();
    let said: usize =
        text.lines().find_map(|line| line.strip_prefix("ecmp: UNFINISHED ")?.parse().ok()).unwrap();
    assert!(said > 0 && named == said.min(10), "{text}");
    let value: Value =
        serde_json::from_str(&fs::read_to_string(dir.path().join("out/contest.json")).unwrap()).unwrap();
    let program = &value["contests"][0]["programs"][0];
    assert_eq!(program["unfinished"].as_array().unwrap().len(), said);
    // The time alone is that of the cable before it goes down.
    assert!(program["numbers"]["alone_ns"].as_i64().unwrap() > 2_000);
}
