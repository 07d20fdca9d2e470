//! Commands and experiments as values, for callers in the same process.

use crate::support::{refused, sluice as command, text};
use sluice::embed::{Additions, Experiment, call, files_of, replay_network, switch};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const CONTEST: &str = r#"
name = "two leaves"
topology = "leaf-spine:leaves=2,spines=2,hosts=1,rate=100G,delay=500ns"
port_speed = "100G"
seeds = [3, 4]
[workload]
sizes = "solar"
load = 20
time = "50us"
[hosts]
cable = "500ns"
recovery = "selective"
[[program]]
name = "ecmp"
[[program]]
name = "letflow"
label = "other"
params = { timeout = "10us" }
"#;

fn words(words: &[&str]) -> Vec<std::ffi::OsString> {
    words.iter().map(Into::into).collect()
}

#[test]
fn a_command_keeps_what_it_prints() {
    let catalogue = sluice::shipped();
    let called = call(&catalogue, &words(&["report", "ecmp", "--json"]), &Arc::default());
    let printed = command(&["report", "ecmp", "--json"]);
    assert_eq!((called.code, &called.out, called.err.as_str()), (0, &printed.stdout, ""));
    let called = call(&catalogue, &words(&["report", "emcp"]), &Arc::default());
    let printed = command(&["report", "emcp"]);
    assert_eq!((called.code, called.err.as_bytes()), (2, printed.stderr.as_slice()));
    let help = call(&catalogue, &words(&["--version"]), &Arc::default());
    assert_eq!((help.code, help.out.starts_with(b"sluice ")), (0, true));
}

#[test]
fn the_caller_stops_a_command() {
    let stop = Arc::new(AtomicBool::new(true));
    let called = call(&sluice::shipped(), &words(&["replay", "ecmp", "--loop", "1000000"]), &stop);
    assert_eq!(called.code, 130, "{}", called.err);
}

#[test]
fn a_switch_is_what_a_replay_has() {
    let catalogue = sluice::shipped();
    let device = switch(&catalogue, &words(&["ecn-mark", "--queue-limit", "7", "--seed", "5"])).unwrap();
    assert_eq!((device.setup.config.queues.limit.0, device.setup.config.seed), (7, 5));
    let error = |options: &[&str]| switch(&catalogue, &words(options)).map(|_| ()).unwrap_err();
    assert!(error(&["ecn-mrk"]).text.starts_with("there is no program `ecn-mrk`"));
    assert!(error(&["ecn-mark", "--queue-limt", "7"]).text.contains("--queue-limit"));
    let full = error(&["l3-ecmp", "--set", "ipv4_routes=2M", "--chip", "tofino"]);
    assert!(full.code == 1 && full.text.contains("has no place in 12 stages"), "{}", full.text);
}

#[test]
fn runs_are_done_one_by_one() {
    let (catalogue, dir) = (sluice::shipped(), tempfile::tempdir().unwrap());
    let experiment = Experiment::read(&catalogue, ("c.toml", CONTEST), Path::new(""), &[]).unwrap();
    let runs = experiment.runs();
    let names: Vec<(&str, u64)> = runs.iter().map(|run| (run.program.as_str(), run.seed.unwrap())).collect();
    assert_eq!(names, [("ecmp", 3), ("ecmp", 4), ("other", 3), ("other", 4)]);
    for index in [2, 0, 3, 1] {
        experiment.run(index, dir.path(), &Arc::default(), &|_, _| {}).unwrap();
    }
    // The command finds all runs, so its results are those of a command that did them.
    let file = dir.path().join("c.toml");
    std::fs::write(&file, CONTEST).unwrap();
    let other = tempfile::tempdir().unwrap();
    let printed = |out: &Path| command(&["run", text(&file), "--json", "-o", text(out)]).stdout;
    assert_eq!(printed(dir.path()), printed(other.path()));
    for run in &runs {
        let record =
            |folder: &Path| std::fs::read(folder.join("runs").join(&run.digest).join("run.json")).unwrap();
        assert_eq!(record(dir.path()), record(other.path()));
    }
    let stopped = Arc::new(AtomicBool::new(true));
    let error = experiment.run(0, other.path(), &stopped, &|_, _| {});
    assert!(stopped.load(Ordering::Relaxed) && error.is_ok(), "the folder has the run");
    assert!(
        experiment.run(4, dir.path(), &Arc::default(), &|_, _| {}).unwrap_err().text.contains("no run 4")
    );
}

