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
seeds = [3, 8]
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

/// Expectations of `SMALL` that name ConWeave.
const CONWEAVES: &str = r#", "conweave.unfinished == 0", "conweave.dropped + ecmp.dropped == 0""#;

/// A folder with the contest and its buffer profile.
fn folder(text: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("small.toml"), text).unwrap();
    let profile = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fabric/contests/rdma-9mb.toml");
    fs::copy(profile, dir.path().join("rdma.toml")).unwrap();
    dir
}

/// Exit code, standard output and standard error of a run in a folder.
pub(crate) fn run(dir: &Path, args: &[&str]) -> (i32, String, String) {
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
    assert!(text.contains("seeds 3, 8; mean over seeds ± half of the 95 % interval"), "{text}");
    assert!(text.contains("holds  ecmp.unfinished == 0  (each seed: ecmp.unfinished 0)"), "{text}");
    assert!(text.lines().all(|line| line.starts_with("leaf-spine") || line.chars().count() <= 120), "{text}");
    let value: Value =
        serde_json::from_str(&fs::read_to_string(dir.path().join("one/contest.json")).unwrap()).unwrap();
    assert_eq!(value["schema"], "sluice.contest/2");
    assert_eq!(value["contests"][0]["seeds"], serde_json::json!([3, 8]));
    let number = |program: usize, name: &str, seed: usize| {
        value["contests"][0]["programs"][program]["numbers"][name]["seeds"][seed].as_i64().unwrap()
    };
    let mut messages = 0;
    for seed in [0, 1] {
        // Both sent the same messages, every packet was acknowledged, and the longer pipeline shows.
        assert!(number(0, "messages", seed) > 5);
        assert_eq!(number(0, "messages", seed), number(1, "messages", seed));
        assert_eq!(number(0, "sent", seed), number(0, "acks", seed));
        assert!(number(1, "alone_ns", seed) > number(0, "alone_ns", seed));
        assert!(number(0, "avg", seed) >= 1000 && number(0, "p99", seed) >= number(0, "p50", seed));
        // Over the fastest program's time alone, a slowdown is never less; the fastest one is ECMP.
        assert!(number(1, "fastest_avg", seed) > number(1, "own_avg", seed));
        assert_eq!(number(0, "fastest_avg", seed), number(0, "own_avg", seed));
        messages += number(0, "messages", seed);
    }
    // Seeds draw different messages, and the interval is Student's for two values.
    assert_ne!(number(0, "avg", 0), number(0, "avg", 1));
    let avg = &value["contests"][0]["programs"][0]["numbers"]["avg"];
    let (mean, low, high) =
        (avg["mean"].as_f64().unwrap(), avg["low"].as_f64().unwrap(), avg["high"].as_f64().unwrap());
    let apart = (number(0, "avg", 0) - number(0, "avg", 1)).abs() as f64;
    assert!((2.0 * mean - (number(0, "avg", 0) + number(0, "avg", 1)) as f64).abs() < 0.01);
    assert!((high - mean - 12.706 * apart / 2.0).abs() < 0.01 && (low + high - 2.0 * mean).abs() < 0.01);
    // Too few messages for the slowest one of a thousand.
    let program = &value["contests"][0]["programs"][0];
    assert!(program["numbers"].get("p999").is_none());
    let units = &program["units"];
    for (name, unit) in [("avg", "thousandths"), ("small_p99", "thousandths"), ("alone_ns", "ns")] {
        assert_eq!(units[name], unit, "{name}");
    }
    assert!(units.get("messages").is_none() && units.get("sent").is_none());
    let rows = fs::read_to_string(dir.path().join("one/messages.csv")).unwrap();
    assert_eq!(rows.lines().count() as i64, 1 + 2 * messages);
    assert!(rows.starts_with("program,seed,pair,") && rows.contains("\nconweave,8,"), "{rows}");
    for file in ["contest.md", "slowdown.svg", "sizes.svg", "manifest.json"] {
        assert!(dir.path().join("one").join(file).exists(), "{file}");
    }
    // Neither threads nor another run change a byte.
    assert_eq!(run(dir.path(), &["run", "small.toml", "-o", "two", "--threads", "2"]).0, 0);
    for entry in fs::read_dir(dir.path().join("one")).unwrap() {
        let entry = entry.unwrap();
        if entry.path().is_dir() {
            continue;
        }
        let name = entry.file_name();
        let read = |folder: &str| fs::read(dir.path().join(folder).join(&name)).unwrap();
        assert!(read("one") == read("two"), "{name:?} differs");
    }
}

#[test]
fn one_seed_has_no_interval_and_gives_what_it_gives_among_others() {
    let dir = folder(&SMALL.replace("\n[[program]]\nname = \"conweave\"\n", "").replace(CONWEAVES, ""));
    let read = |args: &[&str]| -> (String, Value) {
        let (code, text, error) = run(dir.path(), args);
        assert_eq!((code, error.as_str()), (0, ""), "{text}");
        let json = fs::read_to_string(dir.path().join("out/contest.json")).unwrap();
        (text, serde_json::from_str(&json).unwrap())
    };
    let (text, one) = read(&["run", "small.toml", "--seeds", "1", "-o", "out"]);
    assert!(text.contains("seed 3; one seed: no interval") && !text.contains('±'), "{text}");
    let (_, both) = read(&["run", "small.toml", "-o", "out", "--threads", "3"]);
    let numbers = |value: &Value| value["contests"][0]["programs"][0]["numbers"].as_object().unwrap().clone();
    let (one, both) = (numbers(&one), numbers(&both));
    assert_eq!(one["avg"]["low"], Value::Null);
    assert!(one.len() > 30);
    for (name, figure) in &one {
        assert_eq!(figure["seeds"][0], both[name]["seeds"][0], "{name}");
    }
    let (code, _, error) = run(dir.path(), &["run", "--seeds", "2"]);
    assert!(code == 2 && error.contains("--seeds is for contests"), "{error}");
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
    assert!(
        text.contains("FAILS  ecmp.avg < 1000  (difference -") && text.contains(": ecmp.avg 1"),
        "{text}"
    );
    let (code, text, _) = expecting("ecmp.sent % 2 == 2");
    assert_eq!(code, 1);
    assert!(text.contains("FAILS  ecmp.sent % 2 == 2  (not with seeds 3, 8: ecmp.sent "), "{text}");
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
        ("load = 40", "load = 0", "workload.load: found 0, expected 1 to 100"),
        ("seeds = [3, 8]", "seeds = 0", "seeds has 0 seeds; expected 1 to 1000"),
        ("seeds = [3, 8]", "seeds = [3, 3]", "seed 3 occurs twice in seeds"),
        ("seeds = [3, 8]", "seeds = [3, 8]\nseed = 3", "leave out seed"),
        ("seeds = [3, 8]", "seeds = \"3\"", "expected a number of seeds, or a list of seeds"),
        ("load = 40", "laod = 40", "workload.laod: is not a key of a workload; did you mean `load`?"),
        (
            "time = \"40us\"",
            "time = \"40us\"\nwarm_up = \"40us\"",
            "workload.warm_up: found 40us, expected a time below time, 40us",
        ),
        ("\"ali-storage\"", "\"ali\"", "expected ali-storage, solar, web-search,"),
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
            "evaluation-80.toml",
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
        "expect = [\"ecmp.unfinished != 0\"]\ndrain = \"1ms\"",
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
    assert!(program["numbers"]["alone_ns"]["mean"].as_f64().unwrap() > 2_000.0);
}
