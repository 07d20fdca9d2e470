//! Readers of experiments on arbitrary bytes: scenarios, contests, configs of ns-3, papers, packet tests, kept inputs.

use super::Programs;
use super::engines::chips;
use crate::hunt::kept;
use sluice_asic::port::PortMap;
use sluice_asic::units::{BitRate, Bytes, Duration};
use sluice_papers::{Experiment as PaperExperiment, Library, Published, Scale, contests};
use sluice_replay::packet_test::{Script, TestFile};
use sluice_scenario::contest::workload::{HostTable, Station};
use sluice_scenario::contest::{Contest, Point};
use sluice_scenario::ns3::{Config, Experiment, Text};
use sluice_scenario::{Expr, ScenarioFile, ScenarioPoint, Scope, shipped};
use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::sync::OnceLock;

/// Most points of a sweep, and most runs of a point, that a target looks at.
const FEW: usize = 3;

/// Splits a text at the first zero byte, which separates a file from those that it names.
fn parted(text: &str) -> (&str, &str) {
    text.split_once('\0').unwrap_or((text, ""))
}

/// Names for expressions: the value of every name is its length, and every function returns a sum.
struct Lengths;

impl Scope for Lengths {
    fn name(&self, name: &str) -> Result<i128, String> {
        Ok(name.len() as i128)
    }

    fn call(&self, name: &str, args: &[i128]) -> Result<i128, String> {
        let sum = args.iter().try_fold(name.len() as i128, |sum, arg| sum.checked_add(*arg));
        sum.ok_or_else(|| "too large".to_owned())
    }
}

/// Reads a file of scenarios and runs a few of them, and reads each line as an expression. Text after a zero byte is the content of
/// the profiles that no shipped profile has the name of.
pub fn scenario(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (text, named) = parted(text);
    if let Ok(file) = ScenarioFile::parse("fuzz", text) {
        let lines = text.lines().count().max(1);
        for scenario in &file.scenario {
            let line = file.line(scenario);
            assert!((1..=lines).contains(&line), "scenario at line {line} of {lines}");
        }
    }
    let profiles = |name: &str| Ok(shipped::profile(name).unwrap_or(named).to_owned());
    for point in ScenarioPoint::parse_all("fuzz", text).unwrap_or_default().iter().take(FEW) {
        for run in point.runs().iter().take(FEW) {
            assert!(point.run(run, &profiles).is_some(), "{} has no scenario", run.id);
        }
    }
    for line in text.lines() {
        if let Ok(expr) = Expr::parse(line) {
            let _ = expr.value(&Lengths);
            assert!(expr.names().iter().all(|name| line.contains(name)), "{line}");
        }
    }
}

/// Returns two leaves with four hosts of 100 Gb/s each, with cables of this delay.
fn hosts(cable: Duration) -> HostTable {
    let station = |n: u8| Station {
        switch: u32::from(n / 4),
        port: (n % 4).into(),
        address: Ipv4Addr::new(10, 0, n / 4, n % 4 + 1),
        rate: BitRate::from_gbps(100),
        delay: None,
    };
    let name = |address: Ipv4Addr| format!("leaf{}-h{}", address.octets()[2], address.octets()[3] - 1);
    let switches = vec!["leaf0".to_owned(), "leaf1".to_owned()];
    HostTable::new((0..8).map(station).collect(), cable, name, switches)
}

/// Reads a contest, and plans the messages of a few points of its sweep on eight hosts. Text after a zero byte is the content of
/// every file that the contest names.
pub fn contest(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (text, named) = parted(text);
    let Ok(points) = Point::parse_all("fuzz", text) else { return };
    assert!(Contest::is_one(text));
    for mut contest in points.into_iter().take(FEW).map(|point| point.contest) {
        let labels: BTreeSet<String> = contest.program.iter().map(|p| p.get_ref().label()).collect();
        assert_eq!(labels.len(), contest.program.len());
        let _ = contest.hosts.port(BitRate::from_gbps(100), contest.wire);
        let _ = contest.hosts.transports(Bytes(176));
        let _ = sluice_fabric::topology::built(&contest.topology);
        let _ = contest.open_schedule(|_| Ok(named.to_owned()));
        let opened = contest.workload.open(|_| Ok(named.into()));
        let seed = contest.seeds().first().copied().unwrap_or_default();
        if opened.is_ok() {
            let _ =
                contest.workload.plan(&hosts(contest.hosts.cable), &contest.hosts.transport_names(), seed);
        }
    }
}

/// Reads an experiment of the ns-3 simulators: config, topology and flows, separated by zero bytes.
pub fn ns3(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (config, rest) = parted(text);
    let (topology, flows) = parted(rest);
    let Ok(config) = Config::parse("config.txt", config) else { return };
    let topology = Text { origin: "topology.txt", text: topology };
    let flows = Text { origin: "flows.txt", text: flows };
    if let Ok(experiment) = Experiment::new(config, topology, flows) {
        assert!(!experiment.summary().is_empty());
    }
}

/// Reads an experiment of a paper and makes its contests from the shipped ones, and reads a list of published values.
pub fn papers(data: &[u8]) {
    static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = Published::parse(text);
    let Ok(experiment) = PaperExperiment::parse("fuzz.toml", text) else { return };
    if let Some(library) = LIBRARY.get_or_init(|| Library::shipped().ok()) {
        for scale in Scale::ALL {
            let _ = contests(&experiment, library, scale, &[]);
        }
    }
}

/// Reads a packet test in both forms. Text after a zero byte is the content of every file that the test names.
pub fn packet_test(data: &[u8]) {
    static PORTS: OnceLock<Option<PortMap>> = OnceLock::new();
    let text = String::from_utf8_lossy(data);
    let (text, named) = parted(&text);
    let _ = Script::parse(text);
    let Some(ports) = PORTS.get_or_init(|| PortMap::default_for(&chips()[1]).ok()) else { return };
    if let Ok(file) = TestFile::parse(text, &|_| Ok(named.into())) {
        let _ = file.script(ports);
    }
}

/// Reads an input that a hunt has kept, for the first program. An accepted input is printed and read again, and must be equal.
pub fn kept_input(programs: &'static Programs, data: &[u8]) {
    let (Ok(text), Some(subject)) = (std::str::from_utf8(data), programs.first()) else { return };
    if let Ok(input) = kept::parse(subject, text) {
        let printed = kept::text(subject, &input);
        assert_eq!(kept::parse(subject, &printed), Ok(input), "{printed}");
    }
}