#[test]
fn mistakes_and_files_are_named() {
    let catalogue = sluice::shipped();
    let wrong = CONTEST.replace("load = 20", "laod = 20");
    let error = Experiment::read(&catalogue, ("c.toml", &wrong), Path::new(""), &[]).err().unwrap();
    assert!(error.code == 2 && error.text.starts_with("c.toml") && error.text.contains("`load`"), "{error}");
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.sluice"), "role spine = \"b.sluice\";").unwrap();
    std::fs::write(dir.path().join("b.sluice"), "sluice 1;").unwrap();
    let files = files_of("a.sluice", dir.path(), &[]).unwrap();
    let names: Vec<_> = files.iter().map(|file| file.path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["a.sluice", "b.sluice"]);
    assert_eq!(files_of("ecmp", dir.path(), &[]), Ok(Vec::new()));
}

#[test]
fn a_cluster_needs_the_python_package() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("c.toml");
    std::fs::write(&file, CONTEST).unwrap();
    let (code, error) = refused(&["run", text(&file), "--on", "ray://host:10001"]);
    assert_eq!(code, 2);
    assert!(error.starts_with("error: --on needs the Python package"), "{error}");
}

#[test]
fn scenarios_are_run_one_by_one() {
    let (catalogue, dir) = (sluice::shipped(), tempfile::tempdir().unwrap());
    let scenario = r#"
seeds = 2
sweep.scenario.hold.let.n = [2, 3]
[[scenario]]
id = "hold"
source = "s"
title = "t"
device = { profiles = ["a"], ports = 4 }
let = { n = 1 }
steps = [
  { block = 1 },
  { send = { from = 0, to = 1, size = 60, count = "n" } },
  { save = { name = "held", value = "total" } },
  { expect = { what = "total", is = 3 } },
]
"#;
    let experiment = Experiment::read(&catalogue, ("s.toml", scenario), Path::new(""), &[]).unwrap();
    assert!(experiment.is_of_scenarios());
    let runs = experiment.runs();
    let found: Vec<(serde_json::Value, bool, Option<u64>)> = (0..runs.len())
        .map(|index| {
            experiment.run(index, dir.path(), &Arc::default(), &|_, _| {}).unwrap();
            let path = dir.path().join("runs").join(&runs[index].digest).join("run.json");
            let value: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
            (value["saved"]["held"].clone(), value["outcome"]["passed"] == true, runs[index].seed)
        })
        .collect();
    // A small frame takes a cell.
    let expected = [(2, false, 1), (2, false, 2), (3, true, 1), (3, true, 2)];
    assert_eq!(found, expected.map(|(held, passed, seed)| (held.into(), passed, Some(seed))));
    assert_eq!(runs[3].program, "hold on a");
}

/// Counts the packets that a switch sends.
struct Counted(Arc<std::sync::Mutex<Vec<String>>>, String);

impl sluice_switch::property::Property for Counted {
    fn name(&self) -> &str {
        "counted"
    }

    fn left(&mut self, _: &sluice_switch::property::Departed<'_>) -> sluice_switch::property::Finding {
        self.0.lock().unwrap().push(self.1.clone());
        if self.1 == "leaf1" { Err("it came".to_owned()) } else { Ok(()) }
    }
}

#[test]
fn a_caller_adds_properties_to_a_network() {
    let (catalogue, dir) = (sluice::shipped(), tempfile::tempdir().unwrap());
    let capture = dir.path().join("t.pcap");
    command(&["gen", "udp", "--packets", "20", "--dst", "10.0.1.1", "-o", text(&capture)]);
    let input = format!("leaf0:0@{}", text(&capture));
    let words =
        words(&["ecmp", "--topology", "leaf-spine:leaves=2,spines=2,hosts=1", "-i", &input, "--json"]);
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let kept = Arc::clone(&seen);
    let properties: sluice::embed::PropertiesOf =
        Arc::new(move |switch: &str| vec![Box::new(Counted(Arc::clone(&kept), switch.to_owned()))]);
    let additions = Additions { properties: Some(properties), control_plane: None };
    let called = replay_network(&catalogue, &words, additions, &Arc::default()).unwrap();
    let value: serde_json::Value = serde_json::from_slice(&called.out).unwrap();
    let violations = value["violations"].as_array().unwrap();
    assert_eq!((called.code, violations.len()), (1, 20));
    assert!(violations.iter().all(|one| one["switch"] == "leaf1" && one["text"] == "it came"));
    let count = |name: &str| seen.lock().unwrap().iter().filter(|switch| switch.starts_with(name)).count();
    assert_eq!((count("leaf0"), count("spine"), count("leaf1")), (20, 20, 20));
}
